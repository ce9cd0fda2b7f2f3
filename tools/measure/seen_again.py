"""Measure how many drives were gone, CRITICAL or had lost more data at the next look.

A file has one drive per line: `{"path", "seen": [{"date", "facts", "errors_logged", "self_tests"},
...]}`, oldest look first. Each look is judged by itself, with the logs of that day and without
history, and counts in every class that it belongs to. *Quiet* drives are OK, count no lost data and
no reallocated sector, and have no data error in their log.

- *Gone*: the drive is in no later look. It was replaced, or its machine left the data set; only the
  comparison with quiet drives separates the two. `quiet_gone_percent` is the share of quiet drives
  of the same database family at the same date that were gone, averaged over the looks of the class:
  old families are retired sooner.
- A drive is in the file because it was seen twice. Its first look is therefore never its last one,
  and does not count for *gone*. The newest looks do not count either, nor a date of which most
  drives are in no later look.
- *CRITICAL*, *lost data*, *reallocated*: at the next look, of the drives that have one.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from smart_attributes.constants import DAY
from smart_attributes.errors import DataError
from smart_attributes.knowledge import drive_logs, log_ages
from smart_attributes.model import Report, State, Verdict
from smart_attributes.typed import Json

from . import accuracy, collected_logs, collection
from .alarms import Alarm
from .collection import ATTRIBUTES, CollectedDrive, Sizes
from .data_rows import Row, json_lines
from .timelines import Mindful, percent

SHAPE = (
    'each line is an object with path and seen, a list of looks with date, facts, '
    'errors_logged, self_tests'
)
# days to a later look of the data set, after which a drive that is in none is gone
APART = 120
# share of the drives of a date that are in no later look, above which machines left
MOST = 0.5
LOST = ('reported_uncorrect', 'media_errors', 'pending', 'offline_uncorrectable')
MOVED = 'reallocated'
AT = 'at'  # begins the name of a date and a family
# How long ago the newest data error was, in power-on time: the name, and where it ends.
AGES = (
    ('to 7 d', 7 * DAY),
    ('7 to 14 d', 14 * DAY),
    ('14 to 90 d', 90 * DAY),
    ('90 d to 1 y', 365 * DAY),
    ('over 1 y', math.inf),
)
QUIET, ANY, LOGGED, INTERFACE = 'quiet', 'any', 'data error in the log', 'ICRC newest in the log'
DATED = frozenset(
    ('reported_uncorrect', 'reported_uncorrect alone', log_ages.LOGGED, LOGGED, INTERFACE)
)
# A maker is the first of these words in the family of the database entry, or in the model if the
# entry is for all.
MAKERS = (
    'HGST',
    'Hitachi',
    'HPE',
    'Intel',
    'Samsung',
    'Micron',
    'Crucial',
    'Kingston',
    'SanDisk',
    'Seagate',
    'Toshiba',
    'KIOXIA',
    'Western Digital',
    'WD',
    'HP',
)
SAME = {
    'Hitachi': 'HGST',
    'WD': 'Western Digital',
    'Crucial': 'Micron',
    'KIOXIA': 'Toshiba',
    'HPE': 'HP',
}
Z = 1.96  # standard deviations of a 95 % interval

Drives = Sequence[tuple[str, Sequence['Look']]]


class Class(NamedTuple):
    """What looks have in common."""

    kind: str
    vendor: str
    state: str
    # "quiet", "any", a metric that alerts, "METRIC alone", or what is in the error log
    reason: str
    newest_error: str = ''  # a name in AGES, "unknown", or '' for all


class Look(NamedTuple):
    """One look at a drive."""

    date: str
    kind: str
    vendor: str
    family: str  # of the database entry, '' without one
    state: State
    classes: tuple[Class, ...]
    counts: Mapping[str, float]  # of LOST and MOVED


def maker(family: str, model: str) -> str:
    """Return the vendor of a drive, "other" if neither the database entry nor the model names
    one.
    """
    for text in (family, model):
        places = {
            text.upper().find(word.upper()): word
            for word in reversed(MAKERS)
            if word.upper() in text.upper()
        }
        if places:
            return SAME.get(places[min(places)], places[min(places)])
    return 'other'


def classes(report: Report, verdict: Verdict, counts: Mapping[str, float]) -> Iterator[Class]:
    """Yield the classes of a drive at one look, first that of its state. counts: of LOST and
    MOVED.
    """
    vendor = maker(verdict.entry or '', report.identity.model)
    alarm = Alarm(*accuracy.drive_state(CollectedDrive('', report), verdict)[:4])
    logged = dict(_logged(report, verdict))
    reasons = sorted({*alarm.reasons})
    names = [(ANY, alarm.state), *reasons, *((name, alarm.state) for name in logged)]
    names += [
        (f'{metric} alone', level) for metric, level in reasons if alarm.is_alone(metric, level)
    ]
    if alarm.state is State.OK:
        counted = [(f'{metric} counted', State.OK) for metric, number in counts.items() if number]
        names += counted if counted or LOGGED in logged else [(QUIET, State.OK)]
    for name, state in names:
        yield Class(alarm.kind, vendor, state.name, name)
        if name in DATED:
            yield Class(
                alarm.kind,
                vendor,
                state.name,
                name,
                logged.get(name, logged.get(LOGGED, 'unknown')),
            )


def _logged(report: Report, verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Yield LOGGED and INTERFACE with the age of that newest entry, as far as the error log has
    them.
    """
    on = next(
        (
            j.reading.number
            for j in verdict.judgements
            if j.reading.metric == 'power_on_time' and j.reading.judged
        ),
        None,
    )
    if report.errors:
        ago, is_bound = log_ages.newest(report, on)
        if ago is not None and (not is_bound or age_of(ago) == AGES[-1][0]):
            yield LOGGED, age_of(ago)
        if 'ICRC' in report.errors[0].kind:
            since = drive_logs.seconds_since(report.errors[0].hours, on)
            yield INTERFACE, 'unknown' if since is None else age_of(since)


