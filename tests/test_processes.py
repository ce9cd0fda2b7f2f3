"""Processes of smartctl: those that answer, hang, die or never end."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm
from conftest import ROOT
from fake_smartctl import (
    DIES,
    HANGS,
    IGNORES_SIGTERM,
    LEAVES_A_CHILD,
    PRINTS_FOR_EVER,
    SHUTS_PIPES_AND_LIVES_ON,
)

from smart_attributes.reading import processes
from smart_attributes.reading.processes import Runner
from smart_attributes.reading.smartctl_calls import read_arguments

pytestmark = pytest.mark.xdist_group('time')


@pytest.fixture
def runner():
    runner = Runner()
    yield runner
    runner.close()


def run(runner, commands, drive_timeout=20.0, total=25.0):
    """Return the answers by command."""
    answers = runner.run(commands, drive_timeout, time.monotonic() + total)
    return {answer.command: answer for answer in answers}


def test_importing_it_loads_none_of_the_expensive_modules():
    """The first process is started before them; typing and re cost more than all of this module."""
    code = (
        f'import os, sys; sys.path.insert(0, {str(ROOT)!r}); old = set(sys.modules); '
        'import smart_attributes.reading.processes; print(*set(sys.modules) - old)'
    )
    loaded = subprocess.run(
        [sys.executable, '-I', '-S', '-c', code],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert set(loaded.split()) - {'__future__', 'errno', 'fcntl', 'select', 'time'} == {
        'smart_attributes',
        'smart_attributes.constants',
        'smart_attributes.files',
        'smart_attributes.trust',
        'smart_attributes.state_directory',
        'smart_attributes.reading',
        'smart_attributes.reading.smartctl_calls',
        'smart_attributes.reading.processes',
        'smart_attributes.reading.drive_locks',
    }


def test_answers_come_as_they_are_ready(fake, runner):
    """So that parsing one drive overlaps with waiting for another."""
    slow = fake.answers('slow', before='sleep 0.5')
    quick = fake.answers('quick')

    commands = [
        answer.command
        for answer in runner.run([slow, quick], 20, time.monotonic() + 25)
    ]

    assert commands == [quick, slow]


def test_one_slow_one_hanging_and_one_dying_do_not_touch_21_others(fake, runner):
    """A drive that hangs is the very case that a check has to survive."""
    good = [fake.answers(f'good {number}', output='{}') for number in range(21)]
    slow = fake.answers('slow', output='late', before='sleep 0.4')
    hanging = fake.answers('hanging', output='never', before=IGNORES_SIGTERM)
    dying = fake.answers('dying', output='never', before=DIES)

    answers = run(runner, [hanging, slow, *good, dying], drive_timeout=1.5)

    assert {answers[command].outcome for command in good} == {'done'}
    assert (answers[slow].stdout, answers[slow].status) == (b'late', 0)
    assert answers[hanging].outcome == 'timeout' and ' 1.5 s' in answers[hanging].reason
    died = answers[dying]
    assert (died.outcome, died.status, died.signal) == ('done', None, signal.SIGSEGV)


def test_who_ignores_sigterm_is_killed_soon_after(fake, runner):
    """close() comes after the result is printed."""
    command = fake.answers('hanging', before=IGNORES_SIGTERM)
    run(runner, [command], drive_timeout=0.3)

    runner.close()

    assert not group_lives(fake.pids()[0])


def test_no_more_processes_run_at_once_than_allowed(
    fake, runner, tmp_path, monkeypatch
):
    """This protects small machines and controllers."""
    running = tmp_path / 'running'
    running.mkdir()
    before = (
        f'mkdir {running}/$$; ls {running} | wc -l >>{tmp_path}/counts; sleep 0.05; '
        f'rmdir {running}/$$'
    )
    commands = [fake.answers(f'drive {number}', before=before) for number in range(12)]

    monkeypatch.setattr(processes, 'PARALLEL', 3)
    run(runner, commands)

    counts = [int(line) for line in (tmp_path / 'counts').read_text().split()]
    assert len(counts) == 12
    assert max(counts) == 3


def test_when_the_time_for_all_is_over_each_drive_says_so(fake, runner, monkeypatch):
    """-t: Icinga kills the plugin after a minute, and then nothing is known."""
    good = fake.answers('good')
    hanging = [fake.answers(f'hanging {number}', before=HANGS) for number in range(2)]
    never = fake.answers('never')

    monkeypatch.setattr(processes, 'PARALLEL', 2)
    answers = run(runner, [good, *hanging, never], total=0.6)

    assert [answers[command].outcome for command in (good, *hanging, never)] == [
        'done',
        *['cut short'] * 2,
        'too late',
    ]
    assert (
        'overall' in answers[hanging[0]].reason and 'its turn' in answers[never].reason
    )
    assert 'never' not in fake.calls()


def test_neither_zombies_nor_descriptors_are_left(fake):
    """Some of the drives are odd."""
    oddities = [HANGS, DIES, IGNORES_SIGTERM, SHUTS_PIPES_AND_LIVES_ON, LEAVES_A_CHILD]
    commands = [
        fake.answers(f'drive {number}', output='x' * 1000, before=oddity)
        for number, oddity in enumerate([''] * 15 + oddities)
    ]
    before = os.listdir('/proc/self/fd')
    runner = Runner()

    answers = run(runner, commands, drive_timeout=5.0)
    runner.close()

    assert (
        sorted(answer.outcome for answer in answers.values())
        == ['done'] * 17 + ['timeout'] * 3
    )
    assert len(os.listdir('/proc/self/fd')) == len(before)
    warm.stop()  # a child that is none of the program
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_few_descriptors_only_mean_fewer_at_once(fake):
    """200 drives want 400 pipes; some services allow 64."""
    commands = [
        fake.answers(f'drive {number}', before='sleep 0.02') for number in range(30)
    ]
    code = f"""import resource, sys, time
