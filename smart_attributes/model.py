"""The values that each stage of a check passes to the next stage. All values are immutable.

The classes are named tuples: importing `dataclasses` costs a check 12 ms, and `typing` with its
NamedTuple costs 8 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum

from .constants import DRIVE_TIMEOUT, SMARTCTL, TIMEOUT
from .errors import NOTHING, Coded, DriveError, DriveMissing
from .errors import Identity as Identity  # noqa: PLC0414 (an export)
from .typed import TYPE_CHECKING, NamedTuple

Texts = tuple[str, ...]


class State(IntEnum):
    """A Nagios service state; the number is the plugin's exit code."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3

    @property
    def urgency(self) -> int:
        """How urgent the state is, from 0 for OK over WARNING and UNKNOWN to 3 for CRITICAL."""
        # A drive that cannot be read must not hide a drive that is dying. By exit code, UNKNOWN
        # would come first.
        return (0, 1, 3, 2)[self]


WORST_FIRST = tuple(sorted(State, key=lambda state: -state.urgency))


def worst(states: Iterable[State]) -> State:
    """Return the most urgent of *states*: CRITICAL, UNKNOWN, WARNING, OK."""
    return max(states, key=lambda state: state.urgency, default=State.OK)


class Answer(NamedTuple):
    """The result of one smartctl process, with the output as unparsed bytes."""

    command: tuple[str, ...]
    # "done", "timeout", "cut short" by the end of the time for all drives, "overflow" (printed
    # without end), "not started", "too late" to start, "met" (another check reads the drive),
    # "busy" (that other check hangs)
    outcome: str
    # why the outcome is not "done", or why there is no exit status: "no answer within 30 s"
    reason: str = ''
    # exit status, eight bits; None unless the process exited by itself
    status: int | None = None
    # the signal that ended it, if this program did not send one
    signal: int | None = None
    stdout: bytes = b''
    stderr: bytes = b''
    seconds: float = 0.0  # running time
    # seconds until it started, because another check was reading the drive
    waited: float = 0.0
    ended: float = 0.0  # seconds of time.monotonic()


class Device(NamedTuple):
    """How smartctl reaches a drive."""

    path: str  # "/dev/sda", "/dev/bus/0", or the file of a recorded report
    type: str = ''  # smartctl's -d argument; '' lets smartctl detect it
    name: str = ''  # short and unique among the devices of one run: "bus_0_megaraid_6"
    optional: bool = False  # from a range: an empty slot is not an error
    is_recorded: bool = False  # path is a file with a recorded report

    @property
    def address(self) -> str:
        """The argument of -d for this one device, as an admin writes it."""
        return f'{self.type}@{self.path}' if self.type else self.path


class DeviceList(NamedTuple):
    """The devices found, and notes on the devices left out."""

    devices: tuple[Device, ...]
    is_scan: bool = False
    is_whole: bool = True  # no possible drive was left out
    notes: tuple[Coded, ...] = ()
    # returns whether -r selects a path; None without -r
    selects: Callable[[str], object] | None = None


class AttributeRow(NamedTuple):
    """One row of the ATA attribute table."""

    id: int
    # smartctl's name; it differs between versions, so never match by it
    name: str = ''
    value: int | None = None  # normalized; None if smartctl prints "---" or omits it
    worst: int | None = None
    threshold: int | None = None  # None if unknown; 0 never fails
    prefail: bool | None = None  # None if the flags were not printed
    when_failed: str = ''  # '', 'now' or 'past'
    raw: str = ''  # RAW_VALUE as printed: "640 (409 5906)"
    # number that smartctl derives from the raw bytes (JSON only)
    raw_number: int | None = None


class Statistic(NamedTuple):
    """One valid entry of the ATA device statistics log."""

    number: int
    name: str
    flags: str = ''  # "N" normalized, "D" supports DSN, "C" monitored condition met


