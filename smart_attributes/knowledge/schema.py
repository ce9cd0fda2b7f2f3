"""Whether data fits its schema: a plain yes or no, for every check that finds files of a site.

jsonschema, which takes longer to import than all the rest of a check, is asked for
the sentence only where the answer is no (see `complaints`). Tests hold both to one opinion.
"""
from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any, Callable, Mapping, Sequence

from ..typed import Json
from .data_file import PACKAGE, Doubled, load


@lru_cache(maxsize=None)
def schema(name: str) -> Any:
    """Return the schema called *name*: the first part of its file in schema/."""
    return load(os.path.join(PACKAGE, 'schema', f'{name}.schema.json'))


def definition(fits: Json, root: Json) -> Json:
    """Follow the references of a part of the schema *root*."""
    while '$ref' in fits:
        fits = root['definitions'][fits['$ref'].rsplit('/', 1)[1]]
    return fits


def is_fitting(value: Any, part: Json, root: Json) -> bool:
    """Tell whether *value* fits a *part* of the schema *root*. Raises KeyError for a keyword that we do not use."""
    if isinstance(value, Doubled):
        return False
    part = definition(part, root)
    return all(RULES[keyword](value, part, root) for keyword in part if keyword not in WORDS)


# Keywords that ask for nothing.
WORDS = frozenset(('$schema', '$comment', 'title', 'description', 'examples', 'definitions'))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


TYPES: Mapping[str, Callable[[Any], bool]] = {
    'object': lambda value: isinstance(value, dict),
    'array': lambda value: isinstance(value, list),
    'string': lambda value: isinstance(value, str),
    'boolean': lambda value: isinstance(value, bool),
    'null': lambda value: value is None,
    'number': _is_number,
    'integer': lambda value: _is_number(value) and value % 1 == 0}


def _type(value: Any, part: Json, _: Json) -> bool:
    names: Sequence[str] = [part['type']] if isinstance(part['type'], str) else part['type']
    return any(TYPES[name](value) for name in names)


def _properties(value: Any, part: Json, root: Json) -> bool:
    known = part['properties']
    return not isinstance(value, dict) or all(is_fitting(item, known[key], root) for key, item in value.items()
                                              if key in known)


def _additional(value: Any, part: Json, root: Json) -> bool:
    if not isinstance(value, dict):
        return True
    others = [item for key, item in value.items() if key not in part.get('properties', ())]
    fits = part['additionalProperties']
    return not others if fits is False else all(is_fitting(item, fits, root) for item in others)


def _unique(value: Any, _: Json, __: Json) -> bool:
    # Schemas ask it of texts only, and say so of each item as well.
    texts = [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
    return len(set(texts)) == len(texts)


def _const(value: Any, part: Json, _: Json) -> bool:
    return type(value) is type(part['const']) and bool(value == part['const'])


# What each keyword asks for; those for another type than the value's ask for nothing, as JSON Schema has it.
RULES: Mapping[str, Callable[[Any, Json, Json], bool]] = {
    'type': _type, 'properties': _properties, 'additionalProperties': _additional, 'uniqueItems': _unique,
    'const': _const,
    'propertyNames': lambda v, part,
    root: not isinstance(v, dict) or all(is_fitting(key, part['propertyNames'], root) for key in v),
    'required': lambda v, part, _: not isinstance(v, dict) or all(key in v for key in part['required']),
    'minProperties': lambda v, part, _: not isinstance(v, dict) or len(v) >= part['minProperties'],
    'items': lambda v, part, root: not isinstance(v, list) or all(is_fitting(item, part['items'], root) for item in v),
    'minItems': lambda v, part, _: not isinstance(v, list) or len(v) >= part['minItems'],
    'maxItems': lambda v, part, _: not isinstance(v, list) or len(v) <= part['maxItems'],
    'enum': lambda v, part, _: isinstance(v, str) and v in part['enum'],
    'pattern': lambda v, part, _: not isinstance(v, str) or re.search(part['pattern'], v) is not None,
    'minLength': lambda v, part, _: not isinstance(v, str) or len(v) >= part['minLength'],
    'maxLength': lambda v, part, _: not isinstance(v, str) or len(v) <= part['maxLength'],
    'minimum': lambda v, part, _: not _is_number(v) or v >= part['minimum'],
    'maximum': lambda v, part, _: not _is_number(v) or v <= part['maximum'],
    'anyOf': lambda v, part, root: any(is_fitting(v, choice, root) for choice in part['anyOf']),
    'allOf': lambda v, part, root: all(is_fitting(v, each, root) for each in part['allOf'])}
