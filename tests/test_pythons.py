"""The Pythons of `make test-pythons` are those that the project promises."""

import re

import pytest
import pythons
from conftest import ROOT

pytestmark = pytest.mark.tools


@pytest.mark.parametrize(
    'file, pattern',
    [
        ('pyproject.toml', r'"Programming Language :: Python :: (3\.[0-9]+)"'),
        ('README', r'Python (3\.9) .*to (3\.[0-9]+)'),
    ],
)
def test_each_promised_python_is_tested(file, pattern):
    """Who adds a version to one of these places adds it to all."""
    found = [
        version
        for match in re.finditer(pattern, (ROOT / file).read_text())
        for version in match.groups()
    ]
    tested = list(pythons.SUITES)

    assert found == (tested if len(found) > 2 else [tested[0], tested[-1]])


def test_a_python_that_nobody_has_is_reported(monkeypatch):
    """A version that is silently left out would count as tested."""
    monkeypatch.setattr(pythons, 'SUITES', {'3.1': ''})

    [run] = pythons.tested('3.1', [])

    assert run.status == 1 and run.last_line.startswith('not run: ')


def test_the_tests_of_behavior_are_found():
    """They run with the libraries of each Debian."""
    assert 'tests/test_simulated_machines.py' in pythons.behavior_tests()
