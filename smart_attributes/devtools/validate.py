"""Find mistakes in the files that the program reads: entries with samples, and limits.

The command, the tests and continuous integration use `examine`. Each problem is a complete
sentence: place, fault, next step.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..errors import DataError
from ..knowledge import (
    data_errors,
    data_file,
    patterns,
    schema_errors,
    shipped_data,
    site_file,
    thresholds,
)
from ..knowledge.drive_database import SpecDatabase
from ..typed import Json
from ..wording import plural
from . import drive_rules, entry_rules, sources
from .sources import Context, beside

ENTRIES, LIMITS = 'entries', 'limits'
LIMITS_FOLDER = 'thresholds.d'


class Validation(NamedTuple):
    """The result of a validation."""

    problems: Sequence[str]
    summary: Sequence[str] = ()  # "1 entry", "885 samples"; empty if a file was unusable


def is_limits(path: str) -> bool:
    """Return whether a file holds limits, or is in a folder for limits, instead of entries."""
    try:
        data = data_file.parse(data_file.read_text(path), path)
    except DataError:
        data = None
    if isinstance(data, dict) and 'entries' not in data and data.keys() & {'overrides', 'metrics'}:
        return True
    return os.path.basename(os.path.dirname(os.path.abspath(path))) == LIMITS_FOLDER


def examine_limits(path: str) -> Validation:
    """Return the mistakes in a file of limits, and its summary; the summary is empty if a part is
    unusable.
    """
    name = os.path.basename(path)
    try:
        data = data_file.parse(data_file.read_text(path), name)
    except DataError as problem:
        return Validation([str(problem)])
    problems = schema_errors.schema_problems(data, 'thresholds', name)
    if problems:
        data = site_file.sound(data, 'thresholds')
    database = SpecDatabase(shipped_data.load(shipped_data.path('attributes.json')))
    groups = shipped_data.load(shipped_data.path('thresholds/default.json')).get('groups', ())
    families = {entry['family'] for entry in database.entries()}
    mistakes = data_errors.of_limits(
        data, database.units, groups=groups, families=families, worse=database.worse
    )
    faults = [*(fault.sentence for fault in mistakes), *_contradictions(data), *_ended(data)]
    summary = [
        LIMITS,
        plural(len(data.get('metrics', ())), 'metric'),
        plural(len(data.get('overrides', ())), 'override'),
    ]
    return Validation(
        [*problems, *(f'{name}: {sentence}' for sentence in faults)],
        summary=[] if problems else summary,
    )


def _contradictions(data: Json) -> Iterator[str]:
    for number, override in enumerate(data.get('overrides', ()), 1):
        for other_number, earlier in enumerate(data['overrides'][: number - 1], 1):
            ours, theirs = override.get('metrics', {}), earlier.get('metrics', {})
            for metric in set(ours) & set(theirs) if earlier['for'] == override['for'] else ():
                if ours[metric] != theirs[metric]:
                    yield (
                        f'overrides {other_number} and {number}, for '
                        f'{json.dumps(override["for"])}, disagree about '
                        f'{metric}; remove one of them'
                    )


def _ended(data: Json) -> Iterator[str]:
    today = time.strftime('%Y-%m-%d')
    for override in data.get('overrides', ()):
        if override.get('until', today) < today:
            selector = thresholds.rank(override)
            yield (
                f'override for {selector} {override["for"][selector]}: it ended on '
                f'{override["until"]} and has no '
                f'effect; remove it, or set a later date'
            )


def main(
    files: Sequence[str] = (),
    samples_path: str | None = None,
    models_path: str | None = None,
    formats: bool = False,
    write: Callable[[str], object] = print,
) -> int:
    """Validate the files, or the shipped file by default, print the mistakes, and return the exit
    code.

    formats: rewrite the files in the usual layout first.
    """
    try:
        paths = list(files) or [shipped_data.path('attributes.json')]
        limits = list(filter(is_limits, paths))
        for path in paths if formats else ():
            is_new = sources.rewrite(path, 'thresholds' if path in limits else 'attributes')
            write(f'{path}: {"rewritten" if is_new else "has the standard layout already"}')
        validations = _validations(
            paths, limits, samples_path=samples_path, models_path=models_path
        )
    except DataError as problem:
        write(str(problem))
        return 1
    for of_kind, words, validation in validations:
        _print(of_kind, words, validation=validation, write=write)
    slow = patterns.too_slow()
    for sentence in slow:
        write(sentence)
    return 1 if slow or any(validation.problems for _, _, validation in validations) else 0


def problems(files: Sequence[str]) -> list[str]:
    """Return a sentence for each mistake in a site's files of any kind."""
    try:
        validations = _validations(files, list(filter(is_limits, files)))
    except DataError as problem:
        return [str(problem)]
    return [sentence for _, _, validation in validations for sentence in validation.problems]


