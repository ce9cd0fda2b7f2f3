"""smartctl's and sudo's words, and the reason and next step made of them."""

import re
import time

import pytest
from refusals import EMPTY, IDENTITY, NO_DRIVE, NOT_ASKED

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
    diagnose,
    no_report,
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
    (
        'sudo: a password is required',
        SudoRefused,
        'check_smart_attributes sudoers',
    ),  # sudo password
    (
        'sudo: no tty present and no askpass program specified',
        SudoRefused,
        'sudoers',
    ),  # sudo old password
    (
        "Sorry, user nagios is not allowed to execute '/usr/sbin/smartctl -a /dev/sda' as root on "
        'h1.',
        SudoRefused,
        'user nagios',
    ),  # sudo not allowed
    # sudo unknown user
    ('icinga is not in the sudoers file.', SudoRefused, 'user icinga'),
    # sudo tty
    ('sudo: sorry, you must have a tty to run sudo', DriveError, 'requires a terminal'),
    (
        'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.',
        DriveError,
        'NoNewPrivileges',
    ),  # sudo systemd
    (
        "sudo-rs: I'm sorry icinga. I'm afraid I can't do that",
        SudoRefused,
        'user icinga',
    ),  # sudo rs refuses
    (
        'sudo-rs: interactive authentication is required',
        SudoRefused,
        'asks for a password',
    ),  # sudo rs password
    # sudo other
    ('sudo: /etc/sudoers.d/x is world writable', DriveError, 'world writable'),
    (
        'sudo: /usr/sbin/smartctl: command not found',
        DriveError,
        'install smartmontools',
    ),  # no smartctl
    # too old for json
    ('=======> UNRECOGNIZED OPTION: json=c', DriveError, 'older than 7.0'),
    ('=======> UNRECOGNIZED OPTION: frob', DriveError, 'frob'),  # unknown option
    ('=======> INVALID ARGUMENT TO -l: ssd2', DriveError, '-l'),  # invalid argument
    (
        'ERROR: smartctl requires a device name as the final command-line argument.',
        DriveError,
        'the wrapper (-p) changes',
    ),  # no device
    ('Device is in STANDBY mode, exit(2)', DriveAsleep, 'STANDBY'),  # asleep
    (
        'Device is in STANDBY (OS) mode, exit(2)',
        DriveAsleep,
        'STANDBY (OS) mode',
    ),  # asleep says the kernel
    # asleep with another status
    ('Device is in STANDBY mode, exit(0)', DriveAsleep, 'STANDBY'),
    ('Device is in SLEEP mode, exit(2)', DriveError, 'dead'),  # unknown asleep or dead
    # asleep sas
    ('Device is in STANDBY BY TIMER mode, exit(2)', DriveAsleep, 'BY TIMER'),
    (
        'CHECK POWER MODE returned unknown value 0x42, exit(3)',
        DriveError,
        'report its power mode',
    ),  # unknown power mode
    # not ready
    ('device is NOT READY (e.g. spun down, busy)', DriveError, 'not ready'),
    ('NO MEDIUM present in device', DriveIsNoDrive, 'medium'),  # card reader
    (
        OPEN.format(
            '/dev/sda', "DELL or MegaRaid controller, please try adding '-d megaraid,N'"
        ),
        DriveIsNoDrive,
        'megaraid,N@/dev/bus/0',
    ),  # volume megaraid
    (
        OPEN.format(
            '/dev/sda', "AMCC/3ware controller, please try adding '-d 3ware,N',"
        ),
        DriveIsNoDrive,
        '3ware,N@',
    ),  # volume 3ware
    # volume smart array
    ("/dev/sda: requires option '-d cciss,N'", DriveIsNoDrive, 'cciss,N@'),
    (
        OPEN.format('/dev/bus/0 [megaraid_disk_12]', 'INQUIRY failed'),
        DriveAbsent,
        'empty slot or dead',
    ),  # slot megaraid
    # slot megaraid no such id
    ('megasas_cmd: Device 9 does not exist', DriveAbsent, 'empty slot'),
    (
        OPEN.format(
            '/dev/sg0 [cciss_disk_20] [SCSI/SAT]',
            'INQUIRY [SAT]: No such device or address',
        ),
        DriveAbsent,
        'empty slot',
    ),  # slot cciss
    # slot areca 3ware
    ('Read Device Identity failed: No drive on port 3', DriveAbsent, 'port 3'),
    ('aacraid: Device 0 4 does not exist', DriveAbsent, 'empty slot'),  # slot aacraid
    (
        OPEN.format('/dev/sdb [USB JMicron]', 'No device connected'),
        DriveAbsent,
        'empty slot',
    ),  # slot usb
    (
        OPEN.format(
            '/dev/bus/0 [megaraid_disk_00]',
            'cannot open /dev/megaraid_sas_ioctl_node or /dev/megadev0',
        ),
        DriveError,
        'no MegaRAID controller',
    ),  # no controller megaraid
    (
        OPEN.format('/dev/sda', 'Permission denied'),
        DriveError,
        'run as root or through sudo',
    ),  # permission
    (
        OPEN.format('/dev/vda [SAT]', 'Operation not permitted'),
        DriveError,
        'not permitted',
    ),  # forbidden
    # absent
    (OPEN.format('/dev/nvme7', 'No such device'), DriveAbsent, 'No such device'),
    (
        OPEN.format('/dev/sdz', 'No such file or directory'),
        DriveAbsent,
        'check path',
    ),  # absent file
    # no inquiry
    (OPEN.format('/dev/sdc', 'INQUIRY failed'), DriveError, 'INQUIRY failed'),
    # open timed out
    (OPEN.format('/dev/sdc', 'Connection timed out'), DriveError, 'timed out'),
    (
        OPEN.format('/dev/sdc', 'Device or resource busy'),
        DriveError,
        'to see what uses it',
    ),  # busy
    (
        OPEN.format('/dev/sdc', 'Something unheard of'),
        DriveError,
        'Something unheard of',
    ),  # open unknown
    (
        '/dev/sda: Unknown USB bridge [0x0781:0x5591 (0x100)]',
        DriveError,
        'sat@PATH',
    ),  # usb unknown
    (
        "/dev/sda: USB bridge [0x0bda:0x9210] type is ambiguous: 'sntrealtek' or 'sat'",
        DriveError,
        'ambiguous',
    ),  # usb ambiguous
    # unknown type
    ("/dev/sda: Unknown device type 'megaraid'", DriveError, 'smartctl -h'),
    # undetected
    ('/dev/sdq: Unable to detect device type', DriveUndetected, 'cannot detect'),
    ('Probable ATA device behind a SAT layer', DriveError, 'sat@PATH'),  # sat
    (
        'Read Device Identity failed: Inappropriate ioctl for device',
        DriveError,
        'Inappropriate ioctl',
    ),  # not a block device
    (
        'Read Device Identity failed: scsi error aborted command',
        DriveError,
        'IDENTIFY failed',
    ),  # identify
    (
        'Standard Inquiry (64 bytes) failed [Input/output error]',
        DriveError,
        'INQUIRY failed',
    ),  # inquiry
    (
        'Read NVMe Identify Controller failed: NVME_IOCTL_ADMIN_CMD: Input/output error',
        DriveError,
        '(Identify failed: Input',
    ),  # identify nvme
    (
        'Read NVMe SMART/Health Information (NSID 0x1) failed: NVMe Status 0x2',
        DriveError,
        'SMART/Health log',
    ),  # nvme without log
    (
        "SMART support is: Unavailable - Packet Interface Devices [this device: CD/DVD] don't "
        'support ATA '
        'SMART',
        DriveIsNoDrive,
        'CD/DVD',
    ),  # optical ata
    ('SMART support is: Disabled', DriveError, 'smartctl -s on'),  # disabled
    (
        "SMART Disabled. Use option -s with argument 'on' to enable it.",
        DriveError,
        'disabled',
    ),  # disabled ata
    (
        "SMART support is: Unknown - Try option -s with argument 'on' to enable it.",
        DriveError,
        'whether it supports',
    ),  # smart unknown
    (
        'SMART support is:     Unavailable - device lacks SMART capability.',
        DriveError,
        'has no SMART',
    ),  # unsupported
    (
        'Log Sense failed, IE page [scsi response fails sanity test]',
        DriveError,
        'IE mode page',
    ),  # ie page
    (
        '>> Terminate command early due to bad response to IEC mode page',
        DriveError,
        'IE mode page',
    ),  # iec
    # mandatory
    ('A mandatory SMART command failed: exiting.', DriveError, 'mandatory'),
    ('smartmontools release 7.3 dated 2022-02-28', NotAReport, 'version'),  # version
    # scan
    ('/dev/sda -d sat # /dev/sda [SAT], ATA device', NotAReport, 'list of devices'),
    # opened
    (
        "/dev/sda [SAT]: Device of type 'sat' [ATA] opened",
        DriveError,
        'opened the drive, but did not read it',
    ),
]


