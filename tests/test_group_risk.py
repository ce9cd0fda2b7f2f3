"""How close a group is to losing data, and how the page draws it: one group, one table row."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from smart_attributes.model import Group, Member
from smart_attributes.output import codes, page
from smart_attributes.redundancy.replacement import (
    LABELS,
    OF_CODE,
    Drive,
    Risk,
    order,
    risk,
)
from smart_attributes.redundancy.survival import Stack


def member(
    name: str | None = 'sda1',
    state: str = 'in_sync',
    drive: str | None = 'OK',
    slot: int | None = 0,
    **more: Any,
) -> dict[str, Any]:
    return {
        'name': name,
        'state': state,
        'slot': slot,
        'detail': None,
        'drives': [{'name': name[:3], 'state': drive}] if name else [],
        **more,
    }


TWO = [member(), member('sdb1', slot=1)]


def group(
    tolerates: int | None = 1,
    level: str | None = 'raid1',
    members: Any = TWO,
    **more: Any,
) -> dict[str, Any]:
    return {
        'id': 'md0',
        'name': 'md0',
        'kind': 'md',
        'level': level,
        'used_as': [],
        'tolerates': tolerates,
        'activity': None,
        'progress': None,
        'missing': 0,
        'unknown': None,
        'text': 'x',
        'members': members,
        **more,
    }


FAULTY, SPARE = (
    [member(), member('sdb1', 'faulty')],
    [*TWO, member('sdc1', 'spare', slot=None)],
)
BAD, SILENT, WORN = (
    [member(), member('sdb1', drive=state)]
    for state in ('CRITICAL', 'UNKNOWN', 'WARNING')
)


@pytest.mark.parametrize(
    'given, wanted',
    [
        (group(-1), Risk.BEYOND),
        (group(-1, 'single', TWO[:1]), Risk.BEYOND),
        (group(0), Risk.LAST),
        (group(-1, 'single', TWO[:1], used_as=['swap']), Risk.PLAIN),
        (group(-1, used_as=['swap']), Risk.BEYOND),
        (group(0, 'raid1', TWO[:1], missing=1), Risk.LAST),
        (group(0, 'raid1', TWO[:1]), Risk.PLAIN),
        (group(0, 'single', TWO[:1]), Risk.PLAIN),
        (group(0, 'raid0'), Risk.PLAIN),
        (group(0, 'single', WORN), Risk.PLAIN),
        (group(1), Risk.REDUNDANT),
        (group(1, members=SPARE), Risk.REDUNDANT),
        (group(1, members=WORN), Risk.REDUNDANT),
        (group(1, 'raid6', FAULTY), Risk.DEGRADED),
        (group(1, members=BAD), Risk.DEGRADED),
        (group(1, members=SILENT), Risk.DEGRADED),
        (group(1, missing=1), Risk.DEGRADED),
        (group(1, activity='recover'), Risk.DEGRADED),
        (group(1, activity='check'), Risk.REDUNDANT),
        (group(None, None), Risk.UNKNOWN),
        (group(None, None, BAD), Risk.UNSURE),
        (group(None, None, SILENT), Risk.UNSURE),
        (group(None, None, WORN), Risk.UNKNOWN),
    ],
)
def test_the_risk_of_a_group(given, wanted):
    assert risk(given) is wanted


def test_every_code_of_redundancy_has_its_label_and_risk():
    """The fleet reads lines of the plugin by them."""
    assert set(OF_CODE) == set(codes.DATA['redundancy'])
    assert {label for label, _ in OF_CODE.values()} == set(LABELS)


STATES = ('in_sync', 'faulty', 'rebuilding', 'unknown')


@pytest.mark.parametrize('level', ['raid1', 'raid5', 'raid6', 'raid0', ''])
def test_the_label_of_a_code_is_that_of_the_order_of_replacement(level):
    """For arrays of three members in all states, with all verdicts."""
    found = set()
    for states, failing, activity in itertools.product(
        itertools.product(STATES, repeat=3),
        itertools.product((False, True), repeat=3),
        ('', 'recover'),
    ):
        members = tuple(
            Member(f'{disk}1', state, slot, (disk,))
            for slot, (disk, state) in enumerate(zip(('sda', 'sdb', 'sdc'), states))
        )
        drives = [
            Drive(disk, frozenset((disk,)), bad, bad)
            for disk, bad in zip(('sda', 'sdb', 'sdc', 'sdx'), (*failing, True))
        ]
        stack = Stack([Group('md0', 'md0', 'md', level, 3, 0, members, activity)])
        found |= {(step.why.code, step.label) for step in order(stack, drives)}

    assert found and found <= {(code, label) for code, (label, _) in OF_CODE.items()}


# --- how the page draws them ----------------------------------------------------------------------


def drawn(*given: dict[str, Any]) -> list[Any]:
    return page.groups({'groups': given})


def test_groups_at_risk_are_drawn_first_and_others_keep_their_order():
    found = drawn(
        group(1, name='fine'),
        group(None, None, name='strange', kind='ceph'),
        group(1, name='fine too'),
        group(0, name='weak'),
        group(-1, name='broken'),
        group(1, members=BAD, name='ailing'),
    )

    assert [each['name'] for each in found] == [
        'broken',
        'weak',
        'ailing',
        'strange',
        'fine',
        'fine too',
    ]
    assert [each['state'] for each in found] == [
        'CRITICAL',
        'WARNING',
        'WARNING',
        'UNKNOWN',
        'OK',
        'OK',
    ]


def test_groups_without_redundancy_are_drawn_only_if_they_are_lost():
    found = drawn(
        group(0, 'single', TWO[:1], name='sda1', used_as=['/', '/home']),
        group(0, 'raid0', name='md7'),
        group(-1, 'single', TWO[:1], name='sdb1'),
    )

    assert [each['name'] for each in found] == ['sdb1']


@pytest.mark.parametrize(
    'given, level, tolerance',
    [
        (group(), 'raid1', 'tolerates 1 further loss'),
        (group(0, kind='lvm'), 'LVM raid1', 'tolerates no further loss'),
        (
            group(2, 'btrfs-raid1', kind='btrfs'),
            'btrfs raid1',
            'tolerates 2 further losses',
        ),
        (group(-2), 'raid1', 'has more failing or missing members than it tolerates'),
        (group(None, None, kind='ceph'), 'Ceph', 'redundancy not known'),
        (group(None, None, unknown='ask zpool'), '', 'redundancy not known: ask zpool'),
    ],
)
def test_a_group_says_what_it_tolerates(given, level, tolerance):
    [found] = drawn(given)

    assert (found['level'], found['tolerance']) == (level, tolerance)


def test_an_activity_has_its_word_and_progress():
    [known], [other] = (
        drawn(group(activity=each, progress=37.4)) for each in ('recover', 'juggle')
    )

    assert (known['activity'], known['progress'], other['activity']) == (
        'rebuilding',
        37.4,
        'juggle',
    )


def boxes(*members: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    """Return the class and the text of each box that the page draws for a group of these
    members.
    """
    content = page.Content(
        '{}',
        {},
        groups=drawn(group(None, members=members, **more)),
        places={'sdx': 0, 'sda': 1},
    )
    text = ' '.join(''.join(page.rendered(content, 'Drives', 0)).split())
    found = text.partition('<ul aria-label="Members of')[2].partition('</ul>')[0]
    return [
        (kind, ' '.join(re.sub('<[^>]*>', ' ', inner).split()))
        for kind, inner in re.findall('<li class="([^"]*)">(.*?)</li>', found)
    ]


def test_members_stand_by_slot_and_those_without_one_last():
    found = boxes(
        member('sdc1', 'spare', slot=None),
        member('sdb1', slot=1),
        member(None, 'missing', None, 2),
        member('sda1', slot=0),
        missing=2,
    )

    assert [(kind, re.sub(' sd. OK$', '', text)) for kind, text in found] == [
        ('', 'sda1 in sync'),
        ('', 'sdb1 in sync'),
        ('empty', 'slot 2: empty'),
        ('', 'sdc1 spare'),
        ('empty', '2 missing members'),
    ]


def test_of_many_empty_slots_three_are_drawn():
    """An array with 32 slots and 4 members exists."""
    found = boxes(
        *(member(None, 'missing', None, slot) for slot in range(28)),
        member(None, 'missing', None, None),
    )

    assert found == [
        ('empty', text)
        for text in (
            'slot 0: empty',
            'slot 1: empty',
            'slot 2: empty',
            '26 more empty slots',
        )
    ]
    assert boxes(member(None, 'missing', None, None)) == [('empty', 'empty slot')]


@pytest.mark.parametrize(
    'state, drive, words, box_kind',
    [
        ('in_sync', 'OK', 'in sync', ''),
        ('in_sync', 'CRITICAL', 'in sync', 'CRITICAL'),
        ('faulty', 'OK', 'faulty', 'CRITICAL'),
        ('missing', None, 'missing', 'CRITICAL'),
        ('rebuilding', 'OK', 'rebuilding', 'WARNING'),
        ('unknown', 'OK', 'unknown', 'UNKNOWN'),
        ('rebuilding', 'UNKNOWN', 'rebuilding', 'UNKNOWN'),
        ('spare', 'WARNING', 'spare', 'WARNING'),
    ],
)
def test_a_box_has_the_states_of_member_and_drive(state, drive, words, box_kind):
    """The array's own state never hides that of the drive."""
    assert boxes(member('sda1', state, drive)) == [
        (box_kind, f'sda1 {words} sda {drive or "not checked"}')
    ]


def test_the_worst_drives_of_a_member_are_named():
    """A member can be an array of many drives."""
    states = ('OK', None, 'WARNING', 'UNKNOWN', 'CRITICAL', 'OK', 'OK', 'OK')
    [(kind, text)] = boxes(
        member(
            drives=[{'name': f'd{n}', 'state': state} for n, state in enumerate(states)]
        )
    )

    assert (kind, re.findall('d[0-9]', text)) == (
        'CRITICAL',
        ['d4', 'd3', 'd2', 'd1', 'd0', 'd5'],
    )
    assert text.endswith(' and 2 more drives') and ' d1 not checked ' in text
