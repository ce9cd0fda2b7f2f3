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

from ..errors import SmartError
from ..failures import installing
from ..knowledge.drive_database import Metric
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
    'left': 'Predicted time until it is used up',
    'earliest': 'Earliest predicted time',
    'latest': 'Latest predicted time',
}
DRIVE, READING = ('device',), ('device', 'metric')
GROUP = ('group', 'name', 'kind', 'level')
PART = (*GROUP, 'state')
TO_DO = (*DRIVE, 'action', 'to_do')
WHO, BASIS = (*DRIVE, 'model', 'serial', 'firmware', 'kind', 'address'), (*READING, 'basis')

Sample = tuple[tuple[str, ...], float]  # values of the labels, number


class Family(NamedTuple):
    """One Prometheus metric with its samples, one per drive."""

    name: str
    help: str
    labels: tuple[str, ...]
    samples: Sequence[Sample]


class Run(NamedTuple):
    """The result of one run."""

    cases: Sequence[Case]
    # state of the run as a whole: missing drives, errors in the local configuration
    state: State
    now: float  # seconds since 1970
    groups: Sequence[Membership] = ()


def metrics(run: Run, metrics: Mapping[str, Metric]) -> list[Family]:
    """Return all metrics; graphed metrics that no drive reports are left out."""
    return [
        *_of_the_run(run),
        *_of_drives(run),
        *_of_readings([case.verdict for case in run.cases], metrics),
        *_of_forecasts(run),
        *_of_groups(run.groups),
    ]


def name(metric: str, unit: str) -> str:
    """Return the Prometheus name of a metric: "smart_endurance_used_ratio",
    "smart_power_on_seconds".
    """
    words = metric[len(PREFIX) :] if metric.startswith(PREFIX) else metric
    if unit == 's':
        words = words.replace('_time', '')
    if words.endswith('_count'):  # reserved by Prometheus for histograms
        words = words[: -len('_count')] + '_events'
    return PREFIX + words + UNITS[unit][0]


def said(metric: Metric) -> str:
    """Return the help text of a metric: the meaning of the metric and of its numbers."""
    scale = (
        '; 1 good, 0.5 in between, 0 bad'
        if metric.is_verdict
        else '; 1 is 100 %'
        if metric.unit == '%'
        else ''
    )
    return metric.meaning + scale


def _of_the_run(run: Run) -> Iterator[Family]:
    yield Family(
        f'{PREFIX}run_timestamp_seconds', 'When the drives were read', (), [((), round(run.now))]
    )
    yield Family(
        f'{PREFIX}run_state',
        f'State of the run itself (no drives, missing drives, configuration errors); {STATES}',
        (),
        [((), run.state)],
    )


def _of_drives(run: Run) -> Iterator[Family]:
    drives = [case.verdict for case in run.cases]
    yield Family(
        f'{PREFIX}drive_info',
        'Drive identity as labels; the value is always 1',
        WHO,
        [(_who(case), 1) for case in run.cases],
    )
    yield Family(
        f'{PREFIX}drive_read_ok',
        'Whether the drive was read; if 0, smart_drive_state is OK for a drive in standby',
        DRIVE,
        [((v.device.name,), not v.problem) for v in drives],
    )
    yield Family(
        f'{PREFIX}drive_state',
        f'State of the drive; {STATES}',
        DRIVE,
        [((v.device.name,), v.state) for v in drives],
    )
    yield Family(
        f'{PREFIX}drive_action',
        'Recommended action, as a code and in words; the value is always 1',
        TO_DO,
        [((case.todo.drive, case.todo.action, case.todo.to_do), 1) for case in run.cases],
    )
    yield Family(
        f'{PREFIX}drive_further_action',
        'Further action that other findings of the drive need; the value is always 1',
        TO_DO,
        [
            ((case.todo.drive, further.action, further.to_do), 1)
            for case in run.cases
            for further in case.todo.also
        ],
    )
    yield Family(
        f'{PREFIX}reading_state',
        f'State of one metric of the drive; {STATES}',
        READING,
        [((v.device.name, metric), state) for v in drives for metric, state in _states(v).items()],
    )


