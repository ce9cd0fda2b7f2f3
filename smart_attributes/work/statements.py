"""Sentences for all outputs: the findings about a drive, and the reason why a drive was not
read.
"""

from __future__ import annotations

from ..constants import LONGEST_STATEMENT
from ..errors import Coded
from ..model import Item, Judgement, Reading, State, Verdict
from ..wording import HEALTH, IMPLAUSIBLE, NOT_REPORTED, statement
from ..words import clean, sentence

TELLING_METRICS = (
    'endurance_used',
    'spare_available',
    'reallocated',
    'pending',
    'media_errors',
    'temperature',
    'power_on_time',
)
TELLING = 3


def kind(verdict: Verdict) -> str:
    """Return "hdd", "ssd", "nvme" or "sas", or '' if no drive answered."""
    identity = verdict.identity
    # A disk in standby or without an answer did not report its rotation, and the history does not
    # store it.
    is_told = (
        not verdict.problem or identity.kind != 'ssd' or identity.rotation is not None
    )
    return identity.kind if identity.protocol and is_told else ''


def finding(judgement: Judgement) -> str:
    """Return the text of a judgement with its limit: "endurance_used 97 %, critical above 95"."""
    words, limit = words_and_limit(judgement)
    growth = '' if judgement.growth_against else judgement.growth
    return '; '.join(
        part for part in (f'{words}, {limit}' if limit else words, growth) if part
    )


def words_and_limit(judgement: Judgement) -> tuple[str, str]:
    """Return the finding, possibly growth, and the limit or '': ("endurance_used 97 %",
    "critical above 95").
    """
    against = judgement.growth_against or judgement.against
    words = (
        judgement.growth if judgement.growth_against else statement(judgement.reading)
    )
    return clean(
        words, limit=LONGEST_STATEMENT
    ), f'{judgement.state.name.lower()} {against}' if against else ''


def problem(verdict: Verdict, limit: int = LONGEST_STATEMENT) -> str:
    """Return why a drive was not read, with the code if this is a fault; '' if the drive was
    read.
    """
    text = sentence('; '.join((verdict.problem, *verdict.details)), limit)
    return (
        Coded(verdict.code, text)
        if verdict.code and verdict.state is not State.OK
        else text
    )


def also(item: Item) -> str:
    """Return the further actions of a drive: "also check the cable", or ''."""
    return '; '.join(f'also {further.to_do}' for further in item.also)


def findings(verdict: Verdict) -> str:
    """Return all findings of a drive, worst first, then the acknowledged ones.

    If nothing is wrong, return the readings that show a healthy drive.
    """
    if verdict.problem:
        return problem(verdict)
    wrong = list(map(finding, verdict.alerts))
    accepted = [
        clean(f'{statement(judgement.reading)} (acknowledged)', limit=LONGEST_STATEMENT)
        for judgement in verdict.judgements
        if judgement.acknowledged
    ]
    well = [] if wrong else _well(verdict, bool(accepted))
    return '; '.join([*wrong, *accepted, *well])


def _well(verdict: Verdict, is_accepted: bool) -> list[str]:
    """Return the most informative readings of a drive that is OK, and the expected readings that
    are unknown.

    is_accepted: acknowledged findings are shown as well.
    """
    readings = [
        judgement.reading
        for judgement in verdict.judgements
        if not judgement.acknowledged
    ]
    judged = {
        reading.metric: reading
        for reading in readings
        if reading.judged and reading.number is not None
    }
    telling = [metric for metric in TELLING_METRICS if metric in judged][:TELLING]
    unknown = {
        reading.metric: reading for reading in readings if is_worth_showing(reading)
    }
    shown = [
        *(judged[metric] for metric in telling),
        *(unknown[metric] for metric in unknown if metric not in judged),
        *(
            judged[metric]
            for metric in ('hidden_power_on_time', 'unknown_model')
            if metric in judged
        ),
    ]
    if shown or is_accepted:
        return [clean(statement(reading), limit=LONGEST_STATEMENT) for reading in shown]
    return [
        f'health status: {judged[HEALTH].verdict}; the report contains nothing else'
        if HEALTH in judged
        else NOT_REPORTED
    ]


def is_worth_showing(reading: Reading) -> bool:
    """Return whether OK is unreliable because the SMART health status is unknown or wear is
    implausible.
    """
    return reading.number is None and (
        reading.metric == HEALTH or reading.unknown.startswith(IMPLAUSIBLE)
    )


def reading_line(judgement: Judgement) -> str:
    """Return the text of one reading, with its source and its limits."""
    reading = judgement.reading
    words = (
        f'{reading.metric} unknown: {reading.unknown}'
        if reading.number is None
        else statement(reading)
    )
    parts = [
        clean(words, limit=LONGEST_STATEMENT),
        str(reading.source),
        '' if reading.judged else 'not judged',
        f'warning {judgement.warning}' if judgement.warning else '',
        f'critical {judgement.critical}' if judgement.critical else '',
        f'limit from {judgement.origin}' if judgement.against else '',
    ]
    return ', '.join(part for part in parts if part)
