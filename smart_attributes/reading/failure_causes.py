"""Messages of smartctl and sudo, each with the code and the sentence of its error.

Sources: smartmontools 5.38 to 7.5 and 8.0 in work: os_linux.cpp, dev_*.cpp, *print.cpp; sudo 1.9.
"""

from ..typed import NamedTuple
from .device_types import CONTROLLERS

QUOTE = '{}'  # in a sentence: what smartctl or sudo printed
# Parts of several sentences.
SUDOERS = 'run check_smart_attributes sudoers, and save its output in /etc/sudoers.d'
ADVICE = 'give the type: -d sat@PATH'
DISABLED = 'has SMART disabled, so its status means nothing'
ENABLE = 'enable it: smartctl -s on PATH'
UNSUPPORTED = 'has no SMART: device lacks SMART capability'
RIGHT_TYPE = 'the right type (TYPE@PATH)'
BRIDGED = f'for RAID or USB, give {RIGHT_TYPE}'
NEEDS_TYPE = f'check dmesg -T; or give {RIGHT_TYPE}'
EXCLUDE = 'exclude it: --ignore PATH'
LIST = 'list the existing drives: smartctl --scan'
RECORD = 'record with: smartctl -x --json PATH'
# Parts of several patterns.
OPEN = r'open device: [^\n]*? failed: '
SLOT = rf'\[(?:{"|".join(CONTROLLERS)})_disk[^\]\n]*\]'


class Cause(NamedTuple):
    """A message of smartctl or sudo, and the error that it leads to."""

    pattern: str
    code: str
    why: str  # QUOTE is replaced by the first group of the pattern that matched
    step: str = ''  # likewise


CALL = 'run smartctl -x PATH, with a PATH from smartctl --scan'


def no_data(reason: str) -> str:
    """Return why a text without SMART data cannot be judged. reason: a clause."""
    return f'contains no SMART data: {reason}'


