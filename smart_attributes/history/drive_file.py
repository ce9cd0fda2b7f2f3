"""The history of one drive: as a value, and as the text of its two files. Pure.

NUMBER.drive has the drive's identity, its places, its last verdict, and the points that a check
needs: every point of a judged series, only the newest of a series that changes all the time.
NUMBER.days has the older points of the latter, in the same form. Both files begin with a line with
the version and a CRC-32, followed by JSON. CRC-32 detects accidental damage, not changes by the
owner of the directory, whom a check of another user does not trust anyway (see store).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

from ..constants import (
    DAY,
    HIGHEST_PERCENTAGE,
    HIGHEST_STORED,
    HOUR,
    LARGEST_HISTORY,
    LONGEST_STATEMENT,
    MONTH,
    MOST_FINDINGS,
    MOST_PLACES,
    MOST_SERIES,
)
from ..model import Alias, Identity, LastFinding, LastVerdict, State
from ..typed import Any, NamedTuple
from . import series
from .drive_records import LATEST, DrivePlace, Record
from .series import History, Key, Observation, Point

VERSION = 1
SLACK = DAY  # a clock that is behind by less is expected to catch up
# seconds: a check whose time is before the newest reading, but by less than this, ran at the same
# time as another check; by more, its clock is wrong
_SAME_TIME = 150
EARLIEST = 1_767_225_600  # 1 January 2026: before this date, this program did not exist
# older points of a series with MANY points are reduced to one per day
KEPT_WHOLE = 25 * HOUR
_HEAD = re.compile(rb'check_smart_attributes history ([0-9]{1,6}) ([0-9a-f]{8})\n')
# examples of the types of stored values, for _checked()
_IDENTITY = ('',) * 5
_PLACE = DrivePlace('', 0, 0)
# int() of a longer one takes quadratic time before Python 3.11
_LONG_NUMBER = re.compile(rb'[0-9]{1000}')


class Damaged(ValueError):
    """The text was not written by this program, or has changed since."""


class Newer(ValueError):
    """The file is from a newer version of this program."""


class Series(NamedTuple):
    """A stored series of a drive."""

    pace: int  # how often it gets a point: series.CHANGE, DAILY, HIGHEST or LATELY
    points: tuple[Point, ...] = ()  # oldest first, with strictly increasing times
    # when its number was last read, if not when its drive was last read; 0: then
    last_seen: int = 0


AllSeries = Mapping[Key, Series]


class DriveHistory(NamedTuple):
    """The stored history of one drive."""

    record: Record
    places: tuple[DrivePlace, ...] = ()  # on all machines that use this directory
    verdict: LastVerdict = LastVerdict(0)
    series: AllSeries = {}  # noqa: RUF012  (never changed)
    # when a check first found its clock far behind this history; 0: it is not behind
    behind_since: int = 0
    # the other addresses at which the last check read it
    aliases: tuple[Alias, ...] = ()

    @property
    def histories(self) -> dict[Key, History]:
        """The points of each series as the history of a reading. For a metric in series.PACES, the file
        NUMBER.drive has only the newest points.
        """
        return {
            key: History(stored.points, stored.last_seen or self.record.last_read)
            for key, stored in self.series.items()
        }


# --- text ---------------------------------------------------------------------------------------


def text(drive: DriveHistory) -> bytes:
    """Return the content of a file; the longest series are halved until it fits into
    LARGEST_HISTORY.
    """
    content = _text(drive)
    while len(content) > LARGEST_HISTORY:
        drive = _reduced(drive)
        content = _text(drive)
    return content


def _text(drive: DriveHistory) -> bytes:
    """Return the content of a file, which may be larger than LARGEST_HISTORY."""
    record = drive.record
    rows = []
    for key, stored in [*drive.series.items()][:MOST_SERIES]:
        points = _point_fields(stored.points, record.first_read)
        rows.append([*key, stored.pace, stored.last_seen, points])
    document = {
        # protocol, model, firmware, serial number, WWN
        'identity': _clipped(record.identity[:5]),
        'times': [
            record.first_read,
            record.last_read,
            drive.behind_since,
            record.order,
        ],
        'verdict': _verdict_fields(drive.verdict),
        # thinned_file() has already limited the places.
        'places': drive.places,
        'aliases': drive.aliases[:MOST_PLACES],
        'series': rows,
    }
    content = json.dumps(document, separators=(',', ':')).encode('ascii')
    checksum = crc32(content, VERSION)
    return b'check_smart_attributes history %d %08x\n%s\n' % (
        VERSION,
        checksum,
        content,
    )


def _verdict_fields(verdict: LastVerdict) -> list[Any]:
    """Return a verdict as JSON, which _verdict() reads; texts are cut, and a number that cannot be
    stored becomes null.
    """
    findings = []
    for finding in verdict.findings[:MOST_FINDINGS]:
        texts = _clipped((finding.metric, finding.words, finding.remedy))
        number = finding.number if _is_small_enough(finding.number) else None
        findings.append([finding.state.value, *texts, finding.ends, number])
    return [verdict.time, *_clipped([verdict.family]), verdict.is_disk, findings]


def _is_small_enough(number: float | None) -> bool:
    """Return whether the number of a finding can be stored. A finding without a number (None) can;
    infinity and NaN cannot.
    """
    return number is None or abs(number) <= HIGHEST_STORED


def _clipped(fields: Iterable[str]) -> list[str]:
    return [field[:LONGEST_STATEMENT] for field in fields]


def _point_fields(points: Sequence[Point], first_read: int) -> list[list[float]]:
    """Return the seconds since the previous point, the number and the gap of each point.

    first_read: of the drive; the seconds of the first point count from it. The gap is left out if
    it equals the seconds, as in a series that changes at each check. A whole number becomes an
    integer, which JSON writes without ".0". Each check writes all these files, so they are short.
    """
    rows = []
    previous = first_read
    for time, number, gap in points:
        seconds = time - previous
        row = [seconds, int(number) if number == int(number) else number]
        if gap != seconds:
            row.append(gap)
        rows.append(row)
        previous = time
    return rows


def _reduced(drive: DriveHistory) -> DriveHistory:
    """Return the history without every other older point of its longest series.

    If no series has many points, a whole series goes, and in the end the first place.
    """
    if not drive.series:
        return drive._replace(places=drive.places[1:])
    all_series = dict(drive.series)
    longest = max(all_series, key=lambda key: len(all_series[key].points))
    points = all_series[longest].points
    if len(points) > 3:
        # the two newest points stay
        fewer = (*points[:-2][::2], *points[-2:])
        all_series[longest] = all_series[longest]._replace(points=fewer)
    else:
        del all_series[longest]
    return drive._replace(series=all_series)


def is_intact(content: bytes) -> bool:
    """Return whether the checksum of a file is right.

    The rest of the content can still be wrong.
    """
    head = _HEAD.match(content)
    if not head:
        return False
    body = content[head.end() :].removesuffix(b'\n')
    # the version is the start value, as in _text()
    return head[2] == b'%08x' % crc32(body, int(head[1]))


def parsed(content: bytes, number: int) -> DriveHistory:
    """Return the history in the content of a file. number: of the drive's record.

    Raises Damaged for content that this program would not write, and Newer.
    """
    if not is_intact(content):
        raise Damaged
    head, _, body = content.partition(b'\n')
    if int(head.split()[2]) > VERSION:
        raise Newer
    if _LONG_NUMBER.search(body):
        raise Damaged
    try:
        return _drive(json.loads(body), number)
    except Exception:  # whatever a forged file causes
        raise Damaged from None


def _drive(document: Mapping[str, Any], number: int) -> DriveHistory:
    """Return the history in a document as _text() writes it. Raises Damaged, or any exception for
    content with another structure.
    """
    first, last, behind_since, order = _checked((0,) * 4, document['times'])
    rows = document['series']
    places = document['places']
    aliases = document['aliases']
    if len(rows) > MOST_SERIES or max(len(places), len(aliases)) > MOST_PLACES:
        raise Damaged
    stored = {}
    for *fields, point_rows in rows:
        metric, definition, pace, last_seen = _checked(('', '', 0, 0), fields)
        if pace > series.LATELY:
            raise Damaged
        points = _points(point_rows, first, most_of(definition))
        stored[Key(metric, definition)] = Series(pace, points, last_seen)
    identity = Identity(*_checked(_IDENTITY, document['identity']))
    return DriveHistory(
        record=Record(number, identity, first_read=first, last_read=last, order=order),
        # The number of the file counts, not the drive number that is stored with a place.
        places=tuple(
            DrivePlace(*_checked(_PLACE, fields))._replace(drive=number)
            for fields in places
        ),
        verdict=_verdict(document['verdict']),
        series=stored,
        behind_since=behind_since,
        aliases=tuple(Alias(*_checked(('', False), fields)) for fields in aliases),
    )


def _verdict(stored: Sequence[Any]) -> LastVerdict:
    """Return the verdict that _verdict_fields() wrote. Raises Damaged, or another exception for other
    data.
    """
    *facts, rows = stored
    time, family, is_disk = _checked((0, '', False), facts)
    if len(rows) > MOST_FINDINGS:
        raise Damaged
    findings = []
    for *fields, number in rows:
        state, metric, words, remedy, ends = _checked((0, '', '', '', 0), fields)
        if state not in (State.WARNING, State.CRITICAL) or not _is_small_enough(number):
            raise Damaged
        findings.append(
            LastFinding(State(state), metric, words, number, remedy=remedy, ends=ends)
        )
    return LastVerdict(time, tuple(findings), family=family, is_disk=is_disk)


def _checked(examples: Sequence[object], values: Sequence[Any]) -> Sequence[Any]:
    """Return the values if each has the type of its example and a plausible size; raise Damaged
    otherwise.
    """
    if list(map(type, values)) != list(map(type, examples)):
        raise Damaged
    for value in values:
        if isinstance(value, str) and len(value) > LONGEST_STATEMENT:
            raise Damaged
        if isinstance(value, int) and not 0 <= value <= LATEST:
            raise Damaged
    return values


def _points(rows: Sequence[Any], first_read: int, largest: float) -> tuple[Point, ...]:
    """Return the points that _point_fields() wrote. first_read: of the drive. largest: the largest
    number that the series can have. Raises Damaged, or TypeError for a number that is none.
    """
    points = []
    time = first_read
    previous = -1
    for seconds, number, *rest in rows:
        gap = rest[0] if rest else seconds  # left out if it equals the seconds
        if type(seconds) is not int or type(gap) is not int:
            raise Damaged
        time += seconds
        is_later = previous < time <= LATEST
        if not (is_later and 0 <= gap <= LATEST and 0 <= number <= largest):
            raise Damaged
        points.append(Point(time, float(number), gap))
        previous = time
    return tuple(points)


def most_of(definition: str) -> float:
    """Return the largest number that a series can have: less for percentages than for counters.

    definition: a text that ends with the unit, see past.key().
    """
    return HIGHEST_PERCENTAGE if definition[-1:] == '%' else HIGHEST_STORED


# --- changes ------------------------------------------------------------------------------------


def with_readings(
    drive: DriveHistory,
    identity: Identity,
    observations: Sequence[Observation],
    verdict: LastVerdict,
    now: int,
) -> DriveHistory:
    """Return the history with the readings of a check. now: the time of the check.

    last read   now     result
    10:05       10:04   the history as it is, because another check has run at the same time
                        (within _SAME_TIME) and has stored its readings
    10:05       10:00   the clock is behind: the readings are stored with the time 10:05:01
    day 9       day 3   the clock has been more than SLACK behind for a day: later times in the
                        history become the second before *now*, and the readings are stored with
                        the time *now*
    10:00       10:05   the usual case: the readings are stored with the time *now*

    The first readings of a drive are stored with the time *now* in each case.
    """
    # The check that creates a record sets last_read to its own time, before it stores readings.
    has_readings = bool(drive.series)
    seconds_ahead = drive.record.last_read - now
    if has_readings and 0 <= seconds_ahead < _SAME_TIME:
        return drive
    # If the clock has been more than SLACK behind for a day, last_read is now before *now*.
    dated = _with_right_times(drive, now)
    last_read = dated.record.last_read
    stored_at = now
    # If the clock is behind, the time must still be after the last one.
    if has_readings and last_read >= now:
        stored_at = last_read + 1
    return dated._replace(
        record=_read_again(dated.record, identity, stored_at),
        series=_with_observations(dated, observations, stored_at),
        verdict=verdict,
    )


def _with_observations(
    drive: DriveHistory, observations: Sequence[Observation], now: int
) -> AllSeries:
    """Return all series of a drive after a check, those without a number of this check included.

    A series with a number of this check is as _grown() returns it. Each other series keeps its
    points, and its last_seen is the time when its number was last read.
    """
    before = drive.histories
    after = {
        key: stored._replace(last_seen=before[key].last_read)
        for key, stored in drive.series.items()
    }
    for observation in filter(_is_storable, observations):
        key = observation.key
        after[key] = _grown(before.get(key), observation, now)
    return after


def _is_storable(observation: Observation) -> bool:
    """Return whether a later check accepts a number that is stored now."""
    is_short = max(map(len, observation.key)) <= LONGEST_STATEMENT
    return is_short and 0 <= observation.number <= most_of(observation.key.definition)


def _grown(before: History | None, observation: Observation, now: int) -> Series:
    """Return a series with a number of this check. before: the series until now; None: it is new.

    The last_seen of the result is 0: its number was last read when the drive was last read.
    """
    pace = observation.pace
    number = float(observation.number)
    if before is None:
        return Series(pace, (Point(now, number, observation.gap),))
    last_read = before.last_read
    if observation.gap:
        # The caller knows better than the series when the previous number was last seen.
        last_read = now - observation.gap
    history = History(before.points, last_read)
    points = series.extended(pace, history, number=number, now=now)
    if pace == series.LATELY:
        points = series.peaks_of_day(points, now)
    return Series(pace, points)


def _read_again(record: Record, identity: Identity, now: int) -> Record:
    """Return the record with the identity that this check has read. Of the earlier identity, the
    protocol, the serial number, the WWN and a longer model stay.
    """
    before = record.identity
    after = identity._replace(
        protocol=before.protocol,
        model=max(before.model, identity.model, key=len),
        serial=before.serial or identity.serial,
        wwn=before.wwn or identity.wwn,
    )
    return record._replace(identity=after, last_read=now)


def _with_right_times(drive: DriveHistory, now: int) -> DriveHistory:
    """Return the history with its times corrected if the clock was ahead when they were stored.

    A clock that is more than SLACK behind the history is wrong now, or was wrong before. These
    cases cannot be distinguished at once, so a clock that stays behind for a day is considered
    right.
    """
    if not is_behind(drive.record.last_read, now):
        return drive._replace(behind_since=0)
    is_plausible = EARLIEST <= drive.behind_since <= now
    # such as 0: this check is the first that finds the clock behind
    if not is_plausible:
        return drive._replace(behind_since=now)
    if now - drive.behind_since < DAY:
        return drive
    return _limited(drive, latest=now - 1)


def _limited(drive: DriveHistory, latest: int) -> DriveHistory:
    """Return the history of a drive that was last read after *latest*, with *latest* instead of
    each later time. The clock is then no longer behind. The verdict is as before: the next one
    replaces it.
    """
    record = drive.record
    places = [
        place._replace(first=min(place.first, latest), gone=min(place.gone, latest))
        for place in drive.places
    ]
    all_series = {}
    for key, stored in drive.series.items():
        points = _not_after(stored.points, latest)
        all_series[key] = Series(stored.pace, points, min(stored.last_seen, latest))
    return drive._replace(
        record=record._replace(
            first_read=min(record.first_read, latest), last_read=latest
        ),
        places=tuple(places),
        series=all_series,
        behind_since=0,
    )


def _not_after(points: Sequence[Point], latest: int) -> tuple[Point, ...]:
    """Return the points before *latest*, in seconds since 1970. If there are points at *latest* or
    later, the newest of them follows, with *latest* as its time.

    points: oldest first.
    """
    earlier = tuple(point for point in points if point.time < latest)
    if len(earlier) == len(points):
        return earlier
    # The time of this point was wrong, so its gap is not known.
    return (*earlier, points[-1]._replace(time=latest, gap=0))


def is_behind(last_read: int, now: int) -> bool:
    """Return whether the clock is so far behind a history that it, or an earlier one, is wrong."""
    return now < last_read - SLACK


def split(drive: DriveHistory) -> tuple[DriveHistory, AllSeries]:
    """Return the history without the older points of series that change all the time, and these
    points.
    """
    kept = dict(drive.series)
    older = {}
    for key, stored in drive.series.items():
        if stored.pace in (series.DAILY, series.HIGHEST) and len(stored.points) > 1:
            older[key] = stored._replace(points=stored.points[:-1])
            kept[key] = stored._replace(points=stored.points[-1:])
    return drive._replace(series=kept), older


def joined(before: AllSeries, newer: AllSeries, now: int) -> dict[Key, Series]:
    """Return the series to store in NUMBER.days, thinned: those that it has (*before*), with the
    points that leave NUMBER.drive (*newer*). now: seconds since 1970.
    """
    result = dict(before)
    for key, stored in newer.items():
        old_points = before[key].points if key in before else ()
        by_time = {point.time: point for point in (*old_points, *stored.points)}
        points = _not_after(sorted(by_time.values()), now + SLACK)
        thin = thinned(points, _monthly_until(points, now), stored.pace)
        result[key] = stored._replace(points=tuple(thin))
    return result


def thinned_file(drive: DriveHistory, now: int, is_new_day: bool) -> DriveHistory:
    """Return the history with fewer old points, and without places left long ago.

    is_new_day: this is the first check of a day; only then, or with many changes, are old points
    reduced to one per month.
    """
    kept = {
        key: _thinned_series(stored, now, is_new_day)
        for key, stored in drive.series.items()
    }
    long_ago = now - series.KEPT_DAILY
    places = [
        place for place in drive.places if not place.gone or place.gone > long_ago
    ]
    if len(places) > MOST_PLACES:
        # The places that the drive has left come first, so they are dropped first.
        left_first = sorted(places, key=lambda place: place.gone == 0)
        places = left_first[-MOST_PLACES:]
    return drive._replace(series=kept, places=tuple(places))


def _thinned_series(stored: Series, now: int, is_new_day: bool) -> Series:
    """Return a series with fewer old points, or as it is.

    At each check, a series of changes with more than MANY points keeps one point of each month
    before _monthly_until(), then one of each day until KEPT_WHOLE seconds ago, and all newer
    points.

    At the first check of a day, any other series keeps one point of each month before
    _monthly_until(), and all newer points. At later checks, it stays as it is.
    """
    points = stored.points
    has_many_changes = stored.pace == series.CHANGE and len(points) > series.MANY
    if not (is_new_day or has_many_changes):
        return stored
    monthly_until = _monthly_until(points, now)
    whole_since = monthly_until
    if has_many_changes:
        whole_since = now - KEPT_WHOLE
    older = [point for point in points if point.time < whole_since]
    # The points are sorted by time, so the newer ones follow the older ones.
    newer = points[len(older) :]
    fewer = thinned(older, monthly_until, stored.pace)
    return stored._replace(points=(*fewer, *newer))


def _monthly_until(points: Sequence[Point], now: int) -> int:
    """Return the time until which the caller reduces the points to one of each month: the end of
    the first month that has two points, because the months before it are already reduced. It is
    never later than KEPT_DAILY ago, which is also the result if no month has two points.

    So a check reduces one month only, and a wrong clock cannot reduce all of them at once. If
    KEPT_DAILY ago is in November:

    months of the points          result
    Jan, Feb, Feb, Mar, Mar, Apr  the end of February
    Jan, Feb, Mar, Dec, Dec       KEPT_DAILY ago
    Jan, Feb, Mar                 KEPT_DAILY ago
    """
    long_ago = now - series.KEPT_DAILY
    months = [point.time // MONTH for point in points]
    for month, next_month in zip(months, months[1:]):
        if month == next_month:
            end_of_month = (month + 1) * MONTH
            return min(end_of_month, long_ago)
    return long_ago


def thinned(points: Sequence[Point], monthly_until: int, pace: int) -> list[Point]:
    """Return the points to keep: one of each month until *monthly_until*, then one of each day.

    pace: of the series. For HIGHEST, the highest point is kept; otherwise the last point, whose
    number still applies afterwards.
    """
    kept: dict[tuple[int, int], Point] = {}  # by length and number of the period
    for point in points:
        span = MONTH if point.time < monthly_until else DAY
        period = (span, point.time // span)
        before = kept.get(period)
        is_higher = before is None or point.number > before.number
        if pace != series.HIGHEST or is_higher:
            kept[period] = point
    return list(kept.values())
