"""The parts that commands for a person share: a survey with more of each drive, notes, addresses, exit statuses."""
from __future__ import annotations

from typing import Dict, List, Tuple

from ..check.survey import Survey, survey
from ..command_line.options import OK, UNKNOWN, Options
from ..model import Report, State, Verdict
from ..output.progress import ProgressLine
from ..reading import by_id
from ..reading.location import place
from ..reading.processes import Runner
from ..words import sentence


def surveyed(options: Options, runner: Runner) -> Survey:
    """Return a survey that also says where each drive is, what uses it and how long it lasts.

    At a terminal a line tells how many drives have answered.
    """
    line = ProgressLine()
    try:
        found = survey(options, runner, watch=line)
    finally:
        line.end()
    return found._replace(verdicts=tuple(found.history.told(verdict)._replace(place=place(verdict.device))
                                         for verdict in found.verdicts))


def nobody(found: Survey) -> Dict[str, str]:
    """Return the keys of a JSON document that say why it has no drives, where that is a fault."""
    state, words = found.nobody
    return {} if found.verdicts or state is State.OK else {'state': state.name, 'error': words}


def print_remarks(found: Survey) -> None:
    """Print what a survey says beside its drives."""
    for note in (*found.remarks, *found.notes):
        print(f'note: {sentence(note, 500)}')


def status(found: Survey) -> int:
    """Return the exit status: 0 when at least one drive was read."""
    return OK if any(not verdict.problem for verdict in found.verdicts) else UNKNOWN


def answered(found: Survey) -> List[Tuple[Verdict, Report]]:
    """Return the drives that have answered, with their reports."""
    return [(verdict, read.outcome) for verdict, read in zip(found.verdicts, found.reads)
            if isinstance(read.outcome, Report)]


def addresses(found: Survey, options: Options) -> List[str]:
    """Return what to paste after -d for each drive."""
    if options.naming.label != 'by-id':
        return [verdict.device.address for verdict in found.verdicts]
    known = by_id.links()
    return [by_id.stable(verdict.device, known).address for verdict in found.verdicts]
