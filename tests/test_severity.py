"""The order of severity: the same in every output, decided by fields, never by names of drives."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from cases import cases
from conftest import drive_path, run
from shipped import DATABASE

from smart_attributes.fleet import plugin_output, triage_documents
from smart_attributes.fleet.drives import FleetDrive, Origin
from smart_attributes.fleet.table import Kept, in_table
from smart_attributes.knowledge import severity
from smart_attributes.knowledge.severity import Alarm
from smart_attributes.model import (
    Device,
    Identity,
    Judgement,
    Reading,
    Risk,
    Source,
    State,
    Verdict,
)
from smart_attributes.output import json_document
from smart_attributes.output.plugin import Line

METRICS = DATABASE.metrics
C, W = State.CRITICAL, State.WARNING


def found(
    metric: str, number: float, state: State, limit: str = '', grown: float = 0
) -> Judgement:
    """Return a finding as judge makes it."""
    known = METRICS[metric]
    reading = Reading(
        metric,
        number,
        known.unit,
        Source('log'),
        'in words',
        state if known.is_verdict else None,
    )
    return Judgement(
        reading,
        state,
        limit if state is W else '',
        limit if state is C else '',
        growth='grew' if grown else '',
        grown=grown,
        concern=known.concern,
        remedy=known.remedy,
    )


def drive(name: str, *findings: Judgement, problem: str = '') -> Verdict:
    states = {finding.state for finding in findings}
    state = State.UNKNOWN if problem else State.OK
    for alarming in (W, C):
        if alarming in states:
            state = alarming
    return Verdict(
        Device(f'/dev/{name}', name=name), Identity(), state, findings, problem=problem
    )


FAILED = found('smart_status', 0, C)
# From the most to the least severe; names in the opposite order.
ORDERED = [
    drive('z', FAILED, found('reported_uncorrect', 1290, C, '20')),
    drive(
        'y',
        FAILED,
        found('vendor_threshold', 1, C),
        found('reported_uncorrect', 30, C, '20'),
    ),
    drive('x', FAILED, found('endurance_used', 155, C, '95')),
    drive('w', FAILED),
    drive('v', found('reported_uncorrect', 900, C, '20')),
    drive('u', found('pending', 800, C, '8')),
    drive('t', found('self_test', 0, C)),
    drive('s', found('write_protect', 0, C), found('endurance_used', 155, C, '95')),
    drive('r', found('power_loss_protection', 0, C)),
    drive('q', found('reallocated', 30, C, '1000', grown=20)),
    drive('p', found('reallocated', 30, C, '1000', grown=2)),
    drive('o', found('program_fail', 50, C, '10')),
    drive('n', found('reallocated', 1100, C, '1000')),
    drive('m', found('spare_available', 1, C, '10:')),
    drive('l', found('endurance_used', 155, C, '95')),
    drive('k', found('endurance_used', 97, C, '95')),
    drive('j', found('temperature', 90, C, '70')),
    drive('i', problem='cannot be opened'),
    drive('h', found('pending', 3, W, '0')),
    drive('g', found('endurance_used', 86, W, '85')),
    drive('f', found('crc_errors', 226, W, '', grown=14)),
    drive('e', found('endurance_used', 9, State.OK)),
    drive('a', found('endurance_used', 3, State.OK)),
    drive('b'),
    drive('c'),
]


@pytest.mark.parametrize(
    'more, less',
    [
        pytest.param(*pair, id='-'.join(each.device.name for each in pair))
        for pair in zip(ORDERED, ORDERED[1:])
    ],
)
def test_a_drive_stands_before_every_less_severe_one(more, less):
    """State, then what its findings say, then how much; the name only where all that is equal."""
    assert severity.of_verdict(more) < severity.of_verdict(less)


def test_every_concern_of_the_database_has_a_place():
    """And no concern is without a metric, but for growth, which judgements tell. Remedies that are
    no concern of the drive have places, too."""
    remedies = {metric.remedy for metric in METRICS.values() if metric.remedy}

    assert {metric.concern for metric in METRICS.values()} == {
        each for each in severity.ORDER if each not in remedies
    } - {severity.GROWING}


# --- every output ------------------------------------------------------------------


@pytest.fixture
def two_critical(tmp_path: Path) -> Path:
    """A folder with two CRITICAL drives: the worn one sorts first by name and by wear, the
    FAILED one by severity.
    """
    folder = tmp_path / 'reports'
    folder.mkdir()
    simulated = {'a-worn.json': 'samsung-worn-out', 'z-failed.json': 'hgst-failed'}
    for name, source in simulated.items():
        shutil.copy(drive_path(source), folder / name)
    return folder


def order(text: str) -> list[str]:
    """Return the names of the two drives in the order in which they are first met."""
    return sorted(('a_worn', 'z_failed'), key=text.index)


@pytest.mark.parametrize(
    'command',
    [
        [],  # check
        ['-v'],  # check verbose
        ['triage'],  # triage
        ['triage', '--json'],  # triage json
    ],
)
def test_the_failed_drive_stands_before_the_worn_one(two_critical, command):
    """A worn SSD that says PASSED stood first, for its name or for its wear."""
    text = run(*command, '--report', str(two_critical)).text

    assert order(text) == ['z_failed', 'a_worn']


def test_a_fleet_lists_the_failed_drive_first_from_documents(two_critical, tmp_path):
    """On a host that sorts later."""
    hosts = [str(tmp_path / f'{host}.json') for host in 'az']
    for host, name in zip(hosts, ('a-worn.json', 'z-failed.json')):
        Path(host).write_text(
            run('triage', '--json', '--report', str(two_critical / name)).text
        )
    page = tmp_path / 'fleet.html'
    run('fleet', *hosts, '--html', str(page))

    assert order(run('fleet', *hosts).text) == ['z_failed', 'a_worn']
    assert order(page.read_text().split('id="data"')[0]) == ['z_failed', 'a_worn']
    assert 'z_failed' in run('fleet', *hosts, '--limit', '1').text


@pytest.mark.parametrize(
    'verdict',
    [each for each in ORDERED if not each.problem],
    ids=lambda each: each.device.name,
)
def test_a_fleet_ranks_a_drive_by_its_document_as_its_host_does(verdict):
    """State, numbers, limits and growth are in the document; what was increasing stays so."""
    given = json_document.document(cases([verdict]), (), 0)
    (told,) = triage_documents.drives(
        triage_documents.Document('', given, 0), METRICS, 0
    )

    assert told.rank == severity.of_verdict(verdict)


# --- a fleet by its lines ------------------------------------------------------------

# state, findings, metric -> its value in perfdata
Said = tuple[str, str, dict[str, str]]
LINES: Mapping[str, Said] = {
    'sda': (
        'CRITICAL',
        'endurance_used 155 %, critical above 95',
        {'endurance_used': '155%;85;95;0;'},
    ),
    'sdb': (
        'CRITICAL',
        'reallocated 1100, critical above 1000',
        {'reallocated': '1100;200;1000;0;'},
    ),
    'sdc': (
        'CRITICAL',
        'reallocated grew by 40 in 24 h (0 to 40), critical above 20 in 24 h',
        {'reallocated': '40;200;1000;0;'},
    ),
    'sdd': ('CRITICAL', 'write_protect: read-only', {'write_protect': '0;;;0;1'}),
    'sde': ('CRITICAL', 'pending 16, critical above 8', {'pending': '16;0;8;0;'}),
    'sdf': (
        'CRITICAL',
        'reported_uncorrect 1290, critical above 20',
        {'reported_uncorrect': '1290;0;20;0;'},
    ),
    'sdg': ('CRITICAL', 'smart_status: FAILED', {'smart_status': '0;;;0;1'}),
    'sdh': ('WARNING', 'pending 2000, warning above 0', {'pending': '2000;0;;0;'}),
}


def of_lines(lines: Mapping[str, Said]) -> list[FleetDrive]:
    rows = [
        Line(State[state], name, 'ACME X1', words)
        for name, (state, words, _) in lines.items()
    ]
    values = [
        f"'{name}_{metric}'={value}"
        for name, (_, _, told) in lines.items()
        for metric, value in told.items()
    ]
    return plugin_output.drives(rows, values, 0, Origin('db1'), METRICS)


def test_a_fleet_orders_by_the_lines_and_perfdata_that_icinga_has():
    """Perfdata does not tell what increased, so a number within its limits comes last."""
    kept = Kept(6, in_table)
    for each in of_lines(LINES):
        kept.add(each)

    assert kept.counts(False) == (6, 8)
    names = [each['name'] for each in kept.drives()]
    assert names == ['sdg', 'sdf', 'sde', 'sdd', 'sdb', 'sda']


@pytest.mark.parametrize(
    'alarm, given, rank',
    [
        # those that call for a replacement, which saves the data
        (Alarm('', '', C), (None, ''), (9, -1.0)),
        (Alarm('', 'health', C), (None, '5'), (0, -1.0)),
        (Alarm('', 'data', C), (5, '1'), (1, -5)),
        (Alarm('', 'wear', C), (9, '3'), (5, -2.0)),
        (Alarm('', 'wear', C), (9, 'no range'), (5, 0)),
        (Alarm('', 'errors', C), (1, ''), (4, 0)),
        (Alarm('', 'errors', C), (1, '', '', 0, True), (3, 0)),
        (Alarm('', 'data', W, is_risky=True), (5, '1'), (1, -5)),
        # the others
        (Alarm('order', 'health', C), (None, ''), (10, -1.0)),
        (Alarm('', 'data', W), (5, '1'), (11, -5)),
        (Alarm('', '', W), (172800, '1d', 's'), (19, -1.0)),
        (Alarm('', 'errors', W), (1, '', '', 9), (14, -9)),
        (Alarm('', 'errors', W), (5, '4'), (14, -0.25)),
        (Alarm('', 'wear', W), (1, '', '%', 9), (15, 0)),
        (Alarm('cooling', '', C), (90, '70', 'C'), (16, -20 / 70)),
        (Alarm('cable', 'errors', W), (40, '', '', 9, True), (17, -9)),
        (Alarm('firmware', '', W), (None, ''), (18, -1.0)),
    ],
)
def test_the_weight_of_a_finding_is_its_kind_and_how_far_it_is_beyond_its_limit(
    alarm, given, rank
):
    """An increase counts for a number without a unit."""
    assert severity.weight(alarm, *given) == (
        -alarm.state.urgency,
        *map(pytest.approx, rank),
    )


def test_of_equal_findings_the_one_whose_risk_was_measured_comes_first():
    risk = Risk('offline_uncorrectable', 'disks', 0.1, 0.2, 0.1, 0.3, 100, 20)
    both = found('pending', 16, C, '8'), found('offline_uncorrectable', 16, C, '2')

    assert severity.in_order(both) == both
    assert severity.in_order(both, risk) == both[::-1]


@pytest.mark.parametrize(
    'metric, share_90, share_365, is_risky',
    [
        ('pending', 0.15, 0.2, True),
        ('pending', 0.149, 0.399, False),
        ('pending', None, 0.4, True),
        ('pending', None, None, False),
        ('reallocated', 0.9, 0.9, False),  # of another finding
    ],
)
def test_a_risk_counts_for_the_finding_for_which_it_was_measured(
    metric, share_90, share_365, is_risky
):
    risk = Risk('pending', 'ACME disks', share_90, share_365, 0.1, 0.3, 100, 20)

    assert severity.is_risky(metric, risk) == is_risky
    assert not severity.is_risky(metric, None)


def test_a_limit_with_a_unit_is_compared_in_the_unit_of_its_reading():
    reading = Reading('power_on_time', 172800, 's', Source('log'))

    assert severity.of_judgement(Judgement(reading, C, critical='1d'), None) == (
        -C.urgency,
        9,
        -1.0,
    )


def test_the_worst_of_equal_findings_ranks_a_drive():
    weights = [(-3, 1, -5.0), (-3, 1, -2.0), (-3, 0, -1.0)]

    assert severity.of_drive(C, weights, 7, 'sda', 'db1') == (
        -C.urgency,
        ((-3, 0, -1.0), (-3, 1, -5.0), severity.NO_MORE),
        -7,
        'db1',
        'sda',
    )


@pytest.mark.parametrize(
    'limit, beyond', [('5', True), ('7', False), ('no range', False)]
)
def test_a_number_is_not_beyond_a_limit_that_is_not_a_range(limit, beyond):
    assert severity.is_beyond(limit, 6) is beyond


@pytest.mark.parametrize(
    'number, judged, used', [(None, True, 0), (97, True, 97), (97, False, 0)]
)
def test_the_endurance_used_of_a_drive_is_zero_where_it_is_unknown(
    number, judged, used
):
    reading = Reading('endurance_used', number, '%', Source('log'), judged=judged)

    assert severity.used(drive('sda', Judgement(reading, State.OK))) == used
