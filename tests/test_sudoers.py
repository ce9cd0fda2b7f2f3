"""The rule for sudo: what it admits and, above all, what it does not. Asked of the real sudo."""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import abilities
import pytest
import tables
from conftest import ROOT, SOCKETS, run
from fake_smartctl import IGNORES_SIGTERM, FakeSmartctl

from smart_attributes import main
from smart_attributes.errors import UsageError
from smart_attributes.model import Answer
from smart_attributes.reading import addresses, device_types, smartctl_calls, sudoers
from smart_attributes.sudo import rule as sudo_rules

pytestmark = pytest.mark.xdist_group('sudo')

# One address or more for each type that there is; the paths are those of all transports.
USB = '/dev/disk/by-id/usb-ACME_Bridge_0123456789AB-0:0'
ADDRESSES = (
    '/dev/sda',
    '/dev/sdabc1',
    '/dev/nvme0',
    '/dev/nvme12n1',
    '/dev/sg7',
    '/dev/hda',
    '/dev/disk/by-id/ata-ACME_X1_EXAMPLE0001',
    '/dev/disk/by-path/pci-0000:00:1f.2-ata-1.0',
    '/dev/disk/by-id/nvme-eui.0025385b71b00001',
    '/dev/disk/by-partlabel/a=b@c+d',
    'ata@/dev/sda',
    'scsi@/dev/sg3',
    'nvme@/dev/nvme0',
    'nvme,0xffffffff@/dev/nvme0',
    'sat@/dev/sg2',
    'sat,auto@/dev/sda',
    'sat,12@/dev/sda',
    f'usbcypress@{USB}',
    f'usbjmicron,p,x,1@{USB}',
    f'usbprolific@{USB}',
    f'usbsunplus@{USB}',
    f'usbasm1352r,1@{USB}',
    f'sntasmedia@{USB}',
    f'sntasmedia/sat@{USB}',
    f'sntjmicron,0x1@{USB}',
    'sntrealtek@/dev/disk/by-path/pci-0000:00:14.0-usb-0:2:1.0-scsi-0:0:0:0',
    'marvell@/dev/sda',
    'atacam@/dev/sda',
    'areca,1@/dev/sg2',
    'areca,24/8@/dev/sg2',
    '3ware,127@/dev/twl1',
    'hpt,1/2/3@/dev/sda',
    'hpt,1/2@/dev/sda',
    'sat+megaraid,6@/dev/sda',
    'scsi+megaraid,65535@/dev/bus/1',
    'sat+aacraid,1,0,12@/dev/sda',
    'cciss,0@/dev/cciss/c0d0',
    'sat,auto,16+cciss,7@/dev/sg1',
    *(documented.example for documented in tables.CONTROLLERS.values()),
)

# Types that ask with vendor commands: admitted where somebody has asked for them.
ON_REQUEST = tuple(entry.name for entry in device_types.TYPES if entry.is_vendors)

