"""FreeBSD, as far as it can be tried without it: sys.platform and the system calls are faked
(see tests/freebsd.py).
"""

import json
import os

import abilities
import freebsd
import pytest
from conftest import NOBODY, drive
from fake_smartctl import IGNORES_SIGTERM, FakeSmartctl
from test_processes import group_lives

from smart_attributes.reading import sudoers
from smart_attributes.reading.smartctl_calls import SCAN, read_arguments

# Address, the recording with which it answers, and its state.
DRIVES = {
    ('/dev/ada0', 'atacam'): ('intel-worn', 'WARNING'),
    ('/dev/da0', 'scsi'): ('hgst-failed', 'CRITICAL'),
    ('/dev/nvme0', 'nvme'): ('samsung-pm983-healthy', 'OK'),
    ('/dev/mfi0', 'megaraid,8'): ('intel-s3500-healthy', 'OK'),
}
NO_DRIVES = (('/dev/cd0', 'atacam'), ('/dev/ses0', 'scsi'), ('/dev/sa0', 'scsi'))
NAMES = {'ada0', 'da0', 'nvme0', 'mfi0_megaraid_8'}


@pytest.fixture
def machine(fake) -> FakeSmartctl:
    """A machine with drives of each kind, and devices of FreeBSD's scan that are no drives."""
    scan = {
        'smartctl': {'version': [7, 4], 'argv': ['smartctl', *SCAN], 'exit_status': 0},
        'devices': [
            {'name': path, 'info_name': path, 'type': kind, 'protocol': ''}
            for path, kind in (*DRIVES, *NO_DRIVES)
        ],
    }
    fake.answers(SCAN, json.dumps(scan))
    for (path, kind), (recording, _) in DRIVES.items():
        arguments = read_arguments(path, '' if kind in ('scsi', 'nvme') else kind)
        fake.answers(arguments, drive(recording))
    fake.answers(
        '--version', 'smartctl 7.4 2023-08-01 r5530 [FreeBSD 14.0-RELEASE amd64]'
    )
    return fake


def told(machine, *words) -> str:
    done = freebsd.run(*words, '-p', machine.path, '--nosudo')
    assert done.stderr == '' and 'internal-error' not in done.stdout, (
        done.stdout + done.stderr
    )
    return done.stdout


def test_a_check_reads_every_drive_of_the_scan(machine):
    """Each check ended with an error inside the program, because FreeBSD cannot start a process
    in a session.
    """
    first, *lines = told(machine).splitlines()

    states = [line.split()[:2] for line in lines[:-1] if not line.startswith('note')]
    assert {name for _, name in states} == NAMES
    assert first.startswith('SMART CRITICAL - da0: health status FAILED')
    assert sorted(state for state, _ in states) == sorted(
        state for _, state in DRIVES.values()
    )


@abilities.namespaces
def test_an_alert_says_that_the_use_of_the_drive_is_not_known(machine):
    """Without /sys nothing shows whether it holds the last copy of anything."""
    drives = json.loads(told(machine, 'triage', '--json'))['drives']

    assert [each['to_do'][:4] for each in drives if each['name'] == 'da0'] == ['copy']
    assert {each['name'] for each in drives} == NAMES


@pytest.mark.parametrize(
    'words',
    [
        'list --label by-id',
        'explain -d atacam@/dev/ada0',
        'metrics',
        'history',
        'doctor',
        'doctor --user nobody',
        'triage --zpool --dmsetup',
        '--label serial',
        'acknowledge --list',
        'draft -d atacam@/dev/ada0',
    ],
)
def test_no_command_needs_linux(machine, words):
    assert told(machine, *words.split()).strip()


def test_a_drive_that_hangs_ends_in_time_with_its_processes(fake):
    """The process group takes the place of the session, so that the child of the hanging program
    ends, too.
    """
    fake.answers(read_arguments('/dev/ada0'), before=IGNORES_SIGTERM)

    printed = told(fake, '-d', '/dev/ada0', '--drive-timeout', '1')

    assert 'ada0  -  [timeout] ' in printed
    assert [pid for pid in fake.pids() if group_lives(pid)] == []


# --- what has another place or name there ---------------------------------------------------------

ON_FREEBSD = {
    '/dev/ada0': True,
    '/dev/da12': True,
    '/dev/nda0': True,
    '/dev/pass3': True,
    '/dev/nvme0': True,
    '/dev/nvme0ns1': True,
    '/dev/mfi0': True,
    '/dev/twa0': True,
    '/dev/sda': False,
    '/dev/md0': False,
    '/dev/fd/0': False,
    '/dev/ada0p1': False,
    '/dev/da0/../mem': False,
}


def test_the_sudo_rule_admits_drives_of_the_system_that_it_is_for():
    """The rule for Linux stays as narrow as it was."""
    lines = [' '.join(read_arguments(path)) for path in ON_FREEBSD]
    code = (
        'import re\nfrom smart_attributes.reading import sudoers\nrules = '
        'list(sudoers.all_expressions())\n'
        'print(*(any(re.fullmatch(rule, line) for rule in rules) for line in sys.argv[1:]))'
    )
    here = [
        sudoers.admits(sudoers.all_expressions(), tuple(line.split())) for line in lines
    ]

    assert freebsd.run(*lines, code=code).stdout.split() == [
        str(expected) for expected in ON_FREEBSD.values()
    ]
    assert [path for path, is_here in zip(ON_FREEBSD, here) if is_here] == [
        '/dev/nvme0',
        '/dev/twa0',
        '/dev/sda',
    ]


def test_programs_and_locks_are_where_freebsd_has_them():
    """Packages are below /usr/local, and a folder /run would be new there. Source: hier(7)."""
    code = (
        'from smart_attributes import constants, state_directory\nfrom smart_attributes.reading '
        'import smartctl_calls\nprint(constants.SMARTCTL, state_directory.RUN, '
        'smartctl_calls.ENVIRONMENT["PATH"])'
    )

    assert freebsd.run(code=code).stdout.split() == [
        '/usr/local/sbin/smartctl',
        '/var/run/check-smart-attributes',
        '/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin',
    ]


@pytest.mark.skipif(
    not abilities.IS_ROOT, reason='only root can give a file another group'
)
@pytest.mark.parametrize(
    'mode, fault', [(0o755, '-'), (0o775, ' by others'), (0o757, ' by others')]
)
def test_root_does_not_run_a_program_that_others_can_change(open_place, mode, fault):
    """The owner and the mode decide there, since Python cannot read access-control lists."""
    program = open_place / 'smartctl'
    program.write_text('')
    os.chown(program, -1, NOBODY)
    program.chmod(mode)
    code = (
        'from smart_attributes import trust\nprint(trust.fault(sys.argv[1], 0) or "-")'
    )

    assert freebsd.run(str(program), code=code).stdout.strip().endswith(fault)


def test_doctor_names_the_path_that_keeps_the_program_from_starting(open_place):
    """Whether its file system allows programs is not known there, so it names the mode."""
    (open_place / 'program').touch()
    code = 'from smart_attributes import access\nprint(*access.on_the_way(sys.argv[1], os.X_OK))'

    assert 'mode=420' in freebsd.run(str(open_place / 'program'), code=code).stdout
