"""Convert files of version 1.6 to limits and entries of this version, and report each part that is not converted."""
from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..errors import DataError
from ..knowledge import data_errors, drive_database, formatting, schema_errors
from ..knowledge.drive_database import SpecDatabase
from ..knowledge.thresholds import DriveLimit, Limit, Thresholds
from ..model import Device, Identity, Report
from ..typed import MutableJson
from ..words import clean
from . import files, limit_conversion
from .files import HEALTH, OldEntry, OldFile, OldLimit
from .limit_conversion import COLUMNS, Meaning

SPINDLE = frozenset((4, 10))      # starts and start retries, which only hard disks count
PLAIN_PATH = r'/dev/(?:[a-z]+|nvme[0-9]+(?:n[0-9]+)?|disk/by-[a-z]+/[^/]+)'
SHORTEST = 4                      # fewest characters of a pattern
HDD, SSD = Identity('ATA', rotation=7200), Identity('ATA', rotation=0)
_NOT_KNOWN = ('{}: attributes.json does not describe the attributes of {}; their numbers are only compared with '
              'limits, as before (a RAW_VALUE as one whole number); to create a better entry from the drive itself, '
              'run: check_smart_attributes draft')

Meanings = Mapping[int, Sequence[Meaning]]   # meanings by number; several meanings if our entries differ


class ReportedDrive(NamedTuple):
    """A drive that was read to interpret a user configuration."""
    device: Device
    report: Report


class Migration(NamedTuple):
    """The result of a migration: the new files as text, and messages about them."""
    attributes: str            # '' if this file is not needed
    thresholds: str
    carried: tuple[str, ...]
    lost: tuple[str, ...]


class Target(NamedTuple):
    """The drives for which an old entry is converted."""
    where: str                           # "check_smartdb.json, Intel 53X"
    shown: str                           # models or address of the drives: "INTEL SSDSC2BB240G4"
    selector: MutableJson | None         # "for" of an override; None: all drives of this type
    identity: Identity                   # the known parts of the identity
    columns: Mapping[int, str]
    meanings: Meanings
    is_database: bool = False            # False: a user configuration


class Installation(NamedTuple):
    """The local limits and entries, and the drives that were read."""
    database: SpecDatabase
    limits: Thresholds
    drives: Sequence[ReportedDrive] = ()


def migration(paths: Sequence[str], site: Installation) -> Migration:
    """Return the files of version 1.6 at *paths*, converted to files of this version.

    Raises DataError if a file is not JSON or not from version 1.6.
    """
    old: dict[bool, list[OldFile]] = {False: [], True: []}   # databases, and user configurations
    for path in paths:
        data = files.read(path)
        if not files.is_of_1_6(data):
            raise DataError(f'{os.path.basename(path)} is not a file of version 1.6, because it has no "Devices"; '
                            'give a check_smartdb.json or a user configuration')
        is_users = files.is_by_path(data)
        old[is_users].append(files.taken(path, data, is_users))
    work = _Work(site, old[False])
    for database in old[False]:
        work.take_database(database)
    for user in old[True]:
        work.take_users(user)
    return work.result(os.path.basename(paths[0]))


