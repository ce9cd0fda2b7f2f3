"""The output that the documents show: the real program, on sample drives behind a stand-in for smartctl."""
from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import List

from described import ROOT

sys.path.append(str(ROOT / 'tests'))

CALL = r'```console\n\$ check_smart_attributes -d /dev/nvme0.*?\n'
OUTPUT = r'((?:(?!```).*\n)+)'
DRIVES = ((('/dev/nvme0',), 'samsung-pm983-healthy'), (('/dev/bus/0', 'megaraid,0'), 'intel-worn'),
          (('/dev/bus/0', 'megaraid,1'), 'seagate-exos-failing'))
EMPTY = {'json_format_version': [1, 0], 'smartctl': {'version': [7, 3], 'exit_status': 2, 'messages': [
    {'string': 'Smartctl open device: /dev/bus/0 [megaraid_disk_02] failed: INQUIRY failed', 'severity': 'error'}]}}


def printed() -> str:
    """Return what the program prints for the drives of the example."""
    from conftest import drive, run
    from fake_smartctl import FakeSmartctl

    from smart_attributes.reading.smartctl_calls import read_arguments
    with tempfile.TemporaryDirectory() as folder:
        fake = FakeSmartctl(Path(folder) / 'fake')
        for arguments, name in DRIVES:
            fake.answers(read_arguments(*arguments), drive(name))
        fake.answers(read_arguments('/dev/bus/0', 'megaraid,2'), json.dumps(EMPTY), 2)
        return str(run('-p', fake.path, '--nosudo', '-d', '/dev/nvme0', '-d', 'megaraid,[0-2]@/dev/bus/0').text)


def short(output: str) -> str:
    """Return an output with three values of perfdata, for who has three minutes."""
    *lines, perfdata = output.splitlines()
    return '\n'.join([*lines, ' '.join(perfdata.split(' ')[:4]) + ' …']) + '\n'


def shown(document: str) -> str:
    """Return the output that a document shows under its call."""
    found = re.search(CALL + OUTPUT, (ROOT / document).read_text())
    return found[1] if found else ''


def write() -> List[str]:
    """Show the output of today in the documents; return those that were out of date."""
    output = printed()
    wanted = {'README': short(output), 'doc/reference/output.md': output}
    old = [name for name, text in wanted.items() if shown(name) != text]
    for name in old:
        page = (ROOT / name).read_text()
        (ROOT / name).write_text(re.sub(f'({CALL}){OUTPUT}', lambda match: match[1] + wanted[name], page))  # noqa: B023
    return old
