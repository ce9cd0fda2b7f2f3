"""Read recorded output of smartctl as reports, for example from a ticket or in a test."""

import errno
import os
import re
import sys
from collections.abc import Iterator, Sequence

from .. import files, trust
from ..constants import LARGEST_FILE
from ..errors import Coded, DriveError, NotAReport
from ..model import Device, Read, Report
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

    A file in a folder is skipped if it does not look like a report. But if another file in this
    folder with the same ending is a report, it may be a damaged report; then only a mail or a
    ticket is skipped.
    The devices get their names after all files are read; see named().
    """
    files_read = []
    sure_paths = set()  # of the files that surely are reports
    for path, must_be_read in _report_files(paths):
        outcome = machine.parsed(_report_in, path)
        files_read.append(Read(Device(path, is_recorded=True), outcome))
        is_report = not isinstance(outcome, NotAReport)
        if must_be_read or is_report or _looks_like_report(path):
            sure_paths.add(path)
    groups = set(map(_folder_and_ending, sure_paths))
    skipped = []
    for read in files_read:
        path = read.device.path
        may_be_damaged = _folder_and_ending(path) in groups and not _is_ticket(path)
        if path in sure_paths or may_be_damaged:
            reads.append(read)
        else:
            skipped.append(os.path.basename(path))
    if not skipped:
        return []
    names = f'{plural(len(skipped), "file")} without a smartctl report'
    return [Coded('file-skipped', f'left out {names}: {listed(skipped, SHOWN)}')]


def _report_in(path: str) -> Report:
    return text_report.parse_report(_content(path))


def _folder_and_ending(path: str) -> tuple[str, str]:
    return os.path.dirname(path), os.path.splitext(path)[1]


def _looks_like_report(path: str) -> bool:
    """Return whether a file looks like a report, by its name or its first bytes; such a file is
    never skipped. A file that is empty, or was cut after b'smart', looks like a report.
    """
    if 'smart' in os.path.basename(path).lower():
        return True
    try:
        head = _content(path)[:_HEAD].replace(b'\0', b'')
    except DriveError:  # not a regular file, or too large
        return False
    if any(sign in head for sign in _SIGNS):
        return True
    text = head.strip()
    # All that is left of a file may be a part of its first word (b'smart'), or nothing (b'').
    is_cut_or_empty = b'smartctl'.startswith(text)
    return is_cut_or_empty or text.startswith(b'smartctl')


def _is_ticket(path: str) -> bool:
    """Return whether a file is a mail or a ticket that has nothing to do with smartctl, by the fields
    at its beginning: "Subject: ...".
    """
    try:
        text = _content(path)
    except DriveError:
        return False
    has_fields = len(re.findall(_FIELDS, text[:_HEAD])) > 1
    return has_fields and not re.search(_MENTIONED, text)


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
    """Yield the possible names of a report, shortest first; *number* makes the last one unique."""
    parts = [slug(part) for part in path.split('/') if part] or ['report']
    for length in range(1, len(parts) + 1):
        yield '_'.join(parts[-length:])
    yield f'{"_".join(parts)}_{number}'


def _report_files(paths: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield each named file and all files in named folders at any depth, with whether it must be
    read. Only a file that was found in a folder may be skipped.
    """
    for path in paths:
        if not os.path.isdir(path):
            yield path, True
            continue
        unlisted: list[OSError] = []
        for folder, folders, names in os.walk(path, onerror=unlisted.append):
            folders.sort()
            # os.walk() does not enter links to folders, so they are read like files
            links = [
                name for name in folders if os.path.islink(os.path.join(folder, name))
            ]
            for name in sorted([*names, *links]):
                yield os.path.join(folder, name), False
        # A folder that cannot be listed must not be skipped; reading it as a file tells the reason.
        for error in unlisted:
            yield error.filename, True


def _content(path: str) -> bytes:
    """Return the bytes of a file; of standard input, at most LARGEST_FILE + 1 bytes.

    Raises DriveError: NotAReport if the file cannot be a report.
    """
    if path == STANDARD_INPUT:
        # One byte too much makes as_text() refuse a standard input that is too large.
        return sys.stdin.buffer.read(LARGEST_FILE + 1)
    try:
        return files.content(path, LARGEST_FILE, trust.foreign_secret)
    except files.NotRegular:
        raise NotAReport('is not a regular file', 'report-missing') from None
    except FileNotFoundError:
        raise NotAReport('does not exist', 'report-missing') from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise NotAReport(f'is not a smartctl report: {error.strerror}') from None
        why = f'cannot be opened: {error.strerror}'
        raise DriveError(why, 'report-unreadable') from None
