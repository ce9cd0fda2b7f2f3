"""The record of the command `sudoers`: its help, options and values."""

from ... import files
from ...command_line import option_groups as groups
from ...command_line.options import USER, Command, flag, repeated, single
from ...typed import NamedTuple


class SudoersOptions(NamedTuple):
    """Which sudoers rule is printed."""

    user: str
    literal: bool
    types: tuple[str, ...]  # types that a rule admits only on request


COMMAND = Command(
    name='sudoers',
    summary='Print the sudo rule that lets the monitoring user run the smartctl calls of this '
    'plugin as root, and no others.',
    epilog="""\
example:
  check_smart_attributes sudoers > rule && visudo -cf rule && install -m 0440 rule /etc/sudoers.d/check-smart-attributes""",
    groups=(groups.COMMON, groups.READING),
    options=(
        single(
            '--user',
            'NAME',
            'set the monitoring user (default: %(default)s)',
            default=USER,
        ),
        flag(
            '--literal',
            'list each drive of this machine instead of patterns; needed for sudo before 1.9.10 '
            'and for sudo replacements (sudo-rs)',
        ),
        repeated(
            '-d --device',
            'ADDRESS',
            'add a rule for this drive; needed for non-standard device paths; may be repeated',
            dest='devices',
        ),
        repeated(
            '--type',
            'TYPE',
            'also allow a device type that sends vendor commands (areca, or a type for a USB bridge); '
            'may be repeated',
            dest='types',
        ),
        single(
            '--config',
            'DIR',
            'read thresholds.d/*.json in this directory; these files may list logs to skip (default: '
            '%(default)s)',
            default=files.CONFIG,
        ),
    ),
    values=SudoersOptions,
    history='',
    has_time_limit=False,
)
