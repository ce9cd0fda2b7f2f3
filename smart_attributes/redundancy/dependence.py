"""The use of each drive: the groups on it, and whether to replace it now.

The severity of a verdict and the action that it advises are decided elsewhere, and reach this module as `Drive`.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module

from ..errors import Coded
from ..model import Group, Member
from ..reading import device_types
from ..reading.system import LINUX, disks_of
from ..typed import TYPE_CHECKING, NamedTuple
from . import groups
from .replacement import machine, with_replacements

if TYPE_CHECKING:
    from ..model import Device, Verdict
    from ..reading.system import System
    from .replacement import Drive, Machine

    Drives = Callable[[Sequence[Verdict]], Sequence[Drive]]  # returns those with disks, the most severe first

_ASK = "check them with the controller's own tool"
PROGRAMS = {'zpool': 'zpool', 'dmsetup': 'device_mapper'}  # that can be asked -> the module that understands it


class Examined(NamedTuple):
    """Verdicts that state what depends on each drive, and whether it may be replaced."""

    verdicts: tuple[Verdict, ...]
    machine: Machine | None = None    # the groups on the drives; None: none were read
    notes: tuple[Coded, ...] = ()     # of the programs that were asked
    remarks: tuple[Coded, ...] = ()


def examined(verdicts: tuple[Verdict, ...], drives: Drives, only_alerting: bool = False, asked: Sequence[str] = (),
             system: System = LINUX) -> Examined:
    """Return the verdicts with what depends on each drive.

    only_alerting: read only the groups on drives that alert. asked: programs to ask, of PROGRAMS. Recorded reports
    have no groups. After an exception, the verdicts have none either, but there is a remark on that.
    """
    try:
        return _examined(verdicts, drives, only_alerting, asked, system)
    except Exception as error:
        from ..failures import inside
        problem = inside(error, 'the use and the redundancy of the drives cannot be examined', 'lsblk')
        return Examined(verdicts, remarks=(Coded(problem.code, str(problem)),))


def _examined(verdicts: tuple[Verdict, ...], drives: Drives, only_alerting: bool, asked: Sequence[str],
              system: System) -> Examined:
    placed = [verdict._replace(place=verdict.place._replace(disks=disks(verdict.device, system)))
              for verdict in verdicts]
    wanted = [name for verdict in placed if verdict.state for name in verdict.place.disks] if only_alerting else None
    if not any(verdict.place.disks for verdict in placed) or wanted == []:
        return Examined(verdicts)
    known, notes = groups.groups(wanted, system), []
    for name in asked:
        program = import_module(f'.{PROGRAMS[name]}', __package__)
        known, more = program.completed(known, program.ask, system)
        notes += more
    found = machine((*known, *_of_controllers(placed)), drives(placed))
    return Examined(with_replacements(placed, found), found, tuple(notes))


def disks(device: Device, system: System = LINUX) -> tuple[str, ...]:
    """Return the kernel names of a drive's block devices; its address behind a RAID controller, or without sysfs."""
    if device.is_recorded:
        return ()
    has_address = device_types.is_raid(device) or not os.path.isdir(f'{system.sys}/block')
    return (device.address,) if has_address else tuple(disks_of(device, system))


def _of_controllers(verdicts: Sequence[Verdict]) -> Iterable[Group]:
    """Yield a group for each RAID controller; which of its drives belong to which volume is not known."""
    behind: dict[tuple[str, str], list[str]] = {}
    for verdict in verdicts:
        controller = device_types.controller(verdict.device.type)
        if controller and verdict.place.disks:
            behind.setdefault((controller.name, verdict.device.path), []).append(verdict.device.address)
    for (name, path), addresses in behind.items():
        yield Group(f'{name} {path}', f'{name} volumes', 'hardware', '', unknown=_ASK, members=tuple(
            Member(address, 'unknown', None, (address,)) for address in addresses))
