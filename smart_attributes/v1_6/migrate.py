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
from ..knowledge import formatting, ranges, schema_errors
from ..knowledge.drive_database import DriveSpec, SpecDatabase
from ..model import Device, Identity, Read, Report
from ..reading.content import object_of
from ..typed import Json, MutableJson
from ..words import clean, literally, visible
from . import files
from .limit_conversion import (
    LOGS,
    Meaning,
    column_of,
    converted,
    limits_of,
    of_attribute,
)

HEALTH = '1025'  # number of the drive's own verdict: 0 is passed
# name of an entry -> protocol
GENERIC: Mapping[str, str] = {'Generic NVMe': 'NVMe', 'Generic SAS': 'SCSI'}


class OldFile(NamedTuple):
    """A database (entries by family) or a user configuration (entries by device path) of version
    1.6.
    """

    name: str
    entries: Json
    checksum: str


class Target(NamedTuple):
    """The drives of an old entry."""

    where: str  # "check_smartdb.json, Intel 53X"
    shown: str  # model or address of the drives: "INTEL SSDSC2BB240G4"
    selector: Json | None  # "for" of an override; None: all drives of this kind
    identity: Identity  # the known parts of the identity
    entry: Json


def old_file(path: str) -> OldFile:
    """Return a file of version 1.6.

    Raises DataError if it cannot be read or is another kind of file.
    """
    data, text = files.read(path)
    name = os.path.basename(path)
    if not files.is_of_1_6(data):
        raise DataError(
            f'{name} is not a file of version 1.6, because it has no "Devices"; specify a '
            'check_smartdb.json or a user configuration'
        )
    return OldFile(name, data['Devices'], files.digest(text))


def plain_paths(old: Sequence[OldFile]) -> list[str]:
    """Return the keys of user configurations that are paths at which smartctl can read a drive, such as
    "/dev/sda"; not "/dev/megaraid_6".
    """
    plain = '/dev/(?:[a-z]+|nvme[0-9]+(?:n[0-9]+)?|disk/by-[a-z]+/[^/]+)'
    return [key for file in old for key in file.entries if re.fullmatch(plain, key)]


def keys_of(device: Device) -> Sequence[str]:
    """Return the keys that user configurations may have for a device: its paths and address, or
    "/dev/megaraid6", "/dev/areca_1_1" for a slot of a controller.
    """
    kind = device.type.rpartition('+')[2]
    if ',' not in kind:
        return (
            device.address,
            device.path,
            os.path.realpath(device.path),
            f'/dev/{device.name}',
        )
    slot = '/dev/' + re.sub('[,/]', '_', kind)  # "/dev/megaraid_6"
    joined = slot.replace('_', '', 1)  # "/dev/megaraid6"
    with_path = f'{slot}_{os.path.basename(device.path)}'  # "/dev/megaraid_6_0"
    return device.address, slot, joined, with_path


