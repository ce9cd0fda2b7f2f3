"""Order drives and their findings by severity, in the same way in every output, and the action that
each finding needs. Pure.

The state comes first. Among findings of equal state, those whose action saves data come first, then
the kind of finding decides (ORDER), then the extent: the count for lost data, else how far the
number is beyond its limit. Metric.concern and Metric.remedy, from attributes.json, give the kind; a
metric without both comes last.

The action of a drive is that of its first finding; see work/work_list.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import UsageError
from ..model import Case, Judgement, LastFinding, Risk, State, Verdict
from ..typed import NamedTuple
from . import ranges

# Of a finding: minus the urgency of its state, the place of its kind (see weight()), and minus its
# extent. The smallest weight is the most severe.
Weight = tuple[int, int, float]
# of a drive; the smallest rank is the most severe
Rank = tuple[int, tuple[Weight, ...], float, str, str]

# Actions that findings need; work/actions.py has these and all others, with their texts.
ACTIONS = REPLACE, READ, ORDER_COPY, ORDER_NEW, CABLE, FIRMWARE, COOLING, WATCH = (
    'replace',
    'investigate',
    'order-copy',
    'order',
    'cable',
    'firmware',
    'cooling',
    'watch',
)
SAVING = (REPLACE, ORDER_COPY)  # the actions that save data
# share of such drives that failed; if reached, order a replacement
RISKY_90 = 0.15
RISKY_365 = 0.4

HEALTH = 'health'
DATA = 'data'
ERRORS = 'errors'
GROWING = 'growing'
WEAR = 'wear'
# The drive reports a failure; data was lost; the drive is read-only or lost its power-loss
# protection; errors increase; errors; wear; heat; the cable; the firmware; all others. A failure
# comes before lost data because its headline names both.
ORDER = (
    HEALTH,
    DATA,
    'protection',
    GROWING,
    ERRORS,
    WEAR,
    COOLING,
    CABLE,
    FIRMWARE,
    '',
)
# a finding without a number weighs as much as a number at twice its limit
BY_WORDS = 1.0
NO_MORE = (1, 0, 0.0)  # after all findings of a drive, which begin with 0 or less
ENDURANCE = 'endurance_used'


class Alarm(NamedTuple):
    """A finding, as far as its action and its kind depend on it."""

    remedy: str
    concern: str
    state: State
    # so many drives with this finding failed that a replacement is ordered
    is_risky: bool = False
    step: str = ''  # what to do, if the action does not say it


def alarm_of(judgement: Judgement, risk: Risk | None) -> Alarm:
    """Return a judgement as an alarm. risk: the measured risk of the drive, which belongs to one
    metric.
    """
    return Alarm(
        judgement.remedy,
        judgement.concern,
        state=judgement.state,
        is_risky=is_risky(judgement.reading.metric, risk),
        step=judgement.reading.action,
    )


def is_risky(metric: str, risk: Risk | None) -> bool:
    """Return whether the risk was measured for this metric, and is so high that a replacement is
    ordered.
    """
    if risk is None or risk.metric != metric:
        return False
    return (risk.share_90 or 0) >= RISKY_90 or (risk.share_365 or 0) >= RISKY_365


def action(alarm: Alarm) -> str:
    """Return the code of the action that a finding needs. Wear is gradual, so there is time to
    order a replacement.
    """
    if alarm.state is State.UNKNOWN:
        return READ
    if alarm.remedy:
        return alarm.remedy
    if alarm.state is State.CRITICAL:
        return REPLACE
    if alarm.concern == WEAR:
        return ORDER_NEW
    return ORDER_COPY if alarm.is_risky else WATCH


def in_order(
    judgements: Iterable[Judgement], risk: Risk | None = None
) -> tuple[Judgement, ...]:
    """Return the judgements of a drive, most severe first. Of equal ones, that with the measured
    risk comes first.
    """
    measured = risk.metric if risk else ''

    def rank(judgement: Judgement) -> tuple[Weight, bool]:
        return of_judgement(judgement, risk), judgement.reading.metric != measured

    return tuple(sorted(judgements, key=rank))


def of_last(finding: LastFinding) -> Weight:
    """Return the weight of a finding of an earlier check."""
    return weight(Alarm(finding.remedy, finding.concern, finding.state), None, '')


def worst_first(cases: Iterable[Case]) -> list[Case]:
    """Return the drives in order of severity."""
    return sorted(cases, key=lambda case: of_verdict(case.verdict))


def of_verdict(verdict: Verdict) -> Rank:
    """Return the rank of a drive, a sort key that puts the most severe drive first."""
    weights = [of_judgement(judgement, verdict.risk) for judgement in verdict.alerts]
    if verdict.last:
        weights += map(of_last, verdict.last.findings)
    return of_drive(
        verdict.state, weights, worn=used(verdict), name=verdict.device.name
    )


def of_drive(
    state: State, weights: Iterable[Weight], worn: float, name: str, host: str = ''
) -> Rank:
    """Return the rank of a drive by its findings and, if these are equal, by endurance used (%),
    host and name. Findings of one state and kind count as one, with the largest extent: of two
    drives with lost data, the one with more of it comes first.
    """
    # (minus urgency, place) -> the smallest weight, which has the largest extent
    severest: dict[tuple[int, int], Weight] = {}
    for finding in weights:
        minus_urgency, place, _minus_extent = finding
        key = minus_urgency, place
        severest[key] = min(severest.get(key, finding), finding)
    # NO_MORE comes after every finding, so of two drives that begin with the same findings, the
    # one with further findings comes first.
    return -state.urgency, (*sorted(severest.values()), NO_MORE), -worn, host, name


def of_judgement(judgement: Judgement, risk: Risk | None) -> Weight:
    """Return the weight of a judgement; all judgements in state OK have the same weight. risk: the
    measured risk of the drive.
    """
    reading = judgement.reading
    state = judgement.state
    if state is State.OK:
        return NO_MORE
    limit = judgement.critical if state is State.CRITICAL else judgement.warning
    # A text status has a state of its own, so its number is not compared with a limit.
    is_text_status = reading.state is not None
    number = None if is_text_status else reading.number
    return weight(
        alarm_of(judgement, risk),
        number,
        limit=limit,
        unit=reading.unit,
        grown=judgement.grown,
        is_growing=bool(judgement.growth),
    )


def weight(
    alarm: Alarm,
    number: float | None,
    limit: str,
    unit: str = '',
    grown: float = 0,
    is_growing: bool = False,
) -> Weight:
    """Return the weight of a finding; the smallest weight is the most severe.

    number: None if the finding is a text. limit: the Nagios range for its state; '' if that state
    has no range. grown: by how much the number grew; 0 if unknown. is_growing: the finding reports
    this growth, which makes it a kind of its own.
    """
    extent = BY_WORDS
    if number is not None:
        # Counts of lost data are compared directly, other numbers relative to their limits.
        extent = number if alarm.concern == DATA else _excess(limit, number, unit)
        # A count is at least as bad as its growth. Both kinds of extent are compared with the
        # growth itself: a count that grew by 5 has at least the extent 5.
        if not unit:
            extent = max(extent, grown)
    # Findings whose action saves data come first, in the order of ORDER, then the others.
    place = ORDER.index(kind(alarm.remedy, alarm.concern, is_growing))
    if action(alarm) not in SAVING:
        place += len(ORDER)
    return -alarm.state.urgency, place, -extent


def _excess(limit: str, number: float, unit: str) -> float:
    """Return how far a number is beyond its limit, as ranges.excess() does: 0.25 for 5 and the
    limit "4"; 0 for a limit that is not a range, as in documents and perfdata of other hosts.
    """
    try:
        return ranges.excess(limit, number, unit)
    except UsageError:
        return 0.0


def kind(remedy: str, concern: str, is_growing: bool = False) -> str:
    """Return the kind of a finding, a name in ORDER: the remedy for heat, cable and firmware, else
    the concern; growing errors have a kind of their own. remedy, concern: as of a judgement.
    """
    if remedy in (COOLING, CABLE, FIRMWARE):
        return remedy
    return GROWING if is_growing and concern == ERRORS else concern


def is_beyond(limit: str, number: float) -> bool:
    """Return whether a number violates a Nagios range in base units; False if the text is not a
    range.
    """
    try:
        return ranges.is_violated(limit, number)
    except UsageError:
        return False


def used(verdict: Verdict) -> float:
    """Return the endurance used, in %; 0 if unknown."""
    for judgement in verdict.judgements:
        reading = judgement.reading
        if reading.metric == ENDURANCE and reading.judged:
            return reading.number or 0
    return 0
