"""The package on a real Linux kernel with its drivers, in QEMU: what it says is compared with what
smartctl says there.

`make test-kernel` builds the package and runs this. Each test leaves the drives as it
found them; they are found by their serial numbers, since letters and host numbers
are new at each start.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import abilities
import pytest
from chroots import PLUGIN, removed
from conftest import Result, perfdata
from daemons import until
from hardware import everything, nvme
from qemu import QEMU, Machine

if 'TEST_KERNEL' not in os.environ:
    pytest.skip(
        'the package is tried on a real kernel by "make test-kernel" only: it takes minutes',
        allow_module_level=True,
    )
if not abilities.path_of(QEMU) or not abilities.IS_ROOT:
    pytest.fail(
        f'{QEMU} is not installed, or we are not root; "make test-kernel" sees to both',
        pytrace=False,
    )
from guests import guest

BY_ID = '/dev/disk/by-id'
SATA = f'{BY_ID}/ata-QEMU-SATA_SATA0001'
GOOD, WARNING, SHARED = (
    f'{BY_ID}/nvme-QEMU_NVMe_Ctrl_NVME000{number}' for number in (1, 2, 3)
)
RAID, OTHER_RAID = (f'{BY_ID}/wwn-0x5000c50000000a0{number}' for number in (1, 2))
SAS = f'{BY_ID}/wwn-0x3333333000004e20'
VIRTUAL = f'{BY_ID}/scsi-0QEMU_QEMU_HARDDISK_VIRT0001'
USB = f'{BY_ID}/usb-QEMU_QEMU_HARDDISK_USB0001-0:0'
DEBUG = '/sys/bus/pseudo/drivers/scsi_debug'
NEW_SAS_DRIVE = 'modprobe scsi_debug dev_size_mb=8; udevadm settle'
WATCH_YOURSELF = 'smartctl -s on'
# What a scan has to find, each once; the virtual disk, the optical drives and the USB stick are
# none of it.
SERIALS = [
    '20000',
    'NVME0001',
    'NVME0002',
    'NVME0003',
    'RAID0001',
    'RAID0002',
    'SATA0001',
]
SERVICE = 'check-smart-attributes-metrics.service'
TIMER = 'check-smart-attributes-metrics.timer'
PROM = '/var/lib/prometheus/node-exporter/smart.prom'
TWO_DRIVES = f'Environment="OPTIONS=-d {SATA} -d {SAS} --drive-timeout 15"'
ASK_NODE_EXPORTER = 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:9100/metrics").read().decode())'
# Root may do the first three; the service may not, but open any drive.
FORBIDDEN = """
import socket, time
def tried(what):
    try:
        what()
        print('allowed')
    except OSError:
        print('refused')
tried(lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()))
tried(lambda: open('/dev/kmsg').close())
tried(lambda: socket.socket(socket.AF_INET))
tried(lambda: open('/dev/vda', 'rb').read(1))
"""
# QEMU on a busy machine takes its time
PATIENT = ('--drive-timeout', '90', '-t', '110')
STATES = {'OK': 0, 'CRITICAL': 2, 'UNKNOWN': 3}


# --- the machines ---------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def machines(tmp_path_factory) -> Iterator[dict[str, Future[Machine]]]:
    """Boot Debian after Debian: the second one gets ready while the first one, which has one
    processor, is tested.
    """
    folders = {
        suite: tmp_path_factory.mktemp(suite) for suite in ('bookworm', 'trixie')
    }
    with ThreadPoolExecutor(1) as pool:
        booting = {
            'bookworm': pool.submit(
                booted, 'bookworm', everything(), folders['bookworm']
            ),
            'trixie': pool.submit(booted, 'trixie', nvme(), folders['trixie']),
        }
        yield booting
    for suite, machine in booting.items():
        if not machine.exception():
            print(f'{suite}: {machine.result().cpu_seconds():.0f} s of CPU')
            machine.result().ends()
        removed(folders[suite])


def booted(suite: str, devices: list[str], folder: Path) -> Machine:
    return Machine(guest(suite, folder), devices, folder)


@pytest.fixture(scope='module')
def machine(machines) -> Machine:
    """Debian 12 with every controller, and a SAS drive of the kernel's own that watches itself."""
    running: Machine = machines['bookworm'].result()
    running.shell(f'{NEW_SAS_DRIVE}; {WATCH_YOURSELF} {SAS}')
    return running


