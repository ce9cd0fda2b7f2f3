"""The daemons on this machine: how much time they give a check, and the commands by which NRPE
runs checks.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import constants, files
from ..command_line.options import PROGRAM
from ..constants import (
    DEEPEST_INCLUDE,
    HOUR,
    LARGEST_SMALL_FILE,
    MINUTE,
    MOST_COMMANDS,
    MOST_FILES,
    TIMEOUT,
)
from ..model import Answer, HowRead
from ..output.doctor_findings import Finding, found
from ..reading import processes, smartctl_calls
from .start import is_started

ROOT = ''  # precedes each path; not '' if another folder is used as /
NRPE_FILES = ('/etc/nagios/nrpe.cfg', '/etc/nrpe.cfg', '/usr/local/nagios/etc/nrpe.cfg')
NAGIOS = (
    '/etc/nagios4/nagios.cfg',
    '/etc/nagios/nagios.cfg',
    '/etc/naemon/naemon.cfg',
    '/etc/icinga/icinga.cfg',
    '/usr/local/nagios/etc/nagios.cfg',
)
ICINGA = ('/usr/share/icinga2/include/plugins-contrib.d', '/etc/icinga2')
USUAL = 60.0  # seconds that Icinga, Nagios and NRPE give a check by default
_UNITS = {'ms': 0.001, 's': 1.0, 'm': MINUTE, 'h': HOUR}
_OURS = re.compile(r'check[_-]smart[_-]attributes|"smart-attributes"')
_OWN = re.compile(r'(?:^|\s)(?:-t|--timeout)[ =]?([0-9.]+)(?:\s|$)')

Setting = tuple[str, str, str]  # file, name, value
NAMES = (PROGRAM, f'{PROGRAM}.pyz')
_PATIENCE = 10.0  # seconds for one start
# NRPE runs the line in a shell, but doctor does not use one
_OF_THE_SHELL = re.compile(r'[$`*?<>|&;()\n]')


class DaemonLimit(NamedTuple):
    """How long a daemon waits for this plugin."""

    daemon: str  # "NRPE"
    file: str
    seconds: float
    setting: str  # the setting to change there: "command_timeout"
    own: float | None = None  # value of -t there, in seconds; None: no -t


class NrpeCommand(NamedTuple):
    """A command of NRPE that runs this plugin, or that has the plugin's name."""

    name: str
    file: str  # "/etc/nagios/nrpe.cfg"
    line: str  # the line that NRPE runs, with its command_prefix
    is_prefixed: bool = False
    before: Sequence[str] = ()  # words before the program, such as sudo
    program: str = ''  # as written there; '' if the line cannot be split into words
    words: Sequence[str] = ()  # words after the program
    is_startable: bool = False  # it does not need a shell, a macro or another program

    def trial(self, path: str) -> tuple[str, ...]:
        """Return a command line that starts the program with the options of this command and makes
        it exit at once.

        No drive is read.
        """
        command = self.words[:1] if self.words and not self.words[0].startswith('-') else ()
        return (path, *command, '-V', *self.words[len(command) :])


def nrpe_commands() -> list[NrpeCommand]:
    """Return the NRPE commands that run this plugin; if a command is defined twice, NRPE uses
    the last definition.
    """
    _, settings = _read(NRPE_FILES)
    prefix = next((value for _, name, value in reversed(settings) if name == 'command_prefix'), '')
    commands = {
        name[len('command[') : -1]: (file, value)
        for file, name, value in settings
        if name.startswith('command[') and name.endswith(']')
    }
    return [
        split(NrpeCommand(name, file, f'{prefix} {value}'.strip(), bool(prefix)))
        for name, (file, value) in commands.items()
        if _OURS.search(f'{name} {value}')
    ]


def split(command: NrpeCommand) -> NrpeCommand:
    """Return a command with the parts of its line."""
    try:
        words = shlex.split(command.line)
    except ValueError:
        return command
    place = next(
        (number for number, word in enumerate(words) if os.path.basename(word) in NAMES), 0
    )
    is_ours = bool(words) and os.path.basename(words[place]) in NAMES
    return command._replace(
        before=words[:place],
        program=words[place] if words else '',
        words=words[place + 1 :],
        is_startable=is_ours and not place and not _OF_THE_SHELL.search(command.line),
    )


