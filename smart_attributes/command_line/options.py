"""The values of a command line: one group for each part of the program that takes them, and one for the command."""
from __future__ import annotations

from ..constants import DAY
from ..files import CONFIG
from ..model import OUTPUT_LIMIT, HowRead, State
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, Callable, Mapping, Optional, Tuple

    from ..typed import Json
    from ..v1_6.command_line import Before as Before  # noqa: PLC0414  site and survey take the name from here


PROGRAM = 'check_smart_attributes'
OK, PARTLY, UNKNOWN = 0, 1, 3   # exit statuses of the commands for a person
USER = 'nagios'       # as whom Debian's daemons run checks
LABELS = ('device', 'by-id', 'serial', 'wwn')
STATE_WORDS = tuple(state.name.lower() for state in State)


class Which(NamedTuple):
    """Which drives, how many of them there should be, and which of their metrics."""

    devices: Tuple[str, ...] = ()
    scan: bool = False
    reports: Tuple[str, ...] = ()
    match: Tuple[str, ...] = ()
    ignore: Tuple[str, ...] = ()
    expect: Optional[int] = None
    no_drives: Optional[State] = None
    metrics: Tuple[str, ...] = ()       # that a command is about; none: all


class Judging(NamedTuple):
    """How they are judged."""

    warning: Tuple[Tuple[str, str], ...] = ()
    critical: Tuple[Tuple[str, str], ...] = ()
    ignore_metrics: Tuple[str, ...] = ()
    ignore_attributes: Tuple[int, ...] = ()
    unknown_model: State = State.OK
    asleep: State = State.OK
    selftest_max_age: int = 0           # seconds of power-on time; 0: any
    acknowledged: Tuple[str, ...] = ()


class DataFiles(NamedTuple):
    """Where what drives mean and when they are bad is read from."""

    config: str = CONFIG
    attributes: Tuple[str, ...] = ()
    thresholds: Tuple[str, ...] = ()


class Naming(NamedTuple):
    """How they are named."""

    label: str = 'device'
    hide_serial: bool = False


class HistoryUse(NamedTuple):
    """How history is used."""

    access: str = ''                    # "writes", "reads"; '': the command does without
    no_history: bool = False
    history_required: Optional[State] = None
    expect_known: bool = False
    asleep_max_age: int = 7 * DAY       # seconds


# Functions take the group that they need.
GROUPS: Mapping[str, Any] = {'which': Which, 'how_read': HowRead, 'judging': Judging, 'data': DataFiles,
                             'naming': Naming, 'history': HistoryUse}


class Options(NamedTuple):
    """All that a command line asks for. Each group has its defaults where a command does not take it."""

    which: Which = Which()
    how_read: HowRead = HowRead()
    judging: Judging = Judging()
    data: DataFiles = DataFiles()
    naming: Naming = Naming()
    history: HistoryUse = HistoryUse()
    state_dir: str = ''
    verbose: int = 0
    show_version: bool = False
    before: Optional[Before] = None     # what only version 1.6 was asked for
    own: Any = None                     # what only this command is asked for: one of the classes below, None without


# --- what only one command is asked for; the defaults stand in the table of commands ---------

class CheckOptions(NamedTuple):
    """What a check prints."""

    all_perfdata: bool = False
    max_output: int = OUTPUT_LIMIT      # bytes


class TriageOptions(NamedTuple):
    """What triage shows beside the table, or in its place."""

    forms: Tuple[Tuple[Callable[[Json], str], Optional[str]], ...]  # of the document; with a file, or printed
    since: int                          # seconds to look back; 0: not asked for


class ListOptions(NamedTuple):
    """How list prints."""

    as_json: bool


class SudoersOptions(NamedTuple):
    """Which sudoers rule is printed."""

    user: str
    literal: bool
    types: Tuple[str, ...]              # that a rule admits only when asked to


class ValidateOptions(NamedTuple):
    """Which files are validated, and with what."""

    files: Tuple[str, ...]
    samples: Optional[str]
    models: Optional[str]
    format: bool


class MeasureOptions(NamedTuple):
    """Which drives are measured."""

    files: Tuple[str, ...]              # one
    write: bool


class MigrateOptions(NamedTuple):
    """Which files of version 1.6 are migrated, and where to."""

    files: Tuple[str, ...]
    output: Optional[str]               # folder


class AcknowledgeOptions(NamedTuple):
    """Which values are accepted, why and until when."""

    every_alarm: bool
    why: str
    until: str
    shown: bool
    withdraw: Tuple[str, ...]


class HistoryOptions(NamedTuple):
    """What is done with history."""

    as_json: bool
    imports: bool
    forget: Tuple[str, ...]


class MetricsOptions(NamedTuple):
    """Where the metrics go, and in which format."""

    output: Optional[str]               # file
    openmetrics: bool


class DoctorOptions(NamedTuple):
    """Who runs the checks, and how doctor prints."""

    user: str
    as_json: bool


class FleetOptions(NamedTuple):
    """Where the drives of a fleet are read from, and what is shown of them."""

    files: Tuple[str, ...]
    icinga: str                         # https://HOST:5665
    api_user: str
    password_file: str
    certificate: str
    key: str
    authority: str
    icinga_name: str                    # in its certificate
    filter: str
    hosts: Optional[str]                # filter of those that should have the check; '' for all
    plan: str
    limit: int                          # drives in the table; 0 for all
    as_json: bool
    html: Optional[str]