@pytest.mark.parametrize('words, kind, part', WORDS)
def test_words_become_a_reason_and_a_next_step(words, kind, part):
    """The admin reads our sentence, not smartctl's source: in one line of a notification.

    Nobody finds out why a drive cannot be read that is not there: it is looked for, and any other
    is to be read.
    """
    error = diagnose(words)

    assert type(error) is kind
    assert part in str(error)
    assert '\n' not in str(error) and '{' not in str(error) and len(str(error)) < 260
    assert of_problem(error.code) == (SEARCH if kind is DriveAbsent else READ)


def test_the_first_fault_names_the_cause_not_the_last():
    """smartctl ends many failures with the same general sentence."""
    error = diagnose(
        'Read Device Identity failed: Input/output error\n\nA mandatory SMART command failed: '
        'exiting.',
    )

    assert 'Input/output error' in str(error)


def test_smartctls_words_are_cleaned_before_they_are_quoted():
    """A device path or a message may hold anything."""
    error = diagnose(
        OPEN.format('/dev/sda', "\x1b[31mbad | 'x'=1;; \u202e" + 'y' * 900)
    )

    assert not set("|'=\x1b\u202e") & set(str(error))
    assert len(str(error)) < 260


REMARK = 'sudo: unable to resolve host web1: Name or service not known'
UNHEARD = 'Nobody ever saw this message'


