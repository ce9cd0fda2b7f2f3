"""What explain prints of a drive, line by line."""
from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ROOT

from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import (
    AttributeRow,
    Device,
    Forecast,
    Identity,
    Judgement,
    Place,
    Reading,
    Report,
    Source,
    State,
    Verdict,
)
from smart_attributes.output import explain

DATABASE = SpecDatabase(json.loads((ROOT / 'attributes.json').read_text()))
DAY = 86400
RULE = {'within': '24h', 'warning': 0, 'for': '7d', 'why': 'each one is a failed transfer'}
LIMITS = Thresholds({'metrics': {
    'endurance_used': {'warning': '85', 'critical': '95', 'why': 'rated life'},
    'crc_errors': {'growth': [RULE, {'within': '1h', 'critical': 9, 'for': '1d'}]},
    'self_test': {'warning': '0', 'why': 'a test failed', 'aged': {'after': '365d', 'why': 'long ago', 'warning': '1'}},
    'pending': {'why': 'no limit'}}})
SDA = Device('/dev/sda', name='sda')
X1 = Identity('ATA', 'ACME X1', 'FW1', 'SERIAL1', '5000c500a1b2c3d4', 0)


def reading(metric: str, number: Any = 1, unit: str = '', **more: Any) -> Reading:
    return Reading(metric, number, unit, more.pop('source', Source('log')), **more)


WORN = Judgement(reading('endurance_used', 86, '%', source=Source(attribute=233)), State.WARNING, '85', '95',
                 'above 85')
CRC = Judgement(reading('crc_errors', 3), State.OK)
READINGS = (WORN, CRC, Judgement(reading('self_test', 0, verdict='passed', state=State.OK, quiet=400 * DAY), State.OK),
            Judgement(reading('temperature', 31, 'C', judged=False), State.OK),
            Judgement(reading('pending', None, judged=False, unknown='255 means no value'), State.OK),
            Judgement(reading('pending', 2), State.OK, critical='8'))
VERDICT = Verdict(SDA, X1, State.WARNING, READINGS, notes=('a note',), entry='ACME X1',
                  place=Place('slot 7', '/sys/x/locate', ('md0', 'vg0')))
REPORT = Report(X1, attributes=(AttributeRow(5, 'Reallocated_Sector_Ct', 100, 100, 10, True, '', '0'),
                                AttributeRow(250, 'Odd_Thing', None, None, None, None, '', '1 (2 3)')))
PLACED = ['bay         slot 7', 'locate LED  on: echo 1 > /sys/x/locate; off: echo 0', 'in use by   md0',
          'in use by   vg0']
NOBODY = Verdict(Device('/dev/bus/0', 'megaraid,3', 'bus_0_megaraid_3'), Identity(), State.UNKNOWN,
                 problem='cannot be opened', code='no-such-device',
                 forecasts={'endurance_used': Forecast(0, 0, 0, is_estimate=False)})


@pytest.mark.parametrize('verdict, first, action', [
    pytest.param(VERDICT, '/dev/sda  ACME X1  serial SERIAL1  WARNING',
                 'What to do: order a replacement. Reason: endurance_used 86 % (warning above 85)', id='alert'),
    pytest.param(NOBODY, 'megaraid,3@/dev/bus/0  UNKNOWN',
                 'What to do: look for the drive. Reason: [no-such-device] cannot be opened', id='not-read'),
    pytest.param(VERDICT._replace(state=State.OK, judgements=(CRC,)), '/dev/sda  ACME X1  serial SERIAL1  OK',
                 'What to do: nothing. Status: health status not reported', id='ok'),
    pytest.param(Verdict(SDA, X1, State.OK, problem='standby'), '/dev/sda  ACME X1  serial SERIAL1  OK',
                 'What to do: nothing. Status: standby', id='standby'),
    pytest.param(VERDICT._replace(state=State.OK, judgements=(), forecasts={
        'endurance_used': Forecast(60 * DAY, 60 * DAY, 60 * DAY, is_estimate=False)}),
        '/dev/sda  ACME X1  serial SERIAL1  OK',
        'What to do: order a replacement now. Reason: endurance_used: used up 1970-03-02 '
        '(between 1970-03-02 and 1970-03-02)', id='wears-out')])
def test_the_head_names_the_drive_and_what_to_do_about_it_and_why(verdict, first, action):
    assert explain.head(verdict, hide_serial=False, now=0) == [first, action]


def test_the_head_leaves_out_a_hidden_serial_number():
    assert explain.head(VERDICT, hide_serial=True, now=0)[0] == '/dev/sda  ACME X1  WARNING'


def test_an_alert_has_its_value_its_limit_its_source_and_the_reason():
    grown = CRC._replace(state=State.CRITICAL, growth='crc_errors grew by 3 in 2 h', growth_against='above 0 in 24 h',
                         reason='check the cable', origin='site.json')
    failed = Judgement(reading('self_test', 0, verdict='read failure', state=State.WARNING), State.WARNING,
                       origin='log', reason='a test failed')

    assert list(explain._alerts(VERDICT._replace(judgements=(
        WORN._replace(reason='rated life', origin='default.json'), grown, failed, CRC)))) == [
        'endurance_used  86 %  warning above 85  attribute 233', '  rated life (default.json)',
        'crc_errors      3  critical above 0 in 24 h  log', '  crc_errors grew by 3 in 2 h',
        '  check the cable (site.json)', 'self_test       read failure  warning  log', '  a test failed']


def test_the_details_name_the_drive_and_its_place():
    assert explain.details(VERDICT, hide_serial=False) == [
        'device      /dev/sda, name sda', 'model       ACME X1, firmware FW1, type ssd',
        'serial      SERIAL1, WWN 5000c500a1b2c3d4', 'entry       ACME X1', *PLACED]


