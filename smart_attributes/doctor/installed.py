"""Find parts of the installation that are missing on this host, and validate the local
configuration.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from ..check.rulebook import files_of, judge_of, site_of
from ..command_line.options import PROGRAM, Options
from ..daemons import checks as daemons
from ..devtools import validate
from ..files import is_there
from ..output.doctor_findings import Finding, found, halves, said
from ..reading.system import names_in

# Folders in which monitoring daemons look for plugins: Debian and SUSE; RHEL; Arch Linux; FreeBSD;
# a build from source.
PLUGIN_FOLDERS = (
    '/usr/lib/nagios/plugins',
    '/usr/lib64/nagios/plugins',
    '/usr/lib/monitoring-plugins',
    '/usr/local/libexec/nagios',
    '/usr/local/nagios/libexec',
)
# of "make install", where none of these exists
NO_PLUGIN_FOLDER = '/usr/local/lib/nagios/plugins'
ICINGA = '/etc/icinga2'
ICINGA_FOLDERS = (
    '/usr/share/icinga2/include/plugins-contrib.d',
    '/usr/local/share/icinga2/include/plugins-contrib.d',
    f'{ICINGA}/conf.d',
)
CHECK_COMMAND = 'check-smart-attributes.conf'


def examine(program: str) -> list[Finding]:
    """Return a finding if monitoring daemons do not find the program in their folder for plugins.

    program: path of the running program.
    """
    folder = daemons.existing(PLUGIN_FOLDERS)
    plugin = f'{folder}/{PROGRAM}'
    if folder and not os.path.lexists(daemons.ROOT + plugin):
        return [found('plugin-not-found', path=plugin, program=program)]
    return []


def check_command(program: str) -> list[Finding]:
    """Return why Icinga 2, which does not know the CheckCommand, lacks it: its file is missing, or
    is there but not included. Return [] without Icinga 2.

    program: path of this program.
    """
    folder = daemons.existing(ICINGA_FOLDERS)
    if not folder:
        return []
    path = f'{folder}/{CHECK_COMMAND}'
    if os.path.lexists(daemons.ROOT + path):
        file = f'{ICINGA}/icinga2.conf'
        return [found('check-command-not-included', path=path, file=file)]
    finding = found('check-command-missing', file=CHECK_COMMAND, folder=folder)
    # "make install" puts the program into lib/nagios/plugins, and a copy of the file into share beside
    share = os.path.normpath(os.path.join(os.path.dirname(program), '../../../share'))
    copy = f'{share}/icinga2/include/plugins-contrib.d/{CHECK_COMMAND}'
    if os.path.isfile(copy):
        command = shlex.join(['install', '-m', '644', copy, f'{folder}/'])
        finding = finding._replace(command=f'{command} && systemctl reload icinga2')
    return [finding]


def site_files(options: Options) -> list[Finding]:
    """Return the findings for the files in the configuration folder and on the command line: one
    if all files are valid, else one for each mistake.

    If the name of a file keeps it from being read at all, only such files are reported.
    """
    ignored = _ignored(options.data.config)
    if ignored:
        return ignored
    attributes, limits = files_of(options.data, [])
    files = [path for path, _ in (*attributes, *limits)]
    mistakes: list[str] = [*judge_of(options, site_of(options.data, None)).mistakes]
    # validated only if judge_of() has not reported a mistake in it
    unreported = [
        path
        for path in files
        if not any(os.path.basename(path) in mistake for mistake in mistakes)
    ]
    mistakes += validate.problems(unreported)
    if mistakes:
        return [_mistake(sentence, files) for sentence in mistakes]
    if not files:
        return [found('site-files-none', folder=options.data.config)]
    them = 'it' if len(files) == 1 else 'them'
    return [found('site-files-valid', files=len(files), them=them)]


def _ignored(config: str) -> list[Finding]:
    """Return a finding for each file of limits or attributes whose name ends with .JSON or the like."""
    findings = []
    for folder in (f'{config}/attributes.d', f'{config}/thresholds.d'):
        for name in names_in(folder):
            path = f'{folder}/{name}'
            stem, ending = os.path.splitext(path)
            if ending != '.json' and ending.lower() == '.json':
                better = f'{stem}.json'
                findings.append(
                    found('site-file-name-ignored', path=path, better=better)
                )
    return findings


def _mistake(sentence: str, files: Sequence[str]) -> Finding:
    """Return the finding for a mistake in one of the files, or in none: in an option."""
    words, advice = halves(sentence)
    named = [path for path in files if os.path.basename(path) in words]
    if not named:
        return said('site-options-invalid', sentence)
    file = named[0]
    if is_there(file) and not os.access(file, os.R_OK):
        return said('site-file-not-readable', sentence, file=file)
    if advice.endswith('?'):
        remedy = f'{advice} Correct it, then validate it'
    else:
        remedy = f'{advice or "correct it"}, then validate it'
    return said('site-file-invalid', sentence, file=file)._replace(remedy=remedy)
