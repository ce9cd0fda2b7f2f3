"""Compare readings with their limits. Pure: the date and all other input are passed as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..command_line.options import Judging
from ..constants import HOUR
from ..errors import NOTHING, Coded
from ..knowledge import drive_logs, ranges, readings, severity
from ..knowledge.drive_database import Advisory, DriveSpec, Metric, SpecDatabase
from ..knowledge.thresholds import (
    LEVELS,
    DriveLimit,
    growth_rule,
    is_silent,
    when_quiet,
)
from ..model import (
    Device,
    Identity,
    Judgement,
    Reading,
    Report,
    Risk,
    State,
    Verdict,
    worst,
)
from ..reading import report_date
from ..typed import TYPE_CHECKING, NamedTuple
from ..wording import amount, statement
from . import drive_notes
from .drive_notes import ENDURANCE, TIME_LEFT

if TYPE_CHECKING:
    from ..history.growth import GrowthAlert
    from ..history.past import Past
    from ..knowledge.thresholds import (
        Acknowledgement,
        Bound,
        Exceptions,
        Limit,
        Thresholds,
    )

    RiskOf = Callable[[Sequence[Judgement], str, Sequence[str]], Risk | None]


# the judged readings of a drive that have a number, by metric
Readings = Mapping[str, Reading]


class Rules(NamedTuple):
    """What affects judging beside the data files."""

    asked: Judging = Judging()  # the options
    now: float = 0  # seconds since 1970, for dates in the future
    # see knowledge.risks; None: verdicts do not state how many such drives failed
    risk_of: RiskOf | None = None


class Context(NamedTuple):
    """What the judgement on a reading depends on, beside its limit."""

    # because a limit can refer to another reading
    by_metric: Mapping[str, Reading] = {}
    metrics: Mapping[str, Metric] = {}
    past: Past | None = None  # None: growth is not judged

    def is_floor(self, metric: str) -> bool:
        """Return whether lower numbers of a metric are worse; False for an unknown metric."""
        properties = self.metrics.get(metric)
        return properties is not None and properties.worse == 'low'


class _Case(NamedTuple):
    """One drive to judge, with all that its judgement depends on."""

    device: Device
    identity: Identity
    report: Report
    spec: DriveSpec
    metrics: Mapping[str, Metric]  # by name
    thresholds: Thresholds
    rules: Rules
    past: Past | None
    vendor_log: Sequence[Reading]
    exceptions: Exceptions
    defects: Sequence[Advisory]
    date: float  # of a recorded report, in seconds since 1970; 0: none, or not usable

    @property
    def family(self) -> str:
        """The family of the entry; '' if no entry matches."""
        return self.spec.family or ''

    def limit(self, metric: str) -> Limit:
        """Return the limit of a metric for this drive."""
        return self.thresholds.limit(metric, self.device, self.identity, self.family)


def judge(
    device: Device,
    report: Report,
    database: SpecDatabase,
    thresholds: Thresholds,
    rules: Rules,
    past: Past | None = None,
) -> Verdict:
    """Return the verdict on a drive that was read.

    Raises DataError if data files contradict each other.

    past: the earlier readings of this drive; None: growth is not judged.
    """
    spec = database.identify(report.identity, [row.id for row in report.attributes])
    identity = of_kind(report.identity, spec.kind)
    vendor_log: Sequence[Reading] = ()
    if spec.log and rules.asked.vendor_logs is not None:
        from . import vendor_readings

        log = vendor_readings.vendor_log(report, spec.log, database, past)
        spec = spec._replace(notes=(*spec.notes, *log.notes))
        vendor_log = log.readings
    date = report_date.possible(report.date, rules.now) if device.is_recorded else 0
    return _verdict(
        _Case(
            device,
            identity,
            report,
            spec,
            database.metrics,
            thresholds,
            rules,
            past,
            vendor_log,
            exceptions=thresholds.exceptions(device, identity, spec.family or ''),
            defects=database.advisories(identity),
            date=date,
        )
    )


def _verdict(case: _Case) -> Verdict:
    """Return the verdict on a drive, with its worst judgement first."""
    of_logs = _of_logs(case)
    by_metric = drive_notes.judged_by_metric(of_logs)
    all_readings = [*of_logs, *_derived(case, by_metric)]
    judgements, silences = _judgements(case, all_readings, by_metric)
    state = worst(judgement.state for judgement in judgements)
    risk = None
    if case.rules.risk_of and state is not State.OK:
        groups = case.thresholds.groups(case.family)
        risk = case.rules.risk_of(judgements, case.identity.kind, groups)
    return Verdict(
        case.device,
        case.identity,
        state,
        severity.in_order(judgements, risk),
        (*_notes(case, all_readings, judgements), *silences),
        entry=case.spec.family,
        date=case.date,
        risk=risk,
    )


def _of_logs(case: _Case) -> list[Reading]:
    """Return the readings of a drive's logs, without those of ignored attributes."""
    ignored = case.exceptions.ignored_attributes.union(
        case.rules.asked.ignore_attributes
    )
    spec = case.spec._replace(ignored_thresholds=case.spec.ignored_thresholds | ignored)
    of_logs = readings.readings(case.report, spec, case.metrics, case.vendor_log)
    return [reading for reading in of_logs if reading.source.attribute not in ignored]


