"""Examine members of redundant arrays for what breaks a rebuild: endless retries of bad sectors, and slow links.

Only `doctor --raid` runs this, as root and by hand: asking for error recovery control writes SMART log E0h.
"""
from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..command_line.options import Options
from ..errors import DriveError, SmartError
from ..model import Answer, Group, HowRead
from ..output.doctor_findings import Finding, found, said
from ..reading import processes, smartctl_calls, system
from ..reading.content import as_text, fraction_of, integer_at, loaded, object_of, objects_of, text_of
from ..reading.system import Disk, System, disks
from ..reading.system import text_of as file_text
from ..redundancy.block_devices import NO_STATUS
from ..redundancy.dependence import groups
from ..redundancy.survival import BY_SLOT, TOLERANCE
from ..typed import Json
from ..wording import plural
from ..words import clean
from .coverage import allowed

ARGUMENTS = (*smartctl_calls.JSON, '--nocheck=standby', '-i', '-l', 'scterc')
RETRY = 180    # seconds that a hard disk may retry. Source: Linux RAID wiki, "Timeout Mismatch"
FEW_STEPS = 2    # 8 % of healthy disks run one step below their maximum
_PCIE = (2.5, 5.0, 8.0, 16.0, 32.0, 64.0)   # GT/s
_SPEED, _WIDTH = 'link_speed', 'link_width'


class Recovery(NamedTuple):
    """The time limits that a drive reports for its error recovery."""

    is_supported: bool
    seconds: float | None = None  # the longer one of reading and writing; None: at least one is off


def examine(options: Options, deadline: float) -> list[Finding]:
    """Return the findings for all members of redundant arrays. deadline: time.monotonic() value."""
    how, root = options.how_read, system.ROOT
    if not os.path.isdir(os.path.join(root, 'sys/block')):
        return [found('raid-unknown')]
    arrays = redundant(groups(system=System(os.path.join(root, 'sys'), os.path.join(root, 'proc'))))
    members = [disk for disk in disks(root) if disk.name in arrays]
    if not members:
        return [found('raid-none')]
    if os.geteuid() != 0:
        return [found('raid-needs-root')]
    try:
        smartctl_calls.check_executable(how.smartctl, as_root=True)
        wanted = allowed(members, options)
    except SmartError as error:
        return [said('raid-not-asked', str(error))]
    left = {disk.name: reason for disk in members for reason in [why_not(disk, disk in wanted)] if reason}
    answers = _asked([disk for disk in members if disk.bus != 'NVMe' and disk.name not in left], how, deadline)
    findings = [_of_array(finding, clean(arrays[disk.name])) for disk in members
                for finding in (*(_answered(disk, answers[disk.name]) if disk.name in answers else ()),
                                *_pcie(disk, root))]
    return [*findings, summary(len(members), left, bool(findings))]


def _of_array(finding: Finding, array: str) -> Finding:
    """Return the finding for a drive, with the array that the drive is in."""
    return finding._replace(message=f'member of {array}: {finding.message}', fields={**finding.fields, 'array': array})


def _asked(askable: Sequence[Disk], how: HowRead, deadline: float) -> dict[str, Answer]:
    """Return the answer of each drive, at the latest after half of the time that is left."""
    now = time.monotonic()
    commands: dict[tuple[str, ...], str] = {
        (how.smartctl, *ARGUMENTS, f'/dev/{disk.name}'): disk.name for disk in askable}
    runner = processes.Runner()  # a separate one: its locks belong to the monitoring user
    try:
        return {commands[answer.command]: answer for answer in runner.run(
            commands, how.jobs, how.drive_timeout, now + (deadline - now) / 2)}
    finally:
        runner.close()


# --- interpretation; pure -----------------------------------------------------------------

def redundant(groups: Sequence[Group]) -> dict[str, str]:
    """Return the name of a redundant group for each disk below one, at any depth."""
    by_id = {group.id: group for group in groups}
    return {disk: group.name for group in groups if _is_redundant(group) for disk in _below(group, by_id, set())}


def _is_redundant(group: Group) -> bool:
    """Return whether copies exist while all members work. LVM RAID counts, although /sys does not have its level."""
    return bool(TOLERANCE.get(group.level)) or group.level == BY_SLOT or group.unknown == NO_STATUS


def _below(group: Group, by_id: Mapping[str, Group], seen: set[str]) -> Iterator[str]:
    """Yield the disks below a group. seen: the groups to skip, which grow, because groups may form a cycle."""
    seen.add(group.id)
    for name in (name for member in group.members for name in member.on):
        if name not in by_id:
            yield name
        elif name not in seen:
            yield from _below(by_id[name], by_id, seen)


def why_not(disk: Disk, is_allowed: bool) -> str:
    """Return why a disk must not be asked for error recovery control, or '' if it may. NVMe drives have none.

    is_allowed: no local file says that reading harms this drive, and no option excludes it.
    """
    if disk.bus == 'NVMe':
        return ''
    if disk.is_behind_raid:
        return 'behind a RAID controller'
    return '' if disk.bus == 'ATA' and is_allowed else 'excluded' if disk.bus == 'ATA' else disk.bus


