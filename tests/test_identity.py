"""identity: several addresses of one drive."""

from __future__ import annotations

import pytest

from smart_attributes.errors import DriveError
from smart_attributes.model import AttributeRow, Identity, Read, Report
from smart_attributes.reading.addresses import parse
from smart_attributes.reading.identity import is_same_drive
from smart_attributes.reading.same_drive import distinct, note

SSD = Identity(protocol='ATA', model='MODEL X1', serial='S0A1B2C3', wwn='5000c500a1b2c3d4')
NVME = Identity(protocol='NVMe', model='MODEL N1', serial='N0A1B2C3')


def read(text, identity):
    return Read(parse(text)[0], Report(identity))


def unread(text, identity):
    return Read(parse(text)[0], DriveError('returns no SMART data').of(identity))


def kept(*reads):
    return [
        tuple(each.device.address for each in (drive.read, *drive.others))
        for drive in distinct(reads)
    ]


def addresses_kept(*pairs):
    return kept(*(read(text, identity) for text, identity in pairs))


def test_of_two_addresses_the_one_behind_raid_is_kept():
    """It stays when the volume gets another letter; the other one is told."""
    pairs = [
        ('/dev/sda', SSD),
        ('megaraid,6@/dev/bus/0', SSD),
        ('/dev/sdb', SSD._replace(serial='S9', wwn='')),
    ]

    assert addresses_kept(*pairs) == [('megaraid,6@/dev/bus/0', '/dev/sda'), ('/dev/sdb',)]


def test_every_address_given_up_is_named():
    [drive] = distinct(
        [read('megaraid,6@/dev/bus/0', SSD), read('/dev/sda', SSD), read('/dev/sg0', SSD)]
    )

    assert note(drive) == 'also reached as /dev/sda, /dev/sg0'
    assert note(distinct([read('/dev/sda', SSD)])[0]) == ''


@pytest.mark.parametrize('field', ['serial', 'wwn'])
def test_one_of_serial_and_wwn_is_enough_to_find_a_drive_again(field):
    """A controller that does not pass both on."""
    assert addresses_kept(('/dev/sda', SSD), ('/dev/sdb', SSD._replace(**{field: ''}))) == [
        ('/dev/sda', '/dev/sdb')
    ]


def test_a_drive_that_cannot_be_read_is_one_drive_at_all_its_addresses():
    """Counted twice, it would fill the place of one that has gone."""
    assert kept(unread('/dev/sda', SSD), unread('sat@/dev/sg0', SSD)) == [
        ('/dev/sda', 'sat@/dev/sg0')
    ]


def test_of_two_addresses_the_one_that_tells_is_kept():
    """Be it the plain one; what is wrong with the other is told beside it."""
    found = unread('megaraid,6@/dev/bus/0', SSD), read('/dev/sda', SSD)
    [drive] = distinct(found)

    assert kept(*found) == [('/dev/sda', 'megaraid,6@/dev/bus/0')]
    assert note(drive) == 'also reached as megaraid,6@/dev/bus/0, which returns no SMART data'


HEALTHY = Report(
    SSD._replace(wwn=''), True, attributes=(AttributeRow(5, 'x', 100, 100, 10, True, '', '0'),)
)


@pytest.mark.parametrize(
    ('change', 'wwn', 'is_one'),
    [
        ({}, '', True),
        ({'smart_status': None}, '', True),
        ({'attributes': ()}, '', True),
        ({'smart_status': False}, '', False),
        ({'smart_status': False}, SSD.wwn, True),
        ({'attributes': (HEALTHY.attributes[0]._replace(raw='2000'),)}, '', False),
    ],
)
def test_drives_with_one_serial_number_are_told_apart_by_their_counters(change, wwn, is_one):
    """Cheap drives have no WWN and the same serial number; the failing one must not vanish in
    the other.
    """
    reads = [
        Read(parse(f'/dev/sd{letter}')[0], each._replace(identity=each.identity._replace(wwn=wwn)))
        for letter, each in (('a', HEALTHY), ('b', HEALTHY._replace(**change)))
    ]

    assert len(distinct(reads)) == (1 if is_one else 2)


def test_who_did_not_say_who_it_is_stays_alone():
    """Two addresses without an answer are two addresses."""
    assert kept(unread('/dev/sda', Identity()), unread('/dev/sdb', Identity())) == [
        ('/dev/sda',),
        ('/dev/sdb',),
    ]


def test_two_recordings_of_one_drive_are_two_reports():
    """Someone wants to compare them."""
    recorded = read('/dev/sda', SSD)
    recorded = recorded._replace(device=recorded.device._replace(is_recorded=True))

    assert len(distinct([recorded, recorded])) == 2


