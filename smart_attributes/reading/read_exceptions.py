"""Which drives files of the site may keep from being read, told before anything expensive is imported.

Wrong only on the safe side: a drive that is taken for protected starts 30 ms later.
"""
from __future__ import annotations

import os

from .. import files

FOLDER = 'thresholds.d'
# Without these words in it, a file keeps nothing from being read; with an escape, letters may be hidden.
_TELLING = (b'"read"', b'"skip"', b'\\u')


class InDoubt(Exception):
    """What a file says about reading cannot be told here."""


def protected(config: str, more: list[str]) -> list[str]:
    """Return the names and addresses that files with limits single out where they speak of reading.

    config: the configuration folder; more: files named on the command line. Raises InDoubt.
    """
    return [device for path in [*_in_folder(config), *more] for device in _of_file(path)]


def _in_folder(config: str) -> list[str]:
    folder = os.path.join(config, FOLDER)
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.json')]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InDoubt from error


def _of_file(path: str) -> list[str]:
    try:
        content = files.content(path, files.LARGEST)
    except OSError:
        return []  # it holds for nobody, and the check says why
    if not any(word in content for word in _TELLING):
        return []
    import json
    try:
        overrides = json.loads(content).get('overrides', ())
        return [override['for']['device'] for override in overrides
                if ('read' in override or 'skip' in override) and isinstance(override['for'].get('device', ''), str)
                and 'device' in override['for']]
    except Exception as error:
        raise InDoubt from error


def is_meant(device: str, device_type: str, path: str) -> bool:
    """Tell whether *device*, a name or an address, may mean the drive at this address."""
    if '/' in device:
        return device == (f'{device_type}@{path}' if device_type else path)
    # Names are given later; each holds the last part of its path.
    return os.path.basename(path) in device
