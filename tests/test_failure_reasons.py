"""smartctl's and sudo's words, and the reason and next step made of them."""

from __future__ import annotations

import re
import time

import pytest

from smart_attributes.errors import (
    DriveAbsent,
    DriveAsleep,
    DriveError,
    DriveIsNoDrive,
    DriveUndetected,
    NotAReport,
    SudoRefused,
)
from smart_attributes.model import AttributeRow, Identity, Report, SelfTest, Statistic
from smart_attributes.reading import content, failure_reasons
from smart_attributes.reading.content import EXIT_STATUS_BITS, exit_status_notes
from smart_attributes.reading.failure_causes import CAUSES, QUOTE
from smart_attributes.reading.failure_reasons import (
    as_asked,
    diagnose,
    no_report,
    smart_disabled,
    without_data,
)
from smart_attributes.work.actions import READ, SEARCH
from smart_attributes.work.work_list import of_problem

try:
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # until Python 3.10
    import sre_parse as parser

OPEN = 'Smartctl open device: {} failed: {}'

# words, kind of error, what the sentence must hold
WORDS = [
    pytest.param(
        'sudo: a password is required',
        SudoRefused,
        'check_smart_attributes sudoers',
        id='sudo-password',
    ),
    pytest.param(
        'sudo: no tty present and no askpass program specified',
        SudoRefused,
        'sudoers',
        id='sudo-old-password',
    ),
    pytest.param(
        "Sorry, user nagios is not allowed to execute '/usr/sbin/smartctl -a /dev/sda' as root on "
        'h1.',
        SudoRefused,
        'user nagios',
        id='sudo-not-allowed',
    ),
    pytest.param(
        'icinga is not in the sudoers file.', SudoRefused, 'user icinga', id='sudo-unknown-user'
    ),
    pytest.param(
        'sudo: sorry, you must have a tty to run sudo',
        DriveError,
        'requires a terminal',
        id='sudo-tty',
    ),
    pytest.param(
        'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.',
        DriveError,
        'NoNewPrivileges',
        id='sudo-systemd',
    ),
    pytest.param(
        "sudo-rs: I'm sorry icinga. I'm afraid I can't do that",
        SudoRefused,
        'user icinga',
        id='sudo-rs-refuses',
    ),
    pytest.param(
        'sudo-rs: interactive authentication is required',
        SudoRefused,
        'asks for a password',
        id='sudo-rs-password',
    ),
    pytest.param(
        'sudo: /etc/sudoers.d/x is world writable', DriveError, 'world writable', id='sudo-other'
    ),
    pytest.param(
        'sudo: /usr/sbin/smartctl: command not found',
        DriveError,
        'install smartmontools',
        id='no-smartctl',
    ),
    pytest.param(
        '=======> UNRECOGNIZED OPTION: json=c', DriveError, 'older than 7.0', id='too-old-for-json'
    ),
    pytest.param('=======> UNRECOGNIZED OPTION: frob', DriveError, 'frob', id='unknown-option'),
    pytest.param('=======> INVALID ARGUMENT TO -l: ssd2', DriveError, '-l', id='invalid-argument'),
    pytest.param(
        'ERROR: smartctl requires a device name as the final command-line argument.',
        DriveError,
        'without a device',
        id='no-device',
    ),
    pytest.param('Device is in STANDBY mode, exit(2)', DriveAsleep, 'STANDBY', id='asleep'),
    pytest.param(
        'Device is in STANDBY (OS) mode, exit(2)',
        DriveAsleep,
        'in standby',
        id='asleep-says-the-kernel',
    ),
    pytest.param(
        'Device is in STANDBY mode, exit(0)',
        DriveAsleep,
        'STANDBY',
        id='asleep-with-another-status',
    ),
    pytest.param(
        'Device is in SLEEP mode, exit(2)', DriveError, 'dead', id='unknown-asleep-or-dead'
    ),
    pytest.param(
        'Device is in STANDBY BY TIMER mode, exit(2)', DriveAsleep, 'BY TIMER', id='asleep-sas'
    ),
    pytest.param(
        'CHECK POWER MODE returned unknown value 0x42, exit(3)',
        DriveError,
        'report its power mode',
        id='unknown-power-mode',
    ),
    pytest.param(
        'device is NOT READY (e.g. spun down, busy)', DriveError, 'not ready', id='not-ready'
    ),
    pytest.param('NO MEDIUM present in device', DriveIsNoDrive, 'medium', id='card-reader'),
    pytest.param(
        OPEN.format('/dev/sda', "DELL or MegaRaid controller, please try adding '-d megaraid,N'"),
        DriveIsNoDrive,
        'megaraid,N@/dev/bus/0',
        id='volume-megaraid',
    ),
    pytest.param(
        OPEN.format('/dev/sda', "AMCC/3ware controller, please try adding '-d 3ware,N',"),
        DriveIsNoDrive,
        '3ware,N@',
        id='volume-3ware',
    ),
    pytest.param(
        "/dev/sda: requires option '-d cciss,N'",
        DriveIsNoDrive,
        'cciss,N@',
        id='volume-smart-array',
    ),
    pytest.param(
        OPEN.format('/dev/bus/0 [megaraid_disk_12]', 'INQUIRY failed'),
        DriveAbsent,
        'empty slot',
        id='slot-megaraid',
    ),
    pytest.param(
        'megasas_cmd: Device 9 does not exist',
        DriveAbsent,
        'empty slot',
        id='slot-megaraid-no-such-id',
    ),
    pytest.param(
        OPEN.format(
            '/dev/sg0 [cciss_disk_20] [SCSI/SAT]', 'INQUIRY [SAT]: No such device or address'
        ),
        DriveAbsent,
        'empty slot',
        id='slot-cciss',
    ),
    pytest.param(
        'Read Device Identity failed: No drive on port 3',
        DriveAbsent,
        'port 3',
        id='slot-areca-3ware',
    ),
    pytest.param(
        'aacraid: Device 0 4 does not exist', DriveAbsent, 'empty slot', id='slot-aacraid'
    ),
    pytest.param(
        OPEN.format('/dev/sdb [USB JMicron]', 'No device connected'),
        DriveAbsent,
        'empty slot',
        id='slot-usb',
    ),
    pytest.param(
        OPEN.format(
            '/dev/bus/0 [megaraid_disk_00]',
            'cannot open /dev/megaraid_sas_ioctl_node or /dev/megadev0',
        ),
        DriveError,
        'no MegaRAID controller',
        id='no-controller-megaraid',
    ),
    pytest.param(
        OPEN.format('/dev/twa0 [3ware_disk_00]', 'setup_3ware_nodes("twa", "3w-9xxx") failed'),
        DriveError,
        'no 3ware controller',
        id='no-controller-3ware',
    ),
    pytest.param(
        OPEN.format(
            '/dev/aac0 [aacraid_disk_00_00_0] [SCSI/SAT]', 'aac entry not found in /proc/devices'
        ),
        DriveError,
        'no aacraid controller',
        id='no-controller-aacraid',
    ),
    pytest.param(
        OPEN.format('/dev/sg0 [areca_disk#01_enc#01]', 'Input/output error'),
        DriveError,
        'no Areca controller',
        id='no-controller-areca',
    ),
    pytest.param(
        OPEN.format('/dev/sda', 'Permission denied'),
        DriveError,
        'run as root or through sudo',
        id='permission',
    ),
    pytest.param(
        OPEN.format('/dev/vda [SAT]', 'Operation not permitted'),
        DriveError,
        'not permitted',
        id='forbidden',
    ),
    pytest.param(
        OPEN.format('/dev/nvme7', 'No such device'), DriveAbsent, 'No such device', id='absent'
    ),
    pytest.param(
        OPEN.format('/dev/sdz', 'No such file or directory'),
        DriveAbsent,
        'check the path',
        id='absent-file',
    ),
    pytest.param(
        OPEN.format('/dev/sdc', 'INQUIRY failed'), DriveError, 'INQUIRY failed', id='no-inquiry'
    ),
    pytest.param(
        OPEN.format('/dev/sdc', 'Connection timed out'),
        DriveError,
        'timed out',
        id='open-timed-out',
    ),
    pytest.param(
        OPEN.format('/dev/sdc', 'Device or resource busy'), DriveError, 'another program', id='busy'
    ),
    pytest.param(
        OPEN.format('/dev/sdc', 'Something unheard of'),
        DriveError,
        'Something unheard of',
        id='open-unknown',
    ),
    pytest.param(
        '/dev/sda: Unknown USB bridge [0x0781:0x5591 (0x100)]',
        DriveError,
        'TYPE@PATH',
        id='usb-unknown',
    ),
    pytest.param(
        "/dev/sda: USB bridge [0x0bda:0x9210] type is ambiguous: 'sntrealtek' or 'sat'",
        DriveError,
        'ambiguous',
        id='usb-ambiguous',
    ),
    pytest.param(
        "/dev/sda: Unknown device type 'megaraid'", DriveError, 'smartctl -h', id='unknown-type'
    ),
    pytest.param(
        '/dev/sdq: Unable to detect device type', DriveUndetected, 'cannot detect', id='undetected'
    ),
    pytest.param('Probable ATA device behind a SAT layer', DriveError, 'sat@PATH', id='sat'),
    pytest.param(
        'Read Device Identity failed: Inappropriate ioctl for device',
        DriveError,
        'Inappropriate ioctl',
        id='not-a-block-device',
    ),
    pytest.param(
        'Read Device Identity failed: scsi error aborted command',
        DriveError,
        'IDENTIFY failed',
        id='identify',
    ),
    pytest.param(
        'Standard Inquiry (64 bytes) failed [Input/output error]',
        DriveError,
        'INQUIRY failed',
        id='inquiry',
    ),
    pytest.param(
        'Read NVMe Identify Controller failed: NVME_IOCTL_ADMIN_CMD: Input/output error',
        DriveError,
        'NVMe Identify failed',
        id='identify-nvme',
    ),
    pytest.param(
        'Read NVMe SMART/Health Information (NSID 0x1) failed: NVMe Status 0x2',
        DriveError,
        'SMART/Health log',
        id='nvme-without-log',
    ),
    pytest.param(
        "SMART support is: Unavailable - Packet Interface Devices [this device: CD/DVD] don't "
        'support ATA '
        'SMART',
        DriveIsNoDrive,
        'CD/DVD',
        id='optical-ata',
    ),
    pytest.param('SMART support is: Disabled', DriveError, 'smartctl -s on', id='disabled'),
    pytest.param(
        "SMART Disabled. Use option -s with argument 'on' to enable it.",
        DriveError,
        'disabled',
        id='disabled-ata',
    ),
    pytest.param(
        "SMART support is: Unknown - Try option -s with argument 'on' to enable it.",
        DriveError,
        'whether it supports',
        id='smart-unknown',
    ),
    pytest.param(
        'SMART support is:     Unavailable - device lacks SMART capability.',
        DriveError,
        'has no SMART',
        id='unsupported',
    ),
    pytest.param(
        'Log Sense failed, IE page [scsi response fails sanity test]',
        DriveError,
        'informational exceptions',
        id='ie-page',
    ),
    pytest.param(
        '>> Terminate command early due to bad response to IEC mode page',
        DriveError,
        'RAID volume',
        id='iec',
    ),
    pytest.param(
        'A mandatory SMART command failed: exiting.', DriveError, 'mandatory', id='mandatory'
    ),
    pytest.param('smartmontools release 7.3 dated 2022-02-28', NotAReport, 'version', id='version'),
    pytest.param(
        '/dev/sda -d sat # /dev/sda [SAT], ATA device', NotAReport, 'list of devices', id='scan'
    ),
    pytest.param(
        "/dev/sda [SAT]: Device of type 'sat' [ATA] opened", DriveError, 'only opened', id='opened'
    ),
]


