"""A fleet from folders: documents of triage that hosts have sent; by the command line."""

import json
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
import shorthand
from conftest import ROOT, run, texts
from test_hostile import NASTY, WRONG, assert_harmless, spoil

from smart_attributes.check.rulebook import database_of
from smart_attributes.commands import table
from smart_attributes.errors import Coded
from smart_attributes.fleet import gathering
from smart_attributes.work import actions

REPORTS = str(ROOT / 'tests/reports')
FRESH = {'made': round(time.time())}


@pytest.fixture(scope='module')
def document() -> dict[str, Any]:
    """What triage tells of thirteen drives."""
    found: dict[str, Any] = json.loads(
        run('triage', '--json', '--report', REPORTS).text
    )
    return found


@pytest.fixture
def collected(tmp_path, document) -> Path:
    """Two hosts that have sent documents."""
    folder = tmp_path / 'collected'
    folder.mkdir()
    (folder / 'web1.json').write_text(json.dumps(without(document, 'hgst')))
    (folder / 'elsewhere').mkdir()
    (folder / 'elsewhere/triage.json').write_text(
        json.dumps({**without(document, 'INTEL'), 'host': 'web2.example.org'})
    )
    return folder


def without(document: dict[str, Any], word: str) -> dict[str, Any]:
    return {
        **document,
        'drives': [
            each
            for each in document['drives']
            if word.lower() not in str(each['model']).lower()
        ],
    }


def fleet(*arguments: str) -> dict[str, Any]:
    done = run('fleet', '--json', *arguments)
    found: dict[str, Any] = json.loads(done.text)
    return found


def codes(found: dict[str, Any]) -> set[str]:
    return {note['code'] for note in found['notes']}


def written(folder: Path, *drives: dict[str, Any], **facts: Any) -> str:
    """Write the document of a host and return its path."""
    path = folder / 'host.json'
    path.write_text(
        json.dumps(
            shorthand.document(
                {'state': 'OK', 'drives': list(drives), **FRESH, **facts}
            )
        )
    )
    return str(path)


def test_all_drives_of_all_hosts_are_told_with_their_host(collected):
    """By the name that a document gives itself, or its file."""
    found = fleet(str(collected))
    hosts = {
        host: [each for each in found['drives'] if each['host'] == host]
        for host in ('web1', 'web2.example.org')
    }

    assert {host: len(drives) for host, drives in hosts.items()} == {
        'web1': 12,
        'web2.example.org': 8,
    }
    assert len(found['drives']) == 20
    assert found['fleet']['drives'] == 13  # each counts once
    assert found['state'] == 'CRITICAL'
    # a shelf that both reach: a note and no alarm
    assert 'drives-repeated' in codes(found)


def test_what_a_document_says_of_a_drive_comes_through_unchanged(tmp_path, document):
    """Readings with reasons, forecasts, findings, what to do."""
    (tmp_path / 'web1.json').write_text(json.dumps({**document, **FRESH}))
    found = {each['name']: each for each in fleet(str(tmp_path))['drives']}

    for wanted in document['drives']:
        told = found[wanted['name']]
        # `meaning` says the risk in words
        other = ('readings', 'forecasts', 'risk', 'depends')
        assert {key: told.get(key) for key in wanted if key not in other} == {
            key: value for key, value in wanted.items() if key not in other
        }
        assert [
            {key: each.get(key) for key in reading if key != 'said'}
            for each, reading in zip(told['readings'], wanted['readings'])
        ] == [
            {key: value for key, value in reading.items() if key != 'said'}
            for reading in wanted['readings']
        ]
        assert set(told['forecasts']) == set(wanted.get('forecasts', {}))


def test_firmware_with_a_known_defect_is_told_with_what_helps(tmp_path):
    """By model and firmware alone: also of hosts whose own database does not know it yet."""
    known = {'model': 'Corsair Force LS SSD', 'firmware': 'S9FM01.8'}
    found = fleet(
        written(tmp_path, {'name': 'sda', 'state': 'OK', 'serial': 'EXAMPLE1', **known})
    )
    [told] = found['fleet']['steps']

    assert (
        told.items() >= {**known, 'drives': 1, 'hosts': 1}.items()
        and 'update' in told['why']
    )
    # The maker names no version without the defect.
    assert told['action'] == actions.action(actions.WATCH).words


