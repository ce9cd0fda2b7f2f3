"""Which drive a command of smartctl reads: one name for whatever path, link or type leads to it.

Imported before the first process starts, so it must be cheap.
"""
from __future__ import annotations

import os
import stat

from . import smartctl_calls

TYPE_CHECKING = False  # as type checkers read typing.TYPE_CHECKING, which would be expensive
if TYPE_CHECKING:
    from .smartctl_calls import Command

LONGEST = 120     # characters of a name that are kept as they are; file systems allow 255 bytes
NODES = '/sys/dev'
BUS = '/dev/bus/'  # and the number of a SCSI host; smartctl's name for a MegaRAID controller, no file
# Their numbers choose how a bridge is asked, or a namespace, which is the same drive.
_NO_SLOTS = ('sat', 'nvme', 'sntjmicron')


def name(command: Command) -> str:
    """Return the file name for the drive that a command reads, or "scan".

    It is the drive's place in sysfs ("0:0:0:0", "nvme0") and, behind a controller, its number and the controller's
    host ("megaraid,6@host0"); where sysfs does not know the path, it is the path.
    """
    kind, path = _type_and_path(smartctl_calls.split(command)[1])
    if not path.startswith('/'):
        return _plain(path.lstrip('-'))
    # Only a drive behind a controller is named by its number: "megaraid,6".
    kind, _, numbers = kind.rpartition('+')[2].partition(',')
    numbers = ','.join(word for word in numbers.split(',') if word[:1].isdigit())
    place = _place(path)
    if not numbers or kind in _NO_SLOTS:
        return _plain(place)
    if path.startswith(BUS):
        place = f'host{path[len(BUS):]}'
    elif place.count(':') == 3:  # "0:2:1:0", of which the first is the SCSI host
        place = f'host{place.partition(":")[0]}'
    return _plain(f'{kind},{numbers}@{place}')


def address(arguments: Command) -> str:
    """Return the address that smartctl's arguments name: TYPE@PATH."""
    return '@'.join(filter(None, _type_and_path(arguments)))


def _type_and_path(arguments: Command) -> tuple[str, str]:
    return arguments[-2] if arguments[-3:-2] == ('-d',) else '', arguments[-1]


def _place(path: str) -> str:
    """Return where sysfs has the drive of a device node, be it a disk, a partition of it or its /dev/sgN.

    Source: Linux, Documentation/ABI/stable/sysfs-dev; drivers/scsi/sg.c; drivers/nvme/host/core.c.
    """
    try:
        status = os.stat(path)
        folder = 'block' if stat.S_ISBLK(status.st_mode) else 'char'
        node = os.readlink(f'{NODES}/{folder}/{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}')
    except OSError:
        return os.path.realpath(path)
    drive, _, below = node.partition('/nvme/')
    if below:
        return below.partition('/')[0]
    drive = node.partition('/block/')[0].partition('/scsi_generic/')[0]
    return os.path.basename(node if drive.endswith('/virtual') else drive)


def _plain(words: str) -> str:
    """Return a name that a file can have."""
    text = ''.join(letter if letter.isascii() and (letter.isalnum() or letter in ',+@._:-') else '!'
                   for letter in words)
    if len(text) <= LONGEST and '!' not in words and text == words.replace('/', '!'):
        return text
    from binascii import crc32  # a sum distinguishes other letters, and what is too long
    return f'{text[-LONGEST:]}!{crc32(os.fsencode(words)):08x}'