def _derived(case: _Case, by_metric: Readings) -> list[Reading]:
    """Return the readings that are in no log: firmware defects, the age of the last self-test, a
    model without entry, and the time left.
    """
    asked = case.rules.asked
    device = case.device
    report = case.report
    power_on_time = _power_on_time(by_metric)
    derived = _of_defects(case, power_on_time)
    if asked.selftest_max_age:
        from ..knowledge.log_ages import freshness

        derived.append(
            freshness(
                report.self_tests,
                case.identity,
                power_on_time,
                asked.selftest_max_age,
                # a log shows that the drive has run longer than it reports
                is_bound=drive_logs.HIDDEN in by_metric,
            )
        )
    if not case.family:
        derived.append(drive_notes.unknown_model(device, report, asked.unknown_model))
    derived += drive_notes.unread_rows(device, report)
    return derived + _time_left(case, by_metric)


def _of_defects(case: _Case, power_on_time: float | None) -> list[Reading]:
    """Return a reading for each firmware defect that alerts. power_on_time: in seconds; None if
    unknown.

    A defect that forbids reading the drive does not alert if a limits file allows reading, with
    "read": true. A note reports it instead: see drive_notes.allowed().
    """
    hours = None if power_on_time is None else power_on_time / HOUR
    now = case.date or case.rules.now
    is_reading_allowed = case.exceptions.is_reading_allowed
    return [
        drive_notes.advisory(defect, case.identity, hours, now)
        for defect in case.defects
        if not (defect.forbids_reading and is_reading_allowed)
    ]


def _judgements(
    case: _Case, all_readings: Sequence[Reading], by_metric: Readings
) -> tuple[list[Judgement], list[Coded]]:
    """Return the judgement on each reading, and a note on each one that does not alert because it
    was acknowledged or is old.
    """
    context = Context(by_metric, case.metrics, case.past)
    judgements = []
    silences = []
    for reading in all_readings:
        limit = case.limit(reading.metric)
        if reading.metric in case.rules.asked.ignore_metrics:
            judgements.append(Judgement(reading, State.OK, graphed=limit.is_graphed))
            continue
        accepted = case.thresholds.acknowledged(case.identity, reading.metric)
        judgement = judge_remembered(reading, limit, context, accepted)
        if judgement.state is not State.OK or judgement.acknowledged:
            judgement = _with_meaning(judgement, case)
        judgements.append(judgement)
        silences += why_silent(judgement, limit, accepted, context)
    return judgements, silences


def _with_meaning(judgement: Judgement, case: _Case) -> Judgement:
    """Return the judgement with its words, and with the concern and the remedy of its metric.

    A drive that reports the end of its rated life, and nothing else, has those of endurance_used.
    """
    from ..knowledge import plain_words  # a healthy drive does not need it

    reading = judgement.reading
    metric = case.metrics.get(reading.metric)
    if judgement.growth_against:
        words = plain_words.of_change(reading.metric, metric, judgement.growth_change)
    else:
        words = plain_words.of_reading(reading, metric)
    meaning = case.metrics.get(ENDURANCE) if reading.is_wear else metric
    if meaning is None:
        return judgement._replace(words=words)
    remedy = _remedy(judgement, meaning, case.defects)
    return judgement._replace(words=words, concern=meaning.concern, remedy=remedy)


