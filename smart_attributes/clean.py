"""Strings that a drive or a program made up, made fit for a line of output.

A model or serial is whatever the firmware wants it to be, and the output is
parsed by a daemon, shown on terminals and pasted into tickets.
"""
from __future__ import annotations

import re

LIMIT = 80                # characters of a model with its marketing name; the standards allow 40
_ELLIPSIS = '...'

# Printable ASCII except | ' and =, single blanks inside: nothing to do for these.
_HARMLESS = re.compile(r'[!-&(-<>-{}~]+(?: [!-&(-<>-{}~]+)*').fullmatch

# ECMA-48: control sequences (CSI), strings (OSC, DCS, SOS, PM, APC) and two-character
# escapes, each in the 7-bit and the 8-bit form. A string without an end goes as a whole.
_ESCAPES = re.compile(
    '(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?'
    '|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?'
    '|\x1b[ -/]*[0-~]?',
)
# Printable for Unicode, but nothing to see: they would forge an empty or equal name.
_INVISIBLE = '\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0'
# The apostrophe vanishes ("Drive's" stays one word), the others part words.
_REPLACED = str.maketrans({"'": None, '|': ' ', '=': ' ', **dict.fromkeys(_INVISIBLE, ' ')})


def literally(text: str) -> str:
    """Return the expression, in Python's language as in POSIX's, that *text* and nothing else matches."""
    return re.sub(r'[.^$*+?{}\[\]\\|()]', r'\\\g<0>', text)


def clean(text: str, limit: int = LIMIT) -> str:
    """Return *text* as one printable line of at most *limit* characters.

    Control characters, escape sequences, line breaks, characters without a shape
    (bidirectional marks, zero width) and the three that Nagios reserves in its
    output (| ' =) are removed; blanks are collapsed.
    """
    if len(text) <= limit and _HARMLESS(text):
        return text
    return _shortened(_printable(text[:limit * 20]), limit)


def sentence(text: str, limit: int) -> str:
    """Return words of our own, with strings from outside in them, as one line: = and ' may stay, a bar may not."""
    visible = ''.join(character if character.isprintable() and character != '|' else ' ' for character in text)
    return _shortened(' '.join(visible.split()), limit)


def _printable(text: str) -> str:
    """Return *text* without whatever does not print as itself."""
    if '\x1b' in text or not text.isascii():
        text = _ESCAPES.sub('', text)
    # str.isprintable() is false for every control, format, surrogate and unassigned character.
    visible = ''.join(character if character.isprintable() else ' ' for character in text.translate(_REPLACED))
    return ' '.join(visible.split())


def _shortened(text: str, limit: int) -> str:
    """Return *text*, its end replaced by "..." where it is longer than *limit*."""
    if len(text) <= limit:
        return text
    return text[:max(limit - len(_ELLIPSIS), 0)].rstrip() + _ELLIPSIS[:limit]
