"""Vendors' NVMe logs: decoded by the layouts of the data file, read when they are due, judged
between two reads.
"""

import os
import time

import pytest
from shipped import ATTRIBUTES, DATABASE, DEFAULTS
from simulator import Machine, read, why_not

from smart_attributes.check import further_logs, vendor_readings
from smart_attributes.check.history_access import Remembered
from smart_attributes.check.judging import Rules
from smart_attributes.check.rulebook import Judge
from smart_attributes.command_line.options import Judging
from smart_attributes.commands import table
from smart_attributes.errors import Coded, DriveError, UsageError
from smart_attributes.history.past import Past
from smart_attributes.history.series import History, Key, Point
from smart_attributes.knowledge import vendor_logs
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import (
    Answer,
    Device,
    HowRead,
    Identity,
    LogPage,
    Read,
    Reading,
    Report,
    State,
)
from smart_attributes.reading import nvme_log, smartctl_calls
from smart_attributes.reading.processes import Runner

GUID = bytes.fromhex('C5AF1028EABFF2A49C4F6F7CC914D5AF')
OCP = ATTRIBUTES['layouts']['ocp']
LOG = ('0xC0', 'ocp')
MODEL = 'INTEL SSDPF2KX076T1'  # its entry reads 0xC0 with the layout ocp
simulated = pytest.mark.skipif(bool(why_not()), reason=why_not())


def page(version=3, guid=GUID, **numbers):
    """Return a page of the layout ocp. numbers: by offset, as in b128=(163, 2)."""
    data = bytearray(512)
    for name, (number, length) in {
        'b494': (version, 2),
        'b16': (7, 16),
        **numbers,
    }.items():
        data[int(name[1:]) : int(name[1:]) + length] = number.to_bytes(length, 'little')
    return bytes(data[:496]) + guid


HEALTHY = {'b0': (10**15, 16), 'b46': (100, 2), 'b128': (163, 2)}


def told(data):
    """Return the readings of a page by metric, and the codes of its notes."""
    report = Report(
        Identity(protocol='NVMe'), vendor_log=data and LogPage('0xC0', data)
    )
    log = vendor_logs.of_drive(report, LOG, OCP, DATABASE.metrics, {})
    return {reading.metric: reading for reading in log.readings}, [
        note.code for note in log.notes
    ]


# --- decoding --------------------------------------------------------------------------


@pytest.mark.parametrize(
    'data, status, code',
    [
        (page(**HEALTHY), vendor_logs.READ, []),
        (bytes(512), vendor_logs.EMPTY, ['vendor-log-empty']),
        (b'\xff' * 512, vendor_logs.EMPTY, ['vendor-log-empty']),
        (
            page(version=5),
            vendor_logs.EMPTY,
            ['vendor-log-empty'],
        ),  # as QEMU fills it in with ocp=on
        (page(guid=bytes(16), **HEALTHY), vendor_logs.FOREIGN, ['vendor-log-foreign']),
        (page(guid=GUID[::-1], **HEALTHY), vendor_logs.FOREIGN, ['vendor-log-foreign']),
        (page(version=1, **HEALTHY), vendor_logs.FOREIGN, ['vendor-log-foreign']),
        (page(**HEALTHY)[:500], vendor_logs.UNREAD, ['vendor-log-unread']),
    ],
    ids=[
        'read',
        'zeros',
        'ones',
        'emulator',
        'no GUID',
        'GUID reversed',
        'old version',
        'short',
    ],
)
def test_a_page_gives_readings_only_if_it_has_the_layout_and_content(
    data, status, code
):
    """Zeros, ones, a page that only an emulator has filled in, another GUID, an older version, a
    short page.
    """
    readings, codes = told(data)

    assert readings.pop(vendor_logs.STATUS).number == status
    assert codes == code
    assert bool(readings) is (status == vendor_logs.READ)


