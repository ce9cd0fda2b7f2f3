"""Ask sudo which commands it allows a user, and understand what it lists."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from ..model import Answer, HowRead
from ..reading import smartctl_calls
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import clean

if TYPE_CHECKING:
    from ..reading.smartctl_calls import Command

# Source: sudo 1.9, plugins/sudoers/display.c, display_priv_long(); wording unchanged since 1.8.
# LC_ALL=C.
_BEGIN = '(?m)^Sudoers entry:'
_TIMEOUT = '(?m)^ *Timeout: *([0-9]+)$'
_OPTIONS = '(?m)^ *Options:.*!authenticate'


class SudoersEntry(NamedTuple):
    """One sudoers entry that applies to a user."""

    # as written: "/usr/sbin/smartctl ^--json=c --scan$", "ALL"
    commands: tuple[str, ...]
    timeout: int | None = None  # seconds after which sudo ends a command; None: never
    needs_password: bool = False

    def of(self, executable: str) -> tuple[str, ...]:
        """Return the arguments that the entry lists for a program."""
        calls = (command.partition(' ') for command in self.commands)
        return tuple(arguments for path, _, arguments in calls if path == executable)


def entries_of(text: str) -> list[SudoersEntry]:
    """Return the entries in the output of `sudo -ll`; [] if the output has an unknown format."""
    return [_entry(part) for part in re.split(_BEGIN, text)[1:]]


def _entry(text: str) -> SudoersEntry:
    """Return an entry, from its text after "Sudoers entry:"."""
    timeout = re.search(_TIMEOUT, text)
    lines = text.partition('Commands:')[2].splitlines()[1:]
    commands = takewhile(lambda line: line.startswith('\t'), lines)
    return SudoersEntry(
        tuple(map(str.strip, commands)),
        timeout=int(timeout[1]) if timeout else None,
        needs_password=not re.search(_OPTIONS, text),
    )


def denial(entries: Iterable[SudoersEntry], executable: str) -> str:
    """Return the last command about a program, as written, if it denies all calls or needs a
    password for them; '' if it allows calls, or if no command is about the program.

    sudo obeys the last command that matches a call. So the last of these commands counts:

    - "!smartctl" denies all calls
    - "smartctl" after PASSWD: needs a password for all calls
    - "smartctl" after NOPASSWD: allows all calls
    - "smartctl --scan" counts as allowing calls, even after PASSWD:

    "!smartctl --scan" does not count, because it denies only some calls.
    """
    paths = ('ALL', executable, f'{os.path.dirname(executable)}/')
    denying_command = ''
    for entry in entries:
        for command in entry.commands:
            path, _, arguments = command.lstrip('!').partition(' ')
            if path not in paths:
                continue
            is_negated = command.startswith('!')
            if is_negated and arguments:
                continue
            # "!smartctl", or "smartctl" after PASSWD:
            is_denying = is_negated or (entry.needs_password and not arguments)
            denying_command = command if is_denying else ''
    return denying_command


def widest_command(entries: Iterable[SudoersEntry], executable: str) -> str:
    """Return, as written, the last command that allows all calls of a program without a
    password, or ''. A later command that denies calls is not considered; see denial().
    """
    last_unrestricted = ''
    for entry in entries:
        for command in entry.commands:
            if command in ('ALL', executable) and not entry.needs_password:
                last_unrestricted = command
    return last_unrestricted


class Sudo:
    """Ask sudo, as the monitoring user, which commands it would allow, without running them."""

    def __init__(self, how: HowRead, runner: Runner, deadline: float) -> None:
        self._how, self._runner, self._deadline = how, runner, deadline
        self.message = ''  # printed by sudo about the calls last tested
        self.late = ''  # why sudo gave no complete answer

    def refuses(self, lines: Sequence[Command]) -> list[Command]:
        """Return those of the smartctl command lines that sudo would refuse. Set *message* to what
        sudo prints first; *late* is set if an answer is not complete, see _run().
        """
        questions = {
            line: (smartctl_calls.find_sudo(), '-n', '-l', self._how.smartctl, *line)
            for line in lines
        }
        answers = self._run(questions.values())
        messages = [
            answer.stderr.decode('utf-8', 'replace').strip()
            for answer in answers.values()
        ]
        self.message = next(filter(None, messages), '')
        return [
            line
            for line, question in questions.items()
            if answers[question].status or answers[question].signal
        ]

    def entries(self) -> list[SudoersEntry]:
        """Return the sudoers entries of this user."""
        return entries_of(self._answer('-n', '-ll').stdout.decode('utf-8', 'replace'))

    def version(self) -> str:
        """Return the first line of `sudo --version`, such as "Sudo version 1.9.13p3"."""
        answer = self._answer(*smartctl_calls.VERSION)
        printed = answer.stdout or answer.stderr  # sudo-rs prints to stderr
        return clean(printed.decode('utf-8', 'replace').partition('\n')[0], limit=60)

    def _answer(self, *words: str) -> Answer:
        """Return the answer of sudo if called with these words."""
        command = (smartctl_calls.find_sudo(), *words)
        return self._run([command])[command]

    def _run(self, lines: Iterable[Command]) -> dict[Command, Answer]:
        """Return the answer to each command line; set *late* to the reason of the first one that is
        not complete: sudo did not answer in time, could not be started, or printed too much.
        """
        answers = {}
        for answer in self._runner.run(lines, self._how.drive_timeout, self._deadline):
            answers[answer.command] = answer
            if answer.outcome != 'done' and not self.late:
                self.late = answer.reason
        return answers
