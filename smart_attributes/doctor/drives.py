"""Report whether and how fast each address answers, and write configuration lines to check these
drives. Pure.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence

from ..check import drive_tracking
from ..check.address_ranges import ranges
from ..check.survey import Survey
from ..command_line.options import PROGRAM
from ..constants import BEHIND_NRPE, TIMEOUT
from ..errors import (
    ControllerElsewhere,
    DriveAbsent,
    DriveAsleep,
    DriveIsNoDrive,
    DriveMissing,
    DriveNotReached,
    SudoRefused,
)
from ..knowledge import drive_logs
from ..model import Device, Identity, Read, Report, State, Verdict
from ..output.codes import BY_NAME
from ..output.doctor_findings import Finding, Paste, found, said
from ..reading.device_types import is_raid
from ..shown import shown
from .daemon_checks import denied

SHOWN = 8  # up to this many answering drives get a line each; more drives share a line
CHECK = 'drives'  # subject of findings about all drives together


def findings(
    survey: Survey, hide_serial: bool, check: Sequence[str], reads_as_root: bool = False
) -> list[Finding]:
    """Return a finding for each address with a problem, for the drives that answer, and for all
    drives together.

    check: the command line of a check of this installation, as a list of words. reads_as_root:
    smartctl runs as root.
    """
    answering: list[tuple[Verdict, Read]] = []
    problems: list[Finding] = []
    missing: list[Finding] = []
    for verdict, read in zip(survey.verdicts, survey.reads):
        outcome = read.outcome
        if isinstance(outcome, DriveMissing):
            missing.append(_missing(verdict, hide_serial))
        elif isinstance(outcome, Report):
            answering.append((verdict, read))
        elif isinstance(outcome, DriveAsleep):
            problems.append(_sleeping(verdict, hide_serial, check))
        else:
            problems.append(
                _silent(verdict, read, survey.whereabouts, hide_serial, reads_as_root)
            )
    results = [_answering(verdict, read, hide_serial) for verdict, read in answering]
    if len(answering) > SHOWN:
        # the slowest one, by the seconds of its Read
        verdict, read = max(answering, key=lambda drive: drive[1].seconds)
        results = [
            found(
                'drives-answer',
                drives=len(answering),
                address=verdict.device.address,
                seconds=read.seconds,
            )
        ]
    # Unread slots, contradicting files, an old sudo rule. Mistakes in local files have a finding
    # already, from installed.site_files().
    faults = [fault for fault in survey.faults if fault not in survey.judge.mistakes]
    remarks = dict.fromkeys(read.remark for read in survey.reads if read.remark)
    of_all = [
        said(sentence.code, sentence, CHECK, **sentence.fields)
        for sentence in (*faults, *remarks)
    ]
    all_findings = [*results, *problems, *of_all, *missing]
    if not answering and not problems:
        state, sentence = survey.nobody
        code = 'drives-none' if state is State.OK else 'no-drives'
        all_findings.append(said(code, sentence, CHECK))
    return all_findings


def _answering(verdict: Verdict, read: Read, hide_serial: bool) -> Finding:
    """Return the finding for a drive that can be read: the installation works, whatever the
    drive reports.
    """
    finding = found(
        'drive-answers',
        verdict.device.address,
        drive=_who(verdict.identity, hide_serial),
        seconds=read.seconds,
        state=verdict.state.name,
    )
    words = [finding.message]
    if verdict.state is not State.OK:
        words.append(
            f'a check reports {verdict.state.name}; to see why, run: check_smart_attributes '
            f'explain -d {verdict.device.address}'
        )
    words += [note for note in verdict.notes if note.code in drive_logs.CODES]
    return finding._replace(message='; '.join(words))


def _who(identity: Identity, hide_serial: bool) -> str:
    """Return the model and the serial number; "unknown drive" if the drive reports neither."""
    return shown(identity, hide_serial).name or 'unknown drive'


def _silent(
    verdict: Verdict,
    read: Read,
    whereabouts: drive_tracking.Whereabouts | None,
    hide_serial: bool,
    reads_as_root: bool,
) -> Finding:
    """Return the finding for an address that returned no report, the first that applies:

    - sudo refused to run smartctl: the finding about the rule explains it
    - even root may not open the device: what may forbid it
    - the device is not a drive: the reason
    - the drive reported its model: the model and the reason
    - the drive was asked, and an earlier check read a drive here: the drive is failing
    - all others: the reason
    """
    address = verdict.device.address
    if isinstance(read.outcome, SudoRefused):
        return found('drive-not-asked', address)
    reported = said(verdict.code, verdict.problem, address)
    if verdict.code == 'no-permission' and reads_as_root:
        return denied(reported.message, address)
    remedy = reported.remedy or BY_NAME[verdict.code].remedy
    finding = reported._replace(remedy=remedy)
    if isinstance(read.outcome, DriveIsNoDrive):
        return finding
    if verdict.identity.model:
        drive = _who(verdict.identity, hide_serial)
        return finding._replace(
            message=f'{drive}: {finding.message}', fields={'drive': drive}
        )
    # A drive whose controller has moved, or for which no time was left, may work well.
    was_asked = not isinstance(read.outcome, (ControllerElsewhere, DriveNotReached))
    if whereabouts and was_asked:
        earlier = drive_tracking.seen(whereabouts, address)
        if earlier:
            return found(
                'drive-failing',
                address,
                drive=_who(earlier.identity, hide_serial),
                reason=finding.message,
            )
    return finding


def _sleeping(verdict: Verdict, hide_serial: bool, check: Sequence[str]) -> Finding:
    """Return the finding for a drive in standby; good only if an earlier check read the drive, and
    recently enough.
    """
    device = verdict.device
    # "is in STANDBY mode and was not woken; last read 3 h ago"
    words = '; '.join((verdict.problem, *verdict.details))
    too_long = found('drive-standby-too-long', device.address)._replace(
        message=words, command=waking(device, check)
    )
    has_identity = verdict.identity.model or verdict.identity.serial
    if not has_identity:
        unread = 'no check has read the drive while it was awake, so its model and serial number are unknown'
        return too_long._replace(message=f'{words}; {unread}')
    # The code of a drive that was not read recently is asleep-too-long.
    if verdict.code == DriveAsleep.code:
        drive = _who(verdict.identity, hide_serial)
        return found('drive-in-standby', device.address, drive=drive, reason=words)
    return too_long


def waking(device: Device, check: Sequence[str]) -> str:
    """Return the command that wakes up a drive by reading data, because an identity query does not
    wake up a drive, and then checks it.

    Return '' if data cannot be read directly: the drive is behind a controller, or its node is not
    a block device.
    """
    if is_raid(device) or not re.fullmatch(
        r'/dev/([hs]d[a-z]+|nvme\w+|disk/by-[a-z]+/[^/]+)', device.path
    ):
        return ''
    path = shlex.quote(f'if={device.path}')
    read = f'dd {path} of=/dev/null bs=4096 count=1 iflag=direct'
    return f'{read} && {shlex.join([*check, "-d", device.address])}'


def _missing(verdict: Verdict, hide_serial: bool) -> Finding:
    """Return the finding for a drive that an earlier check read and that is now missing."""
    finding = said(verdict.code, verdict.problem, verdict.device.address)
    return finding._replace(
        message=f'{_who(verdict.identity, hide_serial)} {finding.message}',
        remedy='check its slot, cable and controller, and run: dmesg -T; if you removed '
        'the drive for good, acknowledge the removal',
        command=f'{PROGRAM} acknowledge --missing {shlex.quote(verdict.device.name)}',
    )


def to_watch(reads: Sequence[Read], addresses: Sequence[str]) -> list[str]:
    """Return the addresses that a check of this machine should name: all except addresses that
    cannot hold a drive.
    """
    without_drive = (DriveIsNoDrive, DriveAbsent, ControllerElsewhere)
    return [
        address
        for read, address in zip(reads, addresses)
        if not isinstance(read.outcome, without_drive)
    ]


def pastes(
    addresses: Sequence[str],
    program: str,
    timeout: float,
    other_options: Sequence[str],
    is_scan: bool,
) -> list[Paste]:
    """Return a configuration line for each daemon; [] without addresses.

    timeout: time limit of the check in seconds. other_options: of the check with their values,
    such as --path FILE, all in the long form. is_scan: a scan finds these drives, so the lines
    name none, and check a new drive, too.
    """
    if not addresses:
        return []
    named = [] if is_scan else ranges(addresses)
    drives = [] if named else ['--scan']
    for address in named:
        drives += ['-d', address]
    limits = []  # --expect and --timeout, if they are needed
    if named and len(named) < len(addresses):  # a range: its empty slots are skipped
        limits += ['--expect', str(len(addresses))]
    if timeout != TIMEOUT:
        limits += ['--timeout', f'{timeout:g}']
    line = shlex.join([*other_options, *drives, *limits])
    icinga = _icinga_variables(named, [*other_options, *limits])
    return [
        Paste('icinga', 'Icinga, in the Host', icinga),
        Paste(
            'nagios',
            'Nagios, in the service',
            f'check_command  smart_attributes_drives!{line}',
        ),
        Paste(
            'nrpe',
            'NRPE (call it with check_nrpe -t 60)',
            f'command[{PROGRAM}]={program} --max-output {BEHIND_NRPE} {line}',
        ),
    ]


def _icinga_variables(named: Sequence[str], options: Sequence[str]) -> str:
    """Return the variables of a Host whose drives Icinga checks. Without addresses in *named*, Icinga
    lets the check scan.

    options: option, value, option, value, ...
    """
    lines = ['vars.smart = true']
    if named:
        listed = json.dumps(named).replace('$', '$$')  # "$" would begin a macro
        lines.append(f'vars.smart_attributes_device = {listed}')
    for option, value in zip(options[::2], options[1::2]):
        variable = option.removeprefix('--').replace('-', '_')
        lines.append(f'vars.smart_attributes_{variable} = {json.dumps(value)}')
    return '\n'.join(lines)
