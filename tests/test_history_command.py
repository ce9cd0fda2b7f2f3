"""The command history: what history holds, and what is forgotten."""

import json
import subprocess
import time
from pathlib import Path

import pytest
from days import DAY, HOUR, START, Machine, command_at, disk, environment

from smart_attributes.model import Identity
from smart_attributes.output import history
from smart_attributes.shown import Shown, shown


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    found = Machine(tmp_path)
    for day, sectors in enumerate((0, 0, 4, 8)):
        found.holds(sda=disk(a5=sectors))
        found.check(START + day * DAY)
    return found


def test_what_history_holds_of_a_drive_is_a_table(machine):
    """First and last number, and when it changed."""
    result = machine.run(START + 3 * DAY, 'history', '-d', '/dev/sda', 'reallocated')

    head, _, row = result.text.splitlines()
    assert head == 'ACME HD4000 SERIAL01, read from 2026-11-20 to 2026-11-23'
    assert row.split()[:5] == ['reallocated', '0', '8', '2026-11-23', '3']


def test_a_metric_that_is_none_is_refused(machine):
    """An empty table would say that nothing is remembered of it."""
    done = machine.run(START + 3 * DAY, 'history', '-d', '/dev/sda', 'realocated')

    assert done.code == 3 and '[usage-error] "realocated" ' in done.first_line


def forget(machine: Machine, answer: str = 'y') -> tuple[int, str]:
    """Let a person answer the question of history --remove; return the exit status and what is
    printed after the question.
    """
    command = command_at(
        START + 4 * DAY, 'history', *machine.words('--remove', 'SERIAL01')
    )
    done = subprocess.run(
        command,
        env=environment(),
        input=answer,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.rpartition('[y/N] ')[2]


@pytest.mark.parametrize('answer', ['', '\n', 'n\n', 'yesterday\n'])
def test_a_drive_is_only_forgotten_if_a_person_agrees(machine, answer):
    assert forget(machine, answer)[0] == 3
    assert (
        'SERIAL01'
        in machine.run(START + 3 * DAY, 'history', '-d', '/dev/sda').first_line
    )


def test_a_drive_that_is_missing_is_forgotten_if_root_has_accepted_it(machine):
    """Else it would never be missed again, and its last readings would be lost."""
    machine.holds(sda=disk(a5=8), sdb=disk('SERIAL02'))
    machine.check(START + 3 * DAY + HOUR, '--scan')
    machine.holds(sdb=disk('SERIAL02'))
    machine.check(START + 3 * DAY + 2 * HOUR, '--scan')

    status, text = forget(machine)
    assert (status, '[usage-error]' in text) == (3, True)
    assert (
        machine.run(START + 4 * DAY, 'acknowledge', '--missing', 'SERIAL01').code == 0
    )
    assert forget(machine) == (0, '1 removed\n')


# --- the table and the document, from values ------------------------------------------------------

WEAR = history.Series(
    'endurance_used',
    '100 - value',
    '%',
    ((START, 1), (START + 2 * DAY, 3)),
)
HEAT = history.Series('temperature', 'value', 'C', ((START + DAY, 31),))
X1 = Identity(model='ACME X1', serial='SERIAL1')
NAMED = shown(X1, hide_serial=False)


def test_the_rows_of_a_drive_are_aligned():
    found = history.ShownHistory(NAMED, START, START, [WEAR, HEAT])
    head, columns, wear, heat = history.lines(found)
    day = time.strftime('%Y-%m-%d', time.localtime(START + 2 * DAY))

    assert head.startswith('ACME X1 SERIAL1, read from ') and ' to ' in head
    assert next(
        history.lines(found._replace(shown=shown(X1, hide_serial=True)))
    ).startswith('ACME X1, read from ')
    assert columns.split() == ['metric', 'first', 'last', 'changed', 'points', 'source']
    assert wear.split()[:7] == [
        'endurance_used',
        '1',
        '%',
        '3',
        '%',
        day,
        '2',
    ] and wear.endswith('100 - value')
    assert heat.split() == ['temperature', '31', 'C', '31', 'C', '-', '1', 'value']
    assert columns.index('source') == wear.index('100 - value') == heat.index('value')


@pytest.mark.parametrize('hide_serial, serial', [(False, 'SERIAL1'), (True, None)])
def test_the_document_has_every_point(hide_serial, serial):
    drive = history.ShownHistory(shown(X1, hide_serial), START, START + 4 * DAY, [HEAT])
    text = history.as_json([drive], {'state': 'OK'})

    assert text.splitlines()[1] == ' "version": 2,'
    assert json.loads(text) == {
        'version': 2,
        'state': 'OK',
        'drives': [
            {
                'model': 'ACME X1',
                'serial': serial,
                'first_read': START,
                'last_read': START + 4 * DAY,
                'series': [
                    {
                        'metric': 'temperature',
                        'definition': 'value',
                        'unit': 'C',
                        'points': [[START + DAY, 31]],
                    }
                ],
            }
        ],
    }


def test_a_drive_without_a_name_has_none_in_the_document():
    drive = history.ShownHistory(Shown(), 1.6, 2.4, [])
    [found] = json.loads(history.as_json([drive]))['drives']

    assert found == {
        'model': None,
        'serial': None,
        'first_read': 2,
        'last_read': 2,
        'series': [],
    }
