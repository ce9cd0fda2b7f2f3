"""The plugin output that a monitoring daemon reads: a summary line, a line per drive, perfdata on
the last line.

The columns of a line are separated by two spaces. No column contains two spaces: `clean` and
`sentence` leave only single spaces. fleet.services reads these lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..constants import OUTPUT_LIMIT
from ..errors import Coded
from ..knowledge import severity
from ..knowledge.drive_database import Metric
from ..model import WORST_FIRST, Case, State, Verdict, worst
from ..typed import NamedTuple
from ..wording import plural, statement
from ..words import coded, sentence
from ..work.statements import findings, reading_line
from . import budget, perfdata

NAME = 'SMART'
GAP = '  '
LONGEST_FIRST_LINE = 160 - len(f'{NAME} CRITICAL - ')
WIDTH = max(len(state.name) for state in State)
NOT_TOLD = '-'
ACKNOWLEDGED = 'acknowledged'
CHECK = '(check)'  # replaces the drive name in lines about the check as a whole
NOTE = 'note: '
FIRMWARE = 'firmware '

# Metrics that the first line shows if all drives are OK; a zero is not shown.
TELLING = (
    ('most worn', 'endurance_used'),
    ('most reallocated', 'reallocated'),
    ('warmest', 'temperature'),
)


class Face(NamedTuple):
    """The level of detail of the output."""

    verbose: int = 0
    all_perfdata: bool = False
    max_output: int = OUTPUT_LIMIT  # bytes


class Whole(NamedTuple):
    """Messages about the check as a whole."""

    failures: Sequence[str] = ()  # make the check CRITICAL: missing drives
    # make the check UNKNOWN unless something is CRITICAL: slots not read
    faults: Sequence[str] = ()
    demands: Sequence[tuple[State, str]] = ()  # have a state of their own
    remarks: Sequence[str] = ()  # do not change the state, but an admin can act on them
    left_out: str = ''  # files that are no reports; in the first line, without a state
    notes: Sequence[str] = ()  # do not change the state; shown with -v
    # state and message for a run without verdicts
    nobody: tuple[State, str] = (State.UNKNOWN, 'no drives')


class Line(NamedTuple):
    """The fields of a drive's line; '' for a field that the drive does not report."""

    state: State
    name: str
    model: str
    findings: str  # Coded if it is the reason why the drive was not read
    serial: str | None = ''  # None: hidden
    # also '' in lines of early builds of 2.0, which did not print the firmware
    firmware: str = ''


class Outcome(NamedTuple):
    """The state and the output for the daemon."""

    text: str
    state: State


def first_line(
    cases: Sequence[Case],
    messages: Sequence[str],
    milder: str = '',
    left_out: str = '',
    room: int = 0,
) -> str:
    """Return the first line of output, without its state: the messages about the check, and what
    _choices() says about the drives.

    The whole messages are tried with each choice, then shortened messages with each choice, until
    the line fits LONGEST_FIRST_LINE. If no line fits, the last one is returned: shortened messages
    with the last choice. A shortened message has its first two parts: usually, what is wrong and
    what to do.

    cases: in order of severity.
    messages: determine the state of the check as a whole, or state why there are no drives.
    milder: less severe messages. left_out: the message about files that are no reports.
    room: characters for the parts that have no bounds: a quarter each for the messages and *milder*,
    half for the alert of the drive; 0: nothing is cut.
    """
    quarter = room // 4
    if room:
        milder = sentence(milder, quarter)
    line = ''
    choices = _choices(cases, messages)
    whole = [*map(coded, messages)]
    brief = ['; '.join(words.split('; ')[:2]) for words in whole]
    for texts in (whole, brief):
        about_check = '; '.join(texts)
        if room:
            about_check = sentence(about_check, quarter)
        for alert, numbers in choices:
            shown = sentence(alert, 2 * quarter) if room else alert
            parts = (about_check, shown, milder, numbers, left_out)
            line = '; '.join(filter(None, parts))
            if len(line) <= LONGEST_FIRST_LINE:
                return line
    return line


