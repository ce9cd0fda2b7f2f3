"""Find the mistakes in attributes.json, in additions to it, and in their samples.

One function, `prove`, serves the job, the tests and the continuous
integration. A problem is a whole sentence: where, what, what next.
"""
from __future__ import annotations

import bisect
import difflib
import itertools
import json
import math
import os
import re
import tempfile
from typing import Any, Callable, Collection, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ..errors import DataError
from ..knowledge import datafile, decode, readings, specs, standards, units
from ..model import AttributeRow, Reading, Report
from . import patterns, samples

Json = Mapping[str, Any]

LOOKED_AT = 1000       # characters of a file that may be something else
LONGEST_LIFE = 131072  # hours, fifteen years: no advisory bites later
FEW_DRIVES = 5         # a firmware condition needs so many, or a document
NO_FIGURES = (0, 253, 255)  # normalized values that mean "never set"
LARGEST_ENDURANCE = 255     # %, as the standards end there
BEYOND_CEILING = 999        # %, where a drive counts on beyond that; the worst of 40,182 is at 470
NEAR_POINTS, NEAR_PART = 2, 0.1  # how far a reading may be from what the drive states: in %, and of an amount
# What a standard log or the drive's own word is filed under, whatever the database says.
STANDARD_ROLES = frozenset(
    [standard.role for log in (standards.ATA, standards.NVME, standards.SCSI) for standard in log.values()]
    + [bit.role for bit in standards.NVME_WARNINGS]
    + ['smart_status', 'vendor_threshold', 'self_test', 'reported_uncorrect', 'error_log_count'])


class Source(NamedTuple):
    """A file with entries, read."""

    name: str
    path: str
    text: str
    data: Json

    @property
    def is_whole(self) -> bool:
        """Whether this is a database of its own, not an addition to the shipped one."""
        return 'date' in self.data


class Claim(NamedTuple):
    """A drive with the entries that are strongest for it."""

    drive: samples.Drive
    winners: Sequence[Tuple[str, Json]]


class Context(NamedTuple):
    """What the rules may look at beside the file that they prove."""

    database: specs.SpecDatabase
    shipped: specs.SpecDatabase       # without additions
    sources: Sequence[Source]         # the shipped file first
    documents: Collection[str]


class Findings(NamedTuple):
    """What was proved, and what came of it."""

    problems: Sequence[str]
    notes: Sequence[str] = ()    # what would be a problem in the shipped file, and is none in a file of a site
    summary: Sequence[str] = ()  # "1 entry", "885 samples"; nothing where a file could not be used at all


def main(files: Sequence[str] = (), samples_path: Optional[str] = None, models_path: Optional[str] = None,
         formats: bool = False, write: Callable[[str], object] = print) -> int:
    """Prove the files (without any: the shipped one), print what is wrong, and return the exit code.

    formats: rewrite the files in the usual layout first.
    """
    try:
        proved = list(files) or [datafile.shipped('attributes.json')]
        for path in proved if formats else ():
            write(f'{path}: {"rewritten" if rewrite(path) else "has the usual layout already"}')
        findings = examine(proved, samples_path, models_path)
    except DataError as problem:
        write(str(problem))
        return 1
    for sentence in findings.problems:
        write(sentence)
    for sentence in findings.notes:
        write(f'before you send it: {sentence}')
    found = _counted(len(findings.problems), 'problem') if findings.problems else 'no problem'
    rest = [] if findings.summary else ['the rest is proved when that is mended']
    write(f'{", ".join(map(os.path.basename, proved))}: {", ".join([*findings.summary, found, *rest])}')
    return 1 if findings.problems else 0


def prove(files: Sequence[str] = (), samples_path: Optional[str] = None, models_path: Optional[str] = None) -> List[str]:
    """Return a sentence for each mistake in *files*; without any, in the shipped file.

    files: one with a "date" is a database of its own; every other one is
        an addition to it, or to the shipped one.
    samples_path: file or folder; None: tests/samples beside the database.
    models_path: CSV file; None: tests/models.csv beside the database.
    """
    return list(examine(list(files) or [datafile.shipped('attributes.json')], samples_path, models_path).problems)


