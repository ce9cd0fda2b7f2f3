"""Which devices -r and -O of version 1.6 mean.

Version 1.6 handed -r to a shell and to find. Here nothing is run: the paths
under /dev are compared with the expression, and what cannot be a drive is
left out, as from a scan.
"""

import os
import re
import stat
from typing import Dict, Iterator, List, Optional, Pattern, Sequence, Tuple

from ..errors import UsageError
from ..model import Device
from ..reading import virtual_devices
from ..reading.addresses import parse

DEV = '/dev'
# The order in which version 1.6 asked find for them: files, block devices, links, character devices.
_KINDS = (stat.S_ISREG, stat.S_ISBLK, stat.S_ISLNK, stat.S_ISCHR)
_NEVER_ENTERED = frozenset(('shm', 'mqueue', 'hugepages', 'pts', 'fd'))
_PARTITION = (r'.*(?:-part[0-9]+|/(?:[shv]d|xvd)[a-z]+[0-9]+|/(?:nvme[0-9]+n|mmcblk|loop|md)[0-9]+p[0-9]+)')
_RANGE = r'megaraid\[[0-9]+-[0-9]+\],/dev/[a-z]+'

# egrep's classes in the words of Python.
_CLASSES: Dict[str, str] = {
    '[:digit:]': '0-9', '[:lower:]': 'a-z', '[:upper:]': 'A-Z', '[:alpha:]': 'a-zA-Z', '[:alnum:]': 'a-zA-Z0-9',
    '[:xdigit:]': '0-9a-fA-F'}


def named(addresses: Sequence[str], pattern: Optional[str], option: str) -> Tuple[List[Device], bool, Tuple[str, ...]]:
    """Return the devices of -d, else of -r, whether they were searched for, and notes.

    pattern, option: what stands behind -r and -O.
    Raises UsageError.
    """
    if pattern is not None and not addresses:
        known, notes = matching(pattern, option)
        return known, True, tuple(notes)
    notes = [] if pattern is None else ['-r is ignored beside -d, as version 1.6 did']
    notes += [f'-O {option} does not concern {address} and is ignored, as version 1.6 did'
              for address in addresses if option and typed(address, option) == address]
    return [device for address in addresses
            for device in parse(typed(address, option) if option else address)], False, tuple(notes)


def typed(address: str, option: str) -> str:
    """Return an address with the type that -O gives it; the same where version 1.6 ignored -O.

    Raises UsageError where version 1.6 took only some types.
    """
    if address.startswith('megaraid'):
        if option != 'sat+':
            raise UsageError(f'-O {option}: with megaraid, -O is sat+; leave it out, or write TYPE@PATH such as '
                             f'sat+megaraid,6@/dev/bus/0')
        return option + address
    if re.fullmatch(r'/dev/sg[0-9]+', address):
        if option not in ('sat', 'scsi'):
            raise (UsageError(f'-O {option}: with {address}, -O is sat or scsi; or write TYPE@PATH such as '
                              f'sat@{address}'))
        return f'{option}@{address}'
    return f'{option}@{address}' if address.startswith('/dev/disk/by-') else address


def matching(pattern: str, option: str = '', root: str = DEV) -> Tuple[List[Device], List[str]]:
    """Return the drives that -r names, and notes: slots behind a MegaRAID, or paths that an expression matches wholly.

    option: the type of -O, or ''.
    root: the folder that is looked through.
    Raises UsageError for what is no expression, and where nothing is there.
    """
    text = unquoted(pattern)
    if re.fullmatch(_RANGE, text):
        return parse(typed(text, option) if option else text), []
    paths, notes = matching_paths(text, root)
    known: List[Device] = []
    for path in paths:
        try:
            what = virtual_devices.of_path(path)
            if what:
                raise UsageError(f'it is {what}, no drive that has SMART')
            known += parse(typed(path, option) if option else path)
        except UsageError as error:
            notes.append(f'-r matches {path}, which is left out: {error}')
    if not known:
        raise UsageError(f'-r "{text[:80]}" matches no drive under {root}; the expression must match the whole path, '
                         f'such as '
                         '/dev/sd[a-z]+, and partitions do not count')
    return known, notes


def matching_paths(text: str, root: str) -> Tuple[List[str], List[str]]:
    """Return the paths under *root* that an expression matches wholly, without partitions, and notes."""
    found = list(_matches(_compiled(text), root))
    kept = [path for path in found if not re.fullmatch(_PARTITION, path)]
    left_out = len(found) - len(kept)
    return kept, [f'-r matches {left_out} partitions, which are left out'] if left_out else []


def unquoted(pattern: str) -> str:
    """Return an expression without the quotes and backslashes that version 1.6 needed for its shell.

    No path of a drive has a bracket, a bar or another sign of expressions in
    it, so a backslash before one can only have been for the shell.
    """
    if len(pattern) > 1 and pattern[0] == pattern[-1] and pattern[0] in '\'"':
        pattern = pattern[1:-1]
    return re.sub(r'\\+([()|{}\[\]^$*+?])', r'\1', pattern)


def _compiled(text: str) -> Pattern[str]:
    for name, signs in _CLASSES.items():
        text = text.replace(name, signs)
    try:
        return re.compile(text, re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f'-r "{text[:80]}" is no regular expression ({error}); '
                         'write one such as /dev/sd[a-z]+') from None


def _matches(wanted: Pattern[str], root: str) -> Iterator[str]:
    by_kind: List[List[str]] = [[] for _ in _KINDS]
    for path in _paths(root):
        if wanted.fullmatch(path):
            mode = os.lstat(path).st_mode
            for kind, paths in zip(_KINDS, by_kind):
                if kind(mode):
                    paths.append(path)
    for paths in by_kind:
        yield from sorted(paths)


def _paths(root: str) -> Iterator[str]:
    """Yield every path under *root* that is no folder; links are not followed."""
    for folder, folders, files in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = [name for name in folders if name not in _NEVER_ENTERED]
        yield from (os.path.join(folder, name) for name in (*files, *links))
