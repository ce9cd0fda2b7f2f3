"""The records of all commands except `check`; they are loaded if one of these commands runs, and
for the help.

A record in records.json defines the parser, help, documents, time limit and history use of a
command. A value that begins with @ is a key of _VALUES.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from .. import files
from ..command_line import command_options as own
from ..command_line import option_groups as groups
from ..command_line.options import Command
from ..typed import Any, Json

# --- the forms of triage's document: each has a function that creates it, and an option -----------


def _json(document: Json) -> str:
    from ..output import json_document

    return json_document.as_text(document)


def _page(document: Json) -> str:
    import socket

    from ..output import page

    return page.page(document, f'Drives of {socket.gethostname()}', time.time())


# Each form with the path of its file, or None to print it.
_VALUES: Mapping[str, Any] = {
    **groups.VALUES,
    '@json': (_json, None),
    '@page': lambda path: (_page, path),
}


def _record(given: Json) -> Command:
    return Command(
        **{
            **given,
            'epilog': '\n'.join(given['epilog']),
            'groups': tuple(groups.GROUPS[name] for name in given['groups']),
            'options': groups.options(given['options'], _VALUES),
            'values': given['values'] and getattr(own, given['values']),
        }
    )


# In the order of --help and the man page.
OTHERS = tuple(map(_record, files.data('commands/records.json')))
