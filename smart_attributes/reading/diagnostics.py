"""Find a better reason why an address did not answer, in the data that this machine has about
the address.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import (
    DriveAbsent,
    DriveError,
    DriveIsNoDrive,
    DriveUndetected,
    SudoRefused,
)
from ..model import Device, Read
from ..typed import TYPE_CHECKING
from . import addresses, smartctl_calls, system
from .failure_causes import EXCLUDE

if TYPE_CHECKING:
    from ..model import Outcome


def with_better_reasons(reads: Sequence[Read]) -> list[Read]:
    """Return the results of all reads. A read in which no drive answered gets a better reason if
    one is found; a recorded report never does.
    """
    result = []
    for read in system.relocated(reads):
        # A drive has answered if its identity is known.
        if read.identity or read.device.is_recorded:
            result.append(read)
        else:
            result.append(read._replace(outcome=_better(read.device, read.outcome)))
    return result


def _better(device: Device, outcome: Outcome) -> Outcome:
    """Return a better reason for an outcome, or the outcome itself, which may be a report."""
    if not isinstance(outcome, (DriveUndetected, SudoRefused)):
        return outcome
    is_refused = isinstance(outcome, SudoRefused)
    kind = addresses.of_path(device.path)
    if kind:
        refused = ' (the sudoers rule excludes it on purpose)' if is_refused else ''
        return DriveIsNoDrive(
            f'is not a drive with SMART: {device.path} is {kind}{refused}', step=EXCLUDE
        )
    return _refused(device, outcome) if is_refused else _undetected(device, outcome)


def _undetected(device: Device, error: DriveError) -> DriveError:
    """Return the error for a path at which smartctl does not recognize a drive: *error* if there is
    a device.
    """
    if os.path.exists(os.path.join(system.ROOT, device.path.lstrip('/'))):
        return error
    return DriveAbsent(
        'was not found: no such device',
        step='check the path; smartctl --scan lists the existing drives',
    )


def _refused(device: Device, error: DriveError) -> DriveError:
    """Return the error for a call that sudo refused: a specific error if our own sudoers rule
    also refuses the call, or else *error*.
    """
    from . import sudoers

    arguments = smartctl_calls.read_arguments(device.path, device.type)
    if sudoers.admits(sudoers.all_expressions(), arguments):
        return error
    return SudoRefused(
        'cannot be read: the sudoers rule does not cover this path or this type (by default, it '
        'leaves out types that use vendor commands)',
        'sudo-rule-too-narrow',
        step=f'print a rule that allows it: check_smart_attributes sudoers -d {device.address}',
    )
