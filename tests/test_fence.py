"""The fence around each drive: whatever its report makes of our code, its neighbors are reported
as usual.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import ROOT

from smart_attributes import main
from smart_attributes.check import fence, history_access, judging
from smart_attributes.commands import list as drive_list
from smart_attributes.model import Device, Identity, State, Verdict
from smart_attributes.output import (
    explain,
    json_document,
    metrics,
    metrics_document,
    plugin,
    triage_table,
)
from smart_attributes.reading import text_report
from smart_attributes.redundancy import dependence
from smart_attributes.work import work_list

FAILED, OTHER = 'hgst-failed', 'intel-s3500-healthy'
LINE = 'inside check_smart_attributes; please report this with the output of: smartctl --json -x'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A failed drive, and another one that something happens to."""
    for name, source in (('bad', FAILED), ('odd', OTHER)):
        (tmp_path / f'{name}.json').write_bytes(
            (ROOT / f'tests/reports/{source}.json').read_bytes()
        )
    return tmp_path


def run(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main.run(list(words))
    return code, capsys.readouterr().out


READ, JUDGED = (text_report, 'parse_report'), (judging, 'judge')
REMEMBERED = (history_access.Remembered, 'notes')
COMMANDS = {
    'check': (),
    'triage': ('triage',),
    'json': ('triage', '--json'),
    'explain': ('explain',),
    'list': ('list',),
    'metrics': ('metrics',),
    'zabbix': ('metrics', '--json'),
}


@pytest.mark.parametrize(
    'place, command',
    [
        pytest.param(place, command, id=f'{name}-{command}')
        for name, place in (
            ('reading', READ),
            ('judging', JUDGED),
            ('remembering', REMEMBERED),
        )
        for command in COMMANDS
        if (name, command) != ('judging', 'list')
    ],
)  # it judges no drive
def test_a_fault_of_ours_in_one_drive_changes_nothing_about_another(
    place, command, folder, monkeypatch, capsys
):
    """At each stage, in each output."""
    module, name = place
    work = getattr(module, name)

    def broken(*arguments, **named):
        if any('EXAMPLE0001' in repr(each) for each in arguments) or arguments[:1] == (
            odd,
        ):
            raise ZeroDivisionError
        return work(*arguments, **named)

    odd = (folder / 'odd.json').read_bytes()
    monkeypatch.setattr(module, name, broken)

    code, text = run(*COMMANDS[command], '--report', str(folder), capsys=capsys)

    assert 'bad' in text and 'HGST HUS724020ALA640' in text
    assert 'SMART UNKNOWN - [internal-error]' not in text
    if command == 'check':
        assert (code, text[:22]) == (2, 'SMART CRITICAL - bad: ')
        assert any(
            line.startswith('UNKNOWN')
            and ' odd ' in line
            and '; [investigate] please report this ' in line
            for line in text.splitlines()
        )
    if command == 'json':
        states = {
            drive['name']: (drive['state'], drive['code'])
            for drive in json.loads(text)['drives']
        }
        assert states == {
            'bad': ('CRITICAL', None),
            'odd': ('UNKNOWN', 'internal-error'),
        }


@pytest.mark.parametrize(
    'command, module, name',
    [
        ('check', plugin, 'drive_lines'),
        ('triage', triage_table, '_row'),
        ('json', json_document, '_drive'),
        ('metrics', metrics, '_of_readings'),
        ('zabbix', metrics_document, '_drive'),
        ('list', drive_list, 'as_text'),
        ('explain', explain, 'head'),
    ],
)
def test_a_drive_that_cannot_be_shown_is_unknown_and_the_others_are_shown(
    command, module, name, folder, monkeypatch, capsys
):
    """Its state is part of the output, and so is that of the failed drive beside it."""
    work = getattr(module, name)

    def broken(*arguments, **named):
        found = [
            each
            for argument in arguments
            for each in (argument if isinstance(argument, (list, tuple)) else ())
        ]
        if any(
            isinstance(each, Verdict) and each.device.name == 'odd' and not each.problem
            for each in (*arguments, *found)
        ):
            raise ZeroDivisionError
        return work(*arguments, **named)

    monkeypatch.setattr(module, name, broken)
    monkeypatch.setenv('COLUMNS', '400')

    code, text = run(*COMMANDS[command], '--report', str(folder), capsys=capsys)

    assert 'HGST HUS724020ALA640' in text and code == (2 if command == 'check' else 0)
    if command not in ('metrics', 'list'):
        assert 'ZeroDivisionError inside check_smart_attributes' in ' '.join(
            text.split()
        )
    if command == 'check':
        assert text.startswith('SMART CRITICAL - bad: ')


@pytest.mark.parametrize(
    'command', ['check', 'triage', 'json', 'explain', 'metrics', 'zabbix']
)
def test_a_fault_of_ours_in_the_action_of_one_drive_takes_none_from_another(
    command, folder, monkeypatch, capsys
):
    """Not even the groups, which depend on the actions of all drives.

    Of a drive that is OK, a check decides none.
    """
    own = work_list._own_needs

    def broken(verdict, *facts):
        if verdict.device.name == 'odd' and not verdict.problem:
            raise ZeroDivisionError
        return own(verdict, *facts)

    monkeypatch.setattr(work_list, '_own_needs', broken)
    monkeypatch.setenv('COLUMNS', '400')

    _, text = run(*COMMANDS[command], '--report', str(folder), capsys=capsys)

    assert (
        'HGST HUS724020ALA640' in text
        and 'SMART UNKNOWN - [internal-error]' not in text
    )
    assert ('action: ZeroDivisionError inside ' in ' '.join(text.split())) is (
        command in ('triage', 'json', 'explain', 'zabbix')
    )


@pytest.mark.parametrize(
    'command', ['check', 'triage', 'json', 'explain', 'metrics', 'zabbix']
)
@pytest.mark.parametrize(
    'error, code',
    [(ZeroDivisionError(), 'internal-error'), (SyntaxError(), 'plugin-damaged')],
    ids=str,
)
def test_a_fault_of_ours_in_the_groups_hides_no_failed_drive(
    command, error, code, folder, monkeypatch, capsys
):
    """The groups only add to the verdicts, which stay as they are; a remark tells what is
    missing.
    """

    def broken(*_):
        raise error

    monkeypatch.setattr(dependence, 'listed', broken)

    status = main.run([*COMMANDS[command], '--report', str(folder)])
    printed = capsys.readouterr()

    assert (
        status == (2 if command == 'check' else 0)
        and 'HGST HUS724020ALA640' in printed.out
    )
    said = ' '.join((printed.out + printed.err).split())
    assert f': {type(error).__name__} in' in said
    if command == 'check':
        assert printed.out.startswith('SMART CRITICAL - bad: ')
    if command in ('json', 'zabbix'):
        assert json.loads(printed.out)['remarks'][0]['code'] == code


@pytest.mark.parametrize(
    'content, code, words',
    [
        (b'sma\0rtctl 7.3 x', 3, 'report-without-data'),
        (b'{"json_format_version": [1', 3, 'report-damaged'),
        (b'smart', 3, ''),
        (b'', 3, 'report-empty'),
        (b'call the vendor', 0, ' report: x.txt'),
        (b'{"a": 1}', 0, ' report: x.txt'),
    ],
    ids=str,
)
def test_a_file_that_was_meant_as_a_report_is_never_left_out(
    content, code, words, tmp_path, capsys
):
    """It may be the one of a failing drive."""
    (tmp_path / 'good.json').write_bytes(
        (ROOT / f'tests/reports/{OTHER}.json').read_bytes()
    )
    (tmp_path / 'x.txt').write_bytes(content)

    result, text = run('--report', str(tmp_path), '-v', capsys=capsys)

    assert (result, words in text) == (code, True)


@pytest.mark.parametrize(
    'before, after',
    [
        (State.CRITICAL, State.CRITICAL),
        (State.WARNING, State.UNKNOWN),
        (State.OK, State.UNKNOWN),
    ],
)
def test_a_drive_that_fails_us_keeps_its_worst_state(before, after):
    verdict = Verdict(Device('/dev/sda'), Identity(model='X1'), before)
    found = fence.failed(verdict, ZeroDivisionError(), 'cannot be shown')

    assert found.problem.startswith('is CRITICAL, but ') is (after is State.CRITICAL)
    assert 'cannot be shown: ' in found.problem
    assert found._replace(problem='', step='') == verdict._replace(
        state=after, code='internal-error'
    )


def test_each_drive_is_shown_alone():
    def show(drives: Sequence[str]) -> str:
        if 'odd' in drives:
            raise ZeroDivisionError
        return ' '.join(drives)

    found = fence.shown(('odd', 'good'), show, lambda drive, error: f'{drive}: failed')

    assert found == ('odd: failed good', ('odd: failed', 'good'))
