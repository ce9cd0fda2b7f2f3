"""Read files with entries for validation."""
from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import DataError
from ..knowledge import data_errors, data_file, formatting, schema_errors, site_file
from ..knowledge.drive_database import SpecDatabase
from ..typed import Json
from . import samples

LOOKED_AT = 1000       # first characters to look at in a file of unknown kind


class EntriesFile(NamedTuple):
    """The content of a file with entries."""

    name: str
    path: str
    text: str
    data: Json

    @property
    def is_whole(self) -> bool:
        """Return whether this is a complete database, not an addition to the shipped one."""
        return 'date' in self.data


class Claim(NamedTuple):
    """A drive with its matching entries of the highest rank."""

    drive: samples.SampleDrive
    winners: Sequence[tuple[str, Json]]


class Context(NamedTuple):
    """Data that the rules may use in addition to the file that they validate."""

    database: SpecDatabase
    shipped: SpecDatabase              # without additions
    sources: Sequence[EntriesFile]     # the shipped file first
    documents: Collection[str]
    evidence: Mapping[str, Json] = {}  # counts made by measure, by family


def read_sources(paths: Sequence[str]) -> tuple[list[EntriesFile], list[str]]:
    """Return the valid parts of the files, complete databases first, and a sentence for each schema error."""
    sources, problems = [], []
    for path in paths:
        try:
            source, faults = read_source(path)
        except DataError as problem:
            problems.append(str(problem))
        else:
            problems += faults
            sources.append(source._replace(data=site_file.sound(source.data, 'attributes')) if faults else source)
    return sorted(sources, key=lambda source: not source.is_whole), problems


def read_source(path: str) -> tuple[EntriesFile, list[str]]:
    """Return a file and its schema errors as sentences. Raises DataError if it cannot be read or is not JSON."""
    name, text = os.path.basename(path), data_file.read_text(path)
    if text.startswith('smartctl ') or '"json_format_version"' in text[:LOOKED_AT]:
        raise DataError(f'{name} is output of smartctl, not a database entry; to create one, run: '
                        f'check_smart_attributes draft --report {path}')
    data, problems = data_file.parse(text, name)
    return EntriesFile(name, path, text, data), problems or schema_errors.schema_problems(data, 'attributes', name)


def unusable(source: EntriesFile, sources: Sequence[EntriesFile]) -> Iterator[str]:
    """Yield a sentence for each mistake that would break a check."""
    names = [{name for other in sources for name in other.data.get(key, ())} for key in ('metrics', 'sets', 'layouts')]
    return (f'{source.name}: {fault.sentence}' for fault in data_errors.of_entries(source.data, *names))


def context_of(sources: Sequence[EntriesFile], evidence: Mapping[str, Json]) -> Context:
    """Return the data that the rules may use."""
    shipped, *local = sources
    documents = {key for source in sources for key in source.data.get('documents', ())}
    database = SpecDatabase(shipped.data, [(source.name, source.data) for source in local])
    return Context(database, SpecDatabase(shipped.data), sources, documents, evidence)


def beside(source: EntriesFile, path: str | None, usual: str) -> str | None:
    """Return *path*, or the path of the usual file or folder next to the database in a checkout; else None."""
    place = os.path.join(os.path.dirname(os.path.abspath(source.path)), usual)
    return path or (place if os.path.exists(place) else None)


def read_samples(sources: Sequence[EntriesFile], path: str | None) -> samples.Result:
    """Return the samples in the files and those in *path*, a separate file or folder."""
    kinds = {entry['family']: entry['kind'] for source in sources for entry in source.data['entries']
             if 'kind' in entry}
    results = [samples.drives_of(source.name, source.data.get('samples', ()), kinds) for source in sources]
    results += [samples.read(path, kinds)] if path else []
    return ([drive for drives, _ in results for drive in drives],
            [problem for _, problems in results for problem in problems])


def quoted(value: Any) -> str:
    """Return a value as JSON on one line."""
    text = json.dumps(value)
    return text if len(text) <= formatting.WIDTH else text[:formatting.WIDTH] + '…"'


def rewrite(path: str, schema_name: str = 'attributes') -> bool:
    """Rewrite the file in the usual layout, and return whether it changed.

    Raises DataError if the file cannot be read or written, or does not fit its schema.
    """
    text = data_file.read_text(path)
    usual = formatting.formatted(schema_errors.checked(text, schema_name, os.path.basename(path)), schema_name)
    if usual != text:
        try:
            _replace(os.path.realpath(path), usual)
        except OSError as error:
            raise DataError(f'{path}: cannot be written: {error.strerror}') from None
    return usual != text


def _replace(path: str, text: str) -> None:
    """Replace the content of a file with *text* in one step, so that no check reads a half-written file."""
    with tempfile.NamedTemporaryFile('w', encoding='utf-8', dir=os.path.dirname(path), delete=False) as file:
        try:
            file.write(text)
            file.flush()
            os.chmod(file.name, os.stat(path).st_mode & 0o777)
            os.replace(file.name, path)
        except OSError:
            os.unlink(file.name)
            raise


# --- the counts that measure made for each family ---------------------------------------------------

EVIDENCE = os.path.join('tests', 'evidence.json')  # next to attributes.json; no check reads it
FIGURES = ('drives', 'compared', 'agree')
_ADVICE = 'to recreate it, run: python -m tools.measure DRIVES --accuracy tests/evidence.json'

# by family; "compared" counts worn drives, "agree" those that confirm the entry
Evidence = Mapping[str, Mapping[str, int]]


def evidence_of(source: EntriesFile) -> tuple[Evidence, list[str]]:
    """Return the evidence for a database, and a sentence for each mistake in the evidence file."""
    path = beside(source, None, EVIDENCE)
    if path is None:
        return {}, []
    name = os.path.basename(path)
    try:
        data, problems = data_file.parse(data_file.read_text(path), name)
    except DataError as problem:
        return {}, [str(problem)]
    if not isinstance(data, dict):
        return {}, [*problems, f'{name}: it is not an object of families; {_ADVICE}']
    families = {entry['family'] for entry in source.data['entries']}
    problems += [f'{name}: {family}: {fault}; {_ADVICE}'
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
