"""Select drives by the patterns of --match and --ignore. Pure functions."""
from __future__ import annotations

import re

from ..errors import UsageError
from ..model import Device, Identity
from ..typed import TYPE_CHECKING
from .addresses import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from re import Pattern


def patterns(texts: Iterable[str]) -> list[Pattern[str]]:
    """Return the regular expressions of --match or --ignore. Raises UsageError."""
    compiled = []
    for text in texts:
        try:
            compiled.append(re.compile(text))
        except (re.error, RuntimeError, OverflowError) as error:
            raise UsageError(f'{quoted(text)} is not a valid regular expression ({error}); '
                             'write one such as "^/dev/sd" or "ST4000.*"') from None
    return compiled


def is_wanted(device: Device, identity: Identity | None, match: Sequence[Pattern[str]], ignore: Sequence[Pattern[str]],
              is_final: bool = True) -> bool | None:
    """Return whether to check a drive, or None if this depends on a model and serial that are not yet read.

    Each pattern is searched in the address, the path, the name, the model and the serial number. identity: None until
    it is known. is_final: the identity will not become more complete; otherwise return None for a drive that did
    not report a value that the patterns may need, so the drive stays in the check.
    """
    texts = [device.address, device.path, device.name, *((identity.model, identity.serial) if identity else ())]
    if _any_in(ignore, texts):
        return False
    if identity is None or not (is_final or (identity.model and identity.serial)):
        return True if not ignore and (not match or _any_in(match, texts)) else None
    return not match or _any_in(match, texts)


def _any_in(expressions: Sequence[Pattern[str]], texts: Sequence[str]) -> bool:
    return any(expression.search(text) for expression in expressions for text in texts)
