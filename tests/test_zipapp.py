"""The single-file program: the plugin with its libraries and data in one file, for machines that
get no package.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import abilities
import pytest
from conftest import ROOT, drive_path

REPORT = drive_path('intel-worn')
pytestmark = pytest.mark.long  # 20 seconds: it is built
# Where a Python 3.9 may be: in the PATH, or beside it, as pyenv has several.
OLDEST = (
    'python3.9',
    *map(str, Path.home().glob('.pyenv/versions/3.9.*/bin/python3.9')),
)


@pytest.fixture(scope='module')
def program(released, tmp_path_factory) -> Path:
    """The file as `make zipapp` makes it, alone in a folder."""
    return Path(
        shutil.copy(
            released / 'check_smart_attributes.pyz', tmp_path_factory.mktemp('alone')
        )
    )


@pytest.fixture(
    scope='module', params=[(sys.executable,), OLDEST], ids=['this', 'oldest']
)
def python(request) -> str:
    """The Python of these tests, and the oldest one that is promised."""
    for each in request.param:
        if (
            abilities.path_of(each)
            and not subprocess.run([each, '-c', 'pass'], capture_output=True).returncode
        ):
            return str(each)
    return pytest.skip('Python 3.9 is not tried: it is not installed')


def runs(
    *command: object, folder: object = '/', **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        cwd=str(folder),
        env={'PATH': os.environ['PATH'], 'LC_ALL': 'C', **environment},
    )


# In a process that has compiled all that is in the file: run each command in a fork, and print what
# became of it.
FORKS = """
import importlib, json, os, pkgutil, runpy, sys
program = sys.argv[1]
sys.path.insert(0, program)
import smart_attributes
for each in pkgutil.walk_packages(smart_attributes.__path__, 'smart_attributes.'):
    importlib.import_module(each.name)
for arguments in json.loads(sys.argv[2]):
    sys.stdout.flush()
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.dup2(writing, 1), os.dup2(writing, 2), os.close(writing), os.close(reading)
        sys.argv = [program, *arguments]
        runpy.run_path(program, run_name='__main__')
    os.close(writing)
    with open(reading) as answer:
        text = answer.read()
    print(json.dumps([os.WEXITSTATUS(os.waitpid(pid, 0)[1]), text]))
"""
COMMANDS = {
    'check': (['--report', REPORT], 1, 'used write endurance 86 % (warning above 85)'),
    'text, by pySMART': (
        ['--report', drive_path('seagate-sas-healthy')],
        0,
        'SMART OK',
    ),
    'version': (['-V'], 0, 'attributes.json of 20'),
    'triage, by rich': (['triage', '--report', REPORT], 0, 'INTEL'),
    'explain': (['explain', '--report', REPORT], 0, 'endurance_used'),
    'list': (['list', '--json', '--report', REPORT], 0, '"version": 2'),
    'metrics, by prometheus_client': (
        ['metrics', '--report', REPORT],
        0,
        'smart_drive_state{device="intel_worn"} 1.0',
    ),
    'draft': (['draft', '--report', REPORT], 0, '"models"'),
    'validate': (['validate'], 0, 'no problem'),
    'sudoers': (['sudoers'], 0, 'NOPASSWD'),
}


def test_every_command_works_without_any_package(program, python):
    """Libraries, entries, limits and schemas are in the file; -S keeps away what this machine
    has.
    """
    done = runs(
        python,
        '-ISc',
        FORKS,
        program,
        json.dumps([arguments for arguments, _, _ in COMMANDS.values()]),
    )
    answers = [
        json.loads(line) for line in done.stdout.splitlines() if line.startswith('[')
    ]

    assert len(answers) == len(COMMANDS), done.stdout
    assert {
        name: answer
        for (name, (_, code, words)), answer in zip(COMMANDS.items(), answers)
        if answer[0] != code or words not in answer[1]
    } == {}


def test_parts_that_are_no_python_come_out_of_the_file(program, python, tmp_path):
    """Template, script and style of the page, and the schemas; Jinja2 and jsonschema are versions
    that are Python alone.
    """
    page, mine = tmp_path / 'drives.html', tmp_path / 'mine.json'
    mine.write_text('{"rolls": {}}')
    shown = runs(python, '-IS', program, 'triage', '--html', page, '--report', REPORT)
    checked = runs(python, '-IS', program, '--report', REPORT, '--thresholds', mine)

    assert shown.returncode == 0, shown.stdout
    for part in ('Content-Security-Policy', ':root {', "'use strict'", 'EXAMPLE0003'):
        assert part in page.read_text()
    assert checked.returncode == 3 and 'rolls' in checked.stdout


def test_it_is_a_program_that_is_found_by_a_link_and_from_its_own_folder(
    program, tmp_path
):
    """Data are found by the real path of the file, however it is called."""
    (tmp_path / 'check_smart').symlink_to(program)
    if runs(
        '/usr/bin/python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'
    ).returncode:
        pytest.skip(
            'the first line of the program is not tried: /usr/bin/python3 is older than 3.9 or '
            'not there'
        )

    assert runs(tmp_path / 'check_smart', '--report', REPORT).returncode == 1
    assert (
        runs(f'./{program.name}', '--report', REPORT, folder=program.parent).returncode
        == 1
    )


def test_nothing_of_the_callers_is_imported(program, tmp_path):
    """Started as it is, by its first line: neither PYTHONPATH nor the folder of the caller puts a
    module in the place of ours.
    """
    for module in ('json', 'argparse', 're', 'nagiosplugin'):
        (tmp_path / f'{module}.py').write_text('raise SystemExit("planted")\n')
    with program.open('rb') as file:
        words = file.readline().decode().removeprefix('#!').split()

    done = runs(
        sys.executable,
        *words[1:],
        program,
        '--report',
        REPORT,
        folder=tmp_path,
        PYTHONPATH=str(tmp_path),
    )
    assert done.returncode == 1, done.stdout


def test_an_older_python_is_told_so(program):
    """UNKNOWN and a sentence, where a syntax error would have been a WARNING."""
    code = f'import runpy, sys; sys.version_info = (3, 6, 8); runpy.run_path({str(program)!r})'
    done = runs(sys.executable, '-c', code)

    assert done.returncode == 3 and done.stdout.startswith(
        'SMART UNKNOWN - Python 3.9 or '
    )
    assert done.stdout.endswith(f' python3.11 -IS {program}\n')


def test_all_in_it_is_python(program):
    """What is compiled runs on one processor and one Python, and not from within a file at all."""
    names = zipfile.ZipFile(program).namelist()

    assert [name for name in names if name.endswith(('.so', '.pyc', '.pyd'))] == []


def test_each_library_in_it_has_its_licence_with_it(program):
    """They are free to be passed on together with that; so is the program itself."""
    names = zipfile.ZipFile(program).namelist()
    pinned = re.findall(
        r'^(\S+)==(\S+) ', (ROOT / 'requirements/zipapp.txt').read_text(), re.MULTILINE
    )
    inside = {name.split('/')[0] for name in names if '.dist-info/' in name}
    licensed = {
        name.split('/')[0]
        for name in names
        if re.search(r'\.dist-info/(licenses/)?(LICEN[CS]E|COPYING)[^/]*$', name)
    }

    ours = next(
        folder for folder in inside if folder.startswith('check_smart_attributes-')
    )
    assert {folder.lower() for folder in inside - {ours}} == {
        f'{name.replace("-", "_")}-{version}.dist-info' for name, version in pinned
    }
    assert inside - licensed == set()