@pytest.mark.parametrize('words, kind, part', WORDS)
def test_words_become_a_reason_and_a_next_step(words, kind, part):
    """The admin reads our sentence, not smartctl's source: in one line of a notification.

    JSON means the same.

    Nobody finds out why a drive cannot be read that is not there: it is looked for, and any other
    is to be read.
    """
    error = diagnose((), 2, words)

    assert type(error) is kind
    assert part in str(error)
    assert '\n' not in str(error) and '{' not in str(error) and len(str(error)) < 260
    assert str(diagnose([words], 2)) == str(error)
    assert of_problem(error.code) == (SEARCH if kind is DriveAbsent else READ)


@pytest.mark.parametrize(
    'error',
    [
        error
        for error in (
            diagnose((), 2, 'SMART support is: Unavailable - device lacks SMART capability.'),
            diagnose((), 2, OPEN.format('/dev/sdc', 'INQUIRY failed')),
            diagnose((), 2, 'Read Device Identity failed: Input/output error'),
            diagnose((), 2, 'Standard Inquiry (64 bytes) failed [Input/output error]'),
            diagnose((), 2, 'A mandatory SMART command failed: exiting.'),
            without_data(exit_status=4, is_identified=True, complaint=''),
            content.emptiness(Report(Identity(protocol='ATA'), smart_status=True), is_asked=True),
        )
        if error
    ],
    ids=lambda error: str(error)[:30],
)
def test_a_type_is_advised_only_where_none_was_given(error):
    """A user who wrote megaraid,0@/dev/bus/0 has done what "TYPE@PATH" asks for."""
    assert 'a type (TYPE@PATH)' in str(as_asked(error, ''))

    told = as_asked(error.of(Identity(model='ACME')), 'megaraid,0')

    assert 'TYPE@PATH' not in str(told) and 'a type other than megaraid,0' in str(told)
    assert (told.code, told.identity) == (error.code, Identity(model='ACME'))


