"""How numbers, readings and judgements are said to a person: one value each."""

import pytest

from smart_attributes import wording, words
from smart_attributes.constants import LONGEST_STATEMENT
from smart_attributes.errors import Coded
from smart_attributes.model import (
    Device,
    Forecast,
    Identity,
    Judgement,
    Reading,
    Source,
    State,
    Verdict,
)
from smart_attributes.work import alerts, statements

SDA = Device('/dev/sda', name='sda')


# --- sentences of ours with strings from outside -----------------------------------------


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('a=b', 'a=b'),
        ("it's", "it's"),
        ('a|b', 'a b'),
        ('a\nb\x1b[1mc', 'a bc'),
        ('  two   blanks ', 'two blanks'),
        ('ä€', 'ä€'),
    ],
)
def test_a_sentence_keeps_its_words_and_lets_no_bar_pass(text, said):
    """A bar begins perfdata: all behind it would be parsed as numbers."""
    assert words.sentence(text, 80) == said


def test_a_sentence_is_cut_at_its_limit_and_says_so():
    """A drive's own words may be endless."""
    assert [words.sentence('word ' * 30, limit) for limit in (149, 13)] == [
        ('word ' * 30).rstrip(),
        'word word...',
    ]


@pytest.mark.parametrize('text', ['plain', 'a.b', '(a|b)*', '[^x]{2}', 'A\\B', '$^?+'])
def test_a_text_becomes_the_expression_that_matches_it_alone(text):
    """The sudoers rule and a drafted entry take names literally."""
    import re

    assert re.fullmatch(words.literally(text), text)
    assert not re.fullmatch(words.literally(text), text.replace('.', 'x') + 'x')


# --- numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('number', 'said'),
    [
        (97.0, '97'),
        (0, '0'),
        (0.025, '0.025'),
        (1.999, '2'),
        (-0.5, '-0.5'),
        (-0.0000001, '0'),
        (0.1234567, '0.123457'),
        (-1e-300, '0'),
    ],
)
def test_a_number_is_said_without_exponent_and_without_empty_decimals(number, said):
    """It is read at three in the morning."""
    assert wording.plain(number) == said


@pytest.mark.parametrize(
    ('number', 'unit', 'said'),
    [
        (None, '%', 'unknown'),
        (97, '%', '97 %'),
        (3599, 's', '3599 s'),
        (3600, 's', '1 h'),
        (3900, 's', '1.1 h'),
        (0, 'B', '0 B'),
        (999.5, 'B', '1 kB'),
        (12.3e12, 'B', '12.3 TB'),
        (2.5e21, 'B', '2.5e+03 EB'),
        (999.7e9, 'B', '1 TB'),
        (999.4e9, 'B', '999 GB'),
    ],
)
def test_an_amount_is_said_in_the_unit_of_people(number, unit, said):
    """Seconds as hours, bytes as terabytes; an unknown number never as 0."""
    assert wording.amount(number, unit) == said


@pytest.mark.parametrize(
    ('counted', 'said'),
    [
        ((0, 'drive'), '0 drives'),
        ((1, 'drive'), '1 drive'),
        ((2, 'drive'), '2 drives'),
        ((0, 'entry', 'entries'), '0 entries'),
        ((1, 'entry', 'entries'), '1 entry'),
        ((2, 'entry', 'entries'), '2 entries'),
    ],
)
def test_a_count_is_said_with_its_noun(counted, said):
    assert wording.plural(*counted) == said


@pytest.mark.parametrize(
    ('hours', 'said'),
    [
        (0, '0 h ago'),
        (47.4, '47 h ago'),
        (48, '2 days ago'),
        (71, '3 days ago'),
        (365 * 24, '365 days ago'),
        (365.25 * 24, '1.0 years ago'),
        (3.2 * 8766, '3.2 years ago'),
    ],
)
def test_what_is_over_is_said_in_the_unit_that_a_person_would_take(hours, said):
    """Nobody counts years in hours."""
    assert wording.since(hours * 3600) == said


