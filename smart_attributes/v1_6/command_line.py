"""The command line of version 1.6: the spellings and effects of the options, and the drives that
they select.

A mistyped option also runs this code, so the module that reads files of 1.6 is imported only if
such files are given.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterator, Sequence

from ..errors import Coded, UsageError
from ..files import is_there
from ..model import Device, Read
from ..reading.addresses import of_path, parse
from ..reading.machine import DeviceList
from ..typed import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .files import SiteFiles

# The options of version 1.6, which accepted each with one or two dashes: regular expressions.
SHORT = 'd|r|dbj|ucfgj|p|cu|ap|s|O|v|vv|vvv|V|h'
LONG = (
    'device|regex|dbjson|ucfgjson|path|nosudo|critical_on_unknown|allperfs|ssdonly|options|verbose|'
    'version|help'
)


class Before(NamedTuple):
    """The options specific to version 1.6 and their effects on a check."""

    regex: str | None = None
    type_option: str | None = None
    ssd_only: bool = False
    old_database: str | None = None
    user_config: str | None = None
    strays: tuple[str, ...] = ()  # words that do not belong to an option

    def named(self, paths: Sequence[str]) -> DeviceList:
        """Return the devices of -d (*paths*); without -d, those of -r, as a scan that covers the
        paths that -r selects; without both, no devices. Notes say what is ignored or left out.

        Raises UsageError.
        """
        option = self.type_option or ''
        selects = None
        devices: list[Device] = []
        notes = []
        if self.regex is not None and paths:
            notes.append('-r is ignored because of -d, as in version 1.6')
        elif self.regex is not None:
            devices, notes = matching(self.regex, option)
            selects = _selects(unquoted(self.regex))
        for path in paths:
            address = typed(path, option)
            if option and address == path:
                notes.append(
                    f'-O {option} does not apply to {path} and is ignored, as in version 1.6'
                )
            devices += parse(address)
        return DeviceList(
            tuple(devices),
            is_scan=selects is not None,
            selects=selects,
            notes=tuple(Coded('legacy-note', note) for note in notes),
        )

    def leaves_out(self, read: Read) -> bool:
        """Return whether -s skips a drive as a known hard disk.

        A drive that was not read is not skipped.
        """
        identity = read.identity
        if not self.ssd_only or identity is None:
            return False
        is_sas_disk = identity.kind == 'sas' and bool(identity.rotation)
        return identity.kind == 'hdd' or is_sas_disk

    def site_files(self) -> SiteFiles | None:
        """Return what the files of -dbj and -ucfgj are, or None without these options."""
        if self.old_database is None and self.user_config is None:
            return None
        from . import files

        return files.site_files(self.old_database, self.user_config)

    def notes(self) -> Iterator[Coded]:
        """Yield a note for each word and each file that has no effect."""
        for word in self.strays:
            yield Coded(
                'legacy-note',
                f'"{word}" does not belong to an option and is ignored, as in version 1.6',
            )
        for path in (self.old_database, self.user_config):
            if path is not None and not is_there(path):
                yield Coded('legacy-note', f'{path} does not exist and is not needed')


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options specific to version 1.6 to a parser; doc/how-to/upgrade.md explains them,
    not the help.
    """
    hidden = argparse.SUPPRESS
    for short, long, name, value in (
        ('-r', '--regex', 'regex', 'PATTERN'),
        ('-O', '--options', 'type_option', 'TYPE'),
        ('-dbj', '--dbjson', 'old_database', 'FILE'),
        ('-ucfgj', '--ucfgjson', 'user_config', 'FILE'),
    ):
        parser.add_argument(short, long, dest=name, metavar=value, help=hidden)
    parser.add_argument(
        '-s', '--ssdonly', dest='ssd_only', action='store_true', help=hidden
    )


def spelt(word: str, parser: argparse.ArgumentParser) -> str:
    """Return the current spelling of an option of version 1.6: "--device=x" for "-device=x", "-d"
    for "--d". Any other word, and an option that the parser knows, is returned unchanged.
    """
    if word[:1] != '-' or word.partition('=')[0] in parser._option_string_actions:
        return word
    bare = word.lstrip('-')
    name = bare.partition('=')[0]
    if re.fullmatch(LONG, name):
        return f'--{bare}'
    return f'-{bare}' if re.fullmatch(SHORT, name) else word


def taken_out(
    values: dict[str, Any], rest: Sequence[str], parser: argparse.ArgumentParser
) -> Before | None:
    """Remove the options specific to version 1.6 from *values* and return them, or None if none was
    given.

    rest: words that do not belong to an option; version 1.6 ignored them. Raises UsageError if a
    word is a mistyped option, or a drive that would not be checked.
    """
    before = Before(
        **{name: values.pop(name) for name in Before._fields if name in values}
    )
    if before == Before():
        return None
    if any(word.startswith('-') for word in rest):
        parser.error(f'unrecognized arguments: {" ".join(rest)}')
    for word in rest:
        if '/dev/' in word:
            parser.error(
                f'"{word}" has no option before it and would not be checked; write -d {word}, or remove it'
            )
    return before._replace(strays=tuple(word for word in rest if word.strip()))


