"""The installed plugin, the real smartctl and simulated drives: what a daemon sees in the end."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Result, perfdata, run
from simulator import Machine, names, read, why_not
from simulator.descriptions import undated

PLUGIN = Path(sys.executable).with_name('check_smart_attributes')
STATUSES = {'OK': 0, 'WARNING': 1, 'CRITICAL': 2, 'UNKNOWN': 3}

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.skipif(
        not PLUGIN.exists(),
        reason='check_smart_attributes is not installed beside this Python: make venv',
    ),
]


@pytest.fixture
def machine(tmp_path) -> Machine:
    """A machine without drives."""
    return Machine(tmp_path / 'machine')


def check(machine, *arguments, smartctl='', timeout=60) -> Result:
    """Run the plugin as a daemon does."""
    return run(
        '-p', smartctl or machine.smartctl, '--nosudo', *arguments, timeout=timeout
    )


def expected(drive, name):
    """Return first line, exit code and perfdata that a drive's file expects under a name."""
    first_line = read(drive).expect['first_line'].replace('{drive}', name)
    if '_megaraid_' in name or '_cciss_' in name:  # what lies on it is not known
        first_line = first_line.replace(
            'replace it now', 'copy the data, then replace it'
        )
    if len(first_line.split('; ')[0]) > 120:  # no room for a second finding
        first_line = re.sub(r'(FAILED), [^:]*:', r'\1:', first_line)
    numbers = {
        f'{name}_{metric}': number
        for metric, number in read(drive).expect['perfdata'].items()
    }
    return (
        first_line.casefold().split('; ')[0],
        STATUSES[first_line.split()[1]],
        numbers,
    )


def told(result):
    """Return the same of what the plugin said."""
    # SCSI's own words are capitals up to smartctl 7.3. Attribute 170 of Phison got another name in
    # 7.5.
    first_line = (
        undated(result.first_line)
        .casefold()
        .replace('bad_blk_ct_lat/erl', 'bad_blk_ct_erl/lat')
    ).split('; ')[0]  # how much follows depends on the length of the name
    return (
        first_line,
        result.code,
        {label: value.number for label, value in perfdata(result.text).items()},
    )


def codes(result):
    """Return the code of each drive that was not read."""
    return re.findall(r'(?m)^[A-Z]+ .*?  \[([a-z-]+)\]', result.text)


# --- every drive ---------------------------------------------------------------------------


@pytest.mark.parametrize('drive', names())
def test_the_plugin_says_of_each_drive_what_its_file_expects(machine, drive):
    """State, first line, exit code, and every number that is graphed.

    To renew them: python -m simulator expect.
    """
    address = '/dev/nvme0' if read(drive).protocol == 'NVMe' else '/dev/sda'
    machine.add(address, drive)

    result = check(machine, '-d', address)

    assert told(result) == expected(drive, address[5:])


def test_what_a_file_expects_fits_what_its_name_promises():
    """Expectations are written by a program; this is what a person would say of the names."""
    states = {drive: read(drive).expect['first_line'].split()[1] for drive in names()}
    promises = {
        'healthy': 'OK',
        'worn': 'WARNING',
        'worn-out': 'CRITICAL',
        'failing': 'CRITICAL',
        'volume': 'UNKNOWN',
    }

    assert [
        drive
        for drive, state in states.items()
        for end, promised in promises.items()
        if drive.endswith('-' + end) and state != promised
    ] == []
    assert {
        drive[13:]
        for drive, state in states.items()
        if drive[:13] == 'nvme-warning-' and state == 'WARNING'
    } == {'temperature'}


# --- every transport -------------------------------------------------------------------------

