"""What NRPE says is understood; test_doctor_breakages asks the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smart_attributes.daemons import checks, nrpe
from smart_attributes.daemons.checks import SHELL, DaemonCheck
from smart_attributes.doctor import daemon_checks

PLUGIN = '/usr/lib/nagios/plugins/check_smart_attributes'


def configured(root: Path, monkeypatch: pytest.MonkeyPatch, **texts: str) -> list[DaemonCheck]:
    """Return the checks of an NRPE with these files."""
    (root / 'etc/nagios/nrpe.d').mkdir(parents=True)
    for name, text in texts.items():
        (root / f'etc/nagios/{name.replace("_", "/")}.cfg').write_text(text)
    monkeypatch.setattr(checks, 'ROOT', str(root))
    return nrpe.checks(nrpe.configured())


def test_nrpe_runs_the_last_definition_with_its_prefix_as_its_user(tmp_path, monkeypatch):
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
    assert (check.user, check.file, check.number) == ('icinga', '/etc/nagios/nrpe.d/x.cfg', 3)
    assert (check.seconds, check.own_limit, check.place) == (20, 30, 1)


def check(text: str = PLUGIN, **more: Any) -> DaemonCheck:
    usual = {'daemon': 'NRPE', 'name': 'x', 'user': 'nagios', 'line': (SHELL, '-c', text)}
    return DaemonCheck(**{**usual, 'file': '/x.cfg', 'number': 4, 'unit': 'nrpe', **more})


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


@pytest.mark.parametrize(('daemons', 'codes'), LIMITS.values(), ids=LIMITS)
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
