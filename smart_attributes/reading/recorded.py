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


_FIELDS = (
    rb'(?mi)^(?:From|To|Subject|Date|Message-ID|Ticket|Issue|Status|Reporter|Assignee|Created): '
)
_MENTIONED = rb'(?i)smart|ATTRIBUTE|base64'


def read_files(paths: Sequence[str], reads: list[Read]) -> list[Coded]:
    """Append the content of recorded files to *reads*; return a note on the skipped files in
    folders.

    The devices get their names after all files are read; see named().
    """
    doubtful: list[Read] = []
    left: list[str] = []  # names of files without a report
    for path, is_listed in _report_files(paths):
        outcome = machine.parsed(lambda place: text_report.parse_report(_content(place)), path)
        read = Read(Device(path, is_recorded=True), outcome)
        if is_listed or not isinstance(read.outcome, NotAReport):
            reads.append(read)
        elif _is_ticket(path):
            left.append(os.path.basename(path))
        elif _is_folder(path) or not _is_meant(path):
            doubtful.append(read)
        else:
            reads.append(read)
    groups = {_group(read.device.path) for read in reads}
    for read in doubtful:
        path = read.device.path
        if _group(path) in groups:
            reads.append(read)
        elif not _is_folder(path):  # the files in it are read
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


def _is_folder(path: str) -> bool:
    """Return whether this is a folder itself, and not a link to one, which nobody follows."""
    return os.path.isdir(path) and not os.path.islink(path)


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
    return b'smartctl'.startswith(head.strip()[:8]) or any(sign in head for sign in _SIGNS)


def _is_ticket(path: str) -> bool:
    """Return whether a file is a mail or a ticket that has nothing to do with smartctl, by the fields
    at its beginning: "Subject: ...".
    """
    try:
        text = _content(path)
    except DriveError:
        return False
    return len(re.findall(_FIELDS, text[:_HEAD])) > 1 and not re.search(_MENTIONED, text)


def named(reads: Sequence[Read]) -> list[Read]:
    """Return the recorded reports under short, unique names: the last part of the path, or more
    if needed.
    """
    names = unique(
        _forms(os.path.splitext(read.device.path)[0], number) for number, read in enumerate(reads)
    )
    return [
        read._replace(device=read.device._replace(name=name)) for read, name in zip(reads, names)
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
            # a folder or a link that is named like a report is no reason to leave it out
            odd = [name for name in folders if _is_odd(os.path.join(folder, name))]
            yield from ((os.path.join(folder, name), False) for name in sorted([*names, *odd]))
        # reading such a folder as a file fails with the reason
        yield from ((error.filename, True) for error in unlisted)


def _is_odd(folder: str) -> bool:
    """Return whether a folder may have been meant as a report, or its files are not looked for."""
    return bool(os.path.splitext(folder)[1]) or os.path.islink(folder)


def _content(path: str) -> bytes:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read(LARGEST_FILE + 1)
    try:
        return files.content(path, LARGEST_FILE, trust.foreign_secret)
    except (FileNotFoundError, files.NotRegular) as error:
        raise NotAReport(
            'is not a regular file' if isinstance(error, files.NotRegular) else 'does not exist',
            'report-missing',
        ) from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise NotAReport(
                f'is not a smartctl report: it is larger than {LARGEST_FILE >> 20} MiB'
            ) from None
        raise DriveError(f'cannot be opened: {error.strerror}', 'report-unreadable') from None
