"""ZFS pools from recorded outputs of `zpool status`: which devices hold data, and what is not
known.

The outputs in tests/pools were written anew with the structure, states and numbers of public
reports: the first line names the report. Names of pools and devices were changed to those that -P
prints, rows that the report leaves out were added in the same form. tests/pools.json is their
index: what was changed or added ("partly": rows were added; "inferred":
the text was found without its address, which its content names), and what each output means,
written down by reading it and not by running the program.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from conftest import ROOT

from smart_attributes.errors import Coded
from smart_attributes.model import Group, Member
from smart_attributes.reading import system
from smart_attributes.reading.system import LINUX, System
from smart_attributes.redundancy import zpool, zpool_status
from smart_attributes.redundancy.dependence import Seen
from smart_attributes.redundancy.survival import Stack

SAMPLES = {
    path.name: path.read_text() for path in sorted((ROOT / 'tests' / 'pools').iterdir())
}
INDEX = json.loads((ROOT / 'tests' / 'pools.json').read_text())
LETTERS = {
    'in_sync': 'A',
    'rebuilding': 'r',
    'spare': 's',
    'faulty': 'F',
    'missing': '-',
    'unknown': '?',
}
SUSPENDED = (
    'zpool reports the state SUSPENDED: connect its devices, then clear its errors'
)
TWICE = 'zpool reports a device twice'
UNKNOWN_TYPE = 'this version of the plugin does not know its type'
RESILVER = 'a resilver is running, and zpool does not report which devices are complete'
LOST = {
    'single': 0,
    'mirror': 1,
    'raidz1': 1,
    'raidz2': 2,
    'raidz3': 3,
    'draid1': 1,
    'draid2': 2,
    'draid3': 3,
}


def completed(
    known: Any, text: str, *rest: Any
) -> tuple[tuple[Group, ...], tuple[Coded, ...]]:
    """Return the groups and notes, as if the program had printed this."""
    with mock.patch.object(system, 'output', lambda command: (text, '')):
        view = zpool.completed(Seen(groups=known), *(rest or (LINUX,)))
    return view.groups or (), view.notes


def text_of(name: str) -> str:
    """Return a sample as zpool printed it."""
    return SAMPLES[name].partition('\n')[2] if name.endswith('.txt') else SAMPLES[name]


def groups_of(text: str) -> dict[str, Group]:
    """Return the groups by id; each device is on a disk of the same name."""
    found = zpool.groups(text, lambda path: (path,))
    assert len({group.id for group in found}) == len(found)
    return {group.id: group for group in found}


def shown(group: Group) -> tuple[str, str, str]:
    """Return the level, or why it is unknown, the states of the members as letters, and what
    runs.
    """
    states = ''.join(
        LETTERS[member.state] for member in group.members if not member.role
    )
    for role in ('log', 'cache'):
        found = ''.join(
            LETTERS[member.state] for member in group.members if member.role == role
        )
        states += f' {role}:{found}' if found else ''
    done = '' if group.progress is None else f' {group.progress:g}'
    return group.level or group.unknown, states, f'{group.activity}{done}'


REASONS = {
    'SUSPENDED': SUSPENDED,
    'twice': TWICE,
    'resilver': RESILVER,
    'kind': UNKNOWN_TYPE,
}
DOUBTS = {why: key for key, _, why, _ in zpool_status._DOUBTS} | {
    zpool_status.ABOVE: 'above'
}


def key_of(doubt: str) -> str:
    """Return the key of a doubt about a pool."""
    return DOUBTS[doubt.partition('; ')[0]]


def told(name: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the groups of a sample in the words of the index, and what is doubted."""
    groups, reasons = (
        groups_of(text_of(f'{name}.txt')),
        {why: key for key, why in REASONS.items()},
    )
    pools = {
        f'zfs {pool.name}': pool.doubts
        for pool in zpool_status.pools(text_of(f'{name}.txt'))
    }
    stack, rows, doubts = (
        Stack(groups.values()),
        {},
        {
            'groups': set(),
            'members': set(),
            'pool': {key_of(doubt) for doubts in pools.values() for doubt in doubts},
        },
    )
    for key, group in groups.items():
        level, *rest = shown(group)
        if 'is not understood' in level:
            level = 'form'
        left = str(stack.tolerates(group, set())) if group.level and '/' in key else ''
        states, activity = rest
        rows[key[4:]] = ' '.join(
            part for part in (reasons.get(level, level), states, left, activity) if part
        )
        if '/' in key:
            of_pool = pools[key.partition('/')[0]]
            assert group.doubts[: len(of_pool)] == of_pool
            doubts['groups'] |= (
                {group.name} if len(group.doubts) > len(of_pool) else set()
            )
        doubts['members'] |= {member.name for member in group.members if member.doubts}
    return rows, {key: sorted(found) for key, found in doubts.items() if found}


