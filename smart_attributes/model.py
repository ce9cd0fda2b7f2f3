"""The values that pass from one stage to the next. All are frozen.

They are named tuples, not dataclasses: importing dataclasses costs a check
12 ms, and importing typing for its NamedTuple 8.
"""
from __future__ import annotations

from enum import IntEnum

from .coded import NOTHING, Coded
from .constants import DRIVE_TIMEOUT, PARALLEL, SMARTCTL, TIMEOUT
from .drive_identity import Identity as Identity  # noqa: PLC0414 (an export)
from .errors import DriveError
from .typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Iterable, Mapping, Optional, Tuple, Union


class State(IntEnum):
    """A Nagios service state; the number is the plugin's exit code."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3

    @property
    def urgency(self) -> int:
        """Rank for "worst first": CRITICAL, UNKNOWN, WARNING, OK."""
        # A drive that cannot be read must not hide one that is dying, so the
        # exit codes' own order is not the order of urgency.
        return (0, 1, 3, 2)[self]


def worst(states: Iterable[State]) -> State:
    """Return the most urgent of *states*: CRITICAL, UNKNOWN, WARNING, OK."""
    return max(states, key=lambda state: state.urgency, default=State.OK)


# smartctl's words in column WHEN_FAILED, of all its layouts -> AttributeRow.when_failed.
WHEN_FAILED: Mapping[str, str] = {'-': '', 'FAILING_NOW': 'now', 'NOW': 'now', 'In_the_past': 'past', 'Past': 'past'}


class Answer(NamedTuple):
    """What became of one smartctl process. Bytes, not yet understood."""

    command: Tuple[str, ...]
    # "done", "timeout", "cut short" by the end of the time for all drives, "overflow" (printed without end), "not
    # started", "too late" to start, "met" (another check reads the drive), "busy" (that hangs)
    outcome: str
    reason: str = ''              # why it is not "done": "no answer within 30 s"
    status: Optional[int] = None  # exit status, eight bits; None unless it ended by itself
    signal: Optional[int] = None  # the signal that ended it, where none was ours
    stdout: bytes = b''
    stderr: bytes = b''
    seconds: float = 0.0          # from its start
    waited: float = 0.0           # seconds before that, for another check that was reading the drive


class Device(NamedTuple):
    """How smartctl reaches a drive."""

    path: str              # "/dev/sda", "/dev/bus/0", or the file of a recorded report
    type: str = ''         # smartctl's -d argument; '' lets smartctl find out
    name: str = ''         # short and unique among the devices of one run: "bus_0_megaraid_6"
    optional: bool = False  # out of a range: an empty slot here is no error
    is_recorded: bool = False  # path is a file with a recorded report

    @property
    def address(self) -> str:
        """What an admin writes after -d for this one device."""
        return f'{self.type}@{self.path}' if self.type else self.path


class AttributeRow(NamedTuple):
    """One row of the ATA attribute table."""

    id: int
    name: str                     # smartctl's name; it changes with its version, never match by it
    value: Optional[int]          # normalized; None where smartctl prints "---" or leaves it out
    worst: Optional[int]
    threshold: Optional[int]      # None where unknown; 0 never fails
    prefail: Optional[bool]       # None where the flags were not printed
    when_failed: str              # '', 'now' or 'past'
    raw: str                      # RAW_VALUE as printed: "640 (409 5906)"
    raw_number: Optional[int] = None  # smartctl's number of the raw bytes (JSON only)


class Statistic(NamedTuple):
    """One valid entry of the ATA device statistics log."""

    number: int
    name: str
    flags: str = ''               # "N" normalized, "D" supports DSN, "C" monitored condition met


class SelfTest(NamedTuple):
    """One entry of the self-test log."""

    kind: str                     # "Short offline", "Extended", as printed
    status: str                   # "Completed: read failure", as printed
    passed: Optional[bool]        # None: running, aborted or interrupted, which proves nothing
    hours: Optional[int]          # power-on hours when it ended (16 bits on ATA, wraps at 65536)


class ErrorEntry(NamedTuple):
    """One entry of the ATA error log."""

    number: int                   # counts the errors of the drive's life
    kind: Tuple[str, ...]         # what smartctl calls it: ("UNC",), ("ICRC", "ABRT"); empty where nothing tells
    hours: int                    # power-on hours when it happened (16 bits, wraps at 65536)


class Report(NamedTuple):
    """Everything smartctl said about one drive, in whatever form it said it."""

    identity: Identity
    smart_status: Optional[bool] = None   # the drive's own verdict: True passed; None not told
    smart_status_text: str = ''           # the words, where there are any beyond PASSED and FAILED
    attributes: Tuple[AttributeRow, ...] = ()
    statistics: Mapping[Tuple[int, int], Statistic] = {}  # (page, offset) -> entry
    nvme: Mapping[str, int] = {}          # keys of smartctl's nvme_smart_health_information_log
    scsi: Mapping[str, float] = {}        # see json_report._SCSI_PATHS; "read.total_uncorrected_errors"
    self_tests: Tuple[SelfTest, ...] = ()  # newest first
    derived: Mapping[str, int] = {}        # metric -> what smartctl itself makes of the drive, %; since 7.5
    error_count: Optional[int] = None     # entries ever made in the ATA error log; None not read
    # of the ATA error log, newest first: five, or more where the extended log was read
    errors: Tuple[ErrorEntry, ...] = ()
    exit_status: Optional[int] = None     # smartctl's exit status, eight bits
    messages: Tuple[str, ...] = ()        # what smartctl complained about, without severity "information"
    version: Tuple[int, ...] = ()         # smartctl's version: (7, 3)
    gaps: Tuple[Coded, ...] = ()          # what it should hold and does not, or holds damaged

    def has_exit_bit(self, bits: int) -> bool:
        """Tell whether smartctl's exit status has one of these bits; a signal has none."""
        return self.exit_status is not None and self.exit_status > 0 and bool(self.exit_status & bits)


