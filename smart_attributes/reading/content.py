"""Decode smartctl's output, read single values of its JSON, and decide whether a report is enough
to judge a drive.

A value counts as absent if it does not have the type that smartctl documents, because a report may
come from a ticket, an anonymiser or a program that imitates smartctl.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from ..constants import HIGHEST_COUNTER, LARGEST_FILE, LONGEST_SEARCHED_LINE
from ..errors import Coded, DriveError, NotAReport
from ..model import AttributeRow, ErrorEntry, Report, SelfTest, Statistic
from ..typed import TYPE_CHECKING, Json, T

if TYPE_CHECKING:
    from typing import Any

_DERIVED = 'This result is based on an Attribute check'
SAFE = range(1 - 2**53, 2**53)  # a JSON number outside this range may have been rounded
BYTES = range(256)
# offsets of device statistics in their page. Source: ACS-4, 9.5
OFFSETS = range(8, 512, 8)

# Patterns for the identifiers of a single drive, in JSON and text -> their replacement.
_NAMES = (
    (r'("(?:serial_number|logical_unit_id)"\s*:\s*")(?:[^"\\]|\\.)*', r'\1'),
    (r'("(?:wwn|eui64)"\s*:\s*)\{[^{}]*\}', r'\1{}'),
    (
        r'^((?:Serial [Nn]umber|LU WWN Device Id|Logical Unit id|Namespace \d+ IEEE EUI-64):).*',
        r'\1',
    ),
)


def as_text(data: bytes) -> str:
    """Return the text of a recorded file in any common encoding.

    PowerShell redirects output as UTF-16. A thousands separator may be a Latin-1 blank (A0) or a
    Windows apostrophe (92). Raises DriveError for a file that is too large to be a report.
    """
    if len(data) > LARGEST_FILE:
        raise NotAReport(
            f'is not a smartctl report: it is larger than {LARGEST_FILE >> 20} MiB'
        )
    if data[:2] in (b'\xff\xfe', b'\xfe\xff'):
        return data.decode('utf-16', 'replace')
    try:
        # the utf-8-sig codec would be another import
        return data.decode('utf-8').removeprefix('\ufeff')
    except UnicodeDecodeError:
        return data.decode('cp1252', 'replace')


def nameless(text: str) -> str:
    """Return smartctl's output, JSON or text, without serial numbers and world wide names."""
    for name, rest in _NAMES:
        text = re.sub(name, rest, text, flags=re.MULTILINE)
    return text


def json_start(text: str) -> int:
    """Return the index at which the JSON starts, or -1 if the text contains no JSON.

    smartctl 7.0 to 7.2 prints "Pending defect count:" before its JSON, and a login shell may print
    text as well.
    """
    if text[:1] == '{':
        return 0
    if '{' not in text:
        # Such a text is usually the rest behind a report, so no pattern is compiled for it.
        return -1
    # A "{" begins JSON if only blanks are before it in its line, and if a key, "}" or the end of
    # the line follows it: "{", '{"smartctl":', "{}".
    match = re.search(r'^[ \t\ufeff]*\{(?=\s*(?:["}]|$))', text, re.MULTILINE)
    return match.end() - 1 if match else -1


def loaded(text: str, start: int) -> Any:
    """Return the JSON document that starts at *start*.

    Raises DriveError if it is damaged or not the only one.
    """
    try:
        data, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        # json also raises ValueError for a number with more than 4300 digits (Python 3.11).
        line = text.count('\n', 0, getattr(error, 'pos', 0)) + 1
        raise DriveError(
            f'has a damaged report: its JSON is cut off or modified at line {line}',
            'report-damaged',
            step='record the report again: smartctl --json -x DEVICE > FILE',
        ) from None
    if json_start(text[end:]) >= 0:
        raise DriveError(
            'contains several reports',
            'several-reports',
            step='save each one in its own file',
        )
    return data


def document_of(stdout: bytes) -> Json:
    """Return the JSON document that smartctl printed. Raises DriveError for other output."""
    text = as_text(stdout)
    start = json_start(text)
    data = loaded(text, start) if start >= 0 else None
    if not isinstance(data, dict) or 'smartctl' not in data:
        raise DriveError('smartctl printed no report', 'smartctl-failed')
    return data


def messages_in(data: Json) -> list[tuple[str, str]]:
    """Return the severity and the text of each message of smartctl in its JSON."""
    return [
        (text_of(message, 'severity'), text_of(message, 'string'))
        for message in objects_of(data, 'smartctl', 'messages')
        if text_of(message, 'string')
    ]


