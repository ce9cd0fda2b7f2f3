"""Read the data of a JSON file that a person wrote, and check whether it is valid by its schema.

jsonschema takes longer to import than the rest of a check, so it is used only for the messages
about invalid data (see `schema_errors`). Tests compare its results with those of this module.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from .. import files, trust
from ..constants import LARGEST_FILE, LONGEST_NUMBER
from ..errors import DataError
from ..typed import TYPE_CHECKING, Any, Json, MutableJson
from . import shipped_data
from .shipped_data import reason

if TYPE_CHECKING:
    Path = Sequence[str | int]
    # keys and values of an object, in the order of the text
    Pairs = list[tuple[str, Any]]


def site_text(path: str) -> str:
    """Return the text of a site's file.

    Raises DataError if a user other than root and this user can change it.
    """
    user = os.geteuid()
    try:
        fault = trust.fault(path, user)
    except (OSError, ValueError) as error:
        raise DataError(f'{path}: {reason(error)}; specify a readable file') from None
    if fault:
        owner = 'root' if user == trust.ROOT else 'root or this user'
        raise DataError(
            f'{path}: {fault}; the plugin reads a file only if {owner} alone can change it; to fix '
            'this, use chown, chmod go-w or setfacl -b'
        )
    return read_text(path)


def read_text(path: str) -> str:
    """Return the text of a regular file of limited size.

    Raises DataError for any other file. Raises it also if *path* may be a link that another user
    made to a file that this user cannot read: error messages quote the text.
    """
    try:
        content = files.content(path, LARGEST_FILE, trust.foreign_secret)
    except files.NotShown as error:
        raise DataError(f'{path}: {error.strerror}') from None
    except OSError as error:
        raise DataError(f'{path}: {reason(error)}; specify a readable file') from None
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise DataError(
            f'{path}: byte {error.start} is not UTF-8; save the file as UTF-8'
        ) from None


def parse(text: str, name: str) -> Any:
    """Return the data of a JSON text. Raises DataError for other text, and if an object has a key
    twice, because the intended value is unknown.
    """

    def of_pairs(pairs: Pairs) -> MutableJson:
        content = dict(pairs)
        if len(content) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            [(key, _)] = counts.most_common(1)
            raise ValueError(f'an object has the key {shown(key)} twice; keep one')
        return content

    return decoded(text, name, of_pairs)


def decoded(text: str, name: str, of_pairs: Callable[[Pairs], Any]) -> Any:
    """Return the data of a JSON text. of_pairs: makes an object from pairs; a ValueError that it
    raises gives the reason of the DataError.

    Raises DataError for other text.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=of_pairs,
            parse_constant=_refuse_constant,
            parse_int=_whole,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        why = (
            f'line {error.lineno}, column {error.colno}: {error.msg}; correct it there'
        )
    except ValueError as error:
        why = str(error)
    except RecursionError:
        why = 'it is nested too deeply'
    raise DataError(f'{name} is not valid JSON: {why}')


def _refuse_constant(word: str) -> None:
    raise ValueError(f'{word} is not a number in JSON')


def _whole(digits: str) -> int:
    """Return an integer of a JSON text. Raises ValueError if it has too many digits."""
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f'the number {digits[:LONGEST_NUMBER]}… is too long')
    return int(digits)


def _finite(digits: str) -> float:
    """Return a number of a JSON text with a fraction or an exponent, such as "1.5" or "2e3".

    Raises ValueError if it is too large, such as "1e999".
    """
    number = float(digits)
    if abs(number) == float('inf'):
        raise ValueError(f'the number {digits[:LONGEST_NUMBER]} is too large')
    return number


# --- places and values in messages ------------------------------------------------------

SHOWN = 60  # maximum number of characters of a value in a message
KINDS = {
    'object': 'an object',
    'array': 'a list',
    'string': 'text in quotes',
    'integer': 'a whole number',
    'number': 'a number',
    'boolean': 'true or false',
    'null': 'null',
}


