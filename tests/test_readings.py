"""From a report and an entry to readings, and which of several is judged."""

import pytest
from small_database import database, row, spec_database

from smart_attributes.knowledge import drive_database, drive_logs
from smart_attributes.knowledge.readings import readings
from smart_attributes.model import (
    ErrorEntry,
    Identity,
    Reading,
    Report,
    SelfTest,
    Source,
    State,
    Statistic,
)
from smart_attributes.wording import quantity

X1 = Identity(protocol='ATA', model='ACME X1-240', firmware='1.0', rotation=0)
NVME = Identity(protocol='NVMe', model='ACME N1', rotation=0)


def read(report, change=None):
    """Return metric -> readings of a report, by the small database after *change* to its entry
    of the X1.
    """
    data = database()
    if change:
        change(data['entries'][0])
    shipped = drive_database.SpecDatabase(data)
    spec = shipped.identify(report.identity, [line.id for line in report.attributes])
    found = {}
    for reading in readings(report, spec, shipped.metrics):
        found.setdefault(reading.metric, []).append(reading)
    return found


def drive(*rows, statistics=(), **more):
    return Report(
        X1,
        attributes=rows,
        statistics={
            place: Statistic(number, 'some')
            for place, number in dict(statistics).items()
        },
        **more,
    )


def one(found, metric):
    (reading,) = found[metric]
    return reading


def judged(found, metric):
    return [
        (reading.number, str(reading.source))
        for reading in found[metric]
        if reading.judged
    ]


# --- vendor attributes -------------------------------------------------------------------


@pytest.mark.parametrize('value', [0, 253, 255, None])
def test_a_value_that_was_never_set_is_unknown_and_never_a_percentage(value):
    """Drives without an endurance figure leave 0, 253 or 255 there."""
    reading = one(read(drive(row(233, value))), 'endurance_used')

    assert (reading.number, reading.judged) == (None, False)
    assert reading.unknown


@pytest.mark.parametrize(
    ('number', 'raw', 'metric', 'expected', 'unit'),
    [
        (9, '1234', 'power_on_time', 1234 * 3600, 's'),
        (175, '640 (409 5906)', 'capacitor_test_age', 5906 * 60, 's'),
    ],
)
def test_readings_are_in_base_units(number, raw, metric, expected, unit):
    """Limits and graphs know nothing of minutes, hours and 32 MiB."""
    reading = one(read(drive(row(number, raw=raw))), metric)

    assert (reading.number, reading.unit, str(reading.source)) == (
        expected,
        unit,
        f'attribute {number}',
    )


def test_a_counter_at_its_ceiling_says_or_more():
    """65535 minutes mean that the counter stopped, not that the test was then; the ceiling is in
    the counter's own unit.
    """

    def with_ceiling(entry):
        entry['attributes']['175']['readings']['capacitor_test_age']['ceiling'] = 60000

    def age(minutes, change=None):
        report = drive(row(175, raw=f'640 (409 {minutes})'))
        return one(read(report, change), 'capacitor_test_age')

    assert (age(65535).number, age(65535).at_ceiling) == (65535 * 60, True)
    assert not age(65534).at_ceiling
    # it cannot count on, whatever is printed
    assert (age(65000, with_ceiling).number, age(65000, with_ceiling).at_ceiling) == (
        3_600_000,
        True,
    )
    assert (quantity(age(65535)), quantity(age(65534))) == (
        '1092.2 h or more',
        '1092.2 h',
    )


@pytest.mark.parametrize(
    ('value', 'word', 'number', 'state'),
    [
        (100, 'passed', 1, State.OK),
        (11, 'not tested, because too hot', 0.5, State.WARNING),
        (0, 'failed', 0, State.CRITICAL),
        (10, 'failed', 0, State.CRITICAL),
    ],
)
def test_a_verdict_is_a_word_with_a_state(value, word, number, state):
    """ "passed" is OK, "failed" CRITICAL, everything else WARNING."""
    reading = one(read(drive(row(175, value))), 'power_loss_protection')

    assert reading[:3] == ('power_loss_protection', number, '')
    assert str(reading.source) == 'attribute 175'
    assert (reading.verdict, reading.state, reading.judged) == (word, state, True)


