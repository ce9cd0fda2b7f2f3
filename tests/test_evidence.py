"""All that a kernel and the tools tell of groups is read, or irrelevant for a reason; changing
trees.
"""

import ast
import json
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from block_tree import Machine, groups
from cases import bad, sound
from conftest import ROOT

from smart_attributes.model import Group
from smart_attributes.reading.system import System
from smart_attributes.redundancy import doubts, zpool_status
from smart_attributes.redundancy.replacement import NEXT, order
from smart_attributes.redundancy.survival import Stack

# All that the kernel and the tools show about groups: what is read, and what is ignored and why.
TABLES: Mapping[str, Any] = json.loads((ROOT / 'tests/group_sources.json').read_text())
# Start of a path in tests/kernel -> the source of the table.
SOURCES = (
    ('md/dev-NAME/', 'md_member'),
    ('md/', 'md'),
    ('btrfs/devinfo/[0-9]+/', 'btrfs_device'),
    ('btrfs/', 'btrfs'),
)


# --- the table ------------------------------------------------------------------------------------


def unexplained(paths: Iterable[str]) -> set[str]:
    """Return the paths that the table does not have. paths: as in tests/kernel."""
    missing = set()
    for path in paths:
        start, source = next(each for each in SOURCES if re.match(each[0], path))
        if not _has(source, re.sub(f'^{start}', '', path)):
            missing.add(path)
    return missing


def _has(source: str, name: str) -> bool:
    table = TABLES[source]
    return any(
        fnmatchcase(name, each)
        for each in (*table['read'], *chain(*table['irrelevant'].values()))
    )


@pytest.mark.parametrize(
    'file', sorted((ROOT / 'tests/kernel').glob('*.txt')), ids=lambda path: path.stem
)
def test_each_file_of_a_real_kernel_is_read_or_irrelevant_for_a_reason(file):
    paths = [line for line in file.read_text().splitlines() if not line.startswith('#')]

    assert len(paths) > 100 and unexplained(paths) == set()
    assert unexplained(
        ['md/dax', 'md/dev-NAME/dax', 'btrfs/devinfo/1/dax', 'btrfs/dax']
    ) == {
        'md/dax',
        'md/dev-NAME/dax',
        'btrfs/devinfo/1/dax',
        'btrfs/dax',
    }


def test_each_key_and_column_of_zpool_is_read_or_irrelevant_for_a_reason():
    names = {*zpool_status._KEYS}
    for path in (ROOT / 'tests/pools').rglob('*.txt'):
        names |= {
            each
            for line in re.findall(r'^\t(NAME +STATE.*)$', path.read_text(), re.M)
            for each in line.split()
        }

    assert (
        names >= {'NAME', 'SLOW', 'scan'}
        and [name for name in sorted(names) if not _has('zpool', name)] == []
    )


@pytest.mark.parametrize('source', TABLES)
def test_the_table_is_well_formed(source):
    """Each name occurs once, and each reason is one."""
    table = TABLES[source]
    unread = [*chain(*table['irrelevant'].values())]

    assert (
        set(table) == {'about', 'read', 'irrelevant'}
        and table['about']
        and all(table['read'].values())
    )
    assert len({*table['read'], *unread}) == len(table['read']) + len(unread)
    assert all(reason.startswith('because ') for reason in table['irrelevant'])


@pytest.mark.parametrize('source', ['md', 'md_member', 'btrfs', 'btrfs_device'])
def test_each_file_that_is_read_is_in_the_code(source):
    """Else the table would hide a file that nobody reads."""
    code = ''.join(
        (ROOT / f'smart_attributes/redundancy/{name}.py').read_text()
        for name in ('arrays', 'doubts')
    )

    names = [
        each for path in TABLES[source]['read'] for each in re.findall('[a-z_]+', path)
    ]
    assert [name for name in names if not re.search(rf"['/]{name}\b", code)] == []
    assert files_with_doubts() <= {*TABLES['md']['read'], *TABLES['md_member']['read']}


def files_with_doubts() -> set[str]:
    """Return the files of an array and its members that a doubt may come from."""
    files = {'state', 'level'}

    def unread(name: str) -> str:
        files.add(name)
        return doubts.UNREAD

    list(doubts.of_array(unread, is_swap=False))
    list(doubts.of_md_member('', 'raid1', unread))
    return files


