"""Files of this site: a mistake in one of them never hides a dying drive."""

import json
import os
from pathlib import Path

import abilities
import pytest
from conftest import ROOT, drive_path, run
from test_survey import REPORT, SDA, judge

from smart_attributes.check import rulebook
from smart_attributes.command_line.options import DataFiles
from smart_attributes.errors import UsageError
from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.knowledge.thresholds import Thresholds
from smart_attributes.model import Identity, Judgement, Reading, Source, State, Verdict
from smart_attributes.v1_6.command_line import Before

HGST, WELL = drive_path('hgst-failed'), drive_path('intel-worn')
as_root = abilities.as_root
CONTRADICTION = {
    'overrides': [
        {
            'for': {'model': 'HGST.*'},
            'why': 'one of two equals',
            'metrics': {'temperature': {'warning': '50'}},
        },
        {
            'for': {'model': 'HGST HUS.*'},
            'why': 'one of two equals',
            'metrics': {'temperature': {'warning': '51'}},
        },
    ]
}
CLAIM = {'kind': 'hdd', 'models': ['HGST HUS.*'], 'source': 'measured on one drive'}
BROKEN = {
    'key': (
        'thresholds.d',
        {'metrics': {'temperature': {'warnin': '3'}}},
        'temperature: unknown key "warnin"; did you mean warning?',
    ),
    'no JSON': ('thresholds.d', '{"metrics": }', 'line 1, column 13: '),
    'contradiction': (
        'thresholds.d',
        CONTRADICTION,
        'temperature, warning: site.json: model HGST.* and site.json: model HGST HUS.* disagree',
    ),
    'formula': (
        'attributes.d',
        {
            'entries': [
                {
                    'family': 'ACME',
                    'kind': 'hdd',
                    'attributes': {
                        '5': {
                            'name': 'Five',
                            'readings': {'reallocated': {'from': 'normalised'}},
                        }
                    },
                }
            ]
        },
        '"from": "normalised" is not a formula',
    ),
    'two claims': (
        'attributes.d',
        {'entries': [{'family': 'one', **CLAIM}, {'family': 'other', **CLAIM}]},
        'is claimed by two entries, one and other; narrow one pattern',
    ),
}


@pytest.fixture
def config(tmp_path):
    """The configuration folder of a site."""
    for name in ('attributes.d', 'thresholds.d'):
        (tmp_path / 'etc' / name).mkdir(parents=True, mode=0o755)
    return tmp_path / 'etc'


def written(config, folder, content):
    path = config / folder / 'site.json'
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    path.chmod(0o644)
    return path


def checked(config, *arguments):
    return run('--config', str(config), *arguments, timeout=30)


@pytest.mark.parametrize('mistake', BROKEN)
def test_a_failed_drive_stays_critical_whatever_is_wrong_with_a_file(config, mistake):
    """The mistake stands beside it, with file and place, and is UNKNOWN where the drive is well."""
    folder, content, words = BROKEN[mistake]
    written(config, folder, content)

    result = checked(config, '--report', HGST)

    assert result.code == 2
    assert result.first_line.startswith(
        'SMART CRITICAL - hgst_failed: health status FAILED'
    )
    told = [line for line in result.text.splitlines() if line.startswith('UNKNOWN ')]
    assert any('site.json' in line and words in line for line in told), result.text
    assert 'inside check_smart_attributes' not in result.text


def test_what_is_sound_beside_a_mistake_holds(config):
    """One slip must not turn off what else was decided."""
    written(
        config,
        'thresholds.d',
        {
            'metrics': {
                'temperature': {'warnin': '3'},
                'power_on_time': {'warning': '1'},
            }
        },
    )

    assert 'warning above 1' in checked(config, '--report', WELL).text


