"""Find the entry of attributes.json that describes a drive, and read this entry.

The data is valid by its schema (see `site_file`). Patterns and entries that cannot match
the drive are neither compiled nor copied, so the size of the database hardly affects the speed of a
check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..errors import Coded
from ..model import Identity, Reading, Source, State
from ..typed import TYPE_CHECKING, Json, NamedTuple
from . import decode
from .patterns import fits, matches_pattern
from .thresholds import several

if TYPE_CHECKING:
    Interval = tuple[float | None, float | None]
    # the name of a file, with its data or one of its entries
    Sourced = tuple[str, Json]

CONDITIONS = ('models', 'firmware', 'kind', 'has', 'lacks', 'first', 'only')
# Conditions on the attribute IDs of a drive, in the order of its table.
GUARDS: Mapping[str, Callable[[Sequence[int], Sequence[int]], bool]] = {
    'has': lambda present, numbers: set(numbers) <= set(present),
    'lacks': lambda present, numbers: not set(numbers) & set(present),
    'first': lambda present, numbers: list(present[: len(numbers)]) == list(numbers),
    'only': lambda present, numbers: set(present) <= set(numbers),
}
STATES = {'passed': State.OK, 'failed': State.CRITICAL}


class Metric(NamedTuple):
    """The properties of a metric, the same for every drive."""

    name: str
    meaning: str
    unit: str  # base unit: "%", "s", "B", "C" or ""
    worse: str  # "high", "low" or "none"
    valid: Interval
    is_verdict: bool  # text with a state instead of a number with limits
    minimum: float | None = None
    maximum: float | None = None
    concern: str = ''  # kind of finding, for its severity: a name in severity.ORDER
    # priority in perfdata if space is short, 1 first; 0: last, by concern
    order: int = 0
    remedy: str = ''  # code of the action for an alert whose cause is not the drive
    # another metric; drives that report the other may later report this one, too
    beside: str = ''
    no_value: tuple[float, ...] = ()  # numbers that mean "no value", from any source
    # how people call what it counts, "reallocated sector", or any other number, "temperature"
    noun: str = ''
    label: str = ''


Metrics = Mapping[str, Metric]  # by name


class ReadingSpec(NamedTuple):
    """How to derive a reading of one metric from one attribute."""

    metric: str
    attribute: int
    formula: decode.Formula
    valid: Interval
    sentinels: tuple[float, ...]  # results that mean "no value"
    unit: str  # unit of the source; '': the metric's own unit
    ceiling: float  # the counter stops at this number; infinite if it does not stop
    states: tuple[tuple[int, int, str], ...]  # (lowest, highest, word)
    is_trap: bool
    definition: str  # as written in the entry: "raw bytes 2-3 min"


class DriveSpec(NamedTuple):
    """The content of the highest-ranked entry that matches a drive."""

    family: str | None = None  # None: only the fallback matches
    names: Mapping[int, str] = {}
    # of each metric, the first valid reading counts
    readings: tuple[ReadingSpec, ...] = ()
    ignored_thresholds: frozenset[int] = frozenset()
    # metrics whose device statistic is not judged -> what it predicts, or ''
    untrusted_statistics: Mapping[str, str] = {}
    # units of device statistics, by metric, if other than the base unit
    statistic_units: Mapping[str, str] = {}
    # "hdd" or "ssd", for a SATA drive that does not report its rotation; '' if no entry tells
    kind: str = ''
    is_clock_trusted: bool = True  # the hours in the logs follow the power-on time
    # readings of pre-fail attributes by the name that smartctl prints; their `attribute` is 0
    by_name: Mapping[str, tuple[ReadingSpec, ...]] = {}
    keeps_farm: bool = False  # smartctl can read the drive's FARM log (Seagate)
    # the vendor's NVMe log page to read, "0xC0", and its layout
    log: tuple[str, str] | None = None
    # bytes that the vendor's warranty covers, and the source
    rated_written: tuple[float, str] | None = None
    notes: tuple[Coded, ...] = ()


class Advisory(NamedTuple):
    """A firmware defect that affects a drive."""

    id: str
    effect: str
    action: str
    fixed_in: str
    hour: int | None  # power-on hour from which the defect occurs
    state: State
    source: str
    forbids_reading: bool = False  # reading the drive harms it
    # metrics such as "media_errors": an alert by one of them shows that the defect has done its
    # damage, so a firmware update comes too late, and the drive is to be replaced
    too_late: Sequence[str] = ()
    # what the defect threatens, as in the schema: "data", "outage"; '' if this is not known
    severity: str = ''

    @property
    def has_correction(self) -> bool:
        """Return whether the vendor has corrected the defect: in a firmware version, or with a patch
        that keeps the version, as for each defect that forbids reading.
        """
        return self.forbids_reading or self.fixed_in != ''


class Candidate(NamedTuple):
    """An entry that matches a model, with its rank among the entries that match a drive."""

    rank: tuple[int, ...]
    file: str
    entry: Json


# the set that every entry uses after its other sets, unless "uses_common" is false
COMMON = 'ata-common'
SHIPPED = 'attributes.json'
FAMILY = 2  # see generality()
NO_SPEC = DriveSpec()


class SpecDatabase:
    """The shipped attributes.json, and local additions, which override it."""

    def __init__(self, shipped: Json, local: Sequence[Sourced] = ()):
        """Store the shipped data and the additions. local: (file, valid data) of each addition."""
        self._sources = [(SHIPPED, shipped), *local]
        self.date = str(shipped.get('date', '?'))
        self._by_model: dict[str, list[Candidate]] = {}
        # the content of each entry that was used, by id(): drives of one model share it
        self._specs: dict[int, DriveSpec] = {}
        self._advisories: dict[tuple[str, str], list[Advisory]] = {}
        # by name; a later file overrides an earlier one
        self.metrics: dict[str, Metric] = {}
        self.sets: dict[str, Json] = {}
        self.layouts: dict[str, Json] = {}  # of vendors' log pages
        for _, data in self._sources:
            self.sets.update(data.get('sets', {}))
            self.layouts.update(data.get('layouts', {}))
            for name, value in data.get('metrics', {}).items():
                self.metrics[name] = _metric(name, value)

    @property
    def units(self) -> Mapping[str, str]:
        """Return the base unit of each metric that may have limits."""
        return {name: metric.unit for name, metric in self.metrics.items()}

    @property
    def worse(self) -> Mapping[str, str]:
        """For each metric, return whether high or low numbers are worse: "high", "low" or
        "none".
        """
        return {name: metric.worse for name, metric in self.metrics.items()}

    def entries(self) -> Iterator[Json]:
        """Yield the entries in the order of the files, the shipped file first."""
        for _, data in self._sources:
            yield from data['entries']

    def identify(self, identity: Identity, attributes: Sequence[int]) -> DriveSpec:
        """Return the content of the highest-ranked entry that matches the drive.

        attributes: attribute IDs in the order of the drive's table. If entries of a site contradict
        each other, a shipped entry is used; see dispute().

        A drive without attributes can fail the conditions on attributes in the entry of its family.
        If no family matches such a drive, the result has the untrusted statistics of the
        highest-ranked entry for its model, kind and firmware.
        """
        spec = self._matching(identity, attributes)
        if attributes or spec.family:
            return spec
        # The conditions on attributes are not tested here. The highest rank comes first.
        for candidate in self._candidates(identity.plain_model):
            if _is_for(candidate.entry, identity):
                untrusted = self._spec_of(candidate.entry).untrusted_statistics
                return spec._replace(untrusted_statistics=untrusted)
        return spec

    def _matching(self, identity: Identity, attributes: Sequence[int]) -> DriveSpec:
        """Return the content of the highest-ranked entry whose conditions are all met; NO_SPEC if
        there is none.

        If several entries of a site have the highest rank, the shipped entries decide. If several
        of these have equal rank, too, the fallback for unknown drives is used, with a note.
        """
        winners = self.claims(identity, attributes)
        if _are_several_of_site(winners):
            winners = self.claims(identity, attributes, only_shipped=True)
        if not winners:
            return NO_SPEC
        if len(winners) == 1:
            [(_, entry)] = winners
            rated = _rated_written(
                self._candidates(identity.plain_model), identity.plain_model
            )
            return self._spec_of(entry)._replace(rated_written=rated)
        note = Coded('entries-contradict', contradiction(winners, identity.model))
        return self._fallback(identity, attributes)._replace(notes=(note,))

    def _spec_of(self, entry: Json) -> DriveSpec:
        """Return the content of an entry of this database, which is read once."""
        key = id(entry)
        if key not in self._specs:
            self._specs[key] = self.read_entry(entry)
        return self._specs[key]

    def _fallback(self, identity: Identity, attributes: Sequence[int]) -> DriveSpec:
        """Return the content of the first fallback that matches the drive."""
        for entry in self.entries():
            if entry.get('fallback') and matches(entry, identity, attributes):
                return self._spec_of(entry)
        return NO_SPEC

    def dispute(self, identity: Identity, attributes: Sequence[int]) -> str:
        """Return a message if several entries of a site match the drive with equal rank, or ''."""
        winners = self.claims(identity, attributes)
        if _are_several_of_site(winners):
            return contradiction(winners, identity.model)
        return ''

    def claims(
        self, identity: Identity, attributes: Sequence[int], only_shipped: bool = False
    ) -> list[Sourced]:
        """Return (file, entry) for each matching entry of the highest rank; only a mistake leads
        to more than one.
        """
        best: list[Candidate] = []
        # the highest rank first
        for candidate in self._candidates(identity.plain_model):
            if best and candidate.rank < best[0].rank:
                break
            is_eligible = candidate.file == SHIPPED or not only_shipped
            if is_eligible and conditions_hold(candidate.entry, identity, attributes):
                best.append(candidate)
        return [(candidate.file, candidate.entry) for candidate in best]

    def _candidates(self, model: str) -> list[Candidate]:
        """Return all entries for *model*, the highest rank first."""
        if model not in self._by_model:
            candidates = []
            for number, (name, data) in enumerate(self._sources):
                is_local = number > 0  # the first file is the shipped one
                for entry in data['entries']:
                    if names_model(entry, model):
                        candidates.append(
                            Candidate(strength(entry, is_local), name, entry)
                        )
            candidates.sort(key=lambda candidate: candidate.rank, reverse=True)
            self._by_model[model] = candidates
        return self._by_model[model]

    def read_entry(self, entry: Json) -> DriveSpec:
        """Return the content of *entry* for the drives that the entry describes."""
        rows = self.rows_of(entry)
        specs = [
            spec for number, row in rows.items() for spec in _reading_specs(number, row)
        ]
        # A statistic counts logical sectors if the attribute with the same metric does: attribute 5
        # equals statistic 3:0x020 on 9,900 of 9,915 measured disks, no matter whether they count
        # logical or physical sectors. Any other unit comes from the entry or the standard.
        statistic_units = {
            spec.metric: spec.unit
            for spec in specs
            if spec.unit == decode.LOGICAL_SECTORS
        }
        statistic_units.update(entry.get('statistic_units', {}))
        # metric -> what its statistic predicts, or ''. Only sets give a prediction; if several do
        # so for one metric, the last one counts.
        untrusted = dict.fromkeys(entry.get('untrusted_statistics', ()), '')
        for name in self.sets_of(entry):
            untrusted.update(self.sets[name].get('untrusted_statistics', {}))
        by_name = {
            name: tuple(_reading_specs(0, {'readings': readings}))
            for name, readings in entry.get('by_name', {}).items()
        }
        family = None
        kind = ''
        if not entry.get('fallback'):
            family = entry['family']
            kind = self._kind_of(entry)
        logs = list(entry.get('logs', {}).items())
        return DriveSpec(
            family=family,
            readings=tuple(specs),
            names={number: row['name'] for number, row in rows.items()},
            ignored_thresholds=frozenset(entry.get('ignore_thresholds', ())),
            untrusted_statistics=untrusted,
            statistic_units=statistic_units,
            kind=kind,
            is_clock_trusted='clock' not in entry,
            by_name=by_name,
            keeps_farm=bool(entry.get('farm')),
            log=logs[0] if logs else None,
        )

    def _kind_of(self, entry: Json) -> str:
        """Return the kind of an entry's SATA drives: that of a set that it uses, else "ssd".

        On all 32,858 SATA drives of linuxhw/EnterpriseDrive, this is what the drive reports.
        """
        for name in self.sets_of(entry):
            if 'kind' in self.sets[name]:
                return str(self.sets[name]['kind'])
        return 'ssd'

    def rows_of(self, entry: Json) -> Mapping[int, Json]:
        """Return the entry's attributes by ID: its own attributes have priority, then its sets,
        then the common set. An attribute that the entry sets to null is left out.
        """
        rows = dict(entry.get('attributes', {}))
        for name in self.sets_of(entry):
            for number, row in self.sets[name]['attributes'].items():
                rows.setdefault(number, row)
        return {int(number): row for number, row in rows.items() if row is not None}

    def sets_of(self, entry: Json) -> Sequence[str]:
        """Return the sets whose attributes apply to an entry, in order of precedence."""
        names = [*entry.get('uses', ())]
        if entry.get('uses_common', True) and COMMON in self.sets:
            names.append(COMMON)
        return list(dict.fromkeys(names))  # each name once

    def advisories(self, identity: Identity) -> list[Advisory]:
        """Return the firmware defects that affect a drive with this identity."""
        model = identity.plain_model
        firmware = identity.firmware
        key = model, firmware
        if key in self._advisories:
            return self._advisories[key]
        affecting = []
        for _, data in self._sources:
            for advisory in data.get('advisories', ()):
                versions = advisory.get('firmware', '.*')
                if names_model(advisory, model) and fits(versions, firmware):
                    affecting.append(_advisory(advisory))
        self._advisories[key] = affecting
        return affecting


def _rated_written(
    candidates: Iterable[Candidate], model: str
) -> tuple[int, str] | None:
    """Return the bytes that the warranty covers, and the source; None if no candidate has them."""
    for candidate in candidates:
        for pattern, rated in candidate.entry.get('rated_written', {}).items():
            if matches_pattern(pattern, model):
                return rated['bytes'], rated['source']
    return None


def _are_several_of_site(winners: Sequence[Sourced]) -> bool:
    """Return whether these (file, entry), which have equal rank, are several entries of a site. A
    shipped entry never has the rank of a site's.
    """
    return len(winners) > 1 and winners[0][0] != SHIPPED


def contradiction(winners: Sequence[Sourced], name: str) -> str:
    """Return a sentence on the (file, entry) that match a drive with equal rank. name: of the
    drive.
    """
    (source, first), (_, second) = winners[:2]
    return (
        f'{source}: {name} is claimed by two entries, {first["family"]} and '
        f'{second["family"]}; narrow one pattern'
    )


def matches(entry: Json, identity: Identity, attributes: Sequence[int]) -> bool:
    """Return whether the drive meets all conditions of *entry*."""
    return names_model(entry, identity.plain_model) and conditions_hold(
        entry, identity, attributes
    )


def names_model(entry: Json, model: str) -> bool:
    """Return whether an entry or advisory is for *model*: one of its patterns matches, or it has no
    patterns.
    """
    if 'models' not in entry:
        return True
    return any(matches_pattern(pattern, model) for pattern in entry['models'])


def conditions_hold(entry: Json, identity: Identity, attributes: Sequence[int]) -> bool:
    """Return whether the drive meets all conditions of *entry* except the model."""
    if not _is_for(entry, identity):
        return False
    for guard, holds in GUARDS.items():
        if guard in entry:
            # A condition is a list of attribute IDs, or a list of several such lists. One of these
            # must fit.
            condition = entry[guard]
            lists = condition if isinstance(condition[0], list) else [condition]
            if not any(holds(attributes, numbers) for numbers in lists):
                return False
    return True


def _is_for(entry: Json, identity: Identity) -> bool:
    """Return whether the kind and firmware of a drive are those of *entry*."""
    if 'kind' in entry and entry['kind'] != identity.kind:
        return False
    return 'firmware' not in entry or fits(entry['firmware'], identity.firmware)


def strength(entry: Json, is_local: bool) -> tuple[int, ...]:
    """Return the rank of an entry among all entries that match a drive; the entry with the
    largest rank is selected.
    """
    rank = generality(entry)
    # A local entry outranks every shipped one. A local fallback does not: it outranks only a
    # shipped fallback with no more conditions.
    # Of one file, a family entry outranks a generic one, whatever their conditions are.
    is_site_rule = is_local and rank > 0
    conditions = sum(condition in entry for condition in CONDITIONS)
    return is_site_rule, rank, conditions, is_local


def generality(entry: Json) -> int:
    """Return the rank of an entry's sort: 0 for a fallback, 1 for a generic entry, 2 for a
    family.
    """
    if entry.get('fallback'):
        return 0
    return 1 if entry.get('generic') else FAMILY


def _metric(name: str, value: Json) -> Metric:
    """Return a metric as the file describes it. Most of its fields have the same name there."""
    properties = {field: value[field] for field in Metric._fields if field in value}
    properties['valid'] = tuple(value.get('valid', (0, None)))
    perfdata = value.get('perfdata', {})
    return Metric(
        name=name,
        is_verdict=bool(value.get('verdict')),
        order=perfdata.get('order', 0),
        beside=perfdata.get('with', ''),
        no_value=tuple(value.get('not', ())),
        **properties,
    )


def is_inside(number: float, valid: Interval) -> bool:
    """Return whether a number is in an interval; None as an end means no limit."""
    lowest, highest = valid
    return (lowest is None or number >= lowest) and (
        highest is None or number <= highest
    )


def is_plausible(number: float, metric: Metric) -> bool:
    """Return whether a number, in base units, is a possible value of a metric."""
    return is_inside(number, metric.valid) and number not in metric.no_value


def unknown(metric: Metric, source: Source, why: str) -> Reading:
    """Return a reading without a number. why: the reason, a clause."""
    return Reading(
        metric.name, None, unit=metric.unit, source=source, judged=False, unknown=why
    )


def _reading_specs(number: int, row: Json) -> Iterable[ReadingSpec]:
    """Yield the readings of the attribute *number*, which is described by *row* of an entry."""
    for metric, specs in row.get('readings', {}).items():
        for spec in several(specs):
            formula = spec['from']
            unit = spec.get('unit', '')
            lowest, highest = spec.get('valid', (None, None))
            yield ReadingSpec(
                metric=metric,
                attribute=number,
                formula=decode.parse(formula),
                valid=(lowest, highest),
                sentinels=tuple(spec.get('not', ())),
                unit=unit,
                ceiling=spec.get('ceiling', math.inf),
                states=tuple(
                    (*span(text), word) for text, word in spec.get('states', {}).items()
                ),
                is_trap=bool(row.get('trap')),
                definition=f'{formula} {unit}'.rstrip(),
            )


def span(text: str) -> tuple[int, int]:
    """Return the first and the last number of a text such as "11" or "0-10"."""
    first, _, last = text.partition('-')
    return int(first), int(last or first)


def _advisory(data: Json) -> Advisory:
    source = data['source']
    if 'date' in data:
        source = f'{source} ({data["date"]})'
    return Advisory(
        id=data['id'],
        effect=data['effect'],
        action=data['action'],
        fixed_in=data.get('fixed_in', ''),
        hour=data.get('hour'),
        state=State[data.get('state', 'warning').upper()],
        source=source,
        forbids_reading=data.get('read') is False,
        too_late=tuple(data.get('too_late', ())),
        severity=data.get('severity', ''),
    )
