"""The slot of each drive behind a RAID controller: in all outputs, and never that of another drive.

The tools are made up, in the format of each vendor's.
"""

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import drive

from smart_attributes import main
from smart_attributes.errors import DriveMissing, Identity
from smart_attributes.model import Device, State, Verdict
from smart_attributes.reading import device_types, system
from smart_attributes.reading.smartctl_calls import read_arguments
from smart_attributes.redundancy import (
    controller_slots,
    controller_volumes,
    controllers,
    dependence,
)

TOOL = {name: tool for tool in controllers.TOOLS for name in tool['programs']}


def storcli(
    *drives: tuple[str, int, str], pci: str = '00:3b:00:00', controller: int = 0
) -> str:
    """Return what storcli prints of a mirror. drives: EID:Slt, DID and state of each drive."""
    rows = [
        {
            'EID:Slt': place,
            'DID': did,
            'State': state,
            'DG': 0 if state != 'UGood' else '-',
        }
        for place, did, state in drives
    ]
    members = [row for row in rows if row['DG'] == 0]
    is_whole = all(row['State'] == 'Onln' for row in members)
    volume = {'DG/VD': '0/0', 'TYPE': 'RAID1', 'State': 'Optl' if is_whole else 'Dgrd'}
    properties = {'Span Depth': 1, 'Number of Drives Per Span': len(members)}
    response = {
        'Basics': {'Controller': controller, **({'PCI Address': pci} if pci else {})},
        f'/c{controller}/v0': [{**volume, 'Consist': 'Yes', 'Name': 'system'}],
        'PDs for VD 0': members,
        'VD0 Properties': {**properties, 'Active Operations': 'None'},
        'PD LIST': rows,
    }
    status = {'Controller': controller, 'Status': 'Success'}
    return json.dumps(
        {'Controllers': [{'Command Status': status, 'Response Data': response}]}
    )


STORCLI = storcli(('32:9', 2, 'Onln'), ('32:4', 0, 'Onln'), (' :7', 5, 'UGood'))
SSACLI = """
Smart Array P420i in Slot 0 (Embedded)
   Slot: 0

   Array: A
      Status: OK

      Logical Drive: 1
         Fault Tolerance: 1
         Status: OK
         Mirror Group 1:
            physicaldrive 1I:1:3 (port 1I:box 1:bay 3, SATA, 2 TB, OK)
         Mirror Group 2:
            physicaldrive 2I:1:4 (port 2I:box 1:bay 4, SATA, 1 TB, OK)

      physicaldrive 1I:1:3
         Status: OK
         Drive Type: Data Drive
         Serial Number: EXAMPLE0007

      physicaldrive 2I:1:4
         Status: OK
         Drive Type: Data Drive
         Serial Number: EXAMPLE0006

   unassigned

      physicaldrive 2I:1:8
         Status: OK
         Drive Type: Unassigned Drive
         Serial Number: EXAMPLE0001
"""
ARCCONF_DRIVE = """      Device #{0}
         Device is a Hard drive
         State                              : {1}
         Reported Channel,Device(T:L)       : 0,{0}({0}:0)
         Reported Location                  : {2}
         Serial number                      : {3}
"""
ARCCONF = """Controllers found: 1
Logical device information
Logical device number 0
   RAID level                               : 1
   Status of logical device                 : Optimal
   Segment 0                                : Present (0,9) EXAMPLE0007
   Segment 1                                : Present (0,4) EXAMPLE0006

Physical Device information
""" + ''.join(
    (
        ARCCONF_DRIVE.format(
            9, 'Online', 'Enclosure 1, Slot 3(Connector 0:CN0)', 'EXAMPLE0007'
        ),
        ARCCONF_DRIVE.format(4, 'Online', 'Connector 1, Device 2', 'EXAMPLE0006'),
        ARCCONF_DRIVE.format(
            5, 'Ready', 'Enclosure Direct Attached, Slot 6', 'EXAMPLE0001'
        ),
        'Command completed successfully.\n',
    )
)
# two failing drives and a healthy one
REPORTS = ('hgst-failed', 'seagate-exos-failing', 'intel-s3500-healthy')
# program -> what it prints, the drives, and slot and locate command of each
CASES = {
    'storcli64': (
        STORCLI,
        ('megaraid,2@/dev/bus/0', 'sat+megaraid,0@/dev/bus/0', 'megaraid,5@/dev/bus/0'),
        ('slot 32:9', 'slot 32:4', 'slot 7'),
        (
            'storcli64 /c0/e32/s9 start locate',
            'storcli64 /c0/e32/s4 start locate',
            'storcli64 /c0/s7 start locate',
        ),
    ),
    'ssacli': (
        SSACLI,
        ('cciss,0@/dev/sg9', 'cciss,1@/dev/sg9', 'cciss,2@/dev/sg9'),
        ('bay 1I:1:3', 'bay 2I:1:4', 'bay 2I:1:8'),
        (
            'ssacli ctrl slot=0 pd 1I:1:3 modify led=on',
            'ssacli ctrl slot=0 pd 2I:1:4 modify led=on',
            'ssacli ctrl slot=0 pd 2I:1:8 modify led=on',
        ),
    ),
    'arcconf': (
        ARCCONF,
        ('aacraid,0,0,9@/dev/sg9', 'aacraid,0,0,4@/dev/sg9', 'aacraid,0,0,5@/dev/sg9'),
        ('slot 1:3', 'connector 1, device 2', 'slot 6'),
        (
            'arcconf identify 1 device 0 9 time 60',
            'arcconf identify 1 device 0 4 time 60',
            'arcconf identify 1 device 0 5 time 60',
        ),
    ),
}