class SelfTest(NamedTuple):
    """One entry of the self-test log."""

    kind: str  # "Short offline", "Extended", as printed
    status: str  # "Completed: read failure", as printed
    # None: still running, aborted or interrupted, so without a result
    passed: bool | None
    hours: int | None  # power-on hours when it ended (16 bits on ATA, wraps at 65536)


class ErrorEntry(NamedTuple):
    """One entry of the ATA error log."""

    number: int  # counts the errors since the drive was made
    # smartctl's names: ("UNC",), ("ICRC", "ABRT"); empty if not reported
    kinds: Texts
    hours: int  # power-on hours when it happened (16 bits, wraps at 65536)


class NvmeError(NamedTuple):
    """One entry of the error log of an NVMe drive: a command that failed."""

    number: int  # counts the errors since the drive was made
    queue: int  # 0: commands that manage the drive; others: reads and writes
    # status code type: 0 generic, 1 specific to a command, 2 media errors
    code_type: int
    code: int  # status code, 8 bits


class Head(NamedTuple):
    """The counts that the FARM log of a disk reports for one head, since the disk was made."""

    number: int
    reallocated: int = 0
    unrecoverable: int = 0  # different locations that could not be read
    repeated: int = 0  # further errors at these locations


class Farm(NamedTuple):
    """The Field Accessible Reliability Metrics log (FARM) of a Seagate disk, or why it could not
    be read.
    """

    serial: str = ''
    hours: int | None = None  # power-on time; None if not reported
    heads: tuple[Head, ...] = ()  # heads with a count above 0
    is_foreign: bool = False  # it contains another serial number than the drive reports
    unread: str = ''  # why it could not be read, as a clause


class LogPage(NamedTuple):
    """A page of an NVMe log in a vendor's format, or why it could not be read."""

    number: str  # "0xC0"
    data: bytes = b''
    status: int = 0  # a value of the metric vendor_log_status: 0 read
    failure: Coded = NOTHING  # why it was not read, if smartctl printed a reason


class Report(NamedTuple):
    """Everything that smartctl reported about one drive, read from JSON or text."""

    identity: Identity
    # SMART health status: True passed; None not reported
    smart_status: bool | None = None
    smart_status_text: str = ''  # its text, unless this is PASSED or FAILED
    # smartctl derived it from the attributes, because the drive did not report it
    is_status_derived: bool = False
    attributes: tuple[AttributeRow, ...] = ()
    statistics: Mapping[tuple[int, int], Statistic] = {}  # (page, offset) -> entry
    nvme: Mapping[str, int] = {}  # keys of smartctl's nvme_smart_health_information_log
    # see json_report._SCSI_PATHS; "read.total_uncorrected_errors"
    scsi: Mapping[str, float] = {}
    self_tests: tuple[SelfTest, ...] = ()  # newest first
    # metric -> percentage that smartctl itself derives; since 7.5
    derived: Mapping[str, int] = {}
    # entries ever made in the ATA error log; None if not read
    error_count: int | None = None
    # entries of the ATA error log, newest first: five, or more in the extended log
    errors: tuple[ErrorEntry, ...] = ()
    nvme_errors: tuple[NvmeError, ...] = ()  # newest first; smartctl reads 16 entries
    exit_status: int | None = None  # smartctl's exit status, eight bits
    # smartctl's warnings and errors, without severity "information"
    messages: Texts = ()
    version: tuple[int, ...] = ()  # smartctl's version: (7, 3)
    gaps: tuple[Coded, ...] = ()  # expected content that is missing or damaged
    farm: Farm | None = None  # only if it was read
    vendor_log: LogPage | None = None  # of an NVMe drive, if this check asked for it
    # the date that smartctl printed, seconds since 1970; 0: none. It is used for recorded reports
    date: float = 0

    @property
    def own_status(self) -> bool | None:
        """The health status that the drive itself reported; None if it reported none."""
        return None if self.is_status_derived else self.smart_status

    def has_exit_bit(self, bits: int) -> bool:
        """Return whether smartctl's exit status has any of these bits; False if it is not known."""
        return bool((self.exit_status or 0) & bits)


