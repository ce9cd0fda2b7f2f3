"""What the ATA error log tells of when data were lost."""

import pytest
from shipped import DATABASE

from smart_attributes.knowledge import drive_logs
from smart_attributes.knowledge.log_ages import with_logs
from smart_attributes.model import (
    ErrorEntry,
    Identity,
    Reading,
    Report,
    SelfTest,
    Source,
)

DISK = Identity(protocol='ATA', model='ACME DISK 1', rotation=7200)
HOUR = 3600
AGE = 40000 * HOUR


def error(ago, *kind):
    return ErrorEntry(100000 - ago, kind, 40000 - ago)


def found(*errors, counted=(), count=None, age=AGE):
    """Return the readings with the history of a log, by metric."""
    report = Report(
        DISK, errors=errors, error_count=len(errors) if count is None else count
    )
    readings = [
        Reading('reported_uncorrect', number, '', Source(attribute=187))
        for number in counted
    ]
    dated = with_logs(readings, report, DATABASE.metrics, age) if errors else readings
    return {reading.metric: reading for reading in dated}


@pytest.mark.parametrize(
    'errors, count, quiet',
    [
        (
            (error(5, 'ABRT'), error(900, 'UNC'), error(950, 'UNC')),
            3,
            (900, False),
        ),  # newest data error
        ((error(700, 'IDNF'),), 1, (700, False)),  # not found
        (
            (error(700, 'ABRT'), error(750, 'ICRC', 'ABRT'), error(800, 'ABRT')),
            9,
            (800, True),
        ),  # older than all that is kept
        ((error(700, 'ABRT'),), 1, (None, False)),  # the log does not know it
        ((error(700), error(900, 'UNC')), 2, (700, False)),  # unknown kind may be one
        ((error(-100, 'UNC'),), 1, (None, False)),  # ahead
    ],
)
def test_the_counter_of_data_errors_is_as_old_as_the_newest_in_the_log(
    errors, count, quiet
):
    """Aborted commands and repeated transfers are none; a log that lost entries still tells how old
    the lost ones must be.
    """
    reading = found(*errors, counted=[7], count=count)['reported_uncorrect']

    assert (reading.quiet and reading.quiet / HOUR, reading.quiet_is_bound) == quiet


def test_a_counter_at_zero_has_no_age():
    """Nothing is as quiet."""
    assert found(error(900, 'UNC'), counted=[0])['reported_uncorrect'].quiet is None


@pytest.mark.parametrize(
    'errors, number, newest',
    [
        ((error(10, 'UNC'), error(1000, 'IDNF'), error(1001, 'UNC')), 3, 10),  # all
        (
            (
                error(10, 'UNC', 'ABRT'),
                error(10, 'ABRT'),
                error(10, 'ICRC', 'ABRT'),
                error(10),
            ),
            1,
            10,
        ),  # data errors only
        ((error(-100, 'UNC'), error(70, 'IDNF')), 2, 70),  # one of unknown age
        ((error(20, 'WP'), error(70, 'ABRT')), 1, 20),  # of a write
    ],
)
@pytest.mark.parametrize(
    'counted',
    [
        (),  # no counter
        (0,),  # counter at zero
    ],
)
def test_data_errors_in_the_log_of_a_drive_without_a_counter_are_counted_and_dated(
    errors, number, newest, counted
):
    """Many disks have no attribute 187, and none of them is OK by silence."""
    reading = found(*errors, counted=counted)['logged_data_errors']

    assert (reading.number, reading.quiet) == (number, newest * HOUR)
    assert (reading.unit, str(reading.source)) == ('', 'error log')


def test_logged_data_errors_are_reported_once():
    """A counter that has counted them is the better source."""
    assert 'logged_data_errors' not in found(error(10, 'UNC'), counted=[3])
    assert found(error(10, 'ABRT')) == {}
    assert found() == {}


