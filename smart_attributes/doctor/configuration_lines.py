"""Configuration lines for Icinga, Nagios or NRPE that check the drives of this machine. Pure."""
from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..command_line.options import PROGRAM
from ..constants import TIMEOUT
from ..model import BEHIND_NRPE
from ..output.doctor_findings import Paste
from ..reading.device_types import controller

AT_LEAST = 3   # consecutive slots before they are written as a range
_SLOT = re.compile(r'(.*[,/])([0-9]+)(@.*)')
_VARIABLES = {'--expect': 'expect', '-t': 'timeout', '-p': 'path', '--config': 'config', '--state-dir': 'state_dir'}


def pastes(addresses: Sequence[str], program: str, timeout: float, more: Sequence[str] = ()) -> list[Paste]:
    """Return a configuration line for each daemon.

    timeout: time limit of the check in seconds. more: other options of the check with their values: -p FILE.
    """
    if not addresses:
        return []
    named = ranges(addresses)
    limit = [] if timeout == TIMEOUT else ['-t', f'{timeout:g}']
    expected = ['--expect', str(len(addresses))] if len(named) < len(addresses) else []  # empty slots are skipped
    drives = [word for address in named for word in ('-d', address)]
    line = shlex.join([*more, *drives, *expected, *limit])
    options = [*more, *expected, *limit]
    listed = json.dumps(named).replace('$', '$$')
    icinga = ['vars.smart = true', f'vars.smart_attributes_device = {listed}',
              *(f'vars.smart_attributes_{_VARIABLES[name]} = {json.dumps(value)}'
                for name, value in zip(options[::2], options[1::2]) if name in _VARIABLES)]
    return [Paste('Icinga, in the Host', '\n'.join(icinga)),
            Paste('Nagios, in the service', f'check_command  smart_attributes_drives!{line}'),
            Paste('NRPE (call it with check_nrpe -t 60)',
                  f'command[{PROGRAM}]={program} --max-output {BEHIND_NRPE} {line}')]


def ranges(addresses: Sequence[str]) -> list[str]:
    """Return the addresses, with consecutive slots of one controller as a range: megaraid,0-7@/dev/bus/0."""
    others: list[str] = []
    slots: dict[tuple[str, str], list[int]] = {}
    for address in addresses:
        parts = _SLOT.fullmatch(address)
        kind = controller(parts[1]) if parts else None
        if parts and kind and len(kind.slots) == 1:
            slots.setdefault((parts[1], parts[3]), []).append(int(parts[2]))
        else:
            others.append(address)
    return others + [f'{head}{run}{tail}' for (head, tail), numbers in slots.items() for run in _runs(sorted(numbers))]


def _runs(slots: Sequence[int]) -> Iterator[str]:
    """Yield a range such as "0-7" for AT_LEAST or more consecutive slots, and every other slot by itself."""
    for _, pairs in groupby(enumerate(slots), key=lambda pair: pair[1] - pair[0]):
        run = [str(slot) for _, slot in pairs]
        yield from [f'{run[0]}-{run[-1]}'] if len(run) >= AT_LEAST else run
