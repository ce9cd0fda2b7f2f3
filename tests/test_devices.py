"""devices: what admins write, what is refused, names, and several addresses of one drive."""
from __future__ import annotations

import json
import os
import random
import string
import subprocess
from itertools import product

import pytest

from smart_attributes.errors import SmartError, UsageError
from smart_attributes.model import Device, Identity
from smart_attributes.reading.commands import DEFAULT
from smart_attributes.reading.devices import (
    MAX_SLOTS,
    REFUSED,
    TYPES,
    distinct,
    from_scan,
    is_raid,
    is_same_drive,
    is_wanted,
    named,
    note,
    parse,
    patterns,
)


def one(text):
    """Return path, type and name of an address that means one device."""
    [device] = parse(text)
    assert not device.optional
    return device.path, device.type, device.name


# What is accepted

@pytest.mark.parametrize('text, path, kind, name', [
    ('/dev/sda', '/dev/sda', '', 'sda'),
    ('/dev/nvme0', '/dev/nvme0', '', 'nvme0'),
    ('/dev/nvme0n1', '/dev/nvme0n1', '', 'nvme0n1'),
    ('/dev/disk/by-id/ata-MODEL-X1_S0000A', '/dev/disk/by-id/ata-MODEL-X1_S0000A', '', 'ata_model_x1_s0000a'),
    ('/dev/disk/by-path/pci-0000:00:1f.2-ata-1', '/dev/disk/by-path/pci-0000:00:1f.2-ata-1', '',
     'pci_0000_00_1f_2_ata_1'),
    ('auto@/dev/sda', '/dev/sda', '', 'sda'),
    ('sat@/dev/sg2', '/dev/sg2', 'sat', 'sg2'),
    ('sat,12@/dev/sda', '/dev/sda', 'sat,12', 'sda'),
    ('scsi@/dev/sg3', '/dev/sg3', 'scsi', 'sg3'),
    ('megaraid,6@/dev/bus/0', '/dev/bus/0', 'megaraid,6', 'bus_0_megaraid_6'),
    ('sat+megaraid,6@/dev/sda', '/dev/sda', 'sat+megaraid,6', 'sda_megaraid_6'),
    ('sat,auto,16+megaraid,06@/dev/sda', '/dev/sda', 'sat,auto,16+megaraid,6', 'sda_megaraid_6'),
    ('cciss,1@/dev/sg0', '/dev/sg0', 'cciss,1', 'sg0_cciss_1'),
    ('scsi+cciss,1@/dev/sg0', '/dev/sg0', 'scsi+cciss,1', 'sg0_cciss_1'),
    ('areca,1/1@/dev/sg2', '/dev/sg2', 'areca,1/1', 'sg2_areca_1_1'),
    ('areca,3@/dev/sg2', '/dev/sg2', 'areca,3', 'sg2_areca_3'),
    ('3ware,0@/dev/twa0', '/dev/twa0', '3ware,0', 'twa0_3ware_0'),
    ('hpt,1/2@/dev/sda', '/dev/sda', 'hpt,1/2', 'sda_hpt_1_2'),
    ('hpt,1/2/3@/dev/sda', '/dev/sda', 'hpt,1/2/3', 'sda_hpt_1_2_3'),
    ('aacraid,0,0,4@/dev/sg3', '/dev/sg3', 'aacraid,0,0,4', 'sg3_aacraid_0_0_4'),
    ('sssraid,0,1@/dev/bsg/sssraid0', '/dev/bsg/sssraid0', 'sssraid,0,1', 'bsg_sssraid0_sssraid_0_1'),
    ('sntasmedia@/dev/sda', '/dev/sda', 'sntasmedia', 'sda'),
    ('sntjmicron,0x1/sat@/dev/sda', '/dev/sda', 'sntjmicron,0x1/sat', 'sda_sntjmicron_0x1'),
    ('usbjmicron,p,x,1@/dev/sda', '/dev/sda', 'usbjmicron,p,x,1', 'sda_usbjmicron_1'),
    ('usbjmicron,x@/dev/sda', '/dev/sda', 'usbjmicron,x', 'sda'),
    ('nvme,0x1@/dev/nvme0', '/dev/nvme0', 'nvme,0x1', 'nvme0_nvme_0x1'),
    ('IOService:/PCI0@0/RP06@1C,5/RTBuddy(ANS2)/NS_01@1', 'IOService:/PCI0@0/RP06@1C,5/RTBuddy(ANS2)/NS_01@1', '',
     'ns_01_1'),
])
def test_an_address_means_a_path_a_type_and_a_name(text, path, kind, name):
    """The forms of the manual."""
    assert one(text) == (path, kind, name)


