"""What sudo lets a user do, from the long form of its list. Pure."""

import re
from typing import Iterator, List, NamedTuple, Optional, Tuple

# Source: sudo 1.9, plugins/sudoers/display.c, display_priv_long(); the same words since 1.8. LC_ALL=C.
_BEGIN = re.compile('^Sudoers entry:', re.MULTILINE)
_TIMEOUT = re.compile(r'^ *Timeout: *([0-9]+)$', re.MULTILINE)
_PATH = re.compile(r'/\S+')


class Entry(NamedTuple):
    """One entry of sudoers, as it holds for a user."""

    commands: Tuple[str, ...]       # as written: "/usr/sbin/smartctl ^--json=c --scan$", "ALL"
    timeout: Optional[int] = None   # seconds after which sudo ends a command; None: never
    wants_password: bool = False

    def of(self, executable: str) -> Tuple[str, ...]:
        """Return the arguments that it names for a program."""
        return tuple(command.partition(' ')[2] for command in self.commands if command.partition(' ')[0] == executable)


def entries(text: str) -> List[Entry]:
    """Return the entries in what `sudo -ll` prints; none where it prints something else."""
    return [_entry(part) for part in _BEGIN.split(text)[1:]]


def _entry(text: str) -> Entry:
    timeout = _TIMEOUT.search(text)
    options = next((line for line in text.splitlines() if line.strip().startswith('Options:')), '')
    return Entry(tuple(_commands(text)), int(timeout[1]) if timeout else None, '!authenticate' not in options)


def _commands(text: str) -> Iterator[str]:
    lines = iter(text.partition('Commands:')[2].splitlines()[1:])
    for line in lines:
        if not line.startswith('\t'):
            return
        yield line.strip()


def programs(found: List[Entry], name: str) -> List[str]:
    """Return the paths of programs of a name that entries are for: "/usr/local/sbin/smartctl"."""
    paths = (_PATH.match(command) for entry in found for command in entry.commands)
    return list(dict.fromkeys(path[0] for path in paths if path and path[0].rpartition('/')[2] == name))
