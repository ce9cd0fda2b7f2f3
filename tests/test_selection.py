"""choice: which drives patterns leave over."""

from __future__ import annotations

import pytest

from smart_attributes.errors import UsageError
from smart_attributes.model import Identity
from smart_attributes.reading.addresses import is_wanted, parse, patterns

SSD = Identity(protocol='ATA', model='MODEL X1', serial='S0A1B2C3', wwn='5000c500a1b2c3d4')


@pytest.mark.parametrize(
    'match, ignore, identity, expected',
    [
        pytest.param([], [], None, True, id='no-patterns'),
        pytest.param(['sda'], [], None, True, id='path-matches'),
        pytest.param(['^megaraid'], [], None, True, id='address-matches'),
        pytest.param(['sda_mega'], [], None, True, id='name-matches'),
        pytest.param(['ST4000'], [], None, None, id='model-must-be-read'),
        pytest.param(['sda'], ['ST4000'], None, None, id='model-may-be-ignored'),
        pytest.param([], ['sda'], None, False, id='path-is-ignored'),
        pytest.param(['sda'], ['sda'], None, False, id='ignore-wins'),
        pytest.param(['MODEL X'], [], SSD, True, id='model-matches'),
        pytest.param(['^S0A1'], [], SSD, True, id='serial-matches'),
        pytest.param(['ST4000'], [], SSD, False, id='nothing-matches'),
        pytest.param([], ['X1$'], SSD, False, id='model-is-ignored'),
        pytest.param([], ['ST4000'], SSD, True, id='another-is-ignored'),
    ],
)
def test_patterns_choose_by_address_model_and_serial(match, ignore, identity, expected):
    """None: read the drive and ask again; one that cannot be read stays in the check."""
    [device] = parse('megaraid,6@/dev/sda')

    assert is_wanted(device, identity, patterns(match), patterns(ignore)) is expected


@pytest.mark.parametrize('text', ['(', '*', '[a', '(?P<x>', '\\', 'a{99999999999}'])
def test_an_impossible_pattern_is_named(text):
    """--ignore with a shell pattern is a common slip."""
    with pytest.raises(UsageError, match='is not a valid regular expression'):
        patterns([text])


def test_the_sentence_for_an_impossible_pattern_shows_possible_ones():
    with pytest.raises(UsageError) as caught:
        patterns(['('])

    assert str(caught.value).startswith('"(" is not a valid regular expression (')
    assert str(caught.value).endswith('; write one such as "^/dev/sd" or "ST4000.*"')


@pytest.mark.parametrize(
    'model, serial, is_final, wanted',
    [
        ('ACME X1', 'SERIAL1', True, False),
        ('ACME X1', 'SERIAL1', False, False),
        ('ACME X1', '', False, None),
        ('', 'SERIAL1', False, None),
        ('ACME X1', '', True, False),
    ],
)
def test_a_drive_that_did_not_tell_all_stays_in_the_check(model, serial, is_final, wanted):
    [device] = parse('/dev/sda')

    assert (
        is_wanted(device, Identity(model=model, serial=serial), patterns(['zzz']), [], is_final)
        is wanted
    )


def test_all_is_told_unless_the_caller_says_otherwise():
    [device] = parse('/dev/sda')

    assert is_wanted(device, Identity(model='ACME X1'), patterns(['zzz']), []) is False
