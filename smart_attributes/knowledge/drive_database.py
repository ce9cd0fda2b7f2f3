"""attributes.json: which entry describes a drive, and what it says.

The data has passed its schema (see `site_file`). Nothing is compiled or copied for entries that cannot concern the
drive at hand, so that the size of the database hardly matters to a check.
"""
from __future__ import annotations

import re
from functools import cached_property

from ..coded import Coded
from ..errors import DataError
from ..model import Identity, State
from ..typed import TYPE_CHECKING, Json, MutableJson, NamedTuple
from . import decode
from .pattern_prefixes import ByBeginning, matches_pattern
from .units import LOGICAL_SECTORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Interval = tuple[float | None, float | None]

CONDITIONS = ('models', 'firmware', 'kind', 'has', 'lacks', 'first', 'only')
# Conditions on the attribute numbers of a drive, in the order of its table.
GUARDS: Mapping[str, Callable[[Sequence[int], Sequence[int]], bool]] = {
    'has': lambda present, numbers: set(numbers) <= set(present),
    'lacks': lambda present, numbers: not set(numbers) & set(present),
    'first': lambda present, numbers: list(present[:len(numbers)]) == list(numbers),
    'only': lambda present, numbers: set(present) <= set(numbers)}
STATES = {'passed': State.OK, 'failed': State.CRITICAL}


class Metric(NamedTuple):
    """The meaning of a number, for any drive."""

    name: str
    meaning: str
    unit: str                # base unit: "%", "s", "B", "C" or ""
    worse: str               # "high", "low" or "none"
    valid: Interval
    is_verdict: bool         # words with a state instead of numbers with limits
    minimum: float | None
    maximum: float | None
    concern: str = ''        # what a finding of this metric says about the drive: a name in severity.ORDER
    order: int = 0           # of perfdata where not all fit, 1 first; 0: after those, by concern
    beside: str = ''         # the metric whose drives may have this one at a later check


class ReadingSpec(NamedTuple):
    """How one attribute gives a reading of one metric."""

    metric: str
    attribute: int
    formula: decode.Formula
    valid: Interval
    sentinels: tuple[float, ...]   # results that mean "no value"
    unit: str                       # of the source; '' is the metric's own
    ceiling: int | None             # the counter stops here
    states: tuple[tuple[int, int, str], ...]  # (lowest, highest, word)
    is_trap: bool
    definition: str                 # how the entry writes it: "raw bytes 2-3 min"


class DriveSpec(NamedTuple):
    """What the strongest matching entry says about a drive."""

    family: str | None              # None: only the fallback matches
    names: Mapping[int, str]
    readings: tuple[ReadingSpec, ...]  # within a metric, the first valid one counts
    ignored_thresholds: frozenset[int]
    untrusted_statistics: frozenset[str]  # metrics whose device statistic is no reading of these drives
    statistic_units: Mapping[str, str]    # of the device statistics, by metric, where it is not the metric's own unit
    is_generic: bool
    rated_written: tuple[float, str] | None = None  # bytes that the vendor warrants, and the document
    notes: tuple[Coded, ...] = ()


class Advisory(NamedTuple):
    """A firmware defect that concerns a drive."""

    id: str
    effect: str
    action: str
    fixed_in: str
    hour: int | None                # power-on hour at which it bites
    state: State
    source: str


class Candidate(NamedTuple):
    """An entry that is for a model, with how strongly it claims the drives that it matches."""

    rank: tuple[int, ...]
    is_shipped: bool
    file: str
    entry: Json


METRICS_OF_OUR_OWN = ('unknown_model', 'firmware_advisory', 'legacy_limit')  # that no data file defines
COMMON = 'ata-common'  # the set that every entry uses last, unless it says "uses_common": false
SHIPPED = 'attributes.json'
NO_SPEC = DriveSpec(None, {}, (), frozenset(), frozenset(), {}, False)