def _choices(cases: Sequence[Case], messages: Sequence[str]) -> list[tuple[str, str]]:
    """Return what a first line can say about the drives, the preferred choice first. Each choice is
    a pair: words about the worst drive, and how many drives there are; '' for a part that is left
    out.

    - no drives: both are ''
    - all are OK: the most informative number of a drive, but '' with messages; and the long count
    - a message already states that drives are missing, and the worst drive is one of them: see
      _choices_if_missing()
    - else: the alert of the worst drive with the long count, then each form of the alert with the
      short count; with messages, the last form has only the action

    cases: in order of severity. messages: precede the choice in the line.
    """
    if not cases:
        return [('', '')]
    verdicts = [case.verdict for case in cases]
    long_count = count(verdicts)  # "9 drives: 2 warning, 7 ok"
    if verdicts[0].state is State.OK:
        healthy = '' if messages else most_telling(verdicts)
        return [(healthy, long_count)]
    alerting = [verdict for verdict in verdicts if verdict.state is not State.OK]
    short_count = ''  # the state of a single drive is that of the line
    if len(verdicts) > 1:
        short_count = f'{len(verdicts)} drives, {len(alerting)} not ok'
    # a check without an alert does not need them
    from ..work.alerts import action_alone, alerts

    codes = [getattr(message, 'code', '') for message in messages]
    if 'drives-missing' in codes and verdicts[0].code == 'drive-missing':
        return _choices_if_missing(verdicts[0], long_count, short_count)
    texts = alerts(cases[0])
    if messages:
        texts.append(action_alone(cases[0]))
    return [(texts[0], long_count), *((text, short_count) for text in texts)]


def _choices_if_missing(
    verdict: Verdict, long_count: str, short_count: str
) -> list[tuple[str, str]]:
    """Return the choices for a worst drive that is missing: what was found when it was last read,
    '' if nothing was, and a count of drives. A message states that it is missing, and what to do.

    The last choice has the count alone, because it is shorter than what was found.
    """
    finding = ''
    if verdict.last:
        finding = f'{verdict.device.name}: {verdict.last.headline}'
    return [
        (finding, long_count),
        (finding, short_count),
        (finding, ''),
        ('', short_count),
    ]


def render(
    cases: Iterable[Case],
    definitions: Mapping[str, Metric],
    face: Face,
    whole: Whole,
    transcript: Sequence[str] = (),
) -> Outcome:
    """Return the complete output of the plugin and its state.

    definitions: all metrics, by name. transcript: lines of smartctl's output. With a transcript,
    nothing is omitted, because a person reads the output.
    """
    ordered = severity.worst_first(cases)
    verdicts = [case.verdict for case in ordered]
    state, messages, milder = state_and_reasons(ordered, whole)
    left_out = sentence(whole.left_out, 200)

    head = f'{NAME} {state.name} - '
    first = head + first_line(ordered, messages, milder, left_out)
    text = lines(ordered, face, whole)
    values = perfdata.values(verdicts, definitions, face.all_perfdata)
    if transcript:
        everything = [first, *text.checks, *text.drives, *text.notes, *transcript]
        return _outcome(state, everything, values)
    room = budget.share_of_lines(face.max_output)
    if budget.size(first) > room:
        first = head + first_line(ordered, messages, milder, left_out, room)
    sizes = budget.needed(verdicts, values, definitions, face.all_perfdata)
    kept = budget.metrics(sizes, definitions, face.max_output)
    printed = [value for value in values if value.metric in kept]
    missing = budget.in_order({value.metric for value in values} - kept, definitions)
    perfdata_texts = [value.text for value in printed]
    fitting = budget.fitted(text, missing, face.max_output, first, perfdata_texts)
    return _outcome(state, [first, *fitting], printed)


def state_and_reasons(
    ordered: Sequence[Case], whole: Whole
) -> tuple[State, list[str], str]:
    """Return the check's state, the worst of all drives and messages; the messages about the whole
    check that have this state; and the demands that have a milder one, as one text.

    If no message has this state, and there are no drives, the only message is why there are none.
    ordered: drives in order of severity.
    """
    # A demand is a pair of state and message. If the state is OK, the message is for its line only.
    demands = [demand for demand in whole.demands if demand[0] is not State.OK]
    messages = [(State.CRITICAL, failure) for failure in whole.failures]
    # Each fault has its own line, so the first line names only one.
    messages += [(State.UNKNOWN, fault) for fault in whole.faults[:1]]
    messages += demands
    of_drives = ordered[0].verdict.state if ordered else whole.nobody[0]
    state = worst([of_drives, *(own_state for own_state, _ in messages)])
    decisive = [message for own_state, message in messages if own_state is state]
    milder = [message for own_state, message in demands if own_state is not state]
    if not ordered and not decisive:
        decisive = [whole.nobody[1]]
    return state, decisive, '; '.join(map(coded, milder))


