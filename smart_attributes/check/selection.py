"""Choose drives by --match and --ignore."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from re import Pattern

from .. import alarm
from ..errors import UsageError
from ..model import Device, Identity
from ..reading.addresses import quoted

Patterns = Sequence[Pattern[str]]


def patterns(texts: Iterable[str]) -> list[Pattern[str]]:
    """Return the regular expressions of --match or --ignore. Raises UsageError."""
    compiled = []
    for text in texts:
        try:
            compiled.append(re.compile(text))
        except (re.error, RuntimeError, OverflowError) as error:
            raise UsageError(
                f'{quoted(text)} is not a valid regular expression ({error}); '
                'write one such as "^/dev/sd" or "ST4000.*"'
            ) from None
    return compiled


def is_wanted(
    device: Device,
    identity: Identity | None,
    match: Patterns,
    ignore: Patterns,
    is_final: bool = True,
) -> bool:
    """Return whether to check a drive; True if this depends on a model or serial number that is not
    yet known.

    Each pattern is searched for in the address, the path, the name, the model and the serial
    number. identity: None until it is known. is_final: the identity will not become more complete.
    """
    texts = [device.address, device.path, device.name]
    if identity:
        texts += [identity.model, identity.serial]
    if _any_in(ignore, texts):
        return False
    if identity is None or not match:
        return True
    has_both = identity.model and identity.serial
    if not is_final and not has_both:
        return True  # what is still unknown could be the text that matches
    return _any_in(match, texts)


def _any_in(expressions: Patterns, texts: Sequence[str]) -> bool:
    """Return whether any expression is found in any text. Raises TakesTooLong with its pattern."""
    for expression in expressions:
        try:
            if any(expression.search(text) for text in texts):
                return True
        except alarm.TakesTooLong as slow:
            raise alarm.TakesTooLong(
                f'{slow} for the pattern {quoted(expression.pattern)}'
            ) from None
    return False
