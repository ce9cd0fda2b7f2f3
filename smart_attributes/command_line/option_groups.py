"""The groups of options that commands share, as data, and the values that options take."""
from __future__ import annotations

import argparse

from ..constants import DRIVE_TIMEOUT, HOUR, LETTERS, PARALLEL, SMARTCTL, TIMEOUT
from ..files import CONFIG
from ..model import State
from ..typed import TYPE_CHECKING, NamedTuple
from .options import LABELS, STATE_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Option = tuple[tuple[str, ...], Mapping[str, Any]]  # spellings, and the arguments of add_argument()


class OptionGroup(NamedTuple):
    """Options under one heading of the help; a heading of '' is that of the options without a group."""

    title: str
    options: tuple[Option, ...]


def option(*spellings: str, **arguments: Any) -> Option:
    """Return an option. arguments: those of argparse's add_argument()."""
    return spellings, arguments


# --- values: each function returns the value of an argument, or raises ArgumentTypeError ----------

def _metric_range(text: str) -> tuple[str, str]:
    metric, _, limit = text.partition('=')
    if not metric or not limit:
        raise argparse.ArgumentTypeError(f'"{text}" is not metric=RANGE, for example endurance_used=80')
    return metric, limit


def state(text: str) -> State:
    """Return the state that a word names, in capitals or not. Raises ArgumentTypeError."""
    if text.lower() not in STATE_WORDS:
        raise argparse.ArgumentTypeError(f'"{text}" is no state; choose from {", ".join(STATE_WORDS)}')
    return State[text.upper()]