def test_a_drive_that_cannot_be_read_says_once_why(tmp_path):
    """triage tells it as a note as well."""
    words, step = 'cannot be opened', 'run as root'
    path = written(
        tmp_path,
        {
            'name': 'sda',
            'state': 'UNKNOWN',
            'why': words,
            'notes': [words, 'more'],
            'action': actions.READ,
            'code': 'no-permission',
            'to_do': step,
        },
    )

    (row,) = (line for line in run('fleet', path).text.splitlines() if words in line)
    assert row.endswith(f'  [no-permission] {words}; {step}; more')


def test_the_table_tells_the_worst_drives_first_and_how_many_more_there_are(collected):
    """Counts, what to order, models; then as many drives as were asked for."""
    text = run('fleet', str(collected), '--limit', '3').text
    rows = [
        line
        for line in text.splitlines()
        if line.startswith(('CRITICAL ', 'WARNING ', 'UNKNOWN ', 'OK '))
    ]

    assert [row.split()[0] for row in rows] == ['CRITICAL'] * 3
    assert '\n17 more drives, ' in text
    assert '\nOK ' in run('fleet', str(collected), '--limit', '0').text


def test_an_old_document_is_as_of_its_day(tmp_path, document):
    """By its own word, or by the time of its file."""
    path = written(
        tmp_path, *document['drives'][:1], made=round(time.time()) - 5 * 86400
    )
    by_file = tmp_path / 'web9.json'
    by_file.write_text(
        json.dumps({'version': 2, 'state': 'OK', 'drives': document['drives'][1:2]})
    )
    os.utime(by_file, (time.time() - 40 * 86400,) * 2)
    found = fleet(path, str(by_file))

    assert [
        each['notes'][0]['text'].rpartition(', ')[2] for each in found['drives']
    ] == [
        '5 days ago',
        '40 days ago',
    ]
    assert any(text.endswith(' days: host, web9') for text in texts(found['notes']))
    assert 'result-old' in codes(found)


@pytest.mark.parametrize('made', [-1, 1e29, True, None, 'x', 'ahead'])
def test_what_is_no_time_is_as_of_the_time_of_the_file(tmp_path, made):
    """One host must not end the report on all others."""
    made = time.time() + 365 * 86400 if made == 'ahead' else made
    path = written(
        tmp_path, {'name': 'sda', 'model': 'ACME X1', 'state': 'OK'}, made=made
    )
    os.utime(path, (time.time() - 40 * 86400,) * 2)

    assert fleet(path)['drives'][0]['notes'][0]['text'].endswith(', 40 days ago')


def test_an_empty_folder_says_what_belongs_there(tmp_path):
    """3, and not a table of nothing."""
    done = run('fleet', str(tmp_path))

    assert done.code == 3
    assert ': no files found; ' in done.text and 'triage --json' in done.text


def test_a_file_that_is_no_document_is_named_and_hides_no_other(collected):
    """A file without .json in a folder is not one, such as a README of whoever collects."""
    (collected / 'README').write_text('what this is\n')
    (collected / 'other.json').write_text('{"drives": 7}')
    found = fleet(str(collected))

    assert len(found['drives']) == 20
    [fault] = [
        note['text'] for note in found['notes'] if note['code'] == 'not-gathered'
    ]
    assert fault == f'{collected}/other.json: it was not written by "triage --json"'


def test_a_file_that_cannot_be_read_makes_the_rest_incomplete(collected):
    """3, and the drives of the others."""
    done = run('fleet', str(collected), str(collected / 'gone.json'))

    assert done.code == 3
    assert 'gone.json: No such file' in done.text and done.text.startswith('13 drives ')


