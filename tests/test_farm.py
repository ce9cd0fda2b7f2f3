"""Seagate's FARM log: what is read of it, when a disk is asked for it, and what it contradicts."""

import copy
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, run
from fake_smartctl import HANGS, FakeSmartctl
from simulator import Machine, library, read, why_not

from smart_attributes.check import further_logs, judging
from smart_attributes.check.history_access import Remembered
from smart_attributes.check.rulebook import Site, judge_of
from smart_attributes.command_line.options import Options
from smart_attributes.knowledge import drive_logs
from smart_attributes.model import (
    Answer,
    AttributeRow,
    Device,
    Farm,
    Head,
    HowRead,
    Identity,
    Read,
    Report,
    SelfTest,
    State,
    Statistic,
)
from smart_attributes.reading import farm, smartctl_calls, text_report

HOUR = 3600
SHIPPED = judge_of(Options(), Site())
REPORTS = ROOT / 'tests/farm'  # what the real smartctl 7.4 printed of simulated drives
OF_SATA, OF_SAS = ((REPORTS / name).read_bytes() for name in ('sata.json', 'sas.json'))
NOT_OF_SEAGATE = 'FARM log (GP Log 0xa6) not supported for non-Seagate drives'
LOG: Any = json.loads(OF_SATA)['seagate_farm_log']
HEADS = (Head(1, 3, 2, 7), Head(3, 0, 0, 1))
DISK = Identity(
    protocol='ATA',
    model='ST10000DM0004-1ZC101',
    firmware='DN01',
    serial='ZL2ABCDE',
    rotation=7200,
)


def report(hours, log, power_on=None):
    row = AttributeRow(9, 'Power_On_Hours', 1, 1, 0, False, '', str(hours))
    statistics = {} if power_on is None else {(1, 0x010): Statistic(power_on, 'hours')}
    return Report(
        DISK, True, attributes=(row,), statistics=statistics, error_count=0, farm=log
    )


def notes(of):
    verdict = judging.judge(
        Device('/dev/sda', name='sda'),
        of,
        SHIPPED.database,
        SHIPPED.thresholds,
        judging.Rules(),
    )
    assert verdict.state is State.OK
    hidden = [
        (each.reading.number / HOUR, each.reading.judged, str(each.reading.source))
        for each in verdict.judgements
        if each.reading.metric == drive_logs.HIDDEN
    ]
    return hidden, [
        str(note)
        for note in verdict.notes
        if note.code.startswith(('farm', 'power-on-time'))
    ]


# --- the reader ------------------------------------------------------------------------


def changed(path: str, value: Any) -> Any:
    """Return a document with one value of the log changed; ... takes it away."""
    log = copy.deepcopy(LOG)
    *parents, key = path.split('.')
    place = log
    for parent in parents:
        place = place[parent]
    if value is ...:
        del place[key]
    else:
        place[key] = value
    return {'seagate_farm_log': log}


@pytest.mark.parametrize(
    'path, value, log',
    [
        ('supported', True, Farm('EXAMPLE0', 25000, HEADS)),
        *(('supported', value, None) for value in (..., 'true', 1, False)),
        *(
            (f'page_1_drive_information.{key}', 1, Farm('EXAMPLE0', 25000, HEADS))
            for key in ('spoh', 'date_of_assembly')
        ),
        *(
            ('page_1_drive_information.poh', value, Farm('EXAMPLE0', None, HEADS))
            for value in (
                ...,
                0,
                '25000',
                2**56,
                -1,
                0.5,
                float('nan'),
                True,
            )
        ),
        ('page_1_drive_information.poh', 2**56 - 1, Farm('EXAMPLE0', 2**56 - 1, HEADS)),
        ('page_1_drive_information.serial_number', 7, Farm('', 25000, HEADS)),
        ('page_1_drive_information', 'x', None),
        (
            'page_5_reliability_statistics.number_of_reallocated_sectors_by_head_24',
            5,
            Farm('EXAMPLE0', 25000, HEADS),
        ),
        (
            'page_5_reliability_statistics.number_of_reallocated_sectors_by_head_23',
            5,
            Farm('EXAMPLE0', 25000, (*HEADS, Head(23, 5))),
        ),
        (
            'page_5_reliability_statistics.number_of_reallocated_sectors_by_head_1',
            '3',
            Farm('EXAMPLE0', 25000, (Head(1, 0, 2, 7), Head(3, 0, 0, 1))),
        ),
        (
            'page_5_reliability_statistics.write_workload_power_on_time_by_head_1',
            29_325_713,
            Farm('EXAMPLE0', 25000, HEADS),
        ),
        (
            'page_3_error_statistics.cum_lifetime_unrecoverable_by_head_1',
            None,
            Farm('EXAMPLE0', 25000, (Head(1, 3), Head(3, 0, 0, 1))),
        ),
    ],
    ids=str,
)
def test_what_the_log_cannot_contain_counts_as_absent(path, value, log):
    """Nothing is guessed; the date of assembly and the write power-on time are not read at all."""
    assert farm.of_json(changed(path, value)) == log


