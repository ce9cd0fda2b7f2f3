"""What the daemons of this machine allow a check: how long it may take, as far as their configuration can be read."""

import os
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from .. import files
from ..command_line.options import PROGRAM
from ..constants import HOUR, MINUTE, TIMEOUT
from ..model import BEHIND_NRPE, KEPT_BEHIND_NRPE, OUTPUT_LIMIT
from ..output.doctor_findings import Finding

SUBJECT, OUTPUT = 'time limit', 'output'
ROOT = '/'           # the folder that stands for /
NRPE = ('etc/nagios/nrpe.cfg', 'etc/nrpe.cfg', 'usr/local/nagios/etc/nrpe.cfg')
NAGIOS = ('etc/nagios4/nagios.cfg', 'etc/nagios/nagios.cfg', 'etc/naemon/naemon.cfg', 'etc/icinga/icinga.cfg',
          'usr/local/nagios/etc/nagios.cfg')
ICINGA = ('usr/share/icinga2/include/plugins-contrib.d', 'etc/icinga2')
MOST_FILES, LARGEST, DEEPEST = 500, 1 << 20, 6
USUAL = 60.0         # seconds that Icinga, Nagios and NRPE give a check where nothing else is said
_UNITS = {'ms': 0.001, 's': 1.0, 'm': MINUTE, 'h': HOUR}
_OURS = re.compile(r'check[_-]smart[_-]attributes|"smart-attributes"')
_OWN = re.compile(r'(?:^|\s)(?:-t|--timeout)[ =]?([0-9.]+)(?:\s|$)')


class Limit(NamedTuple):
    """How long a daemon waits for this plugin."""

    who: str                      # "NRPE"
    file: str
    seconds: float
    setting: str                  # what to change there: "command_timeout"
    own: Optional[float] = None   # what the plugin is given with -t there; None: not told


class NrpeCommand(NamedTuple):
    """A command of NRPE that runs this plugin, or says so in its name."""

    name: str
    file: str                     # "/etc/nagios/nrpe.cfg"
    line: str                     # what NRPE runs, with its command_prefix
    is_prefixed: bool = False


def nrpe_commands(root: str = '') -> List[NrpeCommand]:
    """Return the commands of this plugin; of two definitions NRPE takes the one that it reads last."""
    path = _first(root or ROOT, NRPE)
    settings = list(_settings(root or ROOT, path)) if path else []
    prefix = next((value for _, name, value in reversed(settings) if name == 'command_prefix'), '')
    found = {name[len('command['):-1]: (file, value) for file, name, value in settings
             if name.startswith('command[') and name.endswith(']')}
    return [NrpeCommand(name, f'/{file}', f'{prefix} {value}'.strip(), bool(prefix))
            for name, (file, value) in found.items() if _OURS.search(f'{name} {value}')]


def unread_nrpe(root: str = '') -> str:
    """Return the configuration of NRPE that is there and this user may not read, '' where there is none."""
    path = _first(root or ROOT, NRPE)
    return f'/{path}' if path and not os.access(os.path.join(root or ROOT, path), os.R_OK) else ''


def limits(root: str = '') -> List[Limit]:
    """Return the limits that are readable here, nothing for what is not installed."""
    root = root or ROOT
    return [*_nrpe(root), *_nagios(root), *_icinga(root)]


def judged(found: Sequence[Limit], timeout: float) -> List[Finding]:
    """Return a finding for each limit that ends a check before it ends itself, or one that all fit.

    timeout: of the check, in seconds, where the configuration does not tell.
    """
    short = [limit for limit in found if (limit.own or timeout) >= limit.seconds]
    if short:
        return [_too_short(limit, limit.own or timeout) for limit in dict.fromkeys(short)]
    if not found:
        fits = timeout < USUAL
        return [Finding(SUBJECT, fits, f'no daemon\'s configuration is readable here; they wait {USUAL:g} s unless '
                        f'told otherwise, the check ends after {timeout:g}', '' if fits else 'take a smaller -t')]
    return [Finding(SUBJECT, True, f'{_waiting(found)}, the check ends itself after {timeout:g}')]


def _waiting(found: Sequence[Limit]) -> str:
    """Return who waits how long: "NRPE, Icinga: 60 s"."""
    by_time: Dict[float, Dict[str, None]] = {}
    for limit in found:
        by_time.setdefault(limit.seconds, {})[limit.who] = None
    return ', '.join(f'{", ".join(names)}: {seconds:g} s' for seconds, names in sorted(by_time.items()))


def _too_short(limit: Limit, own: float) -> Finding:
    return Finding(SUBJECT, False, f'{limit.who} ends a check after {limit.seconds:g} s ({limit.file}), and the check '
                                   f'would by itself after {own:g}: then nothing is told of any drive',
                   f'set {limit.setting} to {max(USUAL, own + 5):g} there, or give the check -t '
                   f'{fitting(limit.seconds):g}')


def fitting(seconds: float) -> float:
    """Return the time limit for a check that a daemon ends after some seconds."""
    return min(TIMEOUT, seconds - 5 if seconds >= 20 else seconds * 3 / 4)


