"""The commands: one record for each, from which its parser, help, documents, time limit and use of history follow."""
from __future__ import annotations

import sys
import time
from importlib import import_module

from .. import VERSION, alarm
from ..command_line import option_groups as groups
from ..command_line import options as values
from ..command_line import parsers
from ..command_line.option_groups import option
from ..command_line.options import OK, PROGRAM, USER, Options
from ..command_line.parsers import Command
from ..files import CONFIG
from ..model import OUTPUT_LIMIT
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..reading.processes import Runner
    from ..typed import Json


def do(argv: Sequence[str], runner: Runner) -> int:
    """Run the command of a command line. Raises SmartError where it cannot be done."""
    command, options = _understood(argv)
    if options.show_version:
        return _version(options)
    if command.has_time_limit:
        alarm.arm(options.how_read.timeout)
    return command.run(options, runner)


def parse(argv: Sequence[str]) -> Options:
    """Return what *argv*, without the program's name, asks for. Raises UsageError; exits with 0 after --help."""
    return _understood(argv)[1]


def parser(command: Command) -> parsers.Parser:
    """Return the parser of a command."""
    return parsers.parser(command, COMMANDS[1:] if command is COMMANDS[0] else ())


def _understood(argv: Sequence[str]) -> tuple[Command, Options]:
    check, *others = COMMANDS
    command = next((each for each in others if argv[:1] == [each.name]), check)
    return command, parsers.parse(command, parser(command), argv if command is check else argv[1:])


def _version(options: Options) -> int:
    from ..check.rulebook import shipped_database
    database = shipped_database(options.data.config)
    print(f'{PROGRAM} {VERSION}, attributes.json of {database.get("date")}, Python {sys.version.split()[0]}')
    return OK


def _module(name: str) -> Callable[[Options, Runner], int]:
    """Return run() of a module beside this one, which is loaded for its command alone."""
    return lambda options, runner: int(import_module(f'.{name}', __package__).run(options, runner))


# --- the forms of triage's document: each is a function of the document, and an option below ----

def _json(document: Json) -> str:
    from ..output import json_document
    return json_document.as_text(document)


def _page(document: Json) -> str:
    import socket

    from ..output import page
    return page.page(document, f'Drives of {socket.gethostname()}', time.time())


def _form(spelling: str, text: Callable[[Json], str], file: str = '', *, help: str) -> groups.Option:
    """Return the option for a form of triage's document. file: what the help calls its value; without, it is printed.
    """
    where = {'type': lambda path: (text, path), 'action': 'append', 'metavar': file} if file else {
        'action': 'append_const', 'const': (text, None)}
    return option(spelling, dest='forms', default=[], help=help, **where)


# --- the table -------------------------------------------------------------------------------

_SURVEYED = (groups.DRIVES, groups.READING, groups.DATA, groups.COMMON)
_NAMED = (groups.DRIVES, groups.READING, groups.DATA, groups.NAMING, groups.COMMON)
_JUDGED = (groups.DRIVES, groups.READING, groups.JUDGING, groups.HISTORY, groups.DATA, groups.NAMING, groups.COMMON)

