"""A fleet's deciding functions, case by case: results of services, the plan, the worst drives,
the table.
"""

import json
from types import SimpleNamespace

import pytest
from shipped import ATTRIBUTES, DATABASE

from smart_attributes.constants import DAY, YEAR
from smart_attributes.fleet import services, summary, table
from smart_attributes.fleet.drives import FleetDrive
from smart_attributes.fleet.replacement_order import Step
from smart_attributes.fleet.services import Result, Service
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.model import State
from smart_attributes.output.page_drives import is_urgent
from smart_attributes.work import actions, work_list

NOW = 1_795_348_800  # 2026-11-22, 12:00
HOUR = 3600
LINE = 'OK        sda  ACME X1  endurance_used 1 %  EXAMPLE0001  firmware 1'
CHECK = 'UNKNOWN   (check)  site.json: not JSON'
VALUES = ("'sda_endurance_used'=1%;;;;",)


def told(output, state=0, age=0.0, values=VALUES, interval=300.0, is_active=True):
    result = Result(state, output, values, NOW - age)
    service = Service(
        'db1', 'smart', result, interval, is_active, ('service acknowledged',)
    )
    drives, is_old = services.drives_of(service, DATABASE.metrics, NOW)
    return SimpleNamespace(drives=drives, is_old=is_old)


def text(first='OK - 1 drive: 1 ok', *lines):
    return '\n'.join([f'SMART {first}', *lines])


def drive(
    name='sda',
    state='OK',
    action=actions.NOTHING,
    host='db1',
    model='ACME',
    serial='',
    **facts,
):
    return FleetDrive(
        {
            'host': host,
            'name': name,
            'state': state,
            'action': action,
            'model': model,
            'serial': serial,
            'firmware': '',
            'to_do': actions.action(action).words,
            'why': None,
            'order_by': None,
            'notes': [],
            **facts,
        }
    )


# --- a service of Icinga --------------------------------------------------------------------------


def test_a_service_that_was_never_checked_has_a_row():
    service = Service('db1', 'smart', None, 300, True, ('service acknowledged',))
    [row], _ = services.drives_of(service, DATABASE.metrics, NOW)

    assert [row.facts[key] for key in ('host', 'code', 'handling')] == [
        'db1',
        'never-checked',
        ('service acknowledged',),
    ]


@pytest.mark.parametrize(
    'interval, is_active, age, is_old',
    [
        (60, True, 600, False),
        (60, True, 601, True),
        (HOUR, True, 2 * HOUR, False),
        (HOUR, True, 2 * HOUR + 1, True),
        (300, False, 2 * DAY, False),
        (300, False, 2 * DAY + 1, True),
        # the clock of the host is ahead
        (300, True, -DAY, False),
        (300, True, -DAY - 1, True),
    ],
)
def test_a_result_is_old_after_two_intervals(interval, is_active, age, is_old):
    found = told(
        text('OK - 1 drive: 1 ok', LINE),
        age=age,
        interval=interval,
        is_active=is_active,
    )
    [only] = found.drives

    assert found.is_old is is_old
    assert (
        any(note['text'].startswith('as of ') for note in only.facts['notes']) is is_old
    )
    assert only.facts['handling'] == ('service acknowledged',)


@pytest.mark.parametrize(
    'count, missing',
    [
        ('1 drive: 1 ok', 0),
        ('2 drives: 2 ok', 1),
        ('24 drives: 1 critical, 23 ok', 23),
        ('24 drives, 1 not ok', 23),
    ],
)
def test_drives_that_were_cut_off_are_counted(count, missing):
    """Never OK by silence: the row is UNKNOWN."""
    rows = [
        each.facts
        for each in told(text(f'OK - x; {count}', LINE)).drives
        if each.facts.get('is_check')
    ]

    assert [(row['state'], row['code']) for row in rows] == [('UNKNOWN', 'output-cut')][
        :missing
    ]
    for row in rows:
        assert row['why'].startswith(f'output truncated: {missing} of ')