def examine(files: Sequence[str], samples_path: Optional[str], models_path: Optional[str]) -> Findings:
    """Return what `prove` returns, and more about it. Raises DataError where the shipped file cannot be read."""
    proved, problems = _read_sources(files)
    if problems:
        return Findings(problems)
    sources = proved if proved[0].is_whole else [_read_source(datafile.shipped('attributes.json'))[0], *proved]
    problems = [sentence for source in proved for sentence in _unusable(source, sources)]
    if problems:
        return Findings(problems)
    context = _context(sources)
    samples_path = _beside(sources[0], samples_path, os.path.join('tests', 'samples'))
    drives, of_samples = _read_samples(sources, samples_path)
    models_path = _beside(sources[0], models_path, os.path.join('tests', 'models.csv'))
    measured, of_models = samples.measured(models_path) if models_path else ([], [])
    claims = _claims([*drives, *measured], context.database)
    problems = [*(sentence for source in proved for sentence in _file_problems(source, context)), *of_samples, *of_models,
                *_drive_problems(claims, context)]
    if drives or samples_path:
        problems += [sentence for source in proved for sentence in _coverage_problems(source, claims)]
    problems = list(dict.fromkeys(problems))
    summary = [_counted(sum(len(source.data['entries']) for source in proved), 'entry', 'entries'), _counted(len(drives), 'sample')]
    summary += [_counted(len(measured), 'measured model')] if measured else []
    return Findings(problems, _before_sending(sources, [*drives, *measured], problems), summary)


def _claims(drives: Sequence[samples.Drive], database: specs.SpecDatabase) -> List[Claim]:
    return [Claim(drive, database.claims(drive.identity, drive.attributes)) for drive in drives]


def _before_sending(sources: Sequence[Source], drives: Sequence[samples.Drive], known: Collection[str]) -> List[str]:
    """Return which drives would be claimed wrongly if additions stood in the shipped file, where they are no stronger than others."""
    shipped, *local = sources
    if not local:
        return []
    both = {**shipped.data, 'entries': [entry for source in sources for entry in source.data['entries']],
            **{key: {name: value for source in sources for name, value in source.data.get(key, {}).items()} for key in ('roles', 'sets')}}
    database = specs.SpecDatabase(both)
    context = Context(database, database, (), ())
    concerned = [drive for drive in drives if any(_is_for(entry, drive) for source in local for entry in source.data['entries'])]
    return [sentence for sentence in _drive_problems(_claims(concerned, database), context) if sentence not in known]


def _is_for(entry: Json, drive: samples.Drive) -> bool:
    return specs.matches(entry, drive.identity.plain_model, drive.identity, drive.attributes)


# --- reading ---------------------------------------------------------------------

def _read_sources(files: Sequence[str]) -> Tuple[List[Source], List[str]]:
    """Return the files, whole databases first, and what keeps them from being used."""
    sources, problems = [], []
    for path in files:
        try:
            source, found = _read_source(path)
        except DataError as problem:
            problems.append(str(problem))
        else:
            problems.extend(found)
            sources.append(source)
    return sorted(sources, key=lambda source: not (isinstance(source.data, dict) and source.is_whole)), problems


def _read_source(path: str) -> Tuple[Source, List[str]]:
    name, text = os.path.basename(path), datafile.read_text(path)
    if text.startswith('smartctl ') or '"json_format_version"' in text[:LOOKED_AT]:
        raise DataError(f'{name} is what smartctl says about a drive, no entry; check_smart_attributes draft --report {path} makes one')
    data, problems = datafile.parse(text, name)
    return Source(name, path, text, data), problems or datafile.schema_problems(data, 'attributes', name)


def _unusable(source: Source, sources: Sequence[Source]) -> Iterator[str]:
    roles = {role for other in sources for role in other.data.get('roles', ())}
    sets = {name for other in sources for name in other.data.get('sets', ())}
    return specs.mistakes(source.name, source.data, roles, sets)


def _context(sources: Sequence[Source]) -> Context:
    shipped, *local = sources
    documents = {key for source in sources for key in source.data.get('documents', ())}
    database = specs.SpecDatabase(shipped.data, [(source.name, source.data) for source in local])
    return Context(database, specs.SpecDatabase(shipped.data), sources, documents)


def _beside(source: Source, given: Optional[str], usual: str) -> Optional[str]:
    """Return the file or folder that was given, else the one of a checkout, if this is one."""
    path = given or os.path.join(os.path.dirname(os.path.abspath(source.path)), usual)
    return path if given or os.path.exists(path) else None