@pytest.mark.parametrize('words', [REMARK, UNHEARD, ''])
def test_words_without_a_known_cause_are_left_to_the_caller(words):
    """A guess would be worse than the words; sudo complains about names and goes on."""
    assert diagnose(words) is None


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
        (0, []),  # ok nothing to say
        (None, []),  # ok not known
        (0x04, ['command']),  # note command failed
        (0x08 | 0x40, ['failing', 'error log']),  # two bits
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


@pytest.mark.parametrize(
    'end',
    [
        '',  # glued
        ' ',  # in one line
        '\n',  # line by line
    ],
)
@pytest.mark.parametrize(
    'cut',
    [
        0,  # whole
        1,  # almost
    ],
)
def test_every_expression_ends_soon_on_its_own_words(end, cut):
    """A drive, or a file, may say them 64 KiB long; the check has a time limit, and an
    expression knows none.
    """
    for pattern, *_ in CAUSES:
        words = literal_text(parser.parse(pattern))
        text = (words[: len(words) - cut] + end) * (65536 // len(words))

        started = time.process_time()
        diagnose(text * 2)

        assert time.process_time() - started < 5, pattern


def test_a_sentence_quotes_only_what_its_expression_takes():
    """Else it would end in nothing."""
    assert [
        cause.pattern
        for cause in CAUSES
        if QUOTE in cause.why + cause.step and not re.compile(cause.pattern).groups
    ] == []


ENDLESS = [
    'open device:  failed: ',
    "Type 'a': try '-d a,",
    '[areca_disk failed: ',
    '\n',
]


@pytest.mark.parametrize('words', ENDLESS)
def test_a_complaint_without_end_is_diagnosed_soon(words):
    """8,000 characters of the first took 28 seconds, growing with their cube."""
    started = time.process_time()
    diagnose(words * 3000)
    diagnose(f'{words * 20}\n' * 200)

    assert time.process_time() - started < 5


def test_words_that_stand_below_a_lecture_are_still_found():
    """sudo greets first; what it wants stands at the end, and what smartctl says, too."""
    lecture = (
        'We trust you have received the usual lecture from the local Administrator.\n'
        * 20
    )
    words = f'{lecture}sudo: a password is required\n'

    assert isinstance(diagnose(words), SudoRefused)


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
    'report, is_asked, part',
    [
        (Report(NVME, True, nvme=COUNTS), False, 'health log'),
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
            Report(
                ATA,
                True,
                attributes=(ZEROS,),
                statistics={(1, 8): Statistic(0, 'Resets')},
            ),
            True,
            'no SMART attributes',
        ),
    ],
)
def test_zeros_say_nothing(report, is_asked, part):
    """They were an OK with 0 % used and 0 hours."""
    assert part in str(content.emptiness(report, is_asked))


@pytest.mark.parametrize(
    'report, is_asked',
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
            Report(
                ATA,
                True,
                self_tests=(SelfTest('Short', 'Completed: read failure', False, 0),),
            ),
            True,
        ),
        (Report(Identity('SCSI'), True), True),
    ],
)
def test_whatever_tells_something_is_judged(report, is_asked):
    """UNKNOWN must not hide what is known."""
    assert content.emptiness(report, is_asked) is None


NOTHING = {'is_identified': False, 'complaint': ''}
REMAINS = {'device_type': 'sat', 'is_identified': True, 'complaint': ''}


