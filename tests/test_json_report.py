"""smartctl's JSON, as it should be and as it should not."""

import json

import pytest
from refusals import DISABLED, NO_DRIVE, NOT_ASKED

from smart_attributes.errors import (
    DriveAsleep,
    DriveError,
    DriveIsNoDrive,
    NotAReport,
    SudoRefused,
)
from smart_attributes.model import AttributeRow, SelfTest, Statistic
from smart_attributes.reading import json_report


def smartctl(
    version=(7, 3),
    status=0,
    messages=(),
    argv=('smartctl', '--json=c', '-a', '/dev/sda'),
):
    """The part of a document that is smartctl's own."""
    return {
        'json_format_version': [1, 0],
        'smartctl': {
            'version': list(version),
            'argv': list(argv),
            'exit_status': status,
            'messages': [
                {'string': text, 'severity': severity} for text, severity in messages
            ],
        },
    }


def row(number, value=100, worst=100, threshold=0, raw=0, failed='', prefail=False):
    return {
        'id': number,
        'name': f'Attribute_{number}',
        'value': value,
        'worst': worst,
        'thresh': threshold,
        'when_failed': failed,
        'flags': {'value': 50, 'prefailure': prefail},
        'raw': {'value': raw, 'string': str(raw)},
    }


ATA = {
    **smartctl(status=64),
    'device': {'name': '/dev/sda', 'type': 'sat', 'protocol': 'ATA'},
    'model_family': 'ACME ARGO',
    'model_name': 'ACME ARGO 500',
    'serial_number': 'EXAMPLE0001',
    'wwn': {'naa': 5, 'oui': 3152, 'id': 19088743},
    'firmware_version': 'A1.0',
    'user_capacity': {'blocks': 976773168, 'bytes': 500107862016},
    'logical_block_size': 512,
    'rotation_rate': 0,
    'smart_support': {'available': True, 'enabled': True},
    'smart_status': {'passed': True},
    'ata_smart_attributes': {
        'revision': 16,
        'table': [
            row(5, 98, 98, 10, 12, prefail=True),
            row(184, 50, 50, 90, 50, 'now'),
            row(190, 70, 55, 60, 30, 'past'),
        ],
    },
    'ata_device_statistics': {
        'pages': [
            {
                'number': 7,
                'table': [
                    {
                        'offset': 8,
                        'name': 'Percentage Used',
                        'size': 1,
                        'value': 3,
                        'flags': {'value': 224, 'valid': True, 'normalized': True},
                    },
                    {
                        'offset': 16,
                        'name': 'Never filled',
                        'size': 4,
                        'flags': {'value': 128, 'valid': False},
                    },
                ],
            }
        ]
    },
    'ata_smart_error_log': {'summary': {'revision': 1, 'count': 3}},
    'ata_smart_self_test_log': {
        'standard': {
            'table': [
                {
                    'type': {'value': 2, 'string': 'Extended offline'},
                    'status': {
                        'value': 249,
                        'string': 'Self-test in progress',
                        'passed': True,
                    },
                    'lifetime_hours': 900,
                },
                {
                    'type': {'value': 1, 'string': 'Short offline'},
                    'status': {
                        'value': 121,
                        'string': 'Completed: read failure',
                        'passed': False,
                    },
                    'lifetime_hours': 880,
                },
            ]
        }
    },
}
NVME = {
    **smartctl(),
    'device': {'type': 'nvme', 'protocol': 'NVMe'},
    'model_name': 'ACME N1',
    'serial_number': 'EXAMPLE0002',
    'firmware_version': '1',
    'nvme_total_capacity': 1000204886016,
    'smart_status': {'passed': True, 'nvme': {'value': 0}},
    'nvme_namespaces': [{'id': 1, 'eui64': {'oui': 9528, 'ext_id': 77}}],
    'nvme_composite_temperature_threshold': {'warning': 70, 'critical': 80},
    'nvme_smart_health_information_log': {
        'critical_warning': 0,
        'temperature': -4,
        'available_spare': 100,
        'percentage_used': 112,
        'data_units_written': 9007199254740994,
        'data_units_written_s': '9007199254740993',
        'temperature_sensors': [31],
    },
}
SAS = {
    **smartctl(),
    'device': {'type': 'megaraid,6', 'protocol': 'SCSI'},
    'scsi_vendor': 'ACME',
    'scsi_product': 'SASSY',
    'scsi_model_name': 'ACME SASSY',
    'scsi_revision': 'S1',
    'logical_unit_id': '0x5000c5004A5B6C7D',
    'rotation_rate': 10000,
    'device_type': {'name': 'disk'},
    'smart_status': {'passed': True},
    'temperature': {'current': 31, 'drive_trip': 60},
    'power_on_time': {'hours': 4711, 'minutes': 5},
    'scsi_grown_defect_list': 3,
    'scsi_pending_defects': {'count': 1},
    'scsi_percentage_used_endurance_indicator': 7,
    'scsi_start_stop_cycle_counter': {
        'accumulated_start_stop_cycles': 12,
        'specified_cycle_count_over_device_lifetime': 50000,
    },
    'scsi_error_counter_log': {
        'read': {
            'total_errors_corrected': 5,
            'gigabytes_processed': '71532.573',
            'total_uncorrected_errors': 2,
        }
    },
    'scsi_self_test_0': {
        'code': {'string': 'Background short'},
        'result': {'value': 0, 'string': 'Completed'},
        'power_on_time': {'hours': 4700},
    },
    'scsi_self_test_1': {
        'code': {'string': 'Background long'},
        'result': {'value': 4, 'string': 'Completed, segment failed'},
        'power_on_time': {'hours': 4600},
    },
}