def _remedy(judgement: Judgement, metric: Metric, defects: Sequence[Advisory]) -> str:
    """Return the action against a finding: that of the metric, such as "firmware"; '' if the action
    concerns the drive itself.

    For a WARNING which shows that a firmware defect has already damaged the drive, return
    ORDER_COPY instead, because a firmware update does not help any more.

    metric: that of the reading, or endurance_used for a reading about nothing but wear.
    """
    reading = judgement.reading
    shows_damage = any(reading.metric in defect.too_late for defect in defects)
    if shows_damage and judgement.state is State.WARNING:
        return severity.ORDER_COPY
    return metric.remedy if reading.has_remedy else ''


def _notes(
    case: _Case, all_readings: Sequence[Reading], judgements: Sequence[Judgement]
) -> list[Coded]:
    """Return the notes on a drive, except those on acknowledged and on old readings, which
    _judgements() returns.
    """
    has_no_date = case.device.is_recorded and not case.date
    undated = drive_notes.undated(all_readings) if has_no_date else ()
    return [
        *case.spec.notes,
        *drive_notes.notes(case.report, all_readings, case.spec, case.past),
        *drive_notes.self_test_to_repeat(case.device, judgements),
        *undated,
        *case.thresholds.over(case.device, case.identity, case.family),
        *drive_notes.allowed(case.defects, case.exceptions.is_reading_allowed),
    ]


def of_kind(identity: Identity, kind: str) -> Identity:
    """Return an identity with the kind of its entry, if the drive does not report its rotation.

    kind: of a SATA drive, "hdd" or "ssd"; '' if the entry does not tell.
    """
    if identity.protocol != 'ATA' or identity.rotation is not None or not kind:
        return identity
    return identity._replace(spins=kind == 'hdd')


def _time_left(case: _Case, by_metric: Readings) -> list[Reading]:
    """Return the reading endurance_time_left:

    - no reading, if neither endurance_used nor endurance_time_left is judged
    - if only endurance_used is judged: the reading, but only if the time is known
    - if endurance_time_left is judged: always the reading; if the time is unknown, it has the
      reason instead of a number

    If the options ignore endurance_used, the time is unknown.
    """
    is_wear_judged = ENDURANCE in by_metric and _is_judged(case, ENDURANCE)
    is_time_left_judged = _is_judged(case, TIME_LEFT)
    if not is_wear_judged and not is_time_left_judged:
        return []
    from . import forecasts

    past = case.past
    basis = {} if ENDURANCE in case.rules.asked.ignore_metrics else by_metric
    reading = forecasts.time_left(basis, past)
    if not is_time_left_judged:
        return [] if reading.number is None else [reading]
    # A history that another user could have written must not hide an alert.
    if past is not None and not past.is_own:
        reading = forecasts.sooner(reading, forecasts.time_left(basis, None))
    return [reading]


def _is_judged(case: _Case, metric: str) -> bool:
    """Return whether a metric has levels, and the options do not ignore the metric."""
    if metric in case.rules.asked.ignore_metrics:
        return False
    limit = case.limit(metric)
    return limit.warning is not None or limit.critical is not None


def judge_remembered(
    reading: Reading, limit: Limit, context: Context, accepted: Acknowledgement | None
) -> Judgement:
    """Return the judgement on one reading, considering the reading's age, history and
    acknowledgement.
    """
    reading, limit = aged(reading, limit, context.past)
    present = judge_reading(reading, limit, context)
    level = _with_hysteresis(present, limit, context)
    if accepted or limit.growth:
        return weighed(level, limit, context, accepted)
    return level


