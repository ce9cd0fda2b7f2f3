"""What a survey decides beside the verdicts: who is wanted, what is said of history, what time took away."""
from __future__ import annotations

import json

import pytest
from conftest import STATE_HOME, drive

from smart_attributes.check import rulebook, run_messages, survey
from smart_attributes.check.history_access import Remembered
from smart_attributes.command_line.options import Naming, Options, Which
from smart_attributes.commands import table
from smart_attributes.errors import DriveAbsent, DriveAsleep, DriveError, UsageError
from smart_attributes.model import Device, Identity, Read, State, Verdict
from smart_attributes.reading import json_report, machine

SDA, SDB = Device('/dev/sda', name='sda'), Device('/dev/sdb', name='sdb')
REPORT = json_report.parse(drive('intel-s3500-healthy'))
SILENT = DriveError('is silent')


def options(*words: str):
    return table.parse(['--config', STATE_HOME, *words])


def judge(*words: str) -> rulebook.Judge:
    given = options('--no-history', *words)
    return rulebook.judge_of(given, rulebook.site_of(given.data, given.before))


def progress(*reads: Read, asked=(), **found) -> survey.Progress:
    made = survey.Progress()
    made.reads = list(reads)
    made.found = machine.DeviceList(tuple(asked) or tuple(read.device for read in reads), **found)
    return made


# --- who is wanted -----------------------------------------------------------------------------------

@pytest.mark.parametrize('which, kept', [
    (Which(), ['sda', 'sdb']), (Which(match=('sdb',)), ['sdb']), (Which(ignore=('sdb',)), ['sda']),
    (Which(match=('INTEL',)), ['sda', 'sdb']), (Which(ignore=('INTEL',)), ['sdb']),
    (Which(match=('sd',), ignore=('sda',)), ['sdb'])],
    ids=['all', 'match', 'ignore', 'model-silent-stays', 'ignored-model-silent-stays', 'both'])
def test_patterns_leave_over_what_they_match_and_what_they_cannot_decide(which, kept):
    """sda is an Intel drive; sdb did not answer, so a pattern of models leaves it in the check."""
    reads = [Read(SDA, REPORT), Read(SDB, SILENT)]

    assert [read.device.name for read in survey.wanted(reads, which, None, survey.Progress())] == kept


def test_a_pattern_is_asked_once_of_a_drive():
    """Names for the output change in between; the decision does not."""
    known = survey.Progress()
    known.wanted = {('/dev/sda', ''): False, ('/dev/sdb', ''): True}

    assert [read.device.name for read in survey.wanted([Read(SDA, REPORT), Read(SDB, REPORT)], Which(), None, known)
            ] == ['sdb']


@pytest.mark.parametrize('which, faults', [
    (Which(ignore=('sda',)), ('sda is checked although --match or --ignore may exclude it: time was over before the '
                              'patterns were matched; simplify these patterns',)),
    (Which(), ())], ids=['patterns', 'no-patterns'])
def test_a_drive_is_checked_where_time_was_over_before_its_pattern(which, faults):
    late = survey.Progress()
    late.late = 'time was over'

    assert len(survey.wanted([Read(SDA, REPORT)], which, None, late)) == 1
    assert late.faults == faults


def test_what_version_1_6_left_out_is_left_out():
    class Before:
        def leaves_out(self, read: Read) -> bool:
            return read.device == SDA

    kept = survey.wanted([Read(SDA, REPORT), Read(SDB, REPORT)], Which(), Before(), survey.Progress())  # type: ignore

    assert [read.device.name for read in kept] == ['sdb']


@pytest.mark.parametrize('words, paths', [
    ((), ['/dev/sda', '/dev/sdb']), (('--ignore', '/dev/sda'), ['/dev/sdb']),
    (('--match', 'sdb'), ['/dev/sda', '/dev/sdb']),
    (('--match', 'sdb', '--ignore', 'sda'), ['/dev/sdb'])])
def test_a_drive_is_not_read_if_its_address_already_leaves_it_out(words, paths):
    """--match may mean a model, so only --ignore decides before the answer."""
    plans = survey.plan([SDA, SDB], options('-p', '/usr/sbin/smartctl', '--nosudo', *words))

    assert [planned.device.path for planned in plans] == paths
    assert all(planned.command[0] == '/usr/sbin/smartctl' and planned.command[-1] == planned.device.path
               for planned in plans)


def test_a_pattern_that_is_no_expression_is_refused_before_anything_is_read():
    with pytest.raises(UsageError, match='is not a valid regular expression'):
        survey.plan([SDA], options('--nosudo', '--match', '('))


# --- what is said ------------------------------------------------------------------------------------

REMARK = 'no history: disk full; increases are not detected'


@pytest.mark.parametrize('words, trouble, said, demanded', [
    ((), '', (), ()), ((), 'disk full', (REMARK,), ()),
    (('--history-required', 'critical'), 'disk full', (), ((State.CRITICAL, REMARK),)),
    (('--history-required', 'ok'), 'disk full', (), ((State.OK, REMARK),)),
    (('--history-required', 'critical'), '', (), ())], ids=['all-well', 'remark', 'required', 'required-ok', 'usable'])
