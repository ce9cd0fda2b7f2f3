"""What the arguments of shared options become, and the sentence for one that cannot be meant."""

import argparse

import pytest

from smart_attributes.command_line import values
from smart_attributes.commands import table
from smart_attributes.errors import UsageError
from smart_attributes.model import State


@pytest.mark.parametrize(
    'convert, text, value',
    [
        (values.duration, '1m', 60),
        (values.duration, '12h', 43200),
        (values.duration, '7d', 604800),
        (values.duration, '2w', 1209600),
        (values.duration, '1y', 31557600),
        (values.duration, '99999m', 5999940),
        (values.state, 'Unknown', State.UNKNOWN),
        (values.metric_range, 'temperature=@10=20', ('temperature', '@10=20')),
        (values.seconds, '0.1', 0.1),
        (values.seconds, '3600', 3600.0),
        (values.max_output, '2000', 2000),
        (values.max_output, '1000000', 1000000),
        (values.expected, '0', 0),
        (values.expected, '10000', 10000),
        (values.attribute, '1', 1),
        (values.attribute, '255', 255),
    ],
)
def test_an_argument_becomes_its_value(convert, text, value):
    """Both ends of a range are within it."""
    assert convert(text) == value


@pytest.mark.parametrize(
    'convert, words, texts',
    [
        (
            values.duration,
            'is not a time; write 90m, 12h, 7d or 2w',
            ['', '7', 'd', '0d', '-1d', '100000h', '7D', '٣d', '²d'],
        ),
        (
            values.state,
            'is not valid here; use ok, warning, critical, unknown',
            ['green'],
        ),
        (
            values.metric_range,
            'is not of the form METRIC=RANGE, for example endurance_used=80',
            ['wear', 'wear=', '=80'],
        ),
        (
            values.seconds,
            'is not a valid number of seconds (0.1 to 3600)',
            ['0.09', '3601', 'nan'],
        ),
        (
            values.max_output,
            'is not a valid number of bytes (2000 to 1e+06)',
            ['1999', '1000001', '8000.5'],
        ),
        (
            values.expected,
            'is not a valid number of drives (0 to 10000)',
            ['-1', '10001'],
        ),
        (values.attribute, 'is not a valid attribute number (1 to 255)', ['0', '256']),
    ],
)
def test_an_argument_that_cannot_be_meant_is_quoted_with_what_can(
    convert, words, texts
):
    for text in texts:
        with pytest.raises(argparse.ArgumentTypeError) as error:
            convert(text)

        assert str(error.value) == f'"{text}" {words}'


REPEATED = [
    (command.name, action.option_strings[0])
    for command in table.commands()
    for action in table.parser(command)._actions
    if isinstance(action.default, list) and action.option_strings and action.nargs != 0
]


@pytest.mark.parametrize(('command', 'option'), REPEATED)
@pytest.mark.parametrize('value', ['', ' '])
def test_a_list_takes_no_empty_value(command, option, value):
    """A variable that is not set: --ignore '' would leave out every drive."""
    words = [] if command == 'check' else [command]

    with pytest.raises(UsageError, match=option):
        table.understood([*words, option, value])


def test_all_lists_are_tried():
    assert {'-d', '--match', '--ignore', '--remove'} <= {
        option for _, option in REPEATED
    }
