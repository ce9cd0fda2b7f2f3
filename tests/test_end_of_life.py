"""A drive that reports the end of its rated life is worn: it leaves time to order a replacement."""

import pytest
from cases import case
from shipped import DATABASE, DEFAULTS

from smart_attributes.check import judging, last_verdict
from smart_attributes.check.rulebook import Judge
from smart_attributes.history.drive_file import DriveHistory
from smart_attributes.history.drive_records import Record
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import (
    AttributeRow,
    Device,
    Identity,
    Report,
    SelfTest,
    State,
    Statistic,
)
from smart_attributes.work import actions

NVME = Identity(protocol='NVMe', model='ACME N1', rotation=0)
WORN = {
    'critical_warning': 4,
    'percentage_used': 100,
    'media_errors': 0,
    'available_spare': 100,
    'available_spare_threshold': 10,
}
ORDER, REPLACE = actions.ORDER, actions.REPLACE


def verdict_on(report, limits=DEFAULTS):
    return judging.judge(
        Device('/dev/sda', name='sda'),
        report,
        DATABASE,
        Thresholds(limits),
        judging.Rules(),
    )


def outcome(verdict):
    return verdict.state, case(verdict).todo.action


def nvme(**log):
    known = {
        key: number for key, number in {**WORN, **log}.items() if number is not None
    }
    return Report(NVME, smart_status=False, nvme=known)


@pytest.mark.parametrize(
    'log, action',
    [
        ({}, ORDER),
        ({'percentage_used': 255}, ORDER),
        ({'percentage_used': 99}, REPLACE),  # used 99 %: something else has failed
        ({'percentage_used': 0}, REPLACE),
        ({'percentage_used': None}, REPLACE),  # only the health status was read
        ({'media_errors': 1}, REPLACE),
        ({'media_errors': None}, REPLACE),
        ({'available_spare': 11}, ORDER),
        ({'available_spare': 10}, REPLACE),
        ({'available_spare': None}, REPLACE),
        ({'available_spare_threshold': None}, REPLACE),
        # the drive says that its spare blocks run out
        ({'critical_warning': 5}, REPLACE),
        ({'critical_warning': 12}, REPLACE),  # read-only is a finding of its own
    ],
)
def test_degraded_reliability_means_wear_only_if_nothing_else_explains_it(log, action):
    """The drive's warning stays CRITICAL in each case."""
    assert outcome(verdict_on(nvme(**log))) == (State.CRITICAL, action)


def test_raised_limits_hide_no_warning_of_a_worn_drive():
    """The limit concerns endurance_used; the warning is the drive's own."""
    limits = {'metrics': {**DEFAULTS['metrics'], 'endurance_used': {'warning': '200'}}}

    verdict = verdict_on(nvme(percentage_used=104), limits)

    assert outcome(verdict) == (State.CRITICAL, ORDER)
    assert [each.reading.metric for each in verdict.judgements if each.state] == [
        'reliability'
    ]


SSD = Identity(protocol='ATA', model='ST240FN0021', rotation=0)
LIFE = AttributeRow(231, 'SSD_Life_Left', 10, 10, 10, True, 'now', '91')
SPARE = AttributeRow(170, 'Reserve_Block_Count', 1, 1, 10, True, 'now', '0')
LOST = {(4, 0x008): Statistic(2, 'Number of Reported Uncorrectable Errors')}


def ata(*rows, passed=True, **more):
    return Report(SSD, smart_status=passed, attributes=rows, **more)


@pytest.mark.parametrize(
    'report, action',
    [
        (ata(LIFE), ORDER),
        (ata(LIFE, passed=False), ORDER),
        (ata(passed=False), REPLACE),
        (ata(LIFE, SPARE), REPLACE),
        (ata(LIFE, SPARE, passed=False), REPLACE),
        (ata(LIFE._replace(name='Temperature_Celsius')), REPLACE),  # no name of a life
        (ata(LIFE._replace(value=0)), REPLACE),  # 0 may mean "never set"
        (ata(LIFE, statistics=LOST), REPLACE),
        (
            ata(LIFE, self_tests=(SelfTest('Extended', 'read failure', False, 9),)),
            REPLACE,
        ),
    ],
)
def test_a_life_attribute_at_its_threshold_means_wear_unless_more_has_failed(
    report, action
):
    """Lost data and other failed attributes call for a replacement."""
    assert outcome(verdict_on(report)) == (State.CRITICAL, action)


def test_a_threshold_of_an_attribute_without_a_life_is_no_wear():
    """Thresholds of hard disks exceed 100."""
    rows = (
        AttributeRow(4, 'Start_Stop_Count', 100, 100, 0, False, '', '1'),
        AttributeRow(5, 'Reallocated_Sector_Ct', 133, 133, 140, True, 'now', '500'),
    )
    disk = Identity(protocol='ATA', model='WDC WD1600JS-75NCB2', rotation=7200)

    assert outcome(verdict_on(Report(disk, smart_status=False, attributes=rows))) == (
        State.CRITICAL,
        REPLACE,
    )


def used(row):
    return [
        each.reading.number
        for each in verdict_on(ata(row)).judgements
        if each.reading.metric == 'endurance_used'
    ]


def test_a_drive_without_an_entry_is_read_by_the_name_of_its_life():
    """Only a pre-fail attribute must fall: 231 of Kingston's A400 rises, under the same name."""
    healthy = LIFE._replace(when_failed='', value=76)

    assert used(healthy) == [24]
    assert used(healthy._replace(prefail=False)) == []
    assert used(healthy._replace(threshold=0)) == []
    assert used(healthy._replace(name='Unknown_SSD_Attribute')) == []


def test_a_worn_drive_that_sleeps_is_still_one_to_order():
    """What is stored keeps the remedy."""
    judge = Judge(DATABASE, Thresholds(DEFAULTS), judging.Rules())
    stored = last_verdict.of(verdict_on(nvme()), 1000)
    drive = DriveHistory(Record(1, NVME, 1000, 1000), verdict=stored)

    standing = last_verdict.standing(drive, Device('/dev/nvme0'), judge, 2000)

    assert {finding.remedy for finding in standing.findings} == {ORDER}
    assert {finding.concern for finding in standing.findings} == {'wear'}


@pytest.mark.parametrize(
    'model, attributes, kind',
    [
        ('ST4000NM0033-9ZM170', (5, 9, 194), 'hdd'),
        ('INTEL SSDSC2BB240G4', (4, 5, 9, 233), 'ssd'),
        ('ACME X1', (5, 9, 194), 'ssd'),
    ],
)
def test_without_the_rotation_rate_the_family_tells_a_hard_disk(
    model, attributes, kind
):
    """Lines are lost in tickets; a hard disk judged as an SSD would get other limits."""
    rows = tuple(
        AttributeRow(each, 'x', 100, 100, 0, False, '', '0') for each in attributes
    )
    report = Report(
        Identity('ATA', model, spins=4 in attributes), True, attributes=rows
    )

    assert verdict_on(report).identity.kind == kind
