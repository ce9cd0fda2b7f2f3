"""The three stages of a survey, and the messages about a run: who is wanted, and what the time
limit took away.
"""

from __future__ import annotations

import json

import pytest
from conftest import STATE_HOME, drive

from smart_attributes import alarm
from smart_attributes.check import (
    drive_tracking,
    further_logs,
    inventory,
    messages,
    reads,
    rulebook,
    selection,
    settings,
    survey,
    verdicts,
)
from smart_attributes.check.history_access import READS, WRITES, Remembered
from smart_attributes.command_line.options import HistoryUse, Which
from smart_attributes.commands import table
from smart_attributes.errors import (
    Coded,
    DriveError,
)
from smart_attributes.history import drive_records
from smart_attributes.model import Device, Identity, Read, State
from smart_attributes.reading import json_report, machine, recorded
from smart_attributes.reading.processes import Runner
from smart_attributes.shown import Shown, shown
from smart_attributes.v1_6.command_line import Before

SDA, SDB = Device('/dev/sda', name='sda'), Device('/dev/sdb', name='sdb')
REPORT = json_report.parse(drive('intel-s3500-healthy'))
SILENT = DriveError('is silent')
NO_HISTORY = Remembered()


def options(*words: str):
    return table.understood(['--config', STATE_HOME, *words])[1]


def judge(*words: str) -> rulebook.Judge:
    given = options('--no-history', *words)
    return rulebook.judge_of(given, rulebook.site_of(given.data, given.before))


def planned(*words: str) -> list[machine.Plan]:
    return reads.plan([SDA, SDB], settings.of_reads(options(*words)))


def stage(*answers: Read, asked=(), **found) -> reads.Reads:
    devices = tuple(asked) or tuple(read.device for read in answers)
    return reads.Reads(machine.DeviceList(devices, **found), answers)


def surveyed(answers: reads.Reads, *words: str) -> survey.Survey:
    """Return the survey of what devices answered."""
    given, rules = options(*words), judge(*words)
    drives = inventory.inventory(answers, settings.of_run(given), NO_HISTORY)
    found = verdicts.Verdicts(drives, NO_HISTORY, rules).all('')
    return survey.described(
        messages.Run(settings.of_run(given), rules, NO_HISTORY, answers, drives, found)
    )


def wanted(answers, which: Which, late: str = '', before=None):
    kept, faults = inventory.wanted(
        answers, settings.RunSettings(which, before=before), Remembered(), {}, late
    )
    return [read.device.name for read in kept], faults


def run_of(
    *words: str, given=None, judged=None, history=None, notes=(), **drives
) -> messages.Run:
    """Return a run without drives."""
    return messages.Run(
        settings.of_run(given or options(*words)),
        judged or judge(),
        history or Remembered(),
        stage(notes=notes),
        inventory.Inventory((), (), is_bare=False, **drives),
        verdicts=(),
    )


# --- who is wanted --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'which, kept',
    [
        (Which(), ['sda', 'sdb']),  # all
        (Which(match=('sdb',)), ['sdb']),  # match
        (Which(ignore=('sdb',)), ['sda']),  # ignore
        (Which(match=('INTEL',)), ['sda', 'sdb']),  # model silent stays
        (Which(ignore=('INTEL',)), ['sdb']),  # ignored model silent stays
        (Which(match=('sd',), ignore=('sda',)), ['sdb']),  # both
    ],
)
def test_patterns_leave_over_what_they_match_and_what_they_cannot_decide(which, kept):
    """sda is an Intel drive; sdb did not answer, so a pattern of models leaves it in the check."""
    assert wanted([Read(SDA, REPORT), Read(SDB, SILENT)], which) == (kept, [])


def test_a_decision_on_a_pattern_stays_when_the_time_limit_passes(monkeypatch):
    """The drives that are left are checked, and a fault names each."""

    def slow(device: Device, *_: object) -> bool:
        if device == SDB:
            raise alarm.TimeIsOver('time limit of 55 s exceeded')
        return False

    monkeypatch.setattr(selection, 'is_wanted', slow)
    given = options('--ignore', 'x')
    found = inventory.inventory(
        stage(Read(SDA, REPORT), Read(SDB, SILENT)),
        settings.of_run(given),
        Remembered(),
    )

    assert [read.device.name for read in found.reads] == ['sdb']
    [fault] = found.faults
    assert fault.code == 'pattern-undecided' and 'sdb is checked' in fault


@pytest.mark.parametrize(
    'which, faults',
    [
        (Which(ignore=('sda',)), 1),  # patterns
        (Which(), 0),  # no patterns
    ],
)
def test_a_drive_is_checked_where_time_was_over_before_its_pattern(which, faults):
    kept, found = wanted([Read(SDA, REPORT)], which, 'time was over')

    assert (kept, [each.code for each in found]) == (
        ['sda'],
        ['pattern-undecided'] * faults,
    )


