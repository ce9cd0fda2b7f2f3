"""Which drives there are: addresses to paste after -d, and who answers there."""
from __future__ import annotations

import json
from typing import List, Optional, Sequence

from ..model import Identity, Read, Verdict
from ..words import clean, sentence, visible


def as_text(reads: Sequence[Read], hide_serial: bool) -> str:
    """Return one line a drive, the address first."""
    rows = [[visible(read.device.address), *_identity(read.identity, hide_serial)] for read in reads]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return '\n'.join('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def _identity(identity: Optional[Identity], hide_serial: bool) -> List[str]:
    identity = identity or Identity()
    cells = [identity.model, identity.firmware, *([] if hide_serial else [identity.serial, identity.wwn])]
    return [clean(cell, limit=60) or '-' for cell in cells]


def as_json(reads: Sequence[Read], verdicts: Sequence[Verdict], hide_serial: bool) -> str:
    """Return the drives as JSON, for apply rules and imports; a drive that cannot be read has a problem."""
    return json.dumps({'version': 1, 'drives': [_drive(read, verdict, hide_serial) for read, verdict in zip(reads, verdicts)]}, indent=1)


def _drive(read: Read, verdict: Verdict, hide_serial: bool) -> object:
    identity = read.identity or Identity()
    return {'address': read.device.address, 'name': read.device.name,
            'device': read.device.path, 'type': read.device.type or None,
            'model': clean(identity.model) or None, 'firmware': clean(identity.firmware) or None,
            'serial': None if hide_serial else clean(identity.serial) or None,
            'wwn': None if hide_serial else clean(identity.wwn) or None,
            'kind': identity.kind if identity.protocol else None, 'problem': sentence(verdict.problem, 500) or None}
