"""The logs in smartctl's JSON: attributes, device statistics, errors, self-tests, NVMe's and SCSI's."""
from __future__ import annotations

import re

from ..model import AttributeRow, ErrorEntry, SelfTest, Statistic
from ..typed import TYPE_CHECKING, Json
from .json_values import byte_of, fraction_of, integer_of, object_of, objects_of, text_of, word_of
from .report_common import ERROR_COUNTERS, NVME_KEYS, error_entry, last_self_test, newest_first, self_test_passed

if TYPE_CHECKING:
    from typing import Dict, List, Optional, Tuple


# ATA

def attributes(table: List[Json]) -> Tuple[AttributeRow, ...]:
    """Return the attribute table in its order."""
    return tuple(row for row in map(_attribute, table) if row is not None)


def _attribute(entry: Json) -> Optional[AttributeRow]:
    """Return one row of the attribute table, None where it has no valid number."""
    number = byte_of(entry, 'id')
    if not number:
        return None
    raw = object_of(entry, 'raw')
    raw_number = word_of(raw, 'value')
    prefail = object_of(entry, 'flags').get('prefailure')
    failed = text_of(entry, 'when_failed')
    return AttributeRow(
        id=number,
        name=text_of(entry, 'name'),
        value=byte_of(entry, 'value'),
        worst=byte_of(entry, 'worst'),
        threshold=byte_of(entry, 'thresh'),
        prefail=prefail if isinstance(prefail, bool) else None,
        when_failed=failed if failed in ('now', 'past') else '',
        raw=text_of(raw, 'string') or ('' if raw_number is None else str(raw_number)),
        raw_number=raw_number,
    )


def statistics(pages: List[Json]) -> Dict[Tuple[int, int], Statistic]:
    """Return the valid entries of the device statistics. Source: ACS-4, 9.5."""
    found = {}
    for page in pages:
        number = byte_of(page, 'number')
        for entry in objects_of(page, 'table') if number is not None else []:
            offset, value = integer_of(entry, 'offset'), integer_of(entry, 'value')
            flags = object_of(entry, 'flags')
            # An invalid entry has no value; older versions print one all the same.
            if number is not None and offset is not None and value is not None and flags.get('valid') is not False:
                found[number, offset] = Statistic(value, text_of(entry, 'name'), _flags(flags))
    return found


def _flags(flags: Json) -> str:
    """Return the letters that smartctl prints: N normalized, D supports DSN, C condition met."""
    return ''.join(letter for letter, key in (
        ('N', 'normalized'), ('D', 'supports_dsn'), ('C', 'monitored_condition_met')) if flags.get(key) is True)


def error_count(log: Json) -> Optional[int]:
    """Return how many errors the drive has ever logged; both logs count the same."""
    counts = [integer_of(object_of(log, name), 'count') for name in ('extended', 'summary')]
    return max((count for count in counts if count is not None and count >= 0), default=None)


def errors(log: Json) -> Tuple[ErrorEntry, ...]:
    """Return what the drive has kept of its errors, newest first; both logs hold the newest ones."""
    tables = (objects_of(object_of(log, name), 'table') for name in ('extended', 'summary'))
    return newest_first(entry for table in tables for entry in map(_error, table) if entry is not None)


def _error(entry: Json) -> Optional[ErrorEntry]:
    number, hours = integer_of(entry, 'error_number'), integer_of(entry, 'lifetime_hours')
    if number is None or hours is None:
        return None
    return error_entry(number, hours, text_of(entry, 'error_description'),
                       byte_of(object_of(entry, 'completion_registers'), 'error'))


def derived(data: Json) -> Dict[str, int]:
    """Return the percentages that smartctl 7.5 and later derives for ATA; for other protocols it repeats their logs."""
    said = {metric: integer_of(object_of(data, metric), 'current_percent')
            for metric in ('endurance_used', 'spare_available')}
    return {metric: number for metric, number in said.items() if number is not None}


# Self-tests

