"""The groups of options that commands share. --help of a check has at most 40 lines, one screen:
"short" and "first" list the options that it shows.
"""

from __future__ import annotations

import argparse

from .. import constants, files
from ..model import State
from . import values
from .options import (
    HelpAll,
    Option,
    OptionGroup,
    flag,
    option,
    positional,
    repeated,
    single,
)


def state(spelling: str, text: str, default: State | None) -> Option:
    """Return an option whose value is a state. default: None if the option was not given."""
    return single(spelling, 'STATE', text, default, type=values.state)


DRIVES = OptionGroup(
    'drives to check',
    options=(
        repeated(
            '-d --device',
            'ADDRESS',
            'read this drive: /dev/sda, or TYPE@PATH such as megaraid,0-7@/dev/bus/0; may be repeated',
            dest='devices',
        ),
        flag(
            '--scan', 'read all drives that smartctl --scan finds (default without -d)'
        ),
        repeated(
            '--report',
            'FILE|DIR',
            'read recorded smartctl -a or -x output (JSON or text) instead of drives; "-" is '
            'standard input; may be repeated',
            dest='reports',
        ),
        repeated(
            '--match',
            'PATTERN',
            'include only drives whose path, model or serial matches this regular expression',
        ),
        repeated(
            '--ignore',
            'PATTERN',
            'skip drives whose path, model or serial matches this regular expression',
        ),
    ),
    first=('-d', '--scan', '--report'),
)
NO_DRIVES = OptionGroup(
    'drives to check',
    options=(
        state(
            '--no-drives',
            'report this state if a scan finds no drives (default: unknown; with --expect 0: ok)',
            None,
        ),
    ),
)
CHECKED_DRIVES = OptionGroup(
    'drives to check',
    options=(
        single(
            '--expect',
            'N',
            'report CRITICAL if fewer than N drives are found (drives in standby count as found)',
            type=values.expected,
            default=None,
        ),
        *NO_DRIVES.options,
    ),
)
READING = OptionGroup(
    'reading drives',
    options=(
        single(
            '-t --timeout',
            'SECONDS',
            'stop after this time, and report UNKNOWN for drives not yet read (default: %(default)g)',
            type=values.seconds,
            default=constants.TIMEOUT,
        ),
        single(
            '--drive-timeout',
            'SECONDS',
            'stop reading a drive after this time and report it as UNKNOWN (default: %(default)g)',
            type=values.seconds,
            default=constants.DRIVE_TIMEOUT,
        ),
        single(
            '-p --path',
            'FILE',
            'run this smartctl (default: %(default)s)',
            dest='smartctl',
            default=constants.SMARTCTL,
        ),
        flag(
            '--nosudo',
            'run smartctl directly, without sudo -n, even if the user is not root',
        ),
        single(
            '--state-dir',
            'DIR',
            'keep history and locks in this directory (default: /var/lib/check-smart-attributes '
            'or ~/.local/state)',
        ),
    ),
)
VENDOR_LOGS = OptionGroup(
    'reading drives',
    options=(
        single(
            '--vendor-logs',
            'TIME',
            'read vendors\' NVMe logs at most once per TIME; "always": at every check; "never": not at '
            'all (default: 6h)',
            type=values.interval,
            default=6 * constants.HOUR,
        ),
    ),
)
DATA = OptionGroup(
    'site configuration',
    options=(
        single(
            '--config',
            'DIR',
            'read attributes.d/ and thresholds.d/ in this directory (default: %(default)s)',
            default=files.CONFIG,
        ),
        repeated(
            '--attributes',
            'FILE',
            'add database entries, which override the shipped ones; may be repeated',
        ),
        repeated(
            '--thresholds',
            'FILE',
            'add the limits in FILE; they override limits from files given before; may be repeated',
        ),
    ),
)
JUDGING = OptionGroup(
    'limits',
    options=(
        repeated(
            '-w --warning',
            'METRIC=RANGE',
            'set a warning limit: endurance_used=80 warns above 80, "spare_available=20:" (with a colon) '
            'warns below 20; may be repeated',
            type=values.metric_range,
        ),
        repeated(
            '-c --critical',
            'METRIC=RANGE',
            'set a critical limit: endurance_used=95 is critical above 95, "spare_available=10:" (with '
            'a colon) is critical below 10; may be repeated',
            type=values.metric_range,
        ),
        repeated(
            '--ignore-metric',
            'METRIC',
            'never alert on this metric; may be repeated',
            dest='ignore_metrics',
        ),
        repeated(
            '--ignore-attribute',
            'N',
            'never alert on readings from the attribute with this number; may be repeated',
            dest='ignore_attributes',
            type=values.attribute,
        ),
        state(
            '--unknown-model',
            'report this state for a drive that has no database entry (default: ok)',
            State.OK,
        ),
        option(
            '-cu --critical_on_unknown',
            action='store_const',
            dest='unknown_model',
            const=State.CRITICAL,
            help=argparse.SUPPRESS,
        ),
        single(
            '--selftest-max-age',
            'TIME',
            'warn if no extended self-test passed within this time, such as 35d (default: no limit)',
            type=values.duration,
            default=0,
        ),
        state(
            '--asleep',
            'report this state for a drive in standby (default: ok)',
            State.OK,
        ),
    ),
    first=('-w', '-c'),
)
HISTORY = OptionGroup(
    'history and acknowledgements',
    options=(
        flag(
            '--no-history', 'use no history; increases of counters then cause no alert'
        ),
        state(
            '--history-required',
            'report this state if the history is damaged or unusable (default: warning; if there is no '
            'history yet, only a note)',
            None,
        ),
        state(
            '--missing',
            'report this state for missing drives (default: warning); with "ok", there is no alert, only a '
            'note for one day',
            State.WARNING,
        ),
        single(
            '--asleep-max-age',
            'TIME',
            'warn if a drive in standby has not been read for this long, such as 12h (default: 7d)',
            type=values.duration,
            default=7 * constants.DAY,
        ),
    ),
)
NAMING = OptionGroup(
    'output and help',
    options=(
        single(
            '--label',
            'NAME',
            'name drives by "device", "by-id", "serial" or "wwn", also in the list command (default: %(default)s)',
            choices=('device', 'by-id', 'serial', 'wwn'),
            default='device',
        ),
        flag(
            '--hide-serial',
            'omit serial numbers, except in device names and in names chosen by --label',
        ),
    ),
)
CHECK_OUTPUT = OptionGroup(
    'output and help',
    options=(
        flag(
            '-ap --allperfs',
            'print performance data for every reading',
            dest='all_perfdata',
        ),
        single(
            '--max-output',
            'BYTES',
            'limit the output to this size; use 8000 for Nagios with check_nrpe or check_by_ssh '
            '(default: %(default)s)',
            type=values.max_output,
            default=constants.OUTPUT_LIMIT,
        ),
    ),
)
COMMON = OptionGroup(
    'output and help',
    options=(
        option(
            '-v --verbose',
            action='count',
            default=0,
            help='print notes and sources; -vv: also all readings; -vvv: also smartctl commands and output',
        ),
        flag('-V --version', 'print versions and exit', dest='show_version'),
        option('-h --help', action='help', help='print this help and exit'),
        option(
            '--help-all',
            action=HelpAll,
            help='print this help with all options and exit',
        ),
    ),
    short=('-h', '--help-all'),
    first=('-v', '-V'),
)
ICINGA = OptionGroup(
    'Icinga 2',
    options=(
        single(
            '--icinga',
            'URL',
            'query the API of this master or satellite, such as https://master.example.org:5665',
        ),
        single(
            '--user',
            'NAME',
            'log in as this ApiUser; it needs the permissions objects/query/Service and objects/query/Host',
            dest='api_user',
        ),
        single(
            '--password-file',
            'FILE',
            'read the password from the first line of this file; group and others must not be able to read it',
        ),
        single(
            '--ca',
            'FILE',
            'verify Icinga with this CA certificate, such as /var/lib/icinga2/certs/ca.crt '
            '(default: the CAs of this system)',
            dest='authority',
        ),
        single(
            '--icinga-name',
            'NAME',
            "expect this name (NodeName) in Icinga's certificate (default: the host of the URL)",
        ),
        single(
            '--filter',
            'EXPRESSION',
            'query only matching services, for example service.host_name == "web1"',
        ),
    ),
    short=('--icinga', '--user'),
)
FLEET_OUTPUT = OptionGroup(
    'output and help',
    options=(
        flag('--json', 'print all drives as JSON, host by host', dest='as_json'),
        single(
            '--html',
            'FILE',
            'write an HTML page with the recommended actions, the replacements to order, and all drives',
        ),
        single(
            '--limit',
            'N',
            'list at most N drives, worst first; 0 for all (default: %(default)s)',
            type=values.expected,
            default=40,
        ),
        single(
            '-t --timeout',
            'SECONDS',
            'stop after this time (default: %(default)g)',
            type=values.seconds,
            default=300.0,
        ),
    ),
    short=('--json', '--html', '--limit'),
)
NAMES = OptionGroup(
    '',
    options=(
        positional(
            'names',
            'NAME',
            'show only this drive; NAME is the name, serial number, WWN, bay or another '
            'identifier that the plugin prints',
        ),
    ),
)
CONTROLLERS = option(
    '--controllers',
    action='append_const',
    dest='asked',
    const='controllers',
    default=[],
    help='run the tools of RAID controllers (storcli64, perccli64, ssacli, arcconf, ...), each for 10 '
    'seconds at most, to find out the slots of drives and the redundancy of volumes; requires root',
)
# The groups of several commands: they read drives, name them, or judge them.
READ = (DRIVES, COMMON, READING, DATA)
NAMED = (DRIVES, NAMING, COMMON, READING, DATA)
JUDGED = (DRIVES, JUDGING, NAMING, COMMON, READING, VENDOR_LOGS, HISTORY, DATA)
