"""The sudo rule: is it there, is it today's, does it admit what this machine's checks call, and no more."""

import os
import shlex
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ..command_line.options import PROGRAM, USER, Options
from ..constants import SMARTCTL
from ..errors import UsageError
from ..model import Answer, Device, HowRead
from ..output.doctor_findings import Finding
from ..reading import processes, smartctl_calls, sudoers
from ..reading.device_types import BY_NAME, base
from ..words import plural
from . import sudo_list, sudo_refusals
from .sentences import halves
from .user import AS_HIM, is_person

SUBJECT, FILES = 'sudo rule', 'sudo files'
FILE = '/etc/sudoers.d/check-smart-attributes'
TOO_MUCH = ('-s', 'off', '/dev/sda')   # what no rule of ours admits
Arguments = Tuple[str, ...]


class Asked(NamedTuple):
    """What was asked of sudo, and what it said."""

    user: str
    executable: str
    needed: Sequence[Arguments]         # what checks of this machine call
    refused: Sequence[Arguments]
    entries: Sequence[sudo_list.Entry]    # none where sudo does not tell
    admits_more: bool                   # also what no check calls
    wanted: sudoers.SudoRule                # what this program would write
    command: str                        # which prints and installs it
    is_known: bool = True               # sudo compares expressions, as the wanted rule has them
    is_person: bool = False             # who hardly runs the checks
    said: str = ''                      # sudo's message where it refused or complained
    late: str = ''                      # why there is no answer: "no answer within 30 s"
    known: sudo_refusals.Known = sudo_refusals.Known()
    is_alone: bool = False              # nobody could look into the files of sudoers: this user is not root
    as_root: str = ''                   # the command that looks again as root


class Sudo:
    """sudo, asked as the user of the checks what it would let him do; it runs nothing of that."""

    def __init__(self, options: Options, runner: processes.Runner, deadline: float) -> None:
        self._how, self._runner, self._deadline = options.how_read, runner, deadline
        self.said = ''   # its message about the last calls that it was asked for
        self.late = ''   # why it did not answer in time

    def refuses(self, lines: Sequence[Arguments]) -> List[Arguments]:
        """Return the command lines of smartctl that it would not run; *late* says where there was no answer."""
        asked = {self._asking('-l', self._how.smartctl, *line): line for line in lines}
        answers = self._run(list(asked))
        self.said = next((text for text in (answer.stderr.decode('utf-8', 'replace').strip()
                                            for answer in answers.values()) if text), '')
        return [line for command, line in asked.items() if answers[command].status or answers[command].signal]

    def entries(self) -> List[sudo_list.Entry]:
        """Return what sudoers says of this user."""
        command = self._asking('-ll')
        return sudo_list.entries(self._run([command])[command].stdout.decode('utf-8', 'replace'))

    def version(self) -> str:
        """Return its first line about itself."""
        command = (smartctl_calls.find_sudo(), *smartctl_calls.VERSION)
        return self._run([command])[command].stdout.decode('utf-8', 'replace').partition('\n')[0]

    def _asking(self, *words: str) -> Arguments:
        return (smartctl_calls.find_sudo(), '-n', *words)

    def _run(self, lines: Sequence[Arguments]) -> Dict[Arguments, Answer]:
        answers = {answer.command: answer for answer in
                   self._runner.run(lines, self._how.jobs, self._how.drive_timeout, self._deadline)}
        self.late = self.late or next((answer.reason for answer in answers.values() if answer.outcome != 'done'), '')
        return answers


def not_wanted(how: HowRead, user: str, asked_for: str) -> Optional[Finding]:
    """Return the finding where no sudo is called. asked_for: the user of --user, '' without."""
    if how.nosudo:
        return Finding(SUBJECT, True, 'not wanted: --nosudo')
    if os.geteuid() != 0:
        return None
    if asked_for:
        return Finding(SUBJECT, True, f'not wanted: {user} reads drives without it')
    return Finding(SUBJECT, None, 'not tried: this is root, who needs none, and checks hardly run as root',
                   'look as the user of the checks (--user root, if root it is)', f'{PROGRAM} doctor --user {USER}')


def examined(sudo: Sudo, options: Options, user: str, needed: Sequence[Arguments],
             devices: Sequence[Device], known: sudo_refusals.Known) -> List[Finding]:
    """Return what is to be said of the rule. devices: whose command lines are among those needed."""
    try:
        asked = _asked(sudo, options, user, needed, devices, known)
    except UsageError as error:  # no sudo at all
        return [Finding(SUBJECT, False, *halves(str(error)), command='apt install sudo')]
    complaint = sudo_refusals.reason(asked.said, user) if not asked.refused else None
    return [judged(asked), *([_because(complaint, asked, FILES)] if complaint else [])]


def _asked(sudo: Sudo, options: Options, user: str, needed: Sequence[Arguments], devices: Sequence[Device],
           known: sudo_refusals.Known) -> Asked:
    how = options.how_read
    refused = sudo.refuses(needed)
    said, entries = sudo.said, sudo.entries() or known.entries
    requested = requested_types(devices, entries)
    wanted = sudoers.general(sudoers.RuleRequest(user, types=requested), how)
    admits_more, knows = not sudo.refuses([TOO_MUCH]), sudoers.knows_expressions(sudo.version())
    return Asked(user, how.smartctl, needed, refused, entries, admits_more, wanted,
                 _installing(options, user, requested, _odd(wanted, devices, how)), knows, is_person(os.geteuid()),
                 said, sudo.late, known, not options.own.user, _as_root(options, user))