@pytest.mark.parametrize(
    'first, lines, states',
    [
        ('OK - 1 drive: 1 ok', [LINE], ['OK']),
        ('WARNING - 1 drive: 1 ok', [LINE], ['WARNING', 'OK']),
        ('CRITICAL - x; 1 drive: 1 ok', [CHECK, LINE], ['CRITICAL', 'UNKNOWN', 'OK']),
        ('UNKNOWN - x; 1 drive: 1 ok', [CHECK, LINE], ['UNKNOWN', 'OK']),
    ],
)
def test_a_check_that_is_worse_than_its_drives_has_a_row_before_all_others(
    first, lines, states
):
    assert [each.facts['state'] for each in told(text(first, *lines)).drives] == states


def test_a_check_without_drives_has_a_row():
    [row] = told(text('OK - no drives')).drives

    assert (row.facts['state'], row.facts['name'], row.facts['is_check']) == (
        'OK',
        '(smart)',
        True,
    )


@pytest.mark.parametrize(
    'state, shown',
    [(0, 'OK'), (2, 'CRITICAL'), (3, 'UNKNOWN'), (4, 'UNKNOWN'), (-1, 'UNKNOWN')],
)
def test_words_of_another_program_have_the_state_that_icinga_has(state, shown):
    [row] = told('\n <Timeout exceeded.>\nfurther words', state).drives

    assert (row.facts['state'], row.facts['code']) == (shown, 'output-foreign')
    assert row.facts['why'].endswith(': <Timeout exceeded.>')


# --- the plan -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'when, said',
    [
        ('2026-12-31', '2026-Q4'),
        ('2027-01-01', '2027-Q1'),
        ('2027-03-31', '2027-Q1'),
        ('2027-04-01', '2027-Q2'),
        ('10227-01-01', '10227-Q1'),
    ],
)
def test_a_quarter_has_three_months(when, said):
    assert summary.quarter(when) == said


@pytest.mark.parametrize(
    'action, left, due',
    [
        (actions.REPLACE, None, 'now'),
        (actions.COPY, 9 * YEAR, 'now'),
        (actions.WAIT, None, 'now'),
        (actions.ORDER, None, summary.UNDATED),
        (actions.ORDER, 90 * DAY, 'now'),
        (actions.ORDER, 120 * DAY, '2026-Q4'),
        (actions.ORDER, 9 * YEAR, '2035-Q3'),
        (actions.NOTHING, 3 * YEAR + 90 * DAY, '2029-Q4'),
        (actions.NOTHING, 3 * YEAR + 91 * DAY, ''),
        (actions.WATCH, 10 * DAY, 'now'),
        (actions.NOTHING, None, ''),
        (actions.ORDER, 11 * YEAR, summary.UNDATED),
    ],
)
def test_a_drive_is_planned_for_the_quarter_of_its_order(action, left, due):
    """Three years ahead; what is ordered anyway stands in its quarter, however late."""
    facts = {
        'action': action,
        'state': 'OK',
        **work_list.due(action, [] if left is None else [left], NOW)._asdict(),
    }

    assert summary.due(facts, NOW) == due


@pytest.mark.parametrize('state, due', [('CRITICAL', 'now'), ('OK', '')])
def test_a_failing_drive_that_must_stay_is_ordered_all_the_same(state, due):
    assert (
        summary.due({'action': actions.KEEP, 'state': state, 'order_by': None}, NOW)
        == due
    )


def planned(*drives):
    made = summary.Summary(NOW)
    for each in drives:
        made.add(each)
    return made


def ordered(days, host='db1', model='ACME', name='sda'):
    return drive(
        name,
        'WARNING',
        actions.ORDER,
        host,
        model,
        order_by=work_list.due(actions.ORDER, [days * DAY], NOW).order_by,
    )