def _with_hysteresis(present: Judgement, limit: Limit, context: Context) -> Judgement:
    """Return the present judgement; while hysteresis applies, one that keeps the earlier, worse
    state.
    """
    reading = present.reading
    if context.past is None or reading.number is None:
        return present
    from ..history.past import held
    from ..history.series import AT_ONCE, MARGINS

    # for a metric with hysteresis (MARGINS), maybe a higher number; else the number of the reading
    held_number = held(context.past, reading)
    if held_number == reading.number:
        return present
    earlier = judge_reading(reading._replace(number=held_number), limit, context)
    if earlier.state.urgency <= present.state.urgency:
        return present
    margin = amount(MARGINS[reading.metric], reading.unit)
    large_margin = amount(AT_ONCE, reading.unit)
    words = (
        f'{earlier.against}; the alert ends when the value has been {margin} below this limit for a '
        f'day, or as soon as it is {large_margin} below'
    )
    against = Coded(earlier.against.code, words)
    return earlier._replace(reading=reading, against=against)


def judge_reading(reading: Reading, limit: Limit, context: Context) -> Judgement:
    """Return the judgement on one reading as it is now, without its age, history and
    acknowledgement. A reading that is not judged is OK, and so is one without a number, even if it
    has a status.
    """
    if not reading.judged or reading.number is None:
        return Judgement(reading, State.OK, graphed=limit.is_graphed)
    if reading.state is not None:
        return judge_verdict(reading, reading.state, limit)
    # a drive does not fail when its warranty ends
    if reading.source.log == drive_logs.RATED:
        limit = limit._replace(critical=None)
    warning = _resolve(limit.warning, reading, context)
    critical = _resolve(limit.critical, reading, context)
    judgement = Judgement(
        reading,
        State.OK,
        warning,
        critical,
        origin=limit.critical_origin or limit.warning_origin,
        graphed=limit.is_graphed,
        reason=limit.critical_why if limit.critical_origin else limit.warning_why,
    )
    for state, bounds, origin, why in (
        (State.CRITICAL, critical, limit.critical_origin, limit.critical_why),
        (State.WARNING, warning, limit.warning_origin, limit.warning_why),
    ):
        if ranges.is_violated(bounds, reading.number, reading.unit):
            against = ranges.describe(bounds, reading.number, reading.unit)
            return judgement._replace(
                state=state, against=against, origin=origin, reason=why
            )
    return judgement


def aged(reading: Reading, limit: Limit, past: Past | None) -> tuple[Reading, Limit]:
    """Return a reading with the age of its newest event, and the limit for that age.

    The age comes from the drive's log or from the history. If it is unknown, or the limit is the
    same at any age, both are returned unchanged. If it is known only from a history that another
    user could have written, its age is marked as doubted, and the limit is unchanged.
    """
    if not limit.aged:
        return reading, limit
    if past is None:
        return reading, when_quiet(limit, reading)
    from ..history.past import quieted

    dated = quieted(past, reading)
    is_age_from_history = reading.quiet is None and dated.quiet is not None
    # An age that another user could have written suppresses no alert.
    if is_age_from_history and not past.is_own:
        return dated._replace(quiet_is_doubted=True), limit
    return dated, when_quiet(limit, dated)


def why_silent(
    judgement: Judgement,
    limit: Limit,
    accepted: Acknowledgement | None,
    context: Context,
) -> list[Coded]:
    """Return a note on an acknowledgement, or on an alert that is left out because its last event is
    old; [] if neither applies.

    limit: of the metric, as it is for a recent event; aged() changes it for an old one.
    """
    reading = judgement.reading
    if accepted is not None and reading.judged:
        from ..knowledge.acknowledgements import telling

        return [Coded('acknowledged', telling(accepted, reading.unit))]
    if judgement.state is not State.OK or not limit.aged:
        return []
    if_recent = judge_reading(reading, limit, context)
    if if_recent.state is State.OK:
        return []
    against = f' {if_recent.against}' if if_recent.against else ''
    return [
        Coded(
            'old-event',
            f'{statement(reading)}: only a note, because the event is old (a recent event would '
            f'be {if_recent.state.name}{against})',
        )
    ]


def weighed(
    without_growth: Judgement,
    limit: Limit,
    context: Context,
    accepted: Acknowledgement | None,
) -> Judgement:
    """Return a judgement that combines level, growth and acknowledgement. The first case that
    applies counts:

    - The drive itself reports a state, the reading is not judged, or it has no number: the
      judgement stays as it is, and cannot be acknowledged.
    - The number is acknowledged, and acknowledgements count for this limit: OK.
    - The number has grown: the worse state of level and growth, see _with_growth().
    - Otherwise: the level alone.
    """
    reading = without_growth.reading
    if reading.state is not None or not reading.judged or reading.number is None:
        return without_growth
    with_growth = without_growth
    growth = _growth(reading, limit, context)
    if growth:
        with_growth = _with_growth(without_growth, growth, limit)
    is_accepted = is_silent(
        accepted, reading.number, falls=context.is_floor(reading.metric)
    )
    if not is_accepted or _has_only_own_levels(limit):
        return with_growth
    would_alert = with_growth.state is not State.OK
    return without_growth._replace(
        state=State.OK, against=NOTHING, acknowledged=would_alert
    )


