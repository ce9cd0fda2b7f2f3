"""Find in thresholds/*.json the limits for one drive and one metric, with their origin, and
acknowledged values.

The data is valid by its schema. Each field comes from the first of these levels that sets the
field: command line, serial, device, model, family, metric (site files), metric (default.json).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..constants import LETTERS
from ..errors import Coded
from ..model import Device, GrowthRule, Identity, Reading
from ..typed import TYPE_CHECKING, Any, Json, NamedTuple
from .patterns import fits

if TYPE_CHECKING:
    # the name of a file, or another origin, with data, an override or fields from there
    Sourced = tuple[str, Json]
    Layer = Sequence[Sourced]  # origins and fields of equal rank

SELECTORS = ('serial', 'device', 'model', 'family')  # most specific first
# Ranks of the layers with limits for a single drive: those of "serial" and "device". Rank 0 is the
# command line.
OF_ONE_DRIVE = (1, 2)
FIELDS = ('warning', 'critical', 'growth', 'aged', 'graph', 'why')
LEVELS = ('warning', 'critical')
FILE = 'acknowledged.json'
MISSING = 'missing'  # used instead of a metric: the drive is allowed to be missing
# keys of an override, and fields of an acknowledgement
NOTES = ('why', 'until', 'by', 'at')


class DriveLimit(NamedTuple):
    """A limit that the drive itself reports."""

    reading: str  # "threshold": the threshold of the reading itself; else a metric
    offset: float  # added to the limit
    otherwise: str | None  # the range if the drive does not report the limit
    # lowest result after adding the offset, unless the drive's own limit is lower
    at_least: float = -math.inf

    def beside(self, number: float) -> float:
        """Return the limit for a drive that reports *number* as its own limit: *number* plus the
        offset, such as 55 for 60 and -5; raised to at_least, but not above *number*.
        """
        lowest = min(number, self.at_least)
        return max(number + self.offset, lowest)


if TYPE_CHECKING:
    Bound = None | str | DriveLimit  # None: never alert


class Aged(NamedTuple):
    """A stage of a limit: the levels that apply if the newest event has a certain age."""

    after: int  # seconds
    before: float  # seconds; only for an event that is known to be younger
    # only for drives that have since passed an extended self-test and have no pending sectors
    is_for_tested: bool
    # by field, without levels set by a layer of higher precedence
    levels: Mapping[str, Bound]
    origin: str
    why: str


class Limit(NamedTuple):
    """The limits of one metric of one drive."""

    warning: Bound = None
    critical: Bound = None
    warning_origin: str = ''
    critical_origin: str = ''
    is_graphed: bool = False
    set_fields: frozenset[str] = frozenset()  # fields that are set, even to null
    why: str = ''  # of the limit as a whole
    warning_why: str = ''  # as given where this level is set
    critical_why: str = ''
    growth: tuple[Json, ...] = ()  # rules as in the file; see growth_rule()
    growth_origin: str = ''
    own_fields: frozenset[str] = frozenset()  # fields that are set for only this drive
    aged: tuple[Aged, ...] = ()  # stages, the lowest age first


def stages(limit: Limit, reading: Reading) -> Iterator[Aged]:
    """Yield the stages of a limit that apply to a reading; no stage if the age of the newest
    event is unknown.
    """
    if reading.quiet is None:
        return
    for stage in limit.aged:
        is_inside = stage.after <= reading.quiet < stage.before
        # the real age may be longer than `quiet`, and beyond the end of the stage
        may_be_too_old = reading.quiet_is_bound and stage.before < math.inf
        fits_test = reading.is_tested or not stage.is_for_tested
        if is_inside and not may_be_too_old and fits_test:
            yield stage


def when_quiet(limit: Limit, reading: Reading) -> Limit:
    """Return the limit for the age of a reading's newest event; a later stage overrides an
    earlier one.
    """
    for stage in stages(limit, reading):
        origins = {f'{field}_origin': f'{stage.origin}, aged' for field in stage.levels}
        changes: Mapping[str, Any] = {**stage.levels, **origins}
        limit = limit._replace(
            set_fields=limit.set_fields | set(stage.levels), **changes
        )
    return limit


class Exceptions(NamedTuple):
    """The settings, other than limits, that a site file has for a drive."""

    ignored_attributes: frozenset[int]
    skipped_logs: frozenset[str]
    is_read: bool  # False: an override has "read": false
    # an override has "read": true, so the drive is read even if an advisory of the database forbids
    # it
    is_reading_allowed: bool
    # an override has "presence", whose only value is "optional": the drive is not missed
    is_optional: bool


class Acknowledgement(NamedTuple):
    """An accepted value of one metric of one drive."""

    serial: str
    metric: str
    value: float  # base unit
    why: str = ''
    until: str = ''  # last day, "2027-01-31"; '' for no end
    by: str = ''
    at: str = ''  # day
    origin: str = FILE


class Thresholds:
    """The limits of default.json, which site files override; the command line overrides both."""

    def __init__(
        self,
        default: Json,
        sites: Sequence[Sourced] = (),
        command_line: Mapping[str, Mapping[str, str]] = {},
        today: str = '',
    ):
        """Store the data. sites: in order of precedence, lowest first. command_line: of each level,
        the ranges by metric. today: ISO date that the "until" of overrides is compared with; ''
        keeps all overrides.
        """
        # highest precedence first
        self._files = [*reversed(sites), ('default.json', default)]
        self._command_line = command_line
        # the limits of drives without overrides, by metric, kind and groups
        self._by_kind: dict[tuple[str, _Kind, tuple[str, ...]], Limit] = {}
        self._groups: dict[str, tuple[str, ...]] = {}  # family -> its groups
        # by serial number and metric
        self._acknowledged: dict[tuple[str, str], Acknowledgement] = {}
        # overrides, each with the name of its file: in force, and after their "until"
        self._current: list[Sourced] = []
        self._expired: list[Sourced] = []
        # of the drive that was asked for last: the drive, and the overrides for it
        self._selected_for: tuple[Device, Identity, str] | None = None
        self._selected: list[Sourced] = []
        for name, data in self._files:
            for group, families in data.get('groups', {}).items():
                for family in families:
                    self._groups[family] = (*self._groups.get(family, ()), group)
            of_file = {}
            for override in data.get('overrides', ()):
                if override.get('until', '9999') < today:
                    self._expired.append((name, override))
                    continue
                self._current.append((name, override))
                for accepted in from_override(override, name):
                    of_file[accepted.serial, accepted.metric] = accepted
            # an earlier file has precedence; in a file, the last override counts
            self._acknowledged = {**of_file, **self._acknowledged}

    def limit(
        self, metric: str, device: Device, identity: Identity, family: str
    ) -> Limit:
        """Return the limit of *metric* for this drive.

        If overrides of equal rank disagree on a field, none of them sets this field.
        """
        key = metric, _kind_of(identity), self.groups(family)
        overrides = self._overrides(device, identity, family)
        if overrides:
            return _merged(self._layers(*key, overrides))
        if key not in self._by_kind:
            self._by_kind[key] = _merged(self._layers(*key, ()))
        return self._by_kind[key]

    def _layers(
        self,
        metric: str,
        kind: _Kind,
        groups: Sequence[str],
        overrides: Sequence[Sourced],
    ) -> list[Layer]:
        """Return the fields for a metric, in layers of descending precedence: the command line,
        one layer for each of SELECTORS, and the files with limits for all drives. A layer can be
        empty.
        """
        levels = {
            level: ranges[metric]
            for level, ranges in self._command_line.items()
            if metric in ranges
        }
        first: list[Sourced] = []
        if levels:
            first.append(('command line', {**levels, 'why': 'set on the command line'}))
        by_selector: dict[str, list[Sourced]] = {selector: [] for selector in SELECTORS}
        for name, override in overrides:
            if metric in override.get('metrics', ()):
                limits = _fields_for(override['metrics'][metric], kind, groups)
                # Limits without a reason of their own have that of their override. If it only
                # acknowledges the metric, there are no limits.
                if limits:
                    limits = {'why': override['why'], **limits}
                origin = f'{name}: {_whose(override)}'
                by_selector[selector_of(override)].append((origin, limits))
        layers: list[Layer] = [first, *by_selector.values()]
        for name, data in self._files:
            if metric in data.get('metrics', ()):
                limits = _fields_for(data['metrics'][metric], kind, groups)
                layers.append([(name, limits)])
        return layers

    def groups(self, family: str) -> tuple[str, ...]:
        """Return the groups that a family belongs to; () for a family without group."""
        return self._groups.get(family, ())

    def acknowledged(self, identity: Identity, metric: str) -> Acknowledgement | None:
        """Return the unexpired acknowledgement of a metric of this drive, or None."""
        return self._acknowledged.get((identity.serial, metric))

    def disagreements(
        self, device: Device, identity: Identity, family: str
    ) -> list[str]:
        """Return a message for each limit of this drive that two overrides of equal rank set to
        different values.
        """
        overrides = self._overrides(device, identity, family)
        metrics = {
            metric
            for _, override in overrides
            for metric in override.get('metrics', ())
        }
        kind = _kind_of(identity)
        groups = self.groups(family)
        messages = []
        for metric in sorted(metrics):
            for layer in self._layers(metric, kind, groups, overrides):
                for field, who in _disagreements(layer):
                    messages.append(
                        f'{metric}, {field}: {who} disagree and neither takes precedence; remove '
                        'one of them'
                    )
        return messages

    def _overrides(
        self, device: Device, identity: Identity, family: str
    ) -> list[Sourced]:
        """Return each unexpired override for the drive, with the name of its file."""
        # The result is kept: it is needed for each metric of a drive, and a site may have an
        # override for each drive.
        drive = device, identity, family
        if self._selected_for != drive:
            self._selected = list(_selecting(self._current, *drive))
            self._selected_for = drive
        return self._selected

    def exceptions(self, device: Device, identity: Identity, family: str) -> Exceptions:
        """Return which data of the drive not to read or use. identity, family: empty until the
        drive is read.
        """
        attributes: set[int] = set()
        logs = set()
        decisions = set()  # the values of "read": True, False, and None without it
        is_optional = False
        for _, override in self._overrides(device, identity, family):
            attributes.update(map(int, override.get('attributes', ())))
            logs.update(override.get('skip', ()))
            decisions.add(override.get('read'))
            is_optional = is_optional or 'presence' in override
        return Exceptions(
            ignored_attributes=frozenset(attributes),
            skipped_logs=frozenset(logs),
            is_read=(False not in decisions),
            is_reading_allowed=(True in decisions),
            is_optional=is_optional,
        )

    def over(self, device: Device, identity: Identity, family: str) -> list[Coded]:
        """Return a message for each override of this drive that has expired."""
        messages = []
        for name, override in _selecting(self._expired, device, identity, family):
            words = f'{name}: the override for {_whose(override)} ended on {override["until"]}'
            messages.append(Coded('override-ended', words))
        return messages


def selector_of(override: Json) -> str:
    """Return the most specific selector of an override, one of SELECTORS."""
    return next(selector for selector in SELECTORS if selector in override['for'])


def _whose(override: Json) -> str:
    """Return the selector in words, such as "model ACME.*".

    A serial number is left out, because it may be secret.
    """
    selector = selector_of(override)
    if selector == 'serial':
        return 'this serial number'
    return f'{selector} {override["for"][selector]}'


def _selecting(
    overrides: Iterable[Sourced], device: Device, identity: Identity, family: str
) -> Iterator[Sourced]:
    """Yield those of (file, override) whose override is for the drive."""
    for name, override in overrides:
        if selects(override['for'], device, identity=identity, family=family):
            yield name, override


def selects(selector: Json, device: Device, identity: Identity, family: str) -> bool:
    """Return whether every condition of *selector*, the value of an override's key "for", matches
    the drive. A condition on a property that the drive does not report never matches.
    """
    if 'serial' in selector and selector['serial'] != identity.serial:
        return False
    if 'device' in selector and selector['device'] not in (device.name, device.address):
        return False
    if 'family' in selector and selector['family'] != family:
        return False
    if 'model' not in selector:
        return True
    return bool(identity.model) and fits(selector['model'], identity.model)


class _Kind(NamedTuple):
    """The kind of a drive, which decides the fields that it has."""

    name: str  # "ssd", "sas" ...
    # only of a SAS drive
    similar: str = ''  # the kind of a similar SATA drive, "hdd"
    vendor: str = ''  # "SEAGATE"


def _kind_of(identity: Identity) -> _Kind:
    """Return the kind of a drive."""
    if identity.kind != 'sas':
        return _Kind(identity.kind)
    similar = 'ssd' if identity.rotation == 0 else 'hdd'
    return _Kind(identity.kind, similar, identity.model.partition(' ')[0])


def _fields_for(metric: Json, kind: _Kind, groups: Sequence[str]) -> Json:
    """Return the fields of a metric for a drive. If a field is set several times, the last one of
    these levels counts:

    1. the metric itself, for all drives;
    2. the similar kind of SATA drive, only for a SAS drive whose own kind has "like";
    3. its own kind;
    4. its groups.

    The groups of a drive with the second level are not *groups*, but only the group that "like"
    names for its vendor. If its own kind has no "groups", it uses those of the similar kind. So a
    SAS disk of Seagate has the warning "8" of this metric:

        {"warning": "4",
         "sas": {"like": {"SEAGATE": "Seagate"}},
         "hdd": {"groups": {"Seagate": {"warning": "8"}}}}
    """
    own_kind = metric.get(kind.name, {})
    own_groups = groups
    similar_kind = {}
    if 'like' in own_kind and kind.similar:
        own_groups = (own_kind['like'].get(kind.vendor, ''),)
        similar_kind = metric.get(kind.similar, {})
    kind_with_groups = own_kind if 'groups' in own_kind else similar_kind
    limits_by_group = kind_with_groups.get('groups', {})
    limits = {**metric, **similar_kind, **own_kind}
    for group in own_groups:
        limits.update(limits_by_group.get(group, {}))
    return {field: limits[field] for field in FIELDS if field in limits}


class _Field(NamedTuple):
    """A field of a limit."""

    value: Any
    origin: str
    rank: int  # of its layer; 0 is the layer of highest precedence
    why: str = ''  # the field "why" that is given beside it


def _merged(layers: Sequence[Layer]) -> Limit:
    """Return the limit; each field comes from the layer of highest precedence that sets it.

    A field on which the overrides of a layer disagree is not set by this layer. If several have the
    same value, the last one gives the origin and the reason.

    layers: highest precedence first.
    """
    fields: dict[str, _Field] = {}
    # The layers are read from the lowest precedence to the highest, and each layer from the first
    # override to the last. So each field replaces those that were read before.
    for rank, layer in reversed(list(enumerate(layers))):
        disputed = [field for field, _ in _disagreements(layer)]
        for origin, values in layer:
            why = values.get('why', '')
            for field in FIELDS:
                if field in values and field not in disputed:
                    fields[field] = _Field(values[field], origin, rank, why)
    unset = _Field(None, '', len(layers))
    warning, critical = (fields.get(level, unset) for level in LEVELS)
    growth = fields.get('growth', unset)
    own_fields = [name for name, field in fields.items() if field.rank in OF_ONE_DRIVE]
    return Limit(
        warning=_bound(warning.value),
        critical=_bound(critical.value),
        warning_origin=warning.origin,
        critical_origin=critical.origin,
        is_graphed=bool(fields.get('graph', unset).value),
        set_fields=frozenset(fields),
        why=fields.get('why', unset).value or '',
        warning_why=warning.why,
        critical_why=critical.why,
        growth=tuple(several(growth.value)),
        growth_origin=growth.origin,
        own_fields=frozenset(own_fields),
        aged=_aged(fields.get('aged', unset), fields),
    )


def _disagreements(layer: Layer) -> Iterator[tuple[str, str]]:
    """Yield (field, the two origins) for each field with two different values of equal rank."""
    first: dict[str, tuple[Any, str]] = {}
    for origin, fields in layer:
        for field in FIELDS:
            if field in fields and field != 'why':
                value, first_origin = first.setdefault(field, (fields[field], origin))
                if value != fields[field]:
                    yield field, f'{first_origin} and {origin}'


def _bound(value: str | dict[str, Any] | None) -> Bound:
    """Return a level as written in a file: a range, None, or a DriveLimit for an object."""
    if isinstance(value, dict):
        return DriveLimit(
            value['drive'],
            value.get('plus', 0) - value.get('minus', 0),
            otherwise=value['else'],
            at_least=value.get('at_least', -math.inf),
        )
    return value


def _aged(aged: _Field, fields: Mapping[str, _Field]) -> tuple[Aged, ...]:
    """Return the stages of a limit; () if the field "aged" is not set.

    fields: all fields of the limit. If "warning" or "critical" comes from a layer of higher
    precedence than "aged", for example from the command line, it applies at any age, and the stages
    do not have this level.
    """
    overriding = [name for name, field in fields.items() if field.rank < aged.rank]
    levels = [level for level in LEVELS if level not in overriding]
    stages = []
    for rule in several(aged.value):
        stage = Aged(
            after=seconds(rule.get('after', '0d')),
            before=seconds(rule['before']) if 'before' in rule else math.inf,
            is_for_tested=rule.get('tested', False),
            levels={level: _bound(rule[level]) for level in levels if level in rule},
            origin=aged.origin,
            why=rule.get('why', ''),
        )
        stages.append(stage)
    return tuple(sorted(stages, key=lambda stage: stage.after))


def growth_rule(rule: Json) -> GrowthRule:
    """Return a rule of growth, such as {"within": "24h", "warning": "0", "for": "7d"}, or for wear
    {"within": "30d", "for": "7d", "warning": "1", "times": 3, "gone": "90d"}.

    See GrowthRule for "stands" (0d for values that never fall), "times" and "gone".
    """
    # level -> increase
    increases: dict[str, Any] = {
        level: float(rule[level]) for level in LEVELS if rule.get(level) is not None
    }
    return GrowthRule(
        within=seconds(rule['within']),
        held=seconds(rule['for']),
        stands=seconds(rule.get('stands', '0d')),
        advice=rule.get('advice', ''),
        times=rule.get('times', 0),
        gone=seconds(rule.get('gone', '180d')),
        **increases,
    )


def seconds(text: str) -> int:
    """Return a time such as "24h" in seconds."""
    return int(text[:-1]) * int(LETTERS[text[-1]])


def several(rules: Any) -> Sequence[Json]:
    """Return the rules of a field as a sequence; the field has one rule, a list of rules, or null.
    Readings of an entry have the same form.
    """
    if rules is None:
        return ()
    return (rules,) if isinstance(rules, dict) else rules


# --- acknowledgements: values that an admin accepts and that raise no alert until they get worse --

# An acknowledgement is root's configuration and not part of the history: it is an override in
# thresholds.d or in acknowledged.json of the configuration folder. A user who can write only to the
# history file cannot suppress an alert.


def from_override(override: Json, origin: str = FILE) -> Iterator[Acknowledgement]:
    """Yield the acknowledgements in an override, which must be valid by its schema; nothing if it
    is not for a serial number. origin: name of its file.
    """
    serial = override['for'].get('serial')
    if not serial:
        return
    notes = {note: override.get(note, '') for note in NOTES}
    if override.get('missing'):
        yield Acknowledgement(serial, MISSING, 0, origin=origin, **notes)
    for metric, limits in override.get('metrics', {}).items():
        if 'acknowledged' in limits:
            value = float(limits['acknowledged'])
            yield Acknowledgement(serial, metric, value, origin=origin, **notes)


def is_silent(accepted: Acknowledgement | None, number: float, falls: bool) -> bool:
    """Return whether a number is at least as good as the accepted value; False without an
    acknowledgement. falls: a smaller number is worse.
    """
    if accepted is None:
        return False
    return number >= accepted.value if falls else number <= accepted.value
