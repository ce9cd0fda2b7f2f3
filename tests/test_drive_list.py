"""`list`: a line or an object for each drive, with the address to paste."""

import json

import pytest
from cases import cases

from smart_attributes import words
from smart_attributes.commands import list as drive_list
from smart_attributes.model import Device, Identity, State, Verdict

SDA = Verdict(
    Device('/dev/sda', 'sat', name='sda'),
    Identity('ATA', 'ACME X1', 'FW1', 'SERIAL1', '5000c500a1b2c3d4', 7200),
    State.OK,
)
SLOT = Verdict(
    Device('/dev/bus/0', 'megaraid,6', name='bus_0_megaraid_6'),
    Identity(),
    State.UNKNOWN,
    problem='cannot be opened',
    code='device-open-failed',
)
ALL = """\
/dev/sda               ACME X1  FW1  SERIAL1  5000c500a1b2c3d4
megaraid,6@/dev/bus/0  -        -    -        -                 [device-open-failed] cannot be opened"""
HIDDEN = """\
/dev/sda               ACME X1  FW1
megaraid,6@/dev/bus/0  -        -    [device-open-failed] cannot be opened"""


@pytest.mark.parametrize(
    'hide_serial, text', [(False, ALL), (True, HIDDEN)], ids=['all', 'hidden']
)
def test_columns_are_as_wide_as_their_widest_cell(hide_serial, text):
    addresses = ['/dev/sda', 'megaraid,6@/dev/bus/0']

    assert (
        drive_list.as_text(cases([SDA, SLOT], hide_serial=hide_serial), addresses)
        == text
    )
    assert drive_list.as_text([], []) == ''


@pytest.mark.parametrize('field', ['model', 'firmware', 'serial', 'wwn'])
def test_a_long_cell_is_cut(field):
    long = SDA._replace(identity=Identity()._replace(**{field: 'x' * 199}))

    text = drive_list.as_text(cases([long]), ['/dev/sda'])

    assert [len(cell) for cell in text.split() if 'x' in cell] == [words.LIMIT]


OF_SDA = {
    'address': '/dev/sda',
    'name': 'sda',
    'device': '/dev/sda',
    'type': 'sat',
    'model': 'ACME X1',
    'firmware': 'FW1',
    'serial': 'SERIAL1',
    'wwn': '5000c500a1b2c3d4',
    'kind': 'hdd',
    'problem': None,
    'code': None,
}
OF_SLOT = {
    'address': 'megaraid,6@/dev/bus/0',
    'name': 'bus_0_megaraid_6',
    'device': '/dev/bus/0',
    'type': 'megaraid,6',
    **dict.fromkeys(('model', 'firmware', 'serial', 'wwn', 'kind')),
    'problem': 'cannot be opened',
    'code': 'device-open-failed',
}


def test_json_names_every_field_and_has_null_for_what_is_unknown():
    """Never an empty text, which an apply rule would take for a name."""
    bare = SDA._replace(device=Device('/dev/sda', name='sda'), problem='x' * 900)
    drives, addresses = (
        [SDA, SLOT, bare],
        ['/dev/sda', 'megaraid,6@/dev/bus/0', '/dev/sda'],
    )
    told, hidden = (
        json.loads(
            drive_list.as_json(
                cases(drives, hide_serial=is_hidden), addresses, {'state': 'OK'}
            )
        )
        for is_hidden in (False, True)
    )

    assert (told['version'], told['state']) == (2, 'OK')
    assert told['drives'][:2] == [OF_SDA, OF_SLOT]
    assert hidden['drives'][0] == {**OF_SDA, 'serial': None, 'wwn': None}
    assert (told['drives'][2]['type'], len(told['drives'][2]['problem'])) == (None, 500)


def test_json_is_indented_by_one():
    assert drive_list.as_json([], []) == '{\n "version": 2,\n "drives": []\n}'
