"""Gaps: what a report should hold and does not, or holds as nothing that smartctl prints. Pure.

A ticket may have lost lines, a disk have been full, a bridge have made something up. What is left is judged; what is
missing is a note, since a drive may only look better for it.
"""
from __future__ import annotations

from ..typed import TYPE_CHECKING
from .json_values import byte_of, fraction_of, integer_of, list_of, object_of, objects_of, word_of
from .telling import ERROR_COUNTERS, NVME_KEYS

if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence, Tuple

    from ..model import Report
    from .json_values import Json

    Fits = Callable[[Json, str], Any]     # None where the value is nothing that smartctl prints

_SHOWN = 5                # of the places that are damaged
_OPTIONAL_NVME = frozenset(('warning_temp_time', 'critical_comp_time', 'warning_temp_threshold',
                            'critical_temp_threshold'))
_TELLS_SUPPORT = (7, 3)   # of smartctl, the first to print it as JSON
_EXTENDED = frozenset(('-x', '--xall'))
_ALL = _EXTENDED | {'-a', '--all'}


def _text(data: Json, key: str) -> Optional[str]:
    value = data.get(key)
    return value if isinstance(value, str) else None


def _truth(data: Json, key: str) -> Optional[bool]:
    value = data.get(key)
    return value if isinstance(value, bool) else None


# A list of one shape is a list of such objects. What must be there stands behind _NEEDED; of a value that need not be
# there, only a wrong one is a gap.
_NEEDED = '!'
_TEST: Mapping[str, Any] = {_NEEDED: ('status', 'lifetime_hours'), 'lifetime_hours': integer_of,
                            'status': {_NEEDED: ('string',), 'string': _text}, 'type': {'string': _text}}
_ERRORS: Mapping[str, Any] = {_NEEDED: ('count',), 'count': integer_of, 'table': [{
    _NEEDED: ('error_number', 'lifetime_hours'), 'error_number': integer_of, 'lifetime_hours': integer_of,
    'error_description': _text, 'completion_registers': {'error': byte_of}}]}
_ROW: Mapping[str, Any] = {
    _NEEDED: ('id', 'name', 'raw', 'flags'), 'id': byte_of, 'name': _text, 'value': byte_of, 'worst': byte_of,
    'thresh': byte_of, 'when_failed': _text, 'flags': {_NEEDED: ('prefailure',), 'prefailure': _truth},
    'raw': {_NEEDED: ('string',), 'string': _text, 'value': word_of}}
_STATISTIC: Mapping[str, Any] = {
    _NEEDED: ('offset', 'flags'), 'offset': integer_of, 'value': integer_of, 'name': _text,
    'flags': {'valid': _truth, 'normalized': _truth}}
_COUNTERS: Mapping[str, Any] = {_NEEDED: ERROR_COUNTERS, **{
    name: fraction_of if name == 'gigabytes_processed' else integer_of for name in ERROR_COUNTERS}}
_PERCENT: Mapping[str, Any] = {'current_percent': integer_of}
_CYCLES = ('accumulated_start_stop_cycles', 'specified_cycle_count_over_device_lifetime',
           'accumulated_load_unload_cycles', 'specified_load_unload_count_over_device_lifetime')
_SHAPE: Mapping[str, Any] = {
    _NEEDED: ('device', 'smartctl'),
    'smartctl': {_NEEDED: ('argv',), 'argv': list_of}, 'device': {_NEEDED: ('protocol',), 'protocol': _text},
    'model_name': _text, 'scsi_model_name': _text, 'firmware_version': _text, 'serial_number': _text,
    'rotation_rate': integer_of, 'logical_block_size': integer_of, 'physical_block_size': integer_of,
    'user_capacity': {'bytes': integer_of},
    'smart_support': {_NEEDED: ('available', 'enabled'), 'available': _truth, 'enabled': _truth},
    'smart_status': {_NEEDED: ('passed',), 'passed': _truth, 'scsi': {'ie_string': _text}},
    'ata_smart_attributes': {_NEEDED: ('table',), 'table': [_ROW]},
    'ata_device_statistics': {_NEEDED: ('pages',), 'pages': [
        {_NEEDED: ('number',), 'number': byte_of, 'table': [_STATISTIC]}]},
    'ata_pending_defects_log': {'count': integer_of},
    'ata_smart_error_log': {'extended': _ERRORS, 'summary': _ERRORS},
    'ata_smart_self_test_log': {'extended': {'count': integer_of, 'table': [_TEST]},
                                'standard': {'count': integer_of, 'table': [_TEST]}},
    'ata_smart_data': {'self_test': {'status': {'value': byte_of}}},
    'nvme_smart_health_information_log': dict.fromkeys(NVME_KEYS, integer_of),
    'nvme_composite_temperature_threshold': {'warning': integer_of, 'critical': integer_of},
    'nvme_self_test_log': {'table': [{'self_test_code': {'string': _text}, 'power_on_hours': integer_of,
                                      'self_test_result': {_NEEDED: ('string',), 'string': _text}}]},
    'scsi_grown_defect_list': integer_of, 'scsi_percentage_used_endurance_indicator': integer_of,
    'scsi_pending_defects': {'count': integer_of}, 'temperature': {'current': integer_of, 'drive_trip': integer_of},
    'scsi_start_stop_cycle_counter': dict.fromkeys(_CYCLES, integer_of), 'power_on_time': {'hours': integer_of},
    'scsi_error_counter_log': {_NEEDED: ('read', 'write'), **dict.fromkeys(('read', 'write', 'verify'), _COUNTERS)},
    **{f'scsi_self_test_{number}': {_NEEDED: ('result',), 'result': {_NEEDED: ('string',), 'string': _text}}
       for number in range(20)},
    'endurance_used': _PERCENT, 'spare_available': _PERCENT}


