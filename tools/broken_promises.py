#!/usr/bin/env python3
"""Break each promise of doc/explanation/security.md by a small mistake, and check that the named test fails.

Usage: tools/broken_promises.py [WORD...]      (make broken-promises: all; with words: those whose file or test has one)

The mistakes are in tests/promises.py. Each is put into a copy of the tree, where its one test runs. Exit status 1
where a mistake survives, or where a test fails without any.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

PATIENCE = 600         # seconds for one run of tests
NOT_TRIED = (2, 3, 4, 5)  # exit statuses of pytest: interrupted, its own error, usage, no such test
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tests'))

from promises import BROKEN, Broken  # noqa: E402


def copy(folder: Path) -> None:
    """Put into *folder* every file that git knows, or would."""
    listed = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=ROOT,  # noqa: S607
                            stdout=subprocess.PIPE, check=True).stdout
    for name in os.fsdecode(listed).split('\0')[:-1]:
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name, follow_symlinks=False)


def passes(folder: Path, tests: Sequence[str]) -> bool:
    """Tell whether all of these tests pass in a copy of the tree."""
    command = [sys.executable, '-B', '-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider', *tests]
    try:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=PATIENCE)
    except subprocess.TimeoutExpired:  # it hangs, which is noticed as well
        return False
    if done.returncode in NOT_TRIED or b' skipped' in done.stdout:
        raise SystemExit(f'{" ".join(tests)}: cannot be tried here\n{done.stdout.decode()[-2000:]}')
    return done.returncode == 0


def survives(folder: Path, each: Broken, moment: float) -> bool:
    """Tell whether no test notices a mistake. moment: of the file, so that nobody takes compiled code for it."""
    path = folder / each.file
    text = path.read_text()
    path.write_text(text.replace(each.right, each.wrong))
    os.utime(path, (moment, moment))
    try:
        return passes(folder, [each.test])
    finally:
        path.write_text(text)


def main(words: Sequence[str]) -> int:
    """Try the mistakes, print a line for each, and return the exit status."""
    chosen = [each for each in BROKEN if not words or any(word in f'{each.file} {each.test}' for word in words)]
    survivors = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        copy(folder)
        if not passes(folder, sorted({each.test for each in chosen})):
            raise SystemExit('a test fails without any mistake; make it pass first')
        for number, each in enumerate(chosen):
            is_unnoticed = survives(folder, each, time.time() + 10 * (number + 1))
            survivors += is_unnoticed
            print(f'{"SURVIVES" if is_unnoticed else "noticed "}  {each.file}: {each.right.strip()!r} -> '
                  f'{each.wrong.strip()!r}; {each.test}', flush=True)
    print(f'{len(chosen) - survivors} of {len(chosen)} broken promises were noticed')
    return 1 if survivors else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
