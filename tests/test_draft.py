"""From one drive to an entry that a person can finish."""

import json
import re

import pytest
from small_database import database, formatted, row, spec_database

from smart_attributes.devtools import draft, reading_rules, validate
from smart_attributes.knowledge import (
    data_errors,
    decode,
    drive_database,
    formatting,
    schema_errors,
    shipped_data,
)
from smart_attributes.model import Identity, Report, Statistic

Y5 = Identity(
    protocol='ATA',
    model='ACME Y5 240GB',
    firmware='7.1',
    serial='SECRET0001',
    wwn='5000c500a1b2c3d4',
    rotation=0,
    capacity=240_057_409_536,
)
ROWS = (
    row(9, raw='1234', name='Power_On_Hours', prefail=True),
    row(5, raw='0', name='Reallocated_Sector_Ct'),
    row(231, 97, raw='3', name='SSD_Life_Left'),
    row(241, raw='9000', name='Host_Writes_32MiB'),
    row(241, raw='1', name='Again'),
)


def drafted(report, *local):
    return json.loads(draft.draft(report, spec_database(*local)))


def drive(*rows, endurance=None, **identity):
    statistics = (
        {}
        if endurance is None
        else {(7, 8): Statistic(endurance, 'Percentage Used Endurance Indicator')}
    )
    return Report(
        Y5._replace(**identity), attributes=rows or ROWS, statistics=statistics
    )


# --- what comes out ------------------------------------------------------------------

REPORTS = {
    'plain': drive(),
    'worn': drive(endurance=3),
    'hostile': drive(
        row(5, name='a\x1b[2J | b', raw='1\n2 | "x"'), model='X"\x1b[2J|\n$(reboot)\\'
    ),
    'short model': drive(model='X1'),
    'odd rows': drive(row(0), row(300), row(5, None), row(5)),
    'regex in the model': drive(model='ACME (X1) [2.5"] 240GB+'),
    'long names': drive(
        row(5, name='N' * 500, raw='9' * 500), model='M' * 500, family='F' * 500
    ),
}


@pytest.mark.parametrize('report', REPORTS)
def test_a_draft_fits_the_schema_and_wins_its_own_drive(report):
    """It works as it stands: the site can put it into attributes.d and go on from there."""
    given = REPORTS[report]
    text = draft.draft(given, spec_database())

    data = schema_errors.checked(text, 'attributes', 'draft.json')
    assert formatting.formatted(data) == text
    spec = spec_database(data).identify(
        given.identity, [line.id for line in given.attributes]
    )
    assert spec.family == data['entries'][0]['family']
    # drafts are sent to strangers, and the drive made up its own name
    assert 'SECRET0001' not in text and '5000c500a1b2c3d4' not in text
    assert re.fullmatch(r'[\n -~]*', text)


@pytest.mark.parametrize(
    'report, models, first',
    [
        (REPORTS['worn'], ['ACME Y5 [0-9.]+[GT]B'], None),
        # what a controller calls itself; a pattern of its own would claim strangers
        (drive(model='SB2'), ['(?:SB2)'], [9, 5, 231, 241]),
    ],
    ids=['worn', 'three letters'],
)
def test_validate_finds_nothing_in_a_draft_but_the_source_that_is_to_be_filled_in(
    tmp_path, monkeypatch, report, models, first
):
    """The sample is right by itself; only a person can cite."""
    (tmp_path / 'attributes.json').write_text(formatted(database()))
    (tmp_path / 'draft.json').write_text(draft.draft(report, spec_database()))
    monkeypatch.setattr(shipped_data, 'path', lambda name: str(tmp_path / name))
    (entry,) = json.loads((tmp_path / 'draft.json').read_text())['entries']

    (problem,) = validate.examine([str(tmp_path / 'draft.json')]).problems

    assert (entry['models'], entry.get('first')) == (models, first)
    assert '"source": "FILL IN: ' in problem


# --- the entry -------------------------------------------------------------------------


