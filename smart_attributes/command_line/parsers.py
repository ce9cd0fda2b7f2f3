"""argv -> Options. Usage errors leave with 3, as a monitoring daemon expects."""
from __future__ import annotations

import argparse

from ..errors import UsageError
from ..files import CONFIG
from ..model import OUTPUT_LIMIT
from ..typed import TYPE_CHECKING
from . import option_groups as groups
from .options import COMMANDS, GROUPS, JUDGING, PROGRAM, USER, Options

if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional, Sequence, Tuple

    from .options import Before


class Parser(argparse.ArgumentParser):
    """A parser that raises instead of leaving with 2, which would be CRITICAL."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f'{message}; {self.prog} --help shows what there is')


class Help(argparse.RawDescriptionHelpFormatter):
    """Help of a fixed width: to ask the terminal for its own, argparse would import 3 ms of code on every start."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=120)


def parse(argv: Sequence[str]) -> Options:
    """Return the options that *argv* (without the program's name) asks for.

    Raises UsageError; prints help and exits with 0 on --help.
    """
    command = argv[0] if argv and argv[0] in COMMANDS else 'check'
    parser, words = PARSERS[command](), argv if command == 'check' else argv[1:]
    before: Optional[Before] = None
    if all(_is_plain(word, parser) for word in words):
        values, rest = _parsed(parser, words)
    else:
        from ..v1_6 import command_line
        if command in JUDGING:
            command_line.add_options(parser)
        values, rest = _parsed(parser, [command_line.spelt(word, parser) for word in words])
        before = command_line.taken_out(values, rest, parser)
    if rest and before is None:
        parser.error(f'unrecognized arguments: {" ".join(rest)}')
    groups: Dict[str, Any] = {field: kind(**{name: values.pop(name) for name in kind._fields if name in values})
                              for field, kind in GROUPS.items()}
    return Options(command=command, before=before, **groups, **values)


def _is_plain(word: str, parser: Parser) -> bool:
    """Tell whether a word needs none of version 1.6's spellings and options, nor their help."""
    return word[:1] != '-' or (word.partition('=')[0] in parser._option_string_actions and word not in ('-h', '--help'))


def _parsed(parser: Parser, words: Sequence[str]) -> Tuple[Dict[str, Any], List[str]]:
    """Return the values by name, and the words that belong to no option."""
    given, rest = parser.parse_known_args(words)
    return {key: tuple(value) if isinstance(value, list) else value for key, value in vars(given).items()}, [
        word for word in rest if word != '--']


# --- one parser a command --------------------------------------------------------------

def _parser(prog: str, description: str, example: str, usage: str) -> Parser:
    return Parser(prog=prog, description=description, epilog=example, usage=usage, formatter_class=Help)


_WHAT_A_CHECK_TAKES = (groups.drives, groups.reading, groups.judging, groups.remembering, groups.data, groups.naming,
                       groups.common)


def _other_commands() -> str:
    return '\n'.join(f'  {name:{max(map(len, COMMANDS))}}  {summary}' for name, summary in COMMANDS.items())


_AFTER_THE_OPTIONS = f'''\
other commands; {PROGRAM} COMMAND --help shows their options:
{_other_commands()}

example:
  {PROGRAM} -d /dev/nvme0 -d megaraid,0-7@/dev/bus/0 --expect 9 -w endurance_used=80

exit status: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN'''


def _check_parser() -> Parser:
    parser = _parser(PROGRAM, 'Judge the SMART data of drives, as a plugin for Icinga and Nagios.', _AFTER_THE_OPTIONS,
                     '%(prog)s [-d ADDRESS | --scan | --report FILE] [options]')
    for group in _WHAT_A_CHECK_TAKES:
        group(parser)
    parser.add_argument('--expect', type=groups.expected, metavar='N',
                        help='CRITICAL when fewer drives answer; a sleeping one counts')
    parser.add_argument('--no-drives', type=groups.state, metavar='STATE',
                        help='state where a scan finds no drive, as in a virtual machine; default unknown, with '
                             '--expect 0 ok')
    parser.add_argument('-ap', '--allperfs', dest='all_perfdata', action='store_true', help='perfdata of every reading')
    parser.add_argument('--max-output', type=groups.max_output, default=OUTPUT_LIMIT, metavar='BYTES',
                        help='print at most this, perfdata included; 8000 for Nagios behind check_nrpe or check_by_ssh '
                             '(default: %(default)s)')
    return parser