def test_history_that_cannot_be_used_is_said_once(words, trouble, said, demanded):
    """With a state where one is required, as a remark elsewhere."""
    given, history = options(*words), Remembered(trouble=trouble)

    assert run_messages.remarks(history, given, ()) == said
    assert run_messages.demanded(history, given) == demanded


def test_an_address_is_the_one_that_the_drive_was_reached_by():
    by_sat = SDA._replace(type='sat')

    assert survey._addressed([SDA, SDB], [Read(by_sat, REPORT)]) == [by_sat, SDB]


@pytest.mark.parametrize('waited, notes', [
    (0.0, ()), (2.34, ('waited 2.3 s for another check that was reading this drive',))])
def test_a_verdict_says_how_long_another_check_held_the_drive(waited, notes):
    given = Verdict(SDA, Identity(), State.OK, notes=('before',))
    told = survey._remembered(given, Read(SDA, REPORT, waited=waited), Remembered(), options())

    assert told.notes == ('before', *notes)


@pytest.mark.parametrize('outcome', [SILENT, DriveAsleep('sleeps'), DriveAbsent('is not there')])
def test_a_verdict_without_history_stays_as_it_is(outcome):
    given = Verdict(SDA, Identity(), State.UNKNOWN, problem='is silent')

    assert survey._remembered(given, Read(SDA, outcome), Remembered(), options()) == given


# --- the whole ---------------------------------------------------------------------------------------

def test_each_drive_that_was_read_has_its_verdict():
    read = progress(Read(SDA, REPORT), Read(SDB, SILENT), notes=('slot 9 was not read',))
    found = survey.judged(read, options(), judge())

    assert [(verdict.device.name, verdict.state) for verdict in found.verdicts] == [
        ('sda', State.OK), ('sdb', State.UNKNOWN)]
    assert [read.device.name for read in found.reads] == ['sda', 'sdb']
    assert (found.notes, found.failures, found.faults, found.remarks, found.demands) == (
        ('slot 9 was not read',), (), (), (), ())


def test_drives_of_the_same_serial_number_are_one():
    found = survey.judged(progress(Read(SDA, REPORT), Read(SDB, REPORT)), options(), judge())

    assert len(found.verdicts) == 1 and len(found.notes) == 1


@pytest.mark.parametrize('expected, failures', [(1, 0), (2, 1)])
def test_fewer_drives_than_expected_are_a_failure(expected, failures):
    found = survey.judged(progress(Read(SDA, REPORT)), options('--expect', str(expected)), judge())

    assert len(found.failures) == failures


def test_a_remark_of_several_drives_is_said_once():
    reads = [Read(device, SILENT, remark='renew the rule') for device in (SDA, SDB)]

    assert survey.judged(progress(*reads), options(), judge()).remarks == ('renew the rule',)


def test_a_scan_without_drives_says_that_there_is_none():
    found = survey.judged(progress(is_scan=True, is_whole=True), options(), judge())

    assert found.verdicts == () and found.nobody[1]


def test_what_was_not_read_in_time_says_so():
    late = progress(Read(SDA, REPORT), asked=(SDA, SDB))
    late.planned = [SDA, SDB]
    found = survey._so_far(late, options(), judge(), 'time limit of 55 s exceeded')

    assert [verdict.problem for verdict in found.verdicts] == ['', 'was not read: time limit of 55 s exceeded']


def test_recorded_reports_that_were_not_read_in_time_are_counted():
    late = survey.Progress()
    late.reads = [Read(Device('/tmp/a.json', name='a', is_recorded=True), REPORT)]
    found = survey._so_far(late, options('--report', '/tmp'), judge(), 'time was over')

    assert found.faults[0] == ('only 1 recorded reports were read: time was over; give fewer, or increase -t')
    assert len(found.verdicts) == 1


def test_a_person_who_waits_is_told_who_is_waited_for():
    told = []
    watched = survey.Progress(lambda done, waiting: told.append((done, waiting)))
    watched.planned, watched.reads = [SDA, SDB], [Read(SDA, REPORT)]
    survey._watched(watched)
    survey._watched(survey.Progress())

    assert told == [(1, ['sdb'])]


@pytest.mark.parametrize('label, outcome, is_judged', [
    ('device', REPORT, True), ('model', REPORT, False), ('device', SILENT, False)])
def test_a_drive_is_judged_early_only_if_nothing_else_can_change_its_verdict(label, outcome, is_judged):
    """Other names need all drives; one that is silent has no verdict of its own."""
    early = survey.Progress()
    early.judge = judge()
    survey._judge_meanwhile(Read(SDA, outcome), early, Options(naming=Naming(label)))

    assert bool(early.verdicts.formed) is is_judged


def test_a_site_file_decides_before_reading_what_is_read(tmp_path):
    """A drive that reading can harm, and a log that must not be read."""
    (tmp_path / 'site.json').write_text(json.dumps({'overrides': [
        {'for': {'device': '/dev/sda'}, 'why': 'it loses data', 'read': False},
        {'for': {'device': '/dev/sdb'}, 'why': 'old firmware', 'skip': ['selftest', 'error']}]}))
    plans = survey.plan([SDA, SDB], options('--thresholds', str(tmp_path / 'site.json'), '--nosudo'))

    assert [planned.device.path for planned in plans] == ['/dev/sdb']
    assert not {'selftest', 'error'} & set(' '.join(plans[0].command).replace(',', ' ').split())