def test_attributes_carry_what_the_drive_said():
    """The contributor compares it with the datasheet."""
    (entry,) = drafted(drive())['entries']

    # 9 comes with the set that every entry uses
    assert list(entry['attributes']) == ['5', '231', '241']
    assert 'uses_common' not in entry
    assert entry['attributes']['231'] == {
        'name': 'SSD_Life_Left',
        'comment': 'VALUE 097, WORST 097, RAW 3',
    }


@pytest.mark.parametrize(
    'family, model, expected',
    [
        ('ACME Y series', 'ACME Y5 240GB', 'ACME Y series'),
        ('', 'ACME  Y5 240GB', 'ACME Y5'),
        ('', 'ACME Y5 1TB', 'ACME Y5'),
        ('', 'ACME-Y5-240', 'ACME-Y5-240'),
    ],
)
def test_the_family_is_smartctls_or_the_model_without_its_capacity(
    family, model, expected
):
    """A proposal; only a person knows the product."""
    assert (
        drafted(drive(model=model, family=family))['entries'][0]['family'] == expected
    )


@pytest.mark.parametrize(
    'model, pattern',
    [
        ('INTEL SSDSC2BB240G4', 'INTEL SSDSC2BB240G4'),
        ('ACME Y5 240GB', 'ACME Y5 [0-9.]+[GT]B'),
        ('ACME Y5 1.9 TB', 'ACME Y5 [0-9.]+ [GT]B'),
        ('Y 240GB', 'Y 240GB'),
        ('ACME (Y5) 2.5"', r'ACME \(Y5\) 2\.5"'),
    ],
)
def test_the_pattern_covers_the_other_capacities_and_nothing_else(model, pattern):
    """A family is sold in several sizes; digits without a unit are the name."""
    found = draft.model_pattern(Identity(model=model))

    assert found == pattern
    assert drive_database.matches_pattern(found, model)


def test_a_drive_without_a_name_is_known_by_its_attributes():
    """There is nothing else to know it by."""
    (entry,) = drafted(drive(model=''))['entries']

    assert entry['first'] == [9, 5, 231, 241]
    assert 'models' not in entry


GENERIC = {
    'sets': {
        'disk': {
            'source': 'measured on 9 drives',
            'attributes': {
                '197': {'name': 'Pending', 'readings': {'pending': {'from': 'raw'}}}
            },
        }
    },
    'entries': [
        {
            'family': 'Any disk',
            'kind': 'ssd',
            'generic': True,
            'uses': ['disk'],
            'uses_common': True,
            'no_endurance': 'nothing says it',
            'untrusted_statistics': ['endurance_used'],
            'statistic_units': {'reallocated': 'logical sectors'},
            'clock': 'untrusted',
            'farm': True,
            'ignore_thresholds': [5],
            'attributes': {
                '241': {
                    'name': 'Writes',
                    'comment': 'In sectors.',
                    'readings': {'host_written': {'from': 'raw', 'unit': '512B'}},
                },
                '5': {'name': 'Bad', 'trap': True},
                '12': None,
            },
        }
    ],
}


READ_AS = (
    'VALUE 100, WORST 100, RAW 9; interpreted as in the entry Any disk; In sectors.'
)


def test_a_draft_reads_what_the_entry_reads_that_spoke_for_the_drive_before():
    """A local entry replaces it wholly; pending sectors must not become silent by adding a
    drive.
    """
    report = drive(
        row(5, name='Reallocated_Sector_Ct'),
        row(12),
        row(197, raw='8'),
        row(241, raw='9', name='X'),
        row(250),
        model='DISK 1',
    )

    data = drafted(report, GENERIC)

    (entry,) = data['entries']
    assert {key: entry[key] for key in draft.INHERITED} == {
        key: GENERIC['entries'][0][key] for key in draft.INHERITED
    }
    assert entry['attributes'] == {
        '241': {
            'name': 'Writes',
            'comment': READ_AS,
            'readings': {'host_written': {'from': 'raw', 'unit': '512B'}},
        },
        '5': {'name': 'Bad', 'comment': 'VALUE 100, WORST 100, RAW 0', 'trap': True},
        '12': None,
        '250': {'name': 'Some_Name', 'comment': 'VALUE 100, WORST 100, RAW 0'},
    }
    assert data['samples'][0]['expect'] == {'host_written': 4608, 'pending': 8}


