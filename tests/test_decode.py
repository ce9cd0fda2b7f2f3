"""The grammar of `from`, and what the renderings of a raw value hold."""

import random

import pytest
from small_database import row

from smart_attributes.errors import FormulaError
from smart_attributes.knowledge import decode

RANDOM = random.Random(5)
SOME_BYTES = [tuple(RANDOM.randrange(256) for _ in range(6)) for _ in range(40)] + [
    (0,) * 6,
    (255,) * 6,
    (1, 0, 0, 0, 0, 0),
]


def word(raw, number):
    return raw[2 * number] | raw[2 * number + 1] << 8


def low(raw, count):
    return sum(byte << 8 * position for position, byte in enumerate(raw[:count]))


# What smartctl's formats print, and which bytes can be read back from it. Source: atacmds.cpp.
RENDERINGS = {
    'raw48': (lambda b: str(low(b, 6)), 6),
    'hex48': (lambda b: f'0x{low(b, 6):012x}', 6),
    'raw8': (lambda b: ' '.join(map(str, reversed(b))), 6),
    'raw16': (lambda b: f'{word(b, 2)} {word(b, 1)} {word(b, 0)}', 6),
    'raw16(raw16)': (
        lambda b: (
            f'{word(b, 0)} ({word(b, 2)} {word(b, 1)})'
            if any(b[2:])
            else str(word(b, 0))
        ),
        6,
    ),
    'raw24(raw8)': (
        lambda b: (
            f'{low(b, 3)} ({b[5]} {b[4]} {b[3]})' if any(b[3:]) else str(low(b, 3))
        ),
        6,
    ),
    'raw16(avg16)': (lambda b: f'{word(b, 0)} (Average {word(b, 1)})', 4),
    'tempminmax, other layouts': (
        lambda b: f'{b[0]} ({b[5]} {b[4]} {b[3]} {b[2]} {b[1]})',
        6,
    ),
    'tempminmax': (lambda b: f'{b[0]} (Min/Max {b[2]}/{b[4]})', 1),
    'tempminmax with count': (lambda b: f'{b[0]} (Min/Max {b[2]}/{b[4]} #{b[5]})', 1),
}


@pytest.mark.parametrize('rendering', RENDERINGS)
def test_bytes_come_back_from_what_smartctl_prints(rendering):
    """The report may be text: what it holds is read as from the drive, what it does not hold is
    unknown.
    """
    render, known = RENDERINGS[rendering]

    for raw in SOME_BYTES:
        assert tuple(decode.printed_bytes(render(raw))) == (
            *raw[:known],
            *(None,) * (6 - known),
        ), render(raw)


@pytest.mark.parametrize('rendering', RENDERINGS)
@pytest.mark.parametrize(
    'formula',
    [
        'raw',
        'raw byte 0',
        'raw byte 5',
        'raw bytes 0-2',
        'raw bytes 2-3',
        'raw bytes 5-4',
        'bits of raw',
    ],
)
def test_text_and_json_say_the_same_where_the_text_holds_it(rendering, formula):
    """One drive must not have two values, depending on smartctl's version."""
    render, _ = RENDERINGS[rendering]

    for raw in SOME_BYTES:
        of_json = number(formula, row(1, raw=render(raw), raw_number=low(raw, 6)))
        of_text = number(formula, row(1, raw=render(raw)))
        assert of_text in (of_json, None)
        assert of_json is not None


def number(formula, of, *others):
    return decode.evaluate(
        decode.parse(formula), of, {other.id: other for other in (of, *others)}
    )


@pytest.mark.parametrize(
    'raw, of_json',
    [
        ('1234h+56m', 1234 * 60 + 56),
        ('1234h+56m+12s', 1234 * 3600 + 56 * 60 + 12),
        ('1234h+56m+12.345s', 1234 | 99 << 32),
        ('1234h+30m (27)', 148110),
    ],
)
def test_a_time_counts_in_hours_whatever_the_drive_counts_in(raw, of_json):
    """smartctl knows the drive's unit and prints hours; its JSON number keeps minutes, seconds
    or half minutes.
    """
    assert number('raw bytes 0-3', row(9, raw=raw, raw_number=of_json)) == 1234