SATA = ('samsung-healthy', 'intel-worn', 'wd-hdd-failing')
SAS = ('sas-toshiba-healthy', 'sas-ssd-worn', 'sas-predicted-failure')
NVME = ('nvme-samsung-healthy', 'nvme-intel-worn', 'nvme-warning-read-only')
WAYS = [
    ('/dev/sda', 'sda', SATA),
    ('sat@/dev/sda', 'sda', SATA),
    ('/dev/sg2', 'sg2', SATA),
    ('sat@/dev/sg2', 'sg2', SATA),
    ('/dev/disk/by-id/ata-EXAMPLE', 'ata_example', SATA),
    ('/dev/sdb', 'sdb', SAS),
    ('scsi@/dev/sg3', 'sg3', SAS),
    ('/dev/nvme0', 'nvme0', NVME),
    ('nvme@/dev/nvme0', 'nvme0', NVME),
    ('/dev/nvme0n1', 'nvme0n1', NVME),
    ('megaraid,4@/dev/bus/0', 'bus_0_megaraid_4', SATA),
    ('sat+megaraid,4@/dev/bus/0', 'bus_0_megaraid_4', SATA),
    ('megaraid,4@/dev/sdd', 'sdd_megaraid_4', SATA),
    ('sat+megaraid,4@/dev/sdd', 'sdd_megaraid_4', SATA),
    ('megaraid,7@/dev/bus/6', 'bus_6_megaraid_7', SAS),
    ('megaraid,7@/dev/sde', 'sde_megaraid_7', SAS),
    ('cciss,0@/dev/sg0', 'sg0_cciss_0', SATA),
    ('cciss,1@/dev/sg0', 'sg0_cciss_1', SAS),
]


@pytest.mark.libraries
@pytest.mark.parametrize(
    ('address', 'name', 'drive'),
    [(address, name, drive) for address, name, drives in WAYS for drive in drives],
)
def test_a_drive_is_judged_the_same_through_every_transport(
    machine, address, name, drive
):
    """Healthy, worn and failing: state, first line, perfdata and exit code."""
    sata, sas, nvme = (
        drive if drive in drives else drives[0] for drives in (SATA, SAS, NVME)
    )
    for place, content in (
        ('/dev/sda', sata),
        ('/dev/sdb', sas),
        ('/dev/nvme0', nvme),
        ('megaraid,4@/dev/bus/0', sata),
        ('megaraid,7@/dev/bus/6', sas),
        ('cciss,0@/dev/sg0', sata),
        ('cciss,1@/dev/sg0', sas),
    ):
        machine.add(place, content)
    for path, host in (('/dev/sdd', 0), ('/dev/sde', 6)):
        machine.add(path, 'dell-perc-volume', host=host)
    machine.alias('/dev/sg2', '/dev/sda')
    machine.alias('/dev/sg3', '/dev/sdb')
    machine.link('/dev/disk/by-id/ata-EXAMPLE', '/dev/sda')

    assert told(check(machine, '-d', address)) == expected(drive, name)


@pytest.mark.parametrize(
    'arguments',
    [
        ['-d', 'megaraid,[0-7]@/dev/bus/0'],
        ['-d', 'megaraid,0-7@/dev/bus/0'],
        ['-d', 'megaraid,[0-7]@/dev/sda'],
        [],
    ],
    ids=lambda words: ' '.join(words) or 'scan',
)
def test_of_eight_slots_with_three_empty_ones_five_drives_are_reported(
    tmp_path, arguments
):
    """By a range as well as by a scan; the volume that the scan finds is no drive and no alarm."""
    machine = Machine.described('megaraid-eight-slots', tmp_path / 'machine')

    result = check(machine, *arguments, '-v')

    bus = 'sda' if '/dev/sda' in ' '.join(arguments) else 'bus_0'
    assert result.code == 2
    assert f' {bus}_megaraid_7: used write endurance 103 % ' in result.first_line
    assert [
        result.line_of(f'{bus}_megaraid_{slot}').split()[0] for slot in (0, 1, 4, 5, 7)
    ] == [
        'OK',
        'OK',
        'WARNING',
        'OK',
        'CRITICAL',
    ]
    assert {label[: len(bus) + 11] for label in perfdata(result.text)} == {
        f'{bus}_megaraid_{slot}' for slot in (0, 1, 4, 5, 7)
    }
    left_out = [line for line in result.text.splitlines() if line.endswith('left out')]
    assert len(left_out) == (3 if arguments else 1), result.text


