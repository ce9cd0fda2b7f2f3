"""The record of the command `explain`: its help, options and values."""

from ...command_line import option_groups as groups
from ...command_line.options import Command
from ...typed import NamedTuple


class ExplainOptions(NamedTuple):
    """What `explain` asks beside the drives."""

    asked: tuple[str, ...]  # programs to run, from redundancy.dependence.PROGRAMS


COMMAND = Command(
    name='explain',
    summary='Explain one drive: the recommended action, the alerts, and with -v all readings and limits.',
    usage='[NAME ...] [-d ADDRESS | --report FILE] [options]',
    epilog="""\
example:
  check_smart_attributes explain sda
  check_smart_attributes explain -d /dev/sda -v""",
    groups=(*groups.JUDGED, groups.NAMES),
    options=(groups.CONTROLLERS,),
    values=ExplainOptions,
    history='reads',
    has_time_limit=True,
    takes_old_options=True,
)