READ = ' '.join(smartctl_calls.read_arguments('')[:-1])
LITERAL = READ.replace('=', '\\=')  # as sudoers writes it
REFUSED = {
    'no-arguments': '',
    'another-program': '/bin/sh -c id',
    'switch-smart-off': f'{READ} -s off /dev/sda',
    'change-a-setting': f'{READ} --set=wcache,off /dev/sda',
    'start-a-self-test': f'{READ} -t long /dev/sda',
    'everything-there-is': '-x /dev/sda',
    'text': '--nocheck=standby -i -H -A /dev/sda',
    'logs-in-another-order': '--json=c --nocheck=standby -i -H -A -l selftest -l error /dev/sda',
    'a-log-twice': f'{READ} -l ssd /dev/sda',
    'a-database-of-their-own': f'-B /tmp/drivedb.h {READ} /dev/sda',
    'a-debug-level': f'{READ} -r ioctl,3 /dev/sda',
    'two-drives': f'{READ} /dev/sda /dev/sdb',
    'two-types': f'{READ} -d sat -d scsi /dev/sda',
    'no-drive': READ,
    'up-and-out': f'{READ} /dev/../etc/shadow',
    'up-and-out-of-a-folder': f'{READ} /dev/disk/by-id/../../../etc/shadow',
    'shared-history': f'{READ} /dev/shm/a',
    'a-descriptor': f'{READ} /dev/fd/3',
    'a-file-elsewhere': f'{READ} /etc/shadow',
    'history': f'{READ} /dev/mem',
    'two-slashes': f'{READ} /dev//sda',
    'without-a-guard': f'{READ} -d 3ware,0,force /dev/twa0',
    'force-alone': f'{READ} -d force /dev/sda',
    'a-type-that-writes': f'{READ} -d jmb39x,0 /dev/sda',
    'an-operation-code': f'{READ} -d usbcypress,0x24 /dev/sda',
    'areca-at-a-disk': f'{READ} -d areca,1 /dev/sdb',
    '3ware-at-a-disk': f'{READ} -d 3ware,0 /dev/sdb',
    'an-unknown-type': f'{READ} -d acme /dev/sda',
    'a-number-out-of-bounds': f'{READ} -d megaraid,123456 /dev/bus/0',
    'a-line-break': f'{READ}\n-s off /dev/sda',
    'a-line-break-at-the-end': f'{READ} /dev/sda\n',
    'a-scan-with-more': '--json=c --scan -d test',
    'another-form-of-json': f'{READ.replace("--json=c", "--json=o")} /dev/sda',
}


def arguments_of(address: str) -> tuple[str, ...]:
    (device,) = addresses.parse(address)
    return smartctl_calls.read_arguments(device.path, device.type)


def is_on_request(address: str) -> bool:
    return re.split('[@,/]', address)[0] in ON_REQUEST


def subsets() -> Iterator[tuple[str, ...]]:
    for size in range(len(smartctl_calls.LOGS) + 1):
        yield from combinations(smartctl_calls.LOGS, size)


# --- the expressions, as text ------------------------------------------------------------------


def test_every_type_has_an_address_here():
    """A new type in `device_types` is tried with sudo as well."""
    tried = {
        re.split('[],[/]', device.type.rpartition('+')[2])[0]
        for text in ADDRESSES
        for device in addresses.parse(text)
    }

    assert {entry.name for entry in device_types.TYPES} - tried == set()


def test_every_command_line_is_admitted():
    """Any log may be skipped, the type left out: whatever commands.py can make."""
    expressions = list(sudoers.all_expressions(ON_REQUEST))
    lines = [
        smartctl_calls.read_arguments(device.path, device.type, skip)
        for text in ADDRESSES
        for device in addresses.parse(text)
        for skip in subsets()
    ]

    assert [
        line
        for line in (*lines, smartctl_calls.SCAN)
        if not sudoers.admits(expressions, line)
    ] == []


def test_what_differs_in_a_character_is_admitted_only_if_it_is_ours():
    """The rule is no wider than the plugin: 4,000 lines with a mistake, and a line that comes
    through is one we could make.
    """
    chance = random.Random(2)
    expressions = list(sudoers.all_expressions(ON_REQUEST))
    admitted = [
        line
        for line in (mutation(chance) for _ in range(4000))
        if sudoers.admits(expressions, line)
    ]

    assert len(admitted) > 100
    assert [
        line for line in admitted if line != smartctl_calls.SCAN and not is_ours(line)
    ] == []


@pytest.mark.parametrize(
    'more',
    [
        '-s on',
        '-t long',
        '-s',
        '0',
        '/dev/sdb',
        '-d test',
        '--set=standby,now',
        '/../mem',
        '.',
    ],
)
def test_nothing_is_admitted_before_or_behind_a_command_line(more):
    """smartctl takes options anywhere; an expression that ends too early, or too loosely, lets
    them through.
    """
    expressions = list(sudoers.all_expressions(ON_REQUEST))
    lines = [' '.join(arguments_of(text)) for text in ADDRESSES]
    wrong = [
        line
        for each in lines
        for line in (f'{each} {more}', f'{more} {each}', f'{each}\n{more}')
    ]

    assert [
        line for line in wrong if sudoers.admits(expressions, tuple(line.split(' ')))
    ] == []


