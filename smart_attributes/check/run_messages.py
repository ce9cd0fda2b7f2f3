"""Messages about a run as a whole: about its history, and about drives that are gone. Pure."""
from __future__ import annotations

from ..knowledge.acknowledgements import GONE
from ..model import State
from ..typed import TYPE_CHECKING
from .rulebook import day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..coded import Coded
    from ..command_line.options import Options
    from ..model import Identity
    from .history_access import Remembered
    from .rulebook import Judge


def remarks(history: Remembered, options: Options, gone: Sequence[Coded]) -> tuple[Coded, ...]:
    """Return the remarks on the history and on replaced, moved and missing drives.

    Those that are reported with their own state are left out.
    """
    own = () if history.trouble and options.history.history_required is not None else history.remarks
    return (*own, *(new for new in history.news(options.naming.hide_serial)
                         if not any(map(new.is_about_the_same, gone))))


def gone(history: Remembered, options: Options, judge: Judge) -> tuple[Coded, ...]:
    """Return a message for each drive that is gone, unless --gone ok is given or root has acknowledged it.

    An acknowledgement ends once the drive has been back.
    """
    def is_accepted(identity: Identity, since: int) -> bool:
        accepted = judge.thresholds.acknowledged(identity, GONE)
        return accepted is not None and (not accepted.at or day(since) <= accepted.at)
    return () if options.history.gone is State.OK else history.gone(options.naming.hide_serial, is_accepted)


def demanded(history: Remembered, options: Options) -> tuple[tuple[State, Coded], ...]:
    """Return the messages about the history with their own state: it cannot be used, or is damaged again and again."""
    required = options.history.history_required
    if history.trouble and required is not None:
        return tuple((required, remark) for remark in history.remarks)
    return tuple((State.WARNING if required is None else required, each) for each in history.recurring_loss)
