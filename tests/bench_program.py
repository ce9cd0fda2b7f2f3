"""The plugin that is measured: that of this clone, run by the Python that runs the package."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# the distribution's: built with care, up to a fifth faster than one's own
OF_THE_PACKAGE = '/usr/bin/python3'
OLDEST = (3, 9)


@lru_cache(maxsize=None)
def python() -> Sequence[str]:
    """Return the path and the version of the Python that runs the package; where it is too old,
    or none, our own.
    """
    path, version = found(OF_THE_PACKAGE)
    if path and tuple(map(int, version.split('.')[:2])) >= OLDEST:
        return path, version
    return found(sys.executable)


def found(*name: str) -> Sequence[str]:
    """Return the program itself, not the script of a version manager, and its version; '' where
    there is none.
    """
    code = 'import platform, sys; print(sys.executable, platform.python_version())'
    try:
        done = subprocess.run([*name, '-c', code], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return '', ''
    return done.stdout.split() if done.returncode == 0 else ('', '')


@lru_cache(maxsize=None)
def plugin() -> str:
    """Return the path of the plugin."""
    return launcher(ROOT / 'build/bench/check_smart_attributes', python()[0])


def launcher(path: Path, interpreter: str, root: Path = ROOT) -> str:
    """Write a start script as tools/launcher does. root: where the package stands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'#!{interpreter} -IS\nimport sys\nsys.path.insert(0, {str(root)!r})\n'
        f'sys.path.append({sysconfig.get_path("purelib")!r})\n'
        'from smart_attributes.main import main\nmain()\n'
    )
    path.chmod(0o755)
    return str(path)
