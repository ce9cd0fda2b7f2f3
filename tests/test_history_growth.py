"""Growth, wear, acknowledgements: decided from points alone."""

from __future__ import annotations

import pytest
from shipped import DEFAULTS

from smart_attributes import wording
from smart_attributes.constants import DAY
from smart_attributes.history import growth, past, series
from smart_attributes.history.growth import Growth
from smart_attributes.history.series import CHANGE, History, Point
from smart_attributes.knowledge import acknowledgements, thresholds
from smart_attributes.knowledge.thresholds import Acknowledgement, growth_rule
from smart_attributes.model import Forecast, GrowthRule, Reading, Source, State

START = 1_795_000_000
STEP = 300
HOUR = 3600
WEEK = 7 * DAY
MONTH = 30 * DAY
CABLE = GrowthRule(DAY, WEEK, 0, advice='check cable and backplane')


def history(*readings: tuple[int, float]) -> History:
    """What history holds after readings at these times."""
    found = History()
    for time, number in readings:
        found = series.with_reading(found, number, time)
    return found


def told(found: History, now: int, *rules: GrowthRule) -> Growth | None:
    return growth.worst(found, rules or (CABLE,), now, is_level=False, falls=False)


GREW = 'crc_errors grew by '


@pytest.mark.parametrize(
    'readings, now, sentence',
    [
        (
            [(0, 212), (STEP, 226)],
            STEP,
            '14 in 5 min (212 to 226): check cable and backplane',
        ),
        (
            [(0, 212), (10 * DAY, 226)],
            10 * DAY,
            '14 in 10 d (212 to 226): check cable and backplane',
        ),
        (
            [(0, 212), (10 * DAY, 226)],
            10 * DAY + STEP,
            '14 in 10 d (212 to 226): check cable and backplane',
        ),
        (
            [(0, 1), (STEP, 2), (3 * DAY, 2)],
            3 * DAY,
            '1 in 5 min (1 to 2), 3 d ago: check cable and backplane',
        ),
        (
            [(0, 1), (STEP, 2), (3 * DAY, 2)],
            STEP + HOUR,
            '1 in 5 min (1 to 2), 60 min ago: check cable and backplane',
        ),
        (
            [(0, 1), (STEP, 2), (3 * DAY, 2)],
            STEP + HOUR - 1,
            '1 in 5 min (1 to 2): check cable and backplane',
        ),
        (
            [(0, 10), (STEP, 16), (2 * STEP, 0), (3 * STEP, 2)],
            3 * STEP,
            '8 in 15 min (10 to 2, reset in between): check cable and backplane',
        ),
        (
            [(0, 0.1), (STEP, 0.3)],
            STEP,
            '0.2 in 5 min (0.1 to 0.3): check cable and backplane',
        ),
    ],
)
def test_growth_is_told_with_the_numbers_the_time_and_what_to_do(
    readings, now, sentence
):
    """Growth while nobody looked has its real time: five minutes would be an invented rate."""
    found = history(*((START + time, number) for time, number in readings))
    grown = told(found, START + now)

    assert grown is not None
    assert growth.sentence('crc_errors', '', grown, START + now) == GREW + sentence


@pytest.mark.parametrize(
    'readings, size',
    [
        ([(0, 226)], None),
        ([(0, 226), (DAY, 226)], None),
        ([(0, 30), (STEP, 0), (2 * STEP, 30)], None),
        ([(0, 30), (STEP, 0), (2 * STEP, 34)], 4),
        ([(0, 30), (STEP, 0), (2 * STEP, 5)], 5),
        ([(0, 30), (STEP, 0), (STEP + 2 * DAY, 30)], 30),
        ([(0, 65530), (STEP, 3)], None),
        ([(0, 10), (STEP, 12), (2 * STEP, 0)], 2),
    ],
)
def test_what_fell_has_not_grown_but_what_rose_before_or_after_has(readings, size):
    """226 errors of ten years are not of today; firmware may answer 0 once."""
    found = told(
        history(*((START + time, number) for time, number in readings)),
        START + readings[-1][0],
    )

    assert (found and found.size) == size