def _read_samples(sources: Sequence[Source], path: Optional[str]) -> samples.Result:
    """Return the samples that stand in the files, and those of a file or folder beside them."""
    kinds = {entry['family']: entry['kind'] for source in sources for entry in source.data['entries'] if 'kind' in entry}
    found = [samples.drives_of(source.name, source.data.get('samples', ()), kinds) for source in sources]
    if path:
        found.append(samples.read(path, kinds))
    return [drive for drives, _ in found for drive in drives], [problem for _, problems in found for problem in problems]


# --- one file by itself ------------------------------------------------------------

def _file_problems(source: Source, context: Context) -> Iterator[str]:
    """Yield what is wrong with a file as such, then with each of its parts."""
    for rule in FILE_RULES:
        for problem in rule(source, context):
            yield f'{source.name}: {problem}'
    for entry in source.data['entries']:
        for entry_rule in ENTRY_RULES:
            for where, problem in entry_rule(entry, context):
                yield f'{source.name}: {entry["family"]}{", " + where if where else ""}: {problem}'
    for place, role, spec in specs.written_readings(source.data):
        for reading_rule in READING_RULES:
            for problem in reading_rule(spec, decode.parse(spec['from']), context.database.roles[role]):
                yield f'{source.name}: {place}: {problem}'
    for advisory in source.data.get('advisories', ()):
        for problem in _advisory_problems(advisory):
            yield f'{source.name}: advisory {advisory["id"]}: {problem}'


def _layout(source: Source, _: Context) -> Iterator[str]:
    if source.is_whole and source.text != datafile.formatted(source.data, 'attributes'):
        yield 'the layout is not the usual one; check_smart_attributes prove --format writes it'


def _misplaced_samples(source: Source, _: Context) -> Iterator[str]:
    if source.is_whole and 'samples' in source.data:
        yield 'samples: every check would load them; move them to tests/samples'


def _repeated_names(source: Source, _: Context) -> Iterator[str]:
    for key, name in (('entries', 'family'), ('advisories', 'id')):
        names = [item[name] for item in source.data.get(key, ())]
        for repeated in sorted({one for one in names if names.count(one) > 1}):
            yield f'{repeated}: {names.count(repeated)} of the {key} have this {name}; give each its own'


def _citations(source: Source, context: Context) -> Iterator[str]:
    advice = 'add the document there and write its key and a place in it, or write "measured on" what and how many drives'
    for place, citation in _sources_of(source.data):
        unknown = [key for key in _keys(citation) if key not in context.documents]
        if unknown:
            yield f'{place}: source "{unknown[0]}" is none of "documents"; {advice}'
        elif not any(_cites(citation, key) for key in context.documents) and 'measured on ' not in citation:
            yield f'{place}: source {_quoted(citation)} names none of "documents"; {advice}'


_KEY = re.compile('(?:^|; *)([a-z0-9.]+-[a-z0-9.-]+)(?=,|;|$)')


def _keys(citation: str) -> List[str]:
    """Return what looks like documents' keys: two in "acme-manual, section 2; acme-errata; measured on 5 drives"."""
    return _KEY.findall(citation)


def _cites(citation: str, key: str) -> bool:
    # "measured on linuxhw/EnterpriseDrive" cites linuxhw-enterprisedrive.
    return key in citation.lower().replace('/', '-')


def _sources_of(data: Json) -> Iterator[Tuple[str, str]]:
    """Yield (place, source) for everything in a file that cites."""
    for name, owner in [*((f'set {name}', value) for name, value in data.get('sets', {}).items()),
                        *((entry['family'], entry) for entry in data['entries']),
                        *((f'advisory {advisory["id"]}', advisory) for advisory in data.get('advisories', ()))]:
        if 'source' in owner:
            yield name, owner['source']
        for pattern, rating in owner.get('rated_written', {}).items():
            yield f'{name}, rated_written {pattern}', rating['source']
        for number, row in owner.get('attributes', {}).items():
            if row and 'source' in row:
                yield f'{name}, attribute {number}', row['source']


def _unused(source: Source, context: Context) -> Iterator[str]:
    citations = [text for other in context.sources for _, text in _sources_of(other.data)]
    for key in source.data.get('documents', {}):
        if not any(_cites(citation, key) for citation in citations):
            yield f'document {key}: nothing cites it; cite it or remove it'
    used = {name for other in context.sources for entry in other.data['entries'] for name in entry.get('uses', ())}
    for name in source.data.get('sets', {}):
        if name not in used:
            yield f'set {name}: no entry uses it; use it or remove it'


