"""Query Icinga 2's API for the services that run the plugin and their latest results; read-only.

This module uses http.client, because a library is not needed for one connection and one type of
request. It requests the names first, then the results of BATCH services at a time: all results at
once would use half a gigabyte both here and in Icinga. The length limit of an answer depends on its
number of services. If an answer exceeds this limit, its services are split in half and requested
again, so that one service with endless output does not affect the others.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from .. import files, trust
from ..constants import (
    LARGEST_ANSWER,
    LARGEST_NEXT_ANSWER,
    LARGEST_PASSWORD_FILE,
    LARGEST_SERVICE_LIST,
    MOST_UNREAD,
)
from ..errors import SmartError, UsageError
from ..typed import Json
from ..words import visible
from . import services, untrusted
from .services import Service

PORT = 5665
PATIENCE = 60.0  # seconds without receiving data
PIECE = 1 << 16  # bytes of one read()
BATCH = 50  # services in one request: parsing the largest answer takes 0.2 GB
# Our CheckCommand, and the CheckCommand of Icinga's library, which was written for 1.6 but also
# runs this version.
COMMANDS = ('check-smart-attributes', 'smart-attributes')
# NRPE and SSH have other CheckCommands, so the first word of the output identifies the plugin. If a
# daemon answers instead, the command line and the locally chosen names identify the service.
OURS = (
    'service.check_command in commands || match("SMART *", service.last_check_result.output) || '
    'match("*check_smart*", service.last_check_result.command, MatchAny) || match("*smart*", [ '
    'service.name, service.check_command, service.vars.nrpe_command ], MatchAny)'
)
WORDS = 200  # characters of a message from OpenSSL


class Unreadable(SmartError):
    """An answer is too large or invalid; a request for fewer services may succeed."""


class Icinga:
    """One connection to the API."""

    def __init__(
        self, url: str, user: str, password_file: str, authority: str, name: str
    ) -> None:
        """Raise SmartError if an option, or a file named by an option, cannot be used.

        url: https://icinga.example.org:5665. authority: certificate of Icinga's authority, such as
        /var/lib/icinga2/certs/ca.crt; '': those of the system. name: name in Icinga's certificate;
        '': that of the URL.
        """
        self._url = _address(url)
        self._user = user
        self._headers = {
            'Accept': 'application/json',
            'X-HTTP-Method-Override': 'GET',
            **_login(user, password_file),
        }
        self._connection = _Connection(self._url, name, _trusted(authority))
        # service -> reason why its answer could not be read
        self.unread: dict[str, str] = {}

    def names(self, condition: str) -> list[str]:
        """Return the sorted names ("host!service") of all services with the plugin. condition:
        value of --filter.
        """
        question = {
            'filter': f'({OURS}) && ({condition})' if condition else OURS,
            'filter_vars': {'commands': COMMANDS},
            'attrs': ['__name'],
        }
        try:
            rows = self._answer(question, LARGEST_SERVICE_LIST)
        except Unreadable as error:
            raise SmartError(f'{self.where}: {error}') from None
        if rows is None:
            advice = ', and check --filter for mistakes' if condition else ''
            raise SmartError(
                f'{self.where}: Icinga returned no services to {visible(self._user)}; give this '
                f'ApiUser the permission objects/query/Service{advice}'
            )
        # Beside the requested "attrs", Icinga returns the "name" of each object, which is the same
        # text as __name.
        return sorted(str(row.get('name', '')) for row in rows)

    def services(self, names: Sequence[str]) -> Iterator[Service]:
        """Yield the services with these names, BATCH at a time; a service that has been deleted is
        skipped.
        """
        for start in range(0, len(names), BATCH):
            yield from self._part(names[start : start + BATCH])

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _part(self, names: Sequence[str]) -> Iterator[Service]:
        """Yield the existing services of one request.

        Split the services in half and request them again if the answer cannot be read, or if Icinga
        rejects the request because a service was deleted. Raises SmartError if there are too many
        services whose answers cannot be read.
        """
        question = {
            'services': names,
            'attrs': services.ASKED,
            'joins': services.JOINED,
        }
        largest = LARGEST_ANSWER + LARGEST_NEXT_ANSWER * (len(names) - 1)
        fault = ''
        try:
            rows = self._answer(question, largest)
        except Unreadable as error:
            self.close()  # discard the rest of the answer
            rows = None
            fault = str(error)
        if rows is not None:
            yield from map(services.service, rows)
        elif len(names) > 1:
            half = len(names) // 2
            yield from self._part(names[:half])
            yield from self._part(names[half:])
        elif fault:  # a service that was deleted is skipped
            self.unread[names[0]] = fault
            if len(self.unread) > MOST_UNREAD:
                raise SmartError(
                    f'{self.where}: the results of more than {MOST_UNREAD} services cannot be read: {fault}'
                )

    @property
    def where(self) -> str:
        """Return the address of the API, for messages."""
        return f'{self._url.hostname}:{self._url.port or PORT}'

    def _answer(self, question: Json, largest: int) -> list[Json] | None:
        """Request services, and return the objects in an answer that has at most *largest* bytes;
        None if Icinga found no objects.

        Icinga also finds no objects if the API user may not see them. Raises Unreadable if a
        smaller request may succeed, else SmartError.
        """
        try:
            self._connection.request(
                'POST',
                f'{self._url.path.rstrip("/")}/v1/objects/services',
                json.dumps(question),
                self._headers,
            )
            answer = self._connection.getresponse()
            if answer.status not in (200, 404):
                raise SmartError(f'{self.where}: {self._refusal(answer)}')
            text = _body(answer, largest)
        except (OSError, http.client.HTTPException) as error:
            raise SmartError(f'{self.where}: {_reason(error, self._url)}') from None
        if len(text) > largest:
            raise Unreadable(
                'the answer for the requested services is too large; request fewer with --filter'
            )
        if answer.status == 404:
            return None
        if answer.length:  # some bytes of the announced length are missing
            raise SmartError(
                f'{self.where}: the answer is incomplete; see the log of Icinga'
            )
        return _objects(text)

    def _refusal(self, answer: http.client.HTTPResponse) -> str:
        """Return why Icinga refused a request, and where to look."""
        if answer.status == 401:
            return (
                f'Icinga refused the user {visible(self._user)} or the password; see the ApiUser '
                'in conf.d/api-users.conf'
            )
        return f'Icinga answered {answer.status} {visible(answer.reason)[:200]}; see its log'


class _Connection(http.client.HTTPSConnection):
    """A connection to a server whose certificate may contain a name other than the address."""

    def __init__(self, url: SplitResult, name: str, context: ssl.SSLContext) -> None:
        super().__init__(
            str(url.hostname), url.port or PORT, timeout=PATIENCE, context=context
        )
        # Without a name, the certificate must contain the host name of the URL.
        self._expected = name or self.host
        self._trusted = context

    def connect(self) -> None:
        """Connect, and verify the certificate."""
        plain = socket.create_connection((self.host, self.port), self.timeout)
        self.sock = self._trusted.wrap_socket(plain, server_hostname=self._expected)


def _body(answer: http.client.HTTPResponse, largest: int) -> bytearray:
    """Return the body of an answer. If it has more than *largest* bytes, return only its start,
    which is also longer than *largest*, so that the caller sees it.

    http.client keeps every chunk, even of one byte, as an object until its read() ends, so a piece
    is short.
    """
    body = bytearray()
    while len(body) <= largest:
        piece = answer.read(PIECE)
        if not piece:
            break
        body += piece
    return body


def _objects(text: bytearray) -> list[Json]:
    """Return the objects of an answer. Raises Unreadable if the answer is invalid."""
    try:
        rows = untrusted.parse(text)['results']
    except (ValueError, KeyError, TypeError):
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Unreadable(
            'this is not the API of Icinga 2; --icinga needs its address, https://HOST:5665'
        )
    return rows


def _tls_reason(error: ssl.SSLError) -> str:
    """Return why TLS failed, in OpenSSL's words, and the option or the setting to correct."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"Icinga's certificate could not be verified ({visible(error.verify_message)[:WORDS]}); "
            'copy /var/lib/icinga2/certs/ca.crt from the master again, and give the path of the new '
            'copy with --ca; also set --icinga-name to the NodeName of the master'
        )
    reason = error.reason or str(error)
    return (
        f'no TLS connection ({visible(reason)[:WORDS]}); the port of the API is {PORT}'
    )


