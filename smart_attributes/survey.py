"""Options -> verdicts: each drive once, read and judged, under its final name.

The only place where reading and judging meet. What only judging needs is
imported while the drives think about their answers.
"""

import os
import time
from typing import Any, Callable, Collection, Dict, Iterator, List, Mapping, NamedTuple, Optional, Pattern, Sequence, Tuple

from . import alarm
from .cli import Options
from .errors import DataError, DriveAbsent, DriveError, DriveIsNoDrive, DriveNotReached, SmartError, UsageError
from .model import Device, Identity, Read, Report, Verdict
from .reading import by_id, choice, commands, machine, names, processes
from .reading.identity import distinct, note
from .reading.machine import Plan

DATABASE = 'attributes.json'
ADDITIONS = 'attributes.d'
LIMITS = 'thresholds.d'
_UNDECIDED = '{} is checked although --match and --ignore may leave it out: {} to tell; simplify these patterns'
KEPT_DATABASE = 'check_smartdb-1.6.json'  # where the Debian package puts that of version 1.6, unchanged, when it takes its place
SHIPPED_LIMITS = os.path.join('thresholds', 'default.json')
DRAFTED, ADVISED, LEGACY = 'unknown_model', 'firmware_advisory', 'legacy_limit'  # roles that no data file defines

Json = Mapping[str, Any]
NamedFile = Tuple[str, Json]
Address = Tuple[str, str]  # path and type, which a name for the output does not change


class Site(NamedTuple):
    """The data files of this site, validated: (file name, data)."""

    attributes: Tuple[NamedFile, ...] = ()
    thresholds: Tuple[NamedFile, ...] = ()
    old_users: Any = None  # legacy.Users


class Judge(NamedTuple):
    """Everything that judging needs beside a report."""

    database: Any    # specs.SpecDatabase
    thresholds: Any  # thresholds.Thresholds
    rules: Any       # judge.Rules
    old: Any = None  # second_opinion.Files, where files of version 1.6 were given


class Survey(NamedTuple):
    """All verdicts of one run, and what concerns the run as a whole."""

    verdicts: Tuple[Verdict, ...]
    reads: Tuple[Read, ...]          # in the order of the verdicts
    failures: Tuple[str, ...]        # make the run CRITICAL: drives missing
    notes: Tuple[str, ...]
    judge: Judge
    faults: Tuple[str, ...] = ()     # make the run UNKNOWN, where it is no worse: slots that nobody looked at


class Progress:
    """What has been found out so far, where no alarm can take it away."""

    def __init__(self) -> None:
        self.found = machine.Found(())
        self.planned: Sequence[Device] = ()
        self.reads: List[Read] = []
        self.judge: Optional[Judge] = None
        self.wanted: Dict[Address, bool] = {}
        self.verdicts: Dict[Address, Verdict] = {}
        self.notes: Tuple[str, ...] = ()
        self.faults: Tuple[str, ...] = ()
        self.late = ''                # why patterns are asked no more
        self.is_over = False          # nor are drives judged


def survey(options: Options, runner: processes.Runner, meanwhile: Callable[[], object] = tuple) -> Survey:
    """Return the verdicts that the options ask for. Raises SmartError where none can be formed at all.

    meanwhile: called when the drives are at work and nothing is left to do but wait.
    """
    progress = Progress()
    try:
        return _survey(options, runner, meanwhile, progress)
    except alarm.TimeIsOver as over:
        if progress.judge is None:
            raise
        return _so_far(progress, options, progress.judge, str(over))


