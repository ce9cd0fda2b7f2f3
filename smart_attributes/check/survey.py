"""Read and judge the drives that the options select, each drive once and under its final name.

A run has three stages. Each stage returns one value, even if the time limit ends the stage: the
answers of the devices, the drives that exist, and the verdicts on them.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import alarm
from ..command_line.options import Options
from ..errors import Coded
from ..model import Read, State, Verdict
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING, NamedTuple
from . import inventory, messages, reads, settings
from .history_access import Remembered, remembered
from .rulebook import Judge, judge_of, site_of
from .verdicts import Verdicts

if TYPE_CHECKING:
    from .drive_tracking import Whereabouts


class Survey(NamedTuple):
    """All verdicts of one run, and the messages about the run as a whole."""

    verdicts: tuple[Verdict, ...]
    reads: tuple[Read, ...]  # in the order of the verdicts
    failures: tuple[Coded, ...]  # missing drives, which make the run CRITICAL
    notes: tuple[Coded, ...]
    judge: Judge
    nobody: tuple[State, str]  # state and message if no drive was found
    # slots that were not read, and mistakes in local files, which make the run at least UNKNOWN
    faults: tuple[Coded, ...]
    # messages that need no -v and change no state: an outdated sudoers rule
    remarks: tuple[Coded, ...]
    # files of a directory of reports that are no reports
    left_out: tuple[Coded, ...]
    # messages about the run, each with its own state
    demands: tuple[tuple[State, Coded], ...]
    history: Remembered
    # new, moved and missing drives; None without a history
    whereabouts: Whereabouts | None

    @property
    def told(self) -> list[tuple[State, Coded]]:
        """The messages that have a state, each with its state."""
        return [
            *((State.CRITICAL, message) for message in self.failures),
            *self.demands,
            *((State.UNKNOWN, message) for message in self.faults),
        ]


def survey(
    options: Options,
    runner: Runner,
    meanwhile: Callable[[], object] = tuple,
    is_for_a_person: bool = False,
    done: Callable[[Survey], object] | None = None,
) -> Survey:
    """Return the verdicts on the drives that the options select.

    Raises SmartError if no verdict can be formed.

    meanwhile: called once, while the drives are being read. is_for_a_person: also read logs
    that a check does not read. done: receives the survey before it is returned, because the time
    limit can prevent that. If the time limit passes during that call, done receives another survey,
    which counts.
    """
    if options.which.names:
        from . import named_drives

        which = named_drives.narrowed(options.which, settings.of_history(options))
        options = options._replace(which=which)
    deadline = reads.deadline(options.how_read.timeout)
    site = site_of(options.data, options.before)
    read_settings = settings.of_reads(options)
    run_settings = settings.of_run(options)
    started = reads.start(read_settings, site, runner, deadline)
    # The drives are now being read, so this work overlaps with waiting for them.
    judge = judge_of(options, site)
    history = remembered(settings.of_history(options))
    meanwhile()
    history.receive()
    answered = reads.finish(started, read_settings, runner, deadline)
    drives = inventory.inventory(answered, run_settings, history, judge)
    # no other drive has a log that a check reads
    has_nvme = any(read.report and read.report.nvme for read in drives.reads)
    if (is_for_a_person or has_nvme) and not answered.is_cut:
        from . import further_logs

        kinds = further_logs.kinds_of(judge, options.how_read, history, is_for_a_person)
        complete = further_logs.joined(drives.reads, kinds, runner, deadline)
        drives = drives._replace(reads=complete)
    verdicts = Verdicts(drives, history, judge)

    def finished(why_cut: str) -> Survey:
        """Return the survey. why_cut: why the time is over; '' while there is time."""
        judged = verdicts.all(why_cut)
        run = messages.Run(run_settings, judge, history, answered, drives, judged)
        result = described(run)
        if done:
            done(result)
        return result

    # calls finished(''), and if the time limit interrupts this, finished(reason)
    return alarm.in_time(finished)


def described(run: messages.Run) -> Survey:
    """Return the survey of a run whose drives are judged."""
    return Survey(
        verdicts=tuple(run.verdicts),
        reads=run.drives.reads,
        judge=run.judge,
        history=run.history,
        whereabouts=run.drives.whereabouts,
        nobody=inventory.nobody(run.read, run.drives, run.settings),
        **messages.messages(run),
    )
