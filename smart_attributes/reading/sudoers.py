"""Create the sudoers rule that allows only our smartctl command lines.

It is generated from the tuples in `smartctl_calls` and the types in `device_types`, so it is always up to date. sudo
compares all arguments, joined by blanks, with one extended regular expression. Older versions of sudo and similar
programs do not support expressions; their rule has a literal line for each drive.
"""
from __future__ import annotations

import math
import os
import re
import time

from ..constants import SMARTCTL
from ..errors import SmartError, UsageError
from ..model import HowRead
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import literally
from . import device_types, smartctl_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .device_types import DeviceType
    from .machine import DeviceList, Plan
    from .processes import Runner
    from .smartctl_calls import Command

    Drives = Callable[[], tuple[DeviceList, Sequence[Plan]]]  # which drives there are, and how each is read

FIRST_WITH_EXPRESSIONS = (1, 9, 10)  # sudo(8), release notes of 1.9.10
FIRST_WITH_LOG_ALLOWED = (1, 8, 29)  # sudoers(5)
FIRST_WITH_JSON = (7, 0)             # smartctl
SLACK = 5                            # seconds after our own time limit in which a smartctl ends by itself

# Paths of drives and controllers below /dev. All others are left out, above all folders that any user can write to
# (shm, mqueue) or that lead elsewhere (fd): such a path needs a literal line. No part may start with a dot.
PATHS = (
    'sd[a-z]+[0-9]*', 'hd[a-z][0-9]*', 'sg[0-9]+', 'nvme[0-9]+(n[0-9]+(p[0-9]+)?)?', 'ng[0-9]+n[0-9]+', 'bus/[0-9]+',
    *(node for each in device_types.CONTROLLERS.values() for node in each.own_nodes),
    'disk/by-[a-z]+/[A-Za-z0-9_][A-Za-z0-9_.:+=@-]*')

_PATH, _TYPE = 'PATH', 'TYPE'
_RESERVED = re.compile(r'[\\,:=]')            # in a literal argument; source: sudoers(5), "Other special characters"
_USER = r'[A-Za-z_][A-Za-z0-9_.-]*'
_EXECUTABLE = r'(/[A-Za-z0-9_+-][A-Za-z0-9_.+-]*)+'

# To sudo, a name in capitals is an alias or ALL. These words begin lines of another type.
_NO_USER = r'[A-Z][A-Z0-9_]*|Defaults.*|[A-Z][a-z]+_Alias.*'

HEAD = '''\
# Allows the smartctl calls of check_smart_attributes, and no others.
# Printed by "check_smart_attributes sudoers"; install it in /etc/sudoers.d, owner root, mode 0440.'''
QUIET = '''\
# These calls are not logged, because three lines each make about 10,000 a day on a typical server. To log them,
# delete the line that begins with Defaults. The Linux audit system records them in any case.'''


class SudoRule(NamedTuple):
    """A user, the calls of smartctl that sudo admits for that user, and for how long."""

    user: str
    executable: str
    timeout: int                          # seconds; sudo ends what takes longer. 0: no limit
    expressions: tuple[str, ...] = ()     # extended regular expressions for all arguments
    literal: tuple[Command, ...] = ()
    is_quiet: bool = True                 # sudo does not log calls that this rule allows


class RuleRequest(NamedTuple):
    """The options for a rule."""

    user: str
    is_literal: bool = False      # a line for each drive, no patterns
    types: tuple[str, ...] = ()   # types that are allowed only on request
    names_drives: bool = False


