"""A data file and its schema become data, or one sentence that says what is wrong.

Shipped files are proved before they are shipped (see `prove`), so that a check
loads them without validation; files of a site are validated whenever they are
read. A schema is named by the first part of its file in schema/.
"""
from __future__ import annotations

import json
import os
import re
import stat
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ..errors import DataError

LARGEST = 16 * 2**20  # bytes; twenty times the shipped file
LINKS = 40            # one after the other, as the kernel allows
SHOWN = 60            # characters of a value that a sentence may quote
WIDTH = 160           # columns of a formatted file
PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))

Json = Mapping[str, Any]
Path = Sequence[Union[str, int]]
Describe = Callable[[Any, Path], str]


def shipped(name: str) -> str:
    """Return where the shipped file or folder *name* lies.

    A wheel carries the data inside the package; a checkout and the Debian
    package beside it. Raises DataError where neither is there.
    """
    for folder in (PACKAGE, os.path.dirname(PACKAGE)):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise DataError(f'{name} is neither in {PACKAGE} nor beside it; install check_smart_attributes again')


def load(path: str) -> Any:
    """Return a shipped file's data, unvalidated. Raises DataError where it cannot be read."""
    try:
        with open(path, 'rb') as file:
            return json.loads(file.read())
    except (OSError, ValueError) as error:
        raise DataError(f'{path}: {_reason(error)}; install check_smart_attributes again') from None


def load_checked(path: str, schema_name: str, describe: Optional[Describe] = None) -> Any:
    """Return the data of a site's file, or raise DataError with one sentence.

    The file is refused where others decide what it says: behind a link in a
    folder that everybody writes to and, for root, where others can change the
    file or a folder above it.
    describe: says for a path into the data where that is, for example
        "Intel DC S3500, attribute 233"; left out, `place` does.
    """
    return checked(site_text(path), schema_name, os.path.basename(path), describe)


def site_text(path: str) -> str:
    """Return the text of a site's file, which is refused as load_checked() says. Raises DataError."""
    return read_text(_trusted(path), os.O_NOFOLLOW)


def checked(text: str, schema_name: str, name: str, describe: Optional[Describe] = None) -> Any:
    """Return what *text*, the content of the file *name*, says. Raises DataError with one sentence."""
    data, found = parse(text, name, describe)
    found = found or schema_problems(data, schema_name, name, describe)
    if found:
        more = f' ({len(found) - 1} more in this file)' if len(found) > 1 else ''
        raise DataError(found[0] + more)
    return data


# --- opening ---------------------------------------------------------------------

def read_text(path: str, flags: int = 0) -> str:
    """Return the text of a regular file of bounded size. Raises DataError for anything else.

    flags: more of os.open(2).
    """
    try:
        # Nobody waits for the other end of a named pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | flags)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise DataError(f'{path} is not a regular file; give a JSON file')
            with open(descriptor, 'rb', closefd=False) as file:
                content = file.read(LARGEST + 1)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise DataError(f'{path}: {_reason(error)}; give a readable file') from None
    if len(content) > LARGEST:
        raise DataError(f'{path} is larger than {LARGEST // 2**20} MiB, which no data file is; give a JSON file')
    try:
        return content.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        raise DataError(f'{path}: byte {error.start} is not UTF-8; save the file as UTF-8') from None


def _reason(error: Exception) -> str:
    return f'cannot be read: {error.strerror}' if isinstance(error, OSError) and error.strerror else f'cannot be read: {error}'


def _trusted(path: str) -> str:
    """Return the path that *path* leads to, without links. Raises DataError where others choose what lies there."""
    try:
        real = _followed(path)
        if os.geteuid() == 0:
            _refuse_foreign(path, real)
    except (OSError, ValueError) as error:
        raise DataError(f'{path}: {_reason(error)}; give a readable file') from None
    return real


def _followed(path: str) -> str:
    """Return *path* without links. Raises DataError for a link in a folder that everybody writes to."""
    real = os.path.abspath(path)
    for _ in range(LINKS):
        link = next((part for part in _parts(real) if os.path.islink(part)), None)
        if link is None:
            return real
        folder = os.path.dirname(link)
        if os.stat(folder).st_mode & stat.S_IWOTH:
            raise DataError(f'{path}: {link} is a link in a folder that everybody writes to; name the file itself')
        real = os.path.normpath(os.path.join(folder, os.readlink(link)) + real[len(link):])
    raise DataError(f'{path}: too many links, one after the other; name the file itself')


