"""A drive that vanishes is in the first line of the next check; what people do on purpose raises
nothing.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any, Callable, NamedTuple

import pytest
from days import DAY, HOUR, START, Machine, asleep, disk

SLOT, USB = 'pci-0000:00:17.0-ata-{}', 'pci-0000:00:14.0-usb-0:{}:1.0-scsi-0:0:0:0'
Drives = dict[str, dict[str, Any]]  # name -> what smartctl prints


class Bays(NamedTuple):
    """The drives of a machine, and the socket of each."""

    drives: Drives
    slots: dict[str, str]


def failing(serial: str) -> dict[str, Any]:
    return {**disk(serial, a5=2000), 'smart_status': {'passed': False}}


def some(dice: random.Random) -> Bays:
    """Return a machine with two to eight drives, some of them failing; udev names the sockets of
    every second one.
    """
    count = dice.randrange(2, 9)
    names = [f'sd{chr(97 + number)}' for number in range(count)]
    drives = {
        name: dice.choice([disk, disk, failing])(f'SERIAL{number:02}')
        for number, name in enumerate(names)
    }
    return Bays(
        drives,
        {name: SLOT.format(number) for number, name in enumerate(names)}
        if dice.random() < 0.5
        else {},
    )


def without(bays: Bays, name: str) -> Bays:
    return Bays(
        *({key: each for key, each in part.items() if key != name} for part in bays)
    )


def shifted(bays: Bays) -> Bays:
    """Return the machine after a restart: names are given anew, without a gap."""
    names = {name: f'sd{chr(97 + number)}' for number, name in enumerate(bays.drives)}
    return Bays(*({names[key]: each for key, each in part.items()} for part in bays))


def vanishes(bays: Bays, name: str, dice: random.Random) -> Bays:
    rest = without(bays, name)
    return shifted(rest) if dice.random() < 0.5 else rest


def is_replaced(bays: Bays, name: str, dice: random.Random) -> Bays:
    """Another drive is in its slot; only where the slot is known, it may have another name."""
    new = 'sdz' if bays.slots and dice.random() < 0.5 else name
    slots = {**without(bays, name).slots, new: bays.slots[name]} if bays.slots else {}
    return Bays({**without(bays, name).drives, new: disk('SERIAL99')}, slots)


def moves(bays: Bays, name: str, dice: random.Random) -> Bays:
    slots = {**without(bays, name).slots, 'sdz': SLOT.format(99)} if bays.slots else {}
    return Bays({**without(bays, name).drives, 'sdz': bays.drives[name]}, slots)


def sleeps(bays: Bays, name: str, dice: random.Random) -> Bays:
    return bays._replace(drives={**bays.drives, name: asleep()})


def shows(machine: Machine, bays: Bays) -> None:
    machine.holds(**bays.drives)
    machine.has_slots(**bays.slots)


@pytest.mark.parametrize(
    'event', [vanishes, is_replaced, moves, sleeps], ids=lambda event: event.__name__
)
def test_only_a_drive_that_vanishes_is_reported(
    tmp_path: Path, event: Callable[..., Bays]
) -> None:
    """PRESENCE=100 is the whole run: a seed for each machine, and each event on each machine."""
    for seed in range(int(os.environ.get('PRESENCE', '4'))):
        dice = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        machine, bays = Machine(folder), some(dice)
        shows(machine, bays)
        machine.check(START, '--scan')
        name = dice.choice(list(bays.drives))
        shows(machine, event(bays, name, dice))
        told = machine.check(START + HOUR, '--scan')

        serial = bays.drives[name]['serial_number']
        gone = [line for line in told.text.splitlines() if '[drive-missing] ' in line]
        assert bool(gone) is (event is vanishes), (seed, told.text)
        if gone:
            status = bays.drives[name].get('smart_status', {'passed': True})
            expected = 'WARNING' if status['passed'] else 'CRITICAL'
            assert serial in gone[-1] and gone[-1].startswith(expected), (
                seed,
                told.text,
            )
        assert not gone or told.code in (1, 2)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Two drives, one of which has vanished since the last check."""
    found = Machine(tmp_path)
    found.holds(sda=disk(), sdb=disk('SERIAL02'))
    found.check(START, '--scan')
    found.holds(sda=disk())
    return found


def state(machine: Machine, now: int, *options: str) -> int:
    return machine.check(now, '--scan', *options).code


@pytest.mark.parametrize(
    'options, code',
    [
        (('--missing', 'critical'), 2),
        (('--missing', 'ok'), 0),
        (('--no-history',), 0),
    ],
)
def test_a_site_chooses_the_state(machine: Machine, options: tuple, code: int) -> None:
    assert state(machine, START + HOUR, *options) == code


def test_an_acknowledged_drive_is_silent_until_it_has_been_back(
    machine: Machine,
) -> None:
    """Only root's file counts. Back once, it is missed again."""
    assert machine.run(START + HOUR, 'acknowledge', '--missing', 'SERIAL03').code == 3
    given = machine.run(
        START + HOUR, 'acknowledge', '--missing', 'SERIAL02', '--until', '2027-01-31'
    )
    assert given.code == 0 and 'acknowledged: SERIAL02 missing, by ' in given.text, (
        given.text
    )

    assert [state(machine, START + days * DAY) for days in (1, 60, 90)] == [0, 0, 1], (
        'until the day given'
    )
    machine.run(
        START + HOUR, 'acknowledge', '--missing', 'SERIAL02', '--why', 'sold to Ann'
    )
    assert [state(machine, START + days * DAY) for days in (91, 92)] == [0, 0]
    machine.holds(sda=disk(), sdb=disk('SERIAL02'))
    assert state(machine, START + 93 * DAY) == 0
    machine.holds(sda=disk())
    assert state(machine, START + 94 * DAY) == 1
    assert machine.run(START + 94 * DAY, 'acknowledge', '--list').text.startswith(
        'SERIAL02 missing, by '
    )
    assert (
        machine.run(
            START + 94 * DAY, 'acknowledge', '--withdraw', 'SERIAL02:missing'
        ).code
        == 0
    )
    assert 'SERIAL02' not in machine.run(START + 94 * DAY, 'acknowledge', '--list').text
