"""What an output prints of a drive finds this drive in the next command."""

import socket
from pathlib import Path
from typing import Any

import pytest
from days import START, Machine, disk
from fake_smartctl import FakeSmartctl

from smart_attributes.check import history_answers, named_drives
from smart_attributes.check.drive_names import Named, Wanted, named
from smart_attributes.check.history_access import Remembered
from smart_attributes.check.settings import HistorySettings, RunSettings
from smart_attributes.command_line.options import Which
from smart_attributes.errors import DriveError, UsageError
from smart_attributes.model import Device, Identity, Place, Read
from smart_attributes.reading import addresses, system

WHY = ('--why', 'stable since 2024')
SDA = named(
    Device('/dev/sda', '', 'sda'),
    Identity('ATA', 'ACME X1', serial='S-0001/A', wwn='5000c500a1b2c3d4'),
    'slot 7',
    ('ata-ACME_X1_S-0001', 'wwn-0x5000c500a1b2c3d4'),
    'web1',
)
RAID = named(
    Device('/dev/bus/0', 'megaraid,4', 'bus_0_megaraid_4'),
    Identity('SCSI', serial='S0004', wwn=''),
    'drive 4 of the controller',
    (),
    'web1',
)
BARE = named(Device('/dev/sdb', '', 'sdb'), Identity(), '', (), 'web1')


def chosen(word: str, *drives: Named, hide_serial: bool = False) -> list[Named]:
    """Return the drives that a word names."""
    wanted = Wanted([word], hide_serial)
    for drive in drives:
        wanted.see([drive], drive)
    return wanted.items()


@pytest.mark.parametrize(
    'word, drive',
    [
        *(
            (word, SDA)
            for word in (
                'sda',
                '/dev/sda',
                'SDA',
                'S-0001/A',
                's-0001/a',
                's_0001_a',
                '5000c500a1b2c3d4',
                '0x5000c500a1b2c3d4',
                '0x5000C500A1B2C3D4',
                'naa.5000c500a1b2c3d4',
                'eui.5000c500a1b2c3d4',
                'wwn-0x5000c500a1b2c3d4',
                'ata-ACME_X1_S-0001',
                '/dev/disk/by-id/ata-ACME_X1_S-0001',
                'ata_acme_x1_s_0001',
                'slot 7',
                'slot_7',
                'web1:sda',
                'web1 sda',
                'web1:slot 7',
                's_0001_a_sda',
            )
        ),
        *(
            (word, RAID)
            for word in (
                'bus_0_megaraid_4',
                'megaraid,4@/dev/bus/0',
                'S0004',
                'drive 4 of the controller',
                'web1:bus_0_megaraid_4',
            )
        ),
        ('sdb', BARE),
        ('web1:sdb', BARE),
    ],
)
def test_each_name_of_a_drive_is_accepted(word, drive):
    """As printed, in another case, or as a label made of it."""
    assert chosen(word, SDA, RAID, BARE) == [drive]


@pytest.mark.parametrize(
    'word', ['', '-', '/dev/bus/0', '0x', 'naa.', 'slot', 'web1:', 'drive', 'web2:sda']
)
def test_what_names_no_drive_is_refused(word):
    """A path that drives share, a prefix alone, and nothing at all."""
    with pytest.raises(UsageError, match='matches no drive'):
        chosen(word, SDA, RAID, BARE)


def test_an_exact_name_comes_before_a_similar_one():
    """Two paths may differ only in case."""
    other = named(Device('/dev/sdA', '', '_2fdev_2fsd_41'), Identity(), '', (), 'web1')

    assert chosen('/dev/sdA', SDA, other) == [other]
    assert chosen('/dev/sda', other, SDA) == [SDA]


def test_one_drive_that_is_named_twice_is_shown_once():
    """By its name and by its serial number."""
    wanted = Wanted(['sda', 'S-0001/A', 'sdb'], hide_serial=False)
    for drive in (SDA, BARE):
        wanted.see([drive], drive)

    assert wanted.items() == [SDA, BARE]