def test_nothing_is_proposed_for_a_metric_that_is_read_already():
    """The first reading of a metric counts, and the entry that spoke before has chosen it."""
    data = drafted(drive(row(233, 97), row(177, 97), model='ACME X1-240', endurance=3))

    attributes = data['entries'][0]['attributes']
    assert 'readings' in attributes['233']
    assert 'readings' not in attributes['177']


def test_a_meaning_that_vendors_share_is_not_proposed_for_a_metric_that_is_read_already():
    """Here the pending sectors stand in 197."""
    readings = {'pending': {'from': 'raw bytes 0-1'}}
    shared = {'sets': {}, **vendor_entries(readings, readings, readings)}
    report = drive(row(5, name='Reallocated_Sector_Ct'), row(197), model='DISK 1')

    assert (
        'readings'
        not in drafted(report, GENERIC, shared)['entries'][0]['attributes']['5']
    )


def vendor_entries(*readings, name='Reallocated_Sector_Ct', number='5', **more):
    """Return a local file with an entry of a vendor of its own for each reading."""
    return {
        'entries': [
            {
                'family': f'Vendor{n} Z',
                'models': [f'Vendor{n} Z'],
                **more,
                'attributes': {number: {'name': name, 'readings': given}},
            }
            for n, given in enumerate(readings)
        ]
    }


def test_a_meaning_that_several_vendors_share_is_taken_over():
    """Nobody has to look up what all entries agree about."""
    readings = {'reallocated': {'from': 'raw bytes 0-1'}}
    (entry,) = drafted(drive(), vendor_entries(readings, readings, readings))['entries']

    assert entry['attributes']['5']['readings'] == readings
    assert 'alike in 3 of 3 entries' in entry['attributes']['5']['comment']


RAW = {'reallocated': {'from': 'raw'}}
NOT_CERTAIN = {
    'too few vendors': vendor_entries(RAW, RAW),
    'one vendor only': {
        'entries': [
            {
                'family': f'Vendor Z{n}',
                'kind': 'ssd',
                'attributes': {'5': {'name': 'Reallocated_Sector_Ct', 'readings': RAW}},
            }
            for n in range(9)
        ]
    },
    'vendors disagree': vendor_entries(
        RAW, RAW, RAW, {'reallocated': {'from': 'raw bytes 0-1'}}
    ),
    'others give it no meaning': vendor_entries(
        RAW, RAW, RAW, {'pending': {'from': 'raw'}}, {'pending': {'from': 'value'}}
    ),
    'another name': vendor_entries(RAW, RAW, RAW, name='Bad_Blocks'),
    'another kind of drive': vendor_entries(RAW, RAW, RAW, kind='hdd'),
    'an amount of data': vendor_entries(
        *[{'host_written': {'from': 'raw', 'unit': '512B'}}] * 5,
        name='Host_Writes_32MiB',
        number='241',
    ),
    'endurance': vendor_entries(
        *[{'endurance_used': {'from': '100 - value', 'valid': [0, 99]}}] * 5,
        name='SSD_Life_Left',
        number='231',
    ),
}


@pytest.mark.parametrize('local', NOT_CERTAIN)
def test_a_meaning_that_is_not_certain_is_left_to_the_person(local):
    """Nothing is invented: one name means different things on different drives."""
    (entry,) = drafted(drive(), NOT_CERTAIN[local])['entries']

    assert not any(
        'readings' in attribute for attribute in entry['attributes'].values()
    )


# --- endurance -----------------------------------------------------------------------------


