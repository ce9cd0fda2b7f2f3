"""Why a check reports no drive, or a drive no readings: one table of codes, causes and remedies.

The plugin, Icinga, NRPE, SSH, Nagios and version 1.6 report these in words of their own. Only this table knows them.
Sources: lib/methods/*.cpp and lib/icinga/*.cpp of Icinga 2; check_nrpe.c and nrpe.c of NRPE 4; checks.c of Nagios 4;
check_by_ssh.c of the monitoring plugins.
"""
from __future__ import annotations

import re
from functools import lru_cache
from typing import Mapping, NamedTuple, Optional, Tuple

from ..codes import BY_NAME

LOOKED_AT = 4096       # characters of an output


class Cause(NamedTuple):
    """A cause: its code, which stays the same in later versions, a sentence, and the next step."""

    code: str
    cause: str
    remedy: str
    pattern: str = ''             # in an output; '' where no output shows the cause
    exits: Tuple[int, ...] = ()   # exit statuses that show the cause as well


NRPE = 'on the host, run: systemctl restart nagios-nrpe-server'
LOGIN = 'on the monitoring server, as its user, run: ssh HOST true'

# The first cause whose pattern or exit status matches is taken: the more special ones come first.
CAUSES: Tuple[Cause, ...] = (
    Cause('plugin-1.6', 'version 1.6 of the plugin is installed, which lists no drives',
          'install this version on the host; doc/upgrading.md has the steps',
          r'\A(?:OK|Warning|Critical) \([^)]*\)'),
    Cause('agent-not-connected', 'the Icinga agent is not connected',
          'on the host, run: systemctl restart icinga2; then look for its endpoint in: journalctl -u icinga2',
          r'Remote Icinga instance .* is not connected'),
    Cause('agent-refuses-commands', 'the Icinga agent refuses commands from the master',
          'on the host, set accept_commands = true in features-available/api.conf, then run: systemctl reload icinga2',
          r'does not accept commands'),
    Cause('command-undefined', 'Icinga on the host does not know the CheckCommand',
          'put the CheckCommand into a global zone (doc/icinga.md), then run on the master: systemctl reload icinga2',
          r"Check ?[Cc]ommand '.*' does not exist"),
    Cause('argument-missing', 'a custom variable that the CheckCommand needs is not set',
          'set the variable that the output names, then run on the master: systemctl reload icinga2',
          r"Non-optional macro"),
    Cause('nrpe-timeout', 'NRPE did not answer in time',
          'on the host, run: systemctl status nagios-nrpe-server; if the check takes longer, raise -t of check_nrpe',
          r'CHECK_NRPE.*Socket timeout'),
    Cause('nrpe-command-timeout', 'NRPE stopped the plugin before it had finished',
          f'set command_timeout=90 in nrpe.cfg; then {NRPE}',
          r'NRPE: Command timed out'),
    Cause('nrpe-command-undefined', 'NRPE does not know the command',
          f'add the command to nrpe.cfg (doc/nagios.md); then {NRPE}',
          r"NRPE: Command '.*' not defined"),
    Cause('nrpe-no-output', 'the command that NRPE runs printed nothing',
          'on the host, as the user of NRPE, run the command line that nrpe.cfg has for it',
          r'NRPE: Unable to (?:to )?read output|NRPE: Call to (?:popen|fork)|CHECK_NRPE: No output returned'),
    Cause('nrpe-refused', 'NRPE refused the connection',
          f'add this server to allowed_hosts in nrpe.cfg, use the same TLS settings on both sides; then {NRPE}',
          r'CHECK_NRPE: Received 0 bytes|Could not complete SSL handshake|CHECK_NRPE: .*Connection reset by peer|'
          r'CHECK_NRPE: Error sending query'),
    Cause('nrpe-answer-damaged', 'the answer of NRPE is incomplete or of another protocol version',
          'install the same major version of NRPE on both sides, or add -2 to check_nrpe',
          r'CHECK_NRPE: (?:Response packet|Receive|Invalid packet)'),
    Cause('ssh-refused', 'SSH refused the login',
          LOGIN, r'Permission denied \([a-z-]+[,)]|Permission denied, please|Host key verification failed'),
    Cause('check-timeout', 'the check did not finish in time, so the daemon stopped it',
          'on the host, run: time check_smart_attributes; then raise the timeout of the check above that',
          r'<Timeout exceeded\.?>|[Ss]ervice [Cc]heck [Tt]imed [Oo]ut|Plugin timed out'),
    Cause('host-name-unknown', 'the name of the host has no address',
          'correct the address of the host object, or its entry in the DNS',
          r'Name or service not known|Temporary failure in name resolution|Invalid hostname|[Nn]o address associated'),
    Cause('host-unreachable', 'the host cannot be reached',
          'start the host, or check its network and address: ping HOST',
          r'No route to host|Network is unreachable|Host is (?:down|unreachable)|[Cc]onnection timed out'),
    Cause('connection-refused', 'no daemon listens at this port of the host',
          'on the host, start the daemon that runs the checks: systemctl start nagios-nrpe-server, icinga2 or ssh',
          r'[Cc]onnection refused'),
    Cause('plugin-missing', 'the plugin is not installed at this path, or cannot be executed',
          'on the host, install the package; then compare the path with the command of the check: '
          'ls -l /usr/lib/nagios/plugins/check_smart_attributes',
          r'execvpe\(.*\) failed|Return code of 12[67] |returned status 12[67]\b|'
          r'check_smart\S*: (?:command )?(?:not found|No such file|cannot execute|Permission denied)', (126, 127)),
    Cause('plugin-damaged', 'the plugin does not start: files are missing, or Python is too old',
          'on the host, install the package again, with Python 3.9 or newer',
          r'check_smart_attributes cannot start:|^(?:Syntax|Import|ModuleNotFound)Error: '),
    Cause('python-traceback', 'the plugin ended with an error of its own',
          'on the host, run: check_smart_attributes doctor; please report the error with its output',
          r'Traceback \(most recent call last\)|error inside check_smart_attributes'),
    Cause('check-killed', 'the check was ended by a signal',
          'on the host, look for a lack of memory: dmesg -T | grep -i oom',
          r'<Terminated by signal'),
    Cause('sudo-rule-missing', 'sudo refuses to run smartctl',
          'on the host, as root, run: check_smart_attributes sudoers --user nagios | '
          'install -m 0440 /dev/stdin /etc/sudoers.d/check-smart-attributes',
          r'sudo wants a password|sudo does not (?:allow|let) |may not use sudo|sudo says|sudoers rule|'
          r'not in the sudoers file|may not run sudo|sudo(?:-rs)?: .*(?:password|authentication) is required'),
    Cause('sudo-blocked', 'sudo cannot become root where the check runs',
          'on the host, run: check_smart_attributes doctor --user nagios',
          r'sudo insists on a terminal|sudo may not become root|must have a tty|no new privileges'),
    Cause('smartctl-missing', 'smartctl is missing or too old',
          'on the host, install smartmontools 7.0 or newer',
          r'smartctl is not where it was looked for|smartctl is older than|smartctl\S*: (?:command )?not found'),
    Cause('drive-missing', 'a drive is missing',
          'look for the drive: check its bay and cable, then run on the host: dmesg -T | tail -50',
          r'\A(?:is not there:|is an empty slot\b|[0-9]+ of [0-9]+ expected drives missing\b|[^;]* is gone from )'),
    Cause('no-permission', 'the user of the check may not open the drive',
          'on the host, run: check_smart_attributes doctor --user nagios; let the check use sudo',
          r'\Acannot be opened: (?:Permission denied|Operation not permitted)'),
    Cause('timeout', 'the drive did not answer in time',
          'on the host, look for errors of the drive: dmesg -T | tail -50; then read it alone: smartctl -x DEVICE',
          r'\Ano answer\b|\Awas (?:not read|read and not judged)\b'),
    Cause('no-output', 'the check printed nothing',
          'on the host, run the command of the check as the user of its daemon',
          r'\A\s*\Z|\(No output'),
    # Below: shown by no output.
    Cause('never-checked', 'Icinga has no result of this check yet',
          'in Icinga, choose "Check now"; if no result comes, enable active checks and start the agent of the host'),
    Cause('output-cut', 'a daemon on the way keeps less output than the plugin prints',
          'add --max-output 8000 to the command of the check; to see all drives now, run on the host: '
          'check_smart_attributes triage'),
    Cause('check-incomplete', 'the check as a whole has a fault',
          'correct what the message names; on the host, check with: check_smart_attributes doctor'),
    Cause('output-foreign', 'the output is not from this plugin',
          'if this service runs another program, exclude it with --filter; otherwise run the command of the check on '
          'the host'),
    Cause('drive-unreadable', 'the drive cannot be read',
          'on the host, run: check_smart_attributes doctor; doc/troubleshooting.md explains the message'))
