"""The work list, which all outputs show: the action for each drive of a machine, with a date and a
reason. Pure.

The action is that of the drive's first finding in the order of severity; the groups on the drive
may change it. What the other findings need follows as "also". No other module chooses actions.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from ..constants import LONGEST_STATEMENT
from ..errors import DriveAsleep, ReadingHarms
from ..knowledge import severity
from ..knowledge.drive_logs import extended_self_test
from ..knowledge.severity import Alarm
from ..model import Further, Item, Outlook, Replacement, State, Use
from ..redundancy.replacement import (
    COPY,
    LABELS,
    LAST,
    NEXT,
    UNKNOWN,
    WAIT,
    Drive,
    Risk,
    grades,
    risk_of,
)
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import duration
from ..words import sentence
from . import actions
from .alerts import further_findings, headline, is_about_reading
from .dates import day, is_due, lasting, order_by
from .statements import findings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model import Case, Device, Judgement, Located, Verdict
    from ..redundancy.replacement import Machine, Step

# Problem codes of a drive that must be found before it can be read.
MISSING = frozenset(('no-such-device', 'empty-slot', 'too-few-drives', 'drive-missing'))

UNKNOWN_FUTURE = Outlook()
MIDDLE = 'expected date'
EARLIEST = 'earliest date'
OF_LABEL = {
    NEXT: actions.REPLACE,
    COPY: actions.COPY,
    UNKNOWN: actions.COPY,
    LAST: actions.KEEP,
    WAIT: actions.WAIT,
}
# For a drive that is itself good enough. Only one that a group has dropped is replaced or copied.
IDLE_OF_LABEL = {
    NEXT: actions.REJOIN,
    COPY: actions.COPY,
    UNKNOWN: actions.COPY,
    LAST: actions.KEEP,
}
IN_CLUSTER = {actions.REPLACE: actions.DRAIN, actions.ORDER_COPY: actions.ORDER}
# Code of a step -> text that names what is unknown about the drive.
NOT_KNOWN = {
    'redundancy-unknown': 'its redundancy is not known: copy the data first',
    'use-unknown': 'its use is not known: copy the data first',
    'redundancy-doubtful': 'it is uncertain whether other members hold its data',
    'members-not-checked': 'the state of other members is not known',
}


# Actions of which a finding can say more than their texts do.
_WITH_STEP = (actions.SEARCH, actions.READ, actions.FIRMWARE, actions.WATCH)


class Due(NamedTuple):
    """An action in words, and the date by which a replacement must be ordered."""

    to_do: str  # "order a replacement by 2027-03-04 (expected date)"
    # "2027-03-04", today if that date is past; None: no forecast
    order_by: str | None = None


class Need(NamedTuple):
    """An action that a finding needs, without the groups on the drive."""

    code: str
    kind: str = ''  # the kind of its text
    step: str = ''  # its text, if the action does not say what to do


def drives(
    located: Iterable[Located], now: float, outlooks: Mapping[Device, Outlook] = {}
) -> list[Drive]:
    """Return the drives with known block devices, most severe first, with the facts that affect
    their groups.

    now: seconds since 1970.
    """
    in_severity = sorted(located, key=lambda drive: severity.of_verdict(drive.verdict))
    drives = []
    for verdict, place in in_severity:
        if place.disks:
            is_unread = bool(verdict.problem) and verdict.state is not State.OK
            outlook = outlooks.get(verdict.device, UNKNOWN_FUTURE)
            needs = _own_needs(verdict, outlook, verdict.read_at(now))
            drives.append(
                Drive(
                    verdict.device.name,
                    frozenset(place.disks),
                    is_failing=verdict.state is State.CRITICAL or is_unread,
                    is_to_replace=_is_to_replace(needs),
                    bay=place.bay,
                )
            )
    return drives


def item(use: Use, now: float, outlook: Outlook = UNKNOWN_FUTURE) -> Item:
    """Return the action for a drive. now: seconds since 1970."""
    verdict = use.verdict
    step = use.replacement
    now = verdict.read_at(now)
    own_needs = _own_needs(verdict, outlook, now)
    needs = _with_groups(own_needs, step)
    dues = [_due(use, outlook, need, now) for need in needs]
    first, *others = [Further(need.code, due.to_do) for need, due in zip(needs, dues)]
    dates = [due.order_by for due in dues if due.order_by]
    if first.action in actions.REPLACING:
        dates = []  # a drive that is replaced now has no date by which to order
    again = [actions.action(need.code, need.kind).again for need in needs]
    why = _why(verdict, outlook, now)
    why_of_groups = step.why if step else ''
    is_unread = is_about_reading(verdict, own_needs[0].code)
    return Item(
        drive=verdict.device.name,
        state=verdict.state,
        action=first.action,
        to_do=first.to_do,
        order_by=min(dates, default=None),
        again=min(filter(None, again), default=0),
        reason=_reason(verdict, is_unread, why or why_of_groups, now),
        why='; '.join(filter(None, (why, why_of_groups))),
        place=use.place,
        unknown=_unknown(use, [need.code for need in needs]),
        step=step,
        also=tuple(others),
        more=further_findings(verdict),
        is_unread=is_unread,
    )


def _with_groups(own: Sequence[Need], step: Replacement | None) -> list[Need]:
    """Return what a drive needs, adjusted for the groups on it. own: without the groups."""
    if step is None:
        return [*own]
    first, *others = own

    def adjusted(need: Need) -> Need:
        return need._replace(code=in_its_groups(need.code, step.label, step.why.code))

    new_first = first
    # a drive that another need replaces is not a healthy member of its groups
    if first.code != actions.WATCH or not _is_to_replace(others):
        new_first = adjusted(first)
    if new_first.code == actions.KEEP and first.code == actions.REPLACE:
        new_first = new_first._replace(kind=actions.FAILING)
    replacing = (actions.REPLACE, actions.ORDER_COPY)
    new_others = [adjusted(need) if need.code in replacing else need for need in others]
    return [new_first, *new_others]


def rescue(verdict: Verdict) -> str:
    """Return the first action of a drive that needs a new drive or copies data, in words; ''
    if none of its actions does.
    """
    now = verdict.read_at(time.time())
    for need in _own_needs(verdict, UNKNOWN_FUTURE, now):
        needs_spare = actions.needs_spare(need.code, verdict.state)
        if needs_spare or actions.copies(need.code, need.kind):
            return _due(Use(verdict), UNKNOWN_FUTURE, need, now).to_do
    return ''


def _due(use: Use, outlook: Outlook, need: Need, now: float) -> Due:
    """Return an action of a drive in words, with its date."""
    step = use.replacement
    # the other labels mean that redundancy is missing or not known
    is_redundant = step is not None and step.label in (NEXT, WAIT)
    is_alerting_order = need.code == actions.ORDER and use.verdict.state is not State.OK
    forecasts = outlook.forecasts.values()
    # For a drive that is OK, or has redundancy, the middle date is early enough.
    if is_alerting_order and not is_redundant:
        which = EARLIEST
        left = [forecast.earliest for forecast in forecasts]
    else:
        which = MIDDLE
        left = [forecast.left for forecast in forecasts]
    general = due(need.code, left, now, need.kind, which)
    device = use.verdict.device
    if actions.needs_self_test(need.code, need.kind) and not device.is_recorded:
        return general._replace(to_do=f'{general.to_do} ({extended_self_test(device)})')
    if not need.step or need.code not in _WITH_STEP:
        return general
    copy = 'copy the data now, then ' if actions.copies(need.code, need.kind) else ''
    return general._replace(to_do=f'{copy}{need.step}')


def _reason(verdict: Verdict, is_unread: bool, otherwise: str, now: float) -> str:
    """Return the finding that needs the action. is_unread: that the drive was not read needs it.
    otherwise: the text for a drive that is OK.
    """
    if verdict.state is State.OK:
        return sentence(otherwise, LONGEST_STATEMENT)
    if not verdict.problem:
        return headline(verdict)
    if verdict.last is None:
        return sentence(verdict.problem, LONGEST_STATEMENT)
    worst = verdict.last.findings[0]
    last_finding = f'{worst.plain or worst.words} when last read'
    if not is_unread:
        seconds = max(int(now) - verdict.last.time, 0)
        return f'{last_finding} {duration(seconds)} ago'
    problem = sentence(verdict.problem, LONGEST_STATEMENT)
    # what is milder does not determine the state of a drive that is not read
    if worst.state is not State.CRITICAL:
        return problem
    return f'{problem}; {last_finding}'


def _is_to_replace(needs: Iterable[Need]) -> bool:
    return any(
        need.code in (actions.REPLACE, actions.ORDER, actions.ORDER_COPY)
        for need in needs
    )


def _own_needs(verdict: Verdict, outlook: Outlook, now: float) -> list[Need]:
    """Return what the drive's own findings need, without its groups, as of_alarms() does."""
    if verdict.problem and verdict.state is not State.OK:
        return _of_unread(verdict)
    alarms = [
        severity.alarm_of(judgement, verdict.risk) for judgement in verdict.alerts
    ]
    accepted = [
        _accepted(judgement)
        for judgement in verdict.judgements
        if judgement.acknowledged
    ]
    is_worn = is_due([forecast.left for forecast in outlook.forecasts.values()], now)
    return of_alarms(alarms, is_worn, accepted)