@pytest.mark.parametrize(
    'ago, is_told',
    [
        (0, True),
        (WEEK - 1, True),
        (WEEK, False),
    ],
)
def test_the_hold_starts_when_growth_is_noticed(ago, is_told):
    """However many checks and manual runs look in between."""
    found = history(
        (START, 1),
        (START + DAY, 2),
        *((START + DAY + STEP * place, 2) for place in range(1, 5)),
    )
    found = found._replace(last_read=max(found.last_read, START + DAY + ago))

    assert (told(found, START + DAY + ago) is not None) is is_told


@pytest.mark.parametrize(
    'readings, rule, state, ends',
    [
        ([(0, 0), (STEP, 3)], (WEEK, WEEK, 3, 8), None, None),
        ([(0, 0), (STEP, 4)], (WEEK, WEEK, 3, 8), State.WARNING, (0, 4)),
        ([(0, 0), (STEP, 8)], (WEEK, WEEK, 3, 8), State.WARNING, (0, 8)),
        ([(0, 0), (STEP, 9)], (WEEK, WEEK, 3, 8), State.CRITICAL, (0, 9)),
        # rises further apart than the period are not added up
        ([(0, 0), (STEP, 4), (2 * DAY, 8)], (DAY, WEEK, 5), None, None),
        # all rises of the period are, and none before it
        (
            [
                (0, 0),
                (DAY, 1),
                (9 * DAY, 3),
                (9 * DAY + HOUR, 7),
                (9 * DAY + 2 * HOUR, 15),
            ],
            (DAY, 28 * DAY, 0),
            State.WARNING,
            (1, 15),
        ),
        # critical growth counts, although smaller growth came later
        (
            [(0, 0), (STEP, 20), (3 * DAY, 21)],
            (DAY, WEEK, 0, 10),
            State.CRITICAL,
            (0, 20),
        ),
        # of equals, the newest
        ([(0, 0), (STEP, 5), (3 * DAY, 7)], (DAY, WEEK, 0), State.WARNING, (5, 7)),
        # a period in which each reading was higher
        (
            [(day * DAY, day) for day in range(100)],
            (DAY, WEEK, 0),
            State.WARNING,
            (98, 99),
        ),
    ],
)
def test_growth_is_what_rose_in_the_period_of_its_rule(readings, rule, state, ends):
    found = history(*((START + time, number) for time, number in readings))
    grown = told(found, START + readings[-1][0], GrowthRule(*rule))

    assert (grown and grown.state) is state
    assert (grown and (grown.before, grown.after, grown.size)) == (
        ends and (*ends, ends[1] - ends[0])
    )


def test_several_rules_hold_side_by_side():
    """One warns a year, the other is critical for 90 days."""
    rules = (GrowthRule(DAY, 365 * DAY, 1), GrowthRule(WEEK, 90 * DAY, None, 20))
    found = history((START, 0), (START + STEP, 30))

    assert told(found, START + STEP, *rules).state is State.CRITICAL
    assert told(found, START + 91 * DAY, *rules).state is State.WARNING
    assert told(found, START + 366 * DAY, *rules) is None


@pytest.mark.parametrize(
    'readings, is_told',
    [
        ([(0, 0), (STEP, 1), (STEP + 30, 0)], False),  # ok flipped
        ([(0, 0), (STEP, 1)], False),  # ok seen once
        (
            [(0, 0), (STEP, 1), (STEP + 30, 1), (STEP + 1200, 0)],
            False,
        ),  # ok fell while nobody looked
        ([(0, 0), (STEP, 1), (STEP + 540, 1)], False),  # ok nine minutes
        ([(0, 0), (STEP, 1), (STEP + 600, 1)], True),  # warn ten minutes
        # warn stood then fell
        ([(0, 0), (STEP, 1), (STEP + 600, 1), (STEP + 900, 0)], True),
        ([(0, 0), (STEP, 1), (STEP + 600, 2)], True),  # warn rose on
    ],
)
def test_a_gauge_that_flips_counts_when_it_stands(readings, is_told):
    """Pending sectors of some SSDs go to 1 and back for seconds."""
    found = history(*((START + time, number) for time, number in readings))

    assert (
        told(found, START + 2000, GrowthRule(DAY, WEEK, 0, stands=600)) is not None
    ) is is_told


