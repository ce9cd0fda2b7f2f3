"""What is wrong with entries when drives meet them: samples, measured models, coverage."""
from __future__ import annotations

import bisect
import difflib
import itertools
import math
import re
from typing import Any, Dict, Iterator, List, Mapping, Sequence, Set, Tuple

from ..knowledge import drive_database, pattern_prefixes, readings
from ..model import Reading, Report
from ..typed import Json
from ..words import plural
from . import samples, statistic_trust
from .sources import Claim, Context, Source, quoted


def claims_of(drives: Sequence[samples.Drive], database: drive_database.SpecDatabase) -> List[Claim]:
    """Return each drive with the entries that claim it."""
    return [Claim(drive, database.claims(drive.identity, drive.attributes)) for drive in drives]


def is_for(entry: Json, drive: samples.Drive) -> bool:
    """Tell whether an entry matches a drive."""
    return drive_database.matches(entry, drive.identity.plain_model, drive.identity, drive.attributes)


def _claim_problems(claims: Sequence[Claim]) -> Iterator[str]:
    """Yield each group of entries that claim a drive with equal strength, once."""
    seen: Set[Tuple[str, ...]] = set()
    for drive, winners in claims:
        families = tuple(entry['family'] for _, entry in winners)
        if len(winners) > 1 and families not in seen:
            seen.add(families)
            yield (f'{winners[0][0]}: {_called(drive)} is claimed by two entries, {families[0]} and {families[1]}; '
                   f'narrow one pattern')


def _called(drive: samples.Drive) -> str:
    return drive.identity.model or drive.place


def drive_problems(claims: Sequence[Claim], context: Context) -> Iterator[str]:
    """Yield what the drives show: entries that claim one equally, samples that give something else."""
    yield from _claim_problems(claims)
    for claim in claims:
        yield from _sample_problems(claim, context)
    yield from _stolen_samples(claims, context)
    yield from _stuck(claims, context)


def _stuck(claims: Sequence[Claim], context: Context) -> Iterator[str]:
    """Yield drives that were written many times over and used nothing of it, where no sample of their entry has used
    anything.
    """
    told: Dict[str, List[Tuple[samples.Drive, Reading, int]]] = {}
    for drive, winners in claims:
        if drive.expect is not None and len(winners) == 1 and drive.identity.protocol == 'ATA':
            found = _readings(drive, context)
            reading = found.get(statistic_trust.ENDURANCE)
            if reading is not None and reading.number is not None:
                told.setdefault(winners[0][1]['family'], []).append((drive, reading, _fills(drive, found)))
    for drives in told.values():
        if not any(reading.number for _, reading, _ in drives):
            yield from (f'{drive.place}: {reading.source} gives 0 % used on a drive that was written {filled} times '
                        f'over, so it may stand '
                        'still; add a sample on which it has moved, read another attribute, or say "no_endurance"'
                        for drive, reading, filled in drives
                        if statistic_trust.is_doubtful(statistic_trust.ENDURANCE, reading.number, filled))


def _readings(drive: samples.Drive, context: Context) -> Dict[str, Reading]:
    """Return what its entry reads from a sample, by metric."""
    spec = context.database.identify(drive.identity, drive.attributes)
    return {reading.metric: reading
            for reading in readings.vendor_readings(Report(drive.identity, attributes=drive.rows), spec,
                                                                          context.database.metrics)}


def _stolen_samples(claims: Sequence[Claim], context: Context) -> Iterator[str]:
    """Yield each pair of entries of which the first takes samples of the second, once."""
    stolen: Dict[Tuple[str, str], List[str]] = {}
    for drive, winners in claims:
        if len(winners) == 1 and drive.family not in (None, winners[0][1]['family']) and not _unmet(drive, context):
            stolen.setdefault((_entry_of(winners[0], context), str(drive.family)), []).append(drive.place)
    for (winner, family), places in stolen.items():
        if family in _families(context):
            more = f' and {plural(len(places) - 1, "other sample")} of it' if len(places) > 1 else ''
            yield f'{places[0]}: {winner} claims it{more}, not its own entry, {family}; narrow one of them'


def _families(context: Context) -> Set[str]:
    return {entry['family'] for _, entry in context.database.entries()}


def _entry_of(winner: Tuple[str, Json], context: Context) -> str:
    """Return what an entry is called, with its file where that is an addition."""
    name, entry = winner
    return (f'{entry["family"]} of {name}' if context.sources and name != context.sources[0].name
            else str(entry['family']))


