"""Checksums of the history: the same for the same content, another one for every change."""

from __future__ import annotations

from zlib import crc32

import pytest

from smart_attributes.history import series
from smart_attributes.history.series import Point
from smart_attributes.sqlite_file import checksum

POINTS = [Point(1_700_000_000 + 60 * number, number, float(number)) for number in range(6)]


@pytest.mark.parametrize('at', range(1, 6))
def test_the_checksum_of_points_continues_that_of_the_points_before(at):
    assert series.checksum(POINTS[at:], series.checksum(POINTS[:at])) == series.checksum(POINTS)


@pytest.mark.parametrize('count', [1, 6])
def test_a_changed_number_changes_the_checksum_of_points(count):
    changed = [*POINTS[: count - 1], POINTS[count - 1]._replace(number=7.5)]

    assert series.checksum(changed) != series.checksum(POINTS[:count])


@pytest.mark.parametrize('count', [1, 2])
@pytest.mark.parametrize('number', ['text', None, 10**400])
def test_a_point_that_is_not_a_number_is_an_error(count, number):
    with pytest.raises(ValueError, match=r'^not a number$'):
        series.checksum([POINTS[0]._replace(number=number)] * count)


def test_the_checksum_of_rows_is_that_of_all_tables():
    assert checksum([(1, 'a')], [('ü', None)]) == crc32(rb"([(1, 'a')], [('\xfc', None)])")
    assert checksum([(1, 'a')]) != checksum([(1, 'b')])
