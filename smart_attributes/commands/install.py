"""install: show, make or undo the changes of an installation on this host. sudoers: print the sudo rule."""
from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ..check import reads
from ..command_line.command_options import InstallOptions, SudoersOptions
from ..command_line.options import OK, PROGRAM, Options
from ..errors import SmartError
from ..installation import host, plan
from ..installation.disk import Disk
from ..reading import sudoers
from ..reading.machine import DeviceList, Plan
from ..reading.processes import Runner
from ..words import sentence, visible


def run(options: Options, runner: Runner) -> int:
    """Show the changes, and make them if --yes is given; return 0. Raises SmartError if a change cannot be made."""
    own: InstallOptions = options.own
    if own.yes and os.geteuid() != 0:
        raise SmartError('only root can change this host; run the command as root, or without --yes to see the plan',
                         'install-refused')
    os.umask(0o022)   # every user reads the program
    disk = Disk()
    written = disk.written()
    planned = _parts(options, runner, disk)
    todo = _changes(own, planned.items, disk, written)
    _do(todo, disk, written if own.yes else None)
    if own.yes:  # this also records the files that needed no change
        disk.record(plan.recorded(written, planned.items, todo))
    _say(planned.remarks)
    if not own.yes and plan.count(todo):
        _say([f'nothing was changed; to make these changes, run as root: {_command(own, "--yes")}'])
    return OK


def _changes(own: InstallOptions, items: Sequence[plan.Item], disk: Disk, written: Mapping[str, str],
             ) -> list[plan.Change]:
    found = disk.look([*(item.path for item in items), *written])
    if own.remove:
        return plan.removals(plan.to_remove(written, own.packaged, host.has_package(disk)), found, written)
    outdated = [] if own.packaged else plan.outdated(written, items, found)
    return [*plan.additions(items, found, written), *plan.removals(outdated, found, written)]


def _do(todo: Sequence[plan.Change], disk: Disk, written: Mapping[str, str] | None) -> None:
    """Print each change; unless *written* is None, also make and record it. written: what is installed so far."""
    for change in todo:
        if written is not None:
            disk.do(change)
            written = plan.recorded(written, [change.item] * (change.action in ('create', 'replace')), [change])
            disk.record(written)
        if change.action != 'forget':
            _say([str(change)])
    if not plan.count(todo):
        _say(['nothing to change'])


def _parts(options: Options, runner: Runner, disk: Disk) -> plan.Parts:
    own: InstallOptions = options.own
    if own.remove:
        return plan.Parts((), plan.remarks_on_removal(own.packaged, host.has_package(disk)))
    drives = lru_cache(maxsize=None)(lambda: _drives(options, runner))
    facts = host.facts(own.users, _command(own, '--yes'), options.how_read, runner, drives, disk)
    of_host = plan.of_host(facts)
    if own.packaged:
        return of_host
    return of_host._replace(items=[*plan.of_program(host.with_program(facts, disk)), *of_host.items])


def _command(own: InstallOptions, *more: str) -> str:
    """Return the command line of this run, with *more* options."""
    words = [word for word, is_given in (('--packaged', own.packaged), ('--remove', own.remove)) if is_given]
    return shlex.join([PROGRAM, 'install', *words, *(word for user in own.users for word in ('--user', user)), *more])


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        print(sentence(line, 600))


def sudo_rule(options: Options, runner: Runner) -> int:
    """Print a file for /etc/sudoers.d; return 0."""
    own: SudoersOptions = options.own
    if not host.exists(own.user):
        print(f'# this machine has no user {visible(own.user)}; use the rule on a machine that has this user',
              file=sys.stderr)  # a comment, in case a shell redirects stderr into the file, too
    asked = sudoers.RuleRequest(own.user, own.literal, own.types, bool(options.which.devices))
    print(sudoers.text(asked, options.how_read, runner, lambda: _drives(options, runner)))
    return OK


def _drives(options: Options, runner: Runner) -> tuple[DeviceList, Sequence[Plan]]:
    """Return the drives of this machine or of the command line, and how to read each drive."""
    found = reads.find(options, runner, time.monotonic() + options.how_read.timeout)
    return found, reads.plan(found.devices, options)
