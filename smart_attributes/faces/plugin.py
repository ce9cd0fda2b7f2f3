"""Verdicts -> what a monitoring daemon reads: one line, one line a drive, perfdata on the last."""
from __future__ import annotations

from itertools import accumulate

from ..knowledge import severity
from ..knowledge.specs import Role
from ..model import State, Verdict, worst
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import headline, reading_line, sentence, statement
from . import lines, perfdata

if TYPE_CHECKING:
    from typing import Iterable, List, Mapping, Sequence, Tuple

# NRPE passes 65,505 bytes, Icinga's IDO database keeps 65,535 of text and as many of perfdata; Nagios 4.4 and Icinga 2
# keep all (tried with 800,000 and 1,000,000). The worst drives are always told.
OUTPUT_LIMIT, TEXT_AT_LEAST, ROOM_TO_SAY_SO = 65000, 4000, 500
WHY_LEFT_OUT = f'NRPE passes no more than {OUTPUT_LIMIT:,} bytes'
# What the first line tells where all is well; zero tells nothing.
TELLING = (('most worn', 'endurance_used'), ('most reallocated', 'reallocated'), ('warmest', 'temperature'))


class Face(NamedTuple):
    """How much is shown."""

    verbose: int = 0
    hide_serial: bool = False
    all_perfdata: bool = False


class Whole(NamedTuple):
    """Sentences about the check as a whole."""

    failures: Sequence[str] = ()  # make it CRITICAL: drives missing
    faults: Sequence[str] = ()    # make it UNKNOWN, unless something is CRITICAL: slots nobody looked at
    demands: Sequence[Tuple[State, str]] = ()  # have a state of their own
    remarks: Sequence[str] = ()   # change no state, and an admin can do something about them
    notes: Sequence[str] = ()     # change no state; shown with -v
    nobody: Tuple[State, str] = (State.UNKNOWN, 'no drives')  # state and sentence, where there are no verdicts


NOTHING_MORE = Whole()


class Outcome(NamedTuple):
    """What a daemon gets."""

    text: str
    state: State


def first_line(verdicts: Sequence[Verdict], extra: str, nobody: str) -> str:
    """Return what is worst, on which drive, against which limit, of verdicts in order of severity.

    extra: what concerns the check as a whole and is worse. nobody: what to say where there are no verdicts.
    """
    if not verdicts:
        return extra or nobody
    first = verdicts[0]
    told = most_telling(verdicts) if first.state is State.OK else f'{first.device.name} {headline(first)}'
    return '; '.join(part for part in (extra, told, lines.count(verdicts)) if part)


def render(verdicts: Iterable[Verdict], roles: Mapping[str, Role], face: Face, whole: Whole = NOTHING_MORE,
           transcript: Sequence[str] = ()) -> Outcome:
    """Return the plugin's whole output and its state.

    transcript: lines of what smartctl said; with them nothing is left out, for they are read by a person.
    """
    ordered = sorted(verdicts, key=severity.of_verdict)
    state = worst([*states(whole), ordered[0].state if ordered else whole.nobody[0]])
    told_first = [*whole.failures, *(whole.faults[:1] if state is State.UNKNOWN else ()),  # each has a line of its own
                  *(said for demanded, said in whole.demands if state is demanded is not State.OK)]
    first = lines.first(state, first_line(ordered, '; '.join(told_first), whole.nobody[1]))
    text = [lines.check_line(demanded, sentence(said, 500))
            for demanded, said in (*((State.UNKNOWN, fault) for fault in whole.faults), *whole.demands)]
    text += [line for verdict in ordered for line in drive_lines(verdict, face)]
    text += [lines.NOTE + sentence(note, 500)
             for note in (*whole.remarks, *(whole.notes if face.verbose or not ordered else ()))]
    values = perfdata.values(ordered, roles, face.all_perfdata)
    values += perfdata.old_values(ordered, values)
    if not transcript:
        text, values = _fitting(text, values, _size(first))
    last = ['| ' + ' '.join(values)] if values else []
    return Outcome('\n'.join([first, *text, *transcript, *last]) + '\n', state)


def states(whole: Whole) -> List[State]:
    """Return the states that sentences about the check as a whole give it."""
    return [*([State.CRITICAL] if whole.failures else []), *([State.UNKNOWN] if whole.faults else []),
            *(state for state, _ in whole.demands)]


def _fitting(text: Sequence[str], values: Sequence[str], used: int) -> Tuple[List[str], List[str]]:
    """Return the lines of text and the values that no daemon cuts off, and a line for what is left out.

    Lines at the end, the least urgent ones, give way to perfdata, until few are left. used: bytes of the first line.
    """
    room = OUTPUT_LIMIT - used - ROOM_TO_SAY_SO
    if sum(map(_size, [*text, *values])) <= room:
        return list(text), list(values)
    kept_values = _first(values, room - min(TEXT_AT_LEAST, sum(map(_size, text))))
    kept_lines = _first(text, room - sum(map(_size, kept_values)))
    if len(kept_lines) < len(text):
        kept_lines.append(f'{lines.LEFT_OUT}{len(text) - len(kept_lines)} more lines are left out, {WHY_LEFT_OUT}; '
                          'check_smart_attributes triage shows all')
    if len(kept_values) < len(values):
        label = values[len(kept_values)].partition('=')[0]
        kept_lines.append(f'{lines.LEFT_OUT}{len(values) - len(kept_values)} of {len(values)} values of perfdata are '
                          f'left out, from {label} on, {WHY_LEFT_OUT}; divide the drives among several checks')
    return kept_lines, kept_values


def _first(parts: Sequence[str], room: int) -> List[str]:
    """Return as many parts as fit."""
    sizes = accumulate(map(_size, parts))
    return [part for part, size in zip(parts, sizes) if size <= room]


def _size(part: str) -> int:
    """Return the bytes of a line or a value, with what parts it from the next."""
    return len(part.encode()) + 1


def most_telling(verdicts: Sequence[Verdict]) -> str:
    """Return "most worn: sdc endurance_used 9 %", of drives that are all well; '' where none tells more than a zero."""
    for title, role in TELLING:
        known = [(judgement.reading.number, verdict.device.name, judgement.reading) for verdict in verdicts
                 for judgement in verdict.judgements
                 if judgement.reading.role == role and judgement.reading.judged and judgement.reading.number]
        if known:
            _, name, reading = max(known, key=lambda entry: entry[0])
            return f'{title}: {name} {statement(reading)}'
    return ''


def drive_lines(verdict: Verdict, face: Face) -> List[str]:
    """Return the line of a drive and, with -v, what is worth knowing beside it."""
    told = [lines.written(lines.line(verdict, face.hide_serial))]
    if face.verbose >= 1:
        told += [f'  note: {sentence(note, 500)}' for note in verdict.notes]
        told.append(f'  entry: {sentence(verdict.entry or "none", 100)}')
    if face.verbose >= 2:
        told += [f'  {reading_line(judgement)}' for judgement in verdict.judgements]
    return told