if TYPE_CHECKING:
    Outcome = Union[Report, DriveError]

OUTPUT_LIMIT = 65000  # bytes of text and perfdata; NRPE passes 65,505, Icinga's IDO keeps 65,535 of each
# Bytes that Nagios 4.4 keeps of a program that ends as soon as it has printed, such as check_nrpe and check_by_ssh: it
# reads two blocks of 4,096. What the check may print then.
KEPT_BEHIND_NRPE, BEHIND_NRPE = 8192, 8000


class HowRead(NamedTuple):
    """How drives are read: by which program, as whom, how many at once, for how long."""

    smartctl: str = SMARTCTL
    nosudo: bool = False
    jobs: int = PARALLEL
    drive_timeout: float = DRIVE_TIMEOUT  # seconds
    timeout: float = TIMEOUT              # seconds, for everything


class Read(NamedTuple):
    """One device with what came of reading it."""

    device: Device
    outcome: Outcome
    transcript: str = ''          # smartctl's call and output, for -vvv
    remark: Coded = NOTHING       # what the admin should know of this machine, whatever the drive says
    seconds: float = 0.0          # that smartctl took
    waited: float = 0.0           # seconds before that, for another check that was reading the drive

    @property
    def identity(self) -> Optional[Identity]:
        """Return who answered, with or without a verdict; None when nobody did."""
        return self.outcome.identity


class Source(NamedTuple):
    """Where a number comes from: an attribute of the ATA table, or a log."""

    log: str = ''                 # a name of `standards`, or a document; '' where an attribute says it
    attribute: Optional[int] = None
    definition: str = ''          # how the attribute is read: "100 - value"; another one is another series of numbers

    def __str__(self) -> str:
        return self.log if self.attribute is None else f'attribute {self.attribute}'


class Forecast(NamedTuple):
    """How long something lasts from now on, in seconds."""

    left: float
    earliest: float
    latest: float
    is_estimate: bool         # from power-on time alone: nothing is remembered that is better


