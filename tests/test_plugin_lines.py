"""The plugin's text read back: what was written comes back, and what was cut off is noticed."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from cases import case
from conftest import ROOT, run, texts
from simulator import Machine, names, read, why_not
from test_hostile import NASTY

from smart_attributes.check.fence import unreadable
from smart_attributes.errors import DriveError
from smart_attributes.fleet import plugin_output
from smart_attributes.model import (
    Device,
    Identity,
    Judgement,
    Reading,
    Source,
    State,
    Verdict,
)
from smart_attributes.output import plugin

OK, WARNING, CRITICAL, UNKNOWN = State

# with the other files that read these drives
pytestmark = pytest.mark.xdist_group('lines')

REPORTS = str(ROOT / 'tests/reports')
SDA = Device('/dev/sda', name='sda')
# Beside `-`, which is how a line says that a drive told nothing.
WORDS = [
    '',
    'ACME X1',
    'firmware',
    'firmware 1',
    '(check)',
    'note: x',
    '... x',
    '#1',
    *NASTY,
]


Told = tuple[str, list[dict[str, Any]]]


def told(*arguments: str) -> Told:
    """Return what a check prints of drives, and what triage says of the same ones."""
    whole = json.loads(run('triage', '--json', '--no-history', *arguments).text)
    return run('--no-history', *arguments).text, whole['drives']


@pytest.fixture(scope='module')
def recorded() -> list[Told]:
    return of_reports()


@lru_cache(maxsize=None)
def of_reports() -> list[Told]:
    return [told('--report', REPORTS)]


@pytest.fixture(scope='module')
def simulated(tmp_path_factory) -> list[Told]:
    """Every simulated drive behind a controller or as NVMe, asked by the real smartctl; in parts
    that nobody cuts.
    """
    if why_not():
        pytest.skip(why_not())
    return of_machine(tmp_path_factory.getbasetemp() / 'of_all_drives')


@lru_cache(maxsize=None)
def of_machine(folder: Path) -> list[Told]:
    machine, addresses = Machine(folder), []
    for number, drive in enumerate(
        name for name in names() if not name.endswith('-volume')
    ):
        is_nvme = read(drive).protocol == 'NVMe'
        addresses.append(
            f'/dev/nvme{number}' if is_nvme else f'megaraid,{number}@/dev/bus/0'
        )
        machine.add(addresses[-1], drive)
    return [
        told(
            '-p',
            machine.smartctl,
            '--nosudo',
            '-d',
            '/dev/sdz',
            *(word for each in part for word in ('-d', each)),
        )
        for part in (addresses[::2], addresses[1::2])
    ]


@pytest.mark.parametrize('drives', ['recorded', 'simulated'])
def test_each_line_read_back_says_who_the_drive_is_and_what_is_wrong(drives, request):
    """State, name, model, findings, serial number and firmware: as triage has them of the same
    drives.
    """
    for text, documents in request.getfixturevalue(drives):
        found = plugin_output.plugin_text(text)
        wanted = {drive['name']: drive for drive in documents}

        assert found is not None and found.counted == len(found.lines) == len(documents)
        for line in found.lines:
            drive = wanted[line.name]
            assert (line.state.name, line.model, line.serial, line.firmware) == (
                drive['state'],
                drive['model'] or '',
                drive['serial'] or '',
                drive['firmware'] or '',
            )
            assert (
                line.findings.startswith('; '.join(texts(drive['findings'])))
                or drive['state'] == 'UNKNOWN'
            )
            assert plugin.written(line) in text.splitlines()


@pytest.mark.parametrize('drives', ['recorded', 'simulated'])
def test_each_value_of_perfdata_read_back_is_the_reading(drives, request):
    """Label, number, unit and limits; and nothing is left over."""
    for text, documents in request.getfixturevalue(drives):
        last = text.splitlines()[-1]
        found = {
            label: (number, limits)
            for label, number, limits in plugin_output.read_values(last[2:].split(' '))
        }
        numbers = {
            f'{drive["name"]}_{each["metric"]}': each
            for drive in documents
            for each in drive['readings']
            if each['judged'] and isinstance(each['value'], (int, float))
        }

        assert len(found) == last.count('=')
        assert len(numbers.keys() & found.keys()) > 5 * len(documents)
        for label in numbers.keys() & found.keys():
            (number, limits), wanted = found[label], numbers[label]
            assert number == pytest.approx(wanted['value'], abs=0.01)
            assert plugin_output.levels(limits) == (
                wanted['warning'] or '',
                wanted['critical'] or '',
            )


def verdict(word: str) -> Verdict:
    return unreadable(
        SDA, DriveError(word or 'is silent'), OK, Identity('ATA', word, word, word)
    )


@pytest.mark.parametrize(
    'hide_serial',
    [
        False,  # serial
        True,  # hidden
    ],
)
@pytest.mark.parametrize('word', WORDS)
def test_a_line_comes_back_whatever_a_drive_calls_itself(word, hide_serial):
    """A name that looks like another column must not become one."""
    line = plugin.line(case(verdict(word), hide_serial=hide_serial))
    found = plugin_output.plugin_text(f'SMART UNKNOWN - x\n{plugin.written(line)}\n')

    assert found is not None
    assert found.lines == [line]


@pytest.mark.parametrize(
    'text',
    [
        '',
        '\n',
        'OK (sda) |',
        'Critical (sda) [sda_Reallocated_Sector_Ct = Critical]',
        'SMART',
        'SMART FINE - x',
        'OK - SMART',
        '<Timeout exceeded.>',
        'SMART OK',
    ],
)
def test_what_the_plugin_never_prints_is_not_taken_for_its_text(text):
    """Version 1.6, another plugin, a daemon's own words."""
    assert plugin_output.plugin_text(text) is None


