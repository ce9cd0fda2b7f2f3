"""The values of a command line: one group for each part of the program that uses them, and one for the command."""
from __future__ import annotations

from ..constants import DAY, HOUR
from ..files import CONFIG
from ..model import OUTPUT_LIMIT, HowRead, State
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..typed import Json
    from ..v1_6.command_line import Before as Before  # noqa: PLC0414  rulebook and survey take the name from here

PROGRAM = 'check_smart_attributes'
OK, PARTLY, UNKNOWN = 0, 1, 3   # exit statuses of the commands for a person
USER = 'nagios'       # the user that runs checks on Debian
FORMATS = ('nagios', 'checkmk')
LABELS = ('device', 'by-id', 'serial', 'wwn')
STATE_WORDS = tuple(state.name.lower() for state in State)


class Which(NamedTuple):
    """The selected drives, their expected number, and the selected metrics."""

    devices: tuple[str, ...] = ()
    scan: bool = False
    reports: tuple[str, ...] = ()
    match: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    expect: int | None = None
    no_drives: State | None = None
    metrics: tuple[str, ...] = ()       # metrics that the command uses; empty: all


class Judging(NamedTuple):
    """How drives are judged."""

    warning: tuple[tuple[str, str], ...] = ()   # metric and range
    critical: tuple[tuple[str, str], ...] = ()
    ignore_metrics: tuple[str, ...] = ()
    ignore_attributes: tuple[int, ...] = ()
    unknown_model: State = State.OK
    asleep: State = State.OK
    selftest_max_age: int = 0           # seconds of power-on time; 0: any
    acknowledged: tuple[str, ...] = ()
    vendor_logs: int | None = 6 * HOUR  # seconds between two reads of a vendor's log; None: none is read or used


class DataFiles(NamedTuple):
    """The files that define the meaning of attributes and the limits."""

    config: str = CONFIG
    attributes: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()


class Naming(NamedTuple):
    """How drives are named."""

    label: str = 'device'
    hide_serial: bool = False


class HistoryUse(NamedTuple):
    """How history is used."""

    access: str = ''                    # "writes", "reads"; '': the command does not use it
    no_history: bool = False
    history_required: State | None = None
    gone: State = State.WARNING         # of a known drive that is missing
    asleep_max_age: int = 7 * DAY       # seconds


# Functions take the group that they need.
GROUPS: Mapping[str, Any] = {'which': Which, 'how_read': HowRead, 'judging': Judging, 'data': DataFiles,
                             'naming': Naming, 'history': HistoryUse}


class Options(NamedTuple):
    """All values of a command line. A group that the command does not take has its defaults."""

    which: Which = Which()
    how_read: HowRead = HowRead()
    judging: Judging = Judging()
    data: DataFiles = DataFiles()
    naming: Naming = Naming()
    history: HistoryUse = HistoryUse()
    state_dir: str = ''
    verbose: int = 0
    show_version: bool = False
    before: Before | None = None        # values of options that only version 1.6 had
    own: Any = None                     # values of this command alone: one of the classes below, None without


# --- values of one command; their defaults are in the table of commands ---------------------

class CheckOptions(NamedTuple):
    """The output of a check."""

    all_perfdata: bool = False
    max_output: int = OUTPUT_LIMIT      # bytes
    format: str = FORMATS[0]


class TriageOptions(NamedTuple):
    """The output of triage in addition to its table, or instead of it."""

    forms: tuple[tuple[Callable[[Json], str], str | None], ...]  # of the document; with a file, or printed
    since: int                          # seconds to look back; 0: not at all
    asked: tuple[str, ...] = ()         # programs to ask for the state of groups: "zpool", "dmsetup"


class ListOptions(NamedTuple):
    """How list prints."""

    as_json: bool


class ExplainOptions(NamedTuple):
    """The output of explain."""

    rma: bool


class SudoersOptions(NamedTuple):
    """Which sudoers rule is printed."""

    user: str
    literal: bool
    types: tuple[str, ...]              # that a rule admits only on request


class InstallOptions(NamedTuple):
    """The parts to install or remove, the users, and whether changes are made or only shown."""

    packaged: bool                      # only what depends on the host: a package has installed the rest
    users: tuple[str, ...]              # monitoring users; empty: the usual ones that exist
    yes: bool
    remove: bool


class ValidateOptions(NamedTuple):
    """Which files are validated, and with what."""

    files: tuple[str, ...]
    samples: str | None
    models: str | None
    format: bool


class MigrateOptions(NamedTuple):
    """Which files of version 1.6 are migrated, and where to."""

    files: tuple[str, ...]
    output: str | None                  # folder


class AcknowledgeOptions(NamedTuple):
    """Which values are accepted, why and until when."""

    every_alarm: bool
    why: str
    until: str
    shown: bool
    withdraw: tuple[str, ...]
    removed: tuple[str, ...]


class HistoryOptions(NamedTuple):
    """The actions of the command history."""

    as_json: bool
    imports: bool
    forget: tuple[str, ...]


class MetricsOptions(NamedTuple):
    """The output file and the format of the metrics."""

    output: str | None                  # file
    openmetrics: bool
    as_json: bool


class DoctorOptions(NamedTuple):
    """Which user runs the checks, and how doctor prints."""

    user: str
    raid: bool                          # also ask members of redundant arrays what only root may ask
    as_json: bool


class FleetOptions(NamedTuple):
    """The sources of the drives of a fleet, and the output."""

    files: tuple[str, ...]
    icinga: str                         # https://HOST:5665
    api_user: str
    password_file: str
    certificate: str
    key: str
    authority: str
    icinga_name: str                    # host name in Icinga's certificate
    filter: str
    hosts: str | None                   # filter of the hosts that should have the check; '' for all
    plan: str
    ledger: str
    ended: list[tuple[str, str]]        # serial number, and how the drive ended
    limit: int                          # drives in the table; 0 for all
    as_json: bool
    html: str | None