BY_CODE: Mapping[str, Cause] = {each.code: each for each in CAUSES}
_PATTERNS = tuple((re.compile(each.pattern, re.MULTILINE), each) for each in CAUSES if each.pattern)
_EXITS: Mapping[int, Cause] = {status: each for each in CAUSES for status in each.exits}


@lru_cache(maxsize=4096)
def shown_by(words: str) -> Optional[Cause]:
    """Return the cause that an output or a message shows; None where it shows none."""
    return next((cause for pattern, cause in _PATTERNS if pattern.search(words)), None)


def of_output(output: str, status: int) -> Cause:
    """Return why an output that is not in the plugin's format has no drives. status: exit status of the check."""
    return _EXITS.get(status) or shown_by(output[:LOOKED_AT]) or BY_CODE['output-foreign']


def of_check(words: str) -> Cause:
    """Return the cause of a message of the plugin about the check as a whole."""
    return _of_code(words) or shown_by(words[:LOOKED_AT]) or BY_CODE['check-incomplete']


def of_drive(words: str) -> Cause:
    """Return the cause of a message of the plugin about a drive that it could not read."""
    return _of_code(words) or shown_by(words[:LOOKED_AT]) or BY_CODE['drive-unreadable']


def _of_code(words: str) -> Optional[Cause]:
    """Return the cause with the code that the plugin printed in front of these words; None where it printed none."""
    code = getattr(words, 'code', '')
    known = BY_NAME.get(code)
    return BY_CODE.get(code) or (Cause(known.name, known.meaning, known.remedy) if known else None)
