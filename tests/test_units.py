"""What one count of a drive is worth."""

import pytest

from smart_attributes.devtools.reading_rules import fitting
from smart_attributes.knowledge import decode
from smart_attributes.model import Identity

HALF_KIB, TWO, FOUR_KIB = (
    Identity(sector_size=512, physical_block_size=size) for size in (512, 1024, 4096)
)
LOGICAL = decode.LOGICAL_SECTORS


@pytest.mark.parametrize(
    ('metric', 'base', 'expected'),
    [
        ('endurance_used', '%', ['%']),
        ('temperature', 'C', ['C']),
        ('power_on_time', 's', ['s', 'min', 'h', 'us']),
        ('reallocated', '', [LOGICAL]),
        ('crc_errors', '', []),
    ],
)
def test_a_drive_may_count_a_metric_in_units_that_become_its_own(
    metric, base, expected
):
    """Errors of a cable are counted in no sectors."""
    assert fitting(metric, base) == expected


def test_bytes_are_counted_in_many_units():
    """But never in seconds."""
    assert {'B', '32MiB', '1GB'} <= set(fitting('host_written', 'B'))
    assert not {'s', '%', LOGICAL} & set(fitting('host_written', 'B'))


@pytest.mark.parametrize(
    ('count', 'unit', 'identity', 'expected'),
    [
        (3, '', FOUR_KIB, 3),
        (3, 'h', FOUR_KIB, 10800),
        (8, LOGICAL, FOUR_KIB, 1),
        (9, LOGICAL, FOUR_KIB, 2),
        (0, LOGICAL, FOUR_KIB, 0),
        (3, LOGICAL, TWO, 2),
        (8, LOGICAL, Identity(), 8),
        (8, LOGICAL, Identity(sector_size=4096, physical_block_size=512), 8),
        (80, LOGICAL, Identity(physical_block_size=2**20), 10),
    ],
)
def test_a_part_of_a_sector_is_a_sector(count, unit, identity, expected):
    """None may vanish, and a size that no disk has hides no more errors than the largest that
    one has.
    """
    assert decode.in_base_unit(count, unit, identity) == expected


@pytest.mark.parametrize(
    ('count', 'unit', 'identity', 'expected'),
    [
        (8, LOGICAL, FOUR_KIB, 8),
        (3, LOGICAL, TWO, 3),
        (8, LOGICAL, HALF_KIB, None),
        (0, LOGICAL, FOUR_KIB, None),
        (8, '', FOUR_KIB, None),
    ],
)
def test_the_drives_own_count_is_told_where_it_is_another(
    count, unit, identity, expected
):
    """The admin sees 8 in smartctl's table."""
    assert decode.counted_sectors(count, unit, identity) == expected
