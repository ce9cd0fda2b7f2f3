"""How many drives failed after a finding: counted, said, and the limits that follow from it."""

import json
import math

import pytest
from conftest import ROOT
from measure import limits, risk, ssd_failures, timelines
from measure.risk import LEVEL, POOL, RISE, UNKNOWN, Entry, Stratum

from smart_attributes.check import rulebook
from smart_attributes.constants import DAY
from smart_attributes.errors import DataError
from smart_attributes.knowledge import risks, shipped_data
from smart_attributes.model import Judgement, Reading, Risk, Source, State

HOUR_A_DAY = 24
DEFAULT = json.loads((ROOT / 'thresholds/default.json').read_text())
DATA = json.loads((ROOT / 'thresholds/risk.json').read_text())
TABLE = risk.of_document(DATA)
SEAGATE, HGST = 'Seagate', 'HGST and Hitachi'


# --- shares ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'watched, within, wanted',
    [
        ([], 90, 0.0),
        ([(10, True)], 90, 1.0),
        ([(10, False)], 90, 0.0),
        ([(10, True), (100, False)], 90, 0.5),
        ([(10, False), (20, True), (100, False)], 90, 0.5),
        ([(10, True), (20, False), (100, False)], 90, 1 / 3),
        ([(10, True), (20, True), (30, False), (100, False)], 90, 0.5),
        ([(91, True), (95, False)], 90, 0.0),
        ([(5, True), (5, False)], 90, 0.5),
    ],
)
def test_a_share_is_that_of_kaplan_and_meier(watched, within, wanted):
    """Who was watched for less time counts until then."""
    found = risk.share(
        [Entry(days * HOUR_A_DAY, has_failed) for days, has_failed in watched],
        within * HOUR_A_DAY,
    )

    assert found.share == pytest.approx(wanted)
    assert found.low <= found.share <= found.high


def test_an_interval_is_that_of_greenwood_on_the_scale_of_log_log():
    """10 of 20 failed, all watched: the binomial standard error, 1.645 times."""
    found = risk.share([Entry(1 + each, each < 10) for each in range(20)], 1000)
    spread = math.exp(1.645 * math.sqrt(0.5 / (20 * 0.5)) / math.log(2))

    assert found.share == pytest.approx(0.5)
    assert (found.low, found.high) == pytest.approx(
        (1 - 0.5 ** (1 / spread), 1 - 0.5**spread), rel=0.01
    )


def test_in_the_pool_all_vendors_weigh_the_same():
    """A vendor with ten times the disks and twice the rate moves it to the geometric mean, no
    further.
    """
    stratum = Stratum('pending', LEVEL, 0, 14)
    of = {
        (group, stratum): [Entry(100 * HOUR_A_DAY, False)] * (number - failing)
        + [Entry(50 * HOUR_A_DAY, True)] * failing
        for group, number, failing in ((SEAGATE, 1000, 400), (HGST, 100, 20))
    }

    hazard = risk.pooled(of, risk.SOON)[stratum]

    assert hazard == pytest.approx(
        math.sqrt(math.log(1 / 0.6) * math.log(1 / 0.8)), rel=0.02
    )


# --- strata ---------------------------------------------------------------------------------------


def timeline(*stretches, has_failed=False):
    """Return a disk: (from day, to day, pending sectors)."""
    return timelines.Timeline(
        '1',
        'ST4000NM0033',
        None,
        has_failed,
        tuple(
            timelines.Stretch(start * HOUR_A_DAY, end * HOUR_A_DAY, ((197, number),))
            for start, end, number in stretches
        ),
    )


def lives(*of):
    def judge(report):
        (row,) = report.attributes
        reading = Reading('pending', row.raw_number, '', Source(attribute=197))
        return rulebook.Verdict(
            None,
            report.identity,
            State.OK,
            (Judgement(reading, State.OK),),
            entry='Seagate disk',
        )

    return list(risk.lives(of, judge, {'Seagate disk': SEAGATE}))


def level(above, ends):
    return Stratum('pending', LEVEL, above, ends)


def rise(above, ends):
    return Stratum('pending', RISE, above, ends)


