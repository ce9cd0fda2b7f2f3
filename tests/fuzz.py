"""Fuzzing: `make fuzz MINUTES=20` gives the readers of foreign data what atheris makes up, guided
by what it reaches.

The two readers of reports take the given minutes (or RUNS, executions) each, the others a tenth of
that. What is worth keeping stays in build/fuzz, where the next run goes on. What a reader fails on
is left there as a file, too, and
becomes a test: tests/found/READER-what-it-is.
"""

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / 'build/fuzz'
IN_HISTORY = '/dev/shm'  # for what is read as a file, where the system has it
LONGEST = 4000  # bytes of an input: reports come in parts, see in_parts()
FIRST_ROWS = 3  # of each table of a report
# seconds by the clock; SECONDS of CPU are counted, and not by the clock of a busy machine
HANGS = 20
# What guides atheris, of each reader; of the others smart_attributes.reading does. What is not
# watched is fast.
WATCHED: Mapping[str, tuple[str, ...]] = {
    'farm': ('reading.farm',),
    'entries': ('knowledge',),
    'limits': ('knowledge',),
    'history': ('history',),
    'triage': ('fleet',),
    'icinga': ('fleet', 'output', 'knowledge.nagios'),
    '1_6': ('v1_6',),
}
TABLES = ('smartctl', 'device', 'smart_status')  # that each part of a report has


# --- one reader, in a process of its own -------------------------------------------------


def fuzz(reader: str, arguments: list[str]) -> None:
    """Run atheris on one reader; it ends the process."""
    import atheris

    with atheris.instrument_imports(
        ['smart_attributes'], unwatched(WATCHED.get(reader, ('reading',)))
    ):
        from foreign import MEGABYTES, READERS, seeds
    for seed in seeds()[reader]:
        READERS[reader](seed)
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

    def read(data: bytes) -> None:
        try:
            READERS[reader](data)
        # kept at once: what libFuzzer would keep is lost where the process ends hard
        except BaseException:
            (BUILD / f'{reader}-found-{zlib.crc32(data):08x}').write_bytes(data)
            raise

    atheris.Setup(
        [sys.argv[0], f'-rss_limit_mb={base + MEGABYTES}', *arguments],
        read,
        custom_mutator=changed,
    )
    atheris.Fuzz()


def unwatched(watched: tuple[str, ...]) -> list[str]:
    """Return all modules but those of some subpackages: atheris can leave out modules, but take
    in only packages.
    """
    modules = [
        '.'.join(path.relative_to(ROOT).with_suffix('').parts)
        for path in (ROOT / 'smart_attributes').rglob('*.py')
    ]
    taken = tuple(f'smart_attributes.{name}' for name in watched)
    return [module for module in modules if not module.startswith(taken)]


def changed(data: bytes, longest: int, seed: int) -> bytes:
    """Return other bytes: every second time damaged as documents and lines are, else as atheris
    changes bytes.
    """
    import atheris
    from damage import damaged

    if seed % 2:
        try:
            other = damaged(data, random.Random(seed))[1]
            if len(other) <= longest:
                return other
        except (ValueError, IndexError, RecursionError, UnicodeError):
            pass  # no document, or nothing in it to damage
    mutated: bytes = atheris.Mutate(data, longest)
    return mutated


# --- what it begins with -----------------------------------------------------------------


def beginnings(reader: str) -> Iterator[bytes]:
    """Yield the seeds of a reader; for those of reports, all that are recorded, in parts."""
    from damage import recorded
    from foreign import MAIN, seeds

    inputs = list(seeds()[reader])
    if reader in MAIN:
        inputs += recorded().values()
    for seed in inputs:
        yield from in_parts(seed) if len(seed) > LONGEST else [seed]


def in_parts(report: bytes) -> Iterator[bytes]:
    """Yield a report in small parts, since it is changes of a few bytes that tell most: its head,
    with one table each.
    """
    try:
        document = json.loads(report)
    except ValueError:
        head, *sections = report.split(b'\n\n')
        yield from (
            b'\n\n'.join([head[: LONGEST // 4], section])[:LONGEST]
            for section in sections
        )
        return
    yield from (json.dumps(part).encode() for part in _documents(document))


def _documents(document: Any) -> Iterator[Any]:
    head = {
        key: value
        for key, value in document.items()
        if key in TABLES or not isinstance(value, (dict, list))
    }
    yield _with_first_rows(document)
    for key in document.keys() - head.keys():
        yield _with_first_rows({**head, key: document[key]})


def _with_first_rows(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_first_rows(each) for key, each in value.items()}
    return (
        [_with_first_rows(each) for each in value[:FIRST_ROWS]]
        if isinstance(value, list)
        else value
    )


# --- all of them -------------------------------------------------------------------------


def run(reader: str, limit: str) -> bool:
    """Fuzz a reader and print how far it came; tell whether nothing was found. limit: an option
    of libFuzzer.
    """
    corpus = BUILD / f'{reader}-corpus'
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(beginnings(reader)):
        (corpus / f'seed-{number}').write_bytes(seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(
        dir=IN_HISTORY if os.path.isdir(IN_HISTORY) else None
    ) as folder:
        done = subprocess.run(
            [
                sys.executable,
                __file__,
                '--one',
                reader,
                limit,
                f'-max_len={LONGEST}',
                f'-timeout={HANGS}',
                f'-artifact_prefix={BUILD}/{reader}-found-',
                '-print_final_stats=1',
                str(corpus),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            env={**os.environ, 'PYTHONPATH': f'{ROOT}/tests:{ROOT}', 'TMPDIR': folder},
        )
    text = done.stdout.decode(errors='replace')
    executions, megabytes = (
        max(map(int, re.findall(pattern, text, re.MULTILINE)), default=0)
        for pattern in (r'^#(\d+)\s', r'rss: (\d+)Mb')
    )
    found = len(list(BUILD.glob(f'{reader}-found-*'))) or 'nothing'
    taken = time.monotonic() - began
    print(
        f'{reader}: {executions:,} executions in {taken:.0f} s; at most {megabytes} MB; {found} found',
        flush=True,
    )
    if done.returncode:
        print(text[-3000:], f'ended with {done.returncode}', flush=True)
    return done.returncode == 0


def main(given: argparse.Namespace) -> int:
    """Fuzz every reader that is asked for; 1 where something was found."""
    from foreign import MAIN, READERS

    whole = []
    for reader in given.readers or READERS:
        share = 1 if reader in MAIN else 10
        whole.append(
            run(
                reader,
                f'-runs={given.runs // share}'
                if given.runs
                else f'-max_total_time={60 * given.minutes / share:.0f}',
            )
        )
    return 0 if all(whole) else 1


if __name__ == '__main__':
    if sys.argv[1:2] == ['--one']:
        fuzz(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('readers', nargs='*')
    parser.add_argument('--minutes', type=float, default=20)
    parser.add_argument('--runs', type=int, default=0)
    sys.exit(main(parser.parse_args()))
