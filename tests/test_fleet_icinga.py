"""`fleet` asks a real Icinga 2: what hosts' checks have said, in whatever state it came there, and
who may not ask.

`make test-icinga` installs what is missing first; `make test` runs this where it is there.
"""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import fleet_bed
import pytest
from conftest import Result, run
from daemons import missing
from fleet_bed import DRIVES, Bed, Output, host, measured, of_host, outputs, service

HOSTS = int(os.environ.get('FLEET_HOSTS', 1000))  # as make fleet-10000 sets it
NRPE, SSH = 'behind-nrpe', 'behind-ssh'
WELL = Output(
    0,
    'SMART OK - most worn: sda endurance_used 1 %; 1 drive: 1 ok\n'
    'OK        sda  ACME X1  endurance_used 1 %  EXAMPLE0001  firmware 1.0',
    ("'sda_endurance_used'=1%;85;95;0;",),
)
OLD_LINES = Output(
    1,
    'SMART WARNING - sda endurance_used 86 % (warning above 85); 1 drive: 1 warning\n'
    'WARNING   sda  ACME X1  endurance_used 86 %, warning above 85; [order] order a replacement  '
    'EXAMPLE0002',
    WELL.values,
)
CASES = {
    'pending': None,
    'version-1-6': Output(
        2,
        'Critical (sda) [sda_Reallocated_Sector_Ct = Critical]',
        ("'sda_Reallocated_Sector_Ct'=097;16;6",),
    ),
    'other-words': Output(
        3, "Remote Icinga instance 'x' is not connected to 'bed'", ()
    ),
    'old-lines': OLD_LINES,
    'stale': WELL._replace(text=WELL.text.replace('EXAMPLE0001', 'EXAMPLE0003')),
    'too-few': Output(
        2,
        'SMART CRITICAL - [too-few-drives] 1 of 2 expected drives missing; 1 drive: 1 ok\n'
        + WELL.text.replace('EXAMPLE0001', 'EXAMPLE0005').partition('\n')[2],
        WELL.values,
    ),
    'no-drive': Output(3, 'SMART UNKNOWN - sudo does not let nagios run smartctl', ()),
    'mistake': Output(
        3,
        'SMART UNKNOWN - site.json: no JSON; 1 drive: 1 ok\nUNKNOWN   (check)  site.json: no JSON\n'
        + WELL.text.replace('EXAMPLE0001', 'EXAMPLE0006').partition('\n')[2],
        WELL.values,
    ),
    'foreign': Output(0, 'SMART test of a washing machine', ()),
    'asleep': Output(
        0,
        'SMART OK - 1 drive: 1 ok\nOK        sda  ACME X1  is in STANDBY mode, not woken  '
        'EXAMPLE0007  firmware 1.0',
        (),
    ),
    'unreadable': Output(
        3,
        'SMART UNKNOWN - sdb cannot be opened: Permission denied; 1 drive: 1 unknown\n'
        'UNKNOWN   sdb  -  cannot be opened: Permission denied; run as root  -',
        (),
    ),
}


# Hosts whose checks run other commands, which no result of the plugin gives away -> code of what
# Icinga makes of them.
SILENT = {
    'silent': 'output-foreign',
    'slow': 'output-foreign',
    'gone': 'output-foreign',
    'not-executable': 'output-foreign',
    'unknown-to-nrpe': 'never-checked',
}
COMMANDS = {
    'silent': '[ "/bin/sh", "-c", "echo CHECK_NRPE STATE CRITICAL: Socket timeout after 10 '
    'seconds; exit 2", '
    '"check_smart_attributes" ]',
    'slow': '[ "/bin/sh", "-c", "sleep 99", "check_smart_attributes" ]',
    'gone': '[ "/no/such/check_smart_attributes" ]',
    'not-executable': '"/etc/hostname check_smart_attributes"',
}
COMMAND_LINES = (
    ''.join(
        f'object CheckCommand "{name}" {{ command = {command}\n timeout = 1s }}\n'
        for name, command in COMMANDS.items()
    )
    + """
object Service "drives" {
	host_name = "unknown-to-nrpe"
	check_command = "dummy"
	enable_active_checks = false
	vars.nrpe_command = "check_smart"
}
"""
)


def handle(bed: Bed) -> None:
    """Schedule downtimes and acknowledge problems, as Icinga's users do."""
    words = {'author': 'admin', 'comment': 'drives are on order'}
    now = time.time()
    for kind, chosen in (
        ('Host', 'host.name == "silent"'),
        ('Service', 'host.name == "asleep"'),
    ):
        bed.icinga.asks(
            '/v1/actions/schedule-downtime',
            {
                **words,
                'type': kind,
                'filter': chosen,
                'start_time': now,
                'end_time': now + 3600,
                'duration': 3600,
            },
        )
    bed.icinga.asks(
        '/v1/actions/acknowledge-problem',
        {
            **words,
            'type': 'Service',
            'filter': 'host.name == "old-lines" || host.name == "other-words"',
        },
    )


