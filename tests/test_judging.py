"""Readings meet limits: pure, so that one value is enough for a test."""

import json
from itertools import product

import pytest
import small_database
from conftest import ROOT
from small_database import row

from smart_attributes.check import drive_notes, fence, judging
from smart_attributes.errors import DriveAsleep, DriveError
from smart_attributes.history import past
from smart_attributes.history.series import History, Point
from smart_attributes.knowledge import drive_database, drive_logs, ranges, thresholds
from smart_attributes.knowledge.thresholds import Acknowledgement, DriveLimit, Limit
from smart_attributes.model import (
    AttributeRow,
    Device,
    Identity,
    Judgement,
    Reading,
    Report,
    SelfTest,
    Source,
    State,
    Statistic,
)
from smart_attributes.work.statements import finding, headline

SDA = Device('/dev/sda', name='sda')
HOUR = 3600
DAY_0 = 1795132800.0  # 2026-11-20


@pytest.fixture(scope='module')
def database():
    return drive_database.SpecDatabase(json.loads((ROOT / 'attributes.json').read_text()))


@pytest.fixture(scope='module')
def limits():
    return thresholds.Thresholds(json.loads((ROOT / 'thresholds/default.json').read_text()))


def best_number(metric):
    return metric.valid[1] if metric.worse == 'low' else metric.valid[0] or 0


def unmet(database, limits, metric, kind, drive_limit, temperatures):
    """Return the judgement on the best number that a metric can have if it alerts; the rest as a
    drive states it.
    """
    identity = Identity(
        {'nvme': 'NVMe', 'sas': 'SCSI'}.get(kind, 'ATA'),
        'ACME',
        rotation=7200 if kind == 'hdd' else 0,
    )
    of_drive = {
        name: Reading(name, number, 'C', Source('x')) for name, number in temperatures.items()
    }
    reading = Reading(
        metric.name, best_number(metric), metric.unit, Source('x'), drive_limit=drive_limit
    )
    judged = judging.judge_reading(
        reading, limits.limit(metric.name, SDA, identity, ''), of_drive, database.metrics
    )
    return judged if judged.state is not State.OK else None


@pytest.mark.parametrize('kind', ['hdd', 'ssd', 'nvme', 'sas'])
def test_the_best_number_of_a_metric_is_ok_whatever_the_drive_states_as_its_limit(
    kind, database, limits
):
    """Otherwise the alert has no end: Apple's NVMe drives state a threshold of 99 % for their
    spare blocks.
    """
    metrics = [
        metric
        for metric in database.metrics.values()
        if not metric.is_verdict and metric.worse != 'none'
    ]
    temperatures = 'temperature_limit', 'temperature_critical_limit'
    told = [
        unmet(database, limits, metric, kind, number, dict.fromkeys(temperatures, number - 50))
        for metric in metrics
        for number in range(256)
    ]

    assert [each for each in told if each] == []


def test_no_default_limit_lies_outside_the_range_of_its_metric(database, limits):
    for kind, (name, metric) in product(('ATA', 'NVMe', 'SCSI'), database.metrics.items()):
        limit = limits.limit(name, SDA, Identity(kind, 'ACME', rotation=0), '')
        for text in (limit.warning, limit.critical):
            if isinstance(text, str) and text:
                allowed = ranges.parse(text, metric.unit)
                assert all(
                    metric.valid[0] <= end <= (metric.valid[1] or end)
                    for end in (allowed.start, allowed.end)
                    if abs(end) != float('inf')
                ), (name, text)


def spare(number, threshold=None):
    return Reading('spare_available', number, '%', Source('NVMe health log'), drive_limit=threshold)


SPARE_LIMIT = Limit(DriveLimit('threshold', 6, '16:'), DriveLimit('threshold', 0, '11:'))


@pytest.mark.parametrize(
    ('reading', 'state', 'against'),
    [
        (spare(100, 10), State.OK, ''),
        (spare(16, 10), State.OK, ''),
        (spare(15, 10), State.WARNING, 'below 16'),
        (spare(10, 10), State.WARNING, 'below 16'),
        (spare(9, 10), State.CRITICAL, 'below 10'),
        (spare(16), State.OK, ''),
        (spare(15), State.WARNING, 'below 16'),
        (spare(10), State.CRITICAL, 'below 11'),
        (spare(6, 5), State.WARNING, 'below 11'),
        (spare(100, 99), State.OK, ''),
        (spare(99, 99), State.WARNING, 'below 100'),
        (spare(98, 99), State.CRITICAL, 'below 99'),
    ],
    ids=[
        'ok-full',
        'ok-at-the-limit',
        'warn-near',
        'warn-at-the-threshold',
        'crit-below',
        'ok-no-threshold',
        'warn-no-threshold',
        'crit-no-threshold',
        'warn-other-threshold',
        'ok-full-at-99',
        'warn-at-99',
        'crit-below-99',
    ],
)
def test_spare_is_judged_by_the_drives_own_threshold(database, reading, state, against):
    """Drives set it at 3, 5 or 10; without one the usual 10 holds."""
    judgement = judging.judge_reading(reading, SPARE_LIMIT, {}, database.metrics)

    assert (judgement.state, judgement.against) == (state, against)


@pytest.mark.parametrize(
    ('temperature', 'own_limit', 'state'),
    [
        (55, 60, State.OK),
        (56, 60, State.WARNING),
        (60, 60, State.WARNING),
        (61, 60, State.CRITICAL),
        (64, 70, State.OK),
        (55, None, State.OK),
        (56, None, State.WARNING),
        (61, None, State.CRITICAL),
    ],
)
def test_a_hard_disks_temperature_is_judged_by_its_own_limit(
    database, limits, temperature, own_limit, state
):
    """Some are made for 55 degrees and some for 70."""
    statistics = {(5, 0x008): Statistic(temperature, 'Current Temperature')}
    if own_limit:
        statistics[(5, 0x058)] = Statistic(own_limit, 'Specified Maximum Operating Temperature')
    report = Report(
        Identity(protocol='ATA', model='ACME DISK 1', rotation=7200),
        smart_status=True,
        statistics=statistics,
    )

    assert judging.judge(SDA, report, database, limits, judging.Rules()).state is state


@pytest.mark.parametrize(
    ('temperature', 'own_limit', 'state', 'against'),
    [
        (50, 55, State.OK, ''),
        (51, 55, State.WARNING, 'above 50'),
        (50, 50, State.OK, ''),
        (51, 50, State.CRITICAL, 'above 50'),
        (60, 70, State.OK, ''),
        (61, 70, State.WARNING, 'above 60'),
        (61, None, State.WARNING, 'above 60'),
    ],
)
def test_a_cautious_limit_of_an_ssd_warns_nobody_at_45_degrees(
    database, limits, temperature, own_limit, state, against
):
    """Ten below 55 nothing fails; ten below 70 is worth a word."""
    statistics = {(5, 0x008): Statistic(temperature, 'Current Temperature')}
    if own_limit:
        statistics[(5, 0x058)] = Statistic(own_limit, 'Specified Maximum Operating Temperature')
    report = Report(
        Identity(protocol='ATA', model='ACME SSD 1', rotation=0),
        smart_status=True,
        statistics=statistics,
    )

    verdict = judging.judge(SDA, report, database, limits, judging.Rules())

    assert (verdict.state, verdict.judgements[0].against) == (state, against)


