"""Groups at risk in a fleet: from documents of any content, and from the lines that Icinga has."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from cases import case, of_uses, on
from conftest import ROOT, run
from test_hostile import WRONG

from smart_attributes.errors import Coded
from smart_attributes.fleet import replacement_order, services
from smart_attributes.fleet.plugin_output import Origin, Reader, dated, split
from smart_attributes.fleet.replacement_order import GroupsAtRisk, first_step
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.model import (
    Device,
    Group,
    Identity,
    Member,
    Replacement,
    State,
    Verdict,
)
from smart_attributes.output import json_document, plugin
from smart_attributes.output.plugin import Line
from smart_attributes.redundancy import replacement
from smart_attributes.redundancy.replacement import OF_CODE, Risk
from smart_attributes.work import actions, work_list

NOW = time.time()
METRICS = SpecDatabase(json.loads((ROOT / 'attributes.json').read_text())).metrics
GROUPS = (
    Group(
        'md0',
        'md0',
        'md',
        'raid5',
        3,
        2,
        tuple(
            Member(f'{disk}1', state, slot, (disk,))
            for slot, (disk, state) in enumerate(
                (('sda', 'in_sync'), ('sdb', 'faulty'), ('sdc', 'in_sync'))
            )
        ),
        used_as=('/srv',),
    ),
    Group(
        'md1',
        'md1',
        'md',
        'raid1',
        2,
        0,
        tuple(
            Member(f'{disk}2', 'in_sync', slot, (disk,)) for slot, disk in enumerate(('sda', 'sdc'))
        ),
    ),
    Group(
        'osd.4',
        'osd.4',
        'ceph',
        '',
        members=(Member('sdd2', 'unknown', None, ('sdd',)), Member('', 'missing')),
        unknown='Ceph has copies on other hosts',
    ),
    Group(
        'sdd1',
        'sdd1',
        'partition',
        'single',
        1,
        0,
        (Member('sdd1', 'in_sync', 0, ('sdd',)),),
        used_as=('/boot',),
    ),
)


FIRST = 'sdb: replace it, or add it to its array again'


def made(**facts: Any) -> dict[str, Any]:
    """Return the document of a machine with a degraded raid5, a healthy mirror and a partition."""
    verdicts = [
        Verdict(
            Device(f'/dev/{name}', name=name),
            Identity('ATA', 'ACME X1', 'FW1', f'EXAMPLE{name}'),
            State.OK,
        )
        for name in ('sda', 'sdb', 'sdc', 'sdd')
    ]
    located = [on(verdict, verdict.device.name) for verdict in verdicts]
    found = replacement.machine(GROUPS, work_list.drives(located, NOW))
    told = of_uses(replacement.uses(located, found), NOW)
    document = json_document.document(told, (), NOW)
    items = work_list.in_order(told, found)
    of_groups = {**replacement.document(found, verdicts), 'work': json_document.work_list(items)}
    return json.loads(json.dumps({**document, **of_groups, 'made': round(NOW), **facts}))


def saved(folder: Path, name: str, document: Any) -> None:
    (folder / f'{name}.json').write_text(json.dumps(document))


# --- from documents -------------------------------------------------------------------------------


def test_a_degraded_array_is_at_risk_and_says_what_comes_first():
    [found] = replacement_order.of_document(made(), 'db1', None)

    assert (found.risk, found.host) == (Risk.LAST, 'db1')
    assert {key: each for key, each in found.facts.items() if key not in ('text', 'first')} == {
        'host': 'db1',
        'risk': 'last',
        'id': 'md0',
        'name': 'md0',
        'level': 'raid5',
        'used_as': ['/srv'],
        'tolerates': 0,
        'as_of': None,
    }
    assert found.facts['text'].startswith('md0 (raid5, /srv, sdb1 faulty), ')
    assert (found.facts['first']['name'], found.facts['first']['label']) == ('sdb', 'next')
    assert first_step(found.facts) == FIRST


@pytest.mark.parametrize(
    'label, said',
    [
        ('next', 'sda: replace it now'),
        ('copy first', 'sda: copy first'),
        ('wait', 'the reason'),
        ('last good copy', 'the reason'),
    ],
)
def test_the_first_step_is_an_action_or_its_reason(label, said):
    step = {
        'name': 'sda',
        'label': label,
        'code': 'x',
        'why': 'the reason',
        'to_do': said.partition(': ')[2],
    }

    assert first_step({'text': 'the group', 'first': step}) == said
    assert (
        first_step({'text': 'the reason', 'first': step})
        == first_step({'text': 'x', 'first': None})
        == ''
    )


def test_the_fleet_shows_groups_at_risk_first(tmp_path):
    """In the table, in JSON and on the page, with the host."""
    saved(tmp_path, 'db1', made())
    saved(tmp_path, 'db2', made(groups=[]))
    table, found = (
        run('fleet', str(tmp_path)).text,
        json.loads(run('fleet', '--json', str(tmp_path)).text),
    )
    run('fleet', str(tmp_path), '--html', str(tmp_path / 'page.html'))
    page = (tmp_path / 'page.html').read_text().partition('<script')[0]

    assert '\n\ngroups at risk:\n  db1  md0 (raid5, /srv, sdb1 faulty), ' in table
    assert f'\n       first step: {FIRST}\n' in table
    [only] = found['fleet']['groups_at_risk']
    assert (only['host'], only['name'], only['first_step'], found['fleet']['group_count']) == (
        'db1',
        'md0',
        FIRST,
        1,
    )
    assert page.index('id="drives"') < page.index('>Groups at risk ') < page.index('id="models"')
    for words in (
        '<th scope="row">db1</th>',
        '<td data-title="group">md0</td>',
        '<td data-title="level">raid5</td>',
        FIRST,
    ):
        assert words in page


def test_a_fleet_without_groups_at_risk_does_not_mention_them(tmp_path):
    saved(tmp_path, 'db1', made(groups=[], replace_order=[]))
    run('fleet', str(tmp_path), '--html', str(tmp_path / 'page.html'))

    assert 'at risk' not in run('fleet', str(tmp_path)).text
    assert 'at risk' not in (tmp_path / 'page.html').read_text().partition('<script')[0]


def test_what_depends_on_a_drive_and_its_replacement_come_through(tmp_path):
    document = made()
    saved(tmp_path, 'db1', document)
    found = {
        each['name']: each
        for each in json.loads(run('fleet', '--json', str(tmp_path)).text)['drives']
    }

    for wanted in document['drives']:
        assert wanted['depends']
        assert {
            key: found[wanted['name']].get(key)
            for key in ('depends', 'replacement', 'action', 'why')
        } == {key: wanted.get(key) for key in ('depends', 'replacement', 'action', 'why')}


def test_an_old_document_says_of_when_its_groups_are(tmp_path):
    saved(tmp_path, 'db1', made(made=round(NOW) - 5 * 86400))

    assert ' loss, as of ' in run('fleet', str(tmp_path)).text


@pytest.mark.parametrize('wrong', WRONG, ids=repr)
@pytest.mark.parametrize('key', ['groups', 'replace_order'])
def test_groups_of_any_type_are_no_error(key, wrong):
    for given in (wrong, [wrong] * 3):
        assert isinstance(replacement_order.of_document({**made(), key: given}, 'db1', None), list)


@pytest.mark.parametrize('wrong', WRONG, ids=repr)
def test_a_group_and_a_step_may_hold_anything(wrong):
    """In each of their values, one after the other."""
    document = made()
    for key in (*document['groups'][0], 'drives'):
        [found] = replacement_order.of_document(
            {
                **document,
                'groups': [
                    {
                        **document['groups'][0],
                        'tolerates': -1,
                        **({key: wrong} if key != 'tolerates' else {}),
                    }
                ],
            },
            'db1',
            None,
        )
        assert found.risk is Risk.BEYOND
        first_step(found.facts)
    for key in document['groups'][0]['members'][0]:
        members = [{**document['groups'][0]['members'][0], key: wrong}]
        replacement_order.of_document(
            {'groups': [{**document['groups'][0], 'members': members}]}, 'db1', None
        )
    for key in document['replace_order'][0]:
        steps = [{**document['replace_order'][0], key: wrong}]
        for found in replacement_order.of_document(
            {**document, 'replace_order': steps}, 'db1', None
        ):
            first_step(found.facts)


@pytest.mark.parametrize('tolerates', ['-1', -1e29, float('nan'), True, [], -0.5])
def test_a_tolerance_that_is_no_count_is_not_known(tolerates):
    document = made()

    assert (
        replacement_order.of_document(
            {'groups': [{**document['groups'][0], 'tolerates': tolerates}]}, 'db1', None
        )
        == []
    )


RAID5 = {
    'id': 'md0',
    'level': 'raid5',
    'tolerates': 0,
    'members': [{'state': 'in_sync'}, {'state': 'in_sync'}],
}


@pytest.mark.parametrize(
    'changed, facts',
    [
        ({}, {}),
        (
            {'name': 'data', 'text': 'data (raid5)', 'used_as': ['/srv']},
            {'name': 'data', 'text': 'data (raid5)', 'used_as': ['/srv']},
        ),
        ({'tolerates': -1}, {'tolerates': -1, 'risk': 'beyond'}),
        (
            {'tolerates': -1, 'id': None, 'level': 7},
            {'tolerates': -1, 'risk': 'beyond', 'id': '', 'level': ''},
        ),
        ({'members': [{}], 'missing': 1}, {}),  # one of two members is missing
        ({'members': [{}], 'missing': 0}, None),
        ({'members': [{}], 'missing': 'x'}, None),
        ({'members': [{}]}, None),
    ],
)
def test_a_group_of_a_document_has_all_keys(changed, facts):
    """Whatever its host left out. A group of one member has no redundancy to lose."""
    found = replacement_order.of_document(
        {'groups': [{**RAID5, **changed}]}, 'db1', 'as of yesterday'
    )

    assert [each.facts for each in found] == (
        []
        if facts is None
        else [
            {
                'host': 'db1',
                'risk': 'last',
                'id': 'md0',
                'name': '-',
                'level': 'raid5',
                'used_as': [],
                'tolerates': 0,
                'text': '',
                'as_of': 'as of yesterday',
                'first': None,
                **facts,
            }
        ]
    )


@pytest.mark.parametrize(
    'step, first',
    [
        ({'label': 'wait'}, {'name': '-', 'label': 'wait', 'code': '', 'why': ''}),
        (
            {'label': 'next', 'name': 'sdb', 'code': 'replace-next', 'why': 'it fails'},
            {'name': 'sdb', 'label': 'next', 'code': 'replace-next', 'why': 'it fails'},
        ),
    ],
)
def test_a_step_of_a_document_has_all_keys(step, first):
    """Without the groups that it is for: they have ids that mean nothing elsewhere."""
    [found] = replacement_order.of_document(
        {'groups': [RAID5], 'replace_order': [{**step, 'groups': ['md0']}]}, 'db1', None
    )

    assert found.facts['first'] == first


@pytest.mark.parametrize(
    'state, risks',
    [
        ('CRITICAL', [Risk.UNSURE]),
        ('UNKNOWN', [Risk.UNSURE]),
        (7, [Risk.UNSURE]),
        ('OK', []),
        ('WARNING', []),
        (None, []),
    ],
)
def test_a_group_of_unknown_redundancy_is_at_risk_if_a_drive_in_it_fails(state, risks):
    """A drive that no check reads is not failing."""
    group = {'id': 'osd', 'members': [{'name': 'sda', 'drives': [{'name': 'sda', 'state': state}]}]}

    assert [
        each.risk for each in replacement_order.of_document({'groups': [group]}, 'db1', None)
    ] == risks


@pytest.mark.parametrize(
    'wrong', [{'groups': ['md1']}, {'label': 'paint it'}, {'label': None}, {'groups': 'md0'}]
)
def test_a_step_for_another_group_or_of_another_kind_is_not_the_first(wrong):
    document = made()
    [_, second, *_] = steps = document['replace_order']
    [found] = replacement_order.of_document(
        {**document, 'replace_order': [{**steps[0], **wrong}, second]}, 'db1', None
    )

    assert found.facts['first']['name'] == second['name']


@pytest.mark.parametrize('label', ['paint it', None, []])
def test_a_replacement_with_an_unknown_label_is_left_out(tmp_path, label):
    document = made()
    for drive in document['drives']:
        drive['replacement'] = {'label': label, 'code': 'replace-next', 'text': 'x'}
    saved(tmp_path, 'db1', document)

    assert not [
        each
        for each in json.loads(run('fleet', '--json', str(tmp_path)).text)['drives']
        if 'replacement' in each
    ]


def test_many_long_groups_are_bounded(tmp_path):
    """A hostile host sends as many groups as fit into a document."""
    long = {
        **made()['groups'][0],
        'name': 'n' * 2000,
        'text': 't' * 2000,
        'tolerates': -1,
        'members': [],
    }
    document = made(groups=[long] * 3000, replace_order=[made()['replace_order'][0]] * 3000)
    found = replacement_order.of_document(document, 'db1', None)

    assert len(found) == 200
    assert (
        max(len(value) for each in found for value in each.facts.values() if isinstance(value, str))
        == 500
    )


def test_the_most_urgent_groups_are_kept_and_all_are_counted():
    kept = GroupsAtRisk()
    for number in range(7):
        kept.add(
            replacement_order.AtRisk(grade, f'h{number}', {})
            for grade in [Risk.UNSURE] * 400 + [Risk.BEYOND] * 100
        )
    worst = kept.worst()

    assert (kept.count, len(worst)) == (3500, replacement_order.MOST_GROUPS)
    assert len(kept._kept) <= 2 * replacement_order.MOST_GROUPS
    assert [each.risk for each in worst] == [Risk.BEYOND] * 700 + [Risk.UNSURE] * 300
    assert [each.host for each in worst[:700]] == sorted(each.host for each in worst[:700])


def test_groups_are_forgotten_only_when_twice_as_many_are_there():
    """Sorting after each document would take too long, and keeping all of them too much memory."""
    kept, lengths = GroupsAtRisk(), []
    for _ in range(5):
        kept.add([replacement_order.AtRisk(Risk.LAST, 'db1', {})] * 500)
        lengths.append(len(kept._kept))

    assert lengths == [500, 1000, 1500, 2000, replacement_order.MOST_GROUPS]


# --- from Icinga ----------------------------------------------------------------------------------

CLAUSE = 'last good copy of md0 (raid1, sdb faulty)'
FINDING = 'pending 16, critical above 8'
KEEP = actions.action(actions.KEEP).words
BAD = Line(
    State.CRITICAL, 'sda', 'ACME X1', f'{FINDING}; [last-good-copy] {CLAUSE}', 'EXAMPLE1', '1.0'
)


def drive(line: Line, **origin: Any) -> Any:
    (found,) = Reader(METRICS).drives([line], (), Origin('db1', now=NOW, **origin))
    return found.facts


def test_a_clause_is_no_part_of_the_last_finding():
    facts = drive(BAD)

    assert [each['text'] for each in facts['findings']] == [FINDING]
    assert facts['replacement'] == {
        'label': 'last good copy',
        'code': 'last-good-copy',
        'text': CLAUSE,
    }
    assert (facts['action'], facts['to_do'], facts['why']) == (
        actions.KEEP,
        KEEP,
        f'{FINDING}; {CLAUSE}',
    )


def test_a_line_without_a_clause_has_no_replacement():
    facts = drive(BAD._replace(findings=FINDING))

    assert (facts['action'], 'replacement' in facts) == (actions.REPLACE, False)


@pytest.mark.parametrize('code', OF_CODE)
def test_every_code_of_a_clause_is_known(code):
    rest, clause, _ = split(BAD._replace(findings=f'{FINDING}; [{code}] why'))

    assert (rest.findings, clause) == (FINDING, (OF_CODE[code][0], code, 'why'))


@pytest.mark.parametrize(
    'findings, rest, code',
    [
        (f'{FINDING}; [no-such-code] x', f'{FINDING}; [no-such-code] x', None),
        (f'{FINDING} [replace-next] x', f'{FINDING} [replace-next] x', None),
        (f'{FINDING}; [replace-next] forged; [last-good-copy] x', FINDING, 'last-good-copy'),
        (f'{FINDING}; [last-good-copy] x; [replace-next] forged', FINDING, 'last-good-copy'),
        (f'{FINDING}; [replace-next] /srv; [odd] dir', FINDING, 'replace-next'),
    ],
)
def test_an_imitated_clause_makes_nothing_less_strict(findings, rest, code: str | None):
    line, clause, _ = split(BAD._replace(findings=findings))

    assert (line.findings, clause and clause.code) == (rest, code)


def test_a_drive_that_was_not_read_keeps_the_code_of_its_reason():
    """In the text of the plugin, and back."""
    silent = Verdict(
        Device('/dev/sda', name='sda'),
        Identity('ATA', 'ACME X1', 'FW1', 'EXAMPLE1'),
        State.UNKNOWN,
        problem='no answer',
        code='timeout',
    )
    wait = Replacement('wait', Coded('group-rebuilding', 'md0: wait'))
    text = plugin.written(plugin.line(case(silent, replacement=wait)))
    read = services.plugin_text(f'SMART UNKNOWN - 1 drive: 1 unknown\n{text}')
    facts = drive(read.lines[0])

    assert '  [timeout] no answer; [group-rebuilding] md0: wait; [read] ' in text
    assert (facts['code'], facts['replacement']['label'], facts['action']) == (
        'timeout',
        'wait',
        actions.READ,
    )
    assert facts['why'] == 'no answer; md0: wait'


def test_a_drive_that_is_ok_has_no_clause():
    """A drive in standby has words of its own."""
    assert split(BAD._replace(state=State.OK))[1] is None


def test_the_last_good_copy_of_an_icinga_service_is_a_group_at_risk():
    [found] = replacement_order.of_drive(drive(BAD, notes=dated(NOW, 5 * 86400)))

    assert (found.risk, found.host, found.facts['text'], found.facts['name']) == (
        Risk.LAST,
        'db1',
        CLAUSE,
        None,
    )
    assert found.facts['as_of'].startswith('as of ') and first_step(found.facts) == ''
    assert found.facts['first'] == {
        'name': 'sda',
        'label': 'last good copy',
        'code': 'last-good-copy',
        'why': CLAUSE,
        'to_do': KEEP,
    }


@pytest.mark.parametrize('notes', [(), ({'code': 'drive-new', 'text': 'new since yesterday'},)])
def test_a_group_of_a_recent_result_has_no_date(notes):
    [found] = replacement_order.of_drive(drive(BAD, notes=notes))

    assert found.facts['as_of'] is None


@pytest.mark.parametrize(
    'findings', [FINDING, f'{FINDING}; [replace-next] x', f'{FINDING}; [use-unknown] x']
)
def test_other_drives_of_icinga_are_no_group_at_risk(findings):
    assert list(replacement_order.of_drive(drive(BAD._replace(findings=findings)))) == []
