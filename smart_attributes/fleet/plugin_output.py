"""What the plugin's text and perfdata tell of drives -> drives as the document of triage has them, already packed."""
from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..coded import Coded
from ..knowledge import severity
from ..knowledge.drive_database import Metric
from ..model import State
from ..output import perfdata
from ..output.advice import NOTHING, ORDER, READ, REPAIR, due, is_due, of_alarms, of_problem
from ..output.codes import Code
from ..output.forecast_dates import day
from ..output.json_document import OF_STATUS, note
from ..output.packed_document import Packer
from ..output.plugin_lines import Line
from ..typed import Json
from ..words import SPEAKS_FOR_ITSELF, since, visible
from . import causes, legacy

if TYPE_CHECKING:
    from ..knowledge.severity import Rank, Weight

SOURCE = 'perfdata'
TIME_LEFT, ENDURANCE, OWN_WORD = 'endurance_time_left', 'endurance_used', 'smart_status'
WEAR = 'endurance_'         # stands in both: what is looked at of every drive, be it shown or not
MANY_LABELS = 100_000      # remembered at once; labels of one fleet are nearly all the same
# What verdicts print for numbers; smart_status is the drive's own word.
WORDS: Mapping[float, str] = {1: 'good', 0.5: 'warning', 0: 'bad'}
OWN_WORDS: Mapping[float, str] = {1: 'passed', 0: 'failed'}
# How findings begin that name no metric.
FORMS = {'attribute ': 'vendor_threshold', 'firmware ': 'firmware_advisory', 'no entry for ': 'unknown_model'}
GREW = re.compile(r'\w+ (?:grew|fell) by ')
_STATED = re.compile(r', (critical|warning|unknown) (above|below|inside) ')


class FleetDrive(NamedTuple):
    """A drive of a fleet: what it is, and its readings as pairs of a shape's number and a value."""

    facts: Dict[str, Any]        # as the document has them: host, name, model, state, action ...
    pairs: Callable[[], List[Any]]  # made when they are shown: of most drives they never are
    used: float = 0              # %, 0 where it is not told
    weights: Tuple[Weight, ...] = ()  # of its findings, as severity.weight returns them
    serials: Tuple[str, ...] = ()  # of other drives, in its words

    @property
    def rank(self) -> Rank:
        """Return the rank of a drive in the order of severity."""
        return severity.of_drive(State[self.facts['state']], self.weights, self.used, self.facts['name'],
                                 self.facts['host'])


def dated(now: float, age: float) -> Tuple[Json, ...]:
    """Return the note on drives as they were *age* seconds ago."""
    return (note(Coded('result-old', f'as of {day(now - age)}, {since(age)}')),)


class Origin(NamedTuple):
    """Where lines come from."""

    host: str
    notes: Tuple[Json, ...] = ()  # that hold for each drive: how old it all is
    elapsed: float = 0           # seconds since
    now: float = 0               # seconds since 1970
    handling: Optional[Sequence[str]] = None  # how Icinga's users handle it; None: not from Icinga


class Alarm(NamedTuple):
    """A finding of a line."""

    metric: str
    state: State
    code: str        # '' where the line does not tell it
    text: str


Labelled = Tuple[str, float, str]     # metric, number, limits
ByDrive = Dict[str, List[Labelled]]


