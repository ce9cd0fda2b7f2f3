"""Whether a drive that has several addresses is one drive, and a failing one never a healthy one.

Machines of simulated drives, which the real smartctl reads: each drive is at one to three of sdX,
sgN, megaraid, cciss, two paths and two namespaces. Some drives share a serial number or a WWN, some
are FAILED with clean attributes, some addresses do not answer, and some drives count errors while
they are read. An oracle compares what a check shows with what each address says alone.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from simulator import Machine, names, read
from simulator.descriptions import Description

from smart_attributes.check import inventory, same_drive, verdicts
from smart_attributes.check.survey import Survey, survey
from smart_attributes.commands.table import understood
from smart_attributes.model import Read, Report, State
from smart_attributes.reading.processes import Runner

DRIVES = {name: read(name) for name in names() if 'volume' not in name}
_TWINS, _EQUAL_WWN, _FAILED, _MUTE, _COUNTING = 0.2, 0.1, 0.2, 0.1, 0.1
_LATER = {'latency': 15}  # milliseconds a command, so that this address is read last


class Drive(NamedTuple):
    """A drive of a machine, and its addresses."""

    description: Description
    addresses: tuple[str, ...]
    mute: str = ''  # the address that does not answer
    counting: str = ''  # the address at which it has counted one error more


class Site:
    """A machine, made by dice."""

    def __init__(self, dice: random.Random, number: int) -> None:
        self.dice, self.number = dice, number
        self.letters, self.slots, self.controllers = 0, 0, 0
        self.drives: list[Drive] = []
        for _ in range(dice.randrange(2, 6)):
            self.drives.append(self._drive())

    def _drive(self) -> Drive:
        dice = self.dice
        serial, wwn = (
            f'M{self.number:05}{len(self.drives):03}',
            f'5e1ec7{self.number + 1:08x}{len(self.drives):02x}',
        )
        drive = DRIVES[dice.choice(list(DRIVES))]
        if self.drives and dice.random() < _TWINS:
            twin = dice.choice(self.drives).description
            drive = twin if dice.random() < 0.5 else _used(twin, dice)
            serial = twin.serial
            wwn = dice.choice(['', wwn])
        if self.drives and dice.random() < _EQUAL_WWN:
            wwn = dice.choice(self.drives).description.wwn
        if dice.random() < _FAILED:
            drive = _failed(drive)
        drive = drive._replace(serial=serial, wwn=wwn if drive.wwn else '')
        addresses = self._addresses(drive)
        mute = (
            dice.choice(addresses)
            if len(addresses) > 1 and dice.random() < _MUTE
            else ''
        )
        counting = (
            addresses[-1] if len(addresses) > 1 and dice.random() < _COUNTING else ''
        )
        return Drive(drive, addresses, mute, counting if counting != mute else '')

    def _addresses(self, drive: Description) -> tuple[str, ...]:
        if drive.protocol == 'NVMe':
            self.controllers += 1
            node = f'/dev/nvme{self.controllers}n1'
            return (
                (node, f'/dev/nvme{self.controllers + 20}n1')
                if self.dice.random() < 0.5
                else (node,)
            )
        self.letters += 1
        self.slots += 1
        ways = [
            f'/dev/sd{"abcdefghij"[self.letters]}',
            f'/dev/sg{self.letters}',
            f'/dev/sd{"klmnopqrst"[self.letters]}',
            self.dice.choice(
                [f'megaraid,{self.slots}@/dev/bus/0', f'cciss,{self.slots}@/dev/sg40']
            ),
        ]
        return tuple(self.dice.sample(ways, self.dice.randrange(1, 4)))

    def built(self, folder: Path) -> Machine:
        """Return the machine, in an empty folder."""
        machine = Machine(folder)
        for drive in self.drives:
            for address in drive.addresses:
                description, behavior = drive.description, {}
                if address == drive.counting:
                    description, behavior = with_one_error_more(description), _LATER
                if address == drive.mute:
                    behavior = {'error': self.dice.randrange(0, 4)}
                machine.add(address, description, **behavior)
        return machine


def _failed(drive: Description) -> Description:
    """Return a drive that says that it fails, and has no other finding."""
    if drive.protocol == 'NVMe':
        return drive._replace(health='FAILED', log={**drive.log, 'critical_warning': 4})
    return drive._replace(health='5d/10' if drive.protocol == 'SCSI' else 'FAILED')


def _used(drive: Description, dice: random.Random) -> Description:
    """Return a drive of the same model that has run for another time."""
    more = dice.randrange(50, 3000)
    if drive.log:
        return drive._replace(
            log=_more(drive.log, ('power_on_hours', 'power_cycles'), more)
        )
    rows = [
        row._replace(raw=str(int(row.raw) + more))
        if row.id in (9, 12) and row.raw.isdigit()
        else row
        for row in drive.attributes
    ]
    return drive._replace(attributes=tuple(rows))


def with_one_error_more(drive: Description) -> Description:
    """Return a drive that has counted one error more."""
    if drive.log:
        return drive._replace(
            log=_more(drive.log, ('media_errors', 'grown_defects'), 1)
        )
    rows = [
        row._replace(raw=str(int(row.raw) + 1))
        if row.id == 5 and row.raw.isdigit()
        else row
        for row in drive.attributes
    ]
    return drive._replace(attributes=tuple(rows))


def _more(log: object, keys: Sequence[str], more: int) -> dict[str, object]:
    assert isinstance(log, dict)
    return {
        key: value + more if key in keys and isinstance(value, int) else value
        for key, value in log.items()
    }


def faults_of(number: int, seed: int, folder: Path, counted: Counter[str]) -> list[str]:
    """Check one machine; return what the oracle does not allow, and count what it wants to know."""
    site = Site(random.Random(f'{seed} {number}'), number)
    machine = site.built(folder)
    try:
        result, groups = _checked(machine, site)
    finally:
        shutil.rmtree(folder)
    alone = {
        read.device.address: verdicts.verdict(read, result.judge, None).state
        for group in groups
        for read in group
        if isinstance(read.outcome, Report)
    }
    owners = {address: drive for drive in site.drives for address in drive.addresses}
    shown = {verdict.device.address: verdict.state for verdict in result.verdicts}
    faults = []
    for group in groups:
        addresses = [read.device.address for read in group]
        states = [alone[address] for address in addresses if address in alone]
        state = next(shown[address] for address in addresses if address in shown)
        worst = _worst_own(group, alone)
        if states and state.urgency < worst.urgency:
            faults.append(f'{addresses} is {state.name}, and {worst.name} alone')
        if any(_own_status(read) is False for read in group):
            counted['failed'] += 1
            if state is State.OK:
                faults.append(f'{addresses} has failed, and is OK')
        drives = {id(owners[address]): owners[address] for address in addresses}
        if len(drives) > 1:
            counted['merged twins'] += 1
            told = {
                read.device.address for read in group if _own_status(read) is not None
            }
            own = {
                _best(drive, alone)
                for drive in drives.values()
                if told & set(drive.addresses)
            } - {None}
            if len(own) > 1:
                counted['merged twins of other states'] += 1
                if not _is_strong(list(drives.values())):
                    faults.append(
                        f'{addresses} are merged, and would be judged differently'
                    )
    for drive in site.drives:
        places = [
            index
            for index, group in enumerate(groups)
            if any(read.device.address in drive.addresses for read in group)
            and any(read.identity and read.identity.serial for read in group)
        ]
        counted['drives'] += 1
        is_unsure = bool(drive.counting) and not drive.description.wwn
        counted['shown twice'] += len(set(places)) > 1 and not is_unsure
    return [f'machine {number} of seed {seed}: {fault}' for fault in faults]


def _own_status(read: Read) -> bool | None:
    """Return what the drive itself says of its health; behind some controllers it cannot."""
    return read.outcome.own_status if isinstance(read.outcome, Report) else None


def _worst_own(group: Sequence[Read], alone: dict[str, State]) -> State:
    """Return the worst state that an address has alone; a derived FAILED does not count beside a
    status of the drive.
    """
    return max(
        (alone.get(read.device.address, State.OK) for read in group),
        key=lambda state: state.urgency,
    )


def _best(drive: Drive, alone: dict[str, State]) -> State | None:
    states = [alone[address] for address in drive.addresses if address in alone]
    return max(states, key=lambda state: state.urgency, default=None)


def _is_strong(drives: Sequence[Drive]) -> bool:
    """Return whether drives have the same serial number and WWN, so that nothing tells them apart."""
    return len(
        {(drive.description.serial, drive.description.wwn) for drive in drives}
    ) == 1 and bool(drives[0].description.wwn)


def _checked(machine: Machine, site: Site) -> tuple[Survey, list[list[Read]]]:
    """Run a check; return its result, and the addresses of each drive that it shows."""
    words = ['-p', machine.smartctl, '--nosudo', '--no-history', '-t', '55']
    for drive in site.drives:
        for address in drive.addresses:
            words += ['-d', address]
    groups: list[list[Read]] = []

    def spied(
        reads: Sequence[Read], known: same_drive.Known
    ) -> list[same_drive.Distinct]:
        found = same_drive.distinct(reads, known)
        by_address = {read.device.address: read for read in reads}
        groups[:] = [
            [by_address[read.device.address] for read in (drive.read, *drive.others)]
            for drive in found
        ]
        return found

    with mock.patch.object(inventory, 'distinct', spied):
        options = understood(words)[1]
        return survey(options, Runner()), groups


class OneDrive:
    """The kind `addresses` of tests/storm.py: one machine each turn."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.counted: Counter[str] = Counter()

    def turn(self, number: int) -> list[str]:
        """Check one machine; return what the oracle does not allow."""
        self.counted['machines'] += 1
        return faults_of(number, self.seed, self.folder / 'machine', self.counted)
