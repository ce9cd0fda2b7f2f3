"""`doctor`: each way of breaking an installation is named with its cure, and the cure works: real
sudo, real smartctl, simulated drives.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import abilities
import nagiosplugin
import pytest
import sys_tree
import warm
from conftest import ROOT, SOON, Result, run
from simulator import Machine, why_not

from smart_attributes import access
from smart_attributes.doctor import drives, history_state, start, sudo_rule
from smart_attributes.model import Answer, HowRead
from smart_attributes.output.doctor_findings import Paste
from smart_attributes.reading.processes import Runner
from smart_attributes.state_directory import StateDirectory, Unusable
from smart_attributes.sudo import reports as sudo_reports
from smart_attributes.sudo import rule as sudo_rules
from smart_attributes.sudo.listing import SudoersEntry, denial, entries_of

pytestmark = pytest.mark.xdist_group('sudo')

PROGRAMS = ('sudo', 'visudo', 'useradd', 'userdel', 'setpriv')
# The Python of these tests may stand where no other user may look; that of the system starts the
# program, with the libraries that it has and else those of these tests. Another root than / may be
# given for what is looked up in /sys.
SITE = str(Path(nagiosplugin.__file__).parents[1])
START = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
sys.path.append({SITE!r})
from smart_attributes.reading import system
system.ROOT = sys.argv.pop(1)
from smart_attributes.daemons import checks
checks.ROOT = '/nonexistent'
sys.argv[0] = {str(ROOT / 'check_smart_attributes')!r}
from smart_attributes import main
main.main()"""
PYTHON = ('/usr/bin/python3', '-I', '-B', '-c', START)
# The same in a process that has all modules already.
OTHERWISE = """import sys
sys.executable = '/usr/bin/python3'
from smart_attributes.reading import system
system.ROOT = {root!r}
from smart_attributes.daemons import checks
checks.ROOT = '/nonexistent'
"""
ENTER = """import ctypes, os
assert not ctypes.CDLL(None, use_errno=True).setns(os.open('/proc/{}/ns/mnt', os.O_RDONLY), 0), ctypes.get_errno()
"""
BECOME = """import grp, os, pwd
os.setgroups([])
os.setgid(grp.getgrnam('nogroup').gr_gid)
os.setuid(pwd.getpwnam({!r}).pw_uid)
"""


def within(around: Sequence[str]) -> str | None:
    """Return code that does to its own process what these commands do before they start one;
    None if it cannot.
    """
    code = ''
    for word in around:
        name, _, value = word.partition('=')
        if name not in (
            'nsenter',
            '--mount',
            '--target',
            'setpriv',
            '--reuid',
            '--regid',
            '--clear-groups',
        ):
            return None
        code += {'--target': ENTER, '--reuid': BECOME}.get(name, '').format(value)
    return code


def started(
    *words: str,
    root: str = '/',
    around: Sequence[str] = (),
    before: str = '',
    timeout: float = 60,
    home: str = '/nonexistent',
) -> Result:
    """Run the program in a process that looks up controllers below *root*."""
    environment = {**warm.USUAL, 'HOME': home}
    setup = within(around)
    if setup is not None and not before:
        code, output = warm.call(
            warm.Request(words, '/', environment, OTHERWISE.format(root=root) + setup),
            timeout,
        )
        return Result(code, output.decode())
    program = [
        *PYTHON[:-1],
        START.replace(
            'from smart_attributes import main',
            before + 'from smart_attributes import main',
        ),
    ]
    done = subprocess.run(
        [*around, *program, root, *words],
        cwd='/',
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        env=environment,
    )
    return Result(done.returncode, done.stdout)


# As long as that of an installation where TMPDIR is /tmp; a path is never broken, so a longer one
# makes a longer line.
USUAL_FOLDER = '/tmp/check-smart-attributes-EXAMPLE'


def found_in(printed: Result) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = json.loads(printed.text)['findings']
    return findings


