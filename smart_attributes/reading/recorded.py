"""Recorded outputs of smartctl -> reports: for a ticket, a desk, a test."""
from __future__ import annotations

import errno
import os

from .. import alarm, files, trust
from ..coded import Coded
from ..errors import DriveError, NotAReport
from ..model import Device, Read
from ..typed import TYPE_CHECKING
from . import text_report
from .names import slug, unique

if TYPE_CHECKING:
    from typing import Iterator, List, Sequence, Tuple


def read_files(paths: Sequence[str], found: List[Read]) -> List[Coded]:
    """Fill *found* with what the recorded files hold; return a note for each file of a folder that is no report.

    Names that tell them apart come when all is read, see named().
    """
    notes: List[Coded] = []
    for path, is_listed in _report_files(paths):
        device = Device(path, is_recorded=True)
        try:
            found.append(Read(device, alarm.limited(text_report.parse_report, _contents(path))))
        except alarm.TakesTooLong as error:
            found.append(Read(device, DriveError(f'cannot be understood: {error} were not enough for this text',
                                               'report-too-complex')))
        except NotAReport as error:
            if is_listed:
                found.append(Read(device, error))
            else:
                notes.append(Coded('file-skipped', f'{path} {error}; skipped'))
        except DriveError as error:
            found.append(Read(device, error))
    return notes


def named(found: Sequence[Read]) -> List[Read]:
    """Return the recorded reports under short names that tell them apart."""
    names = _report_names([read.device.path for read in found])
    return [read._replace(device=read.device._replace(name=name)) for read, name in zip(found, names)]


def _report_files(paths: Sequence[str]) -> Iterator[Tuple[str, bool]]:
    """Yield (file, named by the user) for files, and for folders what they hold at any depth."""
    for path in paths:
        if not os.path.isdir(path):
            yield path, True
        for folder, folders, names in os.walk(path):
            folders.sort()
            for file in sorted(names):
                yield os.path.join(folder, file), False


def _contents(path: str) -> bytes:
    try:
        return files.content(path, files.LARGEST, trust.foreign_secret)
    except (FileNotFoundError, files.NotRegular) as error:
        raise NotAReport('is no file' if isinstance(error, files.NotRegular) else 'does not exist',
                         'report-missing') from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise NotAReport(f'is not a smartctl report: it is larger than {files.LARGEST >> 20} MiB') from None
        raise DriveError(f'cannot be opened: {error.strerror}', 'report-unreadable') from None


def _report_names(paths: Sequence[str]) -> List[str]:
    """Return short, unique names for files: the last parts of their paths that tell them apart."""
    return unique(_forms(os.path.splitext(path)[0], number) for number, path in enumerate(paths))


def _forms(path: str, number: int) -> Iterator[str]:
    parts = [slug(part) for part in path.split('/') if part] or ['report']
    yield from ('_'.join(parts[-length:]) for length in range(1, len(parts) + 1))
    yield f'{"_".join(parts)}_{number}'
