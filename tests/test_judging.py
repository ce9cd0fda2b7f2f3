"""Readings meet limits: pure, so that one value is enough for a test."""

from itertools import product

import pytest
import small_database
from shipped import DATABASE, LIMITS
from small_database import row

from smart_attributes.check import drive_notes, fence, judging
from smart_attributes.check.judging import Context
from smart_attributes.command_line.options import Judging
from smart_attributes.errors import Coded, DriveAsleep, DriveError
from smart_attributes.history import past
from smart_attributes.history.series import History, Point
from smart_attributes.knowledge import drive_database, drive_logs, ranges, thresholds
from smart_attributes.knowledge.thresholds import Acknowledgement, DriveLimit, Limit
from smart_attributes.model import (
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
from smart_attributes.work.statements import findings

OK, WARNING, CRITICAL, UNKNOWN = State.OK, State.WARNING, State.CRITICAL, State.UNKNOWN

SDA = Device('/dev/sda', name='sda')
HOUR = 3600
DAY_0 = 1795132800.0  # 2026-11-20
PLAIN = judging.Rules()
HDD = Identity('ATA', 'ACME DISK 1', rotation=7200)
SSD = Identity('ATA', 'ACME SSD 1', rotation=0)
X1 = Identity('ATA', 'ACME X1-240', '1.1', 'EXAMPLE0001', rotation=0)
S1 = Identity('ATA', 'ACME X1', serial='S1', rotation=7200)


def worn(*rows, identity=X1, smart_status=True, **more):
    return Report(identity, smart_status, attributes=rows, **more)


def alone(reading, limit):
    """Return the judgement on a reading by a limit that refers to no other one."""
    return judging.judge_reading(reading, limit, Context())


def judged(report, history=None, rules=PLAIN, limits=LIMITS):
    """Return the verdict on a drive by the shipped database, and by the shipped limits."""
    return judging.judge(SDA, report, DATABASE, limits, rules, history)


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
        name: Reading(name, number, 'C', Source('x'))
        for name, number in temperatures.items()
    }
    reading = Reading(
        metric.name,
        best_number(metric),
        metric.unit,
        Source('x'),
        drive_limit=drive_limit,
    )
    limit = limits.limit(metric.name, SDA, identity, '')
    judged = judging.judge_reading(reading, limit, Context(of_drive, database.metrics))
    return judged if judged.state is not OK else None


@pytest.mark.parametrize('kind', ['hdd', 'ssd', 'nvme', 'sas'])
def test_the_best_number_of_a_metric_is_ok_whatever_the_drive_states_as_its_limit(kind):
    """Otherwise the alert has no end: Apple's NVMe drives state a threshold of 99 % for their
    spare blocks.
    """
    metrics = [
        metric
        for metric in DATABASE.metrics.values()
        if not metric.is_verdict and metric.worse != 'none'
    ]
    temperatures = 'temperature_limit', 'temperature_critical_limit'
    told = [
        unmet(
            DATABASE,
            LIMITS,
            metric,
            kind,
            number,
            dict.fromkeys(temperatures, number - 50),
        )
        for metric in metrics
        for number in range(256)
    ]

    assert [each for each in told if each] == []


def test_no_default_limit_lies_outside_the_range_of_its_metric():
    for kind, (name, metric) in product(
        ('ATA', 'NVMe', 'SCSI'), DATABASE.metrics.items()
    ):
        limit = LIMITS.limit(name, SDA, Identity(kind, 'ACME', rotation=0), '')
        for text in (limit.warning, limit.critical):
            if isinstance(text, str) and text:
                allowed = ranges.parse(text, metric.unit)
                assert all(
                    metric.valid[0] <= end <= (metric.valid[1] or end)
                    for end in (allowed.start, allowed.end)
                    if abs(end) != float('inf')
                ), (name, text)


def spare(number, threshold=None):
    return Reading(
        'spare_available', number, '%', Source('NVMe health log'), drive_limit=threshold
    )


SPARE_LIMIT = Limit(
    DriveLimit('threshold', 6, '16:'), DriveLimit('threshold', 0, '11:')
)


@pytest.mark.parametrize(
    'reading, state, against',
    [
        (spare(100, 10), OK, ''),
        (spare(16, 10), OK, ''),
        (spare(15, 10), WARNING, 'below 16'),
        (spare(10, 10), WARNING, 'below 16'),
        (spare(9, 10), CRITICAL, 'below 10'),
        (spare(16), OK, ''),
        (spare(15), WARNING, 'below 16'),
        (spare(10), CRITICAL, 'below 11'),
        (spare(6, 5), WARNING, 'below 11'),
        (spare(100, 99), OK, ''),
        (spare(99, 99), WARNING, 'below 100'),
        (spare(98, 99), CRITICAL, 'below 99'),
    ],
)
def test_spare_is_judged_by_the_drives_own_threshold(reading, state, against):
    """Drives set it at 3, 5 or 10; without one the usual 10 holds."""
    judgement = judging.judge_reading(
        reading, SPARE_LIMIT, Context(metrics=DATABASE.metrics)
    )

    assert (judgement.state, judgement.against) == (state, against)


