"""The exception tree. Each message is a whole sentence: where, what, what next."""
from __future__ import annotations

import os
import sys

from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Optional, Tuple

    from .drive_identity import Identity

# Modules of the standard library without a .py file, in shared objects or in Python itself: for is_standard().
_SHARED = (*sys.builtin_module_names, 'array', 'fcntl', 'grp', 'math', 'pwd', 'readline', 'resource', 'select',
           'syslog', 'termios', 'time', 'unicodedata', 'zlib')


class SmartError(Exception):
    """Whatever ends a command or a drive with UNKNOWN. str() is the sentence.

    code: a name in codes.REASONS; '' where the sentence alone says what to do.
    """

    code = ''

    def __init__(self, sentence: str, code: str = '') -> None:
        """code: in place of the one that errors of this class have."""
        super().__init__(sentence)
        if code:
            self.code = code


class UsageError(SmartError):
    """The command line cannot be meant like this."""

    code = 'usage-error'


class DataError(SmartError):
    """A data file (attributes, thresholds) is not as its schema wants it."""

    code = 'site-file-mistake'


class DriveError(SmartError):
    """This one drive gives no verdict; the others still do.

    identity: who gives none, as far as smartctl told; None where nobody answered.
    around_type: the sentence without the words that ask for a type, cut there; empty where it does not ask for one.
    """

    code = 'drive-unreadable'
    identity: Optional[Identity] = None
    around_type: Tuple[str, ...] = ()

    def of(self, identity: Identity) -> DriveError:
        """Return this error with the drive that it is about."""
        self.identity = identity if identity.model or identity.serial or identity.wwn else None
        return self


class DriveAbsent(DriveError):
    """Nothing answers at this address: no such device, an empty slot."""

    code = 'no-such-device'


class DriveUndetected(DriveError):
    """smartctl does not know what is at this path: something odd, or nothing."""

    code = 'type-undetected'


class SudoRefused(DriveError):
    """sudo does not let this user make this call."""

    code = 'sudo-rule-missing'


class ControllerElsewhere(DriveError):
    """No controller of the wanted kind is where the address says, but another host of this machine has one."""

    code = 'controller-moved'


class DriveNotReached(DriveError):
    """Time was over before anybody asked this drive."""

    code = 'not-reached'


class DriveAsleep(DriveError):
    """The drive is in standby and was left alone."""

    code = 'asleep'


class NotAReport(DriveError):
    """A file that holds something else than smartctl's words about a drive."""

    code = 'not-a-report'


class DriveIsNoDrive(DriveError):
    """A RAID volume, an iSCSI target, an optical drive: nothing that has SMART."""

    code = 'not-a-drive'


class FormulaError(SmartError):
    """A `from` of the database that the grammar does not know."""

    code = 'site-file-mistake'


class HistoryUnusable(SmartError):
    """What earlier checks read cannot be had, or this one's readings not be kept; the check goes on without."""

    code = 'history-unusable'


def not_installed(module: str) -> str:
    """Return the sentence for a module that this Python does not find: its own, this program's or a foreign one."""
    package = module.partition('.')[0]
    if package == __name__.partition('.')[0]:
        return (f'the module {module} of this program cannot be loaded; install the program again, readable for every '
                f'user')
    if is_standard(package):
        return (f'the module {package} of Python\'s standard library cannot be loaded from {_library()}; install this '
                f'Python again, whole and readable for every user')
    return f'the Python package {package} is not installed; {installing(package)}'


def is_standard(package: str) -> bool:
    """Tell whether a package belongs to Python itself: it is never one to install.

    Python 3.9 has no list of them. There the files tell; if they cannot be read, no package is known to be missing.
    """
    names = getattr(sys, 'stdlib_module_names', None)
    if names is not None:
        return package in names
    is_file = any(os.path.lexists(os.path.join(_library(), package + end)) for end in ('', '.py'))
    return is_file or package.startswith('_') or package in _SHARED or not os.access(_library(), os.R_OK | os.X_OK)


def _library() -> str:
    """Return the directory of Python's standard library."""
    return os.path.dirname(os.__file__)


def installing(package: str) -> str:
    """Return what installs a package for this Python."""
    by_pip = f'{sys.executable} -m pip install {package}'
    if sys.prefix != sys.base_prefix:
        return by_pip  # a virtual environment sees nothing that apt installs
    return f'apt install python3-{package.lower().replace("_", "-")}, or {by_pip}'