@pytest.mark.parametrize(
    'arguments, word',
    [
        ([], 'needs either --icinga'),
        (['--icinga', 'https://x', 'collected'], 'either --icinga'),
        (['--icinga', 'http://x'], '--icinga needs https://'),
        (['--icinga', 'https://user:secret@x'], 'without a user'),
        (['--icinga', 'https://x'], '--user and --password-file'),
        (
            ['--icinga', 'https://x', '--user', 'y', '--password', 'secret'],
            'arguments: --password; ',
        ),
    ],
)
def test_a_usage_error_is_one_sentence(arguments, word):
    """And 3; a password on the command line is none of the options."""
    done = run('fleet', *arguments)

    assert done.code == 3
    assert done.text.startswith('error: ') and word in done.text


# --- documents that hold anything ----------------------------------------------------------------


@pytest.mark.parametrize('word', NASTY)
def test_what_another_host_writes_stays_text(tmp_path, word):
    """On a terminal, and in a page."""
    names = (
        'name',
        'model',
        'serial',
        'firmware',
        'why',
        'bay',
        'device',
        'type',
        'locate',
        'entry',
        'kind',
    )
    readings = [
        {
            'metric': f'endurance_used{word}',
            'value': word,
            'judged': True,
            'state': 'OK',
            'source': word,
            'unit': word,
        }
    ]
    path = written(
        tmp_path,
        {
            **dict.fromkeys(names, f'x{word}'),
            'notes': [word],
            'depends': [{'text': word}],
            'carries': [word],
            'state': 'CRITICAL',
            'readings': readings,
            'past': {word: [[1, 2]]},
            'forecasts': {word: {'left': 5}},
        },
        host=f'h{word}',
    )
    done = run('fleet', path)
    run('fleet', path, '--html', str(tmp_path / 'page.html'))

    assert_harmless(done.text, '')
    assert '<script>alert' not in (tmp_path / 'page.html').read_text()
    assert_harmless(
        (tmp_path / 'page.html')
        .read_text()
        .partition('</header>')[2]
        .partition('<script')[0],
        '',
    )


def test_documents_that_were_spoilt_give_drives_or_rows_and_no_traceback(
    tmp_path, document
):
    """Wrong types and nasty strings anywhere."""
    chance = random.Random(7)
    for number in range(60):
        spoilt = json.loads(json.dumps({**document, 'host': f'h{number}'}))
        spoil(spoilt, chance)
        (tmp_path / f'h{number}.json').write_text(json.dumps(spoilt))
    done = run('fleet', '--json', str(tmp_path))
    found = json.loads(done.text)

    assert 'Traceback' not in done.text
    assert len(found['drives']) > 400
    assert {each['state'] for each in found['drives']} <= {
        'OK',
        'WARNING',
        'CRITICAL',
        'UNKNOWN',
    }
    for arguments in ([], ['--html', str(tmp_path / 'page.html')]):
        assert 'error: ' not in run('fleet', str(tmp_path), *arguments).text


@pytest.mark.parametrize(
    'wrong', [each for each in WRONG if not isinstance(each, float)], ids=repr
)
def test_a_drive_that_is_none_is_told_as_unknown(tmp_path, wrong):
    """Not left out."""
    found = fleet(written(tmp_path, wrong))

    assert [each['state'] for each in found['drives'][-1:]] == ['UNKNOWN']


# --- tables of cases ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'code, action',
    [('drive-missing', actions.SEARCH), ('configuration-error', actions.REPAIR)],
)
def test_the_run_of_a_host_is_a_row_by_the_code_of_its_first_note(
    tmp_path, code, action
):
    notes = [{'code': code, 'text': 'x'}, {'code': '', 'text': 'y'}]
    well = {'name': 'sda', 'model': 'ACME X1', 'state': 'OK'}
    found = fleet(written(tmp_path, well, version=2, state='CRITICAL', notes=notes))

    [row, drive] = found['drives']
    assert (found['state'], found['fleet']['drives'], drive['state']) == (
        'CRITICAL',
        1,
        'OK',
    )
    assert (row['name'], row['state']) == ('(triage)', 'CRITICAL')
    assert (row['code'], row['why'], row['action'], row['is_check']) == (
        code,
        'x; y',
        action,
        True,
    )


