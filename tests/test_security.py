"""SECURITY.md: what it promises is tested where it says, and what concerns the whole program is tested here."""
from __future__ import annotations

import ast
import re
from typing import Iterator, Set, Tuple

from conftest import ROOT
from rooms import MODULES, PACKAGE, imports, room

PAGE = (ROOT / 'SECURITY.md').read_text()
LINKS = re.findall(r'\[([^]]+)\]\(([^)]+)\)', PAGE)
# What runs a text as a program, or makes objects of bytes.
CODE = {'eval', 'exec', 'compile', '__import__', 'system', 'popen', 'getoutput', 'getstatusoutput', 'execl',
        'execlp', 'spawnl'}
UNSAFE = {'pickle', 'marshal', 'shelve', 'yaml', 'dill', 'code', 'pty'}
NETWORK = {'ssl', 'http', 'urllib', 'ftplib', 'smtplib', 'socketserver', 'xmlrpc', 'asyncio', 'requests', 'httpx',
           'aiohttp', 'urllib3'}


def calls(module: str) -> Iterator[Tuple[str, ast.Call]]:
    """Yield each call of a module with the name of what is called; re.compile is none of Python's."""
    for node in ast.walk(ast.parse((PACKAGE / f'{module}.py').read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not (
                isinstance(node.func.value, ast.Name) and node.func.value.id == 're'):
            yield node.func.attr, node


def foreign(module: str) -> Set[str]:
    """Return what a module imports that is none of ours."""
    return {name for name, is_ours in imports(module) if not is_ours}


def test_each_link_leads_somewhere_and_each_test_is_there():
    """A promise whose test was renamed or is gone is none."""
    assert [path for _, path in LINKS if not (ROOT / path).exists()] == []
    named = [(name, path) for name, path in LINKS if name.startswith('test_')]
    assert [f'{path}: {name}' for name, path in named if f'\ndef {name}(' not in (ROOT / path).read_text()] == []


def test_nothing_is_promised_without_a_test():
    """Each row of what is not trusted names one."""
    rows = PAGE.split('## What is not trusted')[1].split('\n## ')[0].splitlines()
    rows = [row for row in rows if row.startswith('| ')][1:]

    assert len(rows) >= 10
    assert [row for row in rows if '](tests/' not in row.rsplit(' | ', 1)[1]] == []


def test_no_text_becomes_code_and_no_shell_is_started():
    """Formulas of attributes.json are read by a grammar, processes get a list of words, data are JSON and SQLite."""
    found = {f'{module}: {name}' for module in MODULES for name, node in calls(module)
             if name in CODE or any(keyword.arg == 'shell' for keyword in node.keywords)}

    assert found == set()
    assert [module for module in MODULES if foreign(module) & UNSAFE] == []


def test_only_what_asks_icinga_knows_the_network():
    """And only the job `fleet` imports it, where an Icinga was named."""
    found = {module for module in MODULES if foreign(module) & NETWORK}
    of_sockets = {name for module in MODULES if module not in found
                  for name in re.findall(r'\bsocket\.(\w+)', (PACKAGE / f'{module}.py').read_text())}

    assert found == {'fleet/icinga'}
    assert of_sockets == {'gethostname'}
    asking = {room(module) for module in MODULES for name, _ in imports(module) if name == 'fleet/icinga'}
    assert asking == {'fleet', 'gathering'}


def test_the_command_for_nrpe_takes_nothing_from_outside():
    """Who asks NRPE would choose what runs on the machine: -p is a program, --html a file."""
    text = (ROOT / 'contrib/nrpe/check-smart-attributes.cfg').read_text()

    assert 'command[' in text
    assert '$ARG' not in text
