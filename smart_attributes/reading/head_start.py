"""Which smartctl calls a command line surely leads to, told without understanding it all.

A check waits for its drives; Python needs 30 ms to import what understands a
command line. For the usual ones the drives can work meanwhile. This is a
guess that may be wrong but not harmful: what is started here is used only if
the same command comes out in the end, and it reads nothing that the options
could forbid. Must import nothing slow; see `processes`.
"""
from __future__ import annotations

import os

from . import commands

CONFIG = '/etc/check-smart-attributes'
# Options that change neither drives nor command lines, with and without a value.
HARMLESS = {'-w', '--warning', '-c', '--critical', '-t', '--timeout', '--drive-timeout', '--unknown-model', '--asleep',
            '--expect', '--label', '--jobs', '--ignore-role', '--ignore-attribute', '--attributes', '-dbj', '--dbjson'}
HARMLESS_FLAGS = {'-v', '-vv', '-vvv', '--verbose', '-ap', '--allperfs', '-cu', '--critical_on_unknown', '-s', '--ssdonly',
                  '--hide-serial', '--json', 'triage'}
CONTROLLERS = ('megaraid', 'sat+megaraid', 'cciss')


def sure_commands(argv: list[str]) -> list[tuple[str, ...]]:
    """Return the commands that *argv* surely leads to; [] when in doubt."""
    wish = _wish(argv)
    if wish is None or _site_decides():
        return []
    executable, devices = wish
    try:
        as_root = os.geteuid() == 0
        commands.check_executable(executable, as_root, through_sudo=not as_root)
        prefix = commands.prefix(executable)
    except Exception:  # the real run says why
        return []
    if not devices:
        return [(*prefix, *commands.SCAN)]
    return [(*prefix, *commands.read_arguments(path, device_type)) for device_type, path in devices]


def _site_decides() -> bool:
    """Tell whether a file of this site may forbid to read a drive."""
    try:
        return bool(os.listdir(os.path.join(CONFIG, 'thresholds.d')))
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _wish(argv: list[str]) -> tuple[str, list[tuple[str, str]]] | None:
    """Return smartctl and (type, path) of plainly written drives, none for a scan; None when in doubt."""
    executable = commands.DEFAULT
    devices = []
    words = iter(argv)
    for word in words:
        if word in ('-d', '--device'):
            device_type, _, path = next(words, '').rpartition('@')
            if not (_is_plain_path(path) and _is_plain_type(device_type)):
                return None
            devices.append((device_type, path))
        elif word in ('-p', '--path'):
            executable = next(words, '')
        elif word in HARMLESS:
            next(words, '')
        elif word not in HARMLESS_FLAGS:
            return None
    return executable, devices


def _is_plain_path(path: str) -> bool:
    folder, _, name = path.rpartition('/')
    return folder in ('/dev', '/dev/bus') and name.isascii() and name.isalnum() and (
        name.startswith(('sd', 'nvme', 'sg')) or folder == '/dev/bus')


def _is_plain_type(device_type: str) -> bool:
    name, _, slot = device_type.partition(',')
    return device_type in ('', 'sat', 'scsi', 'nvme') or (name in CONTROLLERS and slot.isascii() and slot.isdigit())
