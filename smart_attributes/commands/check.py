"""check: print the verdicts as a plugin of a monitoring daemon."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

from .. import alarm
from ..check import fence
from ..check.survey import Survey, survey
from ..command_line.options import CheckOptions, Options
from ..errors import Coded, UsageError
from ..model import State, Verdict
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from ..output.plugin import Outcome, Whole
    from ..redundancy.dependence import Examined, Other


class _Stages:
    """The results of a check so far. Its time can end at any point, also between two stages."""

    judged: Survey | None = None
    whole: Survey | None = None  # with the groups on drives that alert

    def keep_judged(self, judged: Survey) -> None:
        """Store the verdicts on the drives."""
        self.judged = judged


def run(options: Options, runner: Runner) -> int:
    """Print the result for a monitoring daemon; return the state as the exit status."""
    stages = _Stages()
    try:
        judged = survey(options, runner, _load_plugin, done=stages.keep_judged)
        stages.whole = _with_groups_of_alerts(judged, options)
        return _finish(stages.whole, options, runner)
    except alarm.TimeIsOver as over:
        if stages.judged is None:
            raise
        result = stages.whole or _without_groups(stages.judged, str(over))
        return _finish(result, options, runner)


def _finish(result: Survey, options: Options, runner: Runner) -> int:
    """Print the result; return the state. All drives are judged, so only the output is left."""
    runner.later = [lambda: result.history.keep(result.verdicts)]
    outcome, _shown = fence.shown(result, lambda found: rendered(found, options, options.own))
    runner.conclude(outcome.text, int(outcome.state))
    return int(outcome.state)


def _with_groups_of_alerts(judged: Survey, options: Options) -> Survey:
    """Return the survey with the groups on drives that alert; without an alert, no group is read."""
    if any(verdict.state for verdict in judged.verdicts):
        return with_groups(judged, options, only_alerting=True)
    return judged


def _without_groups(judged: Survey, late: str) -> Survey:
    """Return the survey as it is if no time is left to read groups. late: why."""
    if not any(verdict.state for verdict in judged.verdicts):
        return judged
    from ..redundancy import in_time
    from ..redundancy.dependence import unexamined
    from ..work.work_list import drives

    now = time.time()
    examined = unexamined(
        judged.verdicts, lambda verdicts: drives(verdicts, now), in_time.unread(late)
    )
    return _with(judged, examined)


def with_groups(
    result: Survey, options: Options, only_alerting: bool = False, asked: Sequence[str] = ()
) -> Survey:
    """Return a survey whose verdicts show which groups depend on each drive, and whether the drive
    may be replaced.

    only_alerting: read only the groups on drives that alert. asked: as in
    redundancy.dependence.PROGRAMS.
    """
    from ..check import forecasts
    from ..reading.system import former_place
    from ..redundancy import in_time
    from ..redundancy.dependence import examined
    from ..work.work_list import drives, item, with_item

    now = time.time()

    def decided(verdict: Verdict) -> Verdict:
        if only_alerting and not verdict.state:
            return verdict
        if only_alerting:
            past = result.history.past(verdict.device)
            place = former_place(verdict.device)  # what the address alone tells
            verdict = verdict._replace(forecasts=forecasts.forecasts(verdict, past), place=place)
        item(verdict, now)  # an error here affects only this drive; later, it would affect all
        return verdict

    found = examined(
        fence.each(result.verdicts, decided, fence.UNDECIDED),
        lambda verdicts: drives(verdicts, now),
        only_alerting,
        asked,
        others=lambda: others(result.history.others()),
        read=lambda question: in_time.read(question, options.state_dir),
    )
    verdicts = fence.each(
        found.verdicts,
        lambda verdict: with_item(verdict, now, only_alerting),
        fence.UNDECIDED,
    )
    return _with(result, found._replace(verdicts=verdicts))


def _with(result: Survey, found: Examined) -> Survey:
    """Return the survey with its verdicts and messages after the groups were examined."""
    return result._replace(
        verdicts=found.verdicts,
        machine=found.machine,
        notes=(*result.notes, *found.notes),
        remarks=(*result.remarks, *found.remarks),
    )


def others(states: Sequence[tuple[str, State]]) -> list[Other]:
    """Return the drives of other runs. states: their addresses and last states, from the history."""
    from ..reading import addresses
    from ..redundancy.dependence import Other

    devices, state_at = [], dict(states)
    for address in state_at:
        with suppress(UsageError):  # written by another user
            devices += addresses.parse(address)
    return [
        Other(device, state_at.get(device.address) is State.CRITICAL)
        for device in addresses.named(devices)
    ]


def rendered(result: Survey, options: Options, own: CheckOptions) -> Outcome:
    """Return the output and the state of a check."""
    from ..output import plugin

    face = plugin.Face(
        options.verbose, options.naming.hide_serial, own.all_perfdata, own.max_output
    )
    transcript = _transcript(result, options.naming.hide_serial) if options.verbose >= 3 else []
    return plugin.render(
        result.verdicts, result.judge.database.metrics, face, whole(result), transcript
    )


def whole(found: Survey) -> Whole:
    """Return a survey's messages about the run as a whole."""
    from ..output import plugin

    notes = [
        *found.notes,
        Coded('database-date', f'attributes.json of {found.judge.database.date}'),
    ]
    return plugin.Whole(
        found.failures,
        found.faults,
        found.demands,
        found.remarks,
        '; '.join(found.left_out),
        notes,
        found.nobody,
    )


def _load_plugin() -> None:
    from ..output import plugin  # noqa: F401  needed only when the drives have answered
    from ..reading import json_report  # noqa: F401  needed only when the drives have answered


def _transcript(result: Survey, hide_serial: bool) -> list[str]:
    from ..reading.content import nameless
    from ..words import sentence

    shown = nameless if hide_serial else str
    return [
        f'  {read.device.name}: {sentence(line, 500)}'
        for read in result.reads
        for line in shown(read.transcript).splitlines()
    ]