def test_of_the_readings_of_one_metric_the_first_valid_one_counts():
    """Later ones serve only where it is unknown."""

    def with_two(entry):
        entry['attributes'] = {
            '231': {
                'name': 'A',
                'readings': {'endurance_used': {'from': 'raw', 'valid': [0, 100]}},
            },
            '233': {
                'name': 'B',
                'readings': {
                    'endurance_used': {'from': '100 - value', 'valid': [0, 99]}
                },
            },
        }

    for raw, value, number, attribute in (
        ('5', 22, 5, 231),
        ('999', 22, 78, 233),
        ('999', 0, None, 231),
    ):
        found = one(
            read(drive(row(231, raw=raw), row(233, value)), with_two), 'endurance_used'
        )
        assert (found.number, str(found.source)) == (number, f'attribute {attribute}')


def test_a_trap_is_shown_and_never_judged():
    """It looks alarming and is not."""

    def as_trap(entry):
        entry['attributes']['233']['trap'] = entry['attributes']['175']['trap'] = True

    found = read(drive(row(233, 3), row(175, 0)), as_trap)

    assert one(found, 'endurance_used')[1] == 97
    assert (
        judged(found, 'endurance_used') == judged(found, 'power_loss_protection') == []
    )


def test_the_vendors_threshold_goes_with_the_value_that_it_is_for():
    """A limit may refer to it; a figure that was computed has none."""

    def with_spare(entry):
        entry['attributes']['232'] = {
            'name': 'Spare',
            'readings': {'spare_available': {'from': 'value'}},
        }

    found = read(
        drive(row(232, 90, threshold=10), row(233, 90, threshold=10)), with_spare
    )

    assert one(found, 'spare_available').drive_limit == 10
    assert one(found, 'endurance_used').drive_limit is None


# --- standard logs against vendor attributes -----------------------------------------------

STATISTIC = 'device statistics'


@pytest.mark.parametrize(
    ('value', 'statistic', 'expected'),
    [
        (50, 60, (60, STATISTIC)),
        (30, 60, (70, 'attribute 233')),
        (1, 130, (130, STATISTIC)),
        (0, 60, (60, STATISTIC)),
        (99, 0, (1, 'attribute 233')),
    ],
)
def test_the_larger_endurance_is_judged_and_both_are_kept(value, statistic, expected):
    """A normalized value stops at 99 % used while the statistic counts on."""
    found = read(drive(row(233, value), statistics={(7, 8): statistic}))

    assert judged(found, 'endurance_used') == [expected]
    assert len(found['endurance_used']) == 2


@pytest.mark.parametrize(
    ('rows', 'statistics', 'metric', 'expected'),
    [
        ([row(233, 90)], {(7, 8): 255}, 'endurance_used', [(10, 'attribute 233')]),
        ([], {(7, 8): 255}, 'endurance_used', []),
        ([], {(5, 8): 40}, 'temperature', [(40, STATISTIC)]),
    ],
    ids=['beside an attribute', 'alone', 'another'],
)
def test_a_statistic_that_the_entry_distrusts_is_not_judged(
    rows, statistics, metric, expected
):
    """Some controllers state a constant there: better no figure than an invented one."""
    found = read(
        drive(*rows, statistics=statistics),
        lambda entry: entry.update(untrusted_statistics=['endurance_used']),
    )

    assert judged(found, metric) == expected


@pytest.mark.parametrize(('threshold', 'limit'), [(10, 10), (0, None), (100, None)])
def test_a_spare_threshold_of_0_or_100_is_none(threshold, limit):
    """It would never alarm, or always."""
    report = Report(
        NVME, nvme={'available_spare': 90, 'available_spare_threshold': threshold}
    )

    assert one(read(report), 'spare_available').drive_limit == limit


def test_sectors_are_counted_in_the_drives_own_size():
    """4096 bytes on a 4Kn drive."""
    report = drive(statistics={(1, 0x18): 10})

    assert (
        one(
            read(report._replace(identity=X1._replace(sector_size=4096))),
            'host_written',
        ).number
        == 40960
    )
    assert one(read(report), 'host_written').number == 5120


@pytest.mark.parametrize(
    ('counts', 'expected'),
    [
        ({'read': 1, 'verify': 2}, [(3, True)]),
        ({'read': 2**64 - 1, 'write': 5000}, [(5000, True), (None, False)]),
    ],
    ids=['sum', 'impossible'],
)
def test_uncorrected_errors_of_all_pages_are_added(counts, expected):
    """A SAS drive counts reads, writes and verifications apart; 2^64 - 1 means that it does not."""
    scsi = {f'{page}.total_uncorrected_errors': count for page, count in counts.items()}
    found = read(Report(Identity(protocol='SCSI'), scsi=scsi))['reported_uncorrect']

    assert [(each.number, each.judged) for each in found] == expected


