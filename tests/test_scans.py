"""scans: real outputs of smartctl --scan and --scan-open, and what else comes in their place."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from smart_attributes.errors import SmartError
from smart_attributes.reading.scans import from_scan

SCANS = Path(__file__).resolve().parent.parent.parent / 'shared' / 'corpus' / 'scans'

NO_SCAN = None


def megaraid(bus, slots, tunnel=''):
    return [f'{tunnel}megaraid,{slot}@/dev/bus/{bus}' for slot in slots]


def sd(letters):
    return [f'/dev/sd{letter}' for letter in letters]


# Judged by eye, case by case. "scsi" of a scan becomes no type: --scan says it of SATA drives, too.
EXPECTED = {
    '001-text-py-SMART': ['/dev/nvme0'],
    '002-text-py-SMART': ['/dev/nvme0', '/dev/nvme1', 'sat+megaraid,60@/dev/bus/0'],
    '003-text-py-SMART': ['sntasmedia@/dev/sda'],
    '004-text-py-SMART': ['ata@IOService:/AppleACPIPlatformExpert/PCI0@0/AppleACPIPCI/RP06@1C,5/IOPP/SSD0@0/AppleAHCI'
                          '/PRT0@0/IOAHCIDevice@0/AppleAHCIDiskDriver/IOAHCIBlockStorageDevice'],
    '005-text-py-SMART': ['nvme@IOService:/AppleARMPE/arm-io@10F00000/AppleT811xIO/ans@77400000/AppleASCWrapV4'
                          '/iop-ans-nub/RTBuddy(ANS2)/RTBuddyService/AppleANS3NVMeController/NS_01@1'],
    # smartctl -d test
    '006-text-py-SMART': NO_SCAN,
    '007-text-py-SMART': NO_SCAN,
    '008-text-py-SMART': NO_SCAN,
    # Windows: NVMe drives are called sdX there, so the type is needed.
    '009-text-py-SMART': ['nvme@/dev/sda', 'nvme@/dev/sdb', '/dev/sdc', '/dev/sdd', '/dev/sde'],
    '010-text-py-SMART': NO_SCAN,
    '011-text-py-SMART': ['nvme@/dev/sda'],
    '012-text-py-SMART': NO_SCAN,
    '013-text-py-SMART': NO_SCAN,
    '014-text-py-SMART': NO_SCAN,
    '015-text-py-SMART': NO_SCAN,
    '016-text-py-SMART': NO_SCAN,
    '017-json-scrutiny': megaraid(0, range(2)),
    '018-json-scrutiny': ['/dev/nvme0'],
    '019-json-scrutiny': sd('abcdefg'),
    '020-text-zbx-smartctl': sd('ab'),
    '027-json-telegraf': ['/dev/sda', '/dev/nvme0', '/dev/nvme1'],
    # sda and sdb are volumes; INQUIRY tells that when they are read.
    '028-json-telegraf': [*sd('abc'), *megaraid(6, range(8, 15))],
    '029-json-netdata': ['/dev/nvme0'],
    '030-json-netdata': sd('ac'),
    '031-json-netdata': ['/dev/sda'],
    '032-json-ironlib': [*sd('ab'), '/dev/nvme0', '/dev/nvme1'],
    '033-json-ironlib': [*sd('abcdefghijklmn'), '/dev/nvme0', '/dev/nvme1'],
    '034-json-ironlib': [*sd('abc'), '/dev/nvme0', '/dev/nvme1'],
    # Fourteen volumes that --scan-open could not open, and the fourteen drives behind them.
    '035-text-operations-puppet': megaraid(0, range(14), 'sat+'),
    '036-text-glouton': ['/dev/sda'],
    '037-text-glouton': [*sd('ab'), '/dev/nvme0'],
    '038-text-glouton': ['nvme@IOService:/AppleARMPE/arm-io/AppleT600xIO/ans@8F400000/AppleASCWrapV4/iop-ans-nub'
                         '/RTBuddy(ANS2)/RTBuddyService/AppleANS3NVMeController/NS_01@1'],
    '039-text-glouton': ['/dev/sda', *megaraid(0, range(14))],
    '040-text-glouton': ['/dev/sda', *megaraid(0, range(2))],
    '043-json-beszel': ['/dev/sda', '/dev/nvme0'],
    # smartctl -j --version
    '044-json-hwbench': NO_SCAN,
    '045-text-disk-health-checker': sd('ab'),
    '046-text-disk-health-checker': ['/dev/sda', *megaraid(4, [14, 15])],
    '047-json-smartctl-rs': ['/dev/sda', '/dev/sdb', '/dev/nvme0'],
}

needs_corpus = pytest.mark.skipif(not SCANS.is_dir(), reason='the shared corpus is not beside this project')


def output(case):
    [file] = (SCANS / case).glob('output.*')
    return file.read_text(encoding='utf-8')


@needs_corpus
def test_every_recorded_scan_is_judged_here():
    """A new case in the corpus wants somebody's eye."""
    assert {folder.name for folder in SCANS.iterdir()} == set(EXPECTED)