def test_what_advises_no_type_is_told_whatever_type_was_given():
    """A slot is empty under any type."""
    error = diagnose((), 2, OPEN.format('/dev/bus/0 [megaraid_disk_12]', 'INQUIRY failed'))

    assert as_asked(error, 'megaraid,12') is error


def test_sudo_trouble_is_never_a_missing_device():
    """The original plugin said "No such device" whenever it could not read."""
    error = diagnose((), 1, 'sudo: a password is required')

    assert not isinstance(error, DriveAbsent)
    assert 'no such device' not in str(error).lower()


def test_a_harmless_remark_of_sudo_is_no_reason():
    """sudo complains about names it cannot resolve and goes on."""
    assert diagnose((), 0, 'sudo: unable to resolve host web1: Name or service not known') is None


def test_the_first_fault_names_the_cause_not_the_last():
    """smartctl ends many failures with the same general sentence."""
    error = diagnose(
        (),
        2,
        'Read Device Identity failed: Input/output error\n\nA mandatory SMART command failed: '
        'exiting.',
    )

    assert 'Input/output error' in str(error)


def test_smartctls_words_are_cleaned_before_they_are_quoted():
    """A device path or a message may hold anything."""
    error = diagnose((), 2, OPEN.format('/dev/sda', "\x1b[31mbad | 'x'=1;; \u202e" + 'y' * 900))

    assert not set("|'=\x1b\u202e") & set(str(error))
    assert len(str(error)) < 260