def _number(name: str, lowest: float, highest: float, kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the function for a number within limits. kind: int or float."""
    def convert(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not lowest <= number <= highest:
            raise argparse.ArgumentTypeError(f'"{text}" is no {name} from {lowest:g} to {highest:g}')
        return number
    return convert


def duration(text: str) -> int:
    """Return the seconds of a time such as 7d. Raises ArgumentTypeError."""
    number, seconds = text[:-1], int(LETTERS.get(text[-1:], 0))
    if not (seconds and number.isascii() and number.isdigit() and 0 < int(number) < 100_000):
        raise argparse.ArgumentTypeError(f'"{text}" is no time; write 90m, 12h, 7d or 2w')
    return int(number) * seconds


seconds = _number('number of seconds', 0.1, HOUR, float)
max_output = _number('number of bytes', 2000, 1000000, int)
_count = _number('number', 1, 1000, int)
expected = _number('number of drives', 0, 10000, int)
_attribute = _number('attribute number', 1, 255, int)


# --- groups --------------------------------------------------------------------

JSON = option('--json', dest='as_json', action='store_true', help='the same as JSON')
DRIVES = OptionGroup('which drives', (
    option('-d', '--device', dest='devices', action='append', default=[], metavar='ADDRESS',
           help='/dev/sda, or TYPE@PATH: megaraid,6@/dev/bus/0, megaraid,[0-7,16]@/dev/bus/0, sat@/dev/sg2; '
                'repeatable'),
    option('--scan', action='store_true', help='the drives that smartctl --scan finds; so also without -d'),
    option('--report', dest='reports', action='append', default=[], metavar='FILE|DIR',
           help='recorded smartctl outputs instead of drives: JSON or text, -a or -x; repeatable'),
    option('--match', action='append', default=[], metavar='PATTERN',
           help='only drives whose path, model or serial contains this regular expression'),
    option('--ignore', action='append', default=[], metavar='PATTERN', help='not the drives that contain it'),
))
READING = OptionGroup('how they are read', (
    option('-p', '--path', dest='smartctl', default=SMARTCTL, metavar='FILE', help=f'smartctl; default {SMARTCTL}'),
    option('--nosudo', '-nosudo', action='store_true', help='do not put sudo -n before smartctl when not root'),
    option('--jobs', type=_count, default=PARALLEL, metavar='N', help='drives read at once; default %(default)s'),
    option('--state-dir', default='', metavar='DIR',
           help='folder of what lasts from one check to the next: what '
                'drives have said, which ones earlier checks wait for; default /var/lib/check-smart-attributes, else '
                'one of your own below ~/.local/state'),
    option('--drive-timeout', type=seconds, default=DRIVE_TIMEOUT, metavar='SECONDS',
           help='a drive that takes longer is UNKNOWN; default %(default)g'),
    option('-t', '--timeout', type=seconds, default=TIMEOUT, metavar='SECONDS',
           help='for everything; what is late is UNKNOWN, the rest is reported; default %(default)g'),
))
DATA = OptionGroup('data files', (
    option('--config', default=CONFIG, metavar='DIR',
           help='folder with attributes.d/*.json and thresholds.d/*.json; default %(default)s'),
    option('--attributes', action='append', default=[], metavar='FILE',
           help='more entries, stronger than the shipped ones'),
    option('--thresholds', action='append', default=[], metavar='FILE', help='limits of this site; later files win'),
))
JUDGING = OptionGroup('how they are judged', (
    *(option(letter, f'--{word}', type=_metric_range, action='append', default=[], metavar='METRIC=RANGE',
             help=f'{word} limit of a metric: endurance_used=80, spare_available=20:, endurance_time_left=30d:; '
                  'repeatable') for letter, word in (('-w', 'warning'), ('-c', 'critical'))),
    option('--ignore-metric', dest='ignore_metrics', action='append', default=[], metavar='METRIC',
           help='never judge this metric'),
    option('--ignore-attribute', dest='ignore_attributes', type=_attribute, action='append', default=[], metavar='N',
           help='never judge what comes from this attribute'),
    option('--unknown-model', type=state, default=State.OK, metavar='STATE',
           help='state of a drive without an entry in attributes.json; default ok'),
    option('-cu', '--critical-on-unknown', '--critical_on_unknown', dest='unknown_model', action='store_const',
           const=State.CRITICAL, help='the same as --unknown-model critical'),
    option('--selftest-max-age', type=duration, default=0, metavar='TIME',
           help='WARNING where the newest extended self-test that passed is older, or none is known: 35d; default: any '
                'age'),
    option('--asleep', type=state, default=State.OK, metavar='STATE', help='state of a drive in standby; default ok'),
))
HISTORY = OptionGroup('what is remembered and accepted', (
    option('--no-history', action='store_true', help='remember nothing, and judge no growth'),
    option('--history-required', type=state, metavar='STATE',
           help='state where history cannot be used; default: it is said'),
    option('--expect-known', action='store_true',
           help='CRITICAL when a drive that an earlier check has met at these '
                'addresses is gone; history --forget retires one'),
    option('--asleep-max-age', type=duration, default=duration('7d'), metavar='TIME',
           help='a sleeping drive that nobody has read for longer is WARNING: 12h, 30d; default 7d'),
    option('--acknowledged', action='append', default=[], metavar='SERIAL:METRIC=VALUE[:UNTIL[:WHY]]',
           help='accept a number of one drive: silent at it, loud beyond; EXAMPLE0001:reallocated=8:2027-01-31; '
                'repeatable'),
))
NAMING = OptionGroup('how they are named', (
    option('--label', choices=LABELS, default='device',
           help='what names are made of, and with by-id the addresses that list prints; default %(default)s'),
    option('--hide-serial', action='store_true',
           help='print no serial numbers but those in addresses and in what --label makes of them'),
))
COMMON = OptionGroup('', (
    option('-v', '--verbose', action='count', default=0,
           help='-v notes and sources, -vv all readings, -vvv smartctl\'s call and output'),
    option('-V', '--version', dest='show_version', action='store_true', help='print versions and exit'),
))
ICINGA = OptionGroup('Icinga 2', (
    option('--icinga', default='', metavar='URL', help='its API: https://master.example.org:5665'),
    option('--user', dest='api_user', default='', metavar='NAME',
           help='ApiUser with the permissions objects/query/Service and objects/query/Host'),
    option('--password-file', default='', metavar='FILE',
           help='file whose first line is the password; refused where its group or others can read it'),
    option('--cert', dest='certificate', default='', metavar='FILE',
           help='certificate of a client, in place of a password'),
    option('--key', default='', metavar='FILE',
           help='private key of --cert; refused where its group or others can read it'),
    option('--ca', dest='authority', default='', metavar='FILE',
           help='certificate of the authority that Icinga\'s is '
                'verified with: /var/lib/icinga2/certs/ca.crt; default: those of this system'),
    option('--icinga-name', default='', metavar='NAME',
           help='name in Icinga\'s certificate (NodeName), where the URL has another'),
    option('--filter', default='', metavar='EXPRESSION',
           help='only services for which it is true: service.host_name == "web1"'),
    option('--hosts', nargs='?', const='', metavar='EXPRESSION',
           help='tell which hosts, or which of these, have no such service; needs objects/query/Host'),
))
FLEET_OUTPUT = OptionGroup('what is shown', (
    option('--json', dest='as_json', action='store_true', help='all drives as JSON, host by host'),
    option('--html', metavar='FILE', help='a page: what to do and to order, then the drives'),
    option('--plan', default='', metavar='FILE', help='which models to order by which quarter, as CSV'),
    option('--limit', type=expected, default=40, metavar='N',
           help='drives in the table, the worst ones; 0 for all; default %(default)s'),
    option('--hide-serial', action='store_true', help='print no serial numbers'),
    option('-t', '--timeout', type=seconds, default=300.0, metavar='SECONDS',
           help='for everything; default %(default)g'),
))