@pytest.mark.parametrize(
    'words, paths',
    [
        ((), ['/dev/sda', '/dev/sdb']),
        (('--ignore', '/dev/sda'), ['/dev/sdb']),
        (('--match', 'sdb'), ['/dev/sda', '/dev/sdb']),
        (('--match', 'sdb', '--ignore', 'sda'), ['/dev/sdb']),
    ],
)
def test_a_drive_is_not_read_if_its_address_already_leaves_it_out(words, paths):
    """--match may mean a model, so only --ignore decides before the answer."""
    plans = planned('-p', '/usr/sbin/smartctl', '--nosudo', *words)

    assert [planned.device.path for planned in plans] == paths
    assert all(
        planned.command[0] == '/usr/sbin/smartctl'
        and planned.command[-1] == planned.device.path
        for planned in plans
    )


# --- what is said ---------------------------------------------------------------------------------

REMARK = 'no history: disk full; increases are not detected'


@pytest.mark.parametrize(
    ('words', 'trouble', 'said', 'demanded'),
    [
        ((), '', (), ()),  # all well
        ((), 'disk full', (REMARK,), ()),  # remark
        (
            ('--history-required', 'critical'),
            'disk full',
            (),
            ((State.CRITICAL, REMARK),),
        ),  # required
        # required ok
        (('--history-required', 'ok'), 'disk full', (), ((State.OK, REMARK),)),
        (('--history-required', 'critical'), '', (), ()),  # usable
    ],
)
def test_history_that_cannot_be_used_is_said_once(words, trouble, said, demanded):
    """With a state where one is required, as a remark elsewhere."""
    history = Remembered()
    history.trouble = trouble
    found = messages.messages(run_of(*words, history=history))

    assert (found['remarks'], found['demands']) == (said, demanded)


@pytest.mark.parametrize(
    ('words', 'is_whole', 'days', 'shown_as', 'said'),
    [
        ((), False, 0, [(State.WARNING, 'sdc')], []),
        (('--missing', 'critical'), True, 2, [(State.CRITICAL, 'sdc')], []),
        (('--missing', 'ok'), False, 0, [], ['SERIAL01']),
        (('--missing', 'ok', '--hide-serial'), False, 0, [], [None]),
        (('--missing', 'ok'), False, 2, [], []),
        (('--missing', 'ok'), True, 2, [], ['SERIAL01']),
    ],
)
def test_a_drive_that_is_gone_is_told_once(words, is_whole, days, shown_as, said):
    """With a verdict, or as news: for a day by a check, for a month to a person."""
    record = drive_records.Record(1, Identity(model='ACME', serial='SERIAL01'), 0, 0)
    place = drive_records.DrivePlace('/dev/sdc', 1, 0, is_scanned=True)
    there = drive_tracking.Whereabouts(
        [place._replace(gone=9)],
        {1: record},
        drive_records.Scope(is_scan=True),
        9 + days * 24 * 3600,
        {1: shown(record.identity, '--hide-serial' in words)},
        unread=frozenset(),
    )
    gone = inventory.known_missing(there, settings.of_run(options(*words)), judge())
    run = run_of(
        *words,
        history=Remembered(
            settings=settings.HistorySettings(HistoryUse(READS if is_whole else WRITES))
        ),
        whereabouts=there,
        missing=tuple(gone),
    )
    found = messages.messages(run)

    assert [(drive.state, drive.device.name) for drive in gone] == shown_as
    assert [each.fields['serial'] for each in found['remarks']] == said


@pytest.mark.parametrize(
    'count, present, since, states',
    [
        pytest.param(0, 1, [], [], id='none'),
        pytest.param(1, 1, [9], [], id='one'),  # it has a verdict
        pytest.param(1, 0, [9], [State.CRITICAL], id='the-only-one'),
        pytest.param(2, 1, [9, 8], [State.WARNING], id='one-after-the-other'),
        pytest.param(2, 1, [9, 9], [State.CRITICAL], id='together'),
    ],
)
def test_several_drives_that_are_missing_are_counted(count, present, since, states):
    places = [
        drive_records.DrivePlace(f'/dev/sd{number}', number, 0, since[number], True)
        for number in range(count)
    ]
    records = {
        number: drive_records.Record(number, Identity(), 0, 0)
        for number in range(count)
    }
    there = drive_tracking.Whereabouts(
        places,
        records,
        drive_records.Scope(is_scan=True),
        9,
        dict.fromkeys(records, Shown()),
        unread=frozenset(),
    )
    gone = tuple(inventory.known_missing(there, settings.of_run(options()), judge()))
    reads = (
        tuple(Read(drive.device, SILENT) for drive in gone)
        + (Read(SDA, REPORT),) * present
    )
    drives = inventory.Inventory(reads, (), is_bare=False, missing=gone)
    demands = messages.missing(run_of()._replace(drives=drives))

    assert [(state, message.code) for state, message in demands] == [
        (state, 'drives-missing') for state in states
    ]


