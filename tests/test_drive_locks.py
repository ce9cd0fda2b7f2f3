"""A drive that hangs costs one process, not one a check; the folder of state, and who may write
there.
"""

import errno
import fcntl
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import abilities
import pytest
from conftest import NOBODY, ROOT, drive, run, run_as_nobody
from fake_smartctl import FakeSmartctl

from smart_attributes import state_directory
from smart_attributes.reading import drive_locks, smartctl_calls
from smart_attributes.reading.drive_locks import Earlier, Waiting
from smart_attributes.reading.processes import Runner
from smart_attributes.reading.smartctl_calls import read_arguments

pytestmark = pytest.mark.xdist_group('time')

needs_root = abilities.other_user
SDA, SDB, SDC = map(read_arguments, ('/dev/sda', '/dev/sdb', '/dev/sdc'))
SMARTCTL = '/usr/sbin/smartctl'
NO_PROCESS = (1 << 22) + 1  # beyond the highest number that Linux gives


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A folder of state."""
    folder = tmp_path / 'state'
    folder.mkdir()
    return folder


def uptime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def long_ago() -> float:
    """Return the age of a lock of a check that is long over, in seconds: ten minutes, or since
    this machine started.
    """
    return min(600, uptime() - 5)


def lock(fake, state, age=0.0):
    """Hold the lock that a process of another check would hold. age: seconds since it began."""
    taken = Waiting(str(state)).begin((fake.path, *SDA))
    os.pwrite(taken, b'%d %d\n' % (NO_PROCESS, uptime() - age), 0)
    return taken


def words(fake, state, *arguments):
    return ['-p', fake.path, '--nosudo', '--state-dir', str(state), *arguments]


def check(fake, state, *arguments):
    return run(*words(fake, state, '-d', '/dev/sda', *arguments))


# A check


@needs_root
def test_five_checks_of_a_stuck_drive_leave_one_process_and_read_the_others(open_place):
    """State D is not to be had here; a process that nobody may kill is as good: through sudo it
    is root's. It is not waited for.
    """
    if not abilities.path_of('setpriv') or os.statvfs(open_place).f_flag & os.ST_NOSUID:
        pytest.skip(f'setpriv is not installed, or {open_place} is mounted nosuid')
    as_root = open_place / 'as-root'
    shutil.copy(abilities.path_of('setpriv'), as_root)
    os.chown(as_root, 0, NOBODY)
    as_root.chmod(0o4710)
    fake = for_all_users(open_place)
    commands = [
        fake.answers(SDA, before=f'exec {as_root} --reuid=0 sleep 60'),
        fake.answers(SDB, before='exit 0'),
    ]
    (open_place / 'state').mkdir()
    os.chown(open_place / 'state', NOBODY, NOBODY)
    code = """import json, time
from smart_attributes.reading.processes import Runner
told = []
for _ in range(5):
    runner = Runner()
    runner.lock_drives_in(sys.argv[2])
    commands = map(tuple, json.loads(sys.argv[1]))
    answers = {a.command[-1]: a for a in runner.run(commands, 0.6, time.monotonic() + 20)}
    told.append([*(answers[path].outcome for path in ('/dev/sda', '/dev/sdb')), answers['/dev/sda'].reason])
    runner.close()
