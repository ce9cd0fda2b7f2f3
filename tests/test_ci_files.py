"""Files for sites that host the project: they run and ask for what README, the Makefile and the
program have.
"""

import re
import shlex
import subprocess

import pytest
from conftest import ROOT, drive_path, run

WORKFLOWS = (ROOT / '.github/workflows/ci.yml').read_text() + (
    ROOT / '.github/workflows/fuzz.yml'
).read_text()
GITLAB = (ROOT / '.gitlab-ci.yml').read_text()
ISSUES = sorted((ROOT / '.github/ISSUE_TEMPLATE').glob('[!c]*.yml'))


def commands(text: str) -> set[str]:
    """Return the commands of a file, without those that only prepare a container."""
    found = re.findall(
        r'^ +- (?:run: )?((?:make|sh|cd|\.venv/bin/)\S* .*)$', text, re.MULTILINE
    )
    return {command.replace(' && cd ..', '') for command in found}


def listed(text: str, key: str) -> list[str]:
    return re.findall("'([^']+)'", re.search(rf'{key}: \[(.*)\]', text)[1])


def test_both_files_run_the_same_commands():
    """Nobody has to compare them by eye."""
    assert commands(WORKFLOWS) == commands(GITLAB)
    assert len(commands(GITLAB)) >= 9


@pytest.mark.parametrize('text', [WORKFLOWS, GITLAB], ids=['GitHub', 'GitLab'])
def test_they_run_the_two_commands_of_readme(text):
    """In the order in which README has them, each a step of its own."""
    block = re.search(
        r'## Try it\n.*?```sh\n(.*?)```', (ROOT / 'README.md').read_text(), re.DOTALL
    )[1].splitlines()
    steps = [
        line.strip().removeprefix('- ').removeprefix('run: ')
        for line in text.splitlines()
    ]

    assert len(block) == 2
    assert steps[steps.index(block[0]) + 1] == block[1]


@pytest.mark.parametrize('text', [WORKFLOWS, GITLAB], ids=['GitHub', 'GitLab'])
def test_they_run_each_python_that_is_promised(text):
    """pyproject.toml has the list."""
    promised = re.findall(r'Python :: (3\.\d+)', (ROOT / 'pyproject.toml').read_text())

    assert listed(text, 'python' if text is WORKFLOWS else 'PYTHON_VERSION') == promised
    assert {'debian:12', 'debian:13', 'ubuntu:24.04'} <= set(
        listed(text, 'image' if text is WORKFLOWS else 'IMAGE')
    )


def test_each_command_is_there():
    """Targets of the Makefile, and scripts of the project. README names the two targets that a
    newcomer needs.
    """
    targets = set(
        re.findall(r'^([a-z-]+):', (ROOT / 'Makefile').read_text(), re.MULTILINE)
    )
    words = [shlex.split(command) for command in commands(GITLAB)]
    scripts = {word[-1] for word in words if word[0] == 'sh'}
    sentence = re.search(
        r'you need two commands: (.*?)\. ', (ROOT / 'README').read_text()
    )[1]

    assert {word[1] for word in words if word[0] == 'make'} <= targets
    assert scripts and all((ROOT / script).exists() for script in scripts)
    assert re.findall('`(.*?)`', sentence) == ['make run', 'make test']
    assert {'run', 'test'} <= targets


def test_issues_and_pull_requests_ask_for_the_report_and_for_the_draft():
    """Without them nobody can reproduce an alert, or add a drive."""
    report, draft = 'smartctl --json -x', 'draft --report report.json'
    for path, *asked in (
        ('.github/ISSUE_TEMPLATE/alert.yml', report, 'explain -v'),
        ('.github/ISSUE_TEMPLATE/drive.yml', report, draft),
        ('.github/PULL_REQUEST_TEMPLATE.md', report, draft),
        ('.gitlab/merge_request_templates/Default.md', report, draft),
    ):
        text = (ROOT / path).read_text()
        assert [words for words in asked if words not in text] == [], path


@pytest.mark.parametrize('path', ISSUES, ids=[path.stem for path in ISSUES])
def test_gitlab_asks_the_same_questions(path):
    """Its templates are Markdown."""
    questions = re.findall(r'label: (.*)\n', path.read_text())
    text = (ROOT / f'.gitlab/issue_templates/{path.stem.title()}.md').read_text()

    assert re.findall('^### (.*)$', text, re.MULTILINE) == questions


def test_the_report_that_an_issue_asks_for_has_no_serial_number(tmp_path):
    """The command as it is printed there, with a recorded report in the place of smartctl."""
    command = re.search(
        'smartctl --json -x /dev/sda [|] (sed .*?) > report.json', ISSUES[0].read_text()
    )[1]
    report = (ROOT / 'tests/reports/no-name-ssd.json').read_text()
    number = re.search('"serial_number": *"(.*?)"', report)[1]
    changed = report.replace(number, 'SECRET17')
    printed = subprocess.check_output(
        ['sh', '-c', command.replace('\\"', '"')], input=changed, text=True
    )
    (tmp_path / 'report.json').write_text(printed)
    path = str(tmp_path / 'report.json')

    assert 'SECRET17' in changed and 'SECRET17' not in printed
    assert 'EXAMPLE0001' in run('explain', '--report', path).text
    assert '"models"' in run('draft', '--report', path).text


def test_the_image_is_made_of_the_package_and_starts_its_program():
    """The name of the package, and the link that "make install" makes; the program knows the
    option of the comment.
    """
    text = (ROOT / 'contrib/container/Containerfile').read_text()
    package = re.search(
        '^Package: (.*)$', (ROOT / 'debian/control').read_text(), re.MULTILINE
    )[1]
    used = re.findall(
        'attributes check_smart_attributes (triage|--missing critical)$',
        text,
        re.MULTILINE,
    )

    assert f'COPY {package}_*_all.deb ' in text
    assert 'ENTRYPOINT ["/usr/sbin/check_smart_attributes"]' in text
    assert used == ['triage', '--missing critical']
    assert (
        run('--missing', 'critical', '--report', drive_path('intel-s3500-healthy')).code
        == 0
    )