def test_a_disk_is_in_the_strata_of_its_numbers_and_of_their_increases():
    """It grows by 3 on day 100, and is back at 0 on day 120; what it grew by counts on."""
    (life,) = lives(timeline((0, 100, 0), (100, 120, 3), (120, 900, 0)))

    assert [(hour / HOUR_A_DAY, strata) for hour, strata in life.spells] == [
        (100, {level(2, 14), rise(1, 14)}),
        (114, {level(2, 90), rise(1, 90)}),
        (120, {rise(1, 90)}),
        (190, {rise(1, 365)}),
        (465, frozenset()),
    ]
    assert life.looks == []


def test_increases_within_a_week_count_together_and_an_older_larger_one_beside_a_newer():
    (life,) = lives(timeline((0, 10, 0), (10, 12, 4), (12, 50, 8), (50, 60, 9)))

    assert [
        (hour / HOUR_A_DAY, {each for each in strata if each.form == RISE})
        for hour, strata in life.spells
    ] == [
        (10, {rise(1, 14)}),
        (12, {rise(4, 14)}),
        (26, {rise(4, 90)}),
        (50, {rise(0, 14), rise(4, 90)}),
    ]


def test_what_stands_from_the_first_report_on_is_dated_once_that_is_long_enough():
    """And someone who looks each 90 days and remembers nothing knows no date at all."""
    (life,) = lives(timeline((0, 400, 1)))

    assert [(hour / HOUR_A_DAY, strata) for hour, strata in life.spells] == [
        (14, {level(0, 90)}),
        (90, {level(0, 365)}),
        (365, {level(0, risk.OLDEST)}),
    ]
    assert [(hour / HOUR_A_DAY, strata) for hour, strata in life.looks] == [
        (0, {level(0, UNKNOWN)})
    ]


def test_the_stratum_of_the_highest_rate_decides():
    """A disk counts in the table for the sentence that its owner reads."""
    (life,) = lives(timeline((0, 100, 0), (100, 120, 3)))
    rank = {level(2, 14): 2.0, rise(1, 14): 1.0, level(2, 90): 0.5, rise(1, 90): 0.1}

    assert {stratum for _, stratum in risk.entries([life], rank)} == {
        level(2, 14),
        level(2, 90),
    }
    assert {stratum for _, stratum in risk.entries([life])} == set(rank)


def test_a_group_with_few_failures_takes_the_share_of_the_pool():
    disks = [
        *lives(
            *[timeline((0, 10, 0), (10, 20, 1), has_failed=True)] * 20,
            *[timeline((0, 10, 0), (10, 600, 1))] * 20,
        )
    ]
    others = [each._replace(group=HGST, drive='2') for each in disks[18:24]]
    found = risk.table([*disks, *others])[rise(0, 14)]

    assert set(found.of) == {SEAGATE, POOL}
    assert found.row(SEAGATE).soon == pytest.approx(0.5)
    assert found.row(HGST) == found.of[POOL]
    assert (
        risk.of_document(json.loads(risk.as_text(risk.document({rise(0, 14): found}))))[
            rise(0, 14)
        ]
        .row(SEAGATE)
        .drives
        == 40
    )


# --- limits that follow ---------------------------------------------------------------------------


@pytest.mark.parametrize('metric', limits.METRICS)
def test_the_default_limits_of_hard_disks_follow_from_the_shares(metric):
    """For all vendors: python -m tools.measure --risk FOLDER writes both."""
    assert DEFAULT['metrics'][metric]['hdd'] == json.loads(
        json.dumps(limits.of_metric(TABLE, metric))
    )


@pytest.mark.parametrize(
    'stratum',
    [
        each
        for each in TABLE
        if each.form == LEVEL and each.ends == UNKNOWN and TABLE[each].decides
    ],
    ids=str,
)
@pytest.mark.parametrize('group', [SEAGATE, HGST, 'Western Digital', risk.OTHERS])
def test_no_limit_contradicts_the_share_beside_it(stratum, group):
    """CRITICAL where one in three fails within 90 days, WARNING where 15 in 100 fail within a
    year.
    """
    row = TABLE[stratum].row(group)
    found = {
        name: limits.thresholds(TABLE, group, stratum.metric, LEVEL, state)[UNKNOWN]
        for name, state in limits.STATES.items()
    }
    is_beyond = {
        name: above is not None and stratum.above >= above
        for name, above in found.items()
    }

    if is_beyond['critical']:
        assert row.soon >= 0.3, 'of neighbours with few disks, the mean decides'
    elif is_beyond['warning']:
        assert row.soon < 0.45
    else:
        assert row.year.share < 0.15 or (stratum.metric, LEVEL) in limits.FLOORS


