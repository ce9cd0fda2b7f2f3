"""Which regular expressions of a data file can be used, and that matching ends on every text."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT

from smart_attributes import alarm
from smart_attributes.knowledge import data_errors, patterns


@pytest.mark.parametrize(
    ('pattern', 'words'),
    [
        ('a{99999999999}', 'expression: '),
        ('(' * 3000 + ')' * 3000, 'expression: '),
        ('(?:(?:(?:){1000}){1000}){1000}X', 'repeats '),
        ('[0-9', 'expression: unterminated'),
        ('(?(1)A)', 'expression: '),
    ],
    ids=['huge', 'deep', 'memory', 'set', 'unknown-group'],
)
def test_what_cannot_be_used_is_said(pattern, words):
    """Python 3.9 raises another error for an unknown group than newer versions."""
    assert words in patterns.error_in(pattern)


def test_every_shipped_pattern_can_be_used():
    data = json.loads((ROOT / 'attributes.json').read_text())

    assert [
        pattern for _, _, pattern in data_errors.patterns(data) if patterns.error_in(pattern)
    ] == []


@pytest.mark.parametrize('pattern', ['(a+)+X', '(a{1,40}){1,40}X', '(?:(?:a?){1000}){1000}X'])
def test_a_pattern_that_never_ends_is_ended_once_and_not_used_again(pattern, monkeypatch):
    """Without a time limit of the command, too."""
    monkeypatch.setattr(patterns, '_too_slow', {})
    monkeypatch.setattr(patterns, 'MATCHING_TIME', 0.1)
    alarm.obey()

    assert not patterns.fits(pattern, 'a' * 60)
    assert not patterns.fits(pattern, 'aX')
    (sentence,) = patterns.too_slow()
    assert f' "{pattern}" with "aaa' in sentence


@pytest.mark.parametrize(
    ('pattern', 'text', 'expected'),
    [('ACME.*', 'ACME X1', True), ('ACME', 'ACME X1', False), ('(a+)+', 'a' * 60, True)],
)
def test_a_pattern_that_ends_is_matched_with_the_whole_text(pattern, text, expected):
    assert patterns.fits(pattern, text) is expected
    assert patterns.too_slow() == []


@pytest.mark.parametrize(('length', 'quoted'), [(60, f'"{"a" * 60}"'), (61, f'"{"a" * 60}…"')])
def test_a_long_pattern_is_quoted_in_part(length, quoted):
    assert patterns.quoted('a' * length) == quoted
