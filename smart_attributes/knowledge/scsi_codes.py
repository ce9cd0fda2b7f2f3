"""Judge the sense code and the background scan's status of a SCSI drive.

Only unusual codes load this module.
"""

from __future__ import annotations

import re

from .. import files
from ..model import Reading, Report, Source, State
from ..typed import TYPE_CHECKING
from ..wording import plural
from .drive_logs import SCSI_LOG, SELF_ASSESSMENT

if TYPE_CHECKING:
    from collections.abc import Mapping

# as smartctl prints it
_CODE = re.compile(r'\[asc=0?([0-9a-f]{1,2}), ascq=0?([0-9a-f]{1,2})\]')
_DATA = files.data('scsi_codes.json')


def verdicts(report: Report, status: Reading) -> list[Reading]:
    """Return the readings of the health status, see _by_code(), and one of the background scan if
    that is unusual. status: the reading of the health status, without regard to its sense code.
    """
    readings = [status]
    has_failed = status.number == 0
    code = _CODE.search(report.smart_status_text)
    if has_failed and code:
        readings = _by_code(status, code[1], code[2])
    return readings + _scan(report.scsi)


def _by_code(status: Reading, asc: str, ascq: str) -> list[Reading]:
    """Return the readings of a failed health status with a sense code:

    - of an unknown code, the status unchanged;
    - of a code that tests the alarm, the status, not judged;
    - of a code about the health in general, the status, judged as the code says;
    - of any other code, the status, not judged, and a reading of the code's own metric.
    """
    fitting = [
        row
        for row in _DATA['sense_codes']
        if row['asc'] == asc and re.fullmatch(row['ascq'], ascq)
    ]
    if not fitting:
        return [status]
    row = fitting[0]
    state = State[row['state']]
    words = status.verdict
    if 'says' in row:
        words = f'{words}: {row["says"]}'
    # smartctl's text can have 70 characters
    brief = f'failure predicted (asc {asc}, ascq {ascq})'
    by_code = status._replace(state=state, verdict=words, brief=brief)
    note = by_code._replace(state=State.OK, judged=False)
    if state is State.OK:
        return [note]  # the code is a test of the alarm
    if row['metric'] == status.metric:
        return [by_code]
    reading = Reading(
        row['metric'],
        0,
        source=Source(SELF_ASSESSMENT),
        verdict=words,
        state=state,
        has_remedy=not row.get('is_cold'),
    )
    return [note, reading]


def _scan(log: Mapping[str, float]) -> list[Reading]:
    """Return a reading if the background scan has an unusual status or result, else []. log:
    Report.scsi.
    """
    status = int(log.get('background_status', 0))
    unknown = int(log.get('background_unknown', 0))
    state, words = _DATA['background_statuses'].get(
        str(status), ('UNKNOWN', f'unknown status {status:#x}')
    )
    if unknown:
        words = f'{words}; {plural(unknown, "result")} with an unknown status'
        if state == 'OK':
            state = 'UNKNOWN'
    if state == 'OK':
        return []
    return [
        Reading(
            'background_scan',
            0,
            source=Source(SCSI_LOG),
            verdict=words,
            state=State[state],
        )
    ]
