"""What is missing in a report, or damaged, is told beside the verdict: a drive may only look
better for it.
"""

import json
from typing import Any

import pytest
from conftest import drive, drive_path, run

from smart_attributes.model import Identity, Report
from smart_attributes.reading import completeness, json_report, text_report

Json = dict[str, Any]
TEXT = """=== START OF INFORMATION SECTION ===
Device Model:     ACME HD4000
Firmware Version: 1.0
Rotation Rate:    7200 rpm
ATA Version is:   ACS-2

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

Vendor Specific SMART Attributes with Thresholds:
ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0
197 Current_Pending_Sector  -O--CK   100   100   000    -    8
                            ||||||_ K auto-keep

ATA Error Count: 2
Error 2 occurred at disk power-on lifetime: 17401 hours (725 days + 1 hours)
  40 51 08 bf 0b 34 e0  Error: UNC 8 sectors at LBA = 0x00340bbf = 3410879

Error 1 occurred at disk power-on lifetime: 17400 hours (725 days + 0 hours)
  40 51 08 bf 0b 34 e0  Error: UNC 8 sectors at LBA = 0x00340bbf = 3410879

Num  Test_Description    Status                  Remaining  LifeTime(hours)  LBA_of_first_error
# 1  Extended offline    Completed: read failure       80%       685         5405327816
# 2  Short offline       Completed without error       00%       668         -

"""


def report(name: str) -> Json:
    said: Json = json.loads(drive(name))
    return said


def row(said: Json, number: int) -> Json:
    found: Json = said['ata_smart_attributes']['table'][number]
    return found


def without(container: Json, *keys: str) -> None:
    for key in keys:
        del container[key]


@pytest.mark.parametrize(
    'damage, told',
    [
        (lambda said: row(said, 2).update(value='x'), '.table.2.value'),
        (lambda said: row(said, 2)['raw'].update(value=10**30), '.table.2.raw.value'),
        (lambda said: without(row(said, 2), 'thresh'), '.table.2.thresh'),
        (
            lambda said: said.update(smart_support={'available': True, 'enabled': 0}),
            'smart_support.enabled',
        ),
        (lambda said: without(said, 'model_name'), 'the model'),
        (lambda said: without(said, 'ata_device_statistics'), 'the device statistics'),
    ],
)
def test_what_json_lacks_or_holds_damaged_is_told(damage, told):
    """Where, in smartctl's own names."""
    said = report('samsung-worn-out')
    said['smartctl']['argv'] = ['smartctl', '-x', '/dev/sda']
    damage(said)

    assert any(told in gap for gap in json_report.from_json(said).gaps)


def test_an_attribute_without_a_threshold_is_not_damaged():
    """smartctl omits both columns for it; that was told as damage of each SanDisk SSD."""
    said = report('samsung-worn-out')
    without(row(said, 2), 'thresh', 'when_failed')

    assert [gap for gap in json_report.from_json(said).gaps if '.table.2' in gap] == []


def test_a_counter_that_an_nvme_drive_does_not_tell_is_missing():
    """smartctl prints all of the health log, or none of it."""
    said = report('nvme-worn')
    del said['nvme_smart_health_information_log']['percentage_used']

    assert 'percentage_used' in ' '.join(json_report.from_json(said).gaps)


@pytest.mark.parametrize(
    'before, after, told',
    [
        ('100   100   010    -    0', '100   x   010    -    0', ' 100 x 010 - 0"'),
        ('ID# ATTRIBUTE', '[] ATTRIBUTE', ''),
        ('7200 rpm', 'x rpm', ': x rpm"'),
        ('ATA Error Count: 2', 'ATA Error Count: x', ' Error Count: x"'),
        ('Error 1 occurred', 'x', ''),
        ('40 51 08 bf 0b 34 e0', 'x', 'the registers of an error'),
        ('685   ', '9' * 30, '"# 1 Extended offline'),
        ('# 1  Extended', 'x', 'the self-test log'),
        ('668         -\n\n', '6', ': its end'),
        ('Device Model:', 'x', ': the model'),
    ],
)
def test_what_a_text_lacks_or_holds_damaged_is_told(before, after, told):
    """In its own words.

    What tells nothing is no gap: a headline, an error that is older than the others.
    """
    assert before in TEXT
    found = text_report.parse_text(TEXT.replace(before, after, 1)).gaps

    assert (
        any(told in gap for gap in found)
        if told
        else not any('rotation' in gap for gap in found)
    )