# --- the drive's own word ----------------------------------------------------------------

BOGUS = row(246, 1, threshold=255, prefail=True, when_failed='now', name='Bogus')


def ignoring_246(entry):
    entry['ignore_thresholds'] = [246]


def states(found, metric):
    return [(reading.state, reading.judged) for reading in found.get(metric, ())]


def test_a_bogus_threshold_suppresses_itself_and_the_failed_that_comes_from_it():
    """The drive calls itself FAILED by nothing but this threshold."""
    found = read(drive(BOGUS, smart_status=False), ignoring_246)

    assert 'vendor_threshold' not in found
    assert states(found, 'smart_status') == [(State.OK, False)]
    assert 'wrong' in one(found, 'smart_status').verdict


def test_a_real_failure_beside_a_bogus_one_is_still_critical():
    """Silencing one thing silences nothing else."""
    other = row(5, 1, threshold=10, prefail=True, when_failed='now')
    found = read(drive(BOGUS, other, smart_status=False), ignoring_246)

    assert states(found, 'smart_status') == [(State.CRITICAL, True)]
    assert states(found, 'vendor_threshold') == [(State.CRITICAL, True)]


@pytest.mark.parametrize(
    'rows',
    [
        (),
        (row(202, 1, threshold=10, when_failed='now'),),
        (BOGUS._replace(when_failed='past'),),
    ],
    ids=['nothing-failing', 'old-age-only', 'bogus-in-the-past'],
)
def test_failed_that_no_bogus_threshold_explains_stays_critical(rows):
    """An old-age attribute never makes a drive FAILED, so something else did."""
    assert states(
        read(drive(*rows, smart_status=False), ignoring_246), 'smart_status'
    ) == [(State.CRITICAL, True)]


@pytest.mark.parametrize(
    ('bits', 'metric', 'state'),
    [
        (0x01, 'spare_warning', State.CRITICAL),
        (0x02, 'temperature_warning', State.WARNING),
        (0x04, 'reliability', State.CRITICAL),
        (0x08, 'write_protect', State.CRITICAL),
        (0x10, 'power_loss_protection', State.CRITICAL),
        (0x20, 'persistent_memory', State.CRITICAL),
    ],
)
def test_an_nvme_drive_is_judged_by_its_bits_and_not_by_the_word(bits, metric, state):
    """FAILED covers a warm drive as well as a read-only one."""
    found = read(Report(NVME, smart_status=False, nvme={'critical_warning': bits}))

    assert states(found, metric) == [(state, True)]
    assert states(found, 'smart_status') == [(State.OK, False)]


@pytest.mark.parametrize('bits', [0, 0x40, 0x80, 0x42])
def test_failed_that_no_known_bit_explains_stays_critical(bits):
    """Never OK by silence: the two upper bits are reserved, and say nothing better than the
    word.
    """
    found = read(Report(NVME, smart_status=False, nvme={'critical_warning': bits}))

    assert states(found, 'smart_status') == [(State.CRITICAL, True)]


@pytest.mark.parametrize(
    ('number', 'prefail', 'ignored', 'is_told'),
    [
        (1, True, (), True),
        (7, True, (), True),
        (1, False, (), False),
        (5, True, (), False),
        (180, True, (), False),
        (1, True, (1,), False),
    ],
    ids=[
        'warn-read-errors',
        'warn-seek-errors',
        'old-age',
        'a-counter',
        'a-count-of-spare-blocks',
        'known-to-be-bogus',
    ],
)
def test_an_error_rate_that_was_at_its_threshold_once_is_told(
    number, prefail, ignored, is_told
):
    """A rate recovers; a counter that was at its threshold still is."""

    def change(entry):
        entry['ignore_thresholds'] = list(ignored)

    found = read(
        drive(
            row(number, 90, worst=5, threshold=10, prefail=prefail, when_failed='past')
        ),
        change if ignored else None,
    )

    assert 'vendor_threshold' not in found
    assert states(found, 'vendor_threshold_past') == (
        [(State.WARNING, True)] if is_told else []
    )
    assert [
        (reading.number, reading.unit, reading.drive_limit, str(reading.source))
        for reading in found.get('vendor_threshold_past', ())
    ] == ([(5, '', 10, f'attribute {number}')] if is_told else [])


