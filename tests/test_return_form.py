"""explain --rma: the text for a vendor's return form, from recorded reports and from a drive that is read."""
from __future__ import annotations

import json
import time

import pytest
from conftest import drive, drive_path, run
from fake_smartctl import FakeSmartctl

from smart_attributes.errors import Coded
from smart_attributes.model import Device, Identity, Judgement, Reading, Source, State, Verdict
from smart_attributes.output import return_form
from smart_attributes.reading import smartctl_calls


def form(name: str, *arguments: str) -> str:
    done = run('explain', '--rma', '--no-history', '--report', drive_path(name), *arguments)
    assert done.code == 0
    return done.text


def test_a_form_has_the_drive_the_findings_and_smartctls_own_lines():
    """A vendor asks for these, and for nothing about the host."""
    lines = form('hgst-failed').splitlines()

    assert lines[:7] == ['Model:         HGST HUS724020ALA640', 'Serial number: EXAMPLE0007',
                         'Firmware:      MF6OAA70', 'WWN:           -', 'Power-on time: 89379 h',
                         'State:         CRITICAL', f'Date:          {time.strftime("%Y-%m-%d", time.gmtime())}']
    assert '  reported_uncorrect 12038, critical above 100' in lines
    assert '  "smart_status": {"passed": false}' in lines
    rows = [json.loads(line)['id'] for line in lines if line.startswith('  {')]
    assert rows == [5, 9, 197, 198]


@pytest.mark.parametrize('name, line', [
    ('seagate-sas-healthy', '  SMART Health Status: OK'), ('seagate-sas-healthy', '  Elements in grown defect list: 3'),
    ('seagate-sas-healthy', '  no alert: the state of this drive is OK'),
    ('nvme-worn', '  endurance_used 91 %, warning above 85')])
def test_a_form_is_made_of_each_kind_of_report(name, line):
    """Text, JSON, SAS and NVMe."""
    assert line in form(name).splitlines()


@pytest.mark.parametrize('name', ['hgst-failed', 'seagate-sas-healthy'])
def test_a_form_hides_serial_numbers_if_asked(name):
    """For a first mail to a forum, say."""
    text = form(name, '--hide-serial')

    assert 'EXAMPLE' not in text
    assert 'Serial number: -' in text


def test_a_form_quotes_the_drive_that_was_read(tmp_path):
    """smartctl's call is not part of it: it names this machine."""
    smartctl = FakeSmartctl(tmp_path / 'bin')
    smartctl.answers(smartctl_calls.read_arguments('/dev/sda'), drive('seagate-exos-failing'))
    text = run('explain', '--rma', '-d', '/dev/sda', '-p', smartctl.path, '--nosudo', '--no-history').text

    assert 'Serial number: EXAMPLE0006' in text
    assert '"smart_status": {"passed": true}' in text
    assert str(tmp_path) not in text


READ = Verdict(Device('/dev/sda', name='sda'), Identity('ATA', 'ACME X1', 'FW1', 'EXAMPLE1', 'EXAMPLE2'), State.OK, (
    Judgement(Reading('temperature', 31, 'C', Source(attribute=194)), State.OK),
    Judgement(Reading('power_on_time', None, 's', Source('another log')), State.OK),
    Judgement(Reading('power_on_time', 5000 * 3600, 's', Source(attribute=9)), State.OK)))
FAILING = READ._replace(state=State.CRITICAL, judgements=(*READ.judgements, Judgement(
    Reading('crc_errors', 70, '', Source(attribute=199)), State.WARNING, against=Coded('limit', 'above 50'))))
JSON = {'ata_smart_self_test_log': {'a': 1}, 'power_on_time': {'hours': 5000}, 'smartctl': {'version': [7, 4]},
        'smart_status': {'passed': True}, 'nvme_smart_health_information_log': {'b': 2}, 'temperature': {'current': 31},
        'ata_smart_attributes': {'table': [{'id': number} for number in (1, 5, 9, 187, 194, 197, 198, 199)]}}
ROWS = """smartctl 7.4 2023-08-01 r5530
Device is:        In smartctl database
SMART overall-health self-assessment test result: PASSED
  1 Raw_Read_Error_Rate     0x000f   100
  5 Reallocated_Sector_Ct   0x0033   100
  9 Power_On_Hours          0x0032   100
194 Temperature_Celsius     0x0022   031
199 UDMA_CRC_Error_Count    0x003e   100
# 1  Short offline       Completed without error       00%
"""


