"""Check a file of limits."""
from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any

from ..knowledge import data_errors, data_file, drive_database, schema_errors, shipped_data, site_file, thresholds
from ..typed import Json
from ..wording import plural

FOLDER = 'thresholds.d'


def is_limits(path: str, data: Any) -> bool:
    """Return whether a file holds limits or is in a folder for limits."""
    if isinstance(data, dict) and 'entries' not in data and ('overrides' in data or 'metrics' in data):
        return True
    return os.path.basename(os.path.dirname(os.path.abspath(path))) == FOLDER


def examine(path: str) -> tuple[list[str], list[str]]:
    """Return the mistakes in a file of limits and a summary of it, which is empty if a part is unusable.

    Raises DataError if it cannot be read or is not JSON.
    """
    name = os.path.basename(path)
    data, problems = data_file.parse(data_file.read_text(path), name)
    problems = problems or schema_errors.schema_problems(data, 'thresholds', name)
    data = site_file.sound(data, 'thresholds') if problems else data
    database = drive_database.SpecDatabase(shipped_data.load(shipped_data.path('attributes.json')))
    groups = shipped_data.load(shipped_data.path('thresholds/default.json')).get('groups', ())
    families = {entry['family'] for _, entry in database.entries()}
    faults = [*(fault.sentence for fault in data_errors.of_limits(data, database.units, groups, families)),
              *_contradictions(data), *_ended(data)]
    summary = [plural(len(data.get('metrics', ())), 'metric'), plural(len(data.get('overrides', ())), 'override')]
    return [*problems, *(f'{name}: {sentence}' for sentence in faults)], [] if problems else summary


def _contradictions(data: Json) -> Iterator[str]:
    for number, override in enumerate(data.get('overrides', ()), 1):
        for other_number, other in enumerate(data['overrides'][:number - 1], 1):
            ours, theirs = override.get('metrics', {}), other.get('metrics', {})
            for metric in set(ours) & set(theirs) if other['for'] == override['for'] else ():
                if ours[metric] != theirs[metric]:
                    yield (f'overrides {other_number} and {number}, for {json.dumps(override["for"])}, disagree about '
                           f'{metric}; remove one of them')


def _ended(data: Json) -> Iterator[str]:
    today = time.strftime('%Y-%m-%d')
    for override in data.get('overrides', ()):
        if override.get('until', today) < today:
            selector = thresholds.rank(override)
            yield (f'override for {selector} {override["for"][selector]}: it ended on {override["until"]} and has no '
                   f'effect; remove it, or set a later date')
