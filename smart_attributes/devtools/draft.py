"""Draft a database entry from one drive, for a person to finish.

Nothing is lost: the new entry reads everything that the drive's present entry reads. Nothing is
invented: meanings are copied only if the entries of the database agree; for endurance and amounts
of data, only if the drive's own statistics show the same value. Serial numbers never appear.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..constants import LONGEST_FAMILY, LONGEST_NAME
from ..knowledge import decode, drive_logs, formatting, readings
from ..knowledge.drive_database import SpecDatabase
from ..model import AttributeRow, Identity, Report
from ..typed import Json, MutableJson
from ..words import literally
from .entry_rules import LITERALS, literal_characters
from .reading_rules import (
    COARSEST,
    ENDURANCE,
    ENDURANCE_STATISTIC,
    WORN,
    is_remainder,
    is_stated,
)

SHORTEST_PATTERN = 4  # characters that the schema requires
# Formulas for endurance, each with its valid range, which excludes values that were never set.
ENDURANCE_FORMULAS: Mapping[str, tuple[int, int]] = {
    '100 - value': (0, 99),
    '200 - value': (0, 199),
    'value': (0, 200),
    'raw': (0, 254),
    '100 - raw': (0, 99),
    **{f'raw byte {number}': (0, 254) for number in range(1, decode.RAW_BYTES)},
}
# An attribute's meaning is copied if this many vendors, and this share of all entries with this
# attribute, agree.
VENDORS = 3
AGREEMENT = 0.9
# Keys, other than attributes, copied from the entry that matches the drive at present.
INHERITED = (
    'uses',
    'uses_common',
    'no_endurance',
    'untrusted_statistics',
    'statistic_units',
    'clock',
    'farm',
    'ignore_thresholds',
)

# validate rejects this text, so that a draft cannot pass as validated.
SOURCE = 'FILL IN: a document and its page or section; or which models were compared, and how many drives'
NO_ENTRY_NEEDED = {
    'NVMe': 'No entry is needed: the health log of the NVMe standard covers everything about {}.',
    'SCSI': 'No entry is needed: the log pages of the SCSI standard cover everything about {}.',
}
NEXT = (
    'Next: correct the family and the models; add "readings" to each attribute whose meaning you '
    'know (doc/reference/metrics.md lists the metrics); name your source. Then run: check_smart_attributes validate '
    'THIS_FILE. To use the entry, copy the file to /etc/check-smart-attributes/attributes.d.'
)

# (attribute, smartctl's name) -> (readings, why)
Meanings = Mapping[tuple[int, str], tuple[Json, str]]
# (attribute, smartctl's name) -> the vote of each entry: (vendor, readings as JSON text)
Votes = dict[tuple[int, str], list[tuple[str, str]]]


class Fit(NamedTuple):
    """A formula for an attribute whose result equals a number of the drive's own statistics, so
    that the attribute probably counts the same: "raw" of attribute 241 equals host_written.
    """

    attribute: int
    metric: str
    spec: Json  # a reading, as in an entry
    words: str


def draft(report: Report, database: SpecDatabase) -> str:
    """Return the JSON text of a file with one new entry and its sample, or the reason why no
    entry is drafted.
    """
    identity = report.identity
    model = json.dumps(identity.plain_model or 'this drive')
    if identity.protocol in NO_ENTRY_NEEDED:
        return NO_ENTRY_NEEDED[identity.protocol].format(model)
    rows = _usable_rows(report)
    if not rows:
        return (
            f'No entry can be drafted: the report of {model} has no attribute table; '
            'read the drive with smartctl -A (behind a controller, also with -d TYPE).'
        )
    # The entry that matches the drive at present: for its family, generic, or for unknown drives;
    # {} if several of equal rank match.
    claims = database.claims(identity, [row.id for row in report.attributes])
    base: Json = {}
    if len(claims) == 1:
        [(_, base)] = claims
    stated = _stated(report, database)
    endurance = report.statistics.get(ENDURANCE_STATISTIC)
    percent = endurance.number if endurance else None
    fits = endurance_fits(percent, rows)
    for metric, number in stated.items():
        if database.metrics[metric].unit == 'B':
            fits += amount_fits(metric, number, rows)
    entry = {
        'family': _family(identity),
        **_condition(identity, rows),
        **{key: base[key] for key in INHERITED if key in base},
        'attributes': _attributes(
            identity.kind, rows, base=base, fits=fits, database=database
        ),
        'source': SOURCE,
    }
    data = {
        'comment': f'{_already_covered(base)}{_about_endurance(percent, fits)} {NEXT}',
        'entries': [entry],
        'samples': [
            _sample(identity, rows, entry=entry, stated=stated, database=database)
        ],
    }
    return formatting.formatted(data)


def _usable_rows(report: Report) -> list[AttributeRow]:
    """Return the rows that an entry can describe: of each attribute ID from 1 to 255, the first."""
    by_number: dict[int, AttributeRow] = {}
    for row in report.attributes:
        if 1 <= row.id <= 255:
            by_number.setdefault(row.id, row)
    return list(by_number.values())


def _family(identity: Identity) -> str:
    """Return a family name of 3 to LONGEST_FAMILY characters: smartctl's, or the model up to its
    capacity; "drive MODEL" if both are shorter.
    """
    model = identity.plain_model
    beginning = re.split(r'\s+\d+\s*[GT]B?\b', model)[0]
    for name in (identity.family, beginning):
        if len(name) >= 3:
            return name[:LONGEST_FAMILY]
    return f'drive {model}'[:LONGEST_FAMILY]


def _condition(identity: Identity, rows: Sequence[AttributeRow]) -> Json:
    """Return the keys that decide which drives the entry matches: "models" if the drive reports a
    model, and "first" (IDs at the beginning of the attribute table) if the model is short.
    """
    pattern = model_pattern(identity)
    condition: MutableJson = {'models': [pattern]} if pattern else {}
    # Such a short name belongs to a controller, not to a drive.
    if literal_characters(pattern) < LITERALS:
        condition['first'] = [row.id for row in rows[:8]]
    return condition


def model_pattern(identity: Identity) -> str:
    """Return a regular expression for the drive's model; '' if the model is empty.

    It matches any capacity if the model has one: "Acme X5 [0-9.]+[GT]B" for "Acme X5 240GB". It
    matches only this model if the model has no capacity, or little else.
    """
    name = identity.plain_model
    capacity = re.search(r'(?<![0-9])[0-9]+(?:\.[0-9]+)?(?P<blank>\s?)[GT]B\b', name)
    if capacity:
        before = literally(name[: capacity.start()])
        after = literally(name[capacity.end() :])
        general = f'{before}[0-9.]+{capacity["blank"]}[GT]B{after}'
        # With fewer literal characters, it would match the drives of other vendors, too.
        if literal_characters(general) >= LITERALS:
            return general
    pattern = literally(name)
    # Brackets lengthen a pattern that is too short for the schema, and change nothing else.
    if pattern and len(pattern) < SHORTEST_PATTERN:
        return f'(?:{pattern})'
    return pattern


def _attributes(
    kind: str,
    rows: Sequence[AttributeRow],
    base: Json,
    fits: Sequence[Fit],
    database: SpecDatabase,
) -> Json:
    """Return the "attributes" of the new entry, which replaces the base entry:

    1. the attributes of the base entry that the drive has, in the order of the base entry;
    2. all other attributes of the drive, except those of the base entry's sets, which the new
       entry uses, too. (A set is a list of attributes that several entries share.)

    The base entry sets an attribute of its sets to null if it does not use this attribute. Such an
    attribute of the drive is null in the new entry, too.

    kind: "hdd", "ssd" ... base: the entry that matches the drive at present, or {}.
    """
    # the rows of the drive that are not in the result yet
    remaining = {row.id: row for row in rows}
    attributes: MutableJson = {}
    # Without a base entry, there is nothing to inherit.
    for key, attribute in base.get('attributes', {}).items():
        row = remaining.pop(int(key), None)
        if row and attribute is None:
            attributes[key] = None
        elif row:
            attributes[key] = _inherited(attribute, row, base['family'])
    # The attributes, by ID, of the base entry and of its sets, without those that are null. Without
    # a base entry, these are the attributes of the common set.
    described = database.rows_of(base)
    # A second reading of a metric would replace the first one, so the other attributes must not
    # read these metrics. Attributes that this drive lacks count, too: other drives of the family
    # have them.
    read_metrics = {
        metric
        for attribute in described.values()
        for metric in attribute.get('readings', ())
    }
    meanings = _agreed_meanings(database, kind, read_metrics)
    new_fits = [fit for fit in fits if fit.metric not in read_metrics]
    for number, row in remaining.items():
        # The base entry's sets describe their attributes already.
        if number not in described:
            attributes[str(number)] = _attribute(row, meanings, new_fits)
    return attributes


def _inherited(attribute: Json, row: AttributeRow, family: str) -> Json:
    """Return an attribute of the entry *family*, with the drive's columns in its comment."""
    reason = f'interpreted as in the entry {family}' if 'readings' in attribute else ''
    comment = attribute.get('comment', '')
    return {**attribute, 'comment': _comment(row, reason, comment)}