@pytest.mark.parametrize(
    'errors, number, newest',
    [
        # newest
        ((error(10, 'ICRC', 'ABRT'), error(900, 'UNC'), error(950, 'ICRC')), 2, 10),
        ((error(900, 'ICRC'),), 1, 900),  # old
        ((error(10, 'ABRT'), error(11, 'ICRC')), None, None),  # newest is another
        ((error(10, 'UNC'),), None, None),  # no interface error
    ],
)
def test_interface_errors_are_reported_only_if_the_newest_entry_is_one(
    errors, number, newest
):
    """An older one has been followed by other commands without a transfer error."""
    reading = found(*errors).get('logged_interface_errors')

    assert (reading and (reading.number, reading.quiet)) == (
        number and (number, newest * HOUR)
    )


def test_an_interface_error_is_reported_beside_the_data_errors():
    """Neither hides the other."""
    logged = error(10, 'ICRC', 'ABRT'), error(900, 'UNC')

    assert set(found(*logged)) == {'logged_data_errors', 'logged_interface_errors'}
    assert set(found(*logged, counted=[7])) == {
        'reported_uncorrect',
        'logged_interface_errors',
    }


@pytest.mark.parametrize(
    'kind, status, passed, ago, pending, is_tested',
    [
        # passed since
        ('Extended offline', 'Completed without error', True, 50, 0, True),
        # no counter
        ('Extended offline', 'Completed without error', True, 50, None, True),
        ('Extended offline', 'Completed without error', True, 50, 1, False),  # pending
        # before the error
        ('Extended offline', 'Completed without error', True, 900, 0, False),
        ('Short offline', 'Completed without error', True, 50, 0, False),  # short
        ('Extended offline', 'Completed: read failure', False, 50, 0, False),  # failed
    ],
)
def test_an_extended_test_that_passed_since_the_newest_error_counts_unless_a_sector_is_pending(
    kind, status, passed, ago, pending, is_tested
):
    report = Report(
        DISK,
        errors=(error(900, 'UNC'),),
        error_count=1,
        self_tests=(SelfTest(kind, status, passed, 40000 - ago),),
    )
    readings = [Reading('reported_uncorrect', 7, '', Source(attribute=187))]
    if pending is not None:
        readings.append(Reading('pending', pending, '', Source(attribute=197)))

    dated = {
        reading.metric: reading
        for reading in with_logs(readings, report, DATABASE.metrics, AGE)
    }

    assert dated['reported_uncorrect'].is_tested is is_tested
    assert not any(
        reading.is_tested for reading in dated.values() if reading.metric == 'pending'
    )


@pytest.mark.parametrize(
    'age',
    [
        None,  # no age
        30000 * HOUR,  # younger than its log
    ],
)
def test_errors_of_an_hour_that_means_nothing_are_unknown_and_not_zero(age):
    """Never OK by an invented number."""
    reading = found(error(10, 'UNC'), age=age)['logged_data_errors']

    assert (reading.number, reading.judged) == (None, False)
    assert (
        reading.unknown
        == 'the power-on hours logged with the errors do not match the power-on time'
    )


@pytest.mark.parametrize(
    'hour, age, since',
    [
        (100, 300, 200),
        (65500, 65536 + 64, 100),
        (124, 100, 0),
        (125, 100, None),
        (10, 65500, 65490),
        (10, 65536 + 5, 0),
        (100, 2 * 65536 + 300, 200),
    ],
)
def test_a_16_bit_hour_means_the_latest_time_that_it_can(hour, age, since):
    """Old errors must not look older than they are; clocks of log and counter may be a day
    apart.
    """
    seconds = drive_logs.seconds_since(hour, age * HOUR)

    assert seconds == (None if since is None else since * HOUR)


def test_an_hour_of_nvme_is_whole():
    """An old failure must not become newer when the drive is 7.5 years old."""
    test = SelfTest('Extended', 'Completed', True, 10)
    [result] = drive_logs.results([test], Identity('NVMe'), 70_000 * HOUR)

    assert result.ago == 69_990 * HOUR
