"""The reasons why a check has no drives, or a drive no readings: outputs of other programs -> codes.

Icinga, NRPE, SSH, Nagios and version 1.6 each have their own error messages, and all of them are in this table.
Messages of this plugin have a code.
Sources: lib/methods/*.cpp and lib/icinga/*.cpp of Icinga 2; check_nrpe.c and nrpe.c of NRPE 4; checks.c of Nagios 4;
check_by_ssh.c of the monitoring plugins.
"""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ..output.codes import BY_NAME, CAUSES, Code

LOOKED_AT = 4096       # characters of an output that are searched

# The first code whose pattern matches is used, so more specific patterns come first.
_OUTPUTS: Sequence[tuple[str, str]] = (
    ('plugin-1.6', r'\A(?:OK|Warning|Critical) \([^)]*\)'),
    ('agent-not-connected', r'Remote Icinga instance .* is not connected'),
    ('agent-refuses-commands', r'does not accept commands'),
    ('command-undefined', r"Check ?[Cc]ommand '.*' does not exist"),
    ('argument-missing', r'Non-optional macro'),
    ('nrpe-timeout', r'CHECK_NRPE.*Socket timeout'),
    ('nrpe-command-timeout', r'NRPE: Command timed out'),
    ('nrpe-command-undefined', r"NRPE: Command '.*' not defined"),
    ('nrpe-no-output', r'NRPE: Unable to (?:to )?read output|NRPE: Call to (?:popen|fork)|'
                       r'CHECK_NRPE: No output returned'),
    ('nrpe-refused', r'CHECK_NRPE: Received 0 bytes|Could not complete SSL handshake|'
                     r'CHECK_NRPE: .*Connection reset by peer|CHECK_NRPE: Error sending query'),
    ('nrpe-answer-damaged', r'CHECK_NRPE: (?:Response packet|Receive|Invalid packet)'),
    ('ssh-refused', r'Permission denied \([a-z-]+[,)]|Permission denied, please|Host key verification failed'),
    ('check-timeout', r'<Timeout exceeded\.?>|[Ss]ervice [Cc]heck [Tt]imed [Oo]ut|Plugin timed out'),
    ('host-name-unknown', r'Name or service not known|Temporary failure in name resolution|'
                          r'Invalid hostname|[Nn]o address associated'),
    ('host-unreachable', r'No route to host|Network is unreachable|Host is (?:down|unreachable)|'
                         r'[Cc]onnection timed out'),
    ('connection-refused', r'[Cc]onnection refused'),
    ('plugin-missing', r'execvpe\(.*\) failed|Return code of 12[67] |returned status 12[67]\b|'
                       r'check_smart\S*: (?:command )?(?:not found|No such file|cannot execute|Permission denied)'),
    ('plugin-damaged', r'check_smart_attributes cannot start:|^(?:Syntax|Import|ModuleNotFound)Error: '),
    ('python-traceback', r'Traceback \(most recent call last\)|error inside check_smart_attributes'),
    ('check-killed', r'<Terminated by signal'),
    ('sudo-rule-missing', r'not in the sudoers file|may not run sudo|sudo(?:-rs)?: .*(?:password|'
                          r'authentication) is required'),
    ('sudo-blocked', r'must have a tty|no new privileges'),
    ('smartctl-missing', r'smartctl\S*: (?:command )?not found'),
    ('no-output', r'\A\s*\Z|\(No output'))
_PATTERNS = tuple((code, re.compile(pattern, re.MULTILINE)) for code, pattern in _OUTPUTS)
_EXITS: Mapping[int, str] = {126: 'plugin-missing', 127: 'plugin-missing'}
_OF_A_FLEET = frozenset(each.name for each in CAUSES)


@lru_cache(maxsize=4096)
def _shown_by(words: str) -> str:
    """Return the code that matches an output or a message, or '' if none matches."""
    return next((code for code, pattern in _PATTERNS if pattern.search(words)), '')


def of_output(output: str, status: int) -> Code:
    """Return the cause of an output that is not in the plugin's format. status: exit status of the check."""
    return BY_NAME[_EXITS.get(status) or _shown_by(output[:LOOKED_AT]) or 'output-foreign']


def of_check(words: str) -> Code:
    """Return the cause of a message of the plugin about the check as a whole."""
    return _of(words, 'check-incomplete')


def of_drive(words: str) -> Code:
    """Return the cause of a message of the plugin about a drive that it could not read."""
    return _of(words, 'drive-unreadable')


def _of(words: str, otherwise: str) -> Code:
    """Return the code that the plugin printed, even one of a newer version, else the one that matches the words."""
    code = getattr(words, 'code', '')
    known = BY_NAME.get(code) or BY_NAME[_shown_by(words[:LOOKED_AT]) or otherwise]
    return known._replace(name=code) if code else known


def next_step(cause: Code) -> str:
    """Return the next step, worded for a reader on another host."""
    return cause.remedy if cause.name in _OF_A_FLEET else f'on the host: {cause.remedy}'
