"""From a report and what its entry says to vendor-neutral readings.

Pure: everything comes in as values. A reading outside its valid range is
unknown, never 0 % and never 100 %.
"""
from __future__ import annotations

from ..model import AttributeRow, Identity, Reading, Report, Source, State
from ..typed import TYPE_CHECKING
from . import decode, error_log, implausible_wear, self_tests, standards, units
from .drive_database import STATES, DriveSpec, Metric, ReadingSpec

if TYPE_CHECKING:
    from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

    from .drive_database import Interval


_WEAR = 'endurance_used'


def readings(report: Report, spec: DriveSpec, metrics: Mapping[str, Metric]) -> Tuple[Reading, ...]:
    """Return everything that the report says, the drive's own verdicts first.

    Of several readings of one metric, one is judged: the worst, unless the
    entry distrusts the drive's own endurance statistic.
    """
    numbers: Dict[str, List[Reading]] = {}
    for reading in [*standard_readings(report, metrics, spec.statistic_units), *vendor_readings(report, spec, metrics)]:
        numbers.setdefault(reading.metric, []).append(reading)
    if _WEAR in numbers:
        numbers[_WEAR] = implausible_wear.checked(numbers, report.identity.capacity)
    judged = [reading for metric, found in numbers.items() for reading in _choose(found, metrics.get(metric), spec)]
    age = next((reading.number for reading in judged if reading.metric == 'power_on_time' and reading.judged), None)
    return (*own_verdicts(report, spec, age), *_rated(spec), *error_log.with_history(judged, report, metrics, age))


def _rated(spec: DriveSpec) -> List[Reading]:
    return [Reading('rated_written', spec.rated_written[0], 'B',
                    Source(spec.rated_written[1]))] if spec.rated_written else []


# --- 1. the drive's own word -------------------------------------------------

def own_verdicts(report: Report, spec: DriveSpec, age: Optional[float] = None) -> List[Reading]:
    """Return health, failing attributes, warning bits and the self-test that counts. age: power-on time, seconds."""
    failing = [row for row in report.attributes if row.when_failed == 'now']
    found = _smart_status(report, failing, spec)
    found.extend(_failing(row) for row in failing if row.id not in spec.ignored_thresholds)
    found.extend(_failed_once(row) for row in report.attributes
                 if row.when_failed == 'past' and row.prefail and row.id in standards.RATES - spec.ignored_thresholds)
    bits = report.nvme.get('critical_warning', 0)
    found.extend(Reading(warning.metric, 0, '', Source(standards.NVME_LOG), warning.word, warning.state)
                 for warning in standards.NVME_WARNINGS if bits & warning.mask)
    tested = self_tests.verdict(report.self_tests, report.identity, age)
    return [*found, tested] if tested else found


def _smart_status(report: Report, failing: Sequence[AttributeRow], spec: DriveSpec) -> List[Reading]:
    if report.smart_status is None:
        return [_unreported(report)]
    if report.smart_status:
        return [_status('passed', State.OK, True)]
    word = report.smart_status_text or 'FAILED'
    if any(report.nvme.get('critical_warning', 0) & warning.mask for warning in standards.NVME_WARNINGS):
        return [_status(word, State.OK, False)]  # the bits say it better
    if _only_bogus(failing, spec):
        return [_status(f'{word}, but only by a threshold that is known to be bogus', State.OK, False)]
    return [_status(word, State.CRITICAL, True)]


def _unreported(report: Report) -> Reading:
    """Return the SMART health status of a report without one: unknown; UNKNOWN where nothing else shows it."""
    source = Source(standards.SELF_ASSESSMENT)
    word = ('not reported, the drive stopped answering while it was read; check again, then run: dmesg -T'
            if _fell_silent(report) else '' if _has_counters(report) else
            'report not understood: it holds neither the SMART health status nor the counters of the drive; record it '
            'again: smartctl --json -x')
    if word:
        return Reading('smart_status', 0.5, '', source, word, State.UNKNOWN)
    return Reading('smart_status', None, '', source, judged=False, unknown='not reported')


def _fell_silent(report: Report) -> bool:
    """Tell whether a command failed that would have told of the drive's health: its status, and the thresholds, too."""
    return (report.has_exit_bit(4) and bool(report.attributes)
            and all(row.threshold is None for row in report.attributes))


def _has_counters(report: Report) -> bool:
    """Tell whether a report holds what a drive is judged by beside its status: attributes, or the log of its kind."""
    return bool(report.attributes or standards.NVME_HEALTH.intersection(report.nvme)
                or standards.SCSI_HEALTH.intersection(report.scsi))


