"""The table at a terminal: which of these drives do I replace first, on whatever screen there
is.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import abilities
import described
import picture
import pytest
from cases import case
from conftest import ROOT, drive, drive_path, run
from picture import plain

from smart_attributes.commands.person import FORGET
from smart_attributes.model import Device, Forecast, Identity, State, Verdict
from smart_attributes.output import triage_table
from smart_attributes.reading.smartctl_calls import read_arguments

COLOUR = re.compile('\x1b\\[[0-9;]*3[0-7][0-9;]*m')
STATE = re.compile('CRITICAL|UNKNOWN|WARNING|OK')
NOW = 1.8e9
YEAR = 365.25 * 86400


@pytest.fixture(scope='module')
def sixty(tmp_path_factory) -> str:
    """A folder of sixty reports, healthy and not."""
    folder: Path = tmp_path_factory.mktemp('sixty')
    reports = sorted((ROOT / 'tests/reports').iterdir())
    for number in range(60):
        report = reports[number % len(reports)]
        shutil.copy(report, folder / f'drive-{number:02}{report.suffix}')
    return str(folder)


def printed(columns: int, arguments: Sequence[str], **variables: str) -> str:
    """Return what `triage` prints on a terminal."""
    abilities.skip_without(abilities.no_terminal())
    return picture.printed(columns, arguments, **variables)


def shown(columns: int, *arguments: str, **variables: str) -> list[str]:
    """Return the lines on a terminal, without colours, blanks at their ends and what is no
    drive's.
    """
    lines = plain(printed(columns, arguments, **variables)).replace('\r', '').splitlines()
    end = next(
        number for number, line in enumerate(lines) if re.match(r'to do:|[0-9]+ drives?: ', line)
    )
    return [line.rstrip() for line in lines[:end] if line.strip() and not line.startswith('note:')]


@pytest.mark.parametrize(
    'columns',
    [80, 200],
)
def test_sixty_drives_stand_below_each_other(sixty, columns):
    """None wider than the screen, none broken within a name."""
    lines = shown(columns, '--report', sixty)
    starts = [number for number, line in enumerate(lines) if STATE.match(line)]

    assert len(starts) == 60
    assert max(map(len, lines)) <= columns
    assert all(re.match(r'\S+ +drive_\d\d ', lines[start]) for start in starts)


@pytest.mark.parametrize('columns', [80, 200])
def test_one_drive_tells_wear_forecast_age_and_what_was_written(columns):
    """A month says that it is an estimate."""
    text = ' '.join(shown(columns, '--report', drive_path('intel-worn')))

    assert re.search('~20[0-9]{2}-[0-9]{2}', text)
    for word in (
        'intel_worn',
        '86 %',
        'INTEL SSDSC2BB150G7',
        'EXAMPLE0003',
        '3.2 y',
        '399 TB',
        'endurance_used 86 %, warning above 85',
    ):
        assert word in ' '.join(text.split())


@pytest.mark.parametrize(
    'columns, left_out',
    [
        (80, []),
        (55, ['written', 'spare']),
        (40, ['written', 'spare', 'age', 'temp']),
    ],
)
def test_columns_for_which_there_is_no_room_are_left_out_the_least_telling_first(columns, left_out):
    """A finding tells them where they are bad; wear and date stay longest."""
    heading, *lines = shown(columns, '--report', drive_path('intel-worn'))
    columns_of_all = ['state', 'drive', 'used', 'worn', 'out', 'spare', 'temp', 'age', 'written']

    assert heading.split() == [name for name in columns_of_all if name not in left_out]
    assert 'EXAMPLE0003: endurance_used 86 %, warning above 85' in ' '.join(' '.join(lines).split())


def test_no_finding_is_cut():
    text = ' '.join(' '.join(shown(80, '--report', drive_path('hgst-failed'))).split())

    assert 'pending 86, critical above 32; reallocated 1303, critical above 1000' in text


def test_states_have_colours():
    """Red, and bold for who cannot see red; shades that can be read on a light and on a dark
    background.
    """
    assert '\x1b[1;38;5;131mCRITICAL' in printed(80, ('--report', drive_path('samsung-worn-out')))
    assert '\x1b[38;5;28mOK' in printed(80, ('--report', drive_path('intel-s3500-healthy')))


def test_no_color_means_none():
    """https://no-color.org"""
    assert not COLOUR.search(
        printed(80, ('--report', drive_path('samsung-worn-out')), NO_COLOR='1')
    )


def test_a_pipe_gets_a_line_a_drive_without_colours():
    """For grep; with all findings, whatever their length."""
    text = run('triage', '--report', str(ROOT / 'tests/reports')).text
    lines = [line for line in text.splitlines() if STATE.match(line)]

    assert len(lines) == 13
    assert '\x1b' not in text
    assert [line for line in text.splitlines() if line != line.rstrip()] == []
    assert re.search(
        'smart_status: FAILED; attribute 5 .*; reported_uncorrect .*; pending .*; reallocated ',
        text,
    )


@pytest.mark.parametrize('command', ['triage', 'explain'])
@pytest.mark.parametrize('columns', [40, 80, 300])
def test_a_pipe_is_as_wide_as_columns_says(command, columns):
    """No line is wider, and at least one uses the room; still without colours."""
    text = run(
        command,
        '--report',
        drive_path('hgst-failed'),
        env={'COLUMNS': str(columns), 'LC_ALL': 'C.UTF-8'},
    ).text

    assert columns * 0.7 < max(map(len, text.splitlines())) <= columns
    assert '\x1b' not in text


