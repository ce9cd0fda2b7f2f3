"""Translate smartctl's messages into a reason and a next step if a drive cannot be judged. Pure.

Each sentence continues after the drive's name: "sdb: cannot be opened: Permission denied; run as root or through sudo".
"""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..constants import LONGEST_EXAMINED, LONGEST_SEARCHED_LINE, MOST_FAILED_LINES, MOST_SEARCHED_LINES
from ..errors import DriveAbsent, DriveAsleep, DriveError, DriveIsNoDrive, DriveUndetected, NotAReport, SudoRefused
from ..typed import NamedTuple
from ..words import clean
from .device_types import CONTROLLERS

# smartctl complains near the top, in lines shorter than 200 characters. A drive can report any text, and the running
# time of the expressions below grows with the cube of the line length.
_REASON = 160             # characters of smartctl's own reason that are quoted
# A failed call prints few lines. A longer text without smartctl's first line may contain its words by chance.
BANNER = r'^[ \t]*smartctl (?:version )?(?:pre-)?'  # the first line, up to the version

_SUDOERS = 'print the rule for /etc/sudoers.d: check_smart_attributes sudoers'
_TYPE = 'give the type as TYPE@PATH, for example sat@/dev/sda'
_A_TYPE = '{type}'         # in a sentence: "a type (TYPE@PATH)", or "a type other than sat" if a type was given
_DISABLED = ('has SMART disabled, so it does not monitor itself and its status means nothing; enable it: '
             'smartctl -s on PATH')
