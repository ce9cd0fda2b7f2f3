"""Read the files of version 1.6, its database and user configuration, and find the entries for a drive.

The files are read as their authors meant them, not as version 1.6 read them: models match whole words, duplicate keys
are all kept, and a limit without effect is reported. An error in a JSON file becomes a message, never an exception,
because a check that has run for years must keep running.
"""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .. import files
from ..constants import HIGHEST_SHIFT
from ..errors import DataError, UsageError
from ..knowledge import data_file, drive_logs, ranges, shipped_data
from ..model import Device, Identity, Report, Source
from ..reading.content import object_of
from ..typed import Json
from ..wording import plural

VALUE, RAW = 'VALUE', 'RAW_VALUE'
NVME_ENTRY, SAS_ENTRY = 'Generic NVMe', 'Generic SAS'
ERROR_COUNT, HEALTH = 1024, 1025  # numbers of version 1.6 that are not attribute numbers
KNOWN = 'v1_6/shipped.json'       # fingerprints of the entries that version 1.x shipped
SHOWN = 40                        # characters of a file that a message quotes
_EXPRESSION = frozenset('*+?[|\\{')  # not brackets and full stops, which occur in models: "Red (AF)", "7200.9"

_NUMBERS = files.data('v1_6/numbers.json')
# Numbers of version 1.6, for the NVMe health log and for SAS. Rows: key of Report.nvme or Report.scsi, label, factor.
NVME: Sequence[tuple[str, str, float]] = _NUMBERS['nvme']
SAS: Sequence[tuple[str, str, float]] = _NUMBERS['sas']


class OldLimit(NamedTuple):
    """A limit of version 1.6: Nagios ranges for a number, which can be shifted before the comparison."""
    warning: str
    critical: str
    shift: int | None = None           # bits to the left; negative: to the right; None: not in the file


class OldEntry(NamedTuple):
    """An entry for a family in a database, or for a drive in a user configuration."""
    name: str
    models: tuple[str, ...] = ()
    columns: Mapping[int, str] = {}    # number -> VALUE or RAW_VALUE
    comments: Mapping[int, str] = {}
    limits: Mapping[int, OldLimit] = {}
    graphed: tuple[int, ...] | None = None  # numbers in perfdata; None: the file has no list
    is_shipped: bool = False           # its limits are the defaults of version 1.x, not a local choice
    faults: tuple[str, ...] = ()       # a message for each part that cannot be used


class OldFile(NamedTuple):
    """The unchanged content of a database (entries by family) or of a user configuration (entries by device path)."""
    name: str
    entries: Json


class OldNumber(NamedTuple):
    """One number of a drive, as version 1.6 interpreted it."""
    id: int
    number: float
    label: str    # without the name of the drive
    source: Source


def read(path: str) -> Any:
    """Return the data of a JSON file of either version. Raises DataError if it cannot be read.

    Duplicate keys of an object are kept: the second one becomes "KEY (2)".
    """
    return data_file.decoded(data_file.site_text(path), os.path.basename(path), _all_of)


def _all_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    copies: dict[str, int] = {}
    for key, value in pairs:
        copies[key] = copies.get(key, 0) + 1
        data[key if copies[key] == 1 else f'{key} ({copies[key]})'] = value
    return data


def is_of_1_6(data: Any) -> bool:
    """Return whether data has the format of version 1.6, which is common to databases and user configurations."""
    return isinstance(data, dict) and isinstance(data.get('Devices'), dict)


def is_by_path(data: Json) -> bool:
    """Return whether a file of version 1.6 is a user configuration, whose keys are paths."""
    return any(key.startswith('/') for key in data['Devices'])


def taken(path: str, data: Json, is_users: bool) -> OldFile:
    """Return the data as a database or as a user configuration. Raises DataError if the data is of the other kind."""
    name, other = os.path.basename(path), ('database', 'model family', '-dbj') if is_users else (
        'user configuration', 'device path', '-ucfgj')
    if data['Devices'] and is_by_path(data) is not is_users:
        raise DataError(f'{name} is a {other[0]} of version 1.6, keyed by {other[1]}; give it with {other[2]}')
    return OldFile(name, data['Devices'])


