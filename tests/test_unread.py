"""Drives that give no verdict: who they are, whether they are there, and what to do, with the real
smartctl and simulated drives.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Result, run
from simulator import Machine, why_not

from smart_attributes.check.survey import survey
from smart_attributes.commands import table
from smart_attributes.errors import DriveAbsent, DriveUndetected, SudoRefused
from smart_attributes.model import Device, Read
from smart_attributes.reading import addresses, diagnostics, processes, system
from smart_attributes.reading.addresses import parse

simulated = pytest.mark.skipif(bool(why_not()), reason=why_not())
MODEL, SERIAL, WWN = 'INTEL SSDSC2BB800G6', 'EXAMPLE0002', '5e1ec70000000002'
SAS_MODEL, SAS_SERIAL = 'SEAGATE ST4000NM0023', 'EXAMPLE0313'


@pytest.fixture
def machine(tmp_path) -> Machine:
    """A machine without drives."""
    return Machine(tmp_path / 'machine')


def check(machine, *arguments: str) -> Result:
    return run('-p', machine.smartctl, '--nosudo', *arguments)


def command(machine, name: str, *arguments: str) -> Result:
    return run(name, '-p', machine.smartctl, '--nosudo', *arguments)


# --- who it is ---------------------------------------------------------------------------------


@simulated
@pytest.mark.parametrize(
    ('address', 'described', 'fault', 'model', 'serial'),
    [
        # ata smart disabled
        ('/dev/sda', 'intel-worn', {'disabled': True}, MODEL, SERIAL),
        (
            'megaraid,1@/dev/bus/0',
            'samsung-healthy',
            {'error': 3},
            'SAMSUNG MZ7LM960HMJP-00005',
            'EXAMPLE0005',
        ),  # raid io error
        (
            '/dev/sda',
            'sas-seagate-healthy',
            {'disabled': True},
            SAS_MODEL,
            SAS_SERIAL,
        ),  # sas smart disabled
        (
            '/dev/nvme0',
            'nvme-samsung-healthy',
            {'error': 2},
            'SAMSUNG MZQLB960HAJR-00007',
            'EXAMPLE0081',
        ),  # nvme no log
    ],
)
def test_every_face_tells_which_drive_cannot_be_judged(
    machine, address, described, fault, model, serial
):
    """That is the drive whose serial number is wanted."""
    machine.add(address, described, **fault)

    line = check(machine, '-d', address)
    listed = command(machine, 'list', '-d', address)
    explained = command(machine, 'explain', '-d', address)
    [listed_json] = json.loads(command(machine, 'list', '--json', '-d', address).text)[
        'drives'
    ]
    [told] = json.loads(command(machine, 'triage', '--json', '-d', address).text)[
        'drives'
    ]

    assert line.code == 3 and f'  {model}  ' in line.text
    assert (
        line.text.splitlines()[1].rpartition('  firmware ')[0].endswith(f'  {serial}')
    )
    assert listed.text.split('  ')[1] == model and serial in listed.text
    assert (
        f'model       {model}, firmware' in explained.text
        and f'serial      {serial}, WWN' in explained.text
    )
    assert (listed_json['model'], listed_json['serial'], listed_json['kind']) == (
        model,
        serial,
        told['kind'],
    )
    assert (told['model'], told['serial'], told['state']) == (model, serial, 'UNKNOWN')


@simulated
@pytest.mark.parametrize(
    'pattern, drives',
    [('--ignore=INTEL', 0), ('--match=SAMSUNG', 0), ('--match=EXAMPLE0002', 1)],
)
def test_patterns_choose_among_unread_drives_that_told_who_they_are(
    machine, pattern, drives
):
    """Who ignores a model ignores it in trouble, too."""
    machine.add('/dev/sda', 'intel-worn', disabled=True)

    assert (
        check(machine, '-d', '/dev/sda', pattern).text.count('has SMART disabled')
        == 2 * drives
    )


# --- names of udev -------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path) -> Path:
    """A /dev with links by-id."""
    links = tmp_path / 'disk/by-id'
    links.mkdir(parents=True)
    for name, target in (
        ('ata-MODEL_S1', 'sda'),
        ('wwn-0x5000c500a1b2c3d4', 'sda'),
        ('ata-MODEL_S1-part1', 'sda1'),
        ('nvme-MODEL_N1', 'nvme0n1'),
        ('nvme-eui.0025385b11b00001', 'nvme0n1'),
    ):
        (links / name).symlink_to(f'../../{target}')
    return tmp_path


@pytest.mark.parametrize(
    'path, kind, address',
    [
        ('sda', '', '/dev/disk/by-id/ata-MODEL_S1'),
        ('sda', 'sat', 'sat@/dev/disk/by-id/ata-MODEL_S1'),
        ('nvme0', '', '/dev/disk/by-id/nvme-MODEL_N1'),
        ('nvme0n1', '', '/dev/disk/by-id/nvme-MODEL_N1'),
        ('sdb', '', None),
        ('sda', 'megaraid,6', None),
    ],
)
def test_a_drive_has_a_stable_address_where_udev_named_it(folder, path, kind, address):
    """Behind a controller the link is that of a volume; of several links the one with the model
    counts.
    """
    device = Device(str(folder / path), kind)

    assert addresses.stable(
        device, addresses.links(str(folder / 'disk/by-id'))
    ).address == (address or device.address)


# --- whether it is there -------------------------------------------------------------------------


@simulated
@pytest.mark.parametrize(
    'address',
    [
        '/dev/disk/by-id/ata-GONE',
        '/dev/sdzz',
        '/dev/nvme77',
        '/dev/ng77n1',
        'sat@/dev/sg77',
        'megaraid,6@/dev/bus/0',
        'cciss,3@/dev/sg0',
    ],
)
def test_a_missing_drive_is_critical_by_every_kind_of_name(machine, address):
    """udev takes away the link of a drive that was pulled out; by-id is what we recommend."""
    machine.add('/dev/sda', 'intel-healthy')
    machine.add('megaraid,0@/dev/bus/0', 'sas-seagate-healthy')
    machine.add('cciss,0@/dev/sg0', 'sas-hp-healthy')

    result = check(machine, '--expect', '2', '-d', '/dev/sda', '-d', address)

    assert result.code == 2
    assert '[too-few-drives] expected 2 drives, found 1 (' in result.first_line
    (gone,) = json.loads(command(machine, 'triage', '--json', '-d', address).text)[
        'drives'
    ]
    assert gone['action'] == 'search'


@pytest.mark.parametrize('target', ['gone', 'there'])
def test_a_link_whose_drive_is_gone_is_missing_and_an_odd_file_is_not(
    monkeypatch, tmp_path, target
):
    """smartctl has one sentence for both."""
    (tmp_path / 'dev/disk/by-id').mkdir(parents=True)
    (tmp_path / 'dev/there').touch()
    (tmp_path / 'dev/disk/by-id/ata-X').symlink_to(f'../../{target}')
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))

    [read] = diagnostics.with_better_reasons(
        [Read(Device('/dev/disk/by-id/ata-X'), DriveUndetected('is what?'))]
    )

    assert isinstance(read.outcome, DriveAbsent) is (target == 'gone')


# --- controllers ----------------------------------------------------------------------------------


def surveyed(machine, monkeypatch, *arguments: str):
    """Return the survey of a machine whose /sys is the simulated one; the plugin's own process
    sees this one's.
    """
    monkeypatch.setattr(system, 'ROOT', str(machine.folder))
    runner = processes.Runner()
    try:
        return survey(
            table.understood(['-p', machine.smartctl, '--nosudo', *arguments])[1],
            runner,
        )
    finally:
        runner.close()


def stands_behind(machine, path: str, host: int, driver: str = '') -> None:
    """Let /sys of a machine say of which host a disk is, and what drives that host."""
    unit = machine.folder / f'sys/devices/host{host}/{host}:0:0:0'
    unit.mkdir(parents=True)
    link = (
        machine.folder
        / 'sys/class'
        / ('scsi_generic' if '/sg' in path else 'block')
        / path[5:]
        / 'device'
    )
    link.parent.mkdir(parents=True)
    link.symlink_to(unit)
    if driver:
        folder = machine.folder / f'sys/class/scsi_host/host{host}'
        folder.mkdir(parents=True)
        (folder / 'proc_name').write_text(driver + '\n')


@simulated
@pytest.mark.parametrize(
    'address, right',
    [
        ('megaraid,0@/dev/bus/99', 'megaraid,0@/dev/bus/1'),
        ('sat+megaraid,4@/dev/bus/6', 'sat+megaraid,4@/dev/bus/1'),
        ('megaraid,0@/dev/sdb', 'megaraid,0@/dev/bus/1'),
        ('megaraid,0-7@/dev/bus/6', 'megaraid,0@/dev/bus/1 '),
    ],
)
def test_a_controller_that_moved_is_not_a_dead_drive(
    machine, monkeypatch, address, right
):
    """Host numbers change at boot; after a reboot every drive would be called dead. A range is one
    line: neither empty slots, nor 8 missing drives.
    """
    machine.add('megaraid,0@/dev/bus/1', 'sas-seagate-healthy')
    machine.add('/dev/sdb', 'intel-healthy', host=3)
    stands_behind(machine, '/dev/sdb', 3, 'ahci')

    found = surveyed(machine, monkeypatch, '-d', address, '--expect', '1')

    [verdict] = found.verdicts
    assert verdict.code == 'controller-moved' and f'write {right}' in verdict.step
    assert found.failures == ()


@simulated
def test_a_sas_drive_among_sata_ones_is_not_dropped(machine):
    """sat+ cannot speak to it; it is asked without, and said."""
    machine.add('megaraid,0@/dev/bus/0', 'sas-predicted-failure')
    machine.add('megaraid,1@/dev/bus/0', 'intel-healthy')

    result = check(machine, '-d', 'sat+megaraid,0-3@/dev/bus/0', '--expect', '2', '-v')

    assert result.code == 2 and '2 drives: 1 critical, 1 ok' in result.first_line
    assert ' sat+megaraid,0@/dev/bus/0, only as megaraid,0@/dev/bus/0' in result.text
    assert 'sat+megaraid,1@' not in result.text


# --- sudo ----------------------------------------------------------------------------------------

REFUSED = SudoRefused('cannot be read: sudo asks for a password')


@pytest.mark.parametrize(
    'address, words',
    [
        ('/dev/sr0', ' an optical drive (the sudoers rule excludes it on purpose);'),
        ('/dev/vda', ' (virtio or Xen) (the sudoers rule excludes it on purpose);'),
        ('/dev/my/disk', 'cover this path'),
        (
            'sntasmedia@/dev/sda',
            'check_smart_attributes sudoers -d sntasmedia@/dev/sda',
        ),
        ('/dev/sda', 'asks for a password'),
        ('megaraid,6@/dev/bus/0', 'asks for a password'),
    ],
)
def test_sudo_refuses_what_the_rule_never_admits_with_another_reason(address, words):
    """The program knows its rule; another look into /etc/sudoers.d would be in vain."""
    [device] = parse(address)
    [read] = diagnostics.with_better_reasons([Read(device, REFUSED)])

    assert words in str(read.outcome)
