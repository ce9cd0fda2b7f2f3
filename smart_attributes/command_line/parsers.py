"""Make the parser of a command and parse its arguments; usage errors exit with 3, as a monitoring daemon expects."""
from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from ..errors import UsageError
from ..typed import TYPE_CHECKING, NamedTuple
from .options import GROUPS, PROGRAM, Options

if TYPE_CHECKING:
    from typing import Any, NoReturn

    from .option_groups import Option, OptionGroup
    from .options import Before


class Command(NamedTuple):
    """The record of a command, from which its parser, its help, its documents and its run follow."""

    name: str
    summary: str                        # one sentence
    usage: str                          # the words behind the name
    epilog: str                         # example, further explanation, exit status
    groups: tuple[OptionGroup, ...]
    options: tuple[Option, ...]         # its own
    values: Any                         # class of the values that only this command has, None without
    history: str                        # how it uses history: "writes", "reads", or ''
    has_time_limit: bool                # where it reads drives; the others work for a person, who can end them
    takes_old_options: bool             # it may be called as version 1.6 was
    run: str                            # module of commands/ and its function, which prints and returns the status


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError instead of exiting with 2, which would mean CRITICAL."""

    color: bool  # of Python 3.14
    others: Callable[[], Sequence[Command]] | None = None  # returns further commands that the help lists

    def format_help(self) -> str:
        listed, own = _listed(self.others() if self.others else ()), self.epilog or ''
        self.epilog = f'{listed}{own}'
        try:
            return super().format_help()
        finally:
            self.epilog = own

    def error(self, message: str) -> NoReturn:
        raise UsageError(f'{message}; {self.prog} --help lists the options')


class Help(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: to ask the terminal for its own, argparse would import 3 ms of code on every start."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=31, width=120)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """Return "-t, --timeout SECONDS": the value once, and no spelling that only version 1.6 had."""
        spellings = [each for each in action.option_strings if not _is_old_spelling(each, action)]
        if not spellings:
            return super()._format_action_invocation(action)
        value = '' if action.nargs == 0 else f' {self._format_args(action, action.dest.upper())}'
        return ', '.join(spellings) + value


def _is_old_spelling(spelling: str, action: argparse.Action) -> bool:
    """Return whether a spelling differs from another one of its option by dashes alone: "-nosudo", "--a_b"."""
    return any(spelling != other and spelling.replace('_', '-') == (other if '_' in spelling else other[1:])
               for other in action.option_strings)


def parser(command: Command, others: Callable[[], Sequence[Command]] | None = None) -> Parser:
    """Return the parser of a command. others: returns further commands that its help lists; only the default command
    has any.
    """
    made = Parser(prog=PROGRAM if others else f'{PROGRAM} {command.name}', description=command.summary,
                  epilog=command.epilog, usage=f'%(prog)s {command.usage}', formatter_class=Help,
                  add_help=False)
    made.others = others
    made.color = False  # Python 3.14 colors headings alone, and with FORCE_COLOR even in a pipe
    places: dict[str, Any] = {'': made}
    for title, options in (*command.groups, ('', command.options)):
        if title not in places:
            places[title] = made.add_argument_group(title)
        place = places[title]
        for spellings, arguments in options:
            place.add_argument(*spellings, **arguments)
    return made


def _listed(commands: Sequence[Command]) -> str:
    """Return the part of the help that lists the other commands, '' without any."""
    if not commands:
        return ''
    width = max(len(each.name) for each in commands)
    lines = [f'  {each.name:{width}}  {each.summary[0].lower()}{each.summary[1:].rstrip(".")}\n' for each in commands]
    return f'other commands (for their options: {PROGRAM} COMMAND --help):\n{"".join(lines)}\n'


def parse(command: Command, parser: Parser, words: Sequence[str]) -> Options:
    """Return the values of the *words* behind a command's name.

    Raises UsageError; prints help and exits with 0 on --help.
    """
    before: Before | None = None
    if all(_is_plain(word, parser) for word in words):
        values, rest = _parsed(parser, words)
    else:
        from ..v1_6 import command_line
        if command.takes_old_options:
            command_line.add_options(parser)
        values, rest = _parsed(parser, [command_line.spelt(word, parser) for word in words])
        before = command_line.taken_out(values, rest, parser)
    if rest and before is None:
        parser.error(f'unrecognized arguments: {" ".join(rest)}')
    groups = {field: _taken(values, kind) for field, kind in GROUPS.items()}
    groups['history'] = groups['history']._replace(access=command.history)
    own = _taken(values, command.values) if command.values else None
    return Options(before=before, own=own, **groups, **values)


def _taken(values: dict[str, Any], kind: Any) -> Any:
    """Take the fields of a group out of *values*, and return the group."""
    return kind(**{name: values.pop(name) for name in kind._fields if name in values})


def _is_plain(word: str, parser: Parser) -> bool:
    """Return whether a word can be parsed without the spellings, options and help of version 1.6."""
    return word[:1] != '-' or (word.partition('=')[0] in parser._option_string_actions and word not in ('-h', '--help'))


def _parsed(parser: Parser, words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the values by name, and the words that belong to no option."""
    namespace, rest = parser.parse_known_args(words)
    return {key: tuple(value) if isinstance(value, list) else value for key, value in vars(namespace).items()}, [
        word for word in rest if word != '--']
