"""Gaps: what a report should hold and does not, or holds as nothing that smartctl prints. Pure.

A ticket may have lost lines, a disk have been full, a bridge have made something up. What is left is judged; what is
missing is a note, since a drive may only look better for it.
"""
from __future__ import annotations

from ..coded import Coded
from ..typed import TYPE_CHECKING, Json, NamedTuple
from .json_values import BYTES, SAFE, byte_of, fraction_of, integer_of, object_of, objects_of, word_of
from .report_common import ERROR_COUNTERS, NVME_KEYS
from .report_sections import ALL, NO_ERROR_LOG, NO_STATISTICS, NO_TEST_LOG, missing

if TYPE_CHECKING:
    from typing import Any, Callable, Collection, Iterator, List, Mapping, Optional, Sequence, Tuple

    from ..model import Report

_SHOWN = 5                # of the places that are damaged
_TELLS_SUPPORT = (7, 3)   # of smartctl, the first to print it as JSON
_INFO = ALL | {'-i'}
_STATISTICS_PAGES = range(1, 8)  # a page of a vendor may be empty. Source: ACS-4, 9.5
_STATISTICS_LOG = 4       # its address in the log directory. Source: ACS-4, table A.2


class _Number(NamedTuple):
    """What a number must be."""

    surely: range                                 # whole numbers that need no second look
    read: Callable[[Json, str], Optional[float]]  # None where the value is nothing that smartctl prints


_BYTE, _INTEGER, _WORD = _Number(BYTES, byte_of), _Number(SAFE, integer_of), _Number(range(SAFE.stop), word_of)
_FRACTION = _Number(range(0), fraction_of)

# A type is what a value must be, and a list of one shape a list of such objects. What must be there stands behind
# _NEEDED; of a value that need not be there, only a wrong one is a gap.
_NEEDED = '!'
_STRING: Mapping[str, Any] = {_NEEDED: ('string',), 'string': str}
_TEST: Mapping[str, Any] = {_NEEDED: ('type', 'status', 'lifetime_hours'), 'type': _STRING, 'status': _STRING,
                            'lifetime_hours': _INTEGER}
_ERRORS: Mapping[str, Any] = {_NEEDED: ('count',), 'count': _INTEGER, 'table': [{
    _NEEDED: ('error_number', 'lifetime_hours'), 'error_number': _INTEGER, 'lifetime_hours': _INTEGER,
    'error_description': str, 'completion_registers': {'error': _BYTE}}]}
_ROW: Mapping[str, Any] = {
    _NEEDED: ('id', 'name', 'raw', 'flags'), 'id': _BYTE, 'name': str, 'value': _BYTE, 'worst': _BYTE,
    'thresh': _BYTE, 'when_failed': str, 'flags': {_NEEDED: ('prefailure',), 'prefailure': bool},
    'raw': {_NEEDED: ('string',), 'string': str, 'value': _WORD}}
_STATISTIC: Mapping[str, Any] = {
    _NEEDED: ('offset', 'flags'), 'offset': _INTEGER, 'value': _INTEGER, 'name': str,
    'flags': {'valid': bool, 'normalized': bool}}
_COUNTERS: Mapping[str, Any] = {_NEEDED: ERROR_COUNTERS, **{
    name: _FRACTION if name == 'gigabytes_processed' else _INTEGER for name in ERROR_COUNTERS}}
_PERCENT: Mapping[str, Any] = {'current_percent': _INTEGER}
_CYCLES = ('accumulated_start_stop_cycles', 'specified_cycle_count_over_device_lifetime',
           'accumulated_load_unload_cycles', 'specified_load_unload_count_over_device_lifetime')