def self_tests(data: Json) -> Tuple[SelfTest, ...]:
    """Return the self-test log of whichever protocol, newest first."""
    log = object_of(data, 'ata_smart_self_test_log')
    # The extended log holds more, and repeats what the standard log holds.
    entries = objects_of(object_of(log, 'extended'), 'table') or objects_of(object_of(log, 'standard'), 'table')
    if entries:
        return tuple(_self_test(entry, 'type', 'status', entry, 'lifetime_hours') for entry in entries)
    if 'nvme_self_test_log' in data:
        return tuple(_self_test(entry, 'self_test_code', 'self_test_result', entry, 'power_on_hours')
                     for entry in objects_of(object_of(data, 'nvme_self_test_log'), 'table'))
    scsi = [object_of(data, f'scsi_self_test_{number}') for number in range(20) if f'scsi_self_test_{number}' in data]
    if scsi:
        return tuple(_self_test(entry, 'code', 'result', object_of(entry, 'power_on_time'), 'hours') for entry in scsi)
    return last_self_test(byte_of(object_of(object_of(object_of(data, 'ata_smart_data'), 'self_test'), 'status'),
                                  'value'))


def _self_test(entry: Json, kind: str, result: str, time: Json, hours: str) -> SelfTest:
    """Return an entry by the keys that its protocol has for kind and result, and in *time* for the hours."""
    status = text_of(object_of(entry, result), 'string')
    return SelfTest(text_of(object_of(entry, kind), 'string'), status, self_test_passed(status),
                    integer_of(time, hours))


# NVMe and SCSI

def nvme(data: Json) -> Dict[str, int]:
    """Return the NVMe health log and the temperature thresholds, by NVME_KEYS."""
    log = object_of(data, 'nvme_smart_health_information_log')
    thresholds = object_of(data, 'nvme_composite_temperature_threshold')
    status = object_of(object_of(data, 'smart_status'), 'nvme')
    values = {key: integer_of(log, key) for key in NVME_KEYS}
    if values['critical_warning'] is None:
        # Without the log (-H alone) the verdict still has the bits.
        values['critical_warning'] = byte_of(status, 'value')
    values['warning_temp_threshold'] = integer_of(thresholds, 'warning')
    values['critical_temp_threshold'] = integer_of(thresholds, 'critical')
    return {key: value for key, value in values.items() if value is not None}


def scsi(data: Json, other_text: str) -> Dict[str, float]:
    """Return the SCSI log pages, by SCSI_KEYS."""
    cycles = object_of(data, 'scsi_start_stop_cycle_counter')
    values: Dict[str, Optional[float]] = {
        **_scsi_temperatures(data),
        'grown_defects': integer_of(data, 'scsi_grown_defect_list'),
        'pending_defects': _pending_defects(data, other_text),
        'percentage_used': _scsi_percentage_used(data),
        'start_stop_cycles': integer_of(cycles, 'accumulated_start_stop_cycles'),
        'start_stop_cycles_rated': integer_of(cycles, 'specified_cycle_count_over_device_lifetime'),
        'load_unload_cycles': integer_of(cycles, 'accumulated_load_unload_cycles'),
        'load_unload_cycles_rated': integer_of(cycles, 'specified_load_unload_count_over_device_lifetime'),
        'power_on_hours': integer_of(object_of(data, 'power_on_time'), 'hours'),
    }
    for command in ('read', 'write', 'verify'):
        counters = object_of(object_of(data, 'scsi_error_counter_log'), command)
        for counter in ERROR_COUNTERS:
            values[f'{command}.{counter}'] = (
                fraction_of if counter == 'gigabytes_processed' else integer_of)(counters, counter)
    return {key: value for key, value in values.items() if value is not None}


def _scsi_temperatures(data: Json) -> Dict[str, Optional[float]]:
    """Return temperature and trip temperature, which moved between versions."""
    now, report = object_of(data, 'temperature'), object_of(data, 'scsi_environmental_reports')
    current = integer_of(now, 'current')
    if current is None:
        current = integer_of(object_of(report, 'temperature_1'), 'current')
    trip = integer_of(now, 'drive_trip')
    if trip is None:
        trip = integer_of(object_of(data, 'scsi_temperature'), 'drive_trip')
    return {'temperature': current, 'drive_trip': trip}


def _scsi_percentage_used(data: Json) -> Optional[int]:
    used = integer_of(data, 'scsi_percentage_used_endurance_indicator')
    return integer_of(object_of(data, 'endurance_used'), 'current_percent') if used is None else used


def _pending_defects(data: Json, other_text: str) -> Optional[int]:
    """Return the count of pending defects, which 7.0 to 7.2 print beside their JSON."""
    count = integer_of(object_of(data, 'scsi_pending_defects'), 'count')
    printed = re.search(r'Pending defect count: ?(\d{1,10})', other_text) if count is None else None
    return int(printed.group(1)) if printed else count