@pytest.fixture
def run(tmp_path, monkeypatch, fake, capsys):
    """Return a function that runs the program with the tools that another function installs."""
    monkeypatch.setattr(controllers, 'FOLDERS', str(tmp_path))
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))
    monkeypatch.setenv('COLUMNS', '400')

    def install(program: str, printed: str, script: str = '') -> None:
        (tmp_path / f'{program}.txt').write_text(printed)
        path = tmp_path / program
        version = '[ "$1" = getversion ] && echo "Controller #1" && exit'
        path.write_text(
            f'#!/bin/sh\n{script}\n{version}\ncat {tmp_path}/{program}.txt\n'
        )
        path.chmod(0o755)

    def called(addresses: tuple[str, ...], *words: str) -> str:
        for address, report in zip(addresses, REPORTS):
            kind, _, path = address.partition('@')
            fake.answers(read_arguments(path, kind), drive(report))
        command = [words[0]] if words[0] in ('triage', 'explain') else []
        named = [word for address in addresses for word in ('-d', address)]
        own = ['-p', fake.path, '--nosudo', '--no-history', *named]
        main.run([*command, *own, *words[1:]])
        return str(capsys.readouterr().out)

    before = children()
    yield install, called
    for pid in children() - before:  # they were killed, and have not been waited for
        os.waitpid(int(pid), 0)


def children() -> set[str]:
    """Return the ids of the child processes of this one."""
    file = Path(f'/proc/self/task/{os.getpid()}/children')
    return set(file.read_text().split()) if file.exists() else set()


@pytest.mark.parametrize('program', CASES)
def test_the_slot_of_each_drive_is_in_all_outputs(program, run, tmp_path):
    install, called = run
    printed, addresses, slots, commands = CASES[program]
    install(program, printed)
    page = tmp_path / 'page.html'

    table, _, work = called(addresses, 'triage', '--controllers').partition('to do:')
    document = json.loads(called(addresses, 'triage', '--controllers', '--json'))
    explained = called(addresses, 'explain', '--controllers')
    called(addresses, 'triage', '--controllers', '--html', str(page))

    of_drive = {f'{each["type"]}@{each["device"]}': each for each in document['drives']}
    assert [of_drive[each]['bay'] for each in addresses] == list(slots)
    assert [of_drive[each]['locate'] for each in addresses] == list(commands)
    assert [bay in table for bay in slots] == [True] * 3
    for bay, command in list(zip(slots, commands))[:2]:  # the failing drives
        assert f'({bay}): ' in work
        assert f'locate LED: {command}\n' in work
    for bay, command in zip(slots, commands):
        assert f'bay         {bay}\n' in explained
        assert f'locate LED  on: {command}' in explained
        assert f'"{bay}"' in page.read_text()
    assert 'slot unknown' not in table + work + explained


