"""Messages about a run as a whole: one list of rules over what its three stages returned. Pure."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from ..errors import Coded
from ..knowledge.thresholds import GONE
from ..model import Report, State
from ..typed import TYPE_CHECKING, NamedTuple
from . import inventory
from .rulebook import day

if TYPE_CHECKING:
    from typing import Any

    from ..command_line.options import Options
    from ..model import Identity, Read, Verdict
    from .history_access import Remembered
    from .inventory import Inventory
    from .reads import Reads
    from .rulebook import Judge

    Demand = tuple[State, Coded]


class Run(NamedTuple):
    """A run: what it was asked for, and the result of each stage."""

    options: Options
    judge: Judge
    history: Remembered
    read: Reads
    drives: Inventory
    verdicts: Sequence[Verdict] = ()


def missing(run: Run) -> Iterable[Coded]:
    """Yield a message if there are fewer drives than expected."""
    return inventory.missing(run.drives.reads, run.options.which.expect)


def unread(run: Run) -> Iterable[Coded]:
    """Yield a message for the slots and recorded reports that were not read, and for patterns not evaluated."""
    return (*run.read.faults, *run.drives.faults)


def mistakes(run: Run) -> Iterable[Coded]:
    """Yield a message for each mistake in local files."""
    return run.judge.mistakes


def contradictions(run: Run) -> Iterable[Coded]:
    """Yield a message for each contradiction between local files that concerns one of the drives."""
    told = [sentence for verdict, read in zip(run.verdicts, run.drives.reads)
            for sentence in run.judge.contradictions(verdict, _report(read))]
    return [Coded('site-files-contradict', each) for each in dict.fromkeys(told)]


def _report(read: Read) -> Report | None:
    return read.outcome if isinstance(read.outcome, Report) else None


def remarks_on_reading(run: Run) -> Iterable[Coded]:
    """Yield each remark about this machine once."""
    return dict.fromkeys(read.remark for read in (*run.read.reads, *run.drives.reads) if read.remark)


def remarks_on_history(run: Run) -> Iterable[Coded]:
    """Yield the remarks on the history that are not reported with their own state."""
    return () if run.history.trouble and run.options.history.history_required is not None else run.history.remarks


def moved(run: Run) -> Iterable[Coded]:
    """Yield a message for each replaced, moved or missing drive that is not reported with its own state."""
    if run.drives.whereabouts is None:
        return ()
    from . import drive_tracking
    told = [said for _, said in gone(run)]
    news = drive_tracking.news(run.drives.whereabouts, run.options.naming.hide_serial, run.history.is_whole)
    return [each for each in news if not any(map(each.is_about_the_same, told))]


def notes(run: Run) -> Iterable[Coded]:
    """Yield the notes on addresses that were left out, and on options and files of version 1.6."""
    before, old = run.options.before, run.judge.old
    return (*run.read.found.notes, *run.read.notes, *run.drives.notes,
            *(before.notes(run.options.data.config) if before else ()), *(old.notes if old else ()))


def gone(run: Run) -> Iterable[Demand]:
    """Yield a message for each drive that is gone, unless --gone ok is given or root has acknowledged it.

    An acknowledgement ends once the drive has been back.
    """
    def is_accepted(identity: Identity, since: int) -> bool:
        accepted = run.judge.thresholds.acknowledged(identity, GONE)
        return accepted is not None and (not accepted.at or day(since) <= accepted.at)
    state = run.options.history.gone
    if state is State.OK or run.drives.whereabouts is None:
        return ()
    from . import drive_tracking
    return [(state, each) for each in drive_tracking.gone(
        run.drives.whereabouts, run.options.naming.hide_serial, is_accepted)]


def history_demands(run: Run) -> Iterable[Demand]:
    """Yield the messages about the history with their own state: it cannot be used, or is damaged again and again."""
    required = run.options.history.history_required
    if run.history.trouble and required is not None:
        return [(required, remark) for remark in run.history.remarks]
    return [(State.WARNING if required is None else required, each) for each in run.history.recurring_loss]


# The kind of a message, as a field of a survey -> the rules that find such messages, in the order of the output.
RULES: dict[str, tuple[Callable[[Run], Iterable[Any]], ...]] = {
    'failures': (missing,), 'faults': (unread, mistakes, contradictions),
    'remarks': (remarks_on_reading, remarks_on_history, moved), 'notes': (notes,), 'demands': (gone, history_demands)}


def messages(run: Run) -> dict[str, tuple[Any, ...]]:
    """Return the messages about a run, by kind."""
    return {kind: tuple(chain.from_iterable(rule(run) for rule in rules)) for kind, rules in RULES.items()}
