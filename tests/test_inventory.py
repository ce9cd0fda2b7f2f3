"""The inventory: which reads count, under which name, and what is said of the others."""
from __future__ import annotations

from typing import Sequence

import pytest

from smart_attributes.check.inventory import inventory
from smart_attributes.errors import DriveAbsent, DriveError, DriveIsNoDrive, DriveNotReached
from smart_attributes.model import Device, Identity, Read, Report


def disk(name: str, serial: str, wwn: str = '') -> Read:
    return Read(Device(f'/dev/{name}', name=name),
                Report(Identity('ATA', 'Disk', serial=serial, wwn=wwn, capacity=10 ** 12)))


def slot(number: int, error: DriveError) -> Read:
    return Read(Device('/dev/bus/0', f'megaraid,{number}', f'slot_{number}', optional=True), error)


SDA, SDB = disk('sda', 'A1', '5000c500a1b2c3d4'), disk('sdb', 'B2')
TWIN = disk('sdc', 'A1', '5000c500a1b2c3d4')
EMPTY, LATE = slot(0, DriveAbsent('is not there')), slot(1, DriveNotReached('was not read'))
VOLUME = Read(Device('/dev/sdv', name='sdv'), DriveIsNoDrive('is a RAID volume'))
GONE = Read(Device('/dev/sdx', name='sdx'), DriveAbsent('is not there'))


@pytest.mark.parametrize('reads, is_scan, names, notes, faults', [
    ([], False, [], 0, 0),
    ([SDA, SDB], False, ['sda', 'sdb'], 0, 0),
    ([SDB, SDA], False, ['sdb', 'sda'], 0, 0),
    ([SDA, TWIN, SDB], False, ['sda', 'sdb'], 1, 0),
    ([SDA, EMPTY], False, ['sda'], 1, 0),
    ([SDA, GONE], False, ['sda', 'sdx'], 0, 0),
    ([SDA, LATE], False, ['sda'], 0, 1),
    ([SDA, VOLUME], False, ['sda', 'sdv'], 0, 0),
    ([SDA, VOLUME], True, ['sda'], 1, 0)],
    ids=['none', 'both', 'in-the-order-asked', 'twin', 'empty-slot-of-a-range', 'named-drive-absent',
         'slot-not-read-in-time', 'volume-that-was-named', 'volume-that-a-scan-found'])
def test_each_drive_counts_once_and_every_other_read_is_mentioned(reads, is_scan, names, notes, faults):
    drives = inventory(reads, [read.device for read in reads], is_scan, 'device')

    assert [read.device.name for read in drives.reads] == names
    assert (len(drives.notes), len(drives.faults)) == (notes, faults)
    assert drives.candidates == tuple(reads)


def test_a_slot_not_read_in_time_is_counted_against_all_slots_of_the_range():
    reads = [SDA, LATE, EMPTY]

    assert inventory(reads, [read.device for read in reads], False, 'device').faults[0].startswith('1 of 2 slots ')


def test_a_drive_that_answers_as_another_type_is_noted():
    asked = [SDA.device._replace(type='scsi')]

    assert inventory([SDA], asked, False, 'device').notes == (
        'sda does not answer as scsi@/dev/sda, only as /dev/sda; use that address',)


@pytest.mark.parametrize('label, names', [
    ('device', ['sda', 'sdb']), ('serial', ['a1', 'b2']), ('wwn', ['5000c500a1b2c3d4', 'sdb'])])
def test_a_drive_is_named_by_its_label_or_else_by_its_device(label, names):
    drives = inventory([SDA, SDB], [SDA.device, SDB.device], False, label)

    assert [read.device.name for read in drives.reads] == names


@pytest.mark.parametrize('reads, asked, is_bare', [
    ([], [], True), ([VOLUME, GONE], [VOLUME, GONE], True), ([VOLUME], [VOLUME, GONE], False),
    ([VOLUME, SDA], [VOLUME, SDA], False), ([LATE], [LATE], False)],
    ids=['nothing-asked', 'no-drive', 'not-all-read', 'a-drive', 'unknown'])
def test_a_machine_is_bare_only_if_every_address_was_read_and_holds_no_drive(
        reads: Sequence[Read], asked: Sequence[Read], is_bare: bool):
    assert inventory(reads, [read.device for read in asked], True, 'device').is_bare is is_bare
