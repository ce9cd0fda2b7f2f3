"""smartctl's text, of any version since 5.37, as a Report.

pySMART reads the attribute table, the NVMe health log and the SCSI counters. It
knows the classic `-a` layout in English number format, so each of these lines is
recognised here, rewritten to that layout and handed over; what pySMART does not
read at all (identity in full, device statistics, self-tests, error counts) is
read here.

Its Device class is not used: it takes 2.6 ms for forty lines, and starts smartctl
when it misses something. The readers below it only ever see the lines they get.
"""
from __future__ import annotations

import os
import re
from functools import cache
from typing import Any, Callable, Dict, Iterable, Iterator, List, Match, NamedTuple, Optional, Tuple

from ..errors import DriveError, NotAReport
from ..model import WHEN_FAILED, AttributeRow, Identity, Report, SelfTest, Statistic
from .diagnosis import Remains, diagnose, examined, smart_disabled, without_data
from .json_report import (
    ERROR_COUNTERS,
    as_text,
    has_smart_data,
    has_spindle,
    last_self_test,
    looks_like_json,
    no_report,
    scsi_exclusion,
    self_test_passed,
    with_pending,
)
from .json_report import parse as parse_json

_LONGEST_LINE = 400       # smartctl prints none longer in a report
_MOST_LINES = 3000        # and never half of this; each is matched with expressions that take their time
_MOST_ROWS = 255          # what pySMART has room for; a drive has thirty

_BANNER = re.compile(r'^[ \t]*smartctl (?:version )?(?:pre-)?(\d+)\.(\d+)', re.MULTILINE)

# Blanks and apostrophes that locales put between groups of digits, made ASCII.
_TYPOGRAPHY = str.maketrans({'\u00a0': ' ', '\u202f': ' ', '\u2009': ' ', '\u2007': ' ', '\u2019': "'", '\u02bc': "'",
                             '\ufeff': None, '\r': None})
_QUOTED = re.compile(r'^(?:>[> \t]?)+', re.MULTILINE)  # an answer to a mail; smartctl begins no line so

_COLUMN = r'(?:----?|0x[0-9a-f]{2}|\d{1,3})'  # "100", "0x64" with -f hex, "---" or "----" where there is none
# A row of the attribute table, old layout: "  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always
# -       0". Before 5.40 unknown names hold a blank; a name of 24 characters and more runs into the flags.
_CLASSIC_ROW = re.compile(
    r'(?P<id>\d{1,3}|0x[0-9a-f]{2})\s+(?P<name>\S+?(?: \S+?)??)\s*(?P<flags>0x[0-9a-f]{4})\s+'
    rf'(?P<value>{_COLUMN})\s+(?P<worst>{_COLUMN})\s+(?P<threshold>{_COLUMN})\s+'
    r'(?P<kind>Pre-fail|Old_age)\s+(?P<updated>Always|Offline)\s+(?P<failed>-|FAILING_NOW|In_the_past)\s+(?P<raw>\S.*)')
# The layout of -x: "  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0"
_BRIEF_ROW = re.compile(
    r'(?P<id>\d{1,3}|0x[0-9a-f]{2})\s+(?P<name>\S+?(?: \S+?)??)\s*(?P<flags>[P-][O-][S-][R-][C-][K-]\+?)\s+'
    rf'(?P<value>{_COLUMN})\s+(?P<worst>{_COLUMN})\s+(?P<threshold>{_COLUMN})\s+'
    r'(?P<failed>-|NOW|Past)\s+(?P<raw>\S.*)')
_FLAG_BITS = 'POSRCK'     # bit 0 first. Source: smartmontools atacmds.h, ATTRIBUTE_FLAGS_*
_NO_VALUE = 999           # stands for "---" while pySMART, which wants digits, reads the row

