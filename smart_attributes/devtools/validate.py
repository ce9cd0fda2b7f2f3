"""Find mistakes in the files that the program reads: entries with samples, and limits.

The command, the tests and continuous integration use `examine`. Each problem is a complete
sentence: place, fault, next step.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterator, Sequence
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
from ..typed import Json, MutableJson
from ..wording import plural
from ..words import visible
from . import drive_rules, entry_rules, sources
from .sources import Claim, Context, EntriesFile

ENTRIES = 'entries'
LIMITS = 'limits'


class Validation(NamedTuple):
    """The result of a validation of files of one kind."""

    files: Sequence[str]
    kind: str  # ENTRIES or LIMITS
    problems: Sequence[str]
    # "1 entry", "885 samples"; empty if a part could not be used
    summary: Sequence[str] = ()


def is_limits(path: str) -> bool:
    """Return whether a file holds limits. Any file in a folder thresholds.d does; elsewhere, a file
    does if it has a key of limits, and not "entries". An unreadable file elsewhere does not.
    """
    if os.path.basename(os.path.dirname(os.path.abspath(path))) == 'thresholds.d':
        return True
    try:
        data = data_file.parse(data_file.read_text(path), path)
    except DataError:
        return False
    if not isinstance(data, dict) or 'entries' in data:
        return False
    return 'overrides' in data or 'metrics' in data


def examine_limits(path: str) -> Validation:
    """Return the mistakes in a file of limits, and its summary; the summary is empty if a part is
    unusable.
    """
    name = os.path.basename(path)
    try:
        data = data_file.parse(data_file.read_text(path), name)
    except DataError as problem:
        return Validation([path], LIMITS, [str(problem)])
    problems = schema_errors.schema_problems(data, 'thresholds', name)
    summary: Sequence[str] = ()
    if problems:
        data = site_file.sound(data, 'thresholds')
    else:
        metrics = data.get('metrics', ())
        overrides = data.get('overrides', ())
        summary = (
            LIMITS,
            plural(len(metrics), 'metric'),
            plural(len(overrides), 'override'),
        )
    database = SpecDatabase(shipped_data.content('attributes.json'))
    shipped = shipped_data.content('thresholds/default.json')
    mistakes = data_errors.of_limits(
        data,
        database.metrics,
        groups=shipped.get('groups', ()),
        families={entry['family'] for entry in database.entries()},
    )
    sentences = [mistake.sentence for mistake in mistakes]
    for sentence in (*sentences, *_contradictions(data), *_ended(data)):
        problems.append(f'{name}: {sentence}')
    return Validation([path], LIMITS, problems, summary)


def _contradictions(data: Json) -> Iterator[str]:
    """Yield a sentence for each metric for which two overrides of the same drives have different
    limits.
    """
    overrides = enumerate(data.get('overrides', ()), 1)
    for (first, earlier), (second, later) in itertools.combinations(overrides, 2):
        if earlier['for'] != later['for']:
            continue
        limits = earlier.get('metrics', {})
        other_limits = later.get('metrics', {})
        for metric in limits.keys() & other_limits:
            if limits[metric] != other_limits[metric]:
                yield (
                    f'the overrides {first} and {second}, for {json.dumps(later["for"])}, set '
                    f'different limits for {metric}; remove one of them'
                )


def _ended(data: Json) -> Iterator[str]:
    """Yield a sentence for each override whose last day has passed."""
    today = time.strftime('%Y-%m-%d')
    for override in data.get('overrides', ()):
        if override.get('until', today) < today:
            selector = thresholds.selector_of(override)
            yield (
                f'override for {selector} {override["for"][selector]}: it ended on '
                f'{override["until"]} and has no effect; remove it, or set a later date'
            )


def main(files: Sequence[str] = (), formats: bool = False) -> int:
    """Validate the files, or the shipped file by default, print the mistakes, and return the exit
    code: 1 if there are any, else 0.

    formats: rewrite the files in the usual layout first.
    """
    try:
        paths = list(files) or [shipped_data.path('attributes.json')]
        if formats:
            for path in paths:
                schema = 'thresholds' if is_limits(path) else 'attributes'
                is_new = sources.rewrite(path, schema)
                words = 'rewritten' if is_new else 'has the standard layout already'
                print(visible(f'{path}: {words}'))
        validations = _validations(paths)
    except DataError as problem:
        print(visible(str(problem)))
        return 1
    for validation in validations:
        for line in _lines(validation):
            print(visible(line))
    slow = patterns.too_slow()
    for line in slow:
        print(visible(line))
    return 1 if slow or any(validation.problems for validation in validations) else 0


def problems(files: Sequence[str]) -> list[str]:
    """Return a sentence for each mistake in a site's files of any kind.

    Raises DataError if a shipped file cannot be read.
    """
    return [
        sentence
        for validation in _validations(files)
        for sentence in validation.problems
    ]


def _validations(files: Sequence[str]) -> list[Validation]:
    """Return one result for all files with entries, if there are any, and one for each file of
    limits.

    Raises DataError if the shipped file cannot be read.
    """
    paths = list(dict.fromkeys(files))
    limits = list(filter(is_limits, paths))
    entries = [path for path in paths if path not in limits]
    result = [examine(entries)] if entries else []
    return result + [examine_limits(path) for path in limits]


def _lines(validation: Validation) -> Iterator[str]:
    """Yield the problems, and a line that sums up what was validated."""
    yield from validation.problems
    count = len(validation.problems)
    counted = plural(count, 'problem') if count else 'no problem'
    # Without a summary, there is at least one problem: a part that could not be used.
    if validation.summary:
        summary = [*validation.summary, counted]
    else:
        summary = [
            f'read as {validation.kind}',
            counted,
            'fix this first, then validate again to find further problems',
        ]
    yield f'{", ".join(map(os.path.basename, validation.files))}: {", ".join(summary)}'


def examine(files: Sequence[str]) -> Validation:
    """Validate *files*, and return a sentence for each mistake with a summary.

    files: a file with a "date" is a complete database; all others are additions to it or to the
    shipped database. Samples and measured models are those beside the database, in a checkout.
    Raises DataError if the shipped file cannot be read.
    """
    validated, faults = sources.read_sources(files)
    all_files = validated  # complete databases come first
    if not any(source.is_whole for source in validated):
        shipped, _ = sources.read_source(shipped_data.path('attributes.json'))
        all_files = [shipped, *validated]
    everything = [source.data for source in all_files]
    for source in validated:  # mistakes that would break a check
        for mistake in data_errors.of_entries(source.data, everything):
            faults.append(f'{source.name}: {mistake.sentence}')
    if faults:  # the rules need sound entries
        return Validation(files, ENTRIES, faults)
    context = _context(all_files)
    tests = os.path.join(os.path.dirname(os.path.abspath(all_files[0].path)), 'tests')
    drives, sample_faults = sources.read_samples(
        all_files, os.path.join(tests, 'samples')
    )
    models, model_faults = sources.measured(os.path.join(tests, 'models.csv'))
    claims = [
        Claim(drive, context.database.claims(drive.identity, drive.attributes))
        for drive in (*drives, *models)
    ]
    for source in validated:
        faults += entry_rules.file_problems(source, context)
    faults += [
        *sample_faults,
        *model_faults,
        *drive_rules.drive_problems(claims, context),
    ]
    if drives:
        for source in validated:
            faults += drive_rules.coverage_problems(source, claims)
    # entries of the given files, samples of the whole database
    count = sum(len(source.data['entries']) for source in validated)
    summary = [plural(count, 'entry', 'entries'), plural(len(drives), 'sample')]
    if models:
        summary.append(plural(len(models), 'measured model'))
    return Validation(files, ENTRIES, list(dict.fromkeys(faults)), summary)


def _context(files: Sequence[EntriesFile]) -> Context:
    """Return what the rules need. files: the complete database first."""
    shipped, *local = files
    documents: MutableJson = {}
    for source in files:
        documents.update(source.data.get('documents', {}))
    return Context(
        SpecDatabase(shipped.data, [(source.name, source.data) for source in local]),
        SpecDatabase(shipped.data),
        sources=files,
        documents=documents,
    )
