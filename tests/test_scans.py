"""scans: real outputs of smartctl --scan and --scan-open, and what else comes in their place."""

import json
import time
from pathlib import Path

import pytest
from fake_smartctl import FakeSmartctl

from smart_attributes.errors import SmartError
from smart_attributes.model import HowRead
from smart_attributes.reading import machine, smartctl_calls
from smart_attributes.reading.processes import Runner
from smart_attributes.reading.scans import from_scan

SCANS = Path(__file__).resolve().parent.parent.parent / 'shared' / 'corpus' / 'scans'

NO_SCAN = None


def megaraid(bus, slots, tunnel=''):
    return [f'{tunnel}megaraid,{slot}@/dev/bus/{bus}' for slot in slots]


def sd(letters):
    return [f'/dev/sd{letter}' for letter in letters]


# Judged by eye, case by case. "scsi" of a scan becomes no type: --scan says it of SATA drives, too.
EXPECTED = {
    '017-json-scrutiny': megaraid(0, range(2)),
    '018-json-scrutiny': ['/dev/nvme0'],
    '019-json-scrutiny': sd('abcdefg'),
    '027-json-telegraf': ['/dev/sda', '/dev/nvme0', '/dev/nvme1'],
    # sda and sdb are volumes; INQUIRY tells that when they are read.
    '028-json-telegraf': [*sd('abc'), *megaraid(6, range(8, 15))],
    '029-json-netdata': ['/dev/nvme0'],
    '030-json-netdata': sd('ac'),
    '031-json-netdata': ['/dev/sda'],
    '032-json-ironlib': [*sd('ab'), '/dev/nvme0', '/dev/nvme1'],
    '033-json-ironlib': [*sd('abcdefghijklmn'), '/dev/nvme0', '/dev/nvme1'],
    '034-json-ironlib': [*sd('abc'), '/dev/nvme0', '/dev/nvme1'],
    '043-json-beszel': ['/dev/sda', '/dev/nvme0'],
    # smartctl -j --version
    '044-json-hwbench': NO_SCAN,
    '047-json-smartctl-rs': ['/dev/sda', '/dev/sdb', '/dev/nvme0'],
}

needs_corpus = pytest.mark.skipif(
    not SCANS.is_dir(), reason='the shared corpus is not beside this project'
)


def output(case):
    [file] = (SCANS / case).glob('output.*')
    return file.read_text(encoding='utf-8')


@needs_corpus
def test_every_recorded_scan_is_judged_here():
    """A new case in the corpus wants somebody's eye."""
    assert {
        folder.name for folder in SCANS.iterdir() if '-json-' in folder.name
    } == set(EXPECTED)


@needs_corpus
@pytest.mark.parametrize(
    'case', [case for case, devices in EXPECTED.items() if devices is not NO_SCAN]
)
def test_a_recorded_scan_gives_its_drives(case):
    """By smartctl 7.0 to 7.5."""
    assert [
        device.address for device in from_scan(output(case), ()).devices
    ] == EXPECTED[case]


def as_json(*devices):
    """Return what --scan-open prints for devices: (name, type) or (name, type, why it could not
    be opened).
    """
    return json.dumps(
        {
            'smartctl': {'argv': ['smartctl', '--scan-open'], 'exit_status': 0},
            'devices': [
                dict(zip(('name', 'type', 'open_error'), each)) for each in devices
            ],
        }
    )


def scan(text):
    found = from_scan(text, ())
    return [device.address for device in found.devices], found.notes


@pytest.mark.parametrize(
    'entry',
    [
        ('/dev/sda;reboot', 'scsi'),
        ('/etc/shadow', 'scsi'),
        ('/dev/../etc/shadow', 'scsi'),
        ('/dev/sda', 'scsi,$(id)'),
        ('/dev/sda', 'jmb39x,0'),
        ('/dev/sda', '-s'),
        ('/dev/bus/0', 'megaraid,0-1000'),
    ],
)
def test_a_scan_is_trusted_no_more_than_an_admin(entry):
    """What it prints is run by root."""
    devices, refused = scan(as_json(entry))

    assert devices == [] and len(refused) == 1


def test_an_empty_scan_is_a_scan_without_drives():
    """A virtual machine has none; that is for others to judge."""
    assert scan(
        '{"smartctl":{"argv":["smartctl","--json=c","--scan"],"exit_status":0}}'
    ) == (
        [],
        (),
    )


NO_LIST = 'smartctl --scan printed no list of devices; run it by hand to see its output'
_SCAN = '{"smartctl":{"argv":["smartctl","--scan"],"exit_status":0},'


