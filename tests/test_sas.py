"""SAS disks: each page that smartctl prints of them is judged as SPC and SBC say, or named as
not judged.
"""

import json
import random
import re

import pytest
from conftest import ROOT, run
from foreign import DEVICE
from sas import HOURS, document, health, scan, with_errors
from shipped import ATTRIBUTES, DATABASE, LIMITS

from smart_attributes.check import drive_notes, judging
from smart_attributes.constants import MOST_RESULTS
from smart_attributes.knowledge import drive_logs
from smart_attributes.model import Device, Judgement, Reading, Source, State
from smart_attributes.reading import background_scan, json_report, text_report
from smart_attributes.reading.background_scan import Result

CODES = json.loads((ROOT / 'smart_attributes/scsi_codes.json').read_text())
TEXT = json.loads((ROOT / 'smart_attributes/reading/text_labels.json').read_text())
REASSIGN_STATUSES = list(TEXT['reassign_statuses'])
NOW = HOURS * 60


def judge(**pages):
    """Return the verdict on a SAS disk with these pages."""
    report = json_report.parse(json.dumps(document(**pages)))
    return judging.judge(DEVICE, report, DATABASE, LIMITS, judging.Rules())


def found(verdict):
    """Return state and metric of each finding."""
    return {
        judgement.reading.metric: judgement.state.name
        for judgement in verdict.judgements
        if judgement.state.name != 'OK'
    }


# The cases: what a disk reports, and each finding that the standards justify.
# Sense codes in place of OK, and what is found. SPC-5, annex F.
SENSE = {
    'specified temperature exceeded': (0x0B, 1, {'temperature_warning': 'WARNING'}),
    'low critical temperature limit exceeded': (
        0x0B,
        0xB,
        {'temperature_warning': 'WARNING'},
    ),
    'enclosure degraded': (0x0B, 2, {'smart_status': 'WARNING'}),
    'background self-test failed': (0x0B, 3, {'self_test': 'CRITICAL'}),
    'background scan found a medium error': (0x0B, 5, {'background_scan': 'WARNING'}),
    'non-volatile cache now volatile': (0x0B, 6, {'power_loss_protection': 'CRITICAL'}),
    'power loss expected': (0x0B, 8, {'power_loss_protection': 'CRITICAL'}),
    'statistics notification': (0x0B, 9, {'smart_status': 'WARNING'}),
    'unknown warning': (0x0B, 0x7E, {'smart_status': 'UNKNOWN'}),
    'spare area exhausted': (0x5D, 3, {'spare_warning': 'CRITICAL'}),
    'too many block reassigns': (0x5D, 0x14, {'smart_status': 'CRITICAL'}),
    'capacitor circuit': (0x5D, 0x1D, {'power_loss_protection': 'CRITICAL'}),
    'endurance limit met': (0x5D, 0x73, {'smart_status': 'WARNING'}),
    'unknown predicted failure': (0x5D, 0x99, {'smart_status': 'CRITICAL'}),
    'unknown code': (0x77, 1, {'smart_status': 'CRITICAL'}),
    'test of the alarm': (0x5D, 0xFF, {}),
}
CASES = {
    'healthy': ({}, {}),
    **{
        name: ({'smart_status': health(asc, ascq)}, expected)
        for name, (asc, ascq, expected) in SENSE.items()
    },
    # The background scan. SBC-5, tables 182 and 184.
    'not reassigned yet': (
        {'scsi_background_scan': scan((1, 7, 900))},
        {'pending': 'WARNING'},
    ),
    'reassignment by the disk failed': (
        {'scsi_background_scan': scan((4, 7, 900))},
        {'pending': 'WARNING'},
    ),
    'nine blocks wait': (
        {'scsi_background_scan': scan(*((1, block, 900) for block in range(9)))},
        {'pending': 'CRITICAL'},
    ),
    'all reassigned or rewritten': (
        {
            'scsi_background_scan': scan(
                (2, 1, 900), (5, 2, 900), (6, 3, 900), (7, 4, 900)
            )
        },
        {},
    ),
    'one block, found at forty scans': (
        {'scsi_background_scan': scan(*((1, 0, 100 + at) for at in range(40)))},
        {'pending': 'WARNING'},
    ),
    'reassigned later': ({'scsi_background_scan': scan((2, 7, 901), (1, 7, 900))}, {}),
    'bad again after its reassignment': (
        {'scsi_background_scan': scan((1, 7, 901), (2, 7, 900))},
        {'pending': 'WARNING'},
    ),
    'a reserved reassign status': (
        {'scsi_background_scan': scan((3, 7, 900))},
        {'background_scan': 'UNKNOWN'},
    ),
    'halted due to fatal error': (
        {'scsi_background_scan': scan(status=3)},
        {'background_scan': 'WARNING'},
    ),
    'halted due to a pattern of errors': (
        {'scsi_background_scan': scan(status=4)},
        {'background_scan': 'WARNING'},
    ),
    'list of results full': (
        {'scsi_background_scan': scan(status=9)},
        {'background_scan': 'WARNING'},
    ),
    'halted while hot': ({'scsi_background_scan': scan(status=7)}, {}),
    'a reserved scan status': (
        {'scsi_background_scan': scan(status=0x2A)},
        {'background_scan': 'UNKNOWN'},
    ),
    # Other pages.
    'few grown defects': ({'scsi_grown_defect_list': 25}, {}),
    'grown defects': ({'scsi_grown_defect_list': 45}, {'reallocated': 'WARNING'}),
    'very many grown defects': (
        {'scsi_grown_defect_list': 1200},
        {'reallocated': 'CRITICAL'},
    ),
    'pending defects page': (
        {'scsi_pending_defects': {'count': 2}},
        {'pending': 'WARNING'},
    ),
    'uncorrected errors': (
        {'scsi_error_counter_log': with_errors({'total_uncorrected_errors': 2}, {})},
        {'reported_uncorrect': 'WARNING'},
    ),
    'corrected errors': (
        {
            'scsi_error_counter_log': with_errors(
                {'errors_corrected_by_eccfast': 10**9}, {}
            )
        },
        {},
    ),
    'hot': (
        {'temperature': {'current': 66, 'drive_trip': 60}},
        {'temperature': 'CRITICAL'},
    ),
}


