"""The lines of a local check, read by a parser that was written after Checkmk's documentation of local checks."""
from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import NamedTuple

import pytest
from conftest import ROOT, drive, drive_path, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from test_hostile import NASTY
from test_output_plugin import NEW, WORN
from test_output_plugin import drive as verdict_of

from smart_attributes import main
from smart_attributes.model import State
from smart_attributes.output import checkmk
from smart_attributes.output.plugin import Face, Whole
from smart_attributes.reading.smartctl_calls import read_arguments

HOSTILE = [*NASTY, '\\n2 "SMART" - forged', '<<<local>>>', '\n<<<local:sep(0)>>>', 'cached(1,2) 0', '"\'', 'x\\',
           '0 "SMART other" - fine', '|smart_status=1', '[[[piggyback]]]', '<<<<other-host>>>>']


class Service(NamedTuple):
    """One line of a local check as Checkmk understands it."""

    state: int
    metrics: dict[str, float]
    summary: str
    details: list[str]


def services(text: str) -> dict[str, Service]:
    """Return the service of each line. Fails for anything that the documentation does not describe.

    Source: Checkmk documentation, "Local checks": one blank between the four parts, the name in quotation marks,
    metrics separated by bars, `\\n` for a line of the details, and no section header.
    """
    assert text.endswith('\n')
    found: dict[str, Service] = {}
    for line in text[:-1].split('\n'):
        assert line.isprintable() and not re.search('<<<|>>>', line), line
        state, name, metrics, words = re.fullmatch(r'([0-3]) "([^"\'|;=]+)" (-|[^ ]+) (\S.*)', line).groups()
        assert name not in found, f'two services are called {name}'
        summary, *details = words.split('\\n')
        assert summary and '\\' not in summary + ''.join(details)
        found[name] = Service(int(state), numbers(metrics), summary, details)
    return found


def numbers(metrics: str) -> dict[str, float]:
    """Return the values by name: "a=1|b=2.5"; a name has none of the characters that Checkmk refuses."""
    pairs = [] if metrics == '-' else [metric.split('=') for metric in metrics.split('|')]
    assert all(re.fullmatch('[a-z0-9_]+', name) for name, _ in pairs)
    return {name: float(value) for name, value in pairs}


def test_the_check_and_each_drive_are_services():
    """The check has the worst state, so that a drive that nobody has discovered yet is not silent."""
    found = services(checkmk.render([NEW, WORN], Face(), Whole()))

    assert found == {
        'SMART': Service(1, {}, 'sdb endurance_used 86 % (warning above 85); [order] order a replacement; '
                            '2 drives: 1 warning, 1 ok', []),
        'SMART sdb': Service(1, {'smart_endurance_used': 86}, 'endurance_used 86 %, warning above 85; [order] order a '
                             'replacement',
                             ['model ACME X1, serial SERIAL1, firmware 1, device /dev/sdb']),
        'SMART sda': Service(0, {'smart_endurance_used': 3}, 'endurance_used 3 %',
                             ['model ACME X1, serial SERIAL1, firmware 1, device /dev/sda'])}


@pytest.mark.parametrize('whole, state, summary, details', [
    (Whole(failures=('sdc is gone',)), 2, 'sdc is gone; ', []),
    (Whole(faults=('a', 'b')), 3, 'a; ', ['UNKNOWN (check) a', 'UNKNOWN (check) b']),
    (Whole(remarks=('sda was replaced',)), 0, '', ['note: sda was replaced'])], ids=['missing', 'faults', 'remarks'])
def test_what_concerns_no_drive_is_in_the_service_of_the_check(whole, state, summary, details):
    """A missing drive has no line any more, so this line alone can say that it is missing."""
    found = services(checkmk.render([NEW], Face(), whole))

    assert found['SMART'] == Service(state, {}, f'{summary}most worn: sda endurance_used 3 %; 1 drive: 1 ok', details)
    assert found['SMART sda'].state == 0


def test_a_check_without_drives_is_one_service():
    assert services(checkmk.render([], Face(), Whole())) == {'SMART': Service(3, {}, 'no drives', [])}


def test_options_of_the_output_apply():
    found = services(checkmk.render([WORN], Face(verbose=1, hide_serial=True), Whole()))['SMART sdb']

    assert found.details == ['model ACME X1, firmware 1, device /dev/sdb', 'note: wears out', 'entry: ACME X1']


@pytest.mark.parametrize('is_all, metrics', [(False, {}), (True, {'smart_endurance_used': 86})])
def test_metrics_without_a_graph_are_there_if_all_are_wanted(is_all, metrics):
    hidden = WORN._replace(state=State.OK, judgements=tuple(
        each._replace(state=State.OK, graphed=False) for each in WORN.judgements))

    assert services(checkmk.render([hidden], Face(all_perfdata=is_all), Whole()))['SMART sdb'].metrics == metrics


def test_a_backslash_begins_no_line_of_the_details():
    found = services(checkmk.render([NEW], Face(), Whole(remarks=('C:\\nobody',))))['SMART']

    assert found.details == ['note: C:/nobody']


