"""Verify the certificate of Icinga's API, and give the cause and the next step for each refusal."""
from __future__ import annotations

import re
import ssl
import time
from collections.abc import Mapping
from typing import NamedTuple

from .. import files
from ..errors import SmartError
from ..words import visible

_PLAIN = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]*')   # safe in a shell without quotes
WORDS = 200                # characters of a message from OpenSSL


class Refusal(NamedTuple):
    """The reason for refusing a certificate. {name} is the expected name, and {ca} is the file given with --ca."""
    code: str
    cause: str
    remedy: str


_DATA = files.data('fleet/certificates.json')['refusals']
BY_CODE: Mapping[str, Refusal] = {each['code']: Refusal(each['code'], each['cause'], each['remedy']) for each in _DATA}
CODES: Mapping[int, Refusal] = {number: BY_CODE[each['code']] for each in _DATA for number in each['numbers']}
EXPIRED, OTHERWISE = BY_CODE['certificate-expired'], BY_CODE['certificate-invalid']


def trusted(authority: str) -> ssl.SSLContext:
    """Return a TLS context that always verifies the server's certificate.

    authority: file with trusted authorities; '': the system's authorities. Raises OSError if the file cannot be used.
    """
    context = ssl.create_default_context(cafile=authority or None)
    # Python 3.13 and later set this flag by default, but certificates of Icinga's own authority lack the key usage.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def reason(error: ssl.SSLError, name: str, authority: str, port: int) -> str:
    """Return "[code] cause (message from OpenSSL); next step" for a failed TLS connection.

    name: the name expected in the certificate. authority: the file given with --ca.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        found, said = CODES.get(error.verify_code, OTHERWISE), error.verify_message
        found = BY_CODE['ca-expired'] if found is EXPIRED and _has_expired(authority) else found
    elif '_ALERT_' in (error.reason or '') and ('CERT' in error.reason or 'UNKNOWN_CA' in error.reason):
        found, said = BY_CODE['client-certificate-refused'], error.reason
    else:
        return f'no TLS connection ({visible(error.reason or str(error))[:WORDS]}); the port of the API is {port}'
    name = name if _PLAIN.fullmatch(name) else 'NODENAME'
    cause, remedy = (words.format(name=name, ca=visible(authority)) for words in (found.cause, found.remedy))
    return f'[{found.code}] {cause} ({visible(said)[:WORDS]}); {remedy}'


def _has_expired(authority: str) -> bool:
    """Return whether any authority in a file has expired; OpenSSL does not report which certificate it refused."""
    try:
        known = trusted(authority).get_ca_certs() if authority else []
    except OSError:
        return False
    return any(ssl.cert_time_to_seconds(str(each['notAfter'])) < time.time() for each in known)


def wrong(error: OSError) -> str:
    """Return the reason why a file with certificates or keys cannot be used."""
    return 'contains no certificate, or no key that matches it' if isinstance(error, ssl.SSLError) else str(
        error.strerror)


def identify(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Load our client certificate into a TLS context. Raises SmartError if it cannot be loaded."""
    try:
        context.load_cert_chain(certificate, key or None)
    except OSError as error:
        raise SmartError(f'--cert {visible(certificate)}: {wrong(error)}') from None
