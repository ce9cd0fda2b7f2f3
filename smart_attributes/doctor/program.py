"""smartctl: is it there, may root trust it, which version is it."""

import os
from typing import Optional

from .. import trust
from ..constants import SMARTCTL
from ..errors import UsageError
from ..model import HowRead
from ..output.doctor_findings import Finding
from ..reading import processes, smartctl_calls
from ..reading.sudoers import FIRST_WITH_JSON
from .sentences import dotted, halves

SUBJECT = 'smartctl'
# Where distributions and their own builds put it, the usual place first.
PLACES = (SMARTCTL, '/usr/local/sbin/smartctl', '/usr/bin/smartctl', '/usr/local/bin/smartctl',
          '/opt/smartmontools/sbin/smartctl')


def examined(how: HowRead, runner: processes.Runner, deadline: float) -> Finding:
    """Return what is to be said of the program that checks call."""
    try:
        smartctl_calls.check_executable(how.smartctl, as_root=False, through_sudo=not how.nosudo)
    except UsageError as error:
        return missing(str(error), how.smartctl, next(filter(os.path.isfile, PLACES), ''))
    fault = '' if how.nosudo and os.geteuid() else _fault(how.smartctl)
    return judged(how.smartctl, _version(how, runner, deadline), fault)


def _fault(path: str) -> str:
    try:
        return trust.fault(path, trust.ROOT)
    except OSError:  # a folder that this user may not look into; root will
        return ''


def _version(how: HowRead, runner: processes.Runner, deadline: float) -> Optional[str]:
    """Return "7.3" as smartctl says it, without root; None where this user may not run it, '' for other words."""
    if not os.access(how.smartctl, os.X_OK):
        return None
    answer = next(runner.run([(how.smartctl, *smartctl_calls.VERSION)], 1, how.drive_timeout, deadline))
    return dotted(smartctl_calls.version(answer.stdout))


def missing(sentence: str, path: str, elsewhere: str) -> Finding:
    """Return the finding for a path where smartctl is not, from the sentence that says so.

    elsewhere: where one is; '' where there is none.
    """
    words, advice = halves(sentence)
    if elsewhere and elsewhere != path:
        return Finding(SUBJECT, False, words, f'smartctl is at {elsewhere}: name it with -p {elsewhere} here and in '
                                              f'each check, or leave -p out where that is the usual place')
    if os.path.lexists(path):
        return Finding(SUBJECT, False, words, advice)
    return Finding(SUBJECT, False, words, 'install smartmontools', 'apt install smartmontools')


def judged(path: str, version: Optional[str], fault: str) -> Finding:
    """Return the finding for a smartctl that is there. fault: why root should not run it."""
    if fault:
        return Finding(SUBJECT, False, f'{path}: root runs it, and others could change it: {fault}',
                       'let root alone write there', f'chown root: {path} && chmod go-w {path}')
    if version is None:
        return Finding(SUBJECT, True, f'{path}, which only root may run')
    if not version:
        return Finding(SUBJECT, False, f'{path} does not say that it is smartctl', 'look at what it prints',
                       f'{path} {" ".join(smartctl_calls.VERSION)}')
    is_old = tuple(map(int, version.split('.'))) < FIRST_WITH_JSON
    more = ', asked for text; 7.0 and later tell more' if is_old else ''
    return Finding(SUBJECT, True, f'{path}, version {version}, which root alone can change{more}')
