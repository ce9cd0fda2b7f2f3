"""Find mistakes in entries and limits: mistakes that the schema allows but that would break a
check.

Each mistake has the path to the part of the data that it makes unusable; the rest of the file is
still used.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ..constants import LOG_PAGE
from ..errors import FormulaError, UsageError
from ..typed import TYPE_CHECKING, Any, Json, NamedTuple
from ..words import nearest
from . import decode, ranges, shipped_data
from .patterns import error_in, has_top_level_bar, quoted
from .thresholds import LEVELS, selector_of, several

if TYPE_CHECKING:
    from .drive_database import Metrics

Path = tuple[Any, ...]  # keys and indexes

KINDS = ('hdd', 'ssd', 'nvme', 'sas')


class Mistake(NamedTuple):
    """A mistake in a file."""

    path: Path  # path to the unusable part
    sentence: str  # place, error, next step; without the file's name


def of_entries(data: Json, everything: Sequence[Json]) -> Iterator[Mistake]:
    """Yield the mistakes in a file with entries. everything: the data of all files; entries may use
    the metrics, sets and layouts in these.
    """
    metrics = _names(everything, 'metrics')
    sets = _names(everything, 'sets')
    for path, place, field, pattern in patterns(data):
        why = error_in(pattern)
        is_of_model = field != 'firmware'
        if not why and is_of_model and has_top_level_bar(pattern):
            why = 'has | between complete patterns; write each as a pattern of its own'
        if why:
            yield Mistake(path, f'{place} {quoted(pattern)} {why}')
    mistaken = set()  # paths of sets and entries
    for path, place, metric, spec in written_readings(data):
        for why in _of_reading(metric, spec, metrics):
            mistaken.add(path)
            yield Mistake(path, f'{place}: {why}')
    yield from _of_logs(data, metrics, _names(everything, 'layouts'))
    sound_sets = {name for name in sets if ('sets', name) not in mistaken}
    for path, family, entry in parts(data, 'entries'):
        for name in sorted(set(entry.get('uses', ())) - sound_sets):
            if name in sets:
                why = 'has a mistake'
            else:
                advice = _instead(name, sound_sets, 'sets')
                why = f'is missing or has a mistake; {advice}'
            yield Mistake(path, f'{family}: the set "{name}" in "uses" {why}')


def _names(files: Sequence[Json], key: str) -> set[str]:
    """Return the names that any of the files defines under a key, such as "sets"."""
    return {name for file in files for name in file.get(key, ())}


def _instead(name: str, known: Collection[str], noun: str) -> str:
    """Return advice for an unknown name: "did you mean …?", or "the sets are a, b". noun: what the
    names are for, "sets".
    """
    return nearest(name, known) or f'the {noun} are {", ".join(sorted(known))}'


def _of_logs(
    data: Json, metrics: Collection[str], layouts: Collection[str]
) -> Iterator[Mistake]:
    """Yield the mistakes in layouts of vendors' logs, and in entries that name a layout."""
    for path, place, layout in parts(data, 'layouts'):
        for field in layout['fields']:
            why = _of_field(field, layout, metrics)
            if why:
                yield Mistake(path, f'{place}, {field["metric"]}: {why}')
    for path, family, entry in parts(data, 'entries'):
        for page, name in entry.get('logs', {}).items():
            if name not in layouts:
                # Without the layout, the entry lacks only this log.
                yield Mistake(
                    (*path, 'logs', page),
                    f'{family}: in "logs", {page}: the layout "{name}" is missing or has a mistake; '
                    f'{_instead(name, layouts, "layouts")}',
                )


def _of_field(field: Json, layout: Json, metrics: Collection[str]) -> str:
    """Return the mistake in a field of a layout, or ''."""
    if field['metric'] not in metrics:
        return f'unknown metric; {nearest_metric(field["metric"], metrics)}'
    # a field can be calculated from two numbers of the same length
    operands = [field, *(field[key] for key in ('minus', 'share_of') if key in field)]
    end = max(operand['offset'] for operand in operands) + field['length']
    has_rows = 'rows' in layout
    unit = 'row' if has_rows else 'page'
    # bytes; "rows" is the length of one row
    unit_length = layout['rows'] if has_rows else LOG_PAGE
    if end > unit_length:
        return f'it ends at byte {end}, after the end of the {unit}'
    if has_rows and 'row' not in field:
        return 'row is missing'
    if 'row' in field and not has_rows:
        return 'it names a table row, but the layout of this log has no table'
    return ''


