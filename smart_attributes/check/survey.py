"""Read and judge the drives that the options select, each one once and under its final name.

Only this module combines reading and judging. Modules that only judging needs are imported while the drives are read.
"""
from __future__ import annotations

import os
import time
from contextlib import suppress

from .. import alarm
from ..coded import Coded
from ..command_line.options import Options, Which
from ..errors import DriveAsleep, DriveError, DriveNotReached
from ..model import Device, Identity, Lately, Read, Report, State, Verdict
from ..reading import machine, processes, selection, smartctl_calls
from ..reading.machine import Plan
from ..typed import TYPE_CHECKING, NamedTuple
from . import fence, inventory, run_messages
from .history_access import Remembered, remembered
from .rulebook import Judge, Site, judge_of, site_of, today
from .verdicts import Verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from re import Pattern
    from typing import Callable

    from ..command_line.options import Before
    from ..history.past import Past
    from ..model import Answer
    from ..redundancy.replacement import Machine
    from .log_pages import LogPages

    Address = tuple[str, str]  # path and type; naming for the output does not change them
    Watch = Callable[[int, Sequence[str]], object]
    # Yields the place and the new read of each drive that is read further.
    Complete = Callable[[Sequence[Read], Judge, Options, processes.Runner, float], Iterable[tuple[int, Read]]]


_UNDECIDED = '{} is checked although --match or --ignore may exclude it: {}; simplify these patterns'


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
    lately: Lately | None = None  # increases, added and removed drives of a period, if requested
    machine: Machine | None = None  # the groups on the drives and the order of replacement, if they were read


class Progress:
    """The results so far, kept outside of the functions that the time limit may interrupt."""

    def __init__(self, watch: Watch | None = None) -> None:
        self.watch = watch
        self.found = machine.DeviceList(())
        self.planned: Sequence[Device] = ()
        self.reads: list[Read] = []
        self.judge: Judge | None = None
        self.history = Remembered()
        self.wanted: dict[Address, bool] = {}
        self.verdicts = Verdicts()
        self.notes: tuple[Coded, ...] = ()
        self.faults: tuple[Coded, ...] = ()
        self.runner: processes.Runner | None = None
        self.logs: LogPages | None = None  # None: no vendor's log is read
        self.late = ''                # why patterns are no longer evaluated


def survey(options: Options, runner: processes.Runner, meanwhile: Callable[[], object] = tuple,
           watch: Watch | None = None, complete: Complete | None = None) -> Survey:
    """Return the verdicts that the options ask for. Raises SmartError if no verdict can be formed.

    meanwhile: called once, while the drives are being read.
    watch: called at each change with the number of drives that have answered and the names of the others.
    complete: called once when all drives have answered, to read more of them.
    """
    progress = Progress(watch)
    try:
        return _survey(options, runner, meanwhile, progress, complete)
    except alarm.TimeIsOver as over:
        if progress.judge is None:
            raise
        return _so_far(progress, options, progress.judge, str(over))


def _survey(options: Options, runner: processes.Runner, meanwhile: Callable[[], object], progress: Progress,
            complete: Complete | None) -> Survey:
    deadline = time.monotonic() + options.how_read.timeout - 2 * alarm.reserve(options.how_read.timeout)
    site = site_of(options.data, options.before)
    if options.which.reports:
        progress.judge = judge_of(options, site)
        _read_recorded(progress, options.which.reports)
        return judged(progress, options, progress.judge)
    plans = _at_work(progress, options, site, runner, deadline)
    # The drives are being read from here on, so this work overlaps with waiting for them.
    progress.judge = judge_of(options, site)
    progress.history = remembered(options)
    progress.judge.prepare(progress.history.expect(progress.planned))
    meanwhile()
    _watched(progress)
    progress.runner = runner
    for read in machine.read_all(plans, options.how_read, runner, deadline,
                                 lambda answer: _take_log(answer, progress)):
        progress.reads.append(read)  # one by one: completed reads are kept
        with suppress(Exception):    # of this drive; it is judged again when all have answered, within its fence
            _judge_meanwhile(read, progress, options)
        _watched(progress)
    for place, read in complete(progress.reads, progress.judge, options, runner, deadline) if complete else ():
        progress.reads[place] = read
        progress.verdicts.formed.pop(read.device, None)
    return judged(progress, options, progress.judge, _with_vendor_logs(progress, options, deadline))