@pytest.mark.parametrize(
    'document',
    [
        {},
        {'seagate_farm_log': None},
        {'seagate_farm_log': []},
        {'seagate_farm_log': {'supported': True}},
    ],
)
def test_a_document_without_the_log_has_none(document):
    """smartctl -x of 7.4 and newer prints only whether it is supported."""
    assert farm.of_json(document) is None


def of_sas(number: int) -> Any:
    return {
        'seagate_farm_log': {
            'supported': True,
            'drive_information': {'serial_number': 'A', 'power_on_hour': 7},
            'head_information': {f'number_of_reallocated_sectors_{number}': 5},
        }
    }


def test_smartctl_has_20_places_for_the_heads_of_a_sas_drive():
    """Its structure ends there; it prints the memory behind for a drive that claims more heads."""
    assert farm.of_json(of_sas(19)) == Farm('A', 7, (Head(19, 5),))
    assert farm.of_json(of_sas(20)) == Farm('A', 7)


@pytest.mark.parametrize(
    'content, hours, serial',
    [  # sata
        (OF_SATA, 25000, 'EXAMPLE0'),
        # sas
        (OF_SAS, 65000, 'ZL2ABCDE'),
    ],
)
def test_both_protocols_say_the_same(content, hours, serial):
    """The real smartctl 7.4 printed both, of the pages that the simulator serves."""
    read_ = text_report.parse_report(content)

    assert read_.farm == Farm(serial, hours, HEADS)
    assert (read_.identity.kind, read_.gaps) == (
        'hdd' if content is OF_SATA else 'sas',
        (),
    )


# smartmontools, issues 616 (ST4000VN006, smartctl 7.5 on FreeBSD) and 589 (in a USB enclosure):
# text.
TEXT = """smartctl 7.5 2025-04-30 r5714 [FreeBSD 15.1-RELEASE amd64] (local build)

Seagate Field Access Reliability Metrics log (FARM) (GP Log 0xa6)
\tFARM Log Page 1: Drive Information
\t\tSerial Number: {}
\t\tNumber of Heads: 4
\t\tATA Security State (ID Word 128): 0x01621
\t\tPower on Hours: {}
\t\tSpindle Power on Hours: 31378
\t\tModel Number:
\tFARM Log Page 3: Error Statistics
\t\tNumber of Reallocated Sectors: 12
\t\tCum Lifetime Unrecoverable by head 2:
\t\t\tCumulative Lifetime Unrecoverable Read Repeating: {}
\t\t\tCumulative Lifetime Unrecoverable Read Unique: 1
\tFARM Log Page 5: Reliability Statistics
\t\tNumber of Reallocated Sectors by Head 2: 12
\t\tNumber of Reallocation Candidate Sectors by Head 3: 9

"""


@pytest.mark.parametrize(
    'serial, hours, repeated, log',
    [
        ('WW60N2JG', 31383, 0, Farm('WW60N2JG', 31383, (Head(2, 12, 1),))),
        ('ZCT1K8G2', 48884, 4, Farm('ZCT1K8G2', 48884, (Head(2, 12, 1, 4),))),
        ('', 0, 0, Farm('', None, (Head(2, 12, 1),))),
        ('x', 2**63, 'x', Farm('x', None, (Head(2, 12, 1),))),
        ('x', '9' * 40, '\u00b2', Farm('x', None, (Head(2, 12, 1),))),
    ],
)
def test_a_text_of_the_log_is_read(serial, hours, repeated, log):
    """Its "Model Number" is no sign of an NVMe drive."""
    found = text_report.parse_report(TEXT.format(serial, hours, repeated).encode())

    assert (found.farm, found.identity.protocol, found.identity.serial) == (log, '', '')


# --- the contradiction -----------------------------------------------------------------

SET_BACK = (
    'the FARM log is {} h ahead of the power-on time: the power-on counter was set back'
)


