"""Exactly one JSON document comes out of a command with --json, however the command ends."""

import json
import signal
from typing import Any, Callable

import pytest

from smart_attributes import alarm, main
from smart_attributes.command_line import failure_document

VERSION = json.loads(main.failure(['triage', '--json'], ''))['version']


def printing(text: str, code: int = 0) -> Callable[[], int]:
    def work() -> int:
        print(text, end='')
        return code

    return work


def raising(error: BaseException) -> Callable[[], int]:
    def work() -> int:
        print('{"drives": []}')
        raise error

    return work


def done(work: Callable[[], int], capsys: Any) -> tuple[int, str]:
    """Return exit status and output; a failure is its sentence in brackets."""
    code = failure_document.run(work, lambda sentence: f'<{sentence}>')
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    'text, code, output',
    [
        ('{"drives": []}\n', 0, '{"drives": []}\n'),  # document
        ('{}\n', 3, '{}\n'),  # document with a state
        ('{"model": "Ö"}\n', 1, '{"model": "Ö"}\n'),  # not ASCII
        ('one\ntwo\n', 3, '<one; two>\n'),  # lines of a failure
    ],
)
def test_a_document_is_printed_as_it_is_and_lines_of_a_failure_become_one(
    text, code, output, capsys
):
    assert done(printing(text, code), capsys) == (code, output)


def test_a_document_larger_than_the_memory_for_it_is_printed_as_it_is(
    capsys, monkeypatch
):
    """It waits in a temporary file, in which half a character of a file name is no error either."""
    monkeypatch.setattr(failure_document, 'ROOM', 10)

    assert done(printing('{"model": "a long one, Ö, \udc80"}'), capsys) == (
        0,
        '{"model": "a long one, Ö, ?"}',
    )


@pytest.mark.parametrize('code', [0, 1])
def test_lines_of_a_command_without_a_document_are_its_messages(code, capsys):
    """Such as history --remove."""
    status, output = done(
        printing('forgotten: EXAMPLE0001\nnote: it answers\n', code), capsys
    )

    assert status == code
    assert (
        output
        == json.dumps(
            {
                'version': VERSION,
                'state': 'OK',
                'messages': ['forgotten: EXAMPLE0001', 'note: it answers'],
            },
            indent=1,
        )
        + '\n'
    )


@pytest.mark.parametrize(
    'error',
    [ValueError('no'), alarm.TimeIsOver('time was over'), KeyboardInterrupt()],
    ids=lambda error: type(error).__name__,
)
def test_half_a_document_is_not_printed(error, capsys, monkeypatch):
    """The failure, which main prints alone, could not be read after it."""
    monkeypatch.setattr(
        'smart_attributes.commands.table.do', lambda *_: raising(error)()
    )

    assert main.run(['triage', '--json']) == 3
    assert json.loads(capsys.readouterr().out)['state'] == 'UNKNOWN'


@pytest.mark.parametrize(
    'code, output',
    [
        (0, '{"drives": []}\n'),  # help
        (1, ''),  # reader gone
    ],
)
def test_leaving_is_no_failure(code, output, capsys):
    """argparse leaves with 0 after --help, whose text is printed; rich with 1 if nobody reads."""
    with pytest.raises(SystemExit) as leaving:
        failure_document.run(raising(SystemExit(code)), str)

    assert leaving.value.code == code
    assert capsys.readouterr().out == output


def test_no_alarm_interrupts_the_printing(capsys):
    """All is known by then."""
    alarm.arm(60)

    assert done(printing('{}'), capsys) == (0, '{}')
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