REASONS = [
    (
        without_data(**{**REMAINS, 'is_unsupported': True, 'is_data_asked': False}),
        'smart-unsupported',
        (
            'has no SMART: device lacks SMART capability; for RAID or USB, give '
            'the right type (TYPE@PATH)'
        ),
    ),
    (
        without_data(**{**REMAINS, 'is_data_asked': False}),
        'report-without-data',
        NOT_ASKED,
    ),
    (
        without_data(**{**REMAINS, 'complaint': 'x' * 300}),
        'smartctl-failed',
        (
            'cannot be read: smartctl reports "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
            'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
            'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."; run smartctl by hand: smartctl -x PATH'
        ),
    ),
    (without_data(**NOTHING), 'report-without-data', NO_DRIVE),
    (
        without_data(**REMAINS),
        'report-without-data',
        IDENTITY,
    ),
    (
        without_data(**REMAINS, exit_status=1),
        'report-without-data',
        IDENTITY,
    ),
    (
        without_data(**REMAINS, exit_status=2),
        'not-answering',
        'identified itself but returned no data: not ready, in standby or failing; check '
        'dmesg -T',
    ),
    (
        without_data(**REMAINS, exit_status=5),
        'smart-data-unreadable',
        (
            'returns no SMART data, because a command failed: SMART is disabled, not supporte'
            'd, or hidden by a bridge; enable it: smartctl -s on PATH; or give the right type (TYP'
            'E@PATH)'
        ),
    ),
    (
        without_data(**{**REMAINS, 'exit_status': 2, 'is_identified': False}),
        'identify-failed',
        (
            'did not identify itself (IDENTIFY or INQUIRY failed); check its path and type; '
            'see dmesg -T'
        ),
    ),
    (
        without_data(**NOTHING, exit_status=6, device_type='megaraid,3'),
        'empty-slot',
        (
            'is an empty slot, or its drive is dead: no answer to the device type megaraid,3; list the '
            'existing drives: smartctl --scan'
        ),
    ),
    (
        without_data(**NOTHING, exit_status=2, device_type='sat+megaraid,9'),
        'empty-slot',
        (
            'is an empty slot, or its drive is dead: no answer to the device type sat+megaraid,9; list '
            'the existing drives: smartctl --scan'
        ),
    ),
    (
        no_report('', None),
        'report-empty',
        EMPTY,
    ),
    (
        no_report(' \n', 0),
        'report-empty',
        EMPTY,
    ),
    (
        no_report('', 3),
        'smartctl-failed',
        'cannot be read: smartctl printed nothing and ended with exit status 3; run smartctl '
        'by hand',
    ),
    (
        no_report('x', 3),
        'smartctl-failed',
        'cannot be read: smartctl printed no report and ended with exit status 3; run '
        'smartctl by hand',
    ),
    (
        no_report('x', 0),
        'not-a-report',
        'is not a smartctl report; record with: smartctl -x --json PATH',
    ),
    (
        diagnose(OPEN.format('/dev/sda', 'x., ;')),
        'device-open-failed',
        'cannot be opened: x; check dmesg -T',
    ),
    (
        diagnose(OPEN.format('/dev/sda', '.X,YX')),
        'device-open-failed',
        'cannot be opened: .X,YX; check dmesg -T',
    ),
    (
        diagnose(OPEN.format('/dev/sda', 'y' * 200)),
        'device-open-failed',
        (
            'cannot be opened: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'
            'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'
            'yyyyyyyyyyyyyyy; check dmesg -T'
        ),
    ),
]


@pytest.mark.parametrize('error, code, words', REASONS)
def test_each_reason_is_one_sentence_and_its_code(error, code, words):
    assert (error.code, str(error)) == (code, words)
    assert isinstance(error, DriveAbsent) == (code == 'empty-slot')


@pytest.mark.parametrize(
    'line, is_one',
    [
        ('Warning: x', True),
        ('Read SMART Data failed: 1', True),
        (' Warning: x', False),
        ('1 Log Sense failed [x', True),
        ('A SMART Status failed', False),
        ('x' * 298 + 'Failed [', False),
        ('x' * 291 + 'Failed [', True),
    ],
)
def test_a_line_of_a_report_may_be_a_complaint(line, is_one):
    assert content.is_complaint(line) is is_one


@pytest.mark.parametrize(
    'line, length',
    [
        ('x' * 400, 300),
        ('x\n' * 500, 399),
        (('x' * 299 + '\n') * 100, 8192),
        ('\n' * 500, 199),
    ],
)
def test_only_the_beginning_of_an_output_is_examined(line, length):
    assert len(failure_reasons.examined(line)) == length
