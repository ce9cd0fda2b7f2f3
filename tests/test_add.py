"""The steps of doc/tutorial/add-a-drive.md: draft, name metrics, cite, validate, use, send."""

import json
import shutil
import subprocess
import sys

import add as tool
import pytest
from conftest import ROOT, drive, run
from small_database import Checkout, database, samples

from smart_attributes.errors import DataError


@pytest.fixture(scope='module')
def report(tmp_path_factory):
    """A drive that nobody knows."""
    data = json.loads(drive('no-name-ssd'))
    table = data['ata_smart_attributes']['table']
    data['ata_smart_attributes']['table'] = [
        row for row in table if row['id'] in (1, 5, 9, 12, 168, 194, 232)
    ]
    path = tmp_path_factory.mktemp('drive') / 'report.json'
    path.write_text(json.dumps({**data, 'model_name': 'ACME Y20 512GB'}))
    return str(path)


@pytest.fixture(scope='module')
def entry_file(tmp_path_factory, report):
    """What a contributor has made of a draft."""
    data = json.loads(run('draft', '--report', report).text)
    (entry,), (sample,) = data['entries'], data['samples']
    entry['family'] = sample['family'] = 'ACME Y20'
    entry['source'] = 'measured on one drive'
    entry['attributes']['232']['readings'] = {
        'spare_available': {'from': 'value', 'valid': [1, 100]}
    }
    sample['expect']['spare_available'] = 100
    path = tmp_path_factory.mktemp('mine') / 'my-entry.json'
    path.write_text(json.dumps(data, indent=2))
    return path


def test_a_finished_draft_is_validated(entry_file):
    """The last line says so."""
    result = run('validate', str(entry_file))

    assert (result.code, result.text.splitlines()[-1].split(', ')[-1]) == (
        0,
        'no problem',
    )


def test_the_plugin_uses_it_at_once(entry_file, report):
    """A site need not wait for a release."""
    assert 'no entry for ACME Y20 512GB' in run('--report', report).text

    result = run('--attributes', str(entry_file), '--report', report, '-v')

    assert 'no entry for' not in result.text
    assert 'entry: ACME Y20' in result.text


def test_add_makes_it_a_part_of_the_shipped_files(entry_file, tmp_path):
    """Nobody looks for the right line among 2,500, and what draft wrote for its reader does not
    stay.
    """
    shutil.copy(ROOT / 'attributes.json', tmp_path)
    shutil.copytree(ROOT / 'tests/samples', tmp_path / 'tests/samples')

    paths = tool.add(str(entry_file), tmp_path)

    assert paths == [
        str(tmp_path / 'attributes.json'),
        str(tmp_path / 'tests/samples/acme.json'),
    ]
    [entry] = (
        entry
        for entry in json.loads((tmp_path / 'attributes.json').read_text())['entries']
        if entry['family'] == 'ACME Y20'
    )
    assert entry['attributes']['232']['readings'] == {
        'spare_available': {'from': 'value', 'valid': [1, 100]}
    }
    assert all('readings' in attribute for attribute in entry['attributes'].values())


# --- what is kept and what is not ------------------------------------------------------

HINT = 'VALUE 100, WORST ---, RAW 640 (409 5906)'


@pytest.mark.parametrize(
    'comment, kept',
    [
        (HINT, ''),
        (f'{HINT}; interpreted alike in 110 of 119 entries with this name', ''),
        (
            f'{HINT}; interpreted as in the entry Hard disk; Stands at 100.',
            'Stands at 100.',
        ),
        (
            f'{HINT}; 100 - value equals the endurance that the drive itself reports; mine',
            'mine',
        ),
        (
            f'{HINT}; the raw value multiplied by 32MiB equals the host_written that the drive itself reports',
            '',
        ),
        (
            'Stands at VALUE 100, WORST 100, RAW 1',
            'Stands at VALUE 100, WORST 100, RAW 1',
        ),
    ],
)
def test_what_a_person_wrote_into_a_comment_is_kept(comment, kept):
    """Behind the draft's words, or in their place."""
    row = {'name': 'Some_Name', 'comment': comment, 'trap': True}

    assert tool.without_hint(row) == {
        'name': 'Some_Name',
        **({'comment': kept} if kept else {}),
        'trap': True,
    }


def test_attributes_without_a_meaning_are_left_out():
    """A name that smartctl prints anyway says nothing; one that a person wrote alone, and a
    null, say something.
    """
    nothing = {'1': {'name': 'Read', 'comment': HINT}}
    rows = {'2': {'name': 'Known'}, '9': None}

    assert tool.finished({'attributes': {**nothing, **rows}}) == {'attributes': rows}
    assert tool.finished({'family': 'ACME', 'attributes': nothing}) == {
        'family': 'ACME'
    }


def test_documents_and_sets_come_along(tmp_path):
    """An entry without its source would be a rumour."""
    own = {
        'entries': [],
        'documents': {'acme-y20': {'title': 'ACME Y20'}},
        'sets': {'y': {}},
    }

    data = tool.merged(database(), own)

    assert {'acme-manual', 'acme-y20'} == set(data['documents'])
    assert {'ata-common', 'y'} == set(data['sets'])


def test_a_sample_stands_behind_those_of_its_vendor(tmp_path):
    """A vendor's drives are compared with each other, and a file for each entry would be
    hundreds. make add, typed twice, would leave two equal entries and no verdict for the drive.
    """
    Checkout(tmp_path).write(database(), samples())
    mine, proof = tmp_path / 'mine.json', tmp_path / 'tests/samples/acme.json'
    sample = {
        'family': 'ACME Y5',
        'model': 'ACME Y5-1',
        'origin': 'composed',
        'lines': samples()[0]['lines'][:1],
        'expect': {},
    }
    mine.write_text(
        json.dumps(
            {'entries': [{'family': 'ACME Y5', 'kind': 'ssd'}], 'samples': [sample]}
        )
    )

    tool.add(str(mine), tmp_path)
    with pytest.raises(DataError, match='ACME Y5 already'):
        tool.add(str(mine), tmp_path)

    assert json.loads(proof.read_text()) == [*samples(), sample]


@pytest.mark.parametrize(
    'family, file',
    [
        ('WD Blue SA500', 'wd-sandisk'),
        ('SanDisk X300', 'wd-sandisk'),
        ('INTEL 330', 'intel'),
        ('ACME/X', 'acme'),
    ],
)
def test_the_file_of_a_vendor_is_found_by_the_first_word_of_the_family(family, file):
    """Some vendors share a file, and a new one gets its own."""
    assert tool.samples_file(family, ROOT / 'tests/samples').stem == file


# --- a draft that is none --------------------------------------------------------------


def test_why_there_is_no_draft_does_not_go_into_its_file(tmp_path):
    """ "> my-entry.json" would swallow it."""
    command = [
        sys.executable,
        '-I',
        str(ROOT / 'check_smart_attributes'),
        'draft',
        '--report',
    ]
    done = subprocess.run(
        [*command, str(tmp_path / 'nothing.json')],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (3, '')
    assert done.stderr.startswith('nothing does ')
