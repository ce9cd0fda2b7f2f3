"""Access of one run to the history: opened while drives answer, read before judging, written after
the output.

The history can add alerts, or lower alerts on old events. If it cannot be used, the run continues
and reports this.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from .. import files, state_directory
from ..command_line.options import Options
from ..constants import DAY, LARGEST_SMALL_FILE
from ..errors import Coded, DriveAbsent, DriveIsNoDrive, HistoryUnusable
from ..model import Device, Identity, Read, Report, State, Verdict
from ..typed import TYPE_CHECKING
from ..wording import statement
from ..words import clean

if TYPE_CHECKING:
    from ..history.drive_file import LastVerdict
    from ..history.drive_records import Match
    from ..history.past import Past
    from ..history.series import Observation
    from ..history.store import HistoryStore
    from .drive_tracking import Whereabouts


_EXPECTING = 0.5  # seconds to wait for the history while the drives are still being read
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
    ) -> None:
        """Create the access object of a run.

        trouble: a message that states why an enabled history cannot be used; else ''.
        is_whole: read the complete history, for interactive commands.
        longest_asleep: for how many seconds a drive in standby may stay unread.
        """
        self.trouble = trouble
        # there is a history, and this run, which should write it, cannot use it
        self.is_lost = False
        self.is_whole = is_whole
        self._store, self._longest_asleep = history, longest_asleep
        self._found: dict[tuple[str, str], Match] = {}
        self._slots: dict[str, str] = {}  # the occupied addresses, each with its slot or ''
        self._scope: tuple[Sequence[str], bool] = (), False

    @property
    def store(self) -> HistoryStore | None:
        """The history, after it is read; None if it is not used or cannot be used."""
        if self._store is not None:
            try:
                self._store.read()
            except HistoryUnusable as error:
                self.is_lost = not self.is_whole and os.path.lexists(self._store.path)
                self._store, self.trouble = None, str(error)
        return self._store

    def expect(self, devices: Sequence[Device]) -> list[Identity]:
        """Find in advance the drives last seen at these addresses; return their identities.

        Return none if the disk with the history has not answered yet.
        """
        if self._store is None:
            return []
        from ..history import past  # noqa: F401  needed only when the drives have answered

        if not self._store.is_ready(_EXPECTING):
            return []
        store = self.store
        there = store.last_at([device.address for device in devices]) if store else []
        return [record.identity for record in there]

    def likely_past(self, identity: Identity) -> Past | None:
        """Return the probable result of past() for a drive; None without a history.

        The final result can differ after recall() has compared all drives of the run. Raises
        LookupError for a drive that the history does not know, or not yet.
        """
        return self._past(self._store.likely(identity)) if self._store else None

    def recall(
        self,
        reads: Sequence[Read],
        looked_at: Sequence[Read],
        asked: Sequence[Device],
        is_scan: bool,
        selects: Callable[[str], object] | None = None,
    ) -> Whereabouts | None:
        """Look up the judged drives in the history; return where all drives are, compared with the
        last check.

        Return None if the history is not used or cannot be read; in the latter case, the reason is
        in `trouble`.
        looked_at: the results of reading these drives, duplicates and empty slots. asked: all
        devices that this run covers, including devices that the options exclude. is_scan, selects:
        as in DeviceList.
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
        self._scope = ((), True) if is_scan and not selects else (named, False)
        known = [
            (read, read.outcome.identity) for read in reads if isinstance(read.outcome, Report)
        ]
        found = store.recall([identity for _, identity in known])
        self._found = {_address(read.device): match for (read, _), match in zip(known, found)}
        if not store.is_complete:
            return None  # an unread file could be that of any drive
        from ..history.drive_records import Scope
        from . import drive_tracking

        met = [
            (read.device.address, identity, match) for (read, identity), match in zip(known, found)
        ]
        return drive_tracking.found(
            store.places, store.records, met, self._slots, Scope(*self._scope), store.now
        )

    @property
    def damage(self) -> tuple[Coded, ...]:
        """A message for each file of the history that was damaged within the last seven days."""
        store = self.store
        messages = [*store.damage, *store.old_damage] if store else []
        return tuple(Coded('history-damaged', words) for words in messages)

    @property
    def remarks(self) -> tuple[Coded, ...]:
        """Messages about the history itself, and not about any drive."""
        known = self.store
        if known is None:
            words = f'no history: {self.trouble}; increases are not detected'
            return (Coded('history-unusable', words),) if self.trouble else ()
        sentences = {
            'history-slow': known.slowness,
            'history-restarted': known.snapshot,
            'history-not-written': known.not_written,
            'clock-behind': known.doubt,
        }
        return tuple(
            Coded(code, f'history: {sentence}') for code, sentence in sentences.items() if sentence
        )

    def recalled(self, device: Device) -> Match | None:
        """Return what recall() found about a drive; None without history, and for a drive that
        is not in this run.
        """
        return self._found.get(_address(device))

    def past(self, device: Device) -> Past | None:
        """Return the earlier readings of a drive, or None without history."""
        match = self.recalled(device)
        return self._past(match) if match else None

    def _past(self, match: Match) -> Past | None:
        store = self._store
        if store is None:
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
        known = store.at(device.address) if store and store.is_own else None
        return known.identity if known else None

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

        return drive_tracking.asleep(
            verdict, store.at(verdict.device.address), store.now, self._longest_asleep
        )

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

        sightings = {address: Sighting(address, slot=slot) for address, slot in self._slots.items()}
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
                    self._last_verdict(verdict),
                )
        with suppress(HistoryUnusable):
            store.keep(list(sightings.values()), Scope(*self._scope))

    def _observed(self, verdict: Verdict) -> tuple[Observation, ...]:
        from ..history import past

        known, readings = (
            self.past(verdict.device) or past.Past(),
            [each.reading for each in verdict.judgements],
        )
        return (
            *past.observations(readings, known),
            *past.former_numbers(known, readings, verdict.identity.firmware),
        )

    def _last_verdict(self, verdict: Verdict) -> LastVerdict:
        """Return the verdict as it is stored: its state, and its worst finding."""
        from ..history.drive_file import LastVerdict
        from ..knowledge import severity

        now = self._store.now if self._store else 0
        worst = min(verdict.judgements, key=severity.of_judgement, default=None)
        if worst is None or worst.state is State.OK:
            return LastVerdict(verdict.state, '', '', now)
        return LastVerdict(
            verdict.state, worst.reading.metric, clean(statement(worst.reading)), now
        )


