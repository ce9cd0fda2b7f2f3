"""Which smartctl calls a command line surely leads to, told without understanding it all.

A check waits for its drives; Python needs 30 ms to import what understands a
command line. For the usual ones the drives can work meanwhile. This is a
guess that may be wrong but not harmful: what is started here is used only if
the same command comes out in the end, and it reads nothing that the options
could forbid. Must import nothing slow; see `processes`.
"""
from __future__ import annotations

import os

from .. import constants
from ..files import CONFIG
from . import processes, read_exceptions, smartctl_calls

TYPE_CHECKING = False  # as type checkers read typing.TYPE_CHECKING, which would be expensive
if TYPE_CHECKING:
    from .smartctl_calls import Command

# Every spelling of the options of a check and of triage, which a test holds to the table of commands.
# Those that say what is read:
DEVICE, SMARTCTL, JOBS = ('-d', '--device'), ('-p', '--path'), ('--jobs',)
STATE_DIR, CONFIGURED, LIMITS = ('--state-dir',), ('--config',), ('--thresholds',)
SCAN, NOSUDO = ('--scan',), ('--nosudo', '-nosudo')
# Those that change neither drives nor command lines, with a value and without:
HARMLESS = ('-w', '--warning', '-c', '--critical', '-t', '--timeout', '--drive-timeout', '--unknown-model', '--asleep',
            '--expect',
            '--no-drives', '--history-required', '--asleep-max-age', '--since', '--selftest-max-age', '--acknowledged',
            '--max-output',
            '--label', '--html', '--ignore-metric', '--ignore-attribute', '--attributes', '-dbj', '--dbjson')
HARMLESS_FLAGS = ('-v', '-vv', '-vvv', '--verbose', '-ap', '--allperfs', '-cu', '--critical-on-unknown',
                  '--critical_on_unknown',
                  '-s', '--ssdonly', '--no-history', '--expect-known', '--hide-serial', '--json')
# Those that may forbid to read a drive, mean something else, or start no smartctl at all:
DECIDING = ('--report', '--match', '--ignore', '-r', '--regex', '-O', '--options', '-ucfgj', '--ucfgjson',
            '-V', '--version', '-h', '--help')
CONTROLLERS = ('megaraid', 'sat+megaraid', 'cciss')


class _Wish:
    """What a plainly written command line asks for."""

    def __init__(self) -> None:
        self.executable = constants.SMARTCTL
        self.devices: list[tuple[str, str]] = []  # (type, path)
        self.is_scan = False
        self.nosudo = False
        self.jobs = constants.PARALLEL
        self.state_dir = ''
        self.config = CONFIG
        self.limits: list[str] = []


def start(argv: list[str], runner: processes.Runner) -> None:
    """Start the commands that *argv* surely leads to, no more than --jobs allows at once; none when in doubt."""
    wish = _wish(argv)
    sure = [] if wish is None else _commands(wish)
    if wish is not None and sure:
        runner.keep(wish.state_dir)
    for command in sure:
        runner.start(command, constants.PARALLEL)


def _commands(wish: _Wish) -> list[Command]:
    try:
        directly = wish.nosudo or os.geteuid() == 0
        smartctl_calls.check_executable(wish.executable, os.geteuid() == 0, through_sudo=not directly)
        prefix = smartctl_calls.prefix(wish.executable, wish.nosudo)
    except Exception:  # the real run says why
        return []
    if wish.is_scan or not wish.devices:
        return [(*prefix, *smartctl_calls.SCAN)]  # the drives come after it
    return [(*prefix, *smartctl_calls.read_arguments(path, device_type)) for device_type, path in _unprotected(wish)]


def _unprotected(wish: _Wish) -> list[tuple[str, str]]:
    """Return the drives, as many as --jobs allows at once, that no file of the site may forbid to read."""
    try:
        protected = read_exceptions.protected(wish.config, wish.limits)
    except read_exceptions.InDoubt:
        return []
    return [(device_type, path) for device_type, path in wish.devices[:wish.jobs]
            if not any(read_exceptions.is_meant(device, device_type, path) for device in protected)]


def _wish(argv: list[str]) -> _Wish | None:
    """Return what is asked for, None when in doubt."""
    wish = _Wish()
    words = iter(argv[1:] if argv[:1] == ['triage'] else argv)
    for word in words:
        name, sign, value = word.partition('=') if word.startswith('--') else (word, '', '')
        if name in SCAN and not sign:
            wish.is_scan = True
        elif name in NOSUDO and not sign:
            wish.nosudo = True
        elif name in (*DEVICE, *SMARTCTL, *JOBS, *STATE_DIR, *CONFIGURED, *LIMITS, *HARMLESS):
            if not _understand(wish, name, value if sign else next(words, '')):
                return None
        elif name not in HARMLESS_FLAGS or sign:
            return None
    return wish


def _understand(wish: _Wish, name: str, value: str) -> bool:
    """Note what an option with a value asks for; False when in doubt."""
    if name in DEVICE:
        device_type, _, path = value.rpartition('@')
        wish.devices.append((device_type, path))
        return _is_plain_path(path) and _is_plain_type(device_type)
    if name in SMARTCTL:
        wish.executable = value
    elif name in STATE_DIR:
        wish.state_dir = value
    elif name in CONFIGURED:
        wish.config = value
    elif name in LIMITS:
        wish.limits.append(value)
    elif name in JOBS:
        wish.jobs = int(value) if value.isascii() and value.isdigit() else 0
        return wish.jobs > 0
    return True


def _is_plain_path(path: str) -> bool:
    folder, _, name = path.rpartition('/')
    return folder in ('/dev', '/dev/bus') and name.isascii() and name.isalnum() and (
        name.startswith(('sd', 'nvme', 'sg')) or folder == '/dev/bus')


def _is_plain_type(device_type: str) -> bool:
    name, _, slot = device_type.partition(',')
    return device_type in ('', 'sat', 'scsi', 'nvme') or (name in CONTROLLERS and slot.isascii() and slot.isdigit())
