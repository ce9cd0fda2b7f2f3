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
LEVEL, RISE = 'level', 'rise'
POOL = 'all vendors'
UNKNOWN = 0  # instead of a number of days: it is not known when the value last rose
ALL, NONE = 'nearly all', 'almost none'
NOUNS = {'hdd': 'disks', 'ssd': 'SSDs'}


class Strata(NamedTuple):
    """The strata of a kind of drive."""

    # place in the file, and a row for each group
    rows: Mapping[Key, tuple[int, Mapping[str, Sequence[float]]]]
    # by metric and form: ends of all bands
    bands: Mapping[tuple[str, str], tuple[Sequence[float], Sequence[int]]]

    def key(
        self, metric: str, form: str, number: float, seconds: float | None, is_least: bool = False
    ) -> Key | None:
        """Return the key of the stratum that contains a number or an increase.

        seconds: since the last rise; None: not known. is_least: the last rise may have happened
        earlier.
        """
        levels, days = self.bands.get((metric, form), ((), ()))
        if is_least and seconds is not None and days and seconds < days[0] * DAY:
            seconds = None
        above = max((each for each in levels if number > each), default=None)
        ends = (
            UNKNOWN
            if seconds is None
            else next((each for each in days if seconds < each * DAY), UNKNOWN)
        )
        return None if above is None else (metric, form, above, ends)


class Risks:
    """The shares of all strata."""

    def __init__(self, data: Json) -> None:
        """Store the content of the file."""
        self._kinds = {kind: _strata(data[kind]) for kind in NOUNS}

    def of(self, judgements: Sequence[Judgement], kind: str, groups: Sequence[str]) -> Risk | None:
        """Return the highest risk of these findings, whatever the drive's state; None if the file
        has none of them.

        The risk belongs to the finding on Risk.metric, and is shown beside it only: another
        finding may decide the state. groups: the groups of the drive's family, as in
        thresholds/default.json.
        """
        if kind not in NOUNS:
            return None
        strata = self._kinds[kind]
        # Only findings whose number was compared with limits.
        found = [
            (*strata.rows[key], each)
            for each in judgements
            if each.state is not State.OK
            and each.reading.state is None
            and each.reading.number is not None
            for key in _keys(each, strata)
            if key in strata.rows
        ]
        if not found:
            return None
        _, rows, decides = min(found, key=lambda each: each[0])
        group = next((each for each in groups if each in rows), POOL)
        drives, failures, soon, year, low, high = rows[group]
        whose = f'{group} {NOUNS[kind]}' if NOUNS[kind] not in group else group
        whose = f'{NOUNS[kind]} of all vendors' if group == POOL else whose
        risk = Risk(
            decides.reading.metric, whose, soon, year, low, high, int(drives), int(failures)
        )
        return risk._replace(said=_said(risk))


def _keys(judgement: Judgement, strata: Strata) -> Iterator[Key]:
    """Yield the keys of the strata that contain a finding."""
    reading = judgement.reading
    quiet = None if reading.quiet_is_doubted else reading.quiet
    yield from filter(
        None,
        (
            strata.key(reading.metric, LEVEL, reading.number or 0, quiet, reading.quiet_is_bound),
            strata.key(reading.metric, RISE, judgement.grown, judgement.grown_ago)
            if judgement.grown
            else None,
        ),
    )


def _strata(data: Sequence[Json]) -> Strata:
    rows = {
        (each['metric'], each['form'], each['above'], each['days']): (place, each['rows'])
        for place, each in enumerate(data)
    }
    return Strata(
        rows,
        {
            pair: (
                sorted({each[2] for each in rows if each[:2] == pair}),
                sorted({each[3] for each in rows if each[:2] == pair} - {UNKNOWN}),
            )
            for pair in {each[:2] for each in rows}
        },
    )


def _said(risk: Risk) -> str:
    """Return a sentence: "About 5 in 10 such Seagate disks failed within 90 days, 9 in 10 within
    a year.".
    """
    (first, when), *more = [
        (_part(share), when)
        for share, when in ((risk.share_90, 'within 90 days'), (risk.share_365, 'within a year'))
        if share is not None
    ]
    start = (
        f'About {first}' if first[0].isdigit() else {ALL: 'Nearly all', NONE: 'Almost no'}[first]
    )
    return f'{", ".join([f"{start} such {risk.whose} failed {when}", *(f"{part} {when}" for part, when in more)])}.'


def _part(share: float) -> str:
    """Return a share in words: "4 in 10", or "1 in 30" below one in ten."""
    if share >= 0.095:
        return f'{round(10 * share)} in 10' if share < 0.95 else ALL
    return f'1 in {round(1 / share)}' if share > 0.005 else NONE


@cache
def shipped() -> Risks:
    """Return the shares in the shipped file. Raises DataError if the file cannot be read."""
    return Risks(shipped_data.load(shipped_data.path(FILE)))
