"""What doctor says of each address, case by case: the survey is given as a value."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from smart_attributes.check.drive_tracking import Whereabouts
from smart_attributes.check.history_access import Remembered
from smart_attributes.check.survey import Survey
from smart_attributes.doctor import drives
from smart_attributes.errors import (
    Coded,
    ControllerElsewhere,
    DriveAbsent,
    DriveAsleep,
    DriveError,
    DriveIsNoDrive,
    DriveMissing,
    DriveNotReached,
    SudoRefused,
)
from smart_attributes.history.drive_records import DrivePlace, Record, Scope
from smart_attributes.model import Device, Identity, Read, Report, State, Verdict
from smart_attributes.output import doctor_findings
from smart_attributes.shown import shown as shown_identity

X1 = Identity(model='ACME X1', serial='SERIAL1')
NOBODY = Identity()
CHECK = ['check', '-t', '9']


def known(drive: Identity | None) -> Whereabouts:
    """Return what a history with this drive at /dev/sda knows."""
    places = [DrivePlace('/dev/sda', 1, 0)] if drive else []
    records = {1: Record(1, drive or NOBODY, 0, 0)}
    return Whereabouts(
        places,
        records,
        Scope((), True),
        0,
        {1: shown_identity(drive, False)},
        unread=frozenset(),
    )


def survey(*pairs, whereabouts=None, faults=(), mistakes=(), nobody=(State.OK, '')):
    verdicts, reads = zip(*pairs) if pairs else ((), ())
    return Survey(
        verdicts,
        reads,
        (),
        (),
        SimpleNamespace(mistakes=mistakes),
        nobody,
        faults,
        remarks=(),
        left_out=(),
        demands=(),
        history=Remembered(),
        whereabouts=whereabouts,
    )


def answering(name='sda', seconds=0.5, state=State.OK, identity=X1, remark=''):
    device = Device(f'/dev/{name}', name=name)
    return Verdict(device, identity, state), Read(
        device, Report(identity), remark=remark, seconds=seconds
    )


def silent(
    outcome,
    problem='not opened',
    identity=NOBODY,
    state=State.UNKNOWN,
    path='/dev/sda',
    kind='',
):
    device = Device(path, kind, name='sda')
    return Verdict(device, identity, state, problem=problem, code=outcome.code), Read(
        device, outcome
    )


def asleep(*details, state=State.OK):
    """Return the verdict on a drive in standby, and how it was read."""
    words = 'is in STANDBY mode, not woken'
    verdict, read = silent(DriveAsleep('x'), words, X1, state)
    return verdict._replace(details=details), read


def slept_too_long():
    """Return the same of a drive that no check has read for days, see drive_tracking.asleep()."""
    words = 'is in standby, last read 9 d ago (--asleep-max-age 7 d)'
    verdict, read = silent(DriveAsleep('x'), words, X1, State.WARNING)
    return verdict._replace(code='asleep-too-long'), read


def missing(name):
    """Return the verdict on a drive that earlier checks have read, and how it was read."""
    device = Device(f'/dev/{name}', name=name)
    outcome = DriveMissing(
        'is missing since 2026-11-20 01:00', step='', state='warning'
    )
    verdict = Verdict(
        device, X1, State.WARNING, problem=str(outcome), code=outcome.code
    )
    return verdict, Read(device, outcome)


def told(*pairs, hide_serial=False, **more):
    return drives.findings(survey(*pairs, **more), hide_serial, CHECK)


def shown(finding):
    """Return what a finding says, without the values in its sentences."""
    return (
        finding.code,
        finding.subject,
        finding.message,
        finding.remedy,
        finding.command,
    )


@pytest.mark.parametrize(
    'pair, hide_serial, words',
    [
        (answering(), False, 'ACME X1 SERIAL1, 0.5 s'),
        (answering(), True, 'ACME X1, 0.5 s'),
        (answering(seconds=1.234, identity=Identity()), False, 'unknown drive, 1.2 s'),
        (
            answering(state=State.WARNING),
            True,
            'ACME X1, 0.5 s; a check reports WARNING; ',
        ),
    ],
)
def test_a_drive_that_answers_is_named_with_its_time(pair, hide_serial, words):
    [found] = told(pair, hide_serial=hide_serial)
    assert (found.code, found.subject, found.remedy) == (
        'drive-answers',
        '/dev/sda',
        '',
    )
    assert found.message == words or (
        'WARNING' in words and found.message.startswith(words)
    )


def test_more_than_eight_drives_share_a_line_with_the_slowest():
    pairs = [
        answering(f'sd{letter}', number) for number, letter in enumerate('abcihgfed')
    ]

    assert [each.subject for each in told(*pairs[:8])] == [
        each.device.address for each, _ in pairs[:8]
    ]
    [found] = told(*pairs)
    assert (found.code, found.subject, found.remedy) == ('drives-answer', 'drives', '')
    assert found.fields == {'drives': 9, 'address': '/dev/sdd', 'seconds': 8}


@pytest.mark.parametrize(
    'pair, earlier, finding',
    [
        (silent(SudoRefused('x')), X1, ('drive-not-asked', '', '', '')),
        (
            silent(DriveIsNoDrive('x'), 'volume'),
            X1,
            ('not-a-drive', 'volume', 'exclude the', ''),
        ),
        (
            silent(DriveIsNoDrive('x'), 'volume; name disks'),
            None,
            ('not-a-drive', 'volume', 'name disks', ''),
        ),
        (
            silent(DriveError('x'), 'slow; see log', X1),
            None,
            ('drive-unreadable', 'ACME X1 SERIAL1: slow', 'see log', ''),
        ),
        (
            silent(DriveAbsent('x')),
            X1,
            (
                'drive-failing',
                'was ACME X1 SERIAL1: not opened',
                'an earlier check',
                'dmesg -T | tail -50',
            ),
        ),
        (
            silent(ControllerElsewhere('x')),
            X1,
            ('controller-moved', 'not opened', 'use the address', ''),
        ),
        (
            silent(DriveNotReached('x'), 'late; wait'),
            X1,
            ('not-reached', 'late', 'wait', ''),
        ),
        (
            silent(DriveError('x')),
            None,
            ('drive-unreadable', 'not opened', 'run the smartctl command', ''),
        ),
    ],
)
def test_an_address_without_a_report_gets_its_cause_and_what_to_do(
    pair, earlier, finding
):
    [found] = told(pair, whereabouts=known(earlier))
    code, message, remedy, command = finding
    assert (found.code, found.subject, found.command) == (code, '/dev/sda', command)
    assert found.message == message or (code == 'drive-not-asked' and not found.remedy)
    assert found.remedy.startswith(remedy)


def test_serial_numbers_of_silent_drives_can_be_hidden():
    sleeping = asleep('last read 1 h ago')
    pairs = [silent(DriveError('x'), identity=X1), sleeping]

    assert [each.message for each in told(*pairs, hide_serial=True)] == [
        'ACME X1: not opened',
        'ACME X1, is in STANDBY mode, not woken; last read 1 h ago',
    ]
    assert told(silent(DriveAbsent('x')), hide_serial=True, whereabouts=known(X1))[
        0
    ].message == ('was ACME X1: not opened')
    assert told(sleeping)[0].message.startswith('ACME X1 SERIAL1, is in STANDBY mode')


@pytest.mark.parametrize(
    'pair, finding',
    [
        (
            asleep('last read 1 h ago'),
            (
                'drive-in-standby',
                'ACME X1 SERIAL1, is in STANDBY mode, not woken; last read 1 h ago',
                '',
            ),
        ),
        (
            # its last findings count, but do not make the drive one that was not read for long
            asleep('7 pending sectors when last read 1 h ago', state=State.WARNING),
            (
                'drive-in-standby',
                'ACME X1 SERIAL1, is in STANDBY mode, not woken; 7 pending sectors when last read 1 h ago',
                '',
            ),
        ),
        (
            slept_too_long(),
            (
                'drive-standby-too-long',
                'is in standby, last read 9 d ago (--asleep-max-age 7 d)',
                'dd if=/dev/sda of=/dev/null bs=4096 count=1 iflag=direct && check -t 9 -d '
                '/dev/sda',
            ),
        ),
        (
            silent(DriveAsleep('x'), 'sleeps', path='/dev/bus/0', kind='megaraid,3'),
            (
                'drive-standby-too-long',
                'sleeps; no check has read the drive while it was awake, so its model and serial number are unknown',
                '',
            ),
        ),
    ],
)
def test_a_sleeping_drive_is_well_as_long_as_a_check_has_read_it_lately(pair, finding):
    [found] = told(pair)
    code, message, command = finding
    assert (found.code, found.command) == (code, command)
    assert (found.subject, found.message) == (pair[0].device.address, message)
    assert bool(found.remedy) is (code == 'drive-standby-too-long')


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
    old = Coded('sudo-rule-old', 'renew it; as root')
    slots = Coded('slots-not-reached', 'slot 3; ask')
    mistake = Coded('configuration-error', 'site.json: a mistake')

    found = told(
        answering(remark=old),
        answering('sdb', remark=old),
        faults=(slots, mistake),
        mistakes=(mistake,),
    )

    assert [shown(each) for each in found[2:]] == [
        ('slots-not-reached', 'drives', 'slot 3', 'ask', ''),
        ('sudo-rule-old', 'drives', 'renew it', 'as root', ''),
    ]


@pytest.mark.parametrize('count', [0, 3, 5])
def test_all_drives_that_are_gone_are_named(count):
    lost = [missing(f'sd{letter}') for letter in 'vwxyz'[:count]]
    named = told(answering(), *lost)[1:]

    assert [(each.code, each.subject, each.command) for each in named] == [
        (
            'drive-missing',
            verdict.device.address,
            f'check_smart_attributes acknowledge --missing {verdict.device.name}',
        )
        for verdict, _ in lost
    ]
    assert all('dmesg' in each.remedy for each in named)


@pytest.mark.parametrize(
    'nobody, finding',
    [
        ((State.OK, 'no drive'), ('drives-none', 'no drive', '')),
        ((State.UNKNOWN, 'none; load driver'), ('no-drives', 'none', 'load driver')),
    ],
)
def test_a_machine_without_drives_gets_a_line(nobody, finding):
    [found] = told(nobody=nobody)
    code, message, remedy = finding
    assert (found.code, found.subject, found.message) == (code, 'drives', message)
    assert found.remedy.startswith(remedy) and bool(found.remedy) is bool(remedy)


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
