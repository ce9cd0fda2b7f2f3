"""The early start: what is surely wanted, in every spelling, and never more at once than
PARALLEL.
"""

import described
import early
import pytest
from conftest import drive, run_in_parallel
from fake_smartctl import FakeSmartctl

from smart_attributes import files
from smart_attributes.reading import fast_path, smartctl_calls
from smart_attributes.reading.smartctl_calls import SCAN, read_arguments

FLAGS = {spelling for spellings in fast_path.FLAGS for spelling in spellings}
WITH_VALUE = {spelling for spellings in fast_path.WITH_VALUE for spelling in spellings}
OF_A_CHECK = {
    spelling
    for action in described.whole_parser('check')._actions
    for spelling in action.option_strings
}
ACTIONS = [
    action
    for job in ('check', 'triage')
    for action in described.whole_parser(job)._actions
]
# Options that may forbid reading a drive, change the meaning of others, or need no smartctl at all.
DECIDING = (
    '--config',
    '--attributes',
    '-dbj',
    '--dbjson',
    '--thresholds',
    '--report',
    '--match',
    '--ignore',
    '-r',
    '--regex',
    '-O',
    '--options',
    '-ucfgj',
    '--ucfgjson',
    '-V',
    '--version',
    '-h',
    '--help',
    '--help-all',
)


def sure(words):
    """Return the arguments of what is started early, with a program that exists."""
    started = early.commands([*words.split(), '-p', '/bin/true', '--nosudo'])
    return [command[command.index('/bin/true') + 1 :] for command in started]


@pytest.mark.parametrize('action', ACTIONS, ids=lambda action: action.dest)
def test_every_spelling_of_every_option_is_known_to_the_early_start(action):
    """A check with an option that it has not heard of starts its drives 30 ms late, and nobody
    notices.

    Options of triage alone may be missing: a person does not feel 30 ms.
    """
    known, other = (FLAGS, WITH_VALUE) if action.nargs == 0 else (WITH_VALUE, FLAGS)
    for spelling in action.option_strings:
        if spelling not in DECIDING:
            assert spelling not in other, spelling
            assert spelling in known or spelling not in OF_A_CHECK, spelling


def test_the_early_start_knows_no_option_that_is_none():
    """And -vv, which is twice -v. It does not know the options that may forbid a drive."""
    known = {spelling for action in ACTIONS for spelling in action.option_strings}

    assert {*FLAGS, *WITH_VALUE, *DECIDING} - known == {'-vv', '-vvv', '-nosudo'}
    assert {*FLAGS, *WITH_VALUE}.isdisjoint(DECIDING)


@pytest.mark.parametrize(
    'words, expected',
    [
        # as Icinga's own CheckCommand writes it
        ('-d /dev/sda --critical_on_unknown', [read_arguments('/dev/sda')]),
        ('-d /dev/sda --expect=1 --label=wwn', [read_arguments('/dev/sda')]),
        ('--scan', [SCAN]),
        ('--scan -d /dev/sda', [SCAN]),
        ('--nosudo -d /dev/sda', [read_arguments('/dev/sda')]),
        ('triage', [SCAN]),
        ('--device=/dev/sda', [read_arguments('/dev/sda')]),
        ('-d', []),
        ('-d /dev/sda triage', []),
        ('--verbose=1 -d /dev/sda', []),
        ('-d sat@/dev/sda', [read_arguments('/dev/sda', 'sat')]),
        ('-d usbjmicron@/dev/sda', []),
        ('-d megaraid,4@/dev/bus/0', []),
        ('-d /dev/sda --thresholds /nonexistent', []),
    ],
)
def test_what_is_sure(words, expected):
    """A guess that is wrong costs a process; one that is missing costs time."""
    assert sure(words) == expected


@pytest.mark.parametrize(
    'path, is_plain',
    [
        ('/dev/sda', True),
        ('/dev/nvme0', True),
        ('/dev/sg3', True),
        ('/dev/bus/0', False),
        ('/dev/md0', False),
        ('/dev/disk/sda', False),
        ('/dev/sd-a', False),
        ('/dev/sd\u00e4', False),
        ('sda', False),
        ('', False),
    ],
)
def test_a_plain_path_is_that_of_a_disk(path, is_plain):
    assert fast_path._is_plain_path(path) is is_plain


