"""LVM RAID volumes from the output of `dmsetup status`: levels, members and what runs.

Sources of the lines: [rst] Linux, Documentation/admin-guide/device-mapper/dm-raid.rst; [check_raid]
https://github.com/glensc/nagios-plugin-check_raid/pull/134; [thin]
https://www.spinics.net/lists/raid/msg64364.html and its answers; [lvm2]
https://lore.kernel.org/linux-raid/7b948d27-2ae0-499c-5841-bd28a546197b@huaweicloud.com/, a run of
lvm2's tests on Linux 6.8.
"""

import random

import pytest

from smart_attributes.model import Group, Member
from smart_attributes.reading import system
from smart_attributes.reading.system import LINUX, System
from smart_attributes.redundancy import dmsetup
from smart_attributes.redundancy.dependence import Seen
from smart_attributes.redundancy.dmsetup import Status

RESYNC = 'a resync is running, and dm-raid does not report which members are in sync'
DIFFERENT = 'dmsetup and /sys report different members'
NOT_REPORTED = 'its level and state are not in /sys, and dmsetup did not report them'
NOT_UNDERSTOOD = 'the output of dmsetup status is not understood'


@pytest.mark.parametrize(
    'line, status',
    [
        # [rst]; [check_raid]; [thin]
        (
            '0 1960893648 raid raid4 5 AAAAA 2/490221568 init 0',
            Status('', 'AAAAA', 'resync', 100 * 2 / 490221568, RESYNC),
        ),
        ('0 4194304 raid raid1 2 AA 4194304/4194304 idle 0', Status('raid1', 'AA')),
        ('0 4423680 raid raid1 2 AA 4423680/4423680 idle 0 0 -', Status('raid1', 'AA')),
        # [lvm2]
        (
            '0 65536 raid raid1 2 aa 16384/65536 resync 0 0 -',
            Status('', 'aa', 'resync', 25.0, RESYNC),
        ),
        ('0 65536 raid raid1 2 AD 65536/65536 idle 0 0 -', Status('raid1', 'AD')),
        # made from the source
        (
            '0 8 raid raid6_zr 5 AAaAD 1/4 recover 0 0 -',
            Status('raid6', 'AAaAD', 'recover', 25.0),
        ),
        (
            '0 8 raid raid5_n 3 AAA 3/4 check 12 0 -',
            Status('raid5', 'AAA', 'check', 75.0),
        ),
        ('0 8 raid raid5_la 3 A-A 4/4 idle 0 0 A', Status('raid5', 'A-A')),
        (
            '0 8 raid raid10 4 AAAA 4/4 frozen 0 0 -',
            Status('raid10-unknown-layout', 'AAAA'),
        ),
        ('0 8 raid raid0 2 AA 0/0 idle 0 0 -', Status('raid0', 'AA')),
        (
            '0 8 raid raid0_meta 2 AA 9/4 repair 0 0 -',
            Status('raid0', 'AA', 'repair', 100.0),
        ),
        # Linux 3.8 and older, or cut off
        ('0 8 raid raid1 2 AA 4/4', Status('', unknown=NOT_UNDERSTOOD)),
        (
            '0 8 raid raid5_ls 4 AAAA 1/4 reshape 0 0 -',
            Status('', 'AAAA', 'reshape', 25.0, RESYNC.replace('resync', 'reshape')),
        ),
        # on its way from 3 to 4 members
        (
            '0 8 raid raid5_ls 3 AAAA 1/4 reshape 0 0 -',
            Status('', unknown=NOT_UNDERSTOOD),
        ),
        ('0 8 raid raid7 3 AAA 4/4 idle 0', Status('', unknown=NOT_UNDERSTOOD)),
        ('0 8 raid raid1 2 AX 4/4 idle 0', Status('', unknown=NOT_UNDERSTOOD)),
        ('0 8 raid raid1 2 AA 4/4 dance 0', Status('', unknown=NOT_UNDERSTOOD)),
        ('0 8 raid raid1 2 AA 4/4 idle 0 0 - more', Status('', unknown=NOT_UNDERSTOOD)),
        # a journal (write-back), which LVM does not create
        ('0 8 raid raid5_ls 3 AAA 4/4 idle 0 0 a', Status('', unknown=NOT_UNDERSTOOD)),
        ('0 8 raid ', Status('', unknown=NOT_UNDERSTOOD)),
    ],
)
def test_a_line_gives_the_level_the_members_and_what_runs(line, status):
    [(name, found)] = dmsetup.statuses(f'vg-lv: {line}\n').items()

    assert (name, found._replace(doubts=())) == ('vg-lv', status)