# --- addresses of -r and -O ---------------------------------------------------------
# Version 1.6 passed -r to a shell and to find. This module runs no programs: it compares the paths
# under /dev with the expression and skips devices that cannot be drives, as a scan does.

DEV = '/dev'
_NEVER_ENTERED = ('shm', 'mqueue', 'hugepages', 'pts', 'fd')
_PARTITION = r'.*(?:-part[0-9]+|/(?:[shv]d|xvd)[a-z]+[0-9]+|/(?:nvme[0-9]+n|mmcblk|loop|md)[0-9]+p[0-9]+)'
# Character classes of egrep -> the same in Python's syntax.
_CLASSES = {
    '[:digit:]': '0-9',
    '[:lower:]': 'a-z',
    '[:upper:]': 'A-Z',
    '[:alpha:]': 'a-zA-Z',
    '[:alnum:]': 'a-zA-Z0-9',
    '[:xdigit:]': '0-9a-fA-F',
}


def typed(address: str, option: str) -> str:
    """Add the type from -O to an address.

    Without -O, or if version 1.6 ignored -O, return the address unchanged.

    Raises UsageError if version 1.6 did not accept this type for the address.
    """
    if not option:
        return address
    if address.startswith('megaraid'):
        if option != 'sat+':
            raise UsageError(
                f'-O {option}: before "megaraid", only "sat+" is allowed; leave out -O, or write TYPE@PATH '
                f'such as sat+megaraid,6@/dev/bus/0'
            )
        return option + address
    if re.fullmatch(r'/dev/sg[0-9]+', address):
        if option not in ('sat', 'scsi'):
            raise UsageError(
                f'-O {option}: {address} allows only sat or scsi; use one of these, or write '
                f'TYPE@PATH such as sat@{address}'
            )
        return f'{option}@{address}'
    return f'{option}@{address}' if address.startswith('/dev/disk/by-') else address


def matching(pattern: str, option: str) -> tuple[list[Device], list[str]]:
    """Return the drives that -r selects (MegaRAID slots, or paths that match the expression in
    full), and notes.

    option: the type from -O, or ''. Raises UsageError if the expression is invalid or does not
    match any drive. A path that is not a drive is left out, with a note.
    """
    text = unquoted(pattern)
    if re.fullmatch(r'megaraid\[[0-9]+-[0-9]+\],/dev/[a-z]+', text):
        return parse(typed(text, option)), []
    paths, notes = matching_paths(text, DEV)
    devices = []
    for path in paths:
        left_out = f'-r matches {path}, but this path is not checked'
        kind = of_path(path)
        if kind:
            notes.append(f'{left_out}: this is {kind}, not a drive with SMART')
            continue
        try:
            devices += parse(typed(path, option))
        except UsageError as error:
            notes.append(f'{left_out}: {error}')
    if not devices:
        raise UsageError(
            f'-r "{text[:80]}" matches no drive under {DEV}; the expression must match the whole '
            'path, such as /dev/sd[a-z]+, and partitions do not count'
        )
    return devices, notes


def matching_paths(text: str, root: str) -> tuple[list[str], list[str]]:
    """Return the paths under *root* that match the expression in full, except for partitions, and
    a note if there are any of these.

    Raises UsageError if the expression is invalid.
    """
    selects = _selects(text)
    paths = sorted(path for path in _paths(root) if selects(path))
    drives = [path for path in paths if not re.fullmatch(_PARTITION, path)]
    partitions = len(paths) - len(drives)
    if not partitions:
        return drives, []
    return drives, [f'-r matches {partitions} partitions, which are left out']


def _selects(expression: str) -> Callable[[str], object]:
    """Return a function that returns something true for a path that the whole expression of egrep
    matches. Raises UsageError if it is not valid.
    """
    for name, signs in _CLASSES.items():
        expression = expression.replace(name, signs)
    try:
        return re.compile(expression, re.DOTALL).fullmatch
    except (re.error, RuntimeError, OverflowError) as error:
        raise UsageError(
            f'-r "{expression[:80]}" is not a valid regular expression ({error}); write one such '
            'as /dev/sd[a-z]+'
        ) from None


def unquoted(pattern: str) -> str:
    """Return an expression without the quotes and backslashes that version 1.6 needed for its
    shell.

    Paths of drives never contain brackets, bars or other special characters of expressions, so a
    backslash before such a character must have been for the shell.
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
