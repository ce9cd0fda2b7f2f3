"""Check a file of entries and each of its entries, without any drives."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..knowledge import data_errors, decode, drive_database, drive_logs, formatting
from ..knowledge.data_file import shown
from ..knowledge.patterns import ESCAPES_AND_SETS, fits
from ..typed import Json
from . import reading_rules
from .sources import Context, EntriesFile

LITERALS = 4  # least number of literal characters in a model pattern
# Metrics of the standard logs and of the health status, which exist in every database.
STANDARD_METRICS = frozenset(
    [
        standard.metric
        for log in (drive_logs.ATA, drive_logs.NVME, drive_logs.SCSI)
        for standard in log.values()
    ]
    + [metric for _, metric, *_ in drive_logs.NVME_WARNINGS]
    + [
        'smart_status',
        'vendor_threshold',
        'vendor_threshold_past',
        'self_test',
        'self_test_age',
        'reported_uncorrect',
        'logged_data_errors',
        'logged_interface_errors',
        'error_log_count',
        'rated_written',
    ]
)
# Key that only dated facts have -> parts that such a fact needs, so that other people can verify
# it.
DATED = {
    'bytes': ('quote', 'read', 'url of its document'),
    'effect': ('date', 'severity', 'url of its document'),
}
# Matches keys of documents: it finds two in "acme-manual, section 2; acme-errata; measured on 5
# drives".
_KEYS = re.compile('(?:^|; *)([a-z0-9.]+-[a-z0-9.-]+)(?=,|;|$)')


def file_problems(source: EntriesFile, context: Context) -> Iterator[str]:
    """Yield a sentence for each fault of the file as a whole, then for each fault of its parts."""
    yield from (
        f'{source.name}: {problem}'
        for rule in FILE_RULES
        for problem in rule(source, context)
    )
    for entry in source.data['entries']:
        for entry_rule in ENTRY_RULES:
            for where, problem in entry_rule(entry, context):
                yield f'{source.name}: {entry["family"]}{", " + where if where else ""}: {problem}'
    for _path, place, metric, spec in data_errors.written_readings(source.data):
        for reading_rule in reading_rules.RULES:
            for problem in reading_rule(
                spec, decode.parse(spec['from']), context.database.metrics[metric]
            ):
                yield f'{source.name}: {place}: {problem}'
    for advisory in source.data.get('advisories', ()):
        yield from (
            f'{source.name}: advisory {advisory["id"]}: {problem}'
            for problem in _advisory_problems(advisory, context)
        )


def _form(source: EntriesFile, _: Context) -> Iterator[str]:
    """Yield the faults that only a complete database can have."""
    if not source.is_whole:
        return
    if source.text != formatting.formatted(source.data):
        yield (
            'the layout is not the standard one; to rewrite the file, run: '
            'check_smart_attributes validate --format'
        )
    if 'samples' in source.data:
        yield 'samples: every check would load them; move them to tests/samples'


def _repeated_names(source: EntriesFile, _: Context) -> Iterator[str]:
    for key, name in (('entries', 'family'), ('advisories', 'id')):
        names = [item[name] for item in source.data.get(key, ())]
        for item, count in sorted(Counter(names).items()):
            if count > 1:
                yield f'{item}: {count} of the {key} have this {name}; give each its own'


def _citations(source: EntriesFile, context: Context) -> Iterator[str]:
    advice = (
        'add the document there and cite its key and the page or section, or write "measured on" with '
        'the models and the number of drives'
    )
    for place, row in _sources_of(source.data):
        unknown = [
            key for key in _KEYS.findall(row['source']) if key not in context.documents
        ]
        cited = [
            document
            for key, document in context.documents.items()
            if _cites(row['source'], key)
        ]
        if unknown:
            yield f'{place}: "source": "{unknown[0]}" is not one of "documents"; {advice}'
        elif not cited and 'measured on ' not in row['source']:
            yield (
                f'{place}: "source": {shown(row["source"])} does not name one of "documents"; {advice}'
            )
        present = [*row]
        if any('url' in document for document in cited):
            present.append('url of its document')
        for mark, parts in DATED.items():
            for part in parts if mark in row else ():
                if part not in present:
                    yield f'{place}: {part} is missing; add it as the schema describes'


def _cites(citation: str, key: str) -> bool:
    # "measured on linuxhw/EnterpriseDrive" cites linuxhw-enterprisedrive.
    return key in citation.lower().replace('/', '-')


def _sources_of(data: Json) -> Iterator[tuple[str, Json]]:
    """Yield (place, part) for each part of a file that cites a source."""
    owners: list[tuple[str, Json]] = []
    for kind in ('set', 'layout'):
        owners += [
            (f'{kind} {name}', value)
            for name, value in data.get(f'{kind}s', {}).items()
        ]
    owners += [(entry['family'], entry) for entry in data['entries']]
    owners += [(f'advisory {fact["id"]}', fact) for fact in data.get('advisories', ())]
    for name, owner in owners:
        parts = [(name, owner)]
        for kind, group in (
            ('rated_written', 'rated_written'),
            ('attribute', 'attributes'),
        ):
            for key, part in owner.get(group, {}).items():
                parts.append((f'{name}, {kind} {key}', part))
        for place, part in parts:
            if part and 'source' in part:
                yield place, part


def _unused(source: EntriesFile, context: Context) -> Iterator[str]:
    citations = [
        part['source'] for file in context.sources for _, part in _sources_of(file.data)
    ]
    for key in source.data.get('documents', {}):
        if not any(_cites(citation, key) for citation in citations):
            yield f'document {key}: nothing cites it; cite it or remove it'
    entries = [entry for file in context.sources for entry in file.data['entries']]
    used = {name for entry in entries for name in context.database.sets_of(entry)}
    read = {name for entry in entries for name in entry.get('logs', {}).values()}
    for kind, verb, named in (('set', 'uses', used), ('layout', 'reads', read)):
        for name in source.data.get(f'{kind}s', {}):
            if name not in named:
                yield f'{kind} {name}: no entry {verb} it; use it or remove it'


def _layouts(source: EntriesFile, context: Context) -> Iterator[str]:
    """Yield a sentence for each field of a layout that has a wrong unit, or overlaps another
    field.
    """
    for name, layout in source.data.get('layouts', {}).items():
        taken: dict[tuple[int | None, int], str] = {}
        for field in layout['fields']:
            metric = context.database.metrics[field['metric']]
            if metric.is_verdict:
                yield f'layout {name}: {metric.name} is a verdict, not a number; map another metric'
            where = f'layout {name}, {metric.name}'
            units = reading_rules.fitting(metric.name, metric.unit)
            if field.get('unit') and field['unit'] not in units:
                yield f'{where}: "unit": "{field["unit"]}" does not fit; correct it'
            if 'unit' not in field and metric.unit in ('s', 'B'):
                yield f'{where}: "unit" is missing; write the unit of one count'
            if 'share_of' in field:
                continue
            for place in range(field['offset'], field['offset'] + field['length']):
                owner = taken.setdefault((field.get('row'), place), metric.name)
                if owner != metric.name:
                    yield f'{where}: byte {place} belongs to {owner}; correct one of them'
                    break


def _metrics(source: EntriesFile, context: Context) -> Iterator[str]:
    if source is context.sources[0]:
        for name in sorted(STANDARD_METRICS - set(context.database.metrics)):
            yield f'metrics: {name} is missing, but standard logs report it; add it'
    for metric in (
        context.database.metrics[name] for name in source.data.get('metrics', ())
    ):
        if metric.is_verdict and metric.worse != 'low':
            yield (
                f'metric {metric.name}: a failed verdict is 0 and a passed one is 1, so '
                f'"worse" must be "low"'
            )
        yield from (
            f'metric {metric.name}: {problem}'
            for problem in reading_rules.interval_problems(metric.valid)
        )


def _pattern_rules(source: EntriesFile, _: Context) -> Iterator[str]:
    for path, place, pattern in data_errors.patterns(source.data):
        if place.endswith('firmware'):
            continue
        holder: Any = source.data  # the part of the file that holds the pattern
        for key in path:
            holder = holder[key]
        is_alone = 'first' not in holder and 'only' not in holder
        for problem in pattern_problems(pattern, is_alone):
            yield f'{place} {shown(pattern)} {problem}'


def pattern_problems(pattern: str, is_alone: bool = True) -> Iterator[str]:
    """Yield the faults of a pattern for a whole model name, such as "has three literal characters;
    …".

    is_alone: the entry does not have another condition, such as the first attributes of the table.
    """
    literals = literal_characters(pattern)
    if pattern != pattern.strip() or '  ' in pattern:
        yield (
            'has leading, trailing or double blanks, which are removed from each model; remove them'
        )
    if re.search(
        '[A-Za-z0-9 _-][*]', re.sub(ESCAPES_AND_SETS, '.', pattern, flags=re.S)
    ):
        yield 'has * after a character, which repeats that character; for any text, write .*'
    elif literals < LITERALS and is_alone:
        yield (
            f'needs only {literals} literal characters to match; write at least {LITERALS}, or add '
            '"first" or "only", so that it does not match other drives'
        )


# Parts of a pattern that are no literal characters: classes, optional characters, sets,
# repetitions, group openings.
_VARIABLE = re.compile(
    r'\(\?[a-zA-Z]*:|\\[A-Za-z]|\[\^?\]?(?:\\.|[^]\\])*\]|\{[0-9,]+\}|.[?*]'
)


def literal_characters(pattern: str) -> int:
    """Return about how many literal characters a matching name contains."""
    return len(re.findall(r'\\.|[^\\.^$()|*+?]', _VARIABLE.sub('', pattern)))


FILE_RULES = (
    _form,
    _repeated_names,
    _citations,
    _unused,
    _layouts,
    _metrics,
    _pattern_rules,
)


# --- entries -------------------------------------------------------------------------

Problems = Iterator[tuple[str, str]]  # (where in the entry, what is wrong)


def _missing_parts(entry: Json, _: Context) -> Problems:
    if 'source' not in entry:
        yield (
            '',
            '"source" is missing; cite a document, or write "measured on" with the models and the '
            'number of drives',
        )
    guards = (*drive_database.GUARDS, 'kind')
    if entry.get('generic') and not any(guard in entry for guard in guards):
        words = f'a generic entry needs one of {", ".join(guards)}'
        yield '', f'{words}; else it claims every drive'
    if entry.get('generic') and entry.get('fallback'):
        yield '', '"generic" and "fallback" exclude each other; keep one'


def _logs(entry: Json, _: Context) -> Problems:
    if 'logs' in entry and entry.get('kind') != 'nvme':
        yield (
            'logs',
            'only NVMe drives have these logs; set "kind": "nvme" or remove "logs"',
        )
    if len(entry.get('logs', ())) > 1:
        yield (
            'logs',
            'smartctl prints one page per call; name only the page with the most metrics',
        )
    if entry.get('logs') and entry.get('generic'):
        yield (
            'logs',
            'a generic entry matches drives whose logs are not known; remove "logs"',
        )


def _traps(entry: Json, context: Context) -> Problems:
    rows = context.database.rows_of(entry)
    traps = {number for number, row in rows.items() if row.get('trap')}
    honest: set[str] = set()
    for number, row in rows.items():
        if number not in traps:
            honest.update(row.get('readings', ()))
    for number, row in rows.items():
        for metric, specs in row.get('readings', {}).items():
            place = f'attribute {number}, {metric}'
            for spec in specs if isinstance(specs, list) else [specs]:
                for trap in sorted(
                    traps.intersection(decode.parse(spec['from']).attributes)
                ):
                    yield (
                        place,
                        f'this reads attribute {trap}, which is marked as a trap; read another '
                        f'attribute',
                    )
                if number in traps and metric in honest:
                    yield (
                        place,
                        f'this reading of a trap may override a good reading of {metric}; remove '
                        f'it',
                    )


def _contradictions(entry: Json, context: Context) -> Problems:
    """Yield an entry's exclusions and exceptions that contradict its rows."""
    rows = context.database.rows_of(entry)
    for number in entry.get('ignore_thresholds', ()):
        if number not in rows:
            words = f'the entry has no attribute {number}; describe it or remove it'
            yield 'ignore_thresholds', words
    for number, row in rows.items() if 'no_endurance' in entry else ():
        if 'endurance_used' in row.get('readings', ()) and not row.get('trap'):
            yield (
                f'attribute {number}, endurance_used',
                'the entry has "no_endurance"; remove it or this reading',
            )


ENTRY_RULES = (
    _missing_parts,
    _logs,
    _traps,
    _contradictions,
)


def _advisory_problems(advisory: Json, context: Context) -> Iterator[str]:
    for name in advisory.get('too_late', ()):
        if name not in context.database.metrics:
            yield f'"too_late": {name} is not a metric'
    fixed = advisory.get('fixed_in')
    if fixed and fits(advisory.get('firmware', '.*'), fixed):
        yield (
            f'firmware: {fixed} is listed as fixed, but the pattern of affected '
            f'revisions matches it; exclude {fixed}'
        )