print(json.dumps(told))"""

    told = run_as_nobody(code, json.dumps(commands), str(open_place / 'state'))

    [pid] = [
        pid for pid, call in zip(fake.pids(), fake.calls()) if call == ' '.join(SDA)
    ]
    owner = Path(f'/proc/{pid}').stat().st_uid
    os.killpg(pid, 9)
    assert owner == 0
    assert [outcomes for *outcomes, _ in told] == [
        ['timeout', 'done'],
        *[['busy', 'done']] * 4,
    ]
    assert re.search(rf' [0-2][0-9]:[0-5][0-9] \(process {pid}\)$', told[1][2])


def for_all_users(folder: Path) -> FakeSmartctl:
    """Return a stand-in that a user without rights can call."""
    fake = FakeSmartctl(folder / 'fake')
    (folder / 'fake' / 'calls').touch()
    (folder / 'fake' / 'calls').chmod(0o666)
    return fake


def test_a_drive_that_an_earlier_check_still_waits_for_is_left_alone_until_that_ends(
    fake, state
):
    """A further command into a controller that is in trouble makes it worse; who waits, and since
    when, is told at once. Other drives are read, and nobody has to clear anything away.
    """
    fake.answers(SDA, drive('intel-worn'))
    fake.answers(SDB, drive('hgst-failed'))
    since = time.time() - long_ago()
    held = lock(fake, state, age=long_ago())

    meanwhile = check(fake, state, '-d', '/dev/sdb')
    os.close(held)
    afterwards = check(fake, state)

    assert (meanwhile.code, afterwards.code) == (2, 1)
    assert fake.calls() == [' '.join(SDB), ' '.join(SDA)]
    # A minute can begin between the two looks at the clock.
    clocks = {
        time.strftime('%H:%M', time.localtime(since + late)) for late in (-1, 0, 1)
    }
    said = re.search(
        rf'^UNKNOWN .*\[process-hangs\] .* (\S+) \(process {NO_PROCESS}\)',
        meanwhile.line_of('sda'),
    )
    assert said and said[1] in clocks


def test_one_that_is_beside_this_one_for_too_long_is_told(fake, state):
    """It hangs as well, and this check has a time limit."""
    held = lock(fake, state)

    result = check(fake, state, '--drive-timeout', '0.5')

    os.close(held)
    assert result.code == 3 and '[process-hangs]' in result.text


def test_the_lock_stays_with_the_process_that_a_check_leaves_behind(fake, state):
    """It is its standard input, whoever else has ended; the file tells which process, and since
    when.
    """
    # the child in its own session survives our SIGKILL
    fake.answers(SDA, before="trap '' TERM; exec 3<&0; setsid sleep 3 <&3 & sleep 3")

    check(fake, state, '--drive-timeout', '0.5')

    [file] = [
        path
        for path in Path(Waiting(str(state)).path).iterdir()
        if not path.name.startswith(('history-', 'groups.'))
    ]
    with file.open() as opened, pytest.raises(BlockingIOError):
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    pid, start = map(int, file.read_text().split())
    assert pid == fake.pids()[0] and abs(uptime() - start) < 30


def test_a_scan_that_hangs_is_not_started_again(fake, state):
    """It asks every controller."""
    held = Waiting(str(state)).begin((fake.path, *smartctl_calls.SCAN))
    os.pwrite(held, b'%d %d\n' % (NO_PROCESS, uptime() - long_ago()), 0)

    result = run(*words(fake, state))

    os.close(held)
    assert (result.code, fake.calls()) == (3, [])
    assert (
        '[scan-failed]' in result.first_line
        and f'(process {NO_PROCESS})' in result.first_line
    )


@pytest.mark.parametrize('is_full', [False, True])
def test_who_had_the_file_before_is_not_taken_for_who_has_it_now(
    fake, state, monkeypatch, is_full
):
    """Between its lock and its first line a check has said nothing of itself; on a full disk
    nothing can be said.
    """
    os.close(lock(fake, state, age=long_ago()))
    if is_full:
        monkeypatch.setattr(os, 'pwrite', refused)

    held = Waiting(str(state)).begin((fake.path, *SDA))
    earlier = Waiting(str(state)).begin((fake.path, *SDA))

    os.close(held)
    assert isinstance(earlier, Earlier) and (earlier.pid, earlier.start) == (0, 0)


def refused(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    'content',
    [
        b'',
        b'x y\n',
        b'4711\n',
        b'1 2 3\n',
        b'-1 5\n',
        b'1 99999999999999999999999999999\n',
        b'4711 1',
        b'%d %d\n' % (NO_PROCESS, 1 << 33),
    ],
    ids=str,
)
def test_a_record_that_makes_no_sense_counts_as_none(fake, state, content):
    """The lock alone shows that somebody reads the drive.

    How long is not known, so it is never called hanging.
    """
    held = lock(fake, state)
    os.ftruncate(held, 0)
    os.pwrite(held, content, 0)

    earlier = Waiting(str(state)).begin((fake.path, *SDA))

    assert isinstance(earlier, Earlier) and (earlier.pid, earlier.start) == (0, 0)
    assert not earlier.is_stuck(0.1)
    if not content:
        result = check(fake, state, '--drive-timeout', '0.3', '-t', '4')
        assert result.code == 3 and '[in-use]' in result.text
    os.close(held)


@pytest.mark.parametrize('written', [5, 1 << 33], ids=['past', 'future'])
def test_the_age_of_a_process_is_the_kernels_word(fake, state, written):
    """A clock that was set, or a forged date, makes no process older or younger than it is."""
    held = lock(fake, state)
    os.pwrite(held, b'%d %d\n' % (os.getpid(), written), 0)

    earlier = Waiting(str(state)).begin((fake.path, *SDA))

    os.close(held)
    ticks = int(Path('/proc/self/stat').read_text().rpartition(')')[2].split()[19])
    began = ticks / os.sysconf('SC_CLK_TCK')
    assert isinstance(earlier, Earlier) and earlier.start == began
    assert earlier.is_stuck(0.01) and not earlier.is_stuck(uptime() - began + 60)


# Checks that meet


def test_five_checks_that_meet_at_two_slow_drives_call_none_of_them_hanging(
    fake, state
):
    """Each waits for a series of short processes, together longer than the limit of one drive,
    and reads then.
    """
    for arguments in (SDB, SDC):
        fake.answers(arguments, drive('intel-worn'), before='sleep 1')
    drives = ['-d', '/dev/sdb', '-d', '/dev/sdc']
    options = words(fake, state, *drives, '--drive-timeout', '3', '-t', '40')

    checks = [
        start([*job.split(), *options])
        for job in ('', '-vv', 'triage', 'metrics', '-v')
    ]
    texts = [each.communicate(timeout=60)[0] for each in checks]

    assert [each.returncode for each in checks] == [1, 1, 0, 0, 1], texts
    assert not [text for text in texts if re.search('process-hangs|in-use', text)]
    assert len(fake.calls()) == 10


@pytest.mark.parametrize(
    'seconds, options, pattern',
    [
        (1, ['-v'], r'note: waited [0-9.]+ s '),
        (
            9,
            ['-t', '4'],
            r'sda  -  \[in-use\] .* since \S+ \(process {pid}\); .*different times',
        ),
        (3, ['-t', '5'], r'\[in-use\] .* was using the'),
    ],
    ids=['waited', 'no-time-left', 'too-little-time-left'],
)
def test_a_check_that_begins_while_another_reads_calls_no_drive_hanging(
    fake, state, seconds, options, pattern
):
    """The other process is young; the next step is one of planning, not of hardware."""
    fake.answers(SDA, drive('intel-worn'), before=f'sleep {seconds}')
    first = start(words(fake, state, '-d', '/dev/sda'))
    while not fake.pids():
        time.sleep(0.01)

    second = check(fake, state, *options)

    assert first.communicate()[0] and first.returncode == 1
    assert second.code == (1 if options == ['-v'] else 3)
    assert re.search(pattern.replace('{pid}', str(fake.pids()[0])), second.text), (
        second.text
    )
    assert not re.search(r'\bhang|dying', second.first_line)


def test_two_addresses_of_one_drive_are_read_one_after_the_other(fake, tmp_path, state):
    """sat@PATH, a link and the path itself lead to one drive; none of them waits for another
    check.
    """
    path = tmp_path / 'sda'
    path.touch()
    runner = Runner()
    runner.lock_drives_in(str(state))
    lines = [
        fake.answers(read_arguments(str(path), kind), output=kind, before='sleep 0.3')
        for kind in ('', 'sat')
    ]

    answers = list(runner.run(lines, 5, time.monotonic() + 20))

    assert [(each.outcome, each.waited, each.stdout) for each in answers] == [
        ('done', 0, b''),
        ('done', 0, b'sat'),
    ]


def start(words):
    """Start the plugin as a daemon does."""
    return subprocess.Popen(
        [sys.executable, '-I', str(ROOT / 'check_smart_attributes'), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


# Files and folders


@pytest.fixture
def roots(monkeypatch, open_place) -> Path:
    """Root's folder of locks on a machine of its own; this process is root there and has no
    XDG_STATE_HOME.
    """
    monkeypatch.delenv('XDG_STATE_HOME')
    monkeypatch.setattr(state_directory, 'RUN', str(open_place / 'run'))
    monkeypatch.setattr(state_directory, 'PACKAGE', str(open_place / 'package'))
    return open_place / 'run' / 'waiting'


@needs_root
def test_a_lock_of_another_user_neither_silences_nor_delays_root(open_place, fake):
    """nagios locks every file below its own folder, and names pid 1, any date, or nothing."""
    fake.answers(SDA, drive('hgst-failed'))
    state = open_place / 'state'
    (state / 'waiting').mkdir(parents=True)
    names = ('!dev!sda', '0:0:0:0', 'scan')
    held = [(state / 'waiting' / name).open('w') for name in names]
    for file, text in zip(held, ('1 1\n', '1 99999999999999999999999999999', '')):
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(text)
        file.flush()
    for path in (state, *state.rglob('*')):
        os.chown(path, NOBODY, NOBODY)

    result = check(fake, state, '-v')

    assert result.code == 2 and 'waited' not in result.text
    assert fake.calls() == [' '.join(SDA)]


@needs_root
@pytest.mark.parametrize('given', ['', 'one', 'roots-own'])
def test_root_keeps_its_locks_where_only_root_can_write_whatever_state_dir_says(
    roots, open_place, given
):
    """One process for a drive that hangs, and nothing that another user could have put there."""
    for name in ('package', 'one', 'roots-own'):
        (open_place / name).mkdir()
        os.chown(open_place / name, 0 if name == 'roots-own' else NOBODY, -1)
    first = Waiting().begin((SMARTCTL, *SDA))

    second = Waiting(given and str(open_place / given)).begin((SMARTCTL, *SDA))

    os.close(first)
    assert isinstance(second, Earlier)
    [file] = roots.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, roots)] == [
        0o600,
        0o755,
    ]
    assert list(open_place.glob('*/waiting')) == [roots]


@needs_root
@pytest.mark.parametrize('plant', ['file', 'folder', 'mode', 'link'])
def test_root_uses_no_folder_of_locks_that_another_user_could_have_made(
    roots, open_place, plant
):
    """Neither nagios' own nor, in a sticky folder, a link that nagios planted there."""
    given, treasure = open_place / 'given', open_place / 'treasure'
    given.mkdir()
    given.chmod(0o1777)
    treasure.mkdir(mode=0o700)
    roots.parent.write_text('no folder')
    folder = given / 'waiting'
    folder.symlink_to(treasure) if plant == 'link' else folder.mkdir()
    if plant == 'file':
        (folder / '!dev!sda').symlink_to(treasure / 'file')
    elif plant == 'mode':
        folder.chmod(0o777)
    else:
        os.lchown(folder, NOBODY, NOBODY)

    waiting = Waiting(str(given))

    assert waiting.begin((SMARTCTL, *SDA)) == -1
    assert str(folder) in waiting.why_not and list(treasure.iterdir()) == []


