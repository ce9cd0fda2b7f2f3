"""What does not fit a schema is said in one sentence: where and what."""

import json
import sys

import pytest

from smart_attributes.errors import DataError
from smart_attributes.knowledge import schema_errors
from smart_attributes.knowledge.data_file import TESTS, schema


def refusal(data, schema='attributes'):
    """Return the sentence with which *data* is refused."""
    text = data if isinstance(data, str) else json.dumps(data)
    with pytest.raises(DataError) as caught:
        schema_errors.checked(text, schema, 'site.json')
    return str(caught.value)


def entry(**changes):
    """Return a file with one entry of the X1, changed."""
    return {
        'entries': [
            {
                'family': 'ACME X1',
                'models': ['ACME X1-.*'],
                'source': 'measured on 3 drives',
                **changes,
            }
        ]
    }


def attribute(reading):
    return entry(
        attributes={
            '233': {
                'name': 'Media_Wearout_Indicator',
                'readings': {'endurance_used': reading},
            }
        }
    )


NO_LIBRARY = 'site.json: something is wrong; to see what and where, install the Python package jsonschema'
AT_233 = 'site.json: ACME X1, attribute 233, endurance_used'
SENTENCES = {
    'control characters': (
        entry(kind='\x1b[2J\n'),
        'site.json: ACME X1: kind "\\u001b[2J\\n" is not valid; write "hdd"',
    ),
    'limit': (
        {
            'overrides': [
                {
                    'for': {'serial': 'EXAMPLE0001'},
                    'why': 'three blocks since 2024',
                    'metrics': {'reallocated': {'warning': 3}},
                }
            ]
        },
        'site.json: override 1, serial EXAMPLE0001, metric reallocated: warning 3 is not null, text in '
        'quotes or an object',
        'thresholds',
    ),
    'unknown key of a reading': (
        attribute({'from': 'raw', 'units': '%'}),
        AT_233 + ': unknown key "units"; did you mean unit?',
    ),
    'unknown key in an alternative': (
        attribute([{'from': 'raw'}, {'form': 'raw'}]),
        AT_233 + ', item 2: unknown key "form"; did you mean from?',
    ),
    'missing key': (attribute({'valid': [0, 99]}), AT_233 + ': from is missing'),
    'missing name': (
        entry(attributes={'5': {}}),
        'site.json: ACME X1, attribute 5: name is missing; write it like "Media_Wearout_Indicator"',
    ),
    'no condition': (
        {'entries': [{'family': 'ACME X1'}]},
        'site.json: ACME X1: models, has, first, only or kind is missing',
    ),
    'no entries': ({}, 'site.json: entries is missing'),
    'no object': ([], 'site.json: a list is not an object'),
    'type': (
        attribute({'from': 5}),
        AT_233 + ': from 5 is not text in quotes; write it like "100 - value"',
    ),
    'type of either': (
        attribute('100 - value'),
        'site.json: ACME X1, attribute 233, readings: endurance_used "100 - value" is not an '
        'object or a list; write it like {"from": "100 - value", "valid": [0, 99]}',
    ),
    'unknown unit': (
        attribute({'from': 'raw', 'unit': 'GB'}),
        AT_233 + ': unit "GB" is not valid; write "%", "logical sectors", "s", ',
    ),
    'attribute number': (
        entry(attributes={'256': {'name': 'xx'}}),
        'site.json: ACME X1, attributes: the key "256" does not fit: an attribute number from 1 '
        'to 255',
    ),
    'interval': (
        attribute({'from': 'value', 'valid': [0]}),
        AT_233 + ': valid has 1 items; give at least 2',
    ),
    'interval too long': (
        attribute({'from': 'value', 'valid': [0, 1, 2]}),
        AT_233 + ': valid has 3 items; give 2',
    ),
    'short pattern': (
        entry(models=['X1']),
        'site.json: ACME X1: models "X1" is too short; write at least 4 characters',
    ),
    'long family': (
        {'entries': [{'family': 'x' * 130, 'kind': 'ssd'}]},
        'site.json: '
        + 'x' * 59
        + '…: family "'
        + 'x' * 59
        + '…" is too long; write at most 120 characters',
    ),
    'pattern twice': (
        entry(models=['ACME', 'ACME']),
        'site.json: ACME X1: models lists the same item twice; keep one',
    ),
    'empty models': (
        entry(models=[]),
        'site.json: ACME X1: models has 0 items; give at least 1',
    ),
    'no reading': (
        entry(attributes={'5': {'name': 'xx', 'readings': {}}}),
        'site.json: ACME X1, attribute 5: readings is empty; give at least one key or leave it out',
    ),
    'small number': (
        attribute({'from': 'raw', 'ceiling': 0}),
        AT_233 + ': ceiling 0 is too small; write 1 or more',
    ),
    'large number': (
        entry(ignore_thresholds=[300]),
        'site.json: ACME X1: ignore_thresholds 300 is too large; write 255 or less',
    ),
}


def limit(**fields):
    """Return a file with limits of one metric."""
    return {'metrics': {'pending': fields}}


