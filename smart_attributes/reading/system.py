"""Information from Linux about the machine: its disks, their bays, the hosts of controllers, small
files in /sys and /proc, and the output of commands.

Every user may read these files. No device is opened, and data that cannot be read counts as absent.

A check reads only these in its own process, because the kernel answers from memory and asks no
driver: names and links in /sys and /dev, the driver of a SCSI host (proc_name), the model of a disk
(reading/forbidden), the copy of a serial number (vpd_pg80) of a disk in standby, and udev's links
(/dev is a tmpfs). What can block, such as
the state of an array, is read by a child process (redundancy/in_time).
Sources: Linux, Documentation/ABI/stable/sysfs-block and testing/sysfs-class-enclosure.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import time
from collections.abc import Collection, Mapping, Sequence

from ..constants import LARGEST_SYSTEM_FILE, LONGEST_LIGHT
from ..errors import ControllerElsewhere, DriveAbsent, DriveError
from ..model import Device, Place, Read, Report
from ..typed import NamedTuple
from ..words import clean
from .device_types import base, controller, is_raid
from .processes import Runner
from .smartctl_calls import ENVIRONMENT, program

ROOT = '/'  # the folder used as / to find the hosts of controllers
TIME_LIMIT = 5.0  # seconds that a command may take
_SHOWN = 200  # maximum length of a quoted error message


class System(NamedTuple):
    """The folders in which Linux describes the system; tests use other folders."""

    sys: str = '/sys'
    proc: str = '/proc'
    udev: str = '/run/udev/data'
    lvm: str = '/etc/lvm/backup'  # only root can read it


LINUX = System()


def names_in(folder: str) -> list[str]:
    """Return the sorted names in a folder; [] if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []


