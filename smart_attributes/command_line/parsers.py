"""A command's record -> its parser; argv -> Options. Usage errors leave with 3, as a monitoring daemon expects."""
from __future__ import annotations

import argparse

from ..errors import UsageError
from ..typed import TYPE_CHECKING, NamedTuple
from .options import GROUPS, PROGRAM, HistoryUse, Options

if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Tuple

    from .option_groups import Group, Option
    from .options import Before


class Command(NamedTuple):
    """All that is written down of a command: its parser, its help, its documents and its run follow from this."""

    name: str
    summary: str                        # one sentence
    usage: str                          # what stands behind the name
    epilog: str                         # example, what else is to be known, exit status
    groups: Tuple[Group, ...]
    options: Tuple[Option, ...]         # its own
    values: Any                         # class of the values that only this command has, None without
    history: str                        # what it does with history: "writes", "reads", or ''
    has_time_limit: bool                # where it reads drives; the others work for a person, who can end them
    takes_old_options: bool             # it may be called as version 1.6 was
    run: Callable[[Options, Any], int]  # takes a processes.Runner, too, prints, and returns the exit status


class Parser(argparse.ArgumentParser):
    """A parser that raises instead of leaving with 2, which would be CRITICAL."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f'{message}; {self.prog} --help shows what there is')


class Help(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: to ask the terminal for its own, argparse would import 3 ms of code on every start."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=120)


def parser(command: Command, others: Sequence[Command] = ()) -> Parser:
    """Return the parser of a command. others: those that its help lists; none for a word that comes before options."""
    made = Parser(prog=PROGRAM if others else f'{PROGRAM} {command.name}', description=command.summary,
                  epilog=f'{_listed(others)}{command.epilog}', usage=f'%(prog)s {command.usage}', formatter_class=Help)
    for group in command.groups:
        _add(made.add_argument_group(group.title) if group.title else made, group.options)
    _add(made, command.options)
    return made


def _add(place: argparse._ActionsContainer, options: Sequence[Option]) -> None:
    for spellings, described in options:
        place.add_argument(*spellings, **described)


def _listed(commands: Sequence[Command]) -> str:
    """Return the part of the help that lists the other commands, '' where there are none."""
    width = max((len(each.name) for each in commands), default=0)
    lines = [f'  {each.name:{width}}  {each.summary[0].lower()}{each.summary[1:].rstrip(".")}\n' for each in commands]
    return f'other commands; {PROGRAM} COMMAND --help shows their options:\n{"".join(lines)}\n' if lines else ''


def parse(command: Command, parser: Parser, words: Sequence[str]) -> Options:
    """Return what the *words* behind a command's name ask for.

    Raises UsageError; prints help and exits with 0 on --help.
    """
    before: Optional[Before] = None
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
    return _options(values, command, before)


def _options(values: Dict[str, Any], command: Command, before: Optional[Before]) -> Options:
    """Return *values* in the groups that take them."""
    groups: Dict[str, Any] = {field: _taken(values, kind) for field, kind in GROUPS.items()}
    use: HistoryUse = groups.pop('history')
    own = _taken(values, command.values) if command.values else None
    return Options(before=before, history=use._replace(access=command.history), own=own, **groups, **values)


def _taken(values: Dict[str, Any], kind: Any) -> Any:
    """Take the fields of a group out of *values*."""
    return kind(**{name: values.pop(name) for name in kind._fields if name in values})


def _is_plain(word: str, parser: Parser) -> bool:
    """Tell whether a word needs none of version 1.6's spellings and options, nor their help."""
    return word[:1] != '-' or (word.partition('=')[0] in parser._option_string_actions and word not in ('-h', '--help'))


def _parsed(parser: Parser, words: Sequence[str]) -> Tuple[Dict[str, Any], List[str]]:
    """Return the values by name, and the words that belong to no option."""
    given, rest = parser.parse_known_args(words)
    return {key: tuple(value) if isinstance(value, list) else value for key, value in vars(given).items()}, [
        word for word in rest if word != '--']