@pytest.mark.parametrize(
    'identity, temperature, own_limit, state, against',
    [
        (HDD, 55, 60, OK, ''),
        (HDD, 56, 60, WARNING, 'above 55'),
        (HDD, 60, 60, WARNING, 'above 55'),
        (HDD, 61, 60, CRITICAL, 'above 60'),
        (HDD, 64, 70, OK, ''),
        (HDD, 55, None, OK, ''),
        (HDD, 56, None, WARNING, 'above 55'),
        (HDD, 61, None, CRITICAL, 'above 60'),
        (HDD, 35, 25, OK, ''),
        (SSD, 50, 55, OK, ''),
        (SSD, 51, 55, WARNING, 'above 50'),
        (SSD, 50, 50, OK, ''),
        (SSD, 51, 50, CRITICAL, 'above 50'),
        (SSD, 60, 70, OK, ''),
        (SSD, 61, 70, WARNING, 'above 60'),
        (SSD, 61, None, WARNING, 'above 60'),
    ],
)
def test_a_temperature_is_judged_by_the_own_limit_of_the_drive(
    identity, temperature, own_limit, state, against
):
    """Some disks are made for 55 degrees and some for 70; a limit of 25 is seen on healthy ones.

    A cautious limit of an SSD warns nobody at 45 degrees: ten below 55 nothing fails.
    """
    statistics = {(5, 0x008): Statistic(temperature, 'Current Temperature')}
    if own_limit:
        statistics[(5, 0x058)] = Statistic(
            own_limit, 'Specified Maximum Operating Temperature'
        )

    verdict = judged(worn(identity=identity, statistics=statistics))

    assert (verdict.state, verdict.judgements[0].against) == (state, against)


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
    'bits, state, word',
    [
        (0x01, CRITICAL, 'spare blocks below'),
        (0x02, WARNING, 'temperature outside'),
        (0x04, CRITICAL, 'reliability degraded'),
        (0x08, CRITICAL, 'read-only'),
        (0x10, CRITICAL, 'backup failed'),
        (0x20, CRITICAL, 'persistent memory'),
        (0x03, CRITICAL, 'spare blocks below'),
        (0x40, CRITICAL, 'FAILED'),
    ],
)
def test_nvme_is_judged_by_its_bits_in_words(bits, state, word):
    """The word FAILED covers a warm drive and a dying one alike."""
    verdict = judged(nvme(bits))

    assert verdict.state is state
    assert word in findings(verdict)


@pytest.mark.parametrize(
    'bits, codes', [(2, ['health-status-explained']), (0x40, ['smartctl-status'])]
)
def test_no_note_says_that_a_drive_is_failing_if_the_finding_does_not(bits, codes):
    verdict = judged(nvme(bits)._replace(exit_status=8))

    assert [each.code for each in verdict.notes] == codes


@pytest.mark.parametrize(
    'firmware, errors, remedy',
    [('3B2QGXA7', 7, 'order-copy'), ('5B2QGXA7', 7, ''), ('3B2QGXA7', 0, '')],
)
def test_a_firmware_update_that_is_too_late_is_no_remedy(firmware, errors, remedy):
    """The action agrees with the text of the advisory on the 980 PRO."""
    report = nvme(media_errors=errors)
    identity = report.identity._replace(
        model='Samsung SSD 980 PRO 1TB', firmware=firmware
    )
    verdict = judged(report._replace(identity=identity))

    [told] = [
        each for each in verdict.judgements if each.reading.metric == 'media_errors'
    ]
    assert (told.state is WARNING, told.remedy) == (errors > 0, remedy)


ABORTED = SelfTest('Short offline', 'Aborted by host', None, 300)
FAILED_TEST = SelfTest('Extended', 'Completed: read failure', False, 200)
PASSED_TEST = SelfTest('Extended', 'Completed without error', True, 250)
AT_THRESHOLD = row(5, 1, threshold=36, when_failed='now')
ODD = row(246, threshold=255, prefail=True, when_failed='now')
SAMSUNG = Identity('ATA', 'SAMSUNG MZ7LM960HMJP-00005', rotation=0)


@pytest.mark.parametrize(
    'state, report, ignored',
    [
        (OK, nvme(num_err_log_entries=16384), ()),  # nvme error log
        (
            OK,
            worn(
                row(9, 90, raw='40000'),
                row(199, 200, worst=1, raw='8192'),
                identity=HDD._replace(model='WDC WD4003FRYZ-01F0DB0'),
            ),
            (),
        ),  # a bad cable years ago
        (OK, worn(row(5, raw='200'), identity=SAMSUNG), ()),  # few blocks
        (WARNING, worn(row(5, raw='201'), identity=SAMSUNG), ()),  # many blocks
        (WARNING, worn(AT_THRESHOLD, identity=HDD), ()),  # old age is used up
        (
            CRITICAL,
            worn(AT_THRESHOLD._replace(prefail=True), identity=HDD),
            (),
        ),  # pre fail is broken
        (
            CRITICAL,
            nvme()._replace(self_tests=(ABORTED, FAILED_TEST)),
            (),
        ),  # an aborted test proves nothing
        (
            OK,
            nvme()._replace(self_tests=(ABORTED, PASSED_TEST, FAILED_TEST)),
            (),
        ),  # a later test passed
        (
            CRITICAL,
            worn(ODD, identity=SSD, smart_status=False),
            (),
        ),  # a threshold that fails for ever
        (OK, worn(ODD, identity=SSD, smart_status=False), (246,)),  # it is ignored
        (
            CRITICAL,
            worn(
                AT_THRESHOLD._replace(prefail=True),
                ODD,
                identity=SSD,
                smart_status=False,
            ),
            (246,),
        ),  # another one is not
    ],
)
def test_a_report_is_judged_by_the_shipped_data(state, report, ignored):
    """Counters that rise at every boot, or for ever, alarm nobody; 42 of 13,797 such SSDs replaced
    more than 200 blocks, and 19 of these have lost data.
    """
    rules = judging.Rules(Judging(ignore_attributes=tuple(ignored)))

    assert judged(report, rules=rules).state is state


