"""Find gaps in smartctl's text: damaged table rows and a missing end. Pure."""
from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ..coded import Coded
from ..model import Report
from ..words import clean
from .completeness import sentences
from .pysmart import classic
from .report_sections import NO_ERROR_LOG, NO_STATISTICS, missing
from .text_lines import LONGEST_LINE, is_row

_LINE = 60                # characters of a damaged line that are shown

# The beginning of the last log in a report of everything, by protocol; for ATA drives, -x prints more than -a.
_LONG_ATA = re.compile(r'^[ \t]*(?:General Purpose Log Directory|SMART Extended Comprehensive Error Log)', re.MULTILINE)
_LAST: Mapping[str, str] = {
    'long ATA': r'^[ \t]*SATA Phy Event Counters',
    'ATA': r'^[ \t]*SATA Phy Event Counters|Selective Self-?tests?\b',
    'NVMe': r'Error Information (?:\(|Log)',
    'SCSI': r'Self-test duration|no self-?tests have been logged|not support Self.?Test'}
# Lines that smartctl prints only if all data is requested; several, because any of them may be lost.
_OF_ALL: Mapping[str, frozenset[str]] = {
    'ATA': frozenset((
        'general smart values', 'offline data collection status', 'self-test execution status', 'smart capabilities',
        'error logging capability', 'smart selective self-test log data structure revision number 0',
        'smart selective self-test log data structure revision number 1')),
    'NVMe': frozenset(('supported power states',)),
    'SCSI': frozenset(('smart support is', 'error counter log', 'non-medium error count', 'smart self-test log',
                       'no self-tests have been logged', 'long (extended) self test duration'))}
_HEADLINES: Sequence[tuple[str, Callable[[str], object]]] = (
    ('ATTRIBUTE_NAME', classic), ('VALUE WORST', classic), ('Offset Size', is_row), ('Flags Description', is_row),
    ('fast | delayed', re.compile(r'(?:read|write|verify):').match))
_LISTED = re.compile(r'#|Error \d')  # self-tests and errors, which are listed without their own headline
_TEST_NUMBER = re.compile(r'^[ \t]*#[ \t]{0,3}(\d{1,3}) ', re.MULTILINE)
# The format of values on single lines, by protocol.
_FORMS: Mapping[str, Mapping[str, str]] = {
    'ATA': {'self-test execution status': r'\(\s*\d{1,3}\)', 'rotation rate': r'\d{1,6} rpm|Solid State',
            **dict.fromkeys(('sector size', 'sector sizes'), r'\d{1,6} bytes'),
            **dict.fromkeys(('ata error count', 'device error count'), r'\d{1,10}\b')},
    'SCSI': {**dict.fromkeys(('read', 'write', 'verify'), r'(?:\d+\s+){5}\d+(?:[.,]\d{1,9})?\s+\d+$'),
             **dict.fromkeys(('elements in grown defect list', 'percentage used endurance indicator',
                              'non-medium error count', 'accumulated start-stop cycles',
                              'accumulated load-unload cycles'), r'\d{1,19}%?$')}}


def of_text(text: str, fields: Mapping[str, str], report: Report, arguments: Collection[str]) -> tuple[Coded, ...]:
    """Return one sentence for damaged data, and one for requested data that is missing.

    fields: the lines "Label: value". arguments: those of smartctl, as `likely_arguments` returns them.
    """
    forms = _FORMS.get(report.identity.protocol, {})
    damaged = [*_unfit_lines(text), *(f'{label}: {fields[label]}' for label, form in forms.items()
                                      if label in fields and not re.match(form, fields[label]))]
    lost = missing(report, arguments, {*fields, *_marks(text, fields)})
    # Self-tests are numbered from 1 in each log.
    numbers = [0, *map(int, _TEST_NUMBER.findall(text))]
    if any(number not in (1, before + 1) for before, number in zip(numbers, numbers[1:])):
        lost.append('some of the self-test log')
    if not _is_ended(text, report.identity.protocol, arguments):
        lost.append('its end (it was cut off, or smartctl was not asked for all logs)')
    return tuple(sentences([f'"{clean(line, _LINE)}"' for line in damaged], lost))


def likely_arguments(text: str, fields: Mapping[str, str], protocol: str) -> frozenset[str]:
    """Return the arguments of smartctl that the lines of a text imply, and -A."""
    if not any(label in fields for label in _OF_ALL.get(protocol, ())):
        return frozenset(('-A',))
    return frozenset(('-A', '-a', '-x') if protocol == 'ATA' and _LONG_ATA.search(text) else ('-A', '-a'))


def _marks(text: str, fields: Mapping[str, str]) -> Iterator[str]:
    """Yield a mark for each log that, according to the report, the drive does not keep."""
    if 'NOT supported' in fields.get('error logging capability', '') or any(
            label.endswith('not supported') and 'error log' in label for label in fields):
        yield NO_ERROR_LOG
    if 'Log Directory Version' in text and 'Device Statistics log' not in text:
        yield NO_STATISTICS


def _unfit_lines(text: str) -> Iterator[str]:
    """Yield the lines within tables that are not valid rows."""
    fits: Callable[[str], object] | None = None
    for line in map(str.strip, text.split('\n')):
        headline = next((is_fit for words, is_fit in _HEADLINES if words in line), None)
        if headline:
            fits = headline
        elif not line or line[0] == '|':
            fits = None
        elif (fits or _LISTED.match(line)) and (len(line) > LONGEST_LINE or not (fits or is_row)(line)):
            yield line


def _is_ended(text: str, protocol: str, arguments: Collection[str]) -> bool:
    """Return whether a text is complete to its end.

    If all logs were requested, it must have the last log. Otherwise, and for an NVMe drive, it must have the empty
    line after each part.
    """
    last = _LAST['long ATA' if protocol == 'ATA' and '-x' in arguments else protocol] if '-a' in arguments else ''
    if last and not re.search(last, text, re.MULTILINE | re.IGNORECASE):
        return False
    return bool(last and protocol != 'NVMe') or re.search(r'\n[ \t]*\n[ \t]*\Z', text) is not None