@pytest.mark.parametrize('program', CASES)
def test_only_the_option_runs_a_tool_and_a_check_says_the_drive_id(
    program, run, tmp_path
):
    install, called = run
    printed, addresses, *_ = CASES[program]
    install(program, printed, f'touch {tmp_path}/called')
    text = called(addresses, 'check')
    called(addresses, 'triage')

    ids = [device_types.base(Device('', each)).partition(',')[2] for each in addresses]
    ids = [each.partition('@')[0].rpartition('0,0,')[2] for each in ids]
    prefix = '0,' if program == 'arcconf' else ''
    for number in ids[:2]:
        assert (
            f"[slot-unknown] controller's drive ID {prefix}{number}, slot unknown; ["
            in text
        )
    assert not (tmp_path / 'called').exists()


def test_a_drive_has_one_name_in_all_sentences(run):
    install, called = run
    addresses = ('megaraid,2@/dev/bus/0', 'megaraid,0@/dev/bus/0')
    one, other = 'bus_0_megaraid_2, slot 32:9', 'bus_0_megaraid_0, slot 32:4'

    for state, first in (('Onln', one), ('Failed', other)):
        install('storcli64', storcli(('32:9', 2, 'Onln'), ('32:4', 0, state)))
        document = json.loads(called(addresses, 'triage', '--controllers', '--json'))
        (group,) = hardware(document)
        said = ' '.join(each['replacement']['text'] for each in document['drives'])
        assert [member['name'] for member in group['members']] == [one, other]
        assert f'replace {first}' in said
        # a program finds a drive by its name alone
        assert all(',' not in each['name'] for each in document['replace_order'])
    document = json.loads(called(addresses[:1], 'triage', '--controllers', '--json'))
    (group,) = hardware(document)
    assert [member['name'] for member in group['members']] == [one, 'slot 32:4']


def hardware(document: Any) -> list[Any]:
    """Return the volumes of controllers in a document, without the groups of this machine."""
    return [group for group in document['groups'] if group['kind'] == 'hardware']


# --- who is who -----------------------------------------------------------------------------------


def verdict(address: str, serial: str = '', code: str = '') -> Verdict:
    kind, _, path = address.partition('@')
    identity = Identity(serial=serial)
    return Verdict(Device(path, kind, address), identity, State.OK, code=code)


def in_tool(
    number: str, serial: str = '', pci: str = '', controller: str = '0', **more: Any
) -> Any:
    fields = {
        'key': f'{controller} {number}',
        'controller': controller,
        'number': number,
    }
    said = {'serial': serial} if serial else {}
    is_of_only_controller = more.pop('is_of_only_controller', True)
    return controller_slots.ToolDrive(
        TOOL['storcli64'], {**fields, **said, **more}, pci, is_of_only_controller
    )


@pytest.fixture
def hosts(tmp_path, monkeypatch):
    """Return a function that makes a SCSI host with a PCI address."""
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))

    def make(number: int, address: str, driver: str = 'megaraid_sas') -> None:
        device = (
            tmp_path
            / f'sys/devices/pci0000:00/{address}/host{number}/scsi_host/host{number}'
        )
        device.mkdir(parents=True)
        (device / 'proc_name').write_text(driver)
        folder = tmp_path / 'sys/class/scsi_host'
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f'host{number}').symlink_to(device)

    return make


FOUR = 'megaraid,4@/dev/bus/0'