# "0x01  0x010  4            3188  ND-  Power-on Hours", until 6.3 "  1  0x010  4            3188~ Power-on Hours"
_STATISTIC = re.compile(
    r'(?P<page>\d{1,3}|0x[0-9a-f]{2})\s+(?P<offset>0x[0-9a-f]{3})\s+\d\s+(?P<number>-?\d{1,20})(?P<normalized>~?)\s+'
    r'(?:(?P<flags>[N-][D-][C-])[+ ]?\s+)?(?P<name>\S.*)')

_WORDS = r'\S*(?: \S+)*?'  # the rest of a column; ".*?" would share long runs of blanks with what follows in every way there is
_ATA_TEST = re.compile(
    rf'#\s*(?P<number>\d+)\s+(?P<kind>\S{_WORDS})\s+'
    rf'(?P<status>(?:Completed|Aborted|Interrupted|Fatal|Self-test|Unknown status)\b{_WORDS})\s*'
    r'\b\d+%\s+(?P<hours>\d+)\b')
_SCSI_TEST = re.compile(
    r'#\s*\d+\s+(?P<kind>(?:Background|Foreground|Abort|Default|Reserved\(\d+\))(?: short| long| background)?)\s+'
    rf'(?P<status>\S{_WORDS})\s+(?:-|\d+)\s+(?P<hours>\d+|NOW)\s+(?:-|0x[0-9a-f]+|\d+)\s+\[')
_NVME_TEST = re.compile(
    r'\d+\s+(?P<kind>Short|Extended|Vendor specific|Unknown \(0x[0-9a-f]\))\s+'
    rf'(?P<status>(?:Completed|Aborted|Fatal|Unknown result)\b{_WORDS})\s+(?P<hours>\d+)\s+(?:-|\d+)\s+(?:-|\*|\d+)\s')

# "    0            11723104     8211": index, LBA, hours
_PENDING = re.compile(r'\d{1,5}\s+\d{1,18}\s+(?:\d{1,10}|-)$')

# "read:   56244        0         0     56244          0          0.026           0"
_ERROR_COUNTERS = re.compile(r'(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+(?:[.,]\d{1,9})?)\s+(\d+)')

# What smartctl complains about in a report that is good for a verdict all the same.
_COMPLAINT = re.compile(r'Warning[:!]|==> WARNING:|Read .* failed|SMART Status (?:not supported|command failed)'
                        r'|.*(?:Log Sense|Failed) .*\[|Error .*checksum|An optional SMART command failed')

# The words after "- " below an NVMe drive's FAILED, and the bit of its critical warning. Source: NVMe 1.4, figure 194.
_NVME_WARNINGS = (('available spare', 1), ('temperature', 2), ('NVM subsystem reliability', 4), ('media', 8),
                  ('volatile memory', 16), ('persistent memory', 32))

# The label that pySMART knows, its attribute there, and the key of smartctl's JSON.
_NVME_LOG = (
    ('Available Spare', 'availableSpare', 'available_spare', '{}%'),
    ('Available Spare Threshold', 'availableSpareThreshold', 'available_spare_threshold', '{}%'),
    ('Percentage Used', 'percentageUsed', 'percentage_used', '{}%'),
    ('Data Units Read', 'dataUnitsRead', 'data_units_read', '{}'),
    ('Data Units Written', 'dataUnitsWritten', 'data_units_written', '{}'),
    ('Host Read Commands', 'hostReadCommands', 'host_reads', '{}'),
    ('Host Write Commands', 'hostWriteCommands', 'host_writes', '{}'),
    ('Controller Busy Time', 'controllerBusyTime', 'controller_busy_time', '{}'),
    ('Power Cycles', 'powerCycles', 'power_cycles', '{}'),
    ('Power On Hours', 'powerOnHours', 'power_on_hours', '{}'),
    ('Unsafe Shutdowns', 'unsafeShutdowns', 'unsafe_shutdowns', '{}'),
    ('Media and Data Integrity Errors', 'integrityErrors', 'media_errors', '{}'),
    ('Error Information Log Entries', 'errorEntries', 'num_err_log_entries', '{}'),
    ('Warning Comp. Temperature Time', 'warningTemperatureTime', 'warning_temp_time', '{}'),
    ('Critical Comp. Temperature Time', 'criticalTemperatureTime', 'critical_comp_time', '{}'),
    ('Temperature', 'temperature', 'temperature', '{} Celsius'),
)
NVME_LABELS = {label: key for label, _, key, _ in _NVME_LOG}
_NVME_HEADLINE = 'SMART/Health Information (NVMe Log 0x02)'

