"""Sentences with their code: what a check reports, as a person reads it and as a program decides by it."""
from __future__ import annotations

from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Mapping


class Coded(str):
    """A sentence with its code, a name in codes.json, and the values in it. A str: it prints as it is."""

    code: str
    fields: Mapping[str, Any]

    def __new__(cls, code: str, text: str, **fields: Any) -> Coded:
        """Return *text* with its code. fields: its values for a program, keys of the JSON document."""
        made = super().__new__(cls, text)
        made.code, made.fields = code, fields
        return made

    def is_about_the_same(self, other: Coded) -> bool:
        """Return whether both report the same of the same, however they word it."""
        return (self.code, self.fields) == (other.code, other.fields)


NOTHING = Coded('', '')
