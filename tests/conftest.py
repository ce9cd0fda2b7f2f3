"""What several test files use."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import abilities
import pytest
import warm
from fake_smartctl import FakeSmartctl

from smart_attributes.errors import Coded, SmartError
from smart_attributes.output import codes

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / 'shared'
QUICK = ROOT / 'tests/quick.txt'
NOBODY = 65534
CODES = {'', *codes.BY_NAME}
OF_OTHERS = {'of-a-newer-version'}  # what tests let other versions report
# Seconds in which a program ends on any machine unless it waits for one that hangs; this is no
# measure of speed.
SOON = 15
# Files whose tests may take longer than 120 seconds: they install systems, start daemons or judge
# all drives.
SLOW = (
    'test_alarms',
    'test_ansible',
    'test_deb',
    'test_director',
    'test_fleet_icinga',
    'test_icinga',
    'test_kernel',
    'test_kernel_groups',
    'test_kernel_ocp',
    'test_nagios',
    'test_prometheus',
    'test_rpm',
    'test_zabbix',
)
# Where programs make sockets: the path of one has at most 107 characters, and TMPDIR may have more.
SOCKETS = '/tmp'
# The folder of state of all checks here: none of them may leave anything in the home of who runs
# the tests.
STATE_HOME = os.environ['XDG_STATE_HOME'] = tempfile.mkdtemp(
    prefix='check-smart-attributes-state-'
)
atexit.register(shutil.rmtree, STATE_HOME, ignore_errors=True)
# Containers set them: under a daemon, output that nobody flushes is lost; without compiled files,
# each process compiles all modules again, and each worker rewrites the assertions of all tests.
os.environ.pop('PYTHONUNBUFFERED', None)
os.environ.pop('PYTHONDONTWRITEBYTECODE', None)
sys.dont_write_bytecode = False


def listen_to(numbers: Iterable[signal.Signals]) -> None:
    """Let the programs under test start with each signal in force, also where pytest was started
    with it ignored.

    `nohup` ignores SIGHUP, a shell that runs a job in the background SIGINT. A handler is not
    inherited, "ignored" is; pytest itself still ignores the signal.
    """
    for number in numbers:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


listen_to((signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM))


def pytest_make_parametrize_id(config: pytest.Config, val: object) -> str | None:
    """Return one name for a set whatever the order of its items: xdist compares the tests of its
    workers.
    """
    return (
        ','.join(sorted(map(str, val))) if isinstance(val, (set, frozenset)) else None
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        '--write-passed',
        metavar='FILE',
        type=Path,
        help='write the tests that pass to a file',
    )
    parser.addoption(
        '--without',
        metavar='FILE',
        type=Path,
        help='leave out the tests in a file of --write-passed',
    )
    parser.addoption(
        '--quick',
        action='store_true',
        help='run one case of each function in tests/quick.txt, which tools/quick.py writes',
    )


class Passed:
    """The tests that pass in a run, by their IDs."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == 'call' and report.passed:
            self.ids.append(without_group(report.nodeid))


def first_cases(
    items: list[pytest.Item], functions: frozenset[str]
) -> list[pytest.Item]:
    """Return the first case of each of the functions: "tests/test_x.py::test_y"."""
    cases: dict[str, pytest.Item] = {}
    for item in items:
        function = item.nodeid.partition('[')[0]
        if function in functions:
            cases.setdefault(function, item)
    return list(cases.values())


def without_group(node: str) -> str:
    """Return the ID of a test without the name of its group, which xdist adds."""
    return re.sub(r'@[\w-]+$', '', node)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Passed(), 'passed')


def pytest_sessionfinish(session: pytest.Session) -> None:
    file = session.config.getoption('write_passed')
    if file and 'PYTEST_XDIST_WORKER' not in os.environ:
        file.write_text(
            '\n'.join(session.config.pluginmanager.get_plugin('passed').ids)
        )


@pytest.fixture(autouse=True)
def listed_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the line that makes a sentence or an error with a code that codes.json does not list."""
    make, start = Coded.__new__, SmartError.__init__

    def made(cls: type[Coded], code: str, text: str, **fields: Any) -> Coded:
        assert code in CODES or code in OF_OTHERS, (
            f'{code!r} is not in codes.json: {text}'
        )
        return make(cls, code, text, **fields)

    def started(self: SmartError, why: str, code: str = '', step: str = '') -> None:
        assert code in CODES, f'{code!r} is not in codes.json: {why}'
        start(self, why, code, step)

    monkeypatch.setattr(Coded, '__new__', made)
    monkeypatch.setattr(SmartError, '__init__', started)


@pytest.fixture(autouse=True)
def signal_handlers() -> Iterator[None]:
    """Restore the signal handlers that a test leaves: under ours, multiprocessing cannot end its
    workers.
    """
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    }
    yield
    for number, handler in before.items():
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.fixture(autouse=True)
def state_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder of state of each test's own: what one test's drives said is nothing that
    another's have grown from.
    """
    folder = tempfile.mkdtemp(dir=STATE_HOME)
    monkeypatch.setenv('XDG_STATE_HOME', folder)
    yield folder