class _Work:
    """A migration in progress."""

    def __init__(self, site: Installation, databases: Sequence[OldFile]) -> None:
        self._site, self._databases = site, databases
        self._limits: MutableJson = {'metrics': {}, 'overrides': []}
        self._entries: MutableJson = {'metrics': {}, 'entries': []}
        self._carried: list[str] = []
        self._lost: list[str] = []

    def result(self, name: str) -> Migration:
        """Return the migration of all entries added so far. Raises DataError if a check would reject the new files.

        name: name of the files, for the error message.
        """
        database = self._site.database
        units = dict(database.units)
        attributes = _text(self._entries, 'attributes') if self._entries['entries'] else ''
        if attributes:
            data = schema_errors.checked(attributes, 'attributes', name)
            units.update((metric, value['unit']) for metric, value in data.get('metrics', {}).items())
            for fault in data_errors.of_entries(data, units, database.sets()):
                raise DataError(f'{name}: {fault.sentence}')
        thresholds = _text(self._limits, 'thresholds') if any(self._limits.values()) else ''
        if thresholds:
            for fault in data_errors.of_limits(schema_errors.checked(thresholds, 'thresholds', name), units):
                raise DataError(f'{name}: {fault.sentence}')
        return Migration(attributes, thresholds, tuple(self._carried), tuple(self._lost))

    def take_database(self, old: OldFile) -> None:
        """Add a database's entries, except entries that were shipped with version 1.x."""
        shipped = 0
        for name, data in old.entries.items():
            entry = files.entry(old.name, name, data)
            if entry.is_shipped:
                shipped += 1
                continue
            self._lost += [*entry.faults, *files.without_columns(entry, f'{old.name}: {name}')]
            for target in self._targets(entry, f'{old.name}, {clean(name)}'):
                self._add(target, entry)
        if shipped:
            self._carried.append(f'{old.name}: {shipped} entries are unchanged from version 1.x; attributes.json '
                                 f'covers their drives')

    def _targets(self, entry: OldEntry, where: str) -> Iterator[Target]:
        """Yield the drives of an old entry, grouped by the entry in our database."""
        if entry.name in (files.NVME_ENTRY, files.SAS_ENTRY):
            protocol = 'NVMe' if entry.name == files.NVME_ENTRY else 'SCSI'
            yield Target(where, f'all {protocol} drives', None, Identity(protocol), entry.columns,
                         _of_standards(entry, protocol), True)
            return
        groups: dict[tuple[str, ...], list[str]] = {}
        for model in entry.models:
            if len(model.strip()) < SHORTEST or not re.search('[0-9]', model):
                self._lost.append(f'{where}: "{clean(model)}" names a family of smartctl or a vendor; limits of this '
                                  'version apply to models; write a regular expression for the whole model name')
                continue
            groups.setdefault(tuple(self._families(model, entry)), []).append(model)
        for families, models in groups.items():
            yield self._by_model(entry, where, families, models)

    def _families(self, model: str, entry: OldEntry) -> list[str]:
        """Return the families of our database that a model belongs to, or [] if it is unknown."""
        name = ' '.join(model.split())
        ours = [each for _, each in self._site.database.entries()]
        families = [each['family'] for each in ours if 'models' in each and not (each.get('fallback')
                    or each.get('generic')) and drive_database.names_model(each, name)]
        if families or not set(entry.columns) >= SPINDLE:
            return families
        return [each['family'] for each in ours if each.get('generic') and each.get('kind') == 'hdd']

    def _by_model(self, entry: OldEntry, where: str, families: Sequence[str], models: Sequence[str]) -> Target:
        patterns = limit_conversion.patterns(models)
        database = self._site.database
        specs = [database.read_entry(source, each) for source, each in database.entries() if each['family'] in families]
        meanings = ({number: limit_conversion.of_specs(number, column, specs)
                     for number, column in entry.columns.items()} if families
                    else self._new_entry(entry, where, patterns))
        selector = {'model': patterns[0] if len(patterns) == 1 else f'(?:{"|".join(patterns)})'}
        return Target(where, ', '.join(map(clean, models)), selector, HDD if set(entry.columns) >= SPINDLE else SSD,
                      entry.columns, {**meanings, **_of_standards(entry, 'ATA')}, True)

    def _new_entry(self, entry: OldEntry, where: str, patterns: Sequence[str]) -> dict[int, list[Meaning]]:
        """Add an entry for drives that our database does not contain, and return the meanings of the numbers.

        The entry is a fallback: it defines which numbers to compare, but not what the numbers mean, so it must not hide
        an entry that defines the meanings.
        """
        database = self._site.database
        common = next((each for _, each in database.entries() if each.get('fallback') and not each.get('models')), {})
        known = [database.read_entry('', common)] if common else []
        attributes: MutableJson = {}
        meanings: dict[int, list[Meaning]] = {}
        for number in sorted({*entry.limits, *(entry.graphed or ())} & set(entry.columns)):
            column = entry.columns[number]
            meanings[number] = limit_conversion.of_specs(number, column, known)
            if meanings[number] or not 1 <= number <= 255:
                continue
            metric = f'attribute_{number}_{COLUMNS[column]}'
            meanings[number] = [Meaning(metric)]
            self._entries['metrics'][metric] = {
                'meaning': f'{column} of attribute {number}, compared as in version 1.6', 'unit': '',
                'worse': 'low' if column == files.VALUE else 'high'}
            attributes[str(number)] = {'name': clean(entry.comments.get(number, '')) or f'Attribute_{number}',
                                       'readings': {metric: {'from': COLUMNS[column]}}}
        self._entries['entries'].append({
            'family': f'{clean(entry.name)} (from version 1.6)', 'models': list(patterns), 'fallback': True,
            **{key: common[key] for key in ('uses', 'uses_common') if key in common},
            'attributes': attributes, 'source': f'carried over from version 1.6, {where}'})
        self._lost.append(_NOT_KNOWN.format(where, ', '.join(patterns)))
        return meanings

    def take_users(self, user: OldFile) -> None:
        """Add the entries of a user configuration."""
        for key, data in user.entries.items():
            entry = files.entry(user.name, key, data)
            where = f'{user.name}, {clean(key)}'
            self._lost += entry.faults
            drives = [drive for drive in self._site.drives if key in files.keys_of(drive.device)]
            for drive in drives:
                self._add(self._of_drive(drive, entry, where), self._with_shifts(entry, drive.report.identity))
            if drives:
                continue
            if re.fullmatch(PLAIN_PATH, key):
                self._add(self._of_path(key, entry, where), entry)
            else:
                self._lost.append(f'{where}: the current address of this drive is not known; name the drives of the '
                                  'check, such as -d megaraid,6@/dev/bus/0')

    def _of_drive(self, drive: ReportedDrive, entry: OldEntry, where: str) -> Target:
        """Return the target of a drive that was read."""
        identity, address = drive.report.identity, drive.device.address
        spec = self._site.database.identify(identity, [row.id for row in drive.report.attributes])
        old = self._old_entries(identity)
        columns = {**limit_conversion.columns_of(spec), **(old[0].columns if old else {})}
        meanings = {number: limit_conversion.of_specs(number, column, [spec])
                    for number, column in columns.items()} if identity.protocol == 'ATA' else {}
        return Target(where, address, {'device': address}, identity, columns,
                      {**meanings, **_of_standards(entry, identity.protocol)})

    def _old_entries(self, identity: Identity) -> list[OldEntry]:
        entries = (files.entry_of(database, identity) for database in self._databases)
        return [entry for entry in entries if entry]

    def _with_shifts(self, entry: OldEntry, identity: Identity) -> OldEntry:
        """Return an entry; each limit that lacks a shift gets the shift that the databases define for it."""
        shifts = {number: limit.shift for old in self._old_entries(identity) for number, limit in old.limits.items()}
        return entry._replace(limits={number: limit if limit.shift is not None
                                      else limit._replace(shift=shifts.get(number))
                                      for number, limit in entry.limits.items()})

    def _of_path(self, key: str, entry: OldEntry, where: str) -> Target:
        """Return the target for a plain path whose drive was not read, with only the meanings common to all drives."""
        if key.startswith('/dev/nvme'):
            return Target(where, key, {'device': key}, Identity('NVMe'), {}, _of_standards(entry, 'NVMe'))
        specs = [self._site.database.read_entry(source, each) for source, each in self._site.database.entries()]
        meanings = {number: [meaning for column in COLUMNS
                             for meaning in limit_conversion.of_specs(number, column, specs)]
                    for number in (*entry.limits, *(entry.graphed or ()))}
        return Target(where, key, {'device': key}, Identity(), {}, {**meanings, **_of_standards(entry, 'ATA')})

    def _add(self, target: Target, entry: OldEntry) -> None:
        """Add the limits and graphs of an entry for its drives."""
        metrics: MutableJson = {}
        for number, limit in sorted(entry.limits.items()):
            if number in target.columns or not target.is_database:  # else a fault reports "no effect"
                self._add_limit(number, limit, target, metrics)
        for number in entry.graphed or ():
            meanings = target.meanings.get(number, ())
            if len(meanings) == 1 and not self._our_limit(meanings[0].metric, target).is_graphed:
                metrics.setdefault(meanings[0].metric, {})['graph'] = True
        why = f'carried over from version 1.6, {target.where}'
        if metrics and target.selector is not None:
            self._limits['overrides'].append({'for': target.selector, 'why': why, 'metrics': metrics})
            return
        for metric, fields in metrics.items():
            limits = {field: value for field, value in fields.items() if field != 'graph'}
            self._limits['metrics'].setdefault(metric, {}).update({
                **({target.identity.kind: {**limits, 'why': why}} if limits else {}),
                **({'graph': True} if 'graph' in fields else {})})

    def _add_limit(self, number: int, limit: OldLimit, target: Target, metrics: MutableJson) -> None:
        old = f'{target.where}: {_in_words(number, target)}, "{limit.warning}" and "{limit.critical}"'
        meanings = target.meanings.get(number, ())
        if len(meanings) != 1:
            reason = _why_not(number, limit, len(meanings), target)
            self._lost += [f'{old}: {reason}'] if reason else []
            return
        metric = meanings[0].metric
        fields = {'warning': limit_conversion.converted(limit.warning, limit.shift, meanings[0]),
                  'critical': limit_conversion.converted(limit.critical, limit.shift, meanings[0])}
        if metrics.setdefault(metric, fields) != fields:
            self._lost.append(f'{old}: this is {metric}, which already has a limit from another number; a metric can '
                              'have only one limit')
            return
        bounds = self._our_limit(metric, target)[:2]
        before = [bound.otherwise if isinstance(bound, DriveLimit) else bound for bound in bounds]
        instead = (f', instead of warning {before[0] or "none"}, critical {before[1] or "none"}' if any(before)
                   and before != list(fields.values()) else '')
        self._carried.append(f'{old}: {metric} of {target.shown}, warning {fields["warning"]}, critical '
                             f'{fields["critical"]}{instead}')

    def _our_limit(self, metric: str, target: Target) -> Limit:
        return self._site.limits.limit(metric, Device(''), target.identity, '')


