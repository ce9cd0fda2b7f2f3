"""tools.measure --timelines: what states and alarms are worth, on timelines made for the test."""

import gzip
import json

import pytest
from conftest import ROOT, run_tool
from measure import timelines

pytestmark = pytest.mark.tools

HEAD = 'drive,model,from,to,failed,a5,a187,a197\n'
YEAR, DAY = 8766, 24


def row(drive, start, end, failed=0, reallocated=0, uncorrect=0, pending=0):
    return f'{drive},ST31500541AS,{start},{end},{failed},{reallocated},{uncorrect},{pending}\n'


@pytest.fixture
def measured(tmp_path):
    def measure(*rows, head=HEAD):
        """Return what the tool prints about these rows."""
        file = tmp_path / 'timelines.csv'
        file.write_text(head + ''.join(rows))
        result = run_tool('tools.measure', '--timelines', str(file))
        assert result.code == 0, result.text
        return json.loads(result.text)

    return measure


@pytest.fixture
def walked(measured):
    def walk(metric, *looks):
        """Return the states of one drive; looks: from, to, failed, number."""
        rows = (f'1,ACME,{",".join(map(str, look))}\n' for look in looks)
        return measured(*rows, head=f'drive,model,from,to,failed,{metric}\n')['states']

    return walk


def test_a_failure_counts_for_the_state_that_the_drive_was_in(measured):
    """One quiet year, half a year of 100 uncorrectable errors, then the failure: 200 % a year in
    CRITICAL.
    """
    found = measured(
        row(1, 0, YEAR),
        row(1, YEAR, 1.5 * YEAR, failed=1, uncorrect=100),
        row(2, 0, 2 * YEAR),
    )

    assert (found['drives'], found['drive_years'], found['failures']) == (2, 3.5, 1)
    assert found['states'] == {
        'OK': {'drive_years': 3.0, 'failures': 0, 'percent_per_year': 0.0},
        'WARNING': {'drive_years': 0.0, 'failures': 0, 'percent_per_year': None},
        'CRITICAL': {'drive_years': 0.5, 'failures': 1, 'percent_per_year': 200.0},
    }


def test_a_drive_alarms_once_however_often_it_returns(measured):
    """An admin who was told of the drive needs no second alarm; WARNING and CRITICAL are two
    levels.
    """
    found = measured(
        row(1, 0, YEAR, pending=1),
        row(1, YEAR, 2 * YEAR),
        row(1, 2 * YEAR, 3 * YEAR, pending=1),
        row(1, 3 * YEAR, 4 * YEAR, pending=100),
        row(2, 0, YEAR),
    )

    assert found['alarms_per_1000_drive_years'] == 200.0
    assert found['critical']['alarms_per_1000_drive_years'] == 200.0


@pytest.mark.parametrize(
    'end, failed, share',
    [
        (90, 1, 100.0),  # failed in time
        (91, 1, 0.0),  # failed later
        (90, 0, 0.0),  # survived
        (89, 0, None),  # not watched for so long
    ],
)
def test_an_alarm_is_believed_when_the_drive_fails_within_90_days(
    measured, end, failed, share
):
    """A drive that leaves the fleet sound before the 90 days are over proves nothing."""
    found = measured(row(1, 0, YEAR), row(1, YEAR, YEAR + end * DAY, failed, pending=1))

    assert found['failed_within_90_days_percent'] == share


def test_a_failure_is_caught_when_the_drive_alarmed_before(measured):
    """Also where the counter has gone back since; the lead runs from the first alarm."""
    found = measured(
        row(1, 0, 10 * DAY, pending=1),
        row(1, 10 * DAY, 30 * DAY, failed=1),
        row(2, 0, YEAR, failed=1),
        row(3, 0, YEAR, uncorrect=100),
    )

    assert (found['caught_percent'], found['median_lead_days']) == (50.0, 30.0)
    assert (
        found['critical']['caught_percent'],
        found['critical']['median_lead_days'],
    ) == (
        0.0,
        None,
    )


