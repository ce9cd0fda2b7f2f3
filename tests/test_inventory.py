"""The inventory: which reads count, under which name, and what is said of the others."""

import pytest
import sys_tree

from smart_attributes.check.inventory import Inventory, inventory_of, nobody, too_few
from smart_attributes.check.reads import Reads
from smart_attributes.commands import table
from smart_attributes.errors import (
    ControllerElsewhere,
    DriveAbsent,
    DriveError,
    DriveIsNoDrive,
    DriveNotReached,
)
from smart_attributes.model import SEPARATE, Device, Identity, Read, Report, State
from smart_attributes.reading import addresses, system
from smart_attributes.reading.machine import DeviceList


def disk(name: str, serial: str, wwn: str = '') -> Read:
    return Read(
        Device(f'/dev/{name}', name=name),
        Report(Identity('ATA', 'Disk', serial=serial, wwn=wwn, capacity=10**12)),
    )


def slot(number: int, error: DriveError) -> Read:
    return Read(
        Device('/dev/bus/0', f'megaraid,{number}', f'slot_{number}', optional=True),
        error,
    )


SDA, SDB = disk('sda', 'A1', '5000c500a1b2c3d4'), disk('sdb', 'B2')
TWIN = disk('sdc', 'A1', '5000c500a1b2c3d4')
EMPTY, LATE = (
    slot(0, DriveAbsent('is not there')),
    slot(1, DriveNotReached('was not read')),
)
VOLUME = Read(Device('/dev/sdv', name='sdv'), DriveIsNoDrive('is a RAID volume'))
GONE = Read(Device('/dev/sdx', name='sdx'), DriveAbsent('is not there'))


def found_at(*reads: Read, asked=(), is_scan=False, label='device') -> Inventory:
    """Return the drives at these addresses, without a history. asked: all addresses of the run."""
    devices = asked or tuple(read.device for read in reads)
    return inventory_of(reads, DeviceList(devices, is_scan), label, lambda *_: SEPARATE)


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
)
def test_each_drive_counts_once_and_every_other_read_is_mentioned(
    reads, is_scan, drive_names, notes, faults
):
    drives = found_at(*reads, is_scan=is_scan)

    assert [read.device.name for read in drives.reads] == drive_names
    assert (len(drives.notes), len(drives.faults)) == (notes, faults)
    assert drives.candidates == tuple(reads)


def test_a_slot_not_read_in_time_is_counted_against_all_slots_of_the_range():
    [fault] = found_at(SDA, LATE, EMPTY).faults

    assert fault.startswith('1 of 2 slots ')


def test_a_drive_that_answers_as_another_type_is_noted():
    [note] = found_at(SDA, asked=(SDA.device._replace(type='scsi'),)).notes

    assert ' scsi@/dev/sda,' in note and ' /dev/sda;' in note


@pytest.mark.parametrize(
    'label, wanted',
    [
        ('device', ['sda', 'sdb']),
        ('serial', ['a1', 'b2']),
        ('wwn', ['5000c500a1b2c3d4', 'sdb']),
    ],
)
def test_a_drive_is_named_by_its_label_or_else_by_its_device(label, wanted):
    drives = found_at(SDA, SDB, label=label)

    assert [read.device.name for read in drives.reads] == wanted


def test_a_drive_is_named_by_its_link_or_else_by_its_device(monkeypatch):
    monkeypatch.setattr(addresses, 'links', lambda: {'/dev/sda': 'ata-Disk_A1'})
    drives = found_at(SDA, SDB, label='by-id')

    assert [read.device.name for read in drives.reads] == ['ata_disk_a1', 'sdb']


def test_a_named_volume_is_left_out_if_drives_behind_its_controller_are_read(
    monkeypatch, tmp_path
):
    """They say all that it could; a volume of another controller stays, and so does a recorded
    report.
    """
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))
    for host, volume in ((0, 'sdv'), (7, 'sdw')):
        sys_tree.disk(tmp_path, volume, driver='megaraid_sas', host=host)
    drive = Read(Device('/dev/bus/0', 'megaraid,3', 'bay3'), SDA.outcome)
    other = Read(Device('/dev/sdw', name='sdw'), VOLUME.outcome)
    recorded = Read(Device('/dev/sdv', name='report', is_recorded=True), VOLUME.outcome)
    drives = found_at(drive, VOLUME, other, recorded)

    assert [read.device.name for read in drives.reads] == ['bay3', 'sdw', 'report']
    assert [note.split()[0] for note in drives.notes] == ['sdv']


