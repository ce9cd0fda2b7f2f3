"""Readings meet limits: pure, so that one value is enough for a test."""
import json

import pytest
from conftest import ROOT

from smart_attributes import judge
from smart_attributes.knowledge import specs, thresholds
from smart_attributes.knowledge.thresholds import DriveLimit, Limit
from smart_attributes.model import AttributeRow, Device, Identity, Reading, Report, SelfTest, Source, State, Statistic

SDA = Device('/dev/sda', name='sda')
HOUR = 3600
DAY_0 = 1795132800.0  # 2026-11-20


@pytest.fixture(scope='module')
def database():
    return specs.SpecDatabase(json.loads((ROOT / 'attributes.json').read_text()))


@pytest.fixture(scope='module')
def limits():
    return thresholds.Thresholds(json.loads((ROOT / 'thresholds/default.json').read_text()))


def spare(number, threshold=None):
    return Reading('spare_available', number, '%', Source('NVMe health log'), drive_limit=threshold)


SPARE_LIMIT = Limit(DriveLimit('threshold', 6, '16:'), DriveLimit('threshold', 0, '11:'))


@pytest.mark.parametrize(('reading', 'state', 'against'), [
    (spare(100, 10), State.OK, ''), (spare(16, 10), State.OK, ''), (spare(15, 10), State.WARNING, 'below 16'),
    (spare(10, 10), State.WARNING, 'below 16'), (spare(9, 10), State.CRITICAL, 'below 10'),
    (spare(16), State.OK, ''), (spare(15), State.WARNING, 'below 16'), (spare(10), State.CRITICAL, 'below 11'),
    (spare(6, 5), State.WARNING, 'below 11')],
    ids=['ok-full', 'ok-at-the-limit', 'warn-near', 'warn-at-the-threshold', 'crit-below', 'ok-no-threshold', 'warn-no-threshold',
         'crit-no-threshold', 'warn-other-threshold'])
def test_spare_is_judged_by_the_drives_own_threshold(database, reading, state, against):
    """Drives set it at 3, 5 or 10; without one the usual 10 holds."""
    judgement = judge.judge_reading(reading, SPARE_LIMIT, {}, database.roles)

    assert (judgement.state, judgement.against) == (state, against)


@pytest.mark.parametrize(('temperature', 'own_limit', 'state'), [
    (55, 60, State.OK), (56, 60, State.WARNING), (60, 60, State.WARNING), (61, 60, State.CRITICAL), (64, 70, State.OK),
    (55, None, State.OK), (56, None, State.WARNING), (61, None, State.CRITICAL)])
def test_a_hard_disks_temperature_is_judged_by_its_own_limit(database, limits, temperature, own_limit, state):
    """Some are made for 55 degrees and some for 70."""
    statistics = {(5, 0x008): Statistic(temperature, 'Current Temperature')}
    if own_limit:
        statistics[(5, 0x058)] = Statistic(own_limit, 'Specified Maximum Operating Temperature')
    report = Report(Identity(protocol='ATA', model='ACME DISK 1', rotation=7200), smart_status=True, statistics=statistics)

    assert judge.judge(SDA, report, database, limits, judge.Rules()).state is state


def test_an_impossible_own_limit_is_ignored(database, limits):
    """Trip temperature 25 degrees, 0 degrees: both are seen on healthy drives."""
    statistics = {(5, 0x008): Statistic(35, 'Current Temperature'), (5, 0x058): Statistic(25, 'Specified Maximum')}
    report = Report(Identity(protocol='ATA', model='ACME DISK 1', rotation=7200), smart_status=True, statistics=statistics)

    assert judge.judge(SDA, report, database, limits, judge.Rules()).state is State.OK


def nvme(bits=0, **log):
    return Report(Identity(protocol='NVMe', model='ACME NVME 1', firmware='1.0'), smart_status=not bits,
                  nvme={'critical_warning': bits, 'temperature': 40, 'available_spare': 100, 'available_spare_threshold': 10,
                        'percentage_used': 3, 'media_errors': 0, 'num_err_log_entries': 0, **log})