def test_a_failing_sata_drive_behind_raid_fails_by_its_attributes(machine):
    """smartctl cannot ask for the status there: the attribute at its threshold tells, and a
    status alone does not.
    """
    machine.add('megaraid,1@/dev/bus/0', 'hitachi-failing')
    machine.add(
        'megaraid,2@/dev/bus/0', read('intel-healthy')._replace(health='FAILED')
    )

    result = check(machine, '-d', 'megaraid,1-2@/dev/bus/0')

    assert 'smart_status: FAILED; attribute 5' in result.line_of('bus_0_megaraid_1')
    assert result.line_of('bus_0_megaraid_2').startswith('OK ')


def test_a_whole_machine_is_found_by_its_scan(tmp_path):
    """SATA, SAS, NVMe and MegaRAID at once: the worst first, the volume left out, the sleeping
    one left alone.
    """
    machine = Machine.described('playground', tmp_path / 'machine')

    result = check(machine, '-v')

    assert result.code == 2
    assert ' sde: ' in result.first_line
    states = {
        line.split()[1]: line.split()[0]
        for line in result.text.splitlines()[1:]
        if line.split()[0] in STATUSES
    }
    assert states == {
        'bus_0_megaraid_4': 'CRITICAL',
        'nvme1': 'CRITICAL',
        'sde': 'CRITICAL',
        'sdf': 'CRITICAL',
        'bus_0_megaraid_1': 'WARNING',
        'bus_0_megaraid_7': 'WARNING',
        'sdb': 'WARNING',
        'bus_0_megaraid_0': 'OK',
        'bus_0_megaraid_5': 'OK',
        'nvme0': 'OK',
        'sdc': 'OK',
        'sdd': 'OK',
    }
    assert list(states)[:4] == ['sde', 'sdf', 'nvme1', 'bus_0_megaraid_4']
    assert ' sda is a RAID' in result.text


def test_a_smart_array_volume_says_how_its_drives_are_reached(machine):
    """smartctl sees in /sys that the driver is hpsa and the device a volume."""
    machine.add('/dev/sda', 'avago-raid-volume')
    device = machine.folder / 'sys/devices/pci0000:00/host0/target0:1:0/0:1:0:0'
    device.mkdir(parents=True)
    (device / 'raid_level').write_text('RAID 1(+0)\n')
    (machine.folder / 'sys/class/scsi_host/host0').mkdir()
    (machine.folder / 'sys/class/scsi_host/host0/proc_name').write_text('hpsa\n')
    (machine.folder / 'sys/block/sda').mkdir(parents=True)
    (machine.folder / 'sys/block/sda/device').symlink_to(
        '../../devices/pci0000:00/host0/target0:1:0/0:1:0:0'
    )

    result = check(machine, '-d', '/dev/sda')

    assert result.code == 3
    assert codes(result) == ['raid-volume'] and ' cciss,N@/dev/sda' in result.first_line


# --- every fault -------------------------------------------------------------------------------

