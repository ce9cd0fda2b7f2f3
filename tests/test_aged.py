"""What is old is judged as old: by the drive's own log, or by history."""

import json

import pytest
from conftest import run
from days import disk
from shipped import LIMITS
from test_judging import judged

from smart_attributes.check import judging
from smart_attributes.command_line.options import Judging
from smart_attributes.history import past, series
from smart_attributes.knowledge.thresholds import (
    Thresholds,
    stages,
    when_quiet,
)
from smart_attributes.model import (
    AttributeRow,
    Device,
    ErrorEntry,
    Identity,
    Reading,
    Report,
    SelfTest,
    Source,
    State,
)
from smart_attributes.wording import statement
from smart_attributes.work.statements import findings

OK, WARNING, CRITICAL = State.OK, State.WARNING, State.CRITICAL

SDA = Device('/dev/sda', name='sda')
DISK = Identity(
    protocol='ATA', model='ST4000NM0033-9ZM170', serial='EXAMPLE0001', rotation=7200
)


YEARS_3_2 = int(3.2 * 8766)


def disk_with_errors(count, errors, **more):
    rows = (
        AttributeRow(9, 'Power_On_Hours', 50, 50, 0, False, '', '50000'),
        AttributeRow(187, 'Reported_Uncorrect', 1, 1, 0, False, '', str(count)),
    )
    return Report(
        DISK,
        smart_status=True,
        attributes=rows,
        errors=tuple(errors),
        error_count=count,
        **more,
    )


def old(ago):
    return [ErrorEntry(9, ('UNC',), (50000 - ago) % 65536)]


@pytest.mark.parametrize(
    'count, ago, state, age',
    [
        (70, YEARS_3_2, WARNING, '3.2 years'),
        (70, 337, WARNING, '14 days'),
        (70, 335, CRITICAL, '14 days'),
    ],
)
def test_old_errors_are_judged_at_the_rate_of_old_ones_and_say_so(
    count, ago, state, age
):
    """Disks whose newest error is older than two weeks fail at 150 % a year, not at 652."""
    verdict = judged(disk_with_errors(count, old(ago)))

    assert verdict.state is state
    assert f', newest {age} ' in findings(verdict)


@pytest.mark.parametrize('ago, state', [(8759, CRITICAL), (8761, WARNING)])
def test_a_failed_self_test_of_a_year_ago_no_longer_is_critical(ago, state):
    """It stays a warning until a test of as much passes."""
    tests = (
        SelfTest('Extended offline', 'Completed: read failure', False, 50000 - ago),
    )

    assert judged(disk_with_errors(0, (), self_tests=tests)).state is state


def reallocated_for(seconds, number, then=None):
    """Return a reading and what history knows: the number has stood for so long, or has risen to
    it from *then*.
    """
    reading = Reading('reallocated', number, '', Source(attribute=5))
    first = [series.Point(0, then, 0)] if then is not None else []
    known = series.History(
        (*first, series.Point(1000, number, 1000 if first else 0)), 1000 + seconds
    )
    return reading, past.Past({past.key(reading): known}, 1000 + seconds)


@pytest.mark.parametrize(
    'days, number, then, state, said',
    [
        (364, 41, None, WARNING, ' than 364 days'),
        (366, 41, None, OK, ' than 1.0 years'),
        (15, 4000, 30, WARNING, 'newest 15 days'),
        (13, 4000, None, CRITICAL, ' than 13 days'),
    ],
)
def test_history_tells_the_age_of_what_no_log_dates(days, number, then, state, said):
    """The same rule, whoever knows since when nothing came."""
    reading, known = reallocated_for(days * 86400, number, then)
    dated, limit = judging.aged(
        reading, LIMITS.limit('reallocated', SDA, DISK, 'Seagate hard disk'), known
    )

    assert judging.judge_reading(dated, limit, judging.Context()).state is state
    assert said in statement(dated)


@pytest.mark.parametrize(
    'is_own, log, state',
    [
        (True, None, OK),  # ok own
        (False, None, WARNING),  # warn foreign
        (False, 366 * 86400, OK),  # ok foreign and its log
        (True, 13 * 86400, WARNING),  # warn its log is newer
    ],
)
def test_history_that_another_user_could_have_written_silences_nothing(
    is_own, log, state
):
    """Its log may: that is the drive's own."""
    reading, known = reallocated_for(366 * 86400, 41)
    limit = LIMITS.limit('reallocated', SDA, DISK, 'Seagate hard disk')
    dated, limit = judging.aged(
        reading._replace(quiet=log), limit, known._replace(is_own=is_own)
    )

    assert dated.quiet_is_doubted is (not is_own and log is None)
    assert judging.judge_reading(dated, limit, judging.Context()).state is state


