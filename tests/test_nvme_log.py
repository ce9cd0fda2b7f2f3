"""A vendor's NVMe log page is read from smartctl's dump only if it is there once, whole and
undamaged.
"""

import json
import random

import pytest
from foreign import dump

from smart_attributes.model import Answer, Device
from smart_attributes.reading import nvme_log, smartctl_calls, sudoers, system

PAGE = bytes(range(256)) * 2
COMMAND = (
    '/usr/bin/sudo',
    '-n',
    '/usr/sbin/smartctl',
    *smartctl_calls.page_arguments('0xC0', '/dev/nvme0'),
)


def changed(**lines):
    """Return the dump of PAGE with some keys changed; None takes one away."""
    document = {**json.loads(dump(PAGE)), **lines}
    return json.dumps(
        {key: value for key, value in document.items() if value is not None}
    ).encode()


def line(number):
    return json.loads(dump(PAGE))[f'smartctl_{number:04}_u']


def test_a_page_is_read_byte_by_byte():
    """1,000 random pages; the real smartctl prints them in test_vendor_logs."""
    dice = random.Random(7)
    for _ in range(1000):
        page = dice.randbytes(512)
        assert nvme_log.parse(dump(page, '0xca'), '0xCA') == page


def test_a_page_of_a_namespace_is_read():
    """smartctl names the namespace where it was asked for one."""
    assert (
        nvme_log.parse(
            changed(smartctl_0004_u='NVMe Log 0xc0 (NSID 0x1, 0x0200 bytes)'), '0xC0'
        )
        == PAGE
    )


@pytest.mark.parametrize(
    'output',
    [
        b'',
        b'{}',
        b'{"smartctl_0004_u": 1}',
        dump(PAGE[:496]),
        dump(PAGE)[:-200],
        dump(PAGE) * 2,
        dump(PAGE, '0xca'),
        changed(smartctl_0004_u=None),
        changed(smartctl_0004_u='NVMe Log 0xc0 (0x0100 bytes)'),
        changed(smartctl_0010_u=None),
        changed(smartctl_0037_u=line(36)),
        changed(smartctl_0037_u='NVMe Log 0xc0 (0x0200 bytes)'),
        changed(smartctl_0010_u=line(10).replace('50', '5g')),
        changed(smartctl_0010_u=line(10)[:40]),
        changed(smartctl_0010_u=line(10) + 'x'),
        changed(smartctl_0010_u=line(10).replace(' 50', ' 60', 1)),
        changed(smartctl_0010_u=['x']),
        # the offset of each line follows from the lines before it
        changed(smartctl_0010_u=line(11), smartctl_0011_u=line(10)),
        dump(PAGE).replace(b'"smartctl_0011_u"', b'"smartctl_0010_u"'),
    ],
    ids=lambda output: str(len(output)),
)
def test_a_damaged_dump_is_refused_with_a_reason(output):
    """Short, long, cut, doubled, of another page, without a line, with a line twice, with a
    wrong digit.
    """
    found = nvme_log.parse(output, '0xC0')

    assert not isinstance(found, bytes)
    assert found.code == 'vendor-log-unread' and 'unusable: ' in found


