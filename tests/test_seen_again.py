"""tools.measure --seen-again: what became of drives, on looks made for the test."""

from __future__ import annotations

import csv
import gzip
import json

import pytest
import verdicts
from conftest import run_tool
from measure import seen_again
from measure.seen_again import Class, Look

from smart_attributes.model import State

pytestmark = pytest.mark.tools

DATES = ('2021-01-01', '2021-06-01', '2022-01-01', '2022-03-01', '2023-01-01')
OK, WARNING, CRITICAL = State.OK, State.WARNING, State.CRITICAL
BAD = Class('hdd', 'Acme', 'WARNING', 'pending')
QUIET = Class('hdd', 'Acme', 'OK', 'quiet')


def look(day, of=QUIET, state=None, family='', **counts):
    """One look at a disk of Acme, on one of DATES."""
    return Look(DATES[day], 'hdd', 'Acme', family, state or State[of.state], (of,), counts)


def row(drives, of):
    found = seen_again.rows([(str(number), looks) for number, looks in enumerate(drives)])
    return next(each for each in found if each['reason'] == of.reason and each['state'] == of.state)


STAYING = [look(0), look(1), look(2)]


def test_the_first_look_of_a_drive_does_not_count_for_gone():
    """It is in the file because it was seen twice, so nothing could have been gone."""
    drives = [STAYING, STAYING, STAYING, [look(0, BAD), look(1, BAD)], [look(1, BAD), look(2)]]

    found = row(drives, BAD)

    assert (found['drives'], found['looks'], found['gone'], found['gone_percent']) == (
        2,
        1,
        1,
        100.0,
    )
    assert found['seen_again'] == 2


def test_the_newest_looks_and_those_shortly_before_do_not_count_for_gone():
    """Nobody has looked since, or so soon that one look may have been missed."""
    drives = [[look(0), look(2, BAD), look(3, BAD)], [look(0), look(2, BAD)]]

    assert row(drives, BAD)['looks'] == 0


def test_a_date_after_which_most_drives_left_does_not_count_for_gone():
    """Machines left then, not drives."""
    leaving = [look(0), look(1, BAD)]

    assert row([STAYING, leaving, leaving], BAD)['looks'] == 0
    assert row([STAYING, STAYING, leaving, leaving], BAD)['looks'] == 2


def test_a_drive_that_is_missing_once_is_not_gone():
    assert row([[look(0), look(1, BAD), look(3)], STAYING], BAD)['gone'] == 0


def test_quiet_drives_are_those_of_the_same_dates():
    """Half of the quiet drives leave after the second date, and none after the third; alerts are
    at both.
    """
    last = look(4)
    stays = [look(0), look(1), look(2), last]
    drives = [
        stays,
        stays,
        [look(0), look(1)],
        [look(0), look(1)],
        [look(0), look(1, BAD), look(2, BAD), last],
    ]

    assert row(drives, QUIET)['quiet_gone_percent'] == pytest.approx(100 * 2 / 6, abs=0.05)
    assert row(drives, BAD)['quiet_gone_percent'] == 25.0
    assert row([*drives, [look(0), look(1, BAD), last]], BAD)[
        'quiet_gone_percent'
    ] == pytest.approx(33.3)


def test_what_grew_at_the_next_look_is_lost():
    """Not what shrank, what was not counted before, or what grew two looks later."""
    drives = [
        [look(0, BAD, pending=1), look(1, pending=2)],
        [look(0, BAD, pending=2), look(1, pending=1)],
        [look(0, BAD), look(1, media_errors=5)],
        [look(0, BAD, reallocated=1), look(1, state=CRITICAL, reallocated=2)],
        [look(0, BAD, pending=0), look(1, pending=0), look(2, pending=9)],
    ]

    found = row(drives, BAD)

    assert (found['seen_again'], found['lost_data'], found['lost_data_percent']) == (5, 1, 20.0)
    assert (found['critical_percent'], found['reallocated_percent']) == (20.0, 20.0)
    assert found['quiet_lost_data_percent'] == 100.0


VENDORS = {
    'Seagate hard disk': 'Seagate',
    'HGST and Western Digital Ultrastar': 'HGST',
    "Western Digital hard disk of HGST's design": 'Western Digital',
}


@pytest.mark.parametrize('family, vendor', VENDORS.items())
def test_the_maker_is_named_first(family, vendor):
    assert seen_again.maker(family, 'HUA') == vendor


