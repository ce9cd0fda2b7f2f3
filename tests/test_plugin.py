"""The plugin as a daemon runs it: a process with arguments, an exit status and a text."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import abilities
import pytest
from conftest import ROOT, Result, drive, perfdata, run
from fake_smartctl import DIES, IGNORES_SIGTERM, FakeSmartctl

from smart_attributes import VERSION
from smart_attributes.reading.smartctl_calls import SCAN, read_arguments

pytestmark = pytest.mark.libraries


def scan_of(*devices: dict[str, str]) -> str:
    """Return what smartctl's scan prints of these devices."""
    smartctl = {
        'version': [7, 3],
        'argv': ['smartctl', '--json=c', '--scan'],
        'exit_status': 0,
    }
    document = {'json_format_version': [1, 0], 'smartctl': smartctl, 'devices': devices}
    return json.dumps(document)


def refusal(text: str, severity: str = 'error') -> str:
    """Return smartctl's JSON without a drive: it could not be opened, or is asleep."""
    messages = [{'string': text, 'severity': severity}]
    smartctl = {'version': [7, 3], 'exit_status': 2, 'messages': messages}
    return json.dumps({'json_format_version': [1, 0], 'smartctl': smartctl})


EMPTY_SLOT = refusal(
    'Smartctl open device: /dev/bus/0 [megaraid_disk_01] failed: INQUIRY failed'
)


def check(fake: FakeSmartctl, *arguments: str):
    return run('-p', fake.path, '--nosudo', *arguments)


def of_sda(fake: FakeSmartctl, name: str, *arguments: str):
    """Run a check of one recorded drive."""
    fake.answers(read_arguments('/dev/sda'), drive(name))
    return check(fake, '-d', '/dev/sda', *arguments)


def test_a_healthy_drive_is_ok_with_its_readings_in_one_line(fake):
    """The line says what a person would ask first: how worn, how warm, how old."""
    result = of_sda(fake, 'intel-s3500-healthy')

    assert result.code == 0
    assert result.first_line.startswith('SMART OK - most worn: sda ')
    assert result.line_of('sda').startswith(
        'OK        sda  INTEL SSDSC2BB240G4  endurance_used 12 %; '
    )
    assert result.line_of('sda').endswith('  EXAMPLE0001  firmware D2010370')
    assert perfdata(result.text)['sda_endurance_used'] == (12, '%', '85', '95', '0', '')


@pytest.mark.parametrize(
    'arguments, word',
    [
        (['--no-such-option'], '--no-such-option'),
        (['-w', 'endurance=80'], '"endurance"'),
        (['-c', 'endurance_used=90:80'], '"90:80"'),
        (['--ignore-metric', 'wear'], '"wear"'),
        (['-d', 'sda'], 'sda'),
        (['-d', '/dev/sda; rm -rf /'], '/dev/sda; rm'),
        (['stray'], 'stray'),
    ],
    ids=lambda value: ' '.join(value) if isinstance(value, list) else None,
)
def test_a_usage_error_is_one_sentence_and_unknown(fake, arguments, word):
    """argparse would leave with 2, which a daemon takes for CRITICAL."""
    result = check(fake, '-d', '/dev/sda', *arguments)

    assert result.code == 3
    assert result.first_line.startswith('SMART UNKNOWN - ')
    assert word in result.first_line
    assert len(result.text.splitlines()) == 1


@pytest.mark.parametrize(
    'options, code, words',
    [
        ('--no-drives=ok', 0, 'SMART OK - no drives: '),
        ('', 3, 'SMART UNKNOWN - [no-drives] no drives to check: '),
        ('--expect=0', 0, 'SMART OK - no drives, as '),
        (
            '--expect=1 --no-drives=ok',
            2,
            'SMART CRITICAL - [too-few-drives] expected 1 drive, found 0 (none)',
        ),
    ],
)
def test_a_machine_without_drives_may_be_well(fake, options, code, words):
    """One service for all machines; the virtual ones among them have no drives.

    What counts drives counts on.
    """
    fake.answers(SCAN, scan_of())

    result = check(fake, *options.split())

    assert result.code == code
    assert result.first_line.startswith(words)


@pytest.mark.parametrize(
    'options',
    [
        ['--match', 'typo'],  # pattern
        ['-d', 'megaraid,0-1@/dev/bus/0'],  # slots
    ],
)
def test_drives_that_nobody_looked_for_are_no_machine_without_drives(fake, options):
    """A mistyped pattern or bus number must not look like health."""
    devices = [{'name': f'/dev/sd{x}', 'type': 'sat', 'protocol': 'ATA'} for x in 'abc']
    fake.answers(SCAN, scan_of(*devices))
    for letter in 'abc':
        fake.answers(read_arguments(f'/dev/sd{letter}'), drive('intel-worn'))
    for slot in (0, 1):
        fake.answers(read_arguments('/dev/bus/0', f'megaraid,{slot}'), EMPTY_SLOT, 2)

    result = check(fake, '--no-drives', 'ok', *options)

    assert (result.code, result.first_line[:40]) == (
        3,
        'SMART UNKNOWN - [no-drives] no drives to',
    )


