"""Enter the drives of a run in the ledger, and count the failures of each model."""
from __future__ import annotations

from ..alarm import TimeIsOver
from ..coded import Coded
from ..constants import YEAR
from ..model import State
from ..output.advice import GONE
from ..wording import plural
from . import ledger, rates
from .ledger_file import Ledger, LedgerUnusable
from .plugin_output import FleetDrive
from .rates import Rate

OLDEST = 100 * YEAR    # seconds; a longer power-on time is damaged
LONGEST = 80           # characters of a model, a serial number or a firmware version


class Bookkeeper:
    """Takes the drives of a run. A ledger that cannot be used becomes a note, and costs nothing else."""

    def __init__(self, path: str, now: float) -> None:
        """Open the ledger. path: '' for none."""
        self.notes: list[Coded] = []
        self.rates: list[Rate] = []            # of all models
        self._now, self._nameless = now, 0
        self._hosts: dict[str, bool] = {}      # whether all drives of a host were read
        self._ledger: Ledger | None = None
        try:
            self._ledger = Ledger(path, now) if path else None
            if self._ledger and self._ledger.lost:
                lost = plural(self._ledger.lost, 'drive')
                self.notes.append(Coded('ledger-damaged', f'ledger: the records of {lost} were damaged and are counted '
                                                          'again from now on; check the disk: dmesg -T | tail -50'))
        except LedgerUnusable as error:
            self._fail(error)

    @property
    def is_whole(self) -> bool:
        """Return whether nothing is missing in the ledger."""
        return not any(note.code == 'ledger-unusable' for note in self.notes)

    def add(self, drive: FleetDrive) -> None:
        """Enter a drive, or what a row about a check says about its host."""
        if self._ledger:
            facts = drive.facts
            is_told = facts['state'] == State.OK.name or facts.get('code') in GONE
            is_whole = (not facts.get('is_check') or is_told) and self._now - drive.read <= ledger.OLD
            self._hosts[facts['host']] = self._hosts.get(facts['host'], True) and is_whole
            if not facts.get('is_check'):
                self._enter(self._ledger, drive)

    def _enter(self, book: Ledger, drive: FleetDrive) -> None:
        facts = drive.facts
        model, serial = facts['model'], facts['serial'] or ''
        if not model or not ledger.identifies(serial):
            self._nameless += bool(model)
            # It could be any drive of its host. A drive that cannot be read has no model, and may be the one that died.
            self._hosts[facts['host']] &= not model
            return
        age = round(drive.age) if drive.age is not None and 0 <= drive.age <= OLDEST else None
        try:
            book.add(model[:LONGEST], serial[:LONGEST], (facts['firmware'] or '')[:LONGEST], facts['host'],
                     (State[facts['state']], int(ledger.is_failing(facts)), int(drive.read), age))
        except LedgerUnusable as error:
            self._fail(error)

    def close(self, unread: set[str], is_cut: bool) -> None:
        """Write the ledger and calculate the rates.

        unread: hosts with a result that could not be read. is_cut: the time limit was reached, so drives are missing.
        """
        if self._nameless:
            self.notes.append(Coded('serials-unusable', f'{plural(self._nameless, "drive")} without a serial number of '
                                    'their own: the ledger does not contain them'))
        if self._ledger:
            try:
                if is_cut:
                    raise LedgerUnusable('ledger: the time limit was reached; increase it with -t')
                self._ledger.write({host for host, is_whole in self._hosts.items() if is_whole} - unread)
                self.rates = rates.of_cells(self._ledger.cells(), self._ledger.drives())
            except (LedgerUnusable, TimeIsOver) as error:
                self._fail(error)
            self._hosts.clear()
            self._ledger.close()

    def _fail(self, error: BaseException) -> None:
        if self.is_whole:
            self.notes.append(Coded('ledger-unusable', f'{error}; this run is not in it'))


def record(path: str, ended: list[tuple[str, str]], now: float) -> list[str]:
    """Record how drives ended; return a line for each. ended: serial number and one of ledger.ENDINGS.

    Raises LedgerUnusable.
    """
    book = Ledger(path, now)
    try:
        return [f'recorded: {book.end(serial, how)} {serial} {how}' for serial, how in ended]
    finally:
        book.close()