def test_what_had_to_stand_is_told_from_then_on():
    """For as long as its rule says, with all that rose in the rule's time before it."""
    rule = GrowthRule(DAY, DAY, 0, stands=10 * HOUR)
    found = history(
        (START, 0), (START + HOUR, 1), (START + DAY, 3), (START + 3 * DAY, 3)
    )
    end = START + DAY + 10 * HOUR + DAY

    assert told(found, end - 1, rule).size == 3
    assert told(found, end, rule) is None


def test_a_number_that_is_noted_twice_has_stood_all_the_time():
    """As smartd's logs have it."""
    found = History(
        tuple(
            Point(START + STEP * place, number, STEP)
            for place, number in enumerate((0, 1, 1, 1))
        ),
        START + 3 * STEP,
    )

    assert (
        told(found, START + 2000, GrowthRule(DAY, WEEK, 0, stands=2 * STEP)) is not None
    )
    assert growth.quiet(found, START + 2000, '') == (2000 - STEP, True), (
        'it has not grown by being noted'
    )


@pytest.mark.parametrize('hours, is_told', [(2, False), (3.9, False), (4, True)])
def test_a_pending_page_of_a_solid_state_drive_is_told_when_it_stays(hours, is_told):
    """By default: Crucial MX500 show one for up to two hours while they move data, and mean
    nothing by it.
    """
    rule = DEFAULTS['metrics']['pending']['ssd']['growth']
    end = START + STEP + int(hours * HOUR)
    found = history((START, 0), (START + STEP, 1), (end, 1), (end + STEP, 0))

    assert (told(found, START + 6 * HOUR, growth_rule(rule)) is not None) is is_told


@pytest.mark.parametrize(
    'metric, numbers, quiet',
    [
        ('pending', (1, 2, 2), (9 * DAY, True)),
        ('pending', (1, 1, 1), (10 * DAY, False)),  # at least since the history began
        ('media_errors', (0, 12, 9), (0, True)),
        ('media_errors', (0, 12, 0), (9 * DAY, True)),
        ('pending', (0, 12, 9), (9 * DAY, True)),
    ],
)
def test_a_counter_has_been_quiet_since_it_grew_or_counted_after_a_reset(
    metric, numbers, quiet
):
    """A counter of errors falls only by a reset, so all that it has counted since is new; sectors
    can become good again.
    """
    found = history(*zip((START, START + DAY, START + 10 * DAY), numbers))

    assert growth.quiet(found, START + 10 * DAY, metric) == quiet


# --- rules as they are written ----------------------------------------------------------


def test_a_rule_is_read_from_the_thresholds():
    data = {
        'within': '24h',
        'warning': '0',
        'critical': None,
        'for': '7d',
        'advice': 'check cable and backplane',
    }

    assert growth_rule(data) == CABLE._replace(gone=180 * DAY)
    assert growth_rule({**data, 'stands': '10m', 'critical': '2.5'})[3:5] == (2.5, 600)
    assert growth_rule(
        {'within': '24h', 'for': '7d', 'times': 3, 'gone': '9d'}
    ) == GrowthRule(DAY, WEEK, times=3, gone=9 * DAY)


@pytest.mark.parametrize(
    'seconds, words',
    [
        (1, '1 min'),
        (600, '10 min'),
        (7199, '120 min'),
        (7200, '2 h'),
        (2 * DAY, '48 h'),
        (WEEK, '7 d'),
    ],
)
def test_a_time_is_said_as_people_do(seconds, words):
    assert wording.duration(seconds) == words


# --- wear -----------------------------------------------------------------------------------


AT_40, AT_50 = (-400, 40), (-1, 50)  # days ago, %
FOUR_YEARS = 4 * 365


