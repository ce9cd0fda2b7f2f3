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
    from ..redundancy.replacement import Drive


def run(options: Options, runner: Runner) -> int:
    """Print the result for a monitoring daemon; return the state as the exit status."""
    result = survey(options, runner, _load_plugin)
    if any(verdict.state for verdict in result.verdicts):  # without an alert, no group is read
        with suppress(alarm.TimeIsOver):  # all drives are judged: the groups are optional
            result = with_groups(result, only_alerting=True)

    def show(found: Survey) -> Outcome:
        return rendered(found, options, options.own)

    # all drives are judged: only the output is left
    outcome, _ = alarm.twice(lambda _: fence.shown(result, show))
    print(outcome.text, end='')
    runner.later.append(lambda: result.history.keep(result.verdicts))
    return int(outcome.state)


def with_groups(result: Survey, only_alerting: bool = False, asked: Sequence[str] = ()) -> Survey:
    """Return a survey whose verdicts show which groups depend on each drive, and whether the drive
    may be replaced.

    only_alerting: read only the groups on drives that alert. asked: as in
    redundancy.dependence.PROGRAMS.
    """
    from ..check import forecasts
    from ..redundancy.dependence import examined
    from ..work.work_list import drives, item, with_item

    now = time.time()

    def decided(verdict: Verdict) -> Verdict:
        if only_alerting and not verdict.state:
            return verdict
        if only_alerting:
            past = result.history.past(verdict.device)
            verdict = verdict._replace(forecasts=forecasts.forecasts(verdict, past))
        item(verdict, now)  # an error here affects only this drive; later, it would affect all
        return verdict

    found = examined(
        fence.each(result.verdicts, decided, fence.UNDECIDED),
        lambda verdicts: with_others(drives(verdicts, now), result.history.others()),
        only_alerting,
        asked,
    )
    verdicts = fence.each(
        found.verdicts,
        lambda verdict: with_item(verdict, now, only_alerting),
        fence.UNDECIDED,
    )
    return result._replace(
        verdicts=verdicts,
        machine=found.machine,
        notes=(*result.notes, *found.notes),
        remarks=(*result.remarks, *found.remarks),
    )


def with_others(read: Sequence[Drive], others: Sequence[tuple[str, State]]) -> list[Drive]:
    """Return the drives of this run and of other runs. others: addresses and last states, from
    the history.
    """
    from ..reading import addresses
    from ..redundancy.dependence import disks
    from ..redundancy.replacement import Drive

    known = {disk for drive in read for disk in drive.disks}
    found = list(read)
    devices, states = [], dict(others)
    for address in states:
        with suppress(UsageError):  # written by another user
            devices += addresses.parse(address)
    for device in addresses.named(devices):
        own, is_failing = (
            frozenset(disks(device)) - known,
            states.get(device.address) is State.CRITICAL,
        )
        if own:
            known |= own
            found.append(Drive(device.name, own, is_failing, is_failing))
    return found


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
        found.failures, found.faults, found.demands, found.remarks, notes, found.nobody
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