@pytest.mark.parametrize(('bits', 'state', 'word'), [
    (0x01, State.CRITICAL, 'spare below its threshold'), (0x02, State.WARNING, 'temperature outside its limits'),
    (0x04, State.CRITICAL, 'reliability degraded'), (0x08, State.CRITICAL, 'read-only'), (0x10, State.CRITICAL, 'backup failed'),
    (0x20, State.CRITICAL, 'persistent memory'), (0x03, State.CRITICAL, 'spare below its threshold'), (0x40, State.CRITICAL, 'FAILED')],
    ids=['crit-spare', 'warn-temperature', 'crit-reliability', 'crit-read-only', 'crit-backup', 'crit-pmr', 'crit-two-bits',
         'crit-unknown-bit'])
def test_nvme_is_judged_by_its_bits_in_words(database, limits, bits, state, word):
    """The word FAILED covers a warm drive and a dying one alike."""
    from smart_attributes.words import findings
    verdict = judge.judge(SDA, nvme(bits), database, limits, judge.Rules())

    assert verdict.state is state
    assert word in findings(verdict)


def test_an_nvme_error_log_counter_alarms_nobody(database, limits):
    """It rises with every command that the drive does not know, at every boot."""
    assert judge.judge(SDA, nvme(num_err_log_entries=16384), database, limits, judge.Rules()).state is State.OK


def test_an_ata_crc_count_from_years_ago_alarms_nobody(database, limits):
    """The counter never goes back after a bad cable."""
    rows = (AttributeRow(9, 'Power_On_Hours', 90, 90, 0, False, '', '40000'),
            AttributeRow(199, 'UDMA_CRC_Error_Count', 200, 1, 0, False, '', '8192'))
    report = Report(Identity(protocol='ATA', model='WDC WD4003FRYZ-01F0DB0', rotation=7200), smart_status=True, attributes=rows)

    assert judge.judge(SDA, report, database, limits, judge.Rules()).state is State.OK


def test_a_threshold_passed_in_the_past_is_a_note(database, limits):
    """One hot day marks attribute 190 for ever."""
    row = AttributeRow(190, 'Airflow_Temperature_Cel', 70, 40, 45, False, 'past', '30')
    report = Report(Identity(protocol='ATA', model='ST4000NM0035-1V4107', rotation=7200), smart_status=True, attributes=(row,))

    verdict = judge.judge(SDA, report, database, limits, judge.Rules())

    assert verdict.state is State.OK
    assert any('in the past' in note for note in verdict.notes)


@pytest.mark.parametrize(('is_prefail', 'state'), [(True, State.CRITICAL), (False, State.WARNING)], ids=['crit-pre-fail', 'warn-old-age'])
def test_an_attribute_at_its_vendor_threshold_is_judged_by_its_type(database, limits, is_prefail, state):
    """Pre-fail says broken, old-age says used up."""
    row = AttributeRow(5, 'Reallocated_Sector_Ct', 1, 1, 36, is_prefail, 'now', '0')
    report = Report(Identity(protocol='ATA', model='ACME DISK 1', rotation=7200), smart_status=True, attributes=(row,))

    assert judge.judge(SDA, report, database, limits, judge.Rules()).state is state


def test_a_failed_self_test_counts_until_a_later_one_passes(database, limits):
    """The newest one that ran to its end decides; an aborted one proves nothing."""
    aborted = SelfTest('Short offline', 'Aborted by host', None, 300)
    failed = SelfTest('Extended', 'Completed: read failure', False, 200)
    passed = SelfTest('Extended', 'Completed without error', True, 250)
    report = nvme()

    assert judge.judge(SDA, report._replace(self_tests=(aborted, failed)), database, limits, judge.Rules()).state is State.CRITICAL
    assert judge.judge(SDA, report._replace(self_tests=(aborted, passed, failed)), database, limits, judge.Rules()).state is State.OK


ADVISORY = specs.Advisory('hpe-32768', 'drive and data are lost for good', 'update the firmware', 'HPD8', 32768, State.WARNING,
                          'hpe-a00092491')


@pytest.mark.parametrize(('hours', 'state', 'words'), [
    (None, State.WARNING, 'at 32768 power-on hours'),
    (20000, State.WARNING, '12768 from now, on 2028-05-05 if it is never switched off'),
    (31768, State.WARNING, '1000 from now'), (31769, State.CRITICAL, '999 from now'), (32768, State.CRITICAL, 'its hour 32768 is past'),
    (40000, State.CRITICAL, 'the drive is at 40000')],
    ids=['warn-age-unknown', 'warn-years-away', 'warn-1000-hours', 'crit-999-hours', 'crit-now', 'crit-past'])