def test_what_ends_a_doubt_is_said_in_words():
    """A command that changes storage stands only in the document."""
    calls = [
        node
        for node in ast.walk(ast.parse(Path(doubts.__file__).read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, 'id', '') == 'doubt'
    ]
    whys, remedies = (
        [
            node.value
            for call in calls
            for node in ast.walk(call.args[place])
            if isinstance(node, ast.Constant)
        ]
        for place in (0, 1)
    )

    assert len(calls) > 10 and not [why for why in whys if why.endswith('.')]
    assert [
        remedy for remedy in remedies if not re.fullmatch('[A-Za-z][a-z_, -]+', remedy)
    ] == []


# --- doubts that are none -------------------------------------------------------------------------


def found(
    tmp_path: Path, use: str = '/srv', level: str = 'raid1', **texts: str
) -> Group:
    machine = Machine(tmp_path)
    machine.disks('sda', 'sdb', 'sdc')
    machine.md(
        'md0', level, {'sda1': 'in_sync', 'sdb1': 'in_sync', 'sdc1': 'in_sync'}, **texts
    )
    if use == 'swap':
        machine.swap('/dev/md0')
    elif use:
        machine.mounted('/dev/md0', use)
    return next(group for group in groups(machine.system) if group.id == 'md0')


@pytest.mark.parametrize(
    'use, level, texts, remedies',
    [
        ('/srv', 'raid1', {'mismatch_cnt': '128'}, ['repair the array']),
        # memory that changed while it was written
        ('swap', 'raid1', {'mismatch_cnt': '128'}, []),
        # what it has made equal
        ('/srv', 'raid1', {'mismatch_cnt': '128', 'last_sync_action': 'repair'}, []),
        (
            '/srv',
            'raid1',
            {'mismatch_cnt': '0', 'sync_action': 'repair'},
            ['wait until the repair has ended'],
        ),
        (
            '/srv',
            'raid5',
            {'mismatch_cnt': '128', 'last_sync_action': 'recover'},
            ['repair the array'],
        ),
        (
            '/srv',
            'raid1',
            {'resync_start': '0', 'array_state': 'readonly'},
            ['make it writable, and wait for the resync'],
        ),
        ('/srv', 'raid1', {'mismatch_cnt': 'none', 'last_sync_action': 'resync'}, []),
        ('/srv', 'raid1', {'sync_action': 'frozen'}, ['let it rebuild']),
        ('/srv', 'raid1', {'sync_action': ''}, ['let it rebuild']),
        (
            '/srv',
            'raid5',
            {'journal_mode': 'quantum'},
            ['switch its journal to write-through'],
        ),
        ('/srv', 'raid5', {'reshape_position': '64'}, ['continue the reshape']),
        ('/srv', 'raid1', {'array_state': 'read-auto'}, ['let it resync']),
        ('/srv', 'raid1', {'resync_start': '0'}, ['let it resync']),
        (
            '/srv',
            'raid5',
            {
                'consistency_policy': 'journal',
                'journal_mode': 'write-through [write-back]',
            },
            ['switch its journal to write-through'],
        ),
        (
            '/srv',
            'raid5',
            {
                'consistency_policy': 'journal',
                'journal_mode': '[write-through] write-back',
            },
            [],
        ),
        ('/srv', 'raid5', {'consistency_policy': 'ppl', 'journal_mode': ''}, []),
        ('/srv', 'raid1', {'consistency_policy': 'bitmap'}, []),
        (
            '/srv',
            'raid0',
            {'resync_start': '0', 'consistency_policy': 'none', 'sync_action': ''},
            [],
        ),
    ],
)
def test_a_doubt_has_the_remedy_that_removes_it(use, level, texts, remedies, tmp_path):
    """As tried on Linux 6.12; an array without redundancy has no other copies to doubt."""
    assert [
        doubt.partition('; ')[2].partition(', see ')[0]
        for doubt in found(tmp_path, use, level, **texts).doubts
    ] == remedies


@pytest.mark.parametrize(
    'level, file_name, text, remedies',
    [
        ('raid1', 'bad_blocks', '8 8', ['repair']),
        ('raid6', 'unacknowledged_bad_blocks', '8 8', ['repair']),
        ('raid10', 'bad_blocks', '8 8', ['let']),
        ('raid1', 'state', 'in_sync,write_error', ['clear']),
        ('raid1', 'state', 'in_sync,blocked', ['start']),
        ('raid1', 'errors', '12', []),
        ('raid1', 'recovery_start', '8', []),
    ],
)
def test_a_doubt_about_a_member_has_the_remedy_that_removes_it(
    level, file_name, text, remedies, tmp_path
):
    """A repair of raid10 leaves its bad blocks, and one with a write error those of all levels."""
    found(tmp_path, '', level, layout='258')
    (tmp_path / f'sys/block/md0/md/dev-sdb1/{file_name}').write_text(f'{text}\n')
    [md0] = groups(System(*(str(tmp_path / name) for name in ('sys', 'proc', 'udev'))))

    assert [
        [doubt.partition('; ')[2].split()[0] for doubt in member.doubts]
        for member in md0.members
    ] == [[], remedies, []]


# As on a kernel without the other one.
ALIKE = {'consistency_policy', 'journal_mode'}


def label(machine: Machine) -> str:
    """Return the place of sda, which fails, in the order of replacement; sdb is good."""
    drives = [
        bad('sda'),
        sound('sdb'),
    ]
    steps = order(Stack(groups(machine.system)), drives)
    return {step.drive.name: step.label for step in steps}['sda']


def test_each_file_of_a_healthy_array_that_casts_doubt_is_needed(tmp_path):
    """Without it, nobody knows, except for those that some arrays do not have."""
    without: dict[str, str] = {}
    for file in sorted(files_with_doubts()):
        machine = Machine(tmp_path / file)
        machine.disks('sda', 'sdb')
        folder = (
            machine.md('md0', 'raid1', dict.fromkeys(('sda1', 'sdb1'), 'in_sync'))
            / 'md'
        )
        machine.mounted('/dev/md0', '/srv')
        assert label(machine) == NEXT
        for path in (folder / file, folder / 'dev-sdb1' / file):
            path.unlink(missing_ok=True)
        without[file] = label(machine)
    assert {file for file, told in without.items() if told == NEXT} == {
        *ALIKE,
        'last_sync_action',
    }