@pytest.mark.parametrize(
    'field, number, metric, expected',
    [
        ('b128', (0xFFFF, 2), 'capacitor_health', None),
        ('b128', (0, 2), 'capacitor_health', 0),
        ('b76', (4, 4), 'e2e_error', 4),
        ('b72', (4, 4), 'e2e_error', None),
        ('b72', (0x4_0000_0002, 8), 'e2e_error', 2),
        ('b72', (0x4_FFFF_FFFF, 8), 'e2e_error', 4),
        ('b72', (2**64 - 1, 8), 'e2e_error', None),
        ('b176', (4 * 10**16, 16), 'endurance_used', 2.5),
        ('b176', (10**12, 16), 'endurance_used', None),
        ('b80', (88, 1), 'system_data_used', 88),
        ('b80', (255, 1), 'system_data_used', None),
        ('b96', (255, 1), 'thermal_throttle_count', 255),
        ('b0', (2**128 - 1, 16), 'nand_written', None),
    ],
)
def test_each_number_is_read_where_the_specification_has_it(
    field, number, metric, expected
):
    """What means "no value", or is not plausible, is unknown: never 0 % and never 100 %."""
    readings, _ = told(page(**{**HEALTHY, field: number}))

    assert readings[metric].number == expected
    assert readings[metric].judged is (expected is not None)
    assert ('means "no value"' in readings[metric].unknown) is (
        (field, number[0]) in (('b128', 0xFFFF), ('b80', 255))
    )


ONE = {'metric': 'erase_fail', 'offset': 4, 'length': 2}


VERSIONED = {
    'version': {'offset': 8, 'length': 2, 'least': 2, 'most': 4},
    'fields': [ONE],
}
UNVERSIONED = {'version': {'offset': 8, 'length': 2, 'least': 2}, 'fields': [ONE]}
ROWS = {'rows': 12, 'fields': [{**ONE, 'row': 171}]}


@pytest.mark.parametrize(
    'layout, content, status, number',
    [
        ({'fields': [ONE]}, {4: 1, 5: 2}, vendor_logs.READ, 0x201),
        ({'fields': [{**ONE, 'order': 'big'}]}, {4: 1, 5: 2}, vendor_logs.READ, 0x102),
        (VERSIONED, {4: 1, 8: 1}, vendor_logs.FOREIGN, None),
        (VERSIONED, {4: 1, 8: 2}, vendor_logs.READ, 1),
        (VERSIONED, {4: 1, 8: 5}, vendor_logs.FOREIGN, None),
        (UNVERSIONED, {4: 1, 8: 255, 9: 255}, vendor_logs.READ, 1),
        (ROWS, {24: 171, 28: 5}, vendor_logs.READ, 5),
        # a number that occurs twice makes the page another one
        (ROWS, {24: 171, 28: 5, 36: 171, 40: 6}, vendor_logs.FOREIGN, None),
        ({**ROWS, 'row_count': 2}, {12: 171, 16: 5}, vendor_logs.READ, 5),
        # behind the rows
        ({**ROWS, 'row_count': 2}, {24: 171, 28: 5}, vendor_logs.EMPTY, None),
        # the last row ends with the page
        ({**ROWS, 'rows': 16}, {496: 171, 500: 5}, vendor_logs.READ, 5),
        # it would end behind the page
        ({**ROWS, 'rows': 27}, {486: 171, 490: 5}, vendor_logs.EMPTY, None),
    ],
)
def test_a_page_is_decoded_as_its_layout_says(layout, content, status, number):
    """content: bytes that are not 0, by their offset."""
    data = bytes(content.get(offset, 0) for offset in range(512))
    found = vendor_logs.decoded(layout, data)

    assert (found.status, [each for _, each in found.numbers]) == (
        status,
        [] if number is None else [number],
    )


SOURCE = vendor_logs.source_of(*LOG)


