"""Convert the plugin's text and perfdata to drives in the format of the document that `triage`
prints.

If a check has no drives, or a drive has no readings, the output shows the cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Callable, NamedTuple

from ..constants import MOST_LABELS
from ..errors import Coded
from ..knowledge import severity
from ..knowledge.drive_database import Metric
from ..knowledge.severity import Alarm as Cause
from ..model import State
from ..output.codes import BY_NAME, CAUSES, Code
from ..output.json_document import OF_STATUS, note
from ..output.perfdata import UNITS
from ..output.plugin import Line
from ..redundancy.replacement import OF_CODE, STRICTEST
from ..typed import TYPE_CHECKING, Json
from ..wording import SPEAKS_FOR_ITSELF, since
from ..words import visible
from ..work import actions
from ..work.dates import day
from ..work.work_list import Due, due, in_its_groups, of_alarms, of_problem

if TYPE_CHECKING:
    from ..knowledge.severity import Rank, Weight

SOURCE = 'perfdata'
TIME_LEFT, ENDURANCE, OWN_WORD, AGE = (
    'endurance_time_left',
    'endurance_used',
    'smart_status',
    'power_on_time',
)
# parts of the names of metrics that are read for every drive, shown or not
ALWAYS = ('endurance_', AGE)
# Words that verdicts print for numbers; smart_status is the SMART health status.
WORDS: Mapping[float, str] = {1: 'good', 0.5: 'warning', 0: 'bad'}
OWN_WORDS: Mapping[float, str] = {1: 'passed', 0: 'failed'}
# Start of a finding that does not name a metric -> its metric.
FORMS = {
    'attribute ': 'vendor_threshold',
    'firmware ': 'firmware_advisory',
    'no entry for ': 'unknown_model',
}
GREW = re.compile(r'\w+ (?:grew by|fell from|rose from) ')
_STATED = re.compile(r', (critical|warning|unknown) (above|below|inside) ')
_DIGITS = '[0-9]{1,30}'  # drives report shorter numbers, and int() refuses 5,000 digits

_OF_1_6 = re.compile(r'\A(?:OK|Warning|Critical) \([^)]*\)')
_NO_OUTPUT = re.compile(r'\A\s*\Z|\(No output')
_CLAUSE = re.compile(rf'; \[({"|".join(OF_CODE)})\] ')
_WHERE = re.compile(r'; \[slot-unknown\] [^;]*\Z')
# The words of an action can contain a semicolon, but no code.
_CODED = rf'\[({"|".join(actions.CODES)})\] ((?:(?!; (?:also )?\[).)*)'
_ALSO = re.compile(rf'; also {_CODED}')
_ACTION = re.compile(rf'; {_CODED}((?:{_ALSO.pattern})*)\Z')
_DATED = re.compile(r' by ([0-9]{4,}-[0-9]{2}-[0-9]{2}) \(')
_OF_A_FLEET = frozenset(cause.name for cause in CAUSES)


class FleetDrive(NamedTuple):
    """A drive of a fleet: its facts and readings."""

    facts: dict[str, Any]  # as in the document: host, name, model, state, action ...
    readings: Callable[[], list[Json]]  # called only for the few drives that are shown
    used: float | None = None  # endurance used in %
    weights: tuple[Weight, ...] = ()  # weights of its findings, from severity.weight
    further: Callable[[], Json] = dict  # further facts, created only when shown
    age: float | None = None  # power-on time in seconds

    @property
    def rank(self) -> Rank:
        """Return the drive's rank by severity."""
        return severity.of_drive(
            State[self.facts['state']],
            self.weights,
            worn=self.used or 0,
            name=self.facts['name'],
            host=self.facts['host'],
        )


def dated(now: float, age: float) -> tuple[Json, ...]:
    """Return a note which states that a drive's data is *age* seconds old."""
    return (note(Coded('result-old', f'as of {day(now - age)}, {since(age)}')),)


class Origin(NamedTuple):
    """The service or document from which lines of output come."""

    host: str
    notes: tuple[Json, ...] = ()  # notes that apply to each drive, such as the age of the result
    elapsed: float = 0  # seconds since the check
    now: float = 0  # seconds since 1970
    # how users handle the problem in Icinga; None: the origin is not Icinga
    handling: Sequence[str] | None = None


