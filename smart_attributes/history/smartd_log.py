"""Read the attribute logs of smartd, which many machines have kept for years, to fill the history
of a drive.

logrotate renames and compresses the logs, so all files of a drive are read. Each row is used once,
in order of time.

Source: smartmontools 7.3, smartd.cpp, write_dev_attrlog(): one line for each time that smartd reads
a drive, "2026-11-22 00:15:32;<tab>5;100;0;<tab>9;95;22184;" for ATA drives (number, value, raw) and
"2026-11-22 00:15:32;<tab>read-total-unc-errors;0;<tab>temperature;46;" for SCSI drives. Since 7.5,
also "<tab>percentage-used;3;" and the other fields of the health log for NVMe drives, in the log's
units, a temperature in degrees Celsius. The time is local, although the man page of 7.3 says
otherwise, so one hour in autumn occurs twice. The drive's power-on hours show which line came first.
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

from ..constants import (
    DAY,
    HOUR,
    LARGEST_SMARTD_LOGS,
    LARGEST_UNPACKED_LOGS,
    LONGEST_SMARTD_LINE,
    MOST_SMARTD_LOGS,
)
from ..errors import HistoryUnusable
from ..model import Identity
from . import unpacking
from .series import KEPT_DAILY, MANY, History, Key, Observation, Point, extended

FOLDER = '/var/lib/smartmontools'
STAMP = 19  # characters of the time at the start of each line
HOURS = ('9;', 'power-on-hours;')  # the cells that order the lines
# The columns of a SCSI error counter log ("read-corr-by-ecc-fast"), in the order of the standard.
# gb: 10^9 bytes.
ERROR_COUNTERS = (
    'corr-by-ecc-fast',
    'corr-by-ecc-delayed',
    'corr-by-retry',
    'total-err-corrected',
    'corr-algorithm-invocations',
    'gb-processed',
    'total-unc-errors',
)
# in autumn, two hours have the same local time, and a drive counts only whole hours
_SLACK = 2 * HOUR
# logrotate appends a number or a date, and the compressor's suffix. With "extension", it puts both
# before ".csv".
_NAME = re.compile(
    r'(?P<log>attrlog\.(?P<drive>.+)\.(?:ata|scsi|nvme))(?:[.-][0-9]+(?:-[0-9]+)*)?\.csv(?:[.~-].*)?'
)
_STAMP = re.compile(r'(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)')
# the end of the name if smartd monitors one namespace: "attrlog.MODEL-SERIAL-n1.nvme.csv"
_NAMESPACE = re.compile(r'-n[0-9]{1,10}$')
_ATA = re.compile(r'(\d{1,3});(\d{1,3});(\d{1,20})')
_NAMED = re.compile(r'([a-z][a-z-]{1,60});(-?\d{1,20}(?:\.\d{1,9})?)')


class LogRow(NamedTuple):
    """The readings that smartd logged at one time."""

    time: int  # seconds since 1970
    ata: Mapping[int, tuple[int, int]]  # attribute -> value, raw number (raw.value in JSON)
    # of SCSI and NVMe drives, by smartd's name: counter -> number
    named: Mapping[str, float]
    before: int = 0  # time of the previous line; 0: this is the first line


class Log(NamedTuple):
    """The content of a drive's logs."""

    rows: tuple[LogRow, ...]  # oldest first: rows with a change, and one row of each day
    read: int  # number of lines read
    damaged: int  # number of lines skipped
    left_out: int  # number of bytes not read, all older than the rest
    # the logs that were not read completely, each with the reason: "is damaged (...)"
    faults: tuple[tuple[str, str], ...]


class _Line(NamedTuple):
    time: int
    cells: tuple[str, ...]


class _Part(NamedTuple):
    """The lines of one file."""

    lines: Sequence[_Line] = ()
    damaged: int = 0
    size: int = 0  # bytes that were read
    unpacked: int = 0  # bytes after unpacking, or bytes read to unpack the file
    left_out: int = 0  # number of bytes not read, all older than the rest
    fault: str = ''


def logs(folder: str = '') -> list[str]:
    """Return the paths of all logs in a folder (default: smartd's); [] if it has no logs or
    cannot be read.
    """
    folder = folder or FOLDER
    try:
        names = sorted(filter(_NAME.fullmatch, os.listdir(folder)))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names]


def logs_of(identity: Identity, paths: Iterable[str]) -> list[str]:
    """Return the logs of a drive; [] if no logs match, or if logs of two drives match.

    smartd names a log after the model and the serial number, with special characters replaced by _
    or -, and after the namespace if it monitors only one.
    """
    drive = _plain(identity.model + identity.serial)
    own = {}
    for path in paths:
        match = _NAME.fullmatch(os.path.basename(path))
        if match and drive in _drives(match):
            own[path] = match['log']
    is_one = len(set(own.values())) == 1
    return list(own) if is_one and identity.serial else []


def _drives(match: re.Match[str]) -> tuple[str, str]:
    """Return the drive in the name of a log, with and without a namespace."""
    whole = match['drive']
    is_nvme = match['log'].endswith('.nvme')
    return _plain(whole), _plain(_NAMESPACE.sub('', whole) if is_nvme else whole)