@pytest.mark.parametrize('text, path, kind', [
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
])
def test_the_original_plugins_spellings_still_work(text, path, kind):
    """Service definitions written for version 1.6 are not rewritten for us."""
    assert one(text)[:2] == (path, kind)


def test_a_line_of_smartctls_scan_can_be_pasted():
    """Admins start from what smartctl --scan shows them."""
    assert one('/dev/bus/0 -d sat+megaraid,6 # /dev/bus/0 [megaraid_disk_06] [SAT], ATA device')[:2] == (
        '/dev/bus/0', 'sat+megaraid,6')


@pytest.mark.parametrize('text, kinds', [
    ('megaraid,[0-2,16]@/dev/bus/0', ['megaraid,0', 'megaraid,1', 'megaraid,2', 'megaraid,16']),
    ('megaraid,0-2@/dev/bus/0', ['megaraid,0', 'megaraid,1', 'megaraid,2']),
    ('megaraid,0-1,16@/dev/bus/0', ['megaraid,0', 'megaraid,1', 'megaraid,16']),
    ('megaraid,[3,3,2-3]@/dev/bus/0', ['megaraid,3', 'megaraid,2']),
    ('sat+megaraid,0-1@/dev/sda', ['sat+megaraid,0', 'sat+megaraid,1']),
    ('megaraid[0-1],/dev/sda', ['megaraid,0', 'megaraid,1']),
    ('areca,[1-2]/[1,3]@/dev/sg2', ['areca,1/1', 'areca,1/3', 'areca,2/1', 'areca,2/3']),
    ('areca,1-2/1@/dev/sg2', ['areca,1/1', 'areca,2/1']),
    ('3ware,0-1@/dev/twa0', ['3ware,0', '3ware,1']),
    ('cciss,[0,2]@/dev/sg0', ['cciss,0', 'cciss,2']),
    ('aacraid,0,0,[4-5]@/dev/sg3', ['aacraid,0,0,4', 'aacraid,0,0,5']),
    ('sssraid,0,1-2@/dev/bsg/sssraid0', ['sssraid,0,1', 'sssraid,0,2']),
])
def test_a_range_means_slots_that_may_be_empty(text, kinds):
    """With brackets, and without them for shells and NRPE."""
    devices = parse(text)

    assert [device.type for device in devices] == kinds
    assert all(device.optional for device in devices)


# What is refused

