"""Sentences with a code, the exception classes, and the identity of the drive that an error
concerns.

Each message is a full sentence: where, what happened, and the next step.
"""

from __future__ import annotations

from collections.abc import Mapping

from .typed import Any, NamedTuple


class Coded(str):
    """A sentence with its code (a name in codes.json) and its values.

    This class is a subclass of str.

    People read the sentence, and programs act on the code.
    """

    code: str
    fields: Mapping[str, Any]

    def __new__(cls, code: str, text: str, **fields: Any) -> Coded:
        """Return *text* with its code. fields: the values in the text, under their keys in the
        JSON document.
        """
        made = super().__new__(cls, text)
        made.code, made.fields = code, fields
        return made


NOTHING = Coded('', '')


class Identity(NamedTuple):
    """The identity that a drive reports.

    Strings are as smartctl prints them, without leading and trailing blanks.
    """

    protocol: str = ''  # "ATA", "NVMe", "SCSI", or '' if not reported
    model: str = ''
    firmware: str = ''
    serial: str = ''
    wwn: str = ''  # hexadecimal digits: "5000c500a1b2c3d4"
    # revolutions per minute; 0 is a solid state drive; None if not reported
    rotation: int | None = None
    capacity: int | None = None  # bytes
    # smartctl's own database: "Intel 730 and DC S35x0/3610/3700 Series SSDs"
    family: str = ''
    sector_size: int = 512  # bytes of a logical block
    # the drive counts spindle starts; used if it does not report the rotation
    spins: bool = False
    # bytes of a physical sector; None if not reported
    physical_block_size: int | None = None

    @property
    def kind(self) -> str:
        """The kind of drive, which decides which limits apply: "hdd", "ssd", "nvme" or "sas"."""
        if self.protocol == 'NVMe':
            return 'nvme'
        if self.protocol == 'SCSI':
            return 'sas'
        # Drives older than ATA-8 and smartctl older than 5.43 do not report the rotation.
        has_platters = self.spins if self.rotation is None else self.rotation
        return 'hdd' if has_platters else 'ssd'

    @property
    def plain_model(self) -> str:
        """The model, with each run of blanks reduced to one, as the patterns in attributes.json
        expect.
        """
        return ' '.join(self.model.split())


class SmartError(Exception):
    """The base of all errors that make a command or a drive UNKNOWN. str() returns the sentence:
    why, then the next step.

    code: a reason in codes.json; '' if the sentence already gives the next step.
    why: what happened. step: what to do about it, often with a command; '' if *why* says it. What to
    do in other cases follows after "; ", which a first line leaves out.
    printed: the output of smartctl or sudo that led to the error, or ''.
    """

    code = ''
    printed = ''

    def __init_subclass__(cls, code: str = '') -> None:
        """Store the default code of a class of errors; '' keeps the code of the base class."""
        cls.code = code or cls.code

    def __init__(self, why: str, code: str = '', step: str = '') -> None:
        """Store the parts of the sentence. code: replaces the default code of this class."""
        super().__init__(why)
        self.why, self.step = why, step
        if code:
            self.code = code

    def __str__(self) -> str:
        return f'{self.why}; {self.step}' if self.step else self.why


FEWER = 'check fewer drives at once, or increase -t'  # the next step after a time limit


class UsageError(SmartError, code='usage-error'):
    """The command line is invalid."""


class DataError(SmartError, code='configuration-error'):
    """A data file (attributes, thresholds) does not match its schema."""


class DriveError(SmartError, code='drive-unreadable'):
    """This drive cannot be judged; other drives are not affected.

    identity: what smartctl reported about the drive; None if nothing answered.
    """

    identity: Identity | None = None

    def of(self, identity: Identity) -> DriveError:
        """Store what the drive reported of its identity in this error, and return the error."""
        is_reported = identity.model or identity.serial or identity.wwn
        self.identity = identity if is_reported else None
        return self


class DriveAbsent(DriveError, code='no-such-device'):
    """Nothing answers at this address: the device is missing or the slot is empty."""


class DriveUndetected(DriveError, code='type-undetected'):
    """smartctl does not recognize the device at this path, or the path is empty."""


class SudoRefused(DriveError, code='sudo-rule-missing'):
    """sudo does not allow this user to run this command."""


class ControllerElsewhere(DriveError, code='controller-moved'):
    """The address has no controller of the required type, but another SCSI host of this machine
    has one.
    """


class DriveNotReached(DriveError, code='not-reached'):
    """The time limit passed before this drive was read."""


class DriveAsleep(DriveError, code='asleep'):
    """The drive is in standby and was not woken up."""


class DriveWithState(DriveError):
    """The drive is not UNKNOWN. state: its state, in small letters."""

    def __init__(self, why: str, step: str, state: str) -> None:
        super().__init__(why, step=step)
        self.state = state


class DriveMissing(DriveWithState, code='drive-missing'):
    """A drive that earlier checks have read is at no address any more."""


class ReadingHarms(DriveWithState, code='reading-harms'):
    """The drive was not read, because an advisory of the database forbids it."""


class NotAReport(DriveError, code='not-a-report'):
    """The file does not contain smartctl's output for a drive."""


class DriveIsNoDrive(DriveError, code='not-a-drive'):
    """The device has no SMART: a RAID volume, an iSCSI target or an optical drive."""


class FormulaError(SmartError, code='configuration-error'):
    """A `from` formula in the database does not follow the grammar."""


class HistoryUnusable(SmartError, code='history-unusable'):
    """The history cannot be read or written; the check continues without it."""


class HistoryAbsent(HistoryUnusable):
    """There is no history, and none is expected."""
