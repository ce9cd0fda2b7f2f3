"""Messages about a run as a whole, from the results of its three stages. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import Coded
from ..knowledge import patterns
from ..model import State, Verdict, worst
from ..typed import TYPE_CHECKING, Any, NamedTuple
from ..wording import plural
from . import inventory
from .rulebook import Judge

if TYPE_CHECKING:
    from .history_access import Remembered
    from .inventory import Inventory
    from .reads import Reads
    from .settings import RunSettings

    Demand = tuple[State, Coded]


LEFT_OUT = 'file-skipped'


class Run(NamedTuple):
    """The settings of a run, and the result of each stage."""

    settings: RunSettings
    judge: Judge
    history: Remembered
    read: Reads
    drives: Inventory
    verdicts: Sequence[Verdict]


def contradictions(run: Run) -> Iterable[Coded]:
    """Return a message for each contradiction between local files that affects one of the drives."""
    sentences = []
    for verdict, read in zip(run.verdicts, run.drives.reads):
        sentences += run.judge.contradictions(verdict, read.report)
    return [
        Coded('site-files-contradict', sentence)
        for sentence in dict.fromkeys(sentences)
    ]


def moved(run: Run) -> Iterable[Coded]:
    """Return a message for each replaced, moved or missing drive that is not reported with a
    state; () without history.
    """
    if run.drives.whereabouts is None:
        return ()
    from . import drive_tracking

    return drive_tracking.news(
        run.drives.whereabouts, run.drives.missing, run.history.is_for_a_person
    )


def notes(run: Run) -> tuple[Coded, ...]:
    """Return the notes on reading and on addresses that were left out, and on options of version
    1.6.
    """
    before = run.settings.before
    of_version_1_6 = before.notes() if before else ()
    return (*run.read.found.notes, *run.drives.notes, *of_version_1_6)


def missing(run: Run) -> tuple[Demand, ...]:
    """Return a message if several known drives are missing, or if no drive is there; else nothing.

    It is CRITICAL if none is left, or if any missing drive is: drives that disappeared together
    share the cause.
    """
    if run.settings.which.names:
        return ()  # it is not known how many others there are
    absent = run.drives.missing
    if not absent:
        return ()
    total = len(run.drives.reads)  # with the missing ones
    is_none_left = len(absent) == total and not _has_other_drives(run)
    if len(absent) == 1:
        if not is_none_left:
            return ()
        text = 'the only drive is missing: check its connection'
    else:
        # which drives: see their lines
        text = (
            f'{len(absent)} of {plural(total, "drive")} missing: check the connection'
        )
    state = State.CRITICAL if is_none_left else worst(drive.state for drive in absent)
    return ((state, Coded('drives-missing', text)),)


def _has_other_drives(run: Run) -> bool:
    """Return whether the history knows a drive that is not missing; False without history.

    The caller has found that this run judges only missing drives. So such a drive is one that the
    run leaves out: it is not named, or, for a scan, --ignore or --match excludes it.
    """
    whereabouts = run.drives.whereabouts
    if whereabouts is None:
        return False
    missing_drives = {drive.place.drive for drive in run.drives.missing}
    present = [place for place in whereabouts.places if not place.gone]
    if run.read.found.is_scan:
        # A scan cannot tell whether drives at other addresses are still there.
        present = list(filter(whereabouts.scope.covers, present))
    return any(place.drive not in missing_drives for place in present)


def _of_history(run: Run) -> tuple[Sequence[Demand], Sequence[Coded]]:
    """Return the messages about the history: those that have a state, and the remarks.

    - If the history is used, each loss has a state, and a doubt about its dates is a remark.
    - If it cannot be used, and --history-required is given, or there is a history that this run
      should write: the only message says so, and has a state.
    - If it cannot be used in any other case: the same message is a remark.
    """
    history = run.history
    # This also sets history.trouble.
    remarks = history.remarks
    # the state that the option sets; None: the option is not given
    required_state = run.settings.history.history_required
    state = State.WARNING if required_state is None else required_state
    if history.trouble == '':
        return [(state, loss) for loss in history.losses], remarks
    if required_state is not None or history.is_lost:
        return [(state, remark) for remark in remarks], ()
    return (), remarks


def messages(run: Run) -> dict[str, Any]:
    """Return the messages about a run by kind (a field of Survey), in the order of the output."""
    history_alerts, history_remarks = _of_history(run)
    reads = (*run.read.reads, *run.drives.reads)
    all_notes = notes(run)
    return {
        'failures': inventory.too_few(run.drives.reads, run.settings.which.expect),
        'faults': (
            *run.read.faults,
            *run.drives.faults,
            *run.judge.mistakes,
            *contradictions(run),
            *(
                Coded('configuration-error', sentence)
                for sentence in patterns.too_slow()
            ),
        ),
        'remarks': (
            *dict.fromkeys(read.remark for read in reads if read.remark),
            *history_remarks,
            *moved(run),
        ),
        'left_out': tuple(note for note in all_notes if note.code == LEFT_OUT),
        'notes': tuple(note for note in all_notes if note.code != LEFT_OUT),
        'demands': (
            *missing(run),
            *((State.WARNING, message) for message in run.judge.warnings),
            *history_alerts,
        ),
    }
