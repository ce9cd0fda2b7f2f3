"""Compare the identities that drives report: model, serial number and WWN. Pure."""

import re
from functools import lru_cache

from ..model import Identity

# How far two identities agree; see agreement().
NONE, WEAK, STRONG = range(3)


def agreement(first: Identity, second: Identity) -> int:
    """Return how far two identities agree: STRONG, WEAK or NONE.

    STRONG: the serial numbers and the WWNs are equal. WEAK: the WWNs are equal, and a serial number
    is not known; or the models and the serial numbers are equal, and a WWN is not known or an NVMe
    drive has several. NONE: a model, a serial number or a WWN differs, or too little is known.
    """
    if first.model != second.model and not _models_agree(first.model, second.model):
        return NONE  # two models with one WWN are a manufacturer's mistake
    first_serial = serial_key(first.serial)
    second_serial = serial_key(second.serial)
    if first_serial and second_serial and first_serial != second_serial:
        return NONE
    have_equal_serials = first_serial and first_serial == second_serial
    first_wwn = wwn_key(first.wwn)
    second_wwn = wwn_key(second.wwn)
    if first_wwn and first_wwn == second_wwn:
        return STRONG if have_equal_serials else WEAK
    have_different_wwns = first_wwn and second_wwn
    # An NVMe drive has a WWN for each namespace, but only one health log.
    if have_different_wwns and 'NVMe' not in (first.protocol, second.protocol):
        return NONE
    # Two vendors can use one serial number, and an unknown model agrees with any other.
    if have_equal_serials and first.model and second.model:
        return WEAK
    return NONE


def is_same_drive(first: Identity, second: Identity) -> bool:
    """Return whether two identities agree."""
    return agreement(first, second) != NONE


def identifiers(identity: Identity) -> list[str]:
    """Return the identifiers of a drive; drives that agree have one in common."""
    keys = {'serial': serial_key(identity.serial), 'wwn': wwn_key(identity.wwn)}
    return [f'{name} {key}' for name, key in keys.items() if key]


def _models_agree(first: str, second: str) -> bool:
    # SCSI shows a SATA drive as vendor "ATA" and the first 16 characters of its model.
    keys = [re.sub(r'^ATA +| +', '', model.upper()) for model in (first, second)]
    shorter, longer = sorted(keys, key=len)
    return longer.startswith(shorter)


@lru_cache(maxsize=1000)
def serial_key(serial: str) -> str:
    """Return a serial number in a form for comparison, or '' if it does not identify a drive."""
    key = ''.join(
        letter for letter in serial.upper() if letter.isascii() and letter.isalnum()
    )
    is_word = key in _WORDS or key.startswith('TOBEFILLED')
    is_volume = key.rstrip('0123456789') == 'VOLUME'
    is_counted_up = key in _COUNTED_UP  # a part of this text
    is_blanked = 'XXXX' in key or len(set(key)) < 2 or len(key.lstrip('0')) < 4
    return '' if is_word or is_volume or is_counted_up or is_blanked else key


@lru_cache(maxsize=1000)
def wwn_key(name: str) -> str:
    """Return a WWN in a form for comparison, or '' if it does not identify a drive."""
    wwn = ''.join(
        digit
        for digit in name.upper().removeprefix('0X')
        if digit in '0123456789ABCDEF'
    )
    # the first digit is the format, followed by the organisation and by its number of the drive
    is_unset = len(set(wwn[1:])) < 2 or wwn[1:7] == '000000' or wwn[7:16] in _NO_NUMBERS
    return '' if is_unset else wwn


# Words in place of a serial number.
_WORDS = {
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
}
# Default serial numbers of cheap bridges: consecutive digits or letters.
_COUNTED_UP = (
    '12345678901234567890 0123456789ABCDEF0123456789ABCDEF ABCDEFGHIJKLMNOPQRSTUVWXYZ'
)
# Drive numbers that were never set: 0, or 1234567890 (in hexadecimal, or as written). Organisation
# 0 is not a vendor.
_NO_NUMBERS = ('000000000', '0499602D2', '123456789')
