"""List the drives of this machine and read them through smartctl.

This module is imported before the first process starts, so modules that are
needed only after an answer are imported inside functions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from .. import alarm
from ..errors import FEWER, DriveAbsent, DriveError, DriveNotReached, SmartError
from ..model import Answer, Device, HowRead, Read
from ..model import DeviceList as DeviceList  # noqa: PLC0414 (an export)
from ..typed import TYPE_CHECKING, NamedTuple
from . import addresses, smartctl_calls
from .device_types import base, is_raid
from .processes import Runner

if TYPE_CHECKING:
    from ..model import Outcome, Report
    from .smartctl_calls import Command


DEVICES = '/dev'
_APART = 'start the checks of one drive at different times, or increase -t'


class Plan(NamedTuple):
    """The command that reads a device."""

    device: Device
    command: Command


def named(texts: Sequence[str]) -> DeviceList:
    """Return the devices of the addresses. Raises UsageError for an invalid address."""
    return DeviceList(
        tuple(device for text in texts for device in addresses.parse(text))
    )


def find(
    requested: DeviceList, is_scan: bool, how: HowRead, runner: Runner, deadline: float
) -> DeviceList:
    """Return the devices in *requested*, each once and under a unique name; if *is_scan* is true or
    *requested* is empty, also the devices that a scan finds.

    Raises SmartError if the scan fails.
    """
    if requested.devices and not is_scan:
        return requested._replace(devices=tuple(addresses.named(requested.devices)))
    scan = _scan(how, runner, deadline)
    return scan._replace(
        devices=tuple(addresses.named([*requested.devices, *scan.devices])),
        notes=(*requested.notes, *scan.notes),
    )


def _scan(how: HowRead, runner: Runner, deadline: float) -> DeviceList:
    """Return what a scan finds. Raises SmartError if it fails."""
    from . import scans  # not needed by a check with -d

    prefix = smartctl_calls.prefix(how.smartctl, how.nosudo)
    command = (*prefix, *smartctl_calls.SCAN)
    answer = next(runner.run([command], how.drive_timeout, deadline))
    if answer.outcome != 'done' or answer.status != 0:
        raise _scan_failed(answer)
    text = answer.stdout.decode('utf-8', 'replace')
    return scans.from_scan(text, os.listdir(DEVICES))


def _scan_failed(answer: Answer) -> SmartError:
    """Return the error for a scan that failed, with what it printed."""
    from .failure_reasons import diagnose

    printed = _text_of(answer)
    why = answer.reason or f'failed with exit status {answer.status}'
    reason = diagnose(printed) or SmartError(why, 'scan-failed')
    sentence = f'smartctl --scan: {reason}'
    # If smartctl is too old, it cannot read named drives, either.
    if reason.code != 'smartctl-too-old':
        sentence += '; name the drives with -d, or run smartctl by hand'
    error = SmartError(sentence, reason.code)
    error.printed = printed
    return error


def _text_of(answer: Answer) -> str:
    return (answer.stdout + b'\n' + answer.stderr).decode('utf-8', 'replace')


def read_all(
    plans: Sequence[Plan], how: HowRead, runner: Runner, deadline: float
) -> Iterator[Read]:
    """Yield each device with its report, in the order in which the drives answer.

    A drive that does not answer through a tunnel ("sat+megaraid,6") is read once more without it.
    """
    by_command: dict[Command, list[Plan]] = {}
    for plan in plans:
        by_command.setdefault(plan.command, []).append(plan)
    retries = []
    first_reads = {}  # by the device of the retry
    for answer in runner.run(by_command, how.drive_timeout, deadline):
        for plan in by_command[answer.command]:
            read = _read(plan, answer)
            is_absent = isinstance(read.outcome, DriveAbsent)
            retry = _without_tunnel(plan) if is_absent else None
            if retry:
                retries.append(retry)
                first_reads[retry.device] = read
            else:
                yield read
    if retries:
        for read in read_all(retries, how, runner, deadline):
            yield read if read.identity else first_reads[read.device]


def _read(plan: Plan, answer: Answer) -> Read:
    return Read(
        plan.device,
        _outcome(answer),
        f'{" ".join(answer.command)}\n{_text_of(answer)}',
        seconds=answer.seconds,
        waited=answer.waited,
        ended=answer.ended,
    )


def _without_tunnel(plan: Plan) -> Plan | None:
    """Return the plan without sat+, because a drive behind RAID may be a SAS drive; None if
    *plan* has no sat+, or is not that of a drive behind RAID.
    """
    device = plan.device
    kind = base(device)
    if kind == device.type or not is_raid(device):
        return None
    command = tuple(kind if word == device.type else word for word in plan.command)
    return Plan(device._replace(type=kind), command)


def _outcome(answer: Answer) -> Outcome:
    """Return the report in an answer, or the reason why it contains no report."""
    if answer.outcome != 'done':
        return _unread(answer)
    by_hand = ' '.join(answer.command)
    if answer.signal is not None:
        why = f'cannot be read: smartctl was terminated by signal {answer.signal}'
        return DriveError(why, 'smartctl-failed', f'run it by hand: {by_hand}')
    return parsed(_report, answer, look=f'look at the output of {by_hand}')


def parsed(parse: Callable[..., Report], *arguments: object, look: str = '') -> Outcome:
    """Return the report that *parse* returns, or the reason why *parse* failed; a failure affects
    only this drive.

    look: the next step if parsing takes too long.
    """
    try:
        return alarm.limited(parse, *arguments)
    except DriveError as error:
        return error
    except alarm.TakesTooLong as limit:
        return DriveError(
            f'cannot be parsed within {limit}', 'report-too-complex', step=look
        )
    except Exception as error:
        from ..failures import inside

        return inside(error, 'cannot be parsed')


def _report(answer: Answer) -> Report:
    from . import json_report

    return json_report.parse(
        answer.stdout, answer.status, answer.stderr.decode('utf-8', 'replace')
    )


def _unread(answer: Answer) -> DriveError:
    """Return the error for an answer that is not complete."""
    why = f'cannot be read: {answer.reason}'
    outcome = answer.outcome
    if outcome == 'too late':
        return DriveNotReached(f'was not read: {answer.reason}', step=FEWER)
    if outcome == 'met':
        return DriveNotReached(f'was not read: {answer.reason}', 'in-use', _APART)
    if outcome == 'cut short' and answer.waited:
        why += (
            f', and another check was using the drive for {answer.waited:.1f} s of this '
            'time'
        )
        return DriveError(why, 'in-use', _APART)
    if outcome in ('timeout', 'cut short'):
        step = 'run it by hand: smartctl -x PATH; or increase --drive-timeout and -t'
        return DriveError(why, 'timeout', step)
    if outcome == 'busy':
        step = (
            'nothing more is sent to the drive until that process ends: check the '
            'drive, the controller and the kernel log (dmesg -T)'
        )
        return DriveError(why, 'process-hangs', step)
    step = f'run it by hand: {" ".join(answer.command)}'
    return DriveError(why, 'smartctl-failed', step)
