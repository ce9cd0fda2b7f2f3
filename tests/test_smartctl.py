"""smartctl: the command lines, and processes that answer, hang, die or never end."""
from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from fake_smartctl import (
    DIES,
    HANGS,
    IGNORES_SIGTERM,
    LEAVES_A_CHILD,
    PRINTS_FOR_EVER,
    SHUTS_PIPES_AND_LIVES_ON,
    FakeSmartctl,
)

from smart_attributes.errors import UsageError
from smart_attributes.reading import smartctl
from smart_attributes.reading.smartctl import Runner, check_executable, is_too_old, prefix, read_arguments, version

ROOT = Path(__file__).resolve().parent.parent
NOBODY = 65534

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason='only root can become another user')
needs_setpriv = pytest.mark.skipif(not shutil.which('setpriv'), reason='setpriv (util-linux) is not installed')
needs_smartctl = pytest.mark.skipif(not os.access(smartctl.DEFAULT, os.X_OK), reason='no smartctl is installed')


@pytest.fixture
def fake(tmp_path):
    return FakeSmartctl(tmp_path / 'fake')


@pytest.fixture
def runner():
    runner = Runner()
    yield runner
    runner.close()


@pytest.fixture
def open_place():
    """A folder that other users can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix='check-smart-attributes-'))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def run(runner, commands, jobs=100, drive_timeout=20.0, total=25.0):
    """Return the answers by command."""
    answers = runner.run(commands, jobs, drive_timeout, time.monotonic() + total)
    return {answer.command: answer for answer in answers}


def run_as_nobody(code, *arguments):
    """Run Python code as a user without rights; returns what it prints as JSON."""
    done = subprocess.run(
        ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups',
         '/usr/bin/python3', '-I', '-B', '-c', f'import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}', *arguments],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# The command lines

def test_a_drive_is_read_with_exactly_these_words():
    """sudoers rules and the simulator depend on each of them."""
    assert ' '.join(read_arguments('/dev/sda')) == (
        '--json=c --nocheck=standby -i -H -A -l error -l selftest -l devstat -l ssd /dev/sda')


def test_a_type_stands_before_the_path():
    """The path is last, as smartctl and the sudoers rule want it."""
    assert read_arguments('/dev/bus/0', 'megaraid,6')[-3:] == ('-d', 'megaraid,6', '/dev/bus/0')


def test_a_log_that_can_harm_a_drive_is_left_out():
    """A site file says "skip": ["selftest"] for such drives; the other logs stay."""
    arguments = read_arguments('/dev/sda', skip={'selftest'})

    assert 'selftest' not in arguments
    assert [arguments[index + 1] for index, word in enumerate(arguments) if word == '-l'] == ['error', 'devstat', 'ssd']


def test_the_text_form_differs_by_nothing_but_json():
    """smartctl before 7.0 knows no --json, and all the other words since 5.42."""
    assert read_arguments('/dev/sda', json=False) == read_arguments('/dev/sda')[1:]


@needs_smartctl
@pytest.mark.parametrize('arguments', [
    read_arguments('/dev/null'), read_arguments('/dev/null', json=False), read_arguments('/dev/null', 'scsi'),
    smartctl.SCAN, smartctl.SCAN_TEXT, smartctl.VERSION,
], ids=' '.join)
def test_the_real_smartctl_understands_every_word(runner, arguments):
    """A mistyped word would end each check with smartctl's usage text."""
    [answer] = run(runner, [(smartctl.DEFAULT, *arguments)]).values()

    assert answer.outcome == 'done'
    assert b'UNRECOGNIZED' not in answer.stdout and b'INVALID ARGUMENT' not in answer.stdout
    assert version(answer.stdout) >= (5, 42) or arguments == smartctl.SCAN_TEXT


@needs_root
def test_root_needs_no_sudo():
    """sudo as root costs time and can be forbidden."""
    assert prefix('/usr/sbin/smartctl') == ('/usr/sbin/smartctl',)


