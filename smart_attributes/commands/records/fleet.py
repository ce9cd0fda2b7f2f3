"""The record of the command `fleet`: its help, options and values."""

from ...command_line import option_groups as groups
from ...command_line.options import Command, positional
from ...typed import NamedTuple


class FleetOptions(NamedTuple):
    """The sources of the drives of a fleet, and the output."""

    files: tuple[str, ...]
    icinga: str  # https://HOST:5665
    api_user: str
    password_file: str
    authority: str
    icinga_name: str  # host name in its certificate; '': from the URL
    filter: str
    limit: int  # drives in the table; 0: all
    as_json: bool
    html: str


COMMAND = Command(
    name='fleet',
    summary='Show the drives of many hosts, worst first, from Icinga 2 or from directories.',
    usage='[--icinga URL] [FOLDER|FILE ...] [options]',
    epilog="""\
example:
  check_smart_attributes fleet --icinga https://master.example.org:5665 --user fleet --password-file /etc/fleet.password \\
    --ca /var/lib/icinga2/certs/ca.crt --html /var/www/html/drives.html
  check_smart_attributes fleet /srv/collected/

Nothing runs on the hosts: fleet reads the latest results of their checks. See doc/how-to/fleet.md.

exit status: 0 every source was read and at least one drive was found, 3 otherwise""",
    groups=(groups.ICINGA, groups.FLEET_OUTPUT, groups.COMMON, groups.DATA),
    options=(
        positional(
            'files',
            'FOLDER|FILE',
            'read files written by "triage --json"',
        ),
    ),
    values=FleetOptions,
    history='',
    has_time_limit=True,
)