def lacking() -> None:
    absent = missing('icinga2')
    if absent:
        pytest.skip(
            f'Icinga 2 is not asked: missing {absent}; "make test-icinga" installs it'
        )


@pytest.fixture(scope='module')
def cases(loopback) -> Iterator[Bed]:
    """An Icinga with a host for each case, and two whose services run other commands."""
    lacking()
    others = ''.join(
        fleet_bed.HOST.format(name=name)
        for name in [*CASES, NRPE, SSH, 'bare', 'twice', *SILENT]
    )
    others += ''.join(
        service(name, active='true' if name == 'stale' else 'false') for name in CASES
    )
    others += (
        service(NRPE, 'disks', 'nrpe-smart')
        + service(SSH, 'by ssh', 'nrpe-smart')
        + service('twice')
        + service('twice', 'smart sda')
        + service('bare', 'ping', 'dummy')
    )
    others += (
        ''.join(service(name, 'drives', name) for name in SILENT if name in COMMANDS)
        + COMMAND_LINES
    )
    bed = Bed(3, others)
    try:
        bed.fill()
        bed.submit(
            (name, 'smart', output)
            for name, output in CASES.items()
            if output and name != 'stale'
        )
        bed.submit([('stale', 'smart', CASES['stale'])], time.time() - 3600)
        [behind] = [WELL._replace(text=WELL.text.replace('EXAMPLE0001', 'EXAMPLE0008'))]
        bed.submit(
            [
                (NRPE, 'disks', behind),
                (SSH, 'by ssh', OLD_LINES),
                ('bare', 'ping', Output(0, 'PING OK', ())),
                ('twice', 'smart', behind),
                ('twice', 'smart sda', behind),
            ]
        )
        for name in COMMANDS:
            bed.icinga.result('drives', name)
        handle(bed)
        yield bed
    finally:
        bed.close()


def fleet(bed: Bed, *arguments: str) -> Result:
    return run('fleet', *bed.arguments, *arguments)


@pytest.fixture(scope='module')
def told(cases) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fleet(cases, '--json').text)
    return found


