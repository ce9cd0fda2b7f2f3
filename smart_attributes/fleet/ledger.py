"""Records of a fleet's drives (when each was seen, its age, how it ended), and the failure rate of each model. Pure.

Drive-time is the time between two runs that both saw the drive. So drive-time never exceeds the time that passed on
this machine, even if clocks of hosts are wrong.
"""
from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..constants import DAY, ENDINGS, YEAR
from ..errors import Coded
from ..model import State
from ..typed import Json, MutableJson
from ..wording import plural
from ..work import actions
from .comparison import Columns, Worse, worse

OLD = 2 * DAY          # seconds after which a result does not show the present state
GAP = 14 * DAY         # longest time between two results that counts as drive-time; weekly runs may miss one
WAIT = 7 * DAY         # a drive is gone if reports of its host have lacked it for this long
BANDS = tuple(years * YEAR for years in (1, 2, 3, 5))  # end of each age band but the last, in power-on time
UNKNOWN_AGE = len(BANDS) + 1
NAMES = ('up to 1 y', '1 to 2 y', '2 to 3 y', '3 to 5 y', 'above 5 y', 'unknown')
FAILED, RETIRED, UNKNOWN = ENDINGS
SHORTEST_SERIAL = 4
TAIL = 0.05            # share on each side of a 90 % interval
SUFFICES = 0.9         # probability that the spare drives are enough
STEPS = 60             # steps of a bisection: enough for all digits of a float


class Sighting(NamedTuple):
    """A drive in one run. Firmware and host are numbers in the ledger's table of names."""
    firmware: int
    host: int
    state: int             # as in model.State
    is_failing: int        # 1: CRITICAL because of the drive itself
    read: int              # when its host read it, in seconds since 1970
    age: int | None     # power-on time in seconds


class Record(NamedTuple):
    """The record of a drive. Times are in seconds since 1970, by the clock of this machine."""
    firmware: int
    host: int
    former: int            # the earlier host; 0: none
    first: int
    last: int              # time of the last sighting
    until: int             # drive-time is counted up to here
    listed: int            # the newest run that listed the drive, even with an old result
    age: int | None
    state: int
    is_failing: int
    ended: str | None   # one of ENDINGS, if a person recorded it


class Share(NamedTuple):
    """Drive-time in seconds that a drive spent with one firmware, at one age and in one state."""
    firmware: int
    band: int
    state: int
    seconds: int
    since: int         # the first day, in days since 1970


class Cell(NamedTuple):
    """Drives of one model, firmware and age band."""
    model: str
    firmware: str
    band: int          # a place in NAMES
    seconds: int       # drive-time
    failures: int      # the drive was failing before it disappeared, or a person recorded the failure
    retired: int = 0
    vanished: int = 0  # gone for an unknown reason


def identifies(serial: str) -> bool:
    """Return whether a serial number can identify a drive: it is long enough and not a single repeated character."""
    return len(serial) >= SHORTEST_SERIAL and len(set(serial)) > 1


def is_failing(facts: Json) -> bool:
    """Return whether a drive is CRITICAL through a fault of its own, not through heat, a cable or a firmware defect."""
    return facts['state'] == State.CRITICAL.name and facts.get('action') not in actions.ELSEWHERE


def band(age: float | None) -> int:
    """Return the number of the age band: an index of NAMES. age: power-on time in seconds."""
    return UNKNOWN_AGE if age is None else sum(age > end for end in BANDS)


def updated(known: Record | None, seen: Sighting, now: int) -> tuple[Record, Sequence[Share]]:
    """Return the record of a drive, updated after a sighting, and the drive-time to add.

    known: None for a new drive. now: the time of this run.
    """
    if known is None:
        return Record(seen.firmware, seen.host, 0, now, now, now, now, seen.age, seen.state, seen.is_failing, None), ()
    read = min(seen.read, now)
    if known.listed == now and read <= known.last:
        return known, ()   # another host, or another service, reports the same drive in this run
    is_fresh, is_forward = now - read <= OLD, now >= known.last
    continues = is_fresh and is_forward and 0 < read - known.last <= GAP
    # After a gap, or if a clock was set back, drive-time begins again with this run.
    begins = not is_forward or (is_fresh and read - known.last > GAP)
    # If the clock of a host or of this machine repeats a time, it counts once, unless an earlier run was far ahead.
    until = known.until if known.until <= now + GAP else 0
    counted = max(read - max(known.last, until), 0) if continues else 0
    is_read = seen.state != State.UNKNOWN
    record = Record(seen.firmware, seen.host, known.former if seen.host == known.host else known.host, known.first,
                    read if continues else now if begins else known.last, max(until, read) if counted else until, now,
                    known.age if seen.age is None else seen.age,
                    seen.state if is_read else known.state, seen.is_failing if is_read else known.is_failing,
                    known.ended)
    return record, _shares(seen, read, counted)