# --- readings -------------------------------------------------------------------------------


def reading(number=97, metric='endurance_used', unit='%', **more):
    return Reading(metric, number, unit, Source(attribute=233), **more)


def time_left(left, earliest, latest, is_estimate):
    """Return what is foreseen; all in days."""
    told = Forecast(*(days * 86_400 for days in (left, earliest, latest)), is_estimate)
    return Reading(
        'endurance_time_left', round(told.left), 's', Source('history'), forecast=told
    )


@pytest.mark.parametrize(
    ('of', 'said'),
    [
        (reading(), 'endurance_used 97 %'),
        (reading(255, at_ceiling=True), 'endurance_used 255 % or more'),
        (
            reading(None, unknown='255 means "no value"'),
            'endurance_used unknown (255 means "no value")',
        ),
        (reading(1, 'pending', '', logical_sectors=8), 'pending 1 (8 logical sectors)'),
        (reading(1, 'pending', '', logical_sectors=1), 'pending 1 (1 logical sector)'),
        (
            reading(2, 'pending', '', logical_sectors=0, at_ceiling=True),
            'pending 2 (0 logical sectors) or more',
        ),
        (
            reading(0, 'self_test', '', verdict='Short: passed', state=State.OK),
            'self_test: Short: passed',
        ),
        (
            reading(0, 'unknown_model', '', verdict='no entry for WHO', state=State.OK),
            'no entry for WHO',
        ),
        (
            reading(7, 'crc_errors', '', quiet=40 * 86_400),
            'crc_errors 7, newest 40 days ago',
        ),
        (
            reading(7, 'crc_errors', '', quiet=40 * 86_400, quiet_is_bound=True),
            'crc_errors 7, newest more than 40 days ago',
        ),
        (
            time_left(400.4, 160, 1000, True),
            'endurance_time_left 400 days (160 to 1000, estimated from use and age)',
        ),
        (
            time_left(400, 160, 1000, False),
            'endurance_time_left 400 days (160 to 1000)',
        ),
        (time_left(0.1, 0, 1, False), 'endurance_time_left 0 days (0 to 1)'),
        (time_left(1 / 86_400, 0, 1, False), 'endurance_time_left 0 days (0 to 1)'),
        (time_left(0, 0, 0, False), 'endurance_time_left 0 days'),
        (
            reading(
                0,
                'vendor_threshold',
                '',
                verdict='attribute 5 is at 1',
                state=State.WARNING,
            ),
            'attribute 5 is at 1',
        ),
    ],
)
def test_a_reading_is_a_statement(of, said):
    """A number with its metric, a verdict with its words; some say it all themselves."""
    assert wording.statement(of) == said


def judgement(state=State.OK, **more):
    return Judgement(more.pop('of', reading()), state, **more)


CRITICAL = judgement(
    State.CRITICAL, warning='85', critical='95', against='above 95', origin='site.json'
)
FAILED = judgement(
    State.CRITICAL,
    of=reading(0, 'smart_status', '', verdict='FAILED', state=State.CRITICAL),
)
WARM = judgement(State.WARNING, of=reading(61, 'temperature', 'C'), against='above 60')
GREW = 'crc_errors grew by 14 in 24 h (212 to 226): check cable and backplane'
GROWN = judgement(
    State.WARNING,
    of=reading(226, 'crc_errors', ''),
    against='above 200',
    growth=GREW,
    growth_against='above 0 in 24 h',
)


