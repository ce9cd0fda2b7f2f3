"""Translate smartctl's messages into a reason and a next step if a drive cannot be judged. Pure.

Each sentence continues after the drive's name: "sdb: cannot be opened: Permission denied; run as root or through sudo".
"""
from __future__ import annotations

import re

from ..errors import DriveAbsent, DriveAsleep, DriveError, DriveIsNoDrive, DriveUndetected, NotAReport, SudoRefused
from ..model import Report
from ..typed import TYPE_CHECKING, NamedTuple
from ..words import clean
from .device_types import CONTROLLERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# smartctl complains near the top, in lines shorter than 200 characters. A drive can report any text, and the running
# time of the expressions below grows with the cube of the line length.
_LONGEST_LINE, _MOST_LINES, _EXAMINED = 300, 200, 8192
_REASON = 160             # characters of smartctl's own reason that are quoted

_SUDOERS = '"check_smart_attributes sudoers" prints the rule for /etc/sudoers.d'
_TYPE = 'give the type as TYPE@PATH, for instance sat@/dev/sda'
_A_TYPE = '{type}'         # in a sentence: "a type (TYPE@PATH)", or "another type than sat" if a type was given
_DISABLED = ('has SMART disabled: it does not watch itself and its verdict is worth nothing; enable it: smartctl -s '
             'on PATH')
_UNSUPPORTED = 'has no SMART: device lacks SMART capability; behind a RAID or USB bridge it may want ' + _A_TYPE
_RECORD = 'holds no SMART data: {}; record with smartctl -x'
_SLOT = rf'\[(?:{"|".join(CONTROLLERS)})_disk[^\]\n]*\]'
_SILENT_IS_EMPTY = '|'.join(name for name, each in CONTROLLERS.items() if each.silent_is_empty)
_OPEN = r'open device: [^\n]*? failed: '


def _of_controllers(code: str) -> list[tuple[str, str, str]]:
    return [failure for each in CONTROLLERS.values() for failure in each.failures if failure[1] == code]


# The class of the error with a code, if not DriveError.
_CLASSES: Mapping[str, type[DriveError]] = {
    'sudo-rule-missing': SudoRefused, 'asleep': DriveAsleep, 'no-such-device': DriveAbsent, 'empty-slot': DriveAbsent,
    'type-undetected': DriveUndetected, 'no-medium': DriveIsNoDrive, 'raid-volume': DriveIsNoDrive,
    'not-a-drive': DriveIsNoDrive, 'not-a-report': NotAReport}