class Installation:
    """A machine with drives, a user who checks them, the rule for sudo, a folder of state and
    one of site files.
    """

    def __init__(self, folder: Path, user: str) -> None:
        self.folder, self.user = folder, user
        self.machine = Machine(folder / 'machine')
        self.rule = Path('/etc/sudoers.d') / user
        # /tmp may be a tmpfs, which is no place for a history
        self.state, self.config = (
            Path(tempfile.mkdtemp(dir='/var/tmp', prefix='csa-')),
            folder / 'etc',
        )
        self.state.chmod(0o755)
        shutil.chown(self.state, user)
        (self.config / 'thresholds.d').mkdir(parents=True)
        self.path = self.machine.smartctl
        self.write_rule(self.printed_rule())

    def printed_rule(self, path: str = '') -> str:
        return run(
            'sudoers', '--user', self.user, '-p', path or self.machine.smartctl
        ).text

    def write_rule(self, text: str) -> None:
        self.rule.touch(0o440)
        self.rule.write_text(text)

    def site_file(self, text: str) -> Path:
        file = self.config / 'thresholds.d' / 'site.json'
        file.write_text(text)
        return file

    @property
    def options(self) -> list[str]:
        return [
            '-p',
            self.path,
            '--state-dir',
            str(self.state),
            '--config',
            str(self.config),
        ]

    @property
    def as_user(self) -> Sequence[str]:
        return 'setpriv', f'--reuid={self.user}', '--regid=nogroup', '--clear-groups'

    def doctor(self, *more: str, **how: Any) -> Result:
        # the disks of the machine that runs these tests are not those of the installation
        return started(
            'doctor',
            '--user',
            self.user,
            *self.options,
            *more,
            **{'root': str(self.machine.folder), **how},
        )

    def findings(self, *more: str, **how: Any) -> list[dict[str, Any]]:
        return found_in(self.doctor('--json', *more, **how))

    def about(self, subject: str, *more: str, **how: Any) -> dict[str, Any]:
        """Return the first finding about this subject."""
        return next(
            each for each in self.findings(*more, **how) if each['subject'] == subject
        )

    def seen_by_user(
        self, *more: str, around: Sequence[str] = (), **how: Any
    ) -> Result:
        """Return what doctor prints if the user of the checks starts it."""
        words = ['doctor', *self.options, '--json', *more]
        return started(*words, around=[*around, *self.as_user], **how)

    def to_do(self, *more: str, **how: Any) -> list[dict[str, Any]]:
        return [each for each in self.findings(*more, **how) if each['state'] != 'good']

    def check(self, *more: str) -> Result:
        return started(*self.options, *more, around=self.as_user)

    def follow(self, command: str) -> None:
        """Do as root what `doctor` says, with the program of this clone and into this installation.

        In an editor, a line that allows everything is deleted.
        """
        program = f'{shlex.quote(sys.executable)} -I {shlex.quote(str(ROOT / "check_smart_attributes"))}'
        words = re.sub(
            'check_smart_attributes(?= sudoers| history| acknowledge)',
            lambda _: program,
            command,
        )
        words = re.sub(rf'{sudo_rule.RULE}[\w-]*', str(self.rule), words)
        editor = dict.fromkeys(('SUDO_EDITOR', 'VISUAL', 'EDITOR'), 'sed -i -e /ALL$/d')
        subprocess.run(
            ['sh', '-ec', words],
            cwd=self.folder,
            env={**os.environ, **editor},
            check=True,
            capture_output=True,
            timeout=60,
        )


@pytest.fixture(scope='module')
def user() -> Iterator[str]:
    """A user who may do nothing; gone afterwards."""
    missing = [name for name in PROGRAMS if not abilities.path_of(name)]
    if why_not() or not abilities.IS_ROOT or missing:
        pytest.skip(
            why_not() or f'missing {" ".join(missing)}'
            if missing or why_not()
            else 'only root can make users'
        )
    name = f'csa-doctor-{os.getpid()}'
    subprocess.run(
        ['useradd', '--system', '--no-create-home', '--shell', '/bin/sh', name],
        check=True,
        capture_output=True,
    )
    try:
        yield name
    finally:
        subprocess.run(['pkill', '-KILL', '-u', name], check=False)
        subprocess.run(['userdel', '--force', name], check=True, capture_output=True)


@pytest.fixture
def installed(user, open_place) -> Iterator[Installation]:
    """An installation where all is well, with two drives."""
    found = Installation(open_place, user)
    found.machine.add('/dev/sda', 'samsung-healthy')
    found.machine.add('/dev/sdb', 'intel-healthy')
    try:
        yield found
    finally:
        found.rule.unlink(missing_ok=True)
        shutil.rmtree(found.state, ignore_errors=True)


# --- a healthy installation ----------------------------------------------------------------------


def test_a_healthy_installation_is_all_good_on_one_screen(installed):
    """Rule, program, history, files, daemons and drives; and the lines to paste check what a scan finds,
    also a new drive.
    """
    assert installed.check().code == 0

    told = installed.doctor()

    assert told.code == 0, told.text
    assert 'TO DO' not in told.text and '\nNo problems found.\n' in told.text
    assert re.search(
        r'Python 3[.][0-9]+[.][0-9]+(?![.])', ' '.join(told.text.split())
    ), 'the whole version'
    assert [
        line[7:18].strip() for line in told.text.splitlines() if line.startswith('good')
    ] == [
        'program',
        'smartctl',
        'sudo rule',
        'history',
        'site files',
        '/dev/sda',
        '/dev/sdb',
        'output',
        'time limit',
    ]
    body, _, pasted = told.text.partition('Lines to paste')
    lines = [
        line.replace(str(installed.folder), USUAL_FOLDER) for line in body.splitlines()
    ]
    assert len(lines) <= 24 and max(map(len, lines)) < 80
    assert 'vars.smart = true' in pasted and 'smart_attributes_device' not in pasted
    [line] = [line.strip() for line in pasted.splitlines() if 'command[' in line]
    assert shlex.split(line.partition('=')[2])[-1] == '--scan'


def test_it_is_looked_at_as_the_user_of_the_checks_really(installed):
    """A folder that root could read, and he not, is found out by trying."""
    path = installed.site_file('{}')
    path.chmod(0o600)

    [told] = installed.to_do()

    assert (
        told['code'] == 'site-file-not-readable'
        and 'Permission denied' in told['message']
    )
    assert told['command'] == f'chmod a+r {path}'


def test_the_user_himself_is_told_the_same(installed):
    """It never needs root."""
    as_root = json.loads(installed.doctor('--json').text)
    told = installed.seen_by_user()

    own = json.loads(told.text)
    assert told.code == 0
    assert [each['subject'] for each in own['findings']] == [
        each['subject'] for each in as_root['findings']
    ]
    assert own['paste'] == as_root['paste']


# --- the program cannot be started ---------------------------------------------------------------


def mostly_long(cases: dict[str, Any]) -> list[Any]:
    """Return the cases of a table of processes; but for the first three, only CI runs them."""
    return [
        pytest.param(*case, id=name, marks=[pytest.mark.long] if place > 2 else [])
        for place, (name, case) in enumerate(cases.items())
    ]


