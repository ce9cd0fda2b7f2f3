"""The one table of smartctl's types: what each entry must hold, and that others follow from it."""
from __future__ import annotations

import re

import pytest
from conftest import ROOT

from smart_attributes.errors import DriveAbsent, DriveError, UsageError
from smart_attributes.model import Device
from smart_attributes.reading import addresses, device_types, failure_reasons, fast_path, location, names, sudoers
from smart_attributes.reading.smartctl_calls import read_arguments

RAID = [entry for entry in device_types.TYPES if entry.controller]


def lowest(entry: device_types.DeviceType) -> str:
    """Return the type with the lowest of its numbers: "areca,1/1"."""
    limits = iter(entry.slots)
    return re.sub('[A-Z]+', lambda _: str(next(limits)[0]), entry.form.replace('[', '').replace(']', ''))


@pytest.mark.parametrize('entry', RAID, ids=lambda entry: entry.name)
def test_an_entry_for_a_controller_lacks_nothing(entry):
    """A failure names the field or the document that the new entry lacks."""
    places = len(re.findall('[A-Z]+', entry.form))
    used = [int(number) for number in re.findall('{([0-9]+)}', entry.controller.bay)]

    assert entry.controller.name, 'name: what do messages call the controller?'
    assert len(entry.slots) == places, f'slots: give limits for each of the {places} numbers of {entry.form}'
    assert all(0 <= low <= high for low, high in entry.slots), 'slots: the lowest number comes first'
    assert all(number < places for number in used), f'bay: {entry.form} has {places} numbers'
    assert entry.name in (ROOT / 'doc/raid.md').read_text(), 'doc/raid.md: add a row'


@pytest.mark.parametrize('entry', RAID, ids=lambda entry: entry.name)
def test_a_controller_is_known_everywhere_by_its_entry(entry):
    kind = lowest(entry)
    path = '/dev/sg1' if entry.nodes.startswith('sg') else '/dev/twa0' if entry.nodes else '/dev/sda'
    device, = addresses.parse(f'{kind}@{path}')
    rule = list(sudoers.all_expressions([entry.name]))
    bay = location.place(device).bay

    assert (device.type, device_types.is_raid(device)) == (kind, True)
    assert names.short_name(device).endswith('_'.join([entry.name, *re.findall('[0-9]+', kind[len(entry.name):])]))
    assert sudoers.admits(rule, read_arguments(path, kind))
    assert sudoers.admits(sudoers.all_expressions(), read_arguments(path, kind)) is not entry.is_vendors
    assert bool(bay) is bool(entry.controller.bay) and '{' not in bay
    assert re.search(failure_reasons._SLOT, f'[{entry.name}_disk_00]')


@pytest.mark.parametrize('name', device_types.REFUSED)
def test_a_type_that_is_refused_has_no_entry(name):
    assert name not in device_types.BY_NAME
    with pytest.raises(UsageError):
        addresses.parse(f'{name},0@/dev/sda')


@pytest.mark.parametrize('device_type, is_empty', [
    (lowest(entry), entry.controller.silent_is_empty) for entry in RAID] + [('sat', False)])
def test_a_silent_slot_is_empty_where_its_entry_says_so(device_type, is_empty):
    error = failure_reasons.without_data(failure_reasons.Remains(2, device_type=device_type))

    assert isinstance(error, DriveError) and isinstance(error, DriveAbsent) is is_empty


def test_a_type_behind_a_tunnel_is_the_same_controller():
    assert device_types.controller('sat+megaraid,6') is device_types.BY_NAME['megaraid'].controller
    assert device_types.controller('sat') is None and device_types.controller('') is None
    assert not device_types.is_raid(Device('/dev/sda', 'usbjmicron,0'))


@pytest.mark.parametrize('name', fast_path.CONTROLLERS)
def test_the_early_start_knows_only_types_of_one_number_that_send_no_vendor_commands(name):
    entry = device_types.BY_NAME[name.rpartition('+')[2]]

    assert len(entry.slots) == 1 and not entry.is_vendors and (entry.is_scsi or '+' not in name)