@pytest.mark.parametrize('case', CASES)
def test_each_case_is_judged_as_the_standards_say(case):
    pages, expected = CASES[case]

    assert found(judge(**pages)) == expected


@pytest.mark.parametrize(
    ('qualifier', 'remedy'), [(1, 'cooling'), (0xA, 'cooling'), (0xB, '')]
)
def test_cooling_helps_no_cold_disk(qualifier, remedy):
    """0Bh and 0Dh are the lower limits."""
    (finding,) = [
        each
        for each in judge(smart_status=health(0x0B, qualifier)).judgements
        if each.state
    ]

    assert finding.remedy == remedy


def test_statuses_that_need_no_table_are_those_that_are_ok():
    """Healthy disks load no table."""
    assert {
        int(number)
        for number, (state, _) in CODES['background_statuses'].items()
        if state == 'OK'
    } == drive_logs._ORDINARY


@pytest.mark.parametrize(
    'row', CODES['sense_codes'], ids=lambda row: f'{row["asc"]}-{row["ascq"]}'
)
def test_each_row_of_the_table_names_a_metric_and_matches_a_code(row):
    """None is hidden by one above it."""
    first = [
        next(
            each
            for each in CODES['sense_codes']
            if each['asc'] == row['asc'] and re.fullmatch(each['ascq'], f'{number:x}')
        )
        for number in range(256)
    ]

    assert row['metric'] in ATTRIBUTES['metrics']
    assert row in first


# --- results: their order, their number, their age ----------------------------------------------


def test_the_order_of_results_means_nothing():
    results = [
        Result(block, minutes, status)
        for block in range(40)
        for minutes, status in ((1, 1), (2, 4), (3, 2 - block % 2))
    ]
    expected = background_scan.counts(results, NOW)

    for seed in range(20):
        assert (
            background_scan.counts(
                random.Random(seed).sample(results, len(results)), NOW
            )
            == expected
        )
    assert expected == {
        'background_pending': 20,
        'background_recovered': 20,
        'background_unknown': 0,
    }


def test_the_worse_of_two_results_of_a_minute_counts():
    for results in ((1, 7, 900), (2, 7, 900)), ((2, 7, 900), (1, 7, 900)):
        assert found(judge(scsi_background_scan=scan(*results))) == {
            'pending': 'WARNING'
        }


def test_a_result_from_beyond_the_power_on_time_clears_no_block():
    """It may be of a time before a counter was reset."""
    later = NOW + 60

    assert found(judge(scsi_background_scan=scan((1, 7, 900), (2, 7, later)))) == {
        'pending': 'WARNING'
    }
    assert found(judge(scsi_background_scan=scan((1, 7, later)))) == {
        'pending': 'WARNING'
    }
    # in the hour that it counts
    assert found(judge(scsi_background_scan=scan((1, 7, 900), (2, 7, NOW + 59)))) == {}
    assert (
        found(
            judge(
                scsi_background_scan=scan((1, 7, 900), (2, 7, later)),
                power_on_time=None,
            )
        )
        == {}
    )


