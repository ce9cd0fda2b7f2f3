"""smartctl's JSON, of any version since 7.0, as a Report.

Whatever is not of the type that smartctl documents is taken as absent: a report
may come from a ticket, an anonymiser or a program that speaks like smartctl.
"""

import json
import re
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from ..errors import DriveError, NotAReport
from ..model import AttributeRow, Identity, Report, SelfTest, Statistic
from .diagnosis import (
    Remains,
    asks_for_attributes,
    diagnose,
    is_complaint,
    nothing_told,
    silence,
    smart_disabled,
    smart_unsupported,
    without_data,
)
from .no_drives import not_a_drive, virtual_disk

Json = Dict[str, Any]

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

_SAFE_INTEGER = 2 ** 53   # above this a JSON number may have been rounded on its way
_LARGEST = 2 ** 128       # the widest counter there is (NVMe)
LARGEST_FILE = 4 << 20  # bytes; the longest report known has 0.1 MB, and an alarm cannot end json.loads()
_SMARTCTL_KEYS = ('smartctl', 'json_format_version', 'smart_status', 'smart_support', 'ata_smart_attributes',
                  'nvme_smart_health_information_log', 'scsi_error_counter_log', 'ata_device_statistics')
# Start_Stop_Count and Spin_Retry_Count: both in the tables of 98 % of 18,433 hard disks, of no solid state
# drive of 14,403 (linuxhw/EnterpriseDrive).
_SPINDLE = frozenset((4, 10))
_PENDING_ERRORS = (1, 0x040)  # device statistics: Pending Error Count
_UNLESS_DATA = frozenset(('temperature', 'drive_trip'))


def parse(report: Union[str, bytes], exit_status: Optional[int] = None, error_text: str = '') -> Report:
    """Return what smartctl said in its JSON.

    exit_status: of the process, where it is known; a report holds its own.
    error_text: what came on standard error: the words of sudo.
    Raises DriveError (or DriveAsleep, DriveAbsent, DriveIsNoDrive) when this gives no verdict.
    """
    text = as_text(report) if isinstance(report, bytes) else report
    start = _json_start(text)
    if start < 0:
        raise no_report(f'{text}\n{error_text}', exit_status)
    data = _loaded(text, start)
    if not is_smartctl(data):
        raise NotAReport('is JSON, but not that of smartctl; record with smartctl --json -x')
    return from_json(data, exit_status, f'{text[:start]}\n{error_text}')


def as_text(data: bytes) -> str:
    """Return the characters of a recorded file, whatever wrote it.

    PowerShell redirects as UTF-16; a thousands separator may be a Latin-1 blank (A0)
    or a Windows apostrophe (92). Never fails.
    Raises DriveError for a file that is too large to be a report.
    """
    if len(data) > LARGEST_FILE:
        raise NotAReport(f'is not a smartctl report: it is larger than {LARGEST_FILE >> 20} MiB')
    if data[:2] in (b'\xff\xfe', b'\xfe\xff'):
        return data.decode('utf-16', 'replace')
    if b'\0' in data[:64]:
        return data.decode('utf-16-le' if data[1:2] == b'\0' else 'utf-16-be', 'replace')
    try:
        return data.decode('utf-8-sig')
    except UnicodeDecodeError:
        return data.decode('cp1252', 'replace')


def looks_like_json(text: str) -> bool:
    """Return whether a JSON object starts somewhere on a line of its own."""
    return _json_start(text) >= 0


def _json_start(text: str) -> int:
    """Return where the JSON starts, -1 where there is none.

    smartctl 7.0 to 7.2 prints "Pending defect count:" before its JSON, a login
    shell may have said something too.
    """
    if text[:1] == '{':
        return 0
    if '{' not in text:
        return -1  # what stands behind a report: nothing, and no reason to compile a pattern for it
    match = re.search(r'^[ \t\ufeff]*\{(?=\s*["}]|\s*$)', text, re.MULTILINE)
    return match.end() - 1 if match else -1


def _loaded(text: str, start: int) -> Any:
    """Return the one JSON document that starts at *start*."""
    try:
        data, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        # ValueError also for a number of more than 4300 digits (Python 3.11).
        raise DriveError('is damaged JSON: cut off in the middle, or changed; record it again with smartctl --json -x'
                         ) from None
    if looks_like_json(text[end:]):
        raise DriveError('holds several reports; write each to a file of its own')
    return data


