"""The first stage of a run: which devices to read, and the answer of each device."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from re import Pattern

from .. import alarm
from ..constants import PARALLEL
from ..errors import FEWER, Coded, DriveNotReached
from ..model import Device, Identity, Read
from ..reading import machine, smartctl_calls
from ..reading.machine import DeviceList, Plan
from ..reading.processes import Runner
from ..typed import NamedTuple
from . import harmful, selection
from .rulebook import Site, site_of, today
from .settings import ReadSettings


class Reads(NamedTuple):
    """The answers of the devices of a run.

    If the time limit passed, the remaining devices were not read.
    """

    # all devices of the run, even if options or local files exclude them
    found: DeviceList
    reads: tuple[Read, ...] = ()  # in the order of *found*
    faults: tuple[Coded, ...] = ()  # recorded reports that were not read in time
    is_cut: bool = False  # the time limit or a signal ended this stage


class Started(NamedTuple):
    """The devices of a run, which are being read."""

    found: DeviceList
    plans: Sequence[Plan] = ()
    # the drives that are not read because that can harm them
    harmful: Sequence[Read] = ()


def deadline(timeout: float) -> float:
    """Return the time until which a run may read drives, as a value of time.monotonic().

    timeout: seconds for the whole command.
    """
    return time.monotonic() + timeout - 2 * alarm.reserve(timeout)


def start(settings: ReadSettings, site: Site, runner: Runner, end: float) -> Started:
    """Start the first PARALLEL reads, and return all devices to read; start nothing for recorded
    reports.

    Raises SmartError if smartctl cannot be used.

    end: when a scan must have ended, as a value of time.monotonic().
    """
    if settings.which.reports:
        return Started(DeviceList(()))
    how = settings.how
    as_root = os.geteuid() == 0
    smartctl_calls.check_executable(
        how.smartctl, as_root, through_sudo=not (as_root or how.nosudo)
    )
    runner.keep(settings.state_dir)
    found = find(settings, runner, end)
    plans, not_read = _planned(found.devices, settings, site)
    for planned in plans[:PARALLEL]:
        runner.start(planned.command)
    if runner.forgetful:
        words = f'if a drive hangs, each check may leave another process behind: {runner.forgetful}'
        note = Coded('processes-not-recorded', words)
        found = found._replace(notes=(*found.notes, note))
    return Started(found, plans, not_read)


def find(settings: ReadSettings, runner: Runner, end: float) -> DeviceList:
    """Return the devices that the command line names, or the devices that smartctl --scan finds."""
    named = (
        settings.before.named(settings.which.devices)
        if settings.before
        else machine.named(settings.which.devices)
    )
    return machine.find(named, settings.which.scan, settings.how, runner, end)


def plan(
    devices: Sequence[Device], settings: ReadSettings, site: Site | None = None
) -> list[Plan]:
    """Return a plan of how to read each device, without devices that options or local files
    exclude.

    site: the local files, if already loaded.
    """
    return _planned(devices, settings, site)[0]


def _planned(
    devices: Sequence[Device], settings: ReadSettings, site: Site | None
) -> tuple[list[Plan], list[Read]]:
    """Return the plans, and the results of the drives that are not read because that can harm
    them.
    """
    prefix = smartctl_calls.prefix(settings.how.smartctl, settings.how.nosudo)
    site, limits = site or site_of(settings.data, settings.before), None
    if site.thresholds:
        from ..knowledge.thresholds import Thresholds

        files = [(file.name, file.data) for file in site.thresholds]
        limits = Thresholds({}, files, today=today())
    match = selection.patterns(settings.which.match)
    ignore = selection.patterns(settings.which.ignore)
    plans = []
    may_be_harmed = []
    for device in devices:
        # only by its address, because its identity is not known yet
        exceptions = limits.exceptions(device, Identity(), '') if limits else None
        is_skipped = exceptions is not None and not exceptions.is_read
        if is_skipped or _is_excluded(device, match, ignore):
            continue
        skipped_logs = sorted(exceptions.skipped_logs) if exceptions else ()
        arguments = smartctl_calls.read_arguments(
            device.path, device.type, skipped_logs
        )
        plans.append(Plan(device, (*prefix, *arguments)))
        if exceptions is None or not exceptions.is_allowed:
            may_be_harmed.append(device)
    harmed = harmful.harmed(may_be_harmed, site, settings.data.config)
    harmless = [plan for plan in plans if plan.device not in harmed]
    return harmless, [Read(device, error) for device, error in harmed.items()]


def _is_excluded(
    device: Device, match: Sequence[Pattern[str]], ignore: Sequence[Pattern[str]]
) -> bool:
    """Return whether the address alone excludes a device.

    A pattern that takes too long excludes nothing.
    """
    try:
        return not alarm.limited(selection.is_wanted, device, None, match, ignore)
    except alarm.TakesTooLong:
        return False  # inventory.wanted() reports the pattern


def finish(
    started: Started,
    settings: ReadSettings,
    runner: Runner,
    end: float,
) -> Reads:
    """Collect answers until *end* (a value of time.monotonic()) or the time limit; return the
    answers.
    """
    if settings.which.reports:
        return _recorded(settings.which.reports)
    reads = list(started.harmful)
    why = ''
    try:
        for read in machine.read_all(started.plans, settings.how, runner, end):
            reads.append(read)  # one by one, so that completed reads are kept
    except alarm.TimeIsOver as over:
        why = f'was not read: {over}'
    reads += [
        Read(device, DriveNotReached(why, step=FEWER))
        for device in _left(started, reads)
    ]
    places = {device.name: place for place, device in enumerate(started.found.devices)}
    return Reads(
        started.found,
        tuple(sorted(reads, key=lambda read: places[read.device.name])),
        is_cut=bool(why),
    )


def _left(started: Started, reads: Sequence[Read]) -> list[Device]:
    """Return the devices that have not answered."""
    # by name, because reading may have changed the type
    reached = {read.device.name for read in reads}
    planned = [plan.device for plan in started.plans]
    return [device for device in planned if device.name not in reached]


def _recorded(paths: Sequence[str]) -> Reads:
    """Return the recorded reports in these files; after the time limit, those read so far, with a
    fault.
    """
    from ..reading import recorded

    reads: list[Read] = []  # filled one by one, so that completed reads are kept
    notes: Sequence[Coded] = ()
    faults: tuple[Coded, ...] = ()
    try:
        notes = recorded.read_files(paths, reads)
    except alarm.TimeIsOver as over:
        words = f'only {len(reads)} recorded reports were read: {over}; give fewer, or increase -t'
        faults = (Coded('not-reached', words),)
    reads = recorded.named(reads)
    devices = tuple(read.device for read in reads)
    return Reads(DeviceList(devices, notes=tuple(notes)), tuple(reads), faults=faults)