def _answered(disk: Disk, answer: Answer) -> Iterator[Finding]:
    """Yield the findings for the answer of one SATA drive."""
    document = _document(answer)
    known = recovery(document)
    if known is None:
        yield _unknown(disk, answer, document)
        return
    # Most SATA SSDs have no error recovery control, and need none: it ends the minutes in which a disk repositions its
    # head and reads again. Source: smartmontools FAQ and Linux RAID wiki, which name hard disks only.
    if known.seconds is not None or document.get('rotation_rate') != 0:
        yield from _retries(disk, known)
    current, most = (_gigabits(object_of(document, 'interface_speed', key)) for key in ('current', 'max'))
    if current and most and most >= current * 2 ** FEW_STEPS:
        yield found('link-slow', f'/dev/{disk.name}',
                    link=f'SATA link runs at {current:g} Gb/s, the drive supports {most:g} Gb/s')


def _document(answer: Answer) -> Json:
    try:
        data = loaded(as_text(answer.stdout), 0) if answer.outcome == 'done' else {}
    except DriveError:
        data = {}
    return data if isinstance(data, dict) else {}


def recovery(document: Json) -> Recovery | None:
    """Return the time limits in smartctl's JSON; None if the drive was not asked or did not answer."""
    limited = object_of(document, 'ata_sct_erc')
    if not limited:
        status = integer_at(document, 'smartctl.exit_status')
        is_told = status is not None and not status & 7 and text_of(object_of(document, 'device'), 'protocol') == 'ATA'
        return Recovery(is_supported=False) if is_told else None
    limits = [integer_at(limited, f'{what}.deciseconds') if object_of(limited, what).get('enabled') is True else None
              for what in ('read', 'write')]
    return Recovery(True, max(limit or 0 for limit in limits) / 10 if all(limits) else None)


def _unknown(disk: Disk, answer: Answer, document: Json) -> Finding:
    messages = [clean(text_of(each, 'string'), 200) for each in objects_of(object_of(document, 'smartctl'), 'messages')]
    if any('exit(2)' in each for each in messages):  # "Device is in STANDBY mode, exit(2)"
        return found('member-in-standby', f'/dev/{disk.name}')
    why = answer.reason or '; '.join(messages) or 'smartctl printed no JSON'
    return found('member-silent', f'/dev/{disk.name}', reason=why, call=' '.join(answer.command))


def _retries(disk: Disk, known: Recovery) -> Iterator[Finding]:
    """Yield a finding if the kernel gives up before the drive does. The commands are for a person to run."""
    wait = disk.timeout
    if wait is None:
        yield found('kernel-timeout-unknown', f'/dev/{disk.name}')
    elif wait < RETRY if known.seconds is None else wait <= known.seconds:
        limit = ('it has no error recovery control' if not known.is_supported else
                 'its error recovery control is off' if known.seconds is None else
                 f'it retries a bad sector for up to {known.seconds:g} s')
        code = 'error-recovery-too-long' if known.is_supported else 'kernel-timeout-too-short'
        yield found(code, f'/dev/{disk.name}', limit=limit, seconds=wait, disk=disk.name)


def _gigabits(speed: Json) -> float:
    """Return a SATA speed in Gb/s; 0 if absent."""
    units, bits = (fraction_of(speed, key) or 0 for key in ('units_per_second', 'bits_per_unit'))
    return units * bits / 1e9


def _pcie(disk: Disk, root: str) -> Iterator[Finding]:
    """Yield a finding if an NVMe drive uses a quarter or less of what it and its slot are capable of."""
    place = os.path.realpath(os.path.join(root, 'sys/class/nvme', disk.drive, 'device'))
    texts = [{key: file_text(f'{folder}/{key}') for key in (f'max_{_SPEED}', f'max_{_WIDTH}', f'current_{_SPEED}',
                                                            f'current_{_WIDTH}')}
             for folder in (place, os.path.dirname(place))] if disk.bus == 'NVMe' else []
    words = pcie_words(*texts) if texts else ''
    if words:
        yield found('link-slow', f'/dev/{disk.name}', link=words)


def pcie_words(drive: Mapping[str, str], port: Mapping[str, str]) -> str:
    """Return how far a PCIe link is below what both of its ends support; '' if fewer than FEW_STEPS, or unknown.

    drive, port: file name -> content in sysfs, such as max_link_speed -> "16.0 GT/s PCIe"; '' if absent.
    """
    current = _link(drive, 'current')
    ends = [each for each in (_link(drive, 'max'), _link(port, 'max')) if each]
    if not (current and _link(drive, 'max')):
        return ''
    most = tuple(min(values) for values in zip(*ends))
    if most[0] - current[0] + most[1] - current[1] < FEW_STEPS:
        return ''
    return 'PCIe link runs at {} x{}, drive and slot support {} x{}'.format(
        *(value for speed, width in (current, most) for value in (f'{_PCIE[speed]:g} GT/s', 2 ** width)))


def _link(folder: Mapping[str, str], prefix: str) -> tuple[int, int] | None:
    """Return speed and width of a link, each as a number of doublings; None if unknown."""
    speed = re.match(r'([0-9]{1,3}(?:\.[0-9])?) GT/s', folder[f'{prefix}_{_SPEED}'])
    width = re.fullmatch('[0-9]{1,2}', folder[f'{prefix}_{_WIDTH}'])
    if not (speed and width and float(speed[1]) in _PCIE and int(width[0])):
        return None
    return _PCIE.index(float(speed[1])), int(width[0]).bit_length() - 1


def summary(count: int, left: Mapping[str, str], is_faulty: bool) -> Finding:
    """Return the finding that counts the members. left: name -> reason of those that were not asked."""
    names = ', '.join(f'{name} ({reason})' for name, reason in left.items())
    parts = [f'{plural(count, "member")} of redundant arrays examined', '' if is_faulty else 'no problem found',
             f'not asked for error recovery control: {names}' if left else '']
    return found('raid-examined', members=count, summary='; '.join(filter(None, parts)))
