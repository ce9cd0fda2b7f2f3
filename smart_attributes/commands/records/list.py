"""The record of the command `list`: its help, options and values."""

from ...command_line import option_groups as groups
from ...command_line.options import Command, flag
from ...typed import NamedTuple


class ListOptions(NamedTuple):
    """The output options of the `list` command."""

    as_json: bool


COMMAND = Command(
    name='list',
    summary='List devices (first column, for -d), models, serial numbers and WWNs.',
    epilog="""\
example:
  check_smart_attributes list --json
  check_smart_attributes list --label by-id""",
    groups=(groups.DRIVES, groups.NAMING, groups.COMMON, groups.READING),
    options=(flag('--json', 'print JSON', dest='as_json'),),
    values=ListOptions,
    history='',
    has_time_limit=True,
)
