"""doc/explanation/security.md: each promise has its test where the page says; here are those of
the whole program.
"""

import ast
import grp
import json
import os
import pwd
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import abilities
import pytest
from architecture import MODULES, PACKAGE, imports, tree
from conftest import ROOT

from smart_attributes.reading import smartctl_calls, sudoers
from smart_attributes.reading.drive_locks import Waiting
from smart_attributes.sudo import rule as sudo_rules

# The package is parsed once, in one worker.
pytestmark = pytest.mark.xdist_group('layout')

FOLDER = ROOT / 'doc/explanation'
PAGE = (FOLDER / 'security.md').read_text()
# (path, anchor) of each link; the anchor of a link to a file of tests is the name of a test
LINKS = re.findall(r'\]\(([^)#]+)#?([^)]*)\)', PAGE)
# What runs a text as a program, or makes objects of bytes.
CODE = 'eval exec compile __import__ system popen getoutput getstatusoutput execl execlp spawnl'
UNSAFE = 'pickle marshal shelve yaml dill code pty'
NETWORK = 'ssl http urllib ftplib smtplib socketserver xmlrpc asyncio requests httpx aiohttp urllib3'


def calls(module: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield each call of a module with the name of what is called; re.compile is none of
    Python's.
    """
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and not (
                isinstance(node.func.value, ast.Name) and node.func.value.id == 're'
            )
        ):
            yield node.func.attr, node


def foreign(module: str) -> set[str]:
    """Return what a module imports that is none of ours."""
    return {name for name, is_ours in imports(module) if not is_ours}


def test_each_link_leads_somewhere_and_each_test_is_there():
    """A promise whose test was renamed or is gone is none."""
    assert [path for path, _ in LINKS if not (FOLDER / path).exists()] == []
    assert '](doc/explanation/security.md)' in (ROOT / 'SECURITY.md').read_text()
    named = [(path, name) for path, name in LINKS if path.startswith('../../tests/')]
    assert len(named) > 80
    assert [
        f'{path}: {name}'
        for path, name in named
        if f'\ndef {name}(' not in (FOLDER / path).read_text()
    ] == []


def test_nothing_is_promised_without_a_test():
    """Each source of untrusted input names one."""
    sources = PAGE.split('## Untrusted input')[1].split('\n## ')[0].split('\n- **')[1:]

    assert len(sources) >= 10
    assert [
        source for source in sources if '\n  - [' not in source.split('\n\n')[0]
    ] == []


def test_no_text_becomes_code_and_no_shell_is_started():
    """Formulas of attributes.json are read by a grammar, processes get a list of words, data are
    JSON.
    """
    found = {
        f'{module}: {name}'
        for module in MODULES
        for name, node in calls(module)
        if name in CODE.split()
        or any(keyword.arg == 'shell' for keyword in node.keywords)
    }

    assert found == set()
    assert [
        module for module in MODULES if foreign(module).intersection(UNSAFE.split())
    ] == []


def test_only_what_asks_icinga_knows_the_network():
    """And only the command `fleet` imports it, where an Icinga was named."""
    found = {
        module for module in MODULES if foreign(module).intersection(NETWORK.split())
    }
    of_sockets = {
        name
        for module in MODULES
        if module not in found
        for name in re.findall(
            r'\bsocket\.(\w+)', (PACKAGE / f'{module}.py').read_text()
        )
    }

    assert found == {'fleet/icinga'}
    assert of_sockets == {'gethostname'}
    asking = {
        module
        for module in MODULES
        for name, _ in imports(module)
        if name == 'fleet/icinga'
    }
    # the latter only for the type
    assert asking == {'commands/fleet', 'fleet/gathering'}


def test_the_installed_programs_import_nothing_of_their_callers():
    """Isolated mode: neither the folder of the caller, nor his environment, nor his home."""
    assert '1s|.*|#!${PYTHON-} -IS|' in (ROOT / 'tools/recipe').read_text()
    assert re.findall(
        r"first = .*python3 (\S+)[ ']", (ROOT / 'tools/launcher').read_text()
    ) == [
        '-IS',
        '-IS',
    ]
    assert (
        "FIRST_LINE = b'#!/usr/bin/python3 -IS\\n'"
        in (ROOT / 'tools/zipped.py').read_text()
    )


def test_each_expression_of_the_rule_stands_for_all_arguments():
    """Without its ends, sudo would admit what stands before or behind it as well."""
    listed = sudo_rules.render(
        sudo_rules.SudoRule(
            'nagios', '/usr/sbin/smartctl', 65, tuple(sudoers.all_expressions())
        )
    )
    admitted = re.findall(
        r'^ +(/usr/sbin/smartctl .*?)(?:, \\)?$', listed, re.MULTILINE
    )

    assert len(admitted) >= 3
    assert [
        line
        for line in admitted
        if not re.fullmatch(r'/usr/sbin/smartctl \^[^^$]+\$', line)
    ] == []
    assert re.search(
        r'^nagios ALL=\(root\) TIMEOUT=65 NOPASSWD: SMARTCTL_FOR_NAGIOS_\w+$',
        listed,
        re.MULTILINE,
    )


def test_no_link_in_the_folder_of_locks_is_followed(tmp_path):
    """Not even to a file of the owner: whoever plants it chooses what a check writes over."""
    found, command = (
        Waiting(),
        ('/usr/sbin/smartctl', *smartctl_calls.read_arguments('/dev/sda')),
    )
    os.close(found.begin(command))
    (lock,) = Path(found.path).iterdir()
    lock.unlink()
    (tmp_path / 'treasure').write_text('precious' * 20)
    lock.symlink_to(tmp_path / 'treasure')

    assert found.begin(command) == -1
    assert found.why_not
    assert (tmp_path / 'treasure').read_text() == 'precious' * 20


BECOMING = """
import json, os, sys
sys.path[:0] = [sys.argv[1]]
os.setgroups([0, 4, 27])
from smart_attributes.daemons import users
users.become('nobody')
try:
    os.setuid(0)
except PermissionError:
    print(json.dumps([os.getresuid(), os.getresgid(), os.getgroups(), os.environ.get('XDG_STATE_HOME')]))
"""


@abilities.other_user
def test_doctor_keeps_nothing_of_roots_rights():
    """Neither a group nor a way back: what it finds is what a check of that user would find."""
    printed = subprocess.check_output(
        [sys.executable, '-I', '-c', BECOMING, str(ROOT)],
        env={'XDG_STATE_HOME': '/root/state'},
    )
    nobody = pwd.getpwnam('nobody')
    groups = {group.gr_gid for group in grp.getgrall() if 'nobody' in group.gr_mem}

    *ids, all_groups, home = json.loads(printed)
    assert ids == [[nobody.pw_uid] * 3, [nobody.pw_gid] * 3]
    assert (set(all_groups), home) == ({nobody.pw_gid, *groups}, None)


def test_the_command_for_nrpe_takes_nothing_from_outside():
    """Who asks NRPE would choose what runs on the machine: -p is a program, --html a file."""
    text = (ROOT / 'contrib/nrpe/check-smart-attributes.cfg').read_text()

    assert 'command[' in text
    assert '$ARG' not in text
