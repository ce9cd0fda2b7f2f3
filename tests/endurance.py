"""Endurance: machines of 24 simulated drives with random mixes of faults, the real smartctl.

Each turn of the storm makes a machine. What each drive must be told as is known beforehand, from
its file and from what was done to it.
"""

from __future__ import annotations

import itertools
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from conftest import Result, Value, perfdata, run
from simulator import Machine, names, read, why_not
from simulator.descriptions import Description

DRIVES = 24
DRIVE_TIMEOUT, TIMEOUT = 4, 20  # seconds
STARTING = 3  # seconds that Python and a loaded machine may take beside
URGENCY = ('OK', 'WARNING', 'UNKNOWN', 'CRITICAL')
SILENT = (
    'did not identify itself',
    'is an empty slot',
    'returns no SMART data',
    'identified itself but returned no data',
    'SMART/Health log cannot be read',
    'does not respond',
    'has no readable SMART data',
    'has no SMART: device lacks SMART capability',
    'stopped answering while it was read',
    'no answer within',
)
# What is done to a drive, and the words for it where it cannot be judged. From command 0 on it says
# nothing at all.
FAULTS: Mapping[str, tuple[Mapping[str, Any], Sequence[str]]] = {
    'slow': ({'latency': 5}, ()),
    'asleep': ({'asleep': True}, ('is in standby',)),
    'denied': ({'denied': True}, ('cannot be opened: Permission denied',)),
    'disabled': ({'disabled': True}, ('has SMART disabled',)),
    'hangs': ({'hang': 0}, (f'no answer within {DRIVE_TIMEOUT} s',)),
    'dead': ({'error': 0}, SILENT),
    'gone': ({'vanish': 0}, SILENT),
}
LATER = ('hang', 'error', 'vanish')  # at a random command
LOST = 'a command to the drive failed or a checksum was wrong'


class Drive(NamedTuple):
    """A drive of a machine."""

    address: str
    name: str  # in the output
    description: Description
    fault: str  # '' for none
    behaviour: Mapping[str, Any]

    @property
    def state(self) -> str:
        """What its file says of it, without any fault."""
        return str(self.description.expect['first_line'].split()[1])


def machine_of(dice: random.Random) -> list[Drive]:
    """Return 24 drives, half of them with a fault, some behind a RAID controller."""
    drives = [name for name in names() if not name.endswith('volume')]
    return [_drive(place, read(dice.choice(drives)), dice) for place in range(DRIVES)]


def _drive(place: int, description: Description, dice: random.Random) -> Drive:
    own = description._replace(serial=f'ENDURANCE{place:02}', wwn=f'5e1ec7{place:010x}')
    if own.protocol == 'NVMe':
        address = f'/dev/nvme{place}'
    elif _tells_behind_raid(own) and dice.random() < 0.4:
        address = f'megaraid,{place}@/dev/bus/0'
    else:
        address = f'/dev/sd{chr(ord("a") + place)}'
    fault, behaviour = _fault(address, own, dice)
    kind, _, path = address.rpartition('@')
    return Drive(
        address, path[5:] if not kind else f'bus_0_megaraid_{place}', own, fault, behaviour
    )


def _tells_behind_raid(drive: Description) -> bool:
    """Tell whether a drive fails there as well: smartctl can only ask the attributes of a SATA
    drive.
    """
    return drive.protocol == 'SCSI' or drive.health == 'PASSED'


def _fault(address: str, drive: Description, dice: random.Random) -> tuple[str, Mapping[str, Any]]:
    if dice.random() < 0.5:
        return '', {}
    # smartctl cannot ask a SATA drive behind MegaRAID whether it sleeps, and an NVMe drive does
    # not.
    is_raid, protocol = '@' in address, drive.protocol
    unfit = {
        'denied': is_raid,
        'disabled': protocol == 'NVMe',
        'asleep': protocol == 'NVMe' or (is_raid and protocol == 'ATA'),
    }
    possible = [fault for fault in FAULTS if not unfit.get(fault)]
    fault = dice.choice([*possible, *LATER])
    return (fault, {fault: dice.randrange(1, 16)}) if fault in LATER else (fault, FAULTS[fault][0])


# --- what must be told -----------------------------------------------------------------


def faults_of(drive: Drive, result: Result, values: Mapping[str, Value]) -> list[str]:
    """Return what is wrong with what was told of a drive."""
    lines = [
        line for line in result.text.splitlines()[1:] if re.match(rf'[A-Z]+ +{drive.name} ', line)
    ]
    if len(lines) != 1:
        return [f'{drive.name} has {len(lines)} lines']
    state, wrong = lines[0].split()[0], []
    if drive.fault == 'disabled' and _predicts_failure(drive):
        wrong = [] if state == 'CRITICAL' else ['is CRITICAL by its own word']
    elif drive.fault in ('', 'slow'):
        wrong = _misreported(drive, state, values)
    elif drive.fault in LATER:
        wrong = _lost(drive, state, lines[0], result.text)
    elif state != ('OK' if drive.fault == 'asleep' else 'UNKNOWN') or not any(
        words in lines[0] for words in FAULTS[drive.fault][1]
    ):
        wrong = ['is not told']
    return [
        f'{drive.name}, a {drive.description.name} ({drive.fault or "no fault"} '
        f'{dict(drive.behaviour)}): {fault}; '
        f'{lines[0]}'
        for fault in wrong
    ]