class Alarm(NamedTuple):
    """A finding in a line of output."""

    metric: str
    state: State
    code: str  # '' if the line does not contain it
    text: str


# A metric or a label, its number, and its limits "warning;critical;minimum;maximum". A plain tuple,
# because a fleet has millions of them.
Labelled = tuple[str, float, str]
ByDrive = dict[str, list[Labelled]]


class Reader:
    """Reads lines and perfdata, and caches text that recurs on thousands of hosts."""

    def __init__(self, metrics: Mapping[str, Metric]) -> None:
        self._metrics = metrics
        self._split = lru_cache(maxsize=MOST_LABELS)(self._pairs)
        self._begins = _beginnings(metrics)
        self._readable = re.compile(
            rf'\b({"|".join(map(re.escape, sorted(metrics, key=len, reverse=True)))})\b'
        )

    def drives(
        self, lines: Sequence[Line], values: Sequence[str], origin: Origin
    ) -> list[FleetDrive]:
        """Return the drives of one check.

        Only the values for wear, age and findings are read at first, because most drives are never
        shown.
        """
        names = {line.name for line in lines}
        parts = [split(line) for line in lines]
        alarms = [self.alarms(part.line) for part in parts]
        wanted = {*ALWAYS, *(alarm.metric for of_drive in alarms for alarm in of_drive)}
        texts = [value for value in values if any(metric in value for metric in wanted)]
        first = self._by_drive(names, texts)
        all_values = lru_cache(maxsize=None)(partial(self._by_drive, names, values))
        return [
            self._drive(
                part, of_drive, values=first[part.line.name], all_values=all_values, origin=origin
            )
            for part, of_drive in zip(parts, alarms)
        ]

    def has_numbers(self, lines: Iterable[Line], values: Iterable[str]) -> bool:
        """Return whether the perfdata has values of these drives; try the first value before the
        others.
        """
        names, texts = {line.name for line in lines}, list(values)
        return any(any(self._by_drive(names, part).values()) for part in (texts[:1], texts[1:]))

    def row(
        self,
        name: str,
        state: State,
        why: str,
        origin: Origin,
        cause: Code,
    ) -> FleetDrive:
        """Return a row for a check without drives, or for a problem of the check as a whole."""
        action, to_do = of_problem(cause.name), next_step(cause)
        if state is State.OK:
            action = to_do = actions.NOTHING
        facts = {
            'host': origin.host,
            'name': visible(name),
            'state': state.name,
            'why': visible(why),
            'code': cause.name,
            'to_do': to_do,
            'action': actions.REPAIR if action == actions.READ else action,
            'notes': origin.notes,
            'is_check': True,
            **handled(origin),
        }
        return FleetDrive(facts, list)

    def readable(self, why: str) -> str:
        """Return a text with metric names written as words, such as "endurance used"."""
        return self._readable.sub(lambda name: name[1].replace('_', ' '), why)

    def alarms(self, line: Line) -> list[Alarm]:
        """Return the findings of a line, or an empty list if the drive could not be read.

        The worst finding comes first. So a finding without a state is at least as severe as the
        next finding with a state.
        """
        if line.state is State.OK:
            return []
        places = list(self._begins.finditer(line.findings))
        if not places or places[0].start():
            return []
        ends = [*(place.start() for place in places[1:]), len(line.findings)]
        alarms: list[Alarm] = []
        least = State.WARNING
        for place, end in reversed(list(zip(places, ends))):
            text = line.findings[place.start() : end]
            metric = FORMS.get(place['form'] or '', place['metric'] or '')
            stated = _STATED.search(line.findings, place.start(), end)
            code = OF_STATUS.get(metric, '')
            if stated:
                least = State[stated[1].upper()]
                code = code or f'{stated[2]}-limit'
            if GREW.match(text):
                code = 'growth'
            alarms.append(Alarm(metric, least, code=code, text=text.removesuffix('; ')))
        return [alarms[-1]._replace(state=line.state), *alarms[-2::-1]]

    def _drive(
        self,
        part: LineParts,
        alarms: Sequence[Alarm],
        values: Sequence[Labelled],
        all_values: Callable[[], ByDrive],
        origin: Origin,
    ) -> FleetDrive:
        """Return the drive of a line. values: those for wear, age and the alarms; all_values: called
        when the drive is shown.
        """
        line, clause, to_do = part
        numbers = {metric: number for metric, number, _ in values}
        facts: dict[str, Any] = {
            'host': origin.host,
            'name': shown(line.name) or '-',
            'model': shown(line.model) or None,
            'serial': shown(line.serial or '') or None,
            'firmware': shown(line.firmware) or None,
            'state': line.state.name,
            'notes': origin.notes,
            **handled(origin),
        }
        left = []
        if TIME_LEFT in numbers:
            left = [round(max(numbers[TIME_LEFT] - origin.elapsed, 0))]
            facts['forecasts'] = {ENDURANCE: {'left': left[0]}}
        facts.update(self._advice(line, alarms, left=left, origin=origin))
        if clause:
            facts.update(of_groups(facts, clause))
        if to_do:
            facts.update(stated(to_do, left, now=origin.now, elapsed=origin.elapsed))
        else:
            facts.update(due(facts['action'], left, origin.now)._asdict())
        if _is_unread(line) and not alarms:
            cause = of_drive(line.findings)
            facts['code'] = cause.name
            if to_do is None:
                facts['to_do'] = next_step(cause)
        # a line shows the risk by the action of its first finding
        is_risky = to_do is not None and to_do.code == actions.ORDER_COPY
        weights = [
            self._weight(alarm, values, is_risky and number == 0)
            for number, alarm in enumerate(alarms)
        ]
        return FleetDrive(
            facts,
            readings=partial(
                self._readings,
                line.name,
                all_values,
                alarms,
            ),
            used=numbers.get(ENDURANCE),
            weights=tuple(weights),
            age=numbers.get(AGE),
        )

    def weight(
        self,
        metric: str,
        state: State,
        number: float | None,
        limit: str,
        grown: float = 0,
        is_growing: bool = False,
        is_risky: bool = False,
    ) -> Weight:
        """Return the weight of a finding, as severity.weight does; an unknown metric has the
        lowest weight.
        """
        spec = self._metrics.get(metric)
        is_verdict = spec is not None and spec.is_verdict
        return severity.weight(
            self._cause(metric, state)._replace(is_risky=is_risky),
            number=None if is_verdict else number,
            limit=limit,
            unit=spec.unit if spec else '',
            grown=grown,
            is_growing=is_growing and not is_verdict,
        )

    def _weight(self, alarm: Alarm, values: Sequence[Labelled], is_risky: bool) -> Weight:
        """Return the weight of a finding by its value.

        If the value is within the limits, growth caused the alert.
        """
        for metric, number, limits in values:
            if metric == alarm.metric:
                warning, critical = levels(limits)
                limit = critical if alarm.state is State.CRITICAL else warning
                is_growing = not severity.is_beyond(limit, number)
                return self.weight(
                    metric,
                    alarm.state,
                    number=number,
                    limit=limit,
                    is_growing=is_growing,
                    is_risky=is_risky,
                )
        return self.weight(alarm.metric, alarm.state, number=None, limit='', is_risky=is_risky)

    def _advice(
        self,
        line: Line,
        alarms: Sequence[Alarm],
        left: Sequence[float],
        origin: Origin,
    ) -> Json:
        """Return the action of a line that does not state it, and the findings of the line."""
        is_worn = bool(left) and due(actions.ORDER, left, origin.now).order_by == day(origin.now)
        causes = [self._cause(alarm.metric, alarm.state) for alarm in alarms]
        first, *further = of_alarms(causes, is_worn)
        action = first.code
        if line.state is not State.OK:
            if not alarms:
                action = of_problem(of_drive(line.findings).name)
            also = [
                (need.code, due(need.code, left, origin.now, need.kind).to_do) for need in further
            ]
            return {
                'action': action,
                **_further(also),
                'why': shown(line.findings),
                'findings': [_finding(alarm) for alarm in alarms],
            }
        if not self._begins.match(line.findings):  # the drive is in standby, so it was not read
            asleep = note(Coded('asleep', shown(line.findings)))
            return {'action': actions.NOTHING, 'notes': (*origin.notes, asleep)}
        if is_worn:
            return {'action': action, 'why': f'{ENDURANCE}: used up {day(origin.now + min(left))}'}
        return {'action': action}

    def _cause(self, metric: str, state: State) -> Cause:
        """Return the facts that determine the action for a finding whose line was cut off before
        the action.
        """
        spec = self._metrics.get(metric)
        return Cause(spec.remedy, spec.concern, state) if spec else Cause('', '', state)

    def _readings(
        self, name: str, values: Callable[[], ByDrive], alarms: Sequence[Alarm]
    ) -> list[Json]:
        of_metric = {alarm.metric: alarm.state for alarm in reversed(alarms)}
        return [
            self._reading(metric, number, limits=limits, state=of_metric.get(metric))
            for metric, number, limits in values()[name]
        ]

    def _reading(
        self,
        metric: str,
        number: float,
        limits: str,
        state: State | None,
    ) -> Json:
        warning, critical = map(visible, levels(limits))
        reading = {
            'metric': metric,
            'unit': self._metrics[metric].unit,
            'source': SOURCE,
            'judged': True,
            'state': (state or State.OK).name,
            'warning': warning,
            'critical': critical,
        }
        words = OWN_WORDS if metric == OWN_WORD else WORDS
        value = words.get(number, number) if self._metrics[metric].is_verdict else number
        return {**{key: text for key, text in reading.items() if text != ''}, 'value': value}

    def _by_drive(self, names: Iterable[str], texts: Iterable[str]) -> ByDrive:
        """Return each drive's values; unknown metrics, such as the labels of version 1.6, are
        skipped.
        """
        by_drive: ByDrive = {name: [] for name in names}
        for label, number, limits in read_values(texts):
            for name, metric in self._split(label):
                if name in by_drive:
                    by_drive[name].append((metric, number, limits))
                    break
        return by_drive

    def _pairs(self, label: str) -> tuple[tuple[str, str], ...]:
        """Return the possible pairs of drive name and metric in a label, longest metric first."""
        pairs = []
        for place, sign in enumerate(label):
            if sign == '_' and label[place + 1 :] in self._metrics:
                pairs.append((label[:place], label[place + 1 :]))
        return tuple(pairs)


