"""Data files: opened with care, and refused with one sentence that says where and what."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from small_database import database

from smart_attributes.errors import DataError
from smart_attributes.knowledge import datafile

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason='needs root: only root can own files of others')


def refusal(data, schema='attributes'):
    """Return the sentence with which *data* is refused."""
    text = data if isinstance(data, str) else json.dumps(data)
    with pytest.raises(DataError) as caught:
        datafile.checked(text, schema, 'site.json')
    return str(caught.value)


def entry(**changes):
    """Return a file with one entry of the X1, changed."""
    return {'entries': [{'family': 'ACME X1', 'models': ['ACME X1-.*'], 'source': 'measured on 3 drives', **changes}]}


def attribute(reading):
    return entry(attributes={'233': {'name': 'Media_Wearout_Indicator', 'readings': {'endurance_used': reading}}})


# --- the shipped files -------------------------------------------------------------


def test_shipped_files_are_found_inside_the_package_first(tmp_path, monkeypatch):
    """A wheel carries them inside; a checkout and the Debian package beside."""
    package = tmp_path / 'smart_attributes'
    package.mkdir()
    (tmp_path / 'attributes.json').write_text('{}')
    monkeypatch.setattr(datafile, 'PACKAGE', str(package))
    assert datafile.shipped('attributes.json') == str(tmp_path / 'attributes.json')

    (package / 'attributes.json').write_text('{}')
    assert datafile.shipped('attributes.json') == str(package / 'attributes.json')


def test_an_incomplete_installation_says_what_is_missing():
    """Not a traceback: somebody copied only the package."""
    with pytest.raises(
        DataError, match=r'^nothing\.json is neither in .*smart_attributes nor beside it; install check_smart_attributes again$'
    ):
        datafile.shipped('nothing.json')


def test_a_damaged_shipped_file_says_so(tmp_path):
    """A full disk during an update."""
    path = tmp_path / 'attributes.json'
    path.write_text('{"entries": [')

    with pytest.raises(DataError, match=r'attributes\.json: cannot be read: Expecting value'):
        datafile.load(str(path))


def test_loading_a_shipped_file_does_not_import_jsonschema():
    """It takes longer to import than a whole check may take."""
    code = (
        'import sys, smart_attributes.knowledge.datafile as d; d.load(d.PACKAGE + "/schema/attributes.schema.json"); '
        'sys.exit("jsonschema" in sys.modules)'
    )

    assert subprocess.run([sys.executable, '-c', code], cwd=os.path.dirname(datafile.PACKAGE), check=False).returncode == 0


# --- opening -----------------------------------------------------------------------


@pytest.fixture
def site(tmp_path):
    """A good local file."""
    path = tmp_path / 'site.json'
    path.write_text(json.dumps(entry()))
    return path


def unreadable(path):
    with pytest.raises(DataError) as caught:
        datafile.load_checked(str(path), 'attributes')
    return str(caught.value)


def test_a_good_file_is_loaded(site):
    """Also with the mark that editors under Windows put before it."""
    assert datafile.load_checked(str(site), 'attributes') == entry()

    site.write_text('\ufeff' + json.dumps(entry()), encoding='utf-8')
    assert datafile.load_checked(str(site), 'attributes') == entry()


def test_a_link_in_a_folder_of_ones_own_is_followed(site, tmp_path):
    """Configuration management makes such links."""
    (tmp_path / 'link.json').symlink_to('site.json')

    assert datafile.load_checked(str(tmp_path / 'link.json'), 'attributes') == entry()


@pytest.mark.parametrize('mode', [0o777, 0o1777])
def test_a_link_in_a_folder_that_everybody_writes_to_is_refused(site, tmp_path, mode):
    """Anybody could have put it there, and it could lead anywhere."""
    shared = tmp_path / 'shared'
    shared.mkdir()
    shared.chmod(mode)
    (shared / 'link.json').symlink_to(site)
    (shared / 'folder').symlink_to(tmp_path)

    sentence = f'{shared}/link.json: {shared}/link.json is a link in a folder that everybody writes to; name the file itself'
    assert unreadable(shared / 'link.json') == sentence
    assert f'{shared}/folder is a link' in unreadable(shared / 'folder' / 'site.json')


def test_links_without_end_are_refused(tmp_path):
    """Two that lead to each other."""
    (tmp_path / 'a.json').symlink_to('b.json')
    (tmp_path / 'b.json').symlink_to('a.json')

    assert 'too many links' in unreadable(tmp_path / 'a.json')


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path):
    """A pipe that nobody writes to would hold the check for ever."""
    os.mkfifo(tmp_path / 'pipe.json')

    assert unreadable(tmp_path / 'pipe.json') == f'{tmp_path}/pipe.json is not a regular file; give a JSON file'
    assert unreadable(tmp_path) == f'{tmp_path} is not a regular file; give a JSON file'


@pytest.mark.parametrize('path', ['/no/such/file.json', 'with a \0 in it'])
def test_a_file_that_is_not_there_says_so(path):
    """With the system's own reason."""
    assert 'cannot be read: ' in unreadable(path)