sys.path.insert(0, {str(ROOT)!r})
from smart_attributes.reading.processes import Runner
resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
answers = Runner().run([tuple(line.split()) for line in sys.stdin], 20, time.monotonic() + 25)
print(*sorted(answer.outcome for answer in answers))"""
    printed = subprocess.check_output(
        [sys.executable, '-c', code],
        input='\n'.join(map(' '.join, commands)),
        text=True,
    )

    assert printed.split() == ['done'] * 30


@pytest.mark.parametrize(
    ('load', 'lower'), [(3.9, processes.NICENESS), (4.0, 0)], ids=['idle', 'busy']
)
def test_the_process_gets_its_arguments_and_nothing_of_ours(
    fake, runner, monkeypatch, load, lower
):
    """No shell looks at the words, no variable changes what smartctl prints, no signal to us
    reaches it.

    On a busy host, its priority is not lowered.
    """
    monkeypatch.setattr(os, 'getloadavg', lambda: (load * os.cpu_count(), 0, 0))
    monkeypatch.setenv('LD_PRELOAD', '')
    monkeypatch.setenv('LC_NUMERIC', 'de_DE.UTF-8')
    priorities = []
    monkeypatch.setattr(
        os, 'setpriority', lambda _, pid, lower: priorities.append((pid, lower))
    )
    words = ('-d', 'megaraid,6', '$(id);*', 'a b', '')
    show = (
        "for word; do echo \"<$word>\"; done; tr '\\0' '\\n' </proc/$$/environ; readlink "
        '/proc/$$/fd/0; '
        "cut -d' ' -f5 /proc/$$/stat; echo $$; ls /proc/$$/fd | wc -l"
    )
    command = fake.answers(words, before=show)

    [answer] = run(runner, [command]).values()

    lines = answer.stdout.decode().splitlines()
    assert lines[:5] == ['<-d>', '<megaraid,6>', '<$(id);*>', '<a b>', '<>']
    assert sorted(lines[5:7]) == ['LC_ALL=C', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin']
    stdin, group, pid = lines[7:10]
    assert stdin == '/dev/null'
    assert group == pid
    assert priorities == ([(int(pid), os.nice(0) + lower)] if lower else [])


def test_sudo_gets_a_session_of_its_own_without_our_terminal(fake, runner):
    command = fake.answers(
        ('-n', 'smartctl'), before="cut -d' ' -f5,6,19 /proc/$$/stat; echo $$"
    )
    [answer] = run(runner, [command]).values()

    stat, pid = answer.stdout.decode().splitlines()[:2]
    assert stat == f'{pid} {pid} {os.nice(0)}'


def test_an_abandoned_smartctl_ends_when_it_writes(fake, runner):
    """Python ignores SIGPIPE; a child that inherited that would go on."""
    command = fake.answers('status', before='grep SigIgn /proc/$$/status')

    [answer] = run(runner, [command]).values()

    ignored = int(answer.stdout.split()[1], 16)
    assert not ignored & 1 << processes.SIGPIPE - 1


def test_an_early_start_is_picked_up(fake, runner):
    """The drive has answered while Python was importing."""
    command = fake.answers(read_arguments('/dev/sda'), output='{}')
    runner.start(command)
    time.sleep(0.2)

    answers = run(runner, [command, fake.answers('other')])

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
    assert not group_lives(fake.pids()[0])


def test_a_second_run_asks_what_the_first_called_for(fake, runner):
    """A scan comes before the drives, and --json before the text form. A drive named twice is
    not read twice.
    """
    first, second = fake.answers('first'), fake.answers('second')
    counts = [
        len(list(runner.run(commands, 20, time.monotonic() + 25)))
        for commands in ([first, first], [second])
    ]

    assert (counts, fake.calls()) == ([1, 1], ['first', 'second'])


def test_output_without_end_is_cut(fake, runner):
    """A broken smartctl must not eat the history of the server."""
    command = fake.answers('for ever', before=PRINTS_FOR_EVER)

    [answer] = run(runner, [command]).values()

    assert answer.outcome == 'overflow'
    assert (
        processes.LARGEST_FILE
        <= len(answer.stdout)
        <= processes.LARGEST_FILE + (1 << 16)
    )


def test_complaints_without_end_are_cut_as_well_and_keep_nobody_from_being_heard(
    fake, runner
):
    """What is no answer is read and forgotten until its time is over; the drive beside it
    answers at once.
    """
    endless = fake.answers('complains', before='yes "a complaint" >&2')
    other = fake.answers('other', output='{}', before='sleep 0.1')

    answers = run(runner, [endless, other], drive_timeout=1)

    assert answers[endless].outcome == 'timeout'
    assert (
        processes.LARGEST_FILE
        <= len(answers[endless].stderr)
        <= processes.LARGEST_FILE + (1 << 16)
    )
    assert answers[other].outcome == 'done'


def test_what_stands_in_a_pipe_is_an_answer_however_late_it_is_taken(fake, runner):
    """Whoever calls is busy with the answers before, until long after the time of this drive is
    over.
    """
    busy, other = (
        fake.answers('first'),
        fake.answers('second', output='{}' * 20_000, before='sleep 0.2'),
    )
    answers = runner.run([busy, other], 2, time.monotonic() + 25)
    assert next(answers).command == busy
    time.sleep(2.5)

    assert next(answers).outcome == 'done'


@pytest.mark.parametrize(
    'output, status',
    [(b'{"smartctl":{"ver', 4), (b'\xff\0\n', 255)],
    ids=['half-json', 'garbage'],
)
def test_whatever_was_printed_is_handed_on_as_it_is(fake, runner, output, status):
    """Making sense of it is somebody else's task. Libraries and sudo complain on stderr."""
    command = fake.answers('odd', output, status, before='echo noise >&2')

    [answer] = run(runner, [command]).values()

    assert (
        answer.outcome,
        answer.stdout,
        answer.stderr,
        answer.status,
        answer.signal,
    ) == (
        'done',
        output,
        b'noise\n',
        status,
        None,
    )


