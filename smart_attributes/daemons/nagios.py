"""Ask NRPE and Nagios which checks of this plugin they run on this machine.

NRPE answers check_nrpe, but does not list its commands, so their names come from its configuration. Nagios writes
all objects that it uses into its object cache.
"""

from __future__ import annotations

import difflib
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
NAGIOS_FILES = (
    '/etc/nagios4/nagios.cfg',
    '/etc/nagios/nagios.cfg',
    '/etc/naemon/naemon.cfg',
    '/usr/local/nagios/etc/nagios.cfg',
)
CHECK_NRPE = (
    '/usr/lib/nagios/plugins/check_nrpe',
    '/usr/lib64/nagios/plugins/check_nrpe',
    '/usr/local/nagios/libexec/check_nrpe',
)
OURS = ('smart_attributes_drives', 'smart_attributes_all', 'smart_attributes_nrpe')
LOCAL = ('127.0.0.1', 'localhost', '::1')
_COMMAND = re.compile(r'command\[(.+)\]')
_OBJECT = re.compile(r'^define (\w+) \{\n(.*?)\n\s*\}', re.MULTILINE | re.DOTALL)
_MACRO = re.compile(r'\$(\w+)\$')
_FAULT = re.compile(r'Error:? (.+)')
_UNDEFINED = re.compile(
    r"check command '([^'!]+)[^']*' .*not defined anywhere", re.IGNORECASE
)
_THROUGH_NRPE = re.compile(r'check_nrpe\b.*\s-H\s*(\S+).*\s-c\s*(\S+)')


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
        paths += [
            os.path.join(place, name) for name in sorted(names) if name.endswith(end)
        ]
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


def nrpe() -> Nrpe:
    """Return the configuration of NRPE."""
    path = _existing(NRPE_FILES)
    return Nrpe(path, list(settings_of(path))) if path else Nrpe()


# --- NRPE --------------------------------------------------------------------------------------


def nrpe_checks(nrpe: Nrpe) -> list[DaemonCheck]:
    """Return the commands of NRPE that run this plugin; the last definition of a name counts."""
    prefix = nrpe.value('command_prefix')
    commands = {}
    for setting in nrpe.settings:
        command = _COMMAND.fullmatch(setting.name)
        if command:
            commands[command[1]] = setting
    question = _question(nrpe)
    unit = daemons.unit_of('nagios-nrpe-server', 'nrpe')
    user_files = [
        setting.file for setting in nrpe.settings if setting.name == 'nrpe_user'
    ]
    checks = []
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
        checks.append(check)
    return checks


def _is_ours(text: str) -> bool:
    return NAMES[0] in text.replace('-', '_')


def _question(nrpe: Nrpe) -> Sequence[str]:
    """Return the command that asks NRPE, without the name of a command; () if it may not be asked from here."""
    program = _existing(CHECK_NRPE)
    allowed = nrpe.value('allowed_hosts', LOCAL[0])
    if not program or LOCAL[0] not in allowed.replace(' ', '').split(','):
        return ()
    address = nrpe.value('server_address', LOCAL[0])
    return program, '-H', address, '-p', nrpe.value('server_port', '5666'), '-t', '60'


def nrpe_findings(nrpe: Nrpe, user: str) -> Iterator[Finding]:
    """Yield the findings for what NRPE does not read. user: the monitoring user that is examined."""
    if not nrpe.path:
        return
    unit = daemons.unit_of('nagios-nrpe-server', 'nrpe')
    if not nrpe.is_readable:
        yield found('daemon-not-readable', file=nrpe.path, user=user)
        return
    read = {setting.file for setting in nrpe.settings}
    for path in below(os.path.dirname(nrpe.path), '.cfg'):
        lines = [
            setting for setting in settings_of(path) if _COMMAND.fullmatch(setting.name)
        ]
        if path not in read and any(_is_ours(setting.value) for setting in lines):
            yield found('nrpe-not-included', path=path, file=nrpe.path, unit=unit)


# --- Nagios ------------------------------------------------------------------------------------


