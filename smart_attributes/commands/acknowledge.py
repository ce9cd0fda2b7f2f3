"""acknowledged.json: what root accepts of single drives. Every check reads it as a file of limits.

Reading and writing it is one step for every other `acknowledge`, and for every check.
"""
from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from contextlib import contextmanager, suppress
from typing import Any, Iterator, List, Mapping, Sequence, Set, Tuple

from .. import files, trust
from ..check.rulebook import today
from ..check.survey import survey
from ..command_line.options import OK, PARTLY, UNKNOWN, AcknowledgeOptions, Options, Which
from ..errors import DataError, UsageError
from ..knowledge import acknowledgements, acknowledgements_file, data_file
from ..knowledge.acknowledgements import Acknowledgement
from ..knowledge.acknowledgements_file import AcknowledgementsFile
from ..model import Judgement, State, Verdict
from ..reading import processes
from ..reading.identity import is_same_drive
from ..words import amount, clean, finding, sentence

LEAST_WHY = 8      # characters, as the schema of limits wants them
PATIENCE = 10.0    # seconds to wait for another acknowledge
_LONGEST_BY = 80   # characters, as the schema of limits wants them
_OWN_WORD = 'the drive itself reports this state, which cannot be acknowledged'


def run(options: Options, runner: processes.Runner) -> int:
    """Accept numbers of drives, list what is accepted, or withdraw it; 0 when all could be done, 1 otherwise."""
    own: AcknowledgeOptions = options.own
    _check_acknowledging(options.which, own)
    config = options.data.config
    if own.shown:
        before = kept(config)
        return _said(list(map(line, sorted(before.acknowledgements))) or ['nothing is acknowledged'], before.mistakes)
    if own.withdraw:
        ended, before = withdraw(config, own.withdraw)
        return _said([f'withdrawn: {line(each)}' for each in ended], before.mistakes)
    common = template(own.why, own.until)
    found = survey(options, runner)
    if not found.verdicts:
        raise UsageError(found.nobody[1])
    given, refused = accepted(found.verdicts, options.which.metrics, common)
    mistakes = accept(config, given).mistakes if given else ()
    lines = [*(f'acknowledged: {line(each)}' for each in given), *(f'not acknowledged: {words}' for words in refused)]
    return _said(lines or ['nothing to acknowledge: no metric alerts'], mistakes,
                 PARTLY if given and refused else UNKNOWN if refused else OK)


def _check_acknowledging(which: Which, own: AcknowledgeOptions) -> None:
    """Raise UsageError for options that do not go together."""
    if (own.shown or own.withdraw) and (which.metrics or own.every_alarm):
        raise UsageError('--list and --withdraw take no metrics beside them; --withdraw SERIAL:METRIC withdraws one')
    is_named = which.devices or which.reports
    if not (own.shown or own.withdraw) and (
            bool(which.metrics) == own.every_alarm or (which.metrics and not is_named)):
        raise UsageError('acknowledge takes metrics with -d ADDRESS or --report FILE, or --all, or --list, or '
                         '--withdraw; --help shows examples')


def _said(lines: Sequence[str], mistakes: Sequence[str] = (), status: int = OK) -> int:
    """Print lines, and the mistakes of a file as notes; return the exit status."""
    for words in (*lines, *(f'note: {mistake}' for mistake in mistakes)):
        print(sentence(words, 1000))
    return status


# --- what is accepted ------------------------------------------------------------------

def accepted(verdicts: Sequence[Verdict], metrics: Sequence[str],
             template: Acknowledgement) -> Tuple[List[Acknowledgement], List[str]]:
    """Return what is accepted of drives, and a sentence for each thing that cannot be.

    metrics: these, as they stand now; none: whatever alarms. template: why, until, by and at.
    """
    given, refused = [], []
    for verdict in verdicts:
        wanted = [j for j in verdict.judgements if j.reading.judged
                  and (j.reading.metric in metrics if metrics else j.state is not State.OK)]
        told = {judgement.reading.metric for judgement in wanted}
        refused += [f'{verdict.device.name} does not report {metric}' for metric in metrics if metric not in told
                    and not verdict.problem]
        refused += [f'{verdict.device.name} {verdict.problem}'] if verdict.problem else []
        for judgement in wanted:
            why_not = _why_not(verdict, judgement)
            refused += [f'{verdict.device.name} {finding(judgement)}: {why_not}'] if why_not else []
            given += [] if why_not else [template._replace(serial=verdict.identity.serial,
                                                           metric=judgement.reading.metric,
                                                           value=judgement.reading.number or 0)]
    return given, refused


def _why_not(verdict: Verdict, judgement: Judgement) -> str:
    if judgement.reading.state is not None:
        return _OWN_WORD
    if judgement.reading.number is None:
        return 'it has no value now'
    alone = verdict.identity._replace(wwn='')
    return '' if is_same_drive(alone, alone) else 'the drive reports no serial number, or one that many drives report'


