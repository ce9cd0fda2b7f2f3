"""The command line that evaluates states and limits on collections of drives.

Usage, in the directory of the project:
  .venv/bin/python -m tools.measure --timelines TIMELINES.csv.gz [--with-history] [--json]
  .venv/bin/python -m tools.measure --forecasts HISTORY.jsonl.gz [--json]
  .venv/bin/python -m tools.measure DRIVES.jsonl.gz --verdicts [BEFORE.json] [--json]
"""
from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from smart_attributes.check import judging
from smart_attributes.check.rulebook import Site, judge_of
from smart_attributes.command_line.options import Options
from smart_attributes.errors import SmartError
from smart_attributes.history.past import Past
from smart_attributes.model import Device, Report, Verdict
from smart_attributes.words import sentence

from . import alarms, forecasts, timelines

PROGRAM = 'python -m tools.measure'
UNKNOWN = 3      # exit status where nothing was measured
LONGEST = 2000   # characters of an error message


class Parser(argparse.ArgumentParser):
    """A parser whose usage errors end with the same exit status as those of the plugin."""

    def error(self, message: str) -> NoReturn:
        """Print how the command is used and what was wrong, then exit."""
        self.exit(UNKNOWN, f'{self.format_usage()}{message}; see {PROGRAM} --help\n')


def _parser() -> Parser:
    parser = Parser(PROGRAM, '%(prog)s (FILE --verdicts [BEFORE] | --timelines FILE [--with-history] | '
                    '--forecasts FILE) [--json]',
                    'Measure states and limits on collections of drives.')
    parser.add_argument('file', nargs='?', metavar='FILE',
                        help='drives as facts, one JSON object a line, plain or gzip')
    parser.add_argument('--verdicts', nargs='?', const='', metavar='BEFORE',
                        help='count the drives of FILE in each state and beyond each limit, and compare the counts '
                             'with the JSON file BEFORE of an earlier run')
    parser.add_argument('--timelines', metavar='FILE',
                        help='report how many hard disks fail in each state; a row of FILE is a period in which no '
                             'counter of a disk moved, plain or gzip')
    parser.add_argument('--with-history', action='store_true',
                        help='with --timelines: judge each disk with the history of its readings, growth and age '
                             'included')
    parser.add_argument('--forecasts', metavar='FILE',
                        help='compare the forecasts of when drives wear out with their real wear; a line of FILE has '
                             'all reports of one drive, plain or gzip')
    parser.add_argument('--json', dest='as_json', action='store_true', help='print JSON')
    return parser


def shipped_judge() -> timelines.Mindful:
    """Return a judge with the shipped entries and limits, without site files."""
    shipped = judge_of(Options(), Site())

    def verdict(report: Report, past: Past | None) -> Verdict:
        return judging.judge(Device('', name='drive'), report, shipped.database, shipped.thresholds, shipped.rules,
                             past)
    return verdict


def main(words: Sequence[str]) -> int:
    """Measure as the words of a command line ask; 0, or 3 with a sentence on standard error."""
    parser = _parser()
    options = parser.parse_args(words)
    if sum(each is not None for each in (options.file, options.timelines, options.forecasts)) != 1:
        parser.error('give one of: FILE --verdicts, --timelines FILE, --forecasts FILE')
    if (options.file is None) != (options.verdicts is None):
        parser.error('FILE and --verdicts belong together; to compare the database with FILE, run: '
                     'check_smart_attributes measure FILE')
    if options.with_history and not options.timelines:
        parser.error('--with-history works only with --timelines FILE')
    try:
        if options.timelines:
            timelines.main(options.timelines, shipped_judge(), options.with_history, options.as_json)
        elif options.forecasts:
            forecasts.main(options.forecasts, options.as_json)
        else:
            alarms.main(options.file, options.verdicts, options.as_json)
    except SmartError as problem:
        print(sentence(str(problem), LONGEST), file=sys.stderr)
        return UNKNOWN
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