def after(title: str, verdict: Verdict = READ, said: str = '', hide_serial: bool = False) -> list[str]:
    """Return the lines of a part of the form."""
    lines = return_form.lines(verdict, said, '2027-01-31', hide_serial)
    rest = lines[lines.index(title) + 1:]
    return rest[:rest.index('')] if '' in rest else rest


def test_a_form_begins_with_the_drive():
    assert return_form.lines(READ, '', '2027-01-31', False)[:9] == [
        'Model:         ACME X1', 'Serial number: EXAMPLE1', 'Firmware:      FW1', 'WWN:           EXAMPLE2',
        'Power-on time: 5000 h', 'State:         OK', 'Date:          2027-01-31', '', 'Findings:']
    assert return_form.lines(READ._replace(judgements=()), '', '2027-01-31', True)[1:5] == [
        'Serial number: -', 'Firmware:      FW1', 'WWN:           -', 'Power-on time: -']


@pytest.mark.parametrize('verdict, found', [
    (READ, ['  no alert: the state of this drive is OK']), (FAILING, ['  crc_errors 70, warning above 50']),
    (READ._replace(judgements=(), state=State.UNKNOWN, problem='no answer', code='timeout'), ['  no answer']),
    (READ._replace(judgements=(), state=State.UNKNOWN, problem='x' * 900), [f'  {"x" * 297}...'])])
def test_a_form_has_all_alerts_or_the_reason_for_none(verdict, found):
    assert after('Findings:', verdict) == found


@pytest.mark.parametrize('verdict, quoted', [
    (READ, ['{"id": 5}', '{"id": 9}', '{"id": 187}', '{"id": 197}', '{"id": 198}']),
    (FAILING, ['{"id": 5}', '{"id": 9}', '{"id": 187}', '{"id": 197}', '{"id": 198}', '{"id": 199}'])])
def test_of_json_the_parts_about_health_are_quoted_in_a_fixed_order(verdict, quoted):
    """smartctl's call, which is above its output, is not quoted."""
    assert after('smartctl reports:', verdict, f'/usr/sbin/smartctl -x\n{json.dumps(JSON)}') == [
        '  "smartctl": {"version": [7, 4]}', '  "smart_status": {"passed": true}', *(f'  {row}' for row in quoted),
        '  "nvme_smart_health_information_log": {"b": 2}', '  "power_on_time": {"hours": 5000}',
        '  "ata_smart_self_test_log": {"a": 1}']


@pytest.mark.parametrize('verdict, numbers', [(READ, [5, 9]), (FAILING, [5, 9, 199])])
def test_of_text_the_lines_about_health_are_quoted(verdict, numbers):
    quoted = after('smartctl reports:', verdict, ROWS)

    assert [line.split()[0] for line in quoted] == ['smartctl', 'SMART', *map(str, numbers), '#']


def test_a_long_report_is_cut_off():
    lines = after('smartctl reports:', said=f'# 1 {"x" * 900}\n' * 99)

    assert (len(lines), len(lines[0])) == (return_form.LINES, len('  ') + return_form.LONG)


def test_a_report_without_such_lines_says_so():
    assert after('smartctl reports:', said='Device is:  In smartctl database\n') == ['  nothing about this drive']


HOSTILE = {'json': '{"smart_status": "\\u001b[31m|`rm`", "ata_smart_attributes": {"table": [7, {"id": []}]}}',
           'other': '{"ata_smart_attributes": [1], "smartctl": null}', 'number': '{"smart_status": 1e999}',
           'list': '[1]', 'cut': '{"smart_status": {', 'deep': '{"a":' * 100_000,
           'text': '  5 \x1b[31mA\x07 |\n' * 9999, 'table': '{"ata_smart_attributes": {"table": 7}}', 'nothing': ''}


@pytest.mark.parametrize('name', HOSTILE)
def test_a_hostile_report_stays_text(name):
    """One line each, without escape sequences, and not too many."""
    verdict = Verdict(Device('/dev/sda', name='sda'), Identity(model='\x1b[31mACME`', serial='A|B'), State.UNKNOWN,
                      problem='no answer')
    lines = return_form.lines(verdict, HOSTILE[name], '2027-01-31', False)

    assert len(lines) <= 60
    assert all(line.isprintable() and len(line) < 700 and not set('|`') & set(line) for line in lines)