def _plain(text: str) -> str:
    return re.sub(r'[^0-9A-Za-z]', '', text)


def ending(path: str) -> str:
    """Return the part of a log's file name that follows the name of the drive, such as
    ".csv.2.gz".
    """
    name = os.path.basename(path)
    match = _NAME.fullmatch(name)
    return name[len(match['log']) :] if match else ''


def read(paths: Sequence[str], now: int) -> Log:
    """Return the last KEPT_DAILY seconds of a drive's logs.

    Files that cannot be read are listed in Log.faults.
    """
    start = now - KEPT_DAILY
    stamp = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(start))
    newest_first = sorted(paths, key=_written, reverse=True)
    parts: dict[str, _Part] = {}
    room, unpacked = LARGEST_SMARTD_LOGS, LARGEST_UNPACKED_LOGS
    for path in newest_first[:MOST_SMARTD_LOGS]:
        part = _part(path, stamp, room=room, unpacked=unpacked)
        parts[path] = part
        room -= part.size
        unpacked -= part.unpacked
    faults = [(path, part.fault) for path, part in parts.items() if part.fault]
    if len(newest_first) > MOST_SMARTD_LOGS:
        reason = f'was not read: this drive has more than {MOST_SMARTD_LOGS} logs'
        faults.append((newest_first[MOST_SMARTD_LOGS], reason))
    lines = _merged([part.lines for part in parts.values()], now)
    rows = _telling([line for line in _dated(lines, now) if line.time >= start])
    return Log(
        tuple(rows),
        len(lines),
        damaged=sum(part.damaged for part in parts.values()),
        left_out=sum(part.left_out for part in parts.values()),
        faults=tuple(faults),
    )


def begun(paths: Sequence[str], now: int) -> int | None:
    """Return the time of the first reading within the last KEPT_DAILY seconds, as seconds since
    1970; None if unreadable.
    """
    for path in sorted(paths, key=_written):
        moment = _first_moment(path)
        if moment is not None and moment <= now:
            return max(moment, now - KEPT_DAILY)
    return None


def _first_moment(path: str) -> int | None:
    """Return the time of the first line of a log; None if it cannot be read."""
    try:
        with _opened(path) as file:
            is_packed = unpacking.kind(file) != ''
            first = next(unpacking.pieces(file), b'') if is_packed else file.readline(STAMP)
    except (OSError, EOFError, HistoryUnusable):
        return None
    return _moment(first[:STAMP].decode('ascii', 'replace'))


def _written(path: str) -> float:
    """Return when a log was last written (rotation and compression preserve this time); 0 if it
    no longer exists.
    """
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0


def _part(
    path: str,
    stamp: str,
    room: int,
    unpacked: int,
) -> _Part:
    """Return the lines of a file from *stamp* on. room, unpacked: the maximum number of bytes to
    read and to unpack.
    """
    try:
        with _opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            if not unpacking.kind(file):
                return _newest(file, size, stamp=stamp, room=room)
            text, fault = unpacking.content(file, size, unpacked)
    except OSError as error:
        return _Part(fault=f'was not read: {error.strerror}; run this as a user who can read it')
    except HistoryUnusable as error:
        return _Part(fault=str(error))
    except unpacking.UnpackedTooLarge:
        return _Part(
            fault=f'was not read: the compressed logs of this drive hold more than '
            f'{LARGEST_UNPACKED_LOGS >> 20} MiB; remove files that do not belong there'
        )
    part = _newest(io.BytesIO(text), len(text), stamp=stamp, room=room)
    return part._replace(unpacked=max(len(text), size), fault=fault or part.fault)


def _newest(
    file: BinaryIO,
    size: int,
    stamp: str,
    room: int,
) -> _Part:
    """Return the lines of a log from *stamp* on, at most its last *room* bytes."""
    start = _start(file, size, stamp)
    left_out = max(size - start - room, 0)
    file.seek(start + left_out)
    text = file.read(room).decode('ascii', 'replace')
    lines, damaged = _lines(text.partition('\n')[2] if left_out else text)
    is_foreign = damaged > 0 and not lines
    return _Part(
        lines,
        damaged,
        size=len(text),
        left_out=left_out,
        fault='was not read: it contains no line of smartd' if is_foreign else '',
    )


