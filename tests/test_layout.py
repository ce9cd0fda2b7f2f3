"""The architecture, as the file names promise it."""

import ast
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import architecture
import pytest
from architecture import (
    BASE,
    MEASURING,
    MODULES,
    PACKAGE,
    imports,
    imports_from_outside,
    subpackage,
    tree,
)
from conftest import ROOT, drive_path, run
from fake_smartctl import FakeSmartctl

from smart_attributes.reading import smartctl_calls

# The package is parsed once, in one worker.
pytestmark = pytest.mark.xdist_group('layout')

# What the modules of a subpackage, or a module at the top, may import beside their own subpackage
# and the base.
MAY_IMPORT = {
    'errors': 'typed',
    'failures': 'alarm errors files',
    'model': 'constants errors shown typed',
    'constants': '',
    'words': '',
    'wording': 'constants model typed',
    'shown': 'errors typed words',
    'trust': '',
    'access': 'typed',
    'installers': 'constants files typed',
    'alarm': '',
    'state_directory': 'constants trust',
    'files': 'constants',
    'child': 'constants files state_directory typed',
    'typed': '',
    'reading': '',
    'knowledge': '',
    'history': '',
    # Groups are read from the files of /sys that also show the disks, and their members have
    # drives' addresses.
    'redundancy': 'reading',
    'v1_6': 'knowledge reading',
    'command_line': 'v1_6',
    'check': 'command_line reading knowledge history v1_6 redundancy',
    # What to do about a drive is decided here only, and all outputs show it.
    'work': 'knowledge redundancy',
    'output': 'history knowledge redundancy work',
    'devtools': 'knowledge',
    'fleet': 'output knowledge redundancy work',
    'daemons': 'access command_line reading output',
    'sudo': 'reading output',
    'doctor': 'access installers daemons sudo command_line check reading knowledge history output '
    'devtools redundancy work',
    'commands': 'access command_line check reading knowledge history output fleet doctor devtools redundancy '
    'sudo v1_6 work',
    'main': 'reading commands command_line',
}
# What tools/measure may import of the package beside the base.
MEASURING_MAY_IMPORT = {'command_line', 'check', 'knowledge', 'history', 'devtools'}
FOREIGN = {
    'nagiosplugin': {'knowledge/ranges'},
    'pySMART': {'reading/pysmart'},
    'jsonschema': {'knowledge/schema_errors'},
    'rich': {'output/triage_table', 'output/explain'},
    'jinja2': {'output/page'},
    'prometheus_client': {'output/metrics'},
}
# What a check with a drive must not load: each costs more than reading the drive's report.
HEAVY = (
    'jsonschema',
    'pySMART',
    'rich',
    'dataclasses',
    'subprocess',
    'inspect',
    'logging',
    'tempfile',
    'smart_attributes.reading.text_report',
    'smart_attributes.output.triage_table',
    'smart_attributes.output.page',
    'smart_attributes.output.metrics',
    'jinja2',
    'prometheus_client',
    'typing',
)
HEAVY_SUBPACKAGES = (
    'smart_attributes.devtools.',
    'smart_attributes.v1_6.',
    'smart_attributes.daemons.',
    'smart_attributes.doctor.',
    'smart_attributes.fleet.',
)


# What modules that only show may use of work, beside the words, the dates and the item of a drive:
# each for its order, for what it leaves out, or for lines and documents of other hosts.
SHOWN = {
    'explain': 'NOTHING',
    'json_document': 'NOTHING',
    'triage_table': 'NOTHING',
    'table': 'NOTHING',
    'page': 'CODES',
    'page_drives': 'NOTHING',
    'summary': 'FIRMWARE ORDER WATCH needs_spare',
    'replacement_order': 'REPLACING',
    # rows about checks, and drives that were not read
    'drives': 'ABOUT_READING CODES NOTHING ORDER_COPY READ REPAIR of_problem',
    'plugin_output': 'CODES ORDER REPLACING due',  # the date of an order
}


def test_outputs_show_what_to_do_and_do_not_decide_it():
    """So a new use is a decision of its own, and has to be wanted here."""
    found: dict[str, set[str]] = {}
    for module in MODULES:
        if subpackage(module) in ('output', 'fleet'):
            names = found[module.rpartition('/')[2]] = set()
            for node in ast.walk(tree(module)):
                if isinstance(node, ast.Attribute):
                    if getattr(node.value, 'id', '') in ('actions', 'work_list'):
                        names.add(node.attr)
                elif (
                    isinstance(node, ast.ImportFrom) and node.module == 'work.work_list'
                ):
                    names.update(alias.name for alias in node.names)
            names -= {'action', 'item'}

    assert {
        module: ' '.join(sorted(names)) for module, names in found.items() if names
    } == SHOWN


def test_every_subpackage_and_module_at_the_top_has_a_rule():
    """A new one says what it may import."""
    assert {subpackage(module) for module in MODULES} == set(MAY_IMPORT)


def test_a_subpackage_imports_only_what_its_rule_allows():
    """Reading and knowledge never import each other; no check loads developers' tools; nothing
    imports upwards.
    """
    allowed = {own: {own, 'typed', *rule.split()} for own, rule in MAY_IMPORT.items()}
    for own in allowed.keys() - BASE:
        allowed[own] |= BASE
    wrong = [
        f'{module} imports {name}; {subpackage(module)} may import '
        f'{sorted(allowed[subpackage(module)])}'
        for module in MODULES
        for name, is_ours in imports(module)
        if is_ours and subpackage(name) not in allowed[subpackage(module)]
    ]

    assert not wrong, '\n'.join(wrong)