# Patterns for messages of smartctl or sudo, each with the code and the sentence of its error. They are compiled only
# when needed, because there are sixty. {} in a sentence is the first group that matched, cleaned. The first match
# decides, so specific patterns come before general ones.
# Source: smartmontools 5.38 to 7.5 and 8.0 in work, os_linux.cpp, dev_*.cpp, *print.cpp; sudo 1.9.
_CAUSES: tuple[tuple[str, str, str], ...] = (
    # sudo
    (r'^sudo(?:-rs)?: .*(?:(?:password|authentication|terminal) is required|no tty present|askpass)',
     'sudo-rule-missing',
     'cannot be read: sudo wants a password, so the sudoers rule for this call is missing; ' + _SUDOERS),
    (r"^sudo-rs: I'm sorry (\S+)\. I'm afraid I can't do that|\buser (\S+) is not allowed to (?:execute|run)",
     'sudo-rule-missing', 'cannot be read: sudo does not allow user {} this call of smartctl; ' + _SUDOERS),
    (r'^(\S+) (?:is not in the sudoers file|may not run sudo)', 'sudo-rule-missing',
     'cannot be read: user {} may not use sudo; ' + _SUDOERS),
    (r'^sudo: .*must have a tty', 'sudo-blocked',
     'cannot be read: sudo insists on a terminal; add "Defaults:nagios !requiretty" to /etc/sudoers.d'),
    (r'no new privileges', 'sudo-blocked',
     'cannot be read: sudo may not become root inside this service; remove NoNewPrivileges from its unit'),
    (r'(?:smartctl|sudo)["\']?: (?:line \d+: )?(?:command )?not found|smartctl["\']?: No such file', 'smartctl-missing',
     'cannot be read: smartctl is not where it was looked for; install smartmontools or give its path with -p'),
    (r'^sudo(?:-rs)?: (?!unable to resolve host|setrlimit)(.+)', 'sudo-failed',
     'cannot be read: sudo says "{}"; ' + _SUDOERS),
    # The command line
    (r'UNRECOGNIZED OPTION: (?:j\b|json)', 'smartctl-too-old',
     'cannot be read: this smartctl is older than 7.0 and knows no JSON; install a newer smartmontools'),
    (r'(?:UNRECOGNIZED OPTION|ARGUMENT REQUIRED FOR OPTION): ?(.*)', 'smartctl-too-old',
     'cannot be read: smartctl does not understand the option {}; it is mistyped, or this smartctl is too old'),
    (r'INVALID ARGUMENT TO ([^:\s]+)', 'smartctl-too-old',
     'cannot be read: smartctl does not understand what stands after {}; it is mistyped, or smartctl is too old'),
    (r'requires a device name', 'smartctl-call-changed',
     'cannot be read: smartctl was called without a device; name one'),
    (r'takes ONE device name', 'smartctl-call-changed',
     'cannot be read: smartctl was called with several devices; name one'),
    (r"multiple -d TYPE options", 'smartctl-call-changed',
     'cannot be read: several types were given; one device has one type'),
    # Asleep
    # smartctl 7.3 treats a drive that does not answer as in SLEEP; a drive in standby still answers.
    (r'^Device is in SLEEP mode, exit\(\d+\)', 'not-answering',
     'answers nothing: in SLEEP mode or dead, which look alike; wake it up with smartctl -n never -i, or let it use '
     'standby'),
    (r'^Device is in (.+?) mode, exit\(\d+\)', 'asleep', 'is asleep ({}) and was left alone'),
    (r'^(CHECK POWER MODE .*?), exit\(\d+\)', 'power-mode-unknown',
     'does not tell whether it sleeps, so it was left alone: {}; call smartctl without "-n" once to see more'),
    (r'device is NOT READY', 'not-ready',
     'is not ready: spun down, busy or failing to start; wake it (reading from it does) and check again'),
    (r'device becoming ready', 'not-ready', 'is just becoming ready; check again in a minute'),
    (r'NO (?:MEDIUM|tape) present', 'no-medium', 'is a drive for removable media without a medium: no SMART'),
    # Volumes of a RAID controller, and its slots
    *_of_controllers('raid-volume'),
    (r"(?:requires option|try (?:adding )?)[ \t]*'-d ([^,'\n]+,[^'\n]*)'", 'raid-volume',
     'is a RAID volume; address its drives as {}@PATH, with a number for each letter'),
    (r'(Device \d+(?: \d+)? does not exist|No (?:drive|device connected)\b[^\n]*)', 'empty-slot',
     'is an empty slot: {}'),
    (_SLOT + r'[^\n]*failed: [^\n]*No such device', 'empty-slot',
     'is an empty slot: No such device; smartctl --scan lists the drives there are'),
    (_SLOT + r'[^\n]*failed: INQUIRY failed', 'empty-slot',
     'is an empty slot, or its drive is dead: INQUIRY failed; the RAID controller\'s own tool tells which'),
    *_of_controllers('controller-missing'),
    # Opening
    (_OPEN + r'[^\n]*(Permission denied)', 'no-permission', 'cannot be opened: {}; run as root or through sudo'),
    (_OPEN + r'[^\n]*(Operation not permitted)', 'no-permission',
     'cannot be opened: {}; run as root or through sudo. Root is refused too where the device takes no such commands: '
     'a virtual disk, a container'),
    (_OPEN + r'[^\n]*?(No such (?:device|file)\b[^\n]*)', 'no-such-device',
     'is not there: {}; check path and slot, smartctl --scan lists the drives there are'),
    (r'(Un(?:known|supported) USB bridge .*)', 'usb-bridge-type-missing',
     'cannot be read through its USB bridge: {}; ' + _TYPE + ', if the bridge passes SMART at all'),
    (r'(USB bridge .* type is ambiguous.*)', 'type-ambiguous', 'cannot be read through its USB bridge: {}; ' + _TYPE),
    (r"(Unknown (?:USB )?device type '.*')", 'type-unknown',
     'cannot be read: {}; smartctl -h lists the types, and most want a number (megaraid,0)'),
    (r"(?:Unable to detect device type|Not a device of type)", 'type-undetected',
     'is not there, or smartctl cannot detect its device type (no such device, a partition, a virtual disk, a plain '
     'file); check the path, or ' + _TYPE),
    (r'((?:Option )?-d \S+ (?:requires|must|supports).*|Type \'[^\'\n]*\': .*)', 'type-unknown', 'cannot be read: {}'),
    (r'Probable ATA device behind a SAT layer', 'type-wrong',
     'is a SATA drive behind a translating controller; give the type sat: sat@PATH'),
    (r'Inappropriate ioctl for device', 'type-wrong',
     'is no drive that takes such commands (Inappropriate ioctl: not a disk, or the wrong type); check the path and '
     'the type'),
    (_OPEN + r'(INQUIRY\b.*)', 'identify-failed',
     'does not say who it is: {}; the drive is failing, or it needs ' + _A_TYPE),
    (_OPEN + r'(.*(?:Input/output error|timed out).*)', 'device-open-failed',
     'cannot be opened: {}; check drive, cable and controller, the kernel log (dmesg) tells more'),
    (_OPEN + r'(.*busy.*)', 'device-open-failed', 'cannot be opened: {}; another program holds it'),
    (_OPEN + r'(.+)', 'device-open-failed', 'cannot be opened: {}'),
    # No identity
    (r'Read Device Identity failed: (.+)', 'identify-failed',
     'does not say who it is (IDENTIFY failed: {}); a USB or RAID device wants ' + _A_TYPE),
    (r'Standard Inquiry .* failed \[(.+?)\]', 'identify-failed',
     'does not say who it is (INQUIRY failed: {}); it is failing, or it wants ' + _A_TYPE),
    (r'Short INQUIRY response', 'identify-failed',
     'does not say who it is: its INQUIRY answer is too short to be a disk'),
    (r'Read NVMe Identify \S+ (?:\S+ )?failed: (.+)', 'identify-failed',
     'does not say who it is (NVMe Identify failed: {}); it is failing, or it is no NVMe drive'),
    # No SMART
    (r'Packet Interface Devices \[this device: ([^\]\n]+)\]', 'not-a-drive', 'is a {} drive: no SMART'),
    (r'Read NVMe SMART/Health Information .*?failed: (.+)', 'nvme-log-unreadable',
     'identifies itself, but its SMART/Health log cannot be read: {}; it may be failing, see dmesg'),
    (r'^SMART support is: +Disabled|^SMART Disabled', 'smart-disabled', _DISABLED),
    (r'^SMART support is: +(?:Unknown|Ambiguous)', 'smart-unknown',
     'does not tell whether it supports SMART; try to enable it: smartctl -s on PATH'),
    (r'device lacks SMART capability|does not support SMART', 'smart-unsupported', _UNSUPPORTED),
    (r'bad response to IEC mode page|IE page \[', 'smart-unsupported',
     'has no SMART that can be read (informational exceptions page: bad response); a RAID volume or a simple USB '
     'device answers so'),
    (r'Read SMART (?:Data|Thresholds) failed: (.+)', 'smart-data-unreadable', 'gives no SMART data: {}; see dmesg'),
    (r'A mandatory SMART command failed', 'smart-data-unreadable',
     'failed a mandatory SMART command; it is no drive with SMART, or it needs ' + _A_TYPE),
    # Not about a drive
    (r'ABSOLUTELY NO WARRANTY|^smartmontools release', 'not-a-report',
     _RECORD.format('this is the version of smartctl')),
    (r'^(?:# )?\S.* -d \S+ # .* device', 'not-a-report', _RECORD.format('this is a list of devices (smartctl --scan)')),
    (r'\] (?:detected|opened)$|^(?:ATA|NVMe) device successfully opened', 'report-without-data',
     _RECORD.format('smartctl only opened the drive')))