if TYPE_CHECKING:
    from .shown import Shown

    Outcome = Report | DriveError


class HowRead(NamedTuple):
    """The settings for reading drives: program, user, time limits."""

    smartctl: str = SMARTCTL
    nosudo: bool = False
    drive_timeout: float = DRIVE_TIMEOUT  # seconds
    timeout: float = TIMEOUT  # seconds, for the whole command


class Read(NamedTuple):
    """One device and the result of reading it."""

    device: Device
    outcome: Outcome
    transcript: str = ''  # smartctl's call and output, for -vvv
    # a note about this machine, independent of the drive's data
    remark: Coded = NOTHING
    seconds: float = 0.0  # running time of smartctl
    # seconds until it started, because another check was reading the drive
    waited: float = 0.0
    ended: float = 0.0  # when smartctl ended, seconds of time.monotonic()

    @property
    def identity(self) -> Identity | None:
        """Return the identity of the drive that answered, even without a verdict; None if no
        drive answered.
        """
        return self.outcome.identity

    @property
    def report(self) -> Report | None:
        """The report of a drive that was read; None if it could not be read."""
        return self.outcome if isinstance(self.outcome, Report) else None


# What the history says about two addresses: they did not lead to one drive, they did at the last
# check, or they did although their reports contradicted each other.
SEPARATE = 'separate'
ONE = 'one'
DOUBTED = 'doubted'


class Alias(NamedTuple):
    """Another address of a drive."""

    address: str
    is_doubted: bool = False  # its report contradicted that of the drive


class GrowthRule(NamedTuple):
    """When growth of a number causes an alert, from thresholds/; several rules apply together.

    Times are in seconds.
    """

    within: int  # period over which rises are added up
    held: int  # how long growth is an alert after it was detected
    warning: float | None = None  # WARNING above this growth; None: never
    critical: float | None = None
    # a rise counts only after it has lasted this long: for values that fluctuate
    stands: int = 0
    advice: str = ''  # "check cable and backplane"
    # for wear: only if it is this many times as fast as in the life of the drive; 0: at any speed
    times: float = 0
    # for wear, with `times`: and only if no endurance would be left within this time
    gone: int = 0


class Source(NamedTuple):
    """The source of a number: an attribute of the ATA table, or a log."""

    # a name in `drive_logs`, or a document; '' if the source is an attribute
    log: str = ''
    attribute: int | None = None
    # how the attribute is read: "100 - value"; a new definition starts a new series
    definition: str = ''

    def __str__(self) -> str:
        return self.log if self.attribute is None else f'attribute {self.attribute}'


class Forecast(NamedTuple):
    """The forecast remaining lifetime, in seconds from now."""

    left: float
    earliest: float
    latest: float
    # based only on power-on time, because the history has nothing better
    is_estimate: bool


class Reading(NamedTuple):
    """One value of one drive, vendor-neutral: "endurance_used is 78 %"."""

    metric: str
    number: float | None  # base unit; None: unknown, and `unknown` says why
    unit: str = ''  # "%", "s", "B", "C" or ""
    source: Source = Source()
    verdict: str = ''  # the drive's status as text: "passed", "read-only"
    # set for a text status; numbers are compared with limits
    state: State | None = None
    # False: the number is only stored for comparison, or only shown
    judged: bool = True
    drive_limit: float | None = None  # the drive's own limit for this metric, same unit
    unknown: str = ''  # why the number is missing: "255 means no value"
    # the counter stops at this number; the true value may be higher
    at_ceiling: bool = False
    # seconds since the newest counted event, if a log or the history shows it; a log counts
    # power-on time
    quiet: float | None = None
    quiet_is_bound: bool = False  # the event may have happened earlier
    # the only source is a history that another user could have written
    quiet_is_doubted: bool = False
    # an extended self-test has passed since the event, and no sector is pending
    is_tested: bool = False
    # the drive's own count, if the number counts physical sectors
    logical_sectors: int | None = None
    # the forecast from which this program derived the number
    forecast: Forecast | None = None
    # False: the metric's remedy does not help, as with a firmware defect that no version corrects
    has_remedy: bool = True
    # the drive reports the end of its rated life, and nothing else
    is_wear: bool = False
    # an earlier check has read it; this check did not read it again
    is_stored: bool = False
    # the status in a few words, if `verdict` has more than its first line needs
    brief: str = ''
    # what to do about the status, if the action of its metric does not say it
    action: str = ''


