"""Parse the commands that sudo allows a user, from the output of `sudo -ll`. Pure."""
from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

# Source: sudo 1.9, plugins/sudoers/display.c, display_priv_long(); wording unchanged since 1.8. LC_ALL=C.
_BEGIN = re.compile('^Sudoers entry:', re.MULTILINE)
_TIMEOUT = re.compile(r'^ *Timeout: *([0-9]+)$', re.MULTILINE)
_OPTIONS = re.compile(r'^ *Options:.*!authenticate', re.MULTILINE)
_PATH = re.compile(r'/\S+')


class SudoersEntry(NamedTuple):
    """One sudoers entry that applies to a user."""

    commands: tuple[str, ...]       # as written: "/usr/sbin/smartctl ^--json=c --scan$", "ALL"
    timeout: int | None = None      # seconds after which sudo ends a command; None: never
    needs_password: bool = False

    def of(self, executable: str) -> tuple[str, ...]:
        """Return the arguments that the entry lists for a program."""
        calls = (command.partition(' ') for command in self.commands)
        return tuple(arguments for path, _, arguments in calls if path == executable)


def entries(text: str) -> list[SudoersEntry]:
    """Return the entries in the output of `sudo -ll`; none if the output has another form."""
    return [_entry(part) for part in _BEGIN.split(text)[1:]]


def _entry(text: str) -> SudoersEntry:
    timeout = _TIMEOUT.search(text)
    lines = takewhile(lambda line: line.startswith('\t'), text.partition('Commands:')[2].splitlines()[1:])
    return SudoersEntry(tuple(line.strip() for line in lines), int(timeout[1]) if timeout else None,
                        not _OPTIONS.search(text))


def against(rule: Iterable[SudoersEntry], executable: str) -> str:
    """Return the command, as written, by which the last entry for a program denies it or asks for a password, or ''.

    Of entries that match a call, sudo obeys the last. A denial of some arguments only does not count.
    """
    listed = [(command, entry.needs_password) for entry in rule for command in entry.commands]
    for command, needs_password in reversed(listed):
        path, _, arguments = command.lstrip('!').partition(' ')
        is_denied = command.startswith('!')
        if path in ('ALL', executable, os.path.dirname(executable) + '/') and not (is_denied and arguments):
            return command if is_denied or (needs_password and not arguments) else ''
    return ''


def widest(rule: Iterable[SudoersEntry], executable: str) -> str:
    """Return the last command, as written, that allows all calls of a program without a password, or ''."""
    commands = [command for entry in rule if not entry.needs_password for command in entry.commands]
    return next((command for command in reversed(commands) if command in ('ALL', executable)), '')


def programs(rule: Iterable[SudoersEntry], name: str) -> list[str]:
    """Return the paths of the programs called *name* in the entries, such as "/usr/local/sbin/smartctl"."""
    paths = (_PATH.match(command) for entry in rule for command in entry.commands)
    return list(dict.fromkeys(path[0] for path in paths if path and path[0].rpartition('/')[2] == name))
