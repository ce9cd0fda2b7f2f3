"""Volumes of RAID controllers, from outputs of the tools of their vendors.

The outputs in tests/controllers were written anew with the structure, levels and states of public
reports and test suites; index.json names the source of each, and what can fail at worst in each
volume: read from the output by eye.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from cases import on
from conftest import ROOT

from smart_attributes.errors import Coded, Identity
from smart_attributes.model import Device, Group, Located, Member, State, Verdict
from smart_attributes.reading.system import LINUX, System
from smart_attributes.redundancy import (
    controller_output,
    controller_volumes,
    controllers,
    dependence,
)
from smart_attributes.redundancy.dependence import Seen
from smart_attributes.redundancy.replacement import Drive, machine
from smart_attributes.redundancy.survival import Stack

SAMPLES = ROOT / 'tests' / 'controllers'
INDEX = json.loads((SAMPLES / 'index.json').read_text())
TOOL = {tool['name']: {**tool, 'program': tool['name']} for tool in controllers.TOOLS}
# Each command that can be run: nothing else is asked of a controller.
READING = {
    'storcli': {
        '/call show all J nolog',
        '/call/vall show all J nolog',
        '/call/eall/sall show all J nolog',
    },
    'storcli2': {'/call show all J nolog', '/call/vall show all J nolog'},
    'MegaCli': {'-LDPDInfo -aAll -NoLog', '-PDList -aAll -NoLog'},
    'ssacli': {'ctrl all show config detail'},
    'arcconf': {'getversion nologs', 'getconfig {} al nologs'},
    'sas2ircu': {'LIST', '{} DISPLAY'},
}


def completed(
    known: Any, ask: Any, system: System = LINUX, located: Any = ()
) -> tuple[tuple[Group, ...], tuple[Coded, ...]]:
    """Return the groups and notes, as if the program had answered this."""
    with mock.patch.object(controllers, 'ask', ask):
        view = controllers.completed(Seen(groups=tuple(known)), system, located)
    return view.groups or (), view.notes


def answer(name: str, text: str = '') -> dict[str, controllers.Family]:
    """Return what the tool of an output reports. text: another output of this tool."""
    tool = TOOL[INDEX[name]['tool']]
    rows = controller_output.rows(
        text or text_of(name), tool, INDEX[name].get('controller', '')
    )
    drives = controller_volumes.tool_drives(rows, tool, is_complete=True)
    volumes = controller_volumes.volumes(rows, tool)
    return {'family': controllers.Family(volumes, drives, '', tool['name'])}


def text_of(name: str) -> str:
    """Return an output of the index."""
    return (SAMPLES / name).read_text()


def read(text: str, tool: str, controller: str = '') -> dict[str, list[Group]]:
    """Return the groups of each volume, by its controller and number."""
    rows = controller_output.rows(text, TOOL[tool], controller)
    found = controller_volumes.volumes(rows, TOOL[tool])
    return {
        f'{volume.fields.get("controller", "")} {volume.fields["number"]}': list(
            controller_volumes.groups(volume)
        )
        for volume in found
    }


def worst(groups: list[Group]) -> int | None:
    """Return how many drives of a volume can fail, whichever they are; None if that is not
    known.
    """
    stack = Stack(groups)
    left = [stack.tolerates(group, frozenset()) for group in groups[1:] or groups]
    return None if groups[0].unknown else min(each for each in left if each is not None)


# --- public outputs -------------------------------------------------------------------------------


@pytest.mark.parametrize('name', INDEX)
def test_an_output_has_the_redundancy_that_its_source_shows(name):
    entry = INDEX[name]
    found = read(text_of(name), entry['tool'], entry.get('controller', ''))

    assert {key: worst(groups) for key, groups in found.items()} == entry['volumes']
    assert [
        key for key, groups in found.items() if any(group.doubts for group in groups)
    ] == entry.get('doubted', [])
    assert all(
        groups[0].unknown
        for key, groups in found.items()
        if entry['volumes'][key] is None
    )


def smart_array(volume: str, *drives: str) -> Group:
    """Return the group of a volume of a Smart Array. volume: "RAID 5, Failed". drives: "OK",
    "Failed, spare".
    """
    text = (
        f'Smart Array P410 in Slot 1\n\n   array A\n\n      logicaldrive 1 (1 TB, {volume})\n\n'
        + ''.join(
            f'      physicaldrive 1I:1:{bay} (port 1I:box 1:bay {bay}, SAS, 600 GB, {state})\n'
            for bay, state in enumerate(drives)
        )
    )
    [[group]] = read(text, 'ssacli').values()
    return group


@pytest.mark.parametrize(
    'volume, drives, answer',
    [
        ('RAID 5, Failed', ['OK', 'Failed', 'Failed'], -1),
        ('RAID 5, Failed', ['OK', 'OK', 'Failed'], None),
        ('RAID 5, Failed', ['OK', 'OK', 'OK'], None),
        ('RAID 5, Failed', ['OK', 'Failed', 'Failed', 'Failed, spare'], -1),
        ('RAID 5, Failed', ['OK', 'OK', 'Failed', 'Failed, spare'], None),
        ('RAID 5, Interim Recovery Mode', ['OK', 'Failed', 'Failed'], None),
        ('RAID 1+0, Interim Recovery Mode', ['OK', 'Failed', 'OK', 'Failed'], None),
    ],
)
def test_a_volume_has_failed_if_the_tool_says_so_and_its_drives_prove_it(
    volume, drives, answer
):
    """If the drives can still hold the data, it is unknown, and so is a volume that works with
    too few of them.
    """
    group = smart_array(volume, *drives)

    assert worst([group]) == answer
    assert not [member for member in group.members if member.state == 'spare']
    assert ('contradicts the states of its drives' in group.unknown) == (answer is None)


ACTIVE = 'active spare for 1I:1:2'


@pytest.mark.parametrize(
    'volume, drives, answer, states',
    [
        (
            'RAID 5, OK',
            ['OK', 'OK', 'Failed', 'OK, active spare for 1I:1:2'],
            1,
            'in_sync in_sync in_sync faulty',
        ),
        (
            'RAID 5, OK',
            ['OK', 'OK', 'Predictive Failure', 'OK, active spare for 1I:1:2'],
            1,
            'in_sync in_sync in_sync in_sync',
        ),
        (
            'RAID 5, Recovering',
            ['OK', 'OK', 'Failed', f'Rebuilding, {ACTIVE}'],
            0,
            'in_sync in_sync rebuilding faulty',
        ),
        (
            'RAID 1+0, Interim Recovery Mode',
            ['OK', 'Failed', 'OK', 'Failed', 'OK, active spare for 1I:1:1'],
            0,
            'in_sync in_sync faulty in_sync faulty',
        ),
        (
            'RAID 5, Interim Recovery Mode',
            ['OK', 'OK', 'Failed', 'OK, active spare for 1I:1:2'],
            None,
            'in_sync in_sync in_sync faulty',
        ),
        (
            'RAID 5, OK',
            ['OK', 'OK', 'Failed', 'OK, active spare'],
            None,
            'in_sync in_sync faulty unknown',
        ),
    ],
)
def test_an_active_spare_has_the_place_of_the_drive_that_it_replaces(
    volume, drives, answer, states
):
    group = smart_array(volume, *drives)

    assert worst([group]) == answer
    assert [member.state for member in group.members] == states.split()


@pytest.mark.parametrize(
    'state, drives, answer',
    [
        ('Dgrd', 4, None),
        ('Dgrd', 3, 0),
        ('Dgrd', 1, 0),
        ('Optl', 4, 1),
        ('Optl', 3, None),
        ('OfLn', 3, None),
    ],
)
def test_a_raid_10_with_an_odd_number_of_drives_lacks_one(state, drives, answer):
    """storcli does not list lost drives if it shows no topology."""
    sections = {
        'VD LIST': [{'DG/VD': '0/0', 'TYPE': 'RAID10', 'State': state}],
        'PD LIST': [
            {'EID:Slt': f'252:{slot}', 'DID': slot, 'State': 'Onln', 'DG': 0}
            for slot in range(drives)
        ],
    }
    output = {
        'Controllers': [
            {'Command Status': {'Controller': 0}, 'Response Data': sections}
        ]
    }

    [groups] = read(json.dumps(output), 'storcli').values()

    assert worst(groups) == answer


# --- damaged outputs ------------------------------------------------------------------------------

STATES = (
    'Optimal',
    'Degraded',
    'Failed',
    'Missing',
    'Present',
    'Online',
    'Optl',
    'Dgrd',
    'Onln',
    'Rbld',
    'Offln',
    'OK',
    'Okay',
    'Ready',
    'Interim Recovery Mode',
    'Rebuilding',
    'Conf',
    'Quantum',
)


def damaged(text: str, is_json: bool, dice: random.Random) -> str:
    """Return an output that was cut, or lost, doubled or changed lines (of JSON: rows)."""
    how = dice.choice(('cut', 'double', 'remove', 'flip'))
    if how == 'cut':
        return text[: dice.randrange(len(text))]
    if how == 'flip':
        word = dice.choice(
            list(re.finditer(r'\b(?:' + '|'.join(STATES) + r')\b', text))
        )
        return text[: word.start()] + dice.choice(STATES) + text[word.end() :]
    if is_json:
        data = json.loads(text)
        rows = dice.choice(list(lists(data['Controllers'][0]['Response Data'])))
        number = dice.randrange(len(rows))
        rows[number : number + 1] = [] if how == 'remove' else [rows[number]] * 2
        return json.dumps(data)
    lines = text.splitlines(keepends=True)
    first, many = dice.randrange(len(lines)), dice.choice((1, 1, 1, 3, 10))
    lines[first : first + many] = (
        [] if how == 'remove' else lines[first : first + many] * 2
    )
    return ''.join(lines)


def lists(data: object) -> Iterator[list[object]]:
    """Yield the tables of JSON."""
    if isinstance(data, dict):
        data = list(data.values())
    elif isinstance(data, list) and data:
        yield data
    if isinstance(data, list):
        for part in data:
            yield from lists(part)


@pytest.mark.parametrize('outputs', [300, pytest.param(4000, marks=pytest.mark.long)])
def test_a_damaged_output_is_never_more_redundant(outputs):
    """Each volume tolerates at most what the whole output shows, or is unknown.

    Without the line of a controller, its volumes are taken for volumes of the controller before it.
    Outputs that their
    authors have edited are left out: the damage can undo the edit.
    """
    dice, answered = random.Random(42), 0
    names = [name for name, entry in INDEX.items() if not entry.get('edited')]
    for _ in range(outputs):
        name = dice.choice(names)
        entry = INDEX[name]
        text = damaged(text_of(name), name.endswith('.json'), dice)
        for key, groups in read(
            text, entry['tool'], entry.get('controller', '')
        ).items():
            answer, right = (
                worst(groups),
                max(
                    (
                        each or 0
                        for known, each in entry['volumes'].items()
                        if known.split()[-1] == key.split()[-1]
                    ),
                    default=0,
                ),
            )
            answered += answer is not None
            assert answer is None or answer <= right, (name, key, answer, right, text)
    assert answered > outputs / 2  # it is not because nothing is understood


HUGE = ('Logical Device number 0\n' + 'x' * 9_000) * 1_100


@pytest.mark.parametrize(
    'text',
    [
        '',
        'what?',
        '{',
        '[]',
        '{"Controllers": []}',
        '[' * 100_000,
        HUGE,
        'Please accept (yes/no):',
        'Numéro de volume 0\n   Niveau RAID : 1\n',
        '{"Controllers": [1, null, "x"]}',
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize('tool', TOOL)
def test_an_output_of_another_form_has_no_volumes(text, tool):
    assert read(text, tool) == {}


VDS = text_of('storcli-raid1-of-one-volume.json')


@pytest.mark.parametrize(
    'old, new, why',
    [
        ('"RAID1"', '"RAID7"', 'the level RAID7 with 2 drives'),
        ('"RAID1"', '"RAID5"', 'the level RAID5 with 2 drives'),
        ('"RAID1"', '"RAID50"', 'the level RAID50 with 2 drives'),
        ('"Optl"', '"Entangled"', 'the unknown state Entangled'),
        (
            '"Optl"',
            '"OfLn"',
            'the volume as OfLn, which contradicts the states of its drives',
        ),
        ('"Optl"', '"Quantum"', 'the unknown state Quantum'),
        ('"State": "Optl",', '', 'the unknown state none'),
        (
            '"State": "Onln"',
            '"State": "Cpybck"',
            'a drive state that this version does not know',
        ),
        (
            '"State": "Onln"',
            '"State": "UGood"',
            'a drive state that this version does not know',
        ),
        (
            '"Optl"',
            '"Dgrd"',
            'the volume as Dgrd, which contradicts the states of its drives',
        ),
        (
            '"State": "Onln"',
            '"State": "Offln"',
            'the volume as Optl, which contradicts the states of its drives',
        ),
        ('"Per Span": 2', '"Per Span": 1', 'the level RAID1 with 2 drives'),
        (
            '"None",\n',
            '"Background Initialization (31%)",\n',
            'a running resync, so this volume is not redundant yet',
        ),
        ('"None",\n', '"Defragmentation",\n', 'the unknown activity Defragmentation'),
    ],
)
def test_what_is_not_understood_is_unknown_with_the_reason(old, new, why):
    old, new = (
        each.replace('"Per Span"', '"Number of Drives Per Span"') for each in (old, new)
    )
    text = VDS.replace(old, new, 1) if 'Onln' in old else VDS.replace(old, new)
    assert text != VDS
    (group,) = read(text, 'storcli')['0 0']
    assert (group.level, group.unknown) == ('', f'storcli reports {why}')


QUEUED, SPARED = (
    text_of('hpssacli-raid5-queued.txt'),
    text_of('ssacli-raid10-spare.txt'),
)
TEN, FIVE = text_of('arcconf-raid10-four.txt'), text_of('arcconf-raid5.txt')


@pytest.mark.parametrize(
    'tool, text, why',
    [
        (
            'arcconf',
            FIVE.replace('Segment 1 ', 'Segment 0 '),
            'reports this volume twice, with different values',
        ),
        (
            'arcconf',
            FIVE.replace(' : Optimal', ' : Optimal\n   Number of segments : 3', 1),
            'reports the level 5 with 4 drives',
        ),  # one too many
        (
            'arcconf',
            TEN.replace('Group 1, Segment 1', 'Segment 1'),
            'reports the level 10 with 4 drives',
        ),
        ('MegaCli', 'depth', 'reports the level Primary-1, Secondary-0 with 4 drives'),
        (
            'ssacli',
            QUEUED.replace('         Parity Initialization Status: Queued\n', ''),
            'does not report the parity state of this volume',
        ),
        (
            'ssacli',
            SPARED.replace(', spare)', ')'),
            'reports the level 1+0 with 5 drives',
        ),
        (
            'ssacli',
            text_of('ssacli-raid1-detail.txt').replace(
                '      Status: OK\n', '      Status: Failed Drive\n', 1
            ),
            'reports the volume as OK, which contradicts the states of its drives',
        ),
    ],
)
def test_what_contradicts_itself_is_unknown_with_the_reason(tool, text, why):
    if text == 'depth':
        text = MEGACLI.format('Optimal', SECOND.format('Online')).replace(
            'Depth          : 2', 'Depth          : 3'
        )
    group, *_ = read(text, tool, '1').popitem()[1]
    assert (group.level, group.unknown) == ('', f'{tool} {why}')


def test_a_missing_drive_that_is_not_listed_counts_as_missing():
    data = json.loads(VDS.replace('"Optl"', '"Dgrd"'))
    del data['Controllers'][0]['Response Data']['PDs for VD 0'][1]
    (group,) = read(json.dumps(data), 'storcli')['0 0']

    assert [member.state for member in group.members] == ['in_sync', 'missing']
    assert Stack([group]).tolerates(group, frozenset()) == 0


@pytest.mark.parametrize(
    'name, old, new, doubt',
    [
        (
            'storcli-raid1-of-one-volume.json',
            '"Yes"',
            '"No"',
            'consistent',
        ),
        (
            'ssacli-raid1-detail.txt',
            'Errors: None',
            'Errors: Detected',
            'sectors',
        ),
        (
            'arcconf-raid5.txt',
            'Failed stripes                           : No',
            'Failed stripes : Yes',
            'stripes',
        ),
    ],
)
def test_what_the_controller_doubts_is_doubted(name, old, new, doubt):
    entry = INDEX[name]
    (groups,) = read(
        text_of(name).replace(old, new), entry['tool'], entry.get('controller', '')
    ).values()
    [told] = groups[0].doubts
    assert doubt in told


@pytest.mark.parametrize('tool', controllers.TOOLS, ids=lambda tool: str(tool['name']))
def test_a_command_in_a_doubt_only_shows_more(tool):
    """The program prints no command that changes storage; what is to do is said in words."""
    for _, remedy in tool['doubts'].values():
        assert re.fullmatch(r'[a-z ]+|run: \{program\} .*\bshow\b.*', remedy)


def test_preserved_cache_is_a_doubt_about_each_volume_of_the_controller():
    data = json.loads(text_of('storcli-raid10-after-rebuild.json'))
    data['Controllers'][0]['Response Data']['Status'] = {
        'Any Offline VD Cache Preserved': 'Yes'
    }
    spans = read(json.dumps(data), 'storcli')['0 0'][1:]

    assert all('show preservedcache' in str(span.doubts[0]) for span in spans)


def test_hostile_names_stay_in_their_fields():
    name = 'x", "State": "Optl\n   State : Optl\x1b[2J$(reboot)'
    named = VDS.replace('"Optl"', '"Quantum"').replace(
        '"Name": ""', f'"Name": {json.dumps(name)}'
    )
    text = json.dumps(json.loads(named))
    (group,) = read(text, 'storcli')['0 0']

    assert group.unknown.endswith(' Quantum')
    assert not set(group.name) & set('\n\x1b$`<>|')


MEGACLI = """
Adapter #0