_UNSUPPORTED = 'has no SMART: device lacks SMART capability; behind a RAID or USB bridge it may need ' + _A_TYPE
_RECORD = 'contains no SMART data: {}; record with smartctl -x'
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
     'cannot be read: sudo asks for a password, so the sudoers rule for this call is missing; ' + _SUDOERS),
    (r"^sudo-rs: I'm sorry (\S+)\. I'm afraid I can't do that|\buser (\S+) is not allowed to (?:execute|run)",
     'sudo-rule-missing', 'cannot be read: sudo does not allow user {} to run this smartctl call; ' + _SUDOERS),
    (r'^(\S+) (?:is not in the sudoers file|may not run sudo)', 'sudo-rule-missing',
     'cannot be read: user {} may not use sudo; ' + _SUDOERS),
    (r'^sudo: .*must have a tty', 'sudo-blocked',
     'cannot be read: sudo requires a terminal; for the lines that exempt this call, run as root: '
     'check_smart_attributes doctor --user nagios'),
    (r'no new privileges', 'sudo-blocked',
     'cannot be read: sudo cannot become root in this service; remove NoNewPrivileges from its unit'),
    (r'(?:smartctl|sudo)["\']?: (?:line \d+: )?(?:command )?not found|smartctl["\']?: No such file', 'smartctl-missing',
     'cannot be read: smartctl was not found; install smartmontools, or give the path of smartctl with -p'),
    (r'^sudo(?:-rs)?: (?!unable to resolve host|setrlimit)(.+)', 'sudo-failed',
     'cannot be read: sudo failed with "{}"; ' + _SUDOERS),
    # The command line
    (r'UNRECOGNIZED OPTION: (?:j\b|json)', 'smartctl-too-old',
     'cannot be read: this smartctl is older than 7.0 and does not support JSON; install a newer smartmontools'),
    (r'(?:UNRECOGNIZED OPTION|ARGUMENT REQUIRED FOR OPTION): ?(.*)', 'smartctl-too-old',
     'cannot be read: smartctl does not know the option {}; correct it, or install a newer smartmontools'),
    (r'INVALID ARGUMENT TO ([^:\s]+)', 'smartctl-too-old',
     'cannot be read: smartctl rejected the argument of {}; correct it, or install a newer smartmontools'),
    (r'requires a device name', 'smartctl-call-changed',
     'cannot be read: smartctl was called without a device; name one'),
    (r'takes ONE device name', 'smartctl-call-changed',
     'cannot be read: smartctl was called with several devices; name only one'),
    (r"multiple -d TYPE options", 'smartctl-call-changed',
     'cannot be read: smartctl was called with several types; give only one'),
    # Asleep
    # smartctl 7.3 treats a drive that does not answer as in SLEEP; a drive in standby still answers.
    (r'^Device is in SLEEP mode, exit\(\d+\)', 'not-answering',
     'does not respond: in SLEEP mode or dead, which look the same; wake it with smartctl -n never -i, or let it use '
     'standby instead of SLEEP'),
    (r'^Device is in (.+?) mode, exit\(\d+\)', 'asleep', 'is in standby ({}), not woken'),
    (r'^(CHECK POWER MODE .*?), exit\(\d+\)', 'power-mode-unknown',
     'does not report its power mode, so it was not read: {}; run smartctl once without -n to see more'),
    (r'device is NOT READY', 'not-ready',
     'is not ready: spun down, busy or failing to start; wake it by reading from it, then check again'),
    (r'device becoming ready', 'not-ready', 'is becoming ready; check again in a minute'),
    (r'NO (?:MEDIUM|tape) present', 'no-medium', 'is a removable-media drive without a medium, so it has no SMART'),
    # Volumes of a RAID controller, and its slots
    *_of_controllers('raid-volume'),
    (r"(?:requires option|try (?:adding )?)[ \t]*'-d ([^,'\n]+,[^'\n]*)'", 'raid-volume',
     'is a RAID volume; address its drives as {}@PATH, with a number for each letter'),
    (r'(Device \d+(?: \d+)? does not exist|No (?:drive|device connected)\b[^\n]*)', 'empty-slot',
     'is an empty slot: {}'),
    (_SLOT + r'[^\n]*failed: [^\n]*No such device', 'empty-slot',
     'is an empty slot: No such device; list the existing drives with: smartctl --scan'),
    (_SLOT + r'[^\n]*failed: INQUIRY failed', 'empty-slot',
     'is an empty slot, or its drive is dead: INQUIRY failed; the RAID controller\'s own tool shows which'),
    *_of_controllers('controller-missing'),
    # Opening
    (_OPEN + r'[^\n]*(Permission denied)', 'no-permission', 'cannot be opened: {}; run as root or through sudo'),
    (_OPEN + r'[^\n]*(Operation not permitted)', 'no-permission',
     'cannot be opened: {}; run as root or through sudo. If root is refused too, the device accepts no such commands, '
     'as in a container or a virtual machine'),
    (_OPEN + r'[^\n]*?(No such (?:device|file)\b[^\n]*)', 'no-such-device',
     'was not found: {}; check the path and slot, smartctl --scan lists the existing drives'),
    (r'(Un(?:known|supported) USB bridge .*)', 'usb-bridge-type-missing',
     'cannot be read through its USB bridge: {}; ' + _TYPE + ', if the bridge passes SMART commands through'),
    (r'(USB bridge .* type is ambiguous.*)', 'type-ambiguous', 'cannot be read through its USB bridge: {}; ' + _TYPE),
    (r"(Unknown (?:USB )?device type '.*')", 'type-unknown',
     'cannot be read: {}; smartctl -h lists the types, and most need a number (megaraid,0)'),
    (r"(?:Unable to detect device type|Not a device of type)", 'type-undetected',
     'does not exist, or smartctl cannot detect its type (a partition, a virtual disk, a regular file); check the '
     'path, or ' + _TYPE),
    (r'((?:Option )?-d \S+ (?:requires|must|supports).*|Type \'[^\'\n]*\': .*)', 'type-unknown', 'cannot be read: {}'),
    (r'Probable ATA device behind a SAT layer', 'type-wrong',
     'is a SATA drive behind a controller that translates commands; give the type: sat@PATH'),
    (r'Inappropriate ioctl for device', 'type-wrong',
     'does not accept these commands (Inappropriate ioctl: not a disk, or the wrong type); check the path and the '
     'type'),
    (_OPEN + r'(INQUIRY\b.*)', 'identify-failed',
     'did not identify itself: {}; the drive is failing, or it needs ' + _A_TYPE),
    (_OPEN + r'(.*(?:Input/output error|timed out).*)', 'device-open-failed',
     'cannot be opened: {}; check drive, cable and controller, and the kernel log: dmesg -T'),
    (_OPEN + r'(.*busy.*)', 'device-open-failed',
     'cannot be opened: {}; another program is using it, see: fuser -v PATH'),
    (_OPEN + r'(.+)', 'device-open-failed', 'cannot be opened: {}'),
    # No identity
    (r'Read Device Identity failed: (.+)', 'identify-failed',
     'did not identify itself (IDENTIFY failed: {}); a USB or RAID device needs ' + _A_TYPE),
    (r'Standard Inquiry .* failed \[(.+?)\]', 'identify-failed',
     'did not identify itself (INQUIRY failed: {}); it is failing, or it needs ' + _A_TYPE),
    (r'Short INQUIRY response', 'identify-failed',
     'did not identify itself: its INQUIRY response is too short for a disk'),
    (r'Read NVMe Identify \S+ (?:\S+ )?failed: (.+)', 'identify-failed',
     'did not identify itself (NVMe Identify failed: {}); it is failing, or it is not an NVMe drive'),
    # No SMART
    (r'Packet Interface Devices \[this device: ([^\]\n]+)\]', 'not-a-drive', 'is a {} drive, so it has no SMART'),
    (r'Read NVMe SMART/Health Information .*?failed: (.+)', 'nvme-log-unreadable',
     'identified itself, but its SMART/Health log cannot be read: {}; it may be failing, see dmesg -T'),
    (r'^SMART support is: +Disabled|^SMART Disabled', 'smart-disabled', _DISABLED),
    (r'^SMART support is: +(?:Unknown|Ambiguous)', 'smart-unknown',
     'does not report whether it supports SMART; try to enable it: smartctl -s on PATH'),
    (r'device lacks SMART capability|does not support SMART', 'smart-unsupported', _UNSUPPORTED),
    (r'bad response to IEC mode page|IE page \[', 'smart-unsupported',
     'has no readable SMART data (informational exceptions page: bad response); RAID volumes and simple USB devices '
     'respond like this'),
    (r'Read SMART (?:Data|Thresholds) failed: (.+)', 'smart-data-unreadable',
     'returns no SMART data: {}; check the kernel log: dmesg -T'),
    (r'A mandatory SMART command failed', 'smart-data-unreadable',
     'failed a mandatory SMART command; it has no SMART, or it needs ' + _A_TYPE),
    # Not about a drive
    (r'ABSOLUTELY NO WARRANTY|^smartmontools release', 'not-a-report',
     _RECORD.format('it is the version of smartctl')),
    (r'^(?:# )?\S.* -d \S+ # .* device', 'not-a-report', _RECORD.format('it is a list of devices (smartctl --scan)')),
    (r'\] (?:detected|opened)$|^(?:ATA|NVMe) device successfully opened', 'report-without-data',
     _RECORD.format('smartctl only opened the drive')))

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
        return DriveError(f'cannot be read: smartctl was terminated by signal {-exit_status}; see dmesg -T, or '
                          f'run it by hand', 'smartctl-failed')
    return None


