"""What a check costs with the real smartctl on simulated drives; `make bench` calls it.

A drive takes 0, 5 or 20 ms for each command. "Alone" is one smartctl with the plugin's own
arguments; "by hand" are the smartctl calls for all drives at once, started by a shell: no plugin
can be faster.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Callable

import abilities
import performance
from bench_program import plugin
from simulator import Machine, why_not

from smart_attributes.reading import smartctl_calls

LATENCIES = (0, 5, 20)  # ms a command; a hard disk needs 1 to 30 for most of them, an SSD below 1
SATA = ('samsung-healthy', 'intel-worn', 'wd-hdd-healthy', 'micron-healthy')
RAID = ('sas-seagate-healthy', 'samsung-healthy', 'sas-ssd-worn', 'wd-hdd-healthy')

Address = tuple[str, str]  # type and path
# Those of bench.py: what, figure, wanted; and medians of (wall, cpu) of two commands with the ratio
# of their walls.
Line = Callable[[str, str, str], None]
Paired = Callable[..., tuple[Sequence[float], Sequence[float], float]]


def bench_bed(folder: Path, line: Line, paired: Paired) -> None:
    """Print a row for each latency and number of drives."""
    if why_not():
        line('simulated drives', f'skipped: {why_not()}', '')
        return
    for latency in LATENCIES:
        for count in (1, 8, 24):
            addresses = [('', f'/dev/sd{chr(97 + number)}') for number in range(count)]
            machine = filled(folder / f'sata-{latency}-{count}', addresses, SATA, latency)
            row(
                f'{count} SATA, {latency} ms a command', machine, addresses, addresses, line, paired
            )
    for latency in LATENCIES:
        addresses = [(f'megaraid,{slot}', '/dev/bus/0') for slot in range(8)]
        machine = filled(folder / f'raid-{latency}', addresses, RAID, latency)
        row(
            f'MegaRAID with 8, {latency} ms a command',
            machine,
            [('megaraid,0-7', '/dev/bus/0')],
            addresses,
            line,
            paired,
        )
    machine = filled(folder / 'scan', [('', '/dev/sda'), ('', '/dev/sdb'), *addresses], RAID, 5)
    row(
        'scan of 2 and MegaRAID with 8, 5 ms a command',
        machine,
        [],
        [('', '/dev/sda'), ('', '/dev/sdb'), *addresses],
        line,
        paired,
    )


def filled(
    folder: Path, addresses: Sequence[Address], drives: Sequence[str], latency: int
) -> Machine:
    """Return a machine with a different drive at each address."""
    machine = Machine(folder)
    for number, (kind, path) in enumerate(addresses):
        machine.add(
            f'{kind}@{path}' if kind else path,
            drives[number % len(drives)],
            serial=f'EXAMPLE-B-{number}',
            latency=latency,
        )
    return machine


def row(
    what: str,
    machine: Machine,
    asked: Sequence[Address],
    drives: Sequence[Address],
    line: Line,
    paired: Paired,
) -> None:
    """Measure the plugin against the slowest smartctl alone, and against all of them started by
    hand.
    """
    alone, by_hand = (
        slowest(machine, drives, paired),
        together(call(machine, each) for each in drives),
    )
    words = [word for kind, path in asked for word in ('-d', f'{kind}@{path}' if kind else path)]
    if not abilities.IS_ROOT:
        words += ['--nosudo']
    ours, hand, ratio = paired(
        [plugin(), '-p', machine.smartctl, *words], by_hand, 30 if len(drives) == 1 else 10
    )
    line(
        what,
        f'{ours[0]:.0f} ms; alone {alone:.0f} ms, ratio {ours[0] / alone:.2f}; by hand '
        f'{hand[0]:.0f} ms, '
        f'ratio {ratio:.2f}; '
        f'own CPU {ours[1] - hand[1]:.0f} ms',
        aims(len(drives), alone, ratio, ours[1] - hand[1]),
    )


def aims(count: int, alone: float, ratio: float, own: float) -> str:
    """Return the aims for so many drives, each with "met" or "missed"; '' if there are none.

    alone: smartctl for one drive, ms. ratio: the check to all smartctl calls by hand. own: CPU time
    of the plugin, ms.
    """
    if count == 1:
        by_hand = performance.aim('at most 1.15 x by hand', ratio, most=1.15, digits=2)
        cpu = performance.aim('own CPU at most 60 ms', own, most=60)
        return f'{by_hand}; {cpu}' if alone >= 100 else cpu
    # drives that answer at once leave no time to import modules
    most = 1.2 if alone >= 100 else 1.35
    return (
        performance.aim(f'at most {most} x by hand', ratio, most=most, digits=2)
        if count == 24
        else ''
    )


def call(machine: Machine, address: Address) -> list[str]:
    """Return the command line that the plugin reads a drive with."""
    return [machine.smartctl, *smartctl_calls.read_arguments(address[1], address[0])]


def slowest(machine: Machine, drives: Sequence[Address], paired: Paired) -> float:
    """Return the median wall time of the smartctl that takes longest, ms: SAS drives get more
    commands than SATA ones.
    """
    kinds = drives[:4]
    return max(paired(call(machine, address), call(machine, address), 5)[0][0] for address in kinds)


def together(calls: Iterable[Sequence[str]]) -> list[str]:
    """Return a shell that starts all of these at once and waits for them."""
    return ['/bin/sh', '-c', f'{" & ".join(map(shlex.join, calls))} & wait']
