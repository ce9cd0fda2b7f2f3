"""names: short, and each borne by one drive."""

import random
import string
from itertools import product

import pytest

from smart_attributes.reading.addresses import labelled, named, parse, slug, unique

KINDS = (
    'sat,auto,16',
    'nvme,0x1',
    'usbjmicron,p,x,0',
    'sntjmicron,0x1/sat',
    'areca,128/8',
    'hpt,8/128/15',
    'megaraid,255',
    'sat+megaraid,0',
    'aacraid,1,2,3',
    'sat,auto+cciss,1',
)


def names(*addresses):
    return [
        device.name
        for device in named([device for text in addresses for device in parse(text)])
    ]


def test_a_name_grows_only_where_it_must():
    """Graphs hang on names: an unrelated drive must not rename another."""
    assert names('sat@/dev/sda', 'scsi@/dev/sda', '/dev/sdb') == [
        'sda_sat',
        'sda_scsi',
        'sdb',
    ]


def test_the_same_address_twice_is_one_device():
    """And it is wanted if it is wanted by one of them."""
    addresses = [*parse('megaraid,[6]@/dev/bus/0'), *parse('megaraid6,/dev/bus/0')]

    for devices in (addresses, addresses[::-1]):
        [device] = named(devices)
        assert (device.name, device.optional) == ('bus_0_megaraid_6', False)


@pytest.mark.parametrize(
    'address, name',
    [
        ('/dev/disk/by-id/ata-A_1', 'ata_a_1'),
        ('sat,12@/dev/sda', 'sda'),
        ('usbjmicron,x@/dev/sda', 'sda'),
        ('sntjmicron,0xab/sat@/dev/sda', 'sda_sntjmicron_0xab'),
    ],
)
def test_a_short_name_holds_only_what_picks_the_drive(address, name):
    assert names(address) == [name]


def test_a_path_within_a_path_stays():
    assert names('/dev/a/dev/b', '/dev/a_dev_b') == [
        '_2fdev_2fa_2fdev_2fb',
        '_2fdev_2fa_5fdev_5fb',
    ]


def test_names_depend_on_the_devices_and_not_on_their_order():
    """A scan may list drives in another order after each boot."""
    paths = ['/dev/sda', '/dev/sdA', '/dev/s-da', '/dev/disk/by-id/sda', '/dev/@']
    devices = [
        device
        for kind, path in product(KINDS, paths)
        for device in parse(f'{kind}@{path}')
    ]
    expected = {device.address: device.name for device in named(devices)}
    shuffler = random.Random(1)

    assert len(set(expected.values())) == len(expected)
    assert all(
        set(name) <= set(string.ascii_lowercase + string.digits + '_') and name
        for name in expected.values()
    )
    for _ in range(5):
        shuffler.shuffle(devices)
        assert {device.address: device.name for device in named(devices)} == expected


def test_a_label_that_two_drives_share_tells_their_addresses():
    """Serial numbers of cheap drives repeat; a graph belongs to one drive."""
    devices = named(
        [device for letter in 'abcd' for device in parse(f'/dev/sd{letter}')]
    )
    labels = ['S1', 's1', 'S1 sda', '']

    assert [device.name for device in labelled(devices, labels)] == [
        '_2fdev_2fsda',
        's1_sdb',
        's1_sda_sdc',
        'sdd',
    ]


def test_names_grow_until_no_two_are_equal():
    """One that has nothing longer keeps what it has."""
    assert unique(map(iter, (['a', 'a_1'], ['a', 'b', 'b_2'], ['b']))) == [
        'a_1',
        'b_2',
        'b',
    ]


def test_a_name_begins_and_ends_with_a_letter_or_digit():
    assert [slug(text) for text in ('--Bus 0--', '_a_', '///', '')] == [
        'bus_0',
        'a',
        'drive',
        'drive',
    ]
