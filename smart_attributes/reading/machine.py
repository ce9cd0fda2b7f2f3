"""The drives of this machine: found, addressed, read through smartctl.

Imported before the first process starts, so everything that waits for an
answer anyway is imported where it is used.
"""
from __future__ import annotations

from .. import alarm
from ..coded import NOTHING, Coded
from ..errors import DriveAbsent, DriveError, DriveNotReached, SmartError
from ..model import Answer, Device, HowRead, Read
from ..typed import TYPE_CHECKING, NamedTuple
from . import addresses, processes, smartctl_calls
from .device_types import base, is_raid
from .names import named as uniquely_named

if TYPE_CHECKING:
    from typing import Dict, Iterator, List, Optional, Sequence, Tuple

    from ..model import Outcome
    from .scans import Scan


OLD_RULE = Coded('sudo-rule-old', 'the sudoers rule is that of an earlier version and admits only what was read then; '
                                  'let root install what "check_smart_attributes sudoers" prints now')

_APART = 'start the checks of one drive at different times, or give more time with -t'


class Found(NamedTuple):
    """Which devices there are, and what was left out."""

    devices: Tuple[Device, ...]
    is_scan: bool = False
    is_whole: bool = True         # nothing that may be a drive was left out
    notes: Tuple[Coded, ...] = ()


class Plan(NamedTuple):
    """The command that reads a device."""

    device: Device
    command: Tuple[str, ...]
    # what else sudo may admit; None: it has not refused anything yet
    former: Optional[Sequence[Tuple[str, ...]]] = None


def named(texts: Sequence[str]) -> Found:
    """Return the devices that addresses name. Raises UsageError for an impossible one."""
    return Found(tuple(device for text in texts for device in addresses.parse(text)))


def find(asked: Found, is_scan: bool, how: HowRead, runner: processes.Runner, deadline: float) -> Found:
    """Return the devices that were *asked* for; with *is_scan*, or without any, those of smartctl's scan as well.

    Raises SmartError when the scan fails.
    """
    if asked.devices and not is_scan:
        return asked._replace(devices=tuple(uniquely_named(asked.devices)))
    scanned = _scan(how, runner, deadline)
    return Found(tuple(uniquely_named([*asked.devices, *scanned.devices])), True, scanned.is_whole,
                 (*asked.notes, *scanned.refused))


def _scan(how: HowRead, runner: processes.Runner, deadline: float) -> Scan:
    from . import scans  # who names drives does not pay for it
    prefix = smartctl_calls.prefix(how.smartctl, how.nosudo)
    waiting = [(*prefix, *smartctl_calls.SCAN)]
    waiting += [*smartctl_calls.former(waiting[0]), (*prefix, *smartctl_calls.SCAN_TEXT)]
    for command in waiting:
        answer = next(runner.run([command], 1, how.drive_timeout, deadline))
        if not (smartctl_calls.is_too_old(answer.stdout)
                or smartctl_calls.is_refused(command, answer.stdout, answer.stderr)):
            break
    if answer.outcome == 'done' and answer.status == 0:
        return scans.from_scan(answer.stdout.decode('utf-8', 'replace'))
    from .failure_reasons import diagnose
    reason = diagnose((), answer.status,
                      _text_of(answer)) or answer.reason or f'failed with exit status {answer.status}'
    raise SmartError(f'smartctl --scan: {reason}; name the drives with -d, or run it by hand',
                     getattr(reason, 'code', 'scan-failed'))


def _text_of(answer: Answer) -> str:
    return (answer.stdout + b'\n' + answer.stderr).decode('utf-8', 'replace')


def read_all(plans: Sequence[Plan], how: HowRead, runner: processes.Runner, deadline: float) -> Iterator[Read]:
    """Yield each device with its report, as the drives answer."""
    by_command: Dict[Tuple[str, ...], List[Plan]] = {}
    for planned in plans:
        by_command.setdefault(planned.command, []).append(planned)
    again: List[Plan] = []
    tunnelled: List[Tuple[Plan, Read]] = []
    for answer in runner.run(list(by_command), how.jobs, how.drive_timeout, deadline):
        for planned in by_command[answer.command]:
            other = _otherwise(planned, answer)
            if other:
                again.append(other)
            else:
                read = Read(planned.device, understood(answer), _transcript(answer), _remark(planned, answer),
                            answer.seconds, answer.waited)
                plain = _without_tunnel(planned) if isinstance(read.outcome, DriveAbsent) else None
                if plain:
                    tunnelled.append((plain, read))
                else:
                    yield read
    if again:
        yield from read_all(again, how, runner, deadline)
    if tunnelled:
        yield from _read_plainly(tunnelled, how, runner, deadline)


