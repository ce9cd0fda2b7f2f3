"""`fleet` and an API that does not answer as Icinga 2 does: what no real daemon can be brought
to say.
"""

import http.server
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, Union

import abilities
import pytest
from conftest import Result, run

from smart_attributes.fleet import services

LINE = 'OK        sda  ACME X1  endurance_used 1 %  {serial}  firmware 1.0'
# one of RSA takes up to a second
EC_KEY = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1')
Raw = Callable[[Callable[[bytes], object]], None]
Answer = Union[tuple[int, bytes], Raw]


def service(name: str, **facts: Any) -> dict[str, Any]:
    """Return a service as Icinga tells it, or otherwise."""
    result = {
        'state': 0,
        'output': 'SMART OK - x; 1 drive: 1 ok\n'
        + LINE.format(serial=f'EXAMPLE{name}'),
        'performance_data': ["'sda_endurance_used'=1%;85;95;0;"],
        'execution_end': 2e9,
    }
    return {
        'name': f'{name}!smart',
        'attrs': {'last_check_result': result, 'check_interval': 300, **facts},
    }


def told(*services: Any) -> bytes:
    return json.dumps({'results': services}).encode()


class Fake:
    """Answers questions for services over TLS, the way it is told to."""

    def __init__(self, folder: Path, is_plain: bool = False) -> None:
        self.asked: list[dict[str, Any]] = []
        self.methods: set[tuple[str, str | None]] = set()
        self.answer: Callable[[dict[str, Any]], Answer | None] = lambda question: (
            200,
            told(),
        )
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self) -> None:
                fake.methods.add((self.command, self.headers['X-HTTP-Method-Override']))
                question = json.loads(
                    self.rfile.read(int(self.headers['Content-Length']))
                )
                fake.asked.append(question)
                found = fake.answer(question)
                if callable(found):  # writes what it likes
                    self.close_connection = True
                    found(self.wfile.write)
                    return
                if found is None:  # hangs up in the middle of it
                    self.send_response(200)
                    self.send_header('Content-Length', '100')
                    self.end_headers()
                    self.wfile.write(b'{"results": [')
                    self.close_connection = True
                    return
                self.send_response(found[0])
                self.send_header('Content-Length', str(len(found[1])))
                self.send_header('Location', 'https://elsewhere.example.org/\x1b[2J')
                self.end_headers()
                self.wfile.write(found[1])

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        # who has no trust in us hangs up, as it should
        self.server.handle_error = lambda *_: None
        self.certificate = folder / 'fake.crt'
        subprocess.run(
            [
                'openssl',
                'req',
                '-x509',
                *EC_KEY,
                '-nodes',
                '-keyout',
                str(folder / 'fake.key'),
                '-out',
                str(self.certificate),
                '-days',
                '1',
                '-subj',
                '/CN=fake',
                '-addext',
                'subjectAltName=IP:127.0.0.1',
            ],
            check=True,
            capture_output=True,
        )
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.shows(self.certificate, folder / 'fake.key')
        if not is_plain:
            self.server.socket = self.context.wrap_socket(
                self.server.socket, server_side=True
            )
        threading.Thread(
            target=self.server.serve_forever, args=(0.05,), daemon=True
        ).start()
        self.password = folder / 'password'
        self.password.write_text('secret\n')
        self.password.chmod(0o600)

    def shows(self, certificate: Path, key: Path) -> None:
        """Show this certificate from now on."""
        self.context.load_cert_chain(certificate, key)

    @property
    def arguments(self) -> list[str]:
        """Return the options that lead to it."""
        return [
            '--icinga',
            f'https://127.0.0.1:{self.server.server_address[1]}',
            '--user',
            'u',
            '--password-file',
            str(self.password),
            '--ca',
            str(self.certificate),
        ]

    def fleet(self, *arguments: str) -> Result:
        return run('fleet', *self.arguments, *arguments)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(name='fake')
def fake_icinga(loopback, tmp_path) -> Iterator[Fake]:
    if not abilities.path_of('openssl'):
        pytest.skip('answers of a broken API are not tried: openssl is not installed')
    made = Fake(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    'answer, said',
    [
        ((200, b'<html>Welcome</html>'), 'not the API'),
        ((200, b'{"results": {}}'), 'not the API'),
        ((200, b'{"results": [1]}'), 'not the API'),
        ((200, b'[' * 100_000), 'not the API'),
        ((302, b''), 'answered 302 '),
        ((500, b'x'), 'answered 500 '),
        # hangs up
        (None, 'is incomplete'),
    ],
)
def test_an_answer_that_is_none_is_a_sentence(fake, answer, said):
    """And 3, and nothing that moves a cursor."""
    fake.answer = lambda question: answer
    done = fake.fleet()

    assert (done.code, said in done.text, '\x1b' in done.text) == (3, True, False), (
        done.text
    )
    assert done.text.startswith('error: 127.0.0.1:')


