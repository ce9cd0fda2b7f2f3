"""Find out why sudo refuses, from the output of sudo and visudo and from files that only root can read."""
from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from .. import files
from ..errors import UsageError
from ..reading import processes, smartctl_calls
from . import sudo_list

SUDOERS, FOLDER = '/etc/sudoers', '/etc/sudoers.d'
LARGEST = 1 << 20     # bytes of a file of sudoers
PATIENCE = 10.0       # seconds to wait for visudo and sudo, run by root
VISUDO = tuple(f'{folder}/visudo' for folder in smartctl_calls.ENVIRONMENT['PATH'].split(':'))


class Reason(NamedTuple):
    """Why sudo refuses what a rule allows, and how root can fix it."""

    words: str
    cure: str
    command: str = ''

    def of(self, user: str, path: str = '') -> Reason:
        """Return the reason with the user's name and the path of the faulty file filled in."""
        return Reason(self.words.format(user=user, path=path), self.cure.format(user=user, path=path),
                      self.command.format(user=shlex.quote(user), path=shlex.quote(path)))


# Appends a line to SUDOERS, where no later line overrides it; installed only if visudo accepts the whole file.
_APPENDED = (f"new=$(mktemp) && (cat {SUDOERS}; printf '\\n%s\\n' '%s') >$new && visudo -cf $new && "
             f'install -m 0440 $new {SUDOERS}')
_BROKEN = Reason('{path} has a syntax error, so sudo ignores at least that line', 'correct that file',
                 'visudo -f {path}')
_MODE = Reason('sudo does not read {path}, because others can write to it', 'correct its mode', 'chmod 0440 {path}')
_OWNER = Reason('sudo does not read {path}, because it does not belong to root', 'give it to root',
                'chown root:root {path}')
# Message of sudo or visudo -> the reason; a group of the pattern is the path. LC_ALL=C.
# Source: sudo 1.8 to 1.9, src/sudo.c, plugins/sudoers/{sudoers,auth/pam,visudo}.c; tried with 1.9.13.
REASONS: Sequence[tuple[str, Reason]] = (
    (r'must have a tty', Reason(
        'sudo requires a terminal (requiretty), but a check has none', 'exempt {user} from requiretty',
        _APPENDED.replace("'%s'", "'Defaults:{user} !requiretty'"))),
    (r'account validation failure|[Aa]ccount expired', Reason(
        'the account {user} is expired or locked for sudo', 'remove the expiry dates; if "chage -l {user}" shows '
        'none, check /etc/pam.d/sudo and the directory service', 'chage -E -1 -I -1 {user}')),
    (r'no new privileges', Reason(
        'this process cannot become root (no new privileges)',
        'remove NoNewPrivileges from the unit, or the same setting from the container, that doctor runs in')),
    (r'(/\S+) must be owned by uid 0 and have the setuid bit', Reason(
        '{path} lacks the setuid bit or does not belong to root', 'correct both',
        'chown root:root {path} && chmod 4755 {path}')),
    (r'(/\S+) is (?:world|group) writable', _MODE), (r'(/\S+): bad permissions', _MODE),
    (r'(/\S+) is owned by [ug]id', _OWNER), (r'(/\S+): wrong owner', _OWNER),
    (r'(/[^\s:]+):[^\n]*syntax error', _BROKEN))
_NOT_INCLUDED = Reason(f'{{path}} contains a rule, but {SUDOERS} does not include {FOLDER}', 'include it',
                       _APPENDED.replace("'%s'", f"'#includedir {FOLDER}'"))
_ODD_NAME = Reason('sudo ignores {path}: its name must not contain a dot or end with ~', 'rename it')
_UNREAD = Reason('{path} contains a rule, but sudo does not read it', 'check the files with visudo', 'visudo -c')


class SudoersFacts(NamedTuple):
    """Facts from the sudoers files that root reads before it becomes the monitoring user."""

    checked: str = ''                        # what visudo -c printed
    is_valid: bool = False                   # visudo accepts all files
    rules: Sequence[str] = ()                # files in FOLDER that name this user and smartctl
    is_included: bool = True                 # SUDOERS includes FOLDER
    entries: Sequence[sudo_list.SudoersEntry] = ()    # of this user, including those that require a password


def facts(user: str, executable: str, runner: processes.Runner, deadline: float) -> SudoersFacts:
    """Return the facts that only root can read; empty if this is not root or sudo is not installed."""
    visudo = next(filter(os.path.isfile, VISUDO), '')
    if os.geteuid() != 0 or not visudo:
        return SudoersFacts()
    try:
        lines = [(visudo, '-c'), (smartctl_calls.find_sudo(), '-n', '-ll', '-U', user)]
    except UsageError:
        return SudoersFacts()
    answers = {answer.command: answer for answer in runner.run(lines, 2, PATIENCE, deadline)}
    checked, listed = (answers[line] for line in lines)
    text = files.text(SUDOERS, LARGEST)
    return SudoersFacts((checked.stderr + b'\n' + checked.stdout).decode('utf-8', 'replace').strip(),
                        checked.status == 0, _rules(user, os.path.basename(executable)),
                        not text or bool(re.search(rf'^\s*[@#]includedir\s+{FOLDER}/?\s*$', text, re.MULTILINE)),
                        sudo_list.entries(listed.stdout.decode('utf-8', 'replace')))


def _rules(user: str, program: str) -> list[str]:
    try:
        paths = [os.path.join(FOLDER, name) for name in sorted(os.listdir(FOLDER))]
    except OSError:
        return []
    texts = {path: files.text(path, LARGEST) for path in paths}
    return [path for path, text in texts.items()
            if program in text and re.search(rf'^{re.escape(user)}\s', text, re.MULTILINE)]


# --- interpretation; pure -----------------------------------------------------------------

def reason(message: str, user: str) -> Reason | None:
    """Return the reason that a message of sudo or visudo gives; None if it names only the rule as the fault."""
    for pattern, meaning in REASONS:
        match = re.search(pattern, message)
        if match:
            return meaning.of(user, match[1] if match.groups() else '')
    return None


def unread(sudoers: SudoersFacts, user: str) -> Reason | None:
    """Return why sudo ignores a rule that exists; None if sudo reads all rules."""
    path = next((path for path in sudoers.rules if f'{path}: parsed OK' not in sudoers.checked), '')
    if not path or not sudoers.is_valid:
        return None
    if not sudoers.is_included:
        return _NOT_INCLUDED.of(user, path)
    name = os.path.basename(path)
    if '.' not in name and not name.endswith('~'):
        return _UNREAD.of(user, path)
    better = os.path.join(FOLDER, name.rstrip('~').replace('.', '-'))
    return _ODD_NAME.of(user, path)._replace(command=f'mv -n {shlex.quote(path)} {shlex.quote(better)}')


def why(message: str, sudoers: SudoersFacts, user: str) -> Reason | None:
    """Return why sudo refuses, other than a missing or wrong rule; None if unknown. message: output of sudo."""
    return reason(message, user) or reason('' if sudoers.is_valid else sudoers.checked, user) or unread(sudoers, user)