def _reason(error: Exception, url: SplitResult) -> str:
    """Return why a request failed, with the next step if there is one."""
    if isinstance(error, ssl.SSLError):
        return _tls_reason(error)
    if isinstance(error, socket.gaierror):
        return f'the host name {visible(str(url.hostname))} could not be resolved'
    if isinstance(error, socket.timeout):
        return f'no answer within {PATIENCE:g} s'
    if isinstance(error, OSError):
        return f'{error.strerror or visible(str(error))[:200]}; is the API enabled (icinga2 api setup)?'
    return f'the answer is incomplete or not HTTP ({type(error).__name__})'


# --- from the command line -----------------------------------------------------------


def _address(url: str) -> SplitResult:
    """Return the parts of the API's address. Raises UsageError if it is not of the form
    https://HOST:PORT, with any path.
    """
    with suppress(ValueError):  # the port is no number
        parts = urlsplit(url)
        has_more = parts.username or parts.query or parts.fragment
        is_https = parts.scheme == 'https' and parts.hostname
        if is_https and not has_more and parts.port != 0:
            return parts
    raise UsageError(
        f'--icinga needs https://HOST:{PORT}, without a user or a password in it'
    )


def _trusted(authority: str) -> ssl.SSLContext:
    """Return a TLS context that always verifies the server. Raises SmartError."""
    try:
        context = ssl.create_default_context(cafile=authority or None)
    except OSError as error:
        why = error.strerror
        if isinstance(error, ssl.SSLError):
            why = 'contains no certificate'
        raise SmartError(f'--ca {visible(authority)}: {why}') from None
    # Python 3.13 and later set this flag by default, but certificates of Icinga's own authority
    # lack the key usage.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _login(user: str, password_file: str) -> dict[str, str]:
    """Return the header with the user and the password.

    Raises UsageError without them, and SmartError if the file of the password cannot be used.
    """
    if not (user and password_file):
        raise UsageError('--icinga needs --user and --password-file')
    try:
        text = files.content(password_file, LARGEST_PASSWORD_FILE, _openness).decode()
    except (OSError, ValueError) as error:
        fault = getattr(error, 'strerror', '') or 'it is not a text file'
        raise SmartError(
            f'--password-file {visible(password_file)}: {visible(fault)}; use a text file '
            'with one line, owned by you, mode 0600, in a directory that only you can write to'
        ) from None
    lines = text.splitlines()
    if not lines or not lines[0]:
        raise SmartError(
            f'--password-file {visible(password_file)}: its first line is empty; write the password into it'
        )
    word = base64.b64encode(f'{user}:{lines[0]}'.encode()).decode()
    return {'Authorization': f'Basic {word}'}


def _openness(path: str, status: os.stat_result) -> str:
    """Return how other users can read or change the file with a secret; '' if they cannot.

    status: os.fstat() of the opened file. Raises OSError.
    """
    fault = trust.fault(path, os.geteuid())
    if fault:
        return fault
    # An access-control list grants at most the bits of the group.
    return 'other users can read it' if status.st_mode & 0o044 else ''