@pytest.mark.parametrize(
    'state, names', [('WARNING', ['sda']), ('CRITICAL', ['(triage)', 'sda'])]
)
def test_a_note_without_a_text_is_no_problem_of_the_run(tmp_path, state, names):
    """The run only has a row if its state is that of no drive."""
    drive = {'name': 'sda', 'model': 'ACME X1', 'state': 'WARNING'}
    notes = [{'code': 'x', 'text': ''}]
    found = fleet(written(tmp_path, drive, version=2, state=state, notes=notes))

    assert sorted(row['name'] for row in found['drives']) == names


def test_a_triage_that_failed_is_a_row_with_its_error(tmp_path):
    (tmp_path / 'web8.json').write_text(run('triage', '--json', '-d', 'x@@y').text)

    [row] = fleet(str(tmp_path))['drives']
    assert (row['state'], row['code']) == ('UNKNOWN', 'usage-error') and 'x@@y' in row[
        'why'
    ]


def test_files_of_folders_are_taken_in_order_and_hidden_ones_are_not(tmp_path):
    """At any depth; a file that is named is taken whatever its name."""
    for name in (
        'b.json',
        'a.json',
        '.hidden.json',
        'sub/c.json',
        'sub/.d.json',
        'README',
        '.git/e.json',
        'aub/f.json',
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('')

    assert [
        os.path.relpath(path, tmp_path) for path in gathering._files([str(tmp_path)])
    ] == [
        'a.json',
        'b.json',
        'aub/f.json',
        'sub/c.json',
    ]
    assert list(gathering._files([str(tmp_path / '.hidden.json')])) == [
        str(tmp_path / '.hidden.json')
    ]


@pytest.fixture
def empty_fleet() -> gathering.Fleet:
    options = table.understood(['fleet', '/nowhere', '--config', '/nonexistent'])[1]
    return gathering.Fleet(database_of(options.data), 1.8e9)


@pytest.mark.parametrize(
    'states, checks, faults, state',
    [
        ([], [], [], 'UNKNOWN'),
        (['OK'], [], [], 'OK'),
        (['OK', 'WARNING'], [], [], 'WARNING'),
        (['OK'], ['CRITICAL'], [], 'CRITICAL'),
        ([], ['OK'], [], 'OK'),
        (['OK'], [], ['silent'], 'UNKNOWN'),
        (['CRITICAL'], [], ['silent'], 'CRITICAL'),
    ],
)
def test_the_state_of_a_fleet_is_the_worst_and_never_ok_from_nothing(
    empty_fleet, states, checks, faults, state
):
    empty_fleet.summary.states.update(states)
    empty_fleet.summary.checks.update(checks)
    empty_fleet.faults += faults

    assert empty_fleet.state().name == state


@pytest.mark.parametrize(
    'repeats, said',
    [(0, []), (1, ['1 drive is']), (2, ['2 drives are'])],
)
def test_repeats_are_counted(empty_fleet, repeats, said):
    empty_fleet.summary.repeats = repeats

    assert [text[: len(start)] for text, start in zip(empty_fleet.said(), said)] == said
    assert len(empty_fleet.said()) == len(said)


def test_faults_are_said_before_notes_and_remarks(empty_fleet):
    empty_fleet._lack('f' * 600)
    empty_fleet.notes.append(Coded('result-old', 'a note'))
    said = empty_fleet.said()

    assert (len(said[0]), said[1:]) == (500, ['a note'])
    assert [each.code for each in said] == ['not-gathered', 'result-old']


def test_a_mistake_of_ours_in_one_document_costs_no_other(empty_fleet):
    def broken():
        yield from {}['x']

    assert list(empty_fleet._from('db\x071', broken())) == []
    [fault] = empty_fleet.faults
    assert fault.startswith('db 1 ') and '(KeyError)' in fault
