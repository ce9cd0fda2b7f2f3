"""What smartctl would print for a drive that is known by its facts.

Facts are objects as in linuxhw/EnterpriseDrive's collection: identity lines,
attribute rows, device statistics and log lines as smartctl -x prints them.
"""

import re
from typing import Any

FLAG_LETTERS = (
    ('prefailure', 'P', 1),
    ('updated_online', 'O', 2),
    ('performance', 'S', 4),
    ('error_rate', 'R', 8),
    ('event_count', 'C', 16),
    ('auto_keep', 'K', 32),
)
NVME_KEYS = {
    'Critical Warning': 'critical_warning',
    'Temperature': 'temperature',
    'Available Spare': 'available_spare',
    'Available Spare Threshold': 'available_spare_threshold',
    'Percentage Used': 'percentage_used',
    'Data Units Read': 'data_units_read',
    'Data Units Written': 'data_units_written',
    'Host Read Commands': 'host_reads',
    'Host Write Commands': 'host_writes',
    'Controller Busy Time': 'controller_busy_time',
    'Power Cycles': 'power_cycles',
    'Power On Hours': 'power_on_hours',
    'Unsafe Shutdowns': 'unsafe_shutdowns',
    'Media and Data Integrity Errors': 'media_errors',
    'Error Information Log Entries': 'num_err_log_entries',
    'Warning  Comp. Temperature Time': 'warning_temp_time',
    'Critical Comp. Temperature Time': 'critical_comp_time',
}

Facts = dict[str, Any]
Json = dict[str, Any]


def as_json(facts: Facts) -> Json:
    """Return the document that smartctl --json -x would print for the drive."""
    report: Json = {
        'json_format_version': [1, 0],
        'smartctl': {
            'version': [int(n) for n in facts.get('smartctl', '7.3').split('.')],
            'exit_status': 0,
        },
    }
    report.update(_identity(facts))
    if facts.get('health'):
        report['smart_status'] = {'passed': facts['health'] in ('PASSED', 'OK')}
    if 'attributes' in facts:
        report['ata_smart_attributes'] = {
            'revision': 1,
            'table': [_attribute(row) for row in facts['attributes']],
        }
    if 'devstat' in facts:
        report['ata_device_statistics'] = {'pages': _pages(facts['devstat'])}
    if 'nvme' in facts:
        report['nvme_smart_health_information_log'] = nvme_log(facts['nvme'])
    if 'scsi' in facts:
        lines = {
            'current': 'Current Drive Temperature',
            'drive_trip': 'Drive Trip Temperature',
        }
        report['temperature'] = {
            key: _count(facts['scsi'][line])
            for key, line in lines.items()
            if line in facts['scsi']
        }
    if 'scsi_percent_used' in facts:
        report['scsi_percentage_used_endurance_indicator'] = _count(
            facts['scsi_percent_used']
        )
    if str(facts.get('errors', '')).isdigit():
        report['ata_smart_error_log'] = {'extended': {'count': int(facts['errors'])}}
    return report


def _identity(facts: Facts) -> Json:
    protocol = 'SCSI' if 'vendor' in facts else 'ATA'
    if 'nvme' in facts:
        protocol = 'NVMe'
    model = (
        facts.get('model')
        or f'{facts.get("vendor", "")} {facts.get("product", "")}'.strip()
    )
    found: Json = {
        'device': {'name': '/dev/sdx', 'protocol': protocol},
        'model_name': model,
        'firmware_version': facts.get('firmware') or facts.get('revision') or '',
    }
    if facts.get('serial'):
        found['serial_number'] = facts['serial']
    if facts.get('family'):
        found['model_family'] = facts['family']
    rotation = facts.get('rotation', '')
    if rotation:
        found['rotation_rate'] = (
            0 if 'Solid' in rotation else int(re.findall(r'[0-9]+', rotation)[0])
        )
    return found


def _attribute(row: list[Any]) -> Json:
    number, name, flags, value, worst, threshold, failed, raw = row
    found: Json = {
        'id': number,
        'name': name,
        'when_failed': {
            'NOW': 'now',
            'FAILING_NOW': 'now',
            'Past': 'past',
            'In_the_past': 'past',
        }.get(failed, ''),
        'flags': {
            'value': sum(bit for _, letter, bit in FLAG_LETTERS if letter in flags),
            'string': f'{flags} ',
            **{key: letter in flags for key, letter, _ in FLAG_LETTERS},
        },
        'raw': {'string': raw},
    }
    found.update(
        (key, int(number))
        for key, number in (('value', value), ('worst', worst), ('thresh', threshold))
        if str(number).isdigit()
    )
    # raw16(raw16): word 0 (word 2 word 1)
    words = re.fullmatch(r'([0-9]+) \(([0-9]+) ([0-9]+)\)', raw)
    if raw.isdigit():
        found['raw']['value'] = int(raw)
    elif words:
        low, high, middle = map(int, words.groups())
        found['raw']['value'] = low | middle << 16 | high << 32
    return found


def _pages(statistics: dict[str, list[Any]]) -> list[Json]:
    pages: dict[int, list[Json]] = {}
    for place, (value, flags, name) in statistics.items():
        page, offset = (int(part, 0) for part in place.split(':'))
        is_valid = bool(re.fullmatch(r'-?[0-9]+', str(value)))
        entry: Json = {
            'offset': offset,
            'name': name,
            'flags': {
                'string': f'V{flags}' if is_valid else f'-{flags}',
                'valid': is_valid,
                'normalized': 'N' in flags,
                'supports_dsn': 'D' in flags,
                'monitored_condition_met': 'C' in flags,
            },
        }
        if is_valid:
            entry['value'] = int(value)
        pages.setdefault(page, []).append(entry)
    return [
        {'number': page, 'name': f'page {page}', 'revision': 1, 'table': table}
        for page, table in pages.items()
    ]


def nvme_log(lines: dict[str, str]) -> Json:
    """Return the health log from its lines: {"Percentage Used": "3%"}."""
    return {
        key: _count(lines[line])
        for line, key in NVME_KEYS.items()
        if line in lines and _count(lines[line]) is not None
    }


def _count(text: str) -> Any:
    match = re.match(r'(0x[0-9a-fA-F]+|[0-9][0-9,.\s\u2019\']*)', str(text))
    if not match:
        return None
    digits = match.group(1)
    return (
        int(digits, 16)
        if digits.startswith('0x')
        else int(re.sub(r'[^0-9]', '', digits))
    )