def _survey(options: Options, runner: processes.Runner, meanwhile: Callable[[], object], progress: Progress) -> Survey:
    deadline = time.monotonic() + options.timeout - 2 * alarm.reserve(options.timeout)
    site = site_of(options)
    if options.reports:
        progress.judge = judge_of(options, site)
        from .reading import recorded
        notes = recorded.read_files(options.reports, progress.reads)
        _found_recorded(progress, notes)
        return judged(progress, options, progress.judge)
    as_root = os.geteuid() == 0
    commands.check_executable(options.smartctl, as_root, through_sudo=not (as_root or options.nosudo))
    runner.keep(options.state_dir)
    progress.found = machine.find(options, runner, deadline)
    plans = plan(progress.found.devices, options, site)
    if runner.forgetful:
        progress.notes = (f'a drive that hangs may cost a process with each check, not one alone: {runner.forgetful}',)
    progress.planned = [planned.device for planned in plans]
    for _, command in plans[:options.jobs]:
        runner.start(command, options.jobs)
    # The drives are at work from here on; this takes as long as Python needs.
    progress.judge = judge_of(options, site)
    progress.judge.database.prepare()
    meanwhile()
    progress.reads.extend(machine.read_all(plans, options, runner, deadline))  # one by one: what is there, stays there
    return judged(progress, options, progress.judge)


def _found_recorded(progress: Progress, notes: Sequence[str]) -> None:
    from .reading import recorded
    progress.reads = recorded.named(progress.reads)
    progress.found = machine.Found(tuple(read.device for read in progress.reads), notes=tuple(notes))


def _so_far(progress: Progress, options: Options, judge: Judge, why: str) -> Survey:
    """Return the survey of what is known when time is over; what is not known says so."""
    if options.reports and not progress.found.devices:
        _found_recorded(progress, ())
        progress.faults = (f'only {len(progress.reads)} recorded reports were read, {why}; give fewer, or more time with -t',)
    reached = {read.device for read in progress.reads}
    progress.reads += [Read(device, DriveNotReached(f'was not read: {why}')) for device in progress.planned if device not in reached]
    progress.late = why
    try:
        return judged(progress, options, judge)
    except alarm.TimeIsOver:  # judging takes too long as well
        progress.is_over = True
        return judged(progress, options, judge)


def in_order(reads: Sequence[Read], asked: Sequence[Device]) -> List[Read]:
    """Return what was read in the order in which it was asked for."""
    places = {device: place for place, device in enumerate(asked)}
    return sorted(reads, key=lambda read: places[read.device])


# --- data files -------------------------------------------------------------------

def site_of(options: Options) -> Site:
    """Return the local data files: those of the configuration folder, then those of the command line.

    Raises DataError for the first one that cannot be used.
    """
    attributes = [*_folder(options.config, ADDITIONS), *options.attributes]
    limits = [*_folder(options.config, LIMITS), *options.thresholds]
    users = _old_users(options)
    if options.user_config is not None and users is None:
        limits.append(options.user_config)
    if not attributes and not limits:
        return Site(old_users=users)
    from .knowledge import datafile, thresholds
    site = Site(tuple((os.path.basename(path), datafile.load_checked(path, 'attributes')) for path in attributes),
                tuple((os.path.basename(path), datafile.load_checked(path, 'thresholds')) for path in limits), users)
    for name, data in site.thresholds:
        thresholds.check_ranges(name, data)
    return site


def _old_users(options: Options) -> Any:
    """Return the user configuration of version 1.6, None where -ucfgj holds limits of this version, or is not given."""
    if options.user_config is None:
        return None
    from .v1_6 import legacy
    data = legacy.read(options.user_config)
    return legacy.users(options.user_config, data) if legacy.is_of_1_6(data) else None


def _folder(config: str, name: str) -> List[str]:
    folder = os.path.join(config, name)
    try:
        return [os.path.join(folder, file) for file in sorted(os.listdir(folder)) if file.endswith('.json')]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(f'{folder}: {error.strerror}; let the user who runs the check read it, or remove it') from None


