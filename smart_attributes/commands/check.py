"""check: print the verdicts as a plugin of a monitoring daemon."""

from __future__ import annotations

from collections.abc import Sequence

from .. import alarm
from ..check import fence
from ..check.survey import Survey, survey
from ..command_line.options import CheckOptions, Options
from ..errors import Coded
from ..model import Case
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING
from . import cases
from .cases import Overview

if TYPE_CHECKING:
    from ..output.plugin import Outcome, Whole


def run(options: Options, runner: Runner) -> int:
    """Print the result for a monitoring daemon; return the state as the exit status.

    What happens if the time is over depends on what exists by then:

    - no survey: TimeIsOver is raised, and nothing is printed
    - a survey: its drives are printed without their groups
    - the overview: it is printed
    """
    # survey() passes its result to done() just before it returns the same result. If the time ends
    # between the two, only this list has the result.
    surveys: list[Survey] = []
    overview: Overview | None = None
    try:
        surveyed = survey(options, runner, _load_plugin, done=surveys.append)
        overview = cases.of_alerts(surveyed, options)
        return _finish(overview, options, runner)
    except alarm.TimeIsOver as over:
        if not surveys:
            raise
        if overview is None:
            # If the time ended in done(), survey() has made a second survey, which counts.
            overview = cases.of_alerts_in_haste(surveys[-1], options, str(over))
        # Nothing has been printed yet: TimeIsOver is not raised after the output has begun, see
        # alarm.conclude().
        return _finish(overview, options, runner)


def _finish(result: Overview, options: Options, runner: Runner) -> int:
    """Print the result, and let the caller store the readings afterwards; return the state."""
    # work for after the output, see main
    runner.later = [lambda: result.survey.history.keep(result.verdicts)]
    outcome, _ = fence.shown(
        result.cases,
        lambda drives: rendered(drives, result, options, options.own),
        cases.unshown,
    )
    status = int(outcome.state)
    runner.conclude(outcome.text, status)
    return status


def rendered(
    drives: Sequence[Case], result: Overview, options: Options, own: CheckOptions
) -> Outcome:
    """Return the output and the state of a check. drives: those to show."""
    from ..output import plugin

    face = plugin.Face(options.verbose, own.all_perfdata, own.max_output)
    transcript = _transcript(drives) if options.verbose >= 3 else []
    metrics = result.survey.judge.database.metrics
    return plugin.render(drives, metrics, face, whole(result), transcript)


def whole(result: Overview) -> Whole:
    """Return the messages about the run as a whole."""
    from ..output import plugin

    surveyed = result.survey
    database = Coded(
        'database-date', f'attributes.json of {surveyed.judge.database.date}'
    )
    return plugin.Whole(
        failures=surveyed.failures,
        faults=surveyed.faults,
        demands=surveyed.demands,
        remarks=result.remarks,
        left_out='; '.join(surveyed.left_out),
        notes=[*result.notes, database],
        nobody=surveyed.nobody,
    )


def _load_plugin() -> None:
    from ..output import plugin  # noqa: F401  needed only when the drives have answered
    from ..reading import json_report  # noqa: F401  needed only when the drives have answered


def _transcript(drives: Sequence[Case]) -> list[str]:
    """Return smartctl's calls and output, without serial numbers if these are hidden."""
    from ..reading.content import nameless
    from ..words import sentence

    lines = []
    for drive in drives:
        text = drive.transcript
        if drive.shown.serial is None:
            text = nameless(text)
        name = drive.verdict.device.name
        lines += [f'  {name}: {sentence(line, 500)}' for line in text.splitlines()]
    return lines
