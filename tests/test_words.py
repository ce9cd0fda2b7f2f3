"""The documents say what the program does: they are compared, not trusted."""
from __future__ import annotations

import json
import re

import pytest
import tables
from conftest import ROOT, drive, run
from fake_smartctl import FakeSmartctl

from smart_attributes import cli
from smart_attributes.model import State
from smart_attributes.reading.commands import read_arguments


@pytest.mark.parametrize('document', tables.TABLES)
def test_the_tables_of_a_document_are_up_to_date(document):
    """Run `.venv/bin/python tools/tables.py` after a change of options, roles, limits or modules."""
    assert tables.filled(document) == (ROOT / document).read_text()


def test_every_option_is_in_the_readme():
    """An option that nobody can find is none."""
    text = (ROOT / 'README').read_text()

    assert [option for option in cli.option_strings('check') if f'`{option}`' not in text] == []


def test_every_state_is_explained_in_the_readme():
    """The four states, with their exit status."""
    text = (ROOT / 'README').read_text()

    assert [state for state in State if f'| {state.name} | {int(state)} |' not in text] == []


def test_every_role_of_a_limit_is_a_role():
    """A mistyped role in default.json would be silently without effect."""
    known = set(json.loads((ROOT / 'attributes.json').read_text())['roles'])

    assert set(json.loads((ROOT / 'thresholds/default.json').read_text())['roles']) - known == set()


def test_every_default_limit_has_a_reason():
    """A limit without a reason cannot be defended at three in the morning."""
    for name, role in json.loads((ROOT / 'thresholds/default.json').read_text())['roles'].items():
        for limit in (role, *(role[kind] for kind in tables.KINDS if kind in role)):
            has_limit = limit.get('warning') is not None or limit.get('critical') is not None
            assert limit.get('why') or not has_limit, name


def test_the_output_in_the_readme_is_what_the_program_prints(tmp_path):
    """A made-up example would be believed."""
    fake = FakeSmartctl(tmp_path / 'fake')
    for arguments, name in ((('/dev/sda',), 'intel-worn'), (('/dev/sdb',), 'seagate-exos-failing'),
                            (('/dev/bus/0', 'megaraid,0'), 'micron-5200-healthy')):
        fake.answers(read_arguments(*arguments), drive(name))
    empty = json.dumps({'json_format_version': [1, 0], 'smartctl': {'version': [7, 3], 'exit_status': 2, 'messages': [
        {'string': 'Smartctl open device: /dev/bus/0 [megaraid_disk_01] failed: INQUIRY failed', 'severity': 'error'}]}})
    fake.answers(read_arguments('/dev/bus/0', 'megaraid,1'), empty, 2)

    printed = run('-p', fake.path, '--nosudo', '-d', '/dev/sda', '-d', '/dev/sdb', '-d', 'megaraid,[0-1]@/dev/bus/0').text

    shown = re.search(r'    \$ check_smart_attributes -d /dev/sda.*?\n((?:    .*\n)+)', (ROOT / 'README').read_text()).group(1)
    assert re.sub(r'^    ', '', shown, flags=re.MULTILINE) == printed
