"""The table of the parts that a report must have, and the smartctl arguments that request them. Pure.

Sources: smartmontools 7.5, ataprint.cpp, scsiprint.cpp and nvmeprint.cpp: smartctl prints each of these parts, or the
reason that it cannot. It prints the "verify" row of the SCSI error counter log only if a counter is not 0, and device
statistics, pending defects and self-tests only if a drive has them, so a report never shows that these were lost.
"""
from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple
from .report_common import NVME_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ..model import Report

_WITHOUT_VALUE = 'hVHcAiaxCXj'  # smartctl's options of one letter that take no value
_LONG = {'--all': '-a', '--xall': '-x', '--health': '-H', '--attributes': '-A', '--info': '-i'}

ALL = frozenset(('-a', '-x'))
TABLE = ALL | {'-A'}
DATA = TABLE | {'-H', '-l', '--log'}
_ERRORS, _TESTS, _WEAR = ALL | {'error', 'xerror'}, ALL | {'selftest', 'xselftest'}, ALL | {'ssd'}
LIKELY = frozenset(('-A', '-a'))   # the arguments of a report of which none are known
_ALWAYS: frozenset[str] = frozenset()

# Entries of `places` for a printed log: a key of JSON, a line of text, or a mark that the drive does not keep it.
NO_ERROR_LOG, NO_TEST_LOG, NO_STATISTICS = 'error_logging_supported', 'self_tests_supported', 'no device statistics'
NO_FARM_LOG = 'no FARM log'
_TEST_LOG = frozenset((
    'ata_smart_self_test_log', NO_TEST_LOG, 'smart self-test log not supported', 'no self-tests have been logged',
    'no self-tests have been logged. [to run self-tests, use', 'read self-test log failed'))
_STATISTICS = frozenset((
    'ata_device_statistics', NO_STATISTICS, 'device statistics (gp log 0x04)', 'device statistics (smart log 0x04)',
    'device statistics (gp/smart log 0x04) not supported'))
_NO_COUNTERS = frozenset(('error counter logging not supported', 'device does not support error counter logging'))

_LIMITS = frozenset(('critical_warning', 'warning_temp_threshold', 'critical_temp_threshold'))  # not only in the log
_OPTIONAL_NVME = frozenset(('warning_temp_time', 'critical_comp_time', *_LIMITS)) - {'critical_warning'}

# kind -> (attribute, others that never come without it). Of 18,433 hard disks and 14,403 solid state drives of
# linuxhw/EnterpriseDrive that have the others, one lacks the attribute: a hard disk with 4 but without 198.
_COMPANIONS: Mapping[str, Sequence[tuple[int, set[int]]]] = {
    'hdd': ((5, {1}), (5, {3}), (10, {7}), (197, {4, 191}), (197, {4, 22}), (197, {4, 200}), (197, {187}), (198, {4})),
    'ssd': ((5, {183}), (5, {184}), (5, {190}), (5, {197}))}


class Part(NamedTuple):
    """A part that a report must have."""

    name: str                          # as shown in the note
    arguments: frozenset[str]          # any of these arguments requests it; empty: always printed
    holds: Callable[[Report], object]  # whether a report has it
    places: frozenset[str] = _ALWAYS   # any of these keys or lines of a report is sufficient as well


def _is_error_log_whole(report: Report) -> bool:
    """Return whether errors are listed without gaps, starting with the newest."""
    numbers, newest = [entry.number for entry in report.errors], report.error_count or 0
    return not newest or numbers == list(range(newest, newest - max(len(numbers), 1), -1))


def _has_nvme_log(report: Report) -> bool:
    return not _LIMITS.issuperset(report.nvme)


def _nvme(key: str) -> Part:
    return Part(key, TABLE, lambda report: key in report.nvme or not _has_nvme_log(report))


def _counters(row: str) -> Part:
    return Part(f'row "{row}" of the error counter log', _ERRORS,
                lambda report: f'{row}.total_uncorrected_errors' in report.scsi, _NO_COUNTERS)


