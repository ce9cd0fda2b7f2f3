"""The records of all commands but the check: their help, options and values."""

from __future__ import annotations

from .. import files
from ..command_line import option_groups as groups
from ..command_line import values
from ..command_line.options import USER, Command, flag, option, positional, repeated, single
from ..typed import NamedTuple


class TriageOptions(NamedTuple):
    """The output of `triage` in addition to its table, or instead of it."""

    as_json: bool
    html: str | None  # file of the page; None: no page
    since: int  # seconds to look back; 0: not at all
    asked: tuple[str, ...] = ()  # programs to run, from redundancy.dependence.PROGRAMS


class ListOptions(NamedTuple):
    """The output options of the `list` command."""

    as_json: bool


class SudoersOptions(NamedTuple):
    """Which sudoers rule is printed."""

    user: str
    literal: bool
    types: tuple[str, ...]  # types that a rule admits only on request


class ValidateOptions(NamedTuple):
    """The files to validate, and the samples and models to compare with these files."""

    files: tuple[str, ...]
    samples: str
    models: str
    format: bool


class MigrateOptions(NamedTuple):
    """The files of version 1.6 to migrate."""

    files: tuple[str, ...]


class AcknowledgeOptions(NamedTuple):
    """Which values are accepted, why, and until when."""

    every_alarm: bool
    why: str
    until: str
    shown: bool
    withdraw: tuple[str, ...]
    removed: tuple[str, ...]


class HistoryOptions(NamedTuple):
    """The actions of the `history` command."""

    as_json: bool
    imports: bool
    forget: tuple[str, ...]
    graph: str  # metric, '' for the table


class MetricsOptions(NamedTuple):
    """The output file and the format of the metrics."""

    output: str  # file; '': standard output
    openmetrics: bool
    as_json: bool


class DoctorOptions(NamedTuple):
    """Which user runs the checks, and how `doctor` prints."""

    user: str
    # also run queries about members of redundant arrays, which only root may run
    raid: bool
    as_json: bool


class FleetOptions(NamedTuple):
    """The sources of the drives of a fleet, and the output."""

    files: tuple[str, ...]
    icinga: tuple[str, ...]  # https://HOST:5665
    api_user: str
    password_file: str
    certificate: str
    key: str
    authority: str
    # host names in their certificates, in the same order; empty: from the URLs
    icinga_name: tuple[str, ...]
    filter: str
    hosts: str | None  # filter of the hosts that should have the check; '' for all
    plan: str
    drives: tuple[str, ...]  # names of the drives to list; empty: all
    limit: int  # drives in the table; 0: all
    as_json: bool
    html: str