@pytest.mark.parametrize(
    ('count', 'state'), [(200, State.OK), (201, State.WARNING), (6505, State.WARNING)]
)
def test_an_ssd_that_replaced_far_more_blocks_than_its_like_warns(database, limits, count, state):
    """42 of 13,797 are there; 19 of these have lost data."""
    rows = (AttributeRow(5, 'Reallocated_Sector_Ct', 100, 100, 1, True, '', str(count)),)
    report = Report(
        Identity(protocol='ATA', model='SAMSUNG MZ7LM960HMJP-00005', rotation=0),
        smart_status=True,
        attributes=rows,
    )

    assert judging.judge(SDA, report, database, limits, judging.Rules()).state is state


def test_an_impossible_own_limit_is_ignored(database, limits):
    """Trip temperature 25 degrees, 0 degrees: both are seen on healthy drives."""
    statistics = {
        (5, 0x008): Statistic(35, 'Current Temperature'),
        (5, 0x058): Statistic(25, 'Specified Maximum'),
    }
    report = Report(
        Identity(protocol='ATA', model='ACME DISK 1', rotation=7200),
        smart_status=True,
        statistics=statistics,
    )

    assert judging.judge(SDA, report, database, limits, judging.Rules()).state is State.OK


def nvme(bits=0, **log):
    return Report(
        Identity(protocol='NVMe', model='ACME NVME 1', firmware='1.0'),
        smart_status=not bits,
        nvme={
            'critical_warning': bits,
            'temperature': 40,
            'available_spare': 100,
            'available_spare_threshold': 10,
            'percentage_used': 3,
            'media_errors': 0,
            'num_err_log_entries': 0,
            **log,
        },
    )


@pytest.mark.parametrize(
    ('bits', 'state', 'word'),
    [
        (0x01, State.CRITICAL, 'spare below its threshold'),
        (0x02, State.WARNING, 'temperature outside its limits'),
        (0x04, State.CRITICAL, 'reliability degraded'),
        (0x08, State.CRITICAL, 'read-only'),
        (0x10, State.CRITICAL, 'backup failed'),
        (0x20, State.CRITICAL, 'persistent memory'),
        (0x03, State.CRITICAL, 'spare below its threshold'),
        (0x40, State.CRITICAL, 'FAILED'),
    ],
    ids=[
        'crit-spare',
        'warn-temperature',
        'crit-reliability',
        'crit-read-only',
        'crit-backup',
        'crit-pmr',
        'crit-two-bits',
        'crit-unknown-bit',
    ],
)
def test_nvme_is_judged_by_its_bits_in_words(database, limits, bits, state, word):
    """The word FAILED covers a warm drive and a dying one alike."""
    from smart_attributes.work.statements import findings

    verdict = judging.judge(SDA, nvme(bits), database, limits, judging.Rules())

    assert verdict.state is state
    assert word in findings(verdict)


def test_an_nvme_error_log_counter_alarms_nobody(database, limits):
    """It rises with every command that the drive does not know, at every boot."""
    assert (
        judging.judge(SDA, nvme(num_err_log_entries=16384), database, limits, judging.Rules()).state
        is State.OK
    )


def test_an_ata_crc_count_from_years_ago_alarms_nobody(database, limits):
    """The counter never goes back after a bad cable."""
    rows = (
        AttributeRow(9, 'Power_On_Hours', 90, 90, 0, False, '', '40000'),
        AttributeRow(199, 'UDMA_CRC_Error_Count', 200, 1, 0, False, '', '8192'),
    )
    report = Report(
        Identity(protocol='ATA', model='WDC WD4003FRYZ-01F0DB0', rotation=7200),
        smart_status=True,
        attributes=rows,
    )

    assert judging.judge(SDA, report, database, limits, judging.Rules()).state is State.OK


def test_a_threshold_passed_in_the_past_is_a_note(database, limits):
    """One hot day marks attribute 190 for ever."""
    row = AttributeRow(190, 'Airflow_Temperature_Cel', 70, 40, 45, False, 'past', '30')
    report = Report(
        Identity(protocol='ATA', model='ST4000NM0035-1V4107', rotation=7200),
        smart_status=True,
        attributes=(row,),
    )

    verdict = judging.judge(SDA, report, database, limits, judging.Rules())

    assert verdict.state is State.OK
    assert any('in the past' in note for note in verdict.notes)


@pytest.mark.parametrize(
    ('is_prefail', 'state'),
    [(True, State.CRITICAL), (False, State.WARNING)],
    ids=['crit-pre-fail', 'warn-old-age'],
)
def test_an_attribute_at_its_vendor_threshold_is_judged_by_its_type(
    database, limits, is_prefail, state
):
    """Pre-fail says broken, old-age says used up."""
    row = AttributeRow(5, 'Reallocated_Sector_Ct', 1, 1, 36, is_prefail, 'now', '0')
    report = Report(
        Identity(protocol='ATA', model='ACME DISK 1', rotation=7200),
        smart_status=True,
        attributes=(row,),
    )

    assert judging.judge(SDA, report, database, limits, judging.Rules()).state is state


def test_a_failed_self_test_counts_until_a_later_one_passes(database, limits):
    """The newest one that ran to its end decides; an aborted one proves nothing."""
    aborted = SelfTest('Short offline', 'Aborted by host', None, 300)
    failed = SelfTest('Extended', 'Completed: read failure', False, 200)
    passed = SelfTest('Extended', 'Completed without error', True, 250)
    report = nvme()

    assert (
        judging.judge(
            SDA, report._replace(self_tests=(aborted, failed)), database, limits, judging.Rules()
        ).state
        is State.CRITICAL
    )
    assert (
        judging.judge(
            SDA,
            report._replace(self_tests=(aborted, passed, failed)),
            database,
            limits,
            judging.Rules(),
        ).state
        is State.OK
    )


ADVISORY = drive_database.Advisory(
    'hpe-32768',
    'drive and data are lost for good',
    'update the firmware',
    'HPD8',
    32768,
    State.WARNING,
    'hpe-a00092491',
)


@pytest.mark.parametrize(
    ('hours', 'state', 'words'),
    [
        (None, State.WARNING, 'at 32768 power-on hours'),
        (20000, State.WARNING, '12768 hours from now, on 2028-05-05 if the drive stays on'),
        (31768, State.WARNING, '1000 hours from now'),
        (31769, State.CRITICAL, '999 hours from now'),
        (32768, State.CRITICAL, 'at 32768 power-on hours, and the drive has 32768'),
        (40000, State.CRITICAL, 'and the drive has 40000'),
    ],
    ids=[
        'warn-age-unknown',
        'warn-years-away',
        'warn-1000-hours',
        'crit-999-hours',
        'crit-now',
        'crit-past',
    ],
)
def test_a_firmware_defect_with_an_hour_tells_when_it_bites(hours, state, words):
    """There is time to order and to plan, until there is none."""
    reading = drive_notes.advisory(ADVISORY, Identity(firmware='HPD5'), hours, DAY_0)

    assert reading.state is state
    assert words in reading.verdict
    assert (
        'firmware HPD5, fixed in HPD8' in reading.verdict
        and 'update the firmware' in reading.verdict
    )


@pytest.mark.parametrize(
    ('model', 'firmware', 'is_affected'),
    [
        ('HP VO0480JFDGT', 'HPD5', True),
        ('VO0480JFDGT', 'HPD7', True),
        ('VO0480JFDGT', 'HPD8', False),
        ('VO0480JFDGT', 'HPD10', False),
        ('VO0480XXXXX', 'HPD5', False),
    ],
)
def test_the_32768_hours_of_hpe_concern_firmware_before_hpd8_only(
    database, model, firmware, is_affected
):
    """The firmware is called HPDn; two public checkers look for HDPn and never match."""
    identity = Identity(protocol='SCSI', model=model, firmware=firmware)

    assert any(advisory.hour == 32768 for advisory in database.advisories(identity)) is is_affected


