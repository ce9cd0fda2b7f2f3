"""How the plugin leaves: an answer in any locale, and not before it has been read."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import abilities
import pytest
import zipped
from conftest import NOBODY, ROOT, drive, drive_path
from fake_smartctl import FakeSmartctl

from smart_attributes import main
from smart_attributes.command_line import failure_document

# -X utf8=0 and no coercion: a Python that believes its locale, as version 3.9 under ISO-8859-1
# does.
LOCALES = {
    'ascii': {'LC_ALL': 'C', 'PYTHONCOERCECLOCALE': '0', 'PYTHONUTF8': '0'},
    'latin-1': {'PYTHONIOENCODING': 'latin-1'},
    'strict-ascii': {'PYTHONIOENCODING': 'ascii:strict'},
}
PLUGIN = [sys.executable, str(ROOT / 'check_smart_attributes')]


def in_locale(locale: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PLUGIN, *arguments],
        capture_output=True,
        timeout=60,
        env={
            'PATH': '/usr/bin:/bin',
            'XDG_STATE_HOME': os.environ['XDG_STATE_HOME'],
            **LOCALES[locale],
        },
    )


@pytest.fixture
def foreign(tmp_path) -> str:
    """A failed drive whose model is written in letters that Latin-1 has not."""
    report = json.loads(drive('hgst-failed'))
    report['model_name'] = '硬盘 “X1”'
    path = tmp_path / 'foreign.json'
    path.write_text(json.dumps(report))
    return str(path)


@pytest.mark.parametrize('locale', LOCALES)
@pytest.mark.parametrize(
    'command, code',
    [
        ((), 2),
        (('-v',), 2),
        (('triage',), 0),
        (('explain',), 0),
        (('list',), 0),
        (('draft',), 0),
    ],
    ids=lambda command: '-'.join(command) if isinstance(command, tuple) else None,
)
def test_a_model_that_the_locale_cannot_write_costs_no_verdict(
    foreign, locale, command, code
):
    """A FAILED drive was UNKNOWN, with words about codecs, because its model was Chinese."""
    done = in_locale(locale, *command, '--report', foreign)

    assert done.returncode == code
    assert b'UnicodeEncodeError' not in done.stdout + done.stderr
    assert done.stdout


@pytest.mark.parametrize('locale', LOCALES)
def test_a_mistake_that_the_locale_cannot_write_is_still_told(locale, tmp_path):
    """The sentence itself may hold what a locale lacks; a traceback ends with 1, which means
    WARNING.
    """
    limits = tmp_path / 'limits.json'
    limits.write_text('{"metrics": {"temperature": {"warning": "%s"}}}' % ('9' * 300))

    done = in_locale(locale, '--report', 'x', '--thresholds', str(limits))

    assert done.returncode == 3
    assert done.stdout.startswith(
        b'SMART UNKNOWN - [configuration-error] limits.json: '
    )


def leaving(seconds: float) -> subprocess.Popen[bytes]:
    """Return the plugin, started, *seconds* after it has answered."""
    plugin = subprocess.Popen([*PLUGIN, '-V'], stdout=subprocess.PIPE)
    assert plugin.stdout and select.select([plugin.stdout], [], [], 60)[0]
    time.sleep(seconds)
    return plugin


def test_the_plugin_stays_until_its_answer_has_been_read():
    """Nagios 4.4 drops what it has not read of a plugin that has gone, beyond 4 to 8 kB, at
    random.
    """
    with leaving(0.06) as plugin:
        assert plugin.poll() is None, 'left before its answer was read'
        assert plugin.stdout.read().startswith(b'check_smart_attributes ')


def test_the_plugin_does_not_wait_for_ever_for_a_reader():
    """A daemon that never reads must not keep processes."""
    with leaving(0) as plugin:
        assert plugin.wait(timeout=20) == 0


@pytest.mark.xdist_group('time')
@pytest.mark.parametrize(
    'work', ['1 / 0', 'time.sleep(50)', 'os.kill(os.getpid(), 15)', 'sys.exit(2)']
)
def test_what_is_done_after_the_answer_neither_changes_nor_delays_it(work):
    """History is written when the result is out: whatever becomes of that, the daemon has its
    answer in time.
    """
    code = (
        'import os, sys, time\nfrom smart_attributes import main\n'
        'def run(argv, runner):\n    main.alarm.obey(); runner.later.append(lambda: eval(sys.argv[1]))\n  '
        '  '
        'print("answer"); return 1\n'
        'main.run = run\nmain.main()'
    )
    done = subprocess.run(
        [sys.executable, '-c', code, work],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert (done.returncode, done.stdout) == (1, 'answer\n')


# --- what keeps it from starting ------------------------------------------------------------------

NO_CACHE = shutil.ignore_patterns('__pycache__')
REPORT = drive_path('intel-worn')
LAUNCHERS = ('check_smart_attributes', 'tools/launcher', 'tools/zipapp_main.py')


def install(folder: Path, launcher: str) -> Path:
    """Return a program that is started by one of our launchers, with modules of its own below
    *folder*/modules.
    """
    modules = folder / 'modules'
    shutil.copytree(
        ROOT / 'smart_attributes', modules / 'smart_attributes', ignore=NO_CACHE
    )
    shutil.copytree(ROOT / 'thresholds', modules / 'thresholds')
    shutil.copy(ROOT / 'attributes.json', modules)
    text = (ROOT / launcher).read_text()
    if launcher == 'tools/launcher':
        text = launcher_of_a_clone(folder / 'venv', modules)
    program = modules / 'check_smart_attributes'
    program.write_text(text)
    program.chmod(0o755)
    return program


def launcher_of_a_clone(venv: Path, clone: Path) -> str:
    """Return the start script that tools/launcher writes."""
    (venv / 'bin').mkdir(parents=True)
    (venv / 'bin/python3').symlink_to('/usr/bin/python3')
    (clone / 'tools').mkdir()
    shutil.copy(ROOT / 'tools/launcher', clone / 'tools')
    subprocess.run(['sh', str(clone / 'tools/launcher'), str(venv)], check=True)
    return (venv / 'bin/check_smart_attributes').read_text()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200] + b'"""')


