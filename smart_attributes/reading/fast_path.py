"""Which smartctl calls a command line surely leads to, found without understanding it all.

A check waits for its drives; Python needs 30 ms to import what understands a command line. For the usual ones the
drives can work meanwhile. This is a guess that may be wrong but not harmful: what is started here is used only if the
same command comes out in the end, and it reads nothing that options or files of the site could forbid. A drive that is
wrongly taken for protected starts 30 ms later. Must import nothing slow; see `processes`.
"""
from __future__ import annotations

import os

from .. import defaults, files
from . import smartctl_calls

TYPE_CHECKING = False  # as type checkers read typing.TYPE_CHECKING, which would be expensive
if TYPE_CHECKING:
    from .processes import Runner
    from .smartctl_calls import Command

# Every spelling of the options of a check and of triage, which a test holds to the table of commands.
# Those that say what is read:
DEVICE, SMARTCTL, JOBS = ('-d', '--device'), ('-p', '--path'), ('--jobs',)
STATE_DIR, CONFIGURED, LIMITS = ('--state-dir',), ('--config',), ('--thresholds',)
SCAN, NOSUDO = ('--scan',), ('--nosudo', '-nosudo')
# Those that change neither drives nor command lines, with a value and without:
HARMLESS = ('-w', '--warning', '-c', '--critical', '-t', '--timeout', '--drive-timeout', '--unknown-model', '--asleep',
            '--expect', '--no-drives', '--history-required', '--asleep-max-age', '--since', '--selftest-max-age',
            '--acknowledged', '--max-output', '--label', '--html', '--ignore-metric', '--ignore-attribute',
            '--attributes', '-dbj', '--dbjson')
HARMLESS_FLAGS = ('-v', '-vv', '-vvv', '--verbose', '-ap', '--allperfs', '-cu', '--critical-on-unknown',
                  '--critical_on_unknown', '-s', '--ssdonly', '--no-history', '--expect-known', '--hide-serial',
                  '--json')
# Those that may forbid to read a drive, mean something else, or start no smartctl at all:
DECIDING = ('--report', '--match', '--ignore', '-r', '--regex', '-O', '--options', '-ucfgj', '--ucfgjson',
            '-V', '--version', '-h', '--help')

# Without these words in it, a file with limits keeps nothing from being read; an escape may hide letters.
_PROTECTING = (b'"read"', b'"skip"', b'\\u')


class _Wish:
    """What a plainly written command line asks for."""

    def __init__(self) -> None:
        self.executable = defaults.SMARTCTL
        self.devices: list[tuple[str, str]] = []  # (type, path)
        self.is_scan = False
        self.nosudo = False
        self.jobs = defaults.PARALLEL
        self.state_dir = ''
        self.config = files.CONFIG
        self.limits: list[str] = []


def start(argv: list[str], runner: Runner) -> None:
    """Start the commands that *argv* surely leads to, no more than --jobs allows at once; none when in doubt."""
    wish = _wish(argv)
    try:
        commands = _commands(wish) if wish else []
    except Exception:  # the real run says why
        return
    if wish and commands:
        runner.keep(wish.state_dir)
    for command in commands:
        runner.start(command, defaults.PARALLEL)


def _commands(wish: _Wish) -> list[Command]:
    """Return the scan, or the drives that no file of the site may protect, as many as --jobs allows at once."""
    is_root = os.geteuid() == 0
    smartctl_calls.check_executable(wish.executable, is_root, through_sudo=not (wish.nosudo or is_root))
    prefix = smartctl_calls.prefix(wish.executable, wish.nosudo)
    if wish.is_scan or not wish.devices:
        return [(*prefix, *smartctl_calls.SCAN)]  # the drives come after it
    protected = [device for path in [*_limits_in(wish.config), *wish.limits] for device in _protected(path)]
    return [(*prefix, *smartctl_calls.read_arguments(path, device_type))
            for device_type, path in wish.devices[:wish.jobs]
            if not any(_is_meant(device, device_type, path) for device in protected)]


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
    """Note what an option with a value asks for; return False when in doubt."""
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
    """Return whether this is a usual type, or one drive behind a controller that is asked without vendor commands."""
    if device_type in ('', 'sat', 'scsi', 'nvme'):
        return True
    from .device_types import BY_NAME  # most checks need no type
    tunnel, _, kind = device_type.rpartition('+')
    name, _, numbers = kind.partition(',')
    entry = BY_NAME.get(name)
    return (entry is not None and entry.controller is not None and not entry.is_vendors
            and (not tunnel or (tunnel == 'sat' and entry.is_scsi)) and entry.has_slot(numbers))


def _limits_in(config: str) -> list[str]:
    """Return the files with limits in a configuration folder. Raises OSError where nobody can know."""
    folder = os.path.join(config, 'thresholds.d')
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.json')]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _protected(path: str) -> list[str]:
    """Return the names and addresses that a file with limits keeps from being read. Fails where its form is wrong."""
    try:
        content = files.content(path, files.LARGEST)
    except OSError:
        return []  # it holds for nobody, and the check says why
    if not any(word in content for word in _PROTECTING):
        return []
    import json
    meant = [override['for'] for override in json.loads(content).get('overrides', ())
             if 'read' in override or 'skip' in override]
    return [each['device'] for each in meant if isinstance(each.get('device', ''), str) and 'device' in each]


def _is_meant(device: str, device_type: str, path: str) -> bool:
    """Return whether *device*, a name or an address, may mean the drive at this address."""
    if '/' in device:
        return device == (f'{device_type}@{path}' if device_type else path)
    # Names are given later; each holds the last part of its path.
    return os.path.basename(path) in device
