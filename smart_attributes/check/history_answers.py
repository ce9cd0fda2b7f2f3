"""Answers from the history for interactive commands and for `doctor`; a check does not need
them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..history import past as past_checks
from ..history.drive_records import Record
from ..history.series import History, Key
from ..model import Outlook, Verdict
from ..typed import TYPE_CHECKING
from . import forecasts
from .history_access import Remembered

if TYPE_CHECKING:
    Points = tuple[tuple[float, float], ...]


def outlook(history: Remembered, verdict: Verdict) -> Outlook:
    """Return the forecasts and the stored points of a drive's metrics, for interactive commands.

    A drive that was not read has no forecasts; without history, there are no points.
    """
    if verdict.problem:
        return Outlook(past=_last_readings(history, verdict))
    match = history.recalled(verdict.device)
    points = {}
    store = history.read_store()
    if history.is_for_a_person and store and match and match.record:
        series = store.all_of(match.record.number)
        for judgement in verdict.judgements:
            reading = judgement.reading
            stored = series.get(past_checks.key(reading))
            if reading.judged and stored is not None:
                points[reading.metric] = _points(stored)
    return Outlook(forecasts.forecasts(verdict, history.past(verdict.device)), points)


def _points(stored: History) -> Points:
    """Return the points of a stored series: times in seconds since 1970, and numbers."""
    return tuple((point.time, point.number) for point in stored.points)


def _last_readings(history: Remembered, verdict: Verdict) -> Mapping[str, Points]:
    """Return the stored points of a drive that was not read, by metric; {} without history."""
    stored_drive = drive(history, verdict)
    if stored_drive is None:
        return {}
    _, series = stored_drive
    # a comma marks the former numbers of a counter, see past_checks.former_numbers()
    return {
        key.metric: _points(stored)
        for key, stored in series.items()
        if stored.points and ',' not in key.metric
    }


def drive(
    history: Remembered, verdict: Verdict
) -> tuple[Record, Mapping[Key, History]] | None:
    """Return the record of a drive with all its stored series, or None if the drive is not in
    the history. The drive may be missing, or asleep.
    """
    store = history.read_store()
    stored = history.drive_of(verdict.device, verdict.identity)
    if store is None or stored is None:
        return None
    return stored.record, store.all_of(stored.record.number)


def serials(history: Remembered) -> list[str]:
    """Return the serial numbers of all drives in the history; [] without history."""
    store = history.read_store()
    records = store.records if store else ()
    return [record.identity.serial for record in records]


def in_use(history: Remembered, seconds: int) -> list[str]:
    """Return the addresses at which a check has read a drive within this time; [] without
    history.
    """
    store = history.read_store()
    places = store.recent_places(seconds) if store else ()
    return [place.address for place in places]