# The same for the SCSI counters. pySMART turns used into left endurance.
_SCSI_LOG = (
    ('Percentage used endurance indicator', 'Life_Left', 'percentage_used', '{}%'),
    ('Specified cycle count over device lifetime', 'Start_Stop_Spec', 'start_stop_cycles_rated', '{}'),
    ('Accumulated start-stop cycles', 'Start_Stop_Cycles', 'start_stop_cycles', '{}'),
    ('Specified load-unload count over device lifetime', 'Load_Cycle_Spec', 'load_unload_cycles_rated', '{}'),
    ('Accumulated load-unload cycles', 'Load_Cycle_Count', 'load_unload_cycles', '{}'),
    ('Elements in grown defect list', 'Reallocated_Sector_Ct', 'grown_defects', '{}'),
)
# Read here: pySMART does not know these, or looks for other words ("non-medium error count").
_SCSI_OTHER = (
    ('current drive temperature', 'temperature'),
    ('drive trip temperature', 'drive_trip'),
    ('non-medium error count', 'non_medium_errors'),
    ('pending defect count', 'pending_defects'),
)
_POWER_ON = 'accumulated power on time, hours'
# Printed by two log pages. As in smartctl's JSON the later one counts.
_SAME_LABEL = {'number of hours powered up': _POWER_ON}

_ATA_LABELS = ('device model', 'ata version is', 'smart overall-health self-assessment test result', 'lu wwn device id',
               'smart error log version', 'smart extended comprehensive error log version',
               'smart extended self-test log version', 'general smart values')
_ERROR_LOGS = ('smart error log version', 'smart extended comprehensive error log version')
_SCSI_LABELS = ('smart health status', 'logical unit id', 'elements in grown defect list', 'transport protocol',
                'current drive temperature', 'non-medium error count', 'vendor', 'product', 'error counter log',
                'percentage used endurance indicator', 'device', _POWER_ON)


class _Lines(NamedTuple):
    """The lines of a report, sorted by what they are."""

    fields: Dict[str, str]            # "Label: value"; labels in lower case, the first of a name
    last: Dict[str, str]              # the same, the last of a name
    rows: List[Match[str]]            # of the attribute table
    statistics: List[Match[str]]
    ata_tests: List[Match[str]]
    scsi_tests: List[Match[str]]
    nvme_tests: List[Match[str]]
    pending: List[Match[str]]         # of the Pending Defects log
    complaints: List[str]
    warnings: List[str]               # below an NVMe drive's FAILED


class _Readers(NamedTuple):
    """pySMART's readers of lines."""

    ata: Callable[[Iterator[str]], Any]
    nvme: Callable[[Iterator[str]], Any]
    scsi: Callable[[Iterator[str]], Any]


def parse_report(data: bytes, exit_status: Optional[int] = None, error_text: str = '') -> Report:
    """Return the Report of a recorded or fresh output, JSON or text.

    exit_status, error_text: of the process, where it is known.
    Raises DriveError (or a kind of it) when this is no report, or one without a verdict.
    """
    text = as_text(data)
    read = parse_json if looks_like_json(text) else parse
    return read(text, exit_status, error_text)