def test_unknown_words_are_left_to_the_caller():
    """A guess would be worse than the words themselves."""
    assert diagnose(['Nobody ever saw this message'], 4) is None


def test_a_killed_smartctl_is_said_to_be_killed():
    """The exit status of a signal has no bits to explain."""
    assert 'signal 9' in str(diagnose((), -9, ''))


# Exit status


def test_each_bit_of_the_exit_status_has_its_own_words():
    """Eight bits, eight different sentences."""
    notes = [exit_status_notes(1 << bit) for bit in range(8)]

    assert [len(note) for note in notes] == [1] * 8
    assert len(set(notes)) == 8
    assert exit_status_notes(255) == EXIT_STATUS_BITS


@pytest.mark.parametrize(
    'status, parts',
    [
        pytest.param(0, [], id='ok-nothing-to-say'),
        pytest.param(None, [], id='ok-not-known'),
        pytest.param(0x04, ['command'], id='note-command-failed'),
        pytest.param(0x08 | 0x40, ['failing', 'error log'], id='two-bits'),
        pytest.param(-15, ['signal 15'], id='signal'),
    ],
)
def test_the_set_bits_are_said_and_no_others(status, parts):
    """A mask of several bits is several sentences, lowest bit first."""
    notes = exit_status_notes(status)

    assert len(notes) == len(parts)
    assert all(part in note for part, note in zip(parts, notes))