def _at_work(progress: Progress, options: Options, site: Site, runner: processes.Runner,
             deadline: float) -> Sequence[Plan]:
    """Start as many reads as --jobs allows, and return the plan of each drive."""
    how, as_root = options.how_read, os.geteuid() == 0
    smartctl_calls.check_executable(how.smartctl, as_root, through_sudo=not (as_root or how.nosudo))
    runner.keep(options.state_dir)
    progress.found = find(options, runner, deadline)
    plans = plan(progress.found.devices, options, site)
    if runner.forgetful:
        progress.notes = (Coded('processes-not-recorded', f'if a drive hangs, each check may leave another process '
                                                          f'behind: {runner.forgetful}'),)
    progress.planned = [planned.device for planned in plans]
    for planned in plans[:how.jobs]:
        runner.start(planned.command, how.jobs)
    return plans


def _judge_meanwhile(read: Read, progress: Progress, options: Options) -> None:
    """Judge a drive while others are still being read, unless its verdict can depend on those, or on a log of its own.

    It can with names other than device names, with files of version 1.6, and for a drive at a new address.
    """
    if not (progress.judge and isinstance(read.outcome, Report)
            and progress.history.is_expected(read.outcome.identity)):
        return
    past = progress.history.likely_past(read.outcome.identity)
    if _asks_for_log(read, past, past is not None and progress.history.is_written, progress, options):
        return
    if not progress.judge.old and options.naming.label == 'device':
        progress.verdicts.of(read, progress.judge, past)


def _asks_for_log(read: Read, past: Past | None, is_stored: bool, progress: Progress, options: Options) -> bool:
    """Return whether the vendor's log of a drive is read now, which is started here.

    is_stored: the history will know when it was read; without that, it is read only if it always is.
    """
    every, report, how = options.judging.vendor_logs, read.outcome, options.how_read
    if (every is None or (every and not is_stored) or not isinstance(report, Report) or not report.nvme
            or progress.judge is None or progress.judge.database.identify(report.identity, ()).log is None):
        return False
    if progress.logs is None and progress.runner:
        from .log_pages import LogPages
        prefix = smartctl_calls.prefix(how.smartctl, how.nosudo)
        progress.logs = LogPages(progress.runner, progress.judge, every, prefix)
    return progress.logs is not None and progress.logs.ask(read, past)


def _take_log(answer: Answer, progress: Progress) -> None:
    if progress.logs:
        progress.logs.take(answer)


def _with_vendor_logs(progress: Progress, options: Options, deadline: float) -> inventory.Inventory:
    """Return the inventory with the vendor's logs, after asking drives that were not expected at their address."""
    drives = _inventory(progress, options)
    for read in drives.reads:
        with suppress(Exception):  # this drive is judged without its vendor's log
            past, is_stored = progress.history.past(read.device), progress.history.keeps(read.device)
            _asks_for_log(read, past, is_stored, progress, options)
    if progress.logs is None:
        return drives
    progress.logs.wait(options.how_read.jobs, deadline)
    return drives._replace(reads=tuple(progress.logs.with_pages(drives.reads)))


def _watched(progress: Progress) -> None:
    if progress.watch:
        reached = {read.device.name for read in progress.reads}
        progress.watch(len(reached), [device.name for device in progress.planned if device.name not in reached])


def _read_recorded(progress: Progress, paths: Sequence[str]) -> None:
    from ..reading import recorded
    _name_recorded(progress, recorded.read_files(paths, progress.reads))


def _name_recorded(progress: Progress, notes: Sequence[Coded]) -> None:
    from ..reading import recorded
    progress.reads = recorded.named(progress.reads)
    progress.found = machine.DeviceList(tuple(read.device for read in progress.reads), notes=tuple(notes))