def _triage_parser() -> Parser:
    parser = _parser(f'{PROGRAM} triage', 'Show all drives in one table, worst first.',
                     f'example:\n  {PROGRAM} triage --scan\n  {PROGRAM} triage --since 30d\n'
                     f'  {PROGRAM} triage --report tickets/ --json',
                     '%(prog)s [options]')
    for group in _WHAT_A_CHECK_TAKES:
        group(parser)
    parser.add_argument('--json', dest='as_json', action='store_true', help='the same as JSON')
    parser.add_argument('--html', metavar='FILE',
                        help='the same as one self-contained page: what to do, then all drives')
    parser.add_argument('--since', type=groups.duration, default=0, metavar='TIME',
                        help='tell as well what grew, came and went in that time, as history has it: 24h, 30d')
    return parser


def _list_parser() -> Parser:
    parser = _parser(f'{PROGRAM} list', 'List addresses, models, serials and WWNs; the first column goes after -d.',
                     f'example:\n  {PROGRAM} list --json\n  {PROGRAM} list --label by-id', '%(prog)s [options]')
    for group in (groups.drives, groups.reading, groups.naming, groups.common):
        group(parser)
    parser.add_argument('--json', dest='as_json', action='store_true', help='the same as JSON')
    return parser


def _explain_parser() -> Parser:
    parser = _parser(f'{PROGRAM} explain', 'Explain one drive: what was read, which entry, which limit, why.',
                     f'example:\n  {PROGRAM} explain -d /dev/sda', '%(prog)s (-d ADDRESS | --report FILE) [options]')
    for group in _WHAT_A_CHECK_TAKES:
        group(parser)
    return parser


def _sudoers_parser() -> Parser:
    parser = _parser(f'{PROGRAM} sudoers',
                     'Print the sudoers rule that admits the calls of smartctl that checks make, and no others.',
                     f'example:\n  {PROGRAM} sudoers > rule && visudo -cf rule && '
                     'install -m 0440 rule /etc/sudoers.d/check-smart-attributes', '%(prog)s [options]')
    parser.add_argument('--user', default=USER, metavar='NAME', help='who runs the checks; default %(default)s')
    parser.add_argument('--literal', action='store_true',
                        help='a line for each drive of this machine, no patterns; also where sudo is older than '
                             '1.9.10 or another one')
    parser.add_argument('-d', '--device', dest='devices', action='append', default=[], metavar='ADDRESS',
                        help='lines for this drive; wanted where its path is of your own making; repeatable')
    parser.add_argument('--type', dest='types', action='append', default=[], metavar='TYPE',
                        help='admit areca, or this type of a USB bridge, too, which sends vendor commands; repeatable')
    parser.add_argument('--config', default=CONFIG, metavar='DIR',
                        help='folder whose thresholds.d/*.json say what is not read; default %(default)s')
    groups.reading(parser)
    groups.common(parser)
    return parser


def _draft_parser() -> Parser:
    parser = _parser(f'{PROGRAM} draft', 'Print a new entry for attributes.json, ready to edit.',
                     f'example:\n  {PROGRAM} draft -d /dev/sda > my-entry.json',
                     '%(prog)s (-d ADDRESS | --report FILE) [options]')
    for group in (groups.drives, groups.reading, groups.data, groups.common):
        group(parser)
    return parser


def _validate_parser() -> Parser:
    parser = _parser(f'{PROGRAM} validate', 'Find the mistakes in files: entries, limits, those of version 1.6.',
                     f'example:\n  {PROGRAM} validate\n  {PROGRAM} validate my-entry.json\n'
                     f'  {PROGRAM} validate /etc/check-smart-attributes/thresholds.d/*.json',
                     '%(prog)s [FILE ...] [options]')
    parser.add_argument('files', nargs='*', metavar='FILE',
                        help='your entries, on top of the shipped ones, your limits, '
                        'or files of version 1.6; without any, attributes.json')
    parser.add_argument('--samples', metavar='DIR|FILE',
                        help='samples to validate the entries with; default tests/samples beside attributes.json')
    parser.add_argument('--models', metavar='FILE',
                        help='models on which overlaps are looked for; default tests/models.csv')
    parser.add_argument('--format', action='store_true', help='rewrite the files in their usual layout')
    groups.common(parser)
    return parser


