"""Every mistake that a contributor can make is named in one sentence, and nothing else is."""

import contextlib
import copy
import io
import json
import os
import re

import pytest
from conftest import ROOT
from small_database import Checkout, database, samples

from smart_attributes import alarm
from smart_attributes.devtools import entry_rules, reading_rules, validate
from smart_attributes.knowledge import decode, formatting, patterns, shipped_data

X1, X2, Z, FALLBACK = range(4)  # entries of the small database
NOTHING_WRONG = 'attributes.json: 4 entries, 4 samples, 1 measured model, no problem'


@pytest.fixture
def checkout(tmp_path):
    """A whole database with samples, without mistakes."""
    here = Checkout(tmp_path)
    here.write(database(), samples())
    return here


def problems_of(paths):
    return list(validate.examine(paths).problems)


def problems_after(checkout, change):
    """Return what validate says after one change to the database and its samples."""
    data, proof = database(), samples()
    change(data, proof)
    checkout.write(data, proof)
    return problems_of([checkout.path])


def test_a_database_without_mistakes_has_no_problems(checkout):
    """Otherwise the other tests would validate nothing."""
    assert problems_of([checkout.path]) == []


# --- planted mistakes ------------------------------------------------------------------


def put(*path_and_value):
    """Return a change that puts a value at a path of the database."""
    *path, last, value = path_and_value

    def change(data, _):
        for step in path:
            data = data[step]
        data[last] = copy.deepcopy(value)

    return change


def of_x1(key, value):
    return put('entries', X1, key, value)


def rated(without=None, **other):
    row = {
        'bytes': 10**14,
        'source': 'acme-manual, page 3',
        'quote': 'X1 240 GB: 100 TBW',
        'read': '2026-11-27',
        **other,
    }
    return of_x1(
        'rated_written',
        {'ACME X1-240': {key: row[key] for key in row if key != without}},
    )


def reading(value, number='233', metric='endurance_used'):
    return put('entries', X1, 'attributes', number, 'readings', {metric: value})


def without(*path):
    def change(data, _):
        for step in path[:-1]:
            data = data[step]
        del data[path[-1]]

    return change


def sample(number, key, value):
    def change(_, proof):
        proof[number][key] = value

    return change


def expecting(metric, value):
    def change(_, proof):
        proof[X1]['expect'][metric] = value

    return change


def not_expecting(metric):
    def change(_, proof):
        del proof[X1]['expect'][metric]

    return change


def also(**entry):
    """Return a change that adds an entry, and a sample that it wins unless it says otherwise."""
    new = {'source': 'measured on 9 drives', **entry}

    def change(data, _):
        data['entries'].append(new)

    return change


ERASED = {'metric': 'reallocated', 'offset': 4, 'length': 4}


def nvme(*fields, **changed):
    """Return a change that adds a drive with a vendor's log, the layout of that log, and a
    sample of it.
    """
    entry = {
        'family': 'ACME N1',
        'kind': 'nvme',
        'models': ['ACME N1-[0-9]{3}'],
        'logs': {'0xCA': 'acme'},
        'uses_common': False,
        'source': 'acme-manual',
        **changed,
    }

    def change(data, proof):
        data['layouts'] = {'acme': {'source': 'acme-manual', 'fields': [*fields]}}
        data['entries'].append(
            {key: value for key, value in entry.items() if value is not None}
        )
        of_drive = {
            'family': 'ACME N1',
            'model': 'ACME N1-960',
            'origin': 'composed',
            'lines': [],
        }
        proof += [
            {**of_drive, 'page': {'4': '05 00 00 00'}, 'expect': {'reallocated': 5}},
            {**of_drive, 'expect': {}},
        ]

    return change