def test_measuring_imports_only_what_its_rule_allows():
    """It judges drives from files: it reads no drive and prints no report of the plugin."""
    words = {'reading/content', 'reading/pysmart'}  # what smartctl's words mean
    wrong = [
        (path.stem, name)
        for path in MEASURING
        for name in imports_from_outside(path)
        if name not in words and subpackage(name) not in MEASURING_MAY_IMPORT | BASE
    ]

    assert wrong == []


ABILITIES = re.compile(
    r'\b(?:shutil\.which|os\.geteuid|util\.find_spec|pty\.openpty)\('
)


def test_only_one_module_of_the_tests_asks_what_this_machine_can_do():
    """Each module that asked for itself was wrong on some machine."""
    paths = (ROOT / 'tests').rglob('*.py')

    assert {path.stem for path in paths if ABILITIES.search(path.read_text())} == {
        'abilities'
    }


def test_the_inits_of_subpackages_are_empty():
    """Importing one module loads no other."""
    assert [path for path in PACKAGE.glob('*/__init__.py') if path.read_text()] == []


def test_a_foreign_library_stays_in_its_module():
    """So that it can be replaced, and is loaded by nobody else."""
    theirs = [
        (module, name)
        for module in MODULES
        for name, is_ours in imports(module)
        if not is_ours
    ]
    standard = set(
        getattr(sys, 'stdlib_module_names', {name for _, name in theirs})
    ) - set(FOREIGN)

    assert [
        (module, name)
        for module, name in theirs
        if name not in standard and module not in FOREIGN.get(name, ())
    ] == []


def loaded(*words: str) -> tuple[str, set[str]]:
    """Return the exit status of the program, and the modules that it loads."""
    code = (
        f'import sys\nsys.path += [{str(ROOT)!r}, {sysconfig.get_path("purelib")!r}]\n'
        f'from smart_attributes import main\nprint(main.run({words!r}), *sys.modules)'
    )
    printed = subprocess.check_output([sys.executable, '-IS', '-c', code], text=True)
    status, *modules = printed.splitlines()[-1].split()
    return status, set(modules)


@pytest.mark.parametrize('drive', ['/dev/sda', '/dev/silent'])
def test_a_check_loads_nothing_that_it_does_not_need(drive, tmp_path):
    """Start-up is what a check adds to its drives."""
    smartctl = FakeSmartctl(tmp_path / 'bin')
    smartctl.answers(
        smartctl_calls.read_arguments('/dev/sda'),
        Path(drive_path('intel-s3500-healthy')).read_bytes(),
    )
    _, modules = loaded(
        '-p', smartctl.path, '--nosudo', '--state-dir', str(tmp_path), '-d', drive
    )

    assert {
        'smart_attributes.output.plugin',
        'smart_attributes.history.store',
    } <= modules
    assert [
        name for name in modules if name in HEAVY or name.startswith(HEAVY_SUBPACKAGES)
    ] == []
    assert {
        name for name in modules if name.startswith('smart_attributes.commands.')
    } == {
        'smart_attributes.commands.table',
        'smart_attributes.commands.cases',
        'smart_attributes.commands.check',
    }
    for name in (
        'redundancy.dependence',
        'work.work_list',
        'work.actions',
        'work.alerts',
        'work.dates',
    ):
        # it alerts
        assert (f'smart_attributes.{name}' in modules) == (drive == '/dev/silent')


def test_no_model_name_is_in_the_code():
    """Vendor knowledge is data."""
    vendors = re.compile(
        'INTEL|Intel|SAMSUNG|Samsung|Micron|Crucial|KINGSTON|Kingston|SandForce|Toshiba|TOSHIBA|WDC|HGST'
    )
    found = set()
    for module in MODULES:
        nodes = list(ast.walk(tree(module)))
        prose = {
            id(node.body[0].value)
            for node in nodes
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and isinstance(node.body[0], ast.Expr)
        }
        found |= {
            (module, hit)
            for node in nodes
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in prose
            for hit in vendors.findall(node.value)
        }

    assert found == set()


def test_only_main_is_public():
    """Nobody programs against the inside of a plugin."""
    import smart_attributes

    assert smart_attributes.__all__ == ['main']


def test_nothing_is_written_outside_the_state_folder(tmp_path):
    """A check run by root leaves no files behind."""
    run('--report', drive_path('intel-worn'), cwd=tmp_path, env={'HOME': str(tmp_path)})

    assert list(tmp_path.iterdir()) == []


def test_version_1_6_is_mentioned_in_few_places():
    """rm -r smart_attributes/v1_6 and these lines, when nobody comes from it any more."""
    places = [
        (module, line)
        for module in MODULES
        if subpackage(module) != 'v1_6'
        for line in (PACKAGE / f'{module}.py').read_text().splitlines()
        if 'v1_6' in line
    ]

    assert len(places) <= 4, places


def test_the_drawing_shows_two_sides_that_do_not_know_each_other_and_nothing_that_looks_upwards():
    """Reading and knowledge meet in those above them; a stranger sees it in one picture."""
    between = architecture.arrows()

    assert [pair for pair in between if set(pair) == {'reading', 'knowledge'}] == []
    height = architecture.heights(between)
    assert [pair for pair in between if height[pair[0]] <= height[pair[1]]] == []
    assert re.search(
        '^  check --> command_line$', '\n'.join(architecture.drawing()), re.MULTILINE
    )


def test_no_modules_import_each_other_in_a_circle():
    """Neither for type checkers only nor inside a function: each module can be read after those
    that it imports.
    """
    assert architecture.circles() == []
