"""tools.measure --accuracy: readings against what drives say of themselves, on collections made
for the test.
"""

import gzip
import itertools
import json

import pytest
import smartctl_output
from conftest import ROOT, run_tool
from measure import accuracy, collection

from smart_attributes.knowledge import drive_database, shipped_data, thresholds
from smart_attributes.reading import json_report

pytestmark = pytest.mark.tools

METRICS = json.loads((ROOT / 'attributes.json').read_text())['metrics']
DATABASE = {
    'date': '2026-11-20',
    'documents': {},
    'metrics': METRICS,
    'sets': {},
    'advisories': [],
    'entries': [
        {
            'family': 'Acme',
            'models': ['ACME SSD [0-9]+'],
            'source': 'measured',
            'attributes': {
                '233': {
                    'name': 'Wear',
                    'readings': {
                        'endurance_used': {'from': '100 - value', 'valid': [0, 99]}
                    },
                }
            },
        },
        {
            'family': 'any SSD',
            'kind': 'ssd',
            'generic': True,
            'source': 'measured',
            'attributes': {
                '9': {
                    'name': 'Hours',
                    'readings': {
                        'power_on_time': {'from': 'raw bytes 0-2', 'unit': 'h'}
                    },
                }
            },
        },
    ],
}


def drive(model='ACME SSD 1', value=90, statistic=10, **more):
    return {
        'path': f'SSD/{model}',
        'model': model,
        'firmware': '1',
        'rotation': 'Solid State Device',
        'health': 'PASSED',
        'attributes': [
            [9, 'Hours', '-O--CK', 99, 99, 0, '-', '1000'],
            [233, 'Wear', '-O--CK', value, value, 0, '-', '0'],
        ],
        'devstat': {}
        if statistic is None
        else {
            '7:0x008': [str(statistic), '---', 'Percentage Used Endurance Indicator']
        },
        **more,
    }


def measured(*drives):
    default = thresholds.Thresholds(
        json.loads((ROOT / 'thresholds/default.json').read_text())
    )
    return accuracy.measure(
        (collection.CollectedDrive(d['path'], collection.report_of(d)) for d in drives),
        drive_database.SpecDatabase(DATABASE),
        default,
    )


def lines(*drives):
    said = []
    accuracy.report(measured(*drives), said.append)
    return '\n'.join(said)


@pytest.mark.parametrize(
    ('value', 'statistic', 'agrees'),
    [
        (88, 10, True),
        (87, 10, False),
        (10, 95, True),
        (10, 96, False),
    ],
)
def test_agreement_is_two_points_or_six_percent_of_the_statistic(
    value, statistic, agrees
):
    """The figure that issues quote; its edges are pinned."""
    assert (
        measured(drive(value=value, statistic=statistic)).comparisons[0].agrees
        is agrees
    )


@pytest.mark.parametrize(
    ('statistic', 'is_worn'),
    [(0, False), (1, True), (99, True), (100, False), (None, False)],
)
def test_only_statistics_from_1_to_99_validate_anything(statistic, is_worn):
    """At 0 nothing can be told apart, at 100 a normalized value has stopped."""
    assert measured(drive(statistic=statistic)).comparisons[0].is_worn is is_worn


def test_totals_are_counted_over_all_ssds():
    """Drives won by a generic entry are listed with their model."""
    text = lines(drive(), drive(value=50), drive('OTHER SSD'), drive('OTHER SSD'))

    assert (
        'worn SATA SSDs (endurance statistic 1 to 99): 4; agree: 1 of 4, 25.00 %'
        in text
    )
    assert 'matched by an entry that is not generic: 2 of 4, 50.00 %' in text
    assert 'matched by a generic entry: 2\n    2 x OTHER SSD' in text
    assert 'matched by two entries: 0' in text
    assert (
        'ACME SSD 1: the attribute gives 50 % (attribute 233), the drive states 10 %'
        in text
    )


def test_evidence_is_written_beside_the_samples_and_the_database_stays(
    tmp_path, monkeypatch
):
    """A measuring changes what was measured, a line each, and no entry."""
    database, drives = tmp_path / 'attributes.json', tmp_path / 'drives.jsonl.gz'
    database.write_text(json.dumps(DATABASE))
    (tmp_path / 'tests').mkdir()
    drives.write_bytes(gzip.compress(json.dumps(drive()).encode()))
    default = ROOT / 'thresholds/default.json'
    monkeypatch.setattr(
        shipped_data,
        'path',
        lambda name: str(database if name == 'attributes.json' else default),
    )

    accuracy.main(str(drives), str(tmp_path / 'tests/evidence.json'), lambda line: None)

    assert (
        tmp_path / 'tests/evidence.json'
    ).read_text() == '{\n "Acme": {"drives": 1, "compared": 1, "agree": 1}\n}\n'
    assert json.loads(database.read_text()) == DATABASE


def test_the_shipped_evidence_has_the_layout_of_a_new_one():
    """A line for each family, in natural order: a diff shows what was measured anew, and nothing
    else.
    """
    shipped = (ROOT / 'tests/evidence.json').read_text()

    assert accuracy.laid_out(json.loads(shipped)) == shipped


@pytest.mark.parametrize('task', ['--accuracy', '--verdicts'])
def test_a_file_that_is_missing_is_unknown(task):
    """Exit 3 with a sentence, as everywhere."""
    result = run_tool('tools.measure', '/nowhere/drives.jsonl', task)

    assert result.code == 3
    assert result.text.count('\n') == 1
    assert '/nowhere/drives.jsonl' in result.first_line


def test_facts_give_the_same_report_as_smartctls_json(shared):
    """Two ways to one report: the facts themselves, and the JSON that smartctl would print for
    them.
    """
    with gzip.open(shared / 'drives/drives.jsonl.gz', 'rt') as all_lines:
        for line in itertools.islice(all_lines, 0, None, 97):
            known = json.loads(line)
            one, other = (
                collection.report_of(known),
                json_report.from_json(smartctl_output.as_json(known)),
            )
            assert one.identity == other.identity
            assert [row._replace(raw_number=None) for row in other.attributes] == list(
                one.attributes
            )
            assert one.statistics == other.statistics
            assert {key: other.nvme.get(key) for key in one.nvme} == one.nvme
            assert (one.smart_status, one.error_count) == (
                other.smart_status,
                other.error_count,
            )
