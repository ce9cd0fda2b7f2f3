"""The list of what this command has installed on this host, by which a later run knows files that nobody changed."""
from __future__ import annotations

import json

from .. import files
from ..errors import SmartError
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = f'{files.CONFIG}/installed.json'
_COMMENT = 'Written by check_smart_attributes install: the files that it wrote, each with its SHA-256.'


def parse(text: str) -> dict[str, str]:
    """Return the digest of each path that was installed. Raises SmartError if the list is damaged."""
    try:
        written = json.loads(text)['written']
        if all(isinstance(word, str) for pair in written.items() for word in pair):
            return dict(written)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise SmartError(f'{PATH} is damaged; delete it: files that this program installed then count as changed',
                     'install-refused')


def document(written: Mapping[str, str]) -> str:
    """Return the text of the list."""
    return json.dumps({'comment': _COMMENT, 'written': dict(sorted(written.items()))}, indent=1) + '\n'
