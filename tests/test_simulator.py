"""The simulated drives themselves: what they were given is what smartctl prints, and no real
drive is in sight.
"""

import os
import subprocess
from pathlib import Path

import abilities
import pytest
from simulator import Machine, library, names, read, why_not

from smart_attributes.reading import json_report, text_report
from smart_attributes.reading.smartctl_calls import read_arguments

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

DRIVES = [name for name in names() if not name.endswith('-volume')]


@pytest.fixture
def machine(tmp_path) -> Machine:
    """A machine without drives."""
    return Machine(tmp_path / 'machine')


def smartctl(machine, *arguments, timeout=20):
    """Run smartctl on a machine."""
    return subprocess.run(
        [machine.smartctl, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def node(name):
    return '/dev/nvme0' if read(name).protocol == 'NVMe' else '/dev/sda'


# --- round trip: described, printed, read ---------------------------------------------------


TEXT_ONLY = ('non_medium_errors', 'background_unknown')


def comparable(report):
    """Return what JSON and text both have: not the exit status, the date of the run, raw numbers
    beside their words, what is missing, and two numbers that only text tells.
    """
    scsi = {
        name: number for name, number in report.scsi.items() if name not in TEXT_ONLY
    }
    rows = tuple(row._replace(raw_number=None) for row in report.attributes)
    return report._replace(
        exit_status=None, date=None, attributes=rows, scsi=scsi, gaps=()
    )


@pytest.mark.parametrize('name', DRIVES)
def test_smartctl_prints_and_the_plugin_reads_what_a_drive_was_given(machine, name):
    """Its identity and its tables, in JSON and in text; test_simulated_machines has all numbers
    that are graphed.
    """
    drive = read(name)
    machine.add(node(name), drive)

    as_json, as_text = (
        smartctl(machine, *read_arguments(node(name))[start:]).stdout
        for start in (0, 1)
    )
    report = json_report.parse(as_json)
    identity = report.identity

    assert comparable(report) == comparable(text_report.parse_report(as_text.encode()))
    assert (
        identity.protocol,
        identity.serial,
        identity.wwn,
        identity.capacity or 0,
    ) == (
        drive.protocol,
        drive.serial,
        drive.wwn,
        drive.capacity,
    )
    assert [row[:1] + row[2:5] for row in report.attributes] == [
        (row.id, row.value, row.worst, row.threshold) for row in drive.attributes
    ]
    if drive.protocol == 'NVMe':
        assert drive.log.items() <= report.nvme.items()
    else:
        assert [test.hours for test in report.self_tests] == [
            test.hours for test in drive.self_tests
        ]


def test_every_serial_number_and_every_wwn_is_made_up_and_used_once():
    """Real ones belong to somebody; and two drives with one serial number would be merged into
    one.
    """
    drives = [read(name) for name in names()]

    assert [
        drive.name for drive in drives if 'example' not in drive.serial.lower()
    ] == []
    assert [
        drive.name for drive in drives if drive.wwn and 'e1ec7' not in drive.wwn
    ] == []
    serials = [drive.serial for drive in drives]
    assert sorted(set(serials)) == sorted(serials)


# --- transports -----------------------------------------------------------------------------


# --- faults -----------------------------------------------------------------------------------


# --- real drives stay out of sight ----------------------------------------------------------------


@pytest.mark.parametrize(
    'path',
    ['/dev/vda', '/dev/zero', '/dev/ptmx', '//dev/ptmx', '/dev/../dev/ptmx', 'LINK'],
)
def test_no_real_device_can_be_reached(machine, path, tmp_path):
    """Neither by its name, nor by a roundabout spelling, nor through a link."""
    if path == 'LINK':
        path = str(tmp_path / 'link')
        os.symlink('/dev/ptmx', path)

    done = smartctl(machine, '-i', '-d', 'scsi', path)

    assert done.returncode == 2
    assert 'No such device' in done.stdout


def test_without_its_library_the_wrapper_refuses(machine, tmp_path):
    """ld.so would only warn, and smartctl would find the real drives."""
    wrapper = tmp_path / 'smartctl'
    script = Path(machine.smartctl).read_text()
    wrapper.write_text(script.replace('simulator.so', 'gone.so'))
    wrapper.chmod(0o755)

    done = subprocess.run(
        [str(wrapper), '--scan'], capture_output=True, text=True, check=False
    )

    assert done.returncode == 64
    assert done.stdout == '' and 'no simulated drives' in done.stderr


def test_every_way_of_smartctl_to_a_file_is_hooked():
    """A newer smartctl that calls openat() or statx() would see the real drives; then a hook is
    missing.
    """
    if not abilities.path_of('nm'):
        pytest.skip('nm (binutils) is not installed')
    asked = subprocess.run(
        ['nm', '-D', library.SMARTCTL], capture_output=True, text=True, check=True
    ).stdout
    hooked = subprocess.run(
        ['nm', '-D', '--defined-only', str(library.built())],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    to_files = {
        'open',
        'open64',
        'openat',
        'openat64',
        '__open_2',
        '__open64_2',
        'creat',
        'fopen',
        'fopen64',
        'freopen',
        'access',
        'faccessat',
        'stat',
        'stat64',
        'lstat',
        'lstat64',
        'fstatat',
        'fstatat64',
        'statx',
        '__xstat',
        '__lxstat',
        '__xstat64',
        '__lxstat64',
        'readlink',
        '__readlink_chk',
        'readlinkat',
        'realpath',
        '__realpath_chk',
        'canonicalize_file_name',
        'opendir',
        'scandir',
        'scandir64',
        'ftw',
        'nftw',
        'glob',
        'glob64',
        'mknod',
        '__xmknod',
        'unlink',
        'ioctl',
        '__ioctl_time64',
        'close',
        'chmod',
        'rename',
        'truncate',
        'execv',
        'execve',
        'system',
        'popen',
    }
    called = {
        line.split()[-1].partition('@')[0]
        for line in asked.splitlines()
        if ' U ' in line
    }

    assert called & to_files <= {line.split()[-1] for line in hooked.splitlines()}
    assert {'open', 'ioctl', 'glob'} <= called
