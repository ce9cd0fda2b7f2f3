"""Verdicts -> what a monitoring daemon reads: one line, one line a drive, perfdata.

nagiosplugin does the bookkeeping; three of its habits are corrected here: it
ranks UNKNOWN above CRITICAL, it is silent about details without -v, and it
leaves out the quotes and the empty maximum of perfdata.
"""

from collections import Counter
from typing import Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence

import nagiosplugin

from .clean import clean, sentence
from .judge import worst
from .model import Judgement, State, Verdict
from .specs import Role
from .wording import finding, findings, headline, plain, reading_line, statement

NAME = 'SMART'
# Nagios 4 keeps 20,000 bytes of text and 30,889 of everything; the worst drives are always told.
TEXT_LIMIT, OUTPUT_LIMIT, TEXT_AT_LEAST = 19500, 30500, 4000
NOTHING = ('no drives to check: smartctl --scan finds none, or patterns and empty slots leave none over; '
           'name drives with -d, for example -d /dev/sda')

SERVICE_STATES = {State.OK: nagiosplugin.Ok, State.WARNING: nagiosplugin.Warn,
                  State.CRITICAL: nagiosplugin.Critical, State.UNKNOWN: nagiosplugin.Unknown}


class Face(NamedTuple):
    """How much is shown."""

    verbose: int = 0
    hide_serial: bool = False
    all_perfdata: bool = False


class Outcome(NamedTuple):
    """What a daemon gets."""

    text: str
    state: State


class Perfdata:
    """One value, always quoted and with all its fields: 'sda_endurance_used'=9%;85;95;0;"""

    # A wrapper, because nagiosplugin 1.3.2 (Debian 12) cannot make a subclass of Performance.
    def __init__(self, performance: nagiosplugin.Performance):
        self.performance = performance

    def __str__(self) -> str:
        label, *fields = self.performance
        value, unit, warning, critical, minimum, maximum = fields
        return f"'{label}'={value}{unit};{warning};{critical};{minimum};{maximum}"


class DriveResults(nagiosplugin.Results):  # type: ignore[misc]
    """Results whose worst state is the most urgent one."""

    # The library ranks UNKNOWN above CRITICAL: a drive that cannot be opened
    # would then hide another one that is dying.
    urgency = (nagiosplugin.Ok, nagiosplugin.Warn, nagiosplugin.Unknown, nagiosplugin.Critical)

    @property
    def most_significant_state(self) -> nagiosplugin.state.ServiceState:
        return max(self.by_state, key=self.urgency.index)


class Drive(nagiosplugin.Resource):  # type: ignore[misc]
    """One drive with all its judgements; a drive without any is one metric of its own."""

    def __init__(self, verdict: Verdict):
        self.verdict = verdict

    @property
    def name(self) -> str:
        return self.verdict.device.name

    def probe(self) -> Iterator[nagiosplugin.Metric]:
        # The judgements are complete before the first one is yielded, so that
        # no drive can fail half-way through.
        if self.verdict.problem or not self.verdict.judgements:
            yield nagiosplugin.Metric(f'{self.name} problem', self.verdict, context='problem')
        for number, judgement in enumerate(self.verdict.judgements):
            yield nagiosplugin.Metric(f'{self.name} {number}', judgement, context='reading')


class Problem(nagiosplugin.Context):  # type: ignore[misc]
    """A drive that could not be read."""

    def evaluate(self, metric: nagiosplugin.Metric, resource: Drive) -> nagiosplugin.Result:
        return nagiosplugin.Result(SERVICE_STATES[metric.value.state], metric.value.problem, metric)


class Reading(nagiosplugin.Context):  # type: ignore[misc]
    """A reading that has met its limits already."""

    def __init__(self, name: str, roles: Mapping[str, Role], face: Face):
        super().__init__(name)
        self.roles = roles
        self.face = face

    def evaluate(self, metric: nagiosplugin.Metric, resource: Drive) -> nagiosplugin.Result:
        return nagiosplugin.Result(SERVICE_STATES[metric.value.state], finding(metric.value), metric)

    def performance(self, metric: nagiosplugin.Metric, resource: Drive) -> Optional[Perfdata]:
        judgement: Judgement = metric.value
        reading = judgement.reading
        if reading.number is None or not reading.judged or not (judgement.graphed or self.face.all_perfdata):
            return None
        if reading.role == 'legacy_limit':  # several on one drive; old_values has them, each under its own label
            return None
        role = self.roles.get(reading.role)
        minimum, maximum = (role.minimum, role.maximum) if role else (None, None)
        return Perfdata(nagiosplugin.Performance(
            f'{resource.name}_{reading.role}', plain(reading.number), reading.unit.replace('C', ''), judgement.warning, judgement.critical,
            None if minimum is None else plain(minimum), None if maximum is None else plain(maximum)))