def _so_far(progress: Progress, options: Options, judge: Judge, why: str) -> Survey:
    """Return the survey of the drives read before the time limit; all others are reported as not read."""
    if options.which.reports and not progress.found.devices:
        _name_recorded(progress, ())
        progress.faults = (Coded('not-reached', f'only {len(progress.reads)} recorded reports were read: {why}; give '
                                                f'fewer, or increase -t'),)
    reached = {read.device.name for read in progress.reads}  # reading may have changed the type
    progress.reads += [Read(device, DriveNotReached(f'was not read: {why}')) for device in progress.planned
                       if device.name not in reached]
    progress.late = why
    try:
        return judged(progress, options, judge)
    except alarm.TimeIsOver:  # judging takes too long as well
        progress.verdicts.late = why
        return judged(progress, options, judge)


def find(options: Options, runner: processes.Runner, deadline: float) -> machine.DeviceList:
    """Return the devices that the options name, or those that smartctl --scan finds."""
    named = options.before.named(options.which.devices) if options.before else machine.named(options.which.devices)
    return machine.find(named, options.which.scan, options.how_read, runner, deadline)


def plan(found: Sequence[Device], options: Options, site: Site | None = None) -> list[Plan]:
    """Return how to read each device, without those that options or local files exclude.

    site: the local files, if they are loaded already.
    """
    prefix = smartctl_calls.prefix(options.how_read.smartctl, options.how_read.nosudo)
    match, ignore = selection.patterns(options.which.match), selection.patterns(options.which.ignore)
    exceptions = _exceptions_before_reading(site or site_of(options.data, options.before))
    plans = []
    for device in found:
        is_read, skipped = exceptions(device)
        if is_read and selection.is_wanted(device, None, match, ignore) is not False:
            plans.append(Plan(device, (*prefix, *smartctl_calls.read_arguments(device.path, device.type, skipped))))
    return plans


def _exceptions_before_reading(site: Site) -> Callable[[Device], tuple[bool, Sequence[str]]]:
    """Return a function that returns whether to read a device, and which of its logs to skip."""
    if not site.thresholds:
        return lambda device: (True, ())
    from ..knowledge.thresholds import Thresholds
    limits = Thresholds({}, site.limits, today=today())

    def tell(device: Device) -> tuple[bool, Sequence[str]]:
        exceptions = limits.exceptions(device, Identity(), '')
        return exceptions.is_read, sorted(exceptions.skipped_logs)
    return tell


# --- inventory, verdicts, messages --------------------------------------------------

def judged(progress: Progress, options: Options, judge: Judge,
           drives: inventory.Inventory | None = None) -> Survey:
    """Return the survey of the reads so far: each drive once, under its final name. drives: if known already."""
    drives = drives or _inventory(progress, options)
    own = judge._replace(old=judge.old.addressed([read.device for read in drives.reads])) if judge.old else judge
    return _described(progress, options, own, drives, _verdicts(progress, options, own, drives))


def _inventory(progress: Progress, options: Options) -> inventory.Inventory:
    """Return the reads that count, after looking up their drives in the history."""
    asked = progress.found.devices
    candidates = wanted(inventory.in_order(progress.reads, asked), options.which, options.before, progress)
    drives = inventory.inventory(inventory.looked_at_again(candidates), asked, progress.found.is_scan,
                                 options.naming.label)
    progress.history.recall(drives.reads, drives.candidates, _addressed(asked, progress.reads),
                            progress.found.is_scan)
    return drives


def _verdicts(progress: Progress, options: Options, judge: Judge, drives: inventory.Inventory) -> tuple[Verdict, ...]:
    """Return the verdict on each drive. Each is formed once, unless verdicts.reason() gives a reason to repeat it."""
    def verdict_on(read: Read) -> Verdict:
        formed = progress.verdicts.of(read, judge, progress.history.past(read.device))
        return fence.done(formed, lambda each: _remembered(each, read, progress.history, options), fence.UNCOMPARED)
    return tuple(map(verdict_on, drives.reads))


