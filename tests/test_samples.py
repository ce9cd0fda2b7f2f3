"""Rows that a person pasted, and what they say."""

import json

import pytest
from small_database import samples as small_samples

from smart_attributes.devtools import sources
from smart_attributes.model import AttributeRow

WRONG = small_samples()
WRONG[1]['lines'].append('Device Model:     X2')


@pytest.mark.parametrize(
    ('line', 'expected'),
    [
        (
            '  5 Reallocated_Sector_Ct   PO--CK   001   001   010    NOW  640 (409 5906)',
            AttributeRow(
                5, 'Reallocated_Sector_Ct', 1, 1, 10, True, 'now', '640 (409 5906)'
            ),
        ),
        (
            '190 Airflow_Temperature_Cel 0x0022   060   044   045    Old_age   Always   '
            'In_the_past 40 (Min/Max 20/56 #3)',
            AttributeRow(
                190,
                'Airflow_Temperature_Cel',
                60,
                44,
                45,
                False,
                'past',
                '40 (Min/Max 20/56 #3)',
            ),
        ),
        (
            '  9 Power_On_Hours          -O--CK   ---   ---   ---    -    1234h+56m+12.345s',
            AttributeRow(
                9, 'Power_On_Hours', None, None, None, False, '', '1234h+56m+12.345s'
            ),
        ),
        (
            '184 End-to-End_Error 0x0033 050 050 090 Pre-fail Always FAILING_NOW 3',
            AttributeRow(184, 'End-to-End_Error', 50, 50, 90, True, 'now', '3'),
        ),
        (
            '231 SSD_LifeLeft(0.01%)     -O--CK   100   100   000    Past    9999\n',
            AttributeRow(
                231, 'SSD_LifeLeft(0.01%)', 100, 100, 0, False, 'past', '9999'
            ),
        ),
    ],
    ids=['brief', 'past', 'columns-left-out', 'tight', 'line-end'],
)
def test_both_table_forms_of_smartctl_are_read(line, expected):
    """Whatever smartctl printed can be pasted."""
    assert sources.parse_row(line) == expected


@pytest.mark.parametrize(
    'line',
    [
        '',
        'ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE',
        '  0 Nothing 0x0032 100 100 000 Old_age Always - 0',
        '300 Nothing 0x0032 100 100 000 Old_age Always - 0',
        '5 Reallocated 100 100 0',
        '                            ||||||_ K auto-keep',
    ],
)
def test_what_is_no_row_is_none(line):
    """The lines around the table are no attributes."""
    assert sources.parse_row(line) is None


@pytest.mark.parametrize(
    ('text', 'sentence', 'count'),
    [
        ('[{]', 'acme.json is not valid JSON: line 1, column 3: ', 4),
        (
            '[{"family": "ACME X1", "family": "A"}]',
            'acme.json is not valid JSON: an object has the key "family" twice; keep one',
            4,
        ),
        ('{}', 'acme.json: samples an object is not a list', 4),
        (
            '[{"family": "ACME X1", "model": "ACME X1-240", "origin": "invented", "lines": [], '
            '"expect": {}}]',
            'acme.json: sample 1, ACME X1: origin "invented" is not valid; write "captured" or '
            '"composed"',
            4,
        ),
        (
            json.dumps(WRONG),
            'acme.json: sample 2, ACME X2-480: "Device Model:     X2" is not a row of an attribute '
            'table; paste one from smartctl -A or -x',
            8,
        ),
    ],
    ids=['json', 'twice', 'no-list', 'origin', 'no-row'],
)
def test_a_file_of_samples_that_cannot_be_used_says_why(
    tmp_path, text, sentence, count
):
    """The other files are validated all the same."""
    (tmp_path / 'acme.json').write_text(text)
    (tmp_path / 'other.json').write_text(json.dumps(small_samples()))

    drives, problems = sources.read_samples([], str(tmp_path))

    assert len(drives) == count
    assert [problem.startswith(sentence) for problem in problems] == [True]


def test_the_kind_comes_from_the_sample_else_from_its_family():
    """Rows do not say whether a drive turns."""
    given = {
        'family': 'H1',
        'model': 'H1',
        'origin': 'composed',
        'lines': [],
        'expect': {},
    }
    samples = [given, {**given, 'family': 'X1'}, {**given, 'kind': 'nvme'}]

    drives, _ = sources.drives_of('acme.json', samples, {'H1': 'hdd'})

    assert [drive.identity.kind for drive in drives] == ['hdd', 'ssd', 'nvme']


def test_measured_models_have_model_firmware_and_attribute_numbers(tmp_path):
    """One line a drive, so that a thousand of them are quick to read."""
    path = tmp_path / 'models.csv'
    path.write_text(
        'model,firmware,attributes,kind\n"ACME, X1",1.0,9 12 194,\nACME H1,2,5,hdd\n'
    )

    drives, problems = sources.measured(str(path))

    assert problems == []
    assert [
        (
            drive.identity.model,
            drive.identity.firmware,
            drive.attributes,
            drive.identity.kind,
        )
        for drive in drives
    ] == [
        ('ACME, X1', '1.0', [9, 12, 194], 'ssd'),
        ('ACME H1', '2', [5], 'hdd'),
    ]


@pytest.mark.parametrize(
    'text',
    [
        'model;firmware;attributes\nA;1;5\n',
        'model,firmware,attributes\nA,1,9-12\n',
        'model\nA\n',
    ],
)
def test_measured_models_in_another_shape_are_refused_with_the_line(tmp_path, text):
    """A semicolon from a spreadsheet."""
    path = tmp_path / 'models.csv'
    path.write_text(text)

    drives, [problem] = sources.measured(str(path))

    assert drives == [] and problem.startswith('models.csv: line 2 ')