Number of Virtual Disks: 1
Virtual Drive: 0 (Target Id: 0)
Name                :data
RAID Level          : Primary-1, Secondary-0, RAID Level Qualifier-0
State               : {}
Number Of Drives per span:2
Span Depth          : 2
Number of Spans: 2
Span: 0 - Number of PDs: 2

PD: 0 Information
Enclosure Device ID: 32
Slot Number: 0
Device Id: 0
Firmware state: Online, Spun Up
Inquiry Data: S1YHNXAG804004      SAMSUNG MZ7LM960HCHP

PD: 1 Information
{}
Span: 1 - Number of PDs: 2

PD: 0 Information
Enclosure Device ID: 32
Slot Number: 2
Device Id: 2
Firmware state: Online, Spun Up

PD: 1 Information
Enclosure Device ID: 32
Slot Number: 3
Device Id: 3
Firmware state: Online, Spun Up

Exit Code: 0x00
"""
SECOND = 'Enclosure Device ID: 32\nSlot Number: 1\nDevice Id: 1\nFirmware state: {}, Spun Up\n'


@pytest.mark.parametrize(
    'state, second, left',
    [
        ('Optimal', SECOND.format('Online'), [0, 1, 1]),
        ('Degraded', SECOND.format('Rebuild'), [0, 0, 1]),
        ('Degraded', '', [0, 0, 1]),
        ('Optimal', '', [None]),
        ('Degraded', SECOND.format('Online'), [None]),
    ],
)
def test_megacli_shows_the_spans(state, second, left):
    groups = read(MEGACLI.format(state, second), 'MegaCli')['0 0']
    stack = Stack(groups)
    assert [stack.tolerates(group, frozenset()) for group in groups] == left


# --- the drives of a run --------------------------------------------------------------------------


def verdict(kind: str, path: str = '/dev/bus/0', serial: str = '') -> Located:
    """Return a drive behind a controller."""
    device = Device(path, kind, f'{kind}@{path}')
    return on(Verdict(device, Identity(serial=serial), State.OK), device.address)


def below(groups: tuple[Group, ...], name: str) -> list[tuple[str, ...]]:
    """Return what is below each member of a group."""
    return [
        member.on for group in groups if group.id == name for member in group.members
    ]


@pytest.fixture
def machine_of(tmp_path) -> System:
    """Return a machine with one disk."""
    (tmp_path / 'sys' / 'block' / 'sda').mkdir(parents=True)
    return System(str(tmp_path / 'sys'))


def test_members_are_the_checked_drives_and_the_volume_is_below_what_uses_it(
    machine_of,
):
    drives = [verdict('sat+megaraid,2'), verdict('megaraid,1'), verdict('megaraid,7')]
    mount = Group(
        'partition sda1',
        'sda1',
        'partition',
        'single',
        1,
        0,
        (Member('sda1', 'in_sync', 0, ('sda',)),),
        used_as=('/srv',),
    )

    known, notes = completed(
        (mount, *dependence._of_controllers(drives, is_asked=False)),
        lambda: answer('storcli-raid1-of-one-volume.json'),
        machine_of,
        drives,
    )

    assert notes == ()
    assert below(known, 'sda') == [
        ('sat+megaraid,2@/dev/bus/0',),
        ('megaraid,1@/dev/bus/0',),
    ]
    # in no volume that is known
    assert below(known, 'MegaRAID /dev/bus/0') == [('megaraid,7@/dev/bus/0',)]
    failing = [
        Drive(
            each.verdict.device.name,
            frozenset(each.place.disks),
            each is drives[0],
            each is drives[0],
        )
        for each in drives
    ]
    found = machine(known, failing)
    assert {each.group.id: each.tolerates for each in found.groups} == {
        'partition sda1': 0,
        'sda': 0,
        'MegaRAID /dev/bus/0': None,
    }
    assert next((step.drive.name, step.label) for step in found.steps) == (
        drives[0].verdict.device.name,
        'next',
    )


def test_a_member_that_this_run_did_not_check_is_never_taken_for_fine(machine_of):
    drives = [verdict('megaraid,2')]
    known, _ = completed(
        (), lambda: answer('storcli-raid1-of-one-volume.json'), machine_of, drives
    )

    assert below(known, 'sda') == [
        ('megaraid,2@/dev/bus/0',),
        ('storcli controller 0 slot 252:1',),
    ]
    step, *_ = machine(
        known, [Drive('x', frozenset(drives[0].place.disks), True, True)]
    ).steps
    assert (step.drive.name, step.label) == ('x', 'unknown')


def test_a_volume_is_not_below_itself(machine_of):
    """A controller that passes the serial number of a single drive on: the volume is the drive."""
    itself = on(verdict('megaraid,2').verdict, 'sda')
    known, _ = completed(
        (), lambda: answer('storcli-raid1-of-one-volume.json'), machine_of, [itself]
    )

    assert [group.id for group in known] == ['storcli controller 0 volume 0']
    assert ('sda',) in [member.on for group in known for member in group.members]


def test_two_volumes_do_not_share_a_disk(machine_of):
    found = answer('storcli-raid1-and-raid0-of-all-volumes.json')
    for volume in found['family'].volumes:
        volume.fields['device'] = '/dev/sda'
    known, _ = completed((), lambda: found, machine_of)
    assert 'sda' not in {group.id for group in known}


# --- commands -------------------------------------------------------------------------------------


def commands(tool: dict) -> Iterator[list[str]]:
    """Yield the words of each command of a tool."""
    yield from (
        *tool['commands'],
        *tool.get('more', ()),
        *filter(None, [tool.get('list')]),
    )


def test_only_reading_commands_are_known():
    assert {
        name: set(map(' '.join, commands(tool))) for name, tool in TOOL.items()
    } == READING


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return a function that installs a tool that records its calls, and the file with these
    calls.
    """
    monkeypatch.setattr(controllers, 'FOLDERS', str(tmp_path))
    calls = tmp_path / 'calls'

    def install(name: str, script: str) -> None:
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> {calls}\n{script}\n')
        path.chmod(0o755)

    return install, calls


