"""Counters that can only rise and were lower than at an earlier check: what is a fall, and who
hears of it.
"""

import json

import pytest
from days import DAY, HOUR, START, Machine, disk

from smart_attributes.history import past as earlier
from smart_attributes.history.past import Past, key
from smart_attributes.history.series import CHANGE, History, Key, Observation, Point
from smart_attributes.model import Reading, Source


def reading(metric, number, unit='', **more):
    return Reading(metric, number, unit, Source(attribute=9), **more)


def past(of, *points, now=START, firmware='1.0', last_read=START - HOUR):
    """What history holds of a reading: numbers and when they came."""
    return Past(
        {
            key(of): History(
                tuple(Point(START + when, number) for when, number in points), last_read
            )
        },
        now,
        firmware=firmware,
    )


def fell(metric, before, after, unit=''):
    now = reading(metric, after, unit)
    return [
        fall.before
        for fall in earlier.falls(
            past(now, (-2 * DAY, 0), (-DAY, before)), [now], '1.0'
        )
    ]


@pytest.mark.parametrize(
    'metric, before, after, is_fall',
    [
        ('power_on_time', 1000 * HOUR, 975 * HOUR, True),
        ('power_on_time', 1000 * HOUR, 976 * HOUR, False),
        ('power_on_time', 10_000 * HOUR, 9_800 * HOUR, False),
        ('power_on_time', 10_000 * HOUR, 9_799 * HOUR, True),
        ('power_on_time', 1000 * HOUR, 1001 * HOUR, False),
        ('power_cycles', 10, 9, False),
        ('power_cycles', 10, 8, True),
        ('power_cycles', 200, 196, False),
        ('power_cycles', 200, 195, True),
        ('host_written', 1e12, 0.98e12, False),
        ('host_written', 1e12, 0.97e12, True),
        ('nand_written', 1e12, 0, True),
        ('endurance_used', 50, 49, False),
        ('endurance_used', 50, 48, True),
        ('endurance_used', 150, 148, True),
        ('crc_errors', 9, 0, False),
        ('temperature', 50, 20, False),
    ],
)
def test_a_fall_is_more_than_rounding_and_a_day(metric, before, after, is_fall):
    """A drive stores its counters now and then: after a power cut it may lack the last hours."""
    assert fell(metric, before, after) == ([before] if is_fall else [])


@pytest.mark.parametrize(
    'changed', [{'judged': False}, {'number': None}, {'source': Source(attribute=10)}]
)
def test_another_series_or_no_number_is_no_fall(changed):
    """A changed entry starts a series; of two sources of a metric one counts."""
    known = past(reading('power_on_time', 0), (-DAY, 9e9))

    assert (
        earlier.falls(known, [reading('power_on_time', 0)._replace(**changed)], '1.0')
        == []
    )
    assert earlier.falls(Past(now=START), [reading('power_on_time', 0)], '1.0') == []


@pytest.mark.parametrize(
    'metric, before, words',
    [
        ('power_on_time', 64_000 * HOUR, 'back between'),
        ('power_on_time', 65_000 * HOUR, 'or overflowed between'),
        ('host_written', 64_000, 'or overflowed between'),
    ],
)
def test_only_a_young_power_on_time_did_not_run_over(metric, before, words):
    """48 bits of microseconds last 78,187 h, 16 bits of hours 65,536, 32 bits of sectors 2.2 TB."""
    now = reading(metric, 0)
    (fall,) = earlier.falls(past(now, (-DAY, before)), [now], '1.0')

    assert words in earlier.fall_note(fall)


def test_it_is_stored_once_with_the_firmware_of_both_sides():
    """The next check knows the new number and the new firmware only."""
    now = reading('power_on_time', 10 * HOUR, 's')
    known = past(now, (-DAY, 900 * HOUR))
    name = Key('power_on_time, set back', '(firmware 1.0 before, 1.1 after)')

    assert earlier.former_numbers(known, [now], '1.1') == (
        Observation(name, 900 * HOUR, CHANGE, HOUR),
    )
    stored = known._replace(
        firmware='1.1',
        histories={
            **known.histories,
            name: History((Point(START - HOUR, 900 * HOUR, 60),), START),
        },
    )
    assert earlier.former_numbers(stored, [now], '1.1') == ()
    (fall,) = earlier.falls(stored, [now], '1.1')
    assert (fall.since, fall.noticed, fall.firmware) == (
        START - HOUR - 60,
        START - HOUR,
        name.definition,
    )


@pytest.fixture
def machine(tmp_path):
    """A disk with 20,000 h, which has 5 h and another firmware after two days."""
    found = Machine(tmp_path)
    found.holds(sda=disk())
    found.check(START)
    found.check(START + DAY)
    found.holds(sda={**disk(a9=5), 'firmware_version': '1.1'})
    return found


SAID = (
    'power_on_time was set back between 2026-11-21 00:00 and 2026-11-22 00:00 (firmware 1.0 '
    'before, 1.1 after): '
    'it was 20000 h before'
)


def test_checks_report_it_for_30_days_and_stay_ok(machine):
    """From the check that notices it, at most once a check."""
    for after in (0, 60, DAY, 29.9 * DAY):
        told = machine.check(START + 2 * DAY + after, '-v')

        assert told.code == 0
        assert (
            told.text.count(f'  note: {SAID}\n') == told.text.count('set back') == 1
        ), after
    assert 'set back' not in machine.check(START + 32 * DAY, '-v').text


def test_a_second_fall_is_reported_beside_the_first(machine):
    """With the dates of each."""
    machine.check(START + 2 * DAY)
    machine.holds(sda={**disk(a9=700), 'firmware_version': '1.1'})
    machine.check(START + 31 * DAY)
    machine.holds(sda={**disk(a9=1), 'firmware_version': '1.1'})

    for after in (0, HOUR, DAY / 4):
        told = machine.check(START + 31.5 * DAY + after, '-v').text
        assert f'note: {SAID}\n' in told
        assert ' 2026-12-21 12:00: ' in told and ' 700 h before\n' in told


def test_readers_see_it_too(machine):
    """Before a check has stored it, and after."""
    for _ in range(2):
        (drive,) = json.loads(
            machine.run(START + 2 * DAY, 'triage', '--json', '-d', '/dev/sda').text
        )['drives']
        assert [
            note for note in drive['notes'] if note['code'] == 'counter-set-back'
        ] == [
            {
                'code': 'counter-set-back',
                'text': SAID,
                'metric': 'power_on_time',
                'before': 20_000 * HOUR,
                'since': START + DAY,
                'noticed': START + 2 * DAY,
            }
        ]
        assert f'note: {SAID}' in machine.run(
            START + 2 * DAY, 'explain', '-d', '/dev/sda'
        ).text.replace('\n', ' ')
        machine.check(START + 2 * DAY)