@pytest.mark.parametrize(
    'field, number, expected, unknown',
    [
        ({'not': [9]}, 9, None, '9 means "no value"'),
        ({'valid': [7, 12]}, 6, None, '6 is not a plausible value'),
        ({'valid': [7, 12]}, 7, 7, ''),
        ({'valid': [7, 12]}, 12, 12, ''),
        ({'valid': [7, 12]}, 13, None, '13 is not a plausible value'),
        # by the range of the metric
        ({'valid': [None, 8]}, 9, None, '9 is not a plausible value'),
        ({'valid': [9, None]}, 9, 9, ''),
        ({'unit': '512B'}, 1, None, '512 is not a plausible value'),
        ({}, 4, None, '4 is not a plausible value'),
        ({}, 5, 5, ''),
        ({}, 20, 20, ''),
        ({}, 21, None, '21 is not a plausible value'),
        ({'unit': 'logical sectors'}, 41, 6, ''),
        ({'unit': 'logical sectors'}, 240, None, '30 is not a plausible value'),
    ],
)
def test_a_number_is_used_if_its_field_and_its_metric_allow_it(
    field, number, expected, unknown
):
    """Each field after it is read all the same."""
    layout = {
        'fields': [
            {**ONE, 'metric': 'pending', **field},
            {**ONE, 'metric': 'capacitor_health', 'offset': 8},
        ]
    }
    known = DATABASE.metrics
    metrics = {**known, 'pending': known['pending']._replace(unit='C', valid=(5, 20))}
    drive = Identity('NVMe', sector_size=512, physical_block_size=4096)
    data = bytes(4) + number.to_bytes(2, 'little') + bytes(2) + b'\x63' + bytes(503)
    log = vendor_logs.of_drive(
        Report(drive, vendor_log=LogPage('0xC0', data)), LOG, layout, metrics, {}
    )

    assert log.readings == (
        Reading(vendor_logs.STATUS, vendor_logs.READ, '', SOURCE, judged=False),
        Reading(
            'pending',
            expected,
            'C',
            SOURCE,
            judged=expected is not None,
            unknown=unknown,
        ),
        Reading('capacitor_health', 99, '%', SOURCE),
    )


FAILURE = Coded('smartctl-message', 'Read NVMe log failed')
BY_HAND = 'smartctl -l nvmelog,0xC0,0x200 /dev/nvmeN'


UNREAD = f'{SOURCE.log} could not be read; to see the reason, run: {BY_HAND}'
HANGS_FOR_A_DAY = (
    f'the drive did not answer in time when {SOURCE.log} was read; checks skip this log for 24 '
    'hours'
)
OTHER_LAYOUT = f'the layout of {SOURCE.log} differs from ocp, so this log is not used'


@pytest.mark.parametrize(
    'log, status, notes',
    [
        (
            LogPage('0xC0', status=vendor_logs.HANGS),
            vendor_logs.HANGS,
            [HANGS_FOR_A_DAY],
        ),
        (LogPage('0xC0', status=vendor_logs.UNREAD), vendor_logs.UNREAD, [UNREAD]),
        (
            LogPage('0xC0', status=vendor_logs.UNREAD, failure=FAILURE),
            vendor_logs.UNREAD,
            [UNREAD, FAILURE],
        ),
        (
            LogPage('0xC0', page(version=1, **HEALTHY)),
            vendor_logs.FOREIGN,
            [OTHER_LAYOUT],
        ),
    ],
)
def test_a_page_without_numbers_has_its_status_and_a_note(log, status, notes):
    """The status is compared with no limit."""
    found = vendor_logs.of_drive(
        Report(Identity('NVMe'), vendor_log=log),
        LOG,
        OCP,
        DATABASE.metrics,
        {},
    )

    assert found.readings == (
        Reading(vendor_logs.STATUS, status, '', SOURCE, judged=False),
    )
    assert list(found.notes) == notes


@pytest.mark.parametrize(
    'status, seconds, every, due',
    [
        (vendor_logs.READ, 60, 60, True),
        (vendor_logs.READ, 59, 60, False),
        (vendor_logs.UNREAD, 60, 60, True),
        (vendor_logs.HANGS, 86399, 60, False),
        (vendor_logs.HANGS, 86400, 60, True),
        (vendor_logs.HANGS, 86400, 90000, False),
        (vendor_logs.HANGS, 90000, 90000, True),
    ],
)
def test_a_page_is_read_again_after_its_time(status, seconds, every, due):
    assert vendor_logs.is_due(status, seconds, every) is due


# --- when it is read ---------------------------------------------------------------------


