"""The directory of a history: real child processes, whatever lies there, and disks that are
full, slow or dead.
"""

import errno
import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import abilities
import pytest
from test_history_store import NOBODY, START, as_nobody, theirs  # noqa: F401  (a fixture)

from smart_attributes import files, state_directory
from smart_attributes.constants import LARGEST_HISTORY
from smart_attributes.errors import HistoryUnusable
from smart_attributes.history import folder
from smart_attributes.history.folder import Contents

LOCKS = '/proc/locks'


@pytest.fixture
def state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> state_directory.StateDirectory:
    monkeypatch.setenv('XDG_STATE_HOME', str(tmp_path / 'home'))
    (tmp_path / 'state').mkdir()
    return state_directory.ready(str(tmp_path / 'state'))


@pytest.fixture
def path(state: state_directory.StateDirectory) -> Path:
    made = Path(folder.path_of(state))
    made.mkdir()
    return made


def read(
    state: state_directory.StateDirectory, seconds: float = 20, is_writing: bool = True
) -> Contents:
    return folder.contents_of(
        folder.reading_child(state.path, is_writing), time.monotonic() + seconds
    )


def written(
    state: state_directory.StateDirectory,
    replaced: Mapping[int, Mapping[str, bytes]] = {},
    set_aside: Collection[str] = (),
    seconds: float = 20,
) -> None:
    def work(path: str) -> int:
        folder.apply(path, replaced, set_aside, START)
        return 0

    folder.change(state.path, work, seconds)


def stored(path: Path) -> dict[str, bytes]:
    return {
        file.name: file.read_bytes()
        for file in path.iterdir()
        if file.name != folder.LOCK
    }


# --- reading --------------------------------------------------------------------------------------


def test_everything_that_a_check_needs_arrives(state, path):
    """More than a pipe holds; other files do not."""
    large = os.urandom(LARGEST_HISTORY)
    for name, content in {
        '1.drive': large,
        '2.drive': b'',
        '2.former': b'x',
        '3.former': b'y',
        '1.days': b'no',
        '01.drive': b'no',
        'x.drive': b'no',
        '4.damaged': b'no',
    }.items():
        (path / name).write_bytes(content)
    os.utime(path / '4.damaged', (START, START))
    found = read(state)

    assert found.is_complete and found.aside == {'4.damaged': START}
    assert {name: file.content for name, file in found.files.items()} == {
        '1.drive': large,
        '2.drive': b'',
        '2.former': b'x',
        '3.drive': b'',
        '3.former': b'y',
    }
    assert found.files['3.drive'].code == folder.MISSING


@pytest.mark.parametrize(
    'make, fault',
    [
        (lambda path: path.symlink_to('/etc/passwd'), 'a link'),
        (os.mkfifo, 'regular file'),
        (Path.mkdir, 'regular file'),
        (lambda path: (path.touch(), os.truncate(path, 1 << 40)), '128 kB'),
    ],
)
def test_what_is_no_small_file_is_not_read(state, path, make, fault):
    make(path / '1.drive')

    found = read(state).files['1.drive']
    assert fault in found.fault and found == folder.StoredFile(fault=found.fault)


def test_files_beyond_the_limit_are_not_read(state, path, monkeypatch):
    monkeypatch.setattr(folder, 'LARGEST_HISTORIES', 250_000)
    for number in range(1, 4):
        (path / f'{number}.drive').write_bytes(b'x' * 100_000)
        (path / f'{number}.former').write_bytes(b'x' * 100_000)
    found = read(state)

    assert sum(len(file.content) for file in found.files.values()) <= 250_000
    assert found.files['3.drive'].code == folder.TOO_MUCH


@pytest.mark.parametrize(
    'make, words',
    [
        (lambda path: path.chmod(0o777), 'writable by others'),
        (lambda path: _linked(path), 'is a link'),
        (lambda path: (path.rmdir(), path.write_text('')), 'Not a directory'),
        (lambda path: _crowded(path), 'has more than'),
    ],
)
def test_a_directory_that_cannot_be_used_has_a_reason(
    state, path, monkeypatch, make, words
):
    monkeypatch.setattr(folder, 'MOST_HISTORY_FILES', 3)
    make(path)

    assert words in read(state, is_writing=False).fault
    with pytest.raises(HistoryUnusable):
        folder.change(state.path, lambda path: len([*folder.stored_files(path)]), 20)


def _linked(path: Path) -> None:
    path.rename(path.parent / 'elsewhere')
    path.symlink_to('elsewhere')


def _crowded(path: Path) -> None:
    for number in range(5):
        (path / str(number)).touch()