def test_history_makes_what_a_log_dates_newer_and_never_older():
    """A counter may rise without an entry; a log that tells of an error yesterday is right,
    whatever a counter says.
    """
    reading, known = reallocated_for(86400, 40, 30)

    assert past.quieted(known, reading._replace(quiet=5)).quiet == 5
    still, unmoved = reallocated_for(86400, 40)
    assert past.quieted(unmoved, still._replace(quiet=5)).quiet == 5
    assert past.quieted(unmoved, still._replace(quiet=1e9)).quiet == 1e9
    assert past.quieted(unmoved, still._replace(number=0)).quiet is None


def sectors(attribute, number):
    return Report(
        DISK,
        smart_status=True,
        attributes=(AttributeRow(attribute, '', 100, 100, 0, False, '', str(number)),),
    )


def unmoved(report, metric, number, days):
    """Return a history in which a number has stood for so many days."""
    key = next(
        past.key(each.reading)
        for each in judged(report).judgements
        if each.reading.metric == metric
    )
    stood = series.History((series.Point(0, number),), days * 86400)
    return past.Past({key: stood}, days * 86400)


@pytest.mark.parametrize(
    'metric, attribute, number',
    [
        ('reallocated', 5, 1100),
        ('pending', 197, 72),
        ('offline_uncorrectable', 198, 24),
        ('reported_uncorrect', 187, 21),
    ],
)
def test_nothing_is_critical_for_standing_still_and_lost_data_warns_for_ever(
    metric, attribute, number
):
    """After years without growth: too few such disks were watched for CRITICAL."""
    report = sectors(attribute, number)

    assert judged(report).state is CRITICAL
    assert judged(report, unmoved(report, metric, number, 1000)).state is WARNING


@pytest.mark.parametrize(
    'days, number, is_noted',
    [(400, 120, True), (400, 40, False), (400, 4000, False), (13, 120, False)],
)
def test_what_is_silent_by_its_age_alone_is_a_note_with_its_age(days, number, is_noted):
    """No drive is OK by silence."""
    report = sectors(5, number)
    known = unmoved(report, 'reallocated', number, days)

    told = [note for note in judged(report, known).notes if note.code == 'old-event']

    assert bool(told) is is_noted
    assert all(
        note.startswith('reallocated 120, ') and 'WARNING above 40)' in note
        for note in told
    )
    ignoring = judging.Rules(Judging(ignore_metrics=('reallocated',)))
    assert all(
        note.code != 'old-event' for note in judged(report, known, ignoring).notes
    )


# --- who sets the rule ----------------------------------------------------------------------------

OLD = {
    'after': '1000h',
    'warning': '5',
    'critical': None,
    'why': 'nothing came of them',
}


def held(quiet_hours, *overrides, command_line=None, metrics=None):
    """Return the levels of reported_uncorrect and who set them, where the newest is so many
    hours old.
    """
    default = {
        'metrics': {
            'reported_uncorrect': {
                'warning': '0',
                'critical': '20',
                'aged': OLD,
                'why': 'data that reached nobody',
            }
        }
    }
    site = {'overrides': list(overrides), 'metrics': metrics or {}}
    given = Thresholds(default, [('site.json', site)], {'warning': command_line or {}})
    reading = Reading(
        'reported_uncorrect',
        7,
        '',
        Source(attribute=187),
        quiet=quiet_hours and quiet_hours * 3600,
    )
    _, limit = judging.aged(
        reading, given.limit('reported_uncorrect', SDA, DISK, ''), None
    )
    return limit.warning, limit.critical, limit.warning_origin


def one_drive(**fields):
    return {
        'for': {'serial': 'EXAMPLE0001'},
        'why': 'known since 2024',
        'metrics': {'reported_uncorrect': fields},
    }


def test_the_rule_holds_from_its_hour_on_and_where_the_age_is_known():
    """What nobody can date is judged as new."""
    assert held(1000) == ('5', None, 'default.json, aged')
    assert held(999.9) == held(None) == ('0', '20', 'default.json')


def test_a_limit_that_someone_stronger_sets_holds_at_any_age():
    """Field by field: the other field ages as before."""
    assert held(2000, one_drive(warning='3')) == (
        '3',
        None,
        'site.json: this serial number',
    )
    assert held(2000, command_line={'reported_uncorrect': '2'}) == (
        '2',
        None,
        'command line',
    )
    assert held(2000, metrics={'reported_uncorrect': {'critical': '9'}}) == (
        '5',
        '9',
        'default.json, aged',
    )


def test_the_rule_itself_is_overridden_and_switched_off():
    """A site that trusts nothing old writes null, another one its own hours."""
    assert held(2000, one_drive(aged=None)) == ('0', '20', 'default.json')
    own = {'after': '2d', 'warning': None, 'why': 'replaced'}
    assert held(60, one_drive(aged=own))[:2] == (None, '20')
    assert held(2000, metrics={'reported_uncorrect': {'aged': None}}) == (
        '0',
        '20',
        'default.json',
    )


