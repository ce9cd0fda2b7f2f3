"""Join the wrapped rows of smartctl's text by the grammar of each table, and find rows that cannot
be read. Pure.

A row that is damaged, cut, shifted or joined with another one may hold an alert, so it makes the
drive UNKNOWN if nothing is worse. A row that is missing whole cannot be noticed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..constants import LONGEST_LINE
from ..typed import NamedTuple
from . import pysmart
from .pysmart import NVME_LOG, classic, is_row, label_and_value


class Kind(NamedTuple):
    """A kind of line, such as a row of one table."""

    begins: re.Pattern[str]  # the beginning of a line of this kind
    is_whole: Callable[[str], object]  # whether a line has all that it needs
    # a line that begins like this may be the wrapped rest, even of a line that is whole
    rest: re.Pattern[str]


class Table(NamedTuple):
    """The grammar of a table: its heading and its rows."""

    heading: Kind
    row: Kind


def _kind(begins: str, is_whole: Callable[[str], object], rest: str = r'(?!)') -> Kind:
    """Return a kind from its patterns; by default, *rest* matches no line."""
    return Kind(re.compile(begins), is_whole, re.compile(rest))


def _always(line: str) -> bool:
    return True


def _value(line: str) -> str:
    """Return the value of a line: "Revision: 0006" -> "0006"; '' if it has none."""
    return label_and_value(line)[1]


# --- the attribute table ------------------------------------------------------------------

_NUMBER = r'-?\d+(?:[.,]\d+)?'
_TIME = r'\d+h(?:\+\d+m)?(?:\+\d+(?:\.\d+)?s)?'
# The raw value of an attribute. Source: smartmontools, atacmds.cpp, ata_format_attr_raw_value()
_RAW = re.compile(
    rf'(?:{_NUMBER}|\d+ \d+ \d+(?: \d+ \d+ \d+)?|\d+/\d+|\d+:(?: \d+)+|'
    rf'0x(?:[0-9a-f]{{2}}){{6,8}}|{_TIME})(?: \([^\s()](?:[^()]*[^\s()])?\))?'
)
_CUT = re.compile(r'0x[0-9a-f]*|[^()]*\([^()]*')  # what is left of a raw value
_FLAGS = r'(?:0x[0-9a-f]{4}|[P-][O-][S-][R-][C-][K-]\+?)'
_COLUMNS = re.compile(
    rf'.*?\s{_FLAGS}\s.*?\s(?:-|FAILING_NOW|In_the_past|NOW|Past)\s+(?=\S)(?P<raw>.*)'
)
_ROW = r'(?:\d{1,3}|0x[0-9a-f]{2})\s+'
_HEADLINE = re.compile(
    r'ID#\s*ATTRIBUTE_NAME\s+FLAGS?\s+VALUE\s+WORST\s+THRESH\s+'
    r'(?:TYPE\s+UPDATED\s+WHEN_FAILED|FAIL)\s+RAW_VALUE'
)
# What is left of a row that lost its beginning.
_FRAGMENT = re.compile(
    rf'\b{_FLAGS}\s|\b(?:Pre-fail|Old_age|Always|FAILING_NOW|In_the_past)\b|'
    r'\b\d{3}\s+\d{3}\s+\d{3}\b|(?:-|NOW|Past)\s+\d|\b[A-Z][a-z]*_\w+\s+(?:0x|[P-][O-])'
)
# the same for a row of another table
_DIGITS = re.compile(r'^(?:[-#]|\d+\s+(?:\d|-|0x)|\d+$)')


def _is_attribute(line: str) -> bool:
    """Return whether a line is a whole row of the attribute table."""
    row = _COLUMNS.fullmatch(line)
    if not row or not classic(line):
        return False
    raw_value = ' '.join(row['raw'].split())
    return bool(_RAW.fullmatch(raw_value))


_NUMBERS = r'[-+\d(#\[][\d .,:/()#+hmsx\[\]-]*$|\((?:Min|Average|Lifetime)|[\d/-]+\)$'
_ATTRIBUTES = Table(
    _kind(r'ID#|ATTRIBUTE_N', _HEADLINE.fullmatch),
    _kind(
        rf'{_ROW}(?:[A-Za-z]\S*[_-]\S*|[A-Z]\S*(?:\s+(?:0x|[P-][O-]|Attribute).*)?$)'
        rf'|{_ROW}\S+\s+(?:0x|[P-][O-])',
        _is_attribute,
        _NUMBERS,
    ),
)

# --- the other tables ---------------------------------------------------------------------

_WORDS = r'[A-Za-z(=][^:]*$|\d\) ==|[-\d]+$'
_STATISTIC = _kind(r'(?:0x[0-9a-f]{2}|\d{1,3})\s+(?:0x[0-9a-f]{3}\s|=)', is_row, _WORDS)
_COUNTERS = _kind(
    r'(?:read|write|verify):',
    lambda line: pysmart.COUNTERS_ROW.fullmatch(_value(line)),
)
_TABLES = (
    _ATTRIBUTES,
    Table(_kind(r'Page\s+Offset|Offset\s+Size', _always), _STATISTIC),
    Table(
        _kind(r'(?:fast \||Errors Corrected by|ECC\s+rereads)', _always, r'[a-z|\[(]'),
        # a row whose end was cut
        _COUNTERS._replace(begins=re.compile(r'(?:re?a?d?|wr?i?t?e?|ve?r?i?f?y?):?$')),
    ),
    Table(
        _kind(r'ER (?:-- )?ST', _always, r'[-= ]+$'),
        _kind(r'[0-9a-f]{2}\b', pysmart.REGISTERS.match, r'[A-Za-z=\d]'),
    ),
    Table(
        _kind(r'Num\s+ErrCount', _always, r'[A-Z]'),
        _kind(
            r'\d{1,3}\s+\d+\s+\d+\s', pysmart.NVME_ERROR.match, r'[-\d]+(?:\s|$)|[A-Z]'
        ),
    ),
    Table(
        _kind(r'Num\s+Test_Description\s+Status', _always, r'[A-Z]'),
        _kind(r'\d+\s+[SEVU]', pysmart.NVME_TEST.match, r'[-*\d]+(?:\s+[-*\d]+)*$'),
    ),
    Table(
        _kind(r'#\s+when', _always, r'\[|reassign'),
        _kind(r'\d{1,4}\s+\d+:', pysmart.SCANNED.match, r'[a-z]'),
    ),
)
# Registers of an error, with the number of the block at their end.
_LBA = re.compile(r'(?:[0-9a-f]{2} |-- )+.* at LBA = 0x[0-9a-f]+ = \d+')
# A row that is certainly one of attributes, even outside of their table.
_CLEAR_ROW = _ATTRIBUTES.row._replace(
    begins=re.compile(rf'{_ROW}[A-Za-z]\S*(?: \S+)?\s+{_FLAGS}\s')
)
# Lines that are known by their beginning, wherever they stand.
_ROWS = (
    _COUNTERS,
    _STATISTIC,
    _CLEAR_ROW,
    _kind(r'#\s*\d{1,3}\s', is_row, _NUMBERS + r'|-(?:\s|$)'),
    _kind(r'Error \d+(?: \[\d+\])?(?: [ol]|$)', is_row, r'[\d+(h][^:]*$'),
    _kind(r'.*power-on lifetime:', is_row),
    # labels that a verdict needs, whose values have several words
    _kind(
        r'(?:Model Family|Device Model|Model Number|Product|User Capacity|Local Time is|'
        r'Accumulated power on time, hours):',
        _value,
        # the rest of a model, a size or a date
        r'[^:]*$|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d',
    ),
)

# --- lines with one value -----------------------------------------------------------------

_COUNT = r'-?\d[^A-Za-z:]*(?:%|C|Celsius)?\s*(?:\[[^\]]*\])?'
_FORMS = {
    'smart overall-health self-assessment test result': r'(?:PASSED|FAILED|UNKNOWN)(?![A-Za-z]).*',
    'smart health status': r'OK(?![A-Za-z]).*|.*(?:FAIL|\[asc ?=.*\]).*',
    'self-test execution status': r'\(\s*\d{1,3}\).*',
    'rotation rate': r'\d{1,6} rpm.*|Solid State.*|Unknown.*',
    'sector size': r'\d{1,6} bytes.*',
    'sector sizes': r'\d{1,6} bytes.*',
    'ata error count': r'\d{1,10}\b.*',
    'device error count': r'\d{1,10}\b.*',
    'elements in grown defect list': _COUNT,
    'percentage used endurance indicator': _COUNT,
    'non-medium error count': _COUNT,
    'accumulated start-stop cycles': _COUNT,
    'accumulated load-unload cycles': _COUNT,
    'current drive temperature': f'{_COUNT}|<not available>',
    'critical warning': r'0x[0-9a-f]{2}',
    **{label.lower(): f'{_COUNT}|-' for label in NVME_LOG},
}
_LEAST = 12  # letters of a label that was cut
_TOP = 15  # rows of attributes whose order can identify a controller

# What begins a line of its own, whatever stands before it.
_BEGINNING = re.compile(
    r'=== |smartctl \d|Copyright|SMART |General |Vendor Specific|Error counter log|Num |Device |'
    r'Page |ID#|No |Selective|Warning|==>|SPAN|\|\||(?!Error:)[A-Z][\w /.()-]{1,60}:(?:\s|$)'
)
# Where the second of two lines that became one begins.
_INSIDE = re.compile(
    r'(?<=\S)\s*(?==== START OF|SMART overall-health|SMART Health Status:|ID# ATTRIBUTE_NAME|'
    r'Critical Warning: |SMART/Health Information|Error counter log:|Serial [Nn]umber: |'
    r'Device Model: |Model Number: |Firmware Version: |ATA Error Count: |User Capacity: |'
    r'Compliance: |PCI Vendor/|LU WWN Device Id: |(?<![a-z] )(?:Product|Revision|Vendor): |'
    rf'(?<=\s)\d{{1,3}} [A-Z][\w/-]+ +{_FLAGS} )'
)


def joined(plain: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines of a plain text after joining those that were wrapped, and those lines that
    a verdict needs but that cannot be read, such as damaged rows and rows outside of their table.
    """
    page = _Page()
    for line in plain:
        # the line break between two lines may be lost
        for part in _INSIDE.split(line):
            page.add(part)
    page.close_line()
    # With a heading, rows outside of its table are damage. Without one, they were pasted on
    # purpose.
    if any(map(_ATTRIBUTES.heading.begins.match, page.lines)):
        page.unread += page.rows_outside
    return page.lines, list(dict.fromkeys(page.unread))


