"""tools/same_verdicts.py: two checkouts answer to the same reports, and every value that differs
is found.
"""

import copy
import gzip
import json
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT
from same_verdicts import Comparison, NotCompared

pytestmark = pytest.mark.tools

DISK = {
    'path': 'HDD/ACME/1',
    'model': 'ACME 1',
    'rotation': '7200 rpm',
    'health': 'PASSED',
    'attributes': [[197, 'Current_Pending_Sector', '-O--C-', 100, 100, 0, '-', '7']],
}
ANSWER = {
    'report': 'a',
    'check': [0, "SMART OK - 1 drive\nOK a\n| 'a_pending'=0;0;8;0;"],
    'json': [
        0,
        json.dumps(
            {
                'version': 2,
                'state': 'OK',
                'drives': [
                    {
                        'device': '/dev/sda',
                        'readings': [{'metric': 'pending', 'value': 0}],
                    }
                ],
            }
        ),
    ],
}


@pytest.fixture
def checkout(tmp_path):
    """A copy of this checkout, as far as its launcher needs it."""
    folder = tmp_path / 'checkout'
    for name in ('smart_attributes', 'thresholds'):
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns('__pycache__')
        )
    for name in ('attributes.json', 'check_smart_attributes'):
        shutil.copy(ROOT / name, folder)
    return folder


def compare(new, tmp_path, *words):
    """Return exit status and output of a comparison of this checkout with another."""
    drives, corpus = tmp_path / 'drives.jsonl.gz', tmp_path / 'corpus'
    drives.write_bytes(gzip.compress((json.dumps(DISK) + '\n').encode()))
    (corpus / 'scans').mkdir(parents=True)
    (corpus / 'scans/scan.txt').write_text('/dev/sda -d sat\n')
    for path in sorted((ROOT / 'tests/reports').glob('*.txt')):
        shutil.copy(path, corpus)
    data = ('--drives', str(drives), '--corpus', str(corpus), '--damaged', '3')
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / 'tools/same_verdicts.py'),
            str(ROOT),
            str(new),
            *data,
            *words,
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_checkout_answers_as_its_copy_does(checkout, tmp_path):
    """Drives of the collection, recorded and damaged reports; what a scan printed is no report."""
    code, text = compare(checkout, tmp_path)

    assert code == 0, text
    assert '1 drive reports, 1 recorded reports, 3 damaged reports' in text
    assert (
        ' values of 5 reports compared (' in text
        and ': 0 differences' in text
        and ' WARNING' in text
    )


def test_a_limit_that_was_changed_is_found(checkout, tmp_path):
    """In state and exit status, in performance data and in JSON; the report that shows it is
    kept.
    """
    limits = checkout / 'thresholds/default.json'
    data = json.loads(limits.read_text())
    data['metrics']['pending']['hdd']['critical'] = '5'
    limits.write_text(json.dumps(data))

    code, text = compare(checkout, tmp_path)
    folder = text.partition('the reports are kept in ')[2].partition('/reports;')[0]
    shutil.rmtree(folder)

    assert code == 1, text
    name = 'drive-00001-HDD-ACME-1.json'
    assert f'{name}: check.state: "WARNING" -> "CRITICAL"' in text
    assert f'{name}: check.exit_status: 1 -> 2' in text
    assert f'{name}: json.document.drives[0].state: "WARNING" -> "CRITICAL"' in text
    assert ' x check.metrics.report_pending\n' in text
    # states before what follows from them
    assert text.splitlines()[2].endswith('state: "WARNING" -> "CRITICAL"')


@pytest.mark.parametrize('damage', ['raise ValueError', 'import os\nos._exit(0)'])
def test_a_checkout_that_does_not_answer_is_not_the_same(checkout, tmp_path, damage):
    """Exit status 3: two checkouts that both print nothing would agree."""
    (checkout / 'smart_attributes/check/judging.py').write_text(f'{damage}\n')
    (checkout / 'smart_attributes/main.py').write_text(f'{damage}\n')

    code, text = compare(checkout, tmp_path)

    assert (code, 'not compared: ' in text, '0 differences' in text) == (
        3,
        True,
        False,
    ), text


@pytest.mark.parametrize(
    'words',
    [
        ('--count', '0', '--damaged', '0', '--corpus', '/nowhere'),
        ('--drives', '/nowhere'),
        ('--count', 'many'),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(tmp_path, words):
    """No traceback, and no status of a difference."""
    code, text = compare(ROOT, tmp_path, *words)

    assert (code, 'Traceback' in text) == (3, False), text


def changed(change):
    """Return the differences to an answer whose document was changed."""
    new, found = copy.deepcopy(ANSWER), Comparison()
    document = json.loads(new['json'][1])
    change(document)
    new['json'][1] = json.dumps(document)
    found.add(ANSWER, new)
    return [(each.field, each.old, each.new) for each in found.differences]


def test_keys_that_are_only_added_are_no_difference():
    """A new version of the document says more; a value that is gone, another or of another type
    is one.
    """
    assert changed(lambda document: document['drives'][0].update(bay='Slot 03')) == []
    assert changed(lambda document: document['drives'][0].pop('device')) == [
        ('json.document.drives[0].device', '/dev/sda', '(missing)')
    ]
    assert changed(lambda document: document.update(state='WARNING')) == [
        ('json.document.state', 'OK', 'WARNING')
    ]
    assert changed(lambda document: document['drives'].clear()) == [
        ('json.document.drives.length', 1, 0)
    ]
    assert changed(
        lambda document: document['drives'][0]['readings'][0].update(value=False)
    ) == [('json.document.drives[0].readings[0].value', 0, False)]


@pytest.mark.parametrize(
    'last', ['', "| 'a_pending'=0;0;5;0;", "| 'a_pending'=0;0;8;0; 'a_new'=1;;;0;"]
)
def test_performance_data_are_the_same_or_differ(last):
    """Also where a metric is gone or was added: it would begin a new graph."""
    new, found = copy.deepcopy(ANSWER), Comparison()
    new['check'][1] = f'SMART OK - 1 drive\nOK a\n{last}'
    found.add(ANSWER, new)

    assert found.differences and all(
        each.field.startswith(('check.metrics', 'check.labels'))
        for each in found.differences
    )


def test_an_old_checkout_without_an_answer_proves_nothing():
    """Whatever the new one says."""
    for key, answer in (('check', [3, 'Traceback']), ('json', [3, 'no document'])):
        with pytest.raises(NotCompared, match='a: OLD gave no answer'):
            Comparison().add({**ANSWER, key: answer}, ANSWER)