@as_root
def test_what_another_could_have_written_decides_nothing(config):
    """A user of the machine must not turn root's CRITICAL into OK, and what he wrote is not
    quoted.
    """
    path = written(
        config,
        'thresholds.d',
        {
            'overrides': [
                {
                    'for': {'model': 'HGST.*'},
                    'why': 'S3CRET reasons',
                    'metrics': {
                        metric: {'warning': None, 'critical': None}
                        for metric in ('reallocated', 'pending', 'reported_uncorrect')
                    },
                }
            ]
        },
    )
    assert 'critical above' not in checked(config, '--report', HGST).text
    os.chown(path, 65534, -1)

    result = checked(config, '--report', HGST, '-v')

    assert result.code == 2
    assert 'reallocated 1303, critical above ' in result.text
    assert 'only if root alone' in result.text
    assert 'S3CRET' not in result.text


def test_a_missing_file_of_the_command_line_hides_nothing():
    """A file that was moved away is no reason to look away."""
    result = run('--report', HGST, '--thresholds', '/no/such/limits.json')

    assert result.code == 2 and '/no/such/limits.json: ' in result.text


def test_every_face_that_judges_tells_the_mistake(config):
    """Table, JSON and explanation."""
    written(config, 'thresholds.d', {'metrics': {'temperature': {'warnin': '3'}}})
    arguments = ('--config', str(config), '--report', WELL)

    data = json.loads(run('triage', '--json', *arguments).text)
    [note] = data['notes']
    assert (note['code'], note['state']) == ('configuration-error', 'UNKNOWN')
    assert data['state'] in ('UNKNOWN', 'CRITICAL')
    assert note['text'] in run('triage', *arguments).text
    assert note['text'] in run('explain', *arguments).text


def test_a_newer_database_that_is_broken_is_told_and_the_shipped_one_used(config):
    """attributes.json may be put beside the configuration between two versions."""
    (config / 'attributes.json').write_text('{"entries": 5}')

    result = checked(config, '--report', HGST)

    assert result.code == 2
    assert '(check)  [configuration-error] attributes.json: entries 5 ' in result.text


@pytest.mark.parametrize('kind', ['missing', 'a-file', 'a-folder'])
def test_a_configuration_directory_that_is_none_is_a_fault(kind, tmp_path):
    """A typo would switch off all limits and entries of the site."""
    path = tmp_path / 'config'
    if kind != 'missing':
        (path.mkdir if kind == 'a-folder' else path.touch)()

    result = run(
        '--config',
        str(path),
        '--report',
        str(ROOT / 'tests/reports/intel-s3500-healthy.json'),
    )

    assert result.code == (0 if kind == 'a-folder' else 3)
    assert (f'{path} is not ' in result.text) == (kind != 'a-folder')


# --- by value -------------------------------------------------------------------------------------


def site_in(folder: Path, **files: object) -> DataFiles:
    """Write the files of a site; attributes_d is attributes.d/own.json.

    Return where a run finds these files.
    """
    for place, content in files.items():
        path = folder / (
            f'{place[:-2]}.d/own.json' if place.endswith('_d') else f'{place}.json'
        )
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
    return DataFiles(config=str(folder))


OWN_ENTRY = {'entries': [{'family': 'Own', 'models': ['ACME X1']}]}


def test_files_of_a_site_are_found_in_their_order(tmp_path):
    data = site_in(
        tmp_path, attributes_d={}, thresholds_d={}, acknowledged={}
    )._replace(attributes=('/a.json',), thresholds=('/t.json',))
    (tmp_path / 'thresholds.d/README').touch()
    mistakes: list[str] = []

    assert rulebook.files_of(data, mistakes) == (
        [
            (f'{tmp_path}/attributes.d/own.json', 'attributes.d/own.json'),
            ('/a.json', ''),
        ],
        [
            (f'{tmp_path}/acknowledged.json', ''),
            (f'{tmp_path}/thresholds.d/own.json', 'thresholds.d/own.json'),
            ('/t.json', ''),
        ],
    )
    assert mistakes == []