DAMAGES = {
    'no-module': lambda modules: shutil.rmtree(modules),
    'unreadable-package': lambda modules: modules.chmod(0o700),
    'unreadable-module': lambda modules: (modules / 'main.py').chmod(0o600),
    'unreadable-module-later': lambda modules: (modules / 'commands/table.py').chmod(
        0o600
    ),
    'unreadable-documents': lambda modules: [
        (modules / 'command_line' / name).chmod(0o600)
        for name in ('failure_document.py', 'options.py')
    ],
    'unreadable-face': lambda modules: (modules / 'output').chmod(0o700),
    'cut-module': lambda modules: cut(modules / 'alarm.py'),
    'cut-module-later': lambda modules: cut(modules / 'check/survey.py'),
    'a-mistake': lambda modules: (modules / 'main.py').write_text('1 / 0'),
}


@abilities.other_user
@pytest.mark.parametrize(
    'launcher, damage',
    [
        *((LAUNCHERS[0], damage) for damage in DAMAGES),
        *(
            (launcher, damage)
            for launcher in LAUNCHERS[1:3]
            for damage in ('no-module', 'cut-module-later')
        ),
    ],
)
def test_a_program_that_cannot_start_is_unknown_and_says_why(
    open_place, launcher, damage
):
    """As nagios; a traceback would end with 1, which is WARNING, and nothing to read."""
    abilities.skip_without(
        abilities.no_system_python() if damage == 'unreadable-face' else ''
    )
    program = install(open_place, launcher)
    DAMAGES[damage](program.parent / 'smart_attributes')
    as_nobody = [
        'setpriv',
        f'--reuid={NOBODY}',
        f'--regid={NOBODY}',
        '--clear-groups',
        '/usr/bin/python3',
        '-B',
    ]
    for arguments in (['--report', REPORT], ['triage', '--json', '--report', REPORT]):
        done = subprocess.run(
            [*as_nobody, str(program), *arguments],
            capture_output=True,
            text=True,
            cwd='/',
        )

        assert done.returncode == 3 and done.stderr == '', done.stderr
        words = (
            done.stdout
            if '--json' not in arguments
            else json.loads(done.stdout)['error']
        )
        assert (
            'check_smart_attributes cannot start: ' in words and 'reinstall it' in words
        ), words
        assert len(done.stdout.splitlines()) == 1 or '--json' in arguments
        assert '--json' in arguments or done.stdout.startswith('SMART UNKNOWN - ')


