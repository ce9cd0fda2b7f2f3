"""sudoers: print the sudo rule."""

import pwd
import sys
import time
from collections.abc import Sequence

from ..check import reads
from ..check.settings import of_reads
from ..command_line.options import OK, Options
from ..reading.machine import DeviceList, Plan
from ..reading.processes import Runner
from ..sudo import rule as sudo_rules
from ..words import visible
from .records.sudoers import SudoersOptions


def run(options: Options, runner: Runner) -> int:
    """Print a file for /etc/sudoers.d; return 0."""
    own: SudoersOptions = options.own
    try:
        pwd.getpwnam(own.user)
    except KeyError:
        # a comment, in case a shell redirects stderr into the file, too
        print(
            f'# this machine has no user {visible(own.user)}; use the rule on a machine that has this user',
            file=sys.stderr,
        )
    asked = sudo_rules.RuleRequest(
        own.user, own.literal, own.types, bool(options.which.devices)
    )

    settings = of_reads(options)

    def drives() -> tuple[DeviceList, Sequence[Plan]]:
        end = time.monotonic() + options.how_read.timeout
        listing = reads.find(settings, runner, end)
        return listing, reads.plan(listing.devices, settings)

    print(sudo_rules.text(asked, options.how_read, runner, drives))
    return OK
