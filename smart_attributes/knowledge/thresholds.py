"""thresholds/*.json: the limits for one drive and one metric, and who set them.

The data has passed its schema. Levels are asked in this order, field by field, and the first that has the field wins:
command line, serial, device, model, family, metric (site files), metric (default.json).
"""
from __future__ import annotations

import math
import re

from ..coded import Coded
from ..constants import LETTERS
from ..model import Device, Identity
from ..typed import TYPE_CHECKING, Json, NamedTuple
from .acknowledgements import Acknowledgement, applying, from_overrides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    Layer = Sequence[tuple[str, Json]]  # (origin, fields), all of equal rank

SELECTORS = ('serial', 'device', 'model', 'family')  # most telling first
ONE_DRIVE = 2  # of these, the first ones name a single drive
FIELDS = ('warning', 'critical', 'growth', 'aged', 'graph', 'why')
LEVELS = ('warning', 'critical')


class DriveLimit(NamedTuple):
    """A limit that the drive itself reports."""

    reading: str              # "threshold": the reading's own; else a metric
    offset: float             # added to it
    otherwise: str | None     # the range where the drive does not report it
    at_least: float = -math.inf  # a drive's caution is not followed below this, unless its own limit is there

    def beside(self, number: float) -> float:
        """Return the limit of a drive that reports *number*."""
        return max(number + self.offset, min(number, self.at_least))


if TYPE_CHECKING:
    Bound = None | str | DriveLimit  # None: never


class Aged(NamedTuple):
    """The levels that hold where the newest event is long ago."""

    after: int                # seconds
    levels: Mapping[str, Bound]  # by field, without those that a stronger layer has set
    origin: str
    why: str


class Limit(NamedTuple):
    """The limits of one metric of one drive."""

    warning: Bound = None
    critical: Bound = None
    warning_origin: str = ''
    critical_origin: str = ''
    is_graphed: bool = False
    set_fields: frozenset[str] = frozenset()  # null was written, not just left out
    why: str = ''
    growth: tuple[Json, ...] = ()             # rules, as they are written; see history.growth
    growth_origin: str = ''
    own_fields: frozenset[str] = frozenset()  # that were set for this very drive
    aged: Aged | None = None


def when_quiet(limit: Limit, quiet: float | None) -> Limit:
    """Return the limit for a newest event *quiet* seconds ago; the usual one if that is too recent or unknown."""
    aged = limit.aged
    if aged is None or quiet is None or quiet < aged.after:
        return limit
    origins = {f'{field}_origin': f'{aged.origin}, aged' for field in aged.levels}
    changes: Mapping[str, Any] = {**aged.levels, **origins}
    return limit._replace(set_fields=limit.set_fields | set(aged.levels), **changes)


class Exceptions(NamedTuple):
    """What a site file says about a drive beside limits."""

    ignored_attributes: frozenset[int]
    skipped_logs: frozenset[str]
    is_read: bool


class CommandLineLimits(NamedTuple):
    """-w metric=RANGE and -c metric=RANGE."""

    warning: Mapping[str, str]
    critical: Mapping[str, str]


NO_LIMITS = CommandLineLimits({}, {})


class Thresholds:
    """default.json, the site files on top, and the command line on top of those."""

    def __init__(self, default: Json, sites: Sequence[tuple[str, Json]] = (),
                 command_line: CommandLineLimits = NO_LIMITS, today: str = ''):
        """today: ISO date that overrides with "until" are compared with; '' keeps them all."""
        self._files: list[tuple[str, Json]] = [*reversed(list(sites)), ('default.json', default)]
        self._has_overrides = any(data.get('overrides') for _, data in self._files)
        self._by_kind: dict[tuple[str, str], Limit] = {}
        self._selected: tuple[Any, list[tuple[str, Json]]] = (None, [])
        self._command_line = command_line
        self._today = today
        self._acknowledged = [each for name, data in reversed(self._files)
                              for each in from_overrides(data.get('overrides', ()), name)]

    def metrics(self) -> frozenset[str]:
        """Return every metric that any file or the command line has a limit for."""
        names = set(self._command_line.warning) | set(self._command_line.critical)
        for _, data in self._files:
            names.update(data.get('metrics', ()))
            names.update(metric for override in data.get('overrides', ()) for metric in override.get('metrics', ()))
        return frozenset(names)

    def limit(self, metric: str, device: Device, identity: Identity, family: str) -> Limit:
        """Return the limit of *metric* for this drive; overrides of equal rank that disagree on a field do not set it.
        """
        overrides = self._overrides(device, identity, family)
        if overrides:
            return _merged(self._layers(metric, identity.kind, overrides))
        key = metric, identity.kind
        if key not in self._by_kind:
            self._by_kind[key] = _merged(self._layers(metric, identity.kind, ()))
        return self._by_kind[key]

    def _layers(self, metric: str, kind: str, overrides: Sequence[tuple[str, Json]]) -> list[Layer]:
        """Return the fields for a metric, the strongest layer first."""
        levels = {level: ranges[metric] for level, ranges in zip(LEVELS, self._command_line) if metric in ranges}
        layers: list[Layer] = [[('command line', {**levels, 'why': 'asked for on the command line'})] if levels else []]
        layers += [[(f'{name}: {_whose(override)}', _with_reason(override, _of_kind(override['metrics'][metric], kind)))
                    for name, override in overrides
                    if rank(override) == selector and metric in override.get('metrics', ())] for selector in SELECTORS]
        layers += [[(name, _of_kind(data['metrics'][metric], kind))] for name, data in self._files
                   if metric in data.get('metrics', ())]
        return layers

    def acknowledged(self, identity: Identity, metric: str) -> Acknowledgement | None:
        """Return the acknowledgement of a metric of this drive, None without."""
        return applying(self._acknowledged, identity.serial, metric, self._today)

    def disagreements(self, device: Device, identity: Identity, family: str) -> list[str]:
        """Return a sentence for each limit of this drive that two overrides of equal rank set to different values."""
        overrides = self._overrides(device, identity, family)
        return [f'{metric}, {field}: {who} disagree and neither is stronger; remove one of them'
                for metric in sorted(self.metrics() if self._has_overrides else ())
                for layer in self._layers(metric, identity.kind, overrides) for field, who in _disagreements(layer)]

    def _overrides(self, device: Device, identity: Identity, family: str) -> list[tuple[str, Json]]:
        # Each metric of a drive asks, and a site may have an override for every drive that it has.
        drive = device, identity, family
        if self._selected[0] != drive:
            self._selected = drive, [(name, override) for name, data in self._files
                                     for override in data.get('overrides', ()) if not self._is_over(override)
                                     and selects(override['for'], device, identity, family)]
        return self._selected[1]

    def _is_over(self, override: Json) -> bool:
        return bool(self._today) and override.get('until', '9999') < self._today

    def exceptions(self, device: Device, identity: Identity, family: str) -> Exceptions:
        """Return what must not be read or used of this drive. Before it is read, identity and family are empty."""
        overrides = [override for _, override in self._overrides(device, identity, family)]
        return Exceptions(
            ignored_attributes=frozenset(int(number) for o in overrides for number in o.get('attributes', ())),
            skipped_logs=frozenset(log for o in overrides for log in o.get('skip', ())),
            is_read=all(o.get('read', True) for o in overrides))

    def over(self, device: Device, identity: Identity, family: str) -> list[Coded]:
        """Return a sentence for each override that would hold but for its date."""
        return [Coded('override-ended', f'{name}: the override for {_whose(o)} ended on {o["until"]}')
                for name, data in self._files for o in data.get('overrides', ())
                if self._is_over(o) and selects(o['for'], device, identity, family)]


