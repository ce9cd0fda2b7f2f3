"""Count the instructions of a check, and compare them with the aims of the project: make bench.

Instructions are the same on every machine, whatever else runs there. valgrind counts each process
apart, so a check is counted without smartctl and without the processes that read and write its
history. Usage: tools/bench.py [PAGE], to write the figures into doc/explanation/performance.md.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'tests')]

from simulator import descriptions  # noqa: E402
from simulator.machine import Machine  # noqa: E402

from smart_attributes.constants import DAY  # noqa: E402
from smart_attributes.history import drive_file, folder  # noqa: E402
from smart_attributes.history.series import CHANGE, Key, Observation  # noqa: E402

PLUGIN = ROOT / '.venv/bin/check_smart_attributes'
VALGRIND = (
    'valgrind',
    '--tool=cachegrind',
    '--cache-sim=no',
    '--cachegrind-out-file=/dev/null',
)
COUNT = re.compile(r'^==(\d+)== I\s+refs:\s+([\d,]+)', re.MULTILINE)
DRIVE = 'seagate-hdd-healthy'
PAGE = """# What a check costs

Written by `make bench PAGE={page}`; do not edit it.
Each figure compares CPU instructions, counted by valgrind: their number is the same on every machine.
The figures for a check exclude smartctl and the processes that read and write the history.

| figure | measured | aim |
|---|---|---|
{rows}
"""


class Row(NamedTuple):
    """A figure with its aim."""

    name: str
    number: float
    unit: str
    aim: float


def instructions(*command: object, follows: bool = False) -> float:
    """Return the instructions of the first process of a command, in millions.

    follows: count the program that this process becomes.
    """
    trace = ['--trace-children=yes'] if follows else []
    words = [*VALGRIND, *trace, *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    counts = {
        int(pid): int(number.replace(',', ''))
        for pid, number in COUNT.findall(done.stderr)
    }
    if not counts:
        raise SystemExit(f'valgrind counted nothing: {done.stderr[-500:]}')
    return counts[min(counts)] / 1_000_000


def machine(place: Path, drives: int, health: str = 'PASSED') -> Machine:
    """Return a machine with healthy drives, the first of them with this health status."""
    made = Machine(place)
    for number in range(drives):
        drive = descriptions.read(DRIVE)
        if number == 0:
            drive = drive._replace(health=health)
        made.add(f'/dev/sd{chr(ord("a") + number)}', drive, f'SERIAL{number:02}')
    return made


def check(made: Machine, *options: object) -> list[object]:
    """Return the command of a check of all drives of a machine."""
    python = PLUGIN.read_text().splitlines()[0].removeprefix('#!').split()
    return [*python, PLUGIN, '-p', made.smartctl, '--nosudo', *options]


def with_history(made: Machine, state: Path) -> float:
    """Return the instructions of the second check of a new history."""
    state.mkdir()
    first = [str(word) for word in check(made, '--state-dir', state)]
    subprocess.run(first, stdout=subprocess.DEVNULL, check=False)
    return instructions(*check(made, '--state-dir', state))


def aged(state: Path, days: int) -> None:
    """Give the drives of a history the points of checks over this many days.

    Numbers that change all the time change each day; judged counters stay the same.
    """
    for path in sorted((state / 'history').glob(f'*{folder.DRIVE}')):
        drive = drive_file.parsed(path.read_bytes(), folder.number_in(path.name) or 0)
        now = drive.record.last_read
        begin = now - days * DAY
        record = drive.record._replace(first_read=begin, last_read=begin)
        old = drive_file.DriveHistory(record)
        older: dict[Key, drive_file.Series] = {}
        for day in range(days):
            read = []
            for key, series in drive.series.items():
                step = 0 if series.pace == CHANGE else day % 7
                number = series.points[-1].number + step
                read.append(Observation(key, number, series.pace))
            moment = now - (days - day) * DAY
            old = drive_file.with_readings(
                old, drive.record.identity, read, drive.verdict, moment
            )
            old, newer = drive_file.split(old)
            older = drive_file.joined(older, newer, moment)
        old = old._replace(places=drive.places)
        path.write_bytes(drive_file.text(old))
        days_file = old._replace(places=(), series=older)
        path.with_suffix(folder.DAYS).write_bytes(drive_file.text(days_file))


def rows(place: Path) -> Iterator[Row]:
    """Yield the figures. place: an empty directory."""
    python = instructions(sys.executable, '-IS', '-c', 'pass')
    one, many = machine(place / 'one', 1), machine(place / 'many', 24)
    smartctl = instructions('sh', one.smartctl, '-a', '/dev/sda', follows=True)
    alone, alone_24 = (
        instructions(*check(made, '--no-history')) for made in (one, many)
    )
    stored, stored_24 = (
        with_history(made, place / f'state{number}')
        for number, made in enumerate((one, many))
    )
    bad = instructions(*check(machine(place / 'bad', 1, 'FAILED'), '--no-history'))
    of_python = 'times those of starting Python'
    yield Row('one healthy drive', alone / python, of_python, 7.0)
    yield Row('one healthy drive, with history', stored / python, of_python, 7.8)
    further = 'times those of smartctl for a drive'
    yield Row('each further drive', (alone_24 - alone) / 23 / smartctl, further, 0.10)
    yield Row(
        'each further drive, with history',
        (stored_24 - stored) / 23 / smartctl,
        further,
        0.15,
    )
    yield Row('an alert', bad / alone, 'times those of a healthy check', 1.15)
    costs = []
    for days in (1, 365):
        aged(place / 'state1', days)
        costs.append(instructions(*check(many, '--state-dir', place / 'state1')))
    yield Row(
        '24 drives, extra instructions after a year of history',
        costs[1] - costs[0],
        'million',
        3,
    )


def main(arguments: Sequence[str]) -> int:
    """Print the figures, or write them into a page; return 1 if an aim is missed."""
    with tempfile.TemporaryDirectory() as place:
        found = list(rows(Path(place)))
    lines = [
        f'| {row.name} | {row.number:.3g} {row.unit} | {row.aim:g} |' for row in found
    ]
    if arguments:
        Path(arguments[0]).write_text(
            PAGE.format(page=arguments[0], rows='\n'.join(lines))
        )
    print('\n'.join(lines))
    return int(any(row.number > row.aim for row in found))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