def sentence(name: str, where: str, complaint: str) -> str:
    """Return an error message for a place in a file."""
    return f'{name}: {where}: {complaint}' if where else f'{name}: {complaint}'


def shown(value: Any) -> str:
    """Return a value as JSON, at most about SHOWN characters; an object only as "an object", a
    list as "a list".
    """
    if isinstance(value, dict):
        return KINDS['object']
    if isinstance(value, list):
        return KINDS['array']
    text = json.dumps(value)
    if len(text) <= SHOWN:
        return text
    # Only a string can be so long, because a number has at most LONGEST_NUMBER digits.
    return f'{text[:SHOWN]}…"'


def listed(words: Sequence[str], conjunction: str) -> str:
    """Return the words as a list such as "a, b or c"; a single word alone."""
    others = ', '.join(words[:-1])
    return f'{others} {conjunction} {words[-1]}' if others else words[-1]


# For objects: what a key of the object is called in messages; '': the key alone says it.
_NAMED = {
    'documents': 'document',
    'metrics': 'metric',
    'sets': 'set',
    'attributes': 'attribute',
    'readings': '',
}
# For lists: what an item is called in messages, and the key that identifies the item.
_ITEMS = {
    'entries': ('entry', 'family'),
    'advisories': ('advisory', 'id'),
    'samples': ('sample', 'family'),
    'overrides': ('override', 'for'),
}


def place(data: Any, path: Path) -> str:
    """Return *path* as readable text; '' for the whole file.

    ('entries', 3, 'attributes', '233', 'readings', 'endurance_used')
        -> "Intel DC S3500, attribute 233, endurance_used"
    ('entries', 3, 'attributes') -> "Intel DC S3500, attributes"

    The key 'attributes' is left out before '233', because "attribute 233" says enough.
    """
    words = []
    part = data
    container = ''
    for index, step in enumerate(path):
        part = _step(part, step)
        is_last = index == len(path) - 1
        names_next_step = (step in _NAMED or step in _ITEMS) and not is_last
        if container in _NAMED or not names_next_step:
            words.append(_step_name(container, step, part))
        container = str(step)
    return ', '.join(words)


def _step_name(container: str, step: str | int, part: Any) -> str:
    """Return a step of a path in words. container: the step before it. part: what it leads to.

    3 in 'entries' -> "Intel DC S3500"
    '233' in 'attributes' -> "attribute 233"
    'warning' in any other container -> "warning"
    """
    if isinstance(step, int):
        return _item(container, step, part)
    if container in _NAMED:
        return f'{_NAMED[container]} {_name(step)}'.strip()
    return _name(step)


def _item(list_name: str, number: int, item: Any) -> str:
    """Return an item of a list in words: "Intel 730" for an entry, else "override 2, serial S1", or
    "item 2" if the item has no name. number: the index, from 0.
    """
    word, key = _ITEMS.get(list_name, ('item', ''))
    name = _step(item, key)
    if isinstance(name, dict):  # of an override, such as {"serial": "S1"}
        selectors = [f'{selector} {text}' for selector, text in name.items()]
        name = selectors[0] if selectors else ''
    if not isinstance(name, str) or not name:
        return f'{word} {number + 1}'
    return _name(name) if word == 'entry' else f'{word} {number + 1}, {_name(name)}'


def _step(data: Any, step: str | int) -> Any:
    """Return what a key or an index leads to; None if there is nothing."""
    try:
        return data[step]
    except (KeyError, IndexError, TypeError):
        return None


def _name(text: Any) -> str:
    return shown(str(text))[1:-1]


# --- whether data fits its schema --------------------------------------------------------


@cache
def schema(name: str) -> Any:
    """Return the schema called *name*, from schema/NAME.schema.json."""
    return shipped_data.content(f'schema/{name}.schema.json')