def parse(text: str, exit_status: Optional[int] = None, error_text: str = '') -> Report:
    """Return the Report of smartctl's text.

    Raises DriveError (or a kind of it) when the text gives no verdict, or when
    pySMART is not installed.
    """
    text = _QUOTED.sub('', text.translate(_TYPOGRAPHY))
    banners = list(_BANNER.finditer(text))
    if len(banners) > 1:
        raise DriveError('holds several reports; write each to a file of its own')
    # What a shell or a script said before is none of the drive's business.
    lines = _sorted_lines(text[banners[0].start():] if banners else text)
    version = tuple(map(int, banners[0].groups())) if banners else ()
    report = _report(lines)._replace(exit_status=exit_status, version=version)
    problem = _problem(lines, report, f'{text}\n{error_text}')
    if problem:
        raise problem.of(report.identity)
    return report


def _report(lines: _Lines) -> Report:
    """Return what *lines* say, whether or not it makes a verdict."""
    protocol = _protocol(lines)
    passed, words = _smart_status(lines.fields)
    attributes = _attributes(lines.rows[:_MOST_ROWS])
    return Report(
        identity=_identity(lines.fields, protocol)._replace(spins=has_spindle(attributes)),
        smart_status=passed,
        smart_status_text=words,
        attributes=attributes,
        statistics=with_pending(dict(map(_statistic, lines.statistics)), _pending_defects(lines)),
        nvme=_nvme(lines, passed) if protocol == 'NVMe' else {},
        scsi=_scsi(lines) if protocol == 'SCSI' else {},
        self_tests=_self_tests(lines),
        error_count=None if protocol == 'NVMe' else _error_count(lines.fields),
        messages=tuple(lines.complaints),
    )


def _problem(lines: _Lines, report: Report, text: str) -> Optional[DriveError]:
    """Return why this text gives no verdict, None when it does."""
    fields, identity = lines.fields, report.identity
    if identity.protocol == 'SCSI':
        excluded = scsi_exclusion(report, fields.get('device type', ''), fields.get('transport protocol', ''))
        if excluded:
            return excluded
    # Printed twice: "Available - device has SMART capability.", then "Enabled" or "Disabled".
    if lines.last.get('smart support is') == 'Disabled' and report.smart_status is not False:
        return smart_disabled()
    if has_smart_data(report):
        return None
    if report.version or any(label.startswith('=== start of ') for label in fields):
        return diagnose((), report.exit_status, text) or without_data(Remains(
            report.exit_status or 0, bool(identity.model), complaint=_complaint(text)))
    return no_report(text, report.exit_status)


def _complaint(text: str) -> str:
    """Return the line in which smartctl speaks of a failure, '' without one."""
    line = re.search(r'^\S.*\b(?:failed\b|cannot\b|unable to\b|error:).*$', examined(text), re.MULTILINE | re.IGNORECASE)
    return line.group() if line else ''


# Sorting lines

def _sorted_lines(text: str) -> _Lines:
    """Return the lines of a report by kind. Each line is looked at once. Raises NotAReport for too many of them."""
    if text.count('\n') > _MOST_LINES:
        raise NotAReport(f'is not a smartctl report: it has more than {_MOST_LINES} lines')
    lines = _Lines({}, {}, [], [], [], [], [], [], [], [])
    for line in map(str.strip, text.split('\n')):
        if line and len(line) <= _LONGEST_LINE:
            _sort(line, lines)
    return lines


def _sort(line: str, lines: _Lines) -> None:
    """Put one line where it belongs."""
    if line[0].isdigit() or line[0] == '#':
        _sort_row(line, lines)
        return
    if line.startswith('- '):
        lines.warnings.append(line)
    if _COMPLAINT.match(line):
        lines.complaints.append(line)
    label, separator, value = line.partition(':')
    if not separator:
        label, separator, value = line.partition(' = ')
    name = ' '.join(label.lower().split())
    value = value.strip()
    lines.fields.setdefault(name, value)
    lines.last[_SAME_LABEL.get(name, name)] = value


def _sort_row(line: str, lines: _Lines) -> None:
    """Put a line of a table where it belongs."""
    for pattern, place in (
        ((_SCSI_TEST, lines.scsi_tests), (_ATA_TEST, lines.ata_tests)) if line[0] == '#' else
        ((_CLASSIC_ROW, lines.rows), (_BRIEF_ROW, lines.rows), (_STATISTIC, lines.statistics),
         (_NVME_TEST, lines.nvme_tests), (_PENDING, lines.pending))
    ):
        match = pattern.match(line)
        if match:
            place.append(match)
            return


