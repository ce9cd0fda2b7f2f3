"""Facts about this host that an installation depends on, and the files of this program and its libraries."""
from __future__ import annotations

import glob
import importlib.metadata
import os
import pwd
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence

from .. import files, trust
from ..constants import LARGEST_FILE, LARGEST_PROGRAM
from ..errors import SmartError, UsageError
from ..model import HowRead
from ..reading import smartctl_calls, sudoers, system
from ..reading.processes import Runner
from ..state_directory import PACKAGE as STATE
from . import plan
from .disk import Disk, Modules, below
from .plan import DOCUMENTS, ICINGA, ICINGA_FOLDERS, INSTALLER, OF_PACKAGE, PLUGIN_FOLDERS, SHARED, TREES, USERS, Facts

_OWN = os.path.join(files.PROGRAM, 'installation')   # data files: README, launcher
_OLDEST = (3, 9)
_PROBE = ('-IS', '-c', 'import argparse, json, sys, zlib; print("%d.%d" % sys.version_info[:2])')
_EXAMPLE = 'example-site.json'
_EXAMPLES = ('/usr/share/doc/*check-smart-attributes*',
             '/usr/share/doc/packages/*check-smart-attributes*', '/usr/share/doc/*check-smart-attributes*/examples')
_PACKAGE = os.path.basename(files.PROGRAM)
_NAME = 'check-smart-attributes'   # name of the distribution
_USEFUL = re.compile(r'extra == .(page|metrics)')   # optional libraries that are included
_ENTRY = '__main__.py'             # start of the single-file program


def facts(named: Sequence[str], again: str, how: HowRead, runner: Runner, drives: sudoers.Drives, disk: Disk) -> Facts:
    """Return the facts. named: users given on the command line. again: command that repeats the installation.

    drives: returns the drives; called if sudo has no regular expressions. Raises UsageError for an unknown user.
    """
    users = monitoring_users(named)
    rule, why = _rule(users, how, runner, drives) if users else ('', '')
    state = disk.look([STATE]).get(STATE)
    owner = state.owner if state and state.owner != plan.ROOT else ''
    return Facts(users, rule, why, owner, _readme(_example(disk)), again)


def monitoring_users(named: Sequence[str] = ()) -> list[str]:
    """Return the users that run checks: the named users, else the usual users that exist. Raises UsageError."""
    missing = [user for user in named if not exists(user)]
    if missing:
        raise UsageError(f'user {missing[0]} does not exist; name the user that runs the checks, such as {USERS[0]}')
    return list(dict.fromkeys(named)) or [user for user in USERS if exists(user)]


def exists(user: str) -> bool:
    """Return whether this machine has a user with this name."""
    try:
        return bool(pwd.getpwnam(user))
    except (KeyError, ValueError):
        return False


def _rule(users: Sequence[str], how: HowRead, runner: Runner, drives: sudoers.Drives) -> tuple[str, str]:
    """Return (text of a rule for all users, '') or, without a rule, ('', reason why it is missing)."""
    try:
        smartctl_calls.find_sudo()
    except UsageError:
        return '', 'sudo is not installed; install it'
    try:
        texts = [sudoers.text(sudoers.RuleRequest(user), how, runner, drives) for user in users]
    except SmartError as error:
        return '', str(error)
    return '\n'.join([*texts, '']), ''


def _readme(example: str) -> str:
    return files.content(f'{_OWN}/README', LARGEST_FILE).decode().replace('{example}', example)


def _example(disk: Disk) -> str:
    """Return the path where a package has installed the example of a site file."""
    found = (path for pattern in _EXAMPLES for path in glob.glob(disk.at(f'{pattern}/{_EXAMPLE}')))
    return next(found, f'thresholds/{_EXAMPLE} of the source archive')


def with_program(facts: Facts, disk: Disk) -> Facts:
    """Add the facts about the program. Raises SmartError if a package owns the program or Python is missing."""
    if has_package(disk):
        raise SmartError(f'a package has already installed the program here ({OF_PACKAGE}); use that program, or '
                         'remove the package first', 'install-refused')
    found, source = modules(), single_file()
    path, version = python(compiled_for(found))
    shared = {name: found[f'{os.path.basename(files.PROGRAM)}/{name}'].decode() for name in SHARED}
    return facts._replace(
        readme=_readme(f'{DOCUMENTS}/{_EXAMPLE}'), python=path, python_version=version, modules=found, shared=shared,
        single_file=files.content(source, LARGEST_PROGRAM) if source else b'',
        launcher=files.content(f'{_OWN}/launcher', LARGEST_FILE).decode(), plugin_folder=plugin_folder(disk),
        icinga_folder=icinga_folder(disk))


def has_package(disk: Disk) -> bool:
    """Return whether the Debian package or the RPM has installed the program here."""
    return os.path.lexists(disk.at(OF_PACKAGE))


