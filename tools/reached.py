#!/usr/bin/env python3
"""List the functions of smart_attributes/ that no command line calls, so that only tests use them.

Usage: tools/reached.py [--branches] [BLOCK...]

The command lines stand in tests/reached.txt, in blocks with a machine each; with BLOCK, only these blocks run, and what
they print is shown. What no line reaches needs a reason in tests/unreached.txt: one line for each function, and one for
each room with the number of branches that are never taken in functions that are called:

    history/directory:leave_mark: needs a full disk
    reading/ [210]: answers of drives that no recorded one gives

A "?" after a name means that the host and its load determine whether a line reaches it. A function that moves to
another module keeps its reason. --branches lists the branches with their lines.

The reports of ../shared/corpus belong to the lines; without them, less is reached. Exit status: 0 everything has a
reason; 1 something has none, or a reason is no longer needed; 3 not measured: this needs root, smartctl, openssl and
a C compiler.
"""
from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'smart_attributes'
SCENARIOS, REASONS = ROOT / 'tests/reached.txt', ROOT / 'tests/unreached.txt'
# A copy of the package that a line damages counts as the package.
CONFIG = """[run]
branch = True
parallel = True
data_file = {folder}/data/c
include = */smart_attributes/*
patch = _exit
disable_warnings = no-data-collected,module-not-measured
[paths]
package =
    {package}
    */smart_attributes
"""
REASON = re.compile(r'(?P<name>[\w/]+(?::[\w.<>]+|/))(?: \[(?P<count>\d+)\])?(?P<varies>\?)?: (?P<why>.+)')
BASE = 'base/'    # the room of the modules that stand in no other
# The branches of a room vary by the time that processes take; a number that is larger by more than this is renewed.
VARIES = 20
PROGRAMS = 'smartctl', 'openssl', 'cc'


class Unreached(NamedTuple):
    """A function that no line calls, or the branches of one that no line takes."""

    name: str                # "check/survey:_read"
    branches: int            # 0: it is never called
    arcs: str = ''           # "12->14, 20->exit"

    @property
    def room(self) -> str:
        """The package that it belongs to: "check/"."""
        first, is_room, _ = self.name.partition('/')
        return f'{first}/' if is_room else BASE


# --- command lines -----------------------------------------------------------------------

def blocks(text: str) -> dict[str, list[str]]:
    """Return the lines of each block of a file of scenarios. A line that starts with blanks continues the one before.
    """
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith('#'):
            continue
        if line.startswith('[') and line.endswith(']'):
            lines = found.setdefault(line[1:-1], [])
        elif line.startswith('    '):
            lines[-1] += f' {line.strip()}'
        else:
            lines.append(line)
    return found


def played(name: str, lines: Sequence[str], folder: Path) -> int:
    """Do the lines of a block in a new folder, under coverage; return the number of lines that raised an error."""
    import coverage
    from reached_world import World
    place, failed = folder / 'blocks' / re.sub(r'\W+', '-', name), 0
    place.mkdir(parents=True)
    watch = coverage.Coverage(config_file=str(folder / 'config'))
    world = World(place)
    watch.start()
    for line in lines:
        try:
            world.do(line)
        except BaseException:
            failed += 1
            print(f'[{name}] {line}\n{traceback.format_exc()}', file=sys.__stderr__, flush=True)
    watch.stop()
    watch.save()
    return failed


def play(scenarios: Mapping[str, Sequence[str]], folder: Path) -> int:
    """Do all blocks, each in a process of its own; return the number of lines that raised an error."""
    import reached_world  # noqa: F401  loaded once for all blocks
    os.environ['COVERAGE_PROCESS_START'] = str(folder / 'config')
    (folder / 'data').mkdir()
    (folder / 'data').chmod(0o1777)
    (folder / 'config').write_text(CONFIG.format(folder=folder, package=PACKAGE))
    waiting, running, failed = list(scenarios.items()), 0, 0
    while waiting or running:
        if waiting and running < (os.cpu_count() or 1):
            name, lines = waiting.pop(0)
            running += 1
            if os.fork() == 0:
                os._exit(min(played(name, lines, folder), 99))
        else:
            failed += os.waitstatus_to_exitcode(os.wait()[1])
            running -= 1
    return failed


# --- what was reached -----------------------------------------------------------------------

