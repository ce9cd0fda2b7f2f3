"""thresholds/*.json: the limits for one drive and one metric, and who set them.

The data has passed its schema before it comes here. Levels are asked in this
order, field by field, and the first that has the field wins: command line,
serial, device, model, family, metric (site files), metric (default.json).
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
    from typing import Any, Callable, Dict, FrozenSet, Iterator, List, Mapping, Optional, Sequence, Tuple, Union


SELECTORS = ('serial', 'device', 'model', 'family')  # most telling first
ONE_DRIVE = 2  # of these, the first ones name a single drive
FIELDS = ('warning', 'critical', 'growth', 'aged', 'graph', 'why')
LEVELS = ('warning', 'critical')
NOBODY = 99  # a layer behind all others


class DriveLimit(NamedTuple):
    """A limit that the drive itself knows."""

    reading: str              # "threshold": the reading's own; else a metric
    offset: float             # added to it
    otherwise: Optional[str]  # the range where the drive does not know
    at_least: float = -math.inf  # a drive's caution is not followed below this, unless its own limit is there

    def beside(self, known: float) -> float:
        """Return the limit of a drive that says *known*."""
        return max(known + self.offset, min(known, self.at_least))


if TYPE_CHECKING:
    Bound = Union[None, str, DriveLimit]  # None: never


class Aged(NamedTuple):
    """What holds instead where nothing has come for so long."""

    after: int                # seconds
    levels: Mapping[str, Bound]  # by field, without those that someone stronger has set
    origin: str
    why: str


class Limit(NamedTuple):
    """What holds for one metric of one drive."""

    warning: Bound = None
    critical: Bound = None
    warning_origin: str = ''
    critical_origin: str = ''
    is_graphed: bool = False
    set_fields: FrozenSet[str] = frozenset()  # null was written, not just left out
    why: str = ''
    growth: Tuple[Json, ...] = ()             # rules, as they are written; see history.growth
    growth_origin: str = ''
    own_fields: FrozenSet[str] = frozenset()  # that were set for this very drive
    aged: Optional[Aged] = None


def when_quiet(limit: Limit, quiet: Optional[float]) -> Limit:
    """Return the limit for a newest event *quiet* seconds ago; the usual one if that is too recent or unknown."""
    aged = limit.aged
    if aged is None or quiet is None or quiet < aged.after:
        return limit
    changed: Dict[str, Any] = dict(aged.levels)
    changed.update((f'{field}_origin', f'{aged.origin}, aged') for field in aged.levels)
    return limit._replace(set_fields=limit.set_fields | set(aged.levels), **changed)


class Exceptions(NamedTuple):
    """What a site file says about a drive beside limits."""

    ignored_attributes: FrozenSet[int]
    skipped_logs: FrozenSet[str]
    is_read: bool


class CommandLineLimits(NamedTuple):
    """-w metric=RANGE and -c metric=RANGE."""

    warning: Mapping[str, str]
    critical: Mapping[str, str]


NO_LIMITS = CommandLineLimits({}, {})


class Thresholds:
    """default.json, the site files on top, and the command line on top of those."""

    def __init__(self, default: Json, sites: Sequence[Tuple[str, Json]] = (),
                 command_line: CommandLineLimits = NO_LIMITS, today: str = ''):
        """today: ISO date on which overrides with "until" are looked at; '' keeps them all."""
        self._files: List[Tuple[str, Json]] = [*reversed(list(sites)), ('default.json', default)]
        self._has_overrides = any(data.get('overrides') for _, data in self._files)
        self._by_kind: Dict[Tuple[str, str], Limit] = {}
        self._selected: Tuple[Any, List[Tuple[str, Json]]] = (None, [])
        self._command_line = command_line
        self._today = today
        self._acknowledged = [each for name, data in reversed(self._files)
                              for each in from_overrides(data.get('overrides', ()), name)]

    def metrics(self) -> FrozenSet[str]:
        """Return every metric that any file or the command line has a limit for."""
        names = set(self._command_line.warning) | set(self._command_line.critical)
        for _, data in self._files:
            names.update(data.get('metrics', ()))
            names.update(metric for override in data.get('overrides', ()) for metric in override.get('metrics', ()))
        return frozenset(names)

    def limit(self, metric: str, device: Device, identity: Identity, family: str) -> Limit:
        """Return the limit of *metric* for this drive; overrides of equal rank that disagree on a field do not set it.
        """
        if self._overrides(device, identity, family):
            return self._limit(metric, device, identity, family)
        key = metric, identity.kind
        if key not in self._by_kind:
            self._by_kind[key] = self._limit(metric, device, identity, family)
        return self._by_kind[key]

    def _limit(self, metric: str, device: Device, identity: Identity, family: str) -> Limit:
        found: Dict[str, Tuple[Any, str]] = {}
        own: List[str] = []
        places: Dict[str, int] = {}
        for place, layer in enumerate(self._layers(metric, device, identity, family)):
            for field, value in _agreed(layer).items():
                own += [field] if field not in found and 1 <= place <= ONE_DRIVE else []
                places.setdefault(field, place)
                found.setdefault(field, value)
        aged = _aged(found, [field for field in LEVELS if places.get(field, NOBODY) >= places.get('aged', 0)])
        warning, critical, growth, _, graph, why = (found.get(field, (None, '')) for field in FIELDS)
        return Limit(_bound(warning[0]), _bound(critical[0]), warning[1], critical[1], bool(graph[0]), frozenset(found),
                     why[0] or '', _rules(growth[0]), growth[1], frozenset(own), aged)

    def _layers(self, metric: str, device: Device, identity: Identity, family: str) -> List[List[Tuple[str, Json]]]:
        """Return lists of (origin, fields); within a list all are of equal rank."""
        layers: List[List[Tuple[str, Json]]] = [[('command line', self._given(metric))]]
        overrides = self._overrides(device, identity, family)
        for selector in SELECTORS:
            layers.append([(f'{name}: {_whose(override)}',
                            _with_reason(override, _of_kind(override['metrics'][metric], identity)))
                           for name, override in overrides
                           if rank(override) == selector and metric in override.get('metrics', ())])
        layers.extend([(name, _of_kind(data['metrics'][metric], identity))] for name, data in self._files
                      if metric in data.get('metrics', ()))
        return layers

    def acknowledged(self, identity: Identity, metric: str) -> Optional[Acknowledgement]:
        """Return what an admin has accepted of a metric of this drive, None without."""
        return applying(self._acknowledged, identity.serial, metric,
                        self._today) if self._acknowledged and identity.serial else None

    def disagreements(self, device: Device, identity: Identity, family: str) -> List[str]:
        """Return a sentence for each limit of this drive that two overrides of equal rank set to different values."""
        return [f'{metric}, {field}: {who} disagree and neither is stronger; remove one of them'
                for metric in sorted(self.metrics() if self._has_overrides else ())
                for layer in self._layers(metric, device, identity, family) for field, who in _disagreements(layer)]

    def _given(self, metric: str) -> Json:
        given = {'warning': self._command_line.warning, 'critical': self._command_line.critical}
        fields = {field: values[metric] for field, values in given.items() if metric in values}
        return {**fields, 'why': 'asked for on the command line'} if fields else {}

    def _overrides(self, device: Device, identity: Identity, family: str) -> List[Tuple[str, Json]]:
        # Each metric of a drive asks, and a site may have an override for every drive that it has.
        drive, found = self._selected
        if drive != (device, identity, family):
            found = [(name, override) for name, data in self._files for override in data.get('overrides', ())
                     if not self._is_over(override) and selects(override['for'], device, identity, family)]
            self._selected = (device, identity, family), found
        return found

    def _is_over(self, override: Json) -> bool:
        return bool(self._today) and override.get('until', '9999') < self._today

    def exceptions(self, device: Device, identity: Identity, family: str) -> Exceptions:
        """Return what is to be left alone on this drive. Before it is read, identity and family are empty."""
        overrides = [override for _, override in self._overrides(device, identity, family)]
        return Exceptions(
            ignored_attributes=frozenset(int(number) for o in overrides for number in o.get('attributes', ())),
            skipped_logs=frozenset(log for o in overrides for log in o.get('skip', ())),
            is_read=all(o.get('read', True) for o in overrides))

    def over(self, device: Device, identity: Identity, family: str) -> List[Coded]:
        """Return a sentence for each override that would hold but for its date."""
        return [Coded('override-ended', f'{name}: the override for {_whose(o)} ended on {o["until"]}')
                for name, data in self._files for o in data.get('overrides', ())
                if self._is_over(o) and selects(o['for'], device, identity, family)]


def rank(override: Json) -> str:
    """Return the most telling selector of an override."""
    return next(selector for selector in SELECTORS if selector in override['for'])


def _whose(override: Json) -> str:
    """Return "model ACME.*". A serial number stands with its drive, and not here: it may have to be hidden."""
    selector = rank(override)
    return 'this serial number' if selector == 'serial' else f'{selector} {override["for"][selector]}'


def _with_reason(override: Json, fields: Json) -> Json:
    """Return fields with the reason of their override; why a number was accepted is no reason of a limit."""
    return {'why': override['why'], **fields} if fields else {}


def selects(selector: Json, device: Device, identity: Identity, family: str) -> bool:
    """Say whether every key of a "for" fits the drive."""
    tests: Dict[str, Callable[[str], bool]] = {
        'serial': lambda wanted: bool(identity.serial) and wanted == identity.serial,
        'device': lambda wanted: wanted in (device.name, device.address),
        'model': lambda wanted: bool(identity.model) and re.fullmatch(wanted, identity.model) is not None,
        'family': lambda wanted: bool(family) and wanted == family}
    return all(tests[key](wanted) for key, wanted in selector.items())


def _of_kind(metric: Json, identity: Identity) -> Json:
    """Return a metric's fields with those of the drive's kind on top."""
    fields = {field: metric[field] for field in FIELDS if field in metric}
    fields.update(metric.get(identity.kind, {}))
    return fields


def _agreed(layer: Sequence[Tuple[str, Json]]) -> Dict[str, Tuple[Any, str]]:
    """Merge fields of equal rank, without those that they disagree on."""
    merged = {field: (fields[field], origin) for origin, fields in layer for field in FIELDS if field in fields}
    if len(layer) > 1:
        for field, _ in _disagreements(layer):
            merged.pop(field, None)
    return merged


def _disagreements(layer: Sequence[Tuple[str, Json]]) -> Iterator[Tuple[str, str]]:
    """Yield (field, who set it otherwise than whom) for each field that has two values at equal rank."""
    first: Dict[str, Tuple[Any, str]] = {}
    for origin, fields in layer:
        for field in ('warning', 'critical', 'growth', 'aged', 'graph'):
            if field in fields:
                value, other = first.setdefault(field, (fields[field], origin))
                if value != fields[field]:
                    yield field, f'{other} and {origin}'


def _bound(value: Any) -> Bound:
    if isinstance(value, dict):
        return DriveLimit(value['drive'], value.get('plus', 0) - value.get('minus', 0), value['else'],
                          value.get('at_least', -math.inf))
    return value if value is None else str(value)


def _rules(value: Any) -> Tuple[Json, ...]:
    """Return the rules of growth: one, several, or none."""
    return () if value is None else (value,) if isinstance(value, dict) else tuple(value)


def _aged(found: Mapping[str, Tuple[Any, str]], fields: Sequence[str]) -> Optional[Aged]:
    """Return the rule for what is old. fields: those that nobody stronger has set."""
    rule, origin = found.get('aged', (None, ''))
    if rule is None:
        return None
    levels = {field: _bound(rule[field]) for field in fields if field in rule}
    return Aged(int(rule['after'][:-1]) * int(LETTERS[rule['after'][-1]]), levels, origin, rule.get('why', ''))
