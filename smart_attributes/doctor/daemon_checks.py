"""Judge the checks of this plugin that daemons run on this machine."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence

from .. import files
from ..access import name_of
from ..command_line.options import PROGRAM
from ..constants import (
    BEHIND_NRPE,
    KEPT_BEHIND_NRPE,
    LARGEST_SMALL_FILE,
    MOST_COMMANDS,
    OUTPUT_LIMIT,
)
from ..daemons.checks import (
    OWN_LIMIT,
    USUAL,
    DaemonCheck,
    ask,
    fitting,
    is_known,
    process_of,
    run_as,
    text_of,
)
from ..model import Answer
from ..output.codes import BY_NAME
from ..output.doctor_findings import Finding, found, halves
from ..reading import drive_locks, system

# The name of a drive, or a dash, and the code of its line or of the first line.
_CODES = re.compile(r'(?m)(?:^[A-Z]{2,8} +)?(\S+)(?:  [^\n\[]*?)? +\[([a-z-]+)\]')


def examine(
    checks: Sequence[DaemonCheck], program: str, user: str, deadline: float
) -> list[Finding]:
    """Return the findings for the checks of daemons.

    program: path of this program. user: the monitoring user. deadline: time.monotonic() value.
    """
    findings = [
        _examined(check, program, user, deadline) for check in checks[:MOST_COMMANDS]
    ]
    units = {check.daemon: check.unit for check in checks}
    for daemon, unit in units.items():
        status = files.text(f'{process_of(daemon)}/status', LARGEST_SMALL_FILE)
        if 'NoNewPrivs:\t1' in status:
            findings.append(found('daemon-no-new-privileges', daemon=daemon, unit=unit))
    if len(checks) > MOST_COMMANDS:
        findings.append(found('daemon-more-checks', checks=len(checks) - MOST_COMMANDS))
    return findings


def _examined(check: DaemonCheck, program: str, user: str, deadline: float) -> Finding:
    """Ask the daemon of a check, and return the finding about the check.

    If the daemon cannot be asked or does not know, run the check as its user. Only root and this
    user can do this.
    """
    answer = ask(check.question) if check.question else None
    if answer and is_known(answer):
        return _run_by_sudo(check) or _found('daemon-answers', check, answer)
    if os.geteuid() != 0 and name_of(os.geteuid()) != check.user:
        return _found('daemon-check-of-another', check)
    end = min(deadline, time.monotonic() + check.seconds)
    own_answer = run_as(check.user, check.line, end)
    if not is_known(own_answer):
        return _cause(check, own_answer, program, user)
    # None: the daemon was not asked.
    if answer is None:
        return _run_by_sudo(check) or _found('daemon-check-works', check, own_answer)
    return _difference(check, answer, program)


def _found(
    code: str, check: DaemonCheck, answer: Answer | None = None, **fields: str
) -> Finding:
    """Return the finding about a check, with the first line of its answer, or why there is none."""
    line = ''
    if answer:
        first_line = text_of(answer).partition('\n')[0]
        line = first_line.partition('|')[0][:200] or answer.reason
    return found(
        code,
        daemon=check.daemon,
        name=check.name,
        file=check.file,
        unit=check.unit,
        user=check.user,
        line=line,
        **fields,
    )


# --- why a check is UNKNOWN ----------------------------------------------------------------------


def _difference(check: DaemonCheck, answer: Answer, program: str) -> Finding:
    """Return why a daemon answers UNKNOWN, although its check works when doctor runs it: the daemon
    must be restarted, or else the reason by _cause().
    """
    folder = process_of(check.daemon)  # "/proc/812"; "/" if the daemon does not run
    boot = time.time() - drive_locks.uptime()
    start = boot + drive_locks.started(os.path.basename(folder))
    # The start is only known to 10 ms. A daemon that ended after its answer gets the same advice, because
    # a restart also starts it.
    if folder == '/' or start + 0.1 < os.stat(check.file).st_mtime:
        return _found('daemon-not-restarted', check, answer)
    return _cause(check, answer, program, check.user)


def _cause(check: DaemonCheck, answer: Answer, program: str, user: str) -> Finding:
    """Return the most probable reason why a check is UNKNOWN or does not start.

    program: path of this program. user: the monitoring user; '' if it is not known.
    """
    setting = check.user_setting
    if setting and user not in ('', check.user):
        return _found(
            'daemon-user-differs',
            check,
            answer,
            wanted=user,
            path=check.user_file,
            script=f's/^{setting}=.*/{setting}={user}/',
        )
    return (
        _about_line(check, program)
        or _about_drives(check, answer)
        or _unknown(check, answer)
    )


def _about_line(check: DaemonCheck, program: str) -> Finding | None:
    """Return what is wrong with the command line of a check; None if it can be executed. program:
    path of this program.
    """
    if not check.words:
        return _found('daemon-quotation-mark', check)
    through_sudo = _run_by_sudo(check)
    if through_sudo:
        return through_sudo
    # the first word if this program is not named
    path = check.words[max(check.program_index, 0)]
    if not os.path.exists(path):
        return _found(
            'daemon-path-wrong',
            check,
            path=path,
            folder=os.path.dirname(path),
            program=program,
        )
    if not os.access(path, os.X_OK):
        return _found('daemon-path-not-executable', check, path=path)
    if re.search(r'check_nrpe\b.* -a ', check.text):
        return _found('daemon-arguments-refused', check)._replace(
            command=check.edit_matching(' -a .*', '')
        )
    return None


def _run_by_sudo(check: DaemonCheck) -> Finding | None:
    """Return the finding if sudo runs the whole check as root, else None."""
    index = check.program_index
    if index < 0:
        return None
    if 'sudo' not in map(os.path.basename, check.words[:index]):
        return None
    before_program = check.text.partition(check.words[index])[0]  # "sudo -n "
    return _found('daemon-runs-sudo', check)._replace(
        command=check.edit(before_program, '')
    )


def _about_drives(check: DaemonCheck, answer: Answer) -> Finding | None:
    """Return what is wrong with the drives that a check names, by the codes in its answer; None if
    none of these is about them.
    """
    for drive, code in _CODES.findall(text_of(answer)):
        if code == 'no-drives':
            return _found('daemon-without-drives', check)._replace(
                command=check.without_drives()
            )
        if code == 'no-permission':
            return denied(f'{check.daemon}, {check.name}: {drive}')
        if code != 'no-such-device':
            continue
        for option in re.finditer(r'(?:^|\s)(?:-d|--device)[ =]?(\S+)', check.text):
            if os.path.basename(option[1]) == drive:
                finding = _found('daemon-names-no-drive', check, device=option[1])
                return finding._replace(command=check.edit(option[0], ''))
    return None


def _unknown(check: DaemonCheck, answer: Answer) -> Finding:
    """Return the finding for a check that is UNKNOWN for a reason that the check itself reports."""
    finding = _found('daemon-check-unknown', check, answer)
    codes = [code for _, code in _CODES.findall(text_of(answer))]
    smartctl = re.search(r'\s(?:-p|--path)[ =]?(\S+)', check.text)
    if smartctl and any(code.startswith('sudo') for code in codes):
        command = f'{PROGRAM} doctor --user {check.user} -p {smartctl[1]}'
        return finding._replace(
            remedy='examine the options of that check', command=command
        )
    for code in codes:
        if code in BY_NAME:
            return finding._replace(remedy=BY_NAME[code].remedy)
    _, advice = halves(text_of(answer))
    return finding._replace(remedy=advice)


def denied(reason: str, address: str = 'checks') -> Finding:
    """Return the finding for a drive that root may not open, with what can forbid it on this system."""
    selinux = f'{system.ROOT}/sys/fs/selinux/enforce'
    apparmor = f'{system.ROOT}/sys/module/apparmor/parameters/enabled'
    if files.text(selinux, LARGEST_SMALL_FILE).strip() == '1':
        code = 'drive-denied-by-selinux'
    elif 'Operation not permitted' in reason:
        code = 'drive-denied-by-cgroup'
    elif files.text(apparmor, LARGEST_SMALL_FILE).startswith('Y'):
        code = 'drive-denied-by-apparmor'
    else:
        code = 'drive-denied'
    return found(code, address, reason=reason)


def limits(checks: Sequence[DaemonCheck], timeout: float) -> list[Finding]:
    """Return a finding for each check that its daemon ends too early, or one finding if all fit.

    timeout: time limit of a check without -t, in seconds.
    """
    ended_early = []
    for check in checks:
        limit = check.own_limit or timeout
        if check.seconds <= limit:
            ended_early.append(_short(check, limit))
    if ended_early:
        return ended_early
    if not checks:
        code = 'time-limit-usual' if timeout < USUAL else 'time-limit-too-long'
        return [found(code, usual=USUAL, seconds=timeout)]
    of_daemons = dict.fromkeys(
        f'{check.daemon}: {check.seconds:g} s' for check in checks
    )
    return [found('time-limit-fits', limits=', '.join(of_daemons), seconds=timeout)]


def _short(check: DaemonCheck, own_limit: float) -> Finding:
    """Return the finding for a check that its daemon ends before its time limit, with a command that
    shortens -t if the check has this option. own_limit: the value of -t, or the default, in
    seconds.
    """
    fits = fitting(check.seconds)
    finding = found(
        'time-limit-too-short',
        daemon=check.daemon,
        daemon_limit=check.seconds,
        file=check.file,
        own_limit=own_limit,
        setting=check.setting,
        longer=max(USUAL, own_limit + 5),
        fitting=fits,
    )
    option = OWN_LIMIT.search(check.text)
    # without check.own_limit, the option is one of another program
    if not option or not check.own_limit:
        return finding
    shorter = f'{option[1]}{option[2]}{fits:g}'  # "-t 45", "--timeout=45"
    return finding._replace(command=check.edit(option[0].lstrip(), shorter))


def output(checks: Sequence[DaemonCheck], printed: int, is_cut: bool) -> Finding:
    """Return the finding that compares the size of a check's output with the size that each daemon
    keeps.

    printed: size of the output in bytes. is_cut: the check omitted text or perfdata.
    """
    if is_cut:
        return found('output-left-out', limit=OUTPUT_LIMIT)
    for check in checks:
        is_unlimited = '--max-output' not in check.text
        if check.daemon == 'NRPE' and is_unlimited and printed > KEPT_BEHIND_NRPE:
            return found(
                'output-too-long',
                bytes=printed,
                kept=KEPT_BEHIND_NRPE,
                file=check.file,
                nagios=BEHIND_NRPE,
                icinga=OUTPUT_LIMIT,
            )
    return found(
        'output-fits', bytes=printed, kept=KEPT_BEHIND_NRPE, limit=OUTPUT_LIMIT
    )