def nagios_checks(nrpe: Nrpe) -> tuple[list[DaemonCheck], list[Finding]]:
    """Return the services of Nagios that run this plugin on this machine, and what Nagios refuses.

    nrpe: the configuration of NRPE, which Nagios can ask for this machine.
    """
    path = _existing(NAGIOS_FILES)
    if not path:
        return [], []
    settings = {setting.name: setting.value for setting in settings_of(path)}
    unit = daemons.unit_of(os.path.basename(os.path.dirname(path)), 'nagios', 'naemon')
    refused = daemons.ask((unit, '-v', path))
    if refused.status:
        return [], [_refusal(daemons.text_of(refused), path, unit)]
    cache = text_of(settings.get('object_cache_file', ''))
    if not cache:
        return [], [
            found('nagios-not-started', file=settings.get('object_cache_file', ''))
        ]
    macros = {
        setting.name.strip('$'): setting.value
        for setting in settings_of(settings.get('resource_file', ''))
    }
    objects = [(kind, _fields(body)) for kind, body in _OBJECT.findall(cache)]
    commands = {
        fields['command_name']: fields['command_line']
        for kind, fields in objects
        if kind == 'command'
    }
    hosts = {fields['host_name']: fields for kind, fields in objects if kind == 'host'}
    checks = [
        DaemonCheck(
            daemon='Nagios',
            name=f'{fields["host_name"]}!{fields["service_description"]}',
            user=settings.get('nagios_user', 'nagios'),
            line=(SHELL, '-c', _line(fields, commands, hosts, macros)),
            unit=unit,
            seconds=float(settings.get('service_check_timeout', daemons.USUAL)),
            setting='service_check_timeout',
            user_file=path,
            user_setting='nagios_user',
        )
        for kind, fields in objects
        if kind == 'service' and 'check_command' in fields
    ]
    return [_located(check, path) for check in checks if _runs_here(check, nrpe)], []


def _fields(body: str) -> dict[str, str]:
    pairs = (line.strip().partition('\t') for line in body.splitlines())
    return {name: value for name, _, value in pairs}


def _line(
    service: dict[str, str],
    commands: dict[str, str],
    hosts: dict[str, dict[str, str]],
    macros: dict[str, str],
) -> str:
    """Return the command line of a service, with the values of its macros."""
    name, *arguments = service['check_command'].split('!')
    host = service['host_name']
    values = {
        **macros,
        'HOSTNAME': host,
        'HOSTADDRESS': hosts.get(host, {}).get('address', host),
        **{f'ARG{number}': value for number, value in enumerate(arguments, 1)},
    }

    def filled(text: str) -> str:
        return _MACRO.sub(lambda macro: values.get(macro[1], ''), text)

    values = {name: filled(value) for name, value in values.items()}
    return filled(commands.get(name, ''))


def _runs_here(check: DaemonCheck, nrpe: Nrpe) -> bool:
    """Return whether a service runs this plugin on this machine, itself or through its NRPE."""
    through = _THROUGH_NRPE.search(check.text)
    if through:
        names = [name.name for name in nrpe_checks(nrpe)]
        return through[1] in LOCAL and f'command[{through[2]}]' in names
    return any(name in check.text for name in NAMES)


def _located(check: DaemonCheck, path: str) -> DaemonCheck:
    """Return the check with the line that holds its options; the cache does not name files."""
    words = check.text.split()
    best = ('', 0, 0)
    for file in below(os.path.dirname(path), '.cfg'):
        for number, line in enumerate(text_of(file).splitlines(), 1):
            name = line.split()[:1]
            shared = sum(word in line for word in words)
            if name in (['command_line'], ['check_command']) and shared > best[2]:
                best = (file, number, shared)
    return check._replace(file=best[0], number=best[1])


def _refusal(printed: str, path: str, unit: str) -> Finding:
    """Return the finding for a configuration that Nagios refuses; a command name that was misspelt is corrected."""
    fault = _FAULT.search(printed)
    reason = fault[1] if fault else printed[-200:]
    finding = found('nagios-refuses', file=path, reason=reason, unit=unit)
    name = _UNDEFINED.search(printed)
    right = difflib.get_close_matches(name[1], OURS, 1) if name else []
    if not name or not right:
        return finding
    folder = os.path.dirname(path)
    return found(
        'nagios-command-misspelt',
        name=name[1],
        right=right[0],
        folder=folder,
        unit=unit,
    )