def _status(word: str, state: State, judged: bool) -> Reading:
    return Reading('smart_status', 1 if state is State.OK and judged else 0, '', Source(standards.SELF_ASSESSMENT),
                   word, state, judged)


def _only_bogus(failing: Sequence[AttributeRow], spec: DriveSpec) -> bool:
    # Only a pre-fail attribute makes a drive say FAILED; the others cannot explain it.
    guilty = [row for row in failing if row.prefail]
    return bool(guilty) and all(row.id in spec.ignored_thresholds for row in guilty)


def _failing(row: AttributeRow) -> Reading:
    word = f'attribute {row.id} {row.name} is at {row.value}, not above its vendor threshold {row.threshold}'
    state = State.CRITICAL if row.prefail else State.WARNING
    return Reading('vendor_threshold', row.value, '', Source(attribute=row.id), word, state, drive_limit=row.threshold)


def _failed_once(row: AttributeRow) -> Reading:
    word = (f'attribute {row.id} {row.name} was at {row.worst} once, not above its vendor threshold {row.threshold}, '
            f'and is at {row.value}')
    return Reading('vendor_threshold_past', row.worst, '', Source(attribute=row.id), word, State.WARNING,
                   drive_limit=row.threshold)


# --- 2. standard logs --------------------------------------------------------

def standard_readings(report: Report, metrics: Mapping[str, Metric], sectors: Mapping[str, str]) -> Iterable[Reading]:
    """Yield what the ATA, NVMe and SCSI standards define. sectors: in which unit the drive counts them, by metric."""
    for place, statistic in report.statistics.items():
        # 29 of the measured disks report 200 "reallocated sectors", normalized.
        if place in standards.ATA and ('N' not in statistic.flags or place[0] == standards.ENDURANCE_PAGE):
            standard = standards.ATA[place]
            count = statistic.number * (standard.factor or report.identity.sector_size)
            unit = standard.unit or sectors.get(standard.metric, '')
            reading = _number(standard.metric, units.in_base_unit(count, unit, report.identity),
                              standards.DEVICE_STATISTICS, metrics)
            yield reading._replace(logical_sectors=units.counted_sectors(count, unit, report.identity))
    for key, number in report.nvme.items():
        if key in standards.NVME and not _is_spare_unreported(key, report.nvme):
            standard = standards.NVME[key]
            if _is_no_count(key, report.nvme):
                yield _unknown(metrics[standard.metric], Source(standards.NVME_LOG),
                               f'{number} with an empty error log is no count')
            else:
                yield _number(standard.metric, number * standard.factor, standards.NVME_LOG, metrics,
                              _nvme_threshold(key, report))
    yield from _scsi_readings(report.scsi, metrics)
    for metric, number in report.derived.items():
        yield _number(metric, number, standards.SMARTCTL, metrics)
    if report.error_count is not None:
        yield _number('error_log_count', report.error_count, standards.ERROR_LOG, metrics)


def _scsi_readings(log: Mapping[str, float], metrics: Mapping[str, Metric]) -> Iterable[Reading]:
    for key, count in log.items():
        if key in standards.SCSI:
            standard = standards.SCSI[key]
            yield _number(standard.metric, count * standard.factor, standards.SCSI_LOG, metrics)
    uncorrected = [log[key] for key in standards.SCSI_UNCORRECTED if key in log]
    if uncorrected:
        yield _number('reported_uncorrect', sum(uncorrected), standards.SCSI_LOG, metrics)


def _is_spare_unreported(key: str, log: Mapping[str, int]) -> bool:
    """Tell a drive that has no spare from one that tells nothing: 0 % of a threshold of 0 %."""
    return key == 'available_spare' and log[key] == 0 and log.get('available_spare_threshold') == 0


def _is_no_count(key: str, log: Mapping[str, int]) -> bool:
    """Tell lost data from one bit that is set: exactly 2^32 of them, and none in the error log."""
    return key == 'media_errors' and log[key] == 2 ** 32 and log.get('num_err_log_entries') == 0


def _nvme_threshold(key: str, report: Report) -> Optional[float]:
    threshold = report.nvme.get('available_spare_threshold')
    if key != 'available_spare' or threshold in (None, 0, 100):
        return None
    return threshold


