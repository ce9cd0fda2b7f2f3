"""The records of the commands except check, loaded when one of them runs, and for the help.

A record defines the parser, help, documents, time limit and use of the history of its command; they are in
records.json. A value that begins with @ is one of _VALUES.
"""
from __future__ import annotations

import time
from collections.abc import Mapping

from .. import files
from ..command_line import command_options as own
from ..command_line import option_groups as groups
from ..command_line.options import Command
from ..typed import Any, Json

# --- the forms of triage's document: each is a function of the document, and an option of triage ----

def _json(document: Json) -> str:
    from ..output import json_document
    return json_document.as_text(document)


def _page(document: Json) -> str:
    import socket

    from ..output import page
    return page.page(document, f'Drives of {socket.gethostname()}', time.time())


# A form comes with the path of its file, or None if it is printed.
_VALUES: Mapping[str, Any] = {**groups.VALUES, '@json': (_json, None), '@page': lambda path: (_page, path)}


def _record(given: Json) -> Command:
    return Command(**{**given, 'epilog': '\n'.join(given['epilog']),
                      'groups': tuple(groups.GROUPS[name] for name in given['groups']),
                      'options': groups.options(given['options'], _VALUES),
                      'values': given['values'] and getattr(own, given['values'])})


# In the order of --help and the man page.
OTHERS = tuple(map(_record, files.data('commands/records.json')))
