"""What measure counted of each family: beside the samples, since no check reads it."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Mapping, Tuple

from ..errors import DataError
from ..knowledge import data_file
from .sources import Source, beside

USUAL = os.path.join('tests', 'evidence.json')  # beside attributes.json
FIGURES = ('drives', 'compared', 'agree')

# by family; "compared" are worn drives, "agree" those that confirm the entry
Evidence = Mapping[str, Mapping[str, int]]


def evidence_of(source: Source) -> Tuple[Evidence, List[str]]:
    """Return what was counted for a database, and a sentence for each mistake in its file."""
    path = beside(source, None, USUAL)
    if path is None:
        return {}, []
    name = os.path.basename(path)
    try:
        data, problems = data_file.parse(data_file.read_text(path), name)
    except DataError as problem:
        return {}, [str(problem)]
    found = _figures(data)
    families = {entry['family'] for entry in source.data['entries']}
    wrong = [] if isinstance(data, dict) else ['it is not an object of families']
    wrong += [f'{family}: {why}' for family in (data if isinstance(data, dict) else ())
              for why in _faults(family, found, families)]
    return found, [*problems, *(f'{name}: {sentence}; let measure --write write it' for sentence in wrong)]


def _figures(data: Any) -> Dict[str, Mapping[str, int]]:
    """Return the families whose figures are counts by name."""
    items = data.items() if isinstance(data, dict) else ()
    return {family: figures for family, figures in items
            if isinstance(figures, dict) and set(figures) <= set(FIGURES)
            and all(type(count) is int for count in figures.values())}


def _faults(family: str, found: Evidence, families: Any) -> Iterator[str]:
    if family not in families:
        yield 'no entry has this family'
    if family not in found:
        yield f'its figures are none of {", ".join(FIGURES)} with a whole number each'
        return
    drives, compared, agree = (found[family].get(key, 0) for key in FIGURES)
    if not 0 <= agree <= compared <= drives:
        yield f'{agree} that agree of {compared} compared of {drives} drives cannot be'
