"""The inventory: which reads count, under which name, and what is said of the others."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import sys_tree

from smart_attributes.check.inventory import Inventory, counted, missing, nobody
from smart_attributes.check.reads import Reads
from smart_attributes.commands import table
from smart_attributes.errors import (
    ControllerElsewhere,
    DriveAbsent,
    DriveError,
    DriveIsNoDrive,
    DriveNotReached,
)
from smart_attributes.model import Device, Identity, Read, Report, State
from smart_attributes.reading import addresses, system
from smart_attributes.reading.machine import DeviceList


def disk(name: str, serial: str, wwn: str = '') -> Read:
    return Read(
        Device(f'/dev/{name}', name=name),
        Report(Identity('ATA', 'Disk', serial=serial, wwn=wwn, capacity=10**12)),
    )


def slot(number: int, error: DriveError) -> Read:
    return Read(Device('/dev/bus/0', f'megaraid,{number}', f'slot_{number}', optional=True), error)


SDA, SDB = disk('sda', 'A1', '5000c500a1b2c3d4'), disk('sdb', 'B2')
TWIN = disk('sdc', 'A1', '5000c500a1b2c3d4')
EMPTY, LATE = slot(0, DriveAbsent('is not there')), slot(1, DriveNotReached('was not read'))
VOLUME = Read(Device('/dev/sdv', name='sdv'), DriveIsNoDrive('is a RAID volume'))
NO_DRIVES = (
    'no drives to check: none found, all excluded, or all slots empty; name drives with -d, or use '
    '--no-drives ok on machines without drives'
)
GONE = Read(Device('/dev/sdx', name='sdx'), DriveAbsent('is not there'))


@pytest.mark.parametrize(
    'reads, is_scan, drive_names, notes, faults',
    [
        ([], False, [], 0, 0),
        ([SDA, SDB], False, ['sda', 'sdb'], 0, 0),
        ([SDB, SDA], False, ['sdb', 'sda'], 0, 0),
        ([SDA, TWIN, SDB], False, ['sda', 'sdb'], 1, 0),
        ([SDA, EMPTY], False, ['sda'], 1, 0),
        ([SDA, GONE], False, ['sda', 'sdx'], 0, 0),
        ([SDA, LATE], False, ['sda'], 0, 1),
        ([SDA, VOLUME], False, ['sda', 'sdv'], 0, 0),
        ([SDA, VOLUME], True, ['sda'], 1, 0),
    ],
    ids=[
        'none',
        'both',
        'in-the-order-asked',
        'twin',
        'empty-slot-of-a-range',
        'named-drive-absent',
        'slot-not-read-in-time',
        'volume-that-was-named',
        'volume-that-a-scan-found',
    ],
)
def test_each_drive_counts_once_and_every_other_read_is_mentioned(
    reads, is_scan, drive_names, notes, faults
):
    drives = counted(reads, [read.device for read in reads], is_scan, 'device')

    assert [read.device.name for read in drives.reads] == drive_names
    assert (len(drives.notes), len(drives.faults)) == (notes, faults)
    assert drives.candidates == tuple(reads)


def test_a_slot_not_read_in_time_is_counted_against_all_slots_of_the_range():
    reads = [SDA, LATE, EMPTY]

    assert (
        counted(reads, [read.device for read in reads], False, 'device')
        .faults[0]
        .startswith('1 of 2 slots ')
    )


def test_a_drive_that_answers_as_another_type_is_noted():
    asked = [SDA.device._replace(type='scsi')]

    [note] = counted([SDA], asked, False, 'device').notes
    assert ' scsi@/dev/sda,' in note and ' /dev/sda;' in note


@pytest.mark.parametrize(
    'label, wanted',
    [('device', ['sda', 'sdb']), ('serial', ['a1', 'b2']), ('wwn', ['5000c500a1b2c3d4', 'sdb'])],
)
def test_a_drive_is_named_by_its_label_or_else_by_its_device(label, wanted):
    drives = counted([SDA, SDB], [SDA.device, SDB.device], False, label)

    assert [read.device.name for read in drives.reads] == wanted


def test_a_drive_is_named_by_its_link_or_else_by_its_device(monkeypatch):
    monkeypatch.setattr(addresses, 'links', lambda: {'/dev/sda': 'ata-Disk_A1'})
    drives = counted([SDA, SDB], [SDA.device, SDB.device], False, 'by-id')

    assert [read.device.name for read in drives.reads] == ['ata_disk_a1', 'sdb']


def test_a_named_volume_is_left_out_if_drives_behind_its_controller_are_read(monkeypatch, tmp_path):
    """They say all that it could; a volume of another controller stays, and so does a recorded
    report.
    """
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))
    for host, volume in ((0, 'sdv'), (7, 'sdw')):
        sys_tree.disk(tmp_path, volume, driver='megaraid_sas', host=host)
    drive = Read(Device('/dev/bus/0', 'megaraid,3', 'bay3'), SDA.outcome)
    other = Read(Device('/dev/sdw', name='sdw'), VOLUME.outcome)
    recorded = Read(Device('/dev/sdv', name='report', is_recorded=True), VOLUME.outcome)
    reads = [drive, VOLUME, other, recorded]

    found = counted(reads, [read.device for read in reads], False, 'device')

    assert [read.device.name for read in found.reads] == ['bay3', 'sdw', 'report']
    assert [note.split()[0] for note in found.notes] == ['sdv']


@pytest.mark.parametrize(
    'reads, asked, is_bare',
    [
        ([], [], True),
        ([VOLUME, GONE], [VOLUME, GONE], True),
        ([VOLUME], [VOLUME, GONE], False),
        ([VOLUME, SDA], [VOLUME, SDA], False),
        ([LATE], [LATE], False),
    ],
    ids=['nothing-asked', 'no-drive', 'not-all-read', 'a-drive', 'unknown'],
)
def test_a_machine_is_bare_only_if_every_address_was_read_and_holds_no_drive(
    reads: Sequence[Read], asked: Sequence[Read], is_bare: bool
):
    assert counted(reads, [read.device for read in asked], True, 'device').is_bare is is_bare


@pytest.mark.parametrize(
    'scanned, bare, wanted, found',
    [
        (
            True,
            True,
            '--no-drives ok',
            (State.OK, 'no drives: smartctl --scan found none (--no-drives ok)'),
        ),
        (
            True,
            False,
            '--expect 0 --no-drives ok',
            (State.OK, 'no drives, as expected (--expect 0)'),
        ),
        (
            True,
            True,
            '--expect 0 --no-drives critical',
            (State.CRITICAL, 'no drives: smartctl --scan found none (--no-drives critical)'),
        ),
        (True, True, '', (State.UNKNOWN, NO_DRIVES)),
        (True, False, '--expect 2 --no-drives ok', (State.UNKNOWN, NO_DRIVES)),
        (False, True, '--no-drives ok', (State.UNKNOWN, NO_DRIVES)),
    ],
    ids=['bare-and-wished', 'none-expected', 'wish-first', 'no-wish', 'not-bare', 'no-scan'],
)
def test_a_check_without_drives_has_a_state_and_a_reason(scanned, bare, wanted, found):
    stage = Reads(DeviceList((), is_scan=scanned))

    state, words = nobody(stage, Inventory((), (), bare), table.understood(wanted.split())[1])

    assert (state, words) == found
    assert getattr(words, 'code', '') == ('no-drives' if state is State.UNKNOWN else '')


@pytest.mark.parametrize(
    'reads, expected, words',
    [
        ([SDA], None, ''),
        ([SDA, SDB], 2, ''),
        ([SDA, SDB], 1, ''),
        ([], 1, '1 of 1 expected'),
        ([SDA, GONE, VOLUME], 3, '2 of 3 expected'),
        ([SDA, Read(SDB.device, ControllerElsewhere('is not there'))], 3, ''),
    ],
    ids=['not-asked', 'all', 'more', 'none', 'absent-and-volume', 'controller-elsewhere'],
)
def test_missing_drives_are_counted(reads, expected, words):
    found = missing(reads, expected)

    assert [each.partition(' drives')[0] for each in found] == [words] * bool(words)
    assert {each.code for each in found} <= {'drives-missing'}


def test_a_drive_that_two_addresses_reach_is_noted_with_both():
    (note,) = counted([SDA, TWIN], [SDA.device, TWIN.device], False, 'device').notes

    assert note.code == 'same-drive' and note.startswith('sda: ') and 'sdc' in note
