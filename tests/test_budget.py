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
from cases import cases
from conftest import drive, perfdata
from shipped import DATABASE

from smart_attributes.fleet import plugin_output
from smart_attributes.model import (
    Device,
    Identity,
    Judgement,
    Reading,
    Source,
    State,
    Verdict,
)
from smart_attributes.output import budget, plugin
from smart_attributes.output import perfdata as perfdata_of

METRICS = DATABASE.metrics
REPORTS = (
    'seagate-exos-failing',
    'intel-s3500-healthy',
    'nvme-worn',
    'wd-gold-healthy',
)
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
            number = chance.choice((0, 0, 7, 900, 65000))
            row['raw'] = {'value': number, 'string': str(number)}
    log = report.get('nvme_smart_health_information_log')
    if log:
        log['percentage_used'] = chance.choice((0, 4, 91, 155))
    report['smart_status']['passed'] = chance.random() > 0.2


def series(text: str) -> list[str]:
    return sorted(perfdata(text))


def metrics(labels: list[str]) -> set[str]:
    """Return the metrics of labels such as sd004_temperature."""
    return {label.partition('_')[2] for label in labels}


@pytest.mark.parametrize(
    'needed, limit, kept',
    [
        ({}, 8000, set()),
        # 8000 bytes, of which 2000 are for text and 500 for the line that names what is left out
        ({'pending': 5500}, 8000, {'pending'}),
        ({'pending': 5501}, 8000, set()),
        ({'pending': 5501}, 65000, {'pending'}),
        ({'smart_status': 3000, 'pending': 2500}, 8000, {'smart_status', 'pending'}),
        ({'smart_status': 3000, 'pending': 2501}, 8000, {'smart_status'}),
        ({'smart_status': 5600, 'endurance_used': 5400}, 8000, {'endurance_used'}),
        (
            {'temperature': 2500, 'smart_status': 2500, 'pending': 2500},
            8000,
            {'smart_status', 'temperature'},
        ),
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
                Reading(metric, number, METRICS[metric].unit, Source('log')),
                State.OK,
                graphed=True,
            )
            for metric, number in numbers.items()
        ),
    )


