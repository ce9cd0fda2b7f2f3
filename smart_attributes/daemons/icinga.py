"""Ask Icinga 2 which checks of this plugin it runs on this machine.

"icinga2 daemon -C" validates the configuration and writes all objects with the lines that define them into a file, from
which "icinga2 object list" prints. Here the file is in a folder of its own, so nothing of Icinga's is changed.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .. import files
from ..access import name_of
from ..constants import LARGEST_SENT
from ..output.doctor_findings import Finding, found
from ..typed import Json
from ..words import closest
from . import checks as daemons
from .checks import NAMES, DaemonCheck

CONFIGURATION = '/etc/icinga2/icinga2.conf'
OWNED = '/var/cache/icinga2'  # belongs to the user whose processes run the checks
COMMAND = 'check-smart-attributes'
_MACRO = re.compile(r'\$([\w.]+)\$')
# similarity, 0 to 1, from which a name is misspelt
_CLOSE = 0.85
_ALIKE = 0.6  # enough for a name that Icinga does not know


class Objects(NamedTuple):
    """What Icinga's configuration says about this plugin."""

    node: str = ''  # NodeName
    # the CheckCommands that run this plugin, by name
    commands: Mapping[str, Json] = {}
    # the services that run it on this machine, each with its host and its CheckCommand
    services: Sequence[tuple[Json, Json, Json]] = ()


def _is_ours(command: Json) -> bool:
    """Return whether a CheckCommand runs this plugin."""
    line = command['properties'].get('command')
    words = line if isinstance(line, list) else str(line).split()
    return any(os.path.basename(str(word)) in NAMES for word in words)


def _values(data: bytes) -> Iterator[Json]:
    """Yield the JSON values of a file of netstrings, such as "4:true,2:15,"."""
    start = 0
    while start < len(data):
        colon = data.index(b':', start)
        end = colon + 1 + int(data[start:colon])
        yield json.loads(data[colon + 1 : end])
        start = end + 1  # after the comma


def ask() -> tuple[Objects | None, list[Finding]]:
    """Return the objects of Icinga's configuration, and the findings for what Icinga refuses. The objects
    are None if Icinga is missing, cannot be asked, or refuses its configuration.
    """
    if not os.path.exists(daemons.ROOT + CONFIGURATION):
        return None, []
    if not os.access(daemons.ROOT + CONFIGURATION, os.R_OK):
        return None, [
            found('daemon-not-readable', file=CONFIGURATION, user=name_of(os.geteuid()))
        ]
    folder = tempfile.mkdtemp(prefix='check-smart-attributes-')
    try:
        return _written_to(folder)
    except (OSError, ValueError, KeyError):
        return None, [found('icinga-not-understood')]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _written_to(folder: str) -> tuple[Objects | None, list[Finding]]:
    """Make Icinga write its objects into a folder, and return the objects and the findings:

    - icinga2 is not installed -> None, []
    - Icinga accepts its configuration, or has no exit status, because the time limit or a signal
      ended it -> the objects in the folder, []
    - our CheckCommand is undefined -> Objects(), [] (without commands, the doctor reports this)
    - Icinga refuses anything else -> None, [the finding for it]

    Raises OSError, ValueError or KeyError if the files are missing or have another format.
    """
    if os.geteuid() == 0 and os.path.isdir(OWNED):
        owner = os.stat(OWNED)
        os.chown(folder, owner.st_uid, owner.st_gid)
    line = ('icinga2', 'daemon', '-C', '-x', 'warning', f'-DCacheDir={folder}')
    # since 2.14; before, -C always writes the objects
    answer = daemons.ask((*line, '--dump-objects'))
    if answer.status and 'unrecognised option' in daemons.text_of(answer):
        answer = daemons.ask(line)
    if answer.outcome == 'not started':
        return None, []
    if answer.status in (0, None):
        return objects_in(folder), []
    printed = daemons.text_of(answer)
    if f"'{COMMAND}' of type 'CheckCommand' does not exist" in printed:
        return Objects(), []
    return None, [refusal(printed)]


def objects_in(folder: str) -> Objects:
    """Return the objects that Icinga wrote into a folder.

    Raises OSError, ValueError or KeyError if the files have another format.
    """
    by_type: defaultdict[str, list[Json]] = defaultdict(list)
    for value in _values(files.content(f'{folder}/icinga2.debug', LARGEST_SENT)):
        by_type[value['type']].append(value)
    variables = {
        variable['name']: variable['value']
        for variable in _values(files.content(f'{folder}/icinga2.vars', LARGEST_SENT))
    }
    node = variables.get('NodeName', '')
    commands = {
        command['name']: command
        for command in by_type['CheckCommand']
        if _is_ours(command)
    }
    hosts = {host['name']: host for host in by_type['Host']}
    services = []
    for service in by_type['Service']:
        properties = service['properties']
        command = commands.get(properties['check_command'])
        if command and properties['command_endpoint'] in ('', node):
            services.append((service, hosts[properties['host_name']], command))
    return Objects(node, commands, services)


def checks(objects: Objects) -> list[DaemonCheck]:
    """Return the services that run this plugin on this machine."""
    return [
        _check(service, host, command) for service, host, command in objects.services
    ]