ADVISORY = drive_database.Advisory(
    'hpe-32768',
    'drive and data are lost for good',
    'update the firmware',
    'HPD8',
    32768,
    WARNING,
    'hpe-a00092491',
)


@pytest.mark.parametrize(
    'changed, hours, state, words',
    [
        ({}, None, WARNING, ' (at 32768 power-on hours)'),
        (
            {},
            31768,
            WARNING,
            ' (at 32768 power-on hours: on 2026-12-31, in 1000 hours, if the drive stays powered on)',
        ),
        (
            {},
            31769,
            CRITICAL,
            ' (at 32768 power-on hours: on 2026-12-31, in 999 hours, if the drive stays powered on)',
        ),
        (
            {},
            32768,
            CRITICAL,
            ' (at 32768 power-on hours, and the drive already has 32768)',
        ),
        ({'hour': None, 'fixed_in': ''}, 40000, WARNING, ''),
    ],
)
def test_a_firmware_defect_tells_when_it_bites(changed, hours, state, words):
    """There is time to order and to plan, until there is none; no empty brackets."""
    reading = drive_notes.advisory(
        ADVISORY._replace(**changed), Identity(firmware='HPD5'), hours, DAY_0
    )

    fix = ', fixed in HPD8' if reading.has_remedy else ''
    assert (reading.state, reading.has_remedy, reading.verdict) == (
        state,
        not changed,
        f'firmware HPD5{fix}: drive and data are lost for good{words}',
    )


@pytest.mark.parametrize(
    'model, firmware, is_affected',
    [
        ('HP VO0480JFDGT', 'HPD5', True),
        ('VO0480JFDGT', 'HPD7', True),
        ('VO0480JFDGT', 'HPD8', False),
        ('VO0480JFDGT', 'HPD10', False),
        ('VO0480XXXXX', 'HPD5', False),
    ],
)
def test_the_32768_hours_of_hpe_concern_firmware_before_hpd8_only(
    model, firmware, is_affected
):
    """The firmware is called HPDn; two public checkers look for HDPn and never match."""
    identity = Identity(protocol='SCSI', model=model, firmware=firmware)

    assert (
        any(advisory.hour == 32768 for advisory in DATABASE.advisories(identity))
        is is_affected
    )


# --- verdicts and limits -------------------------------------------------------------------

WARRANTED = drive_database.NO_SPEC._replace(family='ACME X1')
SDB = Device('/dev/sdb', name='sdb')


def verdict_reading(state):
    return Reading(
        'power_loss_protection', 0, '', Source(attribute=175), 'failed', state
    )


def limit_of(**fields):
    """Return the limit of a metric for which a site wrote *fields*, None being null."""
    return Limit(**fields, set_fields=frozenset(fields))


@pytest.mark.parametrize(
    'state, limit, expected',
    [
        (CRITICAL, limit_of(critical=None), WARNING),  # warn critical null
        (WARNING, limit_of(warning=None), OK),  # ok warning null
        (CRITICAL, limit_of(warning=None, critical=None), OK),  # ok both null
        (CRITICAL, limit_of(warning=None), CRITICAL),  # crit warning null
        (WARNING, limit_of(critical=None), WARNING),  # warn critical null only
        (UNKNOWN, limit_of(warning=None, critical=None), UNKNOWN),  # unknown both null
        (CRITICAL, Limit(), CRITICAL),  # crit left out
        (WARNING, Limit(), WARNING),  # warn left out
        (CRITICAL, limit_of(critical='1'), CRITICAL),  # crit a range is no null
        (WARNING, limit_of(warning='1'), WARNING),  # warn a range is no null
    ],
)
def test_null_takes_one_step_off_a_verdict(state, limit, expected):
    """doc/reference/limits.md promises it: a site that knows its capacitors are dead is still
    told of the rest.
    """
    assert alone(verdict_reading(state), limit).state is expected


def test_a_verdict_tells_who_gave_it_and_whether_it_is_graphed():
    """No limit decided, the drive did."""
    judgement = alone(verdict_reading(WARNING), Limit(is_graphed=True))

    assert (judgement.origin, judgement.graphed, judgement.reading.verdict) == (
        'attribute 175',
        True,
        'failed',
    )


@pytest.mark.parametrize(
    'reading',
    [
        verdict_reading(CRITICAL)._replace(judged=False),  # verdict for comparison
        spare(1)._replace(judged=False),  # number for comparison
        spare(None),  # unknown
    ],
)
def test_what_is_shown_only_or_unknown_alarms_nobody(reading):
    """One reading of a metric decides, and nothing can be said of a number that is not there."""
    assert alone(reading, SPARE_LIMIT) == judging.Judgement(reading, OK)
    assert alone(reading, SPARE_LIMIT._replace(is_graphed=True)).graphed


