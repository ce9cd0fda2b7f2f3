"""One record per command: what is written down there is found wherever a command is known."""

import json
import re
import signal
import sys
from types import SimpleNamespace

import completion
import described
import man
import pytest

from smart_attributes import main
from smart_attributes.check import history_access
from smart_attributes.check.settings import of_history
from smart_attributes.command_line import option_groups as groups
from smart_attributes.command_line.options import GROUPS, Command, Options, option
from smart_attributes.commands import table
from smart_attributes.typed import NamedTuple


class CountOptions(NamedTuple):
    """The value of the command that the tests add."""

    twice: bool


def count(options: Options, runner: object) -> int:
    """Print what the command was run with.

    In a folder without history a writer makes it, and a reader misses it.
    """
    history = history_access.remembered(of_history(options))
    use = 'writes' if history.read_store() else ''
    if history.trouble:
        use = 'reads'
    print(
        json.dumps(
            {
                'twice': options.own.twice,
                'devices': options.which.devices,
                'has time limit': signal.getitimer(signal.ITIMER_REAL)[0] > 0,
                'history': use,
            }
        )
    )
    return 1


def record(history: str = 'writes', has_time_limit: bool = True) -> Command:
    return Command(
        'count',
        'Count drives.',
        'example:\n  count --twice',
        (groups.DRIVES, groups.READING, groups.COMMON),
        history,
        has_time_limit,
        options=(option('--twice', action='store_true', help='count twice'),),
        values=CountOptions,
    )


@pytest.fixture
def added(request, monkeypatch) -> Command:
    """A command that is written down in the table, and nowhere else."""
    command = record(*getattr(request, 'param', ()))
    others = table.commands()
    monkeypatch.setattr(table, 'commands', lambda: (*others, command))
    monkeypatch.setitem(
        sys.modules, 'smart_attributes.commands.count', SimpleNamespace(run=count)
    )
    return command


def test_a_new_command_is_in_the_help(added, capsys):
    """In that of the check, with its sentence, and in its own, with its options and its example."""
    assert main.run(['--help']) == 0
    of_check = capsys.readouterr().out
    assert main.run([added.name, '--help-all']) == 0
    own = capsys.readouterr().out

    assert re.search('^  count +count drives$', of_check, re.MULTILINE)
    for part in (
        'check_smart_attributes count [options]\n\nCount drives.\n',
        '--twice',
        '--drive-timeout',
        'example:\n  count --twice\n',
    ):
        assert part in own
    assert '--warning' not in own


@pytest.mark.timeout(0)  # its alarm would look like that of a time limit
@pytest.mark.parametrize(
    'added, words',
    [(('writes', True), ['--twice']), (('reads', False), []), (('', True), [])],
    indirect=['added'],
    ids=['writes', 'reads', 'none'],
)
def test_a_new_command_runs_with_its_groups_its_own_value_its_time_limit_and_its_history(
    added, words, capsys, tmp_path
):
    """As its record says."""
    code = main.run(
        [added.name, '-d', '/dev/sda', '--nosudo', '--state-dir', str(tmp_path), *words]
    )

    assert (code, json.loads(capsys.readouterr().out)) == (
        1,
        {
            'twice': bool(words),
            'devices': ['/dev/sda'],
            'has time limit': added.has_time_limit,
            'history': added.history,
        },
    )


def test_a_new_command_is_in_the_man_page_and_the_completion(added):
    """Both are made of the table."""
    page, script = man.page(), completion.script()

    assert '.B check_smart_attributes count\n' in page
    assert '.SS count\nCount drives.\n.TP\n\\fB\\-\\-twice\\fR\ncount twice\n' in page
    assert re.search(
        r'^ +count\) words="--twice .*--device .*-h --help', script, re.MULTILINE
    )
    assert re.search(r'COMP_CWORD == 1 .* count"', script)


def test_no_command_exists_without_an_entry_for_history_and_time():
    """A default would be what nobody thought of."""
    fields = Command._fields[: -len(Command._field_defaults)]
    assert fields[-2:] == ('history', 'has_time_limit')
    with pytest.raises(TypeError):
        Command(*record('reads', True)[: len(fields) - 1])


def test_every_record_is_whole():
    """One sentence, and a word for history that history knows."""
    names, commands = described.names(), table.commands()

    assert len(set(names)) == len(names) and names[0] == 'check'
    assert [
        each.name
        for each in commands
        if not re.fullmatch(r'[A-Z][^\n]+[^.]\.', each.summary)
    ] == []
    assert {each.history for each in commands} == {
        history_access.WRITES,
        history_access.READS,
        '',
    }


def test_every_value_of_a_command_has_its_option():
    """And every option has a field that takes its value."""
    shared = {
        *Options._fields,
        *(field for group in GROUPS.values() for field in group._fields),
    }
    for each in table.commands():
        asked = {action.dest for action in table.parser(each)._actions} - {
            'help',
            'help_all',
        }
        own = set(each.values._fields if each.values else ())

        assert (own - asked, asked - own - shared) == (set(), set()), each.name


def test_other_keys_of_a_failed_command_are_those_of_a_command():
    """main has them apart from the table: it prints them also where the table cannot be loaded."""
    assert set(main.EMPTY) <= set(described.names())
