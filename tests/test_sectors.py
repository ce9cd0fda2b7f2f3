"""How large the sectors of a model are, told by its counts."""

import pytest
from measure.collection import Sizes

pytestmark = pytest.mark.tools


def sizes(*drives):
    found = Sizes()
    for counts in drives:
        found.add('ACME 1', counts)
    return found.physical('ACME 1')


def test_a_model_whose_counts_come_in_eights_has_sectors_of_4_kib():
    """One drive in a hundred loses a part of a sector, or counts what is none."""
    assert sizes({197: 8}, {197: 48}, {197: 3}) == 4096
    assert sizes({197: 8}, {197: 1}, {197: 3}) == 512


def test_pending_sectors_tell_more_than_reallocated_ones():
    """Hitachi's designs count the former in logical sectors, the latter in physical ones."""
    assert sizes({197: 8, 5: 13}, {5: 7}, {5: 1}) == 4096
    assert sizes({5: 16}) == 4096


def test_a_model_without_bad_sectors_tells_nothing():
    """And nothing depends on it."""
    assert sizes({197: 0, 5: 0}) is None


def test_half_of_the_counts_in_eights_is_chance():
    assert sizes({197: 8}, {197: 1}) == 512
    assert sizes({197: 8}, {197: 8}, {197: 1}, {197: 1}, {197: 1}) == 512
