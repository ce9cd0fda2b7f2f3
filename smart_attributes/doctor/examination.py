"""The examination of an installation, one thing after the other; what cannot be found out in time says so."""

import os
import socket
import sys
import time
from typing import Callable, Iterator, List, Sequence

from .. import alarm, survey
from ..errors import SmartError, UsageError, not_installed
from ..faces import budget
from ..faces.findings import Examination, Finding, Paste
from ..files import CONFIG
from ..model import Device
from ..options import PROGRAM, Options
from ..reading import commands, processes
from . import daemons, drives, pasting, program, site_files, state, sudo_rule, user
from .sentences import halves

Addresses = Callable[[survey.Survey], Sequence[str]]
Printed = Callable[[survey.Survey], str]


class Faces:
    """What of other jobs is wanted here: what a check prints of a survey, and what is pasted after -d."""

    def __init__(self, printed: Printed, addresses: Addresses) -> None:
        self.printed, self.addresses = printed, addresses


def examined(options: Options, runner: processes.Runner, faces: Faces) -> Examination:
    """Return what is found as the user of the checks, who this process then is.

    Raises UsageError where it cannot become him, and where no installation is asked about.
    """
    if options.which.reports:
        raise UsageError('doctor looks at drives, not at recorded reports; leave out --report')
    if options.user:
        user.become(options.user)
    return Examiner(options, runner, faces).examine()


class Examiner:
    """One examination, as far as it has come."""

    def __init__(self, options: Options, runner: processes.Runner, faces: Faces) -> None:
        self._options, self._runner, self._faces = options, runner, faces
        self._deadline = time.monotonic() + options.how_read.timeout - 2 * alarm.reserve(options.how_read.timeout)
        self._user = user.name()
        self._limits: List[daemons.Limit] = []
        self.findings: List[Finding] = []
        self.pastes: Sequence[Paste] = ()

    def examine(self) -> Examination:
        """Return what was found. An alarm ends it early, and is told."""
        try:
            for step in (self._sudo, self._state, self._site, self._daemons, self._drives):
                self._take(step)
        except alarm.TimeIsOver as over:
            self.findings.append(Finding('the rest', False, f'was not looked at: {over}', 'give it more time with -t'))
        alarm.disarm()  # all is known: it only remains to be said
        return Examination(f'{socket.gethostname()}, checked as {self._user}', self.findings, self.pastes)

    def _take(self, step: Callable[[], Iterator[Finding]]) -> None:
        try:
            for finding in step():
                self.findings.append(finding)  # one by one: what is there, stays there
        except ModuleNotFoundError as error:  # a check that needs it is UNKNOWN, too
            self.findings.append(Finding('Python', False, *halves(not_installed(error.name or str(error)))))

    def _sudo(self) -> Iterator[Finding]:
        """Yield smartctl, and the rule that lets checks run it."""
        how = self._options.how_read
        found = program.examined(how, self._runner, self._deadline)
        yield found
        settled = sudo_rule.not_wanted(how, self._user, self._options.user)
        if settled or not os.path.exists(how.smartctl):
            yield settled or Finding(sudo_rule.SUBJECT, None, 'cannot be tried before smartctl is there')
            return
        sudo = sudo_rule.Sudo(self._options, self._runner, self._deadline)
        devices = self._devices(sudo)
        yield sudo_rule.examined(sudo, self._options, self._user, self._needed(devices), devices)

    def _devices(self, sudo: sudo_rule.Sudo) -> Sequence[Device]:
        """Return the devices that a check would read; none where the scan that finds them is refused."""
        try:
            if self._is_scanning and sudo.refuses([commands.SCAN]):
                return ()
            return survey.find(self._options, self._runner, self._deadline).devices
        except SmartError:  # told where the drives are
            return ()

    @property
    def _is_scanning(self) -> bool:
        return self._options.which.scan or not self._options.which.devices

    def _needed(self, devices: Sequence[Device]) -> List[sudo_rule.Arguments]:
        """Return what a check would call."""
        try:
            plans = survey.plan(devices, self._options)
        except SmartError:
            plans = []
        lines = [commands.split(planned.command)[1] for planned in plans]
        return [*([commands.SCAN] if self._is_scanning else []), *lines]

    def _state(self) -> Iterator[Finding]:
        yield state.memory(self._options, self._user)
        yield state.processes(self._options)

    def _site(self) -> Iterator[Finding]:
        yield from site_files.examined(self._options)

    def _daemons(self) -> Iterator[Finding]:
        self._limits = daemons.limits()
        yield from daemons.judged(self._limits, self._options.how_read.timeout)

    def _drives(self) -> Iterator[Finding]:
        """Yield the drives, what a check prints of them, and learn what to paste."""
        if not os.path.exists(self._options.how_read.smartctl):
            yield Finding(drives.CHECK, None, 'cannot be read before smartctl is there')
            return
        try:
            found = survey.survey(self._options, self._runner)
        except SmartError as error:
            yield self._unread(str(error))
            return
        yield from drives.findings(found, self._options.naming.hide_serial, [PROGRAM, *self._more])
        printed = self._faces.printed(found)
        if any(not verdict.problem for verdict in found.verdicts):
            yield daemons.output(len(printed.encode()), budget.WHY in printed)
        watched = drives.to_watch(found)
        self.pastes = self._pastes([address for verdict, address in zip(found.verdicts, self._faces.addresses(found))
                                    if verdict.device in watched])

    def _unread(self, sentence: str) -> Finding:
        words, advice = halves(sentence)
        if any(finding.subject == sudo_rule.SUBJECT and finding.is_good is False for finding in self.findings):
            return Finding(drives.CHECK, None, 'cannot be found while sudo refuses to look for them')
        return Finding(drives.CHECK, False, words, advice)

    def _pastes(self, addresses: Sequence[str]) -> List[Paste]:
        how = self._options.how_read
        shortest = min((limit.seconds for limit in self._limits), default=daemons.USUAL)
        own = how.timeout if how.timeout < shortest else daemons.fitting(shortest)
        return pasting.pastes(addresses, _plugin(), own, self._more)

    @property
    def _more(self) -> List[str]:
        """Return what else a check needs beside its drives and its time."""
        options, how = self._options, self._options.how_read
        return [*(['-p', how.smartctl] if how.smartctl != commands.DEFAULT else []),
                *(['--config', options.data.config] if options.data.config != CONFIG else []),
                *(['--state-dir', options.state_dir] if options.state_dir else [])]


def _plugin() -> str:
    """Return the path of this program, as a daemon calls it."""
    here = os.path.realpath(sys.argv[0])
    return pasting.USUAL_PLACE if os.path.realpath(pasting.USUAL_PLACE) == here else here
