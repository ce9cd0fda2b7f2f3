"""Find the mistakes in the files that the program reads: entries with their samples, limits, files of version 1.6.

One function, `validate`, serves the command, the tests and the continuous
integration. A problem is a whole sentence: where, what, what next.
"""
from __future__ import annotations

import os
from typing import Any, Callable, Collection, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..errors import DataError
from ..knowledge import data_file, drive_database
from ..words import plural
from . import drive_rules, entry_rules, limit_rules, samples
from .evidence import evidence_of
from .sources import (
    Context,
    Source,
    beside,
    context_of,
    read_samples,
    read_source,
    read_sources,
    rewrite,
    unusable,
)

ENTRIES = 'entries'


class Findings(NamedTuple):
    """What was validated, and what came of it."""

    problems: Sequence[str]
    notes: Sequence[str] = ()    # what would be a problem in the shipped file, and is none in a file of a site
    summary: Sequence[str] = ()  # "1 entry", "885 samples"; nothing where a file could not be used at all


class Kind(NamedTuple):
    """A kind of file beside those with entries, each of which is validated by itself."""

    words: str                             # "limits"
    is_this: Callable[[str, Any], bool]    # of the path and the data; None: no data, the file is no JSON
    examine: Callable[[str], Tuple[List[str], List[str]]]  # of the path: problems and summary; raises DataError
    schema: str = ''                       # of which --format knows the layout


# Every kind of file that the program reads has its line here; those of version 1.6 come from its subpackage.
KINDS = (Kind('limits', limit_rules.is_limits, limit_rules.examine, 'thresholds'),)


def main(files: Sequence[str] = (), samples_path: Optional[str] = None, models_path: Optional[str] = None,
         formats: bool = False, write: Callable[[str], object] = print, *, more_kinds: Sequence[Kind] = ()) -> int:
    """Prove the files (without any: the shipped one), print what is wrong, and return the exit code.

    formats: rewrite the files in the usual layout first.
    more_kinds: of files, beside those that this module knows.
    """
    try:
        validated = list(files) or [data_file.shipped('attributes.json')]
        kinds = {path: kind_of(path, (*KINDS, *more_kinds)) for path in validated}
        for path in validated if formats else ():
            write(f'{path}: {_formatted(path, kinds[path])}')
        found = _found(kinds, samples_path, models_path)
    except DataError as problem:
        write(str(problem))
        return 1
    for paths, words, findings in found:
        _print(paths, words, findings, write)
    return 1 if any(findings.problems for _, _, findings in found) else 0


def problems(files: Sequence[str]) -> List[str]:
    """Return a sentence for each mistake in files of a site, of whatever kind."""
    try:
        found = _found({path: kind_of(path, KINDS) for path in files}, None, None)
    except DataError as problem:
        return [str(problem)]
    return [sentence for _, _, findings in found for sentence in findings.problems]


def _found(kinds: Mapping[str, Optional[Kind]], samples_path: Optional[str],
           models_path: Optional[str]) -> List[Tuple[List[str], str, Findings]]:
    """Return files, what they are called, and what came of them; those with entries are validated together."""
    entries = [path for path, kind in kinds.items() if kind is None]
    found = [(entries, ENTRIES, examine(entries, samples_path, models_path))] if entries else []
    return found + [([path], kind.words, _examined(path, kind)) for path, kind in kinds.items() if kind]


def kind_of(path: str, kinds: Sequence[Kind]) -> Optional[Kind]:
    """Return what kind of file this is; None for one with entries, and for what could be anything."""
    try:
        data = data_file.parse(data_file.read_text(path), path)[0]
    except DataError:
        data = None
    return next((kind for kind in kinds if kind.is_this(path, data)), None)


def _formatted(path: str, kind: Optional[Kind]) -> str:
    if kind and not kind.schema:
        return f'{kind.words}, which has no usual layout'
    return 'rewritten' if rewrite(path, kind.schema if kind else 'attributes') else 'has the usual layout already'


