"""The document of `triage --json`: each field, and null for what is unknown."""

import pytest
from cases import case, of_uses, on

from smart_attributes.errors import Coded
from smart_attributes.knowledge import ranges
from smart_attributes.model import (
    Case,
    Device,
    Forecast,
    Group,
    Identity,
    Judgement,
    Member,
    Reading,
    Source,
    State,
    Verdict,
)
from smart_attributes.output import json_document
from smart_attributes.redundancy import replacement, sentences
from smart_attributes.work import work_list
from smart_attributes.work.statements import finding

NOW = 1_795_348_800  # 2026-11-22
SDA = Verdict(
    Device('/dev/sda', 'sat', name='sda'),
    Identity('ATA', 'ACME X1', 'FW1', 'SERIAL1', '5', 7200),
    State.OK,
)
C, W, U = State.CRITICAL, State.WARNING, State.UNKNOWN


def made(*verdicts, messages=(), hide_serial=False, remarks=()):
    drives = [
        each if isinstance(each, Case) else case(each, NOW, hide_serial)
        for each in verdicts
    ]
    return json_document.document(drives, messages, NOW, remarks)


def reading_of(judgement):
    """Return the object of the reading of a judgement."""
    [found] = made(SDA._replace(judgements=(judgement,)))['drives'][0]['readings']
    return found


def said(text, code='old-event', **fields):
    return Coded(code, text, **fields)


def reading(number=8.0, unit='', **more):
    return Reading('pending', number, unit, Source('', 197, 'raw'), **more)


@pytest.mark.parametrize(
    'states, of_run, state',
    [
        ([], [], 'UNKNOWN'),
        ([State.OK], [], 'OK'),
        ([State.OK, W], [], 'WARNING'),
        ([W], [C], 'CRITICAL'),
        ([State.OK], [U], 'UNKNOWN'),
        ([C], [U], 'CRITICAL'),
        ([], [State.OK], 'UNKNOWN'),
    ],
)
def test_the_state_is_the_worst_of_drives_and_run(states, of_run, state):
    drives = [SDA._replace(state=each) for each in states]
    messages = [(each, said('x')) for each in of_run]

    assert made(*drives, messages=messages, remarks=[said('x')])['state'] == state


def test_notes_hold_the_messages_of_the_run_with_code_state_and_fields():
    told = made(
        SDA,
        messages=[
            (C, said('failure', 'drive-missing', serial='EXAMPLE1')),
            (W, said('demand')),
            (U, said('f' * 900)),
        ],
        remarks=[said('remark', 'drive-moved')],
    )

    assert told['notes'][:2] == [
        {
            'code': 'drive-missing',
            'text': 'failure',
            'serial': 'EXAMPLE1',
            'state': 'CRITICAL',
        },
        {'code': 'old-event', 'text': 'demand', 'state': 'WARNING'},
    ]
    assert (len(told['notes'][2]['text']), told['notes'][2]['state']) == (
        500,
        'UNKNOWN',
    )
    assert told['remarks'] == [{'code': 'drive-moved', 'text': 'remark'}]
    assert 'notes' not in made(SDA) and 'remarks' not in made(SDA)


def test_a_healthy_drive_has_every_key():
    assert made(SDA._replace(entry='ACME drives', notes=(said('a note'),)))[
        'drives'
    ] == [
        {
            'device': '/dev/sda',
            'type': 'sat',
            'model': 'ACME X1',
            'serial': 'SERIAL1',
            'firmware': 'FW1',
            'kind': 'hdd',
            'entry': 'ACME drives',
            'state': 'OK',
            'code': None,
            'readings': [],
            'notes': [{'code': 'old-event', 'text': 'a note'}],
            'name': 'sda',
            'action': 'nothing',
            'why': None,
            'reason': None,
            'findings': [],
            'to_do': 'nothing',
            'order_by': None,
        }
    ]


