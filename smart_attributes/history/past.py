"""Earlier readings of one drive as plain values, and changes since then: growth, and counter
resets. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..constants import DAY, HOUR, MONTH
from ..errors import Coded
from ..model import Reading
from ..typed import NamedTuple
from ..wording import amount, local_minute
from ..words import clean
from . import series
from .series import History, Key, Observation

# Two series that are stored beside that of a metric with hysteresis: the numbers of the last day, and
# the results of held(). From these, held() decides how long a limit stays exceeded.
_RECENT, _HELD = 'recent', 'held'
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
# The former numbers of a counter that was set back are a series of their own. Its metric ends with
# this. Its definition is Fall.firmware, because a series stores no other text.
_SET_BACK = ', set back'


class Past(NamedTuple):
    """The series of one drive, and the time of this check."""

    histories: Mapping[Key, History] = {}
    now: int = 0  # seconds since 1970
    # no other user could have written the history, so its dates are trusted
    is_own: bool = True
    firmware: str = ''  # the drive's firmware at the last check


class Fall(NamedTuple):
    """A counter that was lower than before."""

    reading: Reading  # the counter as this check reads it
    before: float
    since: int  # when the higher number was last seen, seconds since 1970
    noticed: int  # when the lower number was first seen, seconds since 1970
    firmware: str  # "(firmware 1.0 before, 1.1 after)"; '' if unchanged


def key(reading: Reading) -> Key:
    """Return the key of a reading's series.

    A reading with another source, formula or unit starts a new series.
    """
    parts = str(reading.source), reading.source.definition, reading.unit
    return Key(reading.metric, ', '.join(filter(None, parts)))


def observations(
    readings: Iterable[Reading], past: Past | None
) -> tuple[Observation, ...]:
    """Return the numbers to store in a drive's history: all readings, judged or not, except
    verdicts and forecasts.

    past: earlier readings of the drive; if missing, nothing is stored for hysteresis.
    """
    by_key = {key(reading): reading for reading in readings if _is_measured(reading)}
    result = []
    for series_key, reading in by_key.items():
        number = reading.number or 0
        pace = series.PACES.get(reading.metric, series.CHANGE)
        result.append(Observation(series_key, number, pace))
        has_hysteresis = reading.metric in series.MARGINS
        if past and reading.judged and has_hysteresis:
            numbers = {_RECENT: number, _HELD: held(past, reading)}
            for name, number_of_series in numbers.items():
                result.append(
                    Observation(_beside(reading, name), number_of_series, series.LATELY)
                )
    return tuple(result)


def _is_measured(reading: Reading) -> bool:
    """Return whether a reading is a number that this check has read."""
    is_derived = reading.state is not None or reading.forecast is not None
    return reading.number is not None and not is_derived and not reading.is_stored


def _beside(reading: Reading, name: str) -> Key:
    """Return the key of an additional series of a reading."""
    return key(reading)._replace(metric=f'{reading.metric}, {name}')


def held(past: Past, reading: Reading) -> float:
    """Return the number to compare with limits: the reading's number, 0 for an unknown one, or a
    higher number while hysteresis applies.
    """
    number = reading.number or 0
    if reading.metric not in series.MARGINS:
        return number
    recent = past.histories.get(_beside(reading, _RECENT))
    before = past.histories.get(_beside(reading, _HELD))
    if not (recent and before and before.points):
        return number
    return series.level(
        series.MARGINS[reading.metric],
        number,
        before=before.points[-1].number,
        recent=series.with_reading(recent, number, past.now),
        now=past.now,
    )


def history(past: Past, reading: Reading) -> History | None:
    """Return the series of a reading, including the number from this check; None without earlier
    readings.
    """
    earlier = past.histories.get(key(reading))
    if not earlier or reading.number is None:
        return None
    return series.with_reading(earlier, reading.number, past.now)


def quieted(past: Past, reading: Reading) -> Reading:
    """Return a reading with the time since its number last grew, in seconds.

    The time from the drive's log is kept unless the history shows more recent growth. A number of
    zero has no age, so its reading is not changed; neither is a reading with a state of its own, or
    without history.
    """
    if not reading.number or reading.state is not None:
        return reading
    earlier = history(past, reading)
    if earlier is None:
        return reading
    from . import growth

    seconds, is_growth_seen = growth.quiet(earlier, past.now, reading.metric)
    if reading.quiet is None:
        # a history of less than a day does not show when the number last grew
        if is_growth_seen or seconds >= DAY:
            return reading._replace(quiet=seconds, quiet_is_bound=not is_growth_seen)
    elif is_growth_seen and seconds < reading.quiet:
        return reading._replace(quiet=seconds, quiet_is_bound=False, is_tested=False)
    return reading


# --- counters that can only rise but were lower than before: they were reset or wrapped around ---
# The check that notices a fall stores the former number in a separate series, from which later
# checks report it.


def falls(past: Past, readings: Iterable[Reading], firmware: str) -> list[Fall]:
    """Return the counter resets of a drive in the last month, both stored and new; [] if there is
    none. firmware: the drive's current firmware.
    """
    all_falls = []
    for reading in readings:
        if reading.metric not in LEAST or not reading.judged or reading.number is None:
            continue
        stored = list(_stored_falls(past, reading))
        all_falls += stored
        new = _present_fall(past, reading, firmware)
        # A fall that an earlier check has stored is not new. A check can find it again, because the
        # series of a counter with one point a day ends with the higher number until the next day.
        if new and new.before not in [fall.before for fall in stored]:
            all_falls.append(new)
    return [fall for fall in all_falls if past.now - fall.noticed < MONTH]


def _stored_falls(past: Past, reading: Reading) -> Iterator[Fall]:
    """Yield the resets of a counter that earlier checks noticed."""
    for series_key, stored in past.histories.items():
        if series_key.metric != reading.metric + _SET_BACK:
            continue
        for point in stored.points:
            yield Fall(
                reading=reading,
                before=point.number,
                since=point.time - point.gap,
                noticed=point.time,
                firmware=series_key.definition,  # see _SET_BACK
            )


def _present_fall(past: Past, reading: Reading, firmware: str) -> Fall | None:
    """Return the reset of a counter that its number now shows, compared with the last number in the
    history. The caller drops it if an earlier check has stored the same reset.

    None if the reading has no number, if the history has none, or if the number is not lower by
    more than LEAST.
    """
    earlier = past.histories.get(key(reading))
    if reading.number is None or earlier is None or not earlier.points:
        return None
    before = earlier.points[-1].number
    least, share = LEAST[reading.metric]
    if before - reading.number <= max(least, share * before):
        return None
    words = ''
    if past.firmware not in ('', firmware):
        words = f'(firmware {clean(past.firmware)} before, {clean(firmware)} after)'
    return Fall(
        reading=reading,
        before=before,
        since=earlier.last_read,
        noticed=past.now,
        firmware=words,
    )


def former_numbers(
    past: Past, readings: Sequence[Reading], firmware: str
) -> tuple[Observation, ...]:
    """Return what to store of each counter reset that this check notices: the number before the
    reset, and how long ago this was last seen. () if there is none; firmware: as for falls().
    """
    result = []
    for fall in falls(past, readings, firmware):
        if fall.noticed == past.now:
            series_key = Key(fall.reading.metric + _SET_BACK, definition=fall.firmware)
            gap = past.now - fall.since
            result.append(Observation(series_key, fall.before, series.CHANGE, gap))
    return tuple(result)


def fall_note(fall: Fall) -> Coded:
    """Return a note about a counter reset: "power_on_time was set back between ... and ...: it
    was 28000 h before".
    """
    is_certain = fall.reading.metric == 'power_on_time' and fall.before < RUNS_OVER
    verb = 'was set back' if is_certain else 'was set back or overflowed'
    firmware = f' {fall.firmware}' if fall.firmware else ''
    return Coded(
        'counter-set-back',
        f'{fall.reading.metric} {verb} between {local_minute(fall.since)} and '
        f'{local_minute(fall.noticed)}{firmware}: it was '
        f'{amount(fall.before, fall.reading.unit)} before',
        metric=fall.reading.metric,
        before=fall.before,
        since=fall.since,
        noticed=fall.noticed,
    )
