"""Drives that reading can harm, told by the model that the kernel has, before smartctl is started.

An advisory of attributes.json with "read": false forbids to read the drives of its models. The kernel
knows the model of a disk since it found the disk, so no command is sent to the drive. Behind a RAID
controller it knows only volumes. It has 16 characters of a model and no complete revision, so an
advisory counts for all revisions. This module is imported before the first process starts, so it must
be cheap.
Source: Linux, drivers/scsi/scsi_sysfs.c and drivers/ata/libata-scsi.c (ata_scsiop_inq_std).
"""

from __future__ import annotations

import os

from .. import files
from ..constants import LARGEST_FILE

# see typed, which would load collections before the first process starts
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SYS = '/sys'  # tests use another folder
DATABASE = 'attributes.json'


def model_of(path: str, device_type: str) -> str:
    """Return the model of the disk at this path as the kernel has it; '' if that is not known, or
    if the address is that of a slot behind a controller.
    """
    if ',' in device_type and not device_type.startswith('sat,'):
        return ''
    name = os.path.basename(os.path.realpath(path))
    for folder in ('block', 'scsi_generic'):
        model = files.text(f'{SYS}/class/{folder}/{name}/device/model', LARGEST_FILE)
        if model:
            return model.strip()
    return ''


def shipped() -> str:
    """Return the shipped database as text; '' if it is missing, which judging reports."""
    inside = f'{files.PROGRAM}/{DATABASE}'
    beside = f'{os.path.dirname(files.PROGRAM)}/{DATABASE}'
    return files.text(inside, LARGEST_FILE) or files.text(beside, LARGEST_FILE)


def may_forbid(text: str, model: str) -> bool:
    """Return whether the shipped database may forbid to read drives of this model, by the first
    word of the model.

    '"models": ["WDC WD20.*"], "firmware": "1", "read": false' -> True for "WDC WD20EZRX"

    Return False for an unknown model ('') or a missing database (''). The text is searched, because
    parsing it would take too long. In the shipped file, the "models" of an advisory are before its
    "read".
    """
    word, _, _ = model.partition(' ')
    if not word:
        return False
    # Each of these parts ends with an advisory that forbids reading.
    *parts, _ = text.split('"read": false')
    for part in parts:
        # In the example, this is ': ["WDC WD20.*"], "firmware": "1", '.
        _, _, models = part.rpartition('"models"')
        if word in models:
            return True
    return False


def advisories(text: str) -> list[Any]:
    """Return the advisories of a database that forbid reading; [] if it is damaged, which judging
    reports.
    """
    import json  # needed for few drives

    try:
        # Only the list after this key is parsed, because the whole database would take longer.
        _, _, listed = text.partition('"advisories"')
        entries, _ = json.JSONDecoder().raw_decode(listed.lstrip(' \r\n\t:'))
        return [entry for entry in entries if entry.get('read') is False]
    except (ValueError, TypeError, AttributeError):
        return []