def test_a_number_of_a_test_that_no_drive_can_have_is_not_cut_to_fit():
    """The first digits of a damaged number are a number that the report does not hold."""
    changed = TEXT.replace('ATA Error Count: 2', 'ATA Error Count: ' + '9' * 30)

    assert text_report.parse_text(changed).error_count is None


def test_a_whole_report_has_no_gaps():
    """Else nobody would read the note."""
    assert text_report.parse_text(TEXT).gaps == ()
    assert json_report.parse(drive('nvme-worn')).gaps == ()


LAST_LOGS = {
    'General SMART Values:\n': 'SMART Selective self-test log data structure revision number 1\n',
    'General SMART Values:\nGeneral Purpose Log Directory Version 1\n': (
        'SATA Phy Event Counters (GP Log 0x11)\n'
    ),
}


@pytest.mark.parametrize('section, last', LAST_LOGS.items())
def test_a_report_of_everything_that_lacks_its_last_log_was_cut_off(section, last):
    """However it ends."""
    text = TEXT.replace('Vendor Specific', section + 'Vendor Specific')

    assert 'its end' in ' '.join(text_report.parse_text(text).gaps)
    assert 'its end' not in ' '.join(text_report.parse_text(text + last).gaps)


def test_gaps_are_told_with_v(tmp_path):
    """As a note of the drive."""
    said = report('samsung-worn-out')
    said['ata_device_statistics']['pages'] = 'x'
    file = tmp_path / 'said.json'
    file.write_text(json.dumps(said))

    assert ' ata_device_statistics.pages' in run('--report', str(file), '-v').text
    assert (
        ' damaged in ' not in run('--report', drive_path('samsung-worn-out'), '-v').text
    )


def test_a_line_without_end_takes_no_time():
    """Lines that are longer than any of smartctl's are not looked at."""
    text = TEXT.replace(
        'Vendor Specific', '# 1 ' + 'Error Log ' * 200_000 + '\nVendor Specific', 1
    )

    assert [gap.code for gap in text_report.parse_text(text).gaps] == ['rows-unread']


WHOLE: Json = {'device': {'protocol': 'ATA'}, 'smartctl': {'argv': []}}
WELL = Report(Identity('', 'ACME', '1'), smart_status=True)


def page(number: Any, **more: Any) -> Json:
    return {'ata_device_statistics': {'pages': [{'number': number, **more}]}}


def gaps(more: Json, *arguments: str, version: Any = ()) -> Any:
    """Return what a document lacks that holds *more* than the least one."""
    return completeness.of_json(
        {**WHOLE, **more}, WELL._replace(version=version), frozenset(arguments)
    )


@pytest.mark.parametrize(
    'more, places',
    [
        ({}, ''),
        ({'device': {}}, 'device.protocol'),
        ({'device': 7, 'smartctl': {}}, 'device, smartctl.argv'),
        ({'smartctl': {'argv': ['smartctl', 0]}}, 'smartctl.argv'),
        ({'smartctl': {'argv': '-x'}}, 'smartctl.argv'),
        ({'model_name': 7}, 'model_name'),
        ({'rotation_rate': True}, 'rotation_rate'),
        ({'rotation_rate': '1'}, 'rotation_rate'),
        ({'smart_status': {}}, 'smart_status.passed'),
        ({'smart_status': [True]}, 'smart_status'),
        ({'ata_smart_attributes': {'table': {}}}, 'ata_smart_attributes.table'),
        (
            {'ata_log_directory': {'table': [7, {'address': 256}]}},
            'ata_log_directory.table.0, ata_log_directory.table.1.address',
        ),
        (
            {'endurance_used': {'current_percent': None}},
            'endurance_used.current_percent',
        ),
        (
            {
                'nvme_self_test_log': {
                    'table': [{'self_test_code': {}, 'power_on_hours': 1}]
                }
            },
            'nvme_self_test_log.table.0.self_test_result, '
            'nvme_self_test_log.table.0.self_test_code.string',
        ),
        (
            page(2, table=[{'offset': 8, 'flags': {}}, 7]),
            'ata_device_statistics.pages.0.table.1',
        ),
        (
            page(4, table=[{'offset': -(2**63), 'flags': {}}]),
            'ata_device_statistics.pages.0.table.0.offset',
        ),
        ({'scsi_self_test_0': {'code': {'string': 'x'}}}, 'scsi_self_test_0.result'),
        ({'new_in_smartctl_9': [None]}, ''),
    ],
)
def test_a_value_that_smartctl_would_not_print_is_damaged(more, places):
    assert [gap.partition(': ')[2] for gap in gaps(more)] == (
        [places] if places else []
    )


