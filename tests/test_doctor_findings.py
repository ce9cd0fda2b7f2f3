"""What `doctor` found, as a screen and as JSON."""

import json
import string

import jsonschema
import pytest
from conftest import ROOT, run

from smart_attributes.output import codes, doctor_findings
from smart_attributes.output.doctor_findings import Examination, Finding, Paste

GOOD = Finding('a', 'smartctl', 'good', 'version 7.3')
BAD = Finding(
    'b-c',
    'sudo rule',
    'problem',
    'missing',
    'install it, as root',
    'check_smart_attributes sudoers',
)
OPEN = Finding('d', '/dev/sda', 'unchecked', 'could not be read', fields={'seconds': 3})


@pytest.mark.parametrize(
    'found, is_good',
    [((), True), ((GOOD,), True), ((GOOD, BAD), False), ((GOOD, OPEN), False)],
)
def test_an_examination_is_good_if_every_finding_is(found, is_good):
    assert Examination('db1', 'nagios', found).is_good is is_good


def test_the_screen_says_what_is_good_and_what_to_do():
    assert doctor_findings.as_text(
        Examination('db1', 'nagios', [GOOD, BAD, OPEN])
    ) == '\n'.join(
        [
            'db1, checked as nagios',
            'good   smartctl   version 7.3',
            'TO DO  sudo rule  missing',
            '       -> install it, as root:',
            '          check_smart_attributes sudoers',
            '-      /dev/sda   could not be read',
            '',
            '1 to do, 1 could not be checked yet: follow the steps from the top, then run doctor again.',
        ]
    )


@pytest.mark.parametrize(
    'found, last',
    [
        ([GOOD], 'No problems found.'),
        ([BAD, BAD], '2 to do: follow'),
        ([OPEN, GOOD], '1 could not be'),
    ],
)
def test_the_last_line_counts_what_is_left(found, last):
    lines = doctor_findings.as_text(Examination('db1', 'nagios', found)).splitlines()

    assert lines[-2] == '' and lines[-1].startswith(last)


def test_a_cure_without_a_command_ends_without_a_colon():
    text = doctor_findings.as_text(
        Examination('db1', 'nagios', [BAD._replace(command='')])
    )

    assert text.splitlines()[2].endswith(' as root')


def test_words_are_wrapped_at_80_columns():
    """Lines go on below the words."""
    text = doctor_findings.as_text(
        Examination('t', 'u', [GOOD._replace(message='abcd ' * 60)])
    )
    _, first, *rest, _, _ = text.splitlines()

    assert 74 < len(first) <= 79 and len(rest) >= 2
    assert all(line.startswith(' ' * 17 + 'abcd') for line in rest)


@pytest.mark.parametrize('subject, start', [('x' * 24, 33), ('x' * 30, 39)])
def test_a_long_subject_widens_the_column_up_to_24(subject, start):
    lines = doctor_findings.as_text(
        Examination('t', 'u', [GOOD, Finding('a', subject, 'good', 'words')])
    ).splitlines()

    assert lines[1].index('version') == 33
    assert lines[2].index('words') == start


def test_words_are_cut_after_600_characters():
    text = doctor_findings.as_text(
        Examination('t', 'u', [GOOD._replace(message='word ' * 200)])
    )

    assert 110 < text.count('word') <= 120


def test_lines_to_paste_stand_below_with_their_place():
    pasted = [Paste('nrpe', 'NRPE', 'a=1\nb=2'), Paste('x', 'sudo\x07ers', 'c\x1b[2J')]

    text = doctor_findings.as_text(Examination('db1', 'nagios', [GOOD], pasted))

    assert text.splitlines()[5:] == [
        '  NRPE:',
        '    a=1',
        '    b=2',
        '  sudo ers:',
        '    c',
    ]


