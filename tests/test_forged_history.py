"""What the user of the checks has written into history silences nothing that root checks.

Root must be able to run the plugin where nagios keeps history: what it finds there may add an
alarm, never take one.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import abilities
import nagiosplugin
import pytest
from conftest import NOBODY, ROOT, Result, perfdata
from days import DAY, HOUR, START, Machine, asleep, command_at, disk, environment
from test_forecasts import ssd

from smart_attributes.history import rows, upkeep

pytestmark = [abilities.other_user, abilities.needs('setpriv')]

NOW = START + 400 * DAY


class Shared(Machine):
    """A machine whose folder of state belongs to nobody, in nagios' place, and whose checks root
    runs, too.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        os.chown(self.state, NOBODY, NOBODY)
        self._program = folder / 'program'
        for part in ('smart_attributes', 'thresholds'):
            shutil.copytree(
                ROOT / part, self._program / part, ignore=shutil.ignore_patterns('__pycache__')
            )
        shutil.copy(ROOT / 'attributes.json', self._program)
        shutil.copytree(Path(nagiosplugin.__file__).parent, self._program / 'nagiosplugin')
        calls = folder / 'fake/calls'  # the stand-in notes there who called it
        calls.parent.mkdir()
        calls.touch()
        calls.chmod(0o666)

    def by_nobody(self, now: float, *options: str) -> Result:
        """Run a check as the owner of history."""
        words = [word for address in self._drives for word in ('-d', address)]
        command = command_at(now, *self.words(*words, *options), root=self._program)
        done = subprocess.run(
            [
                'setpriv',
                f'--reuid={NOBODY}',
                f'--regid={NOBODY}',
                '--clear-groups',
                '/usr/bin/python3',
                '-B',
                *command[1:],
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
            env=environment(),
            cwd='/',
        )
        return Result(done.returncode, done.stdout.decode())

    def forge(self, statements: str, is_summed: bool = True) -> None:
        """Change history as its owner can. is_summed: with the right checksums, as far as such
        tables have any.
        """
        forger = Forger(self.state / 'history/history.sqlite')
        forger.database.executescript(statements)
        with suppress(sqlite3.Error, ValueError, LookupError):
            if is_summed:
                upkeep.sum_points(
                    forger, [number for (number,) in forger.run('SELECT number FROM drive')]
                )
                rows.count(forger, 0, NOW)
        forger.database.commit()
        forger.database.close()


class Forger:
    """An open database for the functions that make checksums."""

    def __init__(self, path: Path) -> None:
        self.database = sqlite3.connect(path)

    def run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self.database.execute(statement, values).fetchall()

    def run_all(self, statement: str, given: list[tuple[object, ...]]) -> None:
        self.database.executemany(statement, given)


def failed() -> dict[str, Any]:
    return {**disk('SERIAL03'), 'smart_status': {'passed': False}}


@pytest.fixture
def machine(open_place: Path) -> Shared:
    """What nobody's check has remembered: a cable that was good, old sectors, a drive that
    fails, one awake.
    """
    found = Shared(open_place)
    found.holds(
        sda=disk(a199=212),
        sdb=disk('SERIAL02', a5=100, a197=20),
        sdc=failed(),
        sdd=disk('SERIAL04'),
    )
    first = found.by_nobody(NOW - HOUR)
    assert first.code == 2 and 'no history' not in first.text, first.text
    found.holds(
        sda=disk(a199=226), sdb=disk('SERIAL02', a5=100, a197=20), sdc=failed(), sdd=asleep()
    )
    return found


def state_of(result: Result, drive: str) -> str:
    return result.line_of(drive).split()[0]


def test_age_that_only_another_users_history_tells_lowers_nothing(machine):
    """100 reallocated sectors of today, dated back: old ones for nobody's own check, new ones
    for root's.
    """
    machine.forge(
        f'UPDATE point SET time = {NOW - 300 * DAY}; UPDATE drive SET first_read = '
        f'{NOW - 300 * DAY}'
    )
    theirs, roots = machine.by_nobody(NOW), machine.check(NOW, '-v')

    assert 'warning' in theirs.line_of('sdb') and 'reallocated 100, newest' not in theirs.line_of(
        'sdb'
    )
    assert 'reallocated 100, newest more than 300 days ago, warning above 40' in roots.line_of(
        'sdb'
    )
    assert (
        'the age of pending and reallocated in the history suppresses an alert only if'
        in roots.text
    )


def test_the_owners_own_history_and_roots_may_age(machine):
    """Only what another one could have written is doubted."""
    machine.forge(
        f'UPDATE point SET time = {NOW - 300 * DAY}; UPDATE drive SET first_read = '
        f'{NOW - 300 * DAY}'
    )
    for path in (machine.state, *machine.state.rglob('*')):
        os.chown(path, 0, 0)

    assert state_of(machine.check(NOW), 'sdb') == 'WARNING'


def test_a_time_left_that_another_users_history_makes_longer_is_not_believed(machine):
    """84 % used within 100 days ends in 19; history that says it has hardly grown for 80 of them
    puts nothing off.
    """
    asked = ('-w', 'endurance_time_left=30d:')
    machine.holds(sda=ssd(78, 20))
    machine.by_nobody(NOW)
    machine.holds(sda=ssd(84, 100))
    later = NOW + 80 * DAY

    assert [machine.by_nobody(later, *asked).code, machine.check(later + HOUR, *asked).code] == [
        0,
        1,
    ]


def test_growth_that_history_tells_is_an_alarm_whoever_wrote_it(machine):
    """It may add; root's next check and nobody's tell the same, and root leaves no file that
    nobody cannot write.
    """
    found = machine.check(NOW), machine.by_nobody(NOW + HOUR)

    assert [state_of(each, 'sda') for each in found] == ['WARNING', 'WARNING']
    assert {path.stat().st_uid for path in machine.state.rglob('*')} == {NOBODY}


def test_another_users_history_leaves_no_sleeping_drive_out_of_roots_check(machine):
    """It could give sdd the serial number of a drive that --ignore names."""
    asked = ('--ignore', 'SERIAL04')

    assert ' sdd ' not in machine.by_nobody(NOW, *asked).text
    assert state_of(machine.check(NOW + HOUR, *asked), 'sdd') == 'OK'


TIMES = (
    'drive.first_read',
    'drive.last_read',
    'place.first',
    'place.gone',
    'series.absent',
    'point.time',
    'point.gap',
)
NUMBERS = (*TIMES, 'point.number', 'series.pace', 'series.drive', 'place.drive')
TEXTS = (
    'drive.serial',
    'drive.model',
    'drive.wwn',
    'drive.protocol',
    'series.metric',
    'series.definition',
    'place.address',
    'fact.value',
)
NASTY = {
    'infinite': '9e999',
    'less-than-all': '-9e999',
    'huge': '9223372036854775807',
    'negative': '-1',
    'text': """'OK | ''sdc_smart_status''=1' || char(10) || 'SMART OK'""",
}
DAMAGE = {
    'no-tables': 'DROP TABLE point; DROP TABLE drive',
    'no-drives': 'DELETE FROM drive',
    'views': 'ALTER TABLE drive RENAME TO d; CREATE VIEW drive AS SELECT * FROM d',
    'newer': 'PRAGMA user_version = 99',
    'older': 'PRAGMA user_version = 0',
    'twins': 'INSERT INTO drive SELECT number + 9, protocol, model, firmware, serial, wwn, 1, 1, '
    'sum, seal '
    'FROM drive',
    'lost-when': "INSERT OR REPLACE INTO fact VALUES ('lost', 'never')",
    'lost-why': f"INSERT OR REPLACE INTO fact VALUES ('lost', {NOW}); "
    f"INSERT OR REPLACE INTO fact VALUES ('why', {NASTY['text']})",
    'ahead': f'UPDATE drive SET last_read = {NOW + 900 * DAY}',
}
FORGERIES = {
    **DAMAGE,
    **{
        f'{column}-{name}': 'UPDATE OR REPLACE {} SET {} = {}'.format(*column.split('.'), value)
        for column in (*NUMBERS, *TEXTS)
        for name, value in NASTY.items()
        if column in NUMBERS or name in ('text', 'negative')
    },
}


def forged_and_checked(
    machine: Shared, forgeries: list[str], is_summed: bool
) -> Iterator[tuple[str, Result]]:
    """Yield what root's check tells after each forgery of the same history."""
    saved = machine.folder / 'saved'
    shutil.copytree(machine.state, saved)
    for name in forgeries:
        shutil.rmtree(machine.state)
        shutil.copytree(saved, machine.state)
        for path in (machine.state, *machine.state.rglob('*')):
            os.chown(path, NOBODY, NOBODY)
        machine.forge(FORGERIES[name], is_summed)
        yield name, machine.check(NOW)


@pytest.mark.parametrize('is_summed', [True, False])
@pytest.mark.parametrize('part', range(4))
@pytest.mark.long
def test_whatever_is_written_there_hides_no_drive(machine, part, is_summed):
    """Infinite numbers, times of the year 10^11, texts with perfdata in them: none makes a drive
    look better.
    """
    for name, result in forged_and_checked(machine, list(FORGERIES)[part::4], is_summed):
        assert result.code == 2, f'{name}: {result.text}'
        assert (
            state_of(result, 'sdb') in ('WARNING', 'CRITICAL')
            and state_of(result, 'sdc') == 'CRITICAL'
        ), name
        assert state_of(result, 'sdd') in ('OK', 'WARNING') and state_of(result, 'sda') in (
            'OK',
            'WARNING',
        ), name
        assert perfdata(result.text)['sdc_smart_status'].number == 0, name
        assert not [line for line in result.text.splitlines()[1:] if line.startswith('SMART')], name