def without(data, *keys):
    return {key: value for key, value in data.items() if key not in keys}


def test_an_ata_drive_is_read_in_full():
    """What any later stage needs is in the Report."""
    report = json_report.from_json(ATA)

    assert report.identity[:8] == (
        'ATA',
        'ACME ARGO 500',
        'A1.0',
        'EXAMPLE0001',
        '5000c50001234567',
        0,
        500107862016,
        'ACME ARGO',
    )
    assert report.attributes[0] == AttributeRow(
        5, 'Attribute_5', 98, 98, 10, True, '', '12', 12
    )
    assert [attribute.when_failed for attribute in report.attributes] == [
        '',
        'now',
        'past',
    ]
    assert report.statistics == {(7, 8): Statistic(3, 'Percentage Used', 'N')}
    assert (
        report.smart_status,
        report.error_count,
        report.exit_status,
        report.version,
    ) == (
        True,
        3,
        64,
        (7, 3),
    )


def test_a_running_self_test_proves_nothing():
    """smartctl's JSON calls it "passed", and counts the failed one behind it."""
    assert json_report.from_json(ATA).self_tests == (
        SelfTest('Extended offline', 'Self-test in progress', None, 900),
        SelfTest('Short offline', 'Completed: read failure', False, 880),
    )


def test_an_nvme_drive_keeps_its_counters_exact():
    """Above 2^53 the JSON number is rounded and its "_s" twin is not."""
    report = json_report.from_json(NVME)

    assert report.nvme == {
        'critical_warning': 0,
        'temperature': -4,
        'available_spare': 100,
        'percentage_used': 112,
        'data_units_written': 9007199254740993,
        'warning_temp_threshold': 70,
        'critical_temp_threshold': 80,
    }
    assert report.identity.wwn == '002538000000004d'
    assert report.identity.kind == 'nvme'


def test_the_health_verdict_alone_still_tells_which_nvme_warning_is_set():
    """The temperature bit is a warning, every other one is critical; -H has them all."""
    report = json_report.from_json(
        {
            **smartctl(),
            'device': NVME['device'],
            'smart_status': {'passed': False, 'nvme': {'value': 2}},
        }
    )

    assert report.nvme == {'critical_warning': 2}
    assert report.smart_status is False


def test_a_sas_drive_is_read_in_full():
    """SAS is no second class: its counters are all there is to judge."""
    report = json_report.from_json(SAS)

    assert report.scsi == {
        'temperature': 31,
        'drive_trip': 60,
        'grown_defects': 3,
        'pending_defects': 1,
        'percentage_used': 7,
        'start_stop_cycles': 12,
        'start_stop_cycles_rated': 50000,
        'power_on_hours': 4711,
        'read.total_errors_corrected': 5,
        'read.gigabytes_processed': 71532.573,
        'read.total_uncorrected_errors': 2,
    }
    assert report.identity[:6] == (
        'SCSI',
        'ACME SASSY',
        'S1',
        '',
        '5000c5004a5b6c7d',
        10000,
    )
    assert [test[2:] for test in report.self_tests] == [(True, 4700), (False, 4600)]