@pytest.mark.parametrize('text, words', [
    ('sda', 'write /dev/sda'),
    ('', 'is no device'),
    ('megaraid,6', 'no device; write TYPE@PATH'),
    ('@/dev/sda', 'TYPE@PATH'),
    ('megaraid,6/dev/sda', 'TYPE@PATH'),
    ('/etc/shadow', 'is no device; write a path such as /dev/sda'),
    ('/dev', 'under /dev'),
    ('/dev/', 'under /dev'),
    ('/dev//sda', 'under /dev'),
    ('/dev/sda/', 'under /dev'),
    ('/dev/../etc/shadow', 'no . and .. in it'),
    ('/dev/./shm/x', 'no . and .. in it'),
    ('/dev/' + 'a' * 300, 'under /dev'),
    ('/dev/shm', 'is no drive'),
    ('/dev/shm/image', 'is no drive'),
    ('/dev/fd/0', 'is no drive'),
    ('/dev/stdin', 'is no drive'),
    ('/dev/mem', 'is no drive'),
    ('/dev/kmem', 'is no drive'),
    ('/dev/tty', 'is no drive'),
    ('/dev/pts/0', 'is no drive'),
    ('scsi@/dev/watchdog', 'is no drive'),
    ('sat@/dev/mqueue/x', 'is no drive'),
    ('/dev/sda /dev/sdb', 'under /dev'),
    ('megaraid,7-0@/dev/bus/0', 'runs backwards; write 0-7'),
    ('megaraid,0-999@/dev/bus/0', f'1000 slots; at most {MAX_SLOTS}'),
    ('areca,[1-128]/[1-8]@/dev/sg0', f'1024 slots; at most {MAX_SLOTS}'),
    ('megaraid,0-9999999@/dev/bus/0', 'is no range'),
    ('megaraid,[]@/dev/bus/0', 'written megaraid,N'),
    ('megaraid,[,]@/dev/bus/0', 'is no range'),
    ('megaraid,[1--2]@/dev/bus/0', 'is no range'),
    ('megaraid,[0-7@/dev/bus/0', 'written megaraid,N'),
    ('megaraid,x@/dev/bus/0', 'written megaraid,N'),
    ('megaraid@/dev/bus/0', 'written megaraid,N'),
    ('megaraid,-1@/dev/bus/0', 'written megaraid,N'),
    ('megaraid,65536@/dev/bus/0', 'from 0 to 65535'),
    ('areca,0/1@/dev/sg0', 'from 1 to 128'),
    ('areca,1/9@/dev/sg0', 'from 1 to 8'),
    ('3ware,128@/dev/twa0', 'from 0 to 127'),
    ('aacraid,0,0@/dev/sg3', 'written aacraid,H,L,ID'),
    ('nvme,1@/dev/nvme0', 'written nvme'),
    ('sat,13@/dev/sda', 'written sat'),
    ('foo@/dev/sda', 'the type foo is not known'),
    ('sat+@/dev/sda', 'is not known'),
    ('sat+areca,1/1@/dev/sg0', 'not reached through sat+'),
    ('sat+nvme@/dev/nvme0', 'not reached through sat+'),
    # Of this the manual says that a wrong code may damage the drive.
    ('usbcypress,0x24@/dev/sda', 'written usbcypress'),
    ('marvell,force@/dev/sda', 'force is refused'),
    ('test@/dev/sda', 'test is refused'),
    ('jmb39x,0@/dev/sda', 'a check must not write'),
    ('jmb39x-q,0,s33,force@/dev/sda', 'a check must not write'),
    ('jms56x,0+sat@/dev/sda', 'a check must not write'),
    ('intelliprop,0@/dev/sda', 'a check must not write'),
])
def test_a_mistake_is_named_with_the_right_form(text, words):
    """An admin reads this sentence in Icinga, without the manual at hand."""
    with pytest.raises(UsageError) as caught:
        parse(text)

    assert words in str(caught.value)
    assert text[:60] in str(caught.value)
    assert len(str(caught.value)) < 500


_PLAIN = set(string.ascii_letters + string.digits + '/._:+=@-')


@pytest.mark.parametrize('form', [
    '/dev/sd{}a', 'megaraid,{}6@/dev/bus/0', 'sat{}@/dev/sda', '{}/dev/sda', '/dev/sda{}'])
def test_no_odd_sign_gets_into_a_command_line(form):
    """The line is run by root. A comma parts arguments; comma and blank part type and path in old spellings."""
    accepted = {}
    for sign in set(map(chr, range(0x180))) - _PLAIN:
        try:
            accepted[sign] = parse(form.format(sign))
        except UsageError as error:
            assert str(error).isprintable()

    assert set(accepted) <= {',', ' '}
    assert all(set(device.type + device.path) <= _PLAIN | {','} for devices in accepted.values() for device in devices)


def test_no_address_becomes_an_option():
    """The path is smartctl's last word and starts with a slash, the type follows -d."""
    for text in ('-a', '--set=security-freeze', '-d', '-d -s /dev/sda', '-s@/dev/sda', '/dev/sda -d -s'):
        with pytest.raises(UsageError):
            parse(text)


# The types

