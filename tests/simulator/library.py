"""The library that smartctl is started with: built once, from *.c of this folder; each machine
takes a copy.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import abilities

# another version, to try the tests with it
SMARTCTL = os.environ.get('SMARTCTL', '/usr/sbin/smartctl')
_FOLDER = Path(__file__).resolve().parent


def why_not() -> str:
    """Return why nothing can be simulated on this machine, '' when it can."""
    if not os.access(SMARTCTL, os.X_OK):
        return f'{SMARTCTL} is not installed: no drives can be simulated'
    if not abilities.path_of('make') or not _compiler():
        return (
            'no C compiler is installed (apt install gcc libc6-dev make): no drives can '
            'be simulated'
        )
    if not Path('/usr/include/linux/nvme_ioctl.h').exists():
        return (
            'the headers of the C library are not installed (apt install libc6-dev): no '
            'drives can be simulated'
        )
    return ''


def _compiler() -> str | None:
    return abilities.path_of(os.environ.get('CC', 'cc'))


def built() -> Path:
    """Return the library; it is built when it is missing, also when somebody cleaned /tmp
    meanwhile.

    Raises CalledProcessError with the compiler's words where it cannot be built.
    """
    sources = sorted([*_FOLDER.glob('*.[ch]'), _FOLDER / 'Makefile'])
    digest = hashlib.sha256(
        b''.join(source.read_bytes() for source in sources)
    ).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f'simulated-drives-{os.getuid()}-{digest}'
    library = folder / 'simulator.so'
    if not _is_ours(folder) or not library.exists():
        folder.mkdir(mode=0o755, exist_ok=True)
        if not _is_ours(folder):
            raise PermissionError(f'{folder} belongs to somebody else; remove it')
        subprocess.run(['make', '-s', '-C', str(_FOLDER), f'OUT={folder}'], check=True)
    # ld.so only warns about a library it cannot load, and then shows the real drives
    ctypes.CDLL(str(library))
    return library


def _is_ours(folder: Path) -> bool:
    """Tell whether nobody else could have put something into *folder*."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return False
    return (
        status.st_uid == os.getuid()
        and not status.st_mode & 0o022
        and not folder.is_symlink()
    )
