"""--max-output: nothing is cut within a value, and the series of a graph do not come and go with states or numbers."""
from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

import pytest
from conftest import ROOT, Result, drive, perfdata, run

from smart_attributes.faces import budget, lines, plugin
from smart_attributes.faces import perfdata as perfdata_of
from smart_attributes.faces.perfdata import OLD
from smart_attributes.knowledge.specs import SpecDatabase
from smart_attributes.model import Device, Identity, Judgement, Reading, Source, State, Verdict

ROLES = SpecDatabase(json.loads((ROOT / 'attributes.json').read_text())).roles
REPORTS = ('seagate-exos-failing', 'intel-s3500-healthy', 'nvme-worn', 'wd-gold-healthy')
TIME_LEFT = 'endurance_time_left'
COUNTERS = (5, 187, 197, 198, 199)


def fleet(folder: Path, drives: int, chance: random.Random, reports: Tuple[str, ...] = REPORTS) -> Path:
    """Write recordings of drives with random numbers: healthy, worn and failing ones."""
    folder.mkdir(exist_ok=True)
    for number in range(drives):
        report = json.loads(drive(reports[number % len(reports)]))
        report['serial_number'] = f'EXAMPLE{number:04}'
        _vary(report, chance)
        (folder / f'sd{number:03}.json').write_text(json.dumps(report))
    return folder


def _vary(report: Dict[str, Any], chance: random.Random) -> None:
    for row in report.get('ata_smart_attributes', {}).get('table', ()):
        if row['id'] in COUNTERS:
            row['raw'] = dict.fromkeys(('value', 'string'), chance.choice((0, 0, 7, 900, 65000)))
            row['raw']['string'] = str(row['raw']['value'])
    log = report.get('nvme_smart_health_information_log')
    if log:
        log.update(percentage_used=chance.choice((0, 4, 91, 155)), media_errors=chance.choice((0, 5000)))
    report['smart_status']['passed'] = chance.random() > 0.2


def series(result: Result) -> List[str]:
    return sorted(perfdata(result.text))


def metrics(labels: List[str]) -> Set[str]:
    """Return the metrics of labels such as sd004_temperature."""
    return {label.partition('_')[2] for label in labels}


@pytest.mark.parametrize(('needed', 'limit', 'kept'), [
    ({}, 8000, set()),
    ({'temperature': 3000, 'smart_status': 3000, 'pending': 3000}, 8000, {'smart_status'}),
    ({'temperature': 2500, 'smart_status': 2500, 'pending': 2500}, 8000, {'smart_status', 'temperature'}),
    ({'smart_status': 5600, 'endurance_used': 5400}, 8000, {'endurance_used'}),
    ({'smart_status': 5600}, 8000, set()),
    ({'smart_status': 5600}, 65000, {'smart_status'}),
    ({OLD: 3000, 'a_role_of_a_site': 2600, 'host_written': 2600}, 8000, {'host_written', 'a_role_of_a_site'}),
    ({'crc_errors': 5000, 'pending': 5000}, 8000, {'pending'}),
], ids=['none', 'health-first', 'then-temperature', 'a-smaller-one-behind-a-large-one', 'not-one', 'more-room',
        'old-labels-last', 'by-concern'])
def test_metrics_are_chosen_in_a_fixed_order(needed, limit, kept):
    """Health, wear, temperature, errors, the rest; each as a whole."""
    assert budget.metrics(needed, ROLES, limit) == kept


def test_the_order_is_data():
    """No code names metrics: health, wear, temperature, then by concern."""
    assert budget.in_order(ROLES, ROLES)[:5] == ['smart_status', 'endurance_used', 'spare_available',
                                                 'endurance_time_left', 'temperature']


SSD = {'smart_status': 1, 'endurance_used': 4, TIME_LEFT: 90 * 86400, 'temperature': 22, 'reallocated': 0,
       'host_written': 512}