FILE = 'attributes.json: '
SAMPLE_1 = 'acme.json: sample 1, ACME X1-240: '
AS_STATED = 'correct "from" or "unit", read another attribute, or list the metric in "untrusted_statistics"'
CITE = (
    'add the document to "documents", and cite it by its key, with the page or section; for a '
    'measurement, write "measured on" with the models and the number of drives'
)
MISTAKES = {
    # what the schema and the loader refuse
    'schema': (
        of_x1('famly', 'ACME'),
        'ACME X1: unknown key "famly"; did you mean family?',
    ),
    'metric unknown': (
        reading({'from': 'raw'}, metric='endurance'),
        'ACME X1, attribute 233, endurance: there is no such metric; did you mean endurance_used?',
    ),
    # citations
    'source missing': (
        without('entries', X1, 'source'),
        'ACME X1: "source" is missing; cite a document, or write "measured on" with the models and the number '
        'of drives',
    ),
    'source unknown': (
        put('sets', 'ata-common', 'source', 'acme-manuel, page 3'),
        f'set ata-common: "source" names "acme-manuel", which is not in "documents"; {CITE}',
    ),
    'source of an attribute unknown': (
        put('entries', X1, 'attributes', '233', 'source', 'hearsay'),
        f'ACME X1, attribute 233: "source": "hearsay" is not listed in "documents"; {CITE}',
    ),
    'source of an advisory unknown': (
        put('advisories', 0, 'source', 'a friend'),
        f'advisory acme-x1-stops: "source": "a friend" is not listed in "documents"; {CITE}',
    ),
    'rating without the line that states it': (
        rated(without='quote'),
        'ACME X1, rated_written ACME X1-240: quote is missing; add it as the schema describes',
    ),
    'rating of nothing': (
        rated(bytes=0),
        'ACME X1, rated_written, ACME X1-240: bytes 0 is too small; write 1000000000 or more',
    ),
    'rating in a document without an address': (
        lambda data, _: (rated()(data, _), data['documents']['acme-manual'].pop('url')),
        'ACME X1, rated_written ACME X1-240: url of its document is missing; add it as the schema describes',
    ),
    'advisory without a date': (
        without('advisories', 0, 'date'),
        'advisory acme-x1-stops: date is missing; add it as the schema describes',
    ),
    'advisory without a document': (
        put('advisories', 0, 'source', 'measured on 5 drives'),
        'advisory acme-x1-stops: url of its document is missing; add it as the schema describes',
    ),
    'document not cited': (
        put('documents', 'acme-blog', {'title': 'ACME blog'}),
        'the document "acme-blog" is not cited; cite it or remove it',
    ),
    'set not used': (
        put('sets', 'spare', {'source': 'acme-manual', 'attributes': {}}),
        'no entry uses the set "spare"; use it or remove it',
    ),
    # layouts of vendors' logs
    'layout not read': (
        nvme(ERASED, logs=None),
        'no entry reads the layout "acme"; use it or remove it',
    ),
    'source of a layout unknown': (
        lambda data, proof: (
            nvme(ERASED)(data, proof),
            data['layouts']['acme'].update(source='hearsay'),
        ),
        f'layout acme: "source": "hearsay" is not listed in "documents"; {CITE}',
    ),
    'verdict in a layout': (
        nvme({**ERASED, 'metric': 'self_test'}),
        'layout acme: self_test is a verdict, not a number; use another metric',
    ),
    'unit of a layout': (
        nvme({**ERASED, 'unit': 'h'}),
        'layout acme, reallocated: "unit": "h" is not a unit of this metric; correct it',
    ),
    'bytes of two fields': (
        nvme(ERASED, {'metric': 'pending', 'offset': 7, 'length': 1}),
        'layout acme, pending: byte 7 is also part of reallocated; correct one of the two fields',
    ),
    'logs of another kind': (
        nvme(ERASED, kind='ssd'),
        'ACME N1, logs: only NVMe drives have these logs; set "kind": "nvme" or remove "logs"',
    ),
    'order of bytes': (
        nvme({**ERASED, 'order': 'big'}),
        'acme.json: sample 5, ACME N1-960: "expect" has reallocated 5, but NVMe log 0xCA gives null '
        '(8.38861e+07 is not a plausible value); correct the wrong value',
    ),
    'two logs': (
        nvme(ERASED, logs={'0xCA': 'acme', '0xC0': 'acme'}),
        'ACME N1, logs: smartctl prints one page per call; name only the page with the most metrics',
    ),
    'logs of a generic entry': (
        nvme(ERASED, generic=True),
        'ACME N1, logs: a generic entry matches drives whose logs are not known; remove "logs"',
    ),
    # metrics
    'standard metric missing': (
        without('metrics', 'pending'),
        'metrics: pending is missing, but standard logs report it; add it',
    ),
    'verdict with the wrong direction': (
        put('metrics', 'write_protect', 'worse', 'high'),
        'metric write_protect: a verdict is 0 for failed and 1 for passed, so lower is worse: set "worse" to "low"',
    ),
    # units
    'unit of another kind': (
        reading({'from': 'raw', 'unit': 'h'}, '241', 'host_written'),
        'ACME X1, attribute 241, host_written: "unit": "h" does not fit a metric that is an amount of data; write '
        'B, 512B, 16KiB, 1MiB, 16MiB, 32MiB, 1GiB, 1GB',
    ),
    'unit of a count': (
        put(
            'entries',
            Z,
            'attributes',
            '163',
            'readings',
            {'reallocated': {'from': 'raw', 'unit': '512B'}},
        ),
        'Controller Z, attribute 163, reallocated: "unit": "512B" does not fit a metric that is a count; leave it '
        'out or write logical sectors',
    ),
    'sectors of what is none': (
        put(
            'entries',
            Z,
            'attributes',
            '163',
            'readings',
            {'power_cycles': {'from': 'raw', 'unit': 'logical sectors'}},
        ),
        'Controller Z, attribute 163, power_cycles: "unit": "logical sectors" does not fit a metric that is a '
        'count; leave it out',
    ),
    # formulas against valid ranges
    'no valid range': (
        reading({'from': '100 - value'}),
        'ACME X1, attribute 233, endurance_used: "from": "100 - value" turns a raw '
        'value that means "not set" into a number; to reject that number, write "valid": [0, 99]',
    ),
    'garbage becomes a percentage': (
        reading({'from': 'raw'}),
        'ACME X1, attribute 233, endurance_used: the second number of "valid" must be at most 255 (at most 999 '
        'if "ceiling" is 255); a higher one could accept numbers that are not percentages',
    ),
    'spare turned round': (
        reading({'from': '100 - value', 'valid': [0, 99]}, metric='spare_available'),
        'ACME X1, attribute 233, spare_available: "from": "100 - value" gives how much is used, '
        'but spare_available is how much is left; write "from": "value"',
    ),
    'ceiling never reached': (
        reading(
            {'from': 'raw byte 2', 'unit': 'min', 'ceiling': 65535},
            '175',
            'capacitor_test_age',
        ),
        'ACME X1, attribute 175, capacitor_test_age: "ceiling": 65535 is never reached: raw byte 2 is at most '
        '255',
    ),
    # verdicts
    'verdict without states': (
        reading({'from': 'value'}, '175', 'power_loss_protection'),
        'ACME X1, attribute 175, power_loss_protection: power_loss_protection is a status; add "states", for '
        'example {"100": "passed", "0-10": "failed"}',
    ),
    'state turned round': (
        reading(
            {'from': 'value', 'states': {'10-0': 'failed'}},
            '175',
            'power_loss_protection',
        ),
        'ACME X1, attribute 175, power_loss_protection: "states": the range 10-0 is reversed; '
        'write the smaller number first',
    ),
    # patterns
    'too few literals': (
        of_x1('models', ['ACME X1-[0-9]{3}', 'ACM[A-Z]+']),
        'ACME X1: models "ACM[A-Z]+" is too general, because it has only 3 literal characters; write '
        'at least 4, or add "first" or "only" to the entry',
    ),
    'blank at the end': (
        of_x1('models', ['ACME X1-[0-9]{3}', 'ACME X1-240 ']),
        'ACME X1: models "ACME X1-240 " has leading, trailing or double spaces, '
        'but the plugin removes such spaces from each model that it compares; remove them here, too',
    ),
    'catastrophic firmware': (
        put('advisories', 0, 'firmware', '(?:(?:1?){1001}){1000}'),
        'advisory acme-x1-stops: firmware "(?:(?:1?){1001}){1000}" repeats a part too often; use smaller '
        'repeat counts, such as {1,9}',
    ),
    'pattern without a sample': (
        of_x1('models', ['ACME X1-[0-9]{3}', 'ACME Y9-.*']),
        'ACME X1: the pattern "ACME Y9-.*" in "models" matches neither a sample nor a known model; add a sample or '
        'correct the pattern',
    ),
    # entries
    'family twice': (
        put('entries', X2, 'family', 'ACME X1'),
        'ACME X1: 2 of the entries have this family; give each its own',
    ),
    'advisory twice': (
        lambda data, _: data['advisories'].append(data['advisories'][0]),
        'acme-x1-stops: 2 of the advisories have this id; give each its own',
    ),
    'generic without a guard': (
        lambda data, _: (
            data['entries'][Z].pop('first'),
            data['entries'][Z].update(models=['NONAME']),
        ),
        'Controller Z: a generic entry needs one of has, lacks, first, only, kind; otherwise, it matches every drive',
    ),
    'generic fallback': (
        put('entries', FALLBACK, 'generic', True),
        'Unknown solid state drive: "generic" and "fallback" exclude each other; keep one',
    ),
    'trap hides a reading': (
        put(
            'entries',
            X1,
            'attributes',
            '245',
            'readings',
            {'endurance_used': {'from': 'raw', 'valid': [0, 254]}},
        ),
        'ACME X1, attribute 245, endurance_used: this attribute is misleading, and reading it may override '
        'a good value of endurance_used; remove "endurance_used" from its "readings"',
    ),
    'one of two formulas reads a trap': (
        reading(
            [
                {'from': '100 - value', 'valid': [0, 99]},
                {'from': 'raw of 245', 'valid': [0, 254]},
            ]
        ),
        'ACME X1, attribute 233, endurance_used: this reads attribute 245, which is marked as misleading; read '
        'another attribute',
    ),
    'threshold of no attribute': (
        of_x1('ignore_thresholds', [246]),
        'ACME X1, ignore_thresholds: the entry has no attribute 246; add the attribute, or '
        'remove its number here',
    ),
    'endurance and none': (
        of_x1('no_endurance', 'stuck at 100'),
        'ACME X1, attribute 233, endurance_used: contradicts "no_endurance" of the entry; remove '
        'one of the two',
    ),
    'advisory concerns the mended': (
        put('advisories', 0, 'firmware', '1\\..'),
        'advisory acme-x1-stops: firmware: 1.1 is listed as fixed, but the pattern of affected revisions '
        'matches it; exclude 1.1',
    ),
    'advisory after fifteen years': (
        put('advisories', 0, 'hour', 15 * 8766),
        'advisory 1, acme-x1-stops: hour 131490 is too large; write 131072 or less',
    ),
    'advisory by no metric': (
        put('advisories', 0, 'too_late', ['media_error']),
        'advisory acme-x1-stops: "too_late": media_error is not a metric',
    ),
    # entries against each other
    'claimed twice': (
        also(family='ACME all', models=['ACME X[12]-.*']),
        'ACME X1-240 is claimed by two entries, ACME all and ACME X1; narrow one pattern',
    ),
    'same pattern': (
        also(family='ACME X1 again', models=['ACME X1-[0-9]{3}']),
        'ACME X1-240 is claimed by two entries, ACME X1 and ACME X1 again; narrow one pattern',
    ),
    'no sample': (
        also(family='ACME X3', kind='hdd'),
        'ACME X3: this entry has no sample; add one to tests/samples, or to "samples" in your own file',
    ),
    'samples within': (
        lambda data, proof: data.update(samples=proof[:1]),
        '"samples" would be loaded by every check; move them to tests/samples',
    ),
    # samples
    'sample of nobody': (
        sample(X1, 'family', 'ACME X11'),
        f'{SAMPLE_1}no entry is called ACME X11; did you mean ACME X1?',
    ),
    'sample against two conditions': (
        lambda data, proof: (
            data['entries'][X1].update(kind='hdd'),
            proof[X1].update(model='WHO', kind='ssd'),
        ),
        'acme.json: sample 1, WHO: the entry ACME X1 does not match this sample, because of "models" '
        'and "kind"; correct the entry or the sample',
    ),
    'sample of another entry': (
        sample(X1, 'family', 'ACME X2'),
        f'{SAMPLE_1}the entry ACME X2 does not match this sample, because of "models"; correct the entry or '
        'the sample',
    ),
    'samples of another entry': (
        lambda data, proof: (
            data['entries'][X1].update(models=['ACME X[12]-.*'], kind='ssd'),
            proof.append(proof[1]),
        ),
        'acme.json: sample 2, ACME X2-480: this sample belongs to the entry ACME X2, but the entry ACME X1 in '
        'attributes.json takes precedence; narrow one of the two',
    ),
    'sample that nobody claims': (
        lambda data, proof: proof[3].update(kind='hdd'),
        'acme.json: sample 4, WHO: the entry Unknown solid state drive does not match this sample, '
        'because of "kind"; correct the entry or the sample',
    ),
    'expects another number': (
        expecting('endurance_used', 77),
        f'{SAMPLE_1}"expect" has endurance_used 77, but attribute 233 gives 78 %; correct the wrong value',
    ),
    'expects what is unknown': (
        sample(X2, 'expect', {'endurance_used': 300}),
        'acme.json: sample 2, ACME X2-480: "expect" has endurance_used 300, but attribute 202 gives null (300 is '
        'outside its valid range); correct the wrong value',
    ),
    'expects nothing of what is unknown': (
        sample(X2, 'expect', {}),
        'acme.json: sample 2, ACME X2-480: attribute 202 also gives endurance_used null (300 is outside its '
        'valid range); if this value is right, add "endurance_used": null to "expect"',
    ),
    'expects too much': (
        expecting('temperature', 30),
        f'{SAMPLE_1}"expect" has temperature 30, but the lines of the sample do not give this metric',
    ),
    'expects too little': (
        not_expecting('capacitor_test_age'),
        f'{SAMPLE_1}attribute 175 also gives capacitor_test_age 354360 s; if this value is right, add '
        '"capacitor_test_age": 354360 to "expect"',
    ),
    'line that is no row': (
        sample(X2, 'lines', ['Serial Number: none']),
        'acme.json: sample 2, ACME X2-480: "Serial Number: none" is not a row of an attribute table; paste '
        'one from smartctl -A or -x',
    ),
    'sample without origin': (
        lambda _, proof: proof[X1].pop('origin'),
        'acme.json: sample 1, ACME X1: origin is missing; write "captured" or "composed"',
    ),
    # what the drive itself says
    'endurance turned round': (
        sample(X1, 'stated', {'endurance_used': 22}),
        f'{SAMPLE_1}attribute 233 gives endurance_used 78 %, but the drive itself reports 22; '
        f'{AS_STATED}',
    ),
}