def test_ignoring_an_attribute_silences_the_failed_that_it_alone_causes(database, limits):
    """Attribute 246 of one SSD has a threshold of 255 and fails for ever."""
    rows = (
        AttributeRow(9, 'Power_On_Hours', 99, 99, 0, False, '', '1000'),
        AttributeRow(246, 'Odd', 100, 100, 255, True, 'now', '0'),
    )
    report = Report(
        Identity(protocol='ATA', model='ACME SSD 1', rotation=0),
        smart_status=False,
        attributes=rows,
    )
    ignoring = judging.Rules(ignored_attributes=frozenset((246,)))

    assert judging.judge(SDA, report, database, limits, judging.Rules()).state is State.CRITICAL
    assert judging.judge(SDA, report, database, limits, ignoring).state is State.OK


def test_ignoring_one_attribute_ignores_nothing_else(database, limits):
    """A second failing attribute still decides."""
    rows = (
        AttributeRow(5, 'Reallocated', 1, 1, 36, True, 'now', '9'),
        AttributeRow(246, 'Odd', 100, 100, 255, True, 'now', '0'),
    )
    report = Report(
        Identity(protocol='ATA', model='ACME SSD 1', rotation=0),
        smart_status=False,
        attributes=rows,
    )

    assert (
        judging.judge(
            SDA, report, database, limits, judging.Rules(ignored_attributes=frozenset((246,)))
        ).state
        is State.CRITICAL
    )


def test_the_order_of_urgency_is_not_that_of_exit_codes():
    """A drive that cannot be read must not hide one that is dying."""
    assert judging.worst([State.UNKNOWN, State.CRITICAL, State.WARNING]) is State.CRITICAL
    assert judging.worst([State.UNKNOWN, State.WARNING, State.OK]) is State.UNKNOWN
    assert judging.worst([State.WARNING, State.OK]) is State.WARNING
    assert judging.worst([]) is State.OK


def test_two_endurance_readings_far_apart_are_worth_a_note(database, limits):
    """The worse one counts, the other is told."""
    rows = (
        AttributeRow(5, 'Reallocated', 100, 100, 0, False, '', '0'),
        AttributeRow(170, 'Spare', 100, 100, 10, True, '', '0'),
        AttributeRow(175, 'Power_Loss_Cap_Test', 100, 100, 10, True, '', '640 (409 5906)'),
        AttributeRow(233, 'Media_Wearout_Indicator', 90, 90, 0, False, '', '0'),
    )
    report = Report(
        Identity(protocol='ATA', model='INTEL SSDSC2BB240G4', rotation=0),
        smart_status=True,
        attributes=rows,
        statistics={(7, 0x008): Statistic(30, 'Percentage Used Endurance Indicator')},
    )

    verdict = judging.judge(SDA, report, database, limits, judging.Rules())

    judged = [
        j.reading
        for j in verdict.judgements
        if j.reading.metric == 'endurance_used' and j.reading.judged
    ]
    assert [(reading.number, str(reading.source)) for reading in judged] == [
        (30, 'device statistics')
    ]
    assert any('10 % from attribute 233' in note for note in verdict.notes)


# --- verdicts and limits -------------------------------------------------------------------

PLAIN = judging.Rules()
WARRANTED = drive_database.NO_SPEC._replace(family='ACME X1')
X1 = Identity(protocol='ATA', model='ACME X1-240', firmware='1.1', serial='EXAMPLE0001', rotation=0)
SDB = Device('/dev/sdb', name='sdb')


def verdict_reading(state):
    return Reading('power_loss_protection', 0, '', Source(attribute=175), 'failed', state)


def limit_of(**fields):
    """Return the limit of a metric for which a site wrote *fields*, None being null."""
    return Limit(**fields, set_fields=frozenset(fields))


@pytest.mark.parametrize(
    ('state', 'limit', 'expected'),
    [
        (State.CRITICAL, limit_of(critical=None), State.WARNING),
        (State.WARNING, limit_of(warning=None), State.OK),
        (State.CRITICAL, limit_of(warning=None, critical=None), State.OK),
        (State.CRITICAL, limit_of(warning=None), State.CRITICAL),
        (State.WARNING, limit_of(critical=None), State.WARNING),
        (State.UNKNOWN, limit_of(warning=None, critical=None), State.UNKNOWN),
        (State.CRITICAL, Limit(), State.CRITICAL),
        (State.WARNING, Limit(), State.WARNING),
        (State.CRITICAL, limit_of(critical='1'), State.CRITICAL),
        (State.WARNING, limit_of(warning='1'), State.WARNING),
    ],
    ids=[
        'warn-critical-null',
        'ok-warning-null',
        'ok-both-null',
        'crit-warning-null',
        'warn-critical-null-only',
        'unknown-both-null',
        'crit-left-out',
        'warn-left-out',
        'crit-a-range-is-no-null',
        'warn-a-range-is-no-null',
    ],
)
def test_null_takes_one_step_off_a_verdict(state, limit, expected):
    """doc/reference/limits.md promises it: a site that knows its capacitors are dead is still
    told of the rest.
    """
    assert judging.judge_reading(verdict_reading(state), limit, {}, {}).state is expected


def test_a_verdict_tells_who_gave_it_and_whether_it_is_graphed():
    """No limit decided, the drive did."""
    judgement = judging.judge_reading(
        verdict_reading(State.WARNING), Limit(is_graphed=True), {}, {}
    )

    assert (judgement.origin, judgement.graphed, judgement.reading.verdict) == (
        'attribute 175',
        True,
        'failed',
    )


@pytest.mark.parametrize(
    'reading',
    [
        verdict_reading(State.CRITICAL)._replace(judged=False),
        spare(1)._replace(judged=False),
        spare(None),
    ],
    ids=['verdict-for-comparison', 'number-for-comparison', 'unknown'],
)
def test_what_is_shown_only_or_unknown_alarms_nobody(reading):
    """One reading of a metric decides, and nothing can be said of a number that is not there."""
    assert judging.judge_reading(reading, SPARE_LIMIT, {}, {}) == judging.Judgement(
        reading, State.OK
    )
    assert judging.judge_reading(reading, SPARE_LIMIT._replace(is_graphed=True), {}, {}).graphed


@pytest.mark.parametrize(
    ('number', 'expected'),
    [
        (80, (State.OK, '85', '95', '', 'site.json', True)),
        (86, (State.WARNING, '85', '95', 'above 85', 'default.json', True)),
        (96, (State.CRITICAL, '85', '95', 'above 95', 'site.json', True)),
    ],
    ids=['ok', 'warn', 'crit'],
)
def test_a_judgement_keeps_its_limits_and_who_set_the_one_that_decided(number, expected):
    """perfdata and explain show them, also where all is well."""
    reading = Reading('endurance_used', number, '%', Source(attribute=233))

    judgement = judging.judge_reading(
        reading, Limit('85', '95', 'default.json', 'site.json', True), {}, {}
    )

    assert judgement[:7] == (reading, *expected)


@pytest.mark.parametrize(
    'judged',
    [
        pytest.param(Reading('reallocated', 3, '', Source(attribute=5)), id='ok'),
        pytest.param(Reading('reallocated', 99, '', Source(attribute=5)), id='beyond'),
        pytest.param(verdict_reading(State.CRITICAL), id='verdict'),
    ],
)
def test_a_judgement_keeps_the_reason_of_its_limit(judged):
    """A person who doubts a limit is told why it is as it is."""
    assert (
        judging.judge_reading(judged, limit_of(warning='5', why='seen on a fleet'), {}, {}).reason
        == 'seen on a fleet'
    )


