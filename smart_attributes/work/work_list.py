"""The work list, which all outputs show: the action for each drive of a machine, with a date and a
reason. Pure.

The action follows from the drive's findings and from the remedies in attributes.json; the groups on
the drive may change the action. No other module chooses actions.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from ..knowledge import severity
from ..model import Item, Replacement, State
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
from ..words import sentence
from . import actions
from .dates import day, is_due, lasting, order_by
from .statements import findings, headline

if TYPE_CHECKING:
    from ..model import Risk as MeasuredRisk
    from ..model import Verdict
    from ..redundancy.replacement import Machine, Step

# Problem codes of a drive that must be found before it can be read.
GONE = frozenset(('no-such-device', 'empty-slot', 'drives-missing', 'drive-gone'))
# share of such drives that failed; if reached, order a replacement
RISKY_90, RISKY_365 = 0.15, 0.4
REASON = 60  # characters
MIDDLE, EARLIEST = 'middle of the forecast', 'cautious forecast'
OF_LABEL = {
    NEXT: actions.REPLACE,
    COPY: actions.COPY,
    UNKNOWN: actions.COPY,
    LAST: actions.KEEP,
    WAIT: actions.WAIT,
}
# for a drive that is itself good enough
IDLE_OF_LABEL = {NEXT: actions.REJOIN, LAST: actions.KEEP}
# Code of a step -> text that names what is unknown about the drive.
NOT_KNOWN = {
    'redundancy-unknown': 'its redundancy is not known: copy the data first',
    'use-unknown': 'its use is not known: copy the data first',
    'redundancy-doubtful': 'it is uncertain whether other members hold its data',
    'members-not-checked': 'the state of other members is not known',
}


class Due(NamedTuple):
    """An action in words, and the date by which a replacement must be ordered."""

    to_do: str  # "order a replacement by 2027-03-04 (middle of the forecast)"
    order_by: str | None  # "2027-03-04", today if that date is past; None: no forecast


class Alarm(NamedTuple):
    """A finding, as far as the action depends on it."""

    remedy: str
    concern: str
    state: State


def item(verdict: Verdict, now: float | None = None) -> Item:
    """Return the item of a drive: the verdict's item if set, else a new item. now: seconds since
    1970; None: today.
    """
    return verdict.item or _item(verdict, time.time() if now is None else now)


def with_item(verdict: Verdict, now: float, is_only_alerting: bool = False) -> Verdict:
    """Return a verdict with its item. is_only_alerting: an OK drive gets no item."""
    if is_only_alerting and verdict.state is State.OK and not verdict.replacement:
        return verdict
    return verdict._replace(item=_item(verdict, now))


def drives(verdicts: Iterable[Verdict], now: float) -> list[Drive]:
    """Return the drives with known block devices, most severe first, with the facts that affect
    their groups.

    now: seconds since 1970.
    """
    return [
        _drive(verdict, now)
        for verdict in sorted(verdicts, key=severity.of_verdict)
        if verdict.place.disks
    ]


def _drive(verdict: Verdict, now: float) -> Drive:
    now = verdict.read_at(now)
    is_unread = bool(verdict.problem) and verdict.state is not State.OK
    return Drive(
        verdict.device.name,
        frozenset(verdict.place.disks),
        verdict.state is State.CRITICAL or is_unread,
        _own(verdict, now)[0] in (actions.REPLACE, actions.ORDER, actions.ORDER_COPY),
    )


def _item(verdict: Verdict, now: float) -> Item:
    now = verdict.read_at(now)
    step = verdict.replacement
    own, kind = _own(verdict, now)
    code = in_its_groups(own, step.label, step.why.code) if step else own
    kind = actions.FAILING if code == actions.KEEP and own == actions.REPLACE else kind
    # Without redundancy, the earliest date counts. For a drive that is OK, the middle date is early
    # enough.
    is_early = (
        code == actions.ORDER
        and verdict.state is not State.OK
        and (step is None or step.label not in (NEXT, WAIT))
    )
    left = [each.earliest if is_early else each.left for each in verdict.forecasts.values()]
    why, of_groups = _why(verdict, now), step.why if step else ''
    told = due(code, left, now, kind, EARLIEST if is_early else MIDDLE)
    return Item(
        verdict.device.name,
        verdict.state,
        code,
        *told,
        actions.action(code, kind).again,
        sentence(headline(verdict) if verdict.state is not State.OK else why or of_groups, REASON),
        '; '.join(filter(None, (why, of_groups))),
        verdict.risk,
        verdict.place,
        verdict.depends,
        _unknown(verdict, code),
        step,
    )


def _own(verdict: Verdict, now: float) -> tuple[str, str]:
    """Return the action that the drive's own findings require, without its groups, and the kind
    of text.
    """
    if verdict.problem and verdict.state is not State.OK:
        return _of_unread(verdict)
    alarms = [
        Alarm(each.remedy, each.concern, each.state)
        for each in verdict.judgements
        if each.state is not State.OK
    ]
    return of_alarms(
        alarms, is_due([each.left for each in verdict.forecasts.values()], now), verdict.risk
    )


def _of_unread(verdict: Verdict) -> tuple[str, str]:
    """Return the action for a drive that was not read, and the kind of text: that of what was found
    when it was last read, unless the drive must be found first.
    """
    own = of_problem(verdict.code)
    if own == actions.SEARCH or verdict.last is None:
        return own, ''
    alarms = [Alarm(each.remedy, each.concern, each.state) for each in verdict.last.findings]
    found, kind = of_alarms(alarms, is_worn=False)
    return min([(found, kind), (own, '')], key=lambda each: actions.urgency(each[0]))


def of_problem(code: str) -> str:
    """Return the action for a drive that could not be read. code: the reason."""
    return actions.SEARCH if code in GONE else actions.READ


def of_unknown(state: State) -> str:
    """Return the action for a drive whose document does not state an action that this version
    knows.
    """
    return actions.NOTHING if state is State.OK else actions.READ


def of_alarms(
    alarms: Iterable[Alarm], is_worn: bool, risk: MeasuredRisk | None = None
) -> tuple[str, str]:
    """Return the most urgent action that alerts require, and the kind of text for it.

    is_worn: a forecast requires an order now. risk: how many drives with such alerts failed.
    """
    found = [(_action(alarm, risk), alarm.concern) for alarm in alarms]
    return min(
        [*found, (actions.ORDER if is_worn else actions.NOTHING, '')],
        key=lambda each: actions.urgency(each[0]),
    )


def _action(alarm: Alarm, risk: MeasuredRisk | None) -> str:
    """Return the action for one alert. Wear is gradual, so there is time to order a replacement."""
    if alarm.state is State.UNKNOWN:
        return actions.READ
    if alarm.remedy:
        return alarm.remedy
    if alarm.state is State.CRITICAL:
        return actions.REPLACE
    if alarm.concern == severity.WEAR:
        return actions.ORDER
    is_risky = risk and ((risk.share_90 or 0) >= RISKY_90 or (risk.share_365 or 0) >= RISKY_365)
    return actions.ORDER_COPY if is_risky else actions.WATCH


def in_its_groups(code: str, label: str, reason: str) -> str:
    """Return the action for a drive, adjusted for the groups on it. label, reason: codes from
    Replacement.
    """
    if reason == 'leave-cluster':  # the cluster copies the data itself
        return {actions.REPLACE: actions.DRAIN, actions.ORDER_COPY: actions.ORDER}.get(code, code)
    if code == actions.REPLACE:
        return OF_LABEL[label]
    # a healthy member of an array in rebuild has label WAIT, too
    if code in (actions.NOTHING, actions.WATCH):
        return actions.WAIT if reason == 'copy-other-first' else IDLE_OF_LABEL.get(label, code)
    return code


def due(code: str, left: Sequence[float], now: float, kind: str = '', which: str = MIDDLE) -> Due:
    """Return an action in words, with the date by which to order a replacement.

    left: seconds until wear-out, for each forecast of the drive. which: text that names the
    forecast's date in use.
    """
    words = actions.action(code, kind).words
    by = (
        now
        if code == actions.ORDER_COPY
        else None
        if code in actions.REPLACING
        else order_by(left, now)
    )
    if by is None:
        return Due(words, None)
    if code != actions.ORDER:
        return Due(words, day(by))
    why = f' ({which})' if by > now or which == EARLIEST else ''
    return Due(f'{words} {f"by {day(by)}" if by > now else "now"}{why}', day(by))


def _why(verdict: Verdict, now: float) -> str:
    if verdict.state is not State.OK:
        return findings(verdict)
    return '; '.join(
        lasting(metric, forecast, now)
        for metric, forecast in verdict.forecasts.items()
        if is_due([forecast.left], now)
    )


def _unknown(verdict: Verdict, code: str) -> str:
    """Return the missing facts about a drive to replace; '' if enough is known."""
    if (
        code not in (*actions.REPLACING, actions.ORDER, actions.ORDER_COPY)
        or verdict.device.is_recorded
    ):
        return ''
    if verdict.replacement is None:
        return '' if verdict.place.disks else NOT_KNOWN['use-unknown']
    return NOT_KNOWN.get(verdict.replacement.why.code or '', '')


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
        sentence(step.why, REASON),
        step.why,
        unknown='this run did not read it',
        step=Replacement(step.label, step.why),
    )


# --- the order of a machine -----------------------------------------------------------------------


def in_order(
    verdicts: Sequence[Verdict], machine: Machine | None = None, now: float | None = None
) -> list[Item]:
    """Return the items of all drives, and of disks that this run did not read, most urgent first.

    Groups that lose data at the next failure come first; the drives of a group are adjacent,
    ordered by action.
    """
    known = [item(verdict, now) for verdict in sorted(verdicts, key=severity.of_verdict)]
    names = {each.drive for each in known}
    steps = machine.steps if machine else ()
    known += [_unread(step) for step in steps if step.drive.name not in names]
    of_group = grades(machine, verdicts) if machine else {}
    of_step = {
        step.drive.name: min(
            (of_group[each] for each in step.groups if each in of_group), default=None
        )
        for step in steps
    }

    def key(each: Item) -> tuple[int, ...]:
        if each.action not in actions.REPLACING:
            return 1, actions.urgency(each.action), 0, 0
        grade = risk_of(each.step.why.code or '') if each.step else Risk.UNSURE
        place = of_step.get(each.drive) or (grade, len(of_group))
        return 0, min(place[0], grade), place[1], LABELS.index(each.step.label) if each.step else 0

    return sorted(known, key=key)