def _accepted(judgement: Judgement) -> Alarm:
    """Return an acknowledged finding as an alarm, in the state of its limits."""
    number = judgement.reading.number
    is_critical = number is not None and severity.is_beyond(judgement.critical, number)
    state = State.CRITICAL if is_critical else State.WARNING
    return severity.alarm_of(judgement._replace(state=state), None)


def _of_unread(verdict: Verdict) -> list[Need]:
    """Return what a drive needs that was not read: for its last CRITICAL findings, then for the
    reason why it was not read, then for its other last findings.
    """
    code = of_problem(verdict.code)
    kind = severity.DATA if code == actions.FIRMWARE else ''
    to_read = Need(code, kind, verdict.step)
    if code == actions.SEARCH:  # until it is found, it needs nothing else
        return [to_read]
    findings = verdict.last.findings if verdict.last else ()
    alarms = [
        Alarm(finding.remedy, finding.concern, finding.state) for finding in findings
    ]
    needs = [_need(alarm) for alarm in alarms if alarm.state is State.CRITICAL]
    is_read_later = findings and verdict.code == DriveAsleep.code
    if not is_read_later:
        needs.append(to_read)
    needs += [_need(alarm) for alarm in alarms if alarm.state is not State.CRITICAL]
    # whether the drive is sound now is not known
    return _parted(needs, is_unsound=True)