def test_the_plan_has_every_quarter_and_the_first_one_first():
    """ "now" stands before all quarters and what has no date behind them; most drives first
    within one.
    """
    found = planned(
        ordered(400),
        drive(action=actions.REPLACE),
        ordered(900, 'a', 'B'),
        ordered(900, 'b', 'C'),
        ordered(900, 'b', 'C', 'sdb'),
        drive(action=actions.ORDER),
        ordered(900, 'c', 'A'),
    )

    steps = summary.steps(found, DATABASE)
    assert [(step.action, step.by, step.model, step.drives) for step in steps] == [
        ('replace it now', 'now', 'ACME', 1),
        ('order', 'now', 'ACME', 1),
        ('order', '2027-Q3', 'ACME', 1),
        ('order', '2029-Q1', 'C', 2),
        ('order', '2029-Q1', 'A', 1),
        ('order', '2029-Q1', 'B', 1),
        ('order', 'no forecast', 'ACME', 1),
    ]


def waiting(host, name, label='', code='', state='CRITICAL', action=actions.REPLACE):
    group = (
        {'replacement': {'label': label, 'code': code, 'text': 'words'}}
        if label
        else {}
    )
    return drive(name, state, action, host, **group)


def test_a_plan_says_what_is_to_do_in_full_where_that_is_known():
    found = planned(
        drive('sda', 'CRITICAL', actions.REPLACE, why='words', to_do='replace bay 3'),
        drive(
            'sdb', 'CRITICAL', actions.REPLACE, model=None, serial=None, firmware=None
        ),
    )

    assert [step for step in summary.steps(found, DATABASE) if step.drive] == [
        ('replace bay 3', 'now', 'db1', 'sda', '', 'ACME', '', 1, 1, 'words'),
        ('replace it now', 'now', 'db1', 'sdb', '', '', '', 1, 1, ''),
    ]


# --- drives that were met before ------------------------------------------------------------------


@pytest.mark.parametrize(
    'first, second, states',
    [
        ({'serial': 'SER1'}, {'serial': 'SER1'}, ['OK']),
        ({'serial': 'SER1'}, {'serial': 'SER1', 'host': 'db2'}, ['OK']),
        ({'serial': 'SER1'}, {'serial': 'SER1', 'state': 'WARNING'}, ['WARNING']),
        ({'serial': 'SER1', 'state': 'WARNING'}, {'serial': 'SER1'}, ['WARNING']),
        ({'serial': 'SER1'}, {'serial': 'SER2'}, ['OK', 'OK']),
        # no unique serial number
        ({'serial': '123'}, {'serial': '123'}, ['OK', 'OK']),
        ({'serial': '0000'}, {'serial': '0000'}, ['OK', 'OK']),
        (
            {'serial': 'SER1', 'model': ''},
            {'serial': 'SER1', 'model': ''},
            ['OK', 'OK'],
        ),
    ],
)
def test_a_drive_that_was_met_before_counts_once_in_its_worst_state(
    first, second, states
):
    found = planned(drive(**first), drive(**second))

    assert [*found.states.elements()] == states
    assert found.repeats == 2 - len(states)


def test_a_drive_that_got_worse_is_ordered_once_and_has_one_firmware():
    """The first report counted in the plan and in another group."""
    order = {'serial': 'SER1', 'action': actions.ORDER, 'firmware': '1'}
    replace = {'serial': 'SER1', 'action': actions.REPLACE, 'firmware': '2'}
    found = planned(
        drive(state='WARNING', order_by='2020-01-01', **order),
        drive(state='CRITICAL', **replace),
    )

    orders = [step for step in summary.steps(found, DATABASE) if step.action == 'order']
    assert [(step.by, step.drives) for step in orders] == [('now', 1)]
    groups = [(name, group.drives) for name, group in summary.by_model(found)]
    assert groups == [(('ACME', '2'), 1)]


def test_a_host_that_misses_a_drive_does_not_cancel_its_order():
    ordered = drive(state='WARNING', serial='SER1', action=actions.ORDER_COPY)
    missing = drive(state='CRITICAL', serial='SER1', action=actions.SEARCH)

    [step] = summary.steps(planned(ordered, missing), DATABASE)
    assert (step.action, step.by) == ('order', 'now')