def template(why: str, until: str) -> Acknowledgement:
    """Return what all acknowledgements of one call have in common. Raises UsageError."""
    if len(why) < LEAST_WHY:
        raise UsageError(f'--why says why this is accepted, in {LEAST_WHY} characters or more: --why "stable since '
                         f'2024"')
    if until and not acknowledgements.is_day(until):
        raise UsageError(f'--until "{clean(until)}" is not a day, such as 2027-01-31')
    if until and until < today():
        raise UsageError(f'--until {until} is past; name the last day on which the number is accepted')
    return Acknowledgement('', '', 0, why, until, _who(), today())


def _who() -> str:
    import pwd
    try:
        return (os.environ.get('SUDO_USER') or pwd.getpwuid(os.getuid()).pw_name)[:_LONGEST_BY]
    except KeyError:
        return str(os.getuid())


def line(given: Acknowledgement) -> str:
    """Return one acknowledgement for a person."""
    ended = ', which is past' if given.until and given.until < today() else ''
    told = amount(given.value, '') + acknowledgements.given_by(given, ', ') + ended
    return f'{clean(given.serial)} {given.metric} {told}: {clean(given.why, 200)}'


# --- the file -------------------------------------------------------------------------

def path(config: str) -> str:
    """Return the file in a configuration folder."""
    return os.path.join(config, acknowledgements.FILE)


def kept(config: str) -> AcknowledgementsFile:
    """Return what the file holds. Raises DataError where it cannot be read, or not be changed without a loss."""
    file = path(config)
    if not os.path.lexists(file):
        return acknowledgements_file.EMPTY
    text = data_file.site_text(file)
    try:
        return acknowledgements_file.document(text)
    except DataError as mistake:
        raise DataError(f'{mistake}; correct {file} by hand, or move it away') from None


def accept(config: str, given: Sequence[Acknowledgement]) -> AcknowledgementsFile:
    """Add acknowledgements to the file, and return what it held before. Raises DataError."""
    with _alone(config) as file:
        before = kept(config)
        _write(file, acknowledgements_file.with_added(before.data, given))
    return before


def withdraw(config: str, names: Sequence[str]) -> Tuple[List[Acknowledgement], AcknowledgementsFile]:
    """Remove what SERIAL or SERIAL:METRIC names, and return it with what the file held before.

    Raises DataError, and UsageError for what was never accepted.
    """
    with _alone(config) as file:
        before = kept(config)
        ended = withdrawn(before.acknowledgements, names)
        _write(file, acknowledgements_file.without(before.data, {(each.serial, each.metric) for each in ended}))
    return ended, before


def withdrawn(before: Sequence[Acknowledgement], names: Sequence[str]) -> List[Acknowledgement]:
    """Return what SERIAL or SERIAL:METRIC names, as --list prints them. Raises UsageError for what was never accepted.
    """
    for name in names:
        if not any(name in _called(each) for each in before):
            raise UsageError(f'nothing of {clean(name)} is acknowledged; --list shows what is')
    return [each for each in before if _called(each) & set(names)]


def _called(given: Acknowledgement) -> Set[str]:
    """Return what a person may call an acknowledgement."""
    return {name for serial in (given.serial, clean(given.serial)) for name in (serial, f'{serial}:{given.metric}')}


# --- one at a time ----------------------------------------------------------------------

@contextmanager
def _alone(config: str) -> Iterator[str]:
    """Yield the path of the file itself, behind any links, while no other acknowledge reads or writes it.

    Raises DataError where the lock cannot be had: the file's own could be held by any user who may read it.
    """
    file = os.path.realpath(path(config))
    lock = f'{file}.lock'
    with _explained(file):
        fault = trust.fault(os.path.dirname(file), os.geteuid())
        if fault:
            raise DataError(f'{fault}; let nobody else write there: chown, chmod go-w or setfacl -b')
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o077:
            raise DataError(f'{lock} could be held by another user; remove it: rm {lock}')
        with _explained(lock):
            if not files.has_locked(descriptor, fcntl.LOCK_EX, PATIENCE):
                raise DataError(f'another acknowledge has held {lock} for {PATIENCE:g} s, and nothing was changed; '
                                f'find it with: fuser {lock}')
        yield file
    finally:
        os.close(descriptor)


def _write(file: str, data: Mapping[str, Any]) -> None:
    """Replace the file in one step. The caller holds the lock. Raises DataError where it cannot be written."""
    beside = f'{file}.new'
    with _explained(file):
        try:
            with suppress(FileNotFoundError):
                os.unlink(beside)  # of a process that was killed
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
            with open(descriptor, 'w', encoding='ascii') as new:
                os.fchmod(descriptor, 0o644)
                new.write(json.dumps(data, indent=1) + '\n')
                new.flush()
                os.fsync(descriptor)
            os.replace(beside, file)
            files.flush(os.path.dirname(file))  # so that the new name outlasts a power cut
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)
            raise


@contextmanager
def _explained(file: str) -> Iterator[None]:
    """Turn what the system refuses into a sentence."""
    try:
        yield
    except OSError as error:
        folder = os.path.dirname(file)
        advice = {errno.ENOENT: f'make the folder: mkdir -p {folder}', errno.EACCES: 'run this as root',
                  errno.EPERM: 'run this as root'}.get(error.errno or 0, f'let root write to {folder}')
        raise DataError(f'{file} cannot be written: {error.strerror}; {advice}') from None
