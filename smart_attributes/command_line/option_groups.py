"""The groups of options that several commands share, and what their values may be."""
from __future__ import annotations

import argparse

from ..defaults import DRIVE_TIMEOUT, PARALLEL, SMARTCTL, TIMEOUT
from ..durations import HOUR, LETTERS
from ..files import CONFIG
from ..model import State
from ..typed import TYPE_CHECKING
from .options import LABELS, STATE_WORDS

if TYPE_CHECKING:
    from typing import Any, Callable, Tuple

# --- values --------------------------------------------------------------------

def _metric_range(text: str) -> Tuple[str, str]:
    metric, sign, limit = text.partition('=')
    if not sign or not metric or not limit:
        raise argparse.ArgumentTypeError(f'"{text}" is not metric=RANGE, for example endurance_used=80')
    return metric, limit


def state(text: str) -> State:
    """Return the state of a word. Raises ArgumentTypeError."""
    if text.lower() not in STATE_WORDS:
        raise argparse.ArgumentTypeError(f'"{text}" is no state; choose from {", ".join(STATE_WORDS)}')
    return State[text.upper()]


def _number(name: str, lowest: float, highest: float, kind: Callable[[str], Any]) -> Callable[[str], Any]:
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
    seconds = int(LETTERS.get(text[-1:], 0))
    if not (seconds and text[:-1].isascii() and text[:-1].isdigit() and 0 < int(text[:-1]) < 100_000):
        raise argparse.ArgumentTypeError(f'"{text}" is no time; write 90m, 12h, 7d or 2w')
    return int(text[:-1]) * seconds


seconds = _number('number of seconds', 0.1, HOUR, float)
max_output = _number('number of bytes', 2000, 1000000, int)
_count = _number('number', 1, 1000, int)
expected = _number('number of drives', 0, 10000, int)
_attribute = _number('attribute number', 1, 255, int)


# --- groups --------------------------------------------------------------------

def drives(parser: argparse.ArgumentParser) -> None:
    """Add which drives."""
    group = parser.add_argument_group('which drives')
    group.add_argument('-d', '--device', dest='devices', action='append', default=[], metavar='ADDRESS',
                       help='/dev/sda, or TYPE@PATH: megaraid,6@/dev/bus/0, megaraid,[0-7,16]@/dev/bus/0, '
                            'sat@/dev/sg2; repeatable')
    group.add_argument('--scan', action='store_true', help='the drives that smartctl --scan finds; so also without -d')
    group.add_argument('--report', dest='reports', action='append', default=[], metavar='FILE|DIR',
                       help='recorded smartctl outputs instead of drives: JSON or text, -a or -x; repeatable')
    group.add_argument('--match', action='append', default=[], metavar='PATTERN',
                       help='only drives whose path, model or serial contains this regular expression')
    group.add_argument('--ignore', action='append', default=[], metavar='PATTERN',
                       help='not the drives that contain it')


def reading(parser: argparse.ArgumentParser) -> None:
    """Add how they are read."""
    group = parser.add_argument_group('how they are read')
    group.add_argument('-p', '--path', dest='smartctl', default=SMARTCTL, metavar='FILE',
                       help=f'smartctl; default {SMARTCTL}')
    group.add_argument('--nosudo', '-nosudo', action='store_true',
                       help='do not put sudo -n before smartctl when not root')
    group.add_argument('--jobs', type=_count, default=PARALLEL, metavar='N',
                       help='drives read at once; default %(default)s')
    group.add_argument('--state-dir', default='', metavar='DIR',
                       help='folder of what lasts from one check to the next: what drives have said, which ones '
                            'earlier checks wait for; '
                            'default /var/lib/check-smart-attributes, else one of your own below ~/.local/state')
    group.add_argument('--drive-timeout', type=seconds, default=DRIVE_TIMEOUT, metavar='SECONDS',
                       help='a drive that takes longer is UNKNOWN; default %(default)g')
    group.add_argument('-t', '--timeout', type=seconds, default=TIMEOUT, metavar='SECONDS',
                       help='for everything; what is late is UNKNOWN, the rest is reported; default %(default)g')


def data(parser: argparse.ArgumentParser) -> None:
    """Add the files that say what drives mean and when they are bad."""
    group = parser.add_argument_group('data files')
    group.add_argument('--config', default=CONFIG, metavar='DIR',
                       help='folder with attributes.d/*.json and thresholds.d/*.json; default %(default)s')
    group.add_argument('--attributes', action='append', default=[], metavar='FILE',
                       help='more entries, stronger than the shipped ones')
    group.add_argument('--thresholds', action='append', default=[], metavar='FILE',
                       help='limits of this site; later files win')


