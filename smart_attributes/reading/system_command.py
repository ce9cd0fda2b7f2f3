"""Run a command of the system that a person has asked for, such as `zpool status`, with a limit of time and of output.

Never in a check: such a command can block in the kernel, where no signal ends it.
"""
from __future__ import annotations

import os
import time

from ..words import clean
from .processes import Runner
from .smartctl_calls import ENVIRONMENT

TIME_LIMIT = 5.0  # seconds
_SHOWN = 200      # characters of an error message
_FOLDERS = f'{ENVIRONMENT["PATH"]}:/usr/local/sbin'


def output(command: tuple[str, ...], folders: str = _FOLDERS,
           time_limit: float = TIME_LIMIT) -> tuple[str, str]:
    """Return the output of a command and '', or '' and the reason for its absence, as a clause.

    folders: where the program may be, separated by colons. A process that cannot be ended is left to the kernel.
    """
    candidates = (os.path.join(folder, command[0]) for folder in folders.split(':'))
    path = next((path for path in candidates if os.access(path, os.X_OK)), '')
    if not path:
        return '', f'{command[0]} was not found in {folders}'
    runner = Runner()
    try:
        answer, = runner.run([(path, *command[1:])], 1, time_limit, time.monotonic() + time_limit + 1)
    finally:
        runner.close()
    if answer.outcome == 'done' and answer.status == 0:
        return answer.stdout.decode('utf-8', 'replace'), ''
    said = clean(answer.stderr.decode('utf-8', 'replace'), _SHOWN)
    why = answer.reason or (f'exit status {answer.status}' if answer.signal is None else f'signal {answer.signal}')
    return '', f'{" ".join(command)}: {why}{f": {said}" if said else ""}'