def _roles(source: Source, context: Context) -> Iterator[str]:
    if source is context.sources[0]:
        for name in sorted(STANDARD_ROLES - set(context.database.roles)):
            yield f'roles: {name} is missing, and standard logs give it; add it'
    for role in (context.database.roles[name] for name in source.data.get('roles', ())):
        if role.is_verdict and role.worse != 'low':
            yield f'role {role.name}: a verdict that failed is 0 and one that passed 1, so worse must be "low"'
        yield from (f'role {role.name}: {problem}' for problem in _interval_problems(role.valid))


def _pattern_rules(source: Source, _: Context) -> Iterator[str]:
    for place, pattern in specs.patterns(source.data):
        problems = patterns.runaway_problems(pattern) if place.endswith('firmware') else patterns.model_problems(pattern)
        yield from (f'{place} {_quoted(pattern)} {problem}' for problem in problems)


def _same_patterns(source: Source, _: Context) -> Iterator[str]:
    """Yield pairs of entries that name the same models under the same conditions."""
    for number, entry in enumerate(source.data['entries']):
        for other in source.data['entries'][:number]:
            shared = set(entry.get('models', ())) & set(other.get('models', ()))
            if shared and all(entry.get(key) == other.get(key) for key in (*specs.CONDITIONS[1:], 'generic', 'fallback')):
                yield (f'{entry["family"]} and {other["family"]} both claim {_quoted(min(shared))} and nothing tells them apart; '
                       'give one of them a guard (has, lacks, first, only) or remove the pattern')


FILE_RULES: Sequence[Callable[[Source, Context], Iterator[str]]] = (
    _layout, _misplaced_samples, _repeated_names, _citations, _unused, _roles, _pattern_rules, _same_patterns)


# --- entries -------------------------------------------------------------------------

Problems = Iterator[Tuple[str, str]]  # (where in the entry, what is wrong)


def _has_source(entry: Json, _: Context) -> Problems:
    if 'source' not in entry:
        yield '', 'source is missing; cite a document, or say "measured on" what and how many drives'


def _generic_guard(entry: Json, _: Context) -> Problems:
    if entry.get('generic') and not any(condition in entry for condition in (*specs.GUARDS, 'kind')):
        yield '', f'a generic entry needs one of {", ".join(specs.GUARDS)} or kind, or it claims every drive'
    if entry.get('generic') and entry.get('fallback'):
        yield '', 'generic and fallback exclude each other; keep one'


def _nulls(entry: Json, context: Context) -> Problems:
    sets = {name: value for source in context.sources for name, value in source.data.get('sets', {}).items()}
    of_sets = {number for name in entry.get('uses', ()) for number in sets[name]['attributes']}
    for number, row in entry.get('attributes', {}).items():
        if row is None and number not in of_sets:
            yield f'attribute {number}', 'it is null, but no set that the entry uses has it; remove it'


def _traps(entry: Json, context: Context) -> Problems:
    rows = context.database.rows_of('', entry)
    traps = {number for number, row in rows.items() if row.get('trap')}
    honest = {role for number, row in rows.items() if number not in traps for role in row.get('readings', ())}
    for number, row in rows.items():
        for role, spec in _readings_of(row):
            for other in sorted(traps.intersection(decode.parse(spec['from']).attributes)):
                yield f'attribute {number}, {role}', f'it reads attribute {other}, which is a trap; read another one'
            if number in traps and role in honest:
                yield f'attribute {number}, {role}', f'it is a trap, and may hide another reading of {role}; remove this one'


def _readings_of(row: Json) -> Iterator[Tuple[str, Json]]:
    for role, found in row.get('readings', {}).items():
        yield from ((role, spec) for spec in (found if isinstance(found, list) else [found]))


def _thresholds_ignored(entry: Json, context: Context) -> Problems:
    rows = context.database.rows_of('', entry)
    for number in entry.get('ignore_thresholds', ()):
        if number not in rows:
            yield 'ignore_thresholds', f'the entry has no attribute {number}; describe it or remove it'


def _no_endurance(entry: Json, context: Context) -> Problems:
    for number, row in context.database.rows_of('', entry).items() if 'no_endurance' in entry else ():
        if 'endurance_used' in row.get('readings', ()) and not row.get('trap'):
            yield f'attribute {number}, endurance_used', 'the entry says no_endurance; remove one of them'


