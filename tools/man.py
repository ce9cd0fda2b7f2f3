"""The man page, from what `--help` says."""

from __future__ import annotations

from collections.abc import Iterator

from described import Option, description, example, metrics, names, options, states

from smart_attributes import VERSION
from smart_attributes.commands import table

HEAD = """.\\" Made by tools/generate.py; change the help texts in smart_attributes/commands/table.py instead.
.TH CHECK_SMART_ATTRIBUTES 8 "" "check_smart_attributes {version}" "Monitoring plugins"
.SH NAME
check_smart_attributes \\- evaluate the SMART data of drives, as a plugin for Icinga and Nagios"""

TEXT = """
.SH DESCRIPTION
Reads the SMART data of SATA, SAS and NVMe drives with
.BR smartctl (8),
even behind RAID controllers. Prints the worst problem first, then one line for each drive, then performance data.
Without
.B \\-d
it checks all drives that
.B smartctl \\-\\-scan
finds.
Only root can read drives. Run by any other user, the plugin calls
.BR "sudo \\-n smartctl" .
.SH ADDRESSES
.I /dev/sda\\fR, \\fI/dev/nvme0\\fR, \\fI/dev/disk/by\\-id/...\\fR,
or
.IR TYPE @ PATH
with a type of
.BR smartctl :
.BR megaraid,6@/dev/bus/0 ,
.BR sat+megaraid,6@/dev/sda ,
.BR sat@/dev/sg2 ,
.BR cciss,1@/dev/sg0 ,
.BR areca,1/1@/dev/sg2 ,
.BR 3ware,0@/dev/twa0 ,
.BR aacraid,0,0,4@/dev/sg3 .
A range is written
.B megaraid,[0\\-7,16]@/dev/bus/0
or, for shells and NRPE,
.BR megaraid,0\\-7@/dev/bus/0 ;
empty slots are skipped.
.B check_smart_attributes list
prints the addresses of all drives that smartctl finds.
.SH HISTORY
The plugin keeps a history of the readings in its state directory. A counter that increases alerts for the period that
its limit sets; later checks do not end that period. A counter that has been stable for long can be less severe.
.PP
A missing drive is reported until it is back or acknowledged. Drives that were replaced or moved are reported for one
day, by
.B triage
for longer. A drive in standby keeps the name that it had when it was last read.
.PP
If the history cannot be used, the check is WARNING; before the first check, it only adds a note."""

FILES = """
.SH FILES
.TP
.I /etc/check\\-smart\\-attributes/attributes.d/*.json
database entries for drives that
.I attributes.json
of the plugin does not have
.TP
.I /etc/check\\-smart\\-attributes/thresholds.d/*.json
your own limits, for all drives, a model or a serial number
.TP
.I /etc/sudoers.d/check\\-smart\\-attributes
sudo rule: allows the user nagios to run smartctl with the arguments of this plugin, and nothing else
.TP
.I /etc/check\\-smart\\-attributes/acknowledged.json
acknowledged values; see the command acknowledge
.TP
.I /var/lib/check\\-smart\\-attributes
state directory: history and locks
.SH SEE ALSO
.BR smartctl (8),
.BR smartd (8),
.BR sudoers (5)"""


def page() -> str:
    """Return the whole man page."""
    lines = [
        HEAD.format(version=VERSION),
        *_synopsis(),
        TEXT.strip('\n'),
        '.SH OPTIONS',
        *_options('check'),
    ]
    # the options of version 1.6
    lines += ['.PP', _roff(table.CHECK.epilog.rpartition('\n\n')[2])]
    lines += [
        '.SH COMMANDS',
        'With a command as its first argument, the program does something else than a check.',
    ]
    for command in names()[1:]:
        lines += _command(command)
    lines += ['.SH EXIT STATUS']
    for state, code, conditions in states():
        lines += [
            '.TP',
            f'.B {code} {state}',
            '\n.br\n'.join(_roff(each.replace('`', '')) for each in conditions),
        ]
    lines += ['The worst state wins, in the order CRITICAL, UNKNOWN, WARNING, OK.']
    lines += [
        '.SH METRICS',
        'Each metric has one name and one unit for the drives of all vendors. '
        'Performance data and limits use these names.',
    ]
    for name, metric in metrics().items():
        unit = 'verdict' if metric.get('verdict') else metric['unit'] or 'count'
        lines += ['.TP', f'.BR {name} " ({_roff(unit)})"', _roff(metric['meaning'])]
    lines += [
        '.SH EXAMPLES',
        '.EX',
        _roff(example('check')).strip(),
        '.EE',
        FILES.strip('\n'),
    ]
    return '\n'.join(lines) + '\n'


def _synopsis() -> Iterator[str]:
    yield '.SH SYNOPSIS'
    yield '.B check_smart_attributes'
    yield (
        '[\\fB\\-d\\fR \\fIADDRESS\\fR | \\fB\\-\\-scan\\fR | \\fB\\-\\-report\\fR '
        '\\fIFILE\\fR] [\\fIoptions\\fR]'
    )
    for command in names()[1:]:
        yield f'.br\n.B check_smart_attributes {command}\n[\\fIoptions\\fR]'


def _options(command: str, known: list[Option] = []) -> Iterator[str]:  # noqa: B006 - never changed
    """Yield the options of a command that are not known already."""
    group = ''
    for option in options(command):
        if any(
            option.names == other.names and option.help == other.help for other in known
        ):
            continue
        if option.group != group and not known:
            group = option.group
            yield f'.SS {group.capitalize() or "Others"}'
        spellings = ', '.join(f'\\fB{_roff(name)}\\fR' for name in option.names)
        value = f' \\fI{_roff(option.value)}\\fR' if option.value else ''
        yield f'.TP\n{spellings}{value}\n{_roff(option.help)}'


def _command(command: str) -> Iterator[str]:
    yield f'.SS {command}'
    yield _roff(description(command))
    yield from _options(command, options('check'))
    shared = {option.dest for option in options(command)} & {
        option.dest for option in options('check')
    }
    if len(shared) > 3:  # beyond help and version
        yield '.PP\nOptions with the same name as above mean the same.'
    yield f'.PP\n.EX\n{_roff(example(command)).strip()}\n.EE'


def _roff(text: str) -> str:
    """Return text as roff prints it: hyphens stay hyphens, and no line is taken for a request."""
    escaped = text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq')
    return '\n'.join(
        '\\&' + line if line.startswith('.') else line for line in escaped.splitlines()
    )