def _shares(seen: Sighting, read: int, counted: int) -> Sequence[Share]:
    """Return the drive-time up to the time *read*, split by age band."""
    shares: list[Share] = []
    end = seen.age
    if end is not None:
        edge = max((edge for edge in BANDS if edge < end), default=0)
        later = round(min(counted, end - edge))
        counted, end, read = counted - later, round(edge), read - later
        shares.append(Share(seen.firmware, band(seen.age), seen.state, later, read // DAY))
    shares.append(Share(seen.firmware, band(end), seen.state, counted, (read - counted) // DAY))
    return [share for share in shares if share.seconds]


def ending(record: Record, whole: int | None) -> str | None:
    """Return how a drive ended, one of ENDINGS; None if it seems to be in use.

    whole: the newest run that read all drives of this host. A drive that is gone has failed only if it was failing.
    """
    if record.ended is not None:
        return record.ended
    if whole is None or whole - record.listed <= WAIT:
        return None
    return FAILED if record.is_failing else UNKNOWN


# --- failure rates, with exact intervals --------------------------------------------------

class Rate(NamedTuple):
    """The failure rate of a model, and whether it fails more often than others."""
    model: str
    drives: int
    years: float       # drive-years
    failures: int
    vanished: int = 0
    in_use: int = 0
    worse: Worse = Worse()

    @property
    def rate(self) -> float:
        """Return the annualized failure rate: failures per drive-year."""
        return self.failures / self.years if self.years else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 90 % interval of the failure rate."""
        return self.range[0], interval(self.failures)[1] / self.years if self.years else math.inf

    @property
    def range(self) -> tuple[float, float]:
        """Return the range of two 90 % intervals together: one counts vanished drives as failures, one does not."""
        low, high = interval(self.failures)[0], interval(self.failures + self.vanished)[1]
        return (low / self.years, high / self.years) if self.years else (0.0, math.inf)

    @property
    def spares(self) -> int:
        """Return how many spares are enough for a quarter with 90 % probability; vanished drives count as failed.

        The number has a negative binomial distribution: Poisson, with a rate that is uncertain if drive-time is short.
        """
        shape, later = self.failures + self.vanished + 0.5, self.in_use / 4
        if not (self.years and later):
            return 0
        begin = shape * math.log(self.years / (self.years + later)) - math.lgamma(shape)
        total, spares = math.exp(begin + math.lgamma(shape)), 0
        while total < SUFFICES:
            spares += 1
            total += math.exp(begin + math.lgamma(shape + spares) - math.lgamma(spares + 1)
                              + spares * math.log(later / (self.years + later)))
        return spares


@lru_cache(maxsize=None)
def interval(failures: int) -> tuple[float, float]:
    """Return the exact 90 % interval of the expected number of failures. failures: the counted number.

    Its limits are half the quantiles of the chi-squared distribution with 2 n and 2 n + 2 degrees of freedom.
    Source: Garwood, Fiducial Limits for the Poisson Distribution, Biometrika 28 (1936).
    """
    return _quantile(failures, TAIL) if failures else 0.0, _quantile(failures + 1, 1 - TAIL)


def _quantile(shape: int, share: float) -> float:
    """Return a quantile of the gamma distribution."""
    low, high = 0.0, shape + 10 * math.sqrt(shape) + 10
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _gamma(shape, middle) < share else (low, middle)
    return (low + high) / 2


def _gamma(shape: int, end: float) -> float:
    """Return the regularized lower incomplete gamma function by its series, DLMF 8.7.1 and 8.11.4. end: above 0."""
    term = total = 1.0
    place = shape
    while term > total * 1e-17:
        place += 1
        term *= end / place
        total += term
    return total * math.exp(shape * math.log(end) - end - math.lgamma(shape + 1))


def rates(cells: Sequence[Cell], drives: Mapping[str, int], compared: Columns) -> list[Rate]:
    """Return the rate of each model: first models that fail more often than others, then the rest, both by name.

    drives: number of drives of each model.
    """
    sums: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for cell in cells:
        sums[cell.model].update(seconds=cell.seconds, failures=cell.failures, vanished=cell.vanished,
                                ended=cell.failures + cell.vanished + cell.retired)
    found = worse(compared, {model: each['failures'] for model, each in sums.items()})
    return sorted((Rate(model, drives.get(model, 0), each['seconds'] / YEAR, each['failures'], each['vanished'],
                        max(drives.get(model, 0) - each['ended'], 0), found.get(model, Worse()))
                   for model, each in sums.items()), key=lambda each: (each.worse == Worse(), each.model))


def said(rates: Iterable[Rate]) -> Iterator[Coded]:
    """Yield a message about each model or firmware that fails more often than others."""
    for each in rates:
        if each.worse.without is not None:
            vanished = f', with {plural(each.vanished, "vanished drive")} counted as failed' if each.vanished else ''
            yield Coded('model-fails-more', f'{each.model} fails more often than other models of the same age'
                        f'{_without(each.worse.without)}: {each.failures} of {plural(each.drives, "drive")} failed, '
                        f'{percent(each)} a year{vanished}; keep {plural(each.spares, "spare drive")} for three '
                        'months')
        for firmware, without in each.worse.firmware:
            yield Coded('firmware-fails-more', f'{each.model} with firmware {firmware} fails more often than with '
                        f'other firmware{_without(without)}; update the firmware if the vendor has a newer version')


def _without(left_out: Sequence[str]) -> str:
    return f' (compared without {", ".join(left_out)})' if left_out else ''


def percent(rate: Rate) -> str:
    """Return the range of a rate, such as "4 to 14 %"."""
    low, high = (f'{100 * each:.{0 if each >= 0.1 else 1}f}' for each in rate.range)
    return f'{low} to {high} %'


def rates_as_json(found: Iterable[Rate]) -> list[MutableJson]:
    """Return rates in the format of the JSON document. If a model has no drive-time, its interval has no upper end."""
    return [{'model': each.model, 'drives': each.drives, 'drive_years': round(each.years, 2),
             'failures': each.failures, 'rate': each.rate, 'low': each.interval[0],
             'high': each.interval[1] if each.years else None, 'vanished': each.vanished, 'in_use': each.in_use,
             'high_with_vanished': each.range[1] if each.years else None, 'spares': each.spares,
             'percent': percent(each), 'worse': each.worse.without is not None,
             'compared_without': each.worse.without or (), 'worse_firmware': [
                 {'firmware': name, 'compared_without': out} for name, out in each.worse.firmware]} for each in found]
