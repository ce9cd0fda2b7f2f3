"""What version 1.6 would say, beside our own verdict.

Ours always stands. The files of version 1.6 can make it worse, never better:
but for a user configuration, which somebody wrote for this very drive. And
they add the labels that version 1.6 printed, so that its graphs go on.
"""

import os
from typing import Dict, FrozenSet, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ..coded import NOTHING, Coded
from ..knowledge import ranges, severity, site_file, standards
from ..knowledge.drive_database import DriveSpec, Metric, SpecDatabase
from ..model import Device, Judgement, OldValue, Reading, Report, State, Verdict, worst
from ..words import plain
from . import files, limit_conversion, names
from .files import ERROR_COUNT, HEALTH, Entry, Limit, Number

NOTE = 'legacy-note'       # the code of what is used of version 1.6, or has no effect
METRIC = 'legacy_limit'
HIDDEN = 'unknown_model'
# The drive's own word is never overruled, whoever wrote a limit for it.
_OWN_WORD = frozenset(('smart_status', 'vendor_threshold', *(warning.metric for warning in standards.NVME_WARNINGS)))


class Files(NamedTuple):
    """The files of version 1.6 that a check was given."""

    entries: Tuple[site_file.SiteFile, ...] = ()  # where -dbj has the shape of attributes.json
    database: Optional[files.Database] = None
    users: Optional[files.Users] = None
    is_all_printed: bool = False
    names: Mapping[str, str] = {}                      # our name -> how labels begin
    notes: Tuple[Coded, ...] = ()

    def addressed(self, devices: Sequence[Device]) -> 'Files':
        """Return the files with the labels for these devices, and a note for each key that is none of them."""
        keys = {key for device in devices for key in names.keys_of(device)}
        unknown = [key for key in self.users.drives if key not in keys] if self.users else []
        notes = [Coded(NOTE, f'{self.users.file}: {key} is none of the drives of this check, so what it says has no '
                             f'effect')
                 for key in unknown] if self.users else []
        return self._replace(names=names.old_names(devices), notes=(*self.notes, *notes))

    def joined(self, verdict: Verdict, report: Report, database: SpecDatabase, ignored: FrozenSet[int],
               ignored_metrics: FrozenSet[str]) -> Verdict:
        """Return a verdict with what version 1.6 adds to it.

        ignored: attributes that are never judged. ignored_metrics: likewise.
        """
        known = files.entry_of(self.database, report.identity) if self.database else None
        user = files.entry_for(self.users, verdict.device) if self.users else None
        if known is None and user is None:
            missing = [Coded(NOTE, f'{self.database.file} has no entry for this drive')] if self.database else []
            return verdict._replace(notes=(*verdict.notes, *missing))
        columns, notes = _columns(known, user, report, self, database)
        numbers = files.numbers(report, columns)
        rules = {number: rule for number, rule in _rules(known, user, self).items() if number not in ignored}
        opinions = [_opinion(rules[number], numbers[number], verdict) for number in sorted(rules) if number in numbers]
        notes += [*_faults(known, user, self), *_replacements(opinions)]
        said = [*(Coded(NOTE, each) for each in notes),
                *(Coded('legacy-differs', each) for each in _disagreements(opinions, verdict))]
        judgements = _without_overruled(verdict, opinions, known)
        if METRIC not in ignored_metrics:
            judgements += [_judgement(opinion, judgements, database.metrics) for opinion in opinions
                           if opinion.rule.counts]
        return verdict._replace(
            state=worst(judgement.state for judgement in judgements),
            judgements=tuple(sorted(judgements, key=severity.of_judgement)),
            notes=(*verdict.notes, *said),
            old_values=tuple(_old_values(_printed(known, user, columns, self), numbers, rules,
                                         self.names[verdict.device.name])))


class Rule(NamedTuple):
    """A limit that concerns a drive."""

    id: int
    limit: Limit
    origin: str       # "check_smartdb.json, Intel 53X"
    counts: bool      # False: version 1.x shipped it, nobody here decided
    is_users: bool    # somebody wrote it for this drive: it stands instead of ours


class Opinion(NamedTuple):
    """A number that has met a limit of version 1.6."""

    rule: Rule
    number: Number
    state: State
    ours: Tuple[Judgement, ...]  # what we say about the same


