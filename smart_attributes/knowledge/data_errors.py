"""What fits its schema and would yet break a check, in entries and in limits that a person wrote.

Each fault has the path to what it makes useless; the rest of the file can be used.
"""

from typing import Any, Collection, Iterator, List, Mapping, NamedTuple, Tuple, Union

from ..errors import FormulaError, UsageError
from ..typed import Json
from . import decode, ranges, regular_expressions
from .thresholds import rank

Path = Tuple[Union[str, int], ...]
KINDS = ('hdd', 'ssd', 'nvme', 'sas')
DRIVES_OWN = 'threshold'  # beside metrics, what a limit may refer to


class Fault(NamedTuple):
    """A mistake in a file."""

    path: Path       # to what cannot be used
    sentence: str    # where, what, what next; without the file's name


# --- entries -----------------------------------------------------------------------

def of_entries(data: Json, metrics: Collection[str], sets: Collection[str]) -> Iterator[Fault]:
    """Yield the faults of a file with entries. metrics, sets: those that it may name."""
    for path, place, pattern in patterns(data):
        why = regular_expressions.fault(pattern)
        if why:
            yield Fault(path, f'{place} {regular_expressions.quoted(pattern)} {why}')
    unusable = set()
    for path, place, metric, spec in written_readings(data):
        for why in _of_reading(metric, spec, metrics):
            unusable.add(path)
            yield Fault(path, f'{place}: {why}')
    known = {name for name in sets if ('sets', name) not in unusable}
    for number, entry in enumerate(data['entries']):
        for name in sorted(set(entry.get('uses', ())) - known):
            advice = nearest(name, known) or f'known are {", ".join(sorted(known))}'
            why = 'that set has a mistake' if name in sets else f'there is no such set; {advice}'
            yield Fault(('entries', number), f'{entry["family"]}: uses "{name}", but {why}')


def _of_reading(metric: str, spec: Json, metrics: Collection[str]) -> Iterator[str]:
    if metric not in metrics:
        yield f'there is no such metric; {suggested(metric, metrics)}'
    try:
        decode.parse(spec['from'])
    except FormulaError as error:
        yield str(error)


def suggested(word: str, known: Collection[str]) -> str:
    """Return "did you mean endurance_used?", or where all metrics are listed."""
    from . import suggestions  # difflib would cost each check with site files 2 ms

    return suggestions.metric(word, known)


def nearest(word: str, known: Collection[str]) -> str:
    """Return "did you mean …?" where a known word is alike."""
    import difflib

    near = difflib.get_close_matches(word, known, 1)
    return f'did you mean {near[0]}?' if near else ''


def patterns(data: Json) -> Iterator[Tuple[Path, str, str]]:
    """Yield (path of its entry or advisory, place, regular expression) for every pattern of a file."""
    for number, entry in enumerate(data['entries']):
        path = ('entries', number)
        yield from ((path, f'{entry["family"]}: models', pattern) for pattern in entry.get('models', ()))
        yield from ((path, f'{entry["family"]}: rated_written', pattern) for pattern in entry.get('rated_written', ()))
        if 'firmware' in entry:
            yield path, f'{entry["family"]}: firmware', entry['firmware']
    for number, advisory in enumerate(data.get('advisories', ())):
        path = ('advisories', number)
        yield from ((path, f'advisory {advisory["id"]}: models', pattern) for pattern in advisory['models'])
        if 'firmware' in advisory:
            yield path, f'advisory {advisory["id"]}: firmware', advisory['firmware']


def written_readings(data: Json) -> Iterator[Tuple[Path, str, str, Json]]:
    """Yield (path of its set or entry, place, metric, reading) for every reading of a file, those of its sets first."""
    owners: List[Tuple[Path, str, Json]] = [(('sets', name), f'set {name}', value)
                                            for name, value in data.get('sets', {}).items()]
    owners += [(('entries', number), entry['family'], entry) for number, entry in enumerate(data['entries'])]
    for path, owner, value in owners:
        for number, row in value.get('attributes', {}).items():
            for metric, specs in (row or {}).get('readings', {}).items():
                alternatives = specs if isinstance(specs, list) else [specs]
                for position, spec in enumerate(alternatives, 1):
                    item = f', item {position}' if len(alternatives) > 1 else ''
                    yield path, f'{owner}, attribute {number}, {metric}{item}', metric, spec


# --- limits ------------------------------------------------------------------------

def of_limits(data: Json, units: Mapping[str, str]) -> Iterator[Fault]:
    """Yield the faults of a file with limits. units: of each metric that there is, its base unit."""
    for number, override in enumerate(data.get('overrides', ())):
        pattern = override['for'].get('model', '')
        why = regular_expressions.fault(pattern)
        if why:
            yield Fault(('overrides', number), f'overrides, model {regular_expressions.quoted(pattern)} {why}')
    for path, place, names in _written_metrics(data):
        for metric, fields in names.items():
            if metric not in units:
                yield Fault((*path, metric), f'{place}: "{metric}" is no metric; {suggested(metric, units)}')
            yield from _of_metric((*path, metric), f'{place}, {metric}', fields, metric, units)
            if 'acknowledged' in fields and not _is_of_one_drive(data, path):
                yield Fault((*path, metric, 'acknowledged'),
                            f'{place}, {metric}: "acknowledged" is what one drive may have; '
                            'write it in overrides, with "serial" in "for"')


def _is_of_one_drive(data: Json, path: Path) -> bool:
    return path[0] == 'overrides' and 'serial' in data['overrides'][path[1]]['for']


def _written_metrics(data: Json) -> Iterator[Tuple[Path, str, Json]]:
    yield ('metrics',), 'metrics', data.get('metrics', {})
    for number, override in enumerate(data.get('overrides', ())):
        selector = rank(override)
        yield ('overrides', number,
               'metrics'), f'override for {selector} {override["for"][selector]}', override.get('metrics', {})


def _of_metric(path: Path, place: str, fields: Json, metric: str, units: Mapping[str, str]) -> Iterator[Fault]:
    """Yield a fault for each limit of a metric that is not a Nagios range, or refers to an unknown metric."""
    kinds: List[Tuple[Tuple[str, ...], Json]] = [((), fields),
                                                 *(((kind,), fields[kind]) for kind in KINDS if kind in fields)]
    aged = [((*steps, 'aged'), limits['aged']) for steps, limits in kinds if limits.get('aged')]
    for steps, limits in (*kinds, *aged):
        for field in ('warning', 'critical'):
            for why in _of_bound(limits.get(field), metric, units):
                yield Fault((*path, *steps, field), f'{", ".join((place, *steps, field))}: {why}')


def _of_bound(value: Any, metric: str, units: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with a limit: a range, null, or one that the drive knows."""
    other = value['drive'] if isinstance(value, Mapping) else DRIVES_OWN
    if other != DRIVES_OWN and other not in units:
        yield f'"drive": "{other}" is no metric; {suggested(other, units)}'
    text = value['else'] if isinstance(value, Mapping) else value
    try:
        ranges.parse(text, units.get(metric, '')) if text is not None else None
    except UsageError as error:
        yield str(error)
