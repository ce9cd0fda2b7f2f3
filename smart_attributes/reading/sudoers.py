"""Regular expressions that match only our smartctl command lines, for the rule of sudo.

They are made from the tuples in `smartctl_calls` and the types in `device_types`, so they are always
up to date. sudo matches all arguments, joined by blanks, against one extended regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..constants import IS_FREEBSD
from ..typed import TYPE_CHECKING
from ..words import literally
from . import device_types, smartctl_calls

if TYPE_CHECKING:
    from .device_types import DeviceType
    from .smartctl_calls import Command

# Paths of drives and controllers below /dev. All others are left out, especially in folders that
# any user can write to (shm, mqueue) or that lead elsewhere (fd): such a path needs a literal line.
# No part may start with a dot.
# Source of the paths of FreeBSD: smartctl(8) there, section "FREEBSD", and the scan in
# os_freebsd.cpp.
PATHS = (
    (
        '[an]?da[0-9]+',
        'pass[0-9]+',
        'nvme[0-9]+(ns[0-9]+)?',
        'ciss[0-9]+',
        'mfi[0-9]+',
        'mrsas[0-9]+',
        'tw[aes][0-9]+',
    )
    if IS_FREEBSD
    else (
        'sd[a-z]+[0-9]*',
        'hd[a-z][0-9]*',
        'sg[0-9]+',
        'nvme[0-9]+(n[0-9]+(p[0-9]+)?)?',
        'ng[0-9]+n[0-9]+',
        'bus/[0-9]+',
        *(
            node
            for family in device_types.CONTROLLERS.values()
            for node in family.own_nodes
        ),
        'disk/by-[a-z]+/[A-Za-z0-9_][A-Za-z0-9_.:+=@-]*',
    )
)

_PATH, _TYPE = 'PATH', 'TYPE'


def admits(expressions: Iterable[str], arguments: Command) -> bool:
    """Return whether one of the expressions matches a command line; Python interprets them as
    POSIX does.
    """
    return any(
        re.fullmatch(expression, ' '.join(arguments)) for expression in expressions
    )


def all_expressions(requested: Iterable[str] = ()) -> Iterator[str]:
    """Yield the expressions that together match every command line of `smartctl_calls` for drives.

    requested: names of the types with vendor commands to allow; all other types with vendor
    commands are refused.
    """
    yield ' '.join(map(literally, smartctl_calls.SCAN))
    admitted = [
        entry
        for entry in device_types.TYPES
        if not entry.is_vendors or entry.name in requested
    ]
    usual = f'({"|".join(PATHS)})'
    # POSIX has no non-capturing groups
    tunnel = device_types.TUNNELS.replace('(?:', '(')
    types = '|'.join(type_expression(entry) for entry in admitted if entry.is_scsi)
    yield _read_expression(f'({tunnel})?({types})', usual)
    yield ' '.join(
        smartctl_calls.page_arguments(
            f'({"|".join(smartctl_calls.PAGES)})', '/dev/nvme[0-9]+'
        )
    )
    for nodes in dict.fromkeys(entry.nodes for entry in admitted):
        types = '|'.join(
            type_expression(entry)
            for entry in admitted
            if entry.nodes == nodes and not entry.is_scsi
        )
        yield _read_expression(f'({types})', nodes or usual)


def _read_expression(types: str, nodes: str) -> str:
    """Return the expression for all results of read_arguments(), in which each log and the type
    are optional.
    """
    parts = []
    words = iter(smartctl_calls.read_arguments(_PATH, _TYPE))
    for word in words:
        if word == '-l':
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
    """Return the expression for a type with its arguments: megaraid,[0-9]{1,5} for "megaraid,N".

    Numbers may have as many digits as the highest valid number; smartctl itself refuses numbers
    that are too high.
    """
    if not entry.slots:
        return literally(entry.name) + entry.arguments
    numbers = iter(
        [
            f'[0-9]{{1,{len(str(highest))}}}' if highest > 9 else '[0-9]'
            for _, highest in entry.slots
        ]
    )
    form = entry.form.replace('[', '(').replace(']', ')?')
    return re.sub('[A-Z]+', lambda _: next(numbers), form)
