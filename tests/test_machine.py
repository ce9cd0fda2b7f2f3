"""machine: which commands read which drives, and what becomes of their answers.

No process is started.
"""

import os

import pytest
from conftest import drive

from smart_attributes import alarm
from smart_attributes.errors import DriveError, SmartError, UsageError
from smart_attributes.model import Answer, Device, HowRead, Report
from smart_attributes.reading.machine import DeviceList, Plan, find, named, read_all
from smart_attributes.reading.smartctl_calls import SCAN, read_arguments

HOW = HowRead(smartctl='/x', nosudo=True, drive_timeout=7)
END = 1234.5
SUDO = ('/usr/bin/sudo', '-n')
GOOD = {'stdout': drive('intel-worn'), 'status': 0}
TOO_OLD = {'stdout': b'=======> UNRECOGNIZED OPTION: json=c', 'status': 1}
ABSENT = {
    'stdout': b'/dev/bus/0 [megaraid_disk_06]: Device 6 does not exist',
    'status': 2,
}
SCANNED = (
    b'{"smartctl": {"argv": ["smartctl", "--scan"], "exit_status": 0}, "devices": ['
    b'{"name": "/dev/sdb", "type": "scsi"}, {"name": "/dev/zram0", "type": "scsi"}]}'
)
SCANNED_WITH_FAILURE = SCANNED.replace(b'"scsi"}, ', b'"scsi", "open_error": "x"}, ')


class Answers:
    """In place of processes: the answers to some commands, in their order, and who asked for
    them.
    """

    def __init__(self, *answers):
        self.left, self.calls = list(answers), []

    def run(self, commands, drive_timeout, deadline):
        self.calls.append((list(commands), drive_timeout, deadline))
        for command in commands:
            yield Answer(command, **{'outcome': 'done', **self.left.pop(0)})


def addresses(devices):
    return [(device.address, device.name) for device in devices.devices]


def asked(device):
    return Plan(device, (*SUDO, '/x', *read_arguments(device.path, device.type)))


# Which drives


def test_addresses_name_devices():
    assert addresses(named(['/dev/sda', 'cciss,0-1@/dev/sg0'])) == [
        ('/dev/sda', 'sda'),
        ('cciss,0@/dev/sg0', 'sg0_cciss_0'),
        ('cciss,1@/dev/sg0', 'sg0_cciss_1'),
    ]
    with pytest.raises(UsageError):
        named(['/etc/shadow'])


def test_named_drives_are_enough():
    devices = find(
        named(['sat@/dev/sda', 'scsi@/dev/sda'])._replace(is_whole=False),
        False,
        HOW,
        Answers(),
        END,
    )

    assert addresses(devices) == [
        ('sat@/dev/sda', 'sda_sat'),
        ('scsi@/dev/sda', 'sda_scsi'),
    ]
    assert (devices.is_scan, devices.is_whole) == (False, False)


@pytest.mark.parametrize(
    'words, is_scan, expected',
    [
        ([], False, ['/dev/sdb']),
        ([], True, ['/dev/sdb']),
        (['/dev/sda', '/dev/sdb'], True, ['/dev/sda', '/dev/sdb']),
    ],
)
def test_a_scan_adds_its_drives_to_the_named_ones(
    monkeypatch, words, is_scan, expected
):
    monkeypatch.setattr(os, 'geteuid', lambda: 1000)
    answers = Answers({'stdout': SCANNED, 'status': 0})
    devices = find(named(words)._replace(notes=('a note',)), is_scan, HOW, answers, END)

    assert [address for address, _ in addresses(devices)] == expected
    assert (
        devices.is_scan,
        devices.is_whole,
        devices.notes[0],
        len(devices.notes),
    ) == (
        True,
        True,
        'a note',
        2,
    )
    assert answers.calls == [([('/x', *SCAN)], 7, END)]


def test_a_scan_that_left_out_what_may_be_a_drive_is_not_whole():
    answers = Answers({'stdout': SCANNED_WITH_FAILURE, 'status': 0})

    assert not find(DeviceList(()), True, HOW, answers, END).is_whole


@pytest.mark.parametrize(
    'answer, code, reason',
    [
        (
            {'status': 3, 'stdout': b'strange'},
            'scan-failed',
            'failed with exit status 3',
        ),
        (
            {'status': 0, 'outcome': 'timeout', 'reason': 'no answer within 7 s'},
            'scan-failed',
            'no answer within 7 s',
        ),
        (
            {'status': 1, 'stderr': b'\xffsudo: smartctl: command not found'},
            'smartctl-missing',
            'cannot be read: smartctl was not found; install smartmontools, or give the path of '
            'smartctl with -p',
        ),
        (
            {'status': None, 'signal': 9, 'reason': 'terminated by signal 9'},
            'scan-failed',
            'terminated by signal 9',
        ),
    ],
)
def test_a_scan_that_fails_says_why(answer, code, reason):
    with pytest.raises(SmartError) as caught:
        find(DeviceList(()), True, HOW, Answers(answer), END)

    assert (caught.value.code, str(caught.value)) == (
        code,
        f'smartctl --scan: {reason}; name the drives with -d, or run smartctl by hand',
    )


# What they answer

SDA, SAT, RAID = (
    Device('/dev/sda'),
    Device('/dev/sda', 'sat'),
    Device('/dev/bus/0', 'sat+megaraid,6', 'six'),
)


