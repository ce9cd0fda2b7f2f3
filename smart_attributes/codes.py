"""Codes: one stable name for each finding, each note and each reason for UNKNOWN, with its remedy.

Programs decide by codes and fields, never by sentences. A code keeps its name and its meaning in later versions.
"""
from __future__ import annotations

from .typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Mapping, Tuple


class Code(NamedTuple):
    """A code: its name, the state that it usually has ('' for a note), what it means, and the next step."""

    name: str
    severity: str
    meaning: str
    remedy: str


class Coded(str):
    """A sentence with its code: str, so that it prints as it stands."""

    code: str

    def __new__(cls, code: str, text: str) -> Coded:
        """Return *text* with its code."""
        made = super().__new__(cls, text)
        made.code = code
        return made


# Why a drive, or a whole check, is UNKNOWN.
REASONS: Tuple[Code, ...] = ()
# What is wrong with a drive that was read.
FINDINGS: Tuple[Code, ...] = ()
# What is worth knowing and changes no state.
NOTES: Tuple[Code, ...] = ()
BY_NAME: Mapping[str, Code] = {each.name: each for each in (*REASONS, *FINDINGS, *NOTES)}
