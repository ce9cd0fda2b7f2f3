"""Ask NRPE and Nagios which checks of this plugin they run on this machine.

NRPE answers check_nrpe, but does not list its commands, so their names come from its configuration. Nagios writes
all objects that it uses into its object cache.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import files
from ..constants import DEEPEST_INCLUDE, LARGEST_SMALL_FILE, MOST_FILES
from ..output.doctor_findings import Finding, found
from ..words import closest
from . import checks as daemons
from .checks import NAMES, SHELL, DaemonCheck

Values = dict[str, str]  # directives, settings or macros, by name
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
NRPE_UNITS = ('nagios-nrpe-server', 'nrpe')
OURS = ('smart_attributes_drives', 'smart_attributes_all', 'smart_attributes_nrpe')
LOCAL = ('127.0.0.1', 'localhost', '::1')
_COMMAND = re.compile(r'command\[(.+)\]')
_UNDEFINED = re.compile(
    r"check command '([^'!]+)[^']*' .*not defined anywhere", re.IGNORECASE
)


class Setting(NamedTuple):
    """A line of a configuration."""

    file: str
    number: int
    name: str
    value: str


class Nrpe(NamedTuple):
    """What the configuration of NRPE says."""

    path: str  # of the main file; '' without NRPE
    settings: Sequence[Setting]

    def value(self, name: str, default: str = '') -> str:
        """Return the effective value of a setting: the last one."""
        values = {setting.name: setting.value for setting in self.settings}
        return values.get(name, default)


def text_of(path: str) -> str:
    """Return the text of a file; '' if it cannot be read."""
    return files.text(daemons.ROOT + path, LARGEST_SMALL_FILE)


def files_below(folder: str) -> list[str]:
    """Return the first *.cfg files in a folder and its subfolders."""
    paths: list[str] = []
    for here, _, names in os.walk(daemons.ROOT + folder):
        place = here[len(daemons.ROOT) :]  # as Nagios names it
        paths += [
            os.path.join(place, name) for name in sorted(names) if name.endswith('.cfg')
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
            included = [place] if name == 'include' else files_below(place)
            for file in included:
                yield from settings_of(file, depth + 1)


def nrpe() -> Nrpe:
    """Return the configuration of NRPE; without a path if this machine has none."""
    path = daemons.existing(NRPE_FILES)
    return Nrpe(path, list(settings_of(path)))


# --- NRPE --------------------------------------------------------------------------------------


def nrpe_checks(nrpe: Nrpe) -> list[DaemonCheck]:
    """Return the commands of NRPE that run this plugin; the last definition of a name counts."""
    prefix = nrpe.value('command_prefix')
    commands = {}
    user_file = ''
    for setting in nrpe.settings:
        command = _COMMAND.fullmatch(setting.name)
        if command:
            commands[command[1]] = setting
        if setting.name == 'nrpe_user':
            user_file = setting.file
    question = _question(nrpe)
    unit = daemons.unit_of(*NRPE_UNITS)
    checks = []
    for name, setting in commands.items():
        if not _is_ours(f'{name} {setting.value}'):
            continue
        checks.append(
            DaemonCheck(
                daemon='NRPE',
                name=f'command[{name}]',
                user=nrpe.value('nrpe_user', 'nagios'),
                line=(SHELL, '-c', f'{prefix} {setting.value}'.strip()),
                file=setting.file,
                number=setting.number,
                unit=unit,
                seconds=float(nrpe.value('command_timeout', f'{daemons.USUAL}')),
                setting='command_timeout',
                question=(*question, '-c', name) if question else (),
                user_file=user_file,
                user_setting='nrpe_user',
            )
        )
    return checks


def _is_ours(text: str) -> bool:
    """Return whether a command of NRPE runs this plugin. text: its name and its line."""
    return NAMES[0] in text.replace('-', '_')


def _question(nrpe: Nrpe) -> Sequence[str]:
    """Return the command that asks NRPE, without the name of a command; () if check_nrpe is not
    installed, or NRPE does not answer this machine.
    """
    program = daemons.existing(CHECK_NRPE)
    allowed = nrpe.value('allowed_hosts', LOCAL[0])
    if not program or LOCAL[0] not in allowed.replace(' ', '').split(','):
        return ()
    address = nrpe.value('server_address', LOCAL[0])
    return program, '-H', address, '-p', nrpe.value('server_port', '5666'), '-t', '60'


def nrpe_findings(nrpe: Nrpe, user: str) -> Iterator[Finding]:
    """Yield the findings for what NRPE does not read. user: the monitoring user that is examined."""
    if not nrpe.path:
        return
    if not os.access(daemons.ROOT + nrpe.path, os.R_OK):
        yield found('daemon-not-readable', file=nrpe.path, user=user)
        return
    unit = daemons.unit_of(*NRPE_UNITS)
    read = {setting.file for setting in nrpe.settings}
    for path in files_below(os.path.dirname(nrpe.path)):
        has_ours = any(
            _COMMAND.fullmatch(setting.name) and _is_ours(setting.value)
            for setting in settings_of(path)
        )
        if has_ours and path not in read:
            yield found('nrpe-not-included', path=path, file=nrpe.path, unit=unit)


# --- Nagios ------------------------------------------------------------------------------------


def nagios_checks(nrpe: Nrpe) -> tuple[list[DaemonCheck], list[Finding]]:
    """Return the services of Nagios that run this plugin on this machine, and what Nagios refuses.

    nrpe: the configuration of NRPE, which Nagios can ask for this machine.
    """
    path = daemons.existing(NAGIOS_FILES)
    if not path:
        return [], []
    settings = _values(path)
    # "nagios4" of /etc/nagios4/nagios.cfg; the program has the name of its service
    folder_name = os.path.basename(os.path.dirname(path))
    unit = daemons.unit_of(folder_name, 'nagios', 'naemon')
    validation = daemons.ask((unit, '-v', path))
    if validation.status:
        return [], [_refusal(daemons.text_of(validation), path, unit)]
    cache = settings.get('object_cache_file', '')
    text = text_of(cache)
    if not text:
        return [], [found('nagios-not-started', file=cache)]
    checks = []
    for name, line in _service_lines(text, settings):
        check = DaemonCheck(
            daemon='Nagios',
            name=name,
            user=settings.get('nagios_user', 'nagios'),
            line=(SHELL, '-c', line),
            unit=unit,
            seconds=float(settings.get('service_check_timeout', daemons.USUAL)),
            setting='service_check_timeout',
            user_file=path,
            user_setting='nagios_user',
        )
        if _runs_here(check, nrpe):
            checks.append(_located(check, path))
    return checks, []


def _service_lines(text: str, settings: Values) -> Iterator[tuple[str, str]]:
    """Yield the name and the command line of each service with a command. text: the object cache."""
    objects = [
        (kind, _fields(body))
        for kind, body in re.findall(r'(?ms)^define (\w+) \{\n(.*?)\n\s*\}', text)
    ]
    macros = _values(settings.get('resource_file', ''))
    lines = {}
    addresses = {}
    for kind, fields in objects:
        if kind == 'command':
            lines[fields['command_name']] = fields['command_line']
        elif kind == 'host' and 'address' in fields:
            addresses[fields['host_name']] = fields['address']
    for kind, service in objects:
        if kind == 'service' and 'check_command' in service:
            name = f'{service["host_name"]}!{service["service_description"]}'
            yield name, _line(service, lines, addresses, macros)


def _values(path: str) -> Values:
    """Return the values of a configuration by name; the last one counts."""
    return {setting.name: setting.value for setting in settings_of(path)}


def _fields(body: str) -> Values:
    """Return the values of an object of Nagios by name."""
    pairs = (line.strip().partition('\t') for line in body.splitlines())
    return {name: value for name, _, value in pairs}


def _line(
    service: Values,
    lines: Values,
    addresses: Values,
    macros: Values,
) -> str:
    """Return the command line of a service, with the values of its macros; '' if its command is unknown.

    lines: of the commands. addresses: of the hosts. macros: of the resource file, such as "$USER1$".
    """
    name, *arguments = service['check_command'].split('!')
    host = service['host_name']
    values = {
        **macros,
        '$HOSTNAME$': host,
        '$HOSTADDRESS$': addresses.get(host, host),
        **{f'$ARG{number}$': value for number, value in enumerate(arguments, 1)},
    }
    # an argument can contain macros, too
    filled = {macro: _filled(value, values) for macro, value in values.items()}
    return _filled(lines.get(name, ''), filled)


def _filled(text: str, values: Values) -> str:
    """Return a text with the values of its macros; a macro without a value is left out."""
    return re.sub(r'\$\w+\$', lambda macro: values.get(macro[0], ''), text)


def _runs_here(check: DaemonCheck, nrpe: Nrpe) -> bool:
    """Return whether a service runs this plugin on this machine, itself or through its NRPE."""
    through = re.search(r'check_nrpe\b.*\s-H\s*(\S+).*\s-c\s*(\S+)', check.text)
    if through:
        host, command = through.groups()
        names = [of_nrpe.name for of_nrpe in nrpe_checks(nrpe)]
        return host in LOCAL and f'command[{command}]' in names
    return any(name in check.text for name in NAMES)


def _located(check: DaemonCheck, path: str) -> DaemonCheck:
    """Return a check of Nagios with the file and the number of the line that probably defines it.

    The object cache, which the check comes from, names neither. Candidates are the lines that begin
    with "command_line" or "check_command", in the files below the folder of *path* (nagios.cfg).
    The line that contains the most words of the check's command line is used; of several, the
    first. If no line contains such a word, the check is returned unchanged.
    """
    words = check.text.split()
    most_shared = 0
    for file in files_below(os.path.dirname(path)):
        for number, line in enumerate(text_of(file).splitlines(), 1):
            shared = sum(word in line for word in words)
            is_command = re.match(r'\s*(?:command_line|check_command)\s', line)
            if is_command and shared > most_shared:
                most_shared = shared
                check = check._replace(file=file, number=number)
    return check


def _refusal(printed: str, path: str, unit: str) -> Finding:
    """Return the finding for a configuration that Nagios refuses; a command name that was misspelt is corrected."""
    name = _UNDEFINED.search(printed)
    if name:
        right = closest(name[1], OURS, 0.6)
        if right:
            return found(
                'nagios-command-misspelt',
                name=name[1],
                right=right,
                folder=os.path.dirname(path),
                unit=unit,
            )
    fault = re.search('Error:? (.+)', printed)
    reason = fault[1] if fault else printed[-200:]
    return found('nagios-refuses', file=path, reason=reason, unit=unit)
