"""Write a message for each place where data violates its schema: place, error, next step."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

from ..constants import MOST_ERRORS
from ..errors import DataError
from ..typed import Any, Json
from ..words import nearest
from .data_errors import nearest_metric
from .data_file import KINDS, is_fitting, listed, parse, place, schema, sentence, shown


def checked(text: str, schema_name: str, name: str) -> Any:
    """Return the data of *text*, the content of the file *name*.

    Raises DataError with the first error.
    """
    data = parse(text, name)
    complaints = schema_problems(data, schema_name, name)
    if len(complaints) > 1:
        raise DataError(f'{complaints[0]} ({len(complaints) - 1} more in this file)')
    if complaints:
        raise DataError(complaints[0])
    return data


def schema_problems(data: Any, schema_name: str, name: str) -> list[str]:
    """Return a message for each place where *data*, from the file *name*, violates the schema.

    jsonschema is imported only if there is an error, because this takes longer than all other
    imports of a check.
    """
    rules = schema(schema_name)
    if is_fitting(data, rules, rules):
        return []
    try:
        import jsonschema
    except ImportError:
        return [
            f'{name}: something is wrong; to see what and where, '
            'install the Python package jsonschema'
        ]
    errors = itertools.islice(
        jsonschema.Draft7Validator(rules).iter_errors(data), MOST_ERRORS
    )
    in_order = sorted(errors, key=lambda error: list(error.absolute_path))
    # jsonschema reports the same missing keys once for each key.
    return list(dict.fromkeys(_explained(error, data, name) for error in in_order))


def _explained(error: Any, data: Any, name: str) -> str:
    """Return the message for an error of jsonschema: place and complaint. name: of the file."""
    cause = _most_telling(error)
    path = list(cause.absolute_path)
    needed = _needs_one_of(cause)
    if needed:
        complaint = f'{listed(needed, "or")} is missing'
    elif 'propertyNames' in cause.absolute_schema_path:
        complaint = _wrong_key(cause, path)
    elif cause.validator == 'additionalProperties':
        complaint = _unknown_keys(cause)
    elif cause.validator == 'required':
        complaint = _missing_keys(cause)
    else:
        # in messages, an item of a list has the list's key
        while path and isinstance(path[-1], int):
            path.pop()
        complaint = _about_value(cause)
        if path:
            *path, key = path  # the key is part of the complaint, not of the place
            complaint = f'{key} {complaint}'
    return sentence(name, place(data, path), complaint)


def _most_telling(error: Any) -> Any:
    """Return the error to report for an error of jsonschema.

    It is the error itself if each alternative of the schema ("anyOf") only requires a key, if no
    alternative allows the type of the value, or if there are no alternatives.

    Otherwise, the error of an alternative says more. Of the alternatives that allow the type, the
    one whose error is deepest in the value was probably intended. That error can have alternatives,
    too.
    """
    if _needs_one_of(error):
        return error
    # the errors of the alternatives that allow the type
    intended = []
    for inner in error.context:
        # The alternative is for text, for example, but the value is a list. An error with a path is
        # about the type of a part of the value only.
        is_for_other_type = inner.validator == 'type' and not inner.path
        if not is_for_other_type:
            intended.append(inner)
    if not intended:
        return error
    return _most_telling(max(intended, key=lambda inner: len(inner.path)))


def _needs_one_of(error: Any) -> list[str]:
    """Return the keys, at least one of which is required; [] if an alternative requires anything
    other than keys.
    """
    keys: list[str] = []
    for inner in error.context:
        is_about_keys = inner.validator == 'required' and not inner.path
        if not is_about_keys:
            return []
        keys += inner.validator_value
    return list(dict.fromkeys(keys))


def _unknown_keys(error: Any) -> str:
    """Return the complaint about keys that the schema does not have, at most five of them."""
    keys = list(error.schema['properties'])
    unknown = [key for key in error.instance if key not in keys]
    advice = nearest(str(unknown[0]), keys) or f'known keys are {listed(keys, "and")}'
    return f'unknown key {listed([shown(key) for key in unknown[:5]], "and")}; {advice}'


def _wrong_key(error: Any, path: Sequence[Any]) -> str:
    # limits refer to metrics, entries define them
    if path == ['metrics'] and 'description' not in error.schema:
        return f'{shown(error.instance)} is not a metric; {nearest_metric(str(error.instance))}'
    return f'the key {shown(error.instance)} {_form(error)}'


def _missing_keys(error: Any) -> str:
    missing = [key for key in error.validator_value if key not in error.instance]
    if len(missing) > 1:
        return f'{listed(missing, "and")} are missing'
    [key] = missing
    return f'{key} is missing{_advice(error.schema["properties"][key])}'


def _advice(schema: Json) -> str:
    """Return the allowed values that the schema lists, such as '; write "a" or "b"', or its first
    example; '' if it has neither.
    """
    if 'enum' in schema:
        return f'; write {listed([shown(value) for value in schema["enum"]], "or")}'
    if 'examples' in schema:
        return f'; write it like {json.dumps(schema["examples"][0])}'
    return ''


# Keyword of JSON Schema -> the complaint about a value.
_COMPLAINTS = {
    'enum': '{value} is not valid{advice}',
    'const': '{value} is not valid; write {limit} or leave it out',
    'pattern': '{value} {form}',
    'minLength': '{value} is too short; write at least {limit} characters',
    'maxLength': '{value} is too long; write at most {limit} characters',
    'minItems': 'has {items} items; give at least {limit}',
    'maxItems': 'has {items} items; give {limit}',
    'minProperties': 'is empty; give at least one key or leave it out',
    'uniqueItems': 'lists the same item twice; keep one',
    'minimum': '{value} is too small; write {limit} or more',
    'maximum': '{value} is too large; write {limit} or less',
}


def _about_value(error: Any) -> str:
    """Return the complaint about a value of the wrong type, or with an error of _COMPLAINTS."""
    if error.validator in ('type', 'anyOf'):
        return (
            f'{shown(error.instance)} is not '
            f'{listed(_expected_kinds(error), "or")}{_advice(error.schema)}'
        )
    items = len(error.instance) if isinstance(error.instance, list) else 0
    return _COMPLAINTS[error.validator].format(
        value=shown(error.instance),
        items=items,
        limit=shown(error.validator_value),
        advice=_advice(error.schema),
        form=_form(error),
    )


def _expected_kinds(error: Any) -> list[str]:
    """Return the types that a value may have, in words, such as ["a list", "null"]."""
    if error.validator == 'anyOf':
        return [kind for inner in error.context for kind in _expected_kinds(inner)]
    allowed = error.validator_value
    kinds = [allowed] if isinstance(allowed, str) else allowed
    return [KINDS[kind] for kind in kinds]


def _form(error: Any) -> str:
    """Return which form of a text is required: "does not fit: DESCRIPTION" if the schema has a
    description, else the pattern.
    """
    description = error.schema.get('description')
    if description:
        return f'does not fit: {description}'
    return f'does not match the pattern {error.validator_value}'