def check(machine: Machine, *arguments: str) -> Result:
    """Run the plugin as a daemon does: as nagios, whom the package's rule lets run smartctl."""
    result = machine.runs(PLUGIN, *arguments, user='nagios')
    assert result.code in range(4) and result.text.startswith('SMART '), result
    assert 'inside check_smart_attributes' not in result.text
    perfdata(result.text)
    return result


def smartctl(machine: Machine, *arguments: str) -> dict[str, Any]:
    """Return what smartctl says of a drive, as root."""
    report: dict[str, Any] = json.loads(
        machine.runs('smartctl', '--json', '-x', *arguments).text
    )
    return report


def told(report: dict[str, Any]) -> str:
    """Return the state to which smartctl's own verdict leads, and nothing else that it says."""
    support = report.get('smart_support', {'available': True, 'enabled': True})
    if (
        not (support['available'] and support.get('enabled'))
        or 'smart_status' not in report
    ):
        return 'UNKNOWN'
    return 'OK' if report['smart_status']['passed'] else 'CRITICAL'


def said(report: dict[str, Any]) -> dict[str, Any]:
    """Return what smartctl says, by metric, in base units."""
    log = report.get('nvme_smart_health_information_log', {})
    values = {
        'temperature': report.get('temperature', {}).get('current'),
        'power_on_time': hours(report.get('power_on_time', {}).get('hours')),
        'smart_status': {True: 'passed', False: 'FAILED'}.get(
            report.get('smart_status', {}).get('passed')
        ),
        'endurance_used': log.get('percentage_used'),
        'media_errors': log.get('media_errors'),
        'unsafe_shutdowns': log.get('unsafe_shutdowns'),
    }
    return {metric: value for metric, value in values.items() if value is not None}


def without_reason(value: object) -> object:
    """Return "FAILED" for "FAILED, because of reliability"."""
    return value.partition(', because of ')[0] if isinstance(value, str) else value


def hours(number: int | None) -> int | None:
    return None if number is None else number * 3600


def settled(machine: Machine, path: str, is_there: bool = True) -> None:
    """Wait until udev has made or removed a drive's name."""
    wanted = 0 if is_there else 1
    until(
        lambda: machine.runs('test', '-e', path).code == wanted,
        60,
        f'{path} {"comes" if is_there else "goes"}',
    )
    machine.does('udevadm', 'settle')


def host_of(machine: Machine, driver: str) -> str:
    """Return the number of a controller's SCSI host."""
    path = machine.shell(
        f'grep -lx {driver} /sys/class/scsi_host/host*/proc_name | head -n 1'
    )
    return re.search('host([0-9]+)', path)[1]


# --- what smartctl says ---------------------------------------------------------------------------


@pytest.fixture(scope='module')
def judged(machine) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each drive of a scan as the program judges it, beside smartctl's own report."""
    document = json.loads(
        machine.runs(PLUGIN, 'triage', '--json', *PATIENT, user='nagios').text
    )
    return [
        (drive, smartctl(machine, '-d', drive['type'] or 'auto', drive['device']))
        for drive in document['drives']
    ]


def test_a_scan_finds_each_drive_once(judged):
    """SATA, NVMe, SAS and MegaRAID; the drive behind two NVMe controllers and the one in the
    volume are no others.
    """
    assert sorted(drive['serial'] for drive, _ in judged) == SERIALS
    assert [
        drive['serial']
        for drive, report in judged
        if drive['serial'] != report['serial_number']
    ] == []


def test_each_verdict_is_smartctls_own(judged):
    """None is better, none worse: nothing else is wrong with these drives."""
    assert {drive['serial']: drive['state'] for drive, _ in judged} == {
        report['serial_number']: told(report) for _, report in judged
    }
    assert {'OK', 'CRITICAL', 'UNKNOWN'} == {drive['state'] for drive, _ in judged}


