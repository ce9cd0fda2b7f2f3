"""Notes on a drive, and readings that do not come from a log: firmware defects, an unknown model.

Pure.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from ..constants import DAY, HOUR, LONGEST_STATEMENT
from ..errors import Coded
from ..knowledge import drive_logs
from ..knowledge.drive_database import Advisory, DriveSpec
from ..model import Device, Identity, Judgement, Reading, Report, Source, State
from ..reading.completeness import UNREAD
from ..reading.content import FAILED, exit_status_notes
from ..typed import TYPE_CHECKING
from ..wording import HEALTH, amount, duration, statement
from ..words import clean

if TYPE_CHECKING:
    from ..history.past import Past

TIME_LEFT, ENDURANCE = 'endurance_time_left', 'endurance_used'
SELF_TEST, TOO_HOT = 'self_test', 'critical_temperature_time'
UNKNOWN_MODEL, UNREAD_ROWS = 'unknown_model', 'unread_rows'
CYCLES_A_DAY = 10  # so many power cycles without a restart can be the work of a person
LEAST_USED = 2  # %; below it, whole numbers are too coarse for a forecast
ADVISORY_HOURS = 1000  # power-on hours; a firmware defect due within this time is CRITICAL
# percentage points; a larger difference between two endurance readings is noted
APART = 5


def advisory(defect: Advisory, identity: Identity, hours: float | None, now: float) -> Reading:
    """Return a known firmware defect as a reading that has a state. hours: the drive's power-on
    hours.
    """
    is_near = defect.hour is not None and hours is not None and hours > defect.hour - ADVISORY_HOURS
    when = f' ({_countdown(defect.hour, hours, now)})' if defect.hour else ''
    fix = f', fixed in {defect.fixed_in}' if defect.fixed_in else ''
    until = '' if defect.is_read else ', and do not read the drive before'
    words = f'firmware {identity.firmware}{fix}: {defect.effect}{when}; {defect.action}{until}'
    return Reading(
        'firmware_advisory',
        0,
        '',
        Source(defect.source),
        words,
        State.CRITICAL if is_near else defect.state,
        has_remedy=bool(defect.fixed_in) or not defect.is_read,  # a patch keeps its revision
    )


def allowed(defects: Sequence[Advisory], is_allowed: bool) -> Iterator[Coded]:
    """Yield a note for each defect that forbids to read the drive, if the site allows it."""
    for defect in defects:
        if is_allowed and not defect.is_read:
            yield Coded(
                'reading-allowed', f'read although {defect.effect}: "read": true in a limits file'
            )


def _countdown(hour: int, hours: float | None, now: float) -> str:
    if hours is None:
        return f'at {hour} power-on hours'
    if hours >= hour:
        return f'at {hour} power-on hours, and the drive has {hours:.0f}'
    day = time.strftime('%Y-%m-%d', time.gmtime(now + (hour - hours) * HOUR))
    return (
        f'at {hour} power-on hours, {hour - hours:.0f} hours from now, on {day} if the '
        f'drive stays on'
    )


def unknown_model(device: Device, report: Report, state: State) -> Reading:
    """Return the reading for a drive that has no entry in the database. state: the state set by
    --unknown-model; UNKNOWN if the report has neither a model nor the health status.
    """
    identity = report.identity
    if not identity.model and report.smart_status is None:
        return Reading(
            UNKNOWN_MODEL,
            0,
            '',
            Source('attributes.json'),
            'no identity, so the attributes cannot be judged; add the lines with model and firmware, '
            'or record the whole report: smartctl --json -x',
            State.UNKNOWN,
        )
    source = f'--report {device.path}' if device.is_recorded else f'-d {device.address}'
    has_table = report.attributes or identity.protocol != 'ATA'
    advice = f'; to create one, run: check_smart_attributes draft {source}' if has_table else ''
    return Reading(
        UNKNOWN_MODEL,
        0,
        '',
        Source('attributes.json'),
        f'no entry for {identity.model or "this drive"} (firmware '
        f'{identity.firmware or "not reported"}){advice}',
        state,
    )


def unread_rows(report: Report) -> list[Reading]:
    """Return the reading for tables of which a row cannot be read: it may hold an alert."""
    return [
        Reading(
            UNREAD_ROWS,
            0,
            '',
            Source('the report'),
            f'{gap}, so an alert may be missing; compare with the original output',
            State.UNKNOWN,
        )
        for gap in report.gaps
        if gap.code == UNREAD
    ]


def notes(
    report: Report, found: Sequence[Reading], spec: DriveSpec, past: Past | None = None
) -> list[Coded]:
    """Return the notes that -v prints about a drive; notes do not change the drive's state."""
    sentences = (
        (
            'attribute-failed-before',
            [
                f'attribute {row.id} {clean(row.name)} was at its vendor threshold in the past'
                for row in report.attributes
                if row.when_failed == 'past'
            ],
        ),
        (
            'health-status-explained',
            [
                reading.verdict
                for reading in found
                if reading.metric == HEALTH and not reading.judged and reading.verdict
            ],
        ),
        (
            'value-unknown',
            [
                f'{reading.metric} from {reading.source} is unknown: {reading.unknown}'
                for reading in found
                # report.gaps already lists these
                if reading.number is None and reading.metric != HEALTH
            ],
        ),
        ('sources-differ', _differences(found)),
        ('smartctl-differs', _derived(found, drive_logs.SMARTCTL, APART)),
        ('warranty-differs', _derived(found, drive_logs.RATED, drive_logs.FAR)),
        ('warranty-exceeded', _warranty(found)),
        ('was-too-hot', _heat(found)),
        ('statistic-not-trusted', _distrusted(found, spec)),
    )
    messages = [
        Coded('smartctl-message', clean(message, LONGEST_STATEMENT)) for message in report.messages
    ]
    return [
        *(Coded(code, each) for code, texts in sentences for each in texts),
        *_of_hours(report, found),
        *exit_status_notes(_exit_status(report, found)),
        *messages,
        *(gap for gap in report.gaps if gap.code != UNREAD),
        *(Coded('values-missing', each) for each in _lost_wear(report, spec)),
        *_late(report, found, past),
    ]


