"""One answer: for each drive every output has the same action, date and reason, on random
machines and real reports.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from block_tree import Machine
from cases import case, on
from conftest import ROOT, run
from test_severity import METRICS, drive, found

from smart_attributes.fleet import plugin_output
from smart_attributes.fleet.drives import Origin
from smart_attributes.fleet.triage_documents import Document, drives
from smart_attributes.knowledge import severity
from smart_attributes.model import (
    Case,
    Device,
    Forecast,
    Identity,
    Outlook,
    Risk,
    State,
    Verdict,
)
from smart_attributes.output import (
    explain,
    json_document,
    metrics,
    metrics_document,
    page,
    plugin,
    triage_table,
)
from smart_attributes.redundancy import dependence, replacement
from smart_attributes.work import actions, work_list

NOW, DAY = 1_795_348_800, 86_400
C, W, OK = State.CRITICAL, State.WARNING, State.OK
NAMES = tuple(f'sd{letter}' for letter in 'abcdefgh')
FINDINGS = (
    (found('smart_status', 0, C),),
    (found('pending', 800, C, '8'),),
    (found('pending', 3, W, '0'),),
    (found('reallocated', 30, W, '10'), found('crc_errors', 226, W, '', grown=14)),
    (found('crc_errors', 9, W, '1'),),
    (found('endurance_used', 86, W, '85'),),
    (found('endurance_used', 155, C, '95'),),
    (found('temperature', 90, C, '70'),),
    (found('spare_available', 12, W, '16:'), found('unknown_model', 0, W)),
    (found('reported_uncorrect', 2, W, '0'), found('crc_errors', 40, W, '1')),
    (found('media_errors', 7, W, '0'), found('firmware_advisory', 0, W)),
    (found('temperature', 90, C, '70'), found('endurance_used', 86, W, '85')),
    (
        found('pending', 3, W, '0'),
        found('temperature', 61, W, '60'),
        found('e2e_error', 1, C),
    ),
    (found('write_protect', 0, C),),
    (found('firmware_advisory', 0, W),),
    (found('endurance_used', 3, OK),),
    (found('endurance_used', 9, OK),),
    (),
    (),
)
LEVELS = ('raid1', 'raid5', 'raid6', 'raid0', 'raid10')
STATES = ('in_sync', 'in_sync', 'in_sync', 'in_sync', 'faulty none', 'spare none')


def verdict(chance: random.Random, name: str) -> tuple[Verdict, Outlook]:
    if chance.random() < 0.1:
        made = drive(name, problem='cannot be opened')._replace(code='no-permission')
    else:
        made = drive(name, *severity.in_order(chance.choice(FINDINGS)))
    days = chance.choice((0, 20, 91, 200, 900, 4000))
    wear = {
        'endurance_used': Forecast(days * DAY, days * DAY / 3, days * DAY * 3, False)
    }
    metric = chance.choice(('pending', 'reported_uncorrect'))
    risk = Risk(metric, 'ACME disks', chance.random(), chance.random(), 0, 1, 100, 9)
    outlook = Outlook(wear if chance.random() < 0.5 and not made.problem else {})
    return made._replace(
        identity=Identity('ATA', 'ACME X1', 'FW1', f'EXAMPLE{name}', rotation=0),
        risk=risk if made.state is W and chance.random() < 0.5 else None,
    ), outlook


class Surveyed(NamedTuple):
    """Some drives of a random machine, of which others may hold members of its arrays."""

    cases: list[Case]
    machine: replacement.Machine | None


def surveyed(chance: random.Random, folder: Path) -> Surveyed:
    """Return some drives of a random machine."""
    shutil.rmtree(folder, ignore_errors=True)
    machine, names = Machine(folder), list(NAMES[: chance.randint(1, 8)])
    machine.disks(*names)
    for number in range(chance.randint(0, 3)):
        members = chance.sample(names, chance.randint(1, len(names)))
        free = [f'{name}{number + 2}' for name in members]
        for name, part in zip(members, free):
            machine._device(part, machine.folder(name) / part)
            machine.files(machine.folder(part), {'partition': number + 2})
        machine.md(
            f'md{number}',
            chance.choice(LEVELS),
            {part: chance.choice(STATES) for part in free},
            layout=chance.choice(('0', '258')),
            sync_action=chance.choice(('idle', 'idle', 'recover')),
        )
        machine.mounted(f'/dev/md{number}', f'/srv{number}')
    read = [verdict(chance, name) for name in names if chance.random() < 0.9]
    if chance.random() < 0.3:
        behind, outlook = verdict(chance, 'bus_0_megaraid_6')
        device = Device('/dev/bus/0', 'megaraid,6', 'bus_0_megaraid_6')
        read.append((behind._replace(device=device), outlook))
    outlooks = {drive.device: outlook for drive, outlook in read}
    seen = dependence.examined(
        [on(drive) for drive, _ in read],
        lambda placed: work_list.drives(placed, NOW, outlooks),
        read=machine.read,
    )
    cases = [
        case(**use._asdict(), **outlooks[use.verdict.device]._asdict(), now=NOW)
        for use in seen.uses
    ]
    return Surveyed(cases, seen.machine)


class Told(NamedTuple):
    """What an output says is to be done with a drive."""

    action: str
    to_do: str
    order_by: str | None
    also: list[tuple[str, ...]]  # further actions as codes and words

    @classmethod
    def by(cls, facts: Any) -> Told:
        """Return what a drive of a document says."""
        return cls(facts['action'], facts['to_do'], facts['order_by'], further(facts))


def further(facts: Any) -> list[tuple[str, ...]]:
    return [tuple(action.values()) for action in facts.get('also', ())]


def undated(told: dict[str, Told]) -> dict[str, Told]:
    """Return the same without dates, for outputs that have them in their words."""
    return {name: each._replace(order_by=None) for name, each in told.items()}


def in_check(cases: Sequence[Case]) -> dict[str, Told]:
    """Return what a fleet reads in the output of a check, of drives that were read."""
    text = plugin.render(cases, METRICS, plugin.Face(), plugin.Whole()).text
    lines = plugin_output.plugin_text(text.partition('\n|')[0].partition('| ')[0]).lines
    found = plugin_output.drives(lines, (), NOW, Origin('db1'), METRICS)
    return undated({each.facts['name']: Told.by(each.facts) for each in found})


def in_metrics(cases: Sequence[Case]) -> dict[str, Told]:
    """Return what the metrics say."""
    families = {
        family.name: [labels for labels, _ in family.samples]
        for family in metrics.metrics(cases, METRICS, OK, NOW)
    }
    also = families.get('smart_drive_further_action', [])
    return {
        name: Told(
            action, to_do, None, [labels[1:] for labels in also if labels[0] == name]
        )
        for name, action, to_do in families['smart_drive_action']
    }


def in_zabbix(cases: Sequence[Case]) -> dict[str, Told]:
    """Return what the document for Zabbix says."""
    text = metrics_document.as_text(
        cases,
        plugin.Outcome('', OK),
        of_itself=OK,
        problems=(),
        remarks=(),
        host='db1',
        now=NOW,
    )
    found = json.loads(text)['drives']
    return {
        each['name']: Told(each['action'], each['to_do'], None, further(each))
        for each in found
    }


def disagreements(survey: Surveyed) -> list[str]:
    """Return the outputs that say something else than the work list."""
    cases, items = survey.cases, work_list.in_order(survey.cases, survey.machine)
    verdicts = [drive.verdict for drive in cases]
    mine = {item.drive: item for item in items}
    wanted = {
        item.drive: Told(
            item.action, item.to_do, item.order_by, [*map(tuple, item.also)]
        )
        for item in items
    }
    read = {verdict.device.name: wanted[verdict.device.name] for verdict in verdicts}
    groups = replacement.document(survey.machine, verdicts) if survey.machine else {}
    whole = {
        **json_document.document(cases, (), NOW),
        **groups,
        'work': json_document.work_list(items),
        'made': NOW,
    }
    document = json.loads(json.dumps(whole))
    todo = [item for item in items if item.action != actions.NOTHING]
    wrong: list[str] = []

    def same(output: str, told: Any, expected: Any) -> None:
        if told != expected:
            wrong.append(f'{output}: {told} != {expected}')

    same('json', {each['name']: Told.by(each) for each in document['drives']}, read)
    same(
        'json reasons',
        {each['name']: each['reason'] or '' for each in document['drives']},
        {name: mine[name].reason for name in read},
    )
    same(
        'work',
        [
            (each['name'], Told.by(each), each['reason'] or '')
            for each in document['work']
        ],
        [(item.drive, wanted[item.drive], item.reason) for item in todo],
    )
    same(
        'page',
        [(each['name'], each['action']) for each in page._listed(document)][
            : len(todo)
        ],
        [(item.drive, item.action) for item in todo],
    )
    same('metrics', in_metrics(cases), undated(read))
    same('metrics --json', in_zabbix(cases), undated(read))
    alerting = {
        verdict.device.name
        for verdict in verdicts
        if verdict.state is not OK and not verdict.problem
    }
    in_lines = in_check(cases)
    for name in alerting:
        same('check', in_lines[name], undated(read)[name])
    for each in drives(Document('db1', document, NOW), METRICS, NOW):
        told = read.get(each.facts['name'])
        # of a drive that was not read, a fleet says the next step for the cause on its host
        if told and told.action not in ('investigate', 'search'):
            same('fleet', Told.by(each.facts), told)
    lines = '\n'.join(triage_table.work_list(items, '')).replace('\n      ', ' ')
    for shown in cases:
        item = mine[shown.verdict.device.name]
        also = [action.to_do for action in item.also]
        head = explain.head(shown)
        same('explain', head[1].startswith(f'What to do: {item.to_do}.'), True)
        same('explain also', f'Also: {"; ".join(also)}.' in head, bool(also))
        rest = ''.join(f'.*; also {re.escape(words)}' for words in also)
        row = re.compile(
            rf'^  (?:.*, )?{item.drive}(?: \(.*\))?(?:, .*?)?(?:: | .*; ){re.escape(item.to_do)}.*{rest}',
            re.MULTILINE,
        )
        same('triage', item in todo and row.search(lines) is None, False)
    same('reasons', [item.reason for item in items if '...' in item.reason], [])
    return wrong


@pytest.mark.parametrize(
    'count, seed',
    [
        (30, 1),
        *(pytest.param(200, seed, marks=pytest.mark.long) for seed in range(2, 7)),
    ],
)
def test_random_machines_have_one_answer_in_all_outputs(
    tmp_path, monkeypatch, count, seed
):
    monkeypatch.setenv('COLUMNS', '500')
    chance = random.Random(seed)
    seen = set()
    for _ in range(count):
        survey = surveyed(chance, tmp_path / 'machine')
        assert disagreements(survey) == []
        seen |= {
            each.action for each in work_list.in_order(survey.cases, survey.machine)
        }

    assert len(seen) >= 10, sorted(seen)


def test_recorded_reports_have_one_answer_in_check_triage_explain_and_metrics(tmp_path):
    """By the real entry points: the forecasts of a check are those of the others."""
    reports = str(ROOT / 'tests/reports')
    document = json.loads(run('triage', '--json', '--report', reports).text)
    told = {
        each['name']: (each['action'], each['to_do']) for each in document['drives']
    }
    alerting = {each['name'] for each in document['drives'] if each['state'] != 'OK'}
    check = dict(
        re.findall(
            r'^(?:CRITICAL|WARNING)\s+(\S+)  .*; (\[\S+\] .*?)  ',
            run('--report', reports).text,
            re.MULTILINE,
        )
    )
    zabbix = json.loads(run('metrics', '--json', '--report', reports).text)
    explained = re.findall(
        r'^What to do: (.*?)\. (?:Reason|Status): ',
        run('explain', '--report', reports).text,
        re.MULTILINE,
    )
    table = run('triage', '--report', reports).text

    assert check == {
        name: f'[{action}] {to_do}'
        for name, (action, to_do) in told.items()
        if name in alerting
    }
    assert {
        each['name']: (each['action'], each['to_do']) for each in zabbix['drives']
    } == told
    assert sorted(explained) == sorted(to_do for _, to_do in told.values())
    work = [
        f'  {each["name"]}: {each["to_do"]}: {each["reason"]}'
        for each in document['work']
    ]
    assert work == re.findall('^  .*$', table.partition('to do:\n')[2], re.MULTILINE)