@pytest.mark.parametrize('model, vendor', [('INTEL SSDPE', 'Intel'), ('ACME', 'other')])
def test_without_a_maker_in_its_family_the_model_tells_it(model, vendor):
    assert seen_again.maker('NVMe drive', model) == vendor


@pytest.mark.parametrize(
    'share, low, high', [((0, 0), None, None), ((0, 10), 0, 27.8), ((5, 10), 23.7, 76.3)]
)
def test_a_share_has_its_interval(share, low, high):
    """Of Wilson's formula; 0 of 10 does not mean never."""
    assert seen_again.interval(*share) == (low, high)


def seen(day, hours, raw, *errors, count=1):
    return {
        'date': DATES[day],
        'errors_logged': errors,
        'self_tests': [],
        'facts': {
            'model': 'ST4000NM0033',
            'rotation': '7200 rpm',
            'health': 'PASSED',
            'errors': str(count),
            'attributes': [
                [9, 'Power_On_Hours', '-O--CK', 100, 100, 0, '-', str(hours)],
                [187, 'Reported_Uncorrect', '-O--CK', 100, 100, 0, '-', str(raw)],
            ],
        },
    }


@pytest.fixture
def history(tmp_path):
    """Disks with an error that is old, recent, and not logged; with an interface error; with an old
    error in the log that no counter counts; with a log that has dropped its errors.
    """
    file = tmp_path / 'history.jsonl.gz'
    file.write_bytes(
        gzip.compress(
            '\n'.join(
                json.dumps(drive)
                for drive in (
                    {
                        'path': 'a',
                        'seen': [
                            seen(0, 20000, 1, [100, 'UNC']),
                            seen(1, 20100, 2, [20050, 'UNC']),
                            seen(2, 21000, 2),
                        ],
                    },
                    {'path': 'b', 'seen': [seen(0, 500, 0, [490, 'ICRC, ABRT']), seen(1, 600, 0)]},
                    {'path': 'c', 'seen': [seen(0, 20000, 0, [100, 'UNC'])]},
                    {'path': 'd', 'seen': [seen(0, 20000, 1, [19950, 'ABRT'], count=9)]},
                )
            ).encode()
        )
    )
    return file


def test_looks_are_judged_with_the_log_of_their_day(history):
    """The age of the newest error is power-on time."""
    text = run_tool('tools.measure', '--seen-again', str(history)).text
    found = {
        (row['state'], row['reason'].partition(' ')[0], row['newest_error']): row['drives']
        for row in json.loads(text)
    }

    assert [
        found['WARNING', 'reported_uncorrect', age] for age in ('over 1 y', 'to 7 d', 'unknown')
    ] == [1, 1, 2]
    assert found['OK', 'data', 'over 1 y'] == found['WARNING', 'data', ''] == 1
    assert found['WARNING', 'ICRC', 'to 7 d'] == found['WARNING', 'data', 'to 7 d'] == 1
    assert found['OK', 'quiet', ''] == 1 and ('WARNING', 'quiet', '') not in found


@pytest.mark.parametrize('line', ['{"path": "a", "seen": [{"da', '{"path": "a", "seen": []}', '[]'])
def test_a_line_of_another_shape_is_named(history, line):
    history.write_bytes(
        gzip.compress(gzip.decompress(history.read_bytes()) + f'\n{line}\n'.encode())
    )

    result = run_tool('tools.measure', '--seen-again', str(history))

    assert (result.code, f'{history}, line 5: ' in result.first_line) == (3, True), result.text


def test_the_document_quotes_the_shares_of_its_data_file():
    """Of Seagate disks with pending sectors; `make verdicts` writes the file, and a person the
    sentence.
    """
    rows = csv.DictReader((verdicts.TABLES / 'seen_again.csv').read_text().splitlines())
    (row,) = [
        row
        for row in rows
        if row['newest_error'] == ''
        and (row['vendor'], row['state'], row['reason']) == ('Seagate', 'WARNING', 'pending')
    ]

    text = ' '.join(verdicts.DOCUMENT.read_text().split())
    assert (
        f'{float(row["gone_percent"]):.0f} % of the Seagate disks with a WARNING for pending'
        in text
    )
    assert f'reallocated sector), {float(row["quiet_gone_percent"]):.0f} % were absent.' in text
