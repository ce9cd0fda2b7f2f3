"""What does not fit a schema, in sentences: where, what, what next."""
from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Optional, Tuple

from ..errors import DataError
from ..typed import Json
from .data_file import parse
from .places import KINDS, listed, place, sentence, shown
from .schema import is_fitting, schema

if TYPE_CHECKING:
    from .data_file import Describe
    from .places import Path

MOST = 100   # complaints about one file: a million would take minutes


def checked(text: str, schema_name: str, name: str, describe: Optional[Describe] = None) -> Any:
    """Return what *text*, the content of the file *name*, says. Raises DataError with the first complaint.

    describe: says for a path into the data where that is, for example
        "Intel DC S3500, attribute 233"; left out, `place` does.
    """
    data, found = parse(text, name, describe)
    found = found or schema_problems(data, schema_name, name, describe)
    if found:
        raise DataError(found[0] + more(len(found) - 1))
    return data


def more(number: int) -> str:
    """Return how many complaints are not told."""
    return f' ({number} more in this file)' if number else ''


def schema_problems(data: Any, schema_name: str, name: str, describe: Optional[Describe] = None) -> List[str]:
    """Return a sentence for each place where *data*, of the file *name*, does not fit the schema.

    jsonschema is imported here, where there is something to complain of: it costs more time than all else that a check
    imports.
    """
    rules = schema(schema_name)
    if is_fitting(data, rules, rules):
        return []
    try:
        import jsonschema
    except ImportError:
        return [sentence(name, '',
                         'something does not fit; install the Python package jsonschema, which says what and where')]
    found = itertools.islice(jsonschema.Draft7Validator(rules).iter_errors(data), MOST)
    places = sorted(((_ordered_path(error), error) for error in found), key=lambda pair: pair[0])
    sentences = [_explained(error, data, name, describe or place) for _, error in places]
    return list(dict.fromkeys(sentences))  # jsonschema names the same missing keys once for each


def _ordered_path(error: Any) -> List[Tuple[int, str]]:
    return [(step, '') if isinstance(step, int) else (-1, step) for step in error.absolute_path]


def _explained(error: Any, data: Any, name: str, describe: Describe) -> str:
    error = _most_telling(error)
    path = list(error.absolute_path)
    if error.validator == 'anyOf' and _needs_one_of(error):
        return sentence(name, describe(data, path), f'{listed(_needs_one_of(error), "or")} is missing')
    if 'propertyNames' in error.absolute_schema_path:
        return sentence(name, describe(data, path), _wrong_key(error, path))
    if error.validator in ABOUT_KEYS:
        return sentence(name, describe(data, path), ABOUT_KEYS[error.validator](error))
    while len(path) > 1 and isinstance(path[-1], int):
        path.pop()  # an item of a list is known by the list's key
    subject = f'{path[-1]} ' if path else ''
    complain = ABOUT_VALUES.get(error.validator,
                                lambda e: f'{shown(e.instance)} does not fit the schema ({e.validator})')
    return sentence(name, describe(data, path[:-1]), subject + complain(error))


def _most_telling(error: Any) -> Any:
    """Return, of the alternatives that were tried, the complaint of the one that was meant."""
    while error.context and error.validator == 'anyOf' and not _needs_one_of(error):
        meant = [inner for inner in error.context if inner.validator != 'type' or inner.path]
        if not meant:
            return error
        error = max(meant, key=lambda inner: len(inner.path))
    return error


def _needs_one_of(error: Any) -> List[str]:
    """Return the keys of which one is missing, where that is all that the alternatives ask for."""
    if any(inner.validator != 'required' or inner.path for inner in error.context or ()):
        return []
    return list(dict.fromkeys(key for inner in error.context or () for key in inner.validator_value))


def _unknown_keys(error: Any) -> str:
    import difflib

    known = list(error.schema.get('properties', {}))
    unknown = [key for key in error.instance if key not in known]
    near = difflib.get_close_matches(str(unknown[0]), known, 1)
    advice = f'did you mean {near[0]}?' if near else f'known are {listed(known, "and")}'
    return f'there is no key {listed([shown(key) for key in unknown[:5]], "or")}; {advice}'


def _wrong_key(error: Any, path: Path) -> str:
    """Return what is wrong with the form of a key: of a metric, which a site names or defines, or of another thing."""
    if path[-1:] == ['metrics'] and 'description' not in error.schema:  # limits name metrics, entries define them
        from . import suggestions
        return f'{shown(error.instance)} is no metric; {suggestions.metric(str(error.instance))}'
    return f'the key {shown(error.instance)} {_form(error)}'


def _missing_keys(error: Any) -> str:
    missing = [key for key in error.validator_value if key not in error.instance]
    advice = _advice(error.schema.get('properties', {}).get(missing[0], {})) if len(missing) == 1 else ''
    return f'{listed(missing, "and")} {"is" if len(missing) == 1 else "are"} missing{advice}'


def _advice(schema: Json) -> str:
    """Return what a value can look like, where its schema says it: '; write "a" or "b"'."""
    if 'enum' in schema:
        return f'; write {listed([shown(value) for value in schema["enum"]], "or")}'
    return f'; write it like {json.dumps(schema["examples"][0])}' if 'examples' in schema else ''


def _wrong_type(error: Any) -> str:
    return f'{shown(error.instance)} is not {listed(_expected_kinds(error), "or")}{_advice(error.schema)}'


def _expected_kinds(error: Any) -> List[str]:
    if error.validator == 'anyOf':
        return [kind for inner in error.context for kind in _expected_kinds(inner)]
    kinds = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
    return [KINDS[kind] for kind in kinds]


def _form(error: Any) -> str:
    """Return what a text should look like: in the schema's words where it has some."""
    description = error.schema.get('description')
    return f'does not fit: {description}' if description else f'does not fit the pattern {error.validator_value}'


ABOUT_KEYS: Mapping[str, Callable[[Any], str]] = {
    'additionalProperties': _unknown_keys,
    'required': _missing_keys}

ABOUT_VALUES: Mapping[str, Callable[[Any], str]] = {
    'type': _wrong_type,
    'anyOf': _wrong_type,
    'enum': lambda e: f'{shown(e.instance)} is not known{_advice(e.schema)}',
    'const': lambda e: f'{shown(e.instance)} is not known; write {shown(e.validator_value)} or leave it out',
    'pattern': lambda e: f'{shown(e.instance)} {_form(e)}',
    'minLength': lambda e: f'{shown(e.instance)} is too short; write at least {e.validator_value} characters',
    'maxLength': lambda e: f'{shown(e.instance)} is too long; write at most {e.validator_value} characters',
    'minItems': lambda e: f'has {len(e.instance)} items; give at least {e.validator_value}',
    'maxItems': lambda e: f'has {len(e.instance)} items; give {e.validator_value}',
    'minProperties': lambda e: 'is empty; give at least one key or leave it out',
    'uniqueItems': lambda e: 'names the same twice; keep one',
    'minimum': lambda e: f'{shown(e.instance)} is too small; write {shown(e.validator_value)} or more',
    'maximum': lambda e: f'{shown(e.instance)} is too large; write {shown(e.validator_value)} or less'}
