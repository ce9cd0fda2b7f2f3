"""Examine an installation step by step, and report steps that were skipped for lack of time."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from .. import alarm
from ..access import name_of
from ..check import history_answers, reads, survey
from ..check.settings import of_reads
from ..command_line.options import PROGRAM, Options
from ..constants import DAY, SMARTCTL
from ..daemons import icinga, nagios
from ..daemons.checks import USUAL, DaemonCheck, fitting
from ..daemons.users import become
from ..errors import SmartError, UsageError
from ..failures import not_installed
from ..files import CONFIG
from ..installers import installer
from ..model import Device
from ..output import budget
from ..output.doctor_findings import (
    GOOD,
    PROBLEM,
    Examination,
    Finding,
    Paste,
    found,
    said,
)
from ..reading import machine, processes, smartctl_calls
from ..sudo import reports
from ..sudo.listing import Sudo
from . import (
    coverage,
    daemon_checks,
    drives,
    history_state,
    installed,
    start,
    sudo_rule,
)


class Examiner:
    """One examination and its progress.

    The examination begins before this process becomes the monitoring user, to collect the findings.
    """

    def __init__(
        self,
        options: Options,
        runner: processes.Runner,
        output_of: Callable[[survey.Survey], str],
        addresses_of: Callable[[survey.Survey], Sequence[str]],
    ) -> None:
        """Collect what only root may read, because examine() gives up the rights of root.

        output_of: returns the output of a check. addresses_of: returns the -d arguments for the
        drives. Raises UsageError if the options do not describe an installation.
        """
        which = options.which
        if which.reports:
            raise UsageError(
                'doctor examines drives, not recorded reports; remove --report'
            )
        self._options, self._runner = options, runner
        self._output_of, self._addresses_of = output_of, addresses_of
        self._deadline = reads.deadline(options.how_read.timeout)
        self._is_scanning = which.scan or not which.devices  # scanning is the default
        # of this program; become() changes the working directory, to which it may be relative
        self._path = _path_for_daemons()
        self._sudoers = self._read_sudoers()
        # the checks that daemons run, and the findings about others that they refuse to run
        self._checks, self._refused = self._ask_daemons()
        # the findings about these checks: what they answer
        self._answers = daemon_checks.examine(
            self._checks, self._path, options.own.user, self._half_time()
        )
        # the finding about a missing plugin
        self._plugin_findings = installed.examine(self._path)
        # The steps of examine() set these.
        self._scan_error: SmartError | None = None
        self._findings: list[Finding] = []
        self._pastes: Sequence[Paste] = ()

    def _read_sudoers(self) -> reports.SudoersFacts:
        """Return what sudoers says about the user given with --user; nothing without sudo, which
        _sudo() reports.
        """
        how = self._options.how_read
        name = self._options.own.user
        if name and not how.nosudo:
            end = time.monotonic() + min(reports.PATIENCE, how.timeout / 4)
            with suppress(SmartError):
                return reports.facts(name, how.smartctl, self._runner, end)
        return reports.SudoersFacts()

    def _ask_daemons(self) -> tuple[list[DaemonCheck], list[Finding]]:
        """Return the checks of Icinga 2, Nagios and NRPE, and the findings about checks that these
        daemons refuse or do not know.
        """
        nrpe = nagios.nrpe()
        objects, refused = icinga.ask()
        nagios_checks, refused_by_nagios = nagios.nagios_checks(nrpe)
        refused += refused_by_nagios
        refused += nagios.nrpe_findings(nrpe, self._options.own.user)
        checks = [*nagios.nrpe_checks(nrpe), *nagios_checks]
        if objects:
            checks += icinga.checks(objects)
            refused += icinga.findings(objects)
            if not objects.commands:
                refused += installed.check_command(self._path)
        return checks, refused

    def _half_time(self) -> float:
        """Return when half of the remaining time is over: a drive or a scan may hang, and the rest
        remains for everything else.
        """
        now = time.monotonic()
        return now + (self._deadline - now) / 2

    def examine(self) -> Examination:
        """Become the monitoring user, and return the findings.

        An alarm that ends the examination early is itself reported as a finding. Raises UsageError
        if this process cannot become that user.
        """
        if self._options.own.user:
            become(self._options.own.user)
        self._user = name_of(os.geteuid())
        try:
            for step in self._steps():
                self._take(step)
        except alarm.TimeIsOver as over:
            self._findings.append(found('examination-incomplete', reason=str(over)))
        alarm.disarm()  # only the output is left to do
        return Examination(
            socket.gethostname(), self._user, self._findings, self._pastes
        )

    def _steps(self) -> Sequence[Callable[[], Iterable[Finding]]]:
        """Examine whether this user can start the program, and return the further steps: functions
        that return findings. Return () if the user cannot.
        """
        first = start.examine(
            self._path, self._user, self._options.how_read, self._runner, self._deadline
        )
        self._findings.append(first)
        if first.state != GOOD:
            self._findings.append(found('examination-waits', user=self._user))
            return ()
        return (
            # collected before this process became the monitoring user
            lambda: self._plugin_findings,
            self._sudo,
            lambda: [history_state.history(self._options, self._user)],
            lambda: installed.site_files(self._options),
            self._drives,
            self._daemons,
        )

    def _take(self, step: Callable[[], Iterable[Finding]]) -> None:
        """Add the findings of a step; one finding if a module is missing for it."""
        try:
            for finding in step():
                # added at once, so that an alarm does not lose it
                self._findings.append(finding)
        # a check that needs the module is UNKNOWN, too
        except ModuleNotFoundError as error:
            name = error.name or str(error)
            self._findings.append(
                said('module-missing', not_installed(name), module=name)
            )

    def _sudo(self) -> Iterator[Finding]:
        """Yield the findings for smartctl and for the sudo rule that lets checks run smartctl."""
        how = self._options.how_read
        yield start.examine_smartctl(how, self._runner, self._deadline)
        finding = sudo_rule.unneeded(how, self._user, self._options.own.user)
        if finding:
            yield finding
            return
        if not os.path.exists(how.smartctl):
            yield found('sudo-rule-waits')
            return
        sudo = Sudo(how, self._runner, self._deadline)
        devices = self._devices(sudo)
        try:
            yield from sudo_rule.examine_rule(
                sudo,
                self._options,
                self._user,
                self._needed(devices),
                devices,
                self._sudoers,
            )
        except UsageError as error:  # sudo is not installed
            yield said('sudo-not-installed', str(error), install=installer().install)

    def _devices(self, sudo: Sudo) -> Sequence[Device]:
        """Return the devices that a check would read; () if sudo refuses the scan that finds them,
        or if the scan fails, which is stored for _drives().
        """
        try:
            if self._is_scanning and sudo.refuses([smartctl_calls.SCAN]):
                return ()
            return reads.find(
                of_reads(self._options), self._runner, self._half_time()
            ).devices
        except SmartError as error:
            self._scan_error = error
            return ()

    def _needed(self, devices: Sequence[Device]) -> list[sudo_rule.Arguments]:
        """Return the smartctl command lines that a check would run."""
        lines: list[sudo_rule.Arguments] = []
        if self._is_scanning:
            lines.append(smartctl_calls.SCAN)
        with suppress(SmartError):  # reported with the drives
            for planned in reads.plan(devices, of_reads(self._options)):
                lines.append(smartctl_calls.arguments_in(planned.command))
        return lines

    def _daemons(self) -> Iterator[Finding]:
        """Yield the findings about the daemons; those that other findings may explain wait."""
        yield from daemon_checks.limits(self._checks, self._options.how_read.timeout)
        yield from self._refused
        # _take() adds each finding before it asks for the next, so those above are included.
        has_problems = any(finding.state == PROBLEM for finding in self._findings)
        for result in self._answers:
            if has_problems and result.code == 'daemon-check-unknown':
                yield found('daemon-check-waits', **result.fields)
            else:
                yield result

    def _drives(self) -> Iterator[Finding]:
        """Yield the findings for the drives, for the size of a check's output and for drives that
        no check reads; store the lines to paste.
        """
        options = self._options
        if not os.path.exists(options.how_read.smartctl):
            yield found('drives-wait-for-smartctl')
            return
        if self._scan_error:
            # do not scan again: a scan that hangs uses its whole time limit
            yield self._unread(self._scan_error)
            return
        try:
            survey_of_all = survey.survey(options, self._runner, is_for_a_person=True)
        except SmartError as error:
            yield self._unread(error)
            return
        check = [PROGRAM, *_other_options(options)]
        for finding in drives.findings(
            survey_of_all,
            options.naming.hide_serial,
            check,
            # through sudo, or because this user is root
            reads_as_root=not options.how_read.nosudo or os.geteuid() == 0,
        ):
            yield self._without_drives() if finding.code == 'no-drives' else finding
        printed = self._output_of(survey_of_all)
        if any(not verdict.problem for verdict in survey_of_all.verdicts):
            yield daemon_checks.output(
                self._checks, len(printed.encode()), budget.WHY in printed
            )
        yield from coverage.examine(self._uses(survey_of_all), options, self._scanned)
        self._pastes = self._lines_to_paste(survey_of_all)

    def _uses(self, survey_of_all: survey.Survey) -> list[coverage.Uses]:
        """Return which drives the checks of this machine read: those of daemons, the one that these
        options describe, and those that have stored readings.
        """
        uses = list(map(coverage.of_check, self._checks))
        which = self._options.which
        selects_drives = which.devices or which.scan
        # options of version 1.6 may select other drives
        if selects_drives and not self._options.before:
            uses.append(coverage.Uses(which.devices, which.scan))
        # a drive in standby can stay unread for days, although a check selects it
        used = history_answers.in_use(survey_of_all.history, 7 * DAY)
        if used:
            uses.append(coverage.Uses(used))
        return uses

    def _lines_to_paste(self, survey_of_all: survey.Survey) -> Sequence[Paste]:
        """Return the configuration lines of a check, with a time limit that ends it before a daemon
        on this machine kills it.
        """
        timeout = self._options.how_read.timeout
        shortest = min((check.seconds for check in self._checks), default=USUAL)
        if timeout >= shortest:
            timeout = fitting(shortest)
        return drives.pastes(
            drives.to_watch(survey_of_all.reads, self._addresses_of(survey_of_all)),
            self._path,
            timeout,
            _other_options(self._options),
            is_scan=not self._options.which.devices,
        )

    def _without_drives(self) -> Finding:
        """Return the finding for a machine without drives; good if the checks of daemons expect none."""
        if self._answers and all(result.state == GOOD for result in self._answers):
            return found('drives-none')
        return found('drives-none-found', user=self._user)

    def _scanned(self) -> Sequence[Device]:
        """Return the devices that smartctl --scan finds."""
        how = self._options.how_read
        return machine.find(
            machine.DeviceList(()), True, how, self._runner, self._deadline
        ).devices

    def _unread(self, error: SmartError) -> Finding:
        """Return the finding for an error that kept all drives from being read."""
        # subjects of the problems so far
        problems = [
            finding.subject for finding in self._findings if finding.state == PROBLEM
        ]
        if sudo_rule.SUBJECT in problems:
            return found('drives-wait-for-sudo')
        smartctl = self._options.how_read.smartctl
        # sudo -l allows the call, but sudo can still refuse to run it, for example because of an expired
        # account; then it prints why
        cause = reports.reason(error.printed, self._user, smartctl)
        return cause or said(error.code, str(error), drives.CHECK)


def _path_for_daemons() -> str:
    """Return the path of this program in the folder for plugins, or else its real path."""
    here = os.path.realpath(sys.argv[0])
    for folder in (*installed.PLUGIN_FOLDERS, installed.NO_PLUGIN_FOLDER):
        plugin = f'{folder}/{PROGRAM}'
        if os.path.realpath(plugin) == here:
            return plugin
    return here


def _other_options(options: Options) -> list[str]:
    """Return the options of a check other than its drives and its time limit, with their values;
    those with the default value are left out.
    """
    words = []
    if options.how_read.smartctl != SMARTCTL:
        words += ['--path', options.how_read.smartctl]
    if options.data.config != CONFIG:
        words += ['--config', options.data.config]
    if options.state_dir:
        words += ['--state-dir', options.state_dir]
    return words
