"""The words of messages for places and values in a data file."""

import pytest

from smart_attributes.knowledge import data_file


@pytest.mark.parametrize(
    ('value', 'text'),
    [
        ({'a': 1}, 'an object'),
        ([1], 'a list'),
        (None, 'null'),
        ('\x1b', '"\\u001b"'),
        ('x' * 58, f'"{"x" * 58}"'),
        ('x' * 59, f'"{"x" * 59}…"'),
    ],
)
def test_a_value_is_shown_as_json_but_never_at_length(value, text):
    assert data_file.shown(value) == text


ENTRY = {
    'family': 'ACME X1',
    'attributes': {'233': {'readings': {'endurance_used': [{'from': 'raw'}]}}},
}
DATA = {
    'entries': [ENTRY, {}, {'family': 5}, {'family': ''}, 'text'],
    'advisories': [{'id': 'a-1'}],
    'overrides': [{'for': {'serial': 'S1'}}, {'for': {}}, {'for': ['S1']}],
    'others': [{'a': 'x'}],
    'sets': {'ata': {'attributes': {}}},
    'metrics': {'wear': {'valid': [0]}},
    'documents': {'a': {}},
}


@pytest.mark.parametrize(
    ('path', 'words'),
    [
        ((), ''),
        (('entries',), 'entries'),
        (('entries', 0), 'ACME X1'),
        (('entries', 1), 'entry 2'),
        (('entries', 2), 'entry 3'),
        (('entries', 3), 'entry 4'),
        (('entries', 4), 'entry 5'),
        (('entries', 9), 'entry 10'),
        (
            (
                'entries',
                0,
                'attributes',
                '233',
                'readings',
                'endurance_used',
                0,
                'from',
            ),
            'ACME X1, attribute 233, endurance_used, item 1, from',
        ),
        (('advisories', 0), 'advisory 1, a-1'),
        (('overrides', 0, 'for'), 'override 1, serial S1, for'),
        (('overrides', 1), 'override 2'),
        (('overrides', 2), 'override 3'),
        (('others', 0), 'others, item 1'),
        (('sets', 'ata'), 'set ata'),
        (('metrics', 'wear', 'valid'), 'metric wear, valid'),
        (('documents', 'a'), 'document a'),
    ],
)
def test_a_path_is_said_in_words(path, words):
    """Entries are known by their family, others by their place in the list and what they are
    for.
    """
    assert data_file.place(DATA, path) == words
