"""The characters of a file, and where smartctl's JSON starts in them."""

import pytest

from smart_attributes.constants import LARGEST_FILE
from smart_attributes.errors import DriveError, NotAReport
from smart_attributes.reading import content


@pytest.mark.parametrize(
    'data, text',
    [
        (b'', ''),
        ('\u00e9'.encode(), '\u00e9'),
        ('\ufeffx'.encode(), 'x'),
        (b'1\xa0024 \x92', '1\u00a0024 \u2019'),
        ('x\u00e9'.encode('utf-16'), 'x\u00e9'),
        (b'\xfe\xff\0x', 'x'),
        (b'\xff\xfex\0y', 'x\ufffd'),
        (b'\x81', '\ufffd'),
        (b'sma\0rtctl 7.3', 'sma\0rtctl 7.3'),
    ],
)
def test_a_file_is_read_in_the_encoding_of_whatever_wrote_it(data, text):
    assert content.as_text(data) == text


def test_a_file_larger_than_any_report_is_refused():
    assert len(content.as_text(b'x' * LARGEST_FILE)) == LARGEST_FILE
    with pytest.raises(NotAReport, match='4 MiB'):
        content.as_text(b'x' * (LARGEST_FILE + 1))


@pytest.mark.parametrize(
    'text, start',
    [
        ('{x', 0),
        ('', -1),
        ('Hi\n{"a": 1}', 3),
        ('Hi\n \t\ufeff{\n', 6),
        ('Hi\n{}', 3),
        ('Hi\n{ x', -1),
        ('a {"b": 1}', -1),
        ('Hi\n{x\n{"a"', 6),
    ],
)
def test_json_starts_on_a_line_of_its_own(text, start):
    assert content.json_start(text) == start


@pytest.mark.parametrize(
    'text, code, words',
    [
        ('{"a"', 'report-damaged', 'has a damaged report: its JSON '),
        (
            '{"a":' * 100_000,
            'report-damaged',
            'has a damaged report: its JSON ',
        ),
        ('{}\n{}', 'several-reports', 'contains several reports; '),
    ],
    ids=['cut', 'deep', 'several'],
)
def test_a_damaged_document_and_several_have_a_code(text, code, words):
    assert content.loaded('Hi\n{"a": [1]}\nbye', 3) == {'a': [1]}
    with pytest.raises(DriveError) as caught:
        content.loaded(text, 0)

    assert caught.value.code == code and str(caught.value).startswith(words)


@pytest.mark.parametrize(
    'text, expected',
    [
        ('{"serial_number": "A\\"B", "x": "A"}', '{"serial_number": "", "x": "A"}'),
        (
            '"logical_unit_id" : "0x5", "wwn": {"naa": 5}, "eui64":{"oui": 1}',
            '"logical_unit_id" : "", "wwn": {}, "eui64":{}',
        ),
        (
            'Model: x\nSerial Number:    A1\nSerial number: A1\nx',
            'Model: x\nSerial Number:\nSerial number:\nx',
        ),
        (
            'LU WWN Device Id: 5 0\nLogical Unit id:  0x5\nNamespace 1 IEEE EUI-64:  a 1',
            'LU WWN Device Id:\nLogical Unit id:\nNamespace 1 IEEE EUI-64:',
        ),
    ],
)
def test_an_output_without_names_keeps_everything_else(text, expected):
    assert content.nameless(text) == expected
