"""Gaps in smartctl's text: rows that are none, and an end that is not there. Pure."""
from __future__ import annotations

import re
from typing import Any, Callable, Collection, FrozenSet, Iterator, Mapping, Optional, Sequence, Tuple

from ..coded import Coded
from ..model import Report
from ..words import clean
from .completeness import told
from .pysmart import classic
from .report_sections import NO_ERROR_LOG, NO_STATISTICS, asked, missing
from .text_lines import LONGEST_LINE, is_row

_LINE = 60                # characters of a damaged line that are shown

# What the last log of a report of everything begins with, by protocol; -x of ATA drives goes on for longer than -a.
_LONG_ATA = re.compile(r'^[ \t]*(?:General Purpose Log Directory|SMART Extended Comprehensive Error Log)', re.MULTILINE)
_LAST: Mapping[str, str] = {
    'long ATA': r'^[ \t]*SATA Phy Event Counters',
    'ATA': r'^[ \t]*SATA Phy Event Counters|Selective Self-?tests?\b',
    'NVMe': r'Error Information (?:\(|Log)',
    'SCSI': r'Self-test duration|no self-?tests have been logged|not support Self.?Test'}
# Lines of what smartctl prints only where it was asked for everything; several, since each of them may be lost.
_OF_ALL: Mapping[str, FrozenSet[str]] = {
    'ATA': frozenset((
        'general smart values', 'offline data collection status', 'self-test execution status', 'smart capabilities',
        'error logging capability', 'smart selective self-test log data structure revision number 0',
        'smart selective self-test log data structure revision number 1')),
    'NVMe': frozenset(('supported power states',)),
    'SCSI': frozenset(('smart support is', 'error counter log', 'non-medium error count', 'smart self-test log',
                       'no self-tests have been logged', 'long (extended) self test duration'))}
_HEADLINES: Sequence[Tuple[str, Callable[[str], Any]]] = (
    ('ATTRIBUTE_NAME', classic), ('VALUE WORST', classic), ('Offset Size', is_row), ('Flags Description', is_row),
    ('fast | delayed', re.compile(r'(?:read|write|verify):').match))
_LISTED = re.compile(r'#|Error \d')  # self-tests and errors, which are listed without a headline of their own
_TEST_NUMBER = re.compile(r'^[ \t]*#[ \t]{0,3}(\d{1,3}) ', re.MULTILINE)
# How values of single lines look, by protocol.
_COUNT = r'\d{1,19}%?$'
_FORMS: Mapping[str, Mapping[str, str]] = {
    'ATA': {'self-test execution status': r'\(\s*\d{1,3}\)', 'rotation rate': r'\d{1,6} rpm|Solid State',
            **dict.fromkeys(('sector size', 'sector sizes'), r'\d{1,6} bytes'),
            **dict.fromkeys(('ata error count', 'device error count'), r'\d{1,10}\b')},
    'SCSI': {**dict.fromkeys(('read', 'write', 'verify'), r'(?:\d+\s+){5}\d+(?:[.,]\d{1,9})?\s+\d+$'),
             **dict.fromkeys(('elements in grown defect list', 'percentage used endurance indicator',
                              'non-medium error count', 'accumulated start-stop cycles',
                              'accumulated load-unload cycles'), _COUNT)}}


def of_text(text: str, fields: Mapping[str, str], report: Report, arguments: Collection[str]) -> Tuple[Coded, ...]:
    """Return a sentence for what is damaged, and one for what is missing of all that smartctl was asked for.

    fields: its lines "Label: value". arguments: of smartctl, as `asked_for` returns them.
    """
    damaged = [*_unfit_lines(text), *(f'{label}: {fields[label]}'
                                      for label, form in _FORMS.get(report.identity.protocol, {}).items()
                                      if label in fields and not re.match(form, fields[label]))]
    refused = tuple(_refused(text, fields))
    lacking = [*missing(report, arguments, {*fields, *refused} if refused else fields), *_lost_tests(text),
               *_end(text, report.identity.protocol, arguments)]
    return tuple(told([f'"{clean(line, _LINE)}"' for line in damaged], lacking))


def asked_for(text: str, fields: Mapping[str, str], protocol: str, command: Sequence[str]) -> FrozenSet[str]:
    """Return smartctl's arguments; where no command is known, those that the lines of a text prove, and -A."""
    if command:
        return asked(command)
    found = {'-A'}
    if any(label in fields for label in _OF_ALL.get(protocol, ())):
        found.add('-a')
        if protocol == 'ATA' and _LONG_ATA.search(text):
            found.add('-x')
    return frozenset(found)


def _refused(text: str, fields: Mapping[str, str]) -> Iterator[str]:
    """Yield marks for the logs that a report says the drive does not keep."""
    if 'NOT supported' in fields.get('error logging capability', '') or any(
            label.endswith('not supported') and 'error log' in label for label in fields):
        yield NO_ERROR_LOG
    if 'Log Directory Version' in text and 'Device Statistics log' not in text:
        yield NO_STATISTICS


def _unfit_lines(text: str) -> Iterator[str]:
    """Yield the lines of tables that are no rows of theirs."""
    fits: Optional[Callable[[str], Any]] = None
    for line in map(str.strip, text.split('\n')):
        headline = next((rows for words, rows in _HEADLINES if words in line), None)
        if headline:
            fits = headline
        elif not line or line[0] == '|':
            fits = None
        elif (fits or _LISTED.match(line)) and (len(line) > LONGEST_LINE or not (fits or is_row)(line)):
            yield line


def _lost_tests(text: str) -> Iterator[str]:
    """Yield that self-tests are missing, which are numbered from 1 in each log."""
    numbers = [0, *(int(number) for number in _TEST_NUMBER.findall(text))]
    if any(number not in (1, before + 1) for before, number in zip(numbers, numbers[1:])):
        yield 'some of the self-test log'


def _end(text: str, protocol: str, arguments: Collection[str]) -> Iterator[str]:
    """Yield that the end is missing. smartctl prints an empty line behind each part."""
    is_of_all = '-a' in arguments
    last = 'long ATA' if protocol == 'ATA' and '-x' in arguments else protocol
    is_there = re.search(_LAST[last], text, re.MULTILINE | re.IGNORECASE) if is_of_all else None
    is_ended = re.search(r'\n[ \t]*\n[ \t]*\Z', text) or (is_there and protocol != 'NVMe')
    if not is_ended or (is_of_all and not is_there):
        yield 'its end: it was cut off, or smartctl was not asked for all logs'
