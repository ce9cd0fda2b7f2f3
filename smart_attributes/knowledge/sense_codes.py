"""Find what the additional sense code of a SCSI drive is about, in sense_codes.json. Only drives that fail ask."""
from __future__ import annotations

import json
import re
from collections.abc import Sequence

from .. import files
from ..constants import LARGEST_SMALL_FILE
from ..model import Reading, Source, State
from ..typed import Json
from .drive_logs import SELF_ASSESSMENT

_CODE = re.compile(r'\[asc=0?([0-9a-f]{1,2}), ascq=0?([0-9a-f]{1,2})\]')   # as smartctl prints it


def rows() -> Sequence[Json]:
    """Return the rows of the table."""
    found: Sequence[Json] = json.loads(files.content(f'{files.PROGRAM}/sense_codes.json', LARGEST_SMALL_FILE))['rows']
    return found


def row(text: str) -> Json | None:
    """Return the row of the code in a drive's health status; None if it has none."""
    code = _CODE.search(text)
    return next((each for each in rows() if code and each['asc'] == code[1] and code[2] in each['ascq']), None)


def explained(status: Reading, reason: Json) -> list[Reading]:
    """Return the health status as its reason deserves: with its state, or that of the metric which it is about."""
    state = State[reason['state']]
    if reason['metric'] == status.metric:
        word = status.verdict if state is not State.OK else f'passed; {reason["what"]}'
        return [status._replace(state=state, verdict=word)]
    return [status._replace(state=State.OK, judged=False),
            Reading(reason['metric'], 0, '', Source(SELF_ASSESSMENT), status.verdict, state)]