@pytest.mark.parametrize(
    'option, value, said',
    [
        ('--icinga', 'https://127.0.0.1:1', 'Connection refused'),
        ('--icinga', 'https://no.example.invalid', 'host name no.example.invalid'),
        ('--ca', '/etc/hostname', '--ca /etc/hostname: contains no'),
        ('--ca', '/no/such', '--ca /no/such: No such'),
        ('--password-file', '/no/such', '--password-file /no/such: No such'),
    ],
)
def test_who_cannot_ask_reads_why(fake, option, value, said):
    """One sentence, and 3."""
    words = fake.arguments
    words[words.index(option) + 1] = value
    done = run('fleet', *words)

    assert done.code == 3
    assert done.text.startswith('error: ') and said in done.text


def test_an_empty_password_is_not_used(fake):
    fake.password.write_text('\n')

    assert (fake.fleet().code, fake.asked) == (3, [])


def test_no_service_at_all_is_said(fake):
    """An empty table would be silence."""
    done = fake.fleet()

    assert done.code == 3
    assert 'returned no service' in done.text


@pytest.mark.parametrize(
    'facts',
    [
        {'last_check_result': {}},
        {
            'last_check_result': {
                'output': 'SMART OK - x',
                'performance_data': [{'value': 1}, None],
                'execution_end': 'y',
            }
        },
        {'last_check_result': {'state': 1e300, 'output': '\x00\x1b[2J'}},
    ],
    ids=str,
)
def test_a_service_that_is_not_as_documented_hides_no_other(fake, facts):
    """A later version, or a damaged state file."""
    fake.answer = lambda question: (200, told(service('a', **facts), service('b')))
    done = fake.fleet('--json')

    assert 'Traceback' not in done.text and '\x1b' not in done.text
    assert 'b' in {drive['host'] for drive in json.loads(done.text)['drives']}


def test_a_service_without_a_name_is_that_of_a_host_that_nobody_named():
    assert services.service({**service('a'), 'name': ''}).host == '-'


def test_services_are_asked_for_50_at_a_time_and_by_name(fake):
    """All at once would cost half a gigabyte on both sides."""
    names = [f'h{number:04}' for number in range(120)]
    fake.answer = lambda question: (
        200,
        told(
            *(
                service(name.partition('!')[0])
                for name in question.get('services', names)
            )
        ),
    )
    done = fake.fleet('--json')

    assert len(json.loads(done.text)['drives']) == 120
    assert [len(question.get('services', ())) for question in fake.asked] == [
        0,
        50,
        50,
        20,
    ]
    assert fake.asked[0]['attrs'] == ['__name']


def test_a_service_that_went_while_icinga_was_asked_costs_no_other(fake):
    """Icinga answers 404 for all of a question where one is gone."""
    names = [f'h{number}' for number in range(9)]

    def answer(question: dict[str, Any]) -> Answer:
        wanted = question.get('services', names)
        return (
            (404, b'{"error":404}')
            if 'h4!smart' in wanted
            else (200, told(*(service(name.partition('!')[0]) for name in wanted)))
        )

    fake.answer = answer
    found = json.loads(fake.fleet('--json').text)

    assert [drive['host'] for drive in found['drives']] == [
        name for name in names if name != 'h4'
    ]


def test_an_api_that_fails_half_way_leaves_what_it_told(fake, tmp_path):
    """Incomplete, said on top, and 3."""
    names = [f'h{number:04}' for number in range(600)]

    def answer(question: dict[str, Any]) -> Answer:
        if len(fake.asked) > 2:
            return 500, b''
        return 200, told(
            *(
                service(name.partition('!')[0])
                for name in question.get('services', names)
            )
        )

    fake.answer = answer
    done = fake.fleet('--html', str(tmp_path / 'page.html'))

    assert done.code == 3
    assert (
        ' answered 500 ' in done.text and 'drives that were already read' in done.text
    )
    page = (tmp_path / 'page.html').read_text()
    assert '50 drives on' in page and 'class="run"' in page


def test_a_port_without_tls_is_said(loopback, tmp_path):
    """The password is not sent there."""
    if not abilities.path_of('openssl'):
        pytest.skip('answers of a broken API are not tried: openssl is not installed')
    plain = Fake(tmp_path, is_plain=True)
    try:
        done = plain.fleet()
        assert (done.code, plain.asked) == (3, [])
        assert 'no TLS connection (' in done.text
    finally:
        plain.close()


