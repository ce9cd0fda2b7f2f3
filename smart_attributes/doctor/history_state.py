"""Examine the state directory: whether history exists and works, and whether an earlier process still hangs."""
from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from typing import NamedTuple

from .. import files, state_directory, trust
from ..check.history_access import for_writing
from ..command_line.options import Options
from ..errors import HistoryUnusable
from ..history import directory
from ..history.growth import duration
from ..output.doctor_findings import Finding, halves
from ..reading.drive_locks import MOST, Earlier, Waiting
from ..wording import amount, plural
from ..words import clean
from .start import AS_HIM, group_of, is_person, name_of

HISTORY, PROCESSES = 'history', 'processes'
VOLATILE = ('tmpfs', 'ramfs')
ON_DISK = '/srv'   # a directory here survives a restart even if /var/lib does not
LONG_LOG = 8 << 20   # bytes; a check leaves less than 1 MB
ROOM = 4 << 20   # bytes that the history of a few drives needs over years


class HistoryFiles(NamedTuple):
    """Size and age of the files in the state directory."""

    path: str
    owner: str
    size: int = 0           # bytes, including log and index
    written: float = 0.0    # seconds since 1970; 0: nothing is there yet
    remarks: Sequence[str] = ()
    is_anew: bool = False   # it was damaged and has restarted, so nothing is left to do


def history(options: Options, user: str) -> Finding:
    """Return the finding for history, opened as a check opens it: it may be created, or set aside if damaged."""
    place = options.state_dir or state_directory.PACKAGE  # not a folder in this user's home, which no other user finds
    used = state_directory.location(options.state_dir) or place
    unfit = unfit_mount(used, *_mount(used), user)
    if unfit:
        return full(used, _room(used)) or unfit
    try:
        if not (options.state_dir or os.path.isdir(place) or os.path.isdir(os.path.expanduser('~'))):
            raise state_directory.Unusable('no history: this user has no home directory')
        state = state_directory.ready(options.state_dir)
        if not os.access(state.path, os.W_OK | os.X_OK):
            raise state_directory.Unusable(f'{state.path}: {user} cannot write there', path=state.path)
        return full(state.path, _room(state.path)) or usable(_stored(options, state), time.time())
    except state_directory.Unusable as error:
        return unusable(error, place, user, group_of(user), is_person(os.geteuid()))
    except HistoryUnusable as error:
        is_denied = _is_denied(os.path.join(used, directory.NAME))
        command = f'chown -hR {user}: {shlex.quote(used)}' if is_denied else ''
        return Finding(HISTORY, False, *halves(str(error)), command)


def _is_denied(folder: str) -> bool:
    """Return whether this user cannot read and write a folder, or a file in it."""
    return os.path.isdir(folder) and not (os.access(folder, os.R_OK | os.W_OK | os.X_OK) and all(
        os.access(os.path.join(folder, name), os.R_OK | os.W_OK) for name in os.listdir(folder)))


def _mount(path: str) -> tuple[str, str, str]:
    """Return mount point, type and options of the file system of a path, which need not exist. Source: proc(5)."""
    real = os.path.realpath(path) + '/'  # os.path.ismount() does not recognize bind mounts
    try:
        lines = [line.split(' ') for line in files.content('/proc/self/mounts', 1 << 20).decode().splitlines()]
    except OSError:  # a system without it: nothing is known about the file system
        return '/', '', ''
    mounts = [(words[1].encode().decode('unicode_escape'), words[2], words[3]) for words in lines]
    above = [mount for mount in mounts if real.startswith(mount[0].rstrip('/') + '/')]
    return max(reversed(above), key=lambda mount: len(mount[0]), default=('/', '', ''))  # the last one hides others


def unfit_mount(path: str, mount: str, kind: str, options: str, owner: str = '') -> Finding | None:
    """Return the finding for a file system that cannot keep history: read-only, or lost at a restart. Pure.

    owner: the monitoring user.
    """
    quoted = shlex.quote(mount)
    if 'ro' in options.split(','):
        return Finding(HISTORY, False, f'{path}: file system {mount} is mounted read-only; increases are not detected',
                       'check the kernel log for the reason (dmesg -T), then remount it read-write',
                       f'mount -o remount,rw {quoted} || mount -o remount,bind,rw {quoted}')
    if kind not in VOLATILE:
        return None
    words = f'{path}: file system {mount} is a {kind}, so each restart loses the history'
    if mount == path:
        return Finding(HISTORY, False, words, 'unmount it and remove it from /etc/fstab', f'umount {quoted}')
    disk = f'{ON_DISK}/{state_directory.NAME}'
    line = shlex.quote(f'{disk} {path} none bind,X-mount.mkdir 0 0')  # Source: mount(8)
    return Finding(HISTORY, False, words, 'bind-mount a directory on a disk here, now and at each boot',
                   f'install -d -o {owner} -g "$(id -gn {owner})" -m 0750 {disk} && echo {line} >> /etc/fstab && '
                   f'mount {shlex.quote(path)}')


def others(state_dir: str, user: str) -> list[str]:
    """Return the other history directories that root sees: its own and the one in the user's home."""
    if os.geteuid() != 0:
        return []
    homes = filter(os.path.isabs, map(os.path.expanduser, ('~', f'~{user}')))
    places = [state_directory.location(),
              *(os.path.join(home, '.local', 'state', state_directory.NAME) for home in homes)]
    used = os.path.realpath(state_dir) if state_dir else ''
    return [path for path in dict.fromkeys(places) if os.path.realpath(path) != used
            and os.path.isdir(os.path.join(path, directory.NAME))]


