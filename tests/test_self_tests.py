"""Which entry of a self-test log stands."""

import re

import pytest

from smart_attributes.knowledge.drive_logs import (
    extended_self_test,
    self_test,
    unlisted_failure,
)
from smart_attributes.knowledge.log_ages import freshness
from smart_attributes.model import (
    Device,
    Identity,
    Reading,
    Report,
    SelfTest,
    Source,
    State,
)

DISK = Identity(protocol='ATA', model='ACME DISK 1', rotation=7200)
SAS = Identity(protocol='SCSI', model='ACME SASSY', rotation=10000)
HOUR = 3600
YEAR = 8766  # hours
NEWEST = 'newest extended self-test that passed: more than 4 days ago'
PASSED, FAILED = 'Completed without error', 'Completed: read failure'


def test(kind, passed, hours=100):
    return SelfTest(kind, PASSED if passed else FAILED, passed, hours)


test.__test__ = False  # it makes a self-test, which pytest would run


def said(*tests, identity=DISK, age=None):
    found = self_test(tests, identity, age and age * HOUR, is_bound=False)
    return found and (found.state, found.verdict)


def states(*tests, **more):
    found = said(*tests, **more)
    return found and found[0]


@pytest.mark.parametrize(
    ('later', 'failed', 'state'),
    [
        ('Short offline', 'Extended offline', State.CRITICAL),
        ('Conveyance offline', 'Extended offline', State.CRITICAL),
        ('Selective offline', 'Extended offline', State.CRITICAL),
        ('Selective offline', 'Selective offline', State.CRITICAL),
        ('Conveyance offline', 'Short offline', State.CRITICAL),
        ('Background short', 'Background long', State.CRITICAL),
        ('Extended offline', 'Last self-test', State.OK),
        ('Short offline', 'Last self-test', State.CRITICAL),
        ('Extended offline', 'Extended offline', State.OK),
        ('Extended captive', 'Short offline', State.OK),
        ('Extended offline', 'Conveyance offline', State.OK),
        ('Extended offline', 'Selective offline', State.OK),
        ('Short captive', 'Short offline', State.OK),
        ('Foreground long', 'Background short', State.OK),
        ('Extended', 'Short', State.OK),
    ],
)
def test_a_failure_is_cleared_by_a_later_test_of_as_much(later, failed, state):
    """A short test looks at a small part of a disk, a selective one perhaps at another part; an
    extended one looks at all of it.
    """
    assert (
        states(
            test(later, True, 200),
            test(failed, False),
            identity=SAS if 'ground' in later else DISK,
        )
        is state
    )


def test_an_aborted_test_proves_nothing():
    assert states(test('Short offline', None)) is None
    assert (
        states(test('Short offline', None, 200), test('Short offline', False))
        is State.CRITICAL
    )


@pytest.mark.parametrize(
    'kind',
    [
        'Vendor (0xb0)',
        'Reserved (0x31)',
        'Vendor specific',
        'Reserved(7)',
        'Unknown (0x9)',
        'Abort offline test',
    ],
)
@pytest.mark.parametrize('passed', [True, False])
def test_kinds_that_no_standard_defines_make_no_verdict_and_clear_none(kind, passed):
    """Their results mean what only the vendor knows; erased log pages look like them."""
    assert states(test(kind, passed)) is None
    assert (
        states(test(kind, passed, 200), test('Short offline', False)) is State.CRITICAL
    )
    assert states(test(kind, passed, 200), test('Short offline', True)) is State.OK


def test_an_entry_of_an_erased_log_makes_no_verdict():
    """Hour 0xff00 of a drive that is years younger; one that is as old has such an hour."""
    assert states(test('Short offline', False, 0xFF00), age=20000) is None
    assert states(test('Short offline', False, 0xFF00), age=70000) is State.CRITICAL
    assert states(test('Short offline', False, 0xFF00)) is State.CRITICAL
    assert states(test('Short offline', False, 30000), age=20000) is State.CRITICAL


@pytest.mark.parametrize(
    ('hours', 'age', 'identity', 'words'),
    [
        (10000, 10000 + 3.2 * YEAR, DISK, ' at 10000 h, 3.2 years ago'),
        (4, 65540 + 100, DISK, ' at 4 h, 4 days ago'),
        (101, 100, DISK, ' at 101 h, 0 h ago'),
        (2, 65537, DISK, ' at 2 h, 0 h ago'),
        (200, 100, DISK, ' at 200 h'),
        (100, None, DISK, ' at 100 h'),
        (None, 100, DISK, ''),
        (65535, 70000, SAS, ' at 65535 h'),
        (65535, 70000, DISK, ' at 65535 h, 186 days ago'),
    ],
    ids=[
        'years',
        'wrapped',
        'a-little-ahead',
        'a-little-ahead-wrapped',
        'ahead',
        'no-age',
        'no-hour',
        'the-last-hour-of-scsi',
        'any-hour-of-ata',
    ],
)
def test_the_words_tell_the_age_of_a_test_where_both_hours_are_known(
    hours, age, identity, words
):
    """ATA keeps 16 bits of the hour, which may have wrapped; SCSI stops at 65535."""
    assert said(
        test('Short offline' if identity is DISK else 'Background short', False, hours),
        identity=identity,
        age=age,
    ) == (
        State.CRITICAL,
        f'{"Short offline" if identity is DISK else "Background short"}: {FAILED}{words}',
    )


