"""Nagios ranges: what alerts, and how it is said."""
import pytest

from smart_attributes.errors import UsageError
from smart_attributes.knowledge import ranges


@pytest.mark.parametrize(('text', 'good', 'bad', 'words'), [
    ('85', 85, 86, 'above 85'), ('11:', 11, 10, 'below 11'), ('~:5', -3, 6, 'above 5'), ('10:20', 15, 21, 'above 20'),
    ('10:20', 10, 9, 'below 10'), ('@1:5', 6, 3, 'inside 1 to 5'), ('0', 0, 1, 'above 0'),
    ('0.5', 0.5, 0.6, 'above 0.5'),
    ('1000000000000', 1, 2e12, 'above 1000000000000')])
def test_a_range_alerts_outside_and_says_on_which_side(text, good, bad, words):
    """The guidelines' own examples; a limit itself is still good."""
    assert not ranges.is_violated(text, good)
    assert ranges.is_violated(text, bad)
    assert ranges.describe(text, bad) == words


def test_no_range_never_alerts():
    """An empty text is a limit that was not set."""
    assert not ranges.is_violated('', 10**9)


def test_a_number_at_the_end_of_a_range_with_a_start_is_not_above_it():
    """The side is told by the end that is passed."""
    assert ranges.describe('10:20', 20.5) == 'above 20'
    assert ranges.describe('10:10', 9) == 'below 10'
    assert ranges.describe('~:20', 21) == 'above 20'


@pytest.mark.parametrize(('number', 'text'), [
    (85, '85'), (0.5, '0.5'), (999999, '999999'), (1000000, '1000000'), (1000000.4, '1000000'), (1e12, '1000000000000'),
    (-5, '-5'),
    (-2e6, '-2000000')])
def test_a_limit_of_the_drive_becomes_a_range_without_exponent(number, text):
    """Daemons read plain numbers; above alerts beyond the number, below under it."""
    assert (ranges.above(number), ranges.below(number)) == (text, f'{text}:')


def test_a_refusal_quotes_the_range_shortly_and_shows_the_four_forms():
    """The admin corrects it without the guidelines at hand; a file that was not meant for us is not quoted."""
    with pytest.raises(UsageError) as refusal:
        ranges.parse('x' * 50)

    assert str(refusal.value) == (f'"{"x" * 40}" is no Nagios range; write 85 (bad above 85), 11: (bad below 11), '
                                  '10:20 (bad outside) or @1:5 (bad inside)')


def test_a_range_without_ends_is_allowed_if_useless():
    """Zero to infinity; the guidelines do not forbid it."""
    assert not ranges.is_violated(':', 5)
    assert ranges.is_violated('@', 5)


@pytest.mark.parametrize('text', [
    'nan', '5:nan', '', ' ', ' 85', '85 ', '1_0', '٨٥', '+5', '1.e3', '85%', 'a', '1:2:3', '20:10', '1e3', '--5',
    '1;2', 'inf:inf:'])
def test_what_is_no_range_is_refused_with_an_example(text):
    """A limit that silently never alarms was bug 3 of the older plugin."""
    with pytest.raises(UsageError, match='write 85'):
        ranges.parse(text)
