"""A drive whose logs are ahead of its power-on time: by how much, how certain, and what is no
contradiction.
"""

import pytest

from smart_attributes.check import judging
from smart_attributes.check.rulebook import Site, judge_of
from smart_attributes.command_line.options import Judging, Options
from smart_attributes.knowledge import drive_logs, log_ages
from smart_attributes.model import (
    AttributeRow,
    Device,
    ErrorEntry,
    Farm,
    Identity,
    Report,
    SelfTest,
    State,
    Statistic,
)

HOUR = 3600
DISK = Identity(protocol='ATA', model='HUS724040ALE641', firmware='1', rotation=7200)
NVME, SAS = (
    Identity(protocol='NVMe', model='ACME N1'),
    Identity(protocol='SCSI', model='ACME S1', rotation=10000),
)
SHIPPED = judge_of(Options(), Site())
SET_BACK, BEHIND = 'power-on-time-set-back', 'power-on-time-behind'


def report(hours, tests=(), errors=(), identity=DISK, power_on=None, spindle=None):
    """Return the report of a drive. hours: attribute 9. power_on, spindle: the device
    statistics.
    """
    rows = (
        ()
        if hours is None
        else (AttributeRow(9, 'Power_On_Hours', 1, 1, 0, False, '', str(hours)),)
    )
    wide = [((1, 0x010), power_on), ((3, 0x008), spindle)]
    return Report(
        identity,
        True,
        attributes=rows,
        error_count=len(errors),
        statistics={
            place: Statistic(number, 'hours')
            for place, number in wide
            if number is not None
        },
        nvme={'power_on_hours': 500, 'percentage_used': 1} if identity is NVME else {},
        scsi={'power_on_hours': 500, 'grown_defects': 0} if identity is SAS else {},
        self_tests=tuple(
            SelfTest('Short offline', 'Completed without error', True, hour)
            for hour in tests
        ),
        errors=tuple(
            ErrorEntry(number, ('UNC',), hour) for number, hour in enumerate(errors, 1)
        ),
    )


def verdict(of, max_age=0.0):
    return judging.judge(
        Device('/dev/sda', name='sda'),
        of,
        SHIPPED.database,
        SHIPPED.thresholds,
        judging.Rules(Judging(selftest_max_age=max_age)),
    )


def found(of):
    """Return the hidden hours and the code of the note; () without a contradiction."""
    told = verdict(of)
    hidden = [
        judgement.reading.number / HOUR
        for judgement in told.judgements
        if judgement.reading.metric == drive_logs.HIDDEN
    ]
    return (
        *hidden,
        *(note.code for note in told.notes if note.code in (SET_BACK, BEHIND)),
    )


@pytest.mark.parametrize(
    'of, hidden',
    [
        (report(500, [1501]), (1001, BEHIND)),  # more than 1000 h
        (report(500, [1500]), ()),  # 1000 h
        (report(500, [], [9000, 8000]), (8500, BEHIND)),  # by the error log
        (report(500, [9000, None, 400], [7000]), (8500, BEHIND)),  # the largest counts
        (report(None, [9000]), ()),  # no counter
        (report(0, [9000]), (9000, BEHIND)),  # new
        (report(None, [9000], power_on=500), (8500, SET_BACK)),  # statistic alone
        # statistic within 24 h and 2 %
        (report(500, [9000], power_on=534), (8466, SET_BACK)),
        (report(500, [9000], power_on=535), (8465, BEHIND)),  # statistic differs
        (report(500, [9000], spindle=466), (8500, SET_BACK)),  # spindle within
        (report(500, [9000], spindle=465), (8500, BEHIND)),  # spindle differs
        (report(500, [9000], power_on=8500), ()),  # statistic is right
        (report(500, [0xFEFF]), (0xFEFF - 500, BEHIND)),  # last hour
        (report(500, [0xFF00]), ()),  # erased test
        (report(70_000, [65_000, 4_000]), ()),  # logs of 16 bits ran over
        (report(None, [9000], identity=NVME), (8500, SET_BACK)),  # nvme
        (report(None, [200_000], identity=NVME), (199_500, SET_BACK)),  # nvme last hour
        (report(None, [200_001], identity=NVME), ()),  # nvme first impossible hour
        (report(None, [9000], spindle=490), ()),  # spindle without a counter
        (report(None, [9000], identity=SAS), (8500, SET_BACK)),  # sas
        (report(None, [0xFFFF], identity=SAS), ()),  # sas or any later hour
    ],
)
def test_a_log_ahead_of_the_counter_is_a_contradiction(of, hidden):
    """Of 22,176 dated reports 51 have one that no wrap explains."""
    assert found(of) == hidden


