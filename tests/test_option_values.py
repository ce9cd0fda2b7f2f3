"""What the arguments of shared options become, and the sentence for one that cannot be meant."""

from __future__ import annotations

import argparse

import pytest

from smart_attributes.command_line import values
from smart_attributes.model import State


@pytest.mark.parametrize(
    'convert, text, value',
    [
        pytest.param(values.duration, '90m', 5400, id='minutes'),
        pytest.param(values.duration, '12h', 43200, id='hours'),
        pytest.param(values.duration, '7d', 604800, id='days'),
        pytest.param(values.duration, '2w', 1209600, id='weeks'),
        pytest.param(values.duration, '1y', 31557600, id='year'),
        pytest.param(values.duration, '1m', 60, id='least'),
        pytest.param(values.duration, '99999m', 5999940, id='most'),
        pytest.param(values.state, 'ok', State.OK, id='state'),
        pytest.param(values.state, 'Unknown', State.UNKNOWN, id='state-with-capitals'),
        pytest.param(
            values.metric_range, 'endurance_used=80', ('endurance_used', '80'), id='range'
        ),
        pytest.param(
            values.metric_range, 'temperature=@10=20', ('temperature', '@10=20'), id='second-sign'
        ),
        pytest.param(values.seconds, '0.1', 0.1, id='least-seconds'),
        pytest.param(values.seconds, '3600', 3600.0, id='most-seconds'),
        pytest.param(values.max_output, '2000', 2000, id='least-output'),
        pytest.param(values.max_output, '1000000', 1000000, id='most-output'),
        pytest.param(values.expected, '0', 0, id='no-drives'),
        pytest.param(values.expected, '10000', 10000, id='10000'),
        pytest.param(values.attribute, '1', 1, id='first-attribute'),
        pytest.param(values.attribute, '255', 255, id='last-attribute'),
    ],
)
def test_an_argument_becomes_its_value(convert, text, value):
    """Both ends of a range are within it."""
    assert convert(text) == value


TIME = 'is not a time; write 90m, 12h, 7d or 2w'


@pytest.mark.parametrize(
    'convert, text, words',
    [
        *(
            pytest.param(values.duration, text, TIME, id=f'time-{text}')
            for text in ('', '7', 'd', '0d', '-1d', '1.5h', '100000h', '7 d', '7D', '٣d', '²d')
        ),
        pytest.param(
            values.state, 'green', 'is unknown here; use ok, warning, critical, unknown', id='state'
        ),
        *(
            pytest.param(
                values.metric_range,
                text,
                'is not metric=RANGE, for example endurance_used=80',
                id=f'range-{text}',
            )
            for text in ('wear', 'wear=', '=80', '=')
        ),
        *(
            pytest.param(
                values.seconds,
                text,
                'is not a valid number of seconds (0.1 to 3600)',
                id=f'seconds-{text}',
            )
            for text in ('0.09', '3601', 'ten', 'nan')
        ),
        *(
            pytest.param(
                values.max_output,
                text,
                'is not a valid number of bytes (2000 to 1e+06)',
                id=f'bytes-{text}',
            )
            for text in ('1999', '1000001', '8000.5')
        ),
        *(
            pytest.param(
                values.expected,
                text,
                'is not a valid number of drives (0 to 10000)',
                id=f'drives-{text}',
            )
            for text in ('-1', '10001')
        ),
        *(
            pytest.param(
                values.attribute,
                text,
                'is not a valid attribute number (1 to 255)',
                id=f'attribute-{text}',
            )
            for text in ('0', '256')
        ),
    ],
)
def test_an_argument_that_cannot_be_meant_is_quoted_with_what_can(convert, text, words):
    with pytest.raises(argparse.ArgumentTypeError) as error:
        convert(text)

    assert str(error.value) == f'"{text}" {words}'


@pytest.mark.parametrize(
    'text, number', [('2', 2), ('9', 9), ('1', None), ('10', None), ('5.5', None), ('', None)]
)
def test_a_number_is_taken_within_its_limits(text, number):
    convert = values._number('number', 2, 9, int)
    if number is not None:
        assert convert(text) == number
        return
    with pytest.raises(argparse.ArgumentTypeError) as error:
        convert(text)

    assert str(error.value) == f'"{text}" is not a valid number (2 to 9)'