@pytest.mark.parametrize('name', INDEX)
def test_a_collected_output_is_understood_as_it_was_read(name):
    entry = INDEX[name]
    expected = {key: ' '.join(text.split()) for key, text in entry['expected'].items()}
    rows, doubts = told(name)

    assert rows == expected
    assert doubts == {
        key: sorted(found) for key, found in entry.get('doubts', {}).items()
    }


def test_all_samples_have_an_expectation_and_at_least_95_percent_are_classified():
    """An output whose form is not understood is unknown; a pool that is suspended is understood."""
    assert {name.removesuffix('.txt') for name in SAMPLES} == {*INDEX}
    unknown = [
        name
        for name, entry in INDEX.items()
        if any(
            text.split(' ')[0] in ('form', 'kind')
            for text in entry['expected'].values()
        )
    ]
    assert (len(SAMPLES), unknown) == (90, ['draid-prerelease', 'guids', 'trim-line'])
    assert len(unknown) <= 0.05 * len(SAMPLES)


def test_a_pool_is_made_of_its_virtual_devices_and_these_of_disks():
    """The groups form a tree by `on`, with the disks as leaves."""
    found = groups_of(text_of('mirror-replacing.txt'))

    assert [member.on for member in found['zfs vz'].members] == [
        ('zfs vz/mirror-0',),
        ('zfs vz/mirror-1',),
    ]
    assert [member.on for member in found['zfs vz/mirror-0'].members] == [
        ('zfs vz/mirror-0/replacing-0',),
        ('/dev/disk/by-id/ata-DISK_A2-part1',),
    ]
    assert found['zfs vz/mirror-0'].members[1].detail == 'DEGRADED, too many errors'
    assert found['zfs vz/mirror-0/replacing-0'].members[0] == Member(
        'ata-DISK_A1-part1',
        'faulty',
        0,
        ('/dev/disk/by-id/ata-DISK_A1-part1',),
        'OFFLINE',
    )


@pytest.mark.parametrize(
    'name, state, detail, on_path',
    [
        ('/dev/sdc1', 'ONLINE', '', '/dev/sdc1'),
        ('/dev/sdc1', 'FAULTED', 'too many errors', '/dev/sdc1'),
        ('/dev/sdc1', 'OFFLINE', '', '/dev/sdc1'),
        ('/dev/sdc1', 'UNAVAIL', 'cannot open', ''),
        ('/dev/sdc1', 'REMOVED', '', ''),
        ('77669775', 'FAULTED', 'was /dev/sdc1', ''),
        ('/dev/sdc1', 'FAULTED', 'was /dev/sdc1', ''),
        (
            '77669775',
            'UNAVAIL',
            'was /dev/disk/by-id/ata-X-part1',
            '/dev/disk/by-id/ata-X-part1',
        ),
        ('/dev/disk/by-id/ata-X-part1', 'UNAVAIL', '', '/dev/disk/by-id/ata-X-part1'),
        ('/dev/disk/by-vdev/A1-part1', 'REMOVED', '', ''),
        ('draid1-0-0', 'ONLINE', '', ''),
        ('/tank/file', 'ONLINE', '', '/tank/file'),
    ],
)
def test_the_name_of_a_device_that_is_gone_may_belong_to_another_disk(
    name, state, detail, on_path
):
    """In one of the recorded outputs sdc is missing in one virtual device, and works in the
    other.
    """
    assert zpool_status.path_of(name, state, detail) == on_path


HEALTHY = text_of('special.txt')
ERRORS = '\nerrors: No known data errors\n'
RESILVERING = 'resilver (mirror-77) in progress since'