@pytest.mark.parametrize(
    'number, expected',
    [
        (80, (OK, '85', '95', '', 'site.json', True)),  # ok
        (86, (WARNING, '85', '95', 'above 85', 'default.json', True)),  # warn
        (96, (CRITICAL, '85', '95', 'above 95', 'site.json', True)),  # crit
    ],
)
def test_a_judgement_keeps_its_limits_and_who_set_the_one_that_decided(
    number, expected
):
    """perfdata and explain show them, also where all is well."""
    reading = Reading('endurance_used', number, '%', Source(attribute=233))

    judgement = alone(reading, Limit('85', '95', 'default.json', 'site.json', True))

    assert judgement[:7] == (reading, *expected)


@pytest.mark.parametrize(
    'judged',
    [
        Reading('reallocated', 3, '', Source(attribute=5)),  # ok
        Reading('reallocated', 99, '', Source(attribute=5)),  # beyond
        verdict_reading(CRITICAL),  # verdict
    ],
)
def test_a_judgement_keeps_the_reason_of_its_limit(judged):
    """A person who doubts a limit is told why it is as it is."""
    limit = limit_of(warning='5', why='seen', warning_why='seen')

    assert alone(judged, limit).reason == 'seen'


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
        critical_why='it counts naps',
    )

    told = alone(reading, limit)

    assert told == judging.Judgement(
        reading, OK, origin='site.json', graphed=True, reason='it counts naps'
    )


def test_a_time_is_judged_in_days_and_told_in_them():
    """As the limit was written."""
    reading = Reading('endurance_time_left', 20 * 86_400, 's', Source('history'))

    assert alone(reading, limit_of(warning='30d:'))[1:5] == (
        WARNING,
        '30d:',
        '',
        'below 30d',
    )


def test_a_limit_that_is_only_a_warning_says_who_set_it():
    """Where there is no critical one, its origin is the only one."""
    assert alone(spare(50), Limit('10:', None, 'site.json')).origin == 'site.json'


@pytest.mark.parametrize(
    'bound',
    [None, DriveLimit('threshold', 0, None), DriveLimit('temperature_limit', 0, None)],
)
def test_no_limit_is_no_range(bound):
    """The empty text is what perfdata leaves out."""
    assert alone(spare(1), Limit(bound, bound))[1:5] == (
        OK,
        '',
        '',
        '',
    )


# --- one drive, whole ----------------------------------------------------------------------


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
    (found,) = [
        judgement
        for judgement in verdict.judgements
        if judgement.reading.metric == metric
    ]
    return found


def override(selector, **more):
    return {'for': selector, 'why': 'known', **more}


WORN = row(233, 3)  # 97 %
NO_WEAR_LIMIT = {'endurance_used': {'warning': None, 'critical': None}}


def test_judgements_stand_worst_first():
    """The first line takes them in this order."""
    report = worn(row(233, 3), row(175, 11), row(12, raw='7'))

    assert [judgement.state for judgement in verdict_on(report).judgements] == [
        CRITICAL,
        WARNING,
        OK,
        OK,
        OK,
    ]


