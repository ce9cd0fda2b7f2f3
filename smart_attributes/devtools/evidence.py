"""Read the counts that measure made for each family; the file is next to the samples, as no check reads it."""
from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ..errors import DataError
from ..knowledge import data_file
from .sources import EntriesFile, beside

USUAL = os.path.join('tests', 'evidence.json')  # next to attributes.json
FIGURES = ('drives', 'compared', 'agree')

# by family; "compared" counts worn drives, "agree" those that confirm the entry
Evidence = Mapping[str, Mapping[str, int]]


def evidence_of(source: EntriesFile) -> tuple[Evidence, list[str]]:
    """Return the evidence for a database, and a sentence for each mistake in the evidence file."""
    path = beside(source, None, USUAL)
    if path is None:
        return {}, []
    name = os.path.basename(path)
    try:
        data, problems = data_file.parse(data_file.read_text(path), name)
    except DataError as problem:
        return {}, [str(problem)]
    if not isinstance(data, dict):
        return {}, [*problems, f'{name}: it is not an object of families; to recreate it, use measure --write']
    families = {entry['family'] for entry in source.data['entries']}
    problems += [f'{name}: {family}: {fault}; to recreate it, use measure --write'
                 for family, figures in data.items() for fault in _faults(family, figures, families)]
    return {family: figures for family, figures in data.items() if _is_counts(figures)}, problems


def _is_counts(figures: Any) -> bool:
    return (isinstance(figures, dict) and set(figures) <= set(FIGURES)
            and all(type(count) is int for count in figures.values()))


def _faults(family: str, figures: Any, families: Collection[str]) -> Iterator[str]:
    if family not in families:
        yield 'no entry has this family'
    if not _is_counts(figures):
        yield f'its figures must be {", ".join(FIGURES)}, each a whole number'
        return
    drives, compared, agree = (figures.get(key, 0) for key in FIGURES)
    if not 0 <= agree <= compared <= drives:
        yield f'impossible figures: {agree} agree, {compared} compared, {drives} drives'
