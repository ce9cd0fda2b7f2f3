"""Notes on a drive, and readings that do not come from a log: firmware defects, an unknown model.

Pure.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from ..constants import HOUR, LONGEST_STATEMENT
from ..errors import Coded
from ..knowledge import drive_logs
from ..knowledge.drive_database import Advisory, DriveSpec
from ..knowledge.readings import is_untrusted
from ..model import Device, Identity, Judgement, Reading, Report, Source, State
from ..reading.completeness import UNREAD
from ..reading.content import FAILED, exit_status_notes
from ..typed import TYPE_CHECKING
from ..wording import HEALTH, amount
from ..words import clean

if TYPE_CHECKING:
    from ..history.past import Past

TIME_LEFT = 'endurance_time_left'
ENDURANCE = 'endurance_used'
UNKNOWN_MODEL = 'unknown_model'
UNREAD_ROWS = 'unread_rows'
LEAST_USED = 2  # %; below it, whole numbers are too coarse for a forecast
# power-on hours; a firmware defect due within this time is CRITICAL
ADVISORY_HOURS = 1000
# percentage points; a larger difference between two endurance readings is noted
APART = 5


# Severity of an advisory -> what the firmware does, in the first line of a check.
_HARM = {
    'data': 'can make the drive fail or lose data',
    'outage': 'can stop the drive',
    'wear': 'reports the wear incorrectly, or wears the drive out',
}


def advisory(
    defect: Advisory, identity: Identity, power_on_hours: float | None, now: float
) -> Reading:
    """Return a known firmware defect as a reading that has a state."""
    due_at = defect.hour  # power-on hours at which the defect occurs
    is_near = False
    if due_at is not None and power_on_hours is not None:
        is_near = power_on_hours > due_at - ADVISORY_HOURS
    firmware = f'firmware {identity.firmware}'
    fix = f', fixed in {defect.fixed_in}' if defect.fixed_in else ''
    words = f'{firmware}{fix}: {defect.effect}'
    if due_at is not None:
        words = f'{words} ({_countdown(due_at, power_on_hours, now)})'
    # Outputs add the action to an alert, but not to a finding that is OK.
    if defect.state is State.OK:
        words = f'{words}; {defect.action}'
    if defect.forbids_reading:
        words = f'{words}; until the patch is applied, do not read the drive'
    harm = _HARM.get(defect.severity, 'has a known defect')
    return Reading(
        'firmware_advisory',
        number=0,
        source=Source(defect.source),
        verdict=words,
        state=State.CRITICAL if is_near else defect.state,
        has_remedy=defect.has_correction,
        brief=f'{firmware} {harm}',
        action=defect.action,
    )


def allowed(defects: Sequence[Advisory], is_reading_allowed: bool) -> Iterator[Coded]:
    """Yield a note for each defect that forbids reading the drive, if the site allows it."""
    for defect in defects:
        if is_reading_allowed and defect.forbids_reading:
            yield Coded(
                'reading-allowed',
                f'was read although {defect.effect}, because a limits file has "read": true',
            )


def _countdown(due_at: int, power_on_hours: float | None, now: float) -> str:
    """Return when a drive reaches *due_at* power-on hours."""
    words = f'at {due_at} power-on hours'
    if power_on_hours is None:
        return words
    left = due_at - power_on_hours
    if left <= 0:
        return f'{words}, and the drive already has {power_on_hours:.0f}'
    day = time.strftime('%Y-%m-%d', time.gmtime(now + left * HOUR))
    return f'{words}: on {day}, in {left:.0f} hours, if the drive stays powered on'


def unknown_model(device: Device, report: Report, state: State) -> Reading:
    """Return the reading for a drive that has no entry in the database. state: the state set by
    --unknown-model; UNKNOWN if the report has neither a model nor the health status.
    """
    identity = report.identity
    firmware = identity.firmware or 'not reported'
    words = f'no entry for {identity.model or "this drive"} (firmware {firmware})'
    brief = f'model {identity.model or "not reported"} is not in the database'
    action = ''
    is_anonymous = not identity.model and report.smart_status is None
    # an entry for an ATA drive is made from its attributes
    can_be_added = report.attributes or identity.protocol != 'ATA'
    if is_anonymous:
        state = State.UNKNOWN
        words = 'no model, so the attributes cannot be evaluated; add the lines with model and firmware to the report'
        brief = 'report has no model'
        action = 'record the report again: smartctl --json -x DEVICE'
    elif can_be_added:
        place = (
            f'--report {device.path}' if device.is_recorded else f'-d {device.address}'
        )
        action = f'to add it, run: check_smart_attributes draft {place}'
        if state is State.OK:
            words = f'{words}; {action}'
    return Reading(
        UNKNOWN_MODEL,
        0,
        '',
        Source('attributes.json'),
        words,
        state,
        brief=brief,
        action=action,
    )


def unread_rows(device: Device, report: Report) -> list[Reading]:
    """Return a reading for each table that has a row that cannot be read."""
    step = 'compare with the original output'
    if not device.is_recorded:
        step = f'compare with what smartctl -x prints for {device.address}'
    # Outputs show the text of a reading with a state, so the number does not matter.
    return [
        Reading(
            UNREAD_ROWS,
            number=0,
            source=Source('the report'),
            verdict=f'{gap}, so an alert may be missing',
            state=State.UNKNOWN,
            brief='a row of a table cannot be read',
            action=step,
        )
        for gap in report.gaps
        if gap.code == UNREAD
    ]


def notes(
    report: Report,
    all_readings: Sequence[Reading],
    spec: DriveSpec,
    past: Past | None = None,
) -> list[Coded]:
    """Return the notes that -v prints about a drive; notes do not change the drive's state."""
    return [
        *(
            Coded(
                'attribute-failed-before',
                f'attribute {row.id} {clean(row.name)} was at its vendor threshold in the past',
            )
            for row in report.attributes
            if row.when_failed == 'past'
        ),
        *_explanations(all_readings),
        # report.gaps already lists an unknown health status.
        *(
            Coded(
                'value-unknown',
                f'{reading.metric} from {reading.source} is unknown: {reading.unknown}',
            )
            for reading in all_readings
            if reading.number is None and reading.metric != HEALTH
        ),
        *_differences(all_readings, spec),
        *_distrusted(all_readings, spec),
        *_of_hours(report, all_readings),
        *exit_status_notes(_exit_status(report, all_readings)),
        *(
            Coded('smartctl-message', clean(message, LONGEST_STATEMENT))
            for message in report.messages
        ),
        *(gap for gap in report.gaps if gap.code != UNREAD),
        *_lost_wear(report, spec),
        *_of_farm_and_history(report, all_readings, past),
    ]