def requested_types(devices: Iterable[Device], entries: Iterable[sudo_list.Entry]) -> Tuple[str, ...]:
    """Return the types that a rule admits only when asked to: those of these devices, and those it has now."""
    there = ' '.join(command for entry in entries for command in entry.commands)
    used = {base(device).partition(',')[0] for device in devices}
    return tuple(name for name, entry in BY_NAME.items() if entry.is_vendors and (name in used or name in there))


def _odd(wanted: sudoers.SudoRule, devices: Iterable[Device], how: HowRead) -> List[Device]:
    """Return the devices in places of the site's own making."""
    return [device for device in devices if not sudoers.admits(
        wanted.expressions, smartctl_calls.read_arguments(device.path, device.type))]


def _installing(options: Options, user: str, types: Iterable[str], odd: Iterable[Device]) -> str:
    how = options.how_read
    words = [PROGRAM, 'sudoers', *(['--user', user] if user != USER else []),
             *(['-p', how.smartctl] if how.smartctl != SMARTCTL else []),
             *(['-t', f'{how.timeout:g}'] if how.timeout != HowRead().timeout else []),
             *(word for name in types for word in ('--type', name)),
             *(word for device in odd for word in ('-d', device.address))]
    return f'{shlex.join(words)} > rule && visudo -cf rule && install -m 0440 rule {FILE}'


def _as_root(options: Options, user: str) -> str:
    """Return the command that examines the same installation as root."""
    path = options.how_read.smartctl
    return shlex.join([PROGRAM, 'doctor', '--user', user, *(['-p', path] if path != SMARTCTL else []),
                       *(word for address in options.which.devices for word in ('-d', address)),
                       *(['--state-dir', options.state_dir] if options.state_dir else [])])


# --- what it means; pure ---------------------------------------------------------------

def judged(asked: Asked) -> Finding:
    """Return the finding: the first of these reasons to renew the rule, or what it admits."""
    if asked.late:
        return Finding(SUBJECT, False, f'is not known: sudo gave no answer ({asked.late})',
                       'see why sudo is so slow: a directory service or a name server that does not answer',
                       f'sudo -l -U {shlex.quote(asked.user)}')
    reason = sudo_refusals.why(asked.said, asked.known, asked.user) if asked.refused else None
    if reason:
        return _because(reason, asked, SUBJECT)
    if asked.is_alone and asked.refused and not _has_rule(asked) and not asked.is_person:
        return Finding(SUBJECT, False, f'is missing, or sudo does not read the file that holds it{_quoted(asked.said)}',
                       'only root can tell the two apart; as root, look again', asked.as_root)
    for words in _faults(asked):
        return Finding(SUBJECT, False, words + _quoted(asked.said), _whose(asked) + 'let root install the rule as this '
                       'version prints it', asked.command)
    if asked.admits_more:
        return Finding(SUBJECT, False, f'lets {asked.user} call smartctl with whatever he likes, as -s off',
                       f'find that rule (sudo -l -U {asked.user}) and let root put this one in its place',
                       asked.command)
    told = asked.entries and 'of this version, ' if _is_general(asked) else ''
    return Finding(SUBJECT, True, f'{told}admits the {plural(len(asked.needed), "call")} that checks make here, and '
                                  f'not smartctl -s off')


def _because(reason: sudo_refusals.Reason, asked: Asked, subject: str) -> Finding:
    return Finding(subject, False, reason.words + _quoted(asked.said), _whose(asked) + f'let root do it: {reason.cure}',
                   reason.command)


def _quoted(said: str) -> str:
    """Return sudo's own message, unchanged, as the end of a sentence."""
    return f'; sudo says: {said}' if said else ''


def _whose(asked: Asked) -> str:
    """Return what keeps an admin who tries this as himself from installing a rule for himself."""
    return f'{AS_HIM}; if that is {asked.user}, ' if asked.is_person else ''


def _faults(asked: Asked) -> Iterator[str]:
    ours = [entry for entry in asked.entries if entry.of(asked.executable)]
    others = [path for path in sudo_list.programs(list(asked.entries), os.path.basename(asked.executable))
              if path != asked.executable]
    if asked.refused and not ours:
        yield (f'is for {others[0]}, and checks call {asked.executable}' if others else
               f'is missing: sudo does not let {asked.user} run {asked.executable}')
    if ours and all(entry.wants_password for entry in ours):
        yield 'asks for a password, and a check has none: it lacks the word NOPASSWD'
    if asked.refused:
        yield (f'refuses {len(asked.refused)} of {plural(len(asked.needed), "call")}, such as smartctl '
               f'{" ".join(asked.refused[0])}')
    if any(entry.timeout is not None and entry.timeout < asked.wanted.timeout for entry in ours):
        yield (f'ends smartctl after {min(entry.timeout or 0 for entry in ours)} s, sooner than the check itself does '
               f'(TIMEOUT={asked.wanted.timeout} is wanted)')
    if ours and not asked.admits_more and asked.is_known and not _is_general(asked) and _has_expressions(asked):
        yield 'is of another version: it admits the calls for the drives of today, but not all that checks may make'


def _has_rule(asked: Asked) -> bool:
    """Tell whether sudo lists a rule for smartctl, be it at another path."""
    return bool(sudo_list.programs(list(asked.entries), os.path.basename(asked.executable)))


def _is_general(asked: Asked) -> bool:
    """Tell whether all expressions of the wanted rule are there."""
    there = {words for entry in asked.entries for words in entry.of(asked.executable)}
    return {f'^{expression}$' for expression in asked.wanted.expressions} <= there


def _has_expressions(asked: Asked) -> bool:
    """Tell whether the rule is one with expressions; a literal one has a line for each drive, and that is enough."""
    return any(words.startswith('^') for entry in asked.entries for words in entry.of(asked.executable))