@needs_corpus
@pytest.mark.parametrize('case', [case for case, devices in EXPECTED.items() if devices is not NO_SCAN])
def test_a_recorded_scan_gives_its_drives(case):
    """Of Linux, macOS and Windows, by smartctl 6 to 7.5, as text and as JSON."""
    assert [device.address for device in from_scan(output(case)).devices] == EXPECTED[case]


@needs_corpus
@pytest.mark.parametrize('case', [case for case, devices in EXPECTED.items() if devices is NO_SCAN])
def test_another_output_of_smartctl_is_no_scan(case):
    """It must not pass for a machine without drives."""
    with pytest.raises(SmartError, match='list of devices'):
        from_scan(output(case))


@needs_corpus
def test_volumes_that_could_not_be_opened_are_named():
    """The admin sees what was left out, and smartctl's own advice."""
    refused = from_scan(output('035-text-operations-puppet')).refused

    assert len(refused) == 14
    assert '/dev/sda' in refused[0] and 'megaraid,N' in refused[0]


def scan(text):
    found = from_scan(text)
    return [device.address for device in found.devices], found.refused


def test_an_unopened_scan_does_not_pin_drives_to_scsi():
    """--scan calls every SATA drive "scsi"; -d scsi would hide its attributes."""
    assert scan('/dev/sda -d scsi # /dev/sda, SCSI device\n')[0] == ['/dev/sda']


def test_what_is_no_drive_is_left_out_and_named():
    """Optical drives and history disks would be UNKNOWN for ever."""
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
    with pytest.raises(SmartError, match='list of devices'):
        from_scan(text)


@pytest.mark.parametrize('line, devices, refused, is_whole', [
    ('/dev/sda -d scsi # x', ['/dev/sda'], [], True), ('/dev/sda -d ata # x', ['/dev/sda'], [], True),
    ('/dev/hda -d sat # x', ['/dev/hda'], [], True), ('/dev/twa0 -d sat # x', ['sat@/dev/twa0'], [], True),
    ('/dev/nvme0 -d nvme # x', ['/dev/nvme0'], [], True), ('/dev/sda -d nvme # x', ['nvme@/dev/sda'], [], True),
    ('# /dev/sdb -d scsi # /dev/sdb, SCSI device open failed: a open failed: b', [],
     ['the scan found /dev/sdb, which is skipped: a open failed: b'], False),
    ('# /dev/sdb -d scsi', [], ['the scan found /dev/sdb, which is skipped: it cannot be opened'], False),
    (f'# /dev/sdb -d scsi # open failed: {"x" * 300}', [],
     ['the scan found /dev/sdb, which is skipped: ' + 'x' * 197 + '...'], False)])
def test_a_line_of_a_scan_gives_a_drive_or_a_reason(line, devices, refused, is_whole):
    found = from_scan(line)

    assert ([device.address for device in found.devices], list(found.refused), found.is_whole) == (
        devices, refused, is_whole)


def test_a_scan_in_json_gives_its_drives_whatever_precedes_it():
    found = from_scan(f'\n{_SCAN}"devices":[{{"name":"/dev/sda","type":"sat"}},'
                      '{"name":"/dev/bus/0","type":"megaraid,8"}]}')

    assert ([device.address for device in found.devices], found.refused, found.is_whole) == (
        ['/dev/sda', 'megaraid,8@/dev/bus/0'], (), True)


@pytest.mark.parametrize('lines, is_whole', [
    ('/dev/zram0 -d scsi # x', True), ('# /dev/sdb -d scsi # x\n/dev/zram0 -d scsi # x', False),
    ('/dev/sdb -d nonsense # x\n/dev/sda -d scsi # x', False)])
def test_a_scan_is_whole_where_all_that_is_left_out_is_no_drive(lines, is_whole):
    assert from_scan(lines).is_whole is is_whole


def test_all_drives_of_a_scan_are_kept_beside_a_refused_one():
    found = from_scan('/dev/sda -d scsi # x\n/dev/sdb -d nonsense # x\n/dev/sdc -d scsi # x')

    assert [device.path for device in found.devices] == ['/dev/sda', '/dev/sdc']
    assert len(found.refused) == 1
    assert found.refused[0].startswith('the scan found "/dev/sdb", which is skipped: "/dev/sdb"')
    assert not found.is_whole


@pytest.mark.parametrize('text, words', [
    ('nonsense', 'smartctl --scan printed no list of devices; run it by hand to see its output'),
    ('{}', 'smartctl --scan printed JSON that is not a list of devices; run it by hand to see its output')])
def test_what_is_no_scan_has_a_sentence(text, words):
    with pytest.raises(SmartError) as caught:
        from_scan(text)

    assert (str(caught.value), caught.value.code) == (words, 'scan-failed')
