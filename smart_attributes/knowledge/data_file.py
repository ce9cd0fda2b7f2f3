"""A data file becomes data, or a sentence that says what keeps it from being read.

Shipped files are validated before they are shipped (see `validate`), so that a check
loads them without validation; what a site writes is looked at by `sitefile`.
"""
from __future__ import annotations

import errno
import json
import os
import re

from .. import files, trust
from ..errors import DataError
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Set, Tuple, Union

    from .places import Path

    Describe = Callable[[Any, Path], str]

LONGEST_NUMBER = 40   # characters; 48 bits have 15 digits
FORMER = 'roles'      # what the key "metrics" was called in snapshots of version 2.0; files of sites still say so
PACKAGE = files.PROGRAM


def shipped(name: str) -> str:
    """Return where the shipped file or folder *name* lies.

    A wheel and the single-file program carry the data inside the package; a checkout
    and the Debian package beside it. Raises DataError where neither is there.
    """
    if not os.path.isdir(PACKAGE):
        return os.path.join(PACKAGE, name)
    for folder in (PACKAGE, os.path.dirname(PACKAGE)):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise DataError(f'{name} is neither in {PACKAGE} nor beside it; install check_smart_attributes again')


def load(path: str) -> Any:
    """Return a shipped file's data, unvalidated. Raises DataError where it cannot be read."""
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
        raise DataError(f'{path}: {fault}; only what {owner} alone can change '
                        'is read; correct that with chown, chmod go-w or setfacl -b')
    return read_text(path)


def read_text(path: str) -> str:
    """Return the text of a regular file of bounded size.

    Raises DataError for anything else, also for what another user could have led this path to and cannot read.
    """
    try:
        content = files.content(path, files.LARGEST, trust.foreign_secret)
    except files.NotRegular:
        raise DataError(f'{path} is not a regular file; give a JSON file') from None
    except files.NotShown as error:
        raise DataError(f'{path}: {error.strerror}') from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise DataError(f'{path} is larger than {files.LARGEST >> 20} MiB, which no data file is; '
                            'give a JSON file') from None
        raise DataError(f'{path}: {_reason(error)}; give a readable file') from None
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise DataError(f'{path}: byte {error.start} is not UTF-8; save the file as UTF-8') from None


def _reason(error: Exception) -> str:
    return f'cannot be read: {error.strerror}' if isinstance(error,
                                                             OSError) and error.strerror else f'cannot be read: {error}'


# --- reading ---------------------------------------------------------------------

class Doubled(str):
    """What stands for the values of a key that an object has twice, since nobody can say which one is meant."""


def parse(text: str, name: str, describe: Optional[Describe] = None) -> Tuple[Any, List[str]]:
    """Return the data of a JSON text and one sentence for each key that an object has twice; its value is Doubled.

    Raises DataError where it is no JSON.
    """
    # The objects are kept because a number of a lost one would be given to another.
    doubled: Dict[int, Tuple[Dict[str, Any], List[str]]] = {}

    def note_doubled(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
        found = dict(pairs)
        if FORMER in found:
            pairs = [('metrics' if key == FORMER else key, value) for key, value in pairs]
            found = dict(pairs)
        if len(found) < len(pairs):
            doubled[id(found)] = found, _repeated(key for key, _ in pairs)
        return found

    data = decoded(text, name, note_doubled)
    return (data, _told(doubled, data, name, describe)) if doubled else (data, [])


def _repeated(keys: Iterable[str]) -> List[str]:
    seen: Set[str] = set()
    return sorted({key for key in keys if key in seen or seen.add(key)})  # type: ignore[func-returns-value]


def _told(doubled: Mapping[int, Tuple[Dict[str, Any], List[str]]], data: Any, name: str,
          describe: Optional[Describe]) -> List[str]:
    """Return the sentences, outer objects first, and put Doubled in the place of what they tell of."""
    from .places import place, sentence, shown
    told = [sentence(name, (describe or place)(data, path), f'{shown(key)} stands here twice; keep one')
            for path, found in _objects(data) if id(found) in doubled for key in doubled[id(found)][1]]
    for found, keys in doubled.values():
        found.update((key, Doubled()) for key in keys)
    return told


def decoded(text: str, name: str, of_pairs: Callable[[List[Tuple[str, Any]]], Any]) -> Any:
    """Return the data of a JSON text. Raises DataError where it is no JSON.

    of_pairs: makes an object of its keys and values, in the order in which they stand.
    """
    try:
        return json.loads(text, object_pairs_hook=of_pairs, parse_constant=_refuse_constant, parse_int=_whole,
                          parse_float=_finite)
    except json.JSONDecodeError as error:
        raise DataError(f'{name}: {_no_json(error)}') from None
    except (ValueError, RecursionError) as error:
        reason = 'it is nested too deeply' if isinstance(error, RecursionError) else str(error)
        raise DataError(f'{name} is no JSON that can be used: {reason}') from None


def _no_json(error: json.JSONDecodeError) -> str:
    """Return where a text is no JSON and what to do about it."""
    position, advice = _syntax(error)
    line, column = error.doc.count('\n', 0, position) + 1, position - error.doc.rfind('\n', 0, position)
    return f'line {line}, column {column}: {advice}'


def _syntax(error: json.JSONDecodeError) -> Tuple[int, str]:
    """Return (position, what to do there); Python names the place where it gave up, which may be a line too late."""
    before, rest = error.doc[:error.pos].rstrip(), error.doc[error.pos:].lstrip()
    if not before + rest:
        return 0, 'the file is empty; give a JSON file'
    if not rest:
        return error.pos, 'the text ends here; a } or ] is missing'
    comma = error.pos if rest[0] == ',' else len(before) - 1
    if re.compile(r',\s*[]}]').match(error.doc, comma):
        return comma, 'nothing follows this comma; remove it'
    known = next((words for start, words in _SYNTAX.items() if rest.startswith(start) or error.msg.startswith(start)),
                 '')
    return len(before) if known == _COMMA else error.pos, known or f'{error.msg}; correct the JSON there'


_COMMA = 'a comma is missing here, or a closing bracket'
# By what stands there, then by what Python calls it.
_SYNTAX: Mapping[str, str] = {
    '//': 'JSON has no comments; write "comment": "..." instead',
    '#': 'JSON has no comments; write "comment": "..." instead',
    "'": 'a text stands between double quotes, not single ones',
    "Expecting ',' delimiter": _COMMA,
    "Expecting ':' delimiter": 'a colon is missing here, between key and value',
    'Expecting property name': 'a key is expected here, between double quotes',
    'Expecting value': 'a value is expected here: a number, true, or a text between double quotes',
    'Invalid \\escape': 'a backslash is written twice in JSON: "\\\\." for \\.',
    'Invalid control character': 'a text is not closed on its line; add the double quote',
    'Unterminated string': 'a text begins here and is not closed; add the double quote',
    'Extra data': 'the data ends before this; remove the rest, or a closing bracket too many'}


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


def _objects(data: Any) -> Iterator[Tuple[Path, Any]]:
    """Yield every object of *data* with its path, in the order in which they begin."""
    ahead: List[Tuple[Tuple[Union[str, int], ...], Any]] = [((), data)]
    while ahead:
        path, value = ahead.pop()
        if isinstance(value, dict):
            yield path, value
        items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
        ahead.extend(((*path, key), item) for key, item in reversed(items))
