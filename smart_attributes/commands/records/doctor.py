"""The record of the command `doctor`: its help, options and values."""

from ...command_line import option_groups as groups
from ...command_line.options import Command, flag, single
from ...typed import NamedTuple


class DoctorOptions(NamedTuple):
    """Which user runs the checks, and how `doctor` prints."""

    user: str
    as_json: bool


COMMAND = Command(
    name='doctor',
    summary='Diagnose the installation as the monitoring user sees it, with a remedy for each '
    'problem.',
    usage='[--user NAME] [options]',
    epilog="""\
example:
  check_smart_attributes doctor --user nagios
  check_smart_attributes doctor --user icinga -d /dev/nvme0 -d megaraid,0-7@/dev/bus/0

Give it the options of your check. It may create or repair the state directory, as a check does, and changes nothing
else. It stops after the time given with -t.

exit status: 0 no problem, 1 at least one problem, 3 the diagnosis failed""",
    groups=(*groups.NAMED, groups.CHECKED_DRIVES),
    options=(
        single(
            '--user',
            'NAME',
            'diagnose as this monitoring user; requires root (default: the current user)',
        ),
        flag('--json', 'print JSON', dest='as_json'),
    ),
    values=DoctorOptions,
    history='reads',
    has_time_limit=True,
)
