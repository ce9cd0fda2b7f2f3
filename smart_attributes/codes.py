"""Codes: one stable name for each finding, each note and each reason for UNKNOWN, with its remedy.

Programs decide by codes and fields, never by sentences. A code keeps its name and its meaning in later versions.
"""
from __future__ import annotations

from .typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Mapping, Tuple


class Code(NamedTuple):
    """A code: its name, the state that it usually has ('' for a note), what it means, and the next step."""

    name: str
    severity: str
    meaning: str
    remedy: str


class Coded(str):
    """A sentence with its code: str, so that it prints as it stands."""

    code: str

    def __new__(cls, code: str, text: str) -> Coded:
        """Return *text* with its code."""
        made = super().__new__(cls, text)
        made.code = code
        return made


# Why a drive, or a whole check, is UNKNOWN.
REASONS: Tuple[Code, ...] = (
    Code('sudo-rule-missing', 'UNKNOWN', 'sudo refuses to run smartctl',
         'as root, install the rule: check_smart_attributes sudoers --user nagios | install -m 0440 '
         '/dev/stdin /etc/sudoers.d/check-smart-attributes'),
    Code('sudo-rule-too-narrow', 'UNKNOWN', 'the sudoers rule does not admit this path or type',
         'use a usual path of the drive, or print a rule for this one: check_smart_attributes sudoers -d ADDRESS'),
    Code('sudo-blocked', 'UNKNOWN', 'sudo cannot become root where the check runs',
         'run: check_smart_attributes doctor --user nagios'),
    Code('sudo-failed', 'UNKNOWN', 'sudo failed for a reason of its own',
         'run the call by hand: check_smart_attributes -vvv shows it'),
    Code('sudo-missing', 'UNKNOWN', 'sudo is not installed',
         'install it: apt install sudo'),
    Code('smartctl-missing', 'UNKNOWN', 'smartctl is missing, or cannot be run',
         'install smartmontools 7.0 or newer, or give its path with -p'),
    Code('smartctl-too-old', 'UNKNOWN', 'smartctl does not know an option or a type',
         'install smartmontools 7.0 or newer, or correct the type'),
    Code('smartctl-call-changed', 'UNKNOWN', 'a program in front of smartctl changes its arguments',
         'remove the program from -p, or pass its arguments on unchanged'),
    Code('smartctl-failed', 'UNKNOWN', 'smartctl ended without a report',
         'run the call by hand: check_smart_attributes -vvv shows it'),
    Code('scan-failed', 'UNKNOWN', 'smartctl --scan printed no list of drives',
         'run: smartctl --scan; or name the drives with -d'),
    Code('timeout', 'UNKNOWN', 'the drive did not answer in time',
         'look for errors of the drive: dmesg -T | tail -50; or raise --drive-timeout and -t'),
    Code('process-hangs', 'UNKNOWN', 'a process of an earlier check still waits for the drive',
         'look for errors of the drive: dmesg -T | tail -50; restart the machine if it does not end'),
    Code('in-use', 'UNKNOWN', 'another check was reading the drive',
         'start the checks at different times, or raise -t'),
    Code('not-reached', 'UNKNOWN', 'the time was over before the drive was read',
         'name fewer drives, or raise -t'),
    Code('slots-not-reached', 'UNKNOWN', 'the time was over before all slots of a range were read',
         'name only the slots that hold drives: check_smart_attributes list'),
    Code('not-judged', 'UNKNOWN', 'the time was over before the drive was judged',
         'name fewer drives, or raise -t'),
    Code('time-over', 'UNKNOWN', 'the time was over before there was an answer',
         'raise -t'),
    Code('interrupted', 'UNKNOWN', 'somebody ended the command',
         'run it again'),
    Code('no-such-device', 'UNKNOWN', 'no device is at this path',
         'look for the drive: dmesg -T | tail -50; then compare the path with: smartctl --scan'),
    Code('empty-slot', 'UNKNOWN', 'no drive answers in this slot',
         'look for the drive in its bay; then compare the slot with: check_smart_attributes list'),
    Code('controller-missing', 'UNKNOWN', 'no controller of this kind is at this path',
         'load its driver, or correct the path: doc/raid.md'),
    Code('controller-moved', 'UNKNOWN', 'the controller has another host number',
         'use the address that the message names'),
    Code('no-permission', 'UNKNOWN', 'the user of the check may not open the drive',
         'let the check use sudo: check_smart_attributes doctor --user nagios'),
    Code('device-open-failed', 'UNKNOWN', 'the drive cannot be opened',
         'look for errors of the drive: dmesg -T | tail -50'),
    Code('name-unusable', 'UNKNOWN', 'smartctl does not read the drive under this name',
         'use the name that the message gives'),
    Code('usb-bridge-type-missing', 'UNKNOWN', 'smartctl does not know the USB bridge',
         'give the type: -d sat@/dev/sda'),
    Code('type-ambiguous', 'UNKNOWN', 'several drives behind USB bridges answer to the same number',
         'give the type: -d sat@/dev/sda'),
    Code('type-unknown', 'UNKNOWN', 'smartctl does not know the type, or the type lacks its number',
         'correct the type: smartctl -h lists them'),
    Code('type-undetected', 'UNKNOWN', 'smartctl cannot detect the type of the device',
         'check the path, or give the type: -d sat@/dev/sda'),
    Code('type-wrong', 'UNKNOWN', 'the device does not take commands of this type',
         'give another type: -d sat@/dev/sda'),
    Code('not-answering', 'UNKNOWN', 'the drive does not answer',
         'look for errors of the drive: dmesg -T | tail -50; then read it alone: smartctl -x DEVICE'),
    Code('identify-failed', 'UNKNOWN', 'the drive does not report its model',
         'look for errors of the drive: dmesg -T | tail -50; or give the type: -d sat@/dev/sda'),
    Code('not-ready', 'UNKNOWN', 'the drive spins up, or cannot',
         'check again in a minute; if it stays so, replace the drive'),
    Code('asleep', 'OK', 'the drive is in standby and was not woken',
         'do nothing, or set its state with --asleep'),
    Code('asleep-too-long', 'WARNING', 'the drive has been in standby for longer than --asleep-max-age',
         'read from the drive to wake it, then check again'),
    Code('power-mode-unknown', 'UNKNOWN', 'the drive does not report whether it is in standby',
         'read it by hand: smartctl -x DEVICE'),
    Code('smart-disabled', 'UNKNOWN', 'SMART is disabled',
         'enable it: smartctl -s on DEVICE'),
    Code('smart-unknown', 'UNKNOWN', 'the drive does not report whether it supports SMART',
         'enable SMART: smartctl -s on DEVICE'),
    Code('smart-unsupported', 'UNKNOWN', 'the drive has no SMART, or its bridge hides it',
         'give another type (doc/raid.md), or leave the drive out: --ignore DEVICE'),
    Code('smart-data-unreadable', 'UNKNOWN', 'the drive refuses to send its SMART data',
         'look for errors of the drive: dmesg -T | tail -50; or give another type: doc/raid.md'),
    Code('smart-data-empty', 'UNKNOWN', 'the SMART data are zeros or hold no attribute',
         'give another type (doc/raid.md), or leave the drive out: --ignore MODEL'),
    Code('nvme-log-unreadable', 'UNKNOWN', 'the SMART/Health log of the NVMe drive cannot be read',
         'look for errors of the drive: dmesg -T | tail -50'),
    Code('raid-volume', 'UNKNOWN', 'the device is a RAID volume',
         'address the drives behind it: doc/raid.md'),
    Code('virtual-disk', 'UNKNOWN', 'the device is a virtual disk',
         'check the drives on the host of the virtual machine'),
    Code('iscsi-volume', 'UNKNOWN', 'the device is an iSCSI volume',
         'check the drives in the storage system'),
    Code('no-medium', 'UNKNOWN', 'the drive for removable media is empty',
         'leave the device out: --ignore DEVICE'),
    Code('not-a-drive', 'UNKNOWN', 'the device is of a kind that has no SMART',
         'leave the device out: --ignore DEVICE'),
    Code('not-a-report', 'UNKNOWN', 'the file is not a report of smartctl',
         'record one: smartctl -x --json DEVICE > FILE'),
    Code('report-empty', 'UNKNOWN', 'smartctl printed nothing',
         'record it again: smartctl -x --json DEVICE > FILE'),
    Code('report-without-data', 'UNKNOWN', 'the report holds no SMART data',
         'record it with them: smartctl -x --json DEVICE > FILE'),
    Code('report-damaged', 'UNKNOWN', 'the report is incomplete or changed',
         'record it again: smartctl -x --json DEVICE > FILE'),
    Code('report-too-complex', 'UNKNOWN', 'the report takes too long to read',
         'look at the report by hand, and send it to the project'),
    Code('report-missing', 'UNKNOWN', 'the file is not there, or not a regular file',
         'correct the path after --report'),
    Code('report-unreadable', 'UNKNOWN', 'the file cannot be opened',
         'let the user of the command read it: ls -l FILE'),
    Code('several-reports', 'UNKNOWN', 'the file holds several reports',
         'write each report to a file of its own'),
    Code('no-drives', 'UNKNOWN', 'the check has no drives',
         'name drives with -d, or use --no-drives ok where there are none'),
    Code('drives-missing', 'CRITICAL', 'fewer drives are there than --expect says',
         'look for the drive: dmesg -T | tail -50; or correct --expect'),
    Code('pattern-undecided', 'UNKNOWN', 'a pattern of --match or --ignore takes too long',
         'simplify the pattern'),
    Code('site-file-mistake', 'UNKNOWN', 'a file of this site has a mistake',
         'correct what the message names: check_smart_attributes validate FILE'),
    Code('site-files-contradict', 'UNKNOWN', 'files of this site contradict each other',
         'remove one of the two entries that the message names'),
    Code('history-unusable', 'UNKNOWN', 'the history cannot be used',
         'run: check_smart_attributes doctor --user nagios'),
    Code('usage-error', 'UNKNOWN', 'the command line has a mistake',
         'correct what the message names: check_smart_attributes --help'),
    Code('judging-failed', 'UNKNOWN', 'the drive was read, but the plugin could not judge it',
         'run: check_smart_attributes validate FILE; or report it with: smartctl --json -x DEVICE'),
    Code('python-package-missing', 'UNKNOWN', 'a Python package is missing',
         'install the package that the message names'),
    Code('plugin-damaged', 'UNKNOWN', 'the plugin does not start: files are missing or unreadable',
         'install the package again, readable for every user'),
    Code('internal-error', 'UNKNOWN', 'the plugin has an error of its own',
         'report it with the command line and its output'),
    Code('drive-unreadable', 'UNKNOWN', 'the drive cannot be read',
         'run: check_smart_attributes doctor --user nagios'))
# What is wrong with a drive that was read.
FINDINGS: Tuple[Code, ...] = ()
# What is worth knowing and changes no state.
NOTES: Tuple[Code, ...] = ()
BY_NAME: Mapping[str, Code] = {each.name: each for each in (*REASONS, *FINDINGS, *NOTES)}