def _validations(
    paths: Sequence[str],
    limits: Sequence[str],
    samples_path: str | None = None,
    models_path: str | None = None,
) -> list[tuple[list[str], str, Validation]]:
    """Return files, the name of their kind, and the result.

    Files with entries are validated together. limits: the files of *paths* that hold limits.
    """
    entries = [path for path in dict.fromkeys(paths) if path not in limits]
    result = [(entries, ENTRIES, examine(entries, samples_path, models_path))] if entries else []
    return result + [([path], LIMITS, examine_limits(path)) for path in dict.fromkeys(limits)]


def _print(
    paths: Sequence[str],
    words: str,
    validation: Validation,
    write: Callable[[str], object],
) -> None:
    """Print the result for files of one kind; *words* names the kind that was assumed for
    unusable files.
    """
    for sentence in validation.problems:
        write(sentence)
    number = plural(len(validation.problems), 'problem') if validation.problems else 'no problem'
    summary = [*validation.summary, number]
    if not validation.summary:
        advice = 'fix this first, then validate again to find further problems'
        summary = [f'read as {words}', number, advice]
    write(f'{", ".join(map(os.path.basename, paths))}: {", ".join(summary)}')


def examine(
    files: Sequence[str] = (), samples_path: str | None = None, models_path: str | None = None
) -> Validation:
    """Validate *files*, or the shipped file by default, and return a sentence for each mistake with
    a summary.

    files: a file with a "date" is a complete database; all others are additions to it or to the
    shipped database.
    samples_path: file or folder; None: tests/samples next to the database.
    models_path: CSV file; None: tests/models.csv next to the database.
    Raises DataError if the shipped file cannot be read.
    """
    shipped = shipped_data.path('attributes.json')
    validated, faults = sources.read_sources(list(files) or [shipped])
    is_whole = bool(validated) and validated[0].is_whole
    all_files = validated if is_whole else [sources.read_source(shipped)[0], *validated]
    names = [
        {name for source in all_files for name in source.data.get(key, ())}
        for key in ('metrics', 'sets', 'layouts')
    ]
    for source in validated:  # mistakes that would break a check
        mistakes = data_errors.of_entries(source.data, *names)
        faults += [f'{source.name}: {mistake.sentence}' for mistake in mistakes]
    if faults:
        return Validation(faults)
    samples_path = beside(all_files[0], samples_path, os.path.join('tests', 'samples'))
    models_path = beside(all_files[0], models_path, os.path.join('tests', 'models.csv'))
    drives, of_samples = sources.read_samples(all_files, samples_path)
    models, of_models = sources.measured(models_path) if models_path else ([], [])
    first, *local = all_files
    context = Context(
        SpecDatabase(first.data, [(source.name, source.data) for source in local]),
        SpecDatabase(first.data),
        sources=all_files,
        documents=dict(
            item for source in all_files for item in source.data.get('documents', {}).items()
        ),
    )
    claims = drive_rules.claims_of([*drives, *models], context.database)
    for source in validated:
        faults += entry_rules.file_problems(source, context)
    faults += [*of_samples, *of_models, *drive_rules.drive_problems(claims, context)]
    if drives or samples_path:
        for source in validated:
            faults += drive_rules.coverage_problems(source, claims)
    count = sum(len(source.data['entries']) for source in validated)
    summary = [plural(count, 'entry', 'entries'), plural(len(drives), 'sample')]
    if models:
        summary.append(plural(len(models), 'measured model'))
    return Validation(list(dict.fromkeys(faults)), summary)