def test_who_took_the_limits_away_is_told_with_the_reason():
    """Nothing alarms, and explain says why nothing does."""
    reading = Reading('reallocated', 7, '', Source(attribute=5))
    limit = Limit(
        None,
        None,
        'default.json',
        'site.json',
        True,
        frozenset({'warning', 'critical'}),
        'it counts naps',
    )

    told = judging.judge_reading(reading, limit, {}, {})

    assert told == judging.Judgement(
        reading, State.OK, origin='site.json', graphed=True, reason='it counts naps'
    )


def test_a_time_is_judged_in_days_and_told_in_them():
    """As the limit was written."""
    reading = Reading('endurance_time_left', 20 * 86_400, 's', Source('history'))

    assert judging.judge_reading(reading, limit_of(warning='30d:'), {}, {})[1:5] == (
        State.WARNING,
        '30d:',
        '',
        'below 30d',
    )


def test_a_limit_that_is_only_a_warning_says_who_set_it():
    """Where there is no critical one, its origin is the only one."""
    assert (
        judging.judge_reading(spare(50), Limit('10:', None, 'site.json'), {}, {}).origin
        == 'site.json'
    )


@pytest.mark.parametrize(
    'bound', [None, DriveLimit('threshold', 0, None), DriveLimit('temperature_limit', 0, None)]
)
def test_no_limit_is_no_range(bound):
    """The empty text is what perfdata leaves out."""
    assert judging.judge_reading(spare(1), Limit(bound, bound), {}, {})[1:5] == (
        State.OK,
        '',
        '',
        '',
    )


# --- one drive, whole ----------------------------------------------------------------------


def worn(*rows, identity=X1, **more):
    return Report(identity, smart_status=True, attributes=rows, **more)


def verdict_on(report, *sites, rules=PLAIN, device=SDA, today='', data=None):
    """Return the verdict by the small database, with a limit on wear and what sites add to it."""
    default = {
        'metrics': {
            'endurance_used': {
                'warning': '85',
                'critical': '95',
                'graph': True,
                'why': 'rated life',
            }
        }
    }
    limits = thresholds.Thresholds(
        default, [('site.json', {'overrides': list(sites)})], today=today
    )
    return judging.judge(
        device,
        report,
        drive_database.SpecDatabase(data or small_database.database()),
        limits,
        rules,
    )


def judgement_of(verdict, metric):
    (found,) = [judgement for judgement in verdict.judgements if judgement.reading.metric == metric]
    return found


def override(selector, **more):
    return {'for': selector, 'why': 'known', **more}


WORN = row(233, 3)  # 97 %
NO_WEAR_LIMIT = {'endurance_used': {'warning': None, 'critical': None}}


def test_a_verdict_names_the_drive_the_entry_and_the_worst_state():
    """What the line of a drive is made of."""
    verdict = verdict_on(worn(WORN))

    assert (verdict.device, verdict.identity, verdict.state, verdict.entry, verdict.problem) == (
        SDA,
        X1,
        State.CRITICAL,
        'ACME X1',
        '',
    )


def test_judgements_stand_worst_first():
    """The first line takes them in this order."""
    report = worn(row(233, 3), row(175, 11), row(12, raw='7'))

    assert [judgement.state for judgement in verdict_on(report).judgements] == [
        State.CRITICAL,
        State.WARNING,
        *[State.OK] * 3,
    ]


@pytest.mark.parametrize(
    'selector',
    [{'serial': 'EXAMPLE0001'}, {'device': 'sda'}, {'model': 'ACME X1.*'}, {'family': 'ACME X1'}],
    ids=str,
)
@pytest.mark.parametrize(
    'change',
    [{'metrics': NO_WEAR_LIMIT}, {'attributes': {'233': None}}],
    ids=['limit', 'attribute'],
)
def test_an_override_reaches_the_drive_by_whatever_names_it(selector, change):
    """Serial, device, model and family are all known once the drive was read."""
    assert verdict_on(worn(WORN), override(selector, **change)).state is State.OK


@pytest.mark.parametrize(
    ('selector', 'is_told'),
    [
        ({'serial': 'EXAMPLE0001'}, True),
        ({'device': 'sda'}, True),
        ({'family': 'ACME X1'}, True),
        ({'serial': 'EXAMPLE0002'}, False),
        ({'device': 'sdb'}, False),
        ({'family': 'ACME X2'}, False),
    ],
    ids=str,
)
def test_an_override_that_has_ended_is_told_of_its_own_drive_only(selector, is_told):
    """An admin would search the wrong drive."""
    ended = override(selector, metrics=NO_WEAR_LIMIT, until='2026-01-31')

    notes = verdict_on(worn(WORN), ended, today='2026-11-20').notes

    assert [note for note in notes if 'ended on 2026-01-31' in note] == [
        f'site.json: the override for '
        f'{"this serial number" if name == "serial" else f"{name} {value}"} ended on '
        f'2026-01-31'
        for name, value in selector.items()
        if is_told
    ]


def test_a_family_that_no_entry_tells_is_no_override_s_family():
    """A drive without an entry has none."""
    unknown = X1._replace(model='WHO')
    other = override({'family': 'XXXX'}, metrics=NO_WEAR_LIMIT)

    assert (
        verdict_on(worn(identity=unknown, statistics={(7, 8): Statistic(97, 'some')}), other).state
        is State.CRITICAL
    )


def test_an_ignored_metric_is_kept_graphed_and_alarms_nobody():
    """--ignore-metric silences one thing and hides nothing."""
    verdict = verdict_on(
        worn(WORN), rules=judging.Rules(ignored_metrics=frozenset(('endurance_used',)))
    )

    assert verdict.state is State.OK
    assert judgement_of(verdict, 'endurance_used')[1:7] == (State.OK, '', '', '', '', True)
    assert judgement_of(verdict, 'endurance_used').reading.number == 97


def test_an_ignored_metric_ignores_no_other():
    """What it names is all that it silences."""
    assert (
        verdict_on(
            worn(WORN), rules=judging.Rules(ignored_metrics=frozenset(('temperature',)))
        ).state
        is State.CRITICAL
    )


def test_a_limit_refers_to_the_reading_that_is_judged():
    """A figure that is kept for comparison is no limit."""
    data = small_database.database()
    data['entries'][0]['attributes'] = {
        '1': {'name': 'Limit', 'readings': {'temperature_limit': {'from': 'raw'}}},
        '2': {'name': 'Trap', 'trap': True, 'readings': {'temperature_limit': {'from': 'raw'}}},
        '194': {'name': 'Temperature', 'readings': {'temperature': {'from': 'raw'}}},
    }
    limit = {'drive': 'temperature_limit', 'minus': 5, 'else': '40'}
    hot = override({'device': 'sda'}, metrics={'temperature': {'warning': limit}})

    assert (
        judgement_of(
            verdict_on(worn(row(194, raw='50'), row(1, raw='60')), hot, data=data), 'temperature'
        ).warning
        == '55'
    )
    assert (
        judgement_of(
            verdict_on(worn(row(194, raw='50'), row(2, raw='60')), hot, data=data), 'temperature'
        ).warning
        == '40'
    )


# --- what a drive without entry, with defects or without an answer is told --------------------


@pytest.mark.parametrize('state', list(State))
def test_a_model_without_entry_is_said_aloud_in_the_state_that_was_asked_for(state):
    """--unknown-model; the default is OK."""
    report = worn(row(12, raw='7'), identity=X1._replace(model='WHO'))

    found = judgement_of(
        verdict_on(report, rules=judging.Rules(unknown_model=state)), 'unknown_model'
    )

    assert found.state is state
    assert found.reading == Reading(
        'unknown_model',
        0,
        '',
        Source('attributes.json'),
        (
            'no entry for WHO (firmware 1.1); to create one, run: check_smart_attributes draft -d '
            '/dev/sda'
        ),
        state,
    )


