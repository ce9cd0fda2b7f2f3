"""The folder of state: is there history, does it work, and does a process of an earlier check still hang."""

import os
import shlex
import time
from typing import List, NamedTuple, Optional, Sequence, Tuple

from .. import files as small_files
from .. import state_directory, trust
from ..check.history_access import for_writing
from ..command_line.options import Options
from ..errors import HistoryUnusable
from ..history import directory as files
from ..history.growth import duration
from ..output.doctor_findings import Finding
from ..reading.drive_locks import MOST, Earlier, Waiting
from ..words import amount, clean, plural
from .sentences import halves
from .user import AS_HIM, group_of, is_person, name_of

HISTORY, PROCESSES = 'history', 'processes'
VOLATILE = ('tmpfs', 'ramfs')
ON_DISK = '/srv'   # where a directory outlives a restart although /var/lib does not
ROOM = 4 << 20   # bytes: what one folder of history needs for years of a few drives


class HistoryStore(NamedTuple):
    """What lies in the folder of history."""

    path: str
    owner: str
    size: int = 0           # bytes, with log and index
    written: float = 0.0    # seconds since 1970; 0: nothing is there yet
    remarks: Sequence[str] = ()


def history(options: Options, user: str) -> Finding:
    """Return what is to be said of history, opened as a check opens it: that may make it, or set a damaged one aside.
    """
    place = options.state_dir or state_directory.PACKAGE  # not a folder of his own, which no other user finds
    used = state_directory.location(options.state_dir) or place
    unfit = unfit_mount(used, *_mount(used), user)
    if unfit:
        return unfit
    try:
        if not (options.state_dir or os.path.isdir(place) or os.path.isdir(os.path.expanduser('~'))):
            raise state_directory.Unusable('there is no history: this user has no home folder')
        state = state_directory.ready(options.state_dir)
        if not os.access(state.path, os.W_OK | os.X_OK):
            raise state_directory.Unusable(f'{state.path}: {user} cannot write there', path=state.path)
        return remembers(_looked_at(options, state), _room(state.path), time.time())
    except state_directory.Unusable as error:
        return unusable(error, place, user, group_of(user), is_person(os.geteuid()))
    except HistoryUnusable as error:
        return Finding(HISTORY, False, *halves(str(error)))


def _mount(path: str) -> Tuple[str, str, str]:
    """Return mount point, type and options of the file system that a path is on, or would be. Source: proc(5)."""
    real = os.path.realpath(path) + '/'  # os.path.ismount() does not know bind mounts
    lines = [line.split(' ') for line in small_files.content('/proc/self/mounts', 1 << 20).decode().splitlines()]
    mounts = [(words[1].encode().decode('unicode_escape'), words[2], words[3]) for words in lines]
    above = [mount for mount in mounts if real.startswith(mount[0].rstrip('/') + '/')]
    return max(reversed(above), key=lambda mount: len(mount[0]), default=('/', '', ''))  # the last one hides others


def unfit_mount(path: str, mount: str, kind: str, options: str, owner: str = '') -> Optional[Finding]:
    """Return the finding for a file system that keeps no history: read-only, or gone at a restart. Pure.

    owner: the user of the checks.
    """
    if 'ro' in options.split(','):
        return Finding(HISTORY, False, f'{path}: the file system {mount} is mounted read-only; growth is not judged',
                       'see in the kernel log whether an error made it so (dmesg), then mount it for writing',
                       f'mount -o remount,rw {shlex.quote(mount)} || mount -o remount,bind,rw {shlex.quote(mount)}')
    if kind not in VOLATILE:
        return None
    words = f'{path}: the file system {mount} is a {kind}: each restart loses the history'
    if mount == path:
        return Finding(HISTORY, False, words, 'unmount it and take it out of /etc/fstab',
                       f'umount {shlex.quote(mount)}')
    return Finding(HISTORY, False, words, 'bind a directory that is on a disk to this place, now and at each start',
                   _bound(path, owner))


def _bound(path: str, owner: str) -> str:
    """Return the command that binds a directory below ON_DISK to a path. Source: mount(8), X-mount.mkdir."""
    disk, place = f'{ON_DISK}/{state_directory.NAME}', shlex.quote(path)
    line = f'{disk} {path} none bind,X-mount.mkdir 0 0'
    return (f'install -d -o {owner} -g "$(id -gn {owner})" -m 0750 {disk} && echo {shlex.quote(line)} >> /etc/fstab && '
            f'mount {place}')


def others(given: str, user: str) -> List[str]:
    """Return the other histories that root sees: its own one and that of the user in its home."""
    if os.geteuid() != 0:
        return []
    own = [state_directory.location(), *(os.path.join(home, '.local', 'state', state_directory.NAME)
                                         for home in map(os.path.expanduser, ('~', f'~{user}'))
                                         if home.startswith('/'))]
    used = os.path.realpath(given) if given else ''
    return [path for path in dict.fromkeys(own) if os.path.realpath(path) != used
            and os.path.isdir(os.path.join(path, files.NAME))]


