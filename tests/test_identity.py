"""identity: which drives agree in model, serial number and WWN."""

import pytest

from smart_attributes.model import Identity
from smart_attributes.reading.identity import (
    NONE,
    STRONG,
    WEAK,
    agreement,
    is_same_drive,
)

SSD = Identity(
    protocol='ATA', model='MODEL X1', serial='S0A1B2C3', wwn='5000c500a1b2c3d4'
)
NVME = Identity(protocol='NVMe', model='MODEL N1', serial='N0A1B2C3')


@pytest.mark.parametrize(
    'change, expected',
    [
        ({}, STRONG),
        ({'wwn': ''}, WEAK),
        ({'serial': ''}, WEAK),
        ({'serial': '000000'}, WEAK),  # no serial number
        ({'serial': '', 'wwn': ''}, NONE),
    ],
)
def test_two_identities_agree_strongly_by_serial_number_and_wwn(change, expected):
    assert agreement(SSD, SSD._replace(**change)) == expected


def test_two_namespaces_agree_weakly():
    one, other = (
        NVME._replace(wwn='0025385b11b00001'),
        NVME._replace(wwn='0025385b11b00002'),
    )

    assert agreement(one, other) == WEAK
    assert agreement(one, one) == STRONG


@pytest.mark.parametrize(
    'one_, other, same',
    [
        pytest.param(SSD, SSD, True, id='equal'),
        pytest.param(
            SSD,
            SSD._replace(wwn='0x5000C500A1B2C3D4'),
            True,
            id='wwn-written-otherwise',
        ),
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
        pytest.param(
            SSD, SSD._replace(wwn='5000c500a1b2c3d5'), False, id='neighbouring-wwn'
        ),
        pytest.param(
            SSD, SSD._replace(model='MODEL Y2'), False, id='two-models-under-one-wwn'
        ),
        pytest.param(
            SSD, SSD._replace(serial='S0A1B2C4'), False, id='two-serials-under-one-wwn'
        ),
        pytest.param(
            SSD._replace(wwn=''),
            SSD._replace(wwn='', model='MODEL Y2'),
            False,
            id='two-models-under-one-serial',
        ),
        pytest.param(
            SSD._replace(wwn='', model=''), SSD._replace(wwn=''), False, id='no-model'
        ),
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
    [
        'S0A1B2C3',
        'WD-WXX0A0000001',
        '9QQ1',
        'EXAM000000EXAMPLE0',
        '99A012345678',
        '74747474X',
    ],
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
