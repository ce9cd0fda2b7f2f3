"""The one table of smartctl's types: what each entry must hold, and that everything else follows
from it.
"""

import re

import pytest
import tables
import type_examples

from smart_attributes.errors import DriveAbsent, DriveError
from smart_attributes.reading import (
    addresses,
    device_types,
    failure_causes,
    failure_reasons,
    sudoers,
    system,
)
from smart_attributes.reading.device_types import DeviceType
from smart_attributes.reading.smartctl_calls import read_arguments

RAID = type_examples.CONTROLLERS


def lacks(entry: DeviceType, documented: tables.Documented) -> list[str]:
    """Return what the entry of a controller lacks, or has wrong: the field, and what belongs
    into it.
    """
    each, places = entry.controller, len(re.findall('[A-Z]+', entry.form))
    always = len(re.findall('[A-Z]+', entry.form.partition('[')[0]))
    kind, _, path = documented.example.partition('@/dev/')
    checks = [
        (each.name, 'name: how do messages call the controller?'),
        (
            len(each.slots) == places,
            f'slots: give limits for each of the {places} numbers of {entry.form}',
        ),
        (
            all(0 <= low <= high for low, high in each.slots),
            'slots: the lowest number comes first',
        ),
        (
            re.fullmatch(sudoers.type_expression(entry), kind),
            f'example: an address with the type {entry.form}',
        ),
        (
            re.fullmatch(entry.nodes or '|'.join(sudoers.PATHS), path),
            'example: a path that the sudo rule admits',
        ),
        (
            '`' in documented.paths,
            'paths: which paths lead to the controller, for doc/how-to/raid.md',
        ),
        (
            all(
                int(number) < always
                for number in re.findall('{([0-9]+)}', each.bay + each.drive_id)
            ),
            f'bay, drive_id: {always} are always there',
        ),
        (
            re.fullmatch(r'([0-9]+\.[0-9]+)?', documented.since),
            'since: a version of smartctl, such as 7.5',
        ),
        (
            bool(each.bay) is not bool(each.drive_id),
            'bay or drive_id: where the drive is',
        ),
        (not entry.arguments, 'arguments: form and slots are enough'),
    ]
    return [field for is_there, field in checks if not is_there]


@pytest.mark.parametrize('entry', RAID, ids=lambda entry: entry.name)
def test_an_entry_for_a_controller_lacks_nothing(entry):
    """A failure names the field."""
    assert lacks(entry, tables.CONTROLLERS[entry.name]) == []


@pytest.mark.parametrize('entry', RAID, ids=lambda entry: entry.name)
def test_a_controller_is_known_everywhere_by_its_entry(entry):
    [device] = addresses.parse(tables.CONTROLLERS[entry.name].example)
    arguments = read_arguments(device.path, device.type)
    place = system.place(device)

    assert device_types.is_raid(device)
    assert device.address == tables.CONTROLLERS[entry.name].example
    assert addresses.short_name(device).endswith('_' + re.sub('[,/]', '_', device.type))
    assert sudoers.admits(sudoers.all_expressions([entry.name]), arguments)
    assert sudoers.admits(sudoers.all_expressions(), arguments) is not entry.is_vendors
    assert bool(place.bay) is bool(entry.controller.bay) and '{' not in place.where
    assert re.search(failure_causes.SLOT, f'[{entry.name}_disk_00]')
    assert [
        row
        for row in tables.controllers()
        if f'`{entry.form.partition("[")[0]}`' in row
    ]


@pytest.mark.parametrize(
    'device_type, is_empty',
    [(type_examples.of(entry)[0], entry.controller.silent_is_empty) for entry in RAID]
    + [('sat', False)],
)
def test_a_silent_slot_is_empty_where_its_entry_says_so(device_type, is_empty):
    error = failure_reasons.without_data(
        exit_status=2, is_identified=False, device_type=device_type, complaint=''
    )

    assert isinstance(error, DriveError) and isinstance(error, DriveAbsent) is is_empty