@pytest.mark.parametrize(
    ('model', 'rows', 'expected'),
    [
        ('ACME X1-240', [row(233, 90)], [(10, 'attribute 233')]),
        ('ACME X1-240', [], []),
        ('WHO', [], [(28, 'smartctl')]),
    ],
    ids=['the-entry-knows', 'the-entry-knows-of-none', 'no-entry'],
)
def test_what_smartctl_makes_of_a_drive_counts_where_nobody_knows_better(
    model, rows, expected
):
    """It goes by the names of its own database; an entry that reads nothing has its reasons."""
    found = read(
        Report(
            X1._replace(model=model),
            attributes=tuple(rows),
            derived={'endurance_used': 28},
        )
    )

    assert judged(found, 'endurance_used') == expected
    assert (28, 'smartctl') in [
        (reading.number, str(reading.source)) for reading in found['endurance_used']
    ]


def self_test(passed, hours=100):
    return SelfTest('Short offline', 'as printed', passed, hours)


# --- each reading whole: number, unit, source, words ------------------------------------------


def status(found):
    return one(found, 'smart_status')


HEALTH = Source('health self-assessment')


@pytest.mark.parametrize(
    ('status_of_report', 'number', 'words', 'state'),
    [
        ({'smart_status': True}, 1, 'passed', State.OK),
        ({'smart_status': False}, 0, 'FAILED', State.CRITICAL),
        # SAS drives tell what is impending
        (
            {'smart_status': False, 'smart_status_text': 'FIRMWARE IMPENDING FAILURE'},
            0,
            'FIRMWARE IMPENDING FAILURE',
            State.CRITICAL,
        ),
    ],
)
def test_the_health_status_is_a_number_for_graphs_and_a_word(
    status_of_report, number, words, state
):
    assert status(read(drive(**status_of_report))) == Reading(
        'smart_status', number, '', HEALTH, words, state, judged=True
    )


def test_the_word_failed_that_the_bits_explain_is_kept_beside_them():
    """It is told with -v, and judges nothing."""
    found = read(Report(NVME, smart_status=False, nvme={'critical_warning': 2}))

    assert status(found) == Reading(
        'smart_status',
        0,
        '',
        HEALTH,
        'FAILED, because of temperature_warning',
        State.OK,
        judged=False,
    )
    assert one(found, 'temperature_warning') == Reading(
        'temperature_warning',
        0,
        '',
        Source('NVMe health log'),
        'temperature outside its limits',
        State.WARNING,
    )


@pytest.mark.parametrize(
    ('degrees', 'limit', 'why'),
    [
        (-5, {}, 'lower limit, or the sensor'),
        (24, {}, 'lower limit, or the sensor'),
        (25, {}, 'although the drive reports 25 C'),
        (49, {}, 'although the drive reports 49 C'),
        (50, {}, ''),
        (85, {}, ''),
        (-5, {'warning_temp_threshold': 84}, 'lower limit, or the sensor'),
        (73, {'warning_temp_threshold': 84}, 'although the drive reports 73 C'),
        (74, {'warning_temp_threshold': 84}, ''),
        (85, {'warning_temp_threshold': 84}, ''),
        # not reported
        (12, {'warning_temp_threshold': 0}, 'lower limit, or the sensor'),
    ],
)
def test_a_drive_that_is_far_from_its_upper_limit_is_not_to_be_cooled(
    degrees, limit, why
):
    log = {'critical_warning': 2, 'temperature': degrees, **limit}
    reading = one(
        read(Report(NVME, smart_status=False, nvme=log)), 'temperature_warning'
    )

    assert (reading.state, reading.has_remedy) == (State.WARNING, not why)
    assert why in reading.verdict
    assert reading.verdict == 'temperature outside its limits' or why


SILENT = row(5, threshold=None)


@pytest.mark.parametrize(
    ('prefail', 'state'), [(True, State.CRITICAL), (False, State.WARNING)]
)
def test_an_attribute_at_its_threshold_is_worse_when_it_is_prefail(prefail, state):
    """Old age is worn, not broken."""
    found = read(drive(row(5, 1, threshold=36, prefail=prefail, when_failed='now')))

    assert one(found, 'vendor_threshold') == Reading(
        'vendor_threshold',
        1,
        '',
        Source(attribute=5),
        'attribute 5 Some_Name failed: value 1, vendor threshold 36',
        state,
        drive_limit=36,
        brief='Some_Name failed',
    )


