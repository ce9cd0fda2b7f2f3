"""What the groups on a drive mean for a fleet, from documents."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from cases import of_uses, on
from conftest import run, texts

from smart_attributes.model import (
    Device,
    Group,
    Identity,
    Member,
    State,
    Verdict,
)
from smart_attributes.output import json_document
from smart_attributes.redundancy import replacement
from smart_attributes.work import work_list

NOW = time.time()
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
            Member(f'{disk}2', 'in_sync', slot, (disk,))
            for slot, disk in enumerate(('sda', 'sdc'))
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
    of_groups = {
        **replacement.document(found, verdicts),
        'work': json_document.work_list(items),
    }
    return json.loads(
        json.dumps({**document, **of_groups, 'made': round(NOW), **facts})
    )


def saved(folder: Path, document: Any) -> None:
    (folder / 'db1.json').write_text(json.dumps(document))


def test_what_depends_on_a_drive_and_its_replacement_come_through(tmp_path):
    document = made()
    saved(tmp_path, document)
    found = {
        each['name']: each
        for each in json.loads(run('fleet', '--json', str(tmp_path)).text)['drives']
    }

    for wanted in document['drives']:
        told = found[wanted['name']]
        assert [group['text'] for group in told['depends']] == texts(wanted['depends'])
        for key in ('label', 'code', 'text'):
            assert told.get('replacement', {}).get(key) == wanted.get(
                'replacement', {}
            ).get(key)
        assert (told['action'], told['why']) == (wanted['action'], wanted['why'])


@pytest.mark.parametrize('label', ['paint it', None, []])
def test_a_replacement_with_an_unknown_label_is_left_out(tmp_path, label):
    document = made()
    for drive in document['drives']:
        drive['replacement'] = {'label': label, 'code': 'replace-next', 'text': 'x'}
    saved(tmp_path, document)

    assert not [
        each
        for each in json.loads(run('fleet', '--json', str(tmp_path)).text)['drives']
        if 'replacement' in each
    ]
