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


# A printer: JSON -> the text that smartctl prints of the same drive. Source: the printf formats of
# smartmontools 7.3, ataprint.cpp, nvmeprint.cpp, scsiprint.cpp.


def printed(data: dict[str, Any], brief: bool = False, group: str = ',') -> str:
    """Return the text form of a JSON report, as far as the package reads it.

    brief: the attribute table of -x. group: what parts thousands in this locale.
    """
    version = '.'.join(map(str, data.get('smartctl', {}).get('version', (7, 3))))
    lines = [
        f'smartctl {version} 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)',
        'Copyright (C) 2002-22, Bruce Allen, Christian Franke, www.smartmontools.org',
        '',
    ]
    protocol = data.get('device', {}).get('protocol')
    lines += {'ATA': _ata_lines, 'NVMe': _nvme_lines, 'SCSI': _scsi_lines}[protocol](
        data, brief, group
    )
    return '\n'.join(lines) + '\n'


def _grouped(number: int, group: str) -> str:
    return f'{number:,}'.replace(',', group)


def _capacity(data: dict[str, Any], group: str) -> str:
    return (
        f'{_grouped(data["user_capacity"]["bytes"], group)} bytes '
        f'[1{"," if group != "," else "."}00 TB]'
    )


def _rotation(rate: int) -> str:
    return f'{rate} rpm' if rate else 'Solid State Device'


def _sectors(logical: int, physical: int | None) -> str:
    if physical is None:  # cut out of the JSON; smartctl always prints both
        return f'Sector Size:      {logical} bytes'
    return (
        f'Sector Size:      {logical} bytes logical/physical'
        if logical == physical
        else f'Sector Sizes:     {logical} bytes logical, {physical} bytes physical'
    )


def _ata_lines(data: dict[str, Any], brief: bool, group: str) -> list[str]:
    lines = ['=== START OF INFORMATION SECTION ===']
    for key, label in (
        ('model_family', 'Model Family:'),
        ('model_name', 'Device Model:'),
        ('serial_number', 'Serial Number:'),
    ):
        lines += [f'{label:<18}{data[key] or "[No Information Found]"}'] if key in data else []
    if 'wwn' in data:
        lines.append('LU WWN Device Id: {naa:x} {oui:06x} {id:09x}'.format(**data['wwn']))
    if 'ata_additional_product_id' in data:
        lines.append(f'Add. Product Id:  {data["ata_additional_product_id"]}')
    if 'firmware_version' in data:
        lines += [
            f'Firmware Version: {data["firmware_version"]}',
            f'User Capacity:    {_capacity(data, group)}',
        ]
        lines.append(_sectors(data['logical_block_size'], data.get('physical_block_size')))
    lines += (
        [f'Rotation Rate:    {_rotation(data["rotation_rate"])}'] if 'rotation_rate' in data else []
    )
    lines += ['', '=== START OF READ SMART DATA SECTION ===']
    if 'smart_status' in data:
        word = 'PASSED' if data['smart_status']['passed'] else 'FAILED!'
        lines += [f'SMART overall-health self-assessment test result: {word}', '']
    return [*lines, *_table_lines(data, brief), *_ata_log_lines(data)]


def _table_lines(data: dict[str, Any], brief: bool) -> list[str]:
    lines = [
        'SMART Attributes Data Structure revision number: 1',
        'Vendor Specific SMART Attributes with Thresholds:',
        'ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED '
        'RAW_VALUE',
    ]
    for row in data.get('ata_smart_attributes', {}).get('table', []):
        value, worst, threshold = (
            f'{row[key]:03d}' if key in row else '---' for key in ('value', 'worst', 'thresh')
        )
        failed, flags = row.get('when_failed', ''), row['flags']
        if brief:
            word = {'now': 'NOW', 'past': 'Past'}.get(failed, '-')
            lines.append(
                f'{row["id"]:3d} {row["name"]:<24}{flags["string"]:<7}  {value:<4}  {worst:<4}  '
                f'{threshold:<4}   {word:<5}{row["raw"]["string"]}'
            )
        else:
            word = {'now': 'FAILING_NOW', 'past': 'In_the_past'}.get(failed, '    -')
            kind, updated = (
                'Pre-fail' if flags['prefailure'] else 'Old_age',
                'Always' if flags['updated_online'] else 'Offline',
            )
            lines.append(
                f'{row["id"]:3d} {row["name"]:<24}0x{flags["value"]:04x}   {value:<4}  {worst:<4}  '
                f'{threshold:<4}   {kind:<10}{updated:<9}{word:<12}{row["raw"]["string"]}'
            )
    return [*lines, '']