def test_what_has_no_shape_is_not_shown():
    path = '/very-long ' * 12  # a command is pasted, and never broken
    finding = Finding('a', 's\x07', 'problem', 'w\x07w', 'c\x07c', f'x\x07y {path}/x')

    text = doctor_findings.as_text(Examination('d\x07b', 'nagios', [finding]))

    assert text.splitlines()[:4] == [
        'd b, checked as nagios',
        'TO DO  s   w w',
        '       -> c c:',
        f'          x y {path}/x',
    ]


def test_json_says_the_same():
    examination = Examination(
        'db1', 'nagios', [BAD, OPEN], [Paste('nrpe', 'NRPE', 'a=1')]
    )

    told = json.loads(doctor_findings.as_json(examination))
    findings = [
        {
            **each._asdict(),
            'remedy': each.remedy or None,
            'command': each.command or None,
        }
        for each in (BAD, OPEN)
    ]

    assert told == {
        'version': 2,
        'good': False,
        'host': 'db1',
        'user': 'nagios',
        'findings': findings,
        'paste': [{'daemon': 'nrpe', 'place': 'NRPE', 'text': 'a=1'}],
    }
    empty = doctor_findings.as_json(Examination('', '', ()))
    assert (
        empty.splitlines()[1] == ' "version": 2,' and json.loads(empty)['good'] is True
    )


# --- codes and the schema -------------------------------------------------------------------------

SCHEMA = json.loads((ROOT / 'smart_attributes/schema/doctor.schema.json').read_text())


def errors(text: str) -> list[str]:
    """Return what is wrong in a document."""
    return [
        error.message
        for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(json.loads(text))
    ]


def values(code: str) -> dict[str, object]:
    """Return a value for each field in the sentences of a code."""
    entry = codes.DOCTOR[code]
    return {
        field: 3 if spec else "it's"
        for text in (entry.meaning, entry.remedy, entry.command)
        for _, field, spec, _ in string.Formatter().parse(text)
        if field
    }


@pytest.mark.parametrize(
    'words',
    [('--nosudo',), ('-p', '/nowhere'), ('--no-such-option',), ('--report', '/tmp')],
    ids=' '.join,
)
def test_what_doctor_prints_fits_its_schema(words, tmp_path):
    """Also where it fails."""
    assert (
        errors(run('doctor', '--json', '--state-dir', str(tmp_path), *words).text) == []
    )


@pytest.mark.parametrize('code', codes.DOCTOR)
def test_the_sentences_of_a_code_are_filled_with_its_fields(code):
    """A command is quoted where it has a field from outside; a finding that is good asks for
    nothing.
    """
    finding = doctor_findings.found(code, **values(code))

    assert errors(doctor_findings.as_json(Examination('h', 'u', [finding]))) == []
    assert finding.message and finding.fields == values(code)
    assert not finding.message.endswith('.') and not finding.remedy.endswith('.')
    assert finding.state != 'good' or not finding.remedy + finding.command


def test_a_field_is_quoted_counted_or_measured_as_its_template_says():
    room, rule = (
        doctor_findings.found(code, **{**values(code), **fields})
        for code, fields in (
            ('history-disk-full', {'path': '/a b', 'room': 1500}),
            ('sudo-rule-sufficient', {'calls': 2}),
        )
    )

    assert room.message.startswith('/a b: only 1.5 kB free')
    assert room.command == 'du -xh "$(stat -c %m \'/a b\')" | sort -h | tail -20'
    assert rule.message.startswith('allows the 2 calls ')


@pytest.mark.parametrize(
    'code, remedy',
    [
        ('smartctl-not-installed', 'install smartmontools'),
        ('smartctl-not-usable', 'correct it'),
        ('usage-error', 'correct it'),
    ],
)
def test_the_sentence_of_an_error_keeps_its_next_step_unless_the_code_has_one(
    code, remedy
):
    finding = doctor_findings.said(
        code, 'it is wrong; correct it', 'smartctl', path='/x', install='apt install'
    )

    assert (finding.message, finding.remedy, finding.state) == (
        'it is wrong',
        remedy,
        'problem',
    )
