"""What is wrong with patterns for models, though they can be used."""

from __future__ import annotations

import pytest

from smart_attributes.devtools import model_patterns


@pytest.mark.parametrize(
    'pattern',
    ['ACME X1', 'ACME [A-Z0-9]+', 'ACME X1[0-9]{3}.*', '(?:ACME|ACNE) X1', 'ACME X1(?:-[0-9]{2}){0,3}', 'AC[|]ME']
)
def test_ordinary_patterns_pass(pattern):
    """What a contributor would write first."""
    assert list(model_patterns.model_problems(pattern)) == []