class _Page:
    """The lines so far, and what the next line may belong to."""

    def __init__(self) -> None:
        self.lines: list[str] = ['']
        # rows that cannot be read, and fragments of rows
        self.unread: list[str] = []
        # rows of attributes outside of the table of attributes; only the first row of each group
        self.rows_outside: list[str] = []
        # None for a line that is neither a row nor a heading and has no known label
        self._last_kind: Kind | None = None
        # the table whose rows may follow
        self._table: Table | None = None
        # Whether rows of attributes may follow. An empty line ends _table, but not this: a pasted
        # table of attributes may have empty lines.
        self._may_attributes_follow = False

    def add(self, line: str) -> None:
        """Add a line, or join it to the last line if it is the rest of that line. Leave it out if
        it repeats the last line, and this is a row, a heading or has a known label.
        """
        last_kind = self._last_kind
        if last_kind and line == self.lines[-1]:  # doubled
            return
        table = _table_of(line)
        kind = table.heading if table else _kind_of(line[:LONGEST_LINE], self._table)
        if last_kind and not kind and _goes_on(self.lines[-1], last_kind, line):
            self.lines[-1] += ' ' + line
            return
        self.close_line()
        self.lines.append(line)
        self._last_kind = kind
        if table:
            self._enter(table)
        elif kind is _CLEAR_ROW:
            self._enter_at_row(line)
        elif not kind:
            self._leave_table(line)

    def close_line(self) -> None:
        """Note the last line if it is a row that cannot be read."""
        line = self.lines[-1]
        kind = self._last_kind
        if kind and (len(line) > LONGEST_LINE or not kind.is_whole(line)):
            self.unread.append(line)

    def _enter(self, table: Table) -> None:
        """Make this the table whose rows may follow."""
        self._table = table
        self._may_attributes_follow = table is _ATTRIBUTES

    def _enter_at_row(self, row: str) -> None:
        """Enter the table of attributes at one of its rows, as its heading does.

        If rows of attributes may not follow here, note the row as one outside of the table.
        """
        if not self._may_attributes_follow:
            self.rows_outside.append(row)
        self._enter(_ATTRIBUTES)

    def _leave_table(self, line: str) -> None:
        """End the table at a line that is not a row; a fragment of a row does not end it, but is
        noted. An empty line ends it, but rows of attributes may still follow.
        """
        fragment = _FRAGMENT if self._table is _ATTRIBUTES else _DIGITS
        if self._table and fragment.search(line):
            self.unread.append(line)
            return
        self._table = None
        if line:
            self._may_attributes_follow = False


