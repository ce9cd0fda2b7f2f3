"""smartctl's JSON, of any version since 7.0, as a Report.

Whatever is not of the type that smartctl documents is taken as absent: a report
may come from a ticket, an anonymiser or a program that speaks like smartctl.
"""
from __future__ import annotations

from ..errors import DriveError, NotAReport
from ..model import Identity, Report
from ..typed import TYPE_CHECKING, Json
from . import completeness, json_logs, report_sections
from .content import as_text, json_start, loaded
from .failure_reasons import Remains, diagnose, is_complaint, smart_disabled, smart_unsupported, without_data
from .json_values import byte_of, integer_of, list_of, object_of, objects_of, text_of
from .report_common import (
    emptiness,
    exclusion,
    has_smart_data,
    has_spindle,
    no_report,
    with_exit_status,
    with_pending,
)

if TYPE_CHECKING:
    from typing import Any, Collection, List, Optional, Tuple, Union


_SMARTCTL_KEYS = ('smartctl', 'json_format_version', 'smart_status', 'smart_support', 'ata_smart_attributes',
                  'nvme_smart_health_information_log', 'scsi_error_counter_log', 'ata_device_statistics')
_HEXADECIMAL = frozenset('0123456789abcdef')


def parse(report: Union[str, bytes], exit_status: Optional[int] = None, error_text: str = '') -> Report:
    """Return what smartctl said in its JSON.

    exit_status: of the process, where it is known; a report holds its own.
    error_text: what came on standard error: the words of sudo.
    Raises DriveError (or DriveAsleep, DriveAbsent, DriveIsNoDrive) when this gives no verdict.
    """
    text = as_text(report) if isinstance(report, bytes) else report
    start = json_start(text)
    if start < 0:
        raise no_report(f'{text}\n{error_text}', exit_status)
    data = loaded(text, start)
    if not is_smartctl(data):
        raise NotAReport('is JSON, but not that of smartctl; record with smartctl --json -x')
    return from_json(data, exit_status, f'{text[:start]}\n{error_text}')


def is_smartctl(data: Any) -> bool:
    """Return whether this JSON document is one of smartctl's."""
    return isinstance(data, dict) and (
        any(key in data for key in _SMARTCTL_KEYS) or 'protocol' in object_of(data, 'device'))


def from_json(data: Json, exit_status: Optional[int] = None, other_text: str = '') -> Report:
    """Return the Report of one parsed JSON document.

    other_text: what was printed beside the JSON.
    Raises DriveError (or a kind of it) when the document gives no verdict.
    """
    report = _report(data, exit_status, other_text)
    arguments = report_sections.asked(word for word in list_of(object_of(data, 'smartctl'), 'argv')[1:]
                                      if isinstance(word, str))
    problem = _problem(data, report, other_text, arguments)
    if problem is None:
        return report._replace(gaps=completeness.of_json(data, report, arguments))
    raise problem.of(report.identity)


def _report(data: Json, exit_status: Optional[int], other_text: str) -> Report:
    """Return what a document says, whether or not it makes a verdict."""
    smartctl = object_of(data, 'smartctl')
    status = _exit_status(smartctl, exit_status)
    passed, words = with_exit_status(*_smart_status(object_of(data, 'smart_status')), status)
    attributes = json_logs.attributes(objects_of(object_of(data, 'ata_smart_attributes'), 'table'))
    identity = _identity(data)._replace(spins=has_spindle(attributes))
    return Report(
        identity=identity,
        smart_status=passed,
        smart_status_text=words,
        attributes=attributes,
        statistics=with_pending(json_logs.statistics(objects_of(object_of(data, 'ata_device_statistics'), 'pages')),
                                integer_of(object_of(data, 'ata_pending_defects_log'), 'count')),
        nvme=json_logs.nvme(data),
        scsi=json_logs.scsi(data, other_text) if identity.protocol == 'SCSI' else {},
        derived=json_logs.derived(data) if identity.protocol == 'ATA' else {},
        self_tests=json_logs.self_tests(data),
        error_count=json_logs.error_count(object_of(data, 'ata_smart_error_log')),
        errors=json_logs.errors(object_of(data, 'ata_smart_error_log')),
        exit_status=status,
        messages=_complaints(smartctl),
        version=tuple(part for part in list_of(smartctl, 'version') if type(part) is int),
    )


def _exit_status(smartctl: Json, of_process: Optional[int]) -> Optional[int]:
    """Return the exit status; a report holds its own."""
    status = integer_of(smartctl, 'exit_status')
    return of_process if status is None else status


