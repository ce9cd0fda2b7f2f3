"""sudoers: print the rule that allows checks to run smartctl as root."""
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Sequence, Tuple

from ..check.survey import find, plan
from ..command_line.options import OK, Options, SudoersOptions
from ..reading import sudoers
from ..reading.processes import Runner

if TYPE_CHECKING:
    from ..reading.machine import DeviceList, Plan


def run(options: Options, runner: Runner) -> int:
    """Print a file for /etc/sudoers.d; return 0."""
    own: SudoersOptions = options.own
    asked = sudoers.RuleRequest(own.user, own.literal, own.types, bool(options.which.devices))

    def drives() -> Tuple[DeviceList, Sequence[Plan]]:
        found = find(options, runner, time.monotonic() + options.how_read.timeout)
        return found, plan(found.devices, options)
    print(sudoers.text(asked, options.how_read, runner, drives))
    return OK
