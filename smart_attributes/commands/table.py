"""Find a command by its name and run the command.

This module also has the record of the default command.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from .. import VERSION, alarm
from ..command_line import option_groups as groups
from ..command_line import options as command_line
from ..command_line.options import OK, PROGRAM, CheckOptions, Command, Options
from ..reading.processes import Runner

CHECK = Command(
    name='check',
    summary='Check the SMART data of drives, as a plugin for Icinga and Nagios.',
    usage='[-d ADDRESS | --scan | --report FILE] [options]',
    epilog=f"""\
example: {PROGRAM} -d /dev/nvme0 -d megaraid,0-7@/dev/bus/0 --expect 9 -w endurance_used=80
exit status: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN

Options of version 1.6 (-r, -O, -s, -dbj, -ucfgj, -cu) are accepted too; see doc/how-to/upgrade.md""",
    # Rarely used groups come last.
    groups=(
        groups.DRIVES,
        groups.CHECKED_DRIVES,
        groups.JUDGING,
        groups.NAMING,
        groups.CHECK_OUTPUT,
        groups.COMMON,
        groups.READING,
        groups.VENDOR_LOGS,
        groups.HISTORY,
        groups.DATA,
    ),
    values=CheckOptions,
    history='writes',
    has_time_limit=True,
    takes_old_options=True,
)

# The modules of the records of all other commands, in the order of --help and the man page.
RECORDS = (
    'triage',
    'list',
    'explain',
    'sudoers',
    'draft',
    'validate',
    'migrate',
    'acknowledge',
    'history',
    'metrics',
    'doctor',
    'fleet',
)


def do(argv: Sequence[str], runner: Runner) -> int:
    """Run the command of a command line; return its exit status.

    Raises SmartError if the command fails.
    """
    command, options = understood(argv)
    if options.show_version:
        return _version(options)
    if command.has_time_limit:
        alarm.arm(options.how_read.timeout)
    # a module and its function, such as "contribution.draft"
    target = command.run or f'{command.name}.run'
    module, name = target.split('.')
    function = getattr(import_module(f'.{module}', __package__), name)
    return int(function(options, runner))


def commands() -> tuple[Command, ...]:
    """Return the records of all commands, in the order of --help and the man page; the default
    command is the first.
    """
    # A check needs none of these.
    modules = [import_module(f'.records.{name}', __package__) for name in RECORDS]
    return CHECK, *(module.COMMAND for module in modules)


def parser(command: Command) -> command_line.Parser:
    """Return the parser of a command."""
    if command is CHECK:
        return command_line.parser(command, lambda: commands()[1:])
    return command_line.parser(command)


def understood(argv: Sequence[str]) -> tuple[Command, Options]:
    """Return the command and options in *argv*, which lacks the program name.

    Raises UsageError; exits after --help.
    """
    if argv and argv[0][:1] != '-':
        # The first command is CHECK, which is called without a word. CHECK's parser, below, reports
        # the word "check" as a mistake, like any unknown word.
        for command in commands()[1:]:
            if command.name == argv[0]:
                return command, command_line.parse(command, parser(command), argv[1:])
    return CHECK, command_line.parse(CHECK, parser(CHECK), argv)


def _version(options: Options) -> int:
    """Print the versions of the program and the database; return 0."""
    from ..check.rulebook import newest_database

    database, _ = newest_database(options.data.config)
    python = sys.version.split()[0]
    print(
        f'{PROGRAM} {VERSION}, attributes.json of {database.get("date")}, Python {python}'
    )
    return OK