def _error(code: str, sentence: str, quote: str = '') -> DriveError:
    """Return the error with a code. sentence: {} is replaced by smartctl's text, _A_TYPE by the advice on types."""
    parts = tuple(part.replace('{}', quote) for part in sentence.split(_A_TYPE))
    error = _CLASSES.get(code, DriveError)('a type (TYPE@PATH)'.join(parts), code)
    error.around_type = parts if len(parts) > 1 else ()
    return error


def examined(text: str) -> str:
    """Return the part of an output to search: its first lines, each truncated to limit the search time."""
    lines = text.split('\n', MOST_SEARCHED_LINES)[:MOST_SEARCHED_LINES]
    return '\n'.join(line[:LONGEST_SEARCHED_LINE] for line in lines)[:LONGEST_EXAMINED]


def no_report(text: str, exit_status: int | None = None) -> DriveError:
    """Return why *text* is not a report: a reason of smartctl or sudo, nothing printed, or another program's output."""
    is_long = exit_status is None and text.count('\n') > MOST_FAILED_LINES
    is_foreign = is_long and not re.search(f'{BANNER}[0-9]', text, re.MULTILINE)
    cause, is_empty = None if is_foreign else diagnose((), exit_status, text), not text.strip()
    if cause:
        return cause
    if exit_status:
        return DriveError(f'cannot be read: smartctl printed {"nothing" if is_empty else "no report"} and ended with '
                          f'exit status {exit_status}; run it by hand', 'smartctl-failed')
    if is_empty:
        return DriveError(_RECORD.format('it is empty, because smartctl printed nothing'), 'report-empty')
    return NotAReport('is not a smartctl report; record one with smartctl -x, preferably with --json')


