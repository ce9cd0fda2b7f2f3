"""Reject implausible wear, by comparing endurance_used with age and written bytes. Pure.

Both limits are far outside all measured values, because a worn drive must not lose its alert. Both must be exceeded.
21,693 solid state drives of linuxhw/EnterpriseDrive report endurance_used: none has lived less than 4.5 hours for each
percent; 3 of those that used 2 % or more report fewer than 5 full writes for 100 %, the fewest 2.3, after 64,453 hours.
Of 7,418 failed drives of Alibaba's fleet that were worn, none had lived less than 73 hours for each percent.
"""
from __future__ import annotations

from ..constants import HOUR
from ..model import Reading
from ..typed import TYPE_CHECKING
from ..wording import IMPLAUSIBLE, amount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOURS_A_PERCENT = 1    # 100 hours from the first to the last
FULL_WRITES = 1        # of the capacity, for 100 %


def checked(by_metric: Mapping[str, Sequence[Reading]], capacity: int | None) -> list[Reading]:
    """Return the readings of endurance_used; those contradicted by age and written bytes become unknown.

    by_metric: all readings of a drive. capacity: in bytes. If one of these is unknown, no reading is rejected.
    """
    age, written = _largest(by_metric, 'power_on_time'), _largest(by_metric, 'host_written', 'nand_written')
    if age is None or written is None or not capacity:
        return [*by_metric['endurance_used']]
    share = 100 * written / capacity
    most = max(age / HOUR / HOURS_A_PERCENT, share / FULL_WRITES)
    return [reading if reading.number is None or reading.number <= most else
            reading._replace(number=None, judged=False, unknown=(
                f'{IMPLAUSIBLE}: {amount(reading.number, "%")} after {amount(age, "s")} with {amount(written, "B")} '
                f'written, {share:.2g} % of the capacity'))
            for reading in by_metric['endurance_used']]


def _largest(by_metric: Mapping[str, Sequence[Reading]], *metrics: str) -> float | None:
    """Return the largest number of some metrics, which is the one most compatible with the wear; None without any."""
    return max((reading.number for metric in metrics for reading in by_metric.get(metric, ())
                if reading.number is not None), default=None)
