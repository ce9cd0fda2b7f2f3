"""Verification of the certificate of Icinga's API, and the cause and next step for each refusal."""
from __future__ import annotations

import re
import ssl
import time
from collections.abc import Mapping
from typing import NamedTuple

from ..errors import SmartError
from ..words import visible

_PLAIN = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]*')   # needs no quoting in a shell
WORDS = 200                # characters of a message from OpenSSL
CA = '/var/lib/icinga2/certs/ca.crt'
RENEW = ('on the master, as root, run: cd /var/lib/icinga2/certs && icinga2 pki new-cert --cn {name} --key {name}.key '
         '--csr {name}.csr && icinga2 pki sign-csr --csr {name}.csr --cert {name}.crt && systemctl restart icinga2')


class Refusal(NamedTuple):
    """The reason why a certificate is refused; {name}: the expected name, {ca}: the file of --ca."""

    code: str
    cause: str
    remedy: str


EXPIRED = Refusal('certificate-expired', 'its certificate has expired', f'renew it: {RENEW}')
FUTURE = Refusal('certificate-not-yet-valid', 'its certificate is not valid yet',
                 'correct the clock of this machine, or of the one that signed it; to compare, run: date -u')
OTHER_NAME = Refusal('certificate-name-mismatch', 'its certificate is for another name',
                     'set --icinga-name to the NodeName of the master; to see it, run there: '
                     'icinga2 variable get NodeName')
UNKNOWN_CA = Refusal('certificate-untrusted', 'its certificate is not trusted, since no known CA signed it',
                     f'copy {CA} from the master again, and give it to --ca')
CA_EXPIRED = Refusal('ca-expired', 'the CA certificate in {ca} has expired',
                     f'copy {CA} from the master again; if that has expired as well, renew the CA there, and the '
                     f'certificates that it signed; to see its date, run: openssl x509 -enddate -noout -in {CA}')
OTHERWISE = Refusal('certificate-invalid', 'its certificate is not trusted', f'renew it: {RENEW}')
NOT_OURS = Refusal('client-certificate-refused', 'Icinga refuses the certificate of --cert',
                   'have the master sign a new one: icinga2 pki sign-csr --csr FILE.csr --cert FILE.crt')
REFUSALS = (EXPIRED, FUTURE, OTHER_NAME, UNKNOWN_CA, CA_EXPIRED, OTHERWISE, NOT_OURS)
# Source: OpenSSL, include/openssl/x509_vfy.h, X509_V_ERR_... For another CA of the same name, version 1.1.1 reports 7
# where 3.0 reports 20; "Icinga CA" is the name of each CA that Icinga makes.
CODES: Mapping[int, Refusal] = {
    2: UNKNOWN_CA, 7: UNKNOWN_CA, 9: FUTURE, 10: EXPIRED, 18: UNKNOWN_CA, 19: UNKNOWN_CA, 20: UNKNOWN_CA,
    21: UNKNOWN_CA, 27: UNKNOWN_CA, 62: OTHER_NAME, 64: OTHER_NAME}


def trusted(authority: str) -> ssl.SSLContext:
    """Return a TLS context that always verifies the server's certificate.

    authority: file with the trusted authorities, or '' for those of the system. Raises OSError if it cannot be used.
    """
    context = ssl.create_default_context(cafile=authority or None)
    # On by default since Python 3.13, but certificates issued by Icinga's own authority lack the key usage.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def reason(error: ssl.SSLError, name: str, authority: str, port: int) -> str:
    """Return "[code] cause (message from OpenSSL); next step" for a failed TLS connection.

    name: the name expected in the certificate. authority: the file of --ca.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        found, said = CODES.get(error.verify_code, OTHERWISE), error.verify_message
        found = CA_EXPIRED if found is EXPIRED and _has_expired(authority) else found
    elif '_ALERT_' in (error.reason or '') and ('CERT' in error.reason or 'UNKNOWN_CA' in error.reason):
        found, said = NOT_OURS, error.reason
    else:
        return f'no TLS connection ({visible(error.reason or str(error))[:WORDS]}); the port of the API is {port}'
    name = name if _PLAIN.fullmatch(name) else 'NODENAME'
    cause, remedy = (words.format(name=name, ca=visible(authority)) for words in (found.cause, found.remedy))
    return f'[{found.code}] {cause} ({visible(said)[:WORDS]}); {remedy}'


def _has_expired(authority: str) -> bool:
    """Return whether an authority in a file has expired; OpenSSL does not report which certificate it refused."""
    try:
        known = trusted(authority).get_ca_certs() if authority else []
    except OSError:
        return False
    return any(ssl.cert_time_to_seconds(str(each['notAfter'])) < time.time() for each in known)


def wrong(error: OSError) -> str:
    """Return the reason why a file with certificates or keys cannot be used."""
    return 'holds no certificate, or no key that belongs to it' if isinstance(error, ssl.SSLError) else str(
        error.strerror)


def identify(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Load our client certificate into a TLS context. Raises SmartError if it cannot be loaded."""
    try:
        context.load_cert_chain(certificate, key or None)
    except OSError as error:
        raise SmartError(f'--cert {visible(certificate)}: {wrong(error)}') from None
