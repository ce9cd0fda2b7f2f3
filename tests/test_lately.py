"""triage --since: what grew, came and went since a person looked last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from days import DAY, HOUR, START, Machine, disk

from smart_attributes.history import growth
from smart_attributes.history.series import History, Point
from smart_attributes.model import Reading, Source, State

CRC = Reading('crc_errors', 5, '', Source(attribute=199))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Sixty days: a counter grows twice, one drive is swapped, one comes, one goes."""
    found = Machine(tmp_path)
    found.holds(sda=disk(), sdb=disk('SERIAL02'), sdc=disk('SERIAL03'))
    found.check(START, '--scan')
    found.holds(sda=disk(a199=5), sdb=disk('SERIAL02'), sdc=disk('SERIAL03'))
    found.check(START + 10 * DAY, '--scan')
    found.holds(
        sda=disk(a199=5, a9=21_200),
        sdb=disk('SERIAL04'),
        sdc=disk('SERIAL03'),
        sdd=disk('SERIAL05'),
    )
    found.check(START + 50 * DAY, '--scan')
    found.holds(sda=disk(a199=9, a9=21_400), sdb=disk('SERIAL04'), sdd=disk('SERIAL05'))
    found.check(START + 59 * DAY, '--scan')
    return found


GREW = 'sda crc_errors grew by {} in {} ({} to 9), 24 h ago'
CAME = 'ACME HD4000 SERIAL05 came to /dev/sdd, noticed 10 d ago'
SWAPPED = '/dev/sdb: ACME HD4000 SERIAL02 was replaced by ACME HD4000 SERIAL04, noticed 10 d ago'
GONE = 'ACME HD4000 SERIAL03 is gone from /dev/sdc, noticed 24 h ago'


@pytest.mark.parametrize(
    ('since', 'told'),
    [
        ('30d', [GREW.format(4, '9 d', 5), CAME, SWAPPED, GONE]),
        ('5d', [GREW.format(4, '9 d', 5), GONE]),
        ('12h', ['no increases, no drives added or removed']),
        ('55d', [GREW.format(9, '59 d', 0), CAME, SWAPPED, GONE]),
        (
            '90d',
            [
                GREW.format(9, '59 d', 0),
                CAME,
                SWAPPED,
                GONE,
                'the history covers 60 d; before that, nothing is known',
            ],
        ),
    ],
)
def test_what_grew_came_and_went_stands_below_the_table(machine, since, told):
    """Once, and no more than history knows; hours and temperature move all the time and tell
    nothing.
    """
    text = machine.run(START + 60 * DAY, 'triage', '--scan', '--since', since).text.splitlines()
    start = next(number for number, line in enumerate(text) if line.startswith('since '))
    end = text.index('work list:')

    assert text[start + 1 : end] == [f'  {line}' for line in told]
    assert [line for line in text[:start] for words in told if words in line] == []
    assert [line.split()[1] for line in text[:start] if '[drive-gone] ' in line] == ['sdc']


def test_it_is_there_as_json_and_on_the_page(machine):
    """For a report of the month."""
    words = ('triage', '--scan', '--since', '30d')
    found = json.loads(machine.run(START + 60 * DAY, *words, '--json').text)['lately']
    page = machine.folder / 'page.html'
    machine.run(START + 60 * DAY, *words, '--html', str(page))

    assert [(each['code'], each['serial']) for each in (*found['came'], *found['went'])] == [
        ('drive-new', 'SERIAL05'),
        ('drive-replaced', 'SERIAL02'),
        ('drive-gone', 'SERIAL03'),
    ]
    [grew] = found['grew']
    assert (found['since'], grew['noticed']) == (START + 30 * DAY, START + 59 * DAY)
    assert {
        line for line in (grew['said'], CAME, SWAPPED, GONE) if line not in page.read_text()
    } == set()


def test_where_nothing_is_remembered_it_is_said(machine):
    """Else nothing would seem to have changed."""
    text = machine.run(START + 60 * DAY, 'triage', '--scan', '--since', '30d', '--no-history').text

    assert 'no readings' in text.splitlines()[-2]
    assert 'nothing grew' not in text


def test_history_that_has_just_begun_is_no_quiet_time(tmp_path):
    """Nothing has changed for a day, and nobody knows about the 29 before."""
    machine = Machine(tmp_path)
    machine.holds(sda=disk())
    machine.check(START, '--scan')

    text = machine.run(START + DAY, 'triage', '--scan', '--since', '30d').text
    assert ' 24 h without ' in text.splitlines()[-2]


def test_serial_numbers_are_hidden_here_as_well(machine):
    """Whoever asks for it passes the output on."""
    assert (
        'SERIAL0'
        not in machine.run(
            START + 60 * DAY, 'triage', '--scan', '--since', '30d', '--hide-serial'
        ).text
    )


def test_a_time_that_is_none_is_refused(machine):
    """Not taken for no time at all."""
    assert machine.run(START, 'triage', '--scan', '--since', 'monday').code == 3


@pytest.mark.parametrize(
    ('points', 'within', 'grown'),
    [
        pytest.param([(0, 3), (50, 7)], 100, (3, 7, 4), id='a-rise'),
        pytest.param([(0, 3), (50, 7)], 20, None, id='a-rise-before'),
        pytest.param([(0, 3), (10, 9), (50, 2), (70, 5)], 100, (3, 5, 9), id='a-reset-in-between'),
        pytest.param([(0, 3), (50, 2)], 100, None, id='a-fall'),
        pytest.param([(0, 3)], 100, None, id='one-point'),
    ],
)
def test_all_that_rose_in_the_time_counts(points, within, grown):
    """Whatever the limits are."""
    history = History(
        tuple(Point(moment * HOUR, number, HOUR) for moment, number in points), 80 * HOUR
    )
    found = growth.lately(history, CRC, within * HOUR, 80 * HOUR + HOUR, False)

    assert (found and (found.before, found.after, found.size)) == grown


def test_what_grew_is_no_alarm_and_is_said_of_the_time_that_is_remembered():
    """Growth that no rule forbids has no state; less is worse only where somebody says so."""
    history = History((Point(0, 3), Point(50 * HOUR, 7, HOUR)), 80 * HOUR)
    found = growth.lately(history, CRC, 100 * HOUR, 81 * HOUR, False)

    assert found is not None
    assert (found.state, found.noticed, found.rule.within, found.rule.held) == (
        State.OK,
        50 * HOUR,
        81 * HOUR,
        100 * HOUR,
    )
    assert growth.lately(history, CRC, 31 * HOUR, 81 * HOUR, False) is None, (
        'noticed that long ago, not within'
    )
