"""A drive that hangs costs one process, not one a check; the folder of state, and who may write there."""
from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import stat
import time
from pathlib import Path

import pytest
from conftest import NOBODY, drive, run, run_as_nobody
from fake_smartctl import IGNORES_SIGTERM, FakeSmartctl

from smart_attributes import state_folder
from smart_attributes.reading import commands, waiting
from smart_attributes.reading.commands import read_arguments
from smart_attributes.reading.waiting import Earlier, Waiting

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason='only root can become another user')
SDA = read_arguments('/dev/sda')


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A folder of state."""
    folder = tmp_path / 'state'
    folder.mkdir()
    return folder


def lock(fake, state, pid=4711, since=None):
    """Hold the lock that a process of an earlier check would hold."""
    taken = Waiting(str(state)).begin((fake.path, *SDA))
    os.pwrite(taken, b'%d %d\n' % (pid, time.time() if since is None else since), 0)
    return taken


def check(fake, state, *arguments):
    return run('-p', fake.path, '--nosudo', '--state-dir', str(state), '-d', '/dev/sda', *arguments)


# A check

@needs_root
def test_five_checks_of_a_stuck_drive_leave_one_process(open_place):
    """State D is not to be had here; a process that nobody may kill is as good: through sudo it is root's."""
    if not shutil.which('setpriv') or os.statvfs(open_place).f_flag & os.ST_NOSUID:
        pytest.skip(f'setpriv is not installed, or {open_place} is mounted nosuid')
    as_root = open_place / 'as-root'
    shutil.copy(shutil.which('setpriv'), as_root)
    os.chown(as_root, 0, NOBODY)
    as_root.chmod(0o4710)
    fake = FakeSmartctl(open_place / 'fake')
    stuck = fake.answers(SDA, before=f'exec {as_root} --reuid=0 sleep 60')
    (open_place / 'fake' / 'calls').touch()
    (open_place / 'fake' / 'calls').chmod(0o666)
    (open_place / 'state').mkdir()
    os.chown(open_place / 'state', NOBODY, NOBODY)
    code = '''import json, time
from smart_attributes.reading.processes import Runner
from smart_attributes.reading.waiting import Waiting
told = []
for _ in range(5):
    runner = Runner(Waiting(sys.argv[2]))
    command = tuple(json.loads(sys.argv[1]))
    told += [(a.outcome, a.reason) for a in runner.run([command], 10, 0.6, time.monotonic() + 20)]
    runner.close()
print(json.dumps(told))'''

    told = run_as_nobody(code, json.dumps(stuck), str(open_place / 'state'))

    pids = fake.pids()
    owner = Path(f'/proc/{pids[0]}').stat().st_uid
    os.killpg(pids[0], 9)
    assert owner == 0 and len(pids) == 1
    assert [outcome for outcome, _ in told] == ['timeout', *['busy'] * 4]
    assert re.fullmatch(rf'still waiting since [0-2][0-9]:[0-5][0-9] \(process {pids[0]}\)', told[1][1])


def test_nothing_is_sent_to_a_drive_that_an_earlier_check_still_waits_for(fake, state):
    """A further command into a controller that is in trouble makes it worse; who waits, and since when, is told at
    once.
    """
    fake.answers(SDA, drive('intel-worn'))
    since = time.time() - 3600
    held = lock(fake, state, since=since)

    started = time.monotonic()
    result = check(fake, state)

    os.close(held)
    assert result.code == 3 and fake.calls() == [] and time.monotonic() - started < 5
    clock = time.strftime('%H:%M', time.localtime(since))
    assert f'sda cannot be read: still waiting since {clock} (process 4711)' in result.first_line


def test_another_drive_is_read_meanwhile(fake, state):
    """One that hangs takes neither the others' turn nor their verdict."""
    fake.answers(SDA, drive('intel-worn'))
    fake.answers(read_arguments('/dev/sdb'), drive('hgst-failed'))
    held = lock(fake, state, since=time.time() - 3600)

    result = check(fake, state, '-d', '/dev/sdb', '--jobs', '1')

    os.close(held)
    assert result.code == 2 and result.line_of('sda').startswith('UNKNOWN')


def test_when_that_process_is_gone_the_drive_is_read_again(fake, state):
    """Nobody has to clear anything away."""
    fake.answers(SDA, drive('intel-worn'))
    os.close(lock(fake, state, since=time.time() - 3600))

    assert check(fake, state).code == 1