class Summary(nagiosplugin.Summary):  # type: ignore[misc]
    """The first line: what is worst, on which drive, against which limit."""

    def __init__(self, verdicts: Sequence[Verdict], extra: str):
        self.verdicts = verdicts
        self.extra = extra

    def ok(self, results: nagiosplugin.Results) -> str:
        return self._line(highest_wear(self.verdicts))

    def problem(self, results: nagiosplugin.Results) -> str:
        return self._line(f'{self.verdicts[0].device.name} {headline(self.verdicts[0])}')

    def empty(self) -> str:
        return self.extra or NOTHING

    def _line(self, worst_thing: str) -> str:
        return '; '.join(part for part in (self.extra, worst_thing, count(self.verdicts)) if part)


def render(verdicts: Iterable[Verdict], roles: Mapping[str, Role], face: Face,
           failures: Sequence[str] = (), notes: Sequence[str] = (), *, transcript: Sequence[str] = ()) -> Outcome:
    """Return the plugin's whole output and its state.

    failures: sentences about the check as a whole (drives missing) that make it CRITICAL.
    notes: sentences about the check as a whole that change no state; shown with -v.
    transcript: lines of what smartctl said; with them nothing is left out, for they are read by a person.
    """
    ordered = sorted(verdicts, key=lambda verdict: (-verdict.state.urgency, verdict.device.name))
    check = nagiosplugin.Check(*(Drive(verdict) for verdict in ordered), DriveResults(), Problem('problem'),
                               Reading('reading', roles, face), Summary(ordered, '; '.join(failures)))
    check()
    state = worst([State.CRITICAL if failures else State.OK if ordered else State.UNKNOWN,
                   State(check.exitcode) if ordered else State.OK])
    first = f'{NAME} {state.name} - {check.summary_str}'
    lines = [line for verdict in ordered for line in drive_lines(verdict, face)]
    lines.extend(f'note: {sentence(note, 500)}' for note in notes if face.verbose or not ordered)
    values = [*check.perfdata, *old_perfdata(ordered, check.perfdata)]
    perfdata = ['| ' + ' '.join(values)] if values else []
    if not transcript:
        lines = _fitting(lines, len(first.encode()), sum(len(line.encode()) for line in perfdata))
    return Outcome('\n'.join([first, *lines, *transcript, *perfdata]) + '\n', state)


def old_perfdata(verdicts: Iterable[Verdict], printed: Sequence[str]) -> List[str]:
    """Return the values under labels of version 1.6, ordered; none that is *printed* already."""
    values = {value.label: str(Perfdata(nagiosplugin.Performance(value.label, plain(value.number), '', value.warning, value.critical)))
              for verdict in verdicts for value in verdict.old_values}
    taken = {value.partition('=')[0] for value in printed}
    return [text for label, text in sorted(values.items()) if f"'{label}'" not in taken]


def _fitting(lines: Sequence[str], used: int, perfdata: int) -> List[str]:
    """Return the lines that a daemon keeps; those at the end, the least urgent ones, give way to perfdata.

    used, perfdata: bytes of the first line and of the last one.
    """
    room = max(TEXT_AT_LEAST, min(TEXT_LIMIT, OUTPUT_LIMIT - perfdata)) - used
    kept: List[str] = []
    for line in lines:
        room -= len(line.encode()) + 1
        if room < 0:
            kept.append(f'... {len(lines) - len(kept)} more lines are left out, Nagios would cut them off; '
                        'check_smart_attributes triage shows all')
            break
        kept.append(line)
    return kept


def highest_wear(verdicts: Sequence[Verdict]) -> str:
    """Return "most worn: sdc endurance_used 9 %", or '' where no drive tells."""
    worn = [(judgement.reading.number or 0, verdict.device.name, judgement.reading) for verdict in verdicts
            for judgement in verdict.judgements
            if judgement.reading.role == 'endurance_used' and judgement.reading.judged and judgement.reading.number is not None]
    if not worn:
        return ''
    _, name, reading = max(worn, key=lambda entry: entry[0])
    return f'most worn: {name} {statement(reading)}'


def count(verdicts: Sequence[Verdict]) -> str:
    """Return "3 drives: 1 critical, 1 unknown, 1 ok"."""
    states = Counter(verdict.state for verdict in verdicts)
    drives = '1 drive' if len(verdicts) == 1 else f'{len(verdicts)} drives'
    parts = [f'{states[state]} {state.name.lower()}' for state in sorted(State, key=lambda state: -state.urgency) if states[state]]
    return f'{drives}: {", ".join(parts)}' if parts else 'no drives'


def drive_lines(verdict: Verdict, face: Face) -> List[str]:
    """Return the line of a drive and, with -v, what is worth knowing beside it."""
    columns = [f'{verdict.state.name:<8}', verdict.device.name, clean(verdict.identity.model, limit=60) or '-', findings(verdict)]
    if not face.hide_serial:
        columns.append(clean(verdict.identity.serial, limit=40) or '-')
    lines = ['  '.join(columns)]
    if face.verbose >= 1:
        lines += [f'  note: {sentence(note, 500)}' for note in verdict.notes]
        lines.append(f'  entry: {verdict.entry or "none"}')
    if face.verbose >= 2:
        lines += [f'  {reading_line(judgement)}' for judgement in verdict.judgements]
    return lines