# In the order of --help and the man page. The first one is what runs where no other is named.
COMMANDS = (
    Command(
        'check', 'Judge the SMART data of drives, as a plugin for Icinga and Nagios.',
        '[-d ADDRESS | --scan | --report FILE] [options]', f'''\
example:
  {PROGRAM} -d /dev/nvme0 -d megaraid,0-7@/dev/bus/0 --expect 9 -w endurance_used=80

exit status: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN''', _JUDGED, (
            option('--expect', type=groups.expected, metavar='N',
                   help='CRITICAL when fewer drives answer; a sleeping one counts'),
            option('--no-drives', type=groups.state, metavar='STATE',
                   help='state where a scan finds no drive, as in a virtual machine; default unknown, with --expect 0 '
                        'ok'),
            option('-ap', '--allperfs', dest='all_perfdata', action='store_true', help='perfdata of every reading'),
            option('--max-output', type=groups.max_output, default=OUTPUT_LIMIT, metavar='BYTES',
                   help='print at most this, perfdata included; 8000 for Nagios behind check_nrpe or check_by_ssh '
                        '(default: %(default)s)')),
        values.CheckOptions, history='writes', has_time_limit=True, takes_old_options=True, run=_module('check')),
    Command(
        'triage', 'Show all drives in one table, worst first.', '[options]', f'''\
example:
  {PROGRAM} triage --scan
  {PROGRAM} triage --since 30d
  {PROGRAM} triage --report tickets/ --json''', _JUDGED, (
            _form('--json', _json, help='the same as JSON'),
            _form('--html', _page, 'FILE', help='the same as one self-contained page: what to do, then all drives'),
            option('--since', type=groups.duration, default=0, metavar='TIME',
                   help='tell as well what grew, came and went in that time, as history has it: 24h, 30d')),
        values.TriageOptions, history='reads', has_time_limit=True, takes_old_options=True, run=_module('triage')),
    Command(
        'list', 'List addresses, models, serials and WWNs; the first column goes after -d.', '[options]',
        f'example:\n  {PROGRAM} list --json\n  {PROGRAM} list --label by-id',
        (groups.DRIVES, groups.READING, groups.NAMING, groups.COMMON), (groups.JSON,),
        values.ListOptions, history='', has_time_limit=True, takes_old_options=False, run=_module('list')),
    Command(
        'explain', 'Explain one drive: its readings, database entry and limits.',
        '(-d ADDRESS | --report FILE) [options]', f'example:\n  {PROGRAM} explain -d /dev/sda', _JUDGED, (),
        None, history='reads', has_time_limit=True, takes_old_options=True, run=_module('explain')),
    Command(
        'sudoers', 'Print the sudo rule that lets this plugin, and nothing else, run smartctl as root.', '[options]',
        f'example:\n  {PROGRAM} sudoers > rule && visudo -cf rule && '
        'install -m 0440 rule /etc/sudoers.d/check-smart-attributes', (groups.READING, groups.COMMON), (
            option('--user', default=USER, metavar='NAME', help='who runs the checks; default %(default)s'),
            option('--literal', action='store_true',
                   help='a line for each drive of this machine, no patterns; also where sudo is older than 1.9.10 or '
                        'another one'),
            option('-d', '--device', dest='devices', action='append', default=[], metavar='ADDRESS',
                   help='lines for this drive; wanted where its path is of your own making; repeatable'),
            option('--type', dest='types', action='append', default=[], metavar='TYPE',
                   help='admit areca, or this type of a USB bridge, too, which sends vendor commands; repeatable'),
            option('--config', default=CONFIG, metavar='DIR',
                   help='folder whose thresholds.d/*.json say what is not read; default %(default)s')),
        values.SudoersOptions, history='', has_time_limit=False, takes_old_options=False, run=_module('sudoers')),
    Command(
        'draft', 'Draft a new entry for attributes.json from a drive or a report.',
        '(-d ADDRESS | --report FILE) [options]', f'example:\n  {PROGRAM} draft -d /dev/sda > my-entry.json',
        _SURVEYED, (), None, history='', has_time_limit=True, takes_old_options=False, run=_module('draft')),
    Command(
        'validate', 'Find the mistakes in attributes.json and in your own files.', '[FILE ...] [options]', f'''\
example:
  {PROGRAM} validate
  {PROGRAM} validate my-entry.json
  {PROGRAM} validate /etc/check-smart-attributes/thresholds.d/*.json''', (groups.COMMON,), (
            option('files', nargs='*', metavar='FILE',
                   help='your entries, on top of the shipped ones, your limits, or files of version 1.6; without any, '
                        'attributes.json'),
            option('--samples', metavar='DIR|FILE',
                   help='samples to validate the entries with; default tests/samples beside attributes.json'),
            option('--models', metavar='FILE',
                   help='models on which overlaps are looked for; default tests/models.csv'),
            option('--format', action='store_true', help='rewrite the files in their usual layout')),
        values.ValidateOptions, history='', has_time_limit=False, takes_old_options=False, run=_module('validate')),
    Command(
        'measure', 'Compare attributes.json with what real drives say of themselves.', 'FILE [options]',
        f'example:\n  {PROGRAM} measure drives.jsonl.gz', (groups.COMMON,), (
            option('files', nargs=1, metavar='FILE', help='drives as facts, one JSON object a line, plain or gzip'),
            option('--write', action='store_true',
                   help='write what was counted of each family into tests/evidence.json')),
        values.MeasureOptions, history='', has_time_limit=False, takes_old_options=False, run=_module('measure')),
    Command(
        'migrate', 'Turn files of version 1.6 into limits and entries of this version.',
        'OLD.json [OLD.json] [options]', f'''\
example:
  {PROGRAM} migrate /etc/nagios-plugins/config/check_smartdb.json my-config.json -d /dev/sda -o {CONFIG}

Without -o the files are printed. A sentence for each thing that could not be carried over follows.
A user configuration needs the database beside it, and its drives (-d), to know what its numbers mean.

exit status: 0 all carried over, 1 something was not, 3 nothing was''', _SURVEYED, (
            option('files', nargs='+', metavar='OLD.json',
                   help='check_smartdb.json, or a user configuration (-ucfgj), or both'),
            option('-o', '--output', metavar='DIR', help='folder for attributes.d/*.json and thresholds.d/*.json')),
        values.MigrateOptions, history='', has_time_limit=False, takes_old_options=False, run=_module('migrate')),
    Command(
        'acknowledge', 'Accept values of single drives: no alert until they get worse.',
        '(-d ADDRESS | --report FILE) METRIC [METRIC ...] --why WHY [options]', f'''\
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

exit status: 0 done, 1 part of it was refused, 3 all of it was''', _SURVEYED, (
            option('metrics', nargs='*', metavar='METRIC', help='acknowledge the current value of this metric'),
            option('--all', dest='every_alarm', action='store_true',
                   help='acknowledge whatever alerts now, on all drives that are read'),
            option('--why', default='', metavar='WHY',
                   help='reason, 8 characters or more; shown with -v, by triage and by explain'),
            option('--until', default='', metavar='DAY', help='last day, such as 2027-01-31; default: for ever'),
            option('--list', dest='shown', action='store_true',
                   help='list what is acknowledged, by whom, when and why'),
            option('--withdraw', action='append', default=[], metavar='SERIAL[:METRIC]',
                   help='withdraw what is acknowledged of this drive, or one metric of it; repeatable')),
        values.AcknowledgeOptions, history='reads', has_time_limit=True, takes_old_options=False,
        run=_module('acknowledge')),
    Command(
        'history', 'Show what history holds of drives, fill it from smartd, or forget a drive.',
        '[-d ADDRESS] [METRIC ...] [options]', f'''\
example:
  {PROGRAM} history -d /dev/sda reallocated
  {PROGRAM} history --import
  {PROGRAM} history --forget EXAMPLE0001

--import takes the last 400 days of the attribute logs that smartd keeps in /var/lib/smartmontools, so that growth and
dates are there from the first day on.

exit status: 0 done, 3 nothing was''', _NAMED, (
            option('metrics', nargs='*', metavar='METRIC', help='only these numbers'),
            option('--json', dest='as_json', action='store_true', help='all points as JSON'),
            option('--import', dest='imports', action='store_true',
                   help='fill history from the logs of smartd, of the drives that are read'),
            option('--forget', action='append', default=[], metavar='SERIAL',
                   help='forget a drive that is gone for good; repeatable')),
        values.HistoryOptions, history='reads', has_time_limit=True, takes_old_options=False, run=_module('history')),
    Command(
        'metrics', 'Print the numbers and states of drives for Prometheus.', '[options]', f'''\
example:
  {PROGRAM} metrics --scan --output /var/lib/prometheus/node-exporter/smart.prom

What is wrong is said on standard error, too. The metrics tell of each drive whether it was read, and when.

exit status: 0 the metrics are out and a drive answered, asleep or not, 3 otherwise''', _JUDGED, (
            option('--output', metavar='FILE',
                   help='write them there, in one step, for the textfile collector of node_exporter'),
            option('--openmetrics', action='store_true',
                   help='OpenMetrics instead of text format 0.0.4, which is what the textfile collector reads')),
        values.MetricsOptions, history='writes', has_time_limit=True, takes_old_options=False, run=_module('metrics')),
    Command(
        'doctor', 'Check this installation; print the remedy for each problem.', '[--user NAME] [options]', f'''\
example:
  {PROGRAM} doctor --user {USER}
  {PROGRAM} doctor --user icinga -d /dev/nvme0 -d megaraid,0-7@/dev/bus/0

Give it the options of your check. It opens the folder of state as a check does, changes nothing else, and ends within
the time of -t.

exit status: 0 all is good, 1 something is to be done, 3 it could not be looked at''', _NAMED, (
            option('--user', default='', metavar='NAME',
                   help='who runs the checks: as root, look as this user; default: whoever runs it'), groups.JSON),
        values.DoctorOptions, history='reads', has_time_limit=True, takes_old_options=False, run=_module('doctor')),
    Command(
        'fleet', 'Show the drives of many hosts, worst first: from Icinga 2, or from folders.',
        '[--icinga URL] [FOLDER|FILE ...] [options]', f'''\
example:
  {PROGRAM} fleet --icinga https://master.example.org:5665 --user fleet --password-file /etc/fleet.password \\
    --ca /var/lib/icinga2/certs/ca.crt --html /var/www/html/drives.html --plan order.csv
  {PROGRAM} fleet /srv/collected/

Nothing runs on the hosts: what their checks have said last is all that is asked for. doc/how-to/fleet.md tells how.

exit status: 0 all could be asked and a drive was told, 3 otherwise''',
        (groups.ICINGA, groups.FLEET_OUTPUT, groups.DATA, groups.COMMON), (
            option('files', nargs='*', metavar='FOLDER|FILE',
                   help='files of triage --json, or what smartctl printed, in folders named after hosts'),),
        values.FleetOptions, history='', has_time_limit=True, takes_old_options=False, run=_module('fleet')))