def test_lines_of_other_targets_are_left_out_and_two_of_one_name_make_it_unknown():
    text = (
        'x22v0-tp_ssd_tdata: 0 2147696640 linear \nvg-a: 0 8 raid raid1 2 AA 4/4 idle 0\nNo '
        'devices found\n'
        'vg-b: 0 8 raid raid1 2 AD 4/4 idle 0\n'
    )

    assert dmsetup.statuses(text) == {
        'vg-a': Status('raid1', 'AA'),
        'vg-b': Status('raid1', 'AD'),
    }


def volume(*members: Member) -> Group:
    return Group(
        'dm-4',
        'vg/lv',
        'lvm',
        '',
        0,
        members=members,
        used_as=('/srv',),
        unknown='its level is not in /sys',
    )


def image(place: int, state: str = 'unknown') -> Member:
    return Member(f'vg-lv_rimage_{place}', state, place, (f'dm-{place}',))


@pytest.mark.parametrize(
    'members, status, level, member_states, unknown_for',
    [
        (
            (image(0), image(1)),
            Status('raid1', 'Aa', 'recover', 5.0),
            'raid1',
            ['in_sync', 'rebuilding'],
            '',
        ),
        (
            (image(1), image(0)),
            Status('raid1', 'AD'),
            'raid1',
            ['in_sync', 'faulty'],
            '',
        ),
        (
            (image(0), image(2)),
            Status('raid5', 'A-A'),
            'raid5',
            ['in_sync', 'missing', 'in_sync'],
            '',
        ),
        # /sys has no member at that place: it is missing, whatever dm-raid shows
        (
            (image(0), image(2)),
            Status('raid5', 'AAA'),
            'raid5',
            ['in_sync', 'missing', 'in_sync'],
            '',
        ),
        (
            (image(0, 'missing'), image(1)),
            Status('raid1', 'AA'),
            'raid1',
            ['missing', 'in_sync'],
            '',
        ),
        (
            (image(0), image(2)),
            Status('raid1', 'AA'),
            '',
            ['unknown', 'unknown'],
            DIFFERENT,
        ),
        (
            (image(0), image(1)),
            Status('', 'aa', 'resync', 5.0, RESYNC),
            '',
            ['unknown', 'unknown'],
            RESYNC,
        ),
    ],
)
def test_a_volume_is_completed_by_place(
    members, status, level, member_states, unknown_for
):
    made = dmsetup.with_status(volume(*members), status)

    assert (made.level, [member.state for member in made.members], made.unknown) == (
        level,
        member_states,
        unknown_for,
    )
    assert (made.id, made.used_as) == ('dm-4', ('/srv',))
    assert (made.activity, made.progress) == (status.activity, status.progress)


