"""The table of reports whose logs are ahead of their counter: classes by their numbers, names by
the program.
"""

from __future__ import annotations

import json

import pytest
from conftest import run_tool
from measure import clocks

from smart_attributes.errors import DataError

pytestmark = pytest.mark.tools


def facts(raw='500', tests=(), errors=(), statistics=None, spindle=None, model='ACME HD1'):
    return {
        'kind': 'hdd',
        'model': model,
        'firmware': '1',
        'attribute_9': raw and ['Power_On_Hours', raw],
        'statistics_hours': statistics,
        'spindle_hours': spindle,
        'errors': list(errors),
        'self_tests': [['Short offline', 'Completed without error', hours] for hours in tests],
    }


@pytest.mark.parametrize(
    'of, ahead, agrees',
    [
        (facts(tests=[1501]), 'more than 1,000 h', 'no'),
        (facts(tests=[1500]), '25 to 1,000 h', 'no'),
        (facts(errors=[525]), 'less, or unknown', 'no'),
        (facts(tests=[None]), 'less, or unknown', '-'),
        (facts('500h+12m', tests=[9000], statistics=500), 'more than 1,000 h', 'yes'),
        (facts(None, tests=[9000], statistics=500), 'more than 1,000 h', 'yes'),
        (facts(tests=[9000], spindle=400), 'more than 1,000 h', 'no'),
        (facts(tests=[0xFF00, 400]), 'less, or unknown', 'no'),
    ],
)
def test_a_class_follows_from_the_numbers(of, ahead, agrees):
    assert clocks.dated(of)[1:] == (ahead, agrees)


def test_the_command_prints_a_row_for_each_class(tmp_path):
    """A certain one, one of a model whose logs are not trusted, and one that agrees."""
    file = tmp_path / 'clocks.jsonl'
    file.write_text(
        ''.join(
            json.dumps(each) + '\n'
            for each in (
                facts(tests=[9000], statistics=500),
                facts(tests=[400], statistics=500),
                facts(tests=[9000], statistics=500, model='KINGSTON SUV400S37240G'),
            )
        )
    )

    rows = json.loads(run_tool('tools.measure', '--clocks', str(file), '--json').text)
    assert ['power-on-time-set-back', 1] in [row[2:] for row in rows] and len(rows) == 3


@pytest.mark.parametrize('text', ['{}\n', '[]\n', 'x\n'])
def test_a_file_of_something_else_is_an_error_with_its_line(tmp_path, text):
    file = tmp_path / 'clocks.jsonl'
    file.write_text(text)

    with pytest.raises(DataError, match='line 1'):
        list(clocks.read(str(file)))


def test_only_one_collection_is_measured_at_a_time():
    assert run_tool('tools.measure', '--clocks', 'a', '--timelines', 'b').code == 3
