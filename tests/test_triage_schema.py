"""Documents of `triage --json` fit doc/reference/triage.schema.json, which is what readers of them rely on."""
from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Callable

import jsonschema
import pytest
from conftest import ROOT, drive_path, run
from days import DAY, HOUR, START, Machine, asleep, disk
from test_fleet_groups import made as of_a_machine

from smart_attributes.output import advice

SCHEMA: dict[str, Any] = json.loads((ROOT / 'doc' / 'reference' / 'triage.schema.json').read_text())


def complete(part: Any) -> Any:
    """Return a schema in which keys without a description are errors: our own documents have none."""
    if isinstance(part, list):
        return [complete(each) for each in part]
    if not isinstance(part, dict):
        return part
    closed = {'additionalProperties': False} if isinstance(part.get('properties'), dict) and 'type' in part else {}
    return {**{name: complete(value) for name, value in part.items()}, **closed}


VALIDATOR = jsonschema.Draft7Validator(complete(SCHEMA))


def errors(document: Any) -> list[str]:
    return [f'{list(error.absolute_path)}: {error.message}'[:300] for error in VALIDATOR.iter_errors(document)]


def document(*words: str) -> dict[str, Any]:
    """Return the document that triage prints."""
    found: dict[str, Any] = json.loads(run('triage', '--json', *words).text)
    return found


@pytest.fixture(scope='module')
def recorded() -> dict[str, Any]:
    """The document of all recorded drives."""
    return document('-t', '120', '--report', str(ROOT / 'tests' / 'reports'), '--selftest-max-age', '35d')


def test_the_schema_is_valid():
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_the_schema_names_every_action_about_a_drive():
    """`repair the check` is about a check: only `fleet` has it."""
    actions = SCHEMA['definitions']['drive']['properties']['action']['enum']

    assert sorted(actions) == sorted(set(advice.ORDER_OF_ACTIONS) - {advice.REPAIR})


def test_the_document_of_recorded_drives_fits(recorded):
    assert {drive['state'] for drive in recorded['drives']} == {'OK', 'WARNING', 'CRITICAL'}
    assert errors(recorded) == []


def test_a_document_with_history_changes_and_forecasts_fits(tmp_path: Path):
    """A counter that increased, a drive that was replaced, one that is missing, one that came."""
    machine = Machine(tmp_path)
    for day, counted in ((0, 0), (10, 5), (50, 9)):
        machine.holds(sda=disk(a199=counted), sdb=disk('SERIAL02'), sdc=disk('SERIAL03'))
        machine.check(START + day * DAY, '--scan')
    machine.holds(sda=disk(a199=14), sdb=disk('SERIAL04'), sdd=disk('SERIAL05'))

    found = json.loads(machine.run(START + 59 * DAY, 'triage', '--scan', '--since', '30d', '--expect-known',
                                   '--json').text)

    assert {'host', 'made', 'lately', 'notes'} <= set(found)
    assert found['lately']['grew'] and found['lately']['came'] and found['lately']['went']
    assert any(drive.get('past') for drive in found['drives'])
    assert {finding['code'] for drive in found['drives'] for finding in drive['findings']} == {'growth'}
    assert errors(found) == []


def unreadable() -> dict[str, Any]:
    """What smartctl prints for a drive that cannot be opened."""
    printed = asleep()
    printed['smartctl']['messages'] = [{'string': 'Smartctl open device: /dev/sdc [SAT] failed: Input/output error',
                                        'severity': 'error'}]
    return printed


def test_the_document_of_a_machine_with_a_missing_and_an_unreadable_drive_fits(tmp_path: Path):
    """The missing one is a note with a state, address, model and serial number."""
    machine = Machine(tmp_path)
    machine.holds(sda=disk(), sdb=disk('SERIAL02'), sdc=disk('SERIAL03'))
    machine.check(START, '--scan')
    machine.holds(sda=disk(), sdc=unreadable())

    found = json.loads(machine.run(START + HOUR, 'triage', '--scan', '--json').text)

    assert [(each['code'], each['state'], each['serial']) for each in found['notes']] == [
        ('drive-gone', 'WARNING', 'SERIAL02')]
    assert [(drive['state'], drive['last_seen']['serial']) for drive in found['drives'][:1]] == [
        ('UNKNOWN', 'SERIAL03')]
    assert errors(found) == []


@pytest.mark.parametrize('words', [
    pytest.param(['--no-such-option'], id='usage-error'),
    pytest.param(['--report', '/nonexistent'], id='no-report'),
    pytest.param(['--config', '/nonexistent', '--thresholds', '/nonexistent', '--report',
                  drive_path('micron-5200-healthy')], id='no-limits'),
    pytest.param(['--hide-serial', '--report', drive_path('hgst-failed')], id='hidden-serial')])
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


@pytest.mark.parametrize('change', [
    without('state'), without('drives', 0, 'action'), without('drives', 0, 'findings', 0, 'limit'),
    without('drives', 0, 'readings', 0, 'judged'), with_value(1, 'version'), with_value('FINE', 'drives', 0, 'state'),
    with_value('8', 'drives', 0, 'findings', 0, 'grown'), with_value('next spring', 'drives', 0, 'order_by'),
    with_value('Not A Code', 'drives', 0, 'findings', 0, 'code'), with_value('x', 'drives', 0, 'no_such_key')])
def test_a_document_with_a_wrong_or_missing_value_does_not_fit(recorded, change):
    broken = copy.deepcopy({**recorded, 'drives': recorded['drives'][:1]})
    assert errors(broken) == []
    change(broken)

    assert errors(broken)


def test_a_key_of_a_later_program_fits():
    """Within a version keys are added; a reader that validates goes on reading."""
    assert not list(jsonschema.Draft7Validator(SCHEMA).iter_errors(
        {'version': 2, 'state': 'OK', 'drives': [], 'added_later': 1}))


def test_groups_and_the_order_of_replacement_fit():
    """An array with a faulty member, a group of unknown level and an empty slot; and nothing that is not described."""
    found = of_a_machine()

    assert {'groups', 'replace_order'} <= set(found)
    assert all(drive['depends'] for drive in found['drives'])
    assert any('replacement' in drive for drive in found['drives'])
    assert errors(found) == []


@pytest.mark.parametrize('change', [
    with_value('some', 'groups', 0, 'tolerates'), without('groups', 0, 'members'),
    with_value('fine', 'groups', 0, 'members', 0, 'state'),
    with_value('x', 'groups', 0, 'members', 0, 'drives', 0, 'x'),
    with_value('now', 'replace_order', 0, 'label'), without('replace_order', 0, 'why'),
    with_value(7, 'drives', 0, 'depends', 0, 'level'), with_value('now', 'drives', 0, 'replacement', 'label'),
    with_value(['x'], 'drives', 0, 'carries')])
def test_groups_with_a_wrong_or_missing_value_do_not_fit(change):
    broken = of_a_machine()
    change(broken)

    assert errors(broken)
