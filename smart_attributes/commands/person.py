"""Functions shared by commands: surveys, notes, addresses, files, exit
statuses.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from .. import files
from ..command_line.options import OK, UNKNOWN, Options
from ..errors import SmartError
from ..model import State, Verdict
from ..reading.addresses import links, stable
from ..reading.processes import Runner
from ..typed import TYPE_CHECKING, Json
from ..words import closest, sentence, visible

if TYPE_CHECKING:
    from .cases import Overview


def surveyed(options: Options, runner: Runner, asked: Sequence[str]) -> Overview:
    """Return the drives with their place, their forecasts and their groups.

    asked: as for cases.with_history().
    """
    from ..check.survey import survey
    from . import cases

    result = survey(options, runner, is_for_a_person=True)
    return cases.with_history(result, options, cases.place_of, asked)


def with_names(options: Options) -> Options:
    """Return options whose words, all of them in *which.metrics*, are divided into names of drives and
    metrics.
    """
    from ..check.rulebook import database_of

    which = options.which
    if not which.metrics:
        return options
    all_metrics = database_of(options.data).metrics
    # A mistyped metric, such as "realocated", stays a metric: the message about it suggests the
    # right one. Any other word, such as "wd_gold_healthy", is a name.
    words = which.metrics
    metrics = tuple(word for word in words if closest(word, all_metrics, 0.8))
    names = tuple(word for word in words if word not in metrics)
    return options._replace(which=which._replace(names=names, metrics=metrics))


def why_empty(verdicts: Sequence[Verdict], nobody: tuple[State, str]) -> Json:
    """Return the keys that state why a JSON document has no drives; {} if it has drives or does
    not need any.

    nobody: the state and the message of a run without drives.
    """
    state, words = nobody
    if verdicts or state is State.OK:
        return {}
    return {'state': state.name, 'error': words, 'code': getattr(words, 'code', None)}


def print_remarks(overview: Overview) -> None:
    """Print the remarks and notes on the run as a whole."""
    for note in (*overview.remarks, *overview.notes):
        print(f'note: {sentence(note, 500)}')


def status(verdicts: Sequence[Verdict]) -> int:
    """Return the exit status: 0 if at least one drive was read, else 3."""
    return OK if any(not verdict.problem for verdict in verdicts) else UNKNOWN


def addresses(verdicts: Sequence[Verdict], options: Options) -> list[str]:
    """Return the address of each drive, as an argument of -d."""
    names = links() if options.naming.label == 'by-id' else {}
    return [stable(verdict.device, names).address for verdict in verdicts]


def write(text: str | Sequence[str], path: str) -> None:
    """Replace the file at *path* atomically: other programs see the old file or the new file.

    All users can read it.

    Raises SmartError if the file cannot be written.

    text: the new content, or its parts.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        # The replacement would turn a device into a regular file: as root, even /dev/null.
        raise SmartError(
            f'{visible(path)}: cannot be written: it is not a regular file; use another path'
        )
    try:
        files.replace(text, path)
    except OSError as error:
        raise SmartError(
            f'{visible(path)}: cannot be written: {error.strerror}; '
            'use a path in a directory that you can write to'
        ) from None
