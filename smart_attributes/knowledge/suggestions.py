"""Suggest the metric for a mistyped word, a smartctl name or a vendor attribute name.

Used for files and options. Loaded only if there is a mistake to report.
"""
from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from . import data_file, standards

KNOWN = 'doc/reference/metrics.md lists them, for example endurance_used'
SHORTEST = 3     # letters of a part of a name, such as "wear" or "hot"
# Terms in smartctl's text that are missing from its JSON. Source: smartmontools, nvmeprint.cpp and scsiprint.cpp.
_WORDS = {'media_and_data_integrity_errors': 'media_errors', 'error_information_log_entries': 'error_log_count',
          'warning_comp_temperature_time': 'over_temperature_time',
          'critical_comp_temperature_time': 'critical_temperature_time',
          'elements_in_grown_defect_list': 'reallocated', 'current_drive_temperature': 'temperature',
          'percentage_used_endurance_indicator': 'endurance_used', 'overall_health': 'smart_status'}


def metric(word: str, metrics: Collection[str] = ()) -> str:
    """Return a hint such as "did you mean temperature?", or where to find the list of all metrics.

    metrics: the known metrics; if empty, those of the shipped database.
    """
    closest = _closest(_plain(word), metrics or data_file.load(data_file.shipped('attributes.json'))['metrics'])
    return f'did you mean {closest}?' if closest else KNOWN


def _plain(word: str) -> str:
    """Return a name in the notation of metrics: media_wearout_indicator for "Media_Wearout-Indicator"."""
    return re.sub('[^a-z0-9]+', '_', word.lower()).strip('_')


def _closest(word: str, metrics: Collection[str]) -> str:
    """Return the most similar metric; '' if none is similar."""
    if word in metrics:
        return word
    names = {name: each for name, each in _names().items() if each in metrics}
    if word in names:
        return names[word]
    alike = [*difflib.get_close_matches(word, metrics, 1), *difflib.get_close_matches(word, names, 1, 0.8),
             *_having(word, metrics), *_having(word, names)]
    return names.get(alike[0], alike[0]) if alike else ''


def _having(word: str, names: Collection[str]) -> Sequence[str]:
    """Return the names with a part that begins like *word*; names that begin with it come first."""
    having = [name for name in names if f'_{word}' in f'_{name}'] if len(word) >= SHORTEST else []
    return sorted(having, key=lambda name: (not name.startswith(word), name))


def _names() -> Mapping[str, str]:
    """Return the metric for each name in smartctl and the database; if there are several, the most frequent one."""
    counts: dict[str, Counter[str]] = {}
    data = data_file.load(data_file.shipped('attributes.json'))
    for owner in (*data['sets'].values(), *data['entries']):
        for row in owner.get('attributes', {}).values():
            if row and 'name' in row:
                counts.setdefault(_plain(row['name']), Counter()).update([*row.get('readings', ())])
    names = {name: metrics.most_common(1)[0][0] for name, metrics in counts.items() if metrics}
    for log in (standards.NVME, standards.SCSI):
        names.update((_plain(name), standard.metric) for name, standard in log.items())
    return {**names, **_WORDS}
