"""The output that the documents show: the real program, on sample drives behind a fake smartctl
or on reports.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
from pathlib import Path

from described import ROOT

sys.path.append(str(ROOT / 'tests'))

# The documents with output: a block with one command of ours, then what it prints.
DOCUMENTS = ('doc/reference/output.md', 'doc/tutorial/first-check.md')
BLOCK = re.compile(
    r'(```console\n\$ (?:\.venv/bin/)?check_smart_attributes (.*)\n)((?:(?!```).*\n)+)'
)
LONGEST = 12  # lines of output in a document
DRIVES = (
    (('/dev/nvme0',), 'samsung-pm983-healthy'),
    (('/dev/bus/0', 'megaraid,0'), 'intel-worn'),
    (('/dev/bus/0', 'megaraid,1'), 'seagate-exos-failing'),
)
EMPTY = {
    'json_format_version': [1, 0],
    'smartctl': {
        'version': [7, 3],
        'exit_status': 2,
        'messages': [
            {
                'string': 'Smartctl open device: /dev/bus/0 [megaraid_disk_02] failed: INQUIRY '
                'failed',
                'severity': 'error',
            }
        ],
    },
}


def printed(arguments: list[str]) -> str:
    """Return the output of the program: for addresses, of the drives of the example; for
    --report, of the reports.
    """
    from conftest import drive, run
    from fake_smartctl import FakeSmartctl

    from smart_attributes.reading.smartctl_calls import read_arguments

    if '--report' in arguments:
        return str(run(*arguments, cwd=ROOT).text)
    with tempfile.TemporaryDirectory() as folder:
        fake = FakeSmartctl(Path(folder) / 'fake')
        for address, name in DRIVES:
            fake.answers(read_arguments(*address), drive(name))
        fake.answers(read_arguments('/dev/bus/0', 'megaraid,2'), json.dumps(EMPTY), 2)
        return str(run('-p', fake.path, '--nosudo', *arguments).text)


def short(output: str) -> str:
    """Return the first lines of an output, without trailing blanks, and the first three values
    of performance data.
    """
    lines = [line.rstrip() for line in output.splitlines()]
    shown = [
        ' '.join(line.split(' ')[:4]) + ' …' if line.startswith('| ') else line
        for line in lines[:LONGEST]
    ]
    return '\n'.join([*shown, *(['…'] if len(lines) > LONGEST else [])]) + '\n'


def filled(document: str) -> str:
    """Return a document with the output of today under each command, shortened."""
    return BLOCK.sub(
        lambda match: match[1] + short(printed(shlex.split(match[2]))),
        (ROOT / document).read_text(),
    )


def write() -> list[str]:
    """Show the output of today in the documents; return those that were out of date."""
    old = {
        name: text
        for name in DOCUMENTS
        for text in [filled(name)]
        if text != (ROOT / name).read_text()
    }
    for name, text in old.items():
        (ROOT / name).write_text(text)
    return list(old)