def unread_nrpe() -> str:
    """Return the path of an NRPE configuration that exists but is unreadable for this user, or
    ''.
    """
    path = _first(NRPE_FILES)
    return path if path and not os.access(ROOT + path, os.R_OK) else ''


def icinga_host(name: str) -> list[str]:
    """Return the objects in Icinga's configuration that describe this host. name: the host name."""
    head = re.compile(rf'object\s+Host\s+(?:NodeName\b|"{re.escape(name.partition(".")[0])}[".])')
    return [block for path in below(ICINGA[-1], '.conf') for block in blocks(text_of(path), head)]


def limits() -> list[DaemonLimit]:
    """Return the time limits of the installed daemons whose configuration is readable."""
    return [*_nrpe(), *_nagios(), *_icinga()]


def findings(daemons: Sequence[DaemonLimit], timeout: float) -> list[Finding]:
    """Return a finding for each limit that is too short for a check, or a single finding if all
    limits fit.

    timeout: time limit of a check, in seconds, if the configuration does not set it.
    """
    short: list[Finding] = []
    for limit in dict.fromkeys(daemons):
        own = limit.own or timeout
        if own >= limit.seconds:
            short.append(
                found(
                    'time-limit-too-short',
                    daemon=limit.daemon,
                    limit=limit.seconds,
                    file=limit.file,
                    seconds=own,
                    setting=limit.setting,
                    longer=max(USUAL, own + 5),
                    fitting=fitting(limit.seconds),
                )
            )
    if short:
        return short
    if not daemons:
        fits = timeout < USUAL
        return [
            found(
                'time-limit-usual' if fits else 'time-limit-too-long', usual=USUAL, seconds=timeout
            )
        ]
    by_time: dict[float, dict[str, None]] = {}
    for limit in daemons:
        by_time.setdefault(limit.seconds, {})[limit.daemon] = None
    waiting = ', '.join(
        f'{", ".join(names)}: {seconds:g} s' for seconds, names in sorted(by_time.items())
    )
    return [found('time-limit-fits', limits=waiting, seconds=timeout)]


def fitting(seconds: float) -> float:
    """Return the -t value, in seconds, for a check that a daemon ends after *seconds*."""
    return min(TIMEOUT, seconds - 5 if seconds >= 20 else seconds * 3 / 4)


def output(printed: int, is_cut: bool) -> Finding:
    """Return the finding that compares the size of a check's output with the size that each daemon
    keeps.

    printed: size of the output in bytes. is_cut: the check omitted text or perfdata.
    """
    if is_cut:
        return found('output-left-out', limit=constants.OUTPUT_LIMIT)
    unlimited = [
        command.file
        for command in nrpe_commands()
        if PROGRAM in command.line and '--max-output' not in command.line
    ]
    if unlimited and printed > constants.KEPT_BEHIND_NRPE:
        return found(
            'output-too-long',
            bytes=printed,
            kept=constants.KEPT_BEHIND_NRPE,
            file=unlimited[0],
            nagios=constants.BEHIND_NRPE,
            icinga=constants.OUTPUT_LIMIT,
        )
    return found(
        'output-fits', bytes=printed, kept=constants.KEPT_BEHIND_NRPE, limit=constants.OUTPUT_LIMIT
    )


def text_of(path: str) -> str:
    """Return the text of a file; '' if it cannot be read."""
    return files.text(ROOT + path, LARGEST_SMALL_FILE)


def _first(paths: Sequence[str]) -> str:
    return next((path for path in paths if os.path.exists(ROOT + path)), '')


def below(folder: str, end: str) -> list[str]:
    """Return the files in a folder and its subfolders, up to a fixed number."""
    paths: list[str] = []
    for here, _, names in os.walk(ROOT + folder):
        place = here[len(ROOT) :]
        paths += [os.path.join(place, name) for name in sorted(names) if name.endswith(end)]
        if len(paths) > MOST_FILES:
            break
    return paths[:MOST_FILES]


def _read(paths: Sequence[str]) -> tuple[str, list[Setting]]:
    """Return the path of the first existing NRPE or Nagios configuration, and its settings."""
    path = _first(paths)
    return path, list(_settings(path)) if path else []