def _is_unread(line: Line) -> bool:
    """Return whether a line without findings is about a drive that could not be read."""
    has_code = bool(getattr(line.findings, 'code', ''))
    return line.state is State.UNKNOWN or (line.state is not State.OK and has_code)


def _finding(alarm: Alarm) -> Json:
    return {
        'code': alarm.code,
        'text': shown(alarm.text),
        'state': alarm.state.name,
        'metric': alarm.metric,
    }


def handled(origin: Origin) -> Json:
    """Return how users handle a host's problems in Icinga, as a fact about one of its drives."""
    return {} if origin.handling is None else {'handling': list(origin.handling)}


def _beginnings(metrics: Iterable[str]) -> re.Pattern[str]:
    named = sorted(
        (metric for metric in metrics if metric not in SPEAKS_FOR_ITSELF), key=len, reverse=True
    )
    return re.compile(
        rf'(?:^|(?<=; ))(?:(?P<metric>{"|".join(map(re.escape, named))})(?=[ :])|'
        rf'(?P<form>{"|".join(FORMS)}))'
    )


# --- the end of a line: whether its groups allow replacing the drive now, and the action ----------


class Clause(NamedTuple):
    """The end of a drive's line: whether the groups on the drive allow its replacement now."""

    label: str  # as in the document: "next", "copy first", "last good copy" or "wait"
    code: str  # a name in codes.REDUNDANCY
    text: str