def unused(state_dir: str, user: str, histories: Sequence[str]) -> list[Finding]:
    """Return a finding for each history that checks of this user do not use. histories: result of others()."""
    used = state_directory.location(state_dir)
    return [Finding(HISTORY, False, f'there are two histories: checks of {user} use {used}, but {path} is another one',
                    'move the other one away, unless other checks use it on purpose',
                    f'mv -n {shlex.quote(path)} {shlex.quote(path)}.unused') for path in histories if path != used]


def _stored(options: Options, state: state_directory.StateDirectory) -> HistoryFiles:
    """Return size and age of the stored history. Raises HistoryUnusable for anything that would break a check."""
    owner = name_of(state.user)
    place = directory.below(state, is_made=False) if os.path.isdir(os.path.join(state.path, directory.NAME)) else None
    if place and _is_denied(place.path):
        raise HistoryUnusable(f'{place.path}: Permission denied; {directory.ADVICE}')
    if place is None or not os.path.lexists(place.file):
        return HistoryFiles(state.path, owner)
    log = _size(f'{place.file}-wal')
    opened = for_writing(options)
    opened.examine()
    grown = f'its log had grown to {amount(log, "B")}; it is short again' if log > LONG_LOG else ''
    bad = [each for each in (opened.recurring_loss, opened.missing, opened.not_written) if each]
    return HistoryFiles(place.path, owner, sum(_size(place.file + tail) for tail in ('', '-wal', '-shm')),
                        max((record.last_read for record in opened.records), default=0),
                        [*bad, *(each for each in (opened.loss, grown) if each)], not bad)


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _room(path: str) -> int:
    """Return the free bytes that an ordinary user may still use on the disk of a path; ROOM if that is unknown."""
    disk = os.statvfs(path) if os.access(path, os.F_OK) else None
    return disk.f_bavail * disk.f_frsize if disk else ROOM


def full(path: str, room: int) -> Finding | None:
    """Return the finding for a disk with too little room for the history, in bytes; None if there is enough."""
    if room >= ROOM:
        return None
    return Finding(HISTORY, False, f'{path}: only {amount(room, "B")} free on its disk', 'free some space; the largest '
                   'folders on it come last', f'du -xh "$(stat -c %m {shlex.quote(path)})" | sort -h | tail -20')


def usable(stored: HistoryFiles, now: float) -> Finding:
    """Return the finding for a history that can be opened. now: seconds since 1970."""
    if stored.remarks:
        words, advice = halves(stored.remarks[0])
        return Finding(HISTORY, stored.is_anew, f'{stored.path}: {words}', advice)
    place = f'{stored.path}, owner {stored.owner}'
    if not stored.written:
        return Finding(HISTORY, True, f'{place}: empty, the first check starts the history')
    age = duration(max(int(now - stored.written), 0))
    return Finding(HISTORY, True, f'{place}, {amount(stored.size, "B")}, written {age} ago')


def unusable(error: state_directory.Unusable, place: str, user: str, group: str, is_persons: bool = False) -> Finding:
    """Return the finding for a state directory that cannot be used. place: where it is, or should be.

    is_persons: the user is a person, who probably does not run the checks and must not own the directory.
    """
    words = f'{error.what}; increases are not detected'
    if is_persons:
        return Finding(HISTORY, False, words, AS_HIM)
    if error.is_open and os.path.isdir(error.path):  # its ACL may name users that the mode bits omit
        return Finding(HISTORY, False, words, 'remove the write permission of others',
                       f'{"setfacl -b" if _has_list(error.path) else "chmod go-w"} {shlex.quote(error.path)}')
    if error.path not in ('', place):  # a folder above it is at fault
        return Finding(HISTORY, False, words, error.remedy)
    aside = f'mv -n {place} {place}.old && ' if os.path.lexists(place) and not os.path.isdir(place) else ''
    return Finding(HISTORY, False, words, f'give {user} a directory that nobody else can write to',
                   f'{aside}install -d -o {user} -g {group} -m 0750 {place} && chown -hR {user}: {place}')


def _has_list(path: str) -> bool:
    try:
        return bool(trust.access_list(path))
    except OSError:
        return False


# --- processes -------------------------------------------------------------------------

def processes(options: Options) -> Finding:
    """Return the finding for processes that earlier checks left behind."""
    waiting = Waiting(options.state_dir)
    if waiting.why_not:
        return Finding(PROCESSES, None, f'of earlier checks are unknown: {waiting.why_not}')
    stuck = list(waiting.held(options.how_read.drive_timeout))
    if waiting.is_crowded and not stuck:
        return Finding(PROCESSES, False, f'{waiting.path} contains more than {MOST:,} files, only these were examined',
                       'delete them while no check is running; checks create the ones they need',
                       f'find {waiting.path} -type f -delete')
    return hanging(stuck)


def hanging(stuck: Sequence[tuple[str, Earlier]]) -> Finding:
    """Return the finding for processes that still hang. stuck: address and process of each drive."""
    if not stuck:
        return Finding(PROCESSES, True, 'no process of an earlier check hangs')
    address, earlier = stuck[0]
    end = f'; kill {earlier.pid}' if earlier.pid else ''
    return Finding(PROCESSES, False,
                   f'{plural(len(stuck), "process", "processes")} of earlier checks hang; {clean(address)}: {earlier}',
                   'a drive or controller hangs: check the kernel log; if kill does not end the process, restart '
                   'the machine or pull the drive', f'dmesg -T | tail -50{end}')
