"""Whether a state falls although nobody has read, replaced or accepted the drive.

A machine of 4 to 24 drives, some of them failing, is checked again and again while its drives
sleep, disappear, come back, hang, are replaced or get other names, and while the history is slow,
belongs to another user, is shared with another machine, or the check is killed. An oracle, which
knows only what was read and stored, says how bad each drive must be. The checks run in this
process: below them are made-up answers of drives, above them the real files of the history.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

import abilities
from days import DAY, HOUR, START, disk

from smart_attributes import files
from smart_attributes.check import reads
from smart_attributes.check.survey import Survey, survey
from smart_attributes.command_line.options import Options
from smart_attributes.commands import acknowledge, cases, check
from smart_attributes.commands.acceptable import accepted_as_missing
from smart_attributes.commands.table import understood
from smart_attributes.errors import DriveAsleep, DriveError, DriveNotReached
from smart_attributes.history import folder
from smart_attributes.history.store import MACHINE_ID
from smart_attributes.model import Device, Read, Report, State, Verdict, worst
from smart_attributes.reading import addresses, json_report, system
from smart_attributes.reading.machine import DeviceList
from smart_attributes.reading.processes import Runner

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

OTHER_USER = 1234
PLAIN, RAID = '/dev/sd{}', 'megaraid,{}@/dev/bus/0'
SLOT = 'pci-0000:00:17.0-ata-{}'
UNREAD = ('asleep', 'hung', 'unreadable', 'cut off')
RAW = {State.OK: {}, State.WARNING: {'a5': 100}, State.CRITICAL: {'a5': 2000}}


class Drive:
    """A drive as it is, whether or not a check has seen it."""

    def __init__(self, serial: str, state: State, address: str) -> None:
        self.serial, self.state, self.address = serial, state, address
        self.condition = 'ok'  # or one of UNREAD
        self.is_there = True
        # of its last stored reading; None: no check has read it
        self.floor: State | None = None
        self.successor: Drive | None = None
        self.first_address = self.last_address = ''  # where checks have read it
        self.was_read = False  # and stored
        self.is_accepted = False  # root has accepted that it is missing

    def report(self) -> Report:
        return _report(self.state)._replace(
            identity=_report(self.state).identity._replace(serial=self.serial)
        )

    def outcome(self) -> Report | DriveError:
        if self.condition == 'ok':
            return self.report()
        return {
            'asleep': DriveAsleep('is in STANDBY mode, not woken'),
            'hung': DriveError('no answer within 30 s', 'timeout'),
            'unreadable': DriveError('did not say what it is', 'identify-failed'),
            'cut off': DriveNotReached('was not read: time limit of 55 s exceeded'),
        }[self.condition]


_REPORTS = {
    state: json_report.from_json(
        {**disk(**raw), 'smart_status': {'passed': state is not State.CRITICAL}}
    )
    for state, raw in RAW.items()
}


def _report(state: State) -> Report:
    return _REPORTS[state]


class Site:
    """A machine with its drives, and what happens to them."""

    def __init__(self, dice: random.Random, name: str) -> None:
        self.dice, self.name, self.made = dice, name, 0
        self.is_raid = dice.random() < 0.4
        self.has_slots = not self.is_raid and dice.random() < 0.5
        # the kernel keeps the serial numbers of disks
        self.knows_serials = dice.random() < 0.5
        self.drives: list[Drive] = []
        self.used: set[str] = set()  # all addresses that drives have had
        self.is_renamed = False  # addresses have changed since a check has stored them
        for _ in range(24 if dice.random() < 0.05 else dice.randrange(4, 9)):
            self.add(self.free())

    def add(self, address: str) -> Drive:
        self.made += 1
        state = self.dice.choice([State.OK, State.OK, State.WARNING, State.CRITICAL])
        self.drives.append(Drive(f'{self.name}{self.made:07}', state, address))
        return self.drives[-1]

    def free(self) -> str:
        """Return an address that no drive has; a RAID controller gives no number twice."""
        taken = self.used if self.is_raid else {drive.address for drive in self.present}
        form, places = (
            (RAID, range(99)) if self.is_raid else (PLAIN, 'abcdefghijklmnopqrstuvwxyz')
        )
        address = next(
            form.format(each) for each in places if form.format(each) not in taken
        )
        self.used.add(address)
        return address

    @property
    def present(self) -> list[Drive]:
        return [drive for drive in self.drives if drive.is_there]

    def some(self) -> Drive | None:
        return self.dice.choice(self.present) if self.present else None

    def device(self, drive: Drive) -> Device:
        return addresses.parse(drive.address)[0]

    # --- events ---

    def sleeps(self) -> None:
        for drive in self.present:
            if self.dice.random() < 0.7:
                drive.condition = 'asleep'

    def wakes(self) -> None:
        for drive in self.present:
            drive.condition = 'ok'

    def fails_to_answer(self) -> None:
        drive = self.some()
        if drive:
            drive.condition = self.dice.choice(UNREAD)

    def goes(self) -> None:
        drive = self.some()
        if drive:
            drive.is_there = False

    def go(self) -> None:
        for drive in self.present:
            drive.is_there = self.dice.random() < 0.3

    def returns(self) -> None:
        for drive in self.drives:
            if drive.is_there or drive.successor or self.dice.random() < 0.5:
                continue
            address = self.free()
            # a known drive in the slot of another one would replace it
            if self.has_slots:
                address = drive.address
            if address not in {other.address for other in self.present}:
                drive.is_there, drive.address, drive.is_accepted = True, address, False
                drive.condition = self.dice.choice(['ok', 'asleep'])

    def is_replaced(self) -> None:
        """Somebody pulls a drive and puts a new one into its slot; behind a RAID controller, it has
        another number.
        """
        drive = self.some()
        if drive:
            drive.is_there = False
            drive.successor = self.add(self.free() if self.is_raid else drive.address)

    def moves(self) -> None:
        drive = self.some()
        if drive and not self.has_slots:
            drive.address = self.free()

    def restarts(self) -> None:
        """Names are given anew, without gaps."""
        if not self.is_raid and not self.has_slots:
            for drive, letter in zip(self.present, 'abcdefghijklmnopqrstuvwxyz'):
                drive.address = PLAIN.format(letter)

    def recovers(self) -> None:
        drive = self.some()
        if drive:
            drive.state = self.dice.choice([State.OK, State.WARNING, State.CRITICAL])


EVENTS: tuple[Callable[[Site], None], ...] = (
    Site.sleeps,
    Site.wakes,
    Site.fails_to_answer,
    Site.goes,
    Site.go,
    Site.returns,
    Site.is_replaced,
    Site.moves,
    Site.restarts,
    Site.recovers,
)
TROUBLES = ('', '', '', '', '', 'killed', 'slow', 'foreign', 'clock')


class Run(NamedTuple):
    """A machine, perhaps a second one that uses the same directory, and the directory."""

    sites: tuple[Site, ...]
    state: Path
    config: Path


def faults_of(seed: int) -> list[str]:
    """Run one sequence of events and checks; return what the oracle does not allow."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix='check-smart-silence-') as name:
        place = Path(name)
        place.chmod(0o755)
        (place / 'state').mkdir()
        (place / 'config').mkdir()
        names = 'AB' if dice.random() < 0.15 else 'A'
        sites = tuple(Site(dice, letter) for letter in names)
        run = Run(sites, place / 'state', place / 'config')
        now, log = START, []
        checked: list[Site] = []
        for step in range(dice.randrange(3, 8)):
            site = dice.choice(sites)
            happened = [
                dice.choice(EVENTS) for _ in range(step and dice.randrange(0, 3))
            ]
            if site not in checked:
                happened = []  # no check knows what was here before
                checked.append(site)
            # with other events, nobody could tell what it was
            if Site.is_replaced in happened:
                happened = [] if site.is_renamed else [Site.is_replaced]
            site.is_renamed |= not {Site.moves, Site.restarts}.isdisjoint(happened)
            for event in happened:
                event(site)
            now += dice.choice([5 * 60, HOUR, DAY])
            trouble = dice.choice(TROUBLES) if step else ''
            log.append(
                f'{site.name}: {", ".join(each.__name__ for each in happened)}; {trouble}'
            )
            if step and dice.random() < 0.1:
                _accept_missing(run, site, now)
                now += DAY  # what returns on the day of an acceptance is still accepted
                log.append('accepts what is missing')
            words = _checked(run, site, now, trouble, dice)
            if words:
                return [f'seed {seed}: {" | ".join(log)}: {each}' for each in words]
    return []


