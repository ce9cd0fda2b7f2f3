"""Find in thresholds/risk.json how many drives failed after a finding.

Only drives that alert load this module.

A *stratum* is a metric with two bands. In the form "level", the bands are for the metric's number
and for the time since its last rise; in the form "rise", for its increase within a week and for the
time since this increase. If a drive is in several strata, the first one in the file is used.
tools/measure/risk.py counts the drives in each stratum.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from ..constants import DAY
from ..model import Judgement, Risk, State
from ..typed import Json
from . import shipped_data

FILE = 'thresholds/risk.json'
LEVEL = 'level'
RISE = 'rise'
POOL = 'all vendors'
# "days" of a stratum if it is not known when the value last rose, or if this is longer ago
UNKNOWN = 0
ALL = 'nearly all'
NONE = 'almost none'
NOUNS = {'hdd': 'disks', 'ssd': 'SSDs'}


def of(
    data: Json, judgements: Sequence[Judgement], kind: str, groups: Sequence[str]
) -> Risk | None:
    """Return the highest risk of these findings, whatever the drive's state; None if the file
    has none of them. The file lists the highest risk first.

    The risk belongs to the finding on Risk.metric, and is shown beside it only: another finding
    may decide the state. data: the content of the file. groups: the groups of the drive's
    family, as in thresholds/default.json.
    """
    if kind not in NOUNS:
        return None
    strata = data[kind]
    matching = [
        stratum for judgement in judgements for stratum in _strata_of(judgement, strata)
    ]
    if not matching:
        return None
    stratum = min(matching, key=strata.index)  # the first one in the file
    rows = stratum['rows']
    group = next(group for group in (*groups, POOL) if group in rows)
    drives, failures, soon, year, low, high = rows[group]
    whose = _whose(group, NOUNS[kind])
    return Risk(
        metric=stratum['metric'],
        whose=whose,
        share_90=soon,
        share_365=year,
        low=low,
        high=high,
        drives=drives,
        failures=failures,
        said=_said(whose, soon, year),
    )


def _whose(group: str, noun: str) -> str:
    """Return the drives of a group in words, such as "Seagate disks"."""
    if group == POOL:
        return f'{noun} of all vendors'
    return group if noun in group else f'{group} {noun}'


def _strata_of(judgement: Judgement, strata: Sequence[Json]) -> list[Json]:
    """Return the strata of a finding, at most one for its number (the form LEVEL) and one for its
    increase (RISE); [] if it is not about a number that was compared with limits.

    A stratum is a class of drives whose failures were counted, such as {"metric": "pending",
    "form": "level", "above": 8, "days": 14, ...}: more than 8, the last rise less than 14 days ago.
    """
    reading = judgement.reading
    is_text_status = reading.state is not None
    if judgement.state is State.OK or is_text_status or reading.number is None:
        return []
    same = [stratum for stratum in strata if stratum['metric'] == reading.metric]
    of_number = _stratum(
        same,
        LEVEL,
        reading.number,
        # the time since the last rise; unknown if another user could have written it
        seconds=None if reading.quiet_is_doubted else reading.quiet,
        is_least=reading.quiet_is_bound,
    )
    of_increase = _stratum(
        same,
        RISE,
        judgement.grown,  # 0 without an increase, which is in no stratum
        seconds=judgement.grown_ago,
    )
    return [stratum for stratum in (of_number, of_increase) if stratum]


def _stratum(
    same: Sequence[Json],
    form: str,
    number: float,
    seconds: float | None,
    is_least: bool = False,
) -> Json | None:
    """Return the stratum of a number (or an increase) and the time since its last rise; None for a
    number that is not above any lower end, and for a stratum that was not measured.

    The strata are the cells of a table. The number chooses the row, the time chooses the column,
    and the cell where these meet can be empty, such as the last one here:

              14 days   90 days   UNKNOWN
    above 0   A         B         D
    above 8   C         -         -

    5, 20 days ago -> B
    5, 400 days ago -> D
    9, 3 days ago -> C
    9, 20 days ago -> None

    same: the strata of the metric. seconds, is_least: the time, see _period().
    """
    table = {
        (stratum['above'], stratum['days']): stratum
        for stratum in same
        if stratum['form'] == form
    }
    rows = [above for above, _ in table if above < number]
    if not rows:
        return None
    periods = {days for _, days in table if days != UNKNOWN}
    column = _period(periods, seconds, is_least)
    return table.get((max(rows), column))


def _period(periods: Collection[int], seconds: float | None, is_least: bool) -> int:
    """Return the shortest period, in days, that is longer than the time since the last rise;
    UNKNOWN if none is longer, or if the time is not known.

    seconds: this time; None: not known. is_least: the time is a lower bound, for example because
    the rise was before the first reading. It is used like an exact time, as in
    tools/measure/risk.py. But a bound within the shortest period gives UNKNOWN, because it shows
    only that the drive has few readings.

    Of the periods 14, 90 and 365: 3 days -> 14; at least 3 days -> UNKNOWN; 20 days, or at least 20
    days -> 90; 400 days -> UNKNOWN
    """
    if seconds is None:
        return UNKNOWN
    for days in sorted(periods):
        if seconds < days * DAY:
            is_shortest = days == min(periods)
            return UNKNOWN if is_least and is_shortest else days
    return UNKNOWN


def _said(whose: str, soon: float | None, year: float | None) -> str:
    """Return a sentence: "About 5 in 10 such Seagate disks failed within 90 days, 9 in 10 within
    a year.". soon, year: the shares; at least one of the two was measured. whose: see Risk.
    """
    parts: list[str] = []
    for share, period in ((soon, 'within 90 days'), (year, 'within a year')):
        if share is None:
            continue
        part = _part(share)
        if not parts:  # the first part names the drives
            start = {ALL: 'Nearly all', NONE: 'Almost no'}.get(part, f'About {part}')
            part = f'{start} such {whose} failed'
        parts.append(f'{part} {period}')
    return f'{", ".join(parts)}.'


def _part(share: float) -> str:
    """Return a share in words: "4 in 10", "1 in 30" below one in ten; ALL from 95 % on, NONE up to
    0.5 %.
    """
    if share >= 0.95:
        return ALL
    if share >= 0.095:
        return f'{round(10 * share)} in 10'
    if share > 0.005:
        return f'1 in {round(1 / share)}'
    return NONE


@cache
def shipped() -> Json:
    """Return the content of the shipped file. Raises DataError if the file cannot be read."""
    data: Json = shipped_data.content(FILE)
    return data
