"""What a command line asks for: one group of options for each of those who take them."""
from __future__ import annotations

from ..durations import DAY
from ..files import CONFIG
from ..model import OUTPUT_LIMIT, HowRead, State
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, Mapping, Optional, Tuple

    from ..v1_6.command_line import Before as Before  # noqa: PLC0414  site and survey take the name from here


PROGRAM = 'check_smart_attributes'
# Commands beside the check, in the order of --help and the man page, each with its line in --help.
COMMANDS: Mapping[str, str] = {
    'triage': 'show all drives in one table, worst first',
    'list': 'list addresses, models and serial numbers, ready to paste after -d',
    'explain': 'explain one drive: its readings, database entry and limits',
    'sudoers': 'print the sudo rule that lets this plugin, and nothing else, run smartctl as root',
    'draft': 'draft a new entry for attributes.json from a drive or a report',
    'validate': 'find the mistakes in attributes.json and in your own files',
    'measure': 'compare attributes.json with real drives',
    'migrate': 'turn files of version 1.6 into limits and entries of this version',
    'acknowledge': 'accept a value of one drive: no alert until it gets worse',
    'history': 'show stored readings, import the logs of smartd, or forget a drive',
    'metrics': 'write the readings of drives for Prometheus',
    'doctor': 'check this installation; print the remedy for each problem',
    'fleet': 'show the drives of many hosts, from Icinga 2 or from folders'}
OK, PARTLY, UNKNOWN = 0, 1, 3   # exit statuses of the commands for a person
USER = 'nagios'       # as whom Debian's daemons run checks
LABELS = ('device', 'by-id', 'serial', 'wwn')
STATE_WORDS = tuple(state.name.lower() for state in State)
JUDGING = ('check', 'triage', 'explain')  # commands that may be called as version 1.6 was


class Which(NamedTuple):
    """Which drives."""

    devices: Tuple[str, ...] = ()
    scan: bool = False
    reports: Tuple[str, ...] = ()
    match: Tuple[str, ...] = ()
    ignore: Tuple[str, ...] = ()


class Judging(NamedTuple):
    """How they are judged."""

    warning: Tuple[Tuple[str, str], ...] = ()
    critical: Tuple[Tuple[str, str], ...] = ()
    ignore_metrics: Tuple[str, ...] = ()
    ignore_attributes: Tuple[int, ...] = ()
    unknown_model: State = State.OK
    asleep: State = State.OK
    selftest_max_age: int = 0           # seconds of power-on time; 0: any


class DataFiles(NamedTuple):
    """Where what drives mean and when they are bad is read from."""

    config: str = CONFIG
    attributes: Tuple[str, ...] = ()
    thresholds: Tuple[str, ...] = ()


class Naming(NamedTuple):
    """How they are named."""

    label: str = 'device'
    hide_serial: bool = False


class FleetOptions(NamedTuple):
    """Whom a fleet is asked of, and what is made of it beside the table."""

    icinga: str = ''                    # https://HOST:5665
    api_user: str = ''
    password_file: str = ''
    certificate: str = ''
    key: str = ''
    authority: str = ''
    icinga_name: str = ''               # in its certificate
    filter: str = ''
    hosts: Optional[str] = None         # filter of those that should have the check; '' for all
    plan: str = ''
    limit: int = 40                     # drives in the table; 0 for all


class Options(NamedTuple):
    """What the command line asks for."""

    command: str = 'check'
    expect: Optional[int] = None
    no_drives: Optional[State] = None
    which: Which = Which()
    judging: Judging = Judging()
    data: DataFiles = DataFiles()
    naming: Naming = Naming()
    how_read: HowRead = HowRead()
    fleet: FleetOptions = FleetOptions()
    state_dir: str = ''
    no_history: bool = False
    history_required: Optional[State] = None
    acknowledged: Tuple[str, ...] = ()
    expect_known: bool = False
    asleep_max_age: int = 7 * DAY    # seconds
    all_perfdata: bool = False
    max_output: int = OUTPUT_LIMIT      # bytes
    as_json: bool = False
    since: int = 0                      # seconds to look back; 0: not asked for
    html: Optional[str] = None
    verbose: int = 0
    files: Tuple[str, ...] = ()
    samples: Optional[str] = None
    models: Optional[str] = None
    format: bool = False
    write: bool = False
    literal: bool = False
    user: str = USER
    types: Tuple[str, ...] = ()         # that a sudoers rule admits only when asked to
    show_version: bool = False
    metrics: Tuple[str, ...] = ()         # that are accepted as they stand
    why: str = ''
    until: str = ''
    every_alarm: bool = False
    shown: bool = False
    withdraw: Tuple[str, ...] = ()
    imports: bool = False
    forget: Tuple[str, ...] = ()
    before: Optional[Before] = None   # what only version 1.6 was asked for
    output: Optional[str] = None        # folder for the files of a migration, or file for metrics
    openmetrics: bool = False


# Functions take the group that they need.
GROUPS: Mapping[str, Any] = {'which': Which, 'how_read': HowRead, 'judging': Judging, 'data': DataFiles,
                             'naming': Naming, 'fleet': FleetOptions}
