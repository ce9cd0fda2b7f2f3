"""The identity of a drive as outputs show it: cleaned once, and without serial numbers if these are
hidden.
"""

from __future__ import annotations

from .errors import Identity
from .typed import NamedTuple
from .words import clean


class Shown(NamedTuple):
    """The identity of a drive as outputs show it. A text is '' if the drive does not report it."""

    model: str = ''
    serial: str | None = ''  # None: serial numbers are hidden
    firmware: str = ''
    wwn: str | None = ''  # None: serial numbers are hidden

    @property
    def name(self) -> str:
        """The model and the serial number; '' if both are unknown."""
        return f'{self.model} {self.serial or ""}'.strip()


def shown(identity: Identity | None, hide_serial: bool) -> Shown:
    """Return an identity as outputs show it. identity: None: unknown."""
    reported = identity or Identity()
    return Shown(
        clean(reported.model),
        None if hide_serial else clean(reported.serial),
        clean(reported.firmware),
        None if hide_serial else clean(reported.wwn),
    )