@abilities.user_with_libraries
@pytest.mark.parametrize(
    'make, words_of_reason',
    [
        (lambda path: path.write_text(''), 'Not a directory'),
        (lambda path: None, 'No such file'),
        (lambda path: (path.mkdir(), path.chmod(0o777)), 'writable by others'),
        (lambda path: path.mkdir(), 'is not writable|Permission denied'),
    ],
    ids=['a-file', 'missing', 'writable-by-all', 'of-another'],
)
def test_without_a_folder_a_drive_is_judged_as_ever_with_a_note(
    open_place, make, words_of_reason
):
    """A home, a package and a named folder: none of them can be used."""
    fake = for_all_users(open_place)
    fake.answers(SDA, drive('intel-worn'))
    make(open_place / 'state')
    code = """import contextlib, io, json, os
from smart_attributes.main import run
os.environ.clear()
os.environ['HOME'] = '/nonexistent'
with contextlib.redirect_stdout(io.StringIO()) as printed:
    status = run(sys.argv[1:])
print(json.dumps([status, printed.getvalue()]))"""

    arguments = words(fake, open_place / 'state', '-d', '/dev/sda', '-v')
    status, text = run_as_nobody(code, *arguments)

    assert status == 1
    assert re.search(f'process behind: .*({words_of_reason})', text)