def no_report(text: str, exit_status: Optional[int] = None) -> DriveError:
    """Return why *text* is no report: smartctl's words, sudo's, nothing, or something else."""
    said = diagnose((), exit_status, text)
    if said or not text.strip():
        return said or silence(exit_status)
    if exit_status:
        return DriveError(f'cannot be read: smartctl printed no report and ended with exit status {exit_status}; '
                          'try it by hand')
    return NotAReport('is not a smartctl report; record with smartctl -x, best with --json')


def is_smartctl(data: Any) -> bool:
    """Return whether this JSON document is one of smartctl's."""
    return isinstance(data, dict) and (
        any(key in data for key in _SMARTCTL_KEYS) or 'protocol' in _object(data, 'device'))


def from_json(data: Json, exit_status: Optional[int] = None, other_text: str = '') -> Report:
    """Return the Report of one parsed JSON document.

    other_text: what was printed beside the JSON.
    Raises DriveError (or a kind of it) when the document gives no verdict.
    """
    smartctl = _object(data, 'smartctl')
    status = _integer(smartctl, 'exit_status')
    passed, words = _smart_status(_object(data, 'smart_status'))
    attributes = _attributes(_objects(_object(data, 'ata_smart_attributes'), 'table'))
    identity = _identity(data)._replace(spins=has_spindle(attributes))
    report = Report(
        identity=identity,
        smart_status=passed,
        smart_status_text=words,
        attributes=attributes,
        statistics=with_pending(_statistics(_objects(_object(data, 'ata_device_statistics'), 'pages')),
                                _integer(_object(data, 'ata_pending_defects_log'), 'count')),
        nvme=_nvme(data),
        scsi=_scsi(data, other_text) if identity.protocol == 'SCSI' else {},
        self_tests=_self_tests(data),
        error_count=_error_count(_object(data, 'ata_smart_error_log')),
        exit_status=exit_status if status is None else status,
        messages=_complaints(smartctl),
        version=tuple(part for part in _list(smartctl, 'version') if type(part) is int),
    )
    problem = _problem(data, report, other_text)
    if problem:
        raise problem.of(identity)
    return report


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


def with_pending(statistics: Dict[Tuple[int, int], Statistic], count: Optional[int]) -> Dict[Tuple[int, int], Statistic]:
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


def _problem(data: Json, report: Report, other_text: str) -> Optional[DriveError]:
    """Return why this document gives no verdict, None when it does."""
    excluded = exclusion(report, _text(_object(data, 'device_type'), 'name'),
                         _text(_object(data, 'scsi_transport_protocol'), 'name'))
    if excluded:
        return excluded
    support = _object(data, 'smart_support')
    if support.get('available') is True and support.get('enabled') is False and report.smart_status is not False:
        return smart_disabled()
    smartctl = _object(data, 'smartctl')
    if has_smart_data(report):
        return emptiness(report, asks_for_attributes(_arguments(smartctl)))
    printed = [line for line in _list(smartctl, 'output') if isinstance(line, str)]
    said = diagnose([text for _, text in _messages(smartctl)], report.exit_status, '\n'.join([*printed, other_text]))
    if said is None and support.get('available') is False:
        return smart_unsupported()
    return said or without_data(Remains(
        report.exit_status or 0, bool(report.identity.model), _text(_object(data, 'device'), 'type'),
        _arguments(smartctl),
        report.messages[0] if report.messages else ''))


def _arguments(smartctl: Json) -> List[str]:
    """Return the words of smartctl's command line behind its name, [] where the report lacks it."""
    return [argument for argument in _list(smartctl, 'argv')[1:] if isinstance(argument, str)]


# Reading one value: absent, unless it is what it should be

def _object(data: Mapping[str, Any], key: str) -> Json:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _list(data: Mapping[str, Any], key: str) -> List[Any]:
    value = data.get(key)
    return value if isinstance(value, list) else []


def _objects(data: Mapping[str, Any], key: str) -> List[Json]:
    return [entry for entry in _list(data, key) if isinstance(entry, dict)]


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value.strip() if isinstance(value, str) else ''


