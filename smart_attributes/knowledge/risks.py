"""Find in thresholds/risk.json how many drives failed after a finding.

Only drives that alert load this module.

A *stratum* is a metric with two bands. In the form "level", the bands are for the metric's number
and for the time since its last rise; in the form "rise", for its increase within a week and for the
time since this increase. If a drive is in several strata, the first one in the file is used.
tools/measure/risk.py counts the drives in each stratum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ..constants import DAY
from ..model import Judgement, Risk, State
from ..typed import Json, NamedTuple
from . import shipped_data

# metric, form, lower end of the band, upper end of the time in days
Key = tuple[str, str, float, int]

FILE = 'thresholds/risk.json'
LEVEL = 'level'
RISE = 'rise'
POOL = 'all vendors'
UNKNOWN = 0  # instead of a number of days: it is not known when the value last rose
ALL = 'nearly all'
NONE = 'almost none'
NOUNS = {'hdd': 'disks', 'ssd': 'SSDs'}


class Strata(NamedTuple):
    """The strata of a kind of drive."""

    # place in the file, and a row for each group
    rows: Mapping[Key, tuple[int, Mapping[str, Sequence[float]]]]
    # by metric and form: ends of all bands
    bands: Mapping[tuple[str, str], tuple[Sequence[float], Sequence[int]]]

    def key(
        self,
        metric: str,
        form: str,
        number: float,
        seconds: float | None,
        is_least: bool = False,
    ) -> Key | None:
        """Return the key of the stratum that contains a number or an increase; None if the metric
        has no strata of this form, or the number is below all bands.

        seconds: since the last rise; None: not known. is_least: the last rise may have happened
        earlier, so it is not known if the bound is in the first band.
        """
        levels, days = self.bands.get((metric, form), ((), ()))
        above = max((level for level in levels if number > level), default=None)
        if above is None:
            return None
        ends = [end for end in days if seconds is not None and seconds < end * DAY]
        if not ends or (is_least and ends[0] == days[0]):
            return metric, form, above, UNKNOWN
        return metric, form, above, ends[0]


class Risks:
    """The shares of all strata."""

    def __init__(self, data: Json) -> None:
        """Store the content of the file."""
        self._kinds = {kind: _strata(data[kind]) for kind in NOUNS}

    def of(
        self, judgements: Sequence[Judgement], kind: str, groups: Sequence[str]
    ) -> Risk | None:
        """Return the highest risk of these findings, whatever the drive's state; None if the file
        has none of them.

        The risk belongs to the finding on Risk.metric, and is shown beside it only: another
        finding may decide the state. groups: the groups of the drive's family, as in
        thresholds/default.json.
        """
        if kind not in NOUNS:
            return None
        strata = self._kinds[kind]
        matches = []
        for judgement in judgements:
            for key in _keys(judgement, strata):
                if key in strata.rows:
                    place, rows = strata.rows[key]
                    matches.append((place, judgement.reading.metric, rows))
        if not matches:
            return None
        _, metric, rows = min(matches, key=lambda match: match[0])
        measured = [group for group in groups if group in rows]
        group = measured[0] if measured else POOL
        drives, failures, soon, year, low, high = rows[group]
        risk = Risk(
            metric=metric,
            whose=_whose(group, NOUNS[kind]),
            share_90=soon,
            share_365=year,
            low=low,
            high=high,
            drives=int(drives),
            failures=int(failures),
        )
        return risk._replace(said=_said(risk))


def _whose(group: str, noun: str) -> str:
    """Return the drives of a group in words, such as "Seagate disks"."""
    if group == POOL:
        return f'{noun} of all vendors'
    return group if noun in group else f'{group} {noun}'


def _keys(judgement: Judgement, strata: Strata) -> Iterator[Key]:
    """Yield the keys of the bands of a finding; nothing if no number was compared with limits."""
    reading = judgement.reading
    if (
        judgement.state is State.OK
        or reading.state is not None
        or reading.number is None
    ):
        return
    keys = [
        strata.key(
            reading.metric,
            LEVEL,
            number=reading.number,
            seconds=None if reading.quiet_is_doubted else reading.quiet,
            is_least=reading.quiet_is_bound,
        )
    ]
    if judgement.grown:
        keys.append(
            strata.key(
                reading.metric,
                RISE,
                number=judgement.grown,
                seconds=judgement.grown_ago,
            )
        )
    yield from (key for key in keys if key)


def _strata(data: Sequence[Json]) -> Strata:
    """Return the strata of one kind of drive in the file, which has a list of them."""
    rows = {}
    levels: dict[tuple[str, str], set[float]] = {}
    days: dict[tuple[str, str], set[int]] = {}
    for place, stratum in enumerate(data):
        pair = stratum['metric'], stratum['form']
        key = (*pair, stratum['above'], stratum['days'])
        rows[key] = place, stratum['rows']
        levels.setdefault(pair, set()).add(stratum['above'])
        days.setdefault(pair, set()).add(stratum['days'])
    bands = {
        pair: (sorted(levels[pair]), sorted(days[pair] - {UNKNOWN})) for pair in levels
    }
    return Strata(rows, bands)


def _said(risk: Risk) -> str:
    """Return a sentence: "About 5 in 10 such Seagate disks failed within 90 days, 9 in 10 within
    a year.".
    """
    shares = ((risk.share_90, 'within 90 days'), (risk.share_365, 'within a year'))
    # At least one of the two was measured.
    (first, period), *rest = [
        (_part(share), period) for share, period in shares if share is not None
    ]
    start = {ALL: 'Nearly all', NONE: 'Almost no'}.get(first, f'About {first}')
    parts = [f'{start} such {risk.whose} failed {period}']
    parts += [f'{part} {period}' for part, period in rest]
    return f'{", ".join(parts)}.'


def _part(share: float) -> str:
    """Return a share in words: "4 in 10", "1 in 30" below one in ten; ALL from 95 % on, NONE up to
    0.5 %.
    """
    if share >= 0.095:
        return f'{round(10 * share)} in 10' if share < 0.95 else ALL
    return f'1 in {round(1 / share)}' if share > 0.005 else NONE


@cache
def shipped() -> Risks:
    """Return the shares in the shipped file. Raises DataError if the file cannot be read."""
    return Risks(shipped_data.load(shipped_data.path(FILE)))