def _predicts_failure(drive: Drive) -> bool:
    """A SAS drive tells of a failure that it expects, however its exceptions are set; a SATA
    drive does not look.
    """
    return drive.description.protocol == 'SCSI' and drive.description.health != 'PASSED'


def _misreported(drive: Drive, state: str, values: Mapping[str, Value]) -> list[str]:
    """Return where a drive that answers is told otherwise than its file says."""
    prefix, wanted = f'{drive.name}_', drive.description.expect['perfdata']
    told = {
        label.removeprefix(prefix): value.number
        for label, value in values.items()
        if label.startswith(prefix)
    }
    wrong = [] if state == drive.state else [f'is {drive.state}']
    return wrong if told == wanted else [*wrong, f'has {wanted}, not {told}']


def _lost(drive: Drive, state: str, line: str, text: str) -> list[str]:
    """Return what is wrong with a drive that fell silent at some command: what it told before,
    counts.
    """
    if state == 'UNKNOWN':
        is_told = drive.state == 'UNKNOWN' or any(words in line for words in SILENT)
        return [] if is_told else ['is UNKNOWN without its reason']
    if state == drive.state:
        return []
    notes = text.partition(line)[2].split('\n')[1:]
    own = list(itertools.takewhile(lambda note: note.startswith(' '), notes))
    is_said = any(LOST in note or ' unknown: ' in note for note in own)
    is_better = URGENCY.index(state) < URGENCY.index(drive.state)
    return [] if is_better and is_said else [f'is {drive.state}']


# --- turns -----------------------------------------------------------------------------


class Endurance:
    """A bed of storm: a machine in each turn. Raises SystemExit where smartctl is missing."""

    def __init__(self, folder: Path, seed: int) -> None:
        if why_not():
            raise SystemExit(why_not())
        self._folder, self._seed = folder, seed
        self.counted: Counter[str] = Counter()

    def turn(self, number: int) -> list[str]:
        """Check all drives of a machine, and then those without a fault."""
        folder = self._folder / str(number)
        drives = machine_of(random.Random(f'{self._seed} {number}'))
        machine = Machine(folder / 'machine')
        for drive in drives:
            machine.add(drive.address, drive.description, **drive.behaviour)
            self.counted[drive.fault or 'without a fault'] += 1
        began = time.monotonic()
        result = _checked(machine, drives, folder / 'state')
        taken, values = time.monotonic() - began, perfdata(result.text)
        wrong = [fault for drive in drives for fault in faults_of(drive, result, values)]
        wrong += [f'{taken:.1f} s were taken'] if taken > TIMEOUT + STARTING else []
        sound = [drive for drive in drives if not drive.fault]
        again = _checked(machine, sound, folder / 'state')
        wrong += [line for line in again.text.splitlines() if 'history:' in line]
        wrong += [f'the exit status is {result.code}'] if result.code != _worst(result) else []
        wrong += [f'{len(left)} processes are left' for left in [_processes(machine)] if left]
        return wrong


def _checked(machine: Machine, drives: Sequence[Drive], state: Path) -> Result:
    state.mkdir(exist_ok=True)
    limits = ('--drive-timeout', str(DRIVE_TIMEOUT), '-t', str(TIMEOUT))
    known = ('-p', machine.smartctl, '--nosudo', '-v', '--state-dir', str(state))
    return run(*known, *limits, *(word for drive in drives for word in ('-d', drive.address)))


def _worst(result: Result) -> int:
    """Return the exit status that the lines ask for."""
    first = (line.partition(' ')[0] for line in result.text.splitlines()[1:])
    states = {word for word in first if word in URGENCY}
    return {'OK': 0, 'WARNING': 1, 'CRITICAL': 2, 'UNKNOWN': 3}[max(states, key=URGENCY.index)]


def _processes(machine: Machine) -> list[int]:
    """Return the processes that still talk to the drives of a machine, a second after the
    answer.
    """
    for _ in range(20):
        processes = [entry for entry in Path('/proc').iterdir() if entry.name.isdigit()]
        left = [int(entry.name) for entry in processes if _is_of(entry, machine)]
        if not left:
            break
        time.sleep(0.05)
    return left


def _is_of(process: Path, machine: Machine) -> bool:
    try:
        return f'SIMULATED_MACHINE={machine.folder}'.encode() in (
            process / 'environ'
        ).read_bytes().split(b'\0')
    except OSError:
        return False