def test_each_reading_is_smartctls_own(judged):
    """Status, temperature, hours, wear, errors."""
    ours = {
        (drive['serial'], reading['metric']): without_reason(reading['value'])
        for drive, _ in judged
        for reading in drive['readings']
    }
    theirs = {
        (report['serial_number'], metric): value
        for _, report in judged
        for metric, value in said(report).items()
    }
    both = ours.keys() & theirs.keys()

    assert len(both) >= 20
    assert {key: ours[key] for key in both} == {key: theirs[key] for key in both}


def test_nagios_sees_what_root_sees(machine):
    """Through sudo and the rule of the package."""
    as_nagios, as_root = check(machine), machine.runs(PLUGIN)

    assert as_nagios.code == as_root.code == 2
    assert as_nagios.text.partition('\n|')[0] == as_root.text.partition('\n|')[0]


def test_nagios_may_change_nothing_on_a_drive(machine):
    """The same smartctl, another option."""
    assert (
        machine.runs(
            'sudo', '-n', '/usr/sbin/smartctl', '-s', 'off', SAS, user='nagios'
        ).code
        == 1
    )
    assert smartctl(machine, SAS)['smart_support']['enabled']


# --- a SAS drive in trouble -----------------------------------------------------------------------


def test_a_sas_drive_that_tests_the_alarm_is_ok_with_a_note(machine):
    """The drive's own words; afterwards nothing of it is left."""
    machine.does('sdparm', '--set=TEST=1,MRIE=6', SAS)
    words, tested = (
        smartctl(machine, SAS)['smart_status'],
        check(machine, '-v', '-d', SAS),
    )
    machine.does('sdparm', '--set=TEST=0', SAS)

    assert not words['passed']
    assert tested.code == 0
    assert 'EXCEEDED (FALSE)' in tested.text and ' the alarm' in tested.text
    after = check(machine, '-v', '-d', SAS)
    assert after.code == STATES[told(smartctl(machine, SAS))] == 0
    assert ' the alarm' not in after.text


def test_a_drive_that_does_not_watch_itself_is_unknown(machine):
    """smartctl says PASSED of it all the same; the program's advice ends that.

    The kernel's drive is so when new.
    """
    machine.shell(f'modprobe -r scsi_debug; {NEW_SAS_DRIVE}')
    report, result = smartctl(machine, SAS), check(machine, '-d', SAS)
    machine.shell(f'{WATCH_YOURSELF} {SAS}')

    assert report['smart_status']['passed']
    assert result.code == 3
    assert '[smart-disabled]' in result.text and '20000' in result.text
    assert 'smartctl -s on' in result.first_line
    assert check(machine, '-d', SAS).code == 0


def treat(machine: Machine, options: int, every: int) -> None:
    """Let the kernel's SAS drive treat each n-th command in one of the ways it knows."""
    machine.shell(f'echo {options} >{DEBUG}/opts; echo {every} >{DEBUG}/every_nth')


@contextmanager
def failing(machine: Machine, options: int, every: int) -> Iterator[None]:
    """Treat commands so for a while; afterwards the drive answers again."""
    treat(machine, options, every)
    try:
        yield
    finally:
        treat(machine, 0, 0)
        until(
            lambda: machine.runs('pgrep', 'smartctl').code,
            120,
            'the kernel gives the last command up',
        )


def hanging(machine: Machine) -> AbstractContextManager[None]:
    """Let the kernel's SAS drive answer no command."""
    return failing(machine, 4, 1)


@pytest.mark.parametrize('every', [1, 2, 3, 5])
def test_a_cable_that_loses_commands_makes_no_drive_good(machine, every):
    """Aborted commands: whoever is called good has said so himself."""
    with failing(machine, 0x10, every):
        result = check(machine, '-d', SAS)

    assert result.code in (0, 3), result.text
    good = [
        value.number
        for label, value in perfdata(result.text).items()
        if label.endswith('_smart_status')
    ]
    assert result.code == 3 or good == [1]


def test_a_drive_that_hangs_costs_one_process_and_hides_nobody(machine):
    """In state D, where no signal reaches smartctl; the other drive has its verdict, the time
    limit holds.
    """
    with hanging(machine):
        first = check(
            machine, '-d', SATA, '-d', SAS, '--drive-timeout', '8', '-t', '20'
        )
        again = check(
            machine, '-d', SATA, '-d', SAS, '--drive-timeout', '8', '-t', '20'
        )
        assert machine.shell('pgrep -c smartctl') == '1\n'

    assert (first.code, again.code) == (3, 3)
    assert '[timeout]' in first.text
    assert '[process-hangs]' in again.text
    assert all(
        re.search('^OK .* SATA0001', result.text, re.MULTILINE)
        for result in (first, again)
    )
    # the kernel has given the command up; nobody has to clear anything
    assert check(machine, '-d', SAS).code == 0