def _checked(
    run: Run, site: Site, now: float, trouble: str, dice: random.Random
) -> list[str]:
    """Run one check; return what is wrong with it, and note what it has stored."""
    is_foreign = trouble == 'foreign' and abilities.IS_ROOT
    if is_foreign:
        for path in (run.state, *run.state.rglob('*')):
            os.chown(path, OTHER_USER, OTHER_USER)
    moment = now + dice.choice([-2 * HOUR, 2 * HOUR]) if trouble == 'clock' else now
    with _world(site, moment, trouble == 'slow'):
        options = _options(run, trouble)
        result = survey(options, Runner())
        overview = cases.without_groups(result, options)
        outcome = check.rendered(overview.cases, overview, options, options.own)
        if trouble != 'killed':
            result.history.keep(result.verdicts)
    if is_foreign:
        for path in (run.state, *run.state.rglob('*')):
            os.chown(path, 0, 0)
    first, *_ = outcome.text.splitlines()
    is_lost = trouble == 'slow' and 'history-slow' in first
    wrong = [] if is_lost else list(_wrong(site, result, outcome.state, first))
    if trouble != 'killed':
        site.is_renamed = is_lost
        for drive in site.present:
            if drive.condition == 'ok':
                drive.floor, drive.was_read = drive.state, True
                drive.first_address = drive.first_address or drive.address
                drive.last_address = drive.address
                for other in site.drives:
                    if other.successor is drive and _is_replaced(site, other):
                        other.floor = None
            elif (
                drive.condition == 'asleep'
                and site.knows_serials
                and not site.is_raid
                and not is_lost
            ):
                # it is recognized
                drive.last_address = drive.last_address and drive.address
    if is_lost and outcome.state is State.OK:
        wrong.append('the history was not read, and this is OK')
    return wrong


