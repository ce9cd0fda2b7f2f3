"""Examine the sudo rule: whether it exists, is current, and allows exactly the calls that checks
here need.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..command_line.options import PROGRAM, USER, Options
from ..constants import IS_FREEBSD, SMARTCTL
from ..model import Answer, Device, HowRead
from ..output.doctor_findings import Finding, found
from ..reading import processes, smartctl_calls, sudoers
from ..reading.device_types import BY_NAME, base
from . import sudo_reports
from .start import AS_HIM, is_person

# FreeBSD's ports keep everything below /usr/local.
RULE = f'{"/usr/local" if IS_FREEBSD else ""}/etc/sudoers.d/check-smart-attributes'
SUBJECT, FILES = 'sudo rule', 'sudo files'
TOO_MUCH = ('-s', 'off', '/dev/sda')  # a call that none of our rules allows
Arguments = tuple[str, ...]


class SudoAnswers(NamedTuple):
    """The calls that sudo allows the monitoring user, and the calls that checks need."""

    user: str
    executable: str
    needed: Sequence[Arguments]  # calls of the checks of this machine
    refused: Sequence[Arguments]
    entries: Sequence[sudo_reports.SudoersEntry]  # empty if sudo does not list them
    admits_more: bool  # sudo also allows calls that no check makes
    rule: sudoers.SudoRule  # the rule that this program would write
    command: str  # command that prints and installs the rule
    knows_expressions: bool  # sudo supports the regular expressions that the rule uses
    is_person: bool  # the user is a person, who probably does not run the checks
    message: str  # printed by sudo when it refused or complained
    late: str  # why sudo did not answer: "no answer within 30 s"
    files: sudo_reports.SudoersFacts
    is_alone: bool  # not root, so the sudoers files could not be read
    as_root: str  # command that repeats the examination as root

    @property
    def paths(self) -> list[str]:
        """Return the paths of all programs called smartctl that the rules name."""
        return sudo_reports.programs(self.entries, os.path.basename(self.executable))

    @property
    def arguments(self) -> set[str]:
        """Return the arguments of smartctl that the rules allow, as written there."""
        return {words for entry in self.entries for words in entry.of(self.executable)}

    @property
    def is_general(self) -> bool:
        """Return whether sudoers holds all regular expressions of the rule."""
        return {f'^{expression}$' for expression in self.rule.expressions} <= self.arguments


class Sudo:
    """Ask sudo, as the monitoring user, which commands it would allow, without running them."""

    def __init__(self, options: Options, runner: processes.Runner, deadline: float) -> None:
        self.options, self._runner, self._deadline = options, runner, deadline
        self.message = ''  # printed by sudo about the calls last tested
        self.late = ''  # why sudo did not answer in time

    def refuses(self, lines: Sequence[Arguments]) -> list[Arguments]:
        """Return the smartctl command lines that sudo would refuse; sets *late* if sudo did not
        answer.
        """
        questions = {
            (smartctl_calls.find_sudo(), '-n', '-l', self.options.how_read.smartctl, *line): line
            for line in lines
        }
        answers = self._run(questions)
        messages = (answer.stderr.decode('utf-8', 'replace').strip() for answer in answers.values())
        self.message = next(filter(None, messages), '')
        return [
            line
            for command, line in questions.items()
            if answers[command].status or answers[command].signal
        ]

    def entries(self) -> list[sudo_reports.SudoersEntry]:
        """Return the sudoers entries of this user."""
        return sudo_reports.entries_of(self._printed('-n', '-ll'))

    def version(self) -> str:
        """Return the first line of sudo's version output."""
        return self._printed(*smartctl_calls.VERSION).partition('\n')[0]

    def _printed(self, *words: str) -> str:
        command = (smartctl_calls.find_sudo(), *words)
        return self._run([command])[command].stdout.decode('utf-8', 'replace')

    def _run(self, lines: Iterable[Arguments]) -> dict[Arguments, Answer]:
        patience = self.options.how_read.drive_timeout
        answers = {
            answer.command: answer for answer in self._runner.run(lines, patience, self._deadline)
        }
        self.late = self.late or next(
            (answer.reason for answer in answers.values() if answer.outcome != 'done'), ''
        )
        return answers


def unneeded(how: HowRead, user: str, named: str) -> Finding | None:
    """Return the finding if checks do not use sudo, else None. named: the user given with
    --user, or ''.
    """
    if how.nosudo:
        return found('sudo-not-used')
    if os.geteuid() != 0:
        return None
    if named:
        return found('sudo-not-needed', user=user)
    return found('sudo-rule-not-tested')


