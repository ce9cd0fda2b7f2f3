"""The logs in smartctl's text that pySMART does not read: device statistics, self-tests, error counts, SCSI
counters.
"""
from __future__ import annotations

import re
from typing import Dict, Iterable, Iterator, List, Match, Optional, Tuple

from ..model import ErrorEntry, SelfTest, Statistic
from . import pysmart
from .pysmart import leading
from .report_common import ERROR_COUNTERS, error_entry, last_self_test, newest_first, self_test_passed
from .text_lines import POWER_ON, Lines

# "read:   56244        0         0     56244          0          0.026           0"
_ERROR_COUNTERS = re.compile(r'(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+(?:[.,]\d{1,9})?)\s+(\d+)')

# The words after "- " below an NVMe drive's FAILED, and the bit of its critical warning. Source: NVMe 1.4, figure 194.
_NVME_WARNINGS = (('available spare', 1), ('temperature', 2), ('NVM subsystem reliability', 4), ('media', 8),
                  ('volatile memory', 16), ('persistent memory', 32))

# pySMART does not know these, or looks for other words ("non-medium error count").
_SCSI_OTHER = (
    ('current drive temperature', 'temperature'),
    ('drive trip temperature', 'drive_trip'),
    ('non-medium error count', 'non_medium_errors'),
    ('pending defect count', 'pending_defects'),
)
_ERROR_LOGS = ('smart error log version', 'smart extended comprehensive error log version')


# --- ATA ---

def statistic(row: Match[str]) -> Tuple[Tuple[int, int], Statistic]:
    """Return one entry of the device statistics, which pySMART does not read."""
    page = int(row['page'], 16 if 'x' in row['page'] else 10)
    flags = (row['flags'] or '').replace('-', '') or ('N' if row['normalized'] else '')
    return (page, int(row['offset'], 16)), Statistic(int(row['number']), row['name'].strip(), flags)


def pending_defects(lines: Lines) -> Optional[int]:
    """Return how many sectors the Pending Defects log lists, None where it was not read."""
    if 'pending defects log (gp log 0x0c)' not in lines.fields:
        return None
    more = next((label for label in lines.fields if label.startswith('... (') and 'entries not shown' in label), '')
    return len(lines.pending) + (leading(more.partition('(')[2]) or 0)


def error_count(fields: Dict[str, str]) -> Optional[int]:
    """Return how many errors the drive has ever logged, None where no log was read."""
    counts = [leading(fields[label]) for label in ('ata error count', 'device error count')
              if label in fields and 'invalid' not in fields[label]]
    if not counts and 'no errors logged' in fields and any(label in fields for label in _ERROR_LOGS):
        return 0
    return max((count for count in counts if count is not None), default=None)


def errors(lines: Lines) -> Tuple[ErrorEntry, ...]:
    """Return what the drive has kept of its errors, newest first."""
    return newest_first(
        error_entry(int(head['number']), int(head['hours']), registers['words'] or '', int(registers['error'], 16))
        for head, registers in zip(lines.errors, lines.errors[1:]) if 'number' in head.groupdict()
        and 'error' in registers.groupdict())


def self_tests(lines: Lines) -> Tuple[SelfTest, ...]:
    """Return the self-test log of whichever protocol, newest first.

    pySMART wants two blanks between columns, which pasted reports lose, and does not
    know the headline of smartctl 7.4 for NVMe.
    """
    tests = lines.scsi_tests or lines.nvme_tests or list(_first_log(lines.ata_tests))
    if tests:
        return tuple(map(_self_test, tests))
    status = re.match(r'\(\s*(\d{1,3})\)', lines.fields.get('self-test execution status', ''))
    return last_self_test(int(status.group(1)) if status else None)


def _first_log(rows: List[Match[str]]) -> Iterator[Match[str]]:
    """Yield the rows of the first log: the extended one, which repeats the standard one."""
    previous = 0
    for row in rows:
        if int(row['number']) <= previous:
            return
        previous = int(row['number'])
        yield row


def _self_test(row: Match[str]) -> SelfTest:
    status = row['status'].replace('-->', '').strip()
    return SelfTest(row['kind'], status, self_test_passed(status), leading(row['hours']))


# --- NVMe and SCSI ---

def nvme(lines: Lines, passed: Optional[bool]) -> Dict[str, int]:
    """Return the NVMe health log and the temperature thresholds, by NVME_KEYS."""
    values: Dict[str, Optional[int]] = dict(pysmart.nvme(lines.fields))
    if 'critical_warning' not in values and passed is not None:
        # Without the log (-H alone) the words below the verdict still tell the bits.
        values['critical_warning'] = 0 if passed else _warning_bits(lines.warnings)
    values['warning_temp_threshold'] = leading(lines.fields.get('warning comp. temp. threshold', ''))
    values['critical_temp_threshold'] = leading(lines.fields.get('critical comp. temp. threshold', ''))
    return {key: value for key, value in values.items() if value is not None}


def _warning_bits(lines: Iterable[str]) -> Optional[int]:
    """Return the critical warning that smartctl put in words, None when no line is known."""
    bits = 0
    for line in lines:
        unknown = re.match(r'- unknown critical warning\(s\) \(0x([0-9a-f]{2})\)', line)
        bits |= int(unknown.group(1), 16) if unknown else 0
        bits |= sum(bit for words, bit in _NVME_WARNINGS if line.startswith('- ' + words))
    return bits or None


def scsi(lines: Lines) -> Dict[str, float]:
    """Return the SCSI log pages, by SCSI_KEYS."""
    fields = lines.fields
    values: Dict[str, Optional[float]] = dict(pysmart.scsi(fields))
    values.update((key, leading(fields.get(label, ''))) for label, key in _SCSI_OTHER)
    if values['temperature'] is None:
        values['temperature'] = leading(fields.get('current temperature', ''))
    hours = re.match(r'(?:minutes\s+)?(\d{1,9})', lines.last.get(POWER_ON, ''))
    values['power_on_hours'] = int(hours.group(1)) if hours else None
    for command in ('read', 'write', 'verify'):
        values.update(_error_counters(command, fields.get(command, '')))
    return {key: value for key, value in values.items() if value is not None}


def _error_counters(command: str, printed: str) -> Dict[str, float]:
    """Return one row of the error counter log.

    pySMART keeps three of its seven columns, and a sum of others where the total is 0.
    """
    match = _ERROR_COUNTERS.match(printed)
    if not match:
        return {}
    return {f'{command}.{counter}': float(number.replace(',', '.')) if counter == 'gigabytes_processed' else int(number)
            for counter, number in zip(ERROR_COUNTERS, match.groups())}