def test_a_controller_and_its_namespaces_are_one_nvme_drive():
    """Each namespace has its own EUI64; health belongs to the drive."""
    pairs = [
        ('/dev/nvme0', NVME),
        ('/dev/nvme0n1', NVME._replace(wwn='0025385b11b00001')),
        ('/dev/nvme0n2', NVME._replace(wwn='0025385b11b00002')),
        ('/dev/nvme1', NVME._replace(serial='N0A1B2C4')),
    ]

    assert addresses_kept(*pairs) == [
        ('/dev/nvme0', '/dev/nvme0n1', '/dev/nvme0n2'),
        ('/dev/nvme1',),
    ]


def test_both_ports_of_a_sas_drive_are_one_drive():
    """smartctl tells the WWN of the logical unit, which both ports share."""
    sas = Identity(protocol='SCSI', model='VENDOR S1', serial='Z1A2B3C4', wwn='5000c500a1b2c3d4')

    assert addresses_kept(('/dev/sda', sas), ('/dev/sdb', sas)) == [('/dev/sda', '/dev/sdb')]


@pytest.mark.parametrize(
    'one_, other, same',
    [
        pytest.param(SSD, SSD, True, id='equal'),
        pytest.param(SSD, SSD._replace(wwn='0x5000C500A1B2C3D4'), True, id='wwn-written-otherwise'),
        pytest.param(SSD, SSD._replace(serial=''), True, id='serial-not-told-by-raid'),
        pytest.param(
            SSD._replace(serial='', wwn='5001001001001001'),
            SSD._replace(wwn='5001001001001001'),
            True,
            id='wwn-of-few-digits',
        ),
        pytest.param(SSD, SSD._replace(wwn=''), True, id='wwn-not-told-by-raid'),
        pytest.param(
            SSD._replace(model='INTEL SSDSC2BB240G4', wwn=''),
            SSD._replace(model='ATA      INTEL SSDSC2BB24', wwn=''),
            True,
            id='scsi-cuts-the-model',
        ),
        pytest.param(
            SSD._replace(wwn=''),
            SSD._replace(wwn='', serial=' s0a1b2c3 '),
            True,
            id='serial-written-otherwise',
        ),
        pytest.param(SSD, SSD._replace(wwn='5000c500a1b2c3d5'), False, id='neighbouring-wwn'),
        pytest.param(SSD, SSD._replace(model='MODEL Y2'), False, id='two-models-under-one-wwn'),
        pytest.param(SSD, SSD._replace(serial='S0A1B2C4'), False, id='two-serials-under-one-wwn'),
        pytest.param(
            SSD._replace(wwn=''),
            SSD._replace(wwn='', model='MODEL Y2'),
            False,
            id='two-models-under-one-serial',
        ),
        pytest.param(SSD._replace(wwn='', model=''), SSD._replace(wwn=''), False, id='no-model'),
        pytest.param(Identity(), Identity(), False, id='nothing-known'),
    ],
)
def test_two_identities_are_one_drive_only_when_that_is_sure(one_, other, same):
    """A drive shown twice is a nuisance; a failing one merged into another is lost."""
    assert is_same_drive(one_, other) is same
    assert is_same_drive(other, one_) is same


@pytest.mark.parametrize(
    'serial',
    [
        '',
        '0',
        '000000000000',
        'XXXXXXXX',
        'xxx',
        'S1XXXXXXXXXXXX',
        'AB000000XXXXXXXX',
        '****',
        'None',
        'N/A',
        'unknown',
        'REDACTED',
        'Volume1',
        'VOLUME0',
        'ZZZZZZZZZ',
        '123456789012',
        '0123456789ABCDEF',
        'ABCDEF0123456789',
        '000000000001',
        'Serial Number',
        'To be filled by O.E.M.',
        '--------',
    ],
)
def test_a_placeholder_is_no_serial_number(serial):
    """RAID volumes, cheap bridges and cautious people all use the same ones."""
    identity = Identity(protocol='ATA', model='MODEL X1', serial=serial)

    assert not is_same_drive(identity, identity)


@pytest.mark.parametrize(
    'serial',
    ['S0A1B2C3', 'WD-WXX0A0000001', '9QQ1', 'EXAM000000EXAMPLE0', '99A012345678', '74747474X'],
)
def test_an_ordinary_serial_number_is_one(serial):
    """Also a short one and one with many equal digits."""
    identity = Identity(protocol='ATA', model='MODEL X1', serial=serial)

    assert is_same_drive(identity, identity)


@pytest.mark.parametrize(
    'wwn',
    [
        '',
        '0',
        '0000000000000000',
        '5000000000000000',
        '5000000000000001',
        'ffffffffffffffff',
        '5000c50000000000',
        '5000c500499602d2',
        '50014ee0499602d2',
    ],
)
def test_a_wwn_that_was_never_set_is_none(wwn):
    """Organisation 0, a number of zeros, or the 1234567890 of an anonymiser."""
    identity = Identity(protocol='ATA', model='MODEL X1', wwn=wwn)

    assert not is_same_drive(identity, identity)