def test_a_drive_gives_its_report_and_how_it_was_read():
    runner = Answers(
        {**GOOD, 'stderr': b'a\xff complaint', 'seconds': 1.5, 'waited': 0.5}
    )
    same = SDA._replace(name='other')
    first, second = read_all([asked(SDA), asked(same)], HOW, runner, END)
    command = asked(SDA).command

    assert runner.calls == [([command], 7, END)]
    assert (first.device, second.device) == (SDA, same)
    assert (
        first.identity.model == 'INTEL SSDSC2BB150G7' and first.outcome.exit_status == 0
    )
    assert (first.remark, first.seconds, first.waited) == ('', 1.5, 0.5)
    assert (
        first.transcript
        == f'{" ".join(command)}\n{drive("intel-worn").decode()}\na\ufffd complaint'
    )


OLD = (
    'cannot be read: this smartctl is older than 7.0 and does not support JSON; install '
    'a newer smartmontools'
)


def test_a_smartctl_without_json_is_asked_once():
    runner = Answers(TOO_OLD)
    [read] = read_all([asked(SDA)], HOW, runner, END)

    assert (read.outcome.code, str(read.outcome), len(runner.calls)) == (
        'smartctl-too-old',
        OLD,
        1,
    )


def test_a_scan_by_a_smartctl_without_json_has_one_sentence():
    """Naming the drives would not help."""
    with pytest.raises(SmartError) as caught:
        find(DeviceList(()), True, HOW, Answers(TOO_OLD), END)

    assert (caught.value.code, str(caught.value)) == (
        'smartctl-too-old',
        f'smartctl --scan: {OLD}',
    )


@pytest.mark.parametrize(
    'device, answers, read_as, is_read',
    [
        (RAID, [ABSENT, GOOD], 'megaraid,6', True),
        (RAID, [ABSENT, ABSENT], 'sat+megaraid,6', False),
        (RAID, [GOOD], 'sat+megaraid,6', True),
        (RAID._replace(type='megaraid,6'), [ABSENT], 'megaraid,6', False),
        (SAT, [ABSENT], 'sat', False),
        (Device('/dev/sda', 'scsi+sat'), [ABSENT], 'scsi+sat', False),
    ],
)
def test_a_drive_behind_raid_that_does_not_answer_through_sat_is_asked_without(
    device, answers, read_as, is_read
):
    runner = Answers(*answers)
    [read] = read_all([asked(device)], HOW, runner, END)

    assert (
        read.device == device._replace(type=read_as)
        and isinstance(read.outcome, Report) is is_read
    )
    assert [(call[0], *call[1:]) for call in runner.calls[1:]] == [
        ([asked(device._replace(type='megaraid,6')).command], 7, END)
    ] * (len(answers) - 1)


def test_drives_that_are_asked_again_keep_nobody_waiting():
    plans = [asked(RAID), asked(SDA), asked(SAT)]
    reads = list(read_all(plans, HOW, Answers(ABSENT, GOOD, GOOD, GOOD), END))

    assert [read.device.address for read in reads] == [
        '/dev/sda',
        'sat@/dev/sda',
        'megaraid,6@/dev/bus/0',
    ]


BY_HAND = ' '.join(asked(SDA).command)
SLOW = 'run it by hand: smartctl -x PATH; or increase --drive-timeout and -t'
APART = 'start the checks of one drive at different times, or increase -t'


@pytest.mark.parametrize(
    'answer, code, words',
    [
        (
            {'signal': 9},
            'smartctl-failed',
            f'cannot be read: smartctl was terminated by signal 9; run it by hand: {BY_HAND}',
        ),
        (
            {'outcome': 'too late'},
            'not-reached',
            'was not read: because; check fewer drives at once, or increase -t',
        ),
        ({'outcome': 'met'}, 'in-use', f'was not read: because; {APART}'),
        (
            {'outcome': 'cut short', 'waited': 1.26},
            'in-use',
            f'cannot be read: because, and another check was using the drive for 1.3 s of this '
            f'time; {APART}',
        ),
        ({'outcome': 'cut short'}, 'timeout', f'cannot be read: because; {SLOW}'),
        (
            {'outcome': 'timeout', 'waited': 1.0},
            'timeout',
            f'cannot be read: because; {SLOW}',
        ),
        (
            {'outcome': 'busy'},
            'process-hangs',
            'cannot be read: because; nothing more is sent to the drive until that '
            'process ends: check the drive, the controller and the kernel log (dmesg -T)',
        ),
        (
            {'outcome': 'not started'},
            'smartctl-failed',
            f'cannot be read: because; run it by hand: {BY_HAND}',
        ),
    ],
)
def test_a_process_without_an_answer_is_a_reason(answer, code, words):
    [read] = read_all([asked(SDA)], HOW, Answers({'reason': 'because', **answer}), END)

    assert (read.outcome.code, str(read.outcome)) == (code, words)


@pytest.mark.parametrize(
    'answer, code',
    [
        (
            {'status': 2, 'stderr': b'sudo: sorry, you must have a tty\xff'},
            'sudo-blocked',
        ),
        ({'status': 0}, 'report-empty'),
        ({'status': 3}, 'smartctl-failed'),
    ],
)
def test_the_words_and_the_status_of_smartctl_are_the_reason_where_there_is_no_report(
    answer, code
):
    [read] = read_all([asked(SDA)], HOW, Answers(answer), END)

    assert isinstance(read.outcome, DriveError) and read.outcome.code == code


def test_a_report_that_takes_too_long_is_a_reason(monkeypatch):
    def limited(function, *arguments):
        raise alarm.TakesTooLong('2 s')

    monkeypatch.setattr(alarm, 'limited', limited)
    [read] = read_all([asked(SDA)], HOW, Answers(GOOD), END)

    assert read.outcome.code == 'report-too-complex'
    assert ' 2 s; ' in str(read.outcome) and str(read.outcome).endswith(BY_HAND)
