"""A second, deliberately simple reading of smartctl's output, to compare with the package's.

It shares no code with the package and knows nothing of odd reports: one regular
expression a fact, the first that matches counts.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Optional

# id, value, worst, threshold ('---' is None), failed ('', 'now', 'past'), raw
Row = tuple[int, Optional[int], Optional[int], Optional[int], str, str]

_ROW = re.compile(
    r'^ *(\d{1,3}) (?:[^\n]*?)'
    r' ?(?:0x[0-9a-f]{4}|[P-][O-][S-][R-][C-][K-][+ ]?) +(\d{3}|---) +(\d{3}|---) +(\d{3}|---)'
    r' +(?:(?:Pre-fail|Old_age) +(?:Always|Offline) +)?(-|NOW|Past|FAILING_NOW|In_the_past) '
    r'+(\S[^\n]*?)\s*$',
    re.M,
)

_NVME_TEXT = {
    'critical_warning': 'Critical Warning',
    'temperature': 'Temperature',
    'available_spare': 'Available Spare',
    'available_spare_threshold': 'Available Spare Threshold',
    'percentage_used': 'Percentage Used',
    'data_units_read': 'Data Units Read',
    'data_units_written': 'Data Units Written',
    'host_reads': 'Host Read Commands',
    'host_writes': 'Host Write Commands',
    'controller_busy_time': 'Controller Busy Time',
    'power_cycles': 'Power Cycles',
    'power_on_hours': 'Power On Hours',
    'unsafe_shutdowns': 'Unsafe Shutdowns',
    'media_errors': 'Media and Data Integrity Errors',
    'num_err_log_entries': 'Error Information Log Entries',
    'warning_temp_time': r'Warning +Comp\. Temperature Time',
    'critical_comp_time': r'Critical +Comp\. Temperature Time',
    'warning_temp_threshold': r'Warning +Comp\. Temp\. Threshold',
    'critical_temp_threshold': r'Critical +Comp\. Temp\. Threshold',
}
_SCSI_TEXT = {
    'temperature': r'Current Drive Temperature: +(\d+)',
    'drive_trip': r'Drive Trip Temperature: +(\d+)',
    'grown_defects': r'Elements in grown defect list: +(\d+)',
    'pending_defects': r'Pending defect count: ?(\d+)',
    'percentage_used': r'Percentage used endurance indicator: +(\d+)%',
    'non_medium_errors': r'Non-medium error count: +(\d+)',
    'start_stop_cycles': r'Accumulated start-stop cycles: +(\d+)',
    'start_stop_cycles_rated': r'Specified cycle count over device lifetime: +(\d+)',
    'load_unload_cycles': r'Accumulated load-unload cycles: +(\d+)',
    'load_unload_cycles_rated': r'Specified load-unload count over device lifetime: +(\d+)',
}
_COLUMNS = (
    'errors_corrected_by_eccfast',
    'errors_corrected_by_eccdelayed',
    'errors_corrected_by_rereads_rewrites',
    'total_errors_corrected',
    'correction_algorithm_invocations',
    'gigabytes_processed',
    'total_uncorrected_errors',
)


def text_rows(text: str) -> list[Row]:
    """Return the attribute table of a text report."""
    failed = {'-': '', 'NOW': 'now', 'FAILING_NOW': 'now', 'Past': 'past', 'In_the_past': 'past'}
    return [
        (int(number), _number(value), _number(worst), _number(threshold), failed[when], raw)
        for number, value, worst, threshold, when, raw in _ROW.findall(text.replace('\r', ''))
    ]


def json_rows(data: dict[str, Any]) -> list[Row]:
    """Return the attribute table of a JSON report."""
    return [
        (
            row['id'],
            row.get('value'),
            row.get('worst'),
            row.get('thresh'),
            row.get('when_failed', ''),
            row['raw']['string'].strip(),
        )
        for row in data.get('ata_smart_attributes', {}).get('table', [])
    ]


def text_nvme(text: str) -> dict[str, int]:
    """Return the NVMe values of a text report."""
    found = {}
    for key, label in _NVME_TEXT.items():
        match = re.search(rf'^ *{label}: +([^\n\[]*)', text, re.M)
        digits = re.sub(r'[^0-9a-fx]', '', match.group(1).replace('Celsius', '')) if match else ''
        if digits:
            found[key] = int(digits, 16 if digits.startswith('0x') else 10)
    return found if 'NVMe Log 0x02' in text else {}


def json_nvme(data: dict[str, Any]) -> dict[str, int]:
    """Return the NVMe values of a JSON report."""
    log = data.get('nvme_smart_health_information_log', {})
    found = {key: log[key] for key in _NVME_TEXT if key in log}
    limits = data.get('nvme_composite_temperature_threshold', {})
    found.update(
        {
            f'{name}_temp_threshold': limits[name]
            for name in ('warning', 'critical')
            if name in limits
        }
    )
    return found


def text_scsi(text: str) -> dict[str, float]:
    """Return the SCSI values of a text report."""
    matches = {key: re.search(pattern, text) for key, pattern in _SCSI_TEXT.items()}
    found: dict[str, float] = {key: int(match.group(1)) for key, match in matches.items() if match}
    for command, rest in re.findall(
        r'^ *(read|write|verify): +([\d ,.]+)$', text.replace('\r', ''), re.M
    ):
        for column, number in zip(_COLUMNS, rest.split()):
            found[f'{command}.{column}'] = float(number.replace(',', '.'))
    hours = re.findall(r'(?:hours:minutes|hours powered up =) (\d+)', text)
    if hours:
        found['power_on_hours'] = int(hours[-1])
    is_scsi = any(
        word in text
        for word in ('SMART Health Status', 'Current Drive Temperature', 'Vendor (Seagate')
    )
    return found if is_scsi else {}


def environment(data: dict[str, Any]) -> int:
    """Return the temperature of the environmental reports, which some disks have in place of a
    temperature page.
    """
    return int(
        data.get('scsi_environmental_reports', {}).get('temperature_1', {}).get('current', 0)
    )


def json_scsi(data: dict[str, Any]) -> dict[str, float]:
    """Return the SCSI values of a JSON report."""
    if data.get('device', {}).get('protocol') != 'SCSI':
        return {}
    cycles = data.get('scsi_start_stop_cycle_counter', {})
    places: dict[str, Callable[[], Any]] = {
        'temperature': lambda: data['temperature']['current'] or environment(data),
        'drive_trip': lambda: data['temperature']['drive_trip'],
        'grown_defects': lambda: data['scsi_grown_defect_list'],
        'pending_defects': lambda: data['scsi_pending_defects']['count'],
        'percentage_used': lambda: data['scsi_percentage_used_endurance_indicator'],
        'start_stop_cycles': lambda: cycles['accumulated_start_stop_cycles'],
        'start_stop_cycles_rated': lambda: cycles['specified_cycle_count_over_device_lifetime'],
        'load_unload_cycles': lambda: cycles['accumulated_load_unload_cycles'],
        'load_unload_cycles_rated': lambda: cycles[
            'specified_load_unload_count_over_device_lifetime'
        ],
        'power_on_hours': lambda: data['power_on_time']['hours'],
    }
    found = {}
    for key, place in places.items():
        try:
            found[key] = place()
        except KeyError:
            continue
    for command, counters in data.get('scsi_error_counter_log', {}).items():
        found.update({f'{command}.{column}': float(counters[column]) for column in _COLUMNS})
    return found


def health(text: str) -> bool | None:
    """Return the verdict that a text report prints."""
    match = re.search(r'(?:self-assessment test result|SMART Health Status): +(\w+)', text)
    return (
        {'PASSED': True, 'OK': True, 'UNKNOWN': None}.get(match.group(1), False) if match else None
    )


def _number(printed: str) -> int | None:
    return None if printed == '---' else int(printed)