def _measure_parser() -> Parser:
    parser = _parser(f'{PROGRAM} measure', 'Compare attributes.json with what real drives say of themselves.',
                     f'example:\n  {PROGRAM} measure drives.jsonl.gz', '%(prog)s FILE [options]')
    parser.add_argument('files', nargs=1, metavar='FILE',
                        help='drives as facts, one JSON object a line, plain or gzip')
    parser.add_argument('--write', action='store_true',
                        help='write what was counted of each family into tests/evidence.json')
    groups.common(parser)
    return parser


def _migrate_parser() -> Parser:
    parser = _parser(f'{PROGRAM} migrate',
                     'Turn a database or a user configuration of version 1.6 into files of this version.', f'''\
example:
  {PROGRAM} migrate /etc/nagios-plugins/config/check_smartdb.json my-config.json -d /dev/sda -o {CONFIG}

Without -o the files are printed. A sentence for each thing that could not be carried over follows.
A user configuration needs the database beside it, and its drives (-d), to know what its numbers mean.

exit status: 0 all carried over, 1 something was not, 3 nothing was''', '%(prog)s OLD.json [OLD.json] [options]')
    parser.add_argument('files', nargs='+', metavar='OLD.json',
                        help='check_smartdb.json, or a user configuration (-ucfgj), or both')
    parser.add_argument('-o', '--output', metavar='DIR', help='folder for attributes.d/*.json and thresholds.d/*.json')
    for group in (groups.drives, groups.reading, groups.data, groups.common):
        group(parser)
    return parser


_ACKNOWLEDGING = f'''\
example:
  {PROGRAM} acknowledge -d /dev/sda reallocated --why "stable since 2024" --until 2027-01-31
  {PROGRAM} acknowledge --all --why "as found"
  {PROGRAM} acknowledge --withdraw EXAMPLE0001:reallocated

Run it as root: it writes into acknowledged.json of the configuration folder, which every check reads, and keeps
everything else in that file. Metrics need -d or --report, so that they are not accepted on all drives at once.

It refuses
  what the drive itself reports: health FAILED, an attribute failing now, a failed self-test, a warning of NVMe
  a metric that does not exist, that the drive does not report, or that has no value now
  a drive that cannot be read, or whose serial number is missing or the same on many drives, such as 000
  --until on a day that is past; --list and --withdraw beside metrics or --all; --withdraw of what is not acknowledged
  a file that is not JSON, has a key twice, or is writable by others, and a folder that is
  to wait longer than 10 seconds for another acknowledge

exit status: 0 done, 1 part of it was refused, 3 all of it was'''


def _acknowledge_parser() -> Parser:
    parser = _parser(f'{PROGRAM} acknowledge',
                     'Acknowledge known values of single drives: no alert until they get worse.', _ACKNOWLEDGING,
                     '%(prog)s (-d ADDRESS | --report FILE) METRIC [METRIC ...] --why WHY [options]')
    parser.add_argument('metrics', nargs='*', metavar='METRIC', help='acknowledge the current value of this metric')
    parser.add_argument('--all', dest='every_alarm', action='store_true',
                        help='acknowledge whatever alerts now, on all drives that are read')
    parser.add_argument('--why', default='', metavar='WHY',
                        help='reason, 8 characters or more; shown with -v, by triage and by explain')
    parser.add_argument('--until', default='', metavar='DAY', help='last day, such as 2027-01-31; default: for ever')
    parser.add_argument('--list', dest='shown', action='store_true',
                        help='list what is acknowledged, by whom, when and why')
    parser.add_argument('--withdraw', action='append', default=[], metavar='SERIAL[:METRIC]',
                        help='withdraw what is acknowledged of this drive, or one metric of it; repeatable')
    for group in (groups.drives, groups.reading, groups.data, groups.common):
        group(parser)
    return parser