# --- values of JSON -------------------------------------------------------------------------------


def object_of(data: Json, *path: str) -> Json:
    """Return the object at a path of keys, or an empty object if absent."""
    for key in path:
        value = data.get(key)
        data = value if isinstance(value, dict) else {}
    return data


def list_of(data: Json, *path: str) -> list[Any]:
    """Return the list at a path of keys, or an empty list if absent."""
    value = object_of(data, *path[:-1]).get(path[-1])
    return value if isinstance(value, list) else []


def objects_of(data: Json, *path: str) -> list[Json]:
    """Return all objects in the list at a path of keys, without its other items."""
    return [entry for entry in list_of(data, *path) if isinstance(entry, dict)]


def words_of(data: Json, key: str) -> list[str] | None:
    """Return the list of strings under a key, or None if the list is absent or has other items."""
    value = data.get(key)
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return value
    return None


def text_of(data: Json, *path: str) -> str:
    """Return the string at a path of keys, without blanks at its ends; '' if absent."""
    value = object_of(data, *path[:-1]).get(path[-1])
    return value.strip() if isinstance(value, str) else ''


def integer_of(data: Json, key: str) -> int | None:
    """Return the integer under a key, or None if the key is absent, or has a fraction or another
    type.

    If a JSON number might be rounded, smartctl also writes it as a string, under a key that ends
    with "_s". Then the string is returned as an integer. Without the string, the number is returned,
    even if it might be rounded (5.0 as 5), or None from HIGHEST_COUNTER on.
    """
    value: Any = data.get(key)
    if type(value) is int and value in SAFE:
        return value
    exact = data.get(f'{key}_s')
    if isinstance(exact, str) and re.fullmatch('[0-9]{1,39}', exact):
        return int(exact)
    # NaN and infinity are not whole.
    is_whole_float = type(value) is float and value.is_integer()
    if (type(value) is int or is_whole_float) and abs(value) < HIGHEST_COUNTER:
        return int(value)
    return None


def integer_at(data: Json, path: str) -> int | None:
    """Return the integer at a path of keys such as "temperature.current", or None if absent."""
    *parents, key = path.split('.')
    return integer_of(object_of(data, *parents), key)


def byte_of(data: Json, key: str) -> int | None:
    """Return the integer from 0 to 255 under a key, or None if it is absent."""
    value = integer_of(data, key)
    return value if value in BYTES else None


def offset_of(data: Json, key: str) -> int | None:
    """Return the offset of a device statistic in its page, or None if absent."""
    value = integer_of(data, key)
    return value if value in OFFSETS else None


def word_of(data: Json, key: str) -> int | None:
    """Return the integer of at most 64 bits, such as the raw bytes of an attribute, or None if
    absent.
    """
    value = integer_of(data, key)
    return value if value is not None and 0 <= value < 2**64 else None


def fraction_of(data: Json, key: str) -> float | None:
    """Return the number that smartctl writes as a string: "71532.573", or "71532,573" in some
    locales; None if it is absent or negative.
    """
    value: Any = data.get(key)
    if isinstance(value, str):
        match = re.fullmatch(r'\s*(\d{1,30}(?:[.,]\d{1,9})?)\s*', value)
        return float(match[1].replace(',', '.')) if match else None
    is_number = type(value) in (int, float) and 0 <= value < HIGHEST_COUNTER
    return float(value) if is_number else None


def present(values: Mapping[str, T | None]) -> dict[str, T]:
    """Return the values that a report has."""
    return {key: value for key, value in values.items() if value is not None}


def first_number(numbers: Iterable[int | None]) -> int | None:
    """Return the first number that is not 0, or else 0; None if a report has none of them.

    An empty log page has only zeros, but another page may have the number.
    """
    first = None
    for number in numbers:
        if number:
            return number
        if number == 0:
            first = 0
    return first


# --- reports --------------------------------------------------------------------------------------

FARM_LOG = 'seagate_farm_log'

ERROR_COUNTERS = {
    'errors_corrected_by_eccfast': integer_of,
    'errors_corrected_by_eccdelayed': integer_of,
    'errors_corrected_by_rereads_rewrites': integer_of,
    'total_errors_corrected': integer_of,
    'correction_algorithm_invocations': integer_of,
    'gigabytes_processed': fraction_of,
    'total_uncorrected_errors': integer_of,
}
"""The columns of the SCSI error counter log, in the order in which smartctl prints them, with the functions that read
them. A gigabyte is 10^9 bytes."""

