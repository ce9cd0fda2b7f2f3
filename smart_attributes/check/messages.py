"""Messages about a run as a whole, from the results of its three stages. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..command_line.options import Options
from ..errors import Coded
from ..knowledge import patterns
from ..knowledge.thresholds import GONE
from ..model import Identity, Report, State, Verdict
from ..typed import TYPE_CHECKING, Any, NamedTuple
from ..wording import local_day
from . import inventory
from .rulebook import Judge

if TYPE_CHECKING:
    from .history_access import Remembered
    from .inventory import Inventory
    from .reads import Reads

    Demand = tuple[State, Coded]


class Run(NamedTuple):
    """The options of a run, and the result of each stage."""

    options: Options
    judge: Judge
    history: Remembered
    read: Reads
    drives: Inventory
    verdicts: Sequence[Verdict] = ()


def contradictions(run: Run) -> Iterable[Coded]:
    """Yield a message for each contradiction between local files that affects one of the drives."""
    told = [
        sentence
        for verdict, read in zip(run.verdicts, run.drives.reads)
        for sentence in run.judge.contradictions(
            verdict, read.outcome if isinstance(read.outcome, Report) else None
        )
    ]
    return [Coded('site-files-contradict', each) for each in dict.fromkeys(told)]


def slow_patterns() -> Iterable[Coded]:
    """Yield a message for each pattern of a local file that took too long."""
    return [Coded('site-file-mistake', sentence) for sentence in patterns.too_slow()]


def moved(run: Run) -> Iterable[Coded]:
    """Yield a message for each replaced, moved or missing drive that is not reported with a
    state.
    """
    if run.drives.whereabouts is None:
        return ()
    from . import drive_tracking

    told = [said for _, said in gone(run)]
    news = drive_tracking.news(
        run.drives.whereabouts, run.options.naming.hide_serial, run.history.is_whole
    )
    return [each for each in news if not any(map(each.is_about_the_same, told))]


def notes(run: Run) -> Iterable[Coded]:
    """Yield the notes on addresses that were left out, and on options of version 1.6."""
    before = run.options.before
    return (
        *run.read.found.notes,
        *run.read.notes,
        *run.drives.notes,
        *(before.notes() if before else ()),
    )


def gone(run: Run) -> Iterable[Demand]:
    """Yield a message for each drive that is gone, unless --gone ok is given or root has
    acknowledged it.

    An acknowledgement ends when the drive is found again.
    """

    def is_accepted(identity: Identity, since: int) -> bool:
        accepted = run.judge.thresholds.acknowledged(identity, GONE)
        return accepted is not None and (not accepted.at or local_day(since) <= accepted.at)

    state = run.options.history.gone
    if state is State.OK or run.drives.whereabouts is None:
        return ()
    from . import drive_tracking

    return [
        (state, each)
        for each in drive_tracking.gone(
            run.drives.whereabouts, run.options.naming.hide_serial, is_accepted
        )
    ]


def messages(run: Run) -> dict[str, Any]:
    """Return the messages about a run by kind (a field of Survey), in the order of the output."""
    history, required = run.history, run.options.history.history_required
    has_own_state = history.trouble and (required is not None or history.is_lost)
    troubles = history.remarks if has_own_state else history.damage
    return {
        'failures': inventory.missing(run.drives.reads, run.options.which.expect),
        'faults': (
            *run.read.faults,
            *run.drives.faults,
            *run.judge.mistakes,
            *contradictions(run),
            *slow_patterns(),
        ),
        'remarks': (
            *dict.fromkeys(
                read.remark for read in (*run.read.reads, *run.drives.reads) if read.remark
            ),
            *(() if has_own_state else history.remarks),
            *moved(run),
        ),
        'notes': (*notes(run),),
        'demands': (
            *gone(run),
            *((State.WARNING, each) for each in run.judge.warnings),
            *((State.WARNING if required is None else required, each) for each in troubles),
        ),
    }