def test_a_drive_that_reports_nothing_has_nulls():
    [told] = made(
        Verdict(
            Device('/dev/sda', name='sda'),
            Identity(),
            U,
            problem='is silent',
            code='timeout',
        )
    )['drives']

    assert {
        key: told[key]
        for key in ('type', 'model', 'serial', 'firmware', 'kind', 'entry')
    } == dict.fromkeys(('type', 'model', 'serial', 'firmware', 'kind', 'entry'))
    assert (told['notes'], told['why'], told['code']) == (
        [{'code': 'timeout', 'text': 'is silent'}],
        'is silent',
        'timeout',
    )


@pytest.mark.parametrize(
    'judgement, value, unit',
    [
        (Judgement(reading(8.0), State.OK), 8, ''),
        (Judgement(reading(8.5, '%'), State.OK), 8.5, '%'),
        (Judgement(reading(None, 's'), State.OK), None, 's'),
        (
            Judgement(reading(1, 'x', verdict='pass|ed', state=State.OK), State.OK),
            'pass ed',
            '',
        ),
        (
            Judgement(reading(1, verdict='x' * 900, state=State.OK), State.OK),
            497 * 'x' + '...',
            '',
        ),
        (Judgement(reading(None, '', state=State.OK), State.OK), None, ''),
    ],
    ids=['whole', 'fraction', 'unknown', 'word', 'long-word', 'unknown-word'],
)
def test_a_value_is_a_number_a_word_or_null(judgement, value, unit):
    told = reading_of(judgement)

    assert (told['value'], told['unit'], type(told['value'])) == (
        value,
        unit,
        type(value),
    )
    assert len(told['said']) <= 500


def test_a_reading_has_its_limits_reason_and_growth():
    judgement = Judgement(
        reading(3 * 86400, 's'),
        W,
        '2d',
        '9d',
        against=Coded('above-limit', 'above 2 d'),
        reason='because',
        growth='grew',
        grown=4.0,
    )

    assert reading_of(judgement) == {
        'metric': 'pending',
        'value': 259200,
        'unit': 's',
        'source': str(Source('', 197, 'raw')),
        'judged': True,
        'state': 'WARNING',
        'warning': '172800',
        'critical': '777600',
        'reason': 'because',
        'said': 'pending 72 h',
        'growth': 'grew',
        'grown': 4.0,
    }
    bare = reading_of(Judgement(reading(judged=False), State.OK))
    assert (bare['warning'], bare['critical'], bare['reason'], bare['judged']) == (
        *3 * [None],
        False,
    )
    assert not {'growth', 'grown'} & set(bare)


def limited(number, state=W, warning='4', critical='', unit='', **more):
    against = ranges.describe(critical if state is C else warning, number, unit)
    return Judgement(
        reading(number, unit, **more), state, warning, critical, against=against
    )


def status(metric):
    return Judgement(Reading(metric, 0, '', Source('log'), 'bad', C), C)


GROWN = Judgement(
    reading(8),
    W,
    '9',
    growth='pending grew by 3',
    grown=3,
    growth_against=Coded('growth', 'above 0 in 24 h', limit='0'),
)


@pytest.mark.parametrize(
    'judgement, code, value, limit, grown, age',
    [
        (limited(8), 'above-limit', 8, '4', None, None),
        (limited(8, C, '4', '6'), 'above-limit', 8, '6', None, None),
        (limited(2, warning='4:'), 'below-limit', 2, '4:', None, None),
        (limited(2, warning='@1:4'), 'inside-limit', 2, '@1:4', None, None),
        (
            limited(86400 * 3, warning='2d', unit='s', quiet=7.6),
            'above-limit',
            259200,
            '172800',
            None,
            8,
        ),
        (GROWN, 'growth', 8, '0', 3, None),
        (status('self_test'), 'self-test-failed', 'bad', None, None, None),
        (status('of_this_site'), 'status-reported', 'bad', None, None, None),
    ],
)
def test_a_finding_has_its_code_and_the_values_that_decided(
    judgement, code, value, limit, grown, age
):
    judgements = judgement, Judgement(reading(0), State.OK)
    [told] = made(SDA._replace(judgements=judgements, state=W))['drives'][0]['findings']

    assert {key: value for key, value in told.items() if key != 'text'} == {
        'code': code,
        'value': value,
        'limit': limit,
        'grown': grown,
        'age': age,
        'state': judgement.state.name,
        'source': str(judgement.reading.source),
        'unit': judgement.reading.unit,
        'metric': judgement.reading.metric,
    }
    assert told['text'] == finding(judgement)


