"""From a command's record to its parser, its help and the values of a command line."""

from typing import Any

import pytest

from smart_attributes.command_line import option_groups as groups
from smart_attributes.command_line import options as parsers
from smart_attributes.command_line.options import Command, Options, option
from smart_attributes.errors import UsageError
from smart_attributes.typed import NamedTuple
from smart_attributes.v1_6 import command_line

HELP = """\
usage: check_smart_attributes{0} [options]

Count the drives.

options:
  --twice        count each drive twice, as some do, and once more where nobody can be sure that all were in
  --name NAME

output and help:
{2}  -h, --help     print this help and exit
  --help-all     print this help with all options and exit

{3}{1}example:
  count
{4}"""
NAMED = """\
  --label NAME   name drives by "device", "by-id", "serial" or "wwn", also in the list command (default: device)
  --hide-serial  omit serial numbers, except in device names and in names chosen by --label
"""
FIRST = """\
  -v, --verbose  print notes and sources; -vv: also all readings; -vvv: also smartctl commands and output
  -V, --version  print versions and exit
"""
OTHERS = """\
other commands (for their options: check_smart_attributes COMMAND --help):
  count  count the drives
  list   list /dev/sdX

"""


class CountOptions(NamedTuple):
    """The values that only this command has."""

    twice: bool
    wanted: Any


def command(
    name: str = 'count', values: Any = CountOptions, takes_old_options: bool = False
) -> Command:
    return Command(
        name,
        'Count the drives.',
        'example:\n  count\n\nIt counts.',
        (groups.NAMING, groups.COMMON),
        history='reads',
        has_time_limit=True,
        options=(
            option(
                '--twice',
                action='store_true',
                help='count each drive twice, as some do, and once more '
                'where nobody can be sure that all were in',
            ),
            option(
                '--name', dest='wanted', action='append', default=[], metavar='NAME'
            ),
        ),
        values=values,
        takes_old_options=takes_old_options,
        run='count.run',
    )


def parsed(*words: str, **record: Any) -> Options:
    made = command(**record)
    return parsers.parse(made, parsers.parser(made), words)


def shown(others: Any = (), is_whole: bool = False) -> str:
    """Return the help; its heading was another word before Python 3.10."""
    made = parsers.parser(command(), (lambda: others) if others else None)
    if is_whole:
        made.rare.clear()
    return made.format_help().replace('optional arguments:', 'options:')


def test_the_help_of_a_command_has_its_sentence_its_options_and_its_example():
    """120 columns wide, whatever the terminal."""
    short = shown()
    assert '  --twice ' in short and '  --name NAME' in short and '--label' not in short
    assert (
        '\n4 more options: check_smart_attributes count --help-all\n\nexample:\n'
        in short
    )
    assert shown(is_whole=True) == HELP.format(
        ' count', '', NAMED + FIRST, '', '\nIt counts.\n'
    )


def test_the_help_has_no_color(monkeypatch):
    """argparse of Python 3.14 colors the headings of a help, and its usage."""
    monkeypatch.setenv('FORCE_COLOR', '1')

    assert '\x1b' not in parsers.parser(command()).format_help()


def test_the_help_of_the_command_without_a_name_lists_the_others():
    """Below each other, by the longest name."""
    assert shown(
        [command(), command('list')._replace(summary='List /dev/sdX.')]
    ) == HELP.format(
        '', OTHERS, FIRST, '2 more options: check_smart_attributes --help-all\n\n', ''
    )


def test_values_go_into_the_groups_that_take_them():
    options = parsed('--twice', '--name', 'a', '--name=b', '--hide-serial')

    assert options.own == CountOptions(True, ('a', 'b'))
    assert (options.naming.hide_serial, options.naming.label) == (True, 'device')
    assert (options.history.access, options.before) == ('reads', None)


@pytest.mark.parametrize(
    'words', [[], ['--twice'], ['--label=serial'], ['--name', 'a']], ids=str
)
def test_plain_words_are_read_without_the_code_for_version_1_6(words, monkeypatch):
    """Each check would import it."""
    monkeypatch.setattr(command_line, 'spelt', None)

    assert parsed(*words).before is None


@pytest.mark.parametrize(
    'words, sentence',
    [
        (['--twice', 'sda', 'sdb'], 'unrecognized arguments: sda sdb'),
        (['--three'], 'unrecognized arguments: --three'),
        (
            ['--lab', 'serial'],
            'unrecognized arguments: --lab serial; did you mean --label?',
        ),
        (
            ['--label', 'serail'],
            "argument --label: invalid choice: 'serail' (choose from ",
        ),
        (['--name'], 'argument --name: expected one argument'),
        (
            ['--ssdonly', '/dev/sda'],
            '"/dev/sda" has no option before it and would not be checked',
        ),
    ],
)
def test_a_mistake_is_an_error_that_names_the_help(words, sentence):
    """Not the exit status 2 of argparse, which would be CRITICAL."""
    with pytest.raises(UsageError) as error:
        parsed(*words, takes_old_options='--ssdonly' in words)

    assert str(error.value).startswith(sentence)
    assert str(error.value).endswith(
        '; check_smart_attributes count --help lists the options'
    )


@pytest.mark.parametrize(
    'words, strays', [([], ()), (['sda', '--', 'sdb'], ('sda', 'sdb'))]
)
def test_values_of_version_1_6_come_apart(words, strays):
    """It ignored words that belong to no option; "--" is none of them."""
    before = parsed('--ssdonly', *words, takes_old_options=True).before

    assert before is not None and before.ssd_only and before.strays == strays


def test_a_command_without_values_of_its_own_has_none():
    made = Command(*command(values=None)._replace(options=()))

    assert parsers.parse(made, parsers.parser(made), []).own is None
