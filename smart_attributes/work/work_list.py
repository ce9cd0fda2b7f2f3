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
from .alerts import headline, is_about_reading
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
# Label of a drive to replace -> its action.
OF_FAILING = {
    NEXT: actions.REPLACE,
    COPY: actions.COPY,
    UNKNOWN: actions.COPY,
    LAST: actions.KEEP,
    WAIT: actions.WAIT,
}
# Label of a drive that is itself good enough -> its action. It has a label because a group has
# dropped it or, with LAST, needs it. With WAIT, its group is being rebuilt, and it needs nothing.
OF_HEALTHY = {
    NEXT: actions.REJOIN,
    COPY: actions.COPY,
    UNKNOWN: actions.COPY,
    LAST: actions.KEEP,
}
IN_CLUSTER = {actions.REPLACE: actions.DRAIN, actions.ORDER_COPY: actions.ORDER}
# Code of a step -> text that names what is unknown about the drive.
NOT_KNOWN = {
    'redundancy-unknown': 'its redundancy is not known: copy the data first',
    'use-unknown': 'it is not known what uses this drive: copy the data first',
    'redundancy-doubtful': 'it is uncertain whether other members hold its data',
    'members-not-checked': 'the state of other members is not known',
}


# Actions of which a finding can say more than their texts do.
_WITH_OWN_WORDS = (*actions.ABOUT_READING, actions.FIRMWARE, actions.WATCH)


class Due(NamedTuple):
    """An action in words, and the date by which a replacement must be ordered."""

    to_do: str  # "order a replacement by 2027-03-04 (expected date)"
    # "2027-03-04", today if that date is past; None: no forecast
    order_by: str | None = None


class Need(NamedTuple):
    """An action that a finding needs, without the groups on the drive."""

    code: str
    kind: str = ''  # the kind of its text, as in actions.action()
    own_words: str = ''  # its text, if the finding says more than the action


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
    replacement = use.replacement
    read_at = verdict.read_at(now)
    # the most urgent one is first
    own_needs = _own_needs(verdict, outlook, read_at)
    needs = _with_groups(own_needs, replacement)
    dues = [_due(use, outlook, need, read_at) for need in needs]
    first, *others = [Further(need.code, due.to_do) for need, due in zip(needs, dues)]
    # A drive that is replaced now has no date by which to order.
    is_replaced_now = first.action in actions.REPLACING
    dates = [due.order_by for due in dues if due.order_by and not is_replaced_now]
    again = [actions.action(need.code, need.kind).again for need in needs]
    own_why = _why(verdict, outlook, read_at)
    why_of_groups = replacement.why if replacement else ''
    is_unread = is_about_reading(verdict, own_needs[0].code)
    return Item(
        drive=verdict.device.name,
        state=verdict.state,
        action=first.action,
        to_do=first.to_do,
        order_by=min(dates, default=None),
        again=min(filter(None, again), default=0),
        reason=_reason(verdict, is_unread, own_why or why_of_groups, read_at),
        why='; '.join(filter(None, (own_why, why_of_groups))),
        place=use.place,
        unknown=_unknown(use, [need.code for need in needs]),
        step=replacement,
        also=tuple(others),
        is_unread=is_unread,
    )


def _with_groups(own: Sequence[Need], replacement: Replacement | None) -> list[Need]:
    """Return what a drive needs, adjusted for the groups on it by in_its_groups(). own: without the
    groups, most urgent first. replacement: None if no group affects the drive; then its own needs
    are returned.

    WATCH of a healthy member can become another action, such as KEEP. A member is healthy if WATCH
    is its first need, and it is not to be replaced. Otherwise, WATCH stays WATCH.
    """
    if replacement is None:
        return [*own]
    is_healthy = own[0].code == actions.WATCH and not _is_to_replace(own)
    needs = []
    for need in own:
        if need.code == actions.WATCH and not is_healthy:
            needs.append(need)
            continue
        code = in_its_groups(need.code, replacement.label, replacement.why.code)
        kind = need.kind
        if need.code == actions.REPLACE and code == actions.KEEP:
            kind = actions.FAILING  # "copy the data now, and do not pull the drive"
        needs.append(need._replace(code=code, kind=kind))
    return needs


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
    """Return an action of a drive in words, with its date. The words are the first of these: those
    of a self-test with its command; those of the finding, if it has own words for such an action;
    the words of the action.
    """
    replacement = use.replacement
    # the other labels mean that redundancy is missing or not known
    is_redundant = replacement is not None and replacement.label in (NEXT, WAIT)
    is_alerting_order = need.code == actions.ORDER and use.verdict.state is not State.OK
    forecasts = outlook.forecasts.values()
    if is_alerting_order and not is_redundant:
        # It is not certain that another drive has the data, so the middle date may be too late.
        which = EARLIEST
        left = [forecast.earliest for forecast in forecasts]
    else:
        which = MIDDLE
        left = [forecast.left for forecast in forecasts]
    device = use.verdict.device
    code = need.code
    if device.is_recorded and code == actions.REPLACE:
        code = actions.COPY  # in words only: what lies on a recorded drive is not known
    general = due(code, left, now, need.kind, which)
    if actions.needs_self_test(need.code, need.kind) and not device.is_recorded:
        return general._replace(to_do=f'{general.to_do} ({extended_self_test(device)})')
    if not need.own_words or need.code not in _WITH_OWN_WORDS:
        return general
    copy = 'copy the data now, then ' if actions.copies(need.code, need.kind) else ''
    return general._replace(to_do=f'{copy}{need.own_words}')