# In the order of --help and the man page.
COMMANDS = (
    Command(
        name='triage',
        summary='Show all drives, or the named ones, in one table, worst first.',
        usage='[NAME ...] [options]',
        epilog="""\
example:
  check_smart_attributes triage --scan
  check_smart_attributes triage --since 30d
  check_smart_attributes triage --report tickets/ --json""",
        groups=(*groups.JUDGED, groups.NAMES),
        options=(
            flag('--json', 'print JSON', dest='as_json'),
            single(
                '--html',
                'FILE',
                'write one self-contained page: recommended actions, then all drives',
                default=None,
            ),
            option(
                '--zpool',
                action='append_const',
                dest='asked',
                const='zpool',
                default=[],
                help='run zpool status (for 5 seconds at most) to find out the redundancy of ZFS pools',
            ),
            option(
                '--dmsetup',
                action='append_const',
                dest='asked',
                const='dmsetup',
                help='as root, run dmsetup status (for 5 seconds at most) to find out the redundancy '
                'of LVM RAID',
            ),
            option(
                '--controllers',
                action='append_const',
                dest='asked',
                const='controllers',
                help='as root, run the tools of RAID controllers (storcli64, perccli64, ssacli, '
                'arcconf, ...) for 10 seconds at most each, to find out the redundancy of their '
                'volumes',
            ),
            single(
                '--since',
                'TIME',
                'also list increases, counter resets, and drives added, removed or moved in this '
                'period, such as 24h or 30d',
                type=values.duration,
                default=0,
            ),
        ),
        values=TriageOptions,
        history='reads',
        has_time_limit=True,
        takes_old_options=True,
    ),
    Command(
        name='list',
        summary='List devices (first column, for -d), models, serial numbers and WWNs.',
        epilog="""\
example:
  check_smart_attributes list --json
  check_smart_attributes list --label by-id""",
        groups=(groups.DRIVES, groups.NAMING, groups.COMMON, groups.READING),
        options=(flag('--json', 'print JSON', dest='as_json'),),
        values=ListOptions,
        history='',
        has_time_limit=True,
    ),
    Command(
        name='explain',
        summary='Explain one drive: the action, its alerts, and with -v all readings and limits.',
        usage='[NAME ...] [-d ADDRESS | --report FILE] [options]',
        epilog="""\
example:
  check_smart_attributes explain sda
  check_smart_attributes explain -d /dev/sda -v""",
        groups=(*groups.JUDGED, groups.NAMES),
        history='reads',
        has_time_limit=True,
        takes_old_options=True,
    ),
    Command(
        name='sudoers',
        summary='Print the sudo rule that lets the monitoring user run the smartctl calls of this '
        'plugin as root, and no others.',
        epilog="""\
example:
  check_smart_attributes sudoers > rule && visudo -cf rule && install -m 0440 rule /etc/sudoers.d/check-smart-attributes""",
        groups=(groups.COMMON, groups.READING),
        options=(
            single(
                '--user', 'NAME', 'set the monitoring user (default: %(default)s)', default=USER
            ),
            flag(
                '--literal',
                'list each drive of this machine instead of patterns; needed for sudo before 1.9.10 '
                'and for sudo replacements (sudo-rs)',
            ),
            repeated(
                '-d --device',
                'ADDRESS',
                'add a rule for this drive; needed for non-standard device paths; may be repeated',
                dest='devices',
            ),
            repeated(
                '--type',
                'TYPE',
                'also allow this device type, which sends vendor commands: areca or a type for USB '
                'bridges; may be repeated',
                dest='types',
            ),
            single(
                '--config',
                'DIR',
                'read thresholds.d/*.json in this directory, which may list logs to skip (default: '
                '%(default)s)',
                default=files.CONFIG,
            ),
        ),
        values=SudoersOptions,
        history='',
        has_time_limit=False,
    ),
    Command(
        name='draft',
        summary='Draft a new database entry (attributes.json) from a drive or a report.',
        usage='(-d ADDRESS | --report FILE) [options]',
        epilog="""\
example:
  check_smart_attributes draft -d /dev/sda > my-entry.json""",
        groups=groups.READ,
        history='',
        has_time_limit=True,
        run='contribution.draft',
    ),
    Command(
        name='validate',
        summary='Find errors in attributes.json and in site configuration files.',
        usage='[FILE ...] [options]',
        epilog="""\
example:
  check_smart_attributes validate
  check_smart_attributes validate my-entry.json
  check_smart_attributes validate /etc/check-smart-attributes/thresholds.d/*.json""",
        groups=(groups.COMMON,),
        options=(
            positional(
                'files',
                'FILE',
                'validate your database entries (together with the shipped ones), or your limits '
                '(default: attributes.json)',
            ),
            single(
                '--samples',
                'DIR|FILE',
                'test the entries on these samples (default: tests/samples beside attributes.json)',
            ),
            single(
                '--models',
                'FILE',
                'look for overlapping entries on these models (default: tests/models.csv)',
            ),
            flag('--format', 'rewrite the files in the standard layout'),
        ),
        values=ValidateOptions,
        history='',
        has_time_limit=False,
        run='contribution.validate',
    ),
    Command(
        name='migrate',
        summary='Convert limits of version 1.6 to limits of this version, once.',
        usage='OLD.json [OLD.json] [options]',
        epilog="""\
example:
  check_smart_attributes migrate /etc/nagios-plugins/config/check_smartdb.json

The limits are written to thresholds.d in the directory of --config. A message names each limit that could not be converted.
Drives in a user configuration (-ucfgj) are read, because the limits depend on them; name drives behind controllers with -d.

exit status: 0 everything was converted, 1 only a part was converted, 3 nothing was converted""",
        groups=groups.READ,
        options=(
            positional(
                'files',
                'OLD.json',
                'convert check_smartdb.json, a user configuration (-ucfgj), or both',
                nargs='+',
            ),
        ),
        values=MigrateOptions,
        history='',
        has_time_limit=False,
        run='contribution.migrate',
    ),
    Command(
        name='acknowledge',
        summary='Acknowledge known values of single drives: no alert until they get worse.',
        usage='[-d ADDRESS | --report FILE | NAME ...] [METRIC ...] [--gone SERIAL] --why WHY '
        '[options]',
        epilog="""\
example:
  check_smart_attributes acknowledge sda reallocated --why "stable since 2024" --until 2027-01-31
  check_smart_attributes acknowledge --all --why "as found"
  check_smart_attributes acknowledge --gone EXAMPLE0001
  check_smart_attributes acknowledge --withdraw EXAMPLE0001:reallocated

Run this command as root: it writes to acknowledged.json in the configuration directory, which every check reads. The
other contents of that file are kept. If you name a metric, also name a drive: it is never acknowledged on all drives.

The command refuses
  a failure that the drive itself reports: health FAILED, an attribute failing now, a failed self-test, an NVMe warning
  a metric that does not exist, that the drive does not report, or that has no value now
  a drive that cannot be read, or whose serial number is missing or shared by many drives, such as 000
  --until with a past date; --list or --withdraw with metrics or --all; --withdraw of a value that is not acknowledged
  a file that is not JSON, has a duplicate key, or is writable by others; a directory that is writable by others

It waits at most 10 seconds for another acknowledge command to finish.

exit status: 0 success, 1 a part was refused, 3 everything was refused""",
        groups=groups.READ,
        options=(
            positional(
                'metrics',
                'NAME|METRIC',
                'acknowledge the current value of this metric; if neither -d nor --report is given, '
                'also name the drive (name, serial number or bay)',
            ),
            flag(
                '--all',
                'acknowledge every current alert of all drives that are read',
                dest='every_alarm',
            ),
            single(
                '--why',
                'WHY',
                'give the reason, 8 characters or more; shown with -v, by triage and by explain',
            ),
            single('--until', 'DAY', 'set the last day, such as 2027-01-31 (default: no end)'),
            repeated(
                '--gone',
                'SERIAL',
                'acknowledge that this drive is missing; ends when the drive is found again; may be '
                'repeated',
                dest='removed',
            ),
            flag('--list', 'list acknowledgements with user, date and reason', dest='shown'),
            repeated(
                '--withdraw',
                'SERIAL[:METRIC]',
                'withdraw all acknowledgements of this drive, or only the one for METRIC; may be '
                'repeated',
            ),
        ),
        values=AcknowledgeOptions,
        history='reads',
        has_time_limit=True,
    ),
    Command(
        name='history',
        summary='Show the history of drives, import it from smartd, or remove a drive from it.',
        usage='[-d ADDRESS | NAME ...] [METRIC ...] [options]',
        epilog="""\
example:
  check_smart_attributes history sda reallocated
  check_smart_attributes history --graph temperature
  check_smart_attributes history --import
  check_smart_attributes history --forget EXAMPLE0001

--import reads the last 400 days of smartd's attribute logs in /var/lib/smartmontools, so that increases and dates are
available from the first day.

exit status: 0 done, 3 nothing was done""",
        groups=groups.NAMED,
        options=(
            positional(
                'metrics',
                'NAME|METRIC',
                'show only these metrics; without -d, you can also give the name, serial number or '
                'bay of a drive to select it',
            ),
            single('--graph', 'METRIC', 'draw this metric over time, one graph for each drive'),
            flag('--json', 'print all points as JSON', dest='as_json'),
            flag('--import', "import smartd's logs for the selected drives", dest='imports'),
            repeated('--forget', 'SERIAL', 'remove a retired drive; may be repeated'),
        ),
        values=HistoryOptions,
        history='reads',
        has_time_limit=True,
    ),
    Command(
        name='metrics',
        summary='Print metrics and states of drives for Prometheus or Zabbix.',
        epilog="""\
example:
  check_smart_attributes metrics --scan --output /var/lib/prometheus/node-exporter/smart.prom

Problems are also printed on standard error. For each drive, the metrics show whether and when it was read.

exit status: 0 metrics written and at least one drive answered or is in standby, 3 otherwise""",
        groups=groups.JUDGED,
        options=(
            single(
                '--output',
                'FILE',
                'write the metrics to this file, atomically, for the textfile collector of '
                'node_exporter',
            ),
            flag(
                '--openmetrics',
                'print OpenMetrics instead of the text format 0.0.4 (the textfile collector reads '
                'only 0.0.4)',
            ),
            flag(
                '--json',
                'print small JSON for Zabbix: states, findings and graphed values',
                dest='as_json',
            ),
        ),
        values=MetricsOptions,
        history='writes',
        has_time_limit=True,
    ),
    Command(
        name='doctor',
        summary='Diagnose the installation as the monitoring user sees it, with a remedy for each '
        'problem.',
        usage='[--user NAME] [--raid] [options]',
        epilog="""\
example:
  check_smart_attributes doctor --user nagios
  check_smart_attributes doctor --user nagios --raid
  check_smart_attributes doctor --user icinga -d /dev/nvme0 -d megaraid,0-7@/dev/bus/0

Give it the options of your check. It may create or repair the state directory, as a check does, and changes nothing
else. It stops after the time given with -t.

exit status: 0 no problem, 1 at least one problem, 3 the diagnosis failed""",
        groups=groups.NAMED,
        options=(
            single(
                '--user',
                'NAME',
                'as root, diagnose as this monitoring user (default: the current user)',
            ),
            flag(
                '--raid',
                'as root, compare the error recovery time of drives in redundant arrays with the '
                'kernel timeout, and look for shingled disks',
            ),
            flag('--json', 'print JSON', dest='as_json'),
        ),
        values=DoctorOptions,
        history='reads',
        has_time_limit=True,
    ),
    Command(
        name='fleet',
        summary='Show the drives of many hosts, worst first, from Icinga 2 or from directories.',
        usage='[--icinga URL] [FOLDER|FILE ...] [options]',
        epilog="""\
example:
  check_smart_attributes fleet --icinga https://master.example.org:5665 --user fleet --password-file /etc/fleet.password \\
    --ca /var/lib/icinga2/certs/ca.crt --html /var/www/html/drives.html --plan order.csv
  check_smart_attributes fleet /srv/collected/

Nothing runs on the hosts: fleet reads the latest results of their checks. See doc/how-to/fleet.md.

exit status: 0 every source was read and at least one drive was found, 3 otherwise""",
        groups=(groups.ICINGA, groups.FLEET_OUTPUT, groups.COMMON, groups.DATA),
        options=(
            positional(
                'files',
                'FOLDER|FILE',
                'read files from triage --json, or smartctl output in directories named after hosts',
            ),
        ),
        values=FleetOptions,
        history='',
        has_time_limit=True,
    ),
)
