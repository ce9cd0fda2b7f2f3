"""Device addresses from the options -r and -O of version 1.6.

Version 1.6 passed -r to a shell and to find. This module runs no programs: it compares the paths under /dev with the
expression and skips devices that cannot be drives, as a scan does.
"""
from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence

from ..errors import UsageError
from ..model import Device
from ..reading import virtual_devices
from ..reading.addresses import parse

DEV = '/dev'
# The order in which version 1.6 ran find for them: files, block devices, links, character devices.
_KINDS = (stat.S_ISREG, stat.S_ISBLK, stat.S_ISLNK, stat.S_ISCHR)
_NEVER_ENTERED = frozenset(('shm', 'mqueue', 'hugepages', 'pts', 'fd'))
_PARTITION = r'.*(?:-part[0-9]+|/(?:[shv]d|xvd)[a-z]+[0-9]+|/(?:nvme[0-9]+n|mmcblk|loop|md)[0-9]+p[0-9]+)'
_RANGE = r'megaraid\[[0-9]+-[0-9]+\],/dev/[a-z]+'
# Character classes of egrep -> the same in Python's syntax.
_CLASSES: Mapping[str, str] = {
    '[:digit:]': '0-9', '[:lower:]': 'a-z', '[:upper:]': 'A-Z', '[:alpha:]': 'a-zA-Z', '[:alnum:]': 'a-zA-Z0-9',
    '[:xdigit:]': '0-9a-fA-F'}


def named(addresses: Sequence[str], pattern: str | None, option: str) -> tuple[list[Device], bool, tuple[str, ...]]:
    """Return the devices of -d, else those of -r; whether they were searched for; and notes.

    pattern, option: the values of -r and -O. Raises UsageError.
    """
    if pattern is not None and not addresses:
        devices, remarks = matching(pattern, option)
        return devices, True, tuple(remarks)
    notes = [] if pattern is None else ['-r is ignored because of -d, as in version 1.6']
    notes += [f'-O {option} does not apply to {address} and is ignored, as in version 1.6'
              for address in addresses if option and typed(address, option) == address]
    return [device for address in addresses for device in parse(typed(address, option))], False, tuple(notes)


def typed(address: str, option: str) -> str:
    """Return an address with the type from -O; unchanged without -O, or if version 1.6 ignored -O.

    Raises UsageError if version 1.6 did not accept the type here.
    """
    if not option:
        return address
    if address.startswith('megaraid'):
        if option != 'sat+':
            raise UsageError(f'-O {option}: megaraid allows only sat+; leave it out, or write TYPE@PATH such as '
                             f'sat+megaraid,6@/dev/bus/0')
        return option + address
    if re.fullmatch(r'/dev/sg[0-9]+', address):
        if option not in ('sat', 'scsi'):
            raise UsageError(f'-O {option}: {address} allows only sat or scsi; or write TYPE@PATH such as '
                             f'sat@{address}')
        return f'{option}@{address}'
    return f'{option}@{address}' if address.startswith('/dev/disk/by-') else address


def matching(pattern: str, option: str = '', root: str = DEV) -> tuple[list[Device], list[str]]:
    """Return the drives of -r, which are MegaRAID slots or paths that the whole expression matches, and notes.

    option: the type from -O, or ''. root: the directory to search. Raises UsageError if the expression is invalid or
    does not match any drive.
    """
    text = unquoted(pattern)
    if re.fullmatch(_RANGE, text):
        return parse(typed(text, option)), []
    paths, notes = matching_paths(text, root)
    devices: list[Device] = []
    for path in paths:
        try:
            kind = virtual_devices.of_path(path)
            if kind:
                raise UsageError(f'it is {kind}, not a drive with SMART')
            devices += parse(typed(path, option))
        except UsageError as error:
            notes.append(f'-r matches {path}, which is left out: {error}')
    if not devices:
        raise UsageError(f'-r "{text[:80]}" matches no drive under {root}; the expression must match the whole path, '
                         f'such as /dev/sd[a-z]+, and partitions do not count')
    return devices, notes


def matching_paths(text: str, root: str) -> tuple[list[str], list[str]]:
    """Return the paths under *root* that the whole expression matches, without partitions, and notes.

    Raises UsageError if the expression is invalid.
    """
    expression = text
    for name, signs in _CLASSES.items():
        expression = expression.replace(name, signs)
    try:
        wholly = re.compile(expression, re.DOTALL).fullmatch
    except (re.error, RuntimeError, OverflowError) as error:
        raise UsageError(f'-r "{expression[:80]}" is not a valid regular expression ({error}); write one such as '
                         '/dev/sd[a-z]+') from None
    matches = [(os.lstat(path).st_mode, path) for path in _paths(root) if wholly(path)]
    paths = [path for kind in _KINDS for path in sorted(path for mode, path in matches if kind(mode))]
    drives = [path for path in paths if not re.fullmatch(_PARTITION, path)]
    left_out = len(paths) - len(drives)
    return drives, [f'-r matches {left_out} partitions, which are left out'] if left_out else []


def unquoted(pattern: str) -> str:
    """Return an expression without the quotes and backslashes that version 1.6 needed for its shell.

    Paths of drives never contain brackets, bars or other special characters of expressions, so a backslash before one
    of them must have been for the shell.
    """
    if len(pattern) > 1 and pattern[0] == pattern[-1] and pattern[0] in '\'"':
        pattern = pattern[1:-1]
    return re.sub(r'\\+([()|{}\[\]^$*+?])', r'\1', pattern)


def _paths(root: str) -> Iterator[str]:
    """Yield every path under *root* that is not a directory, without following links."""
    for folder, folders, files in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = [name for name in folders if name not in _NEVER_ENTERED]
        yield from (os.path.join(folder, name) for name in (*files, *links))
