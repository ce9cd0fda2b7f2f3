"""acknowledge: store accepted values of individual drives in acknowledged.json, which each check
reads.

While one `acknowledge` uses the file, a lock makes others wait. A check reads either the old file
or the new file.
"""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from .. import files, trust
from ..access import name_of
from ..check import history_answers
from ..check.rulebook import today
from ..check.survey import survey
from ..command_line.options import OK, PARTLY, UNKNOWN, Options, Which
from ..constants import LONGEST_SIGNATURE
from ..errors import DataError, UsageError
from ..knowledge import acknowledgements, data_file, thresholds
from ..knowledge.thresholds import Acknowledgement
from ..model import State, Verdict
from ..reading import processes
from ..reading.system import former_place
from ..typed import Json
from ..words import clean, sentence
from ..work.dates import is_day
from . import person
from .acceptable import Choice, acceptable, accepted_as_missing, line
from .records.acknowledge import AcknowledgeOptions

LEAST_WHY = 8  # characters, as in the schema of limits
PATIENCE = 10.0  # seconds to wait for another acknowledge
# The messages about options that cannot be combined, or do not select any drive.
HOW_WITHOUT_METRICS = (
    '--list, --missing and --withdraw take no metrics; with --missing, name the missing '
    'drives or use --all; to withdraw one acknowledgement, use --withdraw SERIAL:METRIC'
)
HOW_TO_SELECT = (
    'name a drive (NAME, -d ADDRESS or --report FILE); or, without METRIC, use --missing, --list, '
    '--withdraw or --all; for examples, use --help'
)


def run(options: Options, runner: processes.Runner) -> int:
    """Acknowledge values, list acknowledgements, or withdraw some; return 0 on success, 1 if
    partly done, else 3.
    """
    own: AcknowledgeOptions = options.own
    options = person.with_names(options)
    which = options.which
    _check_combination(which, own)
    config = options.data.config
    hide_serial = options.naming.hide_serial
    if own.lists:
        present = content(config)
        lines = [
            line(accepted, hide_serial) for accepted in sorted(present.acknowledgements)
        ]
        return _print(lines or ['nothing is acknowledged'], present.mistakes)
    if own.withdraw:
        ended, mistakes = withdraw(config, own.withdraw)
        lines = [f'withdrawn: {line(accepted, hide_serial)}' for accepted in ended]
        return _print(lines, mistakes)
    why = own.why
    if own.missing_drives and not why:
        why = 'the drive was removed'
    common = template(why, own.until)
    if own.missing_drives:
        serials, unknown = _named_missing(options, runner)
        choice = accepted_as_missing(serials, unknown, common, hide_serial)
        return _accept_and_print(config, choice, own.every_alarm)
    drives = survey(options, runner)
    if not drives.verdicts:
        state, words = drives.nobody
        if state is not State.OK:
            raise UsageError(words)
        return _print([f'nothing to acknowledge: {words}'], ())
    # -d may be a range of drives behind a controller, and --report a directory. A metric alone then
    # does not tell which of these drives is meant.
    arguments = len(which.devices) + len(which.reports)
    stand_for_more_drives = len(drives.verdicts) > arguments
    if which.metrics and not which.names and stand_for_more_drives:
        raise UsageError(
            'name the drive, too, for example: acknowledge sda reallocated'
        )
    choice = acceptable(
        drives.verdicts,
        which.metrics,
        common,
        is_every_drive=own.every_alarm,
        hide_serial=hide_serial,
    )
    return _accept_and_print(config, choice, own.every_alarm)


def _accept_and_print(config: str, choice: Choice, is_every_drive: bool) -> int:
    """Acknowledge the chosen values and print a line for each value; return the exit status.

    is_every_drive: --all, which names no value: refused values are a partial success, PARTLY, even
    if every value is refused.
    """
    mistakes = accept(config, choice.new) if choice.new else ()
    lines = [
        *(f'acknowledged: {words}' for words in choice.said),
        *(f'not acknowledged: {words}' for words in choice.refused),
    ]
    status = OK
    if choice.refused:
        status = PARTLY if choice.new or is_every_drive else UNKNOWN
    return _print(
        lines or ['nothing to acknowledge: no alert of this kind'], mistakes, status
    )


def _check_combination(which: Which, own: AcknowledgeOptions) -> None:
    """Raise UsageError for options that cannot be combined, or do not select any drive.

    These are mistakes:

    - with --missing: a metric, names together with --all, or neither names nor --all
    - with --list or --withdraw: a metric, a name or --all
    - with --all alone: a metric
    - without these options: no drive
    """
    if own.missing_drives:
        has_both = which.names and own.every_alarm
        has_neither = not (which.names or own.every_alarm)
        if which.metrics or has_both or has_neither:
            raise UsageError(HOW_WITHOUT_METRICS)
    elif own.lists or own.withdraw:
        if which.metrics or which.names or own.every_alarm:
            raise UsageError(HOW_WITHOUT_METRICS)
    elif own.every_alarm:
        if which.metrics:
            raise UsageError(HOW_TO_SELECT)
    elif not (which.names or which.devices or which.reports):
        raise UsageError(HOW_TO_SELECT)


def _print(lines: Sequence[str], mistakes: Sequence[str], status: int = OK) -> int:
    """Print lines, then the mistakes in a file as notes; return *status*."""
    for words in (*lines, *(f'note: {mistake}' for mistake in mistakes)):
        print(sentence(words, 1000))
    return status


