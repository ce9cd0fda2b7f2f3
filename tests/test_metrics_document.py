"""The JSON of `metrics --json`, and the Zabbix template and the agent's file that depend on it."""

import json
import re
import shlex
from typing import Any

import pytest
from cases import cases
from conftest import ROOT, run
from days import DAY, START, Machine, disk

from smart_attributes.commands import table
from smart_attributes.errors import Coded
from smart_attributes.model import (
    Device,
    Identity,
    Judgement,
    Reading,
    Source,
    State,
    Verdict,
)
from smart_attributes.output import metrics_document
from smart_attributes.output.plugin import Outcome

REPORTS = str(ROOT / 'tests/reports')
TEMPLATE = (ROOT / 'contrib/zabbix/check-smart-attributes.yaml').read_text()
AGENT = (ROOT / 'contrib/zabbix/check-smart-attributes.conf').read_text()


@pytest.fixture(scope='module')
def sample() -> dict[str, Any]:
    """The document of the sample drives."""
    found: dict[str, Any] = json.loads(
        run('metrics', '--json', '--report', REPORTS).text
    )
    return found


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


def at(machine: Machine, now: float, *options: str) -> dict[str, Any]:
    """Return the document of a machine at a time."""
    found: dict[str, Any] = json.loads(
        machine.run(now, 'metrics', '--json', '--scan', *options).text
    )
    return found


# --- what is in it -------------------------------------------------------------------------------


def test_the_first_line_is_that_of_a_check(sample):
    assert sample['summary'] == run('--report', REPORTS).text.splitlines()[0]


def test_a_drive_that_is_gone_is_a_problem_of_its_own(machine):
    machine.holds(sda=disk(), sdb=disk('SERIAL02'))
    before = at(machine, START)['run']
    machine.holds(sda=disk())
    after = at(machine, START + DAY, '--missing', 'critical')

    assert (before, after['run']) == (
        'OK: 2 drives: 2 ok',
        'OK: 2 drives: 1 critical, 1 ok',
    )
    assert [
        (drive['id'], drive['state'], drive['action']) for drive in after['drives']
    ] == [
        ('SERIAL02', 'CRITICAL', 'search'),
        ('SERIAL01', 'OK', 'nothing'),
    ]


def test_several_drives_that_are_gone_are_a_problem_of_the_run(machine):
    machine.holds(sda=disk(), sdb=disk('SERIAL02'), sdc=disk('SERIAL03'))
    machine.check(START, '--scan')
    machine.holds(sda=disk())

    assert at(machine, START + DAY)['run'].startswith('CRITICAL: [drives-missing] ')


def test_a_machine_without_drives_says_so(machine):
    document = at(machine, START)

    assert document['run'].startswith('UNKNOWN: [no-drives] ')
    assert (document['state'], document['drives']) == ('UNKNOWN', [])


def test_a_failure_is_a_document_without_drives():
    """The template takes it for a failure, not for drives that are gone."""
    document = json.loads(run('metrics', '--json', '-p', '/nonexistent').text)

    assert (document['code'], document['drives'], 'run' in document) == (
        'smartctl-missing',
        [],
        False,
    )


@pytest.mark.parametrize(
    'hide, key, known',
    [(False, 'S1', {'model': 'M1', 'serial': 'S1'}), (True, 'sda', {'model': 'M1'})],
    ids=['shown', 'hidden'],
)
def test_the_document_has_the_drives_worst_first_and_their_values_in_one_list(
    hide, key, known
):
    reading = Judgement(
        Reading('temperature', 30.0, 'C', Source('')), State.OK, graphed=True
    )
    gone = {'problem': 'gone', 'code': 'no-such-device'}
    verdicts = [
        Verdict(
            Device('/dev/sda', name='sda'),
            Identity(model='M1', serial='S1'),
            State.OK,
            (reading,),
        ),
        Verdict(Device('/dev/sdb', name='sdb'), Identity(), State.UNKNOWN, **gone),
    ]
    text = metrics_document.as_text(
        cases(verdicts, START, hide),
        Outcome('first line\nsecond', State.UNKNOWN),
        of_itself=State.WARNING,
        problems=['p', 'q'],
        remarks=[Coded('result-old', 'r')],
        host='host',
        now=START + 0.7,
    )

    document = json.loads(text)
    assert text == json.dumps(document, separators=(',', ':'))
    assert document.pop('drives') == [
        {
            'id': 'sdb',
            'name': 'sdb',
            'title': 'sdb',
            'state': 'UNKNOWN',
            'text': 'UNKNOWN: [no-such-device] gone; [search] look for the drive',
            'action': 'search',
            'to_do': 'look for the drive',
            'also': [],
        },
        {
            'id': key,
            'name': 'sda',
            'title': 'sda M1',
            **known,
            'state': 'OK',
            'text': 'OK: temperature 30 C',
            'action': 'nothing',
            'to_do': 'nothing',
            'also': [],
        },
    ]
    assert document.pop('readings') == [
        {
            'id': f'{key} temperature',
            'drive': key,
            'name': 'sda',
            'metric': 'temperature',
            'value': 30,
            'unit': 'C',
        }
    ]
    assert document == {
        'version': 2,
        'state': 'UNKNOWN',
        'summary': 'first line',
        'run': 'WARNING: p; q',
        'host': 'host',
        'remarks': [{'code': 'result-old', 'text': 'r'}],
        'unread': 1,
        'made': int(START),
    }