@pytest.mark.parametrize('mistake', MISTAKES)
def test_a_planted_mistake_is_named(checkout, mistake):
    """The sentence says where, what and what next; the tired contributor needs nothing else."""
    change, sentence = MISTAKES[mistake]

    prefix = '' if sentence.startswith('acme.json: ') else FILE
    assert f'{prefix}{sentence}' in problems_after(checkout, change)


def test_a_log_with_a_layout_has_no_problems(checkout):
    """A sample proves the number; one without a page has none."""
    assert problems_after(checkout, nvme({**ERASED, 'unit': 'logical sectors'})) == []


def test_the_layout_is_part_of_the_proof(checkout):
    """Two contributors must not reformat each other's lines."""
    (checkout.folder / 'attributes.json').write_text(json.dumps(database()))

    [problem] = problems_of([checkout.path])
    assert problem.startswith(f'{FILE}the layout ') and problem.endswith(
        ' validate --format'
    )


# --- what is right although it looks like a mistake --------------------------------------

RIGHT = {
    'rating that everybody can look up': rated(),
    'rating made of drive writes per day': rated(
        bytes=131_400 * 10**9,
        drive_writes={'per_day': 0.3, 'years': 5, 'capacity': 240 * 10**9},
    ),
    'measured source': of_x1(
        'source',
        'measured on linuxhw/EnterpriseDrive, 85 of 85 drives; 232 of 3 is odd',
    ),
    'two sources': of_x1('source', 'acme-manual, section 2; measured on 5 drives'),
    'document cited as a measurement': lambda data, _: (
        data['documents'].update(
            {'linuxhw-enterprisedrive': {'title': 'EnterpriseDrive'}}
        ),
        data['entries'][X2].update(
            source='measured on linuxhw/EnterpriseDrive, 8 of 8'
        ),
    ),
    'null of a set': lambda data, proof: (
        data['entries'][X1]['attributes'].update({'9': None}),
        proof[X1]['expect'].pop('power_on_time'),
    ),
    'trap of its own metric': put(
        'entries', X1, 'attributes', '245', 'readings', {'pending': {'from': 'raw'}}
    ),
    'sentinel in place of a range': reading(
        {'from': '100 - value', 'valid': [0, 100], 'not': [100]}
    ),
    'advisory without an hour': without('advisories', 0, 'hour'),
    'advisory in the last hour': put('advisories', 0, 'hour', 131072),
    'a rounded number': expecting('host_written', 33554432000 * 1.00005),
    'hours of another month': sample(X1, 'stated', {'power_on_time': 3_700_000}),
    'ignored threshold of an attribute': of_x1('ignore_thresholds', [245, 9]),
}


