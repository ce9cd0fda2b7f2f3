"""Compare this host with the files that `install` would write, and validate the local configuration."""
from __future__ import annotations

import importlib.util
import os
import re
import shlex
from collections.abc import Iterator, Sequence

from .. import files
from ..check.rulebook import files_of, judge_of, site_of
from ..command_line.options import PROGRAM, Options
from ..constants import LARGEST_SMALL_FILE
from ..devtools import validate
from ..errors import SmartError
from ..files import is_there
from ..installation import host
from ..installation.disk import Disk
from ..installation.plan import CHECK_COMMAND, ICINGA, ICINGA_FOLDERS, PLUGIN_FOLDERS, TREES
from ..output.doctor_findings import Finding, found, halves, said
from . import daemons
from .start import installer

ROOT = '/'   # the folder to use as /
SYSTEM_FOLDERS = ('/usr/', '/opt/')   # where only root can compile the program
_DEFINED = re.compile(rf'\bobject\s+CheckCommand\b[^{{]*{{[^}}]*\b{PROGRAM}\b')
_RECEIVED = 'var/lib/icinga2/api/zones'   # configuration that an agent gets from its master
_PACKAGE = 'monitoring-plugins-check-smart-attributes'   # name of the Debian package and of the RPM
SHOWN = 3   # mistakes that get a finding each; all others share a finding


def examine(program: str) -> list[Finding]:
    """Return a finding for each missing part; [] if all parts exist. program: path of the running program."""
    disk = Disk(ROOT)
    is_packaged = host.has_package(disk)
    remedy, command = ('install the package again', f'{installer().reinstall} {_PACKAGE}') if is_packaged else (
        'as root, install it', f'{shlex.quote(program)} install --yes')
    return [finding._replace(remedy=remedy, command=command) for finding in (*_start(), *_missing(disk))]


def damage() -> list[Finding]:
    """Return the finding for a program that differs from the files that `install` wrote; [] if it is intact."""
    tree, disk = os.path.dirname(files.PROGRAM), Disk(ROOT)
    try:
        written = disk.written().get(tree, '') if os.path.dirname(tree) == TREES else ''
        is_intact = not written or disk.look([tree])[tree].digest == written
    except (SmartError, OSError):   # other users can change it, or it is unreadable: the next steps report the path
        return []
    command = files.repair()
    if is_intact:
        return []
    finding = found('program-damaged', path=tree)._replace(command=command)
    return [finding if command else finding._replace(remedy='install the program again from its single file')]


def _start() -> Iterator[Finding]:
    """Yield a finding if each check has to compile the program."""
    if not os.path.isdir(files.PROGRAM):
        yield found('program-in-one-file')
    elif files.PROGRAM.startswith(SYSTEM_FOLDERS) and not is_compiled():
        yield found('program-not-compiled', path=files.PROGRAM)


def is_compiled() -> bool:
    """Return whether this Python finds the compiled form of the program's first module."""
    return os.path.exists(importlib.util.cache_from_source(os.path.join(files.PROGRAM, 'main.py')))


def _missing(disk: Disk) -> Iterator[Finding]:
    plugin = f'{host.plugin_folder(disk)}/{PROGRAM}'
    if any(map(os.path.isdir, map(disk.at, PLUGIN_FOLDERS))) and not os.path.lexists(disk.at(plugin)):
        yield found('plugin-not-found', path=plugin)
    if host.icinga_folder(disk) and not _has_command(disk):
        yield found('check-command-missing', file=CHECK_COMMAND)


def _has_command(disk: Disk) -> bool:
    """Return whether this host has our CheckCommand, or the site's own CheckCommand for the plugin."""
    if any(os.path.lexists(disk.at(f'{folder}/{CHECK_COMMAND}')) for folder in ICINGA_FOLDERS):
        return True
    paths = [path for folder in (ICINGA[1:], _RECEIVED) for path in daemons.below(disk.at('/'), folder, '.conf')]
    return any(_DEFINED.search(files.text(disk.at(f'/{path}'), LARGEST_SMALL_FILE)) for path in paths)


def site_files(options: Options) -> list[Finding]:
    """Return the findings for the files in the configuration folder and on the command line."""
    attributes, limits = files_of(options.data, [])
    files = [path for path, _ in (*attributes, *limits)]
    mistakes = judge_of(options, site_of(options.data, None)).mistakes
    usable = [path for path in files if not any(os.path.basename(path) in mistake for mistake in mistakes)]
    return site_findings(files, [*mistakes, *(validate.problems(usable) if usable else ())], options.data.config)


def site_findings(files: Sequence[str], mistakes: Sequence[str], config: str) -> list[Finding]:
    """Return a single finding if all files are valid, else a finding for each mistake. config: configuration folder."""
    if not files and not mistakes:
        return [found('site-files-none', folder=config)]
    if not mistakes:
        return [found('site-files-valid', files=len(files), them='it' if len(files) == 1 else 'them')]
    more = len(mistakes) - SHOWN
    rest = [found('site-files-more-errors', errors=more, files=' '.join(files))] if more > 0 else []
    return [_mistake(sentence, files) for sentence in mistakes[:SHOWN]] + rest


def _mistake(sentence: str, files: Sequence[str]) -> Finding:
    words, advice = halves(sentence)
    file = next((path for path in files if os.path.basename(path) in words), '')
    if not file:
        return said('site-options-invalid', sentence)
    if is_there(file) and not os.access(file, os.R_OK):
        return said('site-file-not-readable', sentence, file=file)
    ending = ' Correct it, then validate it' if advice.endswith('?') else ', then validate it'
    return said('site-file-invalid', sentence, file=file)._replace(remedy=(advice or 'correct it') + ending)
