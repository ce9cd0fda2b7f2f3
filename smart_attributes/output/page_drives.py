"""The drives that a page shows, and the form in which its script reads them. Pure.

A browser needs seconds for a page of tens of thousands of drives, and nobody reads it. So a page
shows all drives that need attention and the most worn of the others, and counts the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from ..constants import MOST_OTHERS
from ..model import State
from ..typed import Json
from ..wording import amount
from ..work import actions

# contained in the findings, or in the order
NOT_SHOWN = ('last_seen', 'replacement', 'risk', 'place')
EMPTY: tuple[Any, ...] = (None, '', [], {})


def is_urgent(drive: Json) -> bool:
    """Return whether a page always shows a drive, because it alerts or needs an action."""
    action = drive.get('action', actions.NOTHING)
    return bool(drive.get('state') != State.OK.name or action != actions.NOTHING)


def placed(drives: Sequence[Json], most: int = MOST_OTHERS) -> list[dict[str, Any]]:
    """Return the drives with their "place": the number among the drives that the page shows, or
    None.

    most: drives to show in addition to the urgent ones, the most worn first.
    """
    others = [number for number, drive in enumerate(drives) if not is_urgent(drive)]
    others.sort(key=lambda number: used(drives[number]), reverse=True)
    hidden = frozenset(others[most:])
    places = count()
    return [
        {**drive, 'place': None if number in hidden else next(places)}
        for number, drive in enumerate(drives)
    ]


def used(drive: Json) -> float:
    """Return the endurance used in %; 0 if the drive does not report it."""
    values = [
        reading['value']
        for reading in drive['readings']
        if reading['metric'] == 'endurance_used' and reading.get('judged')
    ]
    return max((value for value in values if isinstance(value, (int, float))), default=0)


def sentence(part: str, urgent: tuple[int, int], others: tuple[int, int], command: str) -> str:
    """Return which drives a part of the page has; '' if it has all.

    part: such as "list". urgent, others: how many drives are shown, and how many there are.
    command: lists all drives.
    """
    if urgent[0] == urgent[1] and others[0] == others[1]:
        return ''
    parts = []
    if urgent[1]:
        parts.append(_urgent_drives(*urgent))
    if others[0]:
        parts.append(
            f'the {others[0]:,} most worn of {others[1]:,} {"others" if urgent[1] else "drives"}'
        )
    return (
        f'The {part} shows {" and ".join(parts)}. All other figures count all drives. '
        f'{command} has all.'
    )


def _urgent_drives(shown: int, count: int) -> str:
    if count == 1:
        return 'the drive that alerts or needs an action'
    which = f'all {count:,}' if shown == count else f'the {shown:,} worst of {count:,}'
    return f'{which} drives that alert or need an action'


def compact(drive: Json) -> dict[str, Any]:
    """Return what the page shows of a drive, without null and empty values."""
    result = {
        key: value for key, value in drive.items() if value not in EMPTY and key not in NOT_SHOWN
    }
    result['notes'] = [
        {'code': note['code'], 'text': note['text']} for note in drive.get('notes', ())
    ]
    if 'findings' in result:
        result['findings'] = [_readable(finding) for finding in drive['findings']]
    result['readings'] = [compact_reading(reading) for reading in drive['readings']]
    if 'depends' in result:
        result['depends'] = [{'text': group['text']} for group in result['depends']]
    return result


def _readable(finding: Json) -> str:
    """Return the text of a finding, with "endurance used" instead of the metric endurance_used."""
    text, metric = finding['text'] or '', finding.get('metric') or ''
    return str(text.replace(metric, metric.replace('_', ' ')) if metric else text)


def compact_reading(reading: Json) -> dict[str, Any]:
    """Return a reading without null and empty values, and without words that only repeat its
    value.
    """
    result = {key: value for key, value in reading.items() if value not in (None, '')}
    result['value'] = reading['value']
    if _follows(reading):
        result.pop('said', None)
    return result


def _follows(reading: Json) -> bool:
    """Return whether the text of a reading only repeats the metric and the value."""
    value, said = reading['value'], reading.get('said')
    if said is None or said == value:
        return True
    words = f': {value}' if isinstance(value, str) else f' {amount(value, reading.get("unit", ""))}'
    return bool(said == reading['metric'] + words)