VERDICTS = {
    'threshold once': (
        drive(row(7, 90, worst=5, threshold=10, prefail=True, when_failed='past')),
        'vendor_threshold_past',
        'attribute 7 Some_Name failed in the past: worst value 5, vendor threshold 10, value now 90',
    ),
    # A command failed, and neither health nor thresholds came: never OK by silence.
    'silent': (
        drive(SILENT, exit_status=4),
        'smart_status',
        'not reported, because the drive stopped answering while it was being read',
    ),
    'nothing': (
        drive(),
        'smart_status',
        'neither health status nor counters reported',
    ),
}


@pytest.mark.parametrize('case', VERDICTS)
def test_the_words_of_a_verdict_are_all_that_the_admin_sees(case):
    report, metric, words = VERDICTS[case]
    found = one(read(report), metric)

    assert found.verdict == words
    assert found.state is (State.WARNING if case == 'threshold once' else State.UNKNOWN)


METRICS = spec_database().metrics
UNKNOWN = {
    'valid range': (
        drive(row(233, 0)),
        'endurance_used',
        '100 is outside its valid range',
    ),
    'too low': (drive(row(194, raw='0')), 'temperature', '0 is not a plausible value'),
    'too high': (
        drive(row(194, raw='255')),
        'temperature',
        '255 is not a plausible value',
    ),
    'result': (
        drive(row(175, 101, '640 (409 5906)')),
        'power_loss_protection',
        '101 is not a known result',
    ),
    'raw value': (
        drive(row(241, raw='1 2')),
        'host_written',
        'cannot be taken from the raw value 1 2',
    ),
    'sentinel': (
        drive(row(241, raw='65535')),
        'host_written',
        '65535 means "no value"',
    ),
    'standard log': (
        Report(NVME, nvme={'available_spare': 255}),
        'spare_available',
        '255 is not a plausible value',
    ),
    # On a drive that has never logged an error, one bit is no count of lost data.
    'one bit': (
        Report(NVME, nvme={'media_errors': 2**32, 'num_err_log_entries': 0}),
        'media_errors',
        '4294967296 with an empty error log is not plausible',
    ),
}


@pytest.mark.parametrize('case', UNKNOWN)
def test_a_number_that_is_none_is_unknown_with_its_reason(case):
    """Never 0 % and never 100 %; the source is told, so that the admin can look at it."""

    def with_sentinel(entry):
        entry['attributes']['241']['readings']['host_written']['not'] = [65535]

    report, metric, why = UNKNOWN[case]
    found = one(read(report, with_sentinel), metric)

    assert (found.number, found.judged, found.unknown) == (None, False, why)
    assert str(found.source) == (
        f'attribute {report.attributes[0].id}'
        if report.attributes
        else 'NVMe health log'
    )
    assert found.unit == METRICS[metric].unit


@pytest.mark.parametrize(('errors', 'logged'), [(2**32, 7), (3, 0), (0, 0)])
def test_lost_data_is_counted_unless_it_is_one_bit_that_no_error_log_knows(
    errors, logged
):
    report = Report(NVME, nvme={'media_errors': errors, 'num_err_log_entries': logged})

    assert judged(read(report), 'media_errors') == [(errors, 'NVMe health log')]


SAS = Identity(protocol='SCSI', model='ACME S1')


@pytest.mark.parametrize(
    'report',
    [
        drive(SILENT, exit_status=0),
        drive(SILENT),
        drive(SILENT, exit_status=1),
        drive(row(5, threshold=10), exit_status=4),
        drive(SILENT, row(9, threshold=0), exit_status=4),
        Report(NVME, nvme={'percentage_used': 3}),
        Report(SAS, scsi={'grown_defects': 0}),
        Report(SAS, scsi={'write.total_uncorrected_errors': 0}),
    ],
    ids=[
        'no command failed',
        'a recorded report',
        'another bit',
        'thresholds came',
        'one threshold came',
        'nvme',
        'sas defects',
        'sas errors',
    ],
)
def test_a_drive_without_health_status_is_judged_by_its_attributes_or_its_log(report):
    """Old drives and RAID controllers never report it: unknown is no state, and no number."""
    assert status(read(report)) == Reading(
        'smart_status', None, '', HEALTH, judged=False, unknown='not reported'
    )