# --- the worst drives -----------------------------------------------------------------------------

STATES = ('OK', 'CRITICAL', 'WARNING', 'OK', 'UNKNOWN', 'CRITICAL')


@pytest.mark.parametrize(
    'most, names, left_out',
    [
        (1, ['b'], 5),
        (2, ['b', 'f'], 4),
        (99, ['b', 'f', 'e', 'c', 'a', 'd'], 0),
        (0, ['b'], 5),
    ],
)
@pytest.mark.parametrize('is_turned', [False, True])
def test_the_worst_drives_are_kept_in_whatever_order_they_come(
    most, names, left_out, is_turned
):
    drives = [drive(name, state) for name, state in zip('abcdef', STATES)]
    found = table.Kept(most, table.in_page)
    for each in reversed(drives) if is_turned else drives:
        found.add(each)

    assert [each['name'] for each in found.drives()] == names
    assert found.counts(False) == (6 - left_out, 6)


@pytest.mark.parametrize(
    'most, names, kept',
    [
        (1, ['b', 'f', 'e', 'c', 'a'], ((4, 4), (1, 2))),
        (2, ['b', 'f', 'e', 'c', 'a', 'd'], ((4, 4), (2, 2))),
    ],
)
def test_urgent_drives_are_kept_beside_the_worst_of_the_others(most, names, kept):
    found = table.Kept(most, table.in_page, is_urgent)
    for name, state in zip('abcdef', STATES):
        found.add(drive(name, state))

    assert [each['name'] for each in found.drives()] == names
    assert (found.counts(True), found.counts(False)) == kept


def test_the_table_keeps_only_the_readings_of_its_columns():
    readings = [
        {'metric': metric, 'value': 7, 'unit': '%', 'judged': judged}
        for metric, judged in (
            ('endurance_used', True),
            ('temperature', False),
            ('pending', True),
        )
    ]

    assert (
        table.in_table(drive()._replace(readings=lambda: readings))['readings']
        == readings[:1]
    )


def test_the_least_severe_drives_give_way_where_history_is_full(monkeypatch):
    monkeypatch.setattr(table, 'LARGEST_TABLE', 400)
    found = table.Kept(99, table.in_page)
    for name, state in zip('abcdef', STATES):
        found.add(drive(name, state))
    names = [each['name'] for each in found.drives()]

    assert names == ['b', 'f', 'e', 'c', 'a', 'd'][: len(names)] and 0 < len(names) < 6
    assert found.counts(False) == (len(names), 6)


@pytest.mark.parametrize('count', [0, 1, 3])
def test_what_is_kept_is_taken_as_one_document(count):
    found = table.Kept(99, table.in_page)
    for number in range(count):
        found.add(drive(f'sd{number}'))
    data = json.loads(found.taken(NOW + 0.6))

    assert (len(data['drives']), data['made'], [*found.drives()]) == (
        count,
        NOW + 1,
        [],
    )


# --- the table ------------------------------------------------------------------------------------


def test_a_fleet_without_drives_is_counted():
    assert next(table.heading(planned())).endswith(' on 0 hosts: none')


@pytest.mark.parametrize(
    'left, until',
    [
        (None, ''),
        (40 * DAY, '2027-01'),
    ],
)
def test_a_row_says_until_when_a_drive_lasts(left, until):
    facts = (
        {}
        if left is None
        else {'forecasts': {'a': {'left': left}, 'b': {'left': left + 1}}}
    )

    assert table._until(facts, NOW) == until


NOTED = {'code': 'old-event', 'text': 'n'}