@pytest.mark.parametrize(
    'answer, status, failure',
    [
        (Answer(COMMAND, 'done', status=0, stdout=dump(PAGE)), nvme_log.READ, ''),
        (Answer(COMMAND, 'timeout'), nvme_log.HANGS, ''),
        (Answer(COMMAND, 'cut short'), nvme_log.HANGS, ''),
        (Answer(COMMAND, 'done', status=4, stdout=dump(PAGE)), nvme_log.UNREAD, ''),
        (
            Answer(
                COMMAND,
                'done',
                status=4,
                stdout=b'{"smartctl": {"messages": [{"string": "Read NVMe Log 0xc0 failed"}]}}',
            ),
            nvme_log.UNREAD,
            'Read NVMe Log 0xc0 failed',
        ),
        (
            Answer(COMMAND, 'done', status=4, stdout=b'{"smartctl": {"messages": 5}}'),
            nvme_log.UNREAD,
            '',
        ),
        (Answer(COMMAND, 'done', signal=11), nvme_log.UNREAD, 'unusable'),
        (Answer(COMMAND, 'overflow', stdout=b'x'), nvme_log.UNREAD, ''),
        (
            Answer(COMMAND, 'done', status=1, stderr=b'sudo: a password is required'),
            nvme_log.UNREAD,
            '',
        ),
    ],
)
def test_an_answer_is_a_page_or_a_status(answer, status, failure):
    """A dump after an error is not used."""
    page = nvme_log.page_of(answer, '0xC0')

    assert page is not None
    assert (page.status, page.data) == (
        status,
        PAGE if status == nvme_log.READ else b'',
    )
    assert failure in page.failure and bool(failure) == bool(page.failure)


@pytest.mark.parametrize('outcome', ['too late', 'met', 'busy', 'not started'])
def test_a_drive_that_was_not_asked_has_no_page(outcome):
    """So that the next check asks it."""
    assert nvme_log.page_of(Answer(COMMAND, outcome), '0xC0') is None


@pytest.mark.parametrize(
    'device, found',
    [
        (Device('/dev/nvme0'), '/dev/nvme0'),
        (Device('/dev/nvme12', 'nvme'), '/dev/nvme12'),
        (Device('/dev/nvme0n1'), '/dev/nvme0'),
        (Device('/dev/nvme3n1p2'), '/dev/nvme3'),
        (Device('/dev/nvme1n1'), '/dev/nvme4'),
        (Device('/dev/nvme2n1'), ''),
        (Device('/dev/nvme5n1'), '/dev/nvme7'),
        (Device('/dev/sda'), ''),
        (Device('/dev/ng0n1'), ''),
        (Device('/dev/nvme0', 'sntjmicron'), ''),
        (Device('report.json'), ''),
    ],
)
def test_the_controller_is_asked_not_the_namespace(
    device, found, monkeypatch, tmp_path
):
    """nvme1n1 is a namespace of nvme4 here; nvme2n1 has two controllers, as with multipath;
    nvme5n1 has one of them.
    """
    block = tmp_path / 'sys/class/block'
    for name, target in (
        ('nvme1n1', 'devices/nvme4'),
        ('nvme2n1', 'devices/subsys0'),
        ('nvme5n1', 'devices/subsys1'),
    ):
        (block / name).mkdir(parents=True)
        (tmp_path / 'sys' / target).mkdir(parents=True)
        (block / name / 'device').symlink_to(tmp_path / 'sys' / target)
    for controller in (
        'subsys0/nvme5',
        'subsys0/nvme6',
        'subsys1/nvme7',
        'subsys1/power',
    ):
        (tmp_path / 'sys/devices' / controller).mkdir()
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))

    assert nvme_log.controller(device) == found


@pytest.mark.parametrize(
    'arguments, is_allowed',
    [
        *(
            (smartctl_calls.page_arguments(page, '/dev/nvme0'), True)
            for page in smartctl_calls.PAGES
        ),
        (smartctl_calls.page_arguments('0xC1', '/dev/nvme0'), False),
        (smartctl_calls.page_arguments('0xC0', '/dev/nvme0n1'), False),
        (smartctl_calls.page_arguments('0xC0', '/dev/sda'), False),
        (('--json=cu', '-l', 'nvmelog,0xC0,0x400', '/dev/nvme0'), False),
        (('--json=cu', '-l', 'nvmelog,0xC0,0x200', '-s', 'off', '/dev/nvme0'), False),
    ],
)
def test_the_sudo_rule_allows_exactly_the_pages_of_the_database(arguments, is_allowed):
    """Other pages may have side effects, as smartctl's man page warns."""
    assert sudoers.admits(sudoers.all_expressions(), arguments) is is_allowed
