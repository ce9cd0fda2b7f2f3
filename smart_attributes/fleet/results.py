"""Services from Icinga 2's API: their latest result and how users handle it. Pure: no queries are made here.

Source: Icinga 2, doc/09-object-types.md ("Checkable"), doc/08-advanced-topics.md ("CheckResult").
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..typed import Json
from ..words import visible

OUTPUT, VALUES = 256 << 10, 20_000   # characters of one output, and values of its perfdata, that are read
NAME = 255                 # characters of the name of a host or service
OK, HARD = 0, 1            # values of `state` and `state_type`
# Attributes that are above 0 while a user handles a problem.
HANDLING: Mapping[str, str] = {'downtime_depth': 'in downtime', 'acknowledgement': 'acknowledged'}
ASKED = ('__name', 'last_check_result', 'check_interval', 'enable_active_checks', 'state_type', 'last_reachable',
         *HANDLING)
# Icinga shows these only to an ApiUser that may query hosts, and otherwise omits them without an error.
JOINED = tuple(f'host.{attribute}' for attribute in HANDLING)


class Result(NamedTuple):
    """The latest result of a check."""

    state: int                   # as Icinga recorded it
    output: str
    values: Sequence[str]        # texts of the perfdata
    ended: float                 # seconds since 1970
    status: int = 0              # exit status of the check


class Service(NamedTuple):
    """A service that runs the plugin."""

    host: str
    name: str
    result: Result | None     # None: not checked yet
    interval: float              # seconds between two checks
    is_active: bool              # scheduled by Icinga; passive results arrive at any time
    handling: tuple[str, ...] = ()  # "host in downtime", "service acknowledged", "soft state", "not reachable"
    is_host_shown: bool = False  # Icinga shows its host as well, so the downtime of the host is known


def service(found: Json) -> Service:
    """Return a service; values that do not match Icinga's documentation are treated as missing."""
    host, _, name = str(found.get('name', '')).partition('!')
    own = _object(found.get('attrs'))
    of_host = _object(_object(found.get('joins')).get('host'))
    result = own.get('last_check_result')
    return Service(visible(host[:NAME]) or '-', visible(name[:NAME]),
                   _result(result) if isinstance(result, dict) else None,
                   _number(own.get('check_interval')), own.get('enable_active_checks') is not False,
                   _handling(own, of_host), bool(of_host))


def _handling(own: Json, of_host: Json) -> tuple[str, ...]:
    result = _object(own.get('last_check_result'))
    is_soft = own.get('state_type') != HARD and _number(result.get('state')) != OK
    return (*(f'{thing} {words}' for thing, attributes in (('host', of_host), ('service', own))
              for key, words in HANDLING.items() if _number(attributes.get(key)) > 0),
            *(['soft state'] if is_soft and 'state_type' in own else []),
            *(['not reachable'] if own.get('last_reachable') is False else []))


def _object(found: object) -> Json:
    return found if isinstance(found, dict) else {}


def _result(found: Json) -> Result:
    values = found.get('performance_data')
    output = found.get('output')
    return Result(int(_number(found.get('state'))), output[:OUTPUT] if isinstance(output, str) else '',
                  [each for each in values[:VALUES] if isinstance(each, str)] if isinstance(values, list) else (),
                  _number(found.get('execution_end')), int(_number(found.get('exit_status'))))


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e12 else 0.0
