"""Convert verdicts to Prometheus metrics in base units; each name consists of our metric's name and
the unit.

Source: Prometheus, "Family and label naming" and "Exposition formats". All metrics are gauges: a
drive may correct a number, and a replacement drive starts at zero. prometheus_client prints the
metrics and escapes labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..failures import missing
from ..knowledge.drive_database import Metric, Metrics
from ..model import Case, Judgement, State, Verdict, worst
from ..redundancy.replacement import Membership
from ..words import clean
from ..work.statements import kind
from .perfdata import is_graphed

PREFIX = 'smart_'
# Unit of a metric -> the ending of its name, and how many of this unit equal one Prometheus base
# unit.
UNITS: Mapping[str, tuple[str, int]] = {
    '%': ('_ratio', 100),
    's': ('_seconds', 1),
    'B': ('_bytes', 1),
    'C': ('_celsius', 1),
    '': ('', 1),
}
STATES = ', '.join(f'{int(state)} {state.name}' for state in State)
FORECAST: Mapping[str, str] = {
    'left': 'Predicted time until the endurance or the spare capacity is used up',
    'earliest': 'Earliest predicted time',
    'latest': 'Latest predicted time',
}
DRIVE = ('device',)
READING = ('device', 'metric')
GROUP = ('group', 'name', 'kind', 'level')
TO_DO = ('device', 'action', 'to_do')

Sample = tuple[tuple[str, ...], float]  # values of the labels, number


class Family(NamedTuple):
    """One Prometheus metric with its samples, one per drive."""

    name: str
    help: str
    labels: tuple[str, ...]
    samples: Sequence[Sample]


def metrics(
    cases: Sequence[Case],
    definitions: Metrics,
    state: State,
    now: float,
    groups: Sequence[Membership] = (),
) -> list[Family]:
    """Return all metrics; graphed metrics that no drive reports are left out.

    state: of the run as a whole: missing drives, errors in the local configuration. now: seconds
    since 1970.
    """
    return [
        *_of_the_run(state, now),
        *_of_drives(cases),
        *_of_readings(cases, definitions),
        *_of_forecasts(cases, now),
        *_of_groups(groups),
    ]


def name(metric: str, unit: str) -> str:
    """Return the Prometheus name of a metric: "smart_endurance_used_ratio",
    "smart_power_on_seconds".
    """
    words = metric.removeprefix(PREFIX)
    if unit == 's':
        words = words.replace('_time', '')
    if words.endswith('_count'):  # reserved by Prometheus for histograms
        words = words.removesuffix('_count') + '_events'
    ending, _ = UNITS[unit]
    return f'{PREFIX}{words}{ending}'


def said(metric: Metric) -> str:
    """Return the help text of a metric: the meaning of the metric and of its numbers."""
    if metric.is_verdict:
        return f'{metric.meaning}; 1 good, 0.5 in between, 0 bad'
    return f'{metric.meaning}; 1 is 100 %' if metric.unit == '%' else metric.meaning


def _of_the_run(state: State, now: float) -> Iterator[Family]:
    """Yield when the drives were read, and the state of the run as a whole."""
    yield Family(
        'smart_run_timestamp_seconds',
        'When the drives were read',
        (),
        [((), round(now))],
    )
    yield Family(
        'smart_run_state',
        f'State of the run itself (no drives, missing drives, configuration errors); {STATES}',
        (),
        [((), state)],
    )


def _of_drives(cases: Sequence[Case]) -> Iterator[Family]:
    """Yield the identity, the states and the actions of all drives."""
    yield Family(
        'smart_drive_info',
        'Drive identity as labels; the value is always 1',
        ('device', 'model', 'serial', 'firmware', 'kind', 'address'),
        [(_identity(case), 1) for case in cases],
    )
    yield Family(
        'smart_drive_read_ok',
        '1 if the drive was read, 0 if not; a drive in standby also gives 0, although its state can be OK',
        DRIVE,
        [((case.verdict.device.name,), not case.verdict.problem) for case in cases],
    )
    yield Family(
        'smart_drive_state',
        f'State of the drive; {STATES}',
        DRIVE,
        [((case.verdict.device.name,), case.verdict.state) for case in cases],
    )
    items = [case.todo for case in cases]
    yield Family(
        'smart_drive_action',
        'Recommended action, as a code and in words; the value is always 1',
        TO_DO,
        [((item.drive, item.action, item.to_do), 1) for item in items],
    )
    yield Family(
        'smart_drive_further_action',
        'Another recommended action, for another finding about the drive; the value is always 1',
        TO_DO,
        [
            ((item.drive, further.action, further.to_do), 1)
            for item in items
            for further in item.also
        ],
    )
    yield Family(
        'smart_reading_state',
        f'State of one metric of the drive; {STATES}',
        READING,
        [
            ((case.verdict.device.name, metric), state)
            for case in cases
            for metric, state in _states(case.verdict).items()
        ],
    )


def _identity(case: Case) -> tuple[str, ...]:
    """Return the values of the labels of smart_drive_info."""
    device = case.verdict.device
    identity = case.shown
    return (
        device.name,
        identity.model,
        identity.serial or '',
        identity.firmware,
        kind(case.verdict),
        clean(device.address),
    )


def _states(verdict: Verdict) -> dict[str, State]:
    """Return the worst state of each metric that has a limit or a state of its own, or that causes
    an alert by other means, such as growth.
    """
    states: dict[str, State] = {}
    for judgement in verdict.judgements:
        reading = judgement.reading
        has_state = reading.state is not None and reading.judged
        has_limit = judgement.warning or judgement.critical
        is_alert = judgement.state is not State.OK
        if has_state or has_limit or is_alert:
            before = states.get(reading.metric, State.OK)
            states[reading.metric] = worst((judgement.state, before))
    return states


def _of_readings(cases: Sequence[Case], metrics: Metrics) -> Iterator[Family]:
    """Yield the Prometheus metric of each of our metrics that a drive reports, sorted."""
    samples: dict[str, list[Sample]] = {}  # by metric
    for case in cases:
        for judgement in graphed(case.verdict):
            reading = judgement.reading
            _, factor = UNITS[metrics[reading.metric].unit]
            # A graphed reading always has a number, see is_graphed(). So 0 stands only for 0.
            number = (reading.number or 0) / factor
            samples.setdefault(reading.metric, []).append(
                ((case.verdict.device.name,), number)
            )
    for metric_name, of_metric in sorted(samples.items()):
        metric = metrics[metric_name]
        yield Family(name(metric_name, metric.unit), said(metric), DRIVE, of_metric)


def graphed(verdict: Verdict) -> Iterable[Judgement]:
    """Return one graphed judgement for each metric: the first judgement, which is the worst."""
    by_metric: dict[str, Judgement] = {}
    for judgement in verdict.judgements:
        if is_graphed(judgement, False):
            by_metric.setdefault(judgement.reading.metric, judgement)
    return by_metric.values()


def _of_forecasts(cases: Sequence[Case], now: float) -> Iterator[Family]:
    """Yield the three numbers of all forecasts, in seconds from now."""
    for field, meaning in FORECAST.items():
        samples = []
        for case in cases:
            age = now - case.verdict.read_at(now)
            for metric, forecast in sorted(case.outlook.forecasts.items()):
                basis = 'use and age' if forecast.is_estimate else 'readings'
                labels = (case.verdict.device.name, metric, basis)
                samples.append((labels, round(getattr(forecast, field) - age)))
        yield Family(
            f'smart_forecast_{field}_seconds',
            f'{meaning}; the label "basis" says what the forecast is based on',
            (*READING, 'basis'),
            samples,
        )


def _of_groups(groups: Sequence[Membership]) -> Iterator[Family]:
    """Yield how many members each group can lose, and how many it has in each state."""
    tolerances = []
    members: Counter[tuple[str, ...]] = Counter()
    for membership in groups:
        group = membership.group
        labels = clean(group.id), clean(group.name), group.kind, group.level
        if membership.tolerates is not None:
            tolerances.append((labels, membership.tolerates))
        members.update((*labels, member.state) for member in group.members)
    yield Family(
        'smart_group_tolerance',
        'How many more members an array, a volume or a file system can lose; failing members count '
        'as already lost; negative if too many are failing; not reported if unknown',
        GROUP,
        tolerances,
    )
    yield Family(
        'smart_group_members',
        'Number of members in each state, for an array, a volume or a file system',
        (*GROUP, 'state'),
        sorted(members.items()),
    )


class _Collector:
    """The source from which prometheus_client gets the metrics."""

    def __init__(self, gauges: Sequence[Any]) -> None:
        self._gauges = gauges

    def collect(self) -> Sequence[Any]:
        """Return the metrics as objects of the library."""
        return self._gauges


def text(families: Sequence[Family]) -> str:
    """Return metrics in Prometheus' text format 0.0.4, which the textfile collector reads; metrics
    without a number are omitted.

    Raises SmartError if prometheus_client is not installed.
    """
    client = library()
    gauges = []
    for family in families:
        gauge = client.core.GaugeMetricFamily(
            family.name, family.help, labels=family.labels
        )
        for labels, number in family.samples:
            gauge.add_metric(labels, float(number))
        if family.samples:
            gauges.append(gauge)
    # refuses two metrics with the same name
    registry = client.CollectorRegistry(auto_describe=True)
    registry.register(_Collector(gauges))
    return str(client.generate_latest(registry).decode())


def library() -> Any:
    """Return the module prometheus_client. Raises SmartError if it is not installed."""
    try:
        import prometheus_client.core
    except ImportError:
        raise missing('metrics require', 'prometheus_client') from None
    return prometheus_client
