"""Regular expressions that match only our smartctl command lines, for the rule of sudo.

They are made from the tuples in `smartctl_calls` and the types in `device_types`, so they are always
up to date. sudo matches all arguments, joined by blanks, against one extended regular expression.
"""

from __future__ import annotations

import re
from collections import defaultdict
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


def admits(expressions: Iterable[str], arguments: Command) -> bool:
    """Return whether one of the expressions matches a command line; Python interprets them as
    POSIX does.
    """
    words = ' '.join(arguments)
    return any(re.fullmatch(expression, words) for expression in expressions)


def all_expressions(requested: Iterable[str] = ()) -> Iterator[str]:
    """Yield the expressions that together match every command line of `smartctl_calls` for drives.

    requested: names of the types with vendor commands to allow; all other types with vendor
    commands are refused.
    """
    yield ' '.join(map(literally, smartctl_calls.SCAN))
    usual = f'({"|".join(PATHS)})'
    # types that smartctl also accepts after "sat+" or "scsi+"; all have the usual paths
    tunnelled = []
    # pattern of the paths -> those of the other types that have these paths
    by_nodes = defaultdict(list)
    for entry in device_types.TYPES:
        if entry.is_vendors and entry.name not in requested:
            continue
        expression = type_expression(entry)
        if entry.is_scsi:
            tunnelled.append(expression)
        else:
            by_nodes[entry.nodes or usual].append(expression)
    # POSIX has no non-capturing groups
    tunnel = device_types.TUNNELS.replace('(?:', '(')
    yield _read_expression(f'({tunnel})?({"|".join(tunnelled)})', usual)
    pages = f'({"|".join(smartctl_calls.PAGES)})'
    yield ' '.join(smartctl_calls.page_arguments(pages, '/dev/nvme[0-9]+'))
    for nodes, types in by_nodes.items():
        yield _read_expression(f'({"|".join(types)})', nodes)


def _read_expression(types: str, nodes: str) -> str:
    """Return the expression for all results of read_arguments(), in which each log and the type
    are optional.

    types, nodes: the expressions for a type and for a path below /dev.
    """
    expression = ''
    words = iter(smartctl_calls.read_arguments('PATH', 'TYPE'))
    for word in words:
        if word == '-l':
            expression += f'(-l {literally(next(words))} )?'
        elif word == '-d':
            next(words)  # TYPE
            expression += f'(-d {types} )?'
        elif word == 'PATH':
            expression += f'/dev/{nodes}'
        else:
            expression += literally(word) + ' '
    return expression


def type_expression(entry: DeviceType) -> str:
    """Return the expression for a type with its arguments: megaraid,[0-9]{1,5} for "megaraid,N".

    Numbers may have as many digits as the highest valid number; smartctl itself refuses numbers
    that are too high.
    """
    if not entry.slots:
        return literally(entry.name) + entry.arguments
    # "areca,N[/E]" -> areca,N(/E)? -> areca,[0-9]{1,3}(/E)? -> areca,[0-9]{1,3}(/[0-9])?
    expression = entry.form.replace('[', '(').replace(']', ')?')
    for _, highest in entry.slots:
        number = f'[0-9]{{1,{len(str(highest))}}}' if highest > 9 else '[0-9]'
        # the next capital letters stand for this number
        expression = re.sub('[A-Z]+', number, expression, count=1)
    return expression
