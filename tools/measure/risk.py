"""Count how many disks failed within 90 days and within a year of each finding: the data of
thresholds/risk.json.

A *stratum* is a metric with either a band of its number and the time since it last rose, or a band
of its increase within a week and the time since then. A disk counts from the hour at which it
enters a stratum, whatever becomes of its counters. A disk is in several strata; the one of the
highest rate decides what is said about it, so a share is that of the disks about which it is said.

- The rate of a stratum is its failures in the first 90 days for the time at risk. It is only used
to order strata.
- The share that failed within a time is Kaplan and Meier's, over power-on time; its 90 % interval
  is Greenwood's, on the scale of log(-log).
- Vendors differ: equal strata of Seagate fail more than twice as often as HGST's. So hazards are
  modelled as a factor of the stratum times one of the vendor, whose geometric mean is 1: in the
  *pool*, all vendors weigh the same. A vendor with fewer than ENOUGH failures in a stratum takes
  the share of the pool.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from smart_attributes.knowledge.risks import FILE as FILE  # noqa: PLC0414  limits takes the name from here
from smart_attributes.knowledge.risks import LEVEL, NOUNS, POOL, RISE, UNKNOWN
from smart_attributes.typed import Json

from .timelines import DAY, YEAR, Counters, Judge, Stretch, Timeline, report_of

SOON, WHOLE = 90 * DAY, YEAR  # hours
WEEK = 7 * DAY
# Lower ends of the bands, exclusive: of a number, and of its increase within a week.
LEVELS: Mapping[str, Sequence[float]] = {
    'reallocated': (0, 8, 40, 256, 1000),
    'reported_uncorrect': (0, 2, 8, 20, 100),
    'pending': (0, 2, 8, 32, 100),
    'offline_uncorrectable': (0, 2, 8, 32, 100),
}
RISES: Mapping[str, Sequence[float]] = {
    'reallocated': (0, 4, 16, 40, 100, 256),
    'reported_uncorrect': (0, 2, 8, 20),
    'pending': (0, 1, 4, 16),
    'offline_uncorrectable': (0, 1, 4, 16),
}
# Days since the last rise, at which the bands of a number, and of an increase, end. OLDEST: no end.
OLDEST = 100_000
QUIET = (14, 90, 365, OLDEST)
SINCE = (14, 90, 365)
ENOUGH = 10  # failures within a year, from which a vendor's own share counts
MANY = 40  # disks from which the share of the pool counts, however few of them failed
OTHERS = 'others'  # groups without data of their own
COLUMNS = ('drives', 'failures', 'share_90', 'share_365', 'low', 'high')
COMMENT = (
    'How many drives failed within 90 days and within a year of a finding, counted by python -m '
    'tools.measure --risk. The first stratum that contains a drive applies. form "level": the '
    'number is above "above", and last rose fewer than "days" days ago (0: at an unknown time); '
    'form "rise": the number rose by more than "above" within a week, fewer than "days" days ago. '
    'failures, low, high: failures within a year, with the 90 % interval. all vendors: each vendor '
    'has the same weight. hdd: 52,320 disks, Backblaze Drive Stats 2013 to 2016. ssd: estimated '
    'from the shares of failed and of healthy SSDs above a number, in a fleet of which 0.9 % fail '
    'a year (Alibaba, FAST 2021; linuxhw/EnterpriseDrive, CC BY 4.0).'
)


class Stratum(NamedTuple):
    """A finding: a metric, a band of its number or its increase, and a band of the days since
    then.
    """

    metric: str
    form: str  # LEVEL or RISE
    above: float
    ends: int  # days since the last rise, below: one of QUIET or SINCE, or UNKNOWN


# the hour from which on a disk was in these strata
Spell = tuple[float, frozenset[Stratum]]


class Life(NamedTuple):
    """A disk that has entered a stratum."""

    drive: str
    group: str
    has_failed: bool
    end: float  # hour at which it failed, or was last seen
    spells: Sequence[Spell]
    # as found by someone who looks each 90 days and remembers nothing
    looks: Sequence[Spell]


class Entry(NamedTuple):
    """The time for which a disk was watched after it entered a stratum, in hours."""

    hours: float
    has_failed: bool


class Share(NamedTuple):
    """The share of drives that failed within a time, with its 90 % interval."""

    share: float
    low: float
    high: float


class Row(NamedTuple):
    """What became of the disks of a stratum."""

    drives: int
    failures: int  # within a year
    soon: float  # share that failed within 90 days
    year: Share  # within a year


# --- the strata of a disk over its life ---------------------------------------------------------


class _Series:
    """One counter of one disk, with what is known of its increases."""

    def __init__(self, metric: str) -> None:
        self.metric = metric
        self.number: float | None = None
        self.last: float | None = None  # hour of the last rise
        self.first = 0.0  # hour at which the counter was above 0 first
        self.rises: list[tuple[float, float]] = []
        # lower end of a band of increases -> hour of the last one above it
        self.by_size: dict[float, float] = {}

    def read(self, number: float, hour: float) -> None:
        """Take the number of a stretch that begins at *hour*."""
        before, self.number = self.number, number
        if before is None:
            self.first = hour
        if before is None or number <= before:
            return
        self.last = hour
        self.rises = [
            *((time, size) for time, size in self.rises if time > hour - WEEK),
            (hour, number - before),
        ]
        total = sum(size for _, size in self.rises)
        self.by_size.update(
            (above, hour) for above in RISES[self.metric] if total > above
        )

    def edges(self) -> Iterator[float]:
        """Yield the hours at which a band of time ends."""
        if self.number or self.last is not None:
            for hour in {
                self.first if self.last is None else self.last,
                *self.by_size.values(),
            }:
                yield from (hour + days * DAY for days in (*QUIET, *SINCE))

    def above(self) -> float | None:
        """Return the lower end of the band of the number; None for 0."""
        return max(
            (each for each in LEVELS[self.metric] if (self.number or 0) > each),
            default=None,
        )

    def strata(self, hour: float) -> Iterator[Stratum]:
        """Yield the strata that the counter is in at *hour*."""
        above = self.above()
        if above is not None:
            quiet = hour - (self.first if self.last is None else self.last)
            ends = next(days for days in QUIET if quiet < days * DAY)
            # Without a rise, the time since the first report is only known to be too short.
            if self.last is not None or ends != QUIET[0]:
                yield Stratum(self.metric, LEVEL, above, ends)
        most = -1.0
        for ends in SINCE:
            larger = max(
                (
                    size
                    for size, time in self.by_size.items()
                    if hour - time < ends * DAY
                ),
                default=-1.0,
            )
            if larger > most:
                most = larger
                yield Stratum(self.metric, RISE, most, ends)


def lives(
    timelines: Iterable[Timeline], judge: Judge, group_of: Mapping[str, str]
) -> Iterator[Life]:
    """Yield the lives of all disks; those without any finding have no spells. group_of: family
    -> group.
    """

    @lru_cache(maxsize=None)
    def numbers(
        model: str, block_size: int | None, counters: Counters
    ) -> tuple[str, Mapping[str, float]]:
        verdict = judge(report_of(model, block_size, counters))
        return group_of.get(verdict.entry or '', OTHERS), {
            each.reading.metric: each.reading.number
            for each in verdict.judgements
            if each.reading.judged
            and each.reading.number is not None
            and each.reading.metric in LEVELS
        }

    for timeline in timelines:
        spells: list[Spell] = []
        looks: list[Spell] = []
        all_series = {metric: _Series(metric) for metric in LEVELS}
        group, look = OTHERS, timeline.stretches[0].start
        for stretch in timeline.stretches:
            group, found = numbers(
                timeline.model, timeline.physical_block_size, stretch.counters
            )
            for metric, number in found.items():
                all_series[metric].read(number, stretch.start)
            look = _look(stretch, look, [all_series[metric] for metric in found], looks)
            for start, _ in stretch.parts(
                edge for series in all_series.values() for edge in series.edges()
            ):
                strata = frozenset(
                    each
                    for metric in found
                    for each in all_series[metric].strata(start)
                )
                if strata != (spells[-1][1] if spells else frozenset()):
                    spells.append((start, strata))
        yield Life(
            timeline.drive, group, timeline.has_failed, timeline.end, spells, looks
        )


def _look(
    stretch: Stretch, look: float, of: Sequence[_Series], looks: list[Spell]
) -> float:
    """Add the first look at a stretch, if it finds anything; return the hour of the first look
    after the stretch.
    """
    missed = max(0, math.ceil((stretch.start - look) / SOON))
    look += missed * SOON
    if look < stretch.end:
        bands = {series.metric: series.above() for series in of}
        strata = frozenset(
            Stratum(metric, LEVEL, above, UNKNOWN)
            for metric, above in bands.items()
            if above is not None
        )
        if strata:
            looks.append((look, strata))
        look += math.ceil((stretch.end - look) / SOON) * SOON
    return look


# --- counting ---------------------------------------------------------------------------------

Entries = Mapping[tuple[str, Stratum], Sequence[Entry]]


def entries(of: Iterable[Life], rank: Mapping[Stratum, float] | None = None) -> Entries:
    """Return the disks that entered each stratum of each group; with *rank*, only those for
    which it decides.
    """
    found: dict[tuple[str, Stratum], list[Entry]] = defaultdict(list)
    for life in of:
        first: dict[Stratum, float] = {}
        for start, strata in (*life.spells, *life.looks):
            for each in (
                strata
                if rank is None or not strata
                else [max(strata, key=lambda one: rank[one])]
            ):
                first.setdefault(each, start)
        for each, start in first.items():
            found[life.group, each].append(Entry(life.end - start, life.has_failed))
            found[POOL, each].append(found[life.group, each][-1])
    return found


def share(found: Sequence[Entry], within: float) -> Share:
    """Return the share that failed within so many hours, by Kaplan and Meier, with Greenwood's
    90 % interval.
    """
    left, variance, at_risk = 1.0, 0.0, len(found)
    for each in sorted(found, key=lambda each: (each.hours, not each.has_failed)):
        if each.hours > within:
            break
        if each.has_failed:
            if at_risk == 1:
                return Share(1.0, 1.0 - left, 1.0)
            left, variance = (
                left * (1 - 1 / at_risk),
                variance + 1 / (at_risk * (at_risk - 1)),
            )
        at_risk -= 1
    if left == 1.0:
        return Share(0.0, 0.0, 1 - 0.05 ** (1 / len(found)) if found else 1.0)
    spread = 1.645 * math.sqrt(variance) / abs(math.log(left))
    return Share(1 - left, 1 - left ** math.exp(-spread), 1 - left ** math.exp(spread))


# --- what is known of few disks -------------------------------------------------------------------


class Counted(NamedTuple):
    """Failures within a time, and the time at risk in units of it: their quotient is the hazard."""

    failures: float
    lives: float


def counted(found: Sequence[Entry], within: float) -> Counted:
    """Return the failures of a stratum, and the lives that give its share by Kaplan and Meier."""
    failures = sum(each.has_failed and each.hours <= within for each in found)
    left = 1 - share(found, within).share
    if failures and left > 0:
        return Counted(failures, failures / -math.log(left))
    return Counted(failures, sum(min(each.hours, within) for each in found) / within)


def pooled(of: Entries, within: float, rounds: int = 50) -> Mapping[Stratum, float]:
    """Return the hazard of each stratum in the pool, by iterative proportional fitting."""
    table = {
        key: counted(found, within)
        for key, found in of.items()
        if key[0] not in (POOL, OTHERS)
    }
    groups = dict.fromkeys((group for group, _ in table), 1.0)
    strata: dict[Stratum, float] = {}
    for _ in range(rounds):
        strata = _factors(table, 1, groups)
        groups = _factors(table, 0, strata)
        mean = math.exp(
            sum(math.log(max(each, 1e-9)) for each in groups.values()) / len(groups)
        )
        groups = {group: each / mean for group, each in groups.items()}
    return {stratum: each * mean for stratum, each in strata.items()}


def _factors(
    table: Mapping[tuple[str, Stratum], Counted],
    place: int,
    others: Mapping[Any, float],
) -> dict[Any, float]:
    """Return the factors of the strata (place 1) or the groups (place 0), given those of the
    others.
    """
    failures: dict[Any, float] = defaultdict(float)
    expected: dict[Any, float] = defaultdict(float)
    for key, each in table.items():
        failures[key[place]] += each.failures
        expected[key[place]] += each.lives * others[key[1 - place]]
    return {
        name: failures[name] / expected[name] if expected[name] else 0.0
        for name in failures
    }


# --- the table ------------------------------------------------------------------------------------


class Rows(NamedTuple):
    """What became of the disks of a stratum, by group."""

    of: Mapping[str, Row]
    # False: it decides about too few disks, so all its disks count, and it is never CRITICAL
    decides: bool

    def row(self, group: str) -> Row:
        """Return the row for a group: its own, or that of the pool."""
        return self.of.get(group, self.of[POOL])


Table = Mapping[Stratum, Rows]


def table(of: Sequence[Life]) -> Table:
    """Return the strata in the order in which they decide, each with the rows of the pool and of
    groups with ENOUGH failures. A stratum without as many is left out.
    """
    all_entries = entries(of)
    rank = pooled(all_entries, SOON)
    by_deciding = entries(
        of, {**dict.fromkeys((each for _, each in all_entries), 0.0), **rank}
    )
    found: dict[Stratum, Rows] = {}
    sources = [
        (each, pooled(each, SOON), pooled(each, WHOLE))
        for each in (by_deciding, all_entries)
    ]
    for stratum in sorted(rank, key=lambda each: (-rank[each], each)):
        # A stratum that seldom decides may do so on a drive of which less is known: then all its
        # disks count.
        rows = [_rows(stratum, *each) for each in sources]
        if rows[0] or rows[1]:
            found[stratum] = Rows(rows[0] or rows[1], bool(rows[0]))
    return found


def _rows(
    stratum: Stratum,
    of: Entries,
    soon: Mapping[Stratum, float],
    year: Mapping[Stratum, float],
) -> Mapping[str, Row]:
    rows = {
        group: _row(found) for (group, each), found in of.items() if each == stratum
    }
    kept = {
        group: row
        for group, row in rows.items()
        if row.failures >= ENOUGH and group not in (POOL, OTHERS)
    }
    is_known = stratum in soon and (
        rows[POOL].failures >= ENOUGH or rows[POOL].drives >= MANY
    )
    return (
        {**kept, POOL: _of_pool(rows[POOL], soon[stratum], year[stratum])}
        if is_known
        else {}
    )


def _row(found: Sequence[Entry]) -> Row:
    year = share(found, WHOLE)
    failures = sum(each.has_failed and each.hours <= WHOLE for each in found)
    return Row(len(found), failures, share(found, SOON).share, year)


def _of_pool(row: Row, soon: float, year: float) -> Row:
    """Return the row of the pool: its counts, with shares in which all vendors weigh the same."""
    year = max(soon, year)  # both are modelled, one by one
    spread = math.exp(1.645 / math.sqrt(max(row.failures, 1)))
    return row._replace(
        soon=1 - math.exp(-soon),
        year=Share(
            *(1 - math.exp(-each) for each in (year, year / spread, year * spread))
        ),
    )


def document(of: Table, ssds: Sequence[Json] = ()) -> Json:
    """Return the content of thresholds/risk.json."""
    return {
        'comment': COMMENT,
        'columns': list(COLUMNS),
        'hdd': [
            {
                'metric': stratum.metric,
                'form': stratum.form,
                'above': stratum.above,
                'days': stratum.ends,
                'decides': rows.decides,
                'rows': {
                    group: [
                        row.drives,
                        row.failures,
                        *(round(each, 3) for each in (row.soon, *row.year)),
                    ]
                    for group, row in sorted(rows.of.items())
                },
            }
            for stratum, rows in of.items()
        ],
        'ssd': list(ssds),
    }


def of_document(data: Json) -> Table:
    """Return the table of a document, with shares rounded as there."""
    return {
        Stratum(each['metric'], each['form'], each['above'], each['days']): Rows(
            {
                group: Row(drives, failures, soon, Share(*year))
                for group, (drives, failures, soon, *year) in each['rows'].items()
            },
            each['decides'],
        )
        for each in data['hdd']
    }


def as_text(data: Json) -> str:
    """Return the content of thresholds/risk.json as text, a line for each stratum."""
    parts = [f'"{name}": {json.dumps(data[name])}' for name in ('comment', 'columns')]
    for kind in NOUNS:
        strata = ',\n  '.join(map(json.dumps, data[kind]))
        parts.append(f'"{kind}": [\n  {strata}\n]')
    return '{\n' + ',\n'.join(parts) + '\n}\n'


def as_csv(data: Json) -> str:
    """Return the table for the documents: a line for each kind, stratum and group."""
    lines = [','.join(('kind', 'metric', 'form', 'above', 'days', 'group', *COLUMNS))]
    for kind in NOUNS:
        for stratum in data[kind]:
            names = [stratum[name] for name in ('metric', 'form', 'above', 'days')]
            for group, row in stratum['rows'].items():
                lines.append(','.join(map(_cell, (kind, *names, group, *row))))
    return '\n'.join(lines) + '\n'


def _cell(value: object) -> str:
    if value is None:
        return ''
    return f'{value:g}' if isinstance(value, float) else str(value)
