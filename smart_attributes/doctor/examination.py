"""The examination of an installation, one thing after the other; what cannot be found out in time says so."""

import os
import socket
import sys
import time
from typing import Callable, Iterator, List, NamedTuple, Sequence

from .. import alarm
from ..check import survey
from ..command_line.options import PROGRAM, Options
from ..constants import SMARTCTL
from ..errors import SmartError, UsageError, not_installed
from ..files import CONFIG
from ..model import Device
from ..output import budget
from ..output.doctor_findings import Examination, Finding, Paste
from ..reading import processes, smartctl_calls
from . import (
    configuration_lines,
    daemons,
    drives,
    history_state,
    nrpe,
    program,
    site_files,
    start,
    sudo_refusals,
    sudo_rule,
    user,
)
from .sentences import halves

Addresses = Callable[[survey.Survey], Sequence[str]]
Printed = Callable[[survey.Survey], str]


class Faces:
    """What of other commands is wanted here: what a check prints of a survey, and what is pasted after -d."""

    def __init__(self, printed: Printed, addresses: Addresses) -> None:
        self.printed, self.addresses = printed, addresses


def examined(options: Options, runner: processes.Runner, faces: Faces) -> Examination:
    """Return what is found as the user of the checks, who this process then is.

    Raises UsageError where it cannot become him, and where no installation is asked about.
    """
    if options.which.reports:
        raise UsageError('doctor looks at drives, not at recorded reports; leave out --report')
    limit = options.how_read.timeout
    deadline = time.monotonic() + limit - 2 * alarm.reserve(limit)
    begun = Begun(_plugin(), deadline, _known(options, runner) if options.own.user else sudo_refusals.Known(),
                  history_state.others(options.state_dir, options.own.user) if options.own.user else (),
                  daemons.nrpe_commands(), daemons.unread_nrpe())
    if options.own.user:
        user.become(options.own.user)
    return Examiner(options, runner, faces, begun).examine()


class Begun(NamedTuple):
    """What is settled before this process becomes the user of the checks."""

    path: str                # of this program; become() changes the working directory
    deadline: float          # of time.monotonic()
    known: sudo_refusals.Known
    histories: Sequence[str]   # other ones than those of --state-dir
    nrpe: Sequence[daemons.NrpeCommand] = ()
    unread_nrpe: str = ''      # its file, where this user may not read it


def _known(options: Options, runner: processes.Runner) -> sudo_refusals.Known:
    """Return what root can learn about sudo, and the user of the checks cannot."""
    how = options.how_read
    try:
        return sudo_refusals.Known() if how.nosudo else sudo_refusals.known(
            options.own.user, how.smartctl, runner, time.monotonic() + min(sudo_refusals.PATIENCE, how.timeout / 4))
    except SmartError:  # no sudo: told where it is looked for
        return sudo_refusals.Known()


class Examiner:
    """One examination, as far as it has come."""

    def __init__(self, options: Options, runner: processes.Runner, faces: Faces, begun: Begun) -> None:
        self._options, self._runner, self._faces = options, runner, faces
        self._path, self._deadline, self._known, self._histories, self._nrpe, self._unread_nrpe = begun
        self._user = user.name()
        self._unfound = ''   # why there are no devices
        self._limits: List[daemons.Limit] = []
        self.findings: List[Finding] = []
        self.pastes: Sequence[Paste] = ()

    def examine(self) -> Examination:
        """Return what was found. An alarm ends it early, and is told."""
        try:
            for step in self._steps():
                self._take(step)
        except alarm.TimeIsOver as over:
            self.findings.append(Finding('the rest', False, f'was not looked at: {over}', 'give it more time with -t'))
        alarm.disarm()  # all is known: it only remains to be said
        return Examination(f'{socket.gethostname()}, checked as {self._user}', self.findings, self.pastes)

    def _steps(self) -> Sequence[Callable[[], Iterator[Finding]]]:
        """Return what is to be examined: nothing more where this user cannot even start the program."""
        how = self._options.how_read
        first = start.examined(self._path, self._user, how, self._runner, self._deadline)
        self.findings.append(first)
        if first.is_good:
            return self._sudo, self._state, self._site, self._daemons, self._drives
        self.findings.append(Finding('the rest', None, f'was not examined: {self._user} must be able to start the '
                                                       f'program first'))
        return ()

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
        settled = sudo_rule.not_wanted(how, self._user, self._options.own.user)
        if settled or not os.path.exists(how.smartctl):
            yield settled or Finding(sudo_rule.SUBJECT, None, 'cannot be tried before smartctl is there')
            return
        sudo = sudo_rule.Sudo(self._options, self._runner, self._deadline)
        devices = self._devices(sudo)
        yield from sudo_rule.examined(sudo, self._options, self._user, self._needed(devices), devices, self._known)

    def _devices(self, sudo: sudo_rule.Sudo) -> Sequence[Device]:
        """Return the devices that a check would read; none where the scan that finds them is refused."""
        try:
            if self._is_scanning and sudo.refuses([smartctl_calls.SCAN]):
                return ()
            now = time.monotonic()  # a scan may hang: half of the time remains for everything else
            return survey.find(self._options, self._runner, now + (self._deadline - now) / 2).devices
        except SmartError as error:  # told where the drives are
            self._unfound = str(error)
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
        lines = [smartctl_calls.split(planned.command)[1] for planned in plans]
        return [*([smartctl_calls.SCAN] if self._is_scanning else []), *lines]

    def _state(self) -> Iterator[Finding]:
        yield history_state.history(self._options, self._user)
        yield from history_state.unused(self._options.state_dir, self._user, self._histories)
        yield history_state.processes(self._options)

    def _site(self) -> Iterator[Finding]:
        yield from site_files.examined(self._options)

    def _daemons(self) -> Iterator[Finding]:
        self._limits = daemons.limits()
        yield from daemons.judged(self._limits, self._options.how_read.timeout)
        if self._unread_nrpe:
            yield Finding(nrpe.SUBJECT, None, f'{self._unread_nrpe} cannot be read by {self._user}', 'look as root',
                          f'{PROGRAM} doctor --user {self._user}')
        yield from nrpe.examined(self._nrpe, self._path, self._user, self._options.how_read, self._deadline)

    def _drives(self) -> Iterator[Finding]:
        """Yield the drives, what a check prints of them, and learn what to paste."""
        if not os.path.exists(self._options.how_read.smartctl):
            yield Finding(drives.CHECK, None, 'cannot be read before smartctl is there')
            return
        try:
            if self._unfound:
                raise SmartError(self._unfound)  # once is enough: a scan that hangs takes its whole time
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
        return configuration_lines.pastes(addresses, self._path, own, self._more)

    @property
    def _more(self) -> List[str]:
        """Return what else a check needs beside its drives and its time."""
        options, how = self._options, self._options.how_read
        return [*(['-p', how.smartctl] if how.smartctl != SMARTCTL else []),
                *(['--config', options.data.config] if options.data.config != CONFIG else []),
                *(['--state-dir', options.state_dir] if options.state_dir else [])]


def _plugin() -> str:
    """Return the path of this program, as a daemon calls it."""
    here = os.path.realpath(sys.argv[0])
    return configuration_lines.USUAL_PLACE if os.path.realpath(configuration_lines.USUAL_PLACE) == here else here