@needs_root
@needs_setpriv
def test_another_user_goes_through_sudo_without_a_question():
    """-n: a password prompt would hang until the timeout."""
    if not shutil.which('sudo', path='/usr/bin:/bin'):
        pytest.skip('sudo is not installed')
    code = 'import json; from smart_attributes.reading.smartctl import prefix\nprint(json.dumps(prefix("/usr/sbin/smartctl")))'

    sudo, *rest = run_as_nobody(code)

    assert os.path.isabs(sudo) and os.path.basename(sudo) == 'sudo'
    assert rest == ['-n', '/usr/sbin/smartctl']


@needs_root
@needs_setpriv
def test_nosudo_means_no_sudo():
    """For those who gave the plugin's user its rights another way."""
    code = 'import json; from smart_attributes.reading.smartctl import prefix\nprint(json.dumps(prefix("/x/smartctl", True)))'

    assert run_as_nobody(code) == ['/x/smartctl']


def test_importing_it_loads_none_of_the_expensive_modules():
    """The first process is started before them; typing and re cost more than all of this module."""
    code = f'import os, sys; sys.path.insert(0, {str(ROOT)!r}); old = set(sys.modules); ' \
           'import smart_attributes.smartctl; print(*set(sys.modules) - old)'
    loaded = subprocess.run([sys.executable, '-I', '-S', '-c', code], capture_output=True, text=True, check=True).stdout

    assert set(loaded.split()) - {'__future__', 'errno', 'select', 'time'} == {
        'smart_attributes', 'smart_attributes.reading.smartctl'}


# Which program

@pytest.mark.parametrize('path, words', [
    pytest.param('smartctl', 'absolute path', id='relative'),
    pytest.param('/nowhere/smartctl', 'no such file', id='missing'),
    pytest.param('/usr/bin', 'is no program', id='a-folder'),
    pytest.param('/dev/null', 'is no program', id='a-device'),
    pytest.param('/etc/passwd', 'may not execute', id='not-executable'),
    pytest.param('/usr/bin/\0', 'no such file', id='impossible'),
])
def test_a_wrong_program_is_named_with_what_to_do(path, words):
    """The sentence is all that an admin sees of it."""
    with pytest.raises(UsageError, match=words):
        check_executable(path, as_root=False)


def test_an_installed_program_is_fine():
    """Whoever runs the check; /bin may be a link to /usr/bin."""
    check_executable('/bin/sh', as_root=False)
    check_executable('/bin/sh', as_root=True)


@needs_root
def test_a_program_below_a_sticky_folder_is_as_safe_as_its_owner(fake):
    """In /tmp nobody can replace what root owns; tests and trials live there."""
    check_executable(fake.path, as_root=True)


def _belongs_to_another(folder):
    os.chown(folder / 'smartctl', NOBODY, -1)


def _in_a_folder_of_another(folder):
    os.chown(folder, NOBODY, -1)


def _writable_for_all(folder):
    (folder / 'smartctl').chmod(0o777)


def _in_a_folder_writable_for_a_group(folder):
    os.chown(folder, 0, NOBODY)
    folder.chmod(0o775)


def _behind_a_link_that_another_can_turn(folder):
    foreign = folder / 'foreign'
    foreign.mkdir()
    os.chown(foreign, NOBODY, -1)
    (foreign / 'link').symlink_to('/bin/sh')
    (folder / 'smartctl').unlink()
    (folder / 'smartctl').symlink_to('foreign/link')


@needs_root
@pytest.mark.parametrize('spoil', [_belongs_to_another, _in_a_folder_of_another, _writable_for_all,
                                   _in_a_folder_writable_for_a_group, _behind_a_link_that_another_can_turn])
def test_root_runs_no_program_that_another_could_change(fake, spoil):
    """-p in a service definition must not be a way to become root."""
    spoil(fake.folder)

    with pytest.raises(UsageError, match='root runs nothing that others can change'):
        check_executable(fake.path, as_root=True)