def _history_parser() -> Parser:
    parser = _parser(f'{PROGRAM} history',
                     'Show what history holds of drives, fill it from smartd, or forget a drive.', f'''\
example:
  {PROGRAM} history -d /dev/sda reallocated
  {PROGRAM} history --import
  {PROGRAM} history --forget EXAMPLE0001

--import takes the last 400 days of the attribute logs that smartd keeps in /var/lib/smartmontools, so that growth and
dates are there from the first day on.

exit status: 0 done, 3 nothing was''', '%(prog)s [-d ADDRESS] [METRIC ...] [options]')
    parser.add_argument('metrics', nargs='*', metavar='METRIC', help='only these numbers')
    parser.add_argument('--json', dest='as_json', action='store_true', help='all points as JSON')
    parser.add_argument('--import', dest='imports', action='store_true',
                        help='fill history from the logs of smartd, of the drives that are read')
    parser.add_argument('--forget', action='append', default=[], metavar='SERIAL',
                        help='forget a drive that is gone for good; repeatable')
    for group in (groups.drives, groups.reading, groups.data, groups.naming, groups.common):
        group(parser)
    return parser


def _metrics_parser() -> Parser:
    parser = _parser(f'{PROGRAM} metrics', 'Print the numbers and states of drives for Prometheus.', f'''\
example:
  {PROGRAM} metrics --scan --output /var/lib/prometheus/node-exporter/smart.prom

What is wrong is said on standard error, too. The metrics tell of each drive whether it was read, and when.

exit status: 0 the metrics are out and a drive answered, asleep or not, 3 otherwise''', '%(prog)s [options]')
    for group in _WHAT_A_CHECK_TAKES:
        group(parser)
    parser.add_argument('--output', metavar='FILE',
                        help='write them there, in one step, for the textfile collector of node_exporter')
    parser.add_argument('--openmetrics', action='store_true',
                        help='OpenMetrics instead of text format 0.0.4, which is what the textfile collector reads')
    return parser


def _doctor_parser() -> Parser:
    parser = _parser(f'{PROGRAM} doctor',
                     'Look at this installation as a check meets it; each line says good, or what to do.', f'''\
example:
  {PROGRAM} doctor --user {USER}
  {PROGRAM} doctor --user icinga -d /dev/nvme0 -d megaraid,0-7@/dev/bus/0

Give it the options of your check. It opens the folder of state as a check does, changes nothing else, and ends within
the time of -t.

exit status: 0 all is good, 1 something is to be done, 3 it could not be looked at''',
                     '%(prog)s [--user NAME] [options]')
    parser.add_argument('--user', default='', metavar='NAME',
                        help='who runs the checks: as root, look as this user; default: whoever runs it')
    for group in (groups.drives, groups.reading, groups.data, groups.naming, groups.common):
        group(parser)
    parser.add_argument('--json', dest='as_json', action='store_true', help='the same as JSON')
    return parser


def _fleet_parser() -> Parser:
    parser = _parser(f'{PROGRAM} fleet', 'Show the drives of many hosts, worst first: from Icinga 2, or from folders.',
                     f'''\
example:
  {PROGRAM} fleet --icinga https://master.example.org:5665 --user fleet --password-file /etc/fleet.password \\
    --ca /var/lib/icinga2/certs/ca.crt --html /var/www/html/drives.html --plan order.csv
  {PROGRAM} fleet /srv/collected/

Nothing runs on the hosts: what their checks have said last is all that is asked for. doc/fleet.md tells how.

exit status: 0 all could be asked and a drive was told, 3 otherwise''',
                     '%(prog)s [--icinga URL] [FOLDER|FILE ...] [options]')
    parser.add_argument('files', nargs='*', metavar='FOLDER|FILE',
                        help='files of triage --json, or what smartctl printed, in folders named after hosts')
    for group in (groups.icinga, groups.shown, groups.data, groups.common):
        group(parser)
    return parser


PARSERS: Mapping[str, Callable[[], Parser]] = {
    'check': _check_parser, 'triage': _triage_parser, 'list': _list_parser, 'explain': _explain_parser,
    'sudoers': _sudoers_parser, 'draft': _draft_parser, 'validate': _validate_parser, 'measure': _measure_parser,
    'migrate': _migrate_parser, 'acknowledge': _acknowledge_parser, 'history': _history_parser,
    'metrics': _metrics_parser, 'doctor': _doctor_parser, 'fleet': _fleet_parser}
