"""Access of one run to the history: opened while drives answer, read before judging, written after
the output.

The history can add alerts, or lower alerts on old events. If it cannot be used, the run continues
and reports this.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

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
from ..wording import duration
from .settings import HistorySettings

if TYPE_CHECKING:
    from ..history.drive_file import DriveHistory
    from ..history.drive_records import Match, Record, Scope
    from ..history.past import Past
    from ..history.series import Observation
    from ..history.store import HistoryStore
    from .drive_tracking import Whereabouts
    from .reads import Reads
    from .rulebook import Judge


# values of Command.history: daemons and timers write, people read
WRITES = 'writes'
READS = 'reads'
_USUAL = HistorySettings()


class Remembered:
    """The history that one run uses; without a store, no drive has earlier readings."""

    def __init__(
        self, store: HistoryStore | None = None, settings: HistorySettings = _USUAL
    ) -> None:
        """Create the access object of a run."""
        self.trouble = ''  # why an enabled history cannot be used
        # there is a history, and this run, which should write it, cannot use it
        self.is_lost = False
        # for interactive commands: read the complete history, and write nothing
        self.is_for_a_person = settings.use.access == READS
        self._store = store
        self._settings = settings
        self._now = store.now if store else 0  # seconds since 1970
        # The following are filled by recall().
        # address -> what the history has of the drive that answered there
        self._matches: dict[str, Match] = {}
        # address -> record of a drive of this run, also of one that is not judged, see _recognized();
        # None: the drive is new, or it is not certain which drive it is
        self._records: dict[str, Record | None] = {}
        # the occupied addresses of this run, each with its slot or ''
        self._slots: dict[str, str] = {}
        self._scope: Scope | None = None
        # address -> other addresses of the same drive
        self._aliases: Mapping[str, tuple[Alias, ...]] = {}

    def read_store(self) -> HistoryStore | None:
        """Return the history, for which the first call waits; None if it is not used, does not
        exist, or cannot be used.

        If it cannot be used, the first call also sets `trouble` to the reason. It then sets
        `is_lost` if the history is there and this run should write it; a run for a person only
        reads.
        """
        store = self._store
        if store is None:
            return None
        try:
            store.read()
        except HistoryAbsent:
            self._store = None
        except HistoryUnusable as error:
            self.trouble = str(error)
            self.is_lost = not self.is_for_a_person and store.is_there
            self._store = None
        return self._store

    def receive(self) -> None:
        """Receive what the history's process has read so far, so that it need not wait for this
        one. The drives are being read in the meantime.
        """
        if self._store is not None:
            self._store.is_ready(0.5)  # seconds

    def seen_as(self, first: str, second: str) -> str:
        """Return what the history says about two addresses, as HistoryStore.seen_as does."""
        store = self.read_store()
        return store.seen_as(first, second) if store else SEPARATE

    def recall(
        self,
        stage: Reads,
        reads: Sequence[Read],
        candidates: Sequence[Read],
        aliases: Mapping[str, tuple[Alias, ...]],
    ) -> Whereabouts | None:
        """Look up the drives of this run in the history, and keep the results for the other methods;
        return where all drives are, compared with the last check.

        Return None in these cases:

        - The history is not used or does not exist. Nothing is kept.
        - It cannot be used. `trouble` has the reason, and nothing is kept.
        - It was not read completely in time. The results are kept all the same.

        reads: one for each drive, also for those that no name on the command line selects.
        candidates: these, and those of duplicates and empty slots. aliases: address -> other
        addresses of the same drive.
        """
        store = self.read_store()
        if store is None:
            return None
        from ..history.drive_records import Match

        # all devices of the run, each with the address at which it answered
        reached = {read.device.name: read.device for read in stage.reads}
        asked = [reached.get(device.name, device) for device in stage.found.devices]
        self._slots = _slots(asked, candidates)
        self._aliases = aliases
        self._scope = _scope(stage, asked, store)
        identities = {
            read.device.address: read.report.identity
            for read in reads
            if read.report is not None
        }
        matches = store.recall(list(identities.values()))
        self._matches = dict(zip(identities, matches))
        identified_drives = [
            (address, identities[address], match)
            for address, match in self._matches.items()
        ]
        # These drives are not judged, but they are not missing either.
        for address, record in _recognized(store, stage, candidates).items():
            identified_drives.append((address, record.identity, Match(record)))
        self._records = {
            address: match.record for address, _, match in identified_drives
        }
        if not store.is_complete:
            return None  # an unread file could be that of any drive
        from . import drive_tracking

        return drive_tracking.found(
            store.places,
            store.records,
            identified_drives,
            self._slots,
            self._scope,
            store.now,
            self._settings.hide_serial,
        )

    @property
    def losses(self) -> tuple[Coded, ...]:
        """A message for each part of the history that this run lacks: files that were damaged
        within the last seven days, all that was not read in time, and what earlier checks could
        not write.
        """
        store = self.read_store()
        if store is None:
            return ()
        failures = {
            'history-slow': store.slowness,
            'history-not-written': store.not_written,
        }
        damages = (*store.damage, *store.old_damage)
        return (
            *(Coded(code, f'history: {why}') for code, why in failures.items() if why),
            *(Coded('history-damaged', words) for words in damages),
        )

    @property
    def remarks(self) -> tuple[Coded, ...]:
        """The message that an enabled history cannot be used, or that its dates are doubtful; ()
        otherwise.
        """
        store = self.read_store()
        if store is not None and store.doubt:
            return (Coded('clock-behind', f'history: {store.doubt}'),)
        if not self.trouble:
            return ()
        return (
            Coded(
                'history-unusable',
                f'no history: {self.trouble}; increases are not detected',
            ),
        )

    def recalled(self, device: Device) -> Match | None:
        """Return what recall() found about a drive; None without history, and for a drive that did
        not answer this run.
        """
        return self._matches.get(device.address)

    def past(self, device: Device) -> Past | None:
        """Return the earlier readings of a drive, or None without history."""
        match = self.recalled(device)
        store = self.read_store()
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

    def keeps(self, device: Device) -> bool:
        """Return whether this run stores the readings of a drive, so that a later run knows when
        the drive was read. False without history.
        """
        match = self.recalled(device)
        store = self.read_store()
        if match is None or store is None or self.is_for_a_person:
            return False
        # a note says why the history cannot store this drive
        return not (match.note or store.not_written)

    def identity_at(self, device: Device) -> Identity | None:
        """Return the identity of the drive last read at an address; None if unknown.

        A history that another user can write is not used, because that user could exclude drives
        from a check by root.
        """
        store = self.read_store()
        record = store.at(device.address) if store and store.is_own else None
        return record.identity if record else None

    def states_elsewhere(self) -> list[tuple[str, State]]:
        """Return the address and the last state of each drive that another run has read within the
        last day.

        If another user can write the history (is_own is False), return only drives that are not OK.
        """
        store = self.read_store()
        if store is None:
            return []
        states = []
        for place in store.recent_places(DAY):
            state = store.drives[place.drive].verdict.state
            is_trusted = store.is_own or state is not State.OK
            is_of_this_run = place.address in self._slots
            if is_trusted and not is_of_this_run:
                states.append((place.address, state))
        return states

    def drive_of(
        self, device: Device, identity: Identity | None = None
    ) -> DriveHistory | None:
        """Return the history of a drive, judged or not; None if it is not certain which drive this
        is, or without history. identity: None if unknown.

        The record with this identity counts, and without one, the record of the drive at the
        address.
        """
        store = self.read_store()
        if store is None:
            return None
        record = store.named(identity) if identity is not None else None
        if record is None:
            record = self._record_at(store, device.address)
        return store.drives[record.number] if record else None

    def _record_at(self, store: HistoryStore, address: str) -> Record | None:
        """Return the record of the drive that this run found at an address, None if that drive is
        new. If it found none there, return the record of the drive last read there, unless this run
        found that drive at another address.
        """
        if address in self._records:
            return self._records[address]
        last_there = store.at(address)
        return None if last_there in self._records.values() else last_there

    def asleep(self, verdict: Verdict) -> Verdict:
        """Return the verdict on a drive in standby, with the identity that is stored in the
        history.
        """
        drive = self.drive_of(verdict.device)
        if drive is None:
            return verdict
        from . import drive_tracking

        longest = self._settings.use.asleep_max_age
        return drive_tracking.asleep(verdict, drive.record, self._now, longest)

    def with_last(self, verdict: Verdict, read: Read, judge: Judge) -> Verdict:
        """Return the verdict on a drive that was not judged now, with what was found when it was
        last read; *verdict* if this is unknown.
        """
        drive = self.drive_of(read.device, read.identity)
        if drive is None:
            return verdict
        from . import last_verdict

        last = last_verdict.standing(drive, read.device, judge, self._now)
        if last.findings:
            return last_verdict.with_floor(verdict, last, self._now)
        if verdict.code != DriveAsleep.code:
            return verdict
        silence = duration(self._now - drive.record.last_read)
        return verdict._replace(details=(*verdict.details, f'last read {silence} ago'))

    def with_status(self, verdict: Verdict, read: Read, judge: Judge) -> Verdict:
        """Return the verdict on a drive that was read, with the last health status that the drive
        itself reported, if it reported none now.
        """
        drive = self.drive_of(read.device, read.identity)
        if drive is None:
            return verdict
        from . import last_verdict

        last = last_verdict.standing(drive, read.device, judge, self._now)
        return last_verdict.with_status(verdict, last)

    def notes(self, verdict: Verdict) -> tuple[Coded, ...]:
        """Return a note if the history cannot store a drive, or if its dates are untrusted; else
        nothing.
        """
        match = self.recalled(verdict.device)
        store = self.read_store()
        if match is None or store is None:
            return ()
        if match.note:
            return (
                Coded('drive-not-remembered', f'{verdict.device.name} {match.note}'),
            )
        # alerts that would end if the age of their last event in the history were trusted
        dated_metrics = [
            judgement.reading.metric
            for judgement in verdict.alerts
            if judgement.reading.quiet is not None
        ]
        if store.is_own or not dated_metrics:
            return ()
        words = (
            'the history belongs to another user, who could have changed its dates; '
            f'alerts on {" and ".join(dated_metrics)} expire only if the error log of the drive '
            'confirms the dates'
        )
        return (Coded('history-not-trusted', words),)

    def keep(self, verdicts: Sequence[Verdict]) -> None:
        """Write the readings of this run, after its output is printed.

        The next check reports any failure.
        """
        store = self.read_store()
        if store is None or self._scope is None:
            return
        from ..history.store import Sighting
        from . import last_verdict

        sightings = {}
        for address, slot in self._slots.items():
            # A drive that is recognized, but not judged, stays at its address without new readings.
            # A judged drive gets another sighting below. If that fails, the drive there counts as
            # unknown.
            is_judged = address in self._matches
            recognized = None if is_judged else self._records.get(address)
            sightings[address] = Sighting(address, slot=slot, recognized=recognized)
        for verdict in verdicts:
            if verdict.problem:
                continue
            address = verdict.device.address
            try:
                sightings[address] = Sighting(
                    address,
                    verdict.identity,
                    self._observed(verdict),
                    self._slots.get(address, ''),
                    last_verdict.of(verdict, store.now),
                    aliases=self._aliases.get(address, ()),
                )
            except Exception:  # noqa: S112
                # an error with one drive must not prevent storing other drives
                continue
        try:
            store.keep(list(sightings.values()), self._scope)
        except HistoryUnusable:
            return

    def _observed(self, verdict: Verdict) -> tuple[Observation, ...]:
        """Return the numbers of a drive to store: those of this check, and the former number of
        each counter that is lower now.
        """
        from ..history import past

        earlier = self.past(verdict.device) or past.Past()
        readings = [judgement.reading for judgement in verdict.judgements]
        return (
            *past.observations(readings, earlier),
            *past.former_numbers(earlier, readings, verdict.identity.firmware),
        )


def _slots(asked: Sequence[Device], candidates: Sequence[Read]) -> dict[str, str]:
    """Return the slot, or '', of each address that is not known to be empty. asked: all devices of
    a run. candidates: as in Inventory.
    """
    from ..reading import addresses

    empty = {
        read.device.address
        for read in candidates
        if isinstance(read.outcome, (DriveAbsent, DriveIsNoDrive))
    }
    sockets = addresses.links(addresses.SLOTS)
    return {
        device.address: addresses.name_of(device, sockets)
        for device in asked
        if device.address not in empty
    }


def _scope(stage: Reads, asked: Sequence[Device], store: HistoryStore) -> Scope:
    """Return which addresses this run covers: a known drive that is not found at its covered address
    is missing.

    A scan covers all addresses that any scan has found. With -r, it covers those that -r selects,
    also the former ones of drives that are not there now.
    """
    from ..history.drive_records import Scope

    selects = stage.found.selects  # the test by -r of a path; None without -r
    if stage.found.is_scan and not selects:
        return Scope(is_scan=True)
    covered = [device.address for device in asked]
    if selects:
        for place in store.places:
            _, _, path = place.address.rpartition('@')
            if selects(path):
                covered.append(place.address)
    return Scope(covered)


def _recognized(
    store: HistoryStore, stage: Reads, candidates: Sequence[Read]
) -> dict[str, Record]:
    """Return the record of each known drive that is not judged, by address. Otherwise it would be
    missed at its former address. Such a drive is in standby, must not be read, or is excluded by
    the options.

    stage: all devices of this run. candidates: those of them that the options select.
    """
    recognized = {}
    # in standby, or not to be read: the kernel has kept the serial number
    for read in candidates:
        if isinstance(read.outcome, (DriveAsleep, ReadingHarms)):
            record = _with_serial_of(store, read.device)
            if record:
                recognized[read.device.address] = record
    # excluded by the options
    selected = {read.device.address for read in candidates}
    for read in stage.reads:
        if isinstance(read.outcome, Report) and read.device.address not in selected:
            (match,) = store.recall([read.outcome.identity])
            if match.record:
                recognized[read.device.address] = match.record
    return recognized


def _with_serial_of(store: HistoryStore, device: Device) -> Record | None:
    """Return the record with the serial number that the kernel has kept of a drive; None unless
    there is exactly one.
    """
    from ..reading.system import serial_of

    serial = serial_of(device)
    alike = [record for record in store.records if record.identity.serial == serial]
    return alike[0] if serial and len(alike) == 1 else None


def remembered(settings: HistorySettings) -> Remembered:
    """Return the history of a run. It is empty if the options turn the history off, for recorded
    reports, and for a command that uses no history: its access is ''.
    """
    use = settings.use
    if use.no_history or settings.is_recorded or not use.access:
        return Remembered()
    return Remembered(_opened(settings, use.access == WRITES), settings)


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
        is_writing,
        patience,
    )
