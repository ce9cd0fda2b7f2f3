"""The records of the commands except check, loaded when one of them runs, and for the help.

A record defines the parser, help, documents, time limit and use of the history of its command; they are in
records.json. A value that begins with @ is one of _VALUES.
"""
from __future__ import annotations

import json
import time
from collections.abc import Mapping

from .. import files
from ..command_line import command_options as own
from ..command_line import option_groups as groups
from ..command_line.options import USER, Command, OptionGroup
from ..constants import LARGEST_FILE
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from ..command_line.options import Option
    from ..typed import Json


# --- the forms of triage's document: each is a function of the document, and an option of triage ----

def _json(document: Json) -> str:
    from ..output import json_document
    return json_document.as_text(document)


def _page(document: Json) -> str:
    import socket

    from ..output import page
    return page.page(document, f'Drives of {socket.gethostname()}', time.time())


# --- the records ----

# Functions for the argument of an option, and values that are set elsewhere. A form of triage's document comes with the
# path of its file, or None if it is printed.
_VALUES: Mapping[str, Any] = {
    '@duration': groups.duration, '@ending': own.ending, '@expected': groups.expected, '@seconds': groups.seconds,
    '@config': files.CONFIG, '@user': USER, '@json': (_json, None), '@page': lambda path: (_page, path)}


def _options(given: Mapping[str, Json]) -> tuple[Option, ...]:
    """Return options. given: the arguments of add_argument() by the spellings of an option."""
    return tuple(groups.option(*spellings.split(), **{
        key: _VALUES.get(value, value) if isinstance(value, str) else value for key, value in arguments.items()})
        for spellings, arguments in given.items())


def _group(name: str) -> OptionGroup:
    """Return a group of options, from records.json or shared with check."""
    given = _DATA['groups'].get(name)
    return OptionGroup(given['title'], _options(given['options'])) if given else getattr(groups, name)


def _record(given: Json) -> Command:
    values = given['values'] and getattr(own, given['values'])
    return Command(**{**given, 'epilog': '\n'.join(given['epilog']), 'values': values,
                      'groups': tuple(map(_group, given['groups'])), 'options': _options(given['options'])})


_DATA = json.loads(files.content(f'{files.PROGRAM}/commands/records.json', LARGEST_FILE))
OTHERS = tuple(map(_record, _DATA['commands']))   # in the order of --help and the man page
