"""What depends on a drive, in every output, from a tree of /sys to the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from block_tree import Machine
from cases import of_uses, on
from conftest import run
from test_severity import FAILED, drive, found

from smart_attributes.errors import Coded
from smart_attributes.knowledge import severity
from smart_attributes.model import Case, Device, Group, Member, State, Verdict
from smart_attributes.output import explain, plugin
from smart_attributes.reading.system import System
from smart_attributes.redundancy import (
    arrays,
    block_devices,
    dependence,
    partitions,
    replacement,
)
from smart_attributes.work import actions, work_list

NOW = 1_795_348_800  # 2026-11-22
HEALTHY = found('endurance_used', 3, State.OK)
WORN = found('endurance_used', 86, State.WARNING, '85')
REBUILT = (
    'md0 (raid5, /srv) keeps all its data without this drive; after the replacement, wait '
    'until md0 is rebuilt'
)
RAID5 = {'sda1': 'in_sync', 'sdb1': 'in_sync', 'sdc1': 'in_sync'}


@pytest.fixture
def machine(tmp_path) -> Machine:
    made = Machine(tmp_path)
    made.disks('sda', 'sdb', 'sdc', 'sdd')
    made.typed('sdd1', 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b', 'vfat')
    return made


class Surveyed(NamedTuple):
    """Drives with the groups of a machine."""

    cases: list[Case]
    machine: replacement.Machine | None
    notes: tuple[Coded, ...]
    remarks: tuple[Coded, ...]

    @property
    def verdicts(self) -> list[Verdict]:
        return [drive.verdict for drive in self.cases]


def surveyed(machine: Machine, verdicts: Sequence[Verdict], **more: Any) -> Surveyed:
    """Return these drives with the groups of a machine."""
    found = dependence.examined(
        [on(verdict) for verdict in verdicts],
        lambda placed: work_list.drives(placed, NOW),
        **{'read': machine.read, **more},
    )
    return Surveyed(of_uses(found.uses, NOW), found.machine, found.notes, found.remarks)


def raid5(machine: Machine, states: dict[str, str] = RAID5, **more: str) -> None:
    machine.md('md0', 'raid5', states, **more)
    machine.mounted('/dev/md0', '/srv')


def labels(survey: Surveyed) -> dict[str, tuple[str, str]]:
    return {
        drive.todo.drive: (drive.todo.step.label, drive.todo.step.why.code)
        for drive in survey.cases
        if drive.todo.step
    }


def test_a_failing_member_of_a_healthy_array_is_next(machine):
    raid5(machine)
    survey = surveyed(
        machine, [drive('sda', HEALTHY), drive('sdb', FAILED), drive('sdc', HEALTHY)]
    )
    failing = next(each for each in survey.cases if each.verdict.device.name == 'sdb')

    assert labels(survey) == {'sdb': ('next', 'replace-next')}
    assert failing.todo.action == actions.REPLACE
    assert [(each.group.id, each.tolerates) for each in failing.use.depends] == [
        ('md0', 0)
    ]
    assert work_list.in_order(survey.cases, survey.machine)[0].drive == 'sdb'


def test_the_last_good_copies_of_a_degraded_array_stay(machine):
    raid5(machine, {**RAID5, 'sdc1': 'faulty none'})
    survey = surveyed(
        machine, [drive('sda', HEALTHY), drive('sdb', FAILED), drive('sdc', HEALTHY)]
    )

    assert labels(survey) == {
        'sda': ('last good copy', 'last-good-copy'),
        'sdb': ('last good copy', 'last-good-copy'),
        'sdc': ('wait', 'copy-other-first'),
    }
    assert {each.todo.drive: each.todo.action for each in survey.cases} == {
        'sda': actions.KEEP,
        'sdb': actions.KEEP,
        'sdc': actions.WAIT,
    }


def test_the_most_severe_drive_is_replaced_first_and_one_that_could_not_be_read_counts_as_failed(
    machine,
):
    raid5(machine)
    machine.md('md1', 'raid1', {'sdd1': 'in_sync'})
    machine.mounted('/dev/md1', '/home')
    survey = surveyed(
        machine,
        [
            drive('sda', problem='cannot be opened'),
            drive('sdb', WORN),
            drive('sdd', FAILED),
        ],
    )

    assert survey.machine
    assert [
        (step.drive.name, step.label, step.why.code) for step in survey.machine.steps
    ] == [
        ('sdd', 'copy first', 'no-redundancy'),
        ('sdb', 'copy first', 'data-at-risk'),
    ]


def test_a_machine_without_a_drive_to_replace_has_no_lines(machine):
    raid5(machine)
    survey = surveyed(machine, [drive('sda', HEALTHY)])

    assert survey.machine and survey.machine.steps == ()
    assert [
        each.action for each in work_list.in_order(survey.cases, survey.machine)
    ] == [actions.NOTHING]


def test_a_rebuild_is_waited_for(machine):
    raid5(
        machine,
        {**RAID5, 'sdc1': 'spare 2'},
        sync_action='recover',
        sync_completed='37 / 100',
    )
    survey = surveyed(
        machine, [drive('sdb', FAILED), drive('sda', HEALTHY), drive('sdc', HEALTHY)]
    )

    assert labels(survey)['sdb'] == ('wait', 'group-rebuilding')
    assert 'recover 37 %' in survey.cases[0].todo.why
    assert survey.cases[0].todo.action == actions.WAIT


def test_a_check_adds_one_clause_behind_an_alert(machine):
    raid5(machine)
    survey = surveyed(
        machine,
        [drive('sda', HEALTHY), drive('sdb', FAILED), drive('sdc', HEALTHY)],
    )
    ordered = severity.worst_first(survey.cases)

    assert ': replace it now; md0 keeps its data; ' in plugin.first_line(
        ordered, '', ''
    )
    assert [plugin.clause(each) for each in ordered] == [
        f'[replace-next] {REBUILT}',
        '',
        '',
    ]
    assert f'; [replace-next] {REBUILT}; [replace] ' in plugin.line(ordered[0]).findings


def test_context_changes_no_state(machine):
    raid5(machine, {**RAID5, 'sdc1': 'faulty none'})
    before = [drive('sda', HEALTHY), drive('sdb', FAILED), drive('sdc', WORN)]

    assert [each.state for each in surveyed(machine, before).verdicts] == [
        each.state for each in before
    ]


def test_a_drive_that_was_not_read_is_named(machine):
    raid5(machine)
    survey = surveyed(machine, [drive('sdb', FAILED)])

    assert labels(survey) == {'sdb': ('unknown', 'members-not-checked')}
    assert ' sda, sdc,' in survey.cases[0].todo.step.why
    assert survey.cases[0].todo.action == actions.COPY


# --- doubts about the other members ---------------------------------------------------------------

DEVICES = ('sda', 'sdb', 'sdc', 'sdd')


@pytest.mark.parametrize(
    'mode, label, code',
    [
        ('write-through [write-back]', 'unknown', 'redundancy-doubtful'),
        ('[write-back]', 'unknown', 'redundancy-doubtful'),
        ('[write-through] write-back', 'next', 'only-log-or-cache'),
    ],
)
def test_a_journal_that_holds_the_only_copy_of_data_is_not_next(
    machine, mode, label, code
):
    """With write-back, the write journal of RAID 5 has data that no other member has yet."""
    raid5(
        machine, {**RAID5, 'sdd1': 'journal journal'}, raid_disks='3', journal_mode=mode
    )
    survey = surveyed(
        machine, [drive(name, FAILED if name == 'sdd' else HEALTHY) for name in DEVICES]
    )

    assert labels(survey) == {'sdd': (label, code)}


UNSEEN = (
    Device('/dev/sdz', name='sdz'),  # /sys does not show it
    Device('/dev/bus/0', 'megaraid,6', 'bus_0_megaraid_6'),
)


@pytest.mark.parametrize('device', UNSEEN, ids=lambda device: device.name)
@pytest.mark.parametrize('has_sys', [True, False])
def test_the_data_of_a_drive_of_unknown_use_is_copied_first(
    machine, tmp_path, device, has_sys
):
    """In a check as in triage and explain, which all show this item."""
    if not has_sys:
        machine.system = System(*(str(tmp_path / 'no') for _ in machine.system))
    failing = drive(device.name, FAILED)._replace(device=device)
    [shown] = surveyed(machine, [failing]).cases
    item = shown.todo

    assert (item.action, bool(item.unknown)) == (actions.COPY, True)
    assert item.to_do in plugin.first_line([shown], '', '')
    assert explain.head(shown)[1].startswith(f'What to do: {item.to_do}.')


def test_recorded_reports_have_no_groups(machine):
    raid5(machine)
    recorded = drive('sda', FAILED)._replace(
        device=Device('/dev/sda', name='sda', is_recorded=True)
    )

    assert surveyed(machine, [recorded]).machine is None


def test_the_name_of_an_array_is_hostile(machine):
    machine.md('md127', 'raid1', {'sda1': 'in_sync', 'sdb1': 'in_sync'})
    machine.mounted('/dev/md127', '/srv/\x1b[31m|\u202e' + 'x' * 5000)
    survey = surveyed(machine, [drive('sda', FAILED)])

    assert survey.cases[0].todo.step
    said = survey.cases[0].todo.step.why
    assert (
        said.isprintable()
        and '|' not in plugin.clause(survey.cases[0])
        and len(said) < 400
    )


def test_triage_of_this_machine_runs():
    """Whatever lies on the disks of the machine that tests run on."""
    done = run('triage', '--scan', '--nosudo', '-p', '/bin/true')

    assert 'inside' not in done.text


# --- parts of the reading, by value ---------------------------------------------------------------

UUID = 'bf8eb22c:45b10a3f:98c5e64d:10e11e31'
LAYOUT = 'its layout is not in /sys; run triage --zpool'


@pytest.mark.parametrize(
    'changed, removed',
    [
        ({}, 'sdb1'),
        ({'ID_FS_TYPE': 'ext4'}, ''),
        ({'ID_FS_UUID': UUID.replace(':', '-')[:-1]}, ''),
        ({'ID_FS_UUID': None}, ''),
    ],
    ids=['own', 'other kind', 'other array', 'no UUID'],
)
@pytest.mark.parametrize('has_uuid', [True, False])
def test_a_removed_device_takes_an_empty_place_of_its_array(
    monkeypatch, changed, removed, has_uuid
):
    """A further path to a member is not a removed device."""
    properties = {'X': '1', 'MD_UUID': UUID} if has_uuid else {}
    monkeypatch.setattr(arrays, 'udev_notes', lambda name, _: properties)
    names = ('sda', 'sdb', 'sdc')
    devices = block_devices.Devices(
        System(),
        frozenset(names),
        {f'{name}1': name for name in names},
        same={'sdc': 'sda'},
    )
    group = Group(
        'md0',
        'md0',
        'md',
        'raid1',
        2,
        members=(Member('', 'missing', 1), Member('sda1', 'in_sync', 0, ('sda',))),
    )
    note = {'ID_FS_TYPE': 'linux_raid_member', 'ID_FS_UUID': UUID.replace(':', '-')}
    notes = {
        'sdb1': {
            key: text for key, text in {**note, **changed}.items() if text is not None
        },
        'sdc1': note,
    }
    found = {
        each.name: each.state
        for each in arrays.with_removed(group, notes, devices).members
    }

    assert found == {'sda1': 'in_sync', removed if has_uuid else '': 'missing'}


@pytest.mark.parametrize(
    'completed, percent',
    [
        ('1 / 4', 25),
        ('9 / 4', 100),
        ('none', None),
        ('delayed', None),
        ('1 / 0', None),
        ('x / 4', None),
        ('1 / ', None),
        (f'1 / {"4" * 20}', 0),
        (f'1 / {"4" * 21}', None),
    ],
)
def test_progress_is_a_share_or_unknown(completed, percent):
    assert arrays._progress(completed) == (
        percent if percent is None else pytest.approx(percent)
    )


@pytest.mark.parametrize(
    'pool, state, said',
    [
        ('tank', 'ONLINE', ''),
        ('tank', None, 'imported'),
        ('tank', 'DEGRADED', '"DEGRADED"; '),
        ('../tank', 'DEGRADED', 'imported'),
    ],
)
def test_the_state_of_a_pool_is_said_unless_it_is_online(tmp_path, pool, state, said):
    folder = tmp_path / 'spl/kstat/zfs/tank'
    folder.mkdir(parents=True)
    if state:
        (folder / 'state').write_text(f'{state}\n')

    told = partitions.zfs_unknown(pool, System(proc=str(tmp_path)))
    assert told.removesuffix(LAYOUT).endswith(said)
    assert told.endswith(LAYOUT) == (pool == 'tank' and bool(state))
    assert partitions.zfs_unknown(pool, System(proc='/nonexistent')) == LAYOUT