# Complaints of smartctl in a report that can still be judged.
_COMPLAINT = (r'Warning[:!]|==> WARNING:|Read .* failed|SMART Status (?:not supported|command failed)'
              r'|.*(?:Log Sense|Failed) .*\[|Error .*checksum|An optional SMART command failed')

# Values allowed in an otherwise empty health log: the drive's limits, no warning, and a temperature added by bridges.
_FEW = 4  # a truncated report holds some of its fourteen counts
_NO_COUNTS = ('critical_warning', 'temperature', 'warning_temp_threshold', 'critical_temp_threshold')


def diagnose(messages: Sequence[str], exit_status: int | None = None, output_text: str = '') -> DriveError | None:
    """Return why a drive cannot be judged, or None if the messages give no known reason.

    messages: those in smartctl's JSON, of any severity.
    exit_status: as reported by the operating system, negative for a signal.
    output_text: standard output and error, except JSON.
    Call this only if a report lacks SMART data, because text in a complete report may also match.
    """
    text = examined('\n'.join([*messages, output_text]))
    for pattern, code, sentence in _CAUSES:
        match = re.search(pattern, text, re.MULTILINE | re.IGNORECASE)
        if match:
            quote = clean(next((group for group in match.groups() if group), ''), _REASON).rstrip('.;, ')
            return _error(code, sentence, quote)
    if exit_status is not None and exit_status < 0:
        return DriveError(f'cannot be read: smartctl was ended by signal {-exit_status}; see dmesg, try it by hand',
                          'smartctl-failed')
    return None


