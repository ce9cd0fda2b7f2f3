"""`list`: a line or an object for each drive, with the address to paste."""

from __future__ import annotations

import json

import pytest

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


@pytest.mark.parametrize(
    'hide_serial, text',
    [
        (
            False,
            '/dev/sda               ACME X1  FW1  SERIAL1  5000c500a1b2c3d4\n'
            'megaraid,6@/dev/bus/0  -        -    -        -                 [device-open-failed] '
            'cannot be opened',
        ),
        (
            True,
            '/dev/sda               ACME X1  FW1\n'
            'megaraid,6@/dev/bus/0  -        -    [device-open-failed] cannot be opened',
        ),
    ],
    ids=['all', 'hidden'],
)
def test_columns_are_as_wide_as_their_widest_cell(hide_serial, text):
    assert (
        drive_list.as_text([SDA, SLOT], ['/dev/sda', 'megaraid,6@/dev/bus/0'], hide_serial) == text
    )


def test_no_drives_are_no_lines():
    assert drive_list.as_text([], [], False) == ''


@pytest.mark.parametrize(
    'field, shown', [('model', 60), ('firmware', 60), ('serial', 60), ('wwn', 60)]
)
def test_a_long_cell_is_cut_after_60_characters(field, shown):
    long = SDA._replace(identity=Identity()._replace(**{field: 'x' * 99}))
    [cell] = [
        each for each in drive_list.as_text([long], ['/dev/sda'], False).split() if 'x' in each
    ]

    assert len(cell) == shown


@pytest.mark.parametrize(
    'hide_serial, serial, wwn', [(False, 'SERIAL1', '5000c500a1b2c3d4'), (True, None, None)]
)
def test_json_names_every_field(hide_serial, serial, wwn):
    told = json.loads(drive_list.as_json([SDA], ['/dev/sda'], hide_serial, {'state': 'OK'}))

    assert told == {
        'version': 2,
        'state': 'OK',
        'drives': [
            {
                'address': '/dev/sda',
                'name': 'sda',
                'device': '/dev/sda',
                'type': 'sat',
                'model': 'ACME X1',
                'firmware': 'FW1',
                'serial': serial,
                'wwn': wwn,
                'kind': 'hdd',
                'problem': None,
                'code': None,
            }
        ],
    }


def test_json_has_null_for_what_is_unknown():
    """Never an empty text, which an apply rule would take for a name."""
    [told] = json.loads(drive_list.as_json([SLOT], ['megaraid,6@/dev/bus/0'], False))['drives']

    assert told == {
        'address': 'megaraid,6@/dev/bus/0',
        'name': 'bus_0_megaraid_6',
        'device': '/dev/bus/0',
        'type': 'megaraid,6',
        **dict.fromkeys(('model', 'firmware', 'serial', 'wwn', 'kind')),
        'problem': 'cannot be opened',
        'code': 'device-open-failed',
    }
    bare = SDA._replace(device=Device('/dev/sda', name='sda'), problem='x' * 900)
    [told] = json.loads(drive_list.as_json([bare], ['/dev/sda'], False))['drives']
    assert (told['type'], len(told['problem'])) == (None, 500)


def test_json_is_indented_by_one():
    assert drive_list.as_json([], [], False) == '{\n "version": 2,\n "drives": []\n}'