def asked() -> tuple[list[controller_volumes.Volume], list[Coded]]:
    """Return the volumes that the tools report, and the notes."""
    families = controllers.ask()
    volumes = [volume for family in families.values() for volume in family.volumes]
    return volumes, list(controllers._notes(families))


def test_each_tool_is_asked_only_what_the_list_has(installed):
    install, calls = installed
    for tool in TOOL.values():
        for program in tool['programs']:
            install(program, 'echo "Controller #1"; echo "  0  SAS2008 x"; echo')
    controllers.ask()

    called = calls.read_text().splitlines()
    allowed = {
        f'{program} {" ".join(words).format(number)}'
        for tool in TOOL.values()
        for program in tool['programs']
        for words in commands(tool)
        for number in ('0', '1')
    }
    assert set(called) <= allowed
    assert len(called) >= 10


def test_the_first_tool_of_a_family_that_reports_volumes_counts(installed):
    install, calls = installed
    install('storcli64', 'exit 1')
    install('perccli64', f'cat {SAMPLES}/perccli-raid5-background-task.json')
    install('MegaCli64', 'echo no')
    found, notes = asked()

    assert [(volume.tool['name'], volume.fields['level']) for volume in found] == [
        ('storcli', 'RAID5')
    ]
    assert notes == []
    assert 'MegaCli64' not in calls.read_text()


