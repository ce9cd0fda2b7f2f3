"""The directory of a history: its files are read by one child process and changed by another.

A disk can take minutes to answer, or never answer, so no check reads or writes these files itself.
A child runs as the owner of the directory, with limits of size and time. The reading child sends
the content of the files through a pipe. The writing child holds the lock of the directory, reads
again what has changed, and replaces each file atomically: a power cut or a killed check leaves the
old file or the new one. The former version of each file stays beside it until the next change.

The child also looks for the state directory, and creates it if it is missing. See the module child
for the process itself and its locks: one reading and one writing child can hang, and not one for
each check.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from zlib import crc32

from .. import child, files, state_directory, trust
from ..child import Child
from ..constants import (
    LARGEST_HISTORIES,
    LARGEST_HISTORY,
    MOST_DRIVES,
    MOST_HISTORY_FILES,
)
from ..errors import HistoryUnusable
from ..typed import TYPE_CHECKING, Any, NamedTuple
from . import drive_file

if TYPE_CHECKING:
    from ..child import Pipe
    from ..state_directory import StateDirectory

DRIVE = '.drive'
FORMER = '.former'
DAYS = '.days'
ASIDE = '.damaged'
_NEW = '.new'
LOCK = 'lock'
NOT_WRITTEN = 'not-written'
MISSING, TOO_MUCH = 'missing', 'too much'  # codes of StoredFile
_WHY_TOO_MUCH = f'it is not read, because the history files together exceed {LARGEST_HISTORIES >> 20} MB'
ADVICE = 'make it writable for the monitoring user, or use another directory with --state-dir'
READING, CHANGING = 'read', 'changed'  # kinds of children, and ends of their locks
# seconds that a child waits to change the history; its check has ended by then
LOCK_PATIENCE = 10.0
CHANGING_TIME = 30.0  # seconds that a command waits which changes files
_MODE = 0o644  # others may read; the permissions of the directory limit access
_FLAGS_READING = (
    os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
)
_FLAGS_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NUMBERED = re.compile(r'(0|[1-9][0-9]{0,17})\..*', re.DOTALL)
_REASONS = {
    errno.ELOOP: 'is a link; to start a new history, remove the link',
    errno.EFBIG: f'has more than {MOST_HISTORY_FILES} files; to start a new history, rename the directory',
    errno.ENOSPC: 'cannot be written, because the disk is full; to see which disk, run: df -h',
}


class StoredFile(NamedTuple):
    """A file of the history, as it was read."""

    content: bytes = b''
    fault: str = ''  # why it was not read: "it is a link"
    # MISSING, TOO_MUCH (for all files together), or '' for any other reason
    code: str = ''


class Contents(NamedTuple):
    """What the reading child has sent."""

    files: Mapping[str, StoredFile]  # by name
    # damaged files that were set aside -> when, in seconds since 1970
    aside: Mapping[str, int] = {}
    fault: str = ''  # why the directory cannot be used
    is_absent: bool = False  # there is no history, and none is expected
    # a fault loses something: the history was there before; True as long as it is not known
    is_there: bool = True
    path: str = ''  # of the directory; '': not known yet
    user: int = -1  # its owner; -1: not known
    # since when nothing could be written, and the reason
    not_written: tuple[int, str] = (0, '')
    is_complete: bool = False


def path_of(state: StateDirectory) -> str:
    """Return the path of the history directory below the state directory."""
    return os.path.join(state.path, state_directory.HISTORY)


# --- child processes ----------------------------------------------------------------------------


def _in_child(
    pipe: Pipe,
    state_dir: str,
    kind: str,
    is_writing: bool,
    work: Callable[[StateDirectory], object],
) -> None:
    """Find the state directory, become its owner, and run *work*; or send why this is not possible.
    Only a child does so, because already looking for the directory can block.

    state_dir: the argument of --state-dir. kind: READING or CHANGING.
    """
    lock = _lock(state_dir, kind, pipe)
    place = state_directory.location(state_dir)
    if not _is_expected(place, state_dir, is_writing):
        fault = f'{place} does not exist'
        if not place:
            fault = (
                'this user has no home directory; give this user a state directory '
                'with --state-dir'
            )
        pipe.send(is_absent=True, fault=fault)
        return
    pipe.send(path=os.path.join(place, state_directory.HISTORY))
    find = state_directory.ready if is_writing else state_directory.there
    try:
        state = find(state_dir)
    except state_directory.Unusable as error:
        pipe.send(fault=str(error), is_there=os.path.lexists(place))
        return
    # root asks, because the owner may be unable to enter the folders above
    pipe.send(user=state.user, is_there=os.path.lexists(path_of(state)))
    _become(state)
    work(state)
    # Child now sends the rest of the pipe, which can wait for the check. The next child must not wait
    # for that, so the lock ends here; after the early returns, it ends with this process.
    if lock is not None:
        os.close(lock)


def _is_expected(place: str, state_dir: str, is_writing: bool) -> bool:
    """Return whether a history is expected in the state directory: this child writes one, the
    directory has one, or --state-dir names the directory.

    False for a user without a home directory, such as nobody, who has no place for a history.

    place: the path of the directory. state_dir: the argument of --state-dir; '': not given.
    """
    if not state_directory.has_a_place(state_dir):
        return False
    has_history = os.path.isdir(f'{place}/{state_directory.HISTORY}')
    return is_writing or bool(state_dir) or has_history


def _become(state: StateDirectory) -> None:
    """Become the owner of the state directory, for good."""
    if os.geteuid() == 0 and state.user != 0:
        # The module trust imports struct when it needs it. From now on, this can fail, because the
        # owner may be unable to read the files of Python, so it is imported here.
        import struct  # noqa: F401

        os.setgroups([state.group])
        os.setresgid(state.group, state.group, state.group)
        os.setresuid(state.user, state.user, state.user)


def _lock(state_dir: str, kind: str, pipe: Pipe) -> int | None:
    """Wait until the previous child of this kind and user has ended; return the locked file, None
    without locks.

    Each kind has a lock file of its own. While a changing child hangs, the lock file of changing
    children has the reason, see _lock_for_changes(). A reading child also sends this reason.
    """
    name = f'history-{crc32(os.fsencode(state_dir)):08x}'
    changing_lock = f'{name}.{CHANGING}'
    if kind == CHANGING:
        return _lock_for_changes(changing_lock, state_dir)
    lock = child.in_turn(f'{name}.{READING}', state_dir)
    with suppress(OSError, state_directory.Unusable):
        since, reason = _failure_in(child.path_of_lock(changing_lock, state_dir))
        if reason:
            pipe.send(not_written=(since, reason))
    return lock


def _lock_for_changes(name: str, state_dir: str) -> int | None:
    """Wait until the changing child of the previous check has ended; return the locked file, None
    if there can be no locks.

    If that child does not end, the disk hangs: this process leaves a reason in the lock file, and
    ends. name: of the lock.
    """
    try:
        lock = child.opened_lock(name, state_dir)
        if not files.has_locked(lock, LOCK_PATIENCE):
            # The reason is written only once, so the time of the file shows since when nothing
            # could be written.
            if os.fstat(lock).st_size == 0:
                os.write(lock, b'the disk does not answer; to see why, run: dmesg -T')
            os._exit(1)
        os.ftruncate(lock, 0)
        return lock
    except (OSError, state_directory.Unusable):
        return None


# --- reading ------------------------------------------------------------------------------------


def reading_child(state_dir: str, is_writing: bool, only: str = '') -> Child:
    """Return a new child that sends the content of the directory.

    state_dir: the argument of --state-dir. is_writing: create a missing directory, and report if it is
    read-only. only: the name of the file to send; '': those that a check needs.
    """
    return Child(
        lambda pipe: _in_child(
            pipe,
            state_dir,
            READING,
            is_writing=is_writing,
            work=lambda state: _send(pipe, state, is_writing, only),
        )
    )


def contents_of(reader: Child, until: float) -> Contents:
    """Return what a reading child sends until *until*, a value of time.monotonic(); then end the
    child.
    """
    reader.wait(until)
    reader.leave(ends=True)  # messages() yields what was received before
    stored = {}
    fields: dict[str, Any] = {}
    for values, content in reader.messages():
        if 'file' in values:
            stored[values['file']] = StoredFile(
                content, values['fault'], values['code']
            )
        else:
            fields.update(values)
    return Contents(stored, **fields)


def _send(
    pipe: Pipe,
    state: StateDirectory,
    is_writing: bool,
    only: str,
) -> None:
    """Send messages from which contents_of() makes Contents: fields by name, then each file.

    only: the name of the only file to send; '': all files that a check needs.
    """
    path = path_of(state)
    try:
        _examine(state, path, is_writing)
        names = _names(path)
    except FileNotFoundError:
        pipe.send(fault=f'{path} does not exist; the next check starts the history')
        return
    except (OSError, HistoryUnusable) as error:
        pipe.send(fault=_reason(path, error))
        return
    since, reason = _failure_in(f'{path}/{NOT_WRITTEN}')
    if since:
        pipe.send(not_written=(since, reason))
    aside = {}
    for name in names:
        if name.endswith(ASIDE) and number_in(name) is not None:
            with suppress(OSError):
                aside[name] = int(os.lstat(f'{path}/{name}').st_mtime)
    pipe.send(aside=aside)
    sent = [(only, read_file(f'{path}/{only}'))] if only else stored_files(path)
    for name, stored in sent:
        pipe.send(stored.content, file=name, fault=stored.fault, code=stored.code)
    pipe.send(is_complete=True)


def _examine(state: StateDirectory, path: str, is_writing: bool) -> None:
    """Raise HistoryUnusable or OSError if the directory cannot be used."""
    if is_writing:
        os.makedirs(path, 0o755, exist_ok=True)
    if os.path.islink(path):
        raise OSError(errno.ELOOP, 'is a link')
    fault = trust.fault(path, state.user)
    if fault:
        raise HistoryUnusable(
            f'{fault}; give write access only to the owner of {state.path}'
        )
    if is_writing and not os.access(
        path, os.R_OK | os.W_OK | os.X_OK, effective_ids=True
    ):
        raise HistoryUnusable(f'{path} cannot be written; {ADVICE}')


def _names(path: str) -> list[str]:
    """Return the names in the directory, sorted. Raises OSError."""
    names = []
    with os.scandir(path) as entries:
        for entry in entries:
            names.append(entry.name)
            if len(names) > MOST_HISTORY_FILES:
                raise OSError(errno.EFBIG, 'too many files')
    return sorted(names)


def _reason(path: str, error: Exception) -> str:
    """Return why the directory cannot be used, as a sentence with the path and the next step."""
    if isinstance(error, HistoryUnusable):
        return str(error)
    if not isinstance(error, OSError):
        return f'{path}: {type(error).__name__}: {error}'
    place = error.filename or path
    reason = _REASONS.get(error.errno or 0)
    return f'{place} {reason}' if reason else f'{place}: {error.strerror}; {ADVICE}'


def number_in(name: str) -> int | None:
    """Return the number in the name of a file; None for a name that this program does not use."""
    match = _NUMBERED.fullmatch(name)
    return int(match[1]) if match else None


def stored_files(path: str) -> Iterator[tuple[str, StoredFile]]:
    """Yield the files of each drive by name: NUMBER.drive and, if this is damaged or missing,
    NUMBER.former. A file that cannot be read is yielded with its fault; a NUMBER.former that is
    missing is not. Raises OSError.
    """
    names = _names(path)
    numbers = set()
    for name in names:
        number = number_in(name)
        if number is not None and name.endswith((DRIVE, FORMER)):
            numbers.add(number)
    rest = LARGEST_HISTORIES  # bytes
    for number in sorted(numbers)[:MOST_DRIVES]:
        stored = read_file(f'{path}/{number}{DRIVE}', rest)
        rest -= len(stored.content)
        yield f'{number}{DRIVE}', stored
        former = f'{number}{FORMER}'
        if former in names and not drive_file.is_intact(stored.content) and rest > 0:
            stored_former = read_file(f'{path}/{former}', rest)
            rest -= len(stored_former.content)
            yield former, stored_former


def read_file(path: str, rest: int = LARGEST_HISTORY) -> StoredFile:
    """Return a file of the history.

    Links, pipes, and files larger than LARGEST_HISTORY or *rest* are not read.
    """
    try:
        descriptor = os.open(path, _FLAGS_READING)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return StoredFile(fault='it is not a regular file')
            if status.st_size > LARGEST_HISTORY:
                return StoredFile(fault=f'it is larger than {LARGEST_HISTORY >> 10} kB')
            if status.st_size > rest:
                return StoredFile(fault=_WHY_TOO_MUCH, code=TOO_MUCH)
            return StoredFile(os.read(descriptor, LARGEST_HISTORY))
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return StoredFile(fault='it is missing', code=MISSING)
    except OSError as error:
        fault = 'it is a link' if error.errno == errno.ELOOP else error.strerror
        return StoredFile(fault=fault or 'it cannot be read')


def _failure_in(path: str) -> tuple[int, str]:
    """Return since when nothing could be written, in seconds since 1970, and the reason: the time
    and the content of the file *path*, which the first failure has left.

    Without this file, nothing has failed: (0, ''). The reason is '' if the disk was full. The
    time is at least 1, because 0 means that nothing has failed. It is 1 if it cannot be read.
    """
    try:
        since = max(int(os.lstat(path).st_mtime), 1)
    except FileNotFoundError:
        return 0, ''
    except OSError as error:
        return 1, error.strerror or ''
    stored = read_file(path)
    return since, stored.fault or stored.content[:300].decode(errors='replace')


# --- changing -----------------------------------------------------------------------------------


def change(
    state_dir: str, changing: Callable[[str], int], seconds: float = CHANGING_TIME
) -> int:
    """Let a child run *changing* with the path of the directory, while no other child changes it;
    return its result.

    state_dir: the argument of --state-dir. Raises HistoryUnusable if *changing* raises an exception
    or the directory cannot be used, and if this takes longer than *seconds*; the child is then left
    to end alone. See _outcome() for what the next check learns of a failure.
    """
    writer = Child(
        lambda pipe: _in_child(
            pipe,
            state_dir,
            CHANGING,
            is_writing=True,
            work=lambda state: pipe.send(**_outcome(state, changing)),
        )
    )
    has_ended = writer.wait(time.monotonic() + seconds)
    writer.leave(ends=False)
    path = state_dir or 'the state directory'  # until the child has sent it
    for values, _ in writer.messages():  # that were received in time
        path = values.get('path', path)
        if 'fault' in values:
            raise HistoryUnusable(values['fault'])
        if 'result' in values:
            return int(values['result'])
    reason = (
        'the process that writes it was killed'
        if has_ended
        else f'no answer within {seconds:g} s'
    )
    raise HistoryUnusable(f'{path}: {reason}; to see why, run: dmesg -T')


def _outcome(
    state: StateDirectory, changing: Callable[[str], int]
) -> dict[str, object]:
    """Run *changing* in the locked directory; return {"result": its result}, or {"fault": reason}.

    A failure leaves its reason in the file NOT_WRITTEN, for the next check; success removes the file.
    """
    path = path_of(state)
    try:
        _examine(state, path, is_writing=True)
        lock = files.open_lock(f'{path}/{LOCK}')
        if not files.has_locked(lock, LOCK_PATIENCE):
            raise HistoryUnusable(
                f'{path} is locked by another process; to see which, run: fuser {path}/{LOCK}'
            )
        result = changing(path)
        _remove(f'{path}/{NOT_WRITTEN}')
        return {'result': result}  # the lock ends with this process
    except Exception as error:  # the parent reports it
        reason = _reason(path, error)
    # The time of the file shows since when nothing could be written, so the file of an earlier failure
    # stays as it is: _write_file() fails if it is there. On a full disk, the file is empty. On a
    # read-only disk, there is no file; the next check sees by itself that it cannot write.
    with suppress(OSError):
        _write_file(f'{path}/{NOT_WRITTEN}', reason.encode(errors='replace'))
    return {'fault': reason}


def apply(
    path: str,
    replaced: Mapping[int, Mapping[str, bytes]],
    set_aside: Collection[str],
    now: int,
) -> None:
    """Replace the files of drives, and rename damaged files. now: seconds since 1970.

    replaced: for the number of each drive, the new content by the ending of the file: DRIVE, and
    DAYS if that file changes, too. set_aside: the names of damaged files. A failure with the files of one drive
    changes nothing about the others. Raises the first OSError.
    """
    failures = []
    for name in set_aside:
        try:
            _set_aside(path, name, now)
        except OSError as error:
            failures.append(error)
    for number, contents in replaced.items():
        try:
            _replace(f'{path}/{number}', contents)
        except OSError as error:
            failures.append(error)
            for ending in contents:
                with suppress(OSError):
                    _remove(f'{path}/{number}{ending}{_NEW}')
    files.flush(path)
    if failures:
        raise failures[0]


def _replace(stem: str, contents: Mapping[str, bytes]) -> None:
    """Replace the files of a drive after all new ones are on the disk. contents: as in apply().
    Raises OSError.
    """
    for ending, content in contents.items():
        new = f'{stem}{ending}{_NEW}'
        _remove(new)  # of a check that was killed
        _write_file(new, content)
        files.flush(new)
    if DAYS in contents:
        os.rename(f'{stem}{DAYS}{_NEW}', f'{stem}{DAYS}')
        # The new NUMBER.drive lacks the points that are now in NUMBER.days. So if the power fails, it
        # must not be on the disk before NUMBER.days.
        files.flush(os.path.dirname(stem))
    current = f'{stem}{DRIVE}'
    _keep_former(current, f'{stem}{FORMER}')
    os.rename(f'{current}{_NEW}', current)


def remove(path: str, number: int) -> None:
    """Remove all files of a drive; NUMBER.former before NUMBER.drive. Raises OSError."""
    # NUMBER.former is removed first, because it would replace a missing NUMBER.drive if this child
    # ended in between. Names that are sorted backwards have this order.
    for name in reversed(_names(path)):
        if number_in(name) == number:
            _remove(f'{path}/{name}')
    files.flush(path)


def _write_file(path: str, content: bytes) -> None:
    """Write a new file. Raises OSError, also if it is there already."""
    descriptor = os.open(path, _FLAGS_WRITING, _MODE)
    with open(descriptor, 'wb') as file:
        os.fchmod(descriptor, _MODE)  # regardless of the umask of root
        file.write(content)


def _set_aside(path: str, name: str, now: int) -> None:
    """Rename a damaged file, if it is there: 7.drive becomes 7.damaged, or 7.drive.TIME.damaged if
    that name cannot be used. Raises OSError.
    """
    aside = f'{path}/{name.removesuffix(DRIVE)}{ASIDE}'
    try:
        os.rename(f'{path}/{name}', aside)
    except FileNotFoundError:
        return
    except OSError:  # a folder has the new name, or the damaged file is a folder itself
        aside = f'{path}/{name}.{now}{ASIDE}'
        os.rename(f'{path}/{name}', aside)
    with suppress(OSError):
        os.utime(aside, (now, now), follow_symlinks=False)


def _keep_former(current: str, former: str) -> None:
    """Make *former* a second name of the current file, so that its content stays when the caller
    replaces *current*. A file system without links keeps no former version.
    """
    new = former + _NEW
    with suppress(OSError):
        _remove(new)
        os.link(current, new, follow_symlinks=False)
        os.rename(new, former)
        # If an earlier check was killed before it replaced *current*, *former* already was a name
        # of the same file. rename() has then done nothing, so *new* is still there.
        _remove(new)


def _remove(path: str) -> None:
    """Remove a file or an empty directory, if it is there. Raises OSError."""
    with suppress(FileNotFoundError):
        try:
            os.unlink(path)
        except IsADirectoryError:
            os.rmdir(path)
