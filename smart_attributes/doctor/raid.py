"""Examine members of redundant arrays for causes of failed rebuilds: endless retries and shingled
disks.

Only `doctor --raid`, run by root, does this, because the query for error recovery control writes
SMART log E0h.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ..command_line.options import Options
from ..errors import DriveError, SmartError
from ..model import Answer, HowRead
from ..output.doctor_findings import Finding, found, said
from ..reading import processes, smartctl_calls, system
from ..reading.content import (
    as_text,
    loaded,
    object_of,
    objects_of,
    text_of,
)
from ..reading.system import System
from ..reading.system import text_of as file_text
from ..redundancy.dependence import groups
from ..redundancy.rebuild import Recovery, recovery, redundant
from ..typed import Json
from ..wording import listed, plural
from ..words import clean
from .coverage import allowed
from .disks import Disk, disks

ARGUMENTS = (*smartctl_calls.JSON, '--nocheck=standby', '-i', '-l', 'scterc')
RETRY = 180  # seconds that a hard disk may retry. Source: Linux RAID wiki, "Timeout Mismatch"
NAMED = 24  # disks named in a paragraph
_FOLDERS = ('sys', 'proc', 'run/udev/data', 'etc/lvm/backup')  # of System, below the root
_SHINGLED = '(SMR)'  # text in the name of a family in smartctl's database

# code of a finding, and the values in its sentences
Fact = tuple[str, tuple[tuple[str, Any], ...]]


def examine(options: Options, deadline: float) -> list[Finding]:
    """Return the findings for all members of redundant arrays. deadline: time.monotonic() value."""
    how, root = options.how_read, system.ROOT
    if not os.path.isdir(os.path.join(root, 'sys/block')):
        return [found('raid-unknown')]
    folders = [os.path.join(root, folder) for folder in _FOLDERS]
    arrays = redundant(groups(system=System(*folders)))
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
    reasons = {disk.name: why_not(disk, disk in wanted) for disk in members}
    left = {name: reason for name, reason in reasons.items() if reason}
    answers = _asked(
        [disk for disk in members if disk.bus != 'NVMe' and disk.name not in left], how, deadline
    )
    findings = [
        (clean(arrays[disk.name]), disk.name, fact)
        for disk in members
        for fact in _facts(disk, answers.get(disk.name))
    ]
    names = ', '.join(f'{name} ({reason})' for name, reason in left.items())
    parts = [
        f'{plural(len(members), "member")} of redundant arrays examined',
        '' if findings else 'no problem found',
        f'error recovery control was not read from: {names}' if left else '',
    ]
    summary = '; '.join(filter(None, parts))
    return [*joined(findings), found('raid-examined', members=len(members), summary=summary)]


def joined(findings: Sequence[tuple[str, str, Fact]]) -> list[Finding]:
    """Return one finding for each fact, with all members that it concerns. findings: tuples
    (array, disk, fact).
    """
    same: dict[Fact, list[tuple[str, str]]] = {}
    for array, disk, fact in findings:
        same.setdefault(fact, []).append((array, disk))
    made = []
    for (code, fields), members in same.items():
        arrays, disks = (list(dict.fromkeys(names)) for names in zip(*members))
        finding = found(
            code,
            f'/dev/{disks[0]}' if len(disks) == 1 else 'RAID',
            disks=' '.join(disks),
            **dict(fields),
        )
        named = listed(disks, NAMED) if len(disks) > 1 else ''
        made.append(
            finding._replace(
                message=f'{plural(len(disks), "member")} of {listed(arrays, NAMED)}'
                f'{f" ({named})" if named else ""}: {finding.message}',
                fields={**finding.fields, 'array': arrays[0]},
            )
        )
    return made


def _asked(askable: Sequence[Disk], how: HowRead, deadline: float) -> dict[str, Answer]:
    """Return the answers of the drives, at the latest after half of the remaining time."""
    now = time.monotonic()
    commands: dict[tuple[str, ...], str] = {
        (how.smartctl, *ARGUMENTS, f'/dev/{disk.name}'): disk.name for disk in askable
    }
    runner = processes.Runner()  # a separate runner: its locks belong to the monitoring user
    try:
        return {
            commands[answer.command]: answer
            for answer in runner.run(commands, how.drive_timeout, now + (deadline - now) / 2)
        }
    finally:
        runner.close()


# --- interpretation; pure -----------------------------------------------------------------


def why_not(disk: Disk, is_allowed: bool) -> str:
    """Return why a disk must not be queried for error recovery control, which NVMe disks lack; ''
    if it may be queried.

    is_allowed: no option excludes the disk, and no local file excludes it because reading would
    harm the disk.
    """
    if disk.bus == 'NVMe':
        return ''
    if disk.is_behind_raid:
        return 'behind a RAID controller'
    if disk.bus != 'ATA':
        return disk.bus
    return '' if is_allowed else 'excluded'


def _facts(disk: Disk, answer: Answer | None) -> Iterator[Fact]:
    """Yield the facts about one member. answer: None if the member was not queried."""
    document = _document(answer) if answer else {}
    zoned = file_text(os.path.join(system.ROOT, f'sys/block/{disk.name}/queue/zoned'))
    # The kernel knows host-aware and host-managed disks; only smartctl knows device-managed disks.
    if disk.bus != 'NVMe' and (
        zoned not in ('', 'none')
        or document.get('zoned_device')
        or _SHINGLED in text_of(document, 'model_family')
    ):
        yield _fact('member-shingled')
    if not answer:
        return
    control = recovery(document)
    if control is None:
        yield _unknown(answer, document)
        return
    # Most SATA SSDs neither have nor need error recovery control, which limits how long a hard disk
    # repositions its
    # head and reads again. Source: smartmontools FAQ and Linux RAID wiki, which mention only hard
    # disks.
    if control.seconds is not None or document.get('rotation_rate') != 0:
        yield from _retries(disk, control)


def _fact(code: str, **fields: Any) -> Fact:
    return code, tuple(fields.items())


def _document(answer: Answer) -> Json:
    try:
        data = loaded(as_text(answer.stdout), 0) if answer.outcome == 'done' else {}
    except DriveError:
        data = {}
    return data if isinstance(data, dict) else {}


def _unknown(answer: Answer, document: Json) -> Fact:
    messages = [
        clean(text_of(message, 'string'), 200)
        for message in objects_of(object_of(document, 'smartctl'), 'messages')
    ]
    if any('exit(2)' in message for message in messages):  # "Device is in STANDBY mode, exit(2)"
        return _fact('member-in-standby')
    why = answer.reason or '; '.join(messages) or 'smartctl printed no JSON'
    return _fact('member-silent', reason=why, call=' '.join(answer.command[:-1]))


def _retries(disk: Disk, control: Recovery) -> Iterator[Fact]:
    """Yield a fact, with commands for a person to run, if the kernel gives up before the drive
    does.
    """
    wait = disk.timeout
    if wait is None:
        yield _fact('kernel-timeout-unknown')
    elif wait < RETRY if control.seconds is None else wait <= control.seconds:
        if not control.is_supported:
            limit = 'no error recovery control'
        elif control.seconds is None:
            limit = 'error recovery control is off'
        else:
            limit = f'retries of a bad sector take up to {control.seconds:g} s'
        code = 'error-recovery-too-long' if control.is_supported else 'kernel-timeout-too-short'
        yield _fact(code, limit=limit, seconds=wait)
