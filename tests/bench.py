"""The cost of a check: run by `make bench`, never by the tests.

Each figure is a median of paired runs: the plugin, then smartctl alone with the
same arguments, in turn, so that a machine that gets slower is slower for both.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Callable, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'tests')]

import bench_bed  # noqa: E402
import bench_history  # noqa: E402
import bench_program  # noqa: E402
import bench_pythons  # noqa: E402
import bench_vendor_logs  # noqa: E402
import block_tree  # noqa: E402
import fake_smartctl  # noqa: E402
import performance  # noqa: E402
import smartctl_output  # noqa: E402

from smart_attributes.knowledge import drive_database, shipped_data  # noqa: E402
from smart_attributes.reading import smartctl_calls  # noqa: E402

PLUGIN = bench_program.plugin()
RUNS = 30
DRIVE = ROOT / 'tests/reports/intel-s3500-healthy.json'
PAUSE = 'sleep 0.1'


class Cost(NamedTuple):
    """One run of one process with all its children."""

    wall: float  # ms
    cpu: float  # ms, user and system


def run(command: Sequence[str]) -> Cost:
    """Run *command* once, its output thrown away."""
    null = os.open(os.devnull, os.O_RDWR)
    started = time.perf_counter()
    pid = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)],
    )
    _, _, usage = os.wait4(pid, 0)
    os.close(null)
    return Cost((time.perf_counter() - started) * 1000, (usage.ru_utime + usage.ru_stime) * 1000)


def resident(command: Sequence[str]) -> float:
    """Return the MiB of the largest process of *command*.

    Started by a small one: the kernel counts what a process was before it became another program.
    """
    code = (
        'import os, sys; away = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]; '
        'pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=away); '
        'print(os.wait4(pid, 0)[2].ru_maxrss)'
    )
    done = subprocess.run(
        [bench_program.python()[0], '-IS', '-c', code, *command], capture_output=True, check=True
    )
    return int(done.stdout) / 1024


def paired(
    first: Sequence[str], second: Sequence[str], runs: int = RUNS
) -> tuple[Cost, Cost, float]:
    """Return the medians of both commands, and the median of wall(first) / wall(second)."""
    pairs = [(run(first), run(second)) for _ in range(runs + 2)][2:]
    ratio = statistics.median(one.wall / other.wall for one, other in pairs)
    return median([one for one, _ in pairs]), median([other for _, other in pairs]), ratio


def median(costs: Sequence[Cost]) -> Cost:
    """Return the median of each column."""
    return Cost(*(statistics.median(column) for column in zip(*costs)))


# what was measured so far: what, figure, wanted; a heading stands alone
ROWS: list[Sequence[str]] = []


def line(what: str, figure: str, wanted: str) -> None:
    """Print one row of the table: its subject, the measured figure, and the aim with "met" or
    "missed" (or '').
    """
    ROWS.append((what, figure, wanted))
    print(f'{what:<52} {figure:<58} {wanted}', flush=True)


def bench_drives(folder: Path) -> None:
    """One drive and 24 drives against a smartctl that takes 100 ms."""
    fake = fake_smartctl.FakeSmartctl(folder / 'drives')
    output = DRIVE.read_bytes()
    names = [f'/dev/sd{chr(97 + n)}' for n in range(24)]
    for number, name in enumerate(names):
        fake.answers(
            smartctl_calls.read_arguments(name),
            output.replace(b'EXAMPLE0001', b'EXAMPLE%04d' % number),
            before=PAUSE,
        )
    fake.answers(smartctl_calls.SCAN, b'{"smartctl": {"exit_status": 0}, "devices": []}')
    alone = [fake.path, *smartctl_calls.read_arguments(names[0])]
    ours = [PLUGIN, '-p', fake.path, '-d', names[0], '--no-history']
    plugin, single, ratio = paired(ours, alone)
    line(
        'one drive that takes 100 ms, wall',
        f'{plugin.wall:.0f} ms, smartctl alone {single.wall:.0f} ms, ratio {ratio:.2f}',
        performance.aim('at most 1.15 x', ratio, most=1.15, digits=2),
    )
    own = plugin.cpu - single.cpu
    line('one drive, own CPU', f'{own:.0f} ms', performance.aim('at most 50 ms', own, most=50))
    memory = resident(ours)
    line(
        'memory in addition to smartctl',
        f'{memory:.0f} MiB',
        performance.aim('at most 40 MB', memory * 1.048576, most=40),
    )
    many = [
        PLUGIN,
        '-p',
        fake.path,
        '--no-history',
        *(word for name in names for word in ('-d', name)),
    ]
    calls = ([fake.path, *smartctl_calls.read_arguments(name)] for name in names)
    all_, hand, ratio = paired(many, bench_bed.together(calls))
    line(
        '24 drives that take 100 ms, wall',
        f'{all_.wall:.0f} ms, by hand {hand.wall:.0f} ms, ratio {ratio:.2f}; own CPU '
        f'{all_.cpu - hand.cpu:.0f} ms',
        performance.aim('at most 1.2 x by hand', ratio, most=1.2, digits=2),
    )
    bench_database(folder, fake.path, names[0], plugin)


def bench_database(folder: Path, fake: str, drive: str, plugin: Cost) -> None:
    """The same check with a database ten times as large: a copy of the project in which the
    entries stand ten times.
    """
    copy = folder / 'large'
    shutil.copytree(
        ROOT / 'smart_attributes',
        copy / 'smart_attributes',
        ignore=shutil.ignore_patterns('__pycache__'),
    )
    shutil.copytree(ROOT / 'thresholds', copy / 'thresholds')
    data = shipped_data.load(str(ROOT / 'attributes.json'))
    # Copies of other drives: a drive claimed by ten entries is not what a larger database means.
    strangers = [
        {**entry, 'models': ['Q' + pattern for pattern in entry['models']]}
        for entry in data['entries']
        if 'models' in entry
    ]
    start = bench_program.launcher(copy / 'start', bench_program.python()[0], copy)
    plain = [start, '-p', fake, '-d', drive]
    for factor in (1, 10):
        grown = {**data, 'entries': data['entries'] + strangers * (factor - 1)}
        (copy / 'attributes.json').write_text(json.dumps(grown))
        cost = median([run(plain) for _ in range(RUNS + 2)][2:])
        if factor == 1:
            small = cost
    wall, cpu = cost.wall - small.wall, cost.cpu - small.cpu
    line(
        'database ten times as large',
        f'{wall:+.0f} ms wall, {cpu:+.0f} ms CPU',
        '; '.join(
            (
                performance.aim('at most 20 ms more wall', wall, most=20),
                performance.aim('at most 20 ms more CPU', cpu, most=20),
            )
        ),
    )
    load = load_time(data) * 1000
    line(
        '  loading and matching once, in a running process',
        f'{load:.1f} ms',
        performance.aim('at most 15 ms', load, most=15, digits=1),
    )


def load_time(data: object) -> float:
    """Return the seconds that loading attributes.json and finding one drive's entry take."""
    path = str(ROOT / 'attributes.json')
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        database = drive_database.SpecDatabase(shipped_data.load(path))
        database.identify(smartctl_output_identity(), [5, 9, 12, 170, 233])
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def smartctl_output_identity() -> object:
    """Return the identity of the benchmark's drive."""
    from smart_attributes.reading import json_report

    return json_report.parse(DRIVE.read_bytes()).identity


