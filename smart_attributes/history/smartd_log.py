"""smartd's attribute logs, which most machines have kept for years: readings of a drive for history's first day.

logrotate renames and compresses them: all files of a drive are read, each row once, by time.

Source: smartmontools 7.3, smartd.cpp, write_dev_attrlog(): a line for each time that smartd has looked,
"2026-11-22 00:15:32;<tab>5;100;0;<tab>9;95;22184;" of ATA drives (number, value, raw) and
"2026-11-22 00:15:32;<tab>read-total-unc-errors;0;<tab>temperature;46;" of SCSI drives. The time is local, whatever the
man page says, so an hour of autumn is there twice; a drive's own hours show which came first.
"""
from __future__ import annotations

import heapq
import io
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

from ..constants import DAY, HOUR
from ..errors import HistoryUnusable
from ..model import Identity
from . import unpacking
from .series import KEPT_DAILY, MANY, History, Key, Observation, Point, next_point

FOLDER = '/var/lib/smartmontools'
STAMP = 19                 # characters of the time in front of each line
HOURS = '9'                # the attribute that orders the lines
# The columns of a SCSI error counter log ("read-corr-by-ecc-fast"), in the standard's order. gb: 10^9 bytes.
ERROR_COUNTERS = ('corr-by-ecc-fast', 'corr-by-ecc-delayed', 'corr-by-retry', 'total-err-corrected',
                  'corr-algorithm-invocations', 'gb-processed', 'total-unc-errors')
_SLACK = 2 * HOUR         # two hours have the same local time in autumn, and a drive counts whole hours
# Bytes read of the logs of a drive at most, the newest: 3 s of CPU. smartd writes half of it in 400 days, a line each
# half hour.
_LARGEST = 12 * 2 ** 20
_UNPACKED = 48 * 2 ** 20   # bytes that the compressed logs of a drive may have in all: ten years of rotated ones
_MOST_FILES = 1000         # logs of a drive: 400 days of daily rotation, and as many copies
_LONGEST = 2 ** 16         # bytes of a line: 255 attributes of 32 take an eighth of it
# logrotate appends a number or a date and the ending of the compressor, or puts both before ".csv" ("extension").
_NAME = re.compile(r'(?P<log>attrlog\.(?P<drive>.+)\.(?:ata|scsi))(?:[.-][0-9]+(?:-[0-9]+)*)?\.csv(?:[.~-].*)?')
_STAMP = re.compile(r'(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)')
_ATA = re.compile(r'(\d{1,3});(\d{1,3});(\d{1,20})')
_SCSI = re.compile(r'([a-z][a-z-]{1,60});(-?\d{1,20}(?:\.\d{1,9})?)')


class LogRow(NamedTuple):
    """The readings of smartd at one time."""

    time: int                               # seconds since 1970
    ata: Mapping[int, tuple[int, int]]      # attribute -> value, raw as in JSON's raw.value
    scsi: Mapping[str, float]               # counter -> number
    before: int = 0                         # the time of the line before it; 0: this is the first


class LogFault(NamedTuple):
    """Why a log was not read, or not read whole."""

    path: str
    words: str              # "is damaged (...); the lines before the damage were read"


class Log(NamedTuple):
    """The content of the logs of a drive."""

    rows: tuple[LogRow, ...]   # oldest first: where something changed, and one of each day
    read: int               # lines
    damaged: int            # lines that were skipped
    left_out: int = 0       # bytes that were not read, older than the others
    faults: tuple[LogFault, ...] = ()


class _Line(NamedTuple):
    time: int
    cells: tuple[str, ...]


class _Part(NamedTuple):
    """The lines of one file."""

    lines: Sequence[_Line] = ()
    damaged: int = 0
    size: int = 0          # bytes that were read
    unpacked: int = 0      # bytes that it unpacked to, or that were read for it
    left_out: int = 0      # bytes that were not read, older than the others
    fault: str = ''


# --- files -----------------------------------------------------------------------------

def logs(folder: str = '') -> list[str]:
    """Return the paths of all logs in a folder, smartd's own; [] where there are none or it cannot be read."""
    folder = folder or FOLDER
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if _NAME.fullmatch(name)]
    except OSError:
        return []


def logs_of(identity: Identity, paths: Iterable[str]) -> list[str]:
    """Return the logs of a drive, [] where two drives have the same name: smartd makes it of model and serial number,
    with _ and - for other signs.
    """
    def plain(text: str) -> str:
        return re.sub(r'[^0-9A-Za-z]', '', text)

    matches = ((path, _NAME.fullmatch(os.path.basename(path))) for path in paths)
    own = {path: match['log'] for path, match in matches
           if match and plain(match['drive']) == plain(identity.model + identity.serial)}
    return list(own) if len(set(own.values())) == 1 and identity.serial else []


