"""The metric that a mistyped word, a name of smartctl or a name of a vendor attribute stands for.

Files and options share it. Loaded only where there is a mistake to report.
"""
from __future__ import annotations

import difflib
import re
from collections import Counter
from typing import Any, Collection, Dict, Iterator, Mapping, Optional, Sequence, Tuple

from . import data_file, standards

KNOWN = 'doc/metric-names.md lists them, for example endurance_used'
SHORTEST = 3     # letters of a part of a name, such as "wear" or "hot"
# smartctl's words, where its JSON has others or none. Source: smartmontools, nvmeprint.cpp and scsiprint.cpp.
_WORDS = {'media_and_data_integrity_errors': 'media_errors', 'error_information_log_entries': 'error_log_count',
          'warning_comp_temperature_time': 'over_temperature_time',
          'critical_comp_temperature_time': 'critical_temperature_time',
          'elements_in_grown_defect_list': 'reallocated', 'current_drive_temperature': 'temperature',
          'percentage_used_endurance_indicator': 'endurance_used', 'overall_health': 'smart_status'}


def metric(word: str, known: Optional[Collection[str]] = None) -> str:
    """Return "did you mean temperature?", or where all metrics are listed.

    known: the metrics that there are; None: those of the shipped database.
    """
    meant = _meant(_plain(word), known or data_file.load(data_file.shipped('attributes.json'))['metrics'])
    return f'did you mean {meant}?' if meant else KNOWN


def _plain(word: str) -> str:
    """Return a name in the letters of metrics: "Media_Wearout-Indicator" is media_wearout_indicator."""
    return re.sub('[^a-z0-9]+', '_', word.lower()).strip('_')


def _meant(word: str, known: Collection[str]) -> Optional[str]:
    """Return the metric that is meant; None where none is alike."""
    if word in known:
        return word
    names = {name: each for name, each in _names().items() if each in known}
    if word in names:
        return names[word]
    alike = next((name for found in (difflib.get_close_matches(word, known, 1),
                                     difflib.get_close_matches(word, names, 1, 0.8),
                                     _having(word, known), _having(word, names)) for name in found), None)
    return names.get(alike, alike) if alike else None


def _having(word: str, known: Collection[str]) -> Sequence[str]:
    """Return the names in which a word begins like *word*, first those that begin so themselves."""
    found = [name for name in known if f'_{word}' in f'_{name}'] if len(word) >= SHORTEST else []
    return sorted(found, key=lambda name: (not name.startswith(word), name))


def _names() -> Mapping[str, str]:
    """Return the metric of each name of smartctl and of the database; of several, the most frequent one."""
    counted: Dict[str, Counter[str]] = {}
    for name, metric in _attributes(data_file.load(data_file.shipped('attributes.json'))):
        counted.setdefault(_plain(name), Counter())[metric] += 1
    found = {name: metrics.most_common(1)[0][0] for name, metrics in counted.items()}
    for log in (standards.NVME, standards.SCSI):
        found.update((_plain(name), standard.metric) for name, standard in log.items())
    return {**found, **_WORDS}


def _attributes(data: Mapping[str, Any]) -> Iterator[Tuple[str, str]]:
    """Yield (name, metric) of each reading of a database."""
    for owner in (*data['sets'].values(), *data['entries']):
        for row in owner.get('attributes', {}).values():
            yield from ((row['name'], metric) for metric in (row or {}).get('readings', ()) if 'name' in row)
