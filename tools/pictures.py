#!/usr/bin/env python3
"""Draw doc/triage.svg, doc/page.png and doc/fleet.png: what `triage`, `triage --html` and `fleet
--html` show.

Usage: make pictures        (wants Chromium; the page's picture is drawn by the very browser that its tests run)
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import picture
from described import ROOT

PAGE = ROOT / 'doc' / 'page.png'
FLEET = ROOT / 'doc' / 'fleet.png'
HOSTS = 40
SIZE = 1440, 1040  # CSS pixels
WEEK = 7 * 86400


def drawn(html: Path, path: Path) -> None:
    """Draw a page as Chromium shows it."""
    sys.path.insert(0, str(ROOT / 'tests'))
    import browser

    chromium = browser.Browser()
    try:
        chromium.open(html, *SIZE)
        chromium.driver.save_screenshot(str(path))
    finally:
        chromium.driver.quit()


def fleet(path: Path = FLEET) -> None:
    """Draw the page of a fleet: hosts with a few of the sample drives each, some of which are
    not well.
    """
    document = json.loads(_document())
    well = [drive for drive in document['drives'] if drive['state'] == 'OK']
    with tempfile.TemporaryDirectory() as folder:
        for number in range(HOSTS):
            drives = [
                dict(
                    drive,
                    name=f'sd{"abcdefgh"[place]}',
                    serial=f'EXAMPLE{number:02}{place:02}',
                )
                for place, drive in enumerate(
                    [*well, *document['drives'][number % 13 : number % 13 + 2]]
                )
            ]
            (Path(folder) / f'db{number:02}.json').write_text(
                json.dumps({**document, 'state': 'OK', 'drives': drives})
            )
        html = Path(folder) / 'fleet.html'
        subprocess.run(
            [
                sys.executable,
                str(ROOT / 'check_smart_attributes'),
                'fleet',
                folder,
                '--html',
                str(html),
            ],
            check=True,
            stdout=subprocess.PIPE,
        )
        drawn(html, path)


def page(path: Path = PAGE) -> None:
    """Draw the page of the sample drives, with the history of a year."""
    from smart_attributes.output import page as faces_page

    document, now = json.loads(_document()), time.time()
    for number, drive in enumerate(document['drives']):
        drive['past'] = _year(drive, number, now)
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder) / 'drives.html'
        html.write_text(faces_page.page(document, 'Drives of db1', now))
        drawn(html, path)


def _year(
    drive: dict[str, Any], number: int, now: float
) -> dict[str, list[list[float]]]:
    """Return a made-up past of a drive: wear that rose evenly, and the temperature of each week."""
    values = {
        each['metric']: each['value'] for each in drive['readings'] if each['judged']
    }
    age, past = values.get('power_on_time') or 1, {}
    weeks = [now - week * WEEK for week in reversed(range(52))]
    if values.get('endurance_used') is not None:
        used = values['endurance_used']
        past['endurance_used'] = [
            [when, max(round(used - (now - when) * used / age), 0)] for when in weeks
        ]
    if values.get('temperature') is not None:
        past['temperature'] = [
            [when, values['temperature'] + (number + week) % 3 - 1]
            for week, when in enumerate(weeks)
        ]
    return past


def _document() -> bytes:
    command = [
        sys.executable,
        str(ROOT / 'check_smart_attributes'),
        'triage',
        '--report',
        picture.DRIVES,
        '--json',
    ]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout


if __name__ == '__main__':
    picture.write()
    page()
    fleet()
    print(*(path.relative_to(ROOT) for path in (picture.PICTURE, PAGE, FLEET)), 'drawn')
