"""acknowledged.json: what root accepts of single drives, written in one step, read by every check as a file of
limits.
"""
from __future__ import annotations

import json
import os
from typing import Iterable, List, Sequence, Set, Tuple

from .errors import DataError, UsageError
from .knowledge import acknowledged, sitefile
from .knowledge.acknowledged import Acknowledgement
from .model import Judgement, State, Verdict
from .reading.identity import is_same_drive
from .site import today
from .words import amount, clean, finding

LEAST_WHY = 8      # characters, as the schema of limits wants them
_COMMENT = 'Written by check_smart_attributes acknowledge; each number is silent until it is passed.'
_OWN_WORD = 'is the word of the drive itself, which nothing silences'


def path(config: str) -> str:
    """Return the file in a configuration folder."""
    return os.path.join(config, acknowledged.FILE)


def kept(config: str) -> List[Acknowledgement]:
    """Return what is accepted already. Raises DataError for a file with a mistake, which must not be written over."""
    if not os.path.lexists(path(config)):
        return []
    file = sitefile.load(path(config), 'thresholds')
    if file.mistakes:
        raise DataError(f'{file.mistakes[0]}; correct {path(config)} by hand, or move it away')
    return list(acknowledged.from_overrides(file.data.get('overrides', ())))


def accepted(verdicts: Sequence[Verdict], roles: Sequence[str],
             template: Acknowledgement) -> Tuple[List[Acknowledgement], List[str]]:
    """Return what is accepted of drives, and a sentence for each thing that cannot be.

    roles: these, as they stand now; none: whatever alarms. template: why, until, by and at.
    """
    given, refused = [], []
    for verdict in verdicts:
        wanted = [j for j in verdict.judgements if j.reading.judged
                  and (j.reading.role in roles if roles else j.state is not State.OK)]
        told = {judgement.reading.role for judgement in wanted}
        refused += [f'{verdict.device.name} tells no {role}' for role in roles if role not in told
                    and not verdict.problem]
        refused += [f'{verdict.device.name} {verdict.problem}'] if verdict.problem else []
        for judgement in wanted:
            why_not = _why_not(verdict, judgement)
            refused += [f'{verdict.device.name} {finding(judgement)}: {why_not}'] if why_not else []
            given += [] if why_not else [template._replace(serial=verdict.identity.serial, role=judgement.reading.role,
                                                           value=judgement.reading.number or 0)]
    return given, refused


def _why_not(verdict: Verdict, judgement: Judgement) -> str:
    if judgement.reading.state is not None:
        return _OWN_WORD
    alone = verdict.identity._replace(wwn='')
    return '' if is_same_drive(alone, alone) else 'the drive tells no serial number by which it would be known again'


def template(why: str, until: str) -> Acknowledgement:
    """Return what all acknowledgements of one call have in common. Raises UsageError."""
    if len(why) < LEAST_WHY:
        raise UsageError(f'--why says why this is accepted, in {LEAST_WHY} characters or more: --why "stable since '
                         f'2024"')
    if until and not acknowledged.is_day(until):
        raise UsageError(f'--until "{clean(until)}" is no day, such as 2027-01-31')
    if until and until < today():
        raise UsageError(f'--until {until} is past; name the last day on which the number is accepted')
    return Acknowledgement('', '', 0, why, until, _who(), today())


def _who() -> str:
    import pwd
    try:
        return os.environ.get('SUDO_USER') or pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def joined(before: Iterable[Acknowledgement], given: Sequence[Acknowledgement]) -> List[Acknowledgement]:
    """Return all that is accepted; of one role of one drive, what was said last."""
    newest = {(each.serial, each.role): each for each in (*before, *given)}
    return sorted(newest.values())


def withdrawn(before: Sequence[Acknowledgement], names: Sequence[str]) -> List[Acknowledgement]:
    """Return what SERIAL or SERIAL:ROLE withdraws, as --list tells them. Raises UsageError for what was never accepted.
    """
    for name in names:
        if not any(name in _called(each) for each in before):
            raise UsageError(f'nothing of {clean(name)} is acknowledged; --list tells what is')
    return [each for each in before if _called(each) & set(names)]


def _called(given: Acknowledgement) -> Set[str]:
    """Return what a person may call an acknowledgement."""
    return {name for serial in (given.serial, clean(given.serial)) for name in (serial, f'{serial}:{given.role}')}


def write(config: str, given: Sequence[Acknowledgement]) -> None:
    """Replace the file, in one step. Raises DataError where it cannot be written."""
    text = json.dumps({'comment': _COMMENT, 'overrides': [acknowledged.override(each) for each in given]},
                      indent=1) + '\n'
    beside = f'{path(config)}.{os.getpid()}'
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(handle, 'w', encoding='utf-8') as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path(config))
    except OSError as error:
        raise DataError(f'{path(config)}: {error.strerror}; run this as root, who alone accepts what a check no '
                        f'longer tells') from None


def line(given: Acknowledgement) -> str:
    """Return one acknowledgement for a person."""
    ended = ', which is past' if given.until and given.until < today() else ''
    told = ''.join(f', {word} {clean(text)}'
                   for word, text in (('by', given.by), ('on', given.at), ('until', given.until)) if text) + ended
    return f'{clean(given.serial)} {given.role} {amount(given.value, "")}{told}: {clean(given.why, 200)}'