@needs_root
@needs_setpriv
def test_through_sudo_it_is_enough_that_the_program_exists(open_place):
    """Root will run it; this user may not be able to see it."""
    (open_place / 'hidden').mkdir(mode=0o700)
    (open_place / 'hidden' / 'smartctl').write_text('')
    (open_place / 'smartctl').write_text('')
    code = '''import json
from smart_attributes.errors import UsageError
from smart_attributes.reading.smartctl import check_executable
def fault(path, sudo):
    try:
        check_executable(path, as_root=False, through_sudo=sudo)
    except UsageError as error:
        return str(error)
print(json.dumps([fault(path, sudo) for path in sys.argv[1:] for sudo in (True, False)]))'''

    by_sudo, directly, hidden_by_sudo, hidden_directly, missing, _ = run_as_nobody(
        code, *(str(open_place / name) for name in ('smartctl', 'hidden/smartctl', 'missing')))

    assert by_sudo is None and hidden_by_sudo is None
    assert 'may not execute' in directly and 'may not look' in hidden_directly
    assert 'no such file' in missing


# What it is

@pytest.mark.parametrize('stdout, expected', [
    (b'smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n', (7, 3)),
    (b'smartctl pre-7.4 2023-03-21 r5470 [x86_64-linux-6.2.7] (CircleCI)\n', (7, 4)),
    (b'smartctl version 5.38 [x86_64-redhat-linux-gnu] Copyright (C) 2002-8 Bruce Allen\n', (5, 38)),
    (b'smartctl 5.40 2010-10-16 r3189 [x86_64-unknown-linux-gnu] (SUSE RPM)\n', (5, 40)),
    (b'{"json_format_version":[1,0],"smartctl":{"version":[7,3],"svn_revision":"5338"', (7, 3)),
    (b'{\n "json_format_version": [\n  1,\n  0\n ],\n "smartctl": {\n  "version": [\n   7,\n   1\n  ]', (7, 1)),
    (b'', ()),
    (b'smartctl', ()),
    (b'sudo: a password is required\n', ()),
    (b'\xff\xfe{"version"', ()),
])
def test_the_version_is_told_from_whatever_was_printed(stdout, expected):
    """It explains why a drive cannot be read, so it must not need a good answer."""
    assert version(stdout) == expected


_USAGE = b'''smartctl 6.5 2016-05-07 r4318 [x86_64-linux-3.10.0] (local build)
Copyright (C) 2002-16, Bruce Allen, Christian Franke, www.smartmontools.org

=======> UNRECOGNIZED OPTION: json=c

Use smartctl -h to get a usage summary
'''


@pytest.mark.parametrize('stdout, expected', [
    pytest.param(_USAGE, True, id='6.5'),
    pytest.param(_USAGE.replace(b'json=c', b'frobnicate'), False, id='another-option'),
    pytest.param(b'{"smartctl":{"messages":[{"string":"=======> UNRECOGNIZED OPTION: jsonx"}]}}', False, id='json'),
    pytest.param(b'', False, id='nothing'),
])
def test_a_smartctl_without_json_is_known_by_its_refusal(stdout, expected):
    """Then the same question is asked again for text."""
    assert is_too_old(stdout) is expected


# Processes

def test_24_drives_take_as_long_as_the_slowest(fake, runner):
    """One after the other they would take 2.4 seconds."""
    commands = [fake.answers(f'drive {number}', output=f'{number}', before='sleep 0.1') for number in range(24)]

    started = time.monotonic()
    answers = run(runner, commands)

    assert time.monotonic() - started < 1.2
    assert [answers[command].stdout for command in commands] == [b'%d' % number for number in range(24)]


def test_answers_come_as_they_are_ready(fake, runner):
    """So that parsing one drive overlaps with waiting for another."""
    slow = fake.answers('slow', before='sleep 0.5')
    quick = fake.answers('quick')

    commands = [answer.command for answer in runner.run([slow, quick], 10, 20, time.monotonic() + 25)]

    assert commands == [quick, slow]


def test_one_slow_one_hanging_and_one_dying_do_not_touch_21_others(fake, runner):
    """A drive that hangs is the very case that a check has to survive."""
    good = [fake.answers(f'good {number}', output='{}') for number in range(21)]
    slow = fake.answers('slow', output='late', before='sleep 0.4')
    hanging = fake.answers('hanging', output='never', before=IGNORES_SIGTERM)
    dying = fake.answers('dying', output='never', before=DIES)

    started = time.monotonic()
    answers = run(runner, [hanging, slow, *good, dying], drive_timeout=1.5)
    taken = time.monotonic() - started

    assert 1.5 <= taken < 2.3
    assert {answers[command].outcome for command in good} == {'done'}
    assert (answers[slow].stdout, answers[slow].status) == (b'late', 0)
    assert (answers[hanging].outcome, answers[hanging].reason) == ('timeout', 'no answer within 1.5 s')
    assert (answers[dying].outcome, answers[dying].status, answers[dying].signal) == ('done', None, 11)