def of(told: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [drive for drive in told['drives'] if drive['host'] == name]


# --- what is told of each host -------------------------------------------------------------------


def test_all_drives_of_a_host_are_told_with_names_numbers_and_limits(told):
    """As its check printed them, whatever command ran it."""
    drives = of(told, host(0))
    worn = next(drive for drive in drives if drive['model'] == 'INTEL SSDSC2BB240G4')
    used = next(each for each in worn['readings'] if each['metric'] == 'endurance_used')

    assert len(drives) == DRIVES
    assert {(drive['state'], drive['action']) for drive in drives} == {
        ('OK', 'nothing')
    }
    assert (
        used['value'],
        used['unit'],
        used['warning'],
        used['critical'],
        used['judged'],
    ) == (
        12,
        '%',
        '85',
        '95',
        True,
    )
    assert worn['firmware'] == 'D2010370' and worn['serial'].startswith('EXAMPLE')
    assert set(worn['forecasts']) == {'endurance_used'}
    assert [len(of(told, name)) for name in (NRPE, SSH)] == [1, 1]
    assert of(told, 'bare') == []


def rows(told: dict[str, Any], name: str) -> list[Any]:
    return [
        (drive['name'], drive['state'], drive['action'], drive['code'])
        for drive in of(told, name)
    ]


WELL_TOLD = ('sda', 'OK', 'nothing', None)


@pytest.mark.parametrize(
    'name, wanted',
    [
        ('version-1-6', [('(smart)', 'CRITICAL', 'repair', 'plugin-1.6')]),
        ('other-words', [('(smart)', 'UNKNOWN', 'repair', 'output-foreign')]),
        ('old-lines', [('sda', 'WARNING', 'order', None)]),
        ('too-few', [('(smart)', 'CRITICAL', 'search', 'too-few-drives'), WELL_TOLD]),
        ('no-drive', [('(smart)', 'UNKNOWN', 'repair', 'check-incomplete')]),
        ('mistake', [('(smart)', 'UNKNOWN', 'repair', 'check-incomplete'), WELL_TOLD]),
        ('unreadable', [('sdb', 'UNKNOWN', 'investigate', 'drive-unreadable')]),
        ('asleep', [WELL_TOLD]),
        ('pending', [('(smart)', 'UNKNOWN', 'repair', 'never-checked')]),
        ('twice', [WELL_TOLD, WELL_TOLD]),
    ],
)
def test_each_state_of_a_service_is_told_as_it_is(told, name, wanted):
    """An alarm without a drive has a row of its own; nothing is guessed."""
    assert rows(told, name) == wanted


def test_what_is_incomplete_is_said(told):
    """Of thousands of services at once, with some names."""
    notes = {note['code']: note['text'] for note in told['notes']}

    for code, count, names in (
        ('result-old', 1, 'stale!smart'),
        ('drives-repeated', 3, ''),
    ):
        assert notes[code].startswith(f'{count} ') and notes[code].endswith(names)


@pytest.mark.parametrize('name', SILENT)
def test_a_host_whose_check_reports_nothing_is_listed_with_its_cause(told, name):
    """Neither its output nor its CheckCommand names the plugin: the command line, or the
    variable of NRPE, does.
    """
    [row] = of(told, name)

    assert (row['name'], row['code']) == ('(drives)', SILENT[name])


def test_downtimes_and_acknowledgements_are_shown(cases):
    """Those of hosts to an ApiUser that may query hosts."""

    def handled(user: str) -> dict[str, list[str]]:
        found = json.loads(run('fleet', '--json', *changed(cases, '--user', user)).text)
        return {
            drive['host']: drive['handling']
            for drive in found['drives']
            if drive['handling']
        }

    of_services = {
        'asleep': ['service in downtime'],
        'old-lines': ['service acknowledged'],
        'other-words': ['service acknowledged'],
    }
    assert handled('of-hosts') == {**of_services, 'silent': ['host in downtime']}
    assert handled('fleet') == of_services
    assert 'objects/query/Host' in fleet(cases).text
    assert (
        'objects/query/Host'
        not in run('fleet', *changed(cases, '--user', 'of-hosts')).text
    )


def test_lines_that_were_cut_off_leave_a_row_that_says_how_many(cases):
    """A daemon in between that passes a kilobyte; the worst drives come first."""
    whole = of_host(outputs()[0], 77)
    cases.submit([(SSH, 'by ssh', whole._replace(text=whole.text[:1024]))])
    try:
        found = json.loads(fleet(cases, '--json').text)
        cut, *drives = of(found, SSH)
        assert int(re.search(r'\d+', cut['why'])[0]) + len(drives) == DRIVES
        assert (cut['state'], cut['code']) == ('UNKNOWN', 'output-cut')
    finally:
        cases.submit([(SSH, 'by ssh', OLD_LINES)])


def test_a_filter_chooses_services(cases):
    """In Icinga's own language."""
    found = json.loads(
        fleet(cases, '--json', '--filter', f'service.host_name == "{host(1)}"').text
    )

    assert {drive['host'] for drive in found['drives']} == {host(1)}


# --- who asks ------------------------------------------------------------------------------------


def changed(bed: Bed, option: str, value: str) -> list[str]:
    words = list(bed.arguments)
    words[words.index(option) + 1] = value
    return words


@pytest.mark.parametrize(
    'user, said', [('nobody', 'the user nobody'), ('stranger', 'objects/query/Service')]
)
def test_who_cannot_ask_reads_why_and_what_helps(cases, user, said):
    """One sentence, and 3."""
    done = run('fleet', *changed(cases, '--user', user))

    assert done.code == 3
    assert done.text.startswith('error: ') and said in done.text


def test_a_mistake_in_a_filter_is_told_with_what_it_may_be(cases):
    """Icinga's answer is the same for all three."""
    assert '--filter for mistakes' in fleet(cases, '--filter', 'nonsense(').text


def test_nothing_is_written_to_icinga(cases):
    """One permission, to look at services, is all that it takes."""
    log = subprocess.run(
        ['grep', '-rhoE', 'Request: [A-Z]+ [^ ,]+', str(cases.ground.folder)],
        capture_output=True,
        text=True,
    ).stdout
    # but not the bed's own
    asked = {line for line in log.splitlines() if 'objects' in line and '?' not in line}

    assert asked == {'Request: GET /v1/objects/services'}


# --- many ----------------------------------------------------------------------------------------


@pytest.mark.long
def test_1000_hosts_of_24_drives_take_150_mb(loopback):
    """The table and the page; the time is printed, and held by nobody while other tests run
    beside it.
    """
    lacking()
    bed = Bed(HOSTS)
    try:
        bed.fill()
        page = bed.folder / 'page.html'
        for words in ([], ['--html', str(page)]):
            cost = measured(*bed.arguments, *words)
            print(
                f'\nfleet {" ".join(words[:1])}: {cost.seconds:.1f} s, {cost.cpu:.1f} s of CPU, '
                f'{cost.megabytes:.0f} '
                f'MB'
            )
            assert cost.code == 0
            assert cost.megabytes < 150
            assert words or f'{24 * HOSTS} drives on ' in cost.text
        assert page.stat().st_size < 20e6 or HOSTS > 1000
    finally:
        bed.close()