_SAMPLES = {
    'nvme': ['nvme', 'nvme,0x1', 'nvme,0xffffffff'],
    'sat': ['sat', 'sat,12', 'sat,16', 'sat,0', 'sat,auto', 'sat,auto,12'],
    'usbjmicron': ['usbjmicron', 'usbjmicron,p', 'usbjmicron,x', 'usbjmicron,p,x,0', 'usbjmicron,1'],
    'usbsunplus': ['usbsunplus', 'usbsunplus/sat'],
    'usbasm1352r': ['usbasm1352r,0', 'usbasm1352r,1'],
    'sntasmedia': ['sntasmedia', 'sntasmedia/sat'],
    'sntjmicron': ['sntjmicron', 'sntjmicron,0x1', 'sntjmicron/sat', 'sntjmicron,0x1/sat'],
    'sntrealtek': ['sntrealtek', 'sntrealtek/sat'],
    'areca': ['areca,1', 'areca,128', 'areca,1/1', 'areca,128/8'],
    '3ware': ['3ware,0', '3ware,127'],
    'hpt': ['hpt,1/1', 'hpt,8/128', 'hpt,1/1/1', 'hpt,8/128/15'],
    'megaraid': ['megaraid,0', 'megaraid,255', 'sat+megaraid,0', 'sat,12+megaraid,1', 'scsi+megaraid,0'],
    'mpi3mr': ['mpi3mr,0', 'sat+mpi3mr,0'],
    'aacraid': ['aacraid,0,0,0', 'aacraid,1,2,3', 'scsi+aacraid,1,2,3'],
    'cciss': ['cciss,0', 'cciss,127', 'sat,auto+cciss,1', 'scsi+cciss,0'],
    'sssraid': ['sssraid,0,1', 'scsi+sssraid,0,1'],
}
_SAMPLES.update({entry.name: [entry.name] for entry in TYPES if entry.name not in _SAMPLES})
_ALL = [sample for samples in _SAMPLES.values() for sample in samples]


@pytest.mark.parametrize('kind', _ALL)
def test_every_type_of_the_manual_is_taken(kind):
    """Each form, with its smallest and largest arguments."""
    assert one(f'{kind}@/dev/sda')[1] == kind


@pytest.mark.skipif(not os.access(DEFAULT, os.X_OK), reason='no smartctl is installed')
@pytest.mark.parametrize('kind', [
    kind for kind in _ALL
    if not any(newer in kind for newer in ('/sat', 'usbasm1352r', 'mpi3mr', 'sssraid', 'atacam'))])
def test_the_real_smartctl_takes_it_too(kind):
    """An address must not pass here to fail there. Left out: newer than 7.3, and FreeBSD's."""
    done = subprocess.run([DEFAULT, '--json=c', '-i', '-d', kind, '/dev/null'], stdout=subprocess.PIPE, check=False)

    messages = [message['string'] for message in json.loads(done.stdout)['smartctl'].get('messages', [])]
    assert not any('VALID ARGUMENTS' in message for message in messages)


def test_every_refused_type_says_why():
    """Nobody should have to search for the reason."""
    for name, reason in REFUSED.items():
        with pytest.raises(UsageError, match=reason):
            parse(f'{name},0@/dev/sda' if name != 'test' else 'test@/dev/sda')


@pytest.mark.parametrize('kind, path', [
    *product(_ALL, ['/dev/sda', '/dev/bus/0', '/dev/disk/by-id/ata-a+b=c@d:e.f', 'IOService:/A@0/B(c),d@1'])])
def test_an_address_can_be_pasted_again(kind, path):
    """`list` prints addresses to put after -d."""
    [device] = parse(f'{kind}@{path}')

    assert parse(device.address) == [device]


def test_slots_of_a_range_can_be_pasted_one_by_one():
    """A slot that is named alone is expected to hold a drive."""
    for device in parse('megaraid,[0-2]@/dev/bus/0'):
        assert parse(device.address) == [device._replace(optional=False)]


# Names

def names(*addresses):
    return [device.name for device in named([device for text in addresses for device in parse(text)])]


def test_names_stay_unique_behind_raid():
    """The original lost a failing drive because two controllers shared a name."""
    assert names('megaraid,6@/dev/sda', 'megaraid,6@/dev/sdb', 'megaraid,6@/dev/bus/0') == [
        'sda_megaraid_6', 'sdb_megaraid_6', 'bus_0_megaraid_6']


def test_a_name_grows_only_where_it_must():
    """Graphs hang on names: an unrelated drive must not rename another."""
    assert names('sat@/dev/sda', 'scsi@/dev/sda', '/dev/sdb') == ['sda_sat', 'sda_scsi', 'sdb']


def test_names_that_differ_only_in_signs_are_told_apart():
    """Whatever udev rules make up, a label belongs to one drive."""
    together = names('/dev/disk/by-id/A-1', '/dev/disk/by-id/a_1', '/dev/disk/by-path/a.1', '/dev/a+1')

    assert len(set(together)) == 4


def test_the_same_address_twice_is_one_device():
    """And it is wanted if it is wanted by one of them."""
    [device] = named([*parse('megaraid,[6]@/dev/bus/0'), *parse('megaraid6,/dev/bus/0')])

    assert (device.name, device.optional) == ('bus_0_megaraid_6', False)


