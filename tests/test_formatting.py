"""The one layout that a data file has."""

import json

import pytest
from conftest import ROOT
from small_database import database

from smart_attributes.knowledge import formatting


def test_the_usual_layout_is_stable():
    """Formatting twice changes nothing, or every commit would."""
    once = formatting.formatted(database())

    assert formatting.formatted(json.loads(once)) == once
    assert json.loads(once) == database()


def test_an_attribute_takes_one_line_where_it_fits():
    """A diff shows the attribute that changed; nothing is wider than an editor."""
    lines = formatting.formatted(database()).splitlines()

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
  "b": {},
  "z": {}
 },
 "metrics": {
  "b": {},
  "z": {}
 },
 "sets": {
  "b": {},
  "z": {}
 },
 "layouts": {
  "b": {},
  "z": {}
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
        'date': '2026-11-20',
        **{
            key: {'z': {}, 'b': {}}
            for key in ('documents', 'metrics', 'sets', 'layouts')
        },
        'entries': [
            {'family': 'F', 'fallback': 'ATA'},
            {'family': 'ACME 1500', 'models': ['ACME 1500']},
            {'family': 'Y', 'generic': True},
            {'family': 'acme 330', 'attributes': {'9': {}, '5': {}}},
        ],
        'advisories': [{'id': 'B'}, {'id': 'A10'}, {'id': 'A9'}],
    }

    assert formatting.formatted(data) == FORMATTED


@pytest.mark.parametrize('length, lines', [(154, 1), (155, 3)])
def test_a_line_is_never_wider_than_the_layout(length, lines):
    """A list of one text: two brackets, two quotes and two columns before it."""
    laid = formatting._laid_out(['x' * length], 'a', ' ')

    assert len(laid.splitlines()) == lines