class Reading(NamedTuple):
    """One number of one drive, vendor-neutral: "endurance_used is 78 %"."""

    metric: str
    number: Optional[float]       # base unit; None: unknown, and `unknown` says why
    unit: str                     # "%", "s", "B", "C" or ""
    source: Source
    verdict: str = ''             # what the drive says in words: "passed", "read-only"
    state: Optional[State] = None  # verdicts carry their state themselves; numbers meet limits
    judged: bool = True           # False: kept for comparison, or shown only
    drive_limit: Optional[float] = None  # the drive's own limit for this metric, same unit
    unknown: str = ''             # why there is no number: "255 means no value"
    at_ceiling: bool = False      # the counter stops here; the truth may be more
    # seconds since the newest event behind it, where a log or history tells; power-on time in a log
    quiet: Optional[float] = None
    quiet_is_bound: bool = False  # it may be longer
    logical_sectors: Optional[int] = None  # the drive's own count, where the number is of physical sectors
    forecast: Optional[Forecast] = None  # what the number was taken from, where nothing told it


class Judgement(NamedTuple):
    """A reading that has met its limits."""

    reading: Reading
    state: State
    warning: str = ''             # Nagios range, '' when never
    critical: str = ''
    against: Coded = NOTHING      # which side of the limit it is on: "above 95"; '' when OK or a verdict
    origin: str = ''              # who set the limit that decided
    graphed: bool = False
    # "crc_errors grew by 14 in 24 h (212 to 226): check cable and backplane"; '' where none is told
    growth: str = ''
    growth_against: Coded = NOTHING  # "above 0 in 24 h", where growth decided; '' otherwise
    reason: str = ''              # why the limit is what it is, in the words of who set it; '' where nothing is judged
    grown: float = 0              # by how much the number increased, base unit; 0 unless `growth` reports it
    concern: str = ''             # of a finding: what it says about the drive, a name in severity.ORDER
    acknowledged: bool = False    # it would alert, had nobody acknowledged the number


class OldValue(NamedTuple):
    """A value of perfdata under the label that version 1.6 gave it."""

    label: str
    number: float
    warning: str = ''
    critical: str = ''


class Place(NamedTuple):
    """Which drive it is, for whoever pulls it. All '' or empty where nothing tells."""

    bay: str = ''                 # "slot 7"
    light: str = ''               # the file that takes 1 and 0
    carries: Tuple[str, ...] = ()  # "md0 (raid1, /srv, md state: clean, sda1 in_sync, sdb1 in_sync)"
    is_member: bool = False       # of an array or a pool that the kernel knows


class Grown(NamedTuple):
    """A number of a drive that has grown since a person looked last."""

    drive: str                # its name in all outputs
    metric: str
    before: float             # base unit
    after: float
    noticed: float            # seconds since 1970, the last time
    said: str                 # "crc_errors grew by 14 in 30 d (212 to 226), 3 d ago"


class Lately(NamedTuple):
    """What history tells of the time since a person looked last."""

    since: float              # seconds since 1970
    grew: Tuple[Grown, ...] = ()
    came: Tuple[Coded, ...] = ()  # drives that are new here
    went: Tuple[Coded, ...] = ()  # drives that were replaced, moved or are gone
    unknown: str = ''         # what of that time nobody knows


class Verdict(NamedTuple):
    """What became of one device: judgements, or the reason why there are none."""

    device: Device
    identity: Identity
    state: State
    judgements: Tuple[Judgement, ...] = ()
    notes: Tuple[Coded, ...] = ()
    problem: str = ''             # why the drive could not be read; '' when it was
    code: str = ''                # the same in codes.REASONS
    last_seen: Optional[Identity] = None  # who was read there before, where nobody answers
    entry: Optional[str] = None   # family of the entry that won
    old_values: Tuple[OldValue, ...] = ()  # perfdata of version 1.6, beside that of the judgements
    place: Place = Place()        # asked for where a person looks, not in a check
    forecasts: Mapping[str, Forecast] = {}  # metric -> when it is used up, or gone
    past: Mapping[str, Tuple[Tuple[float, float], ...]] = {}  # metric -> (seconds since 1970, number), as remembered