def _error(code: str, sentence: str, quote: str = '') -> DriveError:
    """Return the error with a code. sentence: {} is replaced by smartctl's text, _A_TYPE by the advice on types."""
    parts = tuple(part.replace('{}', quote) for part in sentence.split(_A_TYPE))
    error = _CLASSES.get(code, DriveError)('a type (TYPE@PATH)'.join(parts), code)
    error.around_type = parts if len(parts) > 1 else ()
    return error


def examined(text: str) -> str:
    """Return the part of an output to search: its first lines, each truncated to limit the search time."""
    return '\n'.join(line[:_LONGEST_LINE] for line in text.split('\n', _MOST_LINES)[:_MOST_LINES])[:_EXAMINED]


def no_report(text: str, exit_status: int | None = None) -> DriveError:
    """Return why *text* is not a report: a reason of smartctl or sudo, nothing printed, or another program's output."""
    cause, is_empty = diagnose((), exit_status, text), not text.strip()
    if cause:
        return cause
    if exit_status:
        return DriveError(f'cannot be read: smartctl printed {"nothing" if is_empty else "no report"} and ended with '
                          f'exit status {exit_status}; try it by hand', 'smartctl-failed')
    if is_empty:
        return DriveError(_RECORD.format('it is empty, smartctl printed nothing'), 'report-empty')
    return NotAReport('is not a smartctl report; record with smartctl -x, best with --json')


def as_asked(error: DriveError, device_type: str) -> DriveError:
    """Return an error; if it advises a type and a type was given already, it advises another one."""
    if device_type and error.around_type:
        error.args = (f'another type than {clean(device_type)}'.join(error.around_type),)
    return error