CHANGES: Dict[str, Any] = {
    'larger-numbers': {'endurance_used': 255, TIME_LEFT: 1577880000, 'temperature': 120, 'reallocated': 16000000,
                       'host_written': 140000000000000000},
    'failed': {'smart_status': 0}, 'number-unknown': {'temperature': None}, 'not-read': None}


def verdict(name: str, numbers: Optional[Mapping[str, Optional[float]]]) -> Verdict:
    """Return the verdict on a drive with these numbers; None: it could not be read."""
    device = Device(f'/dev/{name}', name=name)
    if numbers is None:
        return Verdict(device, Identity(), State.UNKNOWN, problem='no answer')
    return Verdict(device, Identity(protocol='ATA', rotation=0), State.OK, tuple(
        Judgement(Reading(role, number, ROLES[role].unit, Source('log')), State.OK, graphed=True)
        for role, number in numbers.items()))


def needed(drives: Mapping[str, Optional[Mapping[str, Optional[float]]]]) -> Dict[str, int]:
    verdicts = [verdict(name, numbers) for name, numbers in drives.items()]
    return budget.needed(verdicts, perfdata_of.values(verdicts, ROLES, False), ROLES, False)


@pytest.mark.parametrize('change', CHANGES.values(), ids=CHANGES)
def test_the_room_of_a_metric_does_not_depend_on_today(change):
    """Else a series would end when a number gets a digit more, or begin when a drive cannot be read."""
    changed = None if change is None else {**SSD, **change}

    assert needed({'sda': SSD, 'sdb': SSD}) == needed({'sda': SSD, 'sdb': changed}) == needed({'sda': changed,
                                                                                               'sdb': SSD})


def test_a_metric_that_is_not_always_known_keeps_its_room():
    """endurance_time_left has no number below some wear: when it has one, it takes the room of no other series."""
    young = {role: number for role, number in SSD.items() if role != TIME_LEFT}

    assert needed({'sda': young, 'sdb': young}) == needed({'sda': SSD, 'sdb': young}) == needed({'sda': SSD,
                                                                                                 'sdb': SSD})


def test_hard_disks_take_no_room_for_what_only_ssds_have():
    """Mixed shelves keep more series."""
    verdicts = [verdict('sda', SSD), verdict('sdb', {'temperature': 30})]
    spinning = verdicts[1]._replace(identity=Identity(protocol='ATA', rotation=7200))
    sizes = [budget.needed(each, [], ROLES, False) for each in (verdicts, [verdicts[0], spinning])]

    assert sizes[0]['endurance_used'] == 2 * sizes[1]['endurance_used']
    assert sizes[0]['temperature'] == sizes[1]['temperature']


@pytest.mark.parametrize('checks, drives, notes, kept', [
    (1, 3, 2, (1, 3, 2)), (1, 20, 2, (1, 8, 0)), (20, 20, 0, (4, 5, 0)), (20, 1, 9, (4, 1, 4))],
    ids=['all', 'drives-before-notes', 'half-for-the-check', 'notes-last'])
def test_lines_give_way_from_the_end(checks, drives, notes, kept):
    """A hundred faults of a site file do not hide the worst drive."""
    text = budget.Text(['c' * 99] * checks, ['d' * 99] * drives, ['n' * 99] * notes)
    told = budget.fitted(text, [], 1000 + budget.ROOM_TO_SAY_SO, ['f' * 49])

    assert tuple(sum(line[0] == letter for line in told) for letter in 'cdn') == kept
    assert (len(told) > sum(kept)) == (sum(kept) < checks + drives + notes)


@pytest.mark.parametrize('limit', [2000, 8000, 65000])
@pytest.mark.parametrize('drives', [1, 24, 60, 150])
def test_the_series_stay_whatever_states_and_numbers_are(limit, drives, tmp_path):
    """The same drives have the same series at every check, and the output fits. Only the time left is unknown at times,
    and takes no other series with it.
    """
    results = [run('--report', str(fleet(tmp_path / 'r', drives, random.Random(seed))), '--max-output', str(limit),
                   '--no-memory') for seed in range(4 if drives < 100 else 2)]

    assert len({tuple(label for label in series(result) if TIME_LEFT not in label) for result in results}) == 1
    assert all(len(result.text.encode()) <= limit for result in results)
    assert len({result.text for result in results}) > 1