MANY = [
    named(Device(f'/dev/sd{letter}', '', f'sd{letter}'), Identity(), '', (), 'web1')
    for letter in 'abcdefghijkl'
]
TWIN = RAID._replace(address='/dev/sdc', name='sdc')
ADDRESSES = (
    'the name of 2 drives; write the address of one: megaraid,4@/dev/bus/0, /dev/sdc'
)
QUESTIONS = [
    ('S0004', False, (RAID, TWIN), f'"S0004" is {ADDRESSES}'),
    ('S0004', True, (RAID, TWIN), f'this name is {ADDRESSES}'),
    (
        'S-0001/B',
        False,
        (SDA, BARE),
        '"S-0001/B" matches no drive; did you mean S-0001/A?; drives: sda, sdb',
    ),
    ('S-0001/B', True, (SDA, BARE), 'this name matches no drive; drives: sda, sdb'),
    (
        'sdax',
        False,
        (SDA, BARE),
        '"sdax" matches no drive; did you mean sda?; drives: sda, sdb',
    ),
    (
        'zzzzzz',
        False,
        MANY,
        '"zzzzzz" matches no drive; drives: sda, sdb, sdc, sdd, sde, sdf, sdg, sdh, sdi, sdj and 2 more',
    ),
    ('sda', False, (), '"sda" matches no drive; no drive was found'),
]


@pytest.mark.parametrize('word, hide_serial, drives, said', QUESTIONS, ids=range(7))
def test_a_name_that_decides_nothing_is_told_with_those_that_exist(
    word, hide_serial, drives, said
):
    """And with the nearest, which is no serial number where these are hidden."""
    with pytest.raises(UsageError) as refused:
        chosen(word, *drives, hide_serial=hide_serial)

    assert str(refused.value) == said


@pytest.mark.parametrize(
    'address',
    [
        'megaraid,6@/dev/bus/0',
        'cciss,1@/dev/sg0',
        'areca,2/1@/dev/sg3',
        'aacraid,0,0,4@/dev/sg3',
        '3ware,1@/dev/twa0',
    ],
)
def test_a_short_name_leads_back_to_its_address(address):
    [device] = addresses.parse(address)

    assert addresses.of_short_name(addresses.short_name(device)) == address


@pytest.mark.parametrize(
    'name',
    [
        'bus_0_megaraid',
        'bus_0_megaraid_x',
        'bus_0_megaraid_999999',
        '',
        'shm_megaraid_1',
        'bus_0_megaraid_1_2',
    ],
)
def test_other_names_lead_to_no_address(name):
    assert addresses.of_short_name(name) == ''


@pytest.mark.parametrize(
    'word, read',
    [
        ('/dev/sdxa', ['/dev/sdxa']),
        (f'{socket.gethostname()}:/dev/sdxa', ['/dev/sdxa']),
        (f'{socket.gethostname()}:zero', ['/dev/zero']),
        ('web9:zero', []),
        ('zero', ['/dev/zero']),
        ('-zero', []),
        ('shm', []),
        ('sdxa', []),
        ('bus_7_megaraid_4', ['megaraid,4@/dev/bus/7']),
        ('checked', ['megaraid,1@/dev/bus/7']),
        ('ata-ONE', ['/dev/sdxa']),
        ('ata_one', ['/dev/sdxa']),
        ('ata-TWO', []),
        ('slot 7', []),
    ],
)
def test_a_name_is_read_where_it_is_known_before_reading(monkeypatch, word, read):
    """ata-TWO is a link of two devices: only reading tells which drive was meant."""
    monkeypatch.setattr(
        named_drives,
        'links',
        lambda: {'/dev/sdxa': ['ata-ONE', 'ata-TWO'], '/dev/sdxb': ['ata-TWO']},
    )

    assert (
        named_drives._addresses_of(
            word, [Device('/dev/bus/7', 'megaraid,1', 'checked')]
        )
        == read
    )


@pytest.mark.parametrize(
    'which',
    [Which(devices=('/dev/sdxa',)), Which(scan=True), Which(reports=('/tmp',))],
    ids=['device', 'scan', 'report'],
)
def test_names_within_given_drives_narrow_nothing_before_reading(which):
    named = which._replace(names=('zero',))

    assert named_drives.narrowed(named, HistorySettings()) == named


@pytest.mark.parametrize('address', ['/dev/sd?', ''])
def test_an_address_that_somebody_wrote_into_the_history_is_not_read(
    monkeypatch, address
):
    monkeypatch.setattr(history_answers, 'in_use', lambda *_: [address, '/dev/sdxa'])

    assert [each.path for each in named_drives._known(Remembered())] == ['/dev/sdxa']


@pytest.mark.parametrize(
    'device, word, is_named',
    [
        (Device('/dev/sdxa', '', 'sdxa'), 'ata-ONE', True),
        (Device('/dev/nvme9', 'nvme', 'nvme9'), 'nvme-ONE', True),
        (Device('/dev/sdxa', 'megaraid,1', 'behind'), 'ata-ONE', False),
    ],
)
def test_links_name_the_drives_that_they_lead_to(monkeypatch, device, word, is_named):
    """The link of a path to a controller names none of the drives behind it."""
    monkeypatch.setattr(
        named_drives,
        'links',
        lambda: {'/dev/sdxa': ['ata-ONE'], '/dev/nvme9n1': ['nvme-ONE']},
    )
    found = named_drives._named(
        Read(device, DriveError('is silent')), named_drives.links(), Remembered()
    )

    assert (word in repr(found)) is is_named


