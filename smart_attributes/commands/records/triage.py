"""The record of the command `triage`: its help, options and values."""

from __future__ import annotations

from ...command_line import option_groups as groups
from ...command_line.options import Command, flag, option, single
from ...typed import NamedTuple


class TriageOptions(NamedTuple):
    """The output of `triage` in addition to its table, or instead of it."""

    as_json: bool
    html: str | None  # file of the page; None: no page
    asked: tuple[str, ...] = ()  # programs to run, from redundancy.dependence.PROGRAMS


COMMAND = Command(
    name='triage',
    summary='Show all drives, or the named ones, in one table, worst first.',
    usage='[NAME ...] [options]',
    epilog="""\
example:
  check_smart_attributes triage --scan
  check_smart_attributes triage --report tickets/ --json""",
    groups=(*groups.JUDGED, groups.NAMES),
    options=(
        flag('--json', 'print JSON', dest='as_json'),
        single(
            '--html',
            'FILE',
            'write one self-contained page: recommended actions, then all drives',
            default=None,
        ),
        option(
            '--zpool',
            action='append_const',
            dest='asked',
            const='zpool',
            default=[],
            help='run zpool status (for 5 seconds at most) to find out the redundancy of ZFS pools',
        ),
        option(
            '--dmsetup',
            action='append_const',
            dest='asked',
            const='dmsetup',
            help='as root, run dmsetup status (for 5 seconds at most) to find out the redundancy '
            'of LVM RAID',
        ),
        groups.CONTROLLERS,
    ),
    values=TriageOptions,
    history='reads',
    has_time_limit=True,
    takes_old_options=True,
)
