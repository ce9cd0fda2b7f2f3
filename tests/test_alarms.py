"""What the default limits do to many drives: states, reasons, and the counts that defend each
limit.
"""

import gzip
import json
import sys

import pytest
from conftest import ROOT, run_tool
from measure import alarms
from measure.alarms import Alarm

from smart_attributes.knowledge.thresholds import DriveLimit, Thresholds
from smart_attributes.model import State

OK, WARNING, CRITICAL = State.OK, State.WARNING, State.CRITICAL
LIMITS = Thresholds(
    {
        'metrics': {
            'pending': {'hdd': {'warning': '0', 'critical': '8'}},
            'endurance_used': {'warning': '85'},
        }
    }
)


def hdd(*reasons, health='PASSED', metrics=('pending', 'reallocated')):
    """A hard disk with its reasons, (metric, state)."""
    return Alarm(
        'hdd',
        health,
        max((state for _, state in reasons), key=lambda s: s.urgency, default=OK),
        reasons,
        frozenset(metrics),
    )


def test_a_metric_is_alone_where_nothing_else_reaches_its_state():
    """Only there its limit decides."""
    disk = hdd(('pending', WARNING), ('reallocated', CRITICAL))

    assert not disk.is_alone('pending', WARNING)
    assert disk.is_alone('reallocated', CRITICAL)


def test_reasons_are_those_of_drives_that_say_passed():
    """A drive that says FAILED alarms whatever the limits are."""
    found = alarms.figures(
        [
            hdd(('pending', WARNING)),
            hdd(('pending', WARNING), ('reallocated', WARNING)),
            hdd(('pending', WARNING), health='FAILED'),
            hdd(),
        ]
    )

    assert found['states'] == {
        'hdd': {'PASSED': {'WARNING': 2, 'OK': 1}, 'FAILED': {'WARNING': 1}}
    }
    assert found['reasons'] == {
        'hdd': {'pending': {'WARNING': [2, 1]}, 'reallocated': {'WARNING': [1, 0]}}
    }


def test_a_limit_is_defended_by_those_beyond_it_and_by_the_others():
    """Beyond a warning are those beyond its critical limit, too; drives without the number
    validate nothing.
    """
    rows = list(
        alarms.limits(
            [
                hdd(('pending', WARNING)),
                hdd(('pending', CRITICAL), health='FAILED'),
                hdd(),
                hdd(metrics=()),
            ],
            LIMITS,
        )
    )

    assert rows == [
        '| `pending` above 0 | hdd | WARNING | 3 | 2 | 2 | 50.0 % | 0.0 % |',
        '| `pending` above 8 | hdd | CRITICAL | 3 | 1 | 1 | 100.0 % | 0.0 % |',
    ]


@pytest.mark.parametrize(
    'bound, words',
    [
        ('20', 'above 20'),
        ('11:', 'below 11'),
        (DriveLimit('threshold', 6, '16:'), 'its threshold + 6, else below 16'),
        (
            DriveLimit('temperature_limit', -10, '60', 50),
            ' - 10, at least 50, else above 60',
        ),
        (
            DriveLimit('temperature_limit', 0, '60'),
            'beyond its temperature_limit, else above 60',
        ),
    ],
)
def test_limits_are_said_in_words(bound, words):
    """As a reader of the document says them."""
    assert alarms.described(bound).endswith(words)


@pytest.fixture
def drives(tmp_path):
    """A file with two disks, one of which waits for a sector."""
    file = tmp_path / 'drives.jsonl'
    row = [197, 'Current_Pending_Sector', '-O--C-', 100, 100, 0, '-']
    file.write_text(
        ''.join(
            json.dumps(
                {
                    'model': 'HGST HUS724030ALA640',
                    'rotation': '7200 rpm',
                    'health': 'PASSED',
                    'attributes': [[*row, raw]],
                }
            )
            + '\n'
            for raw in '01'
        )
    )
    return file


def test_the_command_prints_the_tables_of_a_file(drives):
    result = run_tool('tools.measure', str(drives), '--verdicts')

    assert result.code == 0
    assert '| hdd | PASSED | 1 | 1 | 0 | 50.0 % |' in result.text
    assert '| hdd | `pending` | 0 | 1 (1) |' in result.text


def test_logs_beside_the_drives_are_judged_too(drives):
    """A failed self-test alerts, whatever the counters are: users have the logs."""
    logs = drives.with_name('logs.jsonl.gz')
    logs.write_bytes(
        gzip.compress(
            json.dumps(
                {
                    'path': '1',
                    'errors_logged': [],
                    'self_tests': [['Short offline', 'Completed: read failure', 5]],
                }
            ).encode()
        )
    )

    text = run_tool('tools.measure', str(drives), '--verdicts').text

    assert '| hdd | PASSED | 0 | 1 | 1 | 100.0 % |' in text
    assert '| hdd | `self_test` | 1 (1) | 0 |' in text


@pytest.mark.parametrize(
    'line',
    ['{"path": "1", "errors_logged": [[5, "UNC"]]}', '{"path": "1", "errors_lo', '[]'],
)
def test_logs_of_another_shape_are_named_with_their_line(drives, line):
    """Half a line among them: the download was cut."""
    whole = json.dumps({'path': '1', 'errors_logged': [], 'self_tests': []})
    logs = drives.with_name('logs.jsonl.gz')
    logs.write_bytes(gzip.compress(f'{whole}\n{line}'.encode()))

    result = run_tool('tools.measure', str(drives), '--verdicts')

    assert (
        result.code,
        f'{logs}, line 2: ' in result.text,
        'Traceback' in result.text,
    ) == (
        3,
        True,
        False,
    )


@pytest.mark.long  # 55 seconds
def test_the_data_files_are_what_the_command_writes(shared, monkeypatch):
    """Whoever changes a limit or an entry runs `make verdicts`, and its difference shows what that
    does to 40,182 drives.
    """
    monkeypatch.setattr(sys, 'path', [str(ROOT / 'tools'), *sys.path])
    import verdicts

    written = verdicts.files(
        verdicts.of_collection(str(shared / 'drives/drives.jsonl.gz'))
    )

    assert written == {name: (verdicts.TABLES / name).read_text() for name in written}