def test_where_the_folder_is(monkeypatch, tmp_path):
    """The package's, where there is one; else this user's own, which is made; named ones are not
    made. A relative XDG_STATE_HOME is to be ignored, says its specification.
    """
    monkeypatch.setattr(state_directory, 'PACKAGE', str(tmp_path / 'package'))
    monkeypatch.setenv('HOME', '/home/somebody')
    monkeypatch.setenv('XDG_STATE_HOME', 'relative')
    assert (
        state_directory.location('')
        == '/home/somebody/.local/state/check-smart-attributes'
    )

    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path / 'home'))
    assert state_directory.location('') == str(
        tmp_path / 'home' / 'check-smart-attributes'
    )
    assert stat.S_IMODE(os.stat(state_directory.ready('').path).st_mode) == 0o700
    with pytest.raises(state_directory.Unusable, match='--state-dir'):
        state_directory.ready(str(tmp_path / 'named'))
    (tmp_path / 'package').mkdir()
    assert state_directory.location('') == str(tmp_path / 'package')
    assert state_directory.location('/x') == '/x'


# Which drive it is

# A disk with its partition and its generic node, two volumes of a controller, an NVMe drive, and
# disks without a bus.
# Node -> its numbers, and what sysfs knows of them.
NODES = {
    'sda': (
        'block/8:0',
        'pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda',
    ),
    'sda1': (
        'block/8:1',
        'pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda/sda1',
    ),
    'sg0': (
        'char/21:0',
        'pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/scsi_generic/sg0',
    ),
    'sdb': (
        'block/8:16',
        'pci0000:00/0000:00:02.0/0000:02:00.0/host1/target1:2:0/1:2:0:0/block/sdb',
    ),
    'sdc': (
        'block/8:32',
        'pci0000:00/0000:00:02.0/0000:02:00.0/host1/target1:2:1/1:2:1:0/block/sdc',
    ),
    'nvme0': ('char/239:0', 'pci0000:00/0000:01:00.0/nvme/nvme0'),
    'nvme0n1': ('block/259:0', 'pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1'),
    'nvme0n1p1': (
        'block/259:1',
        'pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p1',
    ),
    'ng0n1': ('char/238:0', 'pci0000:00/0000:01:00.0/nvme/nvme0/ng0n1'),
    'vda': ('block/254:0', 'pci0000:00/0000:00:02.0/virtio1/block/vda'),
    'md0': ('block/9:0', 'virtual/block/md0'),
    'md1': ('block/9:1', 'virtual/block/md1'),
    'ram0': ('block/1:0', ''),
}


