"""The record of the command `draft`: its help, options and values."""

from ...command_line import option_groups as groups
from ...command_line.options import Command

COMMAND = Command(
    name='draft',
    summary='Draft a new database entry (attributes.json) from a drive or a report.',
    usage='(-d ADDRESS | --report FILE) [options]',
    epilog="""\
example:
  check_smart_attributes draft -d /dev/sda > my-entry.json""",
    groups=groups.READ,
    history='',
    has_time_limit=True,
    run='contribution.draft',
)