def test_the_check_as_a_whole_is_no_drive():
    """A mistyped file of a site, a note, what the plugin left out."""
    found = plugin_output.plugin_text(
        '\n'.join(
            [
                'SMART UNKNOWN - x; 1 drive: 1 ok',
                'UNKNOWN   (check)  site.json: no JSON',
                'OK        sda  ACME X1  endurance_used 1 %  EXAMPLE0001  firmware 1',
                'note: sdb is gone',
                '... 3 more lines',
            ]
        )
    )

    assert found == plugin_output.PluginText(
        UNKNOWN,
        'x; 1 drive: 1 ok',
        1,
        [plugin.Line(OK, 'sda', 'ACME X1', 'endurance_used 1 %', 'EXAMPLE0001', '1')],
        [(UNKNOWN, 'site.json: no JSON')],
    )


@pytest.mark.parametrize(
    'text',
    [
        '',
        "'sda_temper",
        "'sda_temperature'=",
        "'sda_temperature'=31",
        "'a'=nan;;",
        "'a'=inf;;",
        "'a'=x;;",
        "'a'=1 2;;",
        "'a'=3x32MiB;;",
        "'a'=1;<b>;;;",
    ],
)
def test_a_value_that_was_cut_is_none(text):
    """31 may have been 310; those beside it stay."""
    assert plugin_output.read_values([text]) == []
    assert plugin_output.read_values(["'a'=1;;;;", text, "'b'=2;;;;"]) == [
        ('a', 1, ';;;'),
        ('b', 2, ';;;'),
    ]


# --- tables of cases ------------------------------------------------------------------------------


def of_state(state: State, is_accepted: bool = False) -> Verdict:
    reading = Reading('pending', 3, '', Source('log'))
    return Verdict(
        SDA, Identity(), state, (Judgement(reading, state, acknowledged=is_accepted),)
    )


@pytest.mark.parametrize(
    'verdicts, said',
    [
        ([of_state(OK)], '1 drive: 1 ok'),
        (
            [of_state(OK), of_state(CRITICAL), of_state(OK)],
            '3 drives: 1 critical, 2 ok',
        ),
        (
            [of_state(state) for state in State],
            '4 drives: 1 critical, 1 unknown, 1 warning, 1 ok',
        ),
        ([of_state(OK), of_state(OK, True)], '2 drives: 1 ok, 1 acknowledged'),
        ([of_state(WARNING, True)], '1 drive: 1 warning'),
    ],
)
def test_drives_are_counted_by_state_the_worst_first(verdicts, said):
    """Only an acknowledged drive that is OK is counted apart."""
    assert plugin.count(verdicts) == said


@pytest.mark.parametrize(
    'line, text',
    [
        (
            plugin.Line(OK, 'sda', '1', '2', 'S', '1'),
            'OK        sda  1  2  S  firmware 1',
        ),
        (plugin.Line(OK, 'sda', '1', '2', None, ''), 'OK        sda  1  2  firmware -'),
        (plugin.Line(UNKNOWN, 'sda', '', '2', '', ''), 'UNKNOWN   sda  -  2  -'),
        (
            plugin.Line(UNKNOWN, 'sda', '', '2', 'S', ''),
            'UNKNOWN   sda  -  2  S  firmware -',
        ),
        (
            plugin.Line(UNKNOWN, 'sda', '', '2', '', '1'),
            'UNKNOWN   sda  -  2  -  firmware 1',
        ),
    ],
)
def test_a_line_has_firmware_where_anybody_answered(line, text):
    assert plugin.written(line) == text


def test_lines_that_are_not_of_drives_do_not_end_the_reading():
    found = plugin_output.plugin_text(
        'SMART OK - 1 - 2; 2 drives: 2 ok\nmore words\nOK        sda  A\nOK        sdb  A  f  S'
    )

    assert found is not None and [line.name for line in found.lines] == ['sdb']
    assert (found.headline, found.counted) == ('1 - 2; 2 drives: 2 ok', 2)
    assert found.checks == []
