"""The alert of a drive in the first line of a check: which drive, why, and what to do. Pure."""

from __future__ import annotations

from ..constants import LONGEST_NAME_IN_LINE
from ..knowledge.drive_logs import extended_self_test
from ..model import Case, Judgement, Verdict
from ..wording import HEALTH, plural, statement
from . import actions
from .statements import also, words_and_limit

BEST_ALERT = 120 - len('SMART CRITICAL - ')  # characters, for who, why and what to do


def alerts(case: Case) -> list[str]:
    """Return the alert of a drive for the first line of a check, in five forms, longest first:
    which drive, why, and what to do.

    If a reason of two findings leaves no room for the action, only the worse finding is named.
    """
    item = case.todo
    name = _short_name(case)
    step = _first_step(case)
    more = item.more
    last_finding = ''
    if item.is_unread:
        # the reason is "PROBLEM; FINDING when last read", see Item.is_unread
        problem, _, last_finding = item.reason.partition('; ')
        head = f'{name} {problem}; {step}'
    else:
        head = f'{name}: {item.reason}: {step}'
        has_two_findings = (
            not case.verdict.problem and len(_headlined(case.verdict)) > 1
        )
        if has_two_findings and len(head) > BEST_ALERT:
            head = f'{name}: {_worst_finding(case.verdict)}: {step}'
            more += 1
    full_head = head
    if item.step and item.step.brief and item.action in actions.REPLACING:
        full_head = f'{head}, because {item.step.brief}'
    # the findings of a drive that was not read are old, and its line has them
    has_findings = more > 0 and not item.is_unread
    findings = plural(more, 'more finding') if has_findings else ''
    findings_on_it = f'{findings} on it' if findings else ''
    counts = findings_on_it
    if item.also:
        more_actions = plural(len(item.also), 'more action')
        counts = f'{more_actions}, {findings}' if findings else more_actions
    return [
        _joined(full_head, last_finding, also(item), findings_on_it),
        # further actions are only counted
        _joined(full_head, last_finding, counts),
        _joined(full_head, last_finding),
        # without the reason for the action, and without the last finding of an unread drive
        head,
        # without the command of a self-test
        head.removesuffix(f' ({extended_self_test(case.verdict.device)})'),
    ]


def action_alone(case: Case) -> str:
    """Return which drive, and what to do: an alert for which a first line has no more room."""
    return f'{_short_name(case)}: {_first_step(case)}'


def _first_step(case: Case) -> str:
    """Return the action for a drive without what to do in other cases, which its line has."""
    return case.todo.to_do.partition('; ')[0]


def _joined(*parts: str) -> str:
    return '; '.join(filter(None, parts))


def _short_name(case: Case) -> str:
    """Return the name of a drive, or the serial number instead of a long name, with its bay."""
    name = case.verdict.device.name
    serial = case.shown.serial
    if len(name) > LONGEST_NAME_IN_LINE and serial:
        name = f'serial {serial}'
    return f'{name} ({case.place.bay})' if case.place.bay else name


def headline(verdict: Verdict) -> str:
    """Return the worst finding of a drive that was read, in words with its limit: "576 reallocated
    sectors (warning above 40)". If it is the health status, the finding that shows what failed
    follows after a comma, without its limit. '' without findings.
    """
    others = _headlined(verdict)[1:]
    # the first line has no room for two limits
    return ', '.join([_worst_finding(verdict), *map(_words, others)])


def _worst_finding(verdict: Verdict) -> str:
    """Return the worst finding of a drive with its limit; '' if it has none."""
    worst = _headlined(verdict)[:1]
    return ''.join(map(_with_limit, worst))


def further_findings(verdict: Verdict) -> int:
    """Return the number of findings that headline() does not name."""
    if verdict.problem:
        return len(verdict.last.findings) - 1 if verdict.last else 0
    return len(verdict.alerts) - len(_headlined(verdict))


def _headlined(verdict: Verdict) -> list[Judgement]:
    """Return the worst finding and, if it is the health status, one that shows what failed."""
    alerts = verdict.alerts
    worst = [judgement for judgement in alerts if judgement.state is verdict.state]
    if not worst:
        return alerts[:1]
    first, *others = worst
    if first.reading.metric != HEALTH or not others:
        return [first]
    # the worst one of another kind, such as lost data
    of_other_kind = [other for other in others if other.concern != first.concern]
    return [first, (of_other_kind or others)[0]]


def _with_limit(judgement: Judgement) -> str:
    _, limit = words_and_limit(judgement)
    words = _words(judgement)
    if not limit:
        return words
    if words.endswith(')'):
        # one pair of brackets
        return f'{words[:-1]}; {limit})'
    return f'{words} ({limit})'


def _words(judgement: Judgement) -> str:
    return judgement.words or statement(judgement.reading)


def is_about_reading(verdict: Verdict, action: str) -> bool:
    """Return whether the reason for an action is that the drive was not read, rather than what was
    found when it was last read.
    """
    if not verdict.problem:
        return False
    return verdict.last is None or action in (actions.SEARCH, actions.READ)