@pytest.mark.parametrize(
    'raw',
    [
        '',
        '-',
        '²',
        '9' * 5000,
        '1 2',
        '-5 (Min/Max -9/31)',
        '31.5',
        '70000 (some text)',
        '(1 2)',
        '1h',
        'ab',
        '0x',
        '1/2/3',
        '5 (',
        '\x00',
        '1 ' * 3000,
    ],
)
def test_what_smartctl_never_prints_is_unknown(raw):
    """A recorded report is somebody's text: it may hold anything, and must end no check."""
    assert number('raw', row(1, raw=raw)) is None


@pytest.mark.parametrize(
    'formula, expected',
    [
        ('value', 22),
        ('100 - value', 78),
        ('200 - value', 178),
        ('value / 4', 5.5),
        ('100 - value / 2', 89),
        ('raw', 0x060504030201),
        ('raw byte 0', 1),
        ('raw byte 5', 6),
        ('raw bytes 2-3', 0x0403),
        ('raw bytes 3-2', 0x0304),
        ('raw bytes 5-0', 0x010203040506),
        ('raw bytes 4-4', 5),
        ('bits of raw', 9),
        ('raw byte 1 / 4', 0.5),
        ('value of 5', 90),
        ('raw byte 0 of 5', 7),
        ('100 * raw byte 0 / raw byte 0 of 5', 100 / 7),
        ('value + value of 5', 112),
        ('100 - raw byte 0 of 5', 93),
        ('bits of raw of 5', 3),
    ],
)
def test_each_form_of_the_grammar_gives_its_number(formula, expected):
    """One example for each form that the database may use."""
    of = row(233, value=22, raw=str(0x060504030201))

    assert number(formula, of, row(5, value=90, raw='7')) == pytest.approx(expected)


@pytest.mark.parametrize(
    'formula',
    [
        'value of 5',
        'value + raw of 5',
        '100 * raw / raw of 5',
        'raw byte 3',
        'raw',
        '100 - raw byte 5',
    ],
)
def test_a_number_that_the_report_does_not_hold_is_unknown(formula):
    """The other row is missing, or the byte is not printed."""
    assert number(formula, row(194, raw='28 (Min/Max 20/32)')) is None


@pytest.mark.parametrize(
    'formula', ['value', '100 - value', 'value + raw', '100 * value / raw']
)
def test_a_column_that_smartctl_leaves_out_is_unknown(formula):
    """Where the raw value takes more than six bytes, the value is printed as ---."""
    assert number(formula, row(1, value=None, raw='5')) is None


def test_a_ratio_by_zero_is_unknown():
    """A counter that has not started is neither 0 % nor an error."""
    assert number('100 * raw / raw of 5', row(1, raw='3'), row(5, raw='0')) is None


def test_a_number_of_more_than_six_bytes_keeps_the_low_ones():
    """raw56 and hex64 carry the reserved byte above the six."""
    assert number('raw', row(1, raw='x', raw_number=0xFF_0000_0000_0007)) == 7
    assert number('raw', row(1, raw='0x00ff000000000007')) == 7


def test_a_formula_names_the_rows_that_it_reads():
    """validate looks for traps among them."""
    assert decode.parse('100 * raw of 17 / raw of 16').attributes == (17, 16)
    assert decode.parse('value').attributes == ()


# --- numbers and layouts at their edges -------------------------------------------------------


@pytest.mark.parametrize(
    'raw, expected',
    [
        ('1/2', (2, 0, 0, None, None, None)),
        ('1/16777215', (255, 255, 255, None, None, None)),
        ('258/16777216', (0, 0, 0, 1, 2, 1)),
        ('1/4294967295', (255, 255, 255, 255, 1, 0)),
        ('0/258', (2, 1, 0, 0, 0, 0)),
        ('0/16777216', (0, 0, 0, 1, 0, 0)),
    ],
)
def test_two_halves_hold_the_bytes_that_both_formats_agree_on(raw, expected):
    """raw24/raw24 and raw24/raw32 print alike: byte 3 is certain only above 24 bits, or where
    nothing stands above.
    """
    assert tuple(decode.printed_bytes(raw)) == expected