def test_a_huge_file_is_refused_before_it_fills_the_memory(tmp_path):
    """A data file is smaller than that by far."""
    path = tmp_path / 'huge.json'
    with path.open('wb') as file:
        file.truncate(datafile.LARGEST + 1)

    assert unreadable(path) == f'{path} is larger than 16 MiB, which no data file is; give a JSON file'


def test_a_file_in_another_encoding_says_where(tmp_path):
    """Latin-1 from an old editor."""
    path = tmp_path / 'site.json'
    path.write_bytes('{"comment": "ä"}'.encode('latin-1'))

    assert unreadable(path) == f'{path}: byte 13 is not UTF-8; save the file as UTF-8'


@AS_ROOT
@pytest.mark.parametrize(
    ('target', 'mode', 'group'), [('site.json', 0o666, 0), ('site.json', 0o664, 12345), ('.', 0o777, 0), ('.', 0o775, 12345)]
)
def test_root_refuses_what_others_can_change(site, target, mode, group):
    """Who can write the file, or replace it in its folder, would tell root what is fine."""
    changed = (site.parent / target).resolve()
    os.chown(changed, 0, group)
    changed.chmod(mode)

    assert f'others than root can change {changed}, and root does not read what others wrote; chown root and chmod go-w' in unreadable(site)


@AS_ROOT
def test_root_refuses_a_file_of_others_in_a_folder_like_tmp(site):
    """Everybody can put one there under any name; only root's own are root's."""
    site.parent.chmod(0o1777)
    assert datafile.load_checked(str(site), 'attributes') == entry()

    os.chown(site, 12345, 0)
    assert f'others than root can change {site}' in unreadable(site)


# --- JSON --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('text', 'sentence'),
    [
        ('{"entries": [}', 'site.json: line 1, column 14: a value is expected here: '),
        ('{"entries": []\n "documents": {}}', 'site.json: line 1, column 15: a comma is missing here, or a closing bracket'),
        ('{"entries": [1,\n 2,\n]}', 'site.json: line 2, column 3: nothing follows this comma; remove it'),
        ('{"entries": [],\n}', 'site.json: line 1, column 15: nothing follows this comma; remove it'),
        ('{"entries": [', 'site.json: line 1, column 14: the text ends here; a } or ] is missing'),
        ('{"entries": [] // mine\n}', 'site.json: line 1, column 16: JSON has no comments; write "comment": "..." instead'),
        ("{'entries': []}", 'site.json: line 1, column 2: a text stands between double quotes, not single ones'),
        ('{entries: []}', 'site.json: line 1, column 2: a key is expected here, between double quotes'),
        ('{"entries" []}', 'site.json: line 1, column 12: a colon is missing here, between key and value'),
        (r'{"a": "X1\.[0-9]"}', r'site.json: line 1, column 10: a backslash is written twice in JSON: "\\." for \.'),
        ('{"a": "X1\n}', 'site.json: line 1, column 10: a text is not closed on its line; add the double quote'),
        ('{"a": "X1', 'site.json: line 1, column 7: a text begins here and is not closed; add the double quote'),
        ('{"a": 1}}', 'site.json: line 1, column 9: the data ends before this; remove the rest, or a closing bracket too many'),
        (' \n', 'site.json: line 1, column 1: the file is empty; give a JSON file'),
        ('{"entries": NaN}', 'site.json is no JSON that can be used: NaN is not a number in JSON'),
        ('[' * 100_000, 'site.json is no JSON that can be used: it is nested too deeply'),
    ],
    ids=['value', 'comma', 'list-comma', 'object-comma', 'end', 'comment', 'single-quotes', 'bare-key', 'colon', 'escape', 'open-line',
         'open-end', 'extra', 'empty', 'nan', 'deep'],
)
def test_what_is_no_json_is_refused_with_line_and_column(text, sentence):
    """An editor jumps there; the line is the one to correct, in whatever words each Python has for it."""
    assert refusal(text).startswith(sentence)


