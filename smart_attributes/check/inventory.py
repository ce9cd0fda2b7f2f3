"""The second stage of a run: which drives exist, under which names, and which are missing or
have moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .. import alarm
from ..errors import (
    Coded,
    ControllerElsewhere,
    DriveAbsent,
    DriveAsleep,
    DriveError,
    DriveIsNoDrive,
    DriveMissing,
    DriveNotReached,
)
from ..model import Alias, Device, Identity, Read, Report, State, Verdict
from ..reading import addresses
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import listed, local_day, plural
from . import selection
from .same_drive import Known, aliases, distinct, note

if TYPE_CHECKING:
    from ..history.drive_records import DrivePlace
    from ..reading.machine import DeviceList
    from .drive_tracking import MissingDrive, Whereabouts
    from .history_access import Remembered
    from .reads import Reads
    from .rulebook import Judge
    from .settings import RunSettings


class Inventory(NamedTuple):
    """The result of the second stage: the devices that count, and messages about all other
    devices.
    """

    reads: tuple[Read, ...]  # one per drive, under its final name
    # these, plus the reads of duplicates and empty slots, which do not count
    candidates: tuple[Read, ...]
    is_bare: bool  # every address was read, and no drive was found
    # duplicates, empty slots, and drives that answer as another type
    notes: tuple[Coded, ...] = ()
    # slots that were not read in time, and patterns that were not evaluated
    faults: tuple[Coded, ...] = ()
    # new, moved and missing drives; None without a history
    whereabouts: Whereabouts | None = None
    missing: Sequence[MissingDrive] = ()  # the missing drives among *reads*
    aliases: Mapping[str, tuple[Alias, ...]] = {}  # address -> other ones of a drive


def inventory(
    stage: Reads, settings: RunSettings, history: Remembered, judge: Judge | None = None
) -> Inventory:
    """Return the drives of a run, with their history: those that are there, then the missing ones.

    Patterns select among the drives that were read. Then missing drives are found. Then names on
    the command line select among all drives. judge: if None, missing drives are left out.

    If the time limit ends the work, it is done again without evaluating further patterns.
    """
    # Whether the patterns select a device. wanted() adds its decisions, and if taken() is called
    # again, wanted() does not repeat them.
    decided: dict[Device, bool] = {}

    def taken(why_cut: str) -> Inventory:
        """Return the inventory. why_cut: why the time is over; '' while there is time."""
        reads, faults = wanted(stage.reads, settings, history, decided, why_cut)
        if any(read.report is None for read in reads):
            from ..reading import diagnostics

            reads = diagnostics.with_better_reasons(reads)
        present = inventory_of(reads, stage.found, settings.label, history.seen_as)
        # This comes before names select drives: a drive that they do not select is not missing.
        whereabouts = history.recall(
            stage, present.reads, present.candidates, present.aliases
        )
        missing, missing_faults = _wanted_missing(
            whereabouts, present.reads, settings, history, judge, why_cut
        )
        drives = present._replace(missing=missing)
        if settings.which.names:
            drives = _named(drives, stage.found, settings, history)
        # A missing drive is listed once, not also as an address without a drive.
        listed_reads = [
            read for read in drives.reads if not _is_vacated(read, drives.missing)
        ]
        listed_reads += [drive.read for drive in drives.missing]
        return drives._replace(
            reads=tuple(listed_reads),
            faults=(*faults, *missing_faults, *drives.faults),
            whereabouts=whereabouts,
        )

    return alarm.in_time(taken)


def _wanted_missing(
    whereabouts: Whereabouts | None,
    present: Sequence[Read],
    settings: RunSettings,
    history: Remembered,
    judge: Judge | None,
    why_cut: str,
) -> tuple[list[MissingDrive], list[Coded]]:
    """Return the missing drives that the patterns select, each under a free name, and faults, as
    wanted() does; neither without a history or a judge. present: the drives that are there.
    """
    if whereabouts is None or judge is None:
        return [], []
    selected = []
    faults = []
    for drive in known_missing(whereabouts, settings, judge):
        # no earlier decisions: they are stored by device, and another drive can have the same one
        kept, undecided = wanted(
            [drive.read], settings, history, decided={}, why_cut=why_cut
        )
        faults += undecided
        if kept:
            selected.append(drive)
    return with_free_names(selected, present, settings.label), faults


def _named(
    drives: Inventory, found: DeviceList, settings: RunSettings, history: Remembered
) -> Inventory:
    """Return the inventory of only those drives, present or missing, that the command line names."""
    from . import named_drives

    vacated = [read for read in drives.candidates if _is_vacated(read, drives.missing)]
    reads, missing = named_drives.selected(
        drives.candidates, vacated, drives.missing, settings, history
    )
    named = inventory_of(reads, found, settings.label, history.seen_as)
    return named._replace(missing=missing)


def known_missing(
    whereabouts: Whereabouts, settings: RunSettings, judge: Judge
) -> list[MissingDrive]:
    """Return the drives that are missing, except those that root has acknowledged as missing, and
    those that a limits file makes optional; [] with --missing ok.

    An acknowledgement ends when the drive is found again: it does not count if the drive has come
    to its place on a later day.
    """
    state = settings.history.missing
    if state is State.OK:
        return []
    from ..knowledge.thresholds import MISSING
    from . import drive_tracking

    def is_accepted(identity: Identity, place: DrivePlace, device: Device) -> bool:
        accepted = judge.thresholds.acknowledged(identity, MISSING)
        if accepted:
            # An acknowledgement without a day does not end. As texts, days are in order of time.
            came = local_day(place.first)
            if accepted.at == '' or came <= accepted.at:
                return True
        return judge.thresholds.exceptions(device, identity, family='').is_optional

    return drive_tracking.missed(whereabouts, state, is_accepted)


def with_free_names(
    missing_drives: Sequence[MissingDrive], reads: Sequence[Read], label: str
) -> list[MissingDrive]:
    """Return the missing drives, each under a name of its own: the identifier that --label selects,
    or the name of its former address; if another drive has that name, with "_missing" added.

    reads: the drives that are there.
    """
    taken = {
        read.device.name for read in reads if not _is_vacated(read, missing_drives)
    }
    renamed = []
    for drive in missing_drives:
        identifier = _identifier(drive.identity, label)
        name = addresses.slug(identifier) if identifier else drive.device.name
        # the first free one of sda, sda_missing, sda_missing2, sda_missing3, ...
        free = f'{name}_missing' if name in taken else name
        number = 2
        while free in taken:
            free = f'{name}_missing{number}'
            number += 1
        taken.add(free)
        renamed.append(drive._replace(device=drive.device._replace(name=free)))
    return renamed


def _is_vacated(read: Read, missing_drives: Sequence[MissingDrive]) -> bool:
    """Return whether one of the missing drives was at this address, and no drive is there now."""
    is_empty = isinstance(read.outcome, DriveAbsent)
    former_addresses = [drive.device.address for drive in missing_drives]
    return is_empty and read.device.address in former_addresses


def wanted(
    reads: Sequence[Read],
    settings: RunSettings,
    history: Remembered,
    decided: dict[Device, bool],
    why_cut: str,
) -> tuple[list[Read], list[Coded]]:
    """Return the drives that --match, --ignore and --ssdonly select, and undecided drives, each
    with a fault.

    decided: the earlier decisions, which are not repeated; receives each new one. why_cut: why the
    time is over, so that no pattern is evaluated any more; '' while there is time.
    """
    match = selection.patterns(settings.which.match)
    ignore = selection.patterns(settings.which.ignore)
    faults = []
    for read in reads:
        device = read.device
        if device in decided:
            continue
        if why_cut and (match or ignore):
            faults.append(
                _undecided(device, f'{why_cut} before the patterns were matched')
            )
            continue
        identity = _identity(read, history)
        is_final = isinstance(read.outcome, (Report, DriveMissing))
        try:
            decided[device] = alarm.limited(
                selection.is_wanted, device, identity, match, ignore, is_final
            )
        except alarm.TakesTooLong as slow:
            faults.append(_undecided(device, f'matching took more than {slow}'))
    # an undecided drive is kept
    kept = [read for read in reads if decided.get(read.device, True)]
    before = settings.before  # options that only version 1.6 had, such as --ssdonly
    if before:
        kept = [read for read in kept if not before.leaves_out(read)]
    return kept, faults


def _undecided(device: Device, why: str) -> Coded:
    return Coded(
        'pattern-undecided',
        f'{device.name} is checked anyway: the patterns of --match or --ignore could not be applied to it: '
        f'{why}; simplify these patterns',
    )


def _identity(read: Read, history: Remembered) -> Identity | None:
    """Return the identity of a drive; for a drive in standby, the identity from its last read. None
    if it is not known.
    """
    if isinstance(read.outcome, DriveAsleep):
        return history.identity_at(read.device) or read.identity
    return read.identity


def inventory_of(
    candidates: Sequence[Read], found: DeviceList, label: str, seen_as: Known
) -> Inventory:
    """Return the results of reading that count, under the final drive names.

    candidates: the devices that the options select, in the order of *found*. found: the devices
    of this run. label: the identifier used in drive names, see --label. seen_as: see distinct().
    """
    drives = distinct(candidates, seen_as)
    same_drive_notes = [
        Coded('same-drive', f'{drive.read.device.name}: {note(drive)}')
        for drive in drives
        if drive.others
    ]
    occupied, empty_notes = without_empty(
        [drive.read for drive in drives], found.is_scan
    )
    # It is unknown whether these slots of a range have drives, because they were not read in time.
    unseen = [
        read
        for read in occupied
        if read.device.optional and isinstance(read.outcome, DriveNotReached)
    ]
    counted = [read for read in occupied if read not in unseen]
    faults = []
    if unseen:
        slots = sum(device.optional for device in found.devices)
        faults.append(
            Coded(
                'slots-not-reached',
                f'{len(unseen)} of {slots} slots were not read before the time limit; name '
                'fewer slots, or increase -t',
            )
        )
    is_complete = len(candidates) == len(found.devices)
    return Inventory(
        reads=tuple(labelled(counted, label)),
        candidates=tuple(candidates),
        is_bare=is_complete and not any(map(_may_be_drive, candidates)),
        aliases=aliases(drives),
        notes=(
            *same_drive_notes,
            *empty_notes,
            *reached_otherwise(counted, found.devices),
        ),
        faults=tuple(faults),
    )


def reached_otherwise(
    reads: Sequence[Read], asked: Sequence[Device]
) -> Iterator[Coded]:
    """Yield a note for each drive that answered as a device type other than the requested type."""
    requested_devices = {device.name: device for device in asked}
    for read in reads:
        device = read.device
        requested = requested_devices.get(device.name, device)
        if device.type != requested.type:
            yield Coded(
                'type-differs',
                f'{device.name} does not answer as {requested.address}, only as '
                f'{device.address}; use that address',
            )


def without_empty(
    reads: Sequence[Read], is_scan: bool
) -> tuple[list[Read], list[Coded]]:
    """Return the devices without empty slots of a range, and without devices that are not drives.
    The second value has a note for each device that was left out.

    A device that is not a drive is only left out if a scan found it, or if the drives below it are
    also named.
    """

    def is_left_out(read: Read) -> bool:
        if isinstance(read.outcome, DriveAbsent):
            return read.device.optional
        return is_scan and isinstance(read.outcome, DriveIsNoDrive)

    left_out = list(filter(is_left_out, reads))
    if not is_scan:
        left_out += _volumes_of_watched_drives(reads)
    notes = [
        Coded('nothing-there', f'{read.device.name} {read.outcome}; left out')
        for read in left_out
    ]
    return [read for read in reads if read not in left_out], notes


def _volumes_of_watched_drives(reads: Sequence[Read]) -> list[Read]:
    """Return the named RAID volumes to leave out, because drives of the same controller are also
    named.
    """
    volumes = [
        read
        for read in reads
        if isinstance(read.outcome, DriveIsNoDrive) and not read.device.is_recorded
    ]
    if not volumes:
        return []
    from ..reading import system

    watched = system.watched(reads)
    return [read for read in volumes if system.host_of(read.device) in watched]


def too_few(reads: Sequence[Read], expected: int | None) -> tuple[Coded, ...]:
    """Return a message if the run found fewer drives than expected; else nothing.

    Drives in standby and unreadable drives count as present; RAID volumes do not count as drives.
    If a controller is not at the given address, nothing is returned, because the number of drives
    is unknown.
    """
    present = [read.device.name for read in reads if _may_be_drive(read)]
    if expected is None or len(present) >= expected:
        return ()
    if any(isinstance(read.outcome, ControllerElsewhere) for read in reads):
        return ()
    return (
        Coded(
            'too-few-drives',
            f'expected {plural(expected, "drive")}, found {len(present)} '
            f'({listed(present, 3) or "none"}); look for the rest, or correct --expect',
        ),
    )


def nobody(stage: Reads, drives: Inventory, settings: RunSettings) -> tuple[State, str]:
    """Return the state and the message of a run that found no drive.

    The state given by --no-drives applies only if a complete scan found no drive, so a mistyped
    pattern or a range of empty slots stays UNKNOWN.
    """
    state = settings.which.no_drives
    is_whole_scan = stage.found.is_scan and stage.found.is_whole
    if state is not None and is_whole_scan and drives.is_bare:
        return (
            state,
            f'no drives: smartctl --scan found none (--no-drives {state.name.lower()})',
        )
    if settings.which.expect == 0:
        return State.OK, 'no drives, as expected (--expect 0)'
    return State.UNKNOWN, Coded(
        'no-drives',
        f'no drives to check: {_why_nobody(stage)}; name drives with -d; if this machine has none, add --no-drives=ok',
    )


def _why_nobody(stage: Reads) -> str:
    """Return why a run has no drive to judge:

    - no device was found
    - none was read in time
    - all are excluded
    - no drive is at any of the addresses

    The caller has found that no drive is left.
    """
    if not stage.found.devices:
        is_scan = stage.found.is_scan
        return 'smartctl --scan found none' if is_scan else 'no address is given'
    if stage.is_cut:
        return 'none was read in time'
    # A drive that is excluded by its address is not read.
    are_excluded_by_address = not stage.reads
    # A drive that was read, and is not left, is excluded by its identity.
    are_excluded_by_identity = any(map(_may_be_drive, stage.reads))
    if are_excluded_by_address or are_excluded_by_identity:
        return 'all are excluded'
    return 'none of the addresses has a drive'


def _may_be_drive(read: Read) -> bool:
    return not isinstance(read.outcome, (DriveAbsent, DriveMissing, DriveIsNoDrive))


def labelled(reads: Sequence[Read], label: str) -> list[Read]:
    """Give each drive a unique name, made from the identifier that --label selects; return the
    renamed drives.
    """
    if label == 'device':
        return list(reads)
    devices = [read.device for read in reads]
    if label == 'by-id':
        links = addresses.links()
        identifiers = [addresses.name_of(device, links) for device in devices]
    else:
        identities = [read.identity or Identity() for read in reads]
        identifiers = [_identifier(identity, label) for identity in identities]
    renamed = addresses.labelled(devices, identifiers)
    return [read._replace(device=device) for read, device in zip(reads, renamed)]


def _identifier(identity: Identity, label: str) -> str:
    """Return the part of an identity that --label selects; '' if the drive does not report it, or
    for another kind of label.
    """
    return {'serial': identity.serial, 'wwn': identity.wwn}.get(label, '')


# --- additions to the verdict on a drive ------------------------------------------------------


def described(
    verdict: Verdict, read: Read, drives: Inventory, history: Remembered, judge: Judge
) -> Verdict:
    """Return a verdict with additions from the history, and with a note if the check had to wait.

    A drive that was not judged now is at least as bad as when it was last read.
    """
    if read.waited:
        waited = Coded(
            'waited',
            f'waited {read.waited:.1f} s for another check that was reading this drive',
        )
        verdict = verdict._replace(notes=(*verdict.notes, waited))
    if not verdict.problem:
        verdict = history.with_status(verdict, read, judge)
        return verdict._replace(notes=(*verdict.notes, *history.notes(verdict)))
    if isinstance(read.outcome, DriveAsleep):
        verdict = history.asleep(verdict)
    elif drives.whereabouts:
        verdict = _with_last_seen(verdict, read, drives.whereabouts)
    return history.with_last(verdict, read, judge)


def _with_last_seen(verdict: Verdict, read: Read, whereabouts: Whereabouts) -> Verdict:
    """Return the verdict on a drive that does not answer, with the drive last read there, because
    nothing else shows which drive to pull.

    This applies only to plain DriveErrors: absent drives, other devices and unread addresses have
    their own classes.
    """
    if type(read.outcome) is not DriveError or read.identity is not None:
        return verdict
    from . import drive_tracking

    record = drive_tracking.seen(whereabouts, read.device.address)
    if record is None:
        return verdict
    seen = drive_tracking.last_seen(whereabouts, record)
    return verdict._replace(details=(*verdict.details, seen), last_seen=record.identity)
