"""What smartctl takes after -d: the only place that knows it."""
from __future__ import annotations

import re

from ..model import Device
from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Tuple


class DeviceType(NamedTuple):
    """One type of smartctl's -d option."""

    form: str                # as shown to people: "areca,N[/E]"
    arguments: str = ''      # regular expression of what may follow the name
    is_scsi: bool = False    # "sat+" or "scsi+" may stand before it
    slots: Tuple[Tuple[int, int], ...] = ()  # lowest and highest number of each N of the form
    nodes: str = ''          # regular expression of the paths below /dev that it belongs to; '': any drive's
    is_vendors: bool = False  # asks with vendor commands, which another disk under that path would get as well

    @property
    def name(self) -> str:
        """The type without its arguments: "areca"."""
        return re.split(r'[],[/]', self.form)[0]


# Where udev links a disk by its bus: by its name, or where ata_id takes that away from it, by its socket.
# Source: systemd, rules.d/60-persistent-storage.rules and udev-builtin-path_id.c.
_USB = '(disk/by-id/usb-[A-Za-z0-9_.:+=@-]+|disk/by-path/[A-Za-z0-9_][A-Za-z0-9_.:+=@-]*-usb-[A-Za-z0-9_.:+=@-]+)'
_NSID = r'(,0x[0-9a-f]{1,8})?'
_SAT_OR_NVME = r'(/sat)?'

# Source: smartctl(8) and get_smart_device(), get_custom_smart_device(),
# get_sat_device(), get_snt_device() of smartmontools 7.3 and 7.5. Where
# smartctl checks no upper limit (megaraid, aacraid), 16 bits are the limit.
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
    DeviceType('areca,N[/E]', slots=((1, 128), (1, 8)), nodes='sg[0-9]+', is_vendors=True),
    DeviceType('3ware,N', slots=((0, 127),), nodes='tw[ael][0-9]+'),
    DeviceType('hpt,L/M[/N]', slots=((1, 8), (1, 128), (1, 15))),
    DeviceType('megaraid,N', is_scsi=True, slots=((0, 65535),)),
    DeviceType('mpi3mr,N', is_scsi=True, slots=((0, 65535),)),
    DeviceType('aacraid,H,L,ID', is_scsi=True, slots=((0, 65535),) * 3),
    DeviceType('cciss,N', is_scsi=True, slots=((0, 127),)),
    DeviceType('sssraid,E,S', is_scsi=True, slots=((0, 65535),) * 2),
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


def is_raid(device: Device) -> bool:
    """Tell whether the type picks one of several drives behind a controller."""
    entry = BY_NAME.get(base(device).partition(',')[0])
    return bool(entry and entry.slots)


def base(device: Device) -> str:
    """Return the type without what only tunnels: "sat+megaraid,6" is megaraid,6."""
    return device.type.rpartition('+')[2]
