"""list: print the address and the identity of each drive. No drive is judged."""
from __future__ import annotations

from ..check import fence, inventory, reads
from ..check.history_access import remembered
from ..check.rulebook import site_of
from ..command_line.command_options import ListOptions
from ..command_line.options import Options
from ..model import Read, Report, State, Verdict
from ..output import drive_list
from ..reading.processes import Runner
from ..typed import NamedTuple
from . import person


class Listing(NamedTuple):
    """The drives of a run, each with its identity or the reason that it has none."""

    verdicts: tuple[Verdict, ...]
    reads: tuple[Read, ...]        # in the order of the verdicts
    nobody: tuple[State, str]      # state and message without drives


def run(options: Options, runner: Runner) -> int:
    """Print the address and the identity of each drive; return 0 if at least one drive answers, else 3."""
    own: ListOptions = options.own

    def show(found: Listing) -> str:
        asked = found.verdicts, person.addresses(found, options), options.naming.hide_serial
        return drive_list.as_json(*asked, person.nobody(found)) if own.as_json else \
            drive_list.as_text(*asked)
    text, found = fence.shown(listed(options, runner), show)
    print(text)
    return person.status(found)


def listed(options: Options, runner: Runner) -> Listing:
    """Return the drives that the options select. Raises SmartError if smartctl cannot be used."""
    end = reads.deadline(options)
    started = reads.start(options, site_of(options.data, options.before), runner, end)
    history = remembered(options)
    answered = reads.finish(started, options, runner, end, reads.Listener())
    drives = inventory.inventory(answered, options, history)

    def named(read: Read) -> Verdict:
        found = Verdict(read.device, read.outcome.identity, State.OK) if isinstance(read.outcome, Report) else \
            fence.unreadable(read.device, read.outcome, options.judging.asleep, read.identity)
        return fence.done(found, lambda each: inventory.described(
            each, read, drives, history, options.naming.hide_serial), fence.UNCOMPARED)
    return Listing(tuple(map(named, drives.reads)), drives.reads, inventory.nobody(answered, drives, options))
