"""Nagios ranges: what alerts, and how it is said."""

import pytest

from smart_attributes.errors import UsageError
from smart_attributes.knowledge import ranges


@pytest.mark.parametrize(
    ('text', 'good', 'bad', 'words'),
    [
        ('85', 85, 86, 'above 85'),
        ('11:', 11, 10, 'below 11'),
        ('~:5', -3, 6, 'above 5'),
        ('10:20', 15, 21, 'above 20'),
        ('10:20', 20, 20.5, 'above 20'),
        ('10:10', 10, 9, 'below 10'),
        ('@1:5', 6, 3, 'inside 1 to 5'),
        ('0', 0, 1, 'above 0'),
        ('0.5', 0.5, 0.6, 'above 0.5'),
        ('~:85.0', 85, 86, 'above 85'),
        ('1000000000000', 1, 2e12, 'above 1000000000000'),
    ],
)
def test_a_range_alerts_outside_and_says_on_which_side(text, good, bad, words):
    """The guidelines' own examples; a limit itself is still good."""
    assert not ranges.is_violated(text, good)
    assert ranges.is_violated(text, bad)
    assert ranges.describe(text, bad, '') == words


@pytest.mark.parametrize(
    ('number', 'text'),
    [
        (85, '85'),
        (0.5, '0.5'),
        (1000000.4, '1000000.4'),
        (1e12, '1000000000000'),
        (-5, '-5'),
        (-2e6, '-2000000'),
    ],
)
def test_a_limit_of_the_drive_becomes_a_range_without_exponent(number, text):
    """Daemons read plain numbers; above alerts beyond the number, below under it."""
    assert (ranges.beyond(number, False), ranges.beyond(number, True)) == (
        text,
        f'{text}:',
    )


def test_a_range_without_ends_is_allowed_if_useless():
    """Zero to infinity; the guidelines do not forbid it."""
    assert not ranges.is_violated(':', 5)
    assert not ranges.is_violated('', 10**9)
    assert ranges.is_violated('@', 5)


@pytest.mark.parametrize(
    'text',
    [
        'nan',
        '',
        ' 85',
        '1_0',
        '٨٥',
        '1.e3',
        'a',
        '1:2:3',
        '20:10',
        'inf:inf:',
    ],
)
def test_what_is_no_range_is_refused_with_an_example(text):
    """A limit that silently never alarms was bug 3 of the older plugin."""
    with pytest.raises(UsageError, match='write "85"'):
        ranges.parse(text)


# --- metrics in seconds ----------------------------------------------------------------

DAY = 86_400


@pytest.mark.parametrize(
    ('text', 'good', 'bad', 'words', 'plain'),
    [
        ('30d:', 30, 29, 'below 30d', '2592000:'),
        ('4w', 28, 29, 'above 4w', '2419200'),
        ('~:5y', 1826, 1827, 'above 5y', '~:157788000'),
        ('1d:2w', 14, 15, 'above 2w', '86400:1209600'),
        ('1d:2w', 1, 0.5, 'below 1d', '86400:1209600'),
        ('@1d:2w', 15, 7, 'inside 1d to 2w', '@86400:1209600'),
        ('@2w', 15, 7, 'inside 0 to 2w', '@1209600'),
        ('1.5d:', 1.5, 1.4, 'below 1.5d', '129600:'),
        ('3600:2d', 1, 3, 'above 2d', '3600:172800'),
        ('0:0.5y', 182, 183, 'above 0.5y', '0:15778800'),
        ('2592000:', 30, 29, 'below 2592000', '2592000:'),
    ],
)
def test_a_range_of_seconds_may_count_in_days_weeks_and_years(
    text, good, bad, words, plain
):
    """Nobody counts thirty days in seconds; a person is told the limit as it was written, a
    daemon in seconds.
    """
    assert not ranges.is_violated(text, good * DAY, 's')
    assert ranges.is_violated(text, bad * DAY, 's')
    assert ranges.describe(text, bad * DAY, 's') == words
    assert ranges.in_base_unit(text, 's') == plain