def _of_standards(entry: OldEntry, protocol: str) -> dict[int, list[Meaning]]:
    """Return the meanings of the numbers that are not attributes."""
    meanings = {number: limit_conversion.of_standard(number, protocol) for number in (*entry.limits, *entry.columns)}
    return {number: [meaning] for number, meaning in meanings.items() if meaning}


def _in_words(number: int, target: Target) -> str:
    if target.identity.protocol in ('NVMe', 'SCSI') or number > 255:
        return f'number {number}'
    return f'attribute {number} {target.columns.get(number, "")}'.strip()


def _why_not(number: int, limit: OldLimit, meanings: int, target: Target) -> str:
    """Return why a limit is not converted, or '' if our limits do the same. meanings: how many it has."""
    if number == HEALTH:
        return ('' if (limit.warning, limit.critical) == ('0', '0') else
                'a drive that reports FAILED is critical; an override with "smart_status" can change that')
    if meanings:
        return ('the entries for these drives give it different meanings' if target.columns else
                'it means different things on different drives; name the drive with -d')
    if target.identity.protocol in ('NVMe', 'SCSI') or number in target.columns:
        return 'attributes.json reads no number from it for these drives'
    return ('it is not known whether VALUE or RAW_VALUE is meant; also give the database, and the drive with -d')


def _text(data: MutableJson, schema: str) -> str:
    return formatting.formatted({key: value for key, value in data.items() if value}, schema)


def write(result: Migration, name: str, folder: str) -> list[str]:
    """Write the files of a migration and return their paths. Raises DataError if a file exists or cannot be written."""
    paths = []
    for place, text in (('attributes.d', result.attributes), ('thresholds.d', result.thresholds)):
        if not text:
            continue
        path = os.path.join(folder, place, name)
        try:
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except OSError as error:
            advice = 'move it away first' if isinstance(error, FileExistsError) else 'give another directory with -o'
            raise DataError(f'{path} cannot be written: {error.strerror}; {advice}') from None
        with open(descriptor, 'w', encoding='ascii') as file:
            file.write(text)
        paths.append(path)
    return paths


def report(result: Migration) -> list[str]:
    """Return a line for each part that was converted, and for each part that was not."""
    return ([*(f'carried over: {sentence}' for sentence in result.carried),
             *(f'not carried over: {sentence}' for sentence in result.lost)] or ['there is nothing to carry over'])
