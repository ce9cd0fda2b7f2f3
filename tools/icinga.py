"""Icinga's CheckCommand and the Director's basket, from the parser."""
from __future__ import annotations

import json
from typing import Any, Dict, Iterable, List

from described import Option, options

NAME = 'check-smart-attributes'
PREFIX = 'smart_attributes_'  # of custom variables; those of Icinga's own template smart-attributes begin so, too
TIMEOUT = 60                  # seconds; the plugin itself gives up after 55
# What a check command has no use for: they end with help, or read recordings.
LEFT_OUT = ('help', 'show_version', 'reports')

COMMAND = '''\
/* Made by tools/generate.py from the plugin's own options.
 *
 * The Debian package puts this file where "include <plugins-contrib>" finds it. Elsewhere copy it
 * to /etc/icinga2/conf.d or into a global zone. */

// An agent that has the package may get this from a global zone as well, and Icinga refuses a second definition.
if (!globals.contains("SmartAttributesCommand")) {{
	globals.SmartAttributesCommand = true

	object CheckCommand "{name}" {{
		command = [ PluginDir + "/check_smart_attributes" ]
		timeout = {timeout}s

		arguments = {{
{arguments}
		}}
	}}
}}
'''


def arguments() -> List[Option]:
    """Return the options that are arguments of the check command."""
    return [option for option in options('check') if option.dest not in LEFT_OUT and not option.is_old]


def variable(option: Option) -> str:
    """Return the custom variable of an option: "smart_attributes_device"."""
    return PREFIX + option.long.lstrip('-').replace('-', '_')


def check_command() -> str:
    """Return the configuration file with the CheckCommand."""
    return COMMAND.format(name=NAME, timeout=TIMEOUT, arguments='\n'.join(map(_argument, arguments())))


def _argument(option: Option) -> str:
    kind = 'value' if option.value else 'set_if'
    text = option.help.replace('"', "'")
    return (f'\t\t\t"{option.long}" = {{\n\t\t\t\t{kind} = "${variable(option)}$"\n\t\t\t\tdescription = '
            f'"{text}"\n\t\t\t}}')


def basket() -> str:
    """Return the Director's basket: the command, its fields, a service template."""
    return json.dumps(_basket(), indent=4) + '\n'


def _basket() -> Dict[str, Any]:
    fields = [_field(variable(option), option.long.lstrip('-').replace('-', ' '), option.help, _datatype(option))
              for option in arguments()]
    hosts = [_field('smart', 'SMART', 'check all drives of this host in one service', 'Boolean'),
             _field('smart_drives', 'drives',
                    'check each of these addresses in a service of its own: what "list" prints', 'Array')]
    numbered = {str(number): field for number, field in enumerate([*fields, *hosts], 1)}
    of_command, of_host = range(1, len(fields) + 1), range(len(fields) + 1, len(numbered) + 1)
    return {
        'Datafield': numbered,
        # The command itself comes from its configuration file, by a kickstart: defined twice it would be an error.
        'ExternalCommand': {NAME: {'object_name': NAME, 'object_type': 'external_object',
                                   'fields': _links(of_command)}},
        'HostTemplate': {'smart': {'object_name': 'smart', 'object_type': 'template', 'fields': _links(of_host)}},
        'ServiceTemplate': {'smart': {
            'object_name': 'smart', 'object_type': 'template', 'check_command': NAME, 'check_interval': '300',
            'retry_interval': '60'}},
        'ServiceSet': {
            'SMART': _set('SMART', 'One service for all drives of a host',
                          'host.vars.smart=true&!host.vars.smart_drives=true', {
                'object_name': 'smart', 'object_type': 'object', 'imports': ['smart']}),
            'SMART, each drive': _set('SMART, each drive', 'One service for each drive of a host',
                                      'host.vars.smart_drives=true', {
                'object_name': 'smart $config$', 'object_type': 'object', 'imports': ['smart'],
                'apply_for': 'host.vars.smart_drives',
                'vars': {f'{PREFIX}device': '$config$'}})}}


def _field(name: str, caption: str, text: str, kind: str) -> Dict[str, Any]:
    return {'varname': name, 'caption': caption, 'description': text, 'format': None, 'settings': {},
            'datatype': f'Icinga\\Module\\Director\\DataType\\DataType{kind}'}


def _datatype(option: Option) -> str:
    return 'Boolean' if not option.value else 'Array' if option.repeats else 'String'


def _links(numbers: Iterable[int]) -> List[Dict[str, Any]]:
    return [{'datafield_id': number, 'is_required': 'n', 'var_filter': None} for number in numbers]


def _set(name: str, text: str, assigned: str, service: Dict[str, Any]) -> Dict[str, Any]:
    return {'object_name': name, 'object_type': 'template', 'description': text, 'assign_filter': assigned,
            'services': [service]}


def rows() -> List[str]:
    """One row a custom variable, for the documentation."""
    return [f'| `{variable(option)}` | `{option.long}` | {_kind(option)} | {option.help} |'.replace('FILE|DIR',
                                                                                                    'FILE\\|DIR')
            for option in arguments()]


def _kind(option: Option) -> str:
    return 'true or false' if not option.value else 'one value or an array' if option.repeats else 'one value'
