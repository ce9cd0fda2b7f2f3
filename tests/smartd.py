"""The real smartd over simulated drives: the logs that it keeps of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import abilities
from simulator.descriptions import Description
from simulator.library import why_not
from simulator.machine import Machine

SMARTD = '/usr/sbin/smartd'
needed = abilities.mark(why_not() or abilities.without(SMARTD))


def look(folder: Path, drives: dict[str, Description], hours_ago: int) -> Machine:
    """Let smartd look once at drives and note it in *folder*; return the machine.

    A time zone so far in the west makes it write that so many hours are missing, 24 at most.
    """
    machine = Machine(folder / f'machine-{hours_ago}')
    for address, drive in drives.items():
        machine.add(address, drive)
    configuration = machine.folder / 'smartd.conf'
    configuration.write_text(
        ''.join(
            f'{path} -d {kind or ("scsi" if drive.protocol == "SCSI" else "sat")} -a\n'
            for address, drive in drives.items()
            for kind, _, path in [address.rpartition('@')]
        )
    )
    environment = {
        'LD_PRELOAD': str(next(machine.folder.glob('*.so'))),
        'SIMULATED_MACHINE': str(machine.folder),
        'TZ': f'WEST{hours_ago}',
    }
    done = subprocess.run(
        [
            SMARTD,
            '-q',
            'onecheck',
            '-c',
            str(configuration),
            '-A',
            f'{folder}/attrlog.',
            '-s',
            f'{folder}/state.',
        ],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return machine


def with_raw(drive: Description, **raws: int) -> Description:
    """The drive with other raw values: a199=3."""
    return drive._replace(
        attributes=tuple(
            row._replace(raw=str(raws.get(f'a{row.id}', row.raw))) for row in drive.attributes
        )
    )


def with_statistic(drive: Description, page: int, offset: int, number: int) -> Description:
    """The drive with another number in its device statistics."""
    return drive._replace(
        statistics=tuple(
            each._replace(number=number) if (each.page, each.offset) == (page, offset) else each
            for each in drive.statistics
        )
    )


def with_log(drive: Description, **numbers: object) -> Description:
    """The drive with other numbers in its SCSI logs: grown_defects=3."""
    return drive._replace(log={**drive.log, **numbers})
