"""What judging needs beside a report: the files of a site, their mistakes and contradictions."""
from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import STATE_HOME, drive

from smart_attributes.check import rulebook
from smart_attributes.command_line.options import DataFiles
from smart_attributes.commands import table
from smart_attributes.errors import UsageError
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import Device, Identity, Judgement, Reading, Source, State, Verdict
from smart_attributes.reading import json_report

SDA = Device('/dev/sda', name='sda')
REPORT = json_report.parse(drive('intel-s3500-healthy'))


def judge(*words: str) -> rulebook.Judge:
    options = table.understood(['--config', STATE_HOME, '--no-history', *words])[1]
    return rulebook.judge_of(options, rulebook.site_of(options.data, options.before))


def site_in(folder: Path, **files: object) -> DataFiles:
    """Return the data files of a site. files: by place, as in attributes_d; a list is not JSON."""
    for place, content in files.items():
        path = folder / (f'{place[:-2]}.d/own.json' if place.endswith('_d') else f'{place}.json')
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
    return DataFiles(config=str(folder))


ENTRY = {'entries': [{'family': 'Own', 'models': ['ACME X1']}]}


def test_files_of_a_site_are_found_in_their_order(tmp_path):
    data = site_in(tmp_path, attributes_d={}, thresholds_d={}, acknowledged={})._replace(
        attributes=('/a.json',), thresholds=('/t.json',))
    (tmp_path / 'thresholds.d/README').touch()
    mistakes: list[str] = []

    assert rulebook.files_of(data, mistakes) == (
        [(f'{tmp_path}/attributes.d/own.json', 'attributes.d/own.json'), ('/a.json', '')],
        [(f'{tmp_path}/acknowledged.json', ''), (f'{tmp_path}/thresholds.d/own.json', 'thresholds.d/own.json'),
         ('/t.json', '')])
    assert mistakes == []


def test_a_folder_of_a_site_that_cannot_be_read_is_a_mistake(tmp_path, monkeypatch):
    def denied(_: str) -> list[str]:
        raise PermissionError(13, 'Permission denied')
    monkeypatch.setattr(os, 'listdir', denied)
    mistakes: list[str] = []

    assert rulebook.files_of(DataFiles(config=str(tmp_path)), mistakes) == ([], [])
    assert mistakes == [f'{tmp_path}/{name}: Permission denied; make it readable for the monitoring user, or remove it'
                        for name in ('attributes.d', 'thresholds.d')]


def test_a_configuration_that_is_no_folder_is_a_mistake(tmp_path):
    (tmp_path / 'file').touch()

    assert rulebook.site_of(DataFiles(config=str(tmp_path / 'file')), None).mistakes == (
        f'{tmp_path}/file is not a directory that can be read, so the limits and entries of this site are not used; '
        'correct --config',)


def test_limits_of_version_1_6_come_last(tmp_path):
    class Before:
        def limits(self) -> list[str]:
            return [str(tmp_path / 'old.json')]
    data = site_in(tmp_path, thresholds_d={'comment': 'own'}, old={'comment': 'old'})

    assert [file.data['comment'] for file in rulebook.site_of(data, Before()).thresholds] == [
        'own', 'old']


def test_a_command_that_judges_nothing_knows_the_entries_of_the_site(tmp_path):
    own = rulebook.database_of(site_in(tmp_path, attributes_d=ENTRY))
    spec = own.identify(Identity('ATA', 'ACME X1'), ())

    assert (spec.family, own.dispute(Identity('ATA', 'ACME X1'), ())) == ('Own', '')
    assert rulebook.database_of(DataFiles(config=str(tmp_path / 'absent'))).identify(
        Identity('ATA', 'ACME X1'), ()).family != 'Own'


@pytest.mark.parametrize('report, told', [
    (REPORT, ['INTEL SSDSC2BB240G4: 25', 'sda, INTEL SSDSC2BB240G4, some entry']),
    (None, ['sda, INTEL SSDSC2BB240G4, some entry'])], ids=['read', 'silent'])
def test_contradictions_are_those_about_the_drive(monkeypatch, report, told):
    monkeypatch.setattr(SpecDatabase, 'dispute', lambda _, identity, numbers: f'{identity.model}: {len(numbers)}')
    monkeypatch.setattr(Thresholds, 'disagreements', lambda _, device, identity, entry: [
        f'{device.name}, {identity.model}, {entry}'])
    verdict = Verdict(SDA, REPORT.identity, State.OK, entry='some entry')

    assert judge().contradictions(verdict, report) == told


def test_an_acknowledgement_on_the_command_line_names_its_origin():
    [(name, data)] = rulebook._accepted(['S1:pending=3'])

    assert (name, data['overrides'][0]['why']) == ('--acknowledged', 'on the command line')


@pytest.mark.parametrize('words, why', [
    (('-w', 'temperature=60', '-c', 'temperature=50'), 'temperature: '), (('-w', 'spare_available=90'), 'spare_'),
    (('-c', 'spare_available=90'), 'spare_available: ')])
def test_limits_that_contradict_each_other_are_refused(words, why):
    with pytest.raises(UsageError, match=why):
        judge(*words)


def test_the_share_that_failed_is_that_of_the_findings():
    found = Judgement(Reading('pending', 40, '', Source('', 197, 'raw')), State.CRITICAL)

    assert rulebook.risk_of([found], State.CRITICAL, 'hdd', ()) is not None
    assert rulebook.risk_of([], State.CRITICAL, 'hdd', ()) is None
