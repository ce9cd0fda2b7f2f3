"""The man page, from what `--help` says."""
from __future__ import annotations

from typing import Iterator, List

from described import Option, description, example, metrics, names, options, states

from smart_attributes import VERSION

HEAD = '''.\\" Made by tools/generate.py; change the help texts in smart_attributes/commands/table.py instead.
.TH CHECK_SMART_ATTRIBUTES 8 "" "check_smart_attributes {version}" "Monitoring plugins"
.SH NAME
check_smart_attributes \\- judge the SMART data of drives, as a plugin for Icinga and Nagios'''

TEXT = '''
.SH DESCRIPTION
Reads the SMART data of SATA, SAS and NVMe drives through
.BR smartctl (8),
also behind RAID controllers, and prints what a monitoring daemon reads: the worst thing first,
then a line for each drive, then
performance data.
Without
.B \\-d
it checks what
.B smartctl \\-\\-scan
finds.
Only root may read drives; as another user it puts
.B sudo \\-n
before smartctl.
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
its empty slots are skipped.
.B check_smart_attributes list
shows what there is.
.SH HISTORY
What drives said is remembered, so that a counter which rises is an alarm, for as long as its limit says, whoever looked
meanwhile; and so that drives which were replaced, moved or are gone are told for a day, by
.B triage
for longer.
History may add an alarm or tell its age, it silences none; where it cannot be used, the output says so.
A drive in standby goes by the name that it had when it was read last.
.B history \\-\\-import
takes what
.BR smartd (8)
has logged of these drives.'''

FILES = '''
.SH FILES
.TP
.I /etc/check\\-smart\\-attributes/attributes.d/*.json
entries for drives that the shipped
.I attributes.json
does not know
.TP
.I /etc/check\\-smart\\-attributes/thresholds.d/*.json
limits of this site, for a metric, a model, a serial number
.TP
.I /etc/sudoers.d/check\\-smart\\-attributes
lets nagios run smartctl with the arguments of this plugin, and nothing else
.TP
.I /etc/check\\-smart\\-attributes/acknowledged.json
what root has accepted; see acknowledge
.TP
.I /var/lib/check\\-smart\\-attributes
what is remembered from one check to the next
.TP
.I /var/lib/smartmontools/attrlog.*.csv
the logs of smartd that
.B history \\-\\-import
reads
.SH SEE ALSO
.BR smartctl (8),
.BR smartd (8),
.BR sudoers (5)'''


def page() -> str:
    """Return the whole man page."""
    lines = [HEAD.format(version=VERSION), *_synopsis(), TEXT.strip('\n'), '.SH OPTIONS', *_options('check')]
    lines += ['.SH COMMANDS', 'A word instead of options does something else than a check.']
    for command in names()[1:]:
        lines += _command(command)
    lines += ['.SH EXIT STATUS']
    for state, code, conditions in states():
        lines += ['.TP', f'.B {code} {state}', '\n.br\n'.join(_roff(each.replace('`', '')) for each in conditions)]
    lines += ['The worst state wins, in the order CRITICAL, UNKNOWN, WARNING, OK.']
    lines += ['.SH METRICS', 'What the numbers of drives say, whatever the vendor calls them; '
              'performance data and limits carry these names. Units are those of the values.']
    for name, metric in metrics().items():
        unit = 'verdict' if metric.get('verdict') else metric['unit'] or 'count'
        lines += ['.TP', f'.BR {name} " ({_roff(unit)})"', _roff(metric['meaning'])]
    lines += ['.SH EXAMPLES', '.EX', _roff(example('check')).strip(), '.EE', FILES.strip('\n')]
    return '\n'.join(lines) + '\n'


def _synopsis() -> Iterator[str]:
    yield '.SH SYNOPSIS'
    yield '.B check_smart_attributes'
    yield '[\\fB\\-d\\fR \\fIADDRESS\\fR | \\fB\\-\\-scan\\fR | \\fB\\-\\-report\\fR \\fIFILE\\fR] [\\fIoptions\\fR]'
    for command in names()[1:]:
        yield f'.br\n.B check_smart_attributes {command}\n[\\fIoptions\\fR]'


def _options(command: str, known: List[Option] = []) -> Iterator[str]:  # noqa: B006 - never changed
    """Yield the options of a command that are not known already."""
    group = ''
    for option in options(command):
        if any(option.names == other.names and option.help == other.help for other in known):
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
    shared = {option.dest for option in options(command)} & {option.dest for option in options('check')}
    if len(shared) > 3:  # beyond help and version
        yield '.PP\nOptions with the same name as above mean the same.'
    yield f'.PP\n.EX\n{_roff(example(command)).strip()}\n.EE'


def _roff(text: str) -> str:
    """Return text as roff prints it: hyphens stay hyphens, and no line is taken for a request."""
    escaped = text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq')
    return '\n'.join('\\&' + line if line.startswith('.') else line for line in escaped.splitlines())
