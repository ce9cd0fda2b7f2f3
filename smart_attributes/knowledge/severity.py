"""Order drives and their findings by severity, in the same way in every output. Pure.

The state comes first, then the kind of finding (ORDER), then the extent: the count for lost data,
else how far the number is beyond its limit. Metric.concern, from attributes.json, names the kind; a
metric without a concern comes last.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import UsageError
from ..model import Judgement, State, Verdict
from . import ranges

Weight = tuple[int, int, float]  # of a finding; the smallest weight is the most severe
# of a drive; the smallest rank is the most severe
Rank = tuple[int, tuple[Weight, ...], float, str, str]

HEALTH, DATA, ERRORS, GROWING, WEAR = 'health', 'data', 'errors', 'growing', 'wear'
# The drive reports a failure; data was lost; the drive is read-only or lost its power-loss
# protection; errors increase; errors; wear; all others.
ORDER = (HEALTH, DATA, 'protection', GROWING, ERRORS, WEAR, '')
# a finding without a number weighs as much as a number at twice its limit
BY_WORDS = 1.0
NO_MORE = (1, 0, 0.0)  # marks the end of a drive's findings
ENDURANCE = 'endurance_used'


def of_verdict(verdict: Verdict) -> Rank:
    """Return the rank of a drive, a sort key that puts the most severe drive first."""
    weights = [
        of_judgement(judgement)
        for judgement in verdict.judgements
        if judgement.state is not State.OK
    ]
    if verdict.last:
        weights += [
            weight(finding.state, finding.concern, None, '') for finding in verdict.last.findings
        ]
    return of_drive(verdict.state, weights, used(verdict), verdict.device.name)


def of_drive(
    state: State, weights: Iterable[Weight], worn: float, name: str, host: str = ''
) -> Rank:
    """Return the rank of a drive by its findings and, if these are equal, by endurance used (%),
    host and name.
    """
    extents: dict[tuple[int, int], float] = {}
    for urgency, place, extent in weights:
        extents[urgency, place] = min(extent, extents.get((urgency, place), 0.0))
    return (
        -state.urgency,
        (*sorted((*key, extent) for key, extent in extents.items()), NO_MORE),
        -worn,
        host,
        name,
    )


def of_judgement(judgement: Judgement) -> Weight:
    """Return the weight of a judgement; all judgements in state OK have the same weight."""
    reading, state = judgement.reading, judgement.state
    if state is State.OK:
        return NO_MORE
    limit = judgement.critical if state is State.CRITICAL else judgement.warning
    number = None if reading.state is not None else reading.number
    return weight(
        state,
        judgement.concern,
        number,
        limit,
        reading.unit,
        judgement.grown,
        bool(judgement.growth),
    )


def weight(
    state: State,
    concern: str,
    number: float | None,
    limit: str,
    unit: str = '',
    grown: float = 0,
    is_growing: bool = False,
) -> Weight:
    """Return the weight of a finding.

    number: None if the finding is a text. limit: the Nagios range for *state*; '' if *state* has no
    range. grown:
    increase of the number. is_growing: whether an increase is part of the finding.
    """
    place = ORDER.index(GROWING if is_growing and concern == ERRORS else concern)
    if number is None:
        return -state.urgency, place, -BY_WORDS
    try:
        # Counts of lost data are compared directly, whatever their limits; other numbers relative
        # to their limits.
        extent = number if concern == DATA else ranges.excess(limit, number, unit)
    except UsageError:  # documents and perfdata of other hosts may contain invalid ranges
        extent = 0.0
    return -state.urgency, place, -max(extent, 0 if unit else grown)


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
    return next(
        (
            judgement.reading.number or 0
            for judgement in verdict.judgements
            if judgement.reading.metric == ENDURANCE and judgement.reading.judged
        ),
        0,
    )
