"""smartd's attribute logs, which most machines have kept for years: what they tell of a drive, for history's first day.

logrotate renames and compresses them: all files of a drive are read, each row once, by time.

Source: smartmontools 7.3, smartd.cpp, write_dev_attrlog(): a line for each time that smartd has looked,
"2026-11-22 00:15:32;<tab>5;100;0;<tab>9;95;22184;" of ATA drives (number, value, raw) and
"2026-11-22 00:15:32;<tab>read-total-unc-errors;0;<tab>temperature;46;" of SCSI drives. The time is local, whatever the
man page says, so an hour of autumn stands there twice; a drive's own hours tell which came first.
"""

import heapq
import io
import os
import re
import stat
import time
from collections import Counter
from typing import BinaryIO, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

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
_SLACK = 2 * HOUR         # two hours stand in one place in autumn, and hours are whole ones
# Bytes read of the logs of a drive at most, the newest: 3 s of CPU. smartd writes half of it in 400 days, a line each
# half hour.
_LARGEST = 12 * 2 ** 20
_UNPACKED = 48 * 2 ** 20   # bytes that the compressed logs of a drive may have in all: ten years of rotated ones
_MOST_FILES = 1000         # logs of a drive: 400 days of daily rotation, and as many copies
_LONGEST = 2 ** 16         # bytes of a line: 255 attributes of 32 take an eighth of it
# logrotate appends a number or a date and the ending of what compresses, or puts both before ".csv" ("extension").
_NAME = re.compile(r'(?P<log>attrlog\.(?P<drive>.+)\.(?:ata|scsi))(?:[.-][0-9]+(?:-[0-9]+)*)?\.csv(?:[.~-].*)?')
_STAMP = re.compile(r'(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)')
_ATA = re.compile(r'(\d{1,3});(\d{1,3});(\d{1,20})')
_SCSI = re.compile(r'([a-z][a-z-]{1,60});(-?\d{1,20}(?:\.\d{1,9})?)')


class Row(NamedTuple):
    """What smartd saw at one time."""

    time: int                               # seconds since 1970
    ata: Mapping[int, Tuple[int, int]]      # attribute -> value, raw as in JSON's raw.value
    scsi: Mapping[str, float]               # counter -> number
    before: int = 0                         # the time of the line before it; 0: this is the first


class Fault(NamedTuple):
    """Why a log was not read, or not read whole."""

    path: str
    words: str              # "is damaged (...); the lines before the damage were read"


class Log(NamedTuple):
    """What is to be learned from the logs of a drive."""

    rows: Tuple[Row, ...]   # oldest first: where something changed, and one of each day
    read: int               # lines
    damaged: int            # lines that were skipped
    left_out: int = 0       # bytes that were not read, older than the others
    faults: Tuple[Fault, ...] = ()


class _Line(NamedTuple):
    time: int
    cells: Tuple[str, ...]


def logs(folder: str = '') -> List[str]:
    """Return the paths of all logs in a folder, smartd's own; none where there is none or it cannot be read."""
    folder = folder or FOLDER
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if _NAME.fullmatch(name)]
    except OSError:
        return []


def logs_of(identity: Identity, paths: Iterable[str]) -> List[str]:
    """Return the logs of a drive, none where two drives have the same name: smartd makes it of model and serial number,
    with _ and - for other signs.
    """
    wanted = _signs(identity.model + identity.serial)
    found = [(name['log'], path) for path in paths for name in [_NAME.fullmatch(os.path.basename(path))] if name
             and _signs(name['drive']) == wanted]
    return [path for _, path in found] if len({log for log, _ in found}) == 1 and identity.serial else []


def ending(path: str) -> str:
    """Return the end of the name of a log, which does not name the drive: ".csv.2.gz"."""
    name = os.path.basename(path)
    found = _NAME.fullmatch(name)
    return name[len(found['log']):] if found else ''


def _signs(text: str) -> str:
    return re.sub(r'[^0-9A-Za-z]', '', text)


