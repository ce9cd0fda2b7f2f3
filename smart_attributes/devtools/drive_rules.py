"""Check entries against drives: samples, measured models and coverage."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..knowledge import drive_database, patterns, readings, vendor_logs
from ..knowledge.data_file import shown
from ..model import LogPage, Reading
from ..typed import Json
from . import reading_rules
from .sources import Claim, Context, EntriesFile, SampleDrive

Readings = Mapping[str, Reading]  # by metric


def drive_problems(claims: Sequence[Claim], context: Context) -> Iterator[str]:
    """Yield the problems that drives show: two entries of equal rank for a drive, samples with
    unexpected readings, and values that may be stuck.
    """
    yield from _disputes(claims)
    for claim in claims:
        for problem in _sample_problems(claim, context):
            yield f'{claim.drive.place}: {problem}'
    yield from _stuck(claims, context)


def _disputes(claims: Sequence[Claim]) -> Iterator[str]:
    """Yield a sentence for each group of entries that match a drive with equal rank."""
    # by the families; about the first drive of each
    disputed: dict[tuple[str, ...], str] = {}
    for drive, winners in claims:
        if len(winners) > 1:
            families = tuple(entry['family'] for _, entry in winners)
            name = drive.identity.model or drive.place
            disputed.setdefault(families, drive_database.contradiction(winners, name))
    yield from disputed.values()


def _sample_problems(claim: Claim, context: Context) -> Iterator[str]:
    """Yield the problems of a sample: its own entry does not match it, or reads something else than
    it expects. Yield nothing for a measured model, which expects nothing, or if entries dispute the
    sample.
    """
    drive, winners = claim
    if drive.expect is None or len(winners) > 1:
        return
    families = {entry['family'] for entry in context.database.entries()}
    if drive.family not in families:
        near = difflib.get_close_matches(str(drive.family), families)
        advice = f'; did you mean {near[0]}?' if near else ''
        yield f'no entry is called {drive.family}{advice}'
        return
    unmet = _unmet(drive, context)
    if unmet:
        reason = ' and '.join(f'"{key}"' for key in unmet)
        yield (
            f'the entry {drive.family} does not match this sample, because of {reason}; correct the '
            'entry or the sample'
        )
        return
    # its own entry matches, so there is a winner
    [(file, winner)] = winners
    if winner['family'] != drive.family:
        yield (
            f'this sample belongs to the entry {drive.family}, but the entry {winner["family"]} in {file} '
            'takes precedence; narrow one of the two'
        )
        return
    results = _readings(drive, context.database)
    yield from _differences(results, drive.expect)
    yield from _contradictions(results, drive, context.database)
    if file != context.sources[0].name:
        yield from _lost(results, drive, winner, context)


def _unmet(drive: SampleDrive, context: Context) -> list[str]:
    """Return the conditions that keep a sample's own entry from matching the sample; [] if it
    matches.

    Of several entries of this family, the one with the fewest such conditions counts.
    """
    unmet = []
    for entry in context.database.entries():
        if entry['family'] != drive.family:
            continue
        of_entry = []
        for key in drive_database.CONDITIONS:
            if key in entry and not drive_database.matches(
                {key: entry[key]}, drive.identity, drive.attributes
            ):
                of_entry.append(key)
        unmet.append(of_entry)
    return min(unmet, key=len)


def _readings(drive: SampleDrive, database: drive_database.SpecDatabase) -> Readings:
    """Return what the database reads from a drive's rows and log page, by metric."""
    spec = database.identify(drive.identity, drive.attributes)
    results = [*readings.vendor_readings(drive.report, spec, database.metrics)]
    if spec.log and drive.page is not None:
        report = drive.report._replace(vendor_log=LogPage(spec.log[0], drive.page))
        results += vendor_logs.of_drive(
            report,
            spec.log,
            layout=database.layouts[spec.log[1]],
            metrics=database.metrics,
            stored={},
        ).readings
    return {
        reading.metric: reading
        for reading in results
        if reading.metric != vendor_logs.STATUS
    }


def _differences(results: Readings, expect: Json) -> Iterator[str]:
    """Yield a sentence for each metric that only one of both has, or whose values differ."""
    for metric, expected in expect.items():
        reading = results.get(metric)
        if reading is None:
            yield (
                f'"expect" has {metric} {shown(expected)}, but the lines of the sample do not give this metric'
            )
        elif not _equal(reading, expected):
            yield (
                f'"expect" has {metric} {shown(expected)}, but {reading.source} gives '
                f'{_counted(reading)}; correct the wrong value'
            )
    for metric, reading in results.items():
        if metric not in expect:
            yield (
                f'{reading.source} also gives {metric} {_counted(reading)}; if this value is '
                f'right, add "{metric}": {_as_expected(reading)} to "expect"'
            )


