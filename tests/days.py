"""A machine whose clock the test sets: the fake smartctl, drives that say what they are told to,
one check after another.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import warm
from conftest import ROOT, Result
from fake_smartctl import FakeSmartctl
from smartctl_output import as_json

from smart_attributes.history import drive_file
from smart_attributes.history.drive_file import DriveHistory
from smart_attributes.reading.smartctl_calls import read_arguments

START = 1_795_132_800  # 20 November 2026, 00:00
HOUR, DAY = 3600, 86_400
_SETUP = """
import sys, time
time.time = lambda: {now!r}
from smart_attributes.reading import addresses
addresses.SLOTS = {slots!r}
"""
_AT = """
import sys
sys.path.insert(0, {root!r})
sys.argv[0] = {root!r} + '/check_smart_attributes'
{setup}
from smart_attributes.main import main
main()
"""
ROWS = {
    5: 'Reallocated_Sector_Ct',
    9: 'Power_On_Hours',
    187: 'Reported_Uncorrect',
    194: 'Temperature_Celsius',
    197: 'Current_Pending_Sector',
    198: 'Offline_Uncorrectable',
    199: 'UDMA_CRC_Error_Count',
}


def command_at(
    now: float,
    *words: str,
    root: Path = ROOT,
    slots: str = '/nonexistent',
) -> list[str]:
    """Return the command line of the program at a time. root: that of the program.

    slots: the folder with udev's names of sockets.
    """
    setup = _SETUP.format(now=now, slots=slots)
    return [sys.executable, '-I', '-c', _AT.format(root=str(root), setup=setup), *words]


def environment() -> dict[str, str]:
    """Return what the program finds around it: little, and a folder of state of this test's own."""
    return {
        'PATH': '/usr/bin:/bin',
        'LC_ALL': 'C',
        'TZ': 'UTC',
        'XDG_STATE_HOME': os.environ['XDG_STATE_HOME'],
    }


def run_at(
    now: float,
    *words: str,
    slots: str = '/nonexistent',
    setup: str = '',
) -> Result:
    """Run the program at a time, as a daemon does. For the others see command_at()."""
    code, output = warm.call(
        warm.Request(
            words,
            str(Path.cwd()),
            environment(),
            _SETUP.format(now=now, slots=slots) + setup,
        )
    )
    return Result(code, output.decode())


def stored(state: Path) -> dict[str, DriveHistory]:
    """Return what the history in a state directory has of each drive, by serial number.

    Raises Damaged.
    """
    drives = [
        drive_file.parsed(path.read_bytes(), 0)
        for path in (state / 'history').glob('*.drive')
    ]
    return {drive.record.identity.serial: drive for drive in drives}


class Killed(NamedTuple):
    """What became of a check that may have been killed."""

    status: int  # exit status; negative: killed
    text: str


