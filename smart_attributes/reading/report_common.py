"""What a report tells, in whichever form it was printed: enough for a verdict, or why it gives none."""
from __future__ import annotations

import re

from ..errors import DriveError, NotAReport
from ..model import AttributeRow, ErrorEntry, Report, SelfTest, Statistic
from ..typed import TYPE_CHECKING
from .failure_reasons import diagnose, nothing_told, silence
from .virtual_devices import not_a_drive, virtual_disk

if TYPE_CHECKING:
    from typing import Dict, Iterable, Optional, Tuple

ERROR_COUNTERS = (
    'errors_corrected_by_eccfast', 'errors_corrected_by_eccdelayed', 'errors_corrected_by_rereads_rewrites',
    'total_errors_corrected', 'correction_algorithm_invocations', 'gigabytes_processed', 'total_uncorrected_errors',
)
"""The columns of the SCSI error counter log, in the order in which smartctl prints them. gigabytes: 10^9 bytes."""

SCSI_KEYS: Tuple[str, ...] = (
    'temperature', 'drive_trip',                            # degrees Celsius
    'grown_defects', 'pending_defects',                     # blocks
    'percentage_used',                                      # per cent of the rated endurance, may exceed 100
    'non_medium_errors',                                    # printed as text only, up to smartctl 8.0
    'start_stop_cycles', 'start_stop_cycles_rated', 'load_unload_cycles', 'load_unload_cycles_rated',
    'power_on_hours',
    *(f'{command}.{counter}' for command in ('read', 'write', 'verify') for counter in ERROR_COUNTERS),
)
"""What Report.scsi may hold. Source: SPC-5 and SBC-4 log pages, flattened from smartctl's JSON."""

NVME_KEYS = (
    'critical_warning', 'temperature', 'available_spare', 'available_spare_threshold', 'percentage_used',
    'data_units_read', 'data_units_written', 'host_reads', 'host_writes', 'controller_busy_time', 'power_cycles',
    'power_on_hours', 'unsafe_shutdowns', 'media_errors', 'num_err_log_entries', 'warning_temp_time',
    'critical_comp_time', 'warning_temp_threshold', 'critical_temp_threshold',
)
"""What Report.nvme may hold: the health log as smartctl's JSON names it, then the thresholds of the
composite temperature (Identify Controller). Temperatures are degrees Celsius, a data unit is 512,000 bytes."""

# A drive's state as ATA numbers it, upper half of the status byte. Source: ACS-4, 9.6 "Self-test log".
ATA_SELF_TEST_STATUS = {
    0: 'Completed without error', 1: 'Aborted by host', 2: 'Interrupted (host reset)', 3: 'Fatal or unknown error',
    4: 'Completed: unknown failure', 5: 'Completed: electrical failure', 6: 'Completed: servo/seek failure',
    7: 'Completed: read failure', 8: 'Completed: handling damage??', 15: 'Self-test routine in progress',
}

# The bits of the ATA error register after a read or write. Source: ACS-4, 6.3; named and ordered as smartctl prints
# them.
_ERROR_BITS = ((0x80, 'ICRC'), (0x40, 'UNC'), (0x10, 'IDNF'), (0x04, 'ABRT'))

# Start_Stop_Count and Spin_Retry_Count: both in the tables of 98 % of 18,433 hard disks, of no solid state
# drive of 14,403 (linuxhw/EnterpriseDrive).
_SPINDLE = frozenset((4, 10))
_PENDING_ERRORS = (1, 0x040)  # device statistics: Pending Error Count
_FAILED = 8                # bit of smartctl's exit status
_UNLESS_DATA = frozenset(('temperature', 'drive_trip'))


def no_report(text: str, exit_status: Optional[int] = None) -> DriveError:
    """Return why *text* is no report: smartctl's words, sudo's, nothing, or something else."""
    said = diagnose((), exit_status, text)
    if said or not text.strip():
        return said or silence(exit_status)
    if exit_status:
        return DriveError(f'cannot be read: smartctl printed no report and ended with exit status {exit_status}; '
                          'try it by hand', 'smartctl-failed')
    return NotAReport('is not a smartctl report; record with smartctl -x, best with --json')


