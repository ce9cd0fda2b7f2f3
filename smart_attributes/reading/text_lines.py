"""Sort the lines of smartctl's text by type; the values stay as printed."""
from __future__ import annotations

import re

from ..constants import LONGEST_LINE, MOST_LINES
from ..errors import NotAReport
from ..typed import NamedTuple
from .pysmart import classic
from .report_common import is_complaint

# "0x01  0x010  4            3188  ND-  Power-on Hours", until 6.3 "  1  0x010  4            3188~ Power-on Hours"
_STATISTIC = re.compile(
    r'(?P<page>\d{1,3}|0x[0-9a-f]{2})\s+(?P<offset>0x[0-9a-f]{3})\s+\d\s+(?P<number>-?\d{1,20})(?P<normalized>~?)\s+'
    r'(?:(?P<flags>[N-][D-][C-])[+ ]?\s+)?(?P<name>\S.*)')
# The rest of a column; ".*?" would try every way to divide long runs of blanks with the next column.
_WORDS = r'\S*(?: \S+)*?'
_ATA_TEST = re.compile(
    rf'#\s*(?P<number>\d{{1,3}})\s+(?P<kind>\S{_WORDS})\s+'
    rf'(?P<status>(?:Completed|Aborted|Interrupted|Fatal|Self-test|Unknown status)\b{_WORDS})\s*'
    r'\b\d{1,3}%\s+(?P<hours>\d{1,5})\b')
_SCSI_TEST = re.compile(
    r'#\s*\d+\s+(?P<kind>(?:Background|Foreground|Abort|Default|Reserved\(\d+\))(?: short| long| background)?)\s+'
    rf'(?P<status>\S{_WORDS})\s+(?:-|\d+)\s+(?P<hours>\d{{1,10}}|NOW)\s+(?:-|0x[0-9a-f]+|\d+)\s+\[')
_NVME_TEST = re.compile(
    r'\d+\s+(?P<kind>Short|Extended|Vendor specific|Unknown \(0x[0-9a-f]\))\s+'
    rf'(?P<status>(?:Completed|Aborted|Fatal|Unknown result)\b{_WORDS})\s+(?P<hours>\d{{1,19}})\s+'
    r'(?:-|\d+)\s+(?:-|\*|\d+)\s')
# "    0            11723104     8211": index, LBA, hours
_PENDING = re.compile(r'\d{1,5}\s+\d{1,18}\s+(?:\d{1,10}|-)$')
# "Error 30 [5] occurred at disk power-on lifetime: 17401 hours (725 days + 1 hours)", and the registers below it:
# "40 51 08 bf 0b 34 e0  Error: UNC 8 sectors at LBA = 0x00340bbf = 3410879", extended "84 -- 51 00 57 00 00 01 14 50 4b
# 01 00  Error: ..."
_ERROR = re.compile(r'Error (?P<number>\d{1,10})(?: \[\d{1,5}\])? occurred at disk power-on lifetime: '
                    r'(?P<hours>\d{1,10}) hours')
_REGISTERS = re.compile(r'(?P<error>[0-9a-f]{2}) (?:-- )?[0-9a-f]{2}(?: [0-9a-f]{2}){5,10}'
                        r'(?: +(?P<words>(?:Device Fault; )?Error: .*))?$')

# Rows without content: an empty entry, a statistic without a number, the headline of a page.
_NOTHING = re.compile(r'Error \d+ \[\d+\] log entry is empty|(?:0x[0-9a-f]{2}|\d{1,3}) +(?:0x[0-9a-f]{3} +\d +- |=)')

POWER_ON = 'accumulated power on time, hours'
# Printed by two log pages. As in smartctl's JSON, the later one is used.
_SAME_LABEL = {'number of hours powered up': POWER_ON}


class Lines(NamedTuple):
    """The lines of a report by type."""

    fields: dict[str, str]               # "Label: value"; labels in lower case, the first of each name
    last: dict[str, str]                 # the same, the last of each name
    rows: list[str]                      # of the attribute table, classic
    statistics: list[re.Match[str]]
    ata_tests: list[re.Match[str]]
    scsi_tests: list[re.Match[str]]
    nvme_tests: list[re.Match[str]]
    pending: list[re.Match[str]]         # of the Pending Defects log
    errors: list[re.Match[str]]          # of the ATA error log: the head of an entry, then its registers
    complaints: list[str]
    warnings: list[str]                  # below an NVMe drive's FAILED


def lines_by_kind(text: str) -> Lines:
    """Return the lines of a report by type, without lines longer than any of smartctl's.

    Raises NotAReport if there are too many lines.
    """
    if text.count('\n') > MOST_LINES:
        raise NotAReport(f'is not a smartctl report: it has more than {MOST_LINES} lines')
    lines = Lines({}, {}, [], [], [], [], [], [], [], [], [])
    for line in map(str.strip, text.split('\n')):
        if not line or len(line) > LONGEST_LINE:
            continue
        if line.startswith('Error ') or (lines.errors and lines.errors[-1].re is _ERROR):
            part = _ERROR.match(line) or _REGISTERS.match(line)
            lines.errors.extend([part] if part else [])
        if line[0].isdigit() or line[0] == '#':
            _add_row(line, lines)
        else:
            _add_line(line, lines)
    return lines


def _add_line(line: str, lines: Lines) -> None:
    """Add a line that is not a table row to its place in *lines*."""
    if line.startswith('- '):
        lines.warnings.append(line)
    if is_complaint(line):
        lines.complaints.append(line)
    label, separator, value = line.partition(':')
    if not separator:
        label, _, value = line.partition(' = ')
    name, value = ' '.join(label.lower().split()), value.strip()
    lines.fields.setdefault(name, value)
    lines.last[_SAME_LABEL.get(name, name)] = value


def _add_row(line: str, lines: Lines) -> None:
    """Add a table row to its place in *lines*."""
    row = classic(line)
    if row:
        lines.rows.append(row)
        return
    for pattern, matches in (
        ((_SCSI_TEST, lines.scsi_tests), (_ATA_TEST, lines.ata_tests)) if line[0] == '#' else
        ((_STATISTIC, lines.statistics), (_NVME_TEST, lines.nvme_tests), (_PENDING, lines.pending))
    ):
        match = pattern.match(line)
        if match:
            matches.append(match)
            return


def is_row(line: str) -> bool:
    """Return whether a line of the statistics, self-tests or errors is a known row, or has no content."""
    patterns = (_SCSI_TEST, _ATA_TEST) if line[0] == '#' else (_STATISTIC, _ERROR, _NOTHING)
    return any(pattern.match(line) for pattern in patterns)