def _exit_status(report: Report, found: Sequence[Reading]) -> int | None:
    """Return smartctl's exit status, without the bit for a health status that is not judged: the
    note on that status says why, and the drive need not be failing.
    """
    status = report.exit_status
    is_explained = any(each.metric == HEALTH and not each.judged and each.verdict for each in found)
    return status & ~FAILED if is_explained and status and status > 0 else status


def self_test_to_repeat(device: Device, judgements: Sequence[Judgement]) -> list[Coded]:
    """Return a note with the command of the test that ends the alert about a failed self-test."""
    # A WARNING means that smartctl does not show which test failed, so that it would not show that
    # another one has passed.
    if not any(
        each.reading.metric == SELF_TEST and each.reading.state is State.CRITICAL and each.state
        for each in judgements
    ):
        return []
    kind = f'-d {device.type} ' if device.type else ''
    path = 'DEVICE' if device.is_recorded else device.path
    return [
        Coded(
            'self-test-to-repeat',
            'the alert of self_test ends when an extended self-test passes; to start one, run: '
            f'smartctl -t long {kind}{path}',
        )
    ]


def power_losses(reading: Reading | None, past: Past | None, up_since: float) -> list[Coded]:
    """Return a note if the power cycles of a drive grew much while the host was not restarted.

    reading: the drive's power cycles. The history has their number at the first check of each day.
    up_since: seconds since 1970; 0: unknown.

    Of 59,763 pairs of reports of linuxhw/EnterpriseDrive, 17 (13 of 27,548 drives) have more than
    CYCLES_A_DAY cycles a day, restarts of the host included.
    """
    if reading is None or past is None or not up_since:
        return []
    from ..history.past import history

    known = history(past, reading)
    start = max(up_since, past.now - 2 * DAY)
    first = next((each for each in known.points if each.time >= start), None) if known else None
    grown = (reading.number or 0) - first.number if first else 0
    if first is None or grown <= CYCLES_A_DAY * max(1, (past.now - first.time) / DAY):
        return []
    return [
        Coded(
            'power-lost',
            f'power_cycles grew by {grown:.0f} in {duration(past.now - first.time)}, and this host '
            'was not restarted: check the power supply, the cable and the backplane',
        )
    ]


def undated(found: Sequence[Reading]) -> list[Coded]:
    """Return a note that a recorded report has no usable date, if a forecast counts from it."""
    if all(each.forecast is None or each.forecast.left <= 0 for each in found):
        return []
    return [
        Coded('report-undated', 'the report has no usable date, so its forecast counts from today')
    ]


def judged(found: Sequence[Reading]) -> dict[str, Reading]:
    """Return the judged readings that have a number, by metric."""
    return {
        reading.metric: reading
        for reading in found
        if reading.judged and reading.number is not None
    }