@pytest.mark.parametrize(
    ('line', 'of', 'said'),
    [
        (statements.finding, CRITICAL, 'endurance_used 97 %, critical above 95'),
        (statements.finding, WARM, 'temperature 61 C, warning above 60'),
        (statements.finding, FAILED, 'smart_status: FAILED'),
        (statements.finding, GROWN, f'{GREW}, warning above 0 in 24 h'),
        (
            statements.finding,
            GROWN._replace(growth_against=''),
            f'crc_errors 226, warning above 200; {GREW}',
        ),
        (
            statements.finding,
            GROWN._replace(growth_against='', against='', state=State.OK),
            f'crc_errors 226; {GREW}',
        ),
        (statements.finding, judgement(of=reading(3)), 'endurance_used 3 %'),
        (
            statements.reading_line,
            CRITICAL,
            'endurance_used 97 %, attribute 233, warning 85, critical 95, limit from site.json',
        ),
        (
            statements.reading_line,
            judgement(warning='85', origin='site.json'),
            'endurance_used 97 %, attribute 233, warning 85',
        ),
        (
            statements.reading_line,
            judgement(critical='95'),
            'endurance_used 97 %, attribute 233, critical 95',
        ),
        (
            statements.reading_line,
            judgement(of=reading(None, judged=False, unknown='no value')),
            'endurance_used unknown: no value, attribute 233, not judged',
        ),
    ],
)
def test_a_finding_names_its_limit_and_a_reading_all_that_led_to_it(line, of, said):
    """A verdict has no limit; -vv and explain tell source, limits and who set them."""
    assert line(of) == said


# --- drives ---------------------------------------------------------------------------------


def verdict(*judgements, state=State.CRITICAL, **more):
    return Verdict(SDA, Identity(), state, judgements, **more)


@pytest.mark.parametrize(
    ('judgements', 'said'),
    [
        ((CRITICAL, WARM), 'endurance_used 97 % (critical above 95)'),
        (
            (FAILED, CRITICAL, CRITICAL),
            'smart_status: FAILED, endurance_used 97 %',
        ),
        ((FAILED, WARM), 'smart_status: FAILED'),
        ((WARM, CRITICAL), 'endurance_used 97 % (critical above 95)'),
        ((CRITICAL, FAILED), 'endurance_used 97 % (critical above 95)'),
    ],
)
def test_the_headline_is_the_worst_thing_and_what_the_word_failed_comes_from(
    judgements, said
):
    """FAILED alone does not tell what to look at."""
    assert alerts.headline(verdict(*judgements)) == said


UNSAFE = judgement(
    State.CRITICAL,
    of=reading(0, 'media', '', verdict='read-only', state=State.CRITICAL),
)


@pytest.mark.parametrize(
    ('concerns', 'told'),
    [
        ('aab', 'endurance_used 97 %'),  # the next is the same
        ('abb', 'media: read-only'),  # both others
        ('abc', 'media: read-only'),  # all differ
        ('aaa', 'media: read-only'),  # all the same
    ],
)
def test_the_headline_prefers_a_finding_that_means_something_else_for_the_drive(
    concerns, told
):
    judgements = [
        each._replace(concern=concern)
        for each, concern in zip((FAILED, UNSAFE, CRITICAL), concerns)
    ]

    assert alerts.headline(verdict(*judgements)) == f'smart_status: FAILED, {told}'


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        (Coded('no-drives', 'no drives'), '[no-drives] no drives'),  # code
        (Coded('no-drives', ''), ''),  # no text
        (Coded('', 'nothing'), 'nothing'),  # empty code
        ('nothing', 'nothing'),  # no code
    ],
)
def test_a_sentence_is_printed_behind_its_code(text, said):
    assert words.coded(text) == said


@pytest.mark.parametrize(
    ('code', 'state', 'said'),
    [
        ('not-answering', State.UNKNOWN, '[not-answering] no answer'),  # fault
        ('not-answering', State.OK, 'no answer'),  # ok
        ('', State.UNKNOWN, 'no answer'),  # no code
    ],
)
def test_a_problem_has_its_code_only_where_it_is_a_fault(code, state, said):
    problem = statements.problem(verdict(state=state, problem='no answer', code=code))
    assert words.coded(problem) == said


def endless(metric, state=State.OK, **more):
    words = 'a|b=' + 'x' * 900
    return judgement(
        state, of=reading(0, metric, '', verdict=words, state=state), **more
    )


