"""Access of one run to the history: opened while drives answer, read before judging, written after
the output.

The history can add alerts, or lower alerts on old events. If it cannot be used, the run continues
and reports this.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from .. import files
from ..constants import DAY, LARGEST_SMALL_FILE
from ..errors import (
    Coded,
    DriveAbsent,
    DriveAsleep,
    DriveIsNoDrive,
    HistoryAbsent,
    HistoryUnusable,
    ReadingHarms,
)
from ..model import SEPARATE, Alias, Device, Identity, Read, Report, State, Verdict
from ..typed import TYPE_CHECKING
from ..wording import HEALTH, duration
from .settings import HistorySettings

if TYPE_CHECKING:
    from ..history.drive_file import DriveHistory
    from ..history.drive_records import Match, Record
    from ..history.past import Past
    from ..history.series import Observation
    from ..history.store import HistoryStore
    from ..model import LastVerdict
    from .drive_tracking import Whereabouts
    from .rulebook import Judge


_RECEIVING = 0.5  # seconds to wait for the history while the drives are being read
# values of Command.history: daemons and timers write, people read
WRITES, READS = 'writes', 'reads'
_DOUBTED = (
    'the history belongs to another user, who could have changed it; the age of {} in the history '
    'suppresses an alert only if the error log of the drive confirms this age'
)


class Remembered:
    """The history that one run uses; without a store, no drive has earlier readings."""

    def __init__(
        self,
        history: HistoryStore | None = None,
        trouble: str = '',
        is_whole: bool = False,
        longest_asleep: int = 0,
        hide_serial: bool = False,
    ) -> None:
        """Create the access object of a run.

        trouble: a message that states why an enabled history cannot be used; else ''.
        is_whole: read the complete history, for interactive commands.
        longest_asleep: for how many seconds a drive in standby may stay unread. hide_serial:
        messages about drives do not contain serial numbers.
        """
        self._trouble = trouble
        # there is a history, and this run, which should write it, cannot use it
        self.is_lost = False
        self.is_whole = is_whole
        self._store, self._longest_asleep = history, longest_asleep
        self._hide_serial = hide_serial
        self._found: dict[tuple[str, str], Match] = {}
        self._slots: dict[str, str] = {}  # the occupied addresses, each with its slot or ''
        # drives that are not judged, by address: in standby, or excluded by the options
        self._recognized: dict[str, int] = {}
        self._scope: tuple[Sequence[str], bool] = (), False
        self._aliases: Mapping[str, tuple[Alias, ...]] = {}  # other addresses of each drive

    @property
    def store(self) -> HistoryStore | None:
        """The history, after it is read; None if it is not used or cannot be used."""
        if self._store is not None:
            try:
                self._store.read()
            except HistoryAbsent:
                self._store = None
            except HistoryUnusable as error:
                self.is_lost = not self.is_whole and self._store.is_there
                self._store, self._trouble = None, str(error)
        return self._store

    @property
    def trouble(self) -> str:
        """Why an enabled history cannot be used; else ''."""
        return '' if self.store else self._trouble

    def receive(self) -> None:
        """Receive what the history's process has read so far, so that it need not wait for this
        one. The drives are being read in the meantime.
        """
        if self._store is not None:
            self._store.is_ready(_RECEIVING)

    def seen_as(self, first: str, second: str) -> str:
        """Return what the history says about two addresses, as HistoryStore.seen_as does."""
        store = self.store
        return store.seen_as(first, second) if store else SEPARATE

    def recall(
        self,
        reads: Sequence[Read],
        looked_at: Sequence[Read],
        asked: Sequence[Device],
        is_scan: bool,
        selects: Callable[[str], object] | None = None,
        answered: Sequence[Read] = (),
        aliases: Mapping[str, tuple[Alias, ...]] = {},
    ) -> Whereabouts | None:
        """Look up the judged drives in the history; return where all drives are, compared with the
        last check.

        Return None if the history is not used or cannot be read; in the latter case, the reason is
        in `trouble`.
        looked_at: the results of reading these drives, duplicates and empty slots. asked: all
        devices that this run covers, including devices that the options exclude. is_scan, selects:
        as in DeviceList. answered: the results of reading all drives, including excluded ones.
        aliases: the other addresses of each drive, by its address.
        """
        store = self.store
        if store is None:
            return None
        from ..reading import addresses

        empty = {
            read.device.address
            for read in looked_at
            if isinstance(read.outcome, (DriveAbsent, DriveIsNoDrive))
        }
        there = [device for device in asked if device.address not in empty]
        sockets = addresses.links(addresses.SLOTS)
        self._slots = {device.address: addresses.name_of(device, sockets) for device in there}
        # A scan covers all that any scan has found; -r covers what it selects, whether it is there
        # or not.
        named = [device.address for device in asked]
        if selects:
            named += [
                place.address for place in store.places if selects(place.address.rpartition('@')[2])
            ]
        self._aliases = aliases
        self._scope = ((), True) if is_scan and not selects else (named, False)
        identified = [
            (read, read.outcome.identity) for read in reads if isinstance(read.outcome, Report)
        ]
        matches = store.recall([identity for _, identity in identified])
        self._found = {
            _address(read.device): match for (read, _), match in zip(identified, matches)
        }
        self._recognized = {
            **self._known_to_kernel(looked_at),
            **self._excluded(answered, looked_at),
        }
        if not store.is_complete:
            return None  # an unread file could be that of any drive
        from ..history.drive_records import Match, Scope
        from . import drive_tracking

        met = [
            (read.device.address, identity, match)
            for (read, identity), match in zip(identified, matches)
        ]
        met += [
            (address, store.drives[number].record.identity, Match(store.drives[number].record))
            for address, number in self._recognized.items()
        ]
        return drive_tracking.found(
            store.places,
            store.records,
            met,
            self._slots,
            Scope(*self._scope),
            store.now,
            self._hide_serial,
        )

    def _known_to_kernel(self, looked_at: Sequence[Read]) -> dict[str, int]:
        """Return the number of each drive in standby, or that must not be read, whose serial number
        the kernel has kept, by address. Names of disks can change in the meantime.
        """
        kinds = DriveAsleep, ReadingHarms
        sleeping = [read.device for read in looked_at if isinstance(read.outcome, kinds)]
        store = self.store
        if store is None or not sleeping:
            return {}
        from ..reading.system import serial_of

        numbers: dict[str, list[int]] = {}
        for record in store.records:
            numbers.setdefault(record.identity.serial, []).append(record.number)
        recognized = {}
        for device in sleeping:
            serial = serial_of(device)
            if serial and len(numbers.get(serial, ())) == 1:
                recognized[device.address] = numbers[serial][0]
        return recognized

    def _excluded(self, answered: Sequence[Read], looked_at: Sequence[Read]) -> dict[str, int]:
        """Return the number of each known drive that has answered but is excluded by the options, by
        address. Otherwise it would be missed at its former address.
        """
        counted = {read.device.address for read in looked_at}
        numbers = {}
        for read in answered:
            store, outcome, address = self.store, read.outcome, read.device.address
            if store is None or address in counted or not isinstance(outcome, Report):
                continue
            (match,) = store.recall([outcome.identity])
            if match.record:
                numbers[address] = match.record.number
        return numbers

    @property
    def losses(self) -> tuple[Coded, ...]:
        """A message for each part of the history that this run lacks: files that were damaged
        within the last seven days, all that was not read in time, and what earlier checks could
        not write.
        """
        store = self.store
        if store is None:
            return ()
        damaged = [Coded('history-damaged', words) for words in (*store.damage, *store.old_damage)]
        slow = [Coded('history-slow', f'history: {store.slowness}')] if store.slowness else []
        unwritten = store.not_written
        not_written = [Coded('history-not-written', f'history: {unwritten}')] if unwritten else []
        return (*slow, *not_written, *damaged)

    @property
    def remarks(self) -> tuple[Coded, ...]:
        """Messages about the history itself, and not about any drive."""
        store = self.store
        if store is None:
            words = f'no history: {self.trouble}; increases are not detected'
            return (Coded('history-unusable', words),) if self.trouble else ()
        return (Coded('clock-behind', f'history: {store.doubt}'),) if store.doubt else ()

    def recalled(self, device: Device) -> Match | None:
        """Return what recall() found about a drive; None without history, and for a drive that
        is not in this run.
        """
        return self._found.get(_address(device))

    def past(self, device: Device) -> Past | None:
        """Return the earlier readings of a drive, or None without history."""
        match, store = self.recalled(device), self._store
        if match is None or store is None:
            return None
        from ..history.past import Past

        past = Past(now=store.now, is_own=store.is_own)
        if match.record is None:
            return past
        return past._replace(
            histories=store.drives[match.record.number].histories,
            firmware=match.record.identity.firmware,
        )

    @property
    def is_written(self) -> bool:
        """Whether this run stores the readings."""
        return self.store is not None and not self.is_whole and not self.store.not_written

    def keeps(self, device: Device) -> bool:
        """Return whether this run stores the readings of a drive, so that a later run knows when
        the drive was read.
        """
        match = self.recalled(device)
        return self.is_written and match is not None and not match.note

    def name(self, device: Device) -> Identity | None:
        """Return the identity of the drive last read at an address; None if unknown.

        A history that another user can write is not used, because that user could exclude drives
        from a check by root.
        """
        store = self.store
        record = store.at(device.address) if store and store.is_own else None
        return record.identity if record else None

    def others(self) -> list[tuple[str, State]]:
        """Return the address and the last state of each drive that another run has read within the
        last day.

        If another user can write the history, return only drives that are not OK.
        """
        store = self.store
        if store is None:
            return []
        recent = {record.number for record in store.records if store.now - record.last_read < DAY}
        others = []
        for place in store.places:
            if place.drive not in recent or place.gone or place.address in self._slots:
                continue
            last = store.drives[place.drive].verdict
            if last and (store.is_own or last.state is not State.OK):
                others.append((place.address, last.state))
        return others

    def asleep(self, verdict: Verdict) -> Verdict:
        """Return the verdict on a drive in standby, with the identity that is stored in the
        history.
        """
        store = self.store
        if store is None:
            return verdict
        from . import drive_tracking

        record = self._record_of(store, verdict.device, None)
        return drive_tracking.asleep(verdict, record, store.now, self._longest_asleep)

    def with_last(self, verdict: Verdict, read: Read, judge: Judge | None) -> Verdict:
        """Return the verdict on a drive that was not judged now, with what was found when it was
        last read. judge: None: only with the time.
        """
        store = self.store
        drive = self.drive_of(read.device, read.identity)
        if store is None or drive is None:
            return verdict
        last = self._standing(drive, verdict.device, judge)
        if last and last.findings:
            from . import last_verdict

            return last_verdict.with_floor(verdict, last, store.now)
        if verdict.code != DriveAsleep.code:
            return verdict
        silence = duration(max(store.now - drive.record.last_read, 0))
        return verdict._replace(details=(*verdict.details, f'last read {silence} ago'))

    def with_status(self, verdict: Verdict, read: Read, judge: Judge | None) -> Verdict:
        """Return the verdict on a drive that was read, with the last health status that the drive
        itself reported, if it reported none now.
        """
        drive = self.drive_of(read.device, read.identity)
        findings = drive.verdict.findings if drive and drive.verdict else ()
        if drive is None or all(finding.metric != HEALTH for finding in findings):
            return verdict
        last = self._standing(drive, verdict.device, judge)
        if last is None:
            return verdict
        from . import last_verdict

        return last_verdict.with_status(verdict, last)

    def _standing(
        self, drive: DriveHistory, device: Device, judge: Judge | None
    ) -> LastVerdict | None:
        """Return what still counts of the last verdict on a drive; None without one. judge: None:
        nothing is compared with the last verdict.
        """
        store = self.store
        if store is None or judge is None or drive.verdict is None:
            return None
        from . import last_verdict

        return last_verdict.standing(drive.verdict, device, drive.record.identity, judge, store.now)

    def drive_of(self, device: Device, identity: Identity | None) -> DriveHistory | None:
        """Return the history of a drive, judged or not; None if it is not certain which drive this
        is.
        """
        store = self.store
        if store is None:
            return None
        record = self._record_of(store, device, identity)
        return store.drives[record.number] if record else None

    def _record_of(
        self, store: HistoryStore, device: Device, identity: Identity | None
    ) -> Record | None:
        if identity is not None:
            record = store.named(identity)
            if record:
                return record
        match = self.recalled(device)
        if match:
            return match.record
        number = self._recognized.get(device.address)
        if number is not None:
            return store.drives[number].record
        record = store.at(device.address)
        elsewhere = {match.record.number for match in self._found.values() if match.record}
        elsewhere.update(self._recognized.values())
        return None if record and record.number in elsewhere else record

    def notes(self, verdict: Verdict) -> tuple[Coded, ...]:
        """Return a note if the history cannot store a drive, or if its dates are untrusted; else
        nothing.
        """
        match, store = self.recalled(verdict.device), self.store
        if match is None or store is None:
            return ()
        if match.note:
            return (Coded('drive-not-remembered', f'{verdict.device.name} {match.note}'),)
        dated = [
            j.reading.metric
            for j in verdict.judgements
            if j.state is not State.OK and j.reading.quiet is not None
        ]
        words = _DOUBTED.format(' and '.join(dated))
        return () if store.is_own or not dated else (Coded('history-not-trusted', words),)

    def keep(self, verdicts: Sequence[Verdict]) -> None:
        """Write the readings of this run, after its output is printed.

        The next check reports any failure.
        """
        store = self.store
        if store is None:
            return
        from ..history.drive_records import Scope
        from ..history.store import Sighting
        from . import last_verdict

        sightings = {
            address: Sighting(address, slot=slot, recognized=self._recognized.get(address))
            for address, slot in self._slots.items()
        }
        for verdict in verdicts:
            if verdict.problem:
                continue
            # an error with one drive must not prevent storing other drives
            with suppress(Exception):
                address = verdict.device.address
                sightings[address] = Sighting(
                    address,
                    verdict.identity,
                    self._observed(verdict),
                    self._slots.get(address, ''),
                    last_verdict.of(verdict, store.now),
                    aliases=self._aliases.get(address, ()),
                )
        with suppress(HistoryUnusable):
            store.keep(list(sightings.values()), Scope(*self._scope))

    def _observed(self, verdict: Verdict) -> tuple[Observation, ...]:
        from ..history import past

        earlier = self.past(verdict.device) or past.Past()
        readings = [judgement.reading for judgement in verdict.judgements]
        return (
            *past.observations(readings, earlier),
            *past.former_numbers(earlier, readings, verdict.identity.firmware),
        )


def remembered(settings: HistorySettings) -> Remembered:
    """Return the history of a run, which is empty for recorded reports and without a state
    directory.
    """
    use = settings.use
    if use.no_history or settings.is_recorded or not use.access:
        return Remembered()
    store = _opened(settings, use.access == WRITES)
    return Remembered(
        store,
        is_whole=use.access == READS,
        longest_asleep=use.asleep_max_age,
        hide_serial=settings.hide_serial,
    )


def for_writing(settings: HistorySettings) -> HistoryStore:
    """Return the history store for a command that changes it.

    Raises HistoryUnusable if it cannot be opened.
    """
    store = _opened(settings, is_writing=True)
    try:
        store.read()
    except HistoryUnusable as error:
        words = str(error) if store.has_directory else f'no history: {error}'
        raise HistoryUnusable(words) from None
    return store


def _opened(settings: HistorySettings, is_writing: bool) -> HistoryStore:
    """Return the history store, which a child process is reading."""
    from ..history.store import MACHINE_ID, PATIENCE, HistoryStore
    from ..reading.identity import is_same_drive

    machine = files.text(MACHINE_ID, LARGEST_SMALL_FILE).strip()
    patience = min(PATIENCE, settings.timeout / 3)
    return HistoryStore(
        settings.state_dir,
        int(time.time()),
        is_same_drive,
        machine,
        writes=is_writing,
        patience=patience,
    )


def _address(device: Device) -> tuple[str, str]:
    return device.path, device.type
