"""Lines and perfdata of the plugin as drives of a fleet: one line, one table row."""

import json

import pytest
from conftest import ROOT

from smart_attributes.errors import Coded
from smart_attributes.fleet.plugin_output import (
    ENDURANCE,
    TIME_LEFT,
    Origin,
    Reader,
    dated,
    handled,
)
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.model import State
from smart_attributes.output.codes import BY_NAME
from smart_attributes.output.plugin import Line

OK, WARNING, CRITICAL, UNKNOWN = State.OK, State.WARNING, State.CRITICAL, State.UNKNOWN

NOW = 1_700_000_000
DAY = 86400
METRICS = SpecDatabase(json.loads((ROOT / 'attributes.json').read_text())).metrics
WORN = Line(CRITICAL, 'sda', 'ACME X1', 'endurance_used 97 %, critical above 95', 'EXAMPLE1', '1.0')
GREW = WORN._replace(
    state=WARNING, findings='crc_errors grew by 14 in 24 h (212 to 226): check cable'
)


@pytest.fixture
def reader():
    return Reader(METRICS)


def read(reader, line, *values, **origin):
    """Return the drive of one line."""
    (drive,) = reader.drives([line], values, Origin('web1', now=NOW, **origin))
    return drive


def test_identity_state_and_findings_are_those_of_the_line(reader):
    facts = read(reader, WORN).facts

    assert {
        key: facts[key] for key in ('host', 'name', 'model', 'serial', 'firmware', 'state', 'why')
    } == {
        'host': 'web1',
        'name': 'sda',
        'model': 'ACME X1',
        'serial': 'EXAMPLE1',
        'firmware': '1.0',
        'state': 'CRITICAL',
        'why': 'endurance_used 97 %, critical above 95',
    }
    assert facts['findings'] == [
        {
            'code': 'above-limit',
            'text': 'endurance_used 97 %, critical above 95',
            'state': 'CRITICAL',
            'metric': 'endurance_used',
        }
    ]
    assert 'handling' not in facts and 'code' not in facts


def test_control_characters_of_a_line_are_not_shown(reader):
    facts = read(reader, WORN._replace(model='AC\nME', serial='E\n1', firmware='1\t0')).facts

    assert (facts['model'], facts['serial'], facts['firmware']) == ('AC ME', 'E 1', '1 0')


@pytest.mark.parametrize(
    'line, weight',
    [
        (WORN, METRICS['endurance_used']),  # level
        (GREW, METRICS['crc_errors']),  # growth
    ],
)
def test_a_finding_weighs_by_its_value_and_its_limit(reader, line, weight):
    values = ["'sda_endurance_used'=97%;85;95;0;", "'sda_crc_errors'=226;;;0;"]
    found = read(reader, line, *values)

    is_level = line is WORN
    number, limit = (97, '95') if is_level else (226, '')
    assert found.weights == (
        reader.weight(weight.name, line.state, number, limit, is_growing=not is_level),
    )
    without_limit = reader.weight(weight.name, line.state, number, '', is_growing=not is_level)
    assert (found.weights != (without_limit,)) is is_level
    assert found.used == 97


@pytest.mark.parametrize(
    'seconds, elapsed, left',
    [
        (900 * DAY, 0, 900 * DAY),
        (900 * DAY, 3600, 900 * DAY - 3600),
        (3600, 7200, 0),
        (7200.4, 7199.9, 0),
    ],
)
def test_a_forecast_is_shorter_by_the_age_of_the_result(reader, seconds, elapsed, left):
    line = Line(OK, 'sda', 'ACME X1', 'endurance_used 9 %', 'EXAMPLE1', '1.0')
    found = read(reader, line, f"'sda_{TIME_LEFT}'={seconds}s;;;0;", elapsed=elapsed)

    assert found.facts['forecasts'] == {ENDURANCE: {'left': left}}


def test_a_drive_that_was_not_read_has_the_code_and_the_next_step_of_its_reason(reader):
    line = Line(
        UNKNOWN,
        'sda',
        '',
        Coded('no-permission', 'cannot be opened: Permission denied'),
        '',
        '',
    )
    facts = read(reader, line).facts

    assert (facts['code'], facts['model'], facts['serial']) == ('no-permission', None, None)
    assert facts['to_do'] and facts['findings'] == []


def test_a_drive_without_numbers_has_used_up_nothing(reader):
    found = read(reader, GREW)

    assert (found.used, found.age) == (None, None)


OWN, OTHER = "'sda_pending'=1;;;0;", 'total=1;;;0;'


@pytest.mark.parametrize(
    'values, has_some',
    [([], False), ([OWN], True), ([OTHER, OWN], True), ([OTHER, OTHER, OTHER], False)],
)
def test_perfdata_has_numbers_of_a_drive_wherever_they_stand(reader, values, has_some):
    assert reader.has_numbers([WORN], values) is has_some


def test_a_drive_in_standby_is_ok_with_a_note(reader):
    line = Line(OK, 'sda', 'ACME X1', 'in standby', 'EXAMPLE1', '1.0')
    facts = read(reader, line, notes=dated(NOW, 3600)).facts

    assert [each['code'] for each in facts['notes']] == ['result-old', 'asleep']
    assert (facts['action'], facts['notes'][1]['text']) == ('nothing', 'in standby')


def test_values_are_readings_with_limits_and_the_state_of_their_finding(reader):
    values = [
        "'sda_endurance_used'=97%;85;95;0;",
        "'sda_smart_status'=1;;;0;1",
        "'sdb_endurance_used'=1%;85;95;0;",
        "'sda_no_metric'=1;;;0;",
    ]
    readings = read(reader, WORN, *values).readings()

    assert [
        (each['metric'], each['value'], each['state'], each['judged']) for each in readings
    ] == [('endurance_used', 97, 'CRITICAL', True), ('smart_status', 'passed', 'OK', True)]