@pytest.mark.parametrize(
    'requested',
    [  # none
        (),
        # areca
        ('areca',),
        # bridges
        ('usbjmicron', 'sntasmedia'),
    ],
)
def test_vendor_commands_are_admitted_only_on_request(requested):
    """Another disk under that path would get them, too; so no rule admits a type that nobody
    here needs.
    """
    expressions = list(sudoers.all_expressions(requested))
    admitted = {
        re.split('[@,/]', text)[0]
        for text in ADDRESSES
        if is_on_request(text) and sudoers.admits(expressions, arguments_of(text))
    }

    assert admitted == set(requested)


@pytest.mark.parametrize(
    'path',
    [
        '/dev/sda',
        '/dev/sg0',
        '/dev/nvme0',
        '/dev/bus/0',
        '/dev/disk/by-id/ata-ACME_X1',
        '/dev/disk/by-id/wwn-0x5000c5',
        '/dev/disk/by-label/usb-mine',
        '/dev/disk/by-id/ata-usb-x',
        '/dev/disk/by-path/pci-0000:00:1f.2-ata-1',
        '/dev/disk/by-id/usb-',
        '/dev/disk/by-id/usb-x/../../sda',
        '/dev/disk/by-path/-usb-x',
    ],
)
def test_commands_of_usb_bridges_are_admitted_on_links_of_usb_alone(path):
    """A disk of another bus would get them, too."""
    bridges = [name for name in ON_REQUEST if name.startswith(('usb', 'snt'))]
    expressions = list(sudoers.all_expressions(ON_REQUEST))

    assert len(bridges) == 8
    assert [
        name
        for name in bridges
        if sudoers.admits(expressions, smartctl_calls.read_arguments(path, name))
    ] == []
    assert all(
        sudoers.admits(
            expressions,
            smartctl_calls.read_arguments(
                USB, name if name != 'usbasm1352r' else f'{name},0'
            ),
        )
        for name in bridges
    )


def mutation(chance: random.Random) -> tuple[str, ...]:
    line = list(' '.join(arguments_of(chance.choice(ADDRESSES))))
    for _ in range(chance.choice((1, 1, 2))):
        place = chance.randrange(len(line))
        line[place : place + chance.randrange(2)] = chance.choice(
            ('', *'/.-,+ 0az_=', '..', ' -s', 'force', '\n')
        )
    return tuple(''.join(line).split(' '))


def is_ours(line: tuple[str, ...]) -> bool:
    words = list(line)
    kind = words[words.index('-d') + 1] if '-d' in words else ''
    try:
        (device,) = addresses.parse(f'{kind}@{words[-1]}' if kind else words[-1])
    except UsageError as error:
        # 999 has as many digits as 127; smartctl itself refuses it
        return 'this number of' in str(error)
    skip = [log for log in smartctl_calls.LOGS if log not in words]
    made = smartctl_calls.read_arguments(device.path, device.type, skip)
    return [without_zeros(word) for word in words] == [
        without_zeros(word) for word in made
    ]


def without_zeros(word: str) -> str:
    return re.sub(r'(?<![0-9a-z])0+(?=[0-9])', '', word)


def test_sudo_takes_expressions_of_this_length():
    """Source: sudo, lib/util/regex.c: an expression of more than 1024 characters is refused."""
    assert max(map(len, sudoers.all_expressions(ON_REQUEST))) < 1000


