"""The exception tree, and the identity of the drive that an error is about.

Each message is a full sentence: where, what happened, and the next step.
"""
from __future__ import annotations

import os
import sys

from .typed import NamedTuple

# Exceptions from a file of this program that is missing, damaged or unreadable.
DAMAGE = (ImportError, SyntaxError, EOFError)
# Modules of the standard library without a .py file, in shared objects or in Python itself: for is_standard().
_SHARED = (*sys.builtin_module_names, 'array', 'fcntl', 'grp', 'math', 'pwd', 'readline', 'resource', 'select',
           'syslog', 'termios', 'time', 'unicodedata', 'zlib')


class Identity(NamedTuple):
    """The identity that a drive reports. Strings are as smartctl prints them, without blanks at their ends."""

    protocol: str = ''            # "ATA", "NVMe", "SCSI", or '' if not reported
    model: str = ''
    firmware: str = ''
    serial: str = ''
    wwn: str = ''                 # hexadecimal digits: "5000c500a1b2c3d4"
    rotation: int | None = None   # revolutions per minute; 0 is a solid state drive; None if not reported
    capacity: int | None = None   # bytes
    family: str = ''              # smartctl's own database: "Intel 730 and DC S35x0/3610/3700 Series SSDs"
    sector_size: int = 512        # bytes of a logical block
    spins: bool = False           # counts spindle starts; for drives that do not report the rotation
    physical_block_size: int | None = None  # bytes of a physical sector; None if not reported

    @property
    def kind(self) -> str:
        """The kind that decides which limits apply: "hdd", "ssd", "nvme" or "sas"."""
        if self.protocol == 'NVMe':
            return 'nvme'
        if self.protocol == 'SCSI':
            return 'sas'
        # Drives older than ATA-8 and smartctl older than 5.43 do not report the rotation.
        return 'hdd' if self.rotation or (self.rotation is None and self.spins) else 'ssd'

    @property
    def plain_model(self) -> str:
        """The model with single blanks, as in the patterns of attributes.json."""
        return ' '.join(self.model.split())


class SmartError(Exception):
    """The base of all errors that make a command or a drive UNKNOWN. str() returns the sentence.

    code: a name in codes.REASONS, or '' if the sentence itself gives the next step.
    printed: the output of smartctl or sudo that the sentence is about, or ''.
    """

    code = ''
    printed = ''

    def __init__(self, sentence: str, code: str = '') -> None:
        """Store the sentence. code: replaces the default code of this class."""
        super().__init__(sentence)
        if code:
            self.code = code


class UsageError(SmartError):
    """The command line is invalid."""

    code = 'usage-error'


class DataError(SmartError):
    """A data file (attributes, thresholds) does not match its schema."""

    code = 'site-file-mistake'


class DriveError(SmartError):
    """This drive cannot be judged; other drives are not affected.

    identity: the drive, as far as smartctl reported it; None if nothing answered.
    around_type: the parts of the sentence before and after its request for a type; empty if it does not ask for one.
    """

    code = 'drive-unreadable'
    identity: Identity | None = None
    around_type: tuple[str, ...] = ()

    def of(self, identity: Identity) -> DriveError:
        """Return this error with the identity of its drive."""
        self.identity = identity if identity.model or identity.serial or identity.wwn else None
        return self


class DriveAbsent(DriveError):
    """Nothing answers at this address: the device is missing or the slot is empty."""

    code = 'no-such-device'


class DriveUndetected(DriveError):
    """smartctl does not recognize the device at this path, or the path is empty."""

    code = 'type-undetected'


class SudoRefused(DriveError):
    """sudo does not allow this user to run this command."""

    code = 'sudo-rule-missing'


class ControllerElsewhere(DriveError):
    """The address has no controller of the required type, but another SCSI host of this machine has one."""

    code = 'controller-moved'


class DriveNotReached(DriveError):
    """The time limit passed before this drive was read."""

    code = 'not-reached'


class DriveAsleep(DriveError):
    """The drive is in standby and was not woken up."""

    code = 'asleep'


class NotAReport(DriveError):
    """The file does not contain smartctl's output for a drive."""

    code = 'not-a-report'


class DriveIsNoDrive(DriveError):
    """The device has no SMART: a RAID volume, an iSCSI target or an optical drive."""

    code = 'not-a-drive'


class FormulaError(SmartError):
    """A `from` formula in the database does not follow the grammar."""

    code = 'site-file-mistake'


class HistoryUnusable(SmartError):
    """The history cannot be read or written; the check continues without it."""

    code = 'history-unusable'


def inside(error: BaseException, what: str, evidence: str = 'smartctl --json -x') -> DriveError:
    """Return the error of one drive for an exception that the code for it did not expect.

    what: what could not be done, such as "cannot be parsed". Other drives are not affected.
    evidence: the command whose output belongs to a report of this bug.
    """
    if isinstance(error, ModuleNotFoundError) and error.name:
        return DriveError(f'{what}: {not_installed(error.name)}', 'python-package-missing')
    if isinstance(error, DAMAGE):
        return DriveError(f'{what}: {type(error).__name__} in a file of check_smart_attributes; reinstall it',
                          'plugin-damaged')
    return DriveError(f'{what}: {type(error).__name__} inside check_smart_attributes; please report this with the '
                      f'output of: {evidence}', 'internal-error')


def not_installed(module: str) -> str:
    """Return the sentence for a missing module, which may belong to Python, to this program or to a third party."""
    package = module.partition('.')[0]
    if package == __name__.partition('.')[0]:
        return (f'the module {module} of this program cannot be loaded; reinstall the program, readable for every '
                f'user')
    if is_standard(package):
        return (f'the module {package} of Python\'s standard library cannot be loaded from {_library()}; reinstall '
                f'this Python, complete and readable for every user')
    return f'the Python package {package} is not installed; {installing(package)}'


def is_standard(package: str) -> bool:
    """Return whether a package belongs to Python itself and so never has to be installed.

    Python 3.9 has no list of these, so its files are examined. If they cannot be read, no package counts as missing.
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
    """Return the command that installs a package for this Python."""
    from .files import repair
    if repair():   # the libraries of an installed program are its own
        return f'as root, run: {repair()}'
    by_pip = f'{sys.executable} -m pip install {package}'
    if sys.prefix != sys.base_prefix:
        return by_pip  # packages from apt are not visible in a virtual environment
    return f'apt install python3-{package.lower().replace("_", "-")}, or {by_pip}'