def has_smart_data(report: Report) -> bool:
    """Return whether anything in *report* says how the drive is.

    A temperature alone does not: RAID volumes and optical drives report 0 degrees.
    """
    return bool(report.smart_status is not None or report.attributes or report.statistics or report.self_tests
                or report.error_count is not None or set(report.scsi) - _UNLESS_DATA
                or set(report.nvme) - {'warning_temp_threshold', 'critical_temp_threshold'})


def has_spindle(attributes: Iterable[AttributeRow]) -> bool:
    """Return whether a drive counts what only a spindle does."""
    return _SPINDLE.issubset(row.id for row in attributes)


def with_exit_status(passed: Optional[bool], words: str, status: Optional[int]) -> Tuple[Optional[bool], str]:
    """Return the SMART health status and its words; where a report lost them, what smartctl's exit status says.

    Source: smartctl(8), EXIT STATUS, bit 3: the health status was FAILED.
    """
    if passed is None and status is not None and status > 0 and status & _FAILED:
        return False, words or "FAILED, by smartctl's exit status"
    return passed, words


def with_pending(statistics: Dict[Tuple[int, int], Statistic],
                 count: Optional[int]) -> Dict[Tuple[int, int], Statistic]:
    """Add the length of the Pending Defects log, unless the statistics tell it themselves.

    ACS-4, 9.5.4: the Pending Error Count is the number of entries in that log.
    """
    if count is not None and count >= 0:
        statistics.setdefault(_PENDING_ERRORS, Statistic(count, 'Pending Error Count'))
    return statistics


def exclusion(report: Report, kind: str, transport: str) -> Optional[DriveError]:
    """Return why a device that tells nothing of its health, or no more than that it is well, is no drive.

    The OK of a SCSI volume says nothing about the drives behind it.
    kind, transport: of a SCSI device, as smartctl names them.
    """
    identity = report.identity
    if identity.protocol != 'SCSI':
        return None if has_smart_data(report) else virtual_disk(identity.model)
    if report.smart_status is False or set(report.scsi) - _UNLESS_DATA:
        return None
    return virtual_disk(identity.model) or not_a_drive(identity.model, kind, transport, identity.wwn)


def emptiness(report: Report, is_asked: bool) -> Optional[DriveError]:
    """Return why data that were read say nothing of the drive, None where they do. is_asked: for attributes."""
    reason = nothing_told(report, is_asked)
    return reason and (virtual_disk(report.identity.model) or reason)


def error_entry(number: int, hours: int, words: str, register: Optional[int]) -> ErrorEntry:
    """Return an entry of the ATA error log.

    words: "Error: UNC 8 sectors at LBA = 0x0071bde0", '' where smartctl does not know the command that failed;
    register: the error register, which then tells.
    """
    said = re.match(r'(?:Device Fault; )?Error: ([A-Z]+(?:, [A-Z]+)*)\b', words)
    kind = tuple(said.group(1).split(', ')) if said else tuple(word for bit, word in _ERROR_BITS
                                                               if (register or 0) & bit)
    return ErrorEntry(number, kind, hours)


def newest_first(entries: Iterable[ErrorEntry]) -> Tuple[ErrorEntry, ...]:
    """Return the entries of both error logs once, newest first."""
    return tuple(sorted({entry.number: entry for entry in entries}.values(), key=lambda entry: -entry.number))


def self_test_passed(status: str) -> Optional[bool]:
    """Return what a printed status proves: True passed, False failed, None nothing.

    The words are smartctl's for ATA, SCSI and NVMe alike. JSON's own "passed" is true
    for a test that still runs, so the words are asked in both forms of a report.
    """
    words = status.lower()
    if 'fail' in words or 'damage' in words or words.startswith(('fatal', 'unknown error')):
        return None if words.startswith('aborted') else False
    if words.startswith('completed'):
        return True
    return None


def last_self_test(status: Optional[int]) -> Tuple[SelfTest, ...]:
    """Return the entry for a last self-test that failed and whose log was not read or is empty.

    status: the byte "Self-test execution status" of the SMART data. 0 says as much
    as "there never was one", so only failures are worth an entry.
    """
    words = ATA_SELF_TEST_STATUS.get((status or 0) >> 4, '')
    if self_test_passed(words) is not False:
        return ()
    return (SelfTest('Last self-test', words, False, None),)
