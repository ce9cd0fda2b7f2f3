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
from typing import TYPE_CHECKING

from described import ROOT

if TYPE_CHECKING:
    from conftest import Result

sys.path.append(str(ROOT / 'tests'))

# The documents with output: a block with one command of ours, then what it prints.
DOCUMENTS = ('README', 'doc/reference/output.md', 'doc/tutorial/first-check.md')
BLOCK = re.compile(
    r'(```console\n\$ (?:\.venv/bin/)?check_smart_attributes (.*)\n)((?:(?!```).*\n)+)'
)
LONGEST = 12  # lines of output in a document
WIDTHS = {'README': 150}  # columns of output in a document, if it has a limit
STATUS = '$ echo $?\n'  # a block that asks for the exit status shows it
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


def answer(arguments: list[str]) -> Result:
    """Return the output and the exit status of the program: for addresses, of the drives of the
    example; for --report, of the reports.
    """
    from conftest import drive, run
    from fake_smartctl import FakeSmartctl

    from smart_attributes.reading.smartctl_calls import read_arguments

    if '--report' in arguments:
        return run(*arguments, cwd=ROOT)
    with tempfile.TemporaryDirectory() as folder:
        fake = FakeSmartctl(Path(folder) / 'fake')
        for address, name in DRIVES:
            fake.answers(read_arguments(*address), drive(name))
        fake.answers(read_arguments('/dev/bus/0', 'megaraid,2'), json.dumps(EMPTY), 2)
        return run('-p', fake.path, '--nosudo', *arguments)


def short(output: str, width: int) -> str:
    """Return the first lines of an output, without trailing blanks, and the first three values
    of performance data. width: in columns; longer lines are cut.
    """
    lines = [line.rstrip() for line in output.splitlines()]
    shown = [
        ' '.join(line.split(' ')[:4]) + ' …' if line.startswith('| ') else line
        for line in lines[:LONGEST]
    ]
    shown = [
        line if len(line) <= width else f'{line[: width - 1].rstrip()}…'
        for line in shown
    ]
    if len(lines) > LONGEST:
        shown.append('…')
    return '\n'.join(shown) + '\n'


def filled(document: str) -> str:
    """Return a document with the output of today under each command, shortened."""

    def with_output(match: re.Match[str]) -> str:
        result = answer(shlex.split(match[2]))
        text = match[1] + short(result.text, WIDTHS.get(document, sys.maxsize))
        return f'{text}{STATUS}{result.code}\n' if STATUS in match[3] else text

    return BLOCK.sub(with_output, (ROOT / document).read_text())


def write() -> list[str]:
    """Show the output of today in the documents; return those that were out of date."""
    old = []
    for name in DOCUMENTS:
        text = filled(name)
        if text != (ROOT / name).read_text():
            (ROOT / name).write_text(text)
            old.append(name)
    return old