def examine(path: str) -> tuple[list[str], list[str]]:
    """Return the errors in a file of version 1.6, and a text "N entries". Raises DataError for an unreadable file."""
    data = read(path)
    is_users = is_by_path(data)
    file, entries = taken(path, data, is_users)
    faults: list[str] = []
    for name, content in entries.items():
        each = entry(file, name, content)
        faults += [*each.faults, *([] if is_users else without_columns(each, f'{file}: {name}'))]
    return list(dict.fromkeys(faults)), [plural(len(entries), 'entry', 'entries')]


def entry(file: str, name: str, data: Any) -> OldEntry:
    """Return the entry *name* of *file*, with a message in `faults` for each part that cannot be used."""
    where = f'{file}: {name[:SHOWN]}'
    if not isinstance(data, dict):
        return OldEntry(name, faults=(f'{where} is not an object; write {{"Device": ..., "ID#": ..., "Threshs": ..., '
                                      f'"Perfs": ...}}',))
    faults = [f'{where} occurs twice; both entries are used'] if re.search(r' \([2-9]\)$', name) else []
    columns, comments = {}, {}
    for number, item in _by_number(object_of(data, 'ID#').items(), f'{where}, ID#', faults):
        if isinstance(item, dict) and item.get('value') in (VALUE, RAW):
            columns[number], comments[number] = item['value'], str(item.get('comment', ''))
        else:
            faults.append(f'{where}, ID# {number}: its "value" is neither VALUE nor RAW_VALUE, so it is not used')
    limits = _limits(object_of(data, 'Threshs'), where, faults)
    graphed = None
    if isinstance(data.get('Perfs'), list):
        perfs = zip(data['Perfs'], data['Perfs'])
        graphed = tuple(number for number, _ in _by_number(perfs, f'{where}, Perfs', faults))
    return OldEntry(name, tuple(_models(data)), columns, comments, limits, graphed, is_shipped(name, data),
                    tuple(faults))


def without_columns(old: OldEntry, where: str) -> Iterator[str]:
    """Yield a message for each limit and each graph of an attribute for which the entry has no column."""
    for number in sorted(set(old.limits) - set(old.columns)):
        yield f'{where}, Threshs {number}: it is not in ID#, so version 1.6 never evaluated it'
    for number in sorted(set(old.graphed or ()) - set(old.columns)):
        yield f'{where}, Perfs {number}: it is not in ID#, so version 1.6 never printed it'


def _by_number(items: Iterable[tuple[Any, Any]], where: str, faults: list[str]) -> Iterator[tuple[int, Any]]:
    """Yield the items with their keys as numbers; append a message to *faults* for each key that is not a number."""
    for key, item in items:
        if re.fullmatch(r'[0-9]{1,4}', str(key)):
            yield int(key), item
        else:
            faults.append(f'{where}: "{str(key)[:SHOWN]}" is not an attribute number, so it is not used')


def _limits(data: Json, where: str, faults: list[str]) -> dict[int, OldLimit]:
    limits: dict[int, OldLimit] = {}
    for number, item in _by_number(data.items(), f'{where}, Threshs', faults):
        try:
            limit = limits[number] = _limit(item)
        except UsageError as error:
            faults.append(f'{where}, Threshs {number}: {error}')
            continue
        if is_inverted(limit):
            faults.append(f'{where}, Threshs {number}: warning {limit.warning} lies beyond critical {limit.critical}, '
                          'so it never warns')
    return limits


def is_inverted(limit: OldLimit) -> bool:
    """Return whether a drive would become critical before it reaches the warning limit."""
    warning, critical = ranges.parse(limit.warning), ranges.parse(limit.critical)
    if warning.invert or critical.invert:
        return False
    return bool(warning.end > critical.end or warning.start < critical.start)


def _limit(data: Any) -> OldLimit:
    """Return a limit. Raises UsageError, with the end of a message, if the limit is invalid."""
    if not isinstance(data, list) or not 2 <= len(data) <= 3:
        raise UsageError('it is not a list of a warning and a critical limit, so it is not used')
    return OldLimit(_range(data[0]), _range(data[1]), _shift(data[2]) if len(data) > 2 else None)


