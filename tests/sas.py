"""A healthy SAS disk as smartctl prints it in JSON, with other pages where a test names them.

Sources: SPC-5, SBC-5.
"""

from typing import Any

from smart_attributes.reading import content
from smart_attributes.reading.smartctl_calls import read_arguments

HOURS = 1000


def document(**pages: Any) -> dict[str, Any]:
    """Return the report. pages: keys of smartctl's JSON with other values; None leaves a page
    out.
    """
    counters = {
        **dict.fromkeys(content.ERROR_COUNTERS, 0),
        'gigabytes_processed': '1000.000',
    }
    found = {
        'json_format_version': [1, 0],
        'smartctl': {
            'version': [7, 4],
            'argv': ['smartctl', *read_arguments('/dev/sda')],
            'exit_status': 0,
        },
        'device': {'name': '/dev/sda', 'type': 'scsi', 'protocol': 'SCSI'},
        'scsi_vendor': 'SEAGATE',
        'scsi_model_name': 'SEAGATE ST4000NM0023',
        'scsi_revision': '0004',
        'serial_number': 'EXAMPLE1',
        'rotation_rate': 7200,
        'smart_support': {'available': True, 'enabled': True},
        'smart_status': {'passed': True},
        'temperature': {'current': 30, 'drive_trip': 60},
        'power_on_time': {'hours': HOURS, 'minutes': 0},
        'scsi_grown_defect_list': 0,
        'scsi_background_scan': scan(),
        'scsi_error_counter_log': {'read': counters, 'write': counters},
    }
    return {
        key: value for key, value in {**found, **pages}.items() if value is not None
    }


def health(asc: int, ascq: int) -> dict[str, Any]:
    """Return the health status of a drive that reports a sense code in place of OK."""
    return {'passed': False, 'scsi': {'asc': asc, 'ascq': ascq, 'ie_string': 'WORDS'}}


def scan(*results: tuple[int, int, int], status: int = 8) -> dict[str, Any]:
    """Return a page of the background scan. results: reassign status, block and minutes of each."""
    return {
        'status': {'value': status},
        **{
            f'result_{number}': {
                'parameter_code': number,
                'accumulated_power_on': {'minutes': minutes},
                'lba': block,
                'sense_key': {'value': 3},
                'asc': 17,
                'ascq': 0,
                'reassign_status': {'value': reassigned},
            }
            for number, (reassigned, block, minutes) in enumerate(results, 1)
        },
    }


def with_errors(read: dict[str, Any], write: dict[str, Any]) -> dict[str, Any]:
    """Return the error counter log with other numbers."""
    log = document()['scsi_error_counter_log']
    return {'read': {**log['read'], **read}, 'write': {**log['write'], **write}}
