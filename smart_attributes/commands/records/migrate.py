"""The record of the command `migrate`: its help, options and values."""

from ...command_line import option_groups as groups
from ...command_line.options import Command, positional
from ...typed import NamedTuple


class MigrateOptions(NamedTuple):
    """The files of version 1.6 to migrate."""

    files: tuple[str, ...]


COMMAND = Command(
    name='migrate',
    summary='Convert the limits of version 1.6 to limits of this version (needed only once).',
    usage='OLD.json [OLD.json] [options]',
    epilog="""\
example:
  check_smart_attributes migrate /etc/nagios-plugins/config/check_smartdb.json

The limits are written to thresholds.d in the directory of --config. A message names each limit that could not be converted.
If a user configuration (-ucfgj) names drives, this command reads them, because the limits depend on the drives. Name
drives behind controllers with -d.

exit status: 0 everything was converted, 1 only a part was converted, 3 nothing was converted""",
    groups=groups.READ,
    options=(
        positional(
            'files',
            'OLD.json',
            'convert check_smartdb.json, a user configuration (-ucfgj), or both',
            nargs='+',
        ),
    ),
    values=MigrateOptions,
    history='',
    has_time_limit=False,
    run='contribution.migrate',
)
