"""metrics: print or write the numbers and states of drives for Prometheus or Zabbix."""

import socket
import sys
import time
from collections.abc import Sequence

from ..check import fence
from ..check.survey import survey
from ..command_line.options import OK, UNKNOWN, CheckOptions, Options
from ..model import Case, State, worst
from ..output import metrics
from ..reading.processes import Runner
from ..words import coded, sentence
from ..work.statements import problem
from . import person
from .cases import Overview, unshown, with_history
from .check import rendered
from .records.metrics import MetricsOptions


def run(options: Options, runner: Runner) -> int:
    """Print or write the metrics; return 0 if at least one drive answered or is in standby, else
    3.
    """
    own: MetricsOptions = options.own

    def prepare() -> None:
        if not own.as_json:
            metrics.library()

    result = survey(options, runner, meanwhile=prepare)
    overview = with_history(result, options)

    def show(drives: Sequence[Case]) -> str:
        if own.as_json:
            return _document(drives, overview, options)
        return _exposition(drives, overview)

    text, cases = fence.shown(overview.cases, show, unshown)
    if not own.as_json:
        _complain(cases, overview)
    if own.output:
        person.write(text, own.output)
    else:
        print(text, end='')
    verdicts = [case.verdict for case in cases]
    runner.later.append(lambda: result.history.keep(verdicts))
    is_read = any(
        not verdict.problem or verdict.state is State.OK for verdict in verdicts
    )
    return OK if is_read else UNKNOWN


def _exposition(drives: Sequence[Case], overview: Overview) -> str:
    """Return the metrics for Prometheus."""
    families = metrics.metrics(
        drives,
        overview.survey.judge.database.metrics,
        state=_state_of_the_run(overview),
        now=time.time(),
        groups=overview.machine.groups if overview.machine else (),
    )
    return metrics.text(families)


def _document(drives: Sequence[Case], overview: Overview, options: Options) -> str:
    """Return the JSON document.

    All problems are in the document, because Zabbix reads stderr as a part of it.
    """
    from ..output import metrics_document

    outcome = rendered(drives, overview, options._replace(verbose=0), CheckOptions())
    text = metrics_document.as_text(
        drives,
        outcome,
        of_itself=_state_of_the_run(overview),
        problems=[words for _, words in _messages(overview)],
        remarks=overview.remarks,
        host=socket.gethostname(),
        now=time.time(),
    )
    return f'{text}\n'


def _state_of_the_run(overview: Overview) -> State:
    """Return the worst state of the messages about the run as a whole."""
    return worst(state for state, _ in _messages(overview))


def _messages(overview: Overview) -> Sequence[tuple[State, str]]:
    """Return the messages about the run as a whole, each with its state. Without drives, the last
    one is why there are none.
    """
    run = overview.survey
    if overview.cases:
        return run.told
    return [*run.told, run.nobody]


def _complain(drives: Sequence[Case], overview: Overview) -> None:
    """Print the problems of the run to stderr, for a journal, because the metrics contain only
    numbers.
    """
    problems = [coded(message) for _, message in _messages(overview)]
    # As in the text of a check, remarks are shown without their codes.
    problems += overview.remarks
    for drive in drives:
        verdict = drive.verdict
        if verdict.problem:
            problems.append(f'{verdict.device.name} {coded(problem(verdict))}')
    for words in problems:
        print(sentence(words, 500), file=sys.stderr)
