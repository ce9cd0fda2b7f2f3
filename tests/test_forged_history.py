"""What the user of the checks has written into history silences nothing that root checks.

Root must be able to run the plugin where nagios keeps history: what it finds there may add an
alarm, never take one.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import abilities
import nagiosplugin
import pytest
from conftest import NOBODY, ROOT, Result, perfdata
from days import (
    DAY,
    HOUR,
    START,
    Machine,
    asleep,
    command_at,
    disk,
    environment,
    failing,
)

pytestmark = [abilities.other_user, abilities.needs('setpriv')]

NOW = START + 400 * DAY
Document = dict[str, Any]
Change = Callable[[Document], Any]  # changes a document, or returns another one


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
                ROOT / part,
                self._program / part,
                ignore=shutil.ignore_patterns('__pycache__'),
            )
        shutil.copy(ROOT / 'attributes.json', self._program)
        shutil.copytree(
            Path(nagiosplugin.__file__).parent, self._program / 'nagiosplugin'
        )
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
                *abilities.AS_NOBODY,
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

    def forge(self, change: Change) -> None:
        """Change each file of the history as its owner can, with a right checksum."""
        for path in (self.state / 'history').glob('*.drive'):
            document = json.loads(path.read_bytes().partition(b'\n')[2])
            content = json.dumps(change(document) or document).encode()
            path.write_bytes(
                b'check_smart_attributes history 1 %08x\n%s\n'
                % (crc32(content, 1), content)
            )


@pytest.fixture
def machine(open_place: Path) -> Shared:
    """What nobody's check has remembered: a cable that was good, old sectors, a drive that
    fails, one awake.
    """
    found = Shared(open_place)
    found.holds(
        sda=disk(a199=212),
        sdb=disk('SERIAL02', a5=100, a197=20),
        sdc=failing('SERIAL03'),
        sdd=disk('SERIAL04'),
    )
    first = found.by_nobody(NOW - HOUR)
    assert first.code == 2 and 'no history' not in first.text, first.text
    found.holds(
        sda=disk(a199=226),
        sdb=disk('SERIAL02', a5=100, a197=20),
        sdc=failing('SERIAL03'),
        sdd=asleep(),
    )
    return found


def dated_back(document: Document) -> None:
    document['times'][0] = NOW - 300 * DAY  # the times of points count from it


def state_of(result: Result, drive: str) -> str:
    return result.line_of(drive).split()[0]


def test_age_that_only_another_users_history_tells_lowers_nothing(machine):
    """100 reallocated sectors of today, dated back: old ones for nobody's own check, new ones
    for root's.
    """
    machine.forge(dated_back)
    theirs, roots = machine.by_nobody(NOW), machine.check(NOW, '-v')

    assert state_of(theirs, 'sdb') == 'WARNING'
    assert 'reallocated 100' not in theirs.line_of('sdb')
    assert ' 300 days ago, warning' in roots.line_of('sdb')
    assert ' pending and reallocated ' in roots.text


def test_the_owners_own_history_and_roots_may_age(machine):
    """Only what another one could have written is doubted."""
    machine.forge(dated_back)
    for path in (machine.state, *machine.state.rglob('*')):
        os.chown(path, 0, 0)

    assert state_of(machine.check(NOW), 'sdb') == 'WARNING'


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


TWIN = ['ATA', 'ACME HD4000', '1.0', 'SERIAL03', '']
FORGERIES: dict[str, Change] = {
    'no-fields': lambda document: {'nothing': 0},
    'infinite': lambda document: document.update(times=[float('inf')] * 4),
    'no-series': lambda document: document.update(series=[]),
    'no-places': lambda document: document.update(places=[]),
    'ahead': lambda document: document['times'].__setitem__(1, NOW + 900 * DAY),
    'twins': lambda document: document.update(identity=TWIN),
    'perfdata': lambda document: document.update(
        identity=["OK | 'sdc_smart_status'=1\nSMART OK"] * 5
    ),
    'ok': lambda document: document.update(verdict=[0, '', '', NOW]),
}


@pytest.mark.parametrize('forgery', FORGERIES)
def test_whatever_is_written_there_hides_no_drive(machine, forgery):
    """Infinite numbers, times of the year 2029, texts with perfdata in them: none makes a drive
    look better.
    """
    machine.forge(FORGERIES[forgery])
    result = machine.check(NOW)

    assert result.code == 2
    assert state_of(result, 'sdb') in ('WARNING', 'CRITICAL')
    assert state_of(result, 'sdc') == 'CRITICAL'
    assert {state_of(result, 'sda'), state_of(result, 'sdd')} <= {'OK', 'WARNING'}
    assert perfdata(result.text)['sdc_smart_status'].number == 0
    assert 'SMART' not in [line[:5] for line in result.text.splitlines()[1:]]