@pytest.mark.parametrize(
    'facts, what',
    [
        ({'state': 'OK', 'notes': [NOTED]}, ()),
        (
            {'notes': [NOTED, {'text': 'w', 'code': 'c'}], 'why': 'w', 'code': 'c'},
            ('[c] w', 'n'),
        ),
        (
            {'action': actions.ORDER, 'to_do': 'order now', 'why': 'w'},
            ('order now', 'w'),
        ),
        ({'code': 'c', 'why': 'w', 'to_do': 'install'}, ('[c] w', 'install')),
        (
            {'to_do': 'order', 'why': 'w', 'handling': ['set out']},
            ('order', 'w', 'set out'),
        ),
        (
            {
                'to_do': 'watch',
                'why': 'w',
                'also': [{'action': 'cable', 'to_do': 'look'}],
            },
            ('watch', 'w', 'also look'),
        ),
        ({'code': 'c'}, ('[c]',)),
        ({}, ()),
    ],
)
def test_a_row_says_what_to_do_and_why(facts, what):
    drive = {'state': 'WARNING', 'notes': [], 'to_do': actions.NOTHING, **facts}

    assert table._what(drive) == what


def test_a_row_leaves_out_numbers_that_are_not_judged_or_not_known():
    readings = [
        {
            'metric': 'temperature',
            'value': 31,
            'unit': 'C',
            'judged': False,
            'state': 'OK',
        },
        {
            'metric': 'spare_available',
            'value': None,
            'unit': '%',
            'judged': True,
            'state': 'OK',
        },
    ]
    shown = table.in_table(drive()._replace(readings=lambda: readings))
    [row] = table.rows([shown], NOW)

    assert (row.temp, row.spare) == ('', '')


# --- services, continued --------------------------------------------------------------------------


@pytest.mark.parametrize(
    'age, by',
    [(0, '2026-12-27'), (5 * DAY, '2026-12-22')],
)
def test_the_age_of_a_result_is_taken_from_the_time_that_is_left(age, by):
    values = (f"'sda_endurance_time_left'={125 * DAY}s;;;0;",)
    [only] = told(text('OK - 1 drive: 1 ok', LINE), 0, age, values).drives

    assert only.facts['order_by'] == by


def test_a_fleet_is_counted_in_the_document():
    found = planned(
        drive('sda', 'CRITICAL', actions.REPLACE, 'db1', 'A', 'SERIAL1', firmware='1'),
        drive('sdb', 'OK', host='db1', model='', serial='SERIAL2'),
        drive('sda', 'WARNING', host='db2', model='A', serial='SERIAL1', firmware='1'),
        drive('sdc', 'UNKNOWN', host='db2', model='B', serial='SERIAL3'),
    )
    none = dict.fromkeys(('critical', 'unknown', 'warning', 'ok'), 0)

    assert summary.as_json(found, [Step('order', drives=1)]) == {
        'hosts': 2,
        'drives': 3,
        'states': {**dict.fromkeys(none, 1), 'warning': 0},
        'models': [
            {
                'model': 'A',
                'firmware': '1',
                'drives': 1,
                'hosts': 1,
                **none,
                'critical': 1,
            },
            {
                'model': 'B',
                'firmware': None,
                'drives': 1,
                'hosts': 1,
                **none,
                'unknown': 1,
            },
            {'model': None, 'firmware': None, 'drives': 1, 'hosts': 1, **none, 'ok': 1},
        ],
        'causes': {},
        'steps': [{**Step('order')._asdict(), 'drives': 1}],
    }


def test_models_of_most_alerts_and_then_of_most_drives_are_first():
    found = planned(
        *(
            drive(model=model, state=state)
            for model, state in (
                ('A', 'OK'),
                ('B', 'OK'),
                ('B', 'OK'),
                ('C', 'OK'),
                ('D', 'WARNING'),
                ('E', 'UNKNOWN'),
                ('F', 'CRITICAL'),
            )
        )
    )

    assert [model for (model, _), _ in summary.by_model(found)] == [
        'F',
        'E',
        'D',
        'B',
        'A',
        'C',
    ]


ADVISORY = {
    'id': 'b',
    'models': ['[BC]'],
    'firmware': '[12]?',
    'effect': 'stops',
    'action': 'update',
    'source': 'test',
}


