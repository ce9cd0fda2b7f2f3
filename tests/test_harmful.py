"""Drives that reading can harm: they are not read, and every output says so."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import early
import pytest
from conftest import ROOT, drive
from fake_smartctl import FakeSmartctl
from shipped import ATTRIBUTES

from smart_attributes.knowledge.patterns import fits
from smart_attributes.reading import forbidden
from smart_attributes.reading.smartctl_calls import SCAN, read_arguments

BANS = [each for each in ATTRIBUTES['advisories'] if each.get('read') is False]
MODEL, OTHER = 'SAMSUNG HD204UI', 'SAMSUNG HD103SJ'
START = 'import sys; from smart_attributes.reading import forbidden; forbidden.SYS = sys.argv.pop(1)'
START += '; from smart_attributes import main; main.main()'


def report(model: str) -> str:
    """Return the report of a healthy disk of this model."""
    told = json.loads(drive('wd-gold-healthy'))
    return json.dumps({**told, 'model_name': model, 'firmware_version': '1AQ10001'})


def kernel(folder: Path, **models: str) -> None:
    """Let the kernel know the models of disks."""
    for name, model in models.items():
        device = folder / 'sys/class/block' / name / 'device'
        device.mkdir(parents=True)
        (device / 'model').write_text(f'{model:16}\n')


def site(folder: Path, **override: Any) -> None:
    (folder / 'config/thresholds.d').mkdir()
    whole = {'for': {'device': '/dev/sda'}, 'why': 'as the vendor says', **override}
    (folder / 'config/thresholds.d/site.json').write_text(
        json.dumps({'overrides': [whole]})
    )


@pytest.fixture
def machine(tmp_path: Path, fake: FakeSmartctl) -> FakeSmartctl:
    """Two disks; only the kernel tells that the first must not be read."""
    kernel(tmp_path, sda=MODEL, sdb=OTHER)
    (tmp_path / 'config').mkdir()
    for path, model in (('/dev/sda', MODEL), ('/dev/sdb', OTHER)):
        fake.answers(read_arguments(path), report(model))
    head = {'exit_status': 0, 'argv': ['smartctl', '--scan']}
    found = [
        {'name': f'/dev/sd{each}', 'type': 'scsi', 'protocol': 'SCSI'} for each in 'ab'
    ]
    fake.answers(SCAN, json.dumps({'smartctl': head, 'devices': found}))
    return fake


def run(machine: FakeSmartctl, tmp_path: Path, *words: str) -> str:
    """Return the output for this machine."""
    command = [sys.executable, '-c', START, str(tmp_path / 'sys'), *words]
    command += [
        '-p',
        machine.path,
        '--nosudo',
        '--no-history',
        '--config',
        f'{tmp_path}/config',
    ]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, check=False
    ).stdout


def asked(machine: FakeSmartctl) -> set[str]:
    """Return the devices that smartctl was asked about."""
    return {call.rpartition(' ')[2] for call in machine.calls() if '/dev/' in call}


BOTH = ('-d', '/dev/sda', '-d', '/dev/sdb')


def test_such_a_drive_is_not_read_and_every_output_says_so(machine, tmp_path):
    text = run(machine, tmp_path, *BOTH)
    document = json.loads(run(machine, tmp_path, 'triage', '--json', *BOTH))
    [told] = [each for each in document['drives'] if each['name'] == 'sda']

    assert asked(machine) == {'/dev/sdb'}
    assert text.startswith('SMART WARNING - sda is not read: ')
    assert '"read": true' in text and 'watch' not in text
    assert '; copy the data now, then install the vendor' in text.splitlines()[0]
    assert (told['state'], told['code'], told['action']) == (
        'WARNING',
        'reading-harms',
        'firmware',
    )


def test_a_scan_reads_only_the_others(machine, tmp_path):
    assert 'WARNING   sda' in run(machine, tmp_path, '--scan')
    assert asked(machine) <= {'/dev/sdb'}


@pytest.mark.parametrize(
    'override, state, devices',
    [
        ({'read': True}, 'OK', {'/dev/sda', '/dev/sdb'}),
        ({'read': False}, 'OK', {'/dev/sdb'}),
        ({'read': True, 'no-such-key': 1}, 'UNKNOWN', {'/dev/sdb'}),
        ({'read': True, 'until': '2020-01-31'}, 'WARNING', {'/dev/sdb'}),
    ],
    ids=['patched', 'left-out', 'mistake', 'ended'],
)
def test_the_site_decides(machine, tmp_path, override, state, devices):
    """After the patch it can be read; without, it can be left out."""
    site(tmp_path, **override)
    text = run(machine, tmp_path, *BOTH, '-v')

    assert text.startswith(f'SMART {state}')
    assert asked(machine) == devices
    assert ('read although' in text) == ('/dev/sda' in devices)


@pytest.mark.parametrize(
    'where', ['config/attributes.json', 'config/attributes.d/site.json']
)
def test_a_database_of_the_site_can_forbid_reading(machine, tmp_path, where):
    ban = {
        'id': 'site-ban',
        'models': [OTHER],
        'read': False,
        'state': 'critical',
        'effect': 'it loses data when it is read',
        'action': 'replace the drive',
        'source': 'measured',
    }
    path = tmp_path / where
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        json.dumps({**ATTRIBUTES, 'date': '2999-01-01', 'advisories': [ban]})
    )

    assert run(machine, tmp_path, '-d', '/dev/sdb').startswith(
        'SMART CRITICAL - sdb is not read: '
    )
    assert asked(machine) == set()


def test_a_recorded_report_of_such_a_drive_is_judged(tmp_path):
    """Its firmware is old, or not; the advice never is to look again at a drive not to be read."""
    (tmp_path / 'a.txt').write_text(report(MODEL))
    command = [sys.executable, 'check_smart_attributes', '--no-history', '--report']
    done = subprocess.run(
        [*command, str(tmp_path / 'a.txt')],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )

    assert '; [firmware] install the vendor' in done.stdout
    assert 'watch' not in done.stdout and '-- ' not in done.stdout.replace('  --  ', '')


@pytest.mark.parametrize(
    'path, device_type, model',
    [
        ('/dev/sda', '', MODEL),
        ('/dev/sda', 'sat', MODEL),
        ('/dev/sda', 'sat,12', MODEL),
        ('/dev/sda', 'megaraid,0', ''),  # another drive
        ('/dev/sdz', '', ''),
    ],
)
def test_the_kernel_knows_models_of_disks_and_not_of_slots(
    tmp_path, monkeypatch, path, device_type, model
):
    kernel(tmp_path, sda=MODEL)
    monkeypatch.setattr(forbidden, 'SYS', str(tmp_path / 'sys'))

    assert forbidden.model_of(path, device_type) == model


@pytest.mark.parametrize(
    'database',
    [
        '',
        '{"advisories": 7}',
        '{"advisories": [1]}',
        '{"advisories": [{"read"',
        '\ufffd',
    ],
)
def test_a_damaged_database_forbids_nothing(database):
    """Judging reports it."""
    assert forbidden.advisories(database) == []


def test_the_early_start_waits_for_every_model_that_must_not_be_read(
    tmp_path, monkeypatch
):
    """It looks only at the first word of a model, before anything is parsed."""
    content = (ROOT / 'attributes.json').read_text()
    assert (
        forbidden.shipped() == content and forbidden.advisories(content) == BANS != []
    )
    for ban in BANS:
        known = [
            each for each in (MODEL, 'SAMSUNG HD155UI') if fits(ban['models'][0], each)
        ]
        assert known and all(forbidden.may_forbid(content, each) for each in known)
    assert not forbidden.may_forbid(
        content, 'ST4000NM0035'
    ) and not forbidden.may_forbid('', 'x')

    kernel(tmp_path, sda=MODEL, sdb='ST4000NM0035')
    monkeypatch.setattr(forbidden, 'SYS', str(tmp_path / 'sys'))
    started = early.commands([*BOTH, '-p', '/bin/true', '--nosudo'])
    assert [command[-1] for command in started] == ['/dev/sdb']
