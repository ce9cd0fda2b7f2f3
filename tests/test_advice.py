"""What to do about a drive, and by when: the same date in triage, page and plan."""
from __future__ import annotations

import json
import re
from typing import Any

import pytest
from conftest import ROOT, run
from test_severity import FAILED, drive, found

from smart_attributes.constants import DAY, YEAR
from smart_attributes.errors import Coded
from smart_attributes.fleet.plugin_output import Origin, Reader
from smart_attributes.fleet.summary import UNDATED, due
from smart_attributes.fleet.triage_documents import Document, drives
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.model import Device, Forecast, Group, Identity, Member, Place, Replacement, State, Verdict
from smart_attributes.output import advice, json_document, triage_table
from smart_attributes.output.packed_document import Packer
from smart_attributes.output.plugin import Line
from smart_attributes.redundancy import replacement

NOW = 1_795_348_800  # 2026-11-22
HEALTHY = Verdict(Device('/dev/sda', name='sda'), Identity('ATA', 'ACME X1'), State.OK)
SOON, FAR = (Forecast(days * DAY, 0, 9, is_estimate=False) for days in (80, 400))
METRICS = SpecDatabase(json.loads((ROOT / 'attributes.json').read_text())).metrics
WORN = found('endurance_used', 86, State.WARNING, '85')
ORDERS = [
    # days left, what to do, the quarter of the plan
    pytest.param((192,), 'order a replacement by 2027-03-04', '2027-Q1', id='192-days'),
    pytest.param((111,), 'order a replacement by 2026-12-13', '2026-Q4', id='111-days'),
    pytest.param((91,), 'order a replacement by 2026-11-23', '2026-Q4', id='tomorrow'),
    pytest.param((90,), 'order a replacement now', 'now', id='today'),
    pytest.param((3,), 'order a replacement now', 'now', id='too-late'),
    pytest.param((0,), 'order a replacement now', 'now', id='used-up'),
    pytest.param((900, 192), 'order a replacement by 2027-03-04', '2027-Q1', id='the-first-of-two'),
    pytest.param((), 'order a replacement', UNDATED, id='no-forecast-no-date'),
    pytest.param((4000,), 'order a replacement', UNDATED, id='beyond-any-plan')]


def lasting(days: tuple[int, ...], verdict: Verdict) -> Verdict:
    metrics = ('endurance_used', 'spare_available')
    return verdict._replace(forecasts={metric: Forecast(each * DAY, each * DAY / 2, each * DAY * 2, False)
                                       for metric, each in zip(metrics, days)})


def of_document(given: dict[str, Any]) -> dict[str, Any]:
    """Return what a fleet makes of a drive of `triage --json`."""
    packer = Packer()
    (only,) = drives(Document('db1', given, NOW), Reader(METRICS, packer), packer, NOW)
    return only.facts


@pytest.mark.parametrize('days, to_do, quarter', ORDERS)
def test_an_order_names_its_date_everywhere(days, to_do, quarter):
    """The forecast minus the lead time; "within 90 days" stood on drives that last 192."""
    worn = lasting(days, drive('sda', WORN))
    shown = json_document.document([worn], (), False, NOW)
    (row,) = triage_table.rows([worn], False, NOW)
    facts = of_document(shown)

    assert shown['drives'][0]['to_do'] == row.what[-1] == facts['to_do'] == to_do
    assert shown['drives'][0]['action'] == facts['action'] == advice.ORDER
    assert due(facts, NOW) == quarter
    assert shown['drives'][0]['order_by'] == (
        None if quarter == UNDATED else '2026-11-22' if quarter == 'now' else to_do.split()[-1])


@pytest.mark.parametrize('days, to_do', [each.values[:2] for each in ORDERS if len(each.values[0]) == 1])
def test_a_fleet_that_icinga_tells_of_names_the_same_date(days, to_do):
    """By endurance_time_left in perfdata; how old the check is counts."""
    reader = Reader(METRICS, Packer())
    line = Line(State.WARNING, 'sda', 'ACME X1', 'endurance_used 86 %, warning above 85')
    values = [f"'sda_endurance_time_left'={(days[0] + 5) * DAY}s;;;0;"]
    (told,) = reader.drives([line], values, Origin('db1', (), 5 * DAY, NOW))

    assert told.facts['to_do'] == to_do
    assert (told.facts['order_by'] is None) == (to_do == advice.ORDER)


@pytest.mark.parametrize('days, action', [(91, advice.NOTHING), (90, advice.ORDER)])
def test_a_drive_that_is_ok_is_ordered_when_its_date_has_come(days, action):
    """With the reason: the date on which it is used up."""
    told = advice.advice(lasting((days,), drive('sda')), NOW)

    assert told.action == action
    assert told.why == ('endurance_used: used up 2027-02-20 (between 2027-01-06 and 2027-05-21)' if days == 90 else '')


