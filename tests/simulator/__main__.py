"""python -m simulator MACHINE [COMMAND ...]: run a command, or a shell, on a machine of simulated
drives.

MACHINE is a file of machines/, such as playground. `python -m simulator expect [DRIVE ...]`
rewrites what tests/drives/*.json expect the plugin to say; read the difference before you keep it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from conftest import perfdata

from . import descriptions, library
from .machine import MACHINES, Machine

PLUGIN = Path(sys.executable).parent / 'check_smart_attributes'

# In the playground the plugin needs no -p: it finds the simulated smartctl.
_PLUGIN_WRAPPER = """#!/bin/sh
case "$1" in
triage|list|explain|draft|sudoers|migrate|acknowledge|history|metrics|doctor)
    job=$1; shift; exec {plugin} "$job" -p {smartctl} --nosudo "$@";;
validate|fleet) exec {plugin} "$@";;
*) exec {plugin} -p {smartctl} --nosudo "$@";;
esac
"""
_WELCOME = """
{what}.
No drive here is real. Try:

    smartctl --scan
    smartctl -a {first}
    check_smart_attributes
    check_smart_attributes -d 'megaraid,[0-7]@/dev/bus/0' -v
    check_smart_attributes triage
    check_smart_attributes explain -d {first}

Leave with exit; the drives are files below {folder}.
"""


def main(arguments: list[str]) -> int:
    """Run what the command line asks for."""
    if library.why_not():
        print(library.why_not(), file=sys.stderr)
        return 1
    if not arguments or arguments[0].startswith('-'):
        print(__doc__)
        return 0 if arguments else 2
    if arguments[0] == 'expect':
        for name in arguments[1:] or descriptions.names():
            expect(name)
        return 0
    with tempfile.TemporaryDirectory(prefix='playground-') as folder:
        return play(arguments[0], arguments[1:], Path(folder))


def play(name: str, command: list[str], folder: Path) -> int:
    """Run *command*, without one a shell, where smartctl and the plugin see the machine."""
    machine = Machine.described(name, folder)
    wrapper = folder / 'bin/check_smart_attributes'
    wrapper.parent.mkdir()
    wrapper.write_text(_PLUGIN_WRAPPER.format(plugin=PLUGIN, smartctl=machine.smartctl))
    wrapper.chmod(0o755)
    (folder / 'bin/smartctl').symlink_to(machine.smartctl)
    environment = {
        **os.environ,
        'PATH': f'{folder}/bin:{os.environ["PATH"]}',
        'PS1': f'{name}$ ',
        'ENV': '',
    }
    if not command:
        about = json.loads((MACHINES / f'{name}.json').read_text())
        first = next(
            address
            for address, drive in about['drives'].items()
            if isinstance(drive, str)
        )
        print(_WELCOME.format(what=about['what'], first=first, folder=folder))
    status = subprocess.run(
        command or ['/bin/sh', '-i'], env=environment, check=False
    ).returncode
    # a shell hands on the status of the last command, which no one asked about
    return status if command else 0


# --- what the plugin must say -----------------------------------------------------------


def expect(name: str) -> None:
    """Rewrite the expectation at the end of a drive's file."""
    with tempfile.TemporaryDirectory() as folder:
        address = (
            '/dev/nvme0' if descriptions.read(name).protocol == 'NVMe' else '/dev/sda'
        )
        machine = Machine(Path(folder))
        machine.add(address, name)
        done = subprocess.run(
            [
                str(PLUGIN),
                '-p',
                machine.smartctl,
                '--nosudo',
                '-d',
                address,
                '--no-history',
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    label = address[len('/dev/') :]
    numbers: dict[str, float] = {
        key[len(label) + 1 :]: value.number
        for key, value in perfdata(done.stdout).items()
    }
    expected = {
        'first_line': descriptions.undated(
            re.sub(rf'\b{label}\b', '{drive}', done.stdout.splitlines()[0])
        ),
        'perfdata': {
            metric: int(number) if number == int(number) else number
            for metric, number in numbers.items()
        },
    }
    file = descriptions.FOLDER / f'{name}.json'
    kept = re.sub(r',\n  "expect": \{.*\Z', '\n}\n', file.read_text(), flags=re.DOTALL)
    lines = ',\n'.join(
        f'    {json.dumps(key)}: {json.dumps(value)}' for key, value in expected.items()
    )
    file.write_text(f'{kept[:-3]},\n  "expect": {{\n{lines}\n  }}\n}}\n')


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