def test_a_column_that_one_row_of_the_attributes_has_belongs_to_all():
    rows = [
        {
            'id': number,
            'name': 'x',
            'raw': {'string': '0'},
            'flags': {'prefailure': True},
        }
        for number in (1, 2)
    ]
    rows[1].update(worst=9, value=9)
    whole = {
        'ata_device_statistics': {
            'pages': [
                {'number': 7, 'value': 3, 'table': []},
                {'number': 7, 'table': []},
            ]
        }
    }

    [gap] = gaps({'ata_smart_attributes': {'table': [*rows, None]}})
    assert [place.rpartition('table.')[2] for place in gap.split(', ')] == [
        '0.value',
        '0.worst',
        '2',
    ]
    assert gaps(whole) == ()


@pytest.mark.parametrize(
    'version, arguments, more, is_lost',
    [
        ((7, 3), ['-x'], {}, True),
        ((7, 2), ['-x'], {}, False),
        ((8, 0), ['-i'], {}, True),
        ((7, 3), ['-H', '-A'], {}, False),
        (
            (7, 3),
            ['-x'],
            {'smart_support': {'available': True, 'enabled': True}},
            False,
        ),
    ],
)
def test_that_smart_is_enabled_is_missed_since_smartctl_prints_it(
    version, arguments, more, is_lost
):
    found = gaps(more, *arguments, version=version)
    assert any('SMART is enabled' in gap for gap in found) is is_lost


@pytest.mark.parametrize(
    'places, sentence',
    [
        ([], []),
        (['a', 'b'], ['damaged in the report: a, b']),
        (list('abcde'), ['damaged in the report: a, b, c, d, e']),
        (list('abcdefg'), ['damaged in the report: a, b, c, d, e and 2 more']),
    ],
)
def test_the_first_five_places_are_named(places, sentence):
    assert list(completeness.sentences(unread=[], damaged=places, lost=[])) == sentence
    assert list(completeness.sentences(unread=[], damaged=[], lost=places)) == [
        words.replace('damaged', 'not') for words in sentence
    ]


@pytest.mark.parametrize(
    'more, marks',
    [
        ({}, set()),
        (
            {'ata_smart_data': {'capabilities': {'error_logging_supported': True}}},
            {'ata_smart_data'},
        ),
        (
            {'ata_smart_data': {'capabilities': {'error_logging_supported': False}}},
            {'ata_smart_data', 'no ATA error log'},
        ),
        (
            {'ata_smart_data': {'capabilities': {'self_tests_supported': False}}},
            {'ata_smart_data', 'no ATA self-test log'},
        ),
        (
            {'ata_log_directory': {'table': [{'address': 3}]}},
            {'ata_log_directory', 'no device statistics'},
        ),
        ({'ata_log_directory': {'table': [{'address': 4}]}}, {'ata_log_directory'}),
        ({'ata_log_directory': {'table': []}}, {'ata_log_directory'}),
        (
            {'seagate_farm_log': {'supported': False}},
            {'seagate_farm_log', 'no FARM log'},
        ),
        ({'seagate_farm_log': {'supported': True}}, {'seagate_farm_log'}),
    ],
)
def test_a_log_that_the_drive_does_not_keep_has_a_mark(more, marks):
    assert completeness._present(more) == marks