class Migration:
    """The files as limits of this version: the new file as text, and messages about its content."""

    def __init__(
        self, old: Sequence[OldFile], database: SpecDatabase, drives: Sequence[Read]
    ) -> None:
        """Convert the files. Raises DataError if a check would reject the new file.

        database: with the local entries. drives: the drives that were read.
        """
        self._database, self._drives = database, drives
        self._metrics: MutableJson = {}
        self._overrides: list[MutableJson] = []
        self.carried: list[str] = []
        self.lost: list[str] = []
        for file in old:
            self._take(file)
        data: MutableJson = {'migrated': [file.checksum for file in old]}
        if self._metrics:
            data['metrics'] = self._metrics
        if self._overrides:
            data['overrides'] = self._overrides
        self.text = formatting.formatted(data)
        schema_errors.checked(self.text, 'thresholds', old[0].name)

    def _take(self, file: OldFile) -> None:
        """Add the entries of a file, except entries that were shipped with version 1.x."""
        shipped = 0
        for name, entry in file.entries.items():
            where = f'{file.name}, {clean(name)}'
            if files.is_shipped(name, entry):
                shipped += 1
            elif not isinstance(entry, dict):
                self.lost.append(f'{where}: it is not an object')
            else:
                self._take_entry(name, entry, where)
        if shipped:
            self.carried.append(
                f'{file.name}: {shipped} of {len(file.entries)} entries are unchanged defaults of '
                'version 1.x and were not converted; the limits of the installed version apply'
            )

    def _take_entry(self, name: str, entry: Json, where: str) -> None:
        """Add the limits of an entry for all drives of a protocol, for a device path, or for models.

        name: of the entry. where: file and entry, for messages.
        """
        models = entry.get('Device')
        if name in GENERIC:
            identity = Identity(GENERIC[name])
            shown = f'all {identity.protocol} drives'
            self._add(
                Target(where, shown, selector=None, identity=identity, entry=entry), ()
            )
        elif name.startswith('/'):
            self._at_path(name, entry, where)
        elif isinstance(models, list) and models:
            for model in models:
                self._of_model(str(model), entry, where)
        else:
            self.lost.append(f'{where}: "Device" lists no models')

    def _at_path(self, key: str, entry: Json, where: str) -> None:
        """Add the limits of an entry for the drive that was read at its device path."""
        has_answered = False
        for read in self._drives:
            report = read.outcome
            address = read.device.address
            if isinstance(report, Report) and key in keys_of(read.device):
                has_answered = True
                self._add(
                    Target(
                        where,
                        address,
                        selector={'device': address},
                        identity=report.identity,
                        entry=entry,
                    ),
                    [row.id for row in report.attributes],
                )
        if not has_answered:
            self.lost.append(
                f'{where}: this drive did not answer; name it with -d, such as -d megaraid,6@/dev/bus/0'
            )

    def _of_model(self, model: str, entry: Json, where: str) -> None:
        """Add the limits of an entry for one of its models, if this is a whole model."""
        name = ' '.join(model.split())
        is_whole = len(name) >= 4 and re.search('[0-9]', name)
        # not brackets and full stops, which occur in models: "Red (AF)", "7200.9"
        is_pattern = re.search(r'[*+?[|\\{]', name)
        if is_pattern or not is_whole:
            self.lost.append(
                f'{where}: "{clean(model)}" is not one model, but a family, a vendor or a '
                'pattern; write an override for each model, see doc/reference/limits.md'
            )
            return
        # Version 1.6 compared only the ends of models, so the vendor may be missing.
        vendor = '' if ' ' in name or '_' in name else '(?:.*[ _])?'
        columns = object_of(entry, 'ID#')
        # starts and start retries
        is_hard_disk = '4' in columns and '10' in columns
        identity = Identity('ATA', model=name, rotation=7200 if is_hard_disk else 0)
        numbers = [int(number) for number in columns if _is_number(number)]
        target = Target(
            where,
            clean(name),
            selector={'model': vendor + literally(name)},
            identity=identity,
            entry=entry,
        )
        self._add(target, numbers)

    def _add(self, target: Target, attributes: Sequence[int]) -> None:
        """Add the limits of an entry for its drives, and a message for each that is not converted.

        attributes: those that the drives report.
        """
        metrics: MutableJson = {}
        spec = self._database.identify(target.identity, attributes)
        for number, data in object_of(target.entry, 'Threshs').items():
            try:
                self._add_limit(number, data, target=target, spec=spec, metrics=metrics)
            except UsageError as reason:
                self.lost.append(
                    f'{target.where}: ID {number[:40]} ({json.dumps(data)[:60]}) '
                    f'of {target.shown}: {reason}'
                )
        if not metrics:
            return
        why = f'migrated from version 1.6, {target.where}'
        if target.selector:
            self._overrides.append(
                {'for': target.selector, 'why': why, 'metrics': metrics}
            )
        else:
            for metric, limits in metrics.items():
                self._metrics.setdefault(metric, {})[target.identity.kind] = {
                    **limits,
                    'why': why,
                }

    def _add_limit(
        self,
        number: str,
        data: Any,
        target: Target,
        spec: DriveSpec,
        metrics: MutableJson,
    ) -> None:
        """Add a limit to *metrics*. Raises UsageError, with the reason, if this is not possible."""
        old_warning, old_critical = limits_of(data)
        if number == HEALTH and old_warning == old_critical == '0':
            return  # our limits do the same
        meaning = _meaning(number, target, spec)
        metric = meaning.metric
        warning = converted(old_warning, meaning)
        critical = converted(old_critical, meaning)
        fault = ranges.contradiction(
            warning, critical, self._database.worse.get(metric, '')
        )
        if fault:
            raise UsageError(f'as {metric}, {fault}')
        fields = {'warning': warning, 'critical': critical}
        if metrics.get(metric, fields) != fields:
            raise UsageError(f'{metric} already has limits from another attribute ID')
        metrics[metric] = fields
        self.carried.append(
            f'{target.where}: "{old_warning}" and "{old_critical}" of ID {number} become the limits of '
            f'{metric} for {target.shown}: warning {warning}, critical {critical}'
        )


def _is_number(text: str) -> bool:
    return re.fullmatch('[0-9]{1,4}', text) is not None


def _meaning(text: str, target: Target, spec: DriveSpec) -> Meaning:
    """Return the meaning of a number for the drives of an entry: an attribute of an ATA drive, else
    a line of a log.

    Raises UsageError if it is not known.
    """
    if not _is_number(text):
        raise UsageError('this is not an attribute number')
    if text == HEALTH:
        raise UsageError(
            'a drive that reports FAILED is critical; an override with "smart_status" can change that'
        )
    number = int(text)
    # An entry for models, or for all drives of a protocol, lists each number in "ID#", with the
    # column of an attribute. An entry for an address has no "ID#".
    is_for_address = target.selector is not None and 'device' in target.selector
    columns = object_of(target.entry, 'ID#')
    if not is_for_address and text not in columns:
        raise UsageError(
            '"ID#" does not list this number, so version 1.6 never evaluated it'
        )
    protocol = target.identity.protocol
    if protocol in ('NVMe', 'SCSI') or number > 255:
        meaning = LOGS.get(protocol, {}).get(number)
        meanings = [meaning] if meaning else []
    elif is_for_address:
        meanings = of_attribute(number, column_of(number, spec), spec)
    else:
        # For a missing or unknown column, of_attribute() returns no meaning.
        column = str(object_of(columns, text).get('value', ''))
        meanings = of_attribute(number, column, spec)
    if not meanings:
        raise UsageError(
            'attributes.json does not say what this number means for these drives; to draft an '
            'entry, run: check_smart_attributes draft'
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
        with open(path, 'x', encoding='ascii') as file:
            file.write(result.text)
    except OSError as error:
        advice = (
            'move it away first'
            if isinstance(error, FileExistsError)
            else 'run migrate as root'
        )
        raise DataError(
            f'{path} cannot be written: {error.strerror}; {advice}'
        ) from None
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
    yield from (
        f'The converted limits are in force for every check with the configuration directory {visible(config)}.',
        'To see the limits of a drive and who set them, run: check_smart_attributes explain -v -d ADDRESS',
        '"Perfs" lists are not converted, because this version has other labels; -ap prints all '
        'performance data.',
    )