class Judgement(NamedTuple):
    """A reading after comparison with its limits."""

    reading: Reading
    state: State
    warning: str = ''  # Nagios range, '' for never
    critical: str = ''
    # the limit that the number passed: "above 95"; '' if OK or a text status
    against: Coded = NOTHING
    origin: str = ''  # who set the limit that determined the state
    graphed: bool = False
    # "crc_errors grew by 14 in 10 min (212 to 226): check cable and backplane"; '' if no growth is
    # reported
    growth: str = ''
    # "above 0 in 24 h" if growth determined the state, else ''
    growth_against: Coded = NOTHING
    growth_left: int = 0  # seconds until this growth is no alert any more
    # the state without the growth, if growth determined the state
    level: State = State.OK
    reason: str = ''  # the reason given for the limit; '' if nothing is judged
    grown: float = 0  # increase of the number, base unit; 0 unless `growth` reports it
    grown_ago: float = 0  # seconds since that increase was noticed
    concern: str = ''  # meaning of a finding for the drive, a name in severity.ORDER
    # the required action, if it does not concern the drive itself; else ''
    remedy: str = ''
    acknowledged: bool = False  # it would alert if the number were not acknowledged
    # "grew by 14 in 10 min"; '' if no growth is reported
    growth_change: str = ''
    # the finding without its limit, in words for people: "576 reallocated sectors"
    words: str = ''


class Member(NamedTuple):
    """One member of a group: a partition, a disk or another group."""

    name: str  # as the system calls it: "sda1"; '' for a slot without a member
    # "in_sync" (a full copy or part), "rebuilding", "spare", "faulty", "missing" or "unknown"
    state: str
    # its place in the group; None: it has no place, for example as a spare
    slot: int | None = None
    # the devices below it: kernel names of disks ("sda") and ids of groups ("md0")
    on: Texts = ()
    detail: str = ''  # the state as the system reports it, if that says more
    # why some of its data may be missing or wrong although it is in sync: see doubt()
    doubts: Texts = ()
    # "log" or "cache" of a ZFS pool, "journal" of md; '': it holds data
    role: str = ''


class Group(NamedTuple):
    """An array, a volume, a file system or a partition, with its members and the number of members
    that it needs.

    A volume or a mounted partition without redundancy has the level "single" and needs all its
    members.
    """

    # unique on this machine: "md0", "dm-3", "btrfs UUID", "zfs tank/raidz1-0"
    id: str
    name: str  # as people call it: "md0", "vg0/home", "tank"
    # "md", "lvm", "luks", "btrfs", "zfs", "multipath", "ceph", "bcache", "drbd", "swap",
    # "partition", "unknown" (a partition of unknown use), "hardware" (a volume of a RAID
    # controller), or "dm" for any other target of the device mapper
    kind: str
    # a name in redundancy.survival: "raid1", "raidz2", "single"; '' if it is not known
    level: str
    slots: int = 0  # number of places for members
    layout: int = 0  # layout of md raid10, as in /sys/block/mdN/md/layout
    members: tuple[Member, ...] = ()
    # "recover", "resync", "reshape", "replace", "check" or "repair" while it runs
    activity: str = ''
    progress: float | None = None  # progress of the activity, %
    used_as: Texts = ()  # mount points; "swap"
    # number of members that are gone or stale, if it is not known which ones
    missing: int = 0
    unknown: str = ''  # why its redundancy is not known
    # as for a member; here, doubts that concern all members
    doubts: Texts = ()
    # name of the LVM volume group, if it may have inactive volumes on the members that are not
    # known; '' if all its volumes are known, and for other kinds
    unlisted: str = ''