def test_a_metric_that_checkmk_defines_keeps_its_name():
    """In other units its definition would be wrong, so the others have a prefix."""
    warm = verdict_of('sda', ('temperature', 30.5, 'C'), ('smart_status', 1, ''), ('pending', 0, ''))

    assert services(checkmk.render([warm], Face(), Whole()))['SMART sda'].metrics == {
        'temperature': 30.5, 'smart_status': 1, 'smart_pending': 0}


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(some.lists(some.sampled_from(HOSTILE) | some.text(max_size=30), min_size=4, max_size=4), some.integers(0, 2))
def test_no_string_of_a_drive_adds_a_service_a_metric_or_a_section(words, verbose):
    """Nor a line of the details: a model may hold any character."""
    model, serial, note, problem = words
    honest = WORN._replace(notes=('a note',))
    hostile = honest._replace(identity=honest.identity._replace(model=model, serial=serial, firmware=model),
                              notes=(note,), entry=model)
    silent = verdict_of('sdc', state=State.UNKNOWN, problem=problem or 'silent')
    found = services(checkmk.render([hostile, silent], Face(verbose=verbose), Whole(remarks=(note,))))
    plain = services(checkmk.render([honest, silent], Face(verbose=verbose), Whole(remarks=('a note',))))

    assert set(found) == {'SMART', 'SMART sdb', 'SMART sdc'}
    assert found['SMART sdb'][:3] == plain['SMART sdb'][:3]
    assert len(found['SMART sdb'].details) == len(plain['SMART sdb'].details)
    assert max(map(len, checkmk.render([hostile, silent], Face(), Whole()).splitlines())) < 10_000


# --- the program ------------------------------------------------------------------------------------

def test_the_program_exits_with_0_and_the_lines_have_the_states(fake):
    """The agent discards what an asynchronous local check prints if it ends with another exit status."""
    fake.answers(read_arguments('/dev/sda'), drive('intel-worn'))
    done = run('-p', fake.path, '--nosudo', '--format', 'checkmk', '--expect', '3', '-d', '/dev/sda', '-d', '/dev/sdb')
    found = services(done.text)

    assert done.code == 0
    assert {name: service.state for name, service in found.items()} == {'SMART': 2, 'SMART sda': 1, 'SMART sdb': 3}
    assert found['SMART'].summary.startswith('[drives-missing] 1 of 3 expected drives missing, 2 found; ')


@pytest.mark.parametrize('label', ['serial', 'device'])
def test_a_service_has_the_name_that_label_gives_the_drive(fake, label):
    """A service named by serial number follows the drive to another device name."""
    fake.answers(read_arguments('/dev/sdq'), drive('intel-worn'))
    serial = json.loads(drive('intel-worn'))['serial_number']
    done = run('-p', fake.path, '--nosudo', '--format=checkmk', '--label', label, '-d', '/dev/sdq')

    assert set(services(done.text)) == {'SMART', f'SMART {serial.lower() if label == "serial" else "sdq"}'}


@pytest.mark.parametrize('words', [
    ['-d', 'x'], ['--no-such-option'], ['-t', 'soon'], ['-p', '/nowhere/smartctl', '--nosudo', '-d', '/dev/sda'],
    ['-p', '/nowhere\\n', '--nosudo']], ids=lambda words: '_'.join(words[:2]))
@pytest.mark.parametrize('spelling', [['--format', 'checkmk'], ['--form=checkmk']], ids=['long', 'short'])
def test_a_check_that_fails_is_one_valid_line(words, spelling):
    """A line that Checkmk cannot read would leave the old state."""
    done = run(*spelling, *words)

    assert done.code == 0
    assert services(done.text)['SMART'].state == 3


@pytest.mark.parametrize('program, state', [
    pytest.param(f'exec {sys.executable} {ROOT}/check_smart_attributes "$@"', 2, id='it-runs'),
    pytest.param('kill -9 $$', 3, id='it-is-killed'), pytest.param(None, 3, id='it-is-not-installed')])
def test_the_shipped_file_prints_services_and_exits_with_0(tmp_path, program, state):
    """An agent runs it without options, with a PATH of its own."""
    if program:
        (tmp_path / 'check_smart_attributes').write_text(f'#!/bin/sh\n{program}\n')
        (tmp_path / 'check_smart_attributes').chmod(0o755)
    done = subprocess.run([ROOT / 'contrib/checkmk/smart', '--report', drive_path('hgst-failed')], text=True,
                          capture_output=True, timeout=60, env={'PATH': f'{tmp_path}:/usr/bin:/bin'})

    assert done.returncode == 0
    assert services(done.stdout)['SMART'].state == state


@pytest.mark.parametrize('words, expected', [
    (['--format', 'checkmk'], True), (['-v', '--format=checkmk'], True), (['--f', 'checkmk'], True),
    (['--format', 'nagios', 'checkmk'], False), (['--format'], False), (['--', 'checkmk'], False), ([], False),
    (['validate', '--format', 'checkmk'], False), (['--formats', 'checkmk'], False)])
def test_a_command_line_asks_for_lines_of_checkmk(words, expected):
    """A check alone prints them; validate has an option of this name, too."""
    assert main.wants_checkmk(words) is expected