def _reason(
    verdict: Verdict, problem_is_reason: bool, otherwise: str, now: float
) -> str:
    """Return the reason for the action of a drive, the first that applies:

    - it is OK: *otherwise*
    - it was read: "576 reallocated sectors (warning above 40)"
    - it was not read, and no finding of an earlier check counts: "cannot be opened"
    - its last findings need the action: "9 pending sectors when last read 2 h ago"
    - it must be found or read, and its worst last finding is CRITICAL: "cannot be opened; 9 pending
      sectors when last read"
    - it must be found or read: "cannot be opened"

    problem_is_reason: a drive that was not read needs the action for that reason, and not for its
    last findings; see is_about_reading(). now: seconds since 1970.
    """
    if verdict.state is State.OK:
        return sentence(otherwise, LONGEST_STATEMENT)
    if not verdict.problem:
        return headline(verdict)
    problem = sentence(verdict.problem, LONGEST_STATEMENT)
    if verdict.last is None:
        return problem
    # Verdict.last is set only if it has findings.
    if not problem_is_reason:
        return f'{verdict.last.headline} {duration(max(int(now) - verdict.last.time, 0))} ago'
    # only a CRITICAL finding is worse than that the drive was not read
    if verdict.last.state is State.CRITICAL:
        return f'{problem}; {verdict.last.headline}'
    return problem


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

    A missing drive has to be found and, if it failed before, replaced. If a drive in standby has
    last findings, only these count.
    """
    code = of_problem(verdict.code)
    step = verdict.step
    findings = verdict.last.findings if verdict.last else ()
    alarms = [
        Alarm(finding.remedy, finding.concern, finding.state) for finding in findings
    ]
    needs = [_need(alarm) for alarm in alarms if alarm.state is State.CRITICAL]
    if code == actions.SEARCH:
        if step and _is_to_replace(needs):
            code = actions.ORDER_SEARCH
            step = f'{actions.action(actions.ORDER).words}, {step}'
        return [Need(code, own_words=step)]
    is_asleep = verdict.code == DriveAsleep.code
    # A later check will read a drive in standby, so its last findings are enough. Without findings,
    # standby is the only reason why it is not OK.
    if not (is_asleep and findings):
        needs.append(Need(code, own_words=step))
    needs += [_need(alarm) for alarm in alarms if alarm.state is not State.CRITICAL]
    # a drive that is not read may be unsound
    return _without_included(needs, is_unsound=True)


def of_problem(code: str) -> str:
    """Return the action for a drive that could not be read. code: the reason."""
    if code == ReadingHarms.code:
        return actions.FIRMWARE
    return actions.SEARCH if code in MISSING else actions.READ


def of_alarms(
    alarms: Sequence[Alarm], is_worn: bool, accepted: Sequence[Alarm]
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
    return _without_included(needs, is_unsound)


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


def _without_included(needs: Sequence[Need], is_unsound: bool) -> list[Need]:
    """Return the first of these needs, then the others that no other one includes, most urgent
    first, each action once; without needs, only the action NOTHING.

    is_unsound: the data of the drive is in danger, so it is copied before a firmware update.
    """
    by_code: dict[str, Need] = {}
    for need in needs or [Need(actions.NOTHING)]:
        by_code.setdefault(need.code, need)
    if is_unsound and actions.FIRMWARE in by_code:
        # the text of this kind starts with "copy the data"
        firmware = by_code[actions.FIRMWARE]
        by_code[actions.FIRMWARE] = firmware._replace(kind=severity.DATA)

    def is_part_of_another(need: Need) -> bool:
        return any(
            actions.is_included(need.code, need.kind, code)
            for code in by_code
            if code != need.code
        )

    first, *others = by_code.values()
    left = [need for need in others if not is_part_of_another(need)]
    return [first, *sorted(left, key=lambda need: actions.urgency(need.code))]


def in_its_groups(code: str, label: str, reason: str) -> str:
    """Return the action for a drive, adjusted for the groups on it. code: its own action; NOTHING or
    WATCH if it is healthy. label, reason: codes from Replacement.
    """
    if reason == 'leave-cluster':  # the cluster copies the data itself
        return IN_CLUSTER.get(code, code)
    if code == actions.REPLACE:
        return OF_FAILING[label]
    if code not in (actions.NOTHING, actions.WATCH):
        return code
    # a group has dropped this drive, and its other drives are failing
    if reason == 'copy-other-first':
        return actions.WAIT
    return OF_HEALTHY.get(label, code)


def due(
    code: str, left: Sequence[float], now: float, kind: str = '', which: str = MIDDLE
) -> Due:
    """Return an action in words, with the date by which to order a replacement.

    - an action of REPLACING: no date
    - ORDER_COPY: the present date
    - ORDER: the date by order_by(), also in the words; no date if order_by() returns None
    - any other action: the same date, but not in the words

    left: seconds until wear-out, for each forecast of the drive. which: text that names the
    forecast's date in use.
    """
    words = actions.action(code, kind).words
    if code in actions.REPLACING:
        return Due(words)
    if code == actions.ORDER_COPY:
        return Due(words, day(now))
    by = order_by(left, now)
    if by is None:
        return Due(words)
    if code == actions.ORDER:
        when = f'by {day(by)} ({which})' if by > now else 'now'
        return Due(f'{words} {when}', day(by))
    return Due(words, day(by))


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
    if use.replacement:
        return NOT_KNOWN.get(use.replacement.why.code, '')
    # If the disks of a drive are known, its groups were examined, and none affects it.
    if use.place.disks:
        return ''
    return NOT_KNOWN['use-unknown']


def _unread(step: Step) -> Item:
    """Return an item for a disk that this run did not read."""
    code = in_its_groups(actions.NOTHING, step.label, step.why.code)
    return Item(
        drive=step.drive.name,
        state=State.UNKNOWN,
        action=code,
        to_do=actions.action(code).words,
        order_by=None,
        again=0,
        reason=sentence(step.why, LONGEST_STATEMENT),
        why=step.why,
        unknown='this run did not read it',
        step=Replacement(step.label, step.why),
    )


# --- the order of a machine -----------------------------------------------------------------------


def in_order(cases: Sequence[Case], machine: Machine | None = None) -> list[Item]:
    """Return the items of all drives, and of disks that this run did not read, most urgent first.

    Drives to replace come first, those whose groups have the least redundancy at the top; then the
    others, by their most urgent action.
    """
    items = [case.todo for case in severity.worst_first(cases)]
    names = {item.drive for item in items}
    steps = machine.steps if machine else ()
    items += [_unread(step) for step in steps if step.drive.name not in names]
    grade_of = grades(machine, [case.verdict for case in cases]) if machine else {}
    # the lowest grade is the one most at risk
    worst_grades = {
        step.drive.name: min(grade_of[group] for group in step.groups)
        for step in steps
        if step.groups
    }
    to_replace = [item for item in items if item.action in actions.REPLACING]
    # after the groups of the same risk
    no_group = (Risk.PLAIN, float('inf'))
    to_replace.sort(
        key=lambda item: _rank(item, worst_grades.get(item.drive, no_group))
    )
    others = [item for item in items if item.action not in actions.REPLACING]
    return [*to_replace, *sorted(others, key=_urgency)]


def _rank(item: Item, grade: tuple[Risk, float]) -> tuple[Risk, float, int]:
    """Return a key that sorts drives to replace: by risk, then by group, then in the order to act
    on the drives of a group.

    grade: the risk of the group on the drive that is most at risk, and its place among all groups.
    """
    group_risk, place = grade
    # The smaller risk is the worse one. A drive without a step counts at least as UNSURE, because
    # nothing is known about the groups on it.
    if item.step is None:
        return min(group_risk, Risk.UNSURE), place, 0
    # A drive whose reason is worse than the risk of its group comes before the group.
    risk = min(group_risk, risk_of(item.step.why.code))
    return risk, place, LABELS.index(item.step.label)


def _urgency(item: Item) -> int:
    """Return the urgency of the most urgent action of a drive; 0 is the highest."""
    codes = [item.action, *(further.action for further in item.also)]
    return min(map(actions.urgency, codes))
