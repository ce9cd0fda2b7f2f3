"""Our yes or no about a file is the one of jsonschema, whatever is wrong with it."""

import copy
import json
import random

import pytest
from conftest import ROOT
from small_database import database

from smart_attributes.knowledge import data_file, schema_errors

FILES = {
    'thresholds': json.loads((ROOT / 'thresholds/example-site.json').read_text()),
    'attributes': database(),
}
STRANGE = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2.5,
    3.0,
    '',
    'x',
    'value',
    'passed',
    '2027-01-31',
    '85',
    [],
    {},
    [1],
    ['x', 'x'],
    {'x': 1},
    {'from': 'raw'},
    {'drive': 'threshold', 'else': None},
    255,
    256,
    10**20,
    'x' * 130,
    [None, None],
    [[1], [2]],
]
KEYS = [
    'warning',
    'critical',
    'why',
    'for',
    'read',
    'skip',
    'hdd',
    'else',
    'x',
    'models',
    'from',
    'name',
    '255',
    '256',
    'has',
    'family',
    'kind',
    'Ä',
]


def places(value, path=()):
    """Yield the path of everything in *value*."""
    yield path
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))


def mutated(data, rolls):
    """Return a copy with one thing changed, removed or added somewhere."""
    data = copy.deepcopy(data)
    path = rolls.choice(list(places(data)))
    if not path:
        return rolls.choice([data, *STRANGE])
    owner = data
    for step in path[:-1]:
        owner = owner[step]
    change = rolls.randrange(4)
    if change == 0:
        owner[path[-1]] = rolls.choice(STRANGE)
    elif change == 1:
        del owner[path[-1]]
    elif isinstance(owner[path[-1]], dict):
        owner[path[-1]][rolls.choice(KEYS)] = rolls.choice(STRANGE)
    elif isinstance(owner[path[-1]], list):
        owner[path[-1]].append(rolls.choice([*STRANGE, *owner[path[-1]]]))
    return data


@pytest.mark.libraries
@pytest.mark.parametrize('name', FILES)
def test_the_quick_answer_is_that_of_the_library(name):
    """What one admits and the other refuses would be used unseen, or refused without a sentence."""
    import jsonschema

    rules = data_file.schema(name)
    library = jsonschema.Draft7Validator(rules)
    rolls = random.Random(20261122)
    answers = set()
    for _ in range(200):
        data = FILES[name]
        for _ in range(rolls.choice([1, 1, 2])):
            data = mutated(data, rolls) if isinstance(data, dict) else data
        answer = data_file.is_fitting(data, rules, rules)
        answers.add(answer)
        assert answer == library.is_valid(data), json.dumps(data)
    assert answers == {True, False}


@pytest.mark.parametrize(
    ('value', 'name', 'fits'),
    [
        (1, 'integer', True),
        (1.0, 'integer', True),
        (1.5, 'integer', False),
        (1.5, 'number', True),
        (1, 'number', True),
        (True, 'number', False),
        (True, 'integer', False),
        ('1', 'number', False),
        ({}, 'object', True),
        ([], 'array', True),
        ({}, 'array', False),
        ('', 'string', True),
        (False, 'boolean', True),
        (0, 'boolean', False),
        (None, 'null', True),
        (1.5, ['null', 'number'], True),
        ('', ['null', 'number'], False),
    ],
)
def test_a_value_has_the_types_of_json(value, name, fits):
    """True is no number, and 1.0 is a whole one."""
    assert data_file.is_fitting(value, {'type': name}, {}) is fits


def test_a_keyword_that_nobody_here_knows_is_a_mistake_and_no_yes():
    """Whoever adds one to a schema adds its rule."""
    with pytest.raises(KeyError):
        data_file.is_fitting({}, {'dependencies': {}}, {})


def test_every_keyword_of_our_schemas_has_a_test():
    """A check of invalid data must not end there."""
    words = data_file.WORDS | data_file.NESTED | data_file.TESTS.keys() | {'$ref'}
    for name in FILES:
        assert {*keywords(data_file.schema(name))} <= words


def keywords(part):
    """Yield the keywords of a schema and of all schemas in it."""
    if isinstance(part, dict):
        yield from part
        for key in ('properties', 'definitions'):
            for inner in part.get(key, {}).values():
                yield from keywords(inner)
        for key in ('items', 'propertyNames', 'additionalProperties'):
            yield from keywords(part.get(key))
        for inner in (*part.get('anyOf', ()), *part.get('allOf', ())):
            yield from keywords(inner)


def test_what_fits_is_told_without_the_library(monkeypatch):
    """Its import alone costs more than a check."""
    monkeypatch.setitem(__import__('sys').modules, 'jsonschema', None)

    assert (
        schema_errors.schema_problems(
            json.loads((ROOT / 'attributes.json').read_text()),
            'attributes',
            'attributes.json',
        )
        == []
    )


@pytest.mark.parametrize(
    ('growth', 'fits'),
    [
        ({'within': '24h', 'warning': '0', 'for': '7d'}, True),
        (None, True),
        ([{'within': '7d', 'for': '1d', 'why': 'because of that'}], True),
        ({'within': '24', 'for': '7d'}, False),
        ({'within': '24h'}, False),
        ({'within': '24h', 'for': '0d'}, False),
        ([], False),
        ({'within': '24h', 'for': '7d', 'warning': '10:'}, False),
        ({'within': '24h', 'for': '7d', 'warning': 5}, False),
        ({'within': '24h', 'for': '7d', 'advise': 'nothing'}, False),
        *(
            ({'within': '24h', 'for': '7d', **wrong}, False)
            for wrong in (
                {'within': 24},
                {'within': '-1d'},
                {'within': '1xd'},
                {'for': '1w'},
                {'for': '1X'},
                {'for': None},
                {'stands': '٣d'},
                {'stands': '1٣d'},
                {'gone': 'soon'},
                {'warning': 'x'},
                {'warning': 'nan'},
                {'critical': '-1'},
                {'critical': 'inf'},
            )
        ),
    ],
)
def test_a_rule_of_growth_that_fits_its_schema_can_be_meant(growth, fits):
    """What passes here is parsed without a mistake, which a check meets only when
    something has grown.
    """
    rules = data_file.schema('thresholds')
    assert (
        data_file.is_fitting({'metrics': {'pending': {'growth': growth}}}, rules, rules)
        is fits
    )
    if fits and growth:
        from smart_attributes.knowledge.thresholds import growth_rule, several

        assert [growth_rule(each).held for each in several(growth)]