@pytest.mark.parametrize('other', ['words.py', 'check/survey.py'])
def test_a_damage_of_a_module_that_knows_the_repair_is_told_too(tmp_path, other):
    """The output was empty: the error of the fallback itself was lost."""
    program = install(tmp_path, 'check_smart_attributes')
    modules = tmp_path / 'modules/smart_attributes'
    (modules / other).unlink()

    done = subprocess.run(
        [sys.executable, '-B', str(program), '--report', REPORT],
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (3, '')
    assert done.stdout.startswith('SMART UNKNOWN - [plugin-damaged] ')
    assert done.stdout.endswith(f' chmod -R a+rX {modules}\n')


@pytest.mark.parametrize('damage', ['missing', 'damaged'])
def test_a_damaged_single_file_is_unknown_and_says_why(tmp_path, damage):
    """A download that lost bytes, where Python still finds the start of the program."""
    stage = tmp_path / 'stage'
    shutil.copytree(
        ROOT / 'smart_attributes', stage / 'smart_attributes', ignore=NO_CACHE
    )
    shutil.copy(ROOT / 'tools/zipapp_main.py', stage / '__main__.py')
    if damage == 'missing':
        (stage / 'smart_attributes/main.py').unlink()
    zipped.write(stage, tmp_path / 'program.pyz', 1_700_000_000)
    if damage == 'damaged':
        data = bytearray((tmp_path / 'program.pyz').read_bytes())
        place = data.index(b'smart_attributes/main.py') + 200
        data[place : place + 200] = bytes(200)
        (tmp_path / 'program.pyz').write_bytes(data)

    done = subprocess.run(
        [sys.executable, '-IS', str(tmp_path / 'program.pyz'), '-V'],
        capture_output=True,
        text=True,
    )

    assert done.returncode == 3 and done.stderr == '', done.stderr
    assert done.stdout.startswith(
        'SMART UNKNOWN - [plugin-damaged] check_smart_attributes cannot start: '
    )


OLD = """
import runpy, sys
sys.argv.append('-V')
sys.argv.pop(0)
sys.version_info = tuple(map(int, {version!r}.split('.')))
runpy.run_path(sys.argv[0], run_name='__main__')
"""


@pytest.mark.parametrize('version', ['3.6.8', '3.8.10'])
@pytest.mark.parametrize('launcher', LAUNCHERS[:2])
def test_an_older_python_is_unknown_and_says_which_is_needed(
    open_place, launcher, version
):
    """Debian 10 has 3.7, RHEL 8 has 3.6.

    Without this line, 3.8 printed the version, and no check could run.
    """
    program = install(open_place, launcher)
    done = subprocess.run(
        [sys.executable, '-I', '-B', '-c', OLD.format(version=version), str(program)],
        capture_output=True,
        text=True,
    )

    assert done.returncode == 3 and done.stderr == ''
    assert f' this is {version[:3]};' in done.stdout, done.stdout
    assert len(done.stdout.splitlines()) == 1


def test_all_launchers_fail_alike():
    """The text stands in each, since nothing can be imported when it is needed."""
    blocks = {
        re.search(
            r'^try:\n    from smart_attributes.main.*?sys\.exit\(.*?\)\n',
            (ROOT / name).read_text(),
            re.DOTALL | re.MULTILINE,
        )[0]
        .replace('{{', '{')
        .replace('}}', '}')
        for name in LAUNCHERS
    }

    assert len(blocks) == 1


# --- JSON in every case ---------------------------------------------------------------------------


def document(*words: str, code: int = 3, **more) -> dict:
    """Return the one JSON document that a command line prints."""
    done = subprocess.run(
        [sys.executable, '-I', str(ROOT / 'check_smart_attributes'), *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={
            'PATH': '/usr/bin:/bin',
            'LC_ALL': 'C',
            'XDG_STATE_HOME': os.environ['XDG_STATE_HOME'],
        },
        **more,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize('command', [('triage',), ('fleet',), ()])
@pytest.mark.parametrize(
    'words',
    [
        ['--json', '--no-such-option'],
        ['--json=yes'],
        ['--json', '-t', 'x'],
        ['-t', '--json'],
    ],
    ids='_'.join,
)
def test_a_mistake_in_a_command_line_that_asks_for_json_is_a_document(command, words):
    """Whoever parses it must not meet a sentence."""
    told = document(*command, *words)

    assert told['version'] == 2 and told['state'] == 'UNKNOWN' and told['error']
    assert told.get('findings', told.get('drives', [])) == []


@pytest.mark.parametrize(
    'words',
    [
        ['triage', '-p', '/nowhere/smartctl', '--nosudo', '-d', '/dev/sda'],
        ['triage', '--report', '{empty}'],
        ['history', '-d', '/dev/sda', '-p', '{fake}'],
        ['fleet'],
        ['doctor', '--user', 'nobody-there'],
    ],
    ids=' '.join,
)
def test_what_cannot_be_done_is_a_document_with_an_error(words, tmp_path):
    """Or with a state and a note; never a sentence beside it."""
    (tmp_path / 'empty').mkdir()
    fake = FakeSmartctl(tmp_path / 'fake')
    words = [word.format(empty=tmp_path / 'empty', fake=fake.path) for word in words]

    told = document(*words, '--json')

    assert (
        told['version'] == 2
        and told.get('state', 'UNKNOWN') == 'UNKNOWN'
        and (told.get('error') or told['notes'])
    )


def test_whatever_a_command_that_takes_json_prints_is_a_document(tmp_path):
    """Also beside --html and where history is filled or emptied, and for -V."""
    page = document(
        'triage',
        '--report',
        REPORT,
        '--html',
        str(tmp_path / 'page.html'),
        '--json',
        code=0,
    )
    version = document('list', '-V', '--json', code=0)

    assert len(page['drives']) == 1 and (tmp_path / 'page.html').stat().st_size > 1000
    assert version['state'] == 'OK' and version['messages'][0].startswith(
        'check_smart_attributes '
    )


@pytest.mark.parametrize('command', ['triage', 'history'])
@pytest.mark.parametrize(
    'number',
    [
        0,  # time
        signal.SIGTERM,  # SIGTERM
        signal.SIGINT,  # SIGINT
    ],
)
def test_when_time_is_over_before_anything_is_known_there_is_still_a_document(
    fake, command, number
):
    """A scan that hangs; with the reason in it."""
    fake.answers('--json=c --scan', before='sleep 20')
    check = subprocess.Popen(
        [
            *PLUGIN,
            command,
            '--json',
            '-p',
            fake.path,
            '--nosudo',
            '-t',
            '3' if number else '1',
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    while number and not fake.pids():
        time.sleep(0.02)
    if number:
        time.sleep(0.5)
        check.send_signal(number)

    told = json.loads(check.communicate(timeout=10)[0])

    assert check.returncode == 3 and told['state'] == 'UNKNOWN' and told['drives'] == []
    assert ('ended by' if number else 'time') in told['error']


@pytest.mark.parametrize(
    'words, expected',
    [
        (['triage', '--json'], True),
        (['triage', '--js'], False),
        (['--json=1'], True),
        (['triage'], False),
        (['--'], False),
        (['--jsonx'], False),
        ([], False),
    ],
)
def test_a_command_line_asks_for_json(words, expected):
    """It may be wrong in every other respect."""
    assert main.wants_json(words) is expected


def test_a_character_that_utf_8_does_not_know_costs_no_document(capsys):
    """A file name of another encoding, in a line of a command that has no document of its own."""
    failure_document.run(lambda: print('forgotten: \udce9') or 0, str)

    assert json.loads(capsys.readouterr().out)['messages'] == ['forgotten: ?']