# --- the service that writes metrics --------------------------------------------------------------


def drives_read(text: str) -> dict[str, bool]:
    """Return by serial number whether a drive was read."""
    serial_of = dict(
        re.findall(
            r'^smart_drive_info\{.*?device="([^"]*)".*?serial="([^"]+)"',
            text,
            re.MULTILINE,
        )
    )
    return {
        # the file has "1.0", node_exporter "1"
        serial_of.get(device, device): read == '1'
        for device, read in re.findall(
            r'^smart_drive_read_ok\{device="([^"]*)"\} ([01])\b', text, re.MULTILINE
        )
    }


def verdicts(text: str) -> list[str]:
    """Return what metrics say of drives, apart from values that change from minute to minute."""
    return sorted(
        line
        for line in text.splitlines()
        if re.match('smart_(drive_|reading_|status)', line)
    )


def outcome(machine: Machine) -> str:
    """Return how the last run of the service ended, as systemd has it: "success"."""
    return machine.does(
        'systemctl', 'show', '--property=Result', '--value', SERVICE
    ).strip()


def test_the_service_reads_what_root_reads(machine):
    """Each right that it gives up is one that smartctl does not need at any of these
    controllers.
    """
    started = machine.runs('systemctl', 'start', SERVICE)
    unconfined = machine.runs(PLUGIN, 'metrics', '--scan')

    assert (started.code, outcome(machine)) == (0, 'success'), machine.runs(
        'journalctl', '-u', SERVICE
    ).text
    written = machine.does('cat', PROM)
    assert sorted(drives_read(written)) == SERIALS
    assert unconfined.code == 0, unconfined
    assert verdicts(written) == verdicts(unconfined.text)


@contextmanager
def changed(machine: Machine, *settings: str) -> Iterator[None]:
    """Change the service for a while, as `systemctl edit` does."""
    folder = f'/etc/systemd/system/{SERVICE}.d'
    lines = ' '.join(shlex.quote(line) for line in ('[Service]', *settings))
    machine.shell(
        f'mkdir {folder}; printf "%s\\n" {lines} >{folder}/override.conf; systemctl daemon-reload'
    )
    try:
        yield
    finally:
        machine.shell(f'rm -r {folder}; systemctl daemon-reload')


def test_the_service_may_not_set_the_clock_read_the_kernels_log_or_use_the_network(
    machine,
):
    """Another program in its place; systemd only warns about a directive that it does not know."""
    machine.shell(f'printf "%s" {shlex.quote(FORBIDDEN)} >/usr/local/lib/forbidden')
    with changed(
        machine,
        'ExecStart=',
        'ExecStart=/usr/bin/python3 /usr/local/lib/forbidden',
        'StandardOutput=file:/run/tried',
    ):
        machine.does('systemctl', 'start', SERVICE)

    assert machine.does('cat', '/run/tried').split() == [
        'refused',
        'refused',
        'refused',
        'allowed',
    ]


def run_beside_a_hanging_drive(machine: Machine) -> list[str]:
    """Run the service; return the state of each smartctl that it leaves behind."""
    code = machine.runs('systemctl', 'start', SERVICE, seconds=300).code
    left = machine.shell('ps -C smartctl -o state= || :').split()

    assert (code, outcome(machine)) == (0, 'success'), machine.runs(
        'journalctl', '-u', SERVICE
    ).text
    assert sorted(drives_read(machine.does('cat', PROM)).values()) == [False, True]
    return left


def test_the_service_succeeds_while_a_drive_hangs_and_reads_it_again_afterwards(
    machine,
):
    """smartctl stays in state D, where nobody can end it; neither this run nor the next one
    waits for it.
    """
    with changed(machine, TWO_DRIVES):
        with hanging(machine):
            assert run_beside_a_hanging_drive(machine) == ['D']
            assert len(run_beside_a_hanging_drive(machine)) <= 1
        machine.does('systemctl', 'start', SERVICE)

    assert drives_read(machine.does('cat', PROM)) == {'SATA0001': True, '20000': True}