@pytest.mark.parametrize(
    'said, known',
    [
        # debian-12
        ('Sudo version 1.9.13p3', True),
        # the-first
        ('Sudo version 1.9.10', True),
        # older
        ('Sudo version 1.9.9', False),
        # much-older
        ('Sudo version 1.8.31p2', False),
        # another-program
        ('sudo-rs 0.2.8', False),
        # not-installed-yet
        ('', True),
    ],
)
def test_only_a_new_sudo_gets_expressions(said, known):
    """Others would take them for words, or refuse the whole file."""
    assert sudo_rules.knows_expressions(said) is known


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def roots_smartctl(fake: FakeSmartctl) -> FakeSmartctl:
    """A stand-in that a rule may name."""
    if not abilities.IS_ROOT:
        pytest.skip(
            'rules for a stand-in smartctl are not tried: it would have to belong to root'
        )
    return fake


def stand_in_sudo(folder: Path, says: str) -> dict[str, str]:
    """Return the environment in which another sudo comes first; sudo-rs tells its version on
    stderr.
    """
    folder.mkdir()
    sudo = folder / 'sudo'
    sudo.write_text(
        f'#!/bin/sh\necho "{says}" >&{2 if "rs" in says.split()[0] else 1}\n'
    )
    sudo.chmod(0o755)
    return {'PATH': f'{folder}:/usr/bin:/bin'}


def drives(fake: FakeSmartctl) -> FakeSmartctl:
    scan = (
        '{"smartctl":{"argv":["smartctl","--json=c","--scan"],"exit_status":0},"devices":['
        '{"name":"/dev/sda","type":"sat"},{"name":"/dev/bus/0","type":"megaraid,8"}]}'
    )
    fake.answers('--json=c --scan', scan)
    fake.answers('--version', 'smartctl 7.3 2022-02-28 r5338')
    return fake


def lines_of(text: str) -> list[str]:
    return [
        line.strip().rstrip(', \\')
        for line in text.splitlines()
        if line.startswith('    ')
    ]


def rule_of(smartctl: FakeSmartctl, folder: Path, sudo_version: str) -> str:
    """Return the rule for another version of sudo."""
    environment = stand_in_sudo(folder / 'bin', sudo_version)
    return run('sudoers', '-p', drives(smartctl).path, env=environment).text


def test_an_older_sudo_gets_a_line_for_each_drive(roots_smartctl, tmp_path):
    """Scan and both drives, each word of them; the file says why."""
    printed = rule_of(roots_smartctl, tmp_path, 'Sudo version 1.9.5p2')

    assert ' version 1.9.5p2") does not' in printed
    assert 'TIMEOUT=60' in printed
    assert lines_of(printed) == [
        f'{roots_smartctl.path} --json\\=c --scan',
        f'{roots_smartctl.path} {LITERAL} /dev/sda',
        f'{roots_smartctl.path} {LITERAL} -d megaraid\\,8 /dev/bus/0',
    ]


def test_another_program_gets_no_word_that_it_does_not_know(roots_smartctl, tmp_path):
    """sudo-rs has no TIMEOUT and no log_allowed."""
    printed = rule_of(roots_smartctl, tmp_path, 'sudo-rs 0.2.8')

    assert 'TIMEOUT' not in printed
    assert 'Defaults' not in printed
    assert len(lines_of(printed)) == 3


@pytest.mark.parametrize(
    'said, is_quiet', [('1.8.27', False), ('1.8.29', True), ('1.9.5p2', True)]
)
def test_a_sudo_that_can_leave_its_log_alone_is_told_to(
    roots_smartctl, tmp_path, said, is_quiet
):
    """An older one would complain of a word that it does not know, at every call."""
    printed = rule_of(roots_smartctl, tmp_path, f'Sudo version {said}')

    assert ('!log_allowed, !pam_session' in printed) is is_quiet


