"""The architecture, as the file names promise it."""
from __future__ import annotations

import ast
import re
import subprocess
import sys
from typing import Dict, Iterator, Set, Tuple

import pytest
from conftest import ROOT, drive_path

PACKAGE = ROOT / 'smart_attributes'
MODULES = sorted(path.stem for path in PACKAGE.glob('*.py') if path.stem != '__init__')
# The table of CONTRIBUTING.md: a module imports only what stands above it there.
TABLE = (ROOT / 'CONTRIBUTING.md').read_text().partition('<!-- modules -->')[2].partition('<!-- end of modules -->')[0]
ORDER = re.findall(r'^\| `(\w+)` \|', TABLE, re.MULTILINE)
FOREIGN = {'nagiosplugin': {'nagios'}, 'pySMART': {'text_report'}, 'jsonschema': {'datafile'}, 'rich': {'triage', 'explain'}}
# What a check with a drive must not load: each costs more than reading the drive's report.
HEAVY = ('jsonschema', 'pySMART', 'rich', 'dataclasses', 'subprocess', 'inspect', 'logging', 'tempfile', 'smart_attributes.text_report',
         'smart_attributes.prove', 'smart_attributes.oldforms', 'smart_attributes.legacy', 'smart_attributes.second_opinion',
         'smart_attributes.triage')


def imports(module: str) -> Iterator[Tuple[str, bool]]:
    """Yield (name, is one of ours) for every import of a module, at its top or inside a function."""
    for node in ast.walk(ast.parse((PACKAGE / f'{module}.py').read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                yield (node.module or alias.name), True
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or '').split('.')[0], False
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.split('.')[0], False


def test_every_module_has_its_place_in_the_flow():
    """A new module says where it belongs."""
    assert sorted(ORDER) == MODULES


@pytest.mark.parametrize('module', MODULES)
def test_a_module_imports_only_what_stands_before_it(module):
    """Reading knows nothing of judging, judging nothing of faces."""
    ours = {name for name, is_ours in imports(module) if is_ours}

    assert {name for name in ours if ORDER.index(name) >= ORDER.index(module)} == set()


@pytest.mark.parametrize('module', MODULES)
def test_a_foreign_library_stays_in_its_module(module):
    """So that it can be replaced, and is loaded by nobody else."""
    theirs = {name for name, is_ours in imports(module) if not is_ours}
    standard = set(sys.stdlib_module_names) if hasattr(sys, 'stdlib_module_names') else theirs - set(FOREIGN)

    assert {name for name in theirs - standard if module not in FOREIGN.get(name, ())} == set()


def test_a_check_loads_nothing_that_it_does_not_need():
    """Start-up is what a check adds to its drives."""
    code = ('import sys\nsys.argv = ["check", "--nosudo", "-d", "/dev/null"]\nfrom smart_attributes import main\n'
            'main.run(sys.argv[1:])\nprint(*sys.modules)')
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True)

    loaded: Set[str] = set(done.stdout.split())
    assert 'smart_attributes.plugin' in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_no_model_name_is_in_the_code():
    """Vendor knowledge is data."""
    vendors = ('INTEL', 'Intel', 'SAMSUNG', 'Samsung', 'Micron', 'Crucial', 'KINGSTON', 'Kingston', 'SandForce', 'Toshiba', 'TOSHIBA',
               'WDC', 'HGST')
    found: Dict[str, Set[str]] = {}
    for module in MODULES:
        tree = ast.parse((PACKAGE / f'{module}.py').read_text())
        prose = {id(node.body[0].value) for node in ast.walk(tree)
                 if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and isinstance(node.body[0], ast.Expr)}
        words = {node.value for node in ast.walk(tree)
                 if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose}
        hits = {vendor for vendor in vendors if any(vendor in word for word in words)}
        if hits:
            found[module] = hits

    assert found == {}


def test_only_main_is_public():
    """Nobody programs against the inside of a plugin."""
    import smart_attributes
    assert smart_attributes.__all__ == ['main']


def test_nothing_is_written_outside_the_state_folder(tmp_path):
    """A check run by root leaves no files behind."""
    before = set(tmp_path.iterdir())
    subprocess.run([sys.executable, '-I', str(ROOT / 'check_smart_attributes'), '--report', drive_path('intel-worn')],
                   cwd=tmp_path, env={'HOME': str(tmp_path), 'PATH': '/usr/bin:/bin'}, capture_output=True)

    assert set(tmp_path.iterdir()) == before