def _table_of(line: str) -> Table | None:
    """Return the table whose heading begins a line; None if the line is no heading."""
    for table in _TABLES:
        if table.heading.begins.match(line):
            return table
    return None


def _kind_of(line: str, table: Table | None) -> Kind | None:
    """Return the kind of a line that is a row or has a known label; None for other lines.

    table: the current table; some of its rows are known only within it.
    """
    rows = [*_ROWS, table.row] if table else _ROWS
    for row in rows:
        if row.begins.match(line):
            return row
    return _labelled(line)


def is_whole(line: str) -> object:
    """Return whether a line is a whole row or heading, or has a known label and a value of its
    form.
    """
    table = _table_of(line)
    kind = table.heading if table else _kind_of(line, None)
    return kind.is_whole(line) if kind else _LBA.fullmatch(line)


def _labelled(line: str) -> Kind | None:
    """Return the kind of a line with a label in _FORMS, whole or cut; None for other lines."""
    label, value = label_and_value(line)
    has_separator = ':' in line or ' = ' in line
    if has_separator and label in _FORMS:
        form = _FORMS[label]
        # The first argument is '', because the line is recognized by its label. The last one is for
        # the rest of a count or a health status: "[5.85 TB]", "[asc=5d,", "ascq=10]".
        return _kind('', lambda text: re.fullmatch(form, _value(text)), r'\[|asc')
    if _is_cut(label, value):
        # A line with a cut label is never whole.
        return _kind('', lambda text: False)
    return None