def _opened(path: str) -> BinaryIO:
    """Open a regular file.

    Raises OSError, or HistoryUnusable for any other file, which could block the check.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise HistoryUnusable('was not read: it is not a regular file')
    return os.fdopen(descriptor, 'rb')


def _start(file: BinaryIO, size: int, stamp: str) -> int:
    """Find the position of the first line from *stamp* on by bisection; the position can be
    slightly too early.
    """
    low, high = 0, size
    while high - low > 4096:
        middle = (low + high) // 2
        file.seek(middle)
        file.readline(LONGEST_SMARTD_LINE)
        text = file.readline(4096)[:STAMP].decode('ascii', 'replace')
        if _STAMP.fullmatch(text) and text < stamp:
            low = middle
        else:
            high = middle
    file.seek(low)
    return low + len(file.readline()) if low else 0


def _lines(text: str) -> tuple[list[_Line], int]:
    """Return the valid lines in the order of the file, and the number of damaged lines."""
    lines = []
    damaged = 0
    cells = _Cells()
    for text_line in text.splitlines():
        line = _line(text_line.rstrip('\t'), cells)
        if line:
            lines.append(line)
        else:
            damaged += 1
    return lines, damaged


def _line(text: str, cells: _Cells) -> _Line | None:
    """Return a line of a log; None if it is damaged."""
    if len(text) > LONGEST_SMARTD_LINE or not text.endswith(';'):
        return None
    stamp, *parts = text.rstrip(';').split(';\t')
    moment = _moment(stamp)
    if moment is None:
        return None
    try:
        return _Line(moment, tuple(cells[part] for part in parts))
    except KeyError:
        return None


class _Cells(dict[str, str]):
    """Cache of a log's cells, most of which repeat from line to line.

    Raises KeyError for an invalid cell.
    """

    def __missing__(self, text: str) -> str:
        if not (_ATA.fullmatch(text) or _NAMED.fullmatch(text)):
            raise KeyError(text)
        self[text] = text
        return text


def _moment(stamp: str) -> int | None:
    """Return a local time as seconds since 1970, or None if the text is not a valid time."""
    match = _STAMP.fullmatch(stamp)
    if not match:
        return None
    year, month, day, hour, minute, second = map(int, match.groups())
    try:
        return int(time.mktime((year, month, day, hour, minute, second, 0, 0, -1)))
    except (ValueError, OverflowError):
        return None


def _merged(parts: Sequence[Sequence[_Line]], now: int) -> list[_Line]:
    """Return the lines of several files in order of time, without duplicates.

    Each file keeps its own order.
    """

    def with_times(lines: Iterable[_Line]) -> Iterator[tuple[int, _Line]]:
        """Yield each line with its time; a line with a time in the future gets the time of the
        previous line.
        """
        before = 0
        for line in lines:
            before = line.time if line.time <= now else before
            yield before, line

    in_order = heapq.merge(*map(with_times, parts), key=lambda pair: pair[0])
    return list(dict.fromkeys(line for _, line in in_order))


def _dated(lines: Sequence[_Line], now: int) -> Iterator[_Line]:
    """Yield the lines in order of the drive's power-on hours.

    Times from a wrong clock are corrected.

    Power-on time cannot exceed the time that has passed. The time of a line is calculated from its
    hours in two cases: the logged time is too late for the hours up to the newest line, or it is
    not later than the previous time. If the log has no hours, lines dated in the future are left
    out, because it is unknown when they were written.
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
    """Return the power-on hours of each line: the low 32 bits of attribute 9, or the field of the
    NVMe health log.

    All hours are 0 if any line lacks them, as with SCSI drives.
    """
    hours = []
    for line in lines:
        cells = [cell for cell in line.cells if cell.startswith(HOURS)]
        raw = cells[0].rpartition(';')[2] if cells else ''
        if not raw:
            return [0] * len(lines)
        hours.append(int(raw) & 0xFFFFFFFF)
    return hours


def _telling(lines: list[_Line]) -> Iterator[LogRow]:
    """Yield the first line of each day, and each line in which a rarely changing cell has
    changed.
    """
    changed = []
    before: tuple[str, ...] = lines[0].cells if lines else ()
    for line in lines:
        changed_cells = {*line.cells}.difference(before)
        changed.append([cell.partition(';')[0] for cell in changed_cells])
        before = line.cells
    counts = Counter(name for names in changed for name in names)
    last_day, last_time = -1, 0
    for line, names in zip(lines, changed):
        day = line.time // DAY
        if day != last_day or any(counts[name] <= MANY for name in names):
            yield _row(line, last_time)
        last_day, last_time = day, line.time


def _row(line: _Line, before: int) -> LogRow:
    ata: dict[int, tuple[int, int]] = {}
    named: dict[str, float] = {}
    for cell in line.cells:
        name, *numbers = cell.split(';')
        if len(numbers) == 2:
            value, raw = map(int, numbers)
            ata[int(name)] = (value, raw)
        else:
            (number,) = numbers
            named[name] = float(number) if '.' in number else int(number)
    return LogRow(line.time, ata, named=named, before=before)


def points(
    rows: Iterable[tuple[LogRow, Iterable[Observation]]],
) -> dict[tuple[Key, int], list[Point]]:
    """Return the points of each series and storage interval, for HistoryStore.keep_past().

    rows: log rows with the observations that the drive's database entry gives for them.
    """
    by_series: dict[tuple[Key, int], list[Point]] = {}
    for row, observations in rows:
        for key, number, pace, _ in observations:
            before = by_series.setdefault((key, pace), [])
            newest = History(tuple(before[-1:]), row.before or row.time)
            before[-1:] = extended(pace, newest, number=number, now=row.time)
    return by_series