# pySMART

@cache
def _readers() -> _Readers:
    """Import pySMART, which takes 80 ms, and return its readers.

    Raises DriveError when it, or what it needs itself (chardet, humanfriendly), is not installed.
    """
    language = os.environ.get('LANG')
    try:
        from pySMART.interface import AtaAttributes, NvmeAttributes, SCSIAttributes
    except ImportError as error:
        missing = (error.name or 'pySMART').partition('.')[0]
        raise DriveError(f'is text, which the Python package pySMART reads, and {missing} is not installed; install it, or '
                         'record with smartctl --json -x') from None
    finally:
        # pySMART sets LANG for the smartctl that it would start; it is not ours to change.
        if language is None:
            os.environ.pop('LANG', None)
        else:
            os.environ['LANG'] = language
    return _Readers(AtaAttributes, NvmeAttributes, SCSIAttributes)


# Identity and verdict

def _protocol(lines: _Lines) -> str:
    """Return the protocol that prints such lines, '' when nothing tells."""
    fields = lines.fields
    if '=== start of smart data section ===' in fields or 'model number' in fields or 'critical warning' in fields:
        return 'NVMe'
    if lines.rows or lines.statistics or any(label in fields for label in _ATA_LABELS):
        return 'ATA'
    return 'SCSI' if any(label in fields for label in _SCSI_LABELS) else ''


def _identity(fields: Dict[str, str], protocol: str) -> Identity:
    model, firmware = _model(fields, protocol)
    namespace = {label.partition(' ')[2].partition(' ')[2]: value
                 for label, value in fields.items() if label.startswith('namespace ')}
    size = (fields.get('sector size') or fields.get('sector sizes') or fields.get('logical block size')
            or namespace.get('formatted lba size', ''))
    capacity = (fields.get('user capacity') or namespace.get('size/capacity') or namespace.get('capacity')
                or fields.get('total nvm capacity', ''))
    rate = fields.get('rotation rate', '')
    return Identity(
        protocol=protocol,
        model=model,
        firmware=firmware,
        serial=_known(fields.get('serial number', '')),
        wwn=_wwn(fields.get('lu wwn device id') or fields.get('logical unit id') or namespace.get('ieee eui-64', '')),
        rotation=0 if rate == 'Solid State Device' else _leading(rate),
        capacity=_digits(capacity) or None,
        family=fields.get('model family', ''),
        sector_size=_leading(size) or 512,
        physical_block_size=_physical(size) or _leading(fields.get('physical block size', '')),
    )


def _model(fields: Dict[str, str], protocol: str) -> Tuple[str, str]:
    """Return model and firmware; pySMART cuts a model at a colon and takes the OEM's "Add. Product Id" for it."""
    if protocol != 'SCSI':
        return (_known(fields.get('device model', '')) or fields.get('model number', ''),
                _known(fields.get('firmware version', '')))
    # Until 5.40: "Device: SEAGATE  ST373453LC       Version: 0006"
    old = re.fullmatch(r'(.*?)\s+Version: ?(.*)', fields.get('device', ''))
    if old:
        return ' '.join(old.group(1).split()), old.group(2).strip()
    names = (fields.get('vendor', ''), fields.get('product', ''))
    return ' '.join(name for name in names if name), fields.get('revision', '')


def _known(value: str) -> str:
    """Return a string of IDENTIFY, '' where smartctl says in words that it is empty."""
    return '' if value == '[No Information Found]' else value


def _wwn(printed: str) -> str:
    """Return "5 000cca 24cea67fd" or "0x5000cca24cea67fd" as digits, '' for a masked one."""
    digits = ''.join(printed.lower().split())
    match = re.fullmatch(r'(?:0x)?([0-9a-f]{8,32})', digits)
    return match.group(1) if match else ''


