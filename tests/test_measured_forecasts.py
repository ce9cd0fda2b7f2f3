"""tools.measure --forecasts: dates against the wear that later reports show, on drives made for
the test.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import run_tool

DAYS = 24  # hours


def drive(*seen: tuple[int, int]) -> dict[str, Any]:
    """Return an NVMe drive that reported (power-on days, % used) at these times."""
    return {
        'path': 'NVMe/x',
        'seen': [
            {
                'date': '2026-01-07',
                'facts': {
                    'model': 'Acme NVMe',
                    'firmware': '1',
                    'health': 'PASSED',
                    'nvme': {'Percentage Used': f'{used}%', 'Power On Hours': f'{days * DAYS:,}'},
                },
            }
            for days, used in seen
        ],
    }


def measured(folder: Path, *drives: Any) -> dict[str, Any]:
    """Return the figures that the tool prints for NVMe drives."""
    file = folder / 'history.jsonl.gz'
    file.write_bytes(gzip.compress('\n'.join(json.dumps(each) for each in drives).encode()))
    found = json.loads(run_tool('tools.measure', '--forecasts', str(file), '--json').text)
    return dict(found.get('nvme', {'outcomes': {}, 'ends': {}}))


# The first report: half used in 1000 days, so the range begins after 83 days and ends after 6000.
@pytest.mark.parametrize(
    'later, outcome',
    [
        ((1100, 55), 'within'),  # as fast as before
        ((1060, 87), 'within'),  # rounding above the fast end
        ((1060, 88), 'faster'),  # faster
        ((1361, 52), 'slower'),  # slower
        ((1084, 100), 'within'),  # worn out after the beginning
        ((1070, 255), 'faster'),  # worn out before the beginning
        ((7100, 99), 'within'),  # a counter that stops at 99
        ((1060, 53), 'within'),  # sixty days
    ],
)
def test_the_wear_of_a_later_report_is_within_the_range_or_not(tmp_path, later, outcome):
    """The counter may be off by one point at each end."""
    counts = measured(tmp_path, drive((1000, 50), later))['outcomes']

    assert {
        basis: {name for name, count in of_basis.items() if count}
        for basis, of_basis in counts.items()
    } == {'first report': {outcome}}


@pytest.mark.parametrize(
    'seen',
    [
        [(1000, 50), (1059, 53)],  # too soon
        [(1000, 50), (900, 60)],  # age fell
        [(1000, 99), (1200, 99)],  # stopped from the start
        [(1000, 1), (1200, 1)],  # without a forecast
    ],
)
def test_drives_that_test_nothing_are_left_out(tmp_path, seen):
    """A counter or clock that was set back says nothing about the forecast."""
    assert measured(tmp_path, drive(*seen))['outcomes'] == {}


def test_history_is_used_up_to_the_second_to_last_report(tmp_path):
    """20 points in 100 days, after ten in a thousand: the estimate says too little, the history
    does not.
    """
    found = measured(tmp_path, drive((1000, 10), (1100, 30), (1200, 50), (1300, 70)))

    assert found['outcomes'] == {
        'first report': {'within': 0, 'faster': 1, 'slower': 0},
        'history': {'within': 1, 'faster': 0, 'slower': 0},
    }


def test_known_ends_are_compared_with_the_first_and_the_last_range_before(tmp_path):
    """100 % is reached after 50 of 100 days; the range of the first report began after 857 days,
    the last one's did not.
    """
    found = measured(tmp_path, drive((1000, 20), (1100, 50), (1200, 90), (1300, 110)))

    assert [list(each.values()) for each in found['ends'].values()] == [[1, 1], [1, 0]]


@pytest.mark.parametrize(
    'line', ['{"model": "x", "attributes": []}', '{"seen": [{"hours": 1}]}', '[]']
)
def test_a_file_without_histories_is_unknown(tmp_path, line):
    """Exit 3 with a sentence that names file and line."""
    file = tmp_path / 'drives.jsonl'
    file.write_text(line)
    result = run_tool('tools.measure', '--forecasts', str(file))

    assert result.code == 3 and f'{file}, line 1' in result.first_line