def test_firmware_defects_of_most_drives_are_first():
    """Then by model and version. A drive that reports no version has no known defect."""
    database = SpecDatabase(
        {
            **ATTRIBUTES,
            'advisories': [
                ADVISORY,
                {**ADVISORY, 'id': 'a', 'models': ['A'], 'fixed_in': '3'},
            ],
        }
    )
    found = planned(
        *(
            drive(host=model, model=model, firmware=firmware)
            for model, firmware in ('C2', 'C1', 'B1', 'B1', 'A1', 'A3', 'X1')
        ),
        drive(model='B'),
    )
    common = 'stops; update'

    assert [
        (step.model, step.firmware, step.drives, step.why)
        for step in summary.firmware_steps(found, database)
    ] == [
        ('B', '1', 2, common),
        ('A', '1', 1, f'{common}, fixed in 3'),
        ('C', '1', 1, common),
        ('C', '2', 1, common),
    ]


@pytest.mark.parametrize(
    'more, action',
    [
        ({}, actions.WATCH),  # no version without the defect is known
        ({'fixed_in': '3'}, actions.FIRMWARE),
        ({'read': False}, actions.FIRMWARE),
    ],
)
def test_firmware_is_updated_only_to_a_version_or_a_patch_that_exists(more, action):
    """No plan says to look again at a drive that must not be read."""
    database = SpecDatabase({**ATTRIBUTES, 'advisories': [{**ADVISORY, **more}]})
    plan = summary.steps(planned(drive(model='B', firmware='1')), database)

    assert [step.action for step in plan] == [actions.action(action).words]


def test_the_heading_of_a_fleet_has_the_counts():
    found = planned(
        drive('sda', 'CRITICAL', actions.REPLACE, 'db1', 'A', 'SERIAL1', firmware='1'),
        drive('sdb', 'WARNING', actions.ORDER, 'db1', '', 'SERIAL2'),
        drive('sdc', 'OK', host='db2', model='BB', serial='SERIAL3', firmware='22'),
        *(
            drive(host='db2', state='UNKNOWN', is_check=True, code='a')
            for _ in range(2)
        ),
        drive(host='db3', state='WARNING', is_check=True, code='b'),
        drive(host='db3', is_check=True, code='a'),
    )

    assert [*table.heading(found)] == [
        '3 drives on 3 hosts: 1 critical, 1 warning, 1 ok',
        'and 3 checks with a problem: 2 a, 1 b',
        '',
    ]


def test_a_row_shows_every_judged_number_with_its_unit():
    readings = [
        {'metric': metric, 'value': value, 'judged': True, 'state': 'OK', **more}
        for metric, value, more in (
            ('endurance_used', 50, {'unit': '%', 'state': 'WARNING'}),
            ('spare_available', 9, {}),
            ('temperature', 31, {'unit': 'C'}),
            ('host_written', 2e12, {'unit': 'B'}),
            ('power_on_time', 2.5 * YEAR, {'unit': 's'}),
        )
    ]
    facts = {
        **drive('sda', 'CRITICAL', serial='SER1').facts,
        'bay': 'Slot 3',
        'readings': readings,
        'forecasts': {'a': {'left': 40 * DAY}},
    }
    [row] = table.rows([facts], NOW)

    assert (row.bay, row.until, row.spare, row.temp, row.age, row.written) == (
        'Slot 3',
        '2027-01',
        '9',
        '31 C',
        '2.5 y',
        '2 TB',
    )
    assert row.used == '50 %'
    assert (row.model, row.serial, row.state, row.host) == (
        'ACME',
        'SER1',
        State.CRITICAL,
        'db1',
    )


def test_a_row_leaves_cells_empty_that_its_drive_does_not_report():
    [row] = table.rows(
        [
            {
                'state': 'OK',
                'name': 'sda',
                'host': 'db1',
                'to_do': actions.NOTHING,
                'notes': [],
                'readings': [],
            }
        ],
        NOW,
    )

    assert row == (State.OK, 'sda', '', '-', '', '', '', '', '', '', '', (), 'db1')
