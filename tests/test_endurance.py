"""Machines of 24 drives with random mixes of faults; `make endure ROUNDS=200` makes many more."""

from __future__ import annotations

import pytest
from conftest import Result
from endurance import DRIVES, Drive, endured, faults_of
from simulator import read, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


def test_no_drive_is_misreported_missed_or_left_waiting():
    """Healthy, failing, mute, slow, hanging and dying ones at once; the seed is fixed: one run
    is like the other.
    """
    wrong, counted = endured(2, 15)

    assert wrong == []
    assert sum(counted.values()) == 2 * DRIVES and len(counted) > 6


@pytest.mark.parametrize(
    'drive, fault, behaviour, said, wrong',
    [
        ('intel-healthy', '', {}, 'WARNING   sda  INTEL', 'is OK'),
        ('intel-worn', '', {}, 'OK        sda  INTEL', 'is WARNING'),
        ('intel-failing', 'error', {'error': 4}, 'OK        sda  INTEL', 'is CRITICAL'),
        ('intel-healthy', 'dead', {'error': 0}, 'OK        sda  INTEL', 'is not told'),
        (
            'intel-healthy',
            'denied',
            {'denied': True},
            'UNKNOWN   sda  it is a mystery',
            'is not told',
        ),
        (
            'intel-healthy',
            'hang',
            {'hang': 3},
            'UNKNOWN   sda  it is a mystery',
            'is UNKNOWN without its reason',
        ),
        ('intel-healthy', 'hangs', {'hang': 0}, 'OK        sdb  INTEL', 'sda has 0 lines'),
    ],
)
def test_what_is_told_wrongly_is_found(drive, fault, behaviour, said, wrong):
    """Who finds nothing must be able to find something."""
    given = Drive('/dev/sda', 'sda', read(drive), fault, behaviour)

    assert any(wrong in found for found in faults_of(given, Result(0, f'SMART\n{said}\n'), {}))
