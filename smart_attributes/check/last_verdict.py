"""The verdict of the last check that read a drive, as a floor for its state while it is not read.

A state falls only by a newer reading of the drive, by its replacement, or by root: an
acknowledgement, a limit, or an option that leaves the finding out. So a drive that is in standby,
missing, or does not answer shows what was found when it was last read. A temperature says nothing
about later, so it is not stored, and growth counts only as long as its alert would have lasted.
Pure.
"""

from __future__ import annotations

from ..constants import LONGEST_STATEMENT
from ..errors import Coded
from ..knowledge import plain_words, severity
from ..knowledge.drive_logs import SELF_ASSESSMENT
from ..knowledge.thresholds import DriveLimit, is_silent
from ..model import (
    Device,
    Identity,
    Judgement,
    LastFinding,
    LastVerdict,
    Reading,
    Risk,
    Source,
    State,
    Verdict,
    worst,
)
from ..typed import TYPE_CHECKING
from ..wording import HEALTH, duration, statement
from ..words import clean
from . import judging
from .drive_notes import ENDURANCE, UNKNOWN_MODEL, UNREAD_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..history.drive_file import DriveHistory
    from ..knowledge.drive_database import Metric, Metrics
    from .rulebook import Judge


_ALERTS = (State.WARNING, State.CRITICAL)
# numbers of a reported health status; a status that is not reported has another number, or none
FAILED = 0
PASSED = 1


def of(verdict: Verdict, now: int) -> LastVerdict:
    """Return the verdict on a drive that was read, as it is stored. now: seconds since 1970."""
    findings: list[LastFinding] = []
    for judgement in verdict.judgements:
        if judgement.state in _ALERTS and _is_lasting(judgement.reading):
            findings += _findings(judgement, verdict.risk, now)
    if not findings:
        return LastVerdict(now)
    kind = verdict.identity.kind
    rotation = verdict.identity.rotation
    is_disk = kind == 'hdd' or (kind == 'sas' and rotation != 0)
    return LastVerdict(now, _worst_first(findings), verdict.entry or '', is_disk)


def _is_lasting(reading: Reading) -> bool:
    """Return whether a finding says something about the drive as long as it is not read again."""
    return reading.unit != 'C' and reading.metric not in (UNKNOWN_MODEL, UNREAD_ROWS)


def _worst_first(findings: Sequence[LastFinding]) -> tuple[LastFinding, ...]:
    return tuple(sorted(findings, key=severity.of_last))


def _findings(
    judgement: Judgement, risk: Risk | None, now: int
) -> Iterator[LastFinding]:
    """Yield the finding of a judgement, which lasts. If growth determined the state, yield instead:

    - a finding that ends, about the growth
    - if the level alone is an alert, too, a lasting finding with the state of the level
    """
    reading = judgement.reading
    is_status = reading.state is not None
    number = None if is_status else reading.number
    remedy = judgement.remedy
    # the risk is not stored, but the action that follows from it
    action = severity.action(severity.alarm_of(judgement, risk))
    if action == severity.ORDER_COPY:
        remedy = action
    words = clean(_words(reading), limit=LONGEST_STATEMENT)
    lasting = LastFinding(judgement.state, reading.metric, words, number, remedy)
    if judgement.growth_against == '':  # growth did not determine the state
        yield lasting
        return
    yield lasting._replace(
        words=clean(judgement.growth), ends=now + judgement.growth_left
    )
    if judgement.level in _ALERTS:
        yield lasting._replace(state=judgement.level)


def _words(reading: Reading) -> str:
    """Return a reading as a statement; a status in a few words, if it has these."""
    if reading.brief and reading.metric != HEALTH:
        reading = reading._replace(verdict=reading.brief)
    return statement(reading)


def standing(
    drive: DriveHistory, device: Device, judge: Judge, now: int
) -> LastVerdict:
    """Return what still counts of the stored verdict on a drive: without growth that has ended, and
    without what root has acknowledged or allowed since.

    device: of the drive, for the limits that apply to it now. now: seconds since 1970.
    """
    last = drive.verdict
    # the rotation is not stored, only whether it is a disk, so any speed will do
    rotation = 7200 if last.is_disk else 0
    identity = drive.record.identity._replace(rotation=rotation)
    findings = []
    for finding in last.findings:
        is_over = 0 < finding.ends <= now
        if is_over or finding.metric in judge.rules.asked.ignore_metrics:
            continue
        state = _present_state(finding, last.family, device, identity, judge)
        if state is not State.OK:
            findings.append(_with_present_kind(finding._replace(state=state), judge))
    return last._replace(findings=_worst_first(findings))


