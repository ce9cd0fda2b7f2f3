"""What ZFS pools mean for the order of replacement: doubts, and devices that hold none of a
pool's data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from cases import bad, sound
from conftest import ROOT

from smart_attributes.model import Group
from smart_attributes.redundancy import sentences, zpool
from smart_attributes.redundancy.replacement import (
    COPY,
    NEXT,
    UNKNOWN,
    WAIT,
    Step,
    order,
)
from smart_attributes.redundancy.survival import Stack

POOLS = {
    path.name: path.read_text().partition('\n')[2]
    for path in sorted((ROOT / 'tests' / 'pools').iterdir())
}
FINE = 'ONLINE       0     0     0'


def output(
    rows: Sequence[tuple[int, str, str]],
    state: str = 'ONLINE',
    scan: str = '',
    more: str = '',
    errors: str = 'No known data errors',
    name: str = 'tank',
    status: str = '',
) -> str:
    """Return the output of zpool status. rows: depth, name, and the rest of the row; depth -1:
    the title of a class.
    """
    body = ''.join(
        f'\t{title}\n' if depth < 0 else f'\t{"  " * depth + title:<30}  {rest}\n'
        for depth, title, rest in [
            (0, name, FINE.replace('ONLINE  ', f'{state:<8}')),
            *rows,
        ]
    )
    status, scan = (
        f'{key}: {text}\n' if text else ''
        for key, text in (('status', status), ('  scan', scan))
    )
    return (
        f'  pool: {name}\n state: {state}\n{status}{scan}{more}config:\n\n'
        f'\t{"NAME":<30}  STATE     READ WRITE CKSUM\n{body}\nerrors: {errors}\n'
    )


def mirror(partner: str = FINE, **more: str) -> str:
    """Return a pool of the mirror of sda1 and sdb1, with a log on sdf1."""
    return output(
        [
            (1, 'mirror-0', more.pop('vdev', FINE)),
            (2, '/dev/sda1', FINE),
            (2, '/dev/sdb1', partner),
            (-1, 'logs\t', ''),
            (1, '/dev/sdf1', more.pop('log', FINE)),
        ],
        **more,
    )


def groups_of(text: str) -> tuple[Group, ...]:
    """Return the groups; each device lies on the disk that its name begins with, such as "sda"
    of sda1.
    """
    return zpool.groups(
        text, lambda path: (re.sub('[0-9]$', '', path.rpartition('/')[2]),)
    )


def steps(
    groups: Sequence[Group], failing: Sequence[str], unread: Sequence[str] = ()
) -> dict[str, Step]:
    """Return the steps by drive; all drives are judged but for *unread*."""
    stack = Stack(groups)
    disks = sorted(
        {disk for group in groups for disk in stack.disks(group.id)}
        - {*failing, *unread}
    )
    return {
        step.drive.name: step
        for step in order(
            stack,
            [
                *(bad(name) for name in failing),
                *(sound(name) for name in disks),
            ],
        )
    }


# --- doubts ---------------------------------------------------------------------------------------

SCRUB = 'scrub the pool, then clear its errors, see doc/how-to/replace-a-drive.md'
RESILVER = (
    'resilver in progress since Mon Jun  2 14:21:35 2014\n\t604M scanned\n\t604M '
    'resilvered, 77.39% done'
)


@pytest.mark.parametrize(
    'text, label, remedy',
    [
        (mirror(), NEXT, ''),
        (
            mirror(
                scan='scrub repaired 12K in 00:00:01 with 0 errors on Mon Jun  2 14:21:35 2014'
            ),
            NEXT,
            '',
        ),
        (mirror(scan='scrub canceled on Mon Jun  2 14:21:35 2014'), NEXT, ''),
        (
            mirror(
                more='expand: expanded raidz1-0 copied 1G in 00:00:11, on Sat Feb 14 20:04:35 '
                '2026\n'
            ),
            NEXT,
            '',
        ),
        (mirror('ONLINE    1.2K     0     0'), UNKNOWN, SCRUB),
        (mirror('ONLINE       0     3     0'), UNKNOWN, SCRUB),
        (mirror('ONLINE       0     0  1,2K'), UNKNOWN, SCRUB),
        (mirror('DEGRADED     0     0     0  too many slow I/Os'), UNKNOWN, SCRUB),
        (mirror(errors="3 data errors, use '-v' for a list"), UNKNOWN, SCRUB),
        (
            mirror(
                errors='List of errors unavailable: permission denied\n\nerrors: 3 data errors'
            ),
            UNKNOWN,
            SCRUB,
        ),
        (
            mirror(
                scan='scrub repaired 12K in 00:00:01 with 2 errors on Mon Jun  2 14:21:35 2014'
            ),
            UNKNOWN,
            SCRUB,
        ),
        (
            mirror(
                scan='resilvered 12K in 1 days 00:00:01 with 10 errors on Mon Jun  2 14:21:35 2014'
            ),
            UNKNOWN,
            SCRUB,
        ),
        (
            mirror(scan='resilver (mirror-0) canceled on Mon Jun  2 14:21:35 2014'),
            UNKNOWN,
            SCRUB,
        ),
        (
            mirror(more='expand: expansion of raidz1-0 in progress since x\n'),
            UNKNOWN,
            'wait until it has ended',
        ),
        (mirror(vdev='ONLINE       0     0     4'), UNKNOWN, SCRUB),
        (mirror(f'{FINE}  (resilvering)', scan=RESILVER), WAIT, ''),
        (mirror(scan=RESILVER), COPY, ''),  # it is not shown which device lacks data
        (
            mirror(
                status='One or more devices are faulted in response to IO failures.'
            ),
            COPY,
            'connect its devices, then clear its errors',
        ),
    ],
)
def test_the_partner_of_a_doubtful_device_is_never_next(text, label, remedy):
    step = steps(groups_of(text), ['sda'])['sda']

    assert step.label == label, step
    assert remedy in step.why and step.why.code != (
        'redundancy-doubtful' if label != UNKNOWN else ''
    )


# --- log and cache devices ------------------------------------------------------------------------

FAULTED = 'FAULTED      3    12     0  too many errors'


def test_a_faulty_log_device_is_named_and_changes_no_tolerance():
    pool, half = groups_of(mirror(log=FAULTED))

    assert 'log device sdf1 faulty' in sentences.tolerance(pool, 0)
    assert [(member.name, member.role, member.slot) for member in pool.members] == [
        ('mirror-0', '', 0),
        ('sdf1', 'log', None),
    ]
    assert (pool.slots, Stack([pool, half]).tolerates(half, frozenset())) == (1, 1)
    assert Stack([pool, half]).survives(pool, frozenset(('sda', 'sdf')))
    assert not Stack([pool, half]).survives(pool, frozenset(('sda', 'sdb')))


@pytest.mark.parametrize(
    'row, words', [(FAULTED, ': replace it'), (FINE, 'replace or remove')]
)
def test_a_drive_with_only_a_log_is_next_for_a_reason_of_its_own(row, words):
    """Also while other drives of the pool were not checked, and while the pool is in doubt."""
    for text, unread in (
        (mirror(log=row), ()),
        (mirror(log=row), ('sda', 'sdb')),
        (mirror('ONLINE       0     0     9', log=row), ()),
    ):
        step = steps(groups_of(text), ['sdf'], unread)['sdf']
        assert (step.label, step.why.code, step.why.fields['group']) == (
            NEXT,
            'only-log-or-cache',
            'zfs tank',
        )
        assert words in step.why


@pytest.mark.parametrize('failing', [(), ('sdb',)])
def test_a_faulted_device_is_one_that_the_pool_has_dropped(failing):
    """What lies above it in the pool is no data on it."""
    text = mirror(FAULTED, vdev='DEGRADED     0     0     0', state='DEGRADED')
    step = steps(groups_of(text), failing)['sdb']

    assert (step.label, step.why.code) == (NEXT, 'member-not-used')
    assert step.why.fields['group'] == 'zfs tank/mirror-0' and 'sdb1 faulty' in step.why


def test_a_faulty_log_is_replaced_although_its_disk_has_no_finding():
    assert {
        name: step.why.code
        for name, step in steps(groups_of(mirror(log=FAULTED)), ()).items()
    } == {'sdf': 'only-log-or-cache'}
    assert steps(groups_of(mirror()), ()) == {}


def test_a_log_does_not_delay_the_replacement_of_data():
    """Neither while it is faulty, nor because its disk was not checked; a disk with data that
    was not checked does.
    """
    assert steps(groups_of(mirror(log=FAULTED)), ['sda'])['sda'].label == NEXT
    assert steps(groups_of(mirror()), ['sda', 'sdf'])['sda'].label == NEXT
    assert steps(groups_of(mirror()), ['sda'], ['sdf'])['sda'].label == NEXT
    assert (
        steps(groups_of(mirror()), ['sda'], ['sdb'])['sda'].why.code
        == 'members-not-checked'
    )


# --- hostile names, languages, damage, sizes ------------------------------------------------------

NAMES = [
    'logs',
    'cache',
    'spares',
    'special',
    'mirror-0',
    'ONLINE',
    'tank FAULTED 0',
    'NAME STATE READ',
    'errors: No known data',
    'pool: x',
    'state: FAULTED',
    'a' * 255,
    '-f',
    '$(reboot)',
    '%s{0}',
    'tänk',
    '池',
    '\u202etank',
    'a\x1b[2J',
    ' logs',
    'a  b',
    '',
]
# too wide for the table, or not printable
UNREAD = ('a' * 255, '\u202etank', 'a\x1b[2J')


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('place', ['pool', 'device', 'log'])
def test_a_hostile_name_gives_the_truth_or_nothing(name, place):
    """A pool or a device may be called like a part of the table."""
    partner, log = (
        f'/dev/{name}' if place == each else kept
        for each, kept in (('device', '/dev/sdb1'), ('log', '/dev/sdf1'))
    )
    text = output(
        [
            (1, 'mirror-0', FINE.replace('ONLINE  ', 'DEGRADED')),
            (2, '/dev/sda1', FINE),
            (2, partner, FAULTED),
            (-1, 'logs\t', ''),
            (1, log, FINE),
        ],
        'DEGRADED',
        name=name if place == 'pool' else 'tank',
    )
    known = [group for group in groups_of(text) if group.level == 'mirror']

    is_unread = name in UNREAD or (place == 'pool' and name == ' logs')
    assert [[member.state for member in group.members] for group in known] == [
        ['in_sync', 'faulty']
    ] * (not is_unread)
    assert all(
        step.label != NEXT or disk != 'sda'
        for disk, step in steps(groups_of(text), ['sda']).items()
    )


@pytest.mark.parametrize(
    'old, new',
    [
        ('Jun  2', 'июн  2'),
        ('Mon Jun', '月 6月'),
        ('77.39%', '77,39%'),
        ('604M', '604,5M'),
        ('0     0     0', '0     0   0,0'),
    ],
)
def test_dates_and_decimals_of_other_languages_change_nothing(old, new):
    text = mirror(f'{FINE}  (resilvering)', scan=RESILVER)
    assert old in text
    assert groups_of(text.replace(old, new)) == groups_of(text)


def test_a_column_that_is_not_known_makes_the_pool_unknown():
    """Its rows may mean anything; those of -s, --power and -d say nothing about the data."""
    text = POOLS['slow-column.txt']
    assert {group.level for group in groups_of(text)} == {'raid0', 'single', 'mirror'}
    assert {group.level for group in groups_of(text.replace('SLOW', 'DIO'))} == {
        'raid0',
        'single',
        'mirror',
    }
    assert {group.level for group in groups_of(text.replace('SLOW', 'HEAT'))} == {''}


@pytest.mark.parametrize('name', POOLS)
def test_a_doubled_output_is_not_believed(name):
    """Each pool occurs twice, so that none is known; cut outputs and moved lines are tested in
    test_zpool.
    """
    assert [
        group.level
        for group in zpool.groups(POOLS[name] * 2, lambda path: ())
        if group.level
    ] == []
