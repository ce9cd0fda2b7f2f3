"""Documents that commands print fit the schemas in smart_attributes/schema/, which is what
readers of them rely on.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, drive_path, run
from days import DAY, HOUR, START, Machine, asleep, disk
from test_fleet_groups import made as of_a_machine

from smart_attributes import main
from smart_attributes.constants import DOCUMENTS
from smart_attributes.work import actions

FOLDER = ROOT / 'smart_attributes' / 'schema'
SCHEMAS: dict[str, Any] = {
    name: json.loads((FOLDER / f'{name}.schema.json').read_text()) for name in DOCUMENTS
}
VALIDATORS = {
    name: jsonschema.Draft7Validator(schema) for name, schema in SCHEMAS.items()
}
REPORTS = str(ROOT / 'tests' / 'reports')
# Properties that the documents below do not have, and why.
RARE = {
    'triage drive.bay': 'needs an enclosure; test_places.py reads one',
    'triage drive.drive_id': 'needs a controller; test_triage.py has one',
    'triage drive.locate': 'needs an enclosure, too',
    'triage replacement.first': 'needs a group that was read in part; test_redundancy.py has some',
    'triage replacement.unchecked': 'needs such a group, too',
}
# answers a question, which is not in the document
YES = 'import io; sys.stdin, sys.stderr = io.StringIO("y"), open("/dev/null", "w")'


def errors(document: Any, name: str = 'triage') -> list[str]:
    return [
        f'{list(error.absolute_path)}: {error.message}'[:300]
        for error in VALIDATORS[name].iter_errors(document)
    ]


def document(*words: str) -> dict[str, Any]:
    """Return the document that triage prints."""
    found: dict[str, Any] = json.loads(run('triage', '--json', *words).text)
    return found


@pytest.fixture(scope='module')
def recorded() -> dict[str, Any]:
    """The document of all recorded drives."""
    return document('-t', '120', '--report', REPORTS, '--selftest-max-age', '35d')


# --- all documents ------------------------------------------------------------------------------


def read(text: str) -> Any:
    return json.loads(text)


def machine_at_work(folder: Path) -> Machine:
    """Return a machine after 59 days: a counter increased, one was set back, drives came and
    went.
    """
    machine = Machine(folder)
    for day, counted, hours in ((0, 0, 20_000), (10, 5, 20_240), (50, 9, 21_200)):
        machine.holds(
            sda=disk(a199=counted),
            sdb=disk('SERIAL02'),
            sdc=disk('SERIAL03', a9=hours),
            sdf=disk('SERIAL06', a5=2000),
        )
        machine.check(START + day * DAY, '--scan')
    machine.holds(
        sda=disk(a199=14),
        sdb=disk('SERIAL04'),
        sdc=disk('SERIAL03', a9=5),
        sdd=disk('SERIAL05'),
        sdf=unreadable(),
    )
    return machine


@pytest.fixture(scope='module')
def printed(tmp_path_factory, recorded) -> dict[str, list[Any]]:
    """What each command prints for recorded drives, for a machine at work, and where it fails."""
    folder = tmp_path_factory.mktemp('schemas')
    machine, now = machine_at_work(folder), START + 59 * DAY

    def at(*words: str) -> Any:
        return read(machine.run(now, *words, '--json').text)

    def confirmed(*words: str) -> Any:
        machine.setup = YES
        document = at(*words)
        machine.setup = ''
        return document

    gone = at('triage', '--scan', '--missing', 'critical')
    found: dict[str, list[Any]] = {
        'triage': [recorded, gone, at('triage', '--scan'), of_a_machine()],
        'list': [
            at('list', '--scan'),
            read(run('list', '--json', '--report', '/nonexistent').text),
        ],
        'history': [at('history', '--scan')],
        'metrics': [at('metrics', '--scan')],
        'messages': [confirmed('history', '--remove', 'SERIAL06')],
        'fleet': list(of_the_fleet(folder / 'hosts', recorded, gone)),
        'doctor': [at('doctor', '-d', '/dev/sda')],
    }
    machine.check(now, '--scan')
    machine.holds(sda=disk())
    now += HOUR
    found['triage'].append(at('triage', '--scan'))
    machine.holds()
    found['list'].append(at('list', '--scan'))
    found['history'].append(at('history', '--scan'))
    for name, documents in found.items():
        command = 'explain' if name == 'messages' else name
        documents.append(read(run(command, '--json', '--no-such-option').text))
    return found


def of_the_fleet(folder: Path, *documents: Any) -> Iterator[Any]:
    """Yield documents of fleet: twins, firmware with a known defect, a group at risk, a damaged
    file.
    """
    folder.mkdir()
    for number, each in enumerate(
        (
            *documents,
            documents[0],
            of_a_machine(),
            {
                'version': 2,
                'state': 'CRITICAL',
                'drives': [
                    {
                        'name': 'sda',
                        'model': 'Corsair Force LS SSD',
                        'firmware': 'S9FM01.8',
                        'serial': 'EXAMPLE0001',
                        'state': 'OK',
                        'code': None,
                    }
                ],
            },
        )
    ):
        (folder / f'host{number}.json').write_text(
            json.dumps({**each, 'host': f'host{number}'})
        )
    yield read(run('fleet', '--json', str(folder / 'host0.json')).text)
    (folder / 'damaged.json').write_text('{"version": 2, "drives": [')
    yield read(run('fleet', '--json', str(folder)).text)
    yield read(run('fleet', '--json', str(folder / 'nowhere')).text)


@pytest.mark.parametrize('name', DOCUMENTS)
def test_each_schema_is_valid_strict_and_of_the_version_that_is_printed(name):
    jsonschema.Draft7Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]['title'] and SCHEMAS[name]['description']
    assert SCHEMAS[name]['properties']['version']['const'] == DOCUMENTS[name]
    parts = [part for _, part in parts_of(SCHEMAS[name])]
    assert [
        part
        for part in parts
        if part.get('additionalProperties') is not False or not part.get('required')
    ] == []


@pytest.mark.parametrize(
    'argv, name',
    [
        (['history', '--json'], 'history'),
        (['explain', '--json'], 'messages'),
        (['--json'], 'messages'),
    ],
)
def test_a_failure_has_the_version_of_the_document_that_it_replaces(
    argv, name, monkeypatch
):
    monkeypatch.setitem(DOCUMENTS, name, 7)

    assert read(main.failure(argv, 'it failed'))['version'] == 7


def test_the_launchers_print_these_versions():
    """They can import nothing, since the program is damaged."""
    text = (ROOT / 'check_smart_attributes').read_text()

    assert {*map(int, re.findall(r"'version': (\d+)", text))} == {*DOCUMENTS.values()}


def test_the_documentation_names_each_schema():
    text = (ROOT / 'doc' / 'reference' / 'output.md').read_text()

    assert [
        name for name in DOCUMENTS if f'schema/{name}.schema.json)' not in text
    ] == []


@pytest.mark.parametrize('name', DOCUMENTS)
def test_what_a_command_prints_fits_its_schema(printed, name):
    assert [errors(each, name) for each in printed[name]] == [[]] * len(printed[name])
    assert [each['version'] for each in printed[name]] == [DOCUMENTS[name]] * len(
        printed[name]
    )


@pytest.mark.parametrize('name', DOCUMENTS)
def test_each_property_of_a_schema_is_printed_somewhere(printed, name):
    known = {
        f'{path}.{key}'
        for path, part in parts_of(SCHEMAS[name])
        for key in part['properties']
    }
    seen = {
        each
        for document in printed[name]
        for each in keys_in(SCHEMAS[name], SCHEMAS[name], document, '')
    }

    assert sorted(known - seen) == sorted(
        key.partition(' ')[2] for key in RARE if key.startswith(f'{name} ')
    )


def parts_of(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield the objects of a schema, each with the path of its definition."""

    def within(part: Any, path: str) -> Iterator[tuple[str, Any]]:
        if 'properties' in part:
            yield path, part
        for key, each in part.get('properties', {}).items():
            yield from within(each, f'{path}.{key}')
        for key in ('items', 'additionalProperties'):
            if isinstance(part.get(key), dict):
                yield from within(part[key], path)

    yield from within(schema, '')
    for name, part in schema.get('definitions', {}).items():
        yield from within(part, name)


