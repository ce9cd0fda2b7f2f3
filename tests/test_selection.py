"""choice: which drives patterns leave over."""

import pytest

from smart_attributes.check.selection import is_wanted, patterns
from smart_attributes.errors import UsageError
from smart_attributes.model import Identity
from smart_attributes.reading.addresses import parse

SSD = Identity(
    protocol='ATA', model='MODEL X1', serial='S0A1B2C3', wwn='5000c500a1b2c3d4'
)


@pytest.mark.parametrize(
    ('match', 'ignore', 'identity', 'expected'),
    [
        ([], [], None, True),
        (['sda'], [], None, True),
        (['^megaraid'], [], None, True),
        (['sda_mega'], [], None, True),
        (['ST4000'], [], None, True),  # the model must be read
        (['sda'], ['ST4000'], None, True),
        ([], ['sda'], None, False),
        (['sda'], ['sda'], None, False),
        (['MODEL X'], [], SSD, True),
        (['^S0A1'], [], SSD, True),
        (['ST4000'], [], SSD, False),
        ([], ['X1$'], SSD, False),
        ([], ['ST4000'], SSD, True),
    ],
)
def test_patterns_choose_by_address_model_and_serial(match, ignore, identity, expected):
    """With what is known: a drive is asked for again after it is read; one that cannot be read
    stays in the check.
    """
    [device] = parse('megaraid,6@/dev/sda')

    assert is_wanted(device, identity, patterns(match), patterns(ignore)) is expected


@pytest.mark.parametrize(
    'text', ['(', '[a', 'a{99999999999}', '(' * 3000 + ')' * 3000], ids=len
)
def test_an_impossible_pattern_is_named(text):
    """--ignore with a shell pattern is a common slip; the parser gives up in ways of its own."""
    with pytest.raises(UsageError) as caught:
        patterns([text])

    assert str(caught.value).startswith(f'"{text[:9]}')
    assert str(caught.value).endswith(' "^/dev/sd" or "ST4000.*"')


@pytest.mark.parametrize(
    ('model', 'serial', 'is_final', 'wanted'),
    [
        ('ACME X1', 'SERIAL1', [False], False),
        ('ACME X1', '', [False], True),
        ('', 'SERIAL1', [False], True),
        ('ACME X1', '', [True], False),
        ('ACME X1', '', [], False),
    ],
)
def test_a_drive_that_did_not_tell_all_stays_in_the_check(
    model, serial, is_final, wanted
):
    [device] = parse('/dev/sda')
    identity = Identity(model=model, serial=serial)

    assert is_wanted(device, identity, patterns(['zzz']), [], *is_final) is wanted
