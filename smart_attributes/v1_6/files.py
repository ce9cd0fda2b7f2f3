"""The files of version 1.6, its database and user configuration, and what they say of a drive.

They are read as version 1.6 meant them, not as it read them: models match
whole words, a key that stands twice is kept twice, a limit that says nothing
is named. What is wrong is a sentence, never an exception, as long as the file
is JSON: a check that has run for years must go on.
"""

import os
import re
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from ..errors import DataError, UsageError
from ..knowledge import data_file, ranges, standards
from ..model import AttributeRow, Device, Identity, Report, Source
from ..reading.json_values import object_of
from ..typed import Json
from .names import keys_of, slug

VALUE, RAW = 'VALUE', 'RAW_VALUE'
NVME_ENTRY, SAS_ENTRY = 'Generic NVMe', 'Generic SAS'
ERROR_COUNT, HEALTH = 1024, 1025  # numbers that version 1.6 gave to what is no attribute
KNOWN = 'v1_6/shipped.json'             # what version 1.x shipped
LONGEST_SHIFT = 48
SHOWN = 40                        # characters of a file that a sentence quotes

# The numbers of version 1.6 for the NVMe health log: key of Report.nvme, its label, factor (data units were GB).
NVME: Sequence[Tuple[str, str, float]] = (
    ('critical_warning', 'Critical_Warning', 1), ('temperature', 'Temperature', 1),
    ('available_spare', 'Available_Spare', 1),
    ('available_spare_threshold', 'Available_Spare_Threshold', 1), ('percentage_used', 'Percentage_Used', 1),
    ('data_units_read', 'Data_Units_Read', 512e-6), ('data_units_written', 'Data_Units_Written', 512e-6),
    ('host_reads', 'Host_Read_Commands', 1), ('host_writes', 'Host_Write_Commands', 1),
    ('controller_busy_time', 'Controller_Busy_Time', 1), ('power_cycles', 'Power_Cycles', 1),
    ('power_on_hours', 'Power_On_Hours', 1),
    ('unsafe_shutdowns', 'Unsafe_Shutdowns', 1), ('media_errors', 'Media_and_Data_Integrity_Errors', 1),
    ('num_err_log_entries', 'Error_Information_Log_Entries', 1),
    ('warning_temp_time', 'Warning_Comp_Temperature_Time', 1),
    ('critical_comp_time', 'Critical_Comp_Temperature_Time', 1))

# The same for SAS: the defect list, then seven counters of reads (1 to 7) and of writes (8 to 14).
_COUNTERS = ('errors_corrected_by_eccfast', 'errors_corrected_by_eccdelayed', 'errors_corrected_by_rereads_rewrites',
             'total_errors_corrected', 'correction_algorithm_invocations', 'gigabytes_processed',
             'total_uncorrected_errors')
_COUNTER_LABELS = ('{0}_errors_corrected_by_ECC_fast', '{0}_errors_corrected_by_ECC_delayed',
                   '{0}_errors_corrected_by_ECC_re{1}',
                   'Total_{1}_errors_corrected', 'Total_{1}_correction_algorithm_invocations',
                   'Total_{1}_gigabytes_processed',
                   'Total_uncorrected_{1}_errors')
SAS: Sequence[Tuple[str, str, float]] = (
    ('grown_defects', 'Elements_in_grown_defect_list', 1),
    *((f'{command}.{counter}', label.format(command.capitalize(), command), 1)
      for command in ('read', 'write') for counter, label in zip(_COUNTERS, _COUNTER_LABELS)))


class Limit(NamedTuple):
    """When version 1.6 warned: Nagios ranges over a number that may have been shifted before."""

    warning: str
    critical: str
    shift: Optional[int] = None  # bits to the left, negative to the right; None: not said


class Entry(NamedTuple):
    """What a database says about a family, or a user configuration about a drive."""

    name: str
    models: Tuple[str, ...] = ()
    columns: Mapping[int, str] = {}    # number -> VALUE or RAW_VALUE
    comments: Mapping[int, str] = {}
    limits: Mapping[int, Limit] = {}
    graphed: Optional[Tuple[int, ...]] = None  # numbers in perfdata; None: not said
    is_shipped: bool = False           # its limits are those of version 1.x, nobody's decision at this site
    faults: Tuple[str, ...] = ()       # a sentence for each thing that cannot be used


