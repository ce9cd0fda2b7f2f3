"""Store in a small file in the state directory when each disk was asked for its FARM log, and what
it answered.

Checks write the database but never read FARM logs, so the answers have their own file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress

from .. import files
from ..constants import LARGEST_SMALL_FILE, LONGEST_STORED_NUMBER, MOST_DRIVES
from ..model import Farm, Head
from ..state_directory import StateDirectory
from ..typed import Any, Json

FILE = 'farm.json'
_LATEST = 10**10  # seconds since 1970
# the reason is not stored, because it could be text that others wrote
UNREAD = 'smartctl printed no FARM log'


def load(state: StateDirectory) -> dict[str, Farm]:
    """Return the latest answer of each disk, by serial number; {} if the file is missing or
    damaged.
    """
    path = os.path.join(state.path, FILE)
    with state:
        text = '' if os.path.islink(path) else files.text(path, LARGEST_SMALL_FILE)
    return parse(text)


def parse(text: str) -> dict[str, Farm]:
    """Return the answers in the text of the file, without answers that this program would not
    write.
    """
    with suppress(ValueError, RecursionError):
        data = json.loads(
            text,
            parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_STORED_NUMBER else -1,
        )
        answers = data.items() if isinstance(data, dict) else ()
        return {
            serial: farm
            for serial, value in answers
            if isinstance(value, dict)
            for farm in [_farm(value)]
            if farm
        }
    return {}


def _farm(value: Json) -> Farm | None:
    """Return one answer, or None if a value in this answer is missing or has the wrong type."""
    values: list[Any] = list(map(value.get, ('asked', 'serial', 'hours', 'heads', 'unread')))
    asked, serial, hours, heads, unread = values
    if not (
        _is_count(asked)
        and asked < _LATEST
        and isinstance(serial, str)
        and _is_count(hours)
        and isinstance(unread, bool)
        and isinstance(heads, list)
        and all(
            isinstance(each, list) and len(each) == len(Head._fields) and all(map(_is_count, each))
            for each in heads
        )
    ):
        return None
    return Farm(
        serial,
        hours or None,
        tuple(Head(*head) for head in heads),
        asked=asked,
        unread=UNREAD * unread,
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def keep(state: StateDirectory, answers: Mapping[str, Farm]) -> bool:
    """Write the latest answer of each disk; return whether this succeeded."""
    try:
        with state:
            files.replace(document(answers), os.path.join(state.path, FILE))
    except OSError:
        return False
    return True


def document(answers: Mapping[str, Farm]) -> str:
    """Return the text of the file."""
    newest = sorted(answers.items(), key=lambda item: item[1].asked)[-MOST_DRIVES:]
    return json.dumps(
        {
            serial: {
                'asked': farm.asked,
                'serial': farm.serial,
                'hours': farm.hours or 0,
                'heads': farm.heads,
                'unread': bool(farm.unread),
            }
            for serial, farm in newest
        }
    )
