"""Earlier readings of one drive as plain values, and changes since then: growth, and counter
resets. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..constants import DAY, HOUR, MONTH
from ..errors import Coded
from ..model import Reading
from ..typed import NamedTuple
from ..wording import amount, local_minute
from ..words import clean
from . import series
from .series import History, Key, Observation

_RECENT, _HELD = 'recent', 'held'  # separate series that are stored for hysteresis
# Falls up to these amounts are ignored: in base units, or as a share of the number. 1 % of wear may
# be rounding.
LEAST: Mapping[str, tuple[float, float]] = {
    'power_on_time': (DAY, 0.02),
    'power_cycles': (1, 0.02),
    'host_written': (0, 0.02),
    'nand_written': (0, 0.02),
    'endurance_used': (1, 0),
}
# 16-bit counters wrap around after 65,536 h, and on old Seagate disks after 78,187 h
RUNS_OVER = 65000 * HOUR
REPORTED = MONTH
_BESIDE = ', set back'


class Past(NamedTuple):
    """The series of one drive, and the time of this check."""

    histories: Mapping[Key, History] = {}
    now: int = 0  # seconds since 1970
    # no other user could have written the history, so its dates are trusted
    is_own: bool = True
    firmware: str = ''  # the drive's firmware at the last check


class Fall(NamedTuple):
    """A counter that was lower than before."""

    reading: Reading
    before: float
    since: int  # when the higher number was last seen, seconds since 1970
    noticed: int  # when the lower number was first seen, seconds since 1970
    firmware: str  # "(firmware 1.0 before, 1.1 after)"; '' if unchanged


def key(reading: Reading) -> Key:
    """Return the key of a reading's series.

    A reading with another source, formula or unit starts a new series.
    """
    return Key(
        reading.metric,
        ', '.join(filter(None, (str(reading.source), reading.source.definition, reading.unit))),
    )


def observations(readings: Iterable[Reading], past: Past | None = None) -> tuple[Observation, ...]:
    """Return the numbers to store in a drive's history: all readings, judged or not, except
    verdicts and forecasts.

    past: earlier readings of the drive; if missing, nothing is stored for hysteresis.
    """
    numbers = {
        key(reading): reading
        for reading in readings
        if reading.number is not None
        and reading.state is None
        and reading.forecast is None
        and not reading.is_stored
    }
    result = [
        Observation(each, reading.number or 0, series.PACES.get(reading.metric, series.CHANGE))
        for each, reading in numbers.items()
    ]
    for reading in numbers.values():
        if past and reading.judged and reading.metric in series.MARGINS:
            result += [
                Observation(_beside(reading, _RECENT), reading.number or 0, series.LATELY),
                Observation(_beside(reading, _HELD), held(past, reading), series.LATELY),
            ]
    return tuple(result)


def _beside(reading: Reading, name: str) -> Key:
    """Return the key of an additional series of a reading."""
    return key(reading)._replace(metric=f'{reading.metric}, {name}')


def held(past: Past, reading: Reading) -> float:
    """Return the number to compare with limits: the reading's number, or a higher number while
    hysteresis applies.
    """
    number = reading.number or 0
    if reading.metric not in series.MARGINS:
        return number
    recent, before = (past.histories.get(_beside(reading, name)) for name in (_RECENT, _HELD))
    if not (recent and before and before.points):
        return number
    return series.level(
        series.MARGINS[reading.metric],
        number,
        before.points[-1].number,
        series.with_reading(recent, number, past.now),
        past.now,
    )


def history(past: Past, reading: Reading) -> History | None:
    """Return the series of a reading, including the number from this check; None without earlier
    readings.
    """
    known = past.histories.get(key(reading))
    return (
        series.with_reading(known, reading.number, past.now)
        if known and reading.number is not None
        else None
    )


def quieted(past: Past, reading: Reading) -> Reading:
    """Return a reading with the time since its number last grew, in seconds.

    The time from the drive's log is kept unless the history shows more recent growth. A number of
    zero has no age, so its reading is not changed.
    """
    known = history(past, reading) if reading.number and reading.state is None else None
    if known is None:
        return reading
    from . import growth

    seconds, is_seen = growth.quiet(known, past.now, reading.metric)
    if not is_seen and seconds < DAY:
        return reading  # a history of less than a day does not show when the number last grew
    if reading.quiet is None:
        return reading._replace(quiet=seconds, quiet_is_bound=not is_seen)
    if is_seen and seconds < reading.quiet:
        return reading._replace(quiet=seconds, quiet_is_bound=False, is_tested=False)
    return reading


# --- counters that can only rise but were lower than before: they were reset or wrapped around ---
# The check that notices a fall stores the former number in a separate series, from which later
# checks report it.


def falls(
    past: Past, readings: Iterable[Reading], firmware: str, within: int = REPORTED
) -> list[Fall]:
    """Return the counter resets of a drive in the last *within* seconds, both stored and new.

    firmware: the drive's current firmware.
    """
    found = []
    for reading in readings:
        if reading.metric in LEAST and reading.judged and reading.number is not None:
            stored = [
                Fall(reading, point.number, point.time - point.gap, point.time, name.definition)
                for name, history in past.histories.items()
                if name.metric == reading.metric + _BESIDE
                for point in history.points
            ]
            new = _new_fall(past, reading, firmware)
            if new and new.before not in [fall.before for fall in stored]:
                stored.append(new)
            found += stored
    return [fall for fall in found if past.now - fall.noticed < within]


def _new_fall(past: Past, reading: Reading, firmware: str) -> Fall | None:
    known = past.histories.get(key(reading))
    if known is None or not known.points:
        return None
    before = known.points[-1].number
    least, share = LEAST[reading.metric]
    if before - (reading.number or 0) <= max(least, share * before):
        return None
    words = ''
    if past.firmware not in ('', firmware):
        words = f'(firmware {clean(past.firmware)} before, {clean(firmware)} after)'
    return Fall(reading, before, known.last_read, past.now, words)


def former_numbers(
    past: Past, readings: Sequence[Reading], firmware: str
) -> tuple[Observation, ...]:
    """Return the former number, to be stored, of each counter that this check found lower than
    before.
    """
    return tuple(
        Observation(
            Key(fall.reading.metric + _BESIDE, fall.firmware),
            fall.before,
            series.CHANGE,
            past.now - fall.since,
        )
        for fall in falls(past, readings, firmware)
        if fall.noticed == past.now
    )


def fall_note(fall: Fall) -> Coded:
    """Return a note about a counter reset: "power_on_time was set back between ... and ...: it
    was 28000 h before".
    """
    is_certain = fall.reading.metric == 'power_on_time' and fall.before < RUNS_OVER
    verb = 'was set back' if is_certain else 'was set back, or overflowed'
    return Coded(
        'counter-set-back',
        f'{fall.reading.metric} {verb} between {local_minute(fall.since)} and '
        f'{local_minute(fall.noticed)}{fall.firmware and " "}'
        f'{fall.firmware}: it was {amount(fall.before, fall.reading.unit)} before',
        metric=fall.reading.metric,
        before=fall.before,
        since=fall.since,
        noticed=fall.noticed,
    )