def _named_missing(
    options: Options, runner: processes.Runner
) -> tuple[list[str], list[str]]:
    """Return the serial numbers of the drives that were removed, and the names that no missing
    drive has. Without names (--all), these are all missing drives.

    A drive that is still there can be named by its serial number, before it is pulled. Without
    history, each name counts as a serial number.
    """
    everything = options._replace(which=options.which._replace(names=()))
    drives = survey(everything, runner)
    missing = [verdict for verdict in drives.verdicts if verdict.is_missing]
    names = options.which.names
    if not names:
        return [verdict.identity.serial for verdict in missing], []
    known_serials = history_answers.serials(drives.history)
    serials = []
    unknown = []
    for name in names:
        named = [
            verdict.identity.serial for verdict in missing if name in _names(verdict)
        ]
        if named:
            serials += named
        elif name in known_serials or not known_serials:
            serials.append(name)
        else:
            unknown.append(name)
    return serials, unknown


def _names(verdict: Verdict) -> tuple[str, ...]:
    """Return the names by which a missing drive can be given."""
    device = verdict.device
    return (
        device.name,
        device.path,
        device.address,
        verdict.identity.serial,
        former_place(device).bay,
    )


def template(why: str, until: str) -> Acknowledgement:
    """Return an acknowledgement with only the fields that all new ones share.

    Raises UsageError for invalid values.
    """
    if len(why) < LEAST_WHY:
        raise UsageError(
            f'--why needs a reason of at least {LEAST_WHY} characters, such as: --why "stable since 2024"'
        )
    if until and not is_day(until):
        raise UsageError(f'--until "{clean(until)}" is not a date such as 2027-01-31')
    if until and until < today():
        raise UsageError(
            f'--until {until} is in the past; give the last day on which the value is accepted'
        )
    # the user who runs this command, also through sudo
    user = os.environ.get('SUDO_USER') or name_of(os.getuid())
    return Acknowledgement('', '', 0, why, until, user[:LONGEST_SIGNATURE], today())


def content(config: str) -> acknowledgements.AcknowledgementsFile:
    """Return the acknowledgements of a site. config: folder.

    Raises DataError if a change could lose some of them.
    """
    file = os.path.join(config, thresholds.FILE)
    if not os.path.lexists(file):
        return acknowledgements.EMPTY
    text = data_file.site_text(file)
    try:
        return acknowledgements.document(text)
    except DataError as mistake:
        raise DataError(f'{mistake}; correct {file} by hand, or move it away') from None


def accept(config: str, new: Sequence[Acknowledgement]) -> Sequence[str]:
    """Add acknowledgements to the file, and return the mistakes in its earlier content. Raises
    DataError.
    """
    with _alone(config) as file:
        before = content(config)
        _write(file, acknowledgements.with_added(before.data, new))
    return before.mistakes


def withdraw(
    config: str, names: Collection[str]
) -> tuple[list[Acknowledgement], Sequence[str]]:
    """Remove acknowledgements, named SERIAL or SERIAL:METRIC as in --list; return these, and the
    mistakes in the earlier content of the file.

    Raises DataError, and UsageError for a name without an acknowledgement.
    """
    with _alone(config) as file:
        before = content(config)
        unused = set(names)
        ended = []
        for accepted in before.acknowledgements:
            own_names = _names_in_list(accepted).intersection(names)
            unused -= own_names
            if own_names:
                ended.append(accepted)
        for name in names:
            if name in unused:
                raise UsageError(
                    f'no acknowledgement for {clean(name)}; to list all, use --list'
                )
        ended_keys = {(accepted.serial, accepted.metric) for accepted in ended}
        _write(file, acknowledgements.without(before.data, ended_keys))
    return ended, before.mistakes


def _names_in_list(accepted: Acknowledgement) -> set[str]:
    """Return the names of an acknowledgement, with the serial number as stored and as shown."""
    serials = {accepted.serial, clean(accepted.serial)}
    return serials | {f'{serial}:{accepted.metric}' for serial in serials}


@contextmanager
def _alone(config: str) -> Iterator[str]:
    """Yield the path of the file, with all links resolved, while no other `acknowledge` reads or
    writes the file.

    The lock is a separate file, because any user who may read the data could lock the data file.
    Raises DataError if the lock is held for too long.
    """
    file = os.path.realpath(os.path.join(config, thresholds.FILE))
    lock = f'{file}.lock'
    with _explained(file):
        fault = trust.fault(os.path.dirname(file), os.geteuid())
        if fault:
            raise DataError(
                f'{fault}; to remove write access for others, use chown, chmod go-w or setfacl -b'
            )
        descriptor = files.open_lock(lock)
    try:
        status = os.fstat(descriptor)
        is_own = status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o077
        if not is_own:
            raise DataError(
                f'other users can lock {lock} and delay checks; remove it: rm {lock}'
            )
        with _explained(lock):
            if not files.has_locked(descriptor, PATIENCE):
                raise DataError(
                    f'another acknowledge command still has {lock} locked after {PATIENCE:g} s, so '
                    f'nothing was changed; to find the process, run: fuser {lock}'
                )
        yield file
    finally:
        os.close(descriptor)


def _write(file: str, data: Json) -> None:
    """Replace the file in one step, which survives a power cut.

    The caller holds the lock. Raises DataError if the file cannot be written.
    """
    with _explained(file):
        files.replace(json.dumps(data, indent=1) + '\n', file, is_durable=True)


@contextmanager
def _explained(file: str) -> Iterator[None]:
    """Convert an OSError into a DataError that states the next step. file: cannot be written."""
    try:
        yield
    except OSError as error:
        folder = os.path.dirname(file)
        advice = f'make {folder} writable for root'
        if isinstance(error, FileNotFoundError):
            advice = f'create the directory: mkdir -p {folder}'
        elif isinstance(error, PermissionError):
            advice = 'run this as root'
        raise DataError(
            f'{file} cannot be written: {error.strerror}; {advice}'
        ) from None
