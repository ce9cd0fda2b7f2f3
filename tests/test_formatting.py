"""The one layout that a data file has."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT
from small_database import database

from smart_attributes.knowledge import formatting


def test_the_usual_layout_is_stable():
    """Formatting twice changes nothing, or every commit would."""
    once = formatting.formatted(database(), 'attributes')

    assert formatting.formatted(json.loads(once), 'attributes') == once
    assert json.loads(once) == database()


def test_an_attribute_takes_one_line_where_it_fits():
    """A diff shows the attribute that changed; nothing is wider than an editor."""
    lines = formatting.formatted(database(), 'attributes').splitlines()

    assert (
        '    "233": {"name": "Media_Wearout_Indicator", "readings": {"endurance_used": {"from": '
        '"100 - value", "valid": [0, 99]}}},' in lines
    )
    assert '    "175": {' in lines
    assert max(map(len, lines)) <= formatting.WIDTH


def test_the_shipped_proofs_have_the_usual_layout():
    """make add then changes what it adds, and nothing else."""
    assert [
        path.name
        for path in (ROOT / 'tests/samples').glob('*.json')
        if formatting.samples(json.loads(path.read_text())) != path.read_text()
    ] == []


FORMATTED = """\
{
 "date": "2026-11-20",
 "documents": {
  "a": {},
  "b": {}
 },
 "metrics": {
  "b": {},
  "z": {}
 },
 "sets": {
  "a": {},
  "b": {}
 },
 "layouts": {
  "a": {},
  "b": {}
 },
 "entries": [
  {
   "family": "acme 330",
   "attributes": {
    "9": {},
    "5": {}
   }
  },
  {
   "family": "ACME 1500",
   "models": ["ACME 1500"]
  },
  {
   "family": "Y",
   "generic": true
  },
  {
   "family": "F",
   "fallback": "ATA"
  }
 ],
 "advisories": [
  {
   "id": "A9"
  },
  {
   "id": "A10"
  },
  {
   "id": "B"
  }
 ]
}
"""


def test_every_part_of_a_database_is_sorted_and_open():
    """Two contributors write the same file; but the order of attributes decides which reading
    counts.
    """
    data = {
        **{key: {'b': {}, 'a': {}} for key in ('sets', 'layouts', 'documents')},
        'advisories': [{'id': 'B'}, {'id': 'A10'}, {'id': 'A9'}],
        'metrics': {'z': {}, 'b': {}},
        'entries': [
            {'fallback': 'ATA', 'family': 'F'},
            {'models': ['ACME 1500'], 'family': 'ACME 1500'},
            {'generic': True, 'family': 'Y'},
            {'attributes': {'9': {}, '5': {}}, 'family': 'acme 330'},
        ],
        'date': '2026-11-20',
    }

    assert formatting.formatted(data, 'attributes') == FORMATTED


ALTERNATIVES = {'anyOf': [{'type': 'object', 'title': 'one'}, {'type': 'array', 'title': 'two'}]}


@pytest.mark.parametrize(
    ('value', 'fits', 'meant'),
    [
        ({}, {'anyOf': [ALTERNATIVES]}, ALTERNATIVES['anyOf'][0]),
        ([], ALTERNATIVES, ALTERNATIVES['anyOf'][1]),
        ('text', ALTERNATIVES, {}),
        ({}, {**ALTERNATIVES, 'properties': {}}, {**ALTERNATIVES, 'properties': {}}),
        ({}, {'$ref': '#/definitions/a'}, {'type': 'object'}),
    ],
)
def test_of_alternatives_the_one_with_the_type_of_the_value_is_meant(value, fits, meant):
    assert formatting._meant(value, fits, {'definitions': {'a': {'type': 'object'}}}) == meant


KEYS = {'properties': {'b': {}, 'a': {}}}
AB = {'a': 1, 'b': 2}


@pytest.mark.parametrize(
    ('value', 'fits', 'text'),
    [
        (AB, KEYS, '{"b": 2, "a": 1}'),
        (AB, {}, '{"a": 1, "b": 2}'),
        ([AB], {'items': KEYS}, '[{"b": 2, "a": 1}]'),
        ([AB], {}, '[{"a": 1, "b": 2}]'),
        ({'x': AB}, {'additionalProperties': KEYS}, '{"x": {"b": 2, "a": 1}}'),
        ({'x': AB}, {'additionalProperties': False}, '{"x": {"a": 1, "b": 2}}'),
        (AB, {'anyOf': [{'type': 'array'}, {'type': 'object', **KEYS}]}, '{"b": 2, "a": 1}'),
    ],
)
def test_keys_stand_in_the_order_of_their_schema(value, fits, text):
    assert json.dumps(formatting._in_schema_order(value, fits, {})) == text


@pytest.mark.parametrize(('length', 'lines'), [(154, 1), (155, 3)])
def test_a_line_is_never_wider_than_the_layout(length, lines):
    """A list of one text: two brackets, two quotes and two columns before it."""
    laid = formatting._laid_out(['x' * length], 'a', '', 1)

    assert len(laid.splitlines()) == lines