def _contradictions(
    results: Readings, drive: SampleDrive, database: drive_database.SpecDatabase
) -> Iterator[str]:
    """Yield a sentence for each reading that differs much from the drive's own statistic, unless
    this statistic is known to be wrong, or seems to be stuck at 0 %.
    """
    spec = database.identify(drive.identity, drive.attributes)
    times_written = _times_written(drive, results)
    for metric, stated in drive.stated.items():
        if metric in spec.untrusted_statistics:
            continue
        if reading_rules.is_stuck_at_zero(metric, stated, times_written):
            continue
        reading = results.get(metric)
        if reading is None or reading.number is None:
            continue
        if not reading_rules.is_near(reading.number, stated, reading.unit):
            yield (
                f'{reading.source} gives {metric} {_counted(reading)}, but the drive itself '
                f'reports {_plain(stated)}; correct "from" or "unit", read another attribute, or '
                'list the metric in "untrusted_statistics"'
            )


def _times_written(drive: SampleDrive, results: Readings) -> int:
    """Return how many times a sample's drive was completely written; 0 if unknown."""
    written = drive.stated.get('host_written')
    reading = results.get('host_written')
    if not written and reading:
        written = reading.number
    capacity = drive.identity.capacity
    return int(written / capacity) if written and capacity else 0


def _lost(
    results: Readings, drive: SampleDrive, entry: Json, context: Context
) -> Iterator[str]:
    """Yield a sentence for each reading of the shipped entry that a sample loses because *entry*,
    of an addition, replaces the shipped entry and does not say why.

    results: the readings with the addition.
    """
    shipped = context.shipped.identify(drive.identity, drive.attributes)
    # null, a comment or a trap is a reason
    explained = [
        f'attribute {number}'
        for number, row in entry.get('attributes', {}).items()
        if row is None or 'comment' in row or 'trap' in row
    ]
    for reading in readings.vendor_readings(
        drive.report, shipped, context.shipped.metrics
    ):
        if (
            reading.metric not in results
            and reading.number is not None
            and str(reading.source) not in explained
        ):
            yield (
                f'the entry {shipped.family or "default"} has a reading that this entry omits: '
                f'{reading.metric} {_counted(reading)} from {reading.source}; either add the reading '
                'here, or extend "uses" with a set that contains it, or explain in a "comment" of the '
                'attribute why it is omitted'
            )


def _stuck(claims: Sequence[Claim], context: Context) -> Iterator[str]:
    """Yield a sentence for each drive at 0 % used after many full writes, if all samples of its
    entry report 0 %.
    """
    sentences = []  # each with the family
    worn = set()  # families with a sample above 0 %
    for drive, winners in claims:
        is_ata_sample = drive.expect is not None and drive.identity.protocol == 'ATA'
        if not is_ata_sample or len(winners) != 1:
            continue
        [(_, entry)] = winners
        results = _readings(drive, context.database)
        reading = results.get(reading_rules.ENDURANCE)
        times_written = _times_written(drive, results)
        if reading is None:
            continue
        if reading.number:
            worn.add(entry['family'])
        if reading.number == 0 and times_written >= reading_rules.DOUBTFUL_FROM:
            sentence = (
                f'{drive.place}: {reading.source} gives 0 % wear, although the whole capacity of the '
                f'drive was written {times_written} times, so the reading may be stuck at 0; add a sample with another '
                'value, read another attribute, or set "no_endurance"'
            )
            sentences.append((entry['family'], sentence))
    for family, sentence in sentences:
        if family not in worn:
            yield sentence


def _equal(reading: Reading, expected: Any) -> bool:
    """Return whether a reading is what a sample expects: a status, a number, or None for unknown."""
    if expected is None or reading.number is None:
        return expected is None and reading.number is None
    if reading.state is not None:
        return bool(reading.verdict == expected)
    is_text = isinstance(expected, str)
    return not is_text and math.isclose(reading.number, expected, rel_tol=1e-4)


def _as_expected(reading: Reading) -> str:
    """Return a reading in the form that the key "expect" of a sample uses."""
    if reading.number is None:
        return 'null'
    return _plain(reading.number) if reading.state is None else shown(reading.verdict)


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else f'{number:.12g}'


def _counted(reading: Reading) -> str:
    """Return a reading with its unit, or null with the reason."""
    if reading.number is None:
        return f'null ({reading.unknown})'
    unit = reading.unit if reading.state is None else ''
    return f'{_as_expected(reading)} {unit}'.rstrip()


def coverage_problems(source: EntriesFile, claims: Sequence[Claim]) -> Iterator[str]:
    """Yield a sentence for each pattern of a file that matches no drive, and for each entry without
    a sample.
    """
    models = sorted({claim.drive.identity.plain_model for claim in claims})
    sampled = {claim.drive.family for claim in claims}
    for entry in source.data['entries']:
        place = f'{source.name}: {entry["family"]}'
        for pattern in entry.get('models', ()):
            if not any(patterns.matches_pattern(pattern, model) for model in models):
                yield (
                    f'{place}: the pattern {shown(pattern)} in "models" matches neither a sample nor a known model; '
                    'add a sample or correct the pattern'
                )
        if entry['family'] not in sampled:
            yield (
                f'{place}: this entry has no sample; add one to tests/samples, or to "samples" in your own file'
            )