def read(paths: Sequence[str], now: int, age: int = KEPT_DAILY) -> Log:
    """Return what the logs of a drive tell of the last *age* seconds. What cannot be read is in Log.faults."""
    parts: List[Sequence[_Line]] = []
    faults: List[Fault] = []
    room, unpacked, damaged, left_out = _LARGEST, _UNPACKED, 0, 0
    newest_first = sorted(paths, key=_written, reverse=True)
    for path in newest_first[:_MOST_FILES]:
        part = _part(path, _stamp(now - age), room, unpacked)
        room, unpacked = room - part.size, unpacked - part.unpacked
        damaged, left_out = damaged + part.damaged, left_out + part.left_out
        parts.append(part.lines)
        faults += [Fault(path, part.fault)] if part.fault else []
    lines = _merged(parts, now)
    faults += [Fault(path, f'was not read: this drive has more than {_MOST_FILES} logs')
               for path in newest_first[_MOST_FILES:][:1]]
    dated = [line for line in _dated(lines, now) if line.time >= now - age]
    return Log(tuple(_telling(dated)), len(lines), damaged, left_out, tuple(faults))


def begun(paths: Sequence[str], now: int, age: int = KEPT_DAILY) -> Optional[int]:
    """Return since when logs tell something of the last *age* seconds, None where nothing, or nothing readable."""
    moments = (_first_moment(path) for path in sorted(paths, key=_written))
    return next((max(moment, now - age) for moment in moments if moment is not None and moment <= now), None)


def _first_moment(path: str) -> Optional[int]:
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


class _Part(NamedTuple):
    """The lines of one file."""

    lines: Sequence[_Line] = ()
    damaged: int = 0
    size: int = 0          # bytes that were read
    unpacked: int = 0      # bytes that it unpacked to, or that were read for it
    left_out: int = 0      # bytes that were not read, older than the others
    fault: str = ''


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
    except unpacking.TooLarge:
        return _Part(fault=f'was not read: the compressed logs of this drive hold more than {_UNPACKED >> 20} MiB; '
                           f'remove what does not belong there')
    found = _newest(io.BytesIO(text), len(text), stamp, room)
    return found._replace(unpacked=max(len(text), size), fault=fault or found.fault)


def _newest(file: BinaryIO, size: int, stamp: str, room: int) -> _Part:
    start = _start(file, size, stamp)
    left_out = max(size - start - room, 0)
    file.seek(start + left_out)
    text = file.read(room).decode('ascii', 'replace')
    lines, damaged = _lines(text.partition('\n')[2] if left_out else text)
    return _Part(lines, damaged, len(text), left_out=left_out,
                 fault='was not read: it holds no line of smartd' if damaged and not lines else '')


def _merged(parts: Sequence[Sequence[_Line]], now: int) -> List[_Line]:
    """Return the lines of several files by time, each once. Those of one file stay in their order."""
    return list(dict.fromkeys(line for _, line in heapq.merge(
        *(_with_times(lines, now) for lines in parts), key=lambda pair: pair[0])))


def _with_times(lines: Iterable[_Line], now: int) -> Iterator[Tuple[int, _Line]]:
    """Yield each line after its time; a line of the future, of a clock gone wrong, after that of the line before it."""
    before = 0
    for line in lines:
        before = line.time if line.time <= now else before
        yield before, line


