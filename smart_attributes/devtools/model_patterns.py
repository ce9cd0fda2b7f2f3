"""What is wrong with a pattern for model names, though it can be used."""
from __future__ import annotations

import re
from typing import Iterator

from ..knowledge import regular_expressions
from ..knowledge.pattern_prefixes import ESCAPES_AND_SETS, has_top_level_bar

LITERALS = 4   # characters that every model pattern must name


def model_problems(pattern: str, is_alone: bool = True) -> Iterator[str]:
    """Yield what is wrong with a pattern for a whole model name: "has three literal characters; …".

    is_alone: nothing else tells which drives are meant, such as the attributes that their table starts with.
    """
    literals = regular_expressions.shape(pattern).literals
    if pattern != pattern.strip() or '  ' in pattern:
        yield 'has blanks at an end or two in a row, which no model has once it is read; remove them'
    if has_top_level_bar(pattern):
        yield 'is a choice of whole patterns, which costs every check time; write one pattern for each'
    elif re.search('[A-Za-z0-9 _-][*]', ESCAPES_AND_SETS.sub('.', pattern)):
        yield 'has * behind a character, which is that character any number of times; write .* for anything'
    elif literals < LITERALS and is_alone:
        yield (f'can match with {literals} literal characters; name at least {LITERALS}, or it claims strangers, '
               'unless "first" or "only" tells their attributes as well')