def _of_reading(metric: str, spec: Json, metrics: Collection[str]) -> Iterator[str]:
    """Yield the mistakes in a reading of an entry: an unknown metric, an invalid formula."""
    if metric not in metrics:
        yield f'there is no such metric; {nearest_metric(metric, metrics)}'
    try:
        decode.parse(spec['from'])
    except FormulaError as error:
        yield str(error)


def parts(data: Json, key: str) -> Iterator[tuple[Path, str, Json]]:
    """Yield (path, name, part) for each part in "sets", "layouts", "entries" or "advisories". name:
    in words, such as "set ata-common"; of an entry, its family.
    """
    if key in ('sets', 'layouts'):
        for name, part in data.get(key, {}).items():
            yield (key, name), f'{key[:-1]} {name}', part
        return
    for number, part in enumerate(data.get(key, ())):
        name = part['family'] if key == 'entries' else f'advisory {part["id"]}'
        yield (key, number), name, part


def patterns(data: Json) -> Iterator[tuple[Path, str, str, str]]:
    """Yield (path, place, field, regular expression) for every pattern of a file. path: keys to the
    entry or advisory. place: in words, such as "Intel 730: models". field: "models",
    "rated_written" (both for models) or "firmware".
    """
    for path, name, owner in (*parts(data, 'entries'), *parts(data, 'advisories')):
        for field in ('models', 'rated_written'):
            for pattern in owner.get(field, ()):
                yield path, f'{name}: {field}', field, pattern
        if 'firmware' in owner:
            yield path, f'{name}: firmware', 'firmware', owner['firmware']


def written_readings(data: Json) -> Iterator[tuple[Path, str, str, Json]]:
    """Yield (path, place, metric, reading) for each reading, those of sets first. path: keys to
    the set or entry.
    """
    for path, owner, value in (*parts(data, 'sets'), *parts(data, 'entries')):
        for number, row in value.get('attributes', {}).items():
            if row is None:  # the entry does without this attribute of its sets
                continue
            for metric, specs in row.get('readings', {}).items():
                alternatives = several(specs)
                for position, spec in enumerate(alternatives, 1):
                    item = f', item {position}' if len(alternatives) > 1 else ''
                    yield (
                        path,
                        f'{owner}, attribute {number}, {metric}{item}',
                        metric,
                        spec,
                    )
        for name, readings in value.get('by_name', {}).items():
            for metric, spec in readings.items():
                yield path, f'{owner}, {name}, {metric}', metric, spec


def of_limits(
    data: Json,
    metrics: Metrics,
    groups: Collection[str],
    families: Collection[str] | None = None,
) -> Iterator[Mistake]:
    """Yield the mistakes in a file with limits.

    groups: the groups in the shipped limits. families: the families of all entries; None: do not
    check family names.
    """
    known_groups = {*groups, *data.get('groups', ())}
    if families is not None:
        yield from _of_families(data, families)
    for number, override in enumerate(data.get('overrides', ())):
        pattern = override['for'].get('model', '')
        why = error_in(pattern)
        if why:
            yield Mistake(
                ('overrides', number), f'overrides, model {quoted(pattern)} {why}'
            )
    for path, place, is_of_one_drive, limits in _written_metrics(data):
        for metric, fields in limits.items():
            its_path = (*path, metric)
            if metric not in metrics:
                yield Mistake(
                    its_path,
                    f'{place}: "{metric}" is not a metric; {nearest_metric(metric, metrics)}',
                )
                continue
            its_place = f'{place}, {metric}'
            yield from _of_metric(its_path, its_place, metric, fields, metrics)
            yield from _of_groups(its_path, its_place, fields, known_groups)
            if 'acknowledged' in fields and not is_of_one_drive:
                yield Mistake(
                    (*its_path, 'acknowledged'),
                    f'{its_place}: "acknowledged" can apply to one drive only; '
                    'move it to an override whose "for" has a "serial"',
                )


def _of_groups(
    path: Path, place: str, fields: Json, known: Collection[str]
) -> Iterator[Mistake]:
    """Yield a mistake for each unknown group that has limits of a metric."""
    for kind in KINDS:
        for group in fields.get(kind, {}).get('groups', ()):
            if group not in known:
                yield Mistake(
                    (*path, kind, 'groups', group),
                    f'{place}, {kind}: unknown group "{group}"; {_instead(group, known, "groups")}',
                )


