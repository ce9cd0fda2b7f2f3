"""Tell a drive that reports only the end of its rated life from a drive that fails. Pure.

Both report the same status, but a worn drive leaves time to order a replacement. Of 25 NVMe drives
of linuxhw/EnterpriseDrive that report degraded reliability, 20 have used more than 100 %, have lost
no data and have 97 % or more of their spare blocks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..model import AttributeRow, Reading, Report, State
from ..typed import TYPE_CHECKING
from ..wording import HEALTH
from . import severity

if TYPE_CHECKING:
    from .drive_database import Metrics

RELIABILITY = 'reliability'
ATTRIBUTE = 'vendor_threshold'
_USED_UP = 100  # %
_SPARE_WARNING = 1  # bit of the NVMe critical warning
# numbers of the NVMe health log that show wear, lost data and spare blocks
_LIFE = frozenset(
    ('percentage_used', 'media_errors', 'available_spare', 'available_spare_threshold')
)


def marked(
    verdicts: Iterable[Reading],
    report: Report,
    numbers: Sequence[Reading],
    metrics: Metrics,
) -> list[Reading]:
    """Return the drive's own verdicts; those that report only wear are marked with `is_wear`.

    numbers: the other readings of the drive.
    """
    if _has_lost_data(numbers, metrics):
        return [*verdicts]
    worn = _worn_attributes(report, numbers)
    return [
        _as_wear(verdict) if _is_wear(verdict, report, worn) else verdict
        for verdict in verdicts
    ]


def _is_wear(verdict: Reading, report: Report, worn: Collection[int]) -> bool:
    """Return whether a verdict reports only wear. worn: see _worn_attributes(). False for every
    verdict that is not about reliability, an attribute or a failed health status.
    """
    if verdict.metric == RELIABILITY:
        return _is_used_up(report.nvme)
    if verdict.metric == ATTRIBUTE:
        return verdict.source.attribute in worn
    if verdict.metric != HEALTH or verdict.state is not State.CRITICAL:
        return False
    failing = {row.id for row in causes(report)}
    return bool(failing) and failing.issubset(worn)


def causes(report: Report) -> list[AttributeRow]:
    """Return the attributes that make a drive report FAILED: those that fail now and are
    pre-fail.
    """
    return [
        row for row in report.attributes if row.when_failed == 'now' and row.prefail
    ]


def _as_wear(reading: Reading) -> Reading:
    """Return a reading marked as wear; the words of one on reliability say so, too."""
    if reading.metric == RELIABILITY:
        words = 'reliability degraded, because the rated life is used up'
        return reading._replace(verdict=words, brief='', is_wear=True)
    return reading._replace(is_wear=True)


def _has_lost_data(numbers: Iterable[Reading], metrics: Metrics) -> bool:
    """Return whether a judged number that counts lost data is above 0."""
    return any(
        metrics[reading.metric].concern == severity.DATA
        for reading in numbers
        if reading.judged and reading.number
    )


def _is_used_up(log: Mapping[str, int]) -> bool:
    """Return whether the NVMe health log shows that the rated life is used up, without lost data
    and with enough spare blocks; False if one of the numbers in _LIFE is missing.

    Of the warning bits, only that of the spare blocks matters, because each other one is a verdict
    of its own. If the bits are missing, there is no warning.
    """
    if not _LIFE.issubset(log):
        return False
    has_spare_warning = log.get('critical_warning', 0) & _SPARE_WARNING
    return (
        log['percentage_used'] >= _USED_UP
        and log['media_errors'] == 0
        and log['available_spare'] > log['available_spare_threshold']
        and not has_spare_warning
    )


def _worn_attributes(report: Report, numbers: Iterable[Reading]) -> set[int]:
    """Return the attributes that make a drive report FAILED and show only its wear: the endurance
    used is read from them, and is at least 100 % minus their threshold.
    """
    used = {
        reading.source.attribute: reading.number
        for reading in numbers
        if reading.metric == severity.ENDURANCE and reading.number is not None
    }
    worn = set()
    for row in causes(report):
        if not row.threshold or row.id not in used:
            continue
        if used[row.id] >= _USED_UP - row.threshold:
            worn.add(row.id)
    return worn
