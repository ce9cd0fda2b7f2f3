"""addresses: what admins write, and what is refused."""

import json
import os
import string
import subprocess

import pytest
import tables
import type_examples

from smart_attributes.constants import MOST_SLOTS, SMARTCTL
from smart_attributes.errors import UsageError
from smart_attributes.model import Device
from smart_attributes.reading.addresses import parse
from smart_attributes.reading.device_types import TYPES, UNREAD, is_raid


def one(text):
    """Return path, type and name of an address that means one device."""
    [device] = parse(text)
    assert not device.optional
    return device.path, device.type, device.name


# What is accepted


@pytest.mark.parametrize(
    'text, path, kind, name',
    [
        ('/dev/sda', '/dev/sda', '', 'sda'),
        ('/dev/nvme0n1', '/dev/nvme0n1', '', 'nvme0n1'),
        (
            '/dev/disk/by-id/ata-MODEL-X1_S0000A',
            '/dev/disk/by-id/ata-MODEL-X1_S0000A',
            '',
            'ata_model_x1_s0000a',
        ),
        ('auto@/dev/sda', '/dev/sda', '', 'sda'),
        ('sat@/dev/sg2', '/dev/sg2', 'sat', 'sg2'),
        ('scsi@/dev/sg3', '/dev/sg3', 'scsi', 'sg3'),
        ('megaraid,6@/dev/bus/0', '/dev/bus/0', 'megaraid,6', 'bus_0_megaraid_6'),
        ('sat+megaraid,6@/dev/sda', '/dev/sda', 'sat+megaraid,6', 'sda_megaraid_6'),
        (
            'sat,auto,16+megaraid,06@/dev/sda',
            '/dev/sda',
            'sat,auto,16+megaraid,6',
            'sda_megaraid_6',
        ),
        ('cciss,1@/dev/sg0', '/dev/sg0', 'cciss,1', 'sg0_cciss_1'),
        ('scsi+cciss,1@/dev/sg0', '/dev/sg0', 'scsi+cciss,1', 'sg0_cciss_1'),
        ('areca,1/1@/dev/sg2', '/dev/sg2', 'areca,1/1', 'sg2_areca_1_1'),
        ('areca,3@/dev/sg2', '/dev/sg2', 'areca,3', 'sg2_areca_3'),
        ('3ware,0@/dev/twa0', '/dev/twa0', '3ware,0', 'twa0_3ware_0'),
        ('hpt,1/2@/dev/sda', '/dev/sda', 'hpt,1/2', 'sda_hpt_1_2'),
        ('hpt,1/2/3@/dev/sda', '/dev/sda', 'hpt,1/2/3', 'sda_hpt_1_2_3'),
        ('aacraid,0,0,4@/dev/sg3', '/dev/sg3', 'aacraid,0,0,4', 'sg3_aacraid_0_0_4'),
        (
            'sssraid,0,1@/dev/bsg/sssraid0',
            '/dev/bsg/sssraid0',
            'sssraid,0,1',
            'bsg_sssraid0_sssraid_0_1',
        ),
        ('sntasmedia@/dev/sda', '/dev/sda', 'sntasmedia', 'sda'),
        (
            'sntjmicron,0x1/sat@/dev/sda',
            '/dev/sda',
            'sntjmicron,0x1/sat',
            'sda_sntjmicron_0x1',
        ),
        (
            'usbjmicron,p,x,1@/dev/sda',
            '/dev/sda',
            'usbjmicron,p,x,1',
            'sda_usbjmicron_1',
        ),
        ('usbjmicron,x@/dev/sda', '/dev/sda', 'usbjmicron,x', 'sda'),
        ('nvme,0x1@/dev/nvme0', '/dev/nvme0', 'nvme,0x1', 'nvme0_nvme_0x1'),
    ],
)
def test_an_address_means_a_path_a_type_and_a_name(text, path, kind, name):
    """The forms of the manual."""
    assert one(text) == (path, kind, name)


