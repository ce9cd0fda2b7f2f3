"""The first stage of a run: which devices to read, and the answer of each device."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

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
    runner.lock_drives_in(settings.state_dir)
    found = find(settings, runner, end)
    plans, not_read = _planned(found.devices, settings, site)
    for planned in plans[:PARALLEL]:
        runner.start(planned.command)
    if runner.why_forgetful:
        note = Coded(
            'processes-not-recorded',
            f'if a drive hangs, each check may leave another process behind: {runner.why_forgetful}',
        )
        found = found._replace(notes=(*found.notes, note))
    return Started(found, plans, not_read)


def find(settings: ReadSettings, runner: Runner, end: float) -> DeviceList:
    """Return the devices that the command line names, or the devices that smartctl --scan finds."""
    which = settings.which
    before = settings.before
    named = before.named(which.devices) if before else machine.named(which.devices)
    return machine.find(named, which.scan, settings.how, runner, end)


def plan(
    devices: Sequence[Device], settings: ReadSettings, site: Site | None = None
) -> list[Plan]:
    """Return a plan of how to read each device, without devices that options or local files
    exclude.

    site: the local files, if already loaded.
    """
    site = site or site_of(settings.data, settings.before)
    return _planned(devices, settings, site)[0]


def _planned(
    devices: Sequence[Device], settings: ReadSettings, site: Site
) -> tuple[list[Plan], list[Read]]:
    """Return the plans, and the results of the drives that are not read because that can harm
    them.
    """
    prefix = smartctl_calls.prefix(settings.how.smartctl, settings.how.nosudo)
    limits = None
    if site.thresholds:
        from ..knowledge.thresholds import Thresholds

        files = [(file.name, file.data) for file in site.thresholds]
        limits = Thresholds({}, files, today=today())
    match = selection.patterns(settings.which.match)
    ignore = selection.patterns(settings.which.ignore)
    plans = []
    may_be_harmed = []
    for device in devices:
        skipped_logs = []
        is_allowed = False  # reading, although it can harm the drive
        if limits:
            # only by its address, because its identity is not known yet
            exceptions = limits.exceptions(device, Identity(), '')
            if not exceptions.is_read:
                continue
            skipped_logs = sorted(exceptions.skipped_logs)
            is_allowed = exceptions.is_reading_allowed
        if _is_excluded(device, match, ignore):
            continue
        arguments = smartctl_calls.read_arguments(
            device.path, device.type, skipped_logs
        )
        plans.append(Plan(device, (*prefix, *arguments)))
        if not is_allowed:
            may_be_harmed.append(device)
    harmed = harmful.harmed(may_be_harmed, site, settings.data.config)
    harmless = [plan for plan in plans if plan.device not in harmed]
    return harmless, [Read(device, error) for device, error in harmed.items()]


def _is_excluded(
    device: Device, match: selection.Patterns, ignore: selection.Patterns
) -> bool:
    """Return whether the address alone excludes a device.

    A pattern that takes too long excludes nothing.
    """
    try:
        return not alarm.limited(selection.is_wanted, device, None, match, ignore)
    except alarm.TakesTooLong:
        return False  # inventory.wanted() reports the pattern


def finish(
    started: Started, settings: ReadSettings, runner: Runner, end: float
) -> Reads:
    """Return an answer of each device. A device that has not answered at *end*, a value of
    time.monotonic(), or at the time limit, has an error as its answer.
    """
    if settings.which.reports:
        return _recorded(settings.which.reports)
    reads = list(started.harmful)
    is_cut = False
    try:
        # read_all() itself yields an error for each device that has not answered at *end*
        for read in machine.read_all(started.plans, settings.how, runner, end):
            reads.append(read)  # one by one, so that completed reads are kept
    except alarm.TimeIsOver as over:
        is_cut = True
        error = DriveNotReached(f'was not read: {over}', step=FEWER)
        # by name, because reading may have changed the type
        reached = {read.device.name for read in reads}
        for planned in started.plans:
            if planned.device.name not in reached:
                reads.append(Read(planned.device, error))
    places = {device.name: place for place, device in enumerate(started.found.devices)}
    reads.sort(key=lambda read: places[read.device.name])
    return Reads(started.found, tuple(reads), is_cut=is_cut)


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
        faults = (
            Coded(
                'not-reached',
                f'only {len(reads)} recorded reports were read: {over}; give fewer, or increase -t',
            ),
        )
    reads = recorded.named(reads)
    devices = tuple(read.device for read in reads)
    return Reads(DeviceList(devices, notes=tuple(notes)), tuple(reads), faults=faults)
