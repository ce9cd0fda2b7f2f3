"""Find out which addresses lead to the same drive. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ..model import Identity, Read, Report
from ..typed import NamedTuple
from .device_types import is_raid


class Distinct(NamedTuple):
    """A drive: the address to keep, and its other addresses."""

    read: Read
    others: tuple[Read, ...] = ()


def distinct(reads: Sequence[Read]) -> list[Distinct]:
    """Return each drive once, in the order in which the drives were given.

    If in doubt, two addresses are two drives: a drive shown twice is a nuisance, but a failing
    drive merged into another is overlooked. If a drive has several addresses, an address with a
    report is kept, preferably an address behind RAID, because it stays the same when the volume
    gets another letter.
    """
    groups: list[list[Read]] = []
    bearers: dict[str, list[int]] = {}  # identifier of a drive -> groups that have it, in order
    for read in reads:
        names = _names(read) if len(reads) > 1 else []
        same = next(
            (
                groups[place]
                for place in sorted({place for name in names for place in bearers.get(name, ())})
                if all(
                    read.identity
                    and other.identity
                    and is_same_drive(read.identity, other.identity)
                    and not _differ(read, other)
                    for other in groups[place]
                )
            ),
            None,
        )
        if same is None:
            same = []
            for name in names:
                bearers.setdefault(name, []).append(len(groups))
            groups.append(same)
        same.append(read)
    best = [
        min(
            group,
            key=lambda read: (  # the first of equally good addresses
                not isinstance(read.outcome, Report),
                not is_raid(read.device),
                read.device.optional,
            ),
        )
        for group in groups
    ]
    return [
        Distinct(read, tuple(other for other in group if other is not read))
        for read, group in zip(best, groups)
    ]


def _names(read: Read) -> list[str]:
    """Return the identifiers of a drive.

    Drives without a common identifier are different; see is_same_drive().
    """
    # Two recordings of one drive stay separate reports, so that they can be compared.
    if read.identity is None or read.device.is_recorded:
        return []
    serial, wwn = serial_key(read.identity.serial), _wwn(read.identity.wwn)
    return [*([f'serial {serial}'] if serial else ()), *([f'wwn {wwn}'] if wwn else ())]


def _differ(one: Read, other: Read) -> bool:
    """Return whether two reports without a WWN are from different drives: cheap drives can share
    a serial number.
    """
    known = [
        _counters(read.outcome)
        for read in (one, other)
        if isinstance(read.outcome, Report) and not _wwn(read.outcome.identity.wwn)
    ]
    return len(known) == 2 and any(
        known[0][key] != known[1][key] for key in known[0].keys() & known[1].keys()
    )


def _counters(report: Report) -> Mapping[int | str, object]:
    """Return the health status and counters that hardly ever change while a drive is read at two
    addresses.
    """
    status: dict[int | str, object] = (
        {} if report.smart_status is None else {'smart_status': report.smart_status}
    )
    return {
        **status,
        **{row.id: row.raw for row in report.attributes if row.id in _STEADY},
        **{key: number for key, number in report.nvme.items() if key in _STEADY},
    }


def note(drive: Distinct) -> str:
    """Return a note that lists a drive's other addresses, each with the error if it could not be
    read; or ''.
    """
    others = [
        read.device.address
        + ('' if isinstance(read.outcome, Report) else f', which {read.outcome}')
        for read in drive.others
    ]
    return 'also reached as ' + ', '.join(others) if others else ''


def is_same_drive(one: Identity, other: Identity) -> bool:
    """Return whether two identities certainly belong to the same drive."""
    if one.model != other.model and not _models_agree(one.model, other.model):
        return False  # two models with one WWN are a manufacturer's mistake
    serials = serial_key(one.serial), serial_key(other.serial)
    if all(serials) and serials[0] != serials[1]:
        return False
    wwns = _wwn(one.wwn), _wwn(other.wwn)
    # An NVMe drive has a WWN for each namespace, but only one health log.
    if all(wwns) and (wwns[0] == wwns[1] or 'NVMe' not in (one.protocol, other.protocol)):
        return wwns[0] == wwns[1]
    return bool(serials[0] and serials[0] == serials[1] and one.model and other.model)


def _models_agree(one: str, other: str) -> bool:
    # SCSI shows a SATA drive as vendor "ATA" and the first 16 characters of its model.
    first, second = (re.sub(r'^ATA +| +', '', model.upper()) for model in (one, other))
    return first.startswith(second) or second.startswith(first)


@lru_cache(maxsize=1000)
def serial_key(serial: str) -> str:
    """Return a serial number in a form for comparison, or '' if it does not identify a drive."""
    key = ''.join(each for each in serial.upper() if each.isascii() and each.isalnum())
    is_word = (
        key in _WORDS
        or key.startswith('TOBEFILLED')
        or key.rstrip('0123456789') == 'VOLUME'
        or 'XXXX' in key
    )
    return (
        '' if is_word or len(set(key)) < 2 or key in _COUNTING or len(key.lstrip('0')) < 4 else key
    )


@lru_cache(maxsize=1000)
def _wwn(name: str) -> str:
    wwn = ''.join(each for each in name.upper().removeprefix('0X') if each in '0123456789ABCDEF')
    return '' if len(set(wwn[1:])) < 2 or wwn[1:7] == '000000' or wwn[7:16] in _NO_NUMBERS else wwn


# Reallocated and pending sectors, errors and power cycles, as ATA attributes and in the health log
# of NVMe.
_STEADY = frozenset(
    (5, 12, 187, 197, 198, 'critical_warning', 'media_errors', 'percentage_used', 'power_cycles')
)
# Words in place of a serial number.
_WORDS = frozenset(
    (
        'NONE',
        'NULL',
        'NA',
        'UNKNOWN',
        'DEFAULT',
        'SERIAL',
        'SERIALNUMBER',
        'NOTAVAILABLE',
        'NOSERIAL',
        'REDACTED',
        'HIDDEN',
        'MASKED',
        'SN',
    )
)
# Default serial numbers of cheap bridges: consecutive digits or letters.
_COUNTING = '12345678901234567890 0123456789ABCDEF0123456789ABCDEF ABCDEFGHIJKLMNOPQRSTUVWXYZ'
# Drive numbers that were never set: 0, or 1234567890 (in hexadecimal, or as written). Organisation
# 0 is not a vendor.
_NO_NUMBERS = ('000000000', '0499602D2', '123456789')