def _is_cut(part: str, value: str) -> bool:
    """Return whether *part* is what is left of a label in _FORMS: its end, with a value of its
    form, or its beginning, without a value.

    "grown defect list", "0" -> True; "elements in grown", '' -> True
    """
    for label, form in _FORMS.items():
        # This label is not cut, but another one may begin with it.
        if part == label:
            continue
        lost_beginning = len(part) > 2 and label.endswith(part)
        if lost_beginning and re.fullmatch(form, value):
            return True
        lost_end = len(part) >= _LEAST and label.startswith(part)
        if lost_end and not value:
            return True
    return False


def _goes_on(line: str, kind: Kind, following: str) -> bool:
    """Return whether a line of this kind goes on in the following one.

    following: a line that has no kind, so it is not a row and has no known label.
    """
    if not following or len(line) + len(following) > LONGEST_LINE:
        return False
    if _BEGINNING.match(following):
        return False
    if not kind.is_whole(line):
        return True
    return bool(kind.rest.match(following))


def is_shifted(ids: Sequence[int]) -> bool:
    """Return whether the IDs at the top of the attribute table show that two rows are swapped, or
    that a row took the place of another one.

    1, 9, 5, 197: 9 and 5 are swapped
    1, 248, 12, 197, 9: 248 took the place of 9
    """
    below_ids = ids[1:]
    # These are lower than the ID of the row above them: 12 and 9 in 1, 248, 12, 197, 9.
    late_ids = [lower for upper, lower in zip(ids, below_ids) if lower < upper]
    # The loop takes each ID at the top with the ID above it, the ID below it, and the ID after that
    # one. 0 is lower than any ID, and 256 is higher.
    above_ids = [0, *ids]
    after_ids = [*ids[2:], 256]
    for above, top_id, below, after in zip(above_ids, ids[:_TOP], below_ids, after_ids):
        # 1, 9, 5, 197: the 9 belongs between the 5 and the 197.
        is_swapped = above < below < top_id < after
        # 1, 248, 12, and 9 further below: the 9 belongs in the place of the 248.
        belongs_here = [late for late in late_ids if above < late < below < top_id]
        if is_swapped or belongs_here:
            return True
    return False


def shortest_cut(unread: Sequence[str]) -> int:
    """Return the length of the shortest raw value among the rows that were cut at the right;
    LONGEST_LINE if no row was cut, 0 if the heading was cut before the column of the raw values.

    A raw value of this length or more may have lost digits, so the caller must not use it.
    unread: the lines that cannot be read, as returned by joined().
    """
    lengths = [LONGEST_LINE]
    for line in unread:
        if line.startswith('ID#') and 'RAW_VALUE' not in line:
            return 0
        row = _COLUMNS.fullmatch(line)
        if row and _CUT.fullmatch(row['raw']):
            lengths.append(len(row['raw']))
    return min(lengths)