def _evidence(entry: Json, context: Context) -> Problems:
    evidence = entry.get('evidence', {})
    drives, compared, agree = (evidence.get(key, 0) for key in ('drives', 'compared', 'agree'))
    if not agree <= compared <= drives:
        yield 'evidence', f'{agree} that agree of {compared} compared of {drives} drives cannot be; let measure write it'
    is_documented = any(_cites(entry.get('source', ''), key) for key in context.documents)
    if 'firmware' in entry and evidence and drives < FEW_DRIVES and not is_documented:
        yield 'firmware', f'{drives} drives are too few for a condition on it; cite a document or drop it'


ENTRY_RULES: Sequence[Callable[[Json, Context], Problems]] = (
    _has_source, _generic_guard, _nulls, _traps, _thresholds_ignored, _no_endurance, _evidence)


def _advisory_problems(advisory: Json) -> Iterator[str]:
    fixed = advisory.get('fixed_in')
    if fixed and re.fullmatch(advisory.get('firmware', '.*'), fixed):
        yield f'firmware: {fixed} is said to be fixed, and the pattern of the affected revisions matches it; exclude it'
    if advisory.get('hour', 0) > LONGEST_LIFE:
        yield f'hour {advisory["hour"]} is {advisory["hour"] // 8766} years; write power-on hours'


# --- readings ------------------------------------------------------------------------

def _unit(spec: Json, _: decode.Formula, role: specs.Role) -> Iterator[str]:
    unit = spec.get('unit', '')
    of_role = _UNIT_WORDS[role.unit]
    fitting = units.fitting(role.name, role.unit)
    if unit and unit not in fitting:
        advice = f'write {", ".join(fitting)}' if role.unit else ' or '.join(['leave it out', *(f'write {name}' for name in fitting)])
        yield f'unit {unit} does not fit a role that is {of_role}; {advice}'
    if not unit and role.unit in ('s', 'B') and 'states' not in spec:
        yield f'unit is missing: the role is {of_role}; say what one count is worth'


_UNIT_WORDS = {'': 'a count', '%': 'in percent', 's': 'a time', 'B': 'an amount of data', 'C': 'a temperature'}


def _interval(spec: Json, formula: decode.Formula, _: specs.Role) -> Iterator[str]:
    valid = _pair(spec.get('valid'))
    yield from _interval_problems(valid)
    lowest, highest = bounds(formula)
    if (valid[0] is not None and valid[0] > highest) or (valid[1] is not None and valid[1] < lowest):
        yield f'valid [{_open(valid[0])}, {_open(valid[1])}] is never reached: {spec["from"]} lies between {lowest:g} and {highest:g}'
    if spec.get('ceiling', 0) > highest:
        yield f'ceiling {spec["ceiling"]} is never reached: {spec["from"]} ends at {highest:g}'


def _largest_endurance(spec: Json) -> int:
    """Return what a drive may say it has used, %: some count on, and are shown with the ceiling."""
    return BEYOND_CEILING if spec.get('ceiling', math.inf) <= LARGEST_ENDURANCE else LARGEST_ENDURANCE


def _interval_problems(valid: specs.Interval) -> Iterator[str]:
    lowest, highest = valid
    if lowest is not None and highest is not None and lowest > highest:
        yield f'valid [{lowest:g}, {highest:g}] is empty; write the smaller number first'


def _plausible(spec: Json, formula: decode.Formula, role: specs.Role) -> Iterator[str]:
    """Yield how a value that means nothing could become a figure."""
    valid = _pair(spec.get('valid'))
    if formula.minus_from and role.worse == 'low' and formula.first.column in ('value', 'worst'):
        yield f'from "{spec["from"]}" is what is used up, and {role.name} what is left; write {formula.first.column}'
    elif formula.minus_from and None in valid:
        yield f'from "{spec["from"]}" turns a value that was never set into a figure; give valid, for example [0, {formula.minus_from - 1}]'
    elif role.name == 'endurance_used' and (valid[1] is None or valid[1] > _largest_endurance(spec)):
        yield (f'valid must end at {LARGEST_ENDURANCE} or before (with "ceiling": {LARGEST_ENDURANCE}, for drives that were seen '
               f'beyond it, at {BEYOND_CEILING}), or a raw value of something else becomes a percentage')
    else:
        wrong = [(row, number) for row, number in _figures_of_nothing(formula, role)
                 if _inside(number, valid) and _inside(number, role.valid) and number not in spec.get('not', ())]
        for row, number in wrong[:1]:
            yield f'{row}, which means "never set", becomes {number:g} {role.unit}; narrow valid or list it in "not"'


