"""The groups of options that commands share, as data, and the values that options take."""
from __future__ import annotations

import argparse
from collections.abc import Callable

from ..constants import DAY, DRIVE_TIMEOUT, HOUR, LETTERS, OUTPUT_LIMIT, PARALLEL, SMARTCTL, TIMEOUT
from ..files import CONFIG
from ..model import State
from ..typed import TYPE_CHECKING
from .options import FORMATS, LABELS, STATE_WORDS, OptionGroup

if TYPE_CHECKING:
    from typing import Any

    from .options import Option


def option(*spellings: str, **arguments: Any) -> Option:
    """Return an option. arguments: those of argparse's add_argument()."""
    return spellings, arguments


LONGEST_INTERVAL = 3 * DAY   # between two reads of a vendor's log


# --- values: each function returns the value of an argument, or raises ArgumentTypeError ----------

def _metric_range(text: str) -> tuple[str, str]:
    metric, _, limit = text.partition('=')
    if not metric or not limit:
        raise argparse.ArgumentTypeError(f'"{text}" is not metric=RANGE, for example endurance_used=80')
    return metric, limit


def state(text: str) -> State:
    """Return the state that a word names, in capitals or not. Raises ArgumentTypeError."""
    if text.lower() not in STATE_WORDS:
        raise argparse.ArgumentTypeError(f'"{text}" is not a state; choose from {", ".join(STATE_WORDS)}')
    return State[text.upper()]


