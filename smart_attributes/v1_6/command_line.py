"""The command line of version 1.6: its spellings, its options, and their effects.

A mistyped option leads here, too, so the modules that read files of 1.6 are imported only where there are such files.
"""
from __future__ import annotations

import os

from ..coded import Coded
from ..errors import DataError
from ..files import is_there
from ..reading.machine import DeviceList
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ..model import Read
    from .files import OldFile
    from .second_opinion import OldFiles

# where the Debian package puts the database of version 1.6, unchanged, when it takes its place
KEPT_DATABASE = 'check_smartdb-1.6.json'
# The options of version 1.6, which took each with one dash or two, and shortened, in our spelling.
NAMES: Mapping[str, str] = {
    'd': '--device', 'device': '--device', 'r': '--regex', 'regex': '--regex', 'dbj': '--dbjson', 'dbjson': '--dbjson',
    'ucfgj': '--ucfgjson', 'ucfgjson': '--ucfgjson', 'p': '--path', 'path': '--path', 'nosudo': '--nosudo',
    'cu': '--critical_on_unknown', 'critical_on_unknown': '--critical_on_unknown', 'ap': '--allperfs',
    'allperfs': '--allperfs', 's': '--ssdonly', 'ssdonly': '--ssdonly', 'O': '--options', 'options': '--options',
    'v': '--verbose', 'verbose': '--verbose', 'vv': '-vv', 'vvv': '-vvv', 'V': '--version', 'version': '--version',
    'h': '--help', 'help': '--help'}


class Before(NamedTuple):
    """The options that only version 1.6 had, and their effects on a check."""

    regex: str | None = None
    type_option: str | None = None
    ssd_only: bool = False
    old_database: str | None = None
    user_config: str | None = None
    strays: tuple[str, ...] = ()        # words that belong to no option
    is_all_printed: bool = False        # as of --allperfs

    def named(self, paths: Sequence[str]) -> DeviceList:
        """Return the devices of -d (*paths*), else of -r. Raises UsageError."""
        from . import addresses
        devices, is_search, notes = addresses.named(paths, self.regex, self.type_option or '')
        return DeviceList(tuple(devices), is_search, notes=tuple(Coded('legacy-note', note) for note in notes))

    def leaves_out(self, read: Read) -> bool:
        """Return whether -s leaves out a drive: certainly a hard disk. A drive that was not read stays in."""
        identity = read.identity
        return self.ssd_only and identity is not None and (
            identity.kind == 'hdd' or (identity.kind == 'sas' and bool(identity.rotation)))

    def limits(self) -> list[str]:
        """Return the path behind -ucfgj where its file has the shape of this version's limits."""
        from . import files
        try:
            return [self.user_config] if self.user_config and not files.is_of_1_6(files.read(self.user_config)) else []
        except DataError:  # opinion() reports it
            return []

    def opinion(self, config: str, mistakes: list[str]) -> OldFiles | None:
        """Return the files behind -dbj and -ucfgj, None where they add nothing to verdicts; faults go to *mistakes*."""
        path, users = self._database(config), self._users(mistakes)
        if path is None and users is None:
            return None
        from . import second_opinion
        try:
            return second_opinion.files_of(path, users, self.is_all_printed)
        except DataError as mistake:
            mistakes.append(str(mistake))
            return None if users is None else second_opinion.files_of(None, users, self.is_all_printed)

    def notes(self, config: str) -> Iterator[Coded]:
        """Yield a note for each word and each option without effect."""
        for word in self.strays:
            yield Coded('legacy-note', f'"{word}" belongs to no option and is ignored, as version 1.6 did')
        if self.old_database is not None and not is_there(self.old_database):
            successor = self._database(config)
            instead = (f'{successor}, kept by an upgrade, adds its labels' if successor
                       else 'the shipped attributes.json is used, which needs no such file')
            yield Coded('legacy-note', f'{self.old_database} is not there; {instead}')

    def _users(self, mistakes: list[str]) -> OldFile | None:
        """Return the user configuration of version 1.6 behind -ucfgj."""
        if self.user_config is None:
            return None
        from . import files
        try:
            data = files.read(self.user_config)
            return files.users(self.user_config, data) if files.is_of_1_6(data) else None
        except DataError as mistake:
            mistakes.append(str(mistake))
            return None

    def _database(self, config: str) -> str | None:
        """Return the file behind -dbj; if it is gone, the one that a package upgrade kept, so that graphs go on."""
        if self.old_database is None:
            return None
        return next((path for path in (self.old_database, os.path.join(config, KEPT_DATABASE)) if is_there(path)), None)


# --- options ------------------------------------------------------------------------

def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that only version 1.6 had to a parser."""
    group = parser.add_argument_group('as version 1.6, which is called in the same way; see doc/how-to/upgrade.md')
    group.add_argument('-r', '--regex', metavar='PATTERN',
                       help='without -d: paths under /dev that this egrep expression matches wholly; or '
                            'megaraid[0-7],/dev/sda')
    group.add_argument('-O', '--options', dest='type_option', metavar='TYPE',
                       help='sat+ for megaraid, sat or scsi for /dev/sgN, any type for /dev/disk/by-*')
    group.add_argument('-s', '--ssdonly', dest='ssd_only', action='store_true', help='leave hard disks out')
    group.add_argument('-dbj', '--dbjson', dest='old_database', metavar='FILE',
                       help='database of version 1.6, which adds its limits and labels, or entries as for '
                            '--attributes; may be absent')
    group.add_argument('-ucfgj', '--ucfgjson', dest='user_config', metavar='FILE',
                       help='limits of version 1.6 by device path, or limits as for --thresholds')


def spelt(word: str, parser: argparse.ArgumentParser) -> str:
    """Return an option as this parser spells it, also where only version 1.6 accepted it: "-device", "--d", "-no"."""
    if word[:1] != '-' or word.partition('=')[0] in parser._option_string_actions:
        return word
    name, sign, value = word.lstrip('-').partition('=')
    if word.startswith('--'):  # argparse knows abbreviations of these
        return f'{NAMES[name]}{sign}{value}' if name in NAMES else word
    options = {NAMES[name]} if name in NAMES else {NAMES[old] for old in NAMES if name and old.startswith(name)}
    return f'{options.pop()}{sign}{value}' if len(options) == 1 else word


def taken_out(values: dict[str, Any], rest: Sequence[str], parser: argparse.ArgumentParser) -> Before | None:
    """Take the options that only version 1.6 had out of the *values* of the command line; None where there are none.

    rest: words that belong to no option, which version 1.6 ignored. Raises UsageError where one of them is a mistyped
    option, or a drive that would not be checked.
    """
    before = Before(**{name: values.pop(name) for name in Before._fields if name in values})
    if before == Before():
        return None
    if any(word.startswith('-') for word in rest):
        parser.error(f'unrecognized arguments: {" ".join(rest)}')
    for word in rest:
        if '/dev/' in word:
            parser.error(f'"{word}" stands alone and would not be checked; write -d {word}, or leave it out')
    return before._replace(strays=tuple(word for word in rest if word.strip()),
                           is_all_printed=bool(values.get('all_perfdata')))
