"""What the Makefile runs: it works wherever the clone is, and with what its target installs."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = pytest.mark.tools

TOOLS = ROOT / 'tools'
TESTS = ROOT / 'tests'


@pytest.mark.parametrize('name', ['clone', "admin's $HOME ü", 'long' * 40])
def test_the_program_starts_wherever_the_clone_is(tmp_path: Path, name):
    """The kernel takes the path in a script's first line for two where it has a blank, and cuts
    it off.
    """
    clone = tmp_path / name
    (clone / 'tools').mkdir(parents=True)
    shutil.copy(TOOLS / 'launcher', clone / 'tools')
    (clone / 'smart_attributes').symlink_to(ROOT / 'smart_attributes')
    subprocess.run(
        [sys.executable, '-m', 'venv', '--without-pip', str(clone / '.venv')],
        check=True,
    )

    subprocess.run(['sh', 'tools/launcher', '.venv'], cwd=clone, check=True)
    done = subprocess.run(
        [str(clone / '.venv/bin/check_smart_attributes'), '--version'],
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, '')
    assert done.stdout.startswith('check_smart_attributes ')


# --- what a target installs -----------------------------------------------------------------------

TEST_LIBRARIES = {'pytest', 'hypothesis', 'selenium', 'axe_core_python', 'mypy', 'ruff'}


def needed(script: Path, seen: set[Path]) -> Iterator[str]:
    """Yield the top-level modules that a script imports anywhere, its own neighbours' included."""
    if script in seen:
        return
    seen.add(script)
    for node in ast.walk(ast.parse(script.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or '']
        for name in (name.partition('.')[0] for name in names):
            yield name
            for folder in (TOOLS, TESTS):
                if (folder / f'{name}.py').exists():
                    yield from needed(folder / f'{name}.py', seen)


def test_a_target_that_needs_the_libraries_of_tests_installs_them():
    """`make venv && make generate` had no pytest."""
    rules = re.findall(
        r'^([a-z0-9-]+):(.*?)(?:##.*)?\n((?:\t.*\n)+)',
        (ROOT / 'Makefile').read_text(),
        re.MULTILINE,
    )
    short = {
        target
        for target, prerequisites, recipe in rules
        if '$(VENV)/.' not in prerequisites
        for script in re.findall(r'\$\(BIN\)/python ((?:tools|tests)/\S+\.py)', recipe)
        if TEST_LIBRARIES & set(needed(ROOT / script, set()))
    }

    assert len(rules) > 20
    assert short == set()