def bench_groups(folder: Path) -> None:
    """Time what an alert adds to a check of 24 drives of one array: imports, reading of /sys,
    order and sentences.
    """
    machine = block_tree.Machine(folder / 'groups')
    names = [f'sd{chr(97 + number)}' for number in range(24)]
    machine.disks(*names)
    machine.md('md0', 'raid6', {f'{name}1': 'in_sync' for name in names})
    code = f"""
import gc, sys, time
gc.disable()   # as main does
sys.path[:] = [{str(ROOT)!r}, *sys.path, {sysconfig.get_path('purelib')!r}]
from smart_attributes.check import survey
from smart_attributes.commands import check
from smart_attributes.model import Device, Identity, State, Verdict
from smart_attributes.output import plugin
from smart_attributes.reading import json_report
verdicts = [Verdict(Device('/dev/' + name, name=name), Identity('ATA', 'X'), State(2 * (name < 'sdc')),
            problem='hangs', code='timeout')
            for name in {names!r}]
begin = time.perf_counter()
from smart_attributes.work.work_list import drives
from smart_attributes.reading.system import System
from smart_attributes.redundancy import dependence
dependence.examined(tuple(verdicts), lambda placed: drives(placed, begin), True, (), System(*{list(machine.system)!r}))
print(time.perf_counter() - begin)
"""
    command = [bench_program.python()[0], '-IS', '-c', code]
    found = 1000 * statistics.median(float(subprocess.check_output(command)) for _ in range(RUNS))
    line(
        'cost of an alert on one of 24 drives in an array',
        f'{found:.1f} ms',
        performance.aim('at most 5 ms', found, most=5, digits=1),
    )