class Copy:
    """A copy of the program in a folder of its own, examined through the code of that copy."""

    def __init__(self, installed: Installation, folder: Path) -> None:
        self.installed, self.folder = installed, folder
        # with what is compiled, but for a module that must be read
        shutil.copytree(
            ROOT / 'smart_attributes',
            folder / 'smart_attributes',
            ignore=shutil.ignore_patterns('model.*.pyc'),
        )
        shutil.copytree(ROOT / 'thresholds', folder / 'thresholds')
        shutil.copy(ROOT / 'attributes.json', folder)
        self.program = Path(shutil.copy(ROOT / 'check_smart_attributes', folder))

    def to_do(self, *around: str) -> list[dict[str, Any]]:
        text = START
        for name in ('', '/check_smart_attributes'):
            text = text.replace(repr(f'{ROOT}{name}'), repr(f'{self.folder}{name}'))
        done = subprocess.run(
            [
                *around,
                *PYTHON[:-1],
                text,
                '/',
                'doctor',
                '--user',
                self.installed.user,
                '--json',
                *self.installed.options,
            ],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.folder,
            env={'PATH': '/usr/bin:/bin', 'LC_ALL': 'C', 'HOME': '/nonexistent'},
        )
        return [
            each
            for each in json.loads(done.stdout)['findings']
            if each['state'] != 'good'
        ]


@pytest.fixture
def copy(installed, open_place) -> Copy:
    folder = open_place / 'home' / 'program'
    folder.mkdir(parents=True)
    return Copy(installed, folder)


@pytest.mark.parametrize(
    'name, mode, code',
    [
        ('..', 0o700, 'directory-closed'),
        ('.', 0o711, 'directory-not-listed'),
        ('check_smart_attributes', 0o711, 'program-not-executable'),
        ('check_smart_attributes', 0o744, 'program-not-executable'),
        ('smart_attributes', 0o744, 'package-not-readable'),
        ('smart_attributes/model.py', 0o600, 'package-not-readable'),
        ('smart_attributes/reading', 0o700, 'package-not-readable'),
    ],
)
def test_a_path_that_keeps_the_user_from_starting_the_program_is_named(
    copy, name, mode, code
):
    """Before anything else; the command of the remedy ends it."""
    path = Path(os.path.normpath(copy.folder / name))
    assert copy.to_do() == []
    path.chmod(mode)

    first, rest = copy.to_do()
    copy.installed.follow(first['command'])

    assert (first['code'], first['state'], rest['state']) == (
        code,
        'problem',
        'unchecked',
    )
    assert (
        first['fields'].items()
        >= {
            'user': copy.installed.user,
            'path': str(copy.program),
            'obstacle': str(path),
            'mode': f'{mode:04o}',
            'owner': 'root',
        }.items()
    )
    assert copy.to_do() == []


def test_the_class_that_counts_gets_the_permission(copy):
    """A directory of the user's own group is closed to it by the bits of the group, whatever
    others may.
    """
    shutil.chown(copy.folder, group='nogroup')
    subprocess.run(
        ['usermod', '--append', '--groups', 'nogroup', copy.installed.user], check=True
    )
    copy.folder.chmod(0o705)

    first, _ = copy.to_do()
    copy.installed.follow(first['command'])

    assert first['command'] == f'chmod g+rx {copy.folder}'
    assert copy.to_do() == []


def test_a_program_that_is_damaged_is_named_with_what_it_prints(copy):
    """There is nothing to permit; the command shows the same."""
    copy.program.write_text('#!/bin/sh\necho "x|y=z" >&2; exit 5\n')

    first, _ = copy.to_do()
    done = subprocess.run(
        ['sh', '-c', first['command']], capture_output=True, text=True, check=False
    )

    assert first['fields']['reason'] == 'exit status 5: x|y=z'
    assert (done.returncode, done.stderr) == (5, 'x|y=z\n')


def test_a_file_system_that_executes_nothing_is_named(copy):
    """noexec, in a mount namespace of this test."""
    place = copy.folder
    script = (
        f'cp -a {place} {place}.kept && mount -t tmpfs -o noexec,mode=755 none {place} && '
        f'cp -a {place}.kept/. {place}/ && eval "$0"; exec "$@"'
    )
    around = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script]

    first, _ = copy.to_do(*around, ':')

    assert (first['code'], first['fields']['obstacle']) == (
        'mounted-noexec',
        str(place),
    )
    shutil.rmtree(f'{place}.kept')
    assert copy.to_do(*around, first['command']) == []


# --- ten ways of breaking it ---------------------------------------------------------------------


@pytest.mark.parametrize(
    'change, code',
    [
        # refuses-a-log
        (lambda rule, user: rule.replace('(-l ssd )?', ''), 'sudo-rule-refuses'),
        # other-words
        (
            lambda rule, user: rule.replace('[0-9]{1,5}', '[0-9]{1,4}'),
            'sudo-rule-of-other-version',
        ),
        # ends-early
        (
            lambda rule, user: rule.replace('TIMEOUT=60', 'TIMEOUT=20'),
            'sudo-rule-ends-early',
        ),
        # password
        (
            lambda rule, user: (
                f'{rule.replace("NOPASSWD: ", "")}{user} ALL=(root) NOPASSWD: /bin/true\n'
            ),
            'sudo-rule-asks-password',
        ),
        # too-wide
        (
            lambda rule, user: f'{rule}{user} ALL=(root) NOPASSWD: ALL\n',
            'sudo-line-too-wide',
        ),
    ],
)
def test_an_old_rule(installed, change, code):
    """Renewed, it is good again."""
    installed.write_rule(change(installed.printed_rule(), installed.user))

    rule = installed.about('sudo rule')
    assert rule['code'] == code, rule
    installed.follow(rule['command'])

    assert installed.to_do() == []