def test_a_check_that_runs_beside_this_one_is_waited_for(fake, state):
    """A service for all drives and one a drive meet at every drive; none of them hangs."""
    fake.answers(SDA, drive('intel-worn'))
    held = lock(fake, state)
    pid = os.fork()
    if not pid:
        time.sleep(0.8)
        os._exit(0)  # and with it the lock
    os.close(held)

    started = time.monotonic()
    result = check(fake, state)

    os.waitpid(pid, 0)
    assert result.code == 1 and time.monotonic() - started > 0.4


def test_one_that_is_beside_this_one_for_too_long_is_told(fake, state):
    """It hangs as well, and this check has a time limit."""
    fake.answers(SDA, drive('intel-worn'))
    held = lock(fake, state)

    result = check(fake, state, '--drive-timeout', '1')

    os.close(held)
    assert result.code == 3 and 'still waiting since' in result.first_line


def test_the_lock_stays_with_the_process_that_a_check_leaves_behind(fake, state):
    """It is its standard input, whoever else has ended; the file tells which process, and since when."""
    # the child in its own session survives our SIGKILL
    fake.answers(SDA, before="trap '' TERM; exec 3<&0; setsid sleep 3 <&3 & sleep 3")

    check(fake, state, '--drive-timeout', '0.5')

    [file] = (state / 'waiting').iterdir()
    with file.open() as opened, pytest.raises(BlockingIOError):
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    pid, since = map(int, file.read_text().split())
    assert pid == fake.pids()[0] and abs(time.time() - since) < 30


def test_a_scan_that_hangs_is_not_started_again(fake, state):
    """It asks every controller."""
    fake.answers('--json=c --scan', before=IGNORES_SIGTERM)
    held = Waiting(str(state)).begin((fake.path, *commands.SCAN))
    os.pwrite(held, b'4711 1', 0)

    result = run('-p', fake.path, '--nosudo', '--state-dir', str(state))

    os.close(held)
    assert result.code == 3 and 'still waiting since 1970-01-01' in result.first_line and fake.calls() == []


@pytest.mark.parametrize('is_full', [False, True])
def test_who_had_the_file_before_is_not_taken_for_who_has_it_now(fake, state, monkeypatch, is_full):
    """Between its lock and its first line a check has said nothing of itself; on a full disk nothing can be said."""
    os.close(lock(fake, state, since=1))
    if is_full:
        monkeypatch.setattr(os, 'pwrite', refused)

    held = Waiting(str(state)).begin((fake.path, *SDA))
    earlier = Waiting(str(state)).begin((fake.path, *SDA))

    os.close(held)
    assert isinstance(earlier, Earlier) and (earlier.pid, earlier.since) == (0, 0)


