"""The plugin of version 1.6, which Debian 13 ships: fetched by apt into a folder, not installed, to be measured."""
from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

PACKAGE = 'monitoring-plugins-check-smart-attributes'
SUITE = 'trixie'
KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'


def fetched(folder: Path) -> list[str]:
    """Return the command line of the plugin of version 1.6, with its database.

    Raises CalledProcessError or OSError where apt gives none.
    """
    (folder / 'lists/partial').mkdir(parents=True)
    (folder / 'cache/archives/partial').mkdir(parents=True)
    (folder / 'sources.list').write_text(f'deb [signed-by={KEYS}] {_archive()} {SUITE} main\n')
    apart = ['-o', f'Dir::Etc::sourcelist={folder}/sources.list', '-o', 'Dir::Etc::sourceparts=-',
             '-o', f'Dir::State::lists={folder}/lists', '-o', f'Dir::Cache={folder}/cache']
    _run(['apt-get', *apart, 'update'], folder)
    _run(['apt-get', *apart, 'download', PACKAGE], folder)
    _run(['dpkg-deb', '-x', *map(str, folder.glob('*.deb')), str(folder)], folder)
    return ['perl', f'{folder}/usr/lib/nagios/plugins/check_smart_attributes', '-dbj',
            f'{folder}/etc/nagios-plugins/config/check_smartdb.json', '-nosudo']


def _archive() -> str:
    """Return where this machine gets Debian from."""
    known = _run(['apt-get', 'indextargets', '--format', '$(SITE)', 'Created-By: Packages'], Path('/'))
    return next(site for site in known.splitlines() if 'security' not in site)


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          timeout=300, env={**os.environ, 'LC_ALL': 'C'})
    return done.stdout