def _of_hours(report: Report, found: Sequence[Reading]) -> list[Coded]:
    """Return a note on each log whose power-on hours exceed the drive's power-on time."""
    if all(each.metric != drive_logs.HIDDEN for each in found):
        return []
    from ..knowledge.log_ages import clock_notes

    return clock_notes(report, found)


def _late(report: Report, found: Sequence[Reading], past: Past | None) -> Iterator[Coded]:
    """Yield the notes on the FARM log, and on each counter that was lower than at a check in the
    last 30 days.
    """
    if report.farm is not None:
        from ..knowledge.log_ages import farm_notes

        yield from farm_notes(report.farm)
    if past is not None:
        from ..history.past import fall_note, falls

        yield from map(fall_note, falls(past, found, report.identity.firmware))


def _lost_wear(report: Report, spec: DriveSpec) -> list[str]:
    """Return a note with the attributes for endurance_used if the attribute table has none of them;
    else [].

    In linuxhw/EnterpriseDrive, all 14,359 solid state drives whose entry names such attributes
    report one of them.
    """
    numbers = {row.id for row in report.attributes}
    sources = [
        item.attribute for item in spec.readings if item.metric == ENDURANCE and not item.is_trap
    ]
    if not numbers or not sources or not numbers.isdisjoint(sources):
        return []
    return [
        f'the report lacks attribute {" or ".join(map(str, dict.fromkeys(sources)))}, the source '
        'of endurance_used in this family'
    ]


def _differences(found: Sequence[Reading]) -> list[str]:
    """Return a note for each metric whose percentages differ by more than APART points."""
    by_metric: dict[str, list[Reading]] = {}
    for reading in found:
        if (
            reading.unit == '%'
            and reading.number is not None
            and reading.source.log not in drive_logs.DERIVED
        ):
            by_metric.setdefault(reading.metric, []).append(reading)
    return [
        f'{metric}: {", ".join(f"{amount(r.number, r.unit)} from {r.source}" for r in same)}; the '
        'worse value is used'
        for metric, same in by_metric.items()
        if max(r.number or 0 for r in same) - min(r.number or 0 for r in same) > APART
    ]


def _derived(found: Sequence[Reading], log: str, apart: float) -> list[str]:
    """Return a note for each metric whose value in *log* differs from the judged value by more
    than *apart* points.
    """
    by_metric = judged(found)
    return [
        f'{own.metric}: {amount(own.number, own.unit)} computed by {log}, '
        f'{amount(by_metric[own.metric].number, own.unit)} from {by_metric[own.metric].source}; the '
        f'second value is used'
        for own in found
        if own.source.log == log
        and own.number is not None
        and own.metric in by_metric
        and abs(own.number - (by_metric[own.metric].number or 0)) > apart
    ]


def _warranty(found: Sequence[Reading]) -> list[str]:
    """Return a note if more was written than the warranty covers; else [].

    This does not affect the drive's health.
    """
    known = {metric: reading.number or 0 for metric, reading in judged(found).items()}
    if 'rated_written' not in known or known.get('host_written', 0) <= known['rated_written']:
        return []
    return [
        f'host_written {amount(known["host_written"], "B")} exceeds the '
        f'{amount(known["rated_written"], "B")} that the warranty covers'
    ]


def _heat(found: Sequence[Reading]) -> list[str]:
    """Return a note if the drive was ever above its critical temperature; else [].

    Nobody can end that, so only further minutes alert. 6 of 7,307 NVMe drives of
    linuxhw/EnterpriseDrive were ever that hot: five for 4 minutes at most, one, which had failed,
    for 112 hours.
    """
    total = judged(found).get(TOO_HOT)
    if total is None or not total.number:
        return []
    return [
        f'{statement(total)} in its life: the drive has been so hot that it slows down or stops; '
        'check fans and airflow'
    ]


def _distrusted(found: Sequence[Reading], spec: DriveSpec) -> list[str]:
    """Return a note for each untrusted device statistic; above 0, the note adds what the
    statistic predicts.
    """
    return [
        f'{reading.metric}: {amount(reading.number, reading.unit)} in the device statistics is '
        f'not judged, because '
        'this statistic is known to be wrong for this family'
        + (
            f'; {spec.untrusted_statistics[reading.metric]}'
            if reading.number and spec.untrusted_statistics[reading.metric]
            else ''
        )
        for reading in found
        if reading.source.log == drive_logs.DEVICE_STATISTICS
        and reading.metric in spec.untrusted_statistics
    ]