def of_problem(code: str) -> str:
    """Return the action for a drive that could not be read. code: the reason."""
    if code == ReadingHarms.code:
        return actions.FIRMWARE
    return actions.SEARCH if code in MISSING else actions.READ


def of_unknown(state: State) -> str:
    """Return the action for a drive whose document does not state an action that this version
    knows.
    """
    return actions.NOTHING if state is State.OK else actions.READ


def of_alarms(
    alarms: Sequence[Alarm], is_worn: bool, accepted: Sequence[Alarm] = ()
) -> list[Need]:
    """Return the action of the first alert and, after it, what else the alerts need, most urgent
    first.

    alarms: in order of severity. is_worn: a forecast requires an order now. accepted: acknowledged
    findings, which need nothing, but leave the drive as unsound as it is.
    """
    needs = [_need(alarm) for alarm in alarms]
    if is_worn:
        needs.append(Need(actions.ORDER))
    is_unsound = any(_is_unsound(alarm) for alarm in (*alarms, *accepted))
    return _parted(needs, is_unsound)


def _is_unsound(alarm: Alarm) -> bool:
    """Return whether the data of a drive with this finding is copied before its firmware is
    updated.
    """
    if alarm.concern == severity.WEAR:
        return alarm.state is State.CRITICAL
    concerns = (severity.HEALTH, severity.DATA, 'protection', severity.ERRORS)
    return alarm.concern in concerns and alarm.remedy != actions.CABLE


def _need(alarm: Alarm) -> Need:
    return Need(severity.action(alarm), alarm.concern, alarm.step)


def _parted(needs: Sequence[Need], is_unsound: bool) -> list[Need]:
    """Return the first of these needs and, after it, the others that no other need includes, most
    urgent first, each action once. The firmware of an unsound drive is updated after the data was copied.
    """
    by_code: dict[str, Need] = {}
    for need in needs or [Need(actions.NOTHING)]:
        by_code.setdefault(need.code, need)
    if is_unsound and actions.FIRMWARE in by_code:
        firmware = by_code[actions.FIRMWARE]
        by_code[actions.FIRMWARE] = firmware._replace(kind=severity.DATA)

    def is_part_of_another(need: Need) -> bool:
        codes = [code for code in by_code if code != need.code]
        return any(actions.is_included(need.code, need.kind, code) for code in codes)

    first, *others = by_code.values()
    left = [need for need in others if not is_part_of_another(need)]
    return [first, *sorted(left, key=lambda need: actions.urgency(need.code))]