@pytest.mark.parametrize(
    'old, new, reason',
    [
        (
            'ONLINE       0     0     0\n\n',
            'ONLINE       0     0     0  (wondering)\n\n',
            '(zpool prints an unknown remark beside a device that is ONLINE)',
        ),
        ('mirror-8 ', 'mirror3-8', UNKNOWN_TYPE),
        ('raidz2-0', 'hole-0  ', UNKNOWN_TYPE),
        (ERRORS, '', '("errors" is missing)'),
        ('STATE     READ', 'STATE     SLOW', '(the table has unexpected columns)'),
        ('special\t', 'tertiary', '(a row of the table has an unknown format)'),
        ('rpool       ', 'otherpool   ', '(the table does not begin with the pool)'),
        (
            '  raidz2-0    ',
            '    raidz2-0  ',
            '(a row of the table is indented too far)',
        ),
        (
            '  raidz2-0    ',
            '   raidz2-0   ',
            '(a row of the table has an unknown format)',
        ),
        (' state: ONLINE', ' state: SUSPENDED', 'the state SUSPENDED'),
        (
            ' state: ONLINE',
            ' state: BROKEN',
            '(zpool reports two different states for the pool)',
        ),
        (
            ' state: ONLINE',
            ' state: DEGRADED',
            '(zpool reports two different states for the pool)',
        ),
        (
            ' state: ONLINE\n',
            ' state: ONLINE\n state: ONLINE\n',
            '("state" is not expected there)',
        ),
        ('  scan: scrub', '  scan: shake', 'a resilver is running'),
        (
            'config:\n',
            'config: The configuration cannot be determined.\n',
            '(the table has unexpected columns)',
        ),
        (
            '  pool: rpool',
            'warning: no lock\n  pool: rpool',
            '(a line has an unknown format)',
        ),
        (ERRORS, '\nerrors: 1\n\t/file\n', 'an unknown format'),
        (
            f'mirror-8{" " * 28}ONLINE ',
            f'mirror-8{" " * 28}FAULTED',
            'the state FAULTED',
        ),
        ('  scan: scrub repaired', f'  scan: {RESILVERING}', RESILVER),
    ],
)
def test_what_is_not_understood_makes_the_pool_unknown(old, new, reason):
    assert HEALTHY.count(old)
    text = HEALTHY.replace(old, new)

    found = groups_of(text)

    assert any(reason in group.unknown for group in found.values())
    assert redundancy(text).get('zfs rpool', -100) == -100


def test_a_degraded_pool_with_only_healthy_devices_is_a_contradiction():
    """A line is missing, or was taken for one of another pool."""
    pool = HEALTHY.replace(' state: ONLINE', ' state: DEGRADED')
    pool = re.sub('(?<=\trpool) ( +)ONLINE  ', r' \1DEGRADED', pool)
    part = re.sub('(?<=  raidz2-0) ( +)ONLINE  ', r' \1DEGRADED', pool)

    assert {shown(group)[0] for group in groups_of(pool).values()} == {
        zpool._CONTRADICTION
    }
    assert [shown(group)[0] for group in groups_of(part).values()] == [
        'raid0',
        zpool._CONTRADICTION,
        'mirror',
    ]


@pytest.mark.parametrize(
    'text',
    [
        '',
        'no pools available\n',
        '{}',
        '  pool: ',
        '  pool: a\n  pool: a\n',
    ],
)
def test_other_output_gives_no_group_with_redundancy(text):
    assert [group for group in groups_of(text).values() if group.level] == []


# --- damaged output: nothing raises, and nothing looks better than it is --------------------------


def redundancy(text: str) -> dict[str, int]:
    """Return for each pool how many more devices may fail in its worst part, -100 if that is not
    known.
    """
    found, rated = groups_of(text), {}
    for group in found.values():
        if group.id.count('/') == 0:
            parts = (
                [
                    found[member.on[0]]
                    for member in group.members
                    if member.slot is not None
                ]
                if group.level
                else []
            )
            rated[group.id] = min((_rated(part) for part in parts), default=-100)
    return rated


def _rated(group: Group) -> int:
    lost = (
        LOST.get(group.level, -100)
        if group.level != 'mirror'
        else len(group.members) - 1
    )
    return max(-100, lost - sum(member.state != 'in_sync' for member in group.members))


# Its part with two missing devices is ONLINE, as in the report. With one of them in another part,
# the output is one that zpool could print.
AMBIGUOUS = 'removed.txt'