def remembered(options: Options) -> Remembered:
    """Return the history of a run, which is empty for recorded reports and without a state
    directory.
    """
    use = options.history
    is_writing = use.access == WRITES
    if (
        use.no_history
        or options.which.reports
        or not use.access
        or not _has_a_place(options.state_dir)
    ):
        return Remembered()
    if (
        not is_writing
        and not options.state_dir
        and not os.path.isdir(os.path.join(state_directory.location(), 'history'))
    ):
        return Remembered()  # no check has ever stored anything
    try:
        return Remembered(_opened(options, is_writing), '', use.access == READS, use.asleep_max_age)
    except (HistoryUnusable, state_directory.Unusable) as error:
        return Remembered(trouble=str(error))


def _has_a_place(given: str) -> bool:
    """Return whether a state directory can be used.

    A user without a home directory, such as nobody, has none.
    """
    place = state_directory.location(given)
    homes = (os.environ.get('XDG_STATE_HOME', ''), os.path.expanduser('~'))
    return bool(place) and (
        place in (given, state_directory.PACKAGE)
        or any(home and os.path.isdir(home) for home in homes)
    )


def for_writing(options: Options) -> HistoryStore:
    """Return the history store for a command that changes it.

    Raises HistoryUnusable if it cannot be opened.
    """
    try:
        return _opened(options, is_writing=True)
    except state_directory.Unusable as error:
        raise HistoryUnusable(f'no history: {error}') from None


def _opened(options: Options, is_writing: bool) -> HistoryStore:
    from ..history.store import MACHINE_ID, PATIENCE, HistoryStore
    from ..reading.identity import is_same_drive

    state = (state_directory.ready if is_writing else state_directory.there)(options.state_dir)
    machine = files.text(MACHINE_ID, LARGEST_SMALL_FILE).strip()
    patience = min(PATIENCE, options.how_read.timeout / 3)
    return HistoryStore(
        state, int(time.time()), is_same_drive, machine, writes=is_writing, patience=patience
    )


def _address(device: Device) -> tuple[str, str]:
    return device.path, device.type
