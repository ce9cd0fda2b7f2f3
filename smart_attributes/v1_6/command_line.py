"""The command line of version 1.6: spellings and effects of its options.

A mistyped option also runs this code, so modules that read files of 1.6 are imported only if such files are given.
"""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from ..coded import Coded
from ..errors import DataError
from ..files import is_there
from ..reading.machine import DeviceList
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..model import Read
    from .files import OldFile
    from .second_opinion import OldFiles

# where the Debian package keeps the unchanged database of version 1.6 after an upgrade
KEPT_DATABASE = 'check_smartdb-1.6.json'
# The options of version 1.6 -> our spelling. Version 1.6 accepted each with one or two dashes, and abbreviated.
NAMES: Mapping[str, str] = {
    'd': '--device', 'device': '--device', 'r': '--regex', 'regex': '--regex', 'dbj': '--dbjson', 'dbjson': '--dbjson',
    'ucfgj': '--ucfgjson', 'ucfgjson': '--ucfgjson', 'p': '--path', 'path': '--path', 'nosudo': '--nosudo',
    'cu': '--critical_on_unknown', 'critical_on_unknown': '--critical_on_unknown', 'ap': '--allperfs',
    'allperfs': '--allperfs', 's': '--ssdonly', 'ssdonly': '--ssdonly', 'O': '--options', 'options': '--options',
    'v': '--verbose', 'verbose': '--verbose', 'vv': '-vv', 'vvv': '-vvv', 'V': '--version', 'version': '--version',
    'h': '--help', 'help': '--help'}


class Before(NamedTuple):
    """The options specific to version 1.6 and their effects on a check."""

    regex: str | None = None
    type_option: str | None = None
    ssd_only: bool = False
    old_database: str | None = None
    user_config: str | None = None
    strays: tuple[str, ...] = ()        # words that do not belong to an option
    is_all_printed: bool = False        # set by --allperfs

    def named(self, paths: Sequence[str]) -> DeviceList:
        """Return the devices of -d (*paths*), else those of -r. Raises UsageError as addresses.named does."""
        from . import addresses
        devices, is_search, notes = addresses.named(paths, self.regex, self.type_option or '')
        return DeviceList(tuple(devices), is_search, notes=tuple(Coded('legacy-note', note) for note in notes))

    def leaves_out(self, read: Read) -> bool:
        """Return whether -s skips a drive, because it is known to be a hard disk. A drive that was not read is kept."""
        identity = read.identity
        return self.ssd_only and identity is not None and (
            identity.kind == 'hdd' or (identity.kind == 'sas' and bool(identity.rotation)))

    def limits(self) -> list[str]:
        """Return the path given with -ucfgj if its file has the format of this version's limits."""
        from . import files
        try:
            return [self.user_config] if self.user_config and not files.is_of_1_6(files.read(self.user_config)) else []
        except DataError:  # opinion() reports it
            return []

    def opinion(self, config: str, mistakes: list[str]) -> OldFiles | None:
        """Return the files of -dbj and -ucfgj, or None if they add nothing to verdicts; append errors to *mistakes*."""
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
        """Yield a note for each word and each option that has no effect."""
        for word in self.strays:
            yield Coded('legacy-note', f'"{word}" does not belong to an option and is ignored, as in version 1.6')
        if self.old_database is not None and not is_there(self.old_database):
            successor = self._database(config)
            instead = (f'{successor}, kept by an upgrade, adds its labels' if successor
                       else 'the shipped attributes.json is used instead')
            yield Coded('legacy-note', f'{self.old_database} does not exist; {instead}')

    def _users(self, mistakes: list[str]) -> OldFile | None:
        """Return the user configuration of version 1.6 given with -ucfgj."""
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
        """Return the file of -dbj or, if it is missing, the copy kept by a package upgrade, so that graphs continue."""
        if self.old_database is None:
            return None
        return next((path for path in (self.old_database, os.path.join(config, KEPT_DATABASE)) if is_there(path)), None)


# --- options ------------------------------------------------------------------------

def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options specific to version 1.6 to a parser."""
    group = parser.add_argument_group('options of version 1.6; see doc/how-to/upgrade.md')
    group.add_argument('-r', '--regex', metavar='PATTERN',
                       help='read /dev paths that match this egrep expression as a whole; also megaraid[0-7],/dev/sda')
    group.add_argument('-O', '--options', dest='type_option', metavar='TYPE',
                       help='set the type: sat+ for megaraid, sat or scsi for /dev/sgN, any for /dev/disk/by-*')
    group.add_argument('-s', '--ssdonly', dest='ssd_only', action='store_true', help='skip hard disks')
    group.add_argument('-dbj', '--dbjson', dest='old_database', metavar='FILE',
                       help='read limits and labels from a 1.6 database, or entries as --attributes; may be absent')
    group.add_argument('-ucfgj', '--ucfgjson', dest='user_config', metavar='FILE',
                       help='read limits of version 1.6 by device path, or limits as --thresholds')


def spelt(word: str, parser: argparse.ArgumentParser) -> str:
    """Return an option in this parser's spelling, even if only version 1.6 accepted it: "-device", "--d", "-no"."""
    if word[:1] != '-' or word.partition('=')[0] in parser._option_string_actions:
        return word
    name, sign, value = word.lstrip('-').partition('=')
    if word.startswith('--'):  # argparse expands abbreviations of these
        return f'{NAMES[name]}{sign}{value}' if name in NAMES else word
    options = {NAMES[name]} if name in NAMES else {NAMES[old] for old in NAMES if name and old.startswith(name)}
    return f'{options.pop()}{sign}{value}' if len(options) == 1 else word


def taken_out(values: dict[str, Any], rest: Sequence[str], parser: argparse.ArgumentParser) -> Before | None:
    """Remove the options specific to version 1.6 from *values* and return them, or None if none was given.

    rest: words that do not belong to an option, which version 1.6 ignored. Raises UsageError if one of them is a
    mistyped option, or a drive that would not be checked.
    """
    before = Before(**{name: values.pop(name) for name in Before._fields if name in values})
    if before == Before():
        return None
    if any(word.startswith('-') for word in rest):
        parser.error(f'unrecognized arguments: {" ".join(rest)}')
    for word in rest:
        if '/dev/' in word:
            parser.error(f'"{word}" has no option before it and would not be checked; write -d {word}, or remove it')
    return before._replace(strays=tuple(word for word in rest if word.strip()),
                           is_all_printed=bool(values.get('all_perfdata')))