def as_asked(error: DriveError, device_type: str) -> DriveError:
    """Return an error; if it advises a type and a type was given already, it advises another one."""
    if device_type and error.around_type:
        error.args = (f'a type other than {clean(device_type)}'.join(error.around_type),)
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
        return DriveError(_RECORD.format('smartctl was not asked for them'), 'report-without-data')
    if remains.complaint:
        return DriveError(f'cannot be read: smartctl reports "{clean(remains.complaint, _REASON)}"', 'smartctl-failed')
    if not remains.device_type and not remains.is_identified:
        return DriveError(_RECORD.format('it describes no drive'), 'report-without-data')
    if remains.exit_status & 6:
        return _failed(remains)
    return DriveError(_RECORD.format('only the identity of the drive'), 'report-without-data')


def _failed(remains: Remains) -> DriveError:
    """Return the error for a device that smartctl opened but that did not answer or refused a command."""
    if not remains.exit_status & 2:
        return _error('smart-data-unreadable', 'returns no SMART data, because a command failed: SMART is '
                      'disabled (smartctl -s on PATH), not supported, or hidden by a bridge that needs ' + _A_TYPE)
    if remains.is_identified:
        return DriveError('identified itself but returned no data: not ready, in standby or failing; check the '
                          'kernel log: dmesg -T', 'not-answering')
    if re.search(_SILENT_IS_EMPTY, remains.device_type):
        return DriveAbsent(f'is an empty slot, or its drive is dead: nothing answers as {clean(remains.device_type)}',
                           'empty-slot')
    return DriveError('did not identify itself (IDENTIFY or INQUIRY failed): not a drive of this type, or it no longer '
                      'responds; check path and type (TYPE@PATH), and the kernel log: dmesg -T', 'identify-failed')


def smart_disabled() -> DriveError:
    """Return the error for a drive whose SMART is disabled.

    Its counters are real, but its "OK" is not: a SCSI drive with exceptions disabled reports none (SPC-5, DEXCPT), an
    ATA drive stops updating attributes.
    """
    return DriveError(_DISABLED, 'smart-disabled')


def without_attributes() -> DriveError:
    """Return the error for a drive that says "passed" but reports no attributes."""
    return _error('smart-data-empty', 'reports no SMART attributes, so "passed" cannot be trusted: a bridge that needs '
                  f'{_A_TYPE} hides them, or the drive is failing (see dmesg -T); if it never has any, exclude it with '
                  '--ignore')


# --- devices that answer but are not drives: RAID volumes, virtual disks, optical drives ---------------------

# Models of virtual disks without SMART, by hypervisor, in full as smartctl prints them; with SCSI, the vendor comes
# first. A virtual disk that reports health data is judged like any drive.
VIRTUAL_DISKS = {
    # QEMU, hw/ide/core.c, hw/scsi/scsi-disk.c, hw/nvme/ctrl.c; smartctl 7.3 in such a guest
    'QEMU/KVM': ('QEMU HARDDISK', 'QEMU QEMU HARDDISK', 'QEMU NVMe Ctrl'),
    # logs of guests: "Direct-Access VMware Virtual disk", "Disk model: VMware Virtual NVMe Disk"
    'VMware': ('VMware Virtual disk', 'VMware, VMware Virtual S', 'VMware Virtual SATA Hard Drive',
               'VMware Virtual IDE Hard Drive', 'VMware Virtual NVMe Disk'),
    # logs of guests: "Direct-Access Msft Virtual Disk"; Microsoft, Azure documentation on NVMe disks
    'Hyper-V': ('Msft Virtual Disk', 'MSFT Virtual Disk', 'Virtual HD', 'MSFT NVMe Accelerator v1.0'),
    'Xen': ('XENSRC PVDISK',),  # XenServer, INQUIRY data of its paravirtual disks; /dev/xvdX never answers smartctl
    'VirtualBox': ('VBOX HARDDISK', 'ORCL-VBOX-NVME-VER12'),  # VirtualBox, DevATA.cpp, DrvSCSI.cpp, DevNVMe
    'bhyve': ('BHYVE SATA DISK', 'bhyve-NVMe'),  # FreeBSD, usr.sbin/bhyve/pci_ahci.c, pci_nvme.c
    # logs of instances: "Direct-Access Google PersistentDisk"
    'Google Cloud': ('Google PersistentDisk', 'Google EphemeralDisk', 'nvme_card-pd'),
    'Amazon EC2': ('Amazon Elastic Block Store',)}  # AWS, "Identify the EBS device": the model in Identify Controller
