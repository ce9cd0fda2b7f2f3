"""Reports of sudo and visudo, run as the monitoring user and as root: the allowed commands, and
why sudo refuses.
"""

from __future__ import annotations

import grp
import os
import pwd
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from .. import files
from ..constants import LARGEST_SMALL_FILE
from ..model import Answer
from ..output.doctor_findings import Finding, found
from ..reading import processes, smartctl_calls
from ..reading.system import names_in
from .listing import SudoersEntry, denial, entries_of, widest_command

SUDOERS = '/etc/sudoers'
FOLDER = '/etc/sudoers.d'
PATIENCE = 10.0  # seconds to wait for visudo and sudo, run by root
# Pattern of a message of sudo or visudo, whose group is the path -> code of the reason. LC_ALL=C.
# Source: sudo 1.8 to 1.9, src/sudo.c, plugins/sudoers/{sudoers,auth/pam,visudo}.c; tried with
# 1.9.13.
REASONS = (
    ('must have a tty', 'sudo-needs-terminal'),
    ('account validation failure|[Aa]ccount expired', 'account-expired'),
    ('PAM account management error|pam_access', 'sudo-account-refused'),
    ('no new privileges', 'no-new-privileges'),
    ("'nosuid' option|nosuid", 'sudo-nosuid'),
    # other failures end with "error initializing audit plugin"
    ('audit (?:system|message|event)', 'sudo-audit'),
    ('PERM_[A-Z]+: set|setres[ug]id|unable to change to', 'sudo-cannot-switch'),
    (r'(/\S+) must be owned by uid 0 and have the setuid bit', 'sudo-setuid-missing'),
    (r'(/\S+) is (?:world|group) writable', 'sudoers-mode-wrong'),
    (r'(/\S+): bad permissions', 'sudoers-mode-wrong'),
    (r'(/\S+) is owned by [ug]id', 'sudoers-owner-wrong'),
    (r'(/\S+): wrong owner', 'sudoers-owner-wrong'),
    (r'(/[^\s:]+):([0-9]+):[^\n]*syntax error', 'sudoers-syntax-error'),
)
# Messages that blame the rule, or nothing. Every other message of sudo is a failure of sudo.
RULE_MISSING = 'password is required|not allowed|may not run|not in the sudoers|unable to resolve host|setrlimit'
_BAD_MODE = r'(?m)^(/\S+): bad permissions.*$'


class SudoersLine(NamedTuple):
    """A line of a sudoers file; the default stands for a line that was not found."""

    path: str = ''
    number: int = 0
    text: str = ''


class SudoersFacts(NamedTuple):
    """Facts from the sudoers files, read as root before the process becomes the monitoring user."""

    checked: str = ''  # output of visudo -c
    is_valid: bool = False  # visudo accepts all files
    rules: Sequence[str] = ()  # sudoers files that name this user and smartctl
    is_included: bool = True  # SUDOERS includes FOLDER
    # entries of this user, including entries that require a password
    entries: Sequence[SudoersEntry] = ()
    # about the line that denies smartctl after the rule allows it
    overriding: Finding | None = None
    allowing_all: SudoersLine = SudoersLine()  # the line that allows all calls


def facts(
    user: str, executable: str, runner: processes.Runner, deadline: float
) -> SudoersFacts:
    """Return the facts that only root can read; empty if this process is not root's, or if visudo is
    not installed.

    Raises UsageError if sudo is not installed.
    """
    visudo = smartctl_calls.program('visudo', smartctl_calls.ENVIRONMENT['PATH'])
    if os.geteuid() != 0 or not visudo:
        return SudoersFacts()
    commands = [(visudo, '-c'), (smartctl_calls.find_sudo(), '-n', '-ll', '-U', user)]
    answers = {
        answer.command: answer for answer in runner.run(commands, PATIENCE, deadline)
    }
    validation, listing = (answers[command] for command in commands)
    checked = _checked(validation)
    # visudo also fails if sudo accepts all files, but one has an unusual mode. Then each line of
    # *checked* ends with "parsed OK".
    lines = checked.splitlines()
    is_parsed = bool(lines) and all(line.endswith('parsed OK') for line in lines)
    entries = entries_of(listing.stdout.decode('utf-8', 'replace'))
    texts = _texts()
    names = _names_of(user)
    program = os.path.basename(executable)
    of_user = rf'(?m)^{re.escape(user)}\s'
    main = texts[SUDOERS]
    included = re.search(rf'(?m)^\s*[@#]includedir\s+{FOLDER}/?\s*$', main)
    return SudoersFacts(
        checked=checked,
        is_valid=validation.status == 0 or is_parsed,
        rules=[
            path
            for path, text in texts.items()
            if path != SUDOERS and program in text and re.search(of_user, text)
        ],
        # a file that could not be read is assumed to include the folder
        is_included=not main or bool(included),
        entries=entries,
        overriding=_overriding(denial(entries, executable), texts, names),
        allowing_all=located(widest_command(entries, executable), texts, names),
    )


