"""Compare the identities that drives report: model, serial number and WWN. Pure."""

import re
from functools import lru_cache

from ..model import Identity

# How far two identities agree; see agreement().
NONE, WEAK, STRONG = range(3)


def agreement(first: Identity, second: Identity) -> int:
    """Return how far two identities agree: STRONG, WEAK or NONE.

    The first of these cases counts; what is not known does not differ from anything:
    - The models or the serial numbers differ: NONE.
    - The WWNs and the serial numbers are equal: STRONG.
    - The WWNs are equal, and a serial number is not known: WEAK.
    - The WWNs differ, and neither drive is an NVMe drive: NONE.
    - The serial numbers are equal, and both models are known: WEAK.
    - Too little is known: NONE.
    """
    serials = _compared(serial_key(first.serial), serial_key(second.serial))
    # Two models with one WWN are a manufacturer's mistake.
    if serials == 'different' or not _models_agree(first.model, second.model):
        return NONE
    wwns = _compared(wwn_key(first.wwn), wwn_key(second.wwn))
    if wwns == 'equal':
        return STRONG if serials == 'equal' else WEAK
    # An NVMe drive has a WWN for each namespace, but only one health log.
    if wwns == 'different' and 'NVMe' not in (first.protocol, second.protocol):
        return NONE
    # Two vendors can use one serial number, so the models must be known, too.
    if serials == 'equal' and first.model and second.model:
        return WEAK
    return NONE


def _compared(first: str, second: str) -> str:
    """Return 'equal' or 'different'; 'unknown' if at least one of the two is ''."""
    if not first or not second:
        return 'unknown'
    return 'equal' if first == second else 'different'


def is_same_drive(first: Identity, second: Identity) -> bool:
    """Return whether two identities agree."""
    return agreement(first, second) != NONE


def identifiers(identity: Identity) -> list[str]:
    """Return the identifiers of a drive; drives that agree have one in common."""
    keys = {'serial': serial_key(identity.serial), 'wwn': wwn_key(identity.wwn)}
    return [f'{name} {key}' for name, key in keys.items() if key]


def _models_agree(first: str, second: str) -> bool:
    """Return whether two models can be those of one drive; '' (not known) agrees with any model."""
    if first == second:
        return True
    # SCSI shows a SATA drive as vendor "ATA" and the first 16 characters of its model.
    keys = [re.sub(r'^ATA +| +', '', model.upper()) for model in (first, second)]
    shorter, longer = sorted(keys, key=len)
    return longer.startswith(shorter)


@lru_cache(maxsize=1000)
def serial_key(serial: str) -> str:
    """Return a serial number in a form for comparison, or '' if it does not identify a drive."""
    key = re.sub('[^A-Z0-9]', '', serial.upper())
    is_word = key in _WORDS or key.startswith('TOBEFILLED')
    is_volume = key.rstrip('0123456789') == 'VOLUME'
    is_counted_up = key in _COUNTED_UP  # a part of this text
    is_blanked = 'XXXX' in key or len(set(key)) < 2 or len(key.lstrip('0')) < 4
    return '' if is_word or is_volume or is_counted_up or is_blanked else key


@lru_cache(maxsize=1000)
def wwn_key(name: str) -> str:
    """Return a WWN in a form for comparison, or '' if it does not identify a drive.

    "0x5000cca 02d3e4f56" -> "5000CCA02D3E4F56"
    """
    wwn = re.sub('[^0-9A-F]', '', name.upper().removeprefix('0X'))
    # The format is "5", the organisation "000CCA", and its number of the drive "02D3E4F56".
    organisation = wwn[1:7]
    number = wwn[7:16]
    # There is nothing behind the format, or only one digit, repeated.
    is_blank = len(set(wwn[1:])) < 2
    if is_blank or organisation == '000000' or number in _NO_NUMBERS:
        return ''
    return wwn


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