def unused(given: str, user: str, known: Sequence[str]) -> List[Finding]:
    """Return a finding for each history that checks of this user do not use. known: of others()."""
    used = state_directory.location(given)
    return [Finding(HISTORY, False, f'there are two histories: checks of {user} use {used}, and {path} is another one',
                    'move that away, unless other checks use it on purpose',
                    f'mv -n {shlex.quote(path)} {shlex.quote(path)}.unused') for path in known if path != used]


def _looked_at(options: Options, state: state_directory.StateDirectory) -> HistoryStore:
    """Return what lies there. Raises HistoryUnusable for whatever a check would stumble over."""
    place = files.below(state, is_made=False) if os.path.isdir(os.path.join(state.path, files.NAME)) else None
    if place is None or not os.path.lexists(place.file):
        return HistoryStore(state.path, name_of(state.user))
    opened = for_writing(options)
    opened.examine()
    statuses = [os.stat(place.file + tail) for tail in ('', '-wal', '-shm') if os.path.exists(place.file + tail)]
    return HistoryStore(place.path, name_of(state.user), sum(status.st_size for status in statuses),
                        max(status.st_mtime for status in statuses),
                        [each for each in (opened.loss, opened.missing, opened.not_written) if each])


def _room(path: str) -> int:
    """Return how many bytes its owner may still write there."""
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize


def remembers(found: HistoryStore, room: int, now: float) -> Finding:
    """Return the finding for history that can be opened. room: bytes that are left on its disk."""
    if room < ROOM:
        return Finding(HISTORY, False, f'{found.path}: its disk has room for {amount(room, "B")} and no more',
                       'make room', f'df -h {found.path}')
    if found.remarks:
        words, advice = halves(found.remarks[0])
        return Finding(HISTORY, False, f'{found.path}: {words}',
                       advice or 'nothing more is lost; it is told for a week')
    if not found.written:
        return Finding(HISTORY, True, f'{found.path}, owner {found.owner}: nothing in it yet, the first check begins')
    return Finding(HISTORY, True, f'{found.path}, owner {found.owner}, {amount(found.size, "B")}, written '
                                 f'{duration(max(int(now - found.written), 0))} ago')


def unusable(error: state_directory.Unusable, place: str, user: str, group: str, is_persons: bool = False) -> Finding:
    """Return the finding for a folder of state that cannot be used. place: where it is, or ought to be.

    is_persons: the user hardly runs the checks, and who does must not lose his folder to him.
    """
    words = f'{error.what}; growth is not judged'
    if is_persons:
        return Finding(HISTORY, False, words, AS_HIM)
    if error.is_open and os.path.isdir(error.path):  # its access-control list may name others whom no mode bits show
        return Finding(HISTORY, False, words, 'take the permission to write from all others',
                       f'{"setfacl -b" if _has_list(error.path) else "chmod go-w"} {shlex.quote(error.path)}')
    if error.path not in ('', place):  # a folder above it is at fault
        return Finding(HISTORY, False, words, error.remedy)
    return Finding(HISTORY, False, words, f'give {user} a folder that nobody else writes to',
                   f'install -d -o {user} -g {group} -m 0750 {place}')


def _has_list(path: str) -> bool:
    try:
        return bool(os.getxattr(path, trust.ACL))
    except OSError:
        return False


# --- processes -------------------------------------------------------------------------

def processes(options: Options) -> Finding:
    """Return the finding for processes that earlier checks left behind."""
    waiting = Waiting(options.state_dir)
    if waiting.why_not:
        return Finding(PROCESSES, None, f'of earlier checks are not known: {waiting.why_not}')
    stuck = list(waiting.held(options.how_read.drive_timeout))
    if waiting.is_crowded and not stuck:
        return Finding(PROCESSES, False, f'{waiting.path} holds more than {MOST:,} files, and only these were examined',
                       'delete them while no check runs; checks make those that they need',
                       f'find {waiting.path} -type f -delete')
    return hanging(stuck)


def hanging(stuck: Sequence[Tuple[str, Earlier]]) -> Finding:
    """Return the finding for what still waits. stuck: the address of each drive, and the process that has it."""
    if not stuck:
        return Finding(PROCESSES, True, 'none hangs from an earlier check')
    address, earlier = stuck[0]
    end = f'; kill {earlier.pid}' if earlier.pid else ''
    return Finding(PROCESSES, False,
                   f'{plural(len(stuck), "process", "processes")} of earlier checks hang; {clean(address)}: {earlier}',
                   'drive or controller hang: see the kernel log; only a restart or pulling the drive ends it where '
                   'kill does not', f'dmesg -T | tail -50{end}')
