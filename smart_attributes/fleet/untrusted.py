"""Read values of documents from other hosts, which can have any type and any length. Pure."""
from __future__ import annotations

from itertools import islice
from typing import Any, List, Optional, Sequence, Tuple

from ..model import State
from ..typed import Json
from ..words import visible

ENTRIES = 200          # entries of a list
WORDS = 500            # characters of a text
LARGEST = 1_000_000    # of a count


def state_of(given: Any) -> State:
    """Return a state; UNKNOWN if it is not one."""
    return State[given] if isinstance(given, str) and given in State.__members__ else State.UNKNOWN


def text_of(given: Any) -> Optional[str]:
    """Return a text that is safe to display; None if it is not one."""
    return visible(given[:WORDS]) if isinstance(given, str) else None


def texts_of(given: Any) -> List[str]:
    """Return the texts of a list."""
    return [visible(each[:WORDS]) for each in given[:ENTRIES] if isinstance(each, str)] if isinstance(
        given, list) else []


def dicts_of(given: Any) -> Sequence[Json]:
    """Return the objects of a list."""
    return [each for each in given[:ENTRIES] if isinstance(each, dict)] if isinstance(given, list) else []


def pairs_of(given: Any) -> Sequence[Tuple[str, Any]]:
    """Return the keys and values of an object."""
    return list(islice(given.items(), ENTRIES)) if isinstance(given, dict) else []


def is_number(given: Any) -> bool:
    """Return whether a value is a number that can be calculated with."""
    return isinstance(given, (int, float)) and not isinstance(given, bool) and abs(given) < 1e30


def is_point(given: Any) -> bool:
    """Return whether a value is a point of a history: [seconds since 1970, number]."""
    return isinstance(given, list) and len(given) == 2 and all(map(is_number, given))


def whole_of(given: Any) -> Optional[int]:
    """Return a whole number; None if it is not one, or too large for a count of drives."""
    return int(given) if is_number(given) and given == int(given) and abs(given) <= LARGEST else None