def test_a_rule_for_another_path(installed):
    """The rule of the package, and a smartctl of the site's own."""
    installed.write_rule(installed.printed_rule('/usr/sbin/smartctl'))

    rule = installed.to_do()[0]
    installed.follow(rule['command'])

    assert rule['code'] == 'sudo-rule-absent'
    assert rule['fields']['path'] == installed.path
    assert installed.to_do() == []


def test_no_smartctl(installed, tmp_path):
    """As on a machine without smartmontools: nothing is in /usr/sbin, seen by this process
    alone.
    """
    (tmp_path / 'empty').mkdir()
    hidden = [
        'unshare',
        '--mount',
        '--propagation',
        'private',
        'sh',
        '-c',
        'mount --bind "$0" /usr/sbin && exec "$@"',
        str(tmp_path / 'empty'),
    ]
    installed.path = '/usr/sbin/smartctl'

    without, with_it = (
        installed.about('smartctl', around=around) for around in (hidden, [])
    )

    assert (without['code'], without['command']) == (
        'smartctl-not-installed',
        'apt install smartmontools',
    )
    assert with_it['code'] == 'smartctl-found'


@pytest.mark.skipif(
    not abilities.IS_ROOT, reason='only root trusts the files of these tests'
)
@pytest.mark.parametrize(
    'script, mode, code',
    [
        ('echo smartctl 7.0 2018-12-30', 0o755, 'smartctl-found'),
        ('echo smartctl 6.6 2017-11-05', 0o755, 'smartctl-without-json'),
        ('echo garbage', 0o755, 'smartctl-unidentified'),
        ('exec sleep 60', 0o755, 'smartctl-silent'),
        ('echo smartctl 7.3 2022-02-28', 0o777, 'smartctl-not-trusted'),
        ('echo smartctl 7.3 2022-02-28', 0o644, 'smartctl-not-executable'),
    ],
)
def test_smartctl_is_started_without_the_rights_of_root(tmp_path, script, mode, code):
    path = tmp_path / 'smartctl'
    path.write_text(f'#!/bin/sh\n{script}\n')
    path.chmod(mode)
    how = HowRead(smartctl=str(path), drive_timeout=0.5)

    assert start.examine_smartctl(how, Runner(), time.monotonic() + 5).code == code


def test_no_history(installed):
    """The folder is missing; made as said, it is good, and checks use it."""
    installed.state.rmdir()

    history = installed.about('history')
    installed.follow(history['command'])

    assert history['code'] == 'history-folder-missing'
    assert 'No such file' in history['fields']['reason']
    assert installed.to_do() == []
    assert installed.check().code == 0
    history = installed.about('history')
    assert (history['code'], history['fields']['age']) == ('history-works', '1 min')


# --- sudo refuses for another reason than the rule ------------------------------------------------