@pytest.mark.parametrize('change', RIGHT)
def test_what_is_right_is_not_called_wrong(checkout, change):
    """A rule that cries wolf is switched off."""
    assert problems_after(checkout, RIGHT[change]) == []


def excluded(row):
    """Return a change that lets an entry say no_endurance, with this in the place of its
    reading.
    """
    return lambda data, _: (
        data['entries'][X1].update(no_endurance='stuck at 100'),
        data['entries'][X1]['attributes']['233'].update(row),
    )


NOT_SAID = {
    'generic for a kind': (
        also(family='Any', generic=True, kind='hdd'),
        'a generic entry needs',
    ),
    'short pattern beside all attributes': (
        also(family='ACME A', models=['AC.*'], only=[1, 5]),
        'literal characters',
    ),
    'short pattern beside first attributes': (
        also(family='ACME A', models=['AC.*'], first=[1, 5]),
        'literal characters',
    ),
    'a trap, and no endurance': (
        excluded({'trap': True}),
        'the entry has "no_endurance"',
    ),
    'a number, and no endurance': (
        excluded({'readings': {'pending': {'from': 'raw'}}}),
        'pending: the entry has "no_endurance"',
    ),
    'a sample that two entries claim': (
        lambda data, proof: (
            proof[X1]['expect'].update(endurance_used=1),
            data['entries'].append(
                {
                    'family': 'ZZZ',
                    'models': ['ACME X1-.*'],
                    'source': 'measured on 9 drives',
                }
            ),
        ),
        '"expect" has endurance_used',
    ),
}