class Place(NamedTuple):
    """The location of a drive, for replacing it. Fields are '' or empty if not reported."""

    bay: str = ''  # "slot 7"; "slot 32:9" in an enclosure of a RAID controller
    locate: str = ''  # command that switches its locate LED on
    # kernel names of its block devices: "sda"; behind a RAID controller, its address
    disks: Texts = ()
    drive_id: str = ''  # the controller's number of the drive, which is not the slot
    locate_off: str = ''  # command that switches the LED off; '': it goes out by itself

    @property
    def where(self) -> str:
        """Return where to look for the drive, in words; '' if nothing is known."""
        if self.bay or not self.drive_id:
            return self.bay
        return f"controller's drive ID {self.drive_id}, slot unknown"


class Dependence(NamedTuple):
    """A group of which a drive is a member."""

    group: Group
    member: str  # name of the member: "sda1"
    state: str  # state of the member: "in_sync"
    # members that may fail in addition to the failing ones; None: unknown
    tolerates: int | None
    said: str  # "md0 (raid1, /srv), tolerates no further loss"


class Risk(NamedTuple):
    """Of the drives with the same finding, the measured share that later failed; see
    thresholds/risk.json.
    """

    metric: str
    # "Seagate disks"; "disks of all vendors" if there are too few drives of this vendor
    whose: str
    share_90: float | None  # share that failed within 90 days; None: not known
    share_365: float | None  # within a year
    low: float  # 90 % interval of the share within a year
    high: float
    drives: int  # number of drives with this finding
    failures: int  # number of these that failed within a year
    # "About 5 in 10 such Seagate disks failed within 90 days, 9 in 10 within a year."
    said: str = ''


class Replacement(NamedTuple):
    """Whether a drive may be replaced at present."""

    label: str  # one of redundancy.replacement.LABELS
    why: Coded
    brief: str = ''  # *why* in a few words: "md0 keeps its data"


class Further(NamedTuple):
    """A further action that a drive needs, after the action of its worst finding."""

    action: str  # a code in work/actions.py
    to_do: str  # the action in words


class Item(NamedTuple):
    """The action for one drive; all outputs show the same action."""

    drive: str  # its name in all outputs
    state: State
    action: str  # a code in work/actions.py
    # the action in words, with its date; if the drive was not read, what to run
    to_do: str
    # by when to order a replacement, "2027-03-04"; None: no forecast
    order_by: str | None
    again: int  # seconds until someone should look at it again; 0: no time is set
    # the worst finding with its limit: "576 reallocated sectors (warning above 40)"
    reason: str
    why: str  # all findings, and what follows from the groups on the drive
    place: Place = Place()
    unknown: str = ''  # what is not known, such as which data is on the drive
    step: Replacement | None = None
    # what the other findings need, most urgent first, unless the action includes it
    also: tuple[Further, ...] = ()
    # the reason is why the drive was not read, and continues after its name: "cannot be opened".
    # What was found when it was last read follows after "; "
    is_unread: bool = False


class LastFinding(NamedTuple):
    """A finding of the last check that read a drive, which counts until a newer reading."""

    state: State  # WARNING or CRITICAL
    metric: str
    words: str  # "smart_status: FAILED"
    number: float | None = None  # base unit; None: the finding is a text
    remedy: str = ''  # as of a judgement; "order-copy" if many such drives failed
    ends: int = 0  # when growth stops being an alert, seconds since 1970; 0: never
    concern: str = ''  # as of a judgement; not stored
    plain: str = ''  # as Judgement.words; not stored