def killed(
    command: list[str], moment: tuple[bool, float] | None, typical: float
) -> Killed:
    """Run a check, and kill it and its children at a moment, unless it has ended.

    moment: whether counted from its answer, when a child writes the history, and the part of the
    time; None: never. typical: seconds of a check.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(),
        start_new_session=True,
    )
    first = b''
    if moment:
        is_after, part = moment
        assert process.stdout is not None
        first = os.read(process.stdout.fileno(), 100_000) if is_after else b''
        time.sleep(part * (0.02 if is_after else typical))
        with suppress(ProcessLookupError):
            # the session of a check has its number
            os.killpg(process.pid, signal.SIGKILL)
    text = (first + process.communicate(timeout=60)[0]).decode()
    return Killed(process.returncode, text)


def disk(serial: str = 'SERIAL01', **raw: int) -> dict[str, Any]:
    """Return what smartctl says of a healthy hard disk; a199=3: the raw number of attribute 199."""
    numbers = {
        **dict.fromkeys(ROWS, 0),
        9: 20_000,
        194: 30,
        **{int(name[1:]): number for name, number in raw.items()},
    }
    return as_json(
        {
            'model': 'ACME HD4000',
            'serial': serial,
            'firmware': '1.0',
            'rotation': '7200 rpm',
            'health': 'PASSED',
            'attributes': [
                [number, ROWS[number], '-O--CK', '100', '100', '000', '-', str(value)]
                for number, value in numbers.items()
            ],
        }
    )


def failing(serial: str = 'SERIAL01', **raw: int) -> dict[str, Any]:
    """Return the same of a disk whose health status is FAILED."""
    return {**disk(serial, **raw), 'smart_status': {'passed': False}}


def asleep() -> dict[str, Any]:
    """Return what smartctl says of a disk in standby."""
    return {
        'json_format_version': [1, 0],
        'smartctl': {
            'version': [7, 3],
            'exit_status': 2,
            'messages': [
                {
                    'string': 'Device is in STANDBY mode, exit(2)',
                    'severity': 'information',
                }
            ],
        },
        'power_mode': {'ata_value': 0},
    }


class Machine:
    """Drives under addresses, and a folder of state."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.state = folder, folder / 'state'
        self.state.mkdir()
        self.config = folder / 'config'
        self.config.mkdir()
        self.slots = folder / 'by-path'
        self.slots.mkdir()
        self.setup = ''  # code that runs before the program
        # drives that no scan finds, by path and type
        self.behind: dict[tuple[str, str], dict[str, Any]] = {}
        self._drives: dict[str, dict[str, Any]] = {}

    def has_slots(self, **slots: str) -> None:
        """Name the sockets of drives as udev does: sda='pci-0000:00:1f.2-ata-1'."""
        for link in self.slots.iterdir():
            link.unlink()
        for name, slot in slots.items():
            (self.slots / slot).symlink_to(f'/dev/{name}')

    def holds(self, **drives: dict[str, Any]) -> None:
        """Put drives at addresses: sda=disk()."""
        self._drives = {f'/dev/{name}': said for name, said in drives.items()}

    def check(self, now: float, *options: str) -> Result:
        """Run a check at a time, over all addresses that hold a drive unless *options* say
        otherwise.
        """
        return self.run(
            now,
            *options,
            *(
                word
                for address in self._drives
                for word in ('-d', address)
                if '-d' not in options and '--scan' not in options
            ),
        )

    def run(self, now: float, *words: str) -> Result:
        """Run a command at a time."""
        command, words = (
            (words[:1], words[1:])
            if words and not words[0].startswith('-')
            else ((), words)
        )
        return run_at(
            now,
            *command,
            *self.words(*words),
            slots=str(self.slots),
            setup=self.setup,
        )

    def words(self, *more: str) -> list[str]:
        """Return what the program must be told to find this machine."""
        return [
            '-p',
            self._smartctl(),
            '--nosudo',
            '--state-dir',
            str(self.state),
            '--config',
            str(self.config),
            *more,
        ]

    def _smartctl(self) -> str:
        """Return a smartctl that finds the drives at their addresses."""
        fake = FakeSmartctl(self.folder / 'fake')
        for address, said in self._drives.items():
            fake.answers(
                read_arguments(address),
                json.dumps(said),
                said['smartctl']['exit_status'],
            )
        for (path, kind), said in self.behind.items():
            fake.answers(read_arguments(path, kind), json.dumps(said))
        fake.answers(
            '--json=c --scan',
            json.dumps(
                {
                    'json_format_version': [1, 0],
                    'smartctl': {
                        'version': [7, 3],
                        'argv': ['smartctl', '--json=c', '--scan'],
                        'exit_status': 0,
                    },
                    'devices': [
                        {
                            'type': 'sat',
                            'protocol': 'ATA',
                            **said.get('device', {}),
                            'name': address,
                            'info_name': address,
                        }
                        for address, said in self._drives.items()
                    ],
                }
            ),
        )
        return fake.path