def test_who_only_looks_makes_nothing(state):
    found = read(state, is_writing=False)

    assert 'does not exist' in found.fault and not os.path.exists(folder.path_of(state))


# --- processes ------------------------------------------------------------------------------------


def waits(seconds: float) -> None:
    """Stand for a disk that does not answer."""
    time.sleep(seconds)


def test_a_check_waits_no_longer_than_it_wants_and_takes_what_has_arrived(
    state, path, monkeypatch
):
    for number in (1, 2):
        (path / f'{number}.drive').write_bytes(b'x')
    reads = folder.read_file

    def slow(path: str, rest: int) -> folder.StoredFile:
        waits(30 if path.endswith('2.drive') else 0)
        return reads(path, rest)

    monkeypatch.setattr(folder, 'read_file', slow)
    found = read(state, 0.5)

    assert list(found.files) == ['1.drive'] and not found.is_complete


def test_one_child_at_most_waits_for_a_dead_disk(state, path, monkeypatch):
    """The others wait for its lock, where they can be killed."""
    with monkeypatch.context() as dead:
        dead.setattr(folder, '_names', lambda path: waits(30))
        first = folder.reading_child(state.path, True)
    while not _held():
        time.sleep(0.01)
    second = folder.reading_child(state.path, True)
    assert not second.wait(time.monotonic() + 0.3) and not list(second.messages())
    os.kill(first._pid, signal.SIGKILL)

    assert folder.contents_of(second, time.monotonic() + 20).is_complete
    first.leave(ends=True)


def _held() -> bool:
    """Return whether a child of this process holds a lock."""
    return any(f' {pid} ' in Path(LOCKS).read_text() for pid in _children())


def _children() -> list[str]:
    return Path(f'/proc/self/task/{os.getpid()}/children').read_text().split()


def test_a_child_that_cannot_write_for_long_is_told_by_the_next_check(
    state, path, monkeypatch
):
    """Also where the disk no longer takes a mark."""
    lock = Path(state_directory.for_locks(state_directory.WAITING, state.path))
    monkeypatch.setattr(folder, 'LOCK_PATIENCE', 0.2)
    assert read(state).not_written == (0, '')
    written(state)
    [changed] = lock.glob(f'history-*.{folder.CHANGING}')
    with open(changed, 'r+b') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(HistoryUnusable, match='was killed'):
            written(state)

    since, why = read(state).not_written
    assert since > START / 2 and 'not answer' in why
    written(state)
    assert read(state).not_written == (0, '')


def test_a_lock_that_cannot_be_used_stops_no_history(state, path, monkeypatch):
    def unusable(*_: object) -> str:
        raise state_directory.Unusable('no place')

    monkeypatch.setattr(state_directory, 'for_locks', unusable)
    written(state, {1: {folder.DRIVE: b'x'}})

    assert read(state).files['1.drive'].content == b'x'


def test_a_child_has_nothing_of_its_check(state, path):
    """No file, no pipe of a daemon, no handler of a signal; its standard output is no file of
    the history.
    """
    kept = os.open('/dev/zero', os.O_RDONLY)
    os.set_inheritable(kept, True)
    before = signal.signal(signal.SIGTERM, lambda *_: None)

    def work(path: str) -> int:
        links = []
        for number in range(200):
            with suppress(OSError):
                links.append(os.readlink(f'/proc/self/fd/{number}'))
        assert links[:3] == ['/dev/null'] * 3, links
        assert not [link for link in links if link == '/dev/zero'], links
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        return len(links)

    try:
        assert folder.change(state.path, work, 20) <= 6
    finally:
        signal.signal(signal.SIGTERM, before)
        os.close(kept)


def test_no_process_is_left(state, path):
    before = _children()
    for _ in range(3):
        read(state)
        written(state)

    assert set(_children()) <= set(before)


def test_a_check_that_ignores_the_end_of_processes_gets_its_answer(state, path):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        written(state)
        assert read(state).is_complete
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.parametrize('what', ['pipe', 'fork'])
def test_where_no_process_can_be_started_there_is_a_reason(
    state, path, monkeypatch, what
):
    def refused() -> None:
        raise OSError(errno.EMFILE, 'Too many open files')

    monkeypatch.setattr(os, what, refused)

    assert 'Too many' in read(state).fault
    with pytest.raises(HistoryUnusable, match='Too many'):
        written(state)


