"""Real drives of every model get a verdict, and the database says something true about them.

The drives are those of linuxhw/EnterpriseDrive beside the project: 18,433 hard disks, 14,425 SATA
SSDs, 7,324 NVMe drives. Of each of their 2,044 models, two drives and all that said FAILED are put
into the JSON that smartctl would print, and read and judged like any other report. `make verdicts`
judges all drives.
"""

import gc
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import smartctl_output
from shipped import DATABASE, DEFAULTS, LIMITS

from smart_attributes.check import fence, judging
from smart_attributes.errors import DriveError
from smart_attributes.knowledge.drive_logs import DEVICE_STATISTICS
from smart_attributes.model import Device, Report, State, Verdict
from smart_attributes.reading import json_report

MODELS = 2044
OF_A_MODEL = 2  # drives, for 8 seconds of CPU; all take 100
FAILED = '"FAILED!"'
STRANGE = 'WD_BLACK AN1500'


class Judged(NamedTuple):
    """One drive of the fleet: what was known of it, and what we said."""

    kind: str  # "HDD", "SSD", "NVMe"
    facts: dict[str, Any]
    verdict: Verdict
    weight: float  # drives of its model for which it stands
    # families of the entries that claim the drive by its attributes
    claims: tuple[str, ...]


class Fleet(NamedTuple):
    """All drives, judged."""

    drives: list[Judged]


@pytest.fixture(scope='module')
def fleet(shared) -> Fleet:
    drives = []
    # no cycles are left behind, and each collection would look through all drives so far
    gc.disable()
    for facts, weight in facts_of(shared):
        document = json.dumps(smartctl_output.as_json(facts))
        device, claims = Device(facts['path'], name='drive'), ()
        try:
            report = json_report.parse(document)
            verdict = judging.judge(device, report, DATABASE, LIMITS, judging.Rules())
            claims = families_that_claim(report)
        except DriveError as error:
            verdict = fence.unreadable(device, error, State.OK)
        drives.append(
            Judged(facts['path'].partition('/')[0], facts, verdict, weight, claims)
        )
    gc.enable()
    return Fleet(drives)


def families_that_claim(report: Report) -> tuple[str, ...]:
    """Return the families of all entries that fit a report with attributes."""
    numbers = [row.id for row in report.attributes]
    return (
        tuple(entry['family'] for _, entry in DATABASE.claims(report.identity, numbers))
        if numbers
        else ()
    )


def facts_of(shared: Path) -> Iterator[tuple[dict[str, Any], float]]:
    """Yield the first drives of each model, and those that said FAILED; each with its weight."""
    numbers: Counter[str] = Counter()
    chosen: dict[str, list[str]] = {}
    with gzip.open(shared / 'drives/drives.jsonl.gz', 'rt') as lines:
        for line in lines:  # {"path": "SSD/vendor/family/model/number", ...
            model = line[: line.index('",')].rpartition('/')[0]
            numbers[model] += 1
            if numbers[model] <= OF_A_MODEL or FAILED in line:
                chosen.setdefault(model, []).append(line)
    for model, found in chosen.items():
        for line in found:
            yield json.loads(line), numbers[model] / len(found)


def statistic(judged: Judged) -> int:
    """Return the drive's own endurance indicator, -1 where it has none."""
    text = judged.facts.get('devstat', {}).get('7:0x008', ['-'])[0]
    return int(text) if text.isdigit() else -1


def endurance_of(judged: Judged) -> list[tuple[float, str]]:
    """Return (number, source) of every known reading of the endurance."""
    return [
        (j.reading.number, str(j.reading.source))
        for j in judged.verdict.judgements
        if j.reading.metric == 'endurance_used' and j.reading.number is not None
    ]


def test_every_drive_gets_a_verdict(fleet):
    """No model is too strange."""
    assert (
        len({judged.facts['path'].rpartition('/')[0] for judged in fleet.drives})
        == MODELS
    )
    # A card with two drives behind it that answers for them, with a log of zeros beside the
    # temperature.
    assert {
        judged.facts['model'] for judged in fleet.drives if judged.verdict.problem
    } == {STRANGE}


def test_every_drive_that_says_failed_is_critical(fleet):
    """The vendor's own verdict is near-certain; only known bogus thresholds and a warm NVMe
    drive are let off.
    """
    failed = [
        judged for judged in fleet.drives if judged.facts.get('health') == 'FAILED!'
    ]
    spared = [
        (judged.facts['path'], judged.verdict.state.name)
        for judged in failed
        if judged.verdict.state is not State.CRITICAL
    ]

    assert len(failed) == 102
    assert spared == []


def test_at_least_85_of_100_ssds_have_an_entry_that_tells_their_endurance(fleet):
    """UNKNOWN for half of the drives is what made the older plugin useless."""
    ssds = [judged for judged in fleet.drives if judged.kind == 'SSD']
    told = sum(
        any(source.startswith('attribute') for _, source in endurance_of(judged))
        for judged in ssds
    )
    assert told / len(ssds) >= 0.85


def test_vendor_attributes_agree_with_the_drives_own_endurance_statistic(fleet):
    """Within 2 points or 6 % on 97.5 % of worn drives: the figure that no other tool has."""
    worn = [
        judged
        for judged in fleet.drives
        if judged.kind == 'SSD' and 1 <= statistic(judged) <= 99
    ]
    agree = 0.0
    for judged in worn:
        vendor = [
            number
            for number, source in endurance_of(judged)
            if source != DEVICE_STATISTICS
        ]
        distance = abs(vendor[0] - statistic(judged)) if vendor else 1000
        agree += judged.weight * (distance <= max(2, 0.06 * statistic(judged)))
    share = agree / sum(judged.weight for judged in worn)
    assert share >= 0.975


def test_no_endurance_is_invented(fleet):
    """A drive with neither attribute nor statistic has no endurance; no figure is below 0 or
    above 255.
    """
    invented = [
        judged.facts['path']
        for judged in fleet.drives
        for number, _ in endurance_of(judged)
        if not 0 <= number <= 255
        or not (
            judged.facts.get('attributes')
            or judged.facts.get('nvme')
            or judged.facts.get('scsi_percent_used')
            or statistic(judged) >= 0
        )
    ]

    assert invented == []


def test_no_drive_is_claimed_by_two_entries(fleet):
    """Which entry speaks must not depend on their order."""
    assert {
        (judged.facts['model'], *judged.claims)
        for judged in fleet.drives
        if len(judged.claims) > 1
    } == set()


def test_a_healthy_fleet_does_not_ring_at_night(fleet):
    """CRITICAL among drives that say PASSED comes only from metrics whose critical limit is
    meant so.
    """
    reasons: Counter = Counter()
    for judged in fleet.drives:
        if judged.facts.get('health') == 'PASSED':
            reasons.update(
                {
                    j.reading.metric
                    for j in judged.verdict.judgements
                    if j.state is State.CRITICAL
                }
            )
    metrics = DEFAULTS['metrics']

    def may_be_critical(metric: str) -> bool:
        kinds = [
            metrics[metric].get(kind, {}) for kind in ('hdd', 'ssd', 'nvme', 'sas')
        ]
        limits = [
            metrics[metric],
            *kinds,
            *(group for kind in kinds for group in kind.get('groups', {}).values()),
        ]
        return any(limit.get('critical') is not None for limit in limits) or metric in (
            'vendor_threshold',
            'self_test',
            'firmware_advisory',
            'power_loss_protection',
            'write_protect',
        )

    assert [metric for metric in reasons if not may_be_critical(metric)] == []
    assert reasons['error_log_count'] == reasons['crc_errors'] == 0