def text_of(path: str, limit: int = LARGEST_SYSTEM_FILE, unread: str = '') -> str:
    """Return the text of a small file without surrounding whitespace, or *unread* if it cannot be
    read. Of a longer file, the first *limit* bytes are returned.

    Only a regular file is read, and links are not followed, so no device or pipe can delay the
    caller.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return unread
            content = b''
            while len(content) < limit:
                # /proc returns a long file in several pages.
                page = os.read(file, limit - len(content))
                if not page:  # the end of the file
                    break
                content += page
        finally:
            os.close(file)
    except (OSError, ValueError):
        return unread
    return content.decode(errors='replace').strip()


def disks_of(device: Device, system: System = LINUX) -> list[str]:
    """Return the kernel's names of a drive's block devices: one for each NVMe namespace, none
    for a recording.
    """
    if device.is_recorded:
        return []
    name = os.path.basename(os.path.realpath(device.path))
    if os.path.isdir(f'{system.sys}/block/{name}'):
        return [name]
    if name.startswith('sg'):
        return names_in(f'{system.sys}/class/scsi_generic/{name}/device/block')
    # A namespace that two controllers reach is named nvme0n1; nvme0c0n1 is only one path to it.
    return sorted(
        {
            re.sub('c[0-9]+', '', entry)
            for entry in names_in(f'{system.sys}/class/nvme/{name}')
            if re.fullmatch('nvme[0-9]+(c[0-9]+)?n[0-9]+', entry)
        }
    )


def serial_of(device: Device) -> str:
    """Return the serial number that the kernel has read from a SCSI or ATA disk, '' if none; the
    disk is not asked, so it goes on sleeping.
    """
    names = disks_of(device)
    return serial_of_disk(names[0], LINUX) if len(names) == 1 else ''


def serial_of_disk(name: str, system: System) -> str:
    """Return the serial number in vital product data page 80h of a disk; '' if it is not known.

    Source: SPC-4, 7.8.15: four bytes precede the serial number.
    """
    page = text_of(f'{system.sys}/block/{name}/device/vpd_pg80')
    return page[4:].strip('\0 ')


def place(device: Device, system: System = LINUX) -> Place:
    """Return the location of a drive, or an empty Place if it is not known. Never raises."""
    kind = controller(device.type)
    if kind:
        numbers = re.findall('[0-9]+', base(device).partition(',')[2])
        return Place(
            bay=kind.bay.format(*numbers), drive_id=kind.drive_id.format(*numbers)
        )
    names = disks_of(device, system)
    return _in_enclosure(names[0], system) if names else Place()


def former_place(device: Device) -> Place:
    """Return the location of a missing drive, as far as its address alone tells it: another drive
    may have the name of a missing disk now.
    """
    return place(device) if is_raid(device) else Place()


def _in_enclosure(disk: str, system: System) -> Place:
    """Return the bay of a disk, and the commands for its locate LED; an empty Place if the bay is
    not known.

    Source: Linux, testing/sysfs-class-enclosure (locate).
    """
    device = f'{system.sys}/block/{disk}/device'
    for name in names_in(device):
        if name.startswith('enclosure_device:'):
            component = f'{device}/{name}'
            number = text_of(f'{component}/slot') or name.partition(':')[2].strip()
            light = os.path.realpath(f'{component}/locate')
            if not os.path.exists(light) or len(light) > LONGEST_LIGHT:
                return Place(f'slot {number}')
            file = shlex.quote(light)
            return Place(
                f'slot {number}', f'echo 1 > {file}', locate_off=f'echo 0 > {file}'
            )
    return _in_pci_slot(device, system)


def _in_pci_slot(device: str, system: System) -> Place:
    """Return the slot of an NVMe drive. device: its folder in sysfs."""
    folder = f'{system.sys}/bus/pci/slots'
    # the address of a slot has no function number
    slots = {text_of(f'{folder}/{slot}/address'): slot for slot in names_in(folder)}
    addresses = re.findall(
        '[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}', os.path.realpath(device)
    )
    for address in reversed(addresses):  # the drive first, then the bridges above it
        if address in slots:
            return Place(f'slot {slots[address]}')
    return Place()


def relocated(reads: Sequence[Read]) -> Sequence[Read]:
    """Return the results of reading; if a controller has moved to another host number, all results
    from it are replaced by a ControllerElsewhere. Of a range of slots, one result is enough.

    Host numbers can change at boot, and a slot that was never examined must not count as empty.
    """
    errors = _moved_controllers(reads)
    reported = set()  # controllers whose error is in the result
    result = []
    for read in reads:
        controller_key = _controller_key(read.device)
        error = errors.get(controller_key)
        if error is None:
            result.append(read)
            continue
        if read.device.optional and controller_key in reported:
            continue  # a further slot of the range
        reported.add(controller_key)
        result.append(read._replace(outcome=error))
    return result


def _moved_controllers(
    reads: Sequence[Read],
) -> dict[tuple[str, str], ControllerElsewhere | None]:
    """Return the error for each controller behind which no drive answered; None if it has not
    moved.
    """
    answered = {_controller_key(read.device) for read in reads if _has_answered(read)}
    errors = {}
    for read in reads:
        controller_key = _controller_key(read.device)
        if controller_key not in answered and controller_key not in errors:
            errors[controller_key] = moved(read.device)
    return errors


def _has_answered(read: Read) -> bool:
    """Return False if this address failed as one does whose controller has moved: the drive is absent,
    or smartctl had an error of no special kind.
    """
    is_silent = type(read.outcome) in (DriveAbsent, DriveError)
    return bool(read.identity) or not is_silent


def _controller_key(device: Device) -> tuple[str, str]:
    """Return the kind and the path of a controller: equal for all drives behind it."""
    return base(device).partition(',')[0], device.path


def moved(device: Device) -> ControllerElsewhere | None:
    """Return an error if the controller of an address now has another host number, otherwise
    None.
    """
    kind = controller(device.type)
    drivers = hosts()
    here = host_of(device)
    if kind is None or here is None or drivers.get(here) in kind.drivers:
        return None
    others = sorted(host for host, driver in drivers.items() if driver in kind.drivers)
    if not others:
        return None
    numbers = ', '.join(map(str, others))
    through = '' if device.path.startswith('/dev/bus/') else f' (of {device.path})'
    if kind.has_bus:
        address = f'{device.type}@/dev/bus/{others[0]}'
        if device.optional:
            address += ' (for each number of the range)'
    else:
        address = (
            f'{device.type}@PATH, where PATH is a device of that controller, as listed by smartctl '
            '--scan or ls -l /sys/class/scsi_generic'
        )
    return ControllerElsewhere(
        f'was not found: SCSI host {here}{through} has no {kind.name} controller; SCSI hosts that have one: {numbers}',
        step=f'write {address}',
    )


def hosts() -> Mapping[int, str]:
    """Return the driver of each SCSI host of this machine."""
    folder = os.path.join(ROOT, 'sys/class/scsi_host')
    return {
        int(name[4:]): text_of(f'{folder}/{name}/proc_name')
        for name in names_in(folder)
        if re.fullmatch('host[0-9]{1,9}', name)
    }


def pci_address(host: int) -> str:
    """Return the PCI address of a SCSI host, "0000:3b:00.0", or '' if it is not known."""
    folder = os.path.realpath(os.path.join(ROOT, f'sys/class/scsi_host/host{host}'))
    functions = re.findall(
        '/([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}[.][0-7])(?=/)', folder
    )
    return functions[-1] if functions else ''


def host_of(device: Device) -> int | None:
    """Return the number of the SCSI host of a device path, or None if it is not known."""
    bus = re.fullmatch('/dev/bus/([0-9]{1,9})', device.path)
    if bus:
        return int(bus[1])
    # the target of a udev link
    path = os.path.realpath(os.path.join(ROOT, device.path.lstrip('/')))
    for folder in ('block', 'scsi_generic'):
        node = f'{ROOT}/sys/class/{folder}/{os.path.basename(path)}/device'
        unit = os.path.basename(os.path.realpath(node))
        # host:channel:target:unit
        address = re.fullmatch('([0-9]{1,9}):[0-9]+:[0-9]+:[0-9]+', unit)
        if address:
            return int(address[1])
    return None


def watched(reads: Sequence[Read]) -> Collection[int]:
    """Return the SCSI host numbers of RAID controllers with at least one drive that returned a
    report in this check.
    """
    drivers = hosts()
    numbers = set()
    for read in reads:
        kind = controller(read.device.type)
        if not kind or not isinstance(read.outcome, Report):
            continue
        host = host_of(read.device)
        if host is not None and drivers.get(host) in kind.drivers:
            numbers.add(host)
    return numbers


def output(
    command: tuple[str, ...],
    folders: str = f'{ENVIRONMENT["PATH"]}:/usr/local/sbin',
    time_limit: float = TIME_LIMIT,
) -> tuple[str, str]:
    """Return (output of a command, ''), or ('', clause that says why the output is missing).

    Use this only when a person has asked for the data, such as `zpool status`, and never in a
    check: such a command can block in the kernel, where no signal ends it. Such a command is then
    left to the kernel.
    folders: where to look for the program, separated by colons.
    """
    path = program(command[0], folders)
    if not path:
        return '', f'{command[0]} was not found in {folders}'
    runner = Runner()
    try:
        (answer,) = runner.run(
            [(path, *command[1:])], time_limit, time.monotonic() + time_limit + 1
        )
    finally:
        runner.close()
    if answer.outcome == 'done' and answer.status == 0:
        return answer.stdout.decode('utf-8', 'replace'), ''
    why = answer.reason or f'exit status {answer.status}'
    printed = clean(answer.stderr.decode('utf-8', 'replace'), _SHOWN)
    if printed:
        why += f': {printed}'
    return '', f'{" ".join(command)}: {why}'