@pytest.mark.parametrize(
    ('text', 'sentence'),
    [
        ('{"entries": [], "entries": []}', 'site.json: "entries" stands here twice; keep one'),
        (
            '{"entries": [{"family": "ACME X1", "attributes": {"5": {"name": "a"}, "5": {"name": "b"}}}]}',
            'site.json: ACME X1, attributes: "5" stands here twice; keep one',
        ),
        (
            '{"entries": [{"family": "A", "attributes": {"233": {"readings": {"endurance_used": {"from": "raw", "from": "value"}}}}}]}',
            'site.json: A, attribute 233, endurance_used: "from" stands here twice; keep one',
        ),
    ],
    ids=['top', 'attribute', 'reading'],
)
def test_a_key_that_stands_twice_is_named_with_its_place(text, sentence):
    """JSON keeps the last one silently, and the first was meant just as much."""
    assert refusal(text) == sentence


def test_keys_that_stand_twice_are_found_where_the_outer_one_is_lost():
    """The outer doublet hides the inner one; naming it is enough."""
    assert refusal('{"sets": {"a": {"b": 1, "b": 2}}, "sets": {}, "entries": []}') == 'site.json: "sets" stands here twice; keep one'


# --- the schema ----------------------------------------------------------------------

AT_233 = 'site.json: ACME X1, attribute 233, endurance_used'
SENTENCES = {
    'unknown key': (entry(famly='x'), 'site.json: ACME X1: there is no key "famly"; did you mean family?'),
    'strange key': (entry(zzz=1), 'site.json: ACME X1: there is no key "zzz"; known are family, comment, models, '),
    'unknown key of a reading': (attribute({'from': 'raw', 'units': '%'}), AT_233 + ': there is no key "units"; did you mean unit?'),
    'unknown key in an alternative': (
        attribute([{'from': 'raw'}, {'form': 'raw'}]),
        AT_233 + ', item 2: there is no key "form"; did you mean from?',
    ),
    'missing key': (attribute({'valid': [0, 99]}), AT_233 + ': from is missing'),
    'missing name': (
        entry(attributes={'5': {}}),
        'site.json: ACME X1, attribute 5: name is missing; write it like "Media_Wearout_Indicator"',
    ),
    'missing family': ({'entries': [{'models': ['ACME']}]}, 'site.json: entry 1: family is missing'),
    'missing keys': ({'entries': [], 'roles': {'a': {}}}, 'site.json: role a: meaning, unit and worse are missing'),
    'no condition': ({'entries': [{'family': 'ACME X1'}]}, 'site.json: ACME X1: models, has, first, only or kind is missing'),
    'no entries': ({}, 'site.json: entries is missing'),
    'no object': ([], 'site.json: a list is not an object'),
    'type': (attribute({'from': 5}), AT_233 + ': from 5 is not a text; write it like "100 - value"'),
    'type of either': (
        attribute('100 - value'),
        'site.json: ACME X1, attribute 233, readings: endurance_used "100 - value" is not an object or a list; '
        'write it like {"from": "100 - value", "valid": [0, 99]}',
    ),
    'type in a list': (entry(models=[5]), 'site.json: ACME X1: models 5 is not a text'),
    'guard': (entry(has=['233']), 'site.json: ACME X1: has "233" is not a whole number'),
    'unknown unit': (attribute({'from': 'raw', 'unit': 'GB'}), AT_233 + ': unit "GB" is not known; write "%", "s", "min", '),
    'renamed key': (entry(statistic='untrusted'), 'site.json: ACME X1: there is no key "statistic"; did you mean untrusted_statistics?'),
    'attribute number': (
        entry(attributes={'256': {'name': 'xx'}}),
        'site.json: ACME X1, attributes: the key "256" does not fit: an attribute number from 1 to 255',
    ),
    'span': (
        attribute({'from': 'value', 'states': {'low': 'failed'}}),
        AT_233 + ', states: the key "low" does not fit: a result or a range of results, like 100 or 0-10',
    ),
    'interval': (attribute({'from': 'value', 'valid': [0]}), AT_233 + ': valid has 1 items; give at least 2'),
    'interval too long': (attribute({'from': 'value', 'valid': [0, 1, 2]}), AT_233 + ': valid has 3 items; give 2'),
    'short pattern': (entry(models=['X1']), 'site.json: ACME X1: models "X1" is too short; write at least 4 characters'),
    'long family': (
        {'entries': [{'family': 'x' * 130, 'kind': 'ssd'}]},
        'site.json: ' + 'x' * 59 + '…: family "' + 'x' * 59 + '…" is too long; write at most 120 characters',
    ),
    'pattern twice': (entry(models=['ACME', 'ACME']), 'site.json: ACME X1: models names the same twice; keep one'),
    'empty models': (entry(models=[]), 'site.json: ACME X1: models has 0 items; give at least 1'),
    'no reading': (
        entry(attributes={'5': {'name': 'xx', 'readings': {}}}),
        'site.json: ACME X1, attribute 5: readings is empty; give at least one key or leave it out',
    ),
    'small number': (attribute({'from': 'raw', 'ceiling': 0}), AT_233 + ': ceiling 0 is too small; write 1 or more'),
    'large number': (entry(ignore_thresholds=[300]), 'site.json: ACME X1: ignore_thresholds 300 is too large; write 255 or less'),
    'date': ({'date': 'today', 'entries': []}, 'site.json: date "today" does not fit: year-month-day, like 2026-11-20'),
    'advisory': (
        {
            'entries': [],
            'advisories': [
                {'id': 'a-1', 'models': ['ACME'], 'effect': 'it stops now', 'action': 'update it', 'source': 'some', 'hour': 'late'}
            ],
        },
        'site.json: advisory 1, a-1: hour "late" is not a whole number',
    ),
}