def ending(path: str) -> str:
    """Return the end of the name of a log, which does not name the drive: ".csv.2.gz"."""
    name = os.path.basename(path)
    match = _NAME.fullmatch(name)
    return name[len(match['log']):] if match else ''


def read(paths: Sequence[str], now: int, age: int = KEPT_DAILY) -> Log:
    """Return the content of a drive's logs of the last *age* seconds. Files that cannot be read are in Log.faults."""
    stamp = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now - age))
    newest_first = sorted(paths, key=_written, reverse=True)
    parts: dict[str, _Part] = {}
    room, unpacked = _LARGEST, _UNPACKED
    for path in newest_first[:_MOST_FILES]:
        part = parts[path] = _part(path, stamp, room, unpacked)
        room, unpacked = room - part.size, unpacked - part.unpacked
    faults = [LogFault(path, part.fault) for path, part in parts.items() if part.fault]
    faults += [LogFault(path, f'was not read: this drive has more than {_MOST_FILES} logs')
               for path in newest_first[_MOST_FILES:][:1]]
    lines = _merged([part.lines for part in parts.values()], now)
    rows = _telling([line for line in _dated(lines, now) if line.time >= now - age])
    return Log(tuple(rows), len(lines), sum(part.damaged for part in parts.values()),
               sum(part.left_out for part in parts.values()), tuple(faults))


def begun(paths: Sequence[str], now: int, age: int = KEPT_DAILY) -> int | None:
    """Return since when logs have readings of the last *age* seconds, None where none is readable."""
    moments = (_first_moment(path) for path in sorted(paths, key=_written))
    return next((max(moment, now - age) for moment in moments if moment is not None and moment <= now), None)


def _first_moment(path: str) -> int | None:
    try:
        with _opened(path) as file:
            first = next(unpacking.pieces(file), b'') if unpacking.kind(file) else file.readline(STAMP)
    except (OSError, EOFError, ImportError, HistoryUnusable):
        return None
    return _moment(first[:STAMP].decode('ascii', 'replace'))


def _written(path: str) -> float:
    """Return when a log was last written to, which rotation and compression keep; 0 where it is gone."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0


def _part(path: str, stamp: str, room: int, unpacked: int) -> _Part:
    """Return the newest lines of a file, from *stamp* on. room, unpacked: bytes that may be read and unpacked."""
    try:
        with _opened(path) as file:
            name, size = unpacking.kind(file), os.fstat(file.fileno()).st_size
            if not name:
                return _newest(file, size, stamp, room)
            text, fault = unpacking.content(file, name, size, unpacked)
    except OSError as error:
        return _Part(fault=f'was not read: {error.strerror}; run this as a user who can read it')
    except HistoryUnusable as error:
        return _Part(fault=str(error))
    except unpacking.UnpackedTooLarge:
        return _Part(fault=f'was not read: the compressed logs of this drive hold more than {_UNPACKED >> 20} MiB; '
                           f'remove what does not belong there')
    part = _newest(io.BytesIO(text), len(text), stamp, room)
    return part._replace(unpacked=max(len(text), size), fault=fault or part.fault)


def _newest(file: BinaryIO, size: int, stamp: str, room: int) -> _Part:
    start = _start(file, size, stamp)
    left_out = max(size - start - room, 0)
    file.seek(start + left_out)
    text = file.read(room).decode('ascii', 'replace')
    lines, damaged = _lines(text.partition('\n')[2] if left_out else text)
    return _Part(lines, damaged, len(text), left_out=left_out,
                 fault='was not read: it holds no line of smartd' if damaged and not lines else '')


def _opened(path: str) -> BinaryIO:
    """Open a regular file, and nothing that could block the check. Raises OSError, HistoryUnusable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise HistoryUnusable('was not read: it is not a regular file')
    return os.fdopen(descriptor, 'rb')


def _start(file: BinaryIO, size: int, stamp: str) -> int:
    """Return where the first line of *stamp* or later begins, by halving; a position a little before it does no harm.
    """
    low, high = 0, size
    while high - low > 4096:
        middle = (low + high) // 2
        file.seek(middle)
        file.readline(_LONGEST)
        text = file.readline(4096)[:STAMP].decode('ascii', 'replace')
        if _STAMP.fullmatch(text) and text < stamp:
            low = middle
        else:
            high = middle
    file.seek(low)
    return low + len(file.readline()) if low else 0


# --- lines -----------------------------------------------------------------------------