@pytest.mark.parametrize('case', NOT_SAID)
def test_what_is_right_is_not_named_among_what_is_wrong(checkout, case):
    change, words = NOT_SAID[case]

    assert [
        problem for problem in problems_after(checkout, change) if words in problem
    ] == []


@pytest.mark.parametrize(
    ('formula', 'lowest', 'highest'),
    [
        ('value', 0, 255),
        ('100 - value', -155, 100),
        ('200 - value / 2', 72.5, 200),
        ('raw byte 2', 0, 255),
        ('raw bytes 5-4', 0, 65535),
        ('raw', 0, 2**48 - 1),
        ('bits of raw', 0, 48),
        ('value + raw byte 1', 0, 510),
        ('raw / 10', 0, (2**48 - 1) / 10),
    ],
)
def test_the_bounds_of_a_formula_are_those_of_its_operands(formula, lowest, highest):
    """A valid range or a state beyond them would never be met."""
    assert reading_rules.bounds(decode.parse(formula)) == (lowest, highest)


# --- patterns for models ---------------------------------------------------------------------


BLANKS = (
    'has leading, trailing or double spaces, but the plugin removes such spaces from each model that it compares; '
    'remove them here, too'
)
STAR = 'has * after a character, so it matches repeats of that character; for any text, write .*'


