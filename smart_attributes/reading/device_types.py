"""The types of smartctl's -d option, and their controllers, in one table."""

from __future__ import annotations

from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..model import Device

    Slots = tuple[tuple[int, int], ...]


class Controller(NamedTuple):
    """A family of RAID controllers that have a type in common, with all properties that differ
    between families; tools/tables.py has what only doc/how-to/raid.md says of them.
    """

    # name in messages: "MegaRAID"
    name: str
    # lowest and highest value of each number in the form
    slots: Slots
    # names of the driver, as in /sys/class/scsi_host/hostN/proc_name; (): the controller is not
    # searched for after a move
    drivers: tuple[str, ...] = ()
    # the bay, built from the numbers: "slot {1} of enclosure {0}"; '': unknown
    bay: str = ''
    # if the numbers do not tell the bay: the controller's ID of the drive
    drive_id: str = ''
    # a slot that opens but does not answer is empty
    silent_is_empty: bool = True
    # can also be addressed by its SCSI host: /dev/bus/H
    has_bus: bool = False
    # regular expressions of paths below /dev that only this driver creates
    own_nodes: tuple[str, ...] = ()


class DeviceType(NamedTuple):
    """One type of smartctl's -d option. A new controller is one entry of TYPES."""

    form: str  # form in messages: "areca,N[/E]"
    # regular expression of the arguments after the name, if no controller
    arguments: str = ''
    is_scsi: bool = False  # "sat+" or "scsi+" may precede the type
    # regular expression of the only valid paths below /dev; '': any drive
    nodes: str = ''
    # sends vendor commands, even if a different disk is at the path
    is_vendors: bool = False
    # set if the type selects one of several drives behind a path
    controller: Controller | None = None

    @property
    def name(self) -> str:
        """Return the type without its arguments: "areca"."""
        return self.form.partition('[')[0].partition(',')[0]

    @property
    def separator(self) -> str:
        """Return what stands between numbers."""
        return '/' if '/' in self.form else ','

    @property
    def slots(self) -> Slots:
        """Return the limits of the numbers that select a drive."""
        return self.controller.slots if self.controller else ()


# The udev links that show the bus of a disk: the by-id link or, if ata_id overrides it, the by-path
# link.
# Source: systemd, rules.d/60-persistent-storage.rules and udev-builtin-path_id.c.
_USB = '(disk/by-id/usb-[A-Za-z0-9_.:+=@-]+|disk/by-path/[A-Za-z0-9_][A-Za-z0-9_.:+=@-]*-usb-[A-Za-z0-9_.:+=@-]+)'
_3WARE = 'tw[ael][0-9]+'
_NSID = r'(,0x[0-9a-f]{1,8})?'
_SAT_OR_NVME = r'(/sat)?'


def _usb(form: str, arguments: str = '') -> DeviceType:
    """Return the type of a USB bridge, which sends vendor commands."""
    return DeviceType(form, arguments, nodes=_USB, is_vendors=True)


