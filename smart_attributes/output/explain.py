"""The report on one drive: the action and its reason, each alert with its limit and, on request,
all readings.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..knowledge.drive_database import DriveSpec, SpecDatabase
from ..knowledge.thresholds import Thresholds, stages
from ..model import Case, Farm, Place, Reading, Report, State, Verdict
from ..shown import Shown
from ..wording import amount, local_minute, quantity
from ..words import clean, coded, sentence, visible
from ..work import actions
from ..work.dates import lasting
from ..work.statements import findings, kind, limit_words, problem
from .triage_table import console

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_WITHOUT_TERMINAL = 140
Cells = tuple[str, ...]  # of a row of a table
DETAIL = 12  # column of the values below the alerts


def print_drive(
    case: Case,
    report: Report | None,
    database: SpecDatabase,
    thresholds: Thresholds,
    is_verbose: bool,
) -> None:
    """Print the action, the alerts and the drive. is_verbose: also all readings, limits and
    unmapped attributes.
    """
    screen = console(WIDTH_WITHOUT_TERMINAL)
    verdict = case.verdict
    # All lines above the tables are made before the first is printed. So an error in them is shown
    # instead of the drive. The rows of the tables are made later.
    lines = head(case)
    alerts = [*_alerts(verdict), *_last_readings(case, database.units)]
    if alerts:
        lines += ['', *alerts]
    lines += ['', *details(case)]
    notes = [f'note: {sentence(note, 500)}' for note in verdict.notes]
    if report is None:
        _print_lines([*lines, *notes], screen)
        return
    farm = report.farm
    spec = database.identify(report.identity, [row.id for row in report.attributes])
    lines += _farm(farm, spec, case.shown, is_verbose)
    _print_lines(lines, screen)
    heads = farm.heads if farm and not farm.is_foreign else ()
    _print_table(
        screen,
        'heads',
        ['head', 'reallocated', 'unrecoverable', 'repeated'],
        (map(str, row) for row in heads),
    )
    if is_verbose:
        _print_table(
            screen,
            'readings',
            ['state', 'metric', 'value', 'source', 'limit'],
            _reading_rows(verdict),
        )
        _print_table(
            screen,
            'limits',
            ['metric', 'set by', 'why'],
            _limit_rows(verdict, thresholds),
        )
        _print_table(
            screen,
            'unmapped attributes',
            ['id', 'name', 'value', 'raw'],
            _unused_rows(report, spec),
        )
    _print_lines(notes, screen)


def _print_lines(lines: Iterable[str], screen: Console) -> None:
    from rich.text import Text

    for line in lines:
        screen.print(Text(_wrapped(visible(line), screen.width)))


def _wrapped(line: str, width: int) -> str:
    """Return a line that is wrapped at *width*. Further lines begin below the value if the line is a
    detail, else two columns to the right.
    """
    if len(line) <= width:
        return line
    # such as "model       SAMSUNG": blanks, and then the value in column DETAIL
    is_detail = line[:DETAIL].endswith('  ') and line[DETAIL : DETAIL + 1].strip()
    indent = DETAIL if is_detail else 2
    # Paths and commands are copied, so they are not broken.
    return textwrap.fill(
        line,
        width,
        subsequent_indent=' ' * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _print_table(
    screen: Console, title: str, columns: Sequence[str], rows: Iterable[Iterable[str]]
) -> None:
    """Print a table, unless it is empty."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style='bold')
    for column in columns:  # never cut, because people copy the names of metrics
        table.add_column(column, overflow='fold', no_wrap=column == 'metric')
    for row in rows:
        table.add_row(*(Text(sentence(cell, 300)) for cell in row))
    if table.row_count:
        screen.print(Text(f'\n{title}', 'bold'))
        screen.print(table)


def print_faults(faults: Sequence[str], state: State = State.UNKNOWN) -> None:
    """Print the problems of the run as a whole, which have this state, before the drives."""
    for fault in faults:
        print(f'{state.name}: {sentence(coded(fault), 500)}')


