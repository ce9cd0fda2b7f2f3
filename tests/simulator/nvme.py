"""What an NVMe drive answers. Source: NVM Express 1.4."""

from .binary import Answers, little, put, text
from .descriptions import Description

KELVIN = 273
# Offset and length in the SMART / Health Information log, by the names of smartctl's JSON. Source:
# figure 194.
_HEALTH_LOG = {
    'critical_warning': (0, 1),
    'available_spare': (3, 1),
    'available_spare_threshold': (4, 1),
    'percentage_used': (5, 1),
    'data_units_read': (32, 16),
    'data_units_written': (48, 16),
    'host_reads': (64, 16),
    'host_writes': (80, 16),
    'controller_busy_time': (96, 16),
    'power_cycles': (112, 16),
    'power_on_hours': (128, 16),
    'unsafe_shutdowns': (144, 16),
    'media_errors': (160, 16),
    'num_err_log_entries': (176, 16),
    'warning_temp_time': (192, 4),
    'critical_comp_time': (196, 4),
}
_ERRORS = 64  # entries of the error information log


def answers(drive: Description) -> Answers:
    """Return everything that the drive can say."""
    assert not drive.self_tests, 'no NVMe drive has had a self-test yet'
    return {
        'controller': controller(drive),
        'namespace-1': namespace(drive),
        'log-01': bytes(64 * _ERRORS),
        'log-02': health(drive),
        'log-06': self_tests(),
    }


def controller(drive: Description) -> bytes:
    """Return the Identify Controller data structure. Source: figure 247."""
    warning, critical = drive.temperature_limits or (0, 0)
    block = bytearray(4096)
    for offset, data in (
        (0, little(0x144D, 2)),
        (2, little(0x144D, 2)),
        (4, text(drive.serial, 20)),
        (24, text(drive.model, 40)),
        (64, text(drive.firmware, 8)),
        (77, b'\x05'),
        (78, little(1, 2)),
        (80, little(0x00010400, 4)),
        (256, little(0x0017, 2)),  # supports self-tests among others
        (261, b'\x0e'),  # logs have an offset
        (262, bytes([_ERRORS - 1])),
        (266, little(warning and warning + KELVIN, 2)),
        (268, little(critical and critical + KELVIN, 2)),
        (280, little(drive.capacity, 16)),
        (516, little(1, 4)),
        (520, little(0x5F, 2)),
        (2048, little(2500, 2)),  # power state 0: 25 W
    ):
        put(block, offset, data)
    return bytes(block)


def namespace(drive: Description) -> bytes:
    """Return the Identify Namespace data structure: all of the drive in blocks of 512 bytes.

    Source: figure 245.
    """
    block = bytearray(4096)
    blocks = little(drive.capacity // 512, 8)
    for offset, data in ((0, blocks), (8, blocks), (16, blocks), (130, b'\x09')):
        put(block, offset, data)
    put(block, 120, int(drive.wwn or '0', 16).to_bytes(8, 'big'))
    return bytes(block)


def health(drive: Description) -> bytes:
    """Return the SMART / Health Information log.

    Raises KeyError for a name that it does not hold.
    """
    block = bytearray(512)
    for name, number in drive.log.items():
        if name == 'temperature':
            put(block, 1, little(number + KELVIN, 2))
        elif name == 'temperature_sensors':
            put(block, 200, b''.join(little(sensor + KELVIN, 2) for sensor in number))
        else:
            offset, length = _HEALTH_LOG[name]
            put(block, offset, little(number, length))
    return bytes(block)


def self_tests() -> bytes:
    """Return the Device Self-test log: 20 entries, all unused, with status Fh.

    Source: figure 198.
    """
    return bytes(4) + b'\x0f'.ljust(28, b'\0') * 20
