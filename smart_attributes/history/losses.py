"""Create the tables of a history, copy the readable part of a damaged history, and report the
losses.

A check with an intact history does not load this module. A damaged file is set aside and copied
drive by drive, so damage to the data of one drive affects only the readings of this drive.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress

from .. import files
from ..constants import DAY, LARGEST_OLD_LOG
from ..errors import HistoryUnusable
from ..sqlite_file import WRONG_CONTENT, Error, SqliteFile
from ..typed import T
from ..wording import listed, plural
from ..words import clean
from . import directory, drive_records, rows
from .directory import Commits, HistoryFolder
from .drive_records import DrivePlace, Record
from .rows import Head

SHOWN = 7 * DAY
# Reasons why the old file is not used any more. SQLite's own messages would quote the content of
# the file.
DAMAGED, GONE, CLONED = 'damaged', 'gone', 'cloned'
WHY = {
    DAMAGED: 'was damaged',
    GONE: 'was gone or empty',
    CLONED: 'is from another machine, for example because a disk was cloned (machine-id)',
}

# Read at once: later, the process may have become a user who cannot read the program.
_TABLES = files.data('history/tables.json')['tables']
APPLICATION = 0x534D4152  # "SMAR": identifies the program that owns the database, for file(1)


def messages(head: Head, folder: HistoryFolder, now: int) -> tuple[str, str, str]:
    """Return the messages about lost readings, in the order of store.Losses."""
    return _restart(head, folder, now), _recurring(head, folder, now), _missing(head, now)


def _restart(head: Head, folder: HistoryFolder, now: int) -> str:
    """Return a message if readings were lost within the last SHOWN seconds because the file
    could not be used.
    """
    # other text is not quoted
    lost, why = _moment(head, 'lost'), WHY.get(head.facts.get('why', ''), WHY[DAMAGED])
    if not lost or now - lost > SHOWN:
        return ''
    losers = set(head.facts.get('losers', '').split())
    kept = [
        record
        for record in head.records
        if record.first_read < lost and str(record.number) not in losers
    ]
    old = f'(the old file: {folder.aside})'
    if not kept:
        return (
            f'restarted on {day(lost)}, because the old one {why}; earlier increases '
            f'cannot be detected {old}'
        )
    if not losers:
        return f'damaged on {day(lost)} and repaired; no reading was lost {old}'
    return (
        f'damaged on {day(lost)}: the readings of {_named(losers, head)} were lost, so their '
        f'earlier increases '
        f'cannot be detected; the readings of {plural(len(kept), "other drive")} were kept {old}'
    )


def _recurring(head: Head, folder: HistoryFolder, now: int) -> str:
    """Return a message if the file was unusable twice within a day and the second time was
    within the last day.
    """
    lost, before = _moment(head, 'lost'), _moment(head, 'lost_before')
    if not before or lost - before > DAY or now - lost > DAY:
        return ''
    return (
        f'damaged or lost on {day(before)} and again on {day(lost)}; check the disk with '
        f'{folder.path}: '
        f'dmesg -T | tail -50'
    )


def _missing(head: Head, now: int) -> str:
    """Return a message if missing commits were detected within the last seven days."""
    noticed, since, until = (
        _moment(head, name) for name in ('missing', 'missing_since', 'missing_until')
    )
    if not noticed or now - noticed > SHOWN:
        return ''
    loss, cause = (
        ('may be missing', f'{directory.COMMITS} was damaged or removed')
        if _moment(head, 'uncounted')
        else ('were lost', 'a file of the history was damaged or removed, or the system lost power')
    )
    return (
        f'readings from {day(since)} to {day(until)} {loss}, because {cause}; earlier readings '
        f'still count; '
        f'if there was no power failure, check the disk: dmesg -T | tail -50'
    )


def day(moment: int) -> str:
    """Return a time in seconds since 1970 as a local date with hours and minutes."""
    return time.strftime('%Y-%m-%d %H:%M', time.localtime(moment))


def _moment(head: Head, name: str) -> int:
    return drive_records.moment(head.facts.get(name, 0))


def _named(numbers: Collection[str], head: Head) -> str:
    """Return a phrase with the address of each drive, or the model of a drive that has no
    address.
    """
    at = {place.drive: place.address for place in head.places if not place.gone}
    names = [
        at.get(record.number) or record.identity.model
        for record in head.records
        if str(record.number) in numbers
    ]
    return listed([clean(name) for name in names], 3)


def create(
    database: SqliteFile,
    folder: HistoryFolder,
    before: Commits | None,
    why: str,
    fill: Callable[[str], None],
) -> None:
    """Create the tables of an empty file, unless another check has done so. Raises HistoryUnusable.

    before: the commit record, if it existed. why: the reason why the old file was set aside; '' if
    it was not. fill: called inside the transaction that creates the tables, with the reason why the
    file is new ('' for the first file).
    """
    with directory.locked(folder, alone=True):
        if database.value('PRAGMA journal_mode = WAL') != 'wal':
            raise HistoryUnusable(
                f'{folder.path} is on a file system that SQLite cannot lock; use another directory '
                f'with --state-dir'
            )
        if database.transaction(lambda: _has_made_tables(database, folder, before, why, fill)):
            # Tables that exist only in the log would disappear if the log were damaged. They are
            # synced here only if readings were copied; otherwise, the first check syncs them after
            # its output is printed.
            database.run(
                f'PRAGMA synchronous = {"NORMAL" if os.path.lexists(folder.damaged) else "OFF"}'
            )
            database.run('PRAGMA wal_checkpoint(TRUNCATE)')
            database.run('PRAGMA synchronous = NORMAL')
            put_aside(folder)


def _has_made_tables(
    database: SqliteFile,
    folder: HistoryFolder,
    before: Commits | None,
    why: str,
    fill: Callable[[str], None],
) -> bool:
    """Create the tables; return whether they were missing."""
    if database.version:  # another check has created the tables before this one got the lock
        return False
    if not database.is_empty:
        if before is not None:
            raise ValueError('the version of these tables is lost')
        raise HistoryUnusable(
            f'{folder.file} is the database of another program; to start a history, move it away'
        )
    database.create(_TABLES, APPLICATION, directory.VERSION)
    database.allow(directory.SALVAGE)
    # If a check was killed while it copied a damaged file, the file is still there, but the reason
    # is not.
    fill(
        why
        or (
            DAMAGED
            if os.path.lexists(folder.damaged)
            else GONE
            if before and before.sequence
            else ''
        )
    )
    return True


def set_aside(folder: HistoryFolder, name: str) -> None:
    """Rename the database and its log to *name*; raise HistoryUnusable if this fails.

    The index and the log of the database are handled first, because SQLite would apply them to the
    next database. A log of more than LARGEST_OLD_LOG bytes is removed, because nearly all content
    of the log is in the file, too.
    """
    if name == folder.damaged and os.path.lexists(name):  # an earlier file has not been copied yet
        name = folder.aside
    with directory.refusals(folder.file):
        _remove(folder.file + '-shm')
        with suppress(FileNotFoundError):
            if os.path.getsize(folder.file + '-wal') > LARGEST_OLD_LOG:
                _remove(folder.file + '-wal')
        _rename(folder.file, name)
        # After a power cut, the old log must not be applied to the next database.
        files.flush(folder.path)


def put_aside(folder: HistoryFolder) -> None:
    """Rename a damaged database to its permanent name, after the copying of its content has
    finished.
    """
    with directory.refusals(folder.file):
        if os.path.lexists(folder.damaged):
            _remove(folder.damaged + '-shm')
            _rename(folder.damaged, folder.aside)


def _rename(file: str, name: str) -> None:
    for tail in ('-wal', ''):
        try:
            os.replace(file + tail, name + tail)
        except FileNotFoundError:
            _remove(name + tail)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


class OldFile(SqliteFile):
    """A damaged file that was set aside; each part of it is read separately."""

    def __init__(self, folder: HistoryFolder) -> None:
        """Open the file. If it is missing, no part of it can be read."""
        self.allow(directory.SALVAGE)
        self.connect(':memory:', 'mode=memory', 0, ())
        if os.path.lexists(folder.damaged):
            self.part(
                lambda: self.connect(
                    folder.damaged, 'mode=rw', directory.PATIENCE, directory.SETTINGS
                )
            )

    def part(self, work: Callable[[], T]) -> T | None:
        """Return the result of *work*, or None if *work* reads damaged data."""
        try:
            return work()
        except (Error, *WRONG_CONTENT):
            return None


def salvaged(
    database: SqliteFile, folder: HistoryFolder, before: Commits | None, now: int
) -> dict[str, object]:
    """Copy the readable part of a damaged history, at least the list of known drives; return facts
    for the new history.

    before: the commit record, which states when the last check read the drives; None if it did not
    exist.
    """
    known, old = directory.read_known(folder), OldFile(folder)
    last_read = before.time if before else 0
    facts = old.part(lambda: rows.sealed(old)[0]) or {}
    listed = {
        record.number: (
            record._replace(last_read=max(last_read, record.first_read)),
            tuple(place for place in known.places if place.drive == record.number),
        )
        for record in known.drives
    }
    numbers = (
        old.part(lambda: [int(number) for (number,) in old.run('SELECT number FROM drive')]) or ()
    )
    losers = [
        number
        for number in sorted({*listed, *numbers})
        if _is_lost(old, database, number, listed.get(number))
    ]
    old.close()
    begun = min((record.first_read for record in known.drives), default=now)
    return {
        'begun': begun,
        **facts,
        'lost_before': facts.get('lost', known.lost),
        'lost': now,
        'losers': ' '.join(map(str, losers)),
    }


def _is_lost(
    old: OldFile, new: SqliteFile, number: int, listed: tuple[Record, tuple[DrivePlace, ...]] | None
) -> bool:
    """Copy one drive; return whether its readings are lost. listed: the drive as the list of
    known drives has it.
    """
    intact = old.part(lambda: rows.drive(old, number))
    found = intact or listed
    if found is None:
        return False  # the row is damaged or does not belong to any drive
    record, places = found
    stored = old.part(lambda: rows.stored(old, [record], rows.EVERY)[number]) if intact else None
    rows.write_drive(new, record)
    rows.write_places(new, places)
    if stored is not None:
        rows.write_stored(new, number, stored)
    return stored is None
