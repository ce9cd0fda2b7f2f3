"""The record of the command `triage`: its help, options and values."""

from __future__ import annotations

from ...command_line import option_groups as groups
from ...command_line.options import Command, Option, not_blank, option
from ...typed import NamedTuple


class TriageOptions(NamedTuple):
    """The forms in which `triage` writes its document, instead of its table."""

    # module of output/ and the file to write; None: standard output
    formats: tuple[tuple[str, str | None], ...]
    asked: tuple[str, ...] = ()  # programs to run, from redundancy.dependence.PROGRAMS


def _printed(module: str, spelling: str, text: str) -> Option:
    """Return the option of a format for standard output. module: of output/, with as_text()."""
    return option(
        spelling,
        help=text,
        action='append_const',
        const=(module, None),
        dest='formats',
        default=[],
    )


def _written(module: str, spelling: str, text: str) -> Option:
    """Return the option of a format for a file. module: of output/, with as_text()."""
    return option(
        spelling,
        help=text,
        action='append',
        type=lambda path: (module, not_blank(path)),
        metavar='FILE',
        dest='formats',
        default=[],
    )


FORMATS = (
    _printed('json_document', '--json', 'print JSON'),
    _written(
        'page',
        '--html',
        'write one self-contained page: recommended actions, then all drives',
    ),
)
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
        *FORMATS,
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
