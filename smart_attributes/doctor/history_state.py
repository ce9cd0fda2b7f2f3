"""Examine the state directory: whether history exists and can be used."""

from __future__ import annotations

import os
import shlex
import time
from contextlib import suppress

from .. import access, state_directory, trust
from ..check.history_access import for_writing
from ..check.settings import of_history
from ..command_line.options import Options
from ..daemons.users import group_of, is_person
from ..errors import HistoryUnusable
from ..output.doctor_findings import Finding, found, said
from ..reading.system import names_in
from ..redundancy.block_devices import mount_of
from ..wording import duration

ROOM = 4 << 20  # bytes that the history of a few drives needs over years


def history(options: Options, user: str) -> Finding:
    """Read the history as a check does, and return the finding; this may create the directory.

    user: the user that this process runs as, which is the one given with --user, if any.
    """
    # location() returns '' if the directory of the package is missing and the user has no home.
    path = state_directory.location(options.state_dir) or state_directory.PACKAGE
    unfit = unfit_mount(path, *mount_of(path), owner=user)
    if unfit:
        # A full disk is the more urgent problem: a tmpfs, for example, can be written until a
        # restart.
        return full(path) or unfit
    try:
        return _examined(options, user)
    except state_directory.Unusable as error:
        # A user given with --user runs the checks, even if it is a person.
        is_of_person = not options.own.user and is_person(os.geteuid())
        return unusable(error, options.state_dir, user, group_of(user), is_of_person)
    except HistoryUnusable as error:
        is_denied = access.is_denied(f'{path}/{state_directory.HISTORY}')
        command = f'chown -hR {user}: {shlex.quote(path)}' if is_denied else ''
        return said('history-files-unusable', str(error), path=path)._replace(
            command=command
        )


def _examined(options: Options, user: str) -> Finding:
    """Return the finding for a history at a place that can keep it.

    Raises state_directory.Unusable or HistoryUnusable if a check could not use it.
    """
    if not state_directory.has_a_place(options.state_dir):
        raise state_directory.Unusable('no history: this user has no home directory')
    state = state_directory.ready(options.state_dir)
    if not os.access(state.path, os.W_OK | os.X_OK):
        raise state_directory.Unusable(
            f'{state.path}: {user} cannot write there', path=state.path
        )
    return (
        full(state.path)
        or _in_the_way(os.path.join(state.path, state_directory.HISTORY))
        or of_files(options, state)
    )


def _in_the_way(folder: str) -> Finding | None:
    """Return the finding for a directory in the place of one of the history's files; None if there
    is none.
    """
    for name in names_in(folder):
        path = f'{folder}/{name}'
        if os.path.isdir(path):
            return found('history-path-in-the-way', path=path)
    return None


def unfit_mount(
    path: str, mount: str, kind: str, options: str, owner: str
) -> Finding | None:
    """Return the finding for a file system that cannot keep history because it is read-only or lost
    at a restart; None if it can. Pure.

    path: of the state directory. mount, kind, options: of its file system, as mount_of() returns
    them. owner: the monitoring user.
    """
    if 'ro' in options.split(','):
        return found('history-mounted-read-only', path=path, mount=mount)
    if kind not in ('tmpfs', 'ramfs'):
        return None
    if mount == path:
        return found('history-on-a-mounted-tmpfs', path=path, mount=mount, kind=kind)
    # /srv survives a restart even if /var/lib does not
    disk = f'/srv/{state_directory.NAME}'
    line = f'{disk} {path} none bind,X-mount.mkdir 0 0'  # Source: mount(8)
    return found(
        'history-on-a-tmpfs',
        path=path,
        mount=mount,
        kind=kind,
        owner=owner,
        disk=disk,
        line=line,
    )


def of_files(options: Options, state: state_directory.StateDirectory) -> Finding:
    """Return the finding for the files of the history, which may not exist yet.

    Raises HistoryUnusable for any fault that would break a check.
    """
    from ..history import folder

    owner = access.name_of(state.user)
    path = folder.path_of(state)
    if not os.path.isdir(path):
        return found('history-empty', path=state.path, owner=owner)
    if access.is_denied(path):
        raise HistoryUnusable(f'{path}: Permission denied; {folder.ADVICE}')
    opened = for_writing(of_history(options))
    for fault in (*opened.damage, opened.not_written, opened.slowness):
        if fault:
            return said('history-faulty', f'{path}: {fault}', path=path)
    if opened.old_damage:
        return said('history-remark', f'{path}: {opened.old_damage[0]}', path=path)
    if not opened.records:
        return found('history-empty', path=path, owner=owner)
    written = max(record.last_read for record in opened.records)
    size = sum(_size(f'{path}/{name}') for name in os.listdir(path))
    age = duration(max(int(time.time() - written), 0))
    return found('history-works', path=path, owner=owner, size=size, age=age)


def _size(path: str) -> int:
    """Return the size of a file in bytes; 0 if it was removed in the meantime."""
    return os.path.getsize(path) if os.path.exists(path) else 0


def full(path: str) -> Finding | None:
    """Return the finding for a disk that leaves an ordinary user too little room for history; None
    if there is enough room, or if the room is unknown.
    """
    if not os.access(path, os.F_OK):
        return None
    disk = os.statvfs(path)
    room = disk.f_bavail * disk.f_frsize
    return found('history-disk-full', path=path, room=room) if room < ROOM else None


def unusable(
    error: state_directory.Unusable,
    state_dir: str,
    user: str,
    group: str,
    is_of_person: bool,
) -> Finding:
    """Return the finding for a state directory that cannot be used.

    state_dir: the argument of --state-dir, or ''. is_of_person: the user is a person, who probably
    does not run the checks and must not own the directory.
    """
    # The advice is to create this directory, never one in the home of this user, because checks that
    # run as another user do not look there.
    place = state_dir or state_directory.PACKAGE
    reason = error.what
    path = error.path
    if is_of_person:
        return found('history-examined-by-a-person', reason=reason, path=path or place)
    if error.is_open and os.path.isdir(path):
        close = 'chmod go-w'
        with suppress(OSError):
            # an ACL may have users that the mode bits do not show
            if trust.access_list(path):
                close = 'setfacl -b'
        return found('history-open-to-others', reason=reason, path=path, close=close)
    if path not in ('', place):  # a folder above it is the cause
        return found('history-folder-unusable', reason=reason, path=path)._replace(
            remedy=error.remedy
        )
    return found(
        'history-folder-missing', reason=reason, path=place, user=user, group=group
    )