def test_the_only_attribute_that_equals_the_drives_own_figure_is_proposed():
    """The drive itself says what its attribute means."""
    data = drafted(drive(row(231, 97, raw='77'), row(5), endurance=3))

    attribute = data['entries'][0]['attributes']['231']
    assert '100 - value' in attribute['comment']
    assert attribute['readings'] == {
        'endurance_used': {'from': '100 - value', 'valid': [0, 99]}
    }
    assert data['samples'][0]['expect']['endurance_used'] == 3


@pytest.mark.parametrize('formula', draft.ENDURANCE_FORMULAS)
def test_what_is_proposed_never_turns_an_unset_value_into_a_figure(formula):
    """The proposal obeys the same rules as everything else."""
    data = database()
    data['entries'][0]['attributes']['233']['readings'] = {
        'endurance_used': {
            'from': formula,
            'valid': list(draft.ENDURANCE_FORMULAS[formula]),
        }
    }

    readings = [
        (spec, metric)
        for _path, _, metric, spec in data_errors.written_readings(data)
        if metric == 'endurance_used'
    ]
    metric = drive_database.SpecDatabase(data).metrics['endurance_used']
    assert [
        problem
        for spec, _ in readings
        for problem in reading_rules._meaningless(
            spec, decode.parse(spec['from']), metric
        )
    ] == []


# --- amounts of data -----------------------------------------------------------------------


def written(*rows, sectors):
    return Report(
        Y5,
        attributes=rows,
        statistics={(1, 0x018): Statistic(sectors, 'Logical Sectors Written')},
    )


def test_an_amount_that_the_drive_states_tells_the_unit_of_its_attribute():
    """Nobody can see whether a count is one of sectors or of 32 MiB, and a wrong unit looks as
    plausible.
    """
    data = drafted(
        written(
            row(241, raw='391022', name='Total_LBAs_Written'),
            row(9, raw='24871'),
            sectors=391022 * 65536 + 40000,
        )
    )

    assert data['entries'][0]['attributes']['241']['readings'] == {
        'host_written': {'from': 'raw', 'unit': '32MiB'}
    }
    assert data['samples'][0]['stated'] == {
        'host_written': (391022 * 65536 + 40000) * 512
    }
    assert data['samples'][0]['expect']['host_written'] == 391022 * 2**25


def test_an_amount_that_began_again_tells_the_unit_too():
    """A Transcend SSD370S of 1 TB wrote 76 TB and states 1.6: its 32 bits of sectors were full
    34 times.
    """
    data = drafted(
        written(
            row(241, raw='2275184', name='Total_LBAs_Written'),
            row(9, raw='7127'),
            sectors=3077596960,
        )
    )

    assert data['entries'][0]['attributes']['241']['readings'] == {
        'host_written': {'from': 'raw', 'unit': '32MiB'}
    }


@pytest.mark.parametrize(
    'rows',
    [
        (row(241, raw='391022'), row(246, raw='391023')),
        (row(241, raw='10'),),
        (row(241, raw='400000'),),
    ],
    ids=['two-attributes', 'few-counts', 'another-number'],
)
def test_an_amount_that_may_agree_by_chance_proposes_nothing(rows):
    """Eight units fit many a small number."""
    sectors = 10 * 65536 if rows[0].raw == '10' else 391022 * 65536

    assert (
        'readings'
        not in drafted(written(*rows, sectors=sectors))['entries'][0]['attributes'][
            '241'
        ]
    )


# --- the sample -------------------------------------------------------------------------------


def test_the_sample_is_made_of_the_drives_own_rows():
    """Real numbers, with what the draft reads from them now."""
    (sample,) = drafted(drive(endurance=3))['samples']

    assert sample == {
        'family': 'ACME Y5',
        'model': 'ACME Y5 240GB',
        'firmware': '7.1',
        'kind': 'ssd',
        'capacity': 240057409536,
        'origin': 'captured',
        'lines': [
            '  9 Power_On_Hours          P-----   100   100   000    -    1234',
            '  5 Reallocated_Sector_Ct   ------   100   100   000    -    0',
            '231 SSD_Life_Left           ------   097   097   000    -    3',
            '241 Host_Writes_32MiB       ------   100   100   000    -    9000',
        ],
        'stated': {'endurance_used': 3},
        'expect': {'endurance_used': 3, 'power_on_time': 4442400},
    }


