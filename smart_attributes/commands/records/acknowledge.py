"""The record of the command `acknowledge`: its help, options and values."""

from ...command_line import option_groups as groups
from ...command_line.options import Command, flag, positional, repeated, single
from ...typed import NamedTuple


class AcknowledgeOptions(NamedTuple):
    """Which values are accepted, why, and until when."""

    every_alarm: bool  # --all
    why: str
    until: str
    lists: bool  # --list
    withdraw: tuple[str, ...]
    missing_drives: bool  # --missing


COMMAND = Command(
    name='acknowledge',
    summary='Acknowledge known values of individual drives: no alert until they get worse.',
    usage='[-d ADDRESS | --report FILE] [NAME ...] [METRIC ...] [--missing NAME ...] --why WHY '
    '[options]',
    epilog="""\
example:
  check_smart_attributes acknowledge sda --why "stable since 2024"
  check_smart_attributes acknowledge sda reallocated --why "stable since 2024" --until 2027-01-31
  check_smart_attributes acknowledge --all --no-drives ok --why "as found"
  check_smart_attributes acknowledge --missing sdb EXAMPLE0001
  check_smart_attributes acknowledge --withdraw EXAMPLE0001:reallocated

Run this command as root: it writes to acknowledged.json in the configuration directory, which every check reads. The
other contents of that file are kept. If you name a metric, also name the drive, unless -d or --report selects only one.

The command refuses
  an alert that has no number: FAILED health, a failing attribute, a failed self-test, an NVMe warning, a firmware defect
  with --all, each alert of a drive that must be replaced now or whose data must be copied now (name the drive instead)
  a metric that does not exist, that the drive does not report, or that has no value now
  a drive that cannot be read, that has no serial number, or whose serial number many drives share, such as 000
  --until with a past date; --list or --withdraw, if combined with metrics or --all; --withdraw of a value that is not
  acknowledged
  a file that is not JSON, has a duplicate key, or is writable by others; a directory that is writable by others

It waits at most 10 seconds for another acknowledge command to finish.

exit status: 0 success, 1 partly refused, or everything refused with --all, 3 everything refused without --all""",
    groups=(*groups.NAMED, groups.NO_DRIVES),
    options=(
        positional(
            'metrics',
            'NAME|METRIC',
            'acknowledge every current alert of this drive (name, serial number or bay); with '
            'METRIC, only the current value of this metric',
        ),
        flag(
            '--all',
            'acknowledge the current alerts of all drives that this run reads, except drives that must '
            'be replaced now and drives whose data must be copied',
            dest='every_alarm',
        ),
        single(
            '--why',
            'WHY',
            'give the reason (8 characters or more); it is shown with -v, by "triage" and by "explain"',
        ),
        single(
            '--until',
            'DAY',
            'end the acknowledgement after this day, such as 2027-01-31 (default: never)',
        ),
        flag(
            '--missing',
            'acknowledge that the named drives (with --all, all missing drives) were removed; if a '
            'drive is found again, its acknowledgement ends',
            dest='missing_drives',
        ),
        flag(
            '--list', 'list acknowledgements with user, date and reason', dest='lists'
        ),
        repeated(
            '--withdraw',
            'SERIAL[:METRIC]',
            'withdraw all acknowledgements of this drive, or only the one for METRIC; may be repeated',
        ),
    ),
    values=AcknowledgeOptions,
    history='reads',
    has_time_limit=True,
)