def test_a_metric_is_printed_for_all_drives_or_for_none(tmp_path):
    """One drive without its graph would look as if it had none."""
    result = run('--report', str(fleet(tmp_path / 'r', 24, random.Random(1), REPORTS[:1])), '--max-output', '8000')

    found = metrics(series(result))
    assert {'smart_status', 'temperature', 'pending'} <= found
    assert len(series(result)) == 24 * len(found)
    assert re.search(r'\n\.\.\. left out to stay within 8,000 bytes: \d+ lines of text; perfdata of all drives for '
                     r'.*host_written.*; divide the drives among several commands with -d, or use '
                     r'check_smart_attributes metrics\n', result.text)


@pytest.mark.parametrize('lost', [0, 7, 23])
def test_a_drive_that_cannot_be_read_brings_no_series_of_others(lost, tmp_path):
    """Its own series end, and no other begins in the room that they leave."""
    whole = run('--report', str(fleet(tmp_path / 'r', 24, random.Random(3), REPORTS[:1])), '--max-output', '8000')
    (tmp_path / f'r/sd{lost:03}.json').write_text('{"json_format_version": [1, 0], "smartctl": {"exit_status": 2}}')
    reduced = run('--report', str(tmp_path / 'r'), '--max-output', '8000')

    assert series(reduced) == [label for label in series(whole) if not label.startswith(f'sd{lost:03}_')]
    assert len(series(reduced)) < len(series(whole))


def test_the_worst_drives_are_told_with_their_reasons(tmp_path):
    """In order of severity, OK drives give way."""
    folder = fleet(tmp_path / 'r', 80, random.Random(2), REPORTS[1:2])
    bad = json.loads(drive('seagate-exos-failing'))
    (folder / 'sd079.json').write_text(json.dumps(bad))
    text = run('--report', str(folder), '--max-output', '8000').text

    told = lines.read(text.partition('\n| ')[0])
    assert told and told.counted == 80
    states = [line.state.urgency for line in told.lines]
    assert states == sorted(states, reverse=True)
    assert 5 < len(told.lines) < 80 and len(told.left_out) == 1
    assert 'sd079' in text and next(line.findings for line in told.lines if line.state is State.CRITICAL)


def test_where_not_one_metric_fits_none_is_printed_and_said(tmp_path):
    """Half of the drives in a graph would be wrong."""
    result = run('--report', str(fleet(tmp_path / 'r', 150, random.Random(1))), '--max-output', '2000')

    assert '\n| ' not in result.text
    assert 'all perfdata of all drives for smart_status, ' in result.text


@pytest.mark.parametrize('text', ['1999', '1000001', '8k', '-1', ''])
def test_a_limit_out_of_bounds_is_refused(text):
    """Exit status 3 and a sentence."""
    result = run('--max-output', text)

    assert result.code == 3
    assert 'is no number of bytes from 2000 to 1e+06' in result.text


def test_a_long_first_line_is_shortened_and_still_counts_the_drives():
    """Sixty faults of the check as a whole must not take the place of the drives."""
    gone = [f'sd{number:03} is gone, it was read at this address until yesterday' for number in range(60)]
    verdicts = [Verdict(Device(f'/dev/{name}', name=name), Identity(), State.CRITICAL, problem='no answer')
                for name in ('sda', 'sdb')]
    text = plugin.render(verdicts, ROLES, plugin.Face(max_output=2000),
                         plugin.Whole(failures=gone, faults=gone)).text

    assert len(text.encode()) <= 2000
    assert text.startswith('SMART CRITICAL - sd000 is gone')
    assert text.splitlines()[0].endswith('; 2 drives: 2 critical')
    assert '\nCRITICAL  sda  -  no answer' in text
