"""The parser of a command and the values of a command line, grouped by the part of the program that
uses them.

After a usage error, the exit status is 3, as a monitoring daemon expects.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence

from ..constants import DAY, HOUR, OUTPUT_LIMIT
from ..errors import UsageError
from ..files import CONFIG
from ..model import HowRead, State, Texts
from ..typed import TYPE_CHECKING, Any, NamedTuple
from ..words import closest

if TYPE_CHECKING:
    from typing import NoReturn

    from ..v1_6.command_line import Before as Before  # noqa: PLC0414  rulebook and survey take the name from here

Option = tuple[Texts, Mapping[str, Any]]  # spellings, arguments of add_argument()

PROGRAM = 'check_smart_attributes'
OK, PARTLY, UNKNOWN = 0, 1, 3  # exit statuses of the commands for a person
USER = 'nagios'  # the user that runs checks on Debian
argparse._ = str  # type: ignore[attr-defined]  # all texts are English; gettext would import locale and look for files


class Which(NamedTuple):
    """The selected drives, their expected number, and the selected metrics."""

    devices: Texts = ()
    scan: bool = False
    reports: Texts = ()
    match: Texts = ()
    ignore: Texts = ()
    expect: int | None = None
    no_drives: State | None = None
    metrics: Texts = ()  # metrics that the command uses; empty: all
    # names of the drives to show, as outputs print them; empty: all
    names: Texts = ()


class Judging(NamedTuple):
    """How drives are judged."""

    warning: tuple[tuple[str, str], ...] = ()  # metric and range
    critical: tuple[tuple[str, str], ...] = ()
    ignore_metrics: Texts = ()
    ignore_attributes: tuple[int, ...] = ()
    unknown_model: State = State.OK
    asleep: State = State.OK
    selftest_max_age: int = 0  # seconds of power-on time; 0: any
    # seconds between two reads of a vendor's log; None: no such log is read or used
    vendor_logs: int | None = 6 * HOUR


class DataFiles(NamedTuple):
    """The files that define limits and the meaning of attributes."""

    config: str = CONFIG
    attributes: Texts = ()
    thresholds: Texts = ()


class Naming(NamedTuple):
    """How drives are named."""

    label: str = 'device'
    hide_serial: bool = False


class HistoryUse(NamedTuple):
    """How history is used."""

    access: str = ''  # "writes", "reads"; '': the command does not use it
    no_history: bool = False
    history_required: State | None = None
    missing: State = State.WARNING  # state if a known drive is missing
    asleep_max_age: int = 7 * DAY  # seconds


# Each function gets only the group that it needs.
GROUPS: Mapping[str, Any] = {
    'which': Which,
    'how_read': HowRead,
    'judging': Judging,
    'data': DataFiles,
    'naming': Naming,
    'history': HistoryUse,
}


class Options(NamedTuple):
    """All values of a command line.

    A group that the command does not have is filled with defaults.
    """

    which: Which = Which()
    how_read: HowRead = HowRead()
    judging: Judging = Judging()
    data: DataFiles = DataFiles()
    naming: Naming = Naming()
    history: HistoryUse = HistoryUse()
    state_dir: str = ''
    verbose: int = 0
    show_version: bool = False
    before: Before | None = None  # values of options that only version 1.6 had
    # values of this command alone, such as CheckOptions; None if it has none
    own: Any = None


class CheckOptions(NamedTuple):
    """The output of a check."""

    all_perfdata: bool = False
    max_output: int = OUTPUT_LIMIT  # bytes


# --- short forms of argparse's add_argument(): spellings, separated by blanks, and the help ------


def option(spellings: str, **arguments: Any) -> Option:
    """Return an option. arguments: the arguments of add_argument()."""
    return tuple(spellings.split()), arguments


def flag(spellings: str, text: str, **arguments: Any) -> Option:
    """Return an option without a value."""
    return option(spellings, action='store_true', help=text, **arguments)


def single(
    spellings: str, metavar: str, text: str, default: Any = '', **arguments: Any
) -> Option:
    """Return an option with one value."""
    return option(spellings, metavar=metavar, help=text, default=default, **arguments)


def not_blank(text: str) -> str:
    """Return an argument that is not blank. Raises ArgumentTypeError.

    A variable that is not set makes a blank one: as a pattern, it would match every drive.
    """
    if not text.strip():
        raise argparse.ArgumentTypeError(
            'the value is empty; give one, or leave the option out'
        )
    return text


def repeated(spellings: str, metavar: str, text: str, **arguments: Any) -> Option:
    """Return an option that may be repeated; its value is a list."""
    usual = {'action': 'append', 'default': [], 'type': not_blank}
    return option(spellings, metavar=metavar, help=text, **{**usual, **arguments})


def positional(
    name: str,
    metavar: str,
    text: str,
    nargs: str = '*',
) -> Option:
    """Return arguments without a spelling; their value is a list."""
    return option(name, nargs=nargs, metavar=metavar, help=text)


# --- the parser of a command ------------------------------------------------------------


class OptionGroup(NamedTuple):
    """Options under one heading of the help; groups with the same heading are shown as one."""

    title: str  # the heading; '': none, and --help shows all options of the group
    options: tuple[Option, ...]
    # under a heading, --help shows only these options, by their first spelling; --help-all shows all
    short: Texts = ()
    first: Texts = ()  # those that only --help of the default command shows as well


class Command(NamedTuple):
    """The record of a command; it determines the parser, the help, the documents and the
    function to run.
    """

    name: str
    summary: str  # one sentence
    epilog: str  # example, further explanation, exit status
    groups: tuple[OptionGroup, ...]
    history: str  # how it uses history: "writes", "reads", or ''
    has_time_limit: bool  # the command reads drives; a person can end other commands
    usage: str = '[options]'  # the words after the name
    options: tuple[Option, ...] = ()  # its own
    # class of the values that only this command has; None if it has none
    values: Any = None
    takes_old_options: bool = False  # it accepts the options of version 1.6
    # module of commands/ and its function, which prints and returns the status; '': the function
    # run of the module with the command's name
    run: str = ''


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError instead of exiting with 2, which would mean CRITICAL."""

    color: bool  # attribute of the parser in Python 3.14
    others: Callable[[], Sequence[Command]]  # returns the commands that the help lists
    # the options that only --help-all shows; HelpAll empties the list
    rare: list[argparse.Action]

    def format_help(self) -> str:
        """Return the help, in which the rare options are only counted. This changes the parser, so
        it can be called only once.
        """
        hint = ''
        explanation = self.epilog or ''
        if self.rare:
            hint = f'{len(self.rare)} more options: {self.prog} --help-all\n\n'
            # only the example
            explanation = explanation.partition('\n\n')[0]
        self.epilog = f'{hint}{_listed(self.others())}{explanation}'
        for action in self.rare:
            action.help = argparse.SUPPRESS
        return super().format_help()

    def unknown(self, words: Sequence[str]) -> NoReturn:
        """Raise UsageError for unknown words; suggest what was probably meant by the first word."""
        advice = self._meant(words[0])
        self.error(f'unrecognized arguments: {" ".join(words)}; {advice}'.rstrip('; '))

    def _meant(self, word: str) -> str:
        """Return advice on an unknown word: -d before a drive, or the option or command that is
        most like it; '' if there is none.
        """
        if not word.startswith('-') and '/dev/' in word:
            is_read_here = '-d' in self._option_string_actions
            return f'write -d {word}' if is_read_here else ''
        # Without their dashes, which would make any two options alike.
        names = {option.lstrip('-'): option for option in self._option_string_actions}
        names.update((command.name, command.name) for command in self.others())
        # similar enough that "sort" is not "report"
        meant = closest(word.partition('=')[0].lstrip('-'), names, 0.65)
        return f'did you mean {names[meant]}?' if meant else ''

    def error(self, message: str) -> NoReturn:
        raise UsageError(f'{message}; {self.prog} --help lists the options')


