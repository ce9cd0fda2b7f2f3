"""Group the lines of smartctl's text by type; use pySMART for the attribute table.

pySMART supports only the layout of `-A` in English. Lines in another layout (brief, hexadecimal,
names with blanks, other digit groups) are first converted to this layout. pySMART's Device class is
not used, because it takes 2.6 ms for forty lines and starts smartctl if data is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .. import files
from ..constants import LONGEST_LINE, MOST_ATTRIBUTES, WHEN_FAILED
from ..errors import DriveError
from ..model import AttributeRow
from ..typed import Json, NamedTuple
from .content import is_complaint

_HEADLINE = 'Vendor Specific SMART Attributes with Thresholds:'

# "100", "0x64" with -f hex, "---" or "----" if empty
_COLUMN = r'(?:-{1,4}|0x[0-9a-f]{2}|\d{1,3})'
# Before 5.40, names of unknown attributes contain a blank. No blank follows a name of 24 characters
# or more.
_START = r'(?P<id>\d{1,3}|0x[0-9a-f]{2})\s+(?P<name>\S+?(?: \S+?)??)\s*'
_NUMBERS = rf'(?P<value>{_COLUMN})\s+(?P<worst>{_COLUMN})\s+(?P<threshold>{_COLUMN})\s+'
# The layout of -A: "  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0"
_CLASSIC = re.compile(
    _START
    + r'(?P<flags>0x[0-9a-f]{4})\s+'
    + _NUMBERS
    + r'(?P<kind>Pre-fail|Old_age)\s+'
    r'(?P<updated>Always|Offline)\s+(?P<failed>-|FAILING_NOW|In_the_past)\s+(?P<raw>\S.*)'
)
# The layout of -x: "  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0"
_BRIEF = re.compile(
    _START
    + r'(?P<flags>[P-][O-][S-][R-][C-][K-]\+?)\s+'
    + _NUMBERS
    + r'(?P<failed>-|NOW|Past)\s+(?P<raw>\S.*)'
)
_NO_VALUE = 999  # replaces "---" for pySMART, which needs digits

# labels and words in smartctl's text
TEXT: Json = files.data('reading/text_labels.json')
# The label that smartctl prints, and its key in smartctl's JSON.
NVME_LOG: Mapping[str, str] = TEXT['nvme_log']


def _interface() -> Any:
    """Import pySMART (80 ms); return the module of the classes that read lines.

    Raises DriveError if one is missing.
    """
    try:
        import pySMART.interface
    except ImportError as error:
        package = (error.name or 'pySMART').partition('.')[0]
        raise DriveError(
            f'is text, which cannot be read without the Python package {package}',
            'python-package-missing',
            step='install the package, or record the report with smartctl --json -x',
        ) from None
    return pySMART.interface


def classic(line: str) -> str:
    """Return a row of the attribute table in the layout that pySMART supports, or '' if the line
    is not a row.
    """
    row = _CLASSIC.match(line) or _BRIEF.match(line)
    if not row:
        return ''
    number, value, worst, threshold = (
        column_number(row[name]) for name in ('id', 'value', 'worst', 'threshold')
    )
    flags = row['flags']
    if row.re is _CLASSIC:
        kind = row['kind']
        updated = row['updated']
    else:
        kind = 'Pre-fail' if 'P' in flags else 'Old_age'
        updated = 'Always' if 'O' in flags else 'Offline'
        # "PO--CK": bit 0 first. Source: smartmontools atacmds.h, ATTRIBUTE_FLAGS_*
        bits = sum(1 << bit for bit, letter in enumerate(flags[:6]) if letter != '-')
        flags = f'0x{bits:04x}'
    return (
        f'{number} {row["name"].replace(" ", "_")} {flags} {value} {worst} {threshold} '
        f'{kind} {updated} {row["failed"]} {row["raw"]}'
    )


def column_number(printed: str) -> int:
    """Return a column as a number; _NO_VALUE for "---"."""
    return (
        _NO_VALUE
        if printed.startswith('-')
        else int(printed, 16 if 'x' in printed else 10)
    )


def attributes(rows: Sequence[str]) -> tuple[AttributeRow, ...]:
    """Return the attribute table from classic rows, in the order printed.

    Raises DriveError if pySMART is missing.
    """
    # Each row is passed to pySMART separately: otherwise, pySMART would keep only one row per ID,
    # although broken firmware lists an ID twice. It would also lose the order, by which a database
    # entry may recognise a controller.
    table = []
    for row in rows[:MOST_ATTRIBUTES]:
        number = int(row.partition(' ')[0])
        if 0 < number < 256:
            parsed = _interface().AtaAttributes(iter([_HEADLINE, row, '']))
            table.append(_attribute(parsed.legacyAttributes[number]))
    return tuple(table)


def _attribute(row: Any) -> AttributeRow:
    """Return a row that pySMART has read; None for a column above 255, which is that of "---".

    The raw value stays text: pySMART's `raw_int` drops signs and hex digits.
    """
    value, worst, threshold = (
        None if number > 255 else number
        for number in (row.value_int, row.worst, row.thresh)
    )
    return AttributeRow(
        row.num,
        row.name,
        value,
        worst,
        threshold,
        row.type == 'Pre-fail',
        WHEN_FAILED[row.when_failed],
        row.raw,
    )


# Groups of digits, separated by up to four non-letters (four if UTF-8 was read as Latin-1).
_GROUPS = re.compile(r'([0-9]+(?:[^0-9A-Za-z]{1,4}[0-9]{2,3})*)[^0-9]*')


def digits(value: str) -> int | None:
    """Return the number in "11.442.052 [5,85 TB]" or "1'000'204'886'016 bytes", with any thousands
    separator.

    Return None if the text has no number, or more than one.
    """
    match = _GROUPS.fullmatch(value.partition('[')[0].strip())
    number = re.sub(r'[^0-9]', '', match[1]) if match else ''
    return int(number) if 0 < len(number) <= 39 else None


def leading(value: str) -> int | None:
    """Return the number at the start of a text such as "5400 rpm", or None if no number is at
    the start.
    """
    match = re.match(r'-?\d{1,19}(?!\d)', value)
    return int(match[0]) if match else None


# --- lines by type; the values stay as printed ----------------------------------------------------

# "0x01  0x010  4            3188  ND-  Power-on Hours", until 6.3 "  1  0x010  4            3188~ Power-on Hours"
_STATISTIC = re.compile(
    r'(?P<page>\d{1,3}|0x[0-9a-f]{2})\s+(?P<offset>0x[0-9a-f]{3})\s+\d\s+(?P<number>-?\d{1,20})(?P<normalized>~?)\s+'
    r'(?:(?P<flags>[N-][D-][C-])[+ ]?\s+)?(?P<name>\S.*)'
)
# The rest of a column. With ".*?", every way to divide long runs of blanks between two columns
# would be tried.
_WORDS = r'\S*(?: \S+)*?'
_ATA_TEST = re.compile(
    rf'#\s*(?P<number>\d{{1,3}})\s+(?P<kind>\S{_WORDS})\s+'
    rf'(?P<status>(?:Completed|Aborted|Interrupted|Fatal|Self-test|Unknown status)\b{_WORDS})\s*'
    r'\b\d{1,3}%\s+(?P<hours>\d{1,5})\b'
)
_SCSI_TEST = re.compile(
    r'#\s*\d+\s+(?P<kind>(?:Background|Foreground|Abort|Default|Reserved\(\d+\))(?: short| long| '
    r'background)?)\s+'
    rf'(?P<status>\S{_WORDS})\s+(?:-|\d+)\s+(?P<hours>\d{{1,10}}|NOW)\s+(?:-|0x[0-9a-f]+|\d+)\s+\['
)
NVME_TEST = re.compile(
    r'\d+\s+(?P<kind>Short|Extended|Vendor specific|Unknown \(0x[0-9a-f]\))\s+'
    rf'(?P<status>(?:Completed|Aborted|Fatal|Unknown result)\b{_WORDS})\s+(?P<hours>\d{{1,19}})\s+'
    r'(?:-|\d+)\s+(?:-|\*|\d+)\s'
)
# "  0       1013     4  0xb081  0x0305      -            0     1     -": index, number, queue,
# command, status; since 7.4, a message at the end
NVME_ERROR = re.compile(
    r'\d{1,3}\s+(?P<number>\d{1,19})\s+(?P<queue>\d{1,5})\s+(?:-|0x[0-9a-f]{4})\s+'
    r'(?P<status>0x[0-9a-f]{4})\s+(?:-|0x[0-9a-f]{3})\s'
)
# "    0            11723104     8211": index, LBA, hours
_PENDING = re.compile(r'\d{1,5}\s+\d{1,18}\s+(?:\d{1,10}|-)$')
# "   1  123:45  000000001d1c5a40  [3,11,0]   Require Write or Reassign Blocks command"
SCANNED = re.compile(
    r'\d{1,4} +(?P<hours>\d{1,8}):(?P<minutes>\d\d) +(?P<block>[0-9a-f]{16}) +'
    r'\[[0-9a-f],[0-9a-f]{1,2},[0-9a-f]{1,2}\] +(?P<words>\S.*)'
)
# "Error 30 [5] occurred at disk power-on lifetime: 17401 hours (725 days + 1 hours)", and the
# registers below it: "40 51 08 bf 0b 34 e0  Error: UNC 8 sectors at LBA = 0x00340bbf = 3410879"; in
# the extended log, "84 -- 51 00 57 00 00 01 14 50 4b 01 00  Error: ..."
ERROR = re.compile(
    r'Error (?P<number>\d{1,10})(?: \[\d{1,5}\])? occurred at disk power-on lifetime: '
    r'(?P<hours>\d{1,10}) hours'
)
REGISTERS = re.compile(
    r'(?P<error>[0-9a-f]{2}) (?:-- )?[0-9a-f]{2}(?: [0-9a-f]{2}){5,10}'
    r'(?: +(?P<words>(?:Device Fault; )?Error: .*|at LBA .*))?$'
)

# Part of Lines -> the form of its rows.
_ROWS = {
    'scsi_tests': _SCSI_TEST,
    'ata_tests': _ATA_TEST,
    'statistics': _STATISTIC,
    'nvme_tests': NVME_TEST,
    'nvme_errors': NVME_ERROR,
    'background': SCANNED,
    'pending': _PENDING,
}
# Rows without content: an empty log entry, a statistic without a number, the headline of a page.
_NOTHING = re.compile(
    r'Error \d+ \[\d+\] log entry is empty|(?:0x[0-9a-f]{2}|\d{1,3}) +(?:0x[0-9a-f]{3} +\d +- |=)'
)

# "56244        0         0     56244          0          0.026           0", below "read:"
COUNTERS_ROW = re.compile(
    r'\s+'.join([*5 * [r'(\d{1,39})'], r'(\d{1,39}(?:[.,]\d{1,9})?)', r'(\d{1,39})'])
)

POWER_ON = 'accumulated power on time, hours'
# Two log pages contain this value. As in smartctl's JSON, the later page is used.
_SAME_LABEL = {'number of hours powered up': POWER_ON}


Rows = list[re.Match[str]]
Fields = Mapping[str, str]  # label in lower case -> value


class Lines(NamedTuple):
    """The lines of a report, grouped by type."""

    # "Label: value"; labels in lower case, the first value of each; a line without a value is a
    # label with the value ''
    fields: dict[str, str]
    last: dict[str, str]  # the same, with the last value of each
    rows: list[str]  # rows of the attribute table, classic
    statistics: Rows
    ata_tests: Rows
    scsi_tests: Rows
    nvme_tests: Rows
    nvme_errors: Rows  # of commands
    background: Rows  # results of the background scan of a SCSI disk
    pending: Rows  # rows of the Pending Defects log
    # ATA error log: the head of an entry, then its registers
    errors: Rows
    complaints: list[str]
    warnings: list[str]  # lines below an NVMe drive's FAILED


def lines_by_kind(text: str) -> Lines:
    """Return the lines of a report, grouped by type, without lines that are longer than any line of
    smartctl.
    """
    # the rest of Lines are lists
    tables: dict[str, Any] = {name: [] for name in Lines._fields[2:]}
    lines = Lines(fields={}, last={}, **tables)
    for line in map(str.strip, text.split('\n')):
        if not line or len(line) > LONGEST_LINE:
            continue
        # The registers of an error have no label, so they are looked for only below its head.
        is_below_head = lines.errors and lines.errors[-1].re is ERROR
        registers = REGISTERS.match(line) if is_below_head else None
        error_line = ERROR.match(line) or registers
        if error_line:
            lines.errors.append(error_line)
        elif line[0].isdigit() or line[0] == '#':
            _add_row(line, lines)
        else:
            _add_line(line, lines)
    return lines


def label_and_value(line: str) -> tuple[str, str]:
    """Return the label of a line in lower case, and its value; the whole line and '' if it has no
    label.
    """
    label, separator, value = line.partition(':')
    if not separator:
        label, _, value = line.partition(' = ')
    return ' '.join(label.lower().split()), value.strip()


def value_of(fields: Fields, *labels: str) -> str:
    """Return the value of the first of these labels that has one; '' if none has."""
    for label in labels:
        if fields.get(label):
            return fields[label]
    return ''


def _add_line(line: str, lines: Lines) -> None:
    """Add a line that is not a table row to its place in *lines*."""
    if line.startswith('- '):
        lines.warnings.append(line)
    if is_complaint(line):
        lines.complaints.append(line)
    label, value = label_and_value(line)
    if value == '[No Information Found]':  # in place of an empty text
        value = ''
    lines.fields.setdefault(label, value)
    lines.last[_SAME_LABEL.get(label, label)] = value


def _add_row(line: str, lines: Lines) -> None:
    """Add a table row to its place in *lines*."""
    row = classic(line)
    if row:
        lines.rows.append(row)
        return
    for name, pattern in _ROWS.items():
        match = pattern.match(line)
        if match:
            getattr(lines, name).append(match)
            return


def is_row(line: str) -> bool:
    """Return whether a line of the statistics, self-tests or errors is a valid row, or has no
    content.
    """
    return any(
        pattern.match(line)
        for pattern in (_SCSI_TEST, _ATA_TEST, _STATISTIC, ERROR, _NOTHING)
    )
