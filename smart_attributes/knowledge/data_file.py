"""Read the data of a JSON file, or report why it cannot be read.

Shipped files are validated before a release (see the command validate), so that a check loads them without validation;
the files of a site are validated by `site_file`.
"""
from __future__ import annotations

import errno
import json
import os
import re
from collections import Counter

from .. import files, trust
from ..errors import DataError
from ..typed import TYPE_CHECKING, MutableJson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    Pairs = list[tuple[str, Any]]   # keys and values of an object, in the order of the text

LONGEST_NUMBER = 40   # characters; 48 bits have 15 digits
PACKAGE = files.PROGRAM


def shipped(name: str) -> str:
    """Return the path of the shipped file or folder *name*. Raises DataError if it is missing.

    A wheel and the single-file program hold the data inside the package; a checkout and the Debian package next to it.
    """
    if not os.path.isdir(PACKAGE):
        return os.path.join(PACKAGE, name)
    for folder in (PACKAGE, os.path.dirname(PACKAGE)):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise DataError(f'{name} is neither in {PACKAGE} nor beside it; install check_smart_attributes again')


def load(path: str) -> Any:
    """Return the data of a shipped file without validation. Raises DataError if it cannot be read."""
    try:
        return json.loads(files.content(path, files.LARGEST))
    except (OSError, ValueError) as error:
        raise DataError(f'{path}: {_reason(error)}; install check_smart_attributes again') from None


# --- opening ---------------------------------------------------------------------

def site_text(path: str) -> str:
    """Return the text of a site's file. Raises DataError, also if others than root and this user can change it."""
    user = os.geteuid()
    try:
        fault = trust.fault(path, user)
    except (OSError, ValueError) as error:
        raise DataError(f'{path}: {_reason(error)}; give a readable file') from None
    if fault:
        owner = 'root' if user == trust.ROOT else 'root or this user'
        raise DataError(f'{path}: {fault}; only files that nobody but {owner} can change '
                        'are read; to fix this, use chown, chmod go-w or setfacl -b')
    return read_text(path)


def read_text(path: str) -> str:
    """Return the text of a regular file whose size is limited.

    Raises DataError for any other file, including one that another user could link to here but cannot read.
    """
    try:
        content = files.content(path, files.LARGEST, trust.foreign_secret)
    except files.NotRegular:
        raise DataError(f'{path} is not a regular file; give a JSON file') from None
    except files.NotShown as error:
        raise DataError(f'{path}: {error.strerror}') from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise DataError(f'{path} is larger than {files.LARGEST >> 20} MiB, too large for a data file; '
                            'give a JSON file') from None
        raise DataError(f'{path}: {_reason(error)}; give a readable file') from None
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise DataError(f'{path}: byte {error.start} is not UTF-8; save the file as UTF-8') from None


def _reason(error: Exception) -> str:
    return f'cannot be read: {getattr(error, "strerror", None) or error}'


# --- reading ---------------------------------------------------------------------

class Doubled(str):
    """A placeholder for the values of a key that an object has twice, because the intended one is unknown."""


def parse(text: str, name: str, within: str = '') -> tuple[Any, list[str]]:
    """Return the data of a JSON text and one sentence for each key that an object has twice; its value is Doubled.

    within: the key that sentences use to name the data, '' for a whole file. Raises DataError if the text is not JSON.
    """
    # By id. The objects are kept because Python would reuse the id of a deleted one.
    doubled: dict[int, tuple[MutableJson, list[str]]] = {}

    def of_pairs(pairs: Pairs) -> MutableJson:
        content = dict(pairs)
        if len(content) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            doubled[id(content)] = content, sorted(key for key, count in counts.items() if count > 1)
        return content

    data = decoded(text, name, of_pairs)
    if not doubled:
        return data, []
    from .places import place, sentence, shown
    whole, start = ({within: data}, [within]) if within else (data, [])
    sentences = [sentence(name, place(whole, [*start, *path]), f'{shown(key)} is here twice; keep one')
                 for path, content in _objects(data) if id(content) in doubled for key in doubled[id(content)][1]]
    for content, keys in doubled.values():
        content.update((key, Doubled()) for key in keys)
    return data, sentences


def _objects(data: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield every object in *data* with its path, in order of appearance."""
    ahead: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    while ahead:
        path, value = ahead.pop()
        if isinstance(value, dict):
            yield path, value
        items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
        ahead.extend(((*path, key), item) for key, item in reversed(items))


def decoded(text: str, name: str, of_pairs: Callable[[Pairs], Any]) -> Any:
    """Return the data of a JSON text. of_pairs: builds an object from its pairs. Raises DataError if not JSON."""
    try:
        return json.loads(text, object_pairs_hook=of_pairs, parse_constant=_refuse_constant, parse_int=_whole,
                          parse_float=_finite)
    except json.JSONDecodeError as error:
        raise DataError(f'{name}: {_no_json(error)}') from None
    except (ValueError, RecursionError) as error:
        reason = 'it is nested too deeply' if isinstance(error, RecursionError) else str(error)
        raise DataError(f'{name} is not valid JSON: {reason}') from None


def _no_json(error: json.JSONDecodeError) -> str:
    """Return where a text is not valid JSON, and how to fix it; Python may report one line too late."""
    text, position = error.doc, error.pos
    before, rest = text[:position].rstrip(), text[position:].lstrip()
    comma = position if rest[:1] == ',' else len(before) - 1
    if not before + rest:
        position, advice = 0, 'the file is empty; give a JSON file'
    elif not rest:
        advice = 'the text ends here; a } or ] is missing'
    elif re.compile(r',\s*[]}]').match(text, comma):
        position, advice = comma, 'nothing follows this comma; remove it'
    else:
        advice = next((words for start, words in _SYNTAX.items() if rest.startswith(start)
                       or error.msg.startswith(start)), f'{error.msg}; correct the JSON there')
        position = len(before) if advice == _COMMA else position
    line, column = text.count('\n', 0, position) + 1, position - text.rfind('\n', 0, position)
    return f'line {line}, column {column}: {advice}'


_COMMA = 'a comma is missing here, or a closing bracket'
# By the text at the error, then by Python's name of the error.
_SYNTAX: Mapping[str, str] = {
    '//': 'JSON has no comments; write "comment": "..." instead',
    '#': 'JSON has no comments; write "comment": "..." instead',
    "'": 'a text needs double quotes, not single ones',
    "Expecting ',' delimiter": _COMMA,
    "Expecting ':' delimiter": 'a colon is missing here, between key and value',
    'Expecting property name': 'a key is expected here, between double quotes',
    'Expecting value': 'a value is expected here: a number, true, or a text between double quotes',
    'Invalid \\escape': 'a backslash is written twice in JSON: "\\\\." for \\.',
    'Invalid control character': 'the closing double quote is missing on this line',
    'Unterminated string': 'the closing double quote of this text is missing',
    'Extra data': 'the data ends before this; remove the rest, or an extra closing bracket'}


def _refuse_constant(word: str) -> None:
    raise ValueError(f'{word} is not a number in JSON')


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f'the number {digits[:LONGEST_NUMBER]}… is too long')
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float('inf'), float('-inf')):
        raise ValueError(f'the number {digits[:LONGEST_NUMBER]} is too large')
    return number
