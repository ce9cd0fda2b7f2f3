"""Add the verdict of version 1.6 to our own.

Our verdict always counts. The files of version 1.6 can only make it worse, except for a user configuration, which an
admin wrote for this particular drive. The files also add the labels that version 1.6 printed, so that graphs continue.
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..errors import NOTHING, Coded
from ..knowledge import drive_logs, ranges, severity, site_file
from ..knowledge.drive_database import Metric, SpecDatabase
from ..model import Device, Judgement, OldValue, Reading, Report, State, Verdict, worst
from ..wording import plain
from . import files, limit_conversion
from .files import ERROR_COUNT, HEALTH, OldEntry, OldLimit, OldNumber

NOTE = 'legacy-note'       # code of notes on parts of version 1.6 that are used or have no effect
METRIC = 'legacy_limit'
HIDDEN = 'unknown_model'
# Verdicts of the drive itself are never overruled, even by a limit that was written for this drive.
_OWN_VERDICTS = frozenset(('smart_status', 'vendor_threshold', *(bit.metric for bit in drive_logs.NVME_WARNINGS)))


class OldFiles(NamedTuple):
    """The files of version 1.6 that a check was given."""
    entries: tuple[site_file.SiteFile, ...] = ()  # used if the file of -dbj has the format of attributes.json
    database: files.OldFile | None = None
    users: files.OldFile | None = None
    is_all_printed: bool = False
    names: Mapping[str, str] = {}                      # our name -> start of the labels
    notes: tuple[Coded, ...] = ()

    def addressed(self, devices: Sequence[Device]) -> OldFiles:
        """Return the files with the labels for these devices, and a note for each key that does not match a device."""
        keys = {key for device in devices for key in files.keys_of(device)}
        notes = [Coded(NOTE, f'{self.users.name}: {key} is not one of the drives of this check, so its limits have '
                             f'no effect')
                 for key in self.users.entries if key not in keys] if self.users else []
        return self._replace(names=files.old_names(devices), notes=(*self.notes, *notes))

    def joined(self, verdict: Verdict, report: Report, database: SpecDatabase, ignored: frozenset[int],
               ignored_metrics: frozenset[str]) -> Verdict:
        """Return a verdict with the additions of version 1.6.

        ignored: attributes that are never judged. ignored_metrics: metrics that are never judged.
        """
        sources = self._sources(verdict.device, report)
        if not sources:
            missing = [Coded(NOTE, f'{self.database.name} has no entry for this drive')] if self.database else []
            return verdict._replace(notes=(*verdict.notes, *missing))
        columns, notes = _columns(sources, report, database)
        numbers = files.numbers(report, columns)
        rules = {number: rule for number, rule in _rules(sources).items() if number not in ignored}
        opinions = [_opinion(rules[number], numbers[number], verdict) for number in sorted(rules) if number in numbers]
        for file, entry, is_users in sources:
            notes += [*entry.faults, *(() if is_users else files.without_columns(entry, f'{file}: {entry.name}'))]
        coded = [*(Coded(NOTE, note) for note in (*notes, *_replacements(opinions))),
                 *(Coded('legacy-differs', note) for note in _disagreements(opinions, verdict))]
        judgements = _without_overruled(verdict, opinions, is_known=not sources[0].is_users)
        if METRIC not in ignored_metrics:
            judgements += [_judgement(opinion, judgements, database.metrics) for opinion in opinions
                           if opinion.rule.counts]
        graphed = [source.entry.graphed for source in reversed(sources) if source.entry.graphed is not None]
        printed = sorted(columns) if self.is_all_printed else (*graphed, ())[0]
        old_values = _old_values(printed, numbers, rules, self.names[verdict.device.name])
        return verdict._replace(state=worst(judgement.state for judgement in judgements),
                                judgements=tuple(sorted(judgements, key=severity.of_judgement)),
                                notes=(*verdict.notes, *coded), old_values=tuple(old_values))

    def _sources(self, device: Device, report: Report) -> list[OldSource]:
        """Return the entries for a drive; the entry from the database comes first."""
        known = files.entry_of(self.database, report.identity) if self.database else None
        user = files.entry_for(self.users, device) if self.users else None
        pairs = ((self.database, known, False), (self.users, user, True))
        return [OldSource(file.name, entry, is_users) for file, entry, is_users in pairs if file and entry]


class OldSource(NamedTuple):
    """An entry that applies to a drive."""
    file: str
    entry: OldEntry
    is_users: bool


class OldRule(NamedTuple):
    """A limit that applies to a drive."""
    id: int
    limit: OldLimit
    origin: str       # "check_smartdb.json, Intel 53X"
    counts: bool      # False: shipped with version 1.x, not a local choice
    is_users: bool    # written for this drive, so it replaces our limit


class Opinion(NamedTuple):
    """A number of a drive compared with a limit of version 1.6."""
    rule: OldRule
    number: OldNumber
    state: State
    ours: tuple[Judgement, ...]  # our judgements of the same value


def files_of(path: str | None, users: files.OldFile | None, is_all_printed: bool) -> OldFiles:
    """Return the content of the files for -dbj and -ucfgj. Raises DataError if a file is from neither version.

    path: the file given with -dbj, or None without this option.
    """
    if path is None:
        return OldFiles(users=users, is_all_printed=is_all_printed)
    name, data = os.path.basename(path), files.read(path)
    if not files.is_of_1_6(data):
        return OldFiles((site_file.load(path, 'attributes'),), None, users, is_all_printed,
                        notes=(Coded(NOTE, f'the entries of {name} are used in addition to the shipped ones'),))
    old = files.taken(path, data, is_users=False)
    note = Coded(NOTE, f'{name} is a database of version 1.6 with {len(old.entries)} entries; its limits and labels '
                       'are added to our own verdict')
    return OldFiles((), old, users, is_all_printed, notes=(note,))


# --- limits and numbers of the drive ----------------------------------------------------

def _rules(sources: Sequence[OldSource]) -> dict[int, OldRule]:
    """Return the limits by number. A user limit without a shift keeps the shift of the database limit it replaces."""
    rules: dict[int, OldRule] = {}
    for file, entry, is_users in sources:
        for number, limit in entry.limits.items():
            shift = rules[number].limit.shift if limit.shift is None and number in rules else limit.shift
            rules[number] = OldRule(number, limit._replace(shift=shift), f'{file}, {entry.name}',
                                    is_users or not entry.is_shipped, is_users)
    return rules


def _columns(sources: Sequence[OldSource], report: Report, database: SpecDatabase) -> tuple[dict[int, str], list[str]]:
    """Return the column of each number, and a message for each user-configured number that has no column.

    If the database is missing or does not have a column, the column that our own entry reads is used.
    """
    columns = {} if sources[0].is_users else dict(sources[0].entry.columns)
    file, user, is_users = sources[-1]
    if not is_users:
        return columns, []
    lacking = {*user.limits, *(user.graphed or ())} - set(columns)
    # A value of a log has only one number, so any column will do.
    ours = dict.fromkeys(range(max(len(files.NVME), len(files.SAS))), files.RAW)
    if report.identity.protocol == 'ATA':
        spec = database.identify(report.identity, [row.id for row in report.attributes])
        ours = {ERROR_COUNT: files.VALUE, **limit_conversion.columns_of(spec)}
    ours = {HEALTH: files.VALUE, **ours}
    columns.update((number, ours[number]) for number in lacking if number in ours)
    return columns, [f'{file}, {user.name}, {number}: neither -dbj nor attributes.json shows whether VALUE or '
                     f'RAW_VALUE is meant, so it has no effect' for number in sorted(lacking - set(ours))]


def _opinion(rule: OldRule, number: OldNumber, verdict: Verdict) -> Opinion:
    moved = number._replace(number=files.shifted(number.number, rule.limit.shift))
    state = (State.CRITICAL if ranges.is_violated(rule.limit.critical, moved.number) else
             State.WARNING if ranges.is_violated(rule.limit.warning, moved.number) else State.OK)
    metrics = _metrics(number, verdict)
    return Opinion(rule, moved, state, tuple(
        judgement for judgement in verdict.judgements if judgement.reading.metric in metrics
        or (judgement.reading.metric == 'vendor_threshold' and _is_of(number, judgement))))


def _is_of(number: OldNumber, judgement: Judgement) -> bool:
    return judgement.reading.source[:2] == number.source[:2]  # regardless of the formula


def _metrics(number: OldNumber, verdict: Verdict) -> set[str]:
    """Return the metrics with the same meaning as a number of version 1.6."""
    if number.source.log == drive_logs.NVME_LOG:
        key = files.NVME[number.id][0]
        bits = [bit.metric for bit in drive_logs.NVME_WARNINGS] if key == 'critical_warning' else []
        return {drive_logs.NVME[key].metric, *bits} if key in drive_logs.NVME else set()
    if number.source.log == drive_logs.SCSI_LOG:
        meaning = limit_conversion.of_standard(number.id, 'SCSI')
        return {meaning.metric} if meaning else set()
    if number.id in (ERROR_COUNT, HEALTH):
        return {'error_log_count' if number.id == ERROR_COUNT else 'smart_status'}
    # All metrics that are read from this attribute, and the statistic with the same meaning.
    return {judgement.reading.metric for judgement in verdict.judgements
            if _is_of(number, judgement)} - {'vendor_threshold'}


def _without_overruled(verdict: Verdict, opinions: Sequence[Opinion], is_known: bool) -> list[Judgement]:
    """Return our judgements; if a user configuration replaces our limit, the judgement has no limit and is OK.

    is_known: whether the local database has an entry; if so, the finding that an entry is missing does not apply.
    """
    overruled = {id(judgement) for opinion in opinions if opinion.rule.is_users for judgement in opinion.ours
                 if judgement.reading.metric not in _OWN_VERDICTS}
    ours = [each._replace(state=State.OK, warning='', critical='', against=NOTHING) if id(each) in overruled else each
            for each in verdict.judgements]
    return [each._replace(state=State.OK) if is_known and each.reading.metric == HIDDEN else each for each in ours]


def _replacements(opinions: Sequence[Opinion]) -> Iterator[str]:
    for opinion in opinions:
        metrics = sorted({judgement.reading.metric for judgement in opinion.ours} - _OWN_VERDICTS)
        if metrics and opinion.rule.is_users:
            yield (f'{opinion.rule.origin}, {opinion.rule.id}: this limit replaces ours for '
                   f'{", ".join(metrics)}')


def _judgement(opinion: Opinion, ours: Sequence[Judgement], metrics: Mapping[str, Metric]) -> Judgement:
    """Return an opinion as a judgement, which is OK if one of our judgements on the same value is as severe."""
    rule, number, state = opinion.rule, opinion.number, opinion.state
    our_state = worst(judgement.state for judgement in ours
                      if any(judgement.reading == own.reading for own in opinion.ours))
    is_needed = state.urgency > our_state.urgency or state is State.OK
    deciding = rule.limit.critical if state is State.CRITICAL else rule.limit.warning
    against = ranges.describe(deciding, number.number) if is_needed and state is not State.OK else NOTHING
    reading = Reading(METRIC, number.number, '', number.source, _in_words(number), judged=is_needed)
    concern = min((metrics[own.reading.metric].concern for own in opinion.ours if own.reading.metric in metrics),
                  key=severity.ORDER.index, default='')
    return Judgement(reading, state if is_needed else State.OK, rule.limit.warning, rule.limit.critical,
                     against, rule.origin, concern=concern)


def _in_words(number: OldNumber) -> str:
    name = f'{number.source} {number.label}' if number.source.attribute is not None else number.label
    return f'{name} {plain(number.number)}'


def _disagreements(opinions: Iterable[Opinion], verdict: Verdict) -> Iterator[str]:
    """Yield a message for each number and each reading that version 1.6 judges differently from us."""
    covered = []
    for rule, number, state, judgements in opinions:
        covered += [judgement.reading for judgement in judgements]
        ours = worst(judgement.state for judgement in judgements)
        if state is not ours:
            we = f'we say {ours.name}' if judgements else 'we do not evaluate it'
            end = '' if rule.counts else '; this limit was shipped with 1.x, so only its perfdata label is added'
            yield (f'{rule.origin}: {_in_words(number)} is {state.name} (limits {rule.limit.warning} and '
                   f'{rule.limit.critical}), {we}{end}')
    for judgement in verdict.judgements:
        if judgement.state is not State.OK and judgement.reading.metric != HIDDEN and judgement.reading not in covered:
            yield f'{judgement.reading.metric} {judgement.state.name}: version 1.6 had no limit for it'


def _old_values(printed: Sequence[int], numbers: Mapping[int, OldNumber], rules: Mapping[int, OldRule],
                name: str) -> Iterator[OldValue]:
    """Yield the perfdata of version 1.6: each label only once, with limits only if they apply."""
    labels: set[str] = set()
    for number in (numbers[each] for each in dict.fromkeys(printed) if each in numbers):
        rule, label = rules.get(number.id), f'{name}_{number.label}'
        if label in labels:  # smartctl has the same name for attributes 170 and 232
            label = f'{label}_{number.id}'
        labels.add(label)
        amount = files.shifted(number.number, rule.limit.shift if rule else None)
        limits = (rule.limit.warning, rule.limit.critical) if rule and rule.counts else ('', '')
        yield OldValue(label, amount, *limits)