def test_a_folder_of_a_site_that_cannot_be_read_is_a_mistake(tmp_path, monkeypatch):
    def denied(_: str) -> list[str]:
        raise PermissionError(13, 'Permission denied')

    monkeypatch.setattr(os, 'listdir', denied)
    mistakes: list[str] = []

    assert rulebook.files_of(DataFiles(config=str(tmp_path)), mistakes) == ([], [])
    assert [each.partition(':')[0] for each in mistakes] == [
        f'{tmp_path}/attributes.d',
        f'{tmp_path}/thresholds.d',
    ]


def test_limits_behind_ucfgj_come_last(tmp_path):
    data = site_in(tmp_path, thresholds_d={'comment': 'own'}, old={'comment': 'old'})
    before = Before(user_config=str(tmp_path / 'old.json'))

    assert [
        file.data['comment'] for file in rulebook.site_of(data, before).thresholds
    ] == [
        'own',
        'old',
    ]


def test_a_command_that_judges_nothing_knows_the_entries_of_the_site(tmp_path):
    own = rulebook.database_of(site_in(tmp_path, attributes_d=OWN_ENTRY))
    spec = own.identify(Identity('ATA', 'ACME X1'), ())

    assert (spec.family, own.dispute(Identity('ATA', 'ACME X1'), ())) == ('Own', '')
    assert (
        rulebook.database_of(DataFiles(config=str(tmp_path / 'absent')))
        .identify(Identity('ATA', 'ACME X1'), ())
        .family
        != 'Own'
    )


@pytest.mark.parametrize(
    'report, told',
    [
        # read
        (REPORT, ['INTEL SSDSC2BB240G4: 25', 'sda, INTEL SSDSC2BB240G4, some entry']),
        (None, ['sda, INTEL SSDSC2BB240G4, some entry']),  # silent
    ],
)
def test_contradictions_are_those_about_the_drive(monkeypatch, report, told):
    monkeypatch.setattr(
        SpecDatabase,
        'dispute',
        lambda _, identity, numbers: f'{identity.model}: {len(numbers)}',
    )
    monkeypatch.setattr(
        Thresholds,
        'disagreements',
        lambda _, device, identity, entry: [
            f'{device.name}, {identity.model}, {entry}'
        ],
    )
    verdict = Verdict(SDA, REPORT.identity, State.OK, entry='some entry')

    assert judge().contradictions(verdict, report) == told


@pytest.mark.parametrize(
    'words, why',
    [
        (('-w', 'temperature=60', '-c', 'temperature=50'), 'temperature: '),
        (('-w', 'spare_available=90'), 'spare_'),
        (('-c', 'spare_available=90'), 'spare_available: '),
    ],
)
def test_limits_that_contradict_each_other_are_refused(words, why):
    with pytest.raises(UsageError, match=why):
        judge(*words)


def test_the_share_that_failed_is_that_of_the_findings():
    found = Judgement(
        Reading('pending', 40, '', Source('', 197, 'raw')), State.CRITICAL
    )

    assert rulebook.risk_of([found], 'hdd', ()) is not None
    assert rulebook.risk_of([], 'hdd', ()) is None


def test_what_the_command_line_decides_reaches_limits_and_rules():
    found = judge(
        '-w',
        'pending=3',
        '-c',
        'pending=5',
        '--ignore-metric',
        'temperature',
        '--ignore-attribute',
        '9',
        '--unknown-model',
        'critical',
        '--asleep',
        'warning',
        '--vendor-logs',
        'never',
    )

    assert found.thresholds._command_line == {
        'warning': {'pending': '3'},
        'critical': {'pending': '5'},
    }
    asked = found.rules.asked
    assert (asked.ignore_metrics, asked.ignore_attributes) == (('temperature',), (9,))
    assert (asked.unknown_model, asked.asleep) == (State.CRITICAL, State.WARNING)
    assert asked.vendor_logs is None
    with pytest.raises(UsageError, match='"pendin" is '):
        judge('-w', 'pendin=3')
