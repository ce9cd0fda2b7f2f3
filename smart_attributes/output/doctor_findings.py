"""Results of an installation check as text or JSON: each line reports a success, or a problem
and the next step.
"""

from __future__ import annotations

import json
import shlex
import string
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..constants import DOCUMENTS
from ..wording import amount, plural
from ..words import sentence, visible
from . import codes

GOOD = 'good'
PROBLEM = 'problem'
UNCHECKED = 'unchecked'
_HEADS = {GOOD: 'good', PROBLEM: 'TO DO', UNCHECKED: '-'}
WIDTH = 79  # columns of the text; the last one of a terminal stays free
_WORDS = 600  # characters of a sentence


class Finding(NamedTuple):
    """The result of one check of the installation."""

    code: str  # a name in codes.json
    subject: str  # "sudo rule", "/dev/sda"
    state: str  # GOOD, PROBLEM, or UNCHECKED because of another finding
    message: str
    remedy: str = ''  # next step, a sentence; '' if no action is needed
    command: str = ''  # command for the next step, ready to paste
    fields: Mapping[str, Any] = {}  # the values in the sentences


class Paste(NamedTuple):
    """A line to paste into a configuration file."""

    daemon: str  # "icinga", "nagios" or "nrpe"
    place: str  # "NRPE (call it with check_nrpe -t 60)"
    text: str


class Examination(NamedTuple):
    """All results of an installation check."""

    host: str
    user: str  # the user whose view was examined
    findings: Sequence[Finding]
    pastes: Sequence[Paste] = ()

    @property
    def is_good(self) -> bool:
        """Return whether the installation needs no action."""
        return all(finding.state == GOOD for finding in self.findings)


class _Template(string.Formatter):
    """The formatter for the templates in codes.json."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """Return a value, quoted for the shell if the conversion is "q"."""
        if conversion == 'q':
            return shlex.quote(str(value))
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a number, with its unit if the format is "bytes", or with a noun if it is
        "#noun" or "#noun|nouns".
        """
        if format_spec.startswith('#'):
            return plural(value, *format_spec[1:].split('|'))
        if format_spec == 'bytes':
            return amount(value, 'B')
        return str(super().format_field(value, format_spec))


def found(code: str, subject: str = '', **fields: Any) -> Finding:
    """Return the finding with this code. subject: replaces the usual subject. fields: values for
    the sentences.
    """
    entry = codes.DOCTOR[code]
    template = _Template()
    return Finding(
        code,
        subject or entry.subject,
        entry.state,
        message=template.vformat(entry.meaning, (), fields),
        remedy=template.vformat(entry.remedy, (), fields),
        command=template.vformat(entry.command, (), fields),
        fields=fields,
    )


def said(code: str, sentence: str, subject: str = '', **fields: Any) -> Finding:
    """Return the finding for an error or a note.

    code: a name in any group of codes.json. Outside the group "doctor", the finding is a PROBLEM.
    sentence: the problem and, after "; ", perhaps the next step. A next step in codes.json replaces it.
    """
    message, remedy = halves(sentence)
    if code not in codes.DOCTOR:
        return Finding(code, subject, PROBLEM, message, remedy, fields=fields)
    usual = found(code, subject, **fields)
    return usual._replace(message=message, remedy=usual.remedy or remedy)


def halves(sentence: str) -> tuple[str, str]:
    """Return (problem, next step) from a message "place: problem; next step".

    The next step may be ''.
    """
    words, _, advice = sentence.partition('; ')
    return words, advice


def as_text(examination: Examination) -> str:
    """Return the results as text for a terminal."""
    subjects = max(len(finding.subject) for finding in examination.findings)
    lines = [visible(f'{examination.host}, checked as {examination.user}')]
    for finding in examination.findings:
        lines += _lines(finding, min(subjects, 24))
    return '\n'.join([*lines, '', _summary(examination), *_pasted(examination.pastes)])


def _lines(finding: Finding, subjects: int) -> Iterator[str]:
    """Yield the lines of a finding: what was found, the next step, the command. subjects: width of
    the column of subjects.
    """
    head = f'{_HEADS[finding.state]:<7}{visible(finding.subject):<{subjects}}  '
    yield from _wrapped(head, finding.message)
    if finding.remedy:
        end = ':' if finding.command else ''
        yield from _wrapped('       -> ', finding.remedy + end)
    if finding.command:
        # never wrapped, so that it can be pasted
        yield f'          {visible(finding.command)}'


def _wrapped(head: str, words: str) -> list[str]:
    """Return *head* and the words beside it, wrapped."""
    return textwrap.wrap(
        sentence(words, _WORDS),
        WIDTH,
        initial_indent=head,
        subsequent_indent=' ' * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _summary(examination: Examination) -> str:
    """Return how many findings need an action, or that none does."""
    if examination.is_good:
        return 'No problems found.'
    states = [finding.state for finding in examination.findings]
    parts = []
    if PROBLEM in states:
        parts.append(f'{states.count(PROBLEM)} to do')
    if UNCHECKED in states:
        parts.append(f'{states.count(UNCHECKED)} could not be checked yet')
    return f'{", ".join(parts)}: follow the steps from the top, then run doctor again.'


def _pasted(pastes: Sequence[Paste]) -> Iterator[str]:
    """Yield the lines to paste under their places; nothing if there are none."""
    if pastes:
        yield 'Lines to paste for these drives:'
    for paste in pastes:
        yield f'  {visible(paste.place)}:'
        for line in paste.text.splitlines():
            yield f'    {visible(line)}'


def as_json(examination: Examination) -> str:
    """Return the results as JSON."""
    return json.dumps(
        {
            'version': DOCUMENTS['doctor'],
            'good': examination.is_good,
            'host': examination.host,
            'user': examination.user,
            'findings': [
                {
                    **finding._asdict(),
                    'remedy': finding.remedy or None,
                    'command': finding.command or None,
                }
                for finding in examination.findings
            ],
            'paste': [paste._asdict() for paste in examination.pastes],
        },
        indent=1,
    )