PATTERNS = [
    ('ACME X1[0-9]{3}.*', []),
    ('(?:ACME|ACNE) X1', []),
    ('ACME X1(?:-[0-9]{2}){0,3}', []),
    ('ACME ', [BLANKS]),
    ('ACME  X1', [BLANKS]),
    ('ACME*', [STAR]),
    (r'ACME\d*', []),
    ('ACME[0-9]*', []),
    (' ACM*', [BLANKS, STAR]),
    (
        'ACM',
        [
            'is too general, because it has only 3 literal characters; write at least 4, or add "first" '
            'or "only" to the entry'
        ],
    ),
]


@pytest.mark.parametrize(('pattern', 'problems'), PATTERNS)
def test_the_problems_of_a_pattern_are_said(pattern, problems):
    assert list(entry_rules.pattern_problems(pattern, may_be_general=False)) == problems
    assert (
        problems or list(entry_rules.pattern_problems('ACM', may_be_general=True)) == []
    )


@pytest.mark.parametrize(
    ('pattern', 'literals'),
    [
        ('ACME X1', 7),
        ('ACME?', 3),
        ('ACME*', 3),
        ('ACME+', 4),
        ('[ABC]X[^]]', 1),
        (r'\d\.\w', 1),
        ('.^$', 0),
        ('(?:ACME|ACNE) X1', 11),
        (r'A\|B', 3),
        ('A{2,4}', 1),
        (r'\(S[0-9]{2}\) .*', 4),
    ],
)
def test_literal_characters_of_a_pattern_are_counted(pattern, literals):
    assert entry_rules.literal_characters(pattern) == literals


# --- files of a site -----------------------------------------------------------------------


@pytest.fixture
def shipped(checkout, monkeypatch):
    """The small database in the place of the shipped one."""
    (checkout.folder / 'thresholds').mkdir(exist_ok=True)
    (checkout.folder / 'thresholds/default.json').write_text('{"metrics": {}}')
    monkeypatch.setattr(shipped_data, 'path', lambda name: str(checkout.folder / name))
    return checkout


LOCAL = {
    'entries': [
        {
            'family': 'ACME Y5',
            'models': ['ACME Y5-.*'],
            'source': 'measured on my drive',
        }
    ],
    'samples': [
        {
            'family': 'ACME Y5',
            'model': 'ACME Y5-1',
            'origin': 'captured',
            'lines': [' 12 Power_Cycle_Count -O--CK   100   100   000    -    7'],
            'expect': {'power_cycles': 7},
        }
    ],
}


def local(tmp_path, data):
    path = tmp_path / 'acme-y5.json'
    path.write_text(json.dumps(data))
    return str(path)


def test_a_file_of_a_site_is_validated_on_top_of_the_shipped_one(shipped, tmp_path):
    """Sets and metrics come from there; samples may stand in the file itself; no layout is asked
    for.
    """
    assert problems_of([local(tmp_path, LOCAL)]) == []


def test_mistakes_of_a_file_of_a_site_are_named_with_its_name(shipped, tmp_path):
    """The contributor has written this one, not the shipped one."""
    data = copy.deepcopy(LOCAL)
    data['entries'][0]['models'] = ['ACME .*']
    data['samples'][0]['expect'] = {}

    problems = problems_of([local(tmp_path, data)])

    assert [problem.partition(': ')[0] for problem in problems] == [
        'acme-y5.json',
        'acme.json',
        'acme.json',
    ]
    assert all(
        'ACME Y5 in acme-y5.json takes precedence' in problem
        for problem in problems[1:]
    )


STATED = {'endurance_used': 78, 'host_written': 33_000_000_000}


@pytest.mark.parametrize(
    'stated', [STATED, {**STATED, 'endurance_used': 80}, {'temperature': 40}]
)
def test_a_reading_near_what_the_drive_states_is_right(checkout, stated):
    """Vendors round, and the drive counts on between its log and its attributes."""
    assert problems_after(checkout, sample(X1, 'stated', stated)) == []


@pytest.mark.parametrize(
    ('written', 'is_contradiction'),
    [(99 * 240 * 10**9, True), (100 * 240 * 10**9, False)],
)
def test_a_stated_zero_demands_nothing_of_a_drive_that_was_written_many_times_over(
    checkout, written, is_contradiction
):
    """draft calls it no witness; who writes a sample by hand is not pushed towards a dead
    attribute either.
    """

    def change(data, proof):
        del (
            data['entries'][X1]['attributes']['241'],
            proof[X1]['expect']['host_written'],
        )
        proof[X1].update(
            capacity=240 * 10**9, stated={'endurance_used': 0, 'host_written': written}
        )

    assert (
        any(
            'itself reports 0' in problem
            for problem in problems_after(checkout, change)
        )
        is is_contradiction
    )


