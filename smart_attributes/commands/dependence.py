"""Add to a survey what depends on each drive, and the order in which to replace drives."""
from __future__ import annotations

import os
import time
from importlib import import_module

from ..coded import Coded
from ..errors import inside
from ..model import Group, Member
from ..output import replacements
from ..reading import device_types, groups
from ..reading.block_devices import LINUX, System
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..check.survey import Survey
    from ..model import Device, Verdict

_ASK = "check them with the controller's own tool"


def with_groups(result: Survey, only_alerting: bool = False, asked: Sequence[str] = (),
                system: System = LINUX) -> Survey:
    """Return a survey whose verdicts say what depends on each drive, and whether it may be replaced.

    only_alerting: read only the groups on drives that alert. asked: programs to ask, each a module of reading.
    Recorded reports have no groups. After an exception, the survey has none either, but a remark on that.
    """
    try:
        return _with_groups(result, only_alerting, asked, system)
    except Exception as error:
        problem = inside(error, 'the use and the redundancy of the drives cannot be examined', 'lsblk')
        return result._replace(remarks=(*result.remarks, Coded(problem.code, str(problem))))


def _with_groups(result: Survey, only_alerting: bool, asked: Sequence[str], system: System) -> Survey:
    verdicts = [verdict._replace(place=verdict.place._replace(disks=disks(verdict.device, system)))
                for verdict in result.verdicts]
    wanted = [name for verdict in verdicts if verdict.state for name in verdict.place.disks] if only_alerting else None
    if not any(verdict.place.disks for verdict in verdicts) or wanted == []:
        return result
    known, notes = groups.groups(wanted, system), list(result.notes) if asked else []
    for name in asked:
        program = import_module(f'..reading.{name}', __package__)
        known, more = program.completed(known, program.ask, system)
        notes += more
    found = replacements.of_machine(verdicts, (*known, *_of_controllers(verdicts)), time.time())
    told = result._replace(verdicts=replacements.with_replacements(verdicts, found), machine=found)
    return told._replace(notes=tuple(notes)) if asked else told


def disks(device: Device, system: System = LINUX) -> tuple[str, ...]:
    """Return the kernel names of a drive's block devices; its address behind a RAID controller, or without sysfs."""
    if device.is_recorded:
        return ()
    has_address = device_types.is_raid(device) or not os.path.isdir(f'{system.sys}/block')
    return (device.address,) if has_address else tuple(groups.disks_of(device, system))


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