def judge_of(options: Options, site: Site) -> Judge:
    """Return database, limits and rules. Raises DataError and UsageError where they contradict each other."""
    from . import judge
    from .knowledge import datafile, specs, thresholds
    old = _old_files(options, site)
    database = specs.SpecDatabase(shipped_database(options), (*site.attributes, *(old.entries if old else ())))
    limits = thresholds.Thresholds(
        datafile.load(datafile.shipped(SHIPPED_LIMITS)), site.thresholds,
        thresholds.CommandLineLimits(dict(options.warning), dict(options.critical)), time.strftime('%Y-%m-%d'))
    _check_roles(options, site, {*database.roles, DRAFTED, ADVISED, LEGACY})
    return Judge(database, limits, judge.Rules(
        frozenset(options.ignore_roles), frozenset(options.ignore_attributes), options.unknown_model, options.asleep, time.time()), old)


def _old_files(options: Options, site: Site) -> Any:
    """Return the files of version 1.6, None where none were given: a check without them does not pay for their code."""
    path = old_database(options)
    if path is None and site.old_users is None:
        return None
    from .v1_6 import second_opinion
    return second_opinion.files(path, site.old_users, options.all_perfdata)


def old_database(options: Options) -> Optional[str]:
    """Return the file behind -dbj; where it is gone, the one that the upgrade of a package has kept, so that graphs go on."""
    kept = os.path.join(options.config, KEPT_DATABASE)
    return next((path for path in (options.old_database, kept) if is_there(path)), None) if options.old_database is not None else None


def is_there(path: Optional[str]) -> bool:
    """Tell whether there is something at a path, be it unreadable."""
    try:
        return path is not None and bool(os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):  # whoever opens it says what is wrong
        return True


def shipped_database(options: Options) -> Json:
    """Return attributes.json: the shipped one, or a newer one in the configuration folder.

    Raises DataError where the one in the configuration folder cannot be used.
    """
    from .knowledge import datafile
    data: Json = datafile.load(datafile.shipped(DATABASE))
    replacement = os.path.join(options.config, DATABASE)
    if os.path.lexists(replacement):
        newer: Json = datafile.load_checked(replacement, 'attributes')
        # Left behind by a packet that has been overtaken by the next one, it must not hold back what is known today.
        if newer.get('date', '') > data['date']:
            return newer
    return data


def _check_roles(options: Options, site: Site, known: Collection[str]) -> None:
    from .knowledge import ranges
    for name in (*(role for role, _ in (*options.warning, *options.critical)), *options.ignore_roles):
        if name not in known:
            raise UsageError(f'"{name}" is no role; doc/roles.md lists them, for example endurance_used')
    for _, limit in (*options.warning, *options.critical):
        ranges.parse(limit)
    for file, data in site.thresholds:
        for roles in (data.get('roles', {}), *(override.get('roles', {}) for override in data.get('overrides', ()))):
            for name in roles:
                if name not in known:
                    raise DataError(f'{file}: "{name}" is no role; doc/roles.md lists them, for example endurance_used')


def plan(found: Sequence[Device], options: Options, site: Site) -> List[Plan]:
    """Return how each device is read; what nobody wants, or a site file forbids to read, is left out."""
    prefix = commands.prefix(options.smartctl, options.nosudo)
    match, ignore = choice.patterns(options.match), choice.patterns(options.ignore)
    exceptions = _exceptions_before_reading(site)
    plans = []
    for device in found:
        is_read, skipped = exceptions(device)
        if is_read and choice.is_wanted(device, None, match, ignore) is not False:
            plans.append(Plan(device, (*prefix, *commands.read_arguments(device.path, device.type, skipped))))
    return plans


def _exceptions_before_reading(site: Site) -> Callable[[Device], Tuple[bool, Sequence[str]]]:
    """Return what tells of a device whether it is read, and which logs are not."""
    if not site.thresholds:
        return lambda device: (True, ())
    from .knowledge.thresholds import Thresholds
    limits = Thresholds({}, site.thresholds, today=time.strftime('%Y-%m-%d'))

    def tell(device: Device) -> Tuple[bool, Sequence[str]]:
        exceptions = limits.exceptions(device, Identity(), '')
        return exceptions.is_read, sorted(exceptions.skipped_logs)
    return tell


