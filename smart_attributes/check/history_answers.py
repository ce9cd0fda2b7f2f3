"""Answers from the history for interactive commands and for `doctor`; a check does not need
them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from ..history import growth, past
from ..history.drive_records import Record
from ..history.series import History, Key
from ..model import Grown, Lately, Outlook, Verdict
from ..typed import TYPE_CHECKING
from ..wording import duration
from . import drive_tracking, forecasts
from .drive_tracking import Whereabouts
from .history_access import Remembered

if TYPE_CHECKING:
    Points = tuple[tuple[float, float], ...]


def lately(
    history: Remembered,
    verdicts: Sequence[Verdict],
    whereabouts: Whereabouts | None,
    within: int,
    worse: Mapping[str, str],
) -> Lately:
    """Return the increases, the counter resets, and the added and removed drives of the last
    *within* seconds.

    worse: maps each metric that must not fall to "low".
    """
    now = int(time.time())
    if history.store is None or whereabouts is None:
        return Lately(now - within, unknown='the history has no readings of these drives')
    begun = history.store.begun
    answer = Lately(
        now - within,
        tuple(_grew(history, verdicts, within, worse)),
        tuple(drive_tracking.came(whereabouts, within, begun)),
        tuple(drive_tracking.went(whereabouts, within)),
        fell=tuple(_fell(history, verdicts, within)),
    )
    if begun <= now - within:
        return answer
    return answer._replace(unknown=_only_since(begun, now, answer))


def _grew(
    history: Remembered, verdicts: Sequence[Verdict], within: int, worse: Mapping[str, str]
) -> Iterator[Grown]:
    for verdict in verdicts:
        earlier = history.past(verdict.device) or past.Past()
        for judgement in verdict.judgements:
            reading = judgement.reading
            if reading.forecast or not reading.judged:
                continue
            series = past.history(earlier, reading)
            increase = series and growth.lately(
                series, reading, within, earlier.now, worse.get(reading.metric) == 'low'
            )
            if increase:
                yield Grown(
                    verdict.device.name,
                    reading.metric,
                    increase.before,
                    increase.after,
                    increase.noticed,
                    growth.sentence(reading.metric, reading.unit, increase, earlier.now),
                )


def _fell(history: Remembered, verdicts: Sequence[Verdict], within: int) -> Iterator[Grown]:
    for verdict in verdicts:
        earlier = history.past(verdict.device) or past.Past()
        readings = [judgement.reading for judgement in verdict.judgements]
        for fall in past.falls(earlier, readings, verdict.identity.firmware, within):
            yield Grown(
                verdict.device.name,
                fall.reading.metric,
                fall.before,
                fall.reading.number or 0,
                fall.noticed,
                past.fall_note(fall),
            )


def _only_since(begun: int, now: int, answer: Lately) -> str:
    has_news = answer.grew or answer.fell or answer.came or answer.went
    nothing = '' if has_news else ' without an increase or a change of drives'
    return f'the history covers {duration(now - begun)}{nothing}; before that, nothing is known'


def outlook(history: Remembered, verdict: Verdict) -> Outlook:
    """Return the forecasts and the stored points of a drive's metrics, for interactive commands."""
    match = history.recalled(verdict.device)
    if verdict.problem:
        return Outlook(past=_last_readings(history, verdict))
    if history.store is None or match is None:
        return Outlook(forecasts.forecasts(verdict, None))
    series = history.store.all_of(match.record.number) if history.is_whole and match.record else {}
    points = {}
    for judgement in verdict.judgements:
        reading = judgement.reading
        stored = series.get(past.key(reading)) if reading.judged else None
        if stored is not None:
            points[reading.metric] = _points(stored)
    return Outlook(forecasts.forecasts(verdict, history.past(verdict.device)), points)


def _points(stored: History) -> Points:
    """Return the points of a stored series: times in seconds since 1970, and numbers."""
    return tuple((point.time, point.number) for point in stored.points)


def _last_readings(history: Remembered, verdict: Verdict) -> Mapping[str, Points]:
    """Return the stored points of a drive that was not read, by metric."""
    stored_drive = drive(history, verdict)
    if stored_drive is None:
        return {}
    _, series = stored_drive
    return {
        key.metric: _points(stored)
        for key, stored in series.items()
        if stored.points and ',' not in key.metric
    }


def drive(history: Remembered, verdict: Verdict) -> tuple[Record, Mapping[Key, History]] | None:
    """Return the record of a drive with all its stored series, or None if the drive is not in
    the history. The drive may be missing, or asleep.
    """
    store = history.store
    stored = history.drive_of(verdict.device, verdict.identity)
    if store is None or stored is None:
        return None
    return stored.record, store.all_of(stored.record.number)


def serials(history: Remembered) -> list[str]:
    """Return the serial numbers of all drives in the history."""
    return [record.identity.serial for record in history.store.records] if history.store else []


def in_use(history: Remembered, seconds: int) -> list[str]:
    """Return the addresses at which a check has read a drive within this time."""
    if history.store is None:
        return []
    store, now = history.store, history.store.now
    recent = {record.number for record in store.records if now - record.last_read <= seconds}
    return [place.address for place in store.places if place.drive in recent and not place.gone]