def test_names_depend_on_the_devices_and_not_on_their_order():
    """A scan may list drives in another order after each boot."""
    paths = ['/dev/sda', '/dev/sdA', '/dev/s-da', '/dev/disk/by-id/sda', '/dev/@']
    devices = [device for kind, path in product(_ALL, paths) for device in parse(f'{kind}@{path}')]
    expected = {device.address: device.name for device in named(devices)}
    shuffler = random.Random(1)

    assert len(set(expected.values())) == len(expected)
    assert all(set(name) <= set(string.ascii_lowercase + string.digits + '_') and name for name in expected.values())
    for _ in range(5):
        shuffler.shuffle(devices)
        assert {device.address: device.name for device in named(devices)} == expected


# Scans (real ones are in test_scans.py)

def scan(text):
    found = from_scan(text)
    return [device.address for device in found.devices], found.refused


def test_an_unopened_scan_does_not_pin_drives_to_scsi():
    """--scan calls every SATA drive "scsi"; -d scsi would hide its attributes."""
    assert scan('/dev/sda -d scsi # /dev/sda, SCSI device\n')[0] == ['/dev/sda']


def test_what_is_no_drive_is_left_out_and_named():
    """Optical drives and memory disks would be UNKNOWN for ever."""
    devices, refused = scan('/dev/sr0 -d scsi # /dev/sr0, SCSI device\n'
                            '/dev/zram0 -d scsi # /dev/zram0, SCSI device\n'
                            '/dev/sda -d sat # /dev/sda [SAT], ATA device\n')

    assert devices == ['/dev/sda']
    assert len(refused) == 2 and '/dev/sr0' in refused[0]


def test_what_smartctl_could_not_open_is_left_out_with_its_reason():
    """In both forms; a message of two lines is one entry."""
    text = '# /dev/sda -d scsi # /dev/sda, SCSI device open failed: AMCC/3ware controller, ' \
           "please try adding '-d 3ware,N',\n" \
           'you may need to replace /dev/sda with /dev/twlN, /dev/twaN or /dev/tweN\n'
    as_json = json.dumps({'smartctl': {'argv': ['smartctl', '--scan-open'], 'exit_status': 0}, 'devices': [
        {'name': '/dev/sda', 'type': 'scsi', 'open_error': 'AMCC/3ware controller'}]})

    for form in (text, as_json):
        devices, [refused] = scan(form)
        assert devices == [] and 'AMCC/3ware controller' in refused


def test_words_appended_by_scan_open_are_not_read():
    """smartctl --scan-open -- -a -m admin makes a draft of smartd.conf."""
    assert scan('/dev/sda -d sat -a -m admin\n')[0] == ['/dev/sda']


@pytest.mark.parametrize('entry', [
    '/dev/sda;reboot -d scsi # x', '/etc/shadow -d scsi # x', '/dev/../etc/shadow -d scsi # x',
    '/dev/sda -d scsi,$(id) # x', '/dev/sda -d jmb39x,0 # x', '/dev/sda -d -s # x',
    '/dev/bus/0 -d megaraid,0-1000 # x'])
def test_a_scan_is_trusted_no_more_than_an_admin(entry):
    """What it prints is run by root."""
    devices, refused = scan(entry)

    assert devices == [] and len(refused) == 1


def test_an_empty_scan_is_a_scan_without_drives():
    """A virtual machine has none; that is for others to judge."""
    assert scan('') == ([], ())
    assert scan('{"smartctl":{"argv":["smartctl","--json=c","--scan"],"exit_status":0}}') == ([], ())


_SCAN = '{"smartctl":{"argv":["smartctl","--scan"],"exit_status":0},'