def test_as_many_results_as_the_standard_allows_are_counted():
    page = scan(*((1, block, block) for block in range(MOST_RESULTS + 5)))
    assert (
        json_report.parse(json.dumps(document(scsi_background_scan=page))).scsi[
            'background_pending'
        ]
        == MOST_RESULTS
    )


def test_results_of_the_wrong_length_are_unknown_one_by_one():
    """smartctl prints their number alone."""
    page = {
        **scan((2, 0, 900)),
        'result_2': {'parameter_code': 2},
        'result_3': {'parameter_code': 3},
    }

    verdict = judge(scsi_background_scan=page)
    assert found(verdict) == {'background_scan': 'UNKNOWN'}
    assert any('2 results ' in each.reading.verdict for each in verdict.judgements)


LOST = 'not in the report: the background scan'
FAILED = 'a command to the drive failed or a checksum was wrong'
SMARTCTL = document()['smartctl']
SAID = {
    'unknown code': (
        {'smart_status': health(0x0B, 0x7E)},
        ['WORDS [asc=b, ascq=7e]: a warning of unknown meaning'],
    ),
    'test of the alarm': (
        {'smart_status': health(0x5D, 0xFF)},
        ['WORDS [asc=5d, ascq=ff]: a test of the alarm, not a failure'],
    ),
    'scan status': (
        {'scsi_background_scan': scan((3, 1, 1), status=42)},
        ['unknown status 0x2a; 1 result with an unknown status'],
    ),
    'empty page': ({'scsi_background_scan': {}}, [LOST]),
    'damaged result': ({'scsi_background_scan': {'result_1': 7}}, [LOST]),
    'damaged status': (
        {'scsi_background_scan': {'status': 7}},
        [LOST],
    ),
    'damaged number': (
        {'scsi_background_scan': {'status': {'value': 'x'}}},
        [LOST],
    ),
    'damaged page': (
        {'scsi_background_scan': []},
        [LOST],
    ),
    'no page': ({'scsi_background_scan': None}, [LOST]),
    # smartctl sets bit 2 for a disk that does not have the page.
    'not kept': (
        {'scsi_background_scan': None, 'smartctl': {**SMARTCTL, 'exit_status': 4}},
        [],
    ),
    'not printed': (
        {'scsi_background_scan': None, 'smartctl': {**SMARTCTL, 'version': [7, 2]}},
        [],
    ),
    'failed': ({'smartctl': {**SMARTCTL, 'exit_status': 4}}, [FAILED]),
}


@pytest.mark.parametrize('case', SAID)
def test_what_is_not_understood_is_named_and_a_lost_page_is_a_note(case):
    pages, words = SAID[case]
    verdict = judge(**pages)
    verdicts = [judgement.reading.verdict for judgement in verdict.judgements]

    assert [*verdict.notes] == words or (
        verdict.notes == () and set(words) <= {*verdicts}
    )


# --- other pages --------------------------------------------------------------------------------


def test_the_environmental_page_has_the_temperature_where_the_temperature_page_is_empty():
    reports = {'temperature_1': {'parameter_code': 0, 'current': 41}}

    report = json_report.parse(
        json.dumps(
            document(temperature={'current': 0}, scsi_environmental_reports=reports)
        )
    )
    assert report.scsi['temperature'] == 41
    report = json_report.parse(json.dumps(document(scsi_environmental_reports=reports)))
    assert report.scsi['temperature'] == 30


def test_slowly_corrected_errors_are_counted_per_terabyte():
    slow = {
        'errors_corrected_by_eccdelayed': 300,
        'errors_corrected_by_rereads_rewrites': 100,
        'errors_corrected_by_eccfast': 9,
        'gigabytes_processed': '1500.000',
    }
    numbers = [
        {
            judgement.reading.metric: judgement.reading.number
            for judgement in verdict.judgements
        }.get('corrected_slowly')
        for verdict in (
            judge(
                scsi_error_counter_log=with_errors(
                    slow, {'gigabytes_processed': '500.000'}
                )
            ),
            judge(
                scsi_error_counter_log=with_errors(
                    {**slow, 'gigabytes_processed': '9.0'}, {'gigabytes_processed': '1'}
                )
            ),
        )
    ]

    assert numbers == [200, None]


@pytest.mark.parametrize(
    ('model', 'rotation', 'defects', 'expected'),
    [
        ('HGST HUS726T4TAL5204', 7200, 41, {'reallocated': 'WARNING'}),
        ('ACME DISK', 7200, 41, {'reallocated': 'WARNING'}),
        ('ACME SSD', 0, 190, {}),
        ('ACME SSD', 0, 210, {'reallocated': 'WARNING'}),
        ('ACME DISK', None, 41, {'reallocated': 'WARNING'}),
    ],
)
def test_grown_defects_are_judged_as_on_a_sata_drive_of_the_vendor(
    model, rotation, defects, expected
):
    wear = 1 if rotation == 0 else None
    verdict = judge(
        scsi_model_name=model,
        rotation_rate=rotation,
        scsi_grown_defect_list=defects,
        scsi_percentage_used_endurance_indicator=wear,
    )

    assert found(verdict) == expected