class Bench:
    """A machine with one NVMe drive, and checks of it at times of our choice."""

    def __init__(self, folder, monkeypatch):
        self.machine, self.now = Machine(folder / 'machine'), int(time.time())
        self.drive = self.machine.add(
            '/dev/nvme0',
            read('nvme-samsung-healthy')._replace(model=MODEL),
            recorded=True,
        )
        self.state = folder / 'state'
        self.state.mkdir()
        monkeypatch.setattr(time, 'time', lambda: self.now)

    def check(self, *words, after=300, command=()):
        """Run a check some seconds after the one before; return its exit status and whether the
        page was asked for.
        """
        self.now += after
        before = len(self.asked)
        runner = Runner()
        try:
            status = table.do(
                [
                    *command,
                    '-p',
                    self.machine.smartctl,
                    '--nosudo',
                    '--state-dir',
                    str(self.state),
                    '-d',
                    '/dev/nvme0',
                    *words,
                ],
                runner,
            )
            for later in runner.later:
                later()
        finally:
            runner.close()
        return status, len(self.asked) - before

    @property
    def asked(self):
        return [
            line for line in self.machine.commands(self.drive) if line == 'nvme 02 c0'
        ]

    def serve(self, data):
        (self.drive / 'log-c0').write_bytes(data)


@pytest.fixture
def bench(tmp_path, monkeypatch):
    return Bench(tmp_path, monkeypatch)


@simulated
def test_a_page_is_read_once_in_six_hours_and_judged_in_between(bench, capsys):
    """The numbers that were read last keep their state: it neither flaps nor goes."""
    bench.serve(page(**{**HEALTHY, 'b128': (90, 2)}))

    assert bench.check() == (State.WARNING, 1)
    assert [bench.check() for _ in range(3)] == [(State.WARNING, 0)] * 3
    bench.serve(page(**HEALTHY))
    assert bench.check(after=5 * 3600) == (State.WARNING, 0)
    assert bench.check(after=3600) == (State.OK, 1)
    assert 'capacitor_health' in capsys.readouterr().out


def test_a_time_longer_than_numbers_are_kept_is_refused():
    """An alert would go and come again."""
    with pytest.raises(UsageError, match='write at most 3d'):
        table.understood(['--vendor-logs', '4d'])[1]

    assert [
        table.understood(['--vendor-logs', word])[1].judging.vendor_logs
        for word in ('3d', 'always', 'never')
    ] == [3 * 24 * 3600, 0, None]


def test_history_of_another_user_does_not_keep_root_from_reading(tmp_path):
    """It could claim that the log was just read, and is fine."""
    key = Key(vendor_logs.STATUS, 'NVMe log 0xC0, ocp')
    past = Past({key: History((Point(1000, 0),), 1000)}, 1300)

    assert not further_logs.is_time_to_read(LOG, past, 3600)
    assert further_logs.is_time_to_read(LOG, past, 300)
    assert further_logs.is_time_to_read(LOG, past._replace(is_own=False), 3600)


READ = Read(Device('/dev/nvme0', name='nvme0'), Report(Identity('NVMe', MODEL)))
SUDO = ('/usr/bin/sudo', '-n', '/usr/sbin/smartctl')
CALL = (*SUDO, '--json=cu', '-l', 'nvmelog,0xC0,0x200', '/dev/nvme0')


def attributes_with(**changed):
    return Judge(
        SpecDatabase({**ATTRIBUTES, **changed}),
        Thresholds(DEFAULTS),
        None,
    )


class Answers:
    """A runner that gives these answers to the calls that they belong to."""

    def __init__(self, *answers):
        self.answers, self.calls = answers, []

    def run(self, calls, patience, deadline):
        self.calls += calls
        assert (patience, deadline) == (nvme_log.PATIENCE, 60)
        return (answer for answer in self.answers if answer.command in calls)


def joined(*reads, runner):
    """Return the reads with the pages that were due and that the runner could read."""
    kinds = [further_logs.VendorPages(attributes_with(), 0, SUDO, Remembered())]
    return further_logs.joined(reads, kinds, runner, deadline=60)


