"""Choose the metrics and the lines of text to print, so that the output fits a size limit. Pure.

Perfdata is chosen first, by the largest possible size of its values. So a new state or number never
adds or removes a graph series. The text gets the remaining space, and never less than its minimum
share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from ..knowledge import severity
from ..knowledge.drive_database import Metric, Metrics
from ..model import Verdict
from ..typed import NamedTuple
from ..wording import listed, plain
from . import perfdata

LEFT_OUT = '... '
WHY = 'left out to stay within'
REMEDY = 'split the drives among several commands with -d, or get all values from: check_smart_attributes metrics'
ROOM_TO_SAY_SO = 500  # bytes of the line that names the omitted metrics and lines
NAMED = 200  # bytes of this line for the names of metrics
DIGITS = 20  # assumed length of a number without bounds
# characters of both limits of a value; more if a limit of the metric is longer
LIMITS = 9
LAST = 1000  # position of metrics without a defined place


class OutputText(NamedTuple):
    """The lines of text after the first line, most important first."""

    checks: Sequence[str]  # about the check as a whole
    drives: Sequence[str]  # most severe drive first
    notes: Sequence[str]


def size(part: str) -> int:
    """Return the size of a line or a value in bytes, including its separator."""
    return len(part.encode()) + 1


def share_of_lines(limit: int) -> int:
    """Return how many bytes are reserved for the lines of text, which perfdata must not use. limit:
    bytes of the whole output.
    """
    return max(limit // 16, min(2000, limit // 3))


def metrics(needed: Mapping[str, int], definitions: Metrics, limit: int) -> set[str]:
    """Return as many metrics as fit, in a fixed order; each is printed for all drives.

    needed: largest size of each metric in bytes. limit: bytes of the whole output.
    """
    room = limit - share_of_lines(limit) - ROOM_TO_SAY_SO
    kept = set()
    for metric in in_order(needed, definitions):
        if needed[metric] <= room:
            kept.add(metric)
            room -= needed[metric]
    return kept


def in_order(metrics: Iterable[str], definitions: Metrics) -> list[str]:
    """Return metrics sorted by their order in attributes.json, then by concern (see severity),
    then by name.
    """

    def place(metric: str) -> tuple[int, int, str]:
        definition = definitions[metric]
        return (
            definition.order or LAST,
            severity.ORDER.index(definition.concern),
            metric,
        )

    return sorted(metrics, key=place)


def needed(
    verdicts: Sequence[Verdict],
    values: Sequence[perfdata.Value],
    definitions: Metrics,
    is_all: bool,
) -> dict[str, int]:
    """Return the largest size in bytes that the values of each metric can have at any later check.

    Drives of the same type are assumed to have the same metrics; an unread drive is assumed to have
    all metrics. values: the perfdata of this check. is_all: all metrics are graphed.
    """
    of_kind: dict[str, set[str]] = {}  # kind of drives -> metrics
    for verdict in verdicts:
        if not verdict.problem:
            of_kind.setdefault(verdict.identity.kind, set()).update(
                _possible(verdict, definitions, is_all)
            )
    all_metrics = set().union(*of_kind.values())
    widths = {
        metric: _width(metric, values, definitions[metric]) for metric in all_metrics
    }
    later: Counter[str] = Counter()
    for verdict in verdicts:
        possible = all_metrics
        if not verdict.problem:
            possible = of_kind[verdict.identity.kind]
        for metric in possible:
            later[metric] += size(verdict.device.name) + widths[metric]
    today: Counter[str] = Counter()
    for value in values:
        today[value.metric] += size(value.text)
    return later | today  # for each metric, the larger of the two


def _possible(verdict: Verdict, definitions: Metrics, is_all: bool) -> set[str]:
    """Return a drive's metrics that can be graphed, even if this check has no number for them.

    is_all: not only those that are graphed by default.
    """
    possible = {
        judgement.reading.metric
        for judgement in verdict.judgements
        if judgement.graphed or is_all
    }
    # Other checks of this drive can report a metric that Metric.beside connects with a reported one.
    later = [name for name in definitions if definitions[name].beside in possible]
    return possible.union(later)


def _width(metric: str, values: Iterable[perfdata.Value], definition: Metric) -> int:
    """Return the largest possible size of a metric's value in bytes, without the drive's name."""
    _, largest = definition.valid
    digits = DIGITS if largest is None else len(plain(largest))
    # the limits of this check; later ones are assumed to have LIMITS characters
    limit_lengths = [len(value.limits) for value in values if value.metric == metric]
    if not definition.is_verdict and definition.worse != 'none':
        limit_lengths.append(LIMITS)
    bounds = (definition.minimum, definition.maximum)
    bounds_length = sum(len(plain(bound)) for bound in bounds if bound is not None)
    longest_limits = max(limit_lengths, default=0)
    return len(f"'_{metric}'=%;;;; ") + digits + longest_limits + bounds_length


def fitted(
    text: OutputText,
    missing: Sequence[str],
    limit: int,
    first_line: str,
    values: Sequence[str],
) -> list[str]:
    """Return the lines that fit, and a line about the omitted lines and metrics, if there are any.

    missing: omitted metrics. limit: bytes of the whole output. first_line, and *values*, those of the
    perfdata, are printed in any case.
    """
    room = limit - sum(map(size, [first_line, *values])) - ROOM_TO_SAY_SO
    lines = [*text.checks, *text.drives, *text.notes]
    kept = lines
    if sum(map(size, lines)) > room:
        # Lines about the check get at most half of the space, so that drives get the rest.
        checks = first(text.checks, room // 2)
        rest = room - sum(map(size, checks))
        kept = [*checks, *first([*text.drives, *text.notes], rest)]
    omitted = []
    if len(kept) < len(lines):
        omitted.append(f'{len(lines) - len(kept)} lines of text')
    if missing:
        count = len(first(missing, NAMED))  # how many names fit
        names = listed(missing, count)  # "temperature, pending and 3 more"
        all_of_it = '' if values else 'all '
        omitted.append(f'{all_of_it}perfdata for {names}')
    if not omitted:
        return kept
    return [*kept, f'{LEFT_OUT}{WHY} {limit:,} bytes: {"; ".join(omitted)}; {REMEDY}']


def first(parts: Sequence[str], room: int) -> list[str]:
    """Return the first parts: as many as fit into *room* bytes."""
    ends = accumulate(map(size, parts))
    return [part for part, end in zip(parts, ends) if end <= room]
