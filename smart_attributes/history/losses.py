"""Messages about readings that a history has lost. Pure: the facts of the history are passed in as values."""
from __future__ import annotations

import time

from ..constants import DAY
from ..typed import TYPE_CHECKING
from ..wording import listed, plural
from ..words import clean
from . import clock, commits
from .database import CLONED, DAMAGED, GONE, SNAPSHOT

if TYPE_CHECKING:
    from collections.abc import Collection

    from .directory import HistoryFolder
    from .rows import Head

SHOWN = 7 * DAY
_MOST_NAMED = 3


def lost(head: Head, folder: HistoryFolder, now: int) -> str:
    """Return a message if readings were lost within the last seven days because the file could not be used."""
    lost, why = _moment(head, 'lost'), head.facts.get('why', '')
    if not lost or now - lost > SHOWN:
        return ''
    why = why if why in (DAMAGED, GONE, SNAPSHOT, CLONED) else DAMAGED   # other text is not quoted
    losers = set(head.facts.get('losers', '').split())
    kept = [record for record in head.records if record.first_read < lost and str(record.number) not in losers]
    old = f'(the old file: {folder.aside})'
    if not kept:
        return f'restarted on {day(lost)}, because {why}; earlier increases cannot be detected {old}'
    if not losers:
        return f'damaged on {day(lost)} and repaired; no reading was lost {old}'
    return (f'damaged on {day(lost)}: the readings of {_named(losers, head)} were lost, so their earlier increases '
            f'cannot be detected; those of {plural(len(kept), "other drive")} were kept {old}')


def recurring(head: Head, folder: HistoryFolder, now: int) -> str:
    """Return a message if the file could not be used twice within a day, the last time within the last day."""
    lost, before = _moment(head, 'lost'), _moment(head, 'lost_before')
    if not before or lost - before > DAY or now - lost > DAY:
        return ''
    return (f'damaged or lost on {day(before)} and again on {day(lost)}; check the disk with {folder.path}: '
            f'dmesg -T | tail -50')


def missing(head: Head, now: int) -> str:
    """Return a message if a loss of single commits was detected within the last seven days."""
    noticed, since, until = (_moment(head, name) for name in ('missing', 'missing_since', 'missing_until'))
    if not noticed or now - noticed > SHOWN:
        return ''
    loss, cause = (('may be missing', f'{commits.FILE} was damaged or removed')
                   if _moment(head, 'uncounted') else
                   ('were lost', 'a file of the history was damaged or removed, or the system lost power'))
    return (f'readings from {day(since)} to {day(until)} {loss}, because {cause}; earlier readings still count; '
            f'if there was no power failure, check the disk: dmesg -T | tail -50')


def day(moment: int) -> str:
    """Return a time in seconds since 1970 as a local date with hours and minutes."""
    return time.strftime('%Y-%m-%d %H:%M', time.localtime(moment))


def _moment(head: Head, name: str) -> int:
    return clock.moment(head.facts.get(name, 0))


def _named(numbers: Collection[str], head: Head) -> str:
    """Return the addresses of drives, or the models of those that have none, as a phrase."""
    at = {place.drive: place.address for place in head.places if not place.gone}
    names = [at.get(record.number) or record.identity.model for record in head.records
             if str(record.number) in numbers]
    return listed([clean(name) for name in names], _MOST_NAMED)
