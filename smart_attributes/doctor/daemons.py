"""How much time the daemons on this machine give a check, as far as their configuration is readable."""
from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import files
from ..command_line.options import PROGRAM
from ..constants import HOUR, MINUTE, TIMEOUT
from ..model import BEHIND_NRPE, KEPT_BEHIND_NRPE, OUTPUT_LIMIT
from ..output.doctor_findings import Finding

SUBJECT, OUTPUT = 'time limit', 'output'
NRPE = ('etc/nagios/nrpe.cfg', 'etc/nrpe.cfg', 'usr/local/nagios/etc/nrpe.cfg')
NAGIOS = ('etc/nagios4/nagios.cfg', 'etc/nagios/nagios.cfg', 'etc/naemon/naemon.cfg', 'etc/icinga/icinga.cfg',
          'usr/local/nagios/etc/nagios.cfg')
ICINGA = ('usr/share/icinga2/include/plugins-contrib.d', 'etc/icinga2')
MOST_FILES, LARGEST, DEEPEST = 500, 1 << 20, 6
USUAL = 60.0         # seconds that Icinga, Nagios and NRPE give a check by default
_UNITS = {'ms': 0.001, 's': 1.0, 'm': MINUTE, 'h': HOUR}
_OURS = re.compile(r'check[_-]smart[_-]attributes|"smart-attributes"')
_OWN = re.compile(r'(?:^|\s)(?:-t|--timeout)[ =]?([0-9.]+)(?:\s|$)')

Setting = tuple[str, str, str]  # file, name, value


class DaemonLimit(NamedTuple):
    """How long a daemon waits for this plugin."""

    daemon: str                   # "NRPE"
    file: str
    seconds: float
    setting: str                  # what to change there: "command_timeout"
    own: float | None = None      # value of -t there, in seconds; None: no -t


class NrpeCommand(NamedTuple):
    """A command of NRPE that runs this plugin, or has its name."""

    name: str
    file: str                     # "/etc/nagios/nrpe.cfg"
    line: str                     # what NRPE runs, with its command_prefix
    is_prefixed: bool = False


# Each function takes the folder to use as /.

def nrpe_commands(root: str = '/') -> list[NrpeCommand]:
    """Return the NRPE commands that run this plugin; of two definitions, NRPE uses the one that it reads last."""
    _, settings = _read(root, NRPE)
    prefix = next((value for _, name, value in reversed(settings) if name == 'command_prefix'), '')
    commands = {name[len('command['):-1]: (file, value) for file, name, value in settings
                if name.startswith('command[') and name.endswith(']')}
    return [NrpeCommand(name, f'/{file}', f'{prefix} {value}'.strip(), bool(prefix))
            for name, (file, value) in commands.items() if _OURS.search(f'{name} {value}')]


def unread_nrpe(root: str = '/') -> str:
    """Return the path of an NRPE configuration that exists but is unreadable for this user, or ''."""
    path = _first(root, NRPE)
    return f'/{path}' if path and not os.access(os.path.join(root, path), os.R_OK) else ''


def icinga_host(name: str, root: str = '/') -> list[str]:
    """Return the objects in Icinga's configuration that describe this host. name: its host name."""
    head = re.compile(rf'object\s+Host\s+(?:NodeName\b|"{re.escape(name.partition(".")[0])}[".])')
    return [block for path in below(root, ICINGA[-1], '.conf')
            for block in blocks(files.text(os.path.join(root, path), LARGEST), head)]


def limits(root: str = '/') -> list[DaemonLimit]:
    """Return the time limits of the installed daemons whose configuration is readable."""
    return [*_nrpe(root), *_nagios(root), *_icinga(root)]


def findings(daemons: Sequence[DaemonLimit], timeout: float) -> list[Finding]:
    """Return a finding for each limit that is too short for a check, or a single finding if all limits fit.

    timeout: default time limit of a check, in seconds, if the configuration sets none.
    """
    short = [_too_short(limit, limit.own or timeout) for limit in dict.fromkeys(daemons)
             if (limit.own or timeout) >= limit.seconds]
    if short:
        return short
    if not daemons:
        fits = timeout < USUAL
        return [Finding(SUBJECT, fits, f'no daemon configuration is readable here; they wait {USUAL:g} s by default, '
                        f'and the check ends after {timeout:g} s', '' if fits else 'use a smaller -t')]
    by_time: dict[float, dict[str, None]] = {}
    for limit in daemons:
        by_time.setdefault(limit.seconds, {})[limit.daemon] = None
    waiting = ', '.join(f'{", ".join(names)}: {seconds:g} s' for seconds, names in sorted(by_time.items()))
    return [Finding(SUBJECT, True, f'{waiting}; the check ends after {timeout:g} s')]


def _too_short(limit: DaemonLimit, own: float) -> Finding:
    return Finding(SUBJECT, False, f'{limit.daemon} ends a check after {limit.seconds:g} s ({limit.file}), but the '
                                   f'check itself would end after {own:g} s, so no drive is reported',
                   f'set {limit.setting} to {max(USUAL, own + 5):g} there, or run the check with -t '
                   f'{fitting(limit.seconds):g}')


def fitting(seconds: float) -> float:
    """Return the -t value, in seconds, for a check that a daemon ends after *seconds*."""
    return min(TIMEOUT, seconds - 5 if seconds >= 20 else seconds * 3 / 4)