_BY_MODEL = {model.upper(): hypervisor for hypervisor, models in VIRTUAL_DISKS.items() for model in models}

# Types of block devices that never have SMART. FreeBSD's names: cd(4), sa(4) and ses(4), which its scan lists.
_PATHS = (
    (r'/dev/(?:sr|scd|cdrom)[^/]*|/dev/cd[0-9]+', 'an optical drive'),
    (r'/dev/ses[0-9]+', 'an enclosure'),
    (r'/dev/(?:vd|xvd)[a-z][^/]*', 'a virtual disk (virtio or Xen)'),
    (r'/dev/n?s[at][0-9][^/]*', 'a tape drive'),
    (r'/dev/z?ram[^/]*', 'memory'),
    (r'/dev/fd[^/]*', 'a floppy drive'),
    (r'/dev/(?:loop|md|dm-|mapper/|bcache|zd)[^/]*', 'a device made of files or other disks'),
    (r'/dev/(?:nbd|d?rbd)[^/]*|/dev/disk/by-path/.*iscsi.*', 'a network disk'),
)

# SCSI peripheral device types that can have SMART. Source: SPC-5, table "Peripheral device type".
_DISK_TYPES = ('', 'disk', 'simplified disk', 'host managed zoned block device', 'object based storage')
_VOLUME = r'(?i)\b(?:logical volume|virtual[ _-]?di[sc]k|raid\w*|volume|vdisk|lun)\b'
_OPTICAL = r'(?i)\b(?:DVD|BD|CD)(?:[-_ +]?(?:ROM|RW?|RAM|RE|WRITER))?\b'
# A logical unit name of NAA format 6 has 32 digits and belongs to a controller's volume; a drive has one of 16 digits.
# Source: SPC-5, 7.7.6.6 "NAA designator format".
_NAA_6 = r'(?i)6[0-9a-f]{31}'


def of_path(path: str) -> str:
    """Return the type of a device without SMART by its path: "an optical drive"; '' if it may be a drive."""
    return next((kind for pattern, kind in _PATHS if re.fullmatch(pattern, path)), '')


def virtual_disk(model: str) -> DriveIsNoDrive | None:
    """Return the error for a virtual disk, or None if its model is not in the list."""
    hypervisor = _BY_MODEL.get(' '.join(model.split()).upper())
    return DriveIsNoDrive(f'is a virtual disk of {hypervisor}, so it has no SMART; check the drives on the '
                          f'host', 'virtual-disk') if hypervisor else None


def not_a_drive(model: str, kind: str, transport: str, unit_id: str) -> DriveIsNoDrive | None:
    """Return why this SCSI device has no SMART of its own, or None if it may be a drive.

    kind: the peripheral device type as smartctl names it: "disk", "CD/DVD".
    transport: "iSCSI", "SAS (SPL-4)". unit_id: hexadecimal digits.
    """
    if kind not in _DISK_TYPES:
        return DriveIsNoDrive(f'is not a disk ({clean(kind)}), so it has no SMART')
    if transport.lower().startswith('iscsi'):
        return DriveIsNoDrive('is an iSCSI volume; check its drives in the storage system',
                              'iscsi-volume')
    if re.search(_OPTICAL, model):
        return DriveIsNoDrive('is an optical drive, so it has no SMART')
    if re.search(_VOLUME, model) or re.fullmatch(_NAA_6, unit_id):
        return DriveIsNoDrive('is a RAID volume or virtual disk, not a drive, so it has no SMART; address the drives '
                              'behind it, for example megaraid,N@/dev/bus/0 or cciss,N@/dev/sg0 (see smartctl --scan)',
                              'raid-volume')
    return None