class LastVerdict(NamedTuple):
    """The verdict of the last check that read a drive."""

    time: int  # seconds since 1970
    findings: tuple[LastFinding, ...] = ()  # worst first; none if the drive was OK
    family: str = ''  # family of the database entry that was selected
    is_disk: bool = False  # the drive has platters

    @property
    def state(self) -> State:
        """Return the worst state of the findings; OK without any."""
        return worst(finding.state for finding in self.findings)

    @property
    def headline(self) -> str:
        """The worst finding in words: "9 pending sectors when last read". Only with findings."""
        return f'{self.findings[0].plain or self.findings[0].words} when last read'


class Verdict(NamedTuple):
    """The result for one device: its judgements, or the reason why it has not been judged."""

    device: Device
    identity: Identity
    state: State
    judgements: tuple[Judgement, ...] = ()
    notes: tuple[Coded, ...] = ()
    problem: str = ''  # why the drive could not be read; '' if it was read
    code: str = ''  # the code of the problem, a reason in codes.json
    step: str = ''  # what to do about the problem
    details: Texts = ()  # what else is known about the drive, each a sentence
    # the drive last read at this address, if no drive answers now
    last_seen: Identity | None = None
    # what still counts of the verdict when the drive was last read, if it was not judged now and
    # this has any findings
    last: LastVerdict | None = None
    entry: str | None = None  # family of the database entry that was selected
    risk: Risk | None = None  # None: no failure rate was measured for its alerts
    # the date of a recorded report, seconds since 1970; 0: read now, or the report has no date
    date: float = 0

    @property
    def alerts(self) -> list[Judgement]:
        """The judgements that are not OK, in the same order."""
        return [
            judgement
            for judgement in self.judgements
            if judgement.state is not State.OK
        ]

    @property
    def is_missing(self) -> bool:
        """Return whether the drive was there before and is gone; another one may have its name."""
        return self.code == DriveMissing.code

    @property
    def explained(self) -> str:
        """The problem, what else is known, and the next step, as one sentence."""
        return '; '.join(filter(None, (self.problem, *self.details, self.step)))

    def read_at(self, now: float) -> float:
        """Return the time from which the forecasts of the drive count: the date of a recorded
        report, else *now*.
        """
        return self.date or now


class Outlook(NamedTuple):
    """What the history tells about a drive, beside its verdict."""

    forecasts: Mapping[str, Forecast] = {}  # metric -> time until it is used up
    # metric -> (seconds since 1970, number)
    past: Mapping[str, tuple[tuple[float, float], ...]] = {}


class Located(NamedTuple):
    """A drive and its location."""

    verdict: Verdict
    place: Place = Place()


class Use(NamedTuple):
    """A drive and what depends on it."""

    # as of the check; the verdict on a missing drive is CRITICAL if a group lacks a member
    verdict: Verdict
    place: Place = Place()
    depends: tuple[Dependence, ...] = ()  # the groups on the drive
    # None: the drive need not be replaced and is not the last copy of anything
    replacement: Replacement | None = None


class Case(NamedTuple):
    """A drive as the outputs show it: its verdict, and all that follows from it."""

    verdict: Verdict
    shown: Shown
    last_seen: Shown | None = None  # see Verdict.last_seen
    outlook: Outlook = Outlook()
    use: Use | None = None  # None: groups were not read, because nothing alerts
    item: Item | None = None  # None: in a check, if the drive is OK
    transcript: str = ''  # smartctl's call and output

    @property
    def todo(self) -> Item:
        """The action for a drive that was asked for."""
        assert self.item is not None  # noqa: S101  only a check leaves it out
        return self.item

    @property
    def place(self) -> Place:
        """The location of the drive."""
        return self.use.place if self.use else Place()
