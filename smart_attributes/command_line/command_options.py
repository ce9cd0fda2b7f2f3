"""The options that single commands have, and the values of these options; a check needs none of them."""
from __future__ import annotations

import argparse
from collections.abc import Callable

from ..constants import ENDINGS
from ..typed import TYPE_CHECKING, NamedTuple
from .option_groups import OUTPUT, expected, option, seconds
from .options import OptionGroup

if TYPE_CHECKING:
    from ..typed import Json


def _ending(text: str) -> tuple[str, str]:
    serial, _, how = text.rpartition('=')
    if not serial or how not in ENDINGS:
        raise argparse.ArgumentTypeError(f'"{text}" is not SERIAL=HOW; choose HOW from {", ".join(ENDINGS)}')
    return serial, how


JSON = option('--json', dest='as_json', action='store_true', help='print JSON')
ICINGA = OptionGroup('Icinga 2', (
    option('--icinga', default='', metavar='URL', help='query this API, such as https://master.example.org:5665'),
    option('--user', dest='api_user', default='', metavar='NAME',
           help='log in as this ApiUser; it needs the permissions objects/query/Service and objects/query/Host'),
    option('--password-file', default='', metavar='FILE',
           help='read the password from the first line; group and others must not be able to read the file'),
    option('--cert', dest='certificate', default='', metavar='FILE',
           help='log in with this client certificate in place of a password'),
    option('--key', default='', metavar='FILE',
           help='use the private key of --cert; group and others must not be able to read the file'),
    option('--ca', dest='authority', default='', metavar='FILE',
           help='verify Icinga with this CA certificate, such as /var/lib/icinga2/certs/ca.crt (default: the CAs of '
                'this system)'),
    option('--icinga-name', default='', metavar='NAME',
           help="expect this name (NodeName) in Icinga's certificate (default: the host of the URL)"),
    option('--filter', default='', metavar='EXPRESSION',
           help='query only matching services, for example service.host_name == "web1"'),
    option('--hosts', nargs='?', const='', metavar='EXPRESSION',
           help='list hosts, or matching hosts, without such a service; needs objects/query/Host'),
))
LEDGER = OptionGroup('failure rates', (
    option('--ledger', default='', metavar='FILE',
           help='record in this file when each drive was seen and how it ended, and count the failures of each model'),
    option('--ended', type=_ending, action='append', default=[], metavar='SERIAL=HOW',
           help='record in --ledger that a drive failed, was retired, or that the reason is unknown, such as '
                'EXAMPLE0001=failed; may be repeated'),
))
FLEET_OUTPUT = OptionGroup(OUTPUT, (
    option('--json', dest='as_json', action='store_true', help='print all drives as JSON, host by host'),
    option('--html', metavar='FILE', help='write a page: recommended actions and orders, then the drives'),
    option('--plan', default='', metavar='FILE',
           help='write the plan as CSV: drives to replace, models to order, firmware to update'),
    option('--drive', dest='drives', action='append', default=[], metavar='NAME',
           help='list only this drive, by HOST:DRIVE, serial number or other name; may be repeated'),
    option('--limit', type=expected, default=40, metavar='N',
           help='list at most N drives, worst first; 0 for all (default: %(default)s)'),
    option('--hide-serial', action='store_true', help='omit serial numbers'),
    option('-t', '--timeout', type=seconds, default=300.0, metavar='SECONDS',
           help='stop after this time (default: %(default)g)'),
))


# --- values of one command; their defaults are in its record ---------------------

class TriageOptions(NamedTuple):
    """The output of triage in addition to its table, or instead of it."""

    forms: tuple[tuple[Callable[[Json], str], str | None], ...]  # of the document; with a file, or printed
    since: int                          # seconds to look back; 0: not at all
    asked: tuple[str, ...] = ()         # programs to ask for the state of groups: "zpool", "dmsetup"
    plan: bool = False


class ListOptions(NamedTuple):
    """How list prints."""

    as_json: bool


class ExplainOptions(NamedTuple):
    """The output of explain."""

    rma: bool


class SudoersOptions(NamedTuple):
    """Which sudoers rule is printed."""

    user: str
    literal: bool
    types: tuple[str, ...]              # that a rule admits only on request


class InstallOptions(NamedTuple):
    """The parts to install or remove, the users, and whether changes are made or only shown."""

    packaged: bool                      # only what depends on the host: a package has installed the rest
    users: tuple[str, ...]              # monitoring users; empty: the usual ones that exist
    yes: bool
    remove: bool


class ValidateOptions(NamedTuple):
    """Which files are validated, and with what."""

    files: tuple[str, ...]
    samples: str | None
    models: str | None
    format: bool


class MigrateOptions(NamedTuple):
    """Which files of version 1.6 are migrated, and where to."""

    files: tuple[str, ...]
    output: str | None                  # folder


class AcknowledgeOptions(NamedTuple):
    """Which values are accepted, why and until when."""

    every_alarm: bool
    why: str
    until: str
    shown: bool
    withdraw: tuple[str, ...]
    removed: tuple[str, ...]


class HistoryOptions(NamedTuple):
    """The actions of the command history."""

    as_json: bool
    imports: bool
    forget: tuple[str, ...]


class MetricsOptions(NamedTuple):
    """The output file and the format of the metrics."""

    output: str | None                  # file
    openmetrics: bool
    as_json: bool


class DoctorOptions(NamedTuple):
    """Which user runs the checks, and how doctor prints."""

    user: str
    raid: bool                          # also ask members of redundant arrays what only root may ask
    as_json: bool


class FleetOptions(NamedTuple):
    """The sources of the drives of a fleet, and the output."""

    files: tuple[str, ...]
    icinga: str                         # https://HOST:5665
    api_user: str
    password_file: str
    certificate: str
    key: str
    authority: str
    icinga_name: str                    # host name in Icinga's certificate
    filter: str
    hosts: str | None                   # filter of the hosts that should have the check; '' for all
    plan: str
    ledger: str
    ended: list[tuple[str, str]]        # serial number, and how the drive ended
    drives: tuple[str, ...]             # names of the drives to list; empty: all
    limit: int                          # drives in the table; 0 for all
    as_json: bool
    html: str | None