def _of_families(data: Json, families: Collection[str]) -> Iterator[Mistake]:
    """Yield a mistake for each family that a group or an override names although no entry has
    it.
    """
    named: list[tuple[Path, str, str]] = []
    for group, members in data.get('groups', {}).items():
        named += [(('groups', group), f'group {group}', family) for family in members]
    for number, override in enumerate(data.get('overrides', ())):
        if 'family' in override['for']:
            named.append(
                (('overrides', number), 'overrides', override['for']['family'])
            )
    for path, place, family in named:
        if family not in families:
            advice = (
                nearest(family, families)
                or 'to see the family of each drive, run: check_smart_attributes triage -v'
            )
            yield Mistake(
                path, f'{place}: no entry has the family "{family}"; {advice}'
            )


def _written_metrics(data: Json) -> Iterator[tuple[Path, str, bool, Json]]:
    """Yield (path, place, whether it is for one serial number, limits by metric) for each part
    of a limits file.
    """
    yield ('metrics',), 'metrics', False, data.get('metrics', {})
    for number, override in enumerate(data.get('overrides', ())):
        selector = selector_of(override)
        yield (
            ('overrides', number, 'metrics'),
            f'override for {selector} {override["for"][selector]}',
            selector == 'serial',
            override.get('metrics', {}),
        )


def _of_metric(
    path: Path, place: str, name: str, fields: Json, metrics: Metrics
) -> Iterator[Mistake]:
    """Yield a mistake for each of a metric's limits that is not a Nagios range, refers to an
    unknown metric, contradicts the other limit (warning or critical), or alerts on good values.
    """
    unit = metrics[name].unit
    for steps, limits in _parts_of(fields):
        words = [
            f'item {step + 1}' if isinstance(step, int) else step for step in steps
        ]
        where = ', '.join((place, *words))
        for level in LEVELS:
            for why in _of_bound(limits.get(level), unit, metrics):
                yield Mistake((*path, *steps, level), f'{where}, {level}: {why}')
        why = _of_both(limits, metrics[name].worse, unit)
        if why:
            for level in LEVELS:
                yield Mistake((*path, *steps, level), f'{where}: {why}')


def _parts_of(fields: Json) -> list[tuple[Path, Json]]:
    """Return the parts of a metric that have limits, with their paths: the metric itself, kinds of
    drives, groups, and the stages of all these.
    """
    unaged: list[tuple[Path, Json]] = [((), fields)]
    kinds = [kind for kind in KINDS if kind in fields]
    unaged += [((kind,), fields[kind]) for kind in kinds]
    for kind in kinds:
        for name, limits in fields[kind].get('groups', {}).items():
            unaged.append(((kind, 'groups', name), limits))
    stages = []
    for steps, limits in unaged:
        aged = limits.get('aged')
        for index, stage in enumerate(several(aged)):
            place = ('aged', index) if isinstance(aged, list) else ('aged',)
            stages.append(((*steps, *place), stage))
    return unaged + stages


def _of_both(limits: Json, worse: str, unit: str) -> str:
    """Return the contradiction between the two limits if both are ranges, or ''."""
    texts = {}
    for level in LEVELS:
        limit = limits.get(level)
        texts[level] = limit if isinstance(limit, str) else ''
    try:
        return ranges.contradiction(**texts, worse=worse, unit=unit)
    except UsageError:  # reported by _of_bound
        return ''


def _of_bound(value: Any, unit: str, metrics: Collection[str]) -> Iterator[str]:
    """Yield the errors in a limit, which is a range, null, or a limit that the drive reports, with
    a range for drives that do not report it.
    """
    text = value
    if isinstance(value, dict):
        text = value['else']
        of_drive = value['drive']
        # the drive's threshold, or a metric that it reports
        if of_drive != 'threshold' and of_drive not in metrics:
            yield f'"drive": "{of_drive}" is not a metric; {nearest_metric(of_drive, metrics)}'
    if text is None:
        return
    try:
        ranges.parse(text, unit)
    except UsageError as error:
        yield str(error)


# --- suggestions for a mistyped word ----------------------------------------------------

KNOWN = 'doc/reference/metrics.md lists them, for example endurance_used'


def nearest_metric(word: str, metrics: Collection[str] = ()) -> str:
    """Return a hint such as "did you mean temperature?", or where to find the list of all metrics.

    metrics: the known metrics; if empty, the metrics of the shipped database.
    """
    known = metrics or shipped_data.content('attributes.json')['metrics']
    return nearest(re.sub('[^a-z0-9]+', '_', word.lower()), known) or KNOWN