def _examined(path: str, kind: Kind) -> Findings:
    try:
        problems, summary = kind.examine(path)
    except DataError as problem:
        return Findings([str(problem)])
    return Findings(problems, (), [kind.words, *summary] if summary else [])


def _print(paths: Sequence[str], words: str, findings: Findings, write: Callable[[str], object]) -> None:
    """Print what came of files of one kind; what could not be used at all is called what it was taken for."""
    for sentence in findings.problems:
        write(sentence)
    for sentence in findings.notes:
        write(f'before you send it: {sentence}')
    found = plural(len(findings.problems), 'problem') if findings.problems else 'no problem'
    summary = findings.summary or [f'taken for {words}']
    rest = [] if findings.summary else ['the rest is validated when that is mended']
    write(f'{", ".join(map(os.path.basename, paths))}: {", ".join([*summary, found, *rest])}')


def validate(files: Sequence[str] = (), samples_path: Optional[str] = None,
             models_path: Optional[str] = None) -> List[str]:
    """Return a sentence for each mistake in *files*; without any, in the shipped file.

    files: one with a "date" is a database of its own; every other one is
        an addition to it, or to the shipped one.
    samples_path: file or folder; None: tests/samples beside the database.
    models_path: CSV file; None: tests/models.csv beside the database.
    """
    return list(examine(list(files) or [data_file.shipped('attributes.json')], samples_path, models_path).problems)


def examine(files: Sequence[str], samples_path: Optional[str], models_path: Optional[str]) -> Findings:
    """Return what `validate` returns, and more about it. Raises DataError where the shipped file cannot be read."""
    validated, problems = read_sources(files)
    is_whole = bool(validated) and validated[0].is_whole
    sources = validated if is_whole else [read_source(data_file.shipped('attributes.json'))[0], *validated]
    problems += [sentence for source in validated for sentence in unusable(source, sources)]
    if problems:
        return Findings(problems)
    evidence, of_evidence = evidence_of(sources[0])
    context = context_of(sources, evidence)
    samples_path = beside(sources[0], samples_path, os.path.join('tests', 'samples'))
    drives, of_samples = read_samples(sources, samples_path)
    models_path = beside(sources[0], models_path, os.path.join('tests', 'models.csv'))
    measured, of_models = samples.measured(models_path) if models_path else ([], [])
    claims = drive_rules.claims_of([*drives, *measured], context.database)
    problems = [*(sentence for source in validated for sentence in entry_rules.file_problems(source, context)),
                *of_samples,
                *of_models, *of_evidence, *drive_rules.drive_problems(claims, context)]
    if drives or samples_path:
        problems += [sentence for source in validated for sentence in drive_rules.coverage_problems(source, claims)]
    problems = list(dict.fromkeys(problems))
    summary = [plural(sum(len(source.data['entries']) for source in validated), 'entry', 'entries'),
               plural(len(drives), 'sample')]
    summary += [plural(len(measured), 'measured model')] if measured else []
    return Findings(problems, _before_sending(sources, [*drives, *measured], problems), summary)


def _before_sending(sources: Sequence[Source], drives: Sequence[samples.Drive], known: Collection[str]) -> List[str]:
    """Return which drives would be claimed wrongly if additions stood in the shipped file, where they are no stronger
    than others.
    """
    shipped, *local = sources
    if not local:
        return []
    both = {**shipped.data, 'entries': [entry for source in sources for entry in source.data['entries']],
            **{key: {name: value for source in sources for name, value in source.data.get(key, {}).items()}
               for key in ('metrics', 'sets')}}
    database = drive_database.SpecDatabase(both)
    context = Context(database, database, (), ())
    entries = [entry for source in local for entry in source.data['entries']]
    concerned = [drive for drive in drives if any(drive_rules.is_for(entry, drive) for entry in entries)]
    claims = drive_rules.claims_of(concerned, database)
    return [sentence for sentence in drive_rules.drive_problems(claims, context) if sentence not in known]
