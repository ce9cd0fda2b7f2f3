#!/usr/bin/env python3
"""Run the launcher of one checkout over a folder of recorded reports, and print its answers.

Usage: python3 -I tools/checkout_answers.py CHECKOUT REPORTS [OPTION...]      (with the python of the checkout)

REPORTS holds a folder for each report, with the file "report" in it.
Prints one JSON object a line and report: {"report": folder, "check": [exit status, text], "json":
[...]}: what the plugin and `triage --json` answer to --report FILE with the options. A checkout is
used by its command line alone: its launcher runs in this process, where os._exit() ends a run and
not the process. So an answer costs the work of a check without the start of Python and without its
imports.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import runpy
import sys
import time
import traceback
from collections.abc import Sequence
from typing import NoReturn

FORMS: dict[str, Sequence[str]] = {'check': (), 'json': ('triage', '--json')}
# Seconds since 1970: ages and dates depend on the time of day. 22 November 2026.
NOW = 1_795_305_600.0
BATCH = 25  # reports for a child
LEAVE = os._exit
Answer = tuple[int, str]


class Left(BaseException):
    """The launcher left, and would have ended this process."""


def _leave(runner: int, status: int) -> NoReturn:
    """End a child of the launcher; in the process *runner* itself, only the launcher's run."""
    if os.getpid() != runner:
        LEAVE(status)
    raise Left(status)


def answer(launcher: str, words: Sequence[str]) -> Answer:
    """Return exit status and output of a launcher, which runs in this process and must not end
    it.
    """
    sys.argv, output = (
        [launcher, *words],
        io.TextIOWrapper(io.BytesIO(), encoding='utf-8'),
    )
    os._exit = functools.partial(_leave, os.getpid())
    try:
        with contextlib.redirect_stdout(output):
            runpy.run_path(launcher, run_name='__main__')
    except Left as left:
        output.flush()
        return left.args[0], output.buffer.getvalue().decode(errors='replace')
    return -1, 'the launcher returned, and did not exit'


def line(launcher: str, report: str, options: Sequence[str]) -> str:
    """Return the answers to one report."""
    words = ['--report', report, *options]
    found = {key: answer(launcher, [*form, *words]) for key, form in FORMS.items()}
    return (
        json.dumps({'report': os.path.basename(os.path.dirname(report)), **found})
        + '\n'
    )


def batch(
    launcher: str, reports: Sequence[str], options: Sequence[str], spool: str
) -> str:
    """Return the answers to some reports, from a child: what they leave in history ends with it."""
    child = os.fork()
    if not child:
        try:
            with open(spool, 'w', encoding='utf-8') as file:
                os.dup2(file.fileno(), 1)  # a launcher waits for the reader of a pipe
                file.writelines(line(launcher, report, options) for report in reports)
        except BaseException:
            # the reports that are missing say that it was not compared
            traceback.print_exc()
        finally:
            LEAVE(0)
    os.waitpid(child, 0)
    with open(spool, encoding='utf-8') as file:
        return file.read()


def main(checkout: str, folder: str, options: Sequence[str]) -> None:
    """Print a line for each report of a folder."""
    launcher, spool = (
        os.path.join(os.path.abspath(checkout), 'check_smart_attributes'),
        f'{folder}.{os.getpid()}',
    )
    reports = sorted(
        os.path.join(folder, name, 'report') for name in os.listdir(folder)
    )
    time.time = lambda: NOW
    line(launcher, reports[0], options)  # imports everything, for all children
    for start in range(0, len(reports), BATCH):
        print(
            end=batch(launcher, reports[start : start + BATCH], options, spool),
            flush=True,
        )
    os.remove(spool)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
