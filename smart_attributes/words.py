"""Make strings from drives and other programs safe for a line of output.

Firmware can report any text as model or serial number. A daemon parses the output and puts it into
web pages, mails and the command lines of notifications; people see it on terminals and paste it
into tickets. All output code prints such
strings through one of three functions: `visible` for names that must not change (a path),
`sentence` for our own text with names in it, and `clean` for text from a drive or smartctl.
"""

from __future__ import annotations

import re

from .typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT = 80  # characters of a model with its marketing name; the standards allow 40
_ELLIPSIS = '...'
TYPED = 0.45  # similarity, see difflib: two of five letters are wrong

# ECMA-48: control sequences (CSI), strings (OSC, DCS, SOS, PM, APC) and two-character
# escapes, each in the 7-bit and the 8-bit form. An unterminated string is removed completely.
_ESCAPES = (
    '(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?'
    '|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?'
    '|\x1b[ -/]*[0-~]?'
)
# Printable in Unicode but invisible: they could forge an empty name, or a name that looks like
# another.
_SHAPELESS = str.maketrans(
    dict.fromkeys('\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0', ' ')
)
# A bar begins perfdata. Our own sentences never need <, > or `, which could be HTML tags on a page
# (Nagios with escape_html_tags=0) or a command in the shell of a notification.
_OURS = str.maketrans(dict.fromkeys('|<>`', ' '))
# Text from a drive must not contain characters of perfdata, or characters that a shell expands in
# double quotes. The apostrophe is removed ("Drive's" stays one word); the others become blanks.
_FOREIGN = str.maketrans({"'": None, **dict.fromkeys('|=<>`"$\\', ' ')})
# For each character that may be printed, so many are examined: a text of many megabytes takes no
# time, and escape sequences, which are removed, can take up most of a text.
_READ_PER_SHOWN = 20


def literally(text: str) -> str:
    """Return a regular expression, valid in Python and POSIX, that matches exactly *text*."""
    return re.sub(r'[.^$*+?{}\[\]\\|()]', r'\\\g<0>', text)


def clean(text: str, limit: int = LIMIT) -> str:
    """Return text from a drive or smartctl as one line of at most *limit* characters, safe in any
    output.

    A blank replaces characters that are invisible, are reserved by Nagios (| =), or begin HTML tags
    or shell commands; apostrophes are removed, and several blanks become one.
    """
    return _shortened(
        visible(text[: limit * _READ_PER_SHOWN]).translate(_FOREIGN), limit
    )


def sentence(text: str, limit: int) -> str:
    """Return our own text, which may contain names, as one line; keep "=" and quotes, and remove
    "|".
    """
    return _shortened(visible(text[: limit * _READ_PER_SHOWN]).translate(_OURS), limit)


def argument(name: str, placeholder: str) -> str:
    """Return the argument of a command that admins paste: *name*, or *placeholder* ("DEVICE") if
    *name* is unsafe there.

    A name is safe if it has at most 80 characters, all without a meaning for a shell, and does not
    begin with "-" like an option. Names are not quoted, because a daemon removes quotes from
    notifications and may cut off the closing quote.
    """
    is_safe = re.fullmatch('[A-Za-z0-9._/:@%+][A-Za-z0-9._/:@%+-]{0,79}', name)
    return name if is_safe else placeholder


def visible(text: str) -> str:
    """Return *text* as one line, without escape sequences and with a blank for each invisible
    character.

    Control characters, line breaks, bidirectional marks, zero-width characters and surrogates count
    as invisible.
    """
    if '\x1b' in text or not text.isascii():
        text = re.sub(_ESCAPES, '', text).translate(_SHAPELESS)
    # str.isprintable() is false for every control, format, surrogate and unassigned character.
    if text.isprintable():
        return text
    return ''.join(character if character.isprintable() else ' ' for character in text)


def _shortened(text: str, limit: int) -> str:
    """Return *text* with single blanks; if it is longer than *limit*, "..." replaces its end."""
    text = ' '.join(text.split())
    if len(text) <= limit:
        return text
    # a limit below three leaves only a part of "..."
    return text[: max(limit - len(_ELLIPSIS), 0)].rstrip() + _ELLIPSIS[:limit]


def coded(text: str) -> str:
    """Return a sentence after its code: "[no-drives] no drives to check"; without a code, only
    the sentence.
    """
    code = getattr(text, 'code', '')
    return f'[{code}] {text}' if code and text else text


def nearest(word: str, words: Iterable[str], alike: float = 0.6) -> str:
    """Return "did you mean …?" with the most similar of *words*; '' if none is similar. alike:
    cutoff, 0 to 1.
    """
    near = closest(word, words, alike)
    return f'did you mean {near}?' if near else ''


def closest(word: str, words: Iterable[str], alike: float) -> str:
    """Return the most similar of *words*; '' if none is similar. alike: cutoff, 0 to 1."""
    import difflib  # costs 2 ms

    near = difflib.get_close_matches(word.lower(), words, 1, alike)
    return near[0] if near else ''
