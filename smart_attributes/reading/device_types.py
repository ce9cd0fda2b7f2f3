"""What smartctl takes after -d: the only place that knows it."""
from __future__ import annotations

import re

from ..model import Device
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Optional, Tuple


class Controller(NamedTuple):
    """The RAID controllers that a type is for: all that differs between them."""

    name: str                # as messages call it: "MegaRAID"
    slots: Tuple[Tuple[int, int], ...]  # lowest and highest number of each N of the form
    drivers: Tuple[str, ...] = ()  # what /sys/class/scsi_host/hostN/proc_name says; (): a moved one is not looked for
    bay: str = ''            # what the numbers say about the bay: "slot {1} of enclosure {0}"; '': not known
    silent_is_empty: bool = False  # a slot that smartctl opens and that does not answer holds no drive
    has_bus: bool = False    # addressed by its host as well: /dev/bus/H


class DeviceType(NamedTuple):
    """One type of smartctl's -d option. A new controller is one entry of TYPES."""

    form: str                # as shown to people: "areca,N[/E]"
    arguments: str = ''      # regular expression of what may follow the name
    is_scsi: bool = False    # "sat+" or "scsi+" may stand before it
    controller: Optional[Controller] = None  # for a type that picks one of several drives behind a path
    nodes: str = ''          # regular expression of the paths below /dev that it belongs to; '': any drive's
    is_vendors: bool = False  # asks with vendor commands, which another disk under that path would get as well

    @property
    def name(self) -> str:
        """The type without its arguments: "areca"."""
        return re.split(r'[],[/]', self.form)[0]

    @property
    def slots(self) -> Tuple[Tuple[int, int], ...]:
        """The limits of the numbers that pick a drive; () where none do."""
        return self.controller.slots if self.controller else ()


# Where udev links a disk by its bus: by its name, or where ata_id takes that away from it, by its socket.
# Source: systemd, rules.d/60-persistent-storage.rules and udev-builtin-path_id.c.
_USB = '(disk/by-id/usb-[A-Za-z0-9_.:+=@-]+|disk/by-path/[A-Za-z0-9_][A-Za-z0-9_.:+=@-]*-usb-[A-Za-z0-9_.:+=@-]+)'
_NSID = r'(,0x[0-9a-f]{1,8})?'
_SAT_OR_NVME = r'(/sat)?'

# Source: smartctl(8) and get_smart_device(), get_custom_smart_device(),
# get_sat_device(), get_snt_device() of smartmontools 7.3 and 7.5. Where
# smartctl checks no upper limit (megaraid, aacraid), 16 bits are the limit.
# Drivers: .proc_name of the host templates of Linux 6.1, drivers/scsi.
TYPES = (
    DeviceType('ata'),
    DeviceType('scsi', is_scsi=True),
    DeviceType('nvme[,0xNSID]', _NSID),
    DeviceType('sat[,auto][,N]', r'(,auto)?(,0|,12|,16)?'),
    # usbcypress takes an operation code, too; a wrong one may damage the drive (smartctl(8)).
    DeviceType('usbcypress', nodes=_USB, is_vendors=True),
    DeviceType('usbjmicron[,p][,x][,PORT]', r'(,p)?(,x)?(,[01])?', nodes=_USB, is_vendors=True),
    DeviceType('usbprolific', nodes=_USB, is_vendors=True),
    DeviceType('usbsunplus[/sat]', _SAT_OR_NVME, nodes=_USB, is_vendors=True),
    DeviceType('usbasm1352r,PORT', r',[01]', nodes=_USB, is_vendors=True),
    DeviceType('sntasmedia[/sat]', _SAT_OR_NVME, nodes=_USB, is_vendors=True),
    DeviceType('sntjmicron[,0xNSID][/sat]', _NSID + _SAT_OR_NVME, nodes=_USB, is_vendors=True),
    DeviceType('sntrealtek[/sat]', _SAT_OR_NVME, nodes=_USB, is_vendors=True),
    DeviceType('marvell', is_vendors=True),
    DeviceType('atacam'),  # FreeBSD's scan prints it
    # WRITE BUFFER to whatever has that /dev/sgN, which every disk may have.
    DeviceType('areca,N[/E]', nodes='sg[0-9]+', is_vendors=True, controller=Controller(
        'Areca', ((1, 128), (1, 8)), ('arcmsr',), 'slot {0}', silent_is_empty=True)),
    DeviceType('3ware,N', nodes='tw[ael][0-9]+', controller=Controller(
        '3ware', ((0, 127),), ('3w-9xxx', '3w-sas', '3w-xxxx'), 'port {0}', silent_is_empty=True)),
    DeviceType('hpt,L/M[/N]', controller=Controller(
        'HighPoint', ((1, 8), (1, 128), (1, 15)), bay='channel {1} of controller {0}')),
    # A MegaRAID number is the controller's own, not that of the bay.
    DeviceType('megaraid,N', is_scsi=True, controller=Controller(
        'MegaRAID', ((0, 65535),), ('megaraid_sas', 'megaraid_mbox', 'megaraid_legacy'), 'drive {0} of the controller',
        silent_is_empty=True, has_bus=True)),
    DeviceType('mpi3mr,N', is_scsi=True, controller=Controller('MPI3MR', ((0, 65535),), ('mpi3mr',))),
    DeviceType('aacraid,H,L,ID', is_scsi=True, controller=Controller(
        'aacraid', ((0, 65535),) * 3, ('aacraid',), 'drive {2} of channel {1}', silent_is_empty=True)),
    DeviceType('cciss,N', is_scsi=True, controller=Controller(
        'Smart Array', ((0, 127),), ('hpsa', 'smartpqi', 'cciss'), 'drive {0} of the controller',
        silent_is_empty=True)),
    DeviceType('sssraid,E,S', is_scsi=True, controller=Controller(
        'RAMAXEL', ((0, 65535),) * 2, bay='slot {1} of enclosure {0}')),
)
BY_NAME = {entry.name: entry for entry in TYPES}

# What smartctl knows and a check must not use, with the reason.
_TUNNEL = 'sends its commands by writing to a sector of the volume; a check must not write'
REFUSED = {
    'jmb39x': _TUNNEL,
    'jmb39x-q': _TUNNEL,
    'jmb39x-q2': _TUNNEL,
    'jms56x': _TUNNEL,
    # Two checks at once would read one drive under the name of the other.
    'intelliprop': 'switches the bridge from drive to drive by writing to one of its logs; a check must not write',
    'test': 'only tells how smartctl would open the drive',
}

# The expressions are compiled where they are used (re keeps them): an import must not pay for those it does not need.
TUNNELS = r'(?:sat(,auto)?(,0|,12|,16)?|scsi)\+'


def controller(device_type: str) -> Optional[Controller]:
    """Return the controllers that a type such as "sat+megaraid,6" is for, None where it picks no drive behind one."""
    entry = BY_NAME.get(device_type.rpartition('+')[2].partition(',')[0])
    return entry.controller if entry else None


def is_raid(device: Device) -> bool:
    """Tell whether the type picks one of several drives behind a controller."""
    return controller(device.type) is not None


def base(device: Device) -> str:
    """Return the type without what only tunnels: "sat+megaraid,6" is megaraid,6."""
    return device.type.rpartition('+')[2]