def literal_text(tree) -> str:
    """Return a text that a parsed expression matches: the first of alternatives, the fewest of
    repetitions.
    """
    text = ''
    for operation, argument in tree:
        name = str(operation)
        if name == 'LITERAL':
            text += chr(argument)
        elif name == 'BRANCH':
            text += literal_text(argument[1][0])
        elif name == 'SUBPATTERN':
            text += literal_text(argument[3])
        elif name in ('MAX_REPEAT', 'MIN_REPEAT'):
            text += literal_text(argument[2]) * argument[0]
        elif name in ('IN', 'ANY', 'NOT_LITERAL'):
            text += 'x'
    return text


@pytest.mark.parametrize('end', ['', ' ', '\n'], ids=['glued', 'in-one-line', 'line-by-line'])
@pytest.mark.parametrize('cut', [0, 1], ids=['whole', 'almost'])
def test_every_expression_ends_soon_on_its_own_words(end, cut):
    """A drive, or a file, may say them 64 KiB long; the check has a time limit, and an
    expression knows none.
    """
    for pattern, *_ in CAUSES:
        words = literal_text(parser.parse(pattern))
        text = (words[: len(words) - cut] + end) * (65536 // len(words))

        started = time.process_time()
        diagnose([text], None, text)

        assert time.process_time() - started < 5, pattern


def test_a_sentence_quotes_only_what_its_expression_takes():
    """Else it would end in nothing."""
    assert [
        cause.pattern
        for cause in CAUSES
        if QUOTE in cause.sentence and not re.compile(cause.pattern).groups
    ] == []


@pytest.mark.parametrize(
    'words', ['open device:  failed: ', "Type 'a': try '-d a,", '[areca_disk failed: ', '\n']
)
def test_a_complaint_without_end_is_diagnosed_soon(words):
    """8,000 characters of the first took 28 seconds, growing with their cube."""
    started = time.process_time()
    diagnose((), None, words * 3000)
    diagnose([words * 20] * 200, None)

    assert time.process_time() - started < 5


def test_words_that_stand_below_a_lecture_are_still_found():
    """sudo greets first; what it wants stands at the end, and what smartctl says, too."""
    lecture = (
        'We trust you have received the usual lecture from the local System Administrator.\n' * 20
    )

    assert 'sudo asks for a password' in str(
        diagnose((), 1, lecture + 'sudo: a password is required\n')
    )


# Data that say nothing

ATA, NVME = Identity('ATA'), Identity('NVMe')
COUNTS = dict.fromkeys(
    (
        'available_spare',
        'percentage_used',
        'power_cycles',
        'power_on_hours',
        'media_errors',
        'host_reads',
    ),
    0,
)
ZEROS = AttributeRow(5, 'Reallocated_Sector_Ct', 0, 0, 0, True, '', '0x000000000000')


@pytest.mark.parametrize(
    ('report', 'is_asked', 'part'),
    [
        (Report(NVME, True, nvme=COUNTS), False, 'health log with only zeros'),
        (
            Report(
                NVME,
                True,
                nvme={
                    **COUNTS,
                    'critical_warning': 0,
                    'temperature': 62,
                    'warning_temp_threshold': 80,
                },
            ),
            False,
            'only zeros',
        ),
        (Report(ATA, True), True, 'no SMART attributes'),
        (Report(ATA, None, error_count=0), True, 'no SMART attributes'),
        (
            Report(ATA, True, attributes=(ZEROS,), statistics={(1, 8): Statistic(0, 'Resets')}),
            True,
            'no SMART attributes',
        ),
    ],
    ids=['log', 'log-with-temperature', 'passed', 'error-log', 'zeros'],
)
def test_zeros_say_nothing(report, is_asked, part):
    """They were an OK with 0 % used and 0 hours."""
    assert part in str(content.emptiness(report, is_asked))


@pytest.mark.parametrize(
    ('report', 'is_asked'),
    [
        (Report(NVME, True, nvme={**COUNTS, 'available_spare': 100}), True),
        (Report(NVME, True, nvme={'critical_warning': 0}), True),
        (Report(NVME, True, nvme=dict(list(COUNTS.items())[:4])), True),
        (Report(NVME, False, nvme=COUNTS), True),
        (Report(ATA, True), False),
        (Report(ATA, False), True),
        (Report(ATA, True, attributes=(ZEROS._replace(value=100),)), True),
        (Report(ATA, True, attributes=(ZEROS._replace(value=None, raw='7'),)), True),
        (Report(ATA, True, attributes=(ZEROS._replace(value=None, raw='X'),)), True),
        (Report(ATA, True, statistics={(1, 8): Statistic(9, 'Resets')}), True),
        (
            Report(ATA, True, self_tests=(SelfTest('Short', 'Completed: read failure', False, 0),)),
            True,
        ),
        (Report(Identity('SCSI'), True), True),
    ],
    ids=[
        'new-drive',
        'health-alone',
        'log-cut',
        'log-of-a-failed-drive',
        'not-asked',
        'failed',
        'value',
        'raw',
        'raw-in-words',
        'statistic',
        'self-test',
        'sas',
    ],
)
def test_whatever_tells_something_is_judged(report, is_asked):
    """UNKNOWN must not hide what is known."""
    assert content.emptiness(report, is_asked) is None


RECORD = 'contains no SMART data: {}; record with smartctl -x'
NOTHING = {'is_identified': False, 'complaint': ''}
REMAINS = {'device_type': 'sat', 'is_identified': True, 'complaint': ''}


@pytest.mark.parametrize(
    'remains, code, words',
    [
        (
            {**REMAINS, 'is_unsupported': True, 'is_asked': False},
            'smart-unsupported',
            'has no SMART: device lacks SMART capability; behind a RAID or USB bridge it may need '
            'a type (TYPE@PATH)',
        ),
        (
            {**REMAINS, 'is_asked': False},
            'report-without-data',
            RECORD.format('smartctl was not asked for them'),
        ),
        (
            {**REMAINS, 'complaint': 'x' * 300},
            'smartctl-failed',
            'cannot be read: smartctl reports "' + 'x' * 157 + '..."',
        ),
        (NOTHING, 'report-without-data', RECORD.format('it describes no drive')),
        (REMAINS, 'report-without-data', RECORD.format('only the identity of the drive')),
        (
            {**REMAINS, 'exit_status': 1},
            'report-without-data',
            RECORD.format('only the identity of the drive'),
        ),
        (
            {**REMAINS, 'exit_status': 2},
            'not-answering',
            'identified itself but returned no data: not ready, in standby or failing; check the '
            'kernel log: dmesg -T',
        ),
        (
            {**REMAINS, 'exit_status': 5},
            'smart-data-unreadable',
            'returns no SMART data, because a command failed: SMART is disabled (smartctl -s on '
            'PATH), not supported, or '
            'hidden by a bridge that needs a type (TYPE@PATH)',
        ),
        (
            {**REMAINS, 'exit_status': 2, 'is_identified': False},
            'identify-failed',
            'did not identify itself (IDENTIFY or INQUIRY failed): not a drive of this type, or '
            'it no longer responds; '
            'check path and type (TYPE@PATH), and the kernel log: dmesg -T',
        ),
        (
            {**NOTHING, 'exit_status': 6, 'device_type': 'megaraid,3'},
            'empty-slot',
            'is an empty slot, or its drive is dead: nothing answers as megaraid,3',
        ),
        (
            {**NOTHING, 'exit_status': 2, 'device_type': 'sat+megaraid,9'},
            'empty-slot',
            'is an empty slot, or its drive is dead: nothing answers as sat+megaraid,9',
        ),
    ],
)
def test_a_report_without_data_has_one_sentence_and_its_code(remains, code, words):
    error = without_data(**remains)

    assert (error.code, str(error)) == (code, words)
    assert type(error) is (DriveAbsent if code == 'empty-slot' else DriveError)


@pytest.mark.parametrize(
    'text, status, code, words',
    [
        ('', None, 'report-empty', RECORD.format('it is empty, because smartctl printed nothing')),
        (' \n', 0, 'report-empty', RECORD.format('it is empty, because smartctl printed nothing')),
        (
            '',
            3,
            'smartctl-failed',
            'cannot be read: smartctl printed nothing and ended with exit status 3; run smartctl '
            'by hand',
        ),
        (
            'x',
            3,
            'smartctl-failed',
            'cannot be read: smartctl printed no report and ended with exit status 3; run '
            'smartctl by hand',
        ),
        (
            'x',
            0,
            'not-a-report',
            'is not a smartctl report; record one with smartctl -x, preferably with --json',
        ),
        (
            '',
            -9,
            'smartctl-failed',
            'cannot be read: smartctl was terminated by signal 9; see dmesg -T, or run '
            'smartctl by hand',
        ),
        ('Device is in STANDBY mode, exit(2)', 2, 'asleep', 'is in standby (STANDBY), not woken'),
    ],
    ids=str,
)
def test_an_output_that_is_not_a_report_has_one_sentence_and_its_code(text, status, code, words):
    error = no_report(text, status)

    assert (error.code, str(error)) == (code, words)


@pytest.mark.parametrize(
    'words, sentence',
    [
        ('Smartctl open device: /dev/sda failed: x., ;', 'cannot be opened: x'),
        ('Smartctl open device: /dev/sda failed: .X,YX', 'cannot be opened: .X,YX'),
        ('Smartctl open device: /dev/sda failed: ' + 'y' * 200, f'cannot be opened: {"y" * 157}'),
        (
            'Unsupported USB bridge [0x1]',
            'cannot be read through its USB bridge: Unsupported USB bridge [0x1]; give the type '
            'as TYPE@PATH, for example '
            'sat@/dev/sda, if the bridge passes SMART commands through',
        ),
    ],
)
def test_smartctls_words_are_quoted_without_their_end(words, sentence):
    assert str(diagnose((), 2, words)) == sentence


@pytest.mark.parametrize(
    'words, around',
    [
        ('Short INQUIRY response', 0),
        ('A mandatory SMART command failed', 2),
        ('does not support SMART', 2),
    ],
)
def test_a_sentence_that_asks_for_a_type_is_cut_around_it(words, around):
    error = diagnose((), 2, words)

    assert len(error.around_type) == around
    assert not around or 'a type (TYPE@PATH)'.join(error.around_type) == str(error)


@pytest.mark.parametrize(
    'line, is_one',
    [
        ('Warning: x', True),
        ('Read SMART Data failed: x', True),
        (' Warning: x', False),
        ('a Log Sense failed [x', True),
        ('A SMART Status command failed', False),
        ('x' * 298 + 'Failed [', False),
        ('x' * 291 + 'Failed [', True),
    ],
)
def test_a_line_of_a_report_may_be_a_complaint(line, is_one):
    assert content.is_complaint(line) is is_one


def test_smart_disabled_has_one_sentence_and_its_code():
    error = smart_disabled()

    assert (error.code, str(error)) == (
        'smart-disabled',
        'has SMART disabled, so it does not monitor itself and its status means nothing; enable '
        'it: smartctl -s on PATH',
    )


def test_words_that_nobody_gave_are_no_reason():
    assert failure_reasons.diagnose([]) is None


@pytest.mark.parametrize(
    'line, length',
    [('x' * 400, 300), ('x\n' * 500, 399), (('x' * 299 + '\n') * 100, 8192), ('\n' * 500, 199)],
)
def test_only_the_beginning_of_an_output_is_examined(line, length):
    assert len(failure_reasons.examined(line)) == length


@pytest.mark.parametrize(
    'report, words',
    [
        (
            Report(NVME, True, nvme=COUNTS),
            'returns a health log with only zeros, as some bridges, RAID volumes and firmware do; '
            'check the drives behind it, or exclude this device with --ignore',
        ),
        (
            Report(ATA, True),
            'reports no SMART attributes, so "passed" cannot be trusted: a bridge that needs a '
            'type (TYPE@PATH) hides '
            'them, or the drive is failing (see dmesg -T); if it never has any, exclude it with '
            '--ignore',
        ),
    ],
)
def test_what_zeros_mean_is_said_in_one_sentence(report, words):
    error = content.emptiness(report, is_asked=True)

    assert (error.code, str(error)) == ('smart-data-empty', words)
