"""One value of a JSON document, of the right type and of wrong ones."""

import pytest

from smart_attributes.reading import content

NAN, ENDLESS = float('nan'), float('inf')


@pytest.mark.parametrize(
    'data, text', [({'k': ' a b\n'}, 'a b'), ({'k': 7}, ''), ({}, '')], ids=str
)
def test_a_text_has_no_outer_blanks(data, text):
    assert content.text_of(data, 'k') == text


@pytest.mark.parametrize(
    'value, number',
    [
        (0, 0),
        (-5, -5),
        (2**53 - 1, 2**53 - 1),
        (2**53, 2**53),
        (1 - 2**128, 1 - 2**128),
        (2**128, None),
        (-(2**128), None),
        (4.0, 4),
        (4.5, None),
        (NAN, None),
        (ENDLESS, None),
        (True, None),
        ('7', None),
        (None, None),
    ],
    ids=str,
)
def test_a_whole_number_is_exact_or_absent(value, number):
    found = content.integer_of({'k': value}, 'k')

    assert found == number and type(found) is type(number)


@pytest.mark.parametrize(
    'data, number',
    [
        ({'k': 2**53, 'k_s': '9007199254740993'}, 2**53 + 1),
        ({'k': 1 - 2**53, 'k_s': '6'}, 1 - 2**53),
        ({'k': 2**53 - 1, 'k_s': '6'}, 2**53 - 1),
        ({'k_s': '1' * 39}, int('1' * 39)),
        ({'k_s': '1' * 40}, None),
        ({'k_s': '-6'}, None),
        ({'k_s': '\u0667'}, None),
        ({'k_s': 6}, None),
        ({}, None),
    ],
    ids=str,
)
def test_a_number_that_json_would_round_is_read_from_its_string(data, number):
    assert content.integer_of(data, 'k') == number


@pytest.mark.parametrize(
    'value, word', [(-1, None), (2**64 - 1, 2**64 - 1), (2**64, None)], ids=str
)
def test_a_word_has_its_range(value, word):
    assert content.word_of({'k': value}, 'k') == word


@pytest.mark.parametrize(
    'value, offset',
    [
        (8, 8),
        (504, 504),
        (0, None),
        (512, None),
        (9, None),
    ],
    ids=str,
)
def test_a_statistic_is_inside_its_page(value, offset):
    assert content.offset_of({'k': value}, 'k') == offset


@pytest.mark.parametrize(
    'value, number',
    [
        ('71532.573', 71532.573),
        (' 71532,573 ', 71532.573),
        ('1' * 30, float('1' * 30)),
        ('1' * 31, None),
        ('-7', None),
        ('7.', None),
        ('1.' + '1' * 9, 1.111111111),
        ('1.' + '1' * 10, None),
        ('', None),
        (7.5, 7.5),
        (0, 0.0),
        (-1, None),
        (2**128, None),
        (2**128 - 1, float(2**128)),
        (True, None),
        (NAN, None),
        (None, None),
    ],
    ids=str,
)
def test_a_fraction_has_a_point_or_a_comma(value, number):
    found = content.fraction_of({'k': value}, 'k')

    assert found == number and type(found) is type(number)
