"""Examine the sudo rule: whether it exists, is current, and allows exactly the calls that checks
here need.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..command_line.options import PROGRAM, USER, Options
from ..constants import IS_FREEBSD, SMARTCTL, TIMEOUT
from ..daemons.users import is_person
from ..model import Device, HowRead
from ..output.doctor_findings import Finding, found
from ..reading import smartctl_calls, sudoers
from ..reading.device_types import base
from ..sudo import reports
from ..sudo import rule as sudo_rules
from ..sudo.listing import Sudo, SudoersEntry
from .start import AS_HIM

# FreeBSD's ports keep everything below /usr/local.
RULE = f'{"/usr/local" if IS_FREEBSD else ""}/etc/sudoers.d/check-smart-attributes'
SUBJECT = 'sudo rule'
TOO_MUCH = ('-s', 'off', '/dev/sda')  # a call that none of our rules allows
Arguments = tuple[str, ...]


class SudoAnswers(NamedTuple):
    """What sudo allows the monitoring user, and what checks need."""

    user: str
    rule: sudo_rules.SudoRule  # the rule that this program would write
    install: str  # command that prints and installs the rule
    needed: Sequence[Arguments]  # calls of the checks of this machine
    refused: Sequence[Arguments]  # the calls of these that sudo refuses
    entries: Sequence[SudoersEntry]  # empty if sudo does not list them
    admits_more: bool  # sudo also allows calls that no check makes
    knows_expressions: bool  # sudo supports the regular expressions of the rule
    # the user is a person, who probably does not run the checks
    is_person: bool
    message: str  # printed by sudo when it refused or complained
    late: str  # why sudo did not answer: "no answer within 30 s"; '' if it did
    files: reports.SudoersFacts
    # command that repeats the examination as root; '' if root examines
    root_command: str

    @property
    def smartctl_entries(self) -> list[SudoersEntry]:
        """Return the entries for smartctl."""
        return [entry for entry in self.entries if entry.of(self.rule.executable)]

    @property
    def arguments(self) -> set[str]:
        """Return the arguments of smartctl that the entries allow, as written there."""
        arguments: set[str] = set()
        for entry in self.smartctl_entries:
            arguments.update(entry.of(self.rule.executable))
        return arguments

    @property
    def is_general(self) -> bool:
        """Return whether sudoers holds all regular expressions of the rule of this version."""
        needed = {f'^{expression}$' for expression in self.rule.expressions}
        return needed <= self.arguments


def unneeded(how: HowRead, user: str, user_option: str) -> Finding | None:
    """Return why the sudo rule is not examined; None for a user whose checks need sudo.

    user: the user that this process runs as. user_option: the value of --user, or ''; with it, this
    process has already become that user.
    """
    if how.nosudo:
        return found('sudo-not-used')
    if os.geteuid() != 0:
        return None
    # --user says that the checks run as root, who does not need sudo.
    if user_option:
        return found('sudo-not-needed', user=user)
    # Root runs doctor without --user, so it is not known which user runs the checks.
    return found('sudo-rule-not-tested')


def examine_rule(
    sudo: Sudo,
    options: Options,
    user: str,
    needed: Sequence[Arguments],
    devices: Sequence[Device],
    files: reports.SudoersFacts,
) -> list[Finding]:
    """Return the findings for the rule. devices: the devices whose command lines are part of
    *needed*.

    Raises UsageError if sudo is not installed.
    """
    how = options.how_read
    refused = sudo.refuses(needed)
    message = sudo.message  # the next call of refuses() replaces it
    entries = sudo.entries() or files.entries
    admits_more = not sudo.refuses([TOO_MUCH])
    knows_expressions = sudo_rules.knows_expressions(sudo.version())
    late = sudo.late  # set if any of the calls above got no complete answer
    types = _types_on_request(devices, entries)
    rule = sudo_rules.general(sudo_rules.RuleRequest(user, types=types), how)
    # addresses that the general rule does not allow
    uncovered = [
        device.address
        for device in devices
        if not sudoers.admits(
            rule.expressions, smartctl_calls.read_arguments(device.path, device.type)
        )
    ]
    answers = SudoAnswers(
        user,
        rule,
        install=_installing(how, user, types, uncovered),
        needed=needed,
        refused=refused,
        entries=entries,
        admits_more=admits_more,
        knows_expressions=knows_expressions,
        is_person=not options.own.user and is_person(os.geteuid()),
        message=message,
        late=late,
        files=files,
        root_command='' if options.own.user else _as_root(how, user),
    )
    findings = [interpreted(answers)]
    # The first finding already explains why calls were refused.
    if refused:
        return findings
    complaint = reports.reason(message, user, how.smartctl)
    if complaint:
        findings.append(_because(complaint, answers, 'sudo files'))
    return findings


def _types_on_request(
    devices: Iterable[Device], entries: Iterable[SudoersEntry]
) -> tuple[str, ...]:
    """Return the device types that a rule must be asked to allow: of REQUESTABLE, those of a device,
    and those in a line of the present rule (entries).
    """
    present_rule = ' '.join(' '.join(entry.commands) for entry in entries)
    used = {base(device).partition(',')[0] for device in devices}
    return tuple(
        name for name in sudo_rules.REQUESTABLE if name in used or name in present_rule
    )


def _installing(
    how: HowRead, user: str, types: Iterable[str], addresses: Iterable[str]
) -> str:
    """Return the command that prints the rule, checks it and installs it.

    types, addresses: what the rule must allow in addition.
    """
    words = [PROGRAM, 'sudoers']
    if user != USER:
        words += ['--user', user]
    file = RULE
    if how.smartctl != SMARTCTL:
        words += ['-p', how.smartctl]
        # Checks with another smartctl need a rule beside the usual one. sudo ignores names with a
        # dot.
        file += how.smartctl.replace('/', '-').replace('.', '-')
    if how.timeout != TIMEOUT:
        words += ['-t', f'{how.timeout:g}']
    for name in types:
        words += ['--type', name]
    for address in addresses:
        words += ['-d', address]
    return (
        f'{shlex.join(words)} > rule && visudo -cf rule && install -m 0440 rule {file}'
    )


def _as_root(how: HowRead, user: str) -> str:
    """Return the command that examines the same installation as root."""
    path = [] if how.smartctl == SMARTCTL else ['-p', how.smartctl]
    return shlex.join([PROGRAM, 'doctor', '--user', user, *path])


# --- interpretation; pure -----------------------------------------------------------------


def interpreted(answers: SudoAnswers) -> Finding:
    """Return the most important reason to renew the rule, or else the finding that it is good."""
    reason = _hindrance(answers) or _unfit_rule(answers)
    if reason:
        return reason
    # A rule that is not general has a line for each drive, or sudo does not list it.
    code = 'sudo-rule-current' if answers.is_general else 'sudo-rule-sufficient'
    return found(code, calls=len(answers.needed))


def _hindrance(answers: SudoAnswers) -> Finding | None:
    """Return why sudo does not run the calls of a check; None if it does."""
    if answers.late:
        return found('sudo-silent', reason=answers.late, user=answers.user)
    if answers.refused:
        return _because(_refusal(answers), answers, SUBJECT)
    if answers.files.overriding:
        return _because(answers.files.overriding, answers, SUBJECT)
    entries = answers.smartctl_entries
    if entries and all(entry.needs_password for entry in entries):
        return found('sudo-rule-asks-password', install=answers.install)
    return None


def _unfit_rule(answers: SudoAnswers) -> Finding | None:
    """Return what is wrong with a rule that allows the calls of a check; None if it is good."""
    install = answers.install
    limits = [
        entry.timeout for entry in answers.smartctl_entries if entry.timeout is not None
    ]
    needed = answers.rule.timeout
    if limits and min(limits) < needed:
        return found(
            'sudo-rule-ends-early', seconds=min(limits), needed=needed, install=install
        )
    if answers.admits_more:
        return _too_much(answers)
    has_expressions = any(words.startswith('^') for words in answers.arguments)
    has_other_expressions = has_expressions and not answers.is_general
    if has_other_expressions and answers.knows_expressions:
        return found('sudo-rule-of-other-version', install=install)
    return None


def _refusal(answers: SudoAnswers) -> Finding:
    """Return why sudo refuses the calls: a reason outside the rule, else what is wrong with the rule."""
    program = answers.rule.executable
    reason = reports.why(answers.message, answers.files, answers.user, program)
    if reason:
        return reason
    # The monitoring user may be unable to list its rules; root sees all of them. A person probably has
    # no rule at all.
    may_have_unseen_rule = (
        answers.root_command and not answers.smartctl_entries and not answers.is_person
    )
    if may_have_unseen_rule:
        return found('sudo-rule-not-seen', as_root=answers.root_command)
    code = 'sudo-rule-refuses' if answers.smartctl_entries else 'sudo-rule-absent'
    return found(
        code,
        user=answers.user,
        path=program,
        refused=len(answers.refused),
        calls=len(answers.needed),
        call=' '.join(answers.refused[0]),
        install=answers.install,
    )


def _too_much(answers: SudoAnswers) -> Finding:
    """Return the finding for a rule that allows more than checks need."""
    path, number, _ = answers.files.allowing_all
    if not path or path in answers.install.split():  # the command replaces that file
        return found('sudo-rule-too-wide', user=answers.user, install=answers.install)
    return found('sudo-line-too-wide', user=answers.user, file=path, line=number)


def _because(reason: Finding, answers: SudoAnswers, subject: str) -> Finding:
    """Return the finding *reason* with sudo's own message, unchanged, and with another subject."""
    message = reason.message
    remedy = reason.remedy
    if answers.message:
        message += f'; sudo reports: {answers.message}'
    if answers.is_person:
        # else admins would install the rule for their own account by mistake
        remedy = f'{AS_HIM}; if {answers.user} is the monitoring user, {remedy}'
    return reason._replace(
        subject=subject,
        message=message,
        remedy=remedy,
        fields={**reason.fields, 'printed': answers.message},
    )