def test_who_ignores_sigterm_is_killed_soon_after(fake, runner):
    """close() comes after the result is printed, and takes a second at most."""
    command = fake.answers('hanging', before=IGNORES_SIGTERM)
    run(runner, [command], drive_timeout=0.3)

    started = time.monotonic()
    runner.close()

    assert time.monotonic() - started < 2 * smartctl.GRACE + 0.2
    assert not _group_lives(fake.pids()[0])


def test_a_smartctl_of_root_is_left_behind_and_everything_else_reported(open_place):
    """Under sudo it is root's: nagios may not kill it, and must not wait for it."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        pytest.skip('only root can prepare a process that another user may not kill (setpriv)')
    # A program that becomes root altogether, as sudo does; only NOBODY's group may run it.
    as_root = open_place / 'as-root'
    shutil.copy(shutil.which('setpriv'), as_root)
    os.chown(as_root, 0, NOBODY)
    as_root.chmod(0o4710)
    fake = FakeSmartctl(open_place / 'fake')
    stuck = fake.answers('stuck', before=f'exec {as_root} --reuid=0 sleep 8')
    others = [fake.answers(f'good {number}', output='{}') for number in range(5)]
    (open_place / 'fake' / 'calls').touch(0o666)
    (open_place / 'fake' / 'calls').chmod(0o666)
    if os.statvfs(open_place).f_flag & os.ST_NOSUID:
        pytest.skip(f'{open_place} is mounted nosuid')
    code = '''import json, time
from smart_attributes.reading.smartctl import Runner
runner = Runner()
started = time.monotonic()
answers = list(runner.run([tuple(c) for c in json.loads(sys.argv[1])], 10, 1.0, started + 20))
told = time.monotonic() - started
runner.close()
print(json.dumps({'told': told, 'closed': time.monotonic() - started, 'outcomes': [a.outcome for a in answers]}))'''

    result = run_as_nobody(code, json.dumps([stuck, *others]))

    pid = fake.pids()[[call == 'stuck' for call in fake.calls()].index(True)]
    owner = Path(f'/proc/{pid}').stat().st_uid
    os.killpg(pid, 9)
    assert owner == 0  # it was still there, and root's
    assert sorted(result['outcomes']) == ['done'] * 5 + ['timeout']
    assert result['told'] < 1.5 and result['closed'] < 1.6


def test_no_more_than_jobs_run_at_once(fake, runner, tmp_path):
    """--jobs protects small machines and controllers."""
    running = tmp_path / 'running'
    running.mkdir()
    before = f'mkdir {running}/$$; ls {running} | wc -l >>{tmp_path}/counts; sleep 0.05; rmdir {running}/$$'
    commands = [fake.answers(f'drive {number}', before=before) for number in range(12)]

    run(runner, commands, jobs=3)

    counts = [int(line) for line in (tmp_path / 'counts').read_text().split()]
    assert len(counts) == 12
    assert max(counts) == 3


def test_when_the_time_for_all_is_over_each_drive_says_so(fake, runner):
    """-t: Icinga kills the plugin after a minute, and then nothing is known."""
    good = fake.answers('good')
    hanging = [fake.answers(f'hanging {number}', before=HANGS) for number in range(2)]
    never = fake.answers('never')

    started = time.monotonic()
    answers = run(runner, [good, *hanging, never], jobs=2, total=0.6)

    assert time.monotonic() - started < 1.0
    assert answers[good].outcome == 'done'
    assert {answers[command].outcome for command in hanging} == {'timeout'}
    assert 'the time for all drives' in answers[hanging[0]].reason
    assert (answers[never].outcome, answers[never].reason) == ('not started', 'its turn did not come in time')
    assert 'never' not in fake.calls()


def test_neither_zombies_nor_descriptors_are_left(fake):
    """200 drives, some of them odd, in one process."""
    commands = [fake.answers(f'drive {number}', output='x' * 1000) for number in range(190)]
    commands += [fake.answers(f'odd {number}', before=oddity) for number, oddity in enumerate(
        [HANGS, DIES, IGNORES_SIGTERM, SHUTS_PIPES_AND_LIVES_ON, LEAVES_A_CHILD] * 2)]
    before = os.listdir('/proc/self/fd')
    runner = Runner()

    answers = run(runner, commands, drive_timeout=6.0)
    runner.close()

    assert len(answers) == 200
    assert sum(answer.outcome == 'done' for answer in answers.values()) == 194
    assert len(os.listdir('/proc/self/fd')) == len(before)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_few_descriptors_only_mean_fewer_at_once(fake):
    """200 drives want 400 pipes; some services allow 64."""
    commands = [fake.answers(f'drive {number}', before='sleep 0.02') for number in range(60)]
    code = f'''import resource, sys, time
sys.path.insert(0, {str(ROOT)!r})
from smart_attributes.reading.smartctl import Runner
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
answers = Runner().run([tuple(line.split()) for line in sys.stdin], 100, 20, time.monotonic() + 25)
print(*sorted(answer.outcome for answer in answers))'''
    done = subprocess.run([sys.executable, '-c', code], input='\n'.join(map(' '.join, commands)),
                          capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.split() == ['done'] * 60


def test_the_process_gets_its_arguments_and_nothing_of_ours(fake, runner, monkeypatch):
    """No shell looks at the words, no variable changes what smartctl prints, no terminal is at hand."""
    monkeypatch.setenv('LD_PRELOAD', '')
    monkeypatch.setenv('LC_NUMERIC', 'de_DE.UTF-8')
    words = ('-d', 'megaraid,6', '$(id);*', 'a b', '')
    show = "for word; do echo \"<$word>\"; done; tr '\\0' '\\n' </proc/$$/environ; readlink /proc/$$/fd/0; " \
           "cut -d' ' -f6 /proc/$$/stat; echo $$; ls /proc/$$/fd | wc -l"
    command = fake.answers(words, before=show)

    [answer] = run(runner, [command]).values()

    lines = answer.stdout.decode().splitlines()
    assert lines[:5] == ['<-d>', '<megaraid,6>', '<$(id);*>', '<a b>', '<>']
    assert sorted(lines[5:7]) == ['LC_ALL=C', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin']
    stdin, session, pid = lines[7:10]
    assert stdin == '/dev/null'
    assert session == pid


def test_an_abandoned_smartctl_ends_when_it_writes(fake, runner):
    """Python ignores SIGPIPE; a child that inherited that would go on."""
    command = fake.answers('status', before='grep SigIgn /proc/$$/status')

    [answer] = run(runner, [command]).values()

    ignored = int(answer.stdout.split()[1], 16)
    assert not ignored & 1 << smartctl.SIGPIPE - 1


def test_an_early_start_is_picked_up(fake, runner):
    """The drive has answered while Python was importing."""
    command = fake.answers(read_arguments('/dev/sda'), output='{}')
    runner.start(command)
    time.sleep(0.2)

    started = time.monotonic()
    answers = run(runner, [command, fake.answers('other')])

    assert time.monotonic() - started < 0.5
    assert answers[command].stdout == b'{}' and answers[command].seconds >= 0.2
    assert fake.calls().count(' '.join(command[1:])) == 1


def test_an_early_start_that_nobody_wants_is_ended(fake, runner):
    """The options were read, and it is another drive."""
    unwanted, wanted = fake.answers('unwanted', before=HANGS), fake.answers('wanted')
    runner.start(unwanted)
    time.sleep(0.2)

    answers = run(runner, [wanted])
    runner.close()

    assert list(answers) == [wanted]
    assert not _group_lives(fake.pids()[0])


def test_an_early_start_that_fails_is_told_later(runner, tmp_path):
    """start() has nobody to tell it to."""
    command = (str(tmp_path / 'missing'), '--version')
    runner.start(command)

    [answer] = run(runner, [command]).values()

    assert (answer.outcome, answer.reason) == ('not started', 'No such file or directory')


def test_a_second_run_asks_what_the_first_called_for(fake, runner):
    """A scan comes before the drives, and --json before the text form."""
    assert run(runner, [fake.answers('first', output='1')])
    assert run(runner, [fake.answers('second', output='2')])
    assert fake.calls() == ['first', 'second']


def test_the_same_command_twice_is_one_process(fake, runner):
    """A drive named twice is not read twice."""
    command = fake.answers('once')

    assert len(list(runner.run([command, command], 10, 20, time.monotonic() + 25))) == 1
    assert fake.calls() == ['once']


def test_output_without_end_is_cut(fake, runner):
    """A broken smartctl must not eat the memory of the server."""
    command = fake.answers('for ever', before=PRINTS_FOR_EVER)

    [answer] = run(runner, [command]).values()

    assert answer.outcome == 'overflow'
    assert smartctl.MAX_OUTPUT <= len(answer.stdout) <= smartctl.MAX_OUTPUT + (1 << 16)


def test_noise_on_stderr_does_not_get_into_the_answer(fake, runner):
    """Libraries and sudo complain there; JSON comes on stdout."""
    command = fake.answers('noisy', output='{}', before='echo "command 2010000 returned error status c" >&2')

    [answer] = run(runner, [command]).values()

    assert (answer.stdout, answer.stderr) == (b'{}', b'command 2010000 returned error status c\n')


@pytest.mark.parametrize('output, status', [(b'', 0), (b'{"smartctl":{"ver', 4), (b'\xff\0\n', 255)],
                         ids=['nothing', 'half-json', 'garbage'])
def test_whatever_was_printed_is_handed_on_as_it_is(fake, runner, output, status):
    """Making sense of it is somebody else's task."""
    [answer] = run(runner, [fake.answers('odd', output=output, status=status)]).values()

    assert (answer.outcome, answer.stdout, answer.status, answer.signal) == ('done', output, status, None)


