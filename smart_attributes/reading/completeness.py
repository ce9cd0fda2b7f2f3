"""Find requested parts that are missing in a report, and values that smartctl would never print.

Pure.

A report may have lost lines in a ticket or on a full disk, or a bridge may have invented an answer.
The rest of such a report is judged, and a note reports each defect, because a defect can only make
a drive look better.

Sources: smartmontools 7.5, ataprint.cpp, scsiprint.cpp and nvmeprint.cpp. smartctl prints each
requested part, or the reason why it cannot. Some parts are printed only if they exist, so their
loss cannot be detected: the "verify" row of the SCSI error counter log (only if a counter is not
0), device statistics, pending defects and self-tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from types import FunctionType

from ..errors import Coded
from ..model import Report
from ..typed import Any, Json, NamedTuple
from ..wording import listed
from . import content
from .content import (
    byte_of,
    integer_of,
    object_of,
    objects_of,
    offset_of,
    word_of,
    words_of,
)

# the one-letter options of smartctl that take no value
_WITHOUT_VALUE = 'hVHcAiaxCXj'
_LONG = {
    '--all': '-a',
    '--xall': '-x',
    '--health': '-H',
    '--attributes': '-A',
    '--info': '-i',
}

ALL = {'-a', '-x'}
TABLE = ALL | {'-A'}
DATA = TABLE | {'-H', '-l', '--log'}
_ERROR_LOGS = ALL | {'error', 'xerror'}
LIKELY = {'-A', '-a'}  # assumed if the arguments of a report are unknown
_ALWAYS: Set[str] = frozenset()

# Entries of `alternatives` for a log: a key of JSON, a line of text, or a mark that the drive does not
# keep this log.
NO_ERROR_LOG = 'no ATA error log'
NO_TEST_LOG = 'no ATA self-test log'
NO_STATISTICS = 'no device statistics'
NO_FARM_LOG = 'no FARM log'
_TEST_LOG = {
    'ata_smart_self_test_log',
    NO_TEST_LOG,
    'smart self-test log not supported',
    'no self-tests have been logged',
    'no self-tests have been logged. [to run self-tests, use',
    'read self-test log failed',
}
_STATISTICS = {
    'ata_device_statistics',
    NO_STATISTICS,
    'device statistics (gp log 0x04)',
    'device statistics (smart log 0x04)',
    'device statistics (gp/smart log 0x04) not supported',
}
_NO_COUNTERS = {
    'error counter logging not supported',
    'device does not support error counter logging',
}

# NVMe values that smartctl also prints outside of the health log
_OUTSIDE_LOG = {'critical_warning', 'warning_temp_threshold', 'critical_temp_threshold'}
_OPTIONAL_NVME = {
    'warning_temp_time',
    'critical_comp_time',
    'warning_temp_threshold',
    'critical_temp_threshold',
}

# Marks of the whole report.
IS_ALL = 'all without a message'  # a text with all data, and without messages on what is missing
IS_TEXT = 'a text'  # any text, in contrast to JSON
_INFORMATION = {'=== start of information section ==='}


class Part(NamedTuple):
    """A part that a report must have."""

    name: str  # as shown in the note
    # each of these arguments requests the part; empty: always printed
    arguments: Set[str]
    holds: Callable[[Report], object]  # whether a report has the part
    # each of these keys, lines or marks is sufficient, too: "no FARM log"
    alternatives: Set[str] = frozenset()
    # If the part is missing, each of these lines or marks shows that the text had it, so it is cut.
    cut_if: Set[str] = frozenset()


def _has_nvme_log(report: Report) -> bool:
    return not _OUTSIDE_LOG.issuperset(report.nvme)


def _nvme_part(key: str) -> Part:
    """Return the part for one value of the NVMe health log.

    The log itself is another part. If a report lacks the whole log, none of its values is missing.
    """
    return Part(
        key,
        TABLE,
        lambda report: key in report.nvme or not _has_nvme_log(report),
        # In text, smartctl prints a row for each value, so any text without the row lost it.
        cut_if={IS_TEXT},
    )


def _counters_part(row: str) -> Part:
    return Part(
        f'row "{row}" of the error counter log',
        _ERROR_LOGS,
        lambda report: f'{row}.total_uncorrected_errors' in report.scsi,
        _NO_COUNTERS,
        cut_if={'error counter log'},
    )


_ANY = (
    Part(
        'the SMART health status',
        _ALWAYS,
        lambda report: report.smart_status is not None,
        cut_if={IS_ALL},
    ),
    Part(
        'the model',
        _ALWAYS,
        lambda report: report.identity.model,
        cut_if=_INFORMATION,
    ),
    Part(
        'the firmware',
        _ALWAYS,
        lambda report: report.identity.firmware or not report.identity.model,
        cut_if=_INFORMATION,
    ),
    Part('the FARM log', {'farm'}, lambda report: report.farm, {NO_FARM_LOG}),
    Part(
        'whether SMART is enabled',
        ALL | {'-i'},
        # Before 7.3, smartctl's JSON has no "smart_support".
        lambda report: report.version < (7, 3),
        {'smart_support', IS_TEXT},
    ),
)

PARTS = {
    'ATA': (
        *_ANY,
        Part('the attribute table', TABLE, lambda report: report.attributes),
        Part(
            'the thresholds of the attributes',
            TABLE,
            lambda report: (
                not report.attributes
                or any(row.threshold is not None for row in report.attributes)
            ),
        ),
        Part(
            'the rotation rate, so the drive counts as a hard disk only if its database entry is for '
            'hard disks',
            _ALWAYS,
            lambda report: (
                report.identity.rotation is not None
                or report.identity.spins
                or not report.attributes
            ),
        ),
        Part(
            'the error log',
            _ERROR_LOGS,
            lambda report: report.error_count is not None,
            {NO_ERROR_LOG},
        ),
        Part(
            'the self-test log',
            ALL | {'selftest', 'xselftest'},
            lambda report: report.self_tests,
            _TEST_LOG,
        ),
        Part(
            'the device statistics',
            {'-x'},
            lambda report: report.statistics,
            _STATISTICS,
        ),
    ),
    'SCSI': (
        *_ANY,
        Part('the temperature', TABLE, lambda report: 'temperature' in report.scsi),
        Part(
            'the grown defect list',
            TABLE,
            lambda report: 'grown_defects' in report.scsi,
        ),
        _counters_part('read'),
        _counters_part('write'),
        Part(
            'the background scan',
            {'background'},
            lambda report: (
                report.version < (7, 3)
                or report.has_exit_bit(4)
                or 'background_status' in report.scsi
            ),
        ),
        Part(
            'the used endurance',
            ALL | {'ssd'},
            lambda report: (
                report.identity.rotation != 0 or 'percentage_used' in report.scsi
            ),
        ),
    ),
    'NVMe': (
        *_ANY,
        Part('the SMART/Health Information log', TABLE, _has_nvme_log),
        *(_nvme_part(key) for key in content.NVME_KEYS if key not in _OPTIONAL_NVME),
    ),
}
"""The parts that a report must have, by protocol; _ANY are those of a report that names no protocol."""


def missing(
    report: Report, arguments: Set[str], present: Set[str]
) -> tuple[list[str], list[str]]:
    """Return the names of the parts that are absent from a report, and the names of the parts that
    are cut: the text shows that it had them. Both lists begin with the worst.

    arguments: of smartctl, as returned by arguments_of(). present: keys of a JSON report, or lines
    of a text report, and marks such as NO_ERROR_LOG and IS_TEXT.
    """
    lost = []
    cut = []
    for part in PARTS.get(report.identity.protocol, _ANY):
        is_requested = not part.arguments or part.arguments & arguments
        if not is_requested or part.holds(report) or part.alternatives & present:
            continue
        if part.cut_if & present:
            cut.append(part.name)
        else:
            lost.append(part.name)
    return lost, cut


def arguments_of(command: Iterable[str]) -> frozenset[str]:
    """Return the options and values of a smartctl command, separated: "-iHA" is -i, -H and -A,
    "--log=a,7" is --log, a and 7, "-dsat,12" is -d, sat and 12. Other words are returned, too.
    """
    arguments = set()
    for word in command:
        if word.startswith('--'):
            name, _, value = word.partition('=')
            arguments.add(_LONG.get(name, name))
        elif word.startswith('-'):
            options, value = _short_options(word)
            arguments.update(options)
        else:
            value = word
        arguments.update(value.split(','))
    return frozenset(arguments - {''})


def _short_options(word: str) -> tuple[list[str], str]:
    """Return the options in a word, and the value of the last one: "-Hdsat" -> ["-H", "-d"], "sat";
    '' if it has no value.
    """
    letters = word[1:]  # without the hyphen
    options = []
    for place, letter in enumerate(letters):
        options.append(f'-{letter}')
        if letter not in _WITHOUT_VALUE:
            return options, letters[place + 1 :]
    return options, ''


UNREAD = 'rows-unread'  # code of the sentence on rows that may hold an alert


# In a shape, this key lists the keys that are required; other keys may be absent. For what a key has
# in a shape, see _unfit().
_NEEDED = '!'


def _all_of(**shape: object) -> dict[str, object]:
    """Return the shape of an object that must have all these keys."""
    return {_NEEDED: tuple(shape), **shape}


_STRING = _all_of(string=str)
_TESTS = {
    'count': integer_of,
    'table': [_all_of(type=_STRING, status=_STRING, lifetime_hours=integer_of)],
}
_ERRORS = {
    **_all_of(count=integer_of),
    'table': [
        {
            **_all_of(error_number=integer_of, lifetime_hours=integer_of),
            'error_description': str,
            'completion_registers': {'error': byte_of},
        }
    ],
}
_ROW = {
    **_all_of(
        id=byte_of,
        name=str,
        raw={**_all_of(string=str), 'value': word_of},
        flags=_all_of(prefailure=bool),
    ),
    'value': byte_of,
    'worst': byte_of,
    'thresh': byte_of,
    'when_failed': str,
}
_STATISTIC = {
    **_all_of(offset=offset_of, flags={'valid': bool, 'normalized': bool}),
    'value': integer_of,
    'name': str,
}
_COUNTERS = _all_of(**content.ERROR_COUNTERS)


def _nested(
    paths: Iterable[str], check: Callable[[Json, str], object]
) -> dict[str, Any]:
    """Return the shape of a document with values at these paths: "temperature.current" ->
    {"temperature": {"current": check}}.

    check: returns None for a bad value; _unfit() calls it with an object and a key.
    """
    shape: dict[str, Any] = {}
    for path in paths:
        *parents, key = path.split('.')
        inner = shape
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[key] = check
    return shape


_SHAPE: Json = {
    **_all_of(device=_all_of(protocol=str), smartctl=_all_of(argv=words_of)),
    **dict.fromkeys(
        ('model_name', 'scsi_model_name', 'firmware_version', 'serial_number'), str
    ),
    **dict.fromkeys(
        ('rotation_rate', 'logical_block_size', 'physical_block_size'), integer_of
    ),
    **_nested(
        (path for paths in content.SCSI_NUMBERS.values() for path in paths), integer_of
    ),
    'user_capacity': {'bytes': integer_of},
    'smart_support': _all_of(available=bool, enabled=bool),
    'smart_status': {**_all_of(passed=bool), 'scsi': {'ie_string': str}},
    'ata_smart_attributes': _all_of(table=[_ROW]),
    'ata_device_statistics': _all_of(
        pages=[{**_all_of(number=byte_of), 'table': [_STATISTIC]}]
    ),
    'ata_pending_defects_log': {'count': integer_of},
    'ata_smart_error_log': {'extended': _ERRORS, 'summary': _ERRORS},
    'ata_smart_self_test_log': {'extended': _TESTS, 'standard': _TESTS},
    'ata_smart_data': {
        'self_test': {'status': {'value': byte_of}},
        'capabilities': {
            'error_logging_supported': bool,
            'self_tests_supported': bool,
        },
    },
    'ata_log_directory': {'table': [{'address': byte_of}]},
    'nvme_smart_health_information_log': dict.fromkeys(content.NVME_KEYS, integer_of),
    'nvme_composite_temperature_threshold': {
        'warning': integer_of,
        'critical': integer_of,
    },
    'nvme_self_test_log': {
        'table': [
            {
                **_all_of(self_test_code=_STRING, self_test_result=_STRING),
                'power_on_hours': integer_of,
            }
        ]
    },
    'scsi_error_counter_log': {
        **_all_of(read=_COUNTERS, write=_COUNTERS),
        'verify': _COUNTERS,
    },
    **{
        f'scsi_self_test_{number}': _all_of(code=_STRING, result=_STRING)
        for number in range(20)
    },
    'spare_available': {'current_percent': integer_of},
}
# Places in the tables of the drive's health, where damage may hide an alert. Not among them: the
# columns of a threshold, which smartctl omits if the drive has none, temperatures, and the directory
# of the logs.
_IN_TABLES = r'smart_status|(?:ata|nvme|scsi)_(?!.*\.(?:thresh|when_failed)$)(?!.*temperature|log_directory)'
_OF_THRESHOLD = {'thresh', 'when_failed'}
_COLUMNS = _OF_THRESHOLD | {'value', 'worst'}


def of_json(data: Json, report: Report, arguments: Set[str]) -> tuple[Coded, ...]:
    """Return up to three sentences: on damaged tables, on other damaged data, and on requested data
    that is missing; () if the report is whole.

    arguments: of smartctl, as returned by arguments_of().
    """
    lost, _ = missing(report, arguments, _present(data))
    unread = []
    damaged = []
    for place in _unfit(data, _shape_of(data), ''):
        if re.match(_IN_TABLES, place):
            unread.append(place)
        else:
            damaged.append(place)
    return sentences(unread=unread, damaged=damaged, lost=lost)


def _shape_of(data: Json) -> Json:
    """Return the shape of a report; it includes the shape of a FARM log only if the report has
    such a log.
    """
    if content.FARM_LOG not in data:
        return _SHAPE
    from . import farm

    log = {**_all_of(supported=bool), **_nested(farm.paths(), farm.count_of)}
    return {**_SHAPE, content.FARM_LOG: log}


def sentences(
    *, unread: Sequence[str], damaged: Sequence[str], lost: Sequence[str]
) -> tuple[Coded, ...]:
    """Return up to three sentences: on parts of tables that cannot be read, on other damaged data, and
    on missing data. Each names the first five places.
    """
    return tuple(
        Coded(code, f'{begin}: {listed(places, 5)}')
        for code, begin, places in (
            (UNREAD, 'damaged in the report', unread),
            ('values-damaged', 'damaged in the report', damaged),
            ('values-missing', 'not in the report', lost),
        )
        if places
    )


def _unfit(data: Json, shape: Json, where: str) -> Iterator[str]:
    """Yield the places of bad values, such as "ata_smart_attributes.table.4.value".

    shape: for each key, a type, a function that returns None for a bad value, the shape of an
    object, or [shape] of the items of a table. where: the place of *data*, with a dot at its end.
    """
    for key in shape.get(_NEEDED, ()):
        if key not in data:
            yield where + key
    for key, value in data.items():
        form = shape.get(key)
        if form is None or type(value) is form:
            continue
        if type(form) is FunctionType:
            if form(data, key) is None:
                yield where + key
        elif type(form) is dict and isinstance(value, dict):
            yield from _unfit(value, form, f'{where}{key}.')
        elif type(form) is list and isinstance(value, list):
            yield from _unfit_items(value, form[0], where + key)
        else:
            yield where + key


def _unfit_items(items: list[Any], shape: Json, where: str) -> Iterator[str]:
    """Yield the places of bad values in a table.

    A column that one row of the attribute table has must be in all of its rows.
    """
    columns = set()
    if shape is _ROW:
        for item in items:
            if isinstance(item, dict):
                columns |= _COLUMNS.intersection(item)
    for number, item in enumerate(items):
        place = f'{where}.{number}'
        if not isinstance(item, dict):
            yield place
            continue
        yield from _unfit(item, shape, f'{place}.')
        lacking = columns.difference(item)
        # smartctl omits both columns of the threshold for a row without one
        if _OF_THRESHOLD.issubset(lacking):
            lacking -= _OF_THRESHOLD
        for key in sorted(lacking):
            yield f'{place}.{key}'


def _present(data: Json) -> set[str]:
    """Return a report's keys, and a mark such as NO_ERROR_LOG for each log that the drive does not
    support.
    """
    present = set(data)
    capabilities = object_of(data, 'ata_smart_data', 'capabilities')
    if capabilities.get('error_logging_supported') is False:
        present.add(NO_ERROR_LOG)
    if capabilities.get('self_tests_supported') is False:
        present.add(NO_TEST_LOG)
    logs = objects_of(data, 'ata_log_directory', 'table')
    # The address of the device statistics is 4. Source: ACS-4, table A.2
    if logs and all(log.get('address') != 4 for log in logs):
        present.add(NO_STATISTICS)
    if object_of(data, content.FARM_LOG).get('supported') is False:
        present.add(NO_FARM_LOG)
    return present