NVME_KEYS = (
    'critical_warning',
    'temperature',
    'available_spare',
    'available_spare_threshold',
    'percentage_used',
    'data_units_read',
    'data_units_written',
    'host_reads',
    'host_writes',
    'controller_busy_time',
    'power_cycles',
    'power_on_hours',
    'unsafe_shutdowns',
    'media_errors',
    'num_err_log_entries',
    'warning_temp_time',
    'critical_comp_time',
    'warning_temp_threshold',
    'critical_temp_threshold',
)
"""The keys of Report.nvme: those of the health log in smartctl's JSON, then the thresholds of the composite temperature
(Identify Controller). Temperatures are in degrees Celsius; a data unit is 512,000 bytes."""


_CYCLES = 'scsi_start_stop_cycle_counter.'
# Key of Report.scsi -> its places in the JSON, which depend on the version of smartctl.
# text_labels.json has the labels in the text. Temperatures are in degrees Celsius, defects in
# blocks; percentage_used may exceed 100.
# Source: SPC-5 and SBC-4.
SCSI_NUMBERS = {
    'temperature': (
        'temperature.current',
        'scsi_environmental_reports.temperature_1.current',
    ),
    'drive_trip': ('temperature.drive_trip', 'scsi_temperature.drive_trip'),
    'grown_defects': ('scsi_grown_defect_list',),
    'pending_defects': ('scsi_pending_defects.count',),
    'percentage_used': (
        'scsi_percentage_used_endurance_indicator',
        'endurance_used.current_percent',
    ),
    'start_stop_cycles': (f'{_CYCLES}accumulated_start_stop_cycles',),
    'start_stop_cycles_rated': (
        f'{_CYCLES}specified_cycle_count_over_device_lifetime',
    ),
    'load_unload_cycles': (f'{_CYCLES}accumulated_load_unload_cycles',),
    'load_unload_cycles_rated': (
        f'{_CYCLES}specified_load_unload_count_over_device_lifetime',
    ),
    'power_on_hours': ('power_on_time.hours',),
    'background_status': ('scsi_background_scan.status.value',),
}

# The states of a failed self-test, in the upper half of the status byte. Source: ACS-4, 9.6
# "Self-test log".
_FAILED_SELF_TESTS = {
    3: 'Fatal or unknown error',
    4: 'Completed: unknown failure',
    5: 'Completed: electrical failure',
    6: 'Completed: servo/seek failure',
    7: 'Completed: read failure',
    8: 'Completed: handling damage??',
}
# The bits of the ATA error register after a read or write. Source: ACS-4, 6.3; names and order as
# smartctl prints them.
_ERROR_BITS = ((0x80, 'ICRC'), (0x40, 'UNC'), (0x10, 'IDNF'), (0x04, 'ABRT'))
# Warnings and errors of smartctl in a report that can still be judged.
_COMPLAINT = (
    r'Warning[:!]|==> WARNING:|\[GLTSD |Read .* failed|SMART Status (?:not supported|command '
    r'failed)'
    r'|.*(?:Log Sense|Failed) .*\[|Error .*checksum|An optional SMART command failed'
)
# Values allowed in an otherwise empty health log: the drive's limits, no warning, and a temperature
# added by bridges.
_NO_COUNTS = (
    'critical_warning',
    'temperature',
    'warning_temp_threshold',
    'critical_temp_threshold',
)
# The statuses of an offline data collection that the drive aborted with a fatal error, without and
# with automatic start (bit 7). Source: ATA8-ACS, SMART READ DATA.
_ABORTED_OFFLINE = (0x06, 0x86)
# bits of smartctl's exit status: a command failed, the health status was FAILED
COMMAND_FAILED = 4
FAILED = 8
_TEMPERATURES = {'temperature', 'drive_trip'}
_THRESHOLDS = {'warning_temp_threshold', 'critical_temp_threshold'}