# --- judging ----------------------------------------------------------------------

def judged(progress: Progress, options: Options, judge: Judge) -> Survey:
    """Return the survey of what was read: each drive once, under its final name."""
    kept, merged = without_twins(wanted(in_order(progress.reads, progress.found.devices), options, progress))
    kept, left_out = without_empty(kept, progress.found.is_scan)
    kept, unseen = without_unseen(kept, sum(device.optional for device in progress.found.devices))
    kept = labelled(kept, options.label)
    if judge.old:
        from .v1_6 import second_opinion
        judge = judge._replace(old=second_opinion.addressed(judge.old, [read.device for read in kept]))
    notes = (*progress.found.notes, *progress.notes, *merged, *left_out, *_as_before(options), *(judge.old.notes if judge.old else ()))
    return Survey(tuple(_verdict(read, judge, progress) for read in kept), tuple(kept), missing(kept, options.expect), notes, judge,
                  (*progress.faults, *unseen))


def _verdict(read: Read, judge: Judge, progress: Progress) -> Verdict:
    """Return the verdict on one device, which is formed once and while there is time."""
    known = progress.verdicts.get(_address(read))
    if known is None and progress.is_over:
        from . import judge as judging
        return judging.unreadable(read.device, DriveError(f'was read and not judged: {progress.late}'), judge.rules, read.identity)
    if known is None:
        known = progress.verdicts[_address(read)] = verdict(read, judge)
    return known


def _address(read: Read) -> Address:
    return read.device.path, read.device.type


def verdict(read: Read, judge: Judge) -> Verdict:
    """Return the verdict on one device; whatever goes wrong with it stays with it."""
    from . import judge as judging
    try:
        return alarm.limited(_judged_alone, read, judge)
    except DataError as error:
        problem: SmartError = error
    except alarm.TakesTooLong as slow:
        problem = DriveError(f'cannot be judged: {slow} were not enough; a pattern in a data file may never end, '
                             'check_smart_attributes prove names it')
    except Exception as error:  # one drive must not take the others with it
        problem = DriveError(f'cannot be judged: {type(error).__name__} inside check_smart_attributes; '
                             'please report it with the output of smartctl --json -x')
    return judging.unreadable(read.device, problem, judge.rules, read.identity)


def _judged_alone(read: Read, judge: Judge) -> Verdict:
    from . import judge as judging
    if isinstance(read.outcome, Report):
        return _with_old(judging.judge(read.device, read.outcome, judge.database, judge.thresholds, judge.rules), read.outcome, judge)
    return judging.unreadable(read.device, read.outcome, judge.rules, read.identity)


def _as_before(options: Options) -> Iterator[str]:
    """Yield a note for what was given as to version 1.6 and has no effect."""
    for word in options.strays:
        yield f'"{word}" belongs to no option and is ignored, as version 1.6 did'
    if options.old_database is not None and not is_there(options.old_database):
        kept = old_database(options)
        yield f'{options.old_database} is not there; ' + (f'{kept}, kept by an upgrade, adds its labels' if kept else
                                                          'the shipped attributes.json is used, which needs no such file')


def _with_old(own: Verdict, report: Report, judge: Judge) -> Verdict:
    """Return a verdict with what files of version 1.6 add to it."""
    if judge.old is None:
        return own
    from .v1_6 import second_opinion
    exceptions = judge.thresholds.exceptions(own.device, own.identity, own.entry or '')
    return second_opinion.joined(own, report, judge.old, judge.database, exceptions.ignored_attributes | judge.rules.ignored_attributes,
                                 judge.rules.ignored_roles)