class SpecDatabase:
    """The shipped attributes.json with the local additions on top."""

    def __init__(self, shipped: Json, local: Sequence[tuple[str, Json]] = ()):
        """local: (file, data) of each addition, without mistakes."""
        self._sources: list[tuple[str, Json]] = [(SHIPPED, shipped), *local]
        self.date = str(shipped.get('date', '?'))
        self._specs: dict[int, DriveSpec] = {}            # by id of the entry
        self._by_model: dict[str, list[Candidate]] = {}
        self.metrics: Mapping[str, Metric] = {name: _metric(name, value) for _, data in self._sources
                                              for name, value in data.get('metrics', {}).items()}

    @property
    def units(self) -> Mapping[str, str]:
        """Return the base unit of each metric that may have limits."""
        return {**dict.fromkeys(METRICS_OF_OUR_OWN, ''), **{name: metric.unit for name, metric in self.metrics.items()}}

    def entries(self) -> Iterator[tuple[str, Json]]:
        """Yield (file, entry) in the files' order, the shipped file first."""
        for name, data in self._sources:
            for entry in data['entries']:
                yield name, entry

    def sets(self) -> frozenset[str]:
        """Return the names of all shared sets."""
        return frozenset(name for _, data in self._sources for name in data.get('sets', ()))

    def identify(self, identity: Identity, attributes: Sequence[int]) -> DriveSpec:
        """Return what the strongest matching entry says about the drive.

        attributes: attribute numbers in the order of the drive's table. Where entries of a site contradict each other,
        a shipped entry is used; see dispute().
        """
        winners = self.claims(identity, attributes)
        if len(winners) > 1 and winners[0][0] != SHIPPED:
            winners = self.claims(identity, attributes, only_shipped=True)
        if not winners:
            return NO_SPEC
        source, entry = winners[0]
        if len(winners) == 1:
            return self._spec(source, entry)._replace(rated_written=_rated_written(entry, identity))
        fallback = next((self._spec(name, entry) for name, entry in self.entries()
                         if entry.get('fallback') and matches(entry, '', identity, attributes)), NO_SPEC)
        return fallback._replace(notes=(Coded('entries-contradict', _contradiction(winners, identity)),))

    def dispute(self, identity: Identity, attributes: Sequence[int]) -> str:
        """Return the sentence about entries of a site that claim the drive equally; '' if there are none."""
        winners = self.claims(identity, attributes) if len(self._sources) > 1 else []
        return _contradiction(winners, identity) if len(winners) > 1 and winners[0][0] != SHIPPED else ''

    def claims(self, identity: Identity, attributes: Sequence[int],
               only_shipped: bool = False) -> list[tuple[str, Json]]:
        """Return (file, entry) of the strongest entries that match: one, several of equal rank by mistake, or none."""
        best: list[Candidate] = []
        for candidate in self._candidates(identity.plain_model):  # the strongest first
            if best and candidate.rank < best[0].rank:
                break
            if (candidate.is_shipped or not only_shipped) and conditions_hold(candidate.entry, identity, attributes):
                best.append(candidate)
        return [(candidate.file, candidate.entry) for candidate in best]

    def prepare(self) -> None:
        """Sort entries and advisories by what models begin with: work to do while smartctl runs."""
        self._candidates('')
        self.advisories(Identity())

    def _candidates(self, model: str) -> list[Candidate]:
        """Return all entries that are for *model*, the strongest first."""
        if model not in self._by_model:
            candidates = [Candidate(strength(entry, number > 0), number == 0, name, entry)
                          for number, name, entry in self._sorted_entries.matching(model)]
            self._by_model[model] = sorted(candidates, key=lambda candidate: candidate.rank, reverse=True)
        return self._by_model[model]

    @cached_property
    def _sorted_entries(self) -> ByBeginning:
        return ByBeginning((entry.get('models', ()), (number, name, entry))
                           for number, (name, data) in enumerate(self._sources) for entry in data['entries'])

    @cached_property
    def _sorted_advisories(self) -> ByBeginning:
        return ByBeginning((advisory['models'], advisory) for _, data in self._sources
                           for advisory in data.get('advisories', ()))

    def _spec(self, source: str, entry: Json) -> DriveSpec:
        key = id(entry)
        if key not in self._specs:
            self._specs[key] = self.read_entry(source, entry)
        return self._specs[key]

    def read_entry(self, source: str, entry: Json) -> DriveSpec:
        """Return what *entry*, of the file *source*, says about any drive that it wins."""
        rows = self.rows_of(source, entry)
        specs = [spec for number, row in rows.items() for spec in _reading_specs(number, row)]
        # Measured: what attribute 5 counts equals statistic 3:0x020 on 9,900 of 9,915 disks, whether logical or
        # physical sectors.
        in_sectors = {spec.metric: spec.unit for spec in reversed(specs) if spec.unit == LOGICAL_SECTORS}
        return DriveSpec(
            family=None if entry.get('fallback') else entry['family'],
            names={number: row['name'] for number, row in rows.items()},
            readings=tuple(specs),
            ignored_thresholds=frozenset(entry.get('ignore_thresholds', ())),
            untrusted_statistics=frozenset(entry.get('untrusted_statistics', ())),
            statistic_units={**in_sectors, **entry.get('statistic_units', {})},
            is_generic=bool(entry.get('generic') or entry.get('fallback')))

    def rows_of(self, source: str, entry: Json) -> Mapping[int, Json]:
        """Return the entry's attributes by number: its own, then those of its sets, then those of all drives.

        Raises DataError for a set that no file has.
        """
        rows: MutableJson = dict(entry.get('attributes', {}))
        for name in self.sets_of(entry):
            attributes = next((data['sets'][name]['attributes'] for _, data in reversed(self._sources)
                               if name in data.get('sets', {})), None)
            if attributes is None:
                raise DataError(f'{source}: {entry["family"]}, uses: there is no set "{name}"')
            rows.update((number, row) for number, row in attributes.items() if number not in rows)
        return {int(number): row for number, row in rows.items() if row is not None}

    def sets_of(self, entry: Json) -> Sequence[str]:
        """Return the sets whose attributes hold for an entry, the stronger first."""
        implied = [COMMON] if entry.get('uses_common', True) and COMMON in self.sets() else []
        return list(dict.fromkeys([*entry.get('uses', ()), *implied]))

    def advisories(self, identity: Identity) -> list[Advisory]:
        """Return the firmware defects that concern a drive of this identity."""
        return [_advisory(advisory) for advisory in self._sorted_advisories.matching(identity.plain_model)
                if re.fullmatch(advisory.get('firmware', '.*'), identity.firmware)]