@pytest.mark.xdist_group('time')
@pytest.mark.parametrize(
    'how, word',
    [
        ({'before': 'sleep 5'}, 'within 1 s'),
        ({'before': IGNORES_SIGTERM}, 'within 1 s'),
        ({'before': DIES}, 'signal 11'),
        ({'output': b'{"smartctl": {"version": [7'}, 'JSON'),
        ({'output': b''}, 'nothing'),
        ({'output': b'Welcome to smartctl-wrapper\n'}, 'report'),
        ({'output': b'[1, 2]'}, 'report'),
    ],
)
def test_a_smartctl_that_misbehaves_costs_only_its_own_drive(fake, how, word):
    """The other drive is reported, nobody waits."""
    fake.answers(read_arguments('/dev/sda'), drive('intel-worn'))
    fake.answers(read_arguments('/dev/sdb'), **how)

    result = check(fake, '-d', '/dev/sda', '-d', '/dev/sdb', '--drive-timeout', '1')

    assert result.code == 3
    assert result.line_of('sda').startswith('WARNING')
    assert word in result.line_of('sdb')


def test_a_limit_on_the_command_line_beats_the_shipped_one(fake):
    """The perfdata carries the limit that was used."""
    result = of_sda(
        fake, 'intel-s3500-healthy', '-w', 'endurance_used=5', '-c', 'endurance_used=10'
    )

    assert result.first_line.startswith(
        'SMART CRITICAL - sda: used write endurance 12 % (critical above 10)'
    )
    assert perfdata(result.text)['sda_endurance_used'][2:4] == ('5', '10')


@pytest.mark.parametrize(
    'date, is_used',
    [
        ('2999-01-01', True),  # newer
        ('2020-01-01', False),  # older
    ],
)
def test_a_newer_database_in_the_configuration_folder_replaces_the_shipped_one(
    fake, tmp_path, date, is_used
):
    """Between two releases; left behind for years, it must not hold back what is known today."""
    data = json.loads((ROOT / 'attributes.json').read_text())
    (tmp_path / 'attributes.json').write_text(json.dumps({**data, 'date': date}))
    fake.answers(read_arguments('/dev/sda'), drive('intel-worn'))

    result = check(fake, '-d', '/dev/sda', '--config', str(tmp_path), '-v')

    assert (f'attributes.json of {date}' in result.text) is is_used


def many(folder: Path, drives: int) -> Result:
    """Return the answer for so many failing drives."""
    for number in range(drives):
        report = json.loads(drive('seagate-exos-failing'))
        report['serial_number'] = f'EXAMPLE{number:04d}'
        (folder / f'{number}.json').write_text(json.dumps(report))
    return run('--report', str(folder))


LIMIT = 65000  # bytes; NRPE passes 65,505, tried


def test_perfdata_of_300_drives_is_reduced_by_us_and_says_so(tmp_path):
    """A daemon would cut it in the middle of a value and say nothing."""
    result = many(tmp_path, 300)

    values = perfdata(result.text)
    left_out = re.search(r'; perfdata for (.+?); split ', result.text)
    assert len(values) + 300 * len(left_out.group(1).split(', ')) == 2700
    assert LIMIT - 1000 < len(result.text.encode()) <= LIMIT
    assert sum(line.startswith('CRITICAL') for line in result.text.splitlines()) > 10


@pytest.mark.parametrize(
    'report', ['intel-worn.json', 'seagate-sas-healthy.txt', 'nvme-worn.json']
)
def test_what_smartctl_said_is_shown_without_serials_as_well(fake, report):
    """-vvv is for tickets, and so is --hide-serial."""
    fake.answers(
        read_arguments('/dev/sda'), (ROOT / 'tests/reports' / report).read_text()
    )

    told = {
        word: check(fake, '-d', '/dev/sda', '-vvv', *word.split()).text
        for word in ('', '--hide-serial')
    }
    assert ['EXAMPLE00' in text for text in told.values()] == [True, False]
    assert all(' '.join(read_arguments('/dev/sda')) in text for text in told.values())
    assert all('model_name' in text or 'Product: ' in text for text in told.values())


def test_the_launcher_runs_from_any_folder_through_a_link(tmp_path):
    """Plugins are linked into Icinga's plugin folder."""
    link = tmp_path / 'check_smart_attributes'
    link.symlink_to(ROOT / 'check_smart_attributes')
    done = subprocess.run(
        [sys.executable, '-I', str(link), '-V'], cwd='/', capture_output=True, text=True
    )

    assert done.returncode == 0
    assert done.stdout.startswith(f'check_smart_attributes {VERSION}')


@pytest.mark.parametrize(
    'command',
    [[], ['-vv'], ['triage'], ['explain']],
    ids=lambda words: ' '.join(words) or 'check',
)
@pytest.mark.parametrize('output', ['no-reader', 'full', 'none'])
def test_an_output_that_cannot_be_written_ends_quietly_with_3(command, output):
    """`triage | head -1`, a full disk, no standard output: no traceback, and never 0."""
    command = [
        sys.executable,
        '-I',
        f'{ROOT}/check_smart_attributes',
        *command,
        '--report',
        f'{ROOT}/tests/reports/intel-s3500-healthy.json',
    ]
    reader, writer = os.pipe()
    os.close(reader)  # before anything is started, so that nothing has to be waited for
    with open(writer, 'wb'), open('/dev/full', 'wb') as full:
        done = subprocess.run(
            command
            if output != 'none'
            else ['/bin/sh', '-c', 'exec "$@" >&-', 'sh', *command],
            stdout=full if output == 'full' else writer,
            stderr=subprocess.PIPE,
            text=True,
        )

    assert (done.returncode, done.stderr) == (3, '')


@pytest.mark.skipif(
    not abilities.IS_ROOT, reason='only root must not run what others can change'
)
def test_root_does_not_run_a_smartctl_of_somebody_else(fake):
    """A plugin option must not become a way to run anything as root."""
    fake.answers(read_arguments('/dev/sda'), drive('intel-worn'))
    os.chown(fake.path, 65534, 65534)

    result = check(fake, '-d', '/dev/sda')

    assert result.code == 3
    assert 'belong to root' in result.first_line
    assert fake.calls() == []
