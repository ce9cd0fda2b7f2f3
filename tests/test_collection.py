"""A collection: lines of facts become the reports that smartctl would have given."""

import gzip
import json

import pytest
from measure import collected_logs, collection, data_rows

from smart_attributes.errors import DataError
from smart_attributes.model import (
    AttributeRow,
    ErrorEntry,
    Identity,
    Report,
    SelfTest,
    Statistic,
)

pytestmark = pytest.mark.tools

DISK = {
    'path': 'HDD/ACME/1',
    'model': 'ACME D1',
    'firmware': '1.0',
    'revision': '2.0',
    'family': 'Acme D',
    'rotation': '7,200 rpm',
    'health': 'FAILED!',
    'errors': 3,
    'attributes': [
        [4, 'Start_Stop_Count', 'PO--CK', '090', '080', '021', '-', '4000'],
        [10, 'Spin_Retry_Count', '-O--CK', 100, 99, '---', 'Past', '16'],
    ],
    'devstat': {
        '0x1:0x010': ['1234', 'N--', 'Power-on Hours'],
        '5:8': ['-31', '-D-', 'Current Temperature'],
        '5:16': ['-', '---', 'Average Temperature'],
        '1:24': ['7 x', '---', 'Sectors'],
    },
}
NVME = {
    'model': 'ACME N1',
    'firmware': '3',
    'health': 'PASSED',
    'nvme': {
        'Critical  Warning': '0x01',
        'Percentage Used': '3%',
        'Data Units Written': '2,020,626 [1.03 TB]',
        'Temperature': '-',
        'Namespaces': '1',
    },
}
SCSI = {
    'vendor': 'ACME',
    'product': 'S1',
    'revision': '4',
    'rotation': 'Solid State Device',
    'health': 'OK',
    'scsi': {'Current Drive Temperature': '30 C', 'Drive Trip Temperature': '65 C'},
    'scsi_percent_used': 2,
}
REPORTS = {
    'disk': (
        DISK,
        Report(
            Identity(
                protocol='ATA',
                model='ACME D1',
                firmware='1.0',
                rotation=7200,
                family='Acme D',
                spins=True,
            ),
            False,
            attributes=(
                AttributeRow(4, 'Start_Stop_Count', 90, 80, 21, True, '', '4000'),
                AttributeRow(
                    10, 'Spin_Retry_Count', 100, 99, None, False, 'past', '16'
                ),
            ),
            statistics={
                (1, 16): Statistic(1234, 'Power-on Hours', 'N'),
                (5, 8): Statistic(-31, 'Current Temperature', 'D'),
            },
            error_count=3,
        ),
    ),
    'nvme': (
        NVME,
        Report(
            Identity(protocol='NVMe', model='ACME N1', firmware='3'),
            True,
            nvme={
                'critical_warning': 1,
                'percentage_used': 3,
                'data_units_written': 2020626,
            },
        ),
    ),
    'scsi': (
        SCSI,
        Report(
            Identity(protocol='SCSI', model='ACME S1', firmware='4', rotation=0),
            True,
            scsi={'temperature': 30, 'drive_trip': 65, 'percentage_used': 2},
        ),
    ),
    'nothing': ({}, Report(Identity(protocol='ATA'))),
}


@pytest.mark.parametrize('facts, report', REPORTS.values(), ids=REPORTS)
def test_facts_become_a_report(facts, report):
    assert collection.report_of(facts) == report


def test_logs_become_those_of_the_report():
    """Errors are numbered down from the count that the drive reports; a kind that was not
    printed is not reported.
    """
    logs = {
        'errors_logged': [[20, 'ICRC, ABRT'], [10, None]],
        'self_tests': [
            ['Short offline', 'Completed: read failure', 5],
            ['Offline', 'Aborted by host', None],
        ],
    }

    report = collected_logs.with_logs(collection.report_of({'errors': '7'}), logs)

    assert report.errors == (ErrorEntry(7, ('ICRC', 'ABRT'), 20), ErrorEntry(6, (), 10))
    assert report.self_tests == (
        SelfTest('Short offline', 'Completed: read failure', False, 5),
        SelfTest('Offline', 'Aborted by host', None, None),
    )