def test_a_log_that_is_not_read_is_not_in_a_literal_line(roots_smartctl, tmp_path):
    """A site file says that the self-test log harms this drive."""
    site = tmp_path / 'etc/thresholds.d'
    site.mkdir(parents=True)
    (site / 'x25.json').write_text(
        '{"overrides": [{"for": {"device": "/dev/sda"}, "why": "hangs", "skip": ["selftest"]}]}'
    )
    printed = run(
        'sudoers',
        '--literal',
        '-p',
        drives(roots_smartctl).path,
        '--config',
        str(site.parent),
    ).text

    assert [
        line
        for line in lines_of(printed)
        if line.endswith('/dev/sda') and 'selftest' in line
    ] == []


def test_a_path_of_ones_own_making_gets_a_line_beside_the_expressions(roots_smartctl):
    """udev rules may call a drive what they like; a usual path needs nothing more."""
    printed = run(
        'sudoers',
        '-p',
        drives(roots_smartctl).path,
        '-d',
        '/dev/tank/slot1',
        '-d',
        '/dev/sda',
    ).text

    assert [line for line in lines_of(printed) if '^' not in line] == [
        f'{roots_smartctl.path} {LITERAL} /dev/tank/slot1'
    ]


@pytest.mark.parametrize(
    'arguments, words',
    [
        # two-users
        (['--user', 'ALL, root'], 'one user'),
        # an-alias
        (['--user', 'ADMINS'], 'one user'),
        # a-group
        (['--user', '%disk'], 'one user'),
        # a-word-of-sudo
        (['--user', 'Defaults'], 'one user'),
        # a-type-that-needs-no-request
        (['--type', 'megaraid'], 'takes one of'),
        # a-type-with-an-expression
        (['--type', 'areca).*('], 'takes one of'),
        # any-smartctl-in-the-path
        (['-p', 'smartctl'], 'absolute path'),
        # another-command
        (['-p', '/usr/sbin/smartctl, ALL'], 'absolute path'),
        # up
        (['-p', '/usr/../tmp/smartctl'], 'absolute path'),
        # shared-history
        (['--literal', '-d', '/dev/shm/a'], 'not a drive'),
    ],
)
def test_a_rule_that_would_admit_more_is_not_printed(arguments, words):
    """Exit status 3, so that "sudoers > rule && install rule" stops."""
    printed = run('sudoers', *arguments)

    assert printed.code == 3
    assert words in printed.text
    assert 'NOPASSWD' not in printed.text


def test_a_smartctl_that_others_can_change_is_not_put_into_a_rule(fake):
    """They would be root."""
    os.chmod(drives(fake).path, 0o777)
    printed = run('sudoers', '-p', fake.path)

    assert printed.code == 3
    assert 'users can change' in printed.text


# --- the real sudo -----------------------------------------------------------------------------


class Sudo(NamedTuple):
    """A user whom a rule of ours lets run a stand-in smartctl, and nothing else."""

    user: str
    fake: FakeSmartctl
    rule: str

    @property
    def becomes_user(self) -> list[str]:
        """The words before a command that this user runs."""
        return ['setpriv', f'--reuid={self.user}', '--regid=nogroup', '--clear-groups']

    def runs(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.becomes_user, 'sudo', '-n', *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            cwd='/',
        )

    @contextmanager
    def under(self, rule: str) -> Iterator[None]:
        """Let another rule hold for a while."""
        file = Path('/etc/sudoers.d') / self.user
        file.write_text(rule)
        yield
        file.write_text(self.rule)

    def admits(self, *arguments: str) -> bool:
        """Tell whether the stand-in was run with exactly these arguments."""
        before = len(self.fake.calls())
        self.runs(self.fake.path, *arguments)
        return self.fake.calls()[before:] == [' '.join(arguments)]


def needs(*programs: str) -> None:
    missing = [program for program in programs if not abilities.path_of(program)]
    if not abilities.IS_ROOT or missing:
        reason = (
            f'missing {" ".join(missing)}' if missing else 'only root can install it'
        )
        pytest.skip(f'the rule is not tried with the real sudo: {reason}')