def output(printed: int, is_cut: bool, root: str = '') -> Finding:
    """Return the finding for what a check prints, against what each path to a daemon keeps.

    printed: bytes. is_cut: the check left out text or perfdata. root: the folder that stands for /.
    """
    if is_cut:
        return Finding(OUTPUT, False, f'the check leaves out text or perfdata, to stay within {OUTPUT_LIMIT:,} bytes',
                       'divide the drives among several commands with -d, or use check_smart_attributes metrics')
    file = _without_budget(root or ROOT) if printed > KEPT_BEHIND_NRPE else ''
    if file:
        return Finding(OUTPUT, False, f'{printed:,} bytes, and Nagios 4 keeps {KEPT_BEHIND_NRPE:,} of what check_nrpe '
                                      f'prints; the command in {file} has no --max-output',
                       f'if Nagios asks for it, add --max-output {BEHIND_NRPE} there; if Icinga 2 does, '
                       f'add --max-output {OUTPUT_LIMIT}')
    return Finding(OUTPUT, True, f'{printed:,} bytes; Nagios 4 keeps {KEPT_BEHIND_NRPE:,} of what check_nrpe prints; '
                                 f'the other paths to Nagios 4 and Icinga 2 keep {OUTPUT_LIMIT:,}')


def _without_budget(root: str) -> str:
    """Return the file with a command of NRPE that runs the check without --max-output, '' if there is none."""
    return next((each.file for each in nrpe_commands(root)
                 if PROGRAM in each.line and '--max-output' not in each.line), '')


# --- reading ---------------------------------------------------------------------------

def _text(root: str, path: str) -> str:
    """Return a file, '' where this user cannot read it."""
    try:
        return files.content(os.path.join(root, path), LARGEST).decode('utf-8', 'replace')
    except OSError:
        return ''


def _first(root: str, paths: Sequence[str]) -> str:
    return next((path for path in paths if os.path.exists(os.path.join(root, path))), '')


def _below(root: str, folder: str, end: str) -> List[str]:
    """Return the files of a folder and those below it, as many as may be."""
    found: List[str] = []
    for here, _, names in os.walk(os.path.join(root, folder)):
        found += [os.path.relpath(os.path.join(here, name), root) for name in sorted(names) if name.endswith(end)]
        if len(found) > MOST_FILES:
            break
    return found[:MOST_FILES]


def _settings(root: str, path: str, depth: int = 0) -> Iterator[Tuple[str, str, str]]:
    """Yield (file, name, value) of a configuration of NRPE or Nagios, with what it includes."""
    for line in _text(root, path).splitlines():
        name, sign, value = (part.strip() for part in line.partition('='))
        if not sign or name.startswith('#'):
            continue
        yield path, name, value
        if depth < DEEPEST and name == 'include':
            yield from _settings(root, value.lstrip('/'), depth + 1)
        elif depth < DEEPEST and name == 'include_dir':
            for file in _below(root, value.lstrip('/'), '.cfg'):
                yield from _settings(root, file, depth + 1)


def _nrpe(root: str) -> Iterator[Limit]:
    path = _first(root, NRPE)
    settings = list(_settings(root, path)) if path else []
    if not settings:
        return
    seconds, file = _last(settings, 'command_timeout', path)
    calls = [value for _, name, value in settings if name.startswith('command[') and PROGRAM in value]
    for own in dict.fromkeys(map(_own, calls)) or [None]:
        yield Limit('NRPE', f'/{file}', seconds, 'command_timeout', own)


def _own(call: str) -> Optional[float]:
    """Return what -t says in a command line."""
    found = _OWN.search(call)
    return _seconds(found[1]) if found else None


def _last(settings: Sequence[Tuple[str, str, str]], wanted: str, path: str) -> Tuple[float, str]:
    """Return the number that a setting has in the end, and in which file."""
    said = [(_seconds(value), file) for file, name, value in settings if name == wanted]
    numbers = [(number, file) for number, file in said if number is not None]
    return numbers[-1] if numbers else (USUAL, path)


def _seconds(text: str) -> Optional[float]:
    found = re.fullmatch(r'([0-9]{1,6}(?:\.[0-9]{1,6})?)(ms|s|m|h)?', text)
    return float(found[1]) * _UNITS[found[2] or 's'] if found else None


def _nagios(root: str) -> Iterator[Limit]:
    path = _first(root, NAGIOS)
    settings = list(_settings(root, path)) if path else []
    if settings:
        yield Limit('Nagios', f'/{path}', _last(settings, 'service_check_timeout', path)[0], 'service_check_timeout')


def _icinga(root: str) -> Iterator[Limit]:
    if not os.path.isdir(os.path.join(root, ICINGA[-1])):
        return
    found = [limit for folder in ICINGA for path in _below(root, folder, '.conf') if _OURS.search(_text(root, path))
             for block in blocks(_text(root, path)) for limit in _of_block(block, f'/{path}')]
    yield from dict.fromkeys(found or [Limit('Icinga', f'/{ICINGA[-1]}', USUAL, 'check_timeout')])


def _of_block(block: str, file: str) -> Iterator[Limit]:
    said = re.search(r'(?<![\w"])(check_timeout|timeout)\s*=\s*([0-9.]+(?:ms|s|m|h)?)', block)
    own = re.search(r'smart_attributes_timeout\s*=\s*"?([0-9.]+)', block)
    seconds = _seconds(said[2]) if said else None
    if seconds is not None or own:
        yield Limit('Icinga', file, USUAL if seconds is None else seconds, said[1] if said else 'check_timeout',
                    _seconds(own[1]) if own else None)


def blocks(text: str) -> Iterator[str]:
    """Yield the objects, templates and rules of a configuration of Icinga that mention this plugin."""
    plain = re.sub(r'/\*.*?\*/|//[^\n]*|^\s*#[^\n]*', '', text, flags=re.DOTALL | re.MULTILINE)
    for start in re.finditer(r'\b(?:object|template|apply)\s[^{}]*\{', plain):
        depth, end = 1, start.end()
        for sign in re.finditer('[{}]', plain[start.end():]):
            depth += 1 if sign[0] == '{' else -1
            end = start.end() + sign.end()
            if not depth:
                break
        block = plain[start.start():end]
        if _OURS.search(block):
            yield block
