"""Apply the groups of a machine to its drives: the groups on each drive, and whether to replace it now. Pure."""
from __future__ import annotations

from ..knowledge import severity
from ..model import Dependence, Replacement, State
from ..redundancy.replacement import Drive, machine
from ..redundancy.sentences import tolerance
from ..typed import TYPE_CHECKING
from ..words import clean, sentence
from .advice import ORDER, REPLACE, advice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..model import Group, Verdict
    from ..redundancy.replacement import Machine, Membership, Step
    from ..typed import Json

TEXT = 500  # characters


def of_machine(verdicts: Sequence[Verdict], groups: Sequence[Group], now: float) -> Machine:
    """Return the groups with their drives, and the order of replacement. now: seconds since 1970."""
    ordered = sorted(verdicts, key=severity.of_verdict)
    return machine(groups, [_drive(verdict, now) for verdict in ordered if verdict.place.disks])


def _drive(verdict: Verdict, now: float) -> Drive:
    is_unread = bool(verdict.problem) and verdict.state is not State.OK
    return Drive(verdict.device.name, frozenset(verdict.place.disks), verdict.state is State.CRITICAL or is_unread,
                 advice(verdict, now).action in (REPLACE, ORDER))


def with_replacements(verdicts: Sequence[Verdict], found: Machine) -> tuple[Verdict, ...]:
    """Return the verdicts with what depends on each drive, and whether it may be replaced."""
    steps = {step.drive.name: Replacement(step.label, step.why) for step in found.steps}
    return tuple(verdict._replace(depends=tuple(_depends(verdict.device.name, found.groups)),
                                  replacement=steps.get(verdict.device.name)) for verdict in verdicts)


def _depends(name: str, groups: Sequence[Membership]) -> Iterator[Dependence]:
    for group, tolerates, drives in groups:
        for member, below in zip(group.members, drives):
            if name in below:
                yield Dependence(group, member.name, member.state, tolerates, tolerance(group, tolerates))


def lines(found: Machine) -> list[str]:
    """Return the order of replacement as lines of text: the label, the drive and the reason."""
    width = max((len(step.label) for step in found.steps), default=0)
    return [f'  {step.label:{width}}  {step.drive.name}  {sentence(step.why, TEXT)}' for step in found.steps]


# --- in the JSON document -------------------------------------------------------------------------------

def document(found: Machine, verdicts: Sequence[Verdict]) -> Json:
    """Return the groups, each with its members and their drives, and the order of replacement."""
    states = {verdict.device.name: verdict.state.name for verdict in verdicts}
    return {'groups': [_group(each, states) for each in found.groups], 'replace_order': list(map(_step, found.steps))}


def _group(found: Membership, states: Json) -> Json:
    group = found.group
    return {
        'id': clean(group.id, limit=TEXT), 'name': clean(group.name, limit=TEXT), 'kind': group.kind,
        'level': group.level or None, 'used_as': [clean(use, limit=TEXT) for use in group.used_as],
        'tolerates': found.tolerates, 'activity': group.activity or None, 'progress': group.progress,
        'missing': group.missing, 'unknown': sentence(group.unknown, TEXT) or None,
        'text': sentence(tolerance(group, found.tolerates), TEXT),
        'members': [{'name': clean(member.name, limit=TEXT) or None, 'state': member.state, 'slot': member.slot,
                     'detail': clean(member.detail, limit=TEXT) or None,
                     'drives': [{'name': name, 'state': states.get(name)} for name in drives]}
                    for member, drives in zip(group.members, found.drives)]}


def _step(step: Step) -> Json:
    return {'name': step.drive.name, 'label': step.label, 'code': step.why.code, 'why': sentence(step.why, TEXT),
            'disks': sorted(step.drive.disks), 'groups': list(step.groups)}


def depends(verdict: Verdict) -> list[Json]:
    """Return what depends on a drive: the groups that it is a member of."""
    return [{'group': clean(each.group.id, limit=TEXT), 'name': clean(each.group.name, limit=TEXT),
             'kind': each.group.kind, 'level': each.group.level or None,
             'used_as': [clean(use, limit=TEXT) for use in each.group.used_as], 'tolerates': each.tolerates,
             'member': clean(each.member, limit=TEXT), 'member_state': each.state, 'text': sentence(each.said, TEXT)}
            for each in verdict.depends]