def _explanations(all_readings: Sequence[Reading]) -> list[Coded]:
    """Return a note why a reported health status is not judged; [] if it is."""
    return [
        Coded('health-status-explained', reading.verdict)
        for reading in all_readings
        if reading.metric == HEALTH and not reading.judged and reading.verdict
    ]


def _exit_status(report: Report, all_readings: Sequence[Reading]) -> int | None:
    """Return smartctl's exit status, without the bit for a health status that is not judged: the
    note on that status says why, and the drive need not be failing.
    """
    status = report.exit_status
    if status is None or not _explanations(all_readings):
        return status
    return status & ~FAILED


def self_test_to_repeat(
    device: Device, judgements: Sequence[Judgement]
) -> Iterator[Coded]:
    """Yield a note with the command of the test that ends the alert about a failed self-test;
    nothing without this alert.
    """
    # Only for CRITICAL: after a WARNING, smartctl would not show that another test has passed.
    has_failed = any(
        judgement.reading.metric == 'self_test'
        and judgement.reading.state is State.CRITICAL
        and judgement.state is not State.OK
        for judgement in judgements
    )
    if has_failed:
        yield Coded(
            'self-test-to-repeat',
            'the self_test alert ends only when an extended self-test passes; to start one, run: '
            f'{drive_logs.extended_self_test(device)}',
        )