# --- what has no verdict --------------------------------------------------------------------------


@pytest.mark.parametrize(
    'address, words',
    [
        pytest.param('/dev/sr0', 'optical drive', id='optical'),
        pytest.param('/dev/vda', 'virtual disk', id='virtio-blk'),
        pytest.param(VIRTUAL, 'virtual disk', id='virtio-scsi'),
        pytest.param(USB, 'Unknown USB bridge', id='usb'),
        pytest.param(f'scsi@{USB}', 'virtual disk', id='usb-as-scsi'),
        pytest.param('/dev/sdz', 'was not found', id='absent'),
        pytest.param(f'{BY_ID}/ata-GONE', 'was not found', id='absent-by-id'),
    ],
)
def test_what_smartctl_says_nothing_of_is_unknown_with_its_reason(
    machine, address, words
):
    """smartctl itself has no verdict there, either."""
    kind, _, path = address.rpartition('@')
    of_kind = ['-d', kind] if kind else []
    result = check(machine, '-d', address)

    assert told(smartctl(machine, *of_kind, path)) == 'UNKNOWN'
    assert result.code == 3
    assert words in result.text


# --- MegaRAID -------------------------------------------------------------------------------------


def test_drives_behind_megaraid_are_named_and_empty_slots_are_passed_over(machine):
    """QEMU's have no SMART, and smartctl says so; who they are is known all the same."""
    host = host_of(machine, 'megaraid_sas')
    report = smartctl(machine, '-d', 'megaraid,1', f'/dev/bus/{host}')
    result = check(machine, '-d', f'megaraid,[0-3]@/dev/bus/{host}')
    names = [line.split()[1] for line in result.text.splitlines()[1:]]

    assert not report['smart_support']['available']
    assert result.code == 3
    assert names == [f'bus_{host}_megaraid_0', f'bus_{host}_megaraid_1']
    assert 'RAID0001' in result.text and report['serial_number'] in result.text


def test_a_host_number_that_changes_is_told_and_a_name_by_id_goes_on_to_work(machine):
    """The driver comes back as another host, since a second controller was quicker."""
    before = host_of(machine, 'megaraid_sas')
    machine.shell(
        f'modprobe -r megaraid_sas; echo 1 >{DEBUG}/add_host; modprobe megaraid_sas'
    )
    settled(machine, RAID)
    now = host_of(machine, 'megaraid_sas')
    old, by_id = (
        check(machine, '-d', f'megaraid,0@{path}')
        for path in (f'/dev/bus/{before}', RAID)
    )
    machine.shell(f'echo -1 >{DEBUG}/add_host')

    assert before != now
    assert f'host {before} ' in old.first_line and f'host {now} ' in old.first_line
    assert 'RAID0001' in by_id.text


def test_a_drive_pulled_from_megaraid_is_missed_and_found_again(machine):
    """A range of slots passes over empty ones; --expect says how many there should be."""
    slots = f'megaraid,[0-3]@/dev/bus/{host_of(machine, "megaraid_sas")}'
    machine.controls('device_del', id='raid1')
    missed = until(
        lambda: missing(check(machine, '-d', slots, '--expect', '2')),
        60,
        'the drive is gone',
    )
    machine.plugs('raid1')
    settled(machine, OTHER_RAID)
    found = check(machine, '-d', slots, '--expect', '2')

    assert missed.code == 2 and 'RAID0002' not in missed.text
    assert found.code == 3 and 'RAID0002' in found.text


def missing(result: Result) -> Result | None:
    return result if '[too-few-drives]' in result.first_line else None


# --- drives that go and come ----------------------------------------------------------------------


