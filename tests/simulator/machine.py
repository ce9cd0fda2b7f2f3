"""A machine of simulated drives: a folder that smartctl takes for /dev, /sys and /proc.

machine = Machine(folder)
machine.add('/dev/sda', 'intel-s3500-worn')
machine.add('megaraid,4@/dev/bus/0', 'seagate-sas-healthy', latency=20)
subprocess.run([machine.smartctl, '--scan'])
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import ata, library, nvme, scsi
from .binary import Answers, big, little
from .descriptions import Description, read

MACHINES = Path(__file__).resolve().parent / 'machines'

_WRAPPER = """#!/bin/sh
# smartctl of a simulated machine. sudo drops LD_PRELOAD, so it is set here.
[ -r {library} ] || {{ echo "{library} is gone: no simulated drives" >&2; exit 64; }}
LD_PRELOAD={library} SIMULATED_MACHINE={machine} exec {smartctl} "$@"
"""
_MEGARAID_NODE = 'dev/megaraid_sas_ioctl_node'
# What the library can make a drive do; see struct drive in simulator.h.
_IN_C = ('latency', 'hang', 'error', 'vanish', 'denied', 'recorded')


class Machine:
    """Drives at the addresses that the plugin takes."""

    def __init__(self, folder: Path, smartctl: str = library.SMARTCTL) -> None:
        self.folder = Path(os.path.realpath(folder))
        for part in ('dev', 'sys/devices', 'sys/class/scsi_host', 'proc', 'drives'):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        self._write(
            'proc/devices',
            'Character devices:\n  1 mem\n 21 sg\n\nBlock devices:\n  8 sd\n',
        )
        self.smartctl = str(self._wrapper(smartctl))

    @classmethod
    def described(cls, name: str, folder: Path) -> Machine:
        """Return a machine of the folder machines/."""
        machine = cls(folder)
        for address, drive in json.loads((MACHINES / f'{name}.json').read_text())[
            'drives'
        ].items():
            about = {'drive': drive} if isinstance(drive, str) else dict(drive)
            machine.add(address, about.pop('drive'), **about)
        return machine

    def add(
        self, address: str, drive: str | Description, serial: str = '', **behaviour: Any
    ) -> Path:
        """Put a drive at an address such as /dev/sda, megaraid,4@/dev/bus/0 or cciss,0@/dev/sg0;
        return its folder.

        serial: instead of the described one.
        behaviour: latency in milliseconds; hang, error, vanish with the number of the command
            from which on it happens; denied, disabled, asleep, recorded (True);
            checksum with the name of the answer whose checksum is wrong.
        """
        description = read(drive) if isinstance(drive, str) else drive
        if serial:
            description = description._replace(serial=serial)
        kind, _, path = address.rpartition('@')
        slot = re.fullmatch(r'(?:sat\+)?(megaraid|cciss),(\d+)', kind)
        if slot and slot[1] == 'megaraid':
            folder = self._megaraid_slot(int(path.rpartition('/')[2]), int(slot[2]))
        elif slot:
            folder = self._cciss_slot(path, int(slot[2]))
        else:
            folder = f'drives/{path.rpartition("/")[2]}'
            self._node(path, folder, description.protocol, behaviour.pop('host', 0))
        return self._drive(folder, description, behaviour)

    def alias(self, path: str, device: str) -> None:
        """Make *path* (/dev/sg2) a second way to the drive at *device* (/dev/sda)."""
        target = self.folder / path.lstrip('/')
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((self.folder / device.lstrip('/')).read_text())

    def link(self, path: str, device: str) -> None:
        """Make *path* (/dev/disk/by-id/…) a symbolic link to *device*, as udev does."""
        target = self.folder / path.lstrip('/')
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(
            os.path.relpath(self.folder / device.lstrip('/'), target.parent)
        )

    def commands(self, folder: Path) -> list[str]:
        """Return the commands that a recorded drive has got: "ata ec 00 00", "scsi 12 00 00",
        "nvme 06 01".
        """
        file = folder / 'commands'
        return file.read_text().splitlines() if file.exists() else []

    # --- folders and files -------------------------------------------------------------

    def _write(self, path: str, data: str | bytes) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return file

    def _wrapper(self, smartctl: str) -> Path:
        # what happens to /tmp, or to another user's rights, is no matter then
        own = shutil.copy(library.built(), self.folder)
        library_, machine, program = (
            shlex.quote(str(part)) for part in (own, self.folder, smartctl)
        )
        file = self._write(
            'smartctl',
            _WRAPPER.format(library=library_, machine=machine, smartctl=program),
        )
        file.chmod(0o755)
        return file

    def _node(self, path: str, folder: str, protocol: str, host: int) -> None:
        """Make the node of a drive; an NVMe drive has one for itself and one for its namespace."""
        if protocol != 'NVMe':
            self._write(path.lstrip('/'), f'scsi {folder} {host}\n')
            return
        controller = re.sub(r'n\d+$', '', path)
        self._write(controller.lstrip('/'), f'nvme {folder} 0\n')
        self._write(controller.lstrip('/') + 'n1', f'nvme {folder} 1\n')

    def _drive(
        self, folder: str, description: Description, behaviour: Mapping[str, Any]
    ) -> Path:
        """Write what a drive answers, and how it behaves."""
        answers = _answers(description, behaviour)
        for name, data in answers.items():
            self._write(f'{folder}/{name}', data)
        settings = {name: int(behaviour[name]) for name in _IN_C if name in behaviour}
        settings['failed'] = int(description.health != 'PASSED')
        if behaviour.get('asleep'):
            settings['power'] = 0
        return self._write(
            f'{folder}/settings',
            ''.join(f'{name} {value}\n' for name, value in settings.items()),
        ).parent

    # --- controllers ---------------------------------------------------------------------

    def _megaraid_slot(self, host: int, slot: int) -> str:
        """Make a slot of a MegaRAID controller, and the controller with the first one."""
        if not (self.folder / _MEGARAID_NODE).exists():
            self._write(_MEGARAID_NODE, 'megaraid megaraid 0\n')
            with open(self.folder / 'proc/devices', 'a') as file:
                file.write('\n245 megaraid_sas_ioctl\n')
        folder = f'megaraid/{host}/{slot}'
        (self.folder / folder).mkdir(parents=True)
        self._write(f'sys/class/scsi_host/host{host}/proc_name', 'megaraid_sas\n')
        self._write(
            f'megaraid/{host}/list',
            _megaraid_list(_slots(self.folder / f'megaraid/{host}')),
        )
        return folder

    def _cciss_slot(self, path: str, slot: int) -> str:
        host = int(re.sub(r'\D', '', path))
        self._write(path.lstrip('/'), f'cciss cciss {host}\n')
        folder = f'cciss/{host}/{slot}'
        (self.folder / folder).mkdir(parents=True)
        self._write(
            f'cciss/{host}/luns',
            _cciss_list(1 + max(_slots(self.folder / f'cciss/{host}'))),
        )
        return folder


def _slots(folder: Path) -> list[int]:
    return sorted(int(entry.name) for entry in folder.iterdir() if entry.name.isdigit())


def _megaraid_list(slots: list[int]) -> bytes:
    """Return struct MR_PD_LIST: size, count, then 24 bytes for each drive with its number at the
    start.
    """
    return (
        little(8 + 24 * len(slots), 4)
        + little(len(slots), 4)
        + b''.join(little(slot, 2) + bytes(22) for slot in slots)
    )


def _cciss_list(count: int) -> bytes:
    """Return the answer to CISS_REPORT_PHYS: length, then eight bytes for each address."""
    return (
        big(8 * count, 4)
        + bytes(4)
        + b''.join(bytes([slot]) + bytes(7) for slot in range(count))
    )


def _answers(drive: Description, behaviour: Mapping[str, Any]) -> Answers:
    is_enabled = not behaviour.get('disabled')
    if drive.protocol == 'NVMe':
        found = nvme.answers(drive)
    elif drive.protocol == 'SCSI':
        found = scsi.answers(drive, is_enabled, bool(behaviour.get('asleep')))
    else:
        found = ata.answers(drive, is_enabled)
    wrong: str | None = behaviour.get('checksum')
    if wrong:
        found[wrong] = found[wrong][:-1] + bytes([found[wrong][-1] ^ 0x55])
    unknown = set(behaviour) - {*_IN_C, 'disabled', 'asleep', 'checksum'}
    if unknown:
        raise TypeError(f'a drive cannot be made to {", ".join(sorted(unknown))}')
    return found
