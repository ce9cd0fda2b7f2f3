"""The commands of NRPE that run a check: started as the user of the checks with -V, which reads no drive."""

import json
import os
import re
import shlex
import shutil
import time
from typing import Iterator, List, NamedTuple, Optional, Sequence

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
_OF_THE_SHELL = re.compile(r'[$`*?<>|&;()\n]')   # NRPE lets a shell run the line; doctor runs none


class Call(NamedTuple):
    """A command of NRPE, taken apart."""

    of: NrpeCommand
    before: Sequence[str] = ()      # words before the program, such as sudo
    program: str = ''               # as it is written there; '' where the line cannot be split into words
    words: Sequence[str] = ()       # after it
    is_startable: bool = False      # nothing in it needs a shell, a macro or another program

    @property
    def programs(self) -> Sequence[str]:
        """The programs that the line starts: this one, and one that starts it, such as sudo."""
        return [*self.before[:1], *([self.program] if self.program else [])]

    @property
    def where(self) -> str:
        """How to name the command in a sentence."""
        return f'command[{self.of.name}] in {self.of.file}'

    def trial(self, path: str) -> Sequence[str]:
        """Return the words that start the program at a path with the options of this call, and end it before any
        drive is read.
        """
        command = list(self.words[:1]) if self.words[:1] and self.words[0][:1] != '-' else []
        return [path, *command, '-V', *self.words[len(command):]]


def examined(found: Sequence[NrpeCommand], program: str, user: str, how: HowRead, deadline: float) -> List[Finding]:
    """Return the findings for commands of NRPE. program: the path of this one, which the user can start."""
    calls = [call(each) for each in found[:MOST]]
    answers = _started(calls, how, min(deadline, time.monotonic() + 3 * _PATIENCE))
    told = [finding for each, answer in zip(calls, answers) for finding in judged(each, answer, program, user)]
    if len(found) > MOST:
        told.append(Finding(SUBJECT, None, f'{len(found) - MOST} more commands were not examined'))
    return told or [Finding(SUBJECT, True, f'starts as {user} with its options: '
                                           f'{", ".join(each.of.name for each in calls)}')] * bool(calls)


def call(found: NrpeCommand) -> Call:
    """Return a command of NRPE, taken apart."""
    try:
        words = shlex.split(found.line)
    except ValueError:
        return Call(found)
    place = next((number for number, word in enumerate(words) if os.path.basename(word) in NAMES), 0)
    is_ours = bool(words) and os.path.basename(words[place]) in NAMES
    return Call(found, words[:place], words[place] if words else '', words[place + 1:],
                is_ours and not place and not _OF_THE_SHELL.search(found.line))


def _started(calls: Sequence[Call], how: HowRead, deadline: float) -> List[Optional[Answer]]:
    """Return what became of each start, None of a program that was not started because nothing speaks against it.

    Root starts nothing that a configuration names.
    """
    missing = [next((path for path in each.programs if not _found(path)), '') for each in calls]
    lines = [tuple(each.trial(_found(each.program))) if each.is_startable and not path and os.geteuid() != 0 else ()
             for each, path in zip(calls, missing)]
    runner = processes.Runner()  # one of its own: these calls name drives, and lock none of them
    try:
        answers = {answer.command: answer for answer in
                   runner.run([line for line in lines if line], how.jobs, _PATIENCE, deadline)}
    finally:
        runner.close()
    return [answers[line] if line else Answer((path,), 'not started', _why_not(path)) if path else None
            for path, line in zip(missing, lines)]


def _found(program: str) -> str:
    """Return the path of a program that this user may execute, '' where there is none."""
    return shutil.which(program, path=smartctl_calls.ENVIRONMENT['PATH']) or ''


def _why_not(program: str) -> str:
    try:
        os.stat(program)
    except OSError as error:
        return str(error.strerror)
    return 'Permission denied'


# --- what it means; pure ---------------------------------------------------------------

def judged(found: Call, answer: Optional[Answer], program: str, user: str) -> Iterator[Finding]:
    """Yield what is wrong with a command of NRPE. program: the path of this one."""
    if not found.program:
        yield Finding(SUBJECT, False, f'{found.where}: a quotation mark has no partner',
                      f'correct it there, {_RESTART}', _edit(found))
        return
    if any(os.path.basename(word) == 'sudo' for word in found.before):
        yield Finding(SUBJECT, False, f'{found.where}: sudo runs the whole check as root; the check needs root for '
                                      f'smartctl only, and calls sudo for that itself',
                      f'remove sudo there, {_RESTART}', _without_sudo(found))
    if answer is None or is_started(answer) or _is_started_in_json(answer):
        return
    said = complaint(answer)
    if said:
        yield Finding(SUBJECT, False, f'{found.where}: {said}', f'correct it there, {_RESTART}', _edit(found))
    else:
        path = answer.command[0]
        is_ours = path not in found.before
        yield Finding(SUBJECT, False, f'{found.where}: {user} cannot start {path}: {_ending(answer)}',
                      f'{"write the path of this program" if is_ours else "correct the path"} there, {_RESTART}',
                      _with_path(found, program) if is_ours else _edit(found))


def complaint(answer: Answer) -> str:
    """Return what this program says of its options, '' where something else is wrong."""
    text = answer.stdout.decode('utf-8', 'replace').strip()
    if text.startswith('{'):
        try:
            text = f'SMART UNKNOWN - {json.loads(text)["error"]}'
        except (ValueError, KeyError, TypeError):
            return ''
    start, _, words = text.partition(' - ')
    return words if start == 'SMART UNKNOWN' and answer.status == 3 and 'cannot start: ' not in words else ''


def _is_started_in_json(answer: Answer) -> bool:
    return answer.status == 0 and answer.stdout.startswith(b'{') and f'"{PROGRAM} '.encode() in answer.stdout


def _ending(answer: Answer) -> str:
    said = (answer.stderr or answer.stdout).decode('utf-8', 'replace').strip()[:200]
    return answer.reason or said or f'exit status {answer.status}'


def _edit(found: Call) -> str:
    return f'${{EDITOR:-vi}} {shlex.quote(found.of.file)}'


def _with_path(found: Call, program: str) -> str:
    """Return the command that writes another path in place of the program's."""
    return _changed(found, _basic(found.program), program, program) if not found.before else _edit(found)


def _without_sudo(found: Call) -> str:
    """Return the command that removes what stands before the program; '' where it is not in that line."""
    return '' if found.of.is_prefixed else _changed(found, f'.*{_basic(found.program)}', found.program, found.program)


def _changed(found: Call, before: str, after: str, program: str) -> str:
    """Return the command of sed that changes the line; '' where it would have to be quoted there."""
    if not all(re.fullmatch(r'[\w/.+-]+', path) for path in (found.program, program)):
        return ''
    script = rf's#^\([[:space:]]*command\[{_basic(found.of.name)}\][[:space:]]*=[[:space:]]*\){before}#\1{after}#'
    return f'sed -i {shlex.quote(script)} {shlex.quote(found.of.file)}'


def _basic(text: str) -> str:
    """Return a text as a basic regular expression for itself. Source: sed(1)."""
    return re.sub(r'([][.*^$\\#])', r'\\\1', text)