# Source: smartctl(8) and get_smart_device(), get_custom_smart_device(), get_sat_device(),
# get_snt_device() of smartmontools 7.3 and 7.5. If smartctl has no upper limit (megaraid, aacraid),
# the limit is 16 bits. Drivers: .proc_name of the host templates of Linux 6.1, drivers/scsi.
TYPES = (
    DeviceType('ata'),
    DeviceType('scsi', is_scsi=True),
    DeviceType('nvme[,0xNSID]', _NSID),
    DeviceType('sat[,auto][,N]', r'(,auto)?(,0|,12|,16)?'),
    # usbcypress also accepts an operation code; a wrong one may damage the drive (smartctl(8)).
    _usb('usbcypress'),
    _usb('usbjmicron[,p][,x][,PORT]', r'(,p)?(,x)?(,[01])?'),
    _usb('usbprolific'),
    _usb('usbsunplus[/sat]', _SAT_OR_NVME),
    _usb('usbasm1352r,PORT', r',[01]'),
    _usb('sntasmedia[/sat]', _SAT_OR_NVME),
    _usb('sntjmicron[,0xNSID][/sat]', _NSID + _SAT_OR_NVME),
    _usb('sntrealtek[/sat]', _SAT_OR_NVME),
    DeviceType('marvell', is_vendors=True),
    DeviceType('atacam'),  # printed by FreeBSD's scan
    # Sends WRITE BUFFER to the device at this /dev/sgN, which may be any disk.
    DeviceType(
        'areca,N[/E]',
        nodes='sg[0-9]+',
        is_vendors=True,
        controller=Controller(
            'Areca',
            ((1, 128), (1, 8)),
            drivers=('arcmsr',),
            bay='slot {0}',
        ),
    ),
    DeviceType(
        '3ware,N',
        nodes=_3WARE,
        controller=Controller(
            '3ware',
            ((0, 127),),
            drivers=('3w-9xxx', '3w-sas', '3w-xxxx'),
            bay='port {0}',
            own_nodes=(_3WARE,),
        ),
    ),
    DeviceType(
        'hpt,L/M[/N]',
        controller=Controller(
            'HighPoint',
            ((1, 8), (1, 128), (1, 15)),
            silent_is_empty=False,
            bay='channel {1} of controller {0}',
        ),
    ),
    DeviceType(
        'megaraid,N',
        is_scsi=True,
        controller=Controller(
            'MegaRAID',
            ((0, 65535),),
            drivers=('megaraid_sas', 'megaraid_mbox', 'megaraid_legacy'),
            drive_id='{0}',
            has_bus=True,
        ),
    ),
    DeviceType(
        'aacraid,H,L,ID',
        is_scsi=True,
        controller=Controller(
            'aacraid',
            ((0, 65535),) * 3,
            drivers=('aacraid',),
            drive_id='{1},{2}',
        ),
    ),
    DeviceType(
        'cciss,N',
        is_scsi=True,
        controller=Controller(
            'Smart Array',
            ((0, 127),),
            drivers=('hpsa', 'smartpqi', 'cciss'),
            drive_id='{0}',
            own_nodes=('cciss/c[0-9]+d[0-9]+', 'hpsa[0-9]+'),
        ),
    ),
    DeviceType(
        'sssraid,E,S',
        is_scsi=True,
        controller=Controller(
            'RAMAXEL',
            ((0, 65535),) * 2,
            silent_is_empty=False,
            bay='slot {1} of enclosure {0}',
        ),
    ),
)
BY_NAME = {entry.name: entry for entry in TYPES}
CONTROLLERS = {entry.name: entry.controller for entry in TYPES if entry.controller}

# smartctl types that a check must not use, each with the reason.
REFUSED = {
    **dict.fromkeys(
        ('jmb39x', 'jmb39x-q', 'jmb39x-q2', 'jms56x'),
        'sends its commands by writing to a sector of the volume, and a check must not write',
    ),
    # Two simultaneous checks would read one drive under the name of the other drive.
    'intelliprop': 'selects a drive by writing to a log of the bridge, but a check must '
    'not write',
    'test': 'only shows how smartctl would open the drive',
}

# Drivers of RAID controllers whose drives no released smartctl reads (7.5 is the newest), although
# a pull request has a type of the same name, each with the reason.
# Source: smartmontools/smartmontools, issue 313 and pull request 552.
UNREAD = {
    'mpi3mr': 'no released smartctl reads the drives behind a Broadcom 96xx or Dell PERC12 '
    '(driver mpi3mr); use storcli2, perccli2 or Redfish (see doc/how-to/raid.md)',
}

# Expressions are compiled on first use (re caches them), so that importing this module stays cheap.
TUNNELS = r'(?:sat(,auto)?(,0|,12|,16)?|scsi)\+'


def controller(device_type: str) -> Controller | None:
    """Return the controllers for a type such as "sat+megaraid,6", or None if no controller is
    needed for the type.
    """
    return CONTROLLERS.get(device_type.rpartition('+')[2].partition(',')[0])


def is_raid(device: Device) -> bool:
    """Return whether the type selects one of several drives behind a controller."""
    return controller(device.type) is not None


def base(device: Device) -> str:
    """Return the type without the tunnel prefix: "sat+megaraid,6" becomes megaraid,6."""
    return device.type.rpartition('+')[2]