@pytest.mark.parametrize(
    'errors, tests',
    [
        ([['5', 'UNC']], []),
        ([[5, 7]], []),
        ([], [[1, 'x', 5]]),
        ([], [['Short offline', 'x', '5']]),
    ],
)
def test_logs_of_another_shape_are_refused(errors, tests):
    with pytest.raises(data_rows.NOT_A_DRIVE):
        collected_logs.with_logs(
            Report(Identity()), {'errors_logged': errors, 'self_tests': tests}
        )


@pytest.mark.parametrize('digits, is_a_number', [(30, True), (31, False)])
def test_a_number_that_no_drive_counts_to_is_refused(digits, is_a_number):
    facts = {'nvme': {'Percentage Used': '1' * digits}}
    if is_a_number:
        assert collection.report_of(facts).nvme == {'percentage_used': int('1' * 30)}
    else:
        with pytest.raises(ValueError, match=r'^too long$'):
            collection.report_of(facts)


@pytest.mark.parametrize(
    'text, number',
    [
        ('3%', 3),
        ('0x1F', 31),
        ('2,020,626 [1.03 TB]', 2020626),
        ('1.234', 1234),
        ('7 200 rpm', 7200),
        ('', None),
    ],
)
def test_a_count_is_the_number_that_a_text_starts_with(text, number):
    assert collection.report_of({'errors': text}).error_count == number


@pytest.mark.parametrize('ending', ['', '.gz'])
def test_drives_are_read_from_a_plain_or_a_packed_file_under_their_path_or_number(
    tmp_path, ending
):
    """The model in UTF-8, whatever the locale; sector sizes from the counts of all drives of a
    model.
    """
    lines = [
        {**DISK, 'model': 'ACME é'},
        {'model': 'X'},
        {
            'model': 'X',
            'attributes': [
                [number, 'Sectors', '-O--CK', 100, 100, 0, '-', raw]
                for number, raw in ((9, '8'), (197, '3 (8)'))
            ],
        },
        {
            **DISK,
            'model': 'ACME é',
            'attributes': [[197, 'Sectors', '-O--CK', 100, 100, 0, '-', '8']],
        },
    ]
    text = ''.join(
        json.dumps(line, ensure_ascii=False) + '\n' for line in lines
    ).encode()
    file = tmp_path / f'drives.jsonl{ending}'
    file.write_bytes(gzip.compress(text) if ending else text)

    drives = list(collection.read(str(file)))

    assert [
        (
            drive.name,
            drive.report.identity.model,
            drive.report.identity.physical_block_size,
        )
        for drive in drives
    ] == [
        ('HDD/ACME/1', 'ACME é', 4096),
        ('2', 'X', 512),
        ('3', 'X', 512),
        ('HDD/ACME/1', 'ACME é', 4096),
    ]


@pytest.mark.parametrize(
    'name, content, message',
    [
        (
            'x.jsonl',
            b'{}\n[1]\n',
            ', line 2: AttributeError: each line is an object with model, attributes, devstat',
        ),
        (
            'x.jsonl',
            b'{"model": 1}\n',
            ', line 1: TypeError: each line is an object with model, attributes, devstat',
        ),
        (
            'x.jsonl',
            b'\xff',
            ': this is neither text nor a complete gzip file; each line is an object with model, attributes, devstat',
        ),
        (
            'x.jsonl.gz',
            gzip.compress(b'{}\n' * 99, mtime=0)[:-20],
            ': this is neither text nor a complete gzip file; each line is an object with model, attributes, devstat',
        ),
        (
            'x.jsonl',
            None,
            ': No such file or directory; each line is an object with model, attributes, devstat',
        ),
    ],
)
def test_a_file_that_is_not_a_collection_is_named_with_the_reason(
    tmp_path, name, content, message
):
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(DataError) as raised:
        list(collection.read(str(file)))

    assert str(raised.value) == f'{file}{message}'
