"""JSON of other hosts is parsed in bounded memory and time."""

import pytest

from smart_attributes.fleet import untrusted
from smart_attributes.fleet.untrusted import COSTS, LONGEST_FOREIGN_NUMBER, PLAIN, WIDE, cost, parse


@pytest.mark.parametrize(
    'text, expected',
    [
        (b'', 0),
        (b'12', 2 * PLAIN),
        ('é'.encode(), 2 * WIDE),
        (b'\\u00e9', 6 * WIDE),
        (b'\\n', 2 * PLAIN),
        (b'[]', 2 * PLAIN + COSTS[b'[']),
        (
            b'{"a":1,"b":2}',
            13 * PLAIN
            + sum(
                COSTS[sign] * count for sign, count in ((b'{', 1), (b':', 2), (b',', 1), (b'"', 4))
            ),
        ),
    ],
    ids=['empty', 'plain', 'wide', 'escaped', 'escaped-line', 'list', 'object'],
)
def test_the_cost_of_a_text_is_that_of_its_bytes_and_tokens(text, expected):
    assert cost(text) == expected


@pytest.mark.parametrize('memory, is_parsed', [(99, False), (100, True), (101, True)])
def test_a_text_is_parsed_up_to_the_memory_that_it_may_use(memory, is_parsed, monkeypatch):
    monkeypatch.setattr(untrusted, 'LARGEST_PARSED', memory)
    text = b'1' + b' ' * 49
    assert cost(text) == 100

    if is_parsed:
        assert parse(text) == 1
    else:
        with pytest.raises(untrusted.JsonTooLarge):
            parse(text)


@pytest.mark.parametrize(
    'digits, kind',
    [
        ('7', int),
        ('9' * LONGEST_FOREIGN_NUMBER, int),
        ('9' * (LONGEST_FOREIGN_NUMBER + 1), float),
        (f'-{"9" * (LONGEST_FOREIGN_NUMBER - 1)}', int),
    ],
)
def test_a_number_is_whole_up_to_the_longest(digits, kind):
    found = parse(f'[{digits}]'.encode())[0]

    assert isinstance(found, kind) and found == kind(digits)


def test_a_text_that_is_nested_too_deeply_says_so():
    with pytest.raises(ValueError, match=r'^it is nested too deeply$'):
        parse(b'[' * 100_000)
