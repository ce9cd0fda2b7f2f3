#!/usr/bin/env python3
"""Write doc/reference/alerts.md: what the program prints in each situation of tests/situations.py,
by real runs on simulated drives, and what it means.

Usage: make catalogue           (or .venv/bin/python tools/catalogue.py)
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from described import ROOT

sys.path.append(str(ROOT / 'tests'))
if TYPE_CHECKING:
    from situations import Situation

DOCUMENT = ROOT / 'doc/reference/alerts.md'
HEAD = """# What alerts mean

Each section shows a situation, the output of a check (without performance data) and the rows of
`triage`: the drives that are not OK, then the to-do list. `make catalogue` writes this document from
runs on simulated drives. See also [states](states.md), [limits](limits.md) and
[troubleshooting](../how-to/troubleshooting.md).
"""
# A line that says when the data were published, not what happened.
_DATED = re.compile('note: attributes.json of ')


def document() -> str:
    """Return the document."""
    parts, last = [HEAD], ''
    with tempfile.TemporaryDirectory(prefix='check-smart-alerts-') as folder:
        import situations

        for number, situation in enumerate(situations.ALL):
            if situation.chapter != last:
                last = situation.chapter
                parts.append(f'## {last}\n')
            parts.append(section(situation, Path(folder) / str(number)))
    return '\n'.join(parts)


def section(situation: Situation, folder: Path) -> str:
    """Return the section of a situation, whose runs take place in a folder."""
    meaning = f'{situation.meaning}\n\n' if situation.meaning else ''
    return f'### {situation.title}\n\n{meaning}```text\n{printed(situation, folder)}\n```\n'


def printed(situation: Situation, folder: Path) -> str:
    """Return the output of a check without performance data, a blank line, and the rows of
    triage.
    """
    from situations import shown

    output = shown(situation, folder)
    lines = [line.rstrip() for line in output.check.text.splitlines()]
    check = [
        line for line in lines if not line.startswith('| ') and not _DATED.match(line)
    ]
    return '\n'.join([*check, '', *rows(output.triage.text)]).rstrip()


def rows(triage: str) -> list[str]:
    """Return the rows of triage about drives that are not OK, and the work list."""
    lines = [line.rstrip() for line in triage.splitlines()]
    alerting = [line for line in lines if re.match('CRITICAL |WARNING |UNKNOWN ', line)]
    return [*alerting, *(line for line in lines if line.startswith('  '))]


def main() -> None:
    """Write the document."""
    import warm

    DOCUMENT.write_text(document())
    warm.stop()


if __name__ == '__main__':
    main()