@pytest.mark.parametrize(
    ('model', 'expected'), [('SAMSUNG MZILT3T8HALS', '0'), ('ACME SSD', '10')]
)
def test_the_vendor_names_the_group_of_sata_drives(model, expected):
    report = json_report.parse(
        json.dumps(document(scsi_model_name=model, rotation_rate=0))
    )

    assert (
        LIMITS.limit('reallocated', DEVICE, report.identity, '').growth[0]['warning']
        == expected
    )


# --- text ---------------------------------------------------------------------------------------


def text(status='waiting until BMS interval timer expires', *rows):
    """Return what smartctl -x prints."""
    return '\n'.join(
        (
            'smartctl 7.3 2022-02-28 r5338 [x86_64-linux-5.10.0] (local build)',
            '',
            '=== START OF INFORMATION SECTION ===',
            'Vendor:               SEAGATE',
            'Product:              ST4000NM0023',
            'Rotation Rate:        7200 rpm',
            '=== START OF READ SMART DATA SECTION ===',
            'SMART Health Status: OK',
            'Current Drive Temperature:     30 C',
            'Elements in grown defect list: 0',
            '',
            'Background scan results log',
            f'  Status: {status}',
            f'    Accumulated power on time, hours:minutes {HOURS}:00 [{NOW} minutes]',
            '',
            '   #  when        lba(hex)    [sk,asc,ascq]    reassign_status',
            *rows,
            '',
        )
    )


def row(number, status, block=7, minutes=900):
    """Return a result as smartctl prints it."""
    return f' {number:3} {minutes // 60:4}:{minutes % 60:02}  {block:016x}  [3,11,0]   {status}'


@pytest.mark.parametrize(
    ('words', 'status'),
    [
        *TEXT['background_statuses'].items(),
        ('unknown [0x2a] background scan status value', 0x2A),
        ('', None),
        ('nonsense', None),
    ],
)
def test_the_status_is_read_from_text(words, status):
    assert text_report.parse_text(text(words)).scsi.get('background_status') == status


@pytest.mark.parametrize('number', range(len(REASSIGN_STATUSES)))
def test_results_are_read_from_text_as_from_json(number):
    page = scan((number, 7, 900), (1, 8, 901))
    from_json = json_report.parse(json.dumps(document(scsi_background_scan=page))).scsi
    from_text = text_report.parse_text(
        text(
            'waiting until BMS interval timer expires',
            row(1, REASSIGN_STATUSES[number]),
            row(2, REASSIGN_STATUSES[1], 8, 901),
        )
    ).scsi

    keys = (
        'background_status',
        'background_pending',
        'background_recovered',
        'background_unknown',
    )
    assert [from_text[key] for key in keys] == [from_json[key] for key in keys]


def test_a_result_in_words_of_another_version_is_unknown():
    assert (
        text_report.parse_text(
            text('scan is active', row(1, 'Reassign status: reserved [0xb]'))
        ).scsi['background_unknown']
        == 1
    )


def test_a_self_test_that_failed_on_a_sas_drive_alerts_with_every_smartctl(tmp_path):
    """7.2 reports it only by its exit status, 7.3 in the JSON, too."""
    failed = {
        'code': {'value': 2, 'string': 'Background long'},
        'result': {'value': 5, 'string': 'Failed in first segment'},
        'power_on_time': {'hours': 31},
    }
    notes = {}
    for version, log in ((2, {}), (3, {'scsi_self_test_0': failed})):
        said = json.loads(json.dumps(document(**log)))
        said['smartctl'].update(exit_status=0x80, version=[7, version])
        path = tmp_path / f'{version}.json'
        path.write_text(json.dumps(said))
        result = run('triage', '--json', '--no-history', '--report', str(path))
        [one] = json.loads(result.text)['drives']
        notes[version] = {note['code'] for note in one['notes']}
        assert [each['code'] for each in one['findings']] == ['self-test-failed']

    assert 'self-test-to-repeat' in notes[3] - notes[2]


def test_the_note_names_the_test_that_ends_the_alert():
    failed = Reading('self_test', 0, '', Source('self-test log'), '', State.CRITICAL)
    alert = Judgement(failed, State.CRITICAL)
    passed = alert._replace(state=State.OK)
    [note] = drive_notes.self_test_to_repeat(Device('/dev/sda'), [alert])

    assert note.endswith('smartctl -t long /dev/sda')
    assert not [*drive_notes.self_test_to_repeat(Device('/dev/sda'), [passed])]