class HelpAll(argparse._HelpAction):
    """The option --help-all."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        parser.rare.clear()  # type: ignore[attr-defined]
        super().__call__(parser, *rest)


class Help(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: to find the terminal's width, argparse would spend 3 ms on imports
    at every start.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=31, width=120)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """Return "-t, --timeout SECONDS", with the value only once."""
        if not action.option_strings:
            return super()._format_action_invocation(action)
        spellings = ', '.join(action.option_strings)
        if action.nargs == 0:
            return spellings
        return f'{spellings} {self._format_args(action, action.dest.upper())}'


def parser(
    command: Command, others: Callable[[], Sequence[Command]] | None = None
) -> Parser:
    """Return the parser of a command. others: only for the default command; returns the further
    commands that its help lists.
    """
    is_default = others is not None
    made = Parser(
        prog=PROGRAM if is_default else f'{PROGRAM} {command.name}',
        description=command.summary,
        epilog=command.epilog,
        usage=f'%(prog)s {command.usage}',
        formatter_class=Help,
        add_help=False,
        allow_abbrev=False,
    )
    made.others = others or (lambda: ())
    made.rare = []
    # Python 3.14 colors only the headings; with FORCE_COLOR, even in a pipe
    made.color = False
    headings: dict[str, Any] = {'': made}  # title -> its part of the parser
    for group in (*command.groups, OptionGroup('', command.options)):
        title = group.title
        if title not in headings:
            headings[title] = made.add_argument_group(title)
        shown = (*group.short, *group.first) if is_default else group.short
        for spellings, arguments in group.options:
            action = headings[title].add_argument(*spellings, **arguments)
            is_shown = not title or spellings[0] in shown
            if not is_shown and action.help is not argparse.SUPPRESS:
                made.rare.append(action)
    return made


def _listed(commands: Sequence[Command]) -> str:
    """Return the part of the help that lists the other commands; '' if *commands* is empty."""
    if not commands:
        return ''
    width = max(len(command.name) for command in commands)
    lines = [
        f'  {command.name:{width}}  {command.summary[0].lower()}{command.summary[1:].rstrip(".")}\n'
        for command in commands
    ]
    return f'other commands (for their options: {PROGRAM} COMMAND --help):\n{"".join(lines)}\n'


def parse(command: Command, parser: Parser, words: Sequence[str]) -> Options:
    """Return the values of the *words* after a command's name.

    Raises UsageError; prints help and exits with 0 on --help.
    """
    before: Before | None = None
    if all(_is_plain(word, parser) for word in words):
        values, unknown = _parsed(parser, words)
    else:
        from ..v1_6 import command_line

        if command.takes_old_options:
            command_line.add_options(parser)
        current = [command_line.spelt(word, parser) for word in words]
        values, unknown = _parsed(parser, current)
        before = command_line.taken_out(values, unknown, parser)
    if unknown and before is None:  # version 1.6 ignored unknown words
        parser.unknown(unknown)
    # each group takes its values out; what is left are fields of Options itself
    groups = {field: _taken(values, kind) for field, kind in GROUPS.items()}
    groups['history'] = groups['history']._replace(access=command.history)
    own = _taken(values, command.values) if command.values else None
    return Options(before=before, own=own, **groups, **values)


def _taken(values: dict[str, Any], kind: Any) -> Any:
    """Take the fields of a group out of *values*, and return the group."""
    return kind(**{name: values.pop(name) for name in kind._fields if name in values})


def _is_plain(word: str, parser: Parser) -> bool:
    """Return whether a word can be parsed without the spellings and options of version 1.6."""
    if word[:1] != '-':
        return True
    spelling = word.partition('=')[0]
    # the help with all options has those of version 1.6, too
    return spelling in parser._option_string_actions and word != '--help-all'


def _parsed(parser: Parser, words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the values by name, and the words that do not belong to any option."""
    namespace, rest = parser.parse_known_args(words)
    values = dict(vars(namespace))
    for name, value in values.items():
        if isinstance(value, list):
            values[name] = tuple(value)
    return values, [word for word in rest if word != '--']