def _integer(data: Mapping[str, Any], key: str) -> Optional[int]:
    """Return a whole number, exactly.

    Where smartctl doubts that a number survives as a JSON number it adds the same
    as a string, with "_s" at the end of the name.
    """
    value: Any = data.get(key)
    if type(value) is int and -_SAFE_INTEGER < value < _SAFE_INTEGER:
        return value
    exact = data.get(key + '_s')
    if isinstance(exact, str) and exact.isascii() and exact.isdigit() and len(exact) < 40:
        return int(exact)
    if type(value) in (int, float) and -_LARGEST < value < _LARGEST and value % 1 == 0:  # NaN compares with nothing
        return int(value)
    return None


def _byte(data: Mapping[str, Any], key: str) -> Optional[int]:
    value = _integer(data, key)
    return value if value is not None and 0 <= value <= 255 else None


def _fraction(data: Mapping[str, Any], key: str) -> Optional[float]:
    """Return a number that smartctl writes as a string: "71532.573", in some locales "71532,573"."""
    value: Any = data.get(key)
    if isinstance(value, str) and re.fullmatch(r'\d{1,30}(?:[.,]\d{1,9})?', value.strip()):
        return float(value.strip().replace(',', '.'))
    if type(value) in (int, float) and 0 <= value < _LARGEST:
        return float(value)
    return None


# Identity

def _identity(data: Json) -> Identity:
    protocol = _text(_object(data, 'device'), 'protocol') or _protocol(data)
    return Identity(
        protocol=protocol,
        model=_text(data, 'model_name') or _text(data, 'scsi_model_name'),
        firmware=_text(data, 'firmware_version') or _text(data, 'scsi_revision') or _text(data, 'revision'),
        serial=_text(data, 'serial_number'),
        wwn=_wwn(data),
        rotation=_rotation(data, protocol),
        capacity=_integer(_object(data, 'user_capacity'), 'bytes') or _integer(data, 'nvme_total_capacity') or None,
        family=_text(data, 'model_family'),
        sector_size=_integer(data, 'logical_block_size') or 512,
        physical_block_size=_integer(data, 'physical_block_size') or None,
    )


def _protocol(data: Json) -> str:
    """Return the protocol of a document that lacks "device": an anonymised one."""
    for prefix, protocol in (('nvme_', 'NVMe'), ('scsi_', 'SCSI'), ('ata_', 'ATA')):
        if any(key.startswith(prefix) for key in data):
            return protocol
    return ''


def _wwn(data: Json) -> str:
    """Return the world wide name as hexadecimal digits, '' without one.

    ATA: IDENTIFY words 108 to 111. SCSI: the designator of the logical unit.
    NVMe: the EUI-64 of the first namespace.
    """
    name = _object(data, 'wwn')
    naa, oui, number = (_integer(name, part) for part in ('naa', 'oui', 'id'))
    if naa is not None and oui is not None and number is not None:
        return f'{naa:x}{oui:06x}{number:09x}'
    unit = re.fullmatch(r'(?:0x)?([0-9a-fA-F]{8,32})', _text(data, 'logical_unit_id'))
    if unit:
        return unit.group(1).lower()
    for namespace in _objects(data, 'nvme_namespaces')[:1]:
        eui64 = _object(namespace, 'eui64')
        oui, number = _integer(eui64, 'oui'), _integer(eui64, 'ext_id')
        if oui is not None and number is not None:
            return f'{oui:06x}{number:010x}'
    return ''


def _rotation(data: Json, protocol: str) -> Optional[int]:
    """Return rounds per minute, 0 for a solid state drive, None when not told."""
    rate = _integer(data, 'rotation_rate')
    # SBC-4, 6.6.2: 2h to 400h and FFFFh are reserved; smartctl hands them on for SCSI.
    if rate is None or rate < 0 or (protocol == 'SCSI' and (0 < rate <= 0x400 or rate == 0xffff)):
        return None
    return rate


# Verdicts, messages

def _messages(smartctl: Json) -> List[Tuple[str, str]]:
    """Return severity and words of each message."""
    return [(_text(entry, 'severity'), _text(entry, 'string'))
            for entry in _objects(smartctl, 'messages') if _text(entry, 'string')]


