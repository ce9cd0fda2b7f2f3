"""--max-output: nothing is cut within a value, and the series of a graph do not come and go with
states or numbers.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Result, drive, perfdata, run

from smart_attributes.fleet import services
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.model import Device, Identity, Judgement, Reading, Source, State, Verdict
from smart_attributes.output import budget, plugin
from smart_attributes.output import perfdata as perfdata_of

METRICS = SpecDatabase(json.loads((ROOT / 'attributes.json').read_text())).metrics
REPORTS = ('seagate-exos-failing', 'intel-s3500-healthy', 'nvme-worn', 'wd-gold-healthy')
TIME_LEFT = 'endurance_time_left'
COUNTERS = (5, 187, 197, 198, 199)


def fleet(
    folder: Path, drives: int, chance: random.Random, reports: tuple[str, ...] = REPORTS
) -> Path:
    """Write recordings of drives with random numbers: healthy, worn and failing ones."""
    folder.mkdir(exist_ok=True)
    for number in range(drives):
        report = json.loads(drive(reports[number % len(reports)]))
        report['serial_number'] = f'EXAMPLE{number:04}'
        _vary(report, chance)
        (folder / f'sd{number:03}.json').write_text(json.dumps(report))
    return folder


def _vary(report: dict[str, Any], chance: random.Random) -> None:
    for row in report.get('ata_smart_attributes', {}).get('table', ()):
        if row['id'] in COUNTERS:
            row['raw'] = dict.fromkeys(('value', 'string'), chance.choice((0, 0, 7, 900, 65000)))
            row['raw']['string'] = str(row['raw']['value'])
    log = report.get('nvme_smart_health_information_log')
    if log:
        log.update(
            percentage_used=chance.choice((0, 4, 91, 155)), media_errors=chance.choice((0, 5000))
        )
    report['smart_status']['passed'] = chance.random() > 0.2


def series(result: Result) -> list[str]:
    return sorted(perfdata(result.text))


def metrics(labels: list[str]) -> set[str]:
    """Return the metrics of labels such as sd004_temperature."""
    return {label.partition('_')[2] for label in labels}


@pytest.mark.parametrize(
    ('needed', 'limit', 'kept'),
    [
        ({}, 8000, set()),
        ({'temperature': 3000, 'smart_status': 3000, 'pending': 3000}, 8000, {'smart_status'}),
        (
            {'temperature': 2500, 'smart_status': 2500, 'pending': 2500},
            8000,
            {'smart_status', 'temperature'},
        ),
        ({'smart_status': 5600, 'endurance_used': 5400}, 8000, {'endurance_used'}),
        ({'smart_status': 5600}, 8000, set()),
        ({'smart_status': 5600}, 65000, {'smart_status'}),
        ({'crc_errors': 5000, 'pending': 5000}, 8000, {'pending'}),
    ],
    ids=[
        'none',
        'health-first',
        'then-temperature',
        'a-smaller-one-behind-a-large-one',
        'not-one',
        'more-room',
        'by-concern',
    ],
)
def test_metrics_are_chosen_in_a_fixed_order(needed, limit, kept):
    """Health, wear, temperature, errors, the rest; each as a whole."""
    assert budget.metrics(needed, METRICS, limit) == kept


def test_the_order_is_data():
    """No code names metrics: health, wear, temperature, then by concern."""
    assert budget.in_order(METRICS, METRICS)[:5] == [
        'smart_status',
        'endurance_used',
        'spare_available',
        'endurance_time_left',
        'temperature',
    ]


SSD = {
    'smart_status': 1,
    'endurance_used': 4,
    TIME_LEFT: 90 * 86400,
    'temperature': 22,
    'reallocated': 0,
    'host_written': 512,
}
CHANGES: dict[str, Any] = {
    'larger-numbers': {
        'endurance_used': 255,
        TIME_LEFT: 1577880000,
        'temperature': 120,
        'reallocated': 16000000,
        'host_written': 140000000000000000,
    },
    'failed': {'smart_status': 0},
    'number-unknown': {'temperature': None},
    'not-read': None,
}


def verdict(name: str, numbers: Mapping[str, float | None] | None) -> Verdict:
    """Return the verdict on a drive with these numbers; None: it could not be read."""
    device = Device(f'/dev/{name}', name=name)
    if numbers is None:
        return Verdict(device, Identity(), State.UNKNOWN, problem='no answer')
    return Verdict(
        device,
        Identity(protocol='ATA', rotation=0),
        State.OK,
        tuple(
            Judgement(
                Reading(metric, number, METRICS[metric].unit, Source('log')), State.OK, graphed=True
            )
            for metric, number in numbers.items()
        ),
    )


def needed(drives: Mapping[str, Mapping[str, float | None] | None]) -> dict[str, int]:
    verdicts = [verdict(name, numbers) for name, numbers in drives.items()]
    return budget.needed(verdicts, perfdata_of.values(verdicts, METRICS, False), METRICS, False)


@pytest.mark.parametrize('change', CHANGES.values(), ids=CHANGES)
def test_the_room_of_a_metric_does_not_depend_on_today(change):
    """Else a series would end when a number gets a digit more, or begin when a drive cannot be
    read.
    """
    changed = None if change is None else {**SSD, **change}

    assert (
        needed({'sda': SSD, 'sdb': SSD})
        == needed({'sda': SSD, 'sdb': changed})
        == needed({'sda': changed, 'sdb': SSD})
    )


def test_a_metric_that_is_not_always_known_keeps_its_room():
    """endurance_time_left has no number below some wear: when it has one, it takes the room of
    no other series.
    """
    young = {metric: number for metric, number in SSD.items() if metric != TIME_LEFT}

    assert (
        needed({'sda': young, 'sdb': young})
        == needed({'sda': SSD, 'sdb': young})
        == needed({'sda': SSD, 'sdb': SSD})
    )


def test_hard_disks_take_no_room_for_what_only_ssds_have():
    """Mixed shelves keep more series."""
    verdicts = [verdict('sda', SSD), verdict('sdb', {'temperature': 30})]
    spinning = verdicts[1]._replace(identity=Identity(protocol='ATA', rotation=7200))
    sizes = [
        budget.needed(each, [], METRICS, False) for each in (verdicts, [verdicts[0], spinning])
    ]

    assert sizes[0]['endurance_used'] == 2 * sizes[1]['endurance_used']
    assert sizes[0]['temperature'] == sizes[1]['temperature']


@pytest.mark.parametrize(
    'checks, drives, notes, kept',
    [(1, 3, 2, (1, 3, 2)), (1, 20, 2, (1, 8, 0)), (20, 20, 0, (4, 5, 0)), (20, 1, 9, (4, 1, 4))],
    ids=['all', 'drives-before-notes', 'half-for-the-check', 'notes-last'],
)
def test_lines_give_way_from_the_end(checks, drives, notes, kept):
    """A hundred faults of a site file do not hide the worst drive."""
    text = budget.OutputText(['c' * 99] * checks, ['d' * 99] * drives, ['n' * 99] * notes)
    told = budget.fitted(text, [], 1000 + budget.ROOM_TO_SAY_SO, ['f' * 49])

    assert tuple(sum(line[0] == letter for line in told) for letter in 'cdn') == kept
    assert (len(told) > sum(kept)) == (sum(kept) < checks + drives + notes)


@pytest.mark.parametrize('limit', [2000, 8000, 65000])
@pytest.mark.parametrize('drives', [1, 24, 60, 150])
def test_the_series_stay_whatever_states_and_numbers_are(limit, drives, tmp_path):
    """The same drives have the same series at every check, and the output fits.

    Only the time left is unknown at times, and takes no other series with it.
    """
    results = [
        run(
            '--report',
            str(fleet(tmp_path / 'r', drives, random.Random(seed))),
            '--max-output',
            str(limit),
            '--no-history',
        )
        for seed in range(4 if drives < 100 else 2)
    ]

    assert (
        len(
            {
                tuple(label for label in series(result) if TIME_LEFT not in label)
                for result in results
            }
        )
        == 1
    )
    assert all(len(result.text.encode()) <= limit for result in results)
    assert len({result.text for result in results}) > 1


def test_a_metric_is_printed_for_all_drives_or_for_none(tmp_path):
    """One drive without its graph would look as if it had none."""
    result = run(
        '--report',
        str(fleet(tmp_path / 'r', 24, random.Random(1), REPORTS[:1])),
        '--max-output',
        '8000',
    )

    found = metrics(series(result))
    assert {'smart_status', 'temperature', 'pending'} <= found
    assert len(series(result)) == 24 * len(found)
    assert re.search(
        r'\n\.\.\. left out to stay within 8,000 bytes: \d+ lines of text; perfdata of all drives '
        r'for '
        r'.*host_written.*; split the drives among several commands with -d, or use '
        r'check_smart_attributes metrics\n',
        result.text,
    )


@pytest.mark.parametrize('lost', [0, 7, 23])
def test_a_drive_that_cannot_be_read_brings_no_series_of_others(lost, tmp_path):
    """Its own series end, and no other begins in the room that they leave."""
    whole = run(
        '--report',
        str(fleet(tmp_path / 'r', 24, random.Random(3), REPORTS[:1])),
        '--max-output',
        '8000',
    )
    (tmp_path / f'r/sd{lost:03}.json').write_text(
        '{"json_format_version": [1, 0], "smartctl": {"exit_status": 2}}'
    )
    reduced = run('--report', str(tmp_path / 'r'), '--max-output', '8000')

    assert series(reduced) == [
        label for label in series(whole) if not label.startswith(f'sd{lost:03}_')
    ]
    assert len(series(reduced)) < len(series(whole))


def test_the_worst_drives_are_told_with_their_reasons(tmp_path):
    """In order of severity, OK drives give way."""
    folder = fleet(tmp_path / 'r', 80, random.Random(2), REPORTS[1:2])
    bad = json.loads(drive('seagate-exos-failing'))
    (folder / 'sd079.json').write_text(json.dumps(bad))
    text = run('--report', str(folder), '--max-output', '8000').text

    told = services.plugin_text(text.partition('\n| ')[0])
    assert told and told.counted == 80
    states = [line.state.urgency for line in told.lines]
    assert states == sorted(states, reverse=True)
    assert 5 < len(told.lines) < 80 and len(told.left_out) == 1
    assert 'sd079' in text and next(
        line.findings for line in told.lines if line.state is State.CRITICAL
    )


def test_where_not_one_metric_fits_none_is_printed_and_said(tmp_path):
    """Half of the drives in a graph would be wrong."""
    result = run(
        '--report', str(fleet(tmp_path / 'r', 150, random.Random(1))), '--max-output', '2000'
    )

    assert '\n| ' not in result.text
    assert 'all perfdata of all drives for smart_status, ' in result.text


@pytest.mark.parametrize('text', ['1999', '1000001', '8k', '-1', ''])
def test_a_limit_out_of_bounds_is_refused(text):
    """Exit status 3 and a sentence."""
    result = run('--max-output', text)

    assert result.code == 3
    assert 'is not a valid number of bytes (2000 to 1e+06)' in result.text


def test_a_long_first_line_is_shortened_and_still_counts_the_drives():
    """Sixty faults of the check as a whole must not take the place of the drives."""
    gone = [
        f'sd{number:03} is gone, it was read at this address until yesterday'
        for number in range(60)
    ]
    verdicts = [
        Verdict(Device(f'/dev/{name}', name=name), Identity(), State.CRITICAL, problem='no answer')
        for name in ('sda', 'sdb')
    ]
    text = plugin.render(
        verdicts, METRICS, plugin.Face(max_output=2000), plugin.Whole(failures=gone, faults=gone)
    ).text

    assert len(text.encode()) <= 2000
    assert text.startswith('SMART CRITICAL - sd000 is gone')
    assert text.splitlines()[0].endswith('; 2 drives: 2 critical')
    assert '\nCRITICAL  sda  -  no answer' in text


# --- tables of cases ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'part, bytes_taken', [('', 1), ('abc', 4), ('°C', 4)], ids=['empty', 'ascii', 'utf-8']
)
def test_the_size_of_a_part_is_its_bytes_and_one_separator(part, bytes_taken):
    assert budget.size(part) == bytes_taken


@pytest.mark.parametrize(
    'limit, least',
    [
        (2000, 666),
        (5999, 1999),
        (6000, 2000),
        (8000, 2000),
        (31_999, 2000),
        (32_016, 2001),
        (40_008, 2500),
        (65_536, 4096),
    ],
)
def test_text_keeps_a_third_of_a_small_output_and_a_sixteenth_of_a_large_one(limit, least):
    assert budget.share(limit) == least


@pytest.mark.parametrize(
    'metrics_found, ordered',
    [
        (['temperature', 'smart_status'], ['smart_status', 'temperature']),
        (['crc_errors', 'pending'], ['pending', 'crc_errors']),
        (['reallocated', 'pending'], ['pending', 'reallocated']),
        (
            ['power_loss_protection', 'capacitor_health'],
            ['capacitor_health', 'power_loss_protection'],
        ),
        (['crc_errors', 'temperature'], ['temperature', 'crc_errors']),
    ],
    ids=['by-order', 'by-concern', 'by-concern-then-name', 'by-name', 'order-before-concern'],
)
def test_metrics_are_ordered_by_order_concern_and_name(metrics_found, ordered):
    assert budget.in_order(metrics_found, METRICS) == ordered


@pytest.mark.parametrize('used, kept', [(5500, True), (5501, False)])
def test_a_metric_is_printed_if_it_fits_to_the_byte(used, kept):
    """8000 bytes, of which 2000 are for text and 500 for the line that names what is left out."""
    assert budget.metrics({'pending': used}, METRICS, 8000) == ({'pending'} if kept else set())


@pytest.mark.parametrize(
    'used, kept', [(2500, {'smart_status', 'pending'}), (2501, {'smart_status'})]
)
def test_a_second_metric_gets_what_the_first_one_left(used, kept):
    assert budget.metrics({'smart_status': 3000, 'pending': used}, METRICS, 8000) == kept


@pytest.mark.parametrize(
    'facts, width',
    [
        ({}, 20 + 9),
        ({'worse': 'none'}, 20),
        ({'is_verdict': True}, 20),
        ({'valid': (0, 255)}, 3 + 9),
        ({'minimum': 0}, 20 + 9 + 1),
        ({'minimum': 0, 'maximum': 100}, 20 + 9 + 1 + 3),
    ],
    ids=['unbounded', 'no-limits', 'verdict', 'bounded', 'with-a-least', 'with-both-ends'],
)
def test_a_value_is_as_wide_as_its_metric_allows(facts, width):
    """The name of the drive, the signs of the label and one separator come on top."""
    metric = METRICS['pending']._replace(
        **{'minimum': None, 'maximum': None, 'valid': (0, None), **facts}
    )

    assert budget.needed([verdict('sda', {'pending': 3})], [], {'pending': metric}, False) == {
        'pending': len("sda'_pending'=%;;;; ") + 1 + width
    }


@pytest.mark.parametrize('limits, width', [('85:95', 9), ('123456789', 9), ('@123456:789', 11)])
def test_limits_longer_than_usual_take_more_room(limits, width):
    judged = [verdict('sda', {'pending': 3})]
    known = [
        perfdata_of.Value("'x'", 'pending', limits),
        perfdata_of.Value("'x'", 'temperature', 'x' * 50),
    ]
    usual = budget.needed(judged, [], METRICS, False)['pending']

    assert budget.needed(judged, known, METRICS, False)['pending'] == usual + width - 9


def test_room_is_never_less_than_what_is_printed_today():
    printed = [perfdata_of.Value('x' * 200, 'pending'), perfdata_of.Value('x' * 100, 'pending')]

    assert budget.needed([verdict('sda', {'pending': 3})], printed, METRICS, False) == {
        'pending': 302
    }


def test_a_metric_that_a_drive_may_have_later_has_room_now():
    """endurance_time_left begins when enough is known; only drives that report endurance_used
    may get it.
    """
    assert TIME_LEFT in needed({'sda': {'endurance_used': 3}})
    assert TIME_LEFT not in needed({'sda': {'pending': 3}})


@pytest.mark.parametrize('is_all, found', [(False, set()), (True, {'power_cycles'})])
def test_a_metric_without_a_graph_takes_room_only_where_all_are_printed(is_all, found):
    judged = verdict('sda', {'pending': 0})
    hidden = judged._replace(
        judgements=(Judgement(Reading('power_cycles', 3, '', Source('log')), State.OK),)
    )

    assert set(budget.needed([hidden], [], METRICS, is_all)) == found


@pytest.mark.parametrize(
    'room, kept', [(0, []), (3, []), (4, ['abc']), (6, ['abc']), (7, ['abc', 'de'])]
)
def test_parts_are_taken_from_the_first_as_long_as_they_fit(room, kept):
    assert budget.first(['abc', 'de'], room) == kept


def test_text_that_just_fits_is_printed_whole():
    """Two lines of ten bytes, a first line of ten, the room of the closing line."""
    text = budget.OutputText(['c' * 9], ['d' * 9], [])

    assert budget.fitted(text, [], 30 + budget.ROOM_TO_SAY_SO, ['f' * 9]) == ['c' * 9, 'd' * 9]
    assert budget.fitted(text, [], 29 + budget.ROOM_TO_SAY_SO, ['f' * 9]) == [
        'd' * 9,
        '... left out to stay within 529 bytes: 1 lines of text; split the drives among several '
        'commands with -d, or use check_smart_attributes metrics',
    ]


@pytest.mark.parametrize(
    'others, told',
    [(['f'], 'all perfdata of all drives'), (['f', 'v'], 'perfdata of all drives')],
    ids=['no-value-left', 'some-left'],
)
def test_metrics_that_are_left_out_are_named(others, told):
    assert budget.fitted(
        budget.OutputText([], [], []), ['pending', 'crc_errors'], 8000, others
    ) == [
        f'... left out to stay within 8,000 bytes: {told} for pending, crc_errors; {budget.REMEDY}'
    ]


def test_lines_and_metrics_that_are_left_out_are_named_together():
    *kept, last = budget.fitted(
        budget.OutputText([], ['d' * 99] * 6, []), ['pending'], 1000, ['f', 'v']
    )

    assert len(kept) == 4
    assert last.startswith(
        '... left out to stay within 1,000 bytes: 2 lines of text; perfdata of all drives for pen'
    )


@pytest.mark.parametrize(
    'count, end', [(20, 'metric_19'), (21, 'metric_19 and 1 more'), (30, 'metric_19 and 10 more')]
)
def test_of_many_metrics_the_first_200_bytes_are_named(count, end):
    metrics_left_out = [f'metric_{number:02}' for number in range(count)]
    [line] = budget.fitted(budget.OutputText([], [], []), metrics_left_out, 8000, ['f', 'v'])

    assert f'{end}; split the drives' in line


def test_lines_about_the_check_take_more_than_half_where_all_fits():
    text = budget.OutputText(['c' * 9] * 8, ['d' * 9], [])

    assert budget.fitted(text, [], 100 + budget.ROOM_TO_SAY_SO, ['f' * 9]) == [
        *text.checks,
        *text.drives,
    ]