@pytest.mark.parametrize(
    'renamed',
    [
        # smartctl-7.0
        {
            'model_name': 'ACME SASSY',
            'revision': 'S1',
            'vendor': 'ACME',
            'product': 'SASSY',
        },
        # smartctl-7.3
        {'scsi_model_name': 'ACME SASSY', 'scsi_revision': 'S1'},
        pytest.param(
            {
                'scsi_model_name': 'ACME SASSY',
                'model_name': 'ACME SASSY',
                'firmware_version': 'S1',
            },
            id='both',
        ),
    ],
)
def test_scsi_names_moved_between_versions(renamed):
    """7.0 to 7.2 say model_name and revision, 7.3 puts "scsi_" in front."""
    identity = json_report.from_json(
        {**without(SAS, 'scsi_model_name', 'scsi_revision'), **renamed}
    ).identity

    assert (identity.model, identity.firmware) == ('ACME SASSY', 'S1')


@pytest.mark.parametrize(
    'moved, expected',
    [
        # smartctl-7.3
        (
            {'scsi_temperature': {'drive_trip': 65}, 'temperature': {'current': 30}},
            (30, 65),
        ),
        pytest.param(
            {
                'temperature': {'drive_trip': 65},
                'scsi_environmental_reports': {'temperature_1': {'current': 29}},
            },
            (29, 65),
            id='environmental-report',
        ),
    ],
)
def test_scsi_temperatures_moved_between_versions(moved, expected):
    """A temperature that is looked for in one place only is lost with the next version."""
    report = json_report.from_json({**SAS, **moved})

    assert (report.scsi['temperature'], report.scsi['drive_trip']) == expected


def test_the_extended_logs_win_over_the_standard_ones():
    """They hold the same entries and more."""
    log = {
        'type': {'string': 'Short offline'},
        'status': {'string': 'Completed without error'},
        'lifetime_hours': 7,
    }
    report = json_report.from_json(
        {
            **ATA,
            'ata_smart_self_test_log': {
                'standard': {'table': [log]},
                'extended': {'table': [log, log]},
            },
            'ata_smart_error_log': {'summary': {'count': 2}, 'extended': {'count': 9}},
        }
    )

    assert (len(report.self_tests), report.error_count) == (2, 9)


def test_what_smartctl_itself_makes_of_a_drive_is_kept_apart():
    """smartctl 7.5 derives it from names in its own database; of NVMe drives it only repeats the
    health log.
    """
    own = {
        'endurance_used': {'current_percent': 28},
        'spare_available': {'current_percent': 100, 'threshold_percent': 10},
    }

    assert json_report.from_json({**ATA, **own}).derived == {
        'endurance_used': 28,
        'spare_available': 100,
    }
    assert (
        json_report.from_json(
            {**ATA, 'endurance_used': {'current_percent': 'x'}, 'spare_available': 7}
        ).derived
        == {}
    )
    assert json_report.from_json({**NVME, **own}).derived == {}


def entry(number, hours, words='', register=0):
    return {
        'error_number': number,
        'lifetime_hours': hours,
        'error_description': words,
        'completion_registers': {'error': register},
    }


def test_the_entries_of_both_error_logs_count_once_and_the_newest_comes_first():
    """The extended log repeats what the summary holds; an entry without its hour tells nothing."""
    old, new = entry(2, 700, 'Error: UNC'), entry(3, 870, 'Error: ABRT')
    report = json_report.from_json(
        {
            **ATA,
            'ata_smart_error_log': {
                'summary': {'table': [old, new, {'error_number': 4}, None]},
                'extended': {'table': [old, entry(1, 5, register=0x10)]},
            },
        }
    )

    assert [(error.number, error.kinds) for error in report.errors] == [
        (3, ('ABRT',)),
        (2, ('UNC',)),
        (1, ('IDNF',)),
    ]