def lines(ordered: Sequence[Case], face: Face, whole: Whole) -> budget.OutputText:
    """Return all lines after the first line. ordered: drives in order of severity.

    whole.failures stand only in the first line. Without drives, notes are shown in any case, because
    they can explain why there are none.
    """
    messages = [(State.UNKNOWN, fault) for fault in whole.faults]
    messages += whole.demands
    checks = [
        GAP.join((_padded(state), CHECK, sentence(coded(message), 500)))
        for state, message in messages
    ]
    drives = []
    for case in ordered:
        drives += drive_lines(case, face)
    notes = [*whole.remarks]
    if face.verbose or not ordered:
        notes += whole.notes
    return budget.OutputText(
        checks, drives, [NOTE + sentence(note, 500) for note in notes]
    )


def _outcome(
    state: State, text: Sequence[str], values: Sequence[perfdata.Value]
) -> Outcome:
    last = ['| ' + ' '.join(value.text for value in values)] if values else []
    return Outcome('\n'.join([*text, *last]) + '\n', state)


def most_telling(verdicts: Sequence[Verdict]) -> str:
    """Return "most worn: sdc endurance_used 9 %" for drives that are all OK, or '' if all values
    are zero.
    """
    for title, metric in TELLING:
        readings = []
        for verdict in verdicts:
            for judgement in verdict.judgements:
                reading = judgement.reading
                if reading.metric == metric and reading.judged and reading.number:
                    readings.append((reading.number, verdict.device.name, reading))
        if readings:
            _, name, highest = max(readings, key=lambda entry: entry[0])
            return f'{title}: {name} {statement(highest)}'
    return ''


def drive_lines(case: Case, face: Face) -> list[str]:
    """Return the line of a drive; with -v, also its notes and its entry; with -vv, also its readings."""
    verdict = case.verdict
    text = [written(line(case))]
    if face.verbose >= 1:
        text += [f'  note: {sentence(note, 500)}' for note in verdict.notes]
        text.append(f'  entry: {sentence(verdict.entry or "none", 100)}')
    if face.verbose >= 2:
        text += [f'  {reading_line(judgement)}' for judgement in verdict.judgements]
    return text


def line(case: Case) -> Line:
    """Return the fields of a drive's line.

    If the drive is not OK, its findings are followed by the clause about its groups, its ID behind
    a controller, and the action.
    """
    verdict = case.verdict
    identity = case.shown
    reason = findings(verdict)
    parts = [reason]
    if verdict.state is not State.OK:
        place = case.place
        # a check does not ask for the slot of a drive behind a controller
        where = coded(Coded('slot-unknown', place.where)) if place.drive_id else ''
        item = case.todo
        also = ''.join(
            f'; also [{further.action}] {further.to_do}' for further in item.also
        )
        parts += [clause(case), where, f'[{item.action}] {item.to_do}{also}']
    words = '; '.join(filter(None, parts))
    if isinstance(reason, Coded):  # the drive was not read
        words = Coded(reason.code, words)
    return Line(
        verdict.state,
        verdict.device.name,
        identity.model,
        words,
        identity.serial,
        identity.firmware,
    )


def clause(case: Case) -> str:
    """Return the coded clause on whether the groups on an alerting drive allow its replacement;
    '' if unknown.
    """
    step = case.use.replacement if case.use else None
    return coded(Coded(step.why.code, sentence(step.why, 400))) if step else ''


def written(line: Line) -> str:
    """Return the text of a drive's line, ending with "firmware" and the version if the drive
    answered.
    """
    columns = [
        _padded(line.state),
        line.name,
        line.model or NOT_TOLD,
        coded(line.findings),
    ]
    if line.serial is not None:
        columns.append(line.serial or NOT_TOLD)
    if line.model or line.serial or line.firmware:
        columns.append(FIRMWARE + (line.firmware or NOT_TOLD))
    return GAP.join(columns)


def count(verdicts: Sequence[Verdict]) -> str:
    """Return the end of the first line, such as "4 drives: 1 critical, 1 ok, 2 acknowledged".

    Drives that are OK only because of an acknowledgement are counted separately.
    """
    of_each = Counter(map(_counted_as, verdicts))
    words = [state.name.lower() for state in WORST_FIRST]
    parts = [
        f'{of_each[word]} {word}' for word in (*words, ACKNOWLEDGED) if of_each[word]
    ]
    return f'{plural(len(verdicts), "drive")}: {", ".join(parts)}'


def _counted_as(verdict: Verdict) -> str:
    """Return the word under which a drive is counted: its state, or "acknowledged"."""
    is_accepted = verdict.state is State.OK and any(
        judgement.acknowledged for judgement in verdict.judgements
    )
    return ACKNOWLEDGED if is_accepted else verdict.state.name.lower()


def _padded(state: State) -> str:
    return f'{state.name:<{WIDTH}}'
