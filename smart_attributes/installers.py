"""The commands that install packages on this system."""

from __future__ import annotations

import re

from . import files
from .constants import LARGEST_FILE
from .typed import NamedTuple

ROOT = '/'  # the folder to use as /


class Installer(NamedTuple):
    """The commands that install packages, without the names of the packages."""

    install: str
    reinstall: str


# Word of ID or ID_LIKE in os-release(5) -> commands; the first match counts. Other systems get
# Debian's commands.
INSTALLERS = {
    'debian': Installer('apt install', 'apt install --reinstall'),
    'arch': Installer('pacman -S', 'pacman -S'),
    'suse': Installer('zypper install', 'zypper install --force'),
    **dict.fromkeys(('rhel', 'fedora'), Installer('dnf install', 'dnf reinstall')),
    'freebsd': Installer('pkg install', 'pkg install --force'),
}


def installer() -> Installer:
    """Return the commands that install packages on this system."""
    release = files.text(f'{ROOT}/etc/os-release', LARGEST_FILE)
    words = ' '.join(
        re.findall(r'^ID(?:_LIKE)?=["\']?([a-z0-9._ -]*)', release, re.MULTILINE)
    ).split()
    for name, commands in INSTALLERS.items():
        if name in words:
            return commands
    return INSTALLERS['debian']
