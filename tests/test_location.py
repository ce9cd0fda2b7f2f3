"""Which drive is it: its bay and its light, as Linux tells everybody."""

import os

import pytest

from smart_attributes.model import Device, Place
from smart_attributes.reading.system import System, place


@pytest.fixture
def system(tmp_path):
    """A machine that has told nothing yet."""
    for name in ('sys/block', 'proc/self', 'udev'):
        (tmp_path / name).mkdir(parents=True)
    return System(*(str(tmp_path / name) for name in ('sys', 'proc', 'udev')))


def tells(system, **files):
    """Write files of /sys, /proc and udev; a key is a path with "__" for "/"."""
    for key, text in files.items():
        room, _, path = key.partition('__')
        file = f'{getattr(system, room)}/{path.replace("__", "/")}'

        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, 'w') as target:
            target.write(text + '\n')


def on(system, name='/dev/sda', kind=''):
    return place(Device(name, kind), system)


@pytest.mark.parametrize(
    'path, folder',
    [
        ('/dev/sg2', 'sys__class__scsi_generic__sg2__device__block__sda__x'),
        ('/dev/sda', 'sys__block__sda__x'),
    ],
)
def test_the_bay_and_the_light_of_an_enclosure(system, path, folder):
    """The slot that is printed on the shelf, and what makes it blink; a check names drives by
    sg, too.
    """
    slot = 'sys__block__sda__device__enclosure_device:Slot 07__'
    tells(system, **{folder: '', f'{slot}slot': '7', f'{slot}locate': '0'})

    found = on(system, path)
    light = f"'{system.sys}/block/sda/device/enclosure_device:Slot 07/locate'"
    assert found == Place('slot 7', f'echo 1 > {light}', locate_off=f'echo 0 > {light}')


def test_an_nvme_drive_is_in_the_slot_of_its_address(system):
    """PCI numbers its slots; the drive knows its address only."""
    tells(
        system,
        sys__class__nvme__nvme0__nvme0c0n1__x='',
        sys__bus__pci__slots__12__address='0000:3b:00',
        **{'sys__devices__pci0000:3a__0000:3b:00.0__nvme__nvme0__x': ''},
    )

    os.makedirs(f'{system.sys}/block/nvme0n1')
    os.symlink(
        f'{system.sys}/devices/pci0000:3a/0000:3b:00.0/nvme/nvme0',
        f'{system.sys}/block/nvme0n1/device',
    )

    assert on(system, '/dev/nvme0').bay == 'slot 12'


@pytest.mark.parametrize(
    'kind, place, where',
    [
        ('megaraid,6', Place(drive_id='6'), "controller's drive ID 6, slot unknown"),
        (
            'sat+megaraid,6',
            Place(drive_id='6'),
            "controller's drive ID 6, slot unknown",
        ),
        ('cciss,0', Place(drive_id='0'), "controller's drive ID 0, slot unknown"),
        (
            'aacraid,0,0,4',
            Place(drive_id='0,4'),
            "controller's drive ID 0,4, slot unknown",
        ),
        ('areca,3/2', Place('slot 3'), 'slot 3'),
        ('3ware,0', Place('port 0'), 'port 0'),
        ('sssraid,2,5', Place('slot 5 of enclosure 2'), 'slot 5 of enclosure 2'),
        ('sat', Place(), ''),
    ],
)
def test_the_number_that_a_controller_gives_a_drive_is_no_bay(
    system, kind, place, where
):
    """Who pulls "drive 6" pulls another disk."""
    found = on(system, '/dev/sg9', kind)
    assert (found, found.where) == (place, where)


def test_a_recorded_report_has_no_place(system):
    """This machine's sda is another one."""
    tells(system, **{'sys__block__sda__device__enclosure_device:1__slot': '1'})

    assert place(Device('/dev/sda', is_recorded=True), system) == Place()