def _range(data: Any) -> str:
    """Return a limit as a Nagios range. Version 1.6 treated an empty limit as 0."""
    text = '' if isinstance(data, (bool, list, dict)) or data is None else str(data).strip() or '0'
    ranges.parse(text)
    return text


def _shift(data: Any) -> int:
    match = re.fullmatch(r'([lr])([0-9]{1,2})', data) if isinstance(data, str) else None
    if not match or int(match[2]) > HIGHEST_SHIFT:
        raise UsageError(f'"{str(data)[:SHOWN]}" is not a shift such as r8 or l4, so the limit is not used')
    return int(match[2]) * (1 if match[1] == 'l' else -1)


def is_shipped(name: str, data: Json) -> bool:
    """Return whether an entry has the limits shipped with version 1.x."""
    known = shipped_data.load(shipped_data.path(KNOWN))
    if fingerprint(data) in known['entries']:
        return True
    documented, limits = known['documented'].get(name), object_of(data, 'Threshs')
    return documented is not None and all(documented.get(number) == limit for number, limit in limits.items())


def fingerprint(data: Json) -> str:
    """Return a checksum of the columns, limits and perfdata of an entry, as 16 hexadecimal digits.

    Models and comments are ignored: an admin who added a drive to an entry did not choose its limits.
    """
    import json
    from binascii import crc32  # hashlib takes 5 ms to load OpenSSL, and this is not a security check
    columns = {number: object_of(object_of(data, 'ID#'), number).get('value') for number in object_of(data, 'ID#')}
    graphed = sorted(str(number) for number in data['Perfs']) if isinstance(data.get('Perfs'), list) else []
    text = json.dumps([columns, object_of(data, 'Threshs'), graphed], sort_keys=True).encode()
    return f'{crc32(text):08x}{crc32(text[::-1]):08x}'


# --- which entry a drive has ----------------------------------------------------------

def entry_of(old: OldFile, identity: Identity) -> OldEntry | None:
    """Return the database entry for a drive, or None if there is no such entry.

    As in version 1.6, NVMe and SAS have one entry each, and smartctl's family takes precedence over the model. If
    several entries match, the first one with the longest model is used; version 1.6 used an arbitrary one.
    """
    of_protocol = {'NVMe': NVME_ENTRY, 'SCSI': SAS_ENTRY}
    name = of_protocol.get(identity.protocol) or _longest_claim(old.entries, identity)
    return entry(old.name, name, old.entries[name]) if name in old.entries and name is not None else None


def _longest_claim(entries: Json, identity: Identity) -> str | None:
    for line in (identity.family, identity.model):
        claims = [(len(model), -place, name) for place, (name, data) in enumerate(entries.items())
                  for model in _models(data) if line and is_named_by(line, model)]
        if claims:
            return max(claims)[2]
    return None


def _models(data: Any) -> list[str]:
    models = data.get('Device') if isinstance(data, dict) else None
    return [model for model in models if isinstance(model, str)] if isinstance(models, list) else []


def is_named_by(line: str, model: str) -> bool:
    """Return whether smartctl's *line* ends with the words of *model*, taken literally or as a regular expression.

    "53x" matches "Intel 53x"; "INTEL" does not match "ACME-INTEL".
    """
    line, model = ' '.join(line.split()), ' '.join(model.split())
    if not model:
        return False
    if line.endswith(model) and line[:len(line) - len(model)][-1:] in ('', ' ', '_'):
        return True
    try:
        return not _EXPRESSION.isdisjoint(model) and re.search(f'(?:^|[ _])(?:{model})$', line) is not None
    except (re.error, RuntimeError, OverflowError):
        return False


def entry_for(old: OldFile, device: Device) -> OldEntry | None:
    """Return the entry for a device in a user configuration, or None if there is no such entry."""
    key = next((key for key in old.entries if key in keys_of(device)), None)
    return None if key is None else entry(old.name, key, old.entries[key])


# --- the numbers of a drive ------------------------------------------------------------

