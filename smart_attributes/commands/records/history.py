"""The record of the command `history`: its help, options and values."""

from ...command_line import option_groups as groups
from ...command_line.options import Command, flag, positional, repeated
from ...typed import NamedTuple


class HistoryOptions(NamedTuple):
    """The actions of the `history` command."""

    as_json: bool
    remove: tuple[str, ...]


COMMAND = Command(
    name='history',
    summary='Show the history of drives, or remove a drive from it.',
    usage='[-d ADDRESS | NAME ...] [METRIC ...] [options]',
    epilog="""\
example:
  check_smart_attributes history sda reallocated
  check_smart_attributes history --remove EXAMPLE0001

exit status: 0 done, 3 nothing was done""",
    groups=groups.NAMED,
    options=(
        positional(
            'metrics',
            'NAME|METRIC',
            'show only these metrics; if -d is not given, you can also name a drive here (name, '
            'serial number or bay)',
        ),
        flag('--json', 'print all stored readings as JSON', dest='as_json'),
        repeated('--remove', 'SERIAL', 'remove a retired drive; may be repeated'),
    ),
    values=HistoryOptions,
    history='reads',
    has_time_limit=True,
)