_SHAPE: Mapping[str, Any] = {
    _NEEDED: ('device', 'smartctl'),
    'smartctl': {_NEEDED: ('argv',), 'argv': list}, 'device': {_NEEDED: ('protocol',), 'protocol': str},
    'model_name': str, 'scsi_model_name': str, 'firmware_version': str, 'serial_number': str,
    'rotation_rate': _INTEGER, 'logical_block_size': _INTEGER, 'physical_block_size': _INTEGER,
    'user_capacity': {'bytes': _INTEGER},
    'smart_support': {_NEEDED: ('available', 'enabled'), 'available': bool, 'enabled': bool},
    'smart_status': {_NEEDED: ('passed',), 'passed': bool, 'scsi': {'ie_string': str}},
    'ata_smart_attributes': {_NEEDED: ('table',), 'table': [_ROW]},
    'ata_device_statistics': {_NEEDED: ('pages',), 'pages': [
        {_NEEDED: ('number',), 'number': _BYTE, 'table': [_STATISTIC]}]},
    'ata_pending_defects_log': {'count': _INTEGER},
    'ata_smart_error_log': {'extended': _ERRORS, 'summary': _ERRORS},
    'ata_smart_self_test_log': {'extended': {'count': _INTEGER, 'table': [_TEST]},
                                'standard': {'count': _INTEGER, 'table': [_TEST]}},
    'ata_smart_data': {'self_test': {'status': {'value': _BYTE}},
                       'capabilities': {NO_ERROR_LOG: bool, NO_TEST_LOG: bool}},
    'ata_log_directory': {'table': [{'address': _BYTE}]},
    'nvme_smart_health_information_log': dict.fromkeys(NVME_KEYS, _INTEGER),
    'nvme_composite_temperature_threshold': {'warning': _INTEGER, 'critical': _INTEGER},
    'nvme_self_test_log': {'table': [{
        _NEEDED: ('self_test_code', 'self_test_result'), 'self_test_code': _STRING, 'self_test_result': _STRING,
        'power_on_hours': _INTEGER}]},
    'scsi_grown_defect_list': _INTEGER, 'scsi_percentage_used_endurance_indicator': _INTEGER,
    'scsi_pending_defects': {'count': _INTEGER}, 'temperature': {'current': _INTEGER, 'drive_trip': _INTEGER},
    'scsi_start_stop_cycle_counter': dict.fromkeys(_CYCLES, _INTEGER), 'power_on_time': {'hours': _INTEGER},
    'scsi_error_counter_log': {_NEEDED: ('read', 'write'), **dict.fromkeys(('read', 'write', 'verify'), _COUNTERS)},
    **{f'scsi_self_test_{number}': {_NEEDED: ('code', 'result'), 'code': _STRING, 'result': _STRING}
       for number in range(20)},
    'endurance_used': _PERCENT, 'spare_available': _PERCENT}


_COLUMNS = frozenset(('value', 'worst', 'thresh', 'when_failed'))


def of_json(data: Json, report: Report, arguments: Collection[str]) -> Tuple[Coded, ...]:
    """Return a sentence for what is damaged, and one for what is missing of all that smartctl was asked for.

    arguments: of smartctl, as `parts.asked` returns them.
    """
    lacking = [*missing(report, arguments, _places(data)), *_lost_support(data, report, arguments), *_lost_rows(data)]
    return tuple(told(_unfit(data, _SHAPE, '', []), lacking))


def told(damaged: Sequence[str], lacking: Sequence[str]) -> Iterator[Coded]:
    """Yield a sentence for what is damaged and one for what is missing."""
    for code, begin, what in (('values-damaged', 'damaged in the report: ', damaged),
                              ('values-missing', 'not in the report: ', lacking)):
        rest = f' and {len(what) - _SHOWN} more' if len(what) > _SHOWN else ''
        if what:
            yield Coded(code, begin + ', '.join(what[:_SHOWN]) + rest)


# --- JSON ------------------------------------------------------------------------------

