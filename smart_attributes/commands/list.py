"""list: print the address and the identity of each drive. No drive is judged."""

import json
from collections.abc import Mapping, Sequence

from ..check import fence, inventory, reads, settings
from ..check.history_access import Remembered
from ..check.rulebook import site_of
from ..command_line.options import Options
from ..constants import DOCUMENTS
from ..model import Case, Identity, Read, Report, State, Verdict
from ..reading.processes import Runner
from ..shown import Shown, shown
from ..wording import columns
from ..words import coded, sentence, visible
from ..work.statements import kind, problem
from . import person
from .cases import unshown
from .records.list import ListOptions


def run(options: Options, runner: Runner) -> int:
    """Print the address and the identity of each drive; return 0 if at least one drive answers,
    else 3.
    """
    own: ListOptions = options.own
    listed_cases, nobody = listed(options, runner)

    def show(cases: Sequence[Case]) -> str:
        verdicts = [case.verdict for case in cases]
        addresses = person.addresses(verdicts, options)
        if own.as_json:
            return as_json(cases, addresses, person.why_empty(verdicts, nobody))
        return as_text(cases, addresses)

    text, cases = fence.shown(listed_cases, show, unshown)
    print(text)
    return person.status([case.verdict for case in cases])


def listed(
    options: Options, runner: Runner
) -> tuple[tuple[Case, ...], tuple[State, str]]:
    """Return the drives that the options select, each with its identity, or with the reason why
    the identity is unknown.

    The second value is the state and the message of a run without drives. Raises SmartError if
    smartctl cannot be used.
    """
    end = reads.deadline(options.how_read.timeout)
    of_reads = settings.of_reads(options)
    of_run = settings.of_run(options)
    started = reads.start(of_reads, site_of(options.data, options.before), runner, end)
    answered = reads.finish(started, of_reads, runner, end)
    drives = inventory.inventory(answered, of_run, Remembered())
    hide_serial = options.naming.hide_serial

    def case(read: Read) -> Case:
        if isinstance(read.outcome, Report):
            verdict = Verdict(read.device, read.identity or Identity(), State.OK)
        else:
            asleep = options.judging.asleep
            verdict = fence.unreadable(read.device, read.outcome, asleep, read.identity)
        return Case(verdict, shown(verdict.identity, hide_serial))

    nobody = inventory.nobody(answered, drives, of_run)
    return tuple(map(case, drives.reads)), nobody


def as_text(cases: Sequence[Case], addresses: Sequence[str]) -> str:
    """Return one line per drive: the address, the identity and, if the drive cannot be read, the
    reason.
    """
    rows = [
        [visible(address), *_identity(case.shown), coded(problem(case.verdict))]
        for case, address in zip(cases, addresses)
    ]
    return '\n'.join(columns(rows))


def _identity(identity: Shown) -> list[str]:
    cells = [identity.model, identity.firmware, identity.serial, identity.wwn]
    return [cell or '-' for cell in cells if cell is not None]


def as_json(
    cases: Sequence[Case], addresses: Sequence[str], further: Mapping[str, str] = {}
) -> str:
    """Return the drives as JSON, for apply rules and imports; "problem" is the reason why a drive
    cannot be read.

    further: more keys of the document: "state", "error".
    """
    drives = [_drive(case, address) for case, address in zip(cases, addresses)]
    return json.dumps(
        {'version': DOCUMENTS['list'], **further, 'drives': drives}, indent=1
    )


def _drive(case: Case, address: str) -> object:
    """Return a drive as a JSON object; null for what it did not report."""
    verdict = case.verdict
    identity = case.shown
    device = verdict.device
    texts = {
        'type': device.type,
        'model': identity.model,
        'firmware': identity.firmware,
        'serial': identity.serial,
        'wwn': identity.wwn,
        'kind': kind(verdict),
        'code': verdict.code,
        'problem': sentence(verdict.explained, 500),
    }
    return {
        'address': address,
        'name': device.name,
        'device': device.path,
        **{key: text or None for key, text in texts.items()},
    }