def _complaints(smartctl: Json) -> Tuple[str, ...]:
    """Return the messages of any weight, and what only smartctl's text tells (--json=co): a wrong checksum is no message."""
    known = {text for _, text in _messages(smartctl)}
    printed = (line.strip() for line in _list(smartctl, 'output') if isinstance(line, str))
    return (*(text for severity, text in _messages(smartctl) if severity != 'information'),
            *(line for line in printed if is_complaint(line) and line not in known))


def _smart_status(status: Json) -> Tuple[Optional[bool], str]:
    """Return the drive's own verdict, and its words where it has any (SCSI)."""
    passed = status.get('passed')
    scsi = _object(status, 'scsi')
    words = _text(scsi, 'ie_string')
    asc, ascq = _byte(scsi, 'asc'), _byte(scsi, 'ascq')
    if words and asc is not None and ascq is not None:
        words = f'{words} [asc={asc:x}, ascq={ascq:x}]'
    return (passed if isinstance(passed, bool) else None), words


# ATA

def _attributes(table: List[Json]) -> Tuple[AttributeRow, ...]:
    return tuple(row for row in map(_attribute, table) if row is not None)


def _attribute(entry: Json) -> Optional[AttributeRow]:
    """Return one row of the attribute table, None where it has no valid number."""
    number = _byte(entry, 'id')
    if not number:
        return None
    raw = _object(entry, 'raw')
    raw_number = _integer(raw, 'value')
    prefail = _object(entry, 'flags').get('prefailure')
    failed = _text(entry, 'when_failed')
    return AttributeRow(
        id=number,
        name=_text(entry, 'name'),
        value=_byte(entry, 'value'),
        worst=_byte(entry, 'worst'),
        threshold=_byte(entry, 'thresh'),
        prefail=prefail if isinstance(prefail, bool) else None,
        when_failed=failed if failed in ('now', 'past') else '',
        raw=_text(raw, 'string') or ('' if raw_number is None else str(raw_number)),
        raw_number=raw_number,
    )


def _statistics(pages: List[Json]) -> Dict[Tuple[int, int], Statistic]:
    """Return the valid entries of the device statistics. Source: ACS-4, 9.5."""
    found = {}
    for page in pages:
        number = _byte(page, 'number')
        for entry in _objects(page, 'table') if number is not None else []:
            offset, value = _integer(entry, 'offset'), _integer(entry, 'value')
            flags = _object(entry, 'flags')
            # An invalid entry has no value; older versions print one all the same.
            if number is not None and offset is not None and value is not None and flags.get('valid') is not False:
                found[number, offset] = Statistic(value, _text(entry, 'name'), _flags(flags))
    return found


def _flags(flags: Json) -> str:
    """Return the letters that smartctl prints: N normalized, D supports DSN, C condition met."""
    return ''.join(letter for letter, key in (
        ('N', 'normalized'), ('D', 'supports_dsn'), ('C', 'monitored_condition_met')) if flags.get(key) is True)


def _error_count(log: Json) -> Optional[int]:
    """Return how many errors the drive has ever logged; both logs count the same."""
    counts = [_integer(_object(log, name), 'count') for name in ('extended', 'summary')]
    return max((count for count in counts if count is not None and count >= 0), default=None)


# Self-tests

def _self_tests(data: Json) -> Tuple[SelfTest, ...]:
    """Return the self-test log of whichever protocol, newest first."""
    log = _object(data, 'ata_smart_self_test_log')
    # The extended log holds more, and repeats what the standard log holds.
    entries = _objects(_object(log, 'extended'), 'table') or _objects(_object(log, 'standard'), 'table')
    if entries:
        return tuple(map(_ata_self_test, entries))
    if 'nvme_self_test_log' in data:
        return tuple(map(_nvme_self_test, _objects(_object(data, 'nvme_self_test_log'), 'table')))
    scsi = [_object(data, f'scsi_self_test_{number}') for number in range(20) if f'scsi_self_test_{number}' in data]
    if scsi:
        return tuple(map(_scsi_self_test, scsi))
    return last_self_test(_byte(_object(_object(_object(data, 'ata_smart_data'), 'self_test'), 'status'), 'value'))


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


