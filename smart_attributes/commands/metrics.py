"""metrics: print or write the numbers and states of drives for Prometheus."""
from __future__ import annotations

import sys
import time

from ..check.survey import Survey, survey
from ..command_line.options import OK, UNKNOWN, MetricsOptions, Options
from ..model import State, worst
from ..reading.processes import Runner
from ..words import coded, problem, sentence
from .check import whole
from .dependence import with_groups


def run(options: Options, runner: Runner) -> int:
    """Print or write the metrics; return 0 if at least one drive answered or is in standby, else 3."""
    from ..output import metrics, output_file
    own: MetricsOptions = options.own
    found = with_groups(survey(options, runner, metrics.library))
    told = metrics.Run(tuple(map(found.history.told, found.verdicts)), _state_of_the_run(found), time.time(),
                       options.naming.hide_serial, found.machine.groups if found.machine else ())
    text = metrics.text(metrics.metrics(told, found.judge.database.metrics), own.openmetrics)
    if own.output:
        output_file.write(text, own.output)
    else:
        print(text, end='')
    _complain(found)
    runner.later.append(lambda: found.history.keep(found.verdicts))
    return OK if any(not verdict.problem or verdict.state is State.OK for verdict in found.verdicts) else UNKNOWN


def _state_of_the_run(found: Survey) -> State:
    """Return the worst state of the messages about the run as a whole."""
    from ..output import plugin
    return worst([*plugin.states(whole(found)), *([] if found.verdicts else [found.nobody[0]])])


def _complain(found: Survey) -> None:
    """Print the problems of the run to stderr, which a journal stores, since the metrics contain only numbers."""
    said = whole(found)
    for words in (*map(coded, (*said.failures, *said.faults, *(words for _, words in said.demands))), *said.remarks,
                  *(() if found.verdicts else [coded(found.nobody[1])]),
                  *(f'{verdict.device.name} {coded(problem(verdict))}' for verdict in found.verdicts
                    if verdict.problem)):
        print(sentence(words, 500), file=sys.stderr)