def test_a_drive_that_tells_no_name_has_no_entry_either():
    """The sentence stays one."""
    found = judgement_of(verdict_on(worn(identity=Identity())), 'unknown_model')

    assert found.reading.verdict == (
        'no entry for this drive (firmware not reported); to create one, run: '
        'check_smart_attributes draft -d /dev/sda'
    )


def test_of_a_recorded_report_the_file_is_named():
    """So that the line can be typed."""
    found = judgement_of(
        verdict_on(worn(identity=Identity()), device=Device('ticket.txt', is_recorded=True)),
        'unknown_model',
    )

    assert 'run: check_smart_attributes draft --report ticket.txt' in found.reading.verdict


def test_a_model_with_an_entry_needs_no_word_about_it():
    """Nothing is missing."""
    assert [
        j for j in verdict_on(worn(WORN)).judgements if j.reading.metric == 'unknown_model'
    ] == []


@pytest.mark.parametrize(
    ('hours', 'state', 'words'),
    [
        (
            '0',
            State.WARNING,
            'the drive stops (at 1000 power-on hours, 1000 hours from now, on 2026-12-31 if the '
            'drive stays on); ',
        ),
        (
            '1',
            State.CRITICAL,
            'the drive stops (at 1000 power-on hours, 999 hours from now, on 2026-12-31 if the '
            'drive stays on); ',
        ),
        (
            '1000',
            State.CRITICAL,
            'the drive stops (at 1000 power-on hours, and the drive has 1000); ',
        ),
    ],
)
def test_a_firmware_defect_counts_from_the_hours_of_this_very_drive(hours, state, words):
    """attributes.json knows the defect, the drive its age, the clock the day."""
    report = worn(row(9, raw=hours), identity=X1._replace(firmware='1.0'))

    found = judgement_of(verdict_on(report, rules=judging.Rules(now=DAY_0)), 'firmware_advisory')

    assert found.state is state
    assert found.reading == Reading(
        'firmware_advisory',
        0,
        '',
        Source('acme-manual, erratum 3 (2026-05)'),
        (f'firmware 1.0, fixed in 1.1: {words}update the firmware'),
        state,
    )


def test_a_firmware_defect_of_a_drive_that_tells_no_hours_is_a_warning():
    """Without an age there is no day."""
    found = judgement_of(
        verdict_on(worn(identity=X1._replace(firmware='1.0'))), 'firmware_advisory'
    )

    assert (found.state, '(at 1000 power-on hours);' in found.reading.verdict) == (
        State.WARNING,
        True,
    )


def test_a_firmware_defect_without_hour_and_without_cure_says_neither():
    """No empty brackets, and no firmware to wait for."""
    reading = drive_notes.advisory(
        ADVISORY._replace(hour=None, fixed_in=''), Identity(firmware='HPD5'), 40000, DAY_0
    )

    assert (reading.verdict, reading.state) == (
        'firmware HPD5: drive and data are lost for good; update the firmware',
        State.WARNING,
    )


@pytest.mark.parametrize(
    ('error', 'state'), [(DriveError('gone'), State.UNKNOWN), (DriveAsleep('gone'), State.OK)]
)
def test_a_drive_that_gave_no_report_keeps_its_name_and_the_reason(error, state):
    """UNKNOWN, or what --asleep says; its serial number is what the admin looks for."""
    assert fence.unreadable(SDB, error, State.OK, X1) == judging.Verdict(
        SDB, X1, state, problem='gone', code=error.code
    )
    assert fence.unreadable(SDB, error, State.OK).identity == Identity()


def test_a_sleeping_drive_has_the_state_that_the_site_wants():
    """--asleep."""
    assert fence.unreadable(SDB, DriveAsleep('asleep'), State.WARNING).state is State.WARNING


# --- notes -----------------------------------------------------------------------------------


def notes_on(report, *found, spec=WARRANTED):
    return drive_notes.notes(report, found, spec)


def percent(number, source, metric='endurance_used', unit='%'):
    return Reading(metric, number, unit, Source(source))


def test_a_drive_with_nothing_to_say_has_no_notes():
    """A note for every drive is read by nobody."""
    rows = (row(5, 1, threshold=10, when_failed='now'), row(190, when_failed=''))

    assert notes_on(worn(*rows, exit_status=0), percent(5, 'a')) == []


def test_only_the_attribute_that_failed_in_the_past_is_named():
    """The others never did."""
    rows = (
        row(5, name='Reallocated'),
        row(190, name='Airflow', when_failed='past'),
        row(191, name='Shock', when_failed='now'),
    )

    assert notes_on(worn(*rows)) == [
        'attribute 190 Airflow was at its vendor threshold in the past'
    ]


def test_a_health_status_that_is_not_reported_is_one_note():
    """The reader of the report says so among all that it lacks."""
    report = Report(X1, attributes=(row(5),), gaps=('not in the report: the SMART health status',))
    silent = Reading('smart_status', None, '', Source('a'), unknown='not reported')

    assert notes_on(report, silent) == ['not in the report: the SMART health status']


def test_an_attribute_that_wear_is_read_from_and_that_is_lost_is_a_note():
    """All drives of such a family have one of them: 14,359 of 14,359."""
    note = 'the report lacks attribute 233, the source of endurance_used in this family'

    assert [
        note in verdict_on(Report(X1, attributes=tuple(map(row, numbers)))).notes
        for numbers in ((5,), (5, 233), ())
    ] == [True, False, False]


def test_a_health_that_is_not_judged_is_a_note():
    """The bits, or a threshold that is known to be bogus, say it better."""
    status = Reading(
        'smart_status', 0, '', Source('health self-assessment'), 'FAILED', State.OK, judged=False
    )

    assert notes_on(worn(), status, percent(5, 'a')) == ['FAILED']
    assert notes_on(worn(), status._replace(judged=True)) == []
    assert notes_on(worn(), status._replace(metric='write_protect')) == []


def test_a_number_that_is_not_known_is_a_note_with_its_reason():
    """Never OK by silence."""
    unknown = percent(None, 'NVMe health log')._replace(
        unknown='255 is not a plausible value', judged=False
    )

    assert notes_on(worn(), unknown) == [
        'endurance_used from NVMe health log is unknown: 255 is not a plausible value'
    ]


def test_what_smartctl_complained_of_is_a_note():
    """Its exit status in words, and its messages."""
    notes = notes_on(worn(exit_status=0x40, messages=('Read log failed',)))

    assert notes == ['the error log contains errors', 'Read log failed']
    assert [len(note) for note in notes_on(worn(messages=('x' * 900,)))] == [400]


@pytest.mark.parametrize(
    ('source', 'number', 'state'),
    [
        ('device statistics', 99, State.CRITICAL),
        (drive_logs.RATED, 99, State.WARNING),
        (drive_logs.RATED, 250, State.WARNING),
        (drive_logs.RATED, 80, State.OK),
    ],
)
def test_the_end_of_a_warranty_is_never_critical(source, number, state):
    """It is no failure."""
    judgement = judging.judge_reading(percent(number, source), Limit('85', '95'), {}, {})

    assert (judgement.state, bool(judgement.critical)) == (state, source != drive_logs.RATED)


