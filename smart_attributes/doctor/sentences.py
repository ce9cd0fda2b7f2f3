"""Sentences of this program, taken apart: what is wrong, and what to do. Pure."""

from typing import Iterable, Tuple


def halves(sentence: str) -> Tuple[str, str]:
    """Return (what, what next) of "where: what; what next"; the latter '' where nothing is said."""
    words, _, advice = sentence.partition('; ')
    return words, advice


def dotted(version: Iterable[int]) -> str:
    """Return a version as a person writes it: "7.3"."""
    return '.'.join(map(str, version))
