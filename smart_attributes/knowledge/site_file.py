"""Read the usable part of a site's file, and return a message for each mistake.

A mistake must not hide a dying drive: everything else in the file still applies.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from ..errors import DataError
from ..typed import TYPE_CHECKING, Any, Json, NamedTuple
from .data_file import definition, is_fitting, parse, schema, site_text

if TYPE_CHECKING:
    from .data_errors import Mistake
    from .drive_database import Metrics

SHOWN = 10  # maximum number of mistakes of one kind reported for a file; validate reports all
# Definitions in which each key can be used alone; in all others, a mistake makes the whole object
# unusable.
USABLE_IN_PARTS = ('#/definitions/metric', '#/definitions/limits')
OVERRIDE = '#/definitions/override'
# Keys that prevent reading a drive ("read": false) or some of its logs ("skip"); they apply even if
# other parts of the override are invalid.
PROTECTING = ('read', 'skip')
_SPOILT = object()


class SiteFile(NamedTuple):
    """The usable content of a file."""

    name: str  # name in verdicts: "site.json"
    data: Json
    mistakes: tuple[str, ...] = ()
    shown: str = ''  # name in mistakes: "thresholds.d/site.json"


def load(path: str, schema_name: str, shown: str = '') -> SiteFile:
    """Return the valid parts of a file; no part, and a message, if it cannot be read. shown: the
    file's name in messages, such as "thresholds.d/site.json", if it is not that of the path.
    """
    name = os.path.basename(path)
    try:
        text = site_text(path)
        return understood(text, schema_name, name=name, shown=shown or name)
    except DataError as mistake:
        return SiteFile(
            name, sound(None, schema_name), (str(mistake),), shown=shown or name
        )


def understood(text: str, schema_name: str, name: str, shown: str) -> SiteFile:
    """Return the valid parts of a file's content. Raises DataError if this content is not JSON.

    name: the file's name in verdicts. shown: its name in messages.
    """
    data = parse(text, shown)
    rules = schema(schema_name)
    if is_fitting(data, rules, rules):
        return SiteFile(name, data, shown=shown)
    from .schema_errors import schema_problems

    mistakes = _shortened(schema_problems(data, schema_name, shown), shown)
    return SiteFile(name, sound(data, schema_name), mistakes, shown=shown)


def sound(data: Any, schema_name: str) -> Json:
    """Return the parts of a file that fit its schema; no part if *data* is not an object. A file
    with entries always has the key "entries".
    """
    rules = schema(schema_name)
    parts: Json = {}
    if isinstance(data, dict):
        parts = _sound_parts(data, rules['properties'], rules)
    if schema_name == 'attributes':
        return {'entries': [], **parts}
    return parts


def _shortened(sentences: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the first SHOWN sentences, followed by one with the number of the others."""
    rest = len(sentences) - SHOWN
    if rest <= 0:
        return tuple(sentences)
    remark = f'{name}: {rest} more mistakes; to see all, run: check_smart_attributes validate'
    return (*sentences[:SHOWN], remark)


def faultless_entries(shipped: Json, files: Sequence[SiteFile]) -> list[SiteFile]:
    """Return the files with entries, but without the parts that would break a check. shipped:
    attributes.json.
    """
    from .data_errors import of_entries

    result = list(files)
    is_changed = True
    # An entry can need a part, such as a set, that is removed from another file. So all files are
    # checked again, until nothing was removed from any file.
    while is_changed:
        is_changed = False
        for place, file in enumerate(result):
            everything = [shipped, *(usable.data for usable in result)]
            mistakes = list(of_entries(file.data, everything))
            if mistakes:
                result[place] = without(file, mistakes)
                is_changed = True
    return result


def faultless_limits(
    files: Sequence[SiteFile], metrics: Metrics, groups: Collection[str]
) -> list[SiteFile]:
    """Return the files with limits, but without the parts that would break a check. groups: the
    vendor groups.
    """
    from .data_errors import of_limits

    return [without(file, of_limits(file.data, metrics, groups)) for file in files]


