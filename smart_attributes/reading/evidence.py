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
from ..typed import NamedTuple
from .identity import wwn_key

_GIB = 2.0**30
_SECTOR = 512  # bytes
_DATA_UNIT = 512_000  # bytes
_SATA_SPEED, _NVME_SPEED = 600e6, 8e9  # bytes/s; no drive writes faster
_PER_HOUR = 1 / 3600
_PERCENT = 1.0

# Attributes whose normalized value is the remaining life or spare of an SSD for most vendors.
_LIFE = (169, 173, 177, 202, 231, 232, 233)
_ERRORS = (5, 187, 196)  # reallocated sectors, reported uncorrectable errors, reallocations
_SUSPECTS = (197, 198)  # pending and offline uncorrectable sectors
_POWER_ON_HOURS, _POWER_CYCLES, _WRITTEN = 9, 12, 241
# Page and offset of device statistics. Source: ACS-4, 9.5
_STATISTIC_HOURS, _STATISTIC_WRITTEN, _STATISTIC_USED = (1, 0x10), (1, 0x18), (7, 0x08)
# smartctl prints this if the drive did not report a status.
_DERIVED = 'based on an Attribute check'


class Fact(NamedTuple):
    """A number that hardly changes between two reads."""

    number: float
    slack: float = 0.0  # by how much two readings of one drive can differ at any time
    rate: float = 0.0  # by how much more for each second between them


def differ(earlier: Report, later: Report, seconds: float, may_count: bool) -> bool:
    """Return whether two reports are from different drives.

    seconds: from the beginning of the earlier read to the end of the later one. may_count: the
    drive can have counted errors between the reads; otherwise, other error counts or another
    status mean another drive.
    """
    before, after = facts(earlier), facts(later)
    for name in before.keys() & after.keys():
        slack = after[name].slack + after[name].rate * seconds
        if abs(after[name].number - before[name].number) > slack:
            return True
    counted, counted_later = errors(earlier), errors(later)
    common = counted.keys() & counted_later.keys()
    if may_count:
        return any(counted_later[name] < counted[name] for name in common)
    statuses = {own_status(earlier), own_status(later)}
    return statuses == {True, False} or any(counted_later[name] != counted[name] for name in common)


def own_status(report: Report) -> bool | None:
    """Return the health status that the drive itself reported; None if it reported none."""
    return None if is_derived(report) else report.smart_status


def is_derived(report: Report) -> bool:
    """Return whether smartctl derived the health status from the attributes."""
    return any(_DERIVED in message for message in report.messages)


def without_derived(messages: Sequence[str]) -> tuple[str, ...]:
    """Return smartctl's messages without the one about a derived status."""
    return tuple(message for message in messages if _DERIVED not in message)


def facts(report: Report) -> dict[str, Fact]:
    """Return the facts in a report that hardly change between two reads, by name."""
    found = {
        **_capacity(report.identity),
        **_of_attributes(raw_numbers(report.attributes)),
        **_of_life(report),
        **_of_statistics(report),
        **_of_nvme(report.nvme),
        **_of_scsi(report.scsi),
    }
    return {name: fact for name, fact in found.items() if fact is not None}


def errors(report: Report) -> dict[str, float]:
    """Return the counts of errors in a report that never decrease, by name."""
    raw = raw_numbers(report.attributes)
    found = {
        **{f'attribute {id_}': raw.get(id_) for id_ in _ERRORS},
        'media_errors': report.nvme.get('media_errors'),
        'grown_defects': report.scsi.get('grown_defects'),
    }
    return {name: number for name, number in found.items() if number is not None}


def raw_numbers(rows: Sequence[AttributeRow]) -> dict[int, int]:
    """Return the number at the beginning of the raw value of each attribute, by ID."""
    found = {row.id: re.match(r'\d+', row.raw) for row in rows}
    return {id_: int(match[0]) for id_, match in found.items() if match}