def head(case: Case) -> list[str]:
    """Return the drive with its state, the action with the reason, further actions and, if known,
    the effect of groups.
    """
    verdict = case.verdict
    identity = case.shown
    item = case.todo
    serial = f'serial {identity.serial}' if identity.serial else ''
    words = (verdict.device.address, identity.model, serial, verdict.state.name)
    # Unlike a table line, this has room for the whole reason, and for the readings of an OK drive.
    reason = item.reason
    if verdict.problem:
        reason = coded(problem(verdict))
    elif verdict.state is State.OK:
        reason = item.why or findings(verdict)
    to_do = f'What to do: {item.to_do}.'
    if reason:
        title = 'Status' if item.action == actions.NOTHING else 'Reason'
        to_do += f' {title}: {reason}'
    lines = ['  '.join(filter(None, words)), to_do]
    if item.also:
        lines.append(f'Also: {"; ".join(further.to_do for further in item.also)}.')
    if item.step:
        lines.append(f'Redundancy: {sentence(item.step.why, 300)}')
    if item.unknown:
        lines.append(f'Not known: {item.unknown}')
    return lines


def _alerts(verdict: Verdict) -> Iterator[str]:
    """Yield the lines of each alert: metric, value, limit and source, then the increase, the
    measured risk of this finding, and the limit's reason.
    """
    risk = verdict.risk
    width = max((len(alert.reading.metric) for alert in verdict.alerts), default=0)
    for alert in verdict.alerts:
        reading = alert.reading
        value = sentence(_value(reading), 300)
        limit = f'{alert.state.name.lower()} {alert.growth_against or alert.against}'
        yield f'{reading.metric:{width}}  {value}  {limit.rstrip()}  {reading.source}'
        if alert.growth:
            yield f'  {sentence(alert.growth, 300)}'
        if risk and risk.metric == reading.metric:
            yield f'  {risk.said}'
            risk = None  # shown once
        # If the origin is the source, the drive itself set this limit, and the line above shows the
        # source.
        reason = alert.reason
        if alert.origin and alert.origin != str(reading.source):
            reason = f'{reason} ({alert.origin})'.lstrip()
        if reason:
            yield f'  {sentence(reason, 500)}'


def _last_readings(case: Case, units: Mapping[str, str]) -> Iterator[str]:
    """Yield the findings and the numbers of the last check that could read a drive, if this check
    could not; nothing if this check has read the drive, or none ever has.

    units: by metric.
    """
    last = case.verdict.last
    past = case.outlook.past  # {} without history
    if not case.verdict.problem or not (last or past):
        return
    if last:
        yield f'Last read {local_minute(last.time)}:'
        for finding in last.findings:
            yield f'  {finding.state.name}  {sentence(finding.words, 300)}'
    else:
        newest = max(points[-1][0] for points in past.values())
        yield f'Last read {local_minute(newest)}:'
    for metric, points in sorted(past.items()):
        yield f'  {clean(metric)} {amount(points[-1][1], units.get(metric, ""))}'


def _value(reading: Reading) -> str:
    return reading.verdict if reading.state is not None else quantity(reading)


def details(case: Case) -> list[str]:
    """Return the drive's identity, database entry, location and forecasts, one line each."""
    verdict = case.verdict
    identity = case.shown
    device = verdict.device
    lines = [
        f'device      {device.address}, name {device.name}',
        f'model       {identity.model or "-"}, firmware {identity.firmware or "-"}, '
        f'type {kind(verdict) or "-"}',
    ]
    if identity.serial is not None:
        lines.append(f'serial      {identity.serial or "-"}, WWN {identity.wwn or "-"}')
    entry = (
        verdict.entry
        or 'none; only the metrics that do not depend on the model are read'
    )
    lines += [f'entry       {entry}', *_place(case.place)]
    if case.use:
        lines += [
            f'in use by   {sentence(group.said, 300)}' for group in case.use.depends
        ]
    now = verdict.read_at(time.time())
    lines += [
        f'wears out   {lasting(metric, forecast, now)}'
        for metric, forecast in case.outlook.forecasts.items()
    ]
    return lines