PLACES = {
    'sata': ('/dev/sda', 'intel-healthy', 'sda'),
    'sas': ('/dev/sdb', 'sas-seagate-healthy', 'sdb'),
    'nvme': ('/dev/nvme0', 'nvme-samsung-healthy', 'nvme0'),
    'megaraid-sata': ('megaraid,4@/dev/bus/0', 'intel-healthy', 'bus_0_megaraid_4'),
    'megaraid-sas': (
        'megaraid,0@/dev/bus/0',
        'sas-seagate-healthy',
        'bus_0_megaraid_0',
    ),
    'cciss-sata': ('cciss,0@/dev/sg0', 'intel-healthy', 'sg0_cciss_0'),
    'cciss-sas': ('cciss,1@/dev/sg0', 'sas-seagate-healthy', 'sg0_cciss_1'),
}
# Place, number of the command that fails, code of the reason; "read": only the health status is
# missing, which is a finding.
BROKEN = [
    ('sata', 0, 'identify-failed'),
    ('sata', 4, 'smart-data-unreadable'),
    ('sata', 5, 'read'),
    ('sas', 0, 'identify-failed'),
    ('sas', 6, 'not-answering'),
    ('nvme', 0, 'identify-failed'),
    ('nvme', 2, 'nvme-log-unreadable'),
    ('megaraid-sata', 0, 'empty-slot'),
    ('megaraid-sata', 4, 'read'),
    ('megaraid-sas', 0, 'empty-slot'),
    ('cciss-sata', 0, 'empty-slot'),
    ('cciss-sas', 0, 'empty-slot'),
    ('cciss-sas', 4, 'not-answering'),
]
FAULTS = [
    *(
        (place, {how: number}, code)
        for place, number, code in BROKEN
        for how in ('error', 'vanish')
    ),
    *((place, {'hang': 0}, 'timeout') for place in PLACES),
    *((place, {'hang': 2}, 'timeout') for place in ('sata', 'nvme')),
    *(
        (place, {'latency': 300}, 'timeout')
        for place in ('sata', 'nvme', 'megaraid-sas')
    ),
    *((place, {'denied': True}, 'no-permission') for place in ('sata', 'sas', 'nvme')),
    *(
        (place, {'disabled': True}, 'smart-disabled')
        for place in PLACES
        if place != 'nvme'
    ),
]


@pytest.mark.xdist_group('time')
@pytest.mark.parametrize(('place', 'fault', 'code'), FAULTS, ids=str)
def test_a_drive_that_cannot_be_read_is_unknown_with_the_reason(
    machine, place, fault, code
):
    """State, code and exit code; no perfdata.

    Two errors may look the same to smartctl.
    """
    address, drive, name = PLACES[place]
    machine.add(address, drive, **fault)

    result = check(
        machine, '-d', address, '--drive-timeout', '0.5' if code == 'timeout' else '20'
    )

    assert re.match(rf'SMART UNKNOWN - {name}\b', result.first_line)
    assert codes(result) == ([] if code == 'read' else [code])
    assert result.code == 3
    assert code == 'read' or perfdata(result.text) == {}