def known_problem(
    report: Report, kind: str, transport: str, is_disabled: bool, is_table_asked: bool
) -> DriveError | None:
    """Return why a drive cannot be judged; None if it can be judged, or if the report has no SMART
    data and only smartctl's messages give the reason.

    kind, transport: of a SCSI device, as smartctl names them. is_disabled: whether SMART is
    disabled. is_table_asked: whether smartctl was asked for attributes.
    """
    exclusion = _exclusion(report, kind, transport)
    if exclusion:
        return exclusion
    if is_disabled and report.smart_status is not False:
        from .failure_reasons import smart_disabled

        return smart_disabled()
    if not has_smart_data(report):
        return None  # the caller has smartctl's messages
    # data can be meaningless: all its numbers are 0
    problem = emptiness(report, is_table_asked)
    if not problem:
        return None
    from .failure_reasons import virtual_disk

    return virtual_disk(report.identity.model) or problem


def _exclusion(report: Report, kind: str, transport: str) -> DriveError | None:
    """Return why a device is not a drive; None if it may be a drive."""
    if report.identity.protocol == 'SCSI':
        return _scsi_exclusion(report, kind, transport)
    if has_smart_data(report):
        return None
    from .failure_reasons import virtual_disk

    return virtual_disk(report.identity.model)


def _scsi_exclusion(report: Report, kind: str, transport: str) -> DriveError | None:
    """Return why a SCSI device is not a drive; None if it may be a drive.

    The first of these cases counts:
    - It reports FAILED, a FARM log, or a value other than a temperature and grown defects: it is a
      drive, because no RAID volume reports these.
    - It is a RAID volume of Areca, by its model: the error says so.
    - It reports grown defects: it is a drive, because only Areca's volumes report them as well.
    - It reports at most OK and temperatures, as a RAID volume may: virtual_disk() and not_a_drive()
      decide. The OK of a volume does not cover the drives behind it.
    """
    values_of_drive = set(report.scsi) - _TEMPERATURES - {'grown_defects'}
    if report.smart_status is False or report.farm or values_of_drive:
        return None
    from .failure_reasons import areca_volume, not_a_drive, virtual_disk

    model = report.identity.model
    areca_error = areca_volume(model)
    if areca_error:
        return areca_error
    if 'grown_defects' in report.scsi:
        return None
    return virtual_disk(model) or not_a_drive(
        model, kind, transport, report.identity.wwn
    )


def emptiness(report: Report, is_table_asked: bool) -> DriveError | None:
    """Return an error if the SMART data is meaningless, otherwise None.

    is_table_asked: whether attributes were requested; a recording may contain only the health
    status.

    A bridge or a failing drive may return blocks of zeros with a correct checksum, and also report
    "passed".
    """
    results = [report.smart_status, *(test.passed for test in report.self_tests)]
    if False in results:  # a failure is judged, whatever else is missing
        return None
    counts = [number for key, number in report.nvme.items() if key not in _NO_COUNTS]
    # A few counts may be what is left of the fourteen counts in a truncated report.
    if len(counts) > 4 and not any(counts):
        return DriveError(
            'returns a health log with only zeros, as some bridges, RAID volumes and firmware do',
            'smart-data-empty',
            step='check the drives behind it, or exclude this device with --ignore',
        )
    if not is_table_asked or report.identity.protocol != 'ATA':
        return None
    if any(entry.number for entry in report.statistics.values()):
        return None
    # strip() leaves nothing of a raw value of zero, which is printed as "0" or "0x000000000000".
    if any(row.value or row.raw.strip('0x') for row in report.attributes):
        return None
    # healthy drives need none of these sentences
    from .failure_reasons import without_attributes

    return without_attributes()


def has_smart_data(report: Report) -> bool:
    """Return whether a report contains anything about the health of the drive.

    A temperature alone is not enough: RAID volumes and optical drives report 0 degrees.
    """
    return bool(
        report.smart_status is not None
        or report.attributes
        or report.statistics
        or report.self_tests
        or report.error_count is not None
        or set(report.scsi) - _TEMPERATURES
        or set(report.nvme) - _THRESHOLDS
        or report.farm
    )


def is_complaint(line: str) -> bool:
    """Return whether a line of a report is a warning or error message of smartctl, such as on a
    wrong checksum.
    """
    return re.match(_COMPLAINT, line[:LONGEST_SEARCHED_LINE]) is not None


def has_spindle(attributes: Iterable[AttributeRow]) -> bool:
    """Return whether a drive has counters that exist only on drives with a spindle."""
    # Start_Stop_Count and Spin_Retry_Count: 98 % of 18,433 hard disks report both; none of 14,403
    # solid state drives does (linuxhw/EnterpriseDrive).
    return {4, 10}.issubset(row.id for row in attributes)