def _with_present_kind(finding: LastFinding, judge: Judge) -> LastFinding:
    """Return a finding with the concern, the remedy and the plain words that its metric has in this
    version, because another version or another user may have written the file.
    """
    metrics = judge.database.metrics
    meaning = _meaning(finding, metrics)
    concern = ''
    remedy = ''
    if meaning:
        concern = meaning.concern
        # a finding that was stored without a remedy has none now
        remedy = meaning.remedy if finding.remedy else ''
    # this remedy follows from a risk, not from the metric, and only for a WARNING
    if finding.remedy == severity.ORDER_COPY and finding.state is State.WARNING:
        remedy = severity.ORDER_COPY
    return finding._replace(
        concern=concern,
        remedy=remedy,
        plain=plain_words.of_last(finding, metrics.get(finding.metric)),
    )


def _meaning(finding: LastFinding, metrics: Metrics) -> Metric | None:
    """Return the metric whose concern and remedy a finding has:

    metric of the finding   remedy stored with it   result
    smart_status            that of endurance_used  endurance_used: the status means only wear
    smart_status            none                    smart_status
    crc_errors              any                     crc_errors
    not in this version     any                     None
    """
    metric = metrics.get(finding.metric)
    if metric is None or metric.concern != severity.HEALTH:
        return metric
    # A status such as smart_status has no remedy of its own, so this one is from endurance_used.
    wear = metrics[ENDURANCE]
    return wear if finding.remedy == wear.remedy else metric


def _present_state(
    finding: LastFinding, family: str, device: Device, identity: Identity, judge: Judge
) -> State:
    """Return the state of a finding under the present limits, but never a worse one than before."""
    limit = judge.thresholds.limit(finding.metric, device, identity, family)
    if finding.ends:  # a finding about growth
        return finding.state if limit.growth else State.OK
    unit = judge.database.units.get(finding.metric, '')
    reading = Reading(finding.metric, finding.number, unit)
    if finding.number is None:  # a status
        return judging.judge_verdict(reading, finding.state, limit).state
    context = judging.Context(metrics=judge.database.metrics)
    accepted = judge.thresholds.acknowledged(identity, finding.metric)
    if is_silent(accepted, finding.number, falls=context.is_floor(finding.metric)):
        return State.OK
    if isinstance(limit.warning, DriveLimit) or isinstance(limit.critical, DriveLimit):
        return finding.state  # the limit that the drive reports is not stored
    present = judging.judge_reading(reading, limit, context).state
    return min(present, finding.state, key=lambda state: state.urgency)


def with_status(verdict: Verdict, last: LastVerdict) -> Verdict:
    """Return the verdict on a drive that was read, with the last health status that the drive itself
    reported, if it reported none now. Behind some controllers, smartctl only looks at the attributes.

    The verdict is unchanged if the drive itself reported a status now, or if *last* or the verdict
    has no status. last: the result of standing().
    """
    last_statuses = [finding for finding in last.findings if finding.metric == HEALTH]
    present_statuses = [
        judgement
        for judgement in verdict.judgements
        if judgement.reading.metric == HEALTH
    ]
    if not last_statuses or not present_statuses:
        return verdict
    last_status = last_statuses[0]
    present_status = present_statuses[0]
    is_self_assessment = present_status.reading.source.log == SELF_ASSESSMENT
    is_reported = present_status.reading.number in (FAILED, PASSED)
    if is_self_assessment and is_reported:
        return verdict
    # Only an alert is stored as a finding, so the last status was not PASSED.
    reading = Reading(
        HEALTH,
        FAILED,
        source=Source(SELF_ASSESSMENT),
        verdict=last_status.words.removeprefix(f'{HEALTH}: '),
        state=last_status.state,
        is_stored=True,
    )
    stored = Judgement(
        reading,
        last_status.state,
        concern=last_status.concern,
        remedy=last_status.remedy,
        graphed=present_status.graphed,
        words=last_status.plain,
    )
    judgements = [
        stored if judgement is present_status else judgement
        for judgement in verdict.judgements
    ]
    return verdict._replace(
        state=worst([verdict.state, last_status.state]),
        judgements=severity.in_order(judgements, verdict.risk),
        notes=(
            *verdict.notes,
            Coded(
                'status-from-before',
                'the drive did not report its health status to this check, so the last reported one is used',
            ),
        ),
    )


def with_floor(verdict: Verdict, last: LastVerdict, now: int) -> Verdict:
    """Return the verdict on a drive that was not judged now, at least as bad as its last one.

    last: the result of standing(), with findings.
    """
    worst_finding = last.findings[0]
    ago = duration(now - last.time)
    return verdict._replace(
        state=worst([verdict.state, last.state]),
        details=(*verdict.details, f'{worst_finding.words} when last read {ago} ago'),
        last=last,
    )
