"""Report how each address answers, and how fast. Pure: the survey is passed in as a value."""
from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from ..check import drive_tracking
from ..check.survey import Survey
from ..command_line.options import PROGRAM
from ..errors import ControllerElsewhere, DriveAbsent, DriveAsleep, DriveIsNoDrive, DriveNotReached, SudoRefused
from ..knowledge import clock
from ..model import Device, Identity, Read, Report, State, Verdict
from ..output.codes import BY_NAME
from ..output.doctor_findings import Finding, halves
from ..reading.device_types import is_raid
from ..wording import plural
from ..words import clean

SHOWN = 8          # drives that answer and get a line each; if there are more, all share one
MOST_GONE = 3      # missing drives that get a line each; the rest share one
_ANSWERED = 'an earlier check read it here, so the drive, cable or controller is failing: check the kernel log'
KERNEL = 'dmesg -T | tail -50'
CHECK = 'drives'   # subject of findings about all drives together


def findings(survey: Survey, hide_serial: bool, check: Sequence[str]) -> list[Finding]:
    """Return a finding for each address with a problem, for the drives that answer, and for all drives together.

    check: the command line of a check of this installation, as a list of words.
    """
    pairs = list(zip(survey.verdicts, survey.reads))
    well = [pair for pair in pairs if isinstance(pair[1].outcome, Report)]
    lines = [_answering(*pair, hide_serial) for pair in well] if len(well) <= SHOWN else [_all(well)]
    lines += [_sleeping(verdict, hide_serial, check) if isinstance(read.outcome, DriveAsleep) else
              _silent(verdict, read, survey.whereabouts, hide_serial) for verdict, read in pairs
              if not isinstance(read.outcome, Report)]
    # Unread slots, contradicting files, an old sudo rule.
    faults = [fault for fault in survey.faults if fault not in survey.judge.mistakes]
    remarks = dict.fromkeys(read.remark for read in survey.reads if read.remark)
    lines += [Finding(CHECK, False, *halves(sentence)) for sentence in (*faults, *remarks)]
    gone = [said for _, said in survey.demands if said.code == 'drive-gone']
    return [*lines, *_gone(gone), *([] if pairs else [_nobody(*survey.nobody)])]


def _answering(verdict: Verdict, read: Read, hide_serial: bool) -> Finding:
    """Return the finding for a drive that can be read: the installation works, whatever the drive reports."""
    more = '' if verdict.state is State.OK else f'; a check reports {verdict.state.name}, explain shows why'
    more += ''.join(f'; {note}' for note in verdict.notes if note.code in clock.CODES)
    return Finding(verdict.device.address, True, f'{_who(verdict.identity, hide_serial)}, {read.seconds:.2g} s{more}')


def _all(well: Sequence[tuple[Verdict, Read]]) -> Finding:
    verdict, read = max(well, key=lambda pair: pair[1].seconds)
    return Finding(CHECK, True, f'{plural(len(well), "drive")} answer, the slowest ({verdict.device.address}) in '
                                f'{read.seconds:.2g} s; list them: {PROGRAM} list')


def _who(identity: Identity, hide_serial: bool) -> str:
    serial = '' if hide_serial else f' {clean(identity.serial)}'
    return f'{clean(identity.model)}{serial}'.strip() or 'unknown drive'


def _silent(verdict: Verdict, read: Read, known: drive_tracking.Whereabouts | None, hide_serial: bool) -> Finding:
    """Return the finding for an address that returned no report."""
    address = verdict.device.address
    if isinstance(read.outcome, SudoRefused):
        return Finding(address, None, 'not read: sudo refused the call, see "sudo rule"')
    words, advice = halves(verdict.problem)
    advice = advice or BY_NAME[verdict.code].remedy
    if isinstance(read.outcome, DriveIsNoDrive):
        return Finding(address, False, words, advice)
    if verdict.identity.model:
        return Finding(address, False, f'{_who(verdict.identity, hide_serial)}: {words}', advice)
    is_reached = not isinstance(read.outcome, (ControllerElsewhere, DriveNotReached))
    earlier = drive_tracking.seen(known, address) if known and is_reached else None
    if earlier:
        return Finding(address, False, f'was {_who(earlier.identity, hide_serial)}: {words}', _ANSWERED, KERNEL)
    return Finding(address, False, words, advice)


def _sleeping(verdict: Verdict, hide_serial: bool, check: Sequence[str]) -> Finding:
    """Return the finding for a drive in standby, which is OK if an earlier check read it recently enough."""
    device = verdict.device
    words, last = halves(verdict.problem)
    if verdict.identity.model and verdict.state is not State.WARNING:
        return Finding(device.address, True, f'{_who(verdict.identity, hide_serial)}, {words}; {last}')
    why = last or 'never read while awake, so its model and serial number are unknown'
    return Finding(device.address, False, f'{words}; {why}', 'wake it by reading from it, then run a check',
                   waking(device, check))


def waking(device: Device, check: Sequence[str]) -> str:
    """Return the command that wakes up a drive by reading from it; asking for its identity does not wake it.

    '' for a drive behind a controller or a node that is not a block device, from which nothing can be read.
    """
    if is_raid(device) or not re.fullmatch(r'/dev/([hs]d[a-z]+|nvme\w+|disk/by-[a-z]+/[^/]+)', device.path):
        return ''
    read = ['dd', f'if={device.path}', 'of=/dev/null', 'bs=4096', 'count=1', 'iflag=direct']
    return f'{shlex.join(read)} && {shlex.join([*check, "-d", device.address])}'


def _gone(sentences: Sequence[str]) -> list[Finding]:
    """Return a finding for each drive that an earlier check read and that is now missing; at most a few."""
    look = 'check the cabling, the controller and the kernel log (dmesg -T); if it was removed for good, forget it'
    pairs = [halves(sentence) for sentence in sentences[:MOST_GONE]]
    lines = [Finding(CHECK, False, words, look, f'{PROGRAM} {advice.replace(" retires it", "")}')
             for words, advice in pairs]
    more = len(sentences) - len(lines)
    return lines + ([Finding(CHECK, False, f'{plural(more, "more drive")} of earlier checks missing')] if more else [])


def _nobody(state: State, sentence: str) -> Finding:
    if state is State.OK:
        return Finding(CHECK, True, sentence)
    words, advice = halves(sentence)
    return Finding(CHECK, False, words, advice or 'name the drives with -d')


def to_watch(survey: Survey) -> list[Device]:
    """Return the devices that a check of this machine should name: all except those that cannot hold a drive."""
    return [verdict.device for verdict, read in zip(survey.verdicts, survey.reads)
            if not isinstance(read.outcome, (DriveIsNoDrive, DriveAbsent, ControllerElsewhere))]