def _parts(path: str) -> Iterator[str]:
    """Yield every folder of an absolute path from the top, and the path itself."""
    yield '/'
    for match in re.finditer('/[^/]+', path):
        yield path[:match.end()]


def _refuse_foreign(path: str, real: str) -> None:
    """Raise DataError where others than root can change the file or a folder above it."""
    is_shared = False  # a folder such as /tmp: everybody writes, but only to what is one's own
    for part in _parts(real):
        status = os.stat(part)
        is_foreign = is_shared and status.st_uid != 0
        is_shared = _is_writable_by_others(status)
        if is_foreign or (is_shared and not (status.st_mode & stat.S_ISVTX and stat.S_ISDIR(status.st_mode))):
            raise DataError(f'{path}: others than root can change {part}, and root does not read what others wrote; '
                            f'chown root and chmod go-w {part}, or run this as another user')


def _is_writable_by_others(status: os.stat_result) -> bool:
    is_groups = status.st_mode & stat.S_IWGRP and status.st_gid != 0
    return bool(status.st_mode & stat.S_IWOTH or is_groups)


# --- reading ---------------------------------------------------------------------

def parse(text: str, name: str, describe: Optional[Describe] = None) -> Tuple[Any, List[str]]:
    """Return the data of a JSON text and one sentence for each key that an object has twice.

    Raises DataError where it is no JSON.
    """
    # The objects are kept because a number of a lost one would be given to another.
    doubled: Dict[int, Tuple[Dict[str, Any], List[str]]] = {}

    def note_doubled(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            doubled[id(found)] = found, sorted({key for key in keys if keys.count(key) > 1})
        return found

    data = decoded(text, name, note_doubled)
    return data, [_sentence(name, (describe or place)(data, path), f'{_shown(key)} stands here twice; keep one')
                  for path, found in _objects(data, ()) if id(found) in doubled for key in doubled[id(found)][1]]


def decoded(text: str, name: str, of_pairs: Callable[[List[Tuple[str, Any]]], Any]) -> Any:
    """Return the data of a JSON text. Raises DataError where it is no JSON.

    of_pairs: makes an object of its keys and values, in the order in which they stand.
    """
    try:
        return json.loads(text, object_pairs_hook=of_pairs, parse_constant=_refuse_constant)
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
    known = next((words for start, words in _SYNTAX.items() if rest.startswith(start) or error.msg.startswith(start)), '')
    return len(before) if known == _COMMA else error.pos, known or f'{error.msg}; correct the JSON there'


_COMMA = 'a comma is missing here, or a closing bracket'
# By what stands there, then by what Python calls it.
_SYNTAX: Mapping[str, str] = {
    '//': 'JSON has no comments; write "comment": "..." instead', '#': 'JSON has no comments; write "comment": "..." instead',
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


def _objects(value: Any, path: Tuple[Union[str, int], ...]) -> Iterator[Tuple[Path, Any]]:
    """Yield every object of *value* with its path, outer ones first."""
    if isinstance(value, dict):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _objects(item, (*path, key))


# --- what does not fit the schema ----------------------------------------------------

def schema(name: str) -> Any:
    """Return the schema called *name*."""
    return load(os.path.join(PACKAGE, 'schema', f'{name}.schema.json'))


def schema_problems(data: Any, schema_name: str, name: str, describe: Optional[Describe] = None) -> List[str]:
    """Return a sentence for each place where *data*, of the file *name*, does not fit the schema.

    jsonschema is imported here: it costs more time than everything else that a check imports.
    """
    import jsonschema

    found = jsonschema.Draft7Validator(schema(schema_name)).iter_errors(data)
    places = sorted(((_ordered_path(error), error) for error in found), key=lambda pair: pair[0])
    sentences = [_explained(error, data, name, describe or place) for _, error in places]
    return list(dict.fromkeys(sentences))  # jsonschema names the same missing keys once for each


def _ordered_path(error: Any) -> List[Tuple[int, str]]:
    return [(step, '') if isinstance(step, int) else (-1, step) for step in error.absolute_path]


def _explained(error: Any, data: Any, name: str, describe: Describe) -> str:
    error = _most_telling(error)
    path = list(error.absolute_path)
    if error.validator == 'anyOf' and _needs_one_of(error):
        return _sentence(name, describe(data, path), f'{_listed(_needs_one_of(error), "or")} is missing')
    if 'propertyNames' in error.absolute_schema_path:
        return _sentence(name, describe(data, path), f'the key {_shown(error.instance)} {_form(error)}')
    if error.validator in ABOUT_KEYS:
        return _sentence(name, describe(data, path), ABOUT_KEYS[error.validator](error))
    while len(path) > 1 and isinstance(path[-1], int):
        path.pop()  # an item of a list is known by the list's key
    subject = f'{path[-1]} ' if path else ''
    complain = ABOUT_VALUES.get(error.validator, lambda e: f'{_shown(e.instance)} does not fit the schema ({e.validator})')
    return _sentence(name, describe(data, path[:-1]), subject + complain(error))


def _sentence(name: str, where: str, complaint: str) -> str:
    return f'{name}: {where}: {complaint}' if where else f'{name}: {complaint}'


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
    advice = f'did you mean {near[0]}?' if near else f'known are {_listed(known, "and")}'
    return f'there is no key {_listed([_shown(key) for key in unknown[:5]], "or")}; {advice}'


def _missing_keys(error: Any) -> str:
    missing = [key for key in error.validator_value if key not in error.instance]
    advice = _advice(error.schema.get('properties', {}).get(missing[0], {})) if len(missing) == 1 else ''
    return f'{_listed(missing, "and")} {"is" if len(missing) == 1 else "are"} missing{advice}'


def _advice(schema: Json) -> str:
    """Return what a value can look like, where its schema says it: '; write "a" or "b"'."""
    if 'enum' in schema:
        return f'; write {_listed([_shown(value) for value in schema["enum"]], "or")}'
    return f'; write it like {json.dumps(schema["examples"][0])}' if 'examples' in schema else ''


_KINDS = {'object': 'an object', 'array': 'a list', 'string': 'a text', 'integer': 'a whole number', 'number': 'a number',
          'boolean': 'true or false', 'null': 'null'}


def _wrong_type(error: Any) -> str:
    return f'{_shown(error.instance)} is not {_listed(_expected_kinds(error), "or")}{_advice(error.schema)}'


def _expected_kinds(error: Any) -> List[str]:
    if error.validator == 'anyOf':
        return [kind for inner in error.context for kind in _expected_kinds(inner)]
    kinds = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
    return [_KINDS[kind] for kind in kinds]


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
    'enum': lambda e: f'{_shown(e.instance)} is not known{_advice(e.schema)}',
    'const': lambda e: f'{_shown(e.instance)} is not known; write {_shown(e.validator_value)} or leave it out',
    'pattern': lambda e: f'{_shown(e.instance)} {_form(e)}',
    'minLength': lambda e: f'{_shown(e.instance)} is too short; write at least {e.validator_value} characters',
    'maxLength': lambda e: f'{_shown(e.instance)} is too long; write at most {e.validator_value} characters',
    'minItems': lambda e: f'has {len(e.instance)} items; give at least {e.validator_value}',
    'maxItems': lambda e: f'has {len(e.instance)} items; give {e.validator_value}',
    'minProperties': lambda e: 'is empty; give at least one key or leave it out',
    'uniqueItems': lambda e: 'names the same twice; keep one',
    'minimum': lambda e: f'{_shown(e.instance)} is too small; write {_shown(e.validator_value)} or more',
    'maximum': lambda e: f'{_shown(e.instance)} is too large; write {_shown(e.validator_value)} or less'}


def _shown(value: Any) -> str:
    """Return a value as JSON writes it, but never at length."""
    if isinstance(value, (dict, list)):
        return _KINDS['object' if isinstance(value, dict) else 'array']
    text = json.dumps(value)
    return text if len(text) <= SHOWN else f'{text[:SHOWN]}…"'


def _listed(words: Sequence[str], last: str) -> str:
    return f' {last} '.join(part for part in (', '.join(words[:-1]), words[-1]) if part)


# --- where in the data ---------------------------------------------------------------

def place(data: Any, path: Path) -> str:
    """Return where *path* leads, in words: "Intel DC S3500, attribute 233, endurance_used"."""
    words: List[str] = []
    for depth, step in enumerate(path):
        data = _step(data, step)
        before = path[depth - 1] if depth else ''
        if isinstance(step, int):
            words.append(_item(str(before), step, data))
        elif before in _NAMED:
            words.append(f'{_NAMED[str(before)]} {_name(step)}'.strip())
        elif depth == len(path) - 1 or (step not in _NAMED and step not in _ITEMS):
            words.append(_name(step))
    return ', '.join(words)


# What the keys of these are.
_NAMED = {'documents': 'document', 'roles': 'role', 'sets': 'set', 'attributes': 'attribute', 'readings': ''}
# What the items of these lists are, and what they are known by.
_ITEMS = {'entries': ('entry', 'family'), 'advisories': ('advisory', 'id'), 'samples': ('sample', 'family'),
          'overrides': ('override', 'for')}


def _item(list_name: str, number: int, item: Any) -> str:
    word, key = _ITEMS.get(list_name, ('item', ''))
    known_by = _step(item, key)
    if isinstance(known_by, dict):
        known_by = ' '.join(str(part) for part in next(iter(known_by.items()), ()))
    if not isinstance(known_by, str) or not known_by:
        return f'{word} {number + 1}'
    return _name(known_by) if word == 'entry' else f'{word} {number + 1}, {_name(known_by)}'


def _step(data: Any, step: Union[str, int]) -> Any:
    try:
        return data[step]
    except (KeyError, IndexError, TypeError):
        return None


def _name(text: Any) -> str:
    return _shown(str(text))[1:-1]


# --- the usual layout ------------------------------------------------------------------

# One line for each of these, however short it is: so a change shows what it changes.
_OPEN = re.compile('|documents|roles|(sets|entries|advisories|samples)(/[^/]+(/attributes|/lines)?)?')


def formatted(data: Json, schema_name: str) -> str:
    """Return *data*, which fits the schema, in the one layout that its file has.

    Keys stand in the schema's order; documents, roles, sets, entries and
    advisories are sorted. The order of attributes is kept: it has a meaning.
    Whatever is not ASCII is escaped, so that the text is safe on any terminal.
    """
    root = schema(schema_name)
    ordered = _in_schema_order(data, root, root)
    for key in ('documents', 'roles', 'sets'):
        if key in ordered:
            ordered[key] = dict(sorted(ordered[key].items()))
    for key, rank in (('entries', _entry_rank), ('advisories', lambda advisory: natural(advisory['id']))):
        if key in ordered:
            ordered[key] = sorted(ordered[key], key=rank)
    return _laid_out(ordered, '', '', 0) + '\n'


def _entry_rank(entry: Json) -> Tuple[int, List[Union[str, int]]]:
    return 2 if entry.get('fallback') else 1 if entry.get('generic') else 0, natural(entry['family'])


def natural(text: str) -> List[Union[str, int]]:
    """Return a sort key by which "Intel 330" stands before "Intel 1500"."""
    return [int(part) if position % 2 else part.casefold() for position, part in enumerate(re.split('([0-9]+)', text))]


def _in_schema_order(value: Any, fits: Json, root: Json) -> Any:
    fits = _meant(value, fits, root)
    if isinstance(value, list):
        return [_in_schema_order(item, fits.get('items', {}), root) for item in value]
    if not isinstance(value, dict):
        return value
    known, other = fits.get('properties', {}), fits.get('additionalProperties')
    keys = [key for key in known if key in value] + [key for key in value if key not in known]
    others = other if isinstance(other, dict) else {}
    return {key: _in_schema_order(value[key], known.get(key, others), root) for key in keys}


def _meant(value: Any, fits: Json, root: Json) -> Json:
    """Follow references, and of alternatives the one whose type *value* has."""
    while '$ref' in fits:
        fits = root['definitions'][fits['$ref'].rsplit('/', 1)[1]]
    if 'anyOf' in fits and 'properties' not in fits:
        kind = 'object' if isinstance(value, dict) else 'array' if isinstance(value, list) else None
        choices = (_meant(value, choice, root) for choice in fits['anyOf'])
        return next((choice for choice in choices if choice.get('type') == kind), {})
    return fits


def _laid_out(value: Any, path: str, before: str, indent: int) -> str:
    """Return *value* on one line where it fits behind *before*, else its items on a line each."""
    text = json.dumps(value)
    if not value or not isinstance(value, (dict, list)):
        return text
    if not _OPEN.fullmatch(path) and indent + len(before) + len(text) < WIDTH:
        return text
    items = [(f'{json.dumps(key)}: ', key, item) for key, item in value.items()] if isinstance(value, dict) \
        else [('', number, item) for number, item in enumerate(value)]
    lines = [' ' * (indent + 1) + start + _laid_out(item, f'{path}/{key}'.lstrip('/'), start, indent + 1) for start, key, item in items]
    first, last = '{}' if isinstance(value, dict) else '[]'
    return '\n'.join((first, ',\n'.join(lines), ' ' * indent + last))