@pytest.fixture
def nodes(tmp_path, monkeypatch) -> Path:
    """Device nodes, links to them, and the sysfs of their machine."""
    monkeypatch.setattr(drive_locks, 'NODES', str(tmp_path / 'sys'))
    folder = tmp_path / 'dev'
    folder.mkdir()
    for name, (place, target) in NODES.items():
        if target:
            link = tmp_path / 'sys' / place
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(f'../../devices/{target}')
        kind, _, numbers = place.partition('/')
        mode = 0o600 | (stat.S_IFBLK if kind == 'block' else stat.S_IFCHR)
        try:
            os.mknod(folder / name, mode, os.makedev(*map(int, numbers.split(':'))))
        except PermissionError:
            pytest.skip('device nodes are not made: only root may, outside a container')
    (folder / 'by-id').symlink_to('sda')
    return folder


def name_of(path, kind='', *more):
    return drive_locks.drive_name((SMARTCTL, *read_arguments(path, kind, *more)))


@pytest.mark.parametrize(
    'expected, addresses',
    [
        (
            '0:0:0:0',
            'sda sda1 sg0 by-id sat@sda sat,12@sda scsi@sg0 sat@by-id ../dev/sda',
        ),
        ('nvme0', 'nvme0 nvme0n1 nvme0n1p1 ng0n1 nvme@nvme0 nvme,0x1@nvme0'),
        (
            'megaraid,6@host1',
            'megaraid,6@/dev/bus/1 megaraid,6@sdb megaraid,6@sdc sat+megaraid,6@/dev/bus/1 '
            'sat,auto+megaraid,6@sdb',
        ),
        ('megaraid,7@host1', 'megaraid,7@/dev/bus/1'),
        ('megaraid,6@host0', 'megaraid,6@/dev/bus/0 megaraid,6@sda'),
        ('usbjmicron,1@host0', 'usbjmicron,1@sda usbjmicron,x,1@sda'),
        ('1:2:0:0', 'sdb'),
        ('virtio1', 'vda'),
        ('md0', 'md0'),
        ('md1', 'md1'),
    ],
)
def test_a_drive_has_one_file_whatever_path_link_or_type_leads_to_it(
    nodes, expected, addresses
):
    """One process for a drive that hangs, not one a spelling."""
    names = set()
    for address in addresses.split():
        kind, _, path = address.rpartition('@')
        path = path if path.startswith('/') else f'{nodes}/{path}'
        command = read_arguments(path, kind)
        names |= {
            name_of(path, kind),
            name_of(path, kind, ('selftest',)),
            drive_locks.drive_name(('/usr/bin/sudo', '-n', SMARTCTL, *command)),
        }

    assert names == {expected}


@pytest.mark.parametrize(
    'path, kind, expected',
    [
        ('/nowhere/sda', '', '!nowhere!sda'),
        ('/nowhere/sda', 'sat', '!nowhere!sda'),
        ('/nowhere/sda', 'megaraid,6', 'megaraid,6@!nowhere!sda'),
    ],
)
def test_where_no_node_is_the_path_names_the_file(path, kind, expected):
    """As in the simulation of drives, and for a drive that has gone."""
    assert name_of(path, kind) == expected


def test_a_node_that_sysfs_does_not_know_is_named_by_its_path(nodes):
    """Some containers hide sysfs."""
    assert name_of(f'{nodes}/ram0').endswith('!dev!ram0')


def test_no_name_is_too_long_for_a_file_system():
    assert len(name_of('/dev/' + 'a' * 300)) == 250