@pytest.mark.parametrize(('other', 'is_stuck'), [('100', True), ('098', False)])
def test_a_figure_that_never_moved_on_a_drive_that_was_written_many_times_over_is_named(
    checkout, other, is_stuck
):
    """0 % used, the drive states 0 %, and both are constants; one sample on which it has moved
    is enough.
    """

    def change(data, proof):
        fresh = copy.deepcopy(proof[X1])
        for each, value in ((proof[X1], '100'), (fresh, other)):
            each['lines'] = [
                re.sub('022   022', f'{value}   {value}', line)
                for line in each['lines']
            ]
            each['expect']['endurance_used'] = 100 - int(value)
            each.update(capacity=10**6, stated={'endurance_used': 0})
        proof.append({**fresh, 'capacity': 10**15})
        proof[X2].update(
            lines=[line.replace('300', '5') for line in proof[X2]['lines']],
            expect={'endurance_used': 5},
        )

    problems = problems_after(checkout, change)

    assert any('stuck at 0' in problem for problem in problems) is is_stuck


def test_a_statistic_that_the_entry_distrusts_contradicts_nothing(checkout):
    """Some firmware states a constant."""

    def change(data, proof):
        data['entries'][X1]['untrusted_statistics'] = ['endurance_used']
        proof[X1]['stated'] = {'endurance_used': 0}

    assert problems_after(checkout, change) == []


def without_power_cycles():
    data = copy.deepcopy(LOCAL)
    data['entries'][0]['uses_common'] = False
    data['samples'][0]['expect'] = {}
    return data


SILENCED = (
    'acme-y5.json: sample 1, ACME Y5-1: the entry default has a reading that this entry omits: power_cycles 7 from '
    'attribute 12; either add the reading here, or extend "uses" with a set that contains it, or explain in a '
    '"comment" of the attribute why it is omitted'
)


@pytest.mark.parametrize('attributes', [{}, {'12': {'name': 'Power_Cycle_Count'}}])
def test_what_an_addition_silences_is_named(shipped, tmp_path, attributes):
    """It replaces the entry that spoke before wholly: pending sectors would be gone without a
    word.
    """
    data = without_power_cycles()
    data['entries'][0]['attributes'] = attributes

    assert problems_of([local(tmp_path, data)]) == [SILENCED]


@pytest.mark.parametrize(
    'row',
    [
        None,
        {'name': 'Power_Cycle_Count', 'comment': 'Counts something else.'},
        {'name': 'Power_Cycle_Count', 'trap': True},
    ],
)
def test_what_an_addition_silences_with_a_reason_is_right(shipped, tmp_path, row):
    """The generic entry was wrong about these drives."""
    data = without_power_cycles()
    data['entries'][0].update({'uses_common': row is None}, attributes={'12': row})

    assert problems_of([local(tmp_path, data)]) == []


def test_an_addition_may_name_the_set_that_every_entry_uses(shipped, tmp_path):
    """Only the shipped file would hold it in each entry."""
    data = copy.deepcopy(LOCAL)
    data['entries'][0]['uses'] = ['ata-common']

    assert problems_of([local(tmp_path, data)]) == []


@pytest.mark.parametrize(
    'text', ['smartctl 7.3 2022-02-28 r5338\n', '{\n  "json_format_version": [1, 0]}']
)
def test_a_report_in_the_place_of_an_entry_is_recognized(shipped, tmp_path, text):
    """Both are files about the same drive."""
    path = tmp_path / 'my-drive.json'
    path.write_text(text)

    [problem] = problems_of([str(path)])
    assert problem.endswith(f'run: check_smart_attributes draft --report {path}')


# --- the command ---------------------------------------------------------------------------------


