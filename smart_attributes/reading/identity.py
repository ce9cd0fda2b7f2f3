"""Compare the identities that drives report: model, serial number and WWN. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from ..model import Identity

# How far the identities that were read at two addresses agree: they are two drives or did not say
# what they are; the serial number or the WWN is equal, and the other one not known; both are equal.
NONE, WEAK, STRONG = range(3)


def agreement(one: Identity, other: Identity) -> int:
    """Return how far two identities agree: NONE, WEAK or STRONG."""
    if one.model != other.model and not _models_agree(one.model, other.model):
        return NONE  # two models with one WWN are a manufacturer's mistake
    serial, other_serial = serial_key(one.serial), serial_key(other.serial)
    if serial and other_serial and serial != other_serial:
        return NONE
    has_serial = bool(serial and serial == other_serial)
    wwn, other_wwn = wwn_key(one.wwn), wwn_key(other.wwn)
    if wwn and wwn == other_wwn:
        return STRONG if has_serial else WEAK
    # An NVMe drive has a WWN for each namespace, but only one health log.
    if wwn and other_wwn and 'NVMe' not in (one.protocol, other.protocol):
        return NONE
    return WEAK if has_serial and one.model and other.model else NONE


def is_same_drive(one: Identity, other: Identity) -> bool:
    """Return whether two identities agree."""
    return agreement(one, other) != NONE


def identifiers(identity: Identity) -> list[str]:
    """Return the identifiers of a drive; drives that agree have one in common."""
    serial, wwn = serial_key(identity.serial), wwn_key(identity.wwn)
    names = ('serial', serial), ('wwn', wwn)
    return [f'{name} {value}' for name, value in names if value]


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
def wwn_key(name: str) -> str:
    """Return a WWN in a form for comparison, or '' if it does not identify a drive."""
    wwn = ''.join(each for each in name.upper().removeprefix('0X') if each in '0123456789ABCDEF')
    return '' if len(set(wwn[1:])) < 2 or wwn[1:7] == '000000' or wwn[7:16] in _NO_NUMBERS else wwn


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
