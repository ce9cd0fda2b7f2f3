"""The commands with which this system installs packages."""
from __future__ import annotations

import re
from typing import NamedTuple

from .. import files

ROOT = '/'   # the folder that is taken for /


class Installer(NamedTuple):
    """The words before the names of packages."""

    install: str
    reinstall: str


# By a word of ID or ID_LIKE in os-release(5); the first that fits. Another system gets the words of Debian.
INSTALLERS = {
    'debian': Installer('apt install', 'apt install --reinstall'),
    'suse': Installer('zypper install', 'zypper install --force'),
    'rhel': Installer('dnf install', 'dnf reinstall'),
    'fedora': Installer('dnf install', 'dnf reinstall'),
    'arch': Installer('pacman -S', 'pacman -S'),
    'freebsd': Installer('pkg install', 'pkg install --force')}


def installer() -> Installer:
    """Return the commands of this system."""
    release = files.text(f'{ROOT}/etc/os-release', files.LARGEST)
    words = ' '.join(re.findall(r'^ID(?:_LIKE)?=["\']?([a-z0-9._ -]*)', release, re.MULTILINE)).split()
    return next((each for name, each in INSTALLERS.items() if name in words), INSTALLERS['debian'])
