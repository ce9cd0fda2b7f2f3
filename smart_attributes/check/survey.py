"""Read and judge the drives that the options select, each one once and under its final name.

A run has three stages, each of which returns one value, also if the time limit ends it: what the devices answered,
which drives there are, and the verdicts on them.
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
    reads: tuple[Read, ...]          # in the order of the verdicts
    failures: tuple[Coded, ...]      # make the run CRITICAL: drives missing
    notes: tuple[Coded, ...]
    judge: Judge
    nobody: tuple[State, str]        # state and message without verdicts
    # make the run at least UNKNOWN: slots that were not read, mistakes in local files
    faults: tuple[Coded, ...] = ()
    remarks: tuple[Coded, ...] = ()  # change no state but are shown without -v: an outdated sudoers rule
    demands: tuple[tuple[State, Coded], ...] = ()  # messages about the run that have their own state
    history: Remembered = Remembered()
    whereabouts: Whereabouts | None = None  # new, moved and missing drives; None without a history
    lately: Lately | None = None  # increases, added and removed drives of a period, if requested
    machine: Machine | None = None  # the groups on the drives and the order of replacement, if they were read

    @property
    def told(self) -> list[tuple[State, Coded]]:
        """The messages that have a state, each with that state."""
        return [*((State.CRITICAL, each) for each in self.failures), *self.demands,
                *((State.UNKNOWN, each) for each in self.faults)]


def survey(options: Options, runner: Runner, meanwhile: Callable[[], object] = tuple, watch: Watch | None = None,
           is_for_a_person: bool = False) -> Survey:
    """Return the verdicts that the options ask for. Raises SmartError if no verdict can be formed.

    meanwhile: called once, while the drives are being read. watch: called at each change with the number of drives that
    have answered and the names of the others. is_for_a_person: ask disks for logs that a check does not read.
    """
    if options.which.names:
        from . import named_drives
        options = named_drives.narrowed(options)
    deadline = reads.deadline(options)
    site = site_of(options.data, options.before)
    started = reads.start(options, site, runner, deadline)
    # The drives are being read from here on, so this work overlaps with waiting for them.
    judge = judge_of(options, site)
    verdicts = Verdicts(judge, options, runner, meanwhile, is_for_a_person)
    answered = reads.finish(started, options, runner, deadline, verdicts, watch)
    drives = verdicts.completed(inventory.inventory(answered, options, verdicts.history), deadline)
    found = verdicts.of(drives)
    run = messages.Run(options, verdicts.judge, verdicts.history, answered, drives, found)
    try:
        return described(run)
    except alarm.TimeIsOver:  # all drives are judged: only the messages are left
        return described(run)


def described(run: messages.Run) -> Survey:
    """Return the survey of a run."""
    return Survey(
        verdicts=tuple(run.verdicts), reads=run.drives.reads, judge=run.judge, history=run.history,
        whereabouts=run.drives.whereabouts, nobody=inventory.nobody(run.read, run.drives, run.options),
        **messages.messages(run))
