#!/usr/bin/env python3
"""Draw doc/triage.svg and doc/page.png: what `triage` and `triage --html` show of the sample drives.

Usage: make pictures        (wants Chromium; the page's picture is drawn by the very browser that its tests run)
"""
from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import picture
from described import ROOT

PAGE = ROOT / 'doc' / 'page.png'
SIZE = 1440, 1040      # CSS pixels


def page(path: Path = PAGE) -> None:
    """Draw the page as Chromium shows it."""
    sys.path.insert(0, str(ROOT / 'tests'))
    import browser

    from smart_attributes.faces import page as faces_page
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder) / 'drives.html'
        html.write_text(faces_page.page(json.loads(_document()), 'Drives of db1', time.time()))
        chromium = browser.Browser()
        try:
            chromium.open(html, *SIZE)
            chromium.driver.save_screenshot(str(path))
        finally:
            chromium.driver.quit()


def _document() -> bytes:
    command = [sys.executable, str(ROOT / 'check_smart_attributes'), 'triage', '--report', picture.DRIVES, '--json']
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout


if __name__ == '__main__':
    picture.write()
    page()
    print(f'{picture.PICTURE.relative_to(ROOT)}, {PAGE.relative_to(ROOT)}: drawn')