class Remains(NamedTuple):
    """The content of a report without SMART data. JSON omits messages that smartctl prints only as text."""

    exit_status: int = 0
    is_identified: bool = False         # it names a model
    device_type: str = ''               # smartctl's -d argument; '' without a device
    is_asked: bool = True               # whether SMART data was requested, if the command line is known
    complaint: str = ''                 # message of smartctl without a known cause
    is_unsupported: bool = False        # the drive reports that it has no SMART


def without_data(remains: Remains) -> DriveError:
    """Return the error for a report that has neither SMART data nor a known reason for that."""
    if remains.is_unsupported:
        return _error('smart-unsupported', _UNSUPPORTED)
    if not remains.is_asked:
        return DriveError(_RECORD.format('smartctl was not asked for any'), 'report-without-data')
    if remains.complaint:
        return DriveError(f'cannot be read: smartctl says "{clean(remains.complaint, _REASON)}"', 'smartctl-failed')
    if not remains.device_type and not remains.is_identified:
        return DriveError(_RECORD.format('it is about no drive'), 'report-without-data')
    if remains.exit_status & 6:
        return _failed(remains)
    return DriveError(_RECORD.format('only what the drive is'), 'report-without-data')


def _failed(remains: Remains) -> DriveError:
    """Return the error for a device that smartctl opened but that did not answer or refused a command."""
    if not remains.exit_status & 2:
        return _error('smart-data-unreadable', 'gives no SMART data, a command to it failed: SMART is disabled '
                      '(smartctl -s on PATH), unsupported, or lost behind a bridge that wants ' + _A_TYPE)
    if remains.is_identified:
        return DriveError('says who it is and no more: not ready, asleep or failing; the kernel log (dmesg) tells more',
                          'not-answering')
    if re.search(_SILENT_IS_EMPTY, remains.device_type):
        return DriveAbsent(f'is an empty slot, or its drive is dead: nothing answers as {clean(remains.device_type)}',
                           'empty-slot')
    return DriveError('does not say who it is (IDENTIFY or INQUIRY failed): no drive of this type, or it no longer '
                      'answers; check path and type (TYPE@PATH), the kernel log (dmesg) tells more', 'identify-failed')


def smart_disabled() -> DriveError:
    """Return the error for a drive whose SMART is disabled.

    Its counters are real, but its "OK" is not: a SCSI drive with exceptions disabled reports none (SPC-5, DEXCPT), an
    ATA drive stops updating attributes.
    """
    return DriveError(_DISABLED, 'smart-disabled')


def is_complaint(line: str) -> bool:
    """Return whether a line of a report is a complaint of smartctl: a checksum, a refused log."""
    return re.match(_COMPLAINT, line[:_LONGEST_LINE]) is not None


def emptiness(report: Report, is_asked: bool) -> DriveError | None:
    """Return an error if the data read are meaningless, otherwise None.

    is_asked: whether attributes were requested. A recording of only the health status holds nothing else.
    A bridge or a failing drive may answer with blocks of zeros, with a correct checksum, and also report "passed".
    """
    if report.smart_status is False or any(test.passed is False for test in report.self_tests):
        return None
    counts = [number for key, number in report.nvme.items() if key not in _NO_COUNTS]
    if len(counts) > _FEW and not any(counts):
        return DriveError('gives a health log of nothing but zeros: a bridge, a RAID volume, or firmware that makes '
                          'it up; check what stands behind it, or leave it out with --ignore', 'smart-data-empty')
    if not is_asked or report.identity.protocol != 'ATA' or any(
            entry.number for entry in report.statistics.values()) or any(
            row.value or row.raw.strip('0x') for row in report.attributes):
        return None
    return _error('smart-data-empty', 'tells not one attribute, and "passed" alone is worth nothing: lost behind a '
                  f'bridge that wants {_A_TYPE}, or the drive is failing, see dmesg; leave out with --ignore what '
                  'never has any')