def _unmet(drive: samples.Drive, context: Context) -> List[str]:
    """Return the conditions of a sample's own entry that keep it from claiming the sample."""
    model = drive.identity.plain_model
    unmet = [[key for key in drive_database.CONDITIONS if key in entry
              and not drive_database.matches({key: entry[key]}, model if key == 'models' else '', drive.identity,
                                             drive.attributes)]
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
        yield (f'{drive.place}: its own entry, {drive.family}, does not claim it because of {reason}; correct the '
               f'entry or the sample')
    elif winners[0][1]['family'] == drive.family:
        spec = context.database.identify(drive.identity, drive.attributes)
        found = _readings(drive, context)
        filled = _fills(drive, found)
        for rule in (_differences(found, drive.expect), _contradictions(found, drive.stated or {}, spec, filled),
                     _lost(found, claim, context)):
            yield from (f'{drive.place}: {problem}' for problem in rule)


def _contradictions(found: Mapping[str, Reading], stated: Json, spec: drive_database.DriveSpec,
                    filled: int) -> Iterator[str]:
    """Yield readings that are far from what the drive itself states. filled: how many times over it was written."""
    for metric, number in stated.items():
        reading = found.get(metric)
        if reading is None or reading.number is None or metric in spec.untrusted_statistics:
            continue
        if statistic_trust.is_doubtful(metric, number, filled):
            continue
        if not statistic_trust.is_near(reading.number, number, reading.unit):
            yield (f'{reading.source} gives {metric} {_said(reading)}, but the drive itself states {_plain(number)}; '
                   'correct "from" or "unit", read another attribute, or list the metric in "untrusted_statistics"')


def _fills(drive: samples.Drive, found: Mapping[str, Reading]) -> int:
    """Return how many times over a sample's drive was written, as far as it tells."""
    reading = found.get('host_written')
    return statistic_trust.fills((drive.stated or {}).get('host_written') or (reading and reading.number),
                                 drive.identity.capacity)


def _lost(found: Mapping[str, Reading], claim: Claim, context: Context) -> Iterator[str]:
    """Yield what the shipped file reads from a sample and an addition, which replaces that wholly, does not."""
    drive, ((name, entry), *_) = claim
    if not context.sources or name == context.sources[0].name:
        return
    before = context.shipped.identify(drive.identity, drive.attributes)
    silenced = {number for number, row in entry.get('attributes', {}).items() if row is None or 'comment' in row
                or 'trap' in row}
    for reading in readings.vendor_readings(Report(drive.identity, attributes=drive.rows), before,
                                            context.shipped.metrics):
        if reading.metric not in found and reading.number is not None and str(reading.source.attribute) not in silenced:
            yield (f'without this entry, {reading.source} gives {reading.metric} {_said(reading)}, by '
                   f'{before.family or "default"}; '
                   'take that over ("uses" or a reading), or write a "comment" at the attribute why not')


def _differences(found: Mapping[str, Reading], expect: Json) -> Iterator[str]:
    for metric, expected in expect.items():
        if metric not in found:
            yield f'expect {metric} {quoted(expected)}, but its lines do not give this metric'
        elif not _equal(found[metric], expected):
            yield (f'expect {metric} {quoted(expected)}, but {found[metric].source} gives {_said(found[metric])}; '
                   f'correct '
                   f'the one that is wrong')
    for metric, reading in found.items():
        if metric not in expect:
            addition = f'"{metric}": {_as_expected(reading)}'
            yield f'{reading.source} also gives {metric} {_said(reading)}; if that is right, add {addition} to "expect"'


def _equal(reading: Reading, expected: Any) -> bool:
    if expected is None or reading.number is None:
        return expected is reading.number
    if isinstance(expected, str) or reading.state is not None:
        return bool(reading.state is not None and reading.verdict == expected)
    return math.isclose(reading.number, expected, rel_tol=1e-4, abs_tol=1e-6)


def _as_expected(reading: Reading) -> str:
    """Return a reading as "expect" has it."""
    if reading.number is None or reading.state is not None:
        return quoted(None if reading.number is None else reading.verdict)
    return _plain(reading.number)


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else f'{number:.12g}'


def _said(reading: Reading) -> str:
    """Return a reading with the unit that it is counted in."""
    if reading.number is None:
        return f'null ({reading.unknown})'
    return (f'{_as_expected(reading)} {reading.unit}' if reading.unit and reading.state is None
            else _as_expected(reading))


def coverage_problems(source: Source, claims: Sequence[Claim]) -> Iterator[str]:
    """Yield entries and patterns that no drive validates, and entries that never win."""
    models = sorted({claim.drive.identity.plain_model for claim in claims})
    validated = {claim.drive.family for claim in claims}
    won = {id(winner) for claim in claims for _, winner in claim.winners}
    for entry in source.data['entries']:
        place = f'{source.name}: {entry["family"]}'
        for pattern in entry.get('models', ()):
            if not _is_matched(pattern, models):
                yield (f'{place}: models {quoted(pattern)} matches no sample and no measured model; add a sample or '
                       f'correct it')
        if entry['family'] not in validated:
            stronger = '' if id(entry) in won else _winner_instead(entry, claims)
            yield (f'{place}: it can never win, {stronger} takes every drive that it matches; '
                   'narrow that one or remove this one' if stronger else
                   f'{place}: it has no sample; add one to tests/samples, or to "samples" in a file of your own')


def _is_matched(pattern: str, models: Sequence[str]) -> bool:
    """Say whether *pattern* matches one of the sorted *models*."""
    start = pattern_prefixes.literal_beginning(pattern)
    first = bisect.bisect_left(models, start)
    candidates = itertools.takewhile(lambda model: model.startswith(start), itertools.islice(models, first, None))
    return any(re.fullmatch(pattern, model) for model in candidates)


def _winner_instead(entry: Json, claims: Sequence[Claim]) -> str:
    """Return the family of the same rank that wins a drive which *entry* matches as well."""
    for drive, winners in claims:
        if winners and _rank(winners[0][1]) == _rank(entry) and is_for(entry, drive):
            return str(winners[0][1]['family'])
    return ''


def _rank(entry: Json) -> Tuple[bool, bool]:
    return bool(entry.get('generic')), bool(entry.get('fallback'))
