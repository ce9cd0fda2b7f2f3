"""Chromium without a window, as Debian ships it: opens a page and tells what the page did."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import abilities
import pytest
from conftest import SOCKETS

ARGUMENTS = (
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
)
# What Chromium writes into its log of the page's network when nothing but the file itself is read.
OWN = ('file:', 'data:', 'about:', 'chrome:')


class Browser:
    """A Chromium that selenium drives; made for several pages, one after the other."""

    def __init__(self) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service

        options = Options()
        for argument in ARGUMENTS:
            options.add_argument(argument)
        options.binary_location = str(abilities.path_of('chromium'))
        options.set_capability(
            'goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'}
        )
        service = Service(
            str(abilities.path_of('chromedriver')),
            env={**os.environ, 'TMPDIR': SOCKETS},
        )
        self.driver: Any = webdriver.Chrome(options=options, service=service)

    def open(
        self, page: Path, width: int = 1400, height: int = 900, **features: str
    ) -> None:
        """Open a page in a window of a size; features: what its style asks for, such as
        prefers_color_scheme='dark'.
        """
        self.driver.execute_cdp_cmd(
            'Emulation.setDeviceMetricsOverride',
            {
                'width': width,
                'height': height,
                'deviceScaleFactor': 1,
                'mobile': width < 600,
            },
        )
        asked = [
            {'name': name.replace('_', '-'), 'value': value}
            for name, value in features.items()
        ]
        self.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': asked})
        for kind in ('browser', 'performance'):
            self.driver.get_log(kind)
        self.driver.get(page.as_uri())

    def run(self, script: str, *arguments: object) -> Any:
        """Run a function's body in the page and return what it returns."""
        return self.driver.execute_script(script, *arguments)

    def column(self, title: str) -> list[str]:
        """Return what stands in the cells of a column, from top to bottom."""
        found: list[str] = self.run(
            'return [...document.querySelectorAll("#rows > tr > [data-title=\'" + '
            'arguments[0] + "\']")]'
            '.map((cell) => cell.textContent)',
            title,
        )
        return found

    def said(self) -> list[str]:
        """Return the messages of the console, breaches of the page's policy among them, since
        the page was opened.
        """
        return [entry['message'] for entry in self.driver.get_log('browser')]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for, and lie outside of the page, since it was
        opened.
        """
        events: list[dict[str, Any]] = [
            json.loads(entry['message'])['message']
            for entry in self.driver.get_log('performance')
        ]
        urls = [
            event['params']['request']['url']
            for event in events
            if event['method'] == 'Network.requestWillBeSent'
        ]
        return [url for url in urls if not url.startswith(OWN)]


def missing() -> str | None:
    """Return the first program or library that a browser lacks here."""
    for program in ('chromium', 'chromedriver'):
        if not abilities.path_of(program):
            return f'{program} is not installed'
    try:
        import selenium.webdriver  # noqa: F401
    except ImportError:
        return 'selenium is not installed'
    return None


def started() -> Browser:
    """Return a browser; skips the test aloud where there is none."""
    why = missing()
    if why:
        pytest.skip(f'the page is not looked at: {why}')
    return Browser()
