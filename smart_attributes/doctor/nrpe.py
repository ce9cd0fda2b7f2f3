"""Examine NRPE commands that run a check: start each as the monitoring user with -V, which reads no drive."""
from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..command_line.options import PROGRAM
from ..model import Answer, HowRead
from ..output.doctor_findings import Finding
from ..reading import processes, smartctl_calls
from .daemons import NrpeCommand
from .start import is_started

SUBJECT = 'NRPE'
NAMES = (PROGRAM, f'{PROGRAM}.pyz')
MOST = 20                 # commands that are examined
_PATIENCE = 10.0          # seconds for one start
_RESTART = 'then restart NRPE: systemctl restart nagios-nrpe-server'
_OF_THE_SHELL = re.compile(r'[$`*?<>|&;()\n]')   # NRPE runs the line in a shell; doctor uses no shell


class Call(NamedTuple):
    """A command of NRPE, split into its parts."""

    of: NrpeCommand
    before: Sequence[str] = ()      # words before the program, such as sudo
    program: str = ''               # as written there; '' if the line cannot be split into words
    words: Sequence[str] = ()       # after it
    is_startable: bool = False      # nothing in it needs a shell, a macro or another program

    @property
    def programs(self) -> Sequence[str]:
        """The programs that the line starts: this one, and one that starts it, such as sudo."""
        return [*self.before[:1], *([self.program] if self.program else [])]

    def trial(self, path: str) -> tuple[str, ...]:
        """Return a command line that starts the program with the options of this call and makes it exit at once.

        No drive is read.
        """
        command = self.words[:1] if self.words and not self.words[0].startswith('-') else ()
        return (path, *command, '-V', *self.words[len(command):])


def examine(commands: Sequence[NrpeCommand], program: str, user: str, how: HowRead, deadline: float) -> list[Finding]:
    """Return the findings for NRPE commands. program: path of this program, which the user can start."""
    calls = [call(each) for each in commands[:MOST]]
    answers = _started(calls, how, min(deadline, time.monotonic() + 3 * _PATIENCE))
    findings = [finding for each, answer in zip(calls, answers) for finding in faults(each, answer, program, user)]
    if len(commands) > MOST:
        findings.append(Finding(SUBJECT, None, f'{len(commands) - MOST} more commands were not examined'))
    if calls and not findings:
        findings.append(Finding(SUBJECT, True, f'starts as {user} with the configured options: '
                                               f'{", ".join(each.of.name for each in calls)}'))
    return findings


def call(command: NrpeCommand) -> Call:
    """Return a command of NRPE, split into its parts."""
    try:
        words = shlex.split(command.line)
    except ValueError:
        return Call(command)
    place = next((number for number, word in enumerate(words) if os.path.basename(word) in NAMES), 0)
    is_ours = bool(words) and os.path.basename(words[place]) in NAMES
    return Call(command, words[:place], words[place] if words else '', words[place + 1:],
                is_ours and not place and not _OF_THE_SHELL.search(command.line))


def _started(calls: Sequence[Call], how: HowRead, deadline: float) -> list[Answer | None]:
    """Return the result of each start, or None for a program that was skipped because nothing prevents its start.

    As root, nothing that a configuration names is started.
    """
    missing = [next((path for path in each.programs if not _executable(path)), '') for each in calls]
    lines = [each.trial(_executable(each.program)) if each.is_startable and not path and os.geteuid() != 0 else ()
             for each, path in zip(calls, missing)]
    runner = processes.Runner()  # a separate one: these calls name drives but must not lock them
    try:
        answers = {answer.command: answer for answer in runner.run(filter(None, lines), how.jobs, _PATIENCE, deadline)}
    finally:
        runner.close()
    return [answers[line] if line else Answer((path,), 'not started', _why_not(path)) if path else None
            for path, line in zip(missing, lines)]


def _executable(program: str) -> str:
    """Return the path of a program if this user may execute it, else ''."""
    return shutil.which(program, path=smartctl_calls.ENVIRONMENT['PATH']) or ''


def _why_not(program: str) -> str:
    try:
        os.stat(program)
    except OSError as error:
        return str(error.strerror)
    return 'Permission denied'


# --- interpretation; pure -----------------------------------------------------------------

def faults(call: Call, answer: Answer | None, program: str, user: str) -> Iterator[Finding]:
    """Yield a finding for each fault of an NRPE command. program: path of this program."""
    edit = f'${{EDITOR:-vi}} {shlex.quote(call.of.file)}'
    if not call.program:
        yield _finding(call, 'unbalanced quotation mark', 'correct it', edit)
        return
    if any(os.path.basename(word) == 'sudo' for word in call.before):
        remedy = '' if call.of.is_prefixed else _changed(call, f'.*{_basic(call.program)}', call.program)
        yield _finding(call, 'sudo runs the whole check as root, but only smartctl needs root; the check itself '
                             'calls sudo for that', 'remove sudo', remedy)
    is_json = answer is not None and answer.status == 0 and answer.stdout.startswith(b'{')
    if answer is None or is_started(answer) or (is_json and f'"{PROGRAM} '.encode() in answer.stdout):
        return
    path, complaint = answer.command[0], complaint_of(answer)
    if complaint:
        yield _finding(call, complaint, 'correct it', edit)
    elif path in call.before:
        yield _finding(call, f'{user} cannot start {path}: {_ending(answer)}', 'correct the path', edit)
    else:
        yield _finding(call, f'{user} cannot start {path}: {_ending(answer)}', 'write the path of this program',
                       edit if call.before else _changed(call, _basic(call.program), program))


def _finding(call: Call, words: str, cure: str, command: str) -> Finding:
    return Finding(SUBJECT, False, f'command[{call.of.name}] in {call.of.file}: {words}', f'{cure} there, {_RESTART}',
                   command)


def complaint_of(answer: Answer) -> str:
    """Return this program's error message about its options, or '' if something else is wrong."""
    text = answer.stdout.decode('utf-8', 'replace').strip()
    if text.startswith('{'):
        try:
            text = f'SMART UNKNOWN - {json.loads(text)["error"]}'
        except (ValueError, KeyError, TypeError):
            return ''
    start, _, words = text.partition(' - ')
    return words if start == 'SMART UNKNOWN' and answer.status == 3 and 'cannot start: ' not in words else ''


def _ending(answer: Answer) -> str:
    printed = (answer.stderr or answer.stdout).decode('utf-8', 'replace').strip()[:200]
    return answer.reason or printed or f'exit status {answer.status}'


def _changed(call: Call, before: str, after: str) -> str:
    """Return the sed command that puts another program into the line; '' if that would need quoting there.

    before: a basic regular expression for the words that are replaced.
    """
    if not all(re.fullmatch(r'[\w/.+-]+', path) for path in (call.program, after)):
        return ''
    script = rf's#^\([[:space:]]*command\[{_basic(call.of.name)}\][[:space:]]*=[[:space:]]*\){before}#\1{after}#'
    return f'sed -i {shlex.quote(script)} {shlex.quote(call.of.file)}'


def _basic(text: str) -> str:
    """Return a text as a basic regular expression for itself. Source: sed(1)."""
    return re.sub(r'([][.*^$\\#])', r'\\\1', text)
