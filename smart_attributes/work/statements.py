"""Sentences for all outputs: the findings about a drive, and the reason why a drive was not
read.
"""

from __future__ import annotations

from ..constants import LONGEST_STATEMENT
from ..errors import Coded
from ..model import Item, Judgement, Reading, State, Verdict
from ..wording import HEALTH, IMPLAUSIBLE, NOT_REPORTED, statement
from ..words import clean, sentence

# Metrics that show whether a drive is healthy, the most informative first.
_TELLING_METRICS = (
    'endurance_used',
    'spare_available',
    'reallocated',
    'pending',
    'media_errors',
    'temperature',
    'power_on_time',
)

_MOST_TELLING = 3  # at most this many of _TELLING_METRICS are shown
# Metrics that are shown as well, because they make other values of a drive doubtful.
_ALWAYS_SHOWN = ('hidden_power_on_time', 'unknown_model')


def kind(verdict: Verdict) -> str:
    """Return "hdd", "ssd", "nvme" or "sas"; '' if no drive answered, or if a drive that was not
    read can be either "hdd" or "ssd".
    """
    identity = verdict.identity
    # A disk in standby or without an answer did not report its rotation, and the history does not
    # store it, so it would count as an SSD.
    rotation_may_be_unread = verdict.problem != '' and identity.rotation is None
    if not identity.protocol or (rotation_may_be_unread and identity.kind == 'ssd'):
        return ''
    return identity.kind


def finding(judgement: Judgement) -> str:
    """Return the text of a judgement with its limit: "endurance_used 97 %, critical above 95"."""
    words, limit = words_and_limit(judgement)
    if limit:
        words = f'{words}, {limit}'
    # growth that determined the state is already in the words
    if judgement.growth and not judgement.growth_against:
        words = f'{words}; {judgement.growth}'
    return words


def words_and_limit(judgement: Judgement, is_brief: bool = False) -> tuple[str, str]:
    """Return the finding, possibly growth, and the limit or '': ("endurance_used 97 %",
    "critical above 95"). is_brief: without the period of growth if the finding has the same one.
    """
    words = statement(judgement.reading)
    against = judgement.against
    if judgement.growth_against:
        words = judgement.growth
        against = judgement.growth_against
        if is_brief:
            against = against.fields.get('brief') or against
    limit = f'{judgement.state.name.lower()} {against}' if against else ''
    return clean(words, limit=LONGEST_STATEMENT), limit


def problem(verdict: Verdict, limit: int = LONGEST_STATEMENT) -> str:
    """Return why a drive was not read, with the code if this is a fault; '' if the drive was
    read.
    """
    words = sentence('; '.join((verdict.problem, *verdict.details)), limit)
    is_fault = verdict.code != '' and verdict.state is not State.OK
    return Coded(verdict.code, words) if is_fault else words


def also(item: Item) -> str:
    """Return the further actions of a drive: "also check the cable", or ''."""
    return '; '.join(f'also {further.to_do}' for further in item.also)


def findings(verdict: Verdict) -> str:
    """Return all findings of a drive, worst first, then the acknowledged ones.

    If nothing is wrong, return the readings that show a healthy drive.
    """
    if verdict.problem:
        return problem(verdict)
    alerts = [finding(judgement) for judgement in verdict.alerts]
    acknowledged = [
        clean(f'{statement(judgement.reading)} (acknowledged)', limit=LONGEST_STATEMENT)
        for judgement in verdict.judgements
        if judgement.acknowledged
    ]
    healthy = [] if alerts else _healthy(verdict, bool(acknowledged))
    return '; '.join([*alerts, *acknowledged, *healthy])


def _healthy(verdict: Verdict, has_acknowledged: bool) -> list[str]:
    """Return the texts of these readings of a drive that is OK: the most informative numbers, then
    the doubtful readings, see is_worth_showing(), then the numbers in _ALWAYS_SHOWN.

    Without such readings, return [] if acknowledged findings are shown, else the health status.
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
    # A reading is not doubtful if another source has a number for its metric.
    doubtful = {
        reading.metric: reading
        for reading in readings
        if is_worth_showing(reading) and reading.metric not in judged
    }
    telling = [judged[metric] for metric in _TELLING_METRICS if metric in judged]
    last = [judged[metric] for metric in _ALWAYS_SHOWN if metric in judged]
    shown = [*telling[:_MOST_TELLING], *doubtful.values(), *last]
    if shown or has_acknowledged:
        return [clean(statement(reading), limit=LONGEST_STATEMENT) for reading in shown]
    return [_only_status(judged.get(HEALTH))]


def _only_status(status: Reading | None) -> str:
    """Return the health status, for a drive that reports nothing else; None: not even that."""
    if status is None:
        return NOT_REPORTED
    return f'health status: {status.verdict}; the report contains nothing else'


def is_worth_showing(reading: Reading) -> bool:
    """Return whether a reading makes OK unreliable: the SMART health status is unknown, or wear is
    implausible.
    """
    if reading.number is not None:
        return False
    return reading.metric == HEALTH or reading.unknown.startswith(IMPLAUSIBLE)


def limit_words(judgement: Judgement) -> list[str]:
    """Return the limits of a number: "warning 85" and "critical 95"; [] without limits."""
    words = []
    if judgement.warning:
        words.append(f'warning {judgement.warning}')
    if judgement.critical:
        words.append(f'critical {judgement.critical}')
    return words


def reading_line(judgement: Judgement) -> str:
    """Return the text of one reading, with its source and its limits."""
    reading = judgement.reading
    words = statement(reading)
    if reading.number is None:
        words = f'{reading.metric} unknown: {reading.unknown}'
    parts = [clean(words, limit=LONGEST_STATEMENT), str(reading.source)]
    if not reading.judged:
        parts.append('not judged')
    parts += limit_words(judgement)
    if judgement.against:
        parts.append(f'limit from {judgement.origin}')
    return ', '.join(filter(None, parts))
