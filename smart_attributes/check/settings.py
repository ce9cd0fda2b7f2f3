"""What each stage of a run needs of the options. Judging has its settings in rulebook.Judge."""

from __future__ import annotations

from ..command_line.options import DataFiles, HistoryUse, Options, Which
from ..model import HowRead
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..command_line.options import Before


class HistorySettings(NamedTuple):
    """Which history is used, and how."""

    use: HistoryUse = HistoryUse()
    state_dir: str = ''
    timeout: float = HowRead().timeout  # seconds, for the whole command
    is_recorded: bool = False  # recorded reports have no history
    hide_serial: bool = False


class ReadSettings(NamedTuple):
    """Which devices are read, and how."""

    which: Which = Which()
    how: HowRead = HowRead()
    data: DataFiles = DataFiles()
    state_dir: str = ''
    before: Before | None = None


class RunSettings(NamedTuple):
    """Which drives count, under which names, and which messages about the run have a state."""

    which: Which = Which()
    label: str = 'device'
    history: HistoryUse = HistoryUse()
    before: Before | None = None
    hide_serial: bool = False


def of_history(options: Options) -> HistorySettings:
    """Return the settings of the history."""
    return HistorySettings(
        options.history,
        options.state_dir,
        options.how_read.timeout,
        bool(options.which.reports),
        options.naming.hide_serial,
    )


def of_reads(options: Options) -> ReadSettings:
    """Return the settings for reading the drives."""
    return ReadSettings(
        options.which, options.how_read, options.data, options.state_dir, options.before
    )


def of_run(options: Options) -> RunSettings:
    """Return the settings of the inventory and of the messages about a run."""
    naming = options.naming
    return RunSettings(
        options.which, naming.label, options.history, options.before, naming.hide_serial
    )
