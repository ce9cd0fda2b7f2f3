"""tools.measure --accuracy: readings against what drives say of themselves, on collections made
for the test.
"""

import gzip
import itertools
import json

import pytest
import smartctl_output
from conftest import ROOT, run_tool
from measure import accuracy, collection, timelines

from smart_attributes.errors import DataError
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
                    'readings': {'endurance_used': {'from': '100 - value', 'valid': [0, 99]}},
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
                    'readings': {'power_on_time': {'from': 'raw bytes 0-2', 'unit': 'h'}},
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
        else {'7:0x008': [str(statistic), '---', 'Percentage Used Endurance Indicator']},
        **more,
    }


def measured(*drives):
    default = thresholds.Thresholds(json.loads((ROOT / 'thresholds/default.json').read_text()))
    return accuracy.measure(
        (collection.CollectedDrive(d['path'], collection.report_of(d)) for d in drives),
        drive_database.SpecDatabase(DATABASE),
        default,
    )


def lines(*drives, documented=()):
    said = []
    accuracy.report(measured(*drives), documented, {}, said.append)
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
def test_agreement_is_two_points_or_six_percent_of_the_statistic(value, statistic, agrees):
    """The figure that issues quote; its edges are pinned."""
    assert measured(drive(value=value, statistic=statistic)).comparisons[0].agrees is agrees


@pytest.mark.parametrize(
    ('statistic', 'is_worn'), [(0, False), (1, True), (99, True), (100, False), (None, False)]
)
def test_only_statistics_from_1_to_99_validate_anything(statistic, is_worn):
    """At 0 nothing can be told apart, at 100 a normalized value has stopped."""
    assert measured(drive(statistic=statistic)).comparisons[0].is_worn is is_worn


def test_totals_are_counted_over_all_ssds():
    """Drives won by a generic entry are listed with their model."""
    text = lines(drive(), drive(value=50), drive('OTHER SSD'), drive('OTHER SSD'))

    assert 'worn SATA SSDs (endurance statistic 1 to 99): 4; agree: 1 of 4, 25.00 %' in text
    assert 'matched by an entry that is not generic: 2 of 4, 50.00 %' in text
    assert 'matched by a generic entry: 2\n    2 x OTHER SSD' in text
    assert 'matched by two entries: 0' in text
    assert 'ACME SSD 1: the attribute gives 50 % (attribute 233), the drive states 10 %' in text


def test_alarms_are_counted_by_what_the_drive_thinks_of_itself():
    """False alarms are those among drives that say PASSED."""
    text = lines(drive(value=2, statistic=98), drive(health='FAILED!'))

    assert 'ssd   PASSED   CRITICAL 1' in text and 'ssd   FAILED   CRITICAL 1' in text
    assert 'reasons for CRITICAL, health status PASSED\n         1 ssd   endurance_used' in text
    assert 'reasons for CRITICAL, health status FAILED\n         1 ssd   smart_status' in text