def _unfit(data: Json, shape: Mapping[str, Any], where: str, places: List[str]) -> List[str]:
    """Return *places*, with those of values that are missing or wrong: "ata_smart_attributes.table.4.value"."""
    # Each value of each report comes by here: those that are plainly right leave first, and nothing is handed upwards.
    places += [where + key for key in shape.get(_NEEDED, ()) if key not in data]
    for key, value in data.items():
        fits = shape.get(key)
        if fits is None or type(value) is fits or (type(value) is int and type(fits) is _Number
                                                   and value in fits.surely):
            continue
        if type(fits) is dict and isinstance(value, dict):
            _unfit(value, fits, f'{where}{key}.', places)
        elif type(fits) is list and isinstance(value, list):
            _unfit_items(value, fits[0], where + key, places)
        elif type(fits) is not _Number or fits.read(data, key) is None:
            places.append(where + key)
    return places


def _unfit_items(items: List[Any], shape: Mapping[str, Any], where: str, places: List[str]) -> None:
    """Add the same of a table. Whatever one row of the attributes tells, all do."""
    if _all_fit(items, shape):  # most of a report is tables
        return
    rows = [item for item in items if isinstance(item, dict)] if shape is _ROW else []
    columns = {key for item in rows for key in item if key in _COLUMNS}
    for number, item in enumerate(items):
        if isinstance(item, dict):
            _unfit(item, shape, f'{where}.{number}.', places)
            places += [f'{where}.{number}.{key}' for key in sorted(columns.difference(item))]
        else:
            places.append(f'{where}.{number}')


def _all_fit(values: List[Any], fits: Any) -> bool:
    """Tell at a glance whether all of these surely are what they must be, as nearly always."""
    kinds = set(map(type, values))
    if type(fits) is _Number:
        return kinds == {int} and min(values) in fits.surely and max(values) in fits.surely
    if type(fits) is dict:
        return kinds == {dict} and _all_rows_fit(values, fits)
    if type(fits) is list:
        return kinds == {list} and all(_all_fit(items, fits[0]) for items in values if items)
    return kinds == {fits}


def _all_rows_fit(rows: List[Json], shape: Mapping[str, Any]) -> bool:
    """Tell the same of objects, column by column, which is faster than row by row."""
    needed = shape.get(_NEEDED, ())
    for key, fits in shape.items():
        values = [row[key] for row in rows if key in row]
        if len(values) < len(rows) and (key in needed or (values and key in _COLUMNS and shape is _ROW)):
            return False
        if values and key != _NEEDED and not _all_fit(values, fits):
            return False
    return True


def _places(data: Json) -> Collection[str]:
    """Return the keys of a report, and marks for the logs that it says the drive does not keep."""
    capabilities = object_of(object_of(data, 'ata_smart_data'), 'capabilities')
    refused = [key for key in (NO_ERROR_LOG, NO_TEST_LOG) if capabilities.get(key) is False]
    logs = [log.get('address') for log in objects_of(object_of(data, 'ata_log_directory'), 'table')]
    if logs and _STATISTICS_LOG not in logs:
        refused.append(NO_STATISTICS)
    return {*data, *refused} if refused else data


def _lost_support(data: Json, report: Report, arguments: Collection[str]) -> Iterator[str]:
    """Yield that nothing shows whether SMART is enabled. smartctl prints it for a drive of any kind."""
    if report.version >= _TELLS_SUPPORT and 'smart_support' not in data and not _INFO.isdisjoint(arguments):
        yield 'whether SMART is enabled'


def _lost_rows(data: Json) -> Iterator[str]:
    """Yield the self-tests that are counted and not listed, and the statistics of pages that have some."""
    log = object_of(data, 'ata_smart_self_test_log')
    for name in ('extended', 'standard'):
        part = object_of(log, name)
        if len(objects_of(part, 'table')) < (integer_of(part, 'count') or 0):
            yield f'some of the {name} self-test log'
    yield from (f'page {number} of the device statistics' for page in objects_of(
        object_of(data, 'ata_device_statistics'), 'pages') for number in [byte_of(page, 'number')]
        if number in _STATISTICS_PAGES and 'table' not in page)
    numbers = [number for number in range(20) if f'scsi_self_test_{number}' in data]
    if numbers and len(numbers) <= numbers[-1]:
        yield 'some of the self-test log'