_COLUMNS = frozenset(('value', 'worst', 'thresh', 'when_failed'))


def of_json(data: Json, report: Report) -> Tuple[str, ...]:
    """Return a sentence for what is damaged, and one for what is missing of all that smartctl was asked for."""
    arguments = [word for word in list_of(object_of(data, 'smartctl'), 'argv') if isinstance(word, str)]
    lacking = [*missing(report, not _ALL.isdisjoint(arguments)), *_lost_logs(data, report, arguments),
               *_lost_rows(data)]
    return tuple(told(list(_unfit(data, _SHAPE, '')), lacking))


def told(damaged: Sequence[str], lacking: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for what is damaged and one for what is missing."""
    for begin, what in (('damaged in the report: ', damaged), ('not in the report: ', lacking)):
        rest = f' and {len(what) - _SHOWN} more' if len(what) > _SHOWN else ''
        if what:
            yield begin + ', '.join(what[:_SHOWN]) + rest


def missing(report: Report, is_of_all: bool) -> List[str]:
    """Return what is missing of what every report tells, and of what one tells that was to tell all."""
    identity = report.identity
    found = ['the model'] if not identity.model else [] if identity.firmware else ['the firmware']
    if identity.protocol == 'ATA' and identity.rotation is None and not identity.spins and report.attributes:
        found.append('the rotation rate, so the drive is taken for a solid state drive')
    if report.error_count and not _is_whole([entry.number for entry in report.errors], report.error_count):
        found.append('some of the error log')
    if identity.protocol == 'NVMe':
        return [*found, *(key for key in NVME_KEYS if key not in {*report.nvme, *_OPTIONAL_NVME})]
    return [*found, *(_missing_of_all(report) if is_of_all else ())]


def _is_whole(numbers: Sequence[int], newest: int) -> bool:
    """Tell whether errors are listed one after the other, beginning with the newest."""
    return list(numbers) == list(range(newest, newest - max(len(numbers), 1), -1))


def _missing_of_all(report: Report) -> List[str]:
    identity = report.identity
    if identity.protocol == 'ATA':
        return [name for name, is_there in (('the attributes', report.attributes),
                                            ('the error log', report.error_count is not None)) if not is_there]
    wanted = ('temperature', 'grown_defects', 'read.total_uncorrected_errors', 'write.total_uncorrected_errors',
              *(['percentage_used'] if identity.rotation == 0 else []))
    return [key for key in wanted if key not in report.scsi] if identity.protocol == 'SCSI' else []


# --- JSON ------------------------------------------------------------------------------

def _unfit(data: Json, shape: Mapping[str, Any], where: str) -> Iterator[str]:
    """Yield the places of values that are missing or wrong: "ata_smart_attributes.table.4.value"."""
    for key in shape.get(_NEEDED, ()):
        if key not in data:
            yield where + key
    for key in data:
        if key in shape:
            yield from _unfit_value(data, key, shape[key], where + key)


def _unfit_value(data: Json, key: str, fits: Any, where: str) -> Iterator[str]:
    value = data[key]
    if isinstance(fits, dict):
        yield from _unfit(value, fits, where + '.') if isinstance(value, dict) else (where,)
    elif isinstance(fits, list):
        yield from _unfit_items(value, fits[0], where) if isinstance(value, list) else (where,)
    elif fits(data, key) is None or (fits is list_of and not isinstance(value, list)):
        yield where


def _unfit_items(items: List[Any], shape: Mapping[str, Any], where: str) -> Iterator[str]:
    """Yield the same of a table. Whatever one row of the attributes tells, all do."""
    columns = {key for item in items if isinstance(item, dict) for key in item if key in _COLUMNS}
    for number, item in enumerate(items):
        if isinstance(item, dict):
            yield from _unfit(item, shape, f'{where}.{number}.')
            yield from (f'{where}.{number}.{key}' for key in sorted(columns.difference(item)) if shape is _ROW)
        else:
            yield f'{where}.{number}'


def _lost_logs(data: Json, report: Report, arguments: Sequence[str]) -> Iterator[str]:
    """Yield what smartctl was asked for and a report may well be read without."""
    wanted = [('smart_support', 'whether SMART is enabled', _ALL)] if report.version >= _TELLS_SUPPORT else []
    if report.identity.protocol == 'ATA':
        wanted += [('ata_smart_self_test_log', 'the self-test log', _ALL),
                   ('ata_device_statistics', 'the device statistics', _EXTENDED)]
    yield from (name for key, name, asked in wanted if key not in data and not asked.isdisjoint(arguments))


def _lost_rows(data: Json) -> Iterator[str]:
    """Yield the self-tests that are counted and not listed."""
    log = object_of(data, 'ata_smart_self_test_log')
    for name in ('extended', 'standard'):
        part = object_of(log, name)
        if len(objects_of(part, 'table')) < (integer_of(part, 'count') or 0):
            yield f'some of the {name} self-test log'
    numbers = [number for number in range(20) if f'scsi_self_test_{number}' in data]
    if numbers and len(numbers) <= numbers[-1]:
        yield 'some of the self-test log'