def rank(override: Json) -> str:
    """Return the most telling selector of an override."""
    return next(selector for selector in SELECTORS if selector in override['for'])


def _whose(override: Json) -> str:
    """Return "model ACME.*", but no serial number: it may have to be hidden."""
    selector = rank(override)
    return 'this serial number' if selector == 'serial' else f'{selector} {override["for"][selector]}'


def _with_reason(override: Json, fields: Json) -> Json:
    """Return fields with the reason of their override; why a number was accepted is no reason of a limit."""
    return {'why': override['why'], **fields} if fields else {}


def selects(selector: Json, device: Device, identity: Identity, family: str) -> bool:
    """Return whether every key of a "for" fits the drive."""
    tests: Mapping[str, Callable[[str], bool]] = {
        'serial': lambda value: bool(identity.serial) and value == identity.serial,
        'device': lambda value: value in (device.name, device.address),
        'model': lambda value: bool(identity.model) and re.fullmatch(value, identity.model) is not None,
        'family': lambda value: bool(family) and value == family}
    return all(tests[key](value) for key, value in selector.items())


def _of_kind(metric: Json, kind: str) -> Json:
    """Return a metric's fields with those of the drive's kind on top."""
    return {**{field: metric[field] for field in FIELDS if field in metric}, **metric.get(kind, {})}


def _merged(layers: Sequence[Layer]) -> Limit:
    """Return the limit that each field has from the strongest layer that sets it."""
    fields: dict[str, tuple[Any, str]] = {}
    places: dict[str, int] = {}
    for place, layer in enumerate(layers):
        for field, value in _agreed(layer).items():
            if field not in fields:
                fields[field], places[field] = value, place
    warning, critical, growth, _, graph, why = (fields.get(field, (None, '')) for field in FIELDS)
    rules = () if growth[0] is None else (growth[0],) if isinstance(growth[0], dict) else tuple(growth[0])
    own = frozenset(field for field, place in places.items() if 1 <= place <= ONE_DRIVE)
    return Limit(_bound(warning[0]), _bound(critical[0]), warning[1], critical[1], bool(graph[0]), frozenset(fields),
                 why[0] or '', rules, growth[1], own, _aged(fields, places))


def _agreed(layer: Layer) -> dict[str, tuple[Any, str]]:
    """Merge fields of equal rank, without those that they disagree on."""
    merged = {field: (fields[field], origin) for origin, fields in layer for field in FIELDS if field in fields}
    for field, _ in _disagreements(layer):
        merged.pop(field, None)
    return merged


def _disagreements(layer: Layer) -> Iterator[tuple[str, str]]:
    """Yield (field, the two origins) for each field that has two values at equal rank."""
    first: dict[str, tuple[Any, str]] = {}
    for origin, fields in layer if len(layer) > 1 else ():
        for field in FIELDS:
            if field in fields and field != 'why':
                value, other = first.setdefault(field, (fields[field], origin))
                if value != fields[field]:
                    yield field, f'{other} and {origin}'


def _bound(value: Any) -> Bound:
    if isinstance(value, dict):
        return DriveLimit(value['drive'], value.get('plus', 0) - value.get('minus', 0), value['else'],
                          value.get('at_least', -math.inf))
    return value if value is None else str(value)


def _aged(fields: Mapping[str, tuple[Any, str]], places: Mapping[str, int]) -> Aged | None:
    rule, origin = fields.get('aged', (None, ''))
    if rule is None:
        return None
    levels = {level: _bound(rule[level]) for level in LEVELS
              if level in rule and places.get(level, places['aged']) >= places['aged']}
    return Aged(int(rule['after'][:-1]) * int(LETTERS[rule['after'][-1]]), levels, origin, rule.get('why', ''))