@pytest.mark.parametrize(
    'selector',
    [
        {'serial': 'EXAMPLE0001'},
        {'device': 'sda'},
        {'model': 'ACME X1.*'},
        {'family': 'ACME X1'},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    'change',
    [
        {'metrics': NO_WEAR_LIMIT},  # limit
        {'attributes': {'233': None}},  # attribute
    ],
)
def test_an_override_reaches_the_drive_by_whatever_names_it(selector, change):
    """Serial, device, model and family are all known once the drive was read."""
    assert verdict_on(worn(WORN), override(selector, **change)).state is OK


@pytest.mark.parametrize(
    'selector, is_told',
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

    ended_notes = [note for note in notes if note.code == 'override-ended']
    assert bool(ended_notes) is is_told
    assert all('2026-01-31' in note for note in ended_notes)


def test_a_family_that_no_entry_tells_is_no_override_s_family():
    """A drive without an entry has none."""
    unknown = X1._replace(model='WHO')
    other = override({'family': 'XXXX'}, metrics=NO_WEAR_LIMIT)

    assert (
        verdict_on(
            worn(identity=unknown, statistics={(7, 8): Statistic(97, 'some')}), other
        ).state
        is CRITICAL
    )


def test_an_ignored_metric_is_kept_graphed_and_alarms_nobody():
    """--ignore-metric silences one thing and hides nothing."""
    verdict = verdict_on(
        worn(WORN), rules=judging.Rules(Judging(ignore_metrics=('endurance_used',)))
    )

    assert verdict.state is OK
    assert judgement_of(verdict, 'endurance_used')[1:7] == (OK, '', '', '', '', True)
    assert judgement_of(verdict, 'endurance_used').reading.number == 97


def test_a_limit_refers_to_the_reading_that_is_judged():
    """A figure that is kept for comparison is no limit."""
    data = small_database.database()
    data['entries'][0]['attributes'] = {
        '1': {'name': 'Limit', 'readings': {'temperature_limit': {'from': 'raw'}}},
        '2': {
            'name': 'Trap',
            'trap': True,
            'readings': {'temperature_limit': {'from': 'raw'}},
        },
        '194': {'name': 'Temperature', 'readings': {'temperature': {'from': 'raw'}}},
    }
    limit = {'drive': 'temperature_limit', 'minus': 5, 'else': '40'}
    hot = override({'device': 'sda'}, metrics={'temperature': {'warning': limit}})

    for source, warning in ((1, '55'), (2, '40')):
        report = worn(row(194, raw='50'), row(source, raw='60'))
        verdict = verdict_on(report, hot, data=data)
        assert judgement_of(verdict, 'temperature').warning == warning


# --- what a drive without entry, with defects or without an answer is told --------------------


@pytest.mark.parametrize(
    'state, identity, device, words',
    [
        *(
            (each, X1._replace(model='WHO'), SDA, ('WHO (firmware 1.1)',))
            for each in State
        ),
        (
            OK,
            Identity(),
            SDA,
            ('this drive', '(firmware not reported);', 'draft -d /dev/sda'),
        ),
        (
            OK,
            Identity(),
            Device('ticket.txt', is_recorded=True),
            ('draft --report ticket.txt',),
        ),
    ],
)
def test_a_model_without_entry_is_said_aloud_in_the_state_that_was_asked_for(
    state, identity, device, words
):
    """--unknown-model; the default is OK. The command can be typed."""
    found = judgement_of(
        verdict_on(
            worn(identity=identity),
            rules=judging.Rules(Judging(unknown_model=state)),
            device=device,
        ),
        'unknown_model',
    )

    assert found.state is state
    assert found.reading._replace(verdict='', brief='', action='') == Reading(
        'unknown_model', 0, '', Source('attributes.json'), '', state
    )
    said = f'{found.reading.verdict}; {found.reading.action}'
    assert [word for word in words if word not in said] == []


@pytest.mark.parametrize(
    'model, status, state',
    [('', None, State.UNKNOWN), ('', True, OK), ('WHO', None, OK)],
)
def test_a_table_without_identity_and_health_status_is_not_ok(model, status, state):
    """Nothing in it can be judged, whatever --unknown-model says; no command would help."""
    report = Report(
        Identity(protocol='ATA', model=model), status, attributes=(row(231, 0),)
    )
    found = judgement_of(
        verdict_on(report, rules=judging.Rules(Judging(unknown_model=OK))),
        'unknown_model',
    )

    assert found.state is state
    assert ('draft' in found.reading.action) is (state is OK)


@pytest.mark.parametrize(
    'identity, kind, expected',
    [
        (Identity('ATA'), 'hdd', 'hdd'),
        (Identity('ATA', spins=True), 'ssd', 'ssd'),
        (Identity('ATA', spins=True), '', 'hdd'),
        (Identity('ATA'), '', 'ssd'),
        (Identity('ATA', rotation=0), 'hdd', 'ssd'),  # the drive tells
        (Identity('ATA', rotation=7200), 'ssd', 'hdd'),
        (Identity('NVMe'), 'ssd', 'nvme'),
        (Identity('SCSI'), 'ssd', 'sas'),
    ],
)
def test_the_entry_tells_the_kind_of_a_drive_that_does_not(identity, kind, expected):
    """The kind decides which limits apply."""
    assert judging.of_kind(identity, kind).kind == expected


@pytest.mark.parametrize(
    'rows, state, words',
    [((row(9, raw='1'),), CRITICAL, ' 999 hours'), ((), WARNING, ' hours)')],
)
def test_a_firmware_defect_counts_from_the_hours_of_this_very_drive(rows, state, words):
    """attributes.json knows the defect, the drive its age, the clock the day."""
    report = worn(*rows, identity=X1._replace(firmware='1.0'))

    found = judgement_of(
        verdict_on(report, rules=judging.Rules(now=DAY_0)), 'firmware_advisory'
    )

    assert (found.state, words in found.reading.verdict) == (state, True)
    assert found.reading._replace(verdict='', brief='', action='') == Reading(
        'firmware_advisory',
        0,
        '',
        Source('acme-manual, erratum 3 (2026-05)'),
        '',
        state,
    )


@pytest.mark.parametrize(
    'error, state', [(DriveError('gone'), UNKNOWN), (DriveAsleep('gone'), WARNING)]
)
def test_a_drive_that_gave_no_report_keeps_its_name_and_the_reason(error, state):
    """UNKNOWN, or what --asleep says; its serial number is what the admin looks for."""
    assert fence.unreadable(SDB, error, WARNING, X1) == judging.Verdict(
        SDB, X1, state, problem='gone', code=error.code
    )
    assert fence.unreadable(SDB, error, WARNING).identity == Identity()


# --- notes -----------------------------------------------------------------------------------


def notes_on(report, *found, spec=WARRANTED):
    return drive_notes.notes(report, found, spec)


def percent(number, source, metric='endurance_used', unit='%'):
    return Reading(metric, number, unit, Source(source))


HEALTH = Reading(
    'smart_status', 0, '', Source('health self-assessment'), 'FAILED', OK, judged=False
)
GAP = Coded('values-missing', 'not in the report: the SMART health status')


def pair(first, second, **more):
    return percent(first, 'log a', **more), percent(second, 'log b', **more)


@pytest.mark.parametrize(
    'report, found, notes',
    [
        (
            worn(row(5, 1, threshold=10, when_failed='now'), row(190), exit_status=0),
            [percent(5, 'a')],
            [],
        ),
        (
            worn(row(190, name='Airflow', when_failed='past')),
            [],
            ['attribute 190 Airflow was at its vendor threshold in the past'],
        ),
        (
            worn(row(5), gaps=(GAP,)),
            [HEALTH._replace(number=None, verdict='', unknown='not reported')],
            [GAP],
        ),
        (worn(), [HEALTH, percent(5, 'a')], ['FAILED']),
        (worn(), [HEALTH._replace(judged=True)], []),
        (worn(), [HEALTH._replace(metric='write_protect')], []),
        (
            worn(),
            [
                percent(None, 'SCSI log')._replace(
                    unknown='255 is not plausible', judged=False
                )
            ],
            ['endurance_used from SCSI log is unknown: 255 is not plausible'],
        ),
        (
            worn(exit_status=0x40, messages=('Read log failed',)),
            [],
            ['the error log contains errors', 'Read log failed'],
        ),
        (worn(messages=('x' * 900,)), [], ['x' * 397 + '...']),
        (
            worn(),
            pair(10, 16),
            [
                'endurance_used: 10 % from log a, 16 % from log b; the worse value is used'
            ],
        ),
        (worn(), pair(10, 15), []),
        (
            worn(),
            pair(0, 6),
            ['endurance_used: 0 % from log a, 6 % from log b; the worse value is used'],
        ),
        (worn(), pair(10, 16, unit=''), []),
        (worn(), [percent(3, 'a'), percent(100, 'a', 'spare_available')], []),
    ],
)
def test_the_notes_on_a_drive(report, found, notes):
    """A note for every drive is read by nobody; what is not known is never OK by silence."""
    assert notes_on(report, *found) == notes


def test_a_statistic_that_is_ignored_is_not_compared():
    """Else the same value would be "used" and "ignored"."""
    found = percent(255, 'device statistics'), percent(4, 'log a')
    spec = WARRANTED._replace(untrusted_statistics={'endurance_used': ''})

    codes = [note.code for note in notes_on(worn(), *found, spec=spec)]

    assert codes == ['statistic-not-trusted']


def test_an_attribute_that_wear_is_read_from_and_that_is_lost_is_a_note():
    """All drives of such a family have one of them: 14,359 of 14,359."""
    assert [
        'values-missing'
        in [
            note.code
            for note in verdict_on(worn(*map(row, numbers), smart_status=None)).notes
        ]
        for numbers in ((5,), (5, 233), ())
    ] == [True, False, False]


@pytest.mark.parametrize(
    'source, number, state',
    [
        ('device statistics', 99, CRITICAL),
        (drive_logs.RATED, 99, WARNING),
        (drive_logs.RATED, 250, WARNING),
        (drive_logs.RATED, 80, OK),
    ],
)
def test_the_end_of_a_warranty_is_never_critical(source, number, state):
    """It is no failure."""
    judgement = alone(percent(number, source), Limit('85', '95'))

    assert (judgement.state, bool(judgement.critical)) == (
        state,
        source != drive_logs.RATED,
    )


@pytest.mark.parametrize(
    'log, metric, number, why, told',
    [
        ('device statistics', 'endurance_used', 255, '', ''),
        ('device statistics', 'temperature', 255, '', None),
        ('SCSI log', 'endurance_used', 255, '', None),
        ('device statistics', 'endurance_used', 9, 'look again', '; look again'),
        ('device statistics', 'endurance_used', 0, 'look again', ''),
    ],
)
def test_a_statistic_that_is_not_to_be_believed_is_a_note(
    log, metric, number, why, told
):
    """The figure is shown with what is known of its like, and what it foretells all the same."""
    noted = notes_on(
        worn(),
        percent(number, log, metric),
        spec=WARRANTED._replace(untrusted_statistics={'endurance_used': why}),
    )

    notes = [note for note in noted if note.code == 'statistic-not-trusted']
    assert len(noted) == len(notes) == (0 if told is None else 1)
    assert all(
        f': {number} % ' in note and note.endswith(f'family{told}') for note in notes
    )


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
        Point(
            now - after - DAY * (len(numbers) - 1 - place),
            number,
            DAY // 2 if place else 0,
        )
        for place, number in enumerate(numbers)
    ]
    return past.Past({past.key(reading): History(tuple(points), now - later)}, now)


def crc_judged(reading, history, limit=None, given=None, level=OK):
    limit = limit or Limit(growth=(CABLE,), growth_origin='default.json')
    return judging.weighed(
        Judgement(
            reading, level, against='above 5' if level else '', origin='site.json'
        ),
        limit,
        Context(past=history),
        given,
    )


@pytest.mark.parametrize(
    'level, state, origin, against, growth_against',
    [
        (OK, WARNING, 'default.json', '', 'above 0 in 24 h'),
        (WARNING, WARNING, 'site.json', 'above 5', ''),
        (CRITICAL, CRITICAL, 'site.json', 'above 5', ''),
    ],
)
def test_growth_alarms_where_the_level_says_less(
    level, state, origin, against, growth_against
):
    """A counter that never goes back tells by rising alone; a level that is as bad is told first,
    and growth behind it.
    """
    judgement = crc_judged(crc(226), grown(crc(226), 212), level=level)

    assert (
        judgement.state,
        judgement.origin,
        judgement.against,
        judgement.growth_against,
    ) == (
        state,
        origin,
        against,
        growth_against,
    )
    assert judgement.grown == 14 and '(212 to 226)' in judgement.growth


@pytest.mark.parametrize(
    'number, history, state',
    [
        (9, None, OK),
        (9, past.Past({}, int(DAY_0)), OK),
        (9, grown(crc(9), 8), WARNING),
    ],
)
def test_growth_is_told_for_as_long_as_its_limit_says(number, history, state):
    """Whoever looked in between: what is told follows from the points."""
    assert crc_judged(crc(number), history).state is state


def test_another_definition_is_another_series():
    """An entry that reads an attribute otherwise has not made its counter grow."""
    other = crc(226)._replace(source=Source(attribute=199, definition='raw bytes 0-1'))

    assert crc_judged(other, grown(crc(226), 212)).state is OK


@pytest.mark.parametrize(
    'level, before, is_acknowledged, is_own, state',
    [
        (WARNING, 226, True, True, WARNING),  # a limit for only this drive counts
        (OK, 0, False, True, OK),
        (CRITICAL, 212, True, False, OK),
        (CRITICAL, 212, False, False, CRITICAL),
        (OK, 0, False, False, CRITICAL),
        (UNKNOWN, 0, False, False, CRITICAL),
    ],
)
def test_the_order_of_precedence(level, before, is_acknowledged, is_own, state):
    """A small increase does not hide a bad level."""
    limit = Limit(growth=(CABLE,), own_fields=frozenset({'warning'} if is_own else ()))
    given = Acknowledgement('S1', 'crc_errors', 226) if is_acknowledged else None

    assert (
        crc_judged(crc(226), grown(crc(226), before), limit, given, level).state
        is state
    )


@pytest.mark.parametrize('accepted, state', [(225, WARNING), (226, OK), (300, OK)])
def test_an_acknowledged_number_is_silent_until_it_is_passed(accepted, state):
    """Silent while it stands, loud when it moves, whether level or growth would speak."""
    given = Acknowledgement('S1', 'crc_errors', accepted)

    assert (
        crc_judged(crc(226), grown(crc(226), 212), given=given, level=WARNING).state
        is state
    )


def test_the_word_of_the_drive_is_never_acknowledged():
    """Health FAILED, warning bits, an attribute failing now."""
    reading = Reading(
        'smart_status', 0, '', Source('self-assessment'), 'FAILED', CRITICAL
    )
    given = Acknowledgement('S1', 'smart_status', 1)

    assert (
        judging.weighed(Judgement(reading, CRITICAL), Limit(), Context(), given).state
        is CRITICAL
    )


@pytest.mark.parametrize(
    'metrics, state',
    [
        ({'warning': '300'}, OK),  # ok own level
        ({'critical': '300'}, OK),  # ok own critical level
        ({'warning': '300', 'growth': CABLE}, WARNING),  # warn own level and growth
        ({'growth': None}, OK),  # ok no growth
        ({'graph': True}, WARNING),  # warn says nothing of it
    ],
)
@pytest.mark.parametrize('selector', [{'serial': 'S1'}, {'device': 'sda'}], ids=str)
def test_a_limit_of_this_very_drive_stands_above_growth(metrics, state, selector):
    """Who has set the level of one drive has looked at it; who wants its growth judged beside
    says so.
    """
    own = {'for': selector, 'why': 'an old cable', 'metrics': {'crc_errors': metrics}}
    limits = thresholds.Thresholds(
        {'metrics': {'crc_errors': {'growth': CABLE}}},
        [('site.json', {'overrides': [own]})],
    )
    limit = limits.limit(
        'crc_errors', SDA, Identity('ATA', 'M', serial='S1', rotation=7200), ''
    )

    assert crc_judged(crc(226), grown(crc(226), 212), limit).state is state


def reading_of(report, metric):
    return judgement_of(judged(report), metric).reading


def test_a_counter_that_was_higher_before_is_noted():
    """With the history of the drive, and without any other change of its verdict."""
    report = worn(row(9, raw='100'), identity=S1)
    known = grown(reading_of(report, 'power_on_time'), 900 * HOUR)

    without = judged(report).notes
    assert [
        note.code for note in judged(report, known).notes if note not in without
    ] == ['counter-set-back']


def test_a_limit_that_was_passed_holds_with_all_that_belongs_to_the_metric():
    """The state is of the higher number, the reading is today's."""
    hot = Reading('temperature', 58, 'C', Source(attribute=194))
    kept = {
        past._beside(hot, name): History(
            (Point(int(DAY_0) - 60, number, 0),), int(DAY_0) - 60
        )
        for name, number in ((past._RECENT, 58), (past._HELD, 61))
    }

    held = judging.judge_remembered(
        hot,
        Limit('60', '70'),
        Context({}, DATABASE.metrics, past.Past(kept, int(DAY_0))),
        None,
    )

    assert (held.state, held.reading) == (WARNING, hot)
    assert held.against.code == 'above-limit' and ' 3 C below this' in held.against


def accepted(metric, number, limit):
    """Return limits with an acknowledgement of the drive S1."""
    said = {
        'for': {'serial': 'S1'},
        'why': 'stable since 2024',
        'by': 'martin',
        'metrics': {metric: {'acknowledged': number}},
    }
    return thresholds.Thresholds(
        {'metrics': {metric: {'warning': limit}}},
        [('acknowledged.json', {'overrides': [said]})],
    )


def test_what_is_acknowledged_is_told_by_whom_when_and_why():
    """With -v, in triage and explain."""
    limits = accepted('reallocated', 30, '20')
    verdict = judged(worn(row(5, raw='30'), identity=S1), limits=limits)

    assert verdict.state is OK
    assert [
        ('martin' in note) for note in verdict.notes if note.code == 'acknowledged'
    ] == [True]
    assert judged(worn(row(5, raw='31'), identity=S1), limits=limits).state is WARNING


def test_growth_of_what_is_shown_only_alarms_nobody():
    """Another reading of the metric decides."""
    shown = crc(226)._replace(judged=False)

    assert crc_judged(shown, grown(shown, 212)).state is OK


SPARE_GROWTH = {
    'within': '24h',
    'warning': '5',
    'critical': '50',
    'for': '7d',
    'advice': 'replace it soon',
}


@pytest.mark.parametrize(
    'before, is_floor, state',
    [
        (100, True, WARNING),  # warn less spare
        (80, True, OK),  # ok more spare
        (100, False, OK),  # ok less wear
        (80, False, WARNING),  # warn more wear
    ],
)
def test_where_less_is_worse_growth_is_a_fall(before, is_floor, state):
    """Spare blocks vanish, errors come."""
    reading = spare(90)

    limit, history = Limit(growth=(SPARE_GROWTH,)), grown(reading, before, 90)
    context = Context({}, DATABASE.metrics if is_floor else {}, history)
    assert judging.weighed(Judgement(reading, OK), limit, context, None).state is state


@pytest.mark.parametrize('number, state', [(59, WARNING), (60, OK)])
def test_where_less_is_worse_what_is_acknowledged_is_loud_when_it_falls(number, state):
    """60 % of spare were accepted; 59 % were not."""
    report = nvme(available_spare=number)
    verdict = judged(
        report._replace(identity=report.identity._replace(serial='S1')),
        limits=accepted('spare_available', 60, '90:'),
    )

    assert judgement_of(verdict, 'spare_available').state is state


# --- wear -------------------------------------------------------------------------


@pytest.mark.parametrize('used, hours, state', [(40, 20_000, WARNING), (40, 700, OK)])
def test_wear_that_is_much_faster_than_ever_and_soon_over_warns(used, hours, state):
    """Thirty points in a month, of a drive that took two years for ten: somebody writes what
    nobody has planned.
    """
    report = Report(
        Identity('NVMe', 'ACME N1'),
        True,
        nvme={'percentage_used': used, 'power_on_hours': hours},
    )
    now = int(DAY_0)
    points = (Point(now - 40 * DAY, 10), Point(now - DAY, used, DAY))
    key = past.key(reading_of(report, 'endurance_used'))
    history = past.Past({key: History(points, now - 60)}, now)

    assert judgement_of(judged(report, history), 'endurance_used').state is state


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
    limits = thresholds.Thresholds(
        {'metrics': metrics}, [('site.json', {'overrides': list(site)})]
    )
    used = Reading(
        'endurance_used', 84, '%', Source(attribute=233, definition='100 - value')
    )
    now = int(DAY_0)
    history = None
    if before is not None:
        points = Point(now - 200 * DAY, before), Point(now - DAY, 84, DAY)
        history = past.Past({past.key(used): History(points, now - 60)}, now, is_own)
    told = judging.judge(
        SDA,
        report,
        drive_database.SpecDatabase(small_database.database()),
        limits,
        judging.Rules(Judging(ignore_metrics=tuple(ignored))),
        history,
    )
    for judgement in told.judgements:
        if judgement.reading.metric == TIME_LEFT:
            seconds = judgement.reading.number
            return None if seconds is None else round(seconds / DAY), judgement.state
    return None


@pytest.mark.parametrize(
    'metrics, told',
    [
        (WEAR, (160, OK)),  # ok warning
        ({'endurance_used': {'critical': '95'}}, (160, OK)),  # ok critical
        (ASKED, (160, OK)),  # ok asked
        ({TIME_LEFT: {'warning': '200d:'}}, (160, WARNING)),  # warn asked
        ({TIME_LEFT: {'critical': '200d:'}}, (160, CRITICAL)),  # crit asked
        ({}, None),  # no limit
    ],
)
def test_time_left_is_told_where_endurance_or_time_has_a_limit(metrics, told):
    """Where neither has one, nobody is interested."""
    assert time_left(metrics) == told


@pytest.mark.parametrize(
    'metrics, ignored, told',
    [
        (ASKED, ['endurance_used'], (None, OK)),  # not believed and asked
        (WEAR, ['endurance_used'], None),  # not believed
        (ASKED, [TIME_LEFT], None),  # not judged
        ({**ASKED, **WEAR}, [TIME_LEFT], (160, OK)),  # graphed
    ],
)
def test_what_a_site_ignores_is_foreseen_from_nothing(metrics, ignored, told):
    """A date that is made of a number that nobody believes is none."""
    assert time_left(metrics, ignored=ignored) == told


@pytest.mark.parametrize(
    'metrics, told',
    [
        (ASKED, (None, OK)),  # asked
        (WEAR, None),  # not asked
    ],
)
@pytest.mark.parametrize(
    'rows',
    [
        [row(233, 16)],  # no age
        [row(9, raw='20000')],  # no endurance
    ],
)
def test_a_time_that_nobody_knows_is_a_word_only_where_somebody_asked(
    metrics, told, rows
):
    """A graph without points would tell nothing."""
    assert time_left(metrics, rows=rows) == told


@pytest.mark.parametrize(
    'metrics, before, is_own, days',
    [
        (ASKED, None, True, 160),  # none
        (ASKED, 80, True, 800),  # slow
        (ASKED, 80, False, 160),  # slow but foreign
        (ASKED, 44, True, 80),  # fast
        (ASKED, 44, False, 80),  # fast and foreign
        (WEAR, 80, False, 800),  # slow but never judged
    ],
)
def test_history_that_another_user_could_have_written_makes_no_time_longer(
    metrics, before, is_own, days
):
    """It could silence an alarm; it may only raise one."""
    assert time_left(metrics, before=before, is_own=is_own)[0] == pytest.approx(
        days, rel=0.05
    )
