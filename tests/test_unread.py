"""Drives that give no verdict: who they are, whether they are there, and what to do, with the real smartctl and simulated drives."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Result, drive, run
from fake_smartctl import FakeSmartctl
from simulator import Machine, why_not

from smart_attributes.model import Device
from smart_attributes.reading import by_id
from smart_attributes.reading.commands import read_arguments

simulated = pytest.mark.skipif(bool(why_not()), reason=why_not())
MODEL, SERIAL, WWN = 'INTEL SSDSC2BB800G6', 'EXAMPLE0002', '5e1ec70000000002'
SAS_MODEL, SAS_SERIAL = 'SEAGATE ST4000NM0023', 'EXAMPLE0313'


@pytest.fixture
def machine(tmp_path) -> Machine:
    """A machine without drives."""
    return Machine(tmp_path / 'machine')


def check(machine, *arguments: str) -> Result:
    return run('-p', machine.smartctl, '--nosudo', *arguments)


def job(machine, name: str, *arguments: str) -> Result:
    return run(name, '-p', machine.smartctl, '--nosudo', *arguments)


# --- who it is ---------------------------------------------------------------------------------

@simulated
@pytest.mark.parametrize('address, described, fault, model, serial', [
    pytest.param('/dev/sda', 'intel-worn', {'disabled': True}, MODEL, SERIAL, id='ata-smart-disabled'),
    pytest.param('megaraid,1@/dev/bus/0', 'samsung-healthy', {'error': 3}, 'SAMSUNG MZ7LM960HMJP-00005', 'EXAMPLE0005', id='raid-io-error'),
    pytest.param('/dev/sda', 'sas-seagate-healthy', {'disabled': True}, SAS_MODEL, SAS_SERIAL, id='sas-smart-disabled'),
    pytest.param('/dev/nvme0', 'nvme-samsung-healthy', {'error': 2}, 'SAMSUNG MZQLB960HAJR-00007', 'EXAMPLE0081', id='nvme-no-log'),
])
def test_every_face_tells_which_drive_cannot_be_judged(machine, address, described, fault, model, serial):
    """That is the drive whose serial number is wanted."""
    machine.add(address, described, **fault)

    line = check(machine, '-d', address)
    listed = job(machine, 'list', '-d', address)
    explained = job(machine, 'explain', '-d', address)
    [listed_json] = json.loads(job(machine, 'list', '--json', '-d', address).text)['drives']
    [told] = json.loads(job(machine, 'triage', '--json', '-d', address).text)['drives']

    assert line.code == 3 and f'  {model}  ' in line.text and line.text.splitlines()[1].endswith(f'  {serial}')
    assert listed.text.split('  ')[1] == model and serial in listed.text
    assert f'model     {model}, firmware' in explained.text and f'serial    {serial}, WWN' in explained.text
    assert (listed_json['model'], listed_json['serial'], listed_json['kind']) == (model, serial, told['kind'])
    assert (told['model'], told['serial'], told['state']) == (model, serial, 'UNKNOWN')


@simulated
def test_a_sas_disk_without_verdict_is_no_ssd(machine):
    """Its kind follows from what answered, not from what it did not say."""
    machine.add('/dev/sda', 'sas-seagate-healthy', disabled=True)

    assert 'kind sas' in job(machine, 'explain', '-d', '/dev/sda').text
    assert 'kind -' in job(machine, 'explain', '-d', '/dev/sdb').text


@simulated
def test_hidden_serial_numbers_stay_hidden(machine):
    """Of an unread drive, too."""
    machine.add('/dev/sda', 'intel-worn', disabled=True)

    for text in (check(machine, '-d', '/dev/sda', '--hide-serial').text, job(machine, 'list', '-d', '/dev/sda', '--hide-serial').text):
        assert MODEL in text and SERIAL not in text


@simulated
def test_an_unread_drive_under_three_names_is_one(machine):
    """Counted three times, it would hide that two others have gone."""
    machine.add('/dev/sda', 'intel-worn', disabled=True)
    machine.alias('/dev/sg0', '/dev/sda')
    machine.link('/dev/disk/by-id/ata-EXAMPLE', '/dev/sda')
    named = ('-d', '/dev/sda', '-d', 'sat@/dev/sg0', '-d', '/dev/disk/by-id/ata-EXAMPLE')

    result = check(machine, *named, '--expect', '3', '-v')

    assert result.code == 2
    assert result.first_line.startswith('SMART CRITICAL - 2 of 3 expected drives missing, 1 there; ')
    assert 'also reached as sat@/dev/sg0, which has SMART disabled' in result.text


@simulated
@pytest.mark.parametrize('pattern, drives', [('--ignore=INTEL', 0), ('--match=SAMSUNG', 0), ('--match=EXAMPLE0002', 1)])
def test_patterns_choose_among_unread_drives_that_told_who_they_are(machine, pattern, drives):
    """Who ignores a model ignores it in trouble, too."""
    machine.add('/dev/sda', 'intel-worn', disabled=True)

    assert check(machine, '-d', '/dev/sda', pattern).text.count('has SMART disabled') == 2 * drives


# --- names of udev -------------------------------------------------------------------------------

@pytest.fixture
def folder(tmp_path) -> Path:
    """A /dev with links by-id."""
    links = tmp_path / 'disk/by-id'
    links.mkdir(parents=True)
    for name, target in (('ata-MODEL_S1', 'sda'), ('wwn-0x5000c500a1b2c3d4', 'sda'), ('ata-MODEL_S1-part1', 'sda1'),
                         ('nvme-MODEL_N1', 'nvme0n1'), ('nvme-eui.0025385b11b00001', 'nvme0n1')):
        (links / name).symlink_to(f'../../{target}')
    return tmp_path


@pytest.mark.parametrize('path, kind, address', [
    ('sda', '', '/dev/disk/by-id/ata-MODEL_S1'), ('sda', 'sat', 'sat@/dev/disk/by-id/ata-MODEL_S1'),
    ('nvme0', '', '/dev/disk/by-id/nvme-MODEL_N1'), ('nvme0n1', '', '/dev/disk/by-id/nvme-MODEL_N1'),
    ('sdb', '', None), ('sda', 'megaraid,6', None)])
def test_a_drive_has_a_stable_address_where_udev_named_it(folder, path, kind, address):
    """Behind a controller the link is that of a volume; of several links the one with the model counts."""
    device = Device(str(folder / path), kind)

    assert by_id.stable(device, by_id.links(str(folder / 'disk/by-id'))).address == (address or device.address)


def test_list_by_id_prints_addresses_to_paste(fake: FakeSmartctl):
    """It is what the documents recommend to write into a configuration; names follow, types stay."""
    for address in ('/dev/sda', '/dev/nvme0'):
        fake.answers(read_arguments(address), drive('intel-worn' if address == '/dev/sda' else 'samsung-pm983-healthy'))
    code = ('import sys\nfrom smart_attributes import main\nfrom smart_attributes.reading import by_id\n'
            'by_id.links = lambda: {"/dev/sda": "ata-MODEL_S1", "/dev/nvme0n1": "nvme-MODEL_N1"}\nmain.run(sys.argv[1:])\n'
            'sys.stdout.flush()')
    done = subprocess.run([sys.executable, '-c', code, 'list', '-p', fake.path, '--nosudo', '--label', 'by-id', '--json',
                           '-d', '/dev/sda', '-d', '/dev/nvme0'], cwd=ROOT, capture_output=True, text=True)

    assert [(each['address'], each['device'], each['name']) for each in json.loads(done.stdout)['drives']] == [
        ('/dev/disk/by-id/ata-MODEL_S1', '/dev/sda', 'ata_model_s1'), ('/dev/disk/by-id/nvme-MODEL_N1', '/dev/nvme0', 'nvme_model_n1')]
