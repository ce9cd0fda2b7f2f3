"""list: print the address and the identity of each drive. No drive is judged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ..check import fence, inventory, reads
from ..check.history_access import remembered
from ..check.rulebook import site_of
from ..command_line.options import Options
from ..constants import DOCUMENTS
from ..model import Identity, Read, Report, State, Verdict
from ..reading.processes import Runner
from ..typed import NamedTuple
from ..wording import columns
from ..words import clean, coded, sentence, visible
from ..work.statements import kind, problem
from . import person
from .records.list import ListOptions


class Listing(NamedTuple):
    """The drives of a run, each with its identity, or with the reason why the identity is
    unknown.
    """

    verdicts: tuple[Verdict, ...]
    reads: tuple[Read, ...]  # reads, in the order of the verdicts
    nobody: tuple[State, str]  # state and message for a run without drives


def run(options: Options, runner: Runner) -> int:
    """Print the address and the identity of each drive; return 0 if at least one drive answers,
    else 3.
    """
    own: ListOptions = options.own

    def show(found: Listing) -> str:
        asked = found.verdicts, person.addresses(found, options), options.naming.hide_serial
        return as_json(*asked, person.nobody(found)) if own.as_json else as_text(*asked)

    text, found = fence.shown(listed(options, runner), show)
    print(text)
    return person.status(found)


def listed(options: Options, runner: Runner) -> Listing:
    """Return the drives that the options select. Raises SmartError if smartctl cannot be used."""
    end = reads.deadline(options)
    started = reads.start(options, site_of(options.data, options.before), runner, end)
    history = remembered(options)
    answered = reads.finish(started, options, runner, end)
    drives = inventory.inventory(answered, options, history)

    def named(read: Read) -> Verdict:
        found = (
            Verdict(read.device, read.outcome.identity, State.OK)
            if isinstance(read.outcome, Report)
            else fence.unreadable(read.device, read.outcome, options.judging.asleep, read.identity)
        )
        return fence.done(
            found,
            lambda each: inventory.described(
                each, read, drives, history, options.naming.hide_serial
            ),
            fence.UNCOMPARED,
        )

    return Listing(
        tuple(map(named, drives.reads)), drives.reads, inventory.nobody(answered, drives, options)
    )


def as_text(verdicts: Sequence[Verdict], addresses: Sequence[str], hide_serial: bool) -> str:
    """Return one line per drive: the address, the identity and, if the drive cannot be read, the
    reason.
    """
    rows = [
        [visible(address), *_identity(verdict.identity, hide_serial), coded(problem(verdict))]
        for verdict, address in zip(verdicts, addresses)
    ]
    return '\n'.join(columns(rows))


def _identity(identity: Identity, hide_serial: bool) -> list[str]:
    cells = [
        identity.model,
        identity.firmware,
        *([] if hide_serial else [identity.serial, identity.wwn]),
    ]
    return [clean(cell, limit=60) or '-' for cell in cells]


def as_json(
    verdicts: Sequence[Verdict],
    addresses: Sequence[str],
    hide_serial: bool,
    more: Mapping[str, str] = {},
) -> str:
    """Return the drives as JSON, for apply rules and imports; "problem" is the reason why a drive
    cannot be read.

    more: further keys of the document: "state", "error".
    """
    drives = [
        _drive(verdict, address, hide_serial) for verdict, address in zip(verdicts, addresses)
    ]
    return json.dumps({'version': DOCUMENTS['list'], **more, 'drives': drives}, indent=1)


def _drive(verdict: Verdict, address: str, hide_serial: bool) -> object:
    device, identity = verdict.device, verdict.identity
    return {
        'address': address,
        'name': device.name,
        'device': device.path,
        'type': device.type or None,
        'model': clean(identity.model) or None,
        'firmware': clean(identity.firmware) or None,
        'serial': None if hide_serial else clean(identity.serial) or None,
        'wwn': None if hide_serial else clean(identity.wwn) or None,
        'kind': kind(verdict) or None,
        'code': verdict.code or None,
        'problem': sentence(verdict.problem, 500) or None,
    }
