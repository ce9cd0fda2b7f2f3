"""The second stage of a run: which drives exist, under which names, and which are missing or
have moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count

from .. import alarm
from ..constants import LONGEST_GIVEN_NAME
from ..errors import (
    Coded,
    ControllerElsewhere,
    DriveAbsent,
    DriveAsleep,
    DriveError,
    DriveIsNoDrive,
    DriveMissing,
    DriveNotReached,
    UsageError,
)
from ..model import Alias, Device, Identity, Read, Report, State, Verdict
from ..reading import addresses
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import local_day
from ..words import clean
from . import selection
from .same_drive import Known, aliases, distinct, note

if TYPE_CHECKING:
    from ..history.drive_records import Change
    from ..reading.machine import DeviceList
    from .drive_tracking import MissingDrive, Whereabouts
    from .history_access import Remembered
    from .reads import Reads
    from .rulebook import Judge
    from .settings import RunSettings


_UNDECIDED = '{} is checked, but --match or --ignore might exclude it: {}; simplify these patterns'


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
    missing: tuple[MissingDrive, ...] = ()  # the missing drives among *reads*
    aliases: Mapping[str, tuple[Alias, ...]] = {}  # address -> other ones of a drive


def inventory(
    stage: Reads, settings: RunSettings, history: Remembered, judge: Judge | None = None
) -> Inventory:
    """Return the drives of a run, with their history.

    After the time limit, patterns are no longer evaluated. judge: None: leave out missing drives.
    """
    decided: dict[Device, bool] = {}

    def before_the_end(late: str) -> Inventory:
        why = f'{late} before the patterns were matched' if late else ''
        kept, faults = wanted(stage.reads, settings, history, decided, why)
        if not all(isinstance(read.outcome, Report) for read in kept):
            from ..reading import diagnostics

            kept = diagnostics.with_better_reasons(kept)
        drives = counted(kept, stage.found, settings.label, history.seen_as)
        whereabouts = history.recall(
            stage, drives.reads, drives.candidates, drives.aliases
        )
        missing_drives: list[MissingDrive] = []
        if whereabouts and judge:
            for missing_drive in known_missing(whereabouts, settings, judge):
                selected, undecided = wanted(
                    [missing_drive.read], settings, history, {}, why
                )
                faults += undecided
                if selected:
                    missing_drives.append(missing_drive)
            missing_drives = with_free_names(
                missing_drives, drives.reads, settings.label
            )
        if settings.which.names:
            from . import named_drives

            kept, missing_drives = named_drives.selected(
                kept, missing_drives, settings, history
            )
            drives = counted(kept, stage.found, settings.label, history.seen_as)
        present = [read for read in drives.reads if not _is_left(read, missing_drives)]
        return drives._replace(
            reads=(*present, *(missing_drive.read for missing_drive in missing_drives)),
            missing=tuple(missing_drives),
            faults=(*faults, *drives.faults),
            whereabouts=whereabouts,
        )

    return alarm.twice(before_the_end)


def known_missing(
    whereabouts: Whereabouts, settings: RunSettings, judge: Judge
) -> list[MissingDrive]:
    """Return the drives that are missing, unless --missing ok is given or root has acknowledged it.

    An acknowledgement ends when the drive is found again. Drives that disappear together share the
    cause, such as a controller, so they are CRITICAL.
    """
    from ..knowledge.thresholds import MISSING  # a list judges no drive
    from . import drive_tracking

    def is_accepted(identity: Identity, change: Change) -> bool:
        accepted = judge.thresholds.acknowledged(identity, MISSING)
        if accepted is not None and (
            not accepted.at or local_day(change.first) <= accepted.at
        ):
            return True
        device = _device_at(change.address)
        return judge.thresholds.exceptions(device, identity, '').is_optional

    state = settings.history.missing
    if state is State.OK:
        return []
    return [
        drive_tracking.MissingDrive(
            _device_at(missed.change.address),
            State.CRITICAL if missed.is_one_of_many else state,
            missed,
        )
        for missed in drive_tracking.missed(whereabouts, is_accepted)
    ]


def _device_at(address: str) -> Device:
    """Return the device of an address in the history, which another user may have written."""
    try:
        return addresses.parse(address)[0]
    except UsageError:
        name = addresses.slug(address)[:LONGEST_GIVEN_NAME] or 'unknown'
        return Device(clean(address), name=name)


def with_free_names(
    missing_drives: Sequence[MissingDrive], reads: Sequence[Read], label: str
) -> list[MissingDrive]:
    """Return the missing drives under names that no other drive has: that of its address, which
    another drive may have now, or that of --label.
    """
    names = {read.device.name for read in reads if not _is_left(read, missing_drives)}
    renamed = []
    for missing_drive in missing_drives:
        identity, device = missing_drive.missed.identity, missing_drive.device
        wanted = {'serial': identity.serial, 'wwn': identity.wwn}.get(label, '')
        name = addresses.slug(wanted) if wanted else device.name
        numbered = (f'{name}_missing{number}' for number in count(2))
        candidates = chain([name, f'{name}_missing'], numbered)
        free = next(candidate for candidate in candidates if candidate not in names)
        names.add(free)
        renamed.append(missing_drive._replace(device=device._replace(name=free)))
    return renamed


def _is_left(read: Read, missing_drives: Sequence[MissingDrive]) -> bool:
    """Return whether nothing is at an address that a missing drive has left."""
    addresses_left = [missing_drive.device.address for missing_drive in missing_drives]
    return (
        isinstance(read.outcome, DriveAbsent) and read.device.address in addresses_left
    )


def wanted(
    reads: Sequence[Read],
    settings: RunSettings,
    history: Remembered,
    decided: dict[Device, bool],
    late: str = '',
) -> tuple[list[Read], list[Coded]]:
    """Return the drives that --match, --ignore and --ssdonly select, and undecided drives, each
    with a fault.

    decided: receives each decision. late: the reason why patterns are no longer evaluated.
    """
    match = selection.patterns(settings.which.match)
    ignore = selection.patterns(settings.which.ignore)
    faults = []
    for read in reads:
        why = late if match or ignore else ''
        if read.device not in decided and not why:
            try:
                decided[read.device] = (
                    alarm.limited(
                        selection.is_wanted,
                        read.device,
                        _named(read, history),
                        match,
                        ignore,
                        isinstance(read.outcome, (Report, DriveMissing)),
                    )
                    is not False
                )
            except alarm.TakesTooLong as slow:
                why = f'matching took more than {slow}'
        if read.device not in decided:
            faults.append(
                Coded('pattern-undecided', _UNDECIDED.format(read.device.name, why))
            )
    kept = [read for read in reads if decided.get(read.device, True)]
    before = settings.before
    if before:
        kept = [read for read in kept if not before.leaves_out(read)]
    return kept, faults


def _named(read: Read, history: Remembered) -> Identity | None:
    """Return the identity of a drive; for a drive in standby, the identity from its last read."""
    stored = (
        history.name(read.device) if isinstance(read.outcome, DriveAsleep) else None
    )
    return stored or read.identity


def counted(
    candidates: Sequence[Read], found: DeviceList, label: str, seen_as: Known
) -> Inventory:
    """Return the results of reading that count, under the final drive names.

    candidates: the devices that the options select, in the order of *found*. found: the devices
    of this run. label: the identifier used in drive names, see --label. seen_as: see distinct().
    """
    drives = distinct(candidates, seen_as)
    twins = [
        Coded('same-drive', f'{drive.read.device.name}: {note(drive)}')
        for drive in drives
        if drive.others
    ]
    asked = found.devices
    occupied, empty = without_empty([drive.read for drive in drives], found.is_scan)
    # slots of a range that were not read in time: it is unknown whether they have drives
    unseen = [
        read
        for read in occupied
        if read.device.optional and isinstance(read.outcome, DriveNotReached)
    ]
    answered = [read for read in occupied if read not in unseen]
    slots = sum(device.optional for device in asked)
    fault = Coded(
        'slots-not-reached',
        f'{len(unseen)} of {slots} slots were not read before the time limit; name '
        f'fewer slots, or increase -t',
    )
    return Inventory(
        reads=tuple(labelled(answered, label)),
        candidates=tuple(candidates),
        is_bare=len(candidates) == len(asked)
        and not any(map(_may_be_drive, candidates)),
        aliases=aliases(drives),
        notes=(*twins, *empty, *reached_otherwise(answered, asked)),
        faults=(fault,) if unseen else (),
    )


def reached_otherwise(reads: Sequence[Read], asked: Sequence[Device]) -> list[Coded]:
    """Return a note for each drive that answered as a device type other than the requested type."""
    requested = {device.name: device for device in asked}
    return [
        Coded(
            'type-differs',
            f'{read.device.name} does not answer as {requested[read.device.name].address}, only as '
            f'{read.device.address}; use that address',
        )
        for read in reads
        if read.device.name in requested
        and read.device.type != requested[read.device.name].type
    ]


def without_empty(
    reads: Sequence[Read], is_scan: bool
) -> tuple[list[Read], list[Coded]]:
    """Leave out empty slots of a range, and scanned devices that are not drives; return the
    remaining devices. The second value has a note for each device that was left out.
    """

    def is_nothing(read: Read) -> bool:
        if isinstance(read.outcome, DriveAbsent):
            return read.device.optional
        return is_scan and isinstance(read.outcome, DriveIsNoDrive)

    nothing = list(filter(is_nothing, reads))
    nothing += [] if is_scan else _volumes_of_watched_drives(reads)
    notes = [
        Coded('nothing-there', f'{read.device.name} {read.outcome}; left out')
        for read in nothing
    ]
    return [read for read in reads if read not in nothing], notes


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


def missing(reads: Sequence[Read], expected: int | None) -> tuple[Coded, ...]:
    """Return a message if the run found fewer drives than expected; else nothing.

    Drives in standby and unreadable drives count as present; RAID volumes do not count as drives.
    If a controller is not at the given address, nothing is returned, because the number of drives
    is unknown.
    """
    there = sum(map(_may_be_drive, reads))
    if (
        expected is None
        or there >= expected
        or any(isinstance(read.outcome, ControllerElsewhere) for read in reads)
    ):
        return ()
    return (
        Coded(
            'too-few-drives',
            f'{expected - there} of {expected} expected drives missing, {there} found; '
            'look for the missing drives, or correct --expect',
        ),
    )


def nobody(stage: Reads, drives: Inventory, settings: RunSettings) -> tuple[State, str]:
    """Return the state and the message of a run that found no drive.

    The state given by --no-drives applies only if a complete scan found no drive, so a mistyped
    pattern or a range of empty slots stays UNKNOWN.
    """
    wish, expected = settings.which.no_drives, settings.which.expect
    if (
        stage.found.is_scan
        and stage.found.is_whole
        and drives.is_bare
        and wish is not None
    ):
        return (
            wish,
            f'no drives: smartctl --scan found none (--no-drives {wish.name.lower()})',
        )
    if expected == 0:
        return State.OK, 'no drives, as expected (--expect 0)'
    return State.UNKNOWN, Coded(
        'no-drives',
        'no drives to check: none found, all excluded, or all slots empty; name drives with -d, '
        'or use --no-drives ok on machines without drives',
    )


def _may_be_drive(read: Read) -> bool:
    return not isinstance(read.outcome, (DriveAbsent, DriveMissing, DriveIsNoDrive))


def labelled(reads: Sequence[Read], label: str) -> list[Read]:
    """Give each drive a unique name, made from the identifier that --label selects; return the
    renamed drives.
    """
    if label == 'device':
        return list(reads)
    devices = addresses.labelled(
        list(zip((read.device for read in reads), _labels(reads, label)))
    )
    return [read._replace(device=device) for read, device in zip(reads, devices)]


def _labels(reads: Sequence[Read], label: str) -> list[str]:
    """Return the identifier that --label selects for each drive; '' if a drive does not report
    it.
    """
    if label == 'by-id':
        links = addresses.links()
        return [addresses.name_of(read.device, links) for read in reads]
    identities = [read.identity or Identity() for read in reads]
    return [
        identity.serial if label == 'serial' else identity.wwn
        for identity in identities
    ]


# --- additions to the verdict on a drive ------------------------------------------------------


def described(
    verdict: Verdict, read: Read, drives: Inventory, history: Remembered, judge: Judge
) -> Verdict:
    """Return a verdict with additions from the history.

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