def test_contradictions_of_site_files_are_faults_each_once(monkeypatch):
    monkeypatch.setattr(
        rulebook.Judge,
        'contradictions',
        lambda _, verdict, report: [
            'two limits',
            f'{verdict.device.name} {report is REPORT}',
        ],
    )
    found = surveyed(stage(Read(SDA, REPORT), Read(SDB, SILENT)))

    assert [(each.code, each) for each in found.faults] == [
        ('site-files-contradict', each)
        for each in ('two limits', 'sda True', 'sdb False')
    ]


FOUND, SKIPPED = Coded('slots-unread', 'slot 9'), Coded('file-skipped', 'a.txt')
TWIN = Coded('same-drive', 'sdb')


def test_notes_come_from_each_stage_and_from_version_1_6():
    run = run_of(
        given=options()._replace(before=Before(strays=('left',))),
        notes=(FOUND, SKIPPED),
    )
    run = run._replace(drives=run.drives._replace(notes=(TWIN,)))
    of_run = messages.messages(run)
    *others, stray = of_run['notes']

    assert others == [FOUND, TWIN] and stray.code == 'legacy-note'
    assert of_run['left_out'] == (SKIPPED,)


@pytest.mark.parametrize(
    'words, state', [((), State.WARNING), (('--history-required', 'ok'), State.OK)]
)
def test_a_damaged_file_of_the_history_has_a_state(monkeypatch, words, state):
    monkeypatch.setattr(Remembered, 'losses', ('damaged',))
    run = run_of(*words)

    assert messages.messages(run)['demands'] == ((state, 'damaged'),)


@pytest.mark.parametrize('waited, times', [(0.0, []), (2.34, [True])])
def test_a_verdict_says_how_long_another_check_held_the_drive(waited, times):
    [told] = surveyed(stage(Read(SDA, REPORT, waited=waited))).verdicts

    assert [' 2.3 s ' in note for note in told.notes if note.code == 'waited'] == times


# --- the whole ------------------------------------------------------------------------------------


def test_a_remark_of_several_drives_is_said_once():
    answers = [Read(device, SILENT, remark='renew the rule') for device in (SDA, SDB)]

    assert surveyed(stage(*answers)).remarks == ('renew the rule',)


def until_time_is_over(*answers: Read):
    """Return a function that yields these answers until the time limit passes."""

    def read_all(*_: object):
        yield from answers
        raise alarm.TimeIsOver('time limit of 55 s exceeded')

    return read_all


def test_what_was_not_read_in_time_says_so(monkeypatch):
    monkeypatch.setattr(machine, 'read_all', until_time_is_over(Read(SDB, REPORT)))
    found = surveyed(reads.finish(STARTED, settings.ReadSettings(), Runner(), 0))

    assert [verdict.code for verdict in found.verdicts] == ['not-reached', '']


STARTED = reads.Started(
    machine.DeviceList((SDA, SDB)), [machine.Plan(SDA, ()), machine.Plan(SDB, ())]
)


def test_the_time_limit_during_further_logs_costs_no_drive(monkeypatch):
    """They are judged without the logs that are missing."""

    class Logs:
        patience = 10.0

        def call(self, *_: object):
            raise alarm.TimeIsOver('time limit of 55 s exceeded')

        def joined(self, read: Read, answers: object) -> Read:
            return read

    answers = (Read(SDA, REPORT),)

    assert further_logs.joined(answers, [Logs()], Runner(), 0) == answers


def test_recorded_reports_that_were_not_read_in_time_are_counted(monkeypatch):
    def read_files(paths, found) -> None:
        found.append(Read(Device('/tmp/a.json', is_recorded=True), REPORT))
        raise alarm.TimeIsOver('time was over')

    monkeypatch.setattr(recorded, 'read_files', read_files)
    given = options('--report', '/tmp')
    found = surveyed(
        reads.finish(
            reads.Started(machine.DeviceList(())), settings.of_reads(given), Runner(), 0
        ),
        '--report',
        '/tmp',
    )

    assert found.faults[0].code == 'not-reached' and ' 1 recorded ' in found.faults[0]
    assert len(found.verdicts) == 1


def test_a_site_file_decides_before_reading_what_is_read(tmp_path):
    """A drive that reading can harm, and a log that must not be read."""
    (tmp_path / 'site.json').write_text(
        json.dumps(
            {
                'overrides': [
                    {
                        'for': {'device': '/dev/sda'},
                        'why': 'it loses data',
                        'read': False,
                    },
                    {
                        'for': {'device': '/dev/sdb'},
                        'why': 'old firmware',
                        'skip': ['selftest', 'error'],
                    },
                ]
            }
        )
    )
    plans = planned('--thresholds', str(tmp_path / 'site.json'), '--nosudo')

    assert [planned.device.path for planned in plans] == ['/dev/sdb']
    assert not {'selftest', 'error'} & set(
        ' '.join(plans[0].command).replace(',', ' ').split()
    )
