"""Store in a small file in the state directory when each disk was asked for its FARM log, and what
it answered.

Checks write the history but never read FARM logs, so the answers have their own file.
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
from ..typed import Any

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
    answers: dict[str, Farm] = {}
    try:
        data = json.loads(
            text,
            parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_STORED_NUMBER else -1,
        )
    except (ValueError, RecursionError):
        return answers
    if isinstance(data, dict):
        for serial, value in data.items():
            with suppress(LookupError, TypeError, ValueError):
                answers[serial] = _farm(value)
    return answers


def _farm(value: Any) -> Farm:
    """Return one answer. Raises LookupError, TypeError or ValueError for wrong values."""
    serial, heads, is_unread = value['serial'], value['heads'], value['unread']
    asked, hours = _count(value['asked']), _count(value['hours'])
    if (type(serial), type(heads), type(is_unread)) != (str, list, bool) or asked >= _LATEST:
        raise ValueError
    if any(len(head) != len(Head._fields) for head in heads):
        raise ValueError
    return Farm(
        serial,
        hours or None,
        tuple(Head(*map(_count, head)) for head in heads),
        asked=asked,
        unread=UNREAD if is_unread else '',
    )


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


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