def _smart_status(fields: Dict[str, str]) -> Tuple[Optional[bool], str]:
    """Return the drive's own verdict, and its words where it has any."""
    words = fields.get('smart overall-health self-assessment test result') or fields.get('smart health status', '')
    if words in ('PASSED', 'OK'):
        return True, ''
    if words == 'FAILED!':
        return False, ''
    if not words or words.startswith('UNKNOWN'):
        return None, words
    return False, words


# Numbers

def _digits(value: str) -> Optional[int]:
    """Return "11.442.052 [5,85 TB]" or "1'000'204'886'016 bytes" as a number, whatever parts its groups."""
    digits = re.sub(r'\D', '', value.partition('[')[0])
    return int(digits) if 0 < len(digits) <= 39 else None


def _leading(value: str) -> Optional[int]:
    """Return the number at the start of "5400 rpm"."""
    match = re.match(r'-?\d{1,19}', value)
    return int(match.group()) if match else None


def _physical(size: str) -> Optional[int]:
    """Return the second number of "512 bytes logical, 4096 bytes physical", or the only one of "512 bytes logical/physical"."""
    return _leading(size.rpartition(', ')[2]) if 'physical' in size else None


# ATA

def _attributes(rows: List[Match[str]]) -> Tuple[AttributeRow, ...]:
    """Return the attribute table in its printed order.

    pySMART keeps one row per attribute number and forgets the order, by which an
    entry may recognise a controller: each row is fed under its position instead.
    """
    rows = [row for row in rows if 0 < int(row['id'], 0 if 'x' in row['id'] else 10) < 256]
    if not rows:
        return ()
    lines = [_classic(position, row) for position, row in enumerate(rows, 1)]
    table = _readers().ata(iter(['Vendor Specific SMART Attributes with Thresholds:', *lines, '']))
    return tuple(_attribute(row, table.legacyAttributes[position]) for position, row in enumerate(rows, 1))


def _classic(position: int, row: Match[str]) -> str:
    """Return a row of any layout in the only one that pySMART reads."""
    parts = row.groupdict()
    flags = parts['flags']
    if 'kind' not in parts:
        bits = sum(1 << bit for bit, letter in enumerate(_FLAG_BITS) if flags[bit] == letter)
        flags = f'0x{bits:04x}'
        parts['kind'] = 'Pre-fail' if bits & 1 else 'Old_age'
        parts['updated'] = 'Always' if bits & 2 else 'Offline'
    numbers = ' '.join(str(_column(parts[name])) for name in ('value', 'worst', 'threshold'))
    name = parts['name'].replace(' ', '_')
    return f'{position} {name} {flags} {numbers} {parts["kind"]} {parts["updated"]} {parts["failed"]} {parts["raw"]}'


def _column(printed: str) -> int:
    """Return VALUE, WORST or THRESH as a number, _NO_VALUE for "---"."""
    return _NO_VALUE if printed.startswith('-') else int(printed, 16 if 'x' in printed else 10)


def _attribute(row: Match[str], read: Any) -> AttributeRow:
    """Return what pySMART read of one row. The raw value stays text: its raw_int drops signs and hex."""
    value, worst, threshold = (None if number > 255 else number for number in (read.value_int, read.worst, read.thresh))
    return AttributeRow(
        id=int(row['id'], 0 if 'x' in row['id'] else 10),
        name=read.name,
        value=value,
        worst=worst,
        threshold=threshold,
        prefail=read.type == 'Pre-fail',
        when_failed=WHEN_FAILED[read.when_failed],
        raw=read.raw,
    )


def _statistic(row: Match[str]) -> Tuple[Tuple[int, int], Statistic]:
    """Return one entry of the device statistics, which pySMART does not read."""
    page = int(row['page'], 16 if 'x' in row['page'] else 10)
    flags = (row['flags'] or '').replace('-', '') or ('N' if row['normalized'] else '')
    return (page, int(row['offset'], 16)), Statistic(int(row['number']), row['name'].strip(), flags)


