"""explain --rma: the text for a vendor's return form, from recorded reports and from a drive that is read."""
from __future__ import annotations

import json
import time

import pytest
from conftest import drive, drive_path, run
from fake_smartctl import FakeSmartctl

from smart_attributes.model import Device, Identity, State, Verdict
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
    assert '  pending 86, critical above 8' in lines
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