@pytest.mark.parametrize(
    'drives, verdicts, number',
    [
        pytest.param([in_tool('4')], [verdict(FOUR)], 1, id='the only controller'),
        pytest.param([in_tool('5')], [verdict(FOUR)], 0, id='another ID'),
        pytest.param(
            [in_tool('4', is_of_only_controller=False)],
            [verdict(FOUR)],
            0,
            id='one of two controllers',
        ),
        pytest.param(
            [in_tool('4', 'SERIAL01', is_of_only_controller=False)],
            [verdict(FOUR, 'SERIAL01')],
            1,
            id='one of two controllers, but its serial number',
        ),
        pytest.param(
            [in_tool('4', 'SERIAL01')],
            [verdict(FOUR, 'SERIAL02')],
            0,
            id='another serial number',
        ),
        pytest.param(
            [in_tool('5', 'SERIAL01')],
            [verdict(FOUR, 'SERIAL01')],
            0,
            id='contradicting ID',
        ),
        pytest.param(
            [in_tool('4')],
            [verdict(FOUR), verdict('megaraid,4@/dev/bus/1')],
            0,
            id='two hosts',
        ),
        pytest.param(
            [in_tool('4', 'SERIAL01')],
            [verdict(FOUR, 'SERIAL01'), verdict('@/dev/sg4', 'SERIAL01')],
            0,
            id='two drives of the run',
        ),
        pytest.param(
            [in_tool('4')], [verdict(FOUR, code=DriveMissing.code)], 0, id='gone'
        ),
        pytest.param(
            [in_tool('4', 'SERIAL01 MODEL')],
            [verdict('@/dev/sda', 'serial01')],
            1,
            id='in part',
        ),
        pytest.param(
            [in_tool('4', 'SERIAL01')],
            [verdict(FOUR, 'SERIAL01', DriveMissing.code)],
            1,
            id='gone, but the tool still lists it',
        ),
        pytest.param(
            [in_tool('4', twice='state number')],
            [verdict(FOUR)],
            0,
            id='two numbers of one drive',
        ),
        pytest.param(
            [in_tool('4', twice='state')],
            [verdict(FOUR)],
            1,
            id='its state has just changed',
        ),
        pytest.param(
            [in_tool('4', 'S1'), in_tool('5', 'S1')],
            [verdict('@/dev/sda', 'S1')],
            0,
            id='a serial number that is too short to tell drives apart',
        ),
    ],
)
def test_a_drive_is_joined_only_with_certainty(
    drives, verdicts, number, tmp_path, monkeypatch
):
    monkeypatch.setattr(system, 'ROOT', str(tmp_path))
    assert len(controller_slots.joined(drives, verdicts)) == number


def test_a_second_slot_does_not_hide_a_second_serial_number():
    part = {'kind': 'part', 'controller': '0', 'where': '0', 'place': '32:9'}
    rows = [
        {**part, 'serial': 'EXAMPLE1', 'slot': '0'},
        {**part, 'serial': 'EXAMPLE2', 'slot': '1'},
    ]
    (one,) = controller_volumes.tool_drives(
        rows, {**controllers.TOOLS[0], 'program': 'storcli64'}, is_complete=True
    )

    assert one.fields['twice'].split() == ['serial', 'slot']


@pytest.mark.parametrize(
    'pci, number',
    [
        ('00:3b:00:00', 1),
        ('0000:3b:00.0', 1),
        ('00:5e:00:00', 0),
        ('', 0),
        ('nonsense', 0),
    ],
)
def test_controllers_are_told_apart_by_their_pci_address(pci, number, hosts):
    hosts(0, '0000:3b:00.0')
    hosts(1, '0000:5e:00.0')
    assert (
        len(controller_slots.joined([in_tool('4', pci=pci)], [verdict(FOUR)])) == number
    )


