"""A check of this plugin that a daemon runs on this machine: ask the daemon for its result, or run it as the
daemon does.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .. import child, files
from ..command_line.options import PROGRAM, UNKNOWN
from ..constants import LARGEST_SMALL_FILE, TIMEOUT
from ..model import Answer
from ..reading import processes, smartctl_calls
from .users import become

ROOT = ''  # precedes each path; not '' if another folder is used as /
USUAL = 60.0  # seconds that Icinga, Nagios and NRPE give a check by default
NAMES = (PROGRAM, f'{PROGRAM}.pyz')
PATIENCE = 10.0  # seconds for a question to a daemon
SHELL = '/bin/sh'
OWN_LIMIT = re.compile(r'(?:^|\s)(-t|--timeout)([ =]?)([0-9.]+)(?=\s|$)')
_UNITS = (
    '/lib/systemd/system/{}.service',
    '/usr/lib/systemd/system/{}.service',
    '/etc/init.d/{}',
)


class DaemonCheck(NamedTuple):
    """A check of this plugin that a daemon runs on this machine."""

    daemon: str  # "NRPE"
    name: str  # "command[check_smart_attributes]"
    user: str  # whose process runs it
    # what is executed; a line for a shell follows ('/bin/sh', '-c')
    line: Sequence[str]
    file: str = ''  # where it is defined
    number: int = 0  # line in the file
    unit: str = ''  # service of systemd
    seconds: float = USUAL  # after which the daemon ends it
    setting: str = ''  # that sets them
    question: Sequence[str] = ()  # command that asks the daemon for the result
    user_file: str = ''  # where the user is set
    user_setting: str = ''  # by this setting

    @property
    def text(self) -> str:
        """Return the line as a shell reads it."""
        return self.line[-1] if self.line[0] == SHELL else shlex.join(self.line)

    @property
    def words(self) -> list[str]:
        """Return the words of the line; [] if they cannot be split."""
        try:
            return shlex.split(self.text)
        except ValueError:
            return []

    @property
    def program_index(self) -> int:
        """Return the index of this program in *words*; -1 if the program is not named."""
        for index, word in enumerate(self.words):
            if os.path.basename(word) in NAMES and (index == 0 or '/' in word):
                return index
        return -1

    @property
    def own_limit(self) -> float | None:
        """Return the value of -t in seconds; None without -t, or if another program is called."""
        limit = OWN_LIMIT.search(self.text)
        return float(limit[3]) if limit and self.program_index >= 0 else None

    def edit(self, old: str, new: str) -> str:
        """Return the command that replaces a text in the line that defines the check, and restarts the daemon."""
        return self.edit_matching(re.sub(r'([][.*^$\\#])', r'\\\1', old), new)

    def edit_matching(self, old: str, new: str) -> str:
        """Return the command that edit() returns, for a basic regular expression. Source: sed(1)."""
        return self._sed(f's#{old}#{new}#', 'restart')

    def without_drives(self) -> str:
        """Return the command that makes this check accept a machine without drives."""
        if self.daemon == 'Icinga':
            return self._sed('a vars.smart_attributes_no_drives = "ok"', 'reload')
        return self.edit(f'/{PROGRAM}', f'/{PROGRAM} --no-drives ok')

    def _sed(self, script: str, then: str) -> str:
        """Return the command that applies a script of sed to the line that defines the check, *then*
        restarts or reloads the daemon.
        """
        words = ['sed', '-i', f'{self.number}{script}', self.file]
        return f'{shlex.join(words)} && systemctl {then} {self.unit}'


def existing(paths: Iterable[str]) -> str:
    """Return the first of these paths that exists; '' if none does."""
    return next((path for path in paths if os.path.exists(ROOT + path)), '')


def unit_of(*names: str) -> str:
    """Return the first of these services that this machine has; the first one if it has none."""
    for name in names:
        if any(os.path.exists(ROOT + path.format(name)) for path in _UNITS):
            return name
    return names[0]


def ask(line: Sequence[str]) -> Answer:
    """Run a command of a daemon's package, and return its answer; "not started" if it is not installed."""
    path = smartctl_calls.program(line[0], smartctl_calls.ENVIRONMENT['PATH'])
    if not path:
        return Answer(tuple(line), 'not started', f'{line[0]} is not installed')
    return _answer((path, *line[1:]), time.monotonic() + PATIENCE)


def _answer(line: Sequence[str], deadline: float) -> Answer:
    """Run a command, and return its answer. deadline: time.monotonic() value."""
    # a separate runner: these calls name drives but must not lock them
    runner = processes.Runner()
    try:
        seconds = deadline - time.monotonic()
        return next(runner.run([tuple(line)], seconds, deadline))
    finally:
        runner.close()


def text_of(answer: Answer) -> str:
    """Return what a command printed, standard output first."""
    return (answer.stdout + answer.stderr).decode('utf-8', 'replace').strip()


def run_as(user: str, line: Sequence[str], deadline: float) -> Answer:
    """Run a check in a process of its user, and return its answer; *stdout* has both outputs, first
    standard output. "not started" if no answer comes in time, or if no process can be started.

    deadline: time.monotonic() value.
    """

    def work(pipe: child.Pipe) -> None:
        become(user)
        answer = _answer(line, deadline)
        fields = answer._asdict()
        # JSON has no bytes, so the output is sent beside the other fields.
        output = fields.pop('stdout') + fields.pop('stderr')
        pipe.send(output, **fields)

    process = child.Child(work)
    process.wait(deadline + 1)
    process.leave(ends=True)
    # There is at most one message: the answer, or {"fault": ...} if no process can be started.
    for fields, output in process.messages():
        if 'fault' in fields:
            return Answer(tuple(line), 'not started', fields['fault'])
        return Answer(**fields, stdout=output)
    return Answer(tuple(line), 'not started', 'no answer in time')


def process_of(daemon: str) -> str:
    """Return the folder below /proc of a daemon's process; '/' if it does not run. Source: proc(5)."""
    for number in filter(str.isdigit, os.listdir('/proc')):
        name = files.text(f'/proc/{number}/comm', LARGEST_SMALL_FILE)
        if name.startswith(daemon.lower()):
            return f'/proc/{number}'
    return '/'


def is_known(answer: Answer) -> bool:
    """Return whether this program answered, with another state than UNKNOWN."""
    is_ours = answer.stdout.startswith(b'SMART ')
    return is_ours and answer.status is not None and answer.status < UNKNOWN


def fitting(seconds: float) -> float:
    """Return the -t value, in seconds, for a check that a daemon ends after *seconds*."""
    shorter = seconds - 5 if seconds >= 20 else seconds * 3 / 4
    return min(TIMEOUT, shorter)