@pytest.mark.parametrize(
    'is_root, nosudo, begin',
    [
        (True, False, ('/sbin/smartctl',)),
        (False, True, ('/sbin/smartctl',)),
        (False, False, ('/usr/bin/sudo', '-n', '/sbin/smartctl')),
    ],
)
def test_a_user_starts_smartctl_through_sudo(monkeypatch, is_root, nosudo, begin):
    checked = []
    monkeypatch.setattr(fast_path.os, 'geteuid', lambda: 0 if is_root else 1000)
    monkeypatch.setattr(smartctl_calls, 'find_sudo', lambda: '/usr/bin/sudo')
    monkeypatch.setattr(
        smartctl_calls,
        'check_executable',
        lambda *given, **how: checked.append((given, how)),
    )
    words = [
        '-p',
        '/sbin/smartctl',
        '-d',
        '/dev/sda',
    ]
    words += ['--nosudo'] if nosudo else []
    [command] = fast_path._commands(fast_path._option_values(words))

    assert command == (*begin, *read_arguments('/dev/sda'))
    assert checked == [(('/sbin/smartctl', is_root), {'through_sudo': len(begin) > 1})]


@pytest.mark.parametrize(
    'words, expected',
    [
        (['--scan'], ['']),
        (['--state-dir', '/a', '--state-dir=/b'], ['/b']),
        (['-d'], []),
    ],
)
def test_locks_are_looked_for_in_the_state_folder_before_anything_starts(
    words, expected
):
    listener = early.Listener()
    fast_path.start(['-p', '/bin/true', '--nosudo', *words], listener)

    assert listener.state_dirs == expected


@pytest.mark.parametrize(
    'name', ['attributes.json', 'attributes.d/site.json', 'thresholds.d/site.json']
)
def test_a_site_that_may_protect_a_drive_waits(tmp_path, monkeypatch, name):
    """Its files are read after the command line."""
    monkeypatch.setattr(files, 'CONFIG', str(tmp_path))
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    (file.parent / 'README').touch()

    assert sure('-d /dev/sda') == [read_arguments('/dev/sda')]
    file.touch()
    assert (sure('-d /dev/sda'), sure('--scan')) == ([], [SCAN])


@pytest.mark.parametrize('most', [1, 3])
def test_80_drives_never_make_more_processes_at_once_than_allowed(tmp_path, most):
    """This protects small machines and controllers, from the first process on."""
    fake = FakeSmartctl(tmp_path / 'fake')
    running, counts = tmp_path / 'running', tmp_path / 'counts'
    running.mkdir()
    names = [
        f'/dev/sd{first}{second}'
        for first in 'abcd'
        for second in 'abcdefghijklmnopqrst'
    ]
    for name in names:
        fake.answers(
            read_arguments(name),
            drive('intel-worn'),
            before=f'mkdir {running}/$$; ls {running} | wc -l >>{counts}',
            after=f'rmdir {running}/$$',
        )

    result = run_in_parallel(
        most,
        '-p',
        fake.path,
        '--nosudo',
        *(word for name in names for word in ('-d', name)),
    )

    seen = [int(line) for line in counts.read_text().split()]
    assert (len(seen), max(seen) <= most) == (80, True)
    assert result.code == 1


def test_a_drive_that_is_being_ended_still_counts(tmp_path):
    """The next command into a controller waits until the one that hung is gone, or cannot be
    ended.
    """
    fake = FakeSmartctl(tmp_path / 'fake')
    trace = tmp_path / 'trace'
    fake.answers(
        read_arguments('/dev/sda'),
        before=f"trap 'sleep 0.3; echo over >>{trace}; exit' TERM; sleep 20 & wait",
    )
    fake.answers(
        read_arguments('/dev/sdb'), drive('intel-worn'), before=f'echo next >>{trace}'
    )

    run_in_parallel(
        1,
        '-p',
        fake.path,
        '--nosudo',
        '--drive-timeout',
        '2',
        '-d',
        '/dev/sda',
        '-d',
        '/dev/sdb',
    )

    assert trace.read_text().split() == ['over', 'next']