def _settings(path: str, depth: int = 0) -> Iterator[Setting]:
    """Yield the settings of an NRPE or Nagios configuration, including the settings in included
    files.
    """
    for line in text_of(path).splitlines():
        name, sign, value = (part.strip() for part in line.partition('='))
        if not sign or name.startswith('#'):
            continue
        yield path, name, value
        if name in ('include', 'include_dir') and depth < DEEPEST_INCLUDE:
            place = f'/{value.lstrip("/")}'
            for file in [place] if name == 'include' else below(place, '.cfg'):
                yield from _settings(file, depth + 1)


def _nrpe() -> Iterator[DaemonLimit]:
    path, settings = _read(NRPE_FILES)
    if not settings:
        return
    seconds, file = _last(settings, 'command_timeout', path)
    limits = [
        _OWN.search(value)
        for _, name, value in settings
        if name.startswith('command[') and PROGRAM in value
    ]
    for limit in limits or [None]:
        own = _seconds(limit[1]) if limit else None
        yield DaemonLimit('NRPE', file, seconds, 'command_timeout', own)


def _nagios() -> Iterator[DaemonLimit]:
    path, settings = _read(NAGIOS)
    if settings:
        seconds, _ = _last(settings, 'service_check_timeout', path)
        yield DaemonLimit('Nagios', path, seconds, 'service_check_timeout')


def _last(settings: Sequence[Setting], name: str, path: str) -> tuple[float, str]:
    """Return the effective value of a setting in seconds, and the file that sets it."""
    effective = USUAL, path
    for file, setting, value in settings:
        seconds = _seconds(value)
        if setting == name and seconds is not None:
            effective = seconds, file
    return effective


def _seconds(text: str) -> float | None:
    number = re.fullmatch(r'([0-9]{1,6}(?:\.[0-9]{1,6})?)(ms|s|m|h)?', text)
    return float(number[1]) * _UNITS[number[2] or 's'] if number else None


def _icinga() -> Iterator[DaemonLimit]:
    if not os.path.isdir(ROOT + ICINGA[-1]):
        return
    ours = [
        limit
        for folder in ICINGA
        for path in below(folder, '.conf')
        for block in blocks(text_of(path))
        for limit in _of_block(block, path)
    ]
    yield from ours or [DaemonLimit('Icinga', ICINGA[-1], USUAL, 'check_timeout')]


def _of_block(block: str, file: str) -> Iterator[DaemonLimit]:
    limit = re.search(r'(?<![\w"])(check_timeout|timeout)\s*=\s*([0-9.]+(?:ms|s|m|h)?)', block)
    own = re.search(r'smart_attributes_timeout\s*=\s*"?([0-9.]+)', block)
    seconds = _seconds(limit[2]) if limit else None
    if seconds is not None or own:
        yield DaemonLimit(
            'Icinga',
            file,
            USUAL if seconds is None else seconds,
            limit[1] if limit else 'check_timeout',
            _seconds(own[1]) if own else None,
        )


def blocks(text: str, about: re.Pattern[str] = _OURS) -> Iterator[str]:
    """Yield the objects, templates and rules of an Icinga configuration that mention this
    plugin, or match *about*.
    """
    plain = re.sub(r'/\*.*?\*/|//[^\n]*|^\s*#[^\n]*', '', text, flags=re.DOTALL | re.MULTILINE)
    for start in re.finditer(r'\b(?:object|template|apply)\s[^{}]*\{', plain):
        depth, end = 1, start.end()
        for sign in re.finditer('[{}]', plain[start.end() :]):
            depth += 1 if sign[0] == '{' else -1
            end = start.end() + sign.end()
            if not depth:
                break
        block = plain[start.start() : end]
        if about.search(block):
            yield block


def examine(
    commands: Sequence[NrpeCommand], program: str, user: str, how: HowRead, deadline: float
) -> list[Finding]:
    """Return the findings for NRPE commands. program: path of this program, which the user can
    start.
    """
    calls = commands[:MOST_COMMANDS]
    answers = _started(calls, how, min(deadline, time.monotonic() + 3 * _PATIENCE))
    findings = [
        finding
        for each, answer in zip(calls, answers)
        for finding in faults(each, answer, program, user)
    ]
    if len(commands) > MOST_COMMANDS:
        findings.append(found('nrpe-more-commands', commands=len(commands) - MOST_COMMANDS))
    if calls and not findings:
        findings.append(
            found('nrpe-starts', user=user, commands=', '.join(each.name for each in calls))
        )
    return findings