def _place(place: Place) -> Iterator[str]:
    """Yield the bay and the locate LED of the drive, without unknown items."""
    if place.where:
        title = 'bay' if place.bay else 'where'
        yield f'{title:<12}{sentence(place.where, 300)}'
    if place.locate:
        off = f'; off: {visible(place.locate_off)}' if place.locate_off else ''
        yield f'locate LED  on: {visible(place.locate)}{off}'


def _farm(
    farm: Farm | None, spec: DriveSpec, identity: Shown, is_verbose: bool
) -> Iterator[str]:
    """Yield the line about a disk's FARM log, if the log was read.

    identity: of the disk. is_verbose: also if the log was not read, but the disk has one.
    """
    if farm is None:
        if is_verbose and spec.keeps_farm:
            yield (
                'FARM log    not read; to see it, run as root (smartctl 7.4 or newer): '
                'smartctl -l farm DEVICE'
            )
        return
    if not (farm.hours or farm.serial):
        return
    words = (
        f'power-on time {farm.hours} h' if farm.hours else 'power-on time not reported'
    )
    if farm.serial and identity.serial is not None:
        words += f', serial {clean(farm.serial)}'
    yield f'FARM log    {words}'


def _reading_rows(verdict: Verdict) -> Iterator[Cells]:
    """Yield a row for each reading: state, metric, value, source, limits."""
    for judgement in verdict.judgements:
        reading = judgement.reading
        state = judgement.state.name
        limits = ', '.join(limit_words(judgement)) or 'none'
        if not reading.judged:
            state = '-'
            limits = 'not judged'
            if reading.unknown:
                limits += f': {reading.unknown}'
        yield state, reading.metric, _value(reading), str(reading.source), limits


def _limit_rows(verdict: Verdict, thresholds: Thresholds) -> Iterator[Cells]:
    """Yield a row for each limit and each growth rule of a reading: metric, file, reason."""
    for judgement in verdict.judgements:
        reading = judgement.reading
        if not reading.judged:
            continue
        limit = thresholds.limit(
            reading.metric, verdict.device, verdict.identity, verdict.entry or ''
        )
        reasons = {
            (limit.warning_origin, limit.warning_why),
            (limit.critical_origin, limit.critical_why),
        }
        is_no_level_set = reasons == {('', '')}
        if is_no_level_set:
            # the reason why the metric has no limit
            reasons = {('default.json', limit.why)}
        for origin, why in sorted(reasons):
            if why:
                yield reading.metric, origin, why
        for stage in stages(limit, reading):
            yield reading.metric, f'{stage.origin}, aged', stage.why
        for rule in limit.growth:
            yield reading.metric, limit.growth_origin, _growth(rule)


def _growth(rule: Mapping[str, Any]) -> str:
    """Return "growth within 24h: warning above 0; an alert lasts 7d: Each one is ..."."""
    levels = [name for name in ('warning', 'critical') if rule.get(name) is not None]
    limits = ', '.join(f'{name} above {rule[name]}' for name in levels) or 'no limit'
    why = f': {rule["why"]}' if 'why' in rule else ''
    return (
        f'growth within {rule["within"]}: {limits}; an alert lasts {rule["for"]}{why}'
    )


def _unused_rows(report: Report, spec: DriveSpec) -> Iterator[Cells]:
    """Yield a row for each attribute that the entry does not use: ID, name, value, raw value."""
    used = {item.attribute for item in spec.readings}
    for row in report.attributes:
        if row.id not in used:
            value = '-' if row.value is None else str(row.value)
            yield str(row.id), spec.names.get(row.id, row.name), value, row.raw
