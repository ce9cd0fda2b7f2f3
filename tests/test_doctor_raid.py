"""`doctor --raid`: the real smartctl asks simulated members of arrays, and nothing is ever set."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import abilities
import pytest
import sys_tree
from conftest import ROOT
from simulator import Machine, read, why_not

from smart_attributes.command_line.options import DataFiles, Options, Which
from smart_attributes.doctor import raid
from smart_attributes.doctor.disks import Disk
from smart_attributes.model import Answer, Group, HowRead, Member
from smart_attributes.output import codes
from smart_attributes.output.doctor_findings import Finding
from smart_attributes.reading import smartctl_calls, sudoers, system
from smart_attributes.redundancy.block_devices import NO_STATUS

needs_root = pytest.mark.skipif(
    bool(why_not()) or not abilities.IS_ROOT, reason=why_not() or 'only root may ask'
)
MEMBERS = {  # drive -> description, what it has, what /sys has
    'sda': ('hgst-healthy', {'erc': (70, 70)}, {}),
    'sdb': ('hgst-healthy', {'erc': (0, 0), 'link': 1}, {}),
    'sdc': ('hgst-healthy', {}, {}),
    'sdd': ('hgst-healthy', {'erc': (70, 600), 'link': 2}, {}),
    'sde': ('hgst-healthy', {'erc': (0, 0)}, {'timeout': '180'}),
    'sdf': ('intel-healthy', {}, {}),
    'sdg': ('hgst-healthy', {'erc': (0, 0)}, {'bus': 'usb2'}),
    'sdh': ('hgst-healthy', {'erc': (0, 0)}, {'host': 3, 'driver': 'megaraid_sas'}),
    'sdi': ('sas-seagate-healthy', {}, {'vendor': 'SEAGATE'}),
    'sdj': ('hgst-healthy', {'erc': (0, 0)}, {'timeout': 'soon'}),
}


class Server:
    """A machine whose smartctl keeps a list of its calls."""

    def __init__(self, folder: Path) -> None:
        self.machine = Machine(folder)
        self.root = self.machine.folder
        self.smartctl = self.root / 'logged'
        self.smartctl.write_text(
            f'#!/bin/sh\necho "$*" >>{self.root}/calls\nexec {self.machine.smartctl} "$@"\n'
        )
        self.smartctl.chmod(0o755)

    def add(self, name: str, drive: str, about: dict, tree: dict, **behaviour) -> None:
        self.machine.add(
            f'/dev/{name}', read(drive)._replace(**about), serial=name, recorded=True, **behaviour
        )
        sys_tree.disk(self.root, name, **tree)

    def calls(self) -> list[str]:
        return (self.root / 'calls').read_text().splitlines()

    def examined(self, drive_timeout: float = 20) -> list[Finding]:
        how = HowRead(smartctl=str(self.smartctl), drive_timeout=drive_timeout)
        return raid.examine(
            Options(
                how_read=how, data=DataFiles(str(self.root / 'etc')), which=Which(ignore=('sdy',))
            ),
            time.monotonic() + 60,
        )


@pytest.fixture
def server(tmp_path, monkeypatch) -> Server:
    """A machine without drives, which is used as /."""
    found = Server(tmp_path / 'machine')
    monkeypatch.setattr(system, 'ROOT', str(found.root))
    return found


def filled(server: Server) -> Server:
    for name, (drive, about, tree) in MEMBERS.items():
        server.add(name, drive, about, tree)
    sys_tree.array(server.root, 'md0', *(f'{name}1' for name in MEMBERS), level='raid6')
    return server


def loop(disks: str, command: str) -> str:
    return f'for disk in {disks}; do {command}; done'


def lasting(disks: str, what: str) -> str:
    """Return the line that sets a value now, and by a udev rule after each start."""
    command, conditions, action = {
        'scterc': (
            'smartctl -l scterc,70,70 /dev/$disk',
            'ENV{ID_BUS}=="ata", ATTR{queue/rotational}=="1"',
            'RUN+="/usr/sbin/smartctl -l scterc,70,70 $devnode"',
        ),
        'timeout': (
            'echo 180 > /sys/block/$disk/device/timeout',
            'ATTR{queue/rotational}=="1"',
            'ATTR{device/timeout}="180"',
        ),
    }[what]
    return (
        f'{loop(disks, command)}; echo \'ACTION=="add", KERNEL=="sd*[!0-9]", {conditions}, '
        f"{action}' "
        f'> /etc/udev/rules.d/60-raid-{what}.rules'
    )


@needs_root
def test_each_member_that_a_bad_sector_would_drop_gets_the_line_to_paste(server):
    """SSDs and a kernel that waits longer are nothing; bridges and controllers are not asked."""
    sys_tree.write(filled(server).root / 'sys/block/sdi/queue', {'zoned': 'host-aware'})
    *found, summary = server.examined()
    wanted = [
        ('sdb', 'error-recovery-too-long', 'is off, ', lasting('sdb', 'scterc')),
        ('sdc', 'kernel-timeout-too-short', 'no error recovery', lasting('sdc', 'timeout')),
        ('sdd', 'error-recovery-too-long', 'up to 60 s', lasting('sdd', 'scterc')),
        ('sdi', 'member-shingled', 'SMR', lasting('sdi', 'timeout')),
        ('sdj', 'kernel-timeout-unknown', '', ''),
    ]

    assert [(each.subject[5:], each.code, each.command) for each in found] == [
        (drive, code, command) for drive, code, _, command in wanted
    ]
    for each, (_, _, words, _) in zip(found, wanted):
        assert each.message.startswith('1 member of md0: ') and words in each.message
    assert summary.code == 'raid-examined' and summary.message.startswith('10 members ')
    assert re.findall(r'(sd.) \((.*?)\)', summary.message) == [
        ('sdg', 'USB'),
        ('sdh', 'behind a RAID controller'),
        ('sdi', 'SCSI'),
    ]
    assert all(
        (server.root / f'drives/{name}/commands').exists() is (name not in ('sdg', 'sdh', 'sdi'))
        for name in MEMBERS
    )


@needs_root
def test_nothing_is_ever_set(server):
    """No call contains a time limit, and what reached the drives only asks: log E0h is written to
    ask, as ACS-4 has it.

    The simulated drive aborts anything but the question."""
    filled(server).examined()

    calls = [call.rpartition(' ')[0] for call in server.calls() if 'scterc' in call]
    assert calls == ['--json=c --nocheck=standby -i -l scterc'] * 7


def test_only_one_line_of_the_package_has_a_time_limit_and_that_is_advice():
    package = ROOT / 'smart_attributes'
    lines = [
        line
        for path in (*package.rglob('*.py'), package / 'codes.json')
        for line in path.read_text().splitlines()
        if 'scterc,' in line
    ]
    advice = codes.DOCTOR['error-recovery-too-long']

    assert (
        len(lines) == 1
        and json.dumps(advice.command) in lines[0]
        and 'after each power-on' in advice.remedy
    )


def test_no_check_asks_and_no_rule_admits_it():
    line = (*raid.ARGUMENTS, '/dev/sda')

    assert not smartctl_calls.is_ours(line) and not sudoers.admits(sudoers.all_expressions(), line)


@needs_root
def test_a_sleeping_and_a_hanging_drive_hide_nothing(server):
    server.add('sda', 'hgst-healthy', {'erc': (0, 0)}, {})
    server.add('sdb', 'hgst-healthy', {'erc': (0, 0)}, {}, asleep=True)
    server.add('sdc', 'hgst-healthy', {}, {}, hang=2)
    server.add('sdd', 'hgst-healthy', {}, {}, error=3)
    sys_tree.array(server.root, 'md0', 'sda1', 'sdb1', 'sdc1', 'sdd1', level='raid1')

    found = {each.subject: each for each in server.examined(drive_timeout=1)}

    assert found['/dev/sda'].state == 'problem'
    assert not any(
        command.startswith('ata b0')
        for command in server.machine.commands(server.root / 'drives/sdb')
    )
    assert found['/dev/sdc'].message.endswith(' within 1 s')
    assert [found[f'/dev/sd{name}'].code for name in 'bcd'] == [
        'member-in-standby',
        *['member-silent'] * 2,
    ]


@needs_root
def test_a_drive_that_must_not_be_read_is_not_asked(server):
    """Reading loses data of some drives.

    The rule may have any of its names; a pattern of --ignore holds, too.
    """
    for name in ('sdw', 'sdx', 'sdy', 'sdz'):
        server.add(name, 'hgst-healthy', {'erc': (0, 0)}, {})
    server.machine.link('/dev/disk/by-id/ata-HGST_EXAMPLE', '/dev/sdx')
    sys_tree.array(server.root, 'md0', 'sdw1', 'sdx1', 'sdy1', 'sdz1', level='raid6')
    rules = [
        {'for': {'device': device}, 'why': 'Reading harms it.', 'read': False}
        for device in ('/dev/disk/by-id/ata-HGST_EXAMPLE', '/dev/sdz')
    ]
    sys_tree.write(
        server.root / 'etc/thresholds.d', {'site.json': json.dumps({'overrides': rules})}
    )

    *found, summary = server.examined()

    assert [each.subject for each in found] == ['/dev/sdw']
    assert re.findall(r'(sd.) \(excluded\)', summary.message) == ['sdx', 'sdy', 'sdz']
    assert [call.split()[-1] for call in server.calls()] == ['/dev/sdw']


@needs_root
def test_a_machine_without_arrays_asks_no_drive(server):
    server.add('sda', 'hgst-healthy', {}, {})
    sys_tree.array(server.root, 'md0', 'sda1', level='raid0')

    assert [each.code for each in server.examined()] == ['raid-none']
    assert not (server.root / 'calls').exists()


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_another_user_is_sent_to_root(server, monkeypatch):
    sys_tree.disk(server.root, 'sda')
    sys_tree.array(server.root, 'md0', 'sda1', level='raid1')
    monkeypatch.setattr(os, 'geteuid', lambda: 1000)

    [found] = server.examined()

    assert (found.code, found.command) == (
        'raid-needs-root',
        'check_smart_attributes doctor --raid',
    )


@needs_root
def test_a_smartctl_that_others_can_change_is_not_run(server):
    sys_tree.disk(server.root, 'sda')
    sys_tree.array(server.root, 'md0', 'sda1', level='raid1')
    server.smartctl.chmod(0o777)

    [found] = server.examined()

    assert found.code == 'raid-not-asked' and 'others can change' in found.message
    assert not (server.root / 'calls').exists()


# --- members --------------------------------------------------------------------------------------


def group(name, level, *on, unknown='', kind='md'):
    return Group(
        name,
        name.upper(),
        kind,
        level,
        members=tuple(Member(each, 'in_sync', on=(each,)) for each in on),
        unknown=unknown,
    )


def test_members_are_the_disks_below_a_redundant_group_at_any_depth():
    """LVM RAID counts, whose level only dmsetup knows."""
    found = [
        group('md0', 'raid5', 'sda', 'dm-0'),
        group('dm-0', 'single', 'md1'),
        group('md1', 'raid0', 'sdb'),
        group('dm-1', '', 'sdc', unknown=NO_STATUS),
        group('dm-2', '', 'sdd', unknown='who knows'),
        group('sde1', 'single', 'sde'),
        group('zfs tank', '', 'sdf', kind='zfs', unknown='not asked'),
    ]

    assert raid.redundant(found) == {'sda': 'MD0', 'sdb': 'MD0', 'sdc': 'DM-1', 'sdf': 'ZFS TANK'}


@pytest.mark.parametrize(
    'level, is_redundant',
    [
        ('raid1', True),
        ('raid1c3', True),
        ('raid10', True),
        ('raidz2', True),
        ('mirror', True),
        ('draid1', True),
        ('btrfs-raid1', True),
        ('container', False),
        ('raid0', False),
        ('linear', False),
        ('single', False),
        ('dup', False),
        ('', False),
    ],
)
def test_levels_that_survive_a_failure_are_redundant(level, is_redundant):
    assert bool(raid.redundant([group('x', level, 'sda')])) is is_redundant


def test_one_paragraph_has_all_members_of_a_fact():
    """42 paragraphs for two facts on 21 members were too many to read."""
    short = 'kernel-timeout-too-short', (('limit', 'it has none'), ('seconds', 30))
    found = raid.joined(
        [
            *(('md0', f'sd{letter}', short) for letter in 'abc'),
            ('md1', 'sdd', short),
            ('md1', 'sdd', ('member-shingled', ())),
        ]
    )

    assert found[0].message.startswith('4 members of md0, md1 (sda, ')
    assert found[1].message.startswith('1 member of md1:')
    assert found[0].command == lasting('sda sdb sdc sdd', 'timeout')


@pytest.mark.parametrize(
    'told, zoned, is_shingled',
    [
        ({'model_family': 'Toshiba P300 (SMR)'}, 'none', True),
        ({'model_family': 'Toshiba P300'}, 'none', False),
        ({'zoned_device': {'capabilities': 'device_managed'}}, 'none', True),
        ({}, 'host-aware', True),
        ({}, 'host-managed', True),
        ({}, '', False),
    ],
)
def test_a_shingled_member_is_named(tmp_path, monkeypatch, told, zoned, is_shingled):
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))
    sys_tree.write(tmp_path / 'sys/block/sda/queue', {'zoned': zoned})
    document = json.dumps({**limits(read=ON, write=ON), **told}).encode()
    answer = Answer(('smartctl', '/dev/sda'), 'done', '', status=0, stdout=document)

    found = raid._facts(Disk('sda', 'sda', 'ATA', timeout=30), answer)

    assert [code for code, _ in found] == ['member-shingled'][:is_shingled]


@pytest.mark.parametrize('bus, named', [('SCSI', ['member-shingled']), ('NVMe', [])])
def test_a_shingled_member_that_is_not_asked_is_named_too(tmp_path, monkeypatch, bus, named):
    """SAS disks are not asked. The zones of an NVMe drive are no shingled tracks."""
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))
    sys_tree.write(tmp_path / 'sys/block/sda/queue', {'zoned': 'host-aware'})

    assert [code for code, _ in raid._facts(Disk('sda', 'sda', bus), None)] == named


@needs_root
def test_the_disks_of_a_zfs_pool_are_members(server):
    """udev finds the pool; its layout is not in /sys."""
    server.add('sda', 'hgst-healthy', {'erc': (0, 0)}, {})
    sys_tree.write(server.root / 'sys/block/sda/sda1', {'dev': '8:1'})
    sys_tree.write(
        server.root / 'run/udev/data', {'b8:1': 'E:ID_FS_TYPE=zfs_member\nE:ID_FS_LABEL=tank'}
    )

    assert [each.message.partition(':')[0] for each in server.examined()[:-1]] == [
        '1 member of tank'
    ]


# --- reports --------------------------------------------------------------------------------------


def report(**found):
    return {'smartctl': {'exit_status': 0}, 'device': {'protocol': 'ATA'}, **found}


def limits(**found):
    return report(ata_sct_erc=found)


ON, OFF = {'enabled': True, 'deciseconds': 70}, {'enabled': False}


@pytest.mark.parametrize(
    'document, known',
    [
        (limits(read=ON, write=ON), (True, 7)),
        (limits(read=OFF, write=OFF), (True, None)),
        (limits(read=ON, write=OFF), (True, None)),
        (limits(read=ON), (True, None)),
        (report(), (False, None)),
        (limits(read={'enabled': True, 'deciseconds': 0}, write=ON), (True, None)),
        (limits(read={'enabled': True, 'deciseconds': 'x'}, write=ON), (True, None)),
        (report(ata_sct_erc=[]), (False, None)),
        ({**report(), 'device': {'protocol': 'SCSI'}}, None),
        ({**report(), 'smartctl': {'exit_status': 4}}, None),
        ({**report(), 'smartctl': {}}, None),
        ({}, None),
    ],
)
def test_a_drive_that_did_not_answer_is_not_one_without_error_recovery_control(document, known):
    assert raid.recovery(document) == (raid.Recovery(*known) if known else None)


@pytest.mark.parametrize('output', [b'', b'{', b'[]', b'\xff\xfe', b'{"smartctl":7}'])
def test_output_that_is_no_report_is_unknown(output, monkeypatch):
    monkeypatch.setattr(system, 'ROOT', '/nonexistent')
    answer = Answer(('smartctl', '/dev/sda'), 'done', '', status=0, stdout=output)

    [(code, fields)] = raid._facts(Disk('sda', 'sda', 'ATA', timeout=30), answer)

    assert code == 'member-silent' and dict(fields)['call'] == 'smartctl'
    assert raid.joined([('md0', 'sda', (code, fields))])[0].command == loop(
        'sda', 'smartctl /dev/$disk'
    )


def test_messages_of_drives_are_cleaned(monkeypatch):
    monkeypatch.setattr(system, 'ROOT', '/nonexistent')
    said = {'smartctl': {'exit_status': 2, 'messages': [{'string': 'no\x1b[31m\ndrive'}]}}
    answer = Answer(
        ('smartctl', '/dev/sda'), 'done', '', status=2, stdout=json.dumps(said).encode()
    )

    [(_, fields)] = raid._facts(Disk('sda', 'sda', 'ATA', timeout=30), answer)

    assert dict(fields)['reason'] == 'no drive'


@pytest.mark.parametrize(
    'known, timeout, warns',
    [
        ((True, 7), 30, False),
        ((True, 30), 30, True),
        ((True, 29.9), 30, False),
        ((True, None), 179, True),
        ((True, None), 180, False),
        ((False, None), 30, True),
        ((False, None), 180, False),
    ],
)
def test_the_kernel_must_wait_longer_than_the_drive(known, timeout, warns):
    assert (
        bool([*raid._retries(Disk('sda', 'sda', 'ATA', timeout=timeout), raid.Recovery(*known))])
        is warns
    )