def test_the_drive_is_judged_by_the_entry_of_its_model(measured):
    """Western Digital and Hitachi count retries in two words of attribute 10; others in the
    first one.
    """
    rows = (
        f'{drive},{model},0,8766,0,{11 << 16}\n'
        for drive, model in enumerate(('Hitachi HDS722020ALA330', 'ACME X1'))
    )

    found = measured(*rows, head='drive,model,from,to,failed,a10\n')

    assert [
        found['states'][state]['drive_years'] for state in ('OK', 'WARNING', 'CRITICAL')
    ] == [
        1.0,
        1.0,
        0.0,
    ]


@pytest.mark.parametrize(
    'content, reason',
    [
        (b'drive,model\n1,X\n', 'no timelines'),  # no counters
        ((HEAD + row(1, 0, 'soon')).encode(), 'line 2'),  # no number
        ((HEAD + row(1, 0, '1e999')).encode(), 'hours and counters are numbers'),
        ((HEAD + row(1, 10, 5)).encode(), 'hours and counters are numbers'),
        (b'\xff\xfe\n', 'is CSV'),  # no text
    ],
)
def test_a_file_without_timelines_is_unknown(tmp_path, content, reason):
    """Exit 3 with a sentence that names file and line."""
    file = tmp_path / 'timelines.csv'
    file.write_bytes(content)

    result = run_tool('tools.measure', '--timelines', str(file))

    assert (
        result.code,
        str(file) in result.first_line,
        reason in result.first_line,
    ) == (
        3,
        True,
        True,
    ), result.first_line


@pytest.mark.long  # 20 seconds
def test_states_mean_what_the_documents_promise(measured, shared):
    """Every rule of growth and age has its part in these; an eighth of the drives tells with an
    error of a tenth, and all take four minutes.
    """
    with gzip.open(shared / 'drives/timelines.csv.gz', 'rt') as lines:
        head = next(lines)
        found = measured(
            *(line for line in lines if int(line.split(',')[0]) % 8 == 5), head=head
        )

    rates = {name: state['percent_per_year'] for name, state in found['states'].items()}
    assert rates['WARNING'] >= 28 and rates['CRITICAL'] >= 280 and rates['OK'] < 1.5
    assert found['caught_percent'] >= 61 and found['alarms_per_1000_drive_years'] <= 44
    assert (
        found['critical']['caught_percent'] >= 47
        and found['critical']['alarms_per_1000_drive_years'] <= 31
    )


# --- with what is remembered ----------------------------------------------------------------


def test_growth_is_news_for_months_and_then_is_none(walked):
    """17 reallocated sectors in a day warn for a year, though so few alone are a note; zeros before
    them are remembered.
    """
    states = walked('a5', (0, 1000, 0, 0), (1000, 19766, 1, 17))

    assert states['WARNING']['drive_years'] == pytest.approx(1.0, abs=0.05)
    assert states['OK']['failures'] == 1


def test_growth_is_told_no_longer_than_the_walk_looks():
    """Another "for" or "after" in thresholds/ is another place where a state may end."""
    metrics = json.loads((ROOT / 'thresholds/default.json').read_text())['metrics']
    spans = set()
    for metric in metrics.values():
        hdd = metric.get('hdd', {})
        for fields in (metric, hdd, *hdd.get('groups', {}).values()):
            spans.update(rule['for'] for rule in rules_of(fields, 'growth'))
            for rule in rules_of(fields, 'aged'):
                spans.update(rule[key] for key in ('after', 'before') if key in rule)

    assert {int(span[:-1]) for span in spans} <= set(timelines.TOLD_FOR)


def rules_of(fields, name):
    """Return the rules of a metric: a list, one alone, or none."""
    rules = fields.get(name) or []
    return [rules] if isinstance(rules, dict) else rules