def run(*files, **options):
    """Return exit code and lines of the command."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        code = validate.main(files, **options)
    return code, output.getvalue().splitlines()


def test_a_pattern_that_takes_too_long_is_named(shipped, tmp_path, monkeypatch):
    """It meets the models of the samples."""
    monkeypatch.setattr(patterns, '_too_slow', {})
    alarm.obey()
    data = copy.deepcopy(LOCAL)
    data['samples'][0]['model'] = 'ACME Y5-' + '5' * 40
    data['entries'][0]['models'].append('ACME Y5-(5+)+X')

    code, lines = run(local(tmp_path, data))

    assert code == 1
    assert any('"ACME Y5-(5+)+X"' in line for line in lines)


def test_the_command_ends_with_a_summary(shipped):
    """What was validated, so that an empty output is not taken for success."""
    assert run() == (0, [NOTHING_WRONG])


def test_the_command_exits_with_1_when_there_are_problems(shipped, tmp_path):
    """Continuous integration stops there."""
    data = copy.deepcopy(LOCAL)
    del data['entries'][0]['source']
    data['documents'] = {'unused': {'title': 'Unused'}}

    code, lines = run(local(tmp_path, data))

    assert code == 1
    assert lines[-1].endswith(' 2 problems')
    assert len(lines) == 3


def test_an_installation_without_samples_and_models_is_validated(shipped):
    """Only a checkout has them."""
    os.rename(shipped.folder / 'tests', shipped.folder / 'elsewhere')

    assert run() == (0, ['attributes.json: 4 entries, 0 samples, no problem'])


# --- --format --------------------------------------------------------------------------------


def test_format_rewrites_a_file_in_the_usual_layout_and_keeps_its_mode(shipped):
    """The diff shows what was meant."""
    path = shipped.folder / 'attributes.json'
    path.write_text(json.dumps(database()))
    path.chmod(0o640)

    code, lines = run(formats=True)

    assert (code, lines) == (0, [f'{path}: rewritten', NOTHING_WRONG])
    assert path.read_text() == formatting.formatted(database())
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(shipped.folder)) == [
        'attributes.json',
        'tests',
        'thresholds',
    ]


def test_format_writes_nothing_where_nothing_changes(shipped):
    """Not even the time of the file."""
    os.utime(shipped.path, (1, 1))

    assert 'already' in run(formats=True)[1][0]
    assert os.stat(shipped.path).st_mtime == 1


def test_format_follows_a_link_and_keeps_it(shipped, tmp_path):
    """The link is the contributor's; the file behind it is rewritten."""
    (tmp_path / 'real.json').write_text(json.dumps(LOCAL))
    (tmp_path / 'link.json').symlink_to('real.json')

    run(str(tmp_path / 'link.json'), formats=True)

    assert (tmp_path / 'link.json').is_symlink()
    assert (tmp_path / 'real.json').read_text() == formatting.formatted(LOCAL)


def test_format_leaves_a_file_with_mistakes_alone(shipped, tmp_path):
    """A key that stands twice would be lost for good."""
    path = tmp_path / 'twice.json'
    path.write_text('{"entries": [], "entries": []}')

    assert run(str(path), formats=True)[0] == 1
    assert path.read_text() == '{"entries": [], "entries": []}'


# --- other kinds of files --------------------------------------------------------------------


def limits(tmp_path, data, folder='.'):
    path = tmp_path / folder / 'limits.json'
    path.parent.mkdir(exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return str(path)


def test_the_shipped_example_and_the_shipped_limits_are_clean():
    """Whoever copies them starts without a mistake."""
    code, [line] = run(str(ROOT / 'thresholds/example-site.json'))
    assert (code, '1 metric, 4 overrides' in line) == (0, True)
    assert run(str(ROOT / 'thresholds/default.json'))[0] == 0


LIMIT_MISTAKES = {
    'key': (
        {'metrics': {'temperature': {'warnin': '3'}}},
        'metric temperature: unknown key "warnin"; did you mean warning?',
        False,
    ),
    'range': (
        {'metrics': {'temperature': {'warning': '5 C'}}},
        'metrics, temperature, warning: "5 C" is not a Nagios range; ',
        True,
    ),
    'ended': (
        {
            'overrides': [
                {'for': {'serial': 'A'}, 'why': 'for a reason', 'until': '2020-01-31'}
            ]
        },
        'override for serial A: it ended on 2020-01-31 and has no effect; ',
        True,
    ),
    'contradiction': (
        {
            'overrides': [
                {
                    'for': {'serial': 'A'},
                    'why': 'for a reason',
                    'metrics': {'pending': {'warning': value}},
                }
                for value in ('1', '2')
            ]
        },
        'the overrides 1 and 2, for {"serial": "A"}, set different limits for pending; remove one of them',
        True,
    ),
}


@pytest.mark.parametrize('mistake', LIMIT_MISTAKES)
def test_a_mistake_in_limits_is_named(tmp_path, mistake):
    """The same sentences as in a check, before it."""
    data, sentence, is_whole = LIMIT_MISTAKES[mistake]

    code, lines = run(limits(tmp_path, data))

    assert (code, len(lines)) == (1, 2)
    assert lines[0].startswith(f'limits.json: {sentence}')
    assert ('fix this first' in lines[1]) is not is_whole
    assert 'limits' in lines[1].partition(':')[2]


FIRST = 'fix this first, then validate again to find further problems'


def test_what_is_no_json_is_taken_for_what_belongs_into_its_folder(tmp_path):
    """Nothing else tells."""
    for folder, kind in (('thresholds.d', 'limits'), ('attributes.d', 'entries')):
        code, lines = run(limits(tmp_path, '{', folder))
        assert (code, lines[-1]) == (
            1,
            f'limits.json: read as {kind}, 1 problem, {FIRST}',
        )


ONE_METRIC = 'limits.json: limits, 1 metric, 0 overrides, no problem'


def test_format_gives_limits_their_usual_layout(tmp_path):
    """As it does for entries."""
    path = limits(tmp_path, {'metrics': {'pending': {'critical': '2', 'warning': '1'}}})

    assert run(path, formats=True) == (
        0,
        [f'{path}: rewritten', ONE_METRIC],
    )