def _problem(data: Json, report: Report, other_text: str, arguments: Collection[str]) -> Optional[DriveError]:
    """Return why this document gives no verdict, None when it does."""
    excluded = exclusion(report, text_of(object_of(data, 'device_type'), 'name'),
                         text_of(object_of(data, 'scsi_transport_protocol'), 'name'))
    if excluded:
        return excluded
    support = object_of(data, 'smart_support')
    if support.get('available') is True and support.get('enabled') is False and report.smart_status is not False:
        return smart_disabled()
    smartctl = object_of(data, 'smartctl')
    if has_smart_data(report):
        return emptiness(report, not report_sections.TABLE.isdisjoint(arguments))
    printed = [line for line in list_of(smartctl, 'output') if isinstance(line, str)]
    said = diagnose([text for _, text in _messages(smartctl)], report.exit_status, '\n'.join([*printed, other_text]))
    if said is None and support.get('available') is False:
        return smart_unsupported()
    return said or without_data(Remains(
        report.exit_status or 0, bool(report.identity.model), text_of(object_of(data, 'device'), 'type'),
        not arguments or not report_sections.DATA.isdisjoint(arguments),
        report.messages[0] if report.messages else ''))


# Identity

def _identity(data: Json) -> Identity:
    protocol = text_of(object_of(data, 'device'), 'protocol') or _protocol(data)
    return Identity(
        protocol=protocol,
        model=text_of(data, 'model_name') or text_of(data, 'scsi_model_name'),
        firmware=text_of(data, 'firmware_version') or text_of(data, 'scsi_revision') or text_of(data, 'revision'),
        serial=text_of(data, 'serial_number'),
        wwn=_wwn(data),
        rotation=_rotation(data, protocol),
        capacity=integer_of(object_of(data, 'user_capacity'), 'bytes') or integer_of(data, 'nvme_total_capacity')
        or None,
        family=text_of(data, 'model_family'),
        sector_size=integer_of(data, 'logical_block_size') or 512,
        physical_block_size=integer_of(data, 'physical_block_size') or None,
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
    name = object_of(data, 'wwn')
    naa, oui, number = (integer_of(name, part) for part in ('naa', 'oui', 'id'))
    if naa is not None and oui is not None and number is not None:
        return f'{naa:x}{oui:06x}{number:09x}'
    unit = text_of(data, 'logical_unit_id').lower()
    unit = unit[2:] if unit.startswith('0x') else unit
    if 8 <= len(unit) <= 32 and _HEXADECIMAL.issuperset(unit):
        return unit
    for namespace in objects_of(data, 'nvme_namespaces')[:1]:
        eui64 = object_of(namespace, 'eui64')
        oui, number = integer_of(eui64, 'oui'), integer_of(eui64, 'ext_id')
        if oui is not None and number is not None:
            return f'{oui:06x}{number:010x}'
    return ''


def _rotation(data: Json, protocol: str) -> Optional[int]:
    """Return rounds per minute, 0 for a solid state drive, None when not told."""
    rate = integer_of(data, 'rotation_rate')
    # SBC-4, 6.6.2: 2h to 400h and FFFFh are reserved; smartctl hands them on for SCSI.
    if rate is None or rate < 0 or (protocol == 'SCSI' and (0 < rate <= 0x400 or rate == 0xffff)):
        return None
    return rate


# Verdicts, messages

def _messages(smartctl: Json) -> List[Tuple[str, str]]:
    """Return severity and words of each message."""
    return [(text_of(entry, 'severity'), text_of(entry, 'string'))
            for entry in objects_of(smartctl, 'messages') if text_of(entry, 'string')]


def _complaints(smartctl: Json) -> Tuple[str, ...]:
    """Return all messages, and wrong checksums, which stand only in smartctl's text (--json=co)."""
    known = {text for _, text in _messages(smartctl)}
    printed = (line.strip() for line in list_of(smartctl, 'output') if isinstance(line, str))
    return (*(text for severity, text in _messages(smartctl) if severity != 'information'),
            *(line for line in printed if is_complaint(line) and line not in known))


def _smart_status(status: Json) -> Tuple[Optional[bool], str]:
    """Return the drive's own verdict, and its words where it has any (SCSI)."""
    passed = status.get('passed')
    scsi = object_of(status, 'scsi')
    words = text_of(scsi, 'ie_string')
    asc, ascq = byte_of(scsi, 'asc'), byte_of(scsi, 'ascq')
    if words and asc is not None and ascq is not None:
        words = f'{words} [asc={asc:x}, ascq={ascq:x}]'
    return (passed if isinstance(passed, bool) else None), words


