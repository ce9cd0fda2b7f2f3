"""Regular expressions of data files: errors in them, and matching that ends in time."""

from __future__ import annotations

import re

from .. import alarm
from ..constants import MOST_REPETITIONS
from ..typed import Any

QUOTED = 60  # maximum number of characters of a pattern quoted in a message
# seconds of CPU time; a usual pattern takes microseconds for the forty characters of a model
MATCHING_TIME = 0.5

# patterns that took longer, each with the text; they match nothing anymore
_too_slow: dict[str, str] = {}


def error_in(pattern: str) -> str:
    """Return why *pattern* cannot be used, for a message; '' if it can.

    Repetitions such as ((){1000}){2000} take gigabytes of memory before alarm.limited() ends them.
    """
    try:
        re.compile(pattern)
    # Python 3.9 raises RuntimeError for "(?(1)A)"
    except (re.error, OverflowError, RuntimeError) as error:
        return f'is not a valid regular expression: {error}; correct it'
    # how often {n} and {n,m} repeat the innermost part if they are all nested
    repetitions = 1
    for least, most in re.findall(r'\{([0-9]*),?([0-9]*)\}', pattern):
        repetitions *= max(1, int(least or 0), int(most or 0))
    if repetitions > MOST_REPETITIONS:
        return 'repeats a part too often; use smaller repeat counts, such as {1,9}'
    return ''


def quoted(pattern: str) -> str:
    """Return a pattern in quotes, shortened to QUOTED characters."""
    return f'"{pattern}"' if len(pattern) <= QUOTED else f'"{pattern[:QUOTED]}…"'


def fits(pattern: str, text: str) -> bool:
    """Return whether *pattern* matches the whole *text*; False if matching takes too long, see
    too_slow().
    """
    if pattern in _too_slow:
        return False
    try:
        return (
            alarm.limited(re.fullmatch, pattern, text, seconds=MATCHING_TIME)
            is not None
        )
    except alarm.TakesTooLong:
        _too_slow[pattern] = text
        return False


def too_slow() -> list[str]:
    """Return a sentence for each pattern that was ended in this run."""
    return [
        f'matching the pattern {quoted(pattern)} with {quoted(text)} took more than '
        f'{MATCHING_TIME:g} s of CPU time, so the pattern is not used; do not nest '
        'repetitions: write a single one, like [A-Z0-9]+'
        for pattern, text in _too_slow.items()
    ]


# --- models ---------------------------------------------------------------------------------------
# Compiling a pattern takes longer than comparing its beginning with a hundred models, and almost
# every pattern differs there.

# Always matches, if only an empty text. A letter before one of ?*{ may be absent from the model.
_BEGIN: Any = re.compile('[A-Za-z0-9 _/,:-]*(?![?*{])')
# What every text must have after this beginning: one of these plain alternatives, "(ABC|DEF)", or a
# character of this set, "[0-9]".
_ALTERNATIVES: Any = re.compile(r'\(((?:[A-Za-z0-9 _/,:|-]|\\[.])*)\)(?![?*{])')
_SET: Any = re.compile(r'\[[^]\\]+\](?![?*{])')
ESCAPES_AND_SETS = r'\\.|\[\^?\]?(?:\\.|[^]\\])*\]'


def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether *pattern* matches the whole *text*.

    pattern: without alternatives at the top level, see has_top_level_bar(). So each text that it
    matches begins with the pattern's literal beginning, which is compared first.
    """
    begin = _BEGIN.match(pattern)[0]
    return (
        text.startswith(begin)
        and _may_match(pattern[len(begin) :], text[len(begin) :])
        and fits(pattern, text)
    )


def _may_match(pattern: str, text: str) -> bool:
    """Return whether *text* can match a pattern, as far as the beginning of the pattern shows."""
    alternatives = _ALTERNATIVES.match(pattern)
    if alternatives:  # "(ABC|D\.E)"
        return text.startswith(tuple(alternatives[1].replace('\\', '').split('|')))
    characters = _SET.match(pattern)
    if characters:  # "[0-9]"; re caches such a set, and there are only a few
        return re.match(characters[0], text) is not None
    return True


def has_top_level_bar(pattern: str) -> bool:
    """Return whether *pattern* has alternatives at the top level, as in "ABC|DEF" but not in
    "A(BC|DEF)". Patterns of models must not, see matches_pattern().
    """
    open_groups = 0
    for character in re.sub(ESCAPES_AND_SETS, '', pattern, flags=re.S):
        if character == '(':
            open_groups += 1
        elif character == ')':
            open_groups -= 1
        elif character == '|' and open_groups == 0:
            return True
    return False