@pytest.mark.parametrize('text', [
    pytest.param('{"smartctl":{"argv":["smartctl","--json=c","--scan"],"exit_status":1}}', id='failed'),
    pytest.param('{"smartctl":{"argv":["smartctl","-j","--version"],"exit_status":0}}', id='another-question'),
    pytest.param(_SCAN + '"devices":[{"name":"/dev/sda","ty', id='half'),
    pytest.param(_SCAN + '"devices":[{"name":7,"type":[]}]}', id='wrong-types'),
    pytest.param(_SCAN + '"devices":{"name":"x"}}', id='no-list'),
    pytest.param('{"smartctl":null}', id='null'),
    pytest.param('{' * 100000, id='deep'),
    pytest.param('sudo: a password is required\n', id='sudo'),
    pytest.param('smartctl 7.3 2022-02-28 r5338\n\n=======> UNRECOGNIZED OPTION: scna\n', id='usage'),
])
def test_what_is_no_scan_is_not_taken_for_an_empty_one(text):
    """No drive found by mistake would look like a machine without drives."""
    with pytest.raises(SmartError, match='no list of devices'):
        from_scan(text)


# One drive, several addresses

SSD = Identity(protocol='ATA', model='MODEL X1', serial='S0A1B2C3', wwn='5000c500a1b2c3d4')
NVME = Identity(protocol='NVMe', model='MODEL N1', serial='N0A1B2C3')


def addresses_kept(*pairs):
    found = [(parse(text)[0], identity) for text, identity in pairs]
    return [(drive.device.address, *(device.address for device in drive.others)) for drive in distinct(found)]


def test_of_two_addresses_the_one_behind_raid_is_kept():
    """It stays when the volume gets another letter; the other one is told."""
    pairs = [('/dev/sda', SSD), ('megaraid,6@/dev/bus/0', SSD), ('/dev/sdb', SSD._replace(serial='S9', wwn=''))]

    assert addresses_kept(*pairs) == [('megaraid,6@/dev/bus/0', '/dev/sda'), ('/dev/sdb',)]


def test_the_address_given_up_is_named():
    """An admin who wrote it should find it again."""
    [drive] = distinct([(parse('/dev/sda')[0], SSD), (parse('megaraid,6@/dev/bus/0')[0], SSD)])

    assert note(drive) == 'also reached as /dev/sda'


def test_a_drive_with_one_address_needs_no_note():
    [drive] = distinct([(parse('/dev/sda')[0], SSD)])

    assert note(drive) == ''


def test_a_controller_and_its_namespaces_are_one_nvme_drive():
    """Each namespace has its own EUI64; health belongs to the drive."""
    pairs = [('/dev/nvme0', NVME), ('/dev/nvme0n1', NVME._replace(wwn='0025385b11b00001')),
             ('/dev/nvme0n2', NVME._replace(wwn='0025385b11b00002')), ('/dev/nvme1', NVME._replace(serial='N0A1B2C4'))]

    assert addresses_kept(*pairs) == [('/dev/nvme0', '/dev/nvme0n1', '/dev/nvme0n2'), ('/dev/nvme1',)]


def test_both_ports_of_a_sas_drive_are_one_drive():
    """smartctl tells the WWN of the logical unit, which both ports share."""
    sas = Identity(protocol='SCSI', model='VENDOR S1', serial='Z1A2B3C4', wwn='5000c500a1b2c3d4')

    assert addresses_kept(('/dev/sda', sas), ('/dev/sdb', sas)) == [('/dev/sda', '/dev/sdb')]


@pytest.mark.parametrize('one_, other, same', [
    pytest.param(SSD, SSD, True, id='equal'),
    pytest.param(SSD, SSD._replace(wwn='0x5000C500A1B2C3D4'), True, id='wwn-written-otherwise'),
    pytest.param(SSD, SSD._replace(serial=''), True, id='serial-not-told-by-raid'),
    pytest.param(SSD, SSD._replace(wwn=''), True, id='wwn-not-told-by-raid'),
    pytest.param(SSD._replace(model='INTEL SSDSC2BB240G4', wwn=''),
                 SSD._replace(model='ATA      INTEL SSDSC2BB24', wwn=''), True, id='scsi-cuts-the-model'),
    pytest.param(SSD._replace(wwn=''), SSD._replace(wwn='', serial=' s0a1b2c3 '), True, id='serial-written-otherwise'),
    pytest.param(SSD, SSD._replace(wwn='5000c500a1b2c3d5'), False, id='neighbouring-wwn'),
    pytest.param(SSD, SSD._replace(model='MODEL Y2'), False, id='two-models-under-one-wwn'),
    pytest.param(SSD, SSD._replace(serial='S0A1B2C4'), False, id='two-serials-under-one-wwn'),
    pytest.param(SSD._replace(wwn=''), SSD._replace(wwn='', model='MODEL Y2'), False, id='two-models-under-one-serial'),
    pytest.param(SSD._replace(wwn='', model=''), SSD._replace(wwn=''), False, id='no-model'),
    pytest.param(Identity(), Identity(), False, id='nothing-known'),
])
def test_two_identities_are_one_drive_only_when_that_is_sure(one_, other, same):
    """A drive shown twice is a nuisance; a failing one merged into another is lost."""
    assert is_same_drive(one_, other) is same
    assert is_same_drive(other, one_) is same