@pytest.mark.parametrize(
    'number, when, line',
    [
        (1, 'now', '  1 Some_Name               ------   100   100   000    NOW    7'),
        (
            255,
            'past',
            '255 Some_Name               ------   100   100   000    Past    7',
        ),
        (5, '', '  5 Some_Name               ------   100   100   000    -    7'),
    ],
)
def test_a_line_says_when_the_attribute_failed(number, when, line):
    failed = row(number, raw='7', name='Some Name')._replace(when_failed=when)

    assert drafted(drive(failed))['samples'][0]['lines'] == [line]


# --- what the header says ------------------------------------------------------------------------

SEVERAL = drive(row(231, 97, raw='9'), row(12), row(174, 100, raw='3'), endurance=3)
HEADERS = {
    'next': (
        drive(),
        'Then run: check_smart_attributes validate THIS_FILE. To use the entry, copy the file to '
        '/etc/check-smart-attributes/attributes.d.',
    ),
    'no endurance': (drive(), 'The drive itself does not report its wear'),
    # At 0 % everything fits, and 255 is a constant of some controllers.
    '0 %': (
        drive(endurance=0),
        'The drive reports 0 % endurance used. This value does not show which attribute counts wear; '
        'draft again with a drive that is partly worn.',
    ),
    '255 %': (drive(endurance=255), 'The drive reports 255 %'),
    'none equals it': (
        drive(endurance=55),
        'with the same value: no attribute; cite a document that says which attribute counts wear.',
    ),
    'several equal it': (
        SEVERAL,
        'with the same value: 100 - value of 231, raw of 174; a match',
    ),
    'entry exists': (
        drive(model='ACME X1-240'),
        'The entry ACME X1 already covers this drive and gives the same readings as the draft. Once '
        'added, the draft would be used for this drive instead of that entry, so add it only to '
        'correct or complete that entry.',
    ),
    'NVMe': (
        drive(protocol='NVMe'),
        'No entry is needed: the health log of the NVMe standard covers everything about "ACME Y5 '
        '240GB".',
    ),
    'SCSI': (
        drive(protocol='SCSI'),
        'No entry is needed: the log pages of the SCSI standard cover everything about "ACME Y5 '
        '240GB".',
    ),
    'no attributes': (
        Report(Y5),
        'No entry can be drafted: the report of "ACME Y5 240GB" has no attribute table; read the '
        'drive with smartctl -A (behind a controller, also with -d TYPE).',
    ),
}


@pytest.mark.parametrize('case', HEADERS)
def test_the_header_says_what_to_do_next(case):
    """The reader may not know doc/tutorial/add-a-drive.md."""
    report, words = HEADERS[case]
    text = draft.draft(report, spec_database())

    assert words in (json.loads(text)['comment'] if text.startswith('{') else text)


@pytest.mark.parametrize(
    'report',
    [SEVERAL, *(drive(endurance=endurance) for endurance in (None, 0, 255, 55))],
    ids=['several', 'none', '0', '255', '55'],
)
def test_a_figure_that_proves_nothing_proposes_nothing(report):
    data = drafted(report)

    assert 'already' not in data['comment']
    assert 'endurance_used' not in data['samples'][0]['expect']
    assert not any(
        'readings' in each for each in data['entries'][0]['attributes'].values()
    )


# --- what a drive's own word is worth -------------------------------------------------------


def test_hours_and_temperature_are_stated_too():
    """So that hours which an entry reads as minutes are noticed."""
    statistics = {
        (1, 0x010): Statistic(1234, 'Power-on Hours'),
        (5, 0x008): Statistic(31, 'Current Temperature'),
    }
    data = drafted(Report(Y5, attributes=(row(9, raw='1234'),), statistics=statistics))

    assert data['samples'][0]['stated'] == {
        'power_on_time': 1234 * 3600,
        'temperature': 31,
    }