@pytest.mark.parametrize(
    ('log', 'apart', 'is_noted'),
    [
        (drive_logs.RATED, 21, True),
        (drive_logs.RATED, 20, False),
        (drive_logs.RATED, -21, True),
        (drive_logs.SMARTCTL, 6, True),
        (drive_logs.SMARTCTL, 5, False),
    ],
)
def test_computed_wear_far_from_that_of_the_drive_is_a_note(log, apart, is_noted):
    """The drive's own figure is used."""
    noted = notes_on(worn(), percent(30, 'log a'), percent(30 + apart, log)._replace(judged=False))

    assert noted == (
        [
            f'endurance_used: {30 + apart} % computed by {log}, 30 % from log a; the second value '
            f'is used'
        ]
        if is_noted
        else []
    )


@pytest.mark.parametrize(
    ('one', 'other', 'unit', 'is_noted'),
    [
        (10, 16, '%', True),
        (10, 15, '%', False),
        (0, 6, '%', True),
        (0, 5, '%', False),
        (10, 16, '', False),
        (10, None, '%', False),
    ],
)
def test_two_percentages_more_than_five_points_apart_are_a_note(one, other, unit, is_noted):
    """One of the two is wrong, and the admin may know which."""
    pair = (
        percent(one, 'log a', unit=unit),
        percent(other, 'log b', unit=unit)._replace(unknown='' if other else 'gone'),
    )

    noted = [note for note in notes_on(worn(), *pair) if 'the worse value' in note]

    assert noted == (
        [f'endurance_used: {one} % from log a, {other} % from log b; the worse value is used']
        if is_noted
        else []
    )


def test_percentages_of_two_metrics_are_not_compared():
    """Full spare and little wear belong together."""
    assert notes_on(worn(), percent(3, 'a'), percent(100, 'a', 'spare_available')) == []


@pytest.mark.parametrize(
    ('written', 'warranted', 'is_noted'),
    [
        (2.5e12, 2e12, True),
        (2e12, 2e12, False),
        (None, 0.5, False),
        (1e12, 2e12, False),
        (2.5e12, None, False),
    ],
)
def test_more_written_than_the_vendor_warrants_is_a_note(written, warranted, is_noted):
    """A matter of warranty, not of health."""
    pairs = ('host_written', written), ('rated_written', warranted)
    found = [
        Reading(metric, number, 'B', Source('x')) for metric, number in pairs if number is not None
    ]

    assert notes_on(worn(), *found) == (
        ['host_written 2.5 TB exceeds the 2 TB that the warranty covers'] if is_noted else []
    )


def test_what_was_written_counts_only_where_it_is_judged():
    """A figure that is kept for comparison voids no warranty."""
    found = (
        Reading('host_written', 9e12, 'B', Source('x'), judged=False),
        Reading('rated_written', 2e12, 'B', Source('y')),
    )

    assert notes_on(worn(), *found) == []


@pytest.mark.parametrize(
    ('log', 'metric', 'number', 'why', 'told'),
    [
        ('device statistics', 'endurance_used', 255, '', ''),
        ('device statistics', 'temperature', 255, '', None),
        ('SCSI log', 'endurance_used', 255, '', None),
        ('device statistics', 'endurance_used', 9, 'look again', '; look again'),
        ('device statistics', 'endurance_used', 0, 'look again', ''),
    ],
)
def test_a_statistic_that_is_not_to_be_believed_is_a_note(log, metric, number, why, told):
    """The figure is shown with what is known of its like, and what it foretells all the same."""
    noted = notes_on(
        worn(),
        percent(number, log, metric),
        spec=WARRANTED._replace(untrusted_statistics={'endurance_used': why}),
    )

    words = (
        f'endurance_used: {number} % in the device statistics is not judged, because this '
        f'statistic is known to be wrong for this family{told}'
    )
    assert noted == ([] if told is None else [words])


# --- growth, and what was accepted ------------------------------------------------

DAY = 86_400
CABLE = {
    'within': '24h',
    'warning': '0',
    'critical': '100',
    'for': '7d',
    'advice': 'check cable and backplane',
}


def crc(number):
    return Reading('crc_errors', number, '', Source(attribute=199, definition='raw'))