@pytest.mark.parametrize(
    'points, age, gone, is_hasty',
    [
        # 40 % in four years, then 10 % in a month: worn out in 150 days
        ([(-400, 39), (-31, 40), (-20, 45), AT_50], FOUR_YEARS, 151, True),
        ([(-400, 39), (-31, 40), (-20, 45), AT_50], FOUR_YEARS, 150, False),
        # no faster than three times the average
        ([AT_40, AT_50], 451, 151, True),
        ([AT_40, AT_50], 450, 151, False),
        ([AT_40, AT_50], 0, 151, False),
        # the step at the very beginning of the period is before it
        ([(-400, 20), (-30, 40), AT_50], FOUR_YEARS, 150, False),
        ([(-400, 20), (-30, 40), AT_50], FOUR_YEARS, 151, True),
        # what is worn out has no time left
        ([(-400, 90), (-1, 110)], FOUR_YEARS, 1, True),
        ([(-400, 90), (-1, 110)], FOUR_YEARS, 0, False),
        # no speed without a whole period, or if the number stood or fell
        ([(-10, 40), (0, 50)], FOUR_YEARS, 10**6, False),
        ([AT_40, (0, 40)], FOUR_YEARS, 10**6, False),
        ([AT_40, (0, 30)], FOUR_YEARS, 10**6, False),
        ([(-400, 20), (-30, 40)], FOUR_YEARS, 10**6, False),
        ([(-400, 20), (-20, 30), (-1, 20)], FOUR_YEARS, 10**6, False),
    ],
)
def test_haste_is_speed_against_the_drive_s_own_life_and_an_early_end(
    points, age, gone, is_hasty
):
    """Each alone would be a false alarm."""
    worn = history(*((START + day * DAY, used) for day, used in points))
    rule = GrowthRule(MONTH, 0, times=3, gone=gone * DAY)

    assert growth.is_hasty(worn, rule, START, age * DAY) is is_hasty


# --- acknowledgements -------------------------------------------------------------------------

GIVEN = Acknowledgement(
    'S1', 'reallocated', 3, 'stable since 2024', '2027-01-31', 'ops', '2026-11-22'
)


@pytest.mark.parametrize(
    'other',
    [
        {'for': {'serial': 'S1'}},
        {'for': {'serial': 'S1'}, 'metrics': {'reallocated': {'warning': '3'}}},
        {'for': {'model': 'M'}, 'metrics': {'reallocated': {'acknowledged': 3}}},
    ],
)
def test_other_overrides_of_the_file_are_no_acknowledgements(other):
    """A limit, or an acknowledgement of a whole model, accepts no value of one drive."""
    assert list(thresholds.from_override(other)) == []
    assert list(thresholds.from_override(acknowledgements.as_override(GIVEN))) == [
        GIVEN
    ]


@pytest.mark.parametrize(
    'changed, said',
    [
        (
            {},
            'reallocated is acknowledged at 3 by ops on 2026-11-22 until 2027-01-31: stable since '
            '2024 (acknowledged.json)',
        ),  # all
        (
            {'why': '', 'until': '', 'by': '', 'at': '', 'origin': 'site.json'},
            'reallocated is acknowledged at 3 (site.json)',
        ),  # nothing
    ],
)
def test_an_acknowledgement_is_told_with_whatever_is_known_of_it(changed, said):
    assert acknowledgements.telling(GIVEN._replace(**changed), '') == said


@pytest.mark.parametrize(
    'number, falls, is_silent',
    [
        (3, False, True),
        (2, False, True),
        (4, False, False),
        (3, True, True),
        (2, True, False),
        (4, True, True),
    ],
)
def test_silent_at_that_value_loud_when_it_grows(number, falls, is_silent):
    assert thresholds.is_silent(GIVEN, number, falls) is is_silent
    assert not thresholds.is_silent(None, number, falls)


# --- what earlier checks tell of a reading ----------------------------------------------------

CRC = Reading('crc_errors', 5, '', Source(attribute=199, definition='raw'))


