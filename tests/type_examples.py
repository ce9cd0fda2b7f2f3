"""Examples of smartctl's types, made from the entries of device_types: a new entry is tried
without another line.
"""

import re
from collections.abc import Sequence

import tables

from smart_attributes.reading.device_types import TYPES, DeviceType

CONTROLLERS = [entry for entry in TYPES if entry.controller]


def of(entry: DeviceType) -> list[str]:
    """Return the types of a controller with its lowest and its highest numbers, each without and
    with what is optional: areca,1  areca,128  areca,1/1  areca,128/8. Behind "sat+" and "scsi+" as
    well, where the entry has them.
    """
    plain = [
        _numbered(form, [limits[end] for limits in entry.slots])
        for form in tables.spellings(entry.form)
        for end in (0, 1)
    ]
    return plain + [
        f'{tunnel}+{plain[0]}'
        for tunnel in ('sat', 'sat,auto,12', 'scsi')
        if entry.is_scsi
    ]


def _numbered(form: str, numbers: Sequence[int]) -> str:
    left = iter(numbers)
    return re.sub('[A-Z]+', lambda _: str(next(left)), form)