@pytest.mark.parametrize('left', [1e29, -1e29, 10 * YEAR + 1])
def test_a_forecast_that_is_no_date_gives_none(left):
    """Documents of other hosts may hold any number."""
    by = advice.order_by([left], NOW)

    assert by in (None, NOW)
    assert re.fullmatch('order a replacement( now)?', advice.due(advice.ORDER, [left], NOW).to_do)


def test_both_halves_of_a_mirror_are_not_to_be_replaced_at_once():
    """Whoever pulled both removed the last copy."""
    mirror = Group('md0', 'md0', 'md', 'raid1', 2, members=tuple(
        Member(f'{name}1', 'in_sync', slot, (name,)) for slot, name in enumerate(('sda', 'sdb'))))
    halves = [drive(name, FAILED)._replace(place=Place(disks=(name,))) for name in ('sda', 'sdb')]
    found = replacement.machine([mirror], advice.drives(halves, NOW))
    shown = json_document.document(replacement.with_replacements(halves, found), (), False, NOW)

    assert [each['to_do'] for each in shown['drives']] == [advice.COPY, advice.LATER]
    assert [due(of_document({**shown, 'drives': [each]}), NOW) for each in shown['drives']] == ['now'] * 2


@pytest.mark.parametrize('action, label, wanted', [
    (advice.REPLACE, 'next', advice.REPLACE), (advice.REPLACE, 'copy first', advice.COPY),
    (advice.REPLACE, 'last good copy', advice.KEEP), (advice.REPLACE, 'wait', advice.LATER),
    (advice.NOTHING, 'next', advice.REJOIN), (advice.WATCH, 'last good copy', advice.KEEP),
    (advice.NOTHING, 'wait', advice.NOTHING), (advice.WATCH, 'copy first', advice.WATCH),
    (advice.ORDER, 'last good copy', advice.ORDER), (advice.READ, 'next', advice.READ)])
def test_the_groups_on_a_drive_change_what_to_do_about_it(action, label, wanted):
    assert advice.in_its_groups(action, label) == wanted


def test_the_reason_of_the_groups_stands_behind_that_of_the_drive():
    apart = drive('sda', FAILED)._replace(replacement=Replacement('wait', Coded('group-rebuilding', 'md0 rebuilds')))

    assert advice.advice(apart, NOW).why == f'{advice.advice(drive("sda", FAILED), NOW).why}; md0 rebuilds'
    assert advice.advice(apart._replace(state=State.OK, judgements=()), NOW).why == 'md0 rebuilds'


def test_a_drive_of_no_array_is_replaced_now():
    """Nothing has to be checked before."""
    assert advice.advice(drive('sda', FAILED), NOW).due.to_do == 'replace now'


def test_triage_at_a_terminal_shows_the_date_of_triage_json():
    """The recorded drive lasts some months by its use and age."""
    report = str(ROOT / 'tests/reports/intel-worn.json')
    (shown,) = json.loads(run('triage', '--json', '--report', report).text)['drives']

    assert shown['forecasts']['endurance_used']['left'] > advice.LEAD_TIME
    assert f'; order a replacement by {shown["order_by"]}' in run('triage', '--report', report).text


@pytest.mark.parametrize('verdict, action, why', [
    (HEALTHY, advice.NOTHING, ''), (HEALTHY._replace(forecasts={'endurance_used': FAR}), advice.NOTHING, ''),
    (HEALTHY._replace(forecasts={'endurance_used': SOON, 'spare_available': SOON}), advice.ORDER,
     'endurance_used: used up 2027-02-10 (between 2026-11-22 and 2026-11-22); '
     'spare_available: used up 2027-02-10 (between 2026-11-22 and 2026-11-22)'),
    (HEALTHY._replace(problem='is asleep', code='asleep'), advice.NOTHING, ''),
    (HEALTHY._replace(problem='is silent', code='timeout', state=State.UNKNOWN), advice.READ, 'is silent'),
    *((HEALTHY._replace(problem='is not there', code=code, state=State.UNKNOWN), advice.SEARCH, 'is not there')
      for code in sorted(advice.GONE))])
def test_what_to_do_follows_from_state_code_and_forecasts(verdict, action, why):
    told = advice.advice(verdict, NOW)

    assert (told.action, told.why) == (action, why)


@pytest.mark.parametrize('alarms, action', [
    ([('reallocated', State.WARNING)], advice.WATCH), ([('endurance_used', State.WARNING)], advice.ORDER),
    ([('reallocated', State.WARNING), ('crc_errors', State.CRITICAL)], advice.CABLE),
    ([('logged_interface_errors', State.WARNING)], advice.CABLE),
    ([('temperature', State.CRITICAL), ('firmware_advisory', State.WARNING)], advice.UPDATE),
    ([('pending', State.CRITICAL), ('crc_errors', State.WARNING)], advice.REPLACE)])
def test_of_several_findings_the_most_urgent_action_is_taken(alarms, action):
    assert advice.of_alarms(alarms) == advice.of_alarms(alarms[::-1]) == action


def test_only_what_is_to_be_ordered_has_a_date():
    assert advice.due(advice.WATCH, [10 * DAY], NOW) == (advice.WATCH, None)