def definition(part: Json, root: Json) -> Json:
    """Return *part* of the schema *root*, or the definition that this part refers to."""
    while '$ref' in part:
        part = root['definitions'][part['$ref'].rsplit('/', 1)[1]]
    return part


def is_fitting(value: Any, part: Json | bool, root: Json) -> bool:
    """Return whether *value* fits a *part* of the schema *root*.

    Raises KeyError for a keyword that we do not use.
    """
    if isinstance(part, bool):
        return part
    part = definition(part, root)
    for keyword in part.keys() - WORDS - NESTED:
        kind, test = TESTS[keyword]
        if isinstance(value, kind) and not test(value, part[keyword]):
            return False
    choices = part.get('anyOf', [True])  # everything fits True
    if not any(is_fitting(value, choice, root) for choice in choices):
        return False
    return all(is_fitting(inner, rules, root) for inner, rules in _inside(value, part))


def _inside(value: Any, part: Json) -> Iterator[tuple[Any, Json | bool]]:
    """Yield the parts of a value that have schemas of their own, each with this schema: the keys
    and values of an object, and the items of a list. Before these, yield the value itself with each
    schema in "allOf".
    """
    for rules in part.get('allOf', ()):
        yield value, rules
    if isinstance(value, dict):
        others = part.get('additionalProperties', True)
        for key, item in value.items():
            yield key, part.get('propertyNames', True)
            yield item, part.get('properties', {}).get(key, others)
    if isinstance(value, list):
        for item in value:
            yield item, part.get('items', True)


# Keywords that require nothing of a value.
WORDS = frozenset(
    ('$schema', '$comment', 'title', 'description', 'examples', 'definitions')
)
# Keywords that contain schemas.
NESTED = frozenset(
    ('anyOf', 'allOf', 'properties', 'additionalProperties', 'propertyNames', 'items')
)


_TYPES = {
    'object': dict,
    'array': list,
    'string': str,
    'boolean': bool,
    'null': type(None),
}


def _is_number(value: Any) -> bool:
    """Return whether a value is a number of JSON, where true is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_of(value: Any, names: str | Sequence[str]) -> bool:
    """Return whether a value has one of the types that are called *names*."""
    if not isinstance(names, str):
        return any(_is_of(value, name) for name in names)
    if names in _TYPES:
        return isinstance(value, _TYPES[names])
    # "number" or "integer"; 2.0 is an integer.
    return _is_number(value) and (names == 'number' or value % 1 == 0)


def _is_unique(value: Any, _: Any) -> bool:
    """Return whether no text of a list occurs twice. Our schemas use the keyword, whose value is
    always true, only for lists of texts.
    """
    texts = [item for item in value if isinstance(item, str)]
    return len(set(texts)) == len(texts)


def _has_least(value: Any, least: int) -> bool:
    return len(value) >= least


def _has_at_most(value: Any, most: int) -> bool:
    return len(value) <= most


# For each keyword, the type of value that it applies to in JSON Schema, and its test.
TESTS: Mapping[str, tuple[type, Callable[[Any, Any], bool]]] = {
    'type': (object, _is_of),
    'const': (
        object,
        lambda value, constant: type(value) is type(constant) and value == constant,
    ),
    'enum': (object, lambda value, words: isinstance(value, str) and value in words),
    'minimum': (object, lambda value, least: not _is_number(value) or value >= least),
    'maximum': (object, lambda value, most: not _is_number(value) or value <= most),
    'required': (dict, lambda value, keys: all(key in value for key in keys)),
    'minProperties': (dict, _has_least),
    'uniqueItems': (list, _is_unique),
    'minItems': (list, _has_least),
    'maxItems': (list, _has_at_most),
    'pattern': (str, lambda value, pattern: re.search(pattern, value) is not None),
    'minLength': (str, _has_least),
    'maxLength': (str, _has_at_most),
}