def test_the_hidden_time_is_in_seconds_and_names_the_log_that_is_ahead():
    """The note of an uncertain one says both explanations, word for word."""
    told = verdict(report(500, [700], [9000]))
    [hidden] = [
        each.reading
        for each in told.judgements
        if each.reading.metric == drive_logs.HIDDEN
    ]

    assert told.state is State.OK, 'the drive works; a site may set a limit'
    assert (hidden.number, hidden.unit, str(hidden.source)) == (
        8500 * HOUR,
        's',
        'error log',
    )
    assert [str(note) for note in told.notes if note.code == BEHIND] == [
        'the error log is 8500 h ahead of the power-on time: the power-on counter was set back '
        'or overflowed'
    ]


@pytest.mark.parametrize(
    'unit, raw',
    [
        ('Power_On_Minutes', '9000h+12m'),
        ('Power_On_Half_Minutes', '1080000'),
        ('Power_On_Hours_and_Msec', '9000h+12m+13.500s'),
    ],
)
def test_a_counter_in_parts_of_an_hour_contradicts_nothing(unit, raw):
    """smartctl prints hours in front; a number that is taken for hours is too large, never too
    small.
    """
    row = AttributeRow(9, unit, 1, 1, 0, False, '', raw)

    assert found(report(None, [9000])._replace(attributes=(row,))) == ()


def test_an_entry_says_whose_logs_have_hours_of_their_own():
    """61,166 is in the logs of SanDisk drives that are two years old."""
    numbers = (5, 9, 12, *range(165, 175), 184, 187, 188, 194, 199, 230, 232, 233, 241)
    rows = tuple(
        AttributeRow(each, '', 100, 100, 0, False, '', '21213' if each == 9 else '0')
        for each in numbers
    )
    drive = Identity(
        protocol='ATA', model='SanDisk SSD PLUS 480 GB', firmware='UG3600RL', rotation=0
    )
    behind = report(None, [], [61_166], identity=drive, power_on=21_213)._replace(
        attributes=rows
    )

    assert found(behind) == ()
    assert found(behind._replace(identity=drive._replace(model='ACME SSD'))) == (
        61_166 - 21_213,
        SET_BACK,
    )


def ages(of):
    return {
        each.reading.metric: (each.reading.quiet / HOUR, each.reading.quiet_is_bound)
        for each in verdict(of).judgements
        if each.reading.quiet is not None
    }


def test_ages_are_bounds_once_the_counter_was_set_back():
    """An error at 400 h may be of the first or the second time that the drive was 400 h old."""
    assert ages(report(500, [450], [400])) == {
        'self_test': (50, False),
        'logged_data_errors': (100, False),
    }
    assert ages(report(500, [450, 9000], [400])) == {
        'self_test': (50, True),
        'logged_data_errors': (100, True),
    }


@pytest.mark.parametrize(
    'tests, ago', [([450], ', 2 days ago'), ([450, 9000], ', more than 2 days ago')]
)
def test_the_words_about_a_self_test_say_so(tests, ago):
    """So does whether it is recent."""
    of = report(500, tests)
    of = of._replace(
        self_tests=tuple(
            each._replace(kind='Extended offline') for each in of.self_tests
        )
    )
    words = {
        each.reading.metric: each.reading.verdict
        for each in verdict(of, 35 * 24 * HOUR).judgements
    }

    assert words['self_test'].endswith(ago)
    assert words['self_test_age'].endswith(f': {ago[2:]}')


@pytest.mark.parametrize(
    'farm, notes',
    [
        (Farm(), []),
        (Farm('A', 9), []),
        (Farm(unread='w'), [('farm-unread', 'the FARM log could not be read: w')]),
        (
            Farm('A', 9, is_foreign=True),
            [
                (
                    'farm-foreign',
                    'the FARM log and the drive have different serial numbers, so '
                    'the hours are not compared',
                )
            ],
        ),
    ],
)
def test_a_farm_log_that_is_missing_or_of_another_drive_has_a_note(farm, notes):
    assert [(note.code, note) for note in log_ages.farm_notes(farm)] == notes
