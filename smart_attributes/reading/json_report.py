"""Convert smartctl's JSON, of any version since 7.0, into a Report."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..errors import DriveError, NotAReport
from ..model import (
    AttributeRow,
    ErrorEntry,
    Identity,
    NvmeError,
    Report,
    SelfTest,
    Statistic,
)
from ..typed import Json
from . import completeness, content
from .content import (
    byte_of,
    integer_at,
    integer_of,
    list_of,
    object_of,
    objects_of,
    offset_of,
    text_of,
    word_of,
)

_SMARTCTL_KEYS = (
    'smartctl',
    'json_format_version',
    'smart_status',
    'smart_support',
    'ata_smart_attributes',
    'nvme_smart_health_information_log',
    'scsi_error_counter_log',
    'ata_device_statistics',
)
# First part of a key -> protocol, for documents without "device".
_PROTOCOLS = (('nvme_', 'NVMe'), ('scsi_', 'SCSI'), ('ata_', 'ATA'))
_STATISTIC_FLAGS = (
    ('N', 'normalized'),
    ('D', 'supports_dsn'),
    ('C', 'monitored_condition_met'),
)


def parse(
    report: str | bytes, exit_status: int | None = None, error_text: str = ''
) -> Report:
    """Return the Report of smartctl's JSON.

    exit_status: of smartctl, if known; used if the report lacks it. error_text: the standard error,
    including messages from sudo. Raises DriveError (or DriveAsleep, DriveAbsent, DriveIsNoDrive) if
    the drive cannot be judged.
    """
    text = content.as_text(report) if isinstance(report, bytes) else report
    start = content.json_start(text)
    if start < 0:
        from .failure_reasons import no_report

        raise no_report(f'{text}\n{error_text}', exit_status)
    data = content.loaded(text, start)
    if isinstance(data, dict):
        has_protocol = 'protocol' in object_of(data, 'device')
        if has_protocol or not data.keys().isdisjoint(_SMARTCTL_KEYS):
            return from_json(data, exit_status, f'{text[:start]}\n{error_text}')
    raise NotAReport(
        'is JSON, but not from smartctl', step='create it with smartctl --json -x'
    )


def from_json(
    data: Json, exit_status: int | None = None, other_text: str = ''
) -> Report:
    """Return the Report of one parsed JSON document.

    exit_status: of smartctl, used if the document lacks it; None: not known. other_text: what was
    printed in addition to the JSON. Raises DriveError (or a subclass) if the drive cannot be judged.
    """
    report = _report(data, exit_status, other_text)
    words = list_of(data, 'smartctl', 'argv')[1:]
    arguments = completeness.arguments_of(
        word for word in words if isinstance(word, str)
    )
    problem = _problem(data, report, other_text, arguments) or _not_of_smartctl(
        data, report
    )
    if problem:
        raise problem.of(report.identity)
    # A document without smartctl's arguments was modified, so it is compared with a report of
    # `smartctl -a`.
    gaps = completeness.of_json(data, report, arguments or completeness.LIKELY)
    return report._replace(gaps=gaps, exit_status=_meant_status(report, arguments))


def _meant_status(report: Report, arguments: Collection[str]) -> int | None:
    """Return smartctl's exit status, without COMMAND_FAILED if the requested log of the background
    scan is missing: smartctl sets this bit, too, if the disk does not have the log.
    """
    lacks_log = report.scsi and 'background_status' not in report.scsi
    if 'background' in arguments and lacks_log:
        return (report.exit_status or 0) & ~content.COMMAND_FAILED
    return report.exit_status


def _report(data: Json, process_status: int | None, other_text: str) -> Report:
    """Return the content of a document, even if the drive cannot be judged from it.

    process_status: smartctl's exit status, used if the document lacks it; None: not known.
    other_text: what smartctl printed before the JSON, and its standard error.
    """
    smartctl = object_of(data, 'smartctl')
    error_log = object_of(data, 'ata_smart_error_log')
    exit_status = integer_of(smartctl, 'exit_status')
    if exit_status is None:
        exit_status = process_status
    passed, words = _smart_status(object_of(data, 'smart_status'), exit_status)
    attributes = _attributes(objects_of(data, 'ata_smart_attributes', 'table'))
    statistics = _statistics(objects_of(data, 'ata_device_statistics', 'pages'))
    identity = _identity(data)
    complaints = [
        text
        for severity, text in content.messages_in(data)
        if severity != 'information'
    ]
    offline = object_of(data, 'ata_smart_data', 'offline_data_collection', 'status')
    version = tuple(part for part in list_of(smartctl, 'version') if type(part) is int)
    farm = None
    if content.FARM_LOG in data:
        # no check requests this log together with the others
        from . import farm as farm_log

        farm = farm_log.marked_if_foreign(farm_log.of_json(data), identity.serial)
    identity = identity._replace(
        spins=farm is not None or content.has_spindle(attributes)
    )
    return Report(
        identity=identity,
        smart_status=passed,
        smart_status_text=words,
        attributes=attributes,
        statistics=content.with_pending(
            statistics, integer_at(data, 'ata_pending_defects_log.count')
        ),
        nvme=_nvme(data),
        scsi=_scsi(data, other_text) if identity.protocol == 'SCSI' else {},
        derived=_derived(data) if identity.protocol == 'ATA' else {},
        self_tests=_self_tests(data),
        error_count=_error_count(error_log),
        errors=_errors(error_log),
        nvme_errors=_nvme_errors(
            objects_of(data, 'nvme_error_information_log', 'table')
        ),
        exit_status=exit_status,
        is_status_derived=content.is_derived(complaints),
        messages=content.messages_of(complaints, byte_of(offline, 'value')),
        farm=farm,
        version=version,
        date=integer_at(data, 'local_time.time_t') or 0,
    )


def _problem(
    data: Json, report: Report, other_text: str, arguments: frozenset[str]
) -> DriveError | None:
    """Return why the drive cannot be judged from this document, or None if it can be judged."""
    support = object_of(data, 'smart_support')
    problem = content.known_problem(
        report,
        text_of(data, 'device_type', 'name'),
        text_of(data, 'scsi_transport_protocol', 'name'),
        is_disabled=support.get('available') is True
        and support.get('enabled') is False,
        is_table_asked=bool(completeness.TABLE & arguments),
    )
    if problem:
        return problem
    if content.has_smart_data(report):
        return None
    from .failure_reasons import diagnose, without_data

    messages = [text for _, text in content.messages_in(data)]
    # a report without arguments may be one of all data
    is_data_asked = not arguments or bool(completeness.DATA & arguments)
    return diagnose('\n'.join([*messages, other_text])) or without_data(
        exit_status=report.exit_status or 0,
        is_identified=bool(report.identity.model),
        device_type=text_of(data, 'device', 'type'),
        is_data_asked=is_data_asked,
        complaint=next(iter(report.messages), ''),
        is_unsupported=support.get('available') is False,
    )


def _not_of_smartctl(data: Json, report: Report) -> DriveError | None:
    """Return an error for a document with fields of smartctl that another program has written, such
    as smartd's state, unless the drive reports in it that it is failing.

    smartctl names itself in each document. Programs that remove this part keep the firmware; smartd
    8.0 writes neither, and its state lacks the wear of a SAS drive and all logs.
    """
    is_failing = (
        report.smart_status is False
        or any(row.when_failed for row in report.attributes)
        or report.nvme.get('critical_warning')
    )
    if 'smartctl' in data or report.identity.firmware or is_failing:
        return None
    return DriveError(
        'is not a smartctl report, although it has some of the same fields (smartd writes such files)',
        'not-a-report',
        step='read the drive instead, or record it with smartctl --json -x',
    )


def _identity(data: Json) -> Identity:
    protocol = _protocol(data)
    capacity = integer_at(data, 'user_capacity.bytes')
    return Identity(
        protocol=protocol,
        model=text_of(data, 'model_name') or text_of(data, 'scsi_model_name'),
        firmware=text_of(data, 'firmware_version')
        or text_of(data, 'scsi_revision')
        or text_of(data, 'revision'),
        serial=text_of(data, 'serial_number'),
        wwn=_wwn(data),
        rotation=_rotation(data, protocol),
        capacity=capacity or integer_of(data, 'nvme_total_capacity') or None,
        family=text_of(data, 'model_family'),
        sector_size=integer_of(data, 'logical_block_size') or 512,
        physical_block_size=integer_of(data, 'physical_block_size') or None,
    )


def _protocol(data: Json) -> str:
    """Return the protocol of the drive.

    If the key "device" contradicts all logs, the logs decide.
    """
    named = text_of(data, 'device', 'protocol')
    of_logs = [
        protocol
        for prefix, protocol in _PROTOCOLS
        if any(key.startswith(prefix) for key in data)
    ]
    if named in of_logs or not of_logs:
        return named
    return of_logs[0]


def _wwn(data: Json) -> str:
    """Return the world wide name as hexadecimal digits, or '' if absent.

    ATA: IDENTIFY words 108 to 111. SCSI: the designator of the logical unit. NVMe: the EUI-64 of
    the first namespace.
    """
    wwn = object_of(data, 'wwn')
    naa, oui, number = (integer_of(wwn, part) for part in ('naa', 'oui', 'id'))
    if naa is not None and oui is not None and number is not None:
        return f'{naa:x}{oui:06x}{number:09x}'
    unit = content.wwn_of(text_of(data, 'logical_unit_id'))
    return unit or _eui64(objects_of(data, 'nvme_namespaces'))


def _eui64(namespaces: list[Json]) -> str:
    """Return the EUI-64 of the first namespace as hexadecimal digits, or '' if absent."""
    if not namespaces:
        return ''
    eui64 = object_of(namespaces[0], 'eui64')
    oui = integer_of(eui64, 'oui')
    extension = integer_of(eui64, 'ext_id')
    if oui is None or extension is None:
        return ''
    return f'{oui:06x}{extension:010x}'


def _rotation(data: Json, protocol: str) -> int | None:
    """Return the revolutions per minute: 0 for a solid state drive, None if not reported."""
    rate = integer_of(data, 'rotation_rate')
    if rate is None or rate < 0:
        return None
    # SBC-4, 6.6.2: 2h to 400h and FFFFh are reserved; smartctl prints them for SCSI. It has already
    # turned 1h (a solid state drive) into 0.
    is_reserved = 0 < rate <= 0x400 or rate == 0xFFFF
    return None if protocol == 'SCSI' and is_reserved else rate


def _smart_status(status: Json, exit_status: int | None) -> tuple[bool | None, str]:
    """Return the drive's SMART health status, and its text if it has any (SCSI); if the report
    lacks the status, use smartctl's exit status.

    Source: smartctl(8), EXIT STATUS, bit 3: the health status was FAILED.
    """
    passed = status.get('passed')
    scsi = object_of(status, 'scsi')
    words = text_of(scsi, 'ie_string')
    asc = byte_of(scsi, 'asc')
    ascq = byte_of(scsi, 'ascq')
    if words and asc is not None and ascq is not None:
        words = f'{words} [asc={asc:x}, ascq={ascq:x}]'
    if isinstance(passed, bool):
        return passed, words
    if (exit_status or 0) & content.FAILED:
        return False, words or "FAILED, according to smartctl's exit status"
    return None, words


def _attributes(table: list[Json]) -> tuple[AttributeRow, ...]:
    """Return the attribute table in the order of the report, without rows that lack a valid
    attribute ID.
    """
    numbered = [(byte_of(row, 'id'), row) for row in table]
    return tuple(_attribute(number, row) for number, row in numbered if number)


def _attribute(number: int, row: Json) -> AttributeRow:
    """Return a row of the attribute table; None, or '', for each value that is absent."""
    when_failed = text_of(row, 'when_failed')
    prefail = object_of(row, 'flags').get('prefailure')
    raw = object_of(row, 'raw')
    raw_number = word_of(raw, 'value')
    text = text_of(raw, 'string')
    if not text and raw_number is not None:
        text = str(raw_number)
    return AttributeRow(
        id=number,
        name=text_of(row, 'name'),
        value=byte_of(row, 'value'),
        worst=byte_of(row, 'worst'),
        threshold=byte_of(row, 'thresh'),
        prefail=prefail if isinstance(prefail, bool) else None,
        when_failed=when_failed if when_failed in ('now', 'past') else '',
        raw=text,
        raw_number=raw_number,
    )


def _statistics(pages: list[Json]) -> content.Statistics:
    """Return the valid entries of the device statistics, by page and offset. Source: ACS-4, 9.5."""
    valid = {}
    for page in pages:
        number = byte_of(page, 'number')
        for entry in objects_of(page, 'table'):
            offset = offset_of(entry, 'offset')
            value = integer_of(entry, 'value')
            flags = object_of(entry, 'flags')
            # An invalid entry has no value, although older versions print one.
            if number is None or offset is None or value is None:
                continue
            if flags.get('valid') is False:
                continue
            letters = ''.join(
                letter for letter, key in _STATISTIC_FLAGS if flags.get(key) is True
            )
            valid[number, offset] = Statistic(value, text_of(entry, 'name'), letters)
    return valid


def _error_count(log: Json) -> int | None:
    """Return how many errors the drive has ever logged, or None if not reported."""
    # both logs contain the newest errors and the same count
    counts = [integer_at(log, 'extended.count'), integer_at(log, 'summary.count')]
    valid = [count for count in counts if count is not None and count >= 0]
    return max(valid, default=None)


def _errors(log: Json) -> tuple[ErrorEntry, ...]:
    """Return the entries of the ATA error log that have a number and a time, newest first."""
    extended = objects_of(log, 'extended', 'table')
    entries = []
    for row in extended + objects_of(log, 'summary', 'table'):
        number = integer_of(row, 'error_number')
        hours = integer_of(row, 'lifetime_hours')
        if number is not None and hours is not None:
            words = text_of(row, 'error_description')
            register = byte_of(object_of(row, 'completion_registers'), 'error')
            entries.append(content.error_entry(number, hours, words, register))
    return content.newest_first(entries)


def _derived(data: Json) -> dict[str, int]:
    """Return the used endurance and the available spare of an ATA drive, in percent; smartctl 7.5
    and later calculate them from its logs.
    """
    return content.present(
        {
            metric: integer_at(data, f'{metric}.current_percent')
            for metric in ('endurance_used', 'spare_available')
        }
    )


def _self_tests(data: Json) -> tuple[SelfTest, ...]:
    """Return the self-test log of any protocol, newest first."""
    log = object_of(data, 'ata_smart_self_test_log')
    # The extended log contains all entries of the standard log, and more.
    ata = objects_of(log, 'extended', 'table') or objects_of(log, 'standard', 'table')
    nvme = objects_of(data, 'nvme_self_test_log', 'table')
    scsi = [object_of(data, f'scsi_self_test_{number}') for number in range(20)]
    tests = []
    # rows, and the keys that the protocol uses
    for rows, kind, result, hours in (
        (ata, 'type', 'status', 'lifetime_hours'),
        (nvme, 'self_test_code', 'self_test_result', 'power_on_hours'),
        (filter(None, scsi), 'code', 'result', 'power_on_time.hours'),
    ):
        for row in rows:
            words = text_of(row, result, 'string')
            passed = content.self_test_passed(words)
            tests.append(
                SelfTest(
                    text_of(row, kind, 'string'), words, passed, integer_at(row, hours)
                )
            )
    status = object_of(data, 'ata_smart_data', 'self_test', 'status')
    return tuple(tests) or content.last_self_test(byte_of(status, 'value'))


def _nvme(data: Json) -> dict[str, int]:
    """Return the NVMe health log and the temperature thresholds, with the keys in NVME_KEYS."""
    log = object_of(data, 'nvme_smart_health_information_log')
    values = {key: integer_of(log, key) for key in content.NVME_KEYS}
    if values['critical_warning'] is None:
        # Without the log (only -H was given), the health status still has the bits.
        values['critical_warning'] = byte_of(
            object_of(data, 'smart_status', 'nvme'), 'value'
        )
    for limit in ('warning', 'critical'):
        values[f'{limit}_temp_threshold'] = integer_at(
            data, f'nvme_composite_temperature_threshold.{limit}'
        )
    return content.present(values)


def _nvme_errors(table: list[Json]) -> tuple[NvmeError, ...]:
    """Return the entries that concern a command; the JSON contains them since smartctl 7.4."""
    entries = []
    for row in table:
        number = word_of(row, 'error_count')
        queue = integer_of(row, 'submission_queue_id')
        status = object_of(row, 'status_field')
        kind = byte_of(status, 'status_code_type')
        code = byte_of(status, 'status_code')
        if number is None or queue is None or kind is None or code is None:
            continue
        entries.append(NvmeError(number, queue, kind, code))
    return tuple(entries)


def _background(scan: Json, data: Json) -> dict[str, float]:
    """Return how many blocks the background scan found, or {} if the log is missing."""
    if not scan:
        return {}
    from . import background_scan  # only SAS disks have this log

    hours = integer_at(data, 'power_on_time.hours')
    # to the end of the hour
    minutes = float('inf') if hours is None else hours * 60 + 59
    return background_scan.of_json(scan, age=minutes)


def _scsi(data: Json, other_text: str) -> dict[str, float]:
    """Return the SCSI log pages. other_text: the text around the JSON; it may contain the number
    of pending defects.
    """
    values: dict[str, float | None] = {}
    for key, paths in content.SCSI_NUMBERS.items():
        values[key] = content.first_number(integer_at(data, path) for path in paths)
    values.update(_background(object_of(data, 'scsi_background_scan'), data))
    if values['pending_defects'] is None:
        # smartctl 7.0 to 7.2 prints this number outside the JSON.
        defects = re.search(r'Pending defect count: ?(\d{1,10})', other_text)
        values['pending_defects'] = int(defects[1]) if defects else None
    for command in ('read', 'write', 'verify'):
        counters = object_of(data, 'scsi_error_counter_log', command)
        for counter, value_of in content.ERROR_COUNTERS.items():
            values[f'{command}.{counter}'] = value_of(counters, counter)
    return content.present(values)