@pytest.mark.parametrize('serial', [
    '', '0', '000000000000', 'XXXXXXXX', 'xxx', 'S1XXXXXXXXXXXX', 'AB000000XXXXXXXX', '****', 'None', 'N/A',
    'unknown', 'REDACTED', 'Volume1', 'VOLUME0', 'ZZZZZZZZZ', '123456789012', '0123456789ABCDEF',
    'ABCDEF0123456789', '000000000001',
    'Serial Number', 'To be filled by O.E.M.', '--------'])
def test_a_placeholder_is_no_serial_number(serial):
    """RAID volumes, cheap bridges and cautious people all use the same ones."""
    identity = Identity(protocol='ATA', model='MODEL X1', serial=serial)

    assert not is_same_drive(identity, identity)


@pytest.mark.parametrize('serial', [
    'S0A1B2C3', 'WD-WXX0A0000001', '9QQ1', 'EXAM000000EXAMPLE0', '99A012345678', '74747474X'])
def test_an_ordinary_serial_number_is_one(serial):
    """Also a short one and one with many equal digits."""
    identity = Identity(protocol='ATA', model='MODEL X1', serial=serial)

    assert is_same_drive(identity, identity)


@pytest.mark.parametrize('wwn', ['', '0', '0000000000000000', '5000000000000000', '5000000000000001',
                                 'ffffffffffffffff', '5000c50000000000', '5000c500499602d2', '50014ee0499602d2'])
def test_a_wwn_that_was_never_set_is_none(wwn):
    """Organisation 0, a number of zeros, or the 1234567890 of an anonymiser."""
    identity = Identity(protocol='ATA', model='MODEL X1', wwn=wwn)

    assert not is_same_drive(identity, identity)


def test_raid_means_that_the_type_picks_a_drive():
    """The path alone leads to the controller or to a volume."""
    assert [kind for kind in _ALL if is_raid(Device('/dev/sda', kind))] == [
        kind for kind in _ALL if kind.rpartition('+')[2].partition(',')[0]
        in ('areca', '3ware', 'hpt', 'megaraid', 'mpi3mr', 'aacraid', 'cciss', 'sssraid')]


# Choice by pattern

@pytest.mark.parametrize('match, ignore, identity, expected', [
    pytest.param([], [], None, True, id='no-patterns'),
    pytest.param(['sda'], [], None, True, id='path-matches'),
    pytest.param(['^megaraid'], [], None, True, id='address-matches'),
    pytest.param(['sda_mega'], [], None, True, id='name-matches'),
    pytest.param(['ST4000'], [], None, None, id='model-must-be-read'),
    pytest.param(['sda'], ['ST4000'], None, None, id='model-may-be-ignored'),
    pytest.param([], ['sda'], None, False, id='path-is-ignored'),
    pytest.param(['sda'], ['sda'], None, False, id='ignore-wins'),
    pytest.param(['MODEL X'], [], SSD, True, id='model-matches'),
    pytest.param(['^S0A1'], [], SSD, True, id='serial-matches'),
    pytest.param(['ST4000'], [], SSD, False, id='nothing-matches'),
    pytest.param([], ['X1$'], SSD, False, id='model-is-ignored'),
    pytest.param([], ['ST4000'], SSD, True, id='another-is-ignored'),
])
def test_patterns_choose_by_address_model_and_serial(match, ignore, identity, expected):
    """None: read the drive and ask again; one that cannot be read stays in the check."""
    [device] = parse('megaraid,6@/dev/sda')

    assert is_wanted(device, identity, patterns(match), patterns(ignore)) is expected


@pytest.mark.parametrize('text', ['(', '*', '[a', '(?P<x>', '\\', 'a{99999999999}'])
def test_an_impossible_pattern_is_named(text):
    """--ignore with a shell pattern is a common slip."""
    with pytest.raises(UsageError, match='is no regular expression'):
        patterns([text])