@pytest.mark.parametrize(
    'text, path, kind',
    [
        ('megaraid6,/dev/sda', '/dev/sda', 'megaraid,6'),
        ('sat+megaraid6,/dev/sda', '/dev/sda', 'sat+megaraid,6'),
        ('cciss,1_/dev/sg2', '/dev/sg2', 'cciss,1'),
        ('cciss,1 /dev/sg2', '/dev/sg2', 'cciss,1'),
        ('cciss,1_/dev/cciss/c0d0', '/dev/cciss/c0d0', 'cciss,1'),
        ('3ware,8,/dev/twa0', '/dev/twa0', '3ware,8'),
        ('areca,1/1,/dev/sg0', '/dev/sg0', 'areca,1/1'),
        ('areca1/1,/dev/sg0', '/dev/sg0', 'areca,1/1'),
        ('aacraid,0,0,4,/dev/sda', '/dev/sda', 'aacraid,0,0,4'),
        ('/dev/sg3 -d sat', '/dev/sg3', 'sat'),
        ('-d sat /dev/sg3', '/dev/sg3', 'sat'),
        (
            '/dev/bus/0 -d sat+megaraid,6 # /dev/bus/0 [SAT], ATA device',
            '/dev/bus/0',
            'sat+megaraid,6',
        ),
    ],
)
def test_the_original_plugins_spellings_still_work(text, path, kind):
    """Service definitions written for version 1.6 are not rewritten for us."""
    assert one(text)[:2] == (path, kind)


@pytest.mark.parametrize(
    'text, kinds',
    [
        (
            'megaraid,[0-2,16]@/dev/bus/0',
            ['megaraid,0', 'megaraid,1', 'megaraid,2', 'megaraid,16'],
        ),
        ('megaraid,0-2@/dev/bus/0', ['megaraid,0', 'megaraid,1', 'megaraid,2']),
        ('megaraid,0-1,16@/dev/bus/0', ['megaraid,0', 'megaraid,1', 'megaraid,16']),
        ('megaraid,[3,3,2-3]@/dev/bus/0', ['megaraid,3', 'megaraid,2']),
        ('sat+megaraid,0-1@/dev/sda', ['sat+megaraid,0', 'sat+megaraid,1']),
        ('megaraid[0-1],/dev/sda', ['megaraid,0', 'megaraid,1']),
        (
            'areca,[1-2]/[1,3]@/dev/sg2',
            ['areca,1/1', 'areca,1/3', 'areca,2/1', 'areca,2/3'],
        ),
        ('areca,1-2/1@/dev/sg2', ['areca,1/1', 'areca,2/1']),
        ('aacraid,0,0,[4-5]@/dev/sg3', ['aacraid,0,0,4', 'aacraid,0,0,5']),
        ('sssraid,0,1-2@/dev/bsg/sssraid0', ['sssraid,0,1', 'sssraid,0,2']),
    ],
)
def test_a_range_means_slots_that_may_be_empty(text, kinds):
    """With brackets, and without them for shells and NRPE."""
    devices = parse(text)

    assert [device.type for device in devices] == kinds
    assert all(device.optional for device in devices)


# What is refused


