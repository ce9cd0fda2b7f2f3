"""Fuzzing: `make fuzz MINUTES=20` gives the readers of foreign data what atheris makes up, guided by what it reaches.

The two readers of reports take the given minutes each, the others a tenth of that. What a reader fails on is left as a
file in build/fuzz, and becomes a test: tests/found/READER-what-it-is.
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / 'build/fuzz'
LONGEST = 20_000          # bytes of an input; the longest seed has as many


def fuzz(reader: str, arguments: list[str]) -> None:
    """Run atheris on one reader; it ends the process."""
    import atheris
    with atheris.instrument_imports(include=['smart_attributes.reading', 'smart_attributes.memory.smartd_log',
                                             'smart_attributes.fleet', 'smart_attributes.v1_6']):
        from foreign import READERS
    atheris.Setup([sys.argv[0], *arguments], READERS[reader])
    atheris.Fuzz()


def run(reader: str, seconds: float) -> bool:
    """Fuzz a reader in a process of its own and print how far it came; tell whether nothing was found."""
    from foreign import seeds
    corpus, found = BUILD / f'{reader}-corpus', BUILD / f'{reader}-found-'
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds()[reader]):
        (corpus / f'seed-{number}').write_bytes(seed)
    done = subprocess.run([sys.executable, __file__, reader, f'-max_total_time={seconds:.0f}', f'-max_len={LONGEST}',
                           '-timeout=20', '-rss_limit_mb=1000', f'-artifact_prefix={found}', '-print_final_stats=1',
                           str(corpus)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env={**os.environ, 'PYTHONPATH': f'{ROOT}/tests:{ROOT}'})
    text = done.stdout.decode(errors='replace')
    units = re.search(r'number_of_executed_units: (\d+)', text) or re.search(r'Done (\d+) runs', text)
    print(f'{reader}: {int(units[1]):,} executions' if units else f'{reader}: no executions', flush=True)
    if done.returncode:
        print(text[-3000:], flush=True)
    return done.returncode == 0


def main(minutes: float) -> int:
    """Fuzz every reader; 1 where something was found."""
    from foreign import MAIN, READERS
    whole = [run(reader, 60 * minutes / (1 if reader in MAIN else 10)) for reader in READERS]
    return 0 if all(whole) else 1


if __name__ == '__main__':
    if not sys.argv[1].replace('.', '').isdigit():
        fuzz(sys.argv[1], sys.argv[2:])
    sys.exit(main(float(sys.argv[1])))