def _wrong(site: Site, result: Survey, state: State, first: str) -> Iterator[str]:
    """Yield each difference from what the drives must be."""
    verdicts = {verdict.identity.serial: verdict for verdict in result.verdicts}
    unread = [
        drive
        for drive in site.drives
        if not (drive.is_there and drive.condition == 'ok')
    ]
    floors = [
        drive.floor for drive in unread if drive.floor and not _is_replaced(site, drive)
    ]
    for level in (State.WARNING, State.CRITICAL):
        least = sum(floor.urgency >= level.urgency for floor in floors)
        shown = sum(
            verdict.state.urgency >= level.urgency
            for verdict in result.verdicts
            if verdict.problem
        )
        if shown < least:
            yield f'{shown} of {least} unread drives are at least {level.name}: {first}'
    for drive in site.present:
        if drive.condition == 'ok' and drive.serial in verdicts:
            if _without_growth(verdicts[drive.serial]) is not drive.state:
                yield f'{drive.serial} was read as {drive.state.name}: {first}'
        elif drive.condition == 'ok':
            yield f'{drive.serial} was read, and is not shown: {first}'
    for drive in unread:
        verdict = verdicts.get(drive.serial)
        if verdict and verdict.code == 'drive-missing' and _is_replaced(site, drive):
            yield f'{drive.serial} was replaced, and is missed: {first}'


def _without_growth(verdict: Verdict) -> State:
    """Return the state that does not come from a number that has grown."""
    return worst(
        each.level if each.growth_against else each.state for each in verdict.judgements
    )