def output(printed: int, is_cut: bool, root: str = '/') -> Finding:
    """Return the finding that compares the size of a check's output with the size that each daemon keeps.

    printed: size of the output in bytes. is_cut: the check left out text or perfdata.
    """
    if is_cut:
        return Finding(OUTPUT, False, f'the check omits text or perfdata to stay within {OUTPUT_LIMIT:,} bytes',
                       'divide the drives among several commands with -d, or use check_smart_attributes metrics')
    file = next((each.file for each in nrpe_commands(root) if PROGRAM in each.line and '--max-output' not in each.line),
                '') if printed > KEPT_BEHIND_NRPE else ''
    if file:
        return Finding(OUTPUT, False, f'{printed:,} bytes, but Nagios 4 keeps only {KEPT_BEHIND_NRPE:,} bytes from '
                                      f'check_nrpe; the command in {file} has no --max-output',
                       f'if Nagios runs check_nrpe, add --max-output {BEHIND_NRPE} there; if Icinga 2 does, '
                       f'add --max-output {OUTPUT_LIMIT}')
    return Finding(OUTPUT, True, f'{printed:,} bytes; Nagios 4 keeps {KEPT_BEHIND_NRPE:,} bytes from check_nrpe, and '
                                 f'{OUTPUT_LIMIT:,} otherwise; Icinga 2 keeps {OUTPUT_LIMIT:,}')


# --- reading ---------------------------------------------------------------------------

def _first(root: str, paths: Sequence[str]) -> str:
    return next((path for path in paths if os.path.exists(os.path.join(root, path))), '')


def below(root: str, folder: str, end: str) -> list[str]:
    """Return the files in a folder and its subfolders, up to a fixed number."""
    paths: list[str] = []
    for here, _, names in os.walk(os.path.join(root, folder)):
        paths += [os.path.relpath(os.path.join(here, name), root) for name in sorted(names) if name.endswith(end)]
        if len(paths) > MOST_FILES:
            break
    return paths[:MOST_FILES]


def _read(root: str, paths: Sequence[str]) -> tuple[str, list[Setting]]:
    """Return the path of the first existing NRPE or Nagios configuration, and its settings."""
    path = _first(root, paths)
    return path, list(_settings(root, path)) if path else []


def _settings(root: str, path: str, depth: int = 0) -> Iterator[Setting]:
    """Yield the settings of an NRPE or Nagios configuration, including those of its include files."""
    for line in files.text(os.path.join(root, path), LARGEST).splitlines():
        name, sign, value = (part.strip() for part in line.partition('='))
        if not sign or name.startswith('#'):
            continue
        yield path, name, value
        if name in ('include', 'include_dir') and depth < DEEPEST:
            place = value.lstrip('/')
            for file in [place] if name == 'include' else below(root, place, '.cfg'):
                yield from _settings(root, file, depth + 1)


def _nrpe(root: str) -> Iterator[DaemonLimit]:
    path, settings = _read(root, NRPE)
    if not settings:
        return
    seconds, file = _last(settings, 'command_timeout', path)
    times = [_OWN.search(value) for _, name, value in settings if name.startswith('command[') and PROGRAM in value]
    for own in dict.fromkeys(_seconds(time[1]) if time else None for time in times) or [None]:
        yield DaemonLimit('NRPE', f'/{file}', seconds, 'command_timeout', own)


def _nagios(root: str) -> Iterator[DaemonLimit]:
    path, settings = _read(root, NAGIOS)
    if settings:
        seconds, _ = _last(settings, 'service_check_timeout', path)
        yield DaemonLimit('Nagios', f'/{path}', seconds, 'service_check_timeout')


def _last(settings: Sequence[Setting], name: str, path: str) -> tuple[float, str]:
    """Return the effective value of a setting in seconds, and the file that sets it."""
    numbers = [(seconds, file) for file, each, value in settings if each == name
               for seconds in [_seconds(value)] if seconds is not None]
    return numbers[-1] if numbers else (USUAL, path)


def _seconds(text: str) -> float | None:
    number = re.fullmatch(r'([0-9]{1,6}(?:\.[0-9]{1,6})?)(ms|s|m|h)?', text)
    return float(number[1]) * _UNITS[number[2] or 's'] if number else None


def _icinga(root: str) -> Iterator[DaemonLimit]:
    if not os.path.isdir(os.path.join(root, ICINGA[-1])):
        return
    ours = [limit for folder in ICINGA for path in below(root, folder, '.conf')
            for block in blocks(files.text(os.path.join(root, path), LARGEST))
            for limit in _of_block(block, f'/{path}')]
    yield from dict.fromkeys(ours or [DaemonLimit('Icinga', f'/{ICINGA[-1]}', USUAL, 'check_timeout')])


def _of_block(block: str, file: str) -> Iterator[DaemonLimit]:
    limit = re.search(r'(?<![\w"])(check_timeout|timeout)\s*=\s*([0-9.]+(?:ms|s|m|h)?)', block)
    own = re.search(r'smart_attributes_timeout\s*=\s*"?([0-9.]+)', block)
    seconds = _seconds(limit[2]) if limit else None
    if seconds is not None or own:
        yield DaemonLimit('Icinga', file, USUAL if seconds is None else seconds, limit[1] if limit else 'check_timeout',
                          _seconds(own[1]) if own else None)


def blocks(text: str, about: re.Pattern[str] = _OURS) -> Iterator[str]:
    """Yield the objects, templates and rules of an Icinga configuration that mention this plugin, or match *about*."""
    plain = re.sub(r'/\*.*?\*/|//[^\n]*|^\s*#[^\n]*', '', text, flags=re.DOTALL | re.MULTILINE)
    for start in re.finditer(r'\b(?:object|template|apply)\s[^{}]*\{', plain):
        depth, end = 1, start.end()
        for sign in re.finditer('[{}]', plain[start.end():]):
            depth += 1 if sign[0] == '{' else -1
            end = start.end() + sign.end()
            if not depth:
                break
        block = plain[start.start():end]
        if about.search(block):
            yield block
