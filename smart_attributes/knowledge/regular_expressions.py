"""Whether a regular expression that a person wrote can be used: it compiles, and ends on every text.

Python's own engine cannot be stopped; what a strange name could keep busy for ever is refused before it runs.
"""
from __future__ import annotations

import re
from typing import List, NamedTuple, Optional, Tuple

# All of these count in a pattern that is written out: what stands in (...){3}, three times.
UNLIMITED = 4     # repetitions without end: quick on the forty characters of a name
CHOICES = 24      # "|", "?" and the like, each of which may double the work
SIZE = 10000      # parts
LONG = 8          # a repetition that may be this much longer counts as one without end
QUOTED = 60       # characters of a pattern that a sentence may quote


def fault(pattern: str) -> str:
    """Return why *pattern* cannot be used, and what to do about it; '' where it can."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f'is no regular expression: {error}; correct it'
    return runaway(pattern)


def runaway(pattern: str) -> str:
    """Return why a pattern that compiles could keep a check busy for ever; '' where it could not."""
    found = shape(pattern)
    if found.is_nested:
        return 'repeats what itself varies, which can take for ever on a strange name; write it flat, like [A-Z0-9]+'
    if found.unlimited > UNLIMITED:
        return f'has {found.unlimited} repetitions without end; {UNLIMITED} are enough'
    if found.choices > CHOICES or found.size > SIZE:
        return ('has so many parts that vary or repeat that it can take for ever on a strange name; write several '
                'simple ones')
    return ''


def quoted(pattern: str) -> str:
    """Return a pattern between quotes, never at length."""
    return f'"{pattern}"' if len(pattern) <= QUOTED else f'"{pattern[:QUOTED]}…"'


class Shape(NamedTuple):
    """What a regular expression is made of when its repetitions are written out."""

    literals: int     # characters that are named in every text it matches
    unlimited: int    # repetitions without end
    is_nested: bool   # a repetition without end of something that varies
    choices: int      # doublings of the ways in which it can match
    size: int         # parts


ESCAPES_AND_SETS = re.compile(r'\\.|\[\^?\]?(?:\\.|[^]\\])*\]', re.S)
_TOKEN = re.compile(r'(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^]\\])*\])|'
                    r'(?P<open>\((?:\?(?:P<\w+>|<?[=!]|[:>]|[a-zA-Z]+:?))?)'
                    r'|(?P<close>\))|(?P<bar>\|)|(?P<repeat>(?:[*+?]|\{\d*,?\d*\})[?+]?)|(?P<any>[.^$])|(?P<literal>.)',
                    re.S)


class _Part(NamedTuple):
    """What a part of a pattern counts as."""

    literals: int = 0
    unlimited: int = 0
    choices: int = 0
    size: int = 1

    @property
    def varies(self) -> bool:
        return bool(self.unlimited or self.choices)

    def repeated(self, least: int, most: Optional[int]) -> _Part:
        """Return the part as often as it may come."""
        times = max(least if most is None else most, 1)
        span = LONG if most is None else most - least
        return _Part(self.literals * least, self.unlimited * times + (span >= LONG),
                     self.choices * times + (span.bit_length() if span < LONG else 0), self.size * times)


class _Group:
    """A part of a pattern between parentheses, while it is read."""

    def __init__(self) -> None:
        self.ended: List[int] = []      # literals of each branch that has ended
        self.atoms: List[_Part] = []    # of the branch that is read
        self.others = _Part(size=0)     # what the ended branches count as

    def branch(self) -> None:
        whole = self.whole()
        self.ended.append(sum(atom.literals for atom in self.atoms))
        self.others = whole._replace(choices=whole.choices + 1)
        self.atoms = []

    def whole(self) -> _Part:
        parts = [self.others, *self.atoms]
        return _Part(min([*self.ended, sum(atom.literals for atom in self.atoms)]),
                     sum(part.unlimited for part in parts),
                     sum(part.choices for part in parts), max(sum(part.size for part in parts), 1))


def shape(pattern: str) -> Shape:
    """Return the shape of a regular expression that compiles."""
    stack, openings, is_nested = [_Group()], [''], False
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token.group()
        if kind == 'open':
            stack.append(_Group())
            openings.append(text)
        elif kind == 'close':
            part = stack.pop().whole()
            stack[-1].atoms.append(part._replace(literals=0) if openings.pop()[-1] in '=!' else part)
        elif kind == 'bar':
            stack[-1].branch()
        elif kind == 'repeat':
            least, most = _times(text)
            is_nested = is_nested or (most is None and stack[-1].atoms[-1].varies)
            stack[-1].atoms[-1] = stack[-1].atoms[-1].repeated(least, most)
        else:
            stack[-1].atoms.append(_Part(int(kind == 'literal' or (kind == 'escape' and not text[1].isalnum()))))
    return Shape(*stack[0].whole()[:2], is_nested, *stack[0].whole()[2:])


def _times(text: str) -> Tuple[int, Optional[int]]:
    """Return how often "*", "+", "?", "{2}", "{2,}" or "{2,4}" repeats: at least, and at most (None: no end)."""
    if text[0] in '*+?':
        return {'*': (0, None), '+': (1, None), '?': (0, 1)}[text[0]]
    least, comma, most = text.strip('?+')[1:-1].partition(',')
    return int(least or 0), int(most) if most else None if comma else int(least or 0)