class Database(NamedTuple):
    """check_smartdb.json: entries by name, not yet understood."""

    file: str
    entries: Json


class Users(NamedTuple):
    """A user configuration: drives by the path under which version 1.6 knew them, not yet understood."""

    file: str
    drives: Json


class Number(NamedTuple):
    """One number of a drive, as version 1.6 took it."""

    id: int
    number: float
    label: str    # without the drive
    source: Source


# --- reading the files --------------------------------------------------------------

def read(path: str) -> Any:
    """Return the data of a JSON file of either version. Raises DataError where it cannot be read.

    A key that stands twice in an object is kept: the second one as "KEY (2)".
    """
    return data_file.decoded(data_file.site_text(path), os.path.basename(path), _all_of)


def _all_of(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    copies: Dict[str, int] = {}
    for key, value in pairs:
        copies[key] = copies.get(key, 0) + 1
        found[key if copies[key] == 1 else f'{key} ({copies[key]})'] = value
    return found


def is_of_1_6(data: Any) -> bool:
    """Tell whether this is the shape of version 1.6: databases and user configurations have it alike."""
    return isinstance(data, dict) and isinstance(data.get('Devices'), dict)


def is_by_path(data: Json) -> bool:
    """Tell a user configuration from a database: its keys are paths."""
    return any(key.startswith('/') for key in data['Devices'])


def database(path: str, data: Json) -> Database:
    """Return a database. Raises DataError for a user configuration."""
    name = os.path.basename(path)
    if is_by_path(data):
        raise DataError(f'{name} is a user configuration of version 1.6, keyed by device path; give it with -ucfgj')
    return Database(name, data['Devices'])


def users(path: str, data: Json) -> Users:
    """Return a user configuration. Raises DataError for a database."""
    name = os.path.basename(path)
    if data['Devices'] and not is_by_path(data):
        raise DataError(f'{name} is a database of version 1.6, keyed by model family; give it with -dbj')
    return Users(name, data['Devices'])


# --- one entry ---------------------------------------------------------------------

def entry(file: str, name: str, data: Any) -> Entry:
    """Return what the entry *name* of *file* says; what cannot be used becomes a fault."""
    where = f'{file}: {name[:SHOWN]}'
    if not isinstance(data, dict):
        return Entry(name, faults=(f'{where} is no object; write {{"Device": ..., "ID#": ..., "Threshs": ..., '
                                   f'"Perfs": ...}}',))
    faults: List[str] = [f'{where} stands twice; both are used'] if re.search(r' \([2-9]\)$', name) else []
    columns, comments = _columns(object_of(data, 'ID#'), where, faults)
    limits = _limits(object_of(data, 'Threshs'), where, faults)
    graphed = tuple(_numbers(data['Perfs'], f'{where}, Perfs', faults)) if isinstance(data.get('Perfs'), list) else None
    return Entry(name, tuple(_models(data)), columns, comments, limits, graphed, is_shipped(name, data), tuple(faults))


def without_columns(found: Entry, where: str) -> Iterator[str]:
    """Yield a sentence for what an entry says about numbers that have no column in it."""
    for number in sorted(set(found.limits) - set(found.columns)):
        yield f'{where}, Threshs {number}: it is not in ID#, so version 1.6 never judged it'
    for number in sorted(set(found.graphed or ()) - set(found.columns)):
        yield f'{where}, Perfs {number}: it is not in ID#, so version 1.6 never printed it'


def _columns(data: Json, where: str, faults: List[str]) -> Tuple[Dict[int, str], Dict[int, str]]:
    columns: Dict[int, str] = {}
    comments: Dict[int, str] = {}
    for number, item in _by_number(data, f'{where}, ID#', faults):
        column = item.get('value') if isinstance(item, dict) else None
        if column not in (VALUE, RAW):
            faults.append(f'{where}, ID# {number}: its "value" is neither VALUE nor RAW_VALUE, so it is not used')
            continue
        columns[number] = column
        comments[number] = str(item.get('comment', ''))
    return columns, comments


def _limits(data: Json, where: str, faults: List[str]) -> Dict[int, Limit]:
    limits: Dict[int, Limit] = {}
    for number, item in _by_number(data, f'{where}, Threshs', faults):
        try:
            limits[number] = _limit(item)
        except UsageError as error:
            faults.append(f'{where}, Threshs {number}: {error}')
            continue
        if is_inverted(limits[number]):
            faults.append(f'{where}, Threshs {number}: warning {limits[number].warning} lies beyond critical '
                          f'{limits[number].critical}, '
                          'so it never warns')
    return limits


def _by_number(data: Json, where: str, faults: List[str]) -> Iterator[Tuple[int, Any]]:
    """Yield the items of *data* by number; what is no number becomes a fault."""
    for key, item in data.items():
        for number in _numbers([key], where, faults):
            yield number, item


def _numbers(keys: Iterable[Any], where: str, faults: List[str]) -> Iterator[int]:
    for key in keys:
        if re.fullmatch(r'[0-9]{1,4}', str(key)):
            yield int(key)
        else:
            faults.append(f'{where}: "{str(key)[:SHOWN]}" is no number of an attribute, so it is not used')


def is_inverted(limit: Limit) -> bool:
    """Tell whether a drive becomes critical before it warns."""
    warning, critical = ranges.parse(limit.warning), ranges.parse(limit.critical)
    if warning.invert or critical.invert:
        return False
    return bool(warning.end > critical.end or warning.start < critical.start)


def _limit(data: Any) -> Limit:
    """Return a limit. Raises UsageError with the rest of a sentence."""
    if not isinstance(data, list) or not 2 <= len(data) <= 3:
        raise UsageError('it is no list of a warning and a critical limit, so it is not used')
    return Limit(_range(data[0]), _range(data[1]), _shift(data[2]) if len(data) > 2 else None)


def _range(data: Any) -> str:
    """Return a limit as a Nagios range. Version 1.6 took an empty one for 0."""
    text = '' if isinstance(data, (bool, list, dict)) or data is None else str(data).strip() or '0'
    ranges.parse(text)
    return text


def _shift(data: Any) -> int:
    found = re.fullmatch(r'([lr])([0-9]{1,2})', data) if isinstance(data, str) else None
    if not found or int(found[2]) > LONGEST_SHIFT:
        raise UsageError(f'"{str(data)[:SHOWN]}" is no shift such as r8 or l4, so the limit is not used')
    return int(found[2]) * (1 if found[1] == 'l' else -1)


# --- what version 1.x shipped -----------------------------------------------------------

def is_shipped(name: str, data: Json) -> bool:
    """Tell whether the limits of an entry are those that version 1.x came with."""
    known = data_file.load(data_file.shipped(KNOWN))
    if fingerprint(data) in known['entries']:
        return True
    documented, limits = known['documented'].get(name), object_of(data, 'Threshs')
    return documented is not None and all(documented.get(number) == limit for number, limit in limits.items())


def fingerprint(data: Json) -> str:
    """Return what tells the content of an entry from others: columns, limits and perfdata.

    Models and comments do not count: who added a drive to an entry has not decided about its limits.
    """
    import json
    from binascii import crc32  # hashlib loads OpenSSL, 5 ms, and nobody attacks this
    columns = {number: object_of(object_of(data, 'ID#'), number).get('value') for number in object_of(data, 'ID#')}
    graphed = sorted(str(number) for number in data['Perfs']) if isinstance(data.get('Perfs'), list) else []
    text = json.dumps([columns, object_of(data, 'Threshs'), graphed], sort_keys=True).encode()
    return f'{crc32(text):08x}{crc32(text[::-1]):08x}'


# --- which entry speaks for a drive -------------------------------------------------------

def entry_of(found: Database, identity: Identity) -> Optional[Entry]:
    """Return the entry for a drive, None where the database has none.

    As in version 1.6 NVMe and SAS have one entry each, and smartctl's family is
    asked before the model. Of several entries the one with the longest model
    wins, and of equals the first: version 1.6 took any of them.
    """
    if identity.protocol in ('NVMe', 'SCSI'):
        name = NVME_ENTRY if identity.protocol == 'NVMe' else SAS_ENTRY
        return entry(found.file, name, found.entries[name]) if name in found.entries else None
    for line in (identity.family, identity.model):
        claims = [(len(model), -place, name) for place, (name, data) in enumerate(found.entries.items())
                  for model in _models(data) if line and is_named_by(line, model)]
        if claims:
            _, _, name = max(claims)
            return entry(found.file, name, found.entries[name])
    return None


def _models(data: Any) -> List[str]:
    models = data.get('Device') if isinstance(data, dict) else None
    return [model for model in models if isinstance(model, str)] if isinstance(models, list) else []


def is_named_by(line: str, model: str) -> bool:
    """Tell whether smartctl's *line* ends with the words of *model*: themselves, or as a regular expression.

    "Intel 53x" is named by "53x", "ACME-INTEL" is not named by "INTEL".
    """
    line, model = ' '.join(line.split()), ' '.join(model.split())
    if not model:
        return False
    if line.endswith(model) and line[:len(line) - len(model)][-1:] in ('', ' ', '_'):
        return True
    return not _EXPRESSION.isdisjoint(model) and _ends_with(model, line)


# Brackets and full stops alone are parts of names: "Red (AF)", "7200.9".
_EXPRESSION = frozenset('*+?[|\\{')


def _ends_with(expression: str, line: str) -> bool:
    try:
        return re.search(f'(?:^|[ _])(?:{expression})$', line) is not None
    except (re.error, RecursionError, OverflowError):
        return False


# --- what a drive says ----------------------------------------------------------------

def numbers(report: Report, columns: Mapping[int, str]) -> Dict[int, Number]:
    """Return the numbers of *columns* that a drive has."""
    if report.identity.protocol == 'NVMe':
        found = _from_log(NVME, report.nvme, standards.NVME_LOG)
    elif report.identity.protocol == 'SCSI':
        found = _from_log(SAS, report.scsi, standards.SCSI_LOG)
    else:
        found = _from_table({row.id: row for row in report.attributes}, columns)
        if report.error_count is not None:
            found.append(Number(ERROR_COUNT, report.error_count, 'ATA_Error_Count', Source(standards.ERROR_LOG)))
    if report.smart_status is not None:
        found.append(Number(HEALTH, 0 if report.smart_status else 1, 'Overall_Health_Test_Result',
                            Source(standards.SELF_ASSESSMENT)))
    return {each.id: each for each in found if each.id in columns}


def _from_log(log: Sequence[Tuple[str, str, float]], values: Mapping[str, float], name: str) -> List[Number]:
    return [Number(number, values[key] * factor, label, Source(name))
            for number, (key, label, factor) in enumerate(log) if key in values]


def _from_table(rows: Mapping[int, AttributeRow], columns: Mapping[int, str]) -> List[Number]:
    found = []
    for number, column in columns.items():
        row = rows.get(number)
        amount = None if row is None else row.value if column == VALUE else leading_number(row.raw)
        if row is not None and amount is not None:
            found.append(Number(number, amount, slug(row.name) or f'Attribute_{number}', Source(attribute=number)))
    return found


def leading_number(raw: str) -> Optional[int]:
    """Return the number that a raw value starts with: 640 of "640 (409 5906)", 45449 of "45449h+00m+00.000s"."""
    found = re.match(r'0x([0-9a-fA-F]{1,16})|(-?[0-9]{1,20})', raw)
    if not found:
        return None
    return int(found[1], 16) if found[1] else int(found[2])


def shifted(number: float, shift: Optional[int]) -> float:
    """Return a whole number shifted to the left, to the right where *shift* is negative."""
    if not shift or number != int(number):
        return number
    return int(number) << shift if shift > 0 else int(number) >> -shift


# --- which drive a user configuration means ---------------------------------------------

def entry_for(found: Users, device: Device) -> Optional[Entry]:
    """Return what a user configuration says about a device, None where it says nothing."""
    key = next((key for key in found.drives if key in keys_of(device)), None)
    return None if key is None else entry(found.file, key, found.drives[key])