def _opened(path: str) -> BinaryIO:
    """Open a file, and nothing that another one may be waiting behind. Raises OSError, HistoryUnusable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise HistoryUnusable('was not read: it is not a regular file')
    return os.fdopen(descriptor, 'rb')


def points(found: Iterable[Tuple[Row, Iterable[Observation]]]) -> Dict[Tuple[Key, int], List[Point]]:
    """Return the points of the series that the rows give through a drive's own entry, as HistoryStore.keep_past()
    takes them.
    """
    gathered: Dict[Tuple[Key, int], List[Point]] = {}
    for row, observations in found:
        for key, number, pace in observations:
            before = gathered.setdefault((key, pace), [])
            point = next_point(pace, History(tuple(before[-1:]), row.before or row.time), number, row.time)
            if point and before and point.time == before[-1].time:
                before[-1] = point
            elif point:
                before.append(point)
    return gathered


# --- lines -----------------------------------------------------------------------------

def _start(file: BinaryIO, size: int, stamp: str) -> int:
    """Return where the first line of *stamp* or later begins, found by halving; a little before it does no harm."""
    low, high = 0, size
    while high - low > 4096:
        middle = (low + high) // 2
        file.seek(middle)
        file.readline(_LONGEST)
        found = file.readline(4096)[:STAMP].decode('ascii', 'replace')
        if _STAMP.fullmatch(found) and found < stamp:
            low = middle
        else:
            high = middle
    file.seek(low)
    return low + len(file.readline()) if low else 0


def _lines(text: str) -> Tuple[List[_Line], int]:
    """Return the lines that are whole, in the file's order, and how many are not."""
    found, damaged = [], 0
    cells = _Cells()
    for line in text.splitlines():
        stamp, *parts = line[:_LONGEST].rstrip('\t').rstrip(';').split(';\t')
        moment = _moment(stamp)
        try:
            if moment is None or len(line) > _LONGEST or not line.rstrip('\t').endswith(';'):
                raise KeyError(line)
            found.append(_Line(moment, tuple(map(cells.__getitem__, parts))))
        except KeyError:
            damaged += 1
    return found, damaged


class _Cells(Dict[str, str]):
    """The cells of a log by their texts. Most repeat from line to line; each is looked at once. KeyError where one is
    damaged.
    """

    def __missing__(self, text: str) -> str:
        if not (_ATA.fullmatch(text) or _SCSI.fullmatch(text)):
            raise KeyError(text)
        return self.setdefault(text, text)


def _moment(stamp: str) -> Optional[int]:
    """Return a local time as seconds since 1970, None where it is none."""
    found = _STAMP.fullmatch(stamp)
    try:
        return int(time.mktime((*map(int, found.groups()), 0, 0, -1))) if found else None  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return None


def _stamp(moment: int) -> str:
    return time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(moment))


# --- order and times -------------------------------------------------------------------

def _dated(lines: Sequence[_Line], now: int) -> Iterator[_Line]:
    """Yield the lines in the order of the drive's own hours, at times that a clock gone wrong cannot have made up.

    A drive cannot have run for longer than time has passed: a line that claims to be later than the newest one less the
    hours between them, or not to be later than the one before it, is dated by the hours. Of a drive whose log tells no
    hours, lines of the future are left out: nothing tells when they were written.
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


def _hours(lines: Sequence[_Line]) -> List[int]:
    """Return the low 32 bits of attribute 9 of each line, which count hours; zeros where a line has none, as of SCSI
    drives.
    """
    found = [next((cell.rpartition(';')[2] for cell in line.cells if cell.startswith(HOURS + ';')), '')
             for line in lines]
    return [int(raw) & 0xFFFFFFFF for raw in found] if all(found) else [0] * len(lines)


# --- choice ------------------------------------------------------------------------------

def _telling(lines: List[_Line]) -> Iterator[Row]:
    """Yield the lines in which something changed that does not change all the time, and the first of each day."""
    changed = [_changed(before, line) for before, line in zip(lines[:1] + lines[:-1], lines)]
    counts = Counter(name for names in changed for name in names)
    rare = {name for name, count in counts.items() if count <= MANY}
    day, last = -1, 0
    for line, names in zip(lines, changed):
        if line.time // DAY != day or not rare.isdisjoint(names):
            yield _row(line, last)
        day, last = line.time // DAY, line.time


def _changed(before: _Line, line: _Line) -> List[str]:
    """Return the names of the cells that are not as in the line before."""
    return [cell.partition(';')[0] for cell in {*line.cells}.difference(before.cells)]


def _row(line: _Line, before: int) -> Row:
    ata, scsi = {}, {}
    for cell in line.cells:
        name, *numbers = cell.split(';')
        if len(numbers) == 2:
            ata[int(name)] = (int(numbers[0]), int(numbers[1]))
        else:
            scsi[name] = float(numbers[0])
    return Row(line.time, ata, scsi, before)
