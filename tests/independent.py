"""A second, deliberately simple reading of smartctl's text, to compare with the package's.

It shares no code with the package and knows nothing of odd reports: one regular
expression a fact, the first that matches counts.
"""

from __future__ import annotations

import re
from typing import Optional

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
    failed = {
        '-': '',
        'NOW': 'now',
        'FAILING_NOW': 'now',
        'Past': 'past',
        'In_the_past': 'past',
    }
    return [
        (
            int(number),
            _number(value),
            _number(worst),
            _number(threshold),
            failed[when],
            raw,
        )
        for number, value, worst, threshold, when, raw in _ROW.findall(
            text.replace('\r', '')
        )
    ]


def text_nvme(text: str) -> dict[str, int]:
    """Return the NVMe values of a text report."""
    found = {}
    for key, label in _NVME_TEXT.items():
        match = re.search(rf'^ *{label}: +([^\n\[]*)', text, re.M)
        digits = (
            re.sub(r'[^0-9a-fx]', '', match.group(1).replace('Celsius', ''))
            if match
            else ''
        )
        if digits:
            found[key] = int(digits, 16 if digits.startswith('0x') else 10)
    return found if 'NVMe Log 0x02' in text else {}


def text_scsi(text: str) -> dict[str, float]:
    """Return the SCSI values of a text report."""
    matches = {key: re.search(pattern, text) for key, pattern in _SCSI_TEXT.items()}
    found: dict[str, float] = {
        key: int(match.group(1)) for key, match in matches.items() if match
    }
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
        for word in (
            'SMART Health Status',
            'Current Drive Temperature',
            'Vendor (Seagate',
        )
    )
    return found if is_scsi else {}


def health(text: str) -> bool | None:
    """Return the verdict that a text report prints."""
    match = re.search(
        r'(?:self-assessment test result|SMART Health Status): +(\w+)', text
    )
    if not match:
        return None
    return {'PASSED': True, 'OK': True, 'UNKNOWN': None}.get(match.group(1), False)


def _number(printed: str) -> int | None:
    return None if printed == '---' else int(printed)