@pytest.mark.parametrize(
    'report',
    [
        drive(),
        drive(exit_status=4),
        drive(error_count=7),
        drive(statistics={(1, 0x10): 12}),
        Report(NVME, nvme={'warning_temp_threshold': 70, 'temperature': 30}),
        Report(SAS, scsi={'temperature': 30, 'power_on_hours': 9}),
    ],
    ids=['nothing', 'a command failed', 'an error log', 'statistics', 'nvme', 'sas'],
)
def test_a_report_without_health_status_and_counters_is_unknown_with_the_next_step(
    report,
):
    """Neither says that the drive is well; other findings of it still count."""
    found = status(read(report))

    assert (found.state, found.number) == (State.UNKNOWN, 0.5)


def test_the_warranted_amount_is_a_reading_with_its_document():
    """The note about the warranty compares with it."""

    def warranted(entry):
        entry['rated_written'] = {
            'ACME X1-240': {'bytes': 10**14, 'source': 'acme-manual, section 3'}
        }

    assert one(read(drive(), warranted), 'rated_written') == Reading(
        'rated_written', 10**14, 'B', Source('acme-manual, section 3')
    )
    assert 'rated_written' not in read(drive())


WRITTEN = row(241, raw='10000')  # 32 MiB each


@pytest.mark.parametrize(
    ('rows', 'expected'),
    [
        ([WRITTEN], [(10000 * 2**25 / 10**11, drive_logs.RATED)]),
        ([], []),
        ([WRITTEN, row(233, 60)], [(40, 'attribute 233')]),
        ([WRITTEN, row(233, 255)], [(10000 * 2**25 / 10**11, drive_logs.RATED)]),
        ([row(241, raw='9000000')], []),
        ([row(241, raw='900000')], [(255, drive_logs.RATED)]),
    ],
    ids=[
        'only written bytes',
        'nothing',
        'own figure',
        'own figure unknown',
        'more than ever',
        'thrice the warranty',
    ],
)
def test_wear_is_the_share_of_the_warranted_writes_where_the_drive_has_none(
    rows, expected
):
    """A drive without a figure of its own, or with one that means nothing."""
    rated = {'ACME X1-240': {'bytes': 10**13, 'source': 'acme-manual, section 3'}}

    found = read(drive(*rows), lambda entry: entry.update(rated_written=rated))

    assert (
        judged(found, 'endurance_used')
        if rows
        else list(found.get('endurance_used', []))
    ) == expected


@pytest.mark.parametrize(
    ('own', 'estimate', 'expected'),
    [
        (3, 3.4, (3.4, 'NVMe log 0xC0')),
        (4, 3.4, (3.4, 'NVMe log 0xC0')),
        (3, 9.4, (9.4, 'NVMe log 0xC0')),
        (9, 3.4, (9, drive_logs.NVME_LOG)),
        (3, 23.4, (3, drive_logs.NVME_LOG)),
        (60, 3.4, (60, drive_logs.NVME_LOG)),
        (None, 80.5, (80.5, 'NVMe log 0xC0')),
    ],
)
def test_decimals_are_preferred_and_an_estimate_far_away_is_unknown(
    own, estimate, expected
):
    """The drive's own percentage counts if its estimate of the endurance gives another wear
    altogether.
    """
    shipped = spec_database()
    report = Report(NVME, nvme={} if own is None else {'percentage_used': own})
    page = Reading(
        'endurance_used', estimate, '%', Source('NVMe log 0xC0', definition='ocp')
    )

    found = [
        each
        for each in readings(report, drive_database.NO_SPEC, shipped.metrics, [page])
        if each.metric == 'endurance_used'
    ]

    assert [(each.number, str(each.source)) for each in found if each.judged] == [
        expected
    ]
    assert any('contradicts' in each.unknown for each in found) is (
        own is not None and abs(own - estimate) > 20
    )


