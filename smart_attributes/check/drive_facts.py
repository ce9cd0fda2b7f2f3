"""What tells two drives with the same identity apart. Pure.

Some drives share a serial number, a WWN, or both. Two reports are from different drives if facts
differ that do not change between two reads. Temperature, pending sectors, errors of the interface,
entries of error logs and unsafe shutdowns change at any time, so they are no evidence, and neither
is a status that smartctl derived from the attributes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..model import AttributeRow, Identity, Report
from ..typed import Any, NamedTuple

_GIB = 2.0**30
_SATA_SPEED, _NVME_SPEED = 600e6, 8e9  # bytes/s; no drive writes faster


class Measure(NamedTuple):
    """By how much a number can differ between two reads of one drive."""

    slack: float = 0.0  # at any time
    rate: float = 0.0  # more for each second between the reads


_EXACT = Measure()
_PERCENT = Measure(1)
_HOURS = Measure(1, 1 / 3600)
_SECTORS = Measure(_GIB / 512, _SATA_SPEED / 512)

Key = tuple[str, object]  # part of a report, and the name or ID of a number in it
# The units of attributes depend on the model. The smallest ones are a second for the power-on time,
# and a sector for written data. The normalized values are the remaining life or spare of an SSD for
# most vendors. Page and offset of device statistics: ACS-4, 9.5.
_STEADY: Mapping[Key, Measure] = {
    ('raw', 9): Measure(1, 1),
    ('raw', 12): _EXACT,
    ('raw', 241): _SECTORS,
    **{('normalized', id_): _PERCENT for id_ in (169, 173, 177, 202, 231, 232, 233)},
    ('statistic', (1, 0x10)): _HOURS,
    ('statistic', (1, 0x18)): _SECTORS,
    ('statistic', (7, 0x08)): _PERCENT,
    ('nvme', 'power_on_hours'): _HOURS,
    ('nvme', 'power_cycles'): _EXACT,
    ('nvme', 'data_units_written'): Measure(_GIB / 512_000, _NVME_SPEED / 512_000),
    ('nvme', 'percentage_used'): _PERCENT,
    ('scsi', 'power_on_hours'): _HOURS,
    ('scsi', 'start_stop_cycles'): _EXACT,
    ('scsi', 'write.gigabytes_processed'): Measure(_GIB / 1e9, _SATA_SPEED / 1e9),
    ('scsi', 'percentage_used'): _PERCENT,
}
# Counts that never decrease: reallocated sectors, reported uncorrectable errors, reallocations.
_ERRORS: tuple[Key, ...] = (
    ('raw', 5),
    ('raw', 187),
    ('raw', 196),
    ('nvme', 'media_errors'),
    ('scsi', 'grown_defects'),
)


def differ(earlier: Report, later: Report, seconds: float, may_count: bool) -> bool:
    """Return whether two reports are from different drives.

    seconds: from the beginning of the earlier read to the end of the later one. may_count: the
    drive can have counted errors between the reads, so only lower counts mean another drive;
    otherwise, any other count, status or warning does.
    """
    if _has_other_capacity(earlier.identity, later.identity):
        return True
    before = numbers(earlier)
    after = numbers(later)
    common = before.keys() & after.keys()
    for key in common & _STEADY.keys():
        measure = _STEADY[key]
        if abs(after[key] - before[key]) > measure.slack + measure.rate * seconds:
            return True
    errors = common & set(_ERRORS)
    if may_count:
        return any(after[key] < before[key] for key in errors)
    # A status that one of the reports lacks is no evidence.
    statuses = {earlier.own_status, later.own_status}
    has_other_status = True in statuses and False in statuses
    return (
        has_other_status
        or _warnings(earlier) != _warnings(later)
        or any(after[key] != before[key] for key in errors)
    )


def _warnings(report: Report) -> int:
    """Return the warning bits of an NVMe drive, except that of the temperature."""
    return report.nvme.get('critical_warning', 0) & ~0x02


def numbers(report: Report) -> dict[Key, float]:
    """Return the numbers in a report, by part and name or ID."""
    normalized = {
        row.id: row.value for row in report.attributes if row.value is not None
    }
    statistics = {place: entry.number for place, entry in report.statistics.items()}
    parts: Mapping[str, Mapping[Any, float]] = {
        'raw': _raw_numbers(report.attributes),
        'normalized': normalized,
        'statistic': statistics,
        'nvme': report.nvme,
        'scsi': report.scsi,
    }
    return {
        (part, name): number
        for part, named in parts.items()
        for name, number in named.items()
    }


def _raw_numbers(rows: Sequence[AttributeRow]) -> dict[int, int]:
    """Return the number at the beginning of the raw value of each attribute, by ID."""
    matches = {row.id: re.match(r'\d+', row.raw) for row in rows}
    return {id_: int(match[0]) for id_, match in matches.items() if match}


def _has_other_capacity(first: Identity, second: Identity) -> bool:
    """Return whether both identities have a capacity, and these differ.

    An NVMe drive reports the capacity of the namespace that was read. So for NVMe drives, the
    result is False unless the identities have the same WWN, which is that of one namespace.
    """
    is_nvme = 'NVMe' in (first.protocol, second.protocol)
    has_same_wwn = first.wwn != '' and first.wwn == second.wwn
    if is_nvme and not has_same_wwn:
        return False
    capacities = {first.capacity, second.capacity} - {None}
    return len(capacities) > 1


# --- how bad a report is --------------------------------------------------------------------------


def errors_of_table(rows: Sequence[AttributeRow]) -> tuple[bool, int, int]:
    """Return a key by which the ATA attribute table with more errors is the greater one; a table
    without rows is the least.
    """
    raw = _raw_numbers(rows)
    failing = sum(row.when_failed == 'now' for row in rows)
    # reallocated, uncorrectable and pending sectors
    sectors = sum(raw.get(id_, 0) for id_ in (5, 187, 196, 197, 198))
    return bool(rows), failing, sectors


def errors_of_nvme(log: Mapping[str, int]) -> tuple[int, int, int]:
    """Return a key by which the NVMe health log with more errors is the greater one.

    A log that lacks one of these numbers counts as better than one that has it.
    """
    return (
        log.get('media_errors', -1),
        log.get('percentage_used', -1),
        -log.get('available_spare', 256),
    )


def errors_of_scsi(log: Mapping[str, float]) -> tuple[bool, float]:
    """Return a key by which the SCSI log pages with more errors are the greater ones; no pages are
    the least.
    """
    ends = 'total_uncorrected_errors', 'defects'  # of the names in the log pages
    errors = sum(number for name, number in log.items() if name.endswith(ends))
    return bool(log), errors