def _lines(text: str) -> tuple[list[_Line], int]:
    """Return the lines that are whole, in the file's order, and how many are not."""
    lines, damaged = [], 0
    cells = _Cells()
    for line in text.splitlines():
        stamp, *parts = line[:_LONGEST].rstrip('\t').rstrip(';').split(';\t')
        moment = _moment(stamp)
        try:
            if moment is None or len(line) > _LONGEST or not line.rstrip('\t').endswith(';'):
                raise KeyError(line)
            lines.append(_Line(moment, tuple(map(cells.__getitem__, parts))))
        except KeyError:
            damaged += 1
    return lines, damaged


class _Cells(dict[str, str]):
    """The cells of a log by their texts. Most repeat from line to line; each is parsed once. KeyError for bad ones."""

    def __missing__(self, text: str) -> str:
        if not (_ATA.fullmatch(text) or _SCSI.fullmatch(text)):
            raise KeyError(text)
        return self.setdefault(text, text)


def _moment(stamp: str) -> int | None:
    """Return a local time as seconds since 1970, None for anything else."""
    match = _STAMP.fullmatch(stamp)
    try:
        return int(time.mktime((*map(int, match.groups()), 0, 0, -1))) if match else None  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return None


# --- order and times -------------------------------------------------------------------

def _merged(parts: Sequence[Sequence[_Line]], now: int) -> list[_Line]:
    """Return the lines of several files by time, each once. Those of one file stay in their order."""
    def with_times(lines: Iterable[_Line]) -> Iterator[tuple[int, _Line]]:
        """Yield each line with its time; a line of the future, of a wrong clock, with that of the line before it."""
        before = 0
        for line in lines:
            before = line.time if line.time <= now else before
            yield before, line

    return list(dict.fromkeys(line for _, line in heapq.merge(*map(with_times, parts), key=lambda pair: pair[0])))


def _dated(lines: Sequence[_Line], now: int) -> Iterator[_Line]:
    """Yield the lines in the order of the drive's own hours, at times that do not come from a wrong clock.

    A drive cannot have run for longer than time has passed: a line that claims to be later than the newest one less the
    hours between them, or not to be later than the one before it, is dated by the hours. Of a drive whose log has no
    hours, lines of the future are left out: it is unknown when they were written.
    """
    hours = _hours(lines)
    if not any(hours):
        lines = [line for line in lines if line.time <= now]
    past = [(line.time, own) for line, own in zip(lines, hours) if line.time <= now]
    if not past:
        return
    newest, newest_hours = max(past)
    before, before_hours = 0, 0
    for own, _, line in sorted(zip(hours, range(len(lines)), lines)):
        expected = newest - (newest_hours - own) * HOUR
        moment = line.time if line.time <= expected + _SLACK else expected
        if moment <= before:
            moment = before + max((own - before_hours) * HOUR, 1)
        if moment <= now:
            yield line._replace(time=moment)
            before, before_hours = moment, own


def _hours(lines: Sequence[_Line]) -> list[int]:
    """Return the low 32 bits of attribute 9 of each line, which count hours; zeros where a line has none, as of SCSI
    drives.
    """
    raws = [next((cell.rpartition(';')[2] for cell in line.cells if cell.startswith(HOURS + ';')), '')
            for line in lines]
    return [int(raw) & 0xFFFFFFFF for raw in raws] if all(raws) else [0] * len(lines)


# --- choice, and points ------------------------------------------------------------------

def _telling(lines: list[_Line]) -> Iterator[LogRow]:
    """Yield the lines in which a cell changed that does not change all the time, and the first of each day."""
    changed = [[cell.partition(';')[0] for cell in {*line.cells}.difference(before.cells)]
               for before, line in zip(lines[:1] + lines[:-1], lines)]
    counts = Counter(name for names in changed for name in names)
    day, last = -1, 0
    for line, names in zip(lines, changed):
        if line.time // DAY != day or any(counts[name] <= MANY for name in names):
            yield _row(line, last)
        day, last = line.time // DAY, line.time


def _row(line: _Line, before: int) -> LogRow:
    ata, scsi = {}, {}
    for cell in line.cells:
        name, *numbers = cell.split(';')
        if len(numbers) == 2:
            ata[int(name)] = (int(numbers[0]), int(numbers[1]))
        else:
            scsi[name] = float(numbers[0])
    return LogRow(line.time, ata, scsi, before)


def points(rows: Iterable[tuple[LogRow, Iterable[Observation]]]) -> dict[tuple[Key, int], list[Point]]:
    """Return the points of the series that the rows give through a drive's own entry, as HistoryStore.keep_past()
    takes them.
    """
    by_series: dict[tuple[Key, int], list[Point]] = {}
    for row, observations in rows:
        for key, number, pace in observations:
            before = by_series.setdefault((key, pace), [])
            point = next_point(pace, History(tuple(before[-1:]), row.before or row.time), number, row.time)
            if point and before and point.time == before[-1].time:
                before[-1] = point
            elif point:
                before.append(point)
    return by_series