@pytest.mark.parametrize(
    'text',
    [
        'd',
        '30m:',
        '1.d',
        '30 d',
        '30dd',
        '~30d',
        '-30d',
    ],
)
def test_what_is_no_time_is_refused_with_an_example(text):
    """m could be minutes or months; a sum of times, or one before now, is nobody's limit."""
    with pytest.raises(UsageError, match='write "30d:" '):
        ranges.parse(text, 's')


FORMS = 'write "85" (bad above 85), "11:" (bad below 11), "10:20" (bad outside) or "@1:5" (bad inside)'
TIMES = (
    'write "30d:" (bad below 30 days), "5y" (bad above 5 years), "1d:2w" (bad outside) or "@1d:2w" (bad inside); '
    'units are d, w and y; a number without a unit is in seconds'
)
ADVICE = [
    ('80%', '%', 'leave out the unit: write 80'),
    ('50C', 'C', 'leave out the unit: write 50'),
    ('50 \N{DEGREE SIGN}C', 'C', 'leave out the unit: write 50'),
    ('5%', '', 'leave out the unit: write 5'),
    ('20%:80%', '%', 'leave out the unit: write 20:80'),
    ('~:80%', '%', 'leave out the unit: write ~:80'),
    ('30s', 's', 'leave out the unit: write 30'),
    ('100B', 'B', 'leave out the unit: write 100'),
    ('50000h', 's', TIMES),
    ('5TB', 'B', FORMS),
    ('50F', 'C', FORMS),
    ('5TB', '%', FORMS),
    ('50C', '', FORMS),
    ('5 sectors', '', FORMS),
    ('2h:1h', 'B', FORMS),
    ('9' * 400, '', 'its number is too long'),
    ('x' * 309, '', 'its number is too long'),
    ('5%' * 501, '%', 'its number is too long'),
    ('x' * 300, '', FORMS),
    ('5%:x', '%', FORMS),
    ('30 d', 's', TIMES),
]


@pytest.mark.parametrize(('text', 'unit', 'advice'), ADVICE)
def test_a_refusal_quotes_the_range_shortly_and_tells_what_to_write(text, unit, advice):
    """The corrected limit, which means the same, or the forms of a range."""
    with pytest.raises(UsageError) as refusal:
        ranges.parse(text, unit)

    assert str(refusal.value) == f'"{text[:40]}" is not a Nagios range; {advice}'


@pytest.mark.parametrize('text', ['30d:', '@1d:2w', '5y'])
@pytest.mark.parametrize(
    'unit, said', [('C', 'in C;'), ('%', 'in %;'), ('B', 'in B;'), ('', 'a count;')]
)
def test_letters_are_for_seconds_alone(text, unit, said):
    """30d of a temperature is a mistake that must not become 2,592,000 degrees."""
    with pytest.raises(UsageError, match=f' {said} d, w and y '):
        ranges.parse(text, unit)


@pytest.mark.parametrize(
    'text',
    [
        '{}',
        '{}:',
        '@0:{}',
        '~:{}',
        '~:-{}',
        '{}d',
        '{}d:',
        '{}w:{}y',
        '{}h',
    ],
)
@pytest.mark.parametrize('unit', ['', 's'])
@pytest.mark.parametrize('digits', [309, 100_000])
def test_a_number_without_end_is_refused(text, unit, digits):
    """A float cannot hold it: it would end the check, never alert, or always."""
    with pytest.raises(UsageError, match='Nagios range'):
        ranges.parse(text.replace('{}', '9' * digits), unit)


@pytest.mark.parametrize('text', ['9' * 300, f'{"9" * 300}:', f'@0:{"9" * 300}'])
def test_a_long_number_that_a_float_holds_can_be_judged_and_described(text):
    """A limit of the drive with an offset may be as long."""
    for number in (-1.0, 5.0, 1e305):
        assert not ranges.is_violated(text, number) or ranges.describe(text, number, '')