@pytest.mark.parametrize('seed', range(40))
def test_no_slot_is_that_of_another_drive(seed, hosts):
    """Machines with two controllers, whose tool omits drives, serial numbers and addresses."""
    dice = random.Random(seed)
    addresses = ['0000:3b:00.0', '0000:5e:00.0']
    for number, address in enumerate(addresses[: dice.choice((1, 2, 2))]):
        hosts(number, address)
    # the number of each host's controller
    of_tool = [0, 1] if dice.random() < 0.5 else [1, 0]
    drives, verdicts, truth = [], [], {}
    shown = dice.sample([0, 1], dice.choice((1, 2)))  # hosts that the tool reports
    for host, did in [
        (host, did) for host in (0, 1) for did in dice.sample(range(9), 5)
    ]:
        serial, address = f'SERIAL{host}{did}', f'megaraid,{did}@/dev/bus/{host}'
        truth[f'{of_tool[host]} {did}'] = address
        if dice.random() < 0.8:
            verdicts.append(verdict(address, serial if dice.random() < 0.7 else ''))
        if host in shown and dice.random() < 0.8:
            told = serial if dice.random() < 0.5 else ''
            pci = addresses[host] if dice.random() < 0.5 else ''
            more = {
                'controller': str(of_tool[host]),
                'is_of_only_controller': len(shown) == 1,
            }
            drives.append(in_tool(str(did), told, pci, **more))
    found = controller_slots.joined(drives, verdicts)

    wrong = {key for key, each in found.items() if truth[key] != each.device.address}
    assert wrong == set()


# --- tools that fail ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'script, uid, reason',
    [
        ('sleep 60', 0, 'no answer within 0.5 s'),
        ('echo accept the licence >&2; exit 1', 0, 'accept the licence'),
        (
            'echo "Kein Controller"; exit 0',
            0,
            'printed nothing that this version understands',
        ),
        ('echo "Exit Code: 0x00"; exit 0', 1000, 'run triage --controllers as root'),
        ('exit 1', 1000, 'run triage --controllers as root'),
    ],
)
def test_a_tool_that_fails_is_answered_with_the_reason(
    script, uid, reason, run, monkeypatch
):
    """The advice to run it again would be a circle."""
    install, called = run
    monkeypatch.setattr('os.geteuid', lambda: uid)
    monkeypatch.setattr(controllers, 'TIME_LIMIT', 0.5 if 'sleep' in script else 10)
    install('storcli64', '', script)
    addresses = ('megaraid,2@/dev/bus/0',)
    document = json.loads(called(addresses, 'triage', '--controllers', '--json'))

    (group,) = hardware(document)
    (told,) = document['drives']
    for text in (group['unknown'], told['replacement']['text']):
        assert reason in text
        assert ('run triage --controllers as root' in text) == bool(uid)
    assert (told['drive_id'], 'bay' in told) == ('2', False)


def test_a_controller_that_did_not_answer_may_have_the_drive(run):
    install, called = run
    script = 'if [ "$1" = getversion ]; then printf "Controller #1\\nController #2\\n"; exit; fi'
    bare = re.sub('EXAMPLE000[0-9]', '', ARCCONF)
    install('arcconf', bare, script + '\n[ "$2" = 2 ] && exit 1')
    addresses = ('aacraid,0,0,9@/dev/sg9',)
    document = json.loads(called(addresses, 'triage', '--controllers', '--json'))
    assert 'bay' not in document['drives'][0]


def test_a_drive_in_no_volume_is_answered_with_what_the_tool_reports(run):
    install, called = run
    install('storcli64', STORCLI)
    document = json.loads(
        called(CASES['storcli64'][1], 'triage', '--controllers', '--json')
    )
    assert sorted(str(group['unknown']) for group in hardware(document)) == [
        'None',
        'storcli64 reports no volume with this drive',
    ]


@pytest.mark.parametrize('entry', device_types.TYPES, ids=lambda entry: entry.name)
def test_the_tool_is_advised_only_for_controllers_that_have_one(entry):
    """For others, running triage --controllers would change nothing."""
    families = {
        family for tool in controllers.TOOLS for family in tool['programs'].values()
    }
    assert (entry.name in dependence.WITH_TOOLS) == (entry.name in families)


def test_each_form_of_a_locate_command_has_its_source():
    data = json.loads(
        (Path(controllers.__file__).parent / 'controllers.json').read_text()
    )
    with_commands = {tool['name'] for tool in data['tools'] if tool.get('slots')}
    assert with_commands == {*data['sources'], 'storcli2'}
