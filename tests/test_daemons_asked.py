"""What Icinga 2, NRPE and Nagios say is understood; test_doctor_breakages asks the real ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from smart_attributes.daemons import checks, icinga, nagios
from smart_attributes.daemons.checks import SHELL, DaemonCheck
from smart_attributes.doctor import daemon_checks

PLUGIN = '/usr/lib/nagios/plugins/check_smart_attributes'
COMMAND = {
    'command': [PLUGIN],
    'arguments': {
        '--device': {'value': '$smart_attributes_device$'},
        '--scan': {'set_if': '$smart_attributes_scan$'},
        '--expect': '$smart_attributes_expect$',
        '--names': {'value': '$names$', 'repeat_key': False, 'order': -1},
        'last': {'value': '$host.name$ of $site$', 'skip_key': True, 'order': 1},
    },
}


@pytest.mark.parametrize(
    'values, words',
    [
        ({}, []),
        (
            {'smart_attributes_device': ['/dev/sda', 'x']},
            ['--device', '/dev/sda', '--device', 'x'],
        ),
        (
            {'smart_attributes_scan': True, 'smart_attributes_expect': 3},
            ['--scan', '--expect', '3'],
        ),
        ({'smart_attributes_scan': False, 'names': ['a', 'b']}, ['--names', 'a', 'b']),
        ({'host.name': 'web1', 'site': 'x'}, ['web1 of x']),
    ],
)
def test_arguments_are_those_that_icinga_would_give(values, words):
    """doc/03-monitoring-basics.md of Icinga 2: arrays repeat the key, a macro without a value drops it."""
    assert icinga.line_of(COMMAND, values) == [PLUGIN, *words]


def dumped(folder: Path, **service: Any) -> icinga.Objects:
    """Return the objects of a file such as Icinga writes, with one host and its service."""
    place = {'debug_info': ['/etc/icinga2/conf.d/x.conf', 3, 1, 3, 9]}
    variables = {
        name: {'messages': [['=', '/x.conf', 7, 1, 7, 9]]}
        for name in service.get('vars', ())
    }
    values = {
        '__name': 'web1!smart',
        'host_name': 'web1',
        'check_command': 'c',
        'command_endpoint': '',
        **service,
    }
    objects = [
        {'type': 'CheckCommand', 'name': 'c', 'properties': {**COMMAND, 'timeout': 60}},
        {
            'type': 'Host',
            'name': 'web1',
            'properties': {'name': 'web1', 'vars': None},
            **place,
        },
        {
            'type': 'Service',
            'name': 'smart',
            'properties': values,
            'debug_hints': {'properties': {'vars': {'properties': variables}}},
            **place,
        },
    ]
    for name, content in (
        ('debug', objects),
        ('vars', [{'name': 'NodeName', 'value': 'web1'}]),
    ):
        texts = [json.dumps(each) for each in content]
        (folder / f'icinga2.{name}').write_text(
            ''.join(f'{len(text)}:{text},' for text in texts)
        )
    return icinga.objects_in(str(folder))


@pytest.mark.parametrize(
    'endpoint, runs', [('', True), ('web1', True), ('agent2', False)]
)
def test_only_services_of_this_node_are_run_here(tmp_path, endpoint, runs):
    assert bool(dumped(tmp_path, command_endpoint=endpoint).services) == runs


def test_a_misspelt_variable_is_corrected_in_its_line(tmp_path):
    known = {
        'smart_attributes_device': '/dev/sda',
        'smart_atributes_scan': True,
        'disks': {},
    }

    [finding] = icinga.findings(dumped(tmp_path, vars=known))

    assert finding.fields == {
        'name': 'smart_atributes_scan',
        'right': 'smart_attributes_scan',
        'file': '/x.conf',
        'line': 7,
    }


def test_variables_of_icinga_are_case_sensitive(tmp_path):
    assert not [*icinga.findings(dumped(tmp_path, vars={'SMART_ATTRIBUTES_DEVICE': 1}))]


REFUSALS = {
    'critical/config: Error: syntax error, unexpected T_IDENTIFIER\nLocation: in /x.conf: 3:1-3:9': 'icinga-refuses',
    "critical/config: Error: Object 'check-smart-atributes' of type 'CheckCommand' does not exist.\n"
    'Location: in /x.conf: 3:1-3:9': 'icinga-command-misspelt',
    "critical/config: Error: Object 'check-smart-attributes' of type 'CheckCommand' re-defined: in /x.conf: 3:1\n"
    'Location: in /x.conf: 3:1-3:9': 'icinga-command-twice',
}


@pytest.mark.parametrize('printed, code', REFUSALS.items(), ids=REFUSALS.values())
def test_what_icinga_refuses_is_named_with_its_file(printed, code):
    finding = icinga.refusal(printed)

    assert (finding.code, finding.fields['file']) == (code, '/x.conf')


def configured(
    root: Path, monkeypatch: pytest.MonkeyPatch, **texts: str
) -> list[DaemonCheck]:
    """Return the checks of an NRPE with these files."""
    (root / 'etc/nagios/nrpe.d').mkdir(parents=True)
    for name, text in texts.items():
        (root / f'etc/nagios/{name.replace("_", "/")}.cfg').write_text(text)
    monkeypatch.setattr(checks, 'ROOT', str(root))
    return nagios.nrpe_checks(nagios.nrpe())


def test_nrpe_runs_the_last_definition_with_its_prefix_as_its_user(
    tmp_path, monkeypatch
):
    [check] = configured(
        tmp_path,
        monkeypatch,
        nrpe=f'nrpe_user=icinga\ncommand_prefix=/bin/nice\ncommand[a]={PLUGIN} --a\ncommand[b]=/bin/true\n'
        'include=/etc/nagios/nrpe.cfg\ninclude_dir=/etc/nagios/nrpe.d/\n',
        **{
            'nrpe.d_x': f'# command_timeout=9\ncommand_timeout = 20\ncommand[a]={PLUGIN} --b -t 30\n'
        },
    )

    assert check.line == (SHELL, '-c', f'/bin/nice {PLUGIN} --b -t 30')
    assert (check.user, check.file, check.number) == (
        'icinga',
        '/etc/nagios/nrpe.d/x.cfg',
        3,
    )
    assert (check.seconds, check.own_limit, check.program_index) == (20, 30, 1)


def check(text: str = PLUGIN, **more: Any) -> DaemonCheck:
    usual = {
        'daemon': 'NRPE',
        'name': 'x',
        'user': 'nagios',
        'line': (SHELL, '-c', text),
    }
    return DaemonCheck(
        **{**usual, 'file': '/x.cfg', 'number': 4, 'unit': 'nrpe', **more}
    )


LIMITS = {
    'fits': ([check()], ['time-limit-fits']),
    'short': ([check(seconds=30)], ['time-limit-too-short']),
    'fits-with-t': ([check(f'{PLUGIN} -t 25', seconds=30)], ['time-limit-fits']),
    'one-of-two': (
        [check(f'{PLUGIN} -t 25', seconds=30), check(seconds=30)],
        ['time-limit-too-short'],
    ),
    't-too-long': ([check(f'{PLUGIN} -t 120')], ['time-limit-too-short']),
    'no-daemon': ([], ['time-limit-usual']),
}


@pytest.mark.parametrize('daemons, codes', LIMITS.values(), ids=LIMITS)
def test_a_daemon_that_ends_a_check_too_early_is_named(daemons, codes):
    """Otherwise no drive is reported."""
    assert [each.code for each in daemon_checks.limits(daemons, 55)] == codes


def test_a_check_that_nobody_looked_at_is_not_called_good_by_silence():
    assert daemon_checks.limits([], 90)[0].code == 'time-limit-too-long'


@pytest.mark.parametrize(
    'text, printed, is_cut, code',
    [
        (PLUGIN, 8192, False, 'output-fits'),
        (PLUGIN, 8193, False, 'output-too-long'),
        (f'{PLUGIN} --max-output 8000', 8193, False, 'output-fits'),
        (PLUGIN, 64900, True, 'output-left-out'),
    ],
)
def test_the_limit_of_the_whole_path_is_told(text, printed, is_cut, code):
    """Nagios keeps 8,192 bytes of what check_nrpe prints: 65,000 was said, and perfdata were cut."""
    assert daemon_checks.output([check(text)], printed, is_cut).code == code