@pytest.mark.parametrize(
    ('text', 'number', 'unit', 'excess'),
    [
        ('', 5, '', 0),
        ('80', 80, '', 0),
        ('80', 100, '', 0.25),
        ('20:', 15, '', 0.25),
        ('10:20', 25, '', 0.25),
        ('10:20', 5, '', 0.5),
        ('10:20', 20, '', 0),
        ('0', 3, '', 3),
        ('0.5', 3, '', 2.5),
        ('~:-4', 4, '', 2),
        ('@1:5', 3, '', 0),
        ('@1:5', 9, '', 0),
        ('1d', 3 * DAY, 's', 2),
        ('1d:', DAY / 2, 's', 0.5),
        ('80', 100, '%', 0.25),
    ],
)
def test_the_excess_of_a_number_is_in_multiples_of_the_end_that_it_passed(
    text, number, unit, excess
):
    """An end around zero counts as one; inside a range that alerts there, nothing is passed."""
    assert ranges.excess(text, number, unit) == excess
    assert unit == 's' or ranges.excess(text, number, '') == excess


@pytest.mark.parametrize(
    ('text', 'number', 'code'),
    [('5', 6, 'above-limit'), ('5:', 4, 'below-limit'), ('@1:5', 3, 'inside-limit')],
)
def test_the_side_of_a_limit_has_a_code(text, number, code):
    assert ranges.describe(text, number, '').code == code


# --- where the range comes from -------------------------------------------------------------------


def test_the_range_is_taken_from_its_own_file():
    found = ranges._range_alone()

    assert (found.__name__, found.__module__) == ('Range', 'nagiosplugin.range')
    assert found('10:20').match(15) and not found('10:20').match(21)


CONTRADICTIONS = [
    ('90', '85', 'high', '%', 'critical 85 is reached before warning 90; swap them'),
    ('20:', '30:', 'low', '%', 'critical 30: is reached before warning 20:; swap them'),
    (
        '20',
        '',
        'low',
        '%',
        '"20" alerts above 20, but low values of this metric are bad; to alert below 20, write "20:" (with the colon)',
    ),
    (
        '',
        '20:',
        'high',
        '%',
        '"20:" alerts below 20, but high values of this metric are bad; to alert above 20, write "20"',
    ),
    (
        '0:30d',
        '',
        'low',
        's',
        '"0:30d" alerts above 30d, but low values of this metric are bad; to alert '
        'below 30d, write "30d:" (with the colon)',
    ),
    ('85', '85', 'high', '%', ''),
    ('85', '95', 'high', '%', ''),
    ('16:', '11:', 'low', '%', ''),
    ('20:', '', 'none', '', ''),
    ('20', '', '', '', ''),
    ('10:60', '5:70', 'high', 'C', ''),
    ('@1:5', '2', 'high', '', ''),
    ('90', '', 'high', '%', ''),
    ('', '', 'low', '%', ''),
    ('60', '20:', 'none', 'C', ''),
]


@pytest.mark.parametrize('warning, critical, worse, unit, why', CONTRADICTIONS)
def test_two_limits_that_cannot_be_meant_are_told_with_the_right_ones(
    warning, critical, worse, unit, why
):
    """A warning that comes after CRITICAL never warns, and 20 instead of 20: alerts on every
    healthy drive.
    """
    assert ranges.contradiction(warning, critical, worse, unit) == why


@pytest.mark.parametrize(
    ('text', 'number', 'is_violated'),
    [
        ('60', -5, False),
        ('60', 61, True),
        ('@60', -5, False),
        ('0:60', -5, True),
        ('~:60', -5, False),
        ('5:', -5, True),
        ('', -5, False),
    ],
)
def test_an_upper_limit_is_no_lower_limit_of_zero(text, number, is_violated):
    """Only temperatures are below zero; 0:60 is written by someone who means it."""
    assert ranges.is_violated(text, number) is is_violated