def compiled_for(names: Iterable[str]) -> str:
    """Return the version of Python that these modules need, such as "3.11", or '' if no module is compiled."""
    return '.'.join(map(str, sys.version_info[:2])) if any(name.endswith('.so') for name in names) else ''


def python(needed: str = '') -> tuple[str, str]:
    """Return the path and version of a Python that all users can run and only root can change. Raises SmartError.

    needed: the required version, or '' for 3.9 and newer. The system's usual Python is tried first, then the newest.
    """
    numbered = [path for folder in ('/usr/bin', '/usr/local/bin') for path in glob.glob(f'{folder}/python3.*')
                if re.fullmatch(r'.*/python3\.[0-9]+', path)]
    newest = sorted(numbered, key=lambda path: int(path.rpartition('.')[2]), reverse=True)
    for path in ('/usr/bin/python3', *newest):
        version = _version(path)
        if version and (version == needed if needed else tuple(map(int, version.split('.'))) >= _OLDEST):
            return path, version
    raise SmartError(f'Python {needed or "3.9 or newer"} was not found in /usr/bin or /usr/local/bin, where every user '
                     'can run it; install it, for example: dnf install python3.11', 'install-refused')


def _version(path: str) -> str:
    """Return the version of the Python at *path* if it works and all users may run it, else ''."""
    try:
        if trust.fault(path, trust.ROOT) or not all(os.stat(step).st_mode & 0o001 for step in trust.steps(path)):
            return ''
    except OSError:
        return ''
    return system.output((path, *_PROBE))[0].strip()


def plugin_folder(disk: Disk) -> str:
    """Return the folder where the monitoring daemon looks for plugins; Icinga 2 defines it in constants.conf."""
    text = files.text(disk.at(f'{ICINGA}/constants.conf'), LARGEST_FILE)
    named = re.findall(r'^\s*const\s+PluginDir\s*=\s*"(/[^"$\s]+)"', text, re.MULTILINE)
    return next((path for path in (*named, *PLUGIN_FOLDERS) if os.path.isdir(disk.at(path))), plan.NO_PLUGIN_FOLDER)


def icinga_folder(disk: Disk) -> str:
    """Return the folder for the CheckCommand, or '' on a host without Icinga 2."""
    return next((path for path in ICINGA_FOLDERS if os.path.isdir(disk.at(path))), '')


# --- the program's files, wherever it runs from: all that a copy needs for a check --------------

def modules() -> Modules:
    """Return all files of this program and its libraries. Raises SmartError if the libraries cannot be found."""
    if single_file():
        with zipfile.ZipFile(single_file()) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name != _ENTRY}
    folder = os.path.dirname(files.PROGRAM)
    if os.path.dirname(folder) == TREES:
        return below(folder)
    return {**_libraries(), **_own()}


def single_file() -> str:
    """Return the path of the single-file program that is running or was the source of the installation, or ''."""
    folder = os.path.dirname(files.PROGRAM)
    if not os.path.isdir(files.PROGRAM):
        return folder
    return INSTALLER if os.path.dirname(folder) == TREES and os.path.isfile(INSTALLER) else ''


def _own() -> Modules:
    """Return the files of the package and its data files; in a checkout, the data files lie beside the package."""
    found = {f'{_PACKAGE}/{path}': content for path, content in below(files.PROGRAM).items()}
    beside = os.path.dirname(files.PROGRAM)
    for name in SHARED:
        path = os.path.join(beside, name)
        if f'{_PACKAGE}/{name}' not in found and os.path.isfile(path):
            found[f'{_PACKAGE}/{name}'] = files.content(path, LARGEST_FILE)
    return found


def _libraries() -> Modules:
    """Return the files of all distributions that this program requires, directly or indirectly."""
    found: Modules = {}
    for distribution in _distributions():
        for path in distribution.files or ():
            is_own = path.parts[0] == _PACKAGE or path.suffix in ('.pth', '.pyc')
            if path.parts[0] != '..' and not is_own and '__editable__' not in path.name:
                found[str(path)] = path.read_binary()
    return found


def _distributions() -> Iterator[importlib.metadata.Distribution]:
    names, seen = [_NAME], set()
    while names:
        name = names.pop()
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if name == _NAME:
                raise SmartError('the libraries of this program cannot be found; install it from the single file '
                                 '(make zipapp) or from a virtual environment (make venv)', 'install-refused') from None
            continue   # the library is for another system or Python version, or is optional
        seen.add(name)
        yield distribution
        needed = [requirement for requirement in distribution.requires or ()
                  if 'extra ==' not in requirement or (name == _NAME and _USEFUL.search(requirement))]
        names += {re.split(r'[^A-Za-z0-9._-]', each)[0] for each in needed} - seen