def damaged(text: str, chance: random.Random) -> Iterator[str]:
    """Yield the text cut off, with a line twice, with two lines exchanged, and with all lines in
    another order.
    """
    lines = text.split('\n')
    yield from (text[: chance.randrange(len(text))] for _ in range(40))
    for number in range(len(lines)):
        yield '\n'.join((*lines[:number], lines[number], *lines[number:]))
        other = chance.randrange(len(lines)) if text != text_of(AMBIGUOUS) else number
        swapped = list(lines)
        swapped[number], swapped[other] = lines[other], lines[number]
        yield '\n'.join(swapped)
    for _ in range(40):
        yield '\n'.join(chance.sample(lines, len(lines)))


@pytest.mark.parametrize('name', SAMPLES)
def test_damaged_output_never_shows_more_redundancy(name):
    intact, chance = text_of(name), random.Random(name)
    best = redundancy(intact)
    for text in damaged(intact, chance):
        for pool, number in redundancy(text).items():
            assert number <= best.get(pool, -100), text


def test_two_pools_do_not_mix_when_lines_are_lost_or_moved():
    intact = text_of('raidz2-replacing.txt') + '\n' + text_of('mirror-replacing.txt')
    best, chance = redundancy(intact), random.Random(26)
    assert best == {'zfs storage': 1, 'zfs vz': 0}
    for text in damaged(intact, chance):
        for pool, number in redundancy(text).items():
            assert number <= best.get(pool, -100), text


# --- hostile names and sizes ----------------------------------------------------------------------


def table(rows: list[tuple[int, str]]) -> str:
    """Return the output of zpool status for a pool "tank" with these rows, all ONLINE."""
    width = max(10, *(2 * depth + len(name) for depth, name in rows))
    body = ''.join(
        f'\t{"  " * depth + name:<{width}}  ONLINE       0     0     0\n'
        for depth, name in [(0, 'tank'), *rows]
    )
    return (
        f'  pool: tank\n state: ONLINE\nconfig:\n\n\t{"NAME":<{width}}  STATE     READ WRITE '
        f'CKSUM\n{body}\nerrors: No known data errors\n'
    )


@pytest.mark.long
def test_ten_thousand_devices_and_megabytes_are_read():
    """Within the time limit of a test."""
    rows = [
        row
        for number in range(10_000)
        for row in (
            (1, f'mirror-{number}'),
            (2, f'/dev/a{number}'),
            (2, f'/dev/b{number}'),
        )
    ]

    assert len(groups_of(table(rows))) == 10_001
    assert groups_of('\t' + ' ' * (1 << 20) + '\n  pool: a\n' + 'x' * (1 << 20))
    assert groups_of('  pool: a\n' * 100_000)
    assert groups_of(table([(depth + 1, f'mirror-{depth}') for depth in range(1000)]))


RUNS = 'in progress since x'


@pytest.mark.parametrize(
    'text, scan',
    [
        (f'resilver {RUNS}\n\t9G issued, 12.5% done', ('resilver', '', 12.5)),
        (f'resilver (mirror-0) {RUNS}', ('resilver', 'mirror-0', None)),
        (f'scrub {RUNS}\n\t100.40% done', ('scrub', '', 100)),
        ('scrub paused since 9', None),
        ('shaken since 9', ('resilver', '', None)),
    ],
)
def test_a_scan_is_of_all_virtual_devices_unless_it_names_one(text, scan):
    assert zpool_status._scan(text) == scan


@pytest.mark.parametrize(
    'rows, reason',
    [
        ([(1, 'mirror-0'), (2, '/dev/a')], UNKNOWN_TYPE),
        (
            [(1, 'raidz2-0'), (2, '/dev/a'), (2, '/dev/b')],
            UNKNOWN_TYPE,
        ),
        (
            [(1, 'draid1:2d:4c:1s-0'), (2, '/dev/a'), (2, '/dev/b'), (2, '/dev/c')],
            UNKNOWN_TYPE,
        ),
        (
            [
                (1, 'mirror-0'),
                (2, 'mirror-1'),
                (3, '/dev/a'),
                (3, '/dev/b'),
                (2, '/dev/c'),
            ],
            UNKNOWN_TYPE,
        ),
    ],
)
def test_a_virtual_device_with_other_devices_than_its_name_says_is_unknown(
    rows, reason
):
    assert any(reason in group.unknown for group in groups_of(table(rows)).values())


# --- asking zpool ---------------------------------------------------------------------------------


