"""Compare the beginnings of patterns with a text to find those that may match, without compiling
any pattern.

Compiling a pattern takes longer than comparing its literal beginning with a hundred models, and
almost every pattern differs already in this beginning, usually in the first character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import takewhile

from ..typed import Any
from .patterns import fits


class ByBeginning:
    """A lookup of things by text: a thing is found if one of its patterns matches the text."""

    def __init__(self, things: Iterable[tuple[Sequence[str], Any]]):
        """Store the things, given as (patterns, thing).

        A thing without patterns is found for every text.
        """
        self._things: list[Any] = []
        self._always: list[int] = []
        self._patterns: dict[str, list[tuple[int, str]]] = {}  # by first character; '': unknown
        for place, (patterns, thing) in enumerate(things):
            self._things.append(thing)
            self._always += [] if patterns else [place]
            for pattern in patterns:
                for start in first_characters(pattern) or ('',):
                    self._patterns.setdefault(start, []).append((place, pattern))

    def matching(self, text: str) -> list[Any]:
        """Return the things that are found for a text, in the order given."""
        places = set(self._always)
        for start in {text[:1], ''}:
            places.update(
                place
                for place, pattern in self._patterns.get(start, ())
                if matches_pattern(pattern, text)
            )
        return [self._things[place] for place in sorted(places)]


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether *pattern* matches the whole *text*."""
    # the last letter may be optional
    if '|' not in pattern and not text.startswith(_LETTERS.match(pattern)[0][:-1]):
        return False  # most patterns end here
    for places, rest in _alternatives(pattern):
        if len(text) >= len(places) and all(map(str.__contains__, places, text)):
            if rest not in ('', '.*'):
                return fits(pattern, text)
            if len(text) == len(places) or (rest and '\n' not in text):
                return True
    return False


_MAKES_OPTIONAL = ('?', '*', '{')
# A group of alternatives that all begin with a required character.
_CHOICE = re.compile(
    r'\((\w(?![?*{])(?:[^()|\\]|\\.)*(?:\|\w(?![?*{])(?:[^()|\\]|\\.)*)*)\)(?![?*{])'
)


def first_characters(pattern: str) -> str:
    """Return the characters that a match of *pattern* can start with; '' if they are not
    obvious.
    """
    if '|' in pattern and has_top_level_bar(pattern):
        return ''
    if pattern[:1].isalnum():
        return '' if pattern[1:2] in _MAKES_OPTIONAL else pattern[0]
    firsts = [places[0] if places else '' for places, _ in _alternatives(pattern)]
    return ''.join(firsts) if all(firsts) else ''


_LETTER = r'[A-Za-z0-9 _/,:-]'
_PLACE = rf'{_LETTER}|\[(?:[A-Za-z0-9]+|0-9)\]|\\[^A-Za-z0-9]'
_EACH_PLACE = re.compile(_PLACE)
# Both patterns always match, if only an empty text.
_LETTERS: Any = re.compile(f'{_LETTER}*')
_PLACES: Any = re.compile(f'(?:{_PLACE})*')


@cache
def _alternatives(pattern: str) -> Sequence[tuple[Sequence[str], str]]:
    """Return the parts of *pattern*; if a group of alternatives follows the first positions, the
    parts for each.
    """
    places, rest = _parts(pattern)
    choice = _CHOICE.match(rest)
    # Bars in escapes and in sets separate nothing.
    if (
        not choice
        or '|' in ''.join(ESCAPES_AND_SETS.findall(choice[1]))
        or has_top_level_bar(pattern)
    ):
        return ((places, rest),)
    head = pattern[: len(pattern) - len(rest)]
    return tuple(_parts(head + part + rest[choice.end() :]) for part in choice[1].split('|'))


def _parts(pattern: str) -> tuple[Sequence[str], str]:
    """Return, for each of the first positions, the characters that a match can have there, and the
    rest of a pattern.

    Positions that a quantifier may make optional are in the rest.
    """
    if '|' in pattern and has_top_level_bar(pattern):
        return (), pattern
    start = _PLACES.match(pattern)[0]
    places = _EACH_PLACE.findall(start)
    if places and pattern[len(start) : len(start) + 1] in _MAKES_OPTIONAL:
        start = start[: -len(places.pop())]
    return [_characters(place) for place in places], pattern[len(start) :]


def _characters(place: str) -> str:
    """Return the characters that a match can have at a place: a letter, a set or an escape."""
    if place[0] == '\\':
        return place[1]
    return '0123456789' if place == '[0-9]' else place.strip('[]')


def literal_beginning(pattern: str) -> str:
    """Return the characters that every match of *pattern* starts with."""
    return ''.join(takewhile(lambda place: len(place) == 1, _parts(pattern)[0]))


ESCAPES_AND_SETS = re.compile(r'\\.|\[\^?\]?(?:\\.|[^]\\])*\]', re.S)


@cache
def has_top_level_bar(pattern: str) -> bool:
    """Return whether *pattern* has alternatives at the top level, as in "ABC|DEF" but not in
    "A(BC|DEF)".
    """
    depth = 0
    for before in ESCAPES_AND_SETS.sub('', pattern).split('|')[:-1]:
        depth += before.count('(') - before.count(')')
        if depth == 0:
            return True
    return False