def _is_replaced(site: Site, drive: Drive) -> bool:
    """Return whether a check can know that a drive was replaced: its successor was first read at
    its address, or as many new drives are behind its controller as are missing there.
    """
    if drive.is_there:
        return False
    if not site.is_raid:
        new = _successor(drive)
        return (
            _is_read(new) and (new.first_address or new.address) == drive.last_address
        )
    missing = [
        each
        for each in site.drives
        if each.was_read and not each.is_accepted and not _is_found(each)
    ]
    return all(_is_read(_successor(each)) for each in missing)


def _successor(drive: Drive) -> Drive | None:
    """Return the drive that came in place of another one, without those that no check has seen."""
    new = drive.successor
    while new and not new.was_read and not new.is_there and new.successor:
        new = new.successor
    return new


def _is_found(drive: Drive) -> bool:
    """Return whether a check knows that a drive is there."""
    return drive.is_there and (
        drive.condition == 'ok' or drive.address == drive.last_address
    )


def _is_read(drive: Drive | None) -> TypeGuard[Drive]:
    if drive is None:
        return False
    return drive.was_read or (drive.is_there and drive.condition == 'ok')


def _accept_missing(run: Run, site: Site, now: float) -> None:
    """Let root accept all missing drives, if a check has missed them."""
    with _world(site, now, is_slow=False):
        result = survey(_options(run, ''), Runner())
        gone = [
            each.identity.serial
            for each in result.verdicts
            if each.code == 'drive-missing'
        ]
        common = acknowledge.template('was removed', '')
        acknowledge.accept(
            str(run.config), accepted_as_missing(gone, (), common, False).new
        )
    for drive in site.drives:
        if drive.serial in gone:
            drive.floor, drive.is_accepted = None, True


def _options(run: Run, trouble: str) -> Options:
    words = ['--state-dir', str(run.state), '--config', str(run.config), '--scan']
    return understood([*words, '-t', '1' if trouble == 'slow' else '55'])[1]


@contextmanager
def _world(site: Site, now: float, is_slow: bool) -> Iterator[None]:
    """Let a check of this process find the drives of a site, at a time."""
    devices = [site.device(drive) for drive in site.present]
    answers = [Read(site.device(drive), drive.outcome()) for drive in site.present]
    listed = DeviceList(tuple(addresses.named(devices)), is_scan=True)
    serials = {
        drive.address: drive.serial
        for drive in site.present
        if site.knows_serials and site.is_raid
    } or {drive.address: drive.serial for drive in site.present if site.knows_serials}

    def finish(started: reads.Started, *rest: object) -> reads.Reads:
        return reads.Reads(started.found, tuple(answers))

    def slots(where: str = '') -> dict[str, str]:
        if not site.has_slots or where != addresses.SLOTS:
            return {}
        return {
            drive.address: SLOT.format(ord(drive.address[-1])) for drive in site.present
        }

    real_text, real_files = files.text, folder.stored_files

    def text(path: str, *rest: object) -> str:
        return f'machine {site.name}' if path == MACHINE_ID else real_text(path, *rest)  # type: ignore[arg-type]

    def slow_files(path: str) -> object:
        time.sleep(0.8)
        return real_files(path)

    with ExitStack() as patches:
        for target, name, value in (
            (time, 'time', lambda: now),
            (reads, 'start', lambda *_: reads.Started(listed)),
            (reads, 'finish', finish),
            (addresses, 'links', slots),
            (
                system,
                'serial_of',
                lambda device: '' if site.is_raid else serials.get(device.path, ''),
            ),
            (files, 'text', text),
            (folder, 'stored_files', slow_files if is_slow else folder.stored_files),
        ):
            patches.enter_context(mock.patch.object(target, name, value))
        yield


class Silence:
    """The kind `silence` of tests/storm.py: one sequence each turn."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.seed = seed
        self.counted: Counter[str] = Counter()

    def turn(self, number: int) -> list[str]:
        """Run one sequence of events and checks; return what the oracle does not allow."""
        self.counted['sequences'] += 1
        return faults_of(self.seed * 1_000_000 + number)