class Reader:
    """Reads lines and perfdata; remembers what recurs on thousands of hosts."""

    def __init__(self, metrics: Mapping[str, Metric], packer: Packer) -> None:
        self._metrics, self._packer = metrics, packer
        self._labels: Dict[str, Tuple[Tuple[str, str], ...]] = {}
        self._shapes: Dict[Tuple[str, str, Optional[State]], int] = {}
        self._begins = _beginnings(metrics)
        self._readable = re.compile(rf'\b({"|".join(map(re.escape, sorted(metrics, key=len, reverse=True)))})\b')

    def drives(self, lines: Sequence[Line], values: Sequence[str], origin: Origin) -> List[FleetDrive]:
        """Return the drives of one check. At first only values of wear and of findings are read: most drives are never
        shown.
        """
        names = {line.name for line in lines}
        alarms = [self.alarms(line) for line in lines]
        wanted = {WEAR, *(alarm.metric for found in alarms for alarm in found)}
        first = self._by_drive(names, [value for value in values if any(each in value for each in wanted)])
        known = lru_cache(maxsize=None)(partial(self._by_drive, names, values))
        return [self._drive(line, found, first[line.name], known, origin) for line, found in zip(lines, alarms)]

    def has_numbers(self, lines: Iterable[Line], values: Iterable[str]) -> bool:
        """Tell whether values hold a number of any of these drives; the first one mostly does."""
        names, texts = {line.name for line in lines}, list(values)
        return any(any(self._by_drive(names, some).values()) for some in (texts[:1], texts[1:]) if some)

    def row(self, name: str, state: State, why: str, origin: Origin, cause: Code,
            serials: Tuple[str, ...] = ()) -> FleetDrive:
        """Return a row for a check that has no drive to show, or for a fault of the check as a whole."""
        action, to_do = of_problem(cause.name), causes.next_step(cause)
        if state is State.OK:
            action = to_do = NOTHING
        return FleetDrive({'host': origin.host, 'name': visible(name), 'state': state.name, 'why': visible(why),
                           'code': cause.name, 'action': REPAIR if action == READ else action, 'to_do': to_do,
                           'notes': origin.notes, 'is_check': True, **handled(origin)}, list,
                     serials=serials or legacy.serials(why))

    def readable(self, why: str) -> str:
        """Return words with the names of metrics as a person says them: "endurance used"."""
        return self._readable.sub(lambda name: name[1].replace('_', ' '), why)

    def alarms(self, line: Line) -> List[Alarm]:
        """Return the findings of a line; none where the drive could not be read.

        Findings stand worst first. One that does not tell its state is at least what the next one is that does.
        """
        if line.state is State.OK:
            return []
        places = list(self._begins.finditer(line.findings))
        if not places or places[0].start():
            return []
        ends = [*(place.start() for place in places[1:]), len(line.findings)]
        found: List[Alarm] = []
        least = State.WARNING
        for place, end in reversed(list(zip(places, ends))):
            stated = _STATED.search(line.findings, place.start(), end)
            least = State[stated[1].upper()] if stated else least
            metric, text = FORMS.get(place['form'] or '', place['metric'] or ''), line.findings[place.start():end]
            code = ('growth' if GREW.match(text) else OF_STATUS.get(metric) or (f'{stated[2]}-limit' if stated else ''))
            found.append(Alarm(metric, least, code, text.removesuffix('; ')))
        return [found[-1]._replace(state=line.state), *found[-2::-1]]

    def _drive(self, line: Line, alarms: Sequence[Alarm], values: Sequence[Labelled],
               known: Callable[[], ByDrive], origin: Origin) -> FleetDrive:
        numbers = {metric: number for metric, number, _ in values}
        facts: Dict[str, Any] = {
            'host': origin.host, 'name': _shown(line.name) or '-', 'model': _shown(line.model) or None,
            'serial': _shown(line.serial or '') or None, 'firmware': _shown(line.firmware) or None,
            'state': line.state.name, 'notes': origin.notes, **handled(origin)}
        if TIME_LEFT in numbers:
            facts['forecasts'] = {ENDURANCE: {'left': round(max(numbers[TIME_LEFT] - origin.elapsed, 0))}}
        left = [each['left'] for each in facts.get('forecasts', {}).values()]
        facts.update(self._advice(line, alarms, left, origin))
        facts.update(due(facts['action'], left, origin.now)._asdict())
        code = getattr(line.findings, 'code', '')
        is_unread = line.state is not State.OK and not alarms and (code or line.state is State.UNKNOWN)
        facts.update(unread(causes.of_drive(line.findings)) if is_unread else {})
        weights = tuple(self._weight(alarm.metric, alarm.state, values) for alarm in alarms)
        return FleetDrive(facts, partial(self._pairs, line.name, known, alarms), numbers.get(ENDURANCE, 0), weights,
                          legacy.serials(line.findings) if is_unread else ())

    def weight(self, metric: str, state: State, number: Optional[float], limit: str, grown: float = 0,
               is_growing: bool = False) -> Weight:
        """Return the weight of a finding, as severity.weight does; a metric that this host does not know weighs least.
        """
        known = self._metrics.get(metric)
        concern, unit, is_verdict = (known.concern, known.unit, known.is_verdict) if known else ('', '', False)
        return severity.weight(state, concern, None if is_verdict else number, limit, unit, grown,
                               is_growing and not is_verdict)

    def _weight(self, metric: str, state: State, values: Sequence[Labelled]) -> Weight:
        """Return the weight of a finding by its value. A number that is within its limits is a finding by growth."""
        number, limits = next(((number, limits) for name, number, limits in values if name == metric), (None, ''))
        warning, critical = perfdata.levels(limits)
        limit = critical if state is State.CRITICAL else warning
        is_growing = number is not None and not severity.is_beyond(limit, number)
        return self.weight(metric, state, number, limit, is_growing=is_growing)

    def _advice(self, line: Line, alarms: Sequence[Alarm], left: Sequence[float],
                origin: Origin) -> Json:
        if line.state is not State.OK:
            action = (of_alarms((alarm.metric, alarm.state) for alarm in alarms) if alarms
                      else of_problem(causes.of_drive(line.findings).name))
            return {'action': action, 'why': _shown(line.findings), 'findings': [
                {'code': alarm.code, 'text': _shown(alarm.text), 'state': alarm.state.name, 'metric': alarm.metric}
                for alarm in alarms]}
        if not self._begins.match(line.findings):  # asleep, and left alone
            return {'action': NOTHING, 'notes': (*origin.notes, note(Coded('asleep', _shown(line.findings))))}
        if is_due(left, origin.now):
            return {'action': ORDER, 'why': f'{ENDURANCE}: used up {day(origin.now + min(left))}'}
        return {'action': NOTHING}

    def _pairs(self, name: str, known: Callable[[], ByDrive], alarms: Sequence[Alarm]) -> List[Any]:
        of_metric = {alarm.metric: alarm.state for alarm in reversed(alarms)}
        return [item for metric, number, limits in known()[name]
                for item in self._pair(metric, number, limits, of_metric.get(metric))]

    def _pair(self, metric: str, number: float, limits: str, state: Optional[State]) -> Tuple[int, Any]:
        key = metric, limits, state
        if key not in self._shapes:
            self._shapes[key] = self._packer.shapes.number(key, self._shape(*key))
        if not self._metrics[metric].is_verdict:
            return self._shapes[key], number
        words = OWN_WORDS if metric == OWN_WORD else WORDS
        return self._shapes[key], words.get(number, number)

    def _shape(self, metric: str, limits: str, state: Optional[State]) -> Json:
        warning, critical = map(visible, perfdata.levels(limits))
        shape = {'metric': metric, 'unit': self._metrics[metric].unit, 'source': SOURCE, 'judged': True,
                 'state': (state or State.OK).name, 'warning': warning, 'critical': critical}
        return {key: each for key, each in shape.items() if each != ''}

    def _by_drive(self, names: Iterable[str], texts: Iterable[str]) -> ByDrive:
        """Return the values of each drive; what is no metric of ours is left out, as labels of version 1.6."""
        found: ByDrive = {name: [] for name in names}
        for label, number, limits in perfdata.read(texts):
            for name, metric in self._labels.get(label) or self._split(label):
                if name in found:
                    found[name].append((metric, number, limits))
                    break
        return found

    def _split(self, label: str) -> Tuple[Tuple[str, str], ...]:
        """Return as which name and metric a label may be read, the longest metric first."""
        if len(self._labels) >= MANY_LABELS:
            self._labels.clear()
        places = [place for place, sign in enumerate(label) if sign == '_']
        known = tuple((label[:place], label[place + 1:]) for place in places if label[place + 1:] in self._metrics)
        self._labels[label] = known
        return known


def handled(origin: Origin) -> Json:
    """Return how Icinga's users handle the problems of a host, as a fact of each of its drives."""
    return {} if origin.handling is None else {'handling': list(origin.handling)}


def unread(cause: Code) -> Json:
    """Return the code and the next step for a drive that has no verdict."""
    return {'code': cause.name, 'to_do': causes.next_step(cause)}


def _beginnings(metrics: Iterable[str]) -> re.Pattern[str]:
    named = sorted((metric for metric in metrics if metric not in SPEAKS_FOR_ITSELF), key=len, reverse=True)
    return re.compile(rf'(?:^|(?<=; ))(?:(?P<metric>{"|".join(map(re.escape, named))})(?=[ :])|'
                      rf'(?P<form>{"|".join(FORMS)}))')


def _shown(text: str) -> str:
    """Return a string of another host as one can look at it."""
    return text if text.isprintable() else visible(text)
