"""Sentences of this program, taken apart: what is wrong, and what to do. Pure."""
from __future__ import annotations


def halves(sentence: str) -> tuple[str, str]:
    """Return (what, what next) of "where: what; what next"; the latter '' where there is none."""
    words, _, advice = sentence.partition('; ')
    return words, advice