@pytest.mark.parametrize('mistake', SENTENCES)
def test_what_does_not_fit_the_schema_is_one_sentence(mistake):
    """Where, what, what next; whoever wrote the file does not know JSON Schema."""
    data, sentence = SENTENCES[mistake]

    assert refusal(data).startswith(sentence)


def test_several_mistakes_are_counted():
    """One sentence is enough for the output of a check, and the others are not kept secret."""
    assert refusal(entry(famly='x', models=['X1'])).endswith('did you mean family? (1 more in this file)')


def test_the_sentences_stand_in_the_order_of_the_file():
    """The tenth entry comes after the second."""
    entries = [{'family': f'ACME {number}', 'kind': 'ssd', 'wrong': 1} for number in range(12)]

    problems = datafile.schema_problems({'entries': entries}, 'attributes', 'site.json')

    assert [sentence.split(':')[1].strip() for sentence in problems] == [f'ACME {number}' for number in range(12)]


def test_content_is_never_quoted_at_length():
    """It might be a file that was not meant for us."""
    secret = 'x' * 10_000

    for data in (
        {secret: 1},
        {'entries': secret},
        entry(models=[5], comment={secret: 1}),
        attribute({'from': [secret]}),
        entry(kind=secret),
        {'entries': [{'family': secret}]},
        attribute({'from': 'raw', secret: secret}),
    ):
        assert len(refusal(data)) < 700


def test_control_characters_of_a_file_do_not_reach_the_terminal():
    """They are shown as JSON writes them."""
    assert refusal(entry(kind='\x1b[2J\n')).startswith('site.json: ACME X1: kind "\\u001b[2J\\n" is not known; write "hdd"')