@pytest.mark.parametrize(
    'text, words',
    [
        (
            '/dev/s%a',
            '"/dev/s%a" contains no valid device path; write one under /dev, such as '
            '/dev/sda, made of letters, digits and the characters . _ : + = @ -',
        ),
        (
            'cciss,x@/dev/sda',
            '"cciss,x@/dev/sda": write the type as cciss,N; replace the capital letters with numbers, or with ranges '
            'such as [0-7,16]',
        ),
        # none becomes an option: a path begins with a slash, and the type follows -d
        ('-a', ''),
        ('-d', ''),
        ('-d -s /dev/sda', ''),
        ('-s@/dev/sda', ''),
        ('/dev/sda -d -s', ''),
        ('sda', 'write /dev/sda'),
        ('', 'is not a device'),
        ('megaraid,6', 'TYPE@PATH'),
        ('@/dev/sda', 'TYPE@PATH'),
        ('megaraid,6/dev/sda', 'TYPE@PATH'),
        ('/etc/shadow', 'is not a device; write a path such as /dev/sda'),
        ('/dev', 'under /dev'),
        ('/dev//sda', 'under /dev'),
        ('/dev/../etc/shadow', 'under /dev'),
        ('/dev/./shm/x', 'under /dev'),
        ('/dev/' + 'a' * 300, 'under /dev'),
        ('/dev/shm', 'is not a drive'),
        ('/dev/fd/0', 'is not a drive'),
        ('/dev/stdin', 'is not a drive'),
        ('/dev/mem', 'is not a drive'),
        ('/dev/kmem', 'is not a drive'),
        ('/dev/tty', 'is not a drive'),
        ('/dev/pts/0', 'is not a drive'),
        ('scsi@/dev/watchdog', 'is not a drive'),
        ('sat@/dev/mqueue/x', 'is not a drive'),
        ('/dev/sda /dev/sdb', 'under /dev'),
        ('megaraid,7-0@/dev/bus/0', 'runs backwards; write 0-7'),
        (
            'megaraid,0-999@/dev/bus/0',
            f'1000 slots, more than the maximum of {MOST_SLOTS}',
        ),
        (
            'areca,[1-128]/[1-8]@/dev/sg0',
            f'1024 slots, more than the maximum of {MOST_SLOTS}',
        ),
        ('megaraid,0-9999999@/dev/bus/0', 'is not a range'),
        ('megaraid,[]@/dev/bus/0', 'write the type as megaraid,N'),
        ('megaraid,[,]@/dev/bus/0', 'is not a range'),
        ('megaraid,[1--2]@/dev/bus/0', 'is not a range'),
        ('megaraid,[0-7@/dev/bus/0', 'write the type as megaraid,N'),
        ('areca,1,2/1@/dev/sg0', 'write the type as areca,N[/E]'),
        ('megaraid,65536@/dev/bus/0', 'from 0 to 65535'),
        ('areca,0/1@/dev/sg0', 'from 1 to 128'),
        ('areca,1/9@/dev/sg0', 'from 1 to 8'),
        ('3ware,128@/dev/twa0', 'from 0 to 127'),
        ('aacraid,0,0@/dev/sg3', 'write the type as aacraid,H,L,ID'),
        ('nvme,1@/dev/nvme0', 'write the type as nvme'),
        ('sat,13@/dev/sda', 'write the type as sat'),
        ('foo@/dev/sda', 'unknown type "foo"; use one of ata, scsi, nvme[,0xNSID]'),
        (
            'megarad,0@/dev/sda',
            'unknown type "megarad"; did you mean megaraid? use one of ata',
        ),
        ('sat+@/dev/sda', 'unknown type ""'),
        (
            'sat+areca,1/1@/dev/sg0',
            'does not work through sat+; write areca,1/1@/dev/sg0',
        ),
        ('sat+nvme@/dev/nvme0', 'does not work through sat+'),
        # Of this the manual says that a wrong code may damage the drive.
        ('usbcypress,0x24@/dev/sda', 'write the type as usbcypress'),
        ('marvell,force@/dev/sda', 'write the type as marvell'),
        ('test@/dev/sda', 'the type test is not allowed'),
        ('jmb39x,0@/dev/sda', 'a check must not write'),
        ('jmb39x-q,0,s33,force@/dev/sda', 'a check must not write'),
        ('jms56x,0+sat@/dev/sda', 'a check must not write'),
        ('intelliprop,0@/dev/sda', 'a check must not write'),
    ],
)
def test_a_mistake_is_named_with_the_right_form(text, words):
    """An admin reads this sentence in Icinga, without the manual at hand."""
    with pytest.raises(UsageError) as caught:
        parse(text)

    assert words in str(caught.value)
    assert text[:60] in str(caught.value)
    assert len(str(caught.value)) < 500


def test_as_much_as_is_allowed_is_taken():
    assert len(parse(f'megaraid,1-{MOST_SLOTS}@/dev/bus/0')) == MOST_SLOTS
    assert one('/dev/' + 'a' * 250)[0] == '/dev/' + 'a' * 250


_PLAIN = set(string.ascii_letters + string.digits + '/._:+=@-')


@pytest.mark.parametrize(
    'form',
    [
        '/dev/sd{}a',
        'megaraid,{}6@/dev/bus/0',
        'sat{}@/dev/sda',
        '{}/dev/sda',
        '/dev/sda{}',
    ],
)
def test_no_odd_sign_gets_into_a_command_line(form):
    """The line is run by root.

    A comma parts arguments; comma and blank part type and path in old spellings.
    """
    accepted = {}
    for sign in set(map(chr, range(0x180))) - _PLAIN:
        try:
            accepted[sign] = parse(form.format(sign))
        except UsageError as error:
            assert str(error).isprintable()

    assert set(accepted) <= {',', ' '}
    assert all(
        set(device.type + device.path) <= _PLAIN | {','}
        for devices in accepted.values()
        for device in devices
    )