def _described(progress: Progress, options: Options, judge: Judge, drives: inventory.Inventory,
               verdicts: tuple[Verdict, ...]) -> Survey:
    """Return the survey: the verdicts, and the messages about the run as a whole."""
    history = progress.history
    gone = run_messages.gone(history, options, judge)
    is_bare = progress.found.is_scan and progress.found.is_whole and drives.is_bare
    return Survey(
        verdicts=verdicts, reads=drives.reads, judge=judge, history=history,
        nobody=inventory.nobody(is_bare, options.which.expect, options.which.no_drives),
        failures=inventory.missing(drives.reads, options.which.expect),
        faults=(*progress.faults, *drives.faults, *judge.mistakes, *_contradictions(verdicts, drives.reads, judge)),
        remarks=(*dict.fromkeys(read.remark for read in (*progress.reads, *drives.reads) if read.remark),
                 *run_messages.remarks(history, options, gone)),
        notes=(*progress.found.notes, *progress.notes, *drives.notes, *_notes_on_1_6(options, judge)),
        demands=(*((options.history.gone, each) for each in gone), *run_messages.demanded(history, options)))


def _notes_on_1_6(options: Options, judge: Judge) -> tuple[Coded, ...]:
    """Return the notes on options and files of version 1.6."""
    return (*(options.before.notes(options.data.config) if options.before else ()),
            *(judge.old.notes if judge.old else ()))


def _remembered(verdict: Verdict, read: Read, history: Remembered, options: Options) -> Verdict:
    """Return a verdict with additions from the history.

    If a drive no longer answers, the verdict names the drive last seen there, since nothing else shows which one to
    pull. Only plain DriveErrors mean this: absent drives, other devices and addresses not read have their own classes.
    """
    if read.waited:
        waited = Coded('waited', f'waited {read.waited:.1f} s for another check that was reading this drive')
        verdict = verdict._replace(notes=(*verdict.notes, waited))
    if isinstance(read.outcome, Report):
        return verdict if verdict.problem else verdict._replace(notes=(*verdict.notes, *history.notes(verdict)))
    if isinstance(read.outcome, DriveAsleep):
        return history.asleep(verdict)
    is_silent = type(read.outcome) is DriveError and read.identity is None
    seen = history.last_seen(read.device, options.naming.hide_serial) if is_silent else ''
    return verdict._replace(problem=f'{verdict.problem}; {seen}',
                            last_seen=history.seen(read.device)) if seen else verdict


def _addressed(asked: Sequence[Device], reads: Sequence[Read]) -> list[Device]:
    """Return all requested devices, each with the address at which it answered."""
    reached = {read.device.name: read.device for read in reads}
    return [reached.get(device.name, device) for device in asked]


def _contradictions(verdicts: Sequence[Verdict], reads: Sequence[Read], judge: Judge) -> list[Coded]:
    """Return a message for each contradiction between local files that concerns one of these drives."""
    told = [sentence for verdict, read in zip(verdicts, reads)
            for sentence in judge.contradictions(verdict, read.outcome if isinstance(read.outcome, Report) else None)]
    return [Coded('site-files-contradict', each) for each in dict.fromkeys(told)]


def _address(read: Read) -> Address:
    return read.device.path, read.device.type


def wanted(reads: Sequence[Read], which: Which, before: Before | None, progress: Progress) -> list[Read]:
    """Return the drives that --match, --ignore and --ssdonly select.

    A drive is kept, with a fault in *progress*, if its patterns could not be evaluated in time.
    """
    match, ignore = selection.patterns(which.match), selection.patterns(which.ignore)
    kept = []
    for read in reads:
        if _address(read) not in progress.wanted:
            progress.wanted[_address(read)] = _is_wanted(read, match, ignore, progress)
        if progress.wanted[_address(read)] and not (before and before.leaves_out(read)):
            kept.append(read)
    return kept


def _named(read: Read, history: Remembered) -> Identity | None:
    """Return the identity of a drive; of one in standby, which reports none, that of its last read."""
    return (history.name(read.device) if isinstance(read.outcome, DriveAsleep) else None) or read.identity


def _is_wanted(read: Read, match: Sequence[Pattern[str]], ignore: Sequence[Pattern[str]], progress: Progress) -> bool:
    try:
        if not progress.late or not (match or ignore):
            return alarm.limited(selection.is_wanted, read.device, _named(read, progress.history), match, ignore,
                                 isinstance(read.outcome, Report)) is not False
        why = progress.late + ' before the patterns were matched'
    except alarm.TakesTooLong as slow:
        why = f'matching took more than {slow}'
    progress.faults += (Coded('pattern-undecided', _UNDECIDED.format(read.device.name, why)),)
    return True