def test_an_nvme_drive_pulled_while_checks_run_is_missed_and_found_again(machine):
    """Each check answers in its form, whatever the moment; afterwards all is as before."""
    machine.starts(
        f'for i in 1 2 3 4; do runuser -u nagios -- {PLUGIN} -d {WARNING}; echo "code $?"; done '
        '>/tmp/checks 2>&1'
    )
    machine.controls('device_del', id='warning')
    settled(machine, WARNING, is_there=False)
    missed = check(machine, *PATIENT, '--expect', str(len(SERIALS)))
    machine.plugs('warning')
    settled(machine, WARNING)
    found = check(machine, *PATIENT, '--expect', str(len(SERIALS)))
    answers = until(
        lambda: four_answers(machine.does('cat', '/tmp/checks')),
        120,
        'four checks have ended',
    )

    assert missed.code == 2 and f'1 of {len(SERIALS)} expected' in missed.first_line
    assert found.code == 2 and 'missing' not in found.first_line
    assert set(answers) <= {('CRITICAL', 2), ('UNKNOWN', 3)}


def four_answers(text: str) -> list[tuple[str, int]]:
    """Return the state that each check tells and its exit code, once all have ended."""
    assert 'Traceback' not in text
    if len(re.findall('^code ', text, re.MULTILINE)) < 4:
        return []
    answers = re.findall(
        r'^SMART ([A-Z]+) - [^\n]*\n(?:[^\n]*\n)*?code ([0-9]+)$', text, re.MULTILINE
    )
    assert len(answers) == 4, text
    return [(state, int(code)) for state, code in answers]


def test_one_of_two_ways_to_an_nvme_drive_is_enough(machine):
    """Through whichever controller it answers, it is one drive."""
    controllers = machine.shell('grep -l NVME0003 /sys/class/nvme/nvme*/serial').split()
    results = [
        check(machine, '-d', f'/dev/{path.split("/")[4]}') for path in controllers
    ]

    assert [(result.code, 'NVME0003' in result.text) for result in results] == [
        (0, True)
    ] * 2
    together = check(
        machine,
        *(
            word
            for path in controllers
            for word in ('-d', f'/dev/{path.split("/")[4]}')
        ),
    )
    assert together.first_line.endswith('1 drive: 1 ok')


# --- Debian 13 ------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def newer(machines) -> Machine:
    """Debian 13 with its kernel, its smartctl and its sudo, and NVMe drives."""
    running: Machine = machines['trixie'].result()
    return running


def test_debian_13_scans_as_smartctl_does(newer):
    """One of its drives warns."""
    result = check(newer)

    assert result.code == 2
    assert sorted(re.findall('NVME000[0-9]', result.text.partition('\n')[2])) == [
        'NVME0001',
        'NVME0002',
        'NVME0003',
    ]
    assert result.first_line.endswith('3 drives: 1 critical, 2 ok')


# --- Debian 13: metrics from the timer to node_exporter -------------------------------------------


def timer_runs_the_service(machine: Machine) -> None:
    """Let the clock pass the timer's next time, its delay included, and wait until the service
    has ended.
    """
    ended = last_end(machine)
    machine.shell('date --set "@$(( $(date +%s) + 400 ))"')
    until(
        lambda: last_end(machine) not in (ended, '0'),
        200,
        'the timer has run the service',
    )


def last_end(machine: Machine) -> str:
    """Return when the service's last run ended, in microseconds since the start of the machine;
    "0": not yet.
    """
    return machine.does(
        'systemctl',
        'show',
        '--property=InactiveEnterTimestampMonotonic',
        '--value',
        SERVICE,
    ).strip()


def test_the_timer_keeps_node_exporter_up_to_date_across_a_reboot_and_a_hanging_drive(
    newer,
):
    """Enabled as doc/how-to/metrics.md says; a drive hangs at the first run, then the guest
    restarts.
    """
    newer.shell(
        f'{NEW_SAS_DRIVE}; {WATCH_YOURSELF} {BY_ID}/wwn-0x3333333*; systemctl enable --now {TIMER}'
    )
    with hanging(newer):
        timer_runs_the_service(newer)
        first = (
            outcome(newer),
            drives_read(newer.does('python3', '-c', ASK_NODE_EXPORTER)),
        )
    newer.does('rm', PROM)
    newer.reboots()
    timer_runs_the_service(newer)

    assert (first[0], sorted(first[1].values())) == (
        'success',
        [False, True, True, True],
    )
    assert outcome(newer) == 'success'
    assert drives_read(newer.does('python3', '-c', ASK_NODE_EXPORTER)) == {
        f'NVME000{number}': True for number in (1, 2, 3)
    }