@pytest.mark.parametrize(
    'text',
    [
        pytest.param(
            '{"smartctl":{"argv":["smartctl","--json=c","--scan"],"exit_status":1}}',
            id='failed',
        ),
        pytest.param(
            '{"smartctl":{"argv":["smartctl","-j","--version"],"exit_status":0}}',
            id='another-question',
        ),
        pytest.param(_SCAN + '"devices":[{"name":"/dev/sda","ty', id='half'),
        pytest.param(_SCAN + '"devices":[{"name":7,"type":[]}]}', id='wrong-types'),
        pytest.param(_SCAN + '"devices":{"name":"x"}}', id='no-list'),
        pytest.param('{"smartctl":null}', id='null'),
        pytest.param('{' * 100000, id='deep'),
        pytest.param('', id='nothing'),
        pytest.param('/dev/sda -d scsi # /dev/sda, SCSI device\n', id='text'),
        pytest.param('sudo: a password is required\n', id='sudo'),
        pytest.param(
            'smartctl 7.3 2022-02-28 r5338\n\n=======> UNRECOGNIZED OPTION: scna\n',
            id='usage',
        ),
    ],
)
def test_what_is_no_scan_is_not_taken_for_an_empty_one(text):
    """No drive found by mistake would look like a machine without drives."""
    with pytest.raises(SmartError) as caught:
        from_scan(text, ())

    assert (str(caught.value), caught.value.code) == (NO_LIST, 'scan-failed')


ENTRIES = [
    (('/dev/sda', 'scsi'), ['/dev/sda'], [], True),
    (('/dev/sda', 'ata'), ['/dev/sda'], [], True),
    (('/dev/hda', 'sat'), ['/dev/hda'], [], True),
    (('/dev/twa0', 'sat'), ['sat@/dev/twa0'], [], True),
    (('/dev/nvme0', 'nvme'), ['/dev/nvme0'], [], True),
    (('/dev/sda', 'nvme'), ['nvme@/dev/sda'], [], True),
    (
        ('/dev/sdb', 'scsi', 'a open failed: b'),
        [],
        ['the scan found /dev/sdb, which is skipped: a open failed: b'],
        False,
    ),
    (
        ('/dev/sdb', 'scsi', 'x' * 300),
        [],
        ['the scan found /dev/sdb, which is skipped: ' + 'x' * 197 + '...'],
        False,
    ),
]


@pytest.mark.parametrize('entry, devices, refused, is_whole', ENTRIES)
def test_an_entry_of_a_scan_gives_a_drive_or_a_reason(
    entry, devices, refused, is_whole
):
    found = from_scan(as_json(entry), ())

    assert (
        [device.address for device in found.devices],
        list(found.notes),
        found.is_whole,
    ) == (
        devices,
        refused,
        is_whole,
    )


@pytest.mark.parametrize(
    'entries, is_whole',
    [
        ([('/dev/zram0', 'scsi'), ('/dev/sr0', 'scsi')], True),
        ([('/dev/sdb', 'scsi', 'x'), ('/dev/zram0', 'scsi')], False),
        ([('/dev/sdb', 'nonsense'), ('/dev/zram0', 'scsi')], False),
    ],
)
def test_a_scan_is_whole_where_all_that_is_left_out_is_no_drive(entries, is_whole):
    found = from_scan(as_json(('/dev/sda', 'scsi'), *entries, ('/dev/sdc', 'scsi')), ())

    assert [device.path for device in found.devices] == ['/dev/sda', '/dev/sdc']
    assert all(entry[0] in words for entry, words in zip(entries, found.notes))
    assert len(found.notes) == 2
    assert found.is_whole is is_whole


def test_nvme_drives_beyond_the_scan_of_smartctl_are_read():
    """smartctl 7.3 stops at nvme99.

    Neither namespaces are added, nor lower numbers, which a scan has left out.
    """
    names = [
        'nvme99',
        'nvme100',
        'nvme100n1',
        'nvme149',
        'nvme5',
        'nvme-fabrics',
        'nvme1000',
        'ng100n1',
        'sda',
    ]
    scan = from_scan(as_json(('/dev/nvme99', 'nvme')), names)

    assert [(device.path, device.type) for device in scan.devices] == [
        (f'/dev/nvme{number}', '') for number in (99, 100, 1000, 149)
    ]


def test_an_nvme_drive_that_a_newer_smartctl_scans_counts_once():
    """Also if the scan could not open it."""
    scan = from_scan(
        as_json(
            ('/dev/nvme99', 'nvme'),
            ('/dev/nvme100', 'nvme'),
            ('/dev/nvme101', 'nvme', 'Permission denied'),
        ),
        ['nvme99', 'nvme100', 'nvme101'],
    )

    assert [device.path for device in scan.devices] == ['/dev/nvme99', '/dev/nvme100']
    assert len(scan.notes) == 1


def test_a_check_looks_for_them_in_dev(tmp_path, monkeypatch):
    """The names come from the system, not from smartctl."""
    smartctl = FakeSmartctl(tmp_path / 'bin')
    smartctl.answers(smartctl_calls.SCAN, as_json(('/dev/nvme0', 'nvme')).encode())
    (tmp_path / 'dev').mkdir()
    (tmp_path / 'dev/nvme120').touch()
    monkeypatch.setattr(machine, 'DEVICES', str(tmp_path / 'dev'))
    found = machine.find(
        machine.named(()),
        True,
        HowRead(smartctl=str(smartctl.path), nosudo=True),
        Runner(),
        time.monotonic() + 20,
    )

    assert [device.path for device in found.devices] == ['/dev/nvme0', '/dev/nvme120']