class ToDo(NamedTuple):
    """The action at the end of a drive's line."""

    code: str  # in work/actions.py
    words: str
    also: tuple[tuple[str, str], ...] = ()  # the further actions: code and words


class LineParts(NamedTuple):
    """A drive's line, taken apart."""

    line: Line  # without its final clause, drive ID and action
    clause: Clause | None = None
    to_do: ToDo | None = None


def split(line: Line) -> LineParts:
    """Return the parts of a line.

    If text from a drive or a mount point imitates a clause, the strictest clause counts.
    """
    if line.state is State.OK:
        return LineParts(line)
    text, to_do = str(line.findings), None
    action = _ACTION.search(text)
    if action:
        also = tuple(_ALSO.findall(shown(action[3])))
        to_do = ToDo(action[1], shown(action[2]), also)
        text = text[: action.start()]
    text = _WHERE.sub('', text)
    rest, clause = text, None
    clauses = list(_CLAUSE.finditer(text))
    if clauses:
        strictest = min(clauses, key=lambda match: STRICTEST.index(OF_CODE[match[1]][0]))
        clause_code = strictest[1]
        clause = Clause(OF_CODE[clause_code][0], clause_code, shown(text[strictest.end() :]))
        rest = text[: clauses[0].start()]
    code = getattr(line.findings, 'code', '')
    return LineParts(line._replace(findings=Coded(code, rest) if code else rest), clause, to_do)