@pytest.mark.parametrize(
    'reads, asked, is_bare',
    [
        ([], [], True),
        ([VOLUME, GONE], [VOLUME, GONE], True),
        ([VOLUME], [VOLUME, GONE], False),
        ([VOLUME, SDA], [VOLUME, SDA], False),
        ([LATE], [LATE], False),
    ],
)
def test_a_machine_is_bare_only_if_every_address_was_read_and_holds_no_drive(
    reads, asked, is_bare
):
    devices = tuple(read.device for read in asked)

    assert found_at(*reads, asked=devices, is_scan=True).is_bare is is_bare


@pytest.mark.parametrize(
    'is_scan, is_bare, words, state, reason',
    [
        (
            True,
            True,
            '--no-drives ok',
            State.OK,
            'no drives: smartctl --scan found none ',
        ),
        (True, False, '--expect 0 --no-drives ok', State.OK, 'no drives, as expected '),
        (
            True,
            True,
            '--expect 0 --no-drives critical',
            State.CRITICAL,
            'no drives: smartctl ',
        ),
        (True, True, '', State.UNKNOWN, 'no drives to check: '),
        (
            True,
            False,
            '--expect 2 --no-drives ok',
            State.UNKNOWN,
            'no drives to check: ',
        ),
        (False, True, '--no-drives ok', State.UNKNOWN, 'no drives to check: '),
    ],
)
def test_a_check_without_drives_has_a_state_and_a_reason(
    is_scan, is_bare, words, state, reason
):
    stage = Reads(DeviceList((), is_scan=is_scan))

    reported, sentence = nobody(
        stage, Inventory((), (), is_bare), table.understood(words.split())[1]
    )

    assert reported is state and sentence.startswith(reason)
    assert getattr(sentence, 'code', '') == (
        'no-drives' if state is State.UNKNOWN else ''
    )


@pytest.mark.parametrize(
    'devices, is_scan, reads, is_cut, cause',
    [
        ((), True, (), False, 'smartctl --scan found none'),
        ((), False, (), False, 'no address is given'),
        ((SDA.device,), True, (), False, 'all are excluded'),
        ((SDA.device,), True, (SDA,), False, 'all are excluded'),  # by its identity
        ((SDA.device,), True, (), True, 'none was read in time'),
        ((GONE.device, VOLUME.device), False, (GONE, VOLUME), False, 'none of the '),
    ],
)
def test_a_check_without_drives_says_why(devices, is_scan, reads, is_cut, cause):
    stage = Reads(DeviceList(devices, is_scan=is_scan), reads, is_cut=is_cut)

    _, sentence = nobody(stage, Inventory((), (), False), table.understood([])[1])

    assert sentence.startswith(f'no drives to check: {cause}')


@pytest.mark.parametrize(
    'reads, expected, words',
    [
        ([SDA], None, []),
        ([SDA, SDB], 2, []),
        ([SDA, SDB], 1, []),
        ([], 1, ['expected 1 drive, found 0 (none)']),
        ([SDA, GONE, VOLUME], 3, ['expected 3 drives, found 1 (sda)']),
        ([SDA, Read(SDB.device, ControllerElsewhere('is not there'))], 3, []),
    ],
)
def test_missing_drives_are_counted(reads, expected, words):
    messages = too_few(reads, expected)

    assert [message.partition(';')[0] for message in messages] == words
    assert {message.code for message in messages} <= {'too-few-drives'}


def test_a_drive_that_two_addresses_reach_is_noted_with_both():
    (note,) = found_at(SDA, TWIN).notes

    assert note.code == 'same-drive' and note.startswith('sda: ') and 'sdc' in note
