"""Which record of history a drive is, where more than one could be it."""

import pytest

from smart_attributes.history.drive_records import (
    AMBIGUOUS,
    NAMELESS,
    Match,
    Record,
    matches,
)
from smart_attributes.model import Identity
from smart_attributes.reading.identity import is_same_drive

DRIVE = Identity('ATA', 'ACME 4000', 'F1', 'S3RIAL01', '5000c500a1b2c3d4')
BRIDGED = DRIVE._replace(wwn='')  # as a bridge shows it


def test_a_drive_that_is_known_just_as_it_is_stays_itself_beside_a_record_that_would_fit():
    """Somebody once saw it through a bridge that hides its WWN; its own history is not lost by
    that.
    """
    itself, bridged = Record(1, DRIVE, 0, 0), Record(2, DRIVE._replace(wwn=''), 0, 0)

    assert matches([DRIVE], [bridged, itself], is_same_drive) == [Match(itself)]


@pytest.mark.parametrize(
    'identities, records, notes',
    [
        ([DRIVE._replace(serial='', wwn='')], [], [NAMELESS]),  # nameless
        (
            [DRIVE],
            [
                Record(1, BRIDGED, 0, 0),
                Record(2, BRIDGED._replace(firmware='F2'), 0, 0),
            ],
            [AMBIGUOUS],
        ),  # two records
        (
            [BRIDGED, DRIVE._replace(serial='S3RIAL02', wwn='')],
            [Record(1, DRIVE, 0, 0)],
            ['', ''],
        ),  # ok beside another
        # two drives
        ([BRIDGED, BRIDGED], [Record(1, DRIVE, 0, 0)], [AMBIGUOUS, AMBIGUOUS]),
        ([BRIDGED], [Record(1, DRIVE, 0, 0)], ['']),  # ok known
        ([BRIDGED], [], ['']),  # ok new
        ([DRIVE, DRIVE], [], [AMBIGUOUS, AMBIGUOUS]),  # two new ones
        ([], [Record(1, DRIVE, 0, 0)], []),  # ok none
    ],
)
def test_a_drive_that_could_be_another_one_is_not_remembered(
    identities, records, notes
):
    assert [
        match.note for match in matches(identities, records, is_same_drive)
    ] == notes