# The first pattern that matches is used, so specific patterns come before general ones. There are
# sixty, so they are compiled only when needed.
CAUSES = (
    # sudo
    Cause(
        '^sudo(?:-rs)?: .*(?:(?:password|authentication|terminal) is required|no tty '
        'present|askpass)',
        'sudo-rule-missing',
        'cannot be read: sudo asks for a password',
        SUDOERS,
    ),
    Cause(
        r"^sudo-rs: I'm sorry (\S+)\. I'm afraid I can't do that|\buser (\S+) is not allowed to "
        r'(?:execute|run)|^(\S+) (?:is not in the sudoers file|may not run sudo)',
        'sudo-rule-missing',
        f'cannot be read: sudo does not allow user {QUOTE} to run this smartctl call',
        SUDOERS,
    ),
    Cause(
        '^sudo: .*must have a tty',
        'sudo-blocked',
        'cannot be read: sudo requires a terminal',
        'for the fix, run as root: check_smart_attributes doctor --user nagios',
    ),
    Cause(
        'no new privileges',
        'sudo-blocked',
        'cannot be read: sudo cannot become root in this service',
        'remove NoNewPrivileges from its unit',
    ),
    Cause(
        r'(?:smartctl|sudo)["\']?: (?:line \d+: )?(?:command )?not found|smartctl["\']?: No such '
        r'file',
        'smartctl-missing',
        'cannot be read: smartctl was not found',
        'install smartmontools, or give the path of smartctl with -p',
    ),
    Cause(
        '^sudo(?:-rs)?: (?!unable to resolve host|setrlimit)(.+)',
        'sudo-failed',
        f'cannot be read: sudo failed with "{QUOTE}"',
        SUDOERS,
    ),
    # The command line
    Cause(
        r'UNRECOGNIZED OPTION: (?:j\b|json)',
        'smartctl-too-old',
        'cannot be read: this smartctl is older than 7.0 and does not support JSON',
        'install a newer smartmontools',
    ),
    Cause(
        '(?:UNRECOGNIZED OPTION|ARGUMENT REQUIRED FOR OPTION): ?(.*)',
        'smartctl-too-old',
        f'cannot be read: smartctl has no option {QUOTE}',
        'correct the option, or update smartmontools',
    ),
    Cause(
        r'INVALID ARGUMENT TO ([^:\s]+)',
        'smartctl-too-old',
        f'cannot be read: smartctl rejected the argument of {QUOTE}',
        'correct the argument, or update smartmontools',
    ),
    Cause(
        '(requires a device name|takes ONE device name|multiple -d TYPE options)',
        'smartctl-call-changed',
        'cannot be read: the wrapper (-p) changes arguments',
        'make the wrapper pass arguments unchanged',
    ),
    # Drives that sleep. smartctl 7.3 treats one that does not answer as in SLEEP, and one in
    # standby still answers.
    Cause(
        r'^Device is in SLEEP mode, exit\(\d+\)',
        'not-answering',
        'does not respond: either in SLEEP mode or dead',
        'wake it: smartctl -n never -i DEVICE; to avoid this, let it go to standby instead of SLEEP',
    ),
    Cause(
        r'^Device is in (.+?) mode, exit\(\d+\)',
        'asleep',
        f'is in {QUOTE} mode and was not woken',
    ),
    Cause(
        r'^(CHECK POWER MODE .*?), exit\(\d+\)',
        'power-mode-unknown',
        f'does not report its power mode, so the drive was not read: {QUOTE}',
        'run smartctl once without -n to see more',
    ),
    Cause(
        'device is NOT READY|device becoming ready',
        'not-ready',
        'is not ready: spun down, busy or failing to start',
        'wake it by reading from it, then check again',
    ),
    Cause(
        'NO (?:MEDIUM|tape) present',
        'no-medium',
        'is a removable-media drive without a medium, so it has no SMART',
        EXCLUDE,
    ),
    # Volumes of a RAID controller, and its slots
    Cause(
        "try adding '-d 3ware,N'",
        'raid-volume',
        'is a RAID volume of a 3ware controller',
        'use its drives instead: 3ware,N@/dev/twa0 (or twl0, twe0)',
    ),
    Cause(
        "try adding '-d megaraid,N'",
        'raid-volume',
        'is a RAID volume of a MegaRAID controller',
        'use its drives instead: megaraid,N@/dev/bus/0, with N from: smartctl --scan',
    ),
    Cause(
        r"(?:requires option|try (?:adding )?)[ \t]*'-d ([^,'\n]+,[^'\n]*)'",
        'raid-volume',
        'is a RAID volume',
        f'use its drives instead: {QUOTE}@PATH; replace each capital letter before @PATH with a number',
    ),
    Cause(
        r'(Device \d+(?: \d+)? does not exist|No (?:drive|device connected)\b[^\n]*)',
        'empty-slot',
        f'is an empty slot: {QUOTE}',
        LIST,
    ),
    Cause(
        rf'{SLOT}[^\n]*failed: [^\n]*No such device',
        'empty-slot',
        'is an empty slot: No such device',
        LIST,
    ),
    Cause(
        rf'{SLOT}[^\n]*failed: INQUIRY failed',
        'empty-slot',
        'does not answer (INQUIRY failed): empty slot or dead drive',
        "look at the slot with the controller's tool",
    ),
    # Opening
    Cause(
        r'\[areca_disk[^\n]*failed: ',
        'device-open-failed',
        'cannot be opened: no Areca controller answers at this path',
        'use the /dev/sgN of the controller',
    ),
    Cause(
        'cannot open /dev/megaraid_sas_ioctl_node',
        'device-open-failed',
        'cannot be opened: no MegaRAID controller answers',
        'load the driver: modprobe megaraid_sas; or let smartctl run as root',
    ),
    Cause(
        rf'{OPEN}[^\n]*(Permission denied)',
        'no-permission',
        f'cannot be opened: {QUOTE}',
        'run as root or through sudo',
    ),
    Cause(
        rf'{OPEN}[^\n]*(Operation not permitted)',
        'no-permission',
        f'cannot be opened: {QUOTE}',
        'run as root, outside of a container',
    ),
    Cause(
        rf'{OPEN}[^\n]*?(No such (?:device|file)\b[^\n]*)',
        'no-such-device',
        f'was not found: {QUOTE}',
        'check path (smartctl --scan), slot and cable',
    ),
    Cause(
        '(Un(?:known|supported) USB bridge .*)',
        'usb-bridge-type-missing',
        f'cannot be read: {QUOTE}',
        ADVICE,
    ),
    Cause(
        '(USB bridge .* type is ambiguous.*)',
        'type-ambiguous',
        f'cannot be read: {QUOTE}',
        ADVICE,
    ),
    Cause(
        '(?:Unable to detect device type|Not a device of type)',
        'type-undetected',
        'does not exist, or smartctl cannot detect its type',
        f'check the path, or {ADVICE}',
    ),
    Cause(
        r"(Unknown (?:USB )?device type '.*'|(?:Option )?-d \S+ (?:requires|must|supports).*"
        r"|Type '[^'\n]*': .*)",
        'type-unknown',
        f'cannot be read: {QUOTE}',
        'use a type that smartctl -h lists',
    ),
    Cause(
        'Probable ATA device behind a SAT layer',
        'type-wrong',
        'is a SATA drive behind a controller that translates commands',
        'give the type: sat@PATH',
    ),
    Cause(
        'Inappropriate ioctl for device',
        'type-wrong',
        'does not accept SMART commands (Inappropriate ioctl)',
        'check the path and the type',
    ),
    Cause(
        rf'{OPEN}(INQUIRY\b.*)',
        'identify-failed',
        f'did not identify itself: {QUOTE}',
        NEEDS_TYPE,
    ),
    Cause(
        f'{OPEN}(.*(?:Input/output error|timed out).*)',
        'device-open-failed',
        f'cannot be opened: {QUOTE}',
        'check drive, cable and controller; see dmesg -T',
    ),
    Cause(
        f'{OPEN}(.*busy.*)',
        'device-open-failed',
        f'cannot be opened: {QUOTE}',
        'to see what uses it, run: fuser -v PATH',
    ),
    Cause(
        f'{OPEN}(.+)',
        'device-open-failed',
        f'cannot be opened: {QUOTE}',
        'check dmesg -T',
    ),
    # No identity
    Cause(
        'Read Device Identity failed: (.+)',
        'identify-failed',
        f'did not identify itself (IDENTIFY failed: {QUOTE})',
        BRIDGED,
    ),
    Cause(
        r'Standard Inquiry .* failed \[(.+?)\]',
        'identify-failed',
        f'did not identify itself (INQUIRY failed: {QUOTE})',
        NEEDS_TYPE,
    ),
    Cause(
        'Short INQUIRY response',
        'identify-failed',
        'did not identify itself: its INQUIRY response is too short for a disk',
        EXCLUDE,
    ),
    Cause(
        r'Read NVMe Identify \S+ (?:\S+ )?failed: (?:.*: )?(.+)',
        'identify-failed',
        f'did not identify itself (Identify failed: {QUOTE})',
        'check the kernel log (dmesg -T); or give another device type with -d',
    ),
    # No SMART
    Cause(
        r'Packet Interface Devices \[this device: ([^\]\n]+)\]',
        'not-a-drive',
        f'is a {QUOTE} drive, so it has no SMART',
        EXCLUDE,
    ),
    Cause(
        'Read NVMe SMART/Health Information .*?failed: (.+)',
        'nvme-log-unreadable',
        f'did not send its SMART/Health log: {QUOTE}',
        'check dmesg -T',
    ),
    Cause(
        '^SMART support is: +Disabled|^SMART Disabled',
        'smart-disabled',
        DISABLED,
        ENABLE,
    ),
    Cause(
        '^SMART support is: +(?:Unknown|Ambiguous)',
        'smart-unknown',
        'does not report whether it supports SMART',
        'try to enable it: smartctl -s on PATH',
    ),
    Cause(
        'device lacks SMART capability|does not support SMART',
        'smart-unsupported',
        UNSUPPORTED,
        BRIDGED,
    ),
    Cause(
        r'bad response to IEC mode page|IE page \[',
        'smart-unsupported',
        'has no readable SMART data (bad IE mode page)',
        BRIDGED,
    ),
    Cause(
        'Read SMART (?:Data|Thresholds) failed: (.+)',
        'smart-data-unreadable',
        f'returns no SMART data: {QUOTE}',
        'check dmesg -T',
    ),
    Cause(
        'A mandatory SMART command failed',
        'smart-data-unreadable',
        'failed a mandatory SMART command',
        f'give {RIGHT_TYPE}, or exclude the drive: --ignore PATH',
    ),
    # Not about a drive
    Cause(
        'ABSOLUTELY NO WARRANTY|^smartmontools release',
        'not-a-report',
        no_data('it is the output of smartctl --version'),
        CALL,
    ),
    Cause(
        r'^(?:# )?\S.* -d \S+ # .* device',
        'not-a-report',
        no_data('it is a list of devices (smartctl --scan)'),
        'run smartctl -x -d TYPE for each device, with the type from the list',
    ),
    Cause(
        r'\] (?:detected|opened)$|^(?:ATA|NVMe) device successfully opened',
        'report-without-data',
        no_data('smartctl opened the drive, but did not read it'),
        'run smartctl with -x, and without -d test',
    ),
)