@pytest.mark.parametrize(
    'device, outcome, log',
    [
        ({}, {}, LOG),
        ({'is_recorded': True}, {}, None),
        ({}, {'identity': Identity('NVMe', 'ACME X1')}, None),
        ({}, {'identity': Identity('ATA', MODEL)}, None),
    ],
)
def test_a_drive_has_the_log_of_its_entry(device, outcome, log):
    """A recorded report is no drive that can be asked."""
    read = READ._replace(
        device=READ.device._replace(**device), outcome=READ.outcome._replace(**outcome)
    )

    assert further_logs.log_of(read, attributes_with()) == log
    assert (
        further_logs.log_of(
            read._replace(outcome=DriveError('is silent')), attributes_with()
        )
        is None
    )


@pytest.mark.parametrize(
    'changed',
    [
        {'layouts': {}},
        {
            'entries': [
                {**entry, **({'logs': {'0xC5': 'ocp'}} if 'logs' in entry else {})}
                for entry in ATTRIBUTES['entries']
            ]
        },
    ],
    ids=['no layout', 'page that no rule of sudo has'],
)
def test_a_log_without_a_layout_or_a_call_is_not_read(changed):
    assert further_logs.log_of(READ, attributes_with(**changed)) is None


@pytest.mark.parametrize('every, is_asked', [(0, True), (3600, False)])
def test_a_drive_is_asked_each_time_only_if_nothing_stores_when_it_was_asked(
    every, is_asked
):
    runner = Answers()
    kinds = [further_logs.VendorPages(attributes_with(), every, SUDO, Remembered())]
    further_logs.joined([READ], kinds, runner, deadline=60)

    assert runner.calls == ([CALL] if is_asked else [])


@pytest.mark.parametrize(
    'is_root, nosudo, called',
    [(True, False, ('/sbin/smartctl',)), (False, True, ('/sbin/smartctl',))],
)
@pytest.mark.parametrize(
    'every, is_for_a_person, kinds',
    [
        (60, False, ['VendorPages']),
        (60, True, ['VendorPages', 'FarmLogs']),
        (None, True, ['FarmLogs']),
        (None, False, []),
    ],
)
def test_a_run_reads_the_logs_that_its_command_may_read(
    monkeypatch, is_root, nosudo, called, every, is_for_a_person, kinds
):
    monkeypatch.setattr(os, 'geteuid', lambda: 0 if is_root else 1000)
    monkeypatch.setattr(smartctl_calls, 'find_sudo', lambda: SUDO[0])
    how = HowRead(smartctl='/sbin/smartctl', nosudo=nosudo)
    rules = Rules(Judging(vendor_logs=every))
    judge = attributes_with()._replace(rules=rules)
    found = further_logs.kinds_of(judge, how, Remembered(), is_for_a_person)

    assert [type(kind).__name__ for kind in found] == kinds
    assert all(
        (kind.every, kind.prefix[: len(called)]) == (every, called)
        for kind in found[:1]
        if every
    )


def test_a_fault_of_ours_in_a_log_of_one_drive_takes_none_from_another(monkeypatch):
    work = further_logs.VendorPages.joined

    def broken(self, read, answer):
        if read is READ:
            raise ZeroDivisionError
        return work(self, read, answer)

    monkeypatch.setattr(further_logs.VendorPages, 'joined', broken)
    second = READ._replace(device=Device('/dev/nvme1', name='nvme1'))
    answers = (Answer(call, 'timeout') for call in (CALL, (*CALL[:-1], '/dev/nvme1')))
    found = joined(READ, second, runner=Answers(*answers))

    assert (found[0], found[1].outcome.vendor_log) == (
        READ,
        LogPage('0xC0', status=vendor_logs.HANGS),
    )


REMARK = Coded('sudo-rule-old', 'another remark')


@pytest.mark.parametrize(
    'stdout, stderr, remark',
    [
        (b'', b'sudo: a password is required\n', further_logs.OLD_RULE),
        (b'{}', b'sudo: a password is required\n', REMARK),
        (b'', b'', REMARK),
    ],
)
def test_a_page_that_sudo_refused_is_a_remark(stdout, stderr, remark):
    """Each other drive keeps its own remark."""
    answer = Answer(CALL, 'done', status=1, stdout=stdout, stderr=stderr)
    [found] = joined(READ._replace(remark=REMARK), runner=Answers(answer))

    assert (found.remark, found.outcome.vendor_log.status) == (
        remark,
        vendor_logs.UNREAD,
    )