class Private:
    """A mount namespace with a copy of /etc and of sudo: what happens there, the machine never
    sees.
    """

    def __init__(self, installed: Installation, folder: Path) -> None:
        self.installed, self.folder = installed, folder
        script = (
            'cp -a /etc "$0/etc"; rm -f "$0"/etc/*.lock; mount --bind "$0/etc" /etc && '
            'cp -a /usr/bin/sudo "$0/sudo" && mount --bind "$0/sudo" /usr/bin/sudo && '
            'echo ready && exec sleep 600'
        )
        self.holder = subprocess.Popen(
            [
                'unshare',
                '--mount',
                '--propagation',
                'private',
                'sh',
                '-c',
                script,
                str(folder),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.holder.stdout and self.holder.stdout.readline() == 'ready\n'
        self.around = ['nsenter', '--mount', f'--target={self.holder.pid}']

    def run(self, command: str) -> str:
        """Run a command of root there; *check_smart_attributes* is this clone's."""
        program = f'{shlex.quote(sys.executable)} -I {shlex.quote(str(ROOT / "check_smart_attributes"))}'
        words = re.sub('check_smart_attributes(?= sudoers)', lambda _: program, command)
        return subprocess.run(
            [*self.around, 'sh', '-ec', f'cd {self.folder}; {words}'],
            check=True,
            text=True,
            capture_output=True,
            timeout=60,
        ).stdout

    def to_do(self, *more: str) -> list[dict[str, Any]]:
        return self.installed.to_do(*more, around=self.around)


@pytest.fixture
def private(installed, open_place) -> Iterator[Private]:
    folder = open_place / 'private'
    folder.mkdir()
    found = Private(installed, folder)
    try:
        yield found
    finally:
        found.holder.kill()
        found.holder.wait()


# How to break it, where RULE is the file with the rule and USER its user -> the finding, and sudo's
# own message.
REFUSALS = {
    'expired-account': (
        'chage -E 0 USER',
        'account-expired',
        'sudo: account validation failure, is your account locked?\nsudo: a password is required',
    ),
    'inactive-password': (
        'echo USER:abcDEF123 | chpasswd; chage -d 2001-01-01 -M 5 -I 3 USER',
        'account-expired',
        'sudo: account validation failure',
    ),
    'name-of-a-backup': (
        'mv RULE RULE~',
        'sudoers-name-ignored',
        'sudo: a password is required',
    ),
    'beside-one-of-mode-0644': (
        'touch /etc/sudoers.d/zz; chmod 644 /etc/sudoers.d/zz; mv RULE RULE.conf',
        'sudoers-name-ignored',
        'sudo: a password is required',
    ),
    'denied-later': (
        'echo "USER ALL=(ALL) !SMARTCTL" >/etc/sudoers.d/zz; chmod 440 /etc/sudoers.d/zz',
        'sudo-rule-overridden',
        '',
    ),
    'denied-at-the-end': (
        'echo "USER ALL=(ALL) !SMARTCTL" >>/etc/sudoers',
        'sudo-rule-overridden',
        '',
    ),
    'setuid': (
        'chmod u-s /usr/bin/sudo',
        'sudo-setuid-missing',
        'sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set',
    ),
}


@pytest.mark.parametrize('broken, code, said', mostly_long(REFUSALS))
def test_why_sudo_refuses_is_told_in_its_own_words(private, broken, code, said):
    """The remedy is the one for this reason, and it works."""

    def filled(text: str) -> str:
        told = text.replace('RULE', str(private.installed.rule))
        return told.replace('USER', private.installed.user).replace(
            'SMARTCTL', private.installed.path
        )

    private.run(filled(broken))

    rule = private.installed.about('sudo rule', around=private.around)
    private.run(rule['command'].replace(sudo_rule.RULE, str(private.installed.rule)))

    without_name = filled(said.replace('RULE', ''))  # sudo 1.9.17 leaves the name out
    assert rule['code'] == code
    assert not said or any(
        f'; sudo reports: {each}' in rule['message']
        for each in (filled(said), without_name)
    ), rule['message']
    assert private.to_do() == []


def test_the_user_alone_is_sent_to_root_where_only_root_can_tell_why(private):
    """He does not see that sudo ignores the file.

    Root follows both remedies, one after the other.
    """
    rule = str(private.installed.rule)
    private.run(f'mv {rule} {rule}.conf')

    alone = found_in(private.installed.seen_by_user(around=private.around))
    told = next(each for each in alone if each['subject'] == 'sudo rule')
    asked = [
        *shlex.split(told['command'])[1:],
        '--config',
        str(private.installed.config),
    ]
    found = found_in(started(*asked, '--json', around=private.around))
    as_root = next(each for each in found if each['subject'] == 'sudo rule')
    private.run(as_root['command'].replace(sudo_rule.RULE, rule))

    assert told['code'] == 'sudo-rule-not-seen'
    assert private.to_do() == []


def test_a_unit_that_forbids_new_privileges_is_named(installed):
    """Outside of it all is good."""
    rule = installed.about('sudo rule', around=['setpriv', '--no-new-privs'])

    assert rule['code'] == 'no-new-privileges'
    assert rule['fields']['printed'].startswith('sudo: The "no')
    assert installed.to_do() == []


def test_a_scan_that_hangs_is_no_fault_of_the_rule(installed):
    """The time limit is said; with the drives named, all is good."""
    smartctl = Path(installed.path)
    text = smartctl.read_bytes()
    own = installed.folder / 'smartctl.real'
    own.write_bytes(text)
    own.chmod(0o755)
    smartctl.write_text(
        f'#!/bin/sh\ncase "$*" in *--scan*) exec sleep 60;; esac\nexec {own} "$@"\n'
    )

    told = installed.to_do('-t', '12')

    assert [each['subject'] for each in told] == ['drives']
    assert '--scan: no answer' in told[0]['message'] and 'with -d' in told[0]['remedy']
    assert installed.to_do('-t', '12', '-d', '/dev/sda', '-d', '/dev/sdb') == []


@pytest.mark.parametrize(
    'broken, code',
    [
        (
            'mount --bind STATE STATE && mount -o remount,ro,bind STATE',
            'history-mounted-read-only',
        ),
        (
            'mount -t tmpfs -o mode=755,uid=$(id -u USER) none STATE',
            'history-on-a-mounted-tmpfs',
        ),
    ],
)
def test_a_file_system_that_keeps_no_history_is_named(private, broken, code):
    """Read-only, or gone at the next restart; the command of the remedy ends it."""
    state_dir = str(private.installed.state)
    private.run(
        broken.replace('STATE', state_dir).replace('USER', private.installed.user)
    )

    told = private.to_do()[0]
    private.run(told['command'])

    assert (told['code'], told['fields']['path']) == (code, state_dir)
    assert told['fields']['mount'] == state_dir
    assert private.to_do() == []


def test_a_history_whose_parent_directory_is_on_a_tmpfs_gets_a_place_on_a_disk(private):
    """As where /var/lib is kept in memory; the line in /etc/fstab does the same at each start."""
    state_dir = private.installed.state
    disk = Path(tempfile.mkdtemp(dir='/var/tmp', prefix='csa-disk-'))
    try:
        disk.chmod(0o755)
        private.run(
            f'mount --bind {disk} /srv; mount -t tmpfs -o mode=755 none /var/tmp; '
            f'install -d -o {private.installed.user} {state_dir}'
        )

        told = private.to_do()[0]
        private.run(told['command'])

        assert (told['code'], told['fields']['mount']) == (
            'history-on-a-tmpfs',
            '/var/tmp',
        )
        assert private.to_do() == []
        # the next start
        private.run(f'umount {state_dir}; rm -r {state_dir}; mount {state_dir}')
        assert private.to_do() == []
    finally:
        shutil.rmtree(disk)


@pytest.mark.parametrize(
    'broken, where',
    [
        ('setfacl -m u:nobody:rwx', '.'),
        ('setfacl -m g:users:rwx', '..'),
        ('chmod o+w', '..'),
        ('chmod g+w', '.'),
    ],
)
def test_a_state_directory_that_others_can_write_to_gets_a_command(
    installed, broken, where
):
    """An entry of an access-control list shows in no mode; the directory above counts as well."""
    below = installed.state / 'below'
    below.mkdir(0o755)
    shutil.chown(below, installed.user, 'users')
    shutil.chown(installed.state, installed.user, 'users')
    command = [*broken.split(), str(below / where)]
    options = [
        '-p',
        installed.path,
        '--state-dir',
        str(below),
        '--config',
        str(installed.config),
    ]
    installed.doctor = lambda *more, **how: started(
        'doctor', '--user', installed.user, *options, *more, **how
    )
    assert installed.to_do() == []
    subprocess.run(command, check=True)

    told = installed.to_do()[0]
    installed.follow(told['command'])

    assert (told['subject'], told['command'].split()[0]) == ('history', command[0])
    assert installed.to_do() == []


@pytest.mark.parametrize(
    'mount, kind, options, code',
    [
        ('/', 'ext4', 'rw,errors=remount-ro', ''),
        ('/', 'ext4', 'ro,relatime', 'history-mounted-read-only'),
        ('/var', 'tmpfs', 'rw', 'history-on-a-tmpfs'),
    ],
)
def test_which_file_systems_keep_no_history(mount, kind, options, code):
    """As /proc/mounts names them."""
    told = history_state.unfit_mount('/var/lib/x', mount, kind, options, 'nagios')

    assert (told.code if told else '') == code


# --- and others ----------------------------------------------------------------------------------


def test_sudo_that_hangs_does_not_hold_it_up(installed, open_place):
    """As with a directory service that does not answer: it ends in its time, and tells what it
    knows.
    """
    folder = open_place / 'bin'
    folder.mkdir()
    (folder / 'sudo').write_text('#!/bin/sh\nexec sleep 60\n')
    (folder / 'sudo').chmod(0o755)

    told = installed.doctor(
        '-t', '3', around=['env', f'PATH={folder}:/usr/bin:/bin'], timeout=SOON
    )

    assert (
        told.code == 1
        and 'good   smartctl' in told.text
        and 'TO DO  sudo rule' in told.text
    )


def test_a_drive_that_a_scan_finds_no_more_is_missed(installed):
    """No address is left that could answer for it; accepted by root, it is not missed any more."""
    installed.check()
    (installed.machine.folder / 'dev/sdb').unlink()

    [told] = installed.to_do()
    options = shlex.join(installed.options)
    installed.follow(told['command'].replace('acknowledge', f'acknowledge {options}'))

    assert (told['code'], told['subject']) == ('drive-missing', '/dev/sdb')
    assert told['message'].startswith('INTEL SSDSC2KB240G8 EXAMPLE0001 ')
    assert told['command'] == 'check_smart_attributes acknowledge --missing sdb'
    assert installed.to_do() == []


def test_a_disk_that_no_check_has_read_is_named(installed):
    """The history tells which ones checks read, however they are configured; after a scan, it is
    all of them.
    """
    for name in ('sda', 'sdb'):
        sys_tree.disk(installed.machine.folder, name)
    assert installed.to_do() == []

    installed.check('-d', '/dev/sda')
    [missed] = installed.to_do()
    installed.check('--scan')

    assert missed['code'] == 'drives-unmonitored'
    assert missed['fields']['disks'] == 'sdb (ST4000NM0035-1V4)'
    assert installed.to_do() == []


def test_a_rule_that_was_asked_for_more_types_is_of_this_version(installed):
    """A bridge that is not plugged in today is no reason to print it again."""
    installed.write_rule(
        run(
            'sudoers', '--user', installed.user, '-p', installed.path, '--type', 'areca'
        ).text
    )

    assert installed.to_do() == []


def test_a_type_that_the_rule_wants_to_be_asked_for_is_asked_for(installed):
    """Areca sends commands of a vendor; the command of the cure names it."""
    rule = installed.about('sudo rule', '-d', 'areca,1/2@/dev/sg2')

    assert rule['code'] == 'sudo-rule-refuses' and '--type areca' in rule['command']
    assert (rule['fields']['refused'], rule['fields']['calls']) == (1, 1)
    installed.follow(rule['command'])
    assert installed.about('sudo rule', '-d', 'areca,1/2@/dev/sg2')['state'] == 'good'


def test_a_user_who_is_not_there_and_a_report_are_no_installation():
    """Exit status 3: nothing was looked at."""
    assert run('doctor', '--user', 'nobody-of-that-name').code == 3
    assert run('doctor', '--report', '/tmp').code == 3


def test_a_library_that_is_missing_hides_nothing_else(installed):
    """What wants it is named; the drives are looked at all the same."""
    installed.check()
    installed.site_file('{"metrics": {"temperature": {"warnin": "45"}}}')

    told = installed.findings(before='sys.modules["jsonschema"] = None\n')

    first = next(each for each in told if each['state'] != 'good')
    assert first['subject'] == 'site files' and 'install' in first['remedy']
    assert [each['state'] for each in told if each['subject'] == 'time limit'] == [
        'good'
    ]


@pytest.mark.parametrize(
    'ids, letter',
    [
        ((5, 7, 5, {7}), 'u'),
        ((0, 7, 5, {7, 8}), 'g'),
        ((0, 9, 5, {7, 8}), 'o'),
        ((0, 0, 5, {5}), 'o'),
    ],
)
def test_whose_permissions_count(ids, letter):
    """The owner's, else the group's, else the others'. Source: path_resolution(7)."""
    assert access.whom(*ids) == letter


@pytest.mark.parametrize(
    'how, reason',
    [
        ({'status': 126, 'stderr': b'denied\n'}, 'exit status 126: denied'),
        ({'status': 0, 'stdout': b'other 1.0'}, 'exit status 0: other 1.0'),
        ({'reason': 'no answer'}, 'no answer'),
    ],
)
def test_what_became_of_the_start_is_said(how, reason):
    """Where no path is at fault: how it ended, and what it printed."""
    told = start.not_started('/p', 'nagios', Answer(('/p', '-V'), 'done', **how))

    assert (told.code, told.fields['reason']) == ('program-does-not-start', reason)
    assert (
        told.command
        == 'setpriv --reuid=nagios --regid="$(id -g nagios)" --init-groups /p -V'
    )


# --- lines to paste ------------------------------------------------------------------------------


def test_pasted_lines_carry_what_the_check_needs():
    """A time limit that fits, and how many drives where slots may be empty."""
    named = [f'megaraid,{slot}@/dev/bus/0' for slot in range(4)]
    icinga, _, nrpe = drives.pastes(named, '/opt/x/check', 25, (), False)

    assert nrpe.text.endswith(' -d megaraid,0-3@/dev/bus/0 --expect 4 --timeout 25')
    assert 'vars.smart_attributes_timeout = "25"' in icinga.text
    assert 'vars.smart_attributes_expect = "4"' in icinga.text
    assert drives.pastes([], 'x', 55, (), False) == []


# --- the rule, as sudo lists it ------------------------------------------------------------------

LISTED = """\
User nagios may run the following commands on vm:

Sudoers entry: /etc/sudoers.d/x
    RunAsUsers: root
    Options: !authenticate
    Timeout: 60
    Commands:
\t/usr/sbin/smartctl ^--json=c --scan$
\t/usr/local/sbin/smartctl -x

Sudoers entry:
    RunAsUsers: root
    Commands:
\tALL
"""


def test_what_sudo_lists_is_understood():
    """Time limit, password and arguments of each entry."""
    first, second = entries_of(LISTED)

    assert (first.timeout, first.needs_password) == (60, False)
    assert first.of('/usr/sbin/smartctl') == ('^--json=c --scan$',)
    assert (second.timeout, second.needs_password, second.commands) == (
        None,
        True,
        ('ALL',),
    )
    assert entries_of('sudo: nothing\n') == []


def asked(**change: Any) -> sudo_rule.SudoAnswers:
    wanted = sudo_rules.general(sudo_rules.RuleRequest('nagios'), HowRead())
    commands = tuple(f'/usr/sbin/smartctl ^{each}$' for each in wanted.expressions)
    entry = SudoersEntry(commands, wanted.timeout)
    calls = [('--json=c', '--scan'), ('--json=c', '/dev/sda')]
    answers = sudo_rule.SudoAnswers(
        'nagios',
        wanted,
        'cmd',
        needed=calls,
        refused=(),
        entries=[entry],
        admits_more=False,
        knows_expressions=True,
        is_person=False,
        message='',
        late='',
        files=sudo_rule.reports.SudoersFacts(),
        root_command='',
    )
    return answers._replace(**change)


def test_a_rule_of_literal_lines_is_good_where_all_are_there():
    """It is what an older sudo gets; another sudo need not list its rules at all."""
    literal = SudoersEntry(('/usr/sbin/smartctl --json\\=c --scan',), 60)

    assert [
        sudo_rule.interpreted(asked(**change)).code
        for change in (
            {},
            {'entries': [literal]},
            {'entries': []},
            {'entries': [literal], 'refused': [('-x',)]},
        )
    ] == [
        'sudo-rule-current',
        'sudo-rule-sufficient',
        'sudo-rule-sufficient',
        'sudo-rule-refuses',
    ]


def test_an_admin_who_tries_it_as_himself_is_not_told_to_give_himself_a_rule():
    """He wants to know what the daemon's user may do."""
    nobody, admin = (
        sudo_rule.interpreted(
            asked(refused=[('-x',)], entries=[], is_person=is_person)
        ).remedy
        for is_person in (False, True)
    )

    assert nobody.startswith('as root, install')
    assert admin.startswith(f'{start.AS_HIM}; ') and admin.endswith(nobody)


ALLOWED = SudoersEntry(('/usr/sbin/smartctl --scan',))


@pytest.mark.parametrize(
    'later, command',
    [
        ((), ''),
        (('!/usr/sbin/smartctl',), '!/usr/sbin/smartctl'),
        (('!/usr/sbin/',), '!/usr/sbin/'),
        (('!ALL',), '!ALL'),
        (('!/usr/sbin/smartctl -s off',), ''),
        (('!/usr/sbin/smartd',), ''),
        (('!/usr/sbin/smartctl', '/usr/sbin/smartctl --scan'), ''),
        (('!ALL', 'ALL'), ''),
    ],
)
def test_the_last_entry_for_smartctl_wins(later, command):
    assert denial([ALLOWED, SudoersEntry(later)], '/usr/sbin/smartctl') == command


def test_a_later_entry_that_asks_for_a_password_wins():
    """The rule itself is listed with its arguments; another finding tells that it lacks
    NOPASSWD.
    """
    asking = SudoersEntry(('ALL',), needs_password=True)

    assert denial([ALLOWED, asking], '/usr/sbin/smartctl') == 'ALL'
    assert denial([asking, ALLOWED], '/usr/sbin/smartctl') == ''
    assert denial([ALLOWED._replace(needs_password=True)], '/usr/sbin/smartctl') == ''


@pytest.mark.parametrize(
    'line',
    [
        'nagios ALL=(ALL) !/usr/sbin/smartctl',
        '%disk ALL = ! /usr/sbin/smartctl, /bin/true',
        'ALL ALL=!/usr/sbin/smartctl',
        'MONITORS ALL=(root) NOPASSWD: !/usr/sbin/smartctl # not this',
    ],
)
def test_the_line_that_wins_is_found(line):
    """The last one; not that of another user, of another program, or in a comment."""
    others = [
        '#nagios ALL=!/usr/sbin/smartctl',
        'backup ALL=!/usr/sbin/smartctl',
        'nagios ALL=!/usr/sbin/smartctl-x',
        'nagios ALL=/usr/sbin/smartctl',
    ]
    texts = {
        '/etc/sudoers': '\n'.join([line, *others]),
        '/etc/sudoers.d/a': '\n'.join([*others, line, *others]),
    }

    assert sudo_reports.located('!/usr/sbin/smartctl', texts, ['nagios', '%disk']) == (
        '/etc/sudoers.d/a',
        5,
        line,
    )
    assert sudo_reports.located('!ALL', texts, ['nagios']) == ('', 0, '')


# --- history --------------------------------------------------------------------------------------


WRITTEN = [SimpleNamespace(last_read=1000)]


@pytest.mark.parametrize(
    'state, code, words',
    [
        # new
        ({}, 'history-empty', 'owner root: it is empty'),
        # in-use
        ({'records': WRITTEN}, 'history-works', '84 kB, written 10 min'),
        # restarted
        ({'old_damage': ['was damaged; lost']}, 'history-remark', ': was damaged'),
        # not-written
        (
            {'records': WRITTEN, 'not_written': 'not written; wait'},
            'history-faulty',
            ': not written',
        ),
    ],
)
def test_history_tells_whose_it_is_how_large_and_when_it_was_written(
    monkeypatch, tmp_path, state, code, words
):
    """Whether it works is seen there."""
    folder = tmp_path / 'history'
    folder.mkdir()
    (folder / '1.drive').write_bytes(bytes(84000))
    sound = {
        'damage': [],
        'not_written': '',
        'slowness': '',
        'old_damage': [],
        'records': [],
    }
    monkeypatch.setattr(history_state, 'of_history', lambda _: None)
    monkeypatch.setattr(history_state, 'time', SimpleNamespace(time=lambda: 1600))
    monkeypatch.setattr(
        history_state, 'for_writing', lambda _: SimpleNamespace(**{**sound, **state})
    )

    finding = history_state.of_files(None, StateDirectory(str(tmp_path), 0, 0))

    assert finding.code == code and words in finding.message


def test_a_disk_without_room_for_history_is_told(monkeypatch):
    monkeypatch.setattr(
        os, 'statvfs', lambda _: SimpleNamespace(f_bavail=1 << 20, f_frsize=1)
    )

    finding = history_state.full('/')

    assert finding.code == 'history-disk-full' and 'only 1.05 MB' in finding.message


def test_an_admin_who_tries_it_as_himself_takes_no_folder_from_nagios():
    """The command for a missing folder changes the owner of one that is there."""
    daemon, admin = (
        history_state.unusable(
            Unusable('x', 'y', '/m'),
            '/m',
            'alice',
            'users',
            is_person,
        )
        for is_person in (False, True)
    )

    assert daemon.command.startswith('install -d -o alice -g users -m 0750 /m && ')
    assert daemon.command.endswith(' chown -hR alice: /m')
    assert (admin.command, admin.code) == ('', 'history-examined-by-a-person')


# --- the screen ----------------------------------------------------------------------------------


ICINGA = """\
vars.smart = true
vars.smart_attributes_device = ["/dev/sda", "$$x"]
vars.smart_attributes_path = "/opt/smartctl"
vars.smart_attributes_config = "c d"
vars.smart_attributes_state_dir = "/s\""""


def test_pasted_lines_stand_below_the_name_of_their_place():
    """Icinga's variables have the long names of the options; a dollar sign is doubled."""
    more = ['--path', '/opt/smartctl', '--config', 'c d', '--state-dir', '/s']
    words = "--path /opt/smartctl --config 'c d' --state-dir /s -d /dev/sda -d '$x'"

    assert drives.pastes(['/dev/sda', '$x'], '/x', 55, more, False) == [
        Paste('icinga', 'Icinga, in the Host', ICINGA),
        Paste(
            'nagios',
            'Nagios, in the service',
            f'check_command  smart_attributes_drives!{words}',
        ),
        Paste(
            'nrpe',
            'NRPE (call it with check_nrpe -t 60)',
            f'command[check_smart_attributes]=/x --max-output 8000 {words}',
        ),
    ]


@pytest.mark.parametrize(
    'named, short',
    [
        (
            [
                'sat+megaraid,2@/dev/bus/0',
                'sat+megaraid,0@/dev/bus/0',
                'sat+megaraid,1@/dev/bus/0',
            ],
            ['sat+megaraid,0-2@/dev/bus/0'],
        ),
        (
            ['cciss,0@/dev/sg1', 'cciss,1@/dev/sg1', 'cciss,2@/dev/sg1', '/dev/sda'],
            ['/dev/sda', 'cciss,0-2@/dev/sg1'],
        ),
        (
            [f'megaraid,{slot}@/dev/bus/0' for slot in (0, 1, 2, 7, 9, 10)],
            [f'megaraid,{slots}@/dev/bus/0' for slots in ('0-2', 7, 9, 10)],
        ),
        (
            [
                'megaraid,0@/dev/bus/0',
                'megaraid,1@/dev/bus/1',
                'sat+megaraid,2@/dev/bus/1',
            ],
            [
                'megaraid,0@/dev/bus/0',
                'megaraid,1@/dev/bus/1',
                'sat+megaraid,2@/dev/bus/1',
            ],
        ),
        (
            [f'areca,1/{slot}@/dev/sg2' for slot in (1, 2, 3)],
            ['areca,1/1-3@/dev/sg2'],
        ),
    ],
)
def test_three_slots_in_a_row_become_a_range(named, short):
    assert drives.ranges(named) == short
