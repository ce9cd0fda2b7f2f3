"""The record of the command `triage`: its help, options and values."""

from __future__ import annotations

import time
from collections.abc import Callable

from ...command_line import option_groups as groups
from ...command_line import values
from ...command_line.declaring import option, repeated, single
from ...command_line.options import Command
from ...typed import Json, NamedTuple


class TriageOptions(NamedTuple):
    """The output of `triage` in addition to its table, or instead of it."""

    # each with the path of its file; None: print it
    forms: tuple[tuple[Callable[[Json], str], str | None], ...]
    since: int  # seconds to look back; 0: not at all
    asked: tuple[str, ...] = ()  # programs to run, from redundancy.dependence.PROGRAMS


def as_json(document: Json) -> str:
    """Return the document of `triage` as JSON."""
    from ...output import json_document

    return json_document.as_text(document)


def page_in(path: str) -> tuple[Callable[[Json], str], str]:
    """Return what makes the page of `triage`, and the file for it."""
    return _page, path


def _page(document: Json) -> str:
    import socket

    from ...output import page

    return page.page(document, f'Drives of {socket.gethostname()}', time.time())


COMMAND = Command(
    name='triage',
    summary='Show all drives, or the named ones, in one table, worst first.',
    usage='[NAME ...] [options]',
    epilog="""\
example:
  check_smart_attributes triage --scan
  check_smart_attributes triage --since 30d
  check_smart_attributes triage --report tickets/ --json""",
    groups=(*groups.JUDGED, groups.NAMES),
    options=(
        option(
            '--json',
            action='append_const',
            dest='forms',
            default=[],
            const=(as_json, None),
            help='print JSON',
        ),
        repeated(
            '--html',
            'FILE',
            'write one self-contained page: recommended actions, then all drives',
            dest='forms',
            type=page_in,
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
        option(
            '--controllers',
            action='append_const',
            dest='asked',
            const='controllers',
            help='as root, run the tools of RAID controllers (storcli64, perccli64, ssacli, '
            'arcconf, ...) for 10 seconds at most each, to find out the redundancy of their '
            'volumes',
        ),
        single(
            '--since',
            'TIME',
            'also list increases, counter resets, and drives added, removed or moved in this '
            'period, such as 24h or 30d',
            type=values.duration,
            default=0,
        ),
    ),
    values=TriageOptions,
    history='reads',
    has_time_limit=True,
    takes_old_options=True,
)