def numbers(report: Report, columns: Mapping[int, str]) -> dict[int, OldNumber]:
    """Return the numbers of *columns* that a drive reports."""
    if report.identity.protocol == 'NVMe':
        all_numbers = _from_log(NVME, report.nvme, drive_logs.NVME_LOG)
    elif report.identity.protocol == 'SCSI':
        all_numbers = _from_log(SAS, report.scsi, drive_logs.SCSI_LOG)
    else:
        all_numbers = _from_attributes(report, columns)
        if report.error_count is not None:
            all_numbers.append(OldNumber(ERROR_COUNT, report.error_count, 'ATA_Error_Count',
                                         Source(drive_logs.ERROR_LOG)))
    if report.smart_status is not None:
        all_numbers.append(OldNumber(HEALTH, 0 if report.smart_status else 1, 'Overall_Health_Test_Result',
                                     Source(drive_logs.SELF_ASSESSMENT)))
    return {each.id: each for each in all_numbers if each.id in columns}


def _from_log(log: Sequence[tuple[str, str, float]], values: Mapping[str, float], name: str) -> list[OldNumber]:
    return [OldNumber(number, values[key] * factor, label, Source(name))
            for number, (key, label, factor) in enumerate(log) if key in values]


def _from_attributes(report: Report, columns: Mapping[int, str]) -> list[OldNumber]:
    all_numbers = []
    for row in {row.id: row for row in report.attributes if row.id in columns}.values():
        amount = row.value if columns[row.id] == VALUE else leading_number(row.raw)
        if amount is not None:
            label = slug(row.name) or f'Attribute_{row.id}'
            all_numbers.append(OldNumber(row.id, amount, label, Source(attribute=row.id)))
    return all_numbers


def leading_number(raw: str) -> int | None:
    """Return the number at the start of a raw value: 640 for "640 (409 5906)", 45449 for "45449h+00m+00.000s"."""
    match = re.match(r'0x([0-9a-fA-F]{1,16})|(-?[0-9]{1,20})', raw)
    if not match:
        return None
    return int(match[1], 16) if match[1] else int(match[2])


def shifted(number: float, shift: int | None) -> float:
    """Return a whole number shifted left by *shift* bits, or right if *shift* is negative."""
    if not shift or number != int(number):
        return number
    return int(number) << shift if shift > 0 else int(number) >> -shift


# --- the names of version 1.6, in its labels and as keys of its user configuration -----------------

# Paths that version 1.6 used for drives behind a controller, by the name of the type.
_PATHS: Mapping[str, Callable[[str, str], str]] = {
    'megaraid': lambda numbers, path: f'/dev/megaraid{numbers}',
    '3ware': lambda numbers, path: f'/dev/3ware{numbers}',
    'areca': lambda numbers, path: f'/dev/areca_{numbers.replace("/", "_")}',
    'aacraid': lambda numbers, path: f'/dev/aacraid_{numbers.replace(",", "_")}',
    'cciss': lambda numbers, path: f'/dev/cciss_{numbers}_{os.path.basename(path)}'}


def slug(text: str) -> str:
    """Return a name in the form for old labels: no brackets, _ for spaces, no characters that daemons misread."""
    return re.sub(r'[^A-Za-z0-9_/.:+-]', '', re.sub(r'\s+', '_', text.strip()))


def old_path(device: Device) -> str:
    """Return the path of a device in version 1.6, which is a key of user configurations and the start of labels."""
    if device.is_recorded:
        return f'/dev/{device.name}'
    name, _, slots = device.type.rpartition('+')[2].partition(',')
    if name in _PATHS:
        return _PATHS[name](slots, device.path)
    return device.path if device.path.startswith('/dev/disk/') else os.path.realpath(device.path)


def old_names(devices: Sequence[Device]) -> dict[str, str]:
    """Map the name of each device in this version to the start of the device's labels in version 1.6.

    Version 1.6 omitted the controller. If two drives would have the same name, our name is used.
    """
    names = {device.name: slug(re.sub('^/dev/(disk/by-[a-z]+/)?', '', old_path(device))) for device in devices}
    taken = list(names.values())
    return {name: old if old and taken.count(old) == 1 else name for name, old in names.items()}


def keys_of(device: Device) -> frozenset[str]:
    """Return the keys of a device in user configurations."""
    return frozenset((old_path(device), device.path if not device.type else '', device.address))