def _check(service: Json, host: Json, command: Json) -> DaemonCheck:
    """Return a service as a check of this machine. Its file and line are those of its host."""
    of_service = service['properties']
    of_host = host['properties']
    of_command = command['properties']
    # a service can come from a rule that applies to many
    file, number = host['debug_info'][:2]
    seconds = of_service.get('check_timeout')
    setting = 'check_timeout'
    if not seconds:
        seconds = of_command.get('timeout') or daemons.USUAL
        setting = 'timeout of the CheckCommand'
    return DaemonCheck(
        daemon='Icinga',
        name=f'service {of_service["__name"]}',
        user=name_of(os.stat(OWNED).st_uid),
        line=line_of(of_command, _variables(of_service, of_host, of_command)),
        file=file,
        number=number,
        unit='icinga2',
        seconds=seconds,
        setting=setting,
    )


def _variables(service: Json, host: Json, command: Json) -> dict[str, Any]:
    """Return the values of macros; those of the service count before those of the host and of the command."""
    values = {
        'host.name': host['name'],
        'address': host.get('address'),
        'host.address': host.get('address'),
    }
    for properties in (command, host, service):
        values.update(properties.get('vars') or {})
    return values


def line_of(command: Json, values: Mapping[str, Any]) -> list[str]:
    """Return the command line of a CheckCommand. Source: Icinga 2, doc/03-monitoring-basics.md, Command Arguments."""
    words = command['command']
    if isinstance(words, str):
        words = words.split()
    line = [str(_filled(word, values)) for word in words]
    arguments = []
    for key, argument in (command.get('arguments') or {}).items():
        fields = argument if isinstance(argument, dict) else {'value': argument}
        arguments.append({'key': key, **fields})
    for argument in sorted(arguments, key=lambda argument: argument.get('order', 0)):
        line += _argument(argument, values)
    return line


def _argument(argument: Json, values: Mapping[str, Any]) -> list[str]:
    """Return the words of an argument of a command line; [] if it is left out."""
    key = argument['key']
    if 'set_if' in argument:
        condition = str(_filled(argument['set_if'], values)).lower()
        if condition in ('none', 'false', '0', ''):  # false for Icinga
            return []
    if 'value' not in argument:
        return [key]
    value = _filled(argument['value'], values)
    if value is None:
        return []
    words = [str(item) for item in value] if isinstance(value, list) else [str(value)]
    if argument.get('skip_key'):
        return words
    if not argument.get('repeat_key', True):
        return [key, *words]
    repeated = []
    for word in words:
        repeated += [key, word]
    return repeated


def _filled(text: Any, values: Mapping[str, Any]) -> Any:
    """Return a text with the values of its macros; the value itself if the text is one macro; None without a value."""
    if not isinstance(text, str):
        return text
    only = _MACRO.fullmatch(text)
    if only:
        return values.get(only[1])
    if any(values.get(name) is None for name in _MACRO.findall(text)):
        return None
    return _MACRO.sub(lambda macro: str(values[macro[1]]), text)


# --- the findings; pure ------------------------------------------------------------------------


def findings(objects: Objects) -> Iterator[Finding]:
    """Yield the findings for the services of this plugin."""
    if objects.commands and not objects.services:
        yield found('icinga-no-service', node=objects.node)
    for service, host, command in objects.services:
        variables = set(_MACRO.findall(str(command['properties'].get('arguments'))))
        yield from _misspelt(service, variables)
        yield from _misspelt(host, variables)


def _misspelt(owner: Json, used_in_arguments: set[str]) -> Iterator[Finding]:
    """Yield a finding for each variable of a service or host that no argument of its CheckCommand
    uses, but whose name is similar to a variable that an argument uses.
    """
    for name in owner['properties'].get('vars') or {}:
        # variables of Icinga are case-sensitive
        similar = difflib.get_close_matches(name, used_in_arguments, 1, _CLOSE)
        places = _places_of(name, owner)
        if similar and name not in used_in_arguments and places:
            _, file, line, *_ = places[-1]
            yield found(
                'icinga-variable-misspelt',
                name=name,
                right=similar[0],
                file=file,
                line=line,
            )


def _places_of(variable: str, owner: Json) -> Sequence[Sequence[Any]]:
    """Return the places that set a variable of a service or host, each ["=", file, line, ...]; () if
    Icinga does not name them.

    They are in {"properties": {"vars": {"properties": {VARIABLE: {"messages": [...]}}}}}.
    """
    hints = owner.get('debug_hints', {})
    for key in ('properties', 'vars', 'properties', variable):
        hints = hints.get(key, {})
    places: Sequence[Sequence[Any]] = hints.get('messages', ())
    return places


def refusal(printed: str) -> Finding:
    """Return the finding for a configuration that Icinga refuses."""
    place = re.search(r'Location: in (\S+): ([0-9]+):', printed)
    file, line = place.groups() if place else (CONFIGURATION, '1')
    name = re.search("Object '([^']+)' of type 'CheckCommand' does not exist", printed)
    if name and closest(name[1], [COMMAND], _ALIKE):
        return found(
            'icinga-command-misspelt', name=name[1], right=COMMAND, file=file, line=line
        )
    is_twice = re.search(
        "of type 'CheckCommand' (?:re-defined|already exists)", printed
    )
    if is_twice and COMMAND in printed:
        return found('icinga-command-twice', file=file)
    fault = re.search('critical/[^:]+: (?:Error: )?(.+)', printed)
    reason = fault[1] if fault else printed[:200]
    return found('icinga-refuses', reason=reason, file=file, line=line)
