"""The alert of a drive in the first line of a check: which drive, why, and what to do. Pure."""

from __future__ import annotations

from ..constants import LONGEST_NAME_IN_LINE
from ..knowledge.drive_logs import extended_self_test
from ..model import Case, Judgement, Verdict
from ..wording import HEALTH, plural, statement
from . import actions
from .statements import also, words_and_limit


def alerts(case: Case) -> list[str]:
    """Return the alert of a drive for the first line of a check, in five lengths, longest first:
    which drive, why, and what to do. The second counts further actions and findings together, the
    third omits them, the fourth also omits the reason for the action and the old finding of a
    drive that was not read, and the last one also omits the command of a self-test.
    """
    item = case.todo
    why = f': {item.reason}: '
    before = ''
    if item.is_unread:
        # what was found when it was last read comes after what to do now
        problem, _, before = item.reason.partition('; ')
        why = f' {problem}; '
    what = _first_step(case)
    head = f'{_short_name(case)}{why}{what}'
    brief = item.step.brief if item.step and item.action in actions.REPLACING else ''
    because = f'{head}, because {brief}' if brief else head
    # the findings of a drive that is not read are old, and its line has them
    is_counted = item.more and not item.is_unread
    findings = f'{plural(item.more, "more finding")} on it' if is_counted else ''
    further = [plural(len(item.also), 'more action')] if item.also else []
    if is_counted:
        on_it = '' if further else ' on it'
        further.append(f'{plural(item.more, "more finding")}{on_it}')
    return [
        _joined(because, before, also(item), findings),
        _joined(because, before, ', '.join(further)),
        _joined(because, before),
        head,
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
    sectors (warning above 40)".
    """
    shown = _headlined(verdict)
    # the first line has no room for two limits
    return ', '.join([*map(_with_limit, shown[:1]), *map(_words, shown[1:])])


def further_findings(verdict: Verdict) -> int:
    """Return the number of findings that headline() does not name."""
    if verdict.problem:
        return len(verdict.last.findings) - 1 if verdict.last else 0
    return len(verdict.alerts) - len(_headlined(verdict))


def _headlined(verdict: Verdict) -> list[Judgement]:
    alerts = verdict.alerts
    if not alerts:
        return []
    first, *same_state = [
        judgement for judgement in alerts if judgement.state is verdict.state
    ] or alerts[:1]
    shown = [first]
    if first.reading.metric == HEALTH and same_state:
        # "FAILED" alone does not show what failed, so the most severe other finding, such as lost
        # data, is added.
        shown.append(
            min(same_state, key=lambda judgement: judgement.concern == first.concern)
        )
    return shown


def _with_limit(judgement: Judgement) -> str:
    _, limit = words_and_limit(judgement)
    words = _words(judgement)
    if not limit:
        return words
    # one pair of brackets: "grew by 23 in 24 h (2 to 25; warning above 4 in 7 d)"
    return f'{words[:-1]}; {limit})' if words.endswith(')') else f'{words} ({limit})'


def _words(judgement: Judgement) -> str:
    return judgement.words or statement(judgement.reading)


def is_about_reading(verdict: Verdict, action: str) -> bool:
    """Return whether the reason for an action is that the drive was not read, rather than what was
    found when it was last read.
    """
    return bool(verdict.problem) and (
        verdict.last is None or action in (actions.SEARCH, actions.READ)
    )
