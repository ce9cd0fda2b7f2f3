"""Compare the beginnings of patterns with a text to find those that may match, without compiling any pattern.

Compiling a pattern takes longer than comparing its literal beginning with a hundred models, and almost every pattern
differs already in this beginning, usually in the first character.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import takewhile

from ..typed import Any


class ByBeginning:
    """A lookup of things by text: a thing is found if one of its patterns matches the text."""

    def __init__(self, things: Iterable[tuple[Sequence[str], Any]]):
        """Store the things, given as (patterns, thing). A thing without patterns is found for every text."""
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
            places.update(place for place, pattern in self._patterns.get(start, ()) if matches_pattern(pattern, text))
        return [self._things[place] for place in sorted(places)]


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether *pattern* matches the whole *text*."""
    return _may_match(pattern, text) and re.fullmatch(pattern, text) is not None


def _may_match(pattern: str, text: str) -> bool:
    """Return whether the first characters of a text allow a match; most patterns fail at their first letters."""
    if '|' not in pattern and not text.startswith(_LETTERS.match(pattern)[0][:-1]):  # the last letter may be optional
        return False
    start = beginning(pattern)
    return len(text) >= len(start) and all(map(str.__contains__, start, text))


_MAKES_OPTIONAL = ('?', '*', '{')
# A set of characters; a group of alternatives that all begin with a required character.
_SET = re.compile(r'\[([A-Za-z0-9]+|0-9)\](?![?*{])')
_CHOICE = re.compile(r'\((\w(?![?*{])(?:[^()|\\]|\\.)*(?:\|\w(?![?*{])(?:[^()|\\]|\\.)*)*)\)(?![?*{])')


def first_characters(pattern: str) -> str:
    """Return the characters that a match of *pattern* can start with; '' if they are not obvious."""
    if '|' in pattern and has_top_level_bar(pattern):
        return ''
    if pattern[:1].isalnum():
        return '' if pattern[1:2] in _MAKES_OPTIONAL else pattern[0]
    if pattern[:2] in ('\\(', '\\['):
        return '' if pattern[2:3] in _MAKES_OPTIONAL else pattern[1]
    characters = _SET.match(pattern)
    if characters:
        return characters[1].replace('0-9', '0123456789')
    choice = _CHOICE.match(pattern)
    return ''.join(part[0] for part in choice[1].split('|')) if choice else ''


_LETTER = r'[A-Za-z0-9 _/,:-]'
_PLACE = rf'{_LETTER}|\[[A-Za-z0-9]+\]'
_EACH_PLACE = re.compile(_PLACE)
# Both patterns always match, if only an empty text.
_LETTERS: Any = re.compile(f'{_LETTER}*')
_PLACES: Any = re.compile(f'(?:{_PLACE})*')


@lru_cache(maxsize=None)
def beginning(pattern: str) -> Sequence[str]:
    """Return, for each of the first positions, the characters that a match of *pattern* can have there."""
    if '|' in pattern and has_top_level_bar(pattern):
        return ()
    start = _PLACES.match(pattern)[0]
    places = [place.strip('[]') for place in _EACH_PLACE.findall(start)]
    # A quantifier after the last position may make it optional.
    return places[:-1] if pattern[len(start):len(start) + 1] in _MAKES_OPTIONAL else places


def literal_beginning(pattern: str) -> str:
    """Return the characters that every match of *pattern* starts with."""
    return ''.join(takewhile(lambda place: len(place) == 1, beginning(pattern)))


ESCAPES_AND_SETS = re.compile(r'\\.|\[\^?\]?(?:\\.|[^]\\])*\]', re.S)


@lru_cache(maxsize=None)
def has_top_level_bar(pattern: str) -> bool:
    """Return whether *pattern* has alternatives at the top level, as in "ABC|DEF" but not in "A(BC|DEF)"."""
    depth = 0
    for before in ESCAPES_AND_SETS.sub('', pattern).split('|')[:-1]:
        depth += before.count('(') - before.count(')')
        if depth == 0:
            return True
    return False