def test_a_failed_last_self_test_counts_without_its_log():
    """-c without -l selftest, or a drive with an empty log."""
    report = json_report.from_json(
        {
            **without(ATA, 'ata_smart_self_test_log'),
            'ata_smart_data': {
                'self_test': {
                    'status': {
                        'value': 121,
                        'string': 'completed having the read element failed',
                        'passed': False,
                    }
                }
            },
        }
    )

    assert report.self_tests == (
        SelfTest('Last self-test', 'Completed: read failure', False, None),
    )


@pytest.mark.parametrize(
    'status, is_told',
    [(0x06, True), (0x86, True), (0x05, False), (0x82, False), (None, False)],
)
def test_an_offline_data_collection_that_failed_is_a_message(status, is_told):
    found = {'offline_data_collection': {'status': {'value': status}}}
    report = json_report.from_json({**ATA, 'ata_smart_data': found})

    assert any('fatal error' in message for message in report.messages) is is_told


def test_an_nvme_self_test_log_is_read():
    """smartctl 7.4 and later."""
    report = json_report.from_json(
        {
            **NVME,
            'nvme_self_test_log': {
                'table': [
                    {
                        'self_test_code': {'value': 2, 'string': 'Extended'},
                        'power_on_hours': 90,
                        'self_test_result': {
                            'value': 7,
                            'string': 'Completed: failed segments',
                        },
                    }
                ]
            },
        }
    )

    assert report.self_tests == (
        SelfTest('Extended', 'Completed: failed segments', False, 90),
    )


def test_the_pending_defects_log_counts_as_the_statistic_it_equals():
    """ACS-4: the Pending Error Count is the number of entries in that log."""
    report = json_report.from_json(
        {**ATA, 'ata_pending_defects_log': {'size': 63, 'count': 4}}
    )

    assert report.statistics[1, 0x40].number == 4


def test_a_drive_that_counts_starts_of_its_spindle_is_a_hard_disk():
    """Drives older than ATA-8 do not tell their rotation."""
    data = {
        **without(ATA, 'rotation_rate'),
        'ata_smart_attributes': {'table': [row(4), row(9), row(10)]},
    }

    assert json_report.from_json(data).identity.kind == 'hdd'
    assert json_report.from_json({**data, 'rotation_rate': 0}).identity.kind == 'ssd'


# Around the JSON


def test_text_before_the_json_is_skipped_and_used():
    """smartctl 7.0 to 7.2 prints "Pending defect count:" outside of its JSON; shells greet."""
    document = json.dumps(without(SAS, 'scsi_pending_defects'))
    printed = 'Welcome to web1\n  Pending defect count:2 Pending Defects\n' + document

    assert json_report.parse(printed).scsi['pending_defects'] == 2


# No verdict


NOTHING = {'device': {'type': 'sat', 'protocol': 'ATA'}, 'model_name': 'X'}
NO_SMART = 'has no SMART: device lacks SMART capability; for RAID or USB, give the right type (TYPE@PATH)'
VOLUME = 'is a RAID volume or virtual disk without SMART; name the drives behind it (smartctl --scan)'
SUDO = (
    'cannot be read: sudo asks for a password; '
    'run check_smart_attributes sudoers, and save its output in /etc/sudoers.d'
)
WITHOUT_VERDICT = {
    'nothing': ({}, DriveError, NO_DRIVE),
    '-i': (
        {**NOTHING, **smartctl(argv=['smartctl', '-i'])},
        DriveError,
        NOT_ASKED,
    ),
    'unsupported': (
        {**NOTHING, 'smart_support': {'available': False}},
        DriveError,
        NO_SMART,
    ),
    'disabled': (
        {**SAS, 'smart_support': {'available': True, 'enabled': False}},
        DriveError,
        DISABLED,
    ),
    'errors': (
        smartctl(messages=[('Odd words', 'error'), ('others', 'error')]),
        DriveError,
        (
            'cannot be read: smartctl reports "Odd words"; run smartctl by hand: smartctl -x PATH'
        ),
    ),
    'idle': (
        smartctl(
            status=2, messages=[('Device is in IDLE mode, exit(2)', 'information')]
        ),
        DriveAsleep,
        'is in IDLE mode and was not woken',
    ),
    'tape': (
        {
            'device': {'protocol': 'SCSI'},
            'device_type': {'name': 'tape'},
            'smart_status': {'passed': True},
        },
        DriveIsNoDrive,
        'is not a disk (tape), so it has no SMART; exclude it: --ignore PATH',
    ),
    'volume': (
        {
            **smartctl(status=4),
            'device': {'protocol': 'SCSI', 'type': 'scsi'},
            'scsi_model_name': 'X Raid 1 Volume',
            'temperature': {'current': 0, 'drive_trip': 0},
        },
        DriveIsNoDrive,
        VOLUME,
    ),
}


