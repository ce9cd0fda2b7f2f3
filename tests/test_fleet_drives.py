"""What the plugin's lines and perfdata tell a fleet is what triage says of the same drives."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT
from test_plugin_lines import recorded, simulated  # noqa: F401  fixtures

from smart_attributes.errors import Coded
from smart_attributes.fleet import services
from smart_attributes.fleet.plugin_output import Origin, Reader
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.model import State
from smart_attributes.output import plugin
from smart_attributes.work.actions import READ, SEARCH

pytestmark = pytest.mark.xdist_group('lines')  # the fixtures of another file


@pytest.fixture(scope='module')
def reader() -> Reader:
    return Reader(SpecDatabase(json.loads((ROOT / 'attributes.json').read_text())).metrics)


@pytest.mark.parametrize('drives', ['recorded', 'simulated'])
def test_what_to_do_and_what_is_wrong_are_what_triage_says(reader, drives, request):
    """Of every recorded and every simulated drive: from the line alone."""
    for text, documents in request.getfixturevalue(drives):
        found = services.plugin_text(text)
        assert found is not None
        told = reader.drives(found.lines, text.splitlines()[-1][2:].split(' '), Origin('h'))
        wanted = {drive['name']: drive for drive in documents}

        for drive in told:
            whole = wanted[drive.facts['name']]
            for key in ('action', 'why'):
                assert drive.facts.get(key) == whole[key], whole['name']
            keys = ('metric', 'text', 'code')
            assert [[each[key] for key in keys] for each in drive.facts.get('findings', ())] == [
                [each[key] for key in keys] for each in whole['findings']
            ]
            assert set(drive.facts.get('forecasts', {})) <= set(whole.get('forecasts', {}))


@pytest.mark.parametrize('drives', ['recorded', 'simulated'])
def test_each_reading_has_its_state(reader, drives, request):
    """As far as findings tell it: a verdict without words about its state has at least that of
    the next one.
    """
    for text, documents in request.getfixturevalue(drives):
        found = services.plugin_text(text)
        assert found is not None
        wanted = {
            drive['name']: {
                each['metric']: each['state'] for each in drive['readings'] if each['state'] != 'OK'
            }
            for drive in documents
        }
        for line in found.lines:
            for metric, state, *_ in reader.alarms(line):
                assert metric in wanted[line.name], (line, metric)
                assert state.urgency <= max(
                    State[each['state']].urgency
                    for drive in documents
                    if drive['name'] == line.name
                    for each in drive['readings']
                    if each['metric'] == metric
                )


@pytest.mark.parametrize(
    'words, action',
    [
        (Coded('no-such-device', 'x'), SEARCH),
        ('cannot be opened', READ),
        (Coded('empty-slot', 'x'), SEARCH),
        ('is not there', READ),
    ],
)
def test_the_drive_of_a_line_is_looked_for_where_it_is_gone(reader, words, action):
    """As the host itself says."""
    (told,) = reader.drives([plugin.Line(State.UNKNOWN, 'sda', '', words)], [], Origin('web1'))

    assert told.facts['action'] == action


GROWN = (
    'crc_errors grew by 14 in 24 h (212 to 226): check cable and backplane, warning above 0 in 24 h'
)
FAILED = 'attribute 5 Reallocated_Sector_Ct failed: value 1, vendor threshold 5; pending 9, critical above 8'


@pytest.mark.parametrize(
    'findings, state, alarms',
    [
        (
            'pending 16, critical above 8; offline_uncorrectable 1, warning above 0',
            'CRITICAL',
            [('pending', 'CRITICAL'), ('offline_uncorrectable', 'WARNING')],
        ),
        (
            'firmware C402, fixed in C405: lost; update it; self_test: failure',
            'CRITICAL',
            [('firmware_advisory', 'CRITICAL'), ('self_test', 'WARNING')],
        ),
        (FAILED, 'CRITICAL', [('vendor_threshold', 'CRITICAL'), ('pending', 'CRITICAL')]),
        ('cannot be opened: pending 16, critical above 8', 'UNKNOWN', []),
        (GROWN, 'WARNING', [('crc_errors', 'WARNING')]),
    ],
)
def test_findings_are_alarms_of_metrics(reader, findings, state, alarms):
    """What could not be read has none; the first has the state of the drive, and none is higher
    than surely known.
    """
    line = plugin.Line(State[state], 'sda', 'ACME X1', findings)

    assert [(each.metric, each.state.name) for each in reader.alarms(line)] == alarms
