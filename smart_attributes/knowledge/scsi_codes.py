"""Judge the sense code and the background scan's status of a SCSI drive.

Only unusual codes load this module.
"""

from __future__ import annotations

import re

from .. import files
from ..model import Reading, Report, Source, State
from ..wording import plural
from .drive_logs import SCSI_LOG, SELF_ASSESSMENT

_CODE = re.compile(r'\[asc=0?([0-9a-f]{1,2}), ascq=0?([0-9a-f]{1,2})\]')  # as smartctl prints it
_DATA = files.data('scsi_codes.json')


def verdicts(report: Report, status: Reading) -> list[Reading]:
    """Return readings of the health status (judged by the sense code), the code's metric, and
    the background scan.
    """
    code = _CODE.search(report.smart_status_text)
    row = (
        next(
            (
                row
                for row in _DATA['sense_codes']
                if code and row['asc'] == code[1] and re.fullmatch(row['ascq'], code[2])
            ),
            None,
        )
        if status.number == 0
        else None
    )
    state = State[row['state']] if row else status.state
    words = status.verdict + (f': {row["says"]}' if row and 'says' in row else '')
    # The status becomes only a note if another metric replaces it, or if the code is a test of the
    # alarm.
    is_note = row is not None and (row['metric'] != status.metric or state is State.OK)
    found = [
        status._replace(
            state=State.OK if is_note else state,
            judged=not is_note and status.judged,
            verdict=words,
        )
    ]
    if row and is_note and state is not State.OK:
        reading = Reading(row['metric'], 0, '', Source(SELF_ASSESSMENT), words, state)
        found.append(reading._replace(has_remedy=not row.get('is_cold')))
    return [
        *found,
        *_scan(
            int(report.scsi.get('background_status', 0)),
            int(report.scsi.get('background_unknown', 0)),
        ),
    ]


def _scan(status: int, unknown: int) -> list[Reading]:
    """Return a reading if the background scan has an unusual status or result."""
    state, words = _DATA['background_statuses'].get(
        str(status), ('UNKNOWN', f'unknown status {status:#x}')
    )
    if unknown:
        state, words = (
            'UNKNOWN' if state == 'OK' else state,
            f'{words}; {plural(unknown, "result")} with an unknown status',
        )
    return (
        []
        if state == 'OK'
        else [Reading('background_scan', 0, '', Source(SCSI_LOG), words, State[state])]
    )