# The types

_SAMPLES = {
    'nvme': ['nvme', 'nvme,0x1', 'nvme,0xffffffff'],
    'sat': ['sat', 'sat,12', 'sat,16', 'sat,0', 'sat,auto', 'sat,auto,12'],
    'usbjmicron': [
        'usbjmicron',
        'usbjmicron,p',
        'usbjmicron,x',
        'usbjmicron,p,x,0',
        'usbjmicron,1',
    ],
    'usbsunplus': ['usbsunplus', 'usbsunplus/sat'],
    'usbasm1352r': ['usbasm1352r,0', 'usbasm1352r,1'],
    'sntasmedia': ['sntasmedia', 'sntasmedia/sat'],
    'sntjmicron': [
        'sntjmicron',
        'sntjmicron,0x1',
        'sntjmicron/sat',
        'sntjmicron,0x1/sat',
    ],
    'sntrealtek': ['sntrealtek', 'sntrealtek/sat'],
    **{entry.name: type_examples.of(entry) for entry in type_examples.CONTROLLERS},
}
_SAMPLES.update(
    {entry.name: [entry.name] for entry in TYPES if entry.name not in _SAMPLES}
)
# Left out where the real smartctl is asked: not in all of 7.2 to 7.5, and FreeBSD's.
_NOT_IN_ALL = (
    '/sat',
    'usbasm1352r',
    'sntasmedia',
    'atacam',
    'marvell',
    *(name for name, documented in tables.CONTROLLERS.items() if documented.since),
)
_ALL = [sample for samples in _SAMPLES.values() for sample in samples]


@pytest.mark.skipif(not os.access(SMARTCTL, os.X_OK), reason='no smartctl is installed')
@pytest.mark.parametrize(
    'kind', [kind for kind in _ALL if not any(each in kind for each in _NOT_IN_ALL)]
)
def test_the_real_smartctl_takes_it_too(kind):
    """An address must not pass here to fail there."""
    done = subprocess.run(
        [SMARTCTL, '--json=c', '-i', '-d', kind, '/dev/null'],
        stdout=subprocess.PIPE,
        check=False,
    )

    messages = [
        message['string']
        for message in json.loads(done.stdout)['smartctl'].get('messages', [])
    ]
    assert not any('VALID ARGUMENTS' in message for message in messages)


@pytest.mark.parametrize('kind', _ALL)
def test_an_address_of_each_type_can_be_pasted_again(kind):
    """Each form of the manual, with its smallest and largest arguments. `list` prints addresses to
    put after -d.
    """
    [device] = parse(f'{kind}@/dev/disk/by-id/ata-a+b=c@d:e.f')

    assert device.type == kind
    assert parse(device.address) == [device]


def test_raid_means_that_the_type_picks_a_drive():
    """The path alone leads to the controller or to a volume."""
    assert [kind for kind in _ALL if is_raid(Device('/dev/sda', kind))] == [
        kind for entry in TYPES if entry.controller for kind in _SAMPLES[entry.name]
    ]


@pytest.mark.parametrize(
    'text', ['mpi3mr,3@/dev/bus/0', '/dev/bus/0 -d mpi3mr,3', 'sat+mpi3mr,3@/dev/sda']
)
def test_a_type_of_no_released_smartctl_names_what_reads_its_drives(text):
    """Not a list of other types to try in vain."""
    with pytest.raises(UsageError) as error:
        parse(text)

    assert UNREAD['mpi3mr'] in str(error.value)


@pytest.mark.parametrize(
    'name', ['core-ssd', 'fast-ssd', 'logs/lv0', 'network/disk', 'pt0', 'snapshots/x']
)
def test_a_name_that_begins_like_one_of_no_drive_is_a_drive(name):
    """An alias of udev, or a volume group."""
    [device] = parse(f'/dev/{name}')

    assert device.path == f'/dev/{name}'