def bench_start(folder: Path) -> None:
    """What is answered without a drive."""
    for arguments in (['-V'], ['--no-such-option']):
        cost = median([run([PLUGIN, *arguments]) for _ in range(RUNS + 2)][2:])
        line(
            f'{" ".join(arguments)}, wall',
            f'{cost.wall:.0f} ms (Python alone: {bare_python():.0f} ms)',
            performance.aim('at most 40 ms', cost.wall, most=40),
        )


def bare_python() -> float:
    """Return the wall time of an interpreter that does nothing, ms."""
    return median([run([bench_program.python()[0], '-IS', '-c', 'pass']) for _ in range(RUNS)]).wall


def bench_reports(folder: Path) -> None:
    """Recorded reports in one process: JSON, and text through pySMART."""
    json_folder = folder / 'json'
    json_folder.mkdir()
    source = ROOT.parent / 'shared/drives/drives.jsonl.gz'
    if not source.exists():
        line('recorded reports', 'skipped: there is no ../shared', '')
        return
    with gzip.open(source, 'rt') as lines:
        for number, facts in zip(range(2000), lines):
            (json_folder / f'{number}.json').write_text(
                json.dumps(smartctl_output.as_json(json.loads(facts)))
            )
    figure, count = rate(str(json_folder), 2000)
    line(
        'recorded reports, JSON',
        figure,
        performance.aim('at least 1,000 a second', count, least=1000),
    )
    texts = sorted((ROOT.parent / 'shared/corpus/reports').glob('*/output.txt'))
    text_folder = folder / 'text'
    text_folder.mkdir()
    for text in texts:
        shutil.copy(text, text_folder / f'{text.parent.name}.txt')
    figure, count = rate(str(text_folder), len(texts))
    line(
        'recorded reports, text', figure, performance.aim('at least 400 a second', count, least=400)
    )


def rate(folder: str, count: int) -> tuple[str, float]:
    """Return the reports per second of one process in words and as a number.

    Start-up is included; the files are in memory, since disks differ.
    """
    cost = median([run([PLUGIN, '--report', folder]) for _ in range(4)][1:])
    speed = count / cost.wall * 1000
    return f'{speed:.0f} a second ({count} files in {cost.wall / 1000:.1f} s)', speed


PARTS: Mapping[str, Callable[[Path], None]] = {
    'Drives that answer in 100 ms, and the cost of the database': bench_drives,
    'An alert on a drive of an array': bench_groups,
    'Commands that read no drive': bench_start,
    'History': lambda folder: bench_history.bench_history(folder, line, run),
    "Vendors' logs": lambda folder: bench_vendor_logs.bench_vendor_logs(folder, line, paired),
    'Recorded reports, in one process': bench_reports,
    'The real smartctl on simulated drives': lambda folder: bench_bed.bench_bed(
        folder / 'bed', line, paired
    ),
    'With each Python version (fastest of 40 runs)': lambda folder: bench_pythons.bench_pythons(
        folder / 'pythons', line, run
    ),
}


def main() -> None:
    """Print all figures; with the name of a file, write them there as a document, too."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ['XDG_STATE_HOME'] = f'{folder}/state'  # nothing goes home to whoever measures
        for heading, part in PARTS.items():
            ROWS.append([heading])
            part(Path(folder))
    for name in sys.argv[1:]:
        performance.write(Path(name), ROWS)


if __name__ == '__main__':
    main()
