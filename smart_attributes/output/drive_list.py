"""The list of drives: each address, ready to paste after -d, and the drive that answers there."""
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ..constants import DOCUMENTS
from ..model import Identity, Verdict
from ..words import clean, coded, sentence, visible
from .statements import kind, problem


def as_text(verdicts: Sequence[Verdict], addresses: Sequence[str], hide_serial: bool) -> str:
    """Return one line per drive, starting with its address and, if it cannot be read, ending with the reason."""
    rows = [[visible(address), *_identity(verdict.identity, hide_serial), coded(problem(verdict))]
            for verdict, address in zip(verdicts, addresses)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return '\n'.join('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def _identity(identity: Identity, hide_serial: bool) -> list[str]:
    cells = [identity.model, identity.firmware, *([] if hide_serial else [identity.serial, identity.wwn])]
    return [clean(cell, limit=60) or '-' for cell in cells]


def as_json(verdicts: Sequence[Verdict], addresses: Sequence[str], hide_serial: bool,
            more: Mapping[str, str] = {}) -> str:
    """Return the drives as JSON, for apply rules and imports; "problem" is the reason why a drive cannot be read.

    more: further keys of the document: "state", "error".
    """
    drives = [_drive(verdict, address, hide_serial) for verdict, address in zip(verdicts, addresses)]
    return json.dumps({'version': DOCUMENTS['list'], **more, 'drives': drives}, indent=1)


def _drive(verdict: Verdict, address: str, hide_serial: bool) -> object:
    device, identity = verdict.device, verdict.identity
    return {'address': address, 'name': device.name,
            'device': device.path, 'type': device.type or None,
            'model': clean(identity.model) or None, 'firmware': clean(identity.firmware) or None,
            'serial': None if hide_serial else clean(identity.serial) or None,
            'wwn': None if hide_serial else clean(identity.wwn) or None,
            'kind': kind(verdict) or None, 'problem': sentence(verdict.problem, 500) or None,
            'code': verdict.code or None}