def stated(
    to_do: ToDo,
    left: Sequence[float],
    now: float,
    elapsed: float,
) -> Json:
    """Return the action of a line, with the date in the line or, without one, a calculated date.

    left: as in work_list.due(). now: seconds since 1970. elapsed: age of the line in seconds.
    """
    all_actions = ((to_do.code, to_do.words), *to_do.also)
    dates = [
        _order_by(code, words, left=left, now=now, elapsed=elapsed) for code, words in all_actions
    ]
    by = dates[0]
    if to_do.code not in actions.REPLACING:
        by = min(filter(None, dates), default=None)
    return {'action': to_do.code, **_further(to_do.also), **Due(to_do.words, by)._asdict()}


def _order_by(
    code: str,
    words: str,
    left: Sequence[float],
    now: float,
    elapsed: float,
) -> str | None:
    """Return by when to order a replacement, for an action of a line. The other arguments are those
    of stated().
    """
    if code == actions.ORDER:
        dated = _DATED.search(words)
        if dated:
            return dated[1]
        if ' now' in words:
            return day(now - elapsed)
    return due(code, left, now).order_by


def _further(to_dos: Sequence[tuple[str, str]]) -> Json:
    """Return the further actions of a drive as a fact; {} without any. to_dos: codes and words."""
    also = [{'action': code, 'to_do': words} for code, words in to_dos]
    return {'also': also} if also else {}


def of_groups(facts: Json, clause: Clause) -> Json:
    """Return the facts about a drive that depend on its groups."""
    return {
        'action': in_its_groups(facts['action'], clause.label, clause.code),
        'why': f'{facts["why"]}; {clause.text}',
        'replacement': clause._asdict(),
    }


def shown(text: str) -> str:
    """Return a string from another host, made safe to display."""
    return text if text.isprintable() else visible(text)


# --- perfdata --------------------------------------------------------------------------


def read_values(texts: Iterable[str]) -> list[Labelled]:
    """Return the values in texts such as "'sda_temperature'=22;60;70;;".

    A text without fields for limits is truncated and is skipped: our values always have these
    fields. Also skipped are invalid numbers, and numbers and labels that are too long.
    """
    rows = re.findall(
        rf"^'?([^'=\n]{{1,200}})'?=(-?{_DIGITS}(?:\.{_DIGITS})?)[{UNITS}]?;([\w.:;@~-]{{0,200}})$",
        '\n'.join(texts),
        re.MULTILINE | re.ASCII,
    )
    return [
        (label, float(number) if '.' in number else int(number), limits)
        for label, number, limits in rows
    ]


def levels(limits: str) -> tuple[str, str]:
    """Return two ranges from the limits of a value: for WARNING and for CRITICAL."""
    warning, critical, *_ = f'{limits};'.split(';')
    return warning, critical


# --- causes ------------------------------------------------------------------------------


def of_output(output: str) -> Code:
    """Return the cause for an output that is not in the plugin's format."""
    if _OF_1_6.match(output):
        return BY_NAME['plugin-1.6']
    return BY_NAME['no-output' if _NO_OUTPUT.match(output) else 'output-foreign']


def of_check(words: str) -> Code:
    """Return the cause for the plugin's message about the check as a whole."""
    return _of(words, 'check-incomplete')


def of_drive(words: str) -> Code:
    """Return the cause for the plugin's message about a drive that could not be read."""
    return _of(words, 'drive-unreadable')


def _of(words: str, otherwise: str) -> Code:
    """Return the cause for the code in *words*, even a newer version's code; without a code, return
    *otherwise*.
    """
    code = getattr(words, 'code', '')
    cause = BY_NAME.get(code) or BY_NAME[otherwise]
    return cause._replace(name=code) if code else cause


def next_step(cause: Code) -> str:
    """Return the next step, worded for a reader on another host."""
    return cause.remedy if cause.name in _OF_A_FLEET else f'on the host: {cause.remedy}'