@pytest.mark.parametrize('hide_serial, serial', [(False, 'SERIAL1'), (True, None)])
def test_a_silent_drive_has_who_was_there_last(hide_serial, serial):
    silent = SDA._replace(problem='is silent', last_seen=SDA.identity)

    assert made(silent, hide_serial=hide_serial)['drives'][0]['last_seen'] == {
        'model': 'ACME X1',
        'serial': serial,
    }
    assert 'last_seen' not in made(SDA)['drives'][0]


MIRROR = Group(
    'md0',
    'md0',
    'md',
    'raid1',
    2,
    0,
    (Member('sda1', 'in_sync', 0, ('sda',)), Member('', 'missing', 1)),
    'recover',
    12.5,
    ('/srv',),
)


def of_groups(*groups):
    """Return the document of a machine with one drive and its groups."""
    placed = on(SDA, 'sda')
    found = replacement.machine(groups, work_list.drives([placed], NOW))
    return {
        **made(*of_uses(replacement.uses([placed], found), NOW)),
        **replacement.document(found, [SDA]),
    }


def test_the_groups_of_a_machine_have_their_members_and_drives():
    [told] = of_groups(MIRROR)['groups']

    assert told == {
        'id': 'md0',
        'name': 'md0',
        'kind': 'md',
        'level': 'raid1',
        'used_as': ['/srv'],
        'tolerates': 0,
        'activity': 'recover',
        'progress': 12.5,
        'missing': 0,
        'unknown': None,
        'text': sentences.tolerance(MIRROR, 0),
        'members': [
            {
                'name': 'sda1',
                'state': 'in_sync',
                'slot': 0,
                'role': None,
                'detail': None,
                'drives': [{'name': 'sda', 'state': 'OK'}],
            },
            {
                'name': None,
                'state': 'missing',
                'slot': 1,
                'role': None,
                'detail': None,
                'drives': [],
            },
        ],
    }


def test_the_order_of_replacement_and_each_drive_name_the_group_and_the_reason():
    told = of_groups(MIRROR._replace(activity='', progress=None))
    [step], [shown] = told['replace_order'], told['drives']

    assert {key: step[key] for key in ('name', 'label', 'code', 'disks', 'groups')} == {
        'name': 'sda',
        'label': 'last good copy',
        'code': 'last-good-copy',
        'disks': ['sda'],
        'groups': ['md0'],
    }
    assert shown['replacement'] == {
        'label': step['label'],
        'code': step['code'],
        'text': step['why'],
        'group': 'md0',
    }
    assert shown['depends'] == [
        {
            'group': 'md0',
            'name': 'md0',
            'kind': 'md',
            'level': 'raid1',
            'used_as': ['/srv'],
            'tolerates': 0,
            'member': 'sda1',
            'member_state': 'in_sync',
            'text': told['groups'][0]['text'],
        }
    ]


def test_a_group_of_unknown_level_has_its_reason():
    [told] = of_groups(
        Group('osd', 'osd', 'ceph', '', members=MIRROR.members[:1], unknown='u' * 900)
    )['groups']

    assert (told['level'], told['tolerates'], len(told['unknown'])) == (None, None, 500)


def test_forecasts_and_history_are_whole_seconds():
    [told] = made(
        case(
            SDA,
            NOW,
            forecasts={'endurance_used': Forecast(1.6, 0.4, 2.6, True)},
            past={'endurance_used': ((1.6, 3.5),)},
        )
    )['drives']

    assert told['forecasts'] == {
        'endurance_used': {'left': 2, 'earliest': 0, 'latest': 3, 'estimate': True}
    }
    assert told['past'] == {'endurance_used': [[2, 3.5]]}