def _capacity(identity: Identity) -> dict[str, Fact | None]:
    # That of an NVMe drive is the capacity of the namespace that was read.
    unit = wwn_key(identity.wwn) if identity.protocol == 'NVMe' else ''
    return {f'capacity {unit}': Fact(identity.capacity) if identity.capacity else None}


def _of_attributes(raw: Mapping[int, int]) -> dict[str, Fact | None]:
    hours, cycles, written = (raw.get(id_) for id_ in (_POWER_ON_HOURS, _POWER_CYCLES, _WRITTEN))
    # Their units depend on the model. The smallest one is a second, and a sector of written data.
    return {
        'attribute 9': None if hours is None else Fact(hours, 1, 1),
        'attribute 12': None if cycles is None else Fact(cycles),
        'attribute 241': None
        if written is None
        else Fact(written, _GIB / _SECTOR, _SATA_SPEED / _SECTOR),
    }


def _of_life(report: Report) -> dict[str, Fact | None]:
    return {
        f'life {row.id}': Fact(row.value, _PERCENT)
        for row in report.attributes
        if row.id in _LIFE and row.value is not None
    }


def _of_statistics(report: Report) -> dict[str, Fact | None]:
    numbers = {place: entry.number for place, entry in report.statistics.items()}
    hours, written, used = (
        numbers.get(place) for place in (_STATISTIC_HOURS, _STATISTIC_WRITTEN, _STATISTIC_USED)
    )
    return {
        'hours': None if hours is None else Fact(hours, 1, _PER_HOUR),
        'written': None if written is None else Fact(written * _SECTOR, _GIB, _SATA_SPEED),
        'used': None if used is None else Fact(used, _PERCENT),
    }


def _of_nvme(log: Mapping[str, int]) -> dict[str, Fact | None]:
    hours, cycles, written, used = (
        log.get(key)
        for key in ('power_on_hours', 'power_cycles', 'data_units_written', 'percentage_used')
    )
    return {
        'NVMe hours': None if hours is None else Fact(hours, 1, _PER_HOUR),
        'NVMe cycles': None if cycles is None else Fact(cycles),
        'NVMe written': None if written is None else Fact(written * _DATA_UNIT, _GIB, _NVME_SPEED),
        'NVMe used': None if used is None else Fact(used, _PERCENT),
    }


def _of_scsi(log: Mapping[str, float]) -> dict[str, Fact | None]:
    hours, cycles, written, used = (
        log.get(key)
        for key in (
            'power_on_hours',
            'start_stop_cycles',
            'write.gigabytes_processed',
            'percentage_used',
        )
    )
    return {
        'SCSI hours': None if hours is None else Fact(hours, 1, _PER_HOUR),
        'SCSI cycles': None if cycles is None else Fact(cycles),
        'SCSI written': None if written is None else Fact(written * 1e9, _GIB, _SATA_SPEED),
        'SCSI used': None if used is None else Fact(used, _PERCENT),
    }


# --- how bad a report is --------------------------------------------------------------------------


def errors_of_table(rows: Sequence[AttributeRow]) -> tuple[int, int]:
    """Return a key by which the ATA attribute table with more errors is the greater one."""
    numbers = raw_numbers(rows)
    failing = sum(row.when_failed == 'now' for row in rows)
    return failing, sum(numbers.get(id_, 0) for id_ in (*_ERRORS, *_SUSPECTS))


def errors_of_nvme(log: Mapping[str, int]) -> tuple[int, int, int]:
    """Return a key by which the NVMe health log with more errors is the greater one."""
    return (
        log.get('media_errors', -1),
        log.get('percentage_used', -1),
        -log.get('available_spare', 0),
    )


def errors_of_scsi(log: Mapping[str, float]) -> float:
    """Return a key by which the SCSI log pages with more errors are the greater ones."""
    return sum(
        number
        for name, number in log.items()
        if name.endswith(('total_uncorrected_errors', 'defects'))
    ) + bool(log)
