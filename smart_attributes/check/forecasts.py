"""How long a drive lasts: what is foreseen of its readings, and endurance_time_left, a reading made of that. Pure."""
from __future__ import annotations

from ..model import Forecast, Reading, Source, Verdict
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Dict, Mapping, Optional, Sequence, Union

    from ..history.past import Past
    from ..history.series import Point


TIME_LEFT = 'endurance_time_left'
ENDURANCE, SPARE, AGE = 'endurance_used', 'spare_available', 'power_on_time'
HISTORY, ESTIMATE = 'history', 'use and age'  # where a time comes from
ALL = 100.0   # %


def time_left(by_metric: Mapping[str, Reading], past: Optional[Past]) -> Reading:
    """Return how long the endurance of a drive lasts, in seconds; unknown, and why, where the data do not say.

    by_metric: its judged readings that have a number.
    """
    used, age = by_metric.get(ENDURANCE), by_metric.get(AGE)
    told = (_foreseen(used, age.number if age else None, past) if used
            else 'no endurance_used of it is judged')
    if not isinstance(told, Forecast):
        return Reading(TIME_LEFT, None, 's', Source(ESTIMATE), unknown=told)
    source = ESTIMATE if told.is_estimate else HISTORY if told.left else ENDURANCE
    return Reading(TIME_LEFT, round(told.left), 's', Source(source), forecast=told)


def sooner(one: Reading, other: Reading) -> Reading:
    """Return the reading that tells of less time; the one that tells of any."""
    known = [reading for reading in (one, other) if reading.number is not None]
    return min(known, key=lambda reading: reading.number or 0) if known else one


def forecasts(verdict: Verdict, past: Optional[Past]) -> Mapping[str, Forecast]:
    """Return by metric when it is used up, or gone; nothing where that is not known or has no limit."""
    found: Dict[str, Forecast] = {}
    for judgement in verdict.judgements:
        reading = judgement.reading
        if reading.forecast is not None:
            found[ENDURANCE] = reading.forecast
        elif reading.metric == SPARE and reading.judged and (judgement.warning or judgement.critical):
            told = _foreseen(reading, None, past)
            found.update({SPARE: told} if isinstance(told, Forecast) else {})
    return found


def _foreseen(reading: Reading, age: Optional[float], past: Optional[Past]) -> Union[Forecast, str]:
    """Return how long what a reading counts lasts, or why nobody knows. age: power-on time in seconds."""
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
