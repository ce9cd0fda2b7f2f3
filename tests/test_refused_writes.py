"""The error log of an NVMe drive shows that the drive refuses writes."""

import pytest
from small_database import spec_database

from smart_attributes.knowledge.readings import readings
from smart_attributes.model import Identity, NvmeError, Report, State
from smart_attributes.reading import text_report
from smart_attributes.reading.json_report import from_json

READ_ONLY, PROTECTED = NvmeError(1013, 4, 1, 0x82), NvmeError(1012, 4, 0, 0x20)
# to smartctl itself, as on many healthy drives
INVALID_FIELD = NvmeError(1014, 0, 0, 0x02)
NVME = Identity(protocol='NVMe', model='ACME N1', rotation=0)


def refusals(*errors, bits=0):
    report = Report(
        NVME, smart_status=not bits, nvme={'critical_warning': bits}, nvme_errors=errors
    )
    database = spec_database()
    found = readings(report, database.identify(NVME, ()), database.metrics)
    return [
        (each.state, str(each.source))
        for each in found
        if each.metric == 'write_protect'
    ]


@pytest.mark.parametrize(
    ('errors', 'state'),
    [
        ([READ_ONLY], State.CRITICAL),
        ([PROTECTED], State.WARNING),
        ([PROTECTED, READ_ONLY], State.CRITICAL),
        # a newer error of smartctl hides nothing
        ([INVALID_FIELD, READ_ONLY], State.CRITICAL),
        ([READ_ONLY._replace(queue=0)], None),
        ([READ_ONLY._replace(code_type=2)], None),  # an application tag
        ([PROTECTED._replace(code_type=1)], None),
        ([READ_ONLY._replace(code=0x81)], None),
        ([INVALID_FIELD], None),
        ([], None),
    ],
)
def test_a_refused_write_counts_if_it_came_through_an_io_queue(errors, state):
    """A host can protect a namespace; only the drive itself makes a range read-only."""
    assert refusals(*errors) == ([(state, 'error log')] if state else [])


def test_the_warning_bit_says_it_first():
    """One finding for one fact."""
    assert refusals(READ_ONLY, bits=8) == [(State.CRITICAL, 'NVMe health log')]


TEXT = """smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.2.0] (local build)

=== START OF SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

Error Information (NVMe Log 0x01, 16 of 64 entries)
Num   ErrCount  SQId   CmdId  Status  PELoc          LBA  NSID    VS
  0       1014     0  0xb081  0x4004  0x028            -     1     -
  1       1013     4  0xb081  0x0305      -            0     1     -
  2       1012     4  0x51c7  0x4041  0x004   7814036656     1     -
  3       1011     -       -       -      -            -     -     -
  - [3 unused entries]
  7       1007     4  0x51c7  0x5041  0x004   7814036656     1     -  Namespace is Write Protected
... (48 entries not read)

"""


def test_smartctls_text_holds_the_entries_of_commands():
    """Since 7.4 with a message; an entry without a command concerns no queue. A retry delay is no part
    of the code.
    """
    assert text_report.parse_text(TEXT).nvme_errors == (
        INVALID_FIELD,
        READ_ONLY,
        PROTECTED,
        PROTECTED._replace(number=1007),
    )


def status(kind, code):
    return {
        'value': kind << 8 | code,
        'do_not_retry': False,
        'status_code_type': kind,
        'status_code': code,
        'string': '-',
    }


def test_smartctls_json_holds_the_entries_of_commands():
    """As smartctl 7.4 and newer print them; an unused entry is null."""
    table = [
        {
            'error_count': 1013,
            'submission_queue_id': 4,
            'command_id': 45185,
            'status_field': status(1, 130),
            'phase_tag': True,
            'lba': {'value': 0},
            'nsid': 1,
        },
        None,
        {'error_count': 1012, 'submission_queue_id': 4, 'status_field': status(0, 32)},
        {'error_count': 1011},
    ]
    report = from_json(
        {
            'json_format_version': [1, 0],
            'smartctl': {'version': [7, 4], 'exit_status': 0},
            'device': {'name': '/dev/nvme0', 'type': 'nvme', 'protocol': 'NVMe'},
            'smart_status': {'passed': True},
            'nvme_error_information_log': {
                'size': 64,
                'read': 16,
                'unread': 48,
                'table': table,
            },
        }
    )

    assert report.nvme_errors == (READ_ONLY, PROTECTED)
