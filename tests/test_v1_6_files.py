"""Files of version 1.6: a check does not use them, and says so until their limits are converted."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Result, drive_path, run

from smart_attributes.knowledge import drive_database
from smart_attributes.v1_6 import files, limit_conversion

Json = dict[str, Any]

# What an admin may have written for the drive of intel-s3500-healthy.
ITEMS = {
    5: 'RAW_VALUE',
    9: 'RAW_VALUE',
    170: 'VALUE',
    184: 'VALUE',
    187: 'RAW_VALUE',
    190: 'RAW_VALUE',
    194: 'RAW_VALUE',
    232: 'VALUE',
    233: 'VALUE',
    241: 'RAW_VALUE',
    1024: 'VALUE',
    1025: 'VALUE',
}
LOG = dict.fromkeys(range(17), 'RAW_VALUE')  # of an NVMe or SAS drive
MODEL = 'INTEL SSDSC2BB240G4'
SHIPPED_NVME = {
    '0': ['0', '0'],
    '1': ['50', '60'],
    '2': ['16:', '11:'],
    '4': ['85', '90'],
    '13': ['0', '10'],
    '14': ['0', '10'],
    '15': ['15', '30'],
    '16': ['15', '30'],
    '1025': ['0', '0'],
}
LIMITS = {'233': ['20:', '10:']}
WARNING = 'SMART WARNING - [limits-not-migrated] '


def entry(
    limits: Json, graphed: Any = (), models: Any = (MODEL,), items: Any = None
) -> Json:
    """Return an entry of a database of version 1.6."""
    columns = ITEMS if items is None else items
    return {
        'Device': list(models),
        'Threshs': limits,
        'Perfs': list(graphed),
        'ID#': {
            str(number): {'value': column, 'comment': 'made for a test'}
            for number, column in columns.items()
        },
    }


def database(path: Path, **entries: Json) -> str:
    """Write a database of version 1.6; _ in a name is a blank."""
    path.write_text(
        json.dumps(
            {
                'Devices': {
                    name.replace('_', ' '): data for name, data in entries.items()
                }
            }
        )
    )
    return str(path)


def users(path: Path, drives: Json) -> str:
    """Write a user configuration of version 1.6."""
    path.write_text(json.dumps({'Devices': drives}))
    return str(path)


def check(*arguments: str, of: str = 'intel-s3500-healthy') -> Result:
    return run('--report', drive_path(of), *arguments)


@pytest.fixture
def there(tmp_path) -> list[str]:
    """The option for a configuration directory."""
    (tmp_path / 'etc').mkdir()
    return ['--config', str(tmp_path / 'etc')]


# --- what a check says ------------------------------------------------------------------------


@pytest.mark.parametrize('option', ['-dbj', '-ucfgj'])
def test_limits_of_a_site_that_are_not_in_force_are_a_warning_with_the_command(
    tmp_path, there, option
):
    """They must not vanish in an upgrade that nobody watches. The drives are judged as always."""
    old = database(tmp_path / 'my db.json', Mine=entry(LIMITS))

    result = check(option, old, *there)

    assert result.code == 1 and result.first_line.startswith(WARNING)
    assert f" migrate '{old}' --config {tmp_path}/etc; " in result.first_line
    assert result.text.splitlines()[2:] == check(*there).text.splitlines()[1:]


def test_a_user_configuration_is_named_as_well(tmp_path):
    """With both, each has its own line; the directory is named only where it is not the usual
    one.
    """
    database(tmp_path / 'db.json', Mine=entry(LIMITS))
    users(tmp_path / 'user.json', {'/dev/sda': {'Threshs': LIMITS}})
    words = ['-dbj', 'db.json', '-ucfgj', 'user.json']

    result = run('--report', drive_path('intel-s3500-healthy'), *words, cwd=tmp_path)

    assert re.findall(
        r'^WARNING   \(check\)  \[limits-not-migrated\] .* (migrate .*)$',
        result.text,
        re.MULTILINE,
    ) == [f'migrate {tmp_path}/{name}' for name in ('db.json', 'user.json')]


def test_it_is_said_beside_a_failing_drive_and_to_a_person(tmp_path):
    old = database(tmp_path / 'db.json', Mine=entry(LIMITS))
    result = check('-dbj', old, of='hgst-failed')

    assert result.first_line.startswith('SMART CRITICAL - hgst_failed: ')
    for text in (
        result.first_line,
        *(
            run(command, '--report', drive_path('intel-worn'), '-dbj', old).text
            for command in ('triage', 'explain')
        ),
    ):
        assert 'limits-not-migrated' in text


@pytest.mark.parametrize(
    'data',
    [
        {},
        {
            'Generic NVMe': entry(SHIPPED_NVME, ['4', '14'], items=LOG),
            'Generic SAS': entry({'0': ['20', '40']}, items=LOG),
        },
    ],
    ids=['empty', 'nvme-and-sas'],
)
def test_shipped_entries_are_silent(tmp_path, data):
    """Nobody here decided about their limits."""
    assert (
        check('-dbj', users(tmp_path / 'db.json', data), '-v').text == check('-v').text
    )


def test_an_absent_file_is_no_fault(tmp_path):
    """Icinga names a database always; who removes a file has decided."""
    paths = [
        str(tmp_path / name)
        for name in ('plugins-config/check_smartdb.json', 'user.json')
    ]
    words = ['-dbj', paths[0], '-ucfgj', paths[1]]

    assert (
        re.findall('^note: (.*) does not exist', check(*words, '-v').text, re.MULTILINE)
        == paths
    )
    assert check(*words).text == check().text


@pytest.mark.parametrize(
    ('option', 'content', 'words'),
    [
        ('-dbj', '{"Devices": {', 'line 1'),
        ('-ucfgj', '\xff', 'UTF-8'),
        ('-dbj', None, 'regular file'),
    ],
    ids=['half', 'encoding', 'directory'],
)
def test_a_file_that_cannot_be_read_is_a_warning_with_the_reason(
    tmp_path, option, content, words
):
    """Version 1.6 left with 2 or 255 and said nothing."""
    file = tmp_path / 'db.json'
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content.encode('latin-1'))

    result = check(option, str(file))

    assert result.code == 1 and result.first_line.startswith(WARNING)
    assert f' {option} ' in result.first_line and words in result.first_line


# --- after the migration --------------------------------------------------------------------------


def test_a_migrated_file_is_silent_until_somebody_changes_it(tmp_path, there):
    """Its content counts, not its name: a copy at another place is the same file."""
    old = database(tmp_path / 'db.json', Mine=entry(LIMITS))
    assert run('migrate', old, *there).code == 0

    assert check('-dbj', old, *there).text == check(*there).text
    Path(old).rename(tmp_path / 'moved.json')
    assert check('-dbj', str(tmp_path / 'moved.json'), '-ucfgj', old, *there).code == 0
    database(tmp_path / 'moved.json', Mine=entry({'233': ['21:', '10:']}))
    assert check('-dbj', str(tmp_path / 'moved.json'), *there).first_line.startswith(
        WARNING
    )


def test_the_proof_counts_where_the_limits_are_in_force(tmp_path, there):
    """A check with another directory does not have them; a file may be named instead, and parts
    of it may be broken.
    """
    old = database(tmp_path / 'db.json', Mine=entry(LIMITS))
    run('migrate', old, *there)
    made = tmp_path / 'etc/thresholds.d/db.json'

    assert check('-dbj', old).first_line.startswith(WARNING)
    assert check('-dbj', old, '--thresholds', str(made)).code == 0
    made.unlink()
    assert check('-dbj', old, *there).first_line.startswith(WARNING)


def test_every_user_can_see_that_a_file_is_migrated(tmp_path, there):
    """Root may be careful with its new files; the check runs as another user."""
    old = database(tmp_path / 'db.json', Mine=entry(LIMITS))
    before = os.umask(0o077)
    try:
        run('migrate', old, *there)
    finally:
        os.umask(before)

    assert [
        os.stat(tmp_path / 'etc/thresholds.d' / name).st_mode & 0o777
        for name in ('', 'db.json')
    ] == [0o755, 0o644]


# --- files of this version behind the options of version 1.6 --------------------------------------


def test_entries_of_this_version_are_taken_behind_dbj(tmp_path):
    """As with --attributes."""
    file = tmp_path / 'check_smartdb.json'
    file.write_text(
        json.dumps(
            {
                'entries': [
                    {
                        'family': 'Mine',
                        'models': [MODEL],
                        'attributes': {
                            '9': {
                                'name': 'Hours',
                                'readings': {
                                    'power_on_time': {'from': 'raw', 'unit': 'h'}
                                },
                            }
                        },
                    }
                ]
            }
        )
    )

    assert 'entry: Mine' in check('-dbj', str(file), '-v').text


def test_limits_of_this_version_are_taken_behind_ucfgj(tmp_path):
    """As with --thresholds."""
    file = tmp_path / 'config.json'
    file.write_text(json.dumps({'metrics': {'endurance_used': {'warning': '10'}}}))

    assert check('-ucfgj', str(file)).first_line.startswith(
        'SMART WARNING - intel_s3500_healthy: used write endurance 12 %'
    )


@pytest.mark.parametrize(
    ('option', 'content'),
    [
        ('-dbj', {'metrics': {}}),
        ('-dbj', [1]),
        ('-ucfgj', {'entries': []}),
        ('-dbj', {'Devices': 5}),
    ],
)
def test_a_file_of_another_kind_has_a_mistake(tmp_path, option, content):
    """A file without effect would be believed to have one."""
    (tmp_path / 'config.json').write_text(json.dumps(content))

    result = check(option, str(tmp_path / 'config.json'))

    assert result.code == 3
    assert '[configuration-error] config.json: ' in result.first_line


# --- which entries are shipped --------------------------------------------------------------------


def test_a_fingerprint_is_of_limits_and_columns_not_of_models_and_comments():
    """Who added a drive to an entry has not decided about its limits."""
    one = entry({'5': ['20', '40']}, ['5'])
    columns = {
        number: {'value': item['value']}
        for number, item in reversed(one['ID#'].items())
    }

    assert files.fingerprint(one) == files.fingerprint(
        {**one, 'Device': ['ACME X1'], 'ID#': columns}
    )
    assert files.fingerprint(one) != files.fingerprint(
        {**one, 'Threshs': {'5': ['20', '41']}}
    )


def test_an_entry_with_a_known_fingerprint_counts_as_shipped(monkeypatch):
    """The list is made by tools/fingerprints.py; the databases themselves stay out of the
    project. Entries of any shape are the site's own.
    """
    known = files.shipped_data.load(files.shipped_data.path(files.KNOWN))
    one = entry({'5': ['20', '40']}, ['5'])
    others = [entry({'5': ['20', '41']}, ['5']), 5, {'Threshs': 5}, {'ID#': [1]}]

    assert not files.is_shipped('Mine', one)
    monkeypatch.setattr(
        files.shipped_data,
        'load',
        lambda path: {**known, 'entries': [files.fingerprint(one)]},
    )
    assert files.is_shipped('Mine', one)
    assert [other for other in others if files.is_shipped('Mine', other)] == []
    assert len(known['entries']) > 50
    assert [
        name for name in known['entries'] if not re.fullmatch('[0-9a-f]{16}', name)
    ] == []


# --- the conversion of limits ---------------------------------------------------------------------

META = limit_conversion.Meaning


def specs(**readings: Json) -> Any:
    """Return what an entry with one attribute, number 5, reads from it: metric -> reading of
    attributes.json.
    """
    items = tuple(drive_database._reading_specs(5, {'readings': readings}))
    return drive_database.DriveSpec('ACME', readings=items)


@pytest.mark.parametrize(
    ('reading', 'column', 'meaning'),
    [
        ({'from': 'value'}, 'VALUE', META('a')),
        ({'from': 'value'}, 'RAW_VALUE', None),
        ({'from': 'raw'}, 'RAW_VALUE', META('a')),
        ({'from': 'raw'}, 'VALUE', None),
        ({'from': '100 - value / 2'}, 'VALUE', META('a', -0.5, 100)),
        ({'from': 'raw bytes 0-1'}, 'RAW_VALUE', META('a')),
        ({'from': 'raw bytes 2-3'}, 'RAW_VALUE', None),
        ({'from': 'raw of 230'}, 'RAW_VALUE', None),
        ({'from': 'raw + raw of 230'}, 'RAW_VALUE', None),
        ({'from': 'raw byte 0 + raw byte 2'}, 'RAW_VALUE', None),
        (
            {'from': '100 - raw / 10', 'unit': 'h'},
            'RAW_VALUE',
            META('a', -360, 360_000),
        ),
        ({'from': 'raw', 'states': {'1': 'passed'}}, 'RAW_VALUE', None),
    ],
)
def test_a_column_of_1_6_means_what_the_formula_of_its_reading_gives(
    reading, column, meaning
):
    """Whatever is made of more than this one number cannot be compared with a limit of version
    1.6.
    """
    spec = specs(a=reading)
    traps = tuple(item._replace(is_trap=True) for item in spec.readings)

    assert limit_conversion.of_attribute(5, column, spec) == (
        [meaning] if meaning else []
    )
    assert limit_conversion.of_attribute(5, column, spec._replace(readings=traps)) == []


def test_meanings_of_one_attribute_are_listed_once():
    spec = specs(a={'from': 'raw'}, b={'from': 'value'}, c={'from': 'raw', 'unit': 'h'})
    twice = spec._replace(readings=(*spec.readings, *spec.readings))

    assert limit_conversion.of_attribute(5, 'RAW_VALUE', twice) == [
        META('a'),
        META('c', 3600),
    ]
    assert limit_conversion.of_attribute(6, 'RAW_VALUE', spec) == []


@pytest.mark.parametrize(
    ('formulas', 'column'),
    [
        (['value'], 'VALUE'),
        (['raw', 'raw byte 0'], 'RAW_VALUE'),
        (['raw', 'value'], ''),
        ([], ''),
    ],
)
def test_the_column_of_an_attribute_is_known_where_its_entry_reads_only_one(
    formulas, column
):
    readings = {
        f'metric{place}': {'from': formula} for place, formula in enumerate(formulas)
    }

    assert limit_conversion.column_of(5, specs(**readings)) == column


def test_the_meanings_of_numbers_are_metrics():
    metrics = json.loads((ROOT / 'attributes.json').read_text())['metrics']
    meanings = [
        meaning for log in limit_conversion.LOGS.values() for meaning in log.values()
    ]

    assert {meaning.metric for meaning in meanings} <= set(metrics)


@pytest.mark.parametrize(
    'text, meaning, converted',
    [
        ('16:', META('endurance_used', -1, 100), '84'),
        ('10', META('spare', -1, 100), '90:'),
        ('10:20', META('x', -1, 100), '80:90'),
        ('@1:5', META('x', 3600), '@3600:18000'),
        ('@0:20', META('a'), '@0:20'),
        ('10:', META('a'), '10:'),
        ('~:-5', META('a'), '~:-5'),
        ('0', META('a'), '0'),
        ('1', META('a', 1 / 3), '0.333333'),
        ('5', META('a', 2.1), '10.5'),
        ('5', META('a', -1), '-5:'),
        ('-5:5', META('a', 1), '-5:5'),
    ],
)
def test_a_range_of_1_6_is_converted_to_the_unit_of_its_metric(
    text, meaning, converted
):
    """What was bad stays bad, and nothing else becomes it."""
    assert limit_conversion.converted(text, meaning) == converted