@pytest.mark.parametrize(
    'failing, codes',
    [('/call/vall', ['controller-tool-failed']), ('/call/eall/sall', [])],
)
def test_an_answer_in_part_is_doubted_unless_only_serial_numbers_are_missing(
    installed, failing, codes
):
    install, _ = installed
    install(
        'storcli64',
        f'[ $1 = {failing} ] && exit 1; cat {SAMPLES}/storcli-raid1-sas3508.json',
    )
    (volume,), notes = asked()

    command = 'run: storcli64 /call/vall show all J nolog'
    assert all(command in doubt for doubt in volume.doubts)
    assert [note.code for note in notes] == codes and len(volume.doubts) == len(codes)


def test_a_controller_is_asked_by_its_number(installed):
    install, calls = installed
    install(
        'arcconf',
        '[ $1 = getversion ] && printf "Controller #1\\nController #2\\n" '
        f'|| cat {SAMPLES}/arcconf-raid5.txt',
    )
    found, _ = asked()

    assert [volume.fields['controller'] for volume in found] == ['1', '2']
    assert re.findall('getconfig (.) al nologs', calls.read_text()) == ['1', '2']


@pytest.mark.parametrize(
    'script, why',
    [
        (
            'echo "{}"',
            'printed nothing that this version understands; run: ssacli ctrl all',
        ),
        (
            f'cat {SAMPLES}/../controllers/ssacli-raid1-detail.txt | grep -v -i logical',
            'no volume',
        ),
        ('yes', 'larger than'),
    ],
)
def test_without_an_answer_there_is_a_note_and_no_group(installed, script, why):
    install, _ = installed
    install('ssacli', script)
    found, (note,) = asked()

    assert found == []
    assert note.code == 'controller-tool-failed'
    assert why in str(note)