def test_evidence_is_written_beside_the_samples_and_the_database_stays(tmp_path, monkeypatch):
    """A measuring changes what was measured, a line each, and no entry."""
    database, drives = tmp_path / 'attributes.json', tmp_path / 'drives.jsonl.gz'
    database.write_text(json.dumps(DATABASE))
    (tmp_path / 'tests').mkdir()
    drives.write_bytes(gzip.compress(json.dumps(drive()).encode()))
    default = ROOT / 'thresholds/default.json'
    monkeypatch.setattr(
        shipped_data, 'path', lambda name: str(database if name == 'attributes.json' else default)
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


def test_a_fifth_of_the_models_is_the_same_everywhere():
    """Chosen by hash of the model, not by chance."""
    assert [accuracy.fifth_of(str(number)) for number in range(9)] == [0, 2, 2, 3, 0, 4, 1, 1, 4]


def test_what_only_one_fifth_shows_counts_as_wrong_where_that_fifth_is_left_out():
    """Acme SSD 1 and 10 lie in one fifth: nothing else knows how to read them, unless a document
    or another model.
    """
    alone = [drive('ACME SSD 1'), drive('ACME SSD 10'), drive('ACME SSD 10', statistic=30)]
    fifth = accuracy.fifth_of('ACME SSD 1')
    elsewhere = next(
        f'ACME SSD {n}' for n in range(99) if accuracy.fifth_of(f'ACME SSD {n}') != fifth
    )

    def left_out(*drives, documented=()):
        return list(accuracy.fifths(measured(*drives).comparisons, documented, {}))[fifth][:3]

    assert left_out(*alone) == (3, 2, 0)
    assert left_out(*alone, documented=['Acme']) == (3, 2, 2)
    assert left_out(*alone, drive(elsewhere)) == (3, 2, 2)
    assert left_out(*alone, drive(elsewhere, statistic=90)) == (3, 2, 0)


def test_a_shared_set_that_other_fifths_confirm_counts_where_an_entry_is_left_out():
    """The reading of another entry of the set is the same reading; one of a third entry says
    nothing about it.
    """
    [known], [other] = (
        measured(drive(model)).comparisons for model in ('ACME SSD 1', 'ACME SSD 10')
    )
    elsewhere = next(
        f'{n}' for n in range(99) if accuracy.fifth_of(f'{n}') != accuracy.fifth_of(known.model)
    )
    both = [known, other._replace(family='B', model=elsewhere)]

    def left_out(*families, source='attribute 233'):
        sets = {(family, source): 'acme-ssd' for family in families}
        return list(accuracy.fifths(both, (), sets))[accuracy.fifth_of(known.model)].left_out

    assert left_out('Acme', 'B') == 1
    assert (
        left_out(),
        left_out('Acme'),
        left_out('B'),
        left_out('Acme', 'B', source='attribute 231'),
    ) == (0, 0, 0, 0)


def test_the_first_set_that_an_entry_uses_defines_its_wear_unless_the_entry_does():
    """Only attributes that give a reading of wear count."""
    wear = {'readings': {'endurance_used': {'from': 'raw'}}}
    data = {
        'sets': {
            'one': {'attributes': {'173': wear, '9': {'name': 'Hours'}, '202': None}},
            'two': {'attributes': {'173': wear, '231': wear}},
        },
        'entries': [
            {'family': 'A', 'uses': ['one', 'two']},
            {'family': 'B', 'uses': ['two'], 'attributes': {'173': {}}},
            {'family': 'C'},
        ],
    }

    assert accuracy.wear_sets(data) == {
        ('A', 'attribute 173'): 'one',
        ('A', 'attribute 231'): 'two',
        ('B', 'attribute 231'): 'two',
    }


def test_a_statistic_that_the_entry_does_not_believe_is_counted_apart():
    """Where it stands still no reading can agree; the figure of all drives stays beside it."""
    DATABASE['entries'][0]['untrusted_statistics'] = ['endurance_used']
    text = lines(drive(), drive(statistic=99))
    del DATABASE['entries'][0]['untrusted_statistics']

    assert (
        '1 of 2, 50.00 % of worn drives agree; left out, 0 of 2, 0.00 %; where the entry believes '
        'the statistic, none'
    ) in text


def test_a_family_is_documented_by_more_than_what_was_measured():
    """The collection itself cannot speak for its own drives."""
    data = {
        'documents': {'linuxhw-enterprisedrive': {}, 'acme-manual': {}},
        'entries': [
            {
                'family': 'A',
                'source': 'acme-manual, section 5; measured on linuxhw/EnterpriseDrive',
            },
            {'family': 'B', 'source': 'always 255 in linuxhw-enterprisedrive'},
        ],
    }

    assert accuracy.documented_families(data) == {'A'}


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
            assert (one.smart_status, one.error_count) == (other.smart_status, other.error_count)


@pytest.mark.parametrize(
    'row',
    [
        '0,1e999,0,1',
        'nan,10,0,1',
        '-inf,inf,1,5',
        '10,5,0,1',
    ],
)
def test_hours_that_cannot_be_are_a_sentence_with_their_line(tmp_path, row):
    """They became infinitely many drive-years."""
    file = tmp_path / 'timelines.csv'
    file.write_text(f'drive,model,from,to,failed,a5\nx,A,{row}\n')

    with pytest.raises(
        DataError, match=f'{file}, line 2 or before it: hours and counters are numbers'
    ):
        list(timelines.read(str(file)))
