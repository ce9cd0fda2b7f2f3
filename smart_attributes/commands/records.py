"""The records of the commands except check, loaded when one of them runs, and for the help.

A record defines the parser, help, documents, time limit and use of the history of its command.
"""
from __future__ import annotations

import time
from collections.abc import Callable

from ..command_line import command_options as own
from ..command_line import option_groups as groups
from ..command_line.option_groups import option
from ..command_line.options import PROGRAM, USER, Command
from ..files import CONFIG
from ..typed import TYPE_CHECKING

if TYPE_CHECKING:
    from ..typed import Json


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


_NAMES = option('names', nargs='*', metavar='NAME',
                help='show only this drive, by the name, serial number, WWN, bay or other identifier that an output '
                     'prints')

# --- the records ----

# Rarely used groups come last.
_SURVEYED = (groups.DRIVES, groups.COMMON, groups.READING, groups.DATA)
_NAMED = (groups.DRIVES, groups.NAMING, groups.COMMON, groups.READING, groups.DATA)
_JUDGED = (groups.DRIVES, groups.JUDGING, groups.NAMING, groups.COMMON, groups.READING, groups.VENDOR_LOGS,
           groups.HISTORY, groups.DATA)

# In the order of --help and the man page.
OTHERS = (
    Command(
        'triage', 'Show all drives, or the named ones, in one table, worst first.', '[NAME ...] [options]', f'''\
example:
  {PROGRAM} triage --scan
  {PROGRAM} triage --since 30d
  {PROGRAM} triage --report tickets/ --json''', _JUDGED, (
            _form('--json', _json, help='print JSON'),
            _form('--html', _page, 'FILE', help='write one self-contained page: recommended actions, then all drives'),
            option('--plan', action='store_true',
                   help='also print the steps of each replacement, with their commands; nothing is carried out'),
            option('--zpool', dest='asked', action='append_const', const='zpool', default=[],
                   help='run zpool status, for 5 seconds at most, to know the redundancy of ZFS pools'),
            option('--dmsetup', dest='asked', action='append_const', const='dmsetup',
                   help='as root, run dmsetup status, for 5 seconds at most, to know the redundancy of LVM RAID'),
            option('--since', type=groups.duration, default=0, metavar='TIME',
                   help='also list increases, counters set back, and added, removed or moved drives of this period, '
                        'such as 24h or 30d'), _NAMES),
        own.TriageOptions, history='reads', has_time_limit=True, takes_old_options=True, run='triage.run'),
    Command(
        'list', 'List devices (first column, for -d), models, serial numbers and WWNs.', '[options]',
        f'example:\n  {PROGRAM} list --json\n  {PROGRAM} list --label by-id',
        (groups.DRIVES, groups.NAMING, groups.COMMON, groups.READING), (own.JSON,),
        own.ListOptions, history='', has_time_limit=True, takes_old_options=False, run='list.run'),
    Command(
        'explain', 'Explain one drive: the action, its alerts, and with -v all readings and limits.',
        '[NAME ...] [-d ADDRESS | --report FILE] [options]',
        f'example:\n  {PROGRAM} explain sda\n  {PROGRAM} explain -d /dev/sda --rma', _JUDGED, (
            _NAMES,
            option('--rma', action='store_true',
                   help="print the text for a vendor's return form: serial number, findings, smartctl's own lines"),),
        own.ExplainOptions, history='reads', has_time_limit=True, takes_old_options=True, run='explain.run'),
    Command(
        'sudoers', 'Print the sudo rule that allows the smartctl calls of this plugin, and no others, as root.',
        '[options]',
        f'example:\n  {PROGRAM} sudoers > rule && visudo -cf rule && '
        'install -m 0440 rule /etc/sudoers.d/check-smart-attributes', (groups.COMMON, groups.READING), (
            option('--user', default=USER, metavar='NAME', help='set the monitoring user (default: %(default)s)'),
            option('--literal', action='store_true',
                   help='list each drive of this machine instead of patterns; also for sudo before 1.9.10 and for '
                        'sudo replacements (sudo-rs)'),
            option('-d', '--device', dest='devices', action='append', default=[], metavar='ADDRESS',
                   help='add a rule for this drive; needed for non-standard device paths; may be repeated'),
            option('--type', dest='types', action='append', default=[], metavar='TYPE',
                   help='also allow areca, or this type of a USB bridge, which sends vendor commands; may be repeated'),
            option('--config', default=CONFIG, metavar='DIR',
                   help='read thresholds.d/*.json here for the logs to skip (default: %(default)s)')),
        own.SudoersOptions, history='', has_time_limit=False, takes_old_options=False, run='install.sudo_rule'),
    Command(
        'install', 'Show what an installation would change on this host; with --yes, make these changes.',
        '[--packaged] [--remove] [--yes] [options]', f'''\
example:
  {PROGRAM} install
  {PROGRAM} install --yes
  {PROGRAM} install --remove --yes

It keeps files that were changed on this host, site configuration and history. With --remove, it keeps them too.

exit status: 0 done, or shown; 3 not''', (groups.COMMON, groups.READING), (
            option('--user', dest='users', action='append', default=[], metavar='NAME',
                   help='set the monitoring user; may be repeated (default: those of icinga, nrpe, naemon and nagios '
                        'that exist)'),
            option('--packaged', action='store_true',
                   help='install only what depends on the host, for the scripts of a package: sudo rule, state '
                        'directory, site configuration'),
            option('--remove', action='store_true', help='undo the installation'),
            option('--yes', action='store_true', help='make the changes; without it they are only shown')),
        own.InstallOptions, history='', has_time_limit=False, takes_old_options=False, run='install.run'),
    Command(
        'draft', 'Draft a new database entry (attributes.json) from a drive or a report.',
        '(-d ADDRESS | --report FILE) [options]', f'example:\n  {PROGRAM} draft -d /dev/sda > my-entry.json',
        _SURVEYED, (), None, history='', has_time_limit=True, takes_old_options=False, run='contribution.draft'),
    Command(
        'validate', 'Find errors in attributes.json and in site configuration files.', '[FILE ...] [options]', f'''\
example:
  {PROGRAM} validate
  {PROGRAM} validate my-entry.json
  {PROGRAM} validate /etc/check-smart-attributes/thresholds.d/*.json''', (groups.COMMON,), (
            option('files', nargs='*', metavar='FILE',
                   help='validate your database entries (together with the shipped ones), your limits, or files of '
                        'version 1.6 (default: attributes.json)'),
            option('--samples', metavar='DIR|FILE',
                   help='test the entries on these samples (default: tests/samples beside attributes.json)'),
            option('--models', metavar='FILE',
                   help='look for overlapping entries on these models (default: tests/models.csv)'),
            option('--format', action='store_true', help='rewrite the files in the standard layout')),
        own.ValidateOptions, history='', has_time_limit=False, takes_old_options=False, run='contribution.validate'),
    Command(
        'migrate', 'Convert files of version 1.6 to limits and database entries of this version.',
        'OLD.json [OLD.json] [options]', f'''\
example:
  {PROGRAM} migrate /etc/nagios-plugins/config/check_smartdb.json my-config.json -d /dev/sda -o {CONFIG}

Without -o the files are printed. A sentence follows for each setting that could not be converted.
To convert a user configuration, also give the database and its drives (-d): its limits depend on both.

exit status: 0 everything was converted, 1 a part was not, 3 nothing was''', _SURVEYED, (
            option('files', nargs='+', metavar='OLD.json',
                   help='convert check_smartdb.json, a user configuration (-ucfgj), or both'),
            option('-o', '--output', metavar='DIR',
                   help='write attributes.d/*.json and thresholds.d/*.json to this directory')),
        own.MigrateOptions, history='', has_time_limit=False, takes_old_options=False, run='contribution.migrate'),
    Command(
        'acknowledge', 'Acknowledge known values of single drives: no alert until they get worse.',
        '[-d ADDRESS | --report FILE | NAME ...] [METRIC ...] [--gone SERIAL] --why WHY [options]', f'''\
example:
  {PROGRAM} acknowledge sda reallocated --why "stable since 2024" --until 2027-01-31
  {PROGRAM} acknowledge --all --why "as found"
  {PROGRAM} acknowledge --gone EXAMPLE0001
  {PROGRAM} acknowledge --withdraw EXAMPLE0001:reallocated

Run it as root: it writes to acknowledged.json in the configuration directory, which every check reads. The other
contents of that file are kept. Metrics need a drive, so that they are not acknowledged on all drives at once.

It refuses
  what the drive itself reports: health FAILED, an attribute failing now, a failed self-test, an NVMe warning
  a metric that does not exist, that the drive does not report, or that has no value now
  a drive that cannot be read, or whose serial number is missing or shared by many drives, such as 000
  --until with a past date; --list or --withdraw with metrics or --all; --withdraw of a value that is not acknowledged
  a file that is not JSON, has a key twice, or is writable by others; a directory that is writable by others
  to wait longer than 10 seconds for another acknowledge

exit status: 0 done, 1 a part was refused, 3 everything was refused''', _SURVEYED, (
            option('metrics', nargs='*', metavar='NAME|METRIC',
                   help='acknowledge the current value of this metric; without -d and --report, of the drive with this '
                        'name, serial number or bay'),
            option('--all', dest='every_alarm', action='store_true',
                   help='acknowledge every current alert of all drives that are read'),
            option('--why', default='', metavar='WHY',
                   help='give the reason, 8 characters or more; shown with -v, by triage and by explain'),
            option('--until', default='', metavar='DAY', help='set the last day, such as 2027-01-31 (default: no end)'),
            option('--gone', dest='removed', action='append', default=[], metavar='SERIAL',
                   help='acknowledge that this drive is missing, until it has been back; may be repeated'),
            option('--list', dest='shown', action='store_true',
                   help='list acknowledgements with user, date and reason'),
            option('--withdraw', action='append', default=[], metavar='SERIAL[:METRIC]',
                   help='withdraw all acknowledgements of this drive, or that of one metric; may be repeated')),
        own.AcknowledgeOptions, history='reads', has_time_limit=True, takes_old_options=False,
        run='acknowledge.run'),
    Command(
        'history', 'Show the history of drives, import it from smartd, or remove a drive from it.',
        '[-d ADDRESS | NAME ...] [METRIC ...] [options]', f'''\
example:
  {PROGRAM} history sda reallocated
  {PROGRAM} history --import
  {PROGRAM} history --forget EXAMPLE0001

--import takes the last 400 days of smartd's attribute logs in /var/lib/smartmontools, so that increases and dates are
available from the first day.

exit status: 0 done, 3 nothing was done''', _NAMED, (
            option('metrics', nargs='*', metavar='NAME|METRIC',
                   help='show only these metrics; without -d, only drives with this name, serial number or bay'),
            option('--json', dest='as_json', action='store_true', help='print all points as JSON'),
            option('--import', dest='imports', action='store_true',
                   help="import smartd's logs of the drives that are read"),
            option('--forget', action='append', default=[], metavar='SERIAL',
                   help='remove a retired drive; may be repeated')),
        own.HistoryOptions, history='reads', has_time_limit=True, takes_old_options=False, run='history.run'),
    Command(
        'metrics', 'Print metrics and states of drives for Prometheus or Zabbix.', '[options]', f'''\
example:
  {PROGRAM} metrics --scan --output /var/lib/prometheus/node-exporter/smart.prom

Problems are also printed on standard error. For each drive, the metrics show whether it was read, and when.

exit status: 0 metrics written and at least one drive answered or is in standby, 3 otherwise''', _JUDGED, (
            option('--output', metavar='FILE',
                   help='write the metrics to this file, atomically, for the textfile collector of node_exporter'),
            option('--openmetrics', action='store_true',
                   help='print OpenMetrics instead of text format 0.0.4, which the textfile collector reads'),
            option('--json', dest='as_json', action='store_true',
                   help='print small JSON for Zabbix: states, findings and graphed values')),
        own.MetricsOptions, history='writes', has_time_limit=True, takes_old_options=False, run='metrics.run'),
    Command(
        'doctor', 'Diagnose the installation as the monitoring user sees it, with a remedy for each problem.',
        '[--user NAME] [--raid] [options]', f'''\
example:
  {PROGRAM} doctor --user {USER}
  {PROGRAM} doctor --user {USER} --raid
  {PROGRAM} doctor --user icinga -d /dev/nvme0 -d megaraid,0-7@/dev/bus/0

Give it the options of your check. It opens the state directory as a check does, changes nothing else, and stops after
the time of -t.

exit status: 0 no problem, 1 at least one problem, 3 the diagnosis failed''', _NAMED, (
            option('--user', default='', metavar='NAME',
                   help='as root, diagnose as this monitoring user (default: the current user)'),
            option('--raid', action='store_true',
                   help='as root, compare the error recovery of drives in redundant arrays with the kernel timeout, '
                        'and check for slow links'), own.JSON),
        own.DoctorOptions, history='reads', has_time_limit=True, takes_old_options=False, run='doctor.run'),
    Command(
        'fleet', 'Show the drives of many hosts, worst first, from Icinga 2 or from directories.',
        '[--icinga URL] [FOLDER|FILE ...] [options]', f'''\
example:
  {PROGRAM} fleet --icinga https://master.example.org:5665 --user fleet --password-file /etc/fleet.password \\
    --ca /var/lib/icinga2/certs/ca.crt --html /var/www/html/drives.html --plan order.csv
  {PROGRAM} fleet /srv/collected/ --ledger /var/lib/drives.ledger
  {PROGRAM} fleet --ledger /var/lib/drives.ledger --ended EXAMPLE0001=failed

Nothing runs on the hosts: fleet reads the latest results of their checks. See doc/how-to/fleet.md.

exit status: 0 every source was read, the ledger was written and at least one drive was found, 3 otherwise''',
        (own.ICINGA, own.LEDGER, own.FLEET_OUTPUT, groups.COMMON, groups.DATA), (
            option('files', nargs='*', metavar='FOLDER|FILE',
                   help='read files of triage --json, or output of smartctl, in directories named after hosts'),),
        own.FleetOptions, history='', has_time_limit=True, takes_old_options=False, run='fleet.run'))
