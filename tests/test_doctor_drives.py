"""What doctor says of each address, case by case: the survey is given as a value."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from smart_attributes.check.drive_tracking import Whereabouts
from smart_attributes.check.survey import Survey
from smart_attributes.doctor import drives
from smart_attributes.errors import (
    Coded,
    ControllerElsewhere,
    DriveAbsent,
    DriveAsleep,
    DriveError,
    DriveIsNoDrive,
    DriveNotReached,
    SudoRefused,
)
from smart_attributes.history.drive_records import DrivePlace, Record, Scope
from smart_attributes.model import Device, Identity, Read, Report, State, Verdict
from smart_attributes.output import doctor_findings

X1 = Identity(model='ACME X1', serial='SERIAL1')
NOBODY = Identity()
CHECK = ['check', '-t', '9']


def known(drive: Identity | None) -> Whereabouts:
    """Return what a history with this drive at /dev/sda knows."""
    places = [DrivePlace('/dev/sda', 1, 0)] if drive else []
    return Whereabouts(places, {1: Record(1, drive or NOBODY, 0, 0)}, Scope((), True), 0)


def survey(*pairs, whereabouts=None, faults=(), mistakes=(), nobody=(State.OK, ''), gone=()):
    verdicts, reads = zip(*pairs) if pairs else ((), ())
    return Survey(
        verdicts,
        reads,
        (),
        (),
        SimpleNamespace(mistakes=mistakes),
        nobody,
        faults,
        demands=tuple((State.WARNING, Coded('drive-gone', words)) for words in gone),
        whereabouts=whereabouts,
    )


def answering(name='sda', seconds=0.5, state=State.OK, identity=X1, remark=''):
    device = Device(f'/dev/{name}', name=name)
    return Verdict(device, identity, state), Read(
        device, Report(identity), remark=remark, seconds=seconds
    )


def silent(
    outcome,
    problem='cannot be opened',
    identity=NOBODY,
    state=State.UNKNOWN,
    path='/dev/sda',
    kind='',
):
    device = Device(path, kind, name='sda')
    return Verdict(device, identity, state, problem=problem, code=outcome.code), Read(
        device, outcome
    )


def told(*pairs, hide_serial=False, **more):
    return drives.findings(survey(*pairs, **more), hide_serial, CHECK)


def shown(finding):
    """Return what a finding says, without the values in its sentences."""
    return finding.code, finding.subject, finding.message, finding.remedy, finding.command


@pytest.mark.parametrize(
    'pair, hide_serial, words',
    [
        # well
        (answering(), False, 'ACME X1 SERIAL1, 0.5 s'),
        # hidden
        (answering(), True, 'ACME X1, 0.5 s'),
        # nameless
        (answering(seconds=1.234, identity=Identity()), False, 'unknown drive, 1.2 s'),
        # alerts
        (
            answering(state=State.WARNING),
            True,
            'ACME X1, 0.5 s; a check reports WARNING, and explain shows why',
        ),
    ],
)
def test_a_drive_that_answers_is_named_with_its_time(pair, hide_serial, words):
    [found] = told(pair, hide_serial=hide_serial)
    assert shown(found) == ('drive-answers', '/dev/sda', words, '', '')


def test_more_than_eight_drives_share_a_line_with_the_slowest():
    pairs = [answering(f'sd{letter}', number) for number, letter in enumerate('abcihgfed')]

    assert [each.subject for each in told(*pairs[:8])] == [
        each.device.address for each, _ in pairs[:8]
    ]
    [found] = told(*pairs)
    assert shown(found) == (
        'drives-answer',
        'drives',
        '9 drives answer, the slowest (/dev/sdd) in 8 s; list them: check_smart_attributes list',
        '',
        '',
    )
    assert found.fields == {'drives': 9, 'address': '/dev/sdd', 'seconds': 8}


@pytest.mark.parametrize(
    'pair, earlier, finding',
    [
        # sudo
        (
            silent(SudoRefused('x')),
            X1,
            ('drive-not-asked', 'not read: sudo refused the call, see "sudo rule"', '', ''),
        ),
        # volume
        (
            silent(DriveIsNoDrive('x'), 'is a volume'),
            X1,
            ('not-a-drive', 'is a volume', 'exclude the device: --ignore DEVICE', ''),
        ),
        # volume-with-advice
        (
            silent(DriveIsNoDrive('x'), 'is a volume; name its disks'),
            None,
            ('not-a-drive', 'is a volume', 'name its disks', ''),
        ),
        # named
        (
            silent(DriveError('x'), 'times out; see the log', X1),
            None,
            ('drive-unreadable', 'ACME X1 SERIAL1: times out', 'see the log', ''),
        ),
        # known
        (
            silent(DriveAbsent('x')),
            X1,
            (
                'drive-failing',
                'was ACME X1 SERIAL1: cannot be opened',
                'an earlier check read it here, so the drive, cable or controller is failing: '
                'check the kernel log',
                'dmesg -T | tail -50',
            ),
        ),
        # elsewhere
        (
            silent(ControllerElsewhere('x')),
            X1,
            (
                'controller-moved',
                'cannot be opened',
                'use the address in the message; this lists all addresses: check_smart_attributes '
                'list',
                '',
            ),
        ),
        # not-reached
        (
            silent(DriveNotReached('x'), 'too late; wait'),
            X1,
            ('not-reached', 'too late', 'wait', ''),
        ),
        # unknown
        (
            silent(DriveError('x')),
            None,
            (
                'drive-unreadable',
                'cannot be opened',
                'run the call by hand; this shows it: check_smart_attributes -vvv -d DEVICE',
                '',
            ),
        ),
    ],
)
def test_an_address_without_a_report_gets_its_cause_and_what_to_do(pair, earlier, finding):
    [found] = told(pair, whereabouts=known(earlier))
    assert shown(found) == (finding[0], '/dev/sda', *finding[1:])


def test_serial_numbers_of_silent_drives_can_be_hidden():
    asleep = silent(DriveAsleep('x'), 'is asleep; read 1 h ago', X1)
    pairs = [silent(DriveError('x'), identity=X1), asleep]

    assert [each.message for each in told(*pairs, hide_serial=True)] == [
        'ACME X1: cannot be opened',
        'ACME X1, is asleep; read 1 h ago',
    ]
    assert told(silent(DriveAbsent('x')), hide_serial=True, whereabouts=known(X1))[0].message == (
        'was ACME X1: cannot be opened'
    )
    assert told(asleep)[0].message == 'ACME X1 SERIAL1, is asleep; read 1 h ago'


WAKE = 'wake it by reading from it, then run a check'


@pytest.mark.parametrize(
    'pair, finding',
    [
        # known
        (
            silent(DriveAsleep('x'), 'is asleep; read 1 h ago', X1, State.OK),
            ('drive-in-standby', 'ACME X1 SERIAL1, is asleep; read 1 h ago', '', ''),
        ),
        # too-long
        (
            silent(DriveAsleep('x'), 'is asleep; read 9 d ago', X1, State.WARNING),
            (
                'drive-standby-too-long',
                'is asleep; read 9 d ago',
                WAKE,
                'dd if=/dev/sda of=/dev/null bs=4096 count=1 iflag=direct && check -t 9 -d '
                '/dev/sda',
            ),
        ),
        # unknown
        (
            silent(DriveAsleep('x'), 'is asleep', path='/dev/bus/0', kind='megaraid,3'),
            (
                'drive-standby-too-long',
                'is asleep; no check has read the drive while awake, so its model and serial '
                'number are unknown',
                WAKE,
                '',
            ),
        ),
    ],
)
def test_a_sleeping_drive_is_well_as_long_as_a_check_has_read_it_lately(pair, finding):
    [found] = told(pair)
    assert shown(found) == (finding[0], pair[0].device.address, *finding[1:])


@pytest.mark.parametrize(
    'path, kind, can',
    [
        ('/dev/sda', '', True),
        ('/dev/hdb', '', True),
        ('/dev/nvme0n1', '', True),
        ('/dev/disk/by-id/ata-X1', '', True),
        ('/dev/sg1', '', False),
        ('/dev/disk/by-id/a/b', '', False),
        ('/dev/bus/0', 'megaraid,3', False),
        ('/dev/sda', 'sat', True),
    ],
)
def test_a_drive_is_woken_where_blocks_can_be_read(path, kind, can):
    assert bool(drives.waking(Device(path, kind), CHECK)) is can


def test_faults_and_remarks_of_the_run_are_told_once():
    old = Coded('sudo-rule-old', 'renew the rule; as root')
    slots = Coded('slots-not-reached', 'slot 3 was not read; ask')
    mistake = Coded('site-file-mistake', 'site.json: a mistake')

    found = told(
        answering(remark=old),
        answering('sdb', remark=old),
        faults=(slots, mistake),
        mistakes=(mistake,),
    )

    assert [shown(each) for each in found[2:]] == [
        ('slots-not-reached', 'drives', 'slot 3 was not read', 'ask', ''),
        ('sudo-rule-old', 'drives', 'renew the rule', 'as root', ''),
    ]


@pytest.mark.parametrize(
    'count, more',
    [
        (0, None),
        (3, None),
        (4, '1 more drive of earlier checks missing'),
        (5, '2 more drives of earlier checks missing'),
    ],
)
def test_three_drives_that_are_gone_are_named(count, more):
    lost = [f'X{number} is gone; history --retire X{number} retires it' for number in range(count)]
    found = told(answering(), gone=lost)[1:]
    look = (
        'check cabling, controller and dmesg -T; if you removed the drive for good, '
        'remove it from the history'
    )

    assert [shown(each) for each in found] == [
        *(
            (
                'drive-gone',
                'drives',
                f'X{number} is gone',
                look,
                f'check_smart_attributes history --retire X{number}',
            )
            for number in range(count)[:3]
        ),
        *([('drives-more-gone', 'drives', more, '', '')] if more else []),
    ]


@pytest.mark.parametrize(
    'nobody, finding',
    [
        ((State.OK, 'no drive, as expected'), ('drives-none', 'no drive, as expected', '')),
        (
            (State.UNKNOWN, 'no drive found'),
            ('no-drives', 'no drive found', 'name the drives with -d'),
        ),
        (
            (State.UNKNOWN, 'no drive found; load the driver'),
            ('no-drives', 'no drive found', 'load the driver'),
        ),
    ],
)
def test_a_machine_without_drives_gets_a_line(nobody, finding):
    [found] = told(nobody=nobody)
    assert shown(found) == (finding[0], 'drives', *finding[1:], '')


def test_a_check_watches_every_address_behind_which_a_drive_can_be():
    pairs = [
        answering('sda'),
        silent(DriveError('x'), path='/dev/sdb'),
        silent(DriveAsleep('x'), path='/dev/sdc'),
        *(
            silent(error('x'), path='/dev/sdd')
            for error in (DriveIsNoDrive, DriveAbsent, ControllerElsewhere)
        ),
    ]

    reads = survey(*pairs).reads
    assert drives.to_watch(reads, [read.device.path for read in reads]) == [
        '/dev/sda',
        '/dev/sdb',
        '/dev/sdc',
    ]


@pytest.mark.parametrize(
    'sentence, halves',
    [
        ('what; next', ('what', 'next')),
        ('what', ('what', '')),
        ('what; next; then', ('what', 'next; then')),
    ],
)
def test_a_sentence_has_two_halves(sentence, halves):
    assert doctor_findings.halves(sentence) == halves
