"""What a person reads of a drive at a terminal: cells and findings that fit."""

import pytest
from cases import case
from test_severity import W, drive, found

from smart_attributes.constants import DAY, YEAR
from smart_attributes.model import (
    Forecast,
    Identity,
    Judgement,
    Place,
    Reading,
    Source,
    State,
)
from smart_attributes.output import triage_table

NOW = 1_795_348_800  # 2026-11-22
TB = 10**12


def read(metric, number, unit='', judged=True, state=State.OK):
    return Judgement(Reading(metric, number, unit, Source('log'), judged=judged), state)


def row(verdict, hide_serial=False, **facts):
    return triage_table.rows([case(verdict, NOW, hide_serial, **facts)], NOW)[0]


def test_a_healthy_drive_has_a_cell_for_each_number():
    given = drive(
        'sda',
        read('endurance_used', 9, '%'),
        read('spare_available', 98, '%'),
        read('temperature', 31, 'C'),
        read('power_on_time', 2.5 * YEAR, 's'),
        read('host_written', 398 * TB, 'B'),
        read('rated_written', 700 * TB, 'B'),
    )._replace(identity=Identity('ATA', 'ACME X1', 'FW', 'SERIAL1'))

    assert row(given, place=Place('slot 7')) == triage_table.DriveRow(
        State.OK,
        'sda',
        'slot 7',
        'ACME X1',
        'SERIAL1',
        '9 %',
        '',
        '98 %',
        '31 C',
        '2.5 y',
        '398 TB of 700 TB',
        (),
    )
    assert row(given, hide_serial=True).serial == ''


def test_a_drive_that_reports_nothing_has_empty_cells():
    assert row(drive('sda')) == triage_table.DriveRow(
        State.OK, 'sda', '', '-', '', '', '', '', '', '', '', ()
    )


@pytest.mark.parametrize(
    'judgement',
    [read('endurance_used', None, '%'), read('endurance_used', 9, '%', judged=False)],
)
def test_a_number_that_is_unknown_or_not_believed_is_not_shown(judgement):
    told = row(drive('sda', judgement))

    assert told.used == ''


@pytest.mark.parametrize(
    'host, rated, said',
    [
        (398, 700, '398 TB of 700 TB'),
        (398, None, '398 TB'),
        (None, 700, ''),
        (None, None, ''),
    ],
)
def test_what_was_written_stands_before_what_may_be_written(host, rated, said):
    numbers = {'host_written': host, 'rated_written': rated}
    given = [
        read(metric, number * TB, 'B') for metric, number in numbers.items() if number
    ]

    assert row(drive('sda', *given)).written == said


def test_a_long_bay_and_a_long_problem_are_cut():
    told = row(drive('sda', problem='p' * 3000), place=Place('b' * 99))

    assert (len(told.bay), len(told.what), len(told.what[0])) == (60, 1, 2000)


def test_only_what_is_wrong_is_told_of_a_drive():
    soon = {'endurance_used': Forecast(192 * DAY, 100 * DAY, 300 * DAY, False)}
    told = row(
        drive('sda', found('endurance_used', 86, W, '85'), read('pending', 0)),
        forecasts=soon,
    )

    assert [words.partition(',')[0] for words in told.what] == ['endurance_used 86 %']
    assert told.until == '2027-06'


@pytest.mark.parametrize(
    'lefts, until',
    [((), ''), ((192,), '2027-06'), ((900, 192), '2027-06'), ((192, 900), '2027-06')],
)
def test_the_soonest_forecast_is_shown(lefts, until):
    given = case(
        drive('sda'),
        NOW,
        forecasts={
            str(number): Forecast(left * DAY, 0, 0, False)
            for number, left in enumerate(lefts)
        },
    )

    assert triage_table.until(given, NOW) == until