# Python 3.9.2 takes it for a number, of which the widest table is made.
HUGE = ['9' * 5000] if hasattr(sys, 'set_int_max_str_digits') else []


@pytest.mark.parametrize('value', ['', '0', '-80', '80x', 'wide', '²', *HUGE])
@pytest.mark.parametrize('command', ['triage', 'explain'])
def test_columns_that_are_no_width_are_ignored(command, value):
    """rich takes "²" for digits and fails on it; LINES is read in the same place."""
    arguments = command, '--report', drive_path('hgst-failed')

    assert run(*arguments, env={'COLUMNS': value, 'LINES': value}) == run(*arguments)


@pytest.mark.parametrize('columns', ['1', '39'])
def test_no_width_is_so_narrow_that_states_are_cut_off(columns):
    """A table of dots would say nothing of a failed drive."""
    arguments = 'triage', '--report', drive_path('hgst-failed')

    assert run(*arguments, env={'COLUMNS': columns}) == run(*arguments, env={'COLUMNS': '40'})


def test_the_drive_id_of_a_controller_is_told_and_not_as_a_bay(fake):
    """Which drive to pull."""
    fake.answers(read_arguments('/dev/bus/0', 'megaraid,2'), drive('seagate-exos-failing'))
    arguments = ('-p', fake.path, '--nosudo', '-d', 'megaraid,2@/dev/bus/0')

    where = "controller's drive ID 2, slot unknown"
    table, _, work = run('triage', *arguments).text.partition('to do:')
    assert ('drive ID' in table, f'bus_0_megaraid_2 ({where}): ' in work) == (False, True)
    assert f'where       {where}' in run('explain', *arguments).text


def test_explain_tells_how_long_a_drive_lasts():
    """A date with its range, and what it was made from."""
    day = r'20\d\d-\d\d-\d\d'

    assert re.search(
        rf'out   endurance_used: .* {day} \(between {day} ',
        run('explain', '--report', drive_path('intel-worn')).text,
    )


# --- who waits ------------------------------------------------------------------------------------


@pytest.fixture
def two_drives(fake):
    """One that answers at once, and one that takes its time."""
    fake.answers(read_arguments('/dev/null'), drive('intel-worn'))
    fake.answers(read_arguments('/dev/zero'), drive('intel-s3500-healthy'), before='sleep 0.7')
    return '-p', fake.path, '--nosudo', '-d', '/dev/null', '-d', '/dev/zero'


def test_who_waits_at_a_terminal_sees_for_which_drive(two_drives):
    """And nothing is left of it above the table."""
    text = printed(80, two_drives)

    assert re.search('1 of 2 .* for zero', text)
    assert text.index(FORGET) < text.rindex(FORGET) < text.index('WARNING')
    assert 'drives read' not in text[text.rindex(FORGET) :]


# --- forms of the document ------------------------------------------------------------------------

FORMS = [option for option in described.options('triage') if option.dest == 'formats']


@pytest.mark.parametrize('form', FORMS, ids=lambda form: form.names[0])
@pytest.mark.parametrize(
    'hidden',
    [
        [],  # whole
        ['--hide-serial'],  # hide serial
    ],
)
def test_each_form_has_all_drives_and_no_serial_number_where_none_is_wanted(form, hidden, tmp_path):
    """Also a form that was added since: they are the options of triage for the document."""
    file = tmp_path / 'drives'
    reports = [
        word
        for name in ('intel-worn', 'micron-5200-healthy')
        for word in ('--report', drive_path(name))
    ]
    printed = run(
        'triage', *reports, *hidden, form.names[0], *([str(file)] if form.value else [])
    ).text
    text = file.read_text() if form.value else printed

    assert printed == f'written: {file}\n' if form.value else printed
    assert [
        name
        for name in ('intel_worn', 'micron_5200_healthy', 'INTEL SSDSC2BB150G7')
        if name not in text
    ] == []
    assert ('EXAMPLE0003' in text) == (not hidden)


def test_several_forms_are_written_by_one_call(tmp_path):
    """The last file of a form counts; JSON on standard output stays JSON."""
    first, last = str(tmp_path / 'a.html'), str(tmp_path / 'b.html')
    done = run(
        'triage', '--report', drive_path('intel-worn'), '--html', first, '--json', '--html', last
    )

    assert len(json.loads(done.text)['drives']) == 1
    assert [path.name for path in tmp_path.iterdir()] == ['b.html']


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'left, is_estimate, told',
    [
        (YEAR, False, '2028-01'),  # remembered
        (YEAR, True, '~2028-01'),  # estimate
        (0, False, 'used up'),  # over
        (11 * YEAR, True, '>10 y'),  # beyond any plan
    ],
)
def test_a_forecast_is_a_month(left, is_estimate, told):
    """2027-01-15 and what is left."""
    lasts = {'endurance_used': Forecast(left, left / 2, left * 2, is_estimate)}
    drive = case(Verdict(Device('/dev/sda'), Identity(), State.OK), NOW, forecasts=lasts)

    assert triage_table.until(drive, NOW) == told
