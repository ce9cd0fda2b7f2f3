"""Forecasts of when a drive wears out, and the reading endurance_time_left that is derived from them. Pure."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model import Forecast, Reading, Source, Verdict
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from ..history.past import Past
    from ..history.series import Point


TIME_LEFT = 'endurance_time_left'
ENDURANCE, SPARE, AGE = 'endurance_used', 'spare_available', 'power_on_time'
HISTORY, ESTIMATE = 'history', 'use and age'  # sources of a forecast
ALL = 100.0   # %


def time_left(by_metric: Mapping[str, Reading], past: Past | None) -> Reading:
    """Return a reading of how long the endurance of a drive lasts, in seconds.

    If the data do not allow a forecast, the reading has no number and `unknown` states the reason.
    by_metric: the judged readings of the drive that have a number.
    """
    used, age = by_metric.get(ENDURANCE), by_metric.get(AGE)
    told = (_foreseen(used, age.number if age else None, past) if used
            else 'the drive has no endurance_used value that is evaluated')
    if not isinstance(told, Forecast):
        return Reading(TIME_LEFT, None, 's', Source(ESTIMATE), unknown=told)
    source = ESTIMATE if told.is_estimate else HISTORY if told.left else ENDURANCE
    return Reading(TIME_LEFT, round(told.left), 's', Source(source), forecast=told)


def sooner(one: Reading, other: Reading) -> Reading:
    """Return the reading with less time left, or the only one with a number; *one* if neither has one."""
    known = [reading for reading in (one, other) if reading.number is not None]
    return min(known, key=lambda reading: reading.number or 0) if known else one


def forecasts(verdict: Verdict, past: Past | None) -> Mapping[str, Forecast]:
    """Return a forecast for each metric that will be used up or gone.

    Metrics without a forecast are left out, and so is spare_available if it has no limit.
    """
    found: dict[str, Forecast] = {}
    for judgement in verdict.judgements:
        reading = judgement.reading
        if reading.forecast is not None:
            found[ENDURANCE] = reading.forecast
        elif reading.metric == SPARE and reading.judged and (judgement.warning or judgement.critical):
            told = _foreseen(reading, None, past)
            found.update({SPARE: told} if isinstance(told, Forecast) else {})
    return found


def _foreseen(reading: Reading, age: float | None, past: Past | None) -> Forecast | str:
    """Return the forecast for a reading, or the reason why it is missing. age: power-on time in seconds."""
    from ..history.forecast import forecast
    number = reading.number or 0
    falls, now = reading.metric == SPARE, 0
    points: Sequence[Point] = ()
    if past is not None:
        from ..history.past import key
        known, now = past.histories.get(key(reading)), past.now
        points = known.points if known else ()
    used = [(point.time, ALL - point.number if falls else point.number) for point in points]
    return forecast(used, now, ALL - number if falls else number, age)