def unreached(folder: Path) -> Iterator[Unreached]:
    """Yield what no line reached, from the data of all processes."""
    import coverage
    watch = coverage.Coverage(config_file=str(folder / 'config'), data_file=str(folder / 'combined'))
    watch.combine([str(each) for each in sorted((folder / 'data').iterdir())])
    with (folder / 'log').open('w') as log:
        sys.stdout, out = log, sys.stdout
        watch.json_report(morfs=[str(each) for each in sorted(PACKAGE.rglob('*.py'))], outfile=str(folder / 'json'))
        sys.stdout = out
    for file, found in json.loads((folder / 'json').read_text())['files'].items():
        module = str(Path(file).resolve().relative_to(PACKAGE).with_suffix(''))
        for function, facts in found['functions'].items():
            if not function or not facts['summary']['num_statements']:
                continue
            if not facts['executed_lines']:
                yield Unreached(f'{module}:{function}', 0)
            elif facts['missing_branches']:
                arcs = (f'{first}->{last if last > 0 else "exit"}' for first, last in facts['missing_branches'])
                yield Unreached(f'{module}:{function}', len(facts['missing_branches']), ', '.join(arcs))


# --- reasons -----------------------------------------------------------------------------

class Reason(NamedTuple):
    """A line of tests/unreached.txt."""

    name: str                # of a function, "check/survey:_late", or of a room, "check/"
    branches: int            # of a room
    why: str
    varies: bool = False     # whether the host determines if a line reaches it


def reasons(text: str) -> list[Reason]:
    """Return the reasons of a file. Raises SystemExit for a line that is none."""
    found = []
    for line in text.splitlines():
        if line.strip() and not line.startswith('#'):
            match = REASON.fullmatch(line)
            if not match:
                raise SystemExit(f'{REASONS.name}: not "module:function: reason": {line}')
            found.append(Reason(match['name'], int(match['count'] or 0), match['why'], bool(match['varies'])))
    return found


def moved(known: Sequence[Reason], functions: Sequence[str]) -> list[Reason]:
    """Return the reasons under the names of today: a function that moved is found by its name, if it is the only one.
    """
    places: dict[str, list[str]] = {}
    for name in functions:
        places.setdefault(name.partition(':')[2], []).append(name)
    result = []
    for reason in known:
        others = places.get(reason.name.partition(':')[2], [])
        result.append(reason._replace(name=others[0]) if reason.name not in functions and len(others) == 1 else reason)
    return result


def mistakes(found: Sequence[Unreached], known: Sequence[Reason]) -> Iterator[str]:
    """Yield what has no reason, and the reasons that are no longer needed."""
    names, why = {each.name for each in found if not each.branches}, {reason.name: reason for reason in known}
    yield from (f'{name}: no command line calls it; add one to {SCENARIOS.name}, or a reason to {REASONS.name}, or '
                'remove it' for name in sorted(names - set(why)))
    rooms = Counter[str]()
    for each in found:
        rooms[each.room] += each.branches
    for room, count in sorted(rooms.items()):
        limit = why[room].branches if room in why else 0
        if count > limit:
            yield f'{room}: {count} branches are never taken, {limit} have a reason; to list them, run with --branches'
    for reason in known:
        if reason.name.endswith('/') and rooms[reason.name] < reason.branches - VARIES:
            yield f'{reason.name}: only {rooms[reason.name]} branches are never taken; write this number'
        elif not (reason.name.endswith('/') or reason.name in names or reason.varies):
            yield f'{reason.name}: a command line calls it, or it is gone; remove its reason'


def why_not() -> str:
    """Return why this machine cannot measure, or ''."""
    if os.geteuid():
        return 'only root can run all command lines'
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    return f'missing: {", ".join(missing)}' if missing else ''


def measured(chosen: Sequence[str]) -> tuple[list[Unreached], int]:
    """Do the lines of some blocks, or of all; return what they do not reach, and the number of lines that failed."""
    scenarios = blocks(SCENARIOS.read_text())
    if chosen:
        os.environ['REACHED_SHOW'] = '1'
    folder = Path(tempfile.mkdtemp(prefix='reached-'))
    folder.chmod(0o755)  # lines that run as another user write their data there, too
    try:
        failed = play({name: lines for name, lines in scenarios.items() if name in chosen or not chosen}, folder)
        return list(unreached(folder)), failed
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(words: Sequence[str]) -> int:
    """Do the lines, compare what they reach with the reasons, and print the difference."""
    began, chosen = time.monotonic(), [word for word in words if not word.startswith('-')]
    if why_not():
        print(f'not measured: {why_not()}', file=sys.stderr)
        return 3
    sys.path[:0] = [str(ROOT), str(ROOT / 'tests'), str(ROOT / 'tools')]
    found, failed = measured(chosen)
    problems = list(mistakes(found, moved(reasons(REASONS.read_text()), [each.name for each in found])))
    if '--branches' in words:
        print(*(f'{each.name}: {each.arcs}' for each in found if each.branches), sep='\n')
    if problems and not chosen:
        print(*problems, sep='\n')
    functions = sum(not each.branches for each in found)
    print(f'{functions} functions are never called; {sum(each.branches for each in found)} branches of '
          f'{len(found) - functions} functions are never taken; {len(problems)} to look at; {failed} lines failed; '
          f'{time.monotonic() - began:.0f} s')
    return int(bool(problems or failed) and not chosen)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