def test_limits_of_a_site_are_explained_as_well():
    """The same function serves every schema."""
    data = {'overrides': [{'for': {'serial': 'EXAMPLE0001'}, 'why': 'three blocks since 2024', 'roles': {'reallocated': {'warning': 3}}}]}

    sentence = 'site.json: override 1, serial EXAMPLE0001, role reallocated: warning 3 is not null, a text or an object'
    assert refusal(data, 'thresholds') == sentence


def test_the_place_can_be_described_by_the_caller():
    """A schema of its own may have words of its own."""
    with pytest.raises(DataError, match=r'^site\.json: somewhere: kind "x" is not known'):
        datafile.checked(json.dumps(entry(kind='x')), 'attributes', 'site.json', lambda data, path: 'somewhere')


def undescribed(schema, root, place):
    """Yield the keys that a person may write and that no editor could explain."""
    for key, value in schema.get('properties', {}).items():
        referred = root['definitions'][value['$ref'].rsplit('/', 1)[1]] if '$ref' in value else {}
        if 'description' not in {**referred, **value}:
            yield f'{place}/{key}'
        yield from undescribed(value, root, f'{place}/{key}')
    for key in ('items', 'additionalProperties'):
        if isinstance(schema.get(key), dict):
            yield from undescribed(schema[key], root, place)


def test_every_key_that_a_contributor_writes_is_described_in_the_schema():
    """Editors show it; evidence is not written by hand."""
    root = datafile.schema('attributes')
    parts = {'': root, **root['definitions']}

    missing = [key for name, part in parts.items() for key in undescribed(part, root, name)]

    assert [key for key in missing if '/evidence/' not in key] == []


def test_the_examples_of_the_schema_fit_it():
    """Sentences and editors offer them to be copied."""
    import jsonschema

    root = datafile.schema('attributes')
    jsonschema.Draft7Validator.check_schema(root)

    def check(value):
        if isinstance(value, dict):
            for example in value.get('examples', ()):
                jsonschema.Draft7Validator({**value, 'definitions': root['definitions']}).validate(example)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(inner)

    check(root)


# --- the usual layout ------------------------------------------------------------------


def test_the_usual_layout_is_stable():
    """Formatting twice changes nothing, or every commit would."""
    once = datafile.formatted(database(), 'attributes')

    assert datafile.formatted(json.loads(once), 'attributes') == once
    assert json.loads(once) == database()


def test_keys_entries_and_documents_are_sorted_and_attributes_are_not():
    """Two contributors write the same file; but the order of attributes decides which reading counts."""
    data = {
        'entries': [
            {'kind': 'ssd', 'family': 'Any drive', 'fallback': True},
            {'has': [1], 'family': 'A controller', 'generic': True},
            {'source': 'measured on 1', 'models': ['ACME 1500'], 'family': 'ACME 1500'},
            {'models': ['acme 330'], 'family': 'acme 330', 'attributes': {'9': {'name': 'xx'}, '5': {'name': 'yy'}}},
        ],
        'documents': {'b': {'title': 'Book b'}, 'a': {'title': 'Book a'}},
        'date': '2026-11-20',
    }

    formatted = json.loads(datafile.formatted(data, 'attributes'))

    assert list(formatted) == ['date', 'documents', 'entries']
    assert list(formatted['documents']) == ['a', 'b']
    assert [entry['family'] for entry in formatted['entries']] == ['acme 330', 'ACME 1500', 'A controller', 'Any drive']
    assert list(formatted['entries'][1]) == ['family', 'models', 'source']
    assert list(formatted['entries'][0]['attributes']) == ['9', '5']


def test_an_attribute_takes_one_line_where_it_fits():
    """A diff shows the attribute that changed; nothing is wider than an editor."""
    lines = datafile.formatted(database(), 'attributes').splitlines()

    assert (
        '    "233": {"name": "Media_Wearout_Indicator", "readings": {"endurance_used": {"from": "100 - value", "valid": [0, 99]}}},'
        in lines
    )
    assert '    "175": {' in lines
    assert max(map(len, lines)) <= datafile.WIDTH
