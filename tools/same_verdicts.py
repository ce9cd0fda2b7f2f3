#!/usr/bin/env python3
"""Compare the verdicts of two checkouts of this project on thousands of reports, as proof of a
refactoring.

Usage: .venv/bin/python tools/same_verdicts.py OLD NEW [--drives FILE] [--count 2000] [--damaged
1500] [--corpus DIR]

OLD and NEW are folders, each with a .venv of its own; a folder without one runs with the Python of
this tool. The reports are the first drives of the collection, the recorded texts of the corpus, and
damaged reports from a fixed seed. For each report the tool compares state, exit status and
performance data of the plugin, and every value of `triage --json` that OLD has; NEW may add keys.
Exit status: 0 all values are the same, 1 some differ, 3 not compared.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import IO, Any, NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'tests')]

SEED = 20261122
SHOWN = 40  # differences that are printed
FIELDS = 20  # fields that are printed with the number of their differences
STATE = re.compile(r'SMART (OK|WARNING|CRITICAL|UNKNOWN)\b')
METRIC = re.compile(r"'([^']*)'=(\S+)")
MISSING = '(missing)'


class NotCompared(Exception):
    """The checkouts could not be compared: what happened, why, and the next step."""


class Difference(NamedTuple):
    """One value that is not the same."""

    report: str
    field: str  # "json.drives[0].state"
    old: Any
    new: Any

    def __str__(self) -> str:
        return f'{self.report}: {self.field}: {json.dumps(self.old)} -> {json.dumps(self.new)}'


# --- reports ---------------------------------------------------------------------------


def write_reports(folder: Path, asked: argparse.Namespace) -> dict[str, int]:
    """Write all reports into a folder; return how many there are of each sort."""
    sorts = {
        'drive': collected(asked.drives, asked.count),
        'recorded': recorded(asked.corpus),
        'damaged': damaged(asked.damaged),
    }
    counts = dict.fromkeys(sorts, 0)
    for sort, reports in sorts.items():
        for number, (name, content) in enumerate(reports, 1):
            counts[sort] = number
            plain = re.sub('[^A-Za-z0-9.]+', '-', name)[-80:]
            place = folder / f'{sort}-{number:05d}-{plain}'
            place.mkdir()
            # all of one name, so performance data have the same labels
            (place / 'report').write_bytes(content)
    return counts


def collected(path: Path, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield the first drives of a collection as smartctl --json -x prints them."""
    with gzip.open(path, 'rt', encoding='utf-8') as lines:
        for line in itertools.islice(lines, count):
            facts = json.loads(line)
            yield f'{facts["path"]}.json', json.dumps(whole(facts)).encode()


def whole(facts: Any) -> Any:
    """Return the document of a drive with what the collection leaves out: arguments, an empty
    self-test log.
    """
    from smartctl_output import as_json

    logs = [0, 1, 2, 3, 6, 7]
    if 'devstat' in facts:
        logs.append(4)
    document = {**as_json(facts), 'smart_support': {'available': True, 'enabled': True}}
    document['smartctl']['argv'] = ['smartctl', '--json', '-x', '/dev/sda']
    if 'attributes' in facts:
        document.update(
            ata_smart_self_test_log={'extended': {'count': 0}},
            ata_log_directory={'table': [{'address': log} for log in sorted(logs)]},
        )
    return document


