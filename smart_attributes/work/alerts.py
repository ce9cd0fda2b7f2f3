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
    - "sdb: 9 pending sectors (critical above 8): replace it now; md0 keeps its data;
      also update the firmware; 2 more findings on it"
    - the same with numbers at the end: " (1 more action, 2 more findings)"
    - the same without these numbers
    - "sdb: 9 pending sectors (critical above 8): replace it now"
    - the same without the command of a self-test
    """
    item = case.todo
    head, unnamed = _head(case)
    full_head = head
    if item.is_unread:
        full_head = _full_head_of_unread(case, head)
    elif item.step and item.step.brief and item.action in actions.REPLACING:
        full_head = f'{head}; {item.step.brief}'
    findings = plural(unnamed, 'more finding') if unnamed else ''
    findings_on_it = f'{findings} on it' if findings else ''
    more_actions = plural(len(item.also), 'more action') if item.also else ''
    numbers = ', '.join(filter(None, (more_actions, findings)))
    return [
        '; '.join(filter(None, (full_head, also(item), findings_on_it))),
        f'{full_head} ({numbers})' if numbers else full_head,
        full_head,
        head,
        _without_command(head, case),
    ]


def _full_head_of_unread(case: Case, head: str) -> str:
    """Return *head* with the rest of the reason why a drive was not read: that a group lacks a
    member, or may lack one, and its CRITICAL finding when it was last read.

    - the reason has no more parts: *head* itself, "sdb PROBLEM; ACTION"
    - there is room: "sdb PROBLEM; REST; ACTION"
    - there is no room: "sdb PROBLEM; ACTION; REST"
    """
    reason = case.todo.reason
    _, _, rest = reason.partition('; ')
    if not rest:
        return head
    full_head = f'{_short_name(case)} {reason}; {_first_step(case)}'
    if len(full_head) <= BEST_ALERT:
        return full_head
    return f'{head}; {rest}'


def _head(case: Case) -> tuple[str, int]:
    """Return which drive, why, and what to do; and the number of findings that this does not name:

    - the action is needed because the drive was not read: "sdb PROBLEM; ACTION", and 0, because
      findings of an earlier check are not counted here
    - the drive was not judged, but its last findings need the action: "sdb: FINDING when last read
      2 h ago: ACTION", without the time if there is no room, and the number of its other last findings
    - the drive was judged: "sdb: FINDING: ACTION" or "sdb: FINDING, FINDING: ACTION", and the number
      of its other findings; if this leaves no room for the action, only the worse finding is named,
      and growth without its limit
    """
    verdict = case.verdict
    name = _short_name(case)
    step = _first_step(case)
    if case.todo.is_unread:
        # The first part of the reason is why the drive was not read, see _full_head_of_unread().
        problem, _, _ = case.todo.reason.partition('; ')
        return f'{name} {problem}; {step}', 0
    head = f'{name}: {case.todo.reason}: {step}'
    # Only a drive that was not judged has last findings. The reason names the worst of them.
    if verdict.last:
        if len(head) > BEST_ALERT:  # without the time
            head = f'{name}: {verdict.last.headline}: {step}'
        return head, len(verdict.last.findings) - 1
    # The drive was judged. headline(), which made the reason, names exactly these findings.
    named = _headlined(verdict)
    if named and len(_without_command(head, case)) > BEST_ALERT:
        worst = named[0]
        # growth has its period, but a level without its limit would not say why it is an alert
        reason = _words(worst) if worst.growth_against else _with_limit(worst)
        return f'{name}: {reason}: {step}', len(verdict.alerts) - 1
    return head, len(verdict.alerts) - len(named)


def _without_command(head: str, case: Case) -> str:
    """Return *head* without the command of a self-test."""
    return head.removesuffix(f' ({extended_self_test(case.verdict.device)})')


def action_alone(case: Case) -> str:
    """Return which drive, and what to do: an alert for which a first line has no more room."""
    return f'{_short_name(case)}: {_first_step(case)}'


def _first_step(case: Case) -> str:
    """Return the action for a drive without what to do in other cases, which its line has."""
    return case.todo.to_do.partition('; ')[0]


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
    follows after a comma, without its limit.
    """
    named = _headlined(verdict)
    # the first line has no room for two limits
    return ', '.join([*map(_with_limit, named[:1]), *map(_words, named[1:])])


def _headlined(verdict: Verdict) -> list[Judgement]:
    """Return the findings that a first line names: the worst one and, if it is the health status,
    another that shows what failed; [] if there are no alerts.

    The second finding has the same state, and if possible another concern, such as lost data.
    """
    worst = [alert for alert in verdict.alerts if alert.state is verdict.state]
    if not worst:
        # The drive is in a worse state than its alerts because it did not report its health status
        # now: the alert is the last reported status, see last_verdict.with_status().
        return verdict.alerts[:1]
    status = worst[0]
    if status.reading.metric != HEALTH:
        return [status]
    for alert in worst:
        if alert.concern != status.concern:
            return [status, alert]
    return worst[:2]


def _with_limit(judgement: Judgement) -> str:
    _, limit = words_and_limit(judgement, is_brief=True)
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
    is_reason = verdict.last is None or action in actions.ABOUT_READING
    return verdict.problem != '' and is_reason
