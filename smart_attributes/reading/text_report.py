"""smartctl's text, of any version since 5.37, as a Report: identity and verdict; `pysmart` and `text_logs` read the
rest.
"""
from __future__ import annotations

import re
from typing import Collection, Dict, Optional, Sequence, Tuple

from ..errors import DriveError
from ..model import Identity, Report
from . import text_completeness, text_logs
from .content import as_text, looks_like_json
from .failure_reasons import Remains, diagnose, examined, smart_disabled, without_data
from .json_report import parse as parse_json
from .pysmart import attributes, digits, leading
from .report_common import (
    emptiness,
    exclusion,
    has_smart_data,
    has_spindle,
    no_report,
    with_exit_status,
    with_pending,
)
from .text_lines import POWER_ON, Lines, sorted_lines

_BANNER = re.compile(r'^[ \t]*smartctl (?:version )?(?:pre-)?(\d+)\.(\d+)', re.MULTILINE)

# Blanks and apostrophes that locales put between groups of digits, made ASCII.
_TYPOGRAPHY = str.maketrans({'\u00a0': ' ', '\u202f': ' ', '\u2009': ' ', '\u2007': ' ', '\u2019': "'", '\u02bc': "'",
                             '\ufeff': None, '\r': None})
_QUOTED = re.compile(r'^(?:>[> \t]?)+', re.MULTILINE)  # an answer to a mail; smartctl begins no line so

_ATA_LABELS = ('device model', 'ata version is', 'smart overall-health self-assessment test result', 'lu wwn device id',
               'smart error log version', 'smart extended comprehensive error log version',
               'smart extended self-test log version', 'general smart values')
_SCSI_LABELS = ('smart health status', 'logical unit id', 'elements in grown defect list', 'transport protocol',
                'current drive temperature', 'non-medium error count', 'vendor', 'product', 'error counter log',
                'percentage used endurance indicator', 'device', POWER_ON)


def parse_report(data: bytes, exit_status: Optional[int] = None, error_text: str = '',
                 command: Sequence[str] = ()) -> Report:
    """Return the Report of a recorded or fresh output, JSON or text.

    exit_status, error_text, command: of the process, where it is known.
    Raises DriveError (or a kind of it) when this is no report, or one without a verdict.
    """
    text = as_text(data)
    if looks_like_json(text):
        return parse_json(text, exit_status, error_text)
    return parse(text, exit_status, error_text, command)


def parse(text: str, exit_status: Optional[int] = None, error_text: str = '', command: Sequence[str] = ()) -> Report:
    """Return the Report of smartctl's text.

    Raises DriveError (or a kind of it) when the text gives no verdict, or when
    pySMART is not installed.
    """
    text = _QUOTED.sub('', text.translate(_TYPOGRAPHY))
    banners = list(_BANNER.finditer(text))
    if len(banners) > 1:
        raise DriveError('holds several reports; write each to a file of its own', 'several-reports')
    # What a shell or a script said before is none of the drive's business.
    lines = sorted_lines(text[banners[0].start():] if banners else text)
    version = tuple(map(int, banners[0].groups())) if banners else ()
    report = _report(lines, exit_status)._replace(exit_status=exit_status, version=version)
    arguments = text_completeness.asked_for(text, lines.fields, report.identity.protocol, command)
    problem = _problem(lines, report, f'{text}\n{error_text}', arguments)
    if problem:
        raise problem.of(report.identity)
    return report._replace(gaps=text_completeness.of_text(text, lines.fields, report, arguments))


def _report(lines: Lines, exit_status: Optional[int]) -> Report:
    """Return what *lines* say, whether or not it makes a verdict."""
    protocol = _protocol(lines)
    passed, words = with_exit_status(*_smart_status(lines.fields), exit_status)
    rows = attributes(lines.rows)
    return Report(
        identity=_identity(lines.fields, protocol)._replace(spins=has_spindle(rows)),
        smart_status=passed,
        smart_status_text=words,
        attributes=rows,
        statistics=with_pending(dict(map(text_logs.statistic, lines.statistics)), text_logs.pending_defects(lines)),
        nvme=text_logs.nvme(lines, passed) if protocol == 'NVMe' else {},
        scsi=text_logs.scsi(lines) if protocol == 'SCSI' else {},
        self_tests=text_logs.self_tests(lines),
        error_count=None if protocol == 'NVMe' else text_logs.error_count(lines.fields),
        errors=text_logs.errors(lines),
        messages=tuple(lines.complaints),
    )


def _problem(lines: Lines, report: Report, text: str, arguments: Collection[str]) -> Optional[DriveError]:
    """Return why this text gives no verdict, None when it does."""
    fields, identity = lines.fields, report.identity
    excluded = exclusion(report, fields.get('device type', ''), fields.get('transport protocol', ''))
    if excluded:
        return excluded
    # Printed twice: "Available - device has SMART capability.", then "Enabled" or "Disabled".
    if lines.last.get('smart support is') == 'Disabled' and report.smart_status is not False:
        return smart_disabled()
    if has_smart_data(report):
        # A check always asks for attributes.
        return emptiness(report, report.exit_status is not None or '-a' in arguments)
    if report.version or any(label.startswith('=== start of ') for label in fields):
        return diagnose((), report.exit_status, text) or without_data(Remains(
            report.exit_status or 0, bool(identity.model), complaint=_complaint(text)))
    return no_report(text, report.exit_status)


def _complaint(text: str) -> str:
    """Return the line in which smartctl speaks of a failure, '' without one."""
    line = re.search(r'^\S.*\b(?:failed\b|cannot\b|unable to\b|error:).*$', examined(text),
                     re.MULTILINE | re.IGNORECASE)
    return line.group() if line else ''


# Identity and verdict

def _protocol(lines: Lines) -> str:
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
        rotation=0 if rate == 'Solid State Device' else leading(rate),
        capacity=digits(capacity) or None,
        family=fields.get('model family', ''),
        sector_size=leading(size) or 512,
        physical_block_size=_physical(size) or leading(fields.get('physical block size', '')),
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


def _physical(size: str) -> Optional[int]:
    """Return the physical size from "512 bytes logical, 4096 bytes physical" or "512 bytes logical/physical"."""
    return leading(size.rpartition(', ')[2]) if 'physical' in size else None