def test_the_end_of_smartctl_itself_counts(fake, runner):
    """If only its pipes are shut, its exit status is missing, and what it printed may be half
    the truth; a child that keeps the pipe is not waited for.
    """
    shut = fake.answers('shut', output='{}', after=SHUTS_PIPES_AND_LIVES_ON)
    parent = fake.answers('parent', output='{}', before=LEAVES_A_CHILD)

    answers = run(runner, [shut, parent], drive_timeout=0.9)

    assert [
        (answers[command].outcome, answers[command].status, answers[command].stdout)
        for command in (shut, parent)
    ] == [('timeout', None, b'{}'), ('done', 0, b'{}')]


@pytest.mark.parametrize(
    'content, mode, number',
    [
        (None, 0, errno.ENOENT),
        ('', 0o644, errno.EACCES),
        ('no script', 0o755, errno.ENOEXEC),
    ],
    ids=['missing', 'not-executable', 'no-program'],
)
def test_what_cannot_be_started_says_why(runner, tmp_path, content, mode, number):
    """The words are the system's; the next step is added where they are told. An early start has
    nobody to tell them to.
    """
    program = tmp_path / 'smartctl'
    if content is not None:
        program.write_text(content)
        program.chmod(mode)
    runner.start((str(program),))

    [answer] = run(runner, [(str(program),)]).values()

    assert (answer.outcome, answer.reason) == ('not started', os.strerror(number))


def group_lives(pid):
    """Tell whether a process of the group is anything but a zombie; a busy kernel ends killed
    ones a moment later.
    """
    end = time.monotonic() + 1
    while _is_running(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return _is_running(pid)


def _is_running(pid):
    for entry in Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = entry.read_text().rpartition(')')[2].split()
        except OSError:
            continue
        if int(fields[2]) == pid and fields[0] != 'Z':
            return True
    return False
