"""`doctor` names the disks that no check reads: trees of /sys, and addresses as checks have
them.
"""

from collections.abc import Sequence

import pytest
import sys_tree

from smart_attributes.command_line.options import DataFiles, Options, Which
from smart_attributes.daemons.checks import SHELL, DaemonCheck
from smart_attributes.doctor import coverage
from smart_attributes.doctor.coverage import Uses
from smart_attributes.doctor.disks import disks
from smart_attributes.errors import SmartError
from smart_attributes.reading import addresses, smartctl_calls, system

NONE = Options(data=DataFiles('/nonexistent'))


@pytest.fixture(autouse=True)
def prefix(monkeypatch):
    """The call of smartctl, whether or not sudo is installed."""
    monkeypatch.setattr(smartctl_calls, 'prefix', lambda *_: ('smartctl',))


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder that is used as /, with a SATA disk, a MegaRAID volume, an NVMe drive and a USB
    disk.
    """
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))
    sys_tree.disk(tmp_path, 'sda', wwid='naa.5000c500a1b2c3d4')
    sys_tree.disk(
        tmp_path,
        'sdb',
        'PERC H730P Mini',
        'DELL',
        'megaraid_sas',
        1,
        wwid='naa.61866da05bd8b90021fd7ff80d7b1e2c',
    )
    sys_tree.nvme(tmp_path, 0, namespaces=2)
    sys_tree.disk(tmp_path, 'sdc', 'Elements 2621', 'WD', 'uas', 2, 'usb1')
    for name in ('sda', 'sda1', 'sdb', 'sdc', 'nvme0', 'nvme0n1', 'nvme0n2', 'sg3'):
        sys_tree.write(tmp_path / 'dev', {name: ''})
    sys_tree.link(tmp_path / 'dev/disk/by-id/ata-ST4000', tmp_path / 'dev/sda')
    sys_tree.write(tmp_path / 'sys/class/scsi_generic/sg3/device/block/sdc', {})
    return tmp_path


def left(*uses: Uses, scanned: Sequence[str] = ()) -> list[str]:
    """Return the names of the disks that are named, and of the only subject that there is."""
    found = coverage.examine(
        uses,
        NONE,
        lambda: [device for text in scanned for device in addresses.parse(text)],
    )
    assert len(found) <= 1 and all(
        each.code.startswith('drives-unmonitored') for each in found
    )
    return [
        each.split(' (')[0]
        for finding in found
        for each in finding.fields['disks'].replace('),', ')|').split('| ')
    ]


ALL = ['nvme0n1', 'sda', 'sdb', 'sdc']


@pytest.mark.parametrize(
    'address, covered',
    [
        ('/dev/sda', 'sda'),
        ('/dev/sda1', 'sda'),
        ('/dev/disk/by-id/ata-ST4000', 'sda'),
        ('sat@/dev/sda', 'sda'),
        ('/dev/nvme0', 'nvme0n1'),
        ('/dev/nvme0n1', 'nvme0n1'),
        ('/dev/nvme0n2', 'nvme0n1'),
        ('/dev/sg3', 'sdc'),
        ('megaraid,0-7@/dev/bus/1', 'sdb'),
        ('megaraid,[0-7,9]@/dev/sdb', 'sdb'),
        ('sat+megaraid,3@/dev/bus/1', 'sdb'),
        ('megaraid,0@/dev/bus/0', ''),
        ('cciss,0@/dev/bus/1', ''),
        ('/dev/sdz', ''),
        ('/dev/bus/1', ''),
    ],
)
def test_an_address_covers_the_drive_that_it_leads_to(root, address, covered):
    """A namespace, a partition, a generic node and a udev link are ways to one drive; a slot, to
    its controller.
    """
    assert left(Uses([address])) == [name for name in ALL if name != covered]


def test_all_checks_together_are_compared(root):
    assert (
        left(
            Uses(['/dev/sda', '/dev/nvme0']),
            Uses(['megaraid,0-7@/dev/bus/1', '/dev/sdc']),
        )
        == []
    )
    assert left(Uses(['/dev/sda']), Uses(['/dev/sdc'])) == ['nvme0n1', 'sdb']


def test_a_check_with_a_scan_reads_what_the_scan_lists(root):
    assert left(Uses(is_scan=True), scanned=['/dev/sda', '/dev/nvme0']) == [
        'sdb',
        'sdc',
    ]
    assert left(Uses(['/dev/sdc']), scanned=ALL[:0]) == ALL[:3]


def test_a_disk_that_an_option_of_the_check_excludes_is_not_missed(root):
    options = NONE._replace(which=Which(ignore=('sdc', 'by-id/ata-ST4000')))

    [found] = coverage.examine([Uses(['/dev/nvme0'])], options, list)

    assert [name in found.message for name in ('sda', 'sdb', 'sdc')] == [
        False,
        True,
        False,
    ]


def test_without_known_checks_nothing_is_said(root):
    """Neither where none is found, nor where the addresses of one are not known."""

    def fails():
        raise SmartError('the scan failed', 'scan-failed')

    assert left() == [] and left(Uses(['/dev/sda']), Uses(is_known=False)) == []
    assert (
        left(Uses(['/dev/sd[a-d]'])) == [] and left(Uses(['/dev/disk/by-id/*'])) == []
    )
    assert coverage.examine([Uses(is_scan=True)], NONE, fails) == []


def test_the_finding_names_each_disk_with_its_model_and_what_to_do(root):
    sys_tree.write(root / 'sys/block/sda/device', {'model': 'ACME\x1b[31m X'})
    [found] = coverage.examine([Uses(['megaraid,0-7@/dev/bus/1'])], NONE, list)

    assert found.fields == {
        'disks': 'nvme0n1 (EXAMPLE NVMe), sda (ACME X), sdc (WD Elements 2621)',
        'options': '-d /dev/nvme0n1 -d /dev/sda -d /dev/sdc',
    }

    [found] = coverage.examine([Uses(['/dev/sda'])], NONE, list)
    assert 'sdb (DELL PERC H730P Mini)' in found.fields['disks']
    assert found.command == 'check_smart_attributes list'


def test_a_hundred_disks_are_counted_after_the_first(tmp_path, monkeypatch):
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))
    for number in range(100):
        sys_tree.disk(
            tmp_path, f'sd{chr(97 + number // 26)}{chr(97 + number % 26)}', 'M' * 200
        )

    [found] = coverage.examine([Uses(['/dev/sdzz'])], NONE, list)

    assert found.message.endswith(' and 88 more') and found.message.count('(') == 12


def test_two_paths_to_one_drive_are_one_drive(tmp_path, monkeypatch):
    """A multipath drive has a disk for each path, with one name in the world."""
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))
    for name in ('sda', 'sdb', 'sdc', 'sdd'):
        sys_tree.disk(
            tmp_path,
            name,
            vendor='SEAGATE',
            wwid='naa.5000c500' + ('1' * 8 if name < 'sdc' else '2' * 8),
        )

    assert left(Uses(['/dev/sdb'])) == ['sdc']


def test_a_volume_of_a_controller_that_smartctl_cannot_ask_is_not_a_lone_disk(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))
    sys_tree.disk(
        tmp_path, 'sda', driver='mpi3mr', vendor='DELL', model='PERC H965i Front'
    )
    [finding] = coverage.examine([Uses(['/dev/sdz'])], NONE, list)

    assert finding.code == 'drives-unmonitored-behind-raid'


@pytest.mark.parametrize(
    'what',
    [
        {'model': 'QEMU HARDDISK'},
        {'model': 'QEMU HARDDISK', 'vendor': 'QEMU'},
        {'removable': '1', 'bus': 'usb1'},
        {'size': '0'},
        {'model': 'LUN C-Mode', 'vendor': 'NETAPP'},
        {'driver': 'iscsi_tcp', 'vendor': 'IET'},
        {'vendor': 'EMC', 'wwid': 'naa.6006016012345678901234567890abcd'},
        {'model': 'Virtual Disk', 'vendor': 'Msft'},
    ],
    ids=lambda what: ' '.join(what.values()),
)
def test_what_has_no_smart_is_not_missed(tmp_path, what):
    """Virtual disks, volumes of storage systems, and removable media, which are not there all
    the time.
    """
    sys_tree.disk(tmp_path, 'sda', **what)

    assert [disk.name for disk in disks(str(tmp_path)) if disk.is_drive] == []


def test_what_is_no_disk_is_not_missed(tmp_path):
    sys_tree.nvme(tmp_path, 1, transport='tcp')
    sys_tree.nvme(tmp_path, 2, model='QEMU NVMe Ctrl')
    for name in (
        'loop0',
        'ram0',
        'zram0',
        'dm-0',
        'md0',
        'sr0',
        'vda',
        'nbd0',
        'mmcblk0',
        'nvme0c0n1',
        'bcache0',
    ):
        device = sys_tree.write(tmp_path / f'sys/devices/{name}', {})
        sys_tree.link(
            sys_tree.write(tmp_path / f'sys/block/{name}', {'size': '8'}) / 'device',
            device,
        )
    sys_tree.write(tmp_path / 'sys/block/sdq', {})

    assert [disk.name for disk in disks(str(tmp_path)) if disk.is_drive] == []
    assert disks(str(tmp_path / 'nothing')) == []


# --- configurations -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'line, uses',
    [
        (
            'check_smart_attributes -d /dev/sda --device=/dev/sdb -t 50',
            Uses(['/dev/sda', '/dev/sdb']),
        ),
        (
            "/x/check_smart_attributes --expect 3 -d 'megaraid,[0-7]@/dev/bus/0'",
            Uses(['megaraid,[0-7]@/dev/bus/0']),
        ),
        ('check_smart_attributes --scan -d /dev/sda', Uses(['/dev/sda'], True)),
        ('check_smart_attributes -t 30', Uses([], True)),
        ('sudo /x/check_smart_attributes -d /dev/sda', Uses(['/dev/sda'])),
        ('check_smart_attributes -d $ARG1$', None),
        ('check_smart_attributes $ARG1$', None),
        ('check_smart_attributes -d `ls /dev/sd?`', None),
        ('check_smart_attributes -r /dev/sd.', None),
        ('check_smart_attributes -d', None),
        ('check_smart_attributes -d "', None),
        ('/x/check_smart_attributes.sh', None),
    ],
)
def test_a_command_of_nrpe_reads_what_its_words_say(line, uses):
    found = coverage.of_check(DaemonCheck('NRPE', 'x', 'nagios', (SHELL, '-c', line)))

    assert found == uses if uses else not found.is_known
