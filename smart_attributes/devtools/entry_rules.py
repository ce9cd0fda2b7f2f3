"""Check a file of entries and each of its entries, without any drives."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ..knowledge import data_errors, decode, drive_database, drive_logs, formatting
from ..knowledge.data_file import shown
from ..knowledge.patterns import ESCAPES_AND_SETS, fits
from ..knowledge.thresholds import several
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
# Key that only dated facts have -> keys that such a fact needs, so that other people can verify it,
# beside the URL of its document.
DATED = {'bytes': ('quote', 'read'), 'effect': ('date', 'severity')}


def file_problems(source: EntriesFile, context: Context) -> Iterator[str]:
    """Yield a sentence for each fault of the file as a whole, then for each fault of its parts."""
    for rule in FILE_RULES:
        for problem in rule(source, context):
            yield f'{source.name}: {problem}'
    for entry in source.data['entries']:
        for entry_rule in ENTRY_RULES:
            for where, problem in entry_rule(entry, context):
                place = f'{entry["family"]}, {where}' if where else entry['family']
                yield f'{source.name}: {place}: {problem}'
    for _path, place, metric, spec in data_errors.written_readings(source.data):
        formula = decode.parse(spec['from'])
        for reading_rule in reading_rules.RULES:
            for problem in reading_rule(
                spec, formula, context.database.metrics[metric]
            ):
                yield f'{source.name}: {place}: {problem}'
    for _path, place, advisory in data_errors.parts(source.data, 'advisories'):
        for problem in _advisory_problems(advisory, context):
            yield f'{source.name}: {place}: {problem}'


def _form(source: EntriesFile, _: Context) -> Iterator[str]:
    """Yield the faults that only a complete database can have; an addition may have any layout."""
    if not source.is_whole:
        return
    if source.text != formatting.formatted(source.data):
        yield (
            'the layout is not the standard one; to rewrite the file, run: '
            'check_smart_attributes validate --format'
        )
    if 'samples' in source.data:
        yield '"samples" would be loaded by every check; move them to tests/samples'


def _repeated_names(source: EntriesFile, _: Context) -> Iterator[str]:
    """Yield each family that several entries have, and each ID that several advisories have."""
    for key, name in (('entries', 'family'), ('advisories', 'id')):
        counts = Counter(part[name] for part in source.data.get(key, ()))
        for repeated, count in sorted(counts.items()):
            if count > 1:
                yield f'{repeated}: {count} of the {key} have this {name}; give each its own'


def _citations(source: EntriesFile, context: Context) -> Iterator[str]:
    """Yield the faults of each part of a file that cites a source: a document that is not listed; a
    source that is neither a document nor a measurement; what the part lacks as a dated fact.
    """
    advice = (
        'add the document to "documents", and cite it by its key, with the page or section; for a '
        'measurement, write "measured on" with the models and the number of drives'
    )
    for place, part in _sources_of(source.data):
        citation = part['source']
        unknown = [
            key for key in _likely_keys(citation) if key not in context.documents
        ]
        # A listed document can be cited at any place in the source, not only as a likely key.
        cited = [
            document
            for key, document in context.documents.items()
            if _cites(citation, key)
        ]
        if unknown:
            yield f'{place}: "source" names "{unknown[0]}", which is not in "documents"; {advice}'
        elif not cited and 'measured on ' not in citation:
            yield (
                f'{place}: "source": {shown(citation)} is not listed in "documents"; {advice}'
            )
        for what in _missing(part, cited):
            yield f'{place}: {what} is missing; add it as the schema describes'


def _likely_keys(citation: str) -> list[str]:
    """Return the words of a source that were probably meant as keys of documents, also misspelt
    ones: acme-manual and acme-erata of "acme-manual, section 2; acme-erata; measured on 5 drives".
    """
    return re.findall('(?:^|; *)([a-z0-9.]+-[a-z0-9.-]+)(?=,|;|$)', citation)


def _missing(part: Json, cited: Sequence[Json]) -> Iterator[str]:
    """Yield what a dated fact lacks; nothing for any other part. cited: the documents that the part
    cites.
    """
    for dated_key, needed_keys in DATED.items():
        if dated_key not in part:
            continue
        for key in needed_keys:
            if key not in part:
                yield key
        if not any('url' in document for document in cited):
            yield 'url of its document'


def _cites(citation: str, key: str) -> bool:
    """Return whether a source contains the key of a document at any place: "measured on
    linuxhw/EnterpriseDrive" contains linuxhw-enterprisedrive.
    """
    return key in citation.lower().replace('/', '-')


def _sources_of(data: Json) -> Iterator[tuple[str, Json]]:
    """Yield each part of a file that cites a source, after the words that name its place:
    "Intel 730, attribute 233".
    """
    places: list[tuple[str, Json]] = []
    for kind in ('sets', 'layouts', 'entries', 'advisories'):
        for _, name, owner in data_errors.parts(data, kind):
            places.append((name, owner))
            for key, part in owner.get('rated_written', {}).items():
                places.append((f'{name}, rated_written {key}', part))
            for number, part in owner.get('attributes', {}).items():
                places.append((f'{name}, attribute {number}', part))
    for place, part in places:
        # null: an attribute that the entry does not use
        if part and 'source' in part:
            yield place, part


def _unused(source: EntriesFile, context: Context) -> Iterator[str]:
    """Yield each document, set and layout of a file that no file uses."""
    citations = []
    sets_used: set[str] = set()
    layouts_used = set()
    for file in context.sources:
        citations += [part['source'] for _, part in _sources_of(file.data)]
        for entry in file.data['entries']:
            sets_used.update(context.database.sets_of(entry))
            layouts_used.update(entry.get('logs', {}).values())
    for key in source.data.get('documents', {}):
        if not any(_cites(citation, key) for citation in citations):
            yield f'the document "{key}" is not cited; cite it or remove it'
    for kind, verb, used in (
        ('set', 'uses', sets_used),
        ('layout', 'reads', layouts_used),
    ):
        for name in source.data.get(f'{kind}s', {}):
            if name not in used:
                yield f'no entry {verb} the {kind} "{name}"; use it or remove it'


def _layouts(source: EntriesFile, context: Context) -> Iterator[str]:
    """Yield a sentence for each field of a layout that has a wrong unit or metric, or overlaps
    another field.
    """
    for _path, place, layout in data_errors.parts(source.data, 'layouts'):
        owners: dict[tuple[int | None, int], str] = {}  # (row, byte) -> metric
        for field in layout['fields']:
            metric = context.database.metrics[field['metric']]
            if metric.is_verdict:
                yield f'{place}: {metric.name} is a verdict, not a number; use another metric'
            where = f'{place}, {metric.name}'
            unit = field.get('unit')
            if unit and unit not in reading_rules.fitting(metric.name, metric.unit):
                yield f'{where}: "unit": "{unit}" is not a unit of this metric; correct it'
            if 'unit' not in field and metric.unit in ('s', 'B'):
                yield f'{where}: "unit" is missing; write what a raw 1 stands for, such as "h" or "32MiB"'
            if 'share_of' in field:  # it reads the bytes of another field
                continue
            for byte in range(field['offset'], field['offset'] + field['length']):
                # the first metric that uses the byte
                owner = owners.setdefault((field.get('row'), byte), metric.name)
                if owner != metric.name:
                    yield (
                        f'{where}: byte {byte} is also part of {owner}; correct one of the two fields'
                    )
                    break


def _metrics(source: EntriesFile, context: Context) -> Iterator[str]:
    """Yield each standard metric that the database lacks, if the file is a complete one, and the
    faults of the metrics that the file defines.
    """
    if source.is_whole:
        for name in sorted(STANDARD_METRICS - set(context.database.metrics)):
            yield f'metrics: {name} is missing, but standard logs report it; add it'
    for name in source.data.get('metrics', ()):
        metric = context.database.metrics[name]
        if metric.is_verdict and metric.worse != 'low':
            yield (
                f'metric {name}: a verdict is 0 for failed and 1 for passed, so lower is worse: set "worse" to "low"'
            )
        for problem in reading_rules.interval_problems(metric.valid):
            yield f'metric {name}: {problem}'


def _pattern_rules(source: EntriesFile, _: Context) -> Iterator[str]:
    """Yield the faults of the patterns for models in each entry and each advisory of a file."""
    for path, place, field, pattern in data_errors.patterns(source.data):
        if field == 'firmware':
            continue
        kind, number = path  # "entries" or "advisories", and the index
        owner = source.data[kind][number]
        # such an entry selects drives by their attributes, too, so its patterns may be general
        may_be_general = 'first' in owner or 'only' in owner
        for problem in pattern_problems(pattern, may_be_general):
            yield f'{place} {shown(pattern)} {problem}'


def pattern_problems(pattern: str, may_be_general: bool) -> Iterator[str]:
    """Yield the faults of a pattern for a whole model name, such as "has three literal characters;
    …".

    may_be_general: the entry also has a condition on the drive's attributes, such as "first".
    """
    if pattern != pattern.strip() or '  ' in pattern:
        yield (
            'has leading, trailing or double spaces, but the plugin removes such spaces from each '
            'model that it compares; remove them here, too'
        )
    literals = literal_characters(pattern)
    plain = re.sub(ESCAPES_AND_SETS, '.', pattern, flags=re.S)
    if re.search('[A-Za-z0-9 _-][*]', plain):
        yield 'has * after a character, so it matches repeats of that character; for any text, write .*'
    elif literals < LITERALS and not may_be_general:
        yield (
            f'is too general, because it has only {literals} literal characters; write at least '
            f'{LITERALS}, or add "first" or "only" to the entry'
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
    """Yield the faults of the keys that say where an entry comes from and which drives it matches."""
    if 'source' not in entry:
        yield (
            '',
            '"source" is missing; cite a document, or write "measured on" with the models and the '
            'number of drives',
        )
    guards = (*drive_database.GUARDS, 'kind')
    is_generic = entry.get('generic')
    if is_generic and not any(guard in entry for guard in guards):
        words = f'a generic entry needs one of {", ".join(guards)}'
        yield '', f'{words}; otherwise, it matches every drive'
    if is_generic and entry.get('fallback'):
        yield '', '"generic" and "fallback" exclude each other; keep one'


def _logs(entry: Json, _: Context) -> Problems:
    """Yield the faults of the key "logs", which names pages of NVMe logs."""
    if 'logs' in entry and entry.get('kind') != 'nvme':
        yield (
            'logs',
            'only NVMe drives have these logs; set "kind": "nvme" or remove "logs"',
        )
    logs = entry.get('logs', ())
    if len(logs) > 1:
        yield (
            'logs',
            'smartctl prints one page per call; name only the page with the most metrics',
        )
    if logs and entry.get('generic'):
        yield (
            'logs',
            'a generic entry matches drives whose logs are not known; remove "logs"',
        )


def _traps(entry: Json, context: Context) -> Problems:
    """Yield each reading that uses an attribute marked as a trap, and each reading of a trap that
    may override a good one.
    """
    rows = context.database.rows_of(entry)
    traps = {number for number, row in rows.items() if row.get('trap')}
    good = set()  # metrics that other attributes give
    for number, row in rows.items():
        if number not in traps:
            good.update(row.get('readings', ()))
    for number, row in rows.items():
        for metric, specs in row.get('readings', {}).items():
            place = f'attribute {number}, {metric}'
            for spec in several(specs):
                formula = decode.parse(spec['from'])
                for trap in sorted(traps.intersection(formula.attributes)):
                    yield (
                        place,
                        f'this reads attribute {trap}, which is marked as misleading; read another attribute',
                    )
                if number in traps and metric in good:
                    yield (
                        place,
                        f'this attribute is misleading, and reading it may override a good value of {metric}; '
                        f'remove "{metric}" from its "readings"',
                    )


def _contradictions(entry: Json, context: Context) -> Problems:
    """Yield an entry's exclusions and exceptions that contradict its rows."""
    rows = context.database.rows_of(entry)
    for number in entry.get('ignore_thresholds', ()):
        if number not in rows:
            yield (
                'ignore_thresholds',
                f'the entry has no attribute {number}; add the attribute, or remove its number here',
            )
    if 'no_endurance' not in entry:
        return
    for number, row in rows.items():
        if 'endurance_used' in row.get('readings', ()) and not row.get('trap'):
            yield (
                f'attribute {number}, endurance_used',
                'contradicts "no_endurance" of the entry; remove one of the two',
            )


ENTRY_RULES = (
    _missing_parts,
    _logs,
    _traps,
    _contradictions,
)


def _advisory_problems(advisory: Json, context: Context) -> Iterator[str]:
    """Yield each unknown metric of an advisory, and its corrected firmware if the pattern of
    affected firmware matches it.
    """
    for name in advisory.get('too_late', ()):
        if name not in context.database.metrics:
            yield f'"too_late": {name} is not a metric'
    fixed = advisory.get('fixed_in')
    if fixed and fits(advisory.get('firmware', '.*'), fixed):
        yield (
            f'firmware: {fixed} is listed as fixed, but the pattern of affected '
            f'revisions matches it; exclude {fixed}'
        )