def files_of(path: Optional[str], users: Optional[files.Users], is_all_printed: bool) -> Files:
    """Return what -dbj and -ucfgj hold. Raises DataError for what is neither version's.

    path: of -dbj, None where nothing is there.
    """
    if path is None:
        return Files(users=users, is_all_printed=is_all_printed)
    name = os.path.basename(path)
    data = files.read(path)
    if files.is_of_1_6(data):
        found = files.database(path, data)
        note = Coded(NOTE, f'{name} is a database of version 1.6 with {len(found.entries)} entries; its limits and '
                           f'labels are added to our own verdict')
        return Files((), found, users, is_all_printed, notes=(note,))
    return Files((site_file.load(path, 'attributes'),), None, users, is_all_printed,
                 notes=(Coded(NOTE, f'the entries of {name} are used beside the shipped ones'),))


# --- what holds for the drive ---------------------------------------------------------

def _rules(known: Optional[Entry], user: Optional[Entry], given: Files) -> Dict[int, Rule]:
    """Return the limits by number; those of the user configuration replace the database's, and keep its shift."""
    rules: Dict[int, Rule] = {}
    if known and given.database:
        origin = f'{given.database.file}, {known.name}'
        rules = {number: Rule(number, limit, origin, not known.is_shipped, False)
                 for number, limit in known.limits.items()}
    if user and given.users:
        for number, limit in user.limits.items():
            shift = rules[number].limit.shift if limit.shift is None and number in rules else limit.shift
            rules[number] = Rule(number, limit._replace(shift=shift), f'{given.users.file}, {user.name}', True, True)
    return rules


def _columns(known: Optional[Entry], user: Optional[Entry], report: Report, given: Files,
             database: SpecDatabase) -> Tuple[Dict[int, str], List[str]]:
    """Return the column of each number, and a sentence for each number of the user configuration that has none.

    A database that lacks one, or is not there, leaves it to our own: the column that it reads.
    """
    columns = dict(known.columns) if known else {}
    if user is None or given.users is None:
        return columns, []
    wanted = {*user.limits, *(user.graphed or ())} - set(columns)
    spec = database.identify(report.identity, [row.id for row in report.attributes])
    found = _columns_of(spec, report.identity.protocol == 'ATA')
    columns.update((number, found[number]) for number in wanted if number in found)
    return columns, [f'{given.users.file}, {user.name}, {number}: neither -dbj nor attributes.json tells whether '
                     f'VALUE or RAW_VALUE '
                     'is meant, so it has no effect' for number in sorted(wanted - set(found))]


def _columns_of(spec: DriveSpec, is_ata: bool) -> Dict[int, str]:
    if is_ata:
        return {ERROR_COUNT: files.VALUE, HEALTH: files.VALUE, **limit_conversion.columns_of(spec)}
    # Logs have one number each.
    return {HEALTH: files.VALUE, **dict.fromkeys(range(max(len(files.NVME), len(files.SAS))), files.RAW)}


def _faults(known: Optional[Entry], user: Optional[Entry], given: Files) -> Iterator[str]:
    if known and given.database:
        yield from known.faults
        yield from files.without_columns(known, f'{given.database.file}: {known.name}')
    if user:
        yield from user.faults


# --- meeting the limits ----------------------------------------------------------------

def _opinion(rule: Rule, number: Number, verdict: Verdict) -> Opinion:
    moved = number._replace(number=files.shifted(number.number, rule.limit.shift))
    state = (State.CRITICAL if ranges.is_violated(rule.limit.critical, moved.number) else
             State.WARNING if ranges.is_violated(rule.limit.warning, moved.number) else State.OK)
    metrics = _metrics(number, verdict)
    return Opinion(rule, moved, state, tuple(
        judgement for judgement in verdict.judgements if judgement.reading.metric in metrics
        or _is_threshold(judgement, number)))


def _is_threshold(judgement: Judgement, number: Number) -> bool:
    return judgement.reading.metric == 'vendor_threshold' and _same_source(judgement, number)


def _same_source(judgement: Judgement, number: Number) -> bool:
    return judgement.reading.source[:2] == number.source[:2]  # whatever the formula


def _metrics(number: Number, verdict: Verdict) -> Set[str]:
    """Return the metrics that say the same as a number of version 1.6."""
    if number.source.log == standards.NVME_LOG:
        key = files.NVME[number.id][0]
        bits = [warning.metric for warning in standards.NVME_WARNINGS] if key == 'critical_warning' else []
        return {standards.NVME[key].metric, *bits} if key in standards.NVME else set()
    if number.source.log == standards.SCSI_LOG:
        meant = limit_conversion.of_standard(number.id, 'SCSI')
        return {meant.metric} if meant else set()
    if number.id in (ERROR_COUNT, HEALTH):
        return {'error_log_count' if number.id == ERROR_COUNT else 'smart_status'}
    # Whatever reads this attribute, and the statistic that says the same.
    return {judgement.reading.metric for judgement in verdict.judgements
            if _same_source(judgement, number)} - {'vendor_threshold'}


