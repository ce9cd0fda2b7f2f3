"""Ask NRPE which checks of this plugin it runs on this machine.

NRPE answers check_nrpe, but does not list its commands, so their names come from its configuration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import files
from ..constants import DEEPEST_INCLUDE, LARGEST_SMALL_FILE, MOST_FILES
from ..output.doctor_findings import Finding, found
from . import checks as daemons
from .checks import NAMES, SHELL, DaemonCheck

NRPE_FILES = ('/etc/nagios/nrpe.cfg', '/etc/nrpe.cfg', '/usr/local/nagios/etc/nrpe.cfg')
CHECK_NRPE = (
    '/usr/lib/nagios/plugins/check_nrpe',
    '/usr/lib64/nagios/plugins/check_nrpe',
    '/usr/local/nagios/libexec/check_nrpe',
)
LOCAL = '127.0.0.1'
_COMMAND = re.compile(r'command\[(.+)\]')


class Setting(NamedTuple):
    """A line of a configuration."""

    file: str
    number: int
    name: str
    value: str


class Nrpe(NamedTuple):
    """What the configuration of NRPE says."""

    path: str = ''  # of the main file; '' without NRPE
    settings: Sequence[Setting] = ()

    def value(self, name: str, default: str = '') -> str:
        """Return the effective value of a setting: the last one."""
        values = [setting.value for setting in self.settings if setting.name == name]
        return values[-1] if values else default

    @property
    def is_readable(self) -> bool:
        """Return whether this user may read the main file."""
        return not self.path or os.access(daemons.ROOT + self.path, os.R_OK)

    @property
    def user(self) -> str:
        """Return the user whose processes run the commands."""
        return self.value('nrpe_user', 'nagios')


def _existing(paths: Sequence[str]) -> str:
    return next((path for path in paths if os.path.exists(daemons.ROOT + path)), '')


def text_of(path: str) -> str:
    """Return the text of a file; '' if it cannot be read."""
    return files.text(daemons.ROOT + path, LARGEST_SMALL_FILE)


def below(folder: str, end: str) -> list[str]:
    """Return the files in a folder and its subfolders, up to a fixed number."""
    paths: list[str] = []
    for here, _, names in os.walk(daemons.ROOT + folder):
        place = here[len(daemons.ROOT) :]
        paths += [os.path.join(place, name) for name in sorted(names) if name.endswith(end)]
        if len(paths) > MOST_FILES:
            break
    return paths[:MOST_FILES]


def settings_of(path: str, depth: int = 0) -> Iterator[Setting]:
    """Yield the settings of a configuration, including those of included files."""
    for number, line in enumerate(text_of(path).splitlines(), 1):
        name, sign, value = (part.strip() for part in line.partition('='))
        if not sign or name.startswith('#'):
            continue
        yield Setting(path, number, name, value)
        if name in ('include', 'include_dir') and depth < DEEPEST_INCLUDE:
            place = f'/{value.strip("/")}'
            for file in [place] if name == 'include' else below(place, '.cfg'):
                yield from settings_of(file, depth + 1)


def configured() -> Nrpe:
    """Return the configuration of NRPE."""
    path = _existing(NRPE_FILES)
    return Nrpe(path, list(settings_of(path))) if path else Nrpe()


def checks(nrpe: Nrpe) -> list[DaemonCheck]:
    """Return the commands of NRPE that run this plugin; the last definition of a name counts."""
    prefix = nrpe.value('command_prefix')
    commands = {}
    for setting in nrpe.settings:
        command = _COMMAND.fullmatch(setting.name)
        if command:
            commands[command[1]] = setting
    question = _question(nrpe)
    unit = daemons.unit_of('nagios-nrpe-server', 'nrpe')
    user_files = [setting.file for setting in nrpe.settings if setting.name == 'nrpe_user']
    found_checks = []
    for name, setting in commands.items():
        if not _is_ours(f'{name} {setting.value}'):
            continue
        check = DaemonCheck(
            daemon='NRPE',
            name=f'command[{name}]',
            user=nrpe.user,
            line=(SHELL, '-c', f'{prefix} {setting.value}'.strip()),
            file=setting.file,
            number=setting.number,
            unit=unit,
            seconds=float(nrpe.value('command_timeout', f'{daemons.USUAL}')),
            setting='command_timeout',
            question=(*question, '-c', name) if question else (),
            user_file=user_files[0] if user_files else '',
            user_setting='nrpe_user',
        )
        found_checks.append(check)
    return found_checks


def _is_ours(text: str) -> bool:
    return NAMES[0] in text.replace('-', '_')


def _question(nrpe: Nrpe) -> Sequence[str]:
    """Return the command that asks NRPE, without the name of a command; () if it may not be asked from here."""
    program = _existing(CHECK_NRPE)
    allowed = nrpe.value('allowed_hosts', LOCAL)
    if not program or LOCAL not in allowed.replace(' ', '').split(','):
        return ()
    address = nrpe.value('server_address', LOCAL)
    return program, '-H', address, '-p', nrpe.value('server_port', '5666'), '-t', '60'


def findings(nrpe: Nrpe, user: str) -> Iterator[Finding]:
    """Yield the findings for what NRPE does not read. user: the monitoring user that is examined."""
    if not nrpe.path:
        return
    unit = daemons.unit_of('nagios-nrpe-server', 'nrpe')
    if not nrpe.is_readable:
        yield found('daemon-not-readable', file=nrpe.path, user=user)
        return
    read = {setting.file for setting in nrpe.settings}
    for path in below(os.path.dirname(nrpe.path), '.cfg'):
        lines = [setting for setting in settings_of(path) if _COMMAND.fullmatch(setting.name)]
        if path not in read and any(_is_ours(setting.value) for setting in lines):
            yield found('nrpe-not-included', path=path, file=nrpe.path, unit=unit)
