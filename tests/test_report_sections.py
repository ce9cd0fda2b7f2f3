"""The table of what a report always has, each part of each kind taken away from a report that is
whole.
"""

import json
import re
from typing import Any

import pytest
from conftest import ROOT, drive, run

from smart_attributes.reading import completeness, json_report, text_report

Json = dict[str, Any]
SAS = (
    ROOT / 'tests/reports/seagate-sas-healthy.txt'
).read_text() + '\nNo Self-tests have been logged\n\n'
COUNTERS: Json = {'total_uncorrected_errors': 0}
SAS_JSON: Json = {
    'smartctl': {
        'version': [7, 3],
        'argv': ['smartctl', '-a', '--json', '/dev/sda'],
        'exit_status': 0,
    },
    'device': {'protocol': 'SCSI'},
    'scsi_model_name': 'ACME S1',
    'scsi_revision': '1',
    'rotation_rate': 7200,
    'smart_support': {'available': True, 'enabled': True},
    'smart_status': {'passed': True},
    'temperature': {'current': 30},
    'scsi_grown_defect_list': 0,
    'scsi_error_counter_log': {'read': COUNTERS, 'write': COUNTERS},
}
DISK = """smartctl 7.3 2022-02-28 r5338 [x86_64-linux] (local build)

=== START OF INFORMATION SECTION ===
Device Model:     ACME HD4000
Firmware Version: 1.0
Rotation Rate:    7200 rpm
ATA Version is:   ACS-2
SMART support is: Available - device has SMART capability.
SMART support is: Enabled

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

Vendor Specific SMART Attributes with Thresholds:
ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
  1 Raw_Read_Error_Rate     PO--CK   100   100   010    -    0
  4 Start_Stop_Count        -O--CK   100   100   000    -    8
  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0
197 Current_Pending_Sector  -O--CK   100   100   000    -    0
198 Offline_Uncorrectable   -O--CK   100   100   000    -    0

"""


def lacking(said: Any) -> str:
    """Return what a report, JSON or text, is said to lack."""
    report = (
        json_report.from_json(said)
        if isinstance(said, dict)
        else text_report.parse_text(said)
    )
    codes = (
        ('values-missing',)
        if isinstance(said, dict)
        else ('values-missing', 'rows-unread')
    )
    return ', '.join(gap for gap in report.gaps if gap.code in codes)


def without(said: Json, *path: str) -> Json:
    """Return a document without one key."""
    changed: Json = json.loads(json.dumps(said))
    container = changed
    for key in path[:-1]:
        container = container[key]
    del container[path[-1]]
    return changed