def _figures_of_nothing(formula: decode.Formula, role: specs.Role) -> Iterator[Tuple[str, float]]:
    """Yield (what a row says, the formula's number) for rows that say nothing."""
    operand = formula.first
    if formula.second or role.unit != '%':
        return
    # No spare left is a true 0, and so is no endurance used.
    values = NO_FIGURES if role.name == 'endurance_used' and formula.minus_from else NO_FIGURES[1:]
    raw = str(2 ** (8 * decode.RAW_BYTES) - 1)
    for value in values if operand.column in ('value', 'worst') else (0,):
        row = AttributeRow(operand.attribute or 1, '', value, value, None, None, '', raw)
        number = decode.evaluate(formula, row, {row.id: row})
        if number is not None:
            yield f'{operand.column} {value}' if operand.column in ('value', 'worst') else 'a raw value of all ones', number


def _states(spec: Json, formula: decode.Formula, role: specs.Role) -> Iterator[str]:
    states = spec.get('states', {})
    if states and not role.is_verdict:
        yield f'states give words, and {role.name} is a number; remove them, or let the role be a verdict'
    if role.is_verdict and not states:
        yield f'{role.name} is a verdict; give states, for example {{"100": "passed", "0-10": "failed"}}'
    spans = sorted((*specs.span(key), key) for key in states)
    for lowest, highest, key in spans:
        if lowest > highest:
            yield f'states {key} is empty; write the smaller number first'
        elif lowest > bounds(formula)[1]:
            yield f'states {key} is never reached: {spec["from"]} ends at {bounds(formula)[1]:g}'
    for before, after in zip(spans, spans[1:]):
        if after[0] <= before[1]:
            yield f'states {before[2]} and {after[2]} overlap; let each result have one word'


READING_RULES: Sequence[Callable[[Json, decode.Formula, specs.Role], Iterator[str]]] = (_unit, _interval, _plausible, _states)


def bounds(formula: decode.Formula) -> Tuple[float, float]:
    """Return the smallest and the largest number that a formula can give."""
    highest = _highest(formula.first)
    if formula.is_ratio:
        return 0, math.inf
    if formula.second:
        return 0, highest + _highest(formula.second)
    highest /= formula.divisor
    return (formula.minus_from - highest, formula.minus_from) if formula.minus_from else (0, highest)


def _highest(operand: decode.Operand) -> float:
    if operand.column in ('value', 'worst'):
        return 255
    return 8 * decode.RAW_BYTES if operand.column == 'bits' else 2 ** (8 * len(operand.bytes)) - 1


def _pair(valid: Optional[Sequence[Optional[float]]]) -> specs.Interval:
    return (valid[0], valid[1]) if valid else (None, None)


def _open(number: Optional[float]) -> str:
    return 'null' if number is None else f'{number:g}'


def _inside(number: float, valid: specs.Interval) -> bool:
    return (valid[0] is None or number >= valid[0]) and (valid[1] is None or number <= valid[1])


# --- entries against drives -------------------------------------------------------------

def _claim_problems(claims: Sequence[Claim]) -> Iterator[str]:
    """Yield each group of entries that claim a drive with equal strength, once."""
    seen: Set[Tuple[str, ...]] = set()
    for drive, winners in claims:
        families = tuple(entry['family'] for _, entry in winners)
        if len(winners) > 1 and families not in seen:
            seen.add(families)
            yield f'{winners[0][0]}: {_called(drive)} is claimed by two entries, {families[0]} and {families[1]}; narrow one pattern'


def _called(drive: samples.Drive) -> str:
    return drive.identity.model or drive.place


def _drive_problems(claims: Sequence[Claim], context: Context) -> Iterator[str]:
    yield from _claim_problems(claims)
    for claim in claims:
        yield from _sample_problems(claim, context)
    yield from _stolen_samples(claims, context)


