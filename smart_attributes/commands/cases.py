"""The drives of a run as the outputs show them: each verdict with its forecasts, with what depends
on the drive, and with the action.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from ..check import fence
from ..check.survey import Survey
from ..errors import Coded, UsageError
from ..model import Case, Device, Item, Located, Outlook, Place, State, Use, Verdict
from ..shown import shown
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..command_line.options import Options
    from ..redundancy.dependence import Examined, Other
    from ..redundancy.replacement import Machine

    Outlooks = Mapping[Device, Outlook]

UNKNOWN_FUTURE = Outlook()


class Overview(NamedTuple):
    """A survey, with its drives as the outputs show them."""

    survey: Survey
    cases: tuple[Case, ...]
    notes: tuple[Coded, ...]
    remarks: tuple[Coded, ...]
    # groups on the drives and order of replacement, if read
    machine: Machine | None = None

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts on the drives."""
        return tuple(case.verdict for case in self.cases)


def of_alerts(survey: Survey, options: Options) -> Overview:
    """Return the drives of a check: those that alert with the groups on them."""
    if not any(verdict.state for verdict in survey.verdicts):
        return without_groups(survey, options)
    from ..check import forecasts
    from ..reading.system import former_place

    def outlook(verdict: Verdict) -> Outlook:
        past = survey.history.past(verdict.device)
        return Outlook(forecasts.forecasts(verdict, past))

    # A check locates a drive only by its address.
    located, outlooks = _foreseen(
        survey.verdicts,
        outlook,
        place=lambda verdict: former_place(verdict.device),
        only_alerting=True,
    )
    return _with_groups(survey, located, outlooks, options)


def of_alerts_in_haste(survey: Survey, options: Options, why: str) -> Overview:
    """Return the drives of a check if no time is left to read groups. why: the reason."""
    if not any(verdict.state for verdict in survey.verdicts):
        return without_groups(survey, options)
    from ..redundancy import in_time
    from ..redundancy.dependence import unexamined
    from ..work.work_list import drives

    now = time.time()
    located = [Located(verdict) for verdict in survey.verdicts]
    examined = unexamined(
        located, lambda placed: drives(placed, now), in_time.unread(why)
    )
    return _overview(survey, examined, _not_foreseen(survey.verdicts), options)


def with_history(
    survey: Survey,
    options: Options,
    place: Callable[[Verdict], Place] = lambda verdict: Place(),
    asked: Sequence[str] = (),
) -> Overview:
    """Return the drives with their forecasts and groups.

    place: locates a drive, for a person who has to find it. asked: the programs to run for the
    state of groups, from redundancy.dependence.PROGRAMS.
    """
    from ..check import history_answers

    located, outlooks = _foreseen(
        survey.verdicts,
        lambda verdict: history_answers.outlook(survey.history, verdict),
        place,
    )
    return _with_groups(survey, located, outlooks, options, asked)


def place_of(verdict: Verdict) -> Place:
    """Return the location of a drive, also of a missing one."""
    from ..reading.system import former_place, place

    if verdict.is_missing:
        return former_place(verdict.device)
    return place(verdict.device)


def without_groups(survey: Survey, options: Options) -> Overview:
    """Return the drives of a check without the groups on them."""
    uses = [Use(verdict) for verdict in survey.verdicts]
    cases = _cases(survey, uses, _not_foreseen(survey.verdicts), options)
    return Overview(survey, cases, survey.notes, survey.remarks)


def _not_foreseen(verdicts: Sequence[Verdict]) -> Outlooks:
    """Return an empty outlook for each drive that alerts."""
    return {verdict.device: UNKNOWN_FUTURE for verdict in verdicts if verdict.state}


