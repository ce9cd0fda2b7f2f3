"""Read recorded output of smartctl as reports, for example from a ticket or in a test."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator, Sequence

from .. import files, trust
from ..constants import LARGEST_FILE
from ..errors import Coded, DriveError, NotAReport
from ..model import Device, Read
from ..wording import listed, plural
from . import machine, text_report
from .addresses import slug, unique

STANDARD_INPUT = '-'
SHOWN = 5  # maximum number of skipped files that a note names
# Words at the beginning of smartctl's text and of its JSON. Even a damaged report still has some of
# them.
_HEAD = 2048
_SIGNS = (
    b'www.smartmontools.org',
    b'Bruce Allen',
    b'=== START OF ',
    b'\nDevice Model: ',
    b'\nSerial Number: ',
    b'\nRevision: ',
    b'\nModel Number: ',
    b'ID# ATTRIBUTE_NAME',
    b'"json_format_version"',
    b'"svn_revision"',
    b'"platform_info"',
    b'"smartctl":',
    b'"local_time":',
)


_FIELDS = rb'(?mi)^(?:From|To|Subject|Date|Message-ID|Ticket|Issue|Status|Reporter|Assignee|Created): '
_MENTIONED = rb'(?i)smart|ATTRIBUTE|base64'


def read_files(paths: Sequence[str], reads: list[Read]) -> list[Coded]:
    """Append the content of recorded files to *reads*; return a note on the skipped files in
    folders.

    The devices get their names after all files are read; see named().
    """
    files_read: list[tuple[Read, bool]] = []
    for path, is_listed in _report_files(paths):
        outcome = machine.parsed(
            lambda place: text_report.parse_report(_content(place)), path
        )
        is_meant = is_listed or not isinstance(outcome, NotAReport) or _is_meant(path)
        files_read.append((Read(Device(path, is_recorded=True), outcome), is_meant))
    groups = {_group(read.device.path) for read, is_meant in files_read if is_meant}
    left: list[str] = []  # names of files without a report
    for read, is_meant in files_read:
        path = read.device.path
        if is_meant or (_group(path) in groups and not _is_ticket(path)):
            reads.append(read)
        else:
            left.append(os.path.basename(path))
    if not left:
        return []
    names = listed(left, SHOWN)
    words = f'left out {plural(len(left), "file")} without a smartctl report: {names}'
    return [Coded('file-skipped', words)]


def _group(path: str) -> str:
    """Return a file's folder and ending.

    If one file of such a group is a report, no file in it is skipped.
    """
    return f'{os.path.dirname(path)}/*{os.path.splitext(path)[1]}'


def _is_meant(path: str) -> bool:
    """Return whether a file looks like a report, by its name or its first bytes; such a file is
    never skipped.
    """
    if 'smart' in os.path.basename(path).lower():
        return True
    try:
        head = _content(path)[:_HEAD].replace(b'\0', b'')
    except DriveError:  # not a regular file, or too large
        return False
    return b'smartctl'.startswith(head.strip()[:8]) or any(
        sign in head for sign in _SIGNS
    )


def _is_ticket(path: str) -> bool:
    """Return whether a file is a mail or a ticket that has nothing to do with smartctl, by the fields
    at its beginning: "Subject: ...".
    """
    try:
        text = _content(path)
    except DriveError:
        return False
    return len(re.findall(_FIELDS, text[:_HEAD])) > 1 and not re.search(
        _MENTIONED, text
    )


def named(reads: Sequence[Read]) -> list[Read]:
    """Return the recorded reports under short, unique names: the last part of the path, or more
    if needed.
    """
    names = unique(
        _forms(os.path.splitext(read.device.path)[0], number)
        for number, read in enumerate(reads)
    )
    return [
        read._replace(device=read.device._replace(name=name))
        for read, name in zip(reads, names)
    ]


def _forms(path: str, number: int) -> Iterator[str]:
    parts = [slug(part) for part in path.split('/') if part] or ['report']
    yield from ('_'.join(parts[-length:]) for length in range(1, len(parts) + 1))
    yield f'{"_".join(parts)}_{number}'


def _report_files(paths: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield (file, whether the user named it) for each named file, and for all files in named
    folders at any depth.
    """
    for path in paths:
        if not os.path.isdir(path):
            yield path, True
            continue
        unlisted: list[OSError] = []
        for folder, folders, names in os.walk(path, onerror=unlisted.append):
            folders.sort()
            # os.walk() does not look for files behind links to folders
            links = [
                name for name in folders if os.path.islink(os.path.join(folder, name))
            ]
            yield from (
                (os.path.join(folder, name), False) for name in sorted([*names, *links])
            )
        # reading such a folder as a file fails with the reason
        yield from ((error.filename, True) for error in unlisted)


def _content(path: str) -> bytes:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read(LARGEST_FILE + 1)
    try:
        return files.content(path, LARGEST_FILE, trust.foreign_secret)
    except (FileNotFoundError, files.NotRegular) as error:
        raise NotAReport(
            'is not a regular file'
            if isinstance(error, files.NotRegular)
            else 'does not exist',
            'report-missing',
        ) from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise NotAReport(
                f'is not a smartctl report: it is larger than {LARGEST_FILE >> 20} MiB'
            ) from None
        raise DriveError(
            f'cannot be opened: {error.strerror}', 'report-unreadable'
        ) from None