# --- what is said ---------------------------------------------------------------------------------


def judgement(
    metric='pending',
    number=1.0,
    state=State.WARNING,
    quiet=None,
    grown=0.0,
    ago=0.0,
    is_bound=False,
    is_doubted=False,
):
    reading = Reading(
        metric,
        number,
        '',
        Source(attribute=197),
        quiet=quiet,
        quiet_is_bound=is_bound,
        quiet_is_doubted=is_doubted,
    )
    return Judgement(reading, state, grown=grown, grown_ago=ago)


def row(soon, year):
    return [100, 50, soon, year, year / 2, min(1.0, year * 2)]


def stratum(metric, form, above, days, **rows):
    return {'metric': metric, 'form': form, 'above': above, 'days': days, 'rows': rows}


SMALL = {
    'hdd': [
        stratum(
            'pending', RISE, 4, 14, **{SEAGATE: row(0.5, 0.9), POOL: row(0.4, 0.7)}
        ),
        stratum('pending', LEVEL, 8, UNKNOWN, **{POOL: row(0.3, 0.6)}),
        stratum('reallocated', LEVEL, 0, UNKNOWN, **{POOL: row(0.2, 0.5)}),
        stratum('pending', LEVEL, 0, UNKNOWN, **{POOL: row(0.1, 0.3)}),
        stratum('pending', LEVEL, 0, 14, **{POOL: row(0.12, 0.3)}),
        stratum('pending', LEVEL, 0, 90, **{POOL: row(0.05, 0.2)}),
    ],
    'ssd': [stratum('pending', LEVEL, 0, UNKNOWN, **{POOL: row(None, 0.05)})],
}


@pytest.mark.parametrize(
    'found, groups, share',
    [
        ([judgement()], (), 0.1),
        ([judgement(number=9)], (), 0.3),
        ([judgement(quiet=DAY)], (), 0.12),
        ([judgement(quiet=20 * DAY)], (), 0.05),
        ([judgement(quiet=DAY, is_bound=True)], (), 0.1),
        ([judgement(quiet=20 * DAY, is_bound=True)], (), 0.05),
        ([judgement(quiet=20 * DAY, is_doubted=True)], (), 0.1),
        ([judgement(grown=5, ago=DAY)], (SEAGATE,), 0.5),
        ([judgement(grown=5, ago=DAY)], ('Other',), 0.4),
        ([judgement(grown=5, ago=20 * DAY)], (SEAGATE,), 0.1),
        ([judgement(grown=4, ago=DAY)], (SEAGATE,), 0.1),
        ([judgement(), judgement('reallocated')], (), 0.2),
        ([judgement(number=0, grown=5, ago=DAY)], (), 0.4),
        ([judgement(), judgement('x', 1)], (), 0.1),
        ([judgement(), judgement('reallocated', 1, State.CRITICAL)], (), 0.2),
    ],
    ids=[
        'level',
        'higher',
        'recent',
        'old',
        'too-short',
        'long-enough',
        'doubted',
        'rise',
        'pool',
        'rise-too-old',
        'rise-too-small',
        'the-worse',
        'back-at-0',
        'beside-others',
        'two-states',
    ],
)
def test_the_first_stratum_that_a_drive_is_in_decides(found, groups, share):
    assert risks.of(SMALL, found, 'hdd', groups).share_90 == share


@pytest.mark.parametrize(
    'found, kind',
    [
        ([], 'hdd'),
        ([judgement('x')], 'hdd'),
        ([judgement(number=0)], 'hdd'),
        ([judgement()], 'nvme'),
        ([judgement()], 'sas'),
        ([judgement()], ''),
        ([judgement(state=State.OK)], 'hdd'),
    ],
    ids=[
        'nothing',
        'not-counted',
        'zero',
        'nvme',
        'sas',
        'no-kind',
        'ok',
    ],
)
def test_no_rate_is_invented(found, kind):
    assert risks.of(SMALL, found, kind, ()) is None