def test_two_equals_that_disagree_on_what_is_old_are_told():
    """And the weaker rule holds, as for any other limit."""
    overrides = [
        {
            'for': {'model': pattern},
            'why': 'tried',
            'metrics': {'reported_uncorrect': {'aged': {**OLD, 'after': after}}},
        }
        for pattern, after in (('.*', '10d'), ('..*', '20d'))
    ]
    disk = DISK._replace(model='ACME 1')
    [told] = Thresholds(
        {'metrics': {}}, [('site.json', {'overrides': overrides})]
    ).disagreements(SDA, disk, '')

    assert told.startswith('reported_uncorrect, aged: ')
    assert held(2000, *overrides) == ('5', None, 'default.json, aged')


STAGES = [
    {'after': '90d', 'warning': None, 'why': 'very old'},
    {'after': '14d', 'critical': None, 'why': 'old'},
    {'after': '20d', 'tested': True, 'warning': None, 'why': 'old and tested'},
]


@pytest.mark.parametrize(
    'days, is_tested, levels, reasons',
    [
        (13, True, ('0', '20'), []),
        (14, True, ('0', None), ['old']),
        (19, True, ('0', None), ['old']),
        (20, True, (None, None), ['old', 'old and tested']),
        (20, False, ('0', None), ['old']),
        (89, False, ('0', None), ['old']),
        (90, False, (None, None), ['old', 'very old']),
        (90, True, (None, None), ['old', 'old and tested', 'very old']),
        (None, True, ('0', '20'), []),
    ],
)
def test_a_rule_for_old_events_may_have_stages_and_ask_for_a_test(
    days, is_tested, levels, reasons
):
    """Whatever their order in the file, a stage for a greater age comes later."""
    given = Thresholds(
        {
            'metrics': {
                'reported_uncorrect': {
                    'warning': '0',
                    'critical': '20',
                    'aged': STAGES,
                    'why': 'data',
                }
            }
        }
    )
    reading = Reading(
        'reported_uncorrect',
        7,
        '',
        Source(attribute=187),
        quiet=days and days * 86400,
        is_tested=is_tested,
    )
    limit = given.limit('reported_uncorrect', SDA, DISK, '')

    assert [stage.why for stage in stages(limit, reading)] == reasons
    assert (
        when_quiet(limit, reading).warning,
        when_quiet(limit, reading).critical,
    ) == levels


def test_an_increase_after_the_self_test_makes_the_test_worthless():
    """The history has seen a newer error than the drive's log."""
    reading, known = reallocated_for(86400, 40, 30)

    dated = past.quieted(known, reading._replace(quiet=9 * 86400, is_tested=True))

    assert (dated.quiet, dated.is_tested) == (86400, False)


# --- what else a drive tells of its past ----------------------------------------------------------


@pytest.mark.parametrize(
    'rotation, state',
    [
        (7200, WARNING),  # hard disk
        (0, OK),  # solid state
    ],
)
def test_a_threshold_in_the_past_warns_on_hard_disks_alone(rotation, state):
    """On SSDs it is the bogus worst value of a counter that never moved."""
    row = AttributeRow(1, 'Raw_Read_Error_Rate', 81, 43, 44, True, 'past', '141367271')
    report = Report(
        DISK._replace(rotation=rotation, model='ACME 1'),
        smart_status=True,
        attributes=(row,),
    )

    assert judged(report).state is state


def test_fresh_self_tests_are_asked_for_by_an_option_alone():
    """Most sites run none."""
    report = disk_with_errors(0, ())
    asked = judging.Rules(Judging(selftest_max_age=35 * 86400))

    assert judged(report).state is OK
    verdict = judged(report, rules=asked)
    assert verdict.state is WARNING and 'none known' in findings(verdict)
    tested = report._replace(
        self_tests=(
            SelfTest('Extended offline', 'Completed without error', True, 49900),
        )
    )
    assert judged(tested, rules=asked).state is OK


def test_a_check_asks_for_fresh_self_tests_and_dates_the_errors_of_a_report(tmp_path):
    """From the command line to the line that an admin reads."""
    error = 'Error: UNC at LBA = 0x0071bde0'
    errors = [{'error_number': 1, 'lifetime_hours': 99, 'error_description': error}]
    report = disk(a9=199) | {
        'ata_smart_error_log': {'summary': {'count': 1, 'table': errors}}
    }
    (tmp_path / 'disk.json').write_text(json.dumps(report))

    result = run('--report', str(tmp_path / 'disk.json'), '--selftest-max-age', '35d')

    assert result.code == 1
    assert 'logged_data_errors 1, newest 4 days ' in result.text
    assert 'self_test_age: ' in result.text and 'none known' in result.text