def _stolen_samples(claims: Sequence[Claim], context: Context) -> Iterator[str]:
    """Yield each pair of entries of which the first takes samples of the second, once."""
    stolen: Dict[Tuple[str, str], List[str]] = {}
    for drive, winners in claims:
        if len(winners) == 1 and drive.family not in (None, winners[0][1]['family']) and not _unmet(drive, context):
            stolen.setdefault((_entry_of(winners[0], context), str(drive.family)), []).append(drive.place)
    for (winner, family), places in stolen.items():
        if family in _families(context):
            more = f' and {_counted(len(places) - 1, "other sample")} of it' if len(places) > 1 else ''
            yield f'{places[0]}: {winner} claims it{more}, not its own entry, {family}; narrow one of them'


def _families(context: Context) -> Set[str]:
    return {entry['family'] for _, entry in context.database.entries()}


def _entry_of(winner: Tuple[str, Json], context: Context) -> str:
    """Return what an entry is called, with its file where that is an addition."""
    name, entry = winner
    return f'{entry["family"]} of {name}' if context.sources and name != context.sources[0].name else str(entry['family'])


def _unmet(drive: samples.Drive, context: Context) -> List[str]:
    """Return the conditions of a sample's own entry that keep it from claiming the sample."""
    model = drive.identity.plain_model
    unmet = [[key for key in specs.CONDITIONS if key in entry
              and not specs.matches({key: entry[key]}, model if key == 'models' else '', drive.identity, drive.attributes)]
             for _, entry in context.database.entries() if entry['family'] == drive.family]
    return min(unmet, key=len, default=[])


def _sample_problems(claim: Claim, context: Context) -> Iterator[str]:
    """Yield where a sample does not fit its own entry, or does not give exactly what it expects."""
    drive, winners = claim
    if drive.expect is None or len(winners) > 1:
        return
    families, unmet = _families(context), _unmet(drive, context)
    if drive.family not in families:
        near = difflib.get_close_matches(str(drive.family), families, 1)
        yield f'{drive.place}: no entry is called {drive.family}{"; did you mean " + near[0] + "?" if near else ""}'
    elif unmet:
        reason = ' and '.join(f'"{key}"' for key in unmet)
        yield f'{drive.place}: its own entry, {drive.family}, does not claim it because of {reason}; correct the entry or the sample'
    elif winners[0][1]['family'] == drive.family:
        spec = context.database.identify(drive.identity, drive.attributes)
        found = {reading.role: reading for reading in readings.vendor_readings(Report(drive.identity, attributes=drive.rows), spec,
                                                                               context.database.roles)}
        for rule in (_differences(found, drive.expect), _contradictions(found, drive.stated or {}, spec), _lost(found, claim, context)):
            yield from (f'{drive.place}: {problem}' for problem in rule)


def _contradictions(found: Mapping[str, Reading], stated: Json, spec: specs.DriveSpec) -> Iterator[str]:
    """Yield readings that are far from what the drive itself states."""
    for role, number in stated.items():
        reading = found.get(role)
        if reading is None or reading.number is None or role in spec.untrusted_statistics:
            continue
        if abs(reading.number - number) > (NEAR_POINTS if reading.unit == '%' else NEAR_PART * number):
            yield (f'{reading.source} gives {role} {_said(reading)}, but the drive itself states {_plain(number)}; '
                   'correct "from" or "unit", read another attribute, or list the role in "untrusted_statistics"')


def _lost(found: Mapping[str, Reading], claim: Claim, context: Context) -> Iterator[str]:
    """Yield what the shipped file reads from a sample and an addition, which replaces that wholly, does not."""
    drive, ((name, entry), *_) = claim
    if not context.sources or name == context.sources[0].name:
        return
    before = context.shipped.identify(drive.identity, drive.attributes)
    silenced = {number for number, row in entry.get('attributes', {}).items() if row is None or 'comment' in row or 'trap' in row}
    for reading in readings.vendor_readings(Report(drive.identity, attributes=drive.rows), before, context.shipped.roles):
        if reading.role not in found and reading.number is not None and str(reading.source.attribute) not in silenced:
            yield (f'without this entry, {reading.source} gives {reading.role} {_said(reading)}, by {before.family or "default"}; '
                   'take that over ("uses" or a reading), or write a "comment" at the attribute why not')