@pytest.mark.parametrize(
    ('path', 'name'),
    [
        (['smart_status'], 'the SMART health status'),
        (['scsi_grown_defect_list'], 'the grown defect list'),
        (
            ['scsi_error_counter_log'],
            'row "read" of the error counter log, row "write" of the error counter log',
        ),
        (['scsi_error_counter_log', 'read'], 'row "read" of the error counter log'),
        (['scsi_error_counter_log', 'write'], 'row "write" of the error counter log'),
        (['temperature'], 'the temperature'),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    'argv',
    [
        ['-a'],
        ['-HA', '-l', 'error'],
    ],
    ids=str,
)
def test_a_part_of_a_sas_report_that_smartctl_was_asked_for_is_missed(
    path: list[str], name: str, argv: list[str]
):
    """With the call of a check as well as with -a."""
    said = json.loads(json.dumps(SAS_JSON))
    said['smartctl']['argv'][1:2] = argv

    assert lacking(said) == ''
    assert name in lacking(without(said, *path))


def test_a_part_that_smartctl_was_not_asked_for_is_not_missed():
    """A recording of the health alone is whole."""
    said = json.loads(json.dumps(SAS_JSON))
    said['smartctl']['argv'][1:2] = ['-H']

    assert lacking(without(said, 'scsi_error_counter_log')) == ''


@pytest.mark.parametrize(
    ('pattern', 'name'),
    [
        (r'^SMART Health Status:.*\n', 'the SMART health status'),
        (r'^write:.*\n', 'row "write" of the error counter log'),
        (r'^read:.*\n', 'row "read" of the error counter log'),
        (r'^Error counter log:(?s:.*?)\n *\n', 'row "read" of the error counter log'),
        (r'^Elements in grown defect list:.*\n', 'the grown defect list'),
        (r'^Current Drive Temperature:.*\n', 'the temperature'),
    ],
)
def test_a_part_of_a_sas_text_is_missed(pattern: str, name: str):
    """The text has no arguments: its other lines validate that smartctl was asked for
    everything.
    """
    assert re.search(pattern, SAS, re.MULTILINE) and lacking(SAS) == ''
    assert name in lacking(re.sub(pattern, '', SAS, flags=re.MULTILINE))


@pytest.mark.parametrize(
    ('key', 'name'),
    [
        ('smart_status', 'the SMART health status'),
        ('ata_smart_attributes', 'the attribute table'),
        ('ata_smart_error_log', 'the error log'),
        ('ata_smart_self_test_log', 'the self-test log'),
        ('ata_device_statistics', 'the device statistics'),
        ('smart_support', 'whether SMART is enabled'),
    ],
)
def test_a_part_of_a_sata_report_is_missed(key: str, name: str):
    """Of all that -x prints."""
    said = json.loads(drive('samsung-worn-out'))
    said['smartctl'].update(argv=['smartctl', '-x', '/dev/sda'], version=[7, 3])
    said.update(
        ata_smart_self_test_log={'extended': {'count': 0}},
        smart_support={'available': True, 'enabled': True},
    )

    assert lacking(said) == ''
    assert name in lacking(without(said, key))


@pytest.mark.parametrize(
    ('key', 'refusal'),
    [
        (
            'ata_smart_error_log',
            {'ata_smart_data': {'capabilities': {'error_logging_supported': False}}},
        ),
        (
            'ata_smart_self_test_log',
            {'ata_smart_data': {'capabilities': {'self_tests_supported': False}}},
        ),
        (
            'ata_device_statistics',
            {'ata_log_directory': {'table': [{'address': 0}, {'address': 3}]}},
        ),
    ],
)
def test_a_log_that_the_drive_does_not_keep_is_not_missed(key: str, refusal: Json):
    """13 % of 32,858 SATA drives keep no device statistics: a note for each would be read by
    nobody.
    """
    said = {**json.loads(drive('samsung-worn-out')), **refusal}
    said['smartctl']['argv'] = ['smartctl', '-x', '/dev/sda']
    said.setdefault('ata_smart_self_test_log', {'extended': {'count': 0}})

    assert lacking(without(said, key)) == lacking(said)


def test_the_health_log_of_an_nvme_drive_is_missed_as_one():
    """Its fourteen counters are one part; without it nothing else shows how the drive is."""
    said = json.loads(drive('nvme-worn'))

    assert lacking(without(said, 'nvme_smart_health_information_log')).endswith(
        'the SMART/Health Information log'
    )


@pytest.mark.parametrize('arguments', [('-v',), ()])
def test_a_text_without_its_attributes_is_not_ok_in_silence(
    tmp_path: Any, arguments: Any
):
    """sed '/^Vendor Specific SMART/,/^$/d' of a disk that has SMART enabled."""
    file = tmp_path / 'disk.txt'
    file.write_text(
        re.sub(r'^Vendor Specific SMART(?s:.*?)\n\n', '', DISK, flags=re.MULTILINE)
    )
    text = run('--report', str(file), *arguments).text

    assert 'passed' in text or 'no entry for' in text
    assert ('the attribute table' in text) is bool(arguments)
    assert lacking(DISK) == ''


def test_a_report_without_health_status_never_says_passed(tmp_path: Any):
    """It is judged by its attributes, and says so without -v."""
    file = tmp_path / 'disk.txt'
    file.write_text(re.sub(r'^SMART overall-health.*\n', '', DISK, flags=re.MULTILINE))
    result = run('--report', str(file))

    assert result.code == 0
    assert 'not reported' in result.text and 'passed' not in result.text


@pytest.mark.parametrize(
    'command, arguments',
    [
        (['--log', 'error'], {'--log', 'error'}),
        (['-iHl', 'xerror,7,error'], {'-i', '-H', '-l', 'xerror', '7', 'error'}),
        (['-n', 'standby', '-TA'], {'-n', 'standby', '-T', 'A'}),
        (['-jA', '--attributes=brief', '--health'], {'-j', '-A', 'brief', '-H'}),
        (['--xall', '--json=c'], {'-x', '--json', 'c'}),
        (['-lerror,7'], {'-l', 'error', '7'}),
        (['-iHA'], {'-i', '-H', '-A'}),
        (['-HlX', '/dev/sda'], {'-H', '-l', 'X', '/dev/sda'}),
        (['-dsat', '-'], {'-d', 'sat'}),
        ([], set()),
    ],
)
def test_a_command_line_is_taken_apart(command, arguments):
    assert completeness.arguments_of(command) == arguments