def test_the_details_of_an_unknown_drive_have_dashes():
    assert explain.details(NOBODY, hide_serial=False) == [
        'device      megaraid,3@/dev/bus/0, name bus_0_megaraid_3', 'model       -, firmware -, type -',
        'serial      -, WWN -', 'entry       none; only metrics that every drive reports in the same way',
        'wears out   endurance_used: used up']
    assert not [line for line in explain.details(VERDICT, hide_serial=True) if 'SERIAL1' in line or 'WWN' in line]


def test_each_reading_has_its_state_its_source_and_its_limits():
    assert list(explain._reading_rows(VERDICT)) == [
        ('WARNING', 'endurance_used', '86 %', 'attribute 233', 'warning 85, critical 95'),
        ('OK', 'crc_errors', '3', 'log', 'none'), ('OK', 'self_test', 'passed', 'log', 'none'),
        ('-', 'temperature', '31 C', 'log', 'not judged'),
        ('-', 'pending', 'unknown', 'log', 'not judged: 255 means no value'),
        ('OK', 'pending', '2', 'log', 'critical 8')]


def test_each_limit_has_its_origin_and_its_reason():
    assert list(explain._limit_rows(VERDICT, LIMITS)) == [
        ('endurance_used', 'default.json', 'rated life'),
        ('crc_errors', 'default.json',
         'growth within 24h: warning above 0, alerts for 7d: each one is a failed transfer'),
        ('crc_errors', 'default.json', 'growth within 1h: critical above 9, alerts for 1d'),
        ('self_test', 'default.json', 'a test failed'), ('self_test', 'default.json, aged', 'long ago'),
        ('pending', 'default.json', 'no limit')]


def test_an_override_of_a_drive_is_a_second_origin():
    site = {'overrides': [{'for': {'family': 'ACME X1'}, 'why': 'w', 'metrics': {'endurance_used': {'warning': '70'}}}]}
    limits = Thresholds({'metrics': {'endurance_used': {'warning': '85', 'critical': '95', 'why': 'rated life'}}},
                        [('site.json', site)])
    [row] = explain._limit_rows(VERDICT._replace(judgements=(WORN,)), limits)

    assert row[1].startswith('default.json, site.json')


@pytest.mark.parametrize('rule, words', [
    ({'within': '1h', 'for': '1d'}, 'growth within 1h: no limit, alerts for 1d'),
    ({'within': '1h', 'for': '1d', 'warning': None, 'critical': 5},
     'growth within 1h: critical above 5, alerts for 1d'),
    ({'within': '1h', 'for': '1d', 'warning': 0, 'critical': 5, 'why': 'w'},
     'growth within 1h: warning above 0, critical above 5, alerts for 1d: w')])
def test_a_rule_of_growth_is_said_in_one_line(rule, words):
    assert explain._growth(rule) == words


def test_attributes_that_no_reading_uses_are_listed():
    known = Identity('ATA', 'INTEL SSDSC2BB240G4', rotation=0)

    assert list(explain._unused_rows(VERDICT, REPORT._replace(identity=known), DATABASE)) == [
        ('250', 'Odd_Thing', '-', '1 (2 3)')]
    assert next(explain._unused_rows(VERDICT, REPORT, DATABASE)) == ('5', 'Reallocated_Sector_Ct', '100', '0')


def test_everything_is_printed_under_its_title(capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '140')
    explain.print_drive(VERDICT, REPORT, DATABASE, LIMITS, hide_serial=True, is_verbose=True)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    assert lines[1].startswith('What to do: ')
    assert [line for line in lines if line in ('readings', 'limits', 'unmapped attributes')] == [
        'readings', 'limits', 'unmapped attributes']
    assert [line.split() for line in lines if line.startswith(('state ', 'metric ', 'id '))] == [
        ['state', 'metric', 'value', 'source', 'limit'], ['metric', 'set', 'by', 'why'], ['id', 'name', 'value', 'raw']]
    assert any(line.split() == ['250', 'Odd_Thing', '-', '1', '(2', '3)'] for line in lines)
    assert lines[lines.index('readings') - 1] == '' and lines[-1] == 'note: a note'


@pytest.mark.parametrize('report, is_verbose', [(REPORT, False), (None, True)], ids=['brief', 'no-report'])
def test_tables_need_verbosity_and_a_report(report, is_verbose, capsys, monkeypatch):
    """Half of the lines used to be about limits that no one had asked for."""
    monkeypatch.setenv('COLUMNS', '140')
    explain.print_drive(VERDICT, report, DATABASE, LIMITS, hide_serial=True, is_verbose=is_verbose)
    lines = capsys.readouterr().out.splitlines()

    assert lines[2:] == ['', *explain._alerts(VERDICT), '', *explain.details(VERDICT, hide_serial=True), 'note: a note']


def test_a_table_without_rows_is_left_out(capsys):
    bare = Verdict(SDA, X1, State.OK)
    explain.print_drive(bare, Report(X1), DATABASE, LIMITS, hide_serial=True, is_verbose=True)

    assert capsys.readouterr().out.splitlines()[2:] == ['', *explain.details(bare, hide_serial=True)]


def test_faults_of_the_run_are_printed_before_the_drives(capsys):
    explain.print_faults(['slot 3 was not read', 'site.json: ' + 'x' * 600])
    first, second = capsys.readouterr().out.splitlines()

    assert first == 'UNKNOWN: slot 3 was not read'
    assert second.startswith('UNKNOWN: site.json: xxx') and len(second) == len('UNKNOWN: ') + 500
