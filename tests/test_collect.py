"""tools.measure.collect: from a clone of the public data set to the file that tools.measure reads."""

import gzip
import json
import os
import subprocess

import pytest
from conftest import ROOT, run_tool
from measure import collect, collection

pytestmark = pytest.mark.tools

BANNER = 'smartctl 7.1 2020-06-20 r5066 [x86_64-linux-3.10.0] (local build)\n\n'
ATA = (
    'HDD/Acme/A1/A1000/0123456789AB',
    BANNER
    + """=== START OF INFORMATION SECTION ===
Model Family:     Acme Disks
Device Model:     ACME A1000
Serial Number:    --
Firmware Version: 1.0
User Capacity:    1,000,204,886,016 bytes [1.00 TB]
Rotation Rate:    7200 rpm
Device is:        In smartctl database [for details use: -P show]
SATA Version is:  SATA 3.0, 6.0 Gb/s (current: 3.0 Gb/s)

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: FAILED!

ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
  5 Reallocated_Sector_Ct   PO--CK   001   001   005    NOW  1303
 12 Power_Cycle_Count       -O--CK+  100   100   ---    -    75
194 Temperature_Celsius     -O---K   206   206   000    -    29 (Min/Max 19/46)

Device Statistics (GP Log 0x04)
Page  Offset Size        Value Flags Description
0x01  =====  =               =  ===  == General Statistics (rev 1) ==
0x01  0x010  4           89379  ---  Power-on Hours
0x01  0x038  6               -  ---  Date and Time TimeStamp
  2  0x008  4             17  A statistic as smartctl 6.3 prints it
0x07  0x008  1               3  N--  Percentage Used Endurance Indicator

SMART Extended Comprehensive Error Log Version: 1 (1 sectors)
Device Error Count: 12038 (device log contains only the most recent 4 errors)
""",
    {
        'path': 'HDD/Acme/A1/A1000/0123456789AB',
        'smartctl': '7.1',
        'family': 'Acme Disks',
        'model': 'ACME A1000',
        'firmware': '1.0',
        'capacity': '1,000,204,886,016 bytes [1.00 TB]',
        'rotation': '7200 rpm',
        'in_db': 'In smartctl database [for details use: -P show]',
        'sata': 'SATA 3.0, 6.0 Gb/s (current: 3.0 Gb/s)',
        'health': 'FAILED!',
        'errors': '12038',
        'attributes': [
            [5, 'Reallocated_Sector_Ct', 'PO--CK', 1, 1, 5, 'NOW', '1303'],
            [12, 'Power_Cycle_Count', '-O--CK', 100, 100, None, '-', '75'],
            [
                194,
                'Temperature_Celsius',
                '-O---K',
                206,
                206,
                0,
                '-',
                '29 (Min/Max 19/46)',
            ],
        ],
        'devstat': {
            '1:0x010': ['89379', '---', 'Power-on Hours'],
            '2:0x008': ['17', '---', 'A statistic as smartctl 6.3 prints it'],
            '7:0x008': ['3', 'N--', 'Percentage Used Endurance Indicator'],
        },
    },
)
NVME = (
    'NVMe/Acme/N1/N1 1TB/0123456789AC',
    BANNER
    + """=== START OF INFORMATION SECTION ===
Model Number:                       ACME N1
Firmware Version:                   2.0
Total NVM Capacity:                 1,000,204,886,016 [1.00 TB]

=== START OF SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

SMART/Health Information (NVMe Log 0x02)
Critical Warning:                   0x00
Data Units Read:                    758,416,655 [388 TB]
Warning  Comp. Temperature Time:    0
Temperature Sensor 1:               40 Celsius

Error Information (NVMe Log 0x01, 16 of 64 entries)
No Errors Logged
""",
    {
        'path': 'NVMe/Acme/N1/N1 1TB/0123456789AC',
        'smartctl': '7.1',
        'model': 'ACME N1',
        'firmware': '2.0',
        'health': 'PASSED',
        'errors': '0',
        'nvme': {
            'Critical Warning': '0x00',
            'Data Units Read': '758,416,655 [388 TB]',
            'Warning  Comp. Temperature Time': '0',
            'Temperature Sensor 1': '40 Celsius',
        },
    },
)
SCSI = (
    'SSD/Acme/S1/S1/0123456789AD',
    BANNER
    + """=== START OF INFORMATION SECTION ===
Vendor:               ACME
Product:              S1
Revision:             .1.0
User Capacity:        960,197,124,096 bytes [960 GB]
Rotation Rate:        Solid State Device
Transport protocol:   SAS (SPL-3)

SMART Health Status: OK

Percentage used endurance indicator: 4%
Current Drive Temperature:     39 C
Drive Trip Temperature:        72 C
""",
    {
        'path': 'SSD/Acme/S1/S1/0123456789AD',
        'smartctl': '7.1',
        'vendor': 'ACME',
        'product': 'S1',
        'revision': '.1.0',
        'transport': 'SAS (SPL-3)',
        'capacity': '960,197,124,096 bytes [960 GB]',
        'rotation': 'Solid State Device',
        'health': 'OK',
        'scsi_percent_used': '4%',
        'scsi': {'Current Drive Temperature': '39 C', 'Drive Trip Temperature': '72 C'},
    },
)