def _contradiction(winners: Sequence[tuple[str, Json]], identity: Identity) -> str:
    (source, entry), (_, other) = winners[:2]
    return (f'{source}: {identity.model} is claimed by two entries, {entry["family"]} and {other["family"]}; narrow '
            f'one pattern')


def matches(entry: Json, model: str, identity: Identity, attributes: Sequence[int]) -> bool:
    """Return whether all conditions of *entry* hold. model: identity.model with single blanks."""
    return names_model(entry, model) and conditions_hold(entry, identity, attributes)


def names_model(entry: Json, model: str) -> bool:
    """Return whether an entry is for *model*: one of its patterns matches, or it has none."""
    return 'models' not in entry or any(matches_pattern(pattern, model) for pattern in entry['models'])


def conditions_hold(entry: Json, identity: Identity, attributes: Sequence[int]) -> bool:
    """Return whether all conditions of *entry* but the model hold."""
    if 'kind' in entry and entry['kind'] != identity.kind:
        return False
    if 'firmware' in entry and not re.fullmatch(entry['firmware'], identity.firmware):
        return False
    return all(any(holds(attributes, numbers) for numbers in alternatives(entry[guard]))
               for guard, holds in GUARDS.items() if guard in entry)


def alternatives(guard: Sequence[Any]) -> Sequence[Sequence[int]]:
    """Return a guard as a list of alternatives, also when it was written as one plain list."""
    return guard if isinstance(guard[0], (list, tuple)) else [guard]


def strength(entry: Json, is_local: bool) -> tuple[int, ...]:
    """Return the key to compare entries that match one drive; the largest wins."""
    rank = 0 if entry.get('fallback') else 1 if entry.get('generic') else 2
    # A family that is written for these very models beats a guess, however well guarded the guess is;
    # and a local fallback beats the shipped one only.
    return (rank > 0 and is_local, rank, sum(condition in entry for condition in CONDITIONS), is_local)


def _rated_written(entry: Json, identity: Identity) -> tuple[float, str] | None:
    """Return (bytes, document) that the vendor warrants for this very model."""
    return next(((rated['bytes'], rated['source']) for pattern, rated in entry.get('rated_written', {}).items()
                 if matches_pattern(pattern, identity.plain_model)), None)


def _metric(name: str, value: Json) -> Metric:
    perfdata = value.get('perfdata', {})
    return Metric(name=name, meaning=value['meaning'], unit=value['unit'], worse=value['worse'],
                  valid=_interval(value.get('valid', (0, None))), is_verdict=bool(value.get('verdict')),
                  minimum=value.get('minimum'), maximum=value.get('maximum'), concern=value.get('concern', ''),
                  order=perfdata.get('order', 0), beside=perfdata.get('with', ''))


def _interval(pair: Sequence[float | None]) -> Interval:
    return pair[0], pair[1]


def _reading_specs(number: int, row: Json) -> Iterable[ReadingSpec]:
    for metric, specs in row.get('readings', {}).items():
        for spec in specs if isinstance(specs, list) else [specs]:
            yield ReadingSpec(
                metric=metric, attribute=number, formula=decode.parse(spec['from']),
                valid=_interval(spec.get('valid', (None, None))), sentinels=tuple(spec.get('not', ())),
                unit=spec.get('unit', ''), ceiling=spec.get('ceiling'),
                states=tuple((*span(key), word) for key, word in spec.get('states', {}).items()),
                is_trap=bool(row.get('trap')), definition=f'{spec["from"]} {spec.get("unit", "")}'.rstrip())


def span(text: str) -> tuple[int, int]:
    """Return the first and the last number of "11" or "0-10"."""
    first, _, last = text.partition('-')
    return int(first), int(last or first)


def _advisory(data: Json) -> Advisory:
    return Advisory(id=data['id'], effect=data['effect'], action=data['action'], fixed_in=data.get('fixed_in', ''),
                    hour=data.get('hour'), state=State[data.get('state', 'warning').upper()], source=data['source'])