@pytest.mark.parametrize(
    'of, hidden, said',
    [
        # 24-h-and-2-%
        (report(1000, Farm('ZL2ABCDE', 1044), 1000), [], []),
        # more
        (
            report(1000, Farm('ZL2ABCDE', 1045), 1000),
            [(45, True, 'FARM log')],
            [SET_BACK.format(45)],
        ),
        # uncertain
        (
            report(1000, Farm('ZL2ABCDE', 1045)),
            [(45, True, 'FARM log')],
            [SET_BACK.format(45) + ' or overflowed'],
        ),
        # new-disk
        (
            report(0, Farm('', 25)),
            [(25, True, 'FARM log')],
            [SET_BACK.format(25) + ' or overflowed'],
        ),
        # a-day
        (report(0, Farm('', 24), 0), [], []),
        # absent
        (report(1000, Farm('ZL2ABCDE', None), 1000), [], []),
        # no-log
        (report(1000, None, 1000), [], []),
        # reset-log
        (report(9000, Farm('ZL2ABCDE', 5), 9000), [], []),
        # largest
        (
            report(1000, Farm('ZL2ABCDE', 200_000), 1000),
            [(199_000, True, 'FARM log')],
            [SET_BACK.format(199_000)],
        ),
        # impossible
        (report(1000, Farm('ZL2ABCDE', 200_001), 1000), [], []),
        # of-another-disk
        (
            report(1000, Farm('ZZZZZZZZ', 25_000, is_foreign=True), 1000),
            [],
            [
                'the FARM log and the drive have different serial numbers, so the hours are not '
                'compared'
            ],
        ),
    ],
)
def test_the_log_contradicts_a_counter_that_is_a_day_and_2_percent_behind(
    of, hidden, said
):
    """It changes no state.

    A log that is behind, or missing, proves nothing: recertification resets it.
    """
    assert notes(of) == (hidden, said)


def test_each_witness_has_its_note_and_the_larger_time_counts():
    """The self-test log has 16 bits and stops with the last test; the FARM log goes on."""
    of = report(500, Farm('ZL2ABCDE', 30_000), 500)
    hidden, said = notes(
        of._replace(self_tests=(SelfTest('Short offline', 'Completed', True, 9000),))
    )

    assert hidden == [(29_500, True, 'FARM log'), (8500, False, 'self-test log')]
    assert said == [
        SET_BACK.format(29_500),
        SET_BACK.format(8500).replace('FARM', 'self-test'),
    ]


@pytest.mark.parametrize(
    'serial, own, is_foreign',
    [
        ('ZL2ABCDE', 'ZL2ABCDE', False),
        ('ZL2ABCDE', 'ZL2ABCDE0000C1234567', False),
        ('ZL2ABCDE', 'zl2abcde', False),
        ('ZL2ABCDE', '00000ZL2ABCDE0000RXB', False),
        ('ZL2ABCDE', 'ZZZZYYYY', True),
        ('', 'ZZZZYYYY', False),
        ('ZL2ABCDE', '', False),
        ('ZL2ABCDE', '--', False),
        ('ZL2ABCDE', 'XXXXXXXX', False),
        ('ZL2ABCDE', 'ZL2AXXXX', False),
        ('00000000', 'ZL2ABCDE', False),
        ('ZL2ABCDEFG', 'ZL2ABCDE', False),
    ],
)
def test_a_serial_number_contradicts_only_another_whole_one(serial, own, is_foreign):
    """SAS drives append that of their board; people mask theirs."""
    assert farm.marked_if_foreign(Farm(serial, 5), own) == Farm(
        serial, 5, is_foreign=is_foreign
    )


# --- asking ----------------------------------------------------------------------------