def _attribute(row: AttributeRow, meanings: Meanings, fits: Sequence[Fit]) -> Json:
    """Return a new attribute; it has "readings" only if their meaning is certain."""
    name = row.name[:LONGEST_NAME] if len(row.name) > 1 else 'Unknown_Attribute'
    agreed, reason = meanings.get((row.id, name), ({}, ''))
    fits_here = [fit for fit in fits if fit.attribute == row.id]
    # A metric that other attributes fit, too, may fit by chance.
    contested = {fit.metric for fit in fits if fit.attribute != row.id}
    certain: MutableJson = {}
    for fit in fits_here:
        if fit.metric not in contested:
            # Of several formulas that fit, the first is the most common.
            certain.setdefault(fit.metric, fit.spec)
    attribute: MutableJson = {
        'name': name,
        'comment': _comment(row, reason, *(fit.words for fit in fits_here)),
    }
    if agreed or certain:
        attribute['readings'] = {**agreed, **certain}
    return attribute


def _comment(row: AttributeRow, *words: str) -> str:
    """Return a comment that HINT of tools/add.py matches: the row's columns, for comparison with a
    datasheet, and *words*.
    """
    columns = f'VALUE {_or_dashes(row.value)}, WORST {_or_dashes(row.worst)}, RAW {row.raw[:LONGEST_NAME]}'
    return '; '.join(filter(None, (columns, *words)))