def wanted(reads: Sequence[Read], options: Options, progress: Progress) -> List[Read]:
    """Return the drives that --match, --ignore and --ssdonly leave over; one that a pattern never decides is checked, and said."""
    match, ignore = choice.patterns(options.match), choice.patterns(options.ignore)
    kept = []
    for read in reads:
        if _address(read) not in progress.wanted:
            progress.wanted[_address(read)] = _is_wanted(read, match, ignore, progress)
        if progress.wanted[_address(read)] and not (options.ssd_only and _is_hard_disk(read)):
            kept.append(read)
    return kept


def _is_wanted(read: Read, match: Sequence[Pattern[str]], ignore: Sequence[Pattern[str]], progress: Progress) -> bool:
    try:
        if not progress.late or not (match or ignore):
            return alarm.limited(choice.is_wanted, read.device, read.identity, match, ignore, isinstance(read.outcome, Report)) is not False
        why = progress.late + ' before there was time'
    except alarm.TakesTooLong as slow:
        why = f'{slow} were not enough'
    progress.faults += (_UNDECIDED.format(read.device.name, why),)
    return True


def _is_hard_disk(read: Read) -> bool:
    """Tell whether this is surely a hard disk: a drive that could not be read is never left out."""
    identity = read.identity
    return identity is not None and (identity.kind == 'hdd' or (identity.kind == 'sas' and bool(identity.rotation)))


def without_twins(reads: Sequence[Read]) -> Tuple[List[Read], List[str]]:
    """Return each drive once, and a note for each further address of it."""
    drives = distinct(reads)
    return [drive.read for drive in drives], [f'{drive.read.device.name}: {note(drive)}' for drive in drives if drive.others]


def without_empty(reads: Sequence[Read], is_scan: bool) -> Tuple[List[Read], List[str]]:
    """Leave out empty slots of a range, and what a scan took for a drive; a note for each."""
    kept = [read for read in reads if not _is_nothing(read, is_scan)]
    notes = [f'{read.device.name} {read.outcome}; left out' for read in reads if _is_nothing(read, is_scan)]
    return kept, notes


def _is_nothing(read: Read, is_scan: bool) -> bool:
    return (isinstance(read.outcome, DriveAbsent) and read.device.optional) or (
        isinstance(read.outcome, DriveIsNoDrive) and is_scan)


def without_unseen(reads: Sequence[Read], slots: int) -> Tuple[List[Read], Tuple[str, ...]]:
    """Leave out the slots of a range that nobody looked at when time was over: whether there are drives, nobody knows."""
    unseen = [read for read in reads if read.device.optional and isinstance(read.outcome, DriveNotReached)]
    told = (f'{len(unseen)} of {slots} slots were not looked at, time was over; name fewer slots, or give more time with -t',)
    return [read for read in reads if read not in unseen], told if unseen else ()


def missing(reads: Sequence[Read], expected: Optional[int]) -> Tuple[str, ...]:
    """Return a sentence when fewer drives answer than expected; a sleeping or unreadable one is there."""
    there = sum(not isinstance(read.outcome, DriveAbsent) for read in reads)
    if expected is None or there >= expected:
        return ()
    return (f'{expected - there} of {expected} expected drives missing, {there} there; '
            'look for a drive that is gone, or correct --expect',)


# --- names ------------------------------------------------------------------------

def labelled(reads: Sequence[Read], label: str) -> List[Read]:
    """Return the drives under names made of what --label asks for, each name once."""
    if label == 'device':
        return list(reads)
    links = by_id.links() if label == 'by-id' else {}
    devices = names.labelled([(read.device, _label(read, label, links)) for read in reads])
    return [read._replace(device=device) for read, device in zip(reads, devices)]


def _label(read: Read, label: str, links: Mapping[str, str]) -> str:
    """Return what a name is made of, '' where the drive does not tell it."""
    identity = read.identity or Identity()
    return {'serial': identity.serial, 'wwn': identity.wwn, 'by-id': by_id.name_of(read.device, links)}[label]