def _with_growth(
    without_growth: Judgement, growth: GrowthAlert, limit: Limit
) -> Judgement:
    """Return a judgement with the worse state of level and growth. Growth is described if the
    reading alerts.
    """
    # a small increase must not hide a bad level
    state = worst([without_growth.state, growth.state])
    if _has_only_own_levels(limit):
        state = without_growth.state
    if state is State.OK:
        return without_growth
    described = without_growth._replace(
        growth=growth.words,
        growth_change=growth.change,
        grown=growth.size,
        grown_ago=growth.ago,
    )
    if state is without_growth.state:
        return described
    return described._replace(
        state=state,
        growth_against=growth.against,
        growth_left=growth.left,
        level=without_growth.state,
        origin=limit.growth_origin,
    )


def _has_only_own_levels(limit: Limit) -> bool:
    """Return whether levels, but no growth rules, are set for this drive alone. Then the growth
    rules for all drives change no state, and no acknowledgement counts.
    """
    own = limit.own_fields
    return 'growth' not in own and not own.isdisjoint(LEVELS)


def _growth(reading: Reading, limit: Limit, context: Context) -> GrowthAlert | None:
    """Return the worst growth of a reading that causes an alert now; None if there is none."""
    past = context.past
    if past is None or not limit.growth:
        return None
    from ..history.past import history

    series = history(past, reading)
    if series is None or len(series.points) < 2:
        return None
    from ..history import growth  # needed for few readings of few drives

    rules = map(growth_rule, limit.growth)
    is_floor = context.is_floor(reading.metric)
    power_on_time = _power_on_time(context.by_metric)  # for rules about wear
    return growth.alert(series, reading, rules, past.now, is_floor, power_on_time)


def judge_verdict(reading: Reading, state: State, limit: Limit) -> Judgement:
    """Return the judgement on a reading whose status is a text. A critical limit of null turns
    CRITICAL into WARNING, and a warning limit of null turns WARNING into OK; both turn CRITICAL
    into OK.
    """
    is_never_critical = 'critical' in limit.set_fields and limit.critical is None
    is_never_warning = 'warning' in limit.set_fields and limit.warning is None
    if state is State.CRITICAL and is_never_critical:
        state = State.WARNING
    if state is State.WARNING and is_never_warning:
        state = State.OK
    return Judgement(
        reading,
        state,
        origin=str(reading.source),
        graphed=limit.is_graphed,
        reason=limit.why,
    )


def _resolve(bound: Bound, reading: Reading, context: Context) -> str:
    """Return a limit as a range, or '' for a limit that never alerts.

    A limit derived from the drive's own limit never excludes the best possible number of the
    metric, because every drive must be able to meet it: some drives have a threshold of 99 % for spare blocks, and no
    drive can exceed 100 %.
    """
    if not isinstance(bound, DriveLimit):
        return bound or ''
    own_limit = None
    if bound.reading == 'threshold':
        own_limit = reading.drive_limit
    elif bound.reading in context.by_metric:
        own_limit = context.by_metric[bound.reading].number
    if own_limit is None:
        return bound.otherwise or ''
    lowest, highest = context.metrics[reading.metric].valid
    number = bound.beside(own_limit)  # with the offset of the limit
    is_floor = context.is_floor(reading.metric)
    if is_floor and highest is not None:
        number = min(number, highest)
    elif not is_floor and lowest is not None:
        number = max(number, lowest)
    return ranges.beyond(number, is_floor)


def _power_on_time(by_metric: Readings) -> float | None:
    """Return the power-on time in seconds; None if it is unknown."""
    power_on_time = by_metric.get('power_on_time')
    return power_on_time.number if power_on_time else None