WHOLE_SENTENCES = {
    'an unknown key that is like none': (
        {'entries': [], 'documents': {'a': {'title': 'A manual', 'zzz': 1}}},
        'attributes',
        'document a: unknown key "zzz"; known keys are title, publisher, url and licence',
    ),
    'five unknown keys of six': (
        limit(a=1, b=2, c=3, d=4, e=5, f=6),
        'thresholds',
        'metric pending: unknown key "a", "b", "c", "d" and "e"; known keys are warning, critical, '
        'growth, aged, graph, '
        'acknowledged, why, hdd, ssd, nvme and sas',
    ),
    'two missing keys': (
        {'entries': [], 'metrics': {'a': {'meaning': 'our own figure'}}},
        'attributes',
        'metric a: unit and worse are missing',
    ),
    'an item of a list in a list': (
        attribute({'from': 'value', 'valid': ['x', 9]}),
        'attributes',
        'ACME X1, attribute 233, endurance_used: valid "x" is not a number or null',
    ),
    'an item of the whole list': (
        {'entries': [5]},
        'attributes',
        'entries 5 is not an object',
    ),
    'a name that is no metric': (
        {'metrics': {'Pending': {}}},
        'thresholds',
        'metrics: "Pending" is not a metric; did you mean pending?',
    ),
    'a name of an override that is no metric': (
        {
            'overrides': [
                {
                    'for': {'serial': 'S'},
                    'why': 'because of it',
                    'metrics': {'pending': 5},
                }
            ]
        },
        'thresholds',
        'override 1, serial S, metrics: pending 5 is not an object',
    ),
    'a number of an attribute': (
        {
            'overrides': [
                {
                    'for': {'serial': 'S'},
                    'why': 'because of it',
                    'attributes': {'five': None},
                }
            ]
        },
        'thresholds',
        'override 1, serial S, attributes: the key "five" does not match the pattern ^[0-9]{1,3}$',
    ),
    'a key of a new metric': (
        {'entries': [], 'metrics': {'Big One': {}}},
        'attributes',
        'metrics: the key "Big One" does not fit: a metric\'s name: small letters, digits and _',
    ),
    'a constant': (
        {
            'overrides': [
                {'for': {'serial': 'S'}, 'why': 'because of it', 'missing': False}
            ]
        },
        'thresholds',
        'override 1, serial S: missing false is not valid; write true or leave it out',
    ),
}


@pytest.mark.parametrize('mistake', WHOLE_SENTENCES)
def test_a_sentence_ends_with_what_to_write(mistake):
    """All of it is compared: what is known, what is missing, what the schema wants."""
    data, schema_name, words = WHOLE_SENTENCES[mistake]

    assert (
        schema_errors.schema_problems(data, schema_name, 'site.json')[0]
        == f'site.json: {words}'
    )


def test_each_keyword_of_the_schemas_has_its_words():
    assert {*TESTS, 'additionalProperties'} == {
        'additionalProperties',
        'required',
        *schema_errors._COMPLAINTS,
        'type',
    }


@pytest.mark.parametrize('mistake', SENTENCES)
def test_what_does_not_fit_the_schema_is_one_sentence(mistake):
    """Where, what, what next; whoever wrote the file does not know JSON Schema."""
    data, sentence, *schema_name = SENTENCES[mistake]

    assert refusal(data, *schema_name).startswith(sentence)


def test_the_sentences_stand_in_the_order_of_the_file():
    """The tenth entry comes after the second."""
    entries = [
        {'family': f'ACME {number}', 'kind': 'ssd', 'wrong': 1} for number in range(12)
    ]

    problems = schema_errors.schema_problems(
        {'entries': entries}, 'attributes', 'site.json'
    )

    assert [sentence.split(':')[1].strip() for sentence in problems] == [
        f'ACME {number}' for number in range(12)
    ]


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


def undescribed(schema, root, place):
    """Yield the keys that a person may write and that no editor could explain."""
    for key, value in schema.get('properties', {}).items():
        referred = (
            root['definitions'][value['$ref'].rsplit('/', 1)[1]]
            if '$ref' in value
            else {}
        )
        if 'description' not in {**referred, **value}:
            yield f'{place}/{key}'
        yield from undescribed(value, root, f'{place}/{key}')
    for key in ('items', 'additionalProperties'):
        if isinstance(schema.get(key), dict):
            yield from undescribed(schema[key], root, place)


def test_every_key_that_a_contributor_writes_is_described_in_the_schema():
    """Editors show it."""
    root = schema('attributes')
    parts = {'': root, **root['definitions']}

    missing = [
        key for name, part in parts.items() for key in undescribed(part, root, name)
    ]

    assert missing == []


def test_the_examples_of_the_schema_fit_it():
    """Sentences and editors offer them to be copied."""
    import jsonschema

    root = schema('attributes')
    jsonschema.Draft7Validator.check_schema(root)

    def check(value):
        if isinstance(value, list):
            value = dict(enumerate(value))
        if not isinstance(value, dict):
            return
        for example in value.get('examples', ()):
            jsonschema.Draft7Validator(
                {**value, 'definitions': root['definitions']}
            ).validate(example)
        for inner in value.values():
            check(inner)

    check(root)


def test_without_the_library_a_mistake_is_still_one(monkeypatch):
    """A check must not end for want of a better sentence."""
    monkeypatch.setitem(sys.modules, 'jsonschema', None)

    [problem] = schema_errors.schema_problems({}, 'attributes', 'site.json')
    assert problem == NO_LIBRARY


def test_complaints_are_bounded():
    """A million of them would take minutes."""
    assert (
        len(
            schema_errors.schema_problems(
                {'overrides': [{}] * 1000}, 'thresholds', 'site.json'
            )
        )
        <= schema_errors.MOST_ERRORS
    )
