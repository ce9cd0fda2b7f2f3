"""Reports of sudo and visudo, run as the monitoring user and as root: the allowed commands, and
why sudo refuses.
"""

from __future__ import annotations

import grp
import os
import pwd
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from .. import files
from ..constants import LARGEST_SMALL_FILE, SMARTCTL
from ..output.doctor_findings import Finding, found
from ..reading import processes, smartctl_calls
from ..reading.system import names_in
from .listing import SudoersEntry, denial, entries_of, widest_command

SUDOERS, FOLDER = '/etc/sudoers', '/etc/sudoers.d'
PATIENCE = 10.0  # seconds to wait for visudo and sudo, run by root
VISUDO = tuple(
    f'{folder}/visudo' for folder in smartctl_calls.ENVIRONMENT['PATH'].split(':')
)
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
RULE_MISSING = re.compile(
    'password is required|not allowed|may not run|not in the sudoers|unable to resolve host|setrlimit'
)
_BAD_MODE = re.compile(r'^(/\S+): bad permissions.*$', re.MULTILINE)


class SudoersFacts(NamedTuple):
    """Facts from the sudoers files, read as root before the process becomes the monitoring user."""

    checked: str = ''  # output of visudo -c
    is_valid: bool = False  # visudo accepts all files
    rules: Sequence[str] = ()  # files in FOLDER that name this user and smartctl
    is_included: bool = True  # SUDOERS includes FOLDER
    # entries of this user, including entries that require a password
    entries: Sequence[SudoersEntry] = ()
    # the line that denies smartctl after the rule allows it
    winner: Finding | None = None
    # file, number and text of the line that allows all calls
    widest: tuple[str, int, str] = ('', 0, '')
    program: str = SMARTCTL


def facts(
    user: str, executable: str, runner: processes.Runner, deadline: float
) -> SudoersFacts:
    """Return the facts that only root can read; empty if the user is not root.

    Raises UsageError if sudo is not installed.
    """
    visudo = next(filter(os.path.isfile, VISUDO), '')
    if os.geteuid() != 0 or not visudo:
        return SudoersFacts()
    lines = [(visudo, '-c'), (smartctl_calls.find_sudo(), '-n', '-ll', '-U', user)]
    answers = {
        answer.command: answer for answer in runner.run(lines, PATIENCE, deadline)
    }
    checked, listed = (answers[line] for line in lines)
    texts = _texts()
    said = _BAD_MODE.sub(
        _as_sudo,
        (checked.stderr.strip() + b'\n' + checked.stdout)
        .decode('utf-8', 'replace')
        .strip(),
    )
    is_valid = checked.status == 0 or all(
        line.endswith('parsed OK') for line in said.splitlines()
    )
    entries = entries_of(listed.stdout.decode('utf-8', 'replace'))
    names = [user]
    with suppress(KeyError):  # a group without a name: only the user counts
        numbers = os.getgrouplist(user, pwd.getpwnam(user).pw_gid)
        names += [f'%{grp.getgrgid(number).gr_name}' for number in numbers]
    of_user = re.compile(rf'^{re.escape(user)}\s', re.MULTILINE)
    with_smartctl = [
        path for path, text in texts.items() if os.path.basename(executable) in text
    ]
    rules = [
        path
        for path in with_smartctl
        if path != SUDOERS and of_user.search(texts[path])
    ]
    against, overriding = denial(entries, executable), None
    if against:
        path, number, line = located(against, texts, names)
        overriding = found('sudo-rule-overridden-somewhere', rule=against, user=user)
        if path:
            overriding = found(
                'sudo-rule-overridden', path=path, line=number, text=line
            )
    return SudoersFacts(
        said,
        is_valid,
        rules,
        not texts[SUDOERS]
        or bool(
            re.search(
                rf'^\s*[@#]includedir\s+{FOLDER}/?\s*$', texts[SUDOERS], re.MULTILINE
            )
        ),
        entries,
        overriding,
        located(widest_command(entries, executable), texts, names),
        executable,
    )


def _as_sudo(match: re.Match[str]) -> str:
    """Return visudo's message about a file's mode; "parsed OK" if only root can write the file:
    then sudo reads it.
    """
    try:
        return (
            match[0] if os.stat(match[1]).st_mode & 0o022 else f'{match[1]}: parsed OK'
        )
    except OSError:
        return match[0]


def _texts() -> dict[str, str]:
    """Return the text of each sudoers file, in the order in which sudo reads them."""
    paths = [SUDOERS, *(os.path.join(FOLDER, name) for name in names_in(FOLDER))]
    return {path: files.text(path, LARGEST_SMALL_FILE) for path in paths}


# --- interpretation; pure -----------------------------------------------------------------


def reason(message: str, user: str, program: str = SMARTCTL) -> Finding | None:
    """Return the finding for a message of sudo or visudo; None if the message blames only the
    rule.
    """
    for pattern, code in REASONS:
        match = re.search(pattern, message)
        if match:
            path, line = (*match.groups(), '', '')[:2]
            return found(
                code, user=user, path=path, line=line, program=program, message=message
            )
    if 'sudo: ' in message and not RULE_MISSING.search(message):
        return found('sudo-fails', user=user, message=message)
    return None


def located(
    command: str, texts: dict[str, str], names: Sequence[str]
) -> tuple[str, int, str]:
    """Return the file, number and text of the last line with a command that `sudo -l` lists; ('',
    0, '') if not found.

    command: as written, such as "!/usr/sbin/smartctl"; '' for none. names: the user and, with "%", the user's
    groups.
    """
    if not command:
        return '', 0, ''
    who = '|'.join([*map(re.escape, [*names, 'ALL']), '[A-Z][A-Z0-9_]*'])
    line = re.compile(
        rf'\s*(?:{who})\s.*[=\s:,)]{re.escape(command)}\s*(?:,|#|$)'.replace(
            '!', r'!\s*'
        )
    )
    return next(
        (
            (path, number, text.strip())
            for path in reversed(texts)
            for number, text in reversed(list(enumerate(texts[path].splitlines(), 1)))
            if line.match(text)
        ),
        ('', 0, ''),
    )


def unread(sudoers: SudoersFacts) -> Finding | None:
    """Return why sudo ignores a rule that exists; None if sudo reads all rules."""
    path = next(
        (path for path in sudoers.rules if f'{path}: parsed OK' not in sudoers.checked),
        '',
    )
    if not path or not sudoers.is_valid:
        return None
    if not sudoers.is_included:
        return found('sudoers-not-included', path=path)
    name = os.path.basename(path)
    if '.' not in name and not name.endswith('~'):
        return found('sudoers-not-read', path=path)
    return found(
        'sudoers-name-ignored',
        path=path,
        better=os.path.join(FOLDER, name.rstrip('~').replace('.', '-')),
    )


def why(message: str, sudoers: SudoersFacts, user: str) -> Finding | None:
    """Return why sudo refuses, apart from a missing or wrong rule; None if unknown. message:
    output of sudo.
    """
    refusal = reason(message, user, sudoers.program)
    if not refusal and not sudoers.is_valid:
        refusal = reason(sudoers.checked, user)
    return refusal or sudoers.winner or unread(sudoers)