def test_shut_pipes_are_no_end_as_long_as_the_process_lives(fake, runner):
    """Its exit status is missing, so what it printed may be half the truth."""
    command = fake.answers('odd', output='{}', after=SHUTS_PIPES_AND_LIVES_ON)

    [answer] = run(runner, [command], drive_timeout=0.5).values()

    assert (answer.outcome, answer.status, answer.stdout) == ('timeout', None, b'{}')


def test_a_child_that_keeps_the_pipe_is_not_waited_for(fake, runner):
    """smartctl itself has ended, and that counts."""
    command = fake.answers('odd', output='{}', before=LEAVES_A_CHILD)

    [answer] = run(runner, [command]).values()

    assert (answer.outcome, answer.status, answer.stdout) == ('done', 0, b'{}')
    assert answer.seconds < 1.5


def test_time_that_the_caller_takes_is_not_held_against_a_drive(fake, runner):
    """Parsing one answer must not make another one late that has long been there."""
    first, second = fake.answers('first'), fake.answers('second', output='x' * 30000, before='sleep 0.2')
    answers = []
    for answer in runner.run([first, second], 10, 0.6, time.monotonic() + 25):
        answers.append(answer)
        time.sleep(0.8)

    assert [answer.outcome for answer in answers] == ['done', 'done']


@pytest.mark.parametrize('content, mode, reason', [
    pytest.param('', 0o644, 'Permission denied', id='not-executable'),
    pytest.param('no script', 0o755, 'Exec format error', id='no-program'),
])
def test_what_cannot_be_started_says_why(runner, tmp_path, content, mode, reason):
    """The words are the system's; the next step is added where they are told."""
    program = tmp_path / 'smartctl'
    program.write_text(content)
    program.chmod(mode)

    [answer] = run(runner, [(str(program),)]).values()

    assert (answer.outcome, answer.reason) == ('not started', reason)


def _group_lives(pid):
    """Tell whether a process of the group is anything but a zombie."""
    for entry in Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = entry.read_text().rpartition(')')[2].split()
        except OSError:
            continue
        if int(fields[2]) == pid and fields[0] != 'Z':
            return True
    return False


def test_the_stand_in_is_a_plain_script(fake):
    """What the tests prove is proved with processes, so the stand-in has to be one."""
    assert stat.S_IMODE(os.stat(fake.path).st_mode) == 0o755
    assert Path(fake.path).read_text().startswith('#!/bin/sh\n')
