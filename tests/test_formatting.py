"""The one layout that a data file has."""

from __future__ import annotations

import json

from conftest import ROOT
from small_database import database

from smart_attributes.knowledge import formatting


def test_the_usual_layout_is_stable():
    """Formatting twice changes nothing, or every commit would."""
    once = formatting.formatted(database(), 'attributes')

    assert formatting.formatted(json.loads(once), 'attributes') == once
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

    formatted = json.loads(formatting.formatted(data, 'attributes'))

    assert list(formatted) == ['date', 'documents', 'entries']
    assert list(formatted['documents']) == ['a', 'b']
    assert [entry['family'] for entry in formatted['entries']] == ['acme 330', 'ACME 1500', 'A controller', 'Any drive']
    assert list(formatted['entries'][1]) == ['family', 'models', 'source']
    assert list(formatted['entries'][0]['attributes']) == ['9', '5']


def test_an_attribute_takes_one_line_where_it_fits():
    """A diff shows the attribute that changed; nothing is wider than an editor."""
    lines = formatting.formatted(database(), 'attributes').splitlines()

    assert (
        '    "233": {"name": "Media_Wearout_Indicator", "readings": {"endurance_used": {"from": "100 - value", '
        '"valid": [0, 99]}}},'
        in lines
    )
    assert '    "175": {' in lines
    assert max(map(len, lines)) <= formatting.WIDTH


def test_the_shipped_proofs_have_the_usual_layout():
    """make add and measure --write then change what they add, and nothing else."""
    proofs = dict.fromkeys((ROOT / 'tests/samples').glob('*.json'), formatting.samples)

    assert [path.name for path, layout in {**proofs, ROOT / 'tests/evidence.json': formatting.evidence}.items()
            if layout(json.loads(path.read_text())) != path.read_text()] == []
