"""What the generated files are made of: the table of commands, the data files, and the document
on states.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from smart_attributes.command_line.options import Command, Parser
from smart_attributes.commands import table
from smart_attributes.v1_6 import command_line

ROOT = Path(__file__).resolve().parent.parent


class Option(NamedTuple):
    """One option of one command."""

    names: tuple[str, ...]
    value: str  # what stands behind it: "ADDRESS"; '' for a flag
    help: str
    group: str  # title of its group in the help; '' for the rest
    dest: str  # field of the options
    repeats: bool
    choices: tuple[str, ...]

    @property
    def long(self) -> str:
        """Return its long name with hyphens."""
        return next(
            (name for name in self.names if name.startswith('--')), self.names[0]
        )


def names() -> tuple[str, ...]:
    """Return the names of the commands, the check first."""
    return tuple(command.name for command in table.commands())


def _record(command: str) -> Command:
    return next(each for each in table.commands() if each.name == command)


def whole_parser(command: str) -> Parser:
    """Return the parser of a command with the options that it takes from version 1.6."""
    parser = table.parser(_record(command))
    if _record(command).takes_old_options:
        command_line.add_options(parser)
    return parser


def option_strings(command: str) -> list[str]:
    """Return every spelling of every option of a command that its help shows."""
    return [spelling for option in options(command) for spelling in option.names]


def options(command: str) -> list[Option]:
    """Return the options of a command in the order of its help, without those of version 1.6."""
    parser = table.parser(_record(command))
    found = []
    for group in parser._action_groups:
        title = (
            group.title
            if group.title
            not in ('options', 'optional arguments', 'positional arguments')
            else ''
        )
        found += [
            _option(action, title or '')
            for action in group._group_actions
            if action.option_strings and action.help is not argparse.SUPPRESS
        ]
    return found


def _option(action: argparse.Action, group: str) -> Option:
    value = (
        action.metavar
        if isinstance(action.metavar, str)
        else '|'.join(map(str, action.choices or ()))
    )
    text = (
        (action.help or '')
        .replace('%(default)s', str(action.default))
        .replace('%(default)g', re.sub(r'\.0$', '', str(action.default)))
    )
    return Option(
        tuple(action.option_strings),
        value if action.nargs != 0 else '',
        text,
        group,
        action.dest,
        isinstance(action, argparse._AppendAction),
        tuple(map(str, action.choices or ())),
    )


def description(command: str) -> str:
    """Return the sentence about a command."""
    return _record(command).summary


def example(command: str) -> str:
    """Return what stands under "example:" in a command's help."""
    return (
        _record(command)
        .epilog.partition('example:')[2]
        .partition('\n\n')[0]
        .strip('\n')
    )


def metrics() -> dict[str, dict[str, Any]]:
    """Return every metric by its name."""
    found: dict[str, dict[str, Any]] = json.loads(
        (ROOT / 'attributes.json').read_text()
    )['metrics']
    return dict(sorted(found.items()))


def states() -> list[tuple[str, str, list[str]]]:
    """Return (state, exit status, conditions) for each section of the document on states."""
    text = (ROOT / 'doc/reference/states.md').read_text()
    sections = re.findall(
        r'^## ([A-Z]+) \(exit status ([0-3])\)\n\n((?:- .*\n)+)', text, re.MULTILINE
    )
    return [
        (state, code, re.findall('^- (.*)$', conditions, re.MULTILINE))
        for state, code, conditions in sections
    ]