def _names_of(user: str) -> list[str]:
    """Return the user and, with "%", the user's groups; only the user if a group has no name."""
    try:
        numbers = os.getgrouplist(user, pwd.getpwnam(user).pw_gid)
        return [user, *(f'%{grp.getgrgid(number).gr_name}' for number in numbers)]
    except KeyError:
        return [user]


def _overriding(
    command: str, texts: Mapping[str, str], names: Sequence[str]
) -> Finding | None:
    """Return the finding for a command that overrides the rule; None if *command* is ''. The
    arguments are those of located().
    """
    if not command:
        return None
    path, number, line = located(command, texts, names)
    if path:
        return found('sudo-rule-overridden', path=path, line=number, text=line)
    return found('sudo-rule-overridden-somewhere', rule=command, user=names[0])


def _checked(validation: Answer) -> str:
    """Return what visudo -c printed, a line for each file: "/etc/sudoers: parsed OK", or what is
    wrong with it; "parsed OK", too, if only the mode is wrong and sudo accepts it, see _as_sudo().
    """
    printed = validation.stderr.strip() + b'\n' + validation.stdout
    return re.sub(_BAD_MODE, _as_sudo, printed.decode('utf-8', 'replace').strip())


def _as_sudo(match: re.Match[str]) -> str:
    """Return visudo's message about a file's mode; "PATH: parsed OK" instead if neither the file's
    group nor others can write the file, because sudo then reads it.
    """
    with suppress(OSError):
        others_can_write = bool(os.stat(match[1]).st_mode & 0o022)
        if not others_can_write:
            return f'{match[1]}: parsed OK'
    return match[0]


def _texts() -> dict[str, str]:
    """Return the text of each sudoers file, in the order in which sudo reads them."""
    paths = [SUDOERS, *(os.path.join(FOLDER, name) for name in names_in(FOLDER))]
    return {path: files.text(path, LARGEST_SMALL_FILE) for path in paths}


# --- interpretation; pure -----------------------------------------------------------------


def reason(message: str, user: str, program: str) -> Finding | None:
    """Return the finding for a message of sudo or visudo; None if the message blames only the
    rule. program: path of smartctl.
    """
    for pattern, code in REASONS:
        match = re.search(pattern, message)
        if match:
            # a message may name no file, or a file without a line
            path, line, *_ = (*match.groups(), '', '')
            return found(
                code, user=user, path=path, line=line, program=program, message=message
            )
    if 'sudo: ' in message and not re.search(RULE_MISSING, message):
        return found('sudo-fails', user=user, message=message)
    return None


def located(
    command: str, texts: Mapping[str, str], names: Sequence[str]
) -> SudoersLine:
    """Return the last line with a command that `sudo -l` lists; SudoersLine() if not found.

    command: as written, such as "!/usr/sbin/smartctl"; '' for none. texts: by path, in the order in
    which sudo reads them. names: the user and, with "%", the user's groups.
    """
    last = SudoersLine()
    if not command:
        return last
    # A name in capitals, also ALL, may be an alias for the user.
    user_pattern = '|'.join([*map(re.escape, names), '[A-Z][A-Z0-9_]*'])
    # sudo allows blanks after "!".
    command_pattern = re.escape(command).replace('!', r'!\s*')
    # "nagios ALL=(root) NOPASSWD: /usr/bin/id, ! /usr/sbin/smartctl  # a comment": the user, any
    # text, the command after one of "=:,)" or a blank, then a comma, a comment or the end.
    pattern = rf'\s*(?:{user_pattern})\s.*[=\s:,)]{command_pattern}\s*(?:,|#|$)'
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            if re.match(pattern, line):
                last = SudoersLine(path, number, line.strip())
    return last


def unread(sudoers: SudoersFacts) -> Finding | None:
    """Return why sudo ignores a rule that exists; None if sudo reads all rules, or if visudo
    rejects a file, for which why() has another finding.
    """
    if not sudoers.is_valid:
        return None
    ignored = [
        path for path in sudoers.rules if f'{path}: parsed OK' not in sudoers.checked
    ]
    if not ignored:
        return None
    path = ignored[0]
    if not sudoers.is_included:
        return found('sudoers-not-included', path=path)
    name = os.path.basename(path)
    if '.' not in name and not name.endswith('~'):
        return found('sudoers-not-read', path=path)
    better = os.path.join(FOLDER, name.rstrip('~').replace('.', '-'))
    return found('sudoers-name-ignored', path=path, better=better)


def why(message: str, sudoers: SudoersFacts, user: str, program: str) -> Finding | None:
    """Return why sudo refuses, apart from a missing or wrong rule; None if unknown. message:
    output of sudo.
    """
    refusal = reason(message, user, program)
    if not refusal and not sudoers.is_valid:
        refusal = reason(sudoers.checked, user, program)
    return refusal or sudoers.overriding or unread(sudoers)
