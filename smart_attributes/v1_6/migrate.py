"""Files of version 1.6 -> limits and entries of this version, and a sentence for each thing that could not be carried
over.
"""

import os
import re
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..errors import DataError
from ..knowledge import data_errors, drive_database, formatting, schema_errors
from ..knowledge.drive_database import SpecDatabase
from ..knowledge.thresholds import DriveLimit, Thresholds
from ..model import Device, Identity, Report
from ..typed import MutableJson
from ..words import clean
from . import files, limit_conversion, names
from .files import HEALTH, Entry, Limit
from .limit_conversion import Meaning

SPINDLE = frozenset((4, 10))      # starts and start retries: only hard disks count them
PLAIN_PATH = r'/dev/(?:[a-z]+|nvme[0-9]+(?:n[0-9]+)?|disk/by-[a-z]+/[^/]+)'
SHORTEST = 4                      # characters of a pattern
HDD, SSD = Identity('ATA', rotation=7200), Identity('ATA', rotation=0)


class Drive(NamedTuple):
    """A drive that was read, so that a user configuration can be understood."""

    device: Device
    report: Report


class Outcome(NamedTuple):
    """What came of a migration: files as text, and what is to be said about them."""

    attributes: str            # '' where no such file is needed
    thresholds: str
    carried: Tuple[str, ...]
    lost: Tuple[str, ...]


class Target(NamedTuple):
    """The drives that an old entry is carried over for."""

    where: str                           # "check_smartdb.json, Intel 53X"
    shown: str                           # who they are: "INTEL SSDSC2BB240G4"
    selector: Optional[MutableJson]      # "for" of an override; None: all drives of the kind
    identity: Identity                   # as far as it is known
    columns: Mapping[int, str]
    meanings: Mapping[int, Sequence[Meaning]]  # by number; several where our entries differ
    is_database: bool = False            # else a user configuration


class Findings:
    """What a migration has found so far."""

    def __init__(self) -> None:
        self.metrics: MutableJson = {}
        self.overrides: List[MutableJson] = []
        self.new_metrics: MutableJson = {}
        self.entries: List[MutableJson] = []
        self.carried: List[str] = []
        self.lost: List[str] = []

    def add(self, target: Target, metrics: MutableJson) -> None:
        """Take in the limits of one group of drives."""
        if not metrics:
            return
        if target.selector is not None:
            self.overrides.append({'for': target.selector, 'why': f'carried over from version 1.6, {target.where}',
                                   'metrics': metrics})
            return
        for metric, fields in metrics.items():
            limits = {field: value for field, value in fields.items() if field != 'graph'}
            kind = {target.identity.kind: {**limits,
                                           'why': f'carried over from version 1.6, {target.where}'}} if limits else {}
            self.metrics.setdefault(metric, {}).update({**kind, **({'graph': True} if 'graph' in fields else {})})


class Site(NamedTuple):
    """What holds now, and the drives that are known."""

    database: SpecDatabase
    limits: Thresholds
    drives: Sequence[Drive] = ()


def outcome(paths: Sequence[str], site: Site) -> Outcome:
    """Return what files (*paths*) of version 1.6 are in this version.

    Raises DataError for a file that is no JSON, or not of version 1.6.
    """
    databases, users = _sorted(paths)
    findings = Findings()
    for old in databases:
        _migrate_database(old, site, findings)
    for user in users:
        _migrate_users(user, databases, site, findings)
    name = os.path.basename(paths[0])
    result = Outcome(_text({'metrics': findings.new_metrics, 'entries': findings.entries}, 'attributes')
                     if findings.entries else '',
                     _text({'metrics': findings.metrics, 'overrides': findings.overrides}, 'thresholds')
                     if findings.metrics or findings.overrides else '', tuple(findings.carried), tuple(findings.lost))
    _check(result, name, site.database)
    return result


def _sorted(paths: Sequence[str]) -> Tuple[List[files.Database], List[files.Users]]:
    databases: List[files.Database] = []
    users: List[files.Users] = []
    for path in paths:
        data = files.read(path)
        if not files.is_of_1_6(data):
            raise DataError(f'{os.path.basename(path)} is no file of version 1.6, for it has no "Devices"; '
                            'give a check_smartdb.json or a user configuration')
        if files.is_by_path(data):
            users.append(files.users(path, data))
        else:
            databases.append(files.database(path, data))
    return databases, users


def _text(data: MutableJson, schema: str) -> str:
    return formatting.formatted({key: value for key, value in data.items() if value}, schema)