@pytest.mark.parametrize('case', WITHOUT_VERDICT)
def test_a_document_without_a_verdict_says_why(case):
    """Never OK by silence, never a traceback."""
    document, kind, words = WITHOUT_VERDICT[case]
    with pytest.raises(DriveError) as caught:
        json_report.from_json(document)

    assert (type(caught.value), str(caught.value)) == (kind, words)


@pytest.mark.parametrize(
    'printed, status, other_text, kind, part',
    [
        ('', 0, '', DriveError, 'empty'),
        ('', 1, '', DriveError, 'exit status 1'),
        (
            '',
            1,
            'sudo: a password is required\n',
            SudoRefused,
            'check_smart_attributes sudoers',
        ),
        (json.dumps(NOTHING), 0, 'sudo: a password is required', SudoRefused, SUDO),
        ('{' + '"a":{' * 100000, 0, '', DriveError, 'damaged'),
        ('{"smartctl": {"exit_status": ' + '9' * 5000 + '}}', 0, '', DriveError, ''),
        ('{"device": {"name": "x"}}', 0, '', NotAReport, 'smartctl --json -x'),
        ('{"protocol": "ATA"}', 0, '', NotAReport, 'smartctl --json -x'),
        ('<html>Not found</html>', 0, '', NotAReport, 'smartctl report'),
        ('Segmentation fault', 139, '', DriveError, 'exit status 139'),
        (f'{json.dumps(ATA)}\n{json.dumps(ATA)}', 0, '', DriveError, 'several reports'),
        ('{"device": {"protocol": "ATA"}}', 0, '', DriveError, 'no SMART data'),
        ('{"smart_support": {}}', 0, '', DriveError, 'no SMART data'),
        ('{"smartctl": {}}', 0, '', DriveError, 'no SMART data'),
    ],
    ids=range(14),
)
def test_what_is_no_document_is_an_error_with_a_next_step(
    printed, status, other_text, kind, part
):
    """Other programs' words, half a document, two of them; one key makes it smartctl's."""
    with pytest.raises(DriveError) as caught:
        json_report.parse(printed, status, other_text)

    assert part in str(caught.value) and type(caught.value) is kind


def test_the_exit_status_of_the_process_goes_with_its_output():
    assert json_report.parse(json.dumps(without(ATA, 'smartctl')), 4).exit_status == 4
    assert json_report.from_json(ATA, 4).exit_status == 64


@pytest.mark.parametrize(
    'protocol, rate, rotation',
    [
        ('SCSI', 0, 0),
        ('SCSI', 1, None),
        ('SCSI', 0x400, None),
        ('SCSI', 0x401, 0x401),
        ('SCSI', 0xFFFF, None),
        ('SCSI', 0x10000, 0x10000),
        ('SCSI', -1, None),
        ('ATA', 1, 1),
        ('ATA', 0xFFFF, 0xFFFF),
        ('ATA', -1, None),
        ('ATA', None, None),
    ],
)
def test_a_reserved_rotation_rate_of_a_sas_drive_is_none(protocol, rate, rotation):
    assert json_report._rotation({'rotation_rate': rate}, protocol) == rotation


@pytest.mark.parametrize(
    'more, protocol',
    [
        ({'nvme_x': 1, 'ata_x': 1}, 'NVMe'),
        ({'scsi_x': 1}, 'SCSI'),
        ({'ata_x': 1}, 'ATA'),
        ({}, ''),
        ({'ata_x': 1, 'scsi_x': 1, 'device': {'protocol': 'SCSI'}}, 'SCSI'),
        ({'x_ata_': 1}, ''),
        ({'nvme_x': 1, 'device': {'protocol': 'SCSI'}}, 'NVMe'),
        ({'device': {'protocol': 'SCSI'}}, 'SCSI'),
    ],
    ids=str,
)
def test_a_document_without_device_has_its_protocol_from_its_keys(more, protocol):
    assert json_report._identity(more).protocol == protocol


