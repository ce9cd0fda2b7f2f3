"""Results of an installation check as text or JSON; each line reports that all is well, or the next step."""
from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..constants import DOCUMENT
from ..words import sentence, visible

GOOD, TO_DO, LATER = 'good', 'TO DO', '-'
NARROWEST, WIDEST = 80, 110   # limits of the column at which text is wrapped
_WORDS = 600                  # characters of a sentence
_INDENT = 9                   # column where subjects begin; the next step is printed below


class Finding(NamedTuple):
    """The result of one check of the installation."""

    subject: str                 # "sudo rule", "/dev/sda"
    is_good: bool | None      # None: could not be checked, because of another finding
    words: str
    cure: str = ''               # next step, a sentence; '' if all is well
    command: str = ''            # command for the next step, ready to paste


class Paste(NamedTuple):
    """A line to paste into a configuration file."""

    place: str                   # "NRPE, /etc/nagios/nrpe_local.cfg"
    text: str


class Examination(NamedTuple):
    """All results of an installation check."""

    title: str
    findings: Sequence[Finding]
    pastes: Sequence[Paste] = ()

    @property
    def is_good(self) -> bool:
        """Return whether the installation needs no action."""
        return all(finding.is_good for finding in self.findings)


def halves(sentence: str) -> tuple[str, str]:
    """Return (problem, next step) of a message "place: problem; next step"; '' if it has no next step."""
    words, _, advice = sentence.partition('; ')
    return words, advice


def as_text(examination: Examination) -> str:
    """Return the results as text for a terminal."""
    width = min(max(shutil.get_terminal_size((NARROWEST, 24)).columns, NARROWEST), WIDEST) - 1
    subjects = max((len(finding.subject) for finding in examination.findings), default=0)
    lines = [visible(examination.title)]
    for finding in examination.findings:
        lines += _lines(finding, min(subjects, 24), width)
    return '\n'.join([*lines, '', _summary(examination), *_pasted(examination.pastes)])


def _lines(finding: Finding, subjects: int, width: int) -> Iterator[str]:
    status = LATER if finding.is_good is None else GOOD if finding.is_good else TO_DO
    yield from _wrapped(f'{status:<7}{visible(finding.subject):<{subjects}}  ', finding.words, width)
    if finding.cure:
        yield from _wrapped(f'{"":<{_INDENT - 2}}-> ', finding.cure + (':' if finding.command else ''), width)
    if finding.command:
        yield f'{"":<{_INDENT + 1}}{visible(finding.command)}'  # never wrapped, so that it can be pasted


def _wrapped(head: str, words: str, width: int) -> list[str]:
    return textwrap.wrap(sentence(words, _WORDS), width, initial_indent=head, subsequent_indent=' ' * len(head),
                         break_long_words=False, break_on_hyphens=False) or [head.rstrip()]


def _summary(examination: Examination) -> str:
    if examination.is_good:
        return 'No problems found.'
    to_do = sum(finding.is_good is False for finding in examination.findings)
    later = sum(finding.is_good is None for finding in examination.findings)
    parts = [f'{to_do} to do'] * bool(to_do) + [f'{later} could not be checked yet'] * bool(later)
    return f'{", ".join(parts)}: start at the top, then run this again.'


def _pasted(pastes: Sequence[Paste]) -> Iterator[str]:
    if pastes:
        yield 'Lines to paste for these drives:'
    for paste in pastes:
        yield f'  {visible(paste.place)}:'
        yield from (f'    {visible(line)}' for line in paste.text.splitlines())


def as_json(examination: Examination) -> str:
    """Return the results as JSON; "good" is null for anything that could not be checked."""
    return json.dumps({'version': DOCUMENT, 'good': examination.is_good, 'title': examination.title,
                       'findings': [{'subject': each.subject, 'good': each.is_good, 'words': each.words,
                                     'cure': each.cure or None, 'command': each.command or None}
                                    for each in examination.findings],
                       'paste': [paste._asdict() for paste in examination.pastes]}, indent=1)