def in_its_groups(code: str, label: str, reason: str) -> str:
    """Return the action for a drive, adjusted for the groups on it. label, reason: codes from
    Replacement.
    """
    if reason == 'leave-cluster':  # the cluster copies the data itself
        return IN_CLUSTER.get(code, code)
    if code == actions.REPLACE:
        return OF_LABEL[label]
    if code not in (actions.NOTHING, actions.WATCH):
        return code
    # not by label: a healthy member of an array in rebuild has label WAIT, too
    if reason == 'copy-other-first':
        return actions.WAIT
    return IDLE_OF_LABEL.get(label, code)


def due(
    code: str, left: Sequence[float], now: float, kind: str = '', which: str = MIDDLE
) -> Due:
    """Return an action in words, with the date by which to order a replacement.

    left: seconds until wear-out, for each forecast of the drive. which: text that names the
    forecast's date in use.
    """
    words = actions.action(code, kind).words
    if code in actions.REPLACING:
        return Due(words)
    by = now if code == actions.ORDER_COPY else order_by(left, now)
    if by is None:
        return Due(words)
    if code != actions.ORDER:
        return Due(words, day(by))
    when = f'by {day(by)} ({which})' if by > now else 'now'
    return Due(f'{words} {when}', day(by))


def _why(verdict: Verdict, outlook: Outlook, now: float) -> str:
    """Return all findings of a drive that is not OK, or the forecasts that require an order now."""
    if verdict.state is not State.OK:
        return findings(verdict)
    return '; '.join(
        lasting(metric, forecast, now)
        for metric, forecast in outlook.forecasts.items()
        if is_due([forecast.left], now)
    )


def _unknown(use: Use, codes: Iterable[str]) -> str:
    """Return the missing facts about a drive to replace; '' if enough is known. codes: all its
    actions.
    """
    replacing = {*actions.REPLACING, actions.ORDER, actions.ORDER_COPY}
    if replacing.isdisjoint(codes) or use.verdict.device.is_recorded:
        return ''
    if use.replacement is None:
        return '' if use.place.disks else NOT_KNOWN['use-unknown']
    return NOT_KNOWN.get(use.replacement.why.code, '')


def _unread(step: Step) -> Item:
    """Return an item for a disk that this run did not read."""
    code = in_its_groups(actions.NOTHING, step.label, step.why.code)
    return Item(
        step.drive.name,
        State.UNKNOWN,
        code,
        actions.action(code).words,
        None,
        0,
        sentence(step.why, LONGEST_STATEMENT),
        step.why,
        unknown='this run did not read it',
        step=Replacement(step.label, step.why),
    )


# --- the order of a machine -----------------------------------------------------------------------


def in_order(cases: Sequence[Case], machine: Machine | None = None) -> list[Item]:
    """Return the items of all drives, and of disks that this run did not read, most urgent first.

    Groups that lose data at the next failure come first; the drives of a group are adjacent,
    ordered by action.
    """
    verdicts = [case.verdict for case in cases]
    items = [case.todo for case in severity.worst_first(cases)]
    names = {item.drive for item in items}
    steps = machine.steps if machine else ()
    items += [_unread(step) for step in steps if step.drive.name not in names]
    # (risk, place) by group
    ranks = grades(machine, verdicts) if machine else {}
    groups_on = {step.drive.name: step.groups for step in steps}

    def order(item: Item) -> tuple[int, ...]:
        """Return the place of an item: first drives to replace, by the risk of their groups; then
        the others, by their most urgent action.
        """
        if item.action not in actions.REPLACING:
            codes = [item.action, *(further.action for further in item.also)]
            return 1, min(map(actions.urgency, codes))
        risk = Risk.UNSURE
        label = 0
        if item.step:
            risk = risk_of(item.step.why.code)
            label = LABELS.index(item.step.label)
        groups = groups_on.get(item.drive, ())
        if not groups:
            return 0, risk, len(ranks), label  # after all groups
        group_risk, place = min(ranks[group] for group in groups)
        # a drive whose reason is worse than its group's state comes before the group
        return 0, min(group_risk, risk), place, label

    return sorted(items, key=order)
