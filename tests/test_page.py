"""`triage --html`: one file to look at, in a real browser, however many drives and whatever they
call themselves.
"""

from __future__ import annotations

import base64
import builtins
import hashlib
import html
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import abilities
import browser
import pytest
from conftest import ROOT, run

from smart_attributes.commands import person
from smart_attributes.errors import SmartError
from smart_attributes.output import page
from smart_attributes.words import visible
from smart_attributes.work import actions

REPORTS = str(ROOT / 'tests/reports')
NOW = 1.8e9
HOSTILE = [
    '</script ><script >alert(1)',
    '</script><script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '{{ 7*7 }}{% raw %}',
    '<!--<script>',
    '&lt;b&gt;',
    '\'"`${alert(1)}',
    'javascript:alert(1)',
    '__proto__',
    'a\u202eb\x1b[2Jc\u2028d',
]

OF_A_DRIVE = (
    'host',
    'name',
    'device',
    'type',
    'model',
    'serial',
    'firmware',
    'entry',
    'why',
    'bay',
    'locate',
)
OF_A_READING = ('source', 'warning', 'critical', 'reason', 'said', 'unit', 'growth')


@pytest.fixture(scope='module')
def sample() -> dict[str, Any]:
    """The document of the sample drives."""
    document: dict[str, Any] = json.loads(
        run('triage', '--json', '--report', REPORTS).text
    )
    return document


@pytest.fixture(scope='module')
def chromium(loopback) -> Iterator[browser.Browser]:
    made = browser.started()
    yield made
    made.driver.quit()


def grown(sample: dict[str, Any], count: int) -> dict[str, Any]:
    """Return a document of many drives on forty hosts, all that a drive can tell with some of
    them.
    """
    drives: list[dict[str, Any]] = []
    for number in range(count):
        drive = dict(sample['drives'][number % len(sample['drives'])])
        drive.update(
            readings=[dict(reading) for reading in drive['readings']],
            host=f'db{number % 40:02}.example.org',
            name=f'sd{number}',
            device=f'/dev/sd{number}',
            serial=f'EXAMPLE{number:06}',
            bay=f'slot {number % 24}',
            depends=[{'text': 'md0 (raid1, /srv), tolerates 1 further loss'}],
        )
        for reading in drive['readings']:
            if isinstance(reading['value'], int) and reading['value'] > 9:
                reading['value'] += number % 7
                reading.pop('said')
        if number % 10 == 1:
            drive['readings'][0]['growth'] = 'grew by 3 in 24 h'
            drive.update(
                past={
                    'endurance_used': [[NOW - 9e6, 1], [NOW - 5e6, 3], [NOW - 1e6, 4]]
                },
                locate='ledctl --listed-only locate=/dev/sdb',
            )
        drives.append(drive)
    return {
        **sample,
        'drives': drives,
        'work': worked(drives),
        'notes': [noted('slot 9 was not looked at')],
    }


