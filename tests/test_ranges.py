"""Nagios ranges: what alerts, and how it is said."""
import pytest

from smart_attributes.errors import UsageError
from smart_attributes.knowledge import ranges


@pytest.mark.parametrize(('text', 'good', 'bad', 'words'), [
    ('85', 85, 86, 'above 85'), ('11:', 11, 10, 'below 11'), ('~:5', -3, 6, 'above 5'), ('10:20', 15, 21, 'above 20'),
    ('10:20', 10, 9, 'below 10'), ('@1:5', 6, 3, 'inside 1 to 5'), ('0', 0, 1, 'above 0'), ('0.5', 0.5, 0.6, 'above 0.5'),
    ('1000000000000', 1, 2e12, 'above 1000000000000')])
def test_a_range_alerts_outside_and_says_on_which_side(text, good, bad, words):
    """The guidelines' own examples; a limit itself is still good."""
    assert not ranges.is_violated(text, good)
    assert ranges.is_violated(text, bad)
    assert ranges.describe(text, bad) == words


def test_no_range_never_alerts():
    """An empty text is a limit that was not set."""
    assert not ranges.is_violated('', 10**9)


@pytest.mark.parametrize('text', ['', ' ', '85%', 'a', '1:2:3', '20:10', 'nan', '1e3', '--5', ':', '1;2', 'inf:inf:'])
def test_what_is_no_range_is_refused_with_an_example(text):
    """A limit that silently never alarms was bug 3 of the older plugin."""
    if text == ':':
        assert not ranges.is_violated(text, 5)  # zero to infinity: allowed, if useless
        return
    with pytest.raises(UsageError, match='write 85'):
        ranges.parse(text)