def test_a_firmware_defect_with_an_hour_tells_when_it_bites(hours, state, words):
    """There is time to order and to plan, until there is none."""
    reading = judge.advisory_reading(ADVISORY, Identity(firmware='HPD5'), hours, DAY_0)

    assert reading.state is state
    assert words in reading.verdict
    assert 'firmware HPD5, fixed in HPD8' in reading.verdict and 'update the firmware' in reading.verdict


@pytest.mark.parametrize(('model', 'firmware', 'is_affected'), [
    ('HP VO0480JFDGT', 'HPD5', True), ('VO0480JFDGT', 'HPD7', True), ('VO0480JFDGT', 'HPD8', False), ('VO0480JFDGT', 'HPD10', False),
    ('VO0480XXXXX', 'HPD5', False)])
def test_the_32768_hours_of_hpe_concern_firmware_before_hpd8_only(database, model, firmware, is_affected):
    """The firmware is called HPDn; two public checkers look for HDPn and never match."""
    identity = Identity(protocol='SCSI', model=model, firmware=firmware)

    assert any(advisory.hour == 32768 for advisory in database.advisories(identity)) is is_affected


def test_ignoring_an_attribute_silences_the_failed_that_it_alone_causes(database, limits):
    """Attribute 246 of one SSD has a threshold of 255 and fails for ever."""
    rows = (AttributeRow(9, 'Power_On_Hours', 99, 99, 0, False, '', '1000'), AttributeRow(246, 'Odd', 100, 100, 255, True, 'now', '0'))
    report = Report(Identity(protocol='ATA', model='ACME SSD 1', rotation=0), smart_status=False, attributes=rows)
    ignoring = judge.Rules(ignored_attributes=frozenset((246,)))

    assert judge.judge(SDA, report, database, limits, judge.Rules()).state is State.CRITICAL
    assert judge.judge(SDA, report, database, limits, ignoring).state is State.OK


def test_ignoring_one_attribute_ignores_nothing_else(database, limits):
    """A second failing attribute still decides."""
    rows = (AttributeRow(5, 'Reallocated', 1, 1, 36, True, 'now', '9'), AttributeRow(246, 'Odd', 100, 100, 255, True, 'now', '0'))
    report = Report(Identity(protocol='ATA', model='ACME SSD 1', rotation=0), smart_status=False, attributes=rows)

    assert judge.judge(SDA, report, database, limits, judge.Rules(ignored_attributes=frozenset((246,)))).state is State.CRITICAL


def test_the_order_of_urgency_is_not_that_of_exit_codes():
    """A drive that cannot be read must not hide one that is dying."""
    assert judge.worst([State.UNKNOWN, State.CRITICAL, State.WARNING]) is State.CRITICAL
    assert judge.worst([State.UNKNOWN, State.WARNING, State.OK]) is State.UNKNOWN
    assert judge.worst([State.WARNING, State.OK]) is State.WARNING
    assert judge.worst([]) is State.OK


def test_two_endurance_readings_far_apart_are_worth_a_note(database, limits):
    """The worse one counts, the other is told."""
    rows = (AttributeRow(5, 'Reallocated', 100, 100, 0, False, '', '0'), AttributeRow(170, 'Spare', 100, 100, 10, True, '', '0'),
            AttributeRow(175, 'Power_Loss_Cap_Test', 100, 100, 10, True, '', '640 (409 5906)'),
            AttributeRow(233, 'Media_Wearout_Indicator', 90, 90, 0, False, '', '0'))
    report = Report(Identity(protocol='ATA', model='INTEL SSDSC2BB240G4', rotation=0), smart_status=True, attributes=rows,
                    statistics={(7, 0x008): Statistic(30, 'Percentage Used Endurance Indicator')})

    verdict = judge.judge(SDA, report, database, limits, judge.Rules())

    judged = [j.reading for j in verdict.judgements if j.reading.role == 'endurance_used' and j.reading.judged]
    assert [(reading.number, str(reading.source)) for reading in judged] == [(30, 'device statistics')]
    assert any('attribute 233 says 10 %' in note for note in verdict.notes)