def _number(metric: str, number: float, log: str, metrics: Mapping[str, Metric],
            limit: Optional[float] = None) -> Reading:
    unit = metrics[metric].unit
    if not _inside(number, metrics[metric].valid):
        return Reading(metric, None, unit, Source(log), judged=False, unknown=f'{number:g} is no plausible value')
    return Reading(metric, number, unit, Source(log), drive_limit=limit)


def _inside(number: float, valid: Interval) -> bool:
    lowest, highest = valid
    return (lowest is None or number >= lowest) and (highest is None or number <= highest)


# --- 3. vendor attributes ----------------------------------------------------

def vendor_readings(report: Report, spec: DriveSpec, metrics: Mapping[str, Metric]) -> Iterable[Reading]:
    """Yield one reading for each metric of the entry: the first valid one, else the first unknown one."""
    rows = {row.id: row for row in report.attributes}
    found: Dict[str, Reading] = {}
    for item in spec.readings:
        row = rows.get(item.attribute)
        if row is None or (item.metric in found and found[item.metric].number is not None):
            continue
        reading = vendor_reading(item, row, rows, metrics[item.metric], report.identity)
        if item.metric not in found or reading.number is not None:
            found[item.metric] = reading
    return found.values()


def vendor_reading(item: ReadingSpec, row: AttributeRow, rows: Mapping[int, AttributeRow], metric: Metric,
                   identity: Identity) -> Reading:
    """Return what one attribute says about one metric, in the metric's base unit."""
    source = Source(attribute=row.id, definition=item.definition)
    count = decode.evaluate(item.formula, row, rows)
    unknown = _why_unknown(count, item, row)
    if count is None or unknown:
        return _unknown(metric, source, unknown)
    if item.states:
        return _verdict(item, metric, source, int(count))
    at_ceiling = item.ceiling is not None and count >= item.ceiling
    count = item.ceiling if item.ceiling is not None and at_ceiling else count
    number = units.in_base_unit(count, item.unit, identity)
    if not _inside(number, metric.valid):
        return _unknown(metric, source, f'{number:g} is no plausible value')
    return Reading(metric.name, number, metric.unit, source, judged=not item.is_trap,
                   drive_limit=_vendor_threshold(item, row),
                   at_ceiling=at_ceiling, logical_sectors=units.counted_sectors(count, item.unit, identity))


def _why_unknown(count: Optional[float], item: ReadingSpec, row: AttributeRow) -> str:
    if count is None:
        return f'{row.raw} does not hold it'
    if count in item.sentinels:
        return f'{count:g} means no value'
    return '' if _inside(count, item.valid) else f'{count:g} is outside its valid range'


def _unknown(metric: Metric, source: Source, why: str) -> Reading:
    return Reading(metric.name, None, metric.unit, source, judged=False, unknown=why)


def _verdict(item: ReadingSpec, metric: Metric, source: Source, number: int) -> Reading:
    for lowest, highest, word in item.states:
        if lowest <= number <= highest:
            state = STATES.get(word, State.WARNING)
            return Reading(metric.name, {State.OK: 1, State.WARNING: 0.5}.get(state, 0), metric.unit, source, word,
                           state,
                           judged=not item.is_trap)
    return _unknown(metric, source, f'{number} is no known result')


def _vendor_threshold(item: ReadingSpec, row: AttributeRow) -> Optional[float]:
    """Return the row's threshold where the reading is its value itself."""
    formula = item.formula
    is_value = formula.first.column == 'value' and not (formula.attributes or formula.minus_from or formula.second)
    return row.threshold if is_value and row.threshold else None


# --- which of several is judged ------------------------------------------------

def _choose(found: Sequence[Reading], metric: Optional[Metric], spec: DriveSpec) -> List[Reading]:
    """Mark all but the decisive reading of one metric as not judged."""
    usable = [r for r in found if r.number is not None and r.judged and not _is_distrusted(r, spec)]
    # What smartctl makes of a drive counts where nobody knows better: no entry, and nothing that the drive says of
    # itself.
    candidates = [r for r in usable if r.source.log != standards.SMARTCTL] or ([] if spec.family else usable)
    if not candidates or metric is None:
        return [reading._replace(judged=False) for reading in found]
    worst = min if metric.worse == 'low' else max
    decisive = worst(candidates, key=lambda reading: reading.number or 0)
    return [reading if reading is decisive else reading._replace(judged=False) for reading in found]


def _is_distrusted(reading: Reading, spec: DriveSpec) -> bool:
    return reading.source.log == standards.DEVICE_STATISTICS and reading.metric in spec.untrusted_statistics
