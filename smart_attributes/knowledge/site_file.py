"""A file that a site wrote -> what is sound in it, and a sentence for each mistake.

A mistake must not hide a dying drive: what is sound is used, what is not is told.
"""

import os
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Tuple

from ..errors import DataError
from ..typed import Json
from . import data_file
from .data_errors import Mistake
from .schema import definition, is_fitting, schema

TOLD = 10  # mistakes of one file that are told; validate tells all
# Definitions whose keys stand for themselves; of everything else, a mistake spoils the whole.
OPEN = ('#/definitions/metric', '#/definitions/limits')
OVERRIDE = '#/definitions/override'
# What protects a drive from being read is kept whatever else is wrong with its override.
PROTECTING = ('read', 'skip')
_SPOILT = object()


class SiteFile(NamedTuple):
    """What a file says, as far as it can be used."""

    name: str                      # as verdicts name it: "site.json"
    data: Json
    mistakes: Tuple[str, ...] = ()
    shown: str = ''                # as mistakes name it, where otherwise: "thresholds.d/site.json"


def load(path: str, schema_name: str, shown: str = '') -> SiteFile:
    """Return what is sound in a file. shown: what mistakes call it, "thresholds.d/site.json"."""
    name = os.path.basename(path)
    try:
        return understood(data_file.site_text(path), schema_name, name, shown)
    except DataError as mistake:
        return SiteFile(name, _empty(schema_name), (str(mistake),), shown)


def understood(text: str, schema_name: str, name: str, shown: str = '') -> SiteFile:
    """Return what is sound in the content of a file. Raises DataError where it is no JSON."""
    data, doubled = data_file.parse(text, shown or name)
    rules = schema(schema_name)
    if not doubled and is_fitting(data, rules, rules):
        return SiteFile(name, data, shown=shown)
    from .schema_errors import schema_problems
    told = doubled or schema_problems(data, schema_name, shown or name)
    return SiteFile(name, sound(data, schema_name), tuple(shortened(told, shown or name)), shown)


def sound(data: Any, schema_name: str) -> Json:
    """Return the parts of a file that fit its schema."""
    return {**_empty(schema_name), **_sound_parts(data, schema(schema_name))}


def _empty(schema_name: str) -> Json:
    return {'entries': []} if schema_name == 'attributes' else {}


def shortened(mistakes: List[str], shown: str) -> List[str]:
    """Return not more sentences than a person reads."""
    rest = len(mistakes) - TOLD
    return mistakes if rest <= 0 else [*mistakes[:TOLD],
                                       f'{shown}: {rest} more mistakes; check_smart_attributes validate tells them all']


def without(file: SiteFile, faults: Iterable[Mistake]) -> SiteFile:
    """Return a file without what its faults make useless, and with their sentences."""
    told: List[str] = []
    name = file.shown or file.name
    for path, sentence in list(faults):  # all are found before the first is taken out
        told.append(f'{name}: {sentence}')
        _spoil(file.data, path)
    if not told:
        return file
    data = {key: [item for item in value if item is not _SPOILT] if isinstance(value, list) else value
            for key, value in file.data.items()}
    return file._replace(data=data, mistakes=(*file.mistakes, *shortened(list(dict.fromkeys(told)), name)))


def _spoil(data: Any, path: Tuple[Any, ...]) -> None:
    """Take out what lies at *path*; an item of a list is marked only, so that the others keep their places."""
    for step in path[:-1]:
        data = data.get(step, _SPOILT) if isinstance(data, dict) else data[step]
        if data is _SPOILT:  # taken out already, with what it lay in
            return
    if isinstance(data, list):
        data[path[-1]] = _SPOILT
    else:
        data.pop(path[-1], None)


# --- what fits the schema -------------------------------------------------------------

def _sound_parts(data: Any, rules: Json) -> Json:
    """Return the parts of a whole file that fit."""
    if not isinstance(data, dict):
        return {}
    parts = {key: _sound_part(value, rules['properties'][key], rules) for key, value in data.items()
             if key in rules['properties']}
    return _kept(parts)


def _sound_part(value: Any, part: Json, rules: Json) -> Any:
    """Return what is sound of a list or of an object with a key for each item."""
    if is_fitting(value, part, rules):
        return value
    if isinstance(value, list) and 'items' in part:
        return [item for item in (_sound(item, part['items'], rules) for item in value) if item is not _SPOILT]
    if isinstance(value, dict) and isinstance(part.get('additionalProperties'), dict):
        names, fits = part.get('propertyNames', {}), part['additionalProperties']
        return _kept({key: _sound(item, fits, rules) for key, item in value.items() if is_fitting(key, names, rules)})
    return _SPOILT


def _sound(value: Any, part: Json, rules: Json) -> Any:
    """Return what is sound of one item."""
    if is_fitting(value, part, rules):
        return value
    if isinstance(value, dict) and part.get('$ref') in OPEN:
        open_part = definition(part, rules)
        known = open_part['properties']
        kept = _kept({key: _sound(item, known[key], rules) for key, item in value.items() if key in known})
        return kept if all(key in kept for key in open_part.get('required', ())) else _SPOILT
    if isinstance(value, dict) and part.get('$ref') == OVERRIDE:
        return _sound_override(value, definition(part, rules), rules)
    return _SPOILT


def _sound_override(value: Json, part: Json, rules: Json) -> Any:
    known = part['properties']
    repaired = {**value,
                'metrics': _sound_part(value['metrics'], known['metrics'], rules)} if 'metrics' in value else value
    if is_fitting(repaired, part, rules):
        return repaired
    kept = {key: value[key] for key in ('for', *PROTECTING) if key in value
            and is_fitting(value[key], known[key], rules)}
    return {**kept,
            'why': 'protected, though its override has a mistake'} if 'for' in kept and len(kept) > 1 else _SPOILT


def _kept(parts: Mapping[str, Any]) -> Dict[str, Any]:
    return {key: value for key, value in parts.items() if value is not _SPOILT}
