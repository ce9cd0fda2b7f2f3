"""`fleet` lists each host whose check has no drives to show, with the cause and the next step, and
how Icinga's users handle it.
"""

import html
import json
import subprocess
import sys
import time
from typing import Any

import browser
import pytest
from conftest import ROOT
from test_fleet_answers import LINE, Fake, fake_icinga, service, told  # noqa: F401

from smart_attributes.errors import Coded
from smart_attributes.fleet import drives as fleet_drives
from smart_attributes.fleet.drives import Origin
from smart_attributes.model import State
from smart_attributes.output.codes import BY_NAME

CUT = 'SMART OK - x; 24 drives: 24 ok\n' + LINE.format(serial='EXAMPLE0001')
PROBLEM = 'SMART UNKNOWN - sda {0}; 1 drive: 1 unknown\nUNKNOWN   sda  -  {0}  -'
# Outputs that real daemons and programs print -> code; exit status where it is not 3.
OUTPUTS: list[tuple[str, str, int]] = [
    (
        'CHECK_NRPE STATE CRITICAL: Socket timeout after 10 seconds.',
        'output-foreign',
        2,
    ),
    ('Warning (sda) [sda_Reallocated_Sector_Ct = Warning]', 'plugin-1.6', 1),
    ('OK (24 devices) ', 'plugin-1.6', 0),
    ('', 'no-output', 3),
    ('(No output on stdout) stderr: ', 'no-output', 3),
    (
        'SMART UNKNOWN - [sudo-rule-missing] sudo does not let nagios run smartctl',
        'sudo-rule-missing',
        3,
    ),
    (PROBLEM.format('[timeout] no answer within 30 s'), 'timeout', 3),
    (PROBLEM.format('answers nothing: in SLEEP mode or dead'), 'drive-unreadable', 3),
    (
        'SMART UNKNOWN - site.json: no JSON; 1 drive: 1 ok\nUNKNOWN   (check)  site.json: no JSON\n'
        + LINE.format(serial='EXAMPLE0002'),
        'check-incomplete',
        3,
    ),
    (CUT, 'output-cut', 0),
    ('DISK OK - 7 GB free', 'output-foreign', 0),
    ('DISK CRITICAL', 'output-foreign', 2),
]
HANDLED = {
    'downtime_depth': 0,
    'acknowledgement': 0,
    'state_type': 1,
    'last_reachable': True,
}


def answered(
    name: str,
    output: str = 'SMART OK - 1 drive: 1 ok\n' + LINE.format(serial='EXAMPLE0003'),
    state: int = 0,
    host: Any = None,
    **facts: Any,
) -> dict[str, Any]:
    """Return a service with its result, and its host as Icinga joins it."""
    result = {
        'state': min(state, 3),
        'exit_status': state,
        'output': output,
        'execution_end': time.time(),
    }
    found = service(name, **{**HANDLED, 'last_check_result': result, **facts})
    return {
        **found,
        'joins': {'host': {**HANDLED, **(host or {})}} if host is not None else {},
    }


def drives(fake: Fake) -> dict[str, list[dict[str, Any]]]:
    """Return the drives and rows of each host."""
    found: dict[str, list[dict[str, Any]]] = {}
    for each in json.loads(fake.fleet('--json').text)['drives']:
        found.setdefault(each['host'], []).append(each)
    return found


# --- causes --------------------------------------------------------------------------------------


def test_each_host_without_drives_is_listed_with_its_cause_and_its_remedy(fake):
    fake.answer = lambda question: (
        200,
        told(
            *(
                answered(f'h{place}', output, status)
                for place, (output, _, status) in enumerate(OUTPUTS)
            )
        ),
    )
    found = drives(fake)

    assert {
        place: [each['code'] for each in found[f'h{place}'] if each['code']]
        for place in range(len(OUTPUTS))
    } == {place: [code] for place, (_, code, _) in enumerate(OUTPUTS)}
    for host, (_, code, _) in zip(found.values(), OUTPUTS):
        row = next(each for each in host if each['code'])
        if row['state'] == 'OK':
            assert row['to_do'] == 'nothing'
        elif row['name'] != 'sda':
            assert row['to_do'] == fleet_drives.next_step(BY_NAME[code])
        assert row['why'] and not row['why'].endswith(': ')


def test_table_and_page_show_code_words_and_remedy(fake, tmp_path):
    """What happened, why, next step."""
    fake.answer = lambda question: (
        200,
        told(
            answered('h1', OUTPUTS[0][0], 2),
            answered('h2', CUT),
            answered('h3', 'OK (sda)'),
        ),
    )
    text, page = fake.fleet('--limit', '0').text, tmp_path / 'page.html'
    fake.fleet('--html', str(page))
    card = (
        html.unescape(page.read_text())
        .partition('id="drives"')[2]
        .partition('<section')[0]
    )

    cause = BY_NAME['output-foreign']
    words = f'[output-foreign] {cause.meaning}'
    assert f'{words}: {OUTPUTS[0][0]}; {cause.remedy}' in text
    assert ': 1 output-foreign, 1 output-cut\n' in text
    assert words in card and cause.remedy[1:] in card


@pytest.mark.long
def test_the_page_draws_code_and_handling_in_its_table(fake, tmp_path):
    """The script of the page makes the table, also where nothing but a downtime is to be shown."""
    page = tmp_path / 'page.html'
    chromium = browser.started()
    try:
        for more in ([], [answered('h2', OUTPUTS[0][0], 2, acknowledgement=1)]):
            fake.answer = lambda question, more=more: (
                200,
                told(answered('h1', host={'downtime_depth': 1}), *more),
            )
            fake.fleet('--html', str(page))
            chromium.open(page)
            assert 'host in downtime' in chromium.column('What to do')
        assert any(
            '[output-foreign] ' in text and 'service acknowledged' in text
            for text in chromium.column('What to do')
        )
    finally:
        chromium.driver.quit()


@pytest.mark.parametrize(
    'words, name, remedy',
    [
        ('x', 'check-incomplete', 'check-incomplete'),
        (Coded('of-a-newer-version', 'x'), 'of-a-newer-version', 'check-incomplete'),
        (Coded('scan-failed', 'no answer'), 'scan-failed', 'scan-failed'),
    ],
)
def test_a_message_about_a_check_has_the_remedy_of_its_code(words, name, remedy):
    facts = fleet_drives.check_row('(smart)', State.UNKNOWN, words, Origin('h')).facts

    assert (facts['code'], facts['to_do']) == (
        name,
        fleet_drives.next_step(BY_NAME[remedy]),
    )


@pytest.mark.parametrize(
    'code, step',
    [
        ('output-cut', 'add --max-output '),
        ('sudo-missing', 'on the host: '),
    ],
)
def test_the_next_step_names_the_host_where_it_is_for_the_host(code, step):
    assert fleet_drives.next_step(BY_NAME[code]).startswith(step)


def test_folders_load_no_tls():
    """It costs 10 ms, and only the API needs it."""
    code = f'import sys\nsys.path.insert(0, {str(ROOT)!r})\n'
    code += 'from smart_attributes.commands import fleet\nprint(*sys.modules)'
    loaded = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True
    ).stdout.split()

    assert 'smart_attributes.fleet.services' in loaded
    assert {'ssl', 'http.client', 'smart_attributes.fleet.icinga'} & set(
        loaded
    ) == set()