def grown(reading, *numbers, after=3600, later=60):
    """History of a reading that had these numbers, one a day, the last one *after* seconds
    before this check.
    """
    now = int(DAY_0)
    points = [
        Point(now - after - DAY * (len(numbers) - 1 - place), number, DAY // 2 if place else 0)
        for place, number in enumerate(numbers)
    ]
    return past.Past({past.key(reading): History(tuple(points), now - later)}, now)


def crc_judged(reading, history, limit=None, given=None, level=State.OK):
    limit = limit or Limit(growth=(CABLE,), growth_origin='default.json')
    return judging.weighed(
        Judgement(reading, level, against='above 5' if level else ''), limit, history, given, False
    )


def test_growth_alarms_where_the_level_says_nothing():
    """A counter that never goes back tells by rising alone: by how much, in what time, against
    which limit, what to do.
    """
    judgement = crc_judged(crc(226), grown(crc(226), 212))

    assert (judgement.state, judgement.origin, judgement.grown) == (
        State.WARNING,
        'default.json',
        14,
    )
    assert finding(judgement) == (
        'crc_errors grew by 14 in 24 h (212 to 226): check cable and backplane, warning above '
        '0 in 24 h'
    )


@pytest.mark.parametrize(
    ('history', 'state'),
    [
        (None, State.OK),
        (past.Past({}, int(DAY_0)), State.OK),
        (grown(crc(9), 9), State.OK),
        (grown(crc(9), 10), State.OK),
        (grown(crc(9), 8), State.WARNING),
        (grown(crc(200), 8, 200, after=DAY), State.CRITICAL),
        (grown(crc(9), 8, 9, after=6 * DAY), State.WARNING),
        (grown(crc(9), 8, 9, after=7 * DAY), State.OK),
    ],
    ids=[
        'ok-no-history',
        'ok-new-drive',
        'ok-stands',
        'ok-was-reset',
        'warn-grew',
        'crit-grew-much',
        'warn-six-days-ago',
        'ok-a-week-ago',
    ],
)
def test_growth_is_told_for_as_long_as_its_limit_says(history, state):
    """Whoever looked in between: what is told follows from the points."""
    number = (
        history.histories[past.key(crc(0))].points[-1].number
        if history and history.histories
        else 9
    )
    number = {8: 9, 10: 9}.get(number, number)
    assert crc_judged(crc(number), history).state is state


def test_another_definition_is_another_series():
    """An entry that reads an attribute otherwise has not made its counter grow."""
    other = crc(226)._replace(source=Source(attribute=199, definition='raw bytes 0-1'))

    assert crc_judged(other, grown(crc(226), 212)).state is State.OK


def test_a_level_that_is_worse_is_told_first_and_growth_behind_it():
    """Both matter: what stands, and that it moves."""
    judgement = crc_judged(crc(226), grown(crc(226), 212), level=State.CRITICAL)

    assert (
        finding(judgement)
        == 'crc_errors 226, critical above 5; crc_errors grew by 14 in 24 h (212 to 226): '
        'check cable and backplane'
    )


@pytest.mark.parametrize(
    ('accepted', 'state'), [(225, State.WARNING), (226, State.OK), (300, State.OK)]
)
def test_an_acknowledged_number_is_silent_until_it_is_passed(accepted, state):
    """Silent while it stands, loud when it moves, whether level or growth would speak."""
    given = Acknowledgement('S1', 'crc_errors', accepted)

    assert (
        crc_judged(crc(226), grown(crc(226), 212), given=given, level=State.WARNING).state is state
    )


def test_the_word_of_the_drive_is_never_acknowledged():
    """Health FAILED, warning bits, an attribute failing now."""
    reading = Reading('smart_status', 0, '', Source('self-assessment'), 'FAILED', State.CRITICAL)
    given = Acknowledgement('S1', 'smart_status', 1)

    assert (
        judging.weighed(Judgement(reading, State.CRITICAL), Limit(), None, given, False).state
        is State.CRITICAL
    )


@pytest.mark.parametrize(
    ('metrics', 'state'),
    [
        ({'warning': '300'}, State.OK),
        ({'critical': '300'}, State.OK),
        ({'warning': '300', 'growth': CABLE}, State.WARNING),
        ({'growth': None}, State.OK),
        ({'graph': True}, State.WARNING),
    ],
    ids=[
        'ok-own-level',
        'ok-own-critical-level',
        'warn-own-level-and-growth',
        'ok-no-growth',
        'warn-says-nothing-of-it',
    ],
)
@pytest.mark.parametrize('selector', [{'serial': 'S1'}, {'device': 'sda'}], ids=str)
def test_a_limit_of_this_very_drive_stands_above_growth(metrics, state, selector):
    """Who has set the level of one drive has looked at it; who wants its growth judged beside
    says so.
    """
    own = {'for': selector, 'why': 'an old cable', 'metrics': {'crc_errors': metrics}}
    limits = thresholds.Thresholds(
        {'metrics': {'crc_errors': {'growth': CABLE}}}, [('site.json', {'overrides': [own]})]
    )
    limit = limits.limit('crc_errors', SDA, Identity('ATA', 'M', serial='S1', rotation=7200), '')

    assert crc_judged(crc(226), grown(crc(226), 212), limit).state is state


def test_growth_of_a_drive_stands_in_its_verdict(database, limits):
    """From the shipped limits to the first line."""
    report = Report(
        Identity('ATA', 'ACME X1', serial='S1', rotation=7200),
        True,
        attributes=(row(199, raw='226'),),
    )
    (reading,) = (
        j.reading
        for j in judging.judge(SDA, report, database, limits, judging.Rules()).judgements
        if j.reading.metric == 'crc_errors'
    )

    verdict = judging.judge(SDA, report, database, limits, judging.Rules(), grown(reading, 212))

    assert headline(verdict) == (
        'crc_errors grew by 14 in 24 h (212 to 226): check cable and backplane (warning above '
        '0 in 24 h)'
    )


def test_a_counter_that_was_higher_before_is_noted(database, limits):
    """With the history of the drive, and without any other change of its verdict."""
    report = Report(
        Identity('ATA', 'ACME X1', serial='S1', rotation=7200),
        True,
        attributes=(row(9, raw='100'),),
    )
    verdict = judging.judge(SDA, report, database, limits, judging.Rules())
    (reading,) = (
        each.reading for each in verdict.judgements if each.reading.metric == 'power_on_time'
    )

    told = judging.judge(SDA, report, database, limits, judging.Rules(), grown(reading, 900 * HOUR))

    assert [note.code for note in told.notes if note not in verdict.notes] == ['counter-set-back']


def test_a_limit_that_was_passed_holds_with_all_that_belongs_to_the_metric(database):
    """The state is of the higher number, the reading is today's."""
    hot = Reading('temperature', 58, 'C', Source(attribute=194))
    kept = {
        past._beside(hot, name): History((Point(int(DAY_0) - 60, number, 0),), int(DAY_0) - 60)
        for name, number in ((past._RECENT, 58), (past._HELD, 61))
    }

    held = judging.judge_remembered(
        hot, Limit('60', '70'), {}, database.metrics, past.Past(kept, int(DAY_0))
    )

    assert (held.state, held.reading) == (State.WARNING, hot)
    assert held.against == 'above 60, and it has not been 3 C lower for a day'


def test_what_is_acknowledged_is_told_by_whom_when_and_why(database):
    """With -v, in triage and explain."""
    said = {
        'for': {'serial': 'S1'},
        'why': 'stable since 2024',
        'by': 'martin',
        'at': '2026-11-22',
        'metrics': {'reallocated': {'acknowledged': 30}},
    }
    limits = thresholds.Thresholds(
        {'metrics': {'reallocated': {'warning': '20'}}},
        [('acknowledged.json', {'overrides': [said]})],
    )
    report = Report(
        Identity('ATA', 'ACME X1', serial='S1', rotation=7200), True, attributes=(row(5, raw='30'),)
    )

    verdict = judging.judge(SDA, report, database, limits, judging.Rules())

    assert verdict.state is State.OK
    assert (
        'reallocated is acknowledged at 30 by martin on 2026-11-22: stable since 2024 '
        '(acknowledged.json)' in verdict.notes
    )
    assert (
        judging.judge(
            SDA, report._replace(attributes=(row(5, raw='31'),)), database, limits, judging.Rules()
        ).state
        is State.WARNING
    )


def test_growth_of_the_same_state_changes_nothing_but_the_words():
    """The level decides, and its limit is named; that it moves stands behind it."""
    limit = Limit(growth=(CABLE,), growth_origin='default.json')
    level = Judgement(crc(226), State.WARNING, against='above 5', origin='site.json')

    judgement = judging.weighed(level, limit, grown(crc(226), 212), None, False)

    words = 'crc_errors grew by 14 in 24 h (212 to 226): check cable and backplane'
    assert (judgement.state, judgement.origin, judgement.growth_against) == (
        State.WARNING,
        'site.json',
        '',
    )
    assert finding(judgement) == f'crc_errors 226, warning above 5; {words}'
    assert judgement.grown == 14


def test_without_history_a_level_is_what_it_was():
    """Nothing is added to it."""
    level = Judgement(crc(226), State.WARNING, against='above 5', origin='site.json')

    assert judging.weighed(level, Limit(growth=(CABLE,)), None, None, False) == level


def test_what_is_acknowledged_is_beyond_no_limit():
    """OK, and said as such."""
    judgement = crc_judged(
        crc(226), None, given=Acknowledgement('S1', 'crc_errors', 226), level=State.WARNING
    )

    assert (judgement.state, judgement.against, finding(judgement)) == (
        State.OK,
        '',
        'crc_errors 226',
    )


def test_growth_of_what_is_shown_only_alarms_nobody():
    """Another reading of the metric decides."""
    shown = crc(226)._replace(judged=False)

    assert crc_judged(shown, grown(shown, 212)).state is State.OK


SPARE_GROWTH = {
    'within': '24h',
    'warning': '5',
    'critical': '50',
    'for': '7d',
    'advice': 'replace it soon',
}


@pytest.mark.parametrize(
    ('before', 'is_floor', 'state'),
    [
        (100, True, State.WARNING),
        (80, True, State.OK),
        (100, False, State.OK),
        (80, False, State.WARNING),
    ],
    ids=['warn-less-spare', 'ok-more-spare', 'ok-less-wear', 'warn-more-wear'],
)
def test_where_less_is_worse_growth_is_a_fall(before, is_floor, state):
    """Spare blocks vanish, errors come."""
    reading = spare(90)

    limit, history = Limit(growth=(SPARE_GROWTH,)), grown(reading, before, 90)
    assert (
        judging.weighed(Judgement(reading, State.OK), limit, history, None, is_floor).state is state
    )


@pytest.mark.parametrize(('number', 'state'), [(59, State.WARNING), (60, State.OK), (61, State.OK)])
def test_where_less_is_worse_what_is_acknowledged_is_loud_when_it_falls(database, number, state):
    """60 % of spare were accepted; 59 % were not."""
    said = {
        'for': {'serial': 'S1'},
        'why': 'stable',
        'metrics': {'spare_available': {'acknowledged': 60}},
    }
    limits = thresholds.Thresholds(
        {'metrics': {'spare_available': {'warning': '90:'}}}, [('site.json', {'overrides': [said]})]
    )
    report = nvme(available_spare=number)

    verdict = judging.judge(
        SDA,
        report._replace(identity=report.identity._replace(serial='S1')),
        database,
        limits,
        judging.Rules(),
    )

    assert judgement_of(verdict, 'spare_available').state is state


def test_where_less_is_worse_a_fall_stands_in_the_verdict(database):
    """From history through the whole judge."""
    limits = thresholds.Thresholds({'metrics': {'spare_available': {'growth': SPARE_GROWTH}}})
    reading = judgement_of(
        judging.judge(SDA, nvme(available_spare=90), database, limits, judging.Rules()),
        'spare_available',
    ).reading

    verdict = judging.judge(
        SDA, nvme(available_spare=90), database, limits, judging.Rules(), grown(reading, 100, 90)
    )

    assert judgement_of(verdict, 'spare_available').state is State.WARNING


def test_an_ignored_metric_leaves_all_others_where_they_are():
    """Whichever of them stands first."""
    metrics = [judgement.reading.metric for judgement in verdict_on(worn(WORN)).judgements]

    for metric in metrics:
        left = verdict_on(
            worn(WORN), rules=judging.Rules(ignored_metrics=frozenset((metric,)))
        ).judgements
        assert sorted(judgement.reading.metric for judgement in left) == sorted(metrics)


# --- wear -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('before', 'used', 'hours', 'state'),
    [
        (10, 40, 20_000, State.WARNING),
        (10, 12, 20_000, State.OK),
        (2, 32, 400, State.OK),
        (10, 16, 20_000, State.OK),
    ],
    ids=['warn-in-a-hurry', 'ok-too-little', 'ok-as-always', 'ok-years-left'],
)
def test_wear_that_is_much_faster_than_ever_and_soon_over_warns(
    database, limits, before, used, hours, state
):
    """Thirty points in a month, of a drive that took two years for ten: somebody writes what
    nobody has planned.
    """
    report = Report(
        Identity('NVMe', 'ACME N1', serial='SERIAL01'),
        True,
        nvme={'percentage_used': used, 'power_on_hours': hours},
    )
    reading = endurance(judging.judge(SDA, report, database, limits, judging.Rules())).reading
    now = int(DAY_0)
    points = (Point(now - 40 * DAY, before), Point(now - DAY, used, DAY))
    history = past.Past({past.key(reading): History(points, now - 60)}, now)

    assert (
        endurance(judging.judge(SDA, report, database, limits, judging.Rules(), history)).state
        is state
    )


