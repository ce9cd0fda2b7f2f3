"""metrics: print or write the numbers and states of drives for Prometheus or Zabbix."""

from __future__ import annotations

import socket
import sys
import time

from ..check import fence, history_answers
from ..check.survey import Survey, survey
from ..command_line.options import OK, UNKNOWN, CheckOptions, Options
from ..model import State, worst
from ..reading.processes import Runner
from ..words import coded, sentence
from ..work.statements import problem
from . import person
from .check import rendered, whole, with_groups
from .records.metrics import MetricsOptions


def run(options: Options, runner: Runner) -> int:
    """Print or write the metrics; return 0 if at least one drive answered or is in standby, else
    3.
    """
    from ..output import metrics

    own: MetricsOptions = options.own
    found = survey(options, runner, tuple if own.as_json else metrics.library)
    history = found.history
    found = with_groups(
        found._replace(
            verdicts=fence.each(
                found.verdicts,
                lambda verdict: history_answers.told(history, verdict),
                fence.UNCOMPARED,
            )
        ),
        options,
    )
    text, found = fence.shown(
        found,
        lambda each: (
            _document(each, options) if own.as_json else _exposition(each, options, own.openmetrics)
        ),
    )
    if not own.as_json:
        _complain(found)
    if own.output:
        person.write(text, own.output)
    else:
        print(text, end='')
    runner.later.append(lambda: found.history.keep(found.verdicts))
    return (
        OK
        if any(not verdict.problem or verdict.state is State.OK for verdict in found.verdicts)
        else UNKNOWN
    )


def _exposition(found: Survey, options: Options, is_openmetrics: bool) -> str:
    """Return the metrics for Prometheus."""
    from ..output import metrics

    told = metrics.Run(
        found.verdicts,
        _state_of_the_run(found),
        time.time(),
        options.naming.hide_serial,
        found.machine.groups if found.machine else (),
    )
    return metrics.text(metrics.metrics(told, found.judge.database.metrics), is_openmetrics)


def _document(found: Survey, options: Options) -> str:
    """Return the JSON document.

    All problems are in the document, because Zabbix reads stderr as a part of it.
    """
    from ..output import metrics_document

    outcome = rendered(found, options._replace(verbose=0), CheckOptions())
    problems = (*(words for _, words in found.told), *(() if found.verdicts else [found.nobody[1]]))
    return (
        metrics_document.as_text(
            metrics_document.Run(
                found.verdicts,
                outcome.state,
                outcome.text.partition('\n')[0],
                _state_of_the_run(found),
                problems,
                found.remarks,
                socket.gethostname(),
                time.time(),
                options.naming.hide_serial,
            )
        )
        + '\n'
    )


def _state_of_the_run(found: Survey) -> State:
    """Return the worst state of the messages about the run as a whole."""
    from ..output import plugin

    return worst([*plugin.states(whole(found)), *([] if found.verdicts else [found.nobody[0]])])


def _complain(found: Survey) -> None:
    """Print the problems of the run to stderr, for a journal, because the metrics contain only
    numbers.
    """
    said = whole(found)
    for words in (
        *map(coded, (*said.failures, *said.faults, *(words for _, words in said.demands))),
        *said.remarks,
        *(() if found.verdicts else [coded(found.nobody[1])]),
        *(
            f'{verdict.device.name} {coded(problem(verdict))}'
            for verdict in found.verdicts
            if verdict.problem
        ),
    ):
        print(sentence(words, 500), file=sys.stderr)