@pytest.fixture(scope='module')
def sudo(tmp_path_factory) -> Iterator[Sudo]:
    """A user and a rule, both gone afterwards.

    The stand-in belongs to root, in a folder of root's.
    """
    needs('sudo', 'visudo', 'useradd', 'userdel', 'setpriv')
    fake = FakeSmartctl(tmp_path_factory.mktemp('sudo') / 'fake')
    user = f'csa-test-{os.getpid()}'
    rule = run('sudoers', '--user', user, '-p', fake.path).text
    file = Path('/etc/sudoers.d') / user
    subprocess.run(
        ['useradd', '--system', '--no-create-home', '--shell', '/bin/sh', user],
        check=True,
        capture_output=True,
    )
    try:
        file.touch(0o440)
        file.write_text(rule)
        yield Sudo(user, fake, rule)
    finally:
        file.unlink()
        # a hanging smartctl's sudo still has this user's name
        subprocess.run(['pkill', '-KILL', '-u', user], check=False)
        subprocess.run(['userdel', '--force', user], check=True, capture_output=True)


def test_visudo_accepts_the_rule(sudo, tmp_path):
    """A file with a mistake would take sudo away from everybody."""
    file = tmp_path / 'rule'
    file.write_text(sudo.rule)
    checked = subprocess.run(
        ['visudo', '--check', '--strict', f'--file={file}'],
        capture_output=True,
        text=True,
    )

    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    'address', [address for address in ADDRESSES if not is_on_request(address)]
)
def test_sudo_admits_every_transport(sudo, address):
    """The real sudo, the real regular expression library of libc."""
    assert sudo.admits(*arguments_of(address))


@pytest.mark.parametrize('skip', [smartctl_calls.LOGS[:1], smartctl_calls.LOGS])
def test_sudo_admits_skipped_logs(sudo, skip):
    """For drives that a log harms."""
    assert sudo.admits(*smartctl_calls.read_arguments('/dev/sda', 'sat', skip))


def test_sudo_admits_what_was_asked_for(sudo):
    """Each type of a bridge; without the request none of them."""
    asked_for = [address for address in ADDRESSES if is_on_request(address)]
    before = [address for address in asked_for if sudo.admits(*arguments_of(address))]
    words = [word for name in ON_REQUEST for word in ('--type', name)]
    with sudo.under(
        run('sudoers', '--user', sudo.user, '-p', sudo.fake.path, *words).text
    ):
        after = [
            address for address in asked_for if sudo.admits(*arguments_of(address))
        ]

    assert before == []
    assert after == asked_for


class Syslog:
    """Listens at /dev/log while a command runs; sudo and PAM write there."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / 'log'
        self.socket = socket.socket(
            socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK
        )
        self.socket.bind(str(self.path))
        self.path.chmod(0o666)

    def lines(self) -> list[str]:
        found = []
        with suppress(BlockingIOError):
            while True:
                found.append(self.socket.recv(1 << 16).decode())
        return found


@pytest.fixture
def syslog() -> Iterator[Syslog]:
    """In the place of this machine's own, for those who ask for it with `in_sight_of`."""
    needs('unshare', 'mount')
    was_there = os.path.lexists('/dev/log')
    Path('/dev/log').touch()
    with tempfile.TemporaryDirectory(dir=SOCKETS) as folder:
        log = Syslog(Path(folder))
        yield log
        log.socket.close()
    if not was_there:
        os.unlink('/dev/log')