def program(folder: Path, script: str) -> str:
    """Write a program called zpool, and return its folder."""
    path = folder / 'zpool'
    path.write_text(f'#!/bin/sh\n{script}\n')
    path.chmod(0o755)
    return str(folder)


def test_zpool_is_run_with_paths_and_its_output_is_read(tmp_path):
    folder = program(tmp_path, 'echo "$@"; echo noise >&2')

    assert system.output(zpool.COMMAND, folder) == ('status -P\n', '')


@pytest.mark.parametrize(
    'script, reason',
    [
        ('sleep 60', ' 0.3 s'),
        (
            'echo "cannot \'/dev/zfs\': denied" >&2; exit 1',
            ' 1: cannot /dev/zfs: denied',
        ),
        ('kill -9 $$', 'zpool status -P: terminated by signal 9'),
        ('', 'not found in /'),
        (
            'while :; do echo 12345678901234567890123456789012345678901234567890; done',
            'zpool status -P: ',
        ),
    ],
)
def test_without_an_answer_there_is_a_reason(tmp_path, script, reason):
    folder = program(tmp_path, script) if script else str(tmp_path)
    text, why = system.output(zpool.COMMAND, folder, 0.3)

    assert (text, reason in why) == ('', True), why


def test_pools_that_zpool_reports_replace_those_that_are_known_by_name(tmp_path):
    sys, dev = tmp_path / 'sys', tmp_path / 'dev'
    sda2 = Member('sda2', 'unknown')
    sdc2 = Member('sdc2', 'unknown')
    known = (
        Group('md0', 'md0', 'md', 'raid1'),
        Group('zfs tank', 'tank', 'zfs', '', members=(sda2,), used_as=('/tank',)),
        Group('zfs other', 'other', 'zfs', '', members=(sdc2,), unknown='why'),
    )

    rows = [(1, 'mirror-0'), (2, '/dev/sda'), (2, '/dev/sda2')]
    rows += [(1, 'mirror-1'), (2, '/dev/sdb'), (2, '/dev/sdb2')]
    found, notes = completed(known, table(rows), System(str(sys), str(dev)))

    assert notes == ()
    assert [group.id for group in found] == [
        'md0',
        'zfs other',
        'zfs tank',
        'zfs tank/mirror-0',
        'zfs tank/mirror-1',
    ]
    assert found[2].used_as == ('/tank',)


def test_a_pool_that_is_not_understood_keeps_its_disks():
    """They are known from their labels, so that nobody takes them for unused."""
    disk = Member('sda3', 'unknown', None, ('sda',))
    known = (Group('zfs rpool', 'rpool', 'zfs', '', members=(disk,), unknown='why'),)

    found, notes = completed(known, HEALTHY.replace('errors: ', 'x: '))

    assert (found[0].members, found[0].level, notes) == (known[0].members, '', ())
    assert 'not understood' in found[0].unknown
    same, [note] = completed(known, 'what?')
    assert (same, note.code) == (known, 'zpool-status-missing')
    assert completed(known, '') == (known, ())  # no pool is imported


def test_a_spare_of_a_replacement_is_as_incomplete_as_that():
    """Only the first device of replacing-N is certain to hold the data."""
    pool = table(
        [
            (1, 'mirror-0'),
            (2, '/dev/a'),
            (2, 'replacing-1'),
            (3, '/dev/b'),
            (3, 'spare-1'),
            (4, '/dev/c'),
            (4, '/dev/d'),
        ]
    )
    assert shown(groups_of(pool)['zfs tank/mirror-0/replacing-1/spare-1']) == (
        'mirror',
        'rr',
        '',
    )
    assert shown(groups_of(pool)['zfs tank/mirror-0/replacing-1']) == (
        'mirror',
        'Ar',
        '',
    )


def test_without_an_answer_pools_stay_unknown_and_there_is_one_note(monkeypatch):
    monkeypatch.setattr(
        system, 'output', lambda command: ('', 'zpool was not found in /sbin')
    )
    disk = Member('sda3', 'unknown', None, ('sda',))
    known = (Group('zfs tank', 'tank', 'zfs', '', members=(disk,), unknown='why'),)

    view = zpool.completed(Seen(groups=known), LINUX)

    assert view.groups == known
    assert [(note.code, '/sbin' in note) for note in view.notes] == [
        ('zpool-status-missing', True)
    ]