def _check(found: Outcome, name: str, database: SpecDatabase) -> None:
    """Raise DataError where a check would refuse these files."""
    units = dict(database.units)
    if found.attributes:
        data = schema_errors.checked(found.attributes, 'attributes', name)
        units.update((metric, value['unit']) for metric, value in data.get('metrics', {}).items())
        for fault in data_errors.of_entries(data, units, database.sets()):
            raise DataError(f'{name}: {fault.sentence}')
    if found.thresholds:
        for fault in data_errors.of_limits(schema_errors.checked(found.thresholds, 'thresholds', name), units):
            raise DataError(f'{name}: {fault.sentence}')


# --- databases -----------------------------------------------------------------------------

def _migrate_database(old: files.Database, site: Site, findings: Findings) -> None:
    shipped = 0
    for name, data in old.entries.items():
        entry = files.entry(old.file, name, data)
        if entry.is_shipped:
            shipped += 1
            continue
        findings.lost += [*entry.faults, *files.without_columns(entry, f'{old.file}: {name}')]
        for target in _targets(entry, f'{old.file}, {clean(name)}', site, findings):
            findings.add(target, _metrics(entry, target, site, findings))
    if shipped:
        findings.carried.append(f'{old.file}: {shipped} entries are as version 1.x shipped them; attributes.json '
                                f'speaks for their drives')


def _targets(entry: Entry, where: str, site: Site, findings: Findings) -> Iterator[Target]:
    """Yield the drives of an entry, grouped by what our own entries say about them."""
    if entry.name in (files.NVME_ENTRY, files.SAS_ENTRY):
        protocol = 'NVMe' if entry.name == files.NVME_ENTRY else 'SCSI'
        yield Target(where, f'all {protocol} drives', None, Identity(protocol), entry.columns,
                     _standard_meanings(entry, protocol), True)
        return
    groups: Dict[Tuple[str, ...], List[str]] = {}
    for model in entry.models:
        if len(model.strip()) < SHORTEST or not re.search('[0-9]', model):
            findings.lost.append(f'{where}: "{clean(model)}" names a family of smartctl or a vendor; limits of this '
                                 f'version go by model, '
                                 'write it as a regular expression for the whole model name')
            continue
        groups.setdefault(tuple(_candidates(model, entry, site.database)), []).append(model)
    for families, models in groups.items():
        yield _by_model(entry, where, families, models, site, findings)


def _candidates(model: str, entry: Entry, database: SpecDatabase) -> List[str]:
    """Return the families of ours that a model belongs to, () where none is named after it."""
    name = ' '.join(model.split())
    named = [each['family'] for _, each in database.entries()
             if 'models' in each and not (each.get('fallback') or each.get('generic'))
             and drive_database.names_model(each, name)]
    if named or not set(entry.columns) >= SPINDLE:
        return named
    return [each['family'] for _, each in database.entries() if each.get('generic') and each.get('kind') == 'hdd']


def _by_model(entry: Entry, where: str, families: Sequence[str], models: Sequence[str], site: Site,
              findings: Findings) -> Target:
    patterns = limit_conversion.patterns(models)
    readings = [site.database.read_entry(source, each) for source, each in site.database.entries()
                if each['family'] in families]
    identity = HDD if set(entry.columns) >= SPINDLE else SSD
    meanings: Dict[int, Sequence[Meaning]] = {
        number: limit_conversion.of_specs(number, column, readings) for number, column in entry.columns.items()}
    if not families:
        meanings = _new_entry(entry, where, patterns, site.database, findings)
    selector = {'model': patterns[0] if len(patterns) == 1 else f'(?:{"|".join(patterns)})'}
    return Target(where, ', '.join(map(clean, models)), selector, identity, entry.columns,
                  {**meanings, **_standard_meanings(entry, 'ATA')}, True)


def _standard_meanings(entry: Entry, protocol: str) -> Dict[int, Sequence[Meaning]]:
    found = {number: limit_conversion.of_standard(number, protocol) for number in (*entry.limits, *entry.columns)}
    return {number: [meant] for number, meant in found.items() if meant}


