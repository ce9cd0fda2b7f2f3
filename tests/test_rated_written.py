"""Every warranted amount belongs to a model that exists, once, and says the figure that its
document says.
"""

import json
import re
from collections import Counter

import pytest
from conftest import ROOT

from smart_attributes.knowledge.patterns import matches_pattern

DATA = json.loads((ROOT / 'attributes.json').read_text())
ROWS = [
    (pattern, row)
    for entry in DATA['entries']
    for pattern, row in entry.get('rated_written', {}).items()
]
# as drives report them, blanks reduced to one
MODELS = (ROOT / 'tests/rated_models.txt').read_text().splitlines()


def test_each_pattern_matches_a_model_and_no_model_has_two():
    """A capacity code that no drive reports would never be noticed; of two rows, one would be
    wrong.
    """
    found = {
        model: [pattern for pattern, _ in ROWS if matches_pattern(pattern, model)]
        for model in MODELS
    }

    assert {
        model: patterns for model, patterns in found.items() if len(patterns) != 1
    } == {}
    assert {pattern for patterns in found.values() for pattern in patterns} == {
        pattern for pattern, _ in ROWS
    }
    assert [
        pattern
        for pattern, many in Counter(pattern for pattern, _ in ROWS).items()
        if many > 1
    ] == []


def stated(quote):
    """Return what the numbers of a quoted line may mean in TB: TB or PB, with points and commas
    of either use.
    """
    numbers = [number.strip('.,') for number in re.findall('[0-9][0-9.,]*', quote)]
    written = {
        float(text)
        for number in numbers
        for text in (
            number.replace(',', ''),
            number.replace(',', '.'),
            number.replace('.', '').replace(',', '.'),
        )
        if re.fullmatch('[0-9]+([.][0-9]+)?', text)
    }
    return written | {round(number * 1000, 1) for number in written}


@pytest.mark.parametrize('pattern, row', ROWS, ids=[pattern for pattern, _ in ROWS])
def test_the_quoted_line_has_the_figure(pattern, row):
    """A figure beside a line that says another one was typed wrong."""
    found = stated(row['quote'])

    if 'drive_writes' in row:
        per_day, years, capacity = (
            row['drive_writes'][key] for key in ('per_day', 'years', 'capacity')
        )
        assert {per_day, years} <= found
        assert row['bytes'] == pytest.approx(per_day * years * 365 * capacity, rel=1e-9)
    else:
        assert row['bytes'] / 10**12 in found
