"""Derive vendor-neutral readings from a report and its database entry.

Pure: all input is passed as values. A reading outside its valid range is unknown, and not 0 % or
100 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..constants import HOUR
from ..model import AttributeRow, Identity, Reading, Report, Source, State
from ..wording import HEALTH, IMPLAUSIBLE, amount
from . import decode, drive_logs, end_of_life
from .drive_database import (
    STATES,
    DriveSpec,
    Metric,
    ReadingSpec,
    is_inside,
    is_plausible,
    unknown,
)

_WEAR = 'endurance_used'
_DEGREES = 'C'


def readings(
    report: Report,
    spec: DriveSpec,
    metrics: Mapping[str, Metric],
    vendor_log: Iterable[Reading] = (),
) -> tuple[Reading, ...]:
    """Return all readings of the report, beginning with the drive's own assessment.

    vendor_log: readings from a vendor's log.

    Of several readings of one metric, only the worst is judged. Device statistics that the entry
    marks as untrusted are not judged.
    """
    by_metric: dict[str, list[Reading]] = {}
    for reading in (
        *standard_readings(report, metrics, spec.statistic_units),
        *vendor_readings(report, spec, metrics),
        *vendor_log,
    ):
        by_metric.setdefault(reading.metric, []).append(reading)
    for reading in tuple(_rated(by_metric, spec, metrics)):
        by_metric.setdefault(reading.metric, []).append(reading)
    if _WEAR in by_metric:
        by_metric[_WEAR] = _near(plausible_wear(by_metric, report.identity.capacity))
    chosen = [
        reading
        for metric, same in by_metric.items()
        for reading in _choose(same, metrics[metric], spec)
    ]
    age = drive_logs.age_of(chosen)
    hidden = drive_logs.hidden(report, age, metrics) if spec.is_clock_trusted else []
    if report.errors:
        from . import log_ages  # most drives have no errors

        chosen = log_ages.with_history(chosen, report, metrics=metrics, age=age)
    verdicts = _own_verdicts(report, spec, age=age, is_bound=bool(hidden))
    result = [
        *end_of_life.marked(verdicts, report, numbers=chosen, metrics=metrics),
        *chosen,
    ]
    # If the counter was reset, an event in the log may be older than the counter shows.
    if hidden:
        for place, reading in enumerate(result):
            if reading.quiet is not None:
                result[place] = reading._replace(quiet_is_bound=True)
    return (*result, *hidden)


# --- 1. the drive's own verdicts ----------------------------------------------


def _own_verdicts(
    report: Report,
    spec: DriveSpec,
    age: float | None,
    is_bound: bool,
) -> list[Reading]:
    """Return the health status, failing attributes, warning bits and the decisive self-test.

    age: power-on time, seconds. is_bound: the real power-on time may be longer.
    """
    failing = [row for row in report.attributes if row.when_failed == 'now']
    bits = report.nvme.get('critical_warning', 0)
    warnings = [warning for warning in drive_logs.NVME_WARNINGS if bits & warning.mask]
    is_explained = bits == sum(warning.mask for warning in warnings)
    explained = [warning.metric for warning in warnings] if is_explained else []
    verdicts = [
        _smart_status(
            report, failing, explained=explained, ignored=spec.ignored_thresholds
        )
    ]
    if drive_logs.is_odd(report):
        from . import scsi_codes  # few drives need the tables

        verdicts = scsi_codes.verdicts(report, *verdicts)
    verdicts += [
        _failing(row) for row in failing if row.id not in spec.ignored_thresholds
    ]
    rates = drive_logs.RATES - spec.ignored_thresholds
    for row in report.attributes:
        if row.when_failed == 'past' and row.prefail and row.id in rates:
            verdicts.append(_failed_once(row))
    verdicts += [drive_logs.warned(warning, report.nvme) for warning in warnings]
    metrics = {verdict.metric for verdict in verdicts}
    for refusal in drive_logs.refusals(report):
        if refusal.metric not in metrics:
            verdicts.append(refusal)
    self_test = drive_logs.unlisted_failure(report) or drive_logs.verdict(
        report.self_tests, report.identity, age=age, is_bound=is_bound
    )
    return [*verdicts, self_test] if self_test else verdicts


def _smart_status(
    report: Report,
    failing: Sequence[AttributeRow],
    explained: Sequence[str],
    ignored: frozenset[int],
) -> Reading:
    """Return the health status as a reading. explained: the metrics of the warning bits that explain
    it; an unknown bit explains nothing.
    """
    if report.smart_status is None:
        return _unreported(report)
    is_derived = report.is_status_derived
    source = Source(
        drive_logs.ATTRIBUTE_CHECK if is_derived else drive_logs.SELF_ASSESSMENT
    )
    if report.smart_status:
        return Reading(HEALTH, 1, source=source, verdict='passed', state=State.OK)
    word = report.smart_status_text or 'FAILED'
    # Only a pre-fail attribute makes a drive report FAILED; other attributes cannot be the cause.
    causes = [row.id for row in failing if row.prefail]
    if explained:  # the warning bits are more specific
        word = f'{word}, because of {" and ".join(explained)}'
    elif causes and ignored.issuperset(causes):
        word = f'{word}, but only because of a threshold that is known to be wrong'
    else:
        return Reading(HEALTH, 0, source=source, verdict=word, state=State.CRITICAL)
    return Reading(HEALTH, 0, source=source, verdict=word, state=State.OK, judged=False)


def _unreported(report: Report) -> Reading:
    """Return a reading for a report without a health status; the state is UNKNOWN if no counters
    are usable.
    """
    source = Source(drive_logs.SELF_ASSESSMENT)
    has_thresholds = any(row.threshold is not None for row in report.attributes)
    if report.has_exit_bit(4) and report.attributes and not has_thresholds:
        word = 'not reported, because the drive stopped answering while it was read'
        brief = 'the drive stopped answering while it was read'
        action = 'check again, then run: dmesg -T'
    elif _has_counters(report):
        return Reading(
            HEALTH, None, source=source, judged=False, unknown='not reported'
        )
    else:
        word = brief = 'neither health status nor counters reported'
        action = 'record it again: smartctl --json -x DEVICE'
    return Reading(
        HEALTH,
        0.5,
        source=source,
        verdict=word,
        state=State.UNKNOWN,
        brief=brief,
        action=action,
    )


def _has_counters(report: Report) -> bool:
    """Return whether a report has attributes or a health log, either of which is enough to judge
    the drive.
    """
    return bool(
        report.attributes
        or drive_logs.NVME_HEALTH.intersection(report.nvme)
        or drive_logs.SCSI_HEALTH.intersection(report.scsi)
    )


def _failing(row: AttributeRow) -> Reading:
    words = f'attribute {row.id} {row.name} failed'
    return Reading(
        'vendor_threshold',
        row.value,
        source=Source(attribute=row.id),
        verdict=f'{words}: value {row.value}, vendor threshold {row.threshold}',
        state=State.CRITICAL if row.prefail else State.WARNING,
        drive_limit=row.threshold,
        brief=words,
    )


def _failed_once(row: AttributeRow) -> Reading:
    words = f'attribute {row.id} {row.name} failed in the past'
    return _failing(row)._replace(
        metric='vendor_threshold_past',
        number=row.worst,
        verdict=f'{words}: worst value {row.worst}, vendor threshold {row.threshold}, '
        f'value now {row.value}',
        state=State.WARNING,
        brief=words,
    )


# --- 2. standard logs --------------------------------------------------------


def standard_readings(
    report: Report, metrics: Mapping[str, Metric], sectors: Mapping[str, str]
) -> Iterable[Reading]:
    """Yield readings from the ATA, NVMe and SCSI standard logs. sectors: unit in which a metric
    counts sectors.
    """
    identity = report.identity
    for place, statistic in report.statistics.items():
        # 29 of the measured disks report a normalized value of 200 as the number of reallocated
        # sectors.
        is_normalized = 'N' in statistic.flags and place[0] != drive_logs.ENDURANCE_PAGE
        if place not in drive_logs.ATA or is_normalized:
            continue
        standard = drive_logs.ATA[place]
        count = statistic.number * (standard.factor or identity.sector_size)
        unit = standard.unit or sectors.get(standard.metric, '')
        number = decode.in_base_unit(count, unit, identity)
        reading = _number(
            metrics[standard.metric], number, drive_logs.DEVICE_STATISTICS
        )
        counted = decode.counted_sectors(count, unit, identity)
        yield reading._replace(logical_sectors=counted)
    yield from _nvme_readings(report.nvme, metrics)
    yield from _scsi_readings(report.scsi, metrics)
    for metric, number in report.derived.items():
        yield _number(metrics[metric], number, drive_logs.SMARTCTL)
    if report.error_count is not None:
        yield _number(
            metrics['error_log_count'], report.error_count, drive_logs.ERROR_LOG
        )


def _nvme_readings(
    log: Mapping[str, int], metrics: Mapping[str, Metric]
) -> Iterable[Reading]:
    threshold = log.get('available_spare_threshold')
    for key, number in log.items():
        if key not in drive_logs.NVME:
            continue
        standard = drive_logs.NVME[key]
        metric = metrics[standard.metric]
        limit = None
        if key == 'available_spare':
            # A drive that does not measure its spare reports 0 %, with a threshold of 0 %.
            if number == threshold == 0:
                continue
            limit = None if threshold in (0, 100) else threshold
        # Exactly 2^32 errors, but none in the error log: a single bit was set, and no data was
        # lost.
        if (
            key == 'media_errors'
            and number == 2**32
            and log.get('num_err_log_entries') == 0
        ):
            why = f'{number} with an empty error log is not plausible'
            yield unknown(metric, Source(drive_logs.NVME_LOG), why)
        else:
            yield _number(metric, number * standard.factor, drive_logs.NVME_LOG, limit)


def _scsi_readings(
    log: Mapping[str, float], metrics: Mapping[str, Metric]
) -> Iterable[Reading]:
    for key, number in log.items():
        if key in drive_logs.SCSI:
            standard = drive_logs.SCSI[key]
            yield _number(
                metrics[standard.metric], number * standard.factor, drive_logs.SCSI_LOG
            )
    metric = metrics['reported_uncorrect']
    counts = [log[key] for key in drive_logs.SCSI_UNCORRECTED if key in log]
    # an impossible count, such as 2^64 - 1, must not hide the others
    possible = [count for count in counts if is_inside(count, metric.valid)]
    impossible = [count for count in counts if not is_inside(count, metric.valid)]
    for errors in (possible, impossible):
        if errors:
            yield _number(metric, sum(errors), drive_logs.SCSI_LOG)
    gigabytes = (
        log.get(f'{page}.gigabytes_processed', 0) for page in drive_logs.SCSI_PAGES
    )
    terabytes = sum(gigabytes) / 1000
    if terabytes >= 1:
        slow = sum(
            number for key, number in log.items() if key.endswith(drive_logs.SLOW)
        )
        yield _number(
            metrics['corrected_slowly'], slow / terabytes, drive_logs.SCSI_LOG
        )


def _number(
    metric: Metric,
    number: float,
    log: str,
    limit: float | None = None,
) -> Reading:
    if not is_plausible(number, metric):
        return unknown(metric, Source(log), f'{number:g} is not a plausible value')
    return Reading(
        metric.name, number, unit=metric.unit, source=Source(log), drive_limit=limit
    )


# --- 3. vendor attributes ----------------------------------------------------


def vendor_readings(
    report: Report, spec: DriveSpec, metrics: Mapping[str, Metric]
) -> Iterable[Reading]:
    """Return one reading for each metric of the entry: the first valid reading, else the first
    unknown reading.
    """
    rows = {row.id: row for row in report.attributes}
    items = [*spec.readings]
    for row in report.attributes:
        if row.prefail and row.threshold:
            items += [
                item._replace(attribute=row.id)
                for item in spec.by_name.get(row.name, ())
            ]
    by_metric: dict[str, Reading] = {}
    for item in items:
        if item.attribute not in rows:
            continue
        earlier = by_metric.get(item.metric)
        if earlier is None or earlier.number is None:
            reading = _vendor_reading(
                item, rows, metric=metrics[item.metric], identity=report.identity
            )
            if earlier is None or reading.number is not None:
                by_metric[item.metric] = reading
    return by_metric.values()


def _vendor_reading(
    item: ReadingSpec,
    rows: Mapping[int, AttributeRow],
    metric: Metric,
    identity: Identity,
) -> Reading:
    """Return the reading of one metric from one attribute, in the metric's base unit. rows: by
    attribute.
    """
    row = rows[item.attribute]
    source = Source(attribute=row.id, definition=item.definition)
    count = decode.evaluate(item.formula, row, rows)
    if metric.unit == _DEGREES and count is not None:
        signed = decode.signed_byte(item.formula, count)
        count = signed if is_plausible(signed, metric) else count
    if count is None:
        return unknown(
            metric, source, f'the raw value {row.raw} does not contain this number'
        )
    if count in item.sentinels:
        return unknown(metric, source, f'{count:g} means no value')
    if not is_inside(count, item.valid):
        return unknown(metric, source, f'{count:g} is outside its valid range')
    if item.states:
        return _verdict(item, metric, source=source, number=int(count))
    at_ceiling = item.ceiling is not None and count >= item.ceiling
    if item.ceiling is not None:
        count = min(item.ceiling, count)
    number = decode.in_base_unit(count, item.unit, identity)
    if not is_plausible(number, metric):
        return unknown(metric, source, f'{number:g} is not a plausible value')
    has_limit = item.formula.is_value and row.threshold
    return Reading(
        metric.name,
        number,
        unit=metric.unit,
        source=source,
        judged=not item.is_trap,
        drive_limit=row.threshold if has_limit else None,
        at_ceiling=at_ceiling,
        logical_sectors=decode.counted_sectors(count, item.unit, identity),
    )


def _verdict(
    item: ReadingSpec,
    metric: Metric,
    source: Source,
    number: int,
) -> Reading:
    for lowest, highest, word in item.states:
        if lowest <= number <= highest:
            state = STATES.get(word, State.WARNING)
            return Reading(
                metric.name,
                {State.OK: 1, State.WARNING: 0.5}.get(state, 0),
                unit=metric.unit,
                source=source,
                verdict=word,
                state=state,
                judged=not item.is_trap,
            )
    return unknown(metric, source, f'{number} is not a known result')


# --- which of several readings is judged ------------------------------------------------


def _choose(same: Sequence[Reading], metric: Metric, spec: DriveSpec) -> list[Reading]:
    """Return the readings of one metric; all except the decisive reading are marked as not
    judged.
    """
    usable = [
        reading for reading in same if reading.number is not None and reading.judged
    ]
    if metric.name in spec.untrusted_statistics:
        usable = [
            reading
            for reading in usable
            if reading.source.log != drive_logs.DEVICE_STATISTICS
        ]
    # A number that smartctl derives is used only if neither an entry nor a log of the drive gives a
    # better number.
    rated = [reading for reading in usable if reading.source.log == drive_logs.RATED]
    own = [
        reading for reading in usable if reading.source.log not in drive_logs.DERIVED
    ]
    candidates = own or rated or ([] if spec.family else usable)
    worst = min if metric.worse == 'low' else max
    decisive = worst(candidates, key=lambda reading: reading.number or 0, default=None)
    if decisive and metric.name == _WEAR:
        decisive = _with_decimals(decisive, candidates)
    return [
        reading if reading is decisive else reading._replace(judged=False)
        for reading in same
    ]


def _with_decimals(rounded: Reading, candidates: Iterable[Reading]) -> Reading:
    """Return the first reading with decimals that is less than 1 % away, which gives better
    forecasts; else the reading itself.
    """
    for candidate in candidates:
        number = candidate.number or 0
        if number % 1 and abs(number - (rounded.number or 0)) < 1:
            return candidate
    return rounded


# --- the writes that the warranty covers ---------------------------------------------


def _rated(
    by_metric: Mapping[str, Sequence[Reading]],
    spec: DriveSpec,
    metrics: Mapping[str, Metric],
) -> Iterable[Reading]:
    """Yield the amount of writes that the warranty covers, and the percentage of this amount
    that was written.
    """
    if not spec.rated_written:
        return
    rated, document = spec.rated_written
    yield Reading('rated_written', rated, unit='B', source=Source(document))
    written = _largest(by_metric, 'host_written')
    if written is not None:
        metric = metrics[_WEAR]
        share, most = 100 * written / rated, metric.valid[1] or BEYOND_RATED
        # far more than the warranty covers is still wear
        is_beyond = most < share <= BEYOND_RATED
        reading = _number(metric, most if is_beyond else share, drive_logs.RATED)
        yield reading._replace(at_ceiling=is_beyond)


# --- wear that age and written bytes contradict --------------------------------------

# A value is implausible only if it is beyond both limits. These are far from all measured values:
# no worn drive loses its alert. 21,693 solid state drives of linuxhw/EnterpriseDrive report
# endurance_used: all have run at least 4.5 hours per percent. Of the drives that used 2 % or more,
# 3 report fewer than 5 full writes per 100 % (at least 2.3, after 64,453 hours). 7,418 worn drives
# that failed in Alibaba's fleet had all run at least 73 hours per percent.
HOURS_A_PERCENT = 1  # 100 hours from 0 % to 100 %
FULL_WRITES = 1  # writes of the full capacity for 100 %
# % of the warranted writes; a counter that shows more has another unit
BEYOND_RATED = 1000.0


def plausible_wear(
    by_metric: Mapping[str, Sequence[Reading]], capacity: int | None
) -> list[Reading]:
    """Return the readings of endurance_used; readings that contradict the age and the written bytes
    become unknown.

    by_metric: all readings of a drive. capacity: in bytes. If age, written bytes or capacity is
    unknown, all are kept.
    """
    wear = [*by_metric[_WEAR]]
    age = _largest(by_metric, 'power_on_time')
    written = _largest(by_metric, 'host_written', 'nand_written')
    if age is None or written is None or not capacity:
        return wear
    share = 100 * written / capacity
    most = max(age / HOUR / HOURS_A_PERCENT, share / FULL_WRITES)
    for place, reading in enumerate(wear):
        if reading.number is not None and reading.number > most:
            why = (
                f'{IMPLAUSIBLE}: {amount(reading.number, "%")} after {amount(age, "s")} with '
                f'{amount(written, "B")} written, {share:.2g} % of the capacity'
            )
            wear[place] = _refuted(reading, why)
    return wear


def _near(same: Sequence[Reading]) -> list[Reading]:
    """Return the readings of endurance_used; a vendor log's reading is made unknown if the NVMe
    log differs a lot.
    """
    log = drive_logs.NVME_LOG
    of_log = [reading.number for reading in same if reading.source.log == log]
    own = of_log[0] if of_log else None
    wear = [*same]
    for place, reading in enumerate(same):
        if own is None or reading.number is None or not reading.source.definition:
            continue
        if abs(reading.number - own) > drive_logs.FAR:
            why = f'{amount(reading.number, "%")} contradicts {amount(own, "%")} in the {log}'
            wear[place] = _refuted(reading, why)
    return wear


def _refuted(reading: Reading, why: str) -> Reading:
    return reading._replace(number=None, judged=False, unknown=why)


def _largest(by_metric: Mapping[str, Sequence[Reading]], *metrics: str) -> float | None:
    """Return the largest number of some metrics, because it fits the wear best; None if all are
    missing.
    """
    numbers = [
        reading.number for metric in metrics for reading in by_metric.get(metric, ())
    ]
    return max((number for number in numbers if number is not None), default=None)
