"""The plugin's text, from values: what stands first, which sentences have a line, what -v adds."""

import pytest
from cases import case, cases
from shipped import DATABASE

from smart_attributes.model import (
    Device,
    Identity,
    Judgement,
    LastFinding,
    LastVerdict,
    Reading,
    Source,
    State,
    Verdict,
)
from smart_attributes.output import plugin
from smart_attributes.output.plugin import Coded, Face, Whole, coded

METRICS = DATABASE.metrics
OK, WARNING, CRITICAL, UNKNOWN = State


def drive(name, *readings, state=OK, notes=(), problem='', entry='ACME X1'):
    judgements = tuple(
        Judgement(
            Reading(metric, number, unit, Source('log')),
            state,
            '85',
            graphed=True,
            against='' if state is OK else 'above 85',
            remedy='order',
        )
        for metric, number, unit in readings
    )
    return Verdict(
        Device(f'/dev/{name}', name=name),
        Identity('ATA', 'ACME X1', '1', 'SERIAL1', rotation=0),
        state,
        judgements,
        notes,
        problem,
        entry=entry,
    )


WORN = drive('sdb', ('endurance_used', 86, '%'), state=WARNING, notes=('wears out',))
NEW = drive('sda', ('endurance_used', 3, '%'))
LINE_A = 'OK        sda  ACME X1  endurance_used 3 %  SERIAL1  firmware 1'
LINE_B = (
    'WARNING   sdb  ACME X1  endurance_used 86 %, warning above 85; [order] order a replacement  '
    'SERIAL1  firmware 1'
)


NOTHING = Whole()


def render(*verdicts, whole=NOTHING, transcript=(), **face):
    outcome = plugin.render(cases(verdicts), METRICS, Face(**face), whole, transcript)
    return outcome.text.splitlines(), outcome.state


def test_the_worst_drive_stands_first_and_the_values_last():
    lines, state = render(NEW, WORN)

    assert state is WARNING
    assert lines[0].startswith('SMART WARNING - sdb: ')
    assert lines[1:] == [
        LINE_B,
        LINE_A,
        "| 'sda_endurance_used'=3%;85;;0; 'sdb_endurance_used'=86%;85;;0;",
    ]


def test_a_run_without_drives_has_a_sentence_and_its_notes():
    whole = Whole(notes=('nothing found',), nobody=(OK, 'as expected'))

    assert render(whole=whole) == (
        ['SMART OK - as expected', 'note: nothing found'],
        OK,
    )
    assert render() == (['SMART UNKNOWN - no drives'], UNKNOWN)


@pytest.mark.parametrize(
    ('whole', 'state', 'first', 'rest'),
    [
        (
            Whole(failures=('sdc', 'sdd')),
            CRITICAL,
            'sdc; sdd; ',
            [],
        ),  # failures
        (
            Whole(faults=('a', 'b')),
            UNKNOWN,
            'a; ',
            ['UNKNOWN   (check)  a', 'UNKNOWN   (check)  b'],
        ),  # faults
        (
            Whole(failures=('sdc is gone',), faults=('a',)),
            CRITICAL,
            'sdc is gone; ',
            ['UNKNOWN   (check)  a'],
        ),  # both
        (
            Whole(demands=((WARNING, 'renew it'), (OK, 'fine'))),
            WARNING,
            'renew it; ',
            ['WARNING   (check)  renew it', 'OK        (check)  fine'],
        ),  # demands
        # demand of ok
        (Whole(demands=((OK, 'fine'),)), OK, '', ['OK        (check)  fine']),
    ],
)
def test_sentences_about_the_check_decide_its_state_and_have_lines(
    whole, state, first, rest
):
    lines, found = render(NEW, whole=whole)

    assert found is state
    told = first or 'most worn: '  # the most telling drive only where nothing is wrong
    assert lines[0].startswith(f'SMART {state.name} - {told}')
    assert ('most worn' in lines[0]) is (not first)
    assert lines[1:-1] == [*rest, LINE_A]


@pytest.mark.parametrize(
    'verbose, more',
    [
        (0, []),
        (1, ['  note: wears out', '  entry: ACME X1']),
        (2, ['  note: wears out', '  entry: ACME X1', None]),
    ],
)
def test_each_v_adds_lines_to_a_drive(verbose, more):
    lines = plugin.drive_lines(case(WORN), Face(verbose=verbose))

    assert lines[0] == LINE_B and len(lines) == 1 + len(more)
    assert [
        line for line, wanted in zip(lines[1:], more) if wanted not in (None, line)
    ] == []
    assert all('endurance_used' in line and line.startswith('  ') for line in lines[3:])


def test_a_drive_without_an_entry_says_none_and_hides_its_serial():
    lines = plugin.drive_lines(
        case(WORN._replace(entry=None), hide_serial=True), Face(verbose=1)
    )

    assert lines[-1] == '  entry: none' and 'SERIAL1' not in lines[0]


@pytest.mark.parametrize(
    'verbose, notes', [(0, ['note: remark']), (1, ['note: remark', 'note: detail'])]
)
def test_remarks_are_shown_always_and_notes_with_v(verbose, notes):
    lines, _ = render(
        NEW, whole=Whole(remarks=('remark',), notes=('detail',)), verbose=verbose
    )

    assert [line for line in lines if line.startswith('note: ')] == notes