def _without_overruled(verdict: Verdict, opinions: Sequence[Opinion], known: Optional[Entry]) -> List[Judgement]:
    """Return our judgements; those that a user configuration stands for are no longer judged by our limits."""
    overruled = {id(judgement) for opinion in opinions if opinion.rule.is_users for judgement in opinion.ours
                 if judgement.reading.metric not in _OWN_WORD}
    kept = [judgement._replace(state=State.OK, warning='', critical='', against=NOTHING) if id(judgement) in overruled
            else judgement
            for judgement in verdict.judgements]
    # "Not in the database" is not true of a drive that the site's own database knows.
    return [judgement._replace(state=State.OK) if known and judgement.reading.metric == HIDDEN else judgement
            for judgement in kept]


def _replacements(opinions: Sequence[Opinion]) -> Iterator[str]:
    for opinion in opinions:
        metrics = sorted({judgement.reading.metric
                          for judgement in opinion.ours} - _OWN_WORD) if opinion.rule.is_users else []
        if metrics:
            names = ', '.join(metrics)
            yield f'{opinion.rule.origin}, {opinion.rule.id}: this limit stands instead of ours for {names}'


def _judgement(opinion: Opinion, ours: Sequence[Judgement], metrics: Mapping[str, Metric]) -> Judgement:
    """Return an opinion as a judgement; not judged where ours says as much about the same."""
    rule, number = opinion.rule, opinion.number
    told = worst(judgement.state for judgement in ours if any(judgement.reading == own.reading for own in opinion.ours))
    is_needed = opinion.state.urgency > told.urgency or opinion.state is State.OK
    deciding = rule.limit.critical if opinion.state is State.CRITICAL else rule.limit.warning
    against = ranges.describe(deciding, number.number) if is_needed and opinion.state is not State.OK else NOTHING
    reading = Reading(METRIC, number.number, '', number.source, _said(number), judged=is_needed)
    concern = min((metrics[own.reading.metric].concern for own in opinion.ours if own.reading.metric in metrics),
                  key=severity.ORDER.index, default='')
    return Judgement(reading, opinion.state if is_needed else State.OK, rule.limit.warning, rule.limit.critical,
                     against, rule.origin, concern=concern)


def _said(number: Number) -> str:
    name = f'{number.source} {number.label}' if number.source.attribute is not None else number.label
    return f'{name} {plain(number.number)}'


def _disagreements(opinions: Iterable[Opinion], verdict: Verdict) -> Iterator[str]:
    """Yield a sentence for each thing about which version 1.6 and we say different things."""
    covered = []
    for opinion in opinions:
        covered += [judgement.reading for judgement in opinion.ours]
        ours = worst(judgement.state for judgement in opinion.ours)
        if opinion.state is ours:
            continue
        limit = opinion.rule.limit
        told = f'{opinion.state.name} (limits {limit.warning} and {limit.critical})'
        we = f'we say {ours.name}' if opinion.ours else 'we do not judge it'
        end = '' if opinion.rule.counts else '; version 1.x shipped this limit, which adds its label only'
        yield f'{opinion.rule.origin}: {_said(opinion.number)} is {told}, {we}{end}'
    for judgement in verdict.judgements:
        if judgement.state is not State.OK and judgement.reading.metric != HIDDEN and judgement.reading not in covered:
            yield f'{judgement.reading.metric} {judgement.state.name}: version 1.6 had no limit for it'


# --- perfdata ------------------------------------------------------------------------------

def _printed(known: Optional[Entry], user: Optional[Entry], columns: Mapping[int, str], given: Files) -> Sequence[int]:
    if given.is_all_printed:
        return sorted(columns)
    for entry in (user, known):
        if entry and entry.graphed is not None:
            return entry.graphed
    return ()


def _old_values(wanted: Sequence[int], numbers: Mapping[int, Number], rules: Mapping[int, Rule],
                name: str) -> Iterator[OldValue]:
    """Yield the perfdata of version 1.6: each label once, with limits only where they count."""
    taken: Set[str] = set()
    for each in dict.fromkeys(wanted):
        if each not in numbers:
            continue
        number, rule = numbers[each], rules.get(each)
        label = f'{name}_{number.label}'
        label = label if label not in taken else f'{label}_{each}'  # smartctl calls 170 and 232 the same
        taken.add(label)
        amount = files.shifted(number.number, rule.limit.shift) if rule else number.number
        counts = rule is not None and rule.counts
        yield OldValue(label, amount, rule.limit.warning if rule and counts else '',
                       rule.limit.critical if rule and counts else '')