def endurance(verdict):
    return next(
        judgement
        for judgement in verdict.judgements
        if judgement.reading.metric == 'endurance_used'
    )


# --- how long endurance lasts ------------------------------------------------------

TIME_LEFT = 'endurance_time_left'
ASKED = {TIME_LEFT: {'warning': '30d:'}}
WEAR = {'endurance_used': {'warning': '85'}}


def time_left(metrics, *, rows=None, before=None, is_own=True, site=(), ignored=()):
    """Return (days, state) of the time that is left; None where it is not told.

    rows: 84 % used in 840 days, unless they say otherwise: 160 days by use and age. before: % used
        200 days ago, by history.
    """
    report = worn(*(rows or (row(233, 16), row(9, raw=str(840 * 24)))))
    limits = thresholds.Thresholds({'metrics': metrics}, [('site.json', {'overrides': list(site)})])
    used = Reading('endurance_used', 84, '%', Source(attribute=233, definition='100 - value'))
    now = int(DAY_0)
    history = (
        None
        if before is None
        else past.Past(
            {
                past.key(used): History(
                    (Point(now - 200 * DAY, before), Point(now - DAY, 84, DAY)), now - 60
                )
            },
            now,
            is_own,
        )
    )
    told = judging.judge(
        SDA,
        report,
        drive_database.SpecDatabase(small_database.database()),
        limits,
        judging.Rules(ignored_metrics=frozenset(ignored)),
        history,
    )
    found = [each for each in told.judgements if each.reading.metric == TIME_LEFT]
    return (
        (
            round(found[0].reading.number / DAY) if found[0].reading.number is not None else None,
            found[0].state,
        )
        if found
        else None
    )


@pytest.mark.parametrize(
    ('metrics', 'told'),
    [
        (WEAR, (160, State.OK)),
        ({'endurance_used': {'critical': '95'}}, (160, State.OK)),
        (ASKED, (160, State.OK)),
        ({TIME_LEFT: {'warning': '200d:'}}, (160, State.WARNING)),
        ({TIME_LEFT: {'critical': '200d:'}}, (160, State.CRITICAL)),
        ({}, None),
    ],
    ids=['ok-warning', 'ok-critical', 'ok-asked', 'warn-asked', 'crit-asked', 'no-limit'],
)
def test_time_left_is_told_where_endurance_or_time_has_a_limit(metrics, told):
    """Where neither has one, nobody is interested."""
    assert time_left(metrics) == told


@pytest.mark.parametrize(
    ('metrics', 'ignored', 'told'),
    [
        (ASKED, ['endurance_used'], (None, State.OK)),
        (WEAR, ['endurance_used'], None),
        (ASKED, [TIME_LEFT], None),
        ({**ASKED, **WEAR}, [TIME_LEFT], (160, State.OK)),
    ],
    ids=['not-believed-and-asked', 'not-believed', 'not-judged', 'graphed'],
)
def test_what_a_site_ignores_is_foreseen_from_nothing(metrics, ignored, told):
    """A date that is made of a number that nobody believes is none."""
    assert time_left(metrics, ignored=ignored) == told


def test_history_of_another_user_makes_no_date_of_what_a_site_ignores():
    """It is asked twice, and both times of nothing."""
    assert time_left(ASKED, before=80, is_own=False, ignored=['endurance_used']) == (None, State.OK)


@pytest.mark.parametrize(
    ('metrics', 'told'), [(ASKED, (None, State.OK)), (WEAR, None)], ids=['asked', 'not-asked']
)
@pytest.mark.parametrize(
    'rows', [[row(233, 16)], [row(9, raw='20000')]], ids=['no-age', 'no-endurance']
)
def test_a_time_that_nobody_knows_is_a_word_only_where_somebody_asked(metrics, told, rows):
    """A graph without points would tell nothing."""
    assert time_left(metrics, rows=rows) == told


@pytest.mark.parametrize(
    'selector', [{'family': 'ACME X1'}, {'serial': 'EXAMPLE0001'}, {'device': 'sda'}]
)
def test_the_limits_of_time_left_are_those_of_this_drive(selector):
    """Whatever they are set by."""
    site = [override(selector, metrics={TIME_LEFT: {'warning': '200d:'}})]

    assert time_left({}, site=site) == (160, State.WARNING)


@pytest.mark.parametrize(
    ('metrics', 'before', 'is_own', 'days'),
    [
        (ASKED, None, True, 160),
        (ASKED, 80, True, 800),
        (ASKED, 80, False, 160),
        (ASKED, 44, True, 80),
        (ASKED, 44, False, 80),
        (WEAR, 80, False, 800),
    ],
    ids=['none', 'slow', 'slow-but-foreign', 'fast', 'fast-and-foreign', 'slow-but-never-judged'],
)
def test_history_that_another_user_could_have_written_makes_no_time_longer(
    metrics, before, is_own, days
):
    """It could silence an alarm; it may only raise one."""
    assert time_left(metrics, before=before, is_own=is_own)[0] == pytest.approx(days, rel=0.05)
