"""Sentences with a code: people read the sentence, and programs act on the code."""
from __future__ import annotations

from collections.abc import Mapping

from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class Coded(str):
    """A sentence with its code (a name in codes.json) and its values. It is a str and prints like one."""

    code: str
    fields: Mapping[str, Any]

    def __new__(cls, code: str, text: str, **fields: Any) -> Coded:
        """Return *text* with its code. fields: the values in it, under their keys in the JSON document."""
        made = super().__new__(cls, text)
        made.code, made.fields = code, fields
        return made

    def is_about_the_same(self, other: Coded) -> bool:
        """Return whether both report the same fact about the same thing, whatever their wording."""
        return (self.code, self.fields) == (other.code, other.fields)


NOTHING = Coded('', '')