def without(file: SiteFile, mistakes: Iterable[Mistake]) -> SiteFile:
    """Return a file without the parts that mistakes make unusable, with a message for each of
    these mistakes. The data of the given file is changed, too.
    """
    sentences = []
    # list() finds all mistakes before the first part is removed.
    for path, sentence in list(mistakes):
        sentences.append(f'{file.shown}: {sentence}')
        _spoil(file.data, path)
    if not sentences:
        return file
    messages = _shortened(list(dict.fromkeys(sentences)), file.shown)
    return file._replace(
        data=_without_spoilt(file.data), mistakes=(*file.mistakes, *messages)
    )


def _spoil(data: Any, path: Sequence[Any]) -> None:
    """Remove the part at *path* from the data of a file; nothing if it was removed before. An item
    of a list, such as "overrides", is replaced by _SPOILT, so that the other items keep their
    indexes.
    """
    *containers, last = path
    part = data
    for step in containers:
        if isinstance(part, dict) and step not in part:
            return
        part = part[step]
        if part is _SPOILT:
            return
    if isinstance(part, list):
        part[last] = _SPOILT
    else:
        part.pop(last, None)


def _without_spoilt(data: Json) -> Json:
    """Return the data of a file without the items that _spoil() has replaced."""
    rest = dict(data)
    for key, value in data.items():
        if isinstance(value, list):
            rest[key] = [item for item in value if item is not _SPOILT]
    return rest


def _sound(value: Any, part: Json, rules: Json) -> Any:
    """Return the valid parts of a value for the schema *part*; _SPOILT if a mistake makes the
    whole value unusable.
    """
    if is_fitting(value, part, rules):
        return value
    if isinstance(value, list) and 'items' in part:
        items = [_sound(item, part['items'], rules) for item in value]
        return [item for item in items if item is not _SPOILT]
    return _sound_object(value, part, rules) if isinstance(value, dict) else _SPOILT


def _sound_object(value: Json, part: Json, rules: Json) -> Any:
    """Return the valid parts of an object:

    - any keys, whose values have one schema, such as "metrics": the valid keys;
    - USABLE_IN_PARTS: the valid keys, if none that is required is missing;
    - an override: see _sound_override();
    - any other object: _SPOILT, because a mistake makes the whole object unusable.

    part: the schema of the object. rules: the whole schema.
    """
    of_values = part.get('additionalProperties')
    if isinstance(of_values, dict):
        names = part.get('propertyNames', {})
        schemas = {key: of_values for key in value if is_fitting(key, names, rules)}
        return _sound_parts(value, schemas, rules)
    of_object = definition(part, rules)
    if part.get('$ref') in USABLE_IN_PARTS:
        parts = _sound_parts(value, of_object['properties'], rules)
        is_complete = parts.keys() >= set(of_object.get('required', ()))
        return parts if is_complete else _SPOILT
    if part.get('$ref') == OVERRIDE:
        return _sound_override(value, of_object, rules)
    return _SPOILT


def _sound_parts(value: Json, schemas: Mapping[str, Json], rules: Json) -> Json:
    """Return the valid parts of an object; {} if it has none. schemas: that of each key's value,
    without keys that are not allowed.
    """
    parts = {}
    for key, item in value.items():
        if key not in schemas:
            continue
        part = _sound(item, schemas[key], rules)
        if part is not _SPOILT:
            parts[key] = part
    return parts


def _sound_override(value: Json, part: Json, rules: Json) -> Any:
    """Return an override without its invalid limits, or with only the keys that protect the drive,
    for example from being read; _SPOILT if neither is possible.
    """
    schemas = part['properties']
    repaired = dict(value)
    if 'metrics' in value:
        # This is _SPOILT if "metrics" is not an object; then the override does not fit, either.
        repaired['metrics'] = _sound(value['metrics'], schemas['metrics'], rules)
    if is_fitting(repaired, part, rules):
        return repaired
    valid = {
        key: value[key]
        for key in ('for', *PROTECTING)
        if key in value and is_fitting(value[key], schemas[key], rules)
    }
    # false protects the drive; true allows to read a drive that reading may harm
    if valid.get('read') is True:
        del valid['read']
    if 'for' not in valid or len(valid) == 1:  # nothing is protected
        return _SPOILT
    return valid