def _started(calls: Sequence[NrpeCommand], how: HowRead, deadline: float) -> list[Answer | None]:
    """Start the programs; return each result, or None if not started.

    Root never starts a configured program.
    """
    missing = [
        next(
            (path for path in (*each.before[:1], each.program) if path and not _executable(path)),
            '',
        )
        for each in calls
    ]  # this plugin, or a program that starts it, such as sudo
    lines = [
        each.trial(_executable(each.program))
        if each.is_startable and not path and os.geteuid() != 0
        else ()
        for each, path in zip(calls, missing)
    ]
    runner = processes.Runner()  # a separate runner: these calls name drives but must not lock them
    try:
        answers = {
            answer.command: answer
            for answer in runner.run(filter(None, lines), _PATIENCE, deadline)
        }
    finally:
        runner.close()
    return [
        answers[line] if line else Answer((path,), 'not started', _why_not(path)) if path else None
        for path, line in zip(missing, lines)
    ]


def _executable(program: str) -> str:
    """Return the path of a program if this user may execute it, else ''."""
    return shutil.which(program, path=smartctl_calls.ENVIRONMENT['PATH']) or ''


def _why_not(program: str) -> str:
    try:
        os.stat(program)
    except OSError as error:
        return str(error.strerror)
    return 'Permission denied'


# --- interpretation; pure -----------------------------------------------------------------


def faults(call: NrpeCommand, answer: Answer | None, program: str, user: str) -> Iterator[Finding]:
    """Yield a finding for each fault of an NRPE command. program: path of this program."""
    named = {'name': call.name, 'file': call.file}
    if not call.program:
        yield found('nrpe-quotation-mark', **named)
        return
    if any(os.path.basename(word) == 'sudo' for word in call.before):
        command = (
            '' if call.is_prefixed else _changed(call, f'.*{_basic(call.program)}', call.program)
        )
        yield found('nrpe-runs-sudo', **named)._replace(command=command)
    is_json = answer is not None and answer.status == 0 and answer.stdout.startswith(b'{')
    if (
        answer is None
        or is_started(answer)
        or (is_json and f'"{PROGRAM} '.encode() in answer.stdout)
    ):
        return
    path, complaint = answer.command[0], complaint_of(answer)
    if complaint:
        yield found('nrpe-options-wrong', **named, reason=complaint)
        return
    code = 'nrpe-wrapper-missing' if path in call.before else 'nrpe-path-wrong'
    finding = found(code, **named, user=user, path=path, reason=_ending(answer))
    if not call.before:
        finding = finding._replace(command=_changed(call, _basic(call.program), program))
    yield finding


def complaint_of(answer: Answer) -> str:
    """Return this program's error message about its options, or '' if something else is wrong."""
    text = answer.stdout.decode('utf-8', 'replace').strip()
    if text.startswith('{'):
        try:
            text = f'error: {json.loads(text)["error"]}'
        except (ValueError, KeyError, TypeError):
            return ''
    is_ours = (
        answer.status == 3
        and text.startswith(('SMART UNKNOWN - ', 'error: '))
        and 'cannot start: ' not in text
    )
    return text.removeprefix('SMART UNKNOWN - ').removeprefix('error: ') if is_ours else ''


def _ending(answer: Answer) -> str:
    printed = (answer.stderr or answer.stdout).decode('utf-8', 'replace').strip()[:200]
    return answer.reason or printed or f'exit status {answer.status}'


def _changed(call: NrpeCommand, before: str, after: str) -> str:
    """Return the sed command that replaces a call's program in the configuration; '' if a path
    would need quoting.

    before: a basic regular expression that matches the words to replace.
    """
    if not all(re.fullmatch(r'[\w/.+-]+', path) for path in (call.program, after)):
        return ''
    script = rf's#^\([[:space:]]*command\[{_basic(call.name)}\][[:space:]]*=[[:space:]]*\){before}#\1{after}#'
    return f'sed -i {shlex.quote(script)} {shlex.quote(call.file)}'


def _basic(text: str) -> str:
    """Return a basic regular expression that matches exactly this text. Source: sed(1)."""
    return re.sub(r'([][.*^$\\#])', r'\\\1', text)