@pytest.mark.parametrize(
    'line, doubts',
    [
        ('raid1 2 AA 4/4 idle 0', []),
        ('raid1 2 AA 4/4 idle 12 0 -', ['repair']),
        ('raid1 2 AA 3/4 check 0 0 -', []),
        ('raid1 2 Aa 3/4 recover 0 0 -', []),
        ('raid1 2 AA 3/4 idle 0 0 -', ['refresh']),
        ('raid1 2 AA 4/4 frozen 0 0 -', []),
        ('raid1 2 AA 4/44 frozen 0 0 -', ['refresh']),
        ('raid1 2 AA 3/4 repair 0 0 -', ['wait']),
    ],
)
def test_what_casts_doubt_on_a_volume(line, doubts):
    """A rebuild that was stopped, a repair that runs, and mismatches."""
    status = dmsetup.statuses(f'vg-lv: 0 8 raid {line}\n')['vg-lv']
    made = dmsetup.with_status(
        volume(image(0), image(1))._replace(name='vg/lv'), status
    )

    assert [doubt.partition('; ')[2].split()[0] for doubt in made.doubts] == doubts


def test_only_lvm_volumes_of_unknown_level_are_asked_for(tmp_path, monkeypatch):
    """Their names for the device mapper are in /sys."""
    line = 'vg-lv: 0 8 raid raid1 2 AA 4/4 idle 0 0 -\n'
    monkeypatch.setattr(system, 'output', lambda command: (line, ''))
    (tmp_path / 'block/dm-4/dm').mkdir(parents=True)
    (tmp_path / 'block/dm-4/dm/name').write_text('vg-lv\n')
    others = (Group('md0', 'md0', 'md', ''), Group('dm-9', 'vg/plain', 'lvm', 'linear'))
    known = (
        *others,
        volume(image(0), image(1)),
        Group('dm-5', 'vg/other', 'lvm', '', unknown='why'),
    )

    view = dmsetup.completed(Seen(groups=known), System(str(tmp_path)))
    found, notes = view.groups or (), view.notes

    assert (found[:2], found[2].level, notes) == (others, 'raid1', ())
    # the answer did not have it: the command is not advised again
    assert found[3] == known[3]._replace(unknown=NOT_REPORTED)
    monkeypatch.setattr(system, 'output', lambda command: pytest.fail('it was asked'))
    assert dmsetup.completed(Seen(groups=others), LINUX) == Seen(groups=others)


def test_without_an_answer_volumes_stay_unknown_and_there_is_one_note(monkeypatch):
    monkeypatch.setattr(
        system, 'output', lambda command: ('', 'dmsetup status: exit status 1')
    )
    known = (volume(image(0)),)

    view = dmsetup.completed(Seen(groups=known), LINUX)

    assert view.groups == (known[0]._replace(unknown=NOT_REPORTED),)
    assert [(note.code, note.endswith(' 1')) for note in view.notes] == [
        ('dmsetup-status-missing', True)
    ]


def test_the_command_changes_nothing():
    """It asks for the state of one target, and does not write that of others to disk."""
    assert dmsetup.COMMAND == ('dmsetup', 'status', '--target', 'raid', '--noflush')


def test_damaged_output_never_shows_a_better_state():
    """A line that is cut off, doubled or mixed with another one."""
    lines = [
        'vg-a: 0 8 raid raid1 2 AD 4/4 idle 0 0 -',
        'vg-b: 0 8 raid raid6_zr 5 AADDA 4/4 idle 0 0 -',
        'vg-c: 0 8 raid raid5_ls 3 aaa 1/4 resync 0 0 -',
        'vg-d: 0 8 raid raid1 2 AA 4/4 idle 0 0 -',
    ]
    text, chance = '\n'.join(lines), random.Random(26)
    best = dmsetup.statuses(text)
    damaged = [text[:end] for end in range(len(text))]
    damaged += ['\n'.join(chance.choices(lines, k=6)) for _ in range(500)]
    damaged += [
        text[:place] + text[place + chance.randrange(1, 9) :]
        for place in range(len(text))
    ]

    for each in damaged:
        for name, status in dmsetup.statuses(each).items():
            assert (
                not status.level
                or name not in best
                or (status.level, status.health)
                == (best[name].level, best[name].health)
            ), each
