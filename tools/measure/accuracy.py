"""Measure how accurate attributes.json is, by comparing its readings with the drives' own
statistics.

Endurance from the vendor attribute is compared with the drive's own statistic (device statistics,
page 7), hidden from the reading. Then every drive is judged with the default limits, and the alerts
are counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from smart_attributes.check import judging
from smart_attributes.devtools.reading_rules import ENDURANCE, ENDURANCE_STATISTIC, WORN
from smart_attributes.knowledge import formatting, readings, shipped_data
from smart_attributes.knowledge.drive_database import FAMILY, SpecDatabase, generality
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import Device, State, Verdict

from .collection import CollectedDrive, read

# counts by family; "compared" is the number of worn drives, "agree" how many of these confirm the
# entry
Evidence = Mapping[str, Mapping[str, int]]
POINTS, SHARE = 2, 0.06  # agreement: within 2 points, or 6 % of the statistic
WORST_SHOWN = 3

Print = Callable[[str], None]


class Comparison(NamedTuple):
    """Endurance of one drive: from its entry, and from its own statistic."""

    name: str
    model: str
    family: str | None
    is_generic: bool
    claims: tuple[str, ...]  # families of the selected entries
    vendor: float | None  # endurance from a vendor attribute, %
    statistic: int | None  # the drive's own, %
    source: str = ''
    is_believed: bool = True  # the entry trusts the statistic

    @property
    def is_worn(self) -> bool:
        """Return whether the drive is worn enough to validate an entry."""
        return self.statistic is not None and self.statistic in WORN

    @property
    def distance(self) -> float:
        """Return the difference between both in percentage points; infinite if the entry gives
        no reading.
        """
        return (
            abs(self.vendor - (self.statistic or 0))
            if self.vendor is not None
            else float('inf')
        )

    @property
    def agrees(self) -> bool:
        """Return whether the reading agrees with the statistic within POINTS or SHARE."""
        return self.distance <= max(POINTS, SHARE * (self.statistic or 0))


class DriveState(NamedTuple):
    """One drive judged with the default limits."""

    kind: str
    health: str  # "PASSED", "FAILED" or "not reported"
    state: State
    reasons: tuple[tuple[str, State], ...]  # each metric that is not OK, with its state
    is_out_of_range: bool  # an endurance figure is below 0 or above 255
    family: str | None  # None: no entry matches the drive


class Worn(NamedTuple):
    """How many worn drives agree with their own statistic."""

    drives: int
    agree: int
    believed: int  # drives whose entry trusts the statistic
    agree_believed: int


class Measurement(NamedTuple):
    """All drives of a collection."""

    comparisons: Sequence[Comparison]  # of solid state drives
    states: Sequence[DriveState]


def measure(
    drives: Iterable[CollectedDrive], database: SpecDatabase, thresholds: Thresholds
) -> Measurement:
    """Return the comparison and the state of every drive."""
    comparisons: list[Comparison] = []
    states: list[DriveState] = []
    for drive in drives:
        if drive.report.identity.kind == 'ssd':
            comparisons.append(compare(drive, database))
        states.append(drive_state(drive, judged(drive, database, thresholds)))
    return Measurement(comparisons, states)


def judged(
    drive: CollectedDrive, database: SpecDatabase, thresholds: Thresholds
) -> Verdict:
    """Return the verdict on a drive, without history and without site files."""
    return judging.judge(
        Device(drive.name, name='drive'),
        drive.report,
        database,
        thresholds,
        judging.Rules(),
    )


def drive_state(drive: CollectedDrive, verdict: Verdict) -> DriveState:
    """Return the state of a drive and the reasons for it."""
    health = {True: 'PASSED', False: 'FAILED', None: 'not reported'}[
        drive.report.smart_status
    ]
    wear = [
        j.reading.number for j in verdict.judgements if j.reading.metric == ENDURANCE
    ]
    return DriveState(
        drive.report.identity.kind,
        health,
        verdict.state,
        tuple(
            (j.reading.metric, j.state)
            for j in verdict.judgements
            if j.state is not State.OK
        ),
        any(number is not None and not 0 <= number <= 255 for number in wear),
        verdict.entry,
    )


def compare(drive: CollectedDrive, database: SpecDatabase) -> Comparison:
    """Return the reading of the vendor attribute together with the drive's own statistic."""
    identity = drive.report.identity
    numbers = [row.id for row in drive.report.attributes]
    spec = database.identify(identity, numbers)
    vendor = next(
        (
            reading
            for reading in readings.vendor_readings(
                drive.report, spec, database.metrics
            )
            if reading.metric == ENDURANCE and reading.number is not None
        ),
        None,
    )
    statistic = drive.report.statistics.get(ENDURANCE_STATISTIC)
    winners = [entry for _, entry in database.claims(identity, numbers)]
    return Comparison(
        drive.name,
        identity.model,
        spec.family,
        not any(generality(entry) == FAMILY for entry in winners),
        tuple(entry['family'] for entry in winners),
        vendor.number if vendor else None,
        statistic.number if statistic else None,
        str(vendor.source) if vendor else '',
        ENDURANCE not in spec.untrusted_statistics,
    )