def undated(all_readings: Sequence[Reading]) -> Iterator[Coded]:
    """Yield a note that the forecast counts from today, because the report has no usable date;
    nothing without a forecast, or if the endurance is already used up.

    The caller has to know that this is a recorded report without a usable date.
    """
    has_date_ahead = any(
        reading.forecast and reading.forecast.left > 0 for reading in all_readings
    )
    if has_date_ahead:
        yield Coded(
            'report-undated',
            'the report has no usable date, so the forecast assumes that it was made today',
        )


def judged_by_metric(all_readings: Sequence[Reading]) -> dict[str, Reading]:
    """Return the judged readings that have a number, by metric."""
    return {
        reading.metric: reading
        for reading in all_readings
        if reading.judged and reading.number is not None
    }


def _of_hours(report: Report, all_readings: Sequence[Reading]) -> Iterator[Coded]:
    """Yield a note on each log whose power-on hours exceed the drive's power-on time."""
    leads = [reading for reading in all_readings if reading.metric == drive_logs.HIDDEN]
    if leads:
        from ..knowledge.log_ages import clock_notes

        yield from clock_notes(report, all_readings, leads)


def _of_farm_and_history(
    report: Report, all_readings: Sequence[Reading], past: Past | None
) -> Iterator[Coded]:
    """Yield the notes on the FARM log, and on each counter that was lower than at a check in the
    last 30 days.
    """
    if report.farm is not None:
        from ..knowledge.log_ages import farm_notes

        yield from farm_notes(report.farm)
    if past is not None:
        from ..history.past import fall_note, falls

        yield from map(fall_note, falls(past, all_readings, report.identity.firmware))


def _lost_wear(report: Report, spec: DriveSpec) -> Iterator[Coded]:
    """Yield a note with the attributes for endurance_used if the attribute table has none of them.

    In linuxhw/EnterpriseDrive, all 14,359 solid state drives whose entry names such attributes
    report one of them.
    """
    reported = {row.id for row in report.attributes}
    sources = dict.fromkeys(
        item.attribute
        for item in spec.readings
        if item.metric == ENDURANCE and not item.is_trap
    )
    if reported and sources and reported.isdisjoint(sources):
        yield Coded(
            'values-missing',
            f'the report lacks attribute {" or ".join(map(str, sources))}, the source of '
            'endurance_used for this drive family',
        )


def _differences(all_readings: Sequence[Reading], spec: DriveSpec) -> Iterator[Coded]:
    """Yield a note for each metric whose percentages differ by more than APART points; statistics
    that are ignored do not count.
    """
    by_metric: dict[str, list[tuple[float, Source]]] = {}
    for reading in all_readings:
        if reading.unit != '%' or reading.number is None:
            continue
        if reading.source.log in drive_logs.DERIVED or is_untrusted(reading, spec):
            continue
        value = reading.number, reading.source
        by_metric.setdefault(reading.metric, []).append(value)
    for metric, values in by_metric.items():
        numbers = [number for number, _ in values]
        if max(numbers) - min(numbers) > APART:
            sources = [
                f'{amount(number, "%")} from {source}' for number, source in values
            ]
            yield Coded(
                'sources-differ',
                f'{metric}: {", ".join(sources)}; the worse value is used',
            )


def _distrusted(all_readings: Sequence[Reading], spec: DriveSpec) -> Iterator[Coded]:
    """Yield a note for each device statistic that is known to be wrong; above 0, the note adds what
    the statistic predicts.
    """
    for reading in all_readings:
        if not is_untrusted(reading, spec):
            continue
        words = (
            f'{reading.metric}: {amount(reading.number, reading.unit)} in the device statistics '
            'is ignored, because this statistic is known to be wrong for this drive family'
        )
        prediction = spec.untrusted_statistics[reading.metric]
        if reading.number and prediction:
            words = f'{words}; {prediction}'
        yield Coded('statistic-not-trusted', words)