def recorded(corpus: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the recorded texts of a corpus, the results of scans left out."""
    for path in sorted(corpus.rglob('*.txt')):
        parts = path.relative_to(corpus).parts
        if parts[0] != 'scans':
            yield '/'.join(parts), path.read_bytes()


def damaged(count: int) -> Iterator[tuple[str, bytes]]:
    """Yield damaged reports, the same ones in each run."""
    import damage

    reports = damage.recorded() if count else {}
    for number in range(count):
        dice = Random(f'{SEED} {number}')  # noqa: S311  each comes again
        name = dice.choice(sorted(reports))
        kind, content = damage.damaged(reports[name], dice)
        yield f'{kind}/{name}', content


# --- answers ---------------------------------------------------------------------------


def answers(checkout: Path, folder: Path, site: Path) -> Iterator[Any]:
    """Yield what a checkout answers to each report.

    Raises NotCompared where it gives fewer answers than reports.

    site: an empty folder in place of the state and the configuration of this machine.
    """
    python = checkout / '.venv/bin/python'
    command = [
        str(python) if python.exists() else sys.executable,
        '-I',
        str(ROOT / 'tools/checkout_answers.py'),
        str(checkout),
        str(folder),
        '--state-dir',
        str(site),
        '--config',
        str(site),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield from map(json.loads, _lines(process))
    if process.returncode:
        raise NotCompared(
            f'{checkout} stopped with exit status {process.returncode} before its last report; '
            f'run: {" ".join(command)}'
        )


def _lines(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None  # noqa: S101  it is a pipe
    return process.stdout


def fields(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that an answer consists of; None for a text that holds none."""
    (code, text), (json_code, document) = answer['check'], answer['json']
    state = STATE.match(text)
    last = text.splitlines()[-1:]
    metrics = dict(METRIC.findall(last[0])) if last and last[0].startswith('| ') else {}
    return {
        'check': {
            'exit_status': code,
            'state': state and state[1],
            'labels': sorted(metrics),
            'metrics': metrics,
        },
        'json': {'exit_status': json_code, 'document': _parsed(document)},
    }


def _parsed(document: str) -> Any:
    try:
        return json.loads(document)
    except ValueError:
        return None


# --- comparison ------------------------------------------------------------------------


def pairs(old: Any, new: Any, field: str = '') -> Iterator[tuple[str, Any, Any]]:
    """Yield (field, value in OLD, value in NEW) for each value of OLD, at any depth."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            yield from pairs(
                value, new.get(name, MISSING), f'{field}.{name}'.lstrip('.')
            )
    elif isinstance(old, list) and isinstance(new, list):
        yield f'{field}.length', len(old), len(new)
        for place, (before, after) in enumerate(zip(old, new)):
            yield from pairs(before, after, f'{field}[{place}]')
    else:
        yield field, old, new


class Comparison:
    """What was compared so far."""

    def __init__(self) -> None:
        self.reports = self.values = 0
        self.states: Counter[str] = Counter()
        self.differences: list[Difference] = []

    def add(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Compare the answers to one report. Raises NotCompared where OLD gave none."""
        name, known = old['report'], fields(old)
        if (
            known['check']['state'] is None
            or known['json']['document'] is None
            or new['report'] != name
        ):
            printed = {form: old[form][1][:200] for form in ('check', 'json')}
            raise NotCompared(f'{name}: OLD gave no answer; it printed: {printed}')
        self.reports += 1
        self.states[known['check']['state']] += 1
        for field, before, after in pairs(known, fields(new)):
            self.values += 1
            if type(before) is not type(after) or before != after:
                self.differences.append(Difference(name, field, before, after))

    def lines(self) -> Iterator[str]:
        """Yield what was found."""
        states = ', '.join(
            f'{count:,} {state}' for state, count in self.states.most_common()
        )
        yield (
            f'{self.values:,} values of {self.reports:,} reports compared ({states}): '
            f'{len(self.differences):,} differences'
        )
        states_first = sorted(
            self.differences, key=lambda each: not each.field.endswith('state')
        )
        yield from map(str, states_first[:SHOWN])
        if len(self.differences) > SHOWN:
            yield f'... and {len(self.differences) - SHOWN:,} more'
        by_field = Counter(
            re.sub(r'\[\d+\]', '[]', each.field) for each in self.differences
        )
        yield from (
            f'{count:8,} x {field}' for field, count in by_field.most_common(FIELDS)
        )


# --- the command -----------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """A parser whose usage errors do not end with the exit status of a difference, or of
    argparse.
    """

    def error(self, message: str) -> NoReturn:
        """Print how the command is used and what was wrong, then exit."""
        self.exit(3, f'{self.format_usage()}{message}\n')


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """Return what a command line asks for."""
    parser = Parser(description=(__doc__ or '').partition('\n')[0])
    parser.add_argument(
        'old', metavar='OLD', type=Path, help='folder of the checkout before the change'
    )
    parser.add_argument(
        'new', metavar='NEW', type=Path, help='folder of the checkout after it'
    )
    parser.add_argument(
        '--drives',
        metavar='FILE',
        type=Path,
        default=ROOT.parent / 'shared/drives/drives.jsonl.gz',
        help='collection of drives, gzip (default: %(default)s)',
    )
    parser.add_argument(
        '--count',
        metavar='N',
        type=int,
        default=2000,
        help='use the first N drives (default: 2000)',
    )
    parser.add_argument(
        '--damaged',
        metavar='N',
        type=int,
        default=1500,
        help='use N damaged reports (default: 1500)',
    )
    parser.add_argument(
        '--corpus',
        metavar='DIR',
        type=Path,
        default=ROOT.parent / 'shared/corpus',
        help='directory of recorded reports, *.txt (default: %(default)s)',
    )
    return parser.parse_args(words)


def compared(asked: argparse.Namespace, folder: Path) -> Comparison:
    """Return the comparison of both checkouts over all reports. Raises NotCompared, OSError."""
    for path in (
        asked.old / 'check_smart_attributes',
        asked.new / 'check_smart_attributes',
        asked.corpus,
    ):
        if not path.exists():
            raise NotCompared(
                f'{path}: not found; name two checkouts of this project, and a corpus with '
                f'--corpus DIR'
            )
    reports, site = folder / 'reports', folder / 'site'
    reports.mkdir()
    site.mkdir()
    counts = write_reports(reports, asked)
    print(
        ', '.join(f'{count:,} {sort} reports' for sort, count in counts.items()),
        flush=True,
    )
    found = Comparison()
    both = (
        answers(checkout.resolve(), reports, site)
        for checkout in (asked.old, asked.new)
    )
    for old, new in itertools.zip_longest(*both):
        if not old or not new:
            raise NotCompared(
                f'{asked.new if old else asked.old} answered only the first {found.reports:,} '
                'reports; the traceback above says why'
            )
        found.add(old, new)
    if found.reports != sum(counts.values()) or not found.reports:
        raise NotCompared(
            f'{found.reports:,} of {sum(counts.values()):,} reports were answered; give more of '
            f'them'
        )
    return found


def main(words: Sequence[str]) -> int:
    """Compare two checkouts and print the result; 0 no difference, 1 differences, 3 not
    compared.
    """
    began, asked = time.monotonic(), parsed(words)
    folder = Path(tempfile.mkdtemp(prefix='same-verdicts-'))
    is_kept = False
    try:
        found = compared(asked, folder)
        print(*found.lines(), f'{time.monotonic() - began:.0f} s', sep='\n')
        is_kept = bool(found.differences)
        if is_kept:
            print(
                f'the reports are kept in {folder}/reports; remove the folder when you have read '
                f'them'
            )
        return int(is_kept)
    except (NotCompared, OSError) as problem:
        print(f'not compared: {problem}', file=sys.stderr)
        return 3
    finally:
        if not is_kept:
            shutil.rmtree(folder)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
