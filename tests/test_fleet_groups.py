"""What the groups on a drive mean for a fleet: from documents, and from the lines that Icinga has."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from cases import case, of_uses, on
from conftest import ROOT, run

from smart_attributes.errors import Coded
from smart_attributes.fleet import services
from smart_attributes.fleet.plugin_output import Origin, Reader, split
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
from smart_attributes.redundancy.replacement import OF_CODE
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

    assert '  [timeout] no answer; [group-rebuilding] md0: wait; [investigate] ' in text
    assert (facts['code'], facts['replacement']['label'], facts['action']) == (
        'timeout',
        'wait',
        actions.READ,
    )
    assert facts['why'] == 'no answer; md0: wait'


def test_a_drive_that_is_ok_has_no_clause():
    """A drive in standby has words of its own."""
    assert split(BAD._replace(state=State.OK))[1] is None