def worked(drives: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the work list of drives, the most urgent first."""
    return [
        {key: drive[key] for key in ('name', 'action', 'reason')}
        for drive in sorted(drives, key=lambda drive: actions.urgency(drive['action']))
    ]


def noted(text: str) -> dict[str, str]:
    return {'code': text, 'text': text}


def written(folder: Path, document: dict[str, Any], name: str = 'drives.html') -> Path:
    path = folder / name
    person.write(page.page(document, 'Drives of db1', NOW), str(path))
    return path


@pytest.fixture(scope='module')
def sixty(sample, tmp_path_factory) -> Path:
    return written(tmp_path_factory.mktemp('page'), grown(sample, 60))


# --- the file ------------------------------------------------------------------------------------


def test_triage_writes_one_page(tmp_path):
    """Readable for a web server, and the screen says where it is."""
    done = run('triage', '--report', REPORTS, '--html', str(tmp_path / 'drives.html'))

    assert (done.code, done.text) == (0, f'written: {tmp_path}/drives.html\n')
    assert stat.S_IMODE((tmp_path / 'drives.html').stat().st_mode) == 0o644
    assert [path.name for path in tmp_path.iterdir()] == ['drives.html']


@pytest.mark.parametrize(
    'kind, reason',
    [
        (
            'absent',
            'No such file or directory; use a path in a directory that you can write to',
        ),
        (
            'full',
            'No space left on device; use a path in a directory that you can write to',
        ),
        ('pipe', 'it is not a regular file; use another path'),
    ],
)
def test_a_file_that_cannot_be_written_stays_as_it_was(
    tmp_path, monkeypatch, kind, reason
):
    """Whoever looks at it in this moment sees the old one; `--html /dev/null` as root makes no
    file of it.
    """
    path = tmp_path / ('no/drives.html' if kind == 'absent' else 'drives.html')

    def full(*_: object) -> None:
        raise OSError(28, 'No space left on device')

    if kind == 'pipe':
        os.mkfifo(path)
    elif kind == 'full':
        path.write_text('before')
        monkeypatch.setattr(os, 'fchmod', full)
    with pytest.raises(SmartError) as caught:
        person.write('another', str(path))

    assert str(caught.value) == f'{path}: cannot be written: {reason}'
    assert [found.is_fifo() or found.read_text() for found in tmp_path.iterdir()] == {
        'absent': [],
        'full': ['before'],
        'pipe': [True],
    }[kind]


def test_without_jinja_a_sentence_says_what_to_install(monkeypatch, sample):
    """It is an extra: checks do without."""
    real = builtins.__import__

    def without(name: str, *arguments: Any, **named: Any) -> Any:
        if name.startswith('jinja2'):
            raise ImportError(name)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, '__import__', without)
    with pytest.raises(SmartError, match='-m pip install Jinja2'):
        page.page(sample, 'Drives', NOW)


def test_no_string_of_a_drive_is_markup_in_the_file(sample):
    """Neither in what Jinja2 writes nor among the data, whether a browser is there to look or
    not.
    """
    document = grown(sample, len(HOSTILE))
    for drive, hostile in zip(document['drives'], HOSTILE):
        drive.update(
            dict.fromkeys(OF_A_DRIVE, f'{hostile}<i>&'),
            notes=[noted(hostile)],
            action='replace',
        )
    hostile_notes = [noted(f'{hostile}<i>&') for hostile in HOSTILE]
    document.update(
        work=worked(document['drives']), notes=hostile_notes, remarks=hostile_notes
    )
    text = page.page(document, visible(' '.join(HOSTILE)), NOW)
    before, _, rest = text.partition('<script type="application/json"')
    data, _, after = rest.partition('</script>')

    assert '<i>' not in text and '&lt;i&gt;&amp;' in before
    assert not set(data.partition('>')[2]) & set('<>&')
    assert json.loads(data.partition('>')[2])['drives']
    assert (
        text.count('<script'),
        after.count('<script'),
        '<img' in text,
        '\x1b' in text,
    ) == (
        2,
        1,
        False,
        False,
    )


def test_the_policy_of_the_page_admits_its_own_script_and_style_alone(sample):
    """By their hashes: a browser runs nothing else and loads nothing."""
    text = page.page(sample, 'Drives', NOW)
    [policy] = re.findall(
        'http-equiv="Content-Security-Policy" content="([^"]+)"', text
    )
    told = dict(part.split(' ', 1) for part in html.unescape(policy).split('; '))
    [script] = re.findall('<script>(.*?)</script>', text, re.DOTALL)
    [style] = re.findall('<style>(.*?)</style>', text, re.DOTALL)

    def hashed(code: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"

    assert told == {
        'default-src': "'none'",
        'base-uri': "'none'",
        'form-action': "'none'",
        'script-src': hashed(script),
        'style-src': hashed(style),
    }


# --- in the browser ------------------------------------------------------------------------------


def test_the_policy_of_the_page_stops_a_foreign_script_and_any_request(chromium, sixty):
    """The last wall, should a string of a drive ever get through the others."""
    chromium.open(sixty)
    chromium.run(
        'const foreign = document.createElement("script"); foreign.textContent = '
        '"window.isForeign = true";'
        'document.body.append(foreign); const image = document.createElement("img"); image.src = '
        '"https://example.org/x.png";'
        'document.body.append(image); image.setAttribute("style", "color: red")'
    )
    time.sleep(0.2)

    assert chromium.run('return window.isForeign') is None
    told = ' '.join(chromium.said())
    assert all(
        directive in told for directive in ('script-src', 'img-src', 'style-src')
    )


def test_a_click_on_a_title_sorts_and_another_one_turns_it_round(chromium, sixty):
    """What is not told stands last, whichever way."""
    chromium.open(sixty)
    used = chromium.run(
        'return [...document.querySelectorAll("#head button")].find((button) => button.textContent '
        '=== "Used")'
    )
    used.click()
    falling = chromium.column('Used')
    used.click()
    rising = chromium.column('Used')

    numbers = [int(text.split()[0]) for text in falling if text]
    assert len(numbers) > 20 and numbers == sorted(numbers, reverse=True)
    assert [int(text.split()[0]) for text in rising if text] == sorted(numbers)
    assert falling[-1] == rising[-1] == ''
    assert (
        chromium.run(
            'return document.querySelector("[data-key=used]").getAttribute("aria-sort")'
        )
        == 'ascending'
    )


@pytest.mark.parametrize(
    'field_id, value, column, wanted',
    [
        pytest.param('state', 'CRITICAL', 'State', 'CRITICAL', id='state'),
        pytest.param(
            'model',
            'HGST HUS724020ALA640',
            'Model, serial',
            'HGST HUS724020ALA640EXAMPLE',
            id='model',
        ),
        pytest.param(
            'action', 'order', 'What to do', 'Order a replacement', id='what-to-do'
        ),
        pytest.param(
            'text',
            'DB04 example0000',
            'Host',
            'db04',
            id='text-of-two-words-in-any-case',
        ),
    ],
)
def test_filters_leave_what_was_asked_for(
    chromium, sixty, field_id, value, column, wanted
):
    """And the count says how many of how many."""
    chromium.open(sixty)
    chromium.run(
        'const field = document.getElementById(arguments[0]); field.value = arguments[1]; '
        'field.dispatchEvent(new Event("input"))',
        field_id,
        value,
    )
    shown = chromium.column(column)

    assert 0 < len(shown) < 60
    assert all(cell.startswith(wanted) for cell in shown)
    assert (chromium.said(), chromium.requests()) == ([], [])
    assert (
        chromium.run('return document.getElementById("shown").textContent')
        == f'{len(shown)} of 60'
    )


def test_the_keyboard_sorts_and_opens_a_panel(chromium, sixty):
    """Tab to a title, Enter; Tab to a drive, Enter; with reasons, history as a line, and what
    stands on the drive.
    """
    from selenium.webdriver.common.keys import Keys

    chromium.open(sixty)
    chromium.run('document.getElementById("model").focus()')
    for _ in range(2):  # State, Host
        chromium.driver.switch_to.active_element.send_keys(Keys.TAB)
    chromium.driver.switch_to.active_element.send_keys(Keys.ENTER)
    hosts = chromium.column('Host')
    while chromium.run(
        'return !document.activeElement.closest("th.name") || '
        '!document.activeElement.closest("#rows")'
    ):
        chromium.driver.switch_to.active_element.send_keys(Keys.TAB)
    chromium.run('document.querySelectorAll("th.name button")[1].focus()')
    chromium.driver.switch_to.active_element.send_keys(Keys.ENTER)
    panel = chromium.run('return document.querySelector("tr.panel").textContent')

    assert hosts == sorted(hosts)
    assert (
        chromium.run('return document.activeElement.getAttribute("aria-expanded")')
        == 'true'
    )
    assert 'in use bymd0' in panel


LONG = {
    'name': 'bus_0_megaraid_112',
    'device': '/dev/bus/0',
    'type': 'megaraid,112',
    'model': 'SAMSUNG MZILT1T9HAJQ0D3-ENTERPRISE-EDITION',
    'serial': 'S5EXAMPLE0000012345-ABCDEFGH-0001',
    'bay': 'enclosure 12, slot 12 of 24',
    'firmware': 'FIRMWARE-WITH-A-LONG-NAME',
    'depends': [
        {
            'text': 'md127 (raid10, /srv/a/long/mount/point, sdc1 faulty, 1 member missing), '
            'rebuilding, '
            'tolerates no further loss'
        }
    ],
}
HOST = 'ceph-osd-rack17-node04.storage.production.example.org'
# Elements with more content than room: what scrolls, what is cut, and the page itself.
TOO_WIDE = """return [document.documentElement, ...document.querySelectorAll(
    'main, .tools, .scroll, table, th, td, td > *, th > *, .action li, .action li > *, .group, .group p, .group li, '
    + '.group li *')]
    .filter((each) => each.clientWidth && each.scrollWidth > each.clientWidth)
    .map((each) => [each.tagName, each.className, each.scrollWidth, each.clientWidth, each.textContent.slice(0, 60)])"""
WIDTH_OF_WHAT = 'return document.querySelector("#rows td.what").offsetWidth'
OPEN_PANELS = (
    'document.querySelectorAll("#rows th.name button").forEach((each, place) => '
    '{ if (place < 4) each.click(); })'
)


def with_long_names(sample: dict[str, Any], host: str = '') -> dict[str, Any]:
    """Return a document of drives with bays; every other one has names as long as real ones get."""
    document = grown(sample, 26)
    for number, drive in enumerate(document['drives']):
        drive.update(LONG if number % 2 == 0 else {}, host=host)
        if not host:
            del drive['host']
    return document


@pytest.fixture(scope='module')
def long_names(sample, tmp_path_factory) -> dict[str, Path]:
    """The page of one machine, which has no column of hosts, and that of a fleet."""
    folder = tmp_path_factory.mktemp('long')
    (folder / 'documents').mkdir()
    for host in (HOST, 'db1'):
        (folder / f'documents/{host}.json').write_text(
            json.dumps(with_long_names(sample, host))
        )
    done = run('fleet', str(folder / 'documents'), '--html', str(folder / 'fleet.html'))
    assert done.code == 0
    return {
        'machine': written(folder, with_long_names(sample), 'machine.html'),
        'fleet': folder / 'fleet.html',
    }


# A phone and a screen at each `make test`, all widths in CI.
WIDTHS = {390: 844, 768: 1024, 1024: 768, 1440: 900, 1920: 1080}
EACH_WIDTH = pytest.mark.parametrize(
    'width',
    [
        390,
        1440,
        *(pytest.param(width, marks=pytest.mark.long) for width in (768, 1024, 1920)),
    ],
)
IN_SIGHT = """const box = document.querySelector('#rows td.what').getBoundingClientRect();
    const range = document.createRange(); range.selectNodeContents(document.querySelector('#rows td.state'));
    return box.left >= 0 && box.right <= innerWidth && box.width >= 220 && range.getClientRects().length === 1"""


@EACH_WIDTH
@pytest.mark.parametrize('kind', ['machine', 'fleet'])
def test_nothing_is_wider_than_its_box(chromium, long_names, kind, width):
    """With bay, host and long names. On small screens the counts of a fleet may scroll.

    What to do is in sight, wide enough to read, and the state beside it in one line.
    """
    chromium.open(long_names[kind], width)
    if width < 1024:
        chromium.run(
            'document.querySelectorAll(".scroll:has(.fleet)").forEach((each) => each.remove())'
        )
    closed, wide = chromium.run(TOO_WIDE), chromium.run(WIDTH_OF_WHAT)
    chromium.run(OPEN_PANELS)

    assert closed == []
    assert chromium.run(TOO_WIDE) == []
    assert chromium.run(WIDTH_OF_WHAT) == wide
    assert width < 1024 or chromium.run(IN_SIGHT)


def array(
    name: str, level: str, tolerates: int, members: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    return {
        'id': name,
        'name': name,
        'kind': 'md',
        'level': level,
        'used_as': [f'/srv/of/{name}'],
        'missing': 0,
        'tolerates': tolerates,
        'activity': None,
        'progress': None,
        'unknown': None,
        'text': '',
        'members': members,
        **more,
    }


def member(drive: dict[str, Any], slot: int, state: str = 'in_sync') -> dict[str, Any]:
    return {
        'name': f'{drive["name"]}p1',
        'state': state,
        'slot': slot,
        'detail': None,
        'drives': [{key: drive[key] for key in ('name', 'state')}],
    }


@pytest.fixture(scope='module')
def arrays(sample, tmp_path_factory) -> Path:
    """A degraded raid5 with an ailing member, a mirror that is rebuilt, a healthy raid6 of
    eight, a partition.
    """
    document = with_long_names(sample)
    drives = document['drives']
    for number, drive in enumerate(drives):
        drive['name'] = f'bus_0_megaraid_{number}'
    ailing, *good = sorted(drives, key=lambda drive: drive['state'] != 'CRITICAL')
    groups = [
        array(
            'md0',
            'raid5',
            -1,
            [
                member(ailing, 0),
                member(good[0], 1),
                {
                    'name': None,
                    'state': 'missing',
                    'slot': 2,
                    'detail': None,
                    'drives': [],
                },
            ],
        ),
        array(
            'md1',
            'raid1',
            0,
            [member(good[1], 0), member(good[2], 1, 'rebuilding')],
            activity='recover',
            progress=37,
        ),
        array(
            'md2',
            'raid6',
            2,
            [member(drive, slot) for slot, drive in enumerate(good[3:11])],
        ),
        array('sdp1', 'single', 0, [member(good[11], 0)]),
    ]
    steps = [
        {
            'name': drive['name'],
            'label': 'last good copy',
            'code': 'last-good-copy',
            'why': 'do not pull this drive',
            'disks': [],
            'groups': ['md0'],
        }
        for drive in (ailing, good[0])
    ]
    return written(
        tmp_path_factory.mktemp('arrays'),
        {**document, 'groups': groups, 'replace_order': steps},
    )


@EACH_WIDTH
def test_groups_are_rows_of_members_at_every_width(chromium, arrays, width):
    """Those at risk first, as many members beside each other as fit, and nothing is cut off or
    scrolls sideways.
    """
    chromium.open(arrays, width)
    rows = chromium.run("""return [...document.querySelectorAll('.group')].map((group) => [
        group.querySelector('h3').textContent, group.querySelectorAll('li').length,
        new Set([...group.querySelectorAll('li')].map((each) => each.getBoundingClientRect().top)).size])""")

    assert [row[:2] for row in rows] == [['md0', 3], ['md1', 2], ['md2', 8]]
    assert chromium.run(BROKEN) == []
    assert rows[2][2] == {390: 4, 768: 2, 1024: 2, 1440: 2, 1920: 1}[width]
    assert chromium.run('return document.documentElement.scrollWidth') <= width
    assert [each for each in chromium.run(TOO_WIDE) if 'panel' not in each[1]] == []
    assert (chromium.said(), chromium.requests()) == ([], [])


def resize(chromium: browser.Browser, width: int) -> None:
    chromium.driver.execute_cdp_cmd(
        'Emulation.setDeviceMetricsOverride',
        {'width': width, 'height': 900, 'deviceScaleFactor': 1, 'mobile': False},
    )
    time.sleep(0.3)


@EACH_WIDTH
@pytest.mark.parametrize('kind', ['machine', 'fleet'])
def test_each_width_shows_the_same_of_a_drive(chromium, long_names, kind, width):
    """In columns, or as a card where they have no room; also after the window has changed."""
    cells = """const rows = [...document.querySelectorAll('#rows > tr')];
        return [...rows.find((row) => row.textContent.includes('Micron')).children]
            .filter((each) => each.offsetWidth && each.offsetHeight)
            .map((each) => each.textContent)"""
    chromium.open(long_names[kind], 1920)
    wide = [text for text in chromium.run(cells) if text]
    resize(chromium, width)

    assert len(wide) > 9
    assert [text for text in chromium.run(cells) if text] == wide
    assert all(
        chromium.run(
            'return [...document.querySelectorAll("#head button")].map((each) => '
            'each.getBoundingClientRect().left >= 0 && each.offsetWidth > 0)'
        )
    )


def test_paper_shows_what_the_page_shows(chromium, of_machine):
    """Each drive as a card, with all that is to be done, and the charts below each other."""
    chromium.open(of_machine, 1440)
    chromium.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'media': 'print'})
    before, printed = chromium.run(
        'const table = document.getElementById("table");'
        'const before = table.className; dispatchEvent(new Event("beforeprint"));'
        'return [before, table.className]'
    )
    resize(chromium, 720)
    try:
        rows, share, outside = (
            chromium.run("""const box = (each) => each.getBoundingClientRect();
            const rows = [...document.querySelectorAll('#rows > tr')];
            const parts = [...document.querySelectorAll('.chart, #rows td, .bays li, .group li')];
            return [rows.length, box(rows[0].querySelector('.what')).width / innerWidth,
                    parts.filter((each) => box(each).right > innerWidth + 1).length]""")
        )
        wide = chromium.run('return document.documentElement.scrollWidth')
    finally:
        chromium.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'media': ''})

    assert (before, printed) == ('', 'cards')
    assert (rows, outside) == (24, 0) and wide <= 720 and share > 0.9


def test_a_limit_of_days_is_told_in_days(chromium, sample, tmp_path):
    """As somebody has written it: nobody counts 4,800 hours."""
    drives = json.loads(
        run(
            'triage', '--json', '--report', REPORTS, '-w', 'endurance_time_left=200d:'
        ).text
    )
    chromium.open(written(tmp_path, drives))
    chromium.run('document.querySelectorAll("#rows th.name button")[1].click()')

    assert 'below 200 days' in chromium.run(
        'return document.querySelector(".panel").textContent'
    )


def test_a_drive_that_something_is_to_be_done_with_leads_to_its_panel(
    chromium, sixty, sample
):
    """From the worst thing to its numbers in one step, and back."""
    chromium.open(sixty)
    chromium.run('document.querySelector("#bays .CRITICAL a").click()')
    panel = chromium.run('return document.querySelector("tr.panel").textContent')

    assert chromium.column('State') == ['CRITICAL']
    assert 'why this limit' in panel and 'CRITICAL' in panel
    chromium.run('document.getElementById("all").click()')
    assert len(chromium.column('State')) == 60


def test_history_is_a_line_and_growth_is_told(chromium, sixty):
    """Steps, because a counter holds until the next one, with words for who cannot see them."""
    chromium.open(sixty)
    chromium.run(
        'const text = document.getElementById("text"); text.value = "EXAMPLE000001"; '
        'text.dispatchEvent(new Event("input"));document.querySelector("#rows button").click()'
    )
    line = chromium.run(
        'return document.querySelector("svg.course").getAttribute("aria-label")'
    )

    assert ' from 1 % ' in line and ' since 2026-10-03' in line
    assert '; grew by 3 in' in chromium.run(
        'return document.querySelector("tr.panel").textContent'
    )


def test_what_a_drive_calls_itself_stays_text(chromium, sample, tmp_path):
    """Even where nobody has cleaned it before: a document of another host may hold anything."""
    document, groups = grown(sample, len(HOSTILE)), []
    for drive, hostile in zip(document['drives'], HOSTILE):
        drive.update(
            dict.fromkeys(OF_A_DRIVE, hostile),
            depends=[{'text': hostile}],
            notes=[noted(hostile)],
        )
        for reading in drive['readings']:
            reading.update(dict.fromkeys(OF_A_READING, hostile))
        named = {
            **member(drive, 0),
            'name': hostile,
            'state': hostile,
            'detail': hostile,
        }
        groups.append(
            array(hostile, hostile, -1, [named], activity=hostile, unknown=hostile)
        )
    document.update(
        work=worked(document['drives']),
        notes=[noted(each) for each in HOSTILE],
        groups=groups,
    )
    chromium.open(written(tmp_path, document))
    chromium.run(
        'document.querySelectorAll("#rows button").forEach((button) => button.click())'
    )

    assert chromium.said() == []
    assert chromium.requests() == []
    assert chromium.run('return document.querySelectorAll("script").length') == 2
    assert chromium.run('return document.querySelectorAll("img, b").length') == 0
    seen = {visible(hostile) for hostile in HOSTILE}
    shown = chromium.run('return document.querySelector("#bays").textContent')
    assert set(chromium.column('Host')) == seen
    assert {hostile for hostile in seen if hostile not in shown} == set()


def axe() -> str:
    """Return the source of axe-core: the package of npm if AXE_CORE names its folder, else an
    older Python package.
    """
    package = abilities.spec_of('axe_core_python')
    folders = [Path(os.environ.get('AXE_CORE') or ROOT / '.venv/node_modules/axe-core')]
    folders += [Path(package.origin).parent] if package and package.origin else []
    found = next(
        (
            folder / 'axe.min.js'
            for folder in folders
            if (folder / 'axe.min.js').is_file()
        ),
        None,
    )
    if found is None:
        pytest.skip(
            'accessibility is not tried: neither axe-core (npm install --prefix .venv axe-core) '
            'nor axe-core-python is installed'
        )
    return found.read_text()


def violations(chromium: browser.Browser) -> list[Any]:
    """Return what axe-core finds on the page that is open, with all its rules and one that it
    tries only if asked, whatever their weight.
    """
    chromium.run(axe())
    return chromium.driver.execute_async_script(
        'const done = arguments[arguments.length - 1]; axe.run(document, {resultTypes: '
        '["violations"], rules: {"label-content-name-mismatch": {enabled: true}}})'
        '.then((result) => done(result.violations.map((each) => [each.impact, '
        'each.id, each.nodes.slice(0, 3).map((node) => node.html + node.failureSummary)])))'
    )


@pytest.mark.parametrize(
    'kind, width, scheme',
    [
        pytest.param('sixty', 1400, 'light', marks=pytest.mark.long),
        ('of_fleet', 390, 'dark'),
        ('of_machine', 390, 'dark'),
        ('of_machine', 1440, 'light'),
        ('arrays', 390, 'dark'),
    ],
)
def test_axe_finds_nothing(chromium, request, kind, width, scheme):
    """Contrast, names, roles and reading order, with a panel open, and of groups."""
    chromium.open(request.getfixturevalue(kind), width, prefers_color_scheme=scheme)
    chromium.run(
        'document.querySelectorAll("#rows button")[1].click();'
        'document.querySelectorAll("details").forEach((each) => { each.open = true; })'
    )

    assert violations(chromium) == []


@pytest.fixture(scope='module')
def of_fleet(sample, tmp_path_factory) -> Path:
    """The page of three hosts, one of which has firmware with a known defect."""
    folder = tmp_path_factory.mktemp('fleet')
    defect = {
        'name': 'sdx',
        'model': 'Corsair Force LS SSD',
        'firmware': 'S9FM01.8',
        'serial': 'EXAMPLE0099',
        'state': 'OK',
    }
    for host in ('db1', 'db2', 'web1'):
        drives = [*sample['drives'], defect] if host == 'web1' else sample['drives']
        (folder / f'{host}.json').write_text(json.dumps({**sample, 'drives': drives}))
    done = run('fleet', str(folder), '--html', str(folder / 'fleet.html'))
    assert done.code == 0
    return folder / 'fleet.html'


def test_the_page_of_a_fleet_leads_from_a_model_to_its_drives(chromium, of_fleet):
    """The plan and models: each name filters the table; hosts are found by name."""
    chromium.open(of_fleet)
    titles = chromium.run(
        'return [...document.querySelectorAll("h2")].map((title) => '
        'title.firstChild.textContent.trim())'
    )
    chromium.run(
        'document.querySelector("[data-model=\'Corsair Force LS SSD\']").click()'
    )
    hosts = chromium.column('Host')
    chromium.run(
        'document.getElementById("all").click(); const text = document.getElementById("text"); '
        'text.value = "db2";text.dispatchEvent(new Event("input"))'
    )

    assert titles == [
        'Drives',
        'Plan',
        'Models and firmware',
    ]
    assert hosts == ['web1']
    assert set(chromium.column('Host')) == {'db2'}
    assert (chromium.said(), chromium.requests()) == ([], [])


# --- legibility: machines of 3 to 1,000 drives, at five widths, with and without history ----------

DAY = 86400


def aged(sample: dict[str, Any], count: int, has_history: bool) -> dict[str, Any]:
    """Return a machine: drives of a raid1 with a new member, warm ones, worn ones, and ones with
    rising counters.
    """
    document = grown(sample, count)
    for number, drive in enumerate(document['drives']):
        del drive['host']
        drive.update(
            name=f'sd{number:03}',
            past={},
            bay=f'enclosure {number // 24} slot {number % 24}',
            forecasts={},
        )
        begin = NOW - (300 if number != 1 else 20) * DAY
        readings = {
            each['metric']: each for each in drive['readings'] if each['judged']
        }
        wear, heat = readings.get('endurance_used'), readings.get('temperature')
        if heat:
            heat['value'] = 51 if number == 2 else 33
            drive['past']['temperature'] = [
                [begin + day * DAY, 50 if number == 2 and day > 290 else 30 + day % 5]
                for day in range(int((NOW - begin) / DAY))
                if not 100 < day < 110
            ]
        if wear:
            wear.update(value=60 if number == 7 else 20, state='OK')
            speed = 30 if number == 7 else number % 5
            drive['past']['endurance_used'] = [
                [begin, wear['value'] - speed],
                [NOW - 9 * DAY, wear['value']],
            ]
            drive['forecasts'] = {
                'endurance_used': {
                    'left': (400 + number) * DAY,
                    'earliest': (300 + number) * DAY,
                    'latest': (500 + number) * DAY,
                    'estimate': False,
                }
            }
        if 'reallocated' in readings and number == 0:
            readings['reallocated']['value'] = 12
            drive['past']['reallocated'] = [
                [begin, 0],
                [NOW - 60 * DAY, 8],
                [NOW - 40 * DAY, 12],
            ]
        if not has_history:
            drive['past'] = {}
    drives = document['drives']
    groups = [array('md0', 'raid1', 1, [member(drives[0], 0), member(drives[1], 1)])]
    return {**document, 'groups': groups, 'work': worked(drives), 'notes': []}


@pytest.fixture(scope='module')
def machines(sample, tmp_path_factory) -> Callable[..., Path]:
    """Return the page of a machine by the number of drives and whether they have a history."""
    folder = tmp_path_factory.mktemp('machines')

    @lru_cache(maxsize=None)
    def page_of(count: int, has_history: bool = True) -> Path:
        return written(
            folder, aged(sample, count, has_history), f'{count}-{has_history}.html'
        )

    return page_of


@pytest.fixture(scope='module')
def of_machine(machines) -> Path:
    return machines(24)


# Words that a browser has broken, because they did not fit: one word with two lines, between two of
# its letters.
BROKEN = """const broken = [], range = document.createRange();
    for (const cell of document.querySelectorAll('td.state, td.used, td.until, .right, th.name, .panel th, '
        + '.bays .where, .group .where, '
        + '.panel .value, .panel .limit, .panel .judged, .counts li, #head button, .chart h2, .trends strong, '
        + 'td.model > span')) {
      const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        for (const word of node.textContent.matchAll(/[A-Za-z0-9]+/g)) {
          range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
          if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(word[0]);
        }
      }
    }
    return broken;"""
# Names and models with more than one line, also if they are broken at a dash.
OF_TWO_LINES = """return [...document.querySelectorAll('#rows :is(th.name button, td.model > span), .bays .where')]
    .filter((each) => new Set([...each.getClientRects()].map((box) => Math.round(box.top))).size > 1
        || each.offsetHeight > 30).map((each) => each.textContent)"""
FIRST = """const box = (found) => found.getBoundingClientRect(), row = document.querySelector('#rows > tr');
    return [box(row.querySelector('.state')).top + 25, box(row.querySelector('.what strong')).bottom,
            document.documentElement.scrollWidth];"""


@EACH_WIDTH
@pytest.mark.parametrize(
    'has_history', [True, pytest.param(False, marks=pytest.mark.long)]
)
@pytest.mark.parametrize(
    'count',
    [24, *(pytest.param(count, marks=pytest.mark.long) for count in (3, 200, 1000))],
)
def test_a_page_can_be_read_at_every_width(
    chromium, machines, count, has_history, width
):
    """The first alert with its action is in sight, no word is broken in an open row, and nothing
    is cut off.
    """
    height, scheme = WIDTHS[width], 'dark' if width == 1440 else 'light'
    chromium.open(
        machines(count, has_history), width, height, prefers_color_scheme=scheme
    )
    state, action, wide = chromium.run(FIRST)
    chromium.run('document.querySelector("#rows th.name button").click()')

    assert state < height and action < height and wide <= width
    assert chromium.run(BROKEN) + chromium.run(OF_TWO_LINES) == []
    assert (chromium.said(), chromium.requests()) == ([], [])


def work(chromium) -> float:
    """Return for how many seconds the main thread has worked for the page; the wall time depends
    on other processes.
    """
    found = chromium.driver.execute_cdp_cmd('Performance.getMetrics', {})['metrics']
    return float({each['name']: each['value'] for each in found}['TaskDuration'])


@pytest.mark.long
def test_1000_drives_that_alert_are_a_page_of_7_mb_that_opens_within_a_second(
    chromium, machines
):
    chromium.driver.execute_cdp_cmd('Performance.enable', {'timeDomain': 'threadTicks'})
    chromium.open(machines(1000))
    took = work(chromium)
    size = machines(1000).stat().st_size / 1e6

    assert size <= 7
    assert 0 < took < 1


@pytest.mark.parametrize(
    'chart, words',
    [
        ('wear', 'fastest: sd007, 3 %'),
        ('temperature', 'sd002, by 19 °C since 2027-01-06.'),
        ('counters', 'Last rise: sd000 reallocated, by 4 on 2026-12-06.'),
    ],
)
def test_three_questions_are_answered_from_the_page_alone(
    chromium, of_machine, chart, words
):
    """Which SSD wears fastest; since when is it this warm; which counter rose last."""
    chromium.open(of_machine)

    assert words in chromium.run(
        'return document.getElementById(arguments[0]).textContent', chart
    )


def test_without_script_the_list_and_the_charts_are_there(chromium, of_machine):
    """In the browser with scripts switched off: rows that open, readings, charts, and links from
    them to the rows.
    """
    chromium.driver.execute_cdp_cmd(
        'Emulation.setScriptExecutionDisabled', {'value': True}
    )
    try:
        for width in (390, 1440):
            chromium.open(of_machine, width)
            rows, charts, readings, wide, tools = chromium.run(
                'return [document.querySelectorAll("#plain tbody tr").length,'
                'document.querySelectorAll(".chart svg .line").length,'
                'document.querySelectorAll("#plain details li").length, '
                'document.documentElement.scrollWidth,'
                'document.getElementById("tools").offsetHeight]'
            )
            targets = chromium.run(
                'return [...document.querySelectorAll("#overview a[data-place]")].every((link) => '
                'document.querySelector(link.getAttribute("href")))'
            )
            assert (rows, tools, targets) == (24, 0, True)
            assert charts > 12 and readings > 100 and wide <= width
    finally:
        chromium.driver.execute_cdp_cmd(
            'Emulation.setScriptExecutionDisabled', {'value': False}
        )


def test_a_line_of_a_chart_leads_to_the_trends_of_its_drive(chromium, of_machine):
    """By mouse and by keyboard: from a line to all trends of the drive in one step."""
    from selenium.webdriver.common.keys import Keys

    chromium.open(of_machine)
    chromium.run('document.querySelector("#temperature a.line").focus()')
    name = chromium.run(
        'return document.activeElement.getAttribute("aria-label")'
    ).partition(':')[0]
    chromium.driver.switch_to.active_element.send_keys(Keys.ENTER)

    assert (
        chromium.run('return document.querySelector("#rows th.name").textContent')
        == name
    )
    assert 'Temperature' in chromium.run(
        'return [...document.querySelectorAll(".trends strong")].map((each) => each.textContent)'
    )


STRANGE = {
    'one-point': [[NOW - 50 * DAY, 30]],
    'huge': [[NOW - 9 * DAY, 0], [NOW - 8 * DAY, 2**63]],
    'epoch': [[0, 1], [NOW - DAY, 2]],
}


@pytest.mark.parametrize(
    'points',
    [
        pytest.param(
            points, id=name, marks=[] if name == 'one-point' else pytest.mark.long
        )
        for name, points in STRANGE.items()
    ],
)
def test_strange_histories_are_drawn(chromium, sample, tmp_path, points):
    """Within the chart, without a number that is none, and with all names, however long."""
    document = aged(sample, 3, True)
    for place, drive in enumerate(document['drives']):
        drive.update(
            name='n' * 63 + str(place),
            past={each['metric']: points for each in drive['readings']},
        )
    path = written(tmp_path, {**document, 'work': worked(document['drives'])})
    chromium.open(path, 390)
    chromium.run(
        'document.querySelectorAll("#rows th.name button").forEach((each) => each.click())'
    )

    assert (
        chromium.said(),
        chromium.run('return document.documentElement.scrollWidth'),
    ) == (
        [],
        390,
    )
    assert not re.search(
        'NaN|Infinity|undefined',
        chromium.run('return document.body.outerHTML').partition('<script')[0],
    )