def _ata_log_lines(data: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for name, headline, count in (
        (
            'extended',
            'SMART Extended Comprehensive Error Log Version: 1 (1 sectors)',
            'Device Error Count',
        ),
        ('summary', 'SMART Error Log Version: 1', 'ATA Error Count'),
    ):
        log = data.get('ata_smart_error_log', {}).get(name)
        if log and 'count' in log:
            lines += [
                headline,
                f'{count}: {log["count"]}' if log['count'] else 'No Errors Logged',
                '',
            ]
            lines += [line for entry in log.get('table', []) for line in _error_lines(entry, name)]
    for name, headline in (
        ('extended', 'SMART Extended Self-test Log Version: 1 (1 sectors)'),
        ('standard', 'SMART Self-test log structure revision number 1'),
    ):
        log = data.get('ata_smart_self_test_log', {}).get(name)
        lines += [headline] if log else []
        for number, test in enumerate(log.get('table', []) if log else [], 1):
            lines.append(
                '#{:2d}  {:<19} {:<29} {:d}0%  {:8d}         -'.format(
                    number,
                    test['type']['string'],
                    test['status']['string'],
                    test['status']['value'] & 15,
                    test['lifetime_hours'],
                )
            )
    for page in data.get('ata_device_statistics', {}).get('pages', []):
        for entry in page.get('table', []):
            lines.append(
                '0x{:02x}  0x{:03x}  {} {:>15}  {} {}'.format(
                    page['number'],
                    entry['offset'],
                    entry['size'],
                    entry.get('value', '-'),
                    entry['flags']['string'][1:],
                    entry['name'],
                )
            )
    if 'ata_pending_defects_log' in data:
        count = data['ata_pending_defects_log']['count']
        lines += ['Pending Defects log (GP Log 0x0c)', *([] if count else ['No Defects Logged'])]
        lines += [f'{number:5d} {number:18d} {"-":>8}' for number in range(count)]
    status = data.get('ata_smart_data', {}).get('self_test', {}).get('status')
    return [
        *lines,
        *([f'Self-test execution status:      ({status["value"]:4d})\tWords'] if status else []),
    ]


def _error_lines(entry: dict[str, Any], log: str) -> list[str]:
    """Return one entry of an error log, without the commands that led to it."""
    registers, words = entry['completion_registers'], entry.get('error_description', '').strip()
    row = [registers['error'], registers['status'], *[registers['count'] & 255] * 5]
    if log == 'extended':
        row[1:1] = ['--']
        row += [0] * 5
    place = f' [{entry["error_number"] % 4}]' if log == 'extended' else ''
    return [
        f'Error {entry["error_number"]}{place} occurred at disk power-on lifetime: '
        f'{entry["lifetime_hours"]} '
        f'hours (9 days + 2 hours)',
        '  When the command that caused the error occurred, the device was active or idle.',
        '',
        '  After command completion occurred, registers were:',
        '  ER ST SC SN CL CH DH',
        '  -- -- -- -- -- -- --',
        '  '
        + ' '.join(part if isinstance(part, str) else f'{part:02x}' for part in row)
        + (f'  {words}' if words.startswith('Error: ') else ''),
        '',
        '  40 00 00 00 00 00 00 08   1d+03:05:13.578  READ FPDMA QUEUED',
        '',
    ]


def _nvme_lines(data: dict[str, Any], brief: bool, group: str) -> list[str]:
    lines = ['=== START OF INFORMATION SECTION ===']
    for key, label in (
        ('model_name', 'Model Number:'),
        ('serial_number', 'Serial Number:'),
        ('firmware_version', 'Firmware Version:'),
    ):
        lines += [f'{label:<36}{data[key]}'] if key in data else []
    if 'nvme_total_capacity' in data:
        lines.append(
            f'Total NVM Capacity:                 {_grouped(data["nvme_total_capacity"], group)} '
            f'[1.00 TB]'
        )
    for namespace in data.get('nvme_namespaces', []):
        if 'capacity' in namespace:
            bytes_ = _grouped(namespace['capacity']['bytes'], group)
            lines += [
                f'Namespace {namespace["id"]} Size/Capacity:          {bytes_} [512 GB]',
                f'Namespace {namespace["id"]} Formatted LBA Size:     '
                f'{namespace["formatted_lba_size"]}',
            ]
        if 'eui64' in namespace:
            digits = f'{namespace["eui64"]["oui"]:06x} {namespace["eui64"]["ext_id"]:010x}'
            lines.append(f'Namespace {namespace["id"]} IEEE EUI-64:            {digits}')
    limits = data.get('nvme_composite_temperature_threshold', {})
    for key, label in (
        ('warning', 'Warning  Comp. Temp. Threshold:'),
        ('critical', 'Critical Comp. Temp. Threshold:'),
    ):
        lines += [f'{label:<36}{limits[key]} Celsius'] if key in limits else []
    lines += ['', '=== START OF SMART DATA SECTION ===']
    if 'smart_status' in data:
        word = 'PASSED' if data['smart_status']['passed'] else 'FAILED!'
        lines += [f'SMART overall-health self-assessment test result: {word}', '']
    log = data.get('nvme_smart_health_information_log', {})
    lines += ['SMART/Health Information (NVMe Log 0x02, NSID 0xffffffff)'] if log else []
    for key, label in _NVME_TEXT.items():
        if key in log:
            label = (
                label.replace('\\', '').replace('Warning +', 'Warning  ').replace(' +', ' ') + ':'
            )
            unit = {
                'temperature': ' Celsius',
                'available_spare': '%',
                'available_spare_threshold': '%',
                'percentage_used': '%',
            }
            number = f'0x{log[key]:02x}' if key == 'critical_warning' else _grouped(log[key], group)
            amount = ' [5.85 TB]' if key.startswith('data_units') else ''
            lines.append(f'{label:<36}{number}{unit.get(key, "")}{amount}')
    return lines


def _scsi_lines(data: dict[str, Any], brief: bool, group: str) -> list[str]:
    lines = ['=== START OF INFORMATION SECTION ===']
    for keys, label in (
        (('scsi_vendor', 'vendor'), 'Vendor:'),
        (('scsi_product', 'product'), 'Product:'),
        (('scsi_revision', 'revision'), 'Revision:'),
        (('logical_unit_id',), 'Logical Unit id:'),
        (('serial_number',), 'Serial number:'),
    ):
        lines += [f'{label:<22}{data[key]}' for key in keys if key in data]
    lines += [
        f'User Capacity:        {_capacity(data, group)}',
        f'Logical block size:   {data["logical_block_size"]} bytes',
        *(
            [f'Physical block size:  {data["physical_block_size"]} bytes']
            if 'physical_block_size' in data
            else []
        ),
        f'Rotation Rate:        {_rotation(data["rotation_rate"])}',
        'Device type:          disk',
        '',
        '=== START OF READ SMART DATA SECTION ===',
    ]
    lines += [
        'SMART Health Status: OK' if data['smart_status']['passed'] else 'SMART Health Status: BAD'
    ]
    cycles = data.get('scsi_start_stop_cycle_counter', {})
    numbers = {**json_scsi(data), 'power_on_hours': None}
    lines += [f'Current temperature: {environment(data)}'] if environment(data) else []
    lines += [
        f'Current Drive Temperature:     {data["temperature"]["current"]} C',
        f'Drive Trip Temperature:        {numbers["drive_trip"]} C',
    ]
    for key, text in (
        ('percentage_used', 'Percentage used endurance indicator: {}%'),
        ('start_stop_cycles_rated', 'Specified cycle count over device lifetime:  {}'),
        ('start_stop_cycles', 'Accumulated start-stop cycles:  {}'),
        ('load_unload_cycles_rated', 'Specified load-unload count over device lifetime:  {}'),
        ('load_unload_cycles', 'Accumulated load-unload cycles:  {}'),
        ('grown_defects', 'Elements in grown defect list: {}'),
        ('pending_defects', '  Pending defect count:{} Pending Defects'),
    ):
        lines += (
            [text.format(numbers[key])]
            if numbers.get(key) is not None and (cycles or 'cycles' not in key)
            else []
        )
    if 'power_on_time' in data:
        lines.append(
            f'Accumulated power on time, hours:minutes '
            f'{data["power_on_time"]["hours"]}:{data["power_on_time"]["minutes"]:02d}'
        )
    for command, counters in data.get('scsi_error_counter_log', {}).items():
        columns = '   '.join(f'{counters[column]:>8}' for column in _COLUMNS)
        lines.append(f'{command + ":":<9}{columns}')
    for number in range(20):
        test = data.get(f'scsi_self_test_{number}')
        if test:
            segment = test.get('failed_segment', {}).get('value', '-')
            lines.append(
                f'#{number + 1:2d}  {test["code"]["string"]:<16}  {test["result"]["string"]:<25} '
                f'{segment:>3}   {test["power_on_time"]["hours"]:5d}{"-":>18} [-   -    -]'
            )
    return lines
