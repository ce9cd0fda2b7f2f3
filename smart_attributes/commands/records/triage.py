"""The record of the command `triage`: its help, options and values."""

from __future__ import annotations

from ...command_line import option_groups as groups
from ...command_line.options import Command, not_blank, option
from ...typed import NamedTuple


class TriageOptions(NamedTuple):
    """The forms in which `triage` writes its document, instead of its table."""

    # module of output/ and the file to write; None: standard output
    formats: tuple[tuple[str, str | None], ...]
    asked: tuple[str, ...]  # programs to run, from redundancy.dependence.PROGRAMS


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
        option(
            '--json',
            help='print JSON',
            action='append_const',
            const=('json_document', None),
            dest='formats',
            default=[],
        ),
        option(
            '--html',
            help='write one self-contained page: recommended actions, then all drives',
            action='append',
            type=lambda path: ('page', not_blank(path)),
            metavar='FILE',
            dest='formats',
            default=[],
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
            help='run dmsetup status (for 5 seconds at most) to find out the redundancy of LVM RAID; '
            'requires root',
        ),
        groups.CONTROLLERS,
    ),
    values=TriageOptions,
    history='reads',
    has_time_limit=True,
    takes_old_options=True,
)
