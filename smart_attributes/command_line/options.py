"""The values of a command line: one group for each part of the program that uses them, and those of a check."""
from __future__ import annotations

from collections.abc import Mapping

from ..constants import DAY, HOUR
from ..files import CONFIG
from ..model import OUTPUT_LIMIT, HowRead, State
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

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
    own: Any = None                     # values of this command alone, such as CheckOptions; None without


class CheckOptions(NamedTuple):
    """The output of a check."""

    all_perfdata: bool = False
    max_output: int = OUTPUT_LIMIT      # bytes
    format: str = FORMATS[0]