def _new_entry(entry: Entry, where: str, patterns: Sequence[str], database: SpecDatabase,
               findings: Findings) -> Dict[int, Sequence[Meaning]]:
    """Add an entry for drives that no entry of ours is named after, and return what its numbers mean.

    It is a fallback: it says which numbers to compare, not what they are, and must not hide an entry that knows.
    """
    common = next((each for _, each in database.entries() if each.get('fallback') and not each.get('models')), {})
    known = [database.read_entry('', common)] if common else []
    attributes: MutableJson = {}
    meanings: Dict[int, Sequence[Meaning]] = {}
    for number in sorted({*entry.limits, *(entry.graphed or ())} & set(entry.columns)):
        column = entry.columns[number]
        meanings[number] = limit_conversion.of_specs(number, column, known)
        if meanings[number] or not 1 <= number <= 255:
            continue
        metric = f'attribute_{number}_{limit_conversion.FIRST_COLUMN[column]}'
        meanings[number] = [Meaning(metric)]
        findings.new_metrics[metric] = _compared(number, column)
        attributes[str(number)] = {'name': clean(entry.comments.get(number, '')) or f'Attribute_{number}',
                                   'readings': {metric: {'from': limit_conversion.FIRST_COLUMN[column]}}}
    findings.entries.append({'family': f'{clean(entry.name)} (from version 1.6)', 'models': list(patterns),
                             'fallback': True, **{key: common[key] for key in ('uses', 'uses_common') if key in common},
                             'attributes': attributes, 'source': f'carried over from version 1.6, {where}'})
    findings.lost.append(_NOT_KNOWN.format(where, ', '.join(patterns)))
    return meanings


_NOT_KNOWN = ('{}: what the attributes of {} mean is not known to attributes.json; their numbers are compared as '
              'before (a RAW_VALUE as one whole number), and nothing more; check_smart_attributes draft makes a better '
              'entry from the drive itself')


def _compared(number: int, column: str) -> MutableJson:
    """Return a metric for a number of which nothing but its column is known."""
    return {'meaning': f'{column} of attribute {number}, compared as version 1.6 did', 'unit': '',
            'worse': 'low' if column == files.VALUE else 'high'}


# --- user configurations ----------------------------------------------------------------------

def _migrate_users(user: files.Users, databases: Sequence[files.Database], site: Site, findings: Findings) -> None:
    for key, data in user.drives.items():
        entry = files.entry(user.file, key, data)
        where = f'{user.file}, {clean(key)}'
        findings.lost += entry.faults
        drives = [drive for drive in site.drives if key in names.keys_of(drive.device)]
        targets = [_read_target(drive, entry, where, databases, site)
                   for drive in drives] or _guessed_targets(key, entry, where, site)
        for target in targets:
            findings.add(target, _metrics(_with_shifts(entry, target, drives, databases), target, site, findings))
        if not targets:
            findings.lost.append(f'{where}: which address this drive has now is not known; name the drives of the '
                                 f'check, '
                                 'such as -d megaraid,6@/dev/bus/0')


def _read_target(drive: Drive, entry: Entry, where: str, databases: Sequence[files.Database], site: Site) -> Target:
    identity = drive.report.identity
    spec = site.database.identify(identity, [row.id for row in drive.report.attributes])
    columns = {**limit_conversion.columns_of(spec), **_old_columns(identity, databases)}
    meanings: Dict[int, Sequence[Meaning]] = {}
    if identity.protocol == 'ATA':
        meanings = {number: limit_conversion.of_specs(number, column, [spec]) for number, column in columns.items()}
    name = drive.device.address
    return Target(where, name, {'device': name}, identity, columns,
                  {**meanings, **_standard_meanings(entry, identity.protocol)})


def _old_columns(identity: Identity, databases: Sequence[files.Database]) -> Mapping[int, str]:
    known = (files.entry_of(database, identity) for database in databases)
    return next((entry.columns for entry in known if entry), {})


def _with_shifts(entry: Entry, target: Target, drives: Sequence[Drive], databases: Sequence[files.Database]) -> Entry:
    """Return a user's entry with the shifts of the database's, which its limits are meant behind."""
    shifts: Dict[int, Optional[int]] = {}
    for database in databases:
        for drive in drives:
            known = files.entry_of(database, drive.report.identity) if drive.device.address == target.shown else None
            shifts.update((number, limit.shift) for number, limit in (known.limits if known else {}).items())
    return entry._replace(limits={number: limit if limit.shift is not None else limit._replace(shift=shifts.get(number))
                                  for number, limit in entry.limits.items()})