# --- commands ---------------------------------------------------------------------------


def host_with(folder: Path, second: dict[str, Any]) -> Machine:
    """A disk with alerts, another one, and one behind a controller that no scan finds."""
    found = Machine(folder)
    found.holds(sdxa=disk('SERIAL01', a5=50, a197=20), sdxb=second)
    found.behind['/dev/bus/7', 'megaraid,4'] = disk('SERIAL03', a197=30)
    return found


@pytest.fixture
def host(tmp_path: Path) -> Machine:
    found = host_with(tmp_path, disk('SERIAL02'))
    found.run(START, '--scan', '-d', 'megaraid,4@/dev/bus/7')
    return found


NAMES = ('sdxa', '/dev/sdxa', 'SERIAL01', f'{socket.gethostname()}:sdxa')
BEHIND = ('bus_7_megaraid_4', 'megaraid,4@/dev/bus/7', 'SERIAL03')


@pytest.mark.parametrize(
    'name, serial',
    [*((name, 'SERIAL01') for name in NAMES), *((name, 'SERIAL03') for name in BEHIND)],
)
def test_each_command_takes_each_name(host, name, serial):
    """Without -d: the history knows the drive behind the controller."""
    others = {'SERIAL01', 'SERIAL02', 'SERIAL03'} - {serial}
    explained, table, past = (
        host.run(START, *words)
        for words in (('explain', name), ('triage', name), ('history', name, 'pending'))
    )
    accepted = host.run(START, 'acknowledge', name, 'pending', *WHY)

    for result in (explained, table, past, accepted):
        assert (
            result.code == 0
            and serial in result.text
            and not any(other in result.text for other in others)
        )
    assert (
        accepted.first_line.startswith('acknowledged: ')
        and ' pending ' in accepted.first_line
    )


def test_only_the_named_drive_is_read(host):
    for word in ('/dev/sdxa', 'bus_7_megaraid_4', 'sdxa'):
        fake = FakeSmartctl(host.folder / 'fake')
        before = len(fake.calls())
        assert host.run(START, 'explain', word).code == 0
        assert len(fake.calls()[before:]) == 1, word


def test_what_is_no_name_changes_nothing(tmp_path):
    """An unknown name, and a name of two drives: exit status 3, and no acknowledgement."""
    host = host_with(tmp_path, {**disk('SERIAL01', a197=3), 'model_name': 'XYZ OTHER'})
    for name, said in (
        ('SERIAL01', 'the name of 2 drives; write the address of one: '),
        ('SERIAL09', 'did you mean'),
    ):
        for command in (('acknowledge', name, 'pending', *WHY), ('history', name)):
            done = host.run(START, *command)
            assert (done.code, len(done.text.splitlines())) == (3, 1), done.text
            assert said in done.text
    assert host.run(START, 'acknowledge', '--list').text == 'nothing is acknowledged\n'


def test_an_address_that_names_a_device_is_corrected(host):
    done = host.run(START, '-d', 'bus_7_megaraid_4')

    assert (done.code, 'write its address, megaraid,4@/dev/bus/7' in done.text) == (
        3,
        True,
    )


def test_links_and_bays_of_this_machine_are_names(tmp_path, monkeypatch):
    """A by-id name is read at once; a bay is known after the drives are."""
    folder = tmp_path / 'by-id'
    folder.mkdir()
    for name in ('ata-ACME_X1_S0001', 'wwn-0x5000c500a1b2c3d4'):
        (folder / name).symlink_to('/dev/sdxa')
    monkeypatch.setattr(addresses, 'FOLDER', str(folder))
    monkeypatch.setattr(
        system,
        'place',
        lambda device: Place(bay='slot 7' if device.path == '/dev/sdxa' else ''),
    )
    reads = [
        Read(Device(f'/dev/{name}', '', name), DriveError('does not answer'))
        for name in ('sdxa', 'sdxb')
    ]

    asked = named_drives.narrowed(
        Which(names=('wwn-0x5000c500a1b2c3d4',)), HistorySettings()
    )
    assert (asked.devices, asked.names, asked.scan) == (('/dev/sdxa',), (), False)
    for word in ('slot 7', 'ata-ACME_X1_S0001', f'{socket.gethostname()}:slot 7'):
        asked = RunSettings(Which(names=(word,)))
        assert named_drives.selected(reads, (), (), asked, Remembered()) == (
            reads[:1],
            [],
        )