def _who(case: Case) -> tuple[str, ...]:
    device, identity = case.verdict.device, case.shown
    return (
        device.name,
        identity.model,
        identity.serial or '',
        identity.firmware,
        kind(case.verdict),
        clean(device.address),
    )


def _states(verdict: Verdict) -> dict[str, State]:
    """Return the worst state of each metric that has a limit or a state of its own."""
    found: dict[str, State] = {}
    for judgement in verdict.judgements:
        reading = judgement.reading
        has_state = reading.state is not None and reading.judged
        if judgement.state is not State.OK or has_state or judgement.warning or judgement.critical:
            found[reading.metric] = worst((judgement.state, found.get(reading.metric, State.OK)))
    return found


def _of_readings(verdicts: Sequence[Verdict], metrics: Mapping[str, Metric]) -> Iterator[Family]:
    named: dict[str, list[Sample]] = {}
    for verdict in verdicts:
        for judgement in graphed(verdict):
            metric = metrics[judgement.reading.metric]
            number = (judgement.reading.number or 0) / UNITS[metric.unit][1]
            named.setdefault(metric.name, []).append(((verdict.device.name,), number))
    for metric_name, samples in sorted(named.items()):
        yield Family(
            name(metric_name, metrics[metric_name].unit), said(metrics[metric_name]), DRIVE, samples
        )


def graphed(verdict: Verdict) -> Iterable[Judgement]:
    """Return one graphed judgement for each metric: the first judgement, which is the worst."""
    found: dict[str, Judgement] = {}
    for judgement in verdict.judgements:
        if is_graphed(judgement, False):
            found.setdefault(judgement.reading.metric, judgement)
    return found.values()


def _of_forecasts(run: Run) -> Iterator[Family]:
    told = [
        (
            (
                case.verdict.device.name,
                metric,
                'use and age' if forecast.is_estimate else 'readings',
            ),
            forecast,
            run.now - case.verdict.read_at(run.now),
        )
        for case in run.cases
        for metric, forecast in sorted(case.outlook.forecasts.items())
    ]
    for field, meaning in FORECAST.items():
        yield Family(
            f'{PREFIX}forecast_{field}_seconds',
            f'{meaning}; the label basis names its source',
            BASIS,
            [(labels, round(getattr(forecast, field) - ago)) for labels, forecast, ago in told],
        )


def _of_groups(groups: Sequence[Membership]) -> Iterator[Family]:
    known = [(_group(each), each.tolerates) for each in groups if each.tolerates is not None]
    yield Family(
        f'{PREFIX}group_tolerance',
        'Members that an array, a volume or a file system can still lose in '
        'addition to failing ones; negative if too many fail; 0 without redundancy; not reported '
        'if unknown',
        GROUP,
        known,
    )
    counts = Counter(
        (*_group(each), member.state) for each in groups for member in each.group.members
    )
    yield Family(
        f'{PREFIX}group_members',
        'Members of an array, a volume or a file system by state',
        PART,
        sorted(counts.items()),
    )


def _group(found: Membership) -> tuple[str, ...]:
    group = found.group
    return clean(group.id), clean(group.name), group.kind, group.level


class _Collector:
    """The collector from which prometheus_client gets the metrics."""

    def __init__(self, found: Sequence[Family]) -> None:
        self._found = found

    def collect(self) -> Iterator[Any]:
        """Yield the metrics as objects of the library; metrics without a number are omitted."""
        for found in self._found:
            family = library().core.GaugeMetricFamily(found.name, found.help, labels=found.labels)
            for labels, number in found.samples:
                family.add_metric(labels, float(number))
            if found.samples:
                yield family


def text(found: Sequence[Family]) -> str:
    """Return metrics in Prometheus' text format 0.0.4, which the textfile collector reads.

    Raises SmartError if prometheus_client is not installed.
    """
    client = library()
    # refuses two metrics with the same name
    registry = client.CollectorRegistry(auto_describe=True)
    registry.register(_Collector(found))
    printed: bytes = client.generate_latest(registry)
    return printed.decode()


def library() -> Any:
    """Return the module prometheus_client. Raises SmartError if it is not installed."""
    try:
        import prometheus_client.core
    except ImportError:
        raise SmartError(
            f'metrics require prometheus_client, which is not installed; '
            f'{installing("prometheus_client")}'
        ) from None
    return prometheus_client
