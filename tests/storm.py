"""A storm: random faults for the minutes that are given, and what must hold whatever happens.

`make storm SEED=7 MINUTES=5` gives each kind its share of the minutes, `make storm KIND=kills` all
of them to one. test_storm takes a few turns of each.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from damage import Damage
from first_lines import Lines
from flips import Flips
from kills import Kills
from one_drive import OneDrive
from pasting import Pasting
from silence import Silence


class Bed(Protocol):
    """Where one kind of fault is tried."""

    counted: Counter[str]  # what was tried, or became of it

    def turn(self, number: int) -> list[str]:
        """Try something, which depends on the seed and this number; return what went wrong."""


KINDS: Mapping[str, Callable[[Path, int], Bed]] = {
    'damage': Damage,
    'flips': Flips,
    'kills': Kills,
    'lines': Lines,
    'silence': Silence,
    'addresses': OneDrive,
    'pasting': Pasting,
}


def storm(kind: str, seed: int, seconds: float) -> int:
    """Take at least one turn of a kind, and print what became of it; return how many faults."""
    began, faults = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix=f'check-smart-{kind}-') as folder:
        bed = KINDS[kind](Path(folder), seed)
        for turn in itertools.count():
            try:
                found = bed.turn(turn)
            except Exception:  # such as a history that cannot be read
                found = [traceback.format_exc()]
            for fault in found:
                print(f'{kind}, turn {turn}: {fault}', flush=True)
            faults += len(found)
            if time.monotonic() - began >= seconds:
                break
    tried = ', '.join(f'{count} {what}' for what, count in sorted(bed.counted.items()))
    taken = time.monotonic() - began
    print(
        f'{kind}: {faults} faults in {turn + 1} turns, {taken:.0f} s: {tried}',
        flush=True,
    )
    return faults


def main(words: list[str]) -> int:
    """Return 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').partition('\n')[0])
    parser.add_argument('--kind', choices=KINDS)
    parser.add_argument(
        '--seed', type=int, default=random.SystemRandom().randrange(10**6)
    )
    parser.add_argument('--minutes', type=float, default=5)
    options = parser.parse_args(words)
    kinds = [options.kind] if options.kind else list(KINDS)
    print(f'seed {options.seed}', flush=True)
    share = 60 * options.minutes / len(kinds)
    return 1 if sum(storm(kind, options.seed, share) for kind in kinds) else 0


if __name__ == '__main__':
    os.umask(0o022)
    os.environ.setdefault('XDG_STATE_HOME', '/nonexistent')
    sys.exit(main(sys.argv[1:]))