class Bed:
    """A program in place of smartctl, with one Seagate disk; a state directory."""

    def __init__(
        self,
        folder: Path,
        version: tuple[int, int] = (7, 4),
        model: str = 'ST10000DM0004-1ZC101',
    ) -> None:
        document = json.loads(OF_SATA)
        self.log = {
            key: document.pop(key) if key == 'seagate_farm_log' else document[key]
            for key in ('seagate_farm_log', 'smartctl', 'device')
        }
        document['smartctl'].update(version=list(version), argv=['smartctl', '-x'])
        document['model_name'] = model
        self.smartctl, self.state = FakeSmartctl(folder / 'bin'), folder / 'state'
        self.state.mkdir()
        self.smartctl.answers(
            smartctl_calls.read_arguments('/dev/sda'), json.dumps(document)
        )

    def answers(self, output: Any = None, **behaviour: Any) -> None:
        self.smartctl.answers(
            smartctl_calls.farm_arguments('/dev/sda', ''),
            output if isinstance(output, str) else json.dumps(output or self.log),
            **behaviour,
        )

    def says(self, command: str = 'explain', *more: str) -> str:
        words = [command] if command else []
        return run(
            *words,
            '-p',
            self.smartctl.path,
            '--nosudo',
            '-d',
            '/dev/sda',
            '--state-dir',
            str(self.state),
            *more,
        ).text

    @property
    def asked(self) -> int:
        return sum('farm' in call for call in self.smartctl.calls())


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


def test_explain_shows_the_log_and_the_counts_of_heads(bed):
    bed.answers()
    said = bed.says()

    assert 'time 25000 h, serial EXAMPLE0\n' in said
    assert (
        '\nhead  reallocated  unrecoverable  repeated\n1     3            2              7 '
        in said
    )
    assert f'note: {SET_BACK.format(13241)}' in said.replace('\n', ' ')
    assert 'EXAMPLE0' not in bed.says('explain', '--hide-serial')


@pytest.mark.parametrize('command', ['triage', 'doctor'])
def test_other_commands_for_a_person_ask_too(bed, command):
    bed.answers()
    bed.says(command)

    assert bed.asked == 1


@pytest.mark.parametrize('command', ['', 'metrics', 'list'])
def test_a_check_never_asks(bed, command):
    bed.says(command)

    assert bed.smartctl.calls() and bed.asked == 0


@pytest.mark.parametrize(
    'user, nosudo, is_asked', [(0, False, True), (1, True, True), (1, False, False)]
)
def test_the_monitoring_user_does_not_ask_what_sudo_refuses(
    monkeypatch, user, nosudo, is_asked
):
    """sudo would refuse the call and log that."""
    monkeypatch.setattr(os, 'geteuid', lambda: user)
    monkeypatch.setattr(smartctl_calls, 'find_sudo', lambda: '/usr/bin/sudo')
    how = HowRead(nosudo=nosudo)
    kinds = further_logs.kinds_of(SHIPPED, how, Remembered(), True)

    assert [type(kind).__name__ for kind in kinds[1:]] == (
        ['FarmLogs'] if is_asked else []
    )


@pytest.mark.parametrize('outcome', ['not started', 'too late', 'met', 'busy'])
def test_a_disk_whose_turn_never_came_is_not_spoken_of(outcome):
    how = HowRead(nosudo=True)
    _, logs = further_logs.kinds_of(SHIPPED, how, Remembered(), True)
    disk = Read(Device('/dev/sda'), report(5, None)._replace(version=(7, 4)))
    call = logs.call(disk)

    assert logs.joined(disk, Answer(call, outcome, 'it was not started')) == disk


@pytest.mark.parametrize(
    'version, model, asked',
    [
        ((7, 3), 'ST10000DM0004-1ZC101', 0),
        ((7, 4), 'ST10000DM0004-1ZC101', 1),
        ((8, 0), 'ST10000DM0004-1ZC101', 1),
        ((7, 4), 'WDC WD4003FRYZ-01F0DB0', 0),
        ((7, 4), 'ACME 1', 0),
    ],
)
def test_only_disks_whose_entry_says_so_are_asked_by_smartctl_7_4(
    tmp_path, version, model, asked
):
    """Before 7.4 the option is unknown; other vendors' disks have something else in log A6h."""
    bed = Bed(tmp_path, version, model)
    bed.answers()
    bed.says()

    assert bed.asked == asked


@pytest.mark.parametrize(
    'output, behaviour, why',
    [
        # assertion of 7.4
        ('Smartctl: Assertion failed\n', {'status': 1}, 'only exit status 1, no log'),
        ('', {'after': 'kill -ABRT $$'}, 'by signal 6'),
        ('', {'before': HANGS}, 'answer within 1 s'),
        ('{"x": 1}', {'status': 0}, 'only exit status 0, no log'),
        # directory
        (
            {'smartctl': {'exit_status': 4}, 'seagate_farm_log': {'supported': False}},
            {'status': 4},
            'exit status 4',
        ),
        # page
        (
            {
                'smartctl': {
                    'exit_status': 0,
                    'messages': [{'string': 'page 3 failed', 'severity': 'error'}],
                },
                'seagate_farm_log': {'supported': False},
            },
            {},
            'reports "page 3 failed"',
        ),
    ],
)
def test_a_log_that_cannot_be_read_is_a_note(bed, output, behaviour, why):
    """The drive keeps its verdict."""
    bed.answers(output, **behaviour)
    printed = ' '.join(bed.says('explain', '--drive-timeout', '1').split())

    assert 'to do: nothing' in printed
    assert ' could not be read: ' in printed and why in printed


