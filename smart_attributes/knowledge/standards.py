"""Map the numbers in the ATA, NVMe and SCSI standard logs to metrics.

Sources: ACS-4 section 9.5 (device statistics log), NVM Express base specification (SMART / Health Information log),
SBC-4 and SPC-5 (log pages).
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..constants import HOUR
from ..model import State
from ..typed import NamedTuple
from .decode import LOGICAL_SECTORS

DEVICE_STATISTICS = 'device statistics'
NVME_LOG = 'NVMe health log'
SCSI_LOG = 'SCSI log'
SELF_ASSESSMENT = 'health self-assessment'
SELF_TEST_LOG = 'self-test log'
ERROR_LOG = 'error log'
FARM_LOG = 'FARM log'     # of Seagate disks
SMARTCTL = 'smartctl'  # source of numbers that it derives with its own database

SECTORS = 0  # the factor is the drive's logical sector size
ENDURANCE_PAGE = 7  # the only page whose "normalized" numbers are really normalized


class Standard(NamedTuple):
    """One number of a standard log."""

    metric: str
    factor: float = 1  # base units per count
    unit: str = ''     # as in knowledge/units, if the standard counts in smaller parts


# (page, offset) of the device statistics log. 3:0x030, mechanical start failures, stays out: about 950 of 15,500
# measured disks count thousands of them while attribute 10, spin retries, is 0.
ATA: Mapping[tuple[int, int], Standard] = {
    (1, 0x008): Standard('power_cycles'), (1, 0x010): Standard('power_on_time', HOUR),
    (1, 0x018): Standard('host_written', SECTORS), (1, 0x028): Standard('host_read', SECTORS),
    (1, 0x040): Standard('pending'), (3, 0x020): Standard('reallocated'),
    # Reallocation candidates: pending sectors under another name. Equal to attribute 197 on 186 of 192 disks
    # that have any, eight times it on 3 that count 197 in sectors of 4 KiB; 4 disks have no 197.
    (3, 0x038): Standard('pending', unit=LOGICAL_SECTORS),
    (4, 0x008): Standard('reported_uncorrect'), (5, 0x008): Standard('temperature'),
    (5, 0x020): Standard('temperature_max'), (5, 0x050): Standard('over_temperature_time', 60),
    (5, 0x058): Standard('temperature_limit'), (6, 0x018): Standard('crc_errors'),
    (7, 0x008): Standard('endurance_used')}

# keys of Report.nvme
NVME: Mapping[str, Standard] = {
    'percentage_used': Standard('endurance_used'), 'available_spare': Standard('spare_available'),
    'media_errors': Standard('media_errors'), 'critical_warning': Standard('critical_warning'),
    'temperature': Standard('temperature'), 'warning_temp_threshold': Standard('temperature_limit'),
    'critical_temp_threshold': Standard('temperature_critical_limit'),
    'warning_temp_time': Standard('over_temperature_time', 60),
    'critical_comp_time': Standard('critical_temperature_time', 60),
    'power_on_hours': Standard('power_on_time', HOUR), 'power_cycles': Standard('power_cycles'),
    'unsafe_shutdowns': Standard('unsafe_shutdowns'), 'num_err_log_entries': Standard('error_log_count'),
    'data_units_written': Standard('host_written', 512000), 'data_units_read': Standard('host_read', 512000)}

# keys of Report.scsi
SCSI: Mapping[str, Standard] = {
    'percentage_used': Standard('endurance_used'), 'grown_defects': Standard('reallocated'),
    'pending_defects': Standard('pending'), 'temperature': Standard('temperature'),
    'drive_trip': Standard('temperature_limit'), 'power_on_hours': Standard('power_on_time', HOUR),
    'start_stop_cycles': Standard('start_stop'), 'load_unload_cycles': Standard('load_cycles'),
    'non_medium_errors': Standard('non_medium_errors'), 'write.gigabytes_processed': Standard('host_written', 1e9),
    'read.gigabytes_processed': Standard('host_read', 1e9)}
SCSI_UNCORRECTED: Sequence[str] = tuple(f'{page}.total_uncorrected_errors' for page in ('read', 'write', 'verify'))

# A drive without SMART health status is judged by these; a temperature or an age alone is not enough.
NVME_HEALTH = frozenset(('percentage_used', 'available_spare', 'media_errors'))
SCSI_HEALTH = frozenset(('grown_defects', 'pending_defects', 'percentage_used', *SCSI_UNCORRECTED))

# Raw read error rate and seek error rate: a rate recovers, so its worst value shows a bad period. A counter never goes
# back: if one was at its threshold and no longer is, the worst value is invalid (5, 179, 180 and 183 of 15 measured
# drives, 1 on each of them).
RATES = frozenset((1, 7))

WRAPS = 65536  # hours: ATA logs store them in 16 bits
CLOCKS_APART = 24  # hours by which a log may be ahead of the counter of hours, which is stored now and then


def seconds_since(hour: int, age: float | None) -> float | None:
    """Return the power-on seconds since an hour of a log; None if it is in the future or *age* is None.

    hour: 16 bits on ATA, so that it may mean several times; the latest is used. age: power-on time in seconds.
    """
    if age is None or hour > age / HOUR + CLOCKS_APART:
        return None
    ago = (age / HOUR - hour) % WRAPS
    return 0.0 if ago >= WRAPS - CLOCKS_APART else ago * HOUR


class WarningBit(NamedTuple):
    """One bit of the NVMe critical warning byte, when it is set."""

    mask: int
    metric: str
    word: str
    state: State


# FAILED covers all of these; only the temperature recovers by itself.
NVME_WARNINGS: Sequence[WarningBit] = (
    WarningBit(0x01, 'spare_warning', 'spare below its threshold', State.CRITICAL),
    WarningBit(0x02, 'temperature_warning', 'temperature outside its limits', State.WARNING),
    WarningBit(0x04, 'reliability', 'reliability degraded by media or internal errors, or rated life used up',
               State.CRITICAL),
    WarningBit(0x08, 'write_protect', 'read-only', State.CRITICAL),
    WarningBit(0x10, 'power_loss_protection', 'volatile memory backup failed', State.CRITICAL),
    WarningBit(0x20, 'persistent_memory', 'persistent memory region unreliable or read-only', State.CRITICAL))
