"""What is wrong with a regular expression of a data file, though it compiles."""
from __future__ import annotations

import re
from typing import Iterator, List, NamedTuple, Optional, Tuple

from ..knowledge.specs import has_top_level_bar

LITERALS = 4   # characters that every model pattern must name
UNLIMITED = 4  # repetitions without end that one pattern may have: quick on the forty characters of a name


def model_problems(pattern: str) -> Iterator[str]:
    """Yield what is wrong with a pattern for a whole model name: "has three literal characters; …"."""
    if pattern != pattern.strip() or '  ' in pattern:
        yield 'has blanks at an end or two in a row, which no model has once it is read; remove them'
    if has_top_level_bar(pattern):
        yield 'is a choice of whole patterns, which costs every check time; write one pattern for each'
    elif re.search('[A-Za-z0-9 _-][*]', _ESCAPES_AND_SETS.sub('.', pattern)):
        yield 'has * behind a character, which is that character any number of times; write .* for anything'
    elif shape(pattern).literals < LITERALS:
        yield f'can match with {shape(pattern).literals} literal characters; name at least {LITERALS}, or it claims strangers'
    yield from runaway_problems(pattern)


def runaway_problems(pattern: str) -> Iterator[str]:
    """Yield why a pattern could keep a check busy for ever."""
    found = shape(pattern)
    if found.is_nested:
        yield 'repeats without end what itself varies, which can take for ever on a strange name; write it flat, like [A-Z0-9]+'
    elif found.unlimited > UNLIMITED:
        yield f'has {found.unlimited} repetitions without end; {UNLIMITED} are enough'


class Shape(NamedTuple):
    """What a regular expression is made of."""

    literals: int     # characters that are named in every text it matches
    unlimited: int    # repetitions without end
    is_nested: bool   # a repetition without end of something that varies


_ESCAPES_AND_SETS = re.compile(r'\\.|\[\^?\]?(?:\\.|[^]\\])*\]')
_TOKEN = re.compile(r'(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^]\\])*\])|(?P<open>\((?:\?(?:P<\w+>|<?[=!]|:|[a-zA-Z]+:?))?)|(?P<close>\))'
                    r'|(?P<bar>\|)|(?P<repeat>(?:[*+?]|\{\d*,?\d*\})[?+]?)|(?P<any>[.^$])|(?P<literal>.)', re.S)


class _Group:
    """A part of a pattern between parentheses, while it is read."""

    def __init__(self) -> None:
        self.branches: List[int] = []   # literals of each branch that has ended
        self.literals = 0
        self.last = 0                   # literals of the last atom
        self.last_varies = False
        self.varies = False

    def add(self, literals: int, varies: bool = False) -> None:
        self.literals += literals
        self.last, self.last_varies = literals, varies
        self.varies = self.varies or varies

    def branch(self) -> None:
        self.branches.append(self.literals)
        self.literals, self.varies = 0, True

    def repeat(self, least: int, most: Optional[int]) -> bool:
        """Repeat the last atom and say whether that is a repetition without end of something that varies."""
        self.literals += self.last * (least - 1)
        self.varies = self.varies or least != most
        is_nested = most is None and self.last_varies
        self.last, self.last_varies = self.last * least, least != most
        return is_nested

    def least(self) -> int:
        return min([*self.branches, self.literals])


def shape(pattern: str) -> Shape:
    """Return the shape of a regular expression that compiles."""
    stack, unlimited, is_nested = [_Group()], 0, False
    openings: List[str] = []
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token.group()
        if kind == 'open':
            stack.append(_Group())
            openings.append(text)
        elif kind == 'close':
            group = stack.pop()
            looks_around = openings.pop()[-1] in '=!'
            stack[-1].add(0 if looks_around else group.least(), group.varies)
        elif kind == 'bar':
            stack[-1].branch()
        elif kind == 'repeat':
            least, most = _times(text)
            unlimited += most is None
            is_nested = stack[-1].repeat(least, most) or is_nested
        else:
            stack[-1].add(1 if kind == 'literal' or (kind == 'escape' and not text[1].isalnum()) else 0)
    return Shape(stack[0].least(), unlimited, is_nested)


def _times(text: str) -> Tuple[int, Optional[int]]:
    """Return how often "*", "+", "?", "{2}", "{2,}" or "{2,4}" repeats: at least, and at most (None: no end)."""
    if text[0] in '*+?':
        return {'*': (0, None), '+': (1, None), '?': (0, 1)}[text[0]]
    least, comma, most = text.strip('?+')[1:-1].partition(',')
    return int(least or 0), int(most) if most else None if comma else int(least or 0)