def keys_in(schema: Any, part: Any, value: Any, path: str) -> Iterator[str]:
    """Yield the properties in a value, named like those of parts_of()."""
    if '$ref' in part:
        path = part['$ref'].rpartition('/')[2]
        part = schema['definitions'][path]
    if isinstance(value, dict):
        for key, each in value.items():
            if key in part.get('properties', {}):
                yield f'{path}.{key}'
                yield from keys_in(
                    schema, part['properties'][key], each, f'{path}.{key}'
                )
            elif isinstance(part.get('additionalProperties'), dict):
                yield from keys_in(schema, part['additionalProperties'], each, path)
    elif isinstance(value, list) and isinstance(part.get('items'), dict):
        for each in value:
            yield from keys_in(schema, part['items'], each, path)


# --- triage -------------------------------------------------------------------------------------


def test_the_schema_names_every_action_about_a_drive():
    """`repair the check` is about a check: only `fleet` has it."""
    codes = SCHEMAS['triage']['definitions']['drive']['properties']['action']['enum']

    assert sorted(codes) == sorted(set(actions.CODES) - {actions.REPAIR})


def unreadable() -> dict[str, Any]:
    """What smartctl prints for a drive that cannot be opened."""
    printed = asleep()
    printed['smartctl']['messages'] = [
        {
            'string': 'Smartctl open device: /dev/sdc [SAT] failed: Input/output error',
            'severity': 'error',
        }
    ]
    return printed