def test_who_does_not_answer_is_not_waited_for(fake):
    """Longer than was asked for."""
    silence = threading.Event()

    def answer(question: dict[str, Any]) -> Answer:
        silence.wait(20)
        return 200, told()

    fake.answer = answer
    done = fake.fleet('-t', '1')
    silence.set()

    assert done.code == 3
    assert 'increase -t' in done.text


# --- who is asked, and what is told to whom ------------------------------------------------------


def without(words: list[str], option: str) -> list[str]:
    place = words.index(option)
    return words[:place] + words[place + 2 :]


def test_nothing_but_looking_is_asked_of_icinga(fake):
    """A POST that Icinga takes for a GET, as its API has it for long questions, and for objects
    alone.
    """
    fake.answer = lambda question: (200, told(service('a')))
    assert fake.fleet().code == 0

    assert fake.methods == {('POST', 'GET')}
    allowed = {'attrs', 'joins', 'filter', 'filter_vars', 'services'}
    assert [set(question) - allowed for question in fake.asked] == [set()] * 2


def test_no_word_goes_to_who_has_no_trusted_certificate(fake):
    """Without --ca the authorities of the system decide, and they do not know this one."""
    done = run('fleet', *without(fake.arguments, '--ca'))

    assert (done.code, fake.asked) == (3, [])
    assert 'certificate could not be verified' in done.text
    assert '/var/lib/icinga2/certs/ca.crt' in done.text


def test_no_word_goes_to_who_has_a_certificate_for_another_name(fake):
    """Trusted by the same authority, and not who was meant."""
    done = fake.fleet('--icinga-name', 'other.example.org')

    assert (done.code, fake.asked) == (3, [])
    assert '(Hostname mismatch' in done.text and '--icinga-name' in done.text


@pytest.mark.parametrize(
    'face',
    [  # table
        [],
        # json
        ['--json'],
        # page
        ['--html', 'PAGE'],
    ],
)
def test_hostile_words_of_a_check_stay_text(fake, tmp_path, face):
    """On a terminal, in JSON and in the page: in each column of a line, in its name and in words
    that are none of ours.
    """
    nasty = '<img src=x onerror=alert(1)>\x1b[2J\u202e</script><script>alert(1)</script>{{7*7}}'
    columns = f's{nasty}  M{nasty}  pending 16, critical above 8 {nasty}  S{nasty}  firmware {nasty}'
    lines = (
        f'SMART CRITICAL - {nasty}; 1 drive: 1 critical\nCRITICAL  {columns}\nUNKNOWN  '
        f' (check)  {nasty}'
    )
    results = [
        {
            'output': output,
            'state': 2,
            'execution_end': 2e9,
            'performance_data': [f"'s{nasty}_pending'=16;;"],
        }
        for output in (lines, nasty, f'SMART OK - {nasty}')
    ]
    fake.answer = lambda question: (
        200,
        told(
            *(
                service(f'h{number}{nasty}', last_check_result=result)
                for number, result in enumerate(results)
            )
        ),
    )
    page = tmp_path / 'page.html'
    done = fake.fleet(*(str(page) if word == 'PAGE' else word for word in face))
    shown = done.text + (page.read_text() if page.exists() else '')

    assert not [
        sign for sign in ('\x1b', '\u202e', '\\u001b', '\\u202e') if sign in shown
    ]
    assert 'alert(1)' in shown
    if page.exists():
        assert (shown.count('<script'), '<img' in shown) == (2, False)
        assert '{{7*7}}' in shown.partition('<main')[2].partition('<script')[0]


@pytest.mark.parametrize(
    'change, said',
    [
        (('chmod', '0640'), 'other users can read'),
        (('chmod', '0604'), 'other users can read'),
        (('chmod', '0622'), 'writable by others'),
        (('setfacl', '-m', 'u:65534:r'), 'other users can read'),
    ],
)
def test_a_password_that_others_can_read_is_not_used(fake, change, said):
    """A group has members; a list has more readers than the mode shows. It is not even sent."""
    if not abilities.path_of(change[0]):
        pytest.skip(f'{change[0]} is not installed')
    if subprocess.run([*change, str(fake.password)], check=False).returncode:
        pytest.skip(f'{change[0]} cannot be used here')
    done = fake.fleet()

    assert (done.code, fake.asked, 'secret' in done.text) == (3, [], False)
    assert f'{fake.password}: ' in done.text and said in done.text, done.text