@pytest.mark.parametrize(
    'document',
    [
        {'smartctl': {'exit_status': 0}, 'seagate_farm_log': {'supported': False}},
        {
            'smartctl': {
                'exit_status': 4,
                'messages': [
                    {
                        'string': NOT_OF_SEAGATE,
                        'severity': 'error',
                    }
                ],
            }
        },
    ],
)
def test_a_disk_without_the_log_is_not_spoken_of(bed, document):
    """No log proves nothing."""
    bed.answers(document)

    assert 'FARM' not in bed.says('explain', '-v') and bed.asked == 1


# --- the real smartctl -----------------------------------------------------------------


def _version() -> tuple[int, ...]:
    return (
        ()
        if why_not()
        else smartctl_calls.version(
            subprocess.run(
                [library.SMARTCTL, '--version'], capture_output=True, check=False
            ).stdout
        )
    )


needs_7_4 = pytest.mark.skipif(
    _version() < (7, 4), reason='smartctl 7.4 or newer is needed: set SMARTCTL'
)
GIVEN = {
    'hours': 25_000,
    'heads': 4,
    'reallocated': [0, 3, 0, 0],
    'unrecoverable': [0, 2, 0, 0],
    'repeated': [0, 7, 0, 1],
}


@needs_7_4
@pytest.mark.parametrize(
    'name, given, said, unsaid',
    [
        ('seagate-hdd-healthy', GIVEN, 'log is 13241 h', 'could not'),
        ('sas-seagate-healthy', GIVEN, 'log is 2668 h', 'could not'),
        (
            'seagate-hdd-healthy',
            {**GIVEN, 'serial': 'OTHERONE'},
            'serial numbers',
            'ahead',
        ),
        ('seagate-hdd-healthy', {**GIVEN, 'hours': 0}, 'time not reported', 'ahead'),
        ('seagate-hdd-healthy', {}, 'ST10000DM0004', 'FARM'),
        ('wd-hdd-healthy', GIVEN, 'WDC', 'FARM'),
    ],
)
def test_the_real_smartctl_reads_the_page_that_a_drive_serves(
    tmp_path, name, given, said, unsaid
):
    """Log A6h by READ LOG EXT, log page 3Dh by LOG SENSE."""
    machine = Machine(tmp_path / 'machine')
    machine.add('/dev/sda', read(name)._replace(farm=given))
    printed = run(
        'explain',
        '-p',
        machine.smartctl,
        '--nosudo',
        '-d',
        '/dev/sda',
        '--state-dir',
        str(tmp_path),
    ).text

    assert said in printed.replace('\n', ' ') and unsaid not in printed, printed


@needs_7_4
def test_a_report_of_everything_holds_the_log_as_recorded(tmp_path):
    """What tests/farm/sata.json holds is what smartctl prints of the same drive."""
    machine = Machine(tmp_path)
    machine.add(
        '/dev/sda',
        read('seagate-hdd-healthy')._replace(farm={**GIVEN, 'spindle_hours': 24_990}),
    )
    printed = subprocess.run(
        [machine.smartctl, '--json=c', '-x', '-l', 'farm', '/dev/sda'],
        stdout=subprocess.PIPE,
        check=False,
    ).stdout

    assert json.loads(printed)['seagate_farm_log'] == LOG


def test_a_file_with_only_the_log_says_what_it_lacks(tmp_path):
    """Its hours are shown and compared with nothing; no health status is made up."""
    file = tmp_path / 'farm.json'
    file.write_text(
        json.dumps(
            {
                **{
                    key: json.loads(OF_SATA)[key]
                    for key in ('device', 'seagate_farm_log')
                },
                'smartctl': {'argv': ['smartctl', '-l', 'farm', '/dev/sda']},
            }
        )
    )
    said = run('explain', '--report', str(file)).text.replace('\n', ' ')

    assert 'smartctl --json -x DEVICE' in said
    assert '  UNKNOWN' in said and 'time 25000 h, serial EXAMPLE0 ' in said