# --- keys of drives ------------------------------------------------------------------------------


def seen(name: str, serial: str = '', before: str = '') -> Verdict:
    return Verdict(
        Device(f'/dev/{name}', name=name),
        Identity(serial=serial),
        State.OK,
        last_seen=Identity(serial=before) if before else None,
    )


@pytest.mark.parametrize(
    'verdicts, hide, keys',
    [
        pytest.param(
            [seen('sda', 'S1'), seen('sdb', 'S2')],
            False,
            ['S1', 'S2'],
            id='serial-numbers',
        ),
        pytest.param(
            [seen('sda', 'S1'), seen('sdb', 'S2')], True, ['sda', 'sdb'], id='hidden'
        ),
        pytest.param(
            [seen('sda', '000'), seen('sdb', '000'), seen('sdc', 'S3')],
            False,
            ['sda', 'sdb', 'S3'],
            id='shared',
        ),
        pytest.param(
            [seen('sda'), seen('sdb', before='S2')], False, ['sda', 'S2'], id='not-read'
        ),
        pytest.param(
            [seen('sde'), seen('sdf', 'sde'), seen('sdg', 'device:sde')],
            False,
            ['device:sde', 'sde', 'device_sde'],
            id='a-name-that-is-a-serial-number',
        ),
        pytest.param(
            [seen('sda', "x'] y"), seen('bus,1')],
            False,
            ['x__y', 'bus_1'],
            id='characters',
        ),
    ],
)
def test_a_key_stays_with_its_drive_and_needs_no_quotes(verdicts, hide, keys):
    """It is part of keys and paths of Zabbix, where a quote of a hostile drive would end a
    string.
    """
    found = metrics_document.ids(cases(verdicts, START, hide))

    assert [found[verdict.device] for verdict in verdicts] == keys


# --- what depends on it --------------------------------------------------------------------------


@pytest.mark.parametrize(
    'pattern, keys',
    [
        (r'- \$\.(\w+)$', lambda sample: sample),
        (r"'\$\.(\w+)\[\*\]", lambda sample: sample),
        (
            r'\)\]\.(\w+)\.first',
            lambda sample: {**sample['drives'][0], **sample['readings'][0]},
        ),
        (r'drives\[i\]\.(\w+)', lambda sample: sample['drives'][0]),
        (
            r'path: \$\.(\w+)',
            lambda sample: {**sample['drives'][0], **sample['readings'][0]},
        ),
    ],
)
def test_each_path_of_the_template_exists(sample, pattern, keys):
    """A renamed key would be an item without values."""
    paths = re.findall(pattern, TEMPLATE, re.MULTILINE)

    assert paths
    assert [path for path in paths if path not in keys(sample)] == []


def test_the_template_has_no_list_of_metrics_and_no_limits(sample):
    """Both are the plugin's: a graphed metric of a site is an item without a change here."""
    assert [
        each['metric'] for each in sample['readings'] if each['metric'] in TEMPLATE
    ] == []
    assert set(re.findall(r"expression: '(\w+)", TEMPLATE)) == {'find', 'nodata'}


def test_no_two_parts_of_the_template_have_one_uuid():
    """Zabbix finds by it what an import has to update."""
    uuids = re.findall(r'uuid: (\w+)', TEMPLATE)

    assert len(uuids) == len(set(uuids)) > 20
    assert [
        each
        for each in uuids
        if not re.fullmatch('[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}', each)
    ] == []


def test_the_command_of_the_agent_is_one_of_ours_and_ends_in_time():
    """The agent waits at most 30 seconds, and what it ends itself says nothing."""
    key, _, command = AGENT.splitlines()[-1].partition('=')[2].partition(',')
    options = table.understood(shlex.split(command)[1:])[1]

    assert f'key: {key}\n' in TEMPLATE
    assert 'Timeout=30' in AGENT.splitlines()
    assert options.own.as_json and options.history.access == 'writes'
    assert options.history.missing is State.CRITICAL  # --missing critical
    assert (
        options.how_read.timeout <= 25
        and options.state_dir
        and options.history.history_required is State.WARNING
    )