@pytest.mark.parametrize(
    'decides',
    [
        judgement('temperature', 75, State.CRITICAL),
        Judgement(
            Reading('smart_status', 0, '', Source('x'), state=State.CRITICAL),
            State.CRITICAL,
        ),
    ],
    ids=['heat', 'the-drive-itself'],
)
def test_the_rate_is_that_of_its_finding_whatever_decides_the_state(decides):
    told = risks.of(SMALL, [decides, judgement()], 'hdd', ())

    assert told and (told.metric, told.share_90) == ('pending', 0.1)


def test_a_rate_has_its_drives_and_its_bounds():
    found = risks.of(SMALL, [judgement()], 'hdd', ())

    numbers = 0.1, 0.3, 0.15, 0.6, 100, 50
    assert found == Risk('pending', found.whose, *numbers, found.said)
    assert f' 1 in 10 such {found.whose} ' in found.said and found.whose.endswith(
        'all vendors'
    )


@pytest.mark.parametrize(
    'soon, year, said',
    [
        (
            0.5,
            0.9,
            'About 5 in 10 such Seagate disks failed within 90 days, 9 in 10 within a year.',
        ),
        (
            0.04,
            0.12,
            'About 1 in 25 such Seagate disks failed within 90 days, 1 in 10 within a year.',
        ),
        (
            0.951,
            1,
            'Nearly all such Seagate disks failed within 90 days, nearly all within a year.',
        ),
        (
            0,
            0.005,
            'Almost no such Seagate disks failed within 90 days, almost none within a year.',
        ),
        (None, 0.049, 'About 1 in 20 such Seagate disks failed within a year.'),
    ],
)
def test_a_share_is_said_as_it_was_counted(soon, year, said):
    data = {
        'hdd': [
            stratum(
                'pending',
                LEVEL,
                0,
                0,
                **{POOL: row(0.1, 0.2), SEAGATE: row(soon, year)},
            )
        ],
        'ssd': [],
    }
    assert risks.of(data, [judgement()], 'hdd', (SEAGATE,)).said == said


@pytest.mark.parametrize(
    'error', [DataError('cannot be read'), KeyError('hdd')], ids=['unreadable', 'other']
)
def test_a_damaged_file_costs_the_rate_and_nothing_else(error, monkeypatch):
    def fail(path):
        raise error

    risks.shipped.cache_clear()
    monkeypatch.setattr(shipped_data, 'load', fail)
    assert rulebook.risk_of([judgement()], 'hdd', ()) is None


def test_shares_of_ssds_are_those_of_their_fleet():
    """Ten times as many failed ones beyond a number as healthy ones: ten times the fleet's
    yearly rate.
    """
    counts = {
        'failed': 1000,
        'failed_beyond': 100,
        'healthy': 1000,
        'healthy_beyond': 10,
    }
    rows = [
        {'vendor': vendor, 'metric': metric, 'limit': f'above {number:g}', **counts}
        for vendor in 'ABC'
        for metric, numbers in ssd_failures.BANDS.items()
        for number in numbers
    ]
    first, *_ = ssd_failures.risks(rows)

    assert first['rows']['Samsung server SSDs'][:4] == [110, 100, None, 0.09]
    assert first['rows'][POOL][3] == 0.09


def test_the_shipped_file_is_complete_and_ordered():
    """Each stratum once; shares are shares, and lie within their interval."""
    for kind in ('hdd', 'ssd'):
        keys = [
            (each['metric'], each['form'], each['above'], each['days'])
            for each in DATA[kind]
        ]
        assert len(set(keys)) == len(keys)
        for each in DATA[kind]:
            assert POOL in each['rows']
            for drives, failures, soon, year, low, high in each['rows'].values():
                assert (
                    0 <= failures <= drives
                    and 0 <= low <= year <= high <= 1
                    and 0 <= (soon or 0) <= year + 0.001
                )


def test_the_table_in_the_documents_is_that_of_the_program():
    assert (ROOT / 'doc/explanation/data/risk.csv').read_text() == risk.as_csv(DATA)
