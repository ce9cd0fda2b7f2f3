"""Verdicts while others still think: as early as may be, and never other than what is known in
the end.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest
from conftest import ROOT, drive
from days import DAY, HOUR, START, Machine, disk

from smart_attributes import alarm
from smart_attributes.check import further_logs, rulebook, verdicts
from smart_attributes.check.history_access import Remembered
from smart_attributes.check.inventory import Inventory
from smart_attributes.check.survey import survey
from smart_attributes.command_line.options import Judging, Options
from smart_attributes.commands import table
from smart_attributes.errors import DataError, DriveAsleep, DriveError
from smart_attributes.history.past import Past, observations
from smart_attributes.history.series import History, Point
from smart_attributes.model import Device, Identity, Read, State, Verdict
from smart_attributes.reading import json_report, processes
from smart_attributes.reading.smartctl_calls import read_arguments

WWN = {'naa': 5, 'oui': 0xC50, 'id': 0x1A2B3C4D}
OF_A_DISK = Device('/dev/sda', name='sda')


@pytest.fixture
def machine(tmp_path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture(scope='module')
def judge() -> rulebook.Judge:
    options = table.understood(['--no-history', '--config', '/nonexistent'])[1]
    return rulebook.judge_of(options, rulebook.site_of(options.data, options.before))


@lru_cache
def read(name: str = 'micron-5200-healthy') -> Read:
    return Read(OF_A_DISK, json_report.parse(drive(name)))


def past_of(known: Verdict, by: float) -> Past:
    """Return a past in which each number of a drive was lower an hour ago."""
    return Past(
        {
            each.key: History(
                (Point(START - DAY, each.number - by), Point(START - HOUR, each.number - by)),
                START - HOUR,
            )
            for each in observations(judgement.reading for judgement in known.judgements)
        },
        START,
    )


@pytest.fixture
def formed_of(monkeypatch) -> list[Past | None]:
    """Return the past of each verdict that is formed."""
    pasts, form = [], verdicts.verdict
    monkeypatch.setattr(
        verdicts, 'verdict', lambda *given: (pasts.append(given[2]), form(*given))[1]
    )
    return pasts


def test_a_verdict_is_formed_once_of_the_same(judge, formed_of):
    """The first time while others think, the second time when all have answered."""
    formed = verdicts.Verdicts(judge, Options(), processes.Runner())

    assert formed.on(read(), None) is formed.on(read(), None)
    assert formed_of == [None]


@pytest.mark.parametrize(
    'before, now, is_formed_again',
    [
        (None, None, False),
        (Past({}, START), Past({}, START), False),
        (None, Past({}, START), True),
        (Past({}, START), None, True),
        (Past({}, START), Past({}, START + HOUR), True),
    ],
)
def test_a_verdict_holds_unless_the_past_is_another(judge, formed_of, before, now, is_formed_again):
    formed = verdicts.Verdicts(judge, Options(), processes.Runner())
    formed.on(read(), before)
    formed.on(read(), now)

    assert formed_of == [before, now][: 1 + is_formed_again]


def test_a_verdict_is_formed_anew_of_another_report(judge, formed_of):
    """That of the drive's other address was added."""
    formed = verdicts.Verdicts(judge, Options(), processes.Runner())
    early = formed.on(read(), None)
    failed = read().outcome._replace(smart_status=False)

    assert early.state is State.OK
    assert formed.on(read()._replace(outcome=failed), None).state is State.CRITICAL


def test_a_verdict_is_formed_anew_when_history_knows_otherwise_in_the_end(judge, formed_of):
    """What was expected of a drive's past is a guess until all have answered."""
    formed = verdicts.Verdicts(judge, Options(), processes.Runner())
    early = formed.on(read(), None)
    assert early.state is State.OK

    late = formed.on(read(), past_of(early, 14))

    assert formed_of == [None, past_of(early, 14)]
    assert late.state is State.WARNING and any(
        'grew by 14' in each.growth for each in late.judgements
    )
    assert formed.on(read(), None).state is State.OK


