"""Read and judge the drives that the options select, each drive once and under its final name.

A run has three stages. Each stage returns one value, even if the time limit ends the stage: the
answers of the devices, the drives that exist, and the verdicts on them.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import alarm
from ..command_line.options import Options
from ..errors import Coded
from ..model import Lately, Read, State, Verdict
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING, NamedTuple
from . import inventory, messages, reads
from .history_access import Remembered
from .rulebook import Judge, judge_of, site_of
from .verdicts import Verdicts

if TYPE_CHECKING:
    from ..redundancy.replacement import Machine
    from .drive_tracking import Whereabouts
    from .reads import Watch


class Survey(NamedTuple):
    """All verdicts of one run, and the messages about the run as a whole."""

    verdicts: tuple[Verdict, ...]
    reads: tuple[Read, ...]  # in the order of the verdicts
    failures: tuple[Coded, ...]  # missing drives, which make the run CRITICAL
    notes: tuple[Coded, ...]
    judge: Judge
    nobody: tuple[State, str]  # state and message if no drive was found
    # slots that were not read, and mistakes in local files, which make the run at least UNKNOWN
    faults: tuple[Coded, ...] = ()
    # messages that need no -v and change no state: an outdated sudoers rule
    remarks: tuple[Coded, ...] = ()
    left_out: tuple[Coded, ...] = ()  # files of a directory of reports that are no reports
    demands: tuple[tuple[State, Coded], ...] = ()  # messages about the run, each with its own state
    history: Remembered = Remembered()
    whereabouts: Whereabouts | None = None  # new, moved and missing drives; None without a history
    # increases, and drives added and removed in a period, if requested
    lately: Lately | None = None
    machine: Machine | None = None  # groups on the drives and order of replacement, if read

    @property
    def told(self) -> list[tuple[State, Coded]]:
        """The messages that have a state, each with its state."""
        return [
            *((State.CRITICAL, each) for each in self.failures),
            *self.demands,
            *((State.UNKNOWN, each) for each in self.faults),
        ]


def survey(
    options: Options,
    runner: Runner,
    meanwhile: Callable[[], object] = tuple,
    watch: Watch | None = None,
    is_for_a_person: bool = False,
    done: Callable[[Survey], object] | None = None,
) -> Survey:
    """Return the verdicts on the drives that the options select.

    Raises SmartError if no verdict can be formed.

    meanwhile: called once, while the drives are being read. watch: called at each change with the
    number of drives that have answered and the names of the others. is_for_a_person: also read logs
    that a check does not read. done: receives the survey as soon as there is one: the end of the time
    can prevent that it is returned.
    """
    if options.which.names:
        from . import named_drives

        options = named_drives.narrowed(options)
    deadline = reads.deadline(options)
    site = site_of(options.data, options.before)
    started = reads.start(options, site, runner, deadline)
    # The drives are now being read, so this work overlaps with waiting for them.
    judge = judge_of(options, site)
    verdicts = Verdicts(judge, options, runner, meanwhile, is_for_a_person)
    answered = reads.finish(started, options, runner, deadline, verdicts, watch)
    drives = verdicts.completed(
        inventory.inventory(answered, options, verdicts.history, judge), deadline
    )

    def finished(late: str) -> Survey:
        judged = verdicts.of(drives, late)
        run = messages.Run(options, verdicts.judge, verdicts.history, answered, drives, judged)
        result = described(run)
        if done:
            done(result)
        return result

    return alarm.twice(finished)


def described(run: messages.Run) -> Survey:
    """Return the survey of a run."""
    return Survey(
        verdicts=tuple(run.verdicts),
        reads=run.drives.reads,
        judge=run.judge,
        history=run.history,
        whereabouts=run.drives.whereabouts,
        nobody=inventory.nobody(run.read, run.drives, run.options),
        **messages.messages(run),
    )