def is_derived(messages: Iterable[str]) -> bool:
    """Return whether smartctl derived the health status from the attributes."""
    return any(_DERIVED in message for message in messages)


def messages_of(complaints: Iterable[str], offline: int | None) -> tuple[str, ...]:
    """Return smartctl's messages without the one about a derived health status, and a message if
    the offline data collection ended with a fatal error.

    offline: the byte "Offline data collection status" of the SMART data, None if not reported.
    """
    messages = [message for message in complaints if _DERIVED not in message]
    if offline in _ABORTED_OFFLINE:
        messages.append(
            'the drive aborted its offline data collection with a fatal error'
        )
    return tuple(messages)


Statistics = dict[tuple[int, int], Statistic]  # by page and offset


def with_pending(statistics: Statistics, count: int | None) -> Statistics:
    """Return the statistics; if they lack a Pending Error Count, add the number of entries in the
    Pending Defects log.

    Source: ACS-4, 9.5.4, which defines the count as the number of these entries.
    """
    if count is not None and count >= 0:
        # The count is on page 1, at offset 0x040.
        statistics.setdefault((1, 0x040), Statistic(count, 'Pending Error Count'))
    return statistics


def wwn_of(printed: str) -> str:
    """Return a world wide name as hexadecimal digits, or '' if it is masked or invalid."""
    digits = printed.lower().removeprefix('0x')
    return digits if re.fullmatch('[0-9a-f]{8,32}', digits) else ''


def error_entry(
    number: int, hours: int, words: str, register: int | None
) -> ErrorEntry:
    """Return an entry of the ATA error log.

    words: "Error: UNC 8 sectors at LBA = 0x0071bde0", or '' if smartctl does not know the failed
    command.
    register: the error register, which is used if *words* has no names of errors.
    """
    named = re.match(r'(?:Device Fault; )?Error: ([A-Z]+(?:, [A-Z]+)*)\b', words)
    if named:
        return ErrorEntry(number, tuple(named[1].split(', ')), hours)
    names = [name for bit, name in _ERROR_BITS if (register or 0) & bit]
    return ErrorEntry(number, tuple(names), hours)


def newest_first(entries: Iterable[ErrorEntry]) -> tuple[ErrorEntry, ...]:
    """Return the entries of both error logs, each once, newest first."""
    by_number = {entry.number: entry for entry in entries}
    return tuple(by_number[number] for number in sorted(by_number, reverse=True))


def self_test_passed(status: str) -> bool | None:
    """Return the result from the printed status of a self-test: True passed, False failed, None
    unknown.

    smartctl prints the same text for ATA, SCSI and NVMe. In JSON, too, the text is used, because
    the key "passed" is true for a test that is still running.
    """
    words = status.lower()
    if words.startswith('aborted'):
        return None
    has_failed = 'fail' in words or 'damage' in words
    if has_failed or words.startswith(('fatal', 'unknown error')):
        return False
    return True if words.startswith('completed') else None


def last_self_test(status: int | None) -> tuple[SelfTest, ...]:
    """Return an entry for the last self-test if it failed, otherwise (); this replaces a self-test
    log that was not read or is empty.

    status: the byte "Self-test execution status" of the SMART data, None if not reported. 0 means
    that the last test passed or that no test was run.
    """
    words = _FAILED_SELF_TESTS.get(status >> 4) if status else None
    if not words:
        return ()
    return (SelfTest('Last self-test', words, False, None),)


# The meanings of the bits of smartctl's exit status, bit 0 first. Source: smartctl(8), section EXIT
# STATUS.
EXIT_STATUS_BITS = (
    'smartctl rejected its command line',
    'the drive could not be opened, did not identify itself or is in standby',
    'a command to the drive failed or a checksum was wrong',
    'the drive reports that it is failing',
    'a pre-fail attribute is at or below its threshold',
    'an attribute is or was at or below its threshold',
    'the error log contains errors',
    'the self-test log contains failed tests',
)


def exit_status_notes(status: int | None) -> tuple[Coded, ...]:
    """Return one sentence for each bit that is set in smartctl's exit status.

    They are only notes: behind some RAID controllers, smartctl always sets bit 2 (0x04), even if the
    data is complete.
    """
    if not status:  # None: unknown
        return ()
    return tuple(
        Coded('smartctl-status', sentence)
        for bit, sentence in enumerate(EXIT_STATUS_BITS)
        if status & (1 << bit)
    )