@pytest.mark.parametrize(
    ('place', 'flags', 'metric', 'is_read'),
    [
        ((3, 0x20), '', 'reallocated', True),
        ((3, 0x20), 'N', 'reallocated', False),
        ((7, 8), 'N', 'endurance_used', True),
        ((5, 8), 'N', 'temperature', False),
        ((9, 9), '', 'endurance_used', False),
    ],
)
def test_a_normalized_statistic_is_a_number_for_endurance_only(
    place, flags, metric, is_read
):
    """29 of the measured disks report 200 "reallocated sectors", normalized."""
    assert (
        metric in read(Report(X1, statistics={place: Statistic(50, 'some', flags)}))
    ) is is_read


@pytest.mark.parametrize(
    ('report', 'metric', 'number', 'unit'),
    [
        # a data unit is 1,000 blocks of 512 bytes
        (Report(NVME, nvme={'data_units_written': 3}), 'host_written', 3 * 512000, 'B'),
        (
            Report(NVME, nvme={'critical_comp_time': 2}),
            'critical_temperature_time',
            120,
            's',
        ),
        (Report(NVME, nvme={'available_spare': 0}), 'spare_available', 0, '%'),
        (
            Report(NVME, nvme={'available_spare': 0, 'available_spare_threshold': 10}),
            'spare_available',
            0,
            '%',
        ),
        (
            Report(NVME, nvme={'available_spare': 1, 'available_spare_threshold': 0}),
            'spare_available',
            1,
            '%',
        ),
        (
            Report(SAS, scsi={'unheard_of': 1, 'power_on_hours': 2}),
            'power_on_time',
            7200,
            's',
        ),
        (
            Report(SAS, scsi={'write.gigabytes_processed': 1.5}),
            'host_written',
            1.5e9,
            'B',
        ),
    ],
)
def test_the_logs_of_nvme_and_sas_drives_are_read_in_base_units(
    report, metric, number, unit
):
    """What has no metric is left alone."""
    reading = one(read(report), metric)

    log = 'NVMe health log' if report.nvme else 'SCSI log'
    assert (reading.number, reading.unit, reading.source) == (number, unit, Source(log))


@pytest.mark.parametrize(('physical', 'sectors'), [(4096, 1), (512, 8), (None, 8)])
def test_reallocation_candidates_are_pending_sectors(physical, sectors):
    """Some disks have no attribute 197; the standard counts logical sectors, of which eight are
    one of 4 KiB.
    """
    report = drive(statistics={(3, 0x038): 8})
    report = report._replace(identity=X1._replace(physical_block_size=physical))

    assert judged(read(report), 'pending') == [(sectors, STATISTIC)]


def test_no_spare_below_no_threshold_is_not_reported():
    """0 % of 0 % is a drive that tells nothing; a drive without spare has a threshold."""
    found = read(
        Report(
            NVME,
            nvme={
                'percentage_used': 0,
                'temperature': 0,
                'available_spare': 0,
                'available_spare_threshold': 0,
            },
        )
    )

    assert 'spare_available' not in found
    assert one(found, 'endurance_used').number == 0


@pytest.mark.parametrize('count', [0, 7])
def test_the_error_log_is_counted(count):
    """None says that it was not read, which is not 0."""
    assert one(read(drive(error_count=count)), 'error_log_count') == Reading(
        'error_log_count', count, '', Source('error log')
    )
    assert 'error_log_count' not in read(drive())


def test_a_reading_of_an_attribute_tells_how_it_was_read():
    """A changed formula or unit is another series of numbers, and no growth."""
    found = read(drive(row(233, 90), row(241, raw='3')))

    assert one(found, 'endurance_used').source == Source(
        attribute=233, definition='100 - value'
    )
    assert one(found, 'host_written').source == Source(
        attribute=241, definition='raw 32MiB'
    )


# --- which of two is judged --------------------------------------------------------------------


def with_spare(entry):
    entry['attributes'] = {
        '232': {'name': 'Spare', 'readings': {'spare_available': {'from': 'value'}}}
    }


@pytest.mark.parametrize(
    ('value', 'standard', 'expected'), [(80, 90, 80), (95, 90, 90), (0, 90, 0)]
)
def test_of_two_readings_of_spare_the_smaller_is_judged(value, standard, expected):
    """Where low is worse, the larger one would hide a drive without spare."""
    report = drive(row(232, value))._replace(nvme={'available_spare': standard})

    found = read(report, with_spare)

    assert [
        reading.number for reading in found['spare_available'] if reading.judged is True
    ] == [expected]
    assert [reading.judged for reading in found['spare_available']].count(False) == 1


