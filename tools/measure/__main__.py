"""The command line that evaluates entries, states and limits on collections of drives.

Usage, in the directory of the project:
  .venv/bin/python -m tools.measure --timelines TIMELINES.csv.gz
  .venv/bin/python -m tools.measure --risk FOLDER
  .venv/bin/python -m tools.measure DRIVES.jsonl.gz --accuracy [EVIDENCE.json]
  .venv/bin/python -m tools.measure DRIVES.jsonl.gz --verdicts
  .venv/bin/python -m tools.measure DRIVES.jsonl.gz --ssd-failures SSD_FAILURES.csv.gz
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from smart_attributes.check import judging
from smart_attributes.check.rulebook import Site, judge_of
from smart_attributes.command_line.options import Options
from smart_attributes.errors import SmartError
from smart_attributes.history.past import Past
from smart_attributes.model import Device, Report, Verdict
from smart_attributes.words import sentence

from . import accuracy, alarms, limits, ssd_failures, timelines

PROGRAM = 'python -m tools.measure'
UNKNOWN = 3  # exit status where nothing was measured
LONGEST = 2000  # characters of an error message


class Task(NamedTuple):
    """One measurement: the value of its option, the help text, and what it runs with the options
    of a command line.
    """

    metavar: str  # '' for an option without a value
    help: str
    run: Callable[[argparse.Namespace], None]
    has_drives: bool = False  # needs FILE as well
    is_optional: bool = False  # its value may be left out


TASKS: Mapping[str, Task] = {
    'accuracy': Task(
        'EVIDENCE',
        'compare attributes.json with the drives of FILE, and write the counts of each family to '
        'the file EVIDENCE, such as tests/evidence.json',
        lambda given: accuracy.main(given.file, given.accuracy),
        True,
        True,
    ),
    'verdicts': Task(
        '',
        'count the drives of FILE in each state and beyond each limit',
        lambda given: alarms.main(given.file),
        True,
    ),
    'ssd-failures': Task(
        'FAILURES',
        'report the share of SSDs beyond each limit, of those in FAILURES, which failed, and of '
        'healthy ones in FILE',
        lambda given: ssd_failures.main(
            given.file, given.ssd_failures, shipped_judge()
        ),
        True,
    ),
    'timelines': Task(
        'FILE',
        'report how many hard disks fail in each state; a row of FILE is a period in which no '
        'counter of a disk moved, plain or gzip',
        lambda given: timelines.main(given.timelines, shipped_judge()),
    ),
    'risk': Task(
        'FOLDER',
        'count how many drives fail after each finding, and write thresholds/risk.json and the '
        'limits of hard disks that follow; '
        'FOLDER has timelines.csv.gz, drives.jsonl.gz and ssd_failures.csv.gz',
        lambda given: limits.main(given.risk),
    ),
}


class Parser(argparse.ArgumentParser):
    """A parser whose usage errors end with the same exit status as those of the plugin."""

    def error(self, message: str) -> NoReturn:
        """Print how the command is used and what was wrong, then exit."""
        self.exit(UNKNOWN, f'{self.format_usage()}{message}; see {PROGRAM} --help\n')


def _written(name: str, task: Task) -> str:
    """Return a task as a command line has it: "FILE --accuracy [EVIDENCE]"."""
    value = f'[{task.metavar}]' if task.is_optional else task.metavar
    option = f'--{name} {value}'.rstrip()
    return f'FILE {option}' if task.has_drives else option


def _parser() -> Parser:
    tasks = ' | '.join(_written(name, task) for name, task in TASKS.items())
    parser = Parser(
        PROGRAM,
        f'%(prog)s ({tasks})',
        'Measure entries, states and limits on collections of drives.',
    )
    parser.add_argument(
        'file',
        nargs='?',
        metavar='FILE',
        help='drives as facts, as tools.measure.collect writes them, plain or gzip; their logs are '
        'read from logs.jsonl.gz in the same folder, if it exists',
    )
    for name, task in TASKS.items():
        how: dict[str, Any] = {'metavar': task.metavar}
        if not task.metavar:
            how = {'action': 'store_const', 'const': ''}
        elif task.is_optional:
            how.update(nargs='?', const='')
        parser.add_argument(f'--{name}', help=task.help, **how)
    return parser


def shipped_judge() -> timelines.Mindful:
    """Return a judge with the shipped entries and limits, without site files."""
    shipped = judge_of(Options(), Site())

    def verdict(report: Report, past: Past | None) -> Verdict:
        return judging.judge(
            Device('', name='drive'),
            report,
            shipped.database,
            shipped.thresholds,
            shipped.rules,
            past,
        )

    return verdict


def task_of(options: argparse.Namespace, parser: Parser) -> Task:
    """Return the task that the options ask for.

    Ends the program if they ask for none, for several, or for too little.
    """
    asked = [
        task
        for name, task in TASKS.items()
        if getattr(options, name.replace('-', '_')) is not None
    ]
    if len(asked) != 1 or (options.file is not None) != asked[0].has_drives:
        parser.error(
            f'give one of {", ".join(_written(name, task) for name, task in TASKS.items())}'
        )
    return asked[0]


def main(words: Sequence[str]) -> int:
    """Measure as the words of a command line ask; 0, or 3 with a sentence on standard error."""
    parser = _parser()
    options = parser.parse_args(words)
    task = task_of(options, parser)
    try:
        task.run(options)
    except SmartError as problem:
        print(sentence(str(problem), LONGEST), file=sys.stderr)
        return UNKNOWN
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