def clone_of(folder, *reports):
    """Write a clone; a report is its path, its text, and anything more."""
    for path, text, *_ in reports:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def lines_of(file):
    return [
        json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()
    ]


@pytest.mark.parametrize(
    'path, text, row', [ATA, NVME, SCSI], ids=['ata', 'nvme', 'scsi']
)
def test_a_report_becomes_a_row_with_the_values_as_printed(path, text, row):
    """Flags, columns, labels and units, too; the order of the keys is that of the lines."""
    assert list(collect.row_of(path, text).items()) == list(row.items())


def test_a_clone_becomes_the_file_that_the_measurements_read(tmp_path):
    """Sorted by path, and the same bytes again."""
    clone = clone_of(
        tmp_path / 'clone', SCSI, NVME, ATA, ('HDD/Acme/README.md', '# Acme')
    )
    files = [tmp_path / name for name in ('drives.jsonl.gz', 'again.jsonl.gz')]

    for file in files:
        done = run_tool('tools.measure.collect', str(clone), str(file), '--all')
        assert (done.code, done.text) == (0, f'{file}: 3 drives; files left out: 0\n')

    assert lines_of(files[0]) == [ATA[2], NVME[2], SCSI[2]]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes()[4:8] == bytes(4)  # the time of writing
    assert [drive.report.smart_status for drive in collection.read(str(files[0]))] == [
        False,
        True,
        True,
    ]


def test_a_file_that_is_not_the_report_of_a_drive_is_named_and_counted(
    tmp_path, capsys
):
    """The others are written all the same."""
    names = ('notes', 'cut', 'long', 'folder', 'loop')
    notes, cut, long, folder, loop = (f'HDD/Acme/A1/A1000/{name}' for name in names)
    texts = ((notes, 'nothing\n'), (cut, BANNER), (long, BANNER + 'line\n' * 5000))
    clone = clone_of(tmp_path / 'clone', ATA, *texts)
    (clone / folder).mkdir()
    (clone / loop).symlink_to('loop')
    target = tmp_path / 'drives.jsonl.gz'

    assert collect.main([str(clone), str(target), '--all']) == 0

    told = capsys.readouterr()
    assert lines_of(target) == [ATA[2]]
    assert told.out == f'{target}: 1 drive; files left out: 5\n'
    assert [line.split(' ')[0] for line in told.err.splitlines()] == sorted(
        (notes, cut, long, folder, loop)
    )


@pytest.mark.parametrize(
    'reports', [(), ((ATA[0], 'nothing\n'),)], ids=['none', 'all-bad']
)
def test_a_clone_without_drives_leaves_the_file_as_it_is(tmp_path, capsys, reports):
    """A wrong directory must not cost the collection of yesterday."""
    clone = clone_of(tmp_path / 'clone', *reports)
    target = tmp_path / 'drives.jsonl.gz'
    target.write_text('yesterday')

    assert collect.main([str(clone), str(target), '--all']) == 1

    assert collect.DATA_SET in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == [target.name]
    assert target.read_text() == 'yesterday'


def test_without_all_the_collection_has_the_drives_of_the_figures(tmp_path):
    """Three fifths, chosen by a hash of the path."""
    other = 'HDD/Acme/A1/A1000/0123456789AE'
    clone = clone_of(tmp_path, ATA, (other, ATA[1]))

    assert collect.paths(clone, is_whole=True) == [ATA[0], other]
    assert len(collect.paths(clone, is_whole=False)) == 1


@pytest.mark.parametrize(
    'target, missing, words',
    [
        ('measure', 'DRIVES', ('make collection CLONE=', collect.DATA_SET)),
        ('verdicts', 'DRIVES', ('make collection CLONE=', collect.DATA_SET)),
        ('verdicts', 'WATCHED', ('maintainers', '--verdicts')),
    ],
)
def test_make_says_how_to_get_a_missing_file(tmp_path, target, missing, words):
    """Before it builds anything."""
    there = tmp_path / 'there'
    there.touch()
    files = {'DRIVES': there, 'WATCHED': there, missing: tmp_path / 'missing'}
    done = subprocess.run(
        ['make', target, *(f'{name}={file}' for name, file in files.items())],
        cwd=ROOT,
        env={
            name: value
            for name, value in os.environ.items()
            if not name.startswith('M')
        },
        capture_output=True,
        text=True,
        timeout=60,
    )

    first, last = done.stderr.splitlines()
    assert (done.stdout, done.returncode) == ('', 2)
    assert first.startswith(f'{tmp_path}/missing not found; ')
    assert all(word in first for word in words)
    assert last.endswith('Error 1')  # the exit status of the command