class Asked:
    """Further logs that keep what was asked, and know none of it."""

    def __init__(self) -> None:
        self.calls: list[tuple[Read, Past | None, bool]] = []

    def ask(self, *call: Any) -> bool:
        self.calls.append(call)
        return False

    def wait(self, *_: Any) -> None: ...

    def joined(self, reads: Any) -> Any:
        return reads


WITH_PAGE = Read(
    OF_A_DISK,
    json_report.parse(drive('nvme-worn'))._replace(
        identity=Identity('NVMe', 'INTEL SSDPF2KX076T1')
    ),
)
WITH_FARM = Read(OF_A_DISK, json_report.parse((ROOT / 'tests/farm/sata.json').read_bytes()))


@pytest.mark.parametrize(
    'read, is_for_a_person, every, is_asked',
    [
        (WITH_PAGE, False, 60, True),
        (WITH_PAGE, False, None, False),
        (WITH_PAGE, True, None, False),
        (WITH_PAGE._replace(device=OF_A_DISK._replace(is_recorded=True)), False, 60, False),
        (WITH_FARM, True, 60, True),
        (WITH_FARM, True, None, True),
        (WITH_FARM, False, 60, False),
        (read(), True, 60, False),
        (Read(OF_A_DISK, DriveError('is silent')), True, 60, False),
    ],
)
def test_a_drive_is_asked_for_a_further_log_if_it_has_one_that_the_run_may_read(
    judge, monkeypatch, read, is_for_a_person, every, is_asked
):
    logs, made = Asked(), []
    monkeypatch.setattr(further_logs, 'of_run', lambda *given: (made.append(given[3]), logs)[1])
    formed = verdicts.Verdicts(
        judge,
        Options(judging=Judging(vendor_logs=every)),
        processes.Runner(),
        **({'is_for_a_person': True} if is_for_a_person else {}),
    )
    for each in (read, read):
        formed.hear(each)

    assert (made, [call[0] for call in logs.calls]) == (
        [is_for_a_person] * is_asked,
        [read, read] * is_asked,
    )


@pytest.mark.parametrize(
    'known, is_written, is_stored',
    [(Past({}, START), True, True), (Past({}, START), False, False), (None, True, False)],
)
def test_a_log_is_asked_for_with_what_the_history_knows_of_the_drive(
    judge, monkeypatch, known, is_written, is_stored
):
    """is_stored: it will be known when the log was read."""
    logs = Asked()
    monkeypatch.setattr(further_logs, 'of_run', lambda *_: logs)
    monkeypatch.setattr(Remembered, 'is_written', is_written)
    for name in ('likely_past', 'past'):
        monkeypatch.setattr(
            Remembered,
            name,
            lambda _, asked: (
                known if asked in (WITH_PAGE.device, WITH_PAGE.outcome.identity) else None
            ),
        )
    monkeypatch.setattr(
        Remembered, 'keeps', lambda _, device: is_stored if device == WITH_PAGE.device else None
    )
    formed = verdicts.Verdicts(judge, Options(judging=Judging(vendor_logs=60)), processes.Runner())
    formed.hear(WITH_PAGE)
    formed.completed(Inventory((WITH_PAGE,), (), is_bare=False), 0)

    assert logs.calls == [(WITH_PAGE, known, is_stored)] * 2


def test_when_it_is_too_late_what_was_judged_stays_and_the_others_are_unknown(judge):
    """A drive that nobody judged is never well."""
    formed = verdicts.Verdicts(judge, Options(), processes.Runner())
    early = formed.on(read(), None)
    formed._late = 'time limit of 55 s exceeded'
    other = formed.on(read()._replace(device=Device('/dev/sdb', name='sdb')), None)

    assert formed.on(read(), None) is early
    assert (other.state, other.code) == (State.UNKNOWN, 'not-judged')
    assert '55 s' in other.problem