def _guessed_targets(key: str, entry: Entry, where: str, site: Site) -> List[Target]:
    """Return the target of a plain path whose drive was not read: only what means the same on every drive."""
    if not re.fullmatch(PLAIN_PATH, key):
        return []
    if key.startswith('/dev/nvme'):
        return [Target(where, key, {'device': key}, Identity('NVMe'), {}, _standard_meanings(entry, 'NVMe'))]
    readings = [site.database.read_entry(source, each) for source, each in site.database.entries()]
    meanings: Dict[int, Sequence[Meaning]] = {
        number: [meant for column in (files.VALUE, files.RAW)
                 for meant in limit_conversion.of_specs(number, column, readings)]
        for number in (*entry.limits, *(entry.graphed or ()))}
    return [Target(where, key, {'device': key}, Identity(), {}, {**meanings, **_standard_meanings(entry, 'ATA')})]


# --- limits ----------------------------------------------------------------------------------------

def _metrics(entry: Entry, target: Target, site: Site, findings: Findings) -> MutableJson:
    """Return metric -> fields for the limits and graphs of an entry."""
    metrics: MutableJson = {}
    for number, limit in sorted(entry.limits.items()):
        if number not in target.columns and target.is_database:
            continue  # said already: it never had an effect
        said = f'{target.where}: {_said(number, target)}, "{limit.warning}" and "{limit.critical}"'
        meant = target.meanings.get(number, ())
        if len(meant) == 1:
            _add_limit(meant[0], limit, said, metrics, target, site, findings)
        elif number != HEALTH:
            findings.lost.append(f'{said}: {_why_not(number, len(meant), target)}')
        elif (limit.warning, limit.critical) != ('0', '0'):
            findings.lost.append(f'{said}: a drive that says FAILED is critical; an override with "smart_status" can '
                                 f'change that')
    for number in entry.graphed or ():
        certain = target.meanings.get(number, ())
        if len(certain) == 1 and not _ours(certain[0].metric, target, site).is_graphed:
            metrics.setdefault(certain[0].metric, {})['graph'] = True
    return metrics


def _add_limit(meant: Meaning, limit: Limit, said: str, metrics: MutableJson, target: Target, site: Site,
               findings: Findings) -> None:
    fields = {'warning': limit_conversion.converted(limit.warning, limit.shift, meant),
              'critical': limit_conversion.converted(limit.critical, limit.shift, meant)}
    if metrics.setdefault(meant.metric, fields) != fields:
        findings.lost.append(f'{said}: it is {meant.metric}, which has a limit from another number already; only one '
                             f'is '
                             f'possible')
        return
    ours = _ours(meant.metric, target, site)
    before = [bound.otherwise if isinstance(bound, DriveLimit) else bound for bound in (ours.warning, ours.critical)]
    instead = (f', instead of {before[0] or "none"} and {before[1] or "none"}' if any(before)
               and before != list(fields.values()) else '')
    findings.carried.append(f'{said}: {meant.metric} of {target.shown}, '
                            f'warning {fields["warning"]}, critical {fields["critical"]}{instead}')


def _ours(metric: str, target: Target, site: Site) -> Any:
    return site.limits.limit(metric, Device(''), target.identity, '')


def _said(number: int, target: Target) -> str:
    if target.identity.protocol in ('NVMe', 'SCSI') or number > 255:
        return f'number {number}'
    return f'attribute {number} {target.columns.get(number, "")}'.strip()


def _why_not(number: int, meanings: int, target: Target) -> str:
    if meanings:
        return 'it means different things on different drives; name the drive with -d' if not target.columns else \
            'our entries for these drives differ in what it means'
    if target.identity.protocol in ('NVMe', 'SCSI') or number in target.columns:
        return 'attributes.json reads no number from it for these drives'
    return ('whether its VALUE or its RAW_VALUE is meant is not known; give the database beside this file, and the '
            'drive with -d')


# --- output ------------------------------------------------------------------------------------------

def write(found: Outcome, name: str, folder: str) -> List[str]:
    """Write the files of a migration, and return their paths. Raises DataError rather than overwrite anything."""
    written = []
    for place, text in (('attributes.d', found.attributes), ('thresholds.d', found.thresholds)):
        if text:
            path = os.path.join(folder, place, name)
            _write(path, text)
            written.append(path)
    return written


def _write(path: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError as error:
        advice = 'move it away first' if isinstance(error, FileExistsError) else 'give another folder with -o'
        raise DataError(f'{path} cannot be written: {error.strerror}; {advice}') from None
    with open(descriptor, 'w', encoding='ascii') as file:
        file.write(text)


def report(found: Outcome) -> List[str]:
    """Return what was carried over and what was not, a line each."""
    lines = [f'carried over: {sentence}' for sentence in found.carried] + [f'not carried over: {sentence}'
                                                                           for sentence in found.lost]
    return lines or ['there is nothing to carry over']