def text(request: RuleRequest, how: HowRead, runner: Runner, drives: Drives) -> str:
    """Return the file for /etc/sudoers.d that is requested.

    Raises UsageError for a user or smartctl that must not be in a rule, and SmartError if literal lines are needed
    but no drives are found.
    """
    _check(request, how)
    sudo = _sudo_version(how, runner)
    rule = general(request, how)
    if sudo and not version(sudo):
        rule = rule._replace(timeout=0)  # similar programs do not know this option
    if sudo and version(sudo) < FIRST_WITH_LOG_ALLOWED:
        rule = rule._replace(is_quiet=False)
    if request.is_literal or not knows_expressions(sudo):
        reason = ('as requested' if request.is_literal
                  else f'because this sudo ("{sudo}") does not support regular expressions (1.9.10 does)')
        return document(rule._replace(expressions=(), literal=tuple(_literal(how, runner, drives))),
                        f'# One line for each drive, {reason}. Print it again when drives or data files change.')
    lines = _literal(how, runner, drives) if request.names_drives else ()
    return document(rule._replace(literal=tuple(line for line in lines if not admits(rule.expressions, line))))


def general(request: RuleRequest, how: HowRead) -> SudoRule:
    """Return the rule that allows every drive at a usual path."""
    return SudoRule(request.user, how.smartctl, math.ceil(how.timeout) + SLACK, tuple(all_expressions(request.types)))


def document(rule: SudoRule, note: str = '') -> str:
    """Return the text of a file for /etc/sudoers.d."""
    return '\n'.join([HEAD, *([note] if note else []), *([QUIET] if rule.is_quiet else []), render(rule)])


def render(rule: SudoRule) -> str:
    """Return a rule in the language of sudoers(5)."""
    import zlib
    commands = [f'{rule.executable} ^{expression}$' for expression in rule.expressions]
    commands += [f'{rule.executable} ' + _RESERVED.sub(r'\\\g<0>', ' '.join(line)) for line in rule.literal]
    listed = ', \\\n    '.join(commands)
    # No two different rules on one machine share a name: sudo warns about a second definition.
    alias = (f'SMARTCTL_FOR_{re.sub("[^A-Z0-9]", "_", rule.user.upper())}_'
             f'{zlib.crc32(f"{rule.user} {listed}".encode()):08X}')
    # Only this form of sudoers(5) applies to our lines and not to every call of smartctl.
    quiet = [f'Defaults!{alias} !log_allowed, !pam_session'] if rule.is_quiet else []
    limit = f'TIMEOUT={rule.timeout} ' if rule.timeout else ''
    return '\n'.join([f'Cmnd_Alias {alias} = \\\n    {listed}', *quiet,
                      f'{rule.user} ALL=(root) {limit}NOPASSWD: {alias}'])


def admits(expressions: Iterable[str], arguments: Command) -> bool:
    """Return whether one of the expressions admits a command line; Python reads them as POSIX does."""
    return any(re.fullmatch(expression, ' '.join(arguments)) for expression in expressions)


# --- expressions --------------------------------------------------------------------

def all_expressions(requested: Iterable[str] = ()) -> Iterator[str]:
    """Yield the expressions that together admit every command line of `smartctl_calls` for drives.

    requested: names of types that ask with vendor commands; without it, none of these.
    """
    for scan in (smartctl_calls.SCAN, smartctl_calls.SCAN_TEXT):
        yield ' '.join(map(literally, scan))
    admitted = [entry for entry in device_types.TYPES if not entry.is_vendors or entry.name in requested]
    usual = f'({"|".join(PATHS)})'
    tunnel = device_types.TUNNELS.replace('(?:', '(')  # POSIX has no groups that are not counted
    types = '|'.join(type_expression(entry) for entry in admitted if entry.is_scsi)
    yield _read_expression(f'({tunnel})?({types})', usual)
    for nodes in dict.fromkeys(entry.nodes for entry in admitted):
        types = '|'.join(type_expression(entry) for entry in admitted if entry.nodes == nodes and not entry.is_scsi)
        yield _read_expression(f'({types})', nodes or usual)


def _read_expression(types: str, nodes: str) -> str:
    """Return the expression for all results of read_arguments(), in which any log, JSON and type are optional."""
    parts = []
    words = iter(smartctl_calls.read_arguments(_PATH, _TYPE))
    for word in words:
        if word in smartctl_calls.JSON:
            parts.append(f'({literally(word)} )?')
        elif word == '-l':
            parts.append(f'({word} {literally(next(words))} )?')
        elif word == '-d':
            parts.append(f'({word} {types} )?')
            next(words)
        elif word == _PATH:
            parts.append(f'/dev/{nodes}')
        else:
            parts.append(literally(word) + ' ')
    return ''.join(parts)


