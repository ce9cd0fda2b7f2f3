"""sudoers: print the rule that allows checks to run smartctl as root."""
from __future__ import annotations

import pwd
import sys
import time
from collections.abc import Sequence

from ..check.reads import find, plan
from ..command_line.command_options import SudoersOptions
from ..command_line.options import OK, Options
from ..reading import sudoers
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING
from ..words import visible

if TYPE_CHECKING:
    from ..reading.machine import DeviceList, Plan


def run(options: Options, runner: Runner) -> int:
    """Print a file for /etc/sudoers.d; return 0."""
    own: SudoersOptions = options.own
    if not _exists(own.user):
        print(f'# this machine has no user {visible(own.user)}; the rule is of use only where there is one',
              file=sys.stderr)  # as a comment, in case a shell sends it into the file, too
    asked = sudoers.RuleRequest(own.user, own.literal, own.types, bool(options.which.devices))
    print(sudoers.text(asked, options.how_read, runner, lambda: drives(options, runner)))
    return OK


def _exists(user: str) -> bool:
    try:
        return bool(pwd.getpwnam(user))
    except (KeyError, ValueError):
        return False


def drives(options: Options, runner: Runner) -> tuple[DeviceList, Sequence[Plan]]:
    """Return the drives of this machine, or of the command line, and how each is read."""
    found = find(options, runner, time.monotonic() + options.how_read.timeout)
    return found, plan(found.devices, options)