@pytest.mark.parametrize(
    'more, sizes',
    [
        ({}, (None, 512, None)),
        ({'user_capacity': {'bytes': 7}, 'nvme_total_capacity': 8}, (7, 512, None)),
        ({'nvme_total_capacity': 8, 'logical_block_size': 4096}, (8, 4096, None)),
        ({'user_capacity': {'bytes': 0}}, (None, 512, None)),
        ({'physical_block_size': 4096}, (None, 512, 4096)),
        ({'physical_block_size': 0}, (None, 512, None)),
    ],
    ids=str,
)
def test_a_drive_has_a_capacity_and_sector_sizes(more, sizes):
    """A guess of the physical one would hide seven errors of eight."""
    identity = json_report._identity(more)

    found = identity.capacity, identity.sector_size, identity.physical_block_size
    assert found == sizes


@pytest.mark.parametrize(
    'more, wwn',
    [
        ({}, ''),
        ({'wwn': {'naa': 5, 'oui': 0xC50, 'id': 0}}, '5000c50000000000'),
        ({'wwn': {'naa': 5, 'oui': 1}}, ''),
        ({'logical_unit_id': ' 0x5000C500 '}, '5000c500'),
        (
            {'nvme_namespaces': [{'eui64': {'oui': 1, 'ext_id': 2}}, {}]},
            '0000010000000002',
        ),
        ({'nvme_namespaces': [{}, {'eui64': {'oui': 1, 'ext_id': 2}}]}, ''),
        ({'nvme_namespaces': [{'eui64': {'oui': 1}}]}, ''),
    ],
    ids=range(7),
)
def test_a_world_wide_name_is_made_of_its_parts(more, wwn):
    assert json_report._wwn(more) == wwn


@pytest.mark.parametrize(
    'status, exit_status, expected',
    [
        ({'passed': True}, 8, (True, '')),
        ({'passed': 1}, 4, (None, '')),
        ({'scsi': {'ie_string': 'X', 'asc': 93}}, None, (None, 'X')),
        ({'scsi': {'ie_string': 'X', 'ascq': 16}}, 0, (None, 'X')),
        ({'scsi': {'ie_string': 'X'}}, 12, (False, 'X')),
        ({'scsi': {'asc': 93, 'ascq': 16}}, 0, (None, '')),
        ({}, 8, (False, "FAILED, according to smartctl's exit status")),
        (
            {'passed': False, 'scsi': {'ie_string': 'X', 'asc': 0, 'ascq': 16}},
            0,
            (False, 'X [asc=0, ascq=10]'),
        ),
    ],
    ids=str,
)
def test_a_health_status_has_words_and_sense_codes(status, exit_status, expected):
    """The exit status replaces a lost one."""
    assert json_report._smart_status(status, exit_status) == expected


def test_complaints_are_warnings_and_errors_with_a_text():
    messages = [
        {'string': 'Warning: a', 'severity': 'warning'},
        {'string': 'b', 'severity': 'information'},
        {'severity': 'error'},
    ]

    document = {'smartctl': {'messages': messages}}
    report = json_report._report(document, None, '')
    assert report.messages == ('Warning: a',)


@pytest.mark.parametrize(
    'more, expected',
    [
        ({}, AttributeRow(9, '', None, None, None, None, '', '', None)),
        (
            {'raw': {'value': 7}},
            AttributeRow(9, '', None, None, None, None, '', '7', 7),
        ),
        (
            {'raw': {'value': 7, 'string': '7 h'}, 'when_failed': 'soon'},
            AttributeRow(9, '', None, None, None, None, '', '7 h', 7),
        ),
        (
            {
                'name': 'X',
                'value': 1,
                'worst': 2,
                'thresh': 3,
                'when_failed': 'past',
                'flags': {'prefailure': False},
            },
            AttributeRow(9, 'X', 1, 2, 3, False, 'past', '', None),
        ),
        (
            {'when_failed': 'now', 'flags': {'prefailure': 1}},
            AttributeRow(9, '', None, None, None, None, 'now', '', None),
        ),
    ],
    ids=range(5),
)
def test_a_row_has_only_values_that_smartctl_prints(more, expected):
    assert json_report._attributes([{'id': 9, **more}, {'id': 0}, {}]) == (expected,)