def age_of(seconds: float) -> str:
    """Return the name of the age in AGES that a time belongs to."""
    return next(name for name, end in AGES if seconds <= end)


# --- the file --------------------------------------------------------------------------


def read(path: str, judge: Mindful) -> Drives:
    """Return each drive of a file with its looks.

    Raises DataError with the line that is not a drive.
    """
    sizes = Sizes()
    for report in json_lines(
        path, lambda line: collection.report_of(line['seen'][-1]['facts']), SHAPE
    ):
        sizes.add(
            report.identity.model,
            {
                row.id: int(re.split('[^0-9]', row.raw)[0] or 0)
                for row in report.attributes
                if row.id in ATTRIBUTES
            },
        )

    def look(seen: Json) -> Look:
        report = collected_logs.with_logs(collection.report_of(seen['facts']), seen)
        size = sizes.physical(report.identity.model)
        verdict = judge(
            report._replace(identity=report.identity._replace(physical_block_size=size)), None
        )
        counts = {
            j.reading.metric: j.reading.number
            for j in verdict.judgements
            if j.reading.judged
            and j.reading.number is not None
            and j.reading.metric in (*LOST, MOVED)
        }
        of = tuple(classes(report, verdict, counts))
        day = date.fromisoformat(seen['date']).isoformat()
        return Look(day, of[0].kind, of[0].vendor, verdict.entry or '', verdict.state, of, counts)

    drives = list(
        json_lines(
            path, lambda line: (str(line['path']), [look(seen) for seen in line['seen']]), SHAPE
        )
    )
    if not drives:
        raise DataError(f'{path}: no drives; {SHAPE}')
    return drives


# --- the outcomes ----------------------------------------------------------------------


def watched(drives: Drives) -> frozenset[str]:
    """Return the dates whose drives would have been seen again: a later look exists, and most
    drives are in one.
    """
    later = Counter(look.date for _, looks in drives for look in looks[1:])
    last = Counter(looks[-1].date for _, looks in drives if len(looks) > 1)
    newest = date.fromisoformat(max(looks[-1].date for _, looks in drives))
    return frozenset(
        day
        for day in later
        if last[day] <= MOST * later[day] and (newest - date.fromisoformat(day)).days >= APART
    )


def outcomes(drives: Drives) -> Mapping[Class, Counter[str]]:
    """Return what became of each class: counts of looks by outcome, and of looks and gone drives
    by AT.
    """
    found: dict[Class, Counter[str]] = defaultdict(Counter)
    dates = watched(drives)
    for _, looks in drives:
        for of in {of for look in looks for of in look.classes}:
            found[of]['drives'] += 1
        for number, look in enumerate(looks):
            after = looks[number + 1] if number + 1 < len(looks) else None
            counts: list[str] = []
            if number and look.date in dates:
                place = f'{AT} {look.date} {look.family}'
                counts += ['looks', place]
                if not after:
                    counts += ['gone', f'gone {place}']
            if after:
                grown = {
                    name
                    for name, count in after.counts.items()
                    if count > look.counts.get(name, math.inf)
                }
                counts.append('again')
                if after.state is State.CRITICAL:
                    counts.append('critical')
                if not grown.isdisjoint(LOST):
                    counts.append('lost')
                if MOVED in grown:
                    counts.append('moved')
            for of in look.classes:
                found[of].update(counts)
    return found


def rows(drives: Drives) -> list[Row]:
    """Return a row for each class."""
    found = outcomes(drives)
    return [
        _row(of, counts, found.get(Class(of.kind, of.vendor, State.OK.name, QUIET), Counter()))
        for of, counts in sorted(found.items())
    ]


def _row(of: Class, counts: Counter[str], quiet: Counter[str]) -> Row:
    both = [place for place in counts if place.startswith(AT) and quiet[place]]
    low, high = interval(counts['gone'], counts['looks'])
    again, quiet_again = counts['again'], quiet['again']
    return {
        **of._asdict(),
        'drives': counts['drives'],
        'looks': counts['looks'],
        'gone': counts['gone'],
        'gone_percent': percent(counts['gone'], counts['looks']),
        'low': low,
        'high': high,
        'quiet_gone_percent': percent(
            sum(counts[at] * quiet[f'gone {at}'] / quiet[at] for at in both),
            sum(counts[at] for at in both),
        ),
        'seen_again': again,
        'critical': counts['critical'],
        'critical_percent': percent(counts['critical'], again),
        'lost_data': counts['lost'],
        'lost_data_percent': percent(counts['lost'], again),
        'quiet_lost_data_percent': percent(quiet['lost'], quiet_again),
        'reallocated_percent': percent(counts['moved'], again),
        'quiet_reallocated_percent': percent(quiet['moved'], quiet_again),
    }


def interval(part: int, whole: int) -> tuple[float | None, float | None]:
    """Return the 95 % interval of a share, in percent; None twice if *whole* is 0.

    Source: E. B. Wilson, Probable Inference, 1927.
    """
    if not whole:
        return None, None
    share, weight = part / whole, Z * Z / whole
    middle = (share + weight / 2) / (1 + weight)
    half = Z / (1 + weight) * math.sqrt(share * (1 - share) / whole + weight / whole / 4)
    return round(100 * max(0, middle - half), 1), round(100 * min(1, middle + half), 1)


def main(path: str, judge: Mindful) -> None:
    """Print what became of the drives of a file. Raises DataError."""
    print(json.dumps(rows(read(path, judge)), indent=1))
