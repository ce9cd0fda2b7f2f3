"""Check whether data fits its schema: yes or no, for checks that use local configuration.

jsonschema, which takes longer to import than the rest of a check, writes the sentences only for invalid data
(see `schema_errors`). Tests compare both.
"""
from __future__ import annotations

import os
import re
from functools import lru_cache

from ..typed import TYPE_CHECKING, Json
from .data_file import PACKAGE, Doubled, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


@lru_cache(maxsize=None)
def schema(name: str) -> Any:
    """Return the schema called *name*: the first part of its file in schema/."""
    return load(os.path.join(PACKAGE, 'schema', f'{name}.schema.json'))


def definition(part: Json, root: Json) -> Json:
    """Return *part* of the schema *root*, or the definition that it refers to."""
    while '$ref' in part:
        part = root['definitions'][part['$ref'].rsplit('/', 1)[1]]
    return part


def is_fitting(value: Any, part: Json, root: Json) -> bool:
    """Return whether *value* fits a *part* of the schema *root*. Raises KeyError for a keyword that we do not use."""
    if isinstance(value, Doubled):
        return False
    part = definition(part, root)
    for keyword, argument in part.items():
        if keyword not in WORDS:
            kind, rule = RULES[keyword]
            if isinstance(value, kind) and not rule(value, argument, root, part):
                return False
    return True


# Keywords without requirements.
WORDS = frozenset(('$schema', '$comment', 'title', 'description', 'examples', 'definitions'))


_TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None)}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_of(value: Any, name: str) -> bool:
    if name in _TYPES:
        return isinstance(value, _TYPES[name])
    return _is_number(value) and (name == 'number' or value % 1 == 0)


def _is_unique(value: Any, *_: Any) -> bool:
    # Our schemas use this keyword only for lists of texts.
    texts = [item for item in value if isinstance(item, str)]
    return len(set(texts)) == len(texts)


def _additional(value: Any, fits: Any, root: Json, part: Json) -> bool:
    others = [item for key, item in value.items() if key not in part.get('properties', ())]
    return not others if fits is False else all(is_fitting(item, fits, root) for item in others)


# For each keyword, the type of values that it applies to in JSON Schema, and its test.
RULES: Mapping[str, tuple[type, Callable[[Any, Any, Json, Json], bool]]] = {
    'type': (object, lambda v, names, *_: any(_is_of(v, name)
                                              for name in ([names] if isinstance(names, str) else names))),
    'const': (object, lambda v, constant, *_: type(v) is type(constant) and bool(v == constant)),
    'enum': (object, lambda v, words, *_: isinstance(v, str) and v in words),
    'anyOf': (object, lambda v, parts, root, _: any(is_fitting(v, part, root) for part in parts)),
    'allOf': (object, lambda v, parts, root, _: all(is_fitting(v, part, root) for part in parts)),
    'minimum': (object, lambda v, least, *_: not _is_number(v) or v >= least),
    'maximum': (object, lambda v, most, *_: not _is_number(v) or v <= most),
    'properties': (dict, lambda v, parts, root, _: all(is_fitting(item, parts[key], root) for key, item in v.items()
                                                       if key in parts)),
    'additionalProperties': (dict, _additional),
    'propertyNames': (dict, lambda v, part, root, _: all(is_fitting(key, part, root) for key in v)),
    'required': (dict, lambda v, keys, *_: all(key in v for key in keys)),
    'minProperties': (dict, lambda v, least, *_: len(v) >= least),
    'items': (list, lambda v, part, root, _: all(is_fitting(item, part, root) for item in v)),
    'uniqueItems': (list, _is_unique),
    'minItems': (list, lambda v, least, *_: len(v) >= least),
    'maxItems': (list, lambda v, most, *_: len(v) <= most),
    'pattern': (str, lambda v, pattern, *_: re.search(pattern, v) is not None),
    'minLength': (str, lambda v, least, *_: len(v) >= least),
    'maxLength': (str, lambda v, most, *_: len(v) <= most)}