def type_expression(entry: DeviceType) -> str:
    """Return the expression of one type with its arguments; "megaraid,N" is megaraid,[0-9]{1,5}.

    Numbers have as many digits as the highest one; smartctl refuses those beyond it.
    """
    if not entry.slots:
        return literally(entry.name) + entry.arguments
    numbers = iter([f'[0-9]{{1,{len(str(highest))}}}' if highest > 9 else '[0-9]' for _, highest in entry.slots])
    form = entry.form.replace('[', '(').replace(']', ')?')
    return re.sub('[A-Z]+', lambda _: next(numbers), form)


# --- literal lines ------------------------------------------------------------------

def _literal(how: HowRead, runner: Runner, drives: Drives) -> Iterator[Command]:
    """Yield the command lines for the drives given, or for those of this machine."""
    devices, plans = drives()
    if not plans:
        raise SmartError('no drives found; name them with -d, or run this as root on the machine that has them')
    smartctl = smartctl_calls.version(_output(how, runner, (how.smartctl, *smartctl_calls.VERSION)))
    has_json = not smartctl or smartctl >= FIRST_WITH_JSON  # a smartctl that does not run counts as new
    if devices.is_scan:
        yield smartctl_calls.SCAN if has_json else smartctl_calls.SCAN_TEXT
    for each in plans:
        arguments = each.command[each.command.index(how.smartctl) + 1:]
        yield arguments if has_json else tuple(word for word in arguments if word not in smartctl_calls.JSON)


# --- this machine -------------------------------------------------------------------

def _check(request: RuleRequest, how: HowRead) -> None:
    if not re.fullmatch(_USER, request.user) or re.fullmatch(_NO_USER, request.user):
        raise UsageError('--user takes the name of one user, such as --user nagios; '
                         'sudo may take ALL, names in capitals, groups and numbers for other users')
    requestable = [entry.name for entry in device_types.TYPES if entry.is_vendors]
    if not set(request.types) <= set(requestable):
        raise UsageError(f'--type takes one of {", ".join(requestable)}; the rule always allows all other '
                         f'types')
    if not re.fullmatch(_EXECUTABLE, how.smartctl):
        raise UsageError(f'a rule needs the absolute path of smartctl, with letters, digits and _ . + - only, such as '
                         f'-p {SMARTCTL}')
    if os.path.lexists(how.smartctl):  # the rule may be installed before smartmontools
        smartctl_calls.check_executable(how.smartctl, as_root=True, through_sudo=True)


def _sudo_version(how: HowRead, runner: Runner) -> str:
    """Return the first line that sudo prints about itself: "Sudo version 1.9.13p3"; or '' without one."""
    try:
        sudo = smartctl_calls.find_sudo()
    except UsageError:
        return ''
    lines = _output(how, runner, (sudo, *smartctl_calls.VERSION)).decode('utf-8', 'replace').splitlines()
    return ''.join(sign for sign in lines[0] if sign.isprintable())[:60] if lines else ''


def _output(how: HowRead, runner: Runner, command: Command) -> bytes:
    answer = next(runner.run([command], 1, how.drive_timeout, time.monotonic() + how.timeout))
    return answer.stdout or answer.stderr  # sudo-rs prints its version there


def knows_expressions(sudo: str) -> bool:
    """Return whether a sudo of this version compares regular expressions; True without a sudo."""
    return not sudo or version(sudo) >= FIRST_WITH_EXPRESSIONS


def version(sudo: str) -> tuple[int, ...]:
    """Return (1, 9, 13) of "Sudo version 1.9.13p3"; () for other programs: "sudo-rs 0.2.8"."""
    match = re.match(r'Sudo version ([0-9.]+)', sudo)
    return tuple(int(number) for number in match[1].split('.') if number) if match else ()