def _or_dashes(number: int | None) -> str:
    return '---' if number is None else f'{number:03d}'


def _agreed_meanings(
    database: SpecDatabase, kind: str, read_metrics: set[str]
) -> Meanings:
    """Return the readings on which nearly all entries of several vendors agree, and the reason.

    Percentages and amounts of data are left out, because families count these differently under the
    same name. kind: entries for other kinds of drives do not count. read_metrics: metrics that the
    new entry already reads; attributes that give one of them are left out.
    """
    meanings = {}
    for key, votes in _votes(database, kind).items():
        # AGREEMENT is more than half, so only the most frequent readings can be agreed.
        [(text, count)] = Counter(text for _, text in votes).most_common(1)
        vendors = {vendor for vendor, readings_text in votes if readings_text == text}
        agreed = json.loads(text)
        total = len(votes)
        is_agreed = len(vendors) >= VENDORS and count >= AGREEMENT * total
        if is_agreed and agreed and read_metrics.isdisjoint(agreed):
            reason = f'interpreted alike in {count} of {total} entries with this name'
            meanings[key] = agreed, reason
    return meanings


def _votes(database: SpecDatabase, kind: str) -> Votes:
    """Return the votes on each attribute: one for each entry that describes the attribute. Entries
    for other kinds of drives, and fallbacks, have no vote. The readings are without percentages and
    amounts of data, so they can be "{}".
    """
    votes: Votes = {}
    for entry in database.entries():
        if entry.get('kind', kind) != kind or entry.get('fallback'):
            continue
        vendor = entry['family'].split()[0]
        for number, attribute in database.rows_of(entry).items():
            specs = {
                metric: spec
                for metric, spec in attribute.get('readings', {}).items()
                if database.metrics[metric].unit not in ('%', 'B')
            }
            key = number, attribute['name']
            votes.setdefault(key, []).append((vendor, json.dumps(specs)))
    return votes


def endurance_fits(percent: int | None, rows: Sequence[AttributeRow]) -> list[Fit]:
    """Return the readings of vendor attributes that equal the endurance that the drive itself
    states.

    percent: this endurance; None if the drive does not state it. [] if it proves nothing.
    """
    if percent not in WORN:
        return []
    fits = []
    for row in rows:
        for text, valid in ENDURANCE_FORMULAS.items():
            if decode.evaluate(decode.parse(text), row, {row.id: row}) == percent:
                words = f'{text} equals the endurance that the drive itself reports'
                spec = {'from': text, 'valid': list(valid)}
                fits.append(Fit(row.id, ENDURANCE, spec, words))
    return fits