@pytest.mark.parametrize(
    'said',
    [
        statements.findings(verdict(problem='a|b=' + 'x' * 900)),
        statements.finding(endless('self_test', State.CRITICAL)),
        statements.findings(
            verdict(endless('self_test', acknowledged=True), state=State.OK)
        ),
        statements.findings(verdict(endless('unknown_model'), state=State.OK)),
        statements.reading_line(endless('self_test')).removesuffix(', attribute 233'),
    ],
)
def test_a_statement_is_of_bounded_length_and_has_no_bar(said):
    """Its words may be the drive's own."""
    assert len(said) == LONGEST_STATEMENT
    assert '|' not in said


ACCEPTED = judgement(of=reading(30, 'reallocated', ''), acknowledged=True)


PASSED = judgement(of=reading(1, 'smart_status', '', verdict='passed', state=State.OK))
UNTOLD = judgement(
    of=reading(None, 'smart_status', '', unknown='not reported', judged=False)
)
NO_ENTRY = judgement(
    of=reading(0, 'unknown_model', '', verdict='no entry for WHO', state=State.OK)
)
NOT_TELLING = [
    judgement(of=reading(9, judged=False)),
    judgement(of=reading(None, unknown='no value')),
    judgement(of=reading(9, 'power_cycles', '')),
]
TELLING = [
    judgement(of=reading(number, metric, unit))
    for metric, number, unit in (
        ('power_on_time', 7200, 's'),
        ('temperature', 35, 'C'),
        ('reallocated', 0, ''),
        ('endurance_used', 9, '%'),
    )
]


@pytest.mark.parametrize(
    ('judgements', 'said'),
    [
        (
            (CRITICAL, WARM, TELLING[1]),
            'endurance_used 97 %, critical above 95; temperature 61 C, warning above 60',
        ),
        (TELLING, 'endurance_used 9 %; reallocated 0; temperature 35 C'),
        ((NO_ENTRY, TELLING[3]), 'endurance_used 9 %; no entry for WHO'),
        (
            (*NOT_TELLING, PASSED),
            'health status: passed; the report contains nothing else',
        ),
        (NOT_TELLING, 'health status not reported'),
        ((UNTOLD, TELLING[3]), 'endurance_used 9 %; health status not reported'),
        (
            (judgement(of=reading(7200, 'hidden_power_on_time', 's')), TELLING[3]),
            'endurance_used 9 %; hidden_power_on_time 2 h',
        ),
        (
            (judgement(of=reading(None, unknown='implausible: 38 %', judged=False)),),
            'endurance_used unknown (implausible: 38 %)',
        ),
        ((ACCEPTED,), 'reallocated 30 (acknowledged)'),
        ((ACCEPTED, TELLING[3]), 'reallocated 30 (acknowledged); endurance_used 9 %'),
        (
            (ACCEPTED, WARM),
            'temperature 61 C, warning above 60; reallocated 30 (acknowledged)',
        ),
    ],
)
def test_the_findings_of_a_drive_in_words(judgements, said):
    """What is well is left out as soon as something is not; a healthy drive is told by its three
    most telling readings.
    """
    assert statements.findings(verdict(*judgements, state=State.OK)) == said


@pytest.mark.parametrize(
    ('identity', 'problem', 'said'),
    [
        (Identity(), '', ''),
        (Identity(protocol='NVMe'), '', 'nvme'),
        (Identity(protocol='SCSI'), '', 'sas'),
        (Identity(protocol='ATA'), '', 'ssd'),
        (Identity(protocol='ATA'), 'asleep', ''),
        (Identity(protocol='ATA', rotation=0), 'asleep', 'ssd'),
        (Identity(protocol='ATA', rotation=7200), 'asleep', 'hdd'),
    ],
)
def test_the_kind_of_a_drive_that_nobody_read_is_not_guessed(identity, problem, said):
    """A drive that does not tell its protocol, or sleeps, would be a solid state drive."""
    assert statements.kind(Verdict(SDA, identity, State.OK, problem=problem)) == said
