"""Convert files of version 1.6 to a file with limits of this version, and report each part that
is not converted.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import DataError, UsageError
from ..knowledge import data_errors, formatting, ranges, schema_errors
from ..knowledge.drive_database import DriveSpec, SpecDatabase
from ..knowledge.thresholds import DriveLimit, Thresholds
from ..model import Device, Identity, Read, Report
from ..reading.content import object_of
from ..typed import Json, MutableJson
from ..words import clean, literally, visible
from . import files, limit_conversion
from .limit_conversion import Meaning

HEALTH = '1025'  # number of the drive's own verdict: 0 is passed
# name of an entry -> protocol
GENERIC: Mapping[str, str] = {'Generic NVMe': 'NVMe', 'Generic SAS': 'SCSI'}
SPINDLE = frozenset(('4', '10'))  # starts and start retries, which only hard disks count
PLAIN_PATH = r'/dev/(?:[a-z]+|nvme[0-9]+(?:n[0-9]+)?|disk/by-[a-z]+/[^/]+)'
SHOWN = 40  # characters of a number that a message quotes
SHORTEST = 4  # fewest characters of a model
# not brackets and full stops, which occur in models: "Red (AF)", "7200.9"
EXPRESSION = frozenset('*+?[|\\{')


class OldFile(NamedTuple):
    """A database (entries by family) or a user configuration (entries by device path) of version
    1.6.
    """

    name: str
    entries: Json
    checksum: str


class Installation(NamedTuple):
    """The local limits and entries, and the drives that were read."""

    database: SpecDatabase
    limits: Thresholds
    drives: Sequence[Read] = ()


class Migration(NamedTuple):
    """The result of a migration: the new file as text, and messages about its content."""

    text: str
    carried: tuple[str, ...]
    lost: tuple[str, ...]


class Target(NamedTuple):
    """The drives of an old entry."""

    where: str  # "check_smartdb.json, Intel 53X"
    shown: str  # model or address of the drives: "INTEL SSDSC2BB240G4"
    selector: Json | None  # "for" of an override; None: all drives of this kind
    identity: Identity  # the known parts of the identity
    spec: DriveSpec


def old_file(path: str) -> OldFile:
    """Return a file of version 1.6.

    Raises DataError if it cannot be read or is another kind of file.
    """
    data, text = files.read(path)
    name = os.path.basename(path)
    if not files.is_of_1_6(data):
        raise DataError(
            f'{name} is not a file of version 1.6, because it has no "Devices"; give a '
            f'check_smartdb.json '
            'or a user configuration'
        )
    return OldFile(name, data['Devices'], files.digest(text))


def plain_paths(old: Sequence[OldFile]) -> list[str]:
    """Return the drives of user configurations that can be read at their keys."""
    return [key for file in old for key in file.entries if re.fullmatch(PLAIN_PATH, key)]


def keys_of(device: Device) -> frozenset[str]:
    """Return the keys that user configurations may have for a device: "/dev/megaraid6",
    "/dev/areca_1_1".
    """
    kind = device.type.rpartition('+')[2]
    if ',' not in kind:
        return frozenset(
            (device.address, device.path, os.path.realpath(device.path), f'/dev/{device.name}')
        )
    slot = '/dev/' + re.sub('[,/]', '_', kind)
    return frozenset(
        (device.address, slot, slot.replace('_', '', 1), f'{slot}_{os.path.basename(device.path)}')
    )


def migration(old: Sequence[OldFile], site: Installation) -> Migration:
    """Return the files as limits of this version. Raises DataError if a check would reject them."""
    work = _Work(site)
    for file in old:
        work.take(file)
    return work.result(old)


class _Work:
    """A migration in progress."""

    def __init__(self, site: Installation) -> None:
        self._site = site
        self._metrics: MutableJson = {}
        self._overrides: list[MutableJson] = []
        self._carried: list[str] = []
        self._lost: list[str] = []

    def result(self, old: Sequence[OldFile]) -> Migration:
        """Return the migration of all files taken so far.

        Raises DataError if a check would reject the new file.
        """
        data: MutableJson = {'migrated': [file.checksum for file in old]}
        if self._metrics:
            data['metrics'] = self._metrics
        if self._overrides:
            data['overrides'] = self._overrides
        text = formatting.formatted(data, 'thresholds')
        name = old[0].name
        limits = schema_errors.checked(text, 'thresholds', name)
        for mistake in data_errors.of_limits(limits, self._site.database.units):
            raise DataError(f'{name}: {mistake.sentence}')
        return Migration(text, tuple(self._carried), tuple(self._lost))

    def take(self, file: OldFile) -> None:
        """Add the entries of a file, except entries that were shipped with version 1.x."""
        shipped = 0
        for name, entry in file.entries.items():
            where = f'{file.name}, {clean(name)}'
            if files.is_shipped(name, entry):
                shipped += 1
            elif not isinstance(entry, dict):
                self._lost.append(f'{where}: it is not an object')
            else:
                for target in self._targets(name, entry, where):
                    self._add(target, entry)
        if shipped:
            self._carried.append(
                f'{file.name}: {shipped} of {len(file.entries)} entries are those of version 1.x; '
                'the limits of this version replace them'
            )

    def _targets(self, name: str, entry: Json, where: str) -> Iterator[Target]:
        if name in GENERIC:
            identity = Identity(GENERIC[name])
            yield Target(
                where,
                f'all {identity.protocol} drives',
                None,
                identity,
                self._site.database.identify(identity, ()),
            )
        elif name.startswith('/'):
            yield from self._at_path(name, where)
        else:
            models = entry.get('Device')
            if not isinstance(models, list) or not models:
                self._lost.append(f'{where}: "Device" lists no models')
                return
            for model in models:
                yield from self._of_model(str(model), entry, where)

    def _at_path(self, key: str, where: str) -> Iterator[Target]:
        drives = [
            (read.device.address, read.outcome)
            for read in self._site.drives
            if key in keys_of(read.device) and isinstance(read.outcome, Report)
        ]
        for address, report in drives:
            numbers = [row.id for row in report.attributes]
            yield Target(
                where,
                address,
                {'device': address},
                report.identity,
                self._site.database.identify(report.identity, numbers),
            )
        if not drives:
            self._lost.append(
                f'{where}: this drive did not answer; name it with -d, such as '
                '-d megaraid,6@/dev/bus/0'
            )

    def _of_model(self, model: str, entry: Json, where: str) -> Iterator[Target]:
        name = ' '.join(model.split())
        if len(name) < SHORTEST or not re.search('[0-9]', name) or not EXPRESSION.isdisjoint(name):
            self._lost.append(
                f'{where}: "{clean(model)}" is not a whole model, but a family, a vendor or a '
                f'pattern; '
                'write an override for the model, see doc/reference/limits.md'
            )
            return
        # Version 1.6 compared only the ends of models, so the vendor may be missing.
        vendor = '' if ' ' in name or '_' in name else '(?:.*[ _])?'
        columns = object_of(entry, 'ID#')
        identity = Identity('ATA', model=name, rotation=7200 if columns.keys() >= SPINDLE else 0)
        yield Target(
            where,
            clean(name),
            {'model': vendor + literally(name)},
            identity,
            self._site.database.identify(
                identity, [int(number) for number in columns if _is_number(number)]
            ),
        )

    def _add(self, target: Target, entry: Json) -> None:
        """Add the limits of an entry for its drives."""
        metrics: MutableJson = {}
        for number, data in object_of(entry, 'Threshs').items():
            try:
                self._add_limit(number, data, entry, target, metrics)
            except UsageError as reason:
                self._lost.append(
                    f'{target.where}: number {number[:SHOWN]}, {json.dumps(data)[:60]}, '
                    f'of {target.shown}: {reason}'
                )
        why = f'migrated from version 1.6, {target.where}'
        if metrics and target.selector:
            self._overrides.append({'for': target.selector, 'why': why, 'metrics': metrics})
            return
        for metric, limits in metrics.items():
            self._metrics.setdefault(metric, {})[target.identity.kind] = {**limits, 'why': why}

    def _add_limit(
        self, number: str, data: Any, entry: Json, target: Target, metrics: MutableJson
    ) -> None:
        """Add a limit to *metrics*. Raises UsageError, with the reason, if this is not possible."""
        old_warning, old_critical = limit_conversion.limits_of(data)
        if number == HEALTH and old_warning == old_critical == '0':
            return  # our limits do the same
        meaning = _meaning(number, entry, target)
        metric = meaning.metric
        warning = limit_conversion.converted(old_warning, meaning)
        critical = limit_conversion.converted(old_critical, meaning)
        fault = ranges.contradiction(warning, critical, self._site.database.worse.get(metric, ''))
        if fault:
            raise UsageError(f'as {metric}, {fault}')
        fields = {'warning': warning, 'critical': critical}
        if metrics.setdefault(metric, fields) != fields:
            raise UsageError(f'it is {metric}, which already has a limit from another number')
        self._carried.append(
            f'{target.where}: number {number}, "{old_warning}" and "{old_critical}": {metric} of '
            f'{target.shown}, '
            f'warning {warning}, critical {critical}{self._instead(metric, target)}'
        )

    def _instead(self, metric: str, target: Target) -> str:
        """Return which limits are replaced."""
        ours = self._site.limits.limit(
            metric, Device(''), target.identity, target.spec.family or ''
        )
        warning, critical = (
            bound.otherwise if isinstance(bound, DriveLimit) else bound
            for bound in (ours.warning, ours.critical)
        )
        if not warning and not critical:
            return ''
        return f', instead of warning {warning or "none"}, critical {critical or "none"}'


def _is_number(text: str) -> bool:
    return re.fullmatch('[0-9]{1,4}', text) is not None


def _meaning(text: str, entry: Json, target: Target) -> Meaning:
    """Return the meaning of a number for the drives of an entry.

    Raises UsageError if it is not known.
    """
    if not _is_number(text):
        raise UsageError('this is not an attribute number')
    number, protocol = int(text), target.identity.protocol
    if text == HEALTH:
        raise UsageError(
            'a drive that reports FAILED is critical; an override with "smart_status" can change '
            'that'
        )
    columns = object_of(entry, 'ID#')
    is_database = target.selector is None or 'model' in target.selector
    if is_database and text not in columns:
        raise UsageError('it is not in ID#, so version 1.6 never evaluated it')
    if protocol in ('NVMe', 'SCSI') or number > 255:
        meanings = [
            meaning
            for place, meaning in limit_conversion.LOGS.get(protocol, {}).items()
            if place == number
        ]
    else:
        column = limit_conversion.column_of(number, target.spec)
        if is_database:
            column = str(object_of(columns, text).get('value'))
        meanings = limit_conversion.of_attribute(number, column, target.spec)
    if not meanings:
        raise UsageError(
            'attributes.json does not define what it means for these drives; for an entry that '
            'does, '
            'run: check_smart_attributes draft'
        )
    if len(meanings) > 1:
        raise UsageError(
            'it has several meanings; write an override for one of '
            + ', '.join(meaning.metric for meaning in meanings)
        )
    return meanings[0]


def write(result: Migration, name: str, config: str) -> str:
    """Write the file of a migration to thresholds.d and return its path.

    Raises DataError if the file exists or cannot be written. config: the configuration directory.
    """
    path = os.path.join(config, 'thresholds.d', name)
    try:
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644
        )
    except OSError as error:
        advice = (
            'move it away first' if isinstance(error, FileExistsError) else 'run migrate as root'
        )
        raise DataError(f'{path} cannot be written: {error.strerror}; {advice}') from None
    with open(descriptor, 'w', encoding='ascii') as file:
        file.write(result.text)
    return path


def report(result: Migration, path: str, config: str) -> Iterator[str]:
    """Yield what was converted, where it is in force and how to see it, and each part that was
    not converted.
    """
    yield f'written: {visible(path)}'
    for sentence in result.carried:
        yield f'converted: {sentence}'
    for sentence in result.lost:
        yield f'not converted: {sentence}'
    yield (
        f'The converted limits are in force for every check with the configuration '
        f'directory {visible(config)}.'
    )
    yield (
        'To see the limits of a drive and who set them, run: check_smart_attributes '
        'explain -v -d ADDRESS'
    )
    yield (
        'Lists "Perfs" are not converted: performance data has the labels of this '
        'version, and -ap prints all of it.'
    )