def _otherwise(planned: Plan, answer: Answer) -> Optional[Plan]:
    """Return how to ask again, of a smartctl that is too old for JSON or a sudo that knows only our former words."""
    if smartctl_calls.is_too_old(answer.stdout):
        return planned._replace(command=_as_text(answer.command), former=None if planned.former is None else ())
    if not smartctl_calls.is_refused(answer.command, answer.stdout, answer.stderr):
        return None
    former = smartctl_calls.former(planned.command) if planned.former is None else planned.former
    return planned._replace(command=former[0], former=tuple(former[1:])) if former else None


def _remark(planned: Plan, answer: Answer) -> Coded:
    is_admitted = not smartctl_calls.is_refused(answer.command, answer.stdout, answer.stderr)
    return OLD_RULE if planned.former is not None and is_admitted else NOTHING


def _without_tunnel(planned: Plan) -> Optional[Plan]:
    """Return how to read a RAID drive that does not answer through sat+, such as a SAS drive; None if none is left."""
    device, kind = planned.device, base(planned.device)
    if kind == device.type or not is_raid(device):
        return None
    command = tuple(kind if word == device.type else word for word in planned.command)
    return planned._replace(device=device._replace(type=kind), command=command)


def _read_plainly(tunnelled: Sequence[Tuple[Plan, Read]], how: HowRead, runner: processes.Runner,
                  deadline: float) -> Iterator[Read]:
    """Yield the drives that answer when they are asked otherwise, and of the others what came first."""
    first = {planned.device: read for planned, read in tunnelled}
    for read in read_all([planned for planned, _ in tunnelled], how, runner, deadline):
        yield read if read.identity else first[read.device]


def _as_text(command: Sequence[str]) -> Tuple[str, ...]:
    return tuple(word for word in command if word not in smartctl_calls.JSON)


def understood(answer: Answer) -> Outcome:
    """Return the report in an answer, or why there is none."""
    try:
        return alarm.limited(_understood, answer)
    except alarm.TakesTooLong as error:
        return DriveError(f'cannot be understood: {error} were not enough for what smartctl printed; '
                          f'look at it by hand: {" ".join(answer.command)}', 'report-too-complex')


def _understood(answer: Answer) -> Outcome:
    if answer.outcome != 'done':
        return _unread(answer)
    if answer.signal is not None:
        return DriveError(f'cannot be read: smartctl was ended by signal {answer.signal}; run it by hand: '
                          f'{" ".join(answer.command)}', 'smartctl-failed')
    error_text = answer.stderr.decode('utf-8', 'replace')
    try:
        if smartctl_calls.JSON[0] in answer.command:
            from . import json_report
            return json_report.parse(answer.stdout, answer.status, error_text)
        from . import text_report
        return text_report.parse_report(answer.stdout, answer.status, error_text, answer.command)
    except DriveError as error:
        return error


def _unread(answer: Answer) -> DriveError:
    if answer.outcome == 'too late':
        return DriveNotReached(f'was not read: {answer.reason}; name fewer drives, or give more time with -t')
    if answer.outcome == 'met':
        return DriveNotReached(f'was not read: {answer.reason}; {_APART}', 'in-use')
    if answer.outcome == 'cut short' and answer.waited:
        return DriveError(f'cannot be read: {answer.reason}, of which another check had the drive for '
                          f'{answer.waited:.1f} s; {_APART}', 'in-use')
    slow = 'a drive that hangs may be dying; try smartctl by hand, or give more time with --drive-timeout and -t'
    steps = {'timeout': ('timeout', slow), 'cut short': ('timeout', slow),
             'busy': ('process-hangs', 'nothing more is sent to it until that process is gone; drive or controller '
                                       'hang, the kernel log (dmesg) tells more')}
    code, step = steps.get(answer.outcome, ('smartctl-failed', f'run it by hand: {" ".join(answer.command)}'))
    return DriveError(f'cannot be read: {answer.reason}; {step}', code)


def _transcript(answer: Answer) -> str:
    return f'{" ".join(answer.command)}\n{_text_of(answer)}'