@pytest.mark.parametrize(
    'raw, byte',
    [
        ('255 (Min/Max 1/2)', 255),
        ('256 (Min/Max 1/2)', None),
        ('0 (some)', 0),
        ('-11 (Min/Max -11/43)', 0xF5),
        ('-128', 0x80),
        ('-129', None),
    ],
)
def test_of_a_leading_number_only_a_byte_is_certain(raw, byte):
    """What stands in the brackets may be any layout."""
    assert tuple(decode.printed_bytes(raw)) == (byte, *(None,) * 5)


def test_a_time_holds_four_bytes():
    """Hours beyond 16 bits are still hours; what stands above is not printed."""
    assert tuple(decode.printed_bytes('16777217h+00m')) == (1, 0, 0, 1, None, None)
    assert tuple(decode.printed_bytes('4294967296h+00m')) == (0, 0, 0, 0, None, None)


def test_a_rendering_is_read_up_to_64_characters():
    """The longest that smartctl prints has half of them."""
    assert decode.printed_bytes('1'.zfill(64))[0] == 1
    assert decode.printed_bytes('1'.zfill(65))[0] is None


@pytest.mark.parametrize(
    'formula', ['raw of 1', 'value of 255', 'value / 1', f'raw / {2**48}', 'raw / 2']
)
def test_the_edges_of_the_grammar_are_inside(formula):
    """Attributes 1 to 255, divisors up to all of the raw value."""
    assert decode.parse(formula)


@pytest.mark.parametrize(
    'formula',
    [
        'value of 256',
        f'raw / {2**48 + 1}',
        'raw byte -1',
        'raw byte 01',
        'value / 2 / 3',
        'value / 2 x',
        '100 * raw + raw',
        '100 * raw - raw',
        'raw byte ²',
        'value of +5',
        'value of 1_0',
        'raw bytes 0-1-2',
        'raw bytes 0',
        'raw byte 6',
        'raw bytes 0-6',
        'raw byte',
        'value of 0',
        'value of 1000',
        'value / 0',
        '50 - value',
        'value - 100',
        '100 * value',
        '100 * value / 3',
        'value + 3',
        '',
        'raw; import os',
        'value + value + value',
        '100 - value + value',
        'bits of value',
        '9' * 400,
        'worst',
        'VALUE',
        ' value',
        'value\n',
        'value  of 5',
        '100-value',
    ],
)
def test_the_edges_of_the_grammar_are_sharp(formula):
    """A number is written as a person writes it, and nothing follows the formula."""
    with pytest.raises(FormulaError):
        decode.parse(formula)


ALL = (
    'write "value", "raw", "raw byte 0", "raw bytes 0-1" or "bits of raw"; to use another '
    'attribute, add its ID, such as "raw of 230"; or write a formula such as "100 - value", '
    '"raw / 100", "raw + raw of 231" or "100 * raw of 17 / raw of 16"'
)


@pytest.mark.parametrize('formula', ['100 - normalised', 'x' * 10_000])
def test_a_refusal_says_all_that_can_be_written(formula):
    """The author has no other book at hand; a file that was not meant for us is not quoted."""
    with pytest.raises(FormulaError) as refusal:
        decode.parse(formula)

    assert str(refusal.value) == f'"from": "{formula[:64]}" is not a formula; {ALL}'


@pytest.mark.parametrize(
    'formula, expected',
    [('raw', 2**48 - 1), ('raw / 1', 2**48 - 1), ('raw + raw', 2**49 - 2)],
)
def test_whole_numbers_stay_whole(formula, expected):
    """Counters of six bytes are exact; a division by one is none."""
    found = number(formula, row(1, raw=str(2**48 - 1)))

    assert (found, type(found)) == (expected, int)


@pytest.mark.parametrize(
    'formula, number, degrees',
    [
        ('raw byte 0', 30, 30),
        ('raw byte 0', 127, 127),
        ('raw byte 0', 0xF5, -11),
        ('raw bytes 0-1 / 10', 245, 245),  # tenths of a degree in two bytes
        ('value', 245, 245),
        ('100 - raw byte 0', 200, 200),
    ],
)
def test_one_raw_byte_of_a_temperature_has_a_sign(formula, number, degrees):
    """Other formulas are not such a byte."""
    assert decode.signed_byte(decode.parse(formula), number) == degrees