_ANY: Sequence[Part] = (
    Part('the SMART health status', _ALWAYS, lambda report: report.smart_status is not None),
    Part('the model', _ALWAYS, lambda report: report.identity.model),
    Part('the firmware', _ALWAYS, lambda report: report.identity.firmware or not report.identity.model),
    Part('failed self-tests, which the exit status of smartctl reports', _TESTS,
         lambda report: not report.has_exit_bit(0x80) or any(test.passed is False for test in report.self_tests)),
    Part('the FARM log', frozenset(('farm',)), lambda report: report.farm, frozenset((NO_FARM_LOG,))))

PARTS: Mapping[str, Sequence[Part]] = {'': _ANY, 'ATA': (
    *_ANY,
    Part('the attribute table', TABLE, lambda report: report.attributes),
    Part('the thresholds of the attributes', TABLE,
         lambda report: not report.attributes or any(row.threshold is not None for row in report.attributes)),
    Part('attributes at their threshold, which the exit status of smartctl reports', TABLE,
         lambda report: not report.has_exit_bit(0x30) or any(row.when_failed for row in report.attributes)),
    Part('the rotation rate, so the drive is treated as a solid state drive', _ALWAYS,
         lambda report: report.identity.rotation is not None or report.identity.spins or not report.attributes),
    Part('the error log', _ERRORS, lambda report: report.error_count is not None, frozenset((NO_ERROR_LOG,))),
    Part('errors in the error log, which the exit status of smartctl reports', _ERRORS,
         lambda report: not report.has_exit_bit(0x40) or report.error_count != 0),
    Part('some of the error log', _ALWAYS, _is_error_log_whole),
    Part('the self-test log', _TESTS, lambda report: report.self_tests, _TEST_LOG),
    Part('the device statistics', frozenset(('-x',)), lambda report: report.statistics, _STATISTICS),
), 'SCSI': (
    *_ANY,
    Part('the temperature', TABLE, lambda report: 'temperature' in report.scsi),
    Part('the grown defect list', TABLE, lambda report: 'grown_defects' in report.scsi),
    _counters('read'), _counters('write'),
    Part('the power-on time, which the FARM log is compared with', frozenset(('farm',)),
         lambda report: not report.farm or 'power_on_hours' in report.scsi),
    Part('the used endurance', _WEAR,
         lambda report: report.identity.rotation != 0 or 'percentage_used' in report.scsi),
), 'NVMe': (
    *_ANY,
    Part('the SMART/Health Information log', TABLE, _has_nvme_log),
    *(_nvme(key) for key in NVME_KEYS if key not in _OPTIONAL_NVME))}
"""By protocol, what a report always has. A drive whose protocol is not in the report has the first ones."""


def missing(report: Report, arguments: Collection[str], places: Collection[str]) -> list[str]:
    """Return the names of parts missing in a report, worst first, and of lost rows of the attribute table.

    arguments: of smartctl, as `arguments_of` returns them. places: the keys of a JSON report, or the lines of a text.
    """
    parts = [part.name for part in PARTS.get(report.identity.protocol, _ANY) if not part.holds(report)
             and not (part.arguments and part.arguments.isdisjoint(arguments)) and part.places.isdisjoint(places)]
    numbers = {row.id for row in report.attributes}
    rows = dict.fromkeys(f'attribute {attribute}' for attribute, others in _COMPANIONS.get(report.identity.kind, ())
                         if attribute not in numbers and others <= numbers)
    return [*parts, *rows]


def arguments_of(command: Iterable[str]) -> frozenset[str]:
    """Return the separate arguments of smartctl's command line: "-iHA" as -i, -H and -A, "--log=error,7" as error."""
    arguments: list[str] = []
    for word in command:
        rest = word
        if word.startswith('--'):
            name, _, rest = word.partition('=')
            arguments.append(_LONG.get(name, name))
        elif word.startswith('-'):
            behind = word[1:].lstrip(_WITHOUT_VALUE)
            arguments += ['-' + letter for letter in word[1:len(word) - len(behind)] + behind[:1]]
            rest = behind[1:]
        arguments += rest.split(',')
    return frozenset(arguments)
