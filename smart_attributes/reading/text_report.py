"""Convert smartctl's text, of any version since 5.37, into a Report.

The module `pysmart` reads some of the logs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set

from ..errors import Coded, DriveError
from ..model import ErrorEntry, Farm, Identity, NvmeError, Report, SelfTest, Statistic
from ..words import clean
from . import (
    background_scan,
    calls,
    content,
    farm,
    joined_rows,
    pasted,
    pysmart,
    report_date,
)
from .background_scan import Result
from .completeness import (
    ALL,
    IS_ALL,
    IS_TEXT,
    LIKELY,
    NO_ERROR_LOG,
    NO_STATISTICS,
    missing,
    sentences,
)
from .content import as_text, json_start, loaded
from .failure_reasons import (
    BANNER,
    diagnose,
    examined,
    no_report,
    rows_unread,
    without_data,
)
from .json_report import parse as parse_json
from .pysmart import (
    NVME_LOG,
    POWER_ON,
    TEXT,
    Fields,
    Lines,
    column_number,
    digits,
    leading,
    value_of,
)

# Keys of smartctl's JSON; a line of its text. What another program printed has neither.
_JSON_SIGNS = re.compile(
    r'"(?:json_format_version|svn_revision|smartctl|smart_status)"\s*:'
)
_TEXT_SIGNS = re.compile(
    BANNER + r'\d|=== START OF |ATTRIBUTE_NAME|^(?:Device Model|Model Number):',
    re.MULTILINE,
)
_BANNER = re.compile(BANNER + r'(\d{1,4}(?!\d))\.(\d{1,4}(?!\d))', re.MULTILINE)
# Codes of errors about data that is missing, although it may be in rows that cannot be read.
_NO_DATA = ('smart-data-empty', 'report-without-data')


def parse_report(data: bytes) -> Report:
    """Return the Report of a recorded output, JSON or text, as it is or as a mail quoted it.

    Raises DriveError (or a subclass) if this is not a report, or if the drive cannot be judged.
    """
    text = as_text(data)
    if not _is_json(text):
        return parse_text(text)
    if not _can_be_decoded(text):
        # Without quote signs, and with the wrapped lines joined: outside of strings, JSON may have a
        # blank for each end of a line.
        plain = ' '.join(pasted.plain_lines(text))
        if _can_be_decoded(plain):
            text = plain
    # of damaged JSON, the error names the line in the original text
    return parse_json(text)


def _can_be_decoded(text: str) -> bool:
    """Return whether a text holds JSON that can be decoded as it is."""
    start = json_start(text)
    try:
        return start >= 0 and loaded(text, start) is not None
    except DriveError:
        return False


def _is_json(text: str) -> bool:
    """Return whether a text is JSON of smartctl, or JSON of another program and no text of
    smartctl.
    """
    if _JSON_SIGNS.search(text):
        return '{' in text
    return json_start(text) >= 0 and not _TEXT_SIGNS.search(text)


def parse_text(text: str) -> Report:
    """Return the Report of smartctl's text.

    Raises DriveError (or a subclass) if the drive cannot be judged; see pysmart.attributes(), too.
    """
    without_farm, log = farm.cut('\n'.join(pasted.plain_lines(text)))
    # unread_rows: those that a verdict needs, but that are damaged
    whole_lines, unread_rows = joined_rows.joined(without_farm.split('\n'))
    plain = '\n'.join(whole_lines)
    banners = _BANNER.findall(plain)
    version = tuple(map(int, banners[-1])) if banners else ()
    # several calls about one drive count as one
    lines = calls.as_one(whole_lines)
    too_long = joined_rows.shortest_cut(unread_rows)
    report = _report(lines, log, too_long)._replace(version=version)
    arguments = likely_arguments(plain, lines.fields, report.identity.protocol)
    problem = _problem(lines, report, plain, arguments)
    if problem and unread_rows and problem.code in _NO_DATA:
        problem = rows_unread(unread_rows[0])
    if problem:
        raise problem.of(report.identity)
    return report._replace(gaps=of_text(plain, lines, report, arguments, unread_rows))


def _report(lines: Lines, log: Farm | None, too_long: int) -> Report:
    """Return the content of *lines*, even if the drive cannot be judged from it.

    log: the FARM log, None if absent. too_long: raw values of this length or more are left out,
    because they may have lost digits; see joined_rows.shortest_cut().
    """
    protocol = _protocol(lines)
    passed, words = _smart_status(lines.fields)
    rows = []
    for row in pysmart.attributes(lines.rows):
        is_cut = len(row.raw) >= too_long
        rows.append(row._replace(raw='') if is_cut else row)
    identity = _identity(lines.fields, protocol)
    return Report(
        identity=identity._replace(spins=log is not None or content.has_spindle(rows)),
        smart_status=passed,
        smart_status_text=words,
        attributes=tuple(rows),
        statistics=content.with_pending(
            dict(map(_statistic, lines.statistics)), _pending_defects(lines)
        ),
        nvme=_nvme(lines, passed) if protocol == 'NVMe' else {},
        scsi=_scsi(lines) if protocol == 'SCSI' else {},
        self_tests=_self_tests(lines),
        error_count=None if protocol == 'NVMe' else _error_count(lines.fields),
        errors=_errors(lines),
        nvme_errors=tuple(map(_nvme_error, lines.nvme_errors)),
        is_status_derived=content.is_derived(lines.complaints),
        messages=content.messages_of(lines.complaints, _offline(lines)),
        farm=farm.marked_if_foreign(log, identity.serial),
        date=report_date.of_text(lines.fields.get('local time is', '')),
    )


def _problem(
    lines: Lines, report: Report, text: str, arguments: Collection[str]
) -> DriveError | None:
    """Return why the drive cannot be judged from this text, or None if it can be judged."""
    fields = lines.fields
    problem = content.known_problem(
        report,
        fields.get('device type', ''),
        fields.get('transport protocol', ''),
        # Printed twice: with "Available - device has SMART capability.", then with "Enabled" or
        # "Disabled".
        is_disabled=lines.last.get('smart support is') == 'Disabled',
        is_table_asked='-a' in arguments,
    )
    if problem:
        return problem
    if content.has_smart_data(report):
        return None
    has_heading = any(label.startswith('=== start of ') for label in fields)
    if not report.version and not has_heading:
        return no_report(text)
    complaint = re.search(
        r'(?im)^\S.*\b(?:failed\b|cannot\b|unable to\b|error:).*$', examined(text)
    )
    return diagnose(text) or without_data(
        is_identified=bool(report.identity.model),
        complaint=complaint[0] if complaint else '',
    )


def _protocol(lines: Lines) -> str:
    """Return the protocol to which the lines belong, or '' if not known."""
    # labels that occur in only one protocol; NVMe is the first
    of_labels = (
        protocol
        for protocol, labels in TEXT['labels'].items()
        if not lines.fields.keys().isdisjoint(labels)
    )
    protocol = next(of_labels, '')
    has_ata_table = lines.rows or lines.statistics
    return 'ATA' if has_ata_table and protocol != 'NVMe' else protocol


def _identity(fields: Fields, protocol: str) -> Identity:
    """Return what the lines tell of the drive; '' or None for each part that is absent, and 512 for
    the size of a sector.
    """
    model, firmware = _model(fields, protocol)
    # of an NVMe drive, without the number of the namespace
    plain = {
        re.sub(r'^namespace \d+ ', 'namespace ', label): value
        for label, value in fields.items()
    }
    size = value_of(
        plain,
        'sector size',
        'sector sizes',
        'logical block size',
        'namespace formatted lba size',
    )
    physical_size = ''
    if 'physical' in size:
        # "512 bytes logical, 4096 bytes physical" -> "4096 bytes physical"; in "512 bytes
        # logical/physical", the only part is both sizes
        physical_size = size.split(', ')[-1]
    capacity = value_of(
        plain,
        'user capacity',
        'namespace size/capacity',
        'namespace capacity',
        'total nvm capacity',
    )
    wwn = value_of(
        plain, 'lu wwn device id', 'logical unit id', 'namespace ieee eui-64'
    )
    rate = value_of(fields, 'rotation rate')
    return Identity(
        protocol=protocol,
        model=model,
        firmware=firmware,
        serial=value_of(fields, 'serial number'),
        wwn=content.wwn_of(''.join(wwn.split())),
        rotation=0 if rate == 'Solid State Device' else leading(rate),
        capacity=digits(capacity) or None,
        family=value_of(fields, 'model family'),
        sector_size=leading(size) or 512,
        physical_block_size=leading(physical_size)
        or leading(value_of(fields, 'physical block size')),
    )


def _model(fields: Fields, protocol: str) -> tuple[str, str]:
    """Return model and firmware, '' for one that is absent. pySMART would cut a model at a colon,
    and use "Add. Product Id" (OEM) as the model.
    """
    if protocol != 'SCSI':
        model = value_of(fields, 'device model', 'model number')
        return model, value_of(fields, 'firmware version')
    # Until 5.40: "Device: SEAGATE  ST373453LC       Version: 0006"
    old = re.fullmatch(r'(.*?)\s+Version: ?(.*)', value_of(fields, 'device'))
    if old:
        return ' '.join(old[1].split()), old[2].strip()
    parts = (fields.get('vendor'), fields.get('product'))
    return ' '.join(filter(None, parts)), value_of(fields, 'revision')


def _smart_status(fields: Fields) -> tuple[bool | None, str]:
    """Return the drive's SMART health status (None if it is absent or unknown), and its text unless
    this is PASSED, OK or FAILED.
    """
    words = value_of(fields, *calls.STATUS)
    known = re.match(r'(PASSED|OK|FAILED!?)(?![A-Za-z])', words)
    if known:
        return known[1] in ('PASSED', 'OK'), ''
    # the code of a SCSI drive, "[asc=5d, ascq=10]", is printed only for a failure
    is_failure = 'FAIL' in words.upper() or 'asc' in words
    return (False if is_failure else None), words


def _statistic(row: re.Match[str]) -> tuple[tuple[int, int], Statistic]:
    """Return the page and offset of a row of the device statistics, and its content."""
    flags = (row['flags'] or '').replace('-', '')
    if row['normalized']:
        flags = flags or 'N'
    statistic = Statistic(int(row['number']), row['name'].strip(), flags)
    return (column_number(row['page']), int(row['offset'], 16)), statistic


def _pending_defects(lines: Lines) -> int | None:
    """Return how many sectors the Pending Defects log lists, or None if it was not read."""
    if 'pending defects log (gp log 0x0c)' not in lines.fields:
        return None
    # "... (5 entries not shown)" is a line without a value, so all of it is a label.
    labels = '\n'.join(lines.fields)
    hidden = re.search(r'\.\.\. \((\d{1,19}) entries not shown', labels)
    hidden_count = int(hidden[1]) if hidden else 0
    return len(lines.pending) + hidden_count


def _error_count(fields: Fields) -> int | None:
    """Return how many errors the drive has ever logged: the higher one of the printed counts, or 0
    if a log has no errors; None if no log was read.
    """
    counts = [
        leading(fields[label])
        for label in ('ata error count', 'device error count')
        if label in fields and 'invalid' not in fields[label]
    ]
    if counts:
        return max((count for count in counts if count is not None), default=None)
    has_log = (
        'smart error log version' in fields
        or 'smart extended comprehensive error log version' in fields
    )
    return 0 if has_log and 'no errors logged' in fields else None


def _errors(lines: Lines) -> tuple[ErrorEntry, ...]:
    """Return the entries of the ATA error log whose registers are known, newest first."""
    entries = []
    # an entry is a head with its registers below it
    for head, registers in zip(lines.errors, lines.errors[1:]):
        if head.re is pysmart.ERROR and registers.re is pysmart.REGISTERS:
            words = registers['words'] or ''
            register = int(registers['error'], 16)
            entries.append(
                content.error_entry(
                    int(head['number']), int(head['hours']), words, register
                )
            )
    return content.newest_first(entries)


def _nvme_error(row: re.Match[str]) -> NvmeError:
    """Return an entry of the NVMe error log.

    The status has 16 bits, from the lowest: the phase tag, 8 bits of code, 3 bits of type, others.
    Source: NVM Express 1.4, figure 197 and "Status Field".
    """
    status = int(row['status'], 16) >> 1
    return NvmeError(
        int(row['number']), int(row['queue']), status >> 8 & 7, status & 0xFF
    )


def _self_tests(lines: Lines) -> tuple[SelfTest, ...]:
    """Return the self-test log of any protocol, newest first; if it has no entry, an entry for the
    last self-test if it failed.
    """
    # pySMART needs two blanks between columns, which pasted reports lose, and does not know the
    # NVMe headline of 7.4.
    tests = []
    for row in lines.scsi_tests or lines.nvme_tests or _of_first_log(lines.ata_tests):
        status = row['status'].replace('-->', '').strip()
        passed = content.self_test_passed(status)
        tests.append(SelfTest(row['kind'], status, passed, leading(row['hours'])))
    if tests:
        return tuple(tests)
    printed = value_of(lines.fields, 'self-test execution status')
    byte = re.match(r'\(\s*(\d{1,3})\)', printed)
    return content.last_self_test(int(byte[1]) if byte else None)


def _of_first_log(rows: pysmart.Rows) -> Iterator[re.Match[str]]:
    """Yield the rows of the first ATA self-test log; each log counts its rows from 1.

    If smartctl printed two logs, the first is the extended one, which has all entries of both.
    """
    previous = 0
    for row in rows:
        number = int(row['number'])
        if number <= previous:
            return
        previous = number
        yield row


def _offline(lines: Lines) -> int | None:
    """Return the byte "Offline data collection status", None if absent."""
    printed = value_of(lines.fields, 'offline data collection status')
    byte = re.match(r'\(0x([0-9a-f]{2})\)', printed)
    return int(byte[1], 16) if byte else None


def _nvme(lines: Lines, passed: bool | None) -> dict[str, int]:
    """Return the NVMe health log and the temperature thresholds, with the keys in NVME_KEYS."""
    fields = lines.fields
    values = {
        key: digits(value_of(fields, label.lower())) for label, key in NVME_LOG.items()
    }
    values['temperature'] = leading(value_of(fields, 'temperature'))
    bits = re.fullmatch('0x[0-9a-f]{1,2}', value_of(fields, 'critical warning'))
    if bits:
        values['critical_warning'] = int(bits[0], 16)
    elif passed is not None:
        # Without the log (only -H was given), the text below the health status still shows the
        # bits.
        values['critical_warning'] = 0 if passed else _warning_bits(lines.warnings)
    for limit in ('warning', 'critical'):
        threshold = value_of(fields, f'{limit} comp. temp. threshold')
        values[f'{limit}_temp_threshold'] = leading(threshold)
    return content.present(values)


def _warning_bits(lines: Iterable[str]) -> int | None:
    """Return the bits of the critical warning that smartctl printed as text, or None if it
    printed no known line. Source: NVMe 1.4, figure 194.
    """
    bits = 0
    for line in lines:
        unknown = re.match(r'- unknown critical warning\(s\) \(0x([0-9a-f]{2})\)', line)
        if unknown:
            bits |= int(unknown[1], 16)
        for words, bit in TEXT['nvme_warnings']:
            if line.startswith(f'- {words}'):
                bits |= bit
    return bits or None


def _scsi(lines: Lines) -> dict[str, float]:
    """Return the values of the SCSI log pages, with the keys in content.SCSI_NUMBERS and
    content.ERROR_COUNTERS.
    """
    fields = lines.fields
    values: dict[str, float | None] = {}
    for key, labels in TEXT['scsi_labels'].items():
        values[key] = content.first_number(
            leading(value_of(fields, label)) for label in labels
        )
    full_hours = re.match(r'(?:minutes\s+)?(\d{1,9})', value_of(lines.last, POWER_ON))
    # The highest possible power-on time, in minutes: only full hours are printed, so 59 minutes are
    # added.
    highest_age = float('inf')
    if full_hours:
        hours = int(full_hours[1])
        values['power_on_hours'] = hours
        highest_age = 60 * hours + 59
    if 'background scan results log' in fields or lines.background:
        values.update(_background(lines, highest_age))
    # The rows are read here. pySMART would keep only three of the seven columns, and replace a
    # total of 0 by a sum of other columns.
    for command in ('read', 'write', 'verify'):
        row = pysmart.COUNTERS_ROW.fullmatch(value_of(fields, command))
        if not row:
            continue
        for counter, number in zip(content.ERROR_COUNTERS, row.groups()):
            is_fraction = counter == 'gigabytes_processed'
            values[f'{command}.{counter}'] = (
                float(number.replace(',', '.')) if is_fraction else int(number)
            )
    return content.present(values)


def _background(lines: Lines, age: float) -> dict[str, float | None]:
    """Return the status and the counts of the background scan.

    age: see background_scan.counts().
    """
    results = [
        Result(
            int(row['block'], 16),
            60 * int(row['hours']) + int(row['minutes']),
            TEXT['reassign_statuses'].get(row['words']),
        )
        for row in lines.background
    ]
    words = value_of(lines.fields, 'status')
    status = TEXT['background_statuses'].get(words)
    unknown = re.match(r'unknown \[(0x[0-9a-f]{1,2})\]', words)
    if unknown:
        status = int(unknown[1], 16)
    return {'background_status': status, **background_scan.counts(results, age)}


# --- defects: damaged table rows and a missing end ------------------------------------------------

_LINE = 60  # maximum number of characters shown of a damaged line

# The beginning of the last log in a full report, by protocol; for ATA drives, -x prints more than
# -a.
_LONG_ATA = re.compile(
    r'^[ \t]*(?:General Purpose Log Directory|SMART Extended Comprehensive Error Log)',
    re.MULTILINE,
)
# Two lines of an entry in the ATA error log: the first one, "Error 30 [5] occurred at disk
# power-on lifetime: ...", and one below it, "When the command that caused the error occurred, ...".
_HEADS = re.compile(r'^Error \d+ .*occurred at', re.MULTILINE)
_CAUSES = re.compile(r'^When the command that caused', re.MULTILINE)
# a row of a table, or a line with a value
_DATA = re.compile(r'[#\d]\S*\s+\S|[A-Za-z][\w /().-]{1,60}:\s+\S')
_LAST = {
    'long ATA': ('the SATA Phy event counters', '^SATA Phy Event Counters'),
    'ATA': (
        'the selective self-test log',
        r'^SATA Phy Event Counters|Selective Self-?tests?\b',
    ),
    'NVMe': ('the error log', r'Error Information (?:\(|Log)'),
    'SCSI': (
        'the self-test log',
        'Self-test duration|no self-?tests have been logged|not support Self.?Test',
    ),
}
_TEST_NUMBER = re.compile(r'^[ \t]*#[ \t]{0,3}(\d{1,3}) ', re.MULTILINE)


def _lacks_self_test(text: str) -> bool:
    """Return whether a number is missing in a self-test log: each log counts from 1."""
    previous = 0
    for number in map(int, _TEST_NUMBER.findall(text)):
        if number not in (1, previous + 1):
            return True
        previous = number
    return False


def of_text(
    text: str,
    lines: Lines,
    report: Report,
    arguments: Set[str],
    unread_rows: Sequence[str],
) -> tuple[Coded, ...]:
    """Return up to two sentences: on rows and parts of tables that cannot be read, and on requested
    data that is missing; () if the report is whole.

    arguments: of smartctl, as returned by likely_arguments().
    """
    # From these, missing() knows why a part is absent: labels, lines without a value, and marks
    # such as NO_ERROR_LOG.
    evidence = {*lines.fields, *_marks(text, lines.fields), IS_TEXT}
    has_message = report.messages or report.smart_status_text
    if ALL & arguments and not has_message:
        evidence.add(IS_ALL)
    # The text shows that it had the cut parts.
    missing_parts, cut_parts = missing(report, arguments, evidence)
    if _lacks_self_test(text):
        missing_parts.append('some of the self-test log')
    end = _missing_end(text, report.identity.protocol, arguments)
    if end:
        missing_parts.append(f'its end: {end}')
    quoted_rows = [f'"{clean(row, _LINE)}"' for row in unread_rows]
    unread_parts = [*quoted_rows, *_lost_rows(text, lines, report), *cut_parts]
    return sentences(unread=unread_parts, damaged=(), lost=missing_parts)


def _lost_rows(text: str, lines: Lines, report: Report) -> Iterator[str]:
    """Yield a noun for each thing of which only traces are left: "the registers of an error"."""
    # smartctl prints both lines for each error
    if len(_CAUSES.findall(text)) > len(_HEADS.findall(text)):
        yield 'the first line of an error'
    # A first line is a match of ERROR. The other rows of lines.errors are matches of REGISTERS.
    heads = {int(row['number']) for row in lines.errors if row.re is pysmart.ERROR}
    # report.errors has only those errors whose registers are known, too.
    if heads - {entry.number for entry in report.errors}:
        yield 'the registers of an error'
    if joined_rows.is_shifted([row.id for row in report.attributes]):
        yield 'attributes that are not in the order of their numbers'


def likely_arguments(text: str, fields: Fields, protocol: str) -> set[str]:
    """Return the arguments of smartctl that the lines of a text imply; -A is always included."""
    # lines that smartctl prints only if all data is requested; any of them may be lost
    if fields.keys().isdisjoint(TEXT['of_all'].get(protocol, ())):
        return {'-A'}
    if protocol == 'ATA' and _LONG_ATA.search(text):
        return LIKELY | {'-x'}
    return LIKELY


def _marks(text: str, fields: Fields) -> Iterator[str]:
    """Yield a constant such as NO_ERROR_LOG for each log that, according to the report, the
    drive does not support.
    """
    capability = value_of(fields, 'error logging capability')
    has_refusal = any(
        label.endswith('not supported') and 'error log' in label for label in fields
    )
    if has_refusal or 'NOT supported' in capability:
        yield NO_ERROR_LOG
    if 'Log Directory Version' in text and 'Device Statistics log' not in text:
        yield NO_STATISTICS


def _missing_end(text: str, protocol: str, arguments: Collection[str]) -> str:
    """Return what is missing at the end of a text: the last log, if all logs were requested, or else
    the empty line that smartctl prints behind the data; '' if nothing is missing.

    arguments: as returned by likely_arguments(): -a if all logs were requested, and -x as well if
    these are the longer ones of an ATA drive.
    """
    if '-a' in arguments:
        name, pattern = _LAST['long ATA' if '-x' in arguments else protocol]
        has_log = re.search(pattern, text, re.MULTILINE | re.IGNORECASE)
        return '' if has_log else name
    last_line = text.rstrip().rpartition('\n')[2]
    is_cut = _DATA.match(last_line) and not text.endswith('\n\n')
    return 'the empty line after the data' if is_cut else ''