def in_sight_of(syslog: Syslog, command: list[str]) -> list[str]:
    """Run a command; return what was logged meanwhile."""
    listening = [
        'unshare',
        '--mount',
        '--propagation',
        'private',
        'sh',
        '-c',
        'mount --bind "$0" /dev/log && exec "$@"',
        str(syslog.path),
    ]
    subprocess.run(
        [*listening, *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        cwd='/',
        check=False,
    )
    return syslog.lines()


@pytest.mark.parametrize(
    'literal',
    [  # expressions
        [],
        # literal
        ['--literal', '-d', '/dev/sda'],
    ],
)
def test_a_check_writes_nothing_into_the_log(sudo, syslog, literal):
    """Sixty drives would be 180 lines, twelve times an hour; who wants them takes a line away."""
    arguments = smartctl_calls.read_arguments('/dev/sda')
    call = [*sudo.becomes_user, 'sudo', '-n', sudo.fake.path, *arguments]
    rule = run('sudoers', '--user', sudo.user, '-p', sudo.fake.path, *literal).text
    with sudo.under(rule):
        before = len(sudo.fake.calls())
        quiet = in_sight_of(syslog, call)
        ran = len(sudo.fake.calls()) - before
    with sudo.under(
        '\n'.join(line for line in rule.splitlines() if not line.startswith('Defaults'))
        + '\n'
    ):
        told = in_sight_of(syslog, call)

    assert (ran, quiet) == (1, [])
    assert [line for line in told if f'COMMAND={sudo.fake.path}' in line]


def test_what_the_admin_runs_is_logged_as_before(sudo, syslog):
    """The rule is quiet about its own lines, not about smartctl."""
    with sudo.under(sudo.rule + f'{sudo.user} ALL=(root) NOPASSWD: {sudo.fake.path}\n'):
        words = 'sudo', '-n', sudo.fake.path, '-s', 'off', '/dev/sda'
        told = in_sight_of(syslog, [*sudo.becomes_user, *words])

    assert [line for line in told if 'COMMAND=' in line and '-s off /dev/sda' in line]


def test_two_rules_for_one_user_get_along(sudo, tmp_path):
    """That of the package and one for a bridge: sudo complains at every call where two files
    define one name.
    """
    more = Path('/etc/sudoers.d') / f'{sudo.user}-more'
    more.touch(0o440)
    try:
        more.write_text(
            run(
                'sudoers',
                '--user',
                sudo.user,
                '-p',
                sudo.fake.path,
                '--type',
                'usbjmicron',
            ).text
        )
        done = sudo.runs(sudo.fake.path, *smartctl_calls.read_arguments('/dev/sda'))
    finally:
        more.unlink()

    assert 'no answer to' in done.stderr
    assert 'sudoers' not in done.stderr


@pytest.mark.parametrize('line', REFUSED.values(), ids=REFUSED)
def test_sudo_refuses(sudo, line):
    """Whatever is not ours; a password is asked for, and there is none."""
    arguments = line.split(' ') if line else []
    program = [] if line.startswith('/') else [sudo.fake.path]
    before = len(sudo.fake.calls())
    done = sudo.runs(*program, *arguments)

    assert done.returncode == 1
    assert 'password is required' in done.stderr or 'not allowed' in done.stderr
    assert len(sudo.fake.calls()) == before


@pytest.mark.parametrize(
    'options',
    [
        # as-somebody-else
        ['-u', 'nobody'],
        # with-another-group
        ['-g', 'shadow'],
        # with-a-library
        ['LD_PRELOAD=/tmp/x.so'],
        # with-its-environment
        ['-E'],
        # in-another-folder
        ['-D', '/tmp'],
        # a-shell
        ['-s'],
    ],
)
def test_sudo_refuses_what_comes_with_it(sudo, options):
    """The right command line under other circumstances."""
    before = len(sudo.fake.calls())
    done = sudo.runs(*options, sudo.fake.path, *smartctl_calls.SCAN)

    assert done.returncode != 0
    assert len(sudo.fake.calls()) == before


def test_literal_lines_admit_their_drive_and_no_other(sudo, tmp_path):
    """What sudo older than 1.9.10 gets; names with colon, comma and equals sign included."""
    wanted = [
        '/dev/sda',
        'sat+megaraid,6@/dev/bus/0',
        '/dev/disk/by-path/pci-0000:00:1f.2-ata-1',
        '/dev/tank/a=b',
    ]
    named = [word for each in wanted for word in ('-d', each)]
    with sudo.under(
        run(
            'sudoers', '--user', sudo.user, '-p', sudo.fake.path, '--literal', *named
        ).text
    ):
        admitted = [
            each
            for each in (
                *wanted,
                '/dev/sdb',
                'megaraid,6@/dev/bus/0',
                'sat+megaraid,60@/dev/bus/0',
            )
            if sudo.admits(*arguments_of(each))
        ]
        with_more = sudo.admits(*arguments_of('/dev/sda'), '-s', 'off')

    assert admitted == wanted
    assert not with_more


def test_sudo_ends_a_smartctl_that_hangs(sudo):
    """nagios may not kill what is root's: TIMEOUT is the time for all drives, and five seconds
    more.
    """
    arguments = smartctl_calls.read_arguments('/dev/sdz')
    sudo.fake.answers(arguments, before='exec sleep 60')
    assert 'TIMEOUT=60 ' in sudo.rule
    with sudo.under(sudo.rule.replace('TIMEOUT=60', 'TIMEOUT=1')):
        done = sudo.runs(sudo.fake.path, *arguments)

    assert done.returncode != 0
    assert not Path(f'/proc/{sudo.fake.pids()[-1]}').exists()


def test_a_refusal_of_the_real_sudo_is_known_as_one(sudo):
    """Then the words of earlier versions are tried."""
    refused = sudo.runs(sudo.fake.path, '--json=c', '-x', '/dev/sda')
    admitted = sudo.runs(sudo.fake.path, *smartctl_calls.SCAN)
    behind = ('/usr/bin/sudo', '-n', sudo.fake.path)

    assert smartctl_calls.is_refused(
        Answer(
            behind,
            'done',
            stdout=refused.stdout.encode(),
            stderr=refused.stderr.encode(),
        )
    ), refused.stderr
    assert not smartctl_calls.is_refused(
        Answer(
            behind,
            'done',
            stdout=admitted.stdout.encode(),
            stderr=admitted.stderr.encode(),
        )
    )


def test_behind_sudo_a_smartctl_that_hangs_keeps_its_drive_locked_and_is_found_by_the_next_check(
    sudo, open_place
):
    """The lock passes through sudo, and sudo stays to keep the rule's TIMEOUT; the second check
    starts nothing.
    """
    arguments = smartctl_calls.read_arguments('/dev/sdq')
    sudo.fake.answers(arguments, before=IGNORES_SIGTERM.replace('60', '12'))
    state = open_place / 'state'
    state.mkdir()
    shutil.chown(state, sudo.user)
    code = f"""import sys, time
sys.path.insert(0, {str(ROOT)!r})
from smart_attributes.reading import smartctl_calls
from smart_attributes.reading.processes import Runner
for _ in range(2):
    runner = Runner()
    runner.lock_drives_in(sys.argv[1])
    command = (*smartctl_calls.prefix(sys.argv[2], False), *smartctl_calls.read_arguments('/dev/sdq'))
    print(*(answer.outcome for answer in runner.run([command], 0.7, time.monotonic() + 20)), runner.why_forgetful)
    runner.close()"""
    before = len(sudo.fake.calls())

    python = '/usr/bin/python3', '-I', '-B', '-c', code
    done = subprocess.run(
        [*sudo.becomes_user, *python, str(state), sudo.fake.path],
        capture_output=True,
        text=True,
        timeout=30,
        cwd='/',
        check=True,
    )

    assert done.stdout.split() == ['timeout', 'busy']
    assert len(sudo.fake.calls()) == before + 1
    [file] = (state / 'waiting').iterdir()
    pid = file.read_text().split()[0]
    assert Path(f'/proc/{pid}/comm').read_text() == 'sudo\n'


def test_a_rule_for_a_user_that_does_not_exist_is_printed_with_a_note(capfd):
    """The rule may be for another host, so it is printed all the same."""
    assert main.run(['sudoers', '--user', 'nosuch-user']) == 0
    assert 'no user nosuch-user' in capfd.readouterr().err
    assert main.run(['sudoers', '--user', 'root']) == 0
    assert 'has no user' not in capfd.readouterr().err
