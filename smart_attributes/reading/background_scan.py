"""Count the results of a SCSI disk's background scan; only disks with results need this.

Pure. Source: SBC-4, 6.4.2.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..constants import MOST_RESULTS
from ..typed import Json, NamedTuple
from .content import integer_at, integer_of, object_of

# reassign statuses: not reassigned yet, or reassignment failed
_WAITING = {1, 4, 8}
_DONE = {2, 5, 6, 7}  # reassigned or rewritten


class Result(NamedTuple):
    """One block that the disk could not read at the first attempt."""

    block: int | str  # its address, or the name of the result if it has no address
    minutes: int  # power-on time when the block was found
    status: int | None  # reassign status; None: not printed


def of_json(scan: Json, age: float) -> dict[str, float]:
    """Return the counts of blocks from the section *scan* of smartctl's JSON. age: see counts()."""
    keys = [key for key in scan if key.startswith('result_')]
    results = []
    for key in keys[:MOST_RESULTS]:
        row = object_of(scan, key)
        block = integer_of(row, 'lba')
        minutes = integer_at(row, 'accumulated_power_on.minutes') or 0
        status = integer_at(row, 'reassign_status.value')
        results.append(Result(key if block is None else block, minutes, status))
    return counts(results, age)


def counts(results: Iterable[Result], age: float) -> dict[str, float]:
    """Return, for Report.scsi, the number of blocks that are pending, were recovered, or have an
    unknown status.

    For each block, the newest result up to *age* (power-on minutes) counts, or else the newest.
    Of two results of one minute, one that is pending counts.
    """

    def rank(result: Result) -> tuple[bool, int, bool]:
        is_possible = result.minutes <= age
        is_waiting = result.status in _WAITING
        return is_possible, result.minutes, is_waiting

    # of the results of one block, the last one stays, which has the highest rank
    newest = {result.block: result.status for result in sorted(results, key=rank)}
    waiting = sum(status in _WAITING for status in newest.values())
    done = sum(status in _DONE for status in newest.values())
    return {
        'background_pending': waiting,
        'background_recovered': done,
        'background_unknown': len(newest) - waiting - done,
    }