def examine_rule(
    sudo: Sudo,
    user: str,
    needed: Sequence[Arguments],
    devices: Sequence[Device],
    files: sudo_reports.SudoersFacts,
) -> list[Finding]:
    """Return the findings for the rule. devices: the devices whose command lines are part of
    *needed*.

    Raises UsageError if sudo is not installed.
    """
    options, how = sudo.options, sudo.options.how_read
    refused, message = sudo.refuses(needed), sudo.message
    entries = sudo.entries() or files.entries
    # the device types, of these devices and in the current rule, that are allowed only on request
    there = ' '.join(command for entry in entries for command in entry.commands)
    used = {base(device).partition(',')[0] for device in devices}
    types = tuple(
        name
        for name, kind in BY_NAME.items()
        if kind.is_vendors and (name in used or name in there)
    )
    rule = sudoers.general(sudoers.RuleRequest(user, types=types), how)
    # the general rule does not cover these paths
    odd = [
        device.address
        for device in devices
        if not sudoers.admits(
            rule.expressions, smartctl_calls.read_arguments(device.path, device.type)
        )
    ]
    admits_more = not sudo.refuses([TOO_MUCH])
    answers = SudoAnswers(
        user,
        how.smartctl,
        needed,
        refused,
        entries,
        admits_more,
        rule,
        _installing(how, user, types, odd),
        sudoers.knows_expressions(sudo.version()),
        is_person(os.geteuid()),
        message,
        sudo.late,
        files,
        not options.own.user,
        _as_root(options, user),
    )
    complaint = None if refused else sudo_reports.reason(message, user)
    return [finding(answers), *([_because(complaint, answers, FILES)] if complaint else [])]


def _installing(how: HowRead, user: str, types: Iterable[str], addresses: Iterable[str]) -> str:
    words = [
        PROGRAM,
        'sudoers',
        *(['--user', user] if user != USER else []),
        *(['-p', how.smartctl] if how.smartctl != SMARTCTL else []),
        *(['-t', f'{how.timeout:g}'] if how.timeout != HowRead().timeout else []),
        *(word for name in types for word in ('--type', name)),
        *(word for address in addresses for word in ('-d', address)),
    ]
    return f'{shlex.join(words)} > rule && visudo -cf rule && install -m 0440 rule {RULE}'


def _as_root(options: Options, user: str) -> str:
    """Return the command that examines the same installation as root."""
    path = options.how_read.smartctl
    return shlex.join(
        [
            PROGRAM,
            'doctor',
            '--user',
            user,
            *(['-p', path] if path != SMARTCTL else []),
            *(word for address in options.which.devices for word in ('-d', address)),
            *(['--state-dir', options.state_dir] if options.state_dir else []),
        ]
    )


# --- interpretation; pure -----------------------------------------------------------------


def finding(answers: SudoAnswers) -> Finding:
    """Return the finding: the first reason to renew the rule, or the fact that the rule allows
    the needed calls.
    """
    user = answers.user
    if answers.late:
        return found('sudo-silent', reason=answers.late, user=user)
    reason = (
        sudo_reports.why(answers.message, answers.files, user)
        if answers.refused
        else answers.files.winner
    )
    if reason:
        return _because(reason, answers, SUBJECT)
    if answers.is_alone and answers.refused and not answers.paths and not answers.is_person:
        return _because(found('sudo-rule-not-seen', as_root=answers.as_root), answers, SUBJECT)
    for fault in _faults(answers):
        return _because(fault, answers, SUBJECT)
    if answers.admits_more:
        return _too_much(answers)
    is_current = answers.entries and answers.is_general
    return found(
        'sudo-rule-current' if is_current else 'sudo-rule-sufficient', calls=len(answers.needed)
    )


def _too_much(answers: SudoAnswers) -> Finding:
    """Return the finding for a rule that allows more than checks need."""
    path, number, _ = answers.files.widest
    if not path or path in answers.command.split():  # the command replaces that file
        return found('sudo-rule-too-wide', user=answers.user, install=answers.command)
    return found('sudo-line-too-wide', user=answers.user, file=path, line=number)


def _because(reason: Finding, answers: SudoAnswers, subject: str) -> Finding:
    """Return a finding with sudo's own message, unchanged.

    A note keeps admins from installing the rule for their own account by mistake.
    """
    printed = f'; sudo reports: {answers.message}' if answers.message else ''
    whose = f'{AS_HIM}; if that is {answers.user}, ' if answers.is_person else ''
    return reason._replace(
        subject=subject,
        message=reason.message + printed,
        remedy=whose + reason.remedy,
        fields={**reason.fields, 'printed': answers.message},
    )


def _faults(answers: SudoAnswers) -> Iterator[Finding]:
    executable, refused, install = answers.executable, answers.refused, answers.command
    ours = [entry for entry in answers.entries if entry.of(executable)]
    others = [path for path in answers.paths if path != executable]
    if refused and not ours:
        yield (
            found('sudo-rule-for-other-path', other=others[0], path=executable, install=install)
            if others
            else found('sudo-rule-absent', user=answers.user, path=executable, install=install)
        )
    if ours and all(entry.needs_password for entry in ours):
        yield found('sudo-rule-asks-password', install=install)
    if refused:
        yield found(
            'sudo-rule-refuses',
            refused=len(refused),
            calls=len(answers.needed),
            call=' '.join(refused[0]),
            install=install,
        )
    timeout = answers.rule.timeout
    if any(entry.timeout is not None and entry.timeout < timeout for entry in ours):
        yield found(
            'sudo-rule-ends-early',
            seconds=min(entry.timeout or 0 for entry in ours),
            needed=timeout,
            install=install,
        )
    # A literal rule has a line for each drive, which is sufficient.
    has_expressions = any(words.startswith('^') for words in answers.arguments)
    if (
        has_expressions
        and not (answers.admits_more or answers.is_general)
        and answers.knows_expressions
    ):
        yield found('sudo-rule-of-other-version', install=install)
