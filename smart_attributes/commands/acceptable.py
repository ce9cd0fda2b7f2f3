"""Choose the values that `acknowledge` accepts, and give the reason for each one that it refuses."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..check.rulebook import today
from ..command_line.options import PROGRAM
from ..knowledge import acknowledgements
from ..knowledge.thresholds import MISSING, Acknowledgement
from ..model import Judgement, Verdict
from ..reading.identity import is_same_drive
from ..typed import NamedTuple
from ..wording import amount
from ..words import clean
from ..work import work_list
from ..work.statements import finding


class Choice(NamedTuple):
    """The values to acknowledge, and those that are not acknowledged."""

    new: Sequence[Acknowledgement]
    said: Sequence[str]  # a text for each of `new`
    refused: Sequence[str]  # a text with the reason for each other value


def acceptable(
    verdicts: Sequence[Verdict],
    metrics: Sequence[str],
    template: Acknowledgement,
    *,
    is_every_drive: bool,
    hide_serial: bool,
) -> Choice:
    """Return the acknowledgements for drives, and a sentence for each value that cannot be
    acknowledged.

    metrics: to be acknowledged at the current value; if empty, all that alert. template: `why`,
    `until`, `by`, `at`. is_every_drive: --all selects these drives, so the findings of a drive that
    must be replaced are refused. hide_serial: print no serial number.
    """
    new = []
    said = []
    refused = []
    for verdict in verdicts:
        judgements = _asked_for(verdict, metrics)
        refused += _unread_or_missing(verdict, metrics, judgements)
        why_not_with_all = _why_not_with_all(verdict) if is_every_drive else ''
        for judgement in judgements:
            words = f'{verdict.device.name} {finding(judgement)}'
            why_not = _why_not(verdict, judgement) or why_not_with_all
            if why_not:
                refused.append(f'{words}: {why_not}')
                continue
            accepted = template._replace(
                serial=verdict.identity.serial,
                metric=judgement.reading.metric,
                value=judgement.reading.number or 0,
            )
            new.append(accepted)
            serial = '' if hide_serial else f' (serial number {clean(accepted.serial)})'
            said.append(f'{words}{serial}')
    return Choice(new, said, refused)


def _asked_for(verdict: Verdict, metrics: Sequence[str]) -> list[Judgement]:
    """Return the judgements of these metrics; if empty, all that alert."""
    if not metrics:
        return verdict.alerts
    return [
        judgement
        for judgement in verdict.judgements
        if judgement.reading.judged and judgement.reading.metric in metrics
    ]


def _unread_or_missing(
    verdict: Verdict, metrics: Sequence[str], judgements: Sequence[Judgement]
) -> list[str]:
    """Return why a drive was not read, or a sentence for each metric that it does not report."""
    name = verdict.device.name
    if verdict.problem:
        return [f'{name} {verdict.explained}']
    reported = {judgement.reading.metric for judgement in judgements}
    return [
        f'{name} does not report {metric}'
        for metric in metrics
        if metric not in reported
    ]


def _why_not_with_all(verdict: Verdict) -> str:
    """Return why --all does not acknowledge the values of a drive: one of its actions needs a new
    drive or copies its data. Return '' for a drive without such an action.
    """
    action = work_list.rescue(verdict)
    if not action:
        return ''
    return (
        f'{action}; --all does not acknowledge such drives; to acknowledge this one, run: '
        f'{PROGRAM} acknowledge {shlex.quote(verdict.device.name)} --why WHY'
    )


def accepted_as_missing(
    serials: Sequence[str],
    unknown: Sequence[str],
    template: Acknowledgement,
    hide_serial: bool,
) -> Choice:
    """Return the acknowledgements of missing drives, and a sentence for each name that no known
    drive has.
    """
    new = [template._replace(serial=serial, metric=MISSING) for serial in serials]
    refused = [
        f'{word}: no missing drive has this name, and no drive in the history has this serial '
        'number; to list the drives, run: check_smart_attributes history'
        for word in unknown
    ]
    return Choice(new, [line(accepted, hide_serial) for accepted in new], refused)


def _why_not(verdict: Verdict, judgement: Judgement) -> str:
    """Return why a value cannot be acknowledged; '' if it can."""
    if judgement.reading.state is not None:
        return 'this is a state, not a number, so it cannot be acknowledged'
    if judgement.reading.number is None:
        return 'this metric currently has no value'
    # an acknowledgement finds its drive by the serial number only
    without_wwn = verdict.identity._replace(wwn='')
    # a serial number that many drives share does not even match itself
    has_own_serial = is_same_drive(without_wwn, without_wwn)
    if has_own_serial:
        return ''
    return 'the drive reports no serial number, or one shared by many drives'


def line(accepted: Acknowledgement, hide_serial: bool) -> str:
    """Return one acknowledgement as a line of text. hide_serial: without the serial number."""
    words = (
        accepted.metric
        if hide_serial
        else f'{clean(accepted.serial)} {accepted.metric}'
    )
    if accepted.metric != MISSING:
        words = f'{words} {amount(accepted.value, "")}'
    words += acknowledgements.given_by(accepted, ', ')
    if accepted.until and accepted.until < today():
        words = f'{words}, expired'
    return f'{words}: {clean(accepted.why, 200)}'