@pytest.mark.parametrize(
    'words',
    [
        pytest.param(['--report', '/nonexistent'], id='no-report'),
        pytest.param(
            [
                '--config',
                '/nonexistent',
                '--thresholds',
                '/nonexistent',
                '--report',
                drive_path('micron-5200-healthy'),
            ],
            id='no-limits',
        ),
        pytest.param(
            ['--hide-serial', '--report', drive_path('hgst-failed')], id='hidden-serial'
        ),
    ],
)
def test_a_document_of_a_failure_or_without_serial_numbers_fits(words):
    assert errors(document(*words)) == []


def without(*path: Any) -> Callable[[Any], None]:
    def change(found: Any) -> None:
        for step in path[:-1]:
            found = found[step]
        del found[path[-1]]

    return change


def with_value(value: Any, *path: Any) -> Callable[[Any], None]:
    def change(found: Any) -> None:
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = value

    return change


@pytest.mark.parametrize(
    'change',
    [
        without('state'),
        without('drives', 0, 'action'),
        without('drives', 0, 'findings', 0, 'limit'),
        without('drives', 0, 'readings', 0, 'judged'),
        with_value(1, 'version'),
        with_value('FINE', 'drives', 0, 'state'),
        with_value('8', 'drives', 0, 'findings', 0, 'grown'),
        with_value('next spring', 'drives', 0, 'order_by'),
        with_value('Not A Code', 'drives', 0, 'findings', 0, 'code'),
        with_value('some', 'groups', 0, 'tolerates'),
        with_value('now', 'replace_order', 0, 'label'),
    ],
)
def test_a_document_with_a_wrong_or_missing_value_does_not_fit(recorded, change):
    groups = of_a_machine()
    broken = copy.deepcopy({**groups, 'drives': recorded['drives'][:1]})
    assert errors(broken) == []
    change(broken)

    assert errors(broken)
