"""What earlier checks tell of one drive, as plain values, and what a reading has grown by since. Pure."""
from __future__ import annotations

from functools import lru_cache

from ..coded import Coded
from ..constants import DAY
from ..model import Reading, State
from ..typed import TYPE_CHECKING, Json, NamedTuple
from ..words import amount, plain
from . import fast_wear, growth, hysteresis, series
from .growth import Growth, Rule
from .series import History, Key, Observation

if TYPE_CHECKING:
    from typing import Any, Iterable, Iterator, List, Mapping, Optional, Tuple


_RECENT, _HELD = 'recent', 'held'   # what is kept for hysteresis, as series of their own


class Past(NamedTuple):
    """The series of one drive, and the time of this check."""

    histories: Mapping[Key, History] = {}
    now: int = 0                  # seconds since 1970
    is_own: bool = True           # nobody else could have written it: it may age an alarm


class Told(NamedTuple):
    """Growth that is told of a reading."""

    state: State
    words: str         # "crc_errors grew by 14 in 24 h (212 to 226): check cable and backplane"
    against: Coded     # "above 0 in 24 h", with the limit of the increase as a Nagios range in base units
    size: float = 0    # of the growth, base unit


def key(reading: Reading) -> Key:
    """Return the series of a reading: another source, grammar or unit is another series, and nothing has grown."""
    return Key(reading.metric,
               ', '.join(part for part in (str(reading.source), reading.source.definition, reading.unit) if part))


def observations(readings: Iterable[Reading], past: Optional[Past] = None) -> Tuple[Observation, ...]:
    """Return what is remembered of a drive's readings: each number, be it judged or kept for comparison; no
    verdicts, and nothing that was foreseen.

    past: what earlier checks of the drive tell; without it nothing is kept for hysteresis.
    """
    found = {key(reading): reading for reading in readings
             if reading.number is not None and reading.state is None and reading.forecast is None}
    return (*(Observation(each, reading.number or 0, series.pace(reading.metric)) for each, reading in found.items()),
            *(each for reading in found.values() if past and reading.judged and reading.metric in hysteresis.MARGINS
              for each in _for_hysteresis(past, reading)))


def _for_hysteresis(past: Past, reading: Reading) -> Iterator[Observation]:
    for name, number in ((_RECENT, reading.number), (_HELD, held(past, reading))):
        yield Observation(_beside(reading, name), number or 0, series.LATELY)


def _beside(reading: Reading, name: str) -> Key:
    """Return a further series of a reading."""
    return key(reading)._replace(metric=f'{reading.metric}, {name}')


def held(past: Past, reading: Reading) -> float:
    """Return the number that limits are compared with: more than the reading's own while hysteresis holds it."""
    number = reading.number or 0
    if reading.metric not in hysteresis.MARGINS:
        return number
    recent, before = (past.histories.get(_beside(reading, name)) for name in (_RECENT, _HELD))
    if not (recent and before and before.points):
        return number
    return hysteresis.level(margin(reading), number, before.points[-1].number,
                            series.with_reading(recent, number, past.now), past.now)


def margin(reading: Reading) -> float:
    """Return how far below a limit a number must be before hysteresis releases it, in its unit."""
    return hysteresis.MARGINS.get(reading.metric, 0)


def history(past: Past, reading: Reading) -> Optional[History]:
    """Return the series of a reading with this check's number in it; None where nothing earlier is known."""
    known = past.histories.get(key(reading))
    return series.with_reading(known, reading.number, past.now) if known and reading.number is not None else None


def quieted(past: Past, reading: Reading, falls: bool) -> Reading:
    """Return a reading with the time since it last grew; what its log tells is kept where history has seen no growth.

    falls: less is worse. Nothing is as quiet as zero, which has no age.
    """
    known = history(past, reading) if reading.number and reading.state is None else None
    if known is None:
        return reading
    seconds, is_seen = growth.quiet(known, past.now, falls)
    if not is_seen and seconds < DAY:
        return reading  # history that has just begun tells nothing of age
    if reading.quiet is None:
        return reading._replace(quiet=seconds, quiet_is_bound=not is_seen)
    return reading._replace(quiet=seconds, quiet_is_bound=False) if is_seen and seconds < reading.quiet else reading


def told(past: Past, reading: Reading, rules: Iterable[Json], falls: bool,
         age: Optional[float] = None) -> Optional[Told]:
    """Return the worst growth of a reading that is told now. falls: less is worse, as of spare blocks.

    rules: as thresholds/ writes them. age: the drive's power-on time in seconds, for rules about wear. Raises DataError
    for a
    rule that cannot be meant.
    """
    known = history(past, reading)
    if known is None or len(known.points) < 2:
        return None  # nearly all readings of nearly all drives
    found = growth.growth(known, _parsed(each for each in rules if _is_hasty(each, known, past.now, age)), past.now,
                          falls)
    if found is None:
        return None
    limit = found.rule.critical if found.state is State.CRITICAL else found.rule.warning
    return Told(found.state, growth.sentence(reading.metric, reading.unit, found, past.now),
                Coded('growth', f'above {amount(limit, reading.unit)} in {growth.duration(found.rule.within)}',
                      limit=None if limit is None else plain(limit)), found.size)


def lately(past: Past, reading: Reading, within: int, falls: bool) -> Optional[Growth]:
    """Return what a reading has grown by in the last *within* seconds, None where nothing is known or nothing was."""
    known = history(past, reading) if series.pace(reading.metric) == series.CHANGE else None
    return growth.lately(known, within, past.now, falls) if known else None


def _is_hasty(rule: Json, known: History, now: int, age: Optional[float]) -> bool:
    """Tell whether a rule that asks for haste ("times", "gone") finds it; one that does not ask holds."""
    if 'times' not in rule:
        return True
    within = _rule(tuple(sorted(rule.items()))).within
    found = fast_wear.wear(known, now, within)
    gone = growth.seconds(rule.get('gone', '180d'), 'gone', 'thresholds')
    return found is not None and fast_wear.is_hasty(found, known.points[-1].number, age or 0, rule['times'], gone)


def _parsed(rules: Iterable[Json]) -> List[Rule]:
    return [_rule(tuple(sorted(each.items()))) for each in rules]


@lru_cache(maxsize=None)
def _rule(items: Tuple[Tuple[str, Any], ...]) -> Rule:
    return growth.rule(dict(items), 'thresholds')