@pytest.mark.parametrize(
    'number, entry, expected',
    [
        (1, {'value': 3, 'name': 'X', 'flags': {'valid': False}}, {}),
        (None, {'value': 3}, {}),
        (1, {'value': None}, {}),
        (1, {'value': 3, 'offset': None}, {}),
        (1, {'value': 3}, {(1, 8): Statistic(3, '')}),
        (
            1,
            {
                'value': 3,
                'flags': {
                    'normalized': True,
                    'supports_dsn': True,
                    'monitored_condition_met': True,
                },
            },
            {(1, 8): Statistic(3, '', 'NDC')},
        ),
        (
            1,
            {'value': 3, 'flags': {'normalized': 1, 'supports_dsn': True}},
            {(1, 8): Statistic(3, '', 'D')},
        ),
    ],
    ids=range(7),
)
def test_a_statistic_is_valid_unless_it_says_otherwise(number, entry, expected):
    assert (
        json_report._statistics([{'number': number, 'table': [{'offset': 8, **entry}]}])
        == expected
    )


@pytest.mark.parametrize(
    'more, other_text, expected',
    [
        (
            {'scsi_pending_defects': {'count': 0}},
            'Pending defect count:3',
            {'pending_defects': 0},
        ),
        ({}, 'Pending defect count: 3', {'pending_defects': 3}),
        ({}, 'x', {}),
        (
            {
                'scsi_error_counter_log': {
                    'verify': {
                        'total_uncorrected_errors': 2,
                        'gigabytes_processed': '1,5',
                    }
                }
            },
            '',
            {'verify.gigabytes_processed': 1.5, 'verify.total_uncorrected_errors': 2},
        ),
        (
            {'scsi_error_counter_log': {'read': {'total_uncorrected_errors': '2'}}},
            '',
            {},
        ),
        (
            {
                'scsi_start_stop_cycle_counter': {
                    'specified_load_unload_count_over_device_lifetime': 5
                }
            },
            '',
            {'load_unload_cycles_rated': 5},
        ),
    ],
    ids=range(6),
)
def test_the_counters_of_a_sas_drive_come_from_several_logs(more, other_text, expected):
    assert json_report._scsi(more, other_text) == expected


def test_a_drive_has_the_logs_of_its_protocol_alone():
    assert json_report.from_json({**ATA, 'temperature': {'current': 30}}).scsi == {}


def test_a_passed_alone_is_worth_nothing_where_attributes_were_asked_for():
    def document(option):
        return {
            **NOTHING,
            **smartctl(argv=['smartctl', option]),
            'smart_status': {'passed': True},
        }

    assert json_report.from_json(document('-H')).smart_status
    with pytest.raises(DriveError, match='no SMART attributes'):
        json_report.from_json(document('-A'))


STATE = {
    'json_format_version': [1, 0],
    'device': {
        'name': '/dev/sda',
        'info_name': '/dev/sda [SAT]',
        'type': 'sat',
        'protocol': 'ATA',
    },
    'model_name': 'INTEL SSDSC2BB240G4',
    'serial_number': 'EXAMPLE0001',
    'smart_status': {'passed': True},
    'temperature': {'current': 30},
    'ata_smart_attributes': {'table': [row(9, raw=20_000), row(233, 7)]},
}


@pytest.mark.parametrize(
    'change, code',
    [
        ({}, 'not-a-report'),
        ({'model_name': ''}, 'not-a-report'),
        ({'firmware_version': 'D201'}, ''),
        (smartctl(argv=['smartctl', '-A', '-H']), ''),
        ({'smart_status': {'passed': False}}, ''),
        ({'ata_smart_attributes': {'table': [row(5, 1, 1, 10, failed='now')]}}, ''),
        ({'nvme_smart_health_information_log': {'critical_warning': 8}}, ''),
        (
            {'nvme_smart_health_information_log': {'critical_warning': 0}},
            'not-a-report',
        ),
    ],
)
def test_the_state_of_smartd_is_no_report_unless_the_drive_is_failing(change, code):
    """smartd 8.0 uses smartctl's names, but leaves out what the verdict needs."""
    found = ''
    try:
        json_report.from_json({**STATE, **change})
    except DriveError as error:
        found = error.code

    assert found == code
