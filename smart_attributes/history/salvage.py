"""Copy what is left of a damaged history, drive by drive: damage to one drive costs that drive's readings only."""
from __future__ import annotations

from ..typed import TYPE_CHECKING
from . import rows

if TYPE_CHECKING:
    from collections.abc import Collection

    from .database import Connection, OldFile
    from .drive_matching import Record
    from .known_drives import Known


def facts(old: OldFile) -> dict[str, str]:
    """Return the facts of a damaged history; none if they or the list of its drives are damaged."""
    found = old.part(lambda: rows.sealed(old))
    return found[0] if found else {}


def copy(old: OldFile, new: Connection, known: Known, last_read: int) -> list[Record]:
    """Copy all drives of a damaged history to a new one; return those whose readings are lost.

    known: drives that the history had, even if no part of it is left. last_read: when the last check read them.
    """
    listed = {record.number: record for record in known.drives}
    numbers = old.part(lambda: rows.numbers(old)) or ()
    return [record for number in sorted({*listed, *numbers})
            for record in _copied(old, new, number, listed.get(number), known, last_read)]


def _copied(old: OldFile, new: Connection, number: int, listed: Record | None, known: Known,
            last_read: int) -> Collection[Record]:
    """Copy one drive; return it if its readings are lost. listed: as the list of known drives has it."""
    found = old.part(lambda: rows.drive(old, number))
    if found is None and listed is None:
        return ()   # a row that is damaged, or that belongs to no drive
    record, places = found or (listed._replace(last_read=max(last_read, listed.first_read)) if listed else None, [
        place for place in known.places if place.drive == number])
    assert record   # noqa: S101  one of the two is there
    stored = old.part(lambda: rows.stored(old, [record], rows.EVERY)[number]) if found else None
    rows.write_drive(new, record)
    rows.write_places(new, places)
    if stored is not None:
        rows.write_stored(new, number, stored)
    return [record] if stored is None else ()