def test_of_two_equal_readings_the_standard_log_is_judged():
    """One of them has to be, and not now the one, now the other: history and graphs go by it."""
    report = drive(row(232, 90))._replace(nvme={'available_spare': 90})

    assert judged(read(report, with_spare), 'spare_available') == [
        (90, 'NVMe health log')
    ]


# --- sectors -------------------------------------------------------------------------------


def disk(raw, logical=512, physical=None, statistic=None):
    """Return what a disk whose entry counts logical sectors gives as reallocated."""

    def in_logical_sectors(entry):
        entry['attributes']['5'] = {
            'name': 'Reallocated',
            'readings': {'reallocated': {'from': 'raw', 'unit': 'logical sectors'}},
        }

    rows = [row(5, raw=str(raw))] if raw is not None else []
    report = drive(
        *rows, statistics={} if statistic is None else {(3, 0x20): statistic}
    )
    identity = X1._replace(
        rotation=7200, sector_size=logical, physical_block_size=physical
    )
    return read(report._replace(identity=identity), in_logical_sectors)['reallocated']


@pytest.mark.parametrize(
    ('raw', 'logical', 'physical', 'expected'),
    [
        (8, 512, 4096, '1 (8 logical sectors)'),
        (9, 512, 4096, '2 (9 logical sectors)'),
        (8, 4096, 4096, '8'),
    ],
    ids=['one-bad-sector', 'a-part-is-a-sector', '4kn'],
)
def test_logical_sectors_become_those_that_are_on_the_disk(
    raw, logical, physical, expected
):
    """One bad sector of 4 KiB shows as 8; limits are about sectors that are bad.

    No size makes errors vanish.
    """
    (reading,) = disk(raw, logical, physical)

    assert quantity(reading) == expected


def test_the_device_statistic_is_counted_as_the_attribute_is():
    """Both show the same 16 for two bad sectors; the larger is judged, so one must not stay as
    it was.
    """
    assert [quantity(reading) for reading in disk(16, physical=4096, statistic=16)] == [
        '2 (16 logical sectors)'
    ] * 2
    assert [
        quantity(reading) for reading in disk(None, physical=4096, statistic=16)
    ] == ['2 (16 logical sectors)']


def test_an_entry_may_say_that_only_the_statistic_counts_logical_sectors():
    """A disk of Western Digital with 90 sectors gone shows 90 in attribute 5 and 720 in the
    device statistics.
    """

    def change(entry):
        entry['attributes']['5'] = {
            'name': 'Reallocated',
            'readings': {'reallocated': {'from': 'raw'}},
        }
        entry['statistic_units'] = {'reallocated': 'logical sectors'}

    report = drive(row(5, raw='90'), statistics={(3, 0x20): 720})

    found = read(
        report._replace(identity=X1._replace(rotation=7200, physical_block_size=4096)),
        change,
    )['reallocated']

    assert [reading.number for reading in found] == [90, 90]


def test_the_error_log_is_read_with_the_age_and_the_metrics_of_the_drive():
    """An error is as old as the power-on time says that it is."""
    report = Report(
        Identity(protocol='ATA', model='ACME X1-240', firmware='1.0', rotation=0),
        statistics={(1, 0x010): Statistic(1000, 'Power-on Hours')},
        errors=(ErrorEntry(1, ('UNC',), 990),),
        error_count=1,
    )
    reading = one(read(report), 'logged_data_errors')

    assert (reading.number, reading.unit, reading.quiet) == (1, '', 10 * 3600)


def test_wear_that_age_and_written_bytes_contradict_is_unknown():
    """They come from the same report: 65 % after an hour and one written gigabyte."""
    rows = (row(233, 35, raw='0'), row(9, raw='1'), row(241, raw='32'))
    report = drive(*rows)._replace(identity=X1._replace(capacity=240 * 10**9))
    (wear,) = read(report)['endurance_used']

    assert (wear.number, wear.unknown.split(':')[0]) == (None, 'implausible')
    assert read(drive(*rows))['endurance_used'][0].number == 65, (
        'without a capacity nothing is contradicted'
    )


def test_the_age_of_a_self_test_is_by_the_hours_of_the_same_report():
    """Whatever other readings come before them."""
    report = drive(
        row(233, 90, raw='0'), row(9, raw='150'), self_tests=(self_test(True),)
    )

    assert one(read(report), 'self_test').quiet == 50 * 3600