def judging(parser: argparse.ArgumentParser) -> None:
    """Add how they are judged."""
    group = parser.add_argument_group('how they are judged')
    for letter, word in (('-w', 'warning'), ('-c', 'critical')):
        group.add_argument(letter, f'--{word}', type=_metric_range, action='append', default=[], metavar='METRIC=RANGE',
                           help=f'{word} limit of a metric: endurance_used=80, spare_available=20:, '
                                'endurance_time_left=30d:; repeatable')
    group.add_argument('--ignore-metric', dest='ignore_metrics', action='append', default=[], metavar='METRIC',
                       help='never judge this metric')
    group.add_argument('--ignore-attribute', dest='ignore_attributes', type=_attribute, action='append', default=[],
                       metavar='N',
                       help='never judge what comes from this attribute')
    group.add_argument('--unknown-model', type=state, default=State.OK, metavar='STATE',
                       help='state of a drive without an entry in attributes.json; default ok')
    group.add_argument('-cu', '--critical-on-unknown', '--critical_on_unknown', dest='unknown_model',
                       action='store_const',
                       const=State.CRITICAL, help='the same as --unknown-model critical')
    group.add_argument('--selftest-max-age', type=duration, default=0, metavar='TIME',
                       help='WARNING where the newest extended self-test that passed is older, or none is known: 35d; '
                            'default: any age')
    group.add_argument('--asleep', type=state, default=State.OK, metavar='STATE',
                       help='state of a drive in standby; default ok')


def remembering(parser: argparse.ArgumentParser) -> None:
    """Add what is remembered and accepted."""
    group = parser.add_argument_group('what is remembered and accepted')
    group.add_argument('--no-history', action='store_true', help='remember nothing, and judge no growth')
    group.add_argument('--history-required', type=state, metavar='STATE',
                       help='state where history cannot be used; default: it is said')
    group.add_argument('--expect-known', action='store_true',
                       help='CRITICAL when a drive that an earlier check has met at these addresses is gone; history '
                            '--forget retires one')
    group.add_argument('--asleep-max-age', type=duration, default=duration('7d'), metavar='TIME',
                       help='a sleeping drive that nobody has read for longer is WARNING: 12h, 30d; default 7d')
    group.add_argument('--acknowledged', action='append', default=[], metavar='SERIAL:METRIC=VALUE[:UNTIL[:WHY]]',
                       help='accept a number of one drive: silent at it, loud beyond; '
                            'EXAMPLE0001:reallocated=8:2027-01-31; repeatable')


def naming(parser: argparse.ArgumentParser) -> None:
    """Add how they are named."""
    group = parser.add_argument_group('how they are named')
    group.add_argument('--label', choices=LABELS, default='device',
                       help='what names are made of, and with by-id the addresses that list prints; '
                            'default %(default)s')
    group.add_argument('--hide-serial', action='store_true',
                       help='print no serial numbers but those in addresses and in what --label makes of them')


def common(parser: argparse.ArgumentParser) -> None:
    """Add what every command takes."""
    parser.add_argument('-v', '--verbose', action='count', default=0,
                        help='-v notes and sources, -vv all readings, -vvv smartctl\'s call and output')
    parser.add_argument('-V', '--version', dest='show_version', action='store_true', help='print versions and exit')


def icinga(parser: argparse.ArgumentParser) -> None:
    """Add how Icinga 2 is asked."""
    group = parser.add_argument_group('Icinga 2')
    group.add_argument('--icinga', default='', metavar='URL', help='its API: https://master.example.org:5665')
    group.add_argument('--user', dest='api_user', default='', metavar='NAME',
                       help='ApiUser with the permissions objects/query/Service and objects/query/Host')
    group.add_argument('--password-file', default='', metavar='FILE',
                       help='file whose first line is the password; refused where its group or others can read it')
    group.add_argument('--cert', dest='certificate', default='', metavar='FILE',
                       help='certificate of a client, in place of a password')
    group.add_argument('--key', default='', metavar='FILE',
                       help='private key of --cert; refused where its group or others can read it')
    group.add_argument('--ca', dest='authority', default='', metavar='FILE',
                       help='certificate of the authority that Icinga\'s is verified with: '
                            '/var/lib/icinga2/certs/ca.crt; default: those of this system')
    group.add_argument('--icinga-name', default='', metavar='NAME',
                       help='name in Icinga\'s certificate (NodeName), where the URL has another')
    group.add_argument('--filter', default='', metavar='EXPRESSION',
                       help='only services for which it is true: service.host_name == "web1"')
    group.add_argument('--hosts', nargs='?', const='', metavar='EXPRESSION',
                       help='tell which hosts, or which of these, have no such service; needs objects/query/Host')


def shown(parser: argparse.ArgumentParser) -> None:
    """Add what is shown of a fleet."""
    group = parser.add_argument_group('what is shown')
    group.add_argument('--json', dest='as_json', action='store_true', help='all drives as JSON, host by host')
    group.add_argument('--html', metavar='FILE', help='a page: what to do and to order, then the drives')
    group.add_argument('--plan', default='', metavar='FILE', help='which models to order by which quarter, as CSV')
    group.add_argument('--limit', type=expected, default=40, metavar='N',
                       help='drives in the table, the worst ones; 0 for all; default %(default)s')
    group.add_argument('--hide-serial', action='store_true', help='print no serial numbers')
    group.add_argument('-t', '--timeout', type=seconds, default=300.0, metavar='SECONDS',
                       help='for everything; default %(default)g')