def _differences(found: Mapping[str, Reading], expect: Json) -> Iterator[str]:
    for role, expected in expect.items():
        if role not in found:
            yield f'expect {role} {_quoted(expected)}, but its lines do not give this role'
        elif not _equal(found[role], expected):
            yield f'expect {role} {_quoted(expected)}, but {found[role].source} gives {_said(found[role])}; correct the one that is wrong'
    for role, reading in found.items():
        if role not in expect:
            addition = f'"{role}": {_as_expected(reading)}'
            yield f'{reading.source} also gives {role} {_said(reading)}; if that is right, add {addition} to "expect"'


def _equal(reading: Reading, expected: Any) -> bool:
    if expected is None or reading.number is None:
        return expected is reading.number
    if isinstance(expected, str) or reading.state is not None:
        return bool(reading.state is not None and reading.verdict == expected)
    return math.isclose(reading.number, expected, rel_tol=1e-4, abs_tol=1e-6)


def _as_expected(reading: Reading) -> str:
    """Return a reading as "expect" has it."""
    if reading.number is None or reading.state is not None:
        return _quoted(None if reading.number is None else reading.verdict)
    return _plain(reading.number)


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else f'{number:.12g}'


def _said(reading: Reading) -> str:
    """Return a reading with the unit that it is counted in."""
    if reading.number is None:
        return f'null ({reading.unknown})'
    return f'{_as_expected(reading)} {reading.unit}' if reading.unit and reading.state is None else _as_expected(reading)


def _coverage_problems(source: Source, claims: Sequence[Claim]) -> Iterator[str]:
    """Yield entries and patterns that no drive proves, and entries that never win."""
    models = sorted({claim.drive.identity.plain_model for claim in claims})
    proved = {claim.drive.family for claim in claims}
    won = {id(winner) for claim in claims for _, winner in claim.winners}
    for entry in source.data['entries']:
        place = f'{source.name}: {entry["family"]}'
        for pattern in entry.get('models', ()):
            if not _is_matched(pattern, models):
                yield f'{place}: models {_quoted(pattern)} matches no sample and no measured model; add a sample or correct it'
        if entry['family'] not in proved:
            stronger = '' if id(entry) in won else _winner_instead(entry, claims)
            yield f'{place}: it can never win, {stronger} takes every drive that it matches; narrow that one or remove this one' \
                if stronger else f'{place}: it has no sample; add one to tests/samples, or to "samples" in a file of your own'


def _is_matched(pattern: str, models: Sequence[str]) -> bool:
    """Say whether *pattern* matches one of the sorted *models*."""
    start = specs.literal_beginning(pattern)
    first = bisect.bisect_left(models, start)
    candidates = itertools.takewhile(lambda model: model.startswith(start), itertools.islice(models, first, None))
    return any(re.fullmatch(pattern, model) for model in candidates)


def _winner_instead(entry: Json, claims: Sequence[Claim]) -> str:
    """Return the family of the same rank that wins a drive which *entry* matches as well."""
    for drive, winners in claims:
        if winners and _rank(winners[0][1]) == _rank(entry) and _is_for(entry, drive):
            return str(winners[0][1]['family'])
    return ''


def _rank(entry: Json) -> Tuple[bool, bool]:
    return bool(entry.get('generic')), bool(entry.get('fallback'))


# --- words and files ---------------------------------------------------------------------

def _counted(number: int, word: str, words: str = '') -> str:
    return f'{number} {word if number == 1 else words or word + "s"}'


def _quoted(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= datafile.WIDTH else text[:datafile.WIDTH] + '…"'


def rewrite(path: str) -> bool:
    """Give the file the usual layout and say whether it had another one.

    Raises DataError where the file cannot be read or written or does not fit
    its schema.
    """
    text = datafile.read_text(path)
    usual = datafile.formatted(datafile.checked(text, 'attributes', os.path.basename(path)), 'attributes')
    if usual != text:
        try:
            _replace(os.path.realpath(path), usual)
        except OSError as error:
            raise DataError(f'{path}: cannot be written: {error.strerror}') from None
    return usual != text


def _replace(path: str, text: str) -> None:
    """Put *text* in the place of a file in one step, so that no check ever reads half of it."""
    with tempfile.NamedTemporaryFile('w', encoding='utf-8', dir=os.path.dirname(path), delete=False) as file:
        try:
            file.write(text)
            file.flush()
            os.chmod(file.name, os.stat(path).st_mode & 0o777)
            os.replace(file.name, path)
        except OSError:
            os.unlink(file.name)
            raise