def remembered(
    reading: Reading, *points: tuple[int, float], now: int = START
) -> past.Past:
    """What history holds of a reading, at these times."""
    return past.Past({past.key(reading): history(*points)}, now)


def test_each_number_is_remembered_and_nothing_else():
    """Be it judged or kept for comparison: no verdict, nothing unknown, nothing that was
    foreseen.
    """
    warm = Reading('temperature', 0, 'C', Source(attribute=194), judged=False)
    others = [
        CRC._replace(number=None, metric='pending'),
        CRC._replace(state=State.OK, metric='smart_status'),
        CRC._replace(forecast=Forecast(1, 0, 2, True), metric='endurance_time_left'),
    ]

    assert past.observations([*others, CRC, warm], None) == (
        (past.key(CRC), 5, CHANGE, 0),
        (past.key(warm), 0, series.HIGHEST, 0),
    )


@pytest.mark.parametrize(
    'points, log, quiet',
    [
        ([(-2 * DAY, 4), (-HOUR, 5)], None, (HOUR, False)),  # has just grown
        ([(-HOUR, 5)], None, (None, False)),  # history has just begun
        ([(-DAY, 5)], None, (DAY, True)),  # a day is told
        ([(-2 * DAY, 6), (-HOUR, 5)], None, (2 * DAY, True)),  # fell
        ([(-2 * DAY, 4), (-HOUR, 5)], DAY, (HOUR, False)),  # newer than its log
        ([(-2 * DAY, 4), (-HOUR, 5)], HOUR, (HOUR, True)),  # as old as its log
        # older than its log
        ([(-2 * DAY, 4), (-HOUR, 5)], HOUR // 2, (HOUR // 2, True)),
    ],
)
def test_a_reading_is_as_old_as_history_and_its_log_tell(points, log, quiet):
    """The newer one is right: no drive is silent for an event that only one of them has noticed."""
    known = remembered(
        CRC, *((START + ago, number) for ago, number in points), (START, 5)
    )
    found = past.quieted(known, CRC._replace(quiet=log, quiet_is_bound=log is not None))

    assert (found.quiet, found.quiet_is_bound) == quiet


def alert_of(
    known: past.Past,
    reading: Reading,
    rule: dict[str, object],
    age: float | None = None,
) -> growth.GrowthAlert | None:
    found = past.history(known, reading)
    assert found
    return growth.alert(found, reading, [growth_rule(rule)], known.now, False, age)


USED = Reading('endurance_used', 0, '%', Source(log='NVMe health log'))
HASTE = {'within': '30d', 'warning': '2', 'critical': None, 'for': '30d', 'times': 3}
EVER = 1000 * 365 * DAY  # in which it used nearly nothing


@pytest.mark.parametrize(
    'rule, points, age, is_told',
    [
        ({}, [(-40, 73), (-1, 77)], EVER, True),  # warn gone within 180 days
        ({}, [(-40, 72), (-1, 76)], EVER, False),  # ok 180 days
        # warn gone within 181 days
        ({'gone': '181d'}, [(-40, 72), (-1, 76)], EVER, True),
        ({}, [(-40, 95), (-1, 97)], EVER, False),  # ok no more than the limit
        ({}, [(-40, 73), (-1, 77)], None, False),  # ok age not known
        # warn as old as its rule
        ({'within': '10d'}, [(-20, 73), (-1, 77)], EVER, True),
    ],
)
def test_wear_is_told_where_it_is_hasty_as_its_rule_says(rule, points, age, is_told):
    known = remembered(USED, *((START + day * DAY, number) for day, number in points))
    today = USED._replace(number=points[-1][1])

    assert (alert_of(known, today, {**HASTE, **rule}, age) is not None) is is_told


def test_growth_is_told_against_the_limit_that_it_exceeds():
    """A critical one against the critical limit, so that whoever reads it knows by how much."""
    rule = {'within': '24h', 'warning': '2', 'critical': '10', 'for': '7d'}

    def against(before: float) -> tuple[str, str]:
        alert = alert_of(
            remembered(CRC, (START - HOUR, before), (START, 20)),
            CRC._replace(number=20),
            rule,
        )
        assert alert is not None
        assert alert.against.code == 'growth'
        return f'{alert.state.name} {alert.against}', alert.against.fields['limit']

    assert against(15) == ('WARNING above 2 in 24 h', '2')
    assert against(5) == ('CRITICAL above 10 in 24 h', '10')


# hours and degrees, read often enough to tell a change from fluctuation
WARMER = [*zip(range(-33, -23), [10, 11] * 5), (-2, 20), (-1, 21), (0, 20)]


@pytest.mark.parametrize(
    'unit, numbers, brief',
    [
        ('', [(-24, 10), (0, 20)], 'above 2'),  # "grew by 10 in 24 h (warning above 2)"
        ('', [(-1, 10), (0, 20)], ''),
        ('C', WARMER, ''),  # "rose from 10 C to 20 C in 24 h" does not say its size
    ],
)
def test_only_a_rise_in_the_period_of_its_rule_has_a_limit_without_it(
    unit, numbers, brief
):
    reading = CRC._replace(number=20, unit=unit)
    known = remembered(reading, *((START + ago * HOUR, at) for ago, at in numbers))
    alert = alert_of(known, reading, {'within': '24h', 'warning': '2', 'for': '7d'})

    assert alert and alert.against.fields['brief'] == brief


# --- hysteresis, as a series ----------------------------------------------------------------


def heat(number: float, metric: str = 'temperature') -> Reading:
    return CRC._replace(metric=metric, number=number)


def cooling(
    before: float | None, *recent: tuple[int, float], metric: str = 'temperature'
) -> past.Past:
    """What history holds of a drive: the level of the check before, and the readings of the last
    days.
    """
    key = past.key(heat(0, metric))
    levels = () if before is None else ((START - DAY, before),)
    return past.Past(
        {
            key._replace(metric=f'{metric}, held'): history(*levels),
            key._replace(metric=f'{metric}, recent'): history(*recent),
        },
        START,
    )


HOT = ((START - 2 * DAY, 60), (START - 600, 50))


def only(name: str) -> past.Past:
    """Return a history that lacks one of the two series."""
    kept = cooling(60, *HOT).histories.items()
    return past.Past({key: stored for key, stored in kept if name in key.metric}, START)


@pytest.mark.parametrize(
    'known, metric, number, level',
    [
        (cooling(60, *HOT), 'temperature', 50, 60),
        (cooling(55, *HOT), 'temperature', 50, 55),
        (cooling(60, *HOT), 'temperature', 61, 61),
        (cooling(60, (START - 2 * DAY, 50)), 'temperature', 50, 53),
        (cooling(None, *HOT), 'temperature', 50, 50),
        (past.Past({}, START), 'temperature', 50, 50),
        (only('held'), 'temperature', 50, 50),
        (only('recent'), 'temperature', 50, 50),
        (cooling(60, *HOT, metric='crc_errors'), 'crc_errors', 50, 50),
        (past.Past({}, START), 'temperature', None, 0),
    ],
)
def test_the_level_of_the_check_before_is_held_with_its_margin(
    known, metric, number, level
):
    """Of temperatures alone, and of nothing that history does not know."""
    assert past.held(known, heat(number, metric)) == level


@pytest.mark.parametrize(
    'known, metric, judged, series_of',
    [
        (
            cooling(60, *HOT),
            'temperature',
            True,
            {'temperature': 50, 'temperature, recent': 50, 'temperature, held': 60},
        ),
        (cooling(60, *HOT), 'temperature', False, {'temperature': 50}),
        (None, 'temperature', True, {'temperature': 50}),
        (cooling(60, *HOT), 'crc_errors', True, {'crc_errors': 50}),
    ],
)
def test_what_hysteresis_needs_is_kept_beside_a_judged_temperature(
    known, metric, judged, series_of
):
    kept = past.observations([heat(50, metric)._replace(judged=judged)], known)

    assert {seen.key.metric: seen.number for seen in kept} == series_of
    assert [seen.pace for seen in kept[1:]] == [series.LATELY] * (len(series_of) - 1)