class Result(NamedTuple):
    """What a daemon sees of a plugin."""

    code: int
    text: str

    @property
    def first_line(self) -> str:
        return self.text.splitlines()[0]

    def line_of(self, drive: str) -> str:
        """Return the line of one drive."""
        return next(
            line
            for line in self.text.splitlines()[1:]
            if re.match(rf'[A-Z]+ +{re.escape(drive)} ', line)
        )


class Value(NamedTuple):
    """One value of perfdata."""

    number: float
    unit: str
    warning: str
    critical: str
    minimum: str
    maximum: str


NUMBER = r'-?[0-9]+(?:\.[0-9]+)?'
RANGE = rf'(?:@?(?:(?:{NUMBER}|~):)?(?:{NUMBER})?)'
# Monitoring Plugins Development Guidelines, "Performance data": a quoted label,
# a number, a unit, two ranges, two numbers.
PERFDATA = re.compile(
    rf"'([a-z0-9_]+)'=({NUMBER})(|s|us|ms|%|B|c);({RANGE});({RANGE});({NUMBER})?;({NUMBER})?"
)


def perfdata(text: str) -> dict[str, Value]:
    """Parse a plugin's output as strictly as the guidelines allow; a label twice is a mistake."""
    lines = text.splitlines()
    with_bar = [line for line in lines if '|' in line]
    assert len(with_bar) <= 1, 'all perfdata stands on one line'
    if not with_bar:
        return {}
    assert with_bar == lines[-1:] and with_bar[0].startswith('| '), (
        'perfdata is the last line'
    )
    found: dict[str, Value] = {}
    for token in with_bar[0][2:].split(' '):
        match = PERFDATA.fullmatch(token)
        assert match, f'{token!r} is no perfdata'
        label, number, unit, warning, critical, minimum, maximum = match.groups()
        assert label not in found, f'{label} stands twice'
        found[label] = Value(
            float(number), unit, warning, critical, minimum or '', maximum or ''
        )
    return found


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Spare the collector, and each fork of a test, what collecting makes: it has no cycles and
    stays until the end.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Let one worker rewrite the assertions of a file, while the others wait for what it writes."""
    with contextlib.ExitStack() as locked:
        if 'PYTEST_XDIST_WORKER' in os.environ and isinstance(collector, pytest.Module):
            fcntl.flock(locked.enter_context(collector.path.open()), fcntl.LOCK_EX)
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Fail what is skipped for want of a program where all are promised: `.ci/run` installs them
    and sets TEST_DAEMONS.
    """
    outcome = yield
    report = outcome.get_result()
    if (
        report.skipped
        and 'TEST_DAEMONS' in os.environ
        and re.search('not installed|missing', str(report.longrepr))
    ):
        report.outcome = 'failed'


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Let tests that share a fixture of their module run on one worker of pytest-xdist, which
    sets it up once.
    """
    if config.getoption('without'):
        passed = set(config.getoption('without').read_text().splitlines())
        config.hook.pytest_deselected(
            items=[item for item in items if item.nodeid in passed]
        )
        items[:] = [item for item in items if item.nodeid not in passed]
    if config.getoption('quick'):
        items[:] = first_cases(items, frozenset(QUICK.read_text().split()))
    for item in items:
        fixtures = item._fixtureinfo.name2fixturedefs.values()
        if item.path.stem in SLOW or 'released' in item._fixtureinfo.name2fixturedefs:
            item.add_marker(pytest.mark.timeout(3600))
        if not item.get_closest_marker('xdist_group') and any(
            each[-1].scope == 'module' for each in fixtures
        ):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture(scope='session')
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel, the source archive and the single-file program, built once for
    all workers.
    """
    if subprocess.run(
        ['git', 'rev-parse'], cwd=ROOT, capture_output=True, check=False
    ).returncode:
        pytest.skip(
            'wheel and single-file program are not tried: this is no clone, so their version is '
            'not known'
        )
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if 'PYTEST_XDIST_WORKER' in os.environ else own) / 'released'
    folder.mkdir(exist_ok=True)
    with (folder / '.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / 'check_smart_attributes.pyz').exists():
            build_into(folder)
    return folder


def build_into(folder: Path) -> None:
    """Run `make zipapp`, without the options of the `make` that runs these tests."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(('MAKE', 'MFLAGS'))
    }
    made = subprocess.run(
        ['make', '--silent', 'zipapp', f'DIST={folder}'],
        cwd=ROOT,
        env=clean,
        text=True,
        timeout=600,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if made.returncode and 'onnection' in made.stdout:
        pytest.skip(
            'wheel and single-file program are not tried: no package index can be reached'
        )
    assert made.returncode == 0, made.stdout


@pytest.fixture(scope='session')
def loopback() -> None:
    """The loopback interface, for whatever talks to itself by TCP; a sandbox may have none
    (`unshare -n`).
    """
    try:
        with (
            socket.create_server(('127.0.0.1', 0)) as server,
            socket.create_connection(server.getsockname(), 5),
        ):
            pass
    except OSError as error:
        pytest.skip(
            f'not tried: the loopback interface is missing ({error.strerror}); ip link set lo up'
        )


@pytest.fixture(scope='session')
def shared() -> Path:
    """The folder of real outputs and drives beside the project."""
    if not SHARED.exists():
        pytest.skip(
            '../shared is not here: real outputs and drives cannot be tested against'
        )
    return SHARED


@pytest.fixture
def fake(tmp_path: Path) -> FakeSmartctl:
    """A stand-in smartctl without any drives."""
    return FakeSmartctl(tmp_path / 'fake')


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that other users can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix='check-smart-attributes-'))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def run(
    *arguments: str,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    timeout: float = 60,
) -> Result:
    """Run the plugin as a daemon does: a process of its own, no terminal."""
    environment = {
        **warm.USUAL,
        'XDG_STATE_HOME': os.environ['XDG_STATE_HOME'],
        **(env or {}),
    }
    request = warm.Request(arguments, str(cwd or Path.cwd()), environment)
    if request.is_usual:
        code, output = warm.call(request, timeout)
        return Result(code, output.decode())
    done = subprocess.run(
        [sys.executable, '-I', str(ROOT / 'check_smart_attributes'), *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        timeout=timeout,
    )
    return Result(done.returncode, done.stdout.decode())


def run_in_parallel(most: int, *arguments: str) -> Result:
    """Run the plugin with another number of drives that are read at once."""
    code = (
        f'import sys; sys.path.insert(0, {str(ROOT)!r}); from smart_attributes import constants; '
        f'constants.PARALLEL = {most}; from smart_attributes.main import main; main()'
    )
    done = subprocess.run(
        [sys.executable, '-I', '-c', code, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
    )
    return Result(done.returncode, done.stdout.decode())


def run_tool(module: str, *arguments: str) -> Result:
    """Run a tool of this project as a contributor does, in the folder of the project."""
    done = subprocess.run(
        [sys.executable, '-m', module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=ROOT,
        timeout=300,
    )
    return Result(done.returncode, done.stdout.decode())


def run_as_nobody(code: str, *arguments: str) -> Any:
    """Run Python code as a user without rights; returns what it prints as JSON."""
    done = subprocess.run(
        [
            *abilities.AS_NOBODY,
            '/usr/bin/python3',
            '-I',
            '-B',
            '-c',
            f'import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}',
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def texts(notes: Iterable[dict[str, Any]]) -> list[str]:
    """Return the sentences of notes of a JSON document."""
    return [note['text'] for note in notes]


def drive(name: str) -> bytes:
    """Return the recorded output of one of tests/reports."""
    return next((ROOT / 'tests/reports').glob(f'{name}.*')).read_bytes()


def drive_path(name: str) -> str:
    """Return the file of one of tests/reports."""
    return str(next((ROOT / 'tests/reports').glob(f'{name}.*')))


def wait_until_idle(pid: int) -> None:
    """Wait until a process has used at most 0.03 s of CPU within a second: one that wants to run gets
    more, also on a busy machine.
    """
    end = time.monotonic() + 60
    before = -1000
    while time.monotonic() < end:
        fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
        ticks = int(fields[11]) + int(fields[12])  # of 0.01 s, in user and kernel mode
        if ticks - before <= 3:
            return
        before = ticks
        time.sleep(1)
    raise AssertionError('the process never waits')