@pytest.mark.parametrize(
    ('place', 'fault'),
    [
        *((place, {'latency': 5}) for place in PLACES),
        ('sata', {'checksum': 'smart-data'}),
        ('sata', {'checksum': 'identify'}),
        ('megaraid-sata', {'checksum': 'smart-thresholds'}),
        ('sata', {'error': 13}),
        ('sata', {'vanish': 13}),
        ('nvme', {'error': 3}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_drive_that_answered_before_its_fault_is_judged(machine, place, fault):
    """Slow, a wrong checksum, errors after everything that matters was read: the numbers count, a
    note tells of the rest.
    """
    address, drive, name = PLACES[place]
    machine.add(address, drive, **fault)

    result = check(machine, '-d', address)

    assert told(result) == expected(drive, name)


ZEROS = dict.fromkeys(read('nvme-samsung-healthy').log, 0)


@pytest.mark.parametrize('is_recorded', [False, True], ids=['live', 'recorded-text'])
@pytest.mark.parametrize(
    'drive',
    [
        read('nvme-samsung-healthy')._replace(log={**ZEROS, 'temperature': -273}),
        read('nvme-samsung-healthy')._replace(log={**ZEROS, 'temperature': 40}),
        read('intel-healthy')._replace(attributes=(), statistics=()),
    ],
    ids=['log-0-kelvin', 'log-with-temperature', 'attributes'],
)
def test_a_drive_that_tells_nothing_but_zeros_is_unknown(
    machine, tmp_path, is_recorded, drive
):
    """A block of zeros has a right checksum; it was 0 % used, 0 hours old and OK."""
    address = '/dev/nvme0' if drive.log else '/dev/sda'
    machine.add(address, drive)
    if is_recorded:
        result = run('--report', recorded(machine, tmp_path, '-a', address))
    else:
        result = check(machine, '-d', address)

    assert result.code == 3
    assert codes(result) == ['smart-data-empty']
    assert drive.model in result.text


def recorded(machine, folder, *words):
    """Return a file of what smartctl prints."""
    done = subprocess.run([machine.smartctl, *words], capture_output=True, check=False)
    (folder / 'told.txt').write_bytes(done.stdout)
    return str(folder / 'told.txt')


def test_a_wrong_checksum_that_a_recording_tells_is_a_note(machine, tmp_path):
    """smartctl says it in its text only."""
    machine.add('/dev/sda', 'intel-worn', checksum='smart-data')
    report = recorded(machine, tmp_path, '-a', '/dev/sda')

    assert 'invalid SMART checksum.' in run('--report', report, '-v').text


@pytest.mark.parametrize('fault', [{'error': 9}, {'vanish': 9}], ids=str)
def test_logs_that_a_drive_no_longer_gave_are_told_with_v(machine, fault):
    """Health and attributes were read; the admin who looks closer learns that the rest is
    missing.
    """
    machine.add('/dev/sda', 'intel-healthy', **fault)

    result = check(machine, '-d', '/dev/sda', '-v')

    assert result.code == 0
    assert 'checksum was wrong' in result.text


@pytest.mark.parametrize('place', ['sata', 'sas', 'megaraid-sas', 'cciss-sas'])
def test_a_sleeping_drive_is_ok_and_counts(machine, place):
    """Only CHECK POWER MODE (ATA) or REQUEST SENSE (SCSI) may reach it: anything else may wake
    it up.
    """
    address, drive, name = PLACES[place]
    folder = machine.add(address, drive, asleep=True, recorded=True)

    result = check(machine, '-d', address, '--expect', '1')

    assert result.code == 0
    assert result.first_line == 'SMART OK - 1 drive: 1 ok'
    assert 'is in STANDBY' in result.line_of(name)
    assert {command.rpartition(' ')[0] for command in machine.commands(folder)} <= {
        'scsi 12 00',
        'scsi 03 00',
        'ata ec 00',
        'ata e5 00',
    }


def test_the_plugin_sends_nothing_but_reading_commands(tmp_path):
    """To every drive of a whole machine: it runs on disks in use."""
    machine = Machine.described('playground', tmp_path / 'machine')
    settings = [
        *machine.folder.glob('drives/*/settings'),
        *machine.folder.glob('megaraid/*/*/settings'),
    ]
    for file in settings:
        file.write_text(file.read_text() + 'recorded 1\n')

    check(machine)

    sent = {command for file in settings for command in machine.commands(file.parent)}
    kinds = {
        ' '.join(command.split()[:3])
        if command.startswith('ata')
        else ' '.join(command.split()[:2])
        for command in sent
    }
    # INQUIRY, TEST UNIT READY, REQUEST SENSE, MODE SENSE, LOG SENSE, READ CAPACITY, READ DEFECTS,
    # REPORT SUPPORTED OPERATION CODES; IDENTIFY, CHECK POWER MODE, READ LOG EXT; SMART: read data,
    # thresholds, log, return status; NVMe: get log page, identify.
    assert kinds <= {
        'scsi 12',
        'scsi 00',
        'scsi 03',
        'scsi 1a',
        'scsi 4d',
        'scsi 9e',
        'scsi b7',
        'scsi a3',
        'ata ec 00',
        'ata e5 00',
        'ata 2f 00',
        'ata b0 d0',
        'ata b0 d1',
        'ata b0 d5',
        'ata b0 da',
        'nvme 02',
        'nvme 06',
    }
    assert {'scsi 4d', 'ata b0 d0', 'nvme 02'} <= kinds


@pytest.mark.xdist_group('time')
def test_the_limit_for_all_drives_holds_when_each_has_time_left(machine):
    """-t ends the check though no drive is late by its own limit."""
    for letter in 'abcd':
        machine.add(
            f'/dev/sd{letter}',
            'samsung-healthy',
            serial=f'EXAMPLE-T-{letter}',
            **({'hang': 3} if letter == 'b' else {}),
        )

    result = check(machine, '-t', '5')

    assert result.line_of('sdb').startswith('UNKNOWN ')
    assert 'overall time limit' in result.line_of('sdb')
    assert result.first_line.endswith('; 4 drives: 1 unknown, 3 ok')
