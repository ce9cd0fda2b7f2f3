"""The lines for the configuration of Icinga, Nagios or NRPE that check the drives of this machine. Pure."""

import json
import re
import shlex
from typing import Dict, List, Sequence, Tuple

from ..command_line.options import PROGRAM
from ..constants import TIMEOUT
from ..model import BEHIND_NRPE
from ..output.doctor_findings import Paste
from ..reading.device_types import controller

USUAL_PLACE = f'/usr/lib/nagios/plugins/{PROGRAM}'
AT_LEAST = 3   # slots one after the other, before they are written as a range
_SLOT = re.compile(r'(.*[,/])([0-9]+)(@.*)')


def pastes(addresses: Sequence[str], program: str, timeout: float, more: Sequence[str] = ()) -> List[Paste]:
    """Return a line for each daemon.

    timeout: of the check, in seconds. more: what else a command line needs, as -p FILE.
    """
    if not addresses:
        return []
    named = ranges(addresses)
    limit = [] if timeout == TIMEOUT else ['-t', f'{timeout:g}']
    expected = ['--expect', str(len(addresses))] if len(named) < len(addresses) else []  # empty slots are passed over
    words = [*more, *(word for address in named for word in ('-d', address)), *expected, *limit]
    line = ' '.join(map(shlex.quote, words))
    return [Paste('Icinga, in the Host', '\n'.join(_icinga(named, [*more, *expected, *limit]))),
            Paste('Nagios, in the service', f'check_command  smart_attributes_drives!{line}'),
            Paste('NRPE (ask it with check_nrpe -t 60)',
                  f'command[{PROGRAM}]={program} --max-output {BEHIND_NRPE} {line}')]


def _icinga(named: Sequence[str], words: Sequence[str]) -> List[str]:
    variables = {'--expect': 'expect', '-t': 'timeout', '-p': 'path', '--config': 'config', '--state-dir': 'state_dir'}
    given = dict(zip(words[::2], words[1::2]))
    listed = json.dumps(list(named)).replace('$', '$$')
    return ['vars.smart = true', f'vars.smart_attributes_device = {listed}',
            *(f'vars.smart_attributes_{variables[name]} = {json.dumps(value)}' for name, value in given.items()
              if name in variables)]


def ranges(addresses: Sequence[str]) -> List[str]:
    """Return the addresses, slots of one controller that follow each other as a range: megaraid,0-7@/dev/bus/0."""
    kept: List[str] = []
    runs: Dict[Tuple[str, str], List[int]] = {}
    for address in addresses:
        slot = _SLOT.fullmatch(address)
        kind = controller(slot[1]) if slot else None
        if slot and kind and len(kind.slots) == 1:
            runs.setdefault((slot[1], slot[3]), []).append(int(slot[2]))
        else:
            kept.append(address)
    return kept + [f'{head}{part}{tail}' for (head, tail), slots in runs.items() for part in _parts(sorted(slots))]


def _parts(slots: Sequence[int]) -> List[str]:
    runs: List[List[int]] = []
    for slot in slots:
        if runs and slot == runs[-1][-1] + 1:
            runs[-1].append(slot)
        else:
            runs.append([slot])
    return [part for run in runs for part in ([f'{run[0]}-{run[-1]}'] if len(run) >= AT_LEAST else map(str, run))]
