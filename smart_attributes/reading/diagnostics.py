"""Find a better reason why an address did not answer, in the data that this machine has about
the address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ..errors import DriveAbsent, DriveError, DriveIsNoDrive, DriveUndetected, SudoRefused
from ..model import Device, Read, Report
from . import failure_reasons, smartctl_calls, system
from .device_types import BY_NAME, base
from .failure_causes import EXCLUDE


def with_better_reasons(reads: Sequence[Read]) -> list[Read]:
    """Return the results of all reads; a failed read gets a better reason if a better one is
    found.
    """
    return [
        read
        if isinstance(read.outcome, Report) or read.device.is_recorded
        else read._replace(
            outcome=failure_reasons.as_asked(_better(read.device, read.outcome), read.device.type)
        )
        for read in system.relocated(reads)
    ]


def _better(device: Device, error: DriveError) -> DriveError:
    if error.identity or not isinstance(error, (DriveUndetected, SudoRefused)):
        return error
    kind, is_refused = failure_reasons.of_path(device.path), isinstance(error, SudoRefused)
    if kind:
        refused = ' (the sudoers rule excludes it on purpose)' if is_refused else ''
        return DriveIsNoDrive(
            f'is not a drive with SMART: {device.path} is {kind}{refused}', step=EXCLUDE
        )
    return _refused(device, error) if is_refused else _undetected(device, error)


def _undetected(device: Device, error: DriveError) -> DriveError:
    """Return the error for a path at which smartctl does not recognize a drive."""
    generic = re.fullmatch(r'/dev/ng([0-9]+)n[0-9]+', device.path)
    advice = (
        f'write /dev/nvme{generic[1]}, the drive that this namespace belongs to'
        if generic
        else 'check the path; smartctl --scan lists the existing drives'
    )
    if not _is_there(device.path):
        return DriveAbsent('was not found: no such device', step=advice)
    return (
        DriveError('cannot be read under this name', 'name-unusable', step=advice)
        if generic
        else error
    )


def _is_there(path: str) -> bool:
    """Return whether a path exists; False if a udev link or its target is missing."""
    try:
        os.stat(os.path.join(system.ROOT, path.lstrip('/')))
    except OSError as error:
        # after other errors, the path may exist
        return not isinstance(error, (FileNotFoundError, NotADirectoryError))
    return True


def _refused(device: Device, error: DriveError) -> DriveError:
    """Return the error for a call that sudo refused: a specific error if our own sudoers rule
    also refuses the call.
    """
    from . import sudoers

    arguments = smartctl_calls.read_arguments(device.path, device.type)
    if sudoers.admits(sudoers.all_expressions(), arguments):
        return error
    name = base(device).partition(',')[0]
    if device.type and BY_NAME[name].is_vendors:
        is_usual = sudoers.admits(sudoers.all_expressions((name,)), arguments)
        option = f'--type {name}' if is_usual else f'-d {device.address}'
        return SudoRefused(
            f'cannot be read: the sudoers rule allows the type {name}, which uses vendor commands, '
            'only on request',
            'sudo-rule-too-narrow',
            step=f'print a rule that allows it: check_smart_attributes sudoers {option}',
        )
    return SudoRefused(
        'cannot be read: the sudoers rule does not allow this path, which is not a standard drive '
        'path',
        'sudo-rule-too-narrow',
        step='use /dev/sdX, /dev/nvmeN or /dev/disk/by-id, or print a rule with this path: '
        f'check_smart_attributes sudoers -d {device.address}',
    )
