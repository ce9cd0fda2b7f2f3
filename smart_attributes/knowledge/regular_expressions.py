"""Check that a person's regular expression compiles, and that matching always ends in reasonable time.

Python's engine cannot be interrupted, so an expression that could run forever on an unusual name is rejected.
"""
from __future__ import annotations

import re
from collections.abc import Sequence

from ..constants import MOST_CHOICES, MOST_PARTS, MOST_UNLIMITED
from ..typed import NamedTuple

# All limits apply to the expanded pattern: the content of (...){3} counts three times.
LONG = 8          # a repetition counts as unlimited if its maximum exceeds its minimum by this many
QUOTED = 60       # maximum number of characters of a pattern quoted in a message


def fault(pattern: str) -> str:
    """Return why *pattern* cannot be used and how to fix it; '' if it can be used."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RuntimeError) as error:  # Python 3.9 raises RuntimeError for "(?(1)A)"
        return f'is not a valid regular expression: {error}; correct it'
    parts = shape(pattern)
    if parts.is_nested:
        return 'has a repetition inside another, which can take forever on some names; use one level, like [A-Z0-9]+'
    if parts.unlimited > MOST_UNLIMITED:
        return f'has {parts.unlimited} unlimited repetitions; use at most {MOST_UNLIMITED}'
    if parts.choices > MOST_CHOICES or parts.size > MOST_PARTS:
        return ('has so many alternatives and repetitions that it can take forever on some names; write several '
                'simpler ones')
    return ''


def quoted(pattern: str) -> str:
    """Return a pattern in quotes, shortened to QUOTED characters."""
    return f'"{pattern}"' if len(pattern) <= QUOTED else f'"{pattern[:QUOTED]}…"'


class Shape(NamedTuple):
    """Counts of the parts of a regular expression after its repetitions are expanded."""
    literals: int = 0        # literal characters in every matching text
    unlimited: int = 0       # unlimited repetitions
    is_nested: bool = False  # the expression repeats a part of variable length without limit
    choices: int = 0         # binary logarithm of the number of ways in which it can match
    size: int = 1            # parts

    def repeated(self, least: int, most: int | None) -> Shape:
        """Return the shape of this part repeated *least* to *most* times."""
        times = max(least if most is None else most, 1)
        span = LONG if most is None else most - least
        is_nested = self.is_nested or (most is None and bool(self.unlimited or self.choices))
        return Shape(self.literals * least, self.unlimited * times + (span >= LONG), is_nested,
                     self.choices * times + (span.bit_length() if span < LONG else 0), self.size * times)


_TOKEN = re.compile(r'(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^]\\])*\])|(?P<comment>\(\?#[^)]*\))|'
                    r'(?P<open>\((?:\?(?:P<\w+>|P=\w+|<?[=!]|[:>]|\(\w+\)|[a-zA-Z]*-?[a-zA-Z]*:?))?)'
                    r'|(?P<close>\))|(?P<bar>\|)|(?P<repeat>(?:[*+?]|\{(?!\})\d*,?\d*\})[?+]?)|(?P<any>[.^$])'
                    r'|(?P<literal>.)', re.S)


def shape(pattern: str) -> Shape:
    """Return the shape of a regular expression that compiles."""
    groups: list[tuple[str, list[list[Shape]]]] = [('', [[]])]  # open groups: the opening, and the parts of each branch
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token.group()
        branches = groups[-1][1]
        if kind == 'open':
            groups.append((text, [[]]))
        elif kind == 'close':
            opening = groups.pop()[0]
            part = _of_group(branches)
            groups[-1][1][-1].append(part._replace(literals=0) if opening[-1] in '=!' else part)
        elif kind == 'bar':
            branches.append([])
        elif kind == 'repeat':
            branches[-1].append(branches[-1].pop().repeated(*_times(text)))
        elif kind != 'comment':
            is_named = kind == 'literal' or (kind == 'escape' and not text[1].isalnum())
            branches[-1].append(Shape(literals=int(is_named)))
    return _of_group(groups[0][1])


def _of_group(branches: Sequence[Sequence[Shape]]) -> Shape:
    parts = [part for branch in branches for part in branch]
    return Shape(min(sum(part.literals for part in branch) for branch in branches),
                 sum(part.unlimited for part in parts), any(part.is_nested for part in parts),
                 sum(part.choices for part in parts) + len(branches) - 1, max(sum(part.size for part in parts), 1))


def _times(text: str) -> tuple[int, int | None]:
    """Return the minimum and the maximum (None: no limit) of "*", "+", "?", "{2}", "{2,}" or "{2,4}"."""
    if text[0] in '*+?':
        return {'*': (0, None), '+': (1, None), '?': (0, 1)}[text[0]]
    least, comma, most = text.strip('?+')[1:-1].partition(',')
    return int(least or 0), int(most) if most else None if comma else int(least)