def test_without_any_tool_there_is_one_note(installed):
    found, (note,) = asked()
    assert (found, note.code) == ([], 'controllers-missing')


# --- by value -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'drive, member',
    [
        (
            {'place': '1I:1:2', 'state': 'Failed', 'is': 'faulty'},
            ('1I:1:2', 'faulty', ('key',), 'Failed'),
        ),
        (
            {'serial': 'S1', 'presence': 'Gone', 'is': 'missing'},
            ('S1', 'missing', ('key',), 'Gone'),
        ),
        (
            {'place': 'a', 'state': 'Ready', 'is': 'unused'},
            ('a', 'unknown', ('key',), 'Ready'),
        ),
        (
            {'place': 'a', 'state': 'OK', 'is': 'in_sync'},
            ('a', 'in_sync', ('key',), ''),
        ),
        ({'state': 'OK', 'is': 'spare'}, ('', 'spare', (), '')),
    ],
)
def test_a_drive_is_a_member_with_the_words_of_the_tool_unless_it_is_well(
    drive, member
):
    found = controller_volumes._member({**drive, 'key': 'key'}, 3)

    assert (found.name, found.state, found.on, found.detail, found.slot) == (*member, 3)


def test_a_spare_for_one_array_is_none_for_another():
    """storcli prints further rows about it, which name no array."""
    rows = [
        {'kind': 'volume', 'number': '0', 'where': '0'},
        {'kind': 'volume', 'number': '1', 'where': '1'},
        {'kind': 'drive', 'place': '32:9', 'where': '0', 'spare': 'x', 'state': 'DHS'},
        {'kind': 'drive', 'place': '32:9'},
    ]
    volumes = controller_volumes.volumes(rows, TOOL['storcli'])

    assert [len(volume.spares) for volume in volumes] == [1, 0]


@pytest.mark.parametrize(
    'said, spare, state',
    [
        ('Online', '', 'in_sync'),
        ('Online', 'yes', 'spare'),
        ('Failed', 'yes', ''),
        ('Missing', 'yes', ''),
        ('Unconfigured', 'yes', 'spare'),
        ('Rebuild', 'yes', 'rebuilding'),
        ('Online', 'active', 'unknown'),
        ('Whatever', '', 'unknown'),
    ],
)
def test_a_spare_that_failed_is_none_and_an_active_one_is_unknown(said, spare, state):
    tool = {
        'drive_is': {
            'Online': 'in_sync',
            'Failed': 'faulty',
            'Missing': 'missing',
            'Unconfigured': 'unused',
            'Rebuild': 'rebuilding',
        }
    }

    assert (
        controller_volumes._state(
            {'state': said, **({'spare': spare} if spare else {})}, tool
        )
        == state
    )