def refused(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize('content', [b'', b'x y', b'4711', b'1 2 3', b'\xff' * 100, b'-1 5'], ids=str)
def test_a_file_with_anything_else_in_it_still_tells_that_somebody_waits(fake, state, content):
    """A full disk writes nothing; the lock alone says enough."""
    held = lock(fake, state)
    os.ftruncate(held, 0)
    os.pwrite(held, content, 0)

    earlier = Waiting(str(state)).begin((fake.path, *SDA))

    os.close(held)
    assert isinstance(earlier, Earlier) and str(earlier) == 'an earlier check is still waiting for it'
    assert not earlier.is_stuck(0.1)


@pytest.mark.parametrize('make, words', [
    (lambda path: path.write_text(''), 'Not a directory'),
    (lambda path: None, 'No such file or directory'),
    (lambda path: (path.mkdir(), path.chmod(0o777)), 'is writable by others'),
], ids=['a-file', 'missing', 'writable-by-all'])
def test_without_a_folder_a_check_runs_as_ever_and_v_says_so(fake, tmp_path, make, words):
    """Nothing to keep is no reason not to judge."""
    fake.answers(SDA, drive('intel-worn'))
    make(tmp_path / 'state')

    quiet, told = check(fake, tmp_path / 'state'), check(fake, tmp_path / 'state', '-v')

    assert quiet.code == told.code == 1
    assert 'a drive that hangs' not in quiet.text
    assert re.search(f'note: a drive that hangs may cost a process with each check.*{words}', told.text)


# Files and folders

@needs_root
def test_root_and_nagios_take_turns(open_place):
    """A file that root made and nagios cannot open would end this for ever; nobody would notice."""
    state = open_place
    os.chown(state, NOBODY, NOBODY)

    os.close(Waiting(str(state)).begin(('/usr/sbin/smartctl', *SDA)))

    [file] = (state / 'waiting').iterdir()
    for path in (file, file.parent):
        assert (path.stat().st_uid, path.stat().st_gid) == (NOBODY, NOBODY)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (os.geteuid(), os.getegid()) == (0, 0)


@needs_root
@pytest.mark.parametrize('plant', ['file', 'folder'])
def test_a_link_that_nagios_plants_leads_root_nowhere(open_place, plant):
    """Root would empty the file that it points to, or make one in that folder."""
    state, treasure = open_place / 'state', open_place / 'treasure'
    state.mkdir()
    treasure.mkdir(mode=0o700)
    (treasure / 'file').write_text('precious')
    os.chown(state, NOBODY, NOBODY)
    if plant == 'folder':
        (state / 'waiting').symlink_to(treasure)
    else:
        (state / 'waiting').mkdir()
        (state / 'waiting' / '!dev!sda').symlink_to(treasure / 'file')

    begun = Waiting(str(state))

    assert begun.begin(('/usr/sbin/smartctl', *SDA)) == -1
    assert begun.why_not
    assert [path.name for path in treasure.iterdir()] == ['file'] and (treasure / 'file').read_text() == 'precious'


@needs_root
def test_a_folder_of_another_user_is_not_used(open_place):
    """Who owns it could make every drive look busy."""
    told = run_as_nobody('''import json
from smart_attributes.reading.waiting import Waiting
print(json.dumps(Waiting(sys.argv[1]).why_not))''', str(open_place))

    assert 'belongs to another user' in told


def test_where_the_folder_is(monkeypatch, tmp_path):
    """The package's, where there is one; else this user's own, which is made; named ones are not made."""
    monkeypatch.setattr(state_folder, 'PACKAGE', str(tmp_path / 'package'))
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path / 'home'))

    assert state_folder.location() == str(tmp_path / 'home' / 'check-smart-attributes')
    assert stat.S_IMODE(os.stat(state_folder.ready().path).st_mode) == 0o700
    with pytest.raises(state_folder.Unusable, match='--state-dir'):
        state_folder.ready(str(tmp_path / 'named'))
    (tmp_path / 'package').mkdir()
    assert state_folder.location() == str(tmp_path / 'package')
    assert state_folder.location('/x') == '/x'


def test_without_xdg_it_is_below_the_home(monkeypatch, tmp_path):
    """A relative XDG_STATE_HOME is to be ignored, says its specification."""
    monkeypatch.setattr(state_folder, 'PACKAGE', str(tmp_path / 'package'))
    monkeypatch.setenv('HOME', '/home/somebody')
    monkeypatch.setenv('XDG_STATE_HOME', 'relative')

    assert state_folder.location() == '/home/somebody/.local/state/check-smart-attributes'


@pytest.mark.parametrize('command, expected', [
    (('/usr/sbin/smartctl', *SDA), '!dev!sda'),
    (('/usr/bin/sudo', '-n', '/usr/sbin/smartctl', *SDA), '!dev!sda'),
    (('/usr/sbin/smartctl', *read_arguments('/dev/bus/0', 'sat+megaraid,6')), 'sat+megaraid,6@!dev!bus!0'),
    (('/usr/sbin/smartctl', *commands.SCAN), 'scan'),
    (('/opt/smartctl', *SDA), '!opt!smartctl@!dev!sda'),
])
def test_a_drive_has_one_file_whichever_logs_are_read_and_whoever_asks(command, expected):
    """An admin with ls sees which drive it is."""
    assert waiting.name(command) == expected


@pytest.mark.parametrize('one, other',
                         [('/dev/a!b', '/dev/a/b'), ('/dev/ä', '/dev/ö'), ('/dev/' + 'a' * 200, '/dev/b' + 'a' * 199)])
def test_two_paths_never_share_a_file(one, other):
    """And no name is too long for a file system."""
    names = [waiting.name(('/usr/sbin/smartctl', *read_arguments(path))) for path in (one, other)]

    assert names[0] != names[1] and all(len(name) < 200 and name.isascii() and '/' not in name for name in names)