@pytest.mark.parametrize(
    'error, code, words',
    [
        (DataError('site.json: x'), 'site-file-mistake', 'site.json: x'),
        (alarm.TakesTooLong('5.5 s of'), 'judging-failed', '5.5 s of'),
        (KeyError('x'), 'internal-error', 'smartctl --json -x'),
    ],
)
def test_what_goes_wrong_with_one_drive_is_told_of_that_drive(judge, error, code, words):
    """By its name and its serial number; the others are judged."""

    class Broken:
        def identify(self, *_: object) -> None:
            raise error

    broken = judge._replace(database=Broken())  # type: ignore[arg-type]
    (told,) = verdicts.Verdicts(broken, Options(), processes.Runner()).of(
        Inventory((read(),), (), is_bare=False)
    )

    assert (told.state, told.code, told.device) == (State.UNKNOWN, code, OF_A_DISK)
    assert told.problem.endswith(words)
    assert told.identity.serial and told.identity == read().identity


def test_a_drive_that_gives_no_report_is_unknown_and_one_that_sleeps_is_well(judge):
    """Each with the words of what read it."""
    told = verdicts.verdict(read()._replace(outcome=DriveError('is silent')), judge, None)
    asleep = verdicts.verdict(read()._replace(outcome=DriveAsleep('is asleep')), judge, None)

    assert (told.state, told.problem, asleep.state) == (State.UNKNOWN, 'is silent', State.OK)


def is_judged_early(monkeypatch: pytest.MonkeyPatch, fake, tmp_path, *arguments: str) -> bool:
    """Return whether the verdict on the first of two drives was formed before the second one
    answered.
    """
    answered = tmp_path / 'answered'
    found: list[tuple[str, bool]] = []
    real = verdicts.verdict

    def noted(of: Read, *more: Any) -> Verdict:
        found.append((of.device.path, answered.exists()))
        return real(of, *more)

    monkeypatch.setattr(verdicts, 'verdict', noted)
    fake.answers(read_arguments('/dev/sda'), drive('micron-5200-healthy'))
    fake.answers(
        read_arguments('/dev/sdb'),
        drive('intel-s3500-healthy'),
        before=f'sleep 0.5; touch {answered}',
    )
    surveyed(fake, tmp_path, '-d', '/dev/sdb', *arguments)
    assert len(found) == len(dict(found)) == 2, 'each is judged once'
    return not dict(found)['/dev/sda']


def surveyed(fake, tmp_path, *arguments: str):
    """Return the survey of /dev/sda and of what *arguments* name."""
    runner = processes.Runner()
    words = ['-p', fake.path, '--nosudo', '--state-dir', str(tmp_path), '-d', '/dev/sda']
    try:
        return survey(table.understood([*words, *arguments])[1], runner)
    finally:
        runner.close()


@pytest.mark.parametrize(
    'arguments, is_early',
    [
        ([], False),  # a drive that history does not know
        (['--no-history'], True),  # no history
        (['--no-history', '--label', 'serial'], False),  # names that depend on all
    ],
)
def test_a_drive_is_judged_while_another_one_thinks(
    monkeypatch, fake, tmp_path, arguments, is_early
):
    """24 verdicts after the last answer would make all wait; what depends on all of them has to."""
    assert is_judged_early(monkeypatch, fake, tmp_path, *arguments) is is_early


def test_with_history_a_known_drive_is_judged_while_another_one_thinks(monkeypatch, fake, tmp_path):
    """Its past was read ahead, and is the same in the end."""
    fake.answers(read_arguments('/dev/sda'), drive('micron-5200-healthy'))
    found = surveyed(fake, tmp_path)
    found.history.keep(found.verdicts)

    assert is_judged_early(monkeypatch, fake, tmp_path)


def test_growth_that_was_seen_too_early_is_not_told(machine):
    """Alone the disk is the one that history knows; beside two that share half of its name each,
    nobody is.
    """
    machine.holds(sda={**disk(a199=212), 'wwn': WWN})
    assert machine.check(START).code == 0
    machine.holds(sda={**disk(a199=226), 'wwn': WWN})
    assert 'grew by 14' in machine.check(START + HOUR).first_line

    machine.holds(
        sda={**disk(a199=240), 'wwn': WWN}, sdb=disk(), sdc={**disk(serial=''), 'wwn': WWN}
    )
    result = machine.check(START + 2 * HOUR, '-v')

    assert result.code == 0 and 'grew' not in result.text
    assert 'cannot be distinguished' in result.text