def report(measured: Measurement, write: Print) -> None:
    """Print the tables: per entry, totals, alerts."""
    for line in (
        *entry_lines(measured.comparisons),
        '',
        *total_lines(measured),
        '',
        *state_lines(measured.states),
    ):
        write(line)


def entry_lines(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield a line for each entry, then the worst disagreements of each entry that has any."""
    yield f'{"entry":<62} {"drives":>6} {"read":>6} {"worn":>6} {"agree":>6} {"in 1":>6}'
    for family, group in sorted(
        _by_family(comparisons).items(), key=lambda item: (-len(item[1]), item[0])
    ):
        of_family = [c for c in group if c.is_worn]
        yield (
            f'{family[:62]:<62} {len(group):6} {sum(c.vendor is not None for c in group):6} '
            f'{len(of_family):6} {sum(c.agrees for c in of_family):6} '
            f'{sum(c.distance <= 1 for c in of_family):6}'
        )
        for c in sorted(
            (c for c in of_family if not c.agrees), key=lambda c: -c.distance
        )[:WORST_SHOWN]:
            reads = 'nothing' if c.vendor is None else f'{c.vendor:g} % ({c.source})'
            yield f'    {c.model}: the attribute gives {reads}, the drive states {c.statistic} %'


def _by_family(comparisons: Iterable[Comparison]) -> dict[str, list[Comparison]]:
    groups: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        groups.setdefault(comparison.family or '(no entry)', []).append(comparison)
    return groups


def total_lines(measured: Measurement) -> Iterator[str]:
    """Yield the figures over all SATA SSDs."""
    ssds = measured.comparisons
    counts = worn(ssds)
    beside = [c for c in ssds if c.is_worn and c.vendor is not None]
    yield (
        f'SATA SSDs: {len(ssds)}; with an endurance figure from an attribute: '
        f'{share(sum(c.vendor is not None for c in ssds), len(ssds))}'
    )
    yield (
        f'worn SATA SSDs (endurance statistic 1 to 99): {counts.drives}; agree: '
        f'{share(counts.agree, counts.drives)}; where the entry believes the statistic: '
        f'{share(counts.agree_believed, counts.believed)}'
    )
    yield (
        f'beside the statistic, within 1 point: '
        f'{share(sum(c.distance <= 1 for c in beside), len(beside))}'
    )
    yield (
        f'matched by an entry that is not generic: '
        f'{share(sum(c.family is not None and not c.is_generic for c in ssds), len(ssds))}'
    )
    yield from _listed(
        'matched by a generic entry',
        (c for c in ssds if c.family is not None and c.is_generic),
    )
    yield from _listed('matched by none', (c for c in ssds if c.family is None))
    yield from _listed('matched by two entries', (c for c in ssds if len(c.claims) > 1))
    yield (
        f'endurance figures below 0 or above 255: {sum(a.is_out_of_range for a in measured.states)}'
    )


def _listed(title: str, comparisons: Iterable[Comparison]) -> Iterator[str]:
    models = Counter(c.model for c in comparisons)
    yield f'{title}: {sum(models.values())}'
    yield from (f'    {count} x {model}' for model, count in models.most_common(20))


def worn(comparisons: Iterable[Comparison]) -> Worn:
    """Return how many of the worn drives agree."""
    drives = [c for c in comparisons if c.is_worn]
    believed = [c for c in drives if c.is_believed]
    return Worn(
        len(drives),
        sum(c.agrees for c in drives),
        len(believed),
        sum(c.agrees for c in believed),
    )


def state_lines(states: Sequence[DriveState]) -> Iterator[str]:
    """Yield the states per kind, and the reasons for WARNING and CRITICAL by SMART health
    status.
    """
    yield 'states under the default limits'
    counts = Counter((each.kind, each.health, each.state) for each in states)
    for kind, health in sorted({key[:2] for key in counts}):
        words = ', '.join(
            f'{state.name} {counts[kind, health, state]}'
            for state in State
            if counts[kind, health, state]
        )
        yield f'    {kind:<5} {health:<8} {words}'
    for health in ('PASSED', 'FAILED'):
        for state in (State.CRITICAL, State.WARNING):
            yield f'reasons for {state.name}, health status {health}'
            reasons = Counter(
                (each.kind, metric)
                for each in states
                if each.health == health
                for metric in {
                    metric for metric, level in each.reasons if level is state
                }
            )
            often_first = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
            yield from (
                f'    {count:6} {kind:<5} {metric}'
                for (kind, metric), count in often_first
            )


def share(part: int, whole: int) -> str:
    """Return a share such as "7162 of 7301, 98.10 %"."""
    return f'{part} of {whole}, {percent(part, whole)}' if whole else 'none'


def percent(part: int, whole: int) -> str:
    """Return a percentage such as "98.10 %", or "-" if *whole* is 0."""
    return f'{100 * part / whole:.2f} %' if whole else '-'


def evidence_for(families: Iterable[str], measured: Measurement) -> Evidence:
    """Return the measured counts of each family, without the families that have no drive."""
    groups = _by_family(measured.comparisons)
    drives = Counter(each.family for each in measured.states)
    return {
        family: {'drives': drives[family], **_compared(groups.get(family, []))}
        for family in families
        if drives[family]
    }


def _compared(group: Sequence[Comparison]) -> dict[str, int]:
    compared = [c for c in group if c.is_worn and c.vendor is not None]
    if not compared:
        return {}
    return {'compared': len(compared), 'agree': sum(c.agrees for c in compared)}


def laid_out(found: Evidence) -> str:
    """Return the evidence of families as the text of its file: one line for each family."""
    lines = [
        f' {json.dumps(family)}: {json.dumps(found[family])}'
        for family in sorted(found, key=formatting.natural)
    ]
    return '{\n' + ',\n'.join(lines) + '\n}\n'


def main(path: str, evidence: str = '', write: Print = print) -> None:
    """Measure the shipped database on the drives of a file. evidence: the file to write the
    counts of families to.
    """
    data = shipped_data.load(shipped_data.path('attributes.json'))
    thresholds = Thresholds(
        shipped_data.load(shipped_data.path('thresholds/default.json'))
    )
    measured = measure(read(path), SpecDatabase(data), thresholds)
    report(measured, write)
    if evidence:
        with open(evidence, 'w', encoding='utf-8') as file:
            file.write(
                laid_out(
                    evidence_for(
                        [entry['family'] for entry in data['entries']], measured
                    )
                )
            )
        write(f'{evidence}: evidence written')