def amount_fits(metric: str, stated: float, rows: Sequence[AttributeRow]) -> list[Fit]:
    """Return the raw values that equal, in any unit, an amount of data that the drive itself
    states.

    stated: bytes.
    """
    fits = []
    for row in rows:
        raw = decode.evaluate(decode.parse('raw'), row, {row.id: row}) or 0
        # For smaller counts, some unit fits by chance. With this limit, 23,638 of 23,698 measured
        # amounts are read as in their entries.
        if raw < 1000:
            continue
        for unit, (base, size) in decode.UNITS.items():
            if base == 'B' and _is_same_amount(stated, raw * size, size):
                words = f'the raw value multiplied by {unit} equals the {metric} that the drive itself reports'
                fits.append(Fit(row.id, metric, {'from': 'raw', 'unit': unit}, words))
    return fits


def _is_same_amount(stated: float, amount: float, size: float) -> bool:
    """Return whether an attribute counts the amount that a drive states. All arguments are in bytes.

    size: of one count of the attribute.
    """
    # the drive keeps counting between reading its log and its attributes
    if abs(amount - stated) <= max(size, 0.001 * stated):
        return True
    # the drive's own count may have overflowed; a coarse unit fits what remains by chance
    return size <= COARSEST and is_remainder(stated, amount, size)


def _stated(report: Report, database: SpecDatabase) -> dict[str, float]:
    """Return what the drive itself states in its device statistics, for the metrics that vendors
    count in different ways: metric -> number in its base unit.
    """
    stated = {}
    for reading in readings.standard_readings(report, database.metrics, {}):
        if (
            reading.number is not None
            and reading.source.log == drive_logs.DEVICE_STATISTICS
            and is_stated(reading.metric, reading.unit)
        ):
            stated[reading.metric] = reading.number
    return stated


def _already_covered(base: Json) -> str:
    """Return a note for a drive whose family has an entry; '' if it has none. base: the entry that
    matches it, or {}.
    """
    if not base or base.get('fallback'):
        return ''
    return (
        f'The entry {base["family"]} already covers this drive and gives the same readings as the '
        'draft. Once added, the draft would be used for this drive instead of that entry, so add '
        'it only to correct or complete that entry. '
    )


def _about_endurance(percent: int | None, fits: Sequence[Fit]) -> str:
    """Return what the endurance that the drive itself reports shows. percent: None if not stated."""
    if percent is None:
        return 'The drive itself does not report its wear, so there was nothing to compare the attributes with.'
    if percent not in WORN:
        return (
            f'The drive reports {percent} % endurance used. This value does not show which attribute '
            'counts wear; draft again with a drive that is partly worn.'
        )
    equal = [
        f'{fit.spec["from"]} of {fit.attribute}'
        for fit in fits
        if fit.metric == ENDURANCE
    ]
    same = 'no attribute'
    caution = 'cite a document that says which attribute counts wear'
    if equal:
        same = ', '.join(equal)
        caution = 'a match on one drive may be chance, so compare a second drive'
    return f'The drive reports {percent} % endurance used; attributes with the same value: {same}; {caution}.'


def _sample(
    identity: Identity,
    rows: Sequence[AttributeRow],
    entry: Json,
    stated: Mapping[str, float],
    database: SpecDatabase,
) -> Json:
    """Return the drive as a sample of its new entry, which expects what the entry reads now."""
    report = Report(identity, attributes=tuple(rows))
    expect: MutableJson = {}
    spec = database.read_entry(entry)
    for reading in readings.vendor_readings(report, spec, database.metrics):
        is_status = reading.state is not None
        expect[reading.metric] = reading.verdict if is_status else reading.number
    sample: MutableJson = {
        'family': entry['family'],
        'model': identity.plain_model,
        'firmware': identity.firmware,
        'kind': identity.kind,
    }
    if decode.logical_in_physical(identity) > 1:
        sample['physical_block_size'] = identity.physical_block_size
    if identity.capacity:
        sample['capacity'] = identity.capacity
    sample.update(origin='captured', lines=[_line(row) for row in rows])
    if stated:
        sample['stated'] = stated
    return {**sample, 'expect': expect}


def _line(row: AttributeRow) -> str:
    """Return the row as smartctl -x prints it, with the known flags."""
    flags = 'P-----' if row.prefail else '------'
    failed = {'now': 'NOW', 'past': 'Past'}.get(row.when_failed, '-')
    name = re.sub(r'\s+', '_', row.name.strip()) or 'Unknown_Attribute'
    return (
        f'{row.id:3d} {name:<23} {flags}   {_or_dashes(row.value)}   {_or_dashes(row.worst)}   '
        f'{_or_dashes(row.threshold)}    {failed}    {" ".join(row.raw.split()) or "-"}'
    )