def _pending_defects(lines: _Lines) -> Optional[int]:
    """Return how many sectors the Pending Defects log lists, None where it was not read."""
    if 'pending defects log (gp log 0x0c)' not in lines.fields:
        return None
    more = next((label for label in lines.fields if label.startswith('... (') and 'entries not shown' in label), '')
    return len(lines.pending) + (_digits(more) or 0)


def _error_count(fields: Dict[str, str]) -> Optional[int]:
    """Return how many errors the drive has ever logged, None where no log was read."""
    counts = [_leading(fields[label]) for label in ('ata error count', 'device error count')
              if label in fields and 'invalid' not in fields[label]]
    if not counts and 'no errors logged' in fields and any(label in fields for label in _ERROR_LOGS):
        return 0
    return max((count for count in counts if count is not None), default=None)


def _self_tests(lines: _Lines) -> Tuple[SelfTest, ...]:
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
    return SelfTest(row['kind'], status, self_test_passed(status), _leading(row['hours']))


# NVMe and SCSI

def _nvme(lines: _Lines, passed: Optional[bool]) -> Dict[str, int]:
    """Return the NVMe health log and the temperature thresholds, by NVME_KEYS."""
    fields = lines.fields
    fed = [_NVME_HEADLINE]
    warning = re.match(r'0x[0-9a-f]{1,2}\b', fields.get('critical warning', ''))
    if warning:
        fed.append(f'Critical Warning: {warning.group()}')
    for label, _, key, form in _NVME_LOG:
        printed = fields.get(label.lower(), '')
        number = _leading(printed) if key == 'temperature' else _digits(printed)
        if number is not None:
            fed.append(f'{label}: {form.format(number)}')
    log = _readers().nvme(iter([*fed, ''])) if len(fed) > 1 else None
    values: Dict[str, Optional[int]] = {key: getattr(log, attribute, None) for _, attribute, key, _ in _NVME_LOG}
    values['critical_warning'] = getattr(log, 'criticalWarning', None)
    if values['critical_warning'] is None and passed is not None:
        # Without the log (-H alone) the words below the verdict still tell the bits.
        values['critical_warning'] = 0 if passed else _warning_bits(lines.warnings)
    values['warning_temp_threshold'] = _leading(fields.get('warning comp. temp. threshold', ''))
    values['critical_temp_threshold'] = _leading(fields.get('critical comp. temp. threshold', ''))
    return {key: value for key, value in values.items() if value is not None}


def _warning_bits(lines: Iterable[str]) -> Optional[int]:
    """Return the critical warning that smartctl put in words, None when no line is known."""
    bits = 0
    for line in lines:
        unknown = re.match(r'- unknown critical warning\(s\) \(0x([0-9a-f]{2})\)', line)
        bits |= int(unknown.group(1), 16) if unknown else 0
        bits |= sum(bit for words, bit in _NVME_WARNINGS if line.startswith('- ' + words))
    return bits or None


def _scsi(lines: _Lines) -> Dict[str, float]:
    """Return the SCSI log pages, by SCSI_KEYS."""
    fields = lines.fields
    fed = [f'{label}: {form.format(number)}' for label, _, _, form in _SCSI_LOG
           for number in [_leading(fields.get(label.lower(), ''))] if number is not None]
    log = _readers().scsi(iter(fed)).diagnostics if fed else None
    values: Dict[str, Optional[float]] = {key: getattr(log, attribute, None) for _, attribute, key, _ in _SCSI_LOG}
    if values['percentage_used'] is not None:
        values['percentage_used'] = 100 - values['percentage_used']
    values.update((key, _leading(fields.get(label, ''))) for label, key in _SCSI_OTHER)
    if values['temperature'] is None:
        values['temperature'] = _leading(fields.get('current temperature', ''))
    hours = re.match(r'(?:minutes\s+)?(\d{1,9})', lines.last.get(_POWER_ON, ''))
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
