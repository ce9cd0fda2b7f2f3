"""Split messages of this program into the problem and the next step. Pure."""
from __future__ import annotations


def halves(sentence: str) -> tuple[str, str]:
    """Return (problem, next step) of a message "place: problem; next step"; '' if it has no next step."""
    words, _, advice = sentence.partition('; ')
    return words, advice