def _number(name: str, lowest: float, highest: float, kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the function for a number within limits. kind: int or float."""
    def convert(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not lowest <= number <= highest:
            raise argparse.ArgumentTypeError(f'"{text}" is not a valid {name} ({lowest:g} to {highest:g})')
        return number
    return convert


def duration(text: str) -> int:
    """Return the seconds of a time such as 7d. Raises ArgumentTypeError."""
    number, seconds = text[:-1], int(LETTERS.get(text[-1:], 0))
    if not (seconds and number.isascii() and number.isdigit() and 0 < int(number) < 100_000):
        raise argparse.ArgumentTypeError(f'"{text}" is not a time; write 90m, 12h, 7d or 2w')
    return int(number) * seconds


def interval(text: str) -> int | None:
    """Return the seconds of a time, 0 for "always" and None for "never". Raises ArgumentTypeError.

    A log is used for a week, so a longer time would leave gaps.
    """
    words = {'always': 0, 'never': None}
    time = words[text] if text in words else duration(text)
    if time and time > LONGEST_INTERVAL:
        raise argparse.ArgumentTypeError(f'"{text}" is too long; write at most 3d')
    return time


seconds = _number('number of seconds', 0.1, HOUR, float)
max_output = _number('number of bytes', 2000, 1000000, int)
_count = _number('number', 1, 1000, int)
expected = _number('number of drives', 0, 10000, int)
_attribute = _number('attribute number', 1, 255, int)


# --- groups --------------------------------------------------------------------
# The help of a check has at most 80 lines, two screens: one line for most options.

SITE = 'site configuration'
OUTPUT = 'output and help'
DRIVES = OptionGroup('drives to check', (
    option('-d', '--device', dest='devices', action='append', default=[], metavar='ADDRESS',
           help='read this drive: /dev/sda, or TYPE@PATH such as megaraid,0-7@/dev/bus/0; may be repeated'),
    option('--scan', action='store_true', help='read all drives that smartctl --scan finds (default without -d)'),
    option('--report', dest='reports', action='append', default=[], metavar='FILE|DIR',
           help='read recorded smartctl -a or -x output (JSON or text) instead of drives; may be repeated'),
    option('--match', action='append', default=[], metavar='PATTERN',
           help='include only drives whose path, model or serial matches this regular expression'),
    option('--ignore', action='append', default=[], metavar='PATTERN',
           help='skip drives whose path, model or serial matches this regular expression'),
))
CHECKED_DRIVES = OptionGroup(DRIVES.title, (
    option('--expect', type=expected, metavar='N',
           help='report CRITICAL if fewer than N drives are found; drives in standby count'),
    option('--no-drives', type=state, metavar='STATE',
           help='set the state if the scan finds no drive (default: unknown; with --expect 0: ok)'),
))
READING = OptionGroup('reading drives', (
    option('-t', '--timeout', type=seconds, default=TIMEOUT, metavar='SECONDS',
           help='stop after this time; drives not read by then are UNKNOWN (default: %(default)g)'),
    option('--drive-timeout', type=seconds, default=DRIVE_TIMEOUT, metavar='SECONDS',
           help='stop reading one drive after this time; it is UNKNOWN (default: %(default)g)'),
    option('--jobs', type=_count, default=PARALLEL, metavar='N',
           help='read N drives in parallel (default: %(default)s)'),
    option('-p', '--path', dest='smartctl', default=SMARTCTL, metavar='FILE',
           help='run this smartctl (default: %(default)s)'),
    option('--nosudo', '-nosudo', action='store_true', help='run smartctl directly, without sudo -n, when not root'),
    option('--state-dir', default='', metavar='DIR',
           help='keep history and locks here (default: /var/lib/check-smart-attributes or ~/.local/state)'),
))
VENDOR_LOGS = OptionGroup(READING.title, (
    option('--vendor-logs', type=interval, default=duration('6h'), metavar='TIME',
           help="read vendors' NVMe logs at most this often; or write always or never (default: 6h)"),
))
DATA = OptionGroup(SITE, (
    option('--config', default=CONFIG, metavar='DIR',
           help='read attributes.d/ and thresholds.d/ here (default: %(default)s)'),
    option('--attributes', action='append', default=[], metavar='FILE',
           help='add database entries, which override the shipped ones; may be repeated'),
    option('--thresholds', action='append', default=[], metavar='FILE',
           help='add limits, which override those of earlier files; may be repeated'),
))
JUDGING = OptionGroup('limits', (
    *(option(letter, f'--{word}', type=_metric_range, action='append', default=[], metavar='METRIC=RANGE',
             help=text) for letter, word, text in (
        ('-w', 'warning',
         'set a warning limit: endurance_used=80 or spare_available=20:; may be repeated'),
        ('-c', 'critical', 'set a critical limit: endurance_used=95 or endurance_time_left=30d:; may be repeated'))),
    option('--ignore-metric', dest='ignore_metrics', action='append', default=[], metavar='METRIC',
           help='never alert on this metric; may be repeated'),
    option('--ignore-attribute', dest='ignore_attributes', type=_attribute, action='append', default=[], metavar='N',
           help='never alert on readings from the attribute with this number; may be repeated'),
    option('--unknown-model', type=state, default=State.OK, metavar='STATE',
           help='set the state of a drive without a database entry (default: ok)'),
    option('-cu', '--critical-on-unknown', '--critical_on_unknown', dest='unknown_model', action='store_const',
           const=State.CRITICAL, help='same as --unknown-model critical'),
    option('--selftest-max-age', type=duration, default=0, metavar='TIME',
           help='warn if no extended self-test passed within this time, such as 35d (default: any age)'),
    option('--asleep', type=state, default=State.OK, metavar='STATE',
           help='set the state of a drive in standby (default: ok)'),
))
HISTORY = OptionGroup('history and acknowledgements', (
    option('--no-history', action='store_true', help='use no history, so increases cannot alert'),
    option('--history-required', type=state, metavar='STATE',
           help='set the state if history cannot be used (default: only print a note)'),
    option('--gone', type=state, default=State.WARNING, metavar='STATE',
           help='set the state if a known drive is missing (default: warning); ok: only a note for a day'),
    option('--expect-known', dest='gone', action='store_const', const=State.CRITICAL, help='same as --gone critical'),
    option('--asleep-max-age', type=duration, default=duration('7d'), metavar='TIME',
           help='warn if a drive in standby was last read longer ago, such as 12h (default: 7d)'),
    option('--acknowledged', action='append', default=[], metavar='VALUE',
           help='accept a value until it gets worse: SERIAL:METRIC=VALUE[:UNTIL[:WHY]]; may be repeated'),
))
NAMING = OptionGroup(OUTPUT, (
    option('--label', choices=LABELS, default='device', metavar='NAME',
           help='name drives by device, by-id, serial or wwn; list also uses it for -d (default: %(default)s)'),
    option('--hide-serial', action='store_true',
           help='omit serial numbers, except in device names and in names made by --label'),
))
CHECK_OUTPUT = OptionGroup(OUTPUT, (
    option('-ap', '--allperfs', dest='all_perfdata', action='store_true',
           help='print performance data for every reading'),
    option('--max-output', type=max_output, default=OUTPUT_LIMIT, metavar='BYTES',
           help='limit the output; Nagios with check_nrpe or check_by_ssh: 8000 (default: %(default)s)'),
    option('--format', choices=FORMATS, default=FORMATS[0], metavar='NAME',
           help='print nagios, or checkmk: a local check with one service for each drive (default: %(default)s)'),
))
COMMON = OptionGroup(OUTPUT, (
    option('-v', '--verbose', action='count', default=0,
           help="print notes and sources; -vv: also all readings; -vvv: also smartctl's call and output"),
    option('-V', '--version', dest='show_version', action='store_true', help='print versions and exit'),
    option('-h', '--help', action='help', help='print this help and exit'),
))