def needed(drives: Mapping[str, Mapping[str, float | None] | None]) -> dict[str, int]:
    verdicts = [verdict(name, numbers) for name, numbers in drives.items()]
    return budget.needed(
        verdicts, perfdata_of.values(verdicts, METRICS, False), METRICS, False
    )


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
    no other series. Only drives that report endurance_used may get it.
    """
    young = {metric: number for metric, number in SSD.items() if metric != TIME_LEFT}

    assert (
        needed({'sda': young, 'sdb': young})
        == needed({'sda': SSD, 'sdb': young})
        == needed({'sda': SSD, 'sdb': SSD})
    )
    assert TIME_LEFT not in needed({'sda': {'pending': 3}})


def test_hard_disks_take_no_room_for_what_only_ssds_have():
    """Mixed shelves keep more series."""
    verdicts = [verdict('sda', SSD), verdict('sdb', {'temperature': 30})]
    spinning = verdicts[1]._replace(identity=Identity(protocol='ATA', rotation=7200))
    sizes = [
        budget.needed(each, [], METRICS, False)
        for each in (verdicts, [verdicts[0], spinning])
    ]

    assert sizes[0]['endurance_used'] == 2 * sizes[1]['endurance_used']
    assert sizes[0]['temperature'] == sizes[1]['temperature']
    # One that was not read may be of any kind.
    unread = budget.needed([spinning, verdict('sda', None)], [], METRICS, False)
    assert unread == {'temperature': sizes[0]['temperature']}


@pytest.mark.parametrize(
    'counts, kept',
    [
        ((1, 3, 2), (1, 3, 2)),
        ((8, 1, 0), (8, 1, 0)),
        ((1, 20, 2), (1, 8, 0)),
        ((20, 20, 0), (4, 5, 0)),  # half for the check
        ((20, 1, 9), (4, 1, 4)),
    ],
)
def test_lines_give_way_from_the_end(counts, kept):
    """A hundred faults of a site file do not hide the worst drive."""
    text = budget.OutputText(
        *([letter * 99] * count for letter, count in zip('cdn', counts))
    )
    told = budget.fitted(text, [], 1000 + budget.ROOM_TO_SAY_SO, 'f' * 49, [])

    assert tuple(sum(line[0] == letter for line in told) for letter in 'cdn') == kept
    assert (len(told) > sum(kept)) == (kept != counts)


def rendered(
    drives: Mapping[str, Mapping[str, float | None] | None], limit: int
) -> str:
    """Return the output for drives with these numbers."""
    verdicts = [verdict(name, numbers) for name, numbers in drives.items()]
    return plugin.render(
        cases(verdicts), METRICS, plugin.Face(max_output=limit), plugin.Whole()
    ).text


def alike(count: int) -> dict[str, Any]:
    return {f'sd{number:03}': SSD for number in range(count)}


@pytest.mark.parametrize(
    'count, limit', [(1, 2000), (24, 8000), (150, 2000), (150, 65000)]
)
def test_the_series_stay_whatever_numbers_are(count, limit):
    """The same drives have the same series at every check, and the output fits."""
    chance = random.Random(count)
    changes = [{}, CHANGES['larger-numbers'], CHANGES['failed']]
    texts = [
        rendered(
            {name: {**SSD, **chance.choice(changes)} for name in alike(count)}, limit
        )
        for _ in range(4)
    ]

    assert len({tuple(series(text)) for text in texts}) == 1 < len(set(texts))
    assert max(len(text.encode()) for text in texts) <= limit


def test_a_metric_is_printed_for_all_drives_or_for_none():
    """One drive without its graph would look as if it had none."""
    text = rendered(alike(24), 8000)

    found = metrics(series(text))
    assert {'smart_status', 'temperature'} <= found and 'host_written' not in found
    assert len(series(text)) == 24 * len(found)
    assert re.search(r'\n\.\.\. .* for .*host_written.*\n\| ', text)


def test_the_worst_drives_are_told_with_their_reasons():
    """In order of severity, OK drives give way."""
    bad = verdict('sdx', None)._replace(state=State.CRITICAL)
    drives = [*(verdict(name, SSD) for name in alike(80)), verdict('sdw', None), bad]
    text = plugin.render(
        cases(drives), METRICS, plugin.Face(max_output=4000), plugin.Whole()
    ).text

    told = plugin_output.plugin_text(text.partition('\n| ')[0])
    assert told and told.counted == 82
    assert [line.state for line in told.lines[:3]] == [
        State.CRITICAL,
        State.UNKNOWN,
        State.OK,
    ]
    assert 5 < len(told.lines) < 82
    assert (told.lines[0].name, told.lines[0].findings.split(';')[0]) == (
        'sdx',
        'no answer',
    )


def test_a_long_first_line_is_shortened_and_still_counts_the_drives():
    """Sixty faults of the check as a whole must not take the place of the drives."""
    gone = [
        f'sd{number:03} is gone, it was read at this address until yesterday'
        for number in range(60)
    ]
    verdicts = [
        Verdict(
            Device(f'/dev/{name}', name=name),
            Identity(),
            State.CRITICAL,
            problem='no answer',
        )
        for name in ('sda', 'sdb')
    ]
    text = plugin.render(
        cases(verdicts),
        METRICS,
        plugin.Face(max_output=2000),
        plugin.Whole(failures=gone, faults=gone),
    ).text

    assert len(text.encode()) <= 2000
    assert text.startswith('SMART CRITICAL - sd000 is gone')
    assert text.splitlines()[0].endswith('; 2 drives, 2 not ok')
    assert '\nCRITICAL  sda  -  no answer' in text


@pytest.mark.parametrize(
    'limit, least',
    [(2000, 666), (5999, 1999), (6000, 2000), (31_999, 2000), (32_016, 2001)],
)
def test_text_keeps_a_third_of_a_small_output_and_a_sixteenth_of_a_large_one(
    limit, least
):
    assert budget.share_of_lines(limit) == least


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
    ids=[
        'unbounded',
        'no-limits',
        'verdict',
        'bounded',
        'with-a-least',
        'with-both-ends',
    ],
)
def test_a_value_is_as_wide_as_its_metric_allows(facts, width):
    """The name of the drive, the signs of the label and one separator come on top."""
    metric = METRICS['pending']._replace(
        **{'minimum': None, 'maximum': None, 'valid': (0, None), **facts}
    )

    assert budget.needed(
        [verdict('sda', {'pending': 3})], [], {'pending': metric}, False
    ) == {'pending': len("sda'_pending'=%;;;; ") + 1 + width}


@pytest.mark.parametrize('limits, more', [('85:95', 0), ('@123456:789', 2)])
def test_limits_longer_than_usual_take_more_room(limits, more):
    judged = [verdict('sda', {'pending': 3})]
    known = [
        perfdata_of.Value("'x'", 'pending', limits),
        perfdata_of.Value("'x'", 'temperature', 'x' * 50),
    ]
    usual = budget.needed(judged, [], METRICS, False)['pending']

    assert budget.needed(judged, known, METRICS, False)['pending'] == usual + more


def test_room_is_never_less_than_what_is_printed_today():
    printed = [
        perfdata_of.Value('x' * 200, 'pending'),
        perfdata_of.Value('x' * 100, 'pending'),
    ]

    assert budget.needed([verdict('sda', {'pending': 3})], printed, METRICS, False) == {
        'pending': 302
    }


@pytest.mark.parametrize('is_all, found', [(False, set()), (True, {'power_cycles'})])
def test_a_metric_without_a_graph_takes_room_only_where_all_are_printed(is_all, found):
    judged = verdict('sda', {'pending': 0})
    hidden = judged._replace(
        judgements=(Judgement(Reading('power_cycles', 3, '', Source('log')), State.OK),)
    )

    assert set(budget.needed([hidden], [], METRICS, is_all)) == found


def test_text_that_just_fits_is_printed_whole():
    """Two lines of ten bytes, a first line of ten, the room of the closing line."""
    text = budget.OutputText(['c' * 9], ['d' * 9], [])
    whole, cut = (
        budget.fitted(text, [], room + budget.ROOM_TO_SAY_SO, 'f' * 9, [])
        for room in (30, 29)
    )

    assert whole == ['c' * 9, 'd' * 9]
    assert (cut[:-1], '529 bytes: 1 lines' in cut[-1]) == (['d' * 9], True)


@pytest.mark.parametrize(
    'drives, perfdata, said',
    [
        (0, [], 'all perfdata for pending, crc_errors'),
        (0, ['v'], 'perfdata for pending, crc_errors'),
        (
            6,
            [],
            '2 lines of text; all perfdata for pending, crc_errors',
        ),
    ],
    ids=['no-value-left', 'some-left', 'lines-and-metrics'],
)
def test_what_is_left_out_is_named(drives, perfdata, said):
    text = budget.OutputText([], ['d' * 99] * drives, [])

    missing = ['pending', 'crc_errors']
    assert budget.fitted(text, missing, 1000, 'f', perfdata)[-1] == (
        f'... left out to stay within 1,000 bytes: {said}; {budget.REMEDY}'
    )


@pytest.mark.parametrize(
    'count, end', [(20, '19'), (21, '19 and 1 more'), (30, '19 and 10 more')]
)
def test_of_many_metrics_the_first_200_bytes_are_named(count, end):
    metrics_left_out = [f'metric_{number:02}' for number in range(count)]
    [line] = budget.fitted(
        budget.OutputText([], [], []), metrics_left_out, 8000, 'f', ['v']
    )

    assert line.split('; ')[0].endswith(f' metric_{end}')
