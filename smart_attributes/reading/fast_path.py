"""Start the smartctl calls that a command line certainly needs, before it is fully parsed.

Python needs 30 ms to import the parser of the command line. For common command lines, the drives
can prepare their answers during that time. A wrong guess is harmless: a result is used only if the
parser arrives at the same command, and no drive is read if options, a file of this site or an
advisory for its model could forbid reading it. Such drives, and drives behind a controller, are
merely read 30 ms later.
This module must not import anything slow; see `processes`.
"""

from __future__ import annotations

import os

from .. import constants, files
from . import forbidden, smartctl_calls

# see typed, which would load collections before the first process starts
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .processes import Runner
    from .smartctl_calls import Command

    OptionValues = dict[tuple[str, ...], list[str]]  # spellings of an option -> values

# Every spelling of each option of a check and of triage; a test compares them with the table of
# commands. Options that select what is read:
DEVICE_OPTION = ('-d', '--device')
SMARTCTL_OPTION = ('-p', '--path')
STATE_DIR_OPTION = ('--state-dir',)
SCAN_OPTION = ('--scan',)
NOSUDO_OPTION = ('--nosudo', '-nosudo')
# Options that change neither drives nor command lines, with and without a value:
HARMLESS = (
    '-w',
    '--warning',
    '-c',
    '--critical',
    '-t',
    '--timeout',
    '--drive-timeout',
    '--unknown-model',
    '--asleep',
    '--expect',
    '--no-drives',
    '--history-required',
    '--missing',
    '--asleep-max-age',
    '--selftest-max-age',
    '--max-output',
    '--label',
    '--html',
    '--ignore-metric',
    '--ignore-attribute',
    '--vendor-logs',
)
HARMLESS_FLAGS = (
    '-v',
    '-vv',
    '-vvv',
    '--verbose',
    '-ap',
    '--allperfs',
    '-cu',
    '--critical_on_unknown',
    '-s',
    '--ssdonly',
    '--no-history',
    '--hide-serial',
    '--json',
)

FLAGS = (SCAN_OPTION, NOSUDO_OPTION, HARMLESS_FLAGS)
WITH_VALUE = (DEVICE_OPTION, SMARTCTL_OPTION, STATE_DIR_OPTION, HARMLESS)


def start(argv: list[str], runner: Runner) -> None:
    """Start the commands that *argv* certainly needs; start none if in doubt."""
    values = _option_values(argv)
    if values is None:
        return
    try:
        commands = _commands(values)
    except Exception:  # the check itself will fail, too, and report the reason
        return
    if commands:
        runner.lock_drives_in(_last(values, STATE_DIR_OPTION, ''))
    for command in commands:
        runner.start(command)


def _option_values(argv: list[str]) -> OptionValues | None:
    """Return the values of each option of a command line; '' for an option without a value.

    Return None if in doubt: a word is not a known option, or an option has a value but takes none.
    """
    values: OptionValues = {}
    words = iter(argv[1:] if argv[:1] == ['triage'] else argv)
    for word in words:
        name, equals_sign, value = word.partition('=')
        spellings = _spellings(name)
        if not spellings:
            return None
        if spellings in WITH_VALUE:
            if not equals_sign:
                value = next(words, '')
        elif equals_sign:
            return None
        values.setdefault(spellings, []).append(value)
    return values


def _last(values: OptionValues, option: tuple[str, ...], default: str) -> str:
    """Return the last value of an option, which is the one that counts."""
    return values.get(option, [default])[-1]


def _spellings(name: str) -> tuple[str, ...]:
    """Return all spellings of an option, such as ("-d", "--device"); () if it is unknown."""
    for spellings in (*FLAGS, *WITH_VALUE):
        if name in spellings:
            return spellings
    return ()


def _commands(values: OptionValues) -> list[Command]:
    """Return the commands to start while the parser of the command line is imported: the command
    of the scan, or one for each drive that may certainly be read; [] if in doubt.

    Raises an exception if the check itself will fail; it then reports the reason.
    """
    devices = []
    for address in values.get(DEVICE_OPTION, ()):
        device_type, _, path = address.rpartition('@')
        # Other types may be refused or name slots, so their drives are left to the parser.
        is_plain_type = device_type in ('', 'sat', 'scsi', 'nvme')
        if not is_plain_type or not _is_plain_path(path):
            return []
        devices.append((device_type, path))
    prefix = _prefix(values)
    if SCAN_OPTION in values or not devices:
        # the drives are read later
        return [(*prefix, *smartctl_calls.SCAN)]
    # Files of the site may forbid reading a drive; they are not read here.
    if _has_site_files():
        return []
    shipped = forbidden.shipped()
    commands = []
    for device_type, path in devices[: constants.PARALLEL]:
        if not forbidden.may_forbid(shipped, forbidden.model_of(path, device_type)):
            arguments = smartctl_calls.read_arguments(path, device_type)
            commands.append((*prefix, *arguments))
    return commands


def _prefix(values: OptionValues) -> Command:
    """Return how each command begins: smartctl, with sudo if needed.

    Raises an exception if this smartctl may not be started.
    """
    executable = _last(values, SMARTCTL_OPTION, constants.SMARTCTL)
    prefix = smartctl_calls.prefix(executable, NOSUDO_OPTION in values)
    smartctl_calls.check_executable(
        executable,
        os.geteuid() == 0,
        through_sudo=smartctl_calls.is_behind_sudo(prefix),
    )
    return prefix


def _is_plain_path(path: str) -> bool:
    """Return whether a path is one that the kernel gives to a drive: "/dev/sda"."""
    name = path.removeprefix('/dev/')
    is_kernels = path.startswith(('/dev/sd', '/dev/nvme', '/dev/sg'))
    return is_kernels and name.isascii() and name.isalnum()


def _has_site_files() -> bool:
    """Return whether this site has limits or database entries, which may forbid reading a drive.

    Raises OSError if a folder of them exists and cannot be read.
    """
    if os.path.exists(f'{files.CONFIG}/{forbidden.DATABASE}'):
        return True
    for folder in ('thresholds.d', 'attributes.d'):
        try:
            names = os.listdir(f'{files.CONFIG}/{folder}')
        except (FileNotFoundError, NotADirectoryError):
            continue
        if any(name.endswith('.json') for name in names):
            return True
    return False