def _ata_self_test(entry: Json) -> SelfTest:
    status = _text(_object(entry, 'status'), 'string')
    return SelfTest(_text(_object(entry, 'type'), 'string'), status, self_test_passed(status),
                    _integer(entry, 'lifetime_hours'))


def _nvme_self_test(entry: Json) -> SelfTest:
    status = _text(_object(entry, 'self_test_result'), 'string')
    return SelfTest(_text(_object(entry, 'self_test_code'), 'string'), status, self_test_passed(status),
                    _integer(entry, 'power_on_hours'))


def _scsi_self_test(entry: Json) -> SelfTest:
    status = _text(_object(entry, 'result'), 'string')
    return SelfTest(_text(_object(entry, 'code'), 'string'), status, self_test_passed(status),
                    _integer(_object(entry, 'power_on_time'), 'hours'))


# NVMe and SCSI

def _nvme(data: Json) -> Dict[str, int]:
    """Return the NVMe health log and the temperature thresholds, by NVME_KEYS."""
    log = _object(data, 'nvme_smart_health_information_log')
    thresholds = _object(data, 'nvme_composite_temperature_threshold')
    status = _object(_object(data, 'smart_status'), 'nvme')
    values = {key: _integer(log, key) for key in NVME_KEYS}
    if values['critical_warning'] is None:
        # Without the log (-H alone) the verdict still has the bits.
        values['critical_warning'] = _byte(status, 'value')
    values['warning_temp_threshold'] = _integer(thresholds, 'warning')
    values['critical_temp_threshold'] = _integer(thresholds, 'critical')
    return {key: value for key, value in values.items() if value is not None}


def _scsi(data: Json, other_text: str) -> Dict[str, float]:
    """Return the SCSI log pages, by SCSI_KEYS."""
    cycles = _object(data, 'scsi_start_stop_cycle_counter')
    values: Dict[str, Optional[float]] = {
        **_scsi_temperatures(data),
        'grown_defects': _integer(data, 'scsi_grown_defect_list'),
        'pending_defects': _pending_defects(data, other_text),
        'percentage_used': _scsi_percentage_used(data),
        'start_stop_cycles': _integer(cycles, 'accumulated_start_stop_cycles'),
        'start_stop_cycles_rated': _integer(cycles, 'specified_cycle_count_over_device_lifetime'),
        'load_unload_cycles': _integer(cycles, 'accumulated_load_unload_cycles'),
        'load_unload_cycles_rated': _integer(cycles, 'specified_load_unload_count_over_device_lifetime'),
        'power_on_hours': _integer(_object(data, 'power_on_time'), 'hours'),
    }
    for command in ('read', 'write', 'verify'):
        counters = _object(_object(data, 'scsi_error_counter_log'), command)
        for counter in ERROR_COUNTERS:
            values[f'{command}.{counter}'] = (
                _fraction if counter == 'gigabytes_processed' else _integer)(counters, counter)
    return {key: value for key, value in values.items() if value is not None}


def _scsi_temperatures(data: Json) -> Dict[str, Optional[float]]:
    """Return temperature and trip temperature, which moved between versions."""
    now, report = _object(data, 'temperature'), _object(data, 'scsi_environmental_reports')
    current = _integer(now, 'current')
    if current is None:
        current = _integer(_object(report, 'temperature_1'), 'current')
    trip = _integer(now, 'drive_trip')
    if trip is None:
        trip = _integer(_object(data, 'scsi_temperature'), 'drive_trip')
    return {'temperature': current, 'drive_trip': trip}


def _scsi_percentage_used(data: Json) -> Optional[int]:
    used = _integer(data, 'scsi_percentage_used_endurance_indicator')
    return _integer(_object(data, 'endurance_used'), 'current_percent') if used is None else used


def _pending_defects(data: Json, other_text: str) -> Optional[int]:
    """Return the count of pending defects, which 7.0 to 7.2 print beside their JSON."""
    count = _integer(_object(data, 'scsi_pending_defects'), 'count')
    printed = re.search(r'Pending defect count: ?(\d{1,10})', other_text) if count is None else None
    return int(printed.group(1)) if printed else count
