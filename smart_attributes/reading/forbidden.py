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
_SHIPPED: dict[str, bytes] = {}  # its content by folder: a check needs it twice
_FORBIDS = (
    # an advisory that forbids reading, as the shipped database is formatted
    b'"read": false'
)


def model_of(path: str, device_type: str) -> str:
    """Return the model of the disk at this path as the kernel has it; '' if that is not known, or
    if the address is that of a slot behind a controller.
    """
    if ',' in device_type and not device_type.startswith('sat,'):
        return ''
    name = os.path.basename(os.path.realpath(path))
    for folder in ('block', 'scsi_generic'):
        model = content_of(f'{SYS}/class/{folder}/{name}/device/model')
        if model:
            return model.decode(errors='replace').strip()
    return ''


def shipped() -> bytes:
    """Return the content of the shipped database; b'' if it is missing, which judging reports."""
    if files.PROGRAM not in _SHIPPED:
        _SHIPPED[files.PROGRAM] = content_of(
            f'{files.PROGRAM}/{DATABASE}'
        ) or content_of(f'{os.path.dirname(files.PROGRAM)}/{DATABASE}')
    return _SHIPPED[files.PROGRAM]


def content_of(path: str) -> bytes:
    """Return the content of a file; b'' if it cannot be read, which judging reports of a database."""
    try:
        return files.content(path, LARGEST_FILE)
    except OSError:
        return b''


def may_forbid(content: bytes, model: str) -> bool:
    """Return whether the shipped database may forbid to read drives of this model, by the first
    word of the model.

    In the formatted file, the "models" of an advisory stand before its "read", so the last "models"
    before each "read" that forbids are those of the same advisory.
    """
    word = model.partition(' ')[0].encode()
    if not word:
        return False
    *texts, _ = content.split(_FORBIDS)  # each ends with an advisory that forbids
    return any(word in text[text.rfind(b'"models"') :] for text in texts)


def advisories(content: bytes) -> list[Any]:
    """Return the advisories of a database that forbid reading; [] if it is damaged, which judging
    reports.
    """
    import json  # needed for few drives

    try:
        _, _, listed = content.decode().partition('"advisories"')
        entries, _ = json.JSONDecoder().raw_decode(listed.lstrip(' \r\n\t:'))
        return [entry for entry in entries if entry.get('read') is False]
    except (ValueError, TypeError, AttributeError):
        return []