@pytest.mark.parametrize(
    'work, words',
    [
        (lambda path: os.kill(os.getpid(), signal.SIGKILL), 'was killed'),
        (lambda path: time.sleep(30), 'within 0.5 s'),
        (lambda path: 1 // 0, 'ZeroDivisionError'),
    ],
)
def test_a_child_that_fails_has_a_reason(state, path, work, words):
    before = _children()
    with pytest.raises(HistoryUnusable, match=words):
        folder.change(state.path, work, 0.5)
    for child in set(_children()) - set(before):
        os.kill(int(child), signal.SIGKILL)


# --- changing -------------------------------------------------------------------------------------


def test_files_are_replaced_and_the_former_version_stays_beside(state, path):
    for content in (b'1', b'2', b'3'):
        written(state, {7: {folder.DAYS: b'd' + content, folder.DRIVE: content}})

    assert stored(path) == {'7.drive': b'3', '7.former': b'2', '7.days': b'd3'}
    assert {os.stat(path / name).st_mode & 0o777 for name in stored(path)} == {0o644}


def test_a_folder_in_the_place_of_a_file_stops_no_other_drive(state, path):
    (path / '2.drive').write_bytes(b'bad')
    (path / '2.damaged' / 'x').mkdir(parents=True)
    written(state, {1: {folder.DRIVE: b'new'}}, ['2.drive'])

    assert (path / '1.drive').read_bytes() == b'new'
    assert [*path.glob('2.drive.*.damaged')]


def test_damaged_files_are_set_aside(state, path):
    """A drive that no check reads any more loses its file."""
    for name in ('1.drive', '2.drive', '1.days'):
        (path / name).write_bytes(b'bad')
    (path / '1.former').write_bytes(b'good')
    written(
        state,
        {1: {folder.DAYS: b'new', folder.DRIVE: b'new'}},
        ['1.drive', '2.drive', '1.days', '9.drive'],
    )

    assert (path / '2.damaged').stat().st_mtime == START
    assert stored(path) == {
        '1.drive': b'new',
        '1.former': b'good',
        '1.days': b'new',
        '2.damaged': b'bad',
        '1.days.damaged': b'bad',
        '1.damaged': b'bad',
    }


def test_trouble_with_one_drive_costs_only_this_drive(state, path):
    (path / '1.drive').write_bytes(b'old')
    (path / '1.drive.new').mkdir()
    (path / '1.drive.new/x').touch()
    with pytest.raises(HistoryUnusable, match=r'drive\.new'):
        written(state, {number: {folder.DRIVE: b'new'} for number in (1, 2)})

    assert (path / '1.drive').read_bytes() == b'old' and (
        path / '2.drive'
    ).read_bytes() == b'new'
    assert '1.drive.new' in read(state).not_written[1]
    shutil.rmtree(path / '1.drive.new')
    written(state, {1: {folder.DRIVE: b'new'}})
    assert (
        read(state).not_written == (0, '') and (path / '1.drive').read_bytes() == b'new'
    )


@pytest.mark.parametrize(
    'owner, step',
    [
        (folder, '_write_file'),
        (files, 'flush'),
        (os, 'rename'),
        (os, 'link'),
        (os, 'fsync'),
    ],
)
def test_a_child_that_is_killed_at_any_step_leaves_old_or_new_files(
    state, path, monkeypatch, owner, step
):
    """And the next check writes as ever."""
    written(
        state,
        {number: {folder.DRIVE: b'old', folder.DAYS: b'older'} for number in (1, 2)},
    )
    works = getattr(owner, step)
    for turn in range(9):
        monkeypatch.setattr(owner, step, killed_after(turn, works))
        changes = {
            number: {folder.DAYS: b'newer', folder.DRIVE: b'new'} for number in (1, 2)
        }
        try:
            written(state, changes)
        except HistoryUnusable as error:
            assert 'was killed' in str(error)
        monkeypatch.setattr(owner, step, works)
        found = stored(path)
        assert {found[f'{number}.drive'] for number in (1, 2)} <= {b'old', b'new'}
        assert all(
            found[f'{number}.days'] == b'newer'
            for number in (1, 2)
            if found[f'{number}.drive'] == b'new'
        )
        written(
            state,
            {
                number: {folder.DRIVE: b'old', folder.DAYS: b'older'}
                for number in (1, 2)
            },
        )
        assert not [name for name in stored(path) if name.endswith('.new')]


def killed_after(turns: int, works: Callable[..., object]) -> Callable[..., object]:
    """Return a function that works so many times, and then kills its process."""
    left = iter(range(turns))

    def step(*arguments: object, **named: object) -> object:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return works(*arguments, **named)

    return step


def test_a_file_system_without_links_has_no_former_version(state, path, monkeypatch):
    def refused(*_: object, **named: object) -> None:
        raise OSError(errno.ENOTSUP, 'Operation not supported')

    monkeypatch.setattr(os, 'link', refused)
    for content in (b'1', b'2'):
        written(state, {7: {folder.DRIVE: content}})

    assert stored(path) == {'7.drive': b'2'}


def test_of_all_files_of_a_drive_its_former_version_is_removed_first(path, monkeypatch):
    """Else a drive that is forgotten could come back from it."""
    for name in (
        '7.drive',
        '7.former',
        '7.days',
        '7.damaged',
        '7.days.damaged',
        '7.drive.new',
        '77.drive',
        'lock',
    ):
        (path / name).touch()

    removed = []
    unlink = os.unlink
    monkeypatch.setattr(os, 'unlink', lambda path: (removed.append(path), unlink(path)))
    folder.remove(str(path), 7)

    assert (
        sorted(stored(path)) == ['77.drive']
        and os.path.basename(removed[0]) == '7.former'
    )


# --- disks ----------------------------------------------------------------------------------------


@pytest.fixture
def tmpfs(tmp_path: Path) -> Iterator[Path]:
    """A file system of 100 kB."""
    place = tmp_path / 'state'
    place.mkdir(exist_ok=True)
    if subprocess.run(
        ['mount', '-t', 'tmpfs', '-o', 'size=100k,mode=755', 'tmpfs', str(place)],
        check=False,
        stderr=subprocess.DEVNULL,
    ).returncode:
        pytest.skip('a tmpfs cannot be mounted here')
    yield place
    subprocess.run(['umount', str(place)], check=True)


@abilities.as_root
def test_a_full_disk_keeps_the_old_files_and_is_told_by_the_next_check(tmpfs):
    state = state_directory.ready(str(tmpfs))
    written(state, {number: {folder.DRIVE: b'old' * 5000} for number in (1, 2)})
    with pytest.raises(HistoryUnusable, match='is full'):
        written(
            state, {number: {folder.DRIVE: b'new' * 9000} for number in (1, 2, 3, 4)}
        )

    found = read(state)
    assert found.files['1.drive'].content in (b'old' * 5000, b'new' * 9000)
    assert found.not_written[0] > 0 and not list(tmpfs.glob('history/*.new'))


@abilities.as_root
def test_a_read_only_disk_is_told_before_the_answer(tmpfs):
    state = state_directory.ready(str(tmpfs))
    written(state, {1: {folder.DRIVE: b'x'}})
    subprocess.run(['mount', '-o', 'remount,ro', str(tmpfs)], check=True)

    assert 'cannot be written' in read(state).fault
    assert read(state, is_writing=False).files['1.drive'].content == b'x'


@abilities.as_root
def test_the_owner_of_the_directory_needs_no_file_of_the_program(theirs):  # noqa: F811
    """Root's check becomes another user, who may be unable to read the program: all modules are
    loaded before.
    """
    code = f"""
import sys, os, time
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
from smart_attributes import files, state_directory
from smart_attributes.history import folder
become = folder._become
def then_blind(state):
    become(state)
    sys.path[:] = []; sys.meta_path[:] = []
folder._become = then_blind
assert 'struct' not in sys.modules
state = state_directory.ready({str(theirs)!r})
def work(path):
    folder.apply(path, {{1: {{folder.DRIVE: b"x"}}}}, (), 1)
    return 0
folder.change(state.path, work, 20)
found = folder.contents_of(folder.reading_child(state.path, True), time.monotonic() + 20)
assert found.files["1.drive"].content == b"x" and found.is_complete, found
"""
    subprocess.run([sys.executable, '-S', '-c', code], check=True, timeout=60)
    assert {path.stat().st_uid for path in (theirs / 'history').iterdir()} == {NOBODY}


def test_a_file_of_another_user_is_read_if_it_may_be(theirs):  # noqa: F811
    """Root's file in nagios' folder."""
    as_nobody(
        lambda: written(state_directory.ready(str(theirs)), {1: {folder.DRIVE: b'x'}})
    )
    os.chown(theirs / 'history/1.drive', 0, 0)

    def replaced() -> None:
        state = state_directory.ready(str(theirs))
        assert read(state).files['1.drive'].content == b'x'
        written(state, {1: {folder.DRIVE: b'y'}})

    as_nobody(replaced)
    assert (theirs / 'history/1.drive').read_bytes() == b'y'


def test_reading_takes_little_memory(state, path):
    for number in range(24):
        (path / f'{number}.drive').write_bytes(os.urandom(LARGEST_HISTORY))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    found = read(state)

    assert found.is_complete and len(found.files) == 24
    # kB
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before < 60 << 10