def test_long_sentences_are_cut_at_500_characters():
    lines, _ = render(NEW, whole=Whole(remarks=('r' * 600,), faults=('f' * 600,)))
    notes = plugin.drive_lines(
        case(NEW._replace(notes=('n' * 600,), entry='e' * 200)), Face(verbose=1)
    )

    assert [len(line) for line in lines[1:4:2]] == [
        len('UNKNOWN   (check)  ') + 500,
        len('note: ') + 500,
    ]
    assert [len(line) for line in notes[1:]] == [
        len('  note: ') + 500,
        len('  entry: ') + 100,
    ]


def test_a_transcript_is_printed_before_the_values_and_nothing_is_left_out():
    lines, _ = render(
        NEW,
        *(drive(f'sd{number}', ('endurance_used', 1, '%')) for number in range(50)),
        transcript=['$ smartctl'],
        max_output=500,
    )

    assert lines[-2] == '$ smartctl' and lines[-1].startswith('| ') and len(lines) == 54


def test_a_long_name_gives_way_to_the_serial_number_and_further_findings_are_counted():
    """Parts are chosen; none is cut."""
    ten = [(f'metric_{number}', 90, '%') for number in range(10)]
    worst = drive('x' * 200, *ten, state=CRITICAL)
    others = [drive(f'sd{number}', state=OK) for number in range(23)]

    line = plugin.first_line(cases([worst, *others]), [])
    hidden = plugin.first_line(cases([worst], hide_serial=True), [])

    assert line == (
        'serial SERIAL1: metric_0 90 % (critical above 85): order a replacement; 9 more findings on '
        'it; 24 drives: 1 critical, 23 ok'
    )
    assert hidden.startswith('x' * 200) and '...' not in hidden


def test_a_first_line_has_the_command_of_a_self_test_if_there_is_room():
    """The line of the drive has it in any case."""
    lines = []
    for name in ('sda', 'x' * 80):
        verdict = drive(name, ('reported_uncorrect', 3, ''), state=WARNING)
        [alert] = verdict.judgements
        tested = alert._replace(remedy='watch', concern='data')
        lines.append(
            plugin.first_line(
                cases([verdict._replace(judgements=(tested,))], hide_serial=True),
                [],
            )
        )
    short, long = lines

    assert ' (smartctl -t long ' in short
    assert long.endswith(': run an extended self-test')


@pytest.mark.parametrize(('length', 'is_said'), [(20, True), (110, False)])
def test_what_a_missing_drive_had_reported_is_said_if_there_is_room(length, is_said):
    """The message about the missing drives comes first; the line of the drive has the finding."""
    finding = LastFinding(CRITICAL, 'smart_status', 'x', plain='health status FAILED')
    gone = drive('sdb', state=CRITICAL, problem='is missing')._replace(
        code='drive-missing', last=LastVerdict(0, (finding,))
    )

    message = Coded('drives-missing', 'm' * length)

    line = plugin.first_line(cases([gone]), [message])

    assert line.startswith(coded(message)) and len(line) <= 160
    assert ('sdb: health status FAILED when last read' in line) is is_said
    # another message says nothing of the drive
    other = plugin.first_line(cases([gone]), [Coded('history-damaged', 'm')])
    assert 'sdb is missing; health status FAILED when last read; look for' in other


@pytest.mark.parametrize(
    ('verdicts', 'messages', 'room', 'line'),
    [
        ([], ['x'], 0, 'x'),
        ([NEW], [], 0, 'most worn: sda endurance_used 3 %; 1 drive: 1 ok'),
        (
            [WORN],
            ['x'],
            0,
            'x; sdb: endurance_used 86 % (warning above 85): order a replacement; 1 drive: 1 warning',
        ),
        # a message about the check that leaves no room for the reason
        ([WORN], ['x' * 80], 0, f'{"x" * 80}; sdb: order a replacement'),
        # a message with more than what is wrong and what to do
        ([NEW], [f'x; y; {"z" * 160}'], 0, 'x; y; 1 drive: 1 ok'),
        ([drive('sda')], [], 0, '1 drive: 1 ok'),
        ([], ['x' * 30], 80, 20),
        ([NEW], [], 80, len('most worn: sda endurance_used 3 %; 1 drive: 1 ok')),
    ],
)
def test_the_first_line_has_up_to_three_parts(verdicts, messages, room, line):
    found = plugin.first_line(cases(verdicts), messages, room=room)

    assert (len(found) if isinstance(line, int) else found) == line


@pytest.mark.parametrize(
    'verdicts, words',
    [
        (
            [
                drive('sda', ('endurance_used', 3, '%')),
                drive('sdb', ('endurance_used', 9, '%')),
            ],
            'most worn: sdb endurance_used 9 %',
        ),
        (
            [drive('sda', ('endurance_used', 0, '%'), ('reallocated', 2, ''))],
            'most reallocated: sda reallocated 2',
        ),
        (
            [
                drive('sda', ('endurance_used', None, '%'), ('temperature', 31, 'C')),
                drive('sdb', ('temperature', 30, 'C')),
            ],
            'warmest: sda temperature 31 C',
        ),
        ([drive('sda', ('pending', 3, ''))], ''),
        ([], ''),
    ],
)
def test_where_all_is_well_the_number_that_tells_most_is_named(verdicts, words):
    assert plugin.most_telling(verdicts) == words


def test_a_reading_that_is_not_judged_tells_nothing():
    [one] = NEW.judgements
    shown = NEW._replace(
        judgements=(one._replace(reading=one.reading._replace(judged=False)),)
    )

    assert plugin.most_telling([shown]) == ''
