"""Derive the limits of hard disks from the shares of thresholds/risk.json.

CRITICAL is a number or an increase from the first band on of which at least CRITICAL_SHARE failed
within 90 days, WARNING from the first one of which at least WARNING_SHARE failed within a year.
FLOORS are exceptions for the budget of alerts. thresholds/default.json has what `limits` returns,
and EVIDENCE from elsewhere; a test compares them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial

from smart_attributes.check import judging, rulebook
from smart_attributes.command_line.options import Options
from smart_attributes.history.past import Past
from smart_attributes.knowledge import formatting, shipped_data
from smart_attributes.knowledge.risks import LEVEL, POOL, RISE, UNKNOWN
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import Device, Report, State, Verdict
from smart_attributes.typed import Json

from . import risk, ssd_failures, timelines
from .risk import LEVELS, OTHERS, QUIET, RISES, SINCE, Stratum, Table

CRITICAL_SHARE, WARNING_SHARE = 0.33, 0.15
# Below these, reallocated sectors never warn: all increases and numbers from 1 on would cost 4.2
# more alerts per 1,000 drive-years and announce 1.1 % more of the failures. Most of the disks that
# fail after them alert later, but in time.
FLOORS = {('reallocated', LEVEL): 40.0, ('reallocated', RISE): 4.0}
_SEEN_AGAIN: Sequence[Json] = (
    {
        'after': '90d',
        'tested': True,
        'warning': '20',
        'why': 'The newest error is old, an extended self-test has passed since, and no sector is '
        'pending, so up to 20 '
        'errors cause only a note.',
    },
    {
        'after': '365d',
        'warning': '20',
        'why': 'There are 149 reports, made months or years later, of HGST, Hitachi and Toshiba '
        'disks whose newest error '
        'was more than a year old and that had no other finding. No disk had become critical or '
        'had lost more '
        'data, so up to 20 errors cause only a note. Of the HGST disks with more errors, half '
        'were missing from '
        'later reports (8 of 17).',
    },
)
_SEEN_AGAIN_WD: Sequence[Json] = (
    {
        'after': '90d',
        'warning': '20',
        'why': 'Western Digital disks whose newest error was more than 90 days old were missing '
        'from later reports as '
        'often as disks without errors (8 of 36; 10 expected), so up to 20 errors cause only a '
        'note.',
    },
)
METRICS: Mapping[str, str] = {
    'reallocated': 'Single replaced sectors do no harm; many at once show that a surface or a '
    'head is failing.',
    'pending': 'A pending sector cannot be read; writing to it can clear it.',
    'offline_uncorrectable': 'The disk could not read these sectors when it tested itself.',
    'reported_uncorrect': 'Each error is data that the drive could not return.',
}
GROUPS = ('Seagate', 'HGST and Hitachi', 'Western Digital')
# Stages of `aged` that rest on drives seen again, not on timelines; by metric and group.
EVIDENCE: Mapping[tuple[str, str], Sequence[Json]] = {
    **dict.fromkeys(
        [('reported_uncorrect', OTHERS), ('reported_uncorrect', 'HGST and Hitachi')],
        _SEEN_AGAIN,
    ),
    ('reported_uncorrect', 'Western Digital'): _SEEN_AGAIN_WD,
}


def of_metric(of: Table, metric: str) -> Json:
    """Return the limits of a metric of hard disks: those of all, and what differs for the
    groups.
    """
    base, *others = (_with_evidence(of, metric, group) for group in (OTHERS, *GROUPS))
    return {
        **base,
        'groups': {
            group: {
                **{field: own[field] for field in own if own[field] != base[field]},
                'why': own['why'],
            }
            for group, own in zip(GROUPS, others)
        },
    }


def _with_evidence(of: Table, metric: str, group: str) -> Json:
    found = limits(of, group, metric)
    return {
        **found,
        'aged': [*found['aged'], *EVIDENCE.get((metric, group), ())],
        'why': f'{METRICS[metric]} {found["why"]}',
    }


def thresholds(
    of: Table, group: str, metric: str, form: str, level: State
) -> Mapping[int, float | None]:
    """Return, by band of days, the number above which the shares of a metric make a state; None for
    never.

    No threshold is lower than that of a more recent rise. Numbers beyond those with enough disks
    keep the WARNING of the band of days before; nothing stays CRITICAL without a count. A rise that
    is not dated counts as recent where that is the lower threshold.
    """
    found: dict[int, float | None] = {}
    before: float | None = 0.0
    for ends in QUIET if form == LEVEL else SINCE:
        above, most = _threshold(of, group, metric, form, ends, level)
        if above is None and found and before is not None and level is State.WARNING:
            beyond = next((each for each in _bands(form, metric) if each > most), None)
            above = None if beyond is None else max(before, beyond)
        found[ends] = before = (
            None if above is None or before is None else max(above, before)
        )
    if form == LEVEL:
        found[UNKNOWN] = _threshold(of, group, metric, form, UNKNOWN, level)[0]
        known = [each for each in (found[UNKNOWN], found[QUIET[0]]) if each is not None]
        found[QUIET[0]] = min(known, default=None)
    return found


def _bands(form: str, metric: str) -> Sequence[float]:
    return (LEVELS if form == LEVEL else RISES)[metric]


def _threshold(
    of: Table, group: str, metric: str, form: str, ends: int, level: State
) -> tuple[float | None, float]:
    """Return the threshold of a band of days by its own disks, and the lower end of the last band
    with enough of them.

    The share of the first band suffices, and so does the mean of all from there on, weighted by
    their disks.
    """
    parts = []
    for above in _bands(form, metric):
        rows = of.get(Stratum(metric, form, above, ends))
        if rows and (level is State.WARNING or rows.decides):
            row = rows.row(group)
            share = row.soon if level is State.CRITICAL else row.year.share
            parts.append((above, share, row.drives))
    least = CRITICAL_SHARE if level is State.CRITICAL else WARNING_SHARE
    most = parts[-1][0] if parts else -1.0
    for place, (above, part, _) in enumerate(parts):
        mean = sum(each * drives for _, each, drives in parts[place:]) / sum(
            drives for *_, drives in parts[place:]
        )
        if min(part, mean) >= least:
            return max(
                above,
                FLOORS.get((metric, form), 0.0) if level is State.WARNING else 0.0,
            ), most
    return None, most


def limits(of: Table, group: str, metric: str) -> Json:
    """Return the limits of a metric for a group, in the format of thresholds/, each with the
    shares behind it.
    """

    def told(form: str, ends: int, *limits: float | None) -> str:
        above = [
            max(each for each in _bands(form, metric) if each <= limit)
            for limit in limits
            if limit is not None
        ]
        words = [
            _why(of, group, Stratum(metric, form, each, ends))
            for each in dict.fromkeys(above)
        ]
        return ' '.join(filter(None, words)) or NOT_COUNTED

    levels = {
        name: thresholds(of, group, metric, LEVEL, state)
        for name, state in STATES.items()
    }
    rises = {
        name: thresholds(of, group, metric, RISE, state)
        for name, state in STATES.items()
    }
    base = {name: _text(levels[name][UNKNOWN]) for name in STATES}
    aged: list[Json] = []
    for start, ends in zip((0, *QUIET), QUIET):
        stage = {name: _text(levels[name][ends]) for name in STATES}
        if stage != {name: (aged[-1] if aged else base)[name] for name in STATES}:
            aged.append(
                {
                    **({'before': f'{ends}d'} if not start else {'after': f'{start}d'}),
                    **stage,
                    'why': told(LEVEL, ends, *(each[ends] for each in levels.values())),
                }
            )
    growth = [
        {
            'within': '7d',
            name: _text(above),
            'for': f'{ends}d',
            'why': told(RISE, ends, above),
        }
        for name in STATES
        for ends, above in rises[name].items()
        if above is not None
        and above not in [later for days, later in rises[name].items() if days > ends]
    ]
    return {
        **base,
        'growth': growth,
        'aged': aged,
        'why': told(LEVEL, UNKNOWN, *(each[UNKNOWN] for each in levels.values())),
    }


NOT_COUNTED = 'Too few disks were observed for this long, so the limit for more recent increases applies.'
STATES: Mapping[str, State] = {'warning': State.WARNING, 'critical': State.CRITICAL}


def _text(above: float | None) -> str | None:
    return None if above is None else f'{above:g}'


def _why(of: Table, group: str, stratum: Stratum) -> str:
    """Return the shares of a stratum as a sentence."""
    if stratum not in of:
        return ''
    row = of[stratum].row(group)
    what = (
        f'an increase of more than {stratum.above:g} in a week'
        if stratum.form == RISE
        else (f'a value above {stratum.above:g}')
    )
    disks = f'{group} disks' if group in of[stratum].of else f'disks of {POOL}'
    return (
        f'{100 * row.soon:.0f} % of {row.drives} {disks} with {what} failed within 90 days, and '
        f'{100 * row.year.share:.0f} % within a year.'
    )


# --- the files ------------------------------------------------------------------------------------

TIMELINES, DRIVES, SSDS = 'timelines.csv.gz', 'drives.jsonl.gz', 'ssd_failures.csv.gz'
DEFAULT, CSV = 'thresholds/default.json', 'doc/explanation/data/risk.csv'


def main(folder: str) -> None:
    """Write thresholds/risk.json and the limits of hard disks in default.json from the data of a
    folder. Raises DataError.
    """
    default = shipped_data.load(shipped_data.path(DEFAULT))
    judge = _judge(default)
    path = os.path.join(folder, TIMELINES)
    lives = list(
        risk.lives(
            timelines.read(path), partial(_without_past, judge), _groups(default)
        )
    )
    # limits follow from what is written
    found = risk.of_document(risk.document(risk.table(lives)))
    ssds = ssd_failures.risks(
        ssd_failures.measured(
            os.path.join(folder, DRIVES), os.path.join(folder, SSDS), judge
        )
    )
    table = risk.document(found, ssds)
    for name, text in (
        (risk.FILE, risk.as_text(table)),
        (CSV, risk.as_csv(table)),
        (DEFAULT, formatting.formatted(with_limits(default, found))),
    ):
        with open(shipped_data.path(name), 'w', encoding='utf-8') as file:
            file.write(text)


def _judge(default: Json) -> timelines.Mindful:
    """Return a judge with the shipped entries and these limits."""
    shipped = rulebook.judge_of(Options(), rulebook.Site())
    limits_of = Thresholds(default)

    def judged(report: Report, past: Past | None) -> Verdict:
        return judging.judge(
            Device('', name='drive'),
            report,
            shipped.database,
            limits_of,
            judging.Rules(),
            past,
        )

    return judged


def _without_past(judge: timelines.Mindful, report: Report) -> Verdict:
    return judge(report, None)


def _groups(default: Json) -> Mapping[str, str]:
    return {family: group for group in GROUPS for family in default['groups'][group]}


def with_limits(default: Json, of: Table) -> Json:
    """Return the content of default.json with the limits of a table."""
    metrics = {
        name: {**metric, 'hdd': of_metric(of, name)} if name in METRICS else metric
        for name, metric in default['metrics'].items()
    }
    return {**default, 'metrics': metrics}