@pytest.mark.parametrize(
    'read',
    [
        READ._replace(
            outcome=READ.outcome._replace(vendor_log=LogPage('0xC0', b'x')),
            remark=REMARK,
        ),
        READ._replace(outcome=DriveError('is silent')),
        READ._replace(outcome=Report(Identity('NVMe', 'ACME X1'))),
        READ._replace(device=Device('/dev/sda', 'sntasmedia', 'sda')),
    ],
)
def test_what_was_not_asked_stays_as_it_is(read):
    assert joined(read, runner=Answers()) == (read,)


def read_before(points, age=0):
    """Return the history of a drive whose log was read now, and whose capacitor health *age*
    seconds ago.
    """
    now = 1_800_000_000
    return Past(
        {
            Key('capacitor_health', 'NVMe log 0xC0, ocp, %'): History(
                points, now - age
            ),
            Key(vendor_logs.STATUS, 'NVMe log 0xC0, ocp'): History(
                (Point(0, vendor_logs.READ),), now
            ),
        },
        now,
    )


@pytest.mark.parametrize(
    'points, age, number',
    [
        ((Point(0, 90),), 0, 90),
        ((Point(0, 90),), vendor_logs.KEPT, 90),
        ((Point(0, 90),), vendor_logs.KEPT + 1, None),
        ((Point(0, 163), Point(9, 90)), 60, 90),
        ((), 60, None),
    ],
)
def test_a_stored_number_is_used_for_a_week(points, age, number):
    """Between two reads. A series without points is one that was damaged."""
    log = vendor_readings.vendor_log(
        Report(Identity(protocol='NVMe')),
        LOG,
        DATABASE,
        read_before(points, age),
    )

    assert {
        reading.metric: (reading.number, reading.is_stored) for reading in log.readings
    } == {
        vendor_logs.STATUS: (vendor_logs.READ, True),
        **({'capacitor_health': (number, True)} if number else {}),
    }


def test_without_a_layout_or_a_history_a_drive_has_no_vendor_log():
    report = Report(
        Identity(protocol='NVMe'), vendor_log=LogPage('0xC0', page(**HEALTHY))
    )

    assert (
        vendor_readings.vendor_log(report, ('0xC0', 'other'), DATABASE, None)
        == vendor_logs.VendorLog()
    )
    assert (
        vendor_readings.vendor_log(
            report._replace(vendor_log=None), LOG, DATABASE, None
        )
        == vendor_logs.VendorLog()
    )


@simulated
def test_a_person_sees_what_was_read_and_does_not_read_again(bench, capsys):
    """Only commands that can store the time ask for the page."""
    bench.serve(page(**HEALTHY))

    assert bench.check(command=['explain'])[1] == 0
    bench.check()
    assert bench.check('-v', command=['explain'], after=7 * 3600)[1] == 0
    assert 'capacitor_health        ' in capsys.readouterr().out


@simulated
@pytest.mark.parametrize(
    'data, words',
    [
        (None, 'NVMe log 0xC0 could not be read'),
        (
            page(guid=bytes(16), **HEALTHY),
            'the layout of NVMe log 0xC0 differs from ocp',
        ),
    ],
)
def test_a_page_without_numbers_is_a_note_and_no_alert(bench, capsys, data, words):
    """The next checks keep the note; the page is read again after six hours only."""
    if data:
        bench.serve(data)

    assert bench.check('-v') == (State.OK, 1)
    assert bench.check('-v') == (State.OK, 0)
    assert capsys.readouterr().out.count(words) == 2


@simulated
def test_numbers_outlive_a_failure_for_a_week_and_not_a_change_of_the_layout(bench):
    """An alert must not go because a read failed once, nor stay for ever when none succeeds."""
    bench.serve(page(**{**HEALTHY, 'b128': (90, 2)}))
    bench.check()
    (bench.drive / 'log-c0').unlink()

    assert bench.check(after=7 * 3600) == (State.WARNING, 1)
    assert bench.check() == (State.WARNING, 0)
    bench.serve(page(guid=bytes(16), **HEALTHY))
    assert bench.check(after=7 * 3600) == (State.OK, 1)
    assert bench.check() == (State.OK, 0)