def _foreseen(
    verdicts: Sequence[Verdict],
    outlook: Callable[[Verdict], Outlook],
    place: Callable[[Verdict], Place],
    only_alerting: bool = False,
) -> tuple[list[Located], Outlooks]:
    """Return the drives with their places, and what the history tells about each.

    outlook, place: called with a verdict. If one of them raises an exception, or if no action can
    be decided, only this drive becomes UNKNOWN. only_alerting: drives that are OK have no place,
    and are left out of the second value.
    """
    located = []
    outlooks = {}
    for verdict in verdicts:
        if only_alerting and not verdict.state:
            located.append(Located(verdict))
            continue
        # After an exception, tried() returns an UNKNOWN verdict, and its last argument.
        verdict_compared, future = fence.tried(
            verdict, outlook, fence.UNCOMPARED, UNKNOWN_FUTURE
        )
        verdict_located, location = fence.tried(
            verdict_compared, place, 'cannot be located', Place()
        )
        # Later, one call decides what all drives need, to examine their groups. An exception there
        # would affect all drives, so here each drive is tested alone.
        verdict_tested = _with_tested_action(verdict_located, future)
        located.append(Located(verdict_tested, location))
        outlooks[verdict.device] = future
    return located, outlooks


def _with_tested_action(verdict: Verdict, outlook: Outlook) -> Verdict:
    """Return the verdict itself; an UNKNOWN verdict if no action for its drive can be decided."""
    use, _ = _decided(Use(verdict), outlook, time.time())
    return use.verdict


def _with_groups(
    survey: Survey,
    located: Sequence[Located],
    outlooks: Outlooks,
    options: Options,
    asked: Sequence[str] = (),
) -> Overview:
    """Return the drives with the groups that depend on each. outlooks: as for _cases()."""
    from ..redundancy import in_time
    from ..redundancy.dependence import examined
    from ..work.work_list import drives

    now = time.time()
    groups = examined(
        located,
        lambda placed: drives(placed, now, outlooks),
        read=lambda question: in_time.read(question, options.state_dir),
        others=lambda: drives_elsewhere(survey.history.states_elsewhere()),
        asked=asked,
    )
    return _overview(survey, groups, outlooks, options)


def _overview(
    survey: Survey, groups: Examined, outlooks: Outlooks, options: Options
) -> Overview:
    """Return the drives of a survey after their groups were examined."""
    return Overview(
        survey,
        _cases(survey, groups.uses, outlooks, options),
        notes=(*survey.notes, *groups.notes),
        remarks=(*survey.remarks, *groups.remarks),
        machine=groups.machine,
    )


def _cases(
    survey: Survey, uses: Sequence[Use], outlooks: Outlooks, options: Options
) -> tuple[Case, ...]:
    """Return the drives of a survey as the outputs show them.

    outlooks: no action is decided for a drive that is not in it.
    """
    now = time.time()
    hide_serial = options.naming.hide_serial
    cases = []
    for use, read in zip(uses, survey.reads):
        verdict = use.verdict
        outlook = outlooks.get(verdict.device)
        decided_use = action = None
        if outlook is not None:
            decided_use, action = _decided(use, outlook, now)
            verdict = decided_use.verdict
        seen = verdict.last_seen
        cases.append(
            Case(
                verdict,
                shown(verdict.identity, hide_serial),
                shown(seen, hide_serial) if seen else None,
                outlook or UNKNOWN_FUTURE,
                decided_use,
                action,
                read.transcript,
            )
        )
    return tuple(cases)


def _decided(use: Use, outlook: Outlook, now: float) -> tuple[Use, Item]:
    """Return a drive with its action; after an exception, an UNKNOWN drive without its groups.

    The action for such a drive does not depend on findings, groups or forecasts, one of which has
    caused the exception.
    """
    from ..work.work_list import item

    verdict, decided_item = fence.tried(
        use.verdict, lambda _: item(use, now, outlook), fence.UNDECIDED, None
    )
    if decided_item is not None:
        return use, decided_item
    unknown = Use(verdict, use.place)
    return unknown, item(unknown, now)


def unshown(case: Case, error: Exception) -> Case:
    """Return a drive that cannot be shown because of an exception."""
    from ..work.work_list import item

    use = Use(fence.failed(case.verdict, error, fence.UNSHOWN), case.place)
    return Case(use.verdict, case.shown, use=use, item=item(use, time.time()))


def drives_elsewhere(states: Sequence[tuple[str, State]]) -> list[Other]:
    """Return the drives of other runs. states: their addresses and last states, from the history."""
    from ..reading import addresses
    from ..redundancy.dependence import Other

    devices = []
    state_at = dict(states)
    for address in state_at:
        try:
            devices += addresses.parse(address)
        except UsageError:
            continue  # written by another user
    return [
        Other(device, state_at.get(device.address) is State.CRITICAL)
        for device in addresses.named(devices)
    ]