def test_a_reading_leaves_out_what_is_empty(reader):
    assert reader._reading('endurance_used', 97, '85;95', CRITICAL) == {
        'metric': 'endurance_used',
        'unit': '%',
        'source': 'perfdata',
        'judged': True,
        'state': 'CRITICAL',
        'warning': '85',
        'critical': '95',
        'value': 97,
    }
    assert reader._reading('crc_errors', 0, '', None) == {
        'metric': 'crc_errors',
        'source': 'perfdata',
        'judged': True,
        'state': 'OK',
        'value': 0,
    }


@pytest.mark.parametrize(
    'state, action, is_told', [(OK, 'nothing', False), (UNKNOWN, 'repair', True)]
)
def test_a_check_without_drives_is_a_row_with_what_to_do(reader, state, action, is_told):
    row = reader.row(
        'smart',
        state,
        'no drives',
        Origin('web1', now=NOW, handling=('host in downtime',)),
        BY_NAME['no-drives'],
    )

    assert (
        row.facts['to_do'].startswith('on the host: ')
        if is_told
        else row.facts['to_do'] == 'nothing'
    )
    assert {**row.facts, 'to_do': ''} == {
        'host': 'web1',
        'name': 'smart',
        'state': state.name,
        'why': 'no drives',
        'code': 'no-drives',
        'action': action,
        'to_do': '',
        'notes': (),
        'is_check': True,
        'handling': ['host in downtime'],
    }


@pytest.mark.parametrize(
    'handling, facts',
    [(None, {}), ((), {'handling': []}), (('soft state',), {'handling': ['soft state']})],
)
def test_how_a_problem_is_handled_is_a_fact_only_where_icinga_was_asked(handling, facts):
    assert handled(Origin('web1', handling=handling)) == facts


def test_metrics_in_a_sentence_are_written_as_words_the_longest_first(reader):
    assert reader.readable('endurance_time_left 3, xendurance_used') == (
        'endurance time left 3, xendurance_used'
    )


GREW_BESIDE = 'endurance_used 97 %, critical above 95; crc_errors grew by 14 in 24 h (212 to 226)'
LATER = 'pending 3, warning above 0; attribute 5 X failed: value 1, vendor threshold 5'


@pytest.mark.parametrize(
    'state, findings, expected',
    [
        (
            CRITICAL,
            GREW_BESIDE,
            [('endurance_used', CRITICAL, 'above-limit'), ('crc_errors', WARNING, 'growth')],
        ),
        (
            WARNING,
            'spare_available 15 %, warning below 16',
            [('spare_available', WARNING, 'below-limit')],
        ),
        (
            CRITICAL,
            LATER,
            [
                ('pending', CRITICAL, 'above-limit'),
                ('vendor_threshold', WARNING, 'attribute-failing'),
            ],
        ),
        (WARNING, 'self_test: failed at 4 h', [('self_test', WARNING, None)]),
        (WARNING, 'cannot be opened', []),
        (OK, 'endurance_used 9 %', []),
    ],
)
def test_findings_of_a_line_have_metric_state_and_code(reader, state, findings, expected):
    found = reader.alarms(WORN._replace(state=state, findings=findings))

    assert [(each.metric, each.state) for each in found] == [
        (metric, level) for metric, level, _ in expected
    ]
    assert [each.text for each in found] == (findings.split('; ') if expected else [])
    for each, (_, _, code) in zip(found, expected):
        assert each.code == (code or each.code) and each.code in BY_NAME


def test_a_finding_without_a_state_does_not_take_the_code_of_the_next_one():
    """A status that only the local configuration defines has no code of its own."""
    reader = Reader({**METRICS, 'door': METRICS['self_test']})
    found = reader.alarms(WORN._replace(findings='door: open; pending 3, critical above 2'))

    assert [(each.metric, each.state, each.code) for each in found] == [
        ('door', CRITICAL, ''),
        ('pending', CRITICAL, 'above-limit'),
    ]


def test_a_metric_that_is_not_known_weighs_least(reader):
    known, unknown = (
        reader.weight(metric, WARNING, 3, '0') for metric in ('pending', 'no_such_metric')
    )

    assert known < unknown
    assert unknown == reader.weight('no_such_metric', WARNING, 3, '0', 0, False)
    bad, worse = (reader.weight('smart_status', CRITICAL, number, '1') for number in (0, 5))
    assert bad == worse


def test_a_drive_without_a_name_has_a_dash(reader):
    assert read(reader, WORN._replace(name='')).facts['name'] == '-'


def test_a_drive_that_wears_out_soon_is_to_be_ordered_with_its_date(reader):
    line = Line(OK, 'sda', 'ACME X1', 'endurance_used 90 %', 'EXAMPLE1', '1.0')
    facts = read(reader, line, f"'sda_{TIME_LEFT}'={10 * DAY}s;;;0;").facts

    assert (facts['action'], facts['why']) == ('order', 'endurance_used: used up 2023-11-24')


@pytest.mark.parametrize('value, word', [(1, 'good'), (0.5, 'warning'), (0, 'bad'), (0.25, 0.25)])
def test_the_number_of_a_verdict_is_shown_as_its_word_if_it_has_one(reader, value, word):
    readings = read(reader, WORN, f"'sda_self_test'={value};;;0;1").readings()

    assert [each['value'] for each in readings] == [word]
