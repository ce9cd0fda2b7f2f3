"""`fleet` and other machines that send too much, too slowly or nonsense: a sentence in time, in
bounded memory, and the drives of all others.
"""

import contextlib
import json
import os
import time
from typing import Any, Callable

import pytest
from conftest import run, texts
from fleet_bed import Cost, measured
from test_fleet_answers import LINE, Answer, Raw, fake_icinga, service, told  # noqa: F401

from smart_attributes.fleet import icinga, untrusted

pytestmark = pytest.mark.xdist_group('time')

MEGABYTES = 300  # that a hostile answer has, and that `fleet` may take
ENOUGH = '20'  # seconds, of which none of these needs half
LITTLE = '2'
Write = Callable[[bytes], object]


def long(start: bytes, repeated: bytes) -> Raw:
    """Return an answer of 300 MB, which says so."""

    def write(send: Write) -> None:
        block = repeated * ((1 << 20) // len(repeated))
        with contextlib.suppress(OSError):
            send(
                b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n'
                % (len(start) + MEGABYTES * len(block))
                + start
            )
            for _ in range(MEGABYTES):
                send(block)

    return write


def chunked(chunk: bytes) -> Raw:
    """Return an answer that does not end, in chunks."""

    def write(send: Write) -> None:
        block = (b'%x\r\n%s\r\n' % (len(chunk), chunk)) * max(
            (64 << 10) // (len(chunk) + 6), 1
        )
        with contextlib.suppress(OSError):
            send(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
            while True:
                send(block)

    return write


def dripping(head: bytes, drop: bytes) -> Raw:
    """Return an answer that comes drop by drop."""

    def write(send: Write) -> None:
        with contextlib.suppress(OSError):
            send(head)
            for _ in range(100):
                send(drop)
                time.sleep(0.1)

    return write


FLOODS = {
    'lists': long(b'{"results": [', b'[],'),
    'endless': chunked(b'a' * 60_000),
}
DRIPS = {
    'body': dripping(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n', b' '),
    'head': dripping(b'HTTP/1.1 200 OK\r\n', b'X: y\r\n'),
    'status': dripping(b'', b'H'),
    'continue': dripping(b'', b'HTTP/1.1 100 Continue\r\n\r\n'),
    'chunks': dripping(
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', b'1\r\n \r\n'
    ),
    'crumbs': chunked(b'[]'),  # http.client holds 45 bytes for each
}


def assert_in_bounds(cost: Cost, limit: str) -> None:
    """3 and a sentence, in time, in little memory."""
    assert (cost.code, 'Traceback' in cost.text) == (3, False), cost.text
    assert cost.seconds < float(limit) + 1  # for starting two interpreters
    assert cost.megabytes < MEGABYTES


@pytest.mark.parametrize('flood', FLOODS.values(), ids=FLOODS)
@pytest.mark.long
def test_a_list_of_services_without_end_is_a_sentence(fake, flood):
    """300 MB of `[],` took 3.9 GB of memory and ran past -t."""
    fake.answer = lambda question: flood
    cost = measured(*fake.arguments, '-t', ENOUGH)

    assert_in_bounds(cost, ENOUGH)
    assert (
        cost.text.strip().startswith('error: 127.0.0.1:')
        and 'is too large' in cost.text
    )


@pytest.mark.parametrize('flood', [FLOODS['lists'], FLOODS['endless']])
def test_a_service_whose_answer_has_no_end_hides_no_other(fake, flood):
    """One host may send what it likes into Icinga; the others are asked for again without it."""

    def answer(question: dict[str, Any]) -> Answer:
        wanted = question.get('services', ['a!smart', 'b!smart', 'c!smart'])
        is_hostile = 'services' in question and 'b!smart' in wanted
        return (
            flood
            if is_hostile
            else (200, told(*(service(name.partition('!')[0]) for name in wanted)))
        )

    fake.answer = answer
    cost = measured(*fake.arguments, '--json', '-t', ENOUGH)
    found = json.loads(cost.text)

    assert_in_bounds(cost, ENOUGH)
    assert [drive['host'] for drive in found['drives']] == ['a', 'c']
    notes = texts(found['notes'])
    assert [
        note for note in notes if note.startswith('b!smart: ') and 'too large' in note
    ]
    assert not [note for note in notes if 'removed' in note]


@pytest.mark.parametrize('drip', DRIPS.values(), ids=DRIPS)
@pytest.mark.long
def test_an_answer_that_comes_drop_by_drop_is_not_waited_for(fake, drip):
    """Each byte comes in time, the answer never."""
    fake.answer = lambda question: drip
    cost = measured(*fake.arguments, '-t', LITTLE)

    assert_in_bounds(cost, LITTLE)
    assert f' {LITTLE} s exceeded' in cost.text
    assert cost.megabytes < MEGABYTES / 3


def test_time_that_is_over_leaves_the_drives_that_were_read(fake):
    """Of thousands of services one that hangs must not cost all that is known."""
    names = [f'h{number:04}!smart' for number in range(icinga.BATCH + 1)]

    def answer(question: dict[str, Any]) -> Answer:
        wanted = question.get('services', names)
        return (
            DRIPS['body']
            if names[-1:] == wanted
            else (200, told(*(service(name.partition('!')[0]) for name in wanted)))
        )

    fake.answer = answer
    done = fake.fleet('--json', '-t', LITTLE)
    found = json.loads(done.text)

    assert done.code == 3
    assert len(found['drives']) == icinga.BATCH
    assert (
        f' {LITTLE} s exceeded' in found['notes'][0]['text']
        and found['state'] == 'UNKNOWN'
    )
    assert found['notes'][0]['code'] == 'not-gathered'


def test_no_more_than_20_answers_that_cannot_be_read_are_asked_for(fake):
    """It is Icinga itself then."""
    names = [f'h{number:04}!smart' for number in range(600)]
    fake.answer = lambda question: (
        200,
        b'x' if 'services' in question else told(*({'name': name} for name in names)),
    )
    done = fake.fleet()

    assert done.code == 3
    assert 'more than 20 services' in done.text and 'not the API' in done.text
    assert len(fake.asked) < 100


def test_a_number_of_a_million_digits_is_parsed_at_once():
    """int() takes half a minute before Python 3.11, and refuses after."""
    began = time.process_time()

    assert untrusted.parse(b'[' + b'9' * 1_000_000 + b', 12]') == [float('inf'), 12]
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    'facts',
    [
        {
            'output': f'SMART OK - x; {"9" * 5000} drives: 1 ok\n'
            + LINE.format(serial='X')
        },
        {'performance_data': [f"'sda_endurance_used'={'9' * 5000}%;85;95;0;"]},
        {'performance_data': [f"'sda_endurance_time_left'={'9' * 400};85;95;0;"]},
        {'performance_data': [f"'sda_endurance_time_left'={'9' * 400}.5;85;95;0;"]},
        {'performance_data': [f"'{'_' * 60_000}'=1;;;;"]},
        {
            'performance_data': [f"'x_{number}'=1;;;;" for number in range(3_000)],
            'output': 'SMART OK - x\n'
            + '\n'.join(f'OK        sd{number}  X  y  z' for number in range(2_500)),
        },
        {'output': 'SMART CRITICAL - x\nCRITICAL  sda  X  ' + 'pending 1; ' * 6_000},
        {'execution_end': float('nan')},
    ],
    ids=lambda facts: ','.join(facts),
)
@pytest.mark.parametrize('face', ['--json', '--html={}'])
@pytest.mark.long
def test_numbers_and_words_without_end_hide_no_other_host(fake, facts, face, tmp_path):
    """A number of 5,000 digits ended the whole run with a ValueError."""
    result = {**service('a')['attrs']['last_check_result'], **facts}
    fake.answer = lambda question: (
        200,
        told(service('a', last_check_result=result), service('b')),
    )
    page = tmp_path / 'page.html'
    done = fake.fleet('-t', '10', face.format(page))
    text = done.text
    if page.exists():
        text = page.read_text()

    assert (
        'inside check_smart_attributes' not in done.text
        and 'time limit' not in done.text
    )
    assert 'EXAMPLEb' in text


# --- documents of other hosts ---------------------------------------------------------------------


def document(host: str, *drives: Any) -> str:
    return json.dumps(
        {
            'version': 2,
            'state': 'OK',
            'host': host,
            'made': time.time(),
            'drives': drives,
        }
    )


WELL = {'name': 'sda', 'model': 'ACME X1', 'serial': 'EXAMPLE0001', 'state': 'OK'}
FLOOD = '{"version": 2, "drives": ['


@pytest.mark.parametrize(
    'start, repeated, times, end, said',
    [
        # 300 MB
        ('', '[],', 1, '', 'larger than 4'),
        ('', '[],', 5_000_000, '0]}', 'larger than 4'),
        ('', '[', 1_000_000, '', 'it is damaged'),
        # cut off
        ('', '{}', 1, '', 'it is damaged'),
        ('"', '9', 2_000_000, '', 'it is damaged'),
    ],
)
def test_a_document_that_cannot_be_read_is_named_and_hides_no_other(
    tmp_path, start, repeated, times, end, said
):
    """A document that was cut off on its way was taken for no document at all, with exit status
    0.
    """
    (tmp_path / 'a.json').write_text(FLOOD + start + repeated * times + end)
    if times == 1 and 'larger' in said:  # a hole takes no time to write
        os.truncate(tmp_path / 'a.json', MEGABYTES << 20)
    (tmp_path / 'b.json').write_text(document('b', WELL))
    cost = measured(str(tmp_path), '--json', '-t', ENOUGH)
    found = json.loads(cost.text)

    assert_in_bounds(cost, ENOUGH)
    assert [drive['host'] for drive in found['drives']] == ['b']
    assert [
        note
        for note in texts(found['notes'])
        if note.startswith(f'{tmp_path}/a.json: ') and said in note
    ]


@pytest.mark.parametrize(
    'drives',
    [
        # notes
        lambda: [{**WELL, 'notes': ['x' * 500] * 20_000}],
        # past
        lambda: [{**WELL, 'past': {'pending': [[1, 2]] * 900_000}}],
        # readings
        lambda: [
            {
                **WELL,
                'readings': [
                    {'metric': f'r{number}', 'value': 1} for number in range(60_000)
                ],
            }
        ],
        # drives
        lambda: [{**WELL, 'serial': f'EXAMPLE{n}'} for n in range(30_000)],
        # no-drives
        lambda: [0] * 1_500_000,
    ],
)
@pytest.mark.long
def test_a_host_that_says_too_much_is_bounded(tmp_path, drives):
    """In history and in the page; the others stay whole."""
    text = document('a0', *drives())
    for number in range(3):
        (tmp_path / f'a{number}.json').write_text(text.replace('a0', f'a{number}', 1))
    # A page always shows the drives that alert.
    other = {**WELL, 'serial': 'EXAMPLEb', 'state': 'CRITICAL'}
    (tmp_path / 'b.json').write_text(document('b', other))
    cost = measured(str(tmp_path), '--html', str(tmp_path / 'page.html'), '-t', '60')

    assert cost.megabytes < MEGABYTES and cost.seconds < 60, cost
    assert 'EXAMPLEb' in (tmp_path / 'page.html').read_text()
    assert (tmp_path / 'page.html').stat().st_size < 40e6


def test_drives_beyond_those_of_any_host_are_counted(tmp_path):
    """Nothing is left out in silence."""
    path = tmp_path / 'a.json'
    path.write_text(
        document(
            'a', *({**WELL, 'serial': f'EXAMPLE{number}'} for number in range(2_500))
        )
    )
    found = json.loads(run('fleet', '--json', str(path)).text)

    assert len(found['drives']) == 2_001
    assert found['drives'][0]['why'].startswith('500 of 2500 drives ')
    assert found['drives'][0]['state'] == 'UNKNOWN'
