"""The drives that a page shows, and the form in which its script reads them. Pure.

A browser needs seconds for a page of tens of thousands of drives, and nobody reads it. So the page
of a fleet shows all drives that need attention and the worst of the others, and counts the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..model import State
from ..typed import Json
from ..wording import amount
from ..work import actions

# contained in the findings, or in the order
NOT_SHOWN = ('last_seen', 'replacement', 'risk', 'place')
EMPTY: tuple[Any, ...] = (None, '', [], {})


def is_urgent(drive: Json) -> bool:
    """Return whether a page always shows a drive, because it alerts or needs an action."""
    is_alerting = drive['state'] != State.OK.name
    return is_alerting or bool(drive['action'] != actions.NOTHING)


def sentence(urgent: tuple[int, int], others: tuple[int, int]) -> str:
    """Return which drives the page of a fleet shows; '' if it shows all.

    urgent, others: how many drives are shown, and how many there are.
    """
    shown_urgent, all_urgent = urgent
    shown_others, all_others = others
    if shown_urgent == all_urgent and shown_others == all_others:
        return ''
    return (
        f'The list shows {shown_urgent:,} of {all_urgent:,} drives that alert or need an action, and '
        f'the {shown_others:,} most worn of the {all_others:,} remaining drives. Totals count all '
        'drives. To list all, use fleet --json.'
    )


def compact(drive: Json) -> dict[str, Any]:
    """Return what the page shows of a drive, without null and empty values; but its notes and
    readings in any case, because page.js expects these lists.
    """
    result = {
        key: value
        for key, value in drive.items()
        if value not in EMPTY and key not in NOT_SHOWN
    }
    result['notes'] = [
        {'code': note['code'], 'text': note['text']} for note in drive.get('notes', ())
    ]
    if 'findings' in result:
        result['findings'] = [
            readable(finding['text'] or '', [finding.get('metric') or ''])
            for finding in drive['findings']
        ]
    result['readings'] = [compact_reading(reading) for reading in drive['readings']]
    if 'depends' in result:
        result['depends'] = [{'text': group['text']} for group in result['depends']]
    return result


def readable(text: str, metrics: Iterable[str]) -> str:
    """Return a text with "endurance used" instead of the metric endurance_used."""
    # one may be the end of another
    for metric in sorted(metrics, key=len, reverse=True):
        text = text.replace(metric, metric.replace('_', ' '))
    return text


def compact_reading(reading: Json) -> dict[str, Any]:
    """Return a reading without null and empty values, except its value, and without words that only
    repeat this value.
    """
    result = {key: value for key, value in reading.items() if value not in (None, '')}
    result['value'] = reading['value']  # also null
    if _repeats_value(reading):
        result.pop('said', None)
    return result


def _repeats_value(reading: Json) -> bool:
    """Return whether the words of a reading, under "said", only repeat the metric and the value, or
    are missing.
    """
    value = reading['value']
    said = reading.get('said')
    if said is None or said == value:
        return True
    metric = reading['metric']
    if isinstance(value, str):
        return bool(said == f'{metric}: {value}')
    return bool(said == f'{metric} {amount(value, reading.get("unit", ""))}')