@pytest.mark.parametrize(
    ('tests', 'age', 'state', 'words'),
    [
        (
            (test('Extended offline', True, 1000),),
            1000 + 35 * 24,
            State.OK,
            ': 35 days ago$',
        ),
        (
            (test('Extended offline', True, 1000),),
            1001 + 35 * 24,
            State.WARNING,
            r'35 days ago \(limit: 35 days\); to start one',
        ),
        (
            (test('Short offline', True, 1000), test('Extended offline', False, 1000)),
            1000,
            State.WARNING,
            r'none known \(limit',
        ),
        (
            (test('Extended offline', False, 1000), test('Background long', True, 900)),
            1000,
            State.OK,
            '4 days ago$',
        ),
        ((), 1000, State.WARNING, 'none known'),
        (
            (test('Extended offline', True, 1000),),
            None,
            State.WARNING,
            r'passed: at an unknown time \(limit',
        ),
    ],
    ids=[
        'ok-fresh',
        'warn-older',
        'warn-only-short-and-failed',
        'ok-passed-before',
        'warn-none',
        'warn-no-age',
    ],
)
def test_a_site_that_runs_extended_tests_hears_when_they_end(tests, age, state, words):
    """A log without a fresh one proves that nobody looked."""
    found = freshness(tests, DISK, age and age * HOUR, 35 * 24 * HOUR, is_bound=False)

    assert (found.metric, found.state) == ('self_test_age', state)
    assert re.search(words, found.verdict)


@pytest.mark.parametrize(
    ('hours', 'number'), [(1000, 1), (100, 0.5)], ids=['fresh', 'old']
)
def test_a_graph_tells_whether_an_extended_test_is_fresh(hours, number):
    """1 is good, as of all verdicts; an old test is half of that, since nothing has failed."""
    found = freshness(
        [test('Extended offline', True, hours)],
        DISK,
        1100 * HOUR,
        500 * HOUR,
        is_bound=False,
    )

    assert (found.number, found.unit, str(found.source)) == (
        number,
        '',
        'self-test log',
    )


def test_a_test_of_a_drive_that_may_be_older_is_at_least_as_old():
    found = freshness(
        [test('Extended offline', True, 1000)],
        DISK,
        1100 * HOUR,
        500 * HOUR,
        is_bound=True,
    )
    told = self_test(
        [test('Short offline', False, 1000)], DISK, 1100 * HOUR, is_bound=True
    )

    assert found.verdict == NEWEST
    assert told and 'more than 4 ' in told.verdict


@pytest.mark.parametrize(
    ('passed', 'age', 'expected'),
    [
        (
            True,
            150,
            Reading(
                'self_test',
                1,
                '',
                Source('self-test log'),
                f'Short offline: {PASSED} at 100 h, 2 days ago',
                State.OK,
                quiet=50.0 * HOUR,
            ),
        ),
        (
            False,
            None,
            Reading(
                'self_test',
                0,
                '',
                Source('self-test log'),
                f'Short offline: {FAILED} at 100 h',
                State.CRITICAL,
                brief='Short offline self-test failed',
            ),
        ),
    ],
)
def test_the_verdict_of_the_log_is_a_reading_with_its_age(passed, age, expected):
    assert (
        self_test([test('Short offline', passed)], DISK, age and age * HOUR, False)
        == expected
    )


@pytest.mark.parametrize(
    'tests, status, state',
    [
        ((), 0x80, State.WARNING),  # smartctl 7.0 to 7.2 and a SAS drive
        ((test('Background long', True),), 0x80, State.WARNING),
        ((test('Background long', False),), 0x80, None),
        ((), 0x40, None),
        ((), None, None),
    ],
)
def test_a_failed_test_that_smartctl_does_not_print_is_no_silence(tests, status, state):
    found = unlisted_failure(
        Report(SAS, self_tests=tests, exit_status=status, version=(7, 2))
    )

    assert (found and found.state) == state


@pytest.mark.parametrize(
    'device, command',
    [
        (Device('/dev/sda'), 'smartctl -t long /dev/sda'),
        (
            Device('/dev/bus/0', 'megaraid,3'),
            'smartctl -t long -d megaraid,3 /dev/bus/0',
        ),
        (Device('sda.txt', is_recorded=True), 'smartctl -t long DEVICE'),
        (Device('/dev/disk/by-id/a;reboot'), 'smartctl -t long DEVICE'),
    ],
)
def test_a_self_test_is_started_by_a_command_that_is_safe_to_paste(device, command):
    assert extended_self_test(device) == command
